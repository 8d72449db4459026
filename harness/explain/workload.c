/*
 * Reads workload files. One table says where each number stands in the file
 * and in the struct; the reader and --set both follow it, so that a field
 * cannot be readable and not settable.
 */
#include "workload.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"

enum field_kind {
	NUMBER, /* finite, at least `least` */
	TEXT,	/* one of `choices`, or any text when NULL */
	BOOLEAN,
};

struct field {
	const char *path; /* in the file */
	const char *key;  /* for --set */
	enum field_kind kind;
	size_t offset;
	double least;
	const char *choices; /* separated by spaces */
};

#define AT(member) offsetof(struct sv_workload, member)

static const char precisions[] = "fp64 fp32 tf32 fp16 bf16 amp";

static const struct field fields[] = {
    {"defaults.batch", "batch", NUMBER, AT(batch), 1, NULL},
    {"defaults.precision", "precision", TEXT, AT(precision), 0, precisions},
    {"defaults.loader_workers", "loader_workers", NUMBER, AT(loader_workers), 0,
	NULL},
    {"defaults.memory", "memory", TEXT, AT(memory), 0, "pinned pageable"},
    {"defaults.prefetch", "prefetch", BOOLEAN, AT(prefetch), 0, NULL},
    {"defaults.graphs", "graphs", BOOLEAN, AT(graphs), 0, NULL},
    {"defaults.gpus", "gpus", NUMBER, AT(gpus), 1, NULL},
    {"amp_type", "amp_type", TEXT, AT(amp_type), 0, "fp16 bf16"},
    {"gemm_flop_per_sample", "gemm_flop_per_sample", NUMBER,
	AT(gemm_flop_per_sample), 0, NULL},
    {"memory_bytes_per_sample.fp32", "memory_bytes_per_sample.fp32", NUMBER,
	AT(memory_bytes_per_sample_fp32), 0, NULL},
    {"memory_bytes_per_sample.amp", "memory_bytes_per_sample.amp", NUMBER,
	AT(memory_bytes_per_sample_amp), 0, NULL},
    {"memory_bytes_per_step.fp32", "memory_bytes_per_step.fp32", NUMBER,
	AT(memory_bytes_per_step_fp32), 0, NULL},
    {"memory_bytes_per_step.amp", "memory_bytes_per_step.amp", NUMBER,
	AT(memory_bytes_per_step_amp), 0, NULL},
    {"kernels_per_step", "kernels_per_step", NUMBER, AT(kernels_per_step), 0,
	NULL},
    {"dispatch_factor", "dispatch_factor", NUMBER, AT(dispatch_factor), 0,
	NULL},
    {"h2d_bytes_per_sample", "h2d_bytes_per_sample", NUMBER,
	AT(h2d_bytes_per_sample), 0, NULL},
    {"d2h_bytes_per_step", "d2h_bytes_per_step", NUMBER, AT(d2h_bytes_per_step),
	0, NULL},
    {"syncs_per_step", "syncs_per_step", NUMBER, AT(syncs_per_step), 0, NULL},
    {"resets_per_step", "resets_per_step", NUMBER, AT(resets_per_step), 0,
	NULL},
    {"working_set_bytes.fixed", "working_set_bytes.fixed", NUMBER,
	AT(working_set_fixed_bytes), 0, NULL},
    {"working_set_bytes.per_sample", "working_set_bytes.per_sample", NUMBER,
	AT(working_set_bytes_per_sample), 0, NULL},
    {"sample.files", "sample.files", NUMBER, AT(sample_files), 0, NULL},
    {"sample.bytes", "sample.bytes", NUMBER, AT(sample_bytes), 0, NULL},
    {"sample.work", "sample.work", TEXT, AT(sample_work), 0,
	"decode resize standard heavy"},
    {"gradient_bytes", "gradient_bytes", NUMBER, AT(gradient_bytes), 0, NULL},
};

#define N_FIELDS (sizeof fields / sizeof fields[0])

/* The value at a dotted path of at most two names, or NULL. */
static json_t *value_at(json_t *document, const char *path)
{
	const char *dot = strchr(path, '.');

	if (dot == NULL)
		return json_object_get(document, path);
	char head[64];
	size_t length = (size_t)(dot - path);

	memcpy(head, path, length);
	head[length] = '\0';
	json_t *inner = json_object_get(document, head);

	return json_is_object(inner) ? json_object_get(inner, dot + 1) : NULL;
}

static bool is_choice(const char *choices, const char *text)
{
	size_t length = strlen(text);
	const char *at = choices;

	while (length > 0 && (at = strstr(at, text)) != NULL) {
		bool starts = at == choices || at[-1] == ' ';
		bool ends = at[length] == ' ' || at[length] == '\0';

		if (starts && ends)
			return true;
		at += length;
	}
	return false;
}

/* Put a checked value in its place. Errors: code, with `where` named. */
static int store(struct sv_workload *w, const struct field *field,
    const json_t *value, const char *where, int code, struct sv_err *err)
{
	char *place = (char *)w + field->offset;

	if (field->kind == BOOLEAN) {
		if (!json_is_boolean(value))
			return sv_err_set(err, code,
			    "%s: %s: expected true or false", where,
			    field->path);
		bool truth = json_is_true(value);

		memcpy(place, &truth, sizeof truth);
		return 0;
	}
	if (field->kind == TEXT) {
		const char *text = json_string_value(value);

		if (text == NULL || !is_choice(field->choices, text))
			return sv_err_set(err, code,
			    "%s: %s: expected one of: %s", where, field->path,
			    field->choices);
		memcpy(place, &text, sizeof text);
		return 0;
	}
	if (!json_is_number(value) || json_number_value(value) < field->least)
		return sv_err_set(err, code,
		    "%s: %s: expected a number, %g or more", where, field->path,
		    field->least);
	double number = json_number_value(value);

	memcpy(place, &number, sizeof number);
	return 0;
}

static int read_fields(
    struct sv_workload *w, const char *name, struct sv_err *err)
{
	for (size_t i = 0; i < N_FIELDS; i++) {
		json_t *value = value_at(w->document, fields[i].path);

		if (value == NULL || json_is_null(value))
			continue;
		int code = store(w, &fields[i], value, name, SV_EINPUT, err);

		if (code != 0)
			return code;
	}
	return 0;
}

/* One size of a product: text, or a number turned into text. */
static int read_size(json_t *object, const char *key, const char *fallback,
    const char *where, const char **out, struct sv_err *err)
{
	json_t *value = json_object_get(object, key);
	char text[40];
	double checked;
	struct sv_err cause;

	if (value == NULL && fallback != NULL) {
		*out = fallback;
		return 0;
	}
	if (json_is_number(value)) {
		snprintf(text, sizeof text, "%.17g", json_number_value(value));
		if (json_object_set_new(object, key, json_string(text)) != 0)
			return sv_err_set(err, SV_ERESOURCE,
			    "%s.%s: out of memory", where, key);
		value = json_object_get(object, key);
	}
	if (!json_is_string(value))
		return sv_err_set(err, SV_EINPUT,
		    "%s.%s: expected an expression in B", where, key);
	/* Both ends, so that a bad size shows before any batch is tried. */
	if (sv_expression_value(
		json_string_value(value), 1.0, &checked, &cause) != 0 ||
	    sv_expression_value(
		json_string_value(value), 4096.0, &checked, &cause) != 0)
		return sv_err_set(
		    err, SV_EINPUT, "%s.%s: %s", where, key, cause.text);
	*out = json_string_value(value);
	return 0;
}

static int read_product(json_t *object, const char *where,
    struct sv_workload_gemm *out, struct sv_err *err)
{
	int code;

	if (!json_is_object(object))
		return sv_err_set(err, SV_EINPUT,
		    "%s: expected an object with m, n, k", where);
	if ((code = read_size(object, "m", NULL, where, &out->m, err)) != 0 ||
	    (code = read_size(object, "n", NULL, where, &out->n, err)) != 0 ||
	    (code = read_size(object, "k", NULL, where, &out->k, err)) != 0)
		return code;
	return read_size(object, "count", "1", where, &out->count, err);
}

static int read_gemm(
    struct sv_workload *w, const char *name, struct sv_err *err)
{
	json_t *list = json_object_get(w->document, "gemm");
	json_t *shape = json_object_get(w->document, "gemm_shape");
	char where[512];

	if (shape != NULL && !json_is_null(shape)) {
		snprintf(where, sizeof where, "%s: gemm_shape", name);
		int code = read_product(shape, where, &w->gemm_shape, err);

		if (code != 0)
			return code;
	}
	if (list == NULL || json_is_null(list))
		return 0;
	if (!json_is_array(list) ||
	    json_array_size(list) > SV_WORKLOAD_MAX_GEMM)
		return sv_err_set(err, SV_EINPUT,
		    "%s: gemm: expected a list of at most %d products", name,
		    SV_WORKLOAD_MAX_GEMM);
	for (size_t i = 0; i < json_array_size(list); i++) {
		snprintf(where, sizeof where, "%s: gemm[%zu]", name, i);
		int code = read_product(
		    json_array_get(list, i), where, &w->gemm[i], err);

		if (code != 0)
			return code;
		w->n_gemm = i + 1;
	}
	return 0;
}

static void preset(struct sv_workload *w)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (fields[i].kind == NUMBER) {
			double absent = NAN;

			memcpy((char *)w + fields[i].offset, &absent,
			    sizeof absent);
		}
	w->batch = 1.0;
	w->precision = "fp32";
	w->loader_workers = 0.0;
	w->memory = "pinned";
	w->prefetch = true;
	w->graphs = false;
	w->gpus = 1.0;
	w->amp_type = "fp16";
	w->dispatch_factor = 1.0;
	w->sample_files = 1.0;
}

static int read_document(
    struct sv_workload *w, const char *name, struct sv_err *err)
{
	const char *schema =
	    json_string_value(json_object_get(w->document, "schema"));
	int code;

	if (schema == NULL || strcmp(schema, SV_WORKLOAD_SCHEMA) != 0)
		return sv_err_set(err, SV_EINPUT,
		    "%s: schema: expected \"" SV_WORKLOAD_SCHEMA "\"%s%.40s",
		    name, schema != NULL ? ", found " : "",
		    schema != NULL ? schema : "");
	w->name = json_string_value(json_object_get(w->document, "name"));
	w->title = json_string_value(json_object_get(w->document, "title"));
	if (w->name == NULL || w->name[0] == '\0')
		return sv_err_set(
		    err, SV_EINPUT, "%s: name: expected text", name);
	if ((code = read_fields(w, name, err)) != 0)
		return code;
	return read_gemm(w, name, err);
}

int sv_workload_from_json(json_t *document, const char *name,
    struct sv_workload **out, struct sv_err *err)
{
	struct sv_workload *w;
	int code;

	if (!json_is_object(document))
		return sv_err_set(
		    err, SV_EINPUT, "%s: expected a JSON object", name);
	w = calloc(1, sizeof *w);
	if (w == NULL)
		goto no_memory;
	w->document = json_deep_copy(document);
	if (w->document == NULL)
		goto no_memory;
	preset(w);
	code = read_document(w, name, err);
	if (code != 0) {
		sv_workload_free(w);
		return code;
	}
	*out = w;
	return 0;

no_memory:
	sv_workload_free(w);
	return sv_err_set(err, SV_ERESOURCE, "%s: out of memory", name);
}

int sv_workload_read(
    const char *path, struct sv_workload **out, struct sv_err *err)
{
	json_error_t fault;
	json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &fault);
	int code;

	if (document == NULL)
		return sv_err_set(err, SV_EINPUT, "%s: line %d: %s", path,
		    fault.line, fault.text);
	code = sv_workload_from_json(document, path, out, err);
	json_decref(document);
	return code;
}

void sv_workload_free(struct sv_workload *w)
{
	if (w == NULL)
		return;
	json_decref(w->document);
	free(w);
}

int sv_workload_copy(const struct sv_workload *from, struct sv_workload **out,
    struct sv_err *err)
{
	struct sv_workload *copy;
	int code =
	    sv_workload_from_json(from->document, from->name, &copy, err);

	if (code == 0)
		*out = copy;
	return code;
}

static json_t *parse_value(enum field_kind kind, const char *text)
{
	char *end;

	if (kind == TEXT)
		return json_string(text);
	if (kind == BOOLEAN) {
		if (strcmp(text, "true") == 0 || strcmp(text, "on") == 0)
			return json_true();
		if (strcmp(text, "false") == 0 || strcmp(text, "off") == 0)
			return json_false();
		return json_null();
	}
	double number = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(number))
		return json_null();
	return json_real(number);
}

static int unknown_key(const char *assignment, struct sv_err *err)
{
	char known[768];
	size_t used = 0;

	for (size_t i = 0; i < N_FIELDS && used < sizeof known; i++)
		used += (size_t)snprintf(known + used, sizeof known - used,
		    "%s%s", i > 0 ? ", " : "", fields[i].key);
	return sv_err_set(err, SV_EUSAGE,
	    "\"%.60s\": expected KEY=VALUE with a key of: %s", assignment,
	    known);
}

/* Keep the document in step, since a copy is read from it. */
static int set_in_document(
    json_t *document, const char *path, json_t *take_value)
{
	const char *dot = strchr(path, '.');
	char head[64];

	if (dot == NULL)
		return json_object_set_new(document, path, take_value);
	snprintf(head, sizeof head, "%.*s", (int)(dot - path), path);
	json_t *inner = json_object_get(document, head);

	if (!json_is_object(inner)) {
		inner = json_object();
		if (json_object_set_new(document, head, inner) != 0) {
			json_decref(take_value);
			return -1;
		}
	}
	return json_object_set_new(inner, dot + 1, take_value);
}

int sv_workload_set(
    struct sv_workload *w, const char *assignment, struct sv_err *err)
{
	const char *equals = strchr(assignment, '=');
	const struct field *field = NULL;
	int code;

	for (size_t i = 0; equals != NULL && i < N_FIELDS; i++) {
		size_t length = strlen(fields[i].key);

		if ((size_t)(equals - assignment) == length &&
		    memcmp(assignment, fields[i].key, length) == 0)
			field = &fields[i];
	}
	if (field == NULL)
		return unknown_key(assignment, err);
	json_t *value = parse_value(field->kind, equals + 1);

	if (value == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "set %s: out of memory", field->key);
	/* Check first, so that a refused value leaves the old one. */
	code = store(w, field, value, "--set", SV_EUSAGE, err);
	if (code != 0) {
		json_decref(value);
		return code;
	}
	if (set_in_document(w->document, field->path, value) != 0)
		return sv_err_set(
		    err, SV_ERESOURCE, "set %s: out of memory", field->key);
	return 0;
}
