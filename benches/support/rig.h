/*
 * What most benchmarks set up alike: a stream with a pair of events around
 * work that is queued before it is timed, and device memory filled from, or
 * checked against, host memory.
 */
#ifndef STAVE_RIG_H
#define STAVE_RIG_H

#include <stddef.h>
#include <stdint.h>

#include "stave/device.h"

/*
 * Operations queued behind a hold: far below any driver's queue limit, so
 * that filling the queue never blocks the host.
 */
#define SV_RIG_MAX_QUEUED 128

struct sv_rig {
	struct sv_device *device;
	const struct sv_backend *ops;
	struct sv_stream *stream;
	struct sv_event *start, *stop;
};

/* All members NULL or set on success; sv_rig_fini accepts a zeroed rig. */
SV_MUST_CHECK int sv_rig_init(
    struct sv_rig *, struct sv_device *, struct sv_err *err);
void sv_rig_fini(struct sv_rig *);

/* Hold the stream and mark the start of what is queued from now on. */
SV_MUST_CHECK int sv_rig_begin(struct sv_rig *, struct sv_err *err);
/* Mark the end, let go, wait, and give the device time in between, in ns. */
SV_MUST_CHECK int sv_rig_end(
    struct sv_rig *, double *elapsed_ns, struct sv_err *err);

/*
 * Copy bytes between ordinary memory and a buffer, from `offset` of it on, and
 * wait.
 */
SV_MUST_CHECK int sv_rig_upload(struct sv_rig *, struct sv_buffer *,
    size_t offset, const void *from, size_t bytes, struct sv_err *err);
SV_MUST_CHECK int sv_rig_download(struct sv_rig *, struct sv_buffer *,
    size_t offset, void *to, size_t bytes, struct sv_err *err);

/*
 * Refuse what would take more than a quarter of the memory that is free:
 * SV_ERESOURCE with the sentence that the user reads.
 */
SV_MUST_CHECK int sv_rig_fits(
    struct sv_device *, double bytes, struct sv_err *err);

/*
 * How many buffers of `bytes` to rotate through so that no pass finds its
 * data in the cache: enough for `times` caches, at least 1, at most `most`.
 */
size_t sv_rig_rotation(
    struct sv_device *, size_t bytes, double times, size_t most);

#endif
