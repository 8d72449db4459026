/* Floors in files: stave.floor/1. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *sv_floor_json(const struct sv_floor *floor)
{
	json_t *entries = json_array();

	for (size_t i = 0; entries != NULL && i < floor->n_entries; i++) {
		const struct sv_floor_entry *e = &floor->entries[i];

		if (json_array_append_new(
			entries, json_pack("{s:s, s:I, s:o, s:o}", "id", e->id,
				     "runs", (json_int_t)e->runs, "between",
				     number_or_null(e->between), "limit",
				     number_or_null(expm1(e->limit)))) != 0) {
			json_decref(entries);
			entries = NULL;
		}
	}
	return json_pack("{s:s, s:{s:s?, s:s?, s:o}, s:I, s:o}", "schema",
	    SV_FLOOR_SCHEMA, "machine", "cpu", floor->machine.cpu, "device",
	    floor->machine.device, "memory_bytes",
	    number_or_null(floor->machine.memory_bytes), "runs",
	    (json_int_t)floor->runs, "floors", entries);
}

/* Refuse the file at a place in it. */
SV_PRINTF(4, 5)
static int refuse(struct sv_err *err, const char *path, const char *where,
    const char *fmt, ...)
{
	char what[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	return sv_err_set(
	    err, SV_EINPUT, "%.300s: %s: expected %s", path, where, what);
}

static int read_entry(struct sv_floor *floor, json_t *entry, size_t i,
    const char *path, struct sv_err *err)
{
	struct sv_floor_entry *to = &floor->entries[floor->n_entries];
	const char *id = json_string_value(json_object_get(entry, "id"));
	json_t *runs = json_object_get(entry, "runs");
	json_t *between = json_object_get(entry, "between");
	json_t *limit = json_object_get(entry, "limit");
	char where[64];

	snprintf(where, sizeof where, "floors[%zu]", i);
	if (id == NULL || !json_is_integer(runs) ||
	    json_integer_value(runs) < 2)
		return refuse(
		    err, path, where, "an id, and runs of two or more");
	if (!json_is_number(between) || json_number_value(between) < 0.0 ||
	    !json_is_number(limit) || json_number_value(limit) < 0.0)
		return refuse(err, path, where,
		    "between and limit, numbers of 0 or more");
	if (floor->n_entries > 0 && strcmp(to[-1].id, id) >= 0)
		return refuse(err, path, where, "ids in order, each once");
	*to = (struct sv_floor_entry){.id = strdup(id),
	    .runs = (size_t)json_integer_value(runs),
	    .between = json_number_value(between),
	    .limit = log1p(json_number_value(limit))};
	if (to->id == NULL)
		return sv_err_set(err, SV_ERESOURCE, "floor: out of memory");
	floor->n_entries++;
	return 0;
}

/* A text or null of the machine. */
static int read_text(json_t *machine, const char *key, char **out,
    const char *path, struct sv_err *err)
{
	json_t *value = json_object_get(machine, key);

	if (!json_is_string(value) && !json_is_null(value))
		return refuse(err, path, key, "a text or null");
	if (json_is_string(value)) {
		*out = strdup(json_string_value(value));
		if (*out == NULL)
			return sv_err_set(
			    err, SV_ERESOURCE, "floor: out of memory");
	}
	return 0;
}

static int read_root(
    struct sv_floor *floor, json_t *root, const char *path, struct sv_err *err)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	json_t *machine = json_object_get(root, "machine");
	json_t *memory = json_object_get(machine, "memory_bytes");
	json_t *entries = json_object_get(root, "floors"), *entry;
	json_t *runs = json_object_get(root, "runs");
	size_t i;
	int code;

	if (schema == NULL || strcmp(schema, SV_FLOOR_SCHEMA) != 0)
		return refuse(err, path, "schema", "\"" SV_FLOOR_SCHEMA "\"");
	if (!json_is_object(machine) || !json_is_array(entries) ||
	    !json_is_integer(runs))
		return refuse(err, path, "$",
		    "machine, an object; runs, a whole number; floors, a list");
	if ((code = read_text(
		 machine, "cpu", &floor->machine.cpu, path, err)) != 0 ||
	    (code = read_text(
		 machine, "device", &floor->machine.device, path, err)) != 0)
		return code;
	floor->machine.memory_bytes =
	    json_is_number(memory) ? json_number_value(memory) : NAN;
	floor->runs = (size_t)json_integer_value(runs);
	floor->entries =
	    calloc(json_array_size(entries) + 1, sizeof *floor->entries);
	if (floor->entries == NULL)
		return sv_err_set(err, SV_ERESOURCE, "floor: out of memory");
	json_array_foreach (entries, i, entry)
		if ((code = read_entry(floor, entry, i, path, err)) != 0)
			return code;
	return 0;
}

int sv_floor_read(const char *path, struct sv_floor **out, struct sv_err *err)
{
	json_error_t error;
	struct sv_floor *floor = calloc(1, sizeof *floor);
	FILE *in = fopen(path, "re");
	json_t *root = NULL;
	int code = 0;

	if (floor == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "floor: out of memory");
		goto close_file;
	}
	if (in == NULL) {
		code = sv_err_set(
		    err, SV_EINPUT, "open %.300s: %s", path, strerror(errno));
		goto close_file;
	}
	root = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL)
		code = sv_err_set(err, SV_EINPUT,
		    "%.300s: line %d, column %d: expected JSON, found: %.200s",
		    path, error.line, error.column, error.text);
	else
		code = read_root(floor, root, path, err);

close_file:
	json_decref(root);
	if (in != NULL)
		fclose(in);
	if (code == 0)
		*out = floor;
	else
		sv_floor_free(floor);
	return code;
}
