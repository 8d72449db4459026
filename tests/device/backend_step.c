/*
 * What a training step asks of a backend, on the backend that this program
 * is linked with: transposed products, marks that are recorded anew, and the
 * step's kernels against the same arithmetic done here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "kernels.h"
#include "rig.h"
#include "step_math.h"

#define N 5000 /* no multiple of anything that kernels are cut by */

struct fixture {
	struct sv_rig rig;
	struct sv_err err;
};

static const struct sv_grid grid = {64, 256};

static int open_device(void **state)
{
	static struct fixture f;
	struct sv_device *device = NULL;

	f = (struct fixture){0};
	if (sv_backend->open(&device, NULL, &f.err) != 0 ||
	    sv_rig_init(&f.rig, device, &f.err) != 0) {
		print_error("%s\n", f.err.text);
		return -1;
	}
	*state = &f;
	return 0;
}

static int close_device(void **state)
{
	struct fixture *f = *state;
	struct sv_device *device = f->rig.device;

	sv_rig_fini(&f->rig);
	sv_backend->close(device);
	return 0;
}

static void good(const struct fixture *f, int code)
{
	if (code != 0)
		print_error("%s\n", f->err.text);
	assert_int_equal(code, 0);
}

/* A buffer with n floats in it, random ones of a seed. */
static struct sv_buffer made(
    struct fixture *f, float *values, size_t n, uint64_t seed)
{
	struct sv_buffer buffer = {0};

	for (size_t i = 0; i < n; i++)
		values[i] = svk_weight(seed, i);
	good(f, f->rig.ops->alloc(f->rig.device, 4 * n, &buffer, &f->err));
	good(f, sv_rig_upload(&f->rig, &buffer, 0, values, 4 * n, &f->err));
	return buffer;
}

static void discard(struct fixture *f, struct sv_buffer *buffer)
{
	good(f, f->rig.ops->free(f->rig.device, buffer, &f->err));
}

static void launch(
    struct fixture *f, const char *kernel, const void *args, size_t bytes)
{
	struct sv_grid cut = grid;

	if (strcmp(kernel, SV_KERNEL_STEP_LOSS) == 0)
		cut.blocks = SVK_STEP_PARTS;
	good(f, f->rig.ops->launch(
		    f->rig.stream, kernel, cut, args, bytes, &f->err));
}

/* What the device has must be what is expected, within rounding. */
static void compare(struct fixture *f, struct sv_buffer *buffer,
    const float *expected, size_t n, double tolerance)
{
	float *found = malloc(4 * n);

	assert_non_null(found);
	good(f, f->rig.ops->stream_sync(f->rig.stream, SV_WAIT_SPIN, &f->err));
	good(f, sv_rig_download(&f->rig, buffer, 0, found, 4 * n, &f->err));
	for (size_t i = 0; i < n; i++)
		if (!(fabs((double)found[i] - (double)expected[i]) <=
			tolerance)) {
			print_error("[%zu] is %g, expected %g\n", i,
			    (double)found[i], (double)expected[i]);
			free(found);
			fail();
		}
	free(found);
}

static void products_of_transposed_matrices_are_right(void **state)
{
	enum {
		M = 13,
		COLUMNS = 7,
		K = 21
	};
	struct fixture *f = *state;
	float a[M * K], b[K * COLUMNS], c[M * COLUMNS];
	struct sv_buffer da = made(f, a, M * K, 1);
	struct sv_buffer db = made(f, b, K * COLUMNS, 2);
	struct sv_buffer dc = made(f, c, M * COLUMNS, 3);

	for (unsigned which = 0; which < 4; which++) {
		bool ta = which & 1, tb = which & 2;
		const struct sv_gemm gemm = {.precision = SV_FP32,
		    .m = M,
		    .n = COLUMNS,
		    .k = K,
		    .count = 1,
		    .a = da.address,
		    .b = db.address,
		    .c = dc.address,
		    .transpose_a = ta,
		    .transpose_b = tb};

		for (size_t i = 0; i < M; i++)
			for (size_t j = 0; j < COLUMNS; j++) {
				float sum = 0.0f;

				for (size_t k = 0; k < K; k++)
					sum +=
					    a[ta ? k * M + i : i * K + k] *
					    b[tb ? j * K + k : k * COLUMNS + j];
				c[i * COLUMNS + j] = sum;
			}
		good(f, f->rig.ops->gemm(f->rig.stream, &gemm, &f->err));
		compare(f, &dc, c, M * COLUMNS, 1e-5);
	}
	discard(f, &da);
	discard(f, &db);
	discard(f, &dc);
}

static void a_wait_is_for_the_mark_that_was_there_when_it_began(void **state)
{
	struct fixture *f = *state;
	const struct sv_backend *ops = f->rig.ops;
	struct sv_stream *other = NULL;

	good(f, ops->stream_new(f->rig.device, &other, &f->err));
	good(f, ops->event_record(f->rig.stream, f->rig.start, &f->err));
	good(f, ops->hold(other, &f->err));
	good(f, ops->stream_wait_event(other, f->rig.start, &f->err));
	good(f, ops->hold(f->rig.stream, &f->err));
	good(f, ops->event_record(f->rig.stream, f->rig.start, &f->err));
	good(f, ops->release(other, &f->err));
	good(f, ops->stream_sync(other, SV_WAIT_SPIN, &f->err));
	/* Had it waited for the second mark, this hold would have run out. */
	good(f, ops->release(f->rig.stream, &f->err));
	ops->stream_free(f->rig.device, other);
}

static void weights_and_features_are_made(void **state)
{
	struct fixture *f = *state;
	static float x[N], copy[N];
	static uint8_t bytes[N * 4];
	struct sv_buffer dx = made(f, x, N, 1), dcopy = made(f, copy, N, 1);
	struct sv_buffer dbytes = made(f, (float *)(void *)bytes, N, 4);
	const struct svk_step_fill_args fill = {.dst = dx.address,
	    .copy = dcopy.address,
	    .n = N,
	    .seed = 77,
	    .scale = 0.5f,
	    .type = SVK_FLOAT};
	const struct svk_step_input_args input = {.x = dx.address,
	    .n = N,
	    .bytes = dbytes.address,
	    .n_bytes = 999,
	    .type = SVK_FLOAT};

	launch(f, SV_KERNEL_STEP_FILL, &fill, sizeof fill);
	for (size_t i = 0; i < N; i++)
		x[i] = 0.5f * svk_weight(77, i);
	compare(f, &dx, x, N, 1e-7);
	compare(f, &dcopy, x, N, 1e-7);
	launch(f, SV_KERNEL_STEP_INPUT, &input, sizeof input);
	for (size_t i = 0; i < N; i++)
		x[i] = svk_pixel(bytes[i % 999]);
	compare(f, &dx, x, N, 1e-6);
	discard(f, &dx);
	discard(f, &dcopy);
	discard(f, &dbytes);
}

static void what_is_negative_is_cut_off_both_ways(void **state)
{
	struct fixture *f = *state;
	static float x[N], g[N];
	struct sv_buffer dx = made(f, x, N, 5), dg = made(f, g, N, 6);
	const struct svk_step_relu_args relu = {
	    .x = dx.address, .n = N, .type = SVK_FLOAT};
	const struct svk_step_relu_back_args back = {
	    .g = dg.address, .x = dx.address, .n = N, .type = SVK_FLOAT};

	launch(f, SV_KERNEL_STEP_RELU, &relu, sizeof relu);
	launch(f, SV_KERNEL_STEP_RELU_BACK, &back, sizeof back);
	for (size_t i = 0; i < N; i++) {
		x[i] = x[i] > 0.0f ? x[i] : 0.0f;
		g[i] = x[i] > 0.0f ? g[i] : 0.0f;
	}
	compare(f, &dx, x, N, 0.0);
	compare(f, &dg, g, N, 0.0);
	discard(f, &dx);
	discard(f, &dg);
}

static void a_loss_is_summed_and_its_slope_left_behind(void **state)
{
	enum {
		ROWS = 37,
		COLUMNS = 19,
		K = 8
	};
	struct fixture *f = *state;
	static float y[ROWS * COLUMNS], x[ROWS * K], parts[SVK_STEP_PARTS];
	struct sv_buffer dy = made(f, y, ROWS * COLUMNS, 7);
	struct sv_buffer dx = made(f, x, ROWS * K, 8);
	struct sv_buffer dparts = made(f, parts, SVK_STEP_PARTS, 9);
	const struct svk_step_loss_args loss = {.y = dy.address,
	    .x = dx.address,
	    .parts = dparts.address,
	    .rows = ROWS,
	    .n = COLUMNS,
	    .k = K,
	    .weight = 2.0f,
	    .gradient_scale = 3.0f,
	    .type = SVK_FLOAT};

	launch(f, SV_KERNEL_STEP_LOSS, &loss, sizeof loss);
	memset(parts, 0, sizeof parts);
	for (size_t i = 0; i < ROWS * COLUMNS; i++) {
		float d = y[i] - 0.5f * x[i / COLUMNS * K + i % COLUMNS % K];
		size_t p = 0;

		while (ROWS * COLUMNS * (p + 1) / SVK_STEP_PARTS <= i)
			p++;
		parts[p] += 2.0f * d * d;
		y[i] = 3.0f * d;
	}
	compare(f, &dparts, parts, SVK_STEP_PARTS, 1e-5);
	compare(f, &dy, y, ROWS * COLUMNS, 1e-5);
	discard(f, &dy);
	discard(f, &dx);
	discard(f, &dparts);
}

static void parameters_follow_adam(void **state)
{
	struct fixture *f = *state;
	static float p[N], g[N], m[N], v[N];
	struct sv_buffer dp = made(f, p, N, 10), dg = made(f, g, N, 11);
	struct sv_buffer dm = made(f, m, N, 12), dv = made(f, v, N, 13);
	struct svk_step_adam_args adam = {.p = dp.address,
	    .g = dg.address,
	    .m = dm.address,
	    .v = dv.address,
	    .n = N,
	    .rate = 0.01f,
	    .correction_1 = 1.5f,
	    .correction_2 = 1.25f,
	    .type = SVK_FLOAT};

	/* A mean of squares is not negative. */
	for (size_t i = 0; i < N; i++)
		v[i] = fabsf(v[i]);
	good(f, sv_rig_upload(&f->rig, &dv, 0, v, sizeof v, &f->err));
	/* Twice, with what the first time left. */
	for (int step = 0; step < 2; step++) {
		launch(f, SV_KERNEL_STEP_ADAM, &adam, sizeof adam);
		for (size_t i = 0; i < N; i++)
			p[i] = svk_adam(
			    p[i], g[i], &m[i], &v[i], 0.01f, 1.5f, 1.25f);
	}
	compare(f, &dp, p, N, 1e-5);
	compare(f, &dm, m, N, 1e-6);
	compare(f, &dv, v, N, 1e-6);
	discard(f, &dp);
	discard(f, &dg);
	discard(f, &dm);
	discard(f, &dv);
}

static void rows_are_brought_to_mean_0_and_variance_1(void **state)
{
	enum {
		ROWS = 31,
		WIDTH = 160
	};
	struct fixture *f = *state;
	static float src[ROWS * WIDTH], dst[ROWS * WIDTH];
	struct sv_buffer dsrc = made(f, src, ROWS * WIDTH, 14);
	struct sv_buffer ddst = made(f, dst, ROWS * WIDTH, 15);
	const struct svk_step_norm_args norm = {.dst = ddst.address,
	    .src = dsrc.address,
	    .rows = ROWS,
	    .width = WIDTH};

	launch(f, SV_KERNEL_STEP_NORM, &norm, sizeof norm);
	for (size_t row = 0; row < ROWS; row++) {
		const float *from = src + row * WIDTH;
		double mean = 0.0, squares = 0.0;

		for (size_t i = 0; i < WIDTH; i++) {
			mean += (double)from[i] / WIDTH;
			squares += (double)from[i] * (double)from[i] / WIDTH;
		}
		for (size_t i = 0; i < WIDTH; i++)
			dst[row * WIDTH + i] =
			    (float)(((double)from[i] - mean) /
				    sqrt(squares - mean * mean +
					 (double)SVK_VARIANCE_FLOOR));
	}
	compare(f, &ddst, dst, ROWS * WIDTH, 1e-4);
	discard(f, &dsrc);
	discard(f, &ddst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(products_of_transposed_matrices_are_right),
	    cmocka_unit_test(
		a_wait_is_for_the_mark_that_was_there_when_it_began),
	    cmocka_unit_test(weights_and_features_are_made),
	    cmocka_unit_test(what_is_negative_is_cut_off_both_ways),
	    cmocka_unit_test(a_loss_is_summed_and_its_slope_left_behind),
	    cmocka_unit_test(parameters_follow_adam),
	    cmocka_unit_test(rows_are_brought_to_mean_0_and_variance_1),
	};

	return cmocka_run_group_tests(tests, open_device, close_device) != 0;
}
