/* Patterns, random numbers, 16-bit formats, operands and their bounds. */
#include <math.h>
#include <string.h>

#include "cmocka_all.h"
#include "half.h"
#include "near.h"
#include "operands.h"
#include "pattern.h"

static void a_pattern_checks_out_and_any_change_shows(void **state)
{
	static unsigned char data[1003];

	(void)state;
	for (size_t n = 0; n < sizeof data; n += 77) {
		sv_pattern_fill(data, n, 5);
		assert_int_equal(sv_pattern_check(data, n, 5), n);
		if (n == 0)
			continue;
		assert_true(sv_pattern_check(data, n, 6) < n);
		data[n / 2] ^= 4;
		assert_int_equal(sv_pattern_check(data, n, 5), n / 2);
		data[n / 2] ^= 4;
		data[n - 1] ^= 1;
		assert_int_equal(sv_pattern_check(data, n, 5), n - 1);
	}
}

static void a_shifted_pattern_does_not_pass(void **state)
{
	unsigned char data[256], moved[256];

	(void)state;
	sv_pattern_fill(data, sizeof data, 1);
	memcpy(moved, data + 8, sizeof data - 8);
	assert_true(sv_pattern_check(moved, sizeof data - 8, 1) < 8);
}

static void normal_numbers_are_normal(void **state)
{
	enum {
		N = 100000
	};
	uint64_t seed = 3;
	double sum = 0.0, square = 0.0, fourth = 0.0;

	(void)state;
	for (int i = 0; i < N; i++) {
		double x = sv_random_normal(&seed);

		sum += x / N;
		square += x * x / N;
		fourth += x * x * x * x / N;
	}
	assert_true(fabs(sum) < 0.02);
	assert_near(square, 1.0, 0.02);
	assert_near(fourth, 3.0, 0.05);
}

static void halves_go_there_and_back(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 65536; bits++) {
		float value = sv_half_to_float((uint16_t)bits);
		float brain = sv_bfloat_to_float((uint16_t)bits);

		if (isnan(value))
			assert_true(
			    isnan(sv_half_to_float(sv_half_from_float(value))));
		else
			assert_int_equal(sv_half_from_float(value), bits);
		if (isnan(brain))
			assert_true(isnan(
			    sv_bfloat_to_float(sv_bfloat_from_float(brain))));
		else
			assert_int_equal(sv_bfloat_from_float(brain), bits);
	}
}

static void halves_round_to_nearest_even(void **state)
{
	(void)state;
	/* Between 1 and 1 + 2^-10: the tie goes to the even one. */
	assert_int_equal(sv_half_from_float(1.0f + 0x1p-11f), 0x3c00);
	assert_int_equal(sv_half_from_float(1.0f + 3 * 0x1p-11f), 0x3c02);
	assert_int_equal(sv_half_from_float(65519.0f), 0x7bff);
	assert_int_equal(sv_half_from_float(65520.0f), 0x7c00);
	assert_int_equal(sv_half_from_float(0x1p-25f), 0x0000);
	assert_int_equal(sv_half_from_float(0x1.8p-25f), 0x0001);
	assert_int_equal(sv_bfloat_from_float(1.0f + 0x1p-8f), 0x3f80);
	assert_int_equal(sv_bfloat_from_float(1.0f + 3 * 0x1p-8f), 0x3f82);
}

static void operands_have_the_scale_asked_for(void **state)
{
	static const enum sv_precision all[] = {
	    SV_FP64, SV_FP32, SV_TF32, SV_FP16, SV_FP16ACC, SV_BF16};
	static double data[70000];

	(void)state;
	for (size_t p = 0; p < 6; p++) {
		uint64_t seed = 1;
		double square = 0.0;

		sv_operands_fill(data, 70000, all[p], 0.25, &seed);
		for (size_t i = 0; i < 70000; i++) {
			double x = sv_operands_value(data, i, all[p]);

			square += x * x / 70000;
		}
		assert_near(sqrt(square), 0.25, 0.02);
	}
}

static void bounds_grow_with_less_precision(void **state)
{
	double fp64 = sv_operands_bound(SV_FP64, 1024, 10, 1);
	double fp32 = sv_operands_bound(SV_FP32, 1024, 10, 1);
	double tf32 = sv_operands_bound(SV_TF32, 1024, 10, 1);
	double acc = sv_operands_bound(SV_FP16ACC, 1024, 10, 1);

	(void)state;
	assert_true(fp64 < fp32 && fp32 < tf32 && tf32 < acc);
	/* A TF32 product does not pass for an FP32 one. */
	assert_true(tf32 > 100.0 * fp32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_pattern_checks_out_and_any_change_shows),
	    cmocka_unit_test(a_shifted_pattern_does_not_pass),
	    cmocka_unit_test(normal_numbers_are_normal),
	    cmocka_unit_test(halves_go_there_and_back),
	    cmocka_unit_test(halves_round_to_nearest_even),
	    cmocka_unit_test(operands_have_the_scale_asked_for),
	    cmocka_unit_test(bounds_grow_with_less_precision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
