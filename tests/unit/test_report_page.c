/* Parts of the page: digests, validity, drawings let in, explanations. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "page.h"
#include "sha256.h"
#include "validity.h"

static void expect_digest(const char *text, size_t n, const char *hex)
{
	unsigned char digest[SV_SHA256_BYTES];
	char got[2 * SV_SHA256_BYTES + 1];

	sv_sha256(text, n, digest);
	for (int i = 0; i < SV_SHA256_BYTES; i++)
		snprintf(got + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(got, hex);
}

/* Source: FIPS 180-4's examples; lengths around a block by sha256sum. */
static void digests_are_those_of_the_standard(void **state)
{
	char many[120];

	(void)state;
	memset(many, 'a', sizeof many);
	expect_digest("", 0,
	    "e3b0c44298fc1c149afbf4c8996fb924"
	    "27ae41e4649b934ca495991b7852b855");
	expect_digest("abc", 3,
	    "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad");
	expect_digest(
	    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
	    "248d6a61d20638b8e5c026930c3e6039"
	    "a33ce45964ff2167f6ecedd419db06c1");
	expect_digest(many, 55,
	    "9f4390f8d30c2dd92ec9f095b65e2b9a"
	    "e9b0a925a5258e241c9f1e910f734318");
	expect_digest(many, 64,
	    "ffe054fe7ae0cb6dc65c3af9b61d5209"
	    "f439851db43d0ba5997337df154668eb");
	expect_digest(many, 120,
	    "2f3d335432c70b580af0e8e1b3674a7c"
	    "020d683aa5f73aaaedfdc55af904c21c");
}

static void add_figure(struct sv_result *r, size_t n_rounds,
    enum sv_check_status check, const char *flag)
{
	static const double rounds[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct sv_result_param param = {
	    "bytes", NULL, (int64_t)r->n_measurements};
	const char *const flags[] = {flag};
	struct sv_err err;
	struct sv_measurement m = {.bench = "transfer",
	    .metric = "latency",
	    .params = &param,
	    .n_params = 1,
	    .unit = "s",
	    .rounds = rounds,
	    .n_rounds = n_rounds,
	    .summary = {.n = n_rounds,
		.median = 1.0,
		.ci95 = {1.0, 1.0},
		.mad = 0.0,
		.min = 1.0,
		.max = 1.0,
		.p05 = 1.0,
		.p95 = 1.0},
	    .check = check,
	    .flags = flags,
	    .n_flags = flag != NULL,
	    .source = -1};

	if (sv_result_add(r, &m, &err) != 0)
		fail_msg("%s", err.text);
}

/* A result that may be published. */
static struct sv_result *publishable(void)
{
	struct sv_result *r = sv_result_new();

	assert_non_null(r);
	r->run.revision = "0123abc";
	json_decref(r->machine);
	json_decref(r->device);
	r->machine = json_pack("{s:{s:s, s:i, s:s}, s:{s:i}, s:{s:s, s:s}}",
	    "cpu", "model", "CPU", "cores", 8, "governor", "performance",
	    "memory", "total_bytes", 1 << 30, "os", "kernel", "6.1",
	    "distribution", "Debian");
	r->device = json_pack(
	    "{s:s, s:s, s:{s:s, s:s}, s:{s:{s:f}}, s:{s:f}, s:{s:{s:i, s:i}}, "
	    "s:f, s:{s:[], s:f}, s:{s:b, s:i}}",
	    "backend", "cuda", "name", "Card", "driver", "version", "580",
	    "cuda_version", "13.0", "clocks", "under_load", "sm_Hz", 2e9,
	    "power", "limit_w", 300.0, "pcie", "under_load", "generation", 4,
	    "width", 16, "temperature_under_load_C", 60.0, "throttle",
	    "reasons", "fraction", 0.0, "modes", "ecc", 0, "other_processes",
	    0);
	assert_non_null(r->machine);
	assert_non_null(r->device);
	add_figure(r, 10, SV_CHECK_PASS, "noisy");
	return r;
}

static void expect_reason(struct sv_result *r, const char *reason)
{
	struct sv_validity v;

	sv_validity_judge(r, &v);
	assert_int_equal(v.n, reason != NULL);
	if (reason != NULL && strstr(v.reasons[0], reason) == NULL)
		fail_msg("%s", v.reasons[0]);
	sv_result_free(r);
}

static void set(
    struct sv_result *r, const char *object, const char *key, json_t *value)
{
	json_object_set_new(json_object_get(r->device, object), key, value);
}

static void each_fault_makes_a_draft(void **state)
{
	struct sv_result *r;

	(void)state;
	expect_reason(publishable(), NULL);
	r = publishable();
	r->run.origin = "simulated";
	expect_reason(r, "simulated");
	r = publishable();
	r->run.complete = false;
	expect_reason(r, "incomplete");
	r = publishable();
	r->run.revision = "0123abc-dirty";
	expect_reason(r, "changed sources");
	r = publishable();
	r->run.revision = NULL;
	expect_reason(r, "revision");
	r = publishable();
	add_figure(r, 9, SV_CHECK_PASS, NULL);
	expect_reason(r, "fewer than 10 rounds: 1 of 2");
	r = publishable();
	add_figure(r, 10, SV_CHECK_FAIL, NULL);
	expect_reason(r, "failed their check: 1");
	r = publishable();
	add_figure(r, 10, SV_CHECK_PASS, "above_reference");
	expect_reason(r, "above what is possible: 1");
	r = publishable();
	set(r, "throttle", "reasons",
	    json_pack("[s, s]", "sw_power_cap", "hw_thermal"));
	expect_reason(r, "hw_thermal");
	r = publishable();
	set(r, "throttle", "reasons", json_pack("[s]", "sw_power_cap"));
	expect_reason(r, NULL);
	r = publishable();
	set(r, "modes", "other_processes", json_integer(2));
	expect_reason(r, "other processes that used the card: 2");
	r = publishable();
	set(r, "modes", "other_processes", json_null());
	expect_reason(r, "unknown");
	r = publishable();
	set(r, "pcie", "under_load", json_null());
	expect_reason(r, "pcie.under_load.generation, pcie.under_load.width");
}

/* What sv_page_svg makes of a drawing; NULL where it is not let in. */
static char *inlined(const char *svg)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	bool good = sv_page_svg(svg, strlen(svg), "p1-", "a \"b\" <c>", out);

	fclose(out);
	if (good)
		return text;
	assert_int_equal(n, 0);
	free(text);
	return NULL;
}

static void drawings_get_names_and_ids_of_their_own(void **state)
{
	char *text = inlined(
	    "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 9 9\"\n "
	    "xmlns=\"x\">\n<title>Gnuplot</title><desc>by</desc>"
	    "<rect x=\"0\" y=\"0\" width=\"9\" height=\"9\" "
	    "fill=\"#ffffff\"/><path id='gpPt0' d='M0 0'/>"
	    "<use xlink:href='#gpPt0'/><text>id='x' &lt;b&gt;</text></svg>");

	(void)state;
	assert_non_null(text);
	assert_string_equal(text,
	    "<svg role=\"img\" viewBox=\"0 0 9 9\" aria-label=\"a "
	    "&quot;b&quot; "
	    "&lt;c&gt;\">\n<path id='p1-gpPt0' d='M0 0'/>"
	    "<use href='#p1-gpPt0'/><text>id='x' &lt;b&gt;</text></svg>");
	free(text);
}

static void drawings_that_do_anything_are_refused(void **state)
{
	static const char *const bad[] = {
	    "<svg viewBox=\"0 0 9 9\"><script>x</script></svg>",
	    "<svg viewBox=\"0 0 9 9\"><foreignObject/></svg>",
	    "<svg viewBox=\"0 0 9 9\"><image/></svg>",
	    "<svg viewBox=\"0 0 9 9\"><g onload=\"x\"/></svg>",
	    "<svg viewBox=\"0 0 9 9\" onload=\"x\"></svg>",
	    "<svg viewBox=\"0 0 9 9\"><use xlink:href='http://x'/></svg>",
	    "<svg viewBox=\"0 0 9 9\"><text>a < b</text></svg>",
	    "<svg viewBox=\"0 0 9 9\"><g",
	    "<p>no drawing</p>",
	    "",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (inlined(bad[i]) != NULL)
			fail_msg("let in: %s", bad[i]);
}

static char *explained(const char *json)
{
	json_t *document = json_loads(json, 0, NULL);
	struct sv_page page = {
	    .explanations = &document, .n_explanations = json != NULL};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(document);
	assert_int_equal(sv_page_explanations(&page, out, NULL), 0);
	fclose(out);
	json_decref(document);
	return text;
}

static void explanations_are_shown_as_text(void **state)
{
	char *text = explained(
	    "{\"workload\": \"resnet<b>\", \"batch\": 64, \"precision\": "
	    "\"amp\", \"speedup\": {\"value\": 0.5, \"ci95\": [0.4, 0.6], "
	    "\"verdict\": \"b_slower\"}, \"a\": {\"step_s\": 0.1, "
	    "\"limiting\": "
	    "\"gemm\"}, \"b\": {\"step_s\": 0.2, \"limiting\": \"transfer\"}, "
	    "\"causes\": [{\"code\": \"PCIE_LINK\", \"claim\": \"x<i>\", "
	    "\"remedy\": \"move it\", \"gain\": {\"speedup\": 1.8}, "
	    "\"evidence\": [\"transfer/bandwidth\", 3]}], \"components\": "
	    "[{\"name\": \"transfer\", \"a_s\": 0.01, \"b_s\": null}], "
	    "\"ruled_out\": [{\"code\": \"THERMAL\", \"why\": \"65 C\"}], "
	    "\"not_modelled\": [\"exchange\"]}");

	(void)state;
	assert_non_null(strstr(text, "resnet&lt;b&gt;, batch 64, amp"));
	assert_non_null(strstr(text, "B is slower: 0.50 times the speed of A "
				     "(95 %: 0.40 to 0.60)"));
	assert_non_null(strstr(text, "x&lt;i&gt;"));
	assert_non_null(strstr(text, "<li>transfer/bandwidth</li>"));
	assert_non_null(strstr(text, "THERMAL</strong>: 65 C"));
	assert_non_null(strstr(text, "10.0 ms"));
	assert_null(strstr(text, "<i>"));
	free(text);
}

/* What keeps a pair apart may be text of strangers too. */
static void mismatches_are_shown_as_text(void **state)
{
	static const struct sv_compare_options options = {
	    .alpha = 0.05, .min_effect = 0.02};
	struct sv_result *results[2] = {publishable(), publishable()};
	struct sv_page page = {
	    .results = (const struct sv_result *const *)results,
	    .n_results = 2};
	struct sv_comparison *c = NULL;
	struct sv_err err;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	results[0]->measurements[0].extra =
	    json_pack("{s:s}", "library", "<script>a</script>");
	results[1]->measurements[0].extra = json_pack("{s:s}", "library", "b");
	if (sv_compare(results[0], results[1], &options, &c, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(c->n_mismatched, 1);
	page.comparison = c;
	assert_non_null(out);
	sv_page_pairs(&page, out);
	fclose(out);
	assert_non_null(strstr(text, "&lt;script&gt;a"));
	assert_null(strstr(text, "<script>"));
	free(text);
	sv_comparison_free(c);
	sv_result_free(results[0]);
	sv_result_free(results[1]);
}

/* A document by somebody else: anything may be missing or of another type. */
static void explanations_of_any_shape_are_survived(void **state)
{
	static const char *const odd[] = {"{}", "[]",
	    "{\"causes\": 3, \"components\": {}, \"speedup\": []}",
	    "{\"causes\": [1, null, []], \"components\": [[], \"x\"], "
	    "\"ruled_out\": [0], \"not_modelled\": [{}], \"speedup\": "
	    "{\"value\": \"x\", \"ci95\": [1], \"verdict\": 2}}"};

	(void)state;
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		char *text = explained(odd[i]);

		assert_non_null(strstr(text, "The speed-up is unknown"));
		free(text);
	}
}

static void without_an_explanation_there_is_no_section(void **state)
{
	struct sv_page page = {.n_explanations = 0};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_int_equal(sv_page_explanations(&page, out, NULL), 0);
	fclose(out);
	assert_int_equal(n, 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(digests_are_those_of_the_standard),
	    cmocka_unit_test(each_fault_makes_a_draft),
	    cmocka_unit_test(drawings_get_names_and_ids_of_their_own),
	    cmocka_unit_test(drawings_that_do_anything_are_refused),
	    cmocka_unit_test(explanations_are_shown_as_text),
	    cmocka_unit_test(mismatches_are_shown_as_text),
	    cmocka_unit_test(explanations_of_any_shape_are_survived),
	    cmocka_unit_test(without_an_explanation_there_is_no_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
