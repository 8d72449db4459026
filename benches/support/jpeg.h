/*
 * JPEG by libturbojpeg, and pictures to try it with: made from numbers alone,
 * the same on every machine, about as large and as hard to decode as a
 * photograph of a training set.
 */
#ifndef STAVE_JPEG_H
#define STAVE_JPEG_H

#include <stddef.h>
#include <stdint.h>

#include "stave/err.h"

/* Sides of a picture: the usual ones in ImageNet. */
#define SV_PICTURE_WIDTH  500u
#define SV_PICTURE_HEIGHT 375u
#define SV_PICTURE_BYTES \
	((size_t)SV_PICTURE_WIDTH * SV_PICTURE_HEIGHT * 3) /* decoded */

/* 0, or SV_EUNSUPPORTED with the package that the build lacked. */
SV_MUST_CHECK int sv_jpeg_built(struct sv_err *err);

/* One thread's decoder. */
struct sv_jpeg_decoder;
SV_MUST_CHECK int sv_jpeg_decoder_new(
    struct sv_jpeg_decoder **out, struct sv_err *err);
void sv_jpeg_decoder_free(struct sv_jpeg_decoder *);
/*
 * Decode to RGB, rows packed. Errors: SV_ECHECK where it is no JPEG of a
 * picture's size.
 */
SV_MUST_CHECK int sv_jpeg_decode(struct sv_jpeg_decoder *,
    const unsigned char *jpeg, size_t bytes,
    unsigned char pixels[SV_PICTURE_BYTES], struct sv_err *err);

/* A set of pictures as JPEG. */
struct sv_pictures {
	size_t n;
	struct sv_jpeg {
		unsigned char *data;
		size_t bytes;
	} * list;
};

/* Errors: SV_ERESOURCE, SV_EUNSUPPORTED. */
SV_MUST_CHECK int sv_pictures_new(
    struct sv_pictures *, size_t n, struct sv_err *err);
void sv_pictures_free(struct sv_pictures *);
/* Bytes of the largest. */
size_t sv_pictures_most_bytes(const struct sv_pictures *);

/* Picture number `index` as RGB pixels. */
void sv_picture_draw(size_t index, unsigned char pixels[SV_PICTURE_BYTES]);

/*
 * Peak signal to noise ratio of two pictures in dB: what JPEG lost. A decoded
 * picture is right where it is above SV_PICTURE_LEAST_DB of its original.
 */
double sv_picture_psnr(const unsigned char *a, const unsigned char *b);
#define SV_PICTURE_LEAST_DB 30.0

#endif
