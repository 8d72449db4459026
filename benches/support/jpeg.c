/* libturbojpeg, where the build found it; see the header. */
#include "jpeg.h"

#ifdef SV_HAVE_TURBOJPEG

#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

/* With the pictures' grain: what gives files of about 110 kB. */
#define QUALITY 94

int sv_jpeg_built(struct sv_err *err)
{
	(void)err;
	return 0;
}

struct sv_jpeg_decoder {
	tjhandle handle;
};

int sv_jpeg_decoder_new(struct sv_jpeg_decoder **out, struct sv_err *err)
{
	struct sv_jpeg_decoder *decoder = calloc(1, sizeof *decoder);

	if (decoder != NULL)
		decoder->handle = tjInitDecompress();
	if (decoder == NULL || decoder->handle == NULL) {
		free(decoder);
		return sv_err_set(
		    err, SV_ERESOURCE, "JPEG decoder: out of memory");
	}
	*out = decoder;
	return 0;
}

void sv_jpeg_decoder_free(struct sv_jpeg_decoder *decoder)
{
	if (decoder != NULL)
		tjDestroy(decoder->handle);
	free(decoder);
}

int sv_jpeg_decode(struct sv_jpeg_decoder *decoder, const unsigned char *jpeg,
    size_t bytes, unsigned char pixels[SV_PICTURE_BYTES], struct sv_err *err)
{
	int width, height, subsampling, colours;

	if (tjDecompressHeader3(decoder->handle, jpeg, (unsigned long)bytes,
		&width, &height, &subsampling, &colours) != 0 ||
	    width != (int)SV_PICTURE_WIDTH || height != (int)SV_PICTURE_HEIGHT)
		return sv_err_set(err, SV_ECHECK,
		    "decode: no JPEG of %u by %u pixels", SV_PICTURE_WIDTH,
		    SV_PICTURE_HEIGHT);
	if (tjDecompress2(decoder->handle, jpeg, (unsigned long)bytes, pixels,
		width, 0, height, TJPF_RGB, 0) != 0)
		return sv_err_set(err, SV_ECHECK, "decode: %s",
		    tjGetErrorStr2(decoder->handle));
	return 0;
}

/* Encode into memory of our own, so that free() fits whoever made it. */
static int encode(tjhandle handle, const unsigned char *pixels,
    struct sv_jpeg *out, struct sv_err *err)
{
	unsigned char *data = NULL;
	unsigned long bytes = 0;
	int code = 0;

	if (tjCompress2(handle, pixels, (int)SV_PICTURE_WIDTH, 0,
		(int)SV_PICTURE_HEIGHT, TJPF_RGB, &data, &bytes, TJSAMP_420,
		QUALITY, 0) != 0) {
		code = sv_err_set(
		    err, SV_ERESOURCE, "encode: %s", tjGetErrorStr2(handle));
		goto free_data;
	}
	out->data = malloc(bytes);
	if (out->data == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "pictures: out of memory");
		goto free_data;
	}
	memcpy(out->data, data, bytes);
	out->bytes = bytes;
free_data:
	tjFree(data);
	return code;
}

int sv_pictures_new(struct sv_pictures *pictures, size_t n, struct sv_err *err)
{
	unsigned char *pixels = malloc(SV_PICTURE_BYTES);
	tjhandle handle = tjInitCompress();
	int code = 0;

	*pictures = (struct sv_pictures){
	    .n = n, .list = calloc(n, sizeof *pictures->list)};
	if (pixels == NULL || handle == NULL || pictures->list == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "pictures: out of memory");
		goto free_pixels;
	}
	for (size_t i = 0; code == 0 && i < n; i++) {
		sv_picture_draw(i, pixels);
		code = encode(handle, pixels, &pictures->list[i], err);
	}
free_pixels:
	if (handle != NULL)
		tjDestroy(handle);
	free(pixels);
	if (code != 0)
		sv_pictures_free(pictures);
	return code;
}

#else

static int missing(struct sv_err *err)
{
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "this build has no JPEG decoder: install libturbojpeg0-dev "
	    "(Debian), turbojpeg-devel (Fedora) or libjpeg-turbo (Arch) and "
	    "build again");
}

int sv_jpeg_built(struct sv_err *err)
{
	return missing(err);
}

int sv_jpeg_decoder_new(struct sv_jpeg_decoder **out, struct sv_err *err)
{
	(void)out;
	return missing(err);
}

void sv_jpeg_decoder_free(struct sv_jpeg_decoder *decoder)
{
	(void)decoder;
}

int sv_jpeg_decode(struct sv_jpeg_decoder *decoder, const unsigned char *jpeg,
    size_t bytes, unsigned char pixels[SV_PICTURE_BYTES], struct sv_err *err)
{
	(void)decoder;
	(void)jpeg;
	(void)bytes;
	(void)pixels;
	return missing(err);
}

int sv_pictures_new(struct sv_pictures *pictures, size_t n, struct sv_err *err)
{
	(void)n;
	*pictures = (struct sv_pictures){0};
	return missing(err);
}

#endif
