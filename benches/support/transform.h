/*
 * Preparing decoded images on the host as training does: resize, random
 * resized crop with flip and normalisation, elastic deformation, Gaussian
 * blur. And, written down another way, what one value of the result must be.
 */
#ifndef STAVE_TRANSFORM_H
#define STAVE_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>

#include "transform_math.h"

/* What is done to a sample, by the contract's names. */
enum sv_work {
	SV_WORK_DECODE,	  /* the JPEG to pixels */
	SV_WORK_RESIZE,	  /* and these to a square of bytes */
	SV_WORK_STANDARD, /* crop, flip, normalise, to planes of floats */
	SV_WORK_HEAVY,	  /* and elastic deformation and Gaussian blur */
};

/* RGB, rows packed; borrowed. */
struct sv_image {
	const unsigned char *pixels;
	uint32_t width, height;
};

/* The whole image to SVK_SIDE squared RGB bytes, bilinear, no antialias. */
void sv_transform_resize(const struct sv_image *, unsigned char *out);
/* The crop to planes of normalised floats, [SVK_PREPARED]. */
void sv_transform_crop(
    const struct sv_image *, const struct svk_crop *, float *out);
/* Planes to planes, not in place. */
void sv_transform_elastic(const float *in, uint32_t seed, float *out);
void sv_transform_blur(const float *in, bool vertical,
    const float weights[SVK_RADIUS + 1], float *out);
/* The blur's weights by distance; they add up to 1. */
void sv_transform_weights(float out[SVK_RADIUS + 1]);

/*
 * The usual random resized crop: 8 to 100 % of the area, sides 3:4 to 4:3,
 * flipped half the time. *state: a generator's (pattern.h).
 */
struct svk_crop sv_transform_draw(
    uint32_t width, uint32_t height, uint64_t *state);

/*
 * Most that a prepared value may differ from the reference: single precision
 * against double, over coordinates of some hundred pixels and slopes of a few
 * units a pixel. A step of one byte value makes 1.7e-2.
 */
#define SV_TRANSFORM_TOLERANCE 1e-3

/*
 * Value (channel, y, x) of standard or heavy work on an image, in double
 * precision and from its definition: back from the place to the pixels.
 */
double sv_transform_reference(enum sv_work, const struct sv_image *,
    const struct svk_crop *, unsigned channel, unsigned y, unsigned x);
/* The byte that resizing gives there, before rounding. */
double sv_transform_reference_resized(
    const struct sv_image *, unsigned channel, unsigned y, unsigned x);

/*
 * Compare `places` values of a prepared image, drawn by *state, the corners
 * first. Returns the largest difference.
 */
double sv_transform_compare(enum sv_work, const struct sv_image *,
    const struct svk_crop *, const float *prepared, unsigned places,
    uint64_t *state);

#endif
