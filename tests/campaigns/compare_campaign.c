/*
 * How often does `compare` err? Thousands of made results whose truth is
 * known, judged by the product's own code. Noise as machines make it: every
 * round has an offset of its own, samples of a round resemble their
 * neighbours, some are outliers, some belong to a second mode.
 *
 * usage: compare_campaign [REPORTS [SLACK]]
 *
 * Seeds are fixed, so that the counts are too. Ends with 1 where one is
 * beyond its bound. REPORTS: whole reports of 200 metrics for each number of
 * rounds and kind of noise; 200 when left out. SLACK: standard errors by which
 * a count may miss its bound, for few REPORTS; 0 when left out.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "random.h"
#include "stave/order.h"

#define METRICS	   200
#define SAMPLES	   32
#define MAX_ROUNDS 128
/* Single comparisons for each report of METRICS, and in all at least. */
#define SINGLES	   50

struct noise {
	const char *name;
	double offset;	     /* between rounds, relative */
	double inner;	     /* within a round, relative */
	double likeness;     /* of neighbours, lag 1 */
	double outliers;     /* share of samples, worse by a half */
	double other_mode;   /* share of samples, 8 % away */
	double other_rounds; /* share of rounds, 8 % away */
};

static const struct noise noises[] = {
    {"offsets 1 %", 0.01, 0.005, 0.0, 0.0, 0.0, 0.0},
    {"autocorrelated", 0.01, 0.01, 0.9, 0.0, 0.0, 0.0},
    {"5 % outliers", 0.01, 0.005, 0.5, 0.05, 0.0, 0.0},
    {"two modes", 0.01, 0.005, 0.5, 0.05, 0.4, 0.0},
    {"rounds of two modes", 0.01, 0.005, 0.5, 0.05, 0.0, 0.3},
    {"offsets 3 %", 0.03, 0.01, 0.5, 0.05, 0.0, 0.0},
};

#define N_NOISES (sizeof noises / sizeof noises[0])

static int status;
/*
 * Standard errors by which a count may miss its bound: none in full, and in
 * the few tries of the reduced form as many as chance takes.
 */
static double slack;

/* One line of the table; beyond the bound the campaign has failed. */
static void report(const char *what, const char *noise, size_t rounds,
    unsigned hits, unsigned of, double least, double most)
{
	double share = of > 0 ? (double)hits / (double)of : 0.0;
	double error = of > 0 ? slack * sqrt(0.05 * 0.95 / (double)of) : 0.0;
	bool good = share >= least - error && share <= most + error;

	printf("%-36s %-20s %6zu %8u/%-8u %7.2f %%  %s\n", what, noise, rounds,
	    hits, of, 100.0 * share, good ? "ok" : "BEYOND ITS BOUND");
	if (!good)
		status = 1;
}

static double make_round(const struct noise *noise, uint64_t *seed)
{
	double samples[SAMPLES], at = test_normal(seed);
	double own = 1.0 + noise->offset * test_normal(seed);

	if (test_uniform(seed) < noise->other_rounds)
		own *= 1.08;
	for (size_t i = 0; i < SAMPLES; i++) {
		samples[i] = own * (1.0 + noise->inner * at);
		if (test_uniform(seed) < noise->outliers)
			samples[i] *= 1.5;
		if (test_uniform(seed) < noise->other_mode)
			samples[i] *= 1.08;
		at = noise->likeness * at +
		     sqrt(1.0 - noise->likeness * noise->likeness) *
			 test_normal(seed);
	}
	sv_order_sort(samples, SAMPLES);
	return sv_order_median(samples, SAMPLES);
}

/* Metric i: the first twelve are those of the headline, then sweeps. */
static void name_metric(
    size_t i, struct sv_measurement *m, struct sv_result_param *params)
{
	bool time = i % 2 == 1;

	*m = (struct sv_measurement){.bench = time ? "launch" : "memory",
	    .metric = time ? "submit" : "bandwidth",
	    .unit = time ? "s" : "B/s",
	    .higher_is_better = !time,
	    .params = params,
	    .n_params = 1,
	    .source = -1};
	params[0] =
	    (struct sv_result_param){time ? "args_bytes" : "i", NULL, 1000};
	params[0].number += (int64_t)i;
	if (i == 1)
		params[0].number = 64;
	if (i < 12 && !time) {
		m->bench = "gemm";
		m->metric = "throughput";
		m->unit = "FLOP/s";
		m->n_params = 4;
		params[0] = (struct sv_result_param){"batch", NULL, (int64_t)i};
		params[1] = (struct sv_result_param){"k", NULL, 4096};
		params[2] = (struct sv_result_param){"m", NULL, 4096};
		params[3] = (struct sv_result_param){"n", NULL, 4096};
		m->n_params = 5;
		params[4] = (struct sv_result_param){"precision", "fp16", 0};
	}
}

static void must(bool good)
{
	if (!good) {
		fprintf(stderr, "campaign: out of memory\n");
		exit(2);
	}
}

/* A result with metrics first … last, each `factor` of what is usual. */
static struct sv_result *make(size_t first, size_t last, size_t rounds,
    double factor, const struct noise *noise, uint64_t *seed)
{
	struct sv_result *r = sv_result_new();

	must(r != NULL);
	r->run.id = r->run.label = "made";
	for (size_t i = first; i < last; i++) {
		struct sv_result_param params[5];
		struct sv_measurement m;
		double values[MAX_ROUNDS], sorted[MAX_ROUNDS];

		name_metric(i, &m, params);
		for (size_t j = 0; j < rounds; j++)
			values[j] = factor * make_round(noise, seed);
		memcpy(sorted, values, sizeof sorted);
		sv_order_sort(sorted, rounds);
		m.rounds = values;
		m.n_rounds = rounds;
		m.summary =
		    (struct sv_summary){rounds, sv_order_median(sorted, rounds),
			{NAN, NAN}, NAN, NAN, NAN, NAN, NAN};
		must(sv_result_add(r, &m, NULL) == 0);
	}
	return r;
}

struct outcome {
	size_t different, same; /* verdicts */
	long further;		/* of the first pair */
	const char *reason;
};

static struct outcome judge(struct sv_result *a, struct sv_result *b)
{
	static const struct sv_compare_options usual = {
	    .alpha = 0.05, .min_effect = 0.02};
	struct sv_comparison *c;
	struct outcome o;

	must(sv_compare(a, b, &usual, &c, NULL) == 0);
	o = (struct outcome){c->counts[SV_FASTER] + c->counts[SV_SLOWER],
	    c->counts[SV_SAME], c->pairs[0].further, c->pairs[0].reason};
	sv_comparison_free(c);
	return o;
}

static struct outcome compare(size_t first, size_t last, size_t rounds,
    double factor, const struct noise *noise, uint64_t *seed)
{
	struct sv_result *a = make(first, last, rounds, 1.0, noise, seed);
	struct sv_result *b = make(first, last, rounds, factor, noise, seed);
	struct outcome o = judge(a, b);

	sv_result_free(a);
	sv_result_free(b);
	return o;
}

/* No true difference: whatever is called one is false. */
static void without_difference(
    const struct noise *noise, size_t rounds, unsigned reports)
{
	uint64_t seed = 1000 * rounds + (uint64_t)(noise - noises);
	unsigned single = 0, whole = 0, singles = reports * SINGLES;

	for (unsigned i = 0; i < singles; i++)
		single += compare(
		    i % METRICS, i % METRICS + 1, rounds, 1.0, noise, &seed)
			      .different;
	for (unsigned i = 0; i < reports; i++)
		whole +=
		    compare(0, METRICS, rounds, 1.0, noise, &seed).different >
		    0;
	report("false difference, single", noise->name, rounds, single, singles,
	    0.0, 0.05);
	report("false difference, any of 200", noise->name, rounds, whole,
	    reports, 0.0, 0.05);
}

/* A report in which one metric alone differs, by 5 %. */
static bool finds_one(
    size_t at, size_t rounds, const struct noise *noise, uint64_t *seed)
{
	struct sv_result *a = make(0, METRICS, rounds, 1.0, noise, seed);
	struct sv_result *b = make(0, at, rounds, 1.0, noise, seed);
	struct sv_result *other = make(at, at + 1, rounds, 1.05, noise, seed);
	struct sv_result *rest =
	    make(at + 1, METRICS, rounds, 1.0, noise, seed);
	struct outcome o;

	must(sv_result_add(b, &other->measurements[0], NULL) == 0);
	for (size_t i = 0; i < rest->n_measurements; i++)
		must(sv_result_add(b, &rest->measurements[i], NULL) == 0);
	o = judge(a, b);
	sv_result_free(a);
	sv_result_free(b);
	sv_result_free(other);
	sv_result_free(rest);
	return o.different > 0;
}

static void with_difference(
    const struct noise *noise, size_t rounds, unsigned reports, double least)
{
	uint64_t seed = 77 * rounds + (uint64_t)(noise - noises);
	unsigned found = 0, hidden = 0, in_report = 0;
	unsigned singles = reports * SINGLES;

	for (unsigned i = 0; i < singles; i++) {
		struct outcome o = compare(
		    i % METRICS, i % METRICS + 1, rounds, 1.05, noise, &seed);

		found += o.different;
		hidden += o.same;
	}
	for (unsigned i = 0; i < reports; i++)
		in_report += finds_one(17 * i % METRICS, rounds, noise, &seed);
	report("5 % found, single", noise->name, rounds, found, singles, least,
	    1.0);
	report("5 % called the same, single", noise->name, rounds, hidden,
	    singles, 0.0, 0.05);
	report("5 % found, one among 200", noise->name, rounds, in_report,
	    reports, least, 1.0);
}

/* Unclear at 6 rounds: do as many more as it says decide? */
static void with_further_rounds(
    const struct noise *noise, double factor, unsigned reports)
{
	uint64_t seed = 4242;
	unsigned tried = 0, decided = 0;

	for (unsigned i = 0; tried < reports * 4 && i < reports * 400; i++) {
		size_t metric = i % METRICS;
		struct outcome o =
		    compare(metric, metric + 1, 6, factor, noise, &seed);

		if (o.reason == NULL || o.further < 0 || o.further + 6 > 60)
			continue;
		tried++;
		o = compare(metric, metric + 1, 6 + (size_t)o.further, factor,
		    noise, &seed);
		decided += o.different + o.same;
	}
	report("decided by the rounds asked for",
	    factor > 1.0 ? "3 %, offsets 3 %" : "0 %, offsets 3 %", 6, decided,
	    tried, 0.6, 1.0);
}

int main(int argc, char **argv)
{
	static const size_t rounds[] = {6, 10, 15};
	unsigned reports = argc > 1 ? (unsigned)atoi(argv[1]) : 200;

	slack = argc > 2 ? atof(argv[2]) : 0.0;

	if (reports < 1 || argc > 3) {
		fprintf(stderr, "usage: compare_campaign [REPORTS [SLACK]]\n");
		return 2;
	}
	printf("%-36s %-20s %6s %17s %9s\n", "what", "noise", "rounds",
	    "hits/tries", "share");
	for (size_t n = 0; n < N_NOISES; n++)
		for (size_t i = 0; i < 3; i++)
			without_difference(&noises[n], rounds[i], reports);
	/* What is asked for is offsets of 1 %, whatever samples do. */
	for (size_t n = 0; n < 3; n++)
		with_difference(&noises[n], 10, reports, 0.95);
	with_further_rounds(&noises[5], 1.0, reports);
	with_further_rounds(&noises[5], 1.03, reports);
	return status;
}
