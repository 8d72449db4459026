/*
 * Question: how fast is device memory?
 * Method: kernels over arrays of `bytes` each, queued between two events:
 * read (a sum), write (a constant), copy, triad (a + s·b). Bandwidth counts
 * bytes read plus bytes written.
 * Inside the timed region: the kernels. Outside: filling the arrays, checking
 * the results.
 * Known bias: on a host, storing to a line that is not in cache reads it
 * first; that traffic is not counted. Arrays that fit in the last-level cache
 * measure the cache and are flagged.
 * Source: McCalpin's STREAM; method notes, section 2, Device memory.
 */
#include <math.h>
#include <string.h>

#include "context.h"
#include "kernels.h"
#include "pattern.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"

#define MAX_ARRAYS 3
#define CHECKED	   64 /* places looked at in the result */
#define SCALE	   3.0f

static const struct sv_metric metrics[] = {
    {"bandwidth", SV_UNIT_BYTES_PER_SECOND, true,
	"bytes read plus bytes written, a second"},
};

static const struct sv_value ops[] = {{"read", 0, SV_QUICK},
    {"write", 0, SV_STANDARD}, {"copy", 0, SV_QUICK}, {"triad", 0, SV_QUICK}};
static const struct sv_value sizes[] = {{NULL, 1048576, SV_STANDARD},
    {NULL, 16777216, SV_STANDARD}, {NULL, 268435456, SV_QUICK},
    {NULL, 1073741824, SV_STANDARD}, {NULL, 4194304, SV_FULL},
    {NULL, 67108864, SV_FULL}};

static const struct sv_axis axes[] = {{"op", ops, 4}, {"bytes", sizes, 6}};
static const struct sv_group groups[] = {{{"bandwidth"}, axes, 2, NULL}};

struct op {
	const char *name, *kernel;
	unsigned arrays, passes; /* arrays touched, reads plus writes */
};

static const struct op *op_of(const struct sv_case *c)
{
	static const struct op table[] = {{"read", SV_KERNEL_READ, 1, 1},
	    {"write", SV_KERNEL_WRITE, 1, 1}, {"copy", SV_KERNEL_COPY, 2, 2},
	    {"triad", SV_KERNEL_TRIAD, 3, 3}};
	size_t i = 0;

	while (strcmp(table[i].name, sv_case_text(c, "op")) != 0)
		i++;
	return &table[i];
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	const struct op *op = op_of(c);
	int code = device->ops->can_kernel(device, op->kernel, err);

	if (code != 0)
		return code;
	return sv_rig_fits(
	    device, (double)op->arrays * sv_case_number(c, "bytes"), err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	const struct op *op = op_of(c);
	double bytes = (double)sv_case_number(c, "bytes");

	return (struct sv_cost){.bytes = op->passes * bytes,
	    .flop = strcmp(op->name, "triad") == 0  ? bytes / 2.0
		    : strcmp(op->name, "read") == 0 ? bytes / 4.0
						    : 0.0};
}

struct state {
	struct sv_rig rig;
	const struct op *op;
	struct sv_buffer arrays[MAX_ARRAYS], sum;
	uint64_t n; /* floats an array */
	union {
		struct svk_read_args read;
		struct svk_write_args write;
		struct svk_copy_args copy;
		struct svk_triad_args triad;
	} args;
	size_t args_bytes;
};

/* Enough threads to fill a device; the kernels stride over the rest. */
static const struct sv_grid grid = {4096, 256};

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	int code = sv_rig_begin(&s->rig, err);

	for (uint64_t i = 0; code == 0 && i < inner; i++)
		code = s->rig.ops->launch(s->rig.stream, s->op->kernel, grid,
		    &s->args, s->args_bytes, err);
	return code != 0 ? code : sv_rig_end(&s->rig, readings, err);
}

static int fill(
    struct state *s, struct sv_buffer *array, float value, struct sv_err *err)
{
	const struct svk_write_args args = {
	    .dst = array->address, .n = s->n, .value = value};
	int code = s->rig.ops->launch(
	    s->rig.stream, SV_KERNEL_WRITE, grid, &args, sizeof args, err);

	return code != 0
		   ? code
		   : s->rig.ops->stream_sync(s->rig.stream, SV_WAIT_SPIN, err);
}

/*
 * Values whose results are exact in float: sources 1 and 0.5, so that the
 * copy gives 1, the triad 2.5, and a sum of ones its own count.
 */
static int set_up(struct state *s, struct sv_err *err)
{
	uint64_t a0 = s->arrays[0].address, a1 = s->arrays[1].address;
	uint64_t a2 = s->arrays[2].address;
	int code = 0;

	for (unsigned i = 0; code == 0 && i < s->op->arrays; i++)
		code = fill(s, &s->arrays[i],
		    i == 0 && s->op->arrays > 1 ? -1.0f
		    : i == 2			? 0.5f
						: 1.0f,
		    err);
	if (strcmp(s->op->name, "read") == 0) {
		s->args.read = (struct svk_read_args){
		    .src = a0, .n = s->n, .out = s->sum.address};
		s->args_bytes = sizeof s->args.read;
	} else if (strcmp(s->op->name, "write") == 0) {
		s->args.write = (struct svk_write_args){
		    .dst = a0, .n = s->n, .value = 0.25f};
		s->args_bytes = sizeof s->args.write;
	} else if (strcmp(s->op->name, "copy") == 0) {
		s->args.copy =
		    (struct svk_copy_args){.dst = a0, .src = a1, .n = s->n};
		s->args_bytes = sizeof s->args.copy;
	} else {
		s->args.triad = (struct svk_triad_args){
		    .dst = a0, .a = a1, .b = a2, .n = s->n, .scale = SCALE};
		s->args_bytes = sizeof s->args.triad;
	}
	return code;
}

static float expected(const struct state *s)
{
	return strcmp(s->op->name, "write") == 0  ? 0.25f
	       : strcmp(s->op->name, "copy") == 0 ? 1.0f
						  : 1.0f + SCALE * 0.5f;
}

static int read_float(struct state *s, struct sv_buffer *from, uint64_t index,
    float *out, struct sv_err *err)
{
	return s->rig.ops->readback(s->rig.stream, from,
	    (size_t)index * sizeof *out, out, sizeof *out, SV_WAIT_SPIN, err);
}

static int check_sum(
    struct sv_bench_context *context, struct state *s, struct sv_err *err)
{
	double wanted = (double)s->n;
	float sum;
	int code = read_float(s, &s->sum, 0, &sum, err);

	/* Partial sums are exact up to 2^24, beyond that a little is lost. */
	if (code == 0)
		sv_report_check(context,
		    fabs((double)sum - wanted) <= 1e-3 * wanted,
		    "sum %.9g, expected %.9g", (double)sum, wanted);
	return code;
}

static int check_places(
    struct sv_bench_context *context, struct state *s, struct sv_err *err)
{
	uint64_t random = sv_context_seed(context);
	float wanted = expected(s), value;

	for (unsigned i = 0; i < CHECKED; i++) {
		/* The ends, where a kernel that stops short shows, and more. */
		uint64_t at = i == 0   ? 0
			      : i == 1 ? s->n - 1
				       : sv_random_next(&random) % s->n;
		int code = read_float(s, &s->arrays[0], at, &value, err);

		if (code != 0)
			return code;
		if (value != wanted) {
			sv_report_check(context, false,
			    "element %llu is %g, expected %g",
			    (unsigned long long)at, (double)value,
			    (double)wanted);
			return 0;
		}
	}
	sv_report_check(context, true, "%d elements compared", CHECKED);
	return 0;
}

static bool in_cache(const struct state *s, size_t bytes)
{
	struct sv_device_limits limits;

	s->rig.ops->limits(s->rig.device, &limits);
	return s->op->arrays * bytes <= limits.cache_bytes;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	size_t bytes = (size_t)sv_case_number(c, "bytes");
	struct state s = {.op = op_of(c), .n = bytes / sizeof(float)};
	struct sv_sampled sampled[] = {
	    {.metric = "bandwidth", .as = SV_AS_RATE, .amount = cost(c).bytes}};
	const struct sv_sampling sampling = {.max_inner = SV_RIG_MAX_QUEUED};
	struct sv_err ignored;
	int code = sv_rig_init(&s.rig, device, err);

	for (unsigned i = 0; code == 0 && i < s.op->arrays; i++)
		code = device->ops->alloc(device, bytes, &s.arrays[i], err);
	if (code == 0)
		code = device->ops->alloc(device, 4096, &s.sum, err);
	if (code == 0)
		code = set_up(&s, err);
	if (code == 0 && in_cache(&s, bytes))
		sampled[0].flag = "cache_resident";
	if (code == 0)
		code =
		    sv_sample(context, sampled, 1, &sampling, measure, &s, err);
	if (code == 0)
		code = strcmp(s.op->name, "read") == 0
			   ? check_sum(context, &s, err)
			   : check_places(context, &s, err);
	for (unsigned i = 0; i < MAX_ARRAYS; i++)
		if (s.arrays[i].token != NULL)
			(void)device->ops->free(device, &s.arrays[i], &ignored);
	if (s.sum.token != NULL)
		(void)device->ops->free(device, &s.sum, &ignored);
	sv_rig_fini(&s.rig);
	return code;
}

const struct sv_bench sv_bench_memory = {
    .name = "memory",
    .question = "How fast is device memory?",
    .source = "STREAM; method notes, section 2, Device memory",
    .metrics = metrics,
    .n_metrics = 1,
    .groups = groups,
    .n_groups = 1,
    .supported = supported,
    .cost = cost,
    .run = run,
};
