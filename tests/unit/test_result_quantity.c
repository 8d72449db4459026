/* How quantities look to people. */
#include <math.h>

#include "cmocka_all.h"
#include "quantity.h"
#include "stave/units.h"

struct expected {
	double value;
	const char *unit, *text;
};

static void check(const struct expected *all, size_t n)
{
	char out[SV_QUANTITY_BYTES];

	for (size_t i = 0; i < n; i++)
		assert_string_equal(
		    sv_quantity(out, sizeof out, all[i].value, all[i].unit),
		    all[i].text);
}

#define CHECK(all) check(all, sizeof(all) / sizeof *(all))

static void a_value_gets_the_prefix_that_leaves_three_digits(void **state)
{
	static const struct expected all[] = {
	    {12.4e9, SV_UNIT_BYTES_PER_SECOND, "12.4 GB/s"},
	    {3.18e-6, SV_UNIT_SECONDS, "3.18 µs"},
	    {1.23e12, SV_UNIT_FLOP_PER_SECOND, "1.23 TFLOP/s"},
	    {5200.0, SV_UNIT_PER_SECOND, "5.20 k/s"},
	    {12.0, SV_UNIT_PER_SECOND, "12.0 /s"},
	    {350.0, SV_UNIT_WATT, "350 W"},
	    {0.25, SV_UNIT_WATT, "250 mW"},
	    {2.52e9, SV_UNIT_HERTZ, "2.52 GHz"},
	    {7e-12, SV_UNIT_SECONDS, "7.00 ps"},
	    {4e18, SV_UNIT_FLOP_PER_SECOND, "4.00 EFLOP/s"},
	    {-3.18e-6, SV_UNIT_SECONDS, "-3.18 µs"},
	};

	(void)state;
	CHECK(all);
}

static void rounding_up_to_a_thousand_takes_the_next_prefix(void **state)
{
	static const struct expected all[] = {
	    {999.4, SV_UNIT_BYTES_PER_SECOND, "999 B/s"},
	    {999.6, SV_UNIT_BYTES_PER_SECOND, "1.00 kB/s"},
	    {999.4e-6, SV_UNIT_SECONDS, "999 µs"},
	    {999.6e-6, SV_UNIT_SECONDS, "1.00 ms"},
	};

	(void)state;
	CHECK(all);
}

static void what_is_not_zero_never_shows_as_zero(void **state)
{
	static const struct expected all[] = {
	    {1e-15, SV_UNIT_SECONDS, "1.00e-15 s"},
	    {2e-5, SV_UNIT_BYTES_PER_SECOND, "2.00e-05 B/s"},
	    {0.52, SV_UNIT_PER_SECOND, "0.52 /s"},
	    {3e-6, SV_UNIT_ONE, "3.00e-06"},
	    {1e300, SV_UNIT_SECONDS, "1.00e+300 s"},
	};

	(void)state;
	CHECK(all);
}

static void zero_and_ratios_have_no_prefix(void **state)
{
	static const struct expected all[] = {
	    {0.0, SV_UNIT_SECONDS, "0.00 s"},
	    {0.0, SV_UNIT_ONE, "0.000"},
	    {0.9136, SV_UNIT_ONE, "0.914"},
	    {12.0, SV_UNIT_ONE, "12.000"},
	    {123456.0, SV_UNIT_ONE, "1.23e+05"},
	};

	(void)state;
	CHECK(all);
}

static void what_is_unknown_is_a_dash(void **state)
{
	static const struct expected all[] = {
	    {NAN, SV_UNIT_SECONDS, "—"},
	    {NAN, SV_UNIT_ONE, "—"},
	    {INFINITY, SV_UNIT_BYTES_PER_SECOND, "—"},
	};
	char out[SV_QUANTITY_BYTES];

	(void)state;
	CHECK(all);
	assert_string_equal(sv_quantity_size(out, sizeof out, NAN), "—");
	assert_string_equal(sv_quantity_clock(out, sizeof out, NAN), "—");
	assert_string_equal(sv_quantity_clock(out, sizeof out, -1.0), "—");
	assert_string_equal(sv_quantity_clock(out, sizeof out, 1e300), "—");
}

static void sizes_have_binary_prefixes_and_no_needless_digits(void **state)
{
	static const struct {
		double bytes;
		const char *text;
	} all[] = {{0, "0 B"}, {4, "4 B"}, {1023, "1023 B"}, {1024, "1 KiB"},
	    {1536, "1.50 KiB"}, {1048575, "1.00 MiB"}, {536870912, "512 MiB"},
	    {25438126080.0, "23.7 GiB"}, {1099511627776.0, "1 TiB"},
	    {1e21, "9.09e+08 TiB"}};
	char out[SV_QUANTITY_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_string_equal(
		    sv_quantity_size(out, sizeof out, all[i].bytes),
		    all[i].text);
}

static void durations_look_like_a_clock(void **state)
{
	char out[SV_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(sv_quantity_clock(out, sizeof out, 0.4), "0 s");
	assert_string_equal(sv_quantity_clock(out, sizeof out, 59.4), "59 s");
	assert_string_equal(sv_quantity_clock(out, sizeof out, 59.6), "1:00");
	assert_string_equal(
	    sv_quantity_clock(out, sizeof out, 3725.0), "1:02:05");
}

/* Every double fits the room that the header promises. */
static void no_value_overflows_the_room(void **state)
{
	static const char *const units[] = {SV_UNIT_SECONDS, SV_UNIT_BYTES,
	    SV_UNIT_BYTES_PER_SECOND, SV_UNIT_FLOP_PER_SECOND,
	    SV_UNIT_PER_SECOND, SV_UNIT_HERTZ, SV_UNIT_WATT, SV_UNIT_ONE};
	char out[SV_QUANTITY_BYTES], wide[4096];

	(void)state;
	for (int exponent = -1074; exponent < 1024; exponent++) {
		double value = -ldexp(1.9999999, exponent);

		for (size_t i = 0; i < sizeof units / sizeof *units; i++)
			assert_string_equal(
			    sv_quantity(out, sizeof out, value, units[i]),
			    sv_quantity(wide, sizeof wide, value, units[i]));
		assert_string_equal(sv_quantity_size(out, sizeof out, value),
		    sv_quantity_size(wide, sizeof wide, value));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_value_gets_the_prefix_that_leaves_three_digits),
	    cmocka_unit_test(rounding_up_to_a_thousand_takes_the_next_prefix),
	    cmocka_unit_test(what_is_not_zero_never_shows_as_zero),
	    cmocka_unit_test(zero_and_ratios_have_no_prefix),
	    cmocka_unit_test(what_is_unknown_is_a_dash),
	    cmocka_unit_test(sizes_have_binary_prefixes_and_no_needless_digits),
	    cmocka_unit_test(durations_look_like_a_clock),
	    cmocka_unit_test(no_value_overflows_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
