/*
 * Known noise in, known answer out: the estimators are right about simulated
 * runs whose truth is known. Seeds are fixed, so that the counts are too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "random.h"
#include "stats.h"

#define RUNS	   2000
#define MAX_ROUNDS 15
#define MAX_INNER  64

/* One run: every round has an offset of its own, samples noise on top. */
static void make_rounds(
    uint64_t *seed, size_t rounds, double offset, double noise, double *medians)
{
	for (size_t r = 0; r < rounds; r++) {
		double own = 1.0 + offset * test_normal(seed);
		double samples[MAX_INNER];

		for (size_t i = 0; i < MAX_INNER; i++)
			samples[i] = own * (1.0 + noise * test_normal(seed));
		assert_int_equal(
		    sv_stats_median(samples, MAX_INNER, &medians[r], NULL), 0);
	}
}

static void interval_covers_the_truth_whatever_rounds_share(void **state)
{
	static const size_t counts[] = {6, 10, 15};

	(void)state;
	for (size_t c = 0; c < 3; c++) {
		uint64_t seed = 1 + c;
		unsigned covered = 0;

		for (unsigned run = 0; run < RUNS; run++) {
			double medians[MAX_ROUNDS];
			const struct sv_rounds rounds = {
			    medians, counts[c], NULL, NULL};
			struct sv_estimate e;

			make_rounds(&seed, counts[c], 0.01, 0.005, medians);
			assert_int_equal(
			    sv_stats_estimate(&rounds, &e, NULL), 0);
			covered += e.ci_lo <= 1.0 && 1.0 <= e.ci_hi;
		}
		/* 93 % to 99 % of the runs. */
		assert_in_range(covered, RUNS * 93 / 100, RUNS * 99 / 100);
	}
}

/* A series whose neighbours resemble each other. */
static void make_series(uint64_t *seed, double likeness, double *x, size_t n)
{
	double at = test_normal(seed);

	for (size_t i = 0; i < n; i++) {
		x[i] = 100.0 + at;
		at = likeness * at +
		     sqrt(1.0 - likeness * likeness) * test_normal(seed);
	}
}

static void doubled_blocks_restore_what_likeness_takes(void **state)
{
	enum {
		N = 2048,
		TRIES = 500
	};
	static double x[N];
	uint64_t seed = 42;
	unsigned plain = 0, blocked = 0;

	(void)state;
	for (unsigned i = 0; i < TRIES; i++) {
		const struct sv_rounds all = {x, N, NULL, NULL};
		struct sv_block_interval b;
		struct sv_estimate e;

		make_series(&seed, 0.9, x, N);
		assert_int_equal(sv_stats_estimate(&all, &e, NULL), 0);
		assert_int_equal(sv_stats_block_interval(x, N, 1, &b, NULL), 0);
		plain += e.ci_lo <= 100.0 && 100.0 <= e.ci_hi;
		blocked += b.has_interval && b.lo <= 100.0 && 100.0 <= b.hi;
	}
	assert_true(plain < TRIES * 60 / 100);
	assert_true(blocked > TRIES * 85 / 100);
}

/* Fill pooled samples of `rounds` rounds of 20 with a generator. */
struct pool {
	double medians[10], samples[10][20];
	const double *pointers[10];
	size_t counts[10];
};

static struct sv_rounds pool_rounds(struct pool *p)
{
	for (size_t r = 0; r < 10; r++) {
		p->pointers[r] = p->samples[r];
		p->counts[r] = 20;
		assert_int_equal(
		    sv_stats_median(p->samples[r], 20, &p->medians[r], NULL),
		    0);
	}
	return (struct sv_rounds){p->medians, 10, p->pointers, p->counts};
}

static void two_modes_are_found_and_one_is_not(void **state)
{
	uint64_t seed = 7;
	unsigned found = 0, alarms = 0;

	(void)state;
	for (unsigned run = 0; run < 200; run++) {
		struct sv_stats_flags f;
		struct pool p;

		for (size_t i = 0; i < 200; i++)
			p.samples[i / 20][i % 20] =
			    (test_uniform(&seed) < 0.3 ? 1.2 : 1.0) *
			    (1.0 + 0.01 * test_normal(&seed));
		struct sv_rounds two = pool_rounds(&p);

		assert_int_equal(sv_stats_flag(&two, 0.02, 0.02, &f, NULL), 0);
		found += f.bimodal;
		for (size_t i = 0; i < 200; i++)
			p.samples[i / 20][i % 20] =
			    1.0 + 0.05 * test_normal(&seed);
		struct sv_rounds one = pool_rounds(&p);

		assert_int_equal(sv_stats_flag(&one, 0.02, 0.02, &f, NULL), 0);
		alarms += f.bimodal;
	}
	assert_true(found >= 195);
	assert_true(alarms <= 10);
}

static void drift_is_found_and_noise_is_not_drift(void **state)
{
	uint64_t seed = 8;
	unsigned found = 0, alarms = 0;

	(void)state;
	for (unsigned run = 0; run < 500; run++) {
		double rising[10], level[10];
		const struct sv_rounds r = {rising, 10, NULL, NULL};
		const struct sv_rounds l = {level, 10, NULL, NULL};
		struct sv_stats_flags f;

		for (size_t i = 0; i < 10; i++) {
			level[i] = 1.0 + 0.02 * test_normal(&seed);
			rising[i] = level[i] + 0.03 * (double)i;
		}
		assert_int_equal(sv_stats_flag(&r, 0.02, 0.02, &f, NULL), 0);
		found += f.drift;
		assert_int_equal(sv_stats_flag(&l, 0.02, 0.02, &f, NULL), 0);
		alarms += f.drift;
	}
	assert_true(found >= 450);
	assert_true(alarms <= 10);
}

static void wide_intervals_are_noisy_and_narrow_ones_are_not(void **state)
{
	const double wide[] = {1.0, 1.3, 0.8, 1.2, 0.9, 1.1};
	const double narrow[] = {1.0, 1.001, 0.999, 1.002, 1.0, 1.001};
	const struct sv_rounds w = {wide, 6, NULL, NULL};
	const struct sv_rounds n = {narrow, 6, NULL, NULL};
	struct sv_stats_flags f;

	(void)state;
	assert_int_equal(sv_stats_flag(&w, 0.02, 0.02, &f, NULL), 0);
	assert_true(f.noisy);
	assert_int_equal(sv_stats_flag(&n, 0.02, 0.02, &f, NULL), 0);
	assert_false(f.noisy);
	assert_false(f.jump);
}

static void rank_test_keeps_its_level(void **state)
{
	uint64_t seed = 9;
	unsigned alarms = 0;

	(void)state;
	for (unsigned run = 0; run < RUNS; run++) {
		double a[6], b[6], p;

		for (size_t i = 0; i < 6; i++) {
			a[i] = test_normal(&seed);
			b[i] = test_normal(&seed);
		}
		assert_int_equal(
		    sv_stats_mann_whitney(a, 6, b, 6, &p, NULL), 0);
		alarms += p < 0.05;
	}
	assert_true(alarms <= RUNS * 6 / 100);
}

static void bad_input_is_an_error_and_changes_nothing(void **state)
{
	const double good[] = {1.0, 2.0, 3.0}, zero[] = {1.0, 0.0};
	const struct sv_rounds none = {good, 0, NULL, NULL};
	struct sv_estimate e = {.n = 99};
	struct sv_ratio r = {.ratio = 99.0};
	struct sv_block_interval b;
	struct sv_trend t;
	struct sv_err err;
	double p;

	(void)state;
	assert_int_equal(sv_stats_estimate(&none, &e, &err), SV_EINPUT);
	assert_int_equal(e.n, 99);
	assert_int_equal(
	    sv_stats_ratio(good, 3, zero, 2, 0.95, &r, &err), SV_EINPUT);
	assert_true(r.ratio == 99.0);
	assert_non_null(strstr(err.text, "value 1 of set B"));
	assert_int_equal(
	    sv_stats_ratio(good, 0, good, 3, 0.95, &r, &err), SV_EINPUT);
	assert_int_equal(
	    sv_stats_mann_whitney(good, 3, good, 0, &p, &err), SV_EINPUT);
	assert_int_equal(sv_stats_trend(good, 2, &t, &err), SV_EINPUT);
	assert_int_equal(
	    sv_stats_block_interval(good, 3, 4, &b, &err), SV_EINPUT);
}

static void a_hundred_thousand_rounds_have_a_ratio(void **state)
{
	enum {
		N = 100000
	};
	double *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b);
	uint64_t seed = 3;
	struct sv_ratio r;

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	for (size_t i = 0; i < N; i++) {
		a[i] = exp(0.1 * test_normal(&seed));
		b[i] = 1.25 * exp(0.1 * test_normal(&seed));
	}
	/* Their differences would fill 80 GB. */
	assert_int_equal(sv_stats_ratio(a, N, b, N, 0.95, &r, NULL), 0);
	assert_true(r.lo < 1.25 && 1.25 < r.hi);
	assert_true(r.hi / r.lo < 1.01);
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_hundred_thousand_rounds_have_a_ratio),
	    cmocka_unit_test(interval_covers_the_truth_whatever_rounds_share),
	    cmocka_unit_test(doubled_blocks_restore_what_likeness_takes),
	    cmocka_unit_test(two_modes_are_found_and_one_is_not),
	    cmocka_unit_test(drift_is_found_and_noise_is_not_drift),
	    cmocka_unit_test(wide_intervals_are_noisy_and_narrow_ones_are_not),
	    cmocka_unit_test(rank_test_keeps_its_level),
	    cmocka_unit_test(bad_input_is_an_error_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
