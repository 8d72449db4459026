/* Finding measurements and reading between them; see the header. */
#include "inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

/* Beyond the last point by more than this, a reading is extrapolated. */
#define STRETCH 2.0

/* A rate published as the best of all sizes is that of a cube this large. */
#define BEST_CUBE 8192.0

struct wanted {
	enum sv_curve_name curve;
	const char *bench, *metric;
	/* "key=value" that must be so where the parameter is there. */
	const char *must[3];
	const char *x; /* the variable, or NULL */
};

/* Of several entries of a curve, the first that finds something stands. */
static const struct wanted table[] = {
    {SV_CURVE_H2D_PINNED, "transfer", "bandwidth",
	{"direction=h2d", "memory=pinned"}, "bytes"},
    {SV_CURVE_H2D_PAGEABLE, "transfer", "bandwidth",
	{"direction=h2d", "memory=pageable"}, "bytes"},
    {SV_CURVE_D2H_PINNED, "transfer", "bandwidth",
	{"direction=d2h", "memory=pinned"}, "bytes"},
    {SV_CURVE_D2H_PAGEABLE, "transfer", "bandwidth",
	{"direction=d2h", "memory=pageable"}, "bytes"},
    {SV_CURVE_H2D_NEAR, "transfer", "bandwidth",
	{"direction=h2d", "memory=pinned", "numa=near"}, "bytes"},
    {SV_CURVE_H2D_FAR, "transfer", "bandwidth",
	{"direction=h2d", "memory=pinned", "numa=far"}, "bytes"},
    {SV_CURVE_SUBMIT, "launch", "submit", {NULL}, "args_bytes"},
    {SV_CURVE_ROUNDTRIP, "launch", "roundtrip", {NULL}, "args_bytes"},
    {SV_CURVE_GAP, "launch", "gap", {"args_bytes=64"}, NULL},
    {SV_CURVE_GAP, "launch", "gap", {NULL}, NULL},
    {SV_CURVE_GRAPH, "launch", "graph", {NULL}, "nodes"},
    {SV_CURVE_READBACK, "sync", "readback", {"wait=spin"}, NULL},
    {SV_CURVE_READBACK, "sync", "readback", {NULL}, NULL},
    {SV_CURVE_WAIT, "sync", "wait", {"call=stream", "wait=spin"}, NULL},
    {SV_CURVE_WAIT, "sync", "wait", {NULL}, NULL},
    {SV_CURVE_WAIT_BLOCK, "sync", "wait", {"wait=block"}, NULL},
    {SV_CURVE_RESET, "allocator", "reset", {NULL}, "bytes"},
    {SV_CURVE_TRIAD, "memory", "bandwidth", {"op=triad"}, "bytes"},
    {SV_CURVE_COPY, "memory", "bandwidth", {"op=copy"}, "bytes"},
    {SV_CURVE_READ, "memory", "bandwidth", {"op=read"}, "bytes"},
    {SV_CURVE_FILES_COLD, "storage", "rate", {"layout=files", "cache=cold"},
	"threads"},
    {SV_CURVE_FILES_WARM, "storage", "rate", {"layout=files", "cache=warm"},
	"threads"},
    {SV_CURVE_PACKED_COLD, "storage", "rate", {"layout=packed", "cache=cold"},
	"threads"},
    {SV_CURVE_PACKED_WARM, "storage", "rate", {"layout=packed", "cache=warm"},
	"threads"},
    {SV_CURVE_DECODE, "preprocess", "rate", {"work=decode", "where=cpu"},
	"workers"},
    {SV_CURVE_RESIZE, "preprocess", "rate", {"work=resize", "where=cpu"},
	"workers"},
    {SV_CURVE_STANDARD, "preprocess", "rate", {"work=standard", "where=cpu"},
	"workers"},
    {SV_CURVE_HEAVY, "preprocess", "rate", {"work=heavy", "where=cpu"},
	"workers"},
    {SV_CURVE_PEER_P2P, "peer", "bandwidth", {"path=p2p", "direction=uni"},
	"bytes"},
    {SV_CURVE_PEER_STAGED, "peer", "bandwidth",
	{"path=staged", "direction=uni"}, "bytes"},
    {SV_CURVE_OVERLAP, "overlap", "efficiency", {"direction=h2d"}, NULL},
};

static const struct sv_result_param *param_of(
    const struct sv_measurement *m, const char *name, size_t length)
{
	for (size_t i = 0; i < m->n_params; i++)
		if (strncmp(m->params[i].name, name, length) == 0 &&
		    m->params[i].name[length] == '\0')
			return &m->params[i];
	return NULL;
}

static double number_param(
    const struct sv_measurement *m, const char *name, double fallback)
{
	const struct sv_result_param *p = param_of(m, name, strlen(name));

	return p != NULL && p->text == NULL ? (double)p->number : fallback;
}

/* Words are compared as they stand in an id. */
static bool param_is(const struct sv_measurement *m, const char *pair)
{
	size_t length = strcspn(pair, "=");
	const struct sv_result_param *p = param_of(m, pair, length);
	char number[32];

	if (p == NULL)
		return false;
	snprintf(number, sizeof number, "%lld", (long long)p->number);
	return strcmp(p->text != NULL ? p->text : number, pair + length + 1) ==
	       0;
}

/*
 * Whether a measurement belongs to a curve. What was measured without a
 * parameter counts as the plain case, but a node is never taken for granted.
 */
static bool matches(const struct wanted *w, const struct sv_measurement *m)
{
	bool wants_node = false;

	if (strcmp(w->bench, m->bench) != 0 ||
	    strcmp(w->metric, m->metric) != 0)
		return false;
	for (size_t i = 0; i < 3 && w->must[i] != NULL; i++) {
		size_t length = strcspn(w->must[i], "=");
		bool is_node = strncmp(w->must[i], "numa", 4) == 0;

		wants_node = wants_node || is_node;
		if (!param_is(m, w->must[i]) &&
		    (is_node || param_of(m, w->must[i], length) != NULL))
			return false;
	}
	return wants_node || param_of(m, "numa", 4) == NULL;
}

static bool has_flag(const struct sv_measurement *m, const char *flag)
{
	for (size_t i = 0; i < m->n_flags; i++)
		if (strcmp(m->flags[i], flag) == 0)
			return true;
	return false;
}

static bool is_believable(const struct sv_measurement *m)
{
	return m->check != SV_CHECK_FAIL && !has_flag(m, "above_reference") &&
	       m->summary.median > 0.0;
}

/* Where a variable is not said: what everybody measures at. */
static double usual(const char *variable)
{
	return strcmp(variable, "bytes") == 0	     ? 268435456.0
	       : strcmp(variable, "args_bytes") == 0 ? 64.0
	       : strcmp(variable, "nodes") == 0	     ? 1024.0
						     : 1.0;
}

static double x_of(const struct wanted *w, const struct sv_measurement *m)
{
	return w->x == NULL ? 1.0 : number_param(m, w->x, usual(w->x));
}

static int add_point(
    struct sv_curve *c, const struct sv_point *point, struct sv_err *err)
{
	struct sv_point *larger =
	    realloc(c->points, (c->n + 1) * sizeof *larger);

	if (larger == NULL)
		return sv_err_set(err, SV_ERESOURCE, "explain: out of memory");
	c->points = larger;
	larger[c->n++] = *point;
	return 0;
}

static int by_x(const void *left, const void *right)
{
	const struct sv_point *a = left, *b = right;

	if (a->x != b->x)
		return a->x > b->x ? 1 : -1;
	return (a->value > b->value) - (a->value < b->value);
}

/* In order, and of points alike the middle one: many tell of one card. */
static void settle_curve(struct sv_curve *c)
{
	size_t kept = 0;

	if (c->n > 1)
		qsort(c->points, c->n, sizeof *c->points, by_x);
	for (size_t i = 0, next; i < c->n; i = next) {
		next = i + 1;
		while (next < c->n && c->points[next].x == c->points[i].x)
			next++;
		c->points[kept++] = c->points[i + (next - i - 1) / 2];
	}
	c->n = kept;
}

/* One pass over the measurements for a curve, throttled ones or the others. */
static int collect(struct sv_inputs *in, const struct wanted *w, bool throttled,
    struct sv_err *err)
{
	struct sv_curve *c = &in->curves[w->curve];
	bool is_storage = strcmp(w->bench, "storage") == 0;
	int code = 0;

	for (size_t i = 0; code == 0 && i < in->result->n_measurements; i++) {
		const struct sv_measurement *m = &in->result->measurements[i];

		if (!is_believable(m) || !matches(w, m) ||
		    has_flag(m, "throttled") != throttled)
			continue;
		/* One size of sample a curve: the first. */
		if (is_storage && c->n == 0)
			c->sample_bytes = number_param(m, "sample_bytes", 0.0);
		if (is_storage &&
		    number_param(m, "sample_bytes", 0.0) != c->sample_bytes)
			continue;
		code = add_point(c,
		    &(struct sv_point){x_of(w, m), i, m->summary.median}, err);
	}
	return code;
}

static int collect_gemm(
    struct sv_inputs *in, bool throttled, struct sv_err *err)
{
	for (size_t i = 0; i < in->result->n_measurements; i++) {
		const struct sv_measurement *m = &in->result->measurements[i];
		const struct sv_result_param *p =
		    param_of(m, "precision", strlen("precision"));
		struct sv_gemm_points *g = NULL;
		struct sv_gemm_point *larger;

		if (strcmp(m->bench, "gemm") != 0 || p == NULL ||
		    p->text == NULL || !is_believable(m) ||
		    has_flag(m, "throttled") != throttled)
			continue;
		for (int k = 0; k < SV_N_PRECISIONS; k++)
			if (strcmp(p->text, sv_precision_name(k)) == 0)
				g = &in->gemm[k];
		if (g == NULL)
			continue;
		larger = realloc(g->points, (g->n + 1) * sizeof *larger);
		if (larger == NULL)
			return sv_err_set(
			    err, SV_ERESOURCE, "explain: out of memory");
		g->points = larger;
		larger[g->n++] =
		    (struct sv_gemm_point){number_param(m, "m", BEST_CUBE),
			number_param(m, "n", BEST_CUBE),
			number_param(m, "k", BEST_CUBE),
			number_param(m, "count", 1.0), i, m->summary.median};
	}
	return 0;
}

static int compare_sides(double a, double b)
{
	return (a > b) - (a < b);
}

static int by_shape(
    const struct sv_gemm_point *a, const struct sv_gemm_point *b)
{
	int order = compare_sides(a->m, b->m);

	if (order == 0)
		order = compare_sides(a->n, b->n);
	if (order == 0)
		order = compare_sides(a->k, b->k);
	return order != 0 ? order : compare_sides(a->count, b->count);
}

static int by_shape_and_value(const void *left, const void *right)
{
	const struct sv_gemm_point *a = left, *b = right;
	int order = by_shape(a, b);

	return order != 0 ? order : compare_sides(a->value, b->value);
}

/* As settle_curve, for shapes. */
static void settle_products(struct sv_gemm_points *g)
{
	size_t kept = 0;

	if (g->n > 1)
		qsort(g->points, g->n, sizeof *g->points, by_shape_and_value);
	for (size_t i = 0, next; i < g->n; i = next) {
		next = i + 1;
		while (next < g->n &&
		       by_shape(&g->points[i], &g->points[next]) == 0)
			next++;
		g->points[kept++] = g->points[i + (next - i - 1) / 2];
	}
	g->n = kept;
}

static bool has_gemm(const struct sv_inputs *in)
{
	for (int i = 0; i < SV_N_PRECISIONS; i++)
		if (in->gemm[i].n > 0)
			return true;
	return false;
}

static void read_facts(struct sv_inputs *in)
{
	json_t *device = in->result->device;
	char path[32];

	in->memory_bytes = sv_inputs_number(device, "memory_bytes");
	in->memory_free_bytes = sv_inputs_number(device, "memory_free_bytes");
	in->usable_threads =
	    sv_inputs_number(in->result->machine, "cpu.usable_threads");
	for (int i = 0; i < SV_N_PRECISIONS; i++) {
		snprintf(
		    path, sizeof path, "peak_flops.%s", sv_precision_name(i));
		in->peak_flops[i] = sv_inputs_number(device, path);
	}
}

int sv_inputs_new(
    const struct sv_result *r, struct sv_inputs **out, struct sv_err *err)
{
	struct sv_inputs *in = calloc(1, sizeof *in);
	int code = 0;

	if (in != NULL) {
		in->medians = calloc(r->n_measurements + 1, sizeof(double));
		in->used = calloc(r->n_measurements + 1, sizeof(bool));
	}
	if (in == NULL || in->medians == NULL || in->used == NULL) {
		sv_inputs_free(in);
		return sv_err_set(err, SV_ERESOURCE, "explain: out of memory");
	}
	in->result = r;
	for (size_t i = 0; i < r->n_measurements; i++)
		in->medians[i] = r->measurements[i].summary.median;
	/* What was only ever measured throttled is better than nothing. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0;
		     code == 0 && i < sizeof table / sizeof table[0]; i++)
			if (in->curves[table[i].curve].n == 0)
				code = collect(in, &table[i], pass == 1, err);
	if (code == 0)
		code = collect_gemm(in, false, err);
	if (code == 0 && !has_gemm(in))
		code = collect_gemm(in, true, err);
	for (int i = 0; i < SV_N_CURVES; i++)
		settle_curve(&in->curves[i]);
	for (int i = 0; i < SV_N_PRECISIONS; i++)
		settle_products(&in->gemm[i]);
	read_facts(in);
	if (code != 0)
		sv_inputs_free(in);
	else
		*out = in;
	return code;
}

void sv_inputs_free(struct sv_inputs *in)
{
	if (in == NULL)
		return;
	for (int i = 0; i < SV_N_CURVES; i++)
		free(in->curves[i].points);
	for (int i = 0; i < SV_N_PRECISIONS; i++)
		free(in->gemm[i].points);
	free(in->medians);
	free(in->used);
	free(in);
}

double sv_inputs_number(json_t *object, const char *path)
{
	const json_t *value = sv_result_field(object, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Enough for a median that is drawn again and again. */
#define MAX_ROUNDS 64

static double median_of_few(double *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double x = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
	return n % 2 == 1 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

void sv_inputs_draw(
    const struct sv_inputs *in, uint64_t *random, double *values)
{
	for (size_t i = 0; i < in->result->n_measurements; i++) {
		const struct sv_measurement *m = &in->result->measurements[i];
		double drawn[MAX_ROUNDS];
		size_t n = m->n_rounds < MAX_ROUNDS ? m->n_rounds : MAX_ROUNDS;

		values[i] = m->summary.median;
		if (n < 2 || !in->used[i])
			continue;
		for (size_t k = 0; k < n; k++)
			drawn[k] =
			    m->rounds[sv_stats_random(random) % m->n_rounds];
		values[i] = median_of_few(drawn, n);
	}
}

void sv_evidence_add(const struct sv_inputs *in, struct sv_evidence *e,
    size_t index, enum sv_quality quality)
{
	if (e == NULL)
		return;
	in->used[index] = true;
	if (has_flag(&in->result->measurements[index], "throttled"))
		quality = SV_THROTTLED;
	if (quality > e->quality)
		e->quality = quality;
	for (size_t i = 0; i < e->n; i++)
		if (e->index[i] == index)
			return;
	if (e->n < SV_EVIDENCE_MAX)
		e->index[e->n++] = index;
}

double sv_curve_at(const struct sv_inputs *in, const double *values,
    enum sv_curve_name name, double x, struct sv_evidence *e)
{
	const struct sv_curve *c = &in->curves[name];
	const struct sv_point *p = c->points;
	size_t i = 0;
	double f;

	if (c->n == 0)
		return NAN;
	while (i + 1 < c->n && p[i + 1].x <= x)
		i++;
	if (x <= p[0].x || i + 1 == c->n) {
		bool far = x > STRETCH * p[i].x || x * STRETCH < p[i].x;

		sv_evidence_add(
		    in, e, p[i].index, far ? SV_EXTRAPOLATED : SV_MEASURED);
		return values[p[i].index];
	}
	f = log(x / p[i].x) / log(p[i + 1].x / p[i].x);
	sv_evidence_add(in, e, p[i].index, SV_INTERPOLATED);
	if (f > 0.0)
		sv_evidence_add(in, e, p[i + 1].index, SV_INTERPOLATED);
	return exp((1.0 - f) * log(values[p[i].index]) +
		   f * log(values[p[i + 1].index]));
}

double sv_curve_best(
    const struct sv_inputs *in, enum sv_curve_name name, double *x)
{
	const struct sv_curve *c = &in->curves[name];
	double best = NAN;

	for (size_t i = 0; i < c->n; i++)
		if (!(in->medians[c->points[i].index] <= best)) {
			best = in->medians[c->points[i].index];
			*x = c->points[i].x;
		}
	return best;
}

const char *sv_precision_name(enum sv_precision p)
{
	static const char *const names[] = {"fp32", "tf32", "fp16", "bf16"};

	return names[p];
}
