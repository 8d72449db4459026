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
#include <string.h>

#include "context.h"
#include "product.h"
#include "stave/bench.h"
#include "stave/units.h"

#define MLP_WIDTH      4096
#define HEADS	       16
#define HEAD_SEQUENCE  128
#define HEAD_DIMENSION 64

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
	/* Two gigabytes that teach nothing which a quarter of it does not. */
	if (c->level < SV_FULL && batch > 256)
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

static struct sv_gemm gemm_of(const struct sv_case *c)
{
	return (struct sv_gemm){.precision = sv_case_precision(c),
	    .m = (uint64_t)sv_case_number(c, "m"),
	    .n = (uint64_t)sv_case_number(c, "n"),
	    .k = (uint64_t)sv_case_number(c, "k"),
	    .count = (uint64_t)sv_case_number(c, "count")};
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	int code =
	    device->ops->can_precision(device, sv_case_precision(c), err);
	struct sv_gemm gemm = gemm_of(c);

	return code != 0
		   ? code
		   : sv_rig_fits(device, sv_product_bytes(device, &gemm), err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	struct sv_gemm gemm = gemm_of(c);

	return (struct sv_cost){.flop = sv_product_flop(&gemm)};
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	const struct sv_sampled sampled[] = {
	    {.metric = "throughput", .as = SV_AS_RATE, .amount = cost(c).flop}};
	const struct sv_sampling sampling = {.max_inner = SV_RIG_MAX_QUEUED};
	struct sv_gemm gemm = gemm_of(c);
	struct sv_product product;
	int code = sv_product_init(&product, sv_context_device(context), &gemm,
	    sv_context_seed(context), err);

	if (code == 0)
		code = sv_sample(context, sampled, 1, &sampling,
		    sv_product_measure, &product, err);
	if (code == 0)
		code = sv_product_verify(context, &product, err);
	sv_product_fini(&product);
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
