/* Numbers as people read them. */
#include <math.h>

#include "cmocka_all.h"
#include "quantity.h"

static void values_get_a_prefix_and_three_digits(void **state)
{
	static const struct {
		double value;
		const char *unit, *text;
	} cases[] = {{1.24e10, "B/s", "12.4 GB/s"}, {3.18e-6, "s", "3.18 µs"},
	    {0.0, "s", "0.00 s"}, {1.0, "s", "1.00 s"}, {999.6, "B", "1.00 kB"},
	    {999.4, "B", "999 B"}, {1.23e12, "FLOP/s", "1.23 TFLOP/s"},
	    {5200.0, "1/s", "5.20 k /s"}, {0.934, "1", "0.934"},
	    {NAN, "s", "-"}, {-2.5e-3, "s", "-2.50 ms"}};
	char out[SV_QUANTITY_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(
		    sv_quantity(out, sizeof out, cases[i].value, cases[i].unit),
		    cases[i].text);
}

static void sizes_are_exact_where_they_can_be(void **state)
{
	char out[SV_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(sv_quantity_size(out, sizeof out, 4), "4 B");
	assert_string_equal(
	    sv_quantity_size(out, sizeof out, 268435456), "256 MiB");
	assert_string_equal(
	    sv_quantity_size(out, sizeof out, 1500), "1.46 KiB");
	assert_string_equal(sv_quantity_size(out, sizeof out, NAN), "-");
}

static void clocks_show_minutes_when_there_are_any(void **state)
{
	char out[SV_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(sv_quantity_clock(out, sizeof out, 12.4), "12 s");
	assert_string_equal(sv_quantity_clock(out, sizeof out, 65), "1:05");
	assert_string_equal(
	    sv_quantity_clock(out, sizeof out, 3725), "1:02:05");
	assert_string_equal(sv_quantity_clock(out, sizeof out, NAN), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_get_a_prefix_and_three_digits),
	    cmocka_unit_test(sizes_are_exact_where_they_can_be),
	    cmocka_unit_test(clocks_show_minutes_when_there_are_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
