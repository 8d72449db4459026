/*
 * Sampling one case: find how many iterations make a sample, warm up, sample
 * until the rule says stop, and report. What a sample is, is the benchmark's
 * business; when to stop is stopping.c's.
 */
#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "context.h"
#include "emit.h"
#include "session.h"
#include "stopping.h"
#include "timing.h"

/*
 * 200 µs is a thousand times what a read of the clock costs. Source: method
 * notes, section 1, scheme 2.
 */
#define MIN_SAMPLE_NS 2e5
#define MAX_SAMPLES   1024
#define MAX_GROWTH    10.0

/* While sampling, the device's state is read this often, between samples. */
#define WATCH_EVERY_NS 100000000u
#define MAX_WATCHED    32

/* Limits of time by profile: how long warming and sampling may take. */
static const struct {
	double warm_ns, sample_ns;
} limits[] = {
    [SV_QUICK] = {2e7, 6e7},
    [SV_STANDARD] = {5e8, 1e9},
    [SV_FULL] = {2e9, 3e9},
};

struct sampler {
	struct sv_bench_context *context;
	const struct sv_sampled *metrics;
	size_t n_metrics;
	sv_measure_fn *measure;
	void *state;
	uint64_t inner;
	double *values;	 /* [n_metrics][MAX_SAMPLES] */
	double *scratch; /* [MAX_SAMPLES] */
	size_t n;
	json_t *before, *during, *after; /* states of the device */
	uint64_t watched_ns;
};

static double convert(
    const struct sv_sampled *metric, double reading, uint64_t inner)
{
	switch (metric->as) {
	case SV_AS_TIME:
		return reading * 1e-9 / (double)inner;
	case SV_AS_RATE:
		return metric->amount * (double)inner / (reading * 1e-9);
	case SV_AS_VALUE:
		break;
	}
	return reading;
}

/* Measure once and keep it as sample `at`. */
static int take(struct sampler *s, size_t at, struct sv_err *err)
{
	double readings[SV_MAX_METRICS] = {0};
	int code = s->measure(s->state, s->inner, readings, err);

	if (code != 0)
		return code;
	for (size_t i = 0; i < s->n_metrics; i++) {
		double value = convert(&s->metrics[i], readings[i], s->inner);

		if (!isfinite(value))
			return sv_err_set(err, SV_ECHECK,
			    "%s: a reading of %g ns for %llu iterations is no "
			    "measurement",
			    s->metrics[i].metric, readings[i],
			    (unsigned long long)s->inner);
		s->values[i * MAX_SAMPLES + at] = value;
	}
	return 0;
}

/* A longer sample than this is not measured twice to be sure of it. */
#define CONFIRM_BELOW_NS 2e7

/* Sum of the readings of one trial at the present inner count. */
static int trial(struct sampler *s, double *sum, struct sv_err *err)
{
	double readings[SV_MAX_METRICS] = {0};
	int code = s->measure(s->state, s->inner, readings, err);

	*sum = 0.0;
	for (size_t i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].as != SV_AS_VALUE)
			*sum += readings[i];
	return code;
}

/*
 * Iterations that make a sample long enough, found by growing. The first
 * trial also pays for page faults and sleeping threads, so that a count
 * stands only when a second trial agrees.
 */
static int calibrate(
    struct sampler *s, const struct sv_sampling *sampling, struct sv_err *err)
{
	double wanted = sampling->min_sample_ns > 0.0 ? sampling->min_sample_ns
						      : MIN_SAMPLE_NS;
	uint64_t most =
	    sampling->max_inner > 0 ? sampling->max_inner : UINT64_MAX / 2;

	s->inner = 1;
	if (s->metrics[0].as == SV_AS_VALUE)
		return 0;
	for (;;) {
		double sum, growth;
		int code = trial(s, &sum, err);

		if (code == 0 && sum >= wanted && sum < CONFIRM_BELOW_NS)
			code = trial(s, &sum, err);
		if (code != 0)
			return code;
		if (sum >= 0.5 * wanted || s->inner >= most)
			return 0;
		/* Aim a little over, so that noise does not fall short. */
		growth = sum > 0.0 ? 1.2 * wanted / sum : MAX_GROWTH;
		growth = fmin(fmax(growth, 1.5), MAX_GROWTH);
		double next = ceil((double)s->inner * growth);

		s->inner = next < (double)most ? (uint64_t)next : most;
	}
}

static int warm_up(struct sampler *s, double limit_ns, struct sv_err *err)
{
	uint64_t start = sv_now_ns();
	size_t n = 0;

	do {
		int code = take(s, n, err);

		if (code != 0)
			return code;
		n++;
		if (n % SV_STOP_BLOCK == 0 &&
		    sv_stopping_warm(s->values, n, s->scratch))
			return 0;
	} while (n < MAX_SAMPLES && (double)(sv_now_ns() - start) < limit_ns);
	return 0;
}

/* Read the device's state when it is time to, never inside a sample. */
static void watch(struct sampler *s)
{
	uint64_t now = sv_now_ns();

	if (json_array_size(s->during) >= MAX_WATCHED ||
	    (s->watched_ns != 0 && now - s->watched_ns < WATCH_EVERY_NS))
		return;
	s->watched_ns = now;
	json_array_append_new(s->during, sv_emit_state(s->context->device));
}

static int collect(
    struct sampler *s, double limit_ns, const char **why, struct sv_err *err)
{
	/* Latencies jitter more than rates, and less of it matters. */
	struct sv_stopping stopping = {
	    .target = s->metrics[0].as == SV_AS_TIME ? 0.02 : 0.01};
	uint64_t start = sv_now_ns();

	*why = "timeout";
	do {
		int code = take(s, s->n, err);

		if (code != 0)
			return code;
		s->n++;
		watch(s);
		switch (
		    sv_stopping_judge(&stopping, s->values, s->n, s->scratch)) {
		case SV_STOP_SETTLED:
			*why = "settled";
			return 0;
		case SV_STOP_NOISY:
			*why = "noisy";
			return 0;
		case SV_GO_ON:
			break;
		}
	} while (
	    s->n < MAX_SAMPLES && (double)(sv_now_ns() - start) < limit_ns);
	return 0;
}

static json_t *array_of(const double *values, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_real(values[i]));
	return array;
}

static bool has_reason(json_t *state, const char *reason)
{
	json_t *found;
	size_t i;

	json_array_foreach (json_object_get(state, "throttle"), i, found)
		if (strcmp(json_string_value(found), reason) == 0)
			return true;
	return false;
}

/* Whether the clock was lower for this reason while samples were taken. */
static bool was_slowed(const struct sampler *s, const char *reason)
{
	json_t *state;
	size_t i;

	json_array_foreach (s->during, i, state)
		if (has_reason(state, reason))
			return true;
	return has_reason(s->after, reason);
}

/*
 * The hardware's reasons make samples invalid; a cap or software's slowdown
 * belongs to the card as it is. Source: method notes, section 3.
 */
static void add_throttle_flags(const struct sampler *s, json_t *flags)
{
	static const char *const annotated[] = {"sw_power_cap", "sw_thermal"};

	if (was_slowed(s, "hw_slowdown") || was_slowed(s, "hw_thermal") ||
	    was_slowed(s, "hw_power_brake"))
		json_array_append_new(flags, json_string("throttled"));
	for (size_t i = 0; i < 2; i++)
		if (was_slowed(s, annotated[i]))
			json_array_append_new(flags, json_string(annotated[i]));
}

/* What the device was doing; NULL where the backend does not tell. */
static json_t *state_of(const struct sampler *s)
{
	if (s->context->device->ops->state == NULL)
		return NULL;
	return json_pack("{s:O, s:O, s:O}", "before", s->before, "during",
	    s->during, "after", s->after);
}

static void report(const struct sampler *s, const struct sv_sampled *m,
    const double *values, size_t n, bool is_short, const char *why)
{
	const struct sv_metric *metric =
	    sv_axes_metric(s->context->current->bench, m->metric);
	json_t *flags = json_array(), *reference = json_null();

	if (is_short)
		json_array_append_new(flags, json_string("short"));
	if (m->flag != NULL)
		json_array_append_new(flags, json_string(m->flag));
	add_throttle_flags(s, flags);
	if (m->reference > 0.0)
		reference = json_pack("{s:f, s:s}", "value", m->reference,
		    "what", m->reference_what);
	sv_emit("samples",
	    json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:s, s:o*}",
		"metric", m->metric, "unit", metric->unit, "better",
		metric->higher_is_better ? "higher" : "lower", "inner",
		(json_int_t)s->inner, "values", array_of(values, n),
		"reference", reference, "flags", flags, "stop", why, "state",
		state_of(s)));
}

static int begin(struct sampler *s, struct sv_err *err)
{
	s->values = calloc(s->n_metrics * MAX_SAMPLES, sizeof *s->values);
	s->scratch = malloc(MAX_SAMPLES * sizeof *s->scratch);
	if (s->values == NULL || s->scratch == NULL)
		return sv_err_set(err, SV_ERESOURCE, "samples: out of memory");
	s->before = sv_emit_state(s->context->device);
	s->during = json_array();
	return 0;
}

static void end(struct sampler *s)
{
	free(s->values);
	free(s->scratch);
	json_decref(s->before);
	json_decref(s->during);
	json_decref(s->after);
}

int sv_sample(struct sv_bench_context *context,
    const struct sv_sampled *metrics, size_t n_metrics,
    const struct sv_sampling *sampling, sv_measure_fn *measure, void *state,
    struct sv_err *err)
{
	struct sampler s = {.context = context,
	    .metrics = metrics,
	    .n_metrics = n_metrics,
	    .measure = measure,
	    .state = state,
	    .inner = context->current->inner != 0 ? context->current->inner
						  : sampling->inner};
	const char *why = NULL;
	int code = begin(&s, err);

	if (code == 0 && s.inner == 0)
		code = calibrate(&s, sampling, err);
	if (code == 0)
		code = warm_up(&s, limits[context->level].warm_ns, err);
	if (code == 0)
		code = collect(&s, limits[context->level].sample_ns, &why, err);
	if (code == 0) {
		s.after = sv_emit_state(context->device);
		for (size_t i = 0; i < n_metrics; i++)
			report(&s, &metrics[i], s.values + i * MAX_SAMPLES, s.n,
			    s.n < SV_STOP_MIN_BLOCKS, why);
	}
	end(&s);
	return code;
}

/* One window: readings until they add up; its value is over all of them. */
static int take_window(struct sampler *s, double window_ns, struct sv_err *err)
{
	double readings[SV_MAX_METRICS], sum = 0.0;
	uint64_t times = 0;

	do {
		int code = s->measure(s->state, s->inner, readings, err);

		if (code != 0)
			return code;
		sum += readings[0];
		times++;
	} while (sum < window_ns && sum > 0.0);
	s->values[s->n++] = convert(s->metrics, sum, s->inner * times);
	return 0;
}

int sv_sample_windows(struct sv_bench_context *context,
    const struct sv_sampled metrics[2], const struct sv_sampling *sampling,
    double window_ns, size_t n, double (*of)(const double *values, size_t n),
    sv_measure_fn *measure, void *state, struct sv_err *err)
{
	struct sampler s = {.context = context,
	    .metrics = metrics,
	    .n_metrics = 1,
	    .measure = measure,
	    .state = state,
	    .inner = context->current->inner};
	int code = begin(&s, err);

	assert(n <= MAX_SAMPLES);
	if (code == 0 && s.inner == 0)
		code = calibrate(&s, sampling, err);
	while (code == 0 && s.n < n) {
		code = take_window(&s, window_ns, err);
		watch(&s);
	}
	if (code == 0) {
		double value = of(s.values, s.n);

		s.after = sv_emit_state(context->device);
		report(&s, &metrics[0], s.values, s.n, false, "time");
		report(&s, &metrics[1], &value, 1, false, "time");
	}
	end(&s);
	return code;
}
