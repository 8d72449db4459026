/*
 * Question: what does the device still do when it has worked for a while?
 * Method: matrix products without a pause for `seconds`, in ten windows of
 * equal length; throughput is that of the windows, retention the last
 * window's over the first's. Clocks, power, temperature and throttle reasons
 * are read between windows and kept with the samples.
 * Inside the timed region: the products, as for gemm. Outside: filling, the
 * check, reading the state (a millisecond a window).
 * Known bias: the device comes from the pause before this case, so that the
 * first window is a burst; that is the point of comparing with it.
 * Source: method notes, section 2, GEMM (burst and sustained).
 */
#include "context.h"
#include "product.h"
#include "stave/bench.h"
#include "stave/units.h"

#define WINDOWS		10
/* Large enough to fill any card; what is slower than this takes the small. */
#define LARGE_SIDE	4096
#define SMALL_SIDE	1024
#define LONGEST_LARGE_S 0.1

static const struct sv_metric metrics[] = {
    {"throughput", SV_UNIT_FLOP_PER_SECOND, true,
	"multiplications and additions a second, in windows of the whole time"},
    {"retention", SV_UNIT_ONE, true,
	"throughput of the last window over that of the first"},
};

static const struct sv_value precisions[] = {{"fp32", 0, SV_STANDARD},
    {"tf32", 0, SV_FULL}, {"fp16", 0, SV_STANDARD}, {"bf16", 0, SV_FULL}};
static const struct sv_value seconds[] = {
    {NULL, 5, SV_STANDARD}, {NULL, 30, SV_FULL}};
static const struct sv_axis axes[] = {
    {"precision", precisions, 4}, {"seconds", seconds, 2}};
static const struct sv_group groups[] = {
    {{"throughput", "retention"}, axes, 2, NULL}};

static struct sv_gemm product_of(const struct sv_case *c, uint64_t side)
{
	return (struct sv_gemm){.precision = sv_case_precision(c),
	    .m = side,
	    .n = side,
	    .k = side,
	    .count = 1};
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	struct sv_gemm gemm = product_of(c, LARGE_SIDE);
	int code = device->ops->can_precision(device, gemm.precision, err);

	return code != 0
		   ? code
		   : sv_rig_fits(device, sv_product_bytes(device, &gemm), err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	struct sv_gemm gemm = product_of(c, LARGE_SIDE);

	return (struct sv_cost){.flop = sv_product_flop(&gemm)};
}

static double retention(const double *windows, size_t n)
{
	return windows[n - 1] / windows[0];
}

/*
 * Ready the large product, or the small one on a device that is too slow for
 * it: a window must hold many.
 */
static int choose(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_product *product, struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	struct sv_gemm small = product_of(c, SMALL_SIDE);
	struct sv_gemm large = product_of(c, LARGE_SIDE);
	double ns, growth = sv_product_flop(&large) / sv_product_flop(&small);
	int code = sv_product_init(
	    product, device, &small, sv_context_seed(context), err);

	if (code == 0)
		code = sv_product_measure(product, 1, &ns, err);
	if (code != 0 || growth * ns * 1e-9 > LONGEST_LARGE_S)
		return code;
	sv_product_fini(product);
	return sv_product_init(
	    product, device, &large, sv_context_seed(context), err);
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_product product = {0};
	double window_ns = (double)sv_case_number(c, "seconds") * 1e9 / WINDOWS;
	int code = choose(context, c, &product, err);
	const struct sv_sampled sampled[] = {
	    {.metric = "throughput",
		.as = SV_AS_RATE,
		.amount = sv_product_flop(&product.gemm)},
	    {.metric = "retention", .as = SV_AS_VALUE}};
	const struct sv_sampling sampling = {
	    .max_inner = SV_RIG_MAX_QUEUED, .min_sample_ns = window_ns / 20.0};

	if (code == 0)
		code = sv_sample_windows(context, sampled, &sampling, window_ns,
		    WINDOWS, retention, sv_product_measure, &product, err);
	if (code == 0)
		code = sv_product_verify(context, &product, err);
	sv_product_fini(&product);
	return code;
}

const struct sv_bench sv_bench_sustain = {
    .name = "sustain",
    .question = "What does the device still do when it has worked a while?",
    .source = "method notes, section 2, GEMM",
    .metrics = metrics,
    .n_metrics = 2,
    .groups = groups,
    .n_groups = 1,
    .supported = supported,
    .cost = cost,
    .run = run,
};
