/*
 * The arithmetic of a training step's kernels, once for every backend: it is
 * compiled for the host and for the device.
 */
#ifndef STAVE_STEP_MATH_H
#define STAVE_STEP_MATH_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SVK_INLINE static __device__ __forceinline__
#else
#define SVK_INLINE static inline
#endif

/* Adam's constants. Source: Kingma & Ba, arXiv 1412.6980. */
#define SVK_BETA_1  0.9f
#define SVK_BETA_2  0.999f
#define SVK_EPSILON 1e-8f

#define SVK_VARIANCE_FLOOR 1e-5f

/*
 * The i-th of a sequence of seed, uniform in [-1, 1): splitmix64's mixing of
 * a counter. Source: Steele, Lea & Flood 2014.
 */
SVK_INLINE float svk_weight(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return (float)(int32_t)(z >> 32) * (1.0f / 2147483648.0f);
}

/* A byte as a feature of mean 0 and variance 1, bytes being uniform. */
SVK_INLINE float svk_pixel(uint8_t byte)
{
	return ((float)byte - 127.5f) * (1.0f / 73.9f);
}

/* One parameter's update; gives the new parameter. */
SVK_INLINE float svk_adam(float p, float g, float *m, float *v, float rate,
    float correction_1, float correction_2)
{
	*m = SVK_BETA_1 * *m + (1.0f - SVK_BETA_1) * g;
	*v = SVK_BETA_2 * *v + (1.0f - SVK_BETA_2) * g * g;
	return p - rate * (*m * correction_1) /
		       (sqrtf(*v * correction_2) + SVK_EPSILON);
}

#endif
