/* Lines and messages; see the header. */
#include "message.h"

#include <stdlib.h>
#include <string.h>

#include "stave/units.h"
#include "stave/wire.h"

int sv_lines_add(
    struct sv_lines *lines, const char *bytes, size_t n, struct sv_err *err)
{
	if (lines->start > 0) {
		memmove(lines->data, lines->data + lines->start,
		    lines->used - lines->start);
		lines->used -= lines->start;
		lines->start = 0;
	}
	if (lines->used + n > lines->room) {
		size_t room = 2 * (lines->used + n);
		char *larger = realloc(lines->data, room);

		if (larger == NULL)
			return sv_err_set(
			    err, SV_ERESOURCE, "wire: out of memory");
		lines->data = larger;
		lines->room = room;
	}
	memcpy(lines->data + lines->used, bytes, n);
	lines->used += n;
	if (lines->used > SV_WIRE_MAX_LINE_BYTES &&
	    memchr(lines->data, '\n', lines->used) == NULL)
		return sv_err_set(err, SV_EPROTOCOL,
		    "a line of more than %u bytes", SV_WIRE_MAX_LINE_BYTES);
	return 0;
}

const char *sv_lines_next(struct sv_lines *lines, size_t *n)
{
	const char *line, *end;

	/* Nothing has come in yet: there is no buffer to look at. */
	if (lines->used == lines->start)
		return NULL;
	line = lines->data + lines->start;
	end = memchr(line, '\n', lines->used - lines->start);
	if (end == NULL)
		return NULL;
	*n = (size_t)(end - line);
	lines->start += *n + 1;
	return line;
}

bool sv_lines_rest(const struct sv_lines *lines)
{
	return lines->used > lines->start;
}

void sv_lines_free(struct sv_lines *lines)
{
	free(lines->data);
	*lines = (struct sv_lines){0};
}

static int expect_text(
    json_t *message, const char *type, const char *key, struct sv_err *err)
{
	if (json_is_string(json_object_get(message, key)))
		return 0;
	return sv_err_set(
	    err, SV_EPROTOCOL, "%s: %s: expected text", type, key);
}

static int check_hello(json_t *message, struct sv_err *err)
{
	json_t *protocol = json_object_get(message, "protocol");

	if (!json_is_integer(protocol) ||
	    json_integer_value(protocol) != SV_WIRE_PROTOCOL)
		return sv_err_set(err, SV_EPROTOCOL,
		    "hello: protocol: expected %d, found %lld; stave and its "
		    "worker are of different versions",
		    SV_WIRE_PROTOCOL, (long long)json_integer_value(protocol));
	return expect_text(message, "hello", "backend", err);
}

static int check_case(json_t *message, const char *type, struct sv_err *err)
{
	int code = expect_text(message, type, "id", err);

	if (code == 0)
		code = expect_text(message, type, "bench", err);
	if (code == 0 && !json_is_object(json_object_get(message, "params")))
		return sv_err_set(
		    err, SV_EPROTOCOL, "%s: params: expected an object", type);
	return code;
}

static int check_values(json_t *values, struct sv_err *err)
{
	size_t n = json_array_size(values), i;
	json_t *value;

	if (n == 0 || n > SV_WIRE_MAX_SAMPLES)
		return sv_err_set(err, SV_EPROTOCOL,
		    "samples: values: expected 1 to %u numbers, found %zu",
		    SV_WIRE_MAX_SAMPLES, n);
	json_array_foreach (values, i, value)
		if (!json_is_number(value))
			return sv_err_set(err, SV_EPROTOCOL,
			    "samples: values[%zu]: expected a number", i);
	return 0;
}

static int check_samples(json_t *message, struct sv_err *err)
{
	const char *unit, *better;
	json_t *inner = json_object_get(message, "inner");
	json_t *flags = json_object_get(message, "flags"), *flag;
	json_t *reference = json_object_get(message, "reference");
	size_t i;
	int code;

	if ((code = expect_text(message, "samples", "metric", err)) != 0 ||
	    (code = expect_text(message, "samples", "unit", err)) != 0 ||
	    (code = expect_text(message, "samples", "better", err)) != 0)
		return code;
	unit = json_string_value(json_object_get(message, "unit"));
	better = json_string_value(json_object_get(message, "better"));
	if (!sv_unit_known(unit))
		return sv_err_set(err, SV_EPROTOCOL,
		    "samples: unit: expected a known one, found \"%.40s\"",
		    unit);
	if (strcmp(better, "higher") != 0 && strcmp(better, "lower") != 0)
		return sv_err_set(err, SV_EPROTOCOL,
		    "samples: better: expected higher or lower");
	if (!json_is_integer(inner) || json_integer_value(inner) < 1)
		return sv_err_set(err, SV_EPROTOCOL,
		    "samples: inner: expected a whole number, 1 or more");
	if (flags != NULL && !json_is_array(flags))
		return sv_err_set(
		    err, SV_EPROTOCOL, "samples: flags: expected an array");
	json_array_foreach (flags, i, flag)
		if (!json_is_string(flag))
			return sv_err_set(err, SV_EPROTOCOL,
			    "samples: flags[%zu]: expected text", i);
	if (reference != NULL && !json_is_null(reference) &&
	    !json_is_number(json_object_get(reference, "value")))
		return sv_err_set(err, SV_EPROTOCOL,
		    "samples: reference: expected null or a value");
	return check_values(json_object_get(message, "values"), err);
}

/* name, track, start, duration */
static int check_spans(json_t *spans, struct sv_err *err)
{
	json_t *span;
	size_t i;

	if (!json_is_array(spans))
		return sv_err_set(
		    err, SV_EPROTOCOL, "spans: spans: expected an array");
	json_array_foreach (spans, i, span)
		if (json_array_size(span) != 4 ||
		    !json_is_string(json_array_get(span, 0)) ||
		    !json_is_string(json_array_get(span, 1)) ||
		    !json_is_number(json_array_get(span, 2)) ||
		    !json_is_number(json_array_get(span, 3)))
			return sv_err_set(err, SV_EPROTOCOL,
			    "spans: spans[%zu]: expected name, track, start "
			    "and duration",
			    i);
	return 0;
}

static int check_check(json_t *message, struct sv_err *err)
{
	const char *status =
	    json_string_value(json_object_get(message, "status"));

	if (status == NULL ||
	    (strcmp(status, "pass") != 0 && strcmp(status, "fail") != 0 &&
		strcmp(status, "none") != 0))
		return sv_err_set(err, SV_EPROTOCOL,
		    "check: status: expected pass, fail or none");
	return expect_text(message, "check", "detail", err);
}

static int check_reason(json_t *message, const char *type, struct sv_err *err)
{
	int code = expect_text(message, type, "reason", err);

	return code != 0 ? code : expect_text(message, type, "code", err);
}

static int check_fields(
    enum sv_message_type type, json_t *message, struct sv_err *err)
{
	int code;

	switch (type) {
	case SV_MESSAGE_HELLO:
		return check_hello(message, err);
	case SV_MESSAGE_CASE:
		return check_case(message, "case", err);
	case SV_MESSAGE_SAMPLES:
		return check_samples(message, err);
	case SV_MESSAGE_CHECK:
		return check_check(message, err);
	case SV_MESSAGE_SPANS:
		return check_spans(json_object_get(message, "spans"), err);
	case SV_MESSAGE_SKIP:
		code = check_case(message, "skip", err);
		return code != 0 ? code : check_reason(message, "skip", err);
	case SV_MESSAGE_ERROR:
		return check_reason(message, "error", err);
	case SV_MESSAGE_PROGRESS:
	case SV_MESSAGE_BYE:
		break;
	}
	return 0;
}

int sv_message_parse(const char *line, size_t n, enum sv_message_type *type,
    json_t **out, struct sv_err *err)
{
	static const char *const names[] = {"hello", "case", "progress",
	    "samples", "check", "spans", "skip", "error", "bye"};
	json_error_t error;
	json_t *message = json_loadb(line, n, JSON_REJECT_DUPLICATES, &error);
	const char *name = json_string_value(json_object_get(message, "type"));
	int code;

	if (!json_is_object(message)) {
		code = sv_err_set(err, SV_EPROTOCOL,
		    "a line that is no JSON object: %.60s",
		    message == NULL ? error.text : "another value");
		json_decref(message);
		return code;
	}
	for (size_t i = 0; name != NULL && i < 9; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*type = (enum sv_message_type)i;
		code = check_fields(*type, message, err);
		if (code != 0)
			json_decref(message);
		else
			*out = message;
		return code;
	}
	code = sv_err_set(err, SV_EPROTOCOL,
	    "a message of unknown type \"%.40s\"", name != NULL ? name : "");
	json_decref(message);
	return code;
}
