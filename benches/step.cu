/*
 * Kernels of a training step besides its products. Matrices have elements of
 * float, half or bfloat16; arithmetic is float. Neighbouring threads take
 * neighbouring elements.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels.h"
#include "step_math.h"

#define MAX_THREADS 256

static __device__ __forceinline__ uint64_t thread_index(void)
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint64_t thread_count(void)
{
	return (uint64_t)gridDim.x * blockDim.x;
}

static __device__ __forceinline__ float to_float(float value)
{
	return value;
}

static __device__ __forceinline__ float to_float(__half value)
{
	return __half2float(value);
}

static __device__ __forceinline__ float to_float(__nv_bfloat16 value)
{
	return __bfloat162float(value);
}

static __device__ __forceinline__ void store(float *to, float value)
{
	*to = value;
}

static __device__ __forceinline__ void store(__half *to, float value)
{
	*to = __float2half(value);
}

static __device__ __forceinline__ void store(__nv_bfloat16 *to, float value)
{
	*to = __float2bfloat16(value);
}

/* Call a template for the type that the arguments name. */
#define BY_TYPE(function, args)                        \
	do {                                           \
		if ((args).type == SVK_FLOAT)          \
			function<float>(args);         \
		else if ((args).type == SVK_HALF)      \
			function<__half>(args);        \
		else                                   \
			function<__nv_bfloat16>(args); \
	} while (0)

template <typename T>
static __device__ void fill(const struct svk_step_fill_args &args)
{
	T *dst = (T *)args.dst;
	float *copy = (float *)args.copy;

	for (uint64_t i = thread_index(); i < args.n; i += thread_count()) {
		float value = args.scale * svk_weight(args.seed, i);

		store(&dst[i], value);
		if (copy != nullptr)
			copy[i] = value;
	}
}

extern "C" __global__ void svk_step_fill(struct svk_step_fill_args args)
{
	BY_TYPE(fill, args);
}

template <typename T>
static __device__ void input(const struct svk_step_input_args &args)
{
	const uint8_t *bytes = (const uint8_t *)args.bytes;
	uint64_t byte = thread_index() % args.n_bytes;
	uint64_t step = thread_count() % args.n_bytes;
	T *x = (T *)args.x;

	/* A remainder for each would take longer than its memory. */
	for (uint64_t i = thread_index(); i < args.n; i += thread_count()) {
		store(&x[i], svk_pixel(bytes[byte]));
		byte += step;
		if (byte >= args.n_bytes)
			byte -= args.n_bytes;
	}
}

extern "C" __global__ void svk_step_input(struct svk_step_input_args args)
{
	BY_TYPE(input, args);
}

template <typename T>
static __device__ void relu(const struct svk_step_relu_args &args)
{
	T *x = (T *)args.x;

	for (uint64_t i = thread_index(); i < args.n; i += thread_count())
		store(&x[i], fmaxf(to_float(x[i]), 0.0f));
}

extern "C" __global__ void svk_step_relu(struct svk_step_relu_args args)
{
	BY_TYPE(relu, args);
}

template <typename T>
static __device__ void relu_back(const struct svk_step_relu_back_args &args)
{
	const T *x = (const T *)args.x;
	T *g = (T *)args.g;

	for (uint64_t i = thread_index(); i < args.n; i += thread_count())
		store(&g[i], to_float(x[i]) > 0.0f ? to_float(g[i]) : 0.0f);
}

extern "C" __global__ void svk_step_relu_back(
    struct svk_step_relu_back_args args)
{
	BY_TYPE(relu_back, args);
}

/* Sum over a block of a power of two threads; thread 0 has it. */
static __device__ float block_sum(float value)
{
	__shared__ float sums[MAX_THREADS];

	sums[threadIdx.x] = value;
	for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			sums[threadIdx.x] += sums[threadIdx.x + half];
	}
	__syncthreads();
	value = sums[0];
	/* Whoever sums next must not write before all have read. */
	__syncthreads();
	return value;
}

template <typename T>
static __device__ void loss(const struct svk_step_loss_args &args)
{
	uint64_t n = args.rows * args.n;
	uint64_t from = n * blockIdx.x / SVK_STEP_PARTS;
	uint64_t to = n * (blockIdx.x + 1) / SVK_STEP_PARTS;
	uint64_t row = (from + threadIdx.x) / args.n;
	unsigned columns = (unsigned)args.n, k = (unsigned)args.k;
	unsigned column = (unsigned)((from + threadIdx.x) % args.n);
	unsigned rows_on = blockDim.x / columns;
	unsigned columns_on = blockDim.x % columns;
	const T *x = (const T *)args.x;
	T *y = (T *)args.y;
	float sum = 0.0f;

	for (uint64_t i = from + threadIdx.x; i < to; i += blockDim.x) {
		float d =
		    to_float(y[i]) - 0.5f * to_float(x[row * k + column % k]);

		sum += d * d;
		store(&y[i], args.gradient_scale * d);
		row += rows_on;
		column += columns_on;
		if (column >= columns) {
			column -= columns;
			row++;
		}
	}
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		((float *)args.parts)[blockIdx.x] = args.weight * sum;
}

extern "C" __global__ void svk_step_loss(struct svk_step_loss_args args)
{
	BY_TYPE(loss, args);
}

template <typename T>
static __device__ void adam(const struct svk_step_adam_args &args)
{
	float *p = (float *)args.p, *m = (float *)args.m, *v = (float *)args.v;
	const T *g = (const T *)args.g;
	T *copy = (T *)args.copy;

	for (uint64_t i = thread_index(); i < args.n; i += thread_count()) {
		float m_i = m[i], v_i = v[i];
		float p_i = svk_adam(p[i], to_float(g[i]), &m_i, &v_i,
		    args.rate, args.correction_1, args.correction_2);

		p[i] = p_i;
		m[i] = m_i;
		v[i] = v_i;
		if (copy != nullptr)
			store(&copy[i], p_i);
	}
}

extern "C" __global__ void svk_step_adam(struct svk_step_adam_args args)
{
	BY_TYPE(adam, args);
}

/* A row is read once: each thread keeps its elements. */
#define KEPT (SVK_STEP_ROW / 32)

static __device__ void norm_row(float *dst, const float *src, unsigned width)
{
	float kept[KEPT], sum = 0.0f, squares = 0.0f, mean, scale;
	unsigned n = 0;

#pragma unroll
	for (unsigned j = 0; j < KEPT; j++) {
		unsigned i = threadIdx.x + j * blockDim.x;

		if (i >= width)
			break;
		kept[j] = src[i];
		sum += kept[j];
		squares += kept[j] * kept[j];
		n = j + 1;
	}
	mean = block_sum(sum) / width;
	scale = rsqrtf(
	    block_sum(squares) / width - mean * mean + SVK_VARIANCE_FLOOR);
#pragma unroll
	for (unsigned j = 0; j < KEPT; j++)
		if (j < n)
			dst[threadIdx.x + j * blockDim.x] =
			    (kept[j] - mean) * scale;
}

extern "C" __global__ void svk_step_norm(struct svk_step_norm_args args)
{
	for (uint64_t row = blockIdx.x; row < args.rows; row += gridDim.x)
		norm_row((float *)args.dst + row * args.width,
		    (const float *)args.src + row * args.width,
		    (unsigned)args.width);
}
