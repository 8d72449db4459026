/*
 * Streams of the host backend: one thread each, fed through a ring that one
 * host thread fills. What a launch costs here is what it costs to fill a slot
 * and, where the thread sleeps, to wake it.
 */
#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "timing.h"
#include "waiting.h"

/* A copy that takes so long that its core should be free to choose. */
#define LONG_COPY_BYTES ((size_t)1 << 20)

/* How a thread waits for a stream where a moment more does not matter. */
#define YIELDS 20
#define NAP_NS 20000

enum item_kind {
	ITEM_KERNEL,
	ITEM_GRAPH,
	ITEM_GEMM,
	ITEM_COPY,
	ITEM_RECORD,
	ITEM_WAIT,
	ITEM_HOLD,
	ITEM_QUIT,
};

struct item {
	enum item_kind kind;
	union {
		const struct host_kernel *kernel;
		struct sv_graph *graph;
		struct sv_gemm gemm;
		struct {
			void *to;
			const void *from;
			size_t bytes;
		} copy;
		struct {
			struct sv_event *event;
			unsigned number; /* of this recording */
		} mark;
		unsigned hold; /* number of this hold */
	} u;
	unsigned char args[HOST_ARGS_BYTES];
};

struct sv_stream {
	struct host_device *host;
	pthread_t thread;
	struct item *ring; /* [HOST_QUEUE_DEPTH] */
	/* Items put in and items done, ever; each written by one side. */
	atomic_ulong pushed, done;
	atomic_uint holds, released; /* holds begun by the host, let go */
	atomic_bool hold_timed_out;
	pthread_mutex_t lock;
	pthread_cond_t wake, progress;
	atomic_bool asleep;   /* the thread is, or is about to be */
	atomic_uint sleepers; /* hosts that wait for progress */
	bool wide;	      /* the thread may use all cores now */
};

static void hold_until_released(struct sv_stream *s, unsigned number)
{
	uint64_t limit = sv_now_ns() + HOST_HOLD_LIMIT_NS;

	while ((int)(atomic_load(&s->released) - number) < 0) {
		if (sv_now_ns() > limit) {
			atomic_store(&s->hold_timed_out, true);
			return;
		}
		sched_yield();
	}
}

/* Whether a stream has come to the event's recording of this number. */
static bool has_reached(const struct sv_event *event, unsigned number)
{
	return (int)(atomic_load(&event->reached) - number) >= 0;
}

/*
 * The i-th turn of waiting for the device: soon asleep, since the device may
 * need the core that is waited on.
 */
static void give_way(unsigned i)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	if (i < YIELDS)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

/* One stream's wait for another. */
static void await_mark(const struct sv_event *event, unsigned number)
{
	for (unsigned i = 0; !has_reached(event, number); i++)
		give_way(i);
}

/*
 * Cores for what comes next: all of them for wide work, so that it can go
 * where its helpers are not. Changing costs a microsecond, so markers in
 * between change nothing.
 */
static void choose_cores(struct sv_stream *s, const struct item *item)
{
	bool wide =
	    item->kind == ITEM_GEMM ||
	    (item->kind == ITEM_KERNEL && item->u.kernel->wide) ||
	    (item->kind == ITEM_GRAPH && item->u.graph->kernel->wide) ||
	    (item->kind == ITEM_COPY && item->u.copy.bytes >= LONG_COPY_BYTES);
	bool work = item->kind == ITEM_KERNEL || item->kind == ITEM_GRAPH ||
		    item->kind == ITEM_GEMM || item->kind == ITEM_COPY;

	if (!work || wide == s->wide || CPU_COUNT(&s->host->before) < 2)
		return;
	s->wide = wide;
	(void)sched_setaffinity(0, sizeof(cpu_set_t),
	    wide ? &s->host->before : &s->host->stream_cpus);
}

static void run_item(struct sv_stream *s, const struct item *item)
{
	struct host_team *team = s->host->team;

	choose_cores(s, item);

	switch (item->kind) {
	case ITEM_KERNEL:
		item->u.kernel->run(team, item->args);
		break;
	case ITEM_GRAPH:
		for (size_t i = 0; i < item->u.graph->nodes; i++)
			item->u.graph->kernel->run(team, item->u.graph->args);
		break;
	case ITEM_GEMM:
		host_gemm_run(&item->u.gemm);
		break;
	case ITEM_COPY:
		memcpy(item->u.copy.to, item->u.copy.from, item->u.copy.bytes);
		break;
	case ITEM_RECORD:
		item->u.mark.event->ns = sv_now_ns();
		atomic_store(&item->u.mark.event->reached, item->u.mark.number);
		break;
	case ITEM_WAIT:
		await_mark(item->u.mark.event, item->u.mark.number);
		break;
	case ITEM_HOLD:
		hold_until_released(s, item->u.hold);
		break;
	case ITEM_QUIT:
		break;
	}
}

/* Wait for the next item: spin a moment, then sleep. */
static void await_item(struct sv_stream *s, unsigned long next)
{
	/* With one core, spinning keeps the host from filling the queue. */
	unsigned spins = s->host->cores > 1 ? HOST_SPINS : 0;

	for (unsigned i = 0; i < spins; i++) {
		if (atomic_load(&s->pushed) != next)
			return;
		host_pause();
	}
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->asleep, true);
	while (atomic_load(&s->pushed) == next)
		pthread_cond_wait(&s->wake, &s->lock);
	atomic_store(&s->asleep, false);
	pthread_mutex_unlock(&s->lock);
}

static void *serve(void *state)
{
	struct sv_stream *s = state;

	for (unsigned long next = 0;; next++) {
		await_item(s, next);
		const struct item *item = &s->ring[next % HOST_QUEUE_DEPTH];
		bool quit = item->kind == ITEM_QUIT;

		run_item(s, item);
		atomic_store(&s->done, next + 1);
		if (atomic_load(&s->sleepers) > 0) {
			pthread_mutex_lock(&s->lock);
			pthread_cond_broadcast(&s->progress);
			pthread_mutex_unlock(&s->lock);
		}
		if (quit)
			return NULL;
	}
}

/*
 * The slot for the next item. Blocks when the queue is full, until there is
 * room for many: a host that woke up for each would take the device's core.
 */
static struct item *next_slot(struct sv_stream *s)
{
	unsigned long pushed = atomic_load(&s->pushed);
	unsigned long least = HOST_QUEUE_DEPTH;

	for (unsigned i = 0; pushed - atomic_load(&s->done) >= least; i++) {
		least = HOST_QUEUE_DEPTH - HOST_QUEUE_DEPTH / 4;
		give_way(i);
	}
	return &s->ring[pushed % HOST_QUEUE_DEPTH];
}

static void push(struct sv_stream *s)
{
	atomic_fetch_add(&s->pushed, 1);
	if (!atomic_load(&s->asleep))
		return;
	pthread_mutex_lock(&s->lock);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

int host_stream_new(
    struct sv_device *device, struct sv_stream **out, struct sv_err *err)
{
	struct host_device *host = (struct host_device *)device;
	struct sv_stream *s = NULL;
	pthread_attr_t attributes;
	size_t place = 0;
	int failed;

	while (place < HOST_MAX_STREAMS && host->streams[place] != NULL)
		place++;
	if (place == HOST_MAX_STREAMS)
		return sv_err_set(err, SV_ERESOURCE,
		    "stream: at most %d at once", HOST_MAX_STREAMS);
	s = calloc(1, sizeof *s);
	if (s != NULL)
		s->ring = calloc(HOST_QUEUE_DEPTH, sizeof *s->ring);
	if (s == NULL || s->ring == NULL)
		goto free_stream;
	s->host = host;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	pthread_cond_init(&s->progress, NULL);
	pthread_attr_init(&attributes);
	if (CPU_COUNT(&host->stream_cpus) > 0)
		pthread_attr_setaffinity_np(
		    &attributes, sizeof host->stream_cpus, &host->stream_cpus);
	failed = pthread_create(&s->thread, &attributes, serve, s);
	pthread_attr_destroy(&attributes);
	if (failed != 0)
		goto free_stream;
	host->streams[place] = s;
	*out = s;
	return 0;

free_stream:
	if (s != NULL)
		free(s->ring);
	free(s);
	return sv_err_set(err, SV_ERESOURCE, "stream: no memory or thread");
}

void host_stream_free(struct sv_device *device, struct sv_stream *s)
{
	struct host_device *host = (struct host_device *)device;

	if (s == NULL)
		return;
	/* A stream left held would never come to the end. */
	atomic_store(&s->released, atomic_load(&s->holds));
	next_slot(s)->kind = ITEM_QUIT;
	push(s);
	pthread_join(s->thread, NULL);
	for (size_t i = 0; i < HOST_MAX_STREAMS; i++)
		if (host->streams[i] == s)
			host->streams[i] = NULL;
	pthread_cond_destroy(&s->wake);
	pthread_cond_destroy(&s->progress);
	pthread_mutex_destroy(&s->lock);
	free(s->ring);
	free(s);
}

int host_event_new(
    struct sv_device *device, struct sv_event **out, struct sv_err *err)
{
	struct sv_event *event = calloc(1, sizeof *event);

	(void)device;
	if (event == NULL)
		return sv_err_set(err, SV_ERESOURCE, "event: out of memory");
	*out = event;
	return 0;
}

void host_event_free(struct sv_device *device, struct sv_event *event)
{
	(void)device;
	if (event != NULL)
		await_mark(event, atomic_load(&event->recorded));
	free(event);
}

int host_event_record(
    struct sv_stream *s, struct sv_event *event, struct sv_err *err)
{
	struct item *item = next_slot(s);

	(void)err;
	event->stream = s;
	item->kind = ITEM_RECORD;
	item->u.mark.event = event;
	item->u.mark.number = atomic_fetch_add(&event->recorded, 1) + 1;
	push(s);
	return 0;
}

int host_stream_wait_event(
    struct sv_stream *s, struct sv_event *event, struct sv_err *err)
{
	struct item *item = next_slot(s);

	(void)err;
	item->kind = ITEM_WAIT;
	item->u.mark.event = event;
	item->u.mark.number = atomic_load(&event->recorded);
	push(s);
	return 0;
}

int host_event_elapsed_ns(struct sv_event *from, struct sv_event *to,
    double *elapsed_ns, struct sv_err *err)
{
	if (from->stream == NULL || to->stream == NULL ||
	    !has_reached(from, atomic_load(&from->recorded)) ||
	    !has_reached(to, atomic_load(&to->recorded)))
		return sv_err_set(
		    err, SV_EDEVICE, "event: it has not happened yet");
	*elapsed_ns = (double)(int64_t)(to->ns - from->ns);
	return 0;
}

/*
 * Wait until the stream has done `count` items, or, where an event is given,
 * until it has been reached `count` times.
 */
static void wait_for(struct sv_stream *s, unsigned long count,
    struct sv_event *event, enum sv_wait how)
{
#define REACHED                                              \
	(event != NULL ? has_reached(event, (unsigned)count) \
		       : (long)(atomic_load(&s->done) - count) >= 0)
	if (how != SV_WAIT_BLOCK) {
		while (!REACHED) {
			/* On one core only yielding lets the stream run. */
			if (how == SV_WAIT_YIELD || s->host->cores < 2)
				sched_yield();
			else
				host_pause();
		}
		return;
	}
	if (REACHED)
		return;
	pthread_mutex_lock(&s->lock);
	atomic_fetch_add(&s->sleepers, 1);
	while (!REACHED)
		pthread_cond_wait(&s->progress, &s->lock);
	atomic_fetch_sub(&s->sleepers, 1);
	pthread_mutex_unlock(&s->lock);
#undef REACHED
}

int host_stream_sync(struct sv_stream *s, enum sv_wait how, struct sv_err *err)
{
	(void)err;
	wait_for(s, atomic_load(&s->pushed), NULL, how);
	return 0;
}

int host_event_sync(
    struct sv_event *event, enum sv_wait how, struct sv_err *err)
{
	(void)err;
	if (event->stream != NULL)
		wait_for(
		    event->stream, atomic_load(&event->recorded), event, how);
	return 0;
}

int host_device_sync(
    struct sv_device *device, enum sv_wait how, struct sv_err *err)
{
	struct host_device *host = (struct host_device *)device;

	(void)err;
	for (size_t i = 0; i < HOST_MAX_STREAMS; i++)
		if (host->streams[i] != NULL)
			wait_for(host->streams[i],
			    atomic_load(&host->streams[i]->pushed), NULL, how);
	return 0;
}

static void push_copy(
    struct sv_stream *s, void *to, const void *from, size_t bytes)
{
	struct item *item = next_slot(s);

	item->kind = ITEM_COPY;
	item->u.copy.to = to;
	item->u.copy.from = from;
	item->u.copy.bytes = bytes;
	push(s);
}

int host_copy(struct sv_stream *s, enum sv_direction direction,
    struct sv_buffer *device, size_t device_offset, struct sv_hostmem *host,
    size_t host_offset, size_t bytes, struct sv_err *err)
{
	unsigned char *there =
	    (unsigned char *)(uintptr_t)device->address + device_offset;
	unsigned char *here = (unsigned char *)host->data + host_offset;

	assert(device_offset + bytes <= device->bytes);
	assert(host_offset + bytes <= host->bytes);
	if (direction == SV_H2D)
		push_copy(s, there, here, bytes);
	else
		push_copy(s, here, there, bytes);
	/* As with a driver: a pageable copy is done when the call returns. */
	return host->kind == SV_PAGEABLE
		   ? host_stream_sync(s, SV_WAIT_SPIN, err)
		   : 0;
}

int host_readback(struct sv_stream *s, struct sv_buffer *buffer, size_t offset,
    void *out, size_t bytes, enum sv_wait how, struct sv_err *err)
{
	assert(offset + bytes <= buffer->bytes);
	push_copy(s, out,
	    (const unsigned char *)(uintptr_t)buffer->address + offset, bytes);
	return host_stream_sync(s, how, err);
}

static int find_kernel(const char *name, size_t args_bytes,
    const struct host_kernel **out, struct sv_err *err)
{
	*out = host_kernel_find(name);
	if (*out == NULL)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "kernel %s: the host backend has none of that name", name);
	if (args_bytes > HOST_ARGS_BYTES)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "kernel %s: %zu bytes of arguments, at most %d", name,
		    args_bytes, HOST_ARGS_BYTES);
	return 0;
}

int host_launch(struct sv_stream *s, const char *kernel, struct sv_grid grid,
    const void *args, size_t args_bytes, struct sv_err *err)
{
	const struct host_kernel *found;
	struct item *item;
	int code = find_kernel(kernel, args_bytes, &found, err);

	(void)grid;
	if (code != 0)
		return code;
	item = next_slot(s);
	item->kind = ITEM_KERNEL;
	item->u.kernel = found;
	if (args_bytes > 0)
		memcpy(item->args, args, args_bytes);
	push(s);
	return 0;
}

int host_hold(struct sv_stream *s, struct sv_err *err)
{
	struct item *item = next_slot(s);

	(void)err;
	atomic_store(&s->hold_timed_out, false);
	item->kind = ITEM_HOLD;
	item->u.hold = atomic_fetch_add(&s->holds, 1) + 1;
	push(s);
	return 0;
}

int host_release(struct sv_stream *s, struct sv_err *err)
{
	atomic_store(&s->released, atomic_load(&s->holds));
	if (atomic_load(&s->hold_timed_out))
		return sv_err_set(err, SV_ETIMEOUT,
		    "hold: %.0f s passed before the queue was filled",
		    HOST_HOLD_LIMIT_NS / 1e9);
	return 0;
}

int host_graph_new(struct sv_device *device, const char *kernel,
    struct sv_grid grid, const void *args, size_t args_bytes, size_t nodes,
    struct sv_graph **out, struct sv_err *err)
{
	const struct host_kernel *found;
	struct sv_graph *graph;
	int code = find_kernel(kernel, args_bytes, &found, err);

	(void)device;
	(void)grid;
	if (code != 0)
		return code;
	graph = calloc(1, sizeof *graph);
	if (graph == NULL)
		return sv_err_set(err, SV_ERESOURCE, "graph: out of memory");
	graph->kernel = found;
	graph->nodes = nodes;
	if (args_bytes > 0)
		memcpy(graph->args, args, args_bytes);
	*out = graph;
	return 0;
}

void host_graph_free(struct sv_device *device, struct sv_graph *graph)
{
	(void)device;
	free(graph);
}

int host_graph_launch(
    struct sv_stream *s, struct sv_graph *graph, struct sv_err *err)
{
	struct item *item = next_slot(s);

	(void)err;
	item->kind = ITEM_GRAPH;
	item->u.graph = graph;
	push(s);
	return 0;
}

int host_gemm(
    struct sv_stream *s, const struct sv_gemm *gemm, struct sv_err *err)
{
	struct item *item;
	int code = host_gemm_can(gemm->precision, err);

	if (code != 0)
		return code;
	item = next_slot(s);
	item->kind = ITEM_GEMM;
	item->u.gemm = *gemm;
	push(s);
	return 0;
}
