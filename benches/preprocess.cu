/*
 * Images prepared on the device, an image for as many blocks as the grid has
 * to each: a thread takes a place of all planes and strides over the rest.
 * Arithmetic as on the host, to the rounding of single precision.
 */
#include "transform_math.h"

struct share {
	uint32_t image, first, step;
};

/* This thread's places of its image. */
static __device__ __forceinline__ struct share share_of(uint32_t images)
{
	uint32_t blocks = gridDim.x / images;

	return {blockIdx.x / blocks,
	    blockIdx.x % blocks * blockDim.x + threadIdx.x,
	    blocks * blockDim.x};
}

struct place {
	uint32_t low, high;
	float part;
};

/* Where output k of a square takes its two inputs out of n. */
static __device__ __forceinline__ struct place place_of(
    float from, float extent, uint32_t k, uint32_t n)
{
	float at = from + ((float)k + 0.5f) * (extent / (float)SVK_SIDE) - 0.5f;

	at = fminf(fmaxf(at, 0.0f), (float)(n - 1));
	uint32_t low = (uint32_t)at;

	return {low, low + 1 < n ? low + 1 : low, at - (float)low};
}

extern "C" __global__ void svk_crop(struct svk_crop_args args)
{
	struct share mine = share_of(args.images);

	if (mine.image >= args.images)
		return;
	size_t row = (size_t)args.width * SVK_CHANNELS;
	const unsigned char *src = (const unsigned char *)args.src +
				   (size_t)mine.image * row * args.height;
	float *dst = (float *)args.dst + (size_t)mine.image * SVK_PREPARED;
	const struct svk_crop crop =
	    ((const struct svk_crop *)args.crops)[mine.image];

	for (uint32_t i = mine.first; i < SVK_PLANE; i += mine.step) {
		uint32_t x = i % SVK_SIDE, y = i / SVK_SIDE;
		struct place u = place_of(crop.left, crop.width,
		    crop.flip ? SVK_SIDE - 1 - x : x, args.width);
		struct place v =
		    place_of(crop.top, crop.height, y, args.height);
		const unsigned char *upper = src + v.low * row;
		const unsigned char *lower = src + v.high * row;

		for (uint32_t c = 0; c < SVK_CHANNELS; c++) {
			float a = upper[u.low * SVK_CHANNELS + c];
			float b = lower[u.low * SVK_CHANNELS + c];

			a += u.part * (upper[u.high * SVK_CHANNELS + c] - a);
			b += u.part * (lower[u.high * SVK_CHANNELS + c] - b);
			dst[c * SVK_PLANE + i] =
			    (a + v.part * (b - a)) * SVK_SCALE(c) +
			    SVK_SHIFT(c);
		}
	}
}

extern "C" __global__ void svk_elastic(struct svk_elastic_args args)
{
	__shared__ float controls[2 * SVK_GRID]; /* across, down */
	struct share mine = share_of(args.images);

	if (mine.image >= args.images)
		return;
	uint32_t seed = ((const struct svk_crop *)args.crops)[mine.image].seed;
	const float *src =
	    (const float *)args.src + (size_t)mine.image * SVK_PREPARED;
	float *dst = (float *)args.dst + (size_t)mine.image * SVK_PREPARED;

	for (uint32_t i = threadIdx.x; i < 2 * SVK_GRID; i += blockDim.x)
		controls[i] = svk_control(seed, i);
	__syncthreads();
	for (uint32_t i = mine.first; i < SVK_PLANE; i += mine.step) {
		uint32_t x = i % SVK_SIDE, y = i / SVK_SIDE;
		float u = (float)x + svk_displacement(controls, x, y);
		float v =
		    (float)y + svk_displacement(controls + SVK_GRID, x, y);

		for (uint32_t c = 0; c < SVK_CHANNELS; c++)
			dst[c * SVK_PLANE + i] =
			    svk_between(src + c * SVK_PLANE, u, v);
	}
}

extern "C" __global__ void svk_blur(struct svk_blur_args args)
{
	struct share mine = share_of(args.images);

	if (mine.image >= args.images)
		return;
	const float *src =
	    (const float *)args.src + (size_t)mine.image * SVK_PREPARED;
	float *dst = (float *)args.dst + (size_t)mine.image * SVK_PREPARED;
	int step = args.vertical ? SVK_SIDE : 1;

	for (uint32_t i = mine.first; i < SVK_PLANE; i += mine.step) {
		/* Places before and after this one along the blur. */
		int before = args.vertical ? i / SVK_SIDE : i % SVK_SIDE;
		int after = SVK_SIDE - 1 - before;

		for (uint32_t c = 0; c < SVK_CHANNELS; c++) {
			const float *here = src + c * SVK_PLANE + i;
			float sum = args.weights[0] * here[0];

			for (int d = 1; d <= SVK_RADIUS; d++)
				sum += args.weights[d] *
				       (here[-min(d, before) * step] +
					   here[min(d, after) * step]);
			dst[c * SVK_PLANE + i] = sum;
		}
	}
}
