/* Floors in files: stave.floor/1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"
#include "json_fields.h"

json_t *sv_floor_json(const struct sv_floor *floor)
{
	json_t *entries = json_array();
	double memory = floor->machine.memory_bytes;

	for (size_t i = 0; entries != NULL && i < floor->n_entries; i++) {
		const struct sv_floor_entry *e = &floor->entries[i];

		if (json_array_append_new(entries,
			json_pack("{s:s, s:I, s:f, s:f}", "id", e->id, "runs",
			    (json_int_t)e->runs, "between", e->between, "limit",
			    expm1(e->limit))) != 0) {
			json_decref(entries);
			entries = NULL;
		}
	}
	return json_pack("{s:s, s:{s:s?, s:s?, s:o}, s:I, s:o}", "schema",
	    SV_FLOOR_SCHEMA, "machine", "cpu", floor->machine.cpu, "device",
	    floor->machine.device, "memory_bytes",
	    isnan(memory) ? json_null() : json_real(memory), "runs",
	    (json_int_t)floor->runs, "floors", entries);
}

static void read_entry(
    struct sv_fields *f, struct sv_floor *floor, json_t *object, size_t i)
{
	struct sv_floor_entry *to = &floor->entries[floor->n_entries];
	char where[64];

	snprintf(where, sizeof where, "floors[%zu]", i);
	if (!json_is_object(object)) {
		sv_fields_fault(f, where, "", "expected an object, found %s",
		    sv_fields_kind(object));
		return;
	}
	to->id = sv_fields_text(f, object, where, "id", true);
	to->runs = (size_t)sv_fields_count(f, object, where, "runs", 0);
	to->between = sv_fields_number(f, object, where, "between");
	to->limit = log1p(sv_fields_number(f, object, where, "limit"));
	if (to->runs < 2)
		sv_fields_fault(f, where, "runs",
		    "expected two or more, found %zu", to->runs);
	if (!(to->between >= 0.0))
		sv_fields_fault(
		    f, where, "between", "expected a number of 0 or more");
	if (!(to->limit >= 0.0))
		sv_fields_fault(
		    f, where, "limit", "expected a number of 0 or more");
	if (f->code == 0 && i > 0 && strcmp(to[-1].id, to->id) >= 0)
		sv_fields_fault(f, where, "id",
		    "expected ids in ascending order, each once");
	floor->n_entries += f->code == 0;
}

static void read_root(struct sv_fields *f, struct sv_floor *floor, json_t *root)
{
	const char *schema;
	json_t *machine, *entries;
	size_t n;

	if (!json_is_object(root)) {
		sv_fields_fault(f, "", "", "expected an object, found %s",
		    sv_fields_kind(root));
		return;
	}
	schema = sv_fields_text(f, root, "", "schema", true);
	if (strcmp(schema, SV_FLOOR_SCHEMA) != 0)
		sv_fields_fault(f, "", "schema",
		    "expected \"" SV_FLOOR_SCHEMA "\", found \"%.40s\"",
		    schema);
	machine = sv_fields_object(f, root, "", "machine", true);
	entries = sv_fields_array(f, root, "", "floors", true);
	floor->machine.cpu =
	    sv_fields_text(f, machine, "machine", "cpu", false);
	floor->machine.device =
	    sv_fields_text(f, machine, "machine", "device", false);
	floor->machine.memory_bytes =
	    sv_fields_number(f, machine, "machine", "memory_bytes");
	floor->runs = (size_t)sv_fields_count(f, root, "", "runs", 0);
	n = json_array_size(entries);
	floor->entries =
	    sv_result_bytes(floor->store, (n + 1) * sizeof *floor->entries);
	if (floor->entries == NULL) {
		sv_fields_no_memory(f);
		return;
	}
	for (size_t i = 0; i < n && f->code == 0; i++)
		read_entry(f, floor, json_array_get(entries, i), i);
}

int sv_floor_read(const char *path, struct sv_floor **out, struct sv_err *err)
{
	struct sv_floor *floor = sv_floor_new();
	char *bytes = NULL;
	size_t size = 0;
	json_t *root = NULL;
	int code;

	if (floor == NULL)
		return sv_err_set(err, SV_ERESOURCE, "floor: out of memory");
	code = sv_json_read_bytes(path, "a floor", &bytes, &size, err);
	if (code == 0)
		code = sv_json_parse(bytes, size, path, "a floor", &root, err);
	if (code == 0) {
		struct sv_fields f = {path, floor->store, err, 0};

		read_root(&f, floor, root);
		code = f.code;
		if (code != 0)
			sv_fields_tidy(err);
	}
	json_decref(root);
	free(bytes);
	if (code == 0)
		*out = floor;
	else
		sv_floor_free(floor);
	return code;
}
