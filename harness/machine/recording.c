/* Recordings in and out; see the header. */
#include "recording.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json_fields.h"
#include "save.h"
#include "stave/version.h"

void sv_recording_fini(struct sv_recording *r)
{
	json_decref(r->index);
	free(r->xml);
	free(r->dump);
	*r = (struct sv_recording){0};
}

/* A whole file of the folder; *out stays NULL where there is none. */
static int read_part(const char *folder, const char *name, char **out,
    size_t *n, struct sv_err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	return sv_json_read_bytes(path, "a recording", out, n, err);
}

/* An object whose values are text, or nothing. */
static int check_texts(
    json_t *index, const char *key, const char *folder, struct sv_err *err)
{
	json_t *object = json_object_get(index, key), *value;
	const char *name;

	if (object == NULL || json_is_null(object)) {
		json_object_set_new(index, key, json_object());
		return 0;
	}
	if (!json_is_object(object))
		return sv_err_set(err, SV_EINPUT,
		    "%s/recording.json: %s: expected an object", folder, key);
	json_object_foreach (object, name, value)
		if (!json_is_string(value))
			return sv_err_set(err, SV_EINPUT,
			    "%s/recording.json: %s.%.80s: expected text",
			    folder, key, name);
	return 0;
}

static int check_index(json_t *index, const char *folder, struct sv_err *err)
{
	static const char *const texts[] = {"why", "storage_path"};
	const char *schema =
	    json_string_value(json_object_get(index, "schema"));
	json_t *device = json_object_get(index, "device");
	int code;

	if (schema == NULL || strcmp(schema, SV_RECORDING_SCHEMA) != 0)
		return sv_err_set(err, SV_EINPUT,
		    "%s/recording.json: schema: expected \"%s\"", folder,
		    SV_RECORDING_SCHEMA);
	for (size_t i = 0; i < 2; i++)
		if (!json_is_string(json_object_get(index, texts[i])))
			return sv_err_set(err, SV_EINPUT,
			    "%s/recording.json: %s: expected text", folder,
			    texts[i]);
	if (device != NULL && !json_is_null(device) && !json_is_object(device))
		return sv_err_set(err, SV_EINPUT,
		    "%s/recording.json: device: expected an object or null",
		    folder);
	code = check_texts(index, "texts", folder, err);
	if (code == 0)
		code = check_texts(index, "refused", folder, err);
	return code != 0 ? code : check_texts(index, "links", folder, err);
}

static int read_index(
    const char *folder, struct sv_recording *r, struct sv_err *err)
{
	char path[PATH_MAX];
	char *text = NULL;
	size_t n = 0;
	int code = read_part(folder, "recording.json", &text, &n, err);

	if (code == 0 && text == NULL)
		code = sv_err_set(err, SV_EINPUT,
		    "%s: expected the folder of a recording, with "
		    "recording.json in it",
		    folder);
	snprintf(path, sizeof path, "%s/recording.json", folder);
	if (code == 0)
		code =
		    sv_json_parse(text, n, path, "a recording", &r->index, err);
	free(text);
	if (code == 0)
		code = check_index(r->index, folder, err);
	if (code != 0)
		sv_fields_tidy(err);
	return code;
}

int sv_recording_read(
    const char *folder, struct sv_recording *out, struct sv_err *err)
{
	struct sv_recording r = {0};
	int code = read_index(folder, &r, err);

	if (code == 0)
		code = read_part(folder, "topology.xml", &r.xml, &r.n_xml, err);
	if (code == 0)
		code = read_part(folder, "pci.txt", &r.dump, &r.n_dump, err);
	if (code != 0)
		sv_recording_fini(&r);
	else
		*out = r;
	return code;
}

static int failed(const char *what, const char *path, struct sv_err *err)
{
	return sv_err_set(
	    err, SV_EOUTPUT, "%s %s: %s", what, path, strerror(errno));
}

/* One file of the recording, closed. */
static int spill(
    const char *folder, const char *name, const char *text, struct sv_err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return sv_save(path, text, strlen(text), err);
}

static int write_bus(
    const char *folder, const struct sv_pci_bus *bus, struct sv_err *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out;
	int code;

	if (bus->n == 0)
		return 0;
	out = open_memstream(&text, &n);
	if (out == NULL)
		return sv_err_set(err, SV_ERESOURCE, "machine: out of memory");
	sv_pci_bus_print(bus, out);
	fclose(out);
	code = spill(folder, "pci.txt", text, err);
	free(text);
	return code;
}

/* Who the device is, is nobody's business; what it is, is all of it. */
static json_t *anonymous(json_t *device)
{
	json_t *copy = json_deep_copy(device);

	if (copy != NULL)
		json_object_set_new(copy, "uuid", json_null());
	return copy;
}

static int write_index(const char *folder, const struct sv_sources *s,
    const char *storage_path, json_t *device, struct sv_err *err)
{
	json_t *index = json_pack("{s:s, s:s, s:s, s:s, s:O, s:O, s:O, s:o?}",
	    "schema", SV_RECORDING_SCHEMA, "stave", SV_VERSION, "why",
	    "(say what is odd about this machine)", "storage_path",
	    storage_path, "texts", s->texts, "refused", s->refused, "links",
	    s->links, "device", anonymous(device));
	char *text = json_dumps(index, JSON_INDENT(1));
	int code;

	json_decref(index);
	if (text == NULL)
		return sv_err_set(err, SV_ERESOURCE, "machine: out of memory");
	code = spill(folder, "recording.json", text, err);
	free(text);
	return code;
}

int sv_recording_write(const char *folder, const struct sv_sources *s,
    const struct sv_topology *topology, const struct sv_pci_bus *bus,
    const char *storage_path, json_t *device, struct sv_err *err)
{
	char path[PATH_MAX];
	int code = 0;

	snprintf(path, sizeof path, "%s/recording.json", folder);
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		code = failed("make", folder, err);
	else if (access(path, F_OK) == 0)
		code = sv_err_set(err, SV_EOUTPUT,
		    "write %s: there is a recording already", folder);
	if (code == 0 && topology->xml != NULL)
		code = spill(folder, "topology.xml", topology->xml, err);
	if (code == 0)
		code = write_bus(folder, bus, err);
	/* Last: a folder with an index is whole. */
	if (code == 0)
		code = write_index(folder, s, storage_path, device, err);
	return code;
}
