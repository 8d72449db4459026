/* Spans by the host's clock and by events; see the header. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "timing.h"

struct traced {
	const char *name, *track; /* track: of the device, or NULL */
	uint64_t from_ns, to_ns;
	struct sv_event *from, *to;
};

struct sv_trace {
	struct sv_rig *rig;
	struct sv_event *zero; /* when the host's clock said zero_ns */
	uint64_t zero_ns;
	struct traced *spans;
	size_t n, most;
};

struct sv_trace *sv_trace_new(
    struct sv_rig *rig, size_t most, struct sv_err *err)
{
	struct sv_trace *trace = calloc(1, sizeof *trace);

	if (trace != NULL) {
		*trace = (struct sv_trace){.rig = rig,
		    .most = most,
		    .spans = calloc(most, sizeof *trace->spans)};
	}
	if (trace == NULL || trace->spans == NULL) {
		free(trace);
		sv_err_set(err, SV_ERESOURCE, "timeline: out of memory");
		return NULL;
	}
	if (rig->ops->event_new(rig->device, &trace->zero, err) != 0 ||
	    rig->ops->device_sync(rig->device, SV_WAIT_SPIN, err) != 0 ||
	    rig->ops->event_record(rig->stream, trace->zero, err) != 0 ||
	    rig->ops->stream_sync(rig->stream, SV_WAIT_SPIN, err) != 0) {
		sv_trace_free(trace);
		return NULL;
	}
	trace->zero_ns = sv_now_ns();
	return trace;
}

void sv_trace_free(struct sv_trace *trace)
{
	struct sv_rig *rig;

	if (trace == NULL)
		return;
	rig = trace->rig;
	for (size_t i = 0; i < trace->n; i++) {
		rig->ops->event_free(rig->device, trace->spans[i].from);
		rig->ops->event_free(rig->device, trace->spans[i].to);
	}
	rig->ops->event_free(rig->device, trace->zero);
	free(trace->spans);
	free(trace);
}

int sv_trace_begin(struct sv_trace *trace, const char *name,
    struct sv_stream *stream, const char *track, size_t *span,
    struct sv_err *err)
{
	const struct sv_backend *ops;
	struct traced *t;
	int code = 0;

	if (trace == NULL || trace->n == trace->most) {
		*span = SIZE_MAX;
		return 0;
	}
	ops = trace->rig->ops;
	*span = trace->n++;
	t = &trace->spans[*span];
	*t = (struct traced){.name = name, .track = track};
	if (stream != NULL)
		code = ops->event_new(trace->rig->device, &t->from, err);
	if (code == 0 && stream != NULL)
		code = ops->event_new(trace->rig->device, &t->to, err);
	if (code == 0 && stream != NULL)
		code = ops->event_record(stream, t->from, err);
	t->from_ns = sv_now_ns();
	return code;
}

int sv_trace_end(struct sv_trace *trace, struct sv_stream *stream, size_t span,
    struct sv_err *err)
{
	struct traced *t;

	if (trace == NULL || span == SIZE_MAX)
		return 0;
	t = &trace->spans[span];
	t->to_ns = sv_now_ns();
	return stream == NULL
		   ? 0
		   : trace->rig->ops->event_record(stream, t->to, err);
}

/* The device's part of a span; false where it has none. */
static bool device_span(const struct sv_trace *trace, const struct traced *t,
    struct sv_span *out, int *code, struct sv_err *err)
{
	const struct sv_backend *ops = trace->rig->ops;
	double from_ns, ns;

	if (t->from == NULL || *code != 0)
		return false;
	*code = ops->event_elapsed_ns(trace->zero, t->from, &from_ns, err);
	if (*code == 0)
		*code = ops->event_elapsed_ns(t->from, t->to, &ns, err);
	if (*code != 0)
		return false;
	*out = (struct sv_span){t->name, t->track, from_ns * 1e-9, ns * 1e-9};
	return true;
}

int sv_trace_report(struct sv_trace *trace, struct sv_bench_context *context,
    struct sv_err *err)
{
	struct sv_span *spans = calloc(2 * trace->n + 1, sizeof *spans);
	size_t n = 0;
	int code;

	if (spans == NULL)
		return sv_err_set(err, SV_ERESOURCE, "timeline: out of memory");
	code =
	    trace->rig->ops->device_sync(trace->rig->device, SV_WAIT_SPIN, err);
	for (size_t i = 0; i < trace->n; i++) {
		const struct traced *t = &trace->spans[i];

		spans[n++] = (struct sv_span){t->name, "host",
		    (double)(int64_t)(t->from_ns - trace->zero_ns) * 1e-9,
		    (double)(t->to_ns - t->from_ns) * 1e-9};
		n += device_span(trace, t, &spans[n], &code, err);
	}
	if (code == 0)
		sv_report_spans(context, spans, n);
	free(spans);
	return code;
}
