/*
 * Kernels that stream through arrays of floats. Threads stride over whatever
 * the grid leaves; four floats at a time where all addresses allow it, since
 * that is what fills the memory pipes, and one at a time for the rest.
 */
#include "kernels.h"

#define WIDTH 4 /* floats in a float4 */

static __device__ __forceinline__ uint64_t thread_index(void)
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint64_t thread_count(void)
{
	return (uint64_t)gridDim.x * blockDim.x;
}

/* How many float4 to take: 0 where an address is not a multiple of 16. */
static __device__ __forceinline__ uint64_t wide_count(
    uint64_t addresses, uint64_t n)
{
	return addresses % sizeof(float4) == 0 ? n / WIDTH : 0;
}

extern "C" __global__ void svk_write(struct svk_write_args args)
{
	float *dst = (float *)args.dst;
	uint64_t wide = wide_count(args.dst, args.n), step = thread_count();
	float v = args.value;

	for (uint64_t i = thread_index(); i < wide; i += step)
		((float4 *)dst)[i] = make_float4(v, v, v, v);
	for (uint64_t i = wide * WIDTH + thread_index(); i < args.n; i += step)
		dst[i] = v;
}

extern "C" __global__ void svk_copy(struct svk_copy_args args)
{
	float *dst = (float *)args.dst;
	const float *src = (const float *)args.src;
	uint64_t wide = wide_count(args.dst | args.src, args.n);
	uint64_t step = thread_count();

	for (uint64_t i = thread_index(); i < wide; i += step)
		((float4 *)dst)[i] = ((const float4 *)src)[i];
	for (uint64_t i = wide * WIDTH + thread_index(); i < args.n; i += step)
		dst[i] = src[i];
}

extern "C" __global__ void svk_triad(struct svk_triad_args args)
{
	float *dst = (float *)args.dst;
	const float *a = (const float *)args.a, *b = (const float *)args.b;
	uint64_t wide = wide_count(args.dst | args.a | args.b, args.n);
	uint64_t step = thread_count();
	float s = args.scale;

	for (uint64_t i = thread_index(); i < wide; i += step) {
		float4 x = ((const float4 *)a)[i], y = ((const float4 *)b)[i];

		((float4 *)dst)[i] = make_float4(x.x + s * y.x, x.y + s * y.y,
		    x.z + s * y.z, x.w + s * y.w);
	}
	for (uint64_t i = wide * WIDTH + thread_index(); i < args.n; i += step)
		dst[i] = a[i] + s * b[i];
}

/*
 * Sums of blocks meet here; the block that comes last hands the total over
 * and leaves both as they were. One svk_read at a time on a device.
 */
static __device__ double total;
static __device__ unsigned int arrived;

static __device__ double sum_of_thread(const float *src, uint64_t n)
{
	uint64_t wide = wide_count((uint64_t)src, n), step = thread_count();
	float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
	double rest = 0.0;

	for (uint64_t i = thread_index(); i < wide; i += step) {
		float4 x = ((const float4 *)src)[i];

		sum.x += x.x;
		sum.y += x.y;
		sum.z += x.z;
		sum.w += x.w;
	}
	for (uint64_t i = wide * WIDTH + thread_index(); i < n; i += step)
		rest += src[i];
	return rest + ((double)sum.x + sum.y) + ((double)sum.z + sum.w);
}

extern "C" __global__ void svk_read(struct svk_read_args args)
{
	__shared__ double block_sum;
	double sum = sum_of_thread((const float *)args.src, args.n);

	/* Only the first lane's result is whole, in whatever order. */
	for (int offset = warpSize / 2; offset > 0; offset /= 2)
		sum += __shfl_down_sync(0xffffffffu, sum, offset);
	if (threadIdx.x == 0)
		block_sum = 0.0;
	__syncthreads();
	if (threadIdx.x % warpSize == 0)
		atomicAdd(&block_sum, sum);
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	atomicAdd(&total, block_sum);
	__threadfence();
	if (atomicInc(&arrived, gridDim.x - 1) != gridDim.x - 1)
		return;
	*(float *)args.out = (float)__longlong_as_double(
	    atomicExch((unsigned long long *)&total, 0ull));
}
