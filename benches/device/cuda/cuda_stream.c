/*
 * Streams and events of the CUDA backend: waiting, copying, and holding a
 * stream back.
 *
 * A hold is a kernel of one thread that spins on a word of mapped host
 * memory, with a timeout by the device's own clock. Words are used in turn,
 * so that a hold that the device has not noticed the end of is never begun
 * anew under it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_backend.h"
#include "cuda_hold.h"
#include "kernels.h"
#include "timing.h"

int cuda_stream_new(
    struct sv_device *device, struct sv_stream **out, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	struct cuda_driver *driver = &cuda->driver;
	struct sv_stream *stream = calloc(1, sizeof *stream);
	void *flags = NULL;
	CUresult rc;
	int code;

	if (stream == NULL)
		return sv_err_set(err, SV_ERESOURCE, "stream: out of memory");
	stream->cuda = cuda;
	/* Not blocking: the legacy stream shall not order ours. */
	rc = driver->stream_create(&stream->handle, CU_STREAM_NON_BLOCKING);
	if (rc != CUDA_SUCCESS) {
		code = cuda_fail(driver, rc, err, "cuStreamCreate");
		goto free_stream;
	}
	rc = driver->host_alloc(&flags, CUDA_HOLDS * sizeof *stream->flags,
	    CU_MEMHOSTALLOC_DEVICEMAP);
	if (rc != CUDA_SUCCESS) {
		code = cuda_fail(
		    driver, rc, err, "cuMemHostAlloc of a stream's flags");
		goto destroy_stream;
	}
	rc = driver->host_device_pointer(&stream->flags_address, flags, 0);
	if (rc != CUDA_SUCCESS) {
		code = cuda_fail(driver, rc, err,
		    "cuMemHostGetDevicePointer of a stream's flags");
		goto free_flags;
	}
	memset(flags, 0, CUDA_HOLDS * sizeof *stream->flags);
	stream->flags = flags;
	*out = stream;
	return 0;

free_flags:
	cuda_late(cuda, driver->host_free(flags), "cuMemFreeHost");
destroy_stream:
	cuda_late(
	    cuda, driver->stream_destroy(stream->handle), "cuStreamDestroy");
free_stream:
	free(stream);
	return code;
}

/* The word of the hold begun last. */
static volatile uint32_t *current_flag(struct sv_stream *stream)
{
	return &stream->flags[(stream->holds - 1) % CUDA_HOLDS];
}

static void let_go(struct sv_stream *stream)
{
	__atomic_store_n(current_flag(stream), 1u, __ATOMIC_RELEASE);
	stream->held = false;
}

void cuda_stream_free(struct sv_device *device, struct sv_stream *stream)
{
	struct cuda_device *cuda = cuda_of(device);
	struct cuda_driver *driver = &cuda->driver;

	if (stream == NULL)
		return;
	if (stream->held)
		let_go(stream);
	cuda_blas_forget(cuda, stream->handle);
	/* The flags must outlive every hold that still looks at them. */
	cuda_late(cuda, driver->stream_sync(stream->handle),
	    "cuStreamSynchronize before cuStreamDestroy");
	cuda_late(
	    cuda, driver->stream_destroy(stream->handle), "cuStreamDestroy");
	cuda_late(cuda, driver->host_free((void *)(uintptr_t)stream->flags),
	    "cuMemFreeHost of a stream's flags");
	free(stream);
}

int cuda_event_new(
    struct sv_device *device, struct sv_event **out, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	struct sv_event *event = calloc(1, sizeof *event);
	CUresult rc;

	if (event == NULL)
		return sv_err_set(err, SV_ERESOURCE, "event: out of memory");
	event->cuda = cuda;
	rc = cuda->driver.event_create(&event->handle, CU_EVENT_DEFAULT);
	if (rc != CUDA_SUCCESS) {
		free(event);
		return cuda_fail(&cuda->driver, rc, err, "cuEventCreate");
	}
	*out = event;
	return 0;
}

void cuda_event_free(struct sv_device *device, struct sv_event *event)
{
	struct cuda_device *cuda = cuda_of(device);

	if (event == NULL)
		return;
	cuda_late(
	    cuda, cuda->driver.event_destroy(event->handle), "cuEventDestroy");
	free(event);
}

int cuda_event_record(
    struct sv_stream *stream, struct sv_event *event, struct sv_err *err)
{
	struct cuda_driver *driver = &stream->cuda->driver;
	CUresult rc = driver->event_record(event->handle, stream->handle);

	return rc == CUDA_SUCCESS ? 0
				  : cuda_fail(driver, rc, err, "cuEventRecord");
}

int cuda_stream_wait_event(
    struct sv_stream *stream, struct sv_event *event, struct sv_err *err)
{
	struct cuda_driver *driver = &stream->cuda->driver;
	CUresult rc =
	    driver->stream_wait_event(stream->handle, event->handle, 0);

	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(driver, rc, err, "cuStreamWaitEvent");
}

int cuda_event_elapsed_ns(struct sv_event *from, struct sv_event *to,
    double *elapsed_ns, struct sv_err *err)
{
	struct cuda_driver *driver = &from->cuda->driver;
	float ms;
	CUresult rc = driver->event_elapsed(&ms, from->handle, to->handle);

	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "cuEventElapsedTime");
	*elapsed_ns = (double)ms * 1e6;
	return 0;
}

/* Scheduling flags of a context. */
static unsigned flag_of(enum sv_wait how)
{
	return how == SV_WAIT_SPIN    ? CU_CTX_SCHED_SPIN
	       : how == SV_WAIT_YIELD ? CU_CTX_SCHED_YIELD
				      : CU_CTX_SCHED_BLOCKING_SYNC;
}

/*
 * Make the live context wait in this way. Drivers before CUDA 12.1 know only
 * the flags of the primary context, and whether a live one follows them is
 * asked, not assumed.
 */
static int set_wait(
    struct cuda_device *cuda, enum sv_wait how, struct sv_err *err)
{
	struct cuda_driver *driver = &cuda->driver;
	unsigned flags = 0;
	CUresult rc;

	if (cuda->wait == how)
		return 0;
	if (driver->context_set_flags != NULL) {
		/* We made the context, with no flags but these. */
		rc = driver->context_set_flags(flag_of(how));
		if (rc != CUDA_SUCCESS)
			return cuda_fail(driver, rc, err, "cuCtxSetFlags");
	} else {
		rc = driver->context_set_wait(cuda->handle, flag_of(how));
		if (rc != CUDA_SUCCESS)
			return cuda_fail(
			    driver, rc, err, "cuDevicePrimaryCtxSetFlags");
		rc = driver->context_flags(&flags);
		if (rc != CUDA_SUCCESS)
			return cuda_fail(driver, rc, err, "cuCtxGetFlags");
		if ((flags & CU_CTX_SCHED_MASK) != flag_of(how))
			return cuda_too_old(driver, err,
			    "another way of waiting in a live context", 12010);
	}
	cuda->wait = how;
	return 0;
}

int cuda_can_wait(
    struct sv_device *device, enum sv_wait how, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	int code = set_wait(cuda, how, err);

	return code != 0 ? code : set_wait(cuda, SV_WAIT_SPIN, err);
}

int cuda_stream_sync(
    struct sv_stream *stream, enum sv_wait how, struct sv_err *err)
{
	struct cuda_driver *driver = &stream->cuda->driver;
	int code = set_wait(stream->cuda, how, err);
	CUresult rc;

	if (code != 0)
		return code;
	rc = driver->stream_sync(stream->handle);
	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(driver, rc, err, "cuStreamSynchronize");
}

int cuda_event_sync(
    struct sv_event *event, enum sv_wait how, struct sv_err *err)
{
	struct cuda_driver *driver = &event->cuda->driver;
	int code = set_wait(event->cuda, how, err);
	CUresult rc;

	if (code != 0)
		return code;
	rc = driver->event_sync(event->handle);
	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(driver, rc, err, "cuEventSynchronize");
}

int cuda_device_sync(
    struct sv_device *device, enum sv_wait how, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	int code = set_wait(cuda, how, err);
	CUresult rc;

	if (code != 0)
		return code;
	rc = cuda->driver.context_sync();
	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(&cuda->driver, rc, err, "cuCtxSynchronize");
}

/*
 * The device reads or writes the host's memory where it lies: a kernel does
 * what a copy engine would.
 */
static int copy_in_place(struct sv_stream *stream, enum sv_direction direction,
    CUdeviceptr there, struct sv_hostmem *host, size_t host_offset,
    size_t bytes, struct sv_err *err)
{
	struct cuda_driver *driver = &stream->cuda->driver;
	const struct sv_grid grid = {4 * stream->cuda->units, 256};
	struct svk_copy_args args = {.n = bytes / sizeof(float)};
	CUdeviceptr here;
	CUresult rc;

	if (bytes % sizeof(float) != 0)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "mapped memory: %zu bytes are no whole number of floats",
		    bytes);
	rc = driver->host_device_pointer(&here, host->data, 0);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "cuMemHostGetDevicePointer");
	here += host_offset;
	args.dst = direction == SV_H2D ? there : here;
	args.src = direction == SV_H2D ? here : there;
	return cuda_launch(
	    stream, SV_KERNEL_COPY, grid, &args, sizeof args, err);
}

int cuda_copy(struct sv_stream *stream, enum sv_direction direction,
    struct sv_buffer *device, size_t device_offset, struct sv_hostmem *host,
    size_t host_offset, size_t bytes, struct sv_err *err)
{
	struct cuda_driver *driver = &stream->cuda->driver;
	CUdeviceptr there = device->address + device_offset;
	char *here = (char *)host->data + host_offset;
	CUresult rc;

	assert(device_offset + bytes <= device->bytes);
	assert(host_offset + bytes <= host->bytes);
	if (host->kind == SV_MAPPED)
		return copy_in_place(
		    stream, direction, there, host, host_offset, bytes, err);
	if (host->kind == SV_PAGEABLE) {
		/* These calls wait, and do it as the context says. */
		int code = set_wait(stream->cuda, SV_WAIT_SPIN, err);

		if (code != 0)
			return code;
	}
	rc = direction == SV_H2D
		 ? driver->copy_to_device(there, here, bytes, stream->handle)
		 : driver->copy_to_host(here, there, bytes, stream->handle);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "%s %s",
		    direction == SV_H2D ? "cuMemcpyHtoDAsync"
					: "cuMemcpyDtoHAsync",
		    cuda_size(bytes).text);
	return 0;
}

/*
 * A copy to ordinary memory comes back when it is done: that is the wait. On
 * our stream, since the copy without one would not come after its work.
 */
int cuda_readback(struct sv_stream *stream, struct sv_buffer *buffer,
    size_t offset, void *out, size_t bytes, enum sv_wait how,
    struct sv_err *err)
{
	struct cuda_driver *driver = &stream->cuda->driver;
	int code = set_wait(stream->cuda, how, err);
	CUresult rc;

	assert(offset + bytes <= buffer->bytes);
	if (code != 0)
		return code;
	rc = driver->copy_to_host(
	    out, buffer->address + offset, bytes, stream->handle);
	return rc == CUDA_SUCCESS ? 0
				  : cuda_fail(driver, rc, err,
					"cuMemcpyDtoHAsync %zu B", bytes);
}

int cuda_hold(struct sv_stream *stream, struct sv_err *err)
{
	const struct sv_grid one = {1, 1};
	size_t word = stream->holds % CUDA_HOLDS;
	const struct svk_hold_args args = {
	    .flag = stream->flags_address + word * sizeof *stream->flags,
	    .timeout_ns = SVK_HOLD_TIMEOUT_NS};
	int code;

	if (stream->held)
		return sv_err_set(
		    err, SV_EDEVICE, "hold: the stream is held already");
	/* Round once: no hold may look at the words any more. */
	if (word == 0 && stream->holds > 0) {
		code = cuda_stream_sync(stream, SV_WAIT_SPIN, err);
		if (code != 0)
			return code;
	}
	__atomic_store_n(&stream->flags[word], 0u, __ATOMIC_RELEASE);
	/* Before the launch: a time that is no later than the kernel's own. */
	stream->held_since_ns = sv_now_ns();
	code =
	    cuda_launch(stream, SV_KERNEL_HOLD, one, &args, sizeof args, err);
	if (code != 0)
		return code;
	stream->holds++;
	stream->held = true;
	return 0;
}

int cuda_release(struct sv_stream *stream, struct sv_err *err)
{
	uint64_t held_ns;

	if (!stream->held)
		return sv_err_set(
		    err, SV_EDEVICE, "release: the stream is not held");
	let_go(stream);
	held_ns = sv_now_ns() - stream->held_since_ns;
	if (held_ns >= SVK_HOLD_TIMEOUT_NS)
		return sv_err_set(err, SV_ETIMEOUT,
		    "hold: %.1f s passed before the queue was filled, the "
		    "device waits %.0f s",
		    (double)held_ns / 1e9, SVK_HOLD_TIMEOUT_NS / 1e9);
	return 0;
}
