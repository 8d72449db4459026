/* Reading workload files; see the header. Knows nothing of machines. */
#include "workload_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"
#include "json_fields.h"
#include "result.h"

/* More products than any step that is described by hand or by a profiler. */
#define MAX_GEMM 4096

#define AT(field) offsetof(struct sv_numbers, field)

const struct sv_number_key sv_number_keys[] = {
    {NULL, "gemm_flop_per_sample", AT(gemm_flop_per_sample)},
    {NULL, "kernels_per_step", AT(kernels)},
    {NULL, "dispatch_factor", AT(dispatch_factor)},
    {NULL, "h2d_bytes_per_sample", AT(h2d_per_sample)},
    {NULL, "d2h_bytes_per_step", AT(d2h_per_step)},
    {NULL, "syncs_per_step", AT(syncs)},
    {NULL, "resets_per_step", AT(resets)},
    {NULL, "gradient_bytes", AT(gradient_bytes)},
    {"memory_bytes_per_sample", "fp32", AT(memory_per_sample.fp32)},
    {"memory_bytes_per_sample", "amp", AT(memory_per_sample.amp)},
    {"memory_bytes_per_step", "fp32", AT(memory_per_step.fp32)},
    {"memory_bytes_per_step", "amp", AT(memory_per_step.amp)},
    {"working_set_bytes", "fixed", AT(working_fixed)},
    {"working_set_bytes", "per_sample", AT(working_per_sample)},
    {"sample", "files", AT(sample_files)},
    {"sample", "bytes", AT(sample_bytes)},
};

const size_t sv_number_keys_count =
    sizeof sv_number_keys / sizeof sv_number_keys[0];

const char *const sv_workload_precisions[] = {
    "fp32", "tf32", "fp16", "bf16", "amp", NULL};
const char *const sv_workload_works[] = {
    "decode", "resize", "standard", "heavy", NULL};
const char *const sv_workload_memories[] = {"pinned", "pageable", NULL};
const char *const sv_workload_half_types[] = {"fp16", "bf16", NULL};

double *sv_number_slot(struct sv_numbers *n, const struct sv_number_key *key)
{
	return (double *)(void *)((char *)n + key->offset);
}

int sv_word_index(const char *const *words, const char *word)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

const char *sv_word_choices(const char *const *words, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; words[i] != NULL && used < size; i++) {
		const char *join = i == 0		  ? ""
				   : words[i + 1] == NULL ? " or "
							  : ", ";

		used += (size_t)snprintf(
		    out + used, size - used, "%s%s", join, words[i]);
	}
	return out;
}

/* One of words under key; -1 where it is missing or wrong. */
static int read_word(struct sv_fields *f, const json_t *object,
    const char *where, const char *key, const char *const *words)
{
	const char *text = sv_fields_text(f, object, where, key, false);
	int i = text == NULL ? -1 : sv_word_index(words, text);
	char list[80];

	if (text != NULL && i < 0)
		sv_fields_fault(f, where, key, "expected %s, found \"%.40s\"",
		    sv_word_choices(words, list, sizeof list), text);
	return i;
}

static void read_defaults(
    struct sv_fields *f, const json_t *root, struct sv_workload *w)
{
	const json_t *object = sv_fields_object(f, root, "", "defaults", false);
	struct sv_workload_defaults *d = &w->defaults;
	const json_t *prefetch = sv_fields_present(object, "prefetch");
	int precision = read_word(
	    f, object, "defaults", "precision", sv_workload_precisions);

	if (precision >= 0)
		d->precision = sv_workload_precisions[precision];
	if (read_word(f, object, "defaults", "memory", sv_workload_memories) ==
	    1)
		d->memory = SV_MEMORY_PAGEABLE;
	d->batch =
	    (long)sv_fields_count(f, object, "defaults", "batch", d->batch);
	d->gpus = (long)sv_fields_count(f, object, "defaults", "gpus", d->gpus);
	d->loader_workers = (long)sv_fields_count(
	    f, object, "defaults", "loader_workers", d->loader_workers);
	if (d->batch < 1 || d->batch > SV_WORKLOAD_MAX_BATCH)
		sv_fields_fault(f, "defaults", "batch",
		    "expected a batch from 1 to %ld", SV_WORKLOAD_MAX_BATCH);
	if (d->gpus < 1 || d->gpus > 4096)
		sv_fields_fault(
		    f, "defaults", "gpus", "expected a number from 1 to 4096");
	if (prefetch != NULL && !json_is_boolean(prefetch))
		sv_fields_fault(f, "defaults", "prefetch",
		    "expected true or false, found %s",
		    sv_fields_kind(prefetch));
	else if (prefetch != NULL)
		d->prefetch = json_is_true(prefetch);
}

/* An expression as text, or a number; NULL after a fault. */
static struct sv_expression *read_expression(struct sv_fields *f,
    const json_t *object, const char *where, const char *key)
{
	const json_t *value = sv_fields_present(object, key);
	struct sv_expression *e = NULL;
	struct sv_err why = {0};
	char number[40];
	const char *text = NULL;
	int code;

	if (f->code != 0)
		return NULL;
	if (json_is_number(value)) {
		snprintf(
		    number, sizeof number, "%.17g", json_number_value(value));
		text = number;
	} else if (json_is_string(value)) {
		text = json_string_value(value);
	}
	if (text == NULL) {
		sv_fields_fault(f, where, key,
		    "expected an expression in B or a number, found %s",
		    sv_fields_kind(value));
		return NULL;
	}
	code = sv_expression_new(text, &e, &why);
	if (code == SV_ERESOURCE)
		sv_fields_no_memory(f);
	else if (code != 0)
		sv_fields_fault(f, where, key, "%s", why.text);
	return e;
}

static void read_product(struct sv_fields *f, const json_t *object,
    const char *where, bool has_count, struct sv_gemm_terms *g)
{
	g->m = read_expression(f, object, where, "m");
	g->n = read_expression(f, object, where, "n");
	g->k = read_expression(f, object, where, "k");
	if (has_count)
		g->count = read_expression(f, object, where, "count");
}

static void read_gemm(
    struct sv_fields *f, const json_t *root, struct sv_workload *w)
{
	const json_t *list = sv_fields_array(f, root, "", "gemm", false);
	const json_t *shape;
	size_t n = json_array_size(list);

	w->typical = !isnan(w->numbers.gemm_flop_per_sample);
	if (list != NULL && w->typical)
		sv_fields_fault(f, "", "gemm",
		    "expected no gemm_flop_per_sample beside it");
	if (n > MAX_GEMM)
		sv_fields_fault(f, "", "gemm",
		    "expected at most %d products, found %zu", MAX_GEMM, n);
	if (f->code != 0)
		return;
	w->gemm = calloc(n + 1, sizeof *w->gemm);
	if (w->gemm == NULL) {
		sv_fields_no_memory(f);
		return;
	}
	for (size_t i = 0; i < n && f->code == 0; i++) {
		const json_t *object = json_array_get(list, i);
		char where[32];

		snprintf(where, sizeof where, "gemm[%zu]", i);
		if (!json_is_object(object))
			sv_fields_fault(f, where, "",
			    "expected an object, found %s",
			    sv_fields_kind(object));
		w->n_gemm = i + 1;
		read_product(f, object, where, true, &w->gemm[i]);
	}
	if (!w->typical || f->code != 0)
		return;
	shape = sv_fields_object(f, root, "", "gemm_shape", true);
	w->n_gemm = 1;
	read_product(f, shape, "gemm_shape", false, &w->gemm[0]);
}

static void read_numbers(
    struct sv_fields *f, const json_t *root, struct sv_workload *w)
{
	for (size_t i = 0; i < sv_number_keys_count; i++) {
		const struct sv_number_key *key = &sv_number_keys[i];
		const json_t *object =
		    key->object == NULL
			? root
			: sv_fields_object(f, root, "", key->object, false);
		const char *where = key->object == NULL ? "" : key->object;
		double *value = sv_number_slot(&w->numbers, key);

		*value = sv_fields_number(f, object, where, key->key);
		if (*value < 0.0)
			sv_fields_fault(f, where, key->key,
			    "expected 0 or more, found %g", *value);
	}
}

/* A count that names one precision alone holds for both. */
static void fill_precisions(struct sv_by_precision *p)
{
	if (isnan(p->amp))
		p->amp = p->fp32;
	if (isnan(p->fp32))
		p->fp32 = p->amp;
}

void sv_workload_settle(struct sv_workload *w)
{
	const struct sv_numbers *n = &w->numbers;
	const struct {
		const char *name;
		bool missing;
	} terms[] = {
	    {"gemm", w->n_gemm == 0},
	    {"memory_bytes_per_sample", isnan(n->memory_per_sample.amp)},
	    {"memory_bytes_per_step", isnan(n->memory_per_step.amp)},
	    {"kernels_per_step", isnan(n->kernels)},
	    {"h2d_bytes_per_sample", isnan(n->h2d_per_sample)},
	    {"d2h_bytes_per_step", isnan(n->d2h_per_step)},
	    {"syncs_per_step", isnan(n->syncs)},
	    {"resets_per_step", isnan(n->resets)},
	    {"working_set_bytes",
		isnan(n->working_fixed) && isnan(n->working_per_sample)},
	    {"sample", isnan(n->sample_bytes) && w->work == NULL},
	    {"gradient_bytes", isnan(n->gradient_bytes)},
	};
	size_t used = 0;

	for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
		if (terms[i].missing)
			w->not_modelled[used++] = terms[i].name;
	w->not_modelled[used] = NULL;
}

static void read_root(
    struct sv_fields *f, const json_t *root, struct sv_workload *w)
{
	const char *schema;
	int work;

	if (!json_is_object(root)) {
		sv_fields_fault(f, "", "", "expected an object, found %s",
		    sv_fields_kind(root));
		return;
	}
	schema = sv_fields_text(f, root, "", "schema", true);
	if (f->code == 0 && strcmp(schema, SV_WORKLOAD_SCHEMA) != 0)
		sv_fields_fault(f, "", "schema",
		    "expected \"" SV_WORKLOAD_SCHEMA "\", found \"%.60s\"",
		    schema);
	w->name = sv_fields_text(f, root, "", "name", true);
	w->title = sv_fields_text(f, root, "", "title", false);
	if (f->code == 0 && w->name[0] == '\0')
		sv_fields_fault(f, "", "name", "expected a name, found none");
	read_defaults(f, root, w);
	read_numbers(f, root, w);
	read_gemm(f, root, w);
	work = read_word(f, sv_fields_object(f, root, "", "sample", false),
	    "sample", "work", sv_workload_works);
	w->work = work >= 0 ? sv_workload_works[work] : NULL;
	w->bf16 =
	    read_word(f, root, "", "amp_dtype", sv_workload_half_types) == 1;
	fill_precisions(&w->numbers.memory_per_sample);
	fill_precisions(&w->numbers.memory_per_step);
	sv_workload_settle(w);
}

int sv_workload_parse(const char *text, size_t n_bytes, const char *name,
    struct sv_workload **out, struct sv_err *err)
{
	struct sv_workload *w = calloc(1, sizeof *w);
	struct sv_fields f = {.name = name, .err = err};
	json_t *root = NULL;
	int code;

	if (w != NULL)
		f.r = w->store = sv_result_new();
	if (f.r == NULL) {
		free(w);
		return sv_err_set(
		    err, SV_ERESOURCE, "read %s: out of memory", name);
	}
	w->defaults = (struct sv_workload_defaults){.batch = 1,
	    .precision = "amp",
	    .loader_workers = 8,
	    .memory = SV_MEMORY_PINNED,
	    .prefetch = true,
	    .gpus = 1};
	code = sv_json_parse(text, n_bytes, name, "a workload", &root, err);
	if (code == 0) {
		read_root(&f, root, w);
		code = f.code;
	}
	json_decref(root);
	if (code != 0) {
		sv_fields_tidy(err);
		sv_workload_free(w);
		return code;
	}
	*out = w;
	return 0;
}

int sv_workload_copy(const struct sv_workload *from, struct sv_workload **out,
    struct sv_err *err)
{
	struct sv_workload *w = calloc(1, sizeof *w);
	bool complete = w != NULL;

	if (complete) {
		*w = *from;
		w->store = sv_result_new();
		w->gemm = calloc(from->n_gemm + 1, sizeof *w->gemm);
		complete = w->store != NULL && w->gemm != NULL;
		w->n_gemm = w->gemm != NULL ? from->n_gemm : 0;
	}
	for (size_t i = 0; complete && i < from->n_gemm; i++) {
		const struct sv_gemm_terms *g = &from->gemm[i];

		w->gemm[i] = (struct sv_gemm_terms){sv_expression_copy(g->m),
		    sv_expression_copy(g->n), sv_expression_copy(g->k),
		    sv_expression_copy(g->count)};
		complete = w->gemm[i].m != NULL && w->gemm[i].n != NULL &&
			   w->gemm[i].k != NULL &&
			   (w->gemm[i].count != NULL) == (g->count != NULL);
	}
	if (complete) {
		w->name = sv_result_text(w->store, from->name);
		w->title = sv_result_text(w->store, from->title);
		complete = w->name != NULL;
	}
	if (!complete) {
		sv_workload_free(w);
		return sv_err_set(
		    err, SV_ERESOURCE, "copy a workload: out of memory");
	}
	*out = w;
	return 0;
}

void sv_workload_free(struct sv_workload *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->n_gemm; i++) {
		sv_expression_free(w->gemm[i].m);
		sv_expression_free(w->gemm[i].n);
		sv_expression_free(w->gemm[i].k);
		sv_expression_free(w->gemm[i].count);
	}
	free(w->gemm);
	if (w->store != NULL)
		sv_result_free(w->store);
	free(w);
}

const char *sv_workload_name(const struct sv_workload *w)
{
	return w->name;
}

const char *sv_workload_title(const struct sv_workload *w)
{
	return w->title;
}

const struct sv_workload_defaults *sv_workload_defaults(
    const struct sv_workload *w)
{
	return &w->defaults;
}

bool sv_workload_amp_is_bf16(const struct sv_workload *w)
{
	return w->bf16;
}

const char *const *sv_workload_not_modelled(const struct sv_workload *w)
{
	return w->not_modelled;
}

static double or_zero(double value)
{
	return isnan(value) ? 0.0 : value;
}

static int evaluate(const struct sv_workload *w, size_t product,
    const char *what, const struct sv_expression *e, long batch, double *out,
    struct sv_err *err)
{
	double value = sv_expression_at(e, (double)batch);
	char where[32] = "gemm_shape";

	if (isfinite(value) && value > 0.0) {
		*out = value;
		return 0;
	}
	if (!w->typical)
		snprintf(where, sizeof where, "gemm[%zu]", product);
	return sv_err_set(err, SV_EINPUT,
	    "workload %.60s: %s.%s: expected a positive value at batch %ld, "
	    "found %g",
	    w->name, where, what, batch, value);
}

static int product_at(const struct sv_workload *w, size_t i, long batch,
    struct sv_gemm_shape *out, struct sv_err *err)
{
	const struct sv_gemm_terms *g = &w->gemm[i];
	int code;

	if ((code = evaluate(w, i, "m", g->m, batch, &out->m, err)) != 0 ||
	    (code = evaluate(w, i, "n", g->n, batch, &out->n, err)) != 0 ||
	    (code = evaluate(w, i, "k", g->k, batch, &out->k, err)) != 0)
		return code;
	if (g->count != NULL)
		return evaluate(
		    w, i, "count", g->count, batch, &out->count, err);
	out->count = w->numbers.gemm_flop_per_sample * (double)batch /
		     (2.0 * out->m * out->n * out->k);
	return 0;
}

int sv_workload_demand(const struct sv_workload *w, long batch,
    struct sv_demand *out, struct sv_err *err)
{
	const struct sv_numbers *n = &w->numbers;
	double samples = (double)batch;
	struct sv_demand d = {.n_gemm = w->n_gemm,
	    .gemm_is_typical = w->typical,
	    .kernels = or_zero(n->kernels),
	    .dispatch_factor =
		isnan(n->dispatch_factor) ? 1.0 : n->dispatch_factor,
	    .h2d_bytes = samples * or_zero(n->h2d_per_sample),
	    .d2h_bytes = or_zero(n->d2h_per_step),
	    .syncs = or_zero(n->syncs),
	    .resets = or_zero(n->resets),
	    .working_set_bytes = or_zero(n->working_fixed) +
				 samples * or_zero(n->working_per_sample),
	    .sample_bytes = samples * or_zero(n->sample_bytes),
	    .work = w->work,
	    .gradient_bytes = or_zero(n->gradient_bytes),
	    .bf16 = w->bf16};
	int code = 0;

	if (batch < 1 || batch > SV_WORKLOAD_MAX_BATCH)
		return sv_err_set(err, SV_EUSAGE,
		    "batch %ld: expected one from 1 to %ld", batch,
		    SV_WORKLOAD_MAX_BATCH);
	/* Bytes that are read come from one file unless it says otherwise. */
	if (!isnan(n->sample_bytes))
		d.sample_files =
		    samples * (isnan(n->sample_files) ? 1.0 : n->sample_files);
	d.memory_bytes.fp32 = samples * or_zero(n->memory_per_sample.fp32) +
			      or_zero(n->memory_per_step.fp32);
	d.memory_bytes.amp = samples * or_zero(n->memory_per_sample.amp) +
			     or_zero(n->memory_per_step.amp);
	d.gemm = calloc(w->n_gemm + 1, sizeof *d.gemm);
	if (d.gemm == NULL)
		return sv_err_set(err, SV_ERESOURCE, "demand: out of memory");
	for (size_t i = 0; i < w->n_gemm && code == 0; i++)
		code = product_at(w, i, batch, &d.gemm[i], err);
	if (code != 0)
		sv_demand_fini(&d);
	else
		*out = d;
	return code;
}

void sv_demand_fini(struct sv_demand *d)
{
	free(d->gemm);
	d->gemm = NULL;
	d->n_gemm = 0;
}
