/*
 * The kernels of a training step on host cores. Matrices are floats here: the
 * host backend has no product of another type to go with them.
 */
#include <assert.h>
#include <stdint.h>

#include "host.h"
#include "kernels.h"
#include "step_math.h"

static float *at(uint64_t address)
{
	return (float *)(uintptr_t)address;
}

static void fill_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_step_fill_args *a = args;
	uint64_t from, to;

	host_part(a->n, member, members, &from, &to);
	for (uint64_t i = from; i < to; i++) {
		float value = a->scale * svk_weight(a->seed, i);

		at(a->dst)[i] = value;
		if (a->copy != 0)
			at(a->copy)[i] = value;
	}
}

static void input_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_step_input_args *a = args;
	const uint8_t *bytes = (const uint8_t *)(uintptr_t)a->bytes;
	float *x = at(a->x);
	uint64_t from, to, byte;

	host_part(a->n, member, members, &from, &to);
	byte = from % a->n_bytes;
	for (uint64_t i = from; i < to; i++) {
		x[i] = svk_pixel(bytes[byte]);
		byte = byte + 1 == a->n_bytes ? 0 : byte + 1;
	}
}

static void relu_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_step_relu_args *a = args;
	float *x = at(a->x);
	uint64_t from, to;

	host_part(a->n, member, members, &from, &to);
	for (uint64_t i = from; i < to; i++)
		x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

static void relu_back_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_step_relu_back_args *a = args;
	const float *restrict x = at(a->x);
	float *restrict g = at(a->g);
	uint64_t from, to;

	host_part(a->n, member, members, &from, &to);
	for (uint64_t i = from; i < to; i++)
		g[i] = x[i] > 0.0f ? g[i] : 0.0f;
}

/* One of SVK_STEP_PARTS parts of the loss. */
static float loss_of(const struct svk_step_loss_args *a, unsigned p)
{
	uint64_t n = a->rows * a->n;
	uint64_t from = n * p / SVK_STEP_PARTS;
	uint64_t to = n * (p + 1) / SVK_STEP_PARTS;
	uint64_t column = from % a->n, feature = column % a->k;
	const float *x = (const float *)at(a->x) + from / a->n * a->k;
	float sum = 0.0f, *y = at(a->y);

	for (uint64_t i = from; i < to; i++) {
		float d = y[i] - 0.5f * x[feature];

		sum += d * d;
		y[i] = a->gradient_scale * d;
		feature = feature + 1 == a->k ? 0 : feature + 1;
		if (++column == a->n) {
			column = feature = 0;
			x += a->k;
		}
	}
	return a->weight * sum;
}

static void loss_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_step_loss_args *a = args;

	for (unsigned p = member; p < SVK_STEP_PARTS; p += members)
		at(a->parts)[p] = loss_of(a, p);
}

static void adam_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_step_adam_args *a = args;
	float *restrict p = at(a->p), *restrict m = at(a->m);
	float *restrict v = at(a->v);
	const float *restrict g = at(a->g);
	uint64_t from, to;

	host_part(a->n, member, members, &from, &to);
	for (uint64_t i = from; i < to; i++)
		p[i] = svk_adam(p[i], g[i], &m[i], &v[i], a->rate,
		    a->correction_1, a->correction_2);
}

static void norm_row(float *restrict dst, const float *restrict src, size_t n)
{
	float sum = 0.0f, squares = 0.0f, mean, scale;

	for (size_t i = 0; i < n; i++) {
		sum += src[i];
		squares += src[i] * src[i];
	}
	mean = sum / (float)n;
	scale =
	    1.0f / sqrtf(squares / (float)n - mean * mean + SVK_VARIANCE_FLOOR);
	for (size_t i = 0; i < n; i++)
		dst[i] = (src[i] - mean) * scale;
}

static void norm_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_step_norm_args *a = args;
	uint64_t from = a->rows * member / members;
	uint64_t to = a->rows * (member + 1) / members;

	for (uint64_t row = from; row < to; row++)
		norm_row(at(a->dst) + row * a->width,
		    at(a->src) + row * a->width, a->width);
}

#define RUN(name, elements)                                              \
	static void run_##name(struct host_team *team, const void *args) \
	{                                                                \
		const struct svk_step_##name##_args *a = args;           \
                                                                         \
		host_team_share(team, name##_part, args, elements);      \
	}
RUN(fill, a->n)
RUN(input, a->n)
RUN(relu, a->n)
RUN(relu_back, a->n)
RUN(loss, a->rows * a->n)
RUN(adam, a->n)
RUN(norm, a->rows * a->width)

const struct host_kernel host_step_kernels[] = {
    {SV_KERNEL_STEP_FILL, true, run_fill},
    {SV_KERNEL_STEP_INPUT, true, run_input},
    {SV_KERNEL_STEP_RELU, true, run_relu},
    {SV_KERNEL_STEP_RELU_BACK, true, run_relu_back},
    {SV_KERNEL_STEP_LOSS, true, run_loss},
    {SV_KERNEL_STEP_ADAM, true, run_adam},
    {SV_KERNEL_STEP_NORM, true, run_norm},
};
const size_t host_step_kernels_count =
    sizeof host_step_kernels / sizeof host_step_kernels[0];
