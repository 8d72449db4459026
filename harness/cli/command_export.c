/* stave export: one result in the format of another tool. */
#include "cli.h"
#include "export.h"
#include "result.h"

struct arguments {
	int format; /* -1: not said */
	const char *result;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'f':
		a->format = sv_export_format(arg);
		return a->format >= 0 ? 0
				      : sv_wrong(state,
					    "--format \"%.40s\": expected csv, "
					    "openmetrics, benchfmt or gbench",
					    arg);
	case ARGP_KEY_ARG:
		if (a->result != NULL)
			return sv_wrong(state, "expected one RESULT");
		a->result = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->result == NULL)
			return sv_wrong(state, "expected a RESULT");
		if (a->format < 0)
			return sv_wrong(state,
			    "--format is missing: csv, openmetrics, benchfmt "
			    "or gbench");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int sv_command_export(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"format", 'f', "FORMAT", 0,
		"csv (spreadsheets), openmetrics (Prometheus' textfile "
		"collector), benchfmt (Go's benchstat) or gbench (Google "
		"Benchmark's compare.py)",
		0},
	    {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "RESULT",
	    .doc = "Prints one result in the format of another tool. Figures "
		   "whose check failed are marked in csv and left out of the "
		   "rest."
		   "\vFor example:\n  stave export this.json --format csv "
		   ">this.csv\n"
		   "  stave export old.json --format benchfmt >old.txt\n"
		   "  stave export new.json --format benchfmt >new.txt\n"
		   "  benchstat old.txt new.txt"};
	struct arguments a = {.format = -1};
	struct sv_result *r;
	struct sv_err err;
	int status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	if (sv_result_read(a.result, &r, &err) != 0)
		return sv_complain(&err);
	if (sv_export(r, (enum sv_export_format)a.format, stdout, &err) != 0)
		status = sv_complain(&err);
	sv_result_free(r);
	return status;
}
