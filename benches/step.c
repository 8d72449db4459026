/*
 * Question: what does one training step of a workload take here, and what
 * does each bad habit cost?
 * Method: the products of the workload's file, forward and backward, its
 * normalisations, a loss, and Adam, launched one by one as step_program.h
 * says; the batch comes from the host. It learns: after the samples it begins
 * anew, and its loss must fall.
 * baseline: pinned batches, copied one step ahead on a stream of their own;
 * nothing waits. sync_every_step: the loss is read back after each step.
 * reset_every_step: what lives for one step is given to the pool, the pool
 * back to the system, and taken anew. pageable: batches come from ordinary
 * memory, in line. no_prefetch: pinned, but in line. fp32: products in fp32
 * where the workload is trained in less.
 * Inside the timed region: everything of a step, host and device, and one
 * wait at a sample's end.
 * Known bias: convolutions are the products that they amount to, a bare
 * launch stands for a framework's, and an accelerated library's fused
 * kernels move less memory.
 * Source: method notes, section 4.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "kernels.h"
#include "pattern.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "step_math.h"
#include "step_program.h"
#include "tasks.h"
#include "timing.h"
#include "trace.h"

/* Of the memory that is free: what else runs here keeps the rest. */
#define MEMORY_SHARE   0.75
#define SAMPLE_NS      4e6
#define LEAST_BATCH    256 /* bytes that features are made from */
#define LOSS_BYTES     4   /* read back by the habit, not beside it */
#define LEARN_NS       2e8 /* time to show that it learns */
#define MOST_LEARNING  24  /* steps */
#define LEAST_LEARNING 4
#define TRACED_STEPS   3
#define MOST_SPANS     20000

/* A step that takes longer than this is not measured, by profile. */
static const double longest_ns[] = {
    [SV_QUICK] = 2.5e8, [SV_STANDARD] = 2e9, [SV_FULL] = 1e10};

enum habit {
	BASELINE,
	SYNC_EVERY_STEP,
	RESET_EVERY_STEP,
	PAGEABLE,
	NO_PREFETCH,
	FP32,
};

static const char *const habit_names[] = {"baseline", "sync_every_step",
    "reset_every_step", "pageable", "no_prefetch", "fp32"};

static const struct sv_metric metrics[] = {
    {"time", SV_UNIT_SECONDS, false, "one training step"},
    {"rate", SV_UNIT_PER_SECOND, true, "samples trained on, a second"},
};

static const struct sv_value precisions[] = {{"fp32", 0, SV_QUICK},
    {"tf32", 0, SV_QUICK}, {"fp16", 0, SV_QUICK}, {"bf16", 0, SV_QUICK}};
static const struct sv_value habits[] = {{"baseline", 0, SV_QUICK},
    {"sync_every_step", 0, SV_QUICK}, {"reset_every_step", 0, SV_QUICK},
    {"pageable", 0, SV_QUICK}, {"no_prefetch", 0, SV_QUICK},
    {"fp32", 0, SV_QUICK}};
static const struct sv_axis axes[] = {
    {"precision", precisions, 4}, {"habit", habits, 6}};

static enum habit habit_of(const struct sv_case *c)
{
	enum habit habit = BASELINE;

	while (strcmp(habit_names[habit], sv_case_text(c, "habit")) != 0)
		habit++;
	return habit;
}

/*
 * Habits are measured at the workload's own precision and batch. Other
 * precisions are: at that batch, in the full profile at all.
 */
static bool derive(struct sv_case *c)
{
	const struct sv_task *task = c->task;
	enum sv_precision precision = sv_case_precision(c);
	bool own = precision == task->precision;

	switch (habit_of(c)) {
	case BASELINE:
		if (own)
			return true;
		if (c->level == SV_QUICK ||
		    (!task->habits && c->level < SV_FULL))
			return false;
		return precision == SV_FP32 || precision == SV_TF32 ||
		       precision == task->half;
	case FP32:
		return task->habits && precision == SV_FP32 && !own;
	default:
		return task->habits && own;
	}
}

static const struct sv_group groups[] = {{{"time", "rate"}, axes, 2, derive}};

static struct sv_cost cost(const struct sv_case *c)
{
	return (struct sv_cost){
	    .bytes = sv_task_memory_bytes(c->task, sv_case_precision(c)),
	    .flop = sv_task_flop(c->task)};
}

static size_t batch_bytes(const struct sv_task *task)
{
	return task->h2d_bytes > LEAST_BATCH ? (size_t)task->h2d_bytes
					     : LEAST_BATCH;
}

static int make_program(struct sv_device *device, const struct sv_case *c,
    struct sv_step_program *out, struct sv_err *err)
{
	enum sv_precision precision = sv_case_precision(c);
	enum svk_type type = precision == SV_FP16   ? SVK_HALF
			     : precision == SV_BF16 ? SVK_BFLOAT
						    : SVK_FLOAT;
	size_t operand, result;

	*out = (struct sv_step_program){0};
	device->ops->gemm_element_bytes(device, precision, &operand, &result);
	if (operand != result)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "%s products here give another type than they take: "
		    "layers cannot follow each other",
		    sv_precision_name(precision));
	return sv_step_program_make(
	    c->task, precision, type, operand, out, err);
}

/* What the step takes itself, and what the workload says it does. */
static int check_memory(struct sv_device *device, const struct sv_task *task,
    const struct sv_step_program *program, struct sv_err *err)
{
	struct sv_device_limits limits;
	double own = sv_step_program_bytes(program) +
		     2.0 * (double)batch_bytes(task) + (double)task->d2h_bytes;
	double stated = (double)task->set_bytes;

	device->ops->limits(device, &limits);
	if (limits.memory_free_bytes == 0 ||
	    fmax(own, stated) <=
		MEMORY_SHARE * (double)limits.memory_free_bytes)
		return 0;
	return sv_err_set(err, SV_ERESOURCE,
	    "%s at batch %llu %s %.0f MiB, more than three quarters of the "
	    "%.0f MiB free",
	    task->name, (unsigned long long)task->batch,
	    stated > own ? "has a working set of" : "takes",
	    fmax(own, stated) / 1048576.0,
	    (double)limits.memory_free_bytes / 1048576.0);
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	struct sv_step_program program;
	enum habit habit = habit_of(c);
	int code =
	    device->ops->can_precision(device, sv_case_precision(c), err);

	if (code == 0 && (habit == PAGEABLE || habit == NO_PREFETCH) &&
	    c->task->h2d_bytes == 0)
		code = sv_err_set(err, SV_EUNSUPPORTED,
		    "workload %s copies no batch to the device", c->task->name);
	if (code == 0 && habit != PAGEABLE)
		code = device->ops->can_memory(device, SV_PINNED, err);
	if (code == 0)
		code =
		    device->ops->can_kernel(device, SV_KERNEL_STEP_ADAM, err);
	if (code != 0)
		return code;
	code = make_program(device, c, &program, err);
	if (code == 0)
		code = check_memory(device, c->task, &program, err);
	sv_step_program_fini(&program);
	return code;
}

struct state {
	struct sv_rig rig;
	struct sv_stream *copies;
	const struct sv_task *task;
	enum habit habit;
	enum sv_precision precision;
	struct sv_step_program program;
	struct sv_buffer *blocks; /* [program.n_blocks] */
	/* Batches on the device, in turn; used: nobody needs it any more. */
	struct sv_buffer batch[2];
	struct sv_event *ready[2], *used[2];
	struct sv_hostmem from, to;
	struct sv_buffer results; /* that go back to the host */
	uint64_t taken;		  /* steps ever: which batch is next */
	uint64_t learnt;	  /* steps since the weights were made */
	double step_ns;		  /* as measured last */
	struct sv_trace *trace;
};

/* --- memory --- */

/* What a reset takes away: all that lives for one step. */
static bool is_pooled(const struct state *s, size_t block)
{
	return s->habit == RESET_EVERY_STEP && block >= SV_STEP_ACTIVATIONS;
}

static int take_block(struct state *s, size_t block, struct sv_err *err)
{
	size_t bytes = s->program.block_bytes[block];

	if (bytes == 0)
		return 0;
	if (is_pooled(s, block))
		return s->rig.ops->pool_alloc(s->rig.device, s->rig.stream,
		    bytes, &s->blocks[block], err);
	return s->rig.ops->alloc(s->rig.device, bytes, &s->blocks[block], err);
}

static int give_block(struct state *s, size_t block, struct sv_err *err)
{
	struct sv_buffer *buffer = &s->blocks[block];

	if (buffer->token == NULL)
		return 0;
	if (is_pooled(s, block))
		return s->rig.ops->pool_free(
		    s->rig.device, s->rig.stream, buffer, err);
	return s->rig.ops->free(s->rig.device, buffer, err);
}

static int set_up(struct state *s, uint64_t seed, struct sv_err *err)
{
	const struct sv_backend *ops = s->rig.ops;
	struct sv_device *device = s->rig.device;
	size_t bytes = batch_bytes(s->task);
	int code = ops->stream_new(device, &s->copies, err);

	s->blocks = calloc(s->program.n_blocks, sizeof *s->blocks);
	if (code == 0 && s->blocks == NULL)
		code = sv_err_set(err, SV_ERESOURCE, "step: out of memory");
	for (size_t i = 0; code == 0 && i < s->program.n_blocks; i++)
		code = take_block(s, i, err);
	for (int i = 0; code == 0 && i < 2; i++) {
		code = ops->alloc(device, bytes, &s->batch[i], err);
		if (code == 0)
			code = ops->event_new(device, &s->ready[i], err);
		if (code == 0)
			code = ops->event_new(device, &s->used[i], err);
	}
	if (code == 0)
		code = ops->host_alloc(device,
		    s->habit == PAGEABLE ? SV_PAGEABLE : SV_PINNED, bytes, -1,
		    &s->from, err);
	if (code == 0 && s->task->d2h_bytes > LOSS_BYTES)
		code = ops->host_alloc(device, SV_PINNED,
		    (size_t)s->task->d2h_bytes, -1, &s->to, err);
	if (code == 0 && s->task->d2h_bytes > LOSS_BYTES)
		code = ops->alloc(
		    device, (size_t)s->task->d2h_bytes, &s->results, err);
	if (code == 0)
		sv_pattern_fill(s->from.data, bytes, seed);
	/* A workload that copies nothing has its features there already. */
	for (int i = 0; code == 0 && i < 2; i++)
		code = sv_rig_upload(
		    &s->rig, &s->batch[i], 0, s->from.data, bytes, err);
	return code;
}

static void tear_down(struct state *s)
{
	const struct sv_backend *ops = s->rig.ops;
	struct sv_device *device = s->rig.device;
	struct sv_err ignored;

	if (device == NULL)
		return;
	(void)ops->device_sync(device, ops->patient, &ignored);
	sv_trace_free(s->trace);
	for (size_t i = 0; s->blocks != NULL && i < s->program.n_blocks; i++)
		(void)give_block(s, i, &ignored);
	free(s->blocks);
	if (s->habit == RESET_EVERY_STEP)
		(void)ops->pool_trim(device, &ignored);
	for (int i = 0; i < 2; i++) {
		if (s->batch[i].token != NULL)
			(void)ops->free(device, &s->batch[i], &ignored);
		ops->event_free(device, s->ready[i]);
		ops->event_free(device, s->used[i]);
	}
	if (s->results.token != NULL)
		(void)ops->free(device, &s->results, &ignored);
	ops->host_free(device, &s->from);
	ops->host_free(device, &s->to);
	ops->stream_free(device, s->copies);
	sv_rig_fini(&s->rig);
}

/* --- launching --- */

static uint64_t address(const struct state *s, struct sv_step_place place)
{
	return s->blocks[place.block].address + place.offset_bytes;
}

static int launch(struct state *s, const char *kernel, uint64_t threads,
    const void *args, size_t args_bytes, struct sv_err *err)
{
	uint64_t blocks = (threads + 255) / 256;
	const struct sv_grid grid = {(uint32_t)(blocks < 1	? 1
						: blocks > 4096 ? 4096
								: blocks),
	    256};

	return s->rig.ops->launch(
	    s->rig.stream, kernel, grid, args, args_bytes, err);
}

static int multiply(
    struct state *s, const struct sv_step_op *op, struct sv_err *err)
{
	const struct sv_gemm gemm = {.precision = s->precision,
	    .m = op->m,
	    .n = op->n,
	    .k = op->k,
	    .count = op->count,
	    .a = address(s, op->a),
	    .b = address(s, op->b),
	    .c = address(s, op->c),
	    .transpose_a = op->transpose_a,
	    .transpose_b = op->transpose_b};

	return s->rig.ops->gemm(s->rig.stream, &gemm, err);
}

static int make_features(
    struct state *s, const struct sv_step_op *op, struct sv_err *err)
{
	const struct svk_step_input_args args = {.x = address(s, op->c),
	    .n = op->m * op->k,
	    .bytes = s->batch[s->taken % 2].address,
	    .n_bytes = batch_bytes(s->task),
	    .type = s->program.type};

	return launch(s, SV_KERNEL_STEP_INPUT, args.n, &args, sizeof args, err);
}

static int lose(
    struct state *s, const struct sv_step_op *op, struct sv_err *err)
{
	const struct svk_step_loss_args args = {.y = address(s, op->c),
	    .x = address(s, op->a),
	    .parts = address(s, op->b),
	    .rows = op->m,
	    .n = op->n,
	    .k = op->k,
	    .weight = op->weight,
	    .gradient_scale = op->gradient_scale,
	    .type = s->program.type};

	return launch(s, SV_KERNEL_STEP_LOSS, SVK_STEP_PARTS * 256, &args,
	    sizeof args, err);
}

static int optimise(struct state *s, struct sv_err *err)
{
	const struct sv_step_program *p = &s->program;
	uint64_t moments = s->blocks[SV_STEP_MOMENTS].address;
	uint64_t weights = s->blocks[SV_STEP_WEIGHTS].address;
	double t = (double)++s->learnt;
	const struct svk_step_adam_args args = {
	    .p = p->type == SVK_FLOAT ? weights
				      : s->blocks[SV_STEP_MASTER].address,
	    .g = s->blocks[SV_STEP_GRADIENTS].address,
	    .m = moments,
	    .v = moments + 4 * p->parameters,
	    .copy = p->type == SVK_FLOAT ? 0 : weights,
	    .n = p->parameters,
	    .rate = p->rate,
	    .correction_1 = (float)(1.0 / (1.0 - pow((double)SVK_BETA_1, t))),
	    .correction_2 = (float)(1.0 / (1.0 - pow((double)SVK_BETA_2, t))),
	    .type = p->type};

	return launch(s, SV_KERNEL_STEP_ADAM, args.n, &args, sizeof args, err);
}

static int launch_op(
    struct state *s, const struct sv_step_op *op, struct sv_err *err)
{
	union {
		struct svk_step_relu_args relu;
		struct svk_step_relu_back_args relu_back;
		struct svk_read_args sum;
		struct svk_step_norm_args norm;
		struct svk_triad_args add;
	} args;
	uint64_t c = address(s, op->c), n = op->m * op->n;

	switch (op->kind) {
	case SV_STEP_GEMM:
		return multiply(s, op, err);
	case SV_STEP_INPUT:
		return make_features(s, op, err);
	case SV_STEP_LOSS:
		return lose(s, op, err);
	case SV_STEP_ADAM:
		return optimise(s, err);
	case SV_STEP_RELU:
		args.relu = (struct svk_step_relu_args){
		    .x = c, .n = n, .type = s->program.type};
		return launch(s, SV_KERNEL_STEP_RELU, n, &args.relu,
		    sizeof args.relu, err);
	case SV_STEP_RELU_BACK:
		args.relu_back = (struct svk_step_relu_back_args){.g = c,
		    .x = address(s, op->a),
		    .n = n,
		    .type = s->program.type};
		return launch(s, SV_KERNEL_STEP_RELU_BACK, n, &args.relu_back,
		    sizeof args.relu_back, err);
	case SV_STEP_SUM:
		args.sum = (struct svk_read_args){
		    .src = address(s, op->a), .n = op->n, .out = c};
		return launch(
		    s, SV_KERNEL_READ, op->n, &args.sum, sizeof args.sum, err);
	case SV_STEP_NORM:
		args.norm = (struct svk_step_norm_args){.dst = c,
		    .src = address(s, op->a),
		    .rows = op->m,
		    .width = op->n};
		return launch(s, SV_KERNEL_STEP_NORM, 256 * op->m, &args.norm,
		    sizeof args.norm, err);
	case SV_STEP_ADD:
		args.add = (struct svk_triad_args){.dst = c,
		    .a = address(s, op->a),
		    .b = address(s, op->b),
		    .n = op->n,
		    .scale = 1.0f};
		return launch(
		    s, SV_KERNEL_TRIAD, op->n, &args.add, sizeof args.add, err);
	}
	return 0;
}

/* --- one step --- */

/* Bring a batch to its place on the device. */
static int copy_batch(
    struct state *s, struct sv_stream *stream, size_t which, struct sv_err *err)
{
	size_t span;
	int code = sv_trace_begin(s->trace, "batch to the device", stream,
	    stream == s->copies ? "copy" : "device", &span, err);

	if (code == 0)
		code = s->rig.ops->copy(stream, SV_H2D, &s->batch[which], 0,
		    &s->from, 0, (size_t)s->task->h2d_bytes, err);
	return code != 0 ? code : sv_trace_end(s->trace, stream, span, err);
}

/* Copy the batch after this one, as soon as nobody needs its place. */
static int prefetch(struct state *s, struct sv_err *err)
{
	const struct sv_backend *ops = s->rig.ops;
	size_t which = (s->taken + 1) % 2;
	int code = ops->stream_wait_event(s->copies, s->used[which], err);

	if (code == 0)
		code = copy_batch(s, s->copies, which, err);
	return code != 0 ? code
			 : ops->event_record(s->copies, s->ready[which], err);
}

/* Have this step's batch on the device, when the stream gets there. */
static int feed(struct state *s, struct sv_err *err)
{
	size_t which = s->taken % 2;
	int code;

	if (s->task->h2d_bytes == 0)
		return 0;
	if (s->habit == PAGEABLE || s->habit == NO_PREFETCH)
		return copy_batch(s, s->rig.stream, which, err);
	code =
	    s->rig.ops->stream_wait_event(s->rig.stream, s->ready[which], err);
	return code != 0 ? code : prefetch(s, err);
}

static int read_loss(struct state *s, float *loss, struct sv_err *err)
{
	return s->rig.ops->readback(s->rig.stream, &s->blocks[SV_STEP_LOSSES],
	    0, loss, sizeof *loss, SV_WAIT_SPIN, err);
}

/*
 * Give back all that lives for one step, and take it anew. Emptying a cache
 * waits for the device first, as frameworks do.
 */
static int reset(struct state *s, struct sv_err *err)
{
	int code =
	    s->rig.ops->stream_sync(s->rig.stream, s->rig.ops->patient, err);

	for (size_t i = SV_STEP_ACTIVATIONS;
	     code == 0 && i < s->program.n_blocks; i++)
		code = give_block(s, i, err);
	if (code == 0)
		code = s->rig.ops->pool_trim(s->rig.device, err);
	for (size_t i = SV_STEP_ACTIVATIONS;
	     code == 0 && i < s->program.n_blocks; i++)
		code = take_block(s, i, err);
	return code;
}

/* What the habit does at a step's end. */
static int indulge(struct state *s, struct sv_err *err)
{
	const char *name = s->habit == SYNC_EVERY_STEP	  ? "read the loss"
			   : s->habit == RESET_EVERY_STEP ? "empty the cache"
							  : NULL;
	float loss;
	size_t span;
	int code;

	if (name == NULL)
		return 0;
	code = sv_trace_begin(s->trace, name, NULL, NULL, &span, err);
	if (code == 0)
		code = s->habit == SYNC_EVERY_STEP ? read_loss(s, &loss, err)
						   : reset(s, err);
	return code != 0 ? code : sv_trace_end(s->trace, NULL, span, err);
}

static int run_ops(struct state *s, struct sv_err *err)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->program.n_ops; i++) {
		const struct sv_step_op *op = &s->program.ops[i];
		size_t span;

		code = sv_trace_begin(
		    s->trace, op->name, s->rig.stream, "device", &span, err);
		if (code == 0)
			code = launch_op(s, op, err);
		if (code == 0)
			code = sv_trace_end(s->trace, s->rig.stream, span, err);
	}
	return code;
}

static int one_step(struct state *s, struct sv_err *err)
{
	const struct sv_backend *ops = s->rig.ops;
	size_t span;
	int code = sv_trace_begin(s->trace, "step", NULL, NULL, &span, err);

	if (code == 0)
		code = feed(s, err);
	if (code == 0)
		code = run_ops(s, err);
	if (code == 0)
		code = ops->event_record(
		    s->rig.stream, s->used[s->taken % 2], err);
	if (code == 0 && s->results.token != NULL)
		code = ops->copy(s->rig.stream, SV_D2H, &s->results, 0, &s->to,
		    0, s->results.bytes, err);
	if (code == 0)
		code = indulge(s, err);
	s->taken++;
	return code != 0 ? code : sv_trace_end(s->trace, NULL, span, err);
}

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t start = sv_now_ns();
	int code = 0;

	for (uint64_t i = 0; code == 0 && i < inner; i++)
		code = one_step(s, err);
	if (code == 0)
		code = s->rig.ops->stream_sync(
		    s->rig.stream, s->rig.ops->patient, err);
	readings[0] = readings[1] = (double)(sv_now_ns() - start);
	s->step_ns = readings[0] / (double)inner;
	return code;
}

/* --- learning --- */

static int fill(struct state *s, uint64_t dst, uint64_t copy, uint64_t n,
    uint64_t seed, float scale, struct sv_err *err)
{
	const struct svk_step_fill_args args = {.dst = dst,
	    .copy = copy,
	    .n = n,
	    .seed = seed,
	    .scale = scale,
	    .type = s->program.type};

	return launch(s, SV_KERNEL_STEP_FILL, n, &args, sizeof args, err);
}

/* Weights as they are before the first step, and nothing remembered. */
static int begin_anew(struct state *s, struct sv_err *err)
{
	const struct sv_step_program *p = &s->program;
	const struct svk_write_args zero = {
	    .dst = s->blocks[SV_STEP_MOMENTS].address, .n = 2 * p->parameters};
	int code = launch(s, SV_KERNEL_WRITE, zero.n, &zero, sizeof zero, err);

	for (size_t i = 0; code == 0 && i < p->n_weights; i++) {
		const struct sv_step_weights *w = &p->weights[i];
		size_t element = w->at.offset_bytes / p->element_bytes;
		uint64_t copy =
		    w->trained && p->type != SVK_FLOAT
			? s->blocks[SV_STEP_MASTER].address + 4 * element
			: 0;

		code = fill(
		    s, address(s, w->at), copy, w->n, i + 1, w->scale, err);
	}
	s->learnt = 0;
	return code;
}

/* Contents for all memory: what is computed with must not be zeros. */
static int fill_blocks(struct state *s, struct sv_err *err)
{
	static const size_t zeroed[] = {
	    SV_STEP_WEIGHTS, SV_STEP_GRADIENTS, SV_STEP_MASTER, SV_STEP_LOSSES};
	int code = 0;

	/* What only aligns must not become a number that is none. */
	for (size_t i = 0; code == 0 && i < 4; i++) {
		const struct sv_buffer *block = &s->blocks[zeroed[i]];
		const struct svk_write_args zero = {
		    .dst = block->address, .n = block->bytes / 4};

		if (zero.n > 0)
			code = launch(s, SV_KERNEL_WRITE, zero.n, &zero,
			    sizeof zero, err);
	}
	for (size_t i = SV_STEP_STILL; code == 0 && i < s->program.n_blocks;
	     i++)
		if (s->blocks[i].bytes > 0)
			code = fill(s, s->blocks[i].address, 0,
			    s->blocks[i].bytes / s->program.element_bytes,
			    i + 1, 0.25f, err);
	return code != 0 ? code : begin_anew(s, err);
}

/* Begin anew, train on the same batch, and see the loss fall. */
static int verify(
    struct sv_bench_context *context, struct state *s, struct sv_err *err)
{
	unsigned steps = (unsigned)fmin(
	    fmax(LEARN_NS / s->step_ns, LEAST_LEARNING), MOST_LEARNING);
	float first = NAN, last = NAN;
	int code = begin_anew(s, err);

	for (unsigned i = 0; code == 0 && i < steps; i++) {
		code = one_step(s, err);
		if (code == 0)
			code = read_loss(s, i == 0 ? &first : &last, err);
	}
	if (code == 0)
		/* A NaN must not pass. */
		sv_report_check(context, last < 0.999f * first,
		    "loss %.4g, after %u steps %.4g", (double)first, steps - 1,
		    (double)last);
	return code;
}

/* --- a case --- */

/* The product with the most FLOP; programs have one. */
static struct sv_gemm largest_product(
    const struct sv_step_program *p, enum sv_precision precision)
{
	struct sv_gemm largest = {.precision = precision};
	double most = 0.0;

	for (size_t i = 0; i < p->n_ops; i++) {
		const struct sv_step_op *op = &p->ops[i];
		double flop = (double)op->m * (double)op->n * (double)op->k *
			      (double)op->count;

		if (op->kind != SV_STEP_GEMM || flop <= most)
			continue;
		most = flop;
		largest.m = op->m;
		largest.n = op->n;
		largest.k = op->k;
		largest.count = op->count;
	}
	return largest;
}

/* Time of one product, and the wait for it. */
static int time_product(
    struct state *s, const struct sv_gemm *gemm, double *ns, struct sv_err *err)
{
	uint64_t start = sv_now_ns();
	int code = s->rig.ops->gemm(s->rig.stream, gemm, err);

	if (code == 0)
		code = s->rig.ops->stream_sync(
		    s->rig.stream, s->rig.ops->patient, err);
	*ns = (double)(sv_now_ns() - start);
	return code;
}

/*
 * Refuse a step that is too long to be measured, by its largest product and
 * before its memory is taken; the first time also loads the library.
 */
static int probe(struct state *s, enum sv_level level, struct sv_err *err)
{
	struct sv_gemm g = largest_product(&s->program, s->precision);
	double times =
	    sv_task_flop(s->task) /
	    (2.0 * (double)g.m * (double)g.n * (double)g.k * (double)g.count);
	const size_t bytes[] = {
	    (size_t)(g.m * g.k), (size_t)(g.k * g.n), (size_t)(g.m * g.n)};
	struct sv_buffer operands[3] = {0};
	struct sv_err ignored;
	double ns = INFINITY;
	int code = 0;

	for (int i = 0; code == 0 && i < 3; i++)
		code = s->rig.ops->alloc(s->rig.device,
		    bytes[i] * (size_t)g.count * s->program.element_bytes,
		    &operands[i], err);
	g.a = operands[0].address;
	g.b = operands[1].address;
	g.c = operands[2].address;
	for (int i = 0; code == 0 && i < 2 && ns * times > longest_ns[level];
	     i++)
		code = time_product(s, &g, &ns, err);
	for (int i = 0; i < 3; i++)
		if (operands[i].token != NULL)
			(void)s->rig.ops->free(
			    s->rig.device, &operands[i], &ignored);
	if (code != 0 || ns * times <= longest_ns[level])
		return code;
	fprintf(stderr, "%s at batch %llu: about %.2g s a step\n",
	    s->task->name, (unsigned long long)s->task->batch,
	    ns * times * 1e-9);
	/* The same words each time, so that a report can count them. */
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "%s at batch %llu takes longer than the %g s that this profile "
	    "gives a step",
	    s->task->name, (unsigned long long)s->task->batch,
	    longest_ns[level] * 1e-9);
}

static int trace(
    struct sv_bench_context *context, struct state *s, struct sv_err *err)
{
	int code = 0;

	s->trace = sv_trace_new(&s->rig, MOST_SPANS, err);
	if (s->trace == NULL)
		return err->code;
	for (int i = 0; code == 0 && i < TRACED_STEPS; i++)
		code = one_step(s, err);
	if (code == 0)
		code = sv_trace_report(s->trace, context, err);
	sv_trace_free(s->trace);
	s->trace = NULL;
	return code;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	const struct sv_sampled sampled[] = {
	    {.metric = "time", .as = SV_AS_TIME},
	    {.metric = "rate",
		.as = SV_AS_RATE,
		.amount = (double)c->task->batch}};
	const struct sv_sampling sampling = {.min_sample_ns = SAMPLE_NS};
	struct state s = {.task = c->task,
	    .habit = habit_of(c),
	    .precision = sv_case_precision(c)};
	struct sv_device *device = sv_context_device(context);
	int code = sv_rig_init(&s.rig, device, err);

	if (code == 0)
		code = make_program(device, c, &s.program, err);
	if (code == 0)
		code = probe(&s, c->level, err);
	if (code == 0)
		code = set_up(&s, sv_context_seed(context), err);
	if (code == 0)
		code = fill_blocks(&s, err);
	if (code == 0)
		code =
		    sv_sample(context, sampled, 2, &sampling, measure, &s, err);
	if (code == 0 && sv_context_timeline(context))
		code = trace(context, &s, err);
	if (code == 0)
		code = verify(context, &s, err);
	tear_down(&s);
	sv_step_program_fini(&s.program);
	return code;
}

const struct sv_bench sv_bench_step = {
    .name = "step",
    .question = "What does a training step take, and what does each bad "
		"habit cost?",
    .source = "method notes, section 4",
    .metrics = metrics,
    .n_metrics = 2,
    .groups = groups,
    .n_groups = 1,
    .per_task = true,
    .supported = supported,
    .cost = cost,
    .run = run,
};
