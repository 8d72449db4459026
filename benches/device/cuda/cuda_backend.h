/*
 * The CUDA backend's own types, shared among its files and seen by nobody
 * else. One host thread drives it; the device opened last is the
 * current one unless cuda_peer_use says another.
 */
#ifndef STAVE_CUDA_BACKEND_H
#define STAVE_CUDA_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_driver.h"
#include "cuda_nvml.h"
#include "stave/device.h"

#define CUDA_MAX_KERNELS 64
#define CUDA_MAX_IMAGES	 64

/* An image of kernels, embedded by the build: one for each .cu file. */
struct cuda_image {
	const char *name; /* the file's stem */
	const unsigned char *data;
};

extern const struct cuda_image cuda_images[];
extern const size_t cuda_images_count;
/* What the images have code for (80 for sm_80), ended by 0. */
extern const int cuda_image_archs[];
/* Compute capability of the intermediate code in them, in the same form. */
extern const int cuda_image_ptx;
/* The toolkit that made them ("13.0"). */
extern const char *const cuda_image_toolkit;

struct cuda_blas;

/* A kernel looked up once. */
struct cuda_kernel {
	char name[48];
	size_t args_bytes;
	CUfunction function;
};

struct cuda_device {
	struct sv_device device; /* first: what benchmarks see */
	struct cuda_driver driver;
	struct cuda_nvml nvml;
	struct cuda_blas *blas; /* NULL until a product is asked for */
	char blas_missing[96];	/* why it could not be opened */
	CUdevice handle;
	CUcontext context;
	int index;
	char name[256], uuid[64], pci_address[32];
	int major, minor; /* compute capability */
	unsigned units;
	uint64_t memory_bytes, cache_bytes;
	bool retained;
	enum sv_wait wait; /* what the context's flags say */
	CUmodule modules[CUDA_MAX_IMAGES];
	struct cuda_kernel kernels[CUDA_MAX_KERNELS];
	size_t n_kernels;
	CUmemoryPool pool;  /* NULL until used */
	struct sv_err late; /* first error of a function that returns none */
	/* The card before there was a context, which wakes it. */
	struct cuda_reading idle_generation, idle_width;
	struct cuda_reading idle_sm_MHz, idle_memory_MHz;
};

/* Flags of holds; as many can be under way before a stream must be waited for.
 */
#define CUDA_HOLDS 64

struct sv_stream {
	struct cuda_device *cuda;
	CUstream handle;
	volatile uint32_t *flags; /* [CUDA_HOLDS], mapped host memory */
	CUdeviceptr flags_address;
	unsigned holds; /* begun so far */
	bool held;
	uint64_t held_since_ns;
};

struct sv_event {
	struct cuda_device *cuda;
	CUevent handle;
};

struct sv_graph {
	CUgraphExec handle;
};

static inline struct cuda_device *cuda_of(struct sv_device *device)
{
	return (struct cuda_device *)(void *)device;
}

/* Keep the error of a call whose caller can tell nobody, unless the context is
 * broken anyway. */
SV_PRINTF(3, 4)
void cuda_late(struct cuda_device *, CUresult, const char *what, ...);

/* An attribute of the device, 0 where the driver does not know it. */
int cuda_attribute(struct cuda_device *, CUdevice_attribute);

/* modules and kernels */
/* Whether an image has code that this capability can run, or be made to. */
bool cuda_images_suit(int major, int minor);
/* "sm_80, sm_86 and PTX for sm_75, made with CUDA 13.0" */
void cuda_images_describe(char *out, size_t room);
SV_MUST_CHECK int cuda_modules_load(struct cuda_device *, struct sv_err *err);
void cuda_modules_unload(struct cuda_device *);
int cuda_can_kernel(struct sv_device *, const char *name, struct sv_err *err);
int cuda_launch(struct sv_stream *, const char *kernel, struct sv_grid,
    const void *args, size_t args_bytes, struct sv_err *err);
int cuda_first_launch(
    struct sv_device *, double *elapsed_ns, struct sv_err *err);
int cuda_graph_new(struct sv_device *, const char *kernel, struct sv_grid,
    const void *args, size_t args_bytes, size_t nodes, struct sv_graph **out,
    struct sv_err *err);
void cuda_graph_free(struct sv_device *, struct sv_graph *);
int cuda_graph_launch(
    struct sv_stream *, struct sv_graph *, struct sv_err *err);

/* memory */
int cuda_can_memory(struct sv_device *, enum sv_memory, struct sv_err *err);
int cuda_host_alloc(struct sv_device *, enum sv_memory, size_t bytes,
    int numa_node, struct sv_hostmem *out, struct sv_err *err);
void cuda_host_free(struct sv_device *, struct sv_hostmem *);
int cuda_alloc(
    struct sv_device *, size_t bytes, struct sv_buffer *out, struct sv_err *);
int cuda_free(struct sv_device *, struct sv_buffer *, struct sv_err *err);
int cuda_pool_alloc(struct sv_device *, struct sv_stream *, size_t bytes,
    struct sv_buffer *out, struct sv_err *err);
int cuda_pool_free(struct sv_device *, struct sv_stream *, struct sv_buffer *,
    struct sv_err *err);
int cuda_pool_trim(struct sv_device *, struct sv_err *err);

/* streams */
int cuda_stream_new(
    struct sv_device *, struct sv_stream **out, struct sv_err *err);
void cuda_stream_free(struct sv_device *, struct sv_stream *);
int cuda_event_new(
    struct sv_device *, struct sv_event **out, struct sv_err *err);
void cuda_event_free(struct sv_device *, struct sv_event *);
int cuda_event_record(struct sv_stream *, struct sv_event *, struct sv_err *);
int cuda_stream_wait_event(
    struct sv_stream *, struct sv_event *, struct sv_err *err);
int cuda_event_elapsed_ns(struct sv_event *from, struct sv_event *to,
    double *elapsed_ns, struct sv_err *err);
int cuda_can_wait(struct sv_device *, enum sv_wait, struct sv_err *err);
int cuda_stream_sync(struct sv_stream *, enum sv_wait, struct sv_err *err);
int cuda_event_sync(struct sv_event *, enum sv_wait, struct sv_err *err);
int cuda_device_sync(struct sv_device *, enum sv_wait, struct sv_err *err);
int cuda_copy(struct sv_stream *, enum sv_direction, struct sv_buffer *device,
    size_t device_offset, struct sv_hostmem *host, size_t host_offset,
    size_t bytes, struct sv_err *err);
int cuda_readback(struct sv_stream *, struct sv_buffer *, size_t offset,
    void *out, size_t bytes, enum sv_wait, struct sv_err *err);
int cuda_hold(struct sv_stream *, struct sv_err *err);
int cuda_release(struct sv_stream *, struct sv_err *err);

/* products */
int cuda_can_precision(
    struct sv_device *, enum sv_precision, struct sv_err *err);
void cuda_gemm_bytes(
    struct sv_device *, enum sv_precision, size_t *operand, size_t *result);
int cuda_gemm(struct sv_stream *, const struct sv_gemm *, struct sv_err *err);
/* Version of cuBLAS as its makers write it; false where it is not open. */
bool cuda_blas_version(const struct cuda_device *, char *out, size_t room);
void cuda_blas_close(struct cuda_device *);
/* The stream goes; another may come to have the same handle. */
void cuda_blas_forget(struct cuda_device *, CUstream);

/* other devices */
/* Open a device by its index; closed by cuda_close_device. */
SV_MUST_CHECK int cuda_open_index(
    struct sv_device **out, int index, struct sv_err *err);
void cuda_close_device(struct sv_device *);
int cuda_peer_can(
    struct sv_device *, int from, int to, bool direct, struct sv_err *err);
int cuda_peer_open(
    struct sv_device *, int index, struct sv_device **out, struct sv_err *err);
void cuda_peer_close(struct sv_device *, struct sv_device *peer);
int cuda_peer_use(struct sv_device *, struct sv_err *err);
int cuda_peer_access(
    struct sv_device *, struct sv_device *, bool direct, struct sv_err *err);
int cuda_peer_copy(struct sv_stream *, struct sv_device *to_device,
    struct sv_buffer *to, struct sv_device *from_device, struct sv_buffer *from,
    size_t bytes, struct sv_err *err);

/* facts */
void cuda_describe(struct sv_device *, struct sv_facts *);
void cuda_state(struct sv_device *, struct sv_facts *);

#endif
