/*
 * From a JSON tree to a result. A file is taken whole or refused with the
 * place and what was expected there: nothing is guessed, repaired or half
 * read. Keys that this version does not know are kept aside and written back.
 */
#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_fields.h"
#include "stave/order.h"

static const struct sv_shape stave_shape[] = {
    {"version", NULL}, {"revision", NULL}, {NULL, NULL}};
static const struct sv_shape run_shape[] = {{"id", NULL}, {"label", NULL},
    {"profile", NULL}, {"started", NULL}, {"finished", NULL},
    {"stave", stave_shape}, {"complete", NULL}, {"origin", NULL},
    {"source", NULL}, {NULL, NULL}};
static const struct sv_shape source_shape[] = {
    {"title", NULL}, {"where", NULL}, {"retrieved", NULL}, {NULL, NULL}};
static const struct sv_shape summary_shape[] = {{"n", NULL}, {"median", NULL},
    {"ci95", NULL}, {"mad", NULL}, {"min", NULL}, {"max", NULL}, {"p05", NULL},
    {"p95", NULL}, {NULL, NULL}};
static const struct sv_shape reference_shape[] = {
    {"value", NULL}, {"what", NULL}, {NULL, NULL}};
static const struct sv_shape check_shape[] = {
    {"status", NULL}, {"detail", NULL}, {NULL, NULL}};
static const struct sv_shape measurement_shape[] = {{"id", NULL},
    {"bench", NULL}, {"metric", NULL}, {"params", NULL}, {"unit", NULL},
    {"better", NULL}, {"inner", NULL}, {"rounds", NULL}, {"samples", NULL},
    {"summary", summary_shape}, {"reference", reference_shape}, {"flags", NULL},
    {"check", check_shape}, {"source", NULL}, {NULL, NULL}};
static const struct sv_shape skipped_shape[] = {{"bench", NULL},
    {"params", NULL}, {"reason", NULL}, {"code", NULL}, {NULL, NULL}};
static const struct sv_shape failure_shape[] = {{"bench", NULL},
    {"params", NULL}, {"reason", NULL}, {"signal", NULL}, {"exit", NULL},
    {"timeout", NULL}, {"log_tail", NULL}, {NULL, NULL}};
static const struct sv_shape root_shape[] = {{"schema", NULL}, {"run", NULL},
    {"machine", NULL}, {"device", NULL}, {"measurements", NULL},
    {"skipped", NULL}, {"failures", NULL}, {NULL, NULL}};

/* Storage for n elements, also for none; NULL is a fault. */
static void *storage(struct sv_fields *f, size_t n, size_t element)
{
	void *place = sv_result_bytes(f->r, (n > 0 ? n : 1) * element);

	if (place == NULL)
		sv_fields_no_memory(f);
	return place;
}

/* An element of a list that shall be an object. */
static bool is_object(
    struct sv_fields *f, const json_t *value, const char *where)
{
	if (json_is_object(value))
		return true;
	sv_fields_fault(f, where, "", "expected an object, found %s",
	    sv_fields_kind(value));
	return false;
}

static void read_sources(struct sv_fields *f, json_t *run)
{
	json_t *list = sv_fields_array(f, run, "run", "source", false);
	size_t n = json_array_size(list);
	struct sv_source *sources = storage(f, n, sizeof *sources);
	char where[64];

	if (sources == NULL)
		return;
	/* All of it at once, so that the result frees what is there. */
	f->r->run.sources = sources;
	f->r->run.n_sources = n;
	for (size_t i = 0; i < n && f->code == 0; i++) {
		json_t *one = json_array_get(list, i);

		snprintf(where, sizeof where, "run.source[%zu]", i);
		if (!is_object(f, one, where))
			return;
		sources[i].title = sv_fields_text(f, one, where, "title", true);
		sources[i].where =
		    sv_fields_text(f, one, where, "where", false);
		sources[i].retrieved =
		    sv_fields_text(f, one, where, "retrieved", false);
		sources[i].extra = sv_fields_unknown(f, one, source_shape);
	}
}

static void read_run(struct sv_fields *f, json_t *run)
{
	struct sv_run_info *info = &f->r->run;
	json_t *stave = sv_fields_object(f, run, "run", "stave", false);
	json_t *complete = json_object_get(run, "complete");

	info->id = sv_fields_text(f, run, "run", "id", true);
	info->label = sv_fields_text(f, run, "run", "label", false);
	info->profile = sv_fields_text(f, run, "run", "profile", false);
	info->started = sv_fields_text(f, run, "run", "started", false);
	info->finished = sv_fields_text(f, run, "run", "finished", false);
	info->version = sv_fields_text(f, stave, "run.stave", "version", false);
	info->revision =
	    sv_fields_text(f, stave, "run.stave", "revision", false);
	info->origin = sv_fields_text(f, run, "run", "origin", true);
	if (!json_is_boolean(complete))
		sv_fields_fault(f, "run", "complete",
		    "expected true or false, found %s",
		    sv_fields_kind(complete));
	info->complete = json_is_true(complete);
	if (strcmp(info->origin, "measured") != 0 &&
	    strcmp(info->origin, "published") != 0 &&
	    strcmp(info->origin, "simulated") != 0)
		sv_fields_fault(f, "run", "origin",
		    "expected measured, published or simulated, found "
		    "\"%.40s\"",
		    info->origin);
	read_sources(f, run);
	info->extra = sv_fields_unknown(f, run, run_shape);
}

static void read_params(struct sv_fields *f, json_t *object, const char *where,
    struct sv_measurement *m)
{
	json_t *params = sv_fields_object(f, object, where, "params", false);
	size_t n = json_object_size(params);
	struct sv_result_param *list = storage(f, n, sizeof *list);
	const char *key;
	json_t *value;

	if (list == NULL)
		return;
	m->params = list;
	m->n_params = n;
	json_object_foreach (params, key, value) {
		char path[SV_FIELDS_MAX_PATH];

		list->name = key;
		list->text = json_string_value(value);
		list->number = json_integer_value(value);
		list++;
		if (json_is_string(value) || json_is_integer(value))
			continue;
		snprintf(path, sizeof path, "params.%.80s", key);
		sv_fields_fault(f, where, path,
		    "expected text or a whole number, found %s",
		    sv_fields_kind(value));
	}
}

static void read_rounds(struct sv_fields *f, json_t *object, const char *where,
    struct sv_measurement *m)
{
	json_t *rounds = sv_fields_array(f, object, where, "rounds", false);
	json_t *samples = sv_fields_array(f, object, where, "samples", false);
	size_t n = json_array_size(samples);
	struct sv_series *series = storage(f, n, sizeof *series);
	char key[64];

	m->rounds = sv_fields_numbers(f, rounds, where, "rounds", &m->n_rounds);
	if (series == NULL)
		return;
	m->samples = series;
	m->n_samples = n;
	for (size_t i = 0; i < n && f->code == 0; i++) {
		json_t *list = json_array_get(samples, i);

		snprintf(key, sizeof key, "samples[%zu]", i);
		if (!json_is_array(list))
			sv_fields_fault(f, where, key,
			    "expected an array, found %s",
			    sv_fields_kind(list));
		series[i].values =
		    sv_fields_numbers(f, list, where, key, &series[i].n);
	}
}

/*
 * Median and interval from the rounds where the file leaves them out. An
 * interval that is null stays so: somebody said that it cannot be known.
 */
static void complete_summary(
    struct sv_fields *f, bool wants_interval, struct sv_measurement *m)
{
	struct sv_summary *s = &m->summary;
	size_t n = m->n_rounds, rank = sv_order_interval_rank(n);
	double *sorted;

	if (n == 0 || (!wants_interval && !isnan(s->median)))
		return;
	sorted = malloc(n * sizeof *sorted);
	if (sorted == NULL) {
		sv_fields_no_memory(f);
		return;
	}
	memcpy(sorted, m->rounds, n * sizeof *sorted);
	sv_order_sort(sorted, n);
	if (isnan(s->median))
		s->median = sv_order_median(sorted, n);
	if (wants_interval && rank > 0)
		s->ci95 =
		    (struct sv_interval){sorted[rank - 1], sorted[n - rank]};
	free(sorted);
}

static void read_summary(struct sv_fields *f, json_t *object, const char *where,
    struct sv_measurement *m)
{
	json_t *summary = sv_fields_object(f, object, where, "summary", false);
	struct sv_summary *s = &m->summary;
	char path[SV_FIELDS_MAX_PATH];
	const double *ends;
	json_t *ci;
	size_t n;

	snprintf(path, sizeof path, "%s.summary", where);
	s->n = (size_t)sv_fields_count(
	    f, summary, path, "n", (long long)m->n_rounds);
	s->median = sv_fields_number(f, summary, path, "median");
	s->mad = sv_fields_number(f, summary, path, "mad");
	s->min = sv_fields_number(f, summary, path, "min");
	s->max = sv_fields_number(f, summary, path, "max");
	s->p05 = sv_fields_number(f, summary, path, "p05");
	s->p95 = sv_fields_number(f, summary, path, "p95");
	s->ci95 = (struct sv_interval){NAN, NAN};
	ci = sv_fields_array(f, summary, path, "ci95", false);
	ends = sv_fields_numbers(f, ci, path, "ci95", &n);
	if (ci != NULL && n != 2)
		sv_fields_fault(f, path, "ci95",
		    "expected two numbers, the lower first, found %zu", n);
	else if (ci != NULL)
		s->ci95 = (struct sv_interval){ends[0], ends[1]};
	if (f->code == 0)
		complete_summary(
		    f, json_object_get(summary, "ci95") == NULL, m);
}

static void read_flags(struct sv_fields *f, json_t *object, const char *where,
    struct sv_measurement *m)
{
	json_t *flags = sv_fields_array(f, object, where, "flags", false);
	size_t n = json_array_size(flags);
	const char **list = storage(f, n, sizeof *list);

	if (list == NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		char key[48];

		list[i] = json_string_value(json_array_get(flags, i));
		if (list[i] != NULL)
			continue;
		snprintf(key, sizeof key, "flags[%zu]", i);
		sv_fields_fault(f, where, key, "expected text, found %s",
		    sv_fields_kind(json_array_get(flags, i)));
		return;
	}
	m->flags = list;
	m->n_flags = n;
}

static void read_check(struct sv_fields *f, json_t *object, const char *where,
    struct sv_measurement *m)
{
	json_t *check = sv_fields_object(f, object, where, "check", false);
	char path[SV_FIELDS_MAX_PATH];
	const char *status;

	m->check = SV_CHECK_NONE;
	if (check == NULL)
		return;
	snprintf(path, sizeof path, "%s.check", where);
	status = sv_fields_text(f, check, path, "status", true);
	m->check_detail = sv_fields_text(f, check, path, "detail", false);
	if (strcmp(status, "pass") == 0)
		m->check = SV_CHECK_PASS;
	else if (strcmp(status, "fail") == 0)
		m->check = SV_CHECK_FAIL;
	else if (strcmp(status, "none") != 0)
		sv_fields_fault(f, path, "status",
		    "expected pass, fail or none, found \"%.40s\"", status);
}

static void read_reference(struct sv_fields *f, json_t *object,
    const char *where, struct sv_measurement *m)
{
	json_t *reference =
	    sv_fields_object(f, object, where, "reference", false);
	long long source = sv_fields_count(f, object, where, "source", -1);
	char path[SV_FIELDS_MAX_PATH];

	snprintf(path, sizeof path, "%s.reference", where);
	if (reference != NULL) {
		m->has_reference = true;
		m->reference = sv_fields_number(f, reference, path, "value");
		m->reference_what =
		    sv_fields_text(f, reference, path, "what", false);
		if (isnan(m->reference))
			sv_fields_fault(f, path, "value",
			    "expected a number, found nothing");
	}
	if (source >= (long long)f->r->run.n_sources)
		sv_fields_fault(f, where, "source",
		    "expected an index into run.source, which has %zu, found "
		    "%lld",
		    f->r->run.n_sources, source);
	m->source = (long)source;
}

static void read_names(struct sv_fields *f, json_t *object, const char *where,
    struct sv_measurement *m)
{
	const char *better;

	m->bench = sv_fields_text(f, object, where, "bench", true);
	m->metric = sv_fields_text(f, object, where, "metric", true);
	m->unit = sv_fields_text(f, object, where, "unit", true);
	better = sv_fields_text(f, object, where, "better", true);
	m->higher_is_better = strcmp(better, "higher") == 0;
	if (!m->higher_is_better && strcmp(better, "lower") != 0)
		sv_fields_fault(f, where, "better",
		    "expected higher or lower, found \"%.40s\"", better);
}

/* The id that the file states must be the one its parts make. */
static void check_id(struct sv_fields *f, json_t *object, const char *where,
    const struct sv_measurement *m)
{
	char id[SV_RESULT_MAX_ID];
	const char *stated = sv_fields_text(f, object, where, "id", false);
	struct sv_err cause;

	if (f->code != 0)
		return;
	if (sv_result_id(id, sizeof id, m->bench, m->metric, m->params,
		m->n_params, &cause) != 0)
		sv_fields_fault(f, where, "", "%s", cause.text);
	else if (stated != NULL && strcmp(stated, id) != 0)
		sv_fields_fault(f, where, "id",
		    "expected \"%.200s\", which its parts make, found "
		    "\"%.200s\"",
		    id, stated);
}

static void read_inner(struct sv_fields *f, json_t *object, const char *where,
    struct sv_measurement *m)
{
	/* The model's 0 says that the file has none: a file cannot say 0. */
	long long inner = sv_fields_count(f, object, where, "inner", -1);

	if (inner == 0)
		sv_fields_fault(
		    f, where, "inner", "expected 1 or more, found 0");
	m->inner = inner > 0 ? (uint64_t)inner : 0;
}

/* The cause names the field before its first colon. */
static void refuse(struct sv_fields *f, const char *where, struct sv_err *cause)
{
	char *what = strchr(cause->text, ':');

	*what = '\0';
	sv_fields_fault(f, where, cause->text, "%s", what + 2);
}

static void read_measurement(
    struct sv_fields *f, json_t *object, const char *where)
{
	struct sv_measurement m = {0};
	struct sv_err cause;
	int code;

	read_names(f, object, where, &m);
	read_params(f, object, where, &m);
	check_id(f, object, where, &m);
	read_inner(f, object, where, &m);
	read_rounds(f, object, where, &m);
	read_summary(f, object, where, &m);
	read_flags(f, object, where, &m);
	read_check(f, object, where, &m);
	read_reference(f, object, where, &m);
	if (f->code == 0 && sv_measurement_check(&m, &cause) != 0)
		refuse(f, where, &cause);
	if (f->code != 0)
		return;
	m.extra = sv_fields_unknown(f, object, measurement_shape);
	code = sv_result_add(f->r, &m, &cause);
	json_decref(m.extra);
	if (code == SV_EINPUT)
		sv_fields_fault(f, where, "", "%s", cause.text);
	else if (code != 0)
		sv_fields_no_memory(f);
}

static void read_skipped(struct sv_fields *f, json_t *object, const char *where)
{
	struct sv_skipped skipped = {0};
	struct sv_err cause;

	skipped.bench = sv_fields_text(f, object, where, "bench", true);
	skipped.params = sv_fields_object(f, object, where, "params", false);
	skipped.reason = sv_fields_text(f, object, where, "reason", true);
	skipped.code = sv_fields_text(f, object, where, "code", true);
	if (f->code != 0)
		return;
	skipped.extra = sv_fields_unknown(f, object, skipped_shape);
	if (sv_result_add_skipped(f->r, &skipped, &cause) != 0)
		sv_fields_no_memory(f);
	json_decref(skipped.extra);
}

/* How the process ended: the one key of the three that is there. */
static void read_end(struct sv_fields *f, json_t *object, const char *where,
    struct sv_failure *failure)
{
	static const char *const kinds[] = {"signal", "exit", "timeout"};
	size_t found = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (json_object_get(object, kinds[i]) == NULL)
			continue;
		failure->kind = kinds[i];
		failure->value = sv_fields_number(f, object, where, kinds[i]);
		found++;
	}
	if (found != 1)
		sv_fields_fault(f, where, "",
		    "expected one key of signal, exit and timeout, found %zu",
		    found);
}

static void read_failure(struct sv_fields *f, json_t *object, const char *where)
{
	struct sv_failure failure = {.value = NAN};
	struct sv_err cause;

	failure.bench = sv_fields_text(f, object, where, "bench", true);
	failure.params = sv_fields_object(f, object, where, "params", false);
	failure.reason = sv_fields_text(f, object, where, "reason", true);
	failure.log_tail = sv_fields_text(f, object, where, "log_tail", false);
	read_end(f, object, where, &failure);
	if (f->code != 0)
		return;
	failure.extra = sv_fields_unknown(f, object, failure_shape);
	if (sv_result_add_failure(f->r, &failure, &cause) != 0)
		sv_fields_no_memory(f);
	json_decref(failure.extra);
}

/* Each element of an array of objects, with its place for messages. */
static void read_list(struct sv_fields *f, json_t *root, const char *key,
    bool required, void (*read)(struct sv_fields *, json_t *, const char *))
{
	json_t *list = sv_fields_array(f, root, "", key, required), *one;
	char where[64];
	size_t i;

	json_array_foreach (list, i, one) {
		snprintf(where, sizeof where, "%s[%zu]", key, i);
		if (f->code != 0 || !is_object(f, one, where))
			return;
		read(f, one, where);
	}
}

static void check_schema(struct sv_fields *f, const json_t *root)
{
	const json_t *schema = json_object_get(root, "schema");

	if (!json_is_string(schema))
		sv_fields_fault(f, "", "schema",
		    "expected \"" SV_RESULT_SCHEMA "\", found %s",
		    sv_fields_kind(schema));
	else if (strcmp(json_string_value(schema), SV_RESULT_SCHEMA) != 0)
		sv_fields_fault(f, "", "schema",
		    "expected \"" SV_RESULT_SCHEMA "\", the only one that "
		    "this version of stave reads, found \"%.60s\"",
		    json_string_value(schema));
}

static void read_root(struct sv_fields *f, json_t *root)
{
	json_t *run, *machine, *device;

	check_schema(f, root);
	run = sv_fields_object(f, root, "", "run", true);
	machine = sv_fields_object(f, root, "", "machine", true);
	device = sv_fields_object(f, root, "", "device", true);
	if (f->code != 0)
		return;
	json_decref(f->r->machine);
	json_decref(f->r->device);
	f->r->machine = json_incref(machine);
	f->r->device = json_incref(device);
	read_run(f, run);
	read_list(f, root, "measurements", true, read_measurement);
	read_list(f, root, "skipped", false, read_skipped);
	read_list(f, root, "failures", false, read_failure);
	f->r->extra = sv_fields_unknown(f, root, root_shape);
}

int sv_result_from_json(
    json_t *root, const char *name, struct sv_result **out, struct sv_err *err)
{
	struct sv_fields fields = {
	    .name = name, .err = err, .r = sv_result_new()};

	if (fields.r == NULL)
		sv_fields_no_memory(&fields);
	else if (!json_is_object(root))
		sv_fields_fault(&fields, "", "", "expected an object, found %s",
		    sv_fields_kind(root));
	else
		read_root(&fields, root);
	if (fields.code != 0) {
		sv_result_free(fields.r);
		return fields.code;
	}
	*out = fields.r;
	return 0;
}
