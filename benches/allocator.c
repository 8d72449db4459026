/*
 * Question: what does device memory cost to get and to give back, and what
 * does emptying the allocator's cache (`empty_cache`) every step cost?
 * Method: alloc and free: straight from the driver, one after the other.
 * pool_alloc: from a warm caching pool. reset: trim the pool and take a
 * working set of `blocks` blocks again, less what taking it from the warm
 * pool costs. loop: taking and giving back a working set through the pool,
 * with a trim after every `every`-th time; a sample is ten iterations.
 * Inside the timed region: the calls named. Outside: giving blocks back
 * before a reset is timed.
 * Known bias: blocks of one size; a framework's are mixed.
 * Source: method notes, section 2, Allocator.
 */
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "timing.h"

#define MAX_BLOCKS	64
#define POOL_BLOCKS	8
#define LOOP_ITERATIONS 10

static const struct sv_metric metrics[] = {
    {"alloc", SV_UNIT_SECONDS, false, "one allocation from the driver"},
    {"free", SV_UNIT_SECONDS, false, "giving one allocation back"},
    {"pool_alloc", SV_UNIT_SECONDS, false,
	"one allocation from a warm caching pool"},
    {"reset", SV_UNIT_SECONDS, false,
	"giving the cache back and taking the working set again"},
    {"loop", SV_UNIT_SECONDS, false,
	"taking and giving back a working set once"},
};

static const struct sv_value sizes[] = {{NULL, 2097152, SV_QUICK},
    {NULL, 20971520, SV_STANDARD}, {NULL, 268435456, SV_QUICK},
    {NULL, 1073741824, SV_FULL}};
static const struct sv_value pool_sizes[] = {
    {NULL, 2097152, SV_STANDARD}, {NULL, 20971520, SV_QUICK}};
static const struct sv_value sets[] = {
    {NULL, 134217728, SV_QUICK}, {NULL, 2147483648, SV_STANDARD}};
static const struct sv_value loop_sets[] = {{NULL, 134217728, SV_QUICK}};
static const struct sv_value blocks[] = {{NULL, MAX_BLOCKS, SV_QUICK}};
static const struct sv_value everies[] = {
    {NULL, 1, SV_QUICK}, {NULL, 10, SV_STANDARD}, {"never", 0, SV_QUICK}};

static const struct sv_axis size_axes[] = {{"bytes", sizes, 4}};
static const struct sv_axis pool_axes[] = {{"bytes", pool_sizes, 2}};
static const struct sv_axis reset_axes[] = {
    {"bytes", sets, 2}, {"blocks", blocks, 1}};
static const struct sv_axis loop_axes[] = {
    {"bytes", loop_sets, 1}, {"blocks", blocks, 1}, {"every", everies, 3}};

static const struct sv_group groups[] = {
    {{"alloc", "free"}, size_axes, 1, NULL},
    {{"pool_alloc"}, pool_axes, 1, NULL},
    {{"reset"}, reset_axes, 2, NULL},
    {{"loop"}, loop_axes, 3, NULL},
};

static bool gives(const struct sv_case *c, const char *metric)
{
	return strcmp(c->group->metrics[0], metric) == 0;
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	double bytes = (double)sv_case_number(c, "bytes");

	return sv_rig_fits(
	    device, gives(c, "pool_alloc") ? POOL_BLOCKS * bytes : bytes, err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	(void)c;
	return (struct sv_cost){0};
}

struct state {
	struct sv_rig rig;
	size_t block_bytes, n_blocks;
	uint64_t every;
	struct sv_buffer held[MAX_BLOCKS];
};

static int measure_driver(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	struct sv_device *device = s->rig.device;
	uint64_t allocating = 0, freeing = 0;

	for (uint64_t i = 0; i < inner; i++) {
		struct sv_buffer buffer;
		uint64_t t0 = sv_now_ns();
		int code =
		    device->ops->alloc(device, s->block_bytes, &buffer, err);
		uint64_t t1 = sv_now_ns();

		if (code == 0)
			code = device->ops->free(device, &buffer, err);
		if (code != 0)
			return code;
		freeing += sv_now_ns() - t1;
		allocating += t1 - t0;
	}
	readings[0] = (double)allocating;
	readings[1] = (double)freeing;
	return 0;
}

static int take_set(struct state *s, struct sv_err *err)
{
	for (size_t i = 0; i < s->n_blocks; i++) {
		int code = s->rig.ops->pool_alloc(s->rig.device, s->rig.stream,
		    s->block_bytes, &s->held[i], err);

		if (code != 0)
			return code;
	}
	return 0;
}

static int give_set(struct state *s, struct sv_err *err)
{
	int code = 0;

	for (size_t i = 0; i < s->n_blocks; i++) {
		struct sv_err first;
		int failed = s->held[i].token == NULL
				 ? 0
				 : s->rig.ops->pool_free(s->rig.device,
				       s->rig.stream, &s->held[i], &first);

		if (failed != 0 && code == 0)
			code = sv_err_set(err, failed, "%s", first.text);
	}
	return code;
}

static int measure_pool(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t taking = 0;

	for (uint64_t i = 0; i < inner; i++) {
		uint64_t start = sv_now_ns();
		int code = take_set(s, err);

		taking += sv_now_ns() - start;
		if (code == 0)
			code = give_set(s, err);
		if (code != 0)
			return code;
	}
	readings[0] = (double)taking / (double)s->n_blocks;
	return 0;
}

/* Host time of taking the working set and waiting for it. */
static int timed_take(struct state *s, uint64_t *ns, struct sv_err *err)
{
	uint64_t start = sv_now_ns();
	int code = take_set(s, err);

	if (code == 0)
		code =
		    s->rig.ops->stream_sync(s->rig.stream, SV_WAIT_SPIN, err);
	*ns = sv_now_ns() - start;
	return code;
}

static int reset_once(struct state *s, double *ns, struct sv_err *err)
{
	uint64_t warm = 0, cold = 0, start, trim;
	int code = timed_take(s, &warm, err);

	if (code == 0)
		code = give_set(s, err);
	if (code == 0)
		code =
		    s->rig.ops->stream_sync(s->rig.stream, SV_WAIT_SPIN, err);
	start = sv_now_ns();
	if (code == 0)
		code = s->rig.ops->pool_trim(s->rig.device, err);
	trim = sv_now_ns() - start;
	if (code == 0)
		code = timed_take(s, &cold, err);
	if (code == 0)
		code = give_set(s, err);
	/* Below zero only by noise: then there is no cost to speak of. */
	*ns = (double)trim + (double)cold - (double)warm;
	return code;
}

static int measure_reset(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	readings[0] = 0.0;
	for (uint64_t i = 0; i < inner; i++) {
		double ns = 0.0;
		int code = reset_once(state, &ns, err);

		if (code != 0)
			return code;
		readings[0] += ns;
	}
	if (readings[0] <= 0.0)
		return sv_err_set(err, SV_ECHECK,
		    "a reset took no longer than taking the working set from "
		    "the warm pool");
	return 0;
}

static int measure_loop(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t start = sv_now_ns();
	int code = 0;

	for (uint64_t i = 1; code == 0 && i <= inner * LOOP_ITERATIONS; i++) {
		code = take_set(s, err);
		if (code == 0)
			code = give_set(s, err);
		if (code == 0 && s->every > 0 && i % s->every == 0)
			code = s->rig.ops->pool_trim(s->rig.device, err);
	}
	if (code == 0)
		code =
		    s->rig.ops->stream_sync(s->rig.stream, SV_WAIT_SPIN, err);
	readings[0] = (double)(sv_now_ns() - start) / LOOP_ITERATIONS;
	return code;
}

static void size_set(struct state *s, const struct sv_case *c)
{
	s->block_bytes = (size_t)sv_case_number(c, "bytes");
	s->n_blocks = gives(c, "pool_alloc") ? POOL_BLOCKS : 1;
	if (sv_case_has(c, "blocks")) {
		s->n_blocks = (size_t)sv_case_number(c, "blocks");
		s->block_bytes /= s->n_blocks;
	}
	/* "never" is text; the others are numbers. */
	for (size_t i = 0; i < c->n_params; i++)
		if (strcmp(c->params[i].name, "every") == 0)
			s->every = (uint64_t)c->params[i].number;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	struct state s = {0};
	struct sv_sampled sampled[2] = {
	    {.metric = c->group->metrics[0], .as = SV_AS_TIME},
	    {.metric = c->group->metrics[1], .as = SV_AS_TIME}};
	/* A reading of the loop is a tenth of what was timed. */
	const struct sv_sampling sampling = {
	    .min_sample_ns = gives(c, "loop") ? 2e5 / LOOP_ITERATIONS : 0.0};
	size_t n_metrics = c->group->metrics[1] != NULL ? 2 : 1;
	struct sv_err ignored;
	int code = sv_rig_init(&s.rig, device, err);

	size_set(&s, c);
	/* What is compared with a warm pool needs one. */
	if (code == 0 && !gives(c, "alloc"))
		code = take_set(&s, err);
	if (code == 0 && !gives(c, "alloc"))
		code = give_set(&s, err);
	if (code == 0)
		code = sv_sample(context, sampled, n_metrics, &sampling,
		    gives(c, "alloc")	? measure_driver
		    : gives(c, "reset") ? measure_reset
		    : gives(c, "loop")	? measure_loop
					: measure_pool,
		    &s, err);
	if (s.rig.device != NULL) {
		(void)give_set(&s, &ignored);
		if (!gives(c, "alloc"))
			(void)device->ops->pool_trim(device, &ignored);
	}
	sv_rig_fini(&s.rig);
	return code;
}

const struct sv_bench sv_bench_allocator = {
    .name = "allocator",
    .question = "What does device memory cost to get, to give back, and to "
		"reset?",
    .source = "method notes, section 2, Allocator; CUDACachingAllocator's "
	      "pattern",
    .metrics = metrics,
    .n_metrics = 5,
    .groups = groups,
    .n_groups = 4,
    .supported = supported,
    .cost = cost,
    .run = run,
};
