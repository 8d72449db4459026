/* When sampling stops: planted series, known decisions. */
#include "cmocka_all.h"
#include "random.h"
#include "stave/order.h"
#include "stopping.h"

#define N 1024

/* Feed a series one by one; the number of samples at which it stopped. */
static size_t stop_at(
    const double *x, size_t n, double target, enum sv_stop *why)
{
	struct sv_stopping s = {.target = target};
	double scratch[N];

	for (size_t i = 1; i <= n; i++) {
		*why = sv_stopping_judge(&s, x, i, scratch);
		if (*why != SV_GO_ON)
			return i;
	}
	return n;
}

static void steady_values_stop_at_the_least_number(void **state)
{
	enum sv_stop why;
	double x[N];

	(void)state;
	for (size_t i = 0; i < N; i++)
		x[i] = 1.0;
	assert_int_equal(
	    stop_at(x, N, 0.01, &why), SV_STOP_BLOCK * SV_STOP_MIN_BLOCKS);
	assert_int_equal(why, SV_STOP_SETTLED);
}

static void small_noise_settles(void **state)
{
	uint64_t seed = 1;
	enum sv_stop why;
	double x[N];

	(void)state;
	for (size_t i = 0; i < N; i++)
		x[i] = 1.0 + 0.02 * test_normal(&seed);
	assert_true(stop_at(x, N, 0.01, &why) < N);
	assert_int_equal(why, SV_STOP_SETTLED);
}

static void noise_that_never_shrinks_is_given_up(void **state)
{
	enum sv_stop why = SV_GO_ON;
	double x[N];

	(void)state;
	/* Half of the blocks at 1, half at 2, whatever their number. */
	for (size_t i = 0; i < N; i++)
		x[i] = i / 8 % 3 == 0 || i / 8 % 7 == 2 ? 2.0 : 1.0;
	stop_at(x, N, 0.01, &why);
	assert_int_equal(why, SV_STOP_NOISY);
}

static void warm_means_three_blocks_alike(void **state)
{
	double x[40], scratch[40];

	(void)state;
	for (size_t i = 0; i < 40; i++)
		x[i] = i < 16 ? 2.0 : 1.0;
	assert_false(sv_stopping_warm(x, 16, scratch));
	assert_false(sv_stopping_warm(x, 32, scratch));
	assert_true(sv_stopping_warm(x, 40, scratch));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(steady_values_stop_at_the_least_number),
	    cmocka_unit_test(small_noise_settles),
	    cmocka_unit_test(noise_that_never_shrinks_is_given_up),
	    cmocka_unit_test(warm_means_three_blocks_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
