/* stave compare: two results, a verdict for every pair of figures. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "compare.h"
#include "result.h"

enum format {
	FORMAT_TABLE,
	FORMAT_MARKDOWN,
	FORMAT_CSV,
	FORMAT_JSON,
};

struct arguments {
	struct sv_common common;
	struct sv_compare_options options;
	enum format format;
	bool fail_on_regression;
	const char *results[2];
	int n_results;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = {
	    "table", "markdown", "csv", "json"};
	struct arguments *a = state->input;
	int i = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 'a':
		return sv_number(
		    state, "--alpha", arg, 1e-6, 0.5, &a->options.alpha);
	case 'e':
		return sv_number(state, "--min-effect", arg, 0.0, 1.0,
		    &a->options.min_effect);
	case 'f':
		if (strcmp(arg, "regression") != 0)
			return sv_wrong(state,
			    "--fail-on \"%.40s\": expected regression", arg);
		a->fail_on_regression = true;
		return 0;
	case 'F':
		while (i < 4 && strcmp(formats[i], arg) != 0)
			i++;
		if (i == 4)
			return sv_wrong(state,
			    "--format \"%.40s\": expected table, markdown, csv "
			    "or json",
			    arg);
		a->format = (enum format)i;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n_results == 2)
			return sv_wrong(state, "expected two results, A and B");
		a->results[a->n_results++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n_results < 2)
			return sv_wrong(state, "expected two results, A and B");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print_json(const struct sv_comparison *c, struct sv_err *err)
{
	json_t *tree = sv_comparison_json(c);

	if (tree == NULL)
		return sv_err_set(err, SV_ERESOURCE, "compare: out of memory");
	json_dumpf(tree, stdout, JSON_INDENT(1));
	fputc('\n', stdout);
	json_decref(tree);
	return 0;
}

static int print(const struct arguments *a, const struct sv_comparison *c,
    struct sv_err *err)
{
	struct sv_report_style style = sv_style(a->common.colour);

	switch (a->common.json ? FORMAT_JSON : a->format) {
	case FORMAT_MARKDOWN:
		return sv_report_comparison_markdown(c, stdout, err);
	case FORMAT_CSV:
		sv_report_comparison_csv(c, stdout);
		return 0;
	case FORMAT_JSON:
		return print_json(c, err);
	case FORMAT_TABLE:
		break;
	}
	sv_report_comparison(c, stdout, &style);
	return 0;
}

static int compare(const struct arguments *a, struct sv_err *err)
{
	struct sv_result *results[2] = {NULL, NULL};
	struct sv_comparison *c = NULL;
	int status = 0, code;

	code = sv_result_read(a->results[0], &results[0], err);
	if (code == 0)
		code = sv_result_read(a->results[1], &results[1], err);
	if (code == 0)
		code = sv_compare(results[0], results[1], &a->options, &c, err);
	if (code == 0)
		code = print(a, c, err);
	if (code != 0)
		status = sv_complain(err);
	else if (a->fail_on_regression && c->counts[SV_SLOWER] > 0)
		status = 1;
	sv_comparison_free(c);
	sv_result_free(results[0]);
	sv_result_free(results[1]);
	return status;
}

int sv_command_compare(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"alpha", 'a', "P", 0, "level of significance (0.05)", 0},
	    {"min-effect", 'e', "R", 0,
		"smallest relative difference that matters (0.02; times: at "
		"least 0.05)",
		0},
	    {"fail-on", 'f', "regression", 0,
		"exit with 1 when B is slower anywhere", 0},
	    {"format", 'F', "FORMAT", 0, "table, markdown, csv or json (table)",
		0},
	    {0}};
	static const struct argp_child children[] = {
	    {&sv_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "A B",
	    .doc =
		"Pairs the figures of two results and judges each difference: "
		"faster, slower, same, or unclear with a reason. A ratio "
		"above 1 means that B is better."
		"\vFor example:\n  stave compare old.json new.json\n"
		"  stave compare old.json new.json --format markdown",
	    .children = children};
	struct arguments a = {.options = {0.05, 0.02}};
	struct sv_err err;
	int status = sv_parse(&argp, argc, argv, &a);

	return status != 0 ? status - 1 : compare(&a, &err);
}
