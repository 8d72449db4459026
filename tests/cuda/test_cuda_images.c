/* What the embedded kernels can run on, peaks, and errors without a driver. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "cuda_backend.h"
#include "cuda_peak.h"
#include "near.h"

static void every_image_is_a_fat_binary(void **state)
{
	/* The first word of the vendor's container. */
	static const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};

	(void)state;
	assert_true(cuda_images_count > 0);
	for (size_t i = 0; i < cuda_images_count; i++)
		assert_memory_equal(cuda_images[i].data, magic, sizeof magic);
}

static void the_build_suits_the_cards_it_has_code_for(void **state)
{
	(void)state;
	for (size_t i = 0; cuda_image_archs[i] != 0; i++)
		assert_true(cuda_images_suit(
		    cuda_image_archs[i] / 10, cuda_image_archs[i] % 10));
}

static void later_cards_take_the_intermediate_code(void **state)
{
	(void)state;
	assert_true(cuda_images_suit(cuda_image_ptx / 10 + 90, 0));
}

static void cards_older_than_all_code_are_not_suited(void **state)
{
	(void)state;
	assert_false(cuda_images_suit(3, 5));
}

static void the_description_names_the_oldest_and_the_toolkit(void **state)
{
	char text[256], oldest[16];

	(void)state;
	cuda_images_describe(text, sizeof text);
	snprintf(oldest, sizeof oldest, "sm_%d", cuda_image_archs[0]);
	assert_non_null(strstr(text, oldest));
	assert_non_null(strstr(text, cuda_image_toolkit));
}

static void peaks_give_the_data_sheets_figures(void **state)
{
	(void)state;
	/* A100: 108 multiprocessors at 1.41 GHz, 19.5 and 312 TFLOP/s. */
	assert_near(108 * 1.41e9 * cuda_peak_flop_per_clock(80, SV_FP32),
	    19.5e12, 0.01);
	assert_near(
	    108 * 1.41e9 * cuda_peak_flop_per_clock(80, SV_BF16), 312e12, 0.01);
	/* H100 SXM: 132 at 1.83 GHz, 989 TFLOP/s dense. */
	assert_near(
	    132 * 1.83e9 * cuda_peak_flop_per_clock(90, SV_FP16), 989e12, 0.01);
	/* V100: 80 at 1.53 GHz, 7.8 TFLOP/s; it has no BF16. */
	assert_near(
	    80 * 1.53e9 * cuda_peak_flop_per_clock(70, SV_FP64), 7.8e12, 0.01);
	assert_int_equal(cuda_peak_flop_per_clock(70, SV_BF16), 0);
}

static void an_unknown_architecture_has_no_peak(void **state)
{
	(void)state;
	assert_false(cuda_peak_known(61));
	assert_int_equal(cuda_peak_flop_per_clock(61, SV_FP32), 0);
}

static void sizes_are_said_as_people_say_them(void **state)
{
	(void)state;
	assert_string_equal(cuda_size(100).text, "100 B");
	assert_string_equal(cuda_size(65536).text, "64 KiB");
	assert_string_equal(cuda_size((size_t)3 << 29).text, "1.5 GiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_image_is_a_fat_binary),
	    cmocka_unit_test(the_build_suits_the_cards_it_has_code_for),
	    cmocka_unit_test(later_cards_take_the_intermediate_code),
	    cmocka_unit_test(cards_older_than_all_code_are_not_suited),
	    cmocka_unit_test(the_description_names_the_oldest_and_the_toolkit),
	    cmocka_unit_test(peaks_give_the_data_sheets_figures),
	    cmocka_unit_test(an_unknown_architecture_has_no_peak),
	    cmocka_unit_test(sizes_are_said_as_people_say_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
