/*
 * A few iterations as spans on the host's and the device's tracks, for a
 * timeline. Marks cost time, so that traced iterations are never timed.
 */
#ifndef STAVE_TRACE_H
#define STAVE_TRACE_H

#include "context.h"
#include "rig.h"

struct sv_trace;

/*
 * Begin: waits for the device, where its clock and the host's are laid on
 * each other. Room for `most` spans; later ones are dropped. NULL with *err
 * set where that fails.
 */
struct sv_trace *sv_trace_new(struct sv_rig *, size_t most, struct sv_err *err);
void sv_trace_free(struct sv_trace *);

/*
 * Begin a span of the host; where stream is not NULL also one of the device,
 * from what the stream has come to when it gets there. Spans may lie in each
 * other. trace may be NULL, then nothing is done. *span: for the end.
 */
SV_MUST_CHECK int sv_trace_begin(struct sv_trace *, const char *name,
    struct sv_stream *stream, const char *track, size_t *span,
    struct sv_err *err);
SV_MUST_CHECK int sv_trace_end(
    struct sv_trace *, struct sv_stream *, size_t span, struct sv_err *err);

/* Wait for the device and report all spans. */
SV_MUST_CHECK int sv_trace_report(
    struct sv_trace *, struct sv_bench_context *, struct sv_err *err);

#endif
