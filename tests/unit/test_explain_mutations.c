/*
 * Thousands of damaged specifications, the same ones every time: each is
 * refused in one clear line, or read and judged by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "files.h"
#include "mutate.h"
#include "spec.h"

#define N_MUTANTS 3000

static void damaged_specifications_are_refused_or_judge(void **state)
{
	size_t n, accepted = 0;
	char *seed = sv_slurp(SV_TEST_FIXTURES "/spec/clock.json", &n);
	struct mutant m = {malloc(sv_mutant_room(n)), 0};
	struct sv_result *healthy;
	struct sv_err err = {0};

	(void)state;
	assert_non_null(m.bytes);
	assert_int_equal(
	    sv_result_read(
		SV_TEST_FIXTURES "/checklist/healthy.json", &healthy, &err),
	    0);
	for (uint64_t i = 0; i < N_MUTANTS; i++) {
		struct sv_spec *spec = NULL;
		struct sv_checklist list;
		uint64_t random = i;
		int code;

		memcpy(m.bytes, seed, n);
		m.n = n;
		sv_mutate(&m, &random);
		code = sv_spec_parse(m.bytes, m.n, "spec", &spec, &err);
		if (code != 0) {
			if (code != SV_EINPUT ||
			    strncmp(err.text, "spec: ", 6) != 0 ||
			    strpbrk(err.text, "\n\r") != NULL)
				fail_msg("mutant %llu: code %d, %s",
				    (unsigned long long)i, code, err.text);
			assert_null(spec);
			continue;
		}
		accepted++;
		assert_int_equal(sv_spec_judge(spec, healthy, &list, &err), 0);
		json_decref(sv_checklist_to_json(&list));
		sv_checklist_fini(&list);
		sv_spec_free(spec);
	}
	print_message("%zu of %d were read\n", accepted, N_MUTANTS);
	assert_true(accepted > 30 && accepted < N_MUTANTS / 2);
	sv_result_free(healthy);
	free(m.bytes);
	free(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(damaged_specifications_are_refused_or_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
