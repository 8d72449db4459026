/*
 * Writing result files: the tree, its layout (one measurement a line, so that
 * files diff and grep well), and a replacement that is there whole or not at
 * all.
 */
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* JSON has no NaN: what is unknown is null. */
static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

static json_t *numbers(const double *values, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n && array != NULL; i++)
		if (json_array_append_new(array, number_or_null(values[i])) !=
		    0) {
			json_decref(array);
			array = NULL;
		}
	return array;
}

/* Put take_value under key; false when it is NULL or there is no memory. */
static bool put(json_t *object, const char *key, json_t *take_value)
{
	return json_object_set_new(object, key, take_value) == 0;
}

static bool merge_extra(json_t *object, json_t *extra)
{
	return extra == NULL ||
	       json_object_update_recursive(object, extra) == 0;
}

static json_t *params_tree(const struct sv_measurement *m)
{
	json_t *params = json_object();

	for (size_t i = 0; i < m->n_params; i++)
		if (!put(params, m->params[i].name,
			m->params[i].text != NULL
			    ? json_string(m->params[i].text)
			    : json_integer(m->params[i].number))) {
			json_decref(params);
			return NULL;
		}
	return params;
}

static json_t *summary_tree(const struct sv_summary *s)
{
	json_t *ci = isfinite(s->ci95.lo) && isfinite(s->ci95.hi)
			 ? json_pack("[f,f]", s->ci95.lo, s->ci95.hi)
			 : json_null();

	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n",
	    (json_int_t)s->n, "median", number_or_null(s->median), "ci95", ci,
	    "mad", number_or_null(s->mad), "min", number_or_null(s->min), "max",
	    number_or_null(s->max), "p05", number_or_null(s->p05), "p95",
	    number_or_null(s->p95));
}

static json_t *samples_tree(const struct sv_measurement *m)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < m->n_samples && samples != NULL; i++)
		if (json_array_append_new(samples,
			numbers(m->samples[i].values, m->samples[i].n)) != 0) {
			json_decref(samples);
			samples = NULL;
		}
	return samples;
}

static json_t *texts(const char *const *list, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n && array != NULL; i++)
		if (json_array_append_new(array, json_string(list[i])) != 0) {
			json_decref(array);
			array = NULL;
		}
	return array;
}

static json_t *check_tree(const struct sv_measurement *m)
{
	static const char *const names[] = {"none", "pass", "fail"};

	return json_pack("{s:s, s:o}", "status", names[m->check], "detail",
	    text_or_null(m->check_detail));
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
	    put(tree, "reference",
		m->has_reference ? json_pack("{s:o, s:o}", "value",
				       number_or_null(m->reference), "what",
				       text_or_null(m->reference_what))
				 : json_null()) &&
	    put(tree, "flags", texts(m->flags, m->n_flags)) &&
	    put(tree, "check", check_tree(m)) &&
	    put(tree, "source",
		m->source >= 0 ? json_integer(m->source) : json_null()) &&
	    merge_extra(tree, m->extra);

	if (good)
		return tree;
	json_decref(tree);
	return NULL;
}

static json_t *source_tree(const struct sv_source *source)
{
	json_t *tree = json_pack("{s:s, s:o, s:o}", "title", source->title,
	    "where", text_or_null(source->where), "retrieved",
	    text_or_null(source->retrieved));

	if (tree != NULL && !merge_extra(tree, source->extra)) {
		json_decref(tree);
		tree = NULL;
	}
	return tree;
}

static json_t *sources_tree(const struct sv_run_info *run)
{
	json_t *list;

	if (run->n_sources == 0)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < run->n_sources; i++)
		if (json_array_append_new(
			list, source_tree(&run->sources[i])) != 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *run_tree(const struct sv_run_info *run)
{
	json_t *tree = json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:b, s:s, s:o}", "id",
	    text_or_null(run->id), "label", text_or_null(run->label), "profile",
	    text_or_null(run->profile), "started", text_or_null(run->started),
	    "finished", text_or_null(run->finished), "stave", "version",
	    text_or_null(run->version), "revision", text_or_null(run->revision),
	    "complete", run->complete, "origin",
	    run->origin != NULL ? run->origin : "measured", "source",
	    sources_tree(run));

	if (tree != NULL && !merge_extra(tree, run->extra)) {
		json_decref(tree);
		tree = NULL;
	}
	return tree;
}

static json_t *params_or_empty(json_t *params)
{
	return params != NULL ? json_incref(params) : json_object();
}

static json_t *skipped_tree(const struct sv_skipped *skipped)
{
	json_t *tree = json_pack("{s:s, s:o, s:s, s:s}", "bench",
	    skipped->bench, "params", params_or_empty(skipped->params),
	    "reason", skipped->reason, "code", skipped->code);

	if (tree != NULL && !merge_extra(tree, skipped->extra)) {
		json_decref(tree);
		tree = NULL;
	}
	return tree;
}

static json_t *failure_tree(const struct sv_failure *failure)
{
	json_t *tree = json_pack("{s:s, s:o, s:s, s:o, s:s}", "bench",
	    failure->bench, "params", params_or_empty(failure->params),
	    "reason", failure->reason, failure->kind,
	    number_or_null(failure->value), "log_tail", failure->log_tail);

	if (tree != NULL && !merge_extra(tree, failure->extra)) {
		json_decref(tree);
		tree = NULL;
	}
	return tree;
}

static bool append(json_t *array, json_t *take_value)
{
	return json_array_append_new(array, take_value) == 0;
}

json_t *sv_result_to_json(const struct sv_result *r, enum sv_keep keep)
{
	json_t *root = json_object(), *measurements = json_array();
	json_t *skipped = json_array(), *failures = json_array();
	bool good = true;

	for (size_t i = 0; good && i < r->n_measurements; i++)
		good = append(
		    measurements, measurement_tree(&r->measurements[i], keep));
	for (size_t i = 0; good && i < r->n_skipped; i++)
		good = append(skipped, skipped_tree(&r->skipped[i]));
	for (size_t i = 0; good && i < r->n_failures; i++)
		good = append(failures, failure_tree(&r->failures[i]));
	good = good && put(root, "schema", json_string(SV_RESULT_SCHEMA)) &&
	       put(root, "run", run_tree(&r->run)) &&
	       put(root, "machine", json_incref(r->machine)) &&
	       put(root, "device", json_incref(r->device));
	/* These three are handed over whether or not the rest was good. */
	good = put(root, "measurements", measurements) && good;
	good = put(root, "skipped", skipped) && good;
	good = put(root, "failures", failures) && good;
	good = good && merge_extra(root, r->extra);
	if (good)
		return root;
	json_decref(root);
	return NULL;
}

/* One key of the root: lists an element a line, the rest indented. */
static int print_value(FILE *out, json_t *value)
{
	json_t *one;
	size_t i;

	if (!json_is_array(value) || json_array_size(value) == 0)
		return json_dumpf(value, out, JSON_INDENT(1) | JSON_ENCODE_ANY);
	fputs("[\n", out);
	json_array_foreach (value, i, one) {
		if (json_dumpf(one, out, JSON_COMPACT | JSON_ENCODE_ANY) != 0)
			return -1;
		fputs(i + 1 < json_array_size(value) ? ",\n" : "\n", out);
	}
	fputs("]", out);
	return 0;
}

int sv_result_print(
    const struct sv_result *r, FILE *out, enum sv_keep keep, struct sv_err *err)
{
	json_t *root = sv_result_to_json(r, keep), *value;
	const char *key, *mark = "{\n";
	int code = 0;

	if (root == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "print result: out of memory");
	errno = 0;
	json_object_foreach (root, key, value) {
		/* Keys of the root are ours or were read as JSON text. */
		json_t *name = json_string(key);

		fputs(mark, out);
		if (name == NULL ||
		    json_dumpf(name, out, JSON_ENCODE_ANY) != 0 ||
		    fputs(": ", out) < 0 || print_value(out, value) != 0)
			code = SV_EOUTPUT;
		json_decref(name);
		mark = ",\n";
	}
	fputs("\n}\n", out);
	json_decref(root);
	if (code != 0 || fflush(out) != 0 || ferror(out))
		return sv_err_set(err, SV_EOUTPUT, "write result: %s",
		    errno != 0 ? strerror(errno) : "output failed");
	return 0;
}

/* Make the rename durable; a file system that cannot is no error. */
static void sync_folder(const char *path)
{
	char *copy = strdup(path);
	int folder;

	if (copy == NULL)
		return;
	folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		(void)fsync(folder);
		close(folder);
	}
	free(copy);
}

static int write_temporary(const struct sv_result *r, const char *temporary,
    const char *path, enum sv_keep keep, struct sv_err *err)
{
	struct sv_err cause;
	FILE *out;
	int fd =
	    open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int code;

	if (fd < 0 || (out = fdopen(fd, "w")) == NULL) {
		code = sv_err_set(
		    err, SV_EOUTPUT, "write %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return code;
	}
	code = sv_result_print(r, out, keep, &cause);
	if (code != 0)
		sv_err_set(err, code, "%s: %s", path, cause.text);
	if (code == 0 && fsync(fd) != 0)
		code = sv_err_set(
		    err, SV_EOUTPUT, "sync %s: %s", path, strerror(errno));
	if (fclose(out) != 0 && code == 0)
		code = sv_err_set(
		    err, SV_EOUTPUT, "close %s: %s", path, strerror(errno));
	return code;
}

int sv_result_write(const struct sv_result *r, const char *path,
    enum sv_keep keep, struct sv_err *err)
{
	struct stat info;
	char *temporary;
	int code;

	/* A rename would put a file in the place of a device or a pipe. */
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		return sv_err_set(err, SV_EOUTPUT,
		    "write %s: it exists and is not a regular file", path);
	if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0)
		return sv_err_set(
		    err, SV_ERESOURCE, "write %s: out of memory", path);
	code = write_temporary(r, temporary, path, keep, err);
	if (code == 0 && rename(temporary, path) != 0)
		code = sv_err_set(
		    err, SV_EOUTPUT, "replace %s: %s", path, strerror(errno));
	if (code == 0)
		sync_folder(path);
	else
		(void)unlink(temporary);
	free(temporary);
	return code;
}
