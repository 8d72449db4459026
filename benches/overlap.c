/*
 * Question: how much of a copy hides behind computation?
 * Method: a pinned copy on one stream and matrix products on another, the
 * number of products chosen so that both take about as long; each alone, then
 * both at once. Efficiency is the time saved over the most that could be:
 * (t_copy + t_compute − t_both) / min(t_copy, t_compute).
 * Inside the timed region: from the common start to the later end.
 * Known bias: below 0 where the two get in each other's way, and a little
 * above 1 by noise; nothing is clamped.
 * Source: method notes, section 2, Overlap.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "operands.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"

#define COPY_BYTES ((size_t)64 << 20)
#define SIDE	   512 /* of the products */
#define MAX_REPEAT 512

static const struct sv_metric metrics[] = {
    {"efficiency", SV_UNIT_ONE, true,
	"time saved by overlapping over the most that could be saved"},
};

static const struct sv_value directions[] = {
    {"h2d", 0, SV_QUICK}, {"d2h", 0, SV_STANDARD}};
static const struct sv_axis axes[] = {{"direction", directions, 2}};
static const struct sv_group groups[] = {{{"efficiency"}, axes, 1, NULL}};

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	int code = device->ops->can_memory(device, SV_PINNED, err);

	(void)c;
	if (code == 0)
		code = device->ops->can_precision(device, SV_FP32, err);
	return code != 0 ? code : sv_rig_fits(device, 2.0 * COPY_BYTES, err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	(void)c;
	return (struct sv_cost){.bytes = COPY_BYTES};
}

struct state {
	const struct sv_backend *ops;
	struct sv_rig copying, computing;
	struct sv_hostmem host;
	struct sv_buffer device, a, b, c;
	struct sv_gemm gemm;
	enum sv_direction direction;
	unsigned repeat; /* products to a copy */
};

/*
 * Queue the copy, the products, or both, and give the time until the later is
 * done. The copying stream is held and keeps the time.
 */
static int timed(
    struct state *s, bool copy, bool compute, double *ns, struct sv_err *err)
{
	const struct sv_backend *ops = s->ops;
	struct sv_rig *clock = &s->copying, *other = &s->computing;
	int code = sv_rig_begin(clock, err);

	if (code != 0)
		return code;
	code = ops->stream_wait_event(other->stream, clock->start, err);
	if (code == 0 && copy)
		code = ops->copy(clock->stream, s->direction, &s->device, 0,
		    &s->host, 0, COPY_BYTES, err);
	for (unsigned i = 0; code == 0 && compute && i < s->repeat; i++)
		code = ops->gemm(other->stream, &s->gemm, err);
	if (code == 0)
		code = ops->event_record(other->stream, other->stop, err);
	if (code == 0)
		code = ops->stream_wait_event(clock->stream, other->stop, err);
	return code != 0 ? code : sv_rig_end(clock, ns, err);
}

/* Choose the number of products that takes as long as the copy. */
static int match(struct state *s, struct sv_err *err)
{
	double copy, compute;
	int code = timed(s, true, false, &copy, err);

	s->repeat = 1;
	for (int i = 0; code == 0 && i < 4; i++) {
		code = timed(s, false, true, &compute, err);
		if (code == 0 && compute > 0.0)
			s->repeat = (unsigned)fmin(MAX_REPEAT,
			    fmax(1.0, round(s->repeat * copy / compute)));
	}
	return code;
}

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	double copy, compute, both;
	int code;

	(void)inner; /* 1: the reading is a value of its own */
	if ((code = timed(s, true, false, &copy, err)) != 0 ||
	    (code = timed(s, false, true, &compute, err)) != 0 ||
	    (code = timed(s, true, true, &both, err)) != 0)
		return code;
	readings[0] = (copy + compute - both) / fmin(copy, compute);
	return 0;
}

static int set_up(struct state *s, struct sv_device *device, uint64_t seed,
    struct sv_err *err)
{
	size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
	float *operand = malloc(bytes);
	int code;

	if (operand == NULL)
		return sv_err_set(err, SV_ERESOURCE, "overlap: out of memory");
	sv_operands_fill(operand, (size_t)SIDE * SIDE, SV_FP32, 0.2, &seed);
	if ((code = sv_rig_init(&s->copying, device, err)) != 0 ||
	    (code = sv_rig_init(&s->computing, device, err)) != 0 ||
	    (code = device->ops->host_alloc(
		 device, SV_PINNED, COPY_BYTES, -1, &s->host, err)) != 0 ||
	    (code = device->ops->alloc(device, COPY_BYTES, &s->device, err)) !=
		0 ||
	    (code = device->ops->alloc(device, bytes, &s->a, err)) != 0 ||
	    (code = device->ops->alloc(device, bytes, &s->b, err)) != 0 ||
	    (code = device->ops->alloc(device, bytes, &s->c, err)) != 0 ||
	    (code = sv_rig_upload(
		 &s->computing, &s->a, 0, operand, bytes, err)) != 0)
		goto free_operand;
	code = sv_rig_upload(&s->computing, &s->b, 0, operand, bytes, err);
	s->gemm = (struct sv_gemm){.precision = SV_FP32,
	    .m = SIDE,
	    .n = SIDE,
	    .k = SIDE,
	    .count = 1,
	    .a = s->a.address,
	    .b = s->b.address,
	    .c = s->c.address};
	/* What the library loads for the first one must not meet a hold. */
	if (code == 0)
		code = device->ops->gemm(s->computing.stream, &s->gemm, err);
	if (code == 0)
		code = device->ops->stream_sync(
		    s->computing.stream, SV_WAIT_SPIN, err);

free_operand:
	free(operand);
	return code;
}

static void tear_down(struct state *s, struct sv_device *device)
{
	struct sv_buffer *buffers[] = {&s->device, &s->a, &s->b, &s->c};
	struct sv_err ignored;

	for (size_t i = 0; i < 4; i++)
		if (buffers[i]->token != NULL)
			(void)device->ops->free(device, buffers[i], &ignored);
	device->ops->host_free(device, &s->host);
	sv_rig_fini(&s->computing);
	sv_rig_fini(&s->copying);
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	struct state s = {.ops = device->ops,
	    .direction = strcmp(sv_case_text(c, "direction"), "h2d") == 0
			     ? SV_H2D
			     : SV_D2H};
	const struct sv_sampled sampled[] = {
	    {.metric = "efficiency", .as = SV_AS_VALUE}};
	const struct sv_sampling sampling = {.max_inner = 1};
	int code = set_up(&s, device, sv_context_seed(context), err);

	if (code == 0)
		code = match(&s, err);
	if (code == 0)
		code =
		    sv_sample(context, sampled, 1, &sampling, measure, &s, err);
	tear_down(&s, device);
	return code;
}

const struct sv_bench sv_bench_overlap = {
    .name = "overlap",
    .question = "How much of a copy hides behind computation?",
    .source = "method notes, section 2, Overlap",
    .metrics = metrics,
    .n_metrics = 1,
    .groups = groups,
    .n_groups = 1,
    .supported = supported,
    .cost = cost,
    .run = run,
};
