/*
 * Causes on the card: precision, clocks and power, kernels older than it, a
 * card that is slow for no reason, and what is as designed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "quantity.h"
#include "stave/units.h"

/* A rate this far below what A's card makes of its peak is not by design. */
#define FAR_BELOW	 0.7
/*
 * GeForce cards accumulate fp16 products in fp32 at half the rate that their
 * architecture's peak counts: half is no fault, clearly less is.
 */
#define HALF_RATE_FAULT	 0.38
/* A clock under load at less than this of its maximum is held back. */
#define HELD_CLOCK	 0.7
/* A reason that held for this part of the measured time counts. */
#define THROTTLED_PART	 0.05
/*
 * The least that reports of a library or kernel image older than the card
 * lost (pytorch#47039, #119458; webui#2449 lost 2.3 times).
 */
#define OLD_LIBRARY_LOSS 1.2

/* fp16 and bf16 run on the same units at the same rate. */
static enum sv_precision twin_of(enum sv_precision p)
{
	return p == SV_FP16 ? SV_BF16 : p == SV_BF16 ? SV_FP16 : p;
}

static enum sv_precision precision_of(const struct sv_workload *w)
{
	return sv_precision_of(
	    sv_workload_defaults(w)->precision, sv_workload_amp_is_bf16(w));
}

/* Rate of the best product over the theoretical peak; NaN unknown. */
static double part_of_peak(const struct sv_inputs *in, enum sv_precision p)
{
	return sv_gemm_plateau(in, p) / in->peak_flops[p];
}

static bool is_same_card(const struct sv_case *c)
{
	const char *a = sv_case_word(c, false, "device.name");
	const char *b = sv_case_word(c, true, "device.name");

	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/*
 * By what factor B's products should run faster, were the card what it should
 * be; 1 where nothing is wrong. *alone: only this precision is slow.
 */
static double gemm_shortfall(
    const struct sv_case *c, enum sv_precision p, bool *alone)
{
	double b = part_of_peak(c->in_b, p), a = part_of_peak(c->in_a, p);
	double rate = sv_gemm_plateau(c->in_b, p);
	double twin = sv_gemm_plateau(c->in_b, twin_of(p));
	double wide = part_of_peak(c->in_b, SV_FP32);

	*alone = false;
	if (isnan(rate))
		return 1.0;
	if (twin > rate / FAR_BELOW) {
		*alone = true;
		return twin / rate;
	}
	if (is_same_card(c)) {
		double own = sv_gemm_plateau(c->in_a, p);
		double other = part_of_peak(c->in_a, SV_FP32);

		*alone = p != SV_FP32 && wide > FAR_BELOW * other;
		return rate < FAR_BELOW * own ? own / rate : 1.0;
	}
	if (isnan(b) || isnan(a) || b >= FAR_BELOW * a)
		return 1.0;
	*alone = p != SV_FP32 && wide > FAR_BELOW;
	/* Another kind of card may be a half-rate one. */
	if (p != SV_FP32 && b >= HALF_RATE_FAULT)
		return 1.0;
	return fmin(a / b, 1.0 / b);
}

static bool has_reason(const struct sv_case *c, const char *const *wanted)
{
	json_t *reasons =
	    sv_result_field(c->request->b->device, "throttle.reasons");
	json_t *reason;
	size_t i;

	json_array_foreach (reasons, i, reason)
		for (size_t k = 0; wanted[k] != NULL; k++)
			if (json_is_string(reason) &&
			    strcmp(json_string_value(reason), wanted[k]) == 0)
				return true;
	return false;
}

/* Whether the card was held back, for one of these reasons. */
static bool is_throttled(const struct sv_case *c, const char *const *reasons)
{
	double part = sv_case_number(c, true, "device.throttle.fraction");

	return has_reason(c, reasons) && !(part < THROTTLED_PART);
}

static const char *const power_reasons[] = {
    "sw_power_cap", "hw_power_brake", NULL};
static const char *const heat_reasons[] = {
    "sw_thermal", "hw_thermal", "hw_slowdown", NULL};

/* A limit below the card's own that its draw stands at. */
static bool is_capped(const struct sv_case *c)
{
	double limit = sv_case_number(c, true, "device.power.limit_w");
	double own = sv_case_number(c, true, "device.power.default_limit_w");
	double draw = sv_case_number(c, true, "device.power.draw_under_load_w");

	return limit < 0.95 * own && draw > 0.95 * limit;
}

/* SM clock under load over its maximum; NaN unknown. */
static double clock_part(const struct sv_case *c, bool of_b)
{
	return sv_case_number(c, of_b, "device.clocks.under_load.sm_Hz") /
	       sv_case_number(c, of_b, "device.clocks.max_sm_Hz");
}

/*
 * How much faster an unhindered B would multiply: by what A's card makes of
 * its peak, else by the clocks.
 */
static double unhindered(const struct sv_case *c, enum sv_precision p)
{
	double a = part_of_peak(c->in_a, p), b = part_of_peak(c->in_b, p);
	double clock = clock_part(c, true), other = clock_part(c, false);
	double factor = 1.0;

	if (is_same_card(c))
		factor =
		    sv_gemm_plateau(c->in_a, p) / sv_gemm_plateau(c->in_b, p);
	else if (a > b)
		factor = fmin(a, 1.0) / b;
	/* Clocks bound what a peak can promise. */
	if (isfinite(clock) && isfinite(other) && clock < other &&
	    (!(factor > 1.0) || factor > 1.0 / clock))
		factor = fmin(other, 1.0) / clock;
	return factor > 1.0 ? factor : 1.0;
}

/* Products faster by a factor, and all else of B as it is mended to. */
static void with_faster_products(
    struct sv_case *c, double factor, struct sv_stages *out)
{
	struct sv_side side = c->b;
	struct sv_stages s;

	side.gemm_factor = factor;
	sv_case_stages(c, &side, &s);
	*out = c->mended;
	sv_stage_take(out, &s, SV_GEMM);
}

/* Whether it was worth a cause; *f is complete but for its gain. */
static bool add_if_worth(struct sv_case *c, struct sv_suspect *f, double factor)
{
	struct sv_stages with;

	with_faster_products(c, factor, &with);
	if (!sv_case_lift(c, f, &with))
		return false;
	sv_case_add(c, f);
	c->mended = with;
	return true;
}

static bool held_back(struct sv_case *c, enum sv_precision p)
{
	double factor = unhindered(c, p), clock = clock_part(c, true);
	bool hot = is_throttled(c, heat_reasons);
	bool capped = is_throttled(c, power_reasons) || is_capped(c);
	bool slow_clock = clock < HELD_CLOCK;
	struct sv_suspect f = {
	    .share_s = c->shares.share_s[SV_GEMM], .component = SV_GEMM};

	if (hot) {
		f.code = "THERMAL";
		f.claim = sv_case_text(c,
		    "B's card lowers its clocks for heat, at %.0f degrees, in "
		    "%.0f %% of the measured time.",
		    sv_case_number(c, true, "device.temperature_under_load_C"),
		    100.0 *
			sv_case_number(c, true, "device.throttle.fraction"));
		f.remedy = "clean and aim the airflow, raise the fans, leave a "
			   "slot free beside the card";
		f.falsify = "stave run --bench sustain with the case open: the "
			    "clocks stay as low";
		f.fields[0] = "device.throttle.reasons";
		f.fields[1] = "device.temperature_under_load_C";
	} else if (capped) {
		f.code = "POWER_LIMIT";
		f.claim = sv_case_text(c,
		    "B's card stands at its power limit of %.0f W (its own "
		    "is %.0f W) and lowers its clocks.",
		    sv_case_number(c, true, "device.power.limit_w"),
		    sv_case_number(c, true, "device.power.default_limit_w"));
		f.remedy = "raise the limit (nvidia-smi -pl), and see that "
			   "supply, cables and chassis allow it";
		f.falsify = "stave run --bench gemm at the default limit: it "
			    "is no faster";
		f.fields[0] = "device.power.limit_w";
		f.fields[1] = "device.throttle.reasons";
	} else if (slow_clock) {
		f.code = "CLOCKS";
		f.claim = sv_case_text(c,
		    "B's card runs at %.0f MHz under load, %.0f %% of what it "
		    "can, and gives no reason: a lock, most likely.",
		    1e-6 * sv_case_number(
			       c, true, "device.clocks.under_load.sm_Hz"),
		    100.0 * clock);
		f.remedy = "reset the clocks: nvidia-smi -rgc, -rac and -rmc";
		f.falsify = "the clocks under load after the reset: they stay "
			    "as low";
		f.fields[0] = "device.clocks.under_load";
		f.fields[1] = "device.clocks.max_sm_Hz";
	} else {
		return false;
	}
	return add_if_worth(c, &f, factor);
}

/* "sm_89" in a list of the framework; true where there is no list. */
static bool is_built_for(const struct sv_case *c, int major, int minor)
{
	json_t *list = sv_result_field(
	    c->request->b->device, "libraries.framework_arch_list");
	char name[32];
	json_t *arch;
	size_t i;

	if (json_array_size(list) == 0)
		return true;
	json_array_foreach (list, i, arch) {
		int has;

		snprintf(name, sizeof name, "%s",
		    json_is_string(arch) ? json_string_value(arch) : "");
		/* Code of a smaller minor number runs as it is. */
		if (sscanf(name, "sm_%d", &has) == 1 &&
		    has == major * 10 + minor)
			return true;
	}
	return false;
}

/*
 * Whether cuDNN came out before the card's architecture. Source: cuDNN
 * support matrices (8.0.5 for 8.6, 8.7 for 8.9 and 9.0, 9.7 for 10 and 12).
 */
static bool is_older_than(const char *cudnn, int major, int minor)
{
	static const struct {
		int capability, first, second;
	} least[] = {{70, 7, 0}, {75, 7, 3}, {80, 8, 0}, {86, 8, 0}, {89, 8, 7},
	    {90, 8, 7}, {100, 9, 7}, {120, 9, 7}};
	int first, second = 0, wanted = major * 10 + minor;

	if (cudnn == NULL || sscanf(cudnn, "%d.%d", &first, &second) < 1)
		return false;
	for (size_t i = 0; i < sizeof least / sizeof least[0]; i++)
		if (least[i].capability == wanted)
			return first < least[i].first ||
			       (first == least[i].first &&
				   second < least[i].second);
	return false;
}

static void software_age(
    struct sv_case *c, enum sv_precision p, bool alone, double shortfall)
{
	json_t *capability =
	    sv_result_field(c->request->b->device, "compute_capability");
	int major = (int)json_integer_value(json_array_get(capability, 0));
	int minor = (int)json_integer_value(json_array_get(capability, 1));
	const char *cudnn = sv_case_word(c, true, "device.libraries.cudnn");
	bool foreign = !is_built_for(c, major, minor);
	bool old = is_older_than(cudnn, major, minor);
	struct sv_suspect f = {.code = "SOFTWARE_AGE",
	    .share_s = c->shares.share_s[SV_GEMM],
	    .remedy = sv_case_text(c,
		"a framework built for sm_%d%d with its cuDNN and cuBLAS; "
		"look at the file that the process has mapped, not at the "
		"package list",
		major, minor),
	    .falsify = "stave run --bench gemm with the newer library: the "
		       "rate stays",
	    .component = SV_GEMM,
	    .fields = {"device.libraries", "device.compute_capability"}};

	if (!foreign && !old && !(alone && shortfall > 1.0))
		return;
	if (foreign)
		f.claim = sv_case_text(c,
		    "B's framework holds no code for its card (sm_%d%d): "
		    "kernels of older cards run, or are compiled at the first "
		    "call.",
		    major, minor);
	else if (old)
		f.claim = sv_case_text(c,
		    "B's cuDNN %s is older than its card (sm_%d%d) and knows "
		    "no fast kernels for it.",
		    cudnn, major, minor);
	else
		f.claim = sv_case_text(c,
		    "B's %s products run %.1f times slower than the card's "
		    "other precisions promise: the library has no good "
		    "kernels for this card yet.",
		    sv_precision_name(p), shortfall);
	add_if_worth(c, &f, fmax(shortfall, OLD_LIBRARY_LOSS));
}

static void faulty_card(
    struct sv_case *c, enum sv_precision p, double shortfall)
{
	char text[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "FAULTY_CARD",
	    .share_s = c->shares.share_s[SV_GEMM],
	    .claim = sv_case_text(c,
		"B's card multiplies (%s) at %s at most, %.1f times less than "
		"it should, with no reason reported.",
		sv_precision_name(p),
		sv_quantity(text, sizeof text, sv_gemm_plateau(c->in_b, p),
		    SV_UNIT_FLOP_PER_SECOND),
		shortfall),
	    .remedy = "power-cycle the machine, try the card in another one, "
		      "and have it replaced",
	    .falsify = "stave run on another card of the same kind: it is as "
		       "slow",
	    .component = SV_GEMM,
	    .fields = {"device.throttle.reasons"}};

	add_if_worth(c, &f, shortfall);
}

static void precision_off(struct sv_case *c, enum sv_precision p)
{
	const char *word =
	    sv_workload_defaults(c->request->workload_b)->precision;
	const char *other =
	    sv_workload_defaults(c->request->workload_a)->precision;
	const char *wanted = "tf32";
	struct sv_stages with = c->mended, s;
	struct sv_step_facts facts;
	struct sv_step_plan *plan = NULL;
	struct sv_side side = c->b;
	struct sv_suspect f = {.code = "PRECISION_OFF",
	    .share_s =
		c->shares.share_s[SV_GEMM] + c->shares.share_s[SV_MEMORY],
	    .falsify = "stave run --bench gemm: the faster precision is no "
		       "faster on this card",
	    .component = SV_GEMM};
	bool worth;

	/* A's precision where B left it; else TF32, which costs no change. */
	if (strcmp(word, other) != 0 && p == SV_FP32)
		wanted = other;
	else if (strcmp(word, other) != 0 && p == SV_TF32 && sv_is_half(other))
		wanted = other;
	else if (p != SV_FP32)
		return;
	if (isnan(sv_gemm_plateau(c->in_b, sv_precision_of(wanted, false))))
		return;
	side.precision = wanted;
	if (sv_step_plan_new(&side, c->memory_op, &facts, &plan, c->err) != 0)
		return;
	sv_step_stages(plan, c->in_b->medians, &s);
	sv_stage_take(&with, &s, SV_GEMM);
	sv_stage_take(&with, &s, SV_MEMORY);
	worth = sv_case_lift(c, &f, &with);
	/* The stages look into it. */
	sv_step_plan_free(plan);
	if (!worth)
		return;
	f.claim = sv_case_text(c,
	    "B computes in %s though its card has %s; no fault of the card.",
	    word, wanted);
	f.remedy = strcmp(wanted, "tf32") == 0
		       ? "torch.set_float32_matmul_precision(\"high\"); "
			 "products then keep 10 bits of mantissa"
		       : sv_case_text(c, "turn %s on again, as on A", wanted);
	sv_case_add(c, &f);
}

static void memory_bandwidth(struct sv_case *c)
{
	double alone = sv_stage_alone(&c->stages_b, SV_MEMORY);
	double theory = sv_case_number(c, true, "device.memory_bandwidth_Bps");
	double rate = sv_curve_at(
	    c->in_b, c->in_b->medians, c->memory_op, INFINITY, NULL);
	double other = sv_curve_at(
	    c->in_a, c->in_a->medians, c->memory_op, INFINITY, NULL);
	double clock =
	    sv_case_number(c, true, "device.clocks.under_load.memory_Hz") /
	    sv_case_number(c, true, "device.clocks.max_memory_Hz");
	struct sv_stages with = c->mended;
	char text[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.share_s = c->shares.share_s[SV_MEMORY],
	    .component = SV_MEMORY,
	    .fields = {"device.memory_bandwidth_Bps"}};
	bool slow = rate < FAR_BELOW * theory, worth;

	if (alone <= 0.0 || isnan(rate))
		return;
	sv_quantity(text, sizeof text, rate, SV_UNIT_BYTES_PER_SECOND);
	if (slow && is_same_card(c) && rate > FAR_BELOW * other)
		slow = false;
	with.memory_s = slow ? alone * rate / (0.9 * theory) : 0.5 * alone;
	worth = sv_case_lift(c, &f, &with);
	if (slow) {
		f.code = clock < HELD_CLOCK ? "CLOCKS" : "FAULTY_CARD";
		f.claim = sv_case_text(c,
		    "B's memory gives %s, %.0f %% of what its data sheet "
		    "promises%s.",
		    text, 100.0 * rate / theory,
		    clock < HELD_CLOCK
			? sv_case_text(c,
			      ": its clock stands at %.0f %% of its maximum",
			      100.0 * clock)
			: "");
		f.remedy = clock < HELD_CLOCK
			       ? "reset the memory clock: nvidia-smi -rmc"
			       : "power-cycle the machine, then have the card "
				 "replaced";
		f.falsify = "stave run --bench memory after it: as slow";
		f.fields[1] = "device.clocks.under_load.memory_Hz";
		if (worth)
			sv_case_add(c, &f);
		return;
	}
	if (c->limit_b != SV_MEMORY || !worth)
		return;
	f.code = "MEMORY_BANDWIDTH";
	f.is_explanation = true;
	f.claim = sv_case_text(c,
	    "As designed: B's step moves its bytes through device memory at "
	    "%s, %.2f times A's, and no faster products shorten that.",
	    text, rate / other);
	f.remedy = "fewer bytes: half precision, fused kernels, larger "
		   "batches for what is read once a step (the gain is that of "
		   "half the bytes)";
	f.falsify = "step time at a lower memory clock: it stays the same";
	sv_case_add(c, &f);
}

static void small_batch(struct sv_case *c)
{
	double here = sv_stage_alone(&c->stages_b, SV_GEMM);
	double flop_here = 0.0, flop_there = 0.0, saved;
	struct sv_side side = c->b;
	struct sv_stages s, with = c->mended;
	struct sv_demand d;
	struct sv_suspect f = {.code = "SMALL_BATCH",
	    .share_s = c->shares.share_s[SV_GEMM],
	    .is_explanation = true,
	    .falsify = "time for a sample at a larger batch: it stays",
	    .component = SV_GEMM};
	long batch = c->b.batch > 512 ? 4096 : 8 * c->b.batch;

	if (c->limit_b != SV_GEMM || here <= 0.0 || batch <= c->b.batch)
		return;
	for (int i = 0; i < 2; i++) {
		if (sv_workload_demand(c->request->workload_b,
			i == 0 ? c->b.batch : batch, &d, c->err) != 0)
			return;
		for (size_t k = 0; k < d.n_gemm; k++)
			*(i == 0 ? &flop_here : &flop_there) +=
			    d.gemm[k].m * d.gemm[k].n * d.gemm[k].k *
			    d.gemm[k].count;
		sv_demand_fini(&d);
	}
	side.batch = batch;
	sv_case_stages(c, &side, &s);
	if (c->code != 0 || s.spill_s > 0.0)
		return;
	saved = here - sv_stage_alone(&s, SV_GEMM) * flop_here / flop_there;
	if (saved < 0.1 * here)
		return;
	side.batch = c->b.batch;
	side.gemm_factor = here / (here - saved);
	sv_case_stages(c, &side, &s);
	sv_stage_take(&with, &s, SV_GEMM);
	if (!sv_case_lift(c, &f, &with))
		return;
	f.claim = sv_case_text(c,
	    "As designed: at batch %ld the products are too small to fill "
	    "B's card; at %ld they would run %.2f times as fast.",
	    c->b.batch, batch, here / (here - saved));
	f.remedy = sv_case_text(c,
	    "a batch of %ld, if memory and training "
	    "allow it",
	    batch);
	sv_case_add(c, &f);
}

void sv_causes_device(struct sv_case *c)
{
	enum sv_precision p = precision_of(c->request->workload_b);
	bool alone = false;
	double shortfall;

	precision_off(c, p);
	if (!held_back(c, p)) {
		shortfall = gemm_shortfall(c, p, &alone);
		software_age(c, p, alone, shortfall);
		if (!alone && shortfall > 1.0 &&
		    !sv_case_has(c, "SOFTWARE_AGE"))
			faulty_card(c, p, shortfall);
	}
	memory_bandwidth(c);
	small_batch(c);
}
