/*
 * The CUDA driver's entry points, opened at run time under names that fix
 * their ABI, and its errors as ours. The vendor's header gives types and
 * numbers alone: its macros rename functions from release to release, so no
 * function is called through it.
 */
#ifndef STAVE_CUDA_DRIVER_H
#define STAVE_CUDA_DRIVER_H

#include <cuda.h>
#include <stddef.h>

#include "stave/err.h"

/* The oldest driver that works: branch R450, CUDA 11.0. */
#define CUDA_BASELINE 11000

/*
 * X(member, symbol, first CUDA version with it, parameters). What the
 * baseline has must be there; the rest may be NULL. Versions: cudaTypedefs.h
 * of the toolkit.
 */
#define CUDA_DRIVER_ENTRIES(X)                                                 \
	X(init, "cuInit", 2000, (unsigned flags))                              \
	X(error_name, "cuGetErrorName", 6000, (CUresult, const char **))       \
	X(error_string, "cuGetErrorString", 6000, (CUresult, const char **))   \
	X(device_count, "cuDeviceGetCount", 2000, (int *))                     \
	X(device_get, "cuDeviceGet", 2000, (CUdevice *, int index))            \
	X(device_name, "cuDeviceGetName", 2000, (char *, int room, CUdevice))  \
	X(device_uuid, "cuDeviceGetUuid", 9020, (CUuuid *, CUdevice))          \
	X(device_instance_uuid, "cuDeviceGetUuid_v2", 11040,                   \
	    (CUuuid *, CUdevice))                                              \
	X(device_attribute, "cuDeviceGetAttribute", 2000,                      \
	    (int *, CUdevice_attribute, CUdevice))                             \
	X(device_pci, "cuDeviceGetPCIBusId", 4010,                             \
	    (char *, int room, CUdevice))                                      \
	X(device_memory, "cuDeviceTotalMem_v2", 3020, (size_t *, CUdevice))    \
	X(context_retain, "cuDevicePrimaryCtxRetain", 7000,                    \
	    (CUcontext *, CUdevice))                                           \
	X(context_release, "cuDevicePrimaryCtxRelease_v2", 11000, (CUdevice))  \
	X(context_set_wait, "cuDevicePrimaryCtxSetFlags_v2", 11000,            \
	    (CUdevice, unsigned flags))                                        \
	X(context_set_current, "cuCtxSetCurrent", 4000, (CUcontext))           \
	X(context_flags, "cuCtxGetFlags", 7000, (unsigned *))                  \
	X(context_set_flags, "cuCtxSetFlags", 12010, (unsigned flags))         \
	X(context_sync, "cuCtxSynchronize", 2000, (void))                      \
	X(module_load, "cuModuleLoadDataEx", 2010,                             \
	    (CUmodule *, const void *image, unsigned n, CUjit_option *,        \
		void **))                                                      \
	X(module_unload, "cuModuleUnload", 2000, (CUmodule))                   \
	X(module_function, "cuModuleGetFunction", 2000,                        \
	    (CUfunction *, CUmodule, const char *name))                        \
	X(launch, "cuLaunchKernel", 4000,                                      \
	    (CUfunction, unsigned grid_x, unsigned grid_y, unsigned grid_z,    \
		unsigned block_x, unsigned block_y, unsigned block_z,          \
		unsigned shared_bytes, CUstream, void **params, void **extra)) \
	X(stream_create, "cuStreamCreate", 2000, (CUstream *, unsigned flags)) \
	X(stream_destroy, "cuStreamDestroy_v2", 4000, (CUstream))              \
	X(stream_sync, "cuStreamSynchronize", 2000, (CUstream))                \
	X(stream_wait_event, "cuStreamWaitEvent", 3020,                        \
	    (CUstream, CUevent, unsigned flags))                               \
	X(event_create, "cuEventCreate", 2000, (CUevent *, unsigned flags))    \
	X(event_destroy, "cuEventDestroy_v2", 4000, (CUevent))                 \
	X(event_record, "cuEventRecord", 2000, (CUevent, CUstream))            \
	X(event_sync, "cuEventSynchronize", 2000, (CUevent))                   \
	X(event_elapsed, "cuEventElapsedTime", 2000,                           \
	    (float *ms, CUevent, CUevent))                                     \
	X(mem_alloc, "cuMemAlloc_v2", 3020, (CUdeviceptr *, size_t))           \
	X(mem_free, "cuMemFree_v2", 3020, (CUdeviceptr))                       \
	X(mem_info, "cuMemGetInfo_v2", 3020, (size_t *, size_t *))             \
	X(host_alloc, "cuMemHostAlloc", 2020,                                  \
	    (void **, size_t, unsigned flags))                                 \
	X(host_free, "cuMemFreeHost", 2000, (void *))                          \
	X(host_register, "cuMemHostRegister_v2", 6050,                         \
	    (void *, size_t, unsigned flags))                                  \
	X(host_unregister, "cuMemHostUnregister", 4000, (void *))              \
	X(host_device_pointer, "cuMemHostGetDevicePointer_v2", 3020,           \
	    (CUdeviceptr *, void *, unsigned flags))                           \
	X(copy_to_device, "cuMemcpyHtoDAsync_v2", 3020,                        \
	    (CUdeviceptr, const void *, size_t, CUstream))                     \
	X(copy_to_host, "cuMemcpyDtoHAsync_v2", 3020,                          \
	    (void *, CUdeviceptr, size_t, CUstream))                           \
	X(peer_can, "cuDeviceCanAccessPeer", 4000,                             \
	    (int *, CUdevice from, CUdevice to))                               \
	X(peer_enable, "cuCtxEnablePeerAccess", 4000,                          \
	    (CUcontext, unsigned flags))                                       \
	X(peer_disable, "cuCtxDisablePeerAccess", 4000, (CUcontext))           \
	X(peer_copy, "cuMemcpyPeerAsync", 4000,                                \
	    (CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t,   \
		CUstream))                                                     \
	X(graph_create, "cuGraphCreate", 10000, (CUgraph *, unsigned flags))   \
	X(graph_destroy, "cuGraphDestroy", 10000, (CUgraph))                   \
	X(graph_add_kernel, "cuGraphAddKernelNode", 10000,                     \
	    (CUgraphNode *, CUgraph, const CUgraphNode *after, size_t n,       \
		const CUDA_KERNEL_NODE_PARAMS_v1 *))                           \
	X(graph_instantiate, "cuGraphInstantiateWithFlags", 11040,             \
	    (CUgraphExec *, CUgraph, unsigned long long flags))                \
	X(graph_instantiate_logged, "cuGraphInstantiate_v2", 11000,            \
	    (CUgraphExec *, CUgraph, CUgraphNode *, char *log, size_t room))   \
	X(graph_exec_destroy, "cuGraphExecDestroy", 10000, (CUgraphExec))      \
	X(graph_launch, "cuGraphLaunch", 10000, (CUgraphExec, CUstream))       \
	X(pool_default, "cuDeviceGetDefaultMemPool", 11020,                    \
	    (CUmemoryPool *, CUdevice))                                        \
	X(pool_set, "cuMemPoolSetAttribute", 11020,                            \
	    (CUmemoryPool, CUmemPool_attribute, void *))                       \
	X(pool_trim, "cuMemPoolTrimTo", 11020, (CUmemoryPool, size_t keep))    \
	X(pool_alloc, "cuMemAllocAsync", 11020,                                \
	    (CUdeviceptr *, size_t, CUstream))                                 \
	X(pool_free, "cuMemFreeAsync", 11020, (CUdeviceptr, CUstream))

/* Later ABIs of the same type, taken where the driver has them. */
#define CUDA_DRIVER_NEWER(X) X(event_elapsed, "cuEventElapsedTime_v2", 12080)

struct cuda_driver {
	void *library;
	int version; /* what CUDA the driver supports, 13000 for 13.0 */
	/*
	 * The error that broke the context for good, or CUDA_SUCCESS. Only a
	 * fresh process can go on after one.
	 */
	CUresult sticky;
	CUresult (*driver_version)(int *);
#define X(member, symbol, since, parameters) CUresult(*member) parameters;
	CUDA_DRIVER_ENTRIES(X)
#undef X
};

/*
 * Open the driver and initialise it. Errors: SV_EDEVICE with the sentence
 * that the user reads: no driver, too old a driver, no device.
 */
SV_MUST_CHECK int cuda_driver_open(struct cuda_driver *, struct sv_err *err);
void cuda_driver_close(struct cuda_driver *);

/*
 * Describe a failed call: `what` names it and its object ("cuMemAlloc 2
 * GiB"); the driver's name and text of the error follow. Gives the SV_E* code
 * that the error means. Remembers an error that breaks the context.
 */
SV_PRINTF(4, 5)
int cuda_fail(
    struct cuda_driver *, CUresult, struct sv_err *err, const char *what, ...);

/* Why a call that the driver is too old for cannot be made, as SV_EUNSUPPORTED.
 */
int cuda_too_old(const struct cuda_driver *, struct sv_err *err,
    const char *what, int since);

/* A size as people say it ("2 GiB", "64 KiB", "100 B"). */
struct cuda_size_text {
	char text[32];
};
struct cuda_size_text cuda_size(size_t bytes);

#endif
