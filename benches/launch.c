/*
 * Question: what does it cost to start a kernel?
 * Method: six figures that are often mixed up. submit: host time of up to
 * 128 empty launches behind a held stream. roundtrip: launch and wait. gap:
 * device time of up to 128 queued empty kernels. graph: device time of a
 * replayed graph, per node. first: loading the module afresh and launching
 * once. queue: empty kernels are launched behind a long one until a launch
 * waits for its end.
 * Inside the timed region: for submit the calls, for gap and graph what lies
 * between two device events, for roundtrip call and wait.
 * Known bias: submit includes copying the arguments; gap is the shortest
 * device time of a kernel, not of the hardware.
 * Source: method notes, section 2, Launch.
 */
#include <string.h>

#include "context.h"
#include "kernels.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "timing.h"

/* Above what any driver is known to take. */
#define MOST_QUEUED 8192

static const struct sv_metric metrics[] = {
    {"submit", SV_UNIT_SECONDS, false,
	"host time of one asynchronous launch below the queue limit"},
    {"roundtrip", SV_UNIT_SECONDS, false, "one launch and the wait for it"},
    {"gap", SV_UNIT_SECONDS, false,
	"device time of one of many empty kernels back to back"},
    {"graph", SV_UNIT_SECONDS, false,
	"device time of one node of a replayed graph"},
    {"first", SV_UNIT_SECONDS, false,
	"loading a module and launching from it for the first time"},
    {"queue", SV_UNIT_ONE, true,
	"launches that a stream takes before the host has to wait"},
};

static const struct sv_value args_bytes[] = {
    {NULL, 0, SV_STANDARD}, {NULL, 64, SV_QUICK}, {NULL, 1024, SV_STANDARD}};
static const struct sv_value nodes[] = {{NULL, 1, SV_STANDARD},
    {NULL, 32, SV_STANDARD}, {NULL, 256, SV_STANDARD}, {NULL, 1024, SV_QUICK}};

static const struct sv_axis args_axes[] = {
    {"args_bytes", args_bytes, sizeof args_bytes / sizeof args_bytes[0]}};
static const struct sv_axis graph_axes[] = {
    {"nodes", nodes, sizeof nodes / sizeof nodes[0]}};

/* It takes long, and a driver's number does not change. */
static bool not_when_quick(struct sv_case *c)
{
	return c->level != SV_QUICK;
}

static const struct sv_group groups[] = {
    {{"submit"}, args_axes, 1, NULL},
    {{"roundtrip"}, args_axes, 1, NULL},
    {{"gap"}, args_axes, 1, NULL},
    {{"graph"}, graph_axes, 1, NULL},
    {{"first"}, NULL, 0, NULL},
    {{"queue"}, NULL, 0, not_when_quick},
};

static bool gives(const struct sv_case *c, const char *metric)
{
	return strcmp(c->group->metrics[0], metric) == 0;
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	/* What the backend says of first is the sentence to show. */
	if (gives(c, "first"))
		return device->ops->first_launch(device, NULL, err);
	return device->ops->can_kernel(device, SV_KERNEL_NULL, err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	(void)c;
	return (struct sv_cost){0};
}

struct state {
	struct sv_rig rig;
	struct sv_graph *graph;
	size_t nodes, args_bytes;
	unsigned char args[1024];
};

static const struct sv_grid one = {1, 1};

static int launch_many(struct state *s, uint64_t n, struct sv_err *err)
{
	for (uint64_t i = 0; i < n; i++) {
		int code = s->rig.ops->launch(s->rig.stream, SV_KERNEL_NULL,
		    one, s->args, s->args_bytes, err);

		if (code != 0)
			return code;
	}
	return 0;
}

static int measure_submit(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	double device_ns;
	int code = sv_rig_begin(&s->rig, err);
	uint64_t start = sv_now_ns();

	if (code == 0)
		code = launch_many(s, inner, err);
	readings[0] = (double)(sv_now_ns() - start);
	return code != 0 ? code : sv_rig_end(&s->rig, &device_ns, err);
}

static int measure_gap(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	int code = sv_rig_begin(&s->rig, err);

	if (code == 0)
		code = launch_many(s, inner, err);
	return code != 0 ? code : sv_rig_end(&s->rig, readings, err);
}

static int measure_roundtrip(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t start = sv_now_ns();

	for (uint64_t i = 0; i < inner; i++) {
		int code = launch_many(s, 1, err);

		if (code == 0)
			code = s->rig.ops->stream_sync(
			    s->rig.stream, SV_WAIT_SPIN, err);
		if (code != 0)
			return code;
	}
	readings[0] = (double)(sv_now_ns() - start);
	return 0;
}

static int measure_graph(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	int code = sv_rig_begin(&s->rig, err);

	for (uint64_t i = 0; code == 0 && i < inner; i++)
		code = s->rig.ops->graph_launch(s->rig.stream, s->graph, err);
	if (code == 0)
		code = sv_rig_end(&s->rig, readings, err);
	readings[0] /= (double)s->nodes;
	return code;
}

static int measure_first(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;

	(void)inner; /* limited to 1: the second is not the first */
	return s->rig.ops->first_launch(s->rig.device, readings, err);
}

/* Host time of a launch into an empty queue, roughly. */
static int submit_ns(struct state *s, double *ns, struct sv_err *err)
{
	uint64_t start = sv_now_ns();
	int code = launch_many(s, SV_RIG_MAX_QUEUED, err);

	*ns = (double)(sv_now_ns() - start) / SV_RIG_MAX_QUEUED;
	return code != 0 ? code
			 : s->rig.ops->stream_sync(
			       s->rig.stream, s->rig.ops->patient, err);
}

/*
 * The long kernel outlasts the launches three times over: the launch that
 * takes a good part of that time is the one that found the queue full.
 */
static int measure_queue(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	struct svk_busy_args busy;
	double each_ns;
	uint64_t taken = 0;
	bool waited = false;
	int code = submit_ns(s, &each_ns, err);

	(void)inner; /* 1: the reading is a value of its own */
	busy.ns = (uint64_t)(3.0 * MOST_QUEUED * each_ns) + 1000000u;
	if (code == 0)
		code = s->rig.ops->launch(s->rig.stream, SV_KERNEL_BUSY, one,
		    &busy, sizeof busy, err);
	while (code == 0 && !waited && taken < MOST_QUEUED) {
		uint64_t start = sv_now_ns();

		code = launch_many(s, 1, err);
		waited = sv_now_ns() - start > busy.ns / 4;
		taken += !waited;
	}
	/* The long kernel holds a place as well. */
	readings[0] = (double)(taken + 1);
	if (code == 0)
		code = s->rig.ops->stream_sync(
		    s->rig.stream, s->rig.ops->patient, err);
	if (code == 0 && !waited)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "the host never had to wait in %d launches", MOST_QUEUED);
	return code;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	static const struct {
		const char *metric;
		sv_measure_fn *measure;
		uint64_t max_inner;
	} ways[] = {
	    {"submit", measure_submit, SV_RIG_MAX_QUEUED},
	    {"gap", measure_gap, SV_RIG_MAX_QUEUED},
	    {"roundtrip", measure_roundtrip, 0},
	    {"graph", measure_graph, SV_RIG_MAX_QUEUED},
	    {"first", measure_first, 1},
	    {"queue", measure_queue, 1},
	};
	struct state s = {0};
	const struct sv_sampled sampled[] = {{.metric = c->group->metrics[0],
	    .as = gives(c, "queue") ? SV_AS_VALUE : SV_AS_TIME}};
	struct sv_sampling sampling = {0};
	size_t way = 0;
	int code = sv_rig_init(&s.rig, sv_context_device(context), err);

	while (!gives(c, ways[way].metric))
		way++;
	sampling.max_inner = ways[way].max_inner;
	if (sv_case_has(c, "args_bytes"))
		s.args_bytes = (size_t)sv_case_number(c, "args_bytes");
	if (code == 0 && gives(c, "graph")) {
		s.nodes = (size_t)sv_case_number(c, "nodes");
		/* A reading is one node's share of what was timed. */
		sampling.min_sample_ns = 2e5 / (double)s.nodes;
		code = s.rig.ops->graph_new(s.rig.device, SV_KERNEL_NULL, one,
		    NULL, 0, s.nodes, &s.graph, err);
	}
	if (code == 0)
		code = sv_sample(
		    context, sampled, 1, &sampling, ways[way].measure, &s, err);
	if (s.graph != NULL)
		s.rig.ops->graph_free(s.rig.device, s.graph);
	sv_rig_fini(&s.rig);
	return code;
}

const struct sv_bench sv_bench_launch = {
    .name = "launch",
    .question = "What does it cost to start a kernel?",
    .source = "method notes, section 2, Launch",
    .metrics = metrics,
    .n_metrics = 6,
    .groups = groups,
    .n_groups = 6,
    .supported = supported,
    .cost = cost,
    .run = run,
};
