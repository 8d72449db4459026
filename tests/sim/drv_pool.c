/*
 * Driver entry points: memory pools. A pool takes segments from the device,
 * hands out pieces of them, and keeps what comes back until it is trimmed or
 * a wait finds more than its threshold unused. Pieces are reused at once:
 * one stream at a time uses a pool here, whose order makes that right.
 */
#include "drv.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_STEP (UINT64_C(2) << 20)
#define PIECE_STEP   512

/* A part of a segment; the list of a segment's pieces covers it. */
struct piece {
	struct piece *next;
	uint64_t address, bytes;
	bool used;
};

struct segment {
	struct segment *next;
	struct sim_span *span;
	struct piece *pieces;
};

struct sim_pool {
	struct sim_pool *next;
	struct sim_device *device;
	struct segment *segments;
	uint64_t threshold;
	uint64_t reserved, reserved_high, used, used_high;
};

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

bool sim_pool_owns(struct sim_pool *pool, uint64_t address, uint64_t bytes)
{
	for (struct segment *s = pool->segments; s != NULL; s = s->next) {
		if (address < s->span->address ||
		    address >= s->span->address + s->span->bytes)
			continue;
		for (struct piece *p = s->pieces; p != NULL; p = p->next)
			if (p->used && address >= p->address &&
			    address + bytes <= p->address + p->bytes)
				return true;
	}
	return false;
}

static struct sim_pool *pool_new(struct sim_device *device)
{
	struct sim_pool *pool = calloc(1, sizeof *pool);

	if (pool == NULL)
		return NULL;
	pool->device = device;
	pool->next = device->pools;
	device->pools = pool;
	return pool;
}

static struct sim_pool *default_pool(struct sim_device *device)
{
	if (device->default_pool == NULL)
		device->default_pool = pool_new(device);
	return device->default_pool;
}

static struct sim_pool *current_pool(struct sim_device *device)
{
	return device->current_pool != NULL ? device->current_pool
					    : default_pool(device);
}

/* A handle's pool on any device, NULL for none. */
static struct sim_pool *pool_of(CUmemoryPool handle)
{
	for (size_t i = 0; i < sim.config.n_devices; i++)
		for (struct sim_pool *p = sim.config.devices[i].pools;
		     p != NULL; p = p->next)
			if ((void *)p == (void *)handle)
				return p;
	return NULL;
}

static void free_segment(struct sim_pool *pool, struct segment **place)
{
	struct segment *gone = *place;

	*place = gone->next;
	pool->reserved -= gone->span->bytes;
	while (gone->pieces != NULL) {
		struct piece *p = gone->pieces;

		gone->pieces = p->next;
		free(p);
	}
	sim_span_free(gone->span);
	free(gone);
}

static bool unused(const struct segment *segment)
{
	return segment->pieces->next == NULL && !segment->pieces->used;
}

static void trim(struct sim_pool *pool, uint64_t keep)
{
	struct segment **place = &pool->segments;

	while (*place != NULL && pool->reserved > keep)
		if (unused(*place))
			free_segment(pool, place);
		else
			place = &(*place)->next;
}

void sim_pools_trim_on_sync(struct sim_device *device)
{
	for (struct sim_pool *p = device->pools; p != NULL; p = p->next)
		trim(p, p->threshold);
}

static void pool_free(struct sim_pool *pool)
{
	struct sim_device *device = pool->device;
	struct sim_pool **place = &device->pools;

	while (pool->segments != NULL)
		free_segment(pool, &pool->segments);
	while (*place != pool)
		place = &(*place)->next;
	*place = pool->next;
	if (device->default_pool == pool)
		device->default_pool = NULL;
	if (device->current_pool == pool)
		device->current_pool = NULL;
	free(pool);
}

void sim_pools_free(struct sim_device *device)
{
	while (device->pools != NULL)
		pool_free(device->pools);
}

/* Take more from the device: costs what an allocation there costs. */
static int grow(struct sim_pool *pool, uint64_t bytes)
{
	struct segment *segment = calloc(1, sizeof *segment);
	struct piece *piece = calloc(1, sizeof *piece);
	int rc = CUDA_ERROR_OUT_OF_MEMORY;

	bytes = round_up(bytes, SEGMENT_STEP);
	if (segment != NULL && piece != NULL)
		rc = sim_span_new(pool->device, bytes, &segment->span);
	if (rc != 0) {
		free(segment);
		free(piece);
		return rc;
	}
	sim_spend(pool->device->is.alloc_s +
		  pool->device->is.alloc_s_per_byte * (double)bytes);
	piece->address = segment->span->address;
	piece->bytes = bytes;
	segment->pieces = piece;
	segment->span->pool = pool;
	segment->next = pool->segments;
	pool->segments = segment;
	pool->reserved += bytes;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	return 0;
}

/* The smallest unused piece that is large enough, or NULL. */
static struct piece *best_fit(struct sim_pool *pool, uint64_t bytes)
{
	struct piece *best = NULL;

	for (struct segment *s = pool->segments; s != NULL; s = s->next)
		for (struct piece *p = s->pieces; p != NULL; p = p->next)
			if (!p->used && p->bytes >= bytes &&
			    (best == NULL || p->bytes < best->bytes))
				best = p;
	return best;
}

static int take(struct sim_pool *pool, uint64_t bytes, CUdeviceptr *out)
{
	struct piece *piece, *rest;

	bytes = round_up(bytes, PIECE_STEP);
	piece = best_fit(pool, bytes);
	if (piece == NULL) {
		int rc = grow(pool, bytes);

		if (rc != 0)
			return rc;
		piece = best_fit(pool, bytes);
	}
	if (piece->bytes > bytes) {
		rest = calloc(1, sizeof *rest);
		if (rest == NULL)
			return CUDA_ERROR_OUT_OF_MEMORY;
		rest->next = piece->next;
		rest->address = piece->address + bytes;
		rest->bytes = piece->bytes - bytes;
		piece->next = rest;
		piece->bytes = bytes;
	}
	piece->used = true;
	pool->used += bytes;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	*out = piece->address;
	return 0;
}

/* Unused neighbours become one. */
static void join(struct segment *segment)
{
	struct piece *p = segment->pieces;

	while (p->next != NULL) {
		struct piece *next = p->next;

		if (p->used || next->used) {
			p = next;
			continue;
		}
		p->bytes += next->bytes;
		p->next = next->next;
		free(next);
	}
}

static int give_back(CUdeviceptr address)
{
	struct sim_span *span = sim_span_find(address, 1);

	if (span == NULL || span->pool == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct segment *s = span->pool->segments; s != NULL; s = s->next)
		for (struct piece *p = s->pieces; p != NULL; p = p->next) {
			if (!p->used || p->address != address)
				continue;
			p->used = false;
			span->pool->used -= p->bytes;
			join(s);
			return 0;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

static int alloc_async(
    CUdeviceptr *out, size_t bytes, CUmemoryPool handle, CUstream stream_handle)
{
	struct sim_stream *stream;
	struct sim_pool *pool;
	int rc = drv_stream(stream_handle, &stream);

	if (rc != 0)
		return rc;
	pool = handle == NULL ? current_pool(stream->device) : pool_of(handle);
	if (pool == NULL || out == NULL || bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	sim_spend(stream->device->is.pool_alloc_s);
	return take(pool, bytes, out);
}

CUresult CUDAAPI cuMemAllocAsync(
    CUdeviceptr *out, size_t bytes, CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : alloc_async(out, bytes, NULL, stream));
}

CUresult CUDAAPI cuMemAllocFromPoolAsync(
    CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && pool == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	return drv_leave(rc != 0 ? rc : alloc_async(out, bytes, pool, stream));
}

/* Memory that work in flight uses is still right: that work comes first. */
static int free_async(CUdeviceptr address, CUstream handle)
{
	struct sim_stream *stream;
	struct sim_span *span;
	int rc = drv_stream(handle, &stream);

	if (rc != 0)
		return rc;
	span = sim_span_find(address, 1);
	if (span != NULL && span->pool == NULL && span->address == address) {
		sim_wait_device(span->device);
		sim_span_free(span);
		return 0;
	}
	return give_back(address);
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : free_async(address, stream));
}

static int trim_to(CUmemoryPool handle, size_t keep)
{
	struct sim_pool *pool = pool_of(handle);

	if (pool == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	sim_wait_device(pool->device);
	sim_spend(pool->device->is.trim_s);
	trim(pool, keep);
	return 0;
}

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : trim_to(pool, keep));
}

static int set_attribute(
    CUmemoryPool handle, CUmemPool_attribute which, void *value)
{
	struct sim_pool *pool = pool_of(handle);
	cuuint64_t number;

	if (pool == NULL || value == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	switch (which) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		memcpy(&number, value, sizeof number);
		pool->threshold = number;
		return 0;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		pool->reserved_high = pool->reserved;
		return 0;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		pool->used_high = pool->used;
		return 0;
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		return 0;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult CUDAAPI cuMemPoolSetAttribute(
    CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : set_attribute(pool, which, value));
}

static int get_attribute(
    CUmemoryPool handle, CUmemPool_attribute which, void *value)
{
	struct sim_pool *pool = pool_of(handle);
	cuuint64_t number;

	if (pool == NULL || value == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	switch (which) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		number = pool->threshold;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		number = pool->reserved;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		number = pool->reserved_high;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		number = pool->used;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		number = pool->used_high;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	memcpy(value, &number, sizeof number);
	return 0;
}

CUresult CUDAAPI cuMemPoolGetAttribute(
    CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : get_attribute(pool, which, value));
}

static int create(CUmemoryPool *out, const CUmemPoolProps *props)
{
	struct sim_device *device;
	struct sim_pool *pool;

	if (out == NULL || props == NULL ||
	    props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	device = drv_device(props->location.id);
	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	pool = pool_new(device);
	if (pool == NULL)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (CUmemoryPool)(void *)pool;
	return 0;
}

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : create(out, props));
}

static int destroy(CUmemoryPool handle)
{
	struct sim_pool *pool = pool_of(handle);

	if (pool == NULL || pool == pool->device->default_pool)
		return CUDA_ERROR_INVALID_VALUE;
	sim_wait_device(pool->device);
	pool_free(pool);
	return 0;
}

CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : destroy(pool));
}

static int device_pool(CUmemoryPool *out, CUdevice index, bool current)
{
	struct sim_device *device = drv_device(index);
	struct sim_pool *pool;

	if (device == NULL)
		return CUDA_ERROR_INVALID_DEVICE;
	pool = current ? current_pool(device) : default_pool(device);
	if (pool == NULL)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (CUmemoryPool)(void *)pool;
	return 0;
}

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : device_pool(out, index, false));
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *out, CUdevice index)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : device_pool(out, index, true));
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice index, CUmemoryPool handle)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && drv_device(index) == NULL)
		rc = CUDA_ERROR_INVALID_DEVICE;
	else if (rc == 0 && pool_of(handle) == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0)
		drv_device(index)->current_pool = pool_of(handle);
	return drv_leave(rc);
}
