/*
 * What the simulated driver's entry points share: the vendor's types, their
 * handles as our objects, and how every call begins and ends. Each entry
 * point has one function of ours behind it that does the work and returns a
 * driver error.
 */
#ifndef SIM_DRV_H
#define SIM_DRV_H

/* Every ABI version of every entry point gets its prototype. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "sim.h"

/* Where a header is older than the entry point. */
CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext context);
CUresult CUDAAPI cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to);
CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice index);

static inline int drv_enter(const char *call)
{
	return sim_enter(SIM_LIB_DRIVER, call);
}

static inline CUresult drv_leave(int rc)
{
	return (CUresult)sim_leave(rc);
}

/* The device that an index of CUDA's means, NULL for none. */
struct sim_device *drv_device(CUdevice index);
/* Its index. */
CUdevice drv_index(const struct sim_device *device);
/* The device whose context is the thread's current one, NULL for none. */
struct sim_device *drv_current(void);
CUcontext drv_context(struct sim_device *device);
struct sim_device *drv_of_context(CUcontext context);
/* A stream handle's stream; 0, or a driver error. */
int drv_stream(CUstream handle, struct sim_stream **out);
/* The default stream of the current context. */
int drv_default_stream(struct sim_stream **out);
/* What a wait costs the host under these context flags. */
void drv_spend_wait(const struct sim_device *device, unsigned flags);
/* Work of a stream that is being captured goes to the graph instead. */
void drv_submit(struct sim_op *take_op);
bool drv_capturing(const struct sim_stream *stream);

struct drv_function {
	const struct sim_kernel *kernel;
	struct drv_module *module;
};

/*
 * An operation that runs a kernel with the arguments given either way; *out
 * is the caller's. 0 or a driver error.
 */
int drv_kernel_op(struct sim_stream *stream, struct drv_function *function,
    void **params, void **extra, struct sim_op **out);
/* Operations of graph nodes, in order, each with its own time. */
void drv_streams_reset(struct sim_device *device);

#endif
