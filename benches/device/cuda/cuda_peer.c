/*
 * Other devices beside the one that is open, and copies between two of them.
 * Without access to each other's memory the driver takes such a copy through
 * the host.
 */
#include "cuda_backend.h"

static int peer_handle(
    struct cuda_device *cuda, int index, CUdevice *out, struct sv_err *err)
{
	int count = 0;
	CUresult rc = cuda->driver.device_count(&count);

	if (rc != CUDA_SUCCESS)
		return cuda_fail(&cuda->driver, rc, err, "cuDeviceGetCount");
	if (index < 0 || index >= count)
		return sv_err_set(
		    err, SV_EUSAGE, "there is no device %d", index);
	rc = cuda->driver.device_get(out, index);
	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(&cuda->driver, rc, err, "cuDeviceGet %d", index);
}

int cuda_peer_can(
    struct sv_device *device, int from, int to, bool direct, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	CUdevice source = 0, target = 0;
	CUresult rc;
	int can = 0, code = peer_handle(cuda, from, &source, err);

	if (code == 0)
		code = peer_handle(cuda, to, &target, err);
	if (code != 0 || !direct)
		return code;
	rc = cuda->driver.peer_can(&can, source, target);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(&cuda->driver, rc, err,
		    "cuDeviceCanAccessPeer %d to %d", from, to);
	return can != 0 ? 0
			: sv_err_set(err, SV_EUNSUPPORTED,
			      "device %d cannot reach the memory of device %d "
			      "(cuDeviceCanAccessPeer): copies go through the "
			      "host",
			      from, to);
}

int cuda_peer_use(struct sv_device *device, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	CUresult rc = cuda->driver.context_set_current(cuda->context);

	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(&cuda->driver, rc, err,
			 "cuCtxSetCurrent of device %d", cuda->index);
}

int cuda_peer_open(struct sv_device *device, int index, struct sv_device **out,
    struct sv_err *err)
{
	struct sv_device *peer;
	int code;

	if (cuda_of(device)->index == index) {
		*out = device;
		return 0;
	}
	code = cuda_open_index(&peer, index, err);
	if (code != 0)
		return code;
	code = cuda_peer_use(device, err);
	if (code != 0) {
		cuda_close_device(peer);
		return code;
	}
	*out = peer;
	return 0;
}

void cuda_peer_close(struct sv_device *device, struct sv_device *peer)
{
	struct cuda_device *cuda = cuda_of(device);

	if (peer == NULL || peer == device)
		return;
	/* Only a fresh process can use that device again. */
	if (cuda->driver.sticky == CUDA_SUCCESS)
		cuda->driver.sticky = cuda_of(peer)->driver.sticky;
	cuda_close_device(peer);
	cuda_late(cuda, cuda->driver.context_set_current(cuda->context),
	    "cuCtxSetCurrent of device %d", cuda->index);
}

/* One of the two ways: what the current device may reach. */
static int set_access(struct cuda_device *from, struct cuda_device *to,
    bool direct, struct sv_err *err)
{
	struct cuda_driver *driver = &from->driver;
	int code = cuda_peer_use(&from->device, err);
	CUresult rc;

	if (code != 0)
		return code;
	rc = direct ? driver->peer_enable(to->context, 0)
		    : driver->peer_disable(to->context);
	if (rc == CUDA_SUCCESS ||
	    rc == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
	    rc == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
		return 0;
	return cuda_fail(driver, rc, err, "%s of device %d to device %d",
	    direct ? "cuCtxEnablePeerAccess" : "cuCtxDisablePeerAccess",
	    from->index, to->index);
}

int cuda_peer_access(struct sv_device *from, struct sv_device *to, bool direct,
    struct sv_err *err)
{
	struct sv_err ignored;
	int code = set_access(cuda_of(from), cuda_of(to), direct, err);

	/* The way back may be closed where this one is open. */
	if (code == 0)
		(void)set_access(cuda_of(to), cuda_of(from), direct, &ignored);
	return code;
}

int cuda_peer_copy(struct sv_stream *stream, struct sv_device *to_device,
    struct sv_buffer *to, struct sv_device *from_device, struct sv_buffer *from,
    size_t bytes, struct sv_err *err)
{
	struct cuda_device *source = cuda_of(from_device);
	struct cuda_device *target = cuda_of(to_device);
	CUresult rc = source->driver.peer_copy(to->address, target->context,
	    from->address, source->context, bytes, stream->handle);

	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(&source->driver, rc, err,
			 "cuMemcpyPeerAsync %s from device %d to device %d",
			 cuda_size(bytes).text, source->index, target->index);
}
