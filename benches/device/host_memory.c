/*
 * Device memory of the host backend (populated anonymous mappings, and a pool
 * of freed ones), and the kinds of host memory that copies use.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host.h"

/* A pool hands out whole pages; blocks of one size replace each other. */
struct host_block {
	struct host_block *next;
	void *data;
	size_t bytes;
};

static void *map_pages(size_t bytes)
{
	void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return data == MAP_FAILED ? NULL : data;
}

/*
 * Device memory begins a cache line into its pages, host memory at their
 * start: with equal offsets in a page the processor takes loads for waiting
 * on stores to the same address (4 KiB aliasing), a cost of copying within
 * one memory that copies between two do not have.
 */
#define DEVICE_OFFSET 64

int host_alloc(struct sv_device *device, size_t bytes, struct sv_buffer *out,
    struct sv_err *err)
{
	unsigned char *data = map_pages(bytes + DEVICE_OFFSET);

	(void)device;
	if (data == NULL)
		return sv_err_set(err, SV_ERESOURCE, "mmap %zu MiB: %s",
		    bytes >> 20, strerror(errno));
	*out = (struct sv_buffer){
	    .address = (uint64_t)(uintptr_t)(data + DEVICE_OFFSET),
	    .bytes = bytes,
	    .token = data};
	return 0;
}

int host_free(
    struct sv_device *device, struct sv_buffer *buffer, struct sv_err *err)
{
	int code;

	if (buffer->token == NULL)
		return 0;
	/* Work in flight may use it: wait, as drivers do. */
	code = host_device_sync(device, SV_WAIT_SPIN, err);
	if (munmap(buffer->token, buffer->bytes + DEVICE_OFFSET) != 0 &&
	    code == 0)
		code =
		    sv_err_set(err, SV_ESYSTEM, "munmap: %s", strerror(errno));
	*buffer = (struct sv_buffer){0};
	return code;
}

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

int host_pool_alloc(struct sv_device *device, struct sv_stream *stream,
    size_t bytes, struct sv_buffer *out, struct sv_err *err)
{
	struct host_device *host = (struct host_device *)device;
	size_t wanted = whole_pages(bytes);
	struct host_block **link = &host->cached;
	struct host_block *block;

	(void)stream;
	while (*link != NULL && (*link)->bytes != wanted)
		link = &(*link)->next;
	block = *link;
	if (block != NULL) {
		*link = block->next;
	} else {
		block = malloc(sizeof *block);
		if (block != NULL)
			*block = (struct host_block){
			    .data = map_pages(wanted), .bytes = wanted};
		if (block == NULL || block->data == NULL) {
			free(block);
			return sv_err_set(err, SV_ERESOURCE,
			    "pool: mmap %zu MiB: %s", wanted >> 20,
			    strerror(errno));
		}
	}
	*out = (struct sv_buffer){.address = (uint64_t)(uintptr_t)block->data,
	    .bytes = bytes,
	    .token = block};
	return 0;
}

int host_pool_free(struct sv_device *device, struct sv_stream *stream,
    struct sv_buffer *buffer, struct sv_err *err)
{
	struct host_device *host = (struct host_device *)device;
	struct host_block *block = buffer->token;

	(void)stream;
	(void)err;
	if (block == NULL)
		return 0;
	/* The next owner's work comes later on the stream: no wait here. */
	block->next = host->cached;
	host->cached = block;
	*buffer = (struct sv_buffer){0};
	return 0;
}

int host_pool_trim(struct sv_device *device, struct sv_err *err)
{
	struct host_device *host = (struct host_device *)device;
	int code = host_device_sync(device, SV_WAIT_SPIN, err);

	while (host->cached != NULL) {
		struct host_block *block = host->cached;

		host->cached = block->next;
		munmap(block->data, block->bytes);
		free(block);
	}
	return code;
}

int host_memory_can(
    struct sv_device *device, enum sv_memory kind, struct sv_err *err)
{
	(void)device;
	switch (kind) {
	case SV_PAGEABLE:
	case SV_PINNED:
		return 0;
	case SV_REGISTERED:
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "on the host, registering memory is locking its pages: "
		    "the same as pinned");
	case SV_WRITECOMBINED:
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "write-combined pages need a device driver to map them");
	case SV_MAPPED:
		break;
	}
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "the host backend's device memory is host memory: everything is "
	    "mapped");
}

int host_memory_alloc(struct sv_device *device, enum sv_memory kind,
    size_t bytes, int numa_node, struct sv_hostmem *out, struct sv_err *err)
{
	struct rlimit limit;
	void *data;
	int code = host_memory_can(device, kind, err);

	(void)numa_node;
	if (code != 0)
		return code;
	data = map_pages(bytes);
	if (data == NULL)
		return sv_err_set(err, SV_ERESOURCE, "host memory, %zu MiB: %s",
		    bytes >> 20, strerror(errno));
	if (kind == SV_PINNED && mlock(data, bytes) != 0) {
		int cause = errno;

		munmap(data, bytes);
		if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
		    limit.rlim_cur == RLIM_INFINITY)
			return sv_err_set(err, SV_ERESOURCE,
			    "mlock %zu KiB: %s", bytes >> 10, strerror(cause));
		return sv_err_set(err, SV_EPERMISSION,
		    "mlock %zu KiB: %s; the limit (ulimit -l) is %llu KiB",
		    bytes >> 10, strerror(cause),
		    (unsigned long long)limit.rlim_cur >> 10);
	}
	*out = (struct sv_hostmem){
	    .data = data, .bytes = bytes, .kind = kind, .token = data};
	return 0;
}

void host_memory_free(struct sv_device *device, struct sv_hostmem *memory)
{
	(void)device;
	if (memory == NULL || memory->token == NULL)
		return;
	munmap(memory->token, memory->bytes);
	*memory = (struct sv_hostmem){0};
}
