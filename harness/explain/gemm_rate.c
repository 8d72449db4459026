/*
 * The rate of a matrix product from those that were measured. Cubes give the
 * rate over size, since a card fills with the work that a product holds; what
 * other shapes of nearly the same sides were measured at corrects it; and no
 * product runs faster than memory brings its operands.
 */
#include <math.h>

#include "inputs.h"

/* A shape this far away, in doublings of its sides, counts half. */
#define REACH 1.0

/* The side of a cube of as much work as the call holds. */
static double size_of(const struct sv_gemm_point *p)
{
	return cbrt(p->m * p->n * p->k * p->count);
}

static bool is_cube(const struct sv_gemm_point *p)
{
	return p->m == p->n && p->n == p->k && p->count == 1.0;
}

static double element_bytes(enum sv_precision precision)
{
	return precision == SV_FP16 || precision == SV_BF16 ? 2.0 : 4.0;
}

/* FLOP/s at which memory feeds a product that is read and written once. */
static double fed_rate(enum sv_precision precision,
    const struct sv_gemm_point *p, double bandwidth_Bps)
{
	double bytes = element_bytes(precision) *
		       (p->m * p->k + p->k * p->n + p->m * p->n);

	return 2.0 * p->m * p->n * p->k / bytes * bandwidth_Bps;
}

/* The neighbours of a size among the cubes, or among all where none is one. */
struct bracket {
	const struct sv_gemm_point *below, *above;
};

static struct bracket bracket_of(
    const struct sv_gemm_points *g, double size, bool cubes)
{
	struct bracket b = {NULL, NULL};

	for (size_t i = 0; i < g->n; i++) {
		const struct sv_gemm_point *p = &g->points[i];
		double s = size_of(p);

		if (is_cube(p) != cubes)
			continue;
		if (s <= size && (b.below == NULL || s > size_of(b.below)))
			b.below = p;
		if (s > size && (b.above == NULL || s < size_of(b.above)))
			b.above = p;
	}
	return b;
}

/* Whether cubes of several sizes were measured. */
static bool has_sizes(const struct sv_gemm_points *g)
{
	double first = NAN;

	for (size_t i = 0; i < g->n; i++) {
		if (!is_cube(&g->points[i]))
			continue;
		if (isnan(first))
			first = g->points[i].m;
		else if (g->points[i].m != first)
			return true;
	}
	return false;
}

static void add_term(struct sv_gemm_plan *plan, size_t index, double weight)
{
	size_t i = 0;

	while (i < plan->n && plan->terms[i].index != index)
		i++;
	if (i == SV_GEMM_TERMS_MAX)
		return;
	if (i == plan->n) {
		plan->terms[plan->n].index = index;
		plan->terms[plan->n++].weight = 0.0;
	}
	plan->terms[i].weight += weight;
}

/*
 * How the rate goes on below the smallest cube: as it began above it. A card
 * that is not filled gains with the square of the side at most.
 */
static double slope_below(const struct sv_inputs *in,
    const struct sv_gemm_points *g, const struct sv_gemm_point *smallest)
{
	struct bracket b = {NULL, NULL};
	double slope;

	for (size_t i = 0; i < g->n; i++)
		if (is_cube(&g->points[i]) && g->points[i].m > smallest->m &&
		    (b.above == NULL || g->points[i].m < b.above->m))
			b.above = &g->points[i];
	if (b.above == NULL)
		return 0.0;
	slope =
	    log(in->medians[b.above->index] / in->medians[smallest->index]) /
	    log(b.above->m / smallest->m);
	return fmin(fmax(slope, 0.0), 2.0);
}

/* Add weight times the logarithm of the rate that cubes of a size have. */
static void add_rate_over_size(const struct sv_inputs *in,
    const struct sv_gemm_points *g, double size, double weight,
    struct sv_gemm_plan *plan, struct sv_evidence *e)
{
	struct bracket b = bracket_of(g, size, true);
	double f;

	if (b.below == NULL && b.above == NULL)
		b = bracket_of(g, size, false);
	if (b.below == NULL && b.above == NULL)
		return;
	if (b.below == NULL || b.above == NULL) {
		const struct sv_gemm_point *p =
		    b.below != NULL ? b.below : b.above;
		double s = size_of(p);
		bool far = size > 2.0 * s || size < 0.5 * s;

		sv_evidence_add(
		    in, e, p->index, far ? SV_EXTRAPOLATED : SV_MEASURED);
		add_term(plan, p->index, weight);
		if (b.below == NULL && is_cube(p) && has_sizes(g))
			plan->log_factor +=
			    weight * slope_below(in, g, p) * log(size / s);
		return;
	}
	f = log(size / size_of(b.below)) /
	    log(size_of(b.above) / size_of(b.below));
	sv_evidence_add(
	    in, e, b.below->index, f > 0.0 ? SV_INTERPOLATED : SV_MEASURED);
	if (f > 0.0)
		sv_evidence_add(in, e, b.above->index, SV_INTERPOLATED);
	add_term(plan, b.below->index, weight * (1.0 - f));
	add_term(plan, b.above->index, weight * f);
}

static double log_rate(const struct sv_gemm_plan *plan, const double *values)
{
	double sum = plan->log_factor;

	for (size_t i = 0; i < plan->n; i++)
		sum +=
		    plan->terms[i].weight * log(values[plan->terms[i].index]);
	return sum;
}

/*
 * How far below its best a card stays at this size: by the other result,
 * where this one knows its best alone.
 */
static double log_borrowed(const struct sv_inputs *in,
    const struct sv_inputs *other, enum sv_precision precision,
    const struct sv_gemm_point *shape, struct sv_evidence *e)
{
	struct sv_gemm_plan there = {.n = 0};
	double below;

	if (other == NULL || has_sizes(&in->gemm[precision]) ||
	    !has_sizes(&other->gemm[precision]))
		return 0.0;
	add_rate_over_size(
	    other, &other->gemm[precision], size_of(shape), 1.0, &there, NULL);
	below = log_rate(&there, other->medians) -
		log(sv_gemm_plateau(other, precision));
	if (below < 0.0 && e != NULL && e->quality < SV_SUBSTITUTED)
		e->quality = SV_SUBSTITUTED;
	return fmin(below, 0.0);
}

/*
 * Add weight times the logarithm of what a cube of this size would give, or
 * of what memory feeds where that is less: which one, the medians decide.
 */
static void add_base(const struct sv_inputs *in, const struct sv_inputs *other,
    enum sv_precision precision, const struct sv_gemm_point *shape,
    double bandwidth_Bps, double weight, struct sv_gemm_plan *plan,
    struct sv_evidence *e)
{
	const struct sv_gemm_points *g = &in->gemm[precision];
	double fed = fed_rate(precision, shape, bandwidth_Bps);
	struct sv_gemm_plan alone = {.n = 0};

	add_rate_over_size(in, g, size_of(shape), 1.0, &alone, e);
	alone.log_factor += log_borrowed(in, other, precision, shape, e);
	if (log(fed) < log_rate(&alone, in->medians)) {
		plan->log_factor += weight * log(fed);
		return;
	}
	plan->log_factor += weight * alone.log_factor;
	for (size_t i = 0; i < alone.n; i++)
		add_term(
		    plan, alone.terms[i].index, weight * alone.terms[i].weight);
}

/* Square of the distance between two shapes in doublings; m and n may swap. */
static double distance2(
    const struct sv_gemm_point *a, const struct sv_gemm_point *b)
{
	double dk = log2(a->k / b->k);
	double straight =
	    pow(log2(a->m / b->m), 2.0) + pow(log2(a->n / b->n), 2.0);
	double swapped =
	    pow(log2(a->m / b->n), 2.0) + pow(log2(a->n / b->m), 2.0);

	return dk * dk + fmin(straight, swapped);
}

/* How much a measured shape says about another. */
static double weight_of(
    const struct sv_gemm_point *shape, const struct sv_gemm_point *measured)
{
	double d2 = distance2(shape, measured);

	return d2 > 9.0 ? 0.0 : 1.0 / (d2 + 1e-6);
}

/* By what factor shapes near this one differ from cubes of their size. */
static void add_correction(const struct sv_inputs *in,
    const struct sv_inputs *other, enum sv_precision precision,
    const struct sv_gemm_point *shape, double bandwidth_Bps,
    struct sv_gemm_plan *plan, struct sv_evidence *e)
{
	const struct sv_gemm_points *g = &in->gemm[precision];
	double all = 1.0 / (REACH * REACH);

	/* A cube differs from cubes by nothing, and says so of its kin. */
	for (size_t i = 0; i < g->n; i++)
		all += weight_of(shape, &g->points[i]);
	for (size_t i = 0; i < g->n; i++) {
		const struct sv_gemm_point *p = &g->points[i];
		double weight = weight_of(shape, p) / all;

		if (is_cube(p) || weight < 0.01)
			continue;
		add_term(plan, p->index, weight);
		add_base(in, other, precision, p, bandwidth_Bps, -weight, plan,
		    NULL);
		sv_evidence_add(in, e, p->index, SV_MEASURED);
	}
}

/* What stands in for a precision that was not measured. */
static const enum sv_precision substitutes[SV_N_PRECISIONS][3] = {
    [SV_FP32] = {SV_TF32, SV_FP16, SV_BF16},
    [SV_TF32] = {SV_FP16, SV_BF16, SV_FP32},
    [SV_FP16] = {SV_BF16, SV_TF32, SV_FP32},
    [SV_BF16] = {SV_FP16, SV_TF32, SV_FP32},
};

static double ratio_of_peaks(
    const struct sv_inputs *in, enum sv_precision to, enum sv_precision from)
{
	/* Where no peak is known: tensor cores do TF32 at half of FP16. */
	static const double usual[] = {
	    [SV_FP32] = 1.0, [SV_TF32] = 1.0, [SV_FP16] = 2.0, [SV_BF16] = 2.0};
	double ratio = in->peak_flops[to] / in->peak_flops[from];

	if (isfinite(ratio) && ratio > 0.0)
		return ratio;
	return from == SV_FP32 || to == SV_FP32 ? 1.0 : usual[to] / usual[from];
}

bool sv_gemm_plan(const struct sv_inputs *in, const struct sv_inputs *other,
    enum sv_precision precision, const struct sv_gemm_point *shape,
    double bandwidth_Bps, struct sv_gemm_plan *out, struct sv_evidence *e)
{
	enum sv_precision from = precision;

	for (int i = 0; i < 3 && in->gemm[from].n == 0; i++)
		from = substitutes[precision][i];
	if (in->gemm[from].n == 0)
		return false;
	if (from != precision && e != NULL && e->quality < SV_SUBSTITUTED)
		e->quality = SV_SUBSTITUTED;
	/* An unknown bandwidth bounds nothing. */
	if (isnan(bandwidth_Bps))
		bandwidth_Bps = INFINITY;
	*out = (struct sv_gemm_plan){
	    .log_factor = log(ratio_of_peaks(in, precision, from))};
	add_base(in, other, from, shape, bandwidth_Bps, 1.0, out, e);
	add_correction(in, other, from, shape, bandwidth_Bps, out, e);
	return true;
}

double sv_gemm_plan_rate(const struct sv_gemm_plan *plan, const double *values)
{
	return exp(log_rate(plan, values));
}

double sv_gemm_plateau(const struct sv_inputs *in, enum sv_precision precision)
{
	const struct sv_gemm_points *g = &in->gemm[precision];
	double best = NAN;

	for (size_t i = 0; i < g->n; i++)
		best = fmax(best, in->medians[g->points[i].index]);
	return best;
}
