/* Kinds of figures, and the memory that a figure is in. */
#include "figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "quote.h"
#include "stave/units.h"

#define ROW_COLUMNS 52

/*
 * Bytes a second of one lane after line coding, by PCIe generation: 2.5 and 5
 * GT/s with 8b/10b, 8 to 32 GT/s with 128b/130b, 64 GT/s in flits of 256 with
 * 242 of payload. Source: PCI Express Base Specification, 1.1 to 6.0.
 */
static const double lane_Bps[] = {0.0, 2.5e8, 5e8, 8e9 / 8 * 128 / 130,
    16e9 / 8 * 128 / 130, 32e9 / 8 * 128 / 130, 64e9 / 8 * 242 / 256};

static double number_at(const struct sv_result *r, const char *path)
{
	json_t *value = sv_result_field(r->device, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The link as it was while it was busy: idle links go down. */
static double link_ceiling(
    const struct sv_result *r, const char *panel, char *label, size_t size)
{
	double generation = number_at(r, "pcie.under_load.generation");
	double width = number_at(r, "pcie.under_load.width");
	size_t known = sizeof lane_Bps / sizeof lane_Bps[0];

	/* Both directions at once have a link each. */
	if (!(generation >= 1 && generation < (double)known && width >= 1))
		return NAN;
	snprintf(label, size, "link Gen%.0f x%.0f%s", generation, width,
	    strcmp(panel, "bidir") == 0 ? ", both ways" : "");
	return lane_Bps[(size_t)generation] * width *
	       (strcmp(panel, "bidir") == 0 ? 2.0 : 1.0);
}

static double peak_ceiling(
    const struct sv_result *r, const char *panel, char *label, size_t size)
{
	char path[80], cut[48];

	snprintf(path, sizeof path, "peak_flops.%.40s", panel);
	snprintf(
	    label, size, "peak %s", sv_quote_cut(cut, sizeof cut, panel, 12));
	return number_at(r, path);
}

static double memory_ceiling(
    const struct sv_result *r, const char *panel, char *label, size_t size)
{
	(void)panel;
	snprintf(label, size, "memory, theoretical");
	return number_at(r, "memory_bandwidth_Bps");
}

static const struct sv_curve_spec transfer = {
    .title = "Transfer bandwidth against size",
    .x_title = "bytes a copy",
    .bench = "transfer",
    .metric = "bandwidth",
    .x = "bytes",
    .panel = "direction",
    .dash = "memory",
    .dashes = "pinned pageable",
    .x_bytes = true,
    .x_log = true,
    .shared_y = true,
    .ceiling = link_ceiling,
};
static const struct sv_curve_spec gemm_size = {
    .title = "Matrix multiplication against size (square)",
    .x_title = "m = n = k",
    .bench = "gemm",
    .metric = "throughput",
    .x = "n",
    .panel = "precision",
    .only = "shape",
    .only_value = "square",
    .x_log = true,
    .y_log = true,
    .ceiling = peak_ceiling,
};
static const struct sv_curve_spec gemm_batch = {
    .title = "Matrix multiplication against batch",
    .x_title = "batch",
    .bench = "gemm",
    .metric = "throughput",
    .x = "batch",
    .panel = "precision",
    .dash = "shape",
    .only = "shape",
    .only_value = "!square",
    .x_log = true,
    .y_log = true,
    .ceiling = peak_ceiling,
};
static const struct sv_curve_spec memory = {
    .title = "Device memory bandwidth against size",
    .x_title = "bytes an array",
    .bench = "memory",
    .metric = "bandwidth",
    .x = "bytes",
    .panel = "op",
    .x_bytes = true,
    .x_log = true,
    .shared_y = true,
    .ceiling = memory_ceiling,
    .x_mark = "l2_bytes",
    .x_mark_label = "L2",
};
static const struct sv_curve_spec loader = {
    .title = "Loader against workers",
    .x_title = "workers",
    .bench = "loader",
    .metric = "rate",
    .x = "workers",
    .panel = "batch",
    .dash = "memory",
};
static const struct sv_curve_spec sustain = {
    .title = "Throughput under load that goes on",
    .x_title = "seconds",
    .bench = "sustain",
    .metric = "throughput",
    .x = "seconds",
    .panel = "precision",
    .windows = true,
};
static const struct sv_curve_spec step = {
    .title = "Time of a training step against batch",
    .x_title = "batch",
    .bench = "step",
    .metric = "time",
    .x = "batch",
    .panel = "workload",
    .dash = "precision",
    .only = "habit",
    .only_value = "?baseline",
    .x_log = true,
    .y_log = true,
};
static const struct sv_bar_spec launch = {
    .title = "What starting and waiting cost",
    .panels = {{"launch", "submit", "submit: host time of one launch"},
	{"launch", "roundtrip", "roundtrip: one launch and the wait for it"},
	{"launch", "gap", "gap: device time of one of many empty kernels"},
	{"launch", "graph", "graph: device time of one node"},
	{"launch", "first", "first: loading a module and its first launch"},
	{"sync", "wait", "wait: on an idle queue"},
	{"sync", "readback", "readback: 4 bytes, the .item() pattern"},
	{"sync", "loop", "loop: one iteration of a loop of kernels"}}};
static const struct sv_bar_spec habits = {
    .title = "What habits cost a training step",
    .panels = {{"step", "time", "time of one step"}}};
static const struct sv_bar_spec allocator = {
    .title = "What device memory costs to get and to give back",
    .panels = {{"allocator", "alloc", "alloc: from the driver"},
	{"allocator", "free", "free: back to the driver"},
	{"allocator", "pool_alloc", "pool_alloc: from a warm pool"},
	{"allocator", "reset", "reset: the empty_cache pattern"},
	{"allocator", "loop", "loop: a working set taken and freed"}}};

const struct sv_figure_kind sv_figure_kinds[] = {
    {"transfer", "transfer bandwidth against size, with the link's ceiling",
	sv_figure_make_curves, &transfer},
    {"gemm-size", "matrix multiplication against size, with the peak",
	sv_figure_make_curves, &gemm_size},
    {"gemm-batch", "matrix multiplication against batch, with the peak",
	sv_figure_make_curves, &gemm_batch},
    {"launch", "costs of launches and waits", sv_figure_make_bars, &launch},
    {"allocator", "costs of device memory", sv_figure_make_bars, &allocator},
    {"memory", "memory bandwidth against size, with L2", sv_figure_make_curves,
	&memory},
    {"loader", "loader against workers", sv_figure_make_curves, &loader},
    {"sustain", "throughput over the time of a long load",
	sv_figure_make_curves, &sustain},
    {"step", "time of a training step against batch", sv_figure_make_curves,
	&step},
    {"habits", "time of a training step by habit", sv_figure_make_bars,
	&habits},
    {"rounds", "every round of the measurements that spread most",
	sv_figure_make_rounds, NULL},
    {NULL, NULL, NULL, NULL},
};

const struct sv_figure_kind *sv_figure_find(const char *name)
{
	for (const struct sv_figure_kind *k = sv_figure_kinds; k->name != NULL;
	     k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

/* One more element; arrays grow by doubling at powers of two. */
static void *grown(void *array, size_t n, size_t size)
{
	char *larger = array;

	if ((n & (n - 1)) == 0)
		larger = realloc(array, (n == 0 ? 1 : 2 * n) * size);
	if (larger != NULL)
		memset(larger + n * size, 0, size);
	return larger;
}

struct sv_panel *sv_figure_panel(struct sv_figure *f, const char *title)
{
	struct sv_panel *array = grown(f->panels, f->n_panels, sizeof *array);

	if (array == NULL)
		return NULL;
	f->panels = array;
	sv_quote_cut(array[f->n_panels].title, SV_FIGURE_TEXT, title, 60);
	return &array[f->n_panels++];
}

struct sv_trace *sv_panel_trace(struct sv_panel *p, const char *label)
{
	struct sv_trace *array = grown(p->traces, p->n_traces, sizeof *array);

	if (array == NULL)
		return NULL;
	p->traces = array;
	sv_quote_cut(array[p->n_traces].label, SV_FIGURE_TEXT, label, 40);
	return &array[p->n_traces++];
}

struct sv_mark *sv_panel_mark(struct sv_panel *p, const char *label)
{
	struct sv_mark *array = grown(p->marks, p->n_marks, sizeof *array);

	if (array == NULL)
		return NULL;
	p->marks = array;
	sv_quote_cut(array[p->n_marks].label, SV_FIGURE_TEXT, label, 48);
	return &array[p->n_marks++];
}

char *sv_figure_join(
    char out[static SV_FIGURE_TEXT], const char *a, const char *b)
{
	char left[SV_FIGURE_TEXT / 2 - 1], right[SV_FIGURE_TEXT / 2 - 1];

	snprintf(out, SV_FIGURE_TEXT, "%s%s%s",
	    sv_quote_cut(left, sizeof left, a, 28),
	    a[0] != '\0' && b[0] != '\0' ? " " : "",
	    sv_quote_cut(right, sizeof right, b, 28));
	return out;
}

char *sv_figure_row_text(char out[static SV_FIGURE_TEXT], const char *text)
{
	return sv_quote_cut(out, SV_FIGURE_TEXT, text, ROW_COLUMNS);
}

bool sv_panel_row(struct sv_panel *p, const char *text)
{
	char(*array)[SV_FIGURE_TEXT] = grown(p->rows, p->n_rows, sizeof *array);

	if (array == NULL)
		return false;
	p->rows = array;
	sv_figure_row_text(array[p->n_rows++], text);
	return true;
}

bool sv_trace_point(struct sv_trace *t, struct sv_point point)
{
	struct sv_point *array = grown(t->points, t->n, sizeof *array);

	if (array == NULL)
		return false;
	t->points = array;
	array[t->n++] = point;
	return true;
}

struct sv_point sv_point_of(const struct sv_measurement *m, double x)
{
	return (struct sv_point){
	    x, m->summary.median, m->summary.ci95.lo, m->summary.ci95.hi};
}

const struct sv_result_param *sv_param_of(
    const struct sv_measurement *m, const char *name)
{
	for (size_t i = 0; i < m->n_params; i++)
		if (strcmp(m->params[i].name, name) == 0)
			return &m->params[i];
	return NULL;
}

/*
 * Whether a parameter says something that no other of the same measurement
 * does: the products have m, n, k and count beside a shape and one of batch
 * and n.
 */
static bool is_telling(
    const struct sv_measurement *m, const struct sv_result_param *p)
{
	const struct sv_result_param *shape = sv_param_of(m, "shape");
	bool square = shape != NULL && shape->text != NULL &&
		      strcmp(shape->text, "square") == 0;

	if (shape == NULL)
		return true;
	return strcmp(p->name, "m") != 0 && strcmp(p->name, "k") != 0 &&
	       strcmp(p->name, "count") != 0 &&
	       strcmp(p->name, square ? "batch" : "n") != 0;
}

/* One parameter: "h2d", "4 KiB", "batch=64", "every=never". */
static void param_text(const struct sv_result_param *p, char *out, size_t size)
{
	char name[48], value[80];

	if (p->text != NULL)
		sv_quote_cut(value, sizeof value, p->text, 18);
	else if (strcmp(p->name, "bytes") == 0)
		sv_quantity_size(value, sizeof value, (double)p->number);
	else
		snprintf(value, sizeof value, "%lld", (long long)p->number);
	/* A word says what it is; "never" is one only beside numbers. */
	if (strcmp(p->name, "bytes") == 0 ||
	    (p->text != NULL && strcmp(p->name, "every") != 0))
		snprintf(out, size, "%s", value);
	else
		snprintf(out, size, "%s=%s",
		    sv_quote_cut(name, sizeof name, p->name, 16), value);
}

char *sv_figure_params(
    const struct sv_measurement *m, char out[static SV_FIGURE_TEXT])
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < m->n_params; i++) {
		char text[136];

		if (!is_telling(m, &m->params[i]))
			continue;
		param_text(&m->params[i], text, sizeof text);
		/* Whole ones alone. */
		if (used + strlen(text) + 2 > SV_FIGURE_TEXT)
			break;
		used += (size_t)snprintf(out + used, SV_FIGURE_TEXT - used,
		    "%s%s", used > 0 ? " " : "", text);
	}
	return out;
}

/* Labels that are missing or alike are told apart by a number. */
static bool name_results(
    struct sv_figure *f, const struct sv_result *const *results, size_t n)
{
	f->names = calloc(n, sizeof *f->names);
	if (f->names == NULL)
		return false;
	f->n_names = n;
	for (size_t i = 0; i < n; i++) {
		const char *label = results[i]->run.label;
		bool alike = label == NULL || label[0] == '\0';
		char text[SV_FIGURE_TEXT];

		for (size_t j = 0; !alike && j < n; j++)
			alike = j != i && results[j]->run.label != NULL &&
				strcmp(results[j]->run.label, label) == 0;
		sv_quote_cut(text, sizeof text, label != NULL ? label : "", 30);
		if (alike)
			snprintf(f->names[i], SV_FIGURE_TEXT, "%zu: %.160s",
			    i + 1, text);
		else
			memcpy(f->names[i], text, sizeof text);
	}
	return true;
}

int sv_figure_make(const struct sv_figure_kind *kind,
    const struct sv_result *const *results, size_t n, struct sv_figure **out,
    struct sv_err *err)
{
	struct sv_figure *f = calloc(1, sizeof *f);
	int code;

	*out = NULL;
	if (f == NULL || !name_results(f, results, n)) {
		sv_figure_free(f);
		return sv_err_set(err, SV_ERESOURCE, "plot: out of memory");
	}
	f->kind = kind->name;
	code = kind->make(kind, results, n, f, err);
	if (code != 0 || f->n_panels == 0) {
		sv_figure_free(f);
		return code;
	}
	*out = f;
	return 0;
}

void sv_figure_free(struct sv_figure *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->n_panels; i++) {
		for (size_t j = 0; j < f->panels[i].n_traces; j++)
			free(f->panels[i].traces[j].points);
		free(f->panels[i].traces);
		free(f->panels[i].marks);
		free(f->panels[i].rows);
	}
	free(f->panels);
	free(f->names);
	free(f);
}

static void describe_trace(
    const struct sv_figure *f, const struct sv_trace *t, FILE *out)
{
	char value[SV_QUANTITY_BYTES], at[SV_QUANTITY_BYTES];
	const struct sv_point *last = &t->points[t->n - 1];

	sv_quantity(value, sizeof value, last->y, f->unit);
	if (f->x_bytes)
		sv_quantity_size(at, sizeof at, last->x);
	else
		snprintf(at, sizeof at, "%g", last->x);
	fprintf(out, " %s: %s", t->label, value);
	if (f->family == SV_FIGURE_CURVES)
		fprintf(out, " at %s", at);
	fputc('.', out);
}

static void describe_mark(
    const struct sv_figure *f, const struct sv_mark *m, FILE *out)
{
	char value[SV_QUANTITY_BYTES] = "";

	if (!m->vertical)
		sv_quantity(value, sizeof value, m->at, f->unit);
	else if (f->x_bytes)
		sv_quantity_size(value, sizeof value, m->at);
	fprintf(out, " %s%s%s.", m->label, value[0] != '\0' ? ": " : "", value);
}

void sv_figure_describe(const struct sv_figure *f, FILE *out)
{
	fprintf(out, "%s.", f->title);
	if (f->family == SV_FIGURE_STRIP) {
		fprintf(out, " %zu rows; the tables hold the figures.",
		    f->panels[0].n_rows);
		return;
	}
	for (size_t i = 0; i < f->n_panels; i++) {
		const struct sv_panel *p = &f->panels[i];

		if (p->title[0] != '\0')
			fprintf(out, " %s:", p->title);
		for (size_t j = 0; j < p->n_traces; j++)
			describe_trace(f, &p->traces[j], out);
		for (size_t j = 0; j < p->n_marks; j++)
			describe_mark(f, &p->marks[j], out);
	}
}
