/*
 * Specifications: what is wrong in a file is refused with its place; a
 * healthy result passes, each fault is found by its rule, and nothing that is
 * missing, lost, impossible or slowed down is ever a pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "edit.h"
#include "files.h"
#include "spec.h"

#define HEALTHY SV_TEST_FIXTURES "/checklist/healthy.json"
#define SPECS	SV_TEST_FIXTURES "/../../results/specs"
#define H2D	"@transfer/bandwidth?bytes=268435456&direction=h2d&memory=pinned"
#define GEMM(precision)                                                        \
	"@gemm/"                                                               \
	"throughput?batch=1&count=1&k=8192&m=8192&n=8192&precision=" precision \
	"&shape=square"
#define COPY "@memory/bandwidth?bytes=1073741824&op=copy"

/* A healthy result with something changed. The caller frees. */
static struct sv_result *edited(const char *edits)
{
	return sv_edited(HEALTHY, edits);
}

static struct sv_spec *shipped(const char *name)
{
	struct sv_spec *spec;
	struct sv_err err;

	if (sv_spec_read(name, &spec, &err) != 0)
		fail_msg("%s", err.text);
	return spec;
}

static void healthy_results_pass(void **state)
{
	static const char *const names[] = {"generic", "rtx-4090"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct sv_spec *spec = shipped(names[i]);
		struct sv_result *r = edited("");
		struct sv_checklist list;
		struct sv_err err;

		assert_int_equal(sv_spec_judge(spec, r, &list, &err), 0);
		for (size_t j = 0; j < list.n; j++)
			if (list.findings[j].status != SV_FINDING_PASS)
				print_error("%s: %s\n", list.findings[j].code,
				    list.findings[j].evidence);
		assert_string_equal(list.verdict, "pass");
		assert_int_equal(list.n, spec->n_bounds + spec->n_expectations);
		sv_checklist_fini(&list);
		sv_result_free(r);
		sv_spec_free(spec);
	}
}

/* What is changed, which rule sees it, how it ends, the verdict, evidence. */
static const struct fault {
	const char *edits, *code, *status, *verdict, *says;
} faults[] = {
    {H2D " := 1.2e10", "H2D", "fail", "fail", "12.0 GB/s"},
    {H2D " := 1.2e10", "H2D_OF_LINK", "fail", "fail", "12.0 GB/s"},
    {GEMM("fp16") " := 7e13", "GEMM_FP16_OF_PEAK", "fail", "fail",
	"70.0 TFLOP/s"},
    {COPY " := 5e11", "MEMORY", "fail", "fail", "500 GB/s"},
    {"@launch/submit?args_bytes=64 := 5e-5", "LAUNCH_SUBMIT", "fail", "fail",
	"50.0 µs"},
    {"@sustain/retention?precision=fp16&seconds=30 := 0.7", "RETENTION", "fail",
	"fail", "0.700"},
    {"device.pcie.under_load.width := 8", "LINK_WIDTH", "fail", "fail", "8"},
    {"device.name := \"NVIDIA GeForce RTX 3090\"", "DEVICE", "fail", "fail",
	"RTX 3090"},
    {"device.power.limit_w := 300", "POWER_LIMIT", "fail", "fail", "300"},
    {"device.modes.other_processes := 1", "ALONE", "fail", "fail", "1"},
    {"device.driver.model := \"wsl\"", "DRIVER_MODEL", "fail", "fail", "wsl"},
    {"device.throttle.reasons := [\"hw_thermal\"]", "SLOWDOWN", "fail", "fail",
	"hw_thermal"},
    {"run.complete := false", "COMPLETE", "fail", "fail", "false"},
    /* A bound inside the interval is no verdict. */
    {H2D "!summary := {\"n\":0,\"median\":2.03e10,\"ci95\":[1.9e10,2.1e10],"
	 "\"mad\":null,\"min\":null,\"max\":null,\"p05\":null,\"p95\":null}",
	"H2D", "inconclusive", "fail", "the bound lies within"},
    /* A kernel that did nothing (ssd-gpu-dma#13): a failure at any speed. */
    {H2D "!check := {\"status\":\"fail\",\"detail\":\"byte 7 differs\"}", "H2D",
	"fail", "fail", "byte 7 differs"},
    /* Bandwidth out of a cache (transformers-benchmarks#4). */
    {COPY " := 3.9e12", "MEMORY", "inconclusive", "inconclusive",
	"physically impossible"},
    {COPY "!flags := [\"above_reference\"]", "MEMORY", "inconclusive",
	"inconclusive", "physically impossible"},
    /* Slowed down throughout (nvbench#231): kept, told, no verdict of it. */
    {GEMM("fp16") " := 7e13 ; " GEMM("fp16") "!flags := [\"throttled\"]",
	"GEMM_FP16", "inconclusive", "inconclusive",
	"slowed down while it was measured"},
    {GEMM("fp16") "!flags := [\"throttled\"]", "GEMM_FP16", "pass", "pass",
	"140 TFLOP/s"},
    /* What the card's own attributes would say, and do not. */
    {"device.peak_flops := null ; device.unknown := "
     "[{\"field\":\"peak_flops\",\"why\":\"absent\"}]",
	"GEMM_FP16_OF_PEAK", "inconclusive", "inconclusive",
	"nothing here tells; measured 140 TFLOP/s"},
    {"device.pcie.trusted := false", "H2D_OF_LINK", "inconclusive",
	"inconclusive", "not trusted"},
    {"device.throttle := null ; device.unknown := "
     "[{\"field\":\"throttle\",\"why\":\"no_permission\"}]",
	"SLOWDOWN", "inconclusive", "inconclusive", "no permission"},
    {"device.power.limit_w := \"450\"", "POWER_LIMIT", "inconclusive",
	"inconclusive", "no number"},
};

static void each_fault_is_found_by_its_rule(void **state)
{
	struct sv_spec *spec = shipped("rtx-4090");

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		const struct fault *fault = &faults[i];
		struct sv_result *r = edited(fault->edits);
		const struct sv_finding *f = NULL;
		struct sv_checklist list;
		struct sv_err err;

		assert_int_equal(sv_spec_judge(spec, r, &list, &err), 0);
		for (size_t j = 0; j < list.n; j++)
			if (strcmp(list.findings[j].code, fault->code) == 0)
				f = &list.findings[j];
		assert_non_null(f);
		if (strcmp(sv_finding_status_name(f->status), fault->status) !=
			0 ||
		    strstr(f->evidence, fault->says) == NULL)
			fail_msg("%s: %s is %s: %s", fault->edits, f->code,
			    sv_finding_status_name(f->status), f->evidence);
		/* The interval is one of several that this edit spoils. */
		if (strstr(fault->says, "lies within") == NULL)
			assert_string_equal(list.verdict, fault->verdict);
		if (f->status == SV_FINDING_FAIL) {
			assert_true(f->cause[0] != '\0');
			assert_true(f->remedy[0] != '\0');
			assert_true(f->next_command[0] != '\0');
		}
		sv_checklist_fini(&list);
		sv_result_free(r);
	}
	sv_spec_free(spec);
}

/* Take away all figures that fit a pattern, as if they had been lost. */
static void lose(json_t *root, const struct sv_result *r, const char *pattern,
    const char *into)
{
	json_t *list = json_object_get(root, "measurements");

	for (size_t i = r->n_measurements; i-- > 0;) {
		const struct sv_measurement *m = &r->measurements[i];

		if (!sv_pattern_fits(pattern, m))
			continue;
		if (into != NULL)
			json_array_append_new(json_object_get(root, into),
			    strcmp(into, "skipped") == 0
				? json_pack("{s:s, s:{}, s:s, s:s}", "bench",
				      m->bench, "params", "reason", "no memory",
				      "code", "no_memory")
				: json_pack("{s:s, s:{}, s:s, s:i, s:s}",
				      "bench", m->bench, "params", "reason",
				      "it crashed", "signal", 11, "log_tail",
				      ""));
		json_array_remove(list, i);
	}
}

static void nothing_that_is_missing_is_a_pass(void **state)
{
	static const char *const ways[] = {NULL, "skipped", "failures"};
	struct sv_spec *spec = shipped("rtx-4090");
	struct sv_result *whole = edited("");

	(void)state;
	for (size_t i = 0; i < 3 * spec->n_bounds; i++) {
		const struct sv_bound *bound = &spec->bounds[i / 3];
		json_t *root = json_load_file(HEALTHY, 0, NULL);
		const struct sv_finding *f;
		struct sv_checklist list;
		struct sv_result *r;
		struct sv_err err;
		char *text;

		lose(root, whole, bound->pattern, ways[i % 3]);
		text = json_dumps(root, 0);
		assert_int_equal(
		    sv_result_parse(text, strlen(text), "less", &r, &err), 0);
		assert_int_equal(sv_spec_judge(spec, r, &list, &err), 0);
		f = &list.findings[spec->n_expectations + i / 3];
		assert_int_equal(f->status,
		    i % 3 == 2 ? SV_FINDING_INCONCLUSIVE : SV_FINDING_SKIPPED);
		assert_string_equal(list.verdict, "inconclusive");
		sv_checklist_fini(&list);
		sv_result_free(r);
		free(text);
		json_decref(root);
	}
	sv_result_free(whole);
	sv_spec_free(spec);
}

static void every_shipped_one_reads_and_says_where_from(void **state)
{
	static const char *const must[] = {"a100", "generic", "h100", "h200",
	    "l40s", "rtx-3090", "rtx-4090", "rtx-5090"};
	char **names;
	struct sv_err err;
	size_t n = 0, found = 0;

	(void)state;
	assert_int_equal(sv_spec_shipped(&names, &err), 0);
	for (; names[n] != NULL; n++) {
		struct sv_spec *spec = shipped(names[n]);

		for (size_t i = 0; i < sizeof must / sizeof must[0]; i++)
			found += strcmp(must[i], names[n]) == 0;
		assert_string_equal(spec->name, names[n]);
		assert_non_null(spec->benches[0]);
		for (size_t i = 0; i < spec->n_bounds; i++)
			assert_true(strlen(spec->bounds[i].rule.source) > 10);
		sv_spec_free(spec);
	}
	assert_int_equal(found, sizeof must / sizeof must[0]);
	free(names);
}

#define RULE                                                   \
	"\"code\":\"A\",\"cause\":\"CLOCKS\",\"title\":\"t\"," \
	"\"severity\":\"high\",\"basis\":\"convention\","      \
	"\"source\":\"s\",\"remedy\":\"r\",\"next_command\":\"c\""
#define SPEC(rest)                                                     \
	"{\"schema\":\"stave.spec/1\",\"name\":\"n\",\"title\":\"t\"," \
	"\"profile\":\"quick\",\"benches\":[\"null\"]," rest "}"
#define BOUND(rest) SPEC("\"bounds\":[{" RULE "," rest "}]")
#define FIELD(rest) SPEC("\"environment\":[{" RULE "," rest "}]")

static const char *const wrong[][2] = {
    {"", "found an empty file"},
    {"{", "spec.json: line 1"},
    {"[]", "expected an object"},
    {"{}", "schema: expected text"},
    {"{\"schema\":\"stave.spec/2\",\"name\":\"n\"}", "found \"stave.spec/2\""},
    {SPEC("\"x\":1"), "expected bounds or environment"},
    {SPEC("\"bounds\":{}"), "bounds: expected an array"},
    {SPEC("\"bounds\":[7]"), "bounds[0]"},
    {BOUND("\"pattern\":\"a/b\""), "expected at_least or at_most"},
    {BOUND("\"pattern\":\"ab\",\"at_least\":1"), "expected BENCH/METRIC"},
    {BOUND("\"at_least\":1"), "bounds[0].pattern"},
    {BOUND("\"pattern\":\"a/b\",\"at_least\":\"1\""), "bounds[0].at_least"},
    {BOUND("\"pattern\":\"a/b\",\"at_least\":1,\"select\":\"some\""),
	"expected one of best, every"},
    {BOUND("\"pattern\":\"a/b\",\"at_least\":1,\"relative_to\":\"x\""),
	"expected a field of device or machine"},
    {SPEC("\"bounds\":[{" RULE ",\"pattern\":\"a/b\",\"at_least\":1},"
	  "{" RULE ",\"pattern\":\"a/b\",\"at_least\":1}]"),
	"bounds[1].code: \"A\" is there a second time"},
    {SPEC("\"bounds\":[{\"code\":\"a b\",\"pattern\":\"a/b\"}]"),
	"expected capitals"},
    {FIELD("\"field\":\"device.name\""), "found 0 of them"},
    {FIELD("\"field\":\"device.name\",\"fits\":[\"a\"],\"at_least\":1"),
	"found 2 of them"},
    {FIELD("\"field\":\"name\",\"fits\":[\"a\"]"),
	"expected a field of device or machine"},
    {FIELD("\"field\":\"device.name\",\"fits\":[]"), "expected 1 to 64"},
    {FIELD("\"field\":\"device.name\",\"fits\":[1]"), "expected text"},
    {"{\"schema\":\"stave.spec/1\",\"name\":\"n\",\"title\":\"t\","
     "\"extends\":\"no-such-spec\"}",
	"spec.json: extends: spec \"no-such-spec\": none of that name"},
    {"{\"schema\":\"stave.spec/1\",\"name\":\"n\",\"title\":\"t\","
     "\"extends\":\"../x\"}",
	"expected the name of a shipped specification"},
};

static void wrong_files_are_refused_with_their_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct sv_spec *spec = NULL;
		struct sv_err err = {0};
		int code = sv_spec_parse(
		    wrong[i][0], strlen(wrong[i][0]), "spec.json", &spec, &err);

		if (code != SV_EINPUT ||
		    strstr(err.text, wrong[i][1]) == NULL ||
		    strchr(err.text, '\n') != NULL)
			fail_msg(
			    "%s\ngives %d: %s", wrong[i][0], code, err.text);
		assert_null(spec);
	}
}

static void a_rule_of_the_same_code_takes_the_place_of_the_base(void **state)
{
	static const char text[] =
	    "{\"schema\":\"stave.spec/1\",\"name\":\"mine\",\"title\":\"t\","
	    "\"extends\":\"generic\",\"bounds\":[{\"code\":\"READBACK\","
	    "\"cause\":\"C_STATES\",\"title\":\"t\",\"severity\":\"low\","
	    "\"basis\":\"convention\",\"source\":\"ours\",\"remedy\":\"r\","
	    "\"next_command\":\"c\",\"pattern\":\"sync/readback\","
	    "\"at_most\":1}]}";
	struct sv_spec *base = shipped("generic"), *spec;
	struct sv_err err;
	size_t same = 0;

	(void)state;
	assert_int_equal(
	    sv_spec_parse(text, sizeof text - 1, "mine", &spec, &err), 0);
	assert_int_equal(spec->n_bounds, base->n_bounds);
	assert_string_equal(spec->name, "mine");
	assert_string_equal(spec->profile, base->profile);
	for (size_t i = 0; i < spec->n_bounds; i++)
		if (strcmp(spec->bounds[i].rule.code, "READBACK") == 0) {
			same++;
			assert_string_equal(
			    spec->bounds[i].rule.source, "ours");
		}
	assert_int_equal(same, 1);
	sv_spec_free(spec);
	sv_spec_free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(healthy_results_pass),
	    cmocka_unit_test(each_fault_is_found_by_its_rule),
	    cmocka_unit_test(nothing_that_is_missing_is_a_pass),
	    cmocka_unit_test(every_shipped_one_reads_and_says_where_from),
	    cmocka_unit_test(wrong_files_are_refused_with_their_place),
	    cmocka_unit_test(
		a_rule_of_the_same_code_takes_the_place_of_the_base),
	};

	setenv("STAVE_SPEC_DIR", SPECS, 1);
	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
