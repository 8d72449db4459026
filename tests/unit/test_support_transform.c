/*
 * Preparing pictures: every step against its definition in double precision,
 * and a reference that would not notice a mistake is no reference.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "near.h"
#include "pattern.h"
#include "preparer.h"

#define CHECKED 300

struct fixture {
	unsigned char *pixels;
	float *first, *second;
	struct sv_image image;
};

static int set_up(void **state)
{
	static struct fixture f;

	f.pixels = malloc(SV_PICTURE_BYTES);
	f.first = malloc(SVK_PREPARED * sizeof *f.first);
	f.second = malloc(SVK_PREPARED * sizeof *f.second);
	if (f.pixels == NULL || f.first == NULL || f.second == NULL)
		return -1;
	f.image =
	    (struct sv_image){f.pixels, SV_PICTURE_WIDTH, SV_PICTURE_HEIGHT};
	sv_picture_draw(3, f.pixels);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	free(f->pixels);
	free(f->first);
	free(f->second);
	return 0;
}

static void prepare_heavy(struct fixture *f, const struct svk_crop *crop)
{
	float weights[SVK_RADIUS + 1];

	sv_transform_weights(weights);
	sv_transform_crop(&f->image, crop, f->second);
	sv_transform_elastic(f->second, crop->seed, f->first);
	sv_transform_blur(f->first, false, weights, f->second);
	sv_transform_blur(f->second, true, weights, f->first);
}

static void crops_stay_inside_and_have_the_usual_shapes(void **state)
{
	uint64_t random = 7;
	double flipped = 0.0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct svk_crop c = sv_transform_draw(500, 375, &random);

		assert_true(c.left >= 0.0f && c.left + c.width <= 500.0f);
		assert_true(c.top >= 0.0f && c.top + c.height <= 375.0f);
		assert_true(c.width * c.height > 0.07f * 500.0f * 375.0f);
		/* A whole picture is what is left when nothing fits. */
		assert_true(
		    c.width / c.height < 1.4f && c.width / c.height > 0.7f);
		flipped += c.flip / 2000.0;
	}
	assert_near(flipped, 0.5, 0.1);
}

static void standard_work_is_what_it_is_defined_to_be(void **state)
{
	struct fixture *f = *state;
	uint64_t random = 1;

	for (int i = 0; i < 8; i++) {
		struct svk_crop crop = sv_transform_draw(500, 375, &random);

		sv_transform_crop(&f->image, &crop, f->first);
		assert_true(
		    sv_transform_compare(SV_WORK_STANDARD, &f->image, &crop,
			f->first, CHECKED, &random) <= SV_TRANSFORM_TOLERANCE);
	}
}

static void heavy_work_is_what_it_is_defined_to_be(void **state)
{
	struct fixture *f = *state;
	uint64_t random = 2;

	for (int i = 0; i < 3; i++) {
		struct svk_crop crop = sv_transform_draw(500, 375, &random);

		prepare_heavy(f, &crop);
		assert_true(
		    sv_transform_compare(SV_WORK_HEAVY, &f->image, &crop,
			f->first, 40, &random) <= SV_TRANSFORM_TOLERANCE);
	}
}

static double heavy_difference(
    struct fixture *f, const struct svk_crop *crop, uint64_t seed)
{
	return sv_transform_compare(
	    SV_WORK_HEAVY, &f->image, crop, f->first, 40, &seed);
}

static void a_mistake_shows(void **state)
{
	struct fixture *f = *state;
	uint64_t random = 4;
	struct svk_crop crop = sv_transform_draw(500, 375, &random), other;

	prepare_heavy(f, &crop);
	other = crop;
	other.flip = !other.flip;
	assert_true(heavy_difference(f, &other, 1) > 0.05);
	other = crop;
	other.left += 1.0f;
	assert_true(heavy_difference(f, &other, 1) > 0.01);
	other = crop;
	other.seed++;
	assert_true(heavy_difference(f, &other, 1) > 0.05);
	/* One blur left out. */
	assert_true(sv_transform_compare(SV_WORK_HEAVY, &f->image, &crop,
			f->second, 40, &random) > 0.01);
	for (size_t c = 0; c < SVK_CHANNELS; c++)
		f->first[c * SVK_PLANE] = NAN;
	assert_true(isinf(heavy_difference(f, &crop, 1)));
}

static void an_even_picture_stays_even(void **state)
{
	struct fixture *f = *state;
	const struct svk_crop crop = {10.0f, 20.0f, 300.0f, 250.0f, 1, 9};
	unsigned char *even = malloc(SV_PICTURE_BYTES);
	const struct sv_image image = {
	    even, SV_PICTURE_WIDTH, SV_PICTURE_HEIGHT};
	struct fixture g = *f;

	assert_non_null(even);
	memset(even, 124, SV_PICTURE_BYTES);
	g.image = image;
	prepare_heavy(&g, &crop);
	for (size_t i = 0; i < SVK_PREPARED; i++) {
		size_t channel = i / SVK_PLANE;

		assert_near(f->first[i],
		    124.0f * SVK_SCALE(channel) + SVK_SHIFT(channel), 1e-4);
	}
	free(even);
}

static void resizing_is_what_it_is_defined_to_be(void **state)
{
	struct fixture *f = *state;
	unsigned char *out = malloc(SVK_PREPARED);
	uint64_t random = 5;

	assert_non_null(out);
	sv_transform_resize(&f->image, out);
	for (int i = 0; i < CHECKED; i++) {
		unsigned x = (unsigned)(sv_random_next(&random) % SVK_SIDE);
		unsigned y = (unsigned)(sv_random_next(&random) % SVK_SIDE);
		unsigned c = (unsigned)(sv_random_next(&random) % 3);
		double wanted =
		    sv_transform_reference_resized(&f->image, c, y, x);

		assert_true(fabs(out[(y * SVK_SIDE + x) * 3 + c] - wanted) <=
			    0.5 + SV_TRANSFORM_TOLERANCE);
	}
	free(out);
}

static void blur_weights_add_up(void **state)
{
	float weights[SVK_RADIUS + 1];
	double sum;

	(void)state;
	sv_transform_weights(weights);
	sum = weights[0];
	for (int i = 1; i <= SVK_RADIUS; i++) {
		assert_true(weights[i] < weights[i - 1]);
		sum += 2.0 * weights[i];
	}
	assert_near(sum, 1.0, 1e-6);
}

static void pictures_are_the_same_every_time(void **state)
{
	struct fixture *f = *state;
	unsigned char *again = malloc(SV_PICTURE_BYTES);

	assert_non_null(again);
	sv_picture_draw(3, again);
	assert_memory_equal(f->pixels, again, SV_PICTURE_BYTES);
	assert_true(isinf(sv_picture_psnr(f->pixels, again)));
	sv_picture_draw(4, again);
	assert_true(sv_picture_psnr(f->pixels, again) < 20.0);
	free(again);
}

static void a_jpeg_comes_back_as_its_picture(void **state)
{
	struct fixture *f = *state;
	struct sv_preparer *preparer;
	struct sv_pictures pictures;
	struct sv_err err = {0};
	double sum = 0.0;

	if (sv_jpeg_built(&err) != 0) {
		print_message("left out: %s\n", err.text);
		return;
	}
	assert_int_equal(sv_pictures_new(&pictures, 4, &err), 0);
	assert_int_equal(sv_preparer_new(&preparer, &err), 0);
	for (size_t i = 0; i < 4; i++) {
		const struct sv_jpeg *jpeg = &pictures.list[i];

		sum += (double)jpeg->bytes / 4.0;
		assert_int_equal(sv_preparer_run(preparer, SV_WORK_DECODE,
				     jpeg->data, jpeg->bytes, NULL, NULL, &err),
		    0);
		sv_picture_draw(i, f->pixels);
		assert_true(sv_picture_psnr(f->pixels,
				sv_preparer_decoded(preparer).pixels) >=
			    SV_PICTURE_LEAST_DB);
	}
	/* The mean of ImageNet's files, about. */
	assert_true(sum > 95e3 && sum < 125e3);
	assert_int_equal(sv_preparer_run(preparer, SV_WORK_DECODE,
			     pictures.list[0].data, 100, NULL, NULL, &err),
	    SV_ECHECK);
	sv_preparer_free(preparer);
	sv_pictures_free(&pictures);
	sv_picture_draw(3, f->pixels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(crops_stay_inside_and_have_the_usual_shapes),
	    cmocka_unit_test(standard_work_is_what_it_is_defined_to_be),
	    cmocka_unit_test(heavy_work_is_what_it_is_defined_to_be),
	    cmocka_unit_test(a_mistake_shows),
	    cmocka_unit_test(an_even_picture_stays_even),
	    cmocka_unit_test(resizing_is_what_it_is_defined_to_be),
	    cmocka_unit_test(blur_weights_add_up),
	    cmocka_unit_test(pictures_are_the_same_every_time),
	    cmocka_unit_test(a_jpeg_comes_back_as_its_picture),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down) != 0;
}
