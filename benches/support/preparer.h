/*
 * One thread's way from a JPEG to what a training step eats, with the memory
 * that it needs in between.
 */
#ifndef STAVE_PREPARER_H
#define STAVE_PREPARER_H

#include "jpeg.h"
#include "transform.h"

struct sv_preparer;

/* Errors: SV_ERESOURCE, SV_EUNSUPPORTED. */
SV_MUST_CHECK int sv_preparer_new(struct sv_preparer **out, struct sv_err *err);
void sv_preparer_free(struct sv_preparer *);

/*
 * Do the work on a JPEG of a picture. prepared: [SVK_PREPARED], for standard
 * and heavy work alone. Errors: SV_ECHECK.
 */
SV_MUST_CHECK int sv_preparer_run(struct sv_preparer *, enum sv_work,
    const unsigned char *jpeg, size_t bytes, const struct svk_crop *,
    float *prepared, struct sv_err *err);

/* What the last run left: the decoded picture, and the resized one. */
struct sv_image sv_preparer_decoded(const struct sv_preparer *);
const unsigned char *sv_preparer_resized(const struct sv_preparer *);

#endif
