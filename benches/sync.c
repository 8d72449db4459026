/*
 * Question: what does waiting for the device cost, and what does reading a
 * loss back every step (`.item()`) do to a loop?
 * Method: wait: a wait on a queue that is idle, by call and way of waiting.
 * readback: four bytes read from an idle device into ordinary memory. loop: a
 * fixed loop of short kernels with a read-back after every `every`-th
 * iteration; a sample is a hundred iterations, so that each holds its share.
 * Inside the timed region: the calls; for loop also the last wait.
 * Known bias: an idle device answers sooner than a busy one; loop shows the
 * difference.
 * Source: method notes, section 2, Sync.
 */
#include <string.h>

#include "context.h"
#include "kernels.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "timing.h"

#define LOOP_ITERATIONS 100
#define LOOP_KERNEL_NS	2000

static const struct sv_metric metrics[] = {
    {"wait", SV_UNIT_SECONDS, false, "one wait on an idle queue"},
    {"readback", SV_UNIT_SECONDS, false,
	"reading 4 bytes of device memory, the .item() pattern"},
    {"loop", SV_UNIT_SECONDS, false,
	"one iteration of a fixed loop of kernels"},
};

static const struct sv_value calls[] = {{"stream", 0, SV_QUICK},
    {"device", 0, SV_STANDARD}, {"event", 0, SV_STANDARD}};
static const struct sv_value stream_only[] = {{"stream", 0, SV_QUICK}};
static const struct sv_value waits[] = {
    {"spin", 0, SV_QUICK}, {"yield", 0, SV_STANDARD}, {"block", 0, SV_QUICK}};
static const struct sv_value everies[] = {{NULL, 1, SV_QUICK},
    {NULL, 10, SV_STANDARD}, {NULL, 100, SV_STANDARD}, {"never", 0, SV_QUICK}};
static const struct sv_value kernels[] = {{NULL, 10, SV_QUICK}};

static const struct sv_axis wait_axes[] = {
    {"call", calls, 3}, {"wait", waits, 3}};
static const struct sv_axis readback_axes[] = {
    {"call", stream_only, 1}, {"wait", waits, 3}};
static const struct sv_axis loop_axes[] = {
    {"every", everies, 4}, {"kernels", kernels, 1}};

static const struct sv_group groups[] = {
    {{"wait"}, wait_axes, 2, NULL},
    {{"readback"}, readback_axes, 2, NULL},
    {{"loop"}, loop_axes, 2, NULL},
};

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	if (sv_case_has(c, "wait"))
		return device->ops->can_wait(device, sv_case_wait(c), err);
	return device->ops->can_kernel(device, SV_KERNEL_BUSY, err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	(void)c;
	return (struct sv_cost){0};
}

struct state {
	struct sv_rig rig;
	struct sv_buffer loss;
	const char *call;
	enum sv_wait wait;
	uint64_t every, kernels; /* every: 0 for never */
};

static int wait_once(struct state *s, struct sv_err *err)
{
	const struct sv_backend *ops = s->rig.ops;

	if (strcmp(s->call, "stream") == 0)
		return ops->stream_sync(s->rig.stream, s->wait, err);
	if (strcmp(s->call, "event") == 0)
		return ops->event_sync(s->rig.stop, s->wait, err);
	return ops->device_sync(s->rig.device, s->wait, err);
}

static int read_loss(struct state *s, struct sv_err *err)
{
	float loss;

	return s->rig.ops->readback(
	    s->rig.stream, &s->loss, 0, &loss, sizeof loss, s->wait, err);
}

static int measure_wait(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t start = sv_now_ns();

	for (uint64_t i = 0; i < inner; i++) {
		int code = wait_once(s, err);

		if (code != 0)
			return code;
	}
	readings[0] = (double)(sv_now_ns() - start);
	return 0;
}

static int measure_readback(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t start = sv_now_ns();

	for (uint64_t i = 0; i < inner; i++) {
		int code = read_loss(s, err);

		if (code != 0)
			return code;
	}
	readings[0] = (double)(sv_now_ns() - start);
	return 0;
}

static int iterate(struct state *s, uint64_t number, struct sv_err *err)
{
	const struct svk_busy_args args = {.ns = LOOP_KERNEL_NS};
	const struct sv_grid one = {1, 1};

	for (uint64_t k = 0; k < s->kernels; k++) {
		int code = s->rig.ops->launch(s->rig.stream, SV_KERNEL_BUSY,
		    one, &args, sizeof args, err);

		if (code != 0)
			return code;
	}
	return s->every > 0 && number % s->every == 0 ? read_loss(s, err) : 0;
}

static int measure_loop(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t start = sv_now_ns();
	int code = 0;

	for (uint64_t i = 1; code == 0 && i <= inner * LOOP_ITERATIONS; i++)
		code = iterate(s, i, err);
	if (code == 0)
		code =
		    s->rig.ops->stream_sync(s->rig.stream, SV_WAIT_SPIN, err);
	readings[0] = (double)(sv_now_ns() - start) / LOOP_ITERATIONS;
	return code;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	const char *metric = c->group->metrics[0];
	struct state s = {.call = "stream", .wait = SV_WAIT_SPIN};
	const struct sv_sampled sampled[] = {
	    {.metric = metric, .as = SV_AS_TIME}};
	struct sv_sampling sampling = {0};
	struct sv_err ignored;
	int code = sv_rig_init(&s.rig, device, err);

	/* A reading of the loop is a hundredth of what was timed. */
	if (strcmp(metric, "loop") == 0)
		sampling.min_sample_ns = 2e5 / LOOP_ITERATIONS;
	if (sv_case_has(c, "wait")) {
		s.wait = sv_case_wait(c);
		s.call = sv_case_text(c, "call");
	} else {
		/* "never" is text; the others are numbers. */
		for (size_t i = 0; i < c->n_params; i++)
			if (strcmp(c->params[i].name, "every") == 0)
				s.every = (uint64_t)c->params[i].number;
		s.kernels = (uint64_t)sv_case_number(c, "kernels");
	}
	if (code == 0)
		code = device->ops->alloc(device, 4096, &s.loss, err);
	if (code == 0)
		code = device->ops->event_record(s.rig.stream, s.rig.stop, err);
	if (code == 0)
		code =
		    device->ops->stream_sync(s.rig.stream, SV_WAIT_SPIN, err);
	if (code == 0)
		code = sv_sample(context, sampled, 1, &sampling,
		    strcmp(metric, "wait") == 0	      ? measure_wait
		    : strcmp(metric, "readback") == 0 ? measure_readback
						      : measure_loop,
		    &s, err);
	if (s.loss.token != NULL)
		(void)device->ops->free(device, &s.loss, &ignored);
	sv_rig_fini(&s.rig);
	return code;
}

const struct sv_bench sv_bench_sync = {
    .name = "sync",
    .question = "What does waiting for the device cost, and a read-back "
		"every step?",
    .source = "method notes, section 2, Sync",
    .metrics = metrics,
    .n_metrics = 3,
    .groups = groups,
    .n_groups = 3,
    .supported = supported,
    .cost = cost,
    .run = run,
};
