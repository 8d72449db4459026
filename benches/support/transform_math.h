/*
 * Preparing images as device kernels: their names, packed arguments, and the
 * arithmetic that host and device code share. Images go in as RGB bytes, rows
 * packed, and come out as [3][SVK_SIDE][SVK_SIDE] floats, one image after the
 * other. Plain C and CUDA.
 */
#ifndef STAVE_TRANSFORM_MATH_H
#define STAVE_TRANSFORM_MATH_H

#include <stdint.h>

#ifdef __CUDACC__
#define SVK_BOTH static __host__ __device__ __forceinline__
#else
#define SVK_BOTH static inline
#endif

#define SVK_SIDE     224 /* of the square that comes out */
#define SVK_PLANE    (SVK_SIDE * SVK_SIDE)
#define SVK_CHANNELS 3
#define SVK_PREPARED (SVK_CHANNELS * SVK_PLANE) /* floats of one image */

/*
 * Byte values to numbers of mean 0 and variance 1 by channel: v · scale +
 * shift. Source: the mean (.485, .456, .406) and deviation (.229, .224, .225)
 * of ImageNet that training recipes use.
 */
#define SVK_SCALE(channel)                              \
	((channel) == 0	     ? 1.0f / (255.0f * 0.229f) \
	    : (channel) == 1 ? 1.0f / (255.0f * 0.224f) \
			     : 1.0f / (255.0f * 0.225f))
#define SVK_SHIFT(channel)                      \
	((channel) == 0	     ? -0.485f / 0.229f \
	    : (channel) == 1 ? -0.456f / 0.224f \
			     : -0.406f / 0.225f)

/*
 * Elastic deformation: a square of control points, the corners included,
 * displaced at random, and bilinear displacement in between.
 */
#define SVK_CONTROLS 8 /* on a side */
#define SVK_GRID     (SVK_CONTROLS * SVK_CONTROLS)
#define SVK_MOST_PX  8.0f /* displacement */

/* Gaussian blur of both ways, radius 11, as 23-tap recipes for 224 have. */
#define SVK_RADIUS   11
#define SVK_SIGMA_PX 2.0

/* Which part of an image to take, in its pixels, and what else is random. */
struct svk_crop {
	float left, top, width, height;
	uint32_t flip, seed;
};

/* dst[i] = the part of src[i] that crops[i] tells, resized and normalised. */
#define SV_KERNEL_CROP "svk_crop"
struct svk_crop_args {
	uint64_t dst, src, crops;
	uint32_t images, width, height, unused;
};

/* dst[i] = src[i] deformed by the seed of crops[i]. */
#define SV_KERNEL_ELASTIC "svk_elastic"
struct svk_elastic_args {
	uint64_t dst, src, crops;
	uint32_t images, unused;
};

/* dst[i] = src[i] blurred along columns (vertical) or rows. */
#define SV_KERNEL_BLUR "svk_blur"
struct svk_blur_args {
	uint64_t dst, src;
	uint32_t images, vertical;
	float weights[SVK_RADIUS + 1]; /* by distance */
};

/*
 * Displacement of a control point, in [-1, 1). Source: the 32-bit mixer
 * "lowbias32" of Wellons, nullprogram.com, 2018.
 */
SVK_BOTH float svk_control(uint32_t seed, uint32_t index)
{
	uint32_t h = seed + index * 0x9e3779b9u;

	h ^= h >> 16;
	h *= 0x7feb352du;
	h ^= h >> 15;
	h *= 0x846ca68bu;
	h ^= h >> 16;
	return (float)(int32_t)h * 0x1p-31f;
}

/* Displacement at a pixel, in pixels; controls: [SVK_GRID], of one axis. */
SVK_BOTH float svk_displacement(const float *controls, uint32_t x, uint32_t y)
{
	const float step = (float)(SVK_CONTROLS - 1) / (float)(SVK_SIDE - 1);
	float u = (float)x * step, v = (float)y * step;
	uint32_t i = (uint32_t)u, j = (uint32_t)v;

	i = i > SVK_CONTROLS - 2 ? SVK_CONTROLS - 2 : i;
	j = j > SVK_CONTROLS - 2 ? SVK_CONTROLS - 2 : j;
	u -= (float)i;
	v -= (float)j;
	const float *c = controls + j * SVK_CONTROLS + i;
	float upper = c[0] + u * (c[1] - c[0]);
	float lower =
	    c[SVK_CONTROLS] + u * (c[SVK_CONTROLS + 1] - c[SVK_CONTROLS]);

	return SVK_MOST_PX * (upper + v * (lower - upper));
}

/* A plane's value between its pixels; outside, that of the edge. */
SVK_BOTH float svk_between(const float *plane, float x, float y)
{
	const float last = (float)(SVK_SIDE - 1);

	x = x < 0.0f ? 0.0f : x > last ? last : x;
	y = y < 0.0f ? 0.0f : y > last ? last : y;
	uint32_t i = (uint32_t)x, j = (uint32_t)y;

	i = i > SVK_SIDE - 2 ? SVK_SIDE - 2 : i;
	j = j > SVK_SIDE - 2 ? SVK_SIDE - 2 : j;
	x -= (float)i;
	y -= (float)j;
	const float *p = plane + j * SVK_SIDE + i;
	float upper = p[0] + x * (p[1] - p[0]);
	float lower = p[SVK_SIDE] + x * (p[SVK_SIDE + 1] - p[SVK_SIDE]);

	return upper + y * (lower - upper);
}

#endif
