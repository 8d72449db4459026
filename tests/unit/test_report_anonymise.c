/* What looks like an identity goes, what only resembles one stays. */
#include <stdlib.h>
#include <string.h>

#include "anonymise.h"
#include "cmocka_all.h"

static void expect(const char *text, bool addresses, const char *wanted)
{
	char *got = sv_anonymise_text(text, addresses);

	assert_non_null(got);
	assert_string_equal(got, wanted);
	free(got);
}

static void identities_are_replaced(void **state)
{
	(void)state;
	expect(
	    "GPU-1234abcd-0011-2233-4455-66778899aabb!", false, "GPU-[uuid]!");
	expect("mac 00:1b:44:11:3a:b7, 3C-22-FB-0A-1C-9D.", false,
	    "mac [mac], [mac].");
	expect("from 10.0.0.7:22", true, "from [address]:22");
	expect("open /home/a/b.c: no", false, "open [path]: no");
	expect("in ~alice/x and ~/y and \"/tmp\"", false,
	    "in [path] and [path] and \"[path]\"");
	expect("mail a.b@c.example.org now", false, "mail [mail] now");
	expect(
	    "CUDA_HOME=/opt/cuda:/usr/lib", false, "CUDA_HOME=[path]:[path]");
}

static void what_only_resembles_one_stays(void **state)
{
	static const char *const same[] = {"25 GB/s and 1/s",
	    "transfer/bandwidth?bytes=4&memory=pinned", "0000:01:00.0",
	    "13.580.65.06", "5.15.167.4-microsoft", "a/b", "1 / 2",
	    "2026-01-01T00:00:00Z", "https://example.org/a/b?c=/d",
	    "device@7ccc88389b1e README.md", "numpy@1.2.3",
	    "usercopy/swapgs barriers", "12:34:56", "~ 5 %", "\u00fc/\u00e4"};

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		expect(same[i], false, same[i]);
	/* Numbers that are no address even in prose. */
	expect("999.1.1.1 and 1.2.3.4.5 and 1.2.3", true,
	    "999.1.1.1 and 1.2.3.4.5 and 1.2.3");
}

static struct sv_result *parsed(json_t *machine, json_t *device)
{
	json_t *tree = json_pack(
	    "{s:s, s:{s:s, s:s, s:s, s:s, s:b, s:s, s:{s:s, s:s}, s:n, s:n}, "
	    "s:o, s:o, s:[], s:[{s:s, s:{}, s:s, s:s}], s:[]}",
	    "schema", SV_RESULT_SCHEMA, "run", "id", "x", "label", "box42",
	    "started", "2026-01-01T00:00:00Z", "finished",
	    "2026-01-01T00:00:00Z", "complete", 1, "origin", "measured",
	    "stave", "version", "1", "revision", "r", "source", "profile",
	    "machine", machine, "device", device, "measurements", "skipped",
	    "bench", "gemm", "params", "reason",
	    "box42 and lab7.example.org (lab7) by bob, not bobby: /x/y", "code",
	    "c", "failures");
	char *text = json_dumps(tree, 0);
	struct sv_result *r = NULL;
	struct sv_err err;

	assert_non_null(text);
	if (sv_result_parse(text, strlen(text), "test", &r, &err) != 0)
		fail_msg("%s", err.text);
	free(text);
	json_decref(tree);
	return r;
}

static struct sv_result *anonymised(struct sv_result *r)
{
	static const struct sv_identity here = {
	    "lab7.example.org", "bob", "/home/bob"};
	struct sv_result *clean = NULL;
	struct sv_err err;

	if (sv_anonymise(r, &here, &clean, &err) != 0)
		fail_msg("%s", err.text);
	sv_result_free(r);
	return clean;
}

static void words_of_the_publisher_go_as_whole_words(void **state)
{
	struct sv_result *r = anonymised(parsed(json_object(),
	    json_pack("{s:s, s:s}", "backend", "cuda", "name", "Card X")));

	(void)state;
	assert_string_equal(r->run.label, "Card X");
	assert_string_equal(r->skipped[0].reason,
	    "[withheld] and [withheld] ([withheld]) by [withheld], not bobby: "
	    "[path]");
	sv_result_free(r);
}

static void text_that_nobody_knows_is_withheld(void **state)
{
	struct sv_result *r = anonymised(
	    parsed(json_pack("{s:{s:s, s:s, s:i}, s:{s:s}, s:{s:s}}", "cpu",
		       "model", "CPU lab7", "nickname", "old faithful", "cores",
		       4, "storage", "path", "/data", "owner", "name", "Bob"),
		json_pack("{s:s, s:s, s:s, s:i, s:{s:i, s:s}}", "backend",
		    "cuda", "name", "Card X", "uuid", "GPU-1", "serial", 12345,
		    "pcie", "width", 16, "driver", "nvidia")));
	char *text = json_dumps(r->machine, JSON_SORT_KEYS | JSON_COMPACT);

	(void)state;
	assert_string_equal(text,
	    "{\"cpu\":{\"cores\":4,\"model\":\"CPU [withheld]\"},\"owner\":{},"
	    "\"storage\":{\"path\":null},\"unknown\":[{\"field\":\"(unlisted)"
	    "\","
	    "\"why\":\"withheld\"},{\"field\":\"storage.path\",\"why\":"
	    "\"withheld\"},{\"field\":\"(unlisted)\",\"why\":\"withheld\"}]}");
	free(text);
	text = json_dumps(r->device, JSON_SORT_KEYS | JSON_COMPACT);
	assert_null(strstr(text, "GPU-1"));
	assert_null(strstr(text, "12345"));
	assert_non_null(strstr(text, "\"pcie\":{\"driver\":\"nvidia\","
				     "\"width\":16}"));
	free(text);
	sv_result_free(r);
}

static void a_label_that_names_the_hardware_harms_nothing(void **state)
{
	struct sv_result *r =
	    parsed(json_object(), json_pack("{s:s, s:s}", "backend", "cuda",
				      "name", "Card box42 Pro"));

	(void)state;
	r = anonymised(r);
	assert_string_equal(r->run.label, "Card box42 Pro");
	sv_result_free(r);
}

static void without_a_name_there_is_no_label(void **state)
{
	struct sv_result *r = anonymised(parsed(json_object(), json_object()));

	(void)state;
	assert_null(r->run.label);
	sv_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(identities_are_replaced),
	    cmocka_unit_test(what_only_resembles_one_stays),
	    cmocka_unit_test(words_of_the_publisher_go_as_whole_words),
	    cmocka_unit_test(text_that_nobody_knows_is_withheld),
	    cmocka_unit_test(a_label_that_names_the_hardware_harms_nothing),
	    cmocka_unit_test(without_a_name_there_is_no_label),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
