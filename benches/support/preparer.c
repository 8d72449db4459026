/* Decoder, buffers, and the order of the steps; see the header. */
#include "preparer.h"

#include <stdlib.h>

struct sv_preparer {
	struct sv_jpeg_decoder *decoder;
	unsigned char *decoded, *resized;
	float *planes; /* [SVK_PREPARED] between the steps of heavy work */
	float weights[SVK_RADIUS + 1];
};

int sv_preparer_new(struct sv_preparer **out, struct sv_err *err)
{
	struct sv_preparer *p = calloc(1, sizeof *p);
	int code;

	if (p == NULL)
		return sv_err_set(err, SV_ERESOURCE, "worker: out of memory");
	sv_transform_weights(p->weights);
	p->decoded = malloc(SV_PICTURE_BYTES);
	p->resized = malloc(SVK_PREPARED);
	p->planes = malloc(SVK_PREPARED * sizeof *p->planes);
	code = sv_jpeg_decoder_new(&p->decoder, err);
	if (code == 0 &&
	    (p->decoded == NULL || p->resized == NULL || p->planes == NULL))
		code = sv_err_set(err, SV_ERESOURCE, "worker: out of memory");
	if (code != 0) {
		sv_preparer_free(p);
		return code;
	}
	*out = p;
	return 0;
}

void sv_preparer_free(struct sv_preparer *p)
{
	if (p == NULL)
		return;
	sv_jpeg_decoder_free(p->decoder);
	free(p->decoded);
	free(p->resized);
	free(p->planes);
	free(p);
}

int sv_preparer_run(struct sv_preparer *p, enum sv_work work,
    const unsigned char *jpeg, size_t bytes, const struct svk_crop *crop,
    float *prepared, struct sv_err *err)
{
	const struct sv_image image = sv_preparer_decoded(p);
	int code = sv_jpeg_decode(p->decoder, jpeg, bytes, p->decoded, err);

	if (code != 0)
		return code;
	switch (work) {
	case SV_WORK_DECODE:
		break;
	case SV_WORK_RESIZE:
		sv_transform_resize(&image, p->resized);
		break;
	case SV_WORK_STANDARD:
		sv_transform_crop(&image, crop, prepared);
		break;
	case SV_WORK_HEAVY:
		/* To and fro, so that the last step ends in prepared. */
		sv_transform_crop(&image, crop, p->planes);
		sv_transform_elastic(p->planes, crop->seed, prepared);
		sv_transform_blur(prepared, false, p->weights, p->planes);
		sv_transform_blur(p->planes, true, p->weights, prepared);
		break;
	}
	return 0;
}

struct sv_image sv_preparer_decoded(const struct sv_preparer *p)
{
	return (struct sv_image){
	    p->decoded, SV_PICTURE_WIDTH, SV_PICTURE_HEIGHT};
}

const unsigned char *sv_preparer_resized(const struct sv_preparer *p)
{
	return p->resized;
}
