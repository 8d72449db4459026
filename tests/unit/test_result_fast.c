/* The fast reader says what jansson says, to the bit, or says nothing. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "files.h"
#include "random.h"
#include "store.h"

/* Both readers on a text; whether the fast one took it. */
static bool agrees(const char *text, size_t n)
{
	json_t *fast = sv_json_fast(text, n);
	json_t *slow = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	bool took = fast != NULL;

	if (took && (slow == NULL || !json_equal(fast, slow)))
		fail_msg("the readers differ about %.*s",
		    (int)(n < 300 ? n : 300), text);
	json_decref(fast);
	json_decref(slow);
	return took;
}

static unsigned agrees_in(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char path[4096];
	unsigned taken = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		size_t n;
		char *text;

		if (strstr(entry->d_name, ".json") == NULL)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		text = sv_slurp(path, &n);
		taken += agrees(text, n);
		free(text);
	}
	closedir(dir);
	return taken;
}

static void good_and_bad_files_are_what_jansson_says(void **state)
{
	(void)state;
	assert_true(agrees_in(SV_TEST_FIXTURES "/result/valid") > 0);
	agrees_in(SV_TEST_FIXTURES "/result/invalid");
	agrees_in(SV_TEST_FIXTURES "/../../results/published");
	/* What users have in hand is taken. */
	assert_true(agrees_in(SV_TEST_FIXTURES "/cli") > 0);
}

static void damaged_files_are_what_jansson_says(void **state)
{
	static const char marks[] = "\"{}[]:,-+.0e9E \n\\tfn\x01\x80\xff";
	size_t n;
	char *text = sv_slurp(SV_TEST_FIXTURES "/result/valid/full.json", &n);
	uint64_t seed = 11;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		size_t at = (size_t)(test_random(&seed) % n);
		char kept = text[at];

		text[at] = marks[test_random(&seed) % (sizeof marks - 1)];
		agrees(text, n);
		text[at] = kept;
		agrees(text, at);
	}
	free(text);
}

static void numbers_are_the_c_librarys_to_the_bit(void **state)
{
	static const int digits[] = {17, 16, 15, 6, 3, 1};
	uint64_t seed = 12;
	unsigned taken = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		char text[64];
		double x = (test_uniform(&seed) - 0.5) *
			   pow(10.0, 80.0 * test_uniform(&seed) - 40.0);
		double wanted, found;
		json_t *tree;

		snprintf(text, sizeof text, "{\"x\":%.*e}", digits[i % 6], x);
		wanted = strtod(text + 5, NULL);
		tree = sv_json_fast(text, strlen(text));
		if (tree == NULL)
			continue;
		taken++;
		found = json_real_value(json_object_get(tree, "x"));
		if (memcmp(&found, &wanted, sizeof found) != 0)
			fail_msg("%s is read as %.17g", text, found);
		json_decref(tree);
	}
	assert_int_equal(taken, 30000);
}

static void corners_are_what_jansson_says(void **state)
{
	static const char *const texts[] = {"", "{", "{}", " {} ", "{}x", "[]",
	    "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}",
	    "{\"a\":1,\"a\":2}", "{\"a\":-}", "{\"a\":-0}", "{\"a\":-0.0}",
	    "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}",
	    "{\"a\":1e+}", "{\"a\":1E-5}", "{\"a\":1e400}", "{\"a\":1e-400}",
	    "{\"a\":0e99999}", "{\"a\":123456789012345678}",
	    "{\"a\":1234567890123456789}", "{\"a\":12345678901234567890}",
	    "{\"a\":9007199254740993.0}", "{\"a\":9007199254740992e22}",
	    "{\"a\":4.9406564584124654e-324}", "{\"a\":0x10}", "{\"a\":inf}",
	    "{\"a\":NaN}", "{\"a\":tru}", "{\"a\":truee}", "{\"a\":null}",
	    "{\"a\":[}", "{\"a\":[1,]}", "{\"a\":[1 2]}", "{\"a\":\"\\n\"}",
	    "{\"a\":\"\xc3\xa9\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\x01\"}",
	    "{\"a\":\"\x7f\"}", "{\"\":1}", "{\"a\":\"open}", "{\"a",
	    "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]"
	    "]]"
	    "]]]]]]]}"};

	static const char twice[] = "{\"a\":1,\"a\":2}";
	static const char plain[] = "{\"a\":[1,-2.5e3,\"b\",true,null]}";

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		agrees(texts[i], strlen(texts[i]));
	assert_false(agrees(twice, strlen(twice)));
	assert_true(agrees(plain, strlen(plain)));
	/* A zero byte is in no file of ours. */
	assert_false(agrees("{\"a\":\"\0\"}", 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_and_bad_files_are_what_jansson_says),
	    cmocka_unit_test(damaged_files_are_what_jansson_says),
	    cmocka_unit_test(numbers_are_the_c_librarys_to_the_bit),
	    cmocka_unit_test(corners_are_what_jansson_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
