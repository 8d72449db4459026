/*
 * One pair: how much, how sure, and what to call it. "Cannot tell" is an
 * answer and has a reason.
 */
#include "verdict.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "stats.h"
#include "stave/units.h"

/* Latencies jitter more; less than this is nothing. */
#define LATENCY_EFFECT 0.05
/* Fewer rounds than this on a side cannot reach the headline's level. */
#define LEAST_ROUNDS   6

bool sv_is_headline(const struct sv_measurement *m)
{
	/* The dozen figures that a summary stands on; globs on ids. */
	static const char *const headline[] = {
	    "transfer/bandwidth?bytes=268435456&direction=h2d&memory=pinned",
	    "transfer/bandwidth?bytes=268435456&direction=d2h&memory=pinned",
	    "transfer/bandwidth?bytes=268435456&direction=h2d&memory=pageable",
	    "launch/submit?args_bytes=64",
	    "launch/roundtrip?args_bytes=64",
	    "gemm/throughput?*k=2048&m=2048&n=2048&precision=fp32*",
	    "gemm/throughput?*k=4096&m=4096&n=4096&precision=fp16*",
	    "gemm/throughput?*k=4096&m=4096&n=4096&precision=bf16*",
	    "memory/bandwidth?bytes=268435456&op=copy",
	    "sync/readback?call=stream&wait=spin",
	    "allocator/reset?blocks=64&bytes=*",
	    "overlap/efficiency?direction=h2d",
	};

	for (size_t i = 0; i < sizeof headline / sizeof headline[0]; i++)
		if (strcmp(headline[i], m->id) == 0 ||
		    fnmatch(headline[i], m->id, 0) == 0)
			return true;
	return false;
}

static bool has_flag(const struct sv_measurement *m, const char *flag)
{
	for (size_t i = 0; i < m->n_flags; i++)
		if (strcmp(m->flags[i], flag) == 0)
			return true;
	return false;
}

/* Why a measurement is not to be believed, or NULL. */
static const char *unsound(const struct sv_measurement *m)
{
	if (m->check == SV_CHECK_FAIL)
		return "check_failed";
	if (has_flag(m, "above_reference"))
		return "above_reference";
	if (has_flag(m, "throttled"))
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

/* Turn b/a into the direction of better: above 1, B is better. */
static void orient(struct sv_pair *pair)
{
	double lo = pair->lo;

	if (pair->a->higher_is_better)
		return;
	pair->ratio = 1.0 / pair->ratio;
	pair->lo = 1.0 / pair->hi;
	pair->hi = 1.0 / lo;
}

int sv_pair_measure(struct sv_pair *pair, double alpha, struct sv_err *err)
{
	const struct sv_measurement *a = pair->a, *b = pair->b;
	struct sv_ratio ratio;
	int code;

	pair->ratio = b->summary.median / a->summary.median;
	pair->lo = pair->hi = pair->p = pair->p_adjusted = NAN;
	pair->verdict = SV_UNCLEAR;
	pair->reason = unsound(a);
	if (pair->reason == NULL)
		pair->reason = unsound(b);
	if (!(a->summary.median > 0.0) || !(b->summary.median > 0.0)) {
		pair->ratio = NAN;
		if (pair->reason == NULL)
			pair->reason = "not_positive";
		return 0;
	}
	if (a->n_rounds < 2 || b->n_rounds < 2 || !all_positive(a) ||
	    !all_positive(b)) {
		orient(pair);
		if (pair->reason == NULL)
			pair->reason = "no_spread";
		return 0;
	}
	if ((code = sv_stats_ratio(a->rounds, a->n_rounds, b->rounds,
		 b->n_rounds, 1.0 - alpha, &ratio, err)) != 0 ||
	    (code = sv_stats_mann_whitney(a->rounds, a->n_rounds, b->rounds,
		 b->n_rounds, &pair->p, err)) != 0)
		return code;
	pair->ratio = ratio.ratio;
	if (ratio.has_interval) {
		pair->lo = ratio.lo;
		pair->hi = ratio.hi;
	}
	pair->p_adjusted = pair->p;
	orient(pair);
	return 0;
}

void sv_pair_judge(
    struct sv_pair *pair, const struct sv_compare_options *options)
{
	bool time = strcmp(pair->a->unit, SV_UNIT_SECONDS) == 0;
	double effect = time ? fmax(options->min_effect, LATENCY_EFFECT)
			     : options->min_effect;
	double up = 1.0 + effect, down = 1.0 / up;

	if (pair->reason != NULL)
		return;
	if (isnan(pair->lo)) {
		pair->reason = "few_rounds";
		return;
	}
	if (pair->lo >= down && pair->hi <= up) {
		pair->verdict = SV_SAME;
		return;
	}
	bool excludes_one = pair->lo > 1.0 || pair->hi < 1.0;
	bool matters = pair->ratio >= up || pair->ratio <= down;

	if (pair->p_adjusted < options->alpha && excludes_one && matters) {
		pair->verdict = pair->ratio > 1.0 ? SV_FASTER : SV_SLOWER;
		return;
	}
	if (excludes_one && !matters)
		pair->reason = "small_effect";
	else if (excludes_one && (pair->a->n_rounds < LEAST_ROUNDS ||
				     pair->b->n_rounds < LEAST_ROUNDS))
		pair->reason = "few_rounds";
	else if (excludes_one)
		pair->reason = "many_tests";
	else
		pair->reason = "noise";
}
