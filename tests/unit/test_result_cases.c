/*
 * The scenarios that the project is judged by, where they are at hand beside
 * the source folder: every result file among them is read and says the same
 * when it is written back.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "lossless.h"
#include "result.h"

#define CASES SV_TEST_FIXTURES "/../../../shared/cases"

/* Whether the file was there. */
static bool check(const char *scenario, const char *side)
{
	char path[4096], lost[SV_LOSSLESS_PATH] = "";
	struct sv_result *r = NULL;
	struct sv_err err = {0};
	json_t *before, *after;

	snprintf(path, sizeof path, CASES "/%s/%s.json", scenario, side);
	if (access(path, R_OK) != 0)
		return false;
	if (sv_result_read(path, &r, &err) != 0)
		print_error("%s\n", err.text);
	assert_non_null(r);
	before = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	after = sv_result_to_json(r, SV_KEEP_ALL);
	assert_non_null(before);
	if (!sv_lossless(before, after, lost, 0))
		print_error("%s: lost %s\n", path, lost);
	assert_true(sv_lossless(before, after, lost, 0));
	/* And nothing was added that the file did not imply. */
	assert_true(sv_lossless(after, before, lost, 0));
	json_decref(before);
	json_decref(after);
	sv_result_free(r);
	return true;
}

static void every_scenario_comes_back_as_it_was(void **state)
{
	DIR *dir = opendir(CASES);
	const struct dirent *entry;
	size_t n = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		n += check(entry->d_name, "a") ? 1 : 0;
		n += check(entry->d_name, "b") ? 1 : 0;
	}
	closedir(dir);
	assert_true(n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_scenario_comes_back_as_it_was),
	};

	if (access(CASES, R_OK) != 0)
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
