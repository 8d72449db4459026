/*
 * Driver entry points: primary contexts and the current one of a thread.
 * Contexts made by cuCtxCreate are not part of the stand-in.
 */
#include "drv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define STACK_DEPTH 16

/* The thread's stack of current contexts; the top is the current one. */
static _Thread_local struct sim_device *stack[STACK_DEPTH];
static _Thread_local unsigned depth;

CUcontext drv_context(struct sim_device *device)
{
	return (CUcontext)(void *)device;
}

struct sim_device *drv_of_context(CUcontext context)
{
	struct sim_device *device = (struct sim_device *)(void *)context;

	for (size_t i = 0; i < sim.config.n_devices; i++)
		if (&sim.config.devices[i] == device && device->retained > 0)
			return device;
	return NULL;
}

struct sim_device *drv_current(void)
{
	if (depth == 0 || stack[depth - 1] == NULL)
		return NULL;
	return stack[depth - 1]->retained > 0 ? stack[depth - 1] : NULL;
}

void drv_spend_wait(const struct sim_device *device, unsigned flags)
{
	const struct sim_planted *is = &device->is;

	if (flags & CU_CTX_SCHED_BLOCKING_SYNC)
		sim_spend(is->block_s);
	else
		sim_spend(
		    flags & CU_CTX_SCHED_YIELD ? is->yield_s : is->spin_s);
}

/*
 * A device in exclusive mode has one process: who holds the lock on a file of
 * the run's own.
 */
static int take_exclusively(struct sim_device *device)
{
	const char *folder = getenv("STAVE_SIM_STATE");
	char path[4096];

	if (!device->is.exclusive || folder == NULL ||
	    device->exclusive_fd >= 0)
		return 0;
	snprintf(path, sizeof path, "%s/%s", folder, device->is.uuid);
	device->exclusive_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (device->exclusive_fd < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	if (flock(device->exclusive_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	close(device->exclusive_fd);
	device->exclusive_fd = -1;
	return CUDA_ERROR_DEVICE_UNAVAILABLE;
}

static int retain(CUcontext *out, CUdevice index)
{
	struct sim_device *device = drv_device(index);
	int rc;

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	rc = take_exclusively(device);
	if (rc == 0 && device->retained == 0)
		rc = sim_stream_new(device, false, 0, &device->legacy);
	if (rc != 0)
		return rc;
	device->retained++;
	*out = drv_context(device);
	return 0;
}

/* Everything that lived in the context goes with it. */
static void destroy(struct sim_device *device)
{
	sim_wait_device(device);
	drv_streams_reset(device);
	device->legacy = NULL;
	sim_pools_free(device);
	sim_device_memory_free(device);
	memset(device->peer_enabled, 0, sizeof device->peer_enabled);
	if (device->exclusive_fd >= 0)
		close(device->exclusive_fd);
	device->exclusive_fd = -1;
}

static int release(CUdevice index)
{
	struct sim_device *device = drv_device(index);

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	if (device->retained == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (--device->retained == 0)
		destroy(device);
	return 0;
}

static int reset(CUdevice index)
{
	struct sim_device *device = drv_device(index);

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	if (device->retained > 0)
		destroy(device);
	device->retained = 0;
	return 0;
}

static int set_flags(CUdevice index, unsigned flags)
{
	struct sim_device *device = drv_device(index);

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	device->context_flags = flags;
	return 0;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : retain(out, index));
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : release(index));
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : release(index));
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : reset(index));
}

CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : reset(index));
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice index, unsigned flags)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : set_flags(index, flags));
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice index, unsigned flags)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : set_flags(index, flags));
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(
    CUdevice index, unsigned int *flags, int *active)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && drv_device(index) == NULL)
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (rc == 0) {
		*flags = drv_device(index)->context_flags;
		*active = drv_device(index)->retained > 0;
	}
	return drv_leave(rc);
}

static int set_current(CUcontext context)
{
	struct sim_device *device = drv_of_context(context);

	if (context != NULL && device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth == 0)
		depth = 1;
	stack[depth - 1] = device;
	return 0;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : set_current(context));
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *out)
{
	int rc = drv_enter(__func__);

	if (rc == 0)
		*out = drv_context(drv_current());
	return drv_leave(rc);
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context)
{
	int rc = drv_enter(__func__);

	if (rc == 0 &&
	    (drv_of_context(context) == NULL || depth == STACK_DEPTH))
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (rc == 0)
		stack[depth++] = drv_of_context(context);
	return drv_leave(rc);
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *out)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && depth == 0)
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (rc == 0) {
		depth--;
		if (out != NULL)
			*out = drv_context(stack[depth]);
	}
	return drv_leave(rc);
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *out)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && drv_current() == NULL)
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (rc == 0)
		*out = drv_index(drv_current());
	return drv_leave(rc);
}

CUresult CUDAAPI cuCtxGetFlags(unsigned int *out)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && drv_current() == NULL)
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (rc == 0)
		*out = drv_current()->context_flags;
	return drv_leave(rc);
}

CUresult CUDAAPI cuCtxSetFlags(unsigned int flags)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && drv_current() == NULL)
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (rc == 0)
		drv_current()->context_flags = flags;
	return drv_leave(rc);
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && least != NULL)
		*least = 0;
	if (rc == 0 && greatest != NULL)
		*greatest = -5;
	return drv_leave(rc);
}

static int synchronise(struct sim_device *device)
{
	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_wait_device(device);
	drv_spend_wait(device, device->context_flags);
	sim_pools_trim_on_sync(device);
	return device->sticky;
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : synchronise(drv_current()));
}

CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext context)
{
	int rc = drv_enter(__func__);

	return drv_leave(
	    rc != 0 ? rc
		    : synchronise(context == NULL ? drv_current()
						  : drv_of_context(context)));
}

static int set_peer_access(CUcontext context, bool on)
{
	struct sim_device *from = drv_current();
	struct sim_device *to = drv_of_context(context);

	if (from == NULL || to == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (from->peer_enabled[to->place] == on)
		return on ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
			  : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	for (size_t i = 0; i < from->n_peers; i++)
		if (from->peers[i].device == to->place && from->peers[i].p2p) {
			from->peer_enabled[to->place] = on;
			return 0;
		}
	return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext context, unsigned int flags)
{
	int rc = drv_enter(__func__);

	(void)flags;
	return drv_leave(rc != 0 ? rc : set_peer_access(context, true));
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext context)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : set_peer_access(context, false));
}
