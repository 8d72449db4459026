/* Set-up shared by benchmarks; see the header. */
#include "rig.h"

#include <string.h>

/* Staging for uploads: no need to hold a second copy of everything. */
#define STAGE_BYTES ((size_t)16 << 20)

int sv_rig_init(
    struct sv_rig *rig, struct sv_device *device, struct sv_err *err)
{
	int code;

	*rig = (struct sv_rig){.device = device, .ops = device->ops};
	if ((code = rig->ops->stream_new(device, &rig->stream, err)) != 0 ||
	    (code = rig->ops->event_new(device, &rig->start, err)) != 0 ||
	    (code = rig->ops->event_new(device, &rig->stop, err)) != 0) {
		sv_rig_fini(rig);
		return code;
	}
	return 0;
}

void sv_rig_fini(struct sv_rig *rig)
{
	if (rig->device == NULL)
		return;
	rig->ops->event_free(rig->device, rig->start);
	rig->ops->event_free(rig->device, rig->stop);
	rig->ops->stream_free(rig->device, rig->stream);
	*rig = (struct sv_rig){0};
}

int sv_rig_begin(struct sv_rig *rig, struct sv_err *err)
{
	int code = rig->ops->hold(rig->stream, err);

	return code != 0 ? code
			 : rig->ops->event_record(rig->stream, rig->start, err);
}

int sv_rig_end(struct sv_rig *rig, double *elapsed_ns, struct sv_err *err)
{
	int code;

	if ((code = rig->ops->event_record(rig->stream, rig->stop, err)) != 0 ||
	    (code = rig->ops->release(rig->stream, err)) != 0 ||
	    (code = rig->ops->stream_sync(
		 rig->stream, rig->ops->patient, err)) != 0)
		return code;
	return rig->ops->event_elapsed_ns(
	    rig->start, rig->stop, elapsed_ns, err);
}

/* Move bytes through a staging area; one of from and to is NULL. */
static int move(struct sv_rig *rig, struct sv_buffer *buffer, size_t offset,
    const void *from, void *to, size_t bytes, struct sv_err *err)
{
	struct sv_hostmem stage = {0};
	size_t room = bytes < STAGE_BYTES ? bytes : STAGE_BYTES;
	int code = rig->ops->host_alloc(
	    rig->device, SV_PAGEABLE, room, -1, &stage, err);

	for (size_t at = 0; code == 0 && at < bytes; at += room) {
		size_t n = bytes - at < room ? bytes - at : room;

		if (from != NULL)
			memcpy(stage.data, (const char *)from + at, n);
		code =
		    rig->ops->copy(rig->stream, from != NULL ? SV_H2D : SV_D2H,
			buffer, offset + at, &stage, 0, n, err);
		if (code == 0)
			code = rig->ops->stream_sync(
			    rig->stream, SV_WAIT_SPIN, err);
		if (code == 0 && to != NULL)
			memcpy((char *)to + at, stage.data, n);
	}
	rig->ops->host_free(rig->device, &stage);
	return code;
}

int sv_rig_upload(struct sv_rig *rig, struct sv_buffer *buffer, size_t offset,
    const void *from, size_t bytes, struct sv_err *err)
{
	return move(rig, buffer, offset, from, NULL, bytes, err);
}

int sv_rig_download(struct sv_rig *rig, struct sv_buffer *buffer, size_t offset,
    void *to, size_t bytes, struct sv_err *err)
{
	return move(rig, buffer, offset, NULL, to, bytes, err);
}

int sv_rig_fits(struct sv_device *device, double bytes, struct sv_err *err)
{
	struct sv_device_limits limits;

	device->ops->limits(device, &limits);
	if (limits.memory_free_bytes == 0 ||
	    bytes <= (double)limits.memory_free_bytes / 4.0)
		return 0;
	return sv_err_set(err, SV_ERESOURCE,
	    "needs %.0f MiB, more than a quarter of the %.0f MiB free",
	    bytes / 1048576.0, (double)limits.memory_free_bytes / 1048576.0);
}

size_t sv_rig_rotation(
    struct sv_device *device, size_t bytes, double times, size_t most)
{
	struct sv_device_limits limits;

	device->ops->limits(device, &limits);
	double wanted = times * (double)limits.cache_bytes / (double)bytes;

	if (wanted <= 1.0)
		return 1;
	return wanted < (double)most ? (size_t)wanted + 1 : most;
}
