/*
 * Driver entry points: streams, events, and waiting for memory. The per-thread
 * default stream is the legacy one here: one host thread drives a worker.
 */
#include "drv.h"

#define QUERY_PS    100000 /* asking costs a little, so that asking again ends */
#define EVENT_MAGIC UINT64_C(0x6576656e74) /* "event" */

struct drv_event {
	uint64_t magic;
	unsigned flags;
	struct sim_op *record; /* NULL: never recorded */
};

int drv_default_stream(struct sim_stream **out)
{
	struct sim_device *device = drv_current();

	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	*out = device->legacy;
	return 0;
}

int drv_stream(CUstream handle, struct sim_stream **out)
{
	if (handle == NULL || handle == CU_STREAM_LEGACY ||
	    handle == CU_STREAM_PER_THREAD)
		return drv_default_stream(out);
	for (struct sim_stream *s = sim.streams; s != NULL; s = s->next)
		if ((void *)s == (void *)handle) {
			*out = s;
			return 0;
		}
	return CUDA_ERROR_INVALID_HANDLE;
}

void drv_streams_reset(struct sim_device *device)
{
	struct sim_stream *s = sim.streams;

	while (s != NULL) {
		struct sim_stream *next = s->next;

		if (s->device == device)
			sim_stream_free(s);
		s = next;
	}
}

static int create(CUstream *out, unsigned flags, int priority)
{
	struct sim_device *device = drv_current();
	struct sim_stream *stream;
	int rc;

	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (out == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
		return CUDA_ERROR_INVALID_VALUE;
	rc = sim_stream_new(
	    device, (flags & CU_STREAM_NON_BLOCKING) != 0, priority, &stream);
	if (rc == 0)
		*out = (CUstream)(void *)stream;
	return rc;
}

CUresult CUDAAPI cuStreamCreate(CUstream *out, unsigned int flags)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : create(out, flags, 0));
}

CUresult CUDAAPI cuStreamCreateWithPriority(
    CUstream *out, unsigned int flags, int priority)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : create(out, flags, priority));
}

static int destroy_stream(CUstream handle)
{
	struct sim_stream *stream;
	int rc = drv_stream(handle, &stream);

	if (rc != 0)
		return rc;
	if (stream == stream->device->legacy)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_stream_free(stream);
	return 0;
}

CUresult CUDAAPI cuStreamDestroy_v2(CUstream handle)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : destroy_stream(handle));
}

static int synchronise(CUstream handle)
{
	struct sim_stream *stream;
	int rc = drv_stream(handle, &stream);

	if (rc != 0)
		return rc;
	if (drv_capturing(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	sim_wait_stream(stream);
	drv_spend_wait(stream->device, stream->device->context_flags);
	sim_pools_trim_on_sync(stream->device);
	return stream->device->sticky;
}

CUresult CUDAAPI cuStreamSynchronize(CUstream handle)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : synchronise(handle));
}

/* Asking whether something is done: done costs a wait's spinning. */
static int answer(struct sim_device *device, bool done)
{
	if (device->sticky != 0)
		return device->sticky;
	if (done) {
		sim_spend(device->is.spin_s);
		return 0;
	}
	sim.host_ps += QUERY_PS;
	return CUDA_ERROR_NOT_READY;
}

CUresult CUDAAPI cuStreamQuery(CUstream handle)
{
	struct sim_stream *stream = NULL;
	int rc = drv_enter(__func__);

	if (rc == 0)
		rc = drv_stream(handle, &stream);
	if (rc == 0)
		rc = answer(stream->device, sim_stream_idle(stream));
	return drv_leave(rc);
}

/* --- events --- */

static struct drv_event *event_of(CUevent handle)
{
	struct drv_event *event = (struct drv_event *)(void *)handle;

	return event != NULL && event->magic == EVENT_MAGIC ? event : NULL;
}

CUresult CUDAAPI cuEventCreate(CUevent *out, unsigned int flags)
{
	struct drv_event *event;
	int rc = drv_enter(__func__);

	if (rc == 0 && drv_current() == NULL)
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (rc == 0) {
		event = sim_object_new(sizeof *event);
		event->magic = EVENT_MAGIC;
		event->flags = flags;
		*out = (CUevent)(void *)event;
	}
	return drv_leave(rc);
}

static int destroy_event(CUevent handle)
{
	struct drv_event *event = event_of(handle);

	if (event == NULL)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_op_unref(event->record);
	event->magic = 0;
	sim_object_free(event);
	return 0;
}

CUresult CUDAAPI cuEventDestroy_v2(CUevent handle)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : destroy_event(handle));
}

static int record(CUevent handle, CUstream stream_handle)
{
	struct drv_event *event = event_of(handle);
	struct sim_stream *stream;
	struct sim_op *op;
	int rc = drv_stream(stream_handle, &stream);

	if (rc != 0)
		return rc;
	if (event == NULL)
		return CUDA_ERROR_INVALID_HANDLE;
	if (drv_capturing(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	op = sim_op_new(stream);
	sim_op_unref(event->record);
	event->record = op;
	sim_op_ref(op);
	sim_op_submit(op);
	return 0;
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : record(event, stream));
}

CUresult CUDAAPI cuEventRecordWithFlags(
    CUevent event, CUstream stream, unsigned int flags)
{
	int rc = drv_enter(__func__);

	(void)flags;
	return drv_leave(rc != 0 ? rc : record(event, stream));
}

/* An event never recorded counts as one that happened. */
static bool happened(const struct drv_event *event)
{
	return event->record == NULL || event->record->state == SIM_DONE;
}

CUresult CUDAAPI cuEventQuery(CUevent handle)
{
	struct drv_event *event = NULL;
	int rc = drv_enter(__func__);

	if (rc == 0 && (event = event_of(handle)) == NULL)
		rc = CUDA_ERROR_INVALID_HANDLE;
	if (rc == 0 && event->record != NULL)
		rc = answer(event->record->device, happened(event));
	return drv_leave(rc);
}

static int wait_for_event(CUevent handle)
{
	struct drv_event *event = event_of(handle);
	struct sim_device *device;

	if (event == NULL)
		return CUDA_ERROR_INVALID_HANDLE;
	device = event->record == NULL ? drv_current() : event->record->device;
	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (event->record != NULL)
		sim_wait(event->record);
	drv_spend_wait(device, event->flags & CU_EVENT_BLOCKING_SYNC
				   ? (unsigned)CU_CTX_SCHED_BLOCKING_SYNC
				   : device->context_flags);
	sim_pools_trim_on_sync(device);
	return device->sticky;
}

CUresult CUDAAPI cuEventSynchronize(CUevent handle)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : wait_for_event(handle));
}

static int elapsed(float *ms, CUevent from_handle, CUevent to_handle)
{
	struct drv_event *from = event_of(from_handle);
	struct drv_event *to = event_of(to_handle);

	if (from == NULL || to == NULL || from->record == NULL ||
	    to->record == NULL ||
	    ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_HANDLE;
	if (ms == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	if (!happened(from) || !happened(to))
		return CUDA_ERROR_NOT_READY;
	*ms =
	    (float)((double)(to->record->end_ps - from->record->end_ps) / 1e9);
	return 0;
}

CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : elapsed(ms, from, to));
}

CUresult CUDAAPI cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : elapsed(ms, from, to));
}

static int wait_event(CUstream stream_handle, CUevent handle)
{
	struct drv_event *event = event_of(handle);
	struct sim_stream *stream;
	struct sim_op *op;
	int rc = drv_stream(stream_handle, &stream);

	if (rc != 0)
		return rc;
	if (event == NULL)
		return CUDA_ERROR_INVALID_HANDLE;
	if (drv_capturing(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	op = sim_op_new(stream);
	sim_op_after(op, event->record);
	sim_op_submit(op);
	return 0;
}

CUresult CUDAAPI cuStreamWaitEvent(
    CUstream stream, CUevent event, unsigned int flags)
{
	int rc = drv_enter(__func__);

	(void)flags;
	return drv_leave(rc != 0 ? rc : wait_event(stream, event));
}

/* --- waiting for memory --- */

static int wait_value(
    CUstream handle, CUdeviceptr address, uint32_t value, unsigned flags)
{
	struct sim_stream *stream;
	struct sim_place place;
	struct sim_op *op;
	int rc = drv_stream(handle, &stream);

	if (rc == 0 && (sim_place_find(address, sizeof value, &place) != 0 ||
			   (place.span == NULL &&
			       !sim_host_is_pinned(place.host, sizeof value))))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc != 0)
		return rc;
	op = sim_op_new(stream);
	op->until = SIM_UNTIL_VALUE;
	op->word = (const volatile uint32_t *)(void *)place.host;
	op->word_address = address;
	op->wanted = value;
	op->condition = flags & 3;
	drv_submit(op);
	return 0;
}

CUresult CUDAAPI cuStreamWaitValue32(
    CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
	int rc = drv_enter(__func__);

	return drv_leave(
	    rc != 0 ? rc : wait_value(stream, address, value, flags));
}

CUresult CUDAAPI cuStreamWaitValue32_v2(
    CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
	int rc = drv_enter(__func__);

	return drv_leave(
	    rc != 0 ? rc : wait_value(stream, address, value, flags));
}

static int write_value(CUstream handle, CUdeviceptr address, uint32_t value)
{
	struct sim_stream *stream;
	struct sim_place place;
	struct sim_op *op;
	int rc = drv_stream(handle, &stream);

	if (rc == 0 && (sim_place_find(address, sizeof value, &place) != 0 ||
			   (place.span == NULL &&
			       !sim_host_is_pinned(place.host, sizeof value))))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc != 0)
		return rc;
	op = sim_op_new(stream);
	op->effect = sim_effect_write_value;
	op->dst = address;
	*(uint32_t *)(void *)op->args = value;
	drv_submit(op);
	return 0;
}

CUresult CUDAAPI cuStreamWriteValue32(
    CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
	int rc = drv_enter(__func__);

	(void)flags;
	return drv_leave(rc != 0 ? rc : write_value(stream, address, value));
}

CUresult CUDAAPI cuStreamWriteValue32_v2(
    CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
	int rc = drv_enter(__func__);

	(void)flags;
	return drv_leave(rc != 0 ? rc : write_value(stream, address, value));
}
