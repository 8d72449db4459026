/*
 * Driver entry points: start, versions, errors, finding entry points,
 * devices and their attributes.
 */
#include "drv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_device *drv_device(CUdevice index)
{
	if (index < 0 || (size_t)index >= sim.n_visible)
		return NULL;
	return sim.visible[index];
}

CUdevice drv_index(const struct sim_device *device)
{
	CUdevice index = 0;

	while (sim.visible[index] != device)
		index++;
	return index;
}

CUresult CUDAAPI cuInit(unsigned int flags)
{
	int rc = drv_enter(__func__);

	if (rc == 0)
		rc = flags == 0 ? sim_initialise() : CUDA_ERROR_INVALID_VALUE;
	return drv_leave(rc);
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	int rc = drv_enter(__func__);

	/* The one call that needs no cuInit. */
	if (rc == CUDA_ERROR_NOT_INITIALIZED)
		rc = 0;
	if (rc == 0 && version == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0)
		*version = (int)sim.config.driver_cuda;
	return drv_leave(rc);
}

/* --- errors --- */

static const struct error {
	CUresult code;
	const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
	"initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED",
	"driver shutting down"},
    {CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY",
	"CUDA driver is a stub library"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
	"CUDA-capable device(s) is/are busy or unavailable"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
	"no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
	"invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
	"device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
	"invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
	"no kernel image is available for execution on the device"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE",
	"uncorrectable ECC error encountered"},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
	"peer access is not supported between these two devices"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	"the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_SOURCE, "CUDA_ERROR_INVALID_SOURCE",
	"device kernel image is invalid"},
    {CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM",
	"OS call failed or operation not supported on this OS"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
	"invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE",
	"the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
	"an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
	"too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
	"the launch timed out and was terminated"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
	"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
	"peer access is already enabled"},
    {CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
	"peer access has not been enabled"},
    {CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
	"cannot set while device is active in this process"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
	"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
	"part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
	"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
	"pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
	"unspecified launch failure"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED",
	"operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
	"operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
	"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	"operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
	"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	"operation failed due to a previous error during capture"},
    {CUDA_ERROR_TIMEOUT, "CUDA_ERROR_TIMEOUT", "wait operation timed out"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const struct error *find_error(CUresult code)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			return &errors[i];
	return NULL;
}

CUresult CUDAAPI cuGetErrorName(CUresult code, const char **out)
{
	const struct error *error = find_error(code);

	*out = error == NULL ? NULL : error->name;
	return error == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult code, const char **out)
{
	const struct error *error = find_error(code);

	*out = error == NULL ? NULL : error->text;
	return error == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* --- finding entry points --- */

/* Base names whose ABI changed, and the version that brought each symbol. */
static const struct abi {
	const char *base, *symbol;
	int since;
} abis[] = {
    {"cuDeviceTotalMem", "cuDeviceTotalMem_v2", 3020},
    {"cuDeviceGetUuid", "cuDeviceGetUuid", 9020},
    {"cuDeviceGetUuid", "cuDeviceGetUuid_v2", 11040},
    {"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease", 7000},
    {"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", 11000},
    {"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset", 7000},
    {"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2", 11000},
    {"cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags", 7000},
    {"cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2", 11000},
    {"cuCtxPushCurrent", "cuCtxPushCurrent_v2", 4000},
    {"cuCtxPopCurrent", "cuCtxPopCurrent_v2", 4000},
    {"cuCtxSynchronize", "cuCtxSynchronize", 2000},
    {"cuCtxSynchronize", "cuCtxSynchronize_v2", 13000},
    {"cuMemGetInfo", "cuMemGetInfo_v2", 3020},
    {"cuMemAlloc", "cuMemAlloc_v2", 3020}, {"cuMemFree", "cuMemFree_v2", 3020},
    {"cuMemAllocHost", "cuMemAllocHost_v2", 3020},
    {"cuMemHostGetDevicePointer", "cuMemHostGetDevicePointer_v2", 3020},
    {"cuMemHostRegister", "cuMemHostRegister", 4000},
    {"cuMemHostRegister", "cuMemHostRegister_v2", 6050},
    {"cuMemGetAddressRange", "cuMemGetAddressRange_v2", 3020},
    {"cuMemcpyHtoD", "cuMemcpyHtoD_v2", 3020},
    {"cuMemcpyDtoH", "cuMemcpyDtoH_v2", 3020},
    {"cuMemcpyDtoD", "cuMemcpyDtoD_v2", 3020},
    {"cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync_v2", 3020},
    {"cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2", 3020},
    {"cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2", 3020},
    {"cuMemsetD8", "cuMemsetD8_v2", 3020},
    {"cuMemsetD32", "cuMemsetD32_v2", 3020},
    {"cuStreamDestroy", "cuStreamDestroy_v2", 4000},
    {"cuStreamWaitValue32", "cuStreamWaitValue32", 8000},
    {"cuStreamWaitValue32", "cuStreamWaitValue32_v2", 11070},
    {"cuStreamWriteValue32", "cuStreamWriteValue32", 8000},
    {"cuStreamWriteValue32", "cuStreamWriteValue32_v2", 11070},
    {"cuStreamBeginCapture", "cuStreamBeginCapture", 10000},
    {"cuStreamBeginCapture", "cuStreamBeginCapture_v2", 10010},
    {"cuEventDestroy", "cuEventDestroy_v2", 4000},
    {"cuEventElapsedTime", "cuEventElapsedTime", 2000},
    {"cuEventElapsedTime", "cuEventElapsedTime_v2", 12080},
    {"cuGraphAddKernelNode", "cuGraphAddKernelNode", 10000},
    {"cuGraphAddKernelNode", "cuGraphAddKernelNode_v2", 12000},
    {"cuGraphInstantiate", "cuGraphInstantiate", 10000},
    {"cuGraphInstantiate", "cuGraphInstantiate_v2", 11000},
    {"cuGraphInstantiate", "cuGraphInstantiateWithFlags", 12000},
    {"cuGetProcAddress", "cuGetProcAddress", 11030},
    {"cuGetProcAddress", "cuGetProcAddress_v2", 12000},
    {"cuCtxCreate", NULL, 0}, /* not part of the stand-in */
};

/* The symbol for a base name at a version: *known when there is one at all. */
static const char *symbol_of(const char *base, int version, bool *known)
{
	const char *symbol = NULL;
	int best = -1;

	*known = false;
	for (size_t i = 0; i < sizeof abis / sizeof *abis; i++) {
		if (strcmp(abis[i].base, base) != 0)
			continue;
		*known = true;
		if (abis[i].since <= version && abis[i].since > best) {
			best = abis[i].since;
			symbol = abis[i].symbol;
		}
	}
	return *known ? symbol : base;
}

static int get_proc_address(const char *base, void **out, int version,
    CUdriverProcAddressQueryResult *status)
{
	const char *symbol;
	void *self;
	bool known;

	if (base == NULL || out == NULL || version > sim.config.driver_cuda)
		return CUDA_ERROR_INVALID_VALUE;
	self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (self == NULL)
		return CUDA_ERROR_UNKNOWN;
	symbol = symbol_of(base, version, &known);
	*out = symbol == NULL ? NULL : dlsym(self, symbol);
	dlclose(self);
	if (status != NULL)
		*status = *out != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
			  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
				  : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return 0;
}

CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **out,
    int version, cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
	int rc = drv_enter(__func__);

	(void)flags;
	if (rc == CUDA_ERROR_NOT_INITIALIZED)
		rc = 0;
	return drv_leave(
	    rc != 0 ? rc : get_proc_address(symbol, out, version, status));
}

/* The first ABI said by its return value that there is no such symbol. */
CUresult CUDAAPI cuGetProcAddress(
    const char *symbol, void **out, int version, cuuint64_t flags)
{
	int rc = drv_enter(__func__);

	(void)flags;
	if (rc == CUDA_ERROR_NOT_INITIALIZED)
		rc = 0;
	if (rc == 0)
		rc = get_proc_address(symbol, out, version, NULL);
	if (rc == 0 && *out == NULL)
		rc = CUDA_ERROR_NOT_FOUND;
	return drv_leave(rc);
}

/* --- devices --- */

CUresult CUDAAPI cuDeviceGet(CUdevice *out, int ordinal)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && out == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	else if (rc == 0 && drv_device(ordinal) == NULL)
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (rc == 0)
		*out = ordinal;
	return drv_leave(rc);
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
	int rc = drv_enter(__func__);

	if (rc == 0)
		*count = (int)sim.n_visible;
	return drv_leave(rc);
}

static int get_name(char *name, int room, CUdevice index)
{
	struct sim_device *device = drv_device(index);

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	if (name == NULL || room <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)room, "%s", device->is.name);
	return 0;
}

CUresult CUDAAPI cuDeviceGetName(char *name, int room, CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : get_name(name, room, index));
}

/* The 32 hexadecimal digits after "GPU-" or "MIG-". */
static int get_uuid(CUuuid *out, CUdevice index, bool instance)
{
	struct sim_device *device = drv_device(index);
	const char *text;

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	text = (instance && device->is.mig ? device->is.mig_uuid
					   : device->is.uuid) +
	       4;
	for (size_t i = 0; i < sizeof out->bytes; i++) {
		char digits[3] = {0};

		text += *text == '-';
		memcpy(digits, text, 2);
		out->bytes[i] = (char)strtol(digits, NULL, 16);
		text += 2;
	}
	return 0;
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : get_uuid(uuid, index, false));
}

CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : get_uuid(uuid, index, true));
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice index)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && drv_device(index) == NULL)
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (rc == 0)
		*bytes = (size_t)drv_device(index)->is.memory_bytes;
	return drv_leave(rc);
}

/* The clock from which 2 · clock · width / 8 gives the planted bandwidth. */
static int memory_kHz(const struct sim_device *device)
{
	return (int)(device->is.memory_bandwidth_Bps /
			 (2.0 * sim_bus_bits(device) / 8) / 1e3 +
		     0.5);
}

struct attribute {
	CUdevice_attribute which;
	int value;
};

/* What every card of the last ten years says. */
static const struct attribute common[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 0},
    {CU_DEVICE_ATTRIBUTE_TCC_DRIVER, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 1536},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, 0},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
};

static int identity_attribute(
    const struct sim_device *device, CUdevice_attribute which, int *out)
{
	const struct sim_planted *is = &device->is;
	const struct attribute own[] = {
	    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
		(int)is->capability_major},
	    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
		(int)is->capability_minor},
	    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
		(int)is->multiprocessors},
	    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
		(int)(is->sm_clock_Hz / 1e3 + 0.5)},
	    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, memory_kHz(device)},
	    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, sim_bus_bits(device)},
	    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, (int)is->l2_bytes},
	    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, (int)is->pci_domain},
	    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, (int)is->pci_bus},
	    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, (int)is->pci_device},
	    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE,
		is->exclusive ? CU_COMPUTEMODE_EXCLUSIVE_PROCESS
			      : CU_COMPUTEMODE_DEFAULT},
	    {(CUdevice_attribute)115 /* memory pools supported */,
		sim.config.driver_cuda >= 11020},
	    {(CUdevice_attribute)92 /* stream memory operations, v1 */, 1},
	};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (own[i].which == which) {
			*out = own[i].value;
			return 0;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

static int get_attribute(int *out, CUdevice_attribute which, CUdevice index)
{
	struct sim_device *device = drv_device(index);

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	if (out == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < sizeof common / sizeof *common; i++)
		if (common[i].which == which) {
			*out = common[i].value;
			return 0;
		}
	return identity_attribute(device, which, out);
}

CUresult CUDAAPI cuDeviceGetAttribute(
    int *out, CUdevice_attribute which, CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : get_attribute(out, which, index));
}

static int get_pci(char *out, int room, CUdevice index)
{
	struct sim_device *device = drv_device(index);

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	if (out == NULL || room < 13)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(out, (size_t)room, "%04x:%02x:%02x.0", device->is.pci_domain,
	    device->is.pci_bus, device->is.pci_device);
	return 0;
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *out, int room, CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : get_pci(out, room, index));
}

static int by_pci_text(CUdevice *out, const char *text)
{
	unsigned domain, bus, slot;

	if (text == NULL || out == NULL ||
	    sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < sim.n_visible; i++) {
		const struct sim_planted *is = &sim.visible[i]->is;

		if (is->pci_domain == domain && is->pci_bus == bus &&
		    is->pci_device == slot) {
			*out = (CUdevice)i;
			return 0;
		}
	}
	return CUDA_ERROR_INVALID_DEVICE;
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *out, const char *text)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : by_pci_text(out, text));
}

static const struct sim_peer *peer_of(CUdevice from, CUdevice to)
{
	struct sim_device *a = drv_device(from), *b = drv_device(to);

	for (size_t i = 0; a != NULL && b != NULL && i < a->n_peers; i++)
		if (a->peers[i].device == b->place)
			return &a->peers[i];
	return NULL;
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice from, CUdevice to)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && (drv_device(from) == NULL || drv_device(to) == NULL))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (rc == 0) {
		const struct sim_peer *peer = peer_of(from, to);

		*can = peer != NULL && peer->p2p;
	}
	return drv_leave(rc);
}

CUresult CUDAAPI cuDeviceGetP2PAttribute(
    int *out, CUdevice_P2PAttribute which, CUdevice from, CUdevice to)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && (drv_device(from) == NULL || drv_device(to) == NULL))
		rc = CUDA_ERROR_INVALID_DEVICE;
	if (rc == 0) {
		const struct sim_peer *peer = peer_of(from, to);
		bool access = peer != NULL && peer->p2p;

		*out =
		    which == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED && access;
	}
	return drv_leave(rc);
}
