/*
 * Explanations for a report: of every shipped workload that two results have
 * the figures for.
 */
#ifndef STAVE_EXPLAINED_H
#define STAVE_EXPLAINED_H

#include <jansson.h>
#include <stddef.h>

#include "result.h"

#define SV_EXPLAINED_MAX 16

/* Documents of stave.explanation/1, the slowest on B against A first. */
struct sv_explained {
	json_t *list[SV_EXPLAINED_MAX];
	size_t n;
};

/*
 * Explain B against A on one workload, by its name or file; a new reference.
 * Errors: those of sv_workload_read and of sv_explain.
 */
SV_MUST_CHECK int sv_explained_one(const struct sv_result *a,
    const struct sv_result *b, const char *workload, json_t **out,
    struct sv_err *err);

/*
 * Explain B against A on all. A workload that cannot be read, or that the
 * results lack figures for, is left out; none at all is no error. Errors:
 * SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_explained_make(const struct sv_result *a,
    const struct sv_result *b, struct sv_explained *out, struct sv_err *err);
void sv_explained_free(struct sv_explained *);

#endif
