/*
 * Question: how fast is matrix multiplication, by precision, shape and batch?
 * Method: C = A·B by the backend's library, queued between two events;
 * operands N(0,1)·k^-1/4 and rotated through two caches' worth of memory.
 * square: m = n = k. mlp: a layer of 4096 by 4096 over `batch` rows.
 * attention: 16 heads of 128 by 128 by 64 a sample, strided.
 * Inside the timed region: the products. Outside: filling, the first calls,
 * the check of 64 outputs against sums in double precision.
 * Known bias: one library's default algorithm; frameworks may search.
 * Source: method notes, section 2, GEMM.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "operands.h"
#include "pattern.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"

#define MLP_WIDTH	 4096
#define HEADS		 16
#define HEAD_SEQUENCE	 128
#define HEAD_DIMENSION	 64
#define CHECKED		 64
#define MAX_SETS	 8
/* All sets together; a single larger one is taken as it is. */
#define MAX_SETS_BYTES	 ((double)((size_t)512 << 20))
/* Below this relative error a "TF32" product was done in FP32. */
#define TF32_LEAST_ERROR 1e-5

static const struct sv_metric metrics[] = {
    {"throughput", SV_UNIT_FLOP_PER_SECOND, true,
	"multiplications and additions a second, 2mnk a product"},
};

static const struct sv_value precisions[] = {{"fp32", 0, SV_QUICK},
    {"fp64", 0, SV_QUICK}, {"tf32", 0, SV_QUICK}, {"fp16", 0, SV_QUICK},
    {"fp16acc", 0, SV_STANDARD}, {"bf16", 0, SV_QUICK}};
static const struct sv_value sizes[] = {{NULL, 256, SV_QUICK},
    {NULL, 512, SV_STANDARD}, {NULL, 1024, SV_QUICK}, {NULL, 2048, SV_QUICK},
    {NULL, 4096, SV_STANDARD}, {NULL, 8192, SV_FULL}};
static const struct sv_value batches[] = {{NULL, 1, SV_QUICK},
    {NULL, 8, SV_STANDARD}, {NULL, 32, SV_QUICK}, {NULL, 128, SV_STANDARD},
    {NULL, 256, SV_STANDARD}, {NULL, 1024, SV_STANDARD}};
static const struct sv_value square[] = {{"square", 0, SV_QUICK}};
static const struct sv_value mlp[] = {{"mlp", 0, SV_QUICK}};
static const struct sv_value attention[] = {{"attention", 0, SV_QUICK}};

static const struct sv_axis square_axes[] = {
    {"shape", square, 1}, {"precision", precisions, 6}, {"size", sizes, 6}};
static const struct sv_axis mlp_axes[] = {
    {"shape", mlp, 1}, {"precision", precisions, 6}, {"batch", batches, 6}};
static const struct sv_axis attention_axes[] = {{"shape", attention, 1},
    {"precision", precisions, 6}, {"batch", batches, 6}};

static void set_sizes(
    struct sv_case *c, int64_t m, int64_t n, int64_t k, int64_t count)
{
	sv_case_set_number(c, "m", m);
	sv_case_set_number(c, "n", n);
	sv_case_set_number(c, "k", k);
	sv_case_set_number(c, "count", count);
}

static bool is(const struct sv_case *c, const char *name, const char *text)
{
	return strcmp(sv_case_text(c, name), text) == 0;
}

static bool derive_square(struct sv_case *c)
{
	int64_t size = sv_case_number(c, "size");

	/* Double precision is measured to know it, not to explore it. */
	if (is(c, "precision", "fp64") &&
	    (c->level == SV_QUICK ? size != 1024
				  : size > 1024 && c->level < SV_FULL))
		return false;
	sv_case_drop(c, "size");
	sv_case_set_number(c, "batch", 1);
	set_sizes(c, size, size, size, 1);
	return true;
}

static bool derive_mlp(struct sv_case *c)
{
	if (is(c, "precision", "fp64") && c->level < SV_FULL)
		return false;
	set_sizes(c, sv_case_number(c, "batch"), MLP_WIDTH, MLP_WIDTH, 1);
	return true;
}

static bool derive_attention(struct sv_case *c)
{
	int64_t batch = sv_case_number(c, "batch");

	if (c->level < SV_FULL &&
	    (is(c, "precision", "fp64") || is(c, "precision", "fp16acc")))
		return false;
	if (c->level == SV_QUICK && batch != 32)
		return false;
	set_sizes(
	    c, HEAD_SEQUENCE, HEAD_SEQUENCE, HEAD_DIMENSION, HEADS * batch);
	return true;
}

static const struct sv_group groups[] = {
    {{"throughput"}, square_axes, 3, derive_square},
    {{"throughput"}, mlp_axes, 3, derive_mlp},
    {{"throughput"}, attention_axes, 3, derive_attention},
};

/* Elements of all operands and results of one call. */
struct sizes {
	size_t a, b, c;
	size_t operand, result; /* bytes an element */
};

static struct sizes sizes_of(struct sv_device *device, const struct sv_case *c)
{
	size_t m = (size_t)sv_case_number(c, "m");
	size_t n = (size_t)sv_case_number(c, "n");
	size_t k = (size_t)sv_case_number(c, "k");
	size_t count = (size_t)sv_case_number(c, "count");
	struct sizes s = {m * k * count, k * n * count, m * n * count, 0, 0};

	device->ops->gemm_element_bytes(
	    device, sv_case_precision(c), &s.operand, &s.result);
	return s;
}

static double bytes_of(const struct sizes *s)
{
	return (double)(s->a + s->b) * (double)s->operand +
	       (double)s->c * (double)s->result;
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	int code =
	    device->ops->can_precision(device, sv_case_precision(c), err);

	if (code != 0)
		return code;
	struct sizes s = sizes_of(device, c);

	return sv_rig_fits(device, bytes_of(&s), err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	double m = (double)sv_case_number(c, "m");
	double n = (double)sv_case_number(c, "n");
	double k = (double)sv_case_number(c, "k");
	double count = (double)sv_case_number(c, "count");

	return (struct sv_cost){.bytes = 0.0, .flop = 2.0 * m * n * k * count};
}

struct state {
	struct sv_rig rig;
	struct sv_gemm gemm; /* addresses filled in by set */
	struct sizes sizes;
	struct sv_buffer a[MAX_SETS], b[MAX_SETS], c[MAX_SETS];
	size_t sets, next;
	void *host_a, *host_b; /* contents of every set's operands */
};

static int multiply(struct state *s, size_t set, struct sv_err *err)
{
	s->gemm.a = s->a[set].address;
	s->gemm.b = s->b[set].address;
	s->gemm.c = s->c[set].address;
	return s->rig.ops->gemm(s->rig.stream, &s->gemm, err);
}

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	int code = sv_rig_begin(&s->rig, err);

	for (uint64_t i = 0; code == 0 && i < inner; i++) {
		code = multiply(s, s->next, err);
		s->next = (s->next + 1) % s->sets;
	}
	return code != 0 ? code : sv_rig_end(&s->rig, readings, err);
}

/* One product, and the wait for it. */
static int multiply_and_wait(struct state *s, struct sv_err *err)
{
	int code = multiply(s, 0, err);

	return code != 0
		   ? code
		   : s->rig.ops->stream_sync(s->rig.stream, SV_WAIT_SPIN, err);
}

static int make_operands(struct state *s, uint64_t seed, struct sv_err *err)
{
	double scale = pow((double)s->gemm.k, -0.25);
	size_t a_bytes = s->sizes.a * s->sizes.operand;
	size_t b_bytes = s->sizes.b * s->sizes.operand;
	size_t c_bytes = s->sizes.c * s->sizes.result;
	struct sv_device *device = s->rig.device;
	int code = 0;

	s->host_a = malloc(a_bytes);
	s->host_b = malloc(b_bytes);
	if (s->host_a == NULL || s->host_b == NULL)
		return sv_err_set(err, SV_ERESOURCE, "operands: out of memory");
	sv_operands_fill(
	    s->host_a, s->sizes.a, s->gemm.precision, scale, &seed);
	sv_operands_fill(
	    s->host_b, s->sizes.b, s->gemm.precision, scale, &seed);
	for (size_t i = 0; code == 0 && i < s->sets; i++) {
		code = device->ops->alloc(device, a_bytes, &s->a[i], err);
		if (code == 0)
			code =
			    device->ops->alloc(device, b_bytes, &s->b[i], err);
		if (code == 0)
			code =
			    device->ops->alloc(device, c_bytes, &s->c[i], err);
		if (code == 0)
			code = sv_rig_upload(
			    &s->rig, &s->a[i], 0, s->host_a, a_bytes, err);
		if (code == 0)
			code = sv_rig_upload(
			    &s->rig, &s->b[i], 0, s->host_b, b_bytes, err);
	}
	return code;
}

static void free_operands(struct state *s)
{
	struct sv_device *device = s->rig.device;
	struct sv_err ignored;

	for (size_t i = 0; i < MAX_SETS; i++) {
		struct sv_buffer *all[] = {&s->a[i], &s->b[i], &s->c[i]};

		for (size_t j = 0; j < 3; j++)
			if (all[j]->token != NULL)
				(void)device->ops->free(
				    device, all[j], &ignored);
	}
	free(s->host_a);
	free(s->host_b);
}

/* The exact output at (row, column) of one product, and Σ|a·b| beside it. */
static double exact_output(const struct state *s, size_t product, size_t row,
    size_t column, double *sum_abs)
{
	const struct sv_gemm *g = &s->gemm;
	size_t a = (product * g->m + row) * g->k;
	size_t b = product * g->k * g->n + column;
	double sum = 0.0;

	*sum_abs = 0.0;
	for (size_t i = 0; i < g->k; i++) {
		double term =
		    sv_operands_value(s->host_a, a + i, g->precision) *
		    sv_operands_value(s->host_b, b + i * g->n, g->precision);

		sum += term;
		*sum_abs += fabs(term);
	}
	return sum;
}

/* What the device made of it. */
static int read_output(
    struct state *s, size_t index, double *out, struct sv_err *err)
{
	unsigned char element[8];
	enum sv_precision as = s->sizes.result == 8   ? SV_FP64
			       : s->sizes.result == 4 ? SV_FP32
						      : s->gemm.precision;
	int code = s->rig.ops->readback(s->rig.stream, &s->c[0],
	    index * s->sizes.result, element, s->sizes.result, SV_WAIT_SPIN,
	    err);

	if (code == 0) {
		double aligned[1];

		memcpy(aligned, element, s->sizes.result);
		*out = sv_operands_value(aligned, 0, as);
	}
	return code;
}

static int verify(
    struct sv_bench_context *context, struct state *s, struct sv_err *err)
{
	const struct sv_gemm *g = &s->gemm;
	uint64_t random = sv_context_seed(context);
	double worst = 0.0, largest_error = 0.0, size = 0.0;
	int code = multiply_and_wait(s, err);

	for (unsigned i = 0; code == 0 && i < CHECKED; i++) {
		size_t product = (size_t)(sv_random_next(&random) % g->count);
		size_t row = (size_t)(sv_random_next(&random) % g->m);
		size_t column = (size_t)(sv_random_next(&random) % g->n);
		double sum_abs, found = 0.0;
		double exact = exact_output(s, product, row, column, &sum_abs);

		code = read_output(
		    s, (product * g->m + row) * g->n + column, &found, err);
		double error = fabs(found - exact);
		double bound = sv_operands_bound(
		    g->precision, (double)g->k, sum_abs, exact);

		/* A NaN must not pass for a small error. */
		if (!(error <= bound))
			worst = INFINITY;
		else
			worst = fmax(worst, error / bound);
		largest_error = fmax(largest_error, error);
		size += fabs(exact) / CHECKED;
	}
	if (code != 0)
		return code;
	if (g->precision == SV_TF32 && largest_error < TF32_LEAST_ERROR * size)
		sv_report_check(context, false,
		    "relative error %.2g: TF32 was asked for and never "
		    "engaged",
		    largest_error / size);
	else
		sv_report_check(context, worst <= 1.0,
		    "%d outputs, error at most %.2g of the bound, %.2g of "
		    "the mean output",
		    CHECKED, worst, largest_error / size);
	return 0;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	struct state s = {.gemm = {.precision = sv_case_precision(c),
			      .m = (uint64_t)sv_case_number(c, "m"),
			      .n = (uint64_t)sv_case_number(c, "n"),
			      .k = (uint64_t)sv_case_number(c, "k"),
			      .count = (uint64_t)sv_case_number(c, "count")},
	    .sizes = sizes_of(device, c)};
	const struct sv_sampled sampled[] = {
	    {.metric = "throughput", .as = SV_AS_RATE, .amount = cost(c).flop}};
	const struct sv_sampling sampling = {.max_inner = SV_RIG_MAX_QUEUED};
	double bytes = bytes_of(&s.sizes);
	size_t most = (size_t)fmax(1.0, MAX_SETS_BYTES / bytes);
	int code = sv_rig_init(&s.rig, device, err);

	s.sets = sv_rig_rotation(
	    device, (size_t)bytes, 2.0, most < MAX_SETS ? most : MAX_SETS);
	if (code == 0)
		code = make_operands(&s, sv_context_seed(context), err);
	/* What the library loads for the first one must not meet a hold. */
	if (code == 0)
		code = multiply_and_wait(&s, err);
	if (code == 0)
		code =
		    sv_sample(context, sampled, 1, &sampling, measure, &s, err);
	if (code == 0)
		code = verify(context, &s, err);
	free_operands(&s);
	sv_rig_fini(&s.rig);
	return code;
}

const struct sv_bench sv_bench_gemm = {
    .name = "gemm",
    .question = "How fast is matrix multiplication, by precision, shape and "
		"batch?",
    .source = "method notes, section 2, GEMM",
    .metrics = metrics,
    .n_metrics = 1,
    .groups = groups,
    .n_groups = 3,
    .supported = supported,
    .cost = cost,
    .run = run,
};
