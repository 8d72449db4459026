/*
 * Reading result files. A file is taken whole or refused with the place and
 * what was expected there: nothing is guessed, repaired or half read. Keys
 * that this version does not know are kept aside and written back.
 */
#include "result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stave/order.h"
#include "stave/units.h"

/* A result of a long run is a few megabytes; nobody waits for more. */
#define MAX_FILE_BYTES (512u << 20)

/*
 * The file being read. The first fault sticks: later calls do nothing and
 * give defaults, so that reading code needs no checks between fields.
 */
struct reader {
	struct sv_result *r;
	const char *name;
	struct sv_err *err;
	int code;
};

SV_PRINTF(3, 4)
static void fault(
    struct reader *reader, const char *where, const char *fmt, ...)
{
	char what[512];
	va_list args;

	if (reader->code != 0)
		return;
	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	reader->code = sv_err_set(
	    reader->err, SV_EINPUT, "%s: %s: %s", reader->name, where, what);
}

static void no_memory(struct reader *reader)
{
	if (reader->code == 0)
		reader->code = sv_err_set(reader->err, SV_ERESOURCE,
		    "%s: out of memory", reader->name);
}

static const char *kind_of(const json_t *value)
{
	if (value == NULL)
		return "nothing";
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "text";
	case JSON_INTEGER:
		return "a whole number";
	case JSON_REAL:
		return "a fraction";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a truth value";
	default:
		return "null";
	}
}

/* A value that is there and not null, or NULL. */
static json_t *present(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

static const char *text_at(struct reader *reader, json_t *object,
    const char *where, const char *key, bool required)
{
	json_t *value = present(object, key);
	const char *copy;

	if (value == NULL && !required)
		return NULL;
	if (!json_is_string(value)) {
		fault(reader, where, "%s: expected text, found %s", key,
		    kind_of(value));
		return "";
	}
	copy = sv_result_text(reader->r, json_string_value(value));
	if (copy == NULL)
		no_memory(reader);
	return copy != NULL ? copy : "";
}

/* A number; NaN where it is missing or null. */
static double number_at(
    struct reader *reader, json_t *object, const char *where, const char *key)
{
	json_t *value = present(object, key);

	if (value == NULL)
		return NAN;
	if (!json_is_number(value)) {
		fault(reader, where, "%s: expected a number or null, found %s",
		    key, kind_of(value));
		return NAN;
	}
	return json_number_value(value);
}

/* A whole number, at least 0; fallback where it is missing or null. */
static long long count_at(struct reader *reader, json_t *object,
    const char *where, const char *key, long long fallback)
{
	json_t *value = present(object, key);

	if (value == NULL)
		return fallback;
	if (!json_is_integer(value) || json_integer_value(value) < 0) {
		fault(reader, where,
		    "%s: expected a whole number, 0 or more, found %s", key,
		    json_is_integer(value) ? "a negative one" : kind_of(value));
		return fallback;
	}
	return json_integer_value(value);
}

static json_t *object_at(struct reader *reader, json_t *object,
    const char *where, const char *key, bool required)
{
	json_t *value = present(object, key);

	if (value == NULL && !required)
		return NULL;
	if (!json_is_object(value)) {
		fault(reader, where, "%s: expected an object, found %s", key,
		    kind_of(value));
		return NULL;
	}
	return value;
}

static json_t *array_at(struct reader *reader, json_t *object,
    const char *where, const char *key, bool required)
{
	json_t *value = present(object, key);

	if (value == NULL && !required)
		return NULL;
	if (!json_is_array(value)) {
		fault(reader, where, "%s: expected an array, found %s", key,
		    kind_of(value));
		return NULL;
	}
	return value;
}

static bool is_known(const char *const *known, const char *path)
{
	for (; *known != NULL; known++)
		if (strcmp(*known, path) == 0)
			return true;
	return false;
}

static bool has_inner(const char *const *known, const char *path)
{
	size_t n = strlen(path);

	for (; *known != NULL; known++)
		if (strncmp(*known, path, n) == 0 && (*known)[n] == '.')
			return true;
	return false;
}

/*
 * Copy what `known` does not name into *extra, nested as it was; known holds
 * dotted paths. *extra stays NULL where there is nothing.
 */
static void keep_unknown(struct reader *reader, json_t *object,
    const char *prefix, const char *const *known, json_t **extra)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		char path[256];
		json_t *inner = NULL;

		snprintf(path, sizeof path, "%s%s", prefix, key);
		if (is_known(known, path) && json_is_object(value) &&
		    has_inner(known, path)) {
			strncat(path, ".", sizeof path - strlen(path) - 1);
			keep_unknown(reader, value, path, known, &inner);
		} else if (!is_known(known, path)) {
			inner = json_incref(value);
		}
		if (inner == NULL)
			continue;
		if (*extra == NULL)
			*extra = json_object();
		if (*extra == NULL ||
		    json_object_set_new(*extra, key, inner) != 0)
			no_memory(reader);
	}
}

static void read_sources(struct reader *reader, json_t *run)
{
	static const char *const known[] = {
	    "title", "where", "retrieved", NULL};
	json_t *list = array_at(reader, run, "run", "source", false);
	size_t n = json_array_size(list);
	struct sv_source *sources =
	    sv_result_bytes(reader->r, (n > 0 ? n : 1) * sizeof *sources);
	char where[64];

	if (sources == NULL) {
		no_memory(reader);
		return;
	}
	/* First, so that what is kept aside is freed with the result. */
	reader->r->run.sources = sources;
	reader->r->run.n_sources = n;
	for (size_t i = 0; i < n; i++) {
		json_t *one = json_array_get(list, i);

		snprintf(where, sizeof where, "run.source[%zu]", i);
		if (!json_is_object(one)) {
			fault(reader, where, "expected an object, found %s",
			    kind_of(one));
			return;
		}
		sources[i].title = text_at(reader, one, where, "title", true);
		sources[i].where = text_at(reader, one, where, "where", false);
		sources[i].retrieved =
		    text_at(reader, one, where, "retrieved", false);
		keep_unknown(reader, one, "", known, &sources[i].extra);
	}
}

static void read_run(struct reader *reader, json_t *run)
{
	static const char *const known[] = {"id", "label", "profile", "started",
	    "finished", "stave", "stave.version", "stave.revision", "complete",
	    "origin", "source", NULL};
	struct sv_run_info *info = &reader->r->run;
	json_t *stave = object_at(reader, run, "run", "stave", false);
	json_t *complete = json_object_get(run, "complete");

	info->id = text_at(reader, run, "run", "id", true);
	info->label = text_at(reader, run, "run", "label", true);
	info->profile = text_at(reader, run, "run", "profile", false);
	info->started = text_at(reader, run, "run", "started", false);
	info->finished = text_at(reader, run, "run", "finished", false);
	info->version = text_at(reader, stave, "run.stave", "version", false);
	info->revision = text_at(reader, stave, "run.stave", "revision", false);
	info->origin = text_at(reader, run, "run", "origin", true);
	if (!json_is_boolean(complete))
		fault(reader, "run",
		    "complete: expected true or false, found %s",
		    kind_of(complete));
	info->complete = json_is_true(complete);
	if (reader->code == 0 && strcmp(info->origin, "measured") != 0 &&
	    strcmp(info->origin, "published") != 0 &&
	    strcmp(info->origin, "simulated") != 0)
		fault(reader, "run",
		    "origin: expected measured, published or simulated, "
		    "found \"%.40s\"",
		    info->origin);
	read_sources(reader, run);
	keep_unknown(reader, run, "", known, &info->extra);
}

static void read_params(struct reader *reader, json_t *object,
    const char *where, struct sv_measurement *m)
{
	json_t *params = object_at(reader, object, where, "params", false);
	struct sv_result_param *list;
	const char *key;
	json_t *value;

	m->n_params = json_object_size(params);
	if (m->n_params > SV_RESULT_MAX_PARAMS) {
		fault(reader, where, "params: expected at most %d, found %zu",
		    SV_RESULT_MAX_PARAMS, m->n_params);
		m->n_params = 0;
	}
	list = sv_result_bytes(
	    reader->r, (m->n_params > 0 ? m->n_params : 1) * sizeof *list);
	m->params = list;
	if (list == NULL) {
		no_memory(reader);
		m->n_params = 0;
	}
	if (m->n_params == 0)
		return;
	json_object_foreach (params, key, value) {
		list->name = key;
		if (json_is_string(value))
			list->text = json_string_value(value);
		else if (json_is_integer(value))
			list->number = json_integer_value(value);
		else
			fault(reader, where,
			    "params.%s: expected text or a whole number, "
			    "found %s",
			    key, kind_of(value));
		list++;
	}
}

/* An array of numbers in the arena; NULL (and a fault) where it is not. */
static const double *numbers(struct reader *reader, json_t *array,
    const char *where, const char *key, size_t *n)
{
	size_t count = json_array_size(array);
	double *values = sv_result_bytes(
	    reader->r, (count > 0 ? count : 1) * sizeof *values);

	*n = 0;
	if (values == NULL) {
		no_memory(reader);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		json_t *value = json_array_get(array, i);

		if (!json_is_number(value)) {
			fault(reader, where,
			    "%s[%zu]: expected a number, found %s", key, i,
			    kind_of(value));
			return NULL;
		}
		values[i] = json_number_value(value);
	}
	*n = count;
	return values;
}

static void read_rounds(struct reader *reader, json_t *object,
    const char *where, struct sv_measurement *m)
{
	json_t *rounds = array_at(reader, object, where, "rounds", false);
	json_t *samples = array_at(reader, object, where, "samples", false);
	size_t n = json_array_size(samples);
	struct sv_series *series;
	char key[64];

	m->rounds = numbers(reader, rounds, where, "rounds", &m->n_rounds);
	if (n != 0 && n != m->n_rounds)
		fault(reader, where,
		    "samples: expected one list a round (%zu), found %zu",
		    m->n_rounds, n);
	series = sv_result_bytes(reader->r, (n > 0 ? n : 1) * sizeof *series);
	if (series == NULL) {
		no_memory(reader);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		json_t *list = json_array_get(samples, i);

		snprintf(key, sizeof key, "samples[%zu]", i);
		if (!json_is_array(list)) {
			fault(reader, where, "%s: expected an array, found %s",
			    key, kind_of(list));
			return;
		}
		series[i].values =
		    numbers(reader, list, where, key, &series[i].n);
	}
	m->samples = series;
	m->n_samples = n;
}

/* Median, interval and range from the rounds, where the file gives none. */
static void complete_summary(struct reader *reader, struct sv_measurement *m)
{
	struct sv_summary *s = &m->summary;
	double *sorted;
	size_t rank;

	if (m->n_rounds == 0)
		return;
	sorted = malloc(m->n_rounds * sizeof *sorted);
	if (sorted == NULL) {
		no_memory(reader);
		return;
	}
	memcpy(sorted, m->rounds, m->n_rounds * sizeof *sorted);
	sv_order_sort(sorted, m->n_rounds);
	rank = sv_order_interval_rank(m->n_rounds);
	if (isnan(s->median))
		s->median = sv_order_median(sorted, m->n_rounds);
	if (isnan(s->ci95.lo) && isnan(s->ci95.hi) && rank > 0) {
		s->ci95.lo = sorted[rank - 1];
		s->ci95.hi = sorted[m->n_rounds - rank];
	}
	free(sorted);
}

/* A summary that its own rounds contradict means that the file is damaged. */
static void check_summary(
    struct reader *reader, const char *where, const struct sv_measurement *m)
{
	double lo = INFINITY, hi = -INFINITY;

	if (m->n_rounds == 0) {
		if (isnan(m->summary.median))
			fault(reader, where,
			    "expected rounds, or summary.median as a number");
		return;
	}
	for (size_t i = 0; i < m->n_rounds; i++) {
		lo = fmin(lo, m->rounds[i]);
		hi = fmax(hi, m->rounds[i]);
	}
	if (m->summary.n != m->n_rounds)
		fault(reader, where,
		    "summary.n: expected %zu, the number of rounds, found %zu",
		    m->n_rounds, m->summary.n);
	if (m->summary.median < lo || m->summary.median > hi)
		fault(reader, where,
		    "summary.median: expected a value between the rounds' "
		    "%g and %g, found %g",
		    lo, hi, m->summary.median);
}

static void read_summary(struct reader *reader, json_t *object,
    const char *where, struct sv_measurement *m)
{
	json_t *summary = object_at(reader, object, where, "summary", false);
	json_t *ci = array_at(reader, summary, where, "ci95", false);
	struct sv_summary *s = &m->summary;
	size_t n;
	const double *ends = numbers(reader, ci, where, "summary.ci95", &n);

	s->n = (size_t)count_at(
	    reader, summary, where, "n", (long long)m->n_rounds);
	s->median = number_at(reader, summary, where, "median");
	s->mad = number_at(reader, summary, where, "mad");
	s->min = number_at(reader, summary, where, "min");
	s->max = number_at(reader, summary, where, "max");
	s->p05 = number_at(reader, summary, where, "p05");
	s->p95 = number_at(reader, summary, where, "p95");
	s->ci95 = (struct sv_interval){NAN, NAN};
	if (ci != NULL && (ends == NULL || n != 2 || ends[0] > ends[1]))
		fault(reader, where,
		    "summary.ci95: expected two numbers, the lower first");
	else if (ci != NULL)
		s->ci95 = (struct sv_interval){ends[0], ends[1]};
	complete_summary(reader, m);
	check_summary(reader, where, m);
}

static void read_flags(struct reader *reader, json_t *object, const char *where,
    struct sv_measurement *m)
{
	json_t *flags = array_at(reader, object, where, "flags", false);
	size_t n = json_array_size(flags);
	const char **list =
	    sv_result_bytes(reader->r, (n > 0 ? n : 1) * sizeof *list);

	if (list == NULL) {
		no_memory(reader);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		list[i] = json_string_value(json_array_get(flags, i));
		if (list[i] == NULL) {
			fault(reader, where,
			    "flags[%zu]: expected text, found %s", i,
			    kind_of(json_array_get(flags, i)));
			return;
		}
	}
	m->flags = list;
	m->n_flags = n;
}

static void read_check(struct reader *reader, json_t *object, const char *where,
    struct sv_measurement *m)
{
	json_t *check = object_at(reader, object, where, "check", false);
	const char *status;

	m->check = SV_CHECK_NONE;
	if (check == NULL)
		return;
	status = text_at(reader, check, where, "status", true);
	m->check_detail = text_at(reader, check, where, "detail", false);
	if (strcmp(status, "pass") == 0)
		m->check = SV_CHECK_PASS;
	else if (strcmp(status, "fail") == 0)
		m->check = SV_CHECK_FAIL;
	else if (strcmp(status, "none") != 0)
		fault(reader, where,
		    "check.status: expected pass, fail or none, found "
		    "\"%.40s\"",
		    status);
}

static void read_reference(struct reader *reader, json_t *object,
    const char *where, struct sv_measurement *m)
{
	json_t *reference =
	    object_at(reader, object, where, "reference", false);
	long long source = count_at(reader, object, where, "source", -1);

	if (reference != NULL) {
		m->has_reference = true;
		m->reference = number_at(reader, reference, where, "value");
		m->reference_what =
		    text_at(reader, reference, where, "what", false);
		if (isnan(m->reference))
			fault(reader, where,
			    "reference.value: expected a number");
	}
	if (source >= (long long)reader->r->run.n_sources)
		fault(reader, where,
		    "source: expected an index into run.source, which has "
		    "%zu, found %lld",
		    reader->r->run.n_sources, source);
	m->source = (long)source;
}

static void read_names(struct reader *reader, json_t *object, const char *where,
    struct sv_measurement *m)
{
	const char *better;

	m->bench = text_at(reader, object, where, "bench", true);
	m->metric = text_at(reader, object, where, "metric", true);
	m->unit = text_at(reader, object, where, "unit", true);
	better = text_at(reader, object, where, "better", true);
	m->higher_is_better = strcmp(better, "higher") == 0;
	if (reader->code == 0 && !sv_unit_known(m->unit))
		fault(reader, where,
		    "unit: expected a unit such as s or B/s, found \"%.40s\"",
		    m->unit);
	if (reader->code == 0 && !m->higher_is_better &&
	    strcmp(better, "lower") != 0)
		fault(reader, where,
		    "better: expected higher or lower, found \"%.40s\"",
		    better);
}

/* The id that the file states must be the one its parts make. */
static void check_id(struct reader *reader, json_t *object, const char *where,
    const struct sv_measurement *m)
{
	char id[SV_RESULT_MAX_ID];
	const char *stated = text_at(reader, object, where, "id", false);
	struct sv_err cause;

	if (reader->code != 0)
		return;
	if (sv_result_id(id, sizeof id, m->bench, m->metric, m->params,
		m->n_params, &cause) != 0)
		fault(reader, where, "%s", cause.text);
	else if (stated != NULL && strcmp(stated, id) != 0)
		fault(reader, where,
		    "id: expected \"%.150s\" by its parts, found \"%.150s\"",
		    id, stated);
}

static void read_measurement(
    struct reader *reader, json_t *object, const char *where)
{
	static const char *const known[] = {"id", "bench", "metric", "params",
	    "unit", "better", "inner", "rounds", "samples", "summary",
	    "summary.n", "summary.median", "summary.ci95", "summary.mad",
	    "summary.min", "summary.max", "summary.p05", "summary.p95",
	    "reference", "reference.value", "reference.what", "flags", "check",
	    "check.status", "check.detail", "source", NULL};
	struct sv_measurement m = {0};
	struct sv_err cause;
	int code;

	if (!json_is_object(object)) {
		fault(reader, where, "expected an object, found %s",
		    kind_of(object));
		return;
	}
	read_names(reader, object, where, &m);
	read_params(reader, object, where, &m);
	check_id(reader, object, where, &m);
	m.inner = (uint64_t)count_at(reader, object, where, "inner", 0);
	read_rounds(reader, object, where, &m);
	read_summary(reader, object, where, &m);
	read_flags(reader, object, where, &m);
	read_check(reader, object, where, &m);
	read_reference(reader, object, where, &m);
	if (reader->code != 0)
		return;
	keep_unknown(reader, object, "", known, &m.extra);
	code = sv_result_add(reader->r, &m, &cause);
	json_decref(m.extra);
	if (code == SV_EINPUT)
		fault(reader, where, "%s", cause.text);
	else if (code != 0)
		no_memory(reader);
}

static void read_skipped(
    struct reader *reader, json_t *object, const char *where)
{
	static const char *const known[] = {
	    "bench", "params", "reason", "code", NULL};
	struct sv_skipped skipped = {0};
	struct sv_err cause;

	skipped.bench = text_at(reader, object, where, "bench", true);
	skipped.params = object_at(reader, object, where, "params", false);
	skipped.reason = text_at(reader, object, where, "reason", true);
	skipped.code = text_at(reader, object, where, "code", true);
	if (reader->code != 0)
		return;
	keep_unknown(reader, object, "", known, &skipped.extra);
	if (sv_result_add_skipped(reader->r, &skipped, &cause) != 0)
		no_memory(reader);
	json_decref(skipped.extra);
}

static void read_failure(
    struct reader *reader, json_t *object, const char *where)
{
	static const char *const known[] = {"bench", "params", "reason",
	    "signal", "exit", "timeout", "log_tail", NULL};
	static const char *const kinds[] = {"signal", "timeout", "exit"};
	struct sv_failure failure = {.value = NAN};
	struct sv_err cause;

	failure.bench = text_at(reader, object, where, "bench", true);
	failure.params = object_at(reader, object, where, "params", false);
	failure.reason = text_at(reader, object, where, "reason", true);
	failure.log_tail = text_at(reader, object, where, "log_tail", false);
	failure.kind = "exit";
	for (size_t i = 0; i < 3; i++) {
		if (json_object_get(object, kinds[i]) == NULL)
			continue;
		failure.kind = kinds[i];
		failure.value = number_at(reader, object, where, kinds[i]);
		break;
	}
	if (reader->code != 0)
		return;
	keep_unknown(reader, object, "", known, &failure.extra);
	if (sv_result_add_failure(reader->r, &failure, &cause) != 0)
		no_memory(reader);
	json_decref(failure.extra);
}

/* Each element of an array of objects, with its place for messages. */
static void read_list(struct reader *reader, json_t *root, const char *key,
    bool required, void (*read)(struct reader *, json_t *, const char *))
{
	json_t *list = array_at(reader, root, "file", key, required);
	char where[64];

	for (size_t i = 0; i < json_array_size(list) && reader->code == 0;
	     i++) {
		json_t *one = json_array_get(list, i);

		snprintf(where, sizeof where, "%s[%zu]", key, i);
		if (!json_is_object(one))
			fault(reader, where, "expected an object, found %s",
			    kind_of(one));
		else
			read(reader, one, where);
	}
}

static void check_schema(struct reader *reader, json_t *root)
{
	json_t *schema = json_object_get(root, "schema");

	if (!json_is_string(schema))
		fault(reader, "schema",
		    "expected \"" SV_RESULT_SCHEMA "\", found %s",
		    kind_of(schema));
	else if (strcmp(json_string_value(schema), SV_RESULT_SCHEMA) != 0)
		fault(reader, "schema",
		    "expected \"" SV_RESULT_SCHEMA "\", found \"%.60s\"; this "
		    "stave does not read it",
		    json_string_value(schema));
}

static void read_root(struct reader *reader, json_t *root)
{
	static const char *const known[] = {"schema", "run", "machine",
	    "device", "measurements", "skipped", "failures", NULL};
	json_t *run, *machine, *device;

	check_schema(reader, root);
	run = object_at(reader, root, "file", "run", true);
	machine = object_at(reader, root, "file", "machine", true);
	device = object_at(reader, root, "file", "device", true);
	if (reader->code != 0)
		return;
	json_decref(reader->r->machine);
	json_decref(reader->r->device);
	reader->r->machine = json_incref(machine);
	reader->r->device = json_incref(device);
	read_run(reader, run);
	read_list(reader, root, "measurements", true, read_measurement);
	read_list(reader, root, "skipped", false, read_skipped);
	read_list(reader, root, "failures", false, read_failure);
	keep_unknown(reader, root, "", known, &reader->r->extra);
}

int sv_result_parse(const char *text, size_t n_bytes, const char *name,
    struct sv_result **out, struct sv_err *err)
{
	struct reader reader = {.name = name, .err = err};
	json_error_t error;
	json_t *root;

	if (n_bytes == 0)
		return sv_err_set(err, SV_EINPUT,
		    "%s: expected a result, found an empty file", name);
	root = json_loadb(text, n_bytes, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL)
		return sv_err_set(err,
		    json_error_code(&error) == json_error_out_of_memory
			? SV_ERESOURCE
			: SV_EINPUT,
		    "%s: line %d, column %d: %s", name, error.line,
		    error.column, error.text);
	reader.r = sv_result_new();
	if (reader.r == NULL)
		no_memory(&reader);
	else if (!json_is_object(root))
		fault(&reader, "file", "expected an object, found %s",
		    kind_of(root));
	else
		read_root(&reader, root);
	json_decref(root);
	if (reader.code != 0) {
		sv_result_free(reader.r);
		return reader.code;
	}
	*out = reader.r;
	return 0;
}

static int read_bytes(
    FILE *file, const char *path, char **out, size_t *size, struct sv_err *err)
{
	size_t used = 0, room = 65536;
	char *bytes = malloc(room);

	while (bytes != NULL) {
		size_t got = fread(bytes + used, 1, room - used, file);

		used += got;
		if (used < room)
			break;
		if (room >= MAX_FILE_BYTES) {
			free(bytes);
			return sv_err_set(err, SV_EINPUT,
			    "%s: expected at most %u MiB", path,
			    MAX_FILE_BYTES >> 20);
		}
		char *larger = realloc(bytes, room *= 2);

		if (larger == NULL)
			free(bytes);
		bytes = larger;
	}
	if (bytes == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "read %s: out of memory", path);
	if (ferror(file)) {
		free(bytes);
		return sv_err_set(
		    err, SV_EINPUT, "read %s: %s", path, strerror(errno));
	}
	*out = bytes;
	*size = used;
	return 0;
}

int sv_result_read(const char *path, struct sv_result **out, struct sv_err *err)
{
	FILE *file = fopen(path, "rb");
	struct stat info;
	char *bytes = NULL;
	size_t size = 0;
	int code;

	if (file == NULL)
		return sv_err_set(
		    err, SV_EINPUT, "open %s: %s", path, strerror(errno));
	if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode))
		code = sv_err_set(err, SV_EINPUT,
		    "%s: expected a result file, found a folder", path);
	else
		code = read_bytes(file, path, &bytes, &size, err);
	if (code == 0)
		code = sv_result_parse(bytes, size, path, out, err);
	free(bytes);
	fclose(file);
	return code;
}
