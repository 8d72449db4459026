/*
 * The host backend's own types. The machine's cores are the device: a stream
 * is a thread fed through a queue, device memory is an anonymous mapping.
 * Shared among the host*.c files, seen by nobody else.
 */
#ifndef STAVE_HOST_H
#define STAVE_HOST_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "stave/device.h"

#define HOST_QUEUE_DEPTH   1024 /* items a stream holds before it blocks */
#define HOST_ARGS_BYTES	   1024
#define HOST_MAX_STREAMS   16
#define HOST_HOLD_LIMIT_NS 2000000000u

struct host_team;

/* A part of a kernel's work, for one member of the team. */
typedef void host_part_fn(const void *args, unsigned member, unsigned members);

struct host_kernel {
	const char *name;
	bool wide; /* uses the team, and so all cores */
	/* Runs on the stream's thread. */
	void (*run)(struct host_team *, const void *args);
};

/* NULL when there is no kernel of that name. */
const struct host_kernel *host_kernel_find(const char *name);

extern const struct host_kernel host_transform_kernels[];
extern const size_t host_transform_kernels_count;
extern const struct host_kernel host_step_kernels[];
extern const size_t host_step_kernels_count;

/* Member's elements [*from, *to) of n, whole cache lines of floats each. */
void host_part(uint64_t n, unsigned member, unsigned members, uint64_t *from,
    uint64_t *to);

/* A team of `members` threads, the caller being one of them. */
struct host_team *host_team_new(unsigned members);
void host_team_free(struct host_team *);
unsigned host_team_members(const struct host_team *);
/* Run fn for every member at once and wait for all. One caller at a time. */
void host_team_run(struct host_team *, host_part_fn *fn, const void *args);
/* The same for work on n elements: by the caller alone where they are few. */
void host_team_share(
    struct host_team *, host_part_fn *fn, const void *args, uint64_t n);

struct host_device {
	struct sv_device device; /* first: what benchmarks see */
	char name[256];
	unsigned cores; /* usable: affinity and cgroup */
	/*
	 * The host thread keeps a core to itself, and the streams have the
	 * others for what is short: sharing one, each would wait for the
	 * other's time slice. What is wide uses all cores, `before`. All are
	 * alike where there is one core alone.
	 */
	cpu_set_t before, host_cpus, stream_cpus;
	struct host_team *team;
	struct sv_stream *streams[HOST_MAX_STREAMS];
	struct host_block *cached; /* freed into the pool, not yet trimmed */
};

struct sv_event {
	struct sv_stream *stream; /* last recorded on, or NULL */
	uint64_t ns;		  /* when the stream got there */
	/* How often it was recorded, and how often a stream got there. */
	atomic_uint recorded, reached;
};

struct sv_graph {
	const struct host_kernel *kernel;
	size_t nodes;
	unsigned char args[HOST_ARGS_BYTES];
};

/* memory */
int host_alloc(struct sv_device *, size_t bytes, struct sv_buffer *out,
    struct sv_err *err);
int host_free(struct sv_device *, struct sv_buffer *, struct sv_err *err);
int host_pool_alloc(struct sv_device *, struct sv_stream *, size_t bytes,
    struct sv_buffer *out, struct sv_err *err);
int host_pool_free(struct sv_device *, struct sv_stream *, struct sv_buffer *,
    struct sv_err *err);
int host_pool_trim(struct sv_device *, struct sv_err *err);
int host_memory_can(struct sv_device *, enum sv_memory, struct sv_err *err);
int host_memory_alloc(struct sv_device *, enum sv_memory, size_t bytes,
    int numa_node, struct sv_hostmem *out, struct sv_err *err);
void host_memory_free(struct sv_device *, struct sv_hostmem *);

/* streams */
int host_stream_new(
    struct sv_device *, struct sv_stream **out, struct sv_err *err);
void host_stream_free(struct sv_device *, struct sv_stream *);
int host_event_new(
    struct sv_device *, struct sv_event **out, struct sv_err *err);
void host_event_free(struct sv_device *, struct sv_event *);
int host_event_record(struct sv_stream *, struct sv_event *, struct sv_err *);
int host_stream_wait_event(
    struct sv_stream *, struct sv_event *, struct sv_err *err);
int host_event_elapsed_ns(struct sv_event *from, struct sv_event *to,
    double *elapsed_ns, struct sv_err *err);
int host_stream_sync(struct sv_stream *, enum sv_wait, struct sv_err *err);
int host_event_sync(struct sv_event *, enum sv_wait, struct sv_err *err);
int host_device_sync(struct sv_device *, enum sv_wait, struct sv_err *err);
int host_copy(struct sv_stream *, enum sv_direction, struct sv_buffer *device,
    size_t device_offset, struct sv_hostmem *host, size_t host_offset,
    size_t bytes, struct sv_err *err);
int host_readback(struct sv_stream *, struct sv_buffer *, size_t offset,
    void *out, size_t bytes, enum sv_wait, struct sv_err *err);
int host_launch(struct sv_stream *, const char *kernel, struct sv_grid,
    const void *args, size_t args_bytes, struct sv_err *err);
int host_hold(struct sv_stream *, struct sv_err *err);
int host_release(struct sv_stream *, struct sv_err *err);
int host_graph_new(struct sv_device *, const char *kernel, struct sv_grid,
    const void *args, size_t args_bytes, size_t nodes, struct sv_graph **out,
    struct sv_err *err);
void host_graph_free(struct sv_device *, struct sv_graph *);
int host_graph_launch(
    struct sv_stream *, struct sv_graph *, struct sv_err *err);
int host_gemm(struct sv_stream *, const struct sv_gemm *, struct sv_err *err);

/* products, called on the stream's thread */
int host_gemm_can(enum sv_precision, struct sv_err *err);
void host_gemm_bytes(enum sv_precision, size_t *operand, size_t *result);
void host_gemm_run(const struct sv_gemm *);
/* What the BLAS says of itself: build and kernel in use. */
void host_gemm_describe(struct sv_facts *);
void host_gemm_threads(unsigned threads);

#endif
