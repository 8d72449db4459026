/*
 * Memory of the CUDA backend: the device's, straight and from the driver's
 * pool, and the kinds of host memory that copies use.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda_backend.h"
#include "cuda_placement.h"

int cuda_alloc(struct sv_device *device, size_t bytes, struct sv_buffer *out,
    struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	CUdeviceptr address;
	CUresult rc = cuda->driver.mem_alloc(&address, bytes);

	if (rc != CUDA_SUCCESS)
		return cuda_fail(&cuda->driver, rc, err, "cuMemAlloc %s",
		    cuda_size(bytes).text);
	*out = (struct sv_buffer){.address = address,
	    .bytes = bytes,
	    .token = (void *)(uintptr_t)address};
	return 0;
}

int cuda_free(
    struct sv_device *device, struct sv_buffer *buffer, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	size_t bytes = buffer->bytes;
	CUresult rc;

	if (buffer->token == NULL)
		return 0;
	rc = cuda->driver.mem_free(buffer->address);
	*buffer = (struct sv_buffer){0};
	return rc == CUDA_SUCCESS ? 0
				  : cuda_fail(&cuda->driver, rc, err,
					"cuMemFree %s", cuda_size(bytes).text);
}

/*
 * The device's default pool, told to keep what is freed: by itself it gives
 * everything back at the next wait.
 */
static int open_pool(struct cuda_device *cuda, struct sv_err *err)
{
	cuuint64_t keep = UINT64_MAX;
	CUmemoryPool pool;
	CUresult rc;

	if (cuda->pool != NULL)
		return 0;
	if (cuda->driver.pool_default == NULL ||
	    cuda->driver.pool_set == NULL || cuda->driver.pool_trim == NULL ||
	    cuda->driver.pool_alloc == NULL || cuda->driver.pool_free == NULL)
		return cuda_too_old(&cuda->driver, err, "memory pools", 11020);
	if (cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) ==
	    0)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "memory pools: the driver says that this device has none");
	rc = cuda->driver.pool_default(&pool, cuda->handle);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(
		    &cuda->driver, rc, err, "cuDeviceGetDefaultMemPool");
	rc = cuda->driver.pool_set(
	    pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(&cuda->driver, rc, err,
		    "cuMemPoolSetAttribute release threshold");
	cuda->pool = pool;
	return 0;
}

int cuda_pool_alloc(struct sv_device *device, struct sv_stream *stream,
    size_t bytes, struct sv_buffer *out, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	CUdeviceptr address;
	CUresult rc;
	int code = open_pool(cuda, err);

	if (code != 0)
		return code;
	rc = cuda->driver.pool_alloc(&address, bytes, stream->handle);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(&cuda->driver, rc, err, "cuMemAllocAsync %s",
		    cuda_size(bytes).text);
	*out = (struct sv_buffer){.address = address,
	    .bytes = bytes,
	    .token = (void *)(uintptr_t)address};
	return 0;
}

int cuda_pool_free(struct sv_device *device, struct sv_stream *stream,
    struct sv_buffer *buffer, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	size_t bytes = buffer->bytes;
	CUresult rc;

	if (buffer->token == NULL)
		return 0;
	rc = cuda->driver.pool_free(buffer->address, stream->handle);
	*buffer = (struct sv_buffer){0};
	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(&cuda->driver, rc, err, "cuMemFreeAsync %s",
			 cuda_size(bytes).text);
}

int cuda_pool_trim(struct sv_device *device, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	CUresult rc;
	int code;

	code = open_pool(cuda, err);
	/* What a stream has not come to free yet cannot be given back. */
	if (code == 0)
		code = cuda_device_sync(device, SV_WAIT_SPIN, err);
	if (code != 0)
		return code;
	rc = cuda->driver.pool_trim(cuda->pool, 0);
	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(&cuda->driver, rc, err, "cuMemPoolTrimTo 0");
}

int cuda_can_memory(
    struct sv_device *device, enum sv_memory kind, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);

	if (kind == SV_MAPPED &&
	    cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) == 0)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "mapped memory: the driver says that this device cannot "
		    "read host memory in place");
	return kind == SV_MAPPED ? cuda_can_kernel(device, "svk_copy", err) : 0;
}

/* Flags of cuMemHostAlloc. */
static unsigned flags_of(enum sv_memory kind)
{
	return kind == SV_WRITECOMBINED ? CU_MEMHOSTALLOC_WRITECOMBINED
	       : kind == SV_MAPPED	? CU_MEMHOSTALLOC_DEVICEMAP
					: 0;
}

/* Locked memory of the driver's. */
static int alloc_locked(struct cuda_device *cuda, enum sv_memory kind,
    size_t bytes, int node, void **out, struct sv_err *err)
{
	struct cuda_placement placement;
	void *data = NULL;
	CUresult rc;
	int code = cuda_placement_begin(&placement, node, err);

	if (code != 0)
		return code;
	rc = cuda->driver.host_alloc(&data, bytes, flags_of(kind));
	code = cuda_placement_end(&placement, err);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(&cuda->driver, rc, err,
		    "cuMemHostAlloc %s (locked memory; ulimit -l may limit "
		    "it)",
		    cuda_size(bytes).text);
	if (code != 0) {
		cuda_late(cuda, cuda->driver.host_free(data), "cuMemFreeHost");
		return code;
	}
	*out = data;
	return 0;
}

/* Ordinary pages, each touched once. */
static int alloc_pages(size_t bytes, int node, void **out, struct sv_err *err)
{
	void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int code;

	if (data == MAP_FAILED)
		return sv_err_set(err, SV_ERESOURCE, "mmap %s: %s",
		    cuda_size(bytes).text, strerror(errno));
	code = cuda_placement_bind(data, bytes, node, err);
	if (code != 0) {
		munmap(data, bytes);
		return code;
	}
	memset(data, 0, bytes);
	*out = data;
	return 0;
}

/* Whether the pages are where they shall be, as far as the system says. */
static int check_node(const void *data, int node, struct sv_err *err)
{
	int found = node < 0 ? -1 : cuda_placement_of(data);

	if (found < 0 || found == node)
		return 0;
	return sv_err_set(err, SV_ERESOURCE,
	    "host memory: asked for on NUMA node %d, it is on node %d", node,
	    found);
}

int cuda_host_alloc(struct sv_device *device, enum sv_memory kind, size_t bytes,
    int numa_node, struct sv_hostmem *out, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	struct sv_hostmem memory = {.bytes = bytes, .kind = kind};
	int node = -1, code = 0;

	if (numa_node >= 0)
		code = cuda_placement_node(
		    cuda->pci_address, numa_node, &node, err);
	if (code != 0)
		return code;
	if (kind == SV_PAGEABLE || kind == SV_REGISTERED)
		code = alloc_pages(bytes, node, &memory.data, err);
	else
		code = alloc_locked(cuda, kind, bytes, node, &memory.data, err);
	if (code != 0)
		return code;
	if (kind == SV_REGISTERED) {
		CUresult rc = cuda->driver.host_register(memory.data, bytes, 0);

		if (rc != CUDA_SUCCESS) {
			munmap(memory.data, bytes);
			return cuda_fail(&cuda->driver, rc, err,
			    "cuMemHostRegister %s (ulimit -l may limit it)",
			    cuda_size(bytes).text);
		}
	}
	memory.token = memory.data;
	code = check_node(memory.data, node, err);
	if (code != 0) {
		cuda_host_free(device, &memory);
		return code;
	}
	*out = memory;
	return 0;
}

void cuda_host_free(struct sv_device *device, struct sv_hostmem *memory)
{
	struct cuda_device *cuda = cuda_of(device);

	if (memory == NULL || memory->token == NULL)
		return;
	if (memory->kind == SV_REGISTERED)
		cuda_late(cuda, cuda->driver.host_unregister(memory->token),
		    "cuMemHostUnregister %s", cuda_size(memory->bytes).text);
	if (memory->kind == SV_PAGEABLE || memory->kind == SV_REGISTERED)
		munmap(memory->token, memory->bytes);
	else
		cuda_late(cuda, cuda->driver.host_free(memory->token),
		    "cuMemFreeHost %s", cuda_size(memory->bytes).text);
	*memory = (struct sv_hostmem){0};
}
