/*
 * The stages of a step from one machine's measurements. A stage that the step
 * asks for and the result knows nothing of counts as nothing and is named.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "step_model.h"

struct sv_step_plan {
	struct sv_side side;
	struct sv_workload_defaults defaults;
	struct sv_demand demand;
	enum sv_curve_name memory_op;
	double kernels; /* as dispatched; 0 where the workload does not say */
	double memory_kernels;
	struct sv_gemm_plan *products;
	struct sv_gemm_time *times; /* one a product; their counts stand */
	double *flop_each;	    /* of a call */
	size_t n_products;
};

struct sv_side sv_side_plain(
    const struct sv_inputs *in, const struct sv_workload *workload, long batch)
{
	return (struct sv_side){.in = in,
	    .workload = workload,
	    .batch = batch,
	    .link_factor = 1.0,
	    .gemm_factor = 1.0,
	    .workers = -1};
}

enum sv_precision sv_precision_of(const char *word, bool bf16)
{
	if (strcmp(word, "amp") == 0)
		return bf16 ? SV_BF16 : SV_FP16;
	for (int i = 0; i < SV_N_PRECISIONS; i++)
		if (strcmp(word, sv_precision_name(i)) == 0)
			return (enum sv_precision)i;
	return SV_FP32;
}

bool sv_is_half(const char *word)
{
	return strcmp(word, "amp") == 0 || strcmp(word, "fp16") == 0 ||
	       strcmp(word, "bf16") == 0;
}

enum sv_curve_name sv_memory_op(
    const struct sv_inputs *a, const struct sv_inputs *b)
{
	static const enum sv_curve_name ops[] = {
	    SV_CURVE_TRIAD, SV_CURVE_COPY, SV_CURVE_READ};

	for (int i = 0; i < 3; i++)
		if (sv_has_curve(a, ops[i]) && sv_has_curve(b, ops[i]))
			return ops[i];
	for (int i = 0; i < 3; i++)
		if (sv_has_curve(a, ops[i]) || sv_has_curve(b, ops[i]))
			return ops[i];
	return SV_CURVE_TRIAD;
}

static double memory_bytes(const struct sv_step_plan *p)
{
	return sv_is_half(p->defaults.precision) ? p->demand.memory_bytes.amp
						 : p->demand.memory_bytes.fp32;
}

static long workers(const struct sv_step_plan *p)
{
	return p->side.workers >= 0 ? p->side.workers
				    : p->defaults.loader_workers;
}

/* Threads that the loader's workers can be on; a step alone has one. */
static double loader_threads(const struct sv_step_plan *p)
{
	double n = fmax((double)workers(p), 1.0);

	return n > p->side.in->usable_threads ? p->side.in->usable_threads : n;
}

/* Curve of kind, or of the other where that was not measured. */
static double rate_of(const struct sv_step_plan *p, const double *v,
    enum sv_curve_name name, enum sv_curve_name other, double x,
    struct sv_evidence *e)
{
	const struct sv_inputs *in = p->side.in;

	if (sv_has_curve(in, name))
		return sv_curve_at(in, v, name, x, e);
	if (e != NULL && sv_has_curve(in, other))
		e->quality = SV_SUBSTITUTED;
	return sv_curve_at(in, v, other, x, e);
}

static double or_zero(double value, bool *missing)
{
	if (isfinite(value))
		return value;
	*missing = true;
	return 0.0;
}

static void plan_storage(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	/* Less than half a file a sample: many samples share one. */
	bool packed = p->demand.sample_files < 0.5 * (double)p->side.batch;
	enum sv_curve_name cold =
	    packed ? SV_CURVE_PACKED_COLD : SV_CURVE_FILES_COLD;
	enum sv_curve_name warm =
	    packed ? SV_CURVE_PACKED_WARM : SV_CURVE_FILES_WARM;
	const struct sv_inputs *in = p->side.in;
	struct sv_evidence *e = &f->evidence[SV_STORAGE];
	double samples = (double)p->side.batch, rate, size, measured;

	if (p->demand.sample_bytes <= 0.0)
		return;
	rate = rate_of(p, v, cold, warm, loader_threads(p), e);
	size = p->demand.sample_bytes / samples;
	measured =
	    in->curves[sv_has_curve(in, cold) ? cold : warm].sample_bytes;
	/* Larger samples take longer; smaller ones still cost an access. */
	if (measured > 0.0 && size > measured)
		rate *= measured / size;
	s->storage_s = or_zero(samples / rate, &f->missing[SV_STORAGE]);
}

static void plan_preprocess(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	static const struct {
		const char *work;
		enum sv_curve_name curve;
	} curves[] = {{"decode", SV_CURVE_DECODE}, {"resize", SV_CURVE_RESIZE},
	    {"standard", SV_CURVE_STANDARD}, {"heavy", SV_CURVE_HEAVY}};
	const struct sv_inputs *in = p->side.in;
	double threads = loader_threads(p), rate = NAN, least;

	s->preprocess.is_async = p->defaults.prefetch && workers(p) > 0;
	if (p->demand.work == NULL)
		return;
	for (size_t i = 0; i < 4; i++) {
		const struct sv_curve *c = &in->curves[curves[i].curve];

		if (strcmp(curves[i].work, p->demand.work) != 0 || c->n == 0)
			continue;
		least = c->points[0].x;
		rate = sv_curve_at(in, v, curves[i].curve, threads,
		    &f->evidence[SV_PREPROCESS]);
		/* Fewer workers than measured do so much less. */
		if (threads < least)
			rate *= threads / least;
	}
	s->preprocess.s =
	    or_zero((double)p->side.batch / rate, &f->missing[SV_PREPROCESS]);
}

/* By how much the card's own node is faster than the one in use. */
static double near_factor(const struct sv_step_plan *p, const double *v)
{
	const struct sv_inputs *in = p->side.in;
	double bytes = p->demand.h2d_bytes, near, used;

	if (!p->side.near || !sv_has_curve(in, SV_CURVE_H2D_NEAR))
		return 1.0;
	near = sv_curve_at(in, v, SV_CURVE_H2D_NEAR, bytes, NULL);
	used = sv_curve_at(in, v, SV_CURVE_H2D_PINNED, bytes, NULL);
	return near > used ? near / used : 1.0;
}

static double copy_s(const struct sv_step_plan *p, const double *v,
    double bytes, bool to_device, struct sv_step_facts *f)
{
	bool pinned = p->defaults.memory == SV_MEMORY_PINNED;
	enum sv_curve_name pinned_curve =
	    to_device ? SV_CURVE_H2D_PINNED : SV_CURVE_D2H_PINNED;
	enum sv_curve_name pageable_curve =
	    to_device ? SV_CURVE_H2D_PAGEABLE : SV_CURVE_D2H_PAGEABLE;
	double rate, factor = p->side.link_factor * near_factor(p, v);

	if (bytes <= 0.0)
		return 0.0;
	rate = rate_of(p, v, pinned ? pinned_curve : pageable_curve,
	    pinned ? pageable_curve : pinned_curve, bytes,
	    &f->evidence[SV_TRANSFER]);
	/* Pageable copies are staged: a second pass that no link speeds up. */
	if (!pinned && factor != 1.0) {
		double link =
		    rate_of(p, v, pinned_curve, pageable_curve, bytes, NULL);
		double staging = 1.0 / rate - 1.0 / link;

		rate = 1.0 / (fmax(staging, 0.0) + 1.0 / (link * factor));
		factor = 1.0;
	}
	return or_zero(bytes / (rate * factor), &f->missing[SV_TRANSFER]);
}

static void plan_transfer(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	const struct sv_inputs *in = p->side.in;

	s->transfer.s = copy_s(p, v, p->demand.h2d_bytes, true, f) +
			copy_s(p, v, p->demand.d2h_bytes, false, f);
	if (p->demand.h2d_bytes + p->demand.d2h_bytes <= 0.0 ||
	    !p->defaults.prefetch || p->defaults.memory != SV_MEMORY_PINNED)
		return;
	s->transfer.hidden = sv_curve_at(
	    in, v, SV_CURVE_OVERLAP, 1.0, &f->evidence[SV_TRANSFER]);
	/* Engines that copy beside kernels are what every card since has. */
	if (isnan(s->transfer.hidden))
		s->transfer.hidden = 1.0;
	s->transfer.hidden = fmin(fmax(s->transfer.hidden, 0.0), 1.0);
}

static void plan_dispatch(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	const struct sv_inputs *in = p->side.in;
	struct sv_evidence *e = &f->evidence[SV_DISPATCH];
	double submit = sv_curve_at(in, v, SV_CURVE_SUBMIT, 64.0, e);
	double gap = sv_curve_at(in, v, SV_CURVE_GAP, 1.0, e);
	double trip = sv_curve_at(in, v, SV_CURVE_ROUNDTRIP, 64.0, e);
	double wait = sv_curve_at(in, v, SV_CURVE_WAIT, 1.0, e);
	double latency = trip - submit - gap - wait;
	bool ignored = false;

	s->dispatch.kernels = p->kernels;
	if (p->kernels <= 0.0) {
		*e = (struct sv_evidence){.n = 0};
		return;
	}
	s->dispatch.host_each_s = or_zero(submit, &f->missing[SV_DISPATCH]) *
				  p->demand.dispatch_factor;
	s->dispatch.floor_s = or_zero(gap, &ignored);
	s->dispatch.latency_s = fmax(or_zero(latency, &ignored), 0.0);
	if (p->side.graphs) {
		double node = sv_curve_at(in, v, SV_CURVE_GRAPH, p->kernels, e);

		/* One submission for all; each node has a shorter gap. */
		s->dispatch.host_each_s /=
		    p->demand.dispatch_factor * p->kernels;
		if (isfinite(node))
			s->dispatch.floor_s = fmin(node, s->dispatch.floor_s);
	}
}

static void plan_device(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	double bytes = memory_bytes(p), rate;

	for (size_t i = 0; i < p->n_products; i++) {
		p->times[i].each_s =
		    p->flop_each[i] / (sv_gemm_plan_rate(&p->products[i], v) *
					  p->side.gemm_factor);
	}
	s->gemm.list = p->times;
	s->gemm.n = p->n_products;
	s->gemm.is_spread = p->demand.gemm_is_typical && p->kernels > 0.0;
	if (bytes <= 0.0)
		return;
	rate = sv_curve_at(p->side.in, v, p->memory_op,
	    bytes / p->memory_kernels, &f->evidence[SV_MEMORY]);
	s->memory_s = or_zero(bytes / rate, &f->missing[SV_MEMORY]);
}

static void plan_waits(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	const struct sv_inputs *in = p->side.in;

	if (p->demand.syncs > 0.0) {
		double each = rate_of(p, v, SV_CURVE_READBACK, SV_CURVE_WAIT,
		    1.0, &f->evidence[SV_SYNC]);

		s->sync.each_s = or_zero(each, &f->missing[SV_SYNC]);
		s->sync.count = f->missing[SV_SYNC] ? 0.0 : p->demand.syncs;
	}
	if (p->demand.resets > 0.0) {
		const struct sv_curve *c = &in->curves[SV_CURVE_RESET];
		double bytes = p->demand.working_set_bytes;
		double each = sv_curve_at(in, v, SV_CURVE_RESET,
		    bytes > 0.0 ? bytes : 1.0, &f->evidence[SV_ALLOCATOR]);

		/* Blocks are taken one by one: more of them, more time. */
		if (c->n > 0 && bytes > c->points[c->n - 1].x)
			each *= bytes / c->points[c->n - 1].x;
		s->allocator.each_s = or_zero(each, &f->missing[SV_ALLOCATOR]);
		s->allocator.count =
		    f->missing[SV_ALLOCATOR] ? 0.0 : p->demand.resets;
	}
}

static void plan_exchange(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	double n = (double)p->defaults.gpus;
	double bytes = p->demand.gradient_bytes, rate;

	if (n < 2.0 || bytes <= 0.0)
		return;
	rate = rate_of(p, v, SV_CURVE_PEER_P2P, SV_CURVE_PEER_STAGED, bytes,
	    &f->evidence[SV_EXCHANGE]);
	/* A ring: every card sends and takes this much. */
	s->exchange_s = or_zero(
	    2.0 * (n - 1.0) / n * bytes / rate, &f->missing[SV_EXCHANGE]);
}

/*
 * A step goes through its memory in order, so that what does not fit has
 * always been put out last before it is wanted: all of it moves, both ways.
 */
static void plan_spill(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	const struct sv_inputs *in = p->side.in;
	double wanted = p->demand.working_set_bytes;
	double room = isnan(in->memory_free_bytes) ? in->memory_bytes
						   : in->memory_free_bytes;
	struct sv_evidence *e = &f->evidence[SV_SPILL];
	double in_s, out_s;

	if (wanted <= 0.0 || !(wanted > room))
		return;
	in_s = wanted / rate_of(p, v, SV_CURVE_H2D_PAGEABLE,
			    SV_CURVE_H2D_PINNED, wanted, e);
	out_s = wanted / rate_of(p, v, SV_CURVE_D2H_PAGEABLE,
			     SV_CURVE_D2H_PINNED, wanted, e);
	s->spill_s = or_zero(in_s + out_s, &f->missing[SV_SPILL]);
}

static void make_stages(const struct sv_step_plan *p, const double *v,
    struct sv_stages *s, struct sv_step_facts *f)
{
	*s = (struct sv_stages){.storage_s = 0.0};
	plan_storage(p, v, s, f);
	plan_preprocess(p, v, s, f);
	plan_transfer(p, v, s, f);
	plan_dispatch(p, v, s, f);
	plan_device(p, v, s, f);
	plan_waits(p, v, s, f);
	plan_exchange(p, v, s, f);
	plan_spill(p, v, s, f);
}

void sv_step_stages(
    struct sv_step_plan *p, const double *values, struct sv_stages *out)
{
	struct sv_step_facts unused = {.missing = {false}};

	make_stages(p, values, out, &unused);
}

/*
 * Products that come with every sample (attention's) are one call for all
 * samples; a typical shape and a layer's product are calls of their own.
 */
static double products_in_a_call(const struct sv_step_plan *p, size_t i)
{
	double together = 1.0;
	struct sv_demand one;

	if (p->demand.gemm_is_typical || p->side.batch == 1 ||
	    sv_workload_demand(p->side.workload, 1, &one, NULL) != 0)
		return 1.0;
	if (one.gemm[i].count > 0.0)
		together = p->demand.gemm[i].count / one.gemm[i].count;
	sv_demand_fini(&one);
	return fmax(together, 1.0);
}

static int plan_products(
    struct sv_step_plan *p, struct sv_step_facts *f, struct sv_err *err)
{
	const struct sv_inputs *in = p->side.in;
	enum sv_precision precision =
	    sv_precision_of(p->defaults.precision, p->demand.bf16);
	double bandwidth =
	    sv_has_curve(in, p->memory_op)
		? sv_curve_at(in, in->medians, p->memory_op, INFINITY, NULL)
		: NAN;

	p->products = calloc(p->demand.n_gemm + 1, sizeof *p->products);
	p->times = calloc(p->demand.n_gemm + 1, sizeof *p->times);
	p->flop_each = calloc(p->demand.n_gemm + 1, sizeof *p->flop_each);
	if (p->products == NULL || p->times == NULL || p->flop_each == NULL)
		return sv_err_set(err, SV_ERESOURCE, "explain: out of memory");
	for (size_t i = 0; i < p->demand.n_gemm; i++) {
		const struct sv_gemm_shape *g = &p->demand.gemm[i];
		double together = products_in_a_call(p, i);
		struct sv_gemm_point shape = {
		    g->m, g->n, g->k, together, 0, 0.0};

		p->times[i].count = g->count / together;
		p->flop_each[i] = 2.0 * g->m * g->n * g->k * together;

		if (!sv_gemm_plan(in, p->side.other, precision, &shape,
			bandwidth, &p->products[i], &f->evidence[SV_GEMM])) {
			f->missing[SV_GEMM] = true;
			return 0;
		}
		p->n_products = i + 1;
	}
	return 0;
}

static double calls_of_products(const struct sv_step_plan *p)
{
	double n = 0.0;

	for (size_t i = 0; i < p->n_products; i++)
		n += p->times[i].count;
	return n;
}

/* What benches/step.c leaves out, and how it runs the rest. */
static void as_benched(struct sv_step_plan *p)
{
	p->defaults.memory = SV_MEMORY_PINNED;
	p->defaults.prefetch = true;
	p->defaults.gpus = 1;
	p->demand.dispatch_factor = 1.0;
	p->demand.syncs = p->demand.resets = 0.0;
	p->demand.sample_bytes = 0.0;
	p->demand.work = NULL;
}

int sv_step_plan_new(const struct sv_side *side, enum sv_curve_name memory_op,
    struct sv_step_facts *facts, struct sv_step_plan **out, struct sv_err *err)
{
	struct sv_step_plan *p = calloc(1, sizeof *p);
	struct sv_stages stages;
	int code;

	if (p == NULL)
		return sv_err_set(err, SV_ERESOURCE, "explain: out of memory");
	*facts = (struct sv_step_facts){.missing = {false}};
	p->side = *side;
	p->defaults = *sv_workload_defaults(side->workload);
	if (side->precision != NULL)
		p->defaults.precision = side->precision;
	p->memory_op = memory_op;
	code = sv_workload_demand(side->workload, side->batch, &p->demand, err);
	if (code == 0) {
		if (side->benched)
			as_benched(p);
		p->kernels = p->demand.kernels;
		code = plan_products(p, facts, err);
		p->memory_kernels = fmax(p->kernels, 1.0);
		if (!p->demand.gemm_is_typical)
			p->memory_kernels =
			    fmax(p->kernels - calls_of_products(p), 1.0);
	}
	if (code != 0) {
		sv_step_plan_free(p);
		return code;
	}
	make_stages(p, side->in->medians, &stages, facts);
	*out = p;
	return 0;
}

void sv_step_plan_free(struct sv_step_plan *p)
{
	if (p == NULL)
		return;
	sv_demand_fini(&p->demand);
	free(p->products);
	free(p->times);
	free(p->flop_each);
	free(p);
}
