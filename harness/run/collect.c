/* The state machine of a worker's messages; see the header. */
#include "collect.h"

#include <string.h>

int sv_collector_init(struct sv_collector *c, struct sv_planned **pending,
    size_t n, unsigned round, struct sv_err *err)
{
	*c = (struct sv_collector){
	    .pending = pending, .n_pending = n, .round = round};
	c->finished = json_array();
	return c->finished != NULL
		   ? 0
		   : sv_err_set(err, SV_ERESOURCE, "collect: out of memory");
}

void sv_collector_fini(struct sv_collector *c)
{
	json_decref(c->record);
	json_decref(c->finished);
	sv_lines_free(&c->lines);
}

static json_t *new_record(
    const struct sv_collector *c, const struct sv_planned *planned)
{
	return json_pack("{s:s, s:s, s:O, s:i}", "case", planned->id, "bench",
	    planned->bench, "params", planned->params, "round", (int)c->round);
}

static void finish(struct sv_collector *c, const char *outcome)
{
	json_object_set_new(c->record, "outcome", json_string(outcome));
	json_array_append_new(c->finished, c->record);
	c->record = NULL;
	c->open = false;
	c->at++;
}

static void finish_failed(struct sv_collector *c, const char *reason,
    const char *kind, double value, const char *log_tail)
{
	json_t *tail = json_string(log_tail);

	json_object_del(c->record, "metrics");
	json_object_del(c->record, "spans");
	json_object_set_new(c->record, "reason", json_string(reason));
	json_object_set_new(c->record, "kind", json_string(kind));
	json_object_set_new(c->record, "value", json_real(value));
	json_object_set_new(
	    c->record, "log_tail", tail != NULL ? tail : json_string(""));
	finish(c, "failed");
}

static bool has_metric(json_t *metrics, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach (metrics, i, one) {
		/* Names in a plan, samples messages in a record. */
		const char *text =
		    json_is_string(one)
			? json_string_value(one)
			: json_string_value(json_object_get(one, "metric"));

		if (text != NULL && strcmp(text, name) == 0)
			return true;
	}
	return false;
}

/* The open case has said all that it will. */
static void close_case(struct sv_collector *c)
{
	json_t *wanted = c->pending[c->at]->metrics;
	json_t *got = json_object_get(c->record, "metrics"), *one;
	size_t i;

	json_array_foreach (wanted, i, one) {
		if (has_metric(got, json_string_value(one)))
			continue;
		finish_failed(c, "the worker ended the case without a result",
		    "exit", 0.0, "");
		return;
	}
	finish(c, "measured");
}

static int open_case(
    struct sv_collector *c, json_t *message, struct sv_err *err)
{
	const char *id = json_string_value(json_object_get(message, "id"));

	if (c->open)
		close_case(c);
	if (c->at >= c->n_pending)
		return sv_err_set(err, SV_EPROTOCOL,
		    "case \"%.100s\": more cases than were asked for", id);
	if (strcmp(id, c->pending[c->at]->id) != 0)
		return sv_err_set(err, SV_EPROTOCOL,
		    "case \"%.100s\": expected \"%.100s\"", id,
		    c->pending[c->at]->id);
	c->record = new_record(c, c->pending[c->at]);
	if (c->record == NULL)
		return sv_err_set(err, SV_ERESOURCE, "collect: out of memory");
	json_object_set_new(c->record, "metrics", json_array());
	c->open = true;
	c->case_bytes = 0;
	return 0;
}

static int take_samples(
    struct sv_collector *c, json_t *message, struct sv_err *err)
{
	const char *metric =
	    json_string_value(json_object_get(message, "metric"));
	json_t *metrics = json_object_get(c->record, "metrics");

	if (!has_metric(c->pending[c->at]->metrics, metric))
		return sv_err_set(err, SV_EPROTOCOL,
		    "samples of \"%.40s\", which this case does not give",
		    metric);
	if (has_metric(metrics, metric))
		return sv_err_set(err, SV_EPROTOCOL,
		    "samples of \"%.40s\" came twice", metric);
	json_object_del(message, "type");
	json_array_append(metrics, message);
	return 0;
}

static void take_skip(struct sv_collector *c, json_t *message)
{
	json_object_del(c->record, "metrics");
	json_object_set(
	    c->record, "reason", json_object_get(message, "reason"));
	json_object_set(c->record, "code", json_object_get(message, "code"));
	finish(c, "skipped");
}

static int take(struct sv_collector *c, enum sv_message_type type,
    json_t *message, struct sv_err *err)
{
	if (c->ended)
		return sv_err_set(
		    err, SV_EPROTOCOL, "a message came after bye");
	if (!c->greeted && type != SV_MESSAGE_HELLO)
		return sv_err_set(
		    err, SV_EPROTOCOL, "the first message was not hello");
	switch (type) {
	case SV_MESSAGE_HELLO:
		if (c->greeted)
			return sv_err_set(
			    err, SV_EPROTOCOL, "hello came twice");
		c->greeted = true;
		return 0;
	case SV_MESSAGE_CASE:
		return open_case(c, message, err);
	case SV_MESSAGE_PROGRESS:
		return 0;
	case SV_MESSAGE_BYE:
		if (c->open)
			close_case(c);
		c->ended = true;
		c->lost = json_is_true(json_object_get(message, "lost"));
		return 0;
	default:
		break;
	}
	if (!c->open && type == SV_MESSAGE_ERROR)
		return sv_err_set(err, SV_EDEVICE, "%s",
		    json_string_value(json_object_get(message, "reason")));
	if (!c->open)
		return sv_err_set(
		    err, SV_EPROTOCOL, "a result came outside any case");
	if (type == SV_MESSAGE_SAMPLES)
		return take_samples(c, message, err);
	if (type == SV_MESSAGE_CHECK) {
		json_object_del(message, "type");
		json_object_set(c->record, "check", message);
		return 0;
	}
	if (type == SV_MESSAGE_SPANS) {
		json_object_set(
		    c->record, "spans", json_object_get(message, "spans"));
		return 0;
	}
	if (type == SV_MESSAGE_SKIP)
		take_skip(c, message);
	else
		finish_failed(c,
		    json_string_value(json_object_get(message, "reason")),
		    "exit", 0.0, "");
	return 0;
}

int sv_collector_feed(
    struct sv_collector *c, const char *bytes, size_t n, struct sv_err *err)
{
	const char *line;
	size_t length;
	int code = sv_lines_add(&c->lines, bytes, n, err);

	c->case_bytes += n;
	if (code == 0 && c->case_bytes > SV_COLLECT_MAX_CASE_BYTES)
		return sv_err_set(err, SV_EPROTOCOL,
		    "more than %u MiB of messages for one case",
		    SV_COLLECT_MAX_CASE_BYTES >> 20);
	while (
	    code == 0 && (line = sv_lines_next(&c->lines, &length)) != NULL) {
		enum sv_message_type type;
		json_t *message = NULL;

		code = sv_message_parse(line, length, &type, &message, err);
		if (code == 0)
			code = take(c, type, message, err);
		json_decref(message);
	}
	return code;
}

bool sv_collector_fail(struct sv_collector *c, const char *reason,
    const char *kind, double value, const char *log_tail)
{
	if (!c->open) {
		if (c->at >= c->n_pending)
			return false;
		c->record = new_record(c, c->pending[c->at]);
		if (c->record == NULL)
			return false;
		c->open = true;
	}
	finish_failed(c, reason, kind, value, log_tail);
	return true;
}
