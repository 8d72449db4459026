/*
 * One pair: how much, how sure, and what to call it. "Cannot tell" is an
 * answer and has a reason. Everything is judged on logarithms, so that B
 * against A is exactly the opposite of A against B.
 */
#include "verdict.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "stats.h"
#include "stave/units.h"

/* Of the interval, whatever the level of the tests. */
#define LEVEL	       0.95
/* Latencies jitter more; what cannot be this much is nothing. */
#define LATENCY_EFFECT 0.05
/*
 * Two quanta of the coarser clock (CUDA's events, 0.5 µs by the driver API
 * reference, cuEventElapsedTime) in the shortest sample, 200 µs: below it
 * nothing is measured, whatever is asked for.
 */
#define LEAST_EFFECT   0.005

static bool is_among(const char *id, const char *const *patterns)
{
	for (; patterns != NULL && *patterns != NULL; patterns++)
		if (strcmp(*patterns, id) == 0 ||
		    fnmatch(*patterns, id, 0) == 0)
			return true;
	return false;
}

enum sv_family sv_pair_family(
    const struct sv_measurement *m, const struct sv_compare_options *options)
{
	/* A known wait, as the harness sees it: no machine changes it. */
	static const char *const controls[] = {"null/*", NULL};
	/* The dozen figures that a summary stands on; globs on ids. */
	static const char *const headline[] = {
	    "transfer/bandwidth?bytes=268435456&direction=h2d&memory=pinned",
	    "transfer/bandwidth?bytes=268435456&direction=d2h&memory=pinned",
	    "transfer/bandwidth?bytes=268435456&direction=h2d&memory=pageable",
	    "launch/submit?args_bytes=64", "launch/roundtrip?args_bytes=64",
	    "gemm/throughput?*k=2048&m=2048&n=2048&precision=fp32*",
	    "gemm/throughput?*k=4096&m=4096&n=4096&precision=fp16*",
	    "gemm/throughput?*k=4096&m=4096&n=4096&precision=bf16*",
	    "memory/bandwidth?bytes=268435456&op=copy",
	    "sync/readback?call=stream&wait=spin",
	    "allocator/reset?blocks=64&bytes=*",
	    "overlap/efficiency?direction=h2d", NULL};

	if (is_among(m->id, controls) || is_among(m->id, options->controls))
		return SV_CONTROL;
	return is_among(m->id, headline) ? SV_HEADLINE : SV_SWEEP;
}

/*
 * The level that a family's corrected p-values must be below: its share of
 * alpha, so that a whole report stays below alpha.
 */
static double family_level(enum sv_family family, double alpha)
{
	/*
	 * The headline gets what lets six rounds pass Holm over a dozen
	 * (0.0022 · 12 < 0.6 · 0.05); what is left is ample for sweeps from
	 * eight rounds on.
	 */
	static const double shares[] = {
	    [SV_HEADLINE] = 0.6, [SV_SWEEP] = 0.3, [SV_CONTROL] = 0.1};

	return alpha * shares[family];
}

bool sv_measurement_has_flag(const struct sv_measurement *m, const char *flag)
{
	for (size_t i = 0; i < m->n_flags; i++)
		if (strcmp(m->flags[i], flag) == 0)
			return true;
	return false;
}

/*
 * Why a pair is not to be judged, or NULL; the same whichever side it is on.
 * Throttled on one side only is a burst against a sustained state; on both it
 * is a comparison of sustained states, which is fair and stays tagged.
 */
static const char *unsound(
    const struct sv_measurement *a, const struct sv_measurement *b)
{
	if (a->check == SV_CHECK_FAIL || b->check == SV_CHECK_FAIL)
		return "check_failed";
	if (sv_measurement_has_flag(a, "above_reference") ||
	    sv_measurement_has_flag(b, "above_reference"))
		return "above_reference";
	if (sv_measurement_has_flag(a, "throttled") !=
	    sv_measurement_has_flag(b, "throttled"))
		return "throttled";
	return NULL;
}

static bool all_positive(const struct sv_measurement *m)
{
	for (size_t i = 0; i < m->n_rounds; i++)
		if (!(m->rounds[i] > 0.0))
			return false;
	return true;
}

/* Work is not latency: a step that takes 3 % longer is 3 % slower. */
static bool is_latency(const struct sv_measurement *m)
{
	return strcmp(m->unit, SV_UNIT_SECONDS) == 0 &&
	       strcmp(m->bench, "step") != 0;
}

/* Turn b/a into the direction of better: above 0, B is better. */
static void orient(struct sv_pair *pair)
{
	double lo = pair->log_lo;

	if (!pair->a->higher_is_better) {
		pair->log_ratio = -pair->log_ratio;
		pair->log_lo = -pair->log_hi;
		pair->log_hi = -lo;
	}
	pair->ratio = exp(pair->log_ratio);
	pair->lo = exp(pair->log_lo);
	pair->hi = exp(pair->log_hi);
}

/* Reasons that were found before come first. */
static void give_reason(struct sv_pair *pair, const char *reason)
{
	if (pair->reason == NULL)
		pair->reason = reason;
}

int sv_pair_measure(struct sv_pair *pair,
    const struct sv_compare_options *options, struct sv_err *err)
{
	const struct sv_measurement *a = pair->a, *b = pair->b;
	struct sv_ratio ratio;
	int code;

	pair->log_ratio = pair->log_lo = pair->log_hi = NAN;
	pair->ratio = pair->lo = pair->hi = NAN;
	pair->p = pair->p_adjusted = NAN;
	pair->family = sv_pair_family(a, options);
	pair->level = family_level(pair->family, options->alpha);
	pair->least = fmax(options->min_effect, LEAST_EFFECT);
	pair->effect =
	    is_latency(a) ? fmax(pair->least, LATENCY_EFFECT) : pair->least;
	pair->verdict = SV_UNCLEAR;
	pair->reason = unsound(a, b);
	pair->further = -1;
	if (!(a->summary.median > 0.0) || !(b->summary.median > 0.0)) {
		give_reason(pair, "not_positive");
		return 0;
	}
	if (a->n_rounds < 2 || b->n_rounds < 2 || !all_positive(a) ||
	    !all_positive(b)) {
		pair->log_ratio =
		    log(b->summary.median) - log(a->summary.median);
		orient(pair);
		give_reason(pair, "no_spread");
		return 0;
	}
	if ((code = sv_stats_ratio(a->rounds, a->n_rounds, b->rounds,
		 b->n_rounds, LEVEL, &ratio, err)) != 0 ||
	    (code = sv_stats_mann_whitney(a->rounds, a->n_rounds, b->rounds,
		 b->n_rounds, &pair->p, err)) != 0)
		return code;
	pair->log_ratio = ratio.log_ratio;
	if (ratio.has_interval) {
		pair->log_lo = ratio.log_lo;
		pair->log_hi = ratio.log_hi;
	}
	pair->p_adjusted = pair->p;
	orient(pair);
	return 0;
}

/* The clock that bounds a measurement, or NULL. */
static const char *clock_of(const struct sv_measurement *m)
{
	static const char *const by_sm[] = {
	    "gemm/throughput*", "sustain/throughput*", NULL};
	static const char *const by_memory[] = {"memory/bandwidth*", NULL};

	if (is_among(m->id, by_sm))
		return "sm";
	return is_among(m->id, by_memory) ? "memory" : NULL;
}

void sv_pair_cycles(struct sv_pair *pair, const struct sv_comparison *c)
{
	const char *clock = clock_of(pair->a);
	char path[64];

	pair->ratio_cycles = NAN;
	pair->clock = NULL;
	if (clock == NULL || isnan(pair->ratio))
		return;
	snprintf(path, sizeof path, "clocks.under_load.%s_Hz", clock);
	double a = json_number_value(sv_result_field(c->a->device, path));
	double b = json_number_value(sv_result_field(c->b->device, path));

	if (!(a > 0.0) || !(b > 0.0))
		return;
	pair->ratio_cycles = pair->ratio * (a / b);
	pair->clock = clock;
}

/* Why a pair with an interval is neither the same nor different. */
static const char *doubt(const struct sv_pair *pair, double floor)
{
	bool apart = pair->log_lo > 0.0 || pair->log_hi < 0.0;
	double least =
	    sv_stats_mann_whitney_least_p(pair->a->n_rounds, pair->b->n_rounds);

	if (!apart)
		return "noise";
	if (!(pair->log_lo > floor || pair->log_hi < -floor))
		return "within_floor";
	if (fabs(pair->log_ratio) < log1p(pair->least))
		return "small_effect";
	/* Wholly apart, and still not enough: it is the rounds that lack. */
	return pair->p <= least * (1.0 + 1e-9) ? "few_rounds" : "many_tests";
}

void sv_pair_judge(struct sv_pair *pair, size_t tests)
{
	double same = log1p(pair->effect);
	double floor = isnan(pair->floor) ? 0.0 : log1p(pair->floor);
	double lo = pair->log_lo - floor, hi = pair->log_hi + floor;

	if (pair->reason != NULL) {
		pair->further = sv_pair_further(pair, tests);
		return;
	}
	if (isnan(lo))
		pair->reason = "few_rounds";
	else if (lo >= -same && hi <= same)
		pair->verdict = SV_SAME;
	/* Beyond here the interval reaches further than `same`. */
	else if (pair->p_adjusted < pair->level && (lo > 0.0 || hi < 0.0) &&
		 fabs(pair->log_ratio) >= log1p(pair->least))
		pair->verdict = pair->log_ratio > 0.0 ? SV_FASTER : SV_SLOWER;
	else
		pair->reason = doubt(pair, floor);
	if (pair->reason != NULL)
		pair->further = sv_pair_further(pair, tests);
}
