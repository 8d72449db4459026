/*
 * From a result to a JSON tree and its text: one measurement a line, so that
 * files diff and grep well. Keys keep one order, numbers 17 digits: the same
 * result always gives the same bytes. How it reaches a disk is no concern
 * here.
 */
#include "result.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* JSON has no NaN: what is unknown is null. */
static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

/* Put take_value under key; false when it is NULL or there is no memory. */
static bool put(json_t *object, const char *key, json_t *take_value)
{
	return json_object_set_new(object, key, take_value) == 0;
}

static bool append(json_t *array, json_t *take_value)
{
	return json_array_append_new(array, take_value) == 0;
}

/* The tree when it is good; else NULL, and the tree is gone. */
static json_t *finished(json_t *tree, bool good)
{
	if (good)
		return tree;
	json_decref(tree);
	return NULL;
}

/*
 * Lay unknown keys over a tree that is ours: what both have as an object is
 * joined, one level down, which is how deep known objects nest.
 */
static bool merge_extra(json_t *tree, json_t *extra)
{
	const char *key;
	json_t *value;

	json_object_foreach (extra, key, value) {
		json_t *ours = json_object_get(tree, key);
		bool joins = json_is_object(ours) && json_is_object(value);

		if ((joins ? json_object_update(ours, value)
			   : json_object_set(tree, key, value)) != 0)
			return false;
	}
	return true;
}

static json_t *numbers(const double *values, size_t n)
{
	json_t *array = json_array();
	bool good = array != NULL;

	for (size_t i = 0; good && i < n; i++)
		good = append(array, number_or_null(values[i]));
	return finished(array, good);
}

static json_t *texts(const char *const *list, size_t n)
{
	json_t *array = json_array();
	bool good = array != NULL;

	for (size_t i = 0; good && i < n; i++)
		good = append(array, json_string(list[i]));
	return finished(array, good);
}

static json_t *params_tree(const struct sv_measurement *m)
{
	json_t *params = json_object();
	bool good = params != NULL;

	for (size_t i = 0; good && i < m->n_params; i++)
		good = put(params, m->params[i].name,
		    m->params[i].text != NULL
			? json_string(m->params[i].text)
			: json_integer(m->params[i].number));
	return finished(params, good);
}

static json_t *summary_tree(const struct sv_summary *s)
{
	const double ends[] = {s->ci95.lo, s->ci95.hi};
	json_t *tree = json_object();
	bool good = put(tree, "n", json_integer((json_int_t)s->n)) &&
		    put(tree, "median", number_or_null(s->median)) &&
		    put(tree, "ci95",
			isnan(s->ci95.lo) ? json_null() : numbers(ends, 2)) &&
		    put(tree, "mad", number_or_null(s->mad)) &&
		    put(tree, "min", number_or_null(s->min)) &&
		    put(tree, "max", number_or_null(s->max)) &&
		    put(tree, "p05", number_or_null(s->p05)) &&
		    put(tree, "p95", number_or_null(s->p95));

	return finished(tree, good);
}

static json_t *samples_tree(const struct sv_measurement *m)
{
	json_t *samples = json_array();
	bool good = samples != NULL;

	for (size_t i = 0; good && i < m->n_samples; i++)
		good = append(
		    samples, numbers(m->samples[i].values, m->samples[i].n));
	return finished(samples, good);
}

static json_t *reference_tree(const struct sv_measurement *m)
{
	json_t *tree;

	if (!m->has_reference)
		return json_null();
	tree = json_object();
	return finished(
	    tree, put(tree, "value", json_real(m->reference)) &&
		      put(tree, "what", text_or_null(m->reference_what)));
}

static json_t *check_tree(const struct sv_measurement *m)
{
	static const char *const names[] = {
	    [SV_CHECK_NONE] = "none",
	    [SV_CHECK_PASS] = "pass",
	    [SV_CHECK_FAIL] = "fail",
	};
	json_t *tree = json_object();

	return finished(
	    tree, put(tree, "status", json_string(names[m->check])) &&
		      put(tree, "detail", text_or_null(m->check_detail)));
}

static json_t *measurement_tree(
    const struct sv_measurement *m, enum sv_keep keep)
{
	json_t *tree = json_object();
	bool good =
	    put(tree, "id", json_string(m->id)) &&
	    put(tree, "bench", json_string(m->bench)) &&
	    put(tree, "metric", json_string(m->metric)) &&
	    put(tree, "params", params_tree(m)) &&
	    put(tree, "unit", json_string(m->unit)) &&
	    put(tree, "better",
		json_string(m->higher_is_better ? "higher" : "lower")) &&
	    (m->inner == 0 ||
		put(tree, "inner", json_integer((json_int_t)m->inner))) &&
	    put(tree, "rounds", numbers(m->rounds, m->n_rounds)) &&
	    (keep == SV_KEEP_SUMMARY || m->n_samples == 0 ||
		put(tree, "samples", samples_tree(m))) &&
	    put(tree, "summary", summary_tree(&m->summary)) &&
	    put(tree, "reference", reference_tree(m)) &&
	    put(tree, "flags", texts(m->flags, m->n_flags)) &&
	    put(tree, "check", check_tree(m)) &&
	    put(tree, "source",
		m->source >= 0 ? json_integer(m->source) : json_null()) &&
	    merge_extra(tree, m->extra);

	return finished(tree, good);
}

static json_t *source_tree(const struct sv_source *source)
{
	json_t *tree = json_object();
	bool good = put(tree, "title", text_or_null(source->title)) &&
		    put(tree, "where", text_or_null(source->where)) &&
		    put(tree, "retrieved", text_or_null(source->retrieved)) &&
		    merge_extra(tree, source->extra);

	return finished(tree, good);
}

static json_t *sources_tree(const struct sv_run_info *run)
{
	json_t *list;
	bool good;

	if (run->n_sources == 0)
		return json_null();
	list = json_array();
	good = list != NULL;
	for (size_t i = 0; good && i < run->n_sources; i++)
		good = append(list, source_tree(&run->sources[i]));
	return finished(list, good);
}

static json_t *stave_tree(const struct sv_run_info *run)
{
	json_t *tree = json_object();

	return finished(
	    tree, put(tree, "version", text_or_null(run->version)) &&
		      put(tree, "revision", text_or_null(run->revision)));
}

static json_t *run_tree(const struct sv_run_info *run)
{
	json_t *tree = json_object();
	bool good = put(tree, "id", text_or_null(run->id)) &&
		    put(tree, "label", text_or_null(run->label)) &&
		    put(tree, "profile", text_or_null(run->profile)) &&
		    put(tree, "started", text_or_null(run->started)) &&
		    put(tree, "finished", text_or_null(run->finished)) &&
		    put(tree, "stave", stave_tree(run)) &&
		    put(tree, "complete", json_boolean(run->complete)) &&
		    put(tree, "origin", text_or_null(run->origin)) &&
		    put(tree, "source", sources_tree(run)) &&
		    merge_extra(tree, run->extra);

	return finished(tree, good);
}

/* What skipped and failed cases begin with. */
static bool put_case(
    json_t *tree, const char *bench, json_t *params, const char *reason)
{
	return put(tree, "bench", json_string(bench)) &&
	       put(tree, "params",
		   params != NULL ? json_incref(params) : json_object()) &&
	       put(tree, "reason", json_string(reason));
}

static json_t *skipped_tree(const struct sv_skipped *skipped)
{
	json_t *tree = json_object();
	bool good =
	    put_case(tree, skipped->bench, skipped->params, skipped->reason) &&
	    put(tree, "code", json_string(skipped->code)) &&
	    merge_extra(tree, skipped->extra);

	return finished(tree, good);
}

/* Signals, statuses and most time limits are whole: they look it. */
static json_t *whole_or_real(double value)
{
	if (fabs(value) < 1e9 && value == rint(value) && !signbit(value))
		return json_integer((json_int_t)value);
	return number_or_null(value);
}

static json_t *failure_tree(const struct sv_failure *failure)
{
	json_t *tree = json_object();
	bool good =
	    put_case(tree, failure->bench, failure->params, failure->reason) &&
	    put(tree, failure->kind, whole_or_real(failure->value)) &&
	    put(tree, "log_tail", text_or_null(failure->log_tail)) &&
	    merge_extra(tree, failure->extra);

	return finished(tree, good);
}

static json_t *measurements_tree(const struct sv_result *r, enum sv_keep keep)
{
	json_t *list = json_array();
	bool good = list != NULL;

	for (size_t i = 0; good && i < r->n_measurements; i++)
		good =
		    append(list, measurement_tree(&r->measurements[i], keep));
	return finished(list, good);
}

static json_t *skipped_list(const struct sv_result *r)
{
	json_t *list = json_array();
	bool good = list != NULL;

	for (size_t i = 0; good && i < r->n_skipped; i++)
		good = append(list, skipped_tree(&r->skipped[i]));
	return finished(list, good);
}

static json_t *failures_list(const struct sv_result *r)
{
	json_t *list = json_array();
	bool good = list != NULL;

	for (size_t i = 0; good && i < r->n_failures; i++)
		good = append(list, failure_tree(&r->failures[i]));
	return finished(list, good);
}

json_t *sv_result_to_json(const struct sv_result *r, enum sv_keep keep)
{
	json_t *root = json_object();
	bool good = put(root, "schema", json_string(SV_RESULT_SCHEMA)) &&
		    put(root, "run", run_tree(&r->run)) &&
		    put(root, "machine", json_incref(r->machine)) &&
		    put(root, "device", json_incref(r->device)) &&
		    put(root, "measurements", measurements_tree(r, keep)) &&
		    put(root, "skipped", skipped_list(r)) &&
		    put(root, "failures", failures_list(r)) &&
		    merge_extra(root, r->extra);

	return finished(root, good);
}

/* One key of the root: lists an element a line, the rest indented. */
static bool print_value(FILE *out, const json_t *value)
{
	json_t *one;
	size_t i;

	if (!json_is_array(value) || json_array_size(value) == 0)
		return json_dumpf(
			   value, out, JSON_INDENT(1) | JSON_ENCODE_ANY) == 0;
	if (fputs("[\n", out) < 0)
		return false;
	json_array_foreach (value, i, one)
		if (json_dumpf(one, out, JSON_COMPACT | JSON_ENCODE_ANY) != 0 ||
		    fputs(i + 1 < json_array_size(value) ? ",\n" : "\n]", out) <
			0)
			return false;
	return true;
}

/* A key of the root as JSON text, with what stands before and after it. */
static bool print_key(FILE *out, const char *mark, const char *key)
{
	json_t *name = json_string(key);
	bool good = name != NULL && fputs(mark, out) >= 0 &&
		    json_dumpf(name, out, JSON_ENCODE_ANY) == 0 &&
		    fputs(": ", out) >= 0;

	json_decref(name);
	return good;
}

static bool print_root(FILE *out, json_t *root)
{
	const char *key, *mark = "{\n";
	json_t *value;

	json_object_foreach (root, key, value) {
		if (!print_key(out, mark, key) || !print_value(out, value))
			return false;
		mark = ",\n";
	}
	return fputs("\n}\n", out) >= 0 && fflush(out) == 0;
}

int sv_result_print(
    const struct sv_result *r, FILE *out, enum sv_keep keep, struct sv_err *err)
{
	json_t *root = sv_result_to_json(r, keep);
	int code = 0;

	if (root == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "print result: out of memory");
	errno = 0;
	if (!print_root(out, root)) {
		int cause = errno;

		/* The printing library fails silently for want of memory. */
		code = ferror(out)
			   ? sv_err_set(err, SV_EOUTPUT, "print result: %s",
				 cause != 0 ? strerror(cause) : "output failed")
			   : sv_err_set(err, SV_ERESOURCE,
				 "print result: out of memory");
	}
	json_decref(root);
	return code;
}
