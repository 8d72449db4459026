/* stave plot: one picture of one or more results. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "explained.h"
#include "figure.h"
#include "folder.h"
#include "gnuplot.h"
#include "result.h"
#include "save.h"

/* Kinds that show B against A on a workload. */
static const struct {
	const char *name;
	enum sv_figure_explained which;
} explained_kinds[] = {
    {"step-parts", SV_EXPLAINED_STEP}, {"crossover", SV_EXPLAINED_CROSSOVER}};
#define N_EXPLAINED (sizeof explained_kinds / sizeof explained_kinds[0])

struct arguments {
	const struct sv_figure_kind *kind;
	size_t explained; /* of explained_kinds, else N_EXPLAINED */
	const char *workload;
	const char *output;
	enum sv_picture picture;
	const char *results[SV_FIGURE_MAX_RESULTS];
	size_t n;
};

static error_t parse_kind(
    const char *arg, struct arguments *a, struct argp_state *state)
{
	char names[200] = "";
	size_t used = 0;

	a->kind = sv_figure_find(arg);
	a->explained = 0;
	while (a->explained < N_EXPLAINED &&
	       strcmp(explained_kinds[a->explained].name, arg) != 0)
		a->explained++;
	if (a->kind != NULL || a->explained < N_EXPLAINED)
		return 0;
	for (const struct sv_figure_kind *k = sv_figure_kinds;
	     k->name != NULL && used < sizeof names; k++)
		used += (size_t)snprintf(names + used, sizeof names - used,
		    "%s%s", used > 0 ? ", " : "", k->name);
	return sv_wrong(state,
	    "--kind \"%.40s\": expected one of %s, step-parts, crossover", arg,
	    names);
}

/* The name says what kind of file it is. */
static error_t parse_output(
    const char *arg, struct arguments *a, struct argp_state *state)
{
	const char *dot = strrchr(arg, '.');

	a->output = arg;
	if (dot != NULL && strcmp(dot, ".svg") == 0)
		a->picture = SV_PICTURE_SVG;
	else if (dot != NULL && strcmp(dot, ".png") == 0)
		a->picture = SV_PICTURE_PNG;
	else
		return sv_wrong(state,
		    "-o \"%.200s\": expected a name that ends in .svg or .png",
		    arg);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'k':
		return parse_kind(arg, a, state);
	case 'o':
		return parse_output(arg, a, state);
	case 'w':
		a->workload = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n == SV_FIGURE_MAX_RESULTS)
			return sv_wrong(state, "expected at most %d results",
			    SV_FIGURE_MAX_RESULTS);
		a->results[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n == 0)
			return sv_wrong(state, "expected a RESULT");
		if (a->kind == NULL && a->explained == N_EXPLAINED)
			return sv_wrong(state, "--kind is missing");
		if (a->explained < N_EXPLAINED && a->n != 2)
			return sv_wrong(state,
			    "--kind %s: expected two results, A and B",
			    explained_kinds[a->explained].name);
		if (a->explained == N_EXPLAINED && a->workload != NULL)
			return sv_wrong(state,
			    "--workload is for step-parts and crossover");
		if (a->output == NULL)
			return sv_wrong(state, "-o FILE is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Of all shipped workloads, the one that gains least from B; or NULL. */
static int least_gain(
    const struct sv_result *const *results, json_t **out, struct sv_err *err)
{
	struct sv_explained all;
	int code = sv_explained_make(results[0], results[1], &all, err);

	*out = code == 0 && all.n > 0 ? json_incref(all.list[0]) : NULL;
	if (code == 0)
		sv_explained_free(&all);
	return code;
}

/* *out is NULL where there is nothing to show. */
static int make_explained(const struct arguments *a,
    const struct sv_result *const *results, struct sv_figure **out,
    struct sv_err *err)
{
	json_t *explanation = NULL;
	int code = a->workload == NULL
		       ? least_gain(results, &explanation, err)
		       : sv_explained_one(results[0], results[1], a->workload,
			     &explanation, err);

	*out = NULL;
	if (code == 0 && explanation != NULL)
		code = sv_figure_explained(
		    explained_kinds[a->explained].which, explanation, out, err);
	json_decref(explanation);
	return code;
}

static int make_figure(const struct arguments *a,
    const struct sv_result *const *results, struct sv_figure **out,
    struct sv_err *err)
{
	int code;

	if (a->explained < N_EXPLAINED)
		code = make_explained(a, results, out, err);
	else
		code = sv_figure_make(a->kind, results, a->n, out, err);
	if (code != 0 || *out != NULL)
		return code;
	return sv_err_set(err, SV_EINPUT, "%s%s: no measurement for --kind %s",
	    a->results[0], a->n > 1 ? " and the others" : "",
	    a->kind != NULL ? a->kind->name
			    : explained_kinds[a->explained].name);
}

static int plot(const struct arguments *a, struct sv_err *err)
{
	struct sv_result *results[SV_FIGURE_MAX_RESULTS] = {NULL};
	struct sv_figure *figure = NULL;
	char *bytes = NULL;
	size_t n = 0;
	int code = 0;

	for (size_t i = 0; code == 0 && i < a->n; i++)
		code = sv_result_read(a->results[i], &results[i], err);
	if (code == 0)
		code = make_figure(
		    a, (const struct sv_result *const *)results, &figure, err);
	if (code == 0)
		code = sv_gnuplot_check(err);
	if (code == 0)
		code = sv_gnuplot_draw(figure, a->picture, &bytes, &n, err);
	if (code == 0)
		code = sv_save(a->output, bytes, n, err);
	free(bytes);
	sv_figure_free(figure);
	for (size_t i = 0; i < a->n; i++)
		sv_result_free(results[i]);
	return code;
}

int sv_command_plot(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"kind", 'k', "KIND", 0,
		"transfer, gemm-size, gemm-batch, launch, allocator, memory, "
		"loader, sustain, step, habits or rounds; of A and B: "
		"step-parts (what "
		"a training step is made of) or crossover (speed-up by batch)",
		0},
	    {"output", 'o', "FILE", 0, "where to; .svg or .png", 0},
	    {"workload", 'w', "NAME|FILE", 0,
		"for step-parts and crossover (the shipped workload that gains "
		"least from B)",
		0},
	    {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "RESULT...",
	    .doc = "Draws one picture of a result, or of up to eight over "
		   "each other. Needs gnuplot."
		   "\vFor example:\n  stave plot this.json --kind transfer -o "
		   "transfer.svg\n"
		   "  stave plot old.json new.json --kind gemm-size -o "
		   "gemm.png\n"
		   "  stave plot old.json new.json --kind crossover --workload "
		   "resnet50 -o crossover.svg"};
	struct arguments a = {.explained = N_EXPLAINED};
	struct sv_err err;
	int status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	return plot(&a, &err) == 0 ? 0 : sv_complain(&err);
}
