/* Messages and their parts; see the header. */
#include "emit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "axes.h"
#include "stave/wire.h"

static void write_line(const char *line, size_t n)
{
	while (n > 0) {
		ssize_t done = write(SV_WIRE_FD, line, n);

		if (done < 0 && errno == EINTR)
			continue;
		/* Nobody listens: there is nobody to tell either. */
		if (done < 0)
			_exit(EXIT_FAILURE);
		line += done;
		n -= (size_t)done;
	}
}

void sv_emit(const char *type, json_t *take_message)
{
	json_t *message = take_message != NULL ? take_message : json_object();
	char *text = NULL, *line = NULL;
	int n;

	if (message != NULL &&
	    json_object_set_new(message, "type", json_string(type)) == 0)
		text = json_dumps(message, JSON_COMPACT);
	n = text != NULL ? asprintf(&line, "%s\n", text) : -1;
	if (n < 0) {
		fprintf(stderr, "message %s: out of memory\n", type);
		_exit(EXIT_FAILURE);
	}
	/* One write, so that a line is whole or absent while pipes allow. */
	write_line(line, (size_t)n);
	free(line);
	free(text);
	json_decref(message);
}

json_t *sv_emit_params(const struct sv_case *c)
{
	json_t *params = json_object();

	for (size_t i = 0; i < c->n_params; i++)
		json_object_set_new(params, c->params[i].name,
		    c->params[i].text != NULL
			? json_string(c->params[i].text)
			: json_integer(c->params[i].number));
	return params;
}

json_t *sv_emit_case(const struct sv_case *c)
{
	char id[SV_CASE_ID_BYTES];

	sv_axes_id(c, id);
	return json_pack("{s:s, s:s, s:o}", "id", id, "bench", c->bench->name,
	    "params", sv_emit_params(c));
}

struct collector {
	struct sv_facts facts;
	json_t *device, *unknown;
};

/* Put a value at a dotted path, making the objects on the way. */
static void put(json_t *object, const char *path, json_t *take_value)
{
	const char *dot = strchr(path, '.');
	char head[64];
	json_t *inner;

	if (dot == NULL) {
		json_object_set_new(object, path, take_value);
		return;
	}
	snprintf(head, sizeof head, "%.*s", (int)(dot - path), path);
	inner = json_object_get(object, head);
	if (!json_is_object(inner)) {
		inner = json_object();
		json_object_set_new(object, head, inner);
	}
	put(inner, dot + 1, take_value);
}

static struct collector *collector_of(struct sv_facts *facts)
{
	return (struct collector *)(void *)facts;
}

static void on_unknown(
    struct sv_facts *facts, const char *path, const char *why)
{
	struct collector *c = collector_of(facts);

	put(c->device, path, json_null());
	json_array_append_new(
	    c->unknown, json_pack("{s:s, s:s}", "field", path, "why", why));
}

static void on_text(struct sv_facts *facts, const char *path, const char *value)
{
	json_t *text = json_string(value);

	/* Text that is no UTF-8 cannot be told. */
	if (text == NULL)
		on_unknown(facts, path, "error: not UTF-8");
	else
		put(collector_of(facts)->device, path, text);
}

static void on_number(struct sv_facts *facts, const char *path, double value)
{
	if (!isfinite(value))
		on_unknown(facts, path, "error: not a finite number");
	else
		put(collector_of(facts)->device, path, json_real(value));
}

static void on_integer(struct sv_facts *facts, const char *path, int64_t value)
{
	put(collector_of(facts)->device, path, json_integer(value));
}

static void on_boolean(struct sv_facts *facts, const char *path, bool value)
{
	put(collector_of(facts)->device, path, json_boolean(value));
}

static void on_integers(
    struct sv_facts *facts, const char *path, const int64_t *values, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(values[i]));
	put(collector_of(facts)->device, path, list);
}

static void on_texts(struct sv_facts *facts, const char *path,
    const char *const *values, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(values[i]));
	put(collector_of(facts)->device, path, list);
}

json_t *sv_emit_device(struct sv_device *device)
{
	struct collector c = {
	    .facts = {on_text, on_number, on_integer, on_boolean, on_unknown,
		on_integers, on_texts},
	    .device = json_object(),
	    .unknown = json_array()};

	put(c.device, "backend", json_string(device->ops->name));
	device->ops->describe(device, &c.facts);
	put(c.device, "unknown", c.unknown);
	return c.device;
}

/* A state has only what is known: why something is not, the device told. */
static void leave_out(struct sv_facts *facts, const char *path, const char *why)
{
	(void)facts;
	(void)path;
	(void)why;
}

json_t *sv_emit_state(struct sv_device *device)
{
	struct collector c = {.facts = {on_text, on_number, on_integer,
				  on_boolean, leave_out, on_integers, on_texts},
	    .device = json_object()};

	if (device->ops->state != NULL)
		device->ops->state(device, &c.facts);
	return c.device;
}
