/*
 * From a benchmark's axes to its cases, and between a case and its id.
 */
#ifndef STAVE_AXES_H
#define STAVE_AXES_H

#include <stddef.h>

#include "stave/bench.h"

#define SV_CASE_ID_BYTES 512

/*
 * Called with each case of a benchmark up to a level, in a place that
 * outlives it; anything but 0 ends the walk and becomes its result.
 */
typedef int sv_case_fn(void *state, const struct sv_case *);
int sv_axes_each(const struct sv_bench *, enum sv_level level,
    const struct sv_place *, sv_case_fn *fn, void *state);

/*
 * Id of a case: `bench/metric+metric?k=v&…`, keys sorted. Returns its length;
 * an id that does not fit in SV_CASE_ID_BYTES is our own bug.
 */
size_t sv_axes_id(const struct sv_case *, char out[SV_CASE_ID_BYTES]);

/*
 * Find the case of an id among all levels of a benchmark; level is what the
 * case gets. Errors: SV_EUSAGE when there is none.
 */
SV_MUST_CHECK int sv_axes_find(const struct sv_bench *, const char *id,
    enum sv_level level, const struct sv_place *, struct sv_case *out,
    struct sv_err *err);

/* The metric's descriptor; the benchmark must have it. */
const struct sv_metric *sv_axes_metric(
    const struct sv_bench *, const char *name);

#endif
