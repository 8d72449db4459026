/*
 * The simulated libraries as a program meets them: opened at run time, entry
 * points by name. One card at a time; closing it unloads the libraries, so
 * that the next test starts a driver that nobody has touched.
 */
#ifndef SIM_API_H
#define SIM_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include <cmocka.h>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext context);

/* Every entry point that the tests use. */
/* clang-format off */
#define SIM_API_CALLS(X) \
	X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) \
	X(cuGetProcAddress_v2) X(cuDeviceGet) X(cuDeviceGetCount) \
	X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceGetAttribute) \
	X(cuDeviceGetPCIBusId) X(cuDeviceCanAccessPeer) \
	X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2) \
	X(cuDevicePrimaryCtxSetFlags_v2) X(cuCtxSetCurrent) \
	X(cuCtxSynchronize) X(cuCtxEnablePeerAccess) X(cuModuleLoadDataEx) \
	X(cuModuleGetFunction) X(cuModuleUnload) X(cuLaunchKernel) \
	X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuStreamSynchronize) \
	X(cuStreamQuery) X(cuStreamWaitEvent) X(cuStreamWaitValue32) \
	X(cuStreamWriteValue32) X(cuStreamBeginCapture_v2) \
	X(cuStreamEndCapture) X(cuEventCreate) X(cuEventDestroy_v2) \
	X(cuEventRecord) X(cuEventQuery) X(cuEventSynchronize) \
	X(cuEventElapsedTime) X(cuMemAlloc_v2) X(cuMemFree_v2) \
	X(cuMemGetInfo_v2) X(cuMemHostAlloc) X(cuMemFreeHost) \
	X(cuMemHostRegister_v2) X(cuMemHostUnregister) \
	X(cuMemHostGetDevicePointer_v2) X(cuMemcpyHtoD_v2) \
	X(cuMemcpyDtoH_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2) \
	X(cuMemcpyDtoDAsync_v2) X(cuMemcpyPeerAsync) X(cuMemsetD32Async) \
	X(cuMemsetD8_v2) X(cuMemAllocAsync) X(cuMemFreeAsync) \
	X(cuDeviceGetDefaultMemPool) X(cuMemPoolTrimTo) \
	X(cuMemPoolSetAttribute) X(cuMemPoolGetAttribute) X(cuGraphCreate) \
	X(cuGraphDestroy) X(cuGraphAddKernelNode_v2) \
	X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) \
	X(cuGraphExecDestroy)
/* clang-format on */

struct sim_api {
#define SIM_X(name) __typeof__(name) *name;
	SIM_API_CALLS(SIM_X)
#undef SIM_X
	void *cuda;
	char file[64]; /* the device file, made for this test */
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUstream stream;
};

/*
 * Write a device file, the test's card with the members of `changes` (JSON,
 * NULL for none) merged into it, and open the libraries on it. No call is
 * made yet.
 */
void sim_api_load(struct sim_api *, const char *changes);
/* The same, then start it: context, module, one non-blocking stream. */
void sim_api_open(struct sim_api *, const char *changes);
void sim_api_close(struct sim_api *);
/* Another of the libraries, until the program ends or closes it. */
void *sim_api_library(const char *name);
/* An entry point of it. */
void *sim_api_call(void *library, const char *name);

/* Device memory, which must be there; freed with the context. */
uint64_t sim_api_alloc(struct sim_api *, size_t bytes);
CUfunction sim_api_kernel(struct sim_api *, const char *name);
/* Launch by name with a packed structure. */
CUresult sim_api_launch(struct sim_api *, CUstream stream, const char *name,
    const void *args, size_t bytes);
/* A pinned word, 0, that svk_hold waits for; freed with the context. */
volatile uint32_t *sim_api_hold(
    struct sim_api *, CUstream stream, uint64_t timeout_ns);
CUevent sim_api_event(struct sim_api *, CUstream stream);
/* Seconds between two recorded events, waited for; destroys both. */
double sim_api_seconds(struct sim_api *, CUevent from, CUevent to);
/* The host's clock. */
int64_t sim_api_now_ns(void);

#endif
