/* stave report: one result, or two compared, as a page and its companions. */
#include <string.h>

#include "cli.h"
#include "compare.h"
#include "folder.h"
#include "result.h"

struct arguments {
	const char *output;
	const char *results[2];
	size_t n;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'o':
		a->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n == 2)
			return sv_wrong(
			    state, "expected one result, or two: A and B");
		a->results[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n == 0)
			return sv_wrong(
			    state, "expected one result, or two: A and B");
		if (a->output == NULL)
			return sv_wrong(state, "-o DIR is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int report(const struct arguments *a, struct sv_err *err)
{
	static const struct sv_compare_options options = {
	    .alpha = 0.05, .min_effect = 0.02};
	struct sv_result *results[2] = {NULL, NULL};
	struct sv_comparison *comparison = NULL;
	struct sv_folder_outcome outcome;
	int code = 0;

	for (size_t i = 0; code == 0 && i < a->n; i++)
		code = sv_result_read(a->results[i], &results[i], err);
	if (code == 0 && a->n == 2)
		code = sv_compare(
		    results[0], results[1], &options, &comparison, err);
	if (code == 0) {
		struct sv_folder folder = {
		    .results = (const struct sv_result *const *)results,
		    .n_results = a->n,
		    .comparison = comparison};

		code = sv_folder_write(&folder, a->output, &outcome, err);
	}
	if (code == 0 && outcome.note[0] != '\0')
		fprintf(stderr, "stave report: some pictures are missing: %s\n",
		    outcome.note);
	if (code == 0)
		printf("%s/index.html\n", a->output);
	sv_comparison_free(comparison);
	sv_result_free(results[0]);
	sv_result_free(results[1]);
	return code;
}

int sv_command_report(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"output", 'o', "DIR", 0, "folder for the report", 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "A [B]",
	    .doc = "Writes a page that needs no network (DIR/index.html), "
		   "Markdown for an issue tracker, CSV, and the pictures as "
		   "SVG and PNG: of one result, or of two compared. Without "
		   "gnuplot everything but the pictures."
		   "\vFor example:\n  stave report old.json new.json -o "
		   "report"};
	struct arguments a = {0};
	struct sv_err err;
	int status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	return report(&a, &err) == 0 ? 0 : sv_complain(&err);
}
