/* stave show: one result, as tables or as the file has it. */
#include <string.h>

#include "cli.h"
#include "result.h"

struct arguments {
	struct sv_common common;
	const char *bench, *result;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 'b':
		a->bench = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->result != NULL)
			return sv_wrong(state, "expected one RESULT");
		a->result = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->result == NULL)
			return sv_wrong(state, "expected a RESULT");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool has_bench(const struct sv_result *r, const char *bench)
{
	for (size_t i = 0; i < r->n_measurements; i++)
		if (strcmp(r->measurements[i].bench, bench) == 0)
			return true;
	return false;
}

int sv_command_show(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"bench", 'b', "BENCH", 0, "only this benchmark", 0}, {0}};
	static const struct argp_child children[] = {
	    {&sv_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "RESULT",
	    .doc = "Shows one result: the machine, every figure with its "
		   "interval, what was not measured and why."
		   "\vFor example:\n  stave show this.json --bench gemm",
	    .children = children};
	struct arguments a = {0};
	struct sv_report_style style;
	struct sv_result *r;
	struct sv_err err;
	int status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	if (sv_result_read(a.result, &r, &err) != 0)
		return sv_complain(&err);
	style = sv_style(a.common.colour);
	if (a.bench != NULL && !has_bench(r, a.bench)) {
		sv_err_set(&err, SV_EUSAGE,
		    "%s: it has no measurement of \"%.60s\"", a.result,
		    a.bench);
		status = sv_complain(&err);
	} else if (a.common.json) {
		if (sv_result_print(r, stdout, SV_KEEP_ALL, &err) != 0)
			status = sv_complain(&err);
	} else {
		sv_report_result(r, a.bench, stdout, &style);
	}
	sv_result_free(r);
	return status;
}
