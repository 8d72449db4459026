/*
 * The context of a running benchmark, and how it reads its case's
 * parameters. A parameter that is missing is our own bug: axes and run() are
 * in one file.
 */
#include "context.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "session.h"

struct sv_bench_context *sv_context_new(
    struct sv_device *device, enum sv_level level, uint64_t seed, bool timeline)
{
	struct sv_bench_context *context = calloc(1, sizeof *context);

	if (context == NULL)
		return NULL;
	context->device = device;
	context->level = level;
	context->seed = seed;
	context->timeline = timeline;
	return context;
}

void sv_context_free(struct sv_bench_context *context)
{
	free(context);
}

void sv_context_begin(struct sv_bench_context *context, const struct sv_case *c)
{
	context->current = c;
}

struct sv_device *sv_context_device(struct sv_bench_context *context)
{
	return context->device;
}

uint64_t sv_context_seed(const struct sv_bench_context *context)
{
	return context->seed;
}

static const struct sv_param *find(const struct sv_case *c, const char *name)
{
	for (size_t i = 0; i < c->n_params; i++)
		if (strcmp(c->params[i].name, name) == 0)
			return &c->params[i];
	return NULL;
}

int64_t sv_case_number(const struct sv_case *c, const char *name)
{
	const struct sv_param *p = find(c, name);

	assert(p != NULL && p->text == NULL);
	return p->number;
}

const char *sv_case_text(const struct sv_case *c, const char *name)
{
	const struct sv_param *p = find(c, name);

	assert(p != NULL && p->text != NULL);
	return p->text;
}

bool sv_case_has(const struct sv_case *c, const char *name)
{
	return find(c, name) != NULL;
}

static void set(struct sv_case *c, const struct sv_param *param)
{
	for (size_t i = 0; i < c->n_params; i++)
		if (strcmp(c->params[i].name, param->name) == 0) {
			c->params[i] = *param;
			return;
		}
	assert(c->n_params < SV_MAX_PARAMS);
	c->params[c->n_params++] = *param;
}

void sv_case_set_number(struct sv_case *c, const char *name, int64_t number)
{
	set(c, &(struct sv_param){name, NULL, number});
}

void sv_case_set_text(struct sv_case *c, const char *name, const char *text)
{
	set(c, &(struct sv_param){name, text, 0});
}

void sv_case_drop(struct sv_case *c, const char *name)
{
	for (size_t i = 0; i < c->n_params; i++)
		if (strcmp(c->params[i].name, name) == 0) {
			memmove(&c->params[i], &c->params[i + 1],
			    (c->n_params - i - 1) * sizeof c->params[0]);
			c->n_params--;
			return;
		}
}

bool sv_case_fit_workers(struct sv_case *c)
{
	const struct sv_param *p = find(c, "workers");

	assert(p != NULL);
	if (p->text == NULL)
		return p->number < (int64_t)c->place->cores;
	sv_case_set_number(c, "workers", c->place->cores);
	return true;
}

/* Index of text among names; the caller's table must have it. */
static int index_of(const char *const *names, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], text) == 0)
			return (int)i;
	assert(!"a parameter's value that its table lacks");
	return 0;
}

enum sv_memory sv_case_memory(const struct sv_case *c)
{
	static const char *const names[] = {
	    "pageable", "pinned", "registered", "writecombined", "mapped"};

	return (enum sv_memory)index_of(names, 5, sv_case_text(c, "memory"));
}

enum sv_wait sv_case_wait(const struct sv_case *c)
{
	static const char *const names[] = {"spin", "yield", "block"};

	return (enum sv_wait)index_of(names, 3, sv_case_text(c, "wait"));
}

static const char *const precisions[] = {
    "fp64", "fp32", "tf32", "fp16", "fp16acc", "bf16"};

enum sv_precision sv_case_precision(const struct sv_case *c)
{
	return (enum sv_precision)index_of(
	    precisions, 6, sv_case_text(c, "precision"));
}

bool sv_precision_parse(const char *name, enum sv_precision *out)
{
	for (int i = 0; i < 6; i++)
		if (strcmp(precisions[i], name) == 0) {
			*out = (enum sv_precision)i;
			return true;
		}
	return false;
}

const char *sv_precision_name(enum sv_precision precision)
{
	return precisions[precision];
}

bool sv_context_timeline(const struct sv_bench_context *context)
{
	return context->timeline;
}

void sv_report_spans(
    struct sv_bench_context *context, const struct sv_span *spans, size_t n)
{
	json_t *list = json_array();

	(void)context;
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list,
		    json_pack("[s, s, f, f]", spans[i].name, spans[i].track,
			spans[i].start_s, spans[i].duration_s));
	sv_emit("spans", json_pack("{s:o}", "spans", list));
}

void sv_report_check(
    struct sv_bench_context *context, bool pass, const char *detail, ...)
{
	char text[512];
	va_list args;

	(void)context;
	va_start(args, detail);
	vsnprintf(text, sizeof text, detail, args);
	va_end(args);
	sv_emit("check", json_pack("{s:s, s:s}", "status",
			     pass ? "pass" : "fail", "detail", text));
}
