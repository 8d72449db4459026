/* Records to measurements; see the header. */
#include "assemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"
#include "stave/units.h"
#include "stave/wire.h"

#define MAX_FLAGS  16
/* Beyond its ceiling by more than this a value is not believed. */
#define IMPOSSIBLE 1.05

/* One metric of one case, gathered over its rounds. */
struct gathered {
	size_t n;
	double *medians;
	struct sv_series *series;
	const char *flags[MAX_FLAGS];
	size_t n_flags;
	json_t *first; /* its samples message of the first round */
	enum sv_check_status check;
	const char *check_detail;
};

static void add_flag(struct gathered *g, const char *flag)
{
	for (size_t i = 0; i < g->n_flags; i++)
		if (strcmp(g->flags[i], flag) == 0)
			return;
	if (g->n_flags < MAX_FLAGS)
		g->flags[g->n_flags++] = flag;
}

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

static json_t *samples_of(json_t *record, const char *metric)
{
	json_t *list = json_object_get(record, "metrics"), *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (strcmp(text_of(one, "metric"), metric) == 0)
			return one;
	return NULL;
}

static int add_round(struct sv_result *r, struct gathered *g, json_t *samples,
    struct sv_err *err)
{
	json_t *values = json_object_get(samples, "values");
	json_t *flags = json_object_get(samples, "flags"), *flag;
	size_t n = json_array_size(values), i;
	double *copy = sv_result_bytes(r, (n > 0 ? n : 1) * sizeof *copy);
	int code;

	if (copy == NULL)
		return sv_err_set(err, SV_ERESOURCE, "result: out of memory");
	if (n == 0)
		return sv_err_set(err, SV_EINPUT,
		    "journal: a round of %.80s without samples",
		    text_of(samples, "metric"));
	for (i = 0; i < n; i++)
		copy[i] = json_number_value(json_array_get(values, i));
	code = sv_stats_median(copy, n, &g->medians[g->n], err);
	if (code != 0)
		return code;
	g->series[g->n] = (struct sv_series){copy, n};
	g->n++;
	if (g->first == NULL)
		g->first = samples;
	json_array_foreach (flags, i, flag)
		add_flag(g, json_string_value(flag));
	return 0;
}

/* The worst that any round's check said. */
static void add_check(struct gathered *g, json_t *check)
{
	const char *status = text_of(check, "status");
	enum sv_check_status found = strcmp(status, "fail") == 0 ? SV_CHECK_FAIL
				     : strcmp(status, "pass") == 0
					 ? SV_CHECK_PASS
					 : SV_CHECK_NONE;

	if (check == NULL || json_is_null(check) || found < g->check)
		return;
	g->check = found;
	g->check_detail = text_of(check, "detail");
}

static int judge(const struct sv_result *r, struct gathered *g,
    struct sv_measurement *m, unsigned planned, struct sv_err *err)
{
	const double **samples = calloc(g->n, sizeof *samples);
	size_t *counts = calloc(g->n, sizeof *counts);
	struct sv_rounds rounds = {g->medians, g->n, samples, counts};
	bool time = strcmp(m->unit, SV_UNIT_SECONDS) == 0;
	double effect = time ? 0.05 : 0.02;
	struct sv_estimate e;
	struct sv_stats_flags f;
	int code = SV_ERESOURCE;

	(void)r;
	if (samples == NULL || counts == NULL) {
		sv_err_set(err, code, "result: out of memory");
		goto free_arrays;
	}
	for (size_t i = 0; i < g->n; i++) {
		samples[i] = g->series[i].values;
		counts[i] = g->series[i].n;
	}
	if ((code = sv_stats_estimate(&rounds, &e, err)) != 0 ||
	    (code = sv_stats_flag(&rounds, effect, effect, &f, err)) != 0)
		goto free_arrays;
	m->summary = (struct sv_summary){.n = e.n,
	    .median = e.median,
	    .ci95 = {e.has_interval ? e.ci_lo : NAN,
		e.has_interval ? e.ci_hi : NAN},
	    .mad = e.mad,
	    .min = e.min,
	    .max = e.max,
	    .p05 = e.p05,
	    .p95 = e.p95};
	if (f.noisy)
		add_flag(g, "noisy");
	if (f.bimodal)
		add_flag(g, "bimodal");
	if (f.drift)
		add_flag(g, "drift");
	if (f.jump)
		add_flag(g, "jump");
	if (g->n < planned)
		add_flag(g, "short");
	if (m->has_reference && m->higher_is_better &&
	    e.median > IMPOSSIBLE * m->reference)
		add_flag(g, "above_reference");

free_arrays:
	free(samples);
	free(counts);
	return code;
}

static const struct sv_result_param *params_of(
    struct sv_result *r, json_t *params, size_t *n)
{
	struct sv_result_param *list =
	    sv_result_bytes(r, (json_object_size(params) + 1) * sizeof *list);
	const char *key;
	json_t *value;

	*n = 0;
	json_object_foreach (params, key, value) {
		if (list == NULL)
			return NULL;
		list[(*n)++] = (struct sv_result_param){
		    key, json_string_value(value), json_integer_value(value)};
	}
	return list;
}

/* The measurement of one metric of a case, from all its rounds. */
static int add_metric(struct sv_result *r, json_t *planned_case,
    const char *metric, json_t *records, unsigned planned, bool *faults,
    struct sv_err *err)
{
	const char *id = text_of(planned_case, "id");
	struct gathered g = {
	    .medians = sv_result_bytes(r, planned * sizeof(double)),
	    .series = sv_result_bytes(r, planned * sizeof *g.series)};
	struct sv_measurement m = {.source = -1};
	json_t *record;
	size_t i;
	int code;

	if (g.medians == NULL || g.series == NULL)
		return sv_err_set(err, SV_ERESOURCE, "result: out of memory");
	json_array_foreach (records, i, record) {
		json_t *samples = samples_of(record, metric);

		if (samples == NULL ||
		    strcmp(text_of(record, "case"), id) != 0 || g.n >= planned)
			continue;
		if ((code = add_round(r, &g, samples, err)) != 0)
			return code;
		add_check(&g, json_object_get(record, "check"));
	}
	if (g.n == 0)
		return 0;
	json_t *reference = json_object_get(g.first, "reference");

	m.bench = text_of(planned_case, "bench");
	m.metric = metric;
	m.params =
	    params_of(r, json_object_get(planned_case, "params"), &m.n_params);
	m.unit = text_of(g.first, "unit");
	m.higher_is_better = strcmp(text_of(g.first, "better"), "higher") == 0;
	m.inner =
	    (uint64_t)json_integer_value(json_object_get(g.first, "inner"));
	m.rounds = g.medians;
	m.n_rounds = g.n;
	m.samples = g.series;
	m.n_samples = g.n;
	m.has_reference = json_is_object(reference);
	m.reference = json_number_value(json_object_get(reference, "value"));
	m.reference_what = m.has_reference ? text_of(reference, "what") : NULL;
	m.check = g.check;
	m.check_detail = g.check_detail;
	code = judge(r, &g, &m, planned, err);
	if (code != 0)
		return code;
	m.flags = g.flags;
	m.n_flags = g.n_flags;
	*faults = *faults || g.check == SV_CHECK_FAIL;
	return sv_result_add(r, &m, err);
}

static int add_skip(
    struct sv_result *r, json_t *skip, bool *faults, struct sv_err *err)
{
	const struct sv_skipped skipped = {.bench = text_of(skip, "bench"),
	    .params = json_object_get(skip, "params"),
	    .reason = text_of(skip, "reason"),
	    .code = text_of(skip, "code")};

	*faults = *faults || strcmp(skipped.code, SV_SKIP_FAULT) == 0;
	return sv_result_add_skipped(r, &skipped, err);
}

static int add_outcome(
    struct sv_result *r, json_t *record, bool *faults, struct sv_err *err)
{
	const char *outcome = text_of(record, "outcome");
	struct sv_failure failure = {.bench = text_of(record, "bench"),
	    .params = json_object_get(record, "params"),
	    .reason = text_of(record, "reason"),
	    .kind = text_of(record, "kind"),
	    .value = json_number_value(json_object_get(record, "value")),
	    .log_tail = text_of(record, "log_tail")};
	int code;

	if (strcmp(outcome, "skipped") == 0)
		return add_skip(r, record, faults, err);
	if (strcmp(outcome, "failed") != 0)
		return 0;
	*faults = true;
	failure.extra =
	    json_pack("{s:O?}", "round", json_object_get(record, "round"));
	code = sv_result_add_failure(r, &failure, err);
	json_decref(failure.extra);
	return code;
}

int sv_assemble(struct sv_result *r, json_t *cases, json_t *skipped,
    json_t *records, unsigned planned, bool *faults, struct sv_err *err)
{
	json_t *one, *metric;
	size_t i, j;
	int code = 0;

	*faults = false;
	json_array_foreach (cases, i, one)
		json_array_foreach (json_object_get(one, "metrics"), j, metric)
			if (code == 0)
				code = add_metric(r, one,
				    json_string_value(metric), records, planned,
				    faults, err);
	json_array_foreach (skipped, i, one)
		if (code == 0)
			code = add_skip(r, one, faults, err);
	json_array_foreach (records, i, one)
		if (code == 0)
			code = add_outcome(r, one, faults, err);
	return code;
}

/* What the states of all samples say together. */
struct loaded {
	double power_w, temperature_c; /* highest, NaN unknown */
	json_t *reasons;	       /* each once */
	size_t states, throttled;
};

static void add_reason(json_t *reasons, json_t *reason)
{
	json_t *one;
	size_t i;

	json_array_foreach (reasons, i, one)
		if (json_equal(one, reason))
			return;
	json_array_append(reasons, reason);
}

static void add_state(struct loaded *l, json_t *state)
{
	json_t *power = json_object_get(state, "power_w");
	json_t *temperature = json_object_get(state, "temperature_C");
	json_t *reasons = json_object_get(state, "throttle"), *reason;
	size_t i;

	if (!json_is_array(reasons))
		return;
	l->states++;
	l->throttled += json_array_size(reasons) > 0;
	json_array_foreach (reasons, i, reason)
		add_reason(l->reasons, reason);
	if (json_is_number(power))
		l->power_w = fmax(l->power_w, json_number_value(power));
	if (json_is_number(temperature))
		l->temperature_c =
		    fmax(l->temperature_c, json_number_value(temperature));
}

static void forget_unknown(json_t *device, const char *field)
{
	json_t *list = json_object_get(device, "unknown");

	for (size_t i = json_array_size(list); i-- > 0;)
		if (strcmp(text_of(json_array_get(list, i), "field"), field) ==
		    0)
			json_array_remove(list, i);
}

static void put_number(
    json_t *device, json_t *home, const char *key, const char *field, double x)
{
	if (!isfinite(x) || !json_is_object(home))
		return;
	json_object_set_new(home, key, json_real(x));
	forget_unknown(device, field);
}

void sv_assemble_device(json_t *device, json_t *records)
{
	struct loaded l = {NAN, NAN, json_array(), 0, 0};
	json_t *record, *samples, *state;
	size_t i, j, k;

	json_array_foreach (records, i, record)
		json_array_foreach (
		    json_object_get(record, "metrics"), j, samples)
			json_array_foreach (
			    json_object_get(
				json_object_get(samples, "state"), "during"),
			    k, state)
				add_state(&l, state);
	put_number(device, json_object_get(device, "power"),
	    "draw_under_load_w", "power.draw_under_load_w", l.power_w);
	put_number(device, device, "temperature_under_load_C",
	    "temperature_under_load_C", l.temperature_c);
	if (l.states > 0) {
		json_object_set_new(device, "throttle",
		    json_pack("{s:O, s:f}", "reasons", l.reasons, "fraction",
			(double)l.throttled / (double)l.states));
		forget_unknown(device, "throttle");
	}
	json_decref(l.reasons);
}
