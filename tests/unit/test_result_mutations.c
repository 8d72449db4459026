/*
 * Ten thousand damaged result files, the same ones every time: none may crash
 * the reader, hold it up, or be read with something of it lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmocka_all.h"
#include "files.h"
#include "mutate.h"
#include "roundtrip.h"

#define N_MUTANTS 10000

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void save(const struct mutant *m)
{
	const char *path = SV_TEST_BINARY_DIR "/mutant.json";

	sv_spill(path, m->bytes, m->n);
	print_error("the mutant is kept as %s\n", path);
}

static void damaged_files_are_refused_or_lose_nothing(void **state)
{
	size_t n, accepted_count = 0;
	char *seed = sv_slurp(SV_TEST_FIXTURES "/result/valid/full.json", &n);
	struct mutant m = {malloc(sv_mutant_room(n)), 0};

	(void)state;
	assert_non_null(m.bytes);
	for (uint64_t i = 0; i < N_MUTANTS; i++) {
		uint64_t random = i;
		bool accepted, survived;
		double begin = now_s();

		memcpy(m.bytes, seed, n);
		m.n = n;
		sv_mutate(&m, &random);
		survived = sv_survives(m.bytes, m.n, &accepted);
		accepted_count += accepted ? 1 : 0;
		if (!survived || now_s() - begin > 1.0) {
			save(&m);
			fail_msg("mutant %llu", (unsigned long long)i);
		}
	}
	/* Both ways must have been taken often for this to mean anything. */
	print_message("%zu of %d were read\n", accepted_count, N_MUTANTS);
	assert_true(accepted_count > N_MUTANTS / 20);
	assert_true(accepted_count < N_MUTANTS / 2);
	free(m.bytes);
	free(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(damaged_files_are_refused_or_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
