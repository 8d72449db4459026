/* Chrome's trace format from spans; see the header. */
#include "timeline.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "save.h"

static const char *const tracks[] = {"host", "device", "copy"};

#define N_TRACKS (sizeof tracks / sizeof tracks[0])

static size_t track_of(json_t *span)
{
	const char *name = json_string_value(json_array_get(span, 1));
	size_t i = 0;

	while (
	    i < N_TRACKS - 1 && (name == NULL || strcmp(tracks[i], name) != 0))
		i++;
	return i;
}

/* What a process or a thread is called. */
static json_t *name_event(
    const char *what, size_t pid, size_t tid, const char *name)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:{s:s}}", "name", what, "ph",
	    "M", "pid", (json_int_t)pid, "tid", (json_int_t)tid, "args", "name",
	    name);
}

/* Time is in µs there. */
static json_t *span_event(json_t *span, size_t pid, double zero_s)
{
	size_t track = track_of(span);

	return json_pack("{s:O, s:s, s:s, s:f, s:f, s:I, s:I}", "name",
	    json_array_get(span, 0), "cat", tracks[track], "ph", "X", "ts",
	    (json_number_value(json_array_get(span, 2)) - zero_s) * 1e6, "dur",
	    json_number_value(json_array_get(span, 3)) * 1e6, "pid",
	    (json_int_t)pid, "tid", (json_int_t)track + 1);
}

/* The first start: a timeline begins at 0. */
static double first_start(json_t *spans)
{
	double first = 0.0;
	json_t *span;
	size_t i;

	json_array_foreach (spans, i, span) {
		double start = json_number_value(json_array_get(span, 2));

		first = i == 0 || start < first ? start : first;
	}
	return first;
}

static void add_record(json_t *events, json_t *record, size_t pid)
{
	json_t *spans = json_object_get(record, "spans"), *span;
	double zero_s = first_start(spans);
	size_t i;

	json_array_append_new(
	    events, name_event("process_name", pid, 0,
			json_string_value(json_object_get(record, "case"))));
	for (size_t t = 0; t < N_TRACKS; t++)
		json_array_append_new(
		    events, name_event("thread_name", pid, t + 1, tracks[t]));
	json_array_foreach (spans, i, span)
		json_array_append_new(events, span_event(span, pid, zero_s));
}

json_t *sv_timeline_make(json_t *records)
{
	json_t *events = json_array(), *record;
	size_t i, pid = 0;

	json_array_foreach (records, i, record)
		if (json_object_get(record, "spans") != NULL)
			add_record(events, record, ++pid);
	return json_pack(
	    "{s:o, s:s}", "traceEvents", events, "displayTimeUnit", "ns");
}

int sv_timeline_check(const char *path, struct sv_err *err)
{
	char *copy = strdup(path);
	int code = 0;

	if (copy == NULL)
		return sv_err_set(err, SV_ERESOURCE, "timeline: out of memory");
	if (access(path, W_OK) != 0 &&
	    (errno != ENOENT || access(dirname(copy), W_OK) != 0))
		code = sv_err_set(err, SV_EOUTPUT, "write timeline %s: %s",
		    path, strerror(errno));
	free(copy);
	return code;
}

int sv_timeline_write(json_t *records, const char *path, struct sv_err *err)
{
	json_t *timeline = sv_timeline_make(records);
	char *text =
	    timeline == NULL
		? NULL
		: json_dumps(timeline, JSON_COMPACT | JSON_REAL_PRECISION(12));
	int code = text == NULL ? sv_err_set(err, SV_ERESOURCE,
				      "timeline: out of memory")
				: sv_save(path, text, strlen(text), err);

	free(text);
	json_decref(timeline);
	return code;
}
