/*
 * The spans that workers told as a timeline in Chrome's trace format, which
 * Perfetto and chrome://tracing open.
 */
#ifndef STAVE_TIMELINE_H
#define STAVE_TIMELINE_H

#include <jansson.h>

#include "stave/err.h"

/*
 * The timeline of all records that have spans: one process a case, one thread
 * a track. A new reference, NULL when out of memory. Pure.
 * Source: Trace Event Format, duration and metadata events.
 */
json_t *sv_timeline_make(json_t *records);

/*
 * Whether it can be written, before anything is measured; and writing it.
 * Errors: SV_EOUTPUT, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_timeline_check(const char *path, struct sv_err *err);
SV_MUST_CHECK int sv_timeline_write(
    json_t *records, const char *path, struct sv_err *err);

#endif
