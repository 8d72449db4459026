/*
 * Question: how fast do copies cross between host and device memory, by kind
 * of host memory, direction and size?
 * Method: n copies queued behind a held stream between two events (pinned
 * kinds); one after the other on the host's clock for pageable memory, whose
 * calls wait. Both ends rotate through four caches' worth of memory. bidir
 * runs one stream each way and counts the bytes of both.
 * Inside the timed region: the copies. Outside: allocation, locking, first
 * touch, verification.
 * Known bias: pageable includes the call itself; at 4 B everything is
 * latency.
 * Source: nvbandwidth's pattern (event, n copies, event behind a blocked
 * stream); method notes, section 2.
 */
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "pattern.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "timing.h"

/* Rotation never takes more than this of either memory. */
#define MAX_ROTATION_BYTES ((size_t)128 << 20)
/* Slots that are copied once more and compared. */
#define MAX_VERIFIED	   256
/*
 * Where more than this is to be compared, a window of each stride is: making
 * and reading the contents would otherwise take longer than the measurement.
 */
#define WHOLE_BYTES	   ((size_t)16 << 20)
#define STRIDE_BYTES	   ((size_t)1 << 20)
#define WINDOW_BYTES	   ((size_t)64 << 10)

static const struct sv_metric metrics[] = {
    {"bandwidth", SV_UNIT_BYTES_PER_SECOND, true,
	"bytes copied a second, each byte counted once"},
    {"latency", SV_UNIT_SECONDS, false,
	"time of one small copy, from the call until it is done"},
};

static const struct sv_value directions[] = {
    {"h2d", 0, SV_QUICK}, {"d2h", 0, SV_QUICK}, {"bidir", 0, SV_STANDARD}};
static const struct sv_value one_way[] = {
    {"h2d", 0, SV_QUICK}, {"d2h", 0, SV_QUICK}};
static const struct sv_value memories[] = {{"pinned", 0, SV_QUICK},
    {"pageable", 0, SV_QUICK}, {"registered", 0, SV_STANDARD},
    {"writecombined", 0, SV_STANDARD}, {"mapped", 0, SV_STANDARD}};
static const struct sv_value pinned_pageable[] = {
    {"pinned", 0, SV_QUICK}, {"pageable", 0, SV_QUICK}};
static const struct sv_value pinned_only[] = {{"pinned", 0, SV_STANDARD}};
static const struct sv_value sizes[] = {{NULL, 4096, SV_QUICK},
    {NULL, 65536, SV_STANDARD}, {NULL, 1048576, SV_QUICK},
    {NULL, 16777216, SV_STANDARD}, {NULL, 268435456, SV_QUICK},
    {NULL, 16384, SV_FULL}, {NULL, 32768, SV_FULL}, {NULL, 131072, SV_FULL},
    {NULL, 4194304, SV_FULL}, {NULL, 67108864, SV_FULL},
    {NULL, 1073741824, SV_FULL}};
static const struct sv_value small[] = {{NULL, 4, SV_QUICK}};
static const struct sv_value large[] = {{NULL, 268435456, SV_STANDARD}};
static const struct sv_value nodes[] = {
    {"near", 0, SV_STANDARD}, {"far", 0, SV_STANDARD}};

#define AXIS(name, values)                                           \
	{                                                            \
		(name), (values), sizeof(values) / sizeof(values)[0] \
	}

static const struct sv_axis bandwidth_axes[] = {AXIS("direction", directions),
    AXIS("memory", memories), AXIS("bytes", sizes)};
static const struct sv_axis latency_axes[] = {AXIS("direction", one_way),
    AXIS("memory", pinned_pageable), AXIS("bytes", small)};
static const struct sv_axis numa_axes[] = {AXIS("direction", one_way),
    AXIS("memory", pinned_only), AXIS("bytes", large), AXIS("numa", nodes)};

/*
 * Two sizes tell how the rarer kinds of memory differ from the common ones; the
 * whole curve is for the full profile.
 */
static bool derive_bandwidth(struct sv_case *c)
{
	enum sv_memory kind = sv_case_memory(c);
	int64_t bytes = sv_case_number(c, "bytes");

	return kind == SV_PINNED || kind == SV_PAGEABLE ||
	       c->level == SV_FULL || bytes == 1048576 || bytes == 268435456;
}

static const struct sv_group groups[] = {
    {{"bandwidth"}, bandwidth_axes, 3, derive_bandwidth},
    {{"latency"}, latency_axes, 3, NULL},
    {{"bandwidth"}, numa_axes, 4, NULL},
};

static bool is(const struct sv_case *c, const char *name, const char *text)
{
	return strcmp(sv_case_text(c, name), text) == 0;
}

static bool is_latency(const struct sv_case *c)
{
	return strcmp(c->group->metrics[0], "latency") == 0;
}

/* A latency is of the way there and back, not of finding the bytes. */
static size_t rotation(struct sv_device *device, const struct sv_case *c)
{
	size_t bytes = (size_t)sv_case_number(c, "bytes");

	if (is_latency(c))
		return 1;
	return sv_rig_rotation(
	    device, bytes, 4.0, 1 + MAX_ROTATION_BYTES / bytes);
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	struct sv_device_limits limits;
	size_t bytes = (size_t)sv_case_number(c, "bytes");
	int code = device->ops->can_memory(device, sv_case_memory(c), err);

	if (code != 0)
		return code;
	device->ops->limits(device, &limits);
	if (sv_case_has(c, "numa") && limits.numa_nodes < 2)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "there is one NUMA node: no far memory");
	if (is(c, "direction", "bidir") && sv_case_memory(c) == SV_PAGEABLE)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "pageable copies make the host wait, so that two cannot "
		    "run at once");
	return sv_rig_fits(
	    device, 2.0 * (double)(bytes * rotation(device, c)), err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	double bytes = (double)sv_case_number(c, "bytes");

	return (struct sv_cost){
	    .bytes = is(c, "direction", "bidir") ? 2.0 * bytes : bytes};
}

/* One way of copying: a stream, host memory and device memory. */
struct lane {
	struct sv_rig rig;
	struct sv_hostmem host;
	struct sv_buffer device;
	enum sv_direction direction;
};

struct state {
	struct lane lanes[2];
	size_t n_lanes;
	size_t bytes, slots, next;
	bool on_host_clock;
};

static int copy_once(
    struct state *s, struct lane *lane, size_t slot, struct sv_err *err)
{
	size_t at = slot * s->bytes;

	return lane->rig.ops->copy(lane->rig.stream, lane->direction,
	    &lane->device, at, &lane->host, at, s->bytes, err);
}

/* Calls that wait, or a copy and a wait: what the host sees. */
static int measure_host(
    struct state *s, uint64_t inner, double *readings, struct sv_err *err)
{
	struct lane *lane = &s->lanes[0];
	uint64_t start = sv_now_ns();

	for (uint64_t i = 0; i < inner; i++) {
		int code = copy_once(s, lane, s->next, err);

		if (code == 0)
			code = lane->rig.ops->stream_sync(
			    lane->rig.stream, SV_WAIT_SPIN, err);
		if (code != 0)
			return code;
		s->next = (s->next + 1) % s->slots;
	}
	readings[0] = (double)(sv_now_ns() - start);
	return 0;
}

static int queue_copies(struct state *s, uint64_t inner, struct sv_err *err)
{
	for (uint64_t i = 0; i < inner; i++) {
		for (size_t lane = 0; lane < s->n_lanes; lane++) {
			int code = copy_once(s, &s->lanes[lane], s->next, err);

			if (code != 0)
				return code;
		}
		s->next = (s->next + 1) % s->slots;
	}
	return 0;
}

/* The first lane's clock covers the second: it waits for its end. */
static int measure_queued(
    struct state *s, uint64_t inner, double *readings, struct sv_err *err)
{
	struct lane *first = &s->lanes[0], *second = &s->lanes[1];
	const struct sv_backend *ops = first->rig.ops;
	int code = sv_rig_begin(&first->rig, err);

	if (code == 0 && s->n_lanes == 2)
		code = ops->stream_wait_event(
		    second->rig.stream, first->rig.start, err);
	if (code == 0)
		code = queue_copies(s, inner, err);
	if (code == 0 && s->n_lanes == 2) {
		code = ops->event_record(
		    second->rig.stream, second->rig.stop, err);
		if (code == 0)
			code = ops->stream_wait_event(
			    first->rig.stream, second->rig.stop, err);
	}
	return code != 0 ? code : sv_rig_end(&first->rig, readings, err);
}

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;

	return s->on_host_clock ? measure_host(s, inner, readings, err)
				: measure_queued(s, inner, readings, err);
}

static int open_lane(struct state *s, struct lane *lane,
    struct sv_device *device, const struct sv_case *c,
    enum sv_direction direction, struct sv_err *err)
{
	size_t total = s->bytes * s->slots;
	int node = -1, code = sv_rig_init(&lane->rig, device, err);

	lane->direction = direction;
	/* Node 0 and 1 stand for near and far; the backend knows which. */
	if (sv_case_has(c, "numa"))
		node = is(c, "numa", "near") ? 0 : 1;
	if (code == 0)
		code = device->ops->host_alloc(
		    device, sv_case_memory(c), total, node, &lane->host, err);
	if (code == 0)
		code = device->ops->alloc(device, total, &lane->device, err);
	return code;
}

static void close_lane(struct lane *lane)
{
	struct sv_err ignored;

	if (lane->rig.device == NULL)
		return;
	lane->rig.ops->host_free(lane->rig.device, &lane->host);
	(void)lane->rig.ops->free(lane->rig.device, &lane->device, &ignored);
	sv_rig_fini(&lane->rig);
}

/* Bytes of the slots that are verified. */
static size_t verified_bytes(const struct state *s)
{
	return s->bytes * (s->slots < MAX_VERIFIED ? s->slots : MAX_VERIFIED);
}

/* Window number i of what is verified; false after the last. */
static bool window(size_t total, size_t i, size_t *at, size_t *n)
{
	if (total <= WHOLE_BYTES) {
		*at = 0;
		*n = total;
		return i == 0;
	}
	*at = i * STRIDE_BYTES;
	*n = WINDOW_BYTES;
	/* One at the very end, where a copy that stops short shows. */
	if (*at < total && *at + STRIDE_BYTES >= total)
		*at = total - WINDOW_BYTES;
	return *at < total && i * STRIDE_BYTES < total;
}

/* Put known contents at the near end, and none at the far end. */
static int prepare_windows(struct state *s, struct lane *lane, uint64_t seed,
    unsigned char *scratch, struct sv_err *err)
{
	size_t total = verified_bytes(s), at, n;
	int code = 0;

	for (size_t i = 0; code == 0 && window(total, i, &at, &n); i++) {
		unsigned char *here = (unsigned char *)lane->host.data + at;

		sv_pattern_fill(
		    lane->direction == SV_H2D ? here : scratch, n, seed + at);
		if (lane->direction == SV_H2D)
			continue;
		memset(here, 0, n);
		code = sv_rig_upload(
		    &lane->rig, &lane->device, at, scratch, n, err);
	}
	return code;
}

/*
 * Copy slots once more with known contents and compare at the far end.
 * *wrong gets the offset of the first wrong byte, the total where none is.
 */
static int verify_lane(struct state *s, struct lane *lane, uint64_t seed,
    size_t *wrong, struct sv_err *err)
{
	size_t total = verified_bytes(s), at, n;
	unsigned char *scratch = malloc(WHOLE_BYTES);
	int code;

	if (scratch == NULL)
		return sv_err_set(err, SV_ERESOURCE, "verify: out of memory");
	code = prepare_windows(s, lane, seed, scratch, err);
	for (size_t slot = 0; code == 0 && slot < total / s->bytes; slot++) {
		code = copy_once(s, lane, slot, err);
		if (code == 0)
			code = lane->rig.ops->stream_sync(
			    lane->rig.stream, SV_WAIT_SPIN, err);
	}
	*wrong = total;
	for (size_t i = 0;
	     code == 0 && *wrong == total && window(total, i, &at, &n); i++) {
		const unsigned char *found =
		    (unsigned char *)lane->host.data + at;

		if (lane->direction == SV_H2D) {
			code = sv_rig_download(
			    &lane->rig, &lane->device, at, scratch, n, err);
			found = scratch;
		}
		size_t good = sv_pattern_check(found, n, seed + at);

		if (good < n)
			*wrong = at + good;
	}
	free(scratch);
	return code;
}

static int verify(
    struct sv_bench_context *context, struct state *s, struct sv_err *err)
{
	size_t total = verified_bytes(s), wrong = total;

	for (size_t i = 0; i < s->n_lanes && wrong == total; i++) {
		int code = verify_lane(
		    s, &s->lanes[i], sv_context_seed(context) + i, &wrong, err);

		if (code != 0)
			return code;
	}
	if (wrong == total)
		sv_report_check(context, true,
		    "%zu bytes copied and compared%s", total,
		    total > WHOLE_BYTES ? ", 64 KiB of each MiB" : "");
	else
		sv_report_check(
		    context, false, "byte %zu of %zu differs", wrong, total);
	return 0;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	struct state s = {.bytes = (size_t)sv_case_number(c, "bytes"),
	    .n_lanes = is(c, "direction", "bidir") ? 2 : 1,
	    .on_host_clock = is_latency(c) || sv_case_memory(c) == SV_PAGEABLE};
	const struct sv_sampled sampled[] = {{.metric = c->group->metrics[0],
	    .as = is_latency(c) ? SV_AS_TIME : SV_AS_RATE,
	    .amount = cost(c).bytes}};
	const struct sv_sampling sampling = {
	    .max_inner = s.on_host_clock ? 0 : SV_RIG_MAX_QUEUED};
	int code = 0;

	s.slots = rotation(device, c);
	for (size_t i = 0; code == 0 && i < s.n_lanes; i++)
		code = open_lane(&s, &s.lanes[i], device, c,
		    is(c, "direction", "d2h") || i == 1 ? SV_D2H : SV_H2D, err);
	if (code == 0)
		code =
		    sv_sample(context, sampled, 1, &sampling, measure, &s, err);
	if (code == 0)
		code = verify(context, &s, err);
	for (size_t i = 0; i < s.n_lanes; i++)
		close_lane(&s.lanes[i]);
	return code;
}

const struct sv_bench sv_bench_transfer = {
    .name = "transfer",
    .question = "How fast do copies cross between host and device memory?",
    .source = "nvbandwidth's pattern; method notes, section 2, H2D/D2H",
    .metrics = metrics,
    .n_metrics = 2,
    .groups = groups,
    .n_groups = 3,
    .supported = supported,
    .cost = cost,
    .run = run,
};
