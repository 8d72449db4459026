/*
 * Driver entry points: memory of the device and pinned memory of the host.
 */
#include "drv.h"

static int mem_alloc(CUdeviceptr *out, size_t bytes)
{
	struct sim_device *device = drv_current();
	struct sim_span *span;
	int rc;

	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (out == NULL || bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	rc = sim_span_new(device, bytes, &span);
	sim_spend(device->is.alloc_s +
		  (rc == 0 ? device->is.alloc_s_per_byte * (double)bytes : 0));
	if (rc == 0)
		*out = span->address;
	return rc;
}

CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : mem_alloc(out, bytes));
}

/* Waits for everything on the device first, as the driver does. */
static int mem_free(CUdeviceptr address)
{
	struct sim_device *device = drv_current();
	struct sim_span *span;

	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (address == 0)
		return 0;
	span = sim_span_find(address, 1);
	if (span == NULL || span->address != address || span->pool != NULL)
		return CUDA_ERROR_INVALID_VALUE;
	sim_wait_device(span->device);
	sim_spend(device->is.free_s);
	sim_span_free(span);
	return 0;
}

CUresult CUDAAPI cuMemFree_v2(CUdeviceptr address)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : mem_free(address));
}

CUresult CUDAAPI cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	struct sim_device *device;
	int rc = drv_enter(__func__);

	if (rc == 0 && drv_current() == NULL)
		rc = CUDA_ERROR_INVALID_CONTEXT;
	if (rc == 0) {
		device = drv_current();
		*total = (size_t)device->is.memory_bytes;
		*free_bytes = *total - device->used_bytes;
	}
	return drv_leave(rc);
}

static int address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	struct sim_span *span = sim_span_find(address, 1);

	if (span == NULL)
		return CUDA_ERROR_NOT_FOUND;
	if (base != NULL)
		*base = span->address;
	if (bytes != NULL)
		*bytes = span->bytes;
	return 0;
}

CUresult CUDAAPI cuMemGetAddressRange_v2(
    CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : address_range(base, bytes, address));
}

/* --- host --- */

static int host_alloc(void **out, size_t bytes, unsigned flags)
{
	void *data;
	int rc;

	if (drv_current() == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (out == NULL || bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	data = sim_host_alloc(bytes);
	if (data == NULL)
		return CUDA_ERROR_OUT_OF_MEMORY;
	rc = sim_pin(data, bytes, flags, true);
	if (rc != 0)
		sim_host_release(data, bytes);
	else
		*out = data;
	return rc;
}

CUresult CUDAAPI cuMemHostAlloc(void **out, size_t bytes, unsigned int flags)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : host_alloc(out, bytes, flags));
}

CUresult CUDAAPI cuMemAllocHost_v2(void **out, size_t bytes)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : host_alloc(out, bytes, 0));
}

/* Like freeing device memory, this waits. */
static int host_free(void *data)
{
	struct sim_device *device = drv_current();
	bool owned;
	unsigned flags;
	uint64_t bytes = sim_pinned_bytes(data, &owned, &flags);

	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (bytes == 0 || !owned)
		return CUDA_ERROR_INVALID_VALUE;
	sim_wait_device(device);
	sim_unpin(data);
	sim_host_release(data, bytes);
	return 0;
}

CUresult CUDAAPI cuMemFreeHost(void *data)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : host_free(data));
}

static int host_register(void *data, size_t bytes, unsigned flags)
{
	if (drv_current() == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (data == NULL || bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_host_is_pinned(data, 1))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	return sim_pin(data, bytes, flags, false);
}

CUresult CUDAAPI cuMemHostRegister_v2(
    void *data, size_t bytes, unsigned int flags)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : host_register(data, bytes, flags));
}

CUresult CUDAAPI cuMemHostRegister(void *data, size_t bytes, unsigned int flags)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : host_register(data, bytes, flags));
}

static int host_unregister(void *data)
{
	struct sim_device *device = drv_current();
	bool owned;
	unsigned flags;

	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (sim_pinned_bytes(data, &owned, &flags) == 0 || owned)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	sim_wait_device(device);
	sim_unpin(data);
	return 0;
}

CUresult CUDAAPI cuMemHostUnregister(void *data)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : host_unregister(data));
}

/* With unified addressing the device uses the host's address. */
CUresult CUDAAPI cuMemHostGetDevicePointer_v2(
    CUdeviceptr *out, void *data, unsigned int flags)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && (flags != 0 || !sim_host_is_pinned(data, 1)))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0)
		*out = (CUdeviceptr)(uintptr_t)data;
	return drv_leave(rc);
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned int *out, void *data)
{
	bool owned;
	unsigned flags;
	int rc = drv_enter(__func__);

	if (rc == 0 && sim_pinned_bytes(data, &owned, &flags) == 0)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0)
		*out = flags;
	return drv_leave(rc);
}
