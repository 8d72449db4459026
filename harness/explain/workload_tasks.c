/* From a workload's demand to a worker's word; see the header. */
#include "workload_tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stave/task.h"

/* Batches above the default one, at most so many times it. */
#define MOST_TIMES 16
#define GROWTH	   4

void sv_words_fini(struct sv_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->items[i]);
	free(words->items);
	*words = (struct sv_words){0};
}

/* Add a word, which is taken. */
static int add_word(struct sv_words *words, char *take_word, struct sv_err *err)
{
	char **grown =
	    realloc(words->items, (words->n + 2) * sizeof *words->items);

	if (grown == NULL) {
		free(take_word);
		return sv_err_set(err, SV_ERESOURCE, "task: out of memory");
	}
	words->items = grown;
	words->items[words->n++] = take_word;
	words->items[words->n] = NULL;
	return 0;
}

static unsigned long long whole(double value)
{
	return value < 1.0 ? 0 : (unsigned long long)llround(value);
}

static unsigned long long positive(double value)
{
	return value < 1.0 ? 1 : whole(value);
}

static int check_name(const struct sv_workload *w, struct sv_err *err)
{
	const char *name = sv_workload_name(w);

	for (const char *c = name; *c != '\0'; c++)
		if (*c <= ' ' || *c == 0x7f || strchr("/=?&;", *c) != NULL)
			return sv_err_set(err, SV_EINPUT,
			    "workload \"%.60s\": name: expected one without / "
			    "= ? & ; and spaces, for case ids",
			    name);
	if (strlen(name) >= SV_TASK_NAME_BYTES)
		return sv_err_set(err, SV_EINPUT,
		    "workload \"%.70s\": name: expected fewer than %d letters",
		    name, SV_TASK_NAME_BYTES);
	return 0;
}

/* How mixed precision is spelt for a worker. */
static const char *precision_of(
    const struct sv_workload *w, const struct sv_demand *d)
{
	const char *name = sv_workload_defaults(w)->precision;

	if (strcmp(name, "amp") != 0)
		return name;
	return d->bf16 ? "bf16" : "fp16";
}

static void print_gemm(
    FILE *out, double m, double n, double k, double count, bool strided)
{
	fprintf(out, ";gemm=%llu,%llu,%llu,%llu,%llu", positive(m), positive(n),
	    positive(k), positive(count), strided ? 1 : positive(count));
}

/* Whether no operand of the products is too large for a task. */
static bool is_small(const struct sv_gemm_shape *g)
{
	return g->m * g->n * g->count <= SV_TASK_MAX_ELEMENTS &&
	       g->m * g->k * g->count <= SV_TASK_MAX_ELEMENTS &&
	       g->k * g->n * g->count <= SV_TASK_MAX_ELEMENTS;
}

/* larger: the demand at another batch, to tell what grows with it. */
static int print_products(FILE *out, const char *name,
    const struct sv_demand *d, const struct sv_demand *larger,
    struct sv_err *err)
{
	double launches = 0.0;

	for (size_t i = 0; i < d->n_gemm; i++) {
		const struct sv_gemm_shape *g = &d->gemm[i];
		bool strided =
		    !d->gemm_is_typical && larger->gemm[i].count > g->count;
		double third = g->count / 3.0;

		launches += strided ? 1.0 : g->count;
		if (g->count > SV_TASK_MAX_COUNT ||
		    launches > SV_TASK_MAX_LAUNCHES || !is_small(g))
			return sv_err_set(err, SV_EINPUT,
			    "workload %.60s: gemm[%zu]: more than a step can "
			    "be measured with (%d products, %d launches, %g "
			    "elements)",
			    name, i, SV_TASK_MAX_COUNT, SV_TASK_MAX_LAUNCHES,
			    SV_TASK_MAX_ELEMENTS);
		if (!d->gemm_is_typical) {
			print_gemm(out, g->m, g->n, g->k, g->count, strided);
			continue;
		}
		print_gemm(out, g->m, g->n, g->k, third, false);
		print_gemm(out, g->k, g->n, g->m, third, false);
		print_gemm(out, g->m, g->k, g->n, third, false);
	}
	return 0;
}

/* Numbers of a step that a task has room for. */
static int check_numbers(
    const char *name, const struct sv_demand *d, struct sv_err *err)
{
	if (d->kernels > SV_TASK_MAX_LAUNCHES)
		return sv_err_set(err, SV_EINPUT,
		    "workload %.60s: kernels_per_step: a step is measured with "
		    "at most %d",
		    name, SV_TASK_MAX_LAUNCHES);
	if (fmax(fmax(d->memory_bytes.fp32, d->memory_bytes.amp),
		fmax(d->working_set_bytes, fmax(d->h2d_bytes, d->d2h_bytes))) >
	    (double)SV_TASK_MAX_BYTES)
		return sv_err_set(err, SV_EINPUT,
		    "workload %.60s: a step of more than %g bytes is not "
		    "measured",
		    name, (double)SV_TASK_MAX_BYTES);
	return 0;
}

static int add_task(const struct sv_workload *w, long batch,
    struct sv_words *words, struct sv_err *err)
{
	const char *name = sv_workload_name(w);
	struct sv_demand d = {0}, larger = {0};
	char *word = NULL;
	size_t size = 0;
	FILE *out = NULL;
	int code = sv_workload_demand(w, batch, &d, err);

	if (code == 0)
		code = sv_workload_demand(w, batch + 1, &larger, err);
	if (code == 0)
		code = check_numbers(name, &d, err);
	if (code != 0)
		goto free_demands;
	out = open_memstream(&word, &size);
	if (out == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "task: out of memory");
		goto free_demands;
	}
	fprintf(out,
	    "%s;batch=%ld;precision=%s;half=%s;habits=%d;kernels=%llu;"
	    "memory=%llu,%llu;h2d=%llu;d2h=%llu;set=%llu",
	    name, batch, precision_of(w, &d), d.bf16 ? "bf16" : "fp16",
	    batch == sv_workload_defaults(w)->batch, whole(d.kernels),
	    whole(d.memory_bytes.fp32), whole(d.memory_bytes.amp),
	    whole(d.h2d_bytes), whole(d.d2h_bytes), whole(d.working_set_bytes));
	code = print_products(out, name, &d, &larger, err);
	if (fclose(out) != 0 && code == 0)
		code = sv_err_set(err, SV_ERESOURCE, "task: out of memory");
	if (code == 0)
		code = add_word(words, word, err);
	else
		free(word);

free_demands:
	sv_demand_fini(&d);
	sv_demand_fini(&larger);
	return code;
}

/*
 * A task at another batch than the workload's own, where it can be: shapes
 * may have no value there, or too large ones.
 */
static int add_other_task(const struct sv_workload *w, long batch,
    struct sv_words *words, struct sv_err *err)
{
	int code = add_task(w, batch, words, err);

	return code == SV_EINPUT ? 0 : code;
}

int sv_workload_tasks(const struct sv_workload *w, enum sv_batches batches,
    struct sv_words *words, struct sv_err *err)
{
	long own = sv_workload_defaults(w)->batch;
	int code = check_name(w, err);

	if (code == 0)
		code = add_task(w, own, words, err);
	if (batches == SV_BATCHES_FEW && own > 1 && code == 0)
		code = add_other_task(w, 1, words, err);
	if (batches == SV_BATCHES_MANY)
		for (long batch = 1; code == 0 && batch <= MOST_TIMES * own &&
				     batch <= SV_WORKLOAD_MAX_BATCH / GROWTH;
		     batch *= GROWTH)
			if (batch != own)
				code = add_other_task(w, batch, words, err);
	return code;
}
