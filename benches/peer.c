/*
 * Question: how fast do two devices of one machine exchange data, straight
 * (p2p) and through the host (staged)?
 * Method: copies queued behind a hold on a stream of the source, timed by its
 * events; bi: a second stream on the target copies back meanwhile, and the
 * first waits for it. latency: the same with 4 bytes. p2p switches access to
 * each other's memory on, staged leaves it off, so that the driver takes the
 * host's memory between.
 * Inside the timed region: the copies. Outside: making contexts, switching
 * access on, and known bytes that are compared at the far end afterwards.
 * Known bias: one pair at a time; what many pairs get at once is less where
 * they share a link.
 * Source: the vendor's p2pBandwidthLatencyTest; method notes, section 2, P2P.
 */
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "pattern.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"

/* Above twice the second-level cache of any card so far. */
#define COPY_BYTES    ((size_t)256 << 20)
#define LATENCY_BYTES ((size_t)4)
/* Compared at either end of what was copied. */
#define CHECK_BYTES   ((size_t)1 << 20)

static const struct sv_metric metrics[] = {
    {"bandwidth", SV_UNIT_BYTES_PER_SECOND, true,
	"bytes that arrive a second, both ways added for bi"},
    {"latency", SV_UNIT_SECONDS, false, "one copy of four bytes"},
};

#define DEVICE_VALUES                                               \
	{                                                           \
		{NULL, 0, SV_QUICK}, {NULL, 1, SV_QUICK},           \
		    {NULL, 2, SV_STANDARD}, {NULL, 3, SV_STANDARD}, \
		    {NULL, 4, SV_FULL}, {NULL, 5, SV_FULL},         \
		    {NULL, 6, SV_FULL}, {NULL, 7, SV_FULL},         \
	}
static const struct sv_value devices[] = DEVICE_VALUES;
static const struct sv_value paths[] = {
    {"p2p", 0, SV_QUICK}, {"staged", 0, SV_QUICK}};
static const struct sv_value directions[] = {
    {"uni", 0, SV_QUICK}, {"bi", 0, SV_STANDARD}};
static const struct sv_value one_way[] = {{"uni", 0, SV_QUICK}};

#define AXIS(name, values)                                   \
	{                                                    \
		name, values, sizeof values / sizeof *values \
	}
static const struct sv_axis bandwidth_axes[] = {AXIS("src", devices),
    AXIS("dst", devices), AXIS("path", paths), AXIS("direction", directions)};
static const struct sv_axis latency_axes[] = {AXIS("src", devices),
    AXIS("dst", devices), AXIS("path", paths), AXIS("direction", one_way)};

/* A device has no way to itself, and both ways are the same pair twice. */
static bool is_pair(struct sv_case *c)
{
	int64_t src = sv_case_number(c, "src"), dst = sv_case_number(c, "dst");

	return src < dst ||
	       (src > dst && strcmp(sv_case_text(c, "direction"), "uni") == 0);
}

static const struct sv_group groups[] = {
    {{"bandwidth"}, bandwidth_axes, 4, is_pair},
    {{"latency"}, latency_axes, 4, is_pair},
};

static bool is_latency(const struct sv_case *c)
{
	return strcmp(c->group->metrics[0], "latency") == 0;
}

static bool is_direct(const struct sv_case *c)
{
	return strcmp(sv_case_text(c, "path"), "p2p") == 0;
}

static bool is_both_ways(const struct sv_case *c)
{
	return strcmp(sv_case_text(c, "direction"), "bi") == 0;
}

/* Told once, for the pair that every machine with two devices has. */
static int alone(const struct sv_case *c, struct sv_err *err)
{
	bool first = sv_case_number(c, "src") == 0 &&
		     sv_case_number(c, "dst") == 1 && is_direct(c) &&
		     !is_both_ways(c) && !is_latency(c);

	return sv_err_set(err, first ? SV_EUNSUPPORTED : SV_EUSAGE,
	    "there is one device: nothing to exchange data with");
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	const struct sv_backend *ops = device->ops;
	int src = (int)sv_case_number(c, "src");
	int dst = (int)sv_case_number(c, "dst");
	struct sv_err ignored;

	if (ops->peer_can == NULL ||
	    ops->peer_can(device, 1, 0, false, &ignored) == SV_EUSAGE)
		return alone(c, err);
	return ops->peer_can(device, src, dst, is_direct(c), err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	double bytes = (double)(is_latency(c) ? LATENCY_BYTES : COPY_BYTES);

	return (struct sv_cost){.bytes = is_both_ways(c) ? 2.0 * bytes : bytes};
}

/* One of the two devices, with what goes out of it and what comes in. */
struct end {
	struct sv_device *device;
	struct sv_rig rig;
	struct sv_buffer out, in;
};

struct state {
	struct sv_device *home; /* the device that was open before */
	const struct sv_backend *ops;
	struct end from, to;
	size_t bytes;
	bool both_ways;
};

static int queue(struct state *s, struct end *source, struct end *target,
    uint64_t n, struct sv_err *err)
{
	int code = s->ops->peer_use(source->device, err);

	for (uint64_t i = 0; code == 0 && i < n; i++)
		code = s->ops->peer_copy(source->rig.stream, target->device,
		    &target->in, source->device, &source->out, s->bytes, err);
	return code;
}

/* The way back runs on the target's stream; the source's waits for its end. */
static int queue_back(struct state *s, uint64_t n, struct sv_err *err)
{
	struct sv_rig *first = &s->from.rig, *second = &s->to.rig;
	int code = s->ops->peer_use(s->to.device, err);

	if (code == 0)
		code = s->ops->stream_wait_event(
		    second->stream, first->start, err);
	if (code == 0)
		code = queue(s, &s->to, &s->from, n, err);
	if (code == 0)
		code = s->ops->event_record(second->stream, second->stop, err);
	if (code == 0)
		code = s->ops->peer_use(s->from.device, err);
	return code != 0 ? code
			 : s->ops->stream_wait_event(
			       first->stream, second->stop, err);
}

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	int code = s->ops->peer_use(s->from.device, err);

	if (code == 0)
		code = sv_rig_begin(&s->from.rig, err);
	if (code == 0)
		code = queue(s, &s->from, &s->to, inner, err);
	if (code == 0 && s->both_ways)
		code = queue_back(s, inner, err);
	return code != 0 ? code : sv_rig_end(&s->from.rig, readings, err);
}

static int open_end(
    struct state *s, struct end *end, int index, struct sv_err *err)
{
	int code = s->ops->peer_open(s->home, index, &end->device, err);

	if (code != 0)
		return code;
	if ((code = s->ops->peer_use(end->device, err)) != 0 ||
	    (code = sv_rig_init(&end->rig, end->device, err)) != 0 ||
	    (code = s->ops->alloc(end->device, s->bytes, &end->out, err)) != 0)
		return code;
	return s->ops->alloc(end->device, s->bytes, &end->in, err);
}

static void close_end(struct state *s, struct end *end)
{
	struct sv_err ignored;

	if (end->device == NULL)
		return;
	(void)s->ops->peer_use(end->device, &ignored);
	if (end->out.token != NULL)
		(void)s->ops->free(end->device, &end->out, &ignored);
	if (end->in.token != NULL)
		(void)s->ops->free(end->device, &end->in, &ignored);
	sv_rig_fini(&end->rig);
	s->ops->peer_close(s->home, end->device);
}

/* Both ends of a buffer, or all of a small one. */
static size_t check_bytes(const struct state *s)
{
	return s->bytes < CHECK_BYTES ? s->bytes : CHECK_BYTES;
}

/* Known bytes go out of the source, and others wait where they arrive. */
static int fill(struct state *s, struct end *source, struct end *target,
    uint64_t seed, unsigned char *scratch, struct sv_err *err)
{
	size_t n = check_bytes(s), last = s->bytes - n;
	int code = s->ops->peer_use(source->device, err);

	sv_pattern_fill(scratch, n, seed);
	if (code == 0)
		code = sv_rig_upload(
		    &source->rig, &source->out, 0, scratch, n, err);
	if (code == 0)
		code = sv_rig_upload(
		    &source->rig, &source->out, last, scratch, n, err);
	memset(scratch, 0, n);
	if (code == 0)
		code = s->ops->peer_use(target->device, err);
	if (code == 0)
		code = sv_rig_upload(
		    &target->rig, &target->in, 0, scratch, n, err);
	if (code == 0)
		code = sv_rig_upload(
		    &target->rig, &target->in, last, scratch, n, err);
	return code;
}

/* *good: whether what arrived is what went out. */
static int compare(struct state *s, struct end *target, uint64_t seed,
    unsigned char *scratch, bool *good, struct sv_err *err)
{
	size_t n = check_bytes(s), places[] = {0, s->bytes - n};
	int code = s->ops->peer_use(target->device, err);

	*good = true;
	for (size_t i = 0; code == 0 && i < 2; i++) {
		code = sv_rig_download(
		    &target->rig, &target->in, places[i], scratch, n, err);
		*good = *good && sv_pattern_check(scratch, n, seed) == n;
	}
	return code;
}

/* Copy once more with known contents: bandwidth of wrong data is none. */
static int verify(
    struct sv_bench_context *context, struct state *s, struct sv_err *err)
{
	uint64_t seed = sv_context_seed(context);
	unsigned char *scratch = malloc(check_bytes(s));
	bool there = false, back = true;
	double ignored;
	int code;

	if (scratch == NULL)
		return sv_err_set(err, SV_ERESOURCE, "verify: out of memory");
	code = fill(s, &s->from, &s->to, seed, scratch, err);
	if (code == 0 && s->both_ways)
		code = fill(s, &s->to, &s->from, seed + 1, scratch, err);
	if (code == 0)
		code = measure(s, 1, &ignored, err);
	if (code == 0)
		code = compare(s, &s->to, seed, scratch, &there, err);
	if (code == 0 && s->both_ways)
		code = compare(s, &s->from, seed + 1, scratch, &back, err);
	free(scratch);
	if (code == 0)
		sv_report_check(context, there && back, "%s",
		    there && back ? "the bytes arrived"
				  : "other bytes arrived than went out: the "
				    "path between the devices corrupts data");
	return code;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *home = sv_context_device(context);
	struct state s = {.home = home,
	    .ops = home->ops,
	    .bytes = is_latency(c) ? LATENCY_BYTES : COPY_BYTES,
	    .both_ways = is_both_ways(c)};
	const struct sv_sampled sampled[] = {{.metric = c->group->metrics[0],
	    .as = is_latency(c) ? SV_AS_TIME : SV_AS_RATE,
	    .amount = cost(c).bytes}};
	const struct sv_sampling sampling = {
	    .max_inner =
		s.both_ways ? SV_RIG_MAX_QUEUED / 2 : SV_RIG_MAX_QUEUED};
	struct sv_err ignored;
	int code = open_end(&s, &s.from, (int)sv_case_number(c, "src"), err);

	if (code == 0)
		code = open_end(&s, &s.to, (int)sv_case_number(c, "dst"), err);
	if (code == 0)
		code = s.ops->peer_access(
		    s.from.device, s.to.device, is_direct(c), err);
	if (code == 0)
		code =
		    sv_sample(context, sampled, 1, &sampling, measure, &s, err);
	if (code == 0)
		code = verify(context, &s, err);
	close_end(&s, &s.to);
	close_end(&s, &s.from);
	(void)s.ops->peer_use(home, &ignored);
	return code;
}

const struct sv_bench sv_bench_peer = {
    .name = "peer",
    .question = "How fast do two devices of this machine exchange data?",
    .source = "p2pBandwidthLatencyTest; method notes, section 2, P2P",
    .metrics = metrics,
    .n_metrics = 2,
    .groups = groups,
    .n_groups = 2,
    .supported = supported,
    .cost = cost,
    .run = run,
};
