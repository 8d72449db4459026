/*
 * An explanation put together: the model on both sides, shares, intervals,
 * causes, and what surrounds them. See the header.
 */
#include "explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "what_if.h"

/* Beyond this part of the gap, what the model misses forbids a story. */
#define WITHHOLD     0.2
/* Two steps closer than this are the same. */
#define LEAST_EFFECT 0.02
/* Largest batch of the table. */
#define LAST_BATCH   4096

const char *sv_explain_verdict_name(enum sv_explain_verdict verdict)
{
	static const char *const names[] = {
	    "b_faster", "b_slower", "no_difference", "unknown"};

	return names[verdict];
}

static const char *label_of(const struct sv_result *r)
{
	return r->run.label != NULL && r->run.label[0] != '\0' ? r->run.label
							       : "?";
}

/* What one side lacks is left out of both, so that the rest compares. */
static void drop_missing(const struct sv_case *c, struct sv_stages *s)
{
	for (int i = 0; i < SV_N_COMPONENTS; i++)
		if (c->facts_a.missing[i] || c->facts_b.missing[i])
			sv_stage_drop(s, (enum sv_component)i);
}

/* What the step benchmark measured beyond what the model says of it. */
static double unexplained(const struct sv_case *c, struct sv_step_plan *benched,
    const double *values, size_t index)
{
	struct sv_stages s;

	if (benched == NULL)
		return 0.0;
	sv_step_stages(benched, values, &s);
	drop_missing(c, &s);
	return values[index] - sv_step_time(&s);
}

static void stages_of(struct sv_case *c, const double *values_a,
    const double *values_b, struct sv_stages *a, struct sv_stages *b)
{
	sv_step_stages(c->plan_a, values_a, a);
	sv_step_stages(c->plan_b, values_b, b);
	drop_missing(c, a);
	drop_missing(c, b);
	a->unexplained_s =
	    unexplained(c, c->benched_a, values_a, c->measured_a);
	b->unexplained_s =
	    unexplained(c, c->benched_b, values_b, c->measured_b);
}

static bool param_equals(
    const struct sv_measurement *m, const char *name, const char *value)
{
	char number[32];

	for (size_t i = 0; i < m->n_params; i++) {
		if (strcmp(m->params[i].name, name) != 0)
			continue;
		snprintf(number, sizeof number, "%lld",
		    (long long)m->params[i].number);
		return strcmp(m->params[i].text != NULL ? m->params[i].text
							: number,
			   value) == 0;
	}
	return strcmp(name, "habit") == 0;
}

/* The benchmark names what amp is made of. */
static bool is_precision(
    const struct sv_measurement *m, const struct sv_workload *w)
{
	const char *word = sv_workload_defaults(w)->precision;
	enum sv_precision p = sv_precision_of(word, sv_workload_amp_is_bf16(w));

	return param_equals(m, "precision", word) ||
	       param_equals(m, "precision", sv_precision_name(p));
}

/* The step as it was measured; NULL where it was not. */
static const struct sv_measurement *measured_step(
    const struct sv_result *r, const struct sv_workload *w)
{
	const struct sv_workload_defaults *d = sv_workload_defaults(w);
	char batch[32];

	snprintf(batch, sizeof batch, "%ld", d->batch);
	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (strcmp(m->bench, "step") == 0 &&
		    strcmp(m->metric, "time") == 0 &&
		    m->check != SV_CHECK_FAIL && m->summary.median > 0.0 &&
		    param_equals(m, "workload", sv_workload_name(w)) &&
		    param_equals(m, "batch", batch) && is_precision(m, w) &&
		    param_equals(m, "habit", "baseline"))
			return m;
	}
	return NULL;
}

/* Where both sides have a measured step, hold the model against it. */
static int find_measured(struct sv_case *c)
{
	const struct sv_explain_request *r = c->request;
	const struct sv_measurement *a, *b;
	struct sv_step_facts unused;
	struct sv_side side_a = c->a, side_b = c->b;
	int code;

	if (r->altered)
		return 0;
	a = measured_step(r->a, r->workload_a);
	b = measured_step(r->b, r->workload_b);
	if (a == NULL || b == NULL)
		return 0;
	c->measured_a = (size_t)(a - r->a->measurements);
	c->measured_b = (size_t)(b - r->b->measurements);
	c->in_a->used[c->measured_a] = c->in_b->used[c->measured_b] = true;
	side_a.benched = side_b.benched = true;
	code = sv_step_plan_new(
	    &side_a, c->memory_op, &unused, &c->benched_a, c->err);
	if (code == 0)
		code = sv_step_plan_new(
		    &side_b, c->memory_op, &unused, &c->benched_b, c->err);
	return code;
}

static int start(struct sv_case *c)
{
	const struct sv_explain_request *r = c->request;
	long batch_a = sv_workload_defaults(r->workload_a)->batch;
	long batch_b = sv_workload_defaults(r->workload_b)->batch;
	int code = sv_inputs_new(r->a, &c->in_a, c->err);

	if (code == 0)
		code = sv_inputs_new(r->b, &c->in_b, c->err);
	if (code != 0)
		return code;
	c->a = sv_side_plain(c->in_a, r->workload_a, batch_a);
	c->b = sv_side_plain(c->in_b, r->workload_b, batch_b);
	c->a.other = c->in_b;
	c->b.other = c->in_a;
	c->memory_op = sv_memory_op(c->in_a, c->in_b);
	code = sv_step_plan_new(
	    &c->a, c->memory_op, &c->facts_a, &c->plan_a, c->err);
	if (code == 0)
		code = sv_step_plan_new(
		    &c->b, c->memory_op, &c->facts_b, &c->plan_b, c->err);
	if (code == 0)
		code = find_measured(c);
	if (code != 0)
		return code;
	stages_of(
	    c, c->in_a->medians, c->in_b->medians, &c->stages_a, &c->stages_b);
	c->mended = c->stages_b;
	if (sv_step_time(&c->stages_a) > 0.0 &&
	    sv_step_time(&c->stages_b) > 0.0)
		return 0;
	return sv_err_set(c->err, SV_EINPUT,
	    "explain %.60s: expected measurements that the step needs in both "
	    "results, found none in common; `stave run` measures them",
	    sv_workload_name(r->workload_b));
}

/* Steps, shares, and what a measured step says against them. */
static void attribute(struct sv_case *c)
{
	struct sv_explanation *x = c->x;
	double scale =
	    fmax(sv_step_time(&c->stages_a), sv_step_time(&c->stages_b));
	double gap;

	sv_attribute(&c->stages_a, &c->stages_b, scale, &c->shares);
	x->a.step_s = c->shares.a_s;
	x->b.step_s = c->shares.b_s;
	x->unexplained_s = c->shares.share_s[SV_UNEXPLAINED];
	x->has_measured_step = c->benched_b != NULL;
	if (!x->has_measured_step)
		return;
	x->measured_a_s = c->in_a->medians[c->measured_a];
	x->measured_b_s = c->in_b->medians[c->measured_b];
	x->model_a_s = x->measured_a_s - c->stages_a.unexplained_s;
	x->model_b_s = x->measured_b_s - c->stages_b.unexplained_s;
	x->model_error = fmax(fabs(x->model_a_s / x->measured_a_s - 1.0),
	    fabs(x->model_b_s / x->measured_b_s - 1.0));
	gap = x->b.step_s - x->a.step_s;
	x->is_withheld = fabs(x->unexplained_s) > WITHHOLD * fabs(gap) &&
			 fabs(x->unexplained_s) > LEAST_EFFECT * x->b.step_s;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The middle 95 % of n draws, which are sorted for it. */
static struct sv_interval middle(double *draws, size_t n)
{
	size_t cut = (size_t)(0.025 * (double)n);

	qsort(draws, n, sizeof *draws, by_value);
	return (struct sv_interval){draws[cut], draws[n - 1 - cut]};
}

/* A result draws alike wherever it stands. */
static uint64_t seed_of(const struct sv_result *r)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (const char *c = r->run.id; c != NULL && *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	return hash;
}

static bool has_spread(const struct sv_inputs *in)
{
	for (size_t i = 0; i < in->result->n_measurements; i++)
		if (in->used[i] && in->result->measurements[i].n_rounds > 1)
			return true;
	return false;
}

/* Rows of draws: A's step, B's, their ratio, and the shares. */
#define DRAWN_ROWS (3 + SV_N_COMPONENTS)

static void draw(struct sv_case *c, double *values_a, double *values_b,
    double *rows, size_t n)
{
	uint64_t random_a = seed_of(c->request->a);
	uint64_t random_b = seed_of(c->request->b);

	for (size_t i = 0; i < n; i++) {
		struct sv_stages a, b;
		struct sv_attribution drawn;

		sv_inputs_draw(c->in_a, &random_a, values_a);
		sv_inputs_draw(c->in_b, &random_b, values_b);
		stages_of(c, values_a, values_b, &a, &b);
		sv_attribute_raw(&a, &b, &drawn);
		rows[i] = drawn.a_s;
		rows[n + i] = drawn.b_s;
		rows[2 * n + i] = drawn.a_s / drawn.b_s;
		for (int k = 0; k < SV_N_COMPONENTS; k++)
			rows[(3 + (size_t)k) * n + i] = drawn.share_s[k];
	}
	/* The plans hold the medians' products again. */
	stages_of(
	    c, c->in_a->medians, c->in_b->medians, &c->stages_a, &c->stages_b);
}

static int resample(struct sv_case *c, struct sv_err *err)
{
	struct sv_explanation *x = c->x;
	size_t n = c->request->draws;
	double *values_a =
	    calloc(c->in_a->result->n_measurements + 1, sizeof(double));
	double *values_b =
	    calloc(c->in_b->result->n_measurements + 1, sizeof(double));
	double *rows = calloc(DRAWN_ROWS * n + 1, sizeof(double));
	const struct sv_interval none = {NAN, NAN};
	int code = 0;

	x->speedup_ci95 = none;
	x->a.ci95 = x->b.ci95 = none;
	for (int k = 0; k < SV_N_COMPONENTS; k++)
		x->components[k].share_ci95 = none;
	if (n < 40 || (!has_spread(c->in_a) && !has_spread(c->in_b)))
		goto free_rows;
	if (values_a == NULL || values_b == NULL || rows == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "explain: out of memory");
		goto free_rows;
	}
	draw(c, values_a, values_b, rows, n);
	for (int k = 0; k < SV_N_COMPONENTS; k++)
		x->components[k].share_ci95 =
		    middle(rows + (3 + (size_t)k) * n, n);
	x->a.ci95 = middle(rows, n);
	x->b.ci95 = middle(rows + n, n);
	x->speedup_ci95 = middle(rows + 2 * n, n);

free_rows:
	free(values_a);
	free(values_b);
	free(rows);
	return code;
}

static void judge(struct sv_explanation *x)
{
	const struct sv_interval *ci = &x->speedup_ci95;

	x->speedup = x->a.step_s / x->b.step_s;

	if (fabs(x->speedup - 1.0) < LEAST_EFFECT ||
	    (ci->lo <= 1.0 && ci->hi >= 1.0))
		x->verdict = SV_NO_DIFFERENCE;
	else
		x->verdict = x->speedup > 1.0 ? SV_B_FASTER : SV_B_SLOWER;
}

static const char *confidence_of(const struct sv_case *c, int component)
{
	enum sv_quality a = c->facts_a.evidence[component].quality;
	enum sv_quality b = c->facts_b.evidence[component].quality;
	enum sv_quality worst = a > b ? a : b;

	return worst <= SV_INTERPOLATED	  ? "high"
	       : worst == SV_EXTRAPOLATED ? "medium"
					  : "low";
}

/* Ids that both sides' stage stands on, each once. */
static const char *const *ids_of(struct sv_case *c, int component, size_t *n)
{
	const struct sv_evidence *sides[] = {
	    &c->facts_b.evidence[component], &c->facts_a.evidence[component]};
	const struct sv_result *results[] = {c->request->b, c->request->a};
	const char **ids = sv_result_bytes(
	    c->x->store, (sides[0]->n + sides[1]->n + 1) * sizeof *ids);

	*n = 0;
	for (int s = 0; ids != NULL && s < 2; s++)
		for (size_t i = 0; i < sides[s]->n; i++) {
			const char *id =
			    results[s]->measurements[sides[s]->index[i]].id;
			size_t k = 0;

			while (k < *n && strcmp(ids[k], id) != 0)
				k++;
			if (k == *n)
				ids[(*n)++] = id;
		}
	return ids;
}

/* What every component is of a step: against one in which all are nothing. */
static void parts_of(const struct sv_stages *s, struct sv_attribution *out)
{
	struct sv_stages nothing = *s;

	for (int i = 0; i < SV_N_COMPONENTS; i++)
		sv_stage_drop(&nothing, (enum sv_component)i);
	sv_attribute_raw(&nothing, s, out);
}

static void fill_components(struct sv_case *c)
{
	struct sv_attribution parts_a, parts_b;
	struct sv_explanation *x = c->x;

	parts_of(&c->stages_a, &parts_a);
	parts_of(&c->stages_b, &parts_b);
	for (int i = 0; i < SV_N_COMPONENTS; i++) {
		struct sv_explained_component *e = &x->components[i];

		e->name = sv_component_name((enum sv_component)i);
		e->a_s = sv_stage_alone(&c->stages_a, (enum sv_component)i);
		e->b_s = sv_stage_alone(&c->stages_b, (enum sv_component)i);
		e->a_part_s = parts_a.share_s[i];
		e->b_part_s = parts_b.share_s[i];
		e->share_s = c->shares.share_s[i];
		e->if_b_had_a_s = c->shares.if_b_had_a_s[i];
		e->evidence = ids_of(c, i, &e->n_evidence);
		e->confidence = confidence_of(c, i);
	}
}

static int list_not_modelled(struct sv_case *c, struct sv_err *err)
{
	struct sv_explanation *x = c->x;
	const char *const *terms =
	    sv_workload_not_modelled(c->request->workload_b);
	size_t room = SV_N_COMPONENTS;

	while (terms[room - SV_N_COMPONENTS] != NULL)
		room++;
	x->not_modelled =
	    sv_result_bytes(x->store, room * sizeof *x->not_modelled);
	if (x->not_modelled == NULL)
		return sv_err_set(err, SV_ERESOURCE, "explain: out of memory");
	for (; *terms != NULL; terms++)
		x->not_modelled[x->n_not_modelled++] =
		    sv_case_text(c, "%s", *terms);
	for (int i = 0; i < SV_N_COMPONENTS; i++) {
		bool a = c->facts_a.missing[i], b = c->facts_b.missing[i];

		if (a || b)
			x->not_modelled[x->n_not_modelled++] =
			    sv_case_text(c, "%s (not measured on %s)",
				sv_component_name((enum sv_component)i),
				a && b ? "either side"
				: a    ? "A"
				       : "B");
	}
	return c->code;
}

/* Both steps at another batch. */
static int steps_at(struct sv_case *c, long batch, struct sv_batch_row *row)
{
	struct sv_side a = c->a, b = c->b;
	struct sv_stages stages_a, stages_b;

	a.batch = b.batch = batch;
	sv_case_both(c, &a, &b, &stages_a, &stages_b);
	row->a_s = sv_step_time(&stages_a);
	row->b_s = sv_step_time(&stages_b);
	row->batch = batch;
	row->speedup = row->a_s / row->b_s;
	return c->code;
}

static bool wins(const struct sv_batch_row *row)
{
	return row->speedup >= 1.0 + LEAST_EFFECT;
}

/* The least batch in (lo, hi] from which B wins: it does at hi, not at lo. */
static int bisect(struct sv_case *c, long lo, long hi, long *out)
{
	int code = 0;

	while (code == 0 && hi - lo > 1) {
		struct sv_batch_row row;
		long half = lo + (hi - lo) / 2;

		code = steps_at(c, half, &row);
		if (wins(&row))
			hi = half;
		else
			lo = half;
	}
	*out = hi;
	return code;
}

static int crossover(
    struct sv_case *c, const struct sv_batch_row *rows, size_t n)
{
	struct sv_explanation *x = c->x;
	size_t first = n;

	/* From where on B wins in every row up to the last. */
	while (first > 0 && wins(&rows[first - 1]))
		first--;
	if (first == n) {
		bool ever = false;

		for (size_t i = 0; i < n; i++)
			ever = ever || wins(&rows[i]);
		x->crossover_why =
		    ever ? "B wins at some batches only and not at large ones"
			 : "B wins at no batch up to 4096";
		return 0;
	}
	if (first == 0) {
		x->crossover = 1;
		x->crossover_why = "B wins from the smallest batch on";
		return 0;
	}
	x->crossover_why = sv_case_text(c,
	    "below it, A and B are within 2 %% or A is faster; B's step is "
	    "%.2f of A's speed at batch %ld and %.2f at %ld",
	    rows[first - 1].speedup, rows[first - 1].batch, rows[first].speedup,
	    rows[first].batch);
	return bisect(
	    c, rows[first - 1].batch, rows[first].batch, &x->crossover);
}

static int by_batch(struct sv_case *c)
{
	struct sv_explanation *x = c->x;
	struct sv_batch_row rows[16];
	size_t n = 0;
	int code = 0;

	for (long batch = 1; code == 0 && batch <= LAST_BATCH; batch *= 2)
		code = steps_at(c, batch, &rows[n++]);
	if (code == 0)
		code = crossover(c, rows, n);
	x->by_batch = sv_result_bytes(x->store, n * sizeof *x->by_batch);
	if (x->by_batch == NULL)
		return sv_err_set(
		    c->err, SV_ERESOURCE, "explain: out of memory");
	for (size_t i = 0; code == 0 && i < n; i++)
		if (c->request->all_batches || i % 2 == 0)
			x->by_batch[x->n_by_batch++] = rows[i];
	return code;
}

/* Fields that may be the reason, and the component that they act through. */
static const struct {
	const char *field;
	enum sv_component component, other;
} watched[] = {
    {"device.name", SV_GEMM, SV_MEMORY},
    {"device.driver.version", SV_DISPATCH, SV_SYNC},
    {"device.driver.model", SV_DISPATCH, SV_SYNC},
    {"device.libraries.cublas", SV_GEMM, SV_GEMM},
    {"device.libraries.cudnn", SV_GEMM, SV_GEMM},
    {"device.power.limit_w", SV_GEMM, SV_GEMM},
    {"device.clocks.under_load.sm_Hz", SV_GEMM, SV_GEMM},
    {"device.clocks.under_load.memory_Hz", SV_MEMORY, SV_MEMORY},
    {"device.throttle.reasons", SV_GEMM, SV_GEMM},
    {"device.pcie.under_load.generation", SV_TRANSFER, SV_SPILL},
    {"device.pcie.under_load.width", SV_TRANSFER, SV_SPILL},
    {"device.pcie.numa_node", SV_TRANSFER, SV_TRANSFER},
    {"device.memory_bytes", SV_SPILL, SV_SPILL},
    {"machine.binding.node", SV_TRANSFER, SV_TRANSFER},
    {"machine.cpu.model", SV_DISPATCH, SV_PREPROCESS},
    {"machine.cpu.usable_threads", SV_PREPROCESS, SV_PREPROCESS},
    {"machine.cpu.governor", SV_DISPATCH, SV_PREPROCESS},
    {"machine.os.kernel", SV_DISPATCH, SV_SYNC},
    {"machine.virtualisation.kind", SV_TRANSFER, SV_DISPATCH},
    {"machine.storage.transport", SV_STORAGE, SV_STORAGE},
};

static json_t *field_of(const struct sv_result *r, const char *path)
{
	bool machine = strncmp(path, "machine.", 8) == 0;

	return sv_result_field(
	    machine ? r->machine : r->device, path + (machine ? 8 : 7));
}

static int differences(struct sv_case *c, struct sv_err *err)
{
	struct sv_explanation *x = c->x;
	size_t n = sizeof watched / sizeof watched[0];

	x->differences = sv_result_bytes(x->store, n * sizeof *x->differences);
	if (x->differences == NULL)
		return sv_err_set(err, SV_ERESOURCE, "explain: out of memory");
	for (size_t i = 0; i < n; i++) {
		json_t *a = field_of(c->request->a, watched[i].field);
		json_t *b = field_of(c->request->b, watched[i].field);
		double share =
		    fmax(fabs(c->shares.share_s[watched[i].component]),
			fabs(c->shares.share_s[watched[i].other]));
		bool same = json_is_number(a) && json_is_number(b)
				? json_number_value(a) == json_number_value(b)
				: a == b || json_equal(a, b);

		if (!same)
			x->differences[x->n_differences++] =
			    (struct sv_difference){watched[i].field, a, b,
				share >= SV_LEAST_GAIN * x->b.step_s};
	}
	return 0;
}

/* The model and the measured step disagree: what to measure instead. */
static void withhold(struct sv_case *c)
{
	struct sv_explanation *x = c->x;
	struct sv_suspect f = {.code = "UNEXPLAINED",
	    .share_s = x->unexplained_s,
	    .lifted_s = c->shares.b_s,
	    .remedy = "measure before you change anything: a profile of one "
		      "step on both machines, and a run in the profile full",
	    .falsify = "a second run of the step benchmark that agrees with "
		       "the model",
	    .component = SV_GEMM};

	f.claim = sv_case_text(c,
	    "The model says %.3g and %.3g ms for A and B, the measured steps "
	    "are %.3g and %.3g ms: what separates them is not among the "
	    "measured parts.",
	    1e3 * x->model_a_s, 1e3 * x->model_b_s, 1e3 * x->measured_a_s,
	    1e3 * x->measured_b_s);
	sv_case_add(c, &f);
	sv_causes_rank(c);
	x->verdict = SV_VERDICT_UNKNOWN;
}

static void find_causes(struct sv_case *c)
{
	if (c->x->is_withheld) {
		withhold(c);
		return;
	}
	sv_causes_host(c);
	sv_causes_transfer(c);
	sv_causes_device(c);
	sv_causes_loader(c);
	sv_causes_rank(c);
	sv_causes_rule_out(c);
}

static int keep_causes(struct sv_case *c)
{
	struct sv_explanation *x = c->x;

	x->causes =
	    sv_result_bytes(x->store, (c->n_causes + 1) * sizeof *x->causes);
	x->ruled_out = sv_result_bytes(
	    x->store, (c->n_ruled_out + 1) * sizeof *x->ruled_out);
	if (x->causes == NULL || x->ruled_out == NULL)
		return sv_err_set(
		    c->err, SV_ERESOURCE, "explain: out of memory");
	memcpy(x->causes, c->causes, c->n_causes * sizeof *x->causes);
	memcpy(
	    x->ruled_out, c->ruled_out, c->n_ruled_out * sizeof *x->ruled_out);
	x->n_causes = c->n_causes;
	x->n_ruled_out = c->n_ruled_out;
	return c->code;
}

/* The benches that settle a component, for the next command. */
static const char *const settling[] = {
    [SV_STORAGE] = "storage",
    [SV_PREPROCESS] = "preprocess,loader",
    [SV_TRANSFER] = "transfer",
    [SV_DISPATCH] = "launch",
    [SV_GEMM] = "gemm",
    [SV_MEMORY] = "memory",
    [SV_SYNC] = "sync",
    [SV_ALLOCATOR] = "allocator",
    [SV_EXCHANGE] = "peer",
    [SV_SPILL] = "transfer",
};

static void say_next(struct sv_case *c)
{
	struct sv_explanation *x = c->x;

	for (int i = 0; i < SV_N_COMPONENTS; i++)
		if (c->facts_a.missing[i] || c->facts_b.missing[i]) {
			x->next = sv_case_text(c,
			    "stave run --bench %s -o more.json    (on %s)",
			    settling[i], c->facts_b.missing[i] ? "B" : "A");
			return;
		}
	if (x->is_withheld)
		x->next = "stave run --profile full -o again.json    (on both)";
	else if (strcmp(x->causes[0].code, "NO_FAULT") == 0)
		x->next = "stave explain A B --all-batches";
	else
		x->next = sv_case_text(c,
		    "stave run -o mended.json    (on B, mended), then stave "
		    "explain B mended.json --workload %.60s",
		    x->workload);
}

static void describe(struct sv_case *c)
{
	const struct sv_explain_request *r = c->request;
	struct sv_explanation *x = c->x;
	const char *a = sv_workload_defaults(r->workload_a)->precision;

	x->workload = sv_case_text(c, "%s", sv_workload_name(r->workload_b));
	x->precision = sv_workload_defaults(r->workload_b)->precision;
	x->precision_a = strcmp(a, x->precision) == 0 ? NULL : a;
	x->batch = c->b.batch;
	x->a.label = label_of(r->a);
	x->b.label = label_of(r->b);
	x->a.rate = (double)c->a.batch / x->a.step_s;
	x->b.rate = (double)c->b.batch / x->b.step_s;
	c->limit_a = sv_step_limit(&c->stages_a);
	c->limit_b = sv_step_limit(&c->stages_b);
	if (c->limit_a < SV_N_COMPONENTS)
		x->a.limiting = sv_component_name(c->limit_a);
	if (c->limit_b < SV_N_COMPONENTS)
		x->b.limiting = sv_component_name(c->limit_b);
}

static int assemble(struct sv_case *c, struct sv_err *err)
{
	int code = start(c);

	if (code != 0)
		return code;
	attribute(c);
	code = resample(c, err);
	if (code != 0)
		return code;
	describe(c);
	judge(c->x);
	fill_components(c);
	find_causes(c);
	if ((code = keep_causes(c)) != 0 ||
	    (code = list_not_modelled(c, err)) != 0 ||
	    (code = by_batch(c)) != 0 || (code = differences(c, err)) != 0 ||
	    (code = sv_what_if(c, err)) != 0)
		return code;
	say_next(c);
	return c->code;
}

static void close_case(struct sv_case *c)
{
	sv_step_plan_free(c->benched_a);
	sv_step_plan_free(c->benched_b);
	sv_step_plan_free(c->plan_a);
	sv_step_plan_free(c->plan_b);
	sv_inputs_free(c->in_a);
	sv_inputs_free(c->in_b);
}

int sv_explain(const struct sv_explain_request *request,
    struct sv_explanation **out, struct sv_err *err)
{
	struct sv_explanation *x = calloc(1, sizeof *x);
	struct sv_case *c = calloc(1, sizeof *c);
	int code = SV_ERESOURCE;

	if (x != NULL)
		x->store = sv_result_new();
	if (x == NULL || c == NULL || x->store == NULL) {
		sv_err_set(err, code, "explain: out of memory");
	} else {
		c->request = request;
		c->x = x;
		c->err = err;
		code = assemble(c, err);
		close_case(c);
	}
	free(c);
	if (code != 0)
		sv_explanation_free(x);
	else
		*out = x;
	return code;
}

void sv_explanation_free(struct sv_explanation *x)
{
	if (x == NULL)
		return;
	sv_result_free(x->store);
	free(x);
}
