/* stave qualify: a result, or this machine, against a specification. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "save.h"
#include "spec.h"

struct arguments {
	struct sv_common common;
	const char *result, *spec, *junit;
	struct sv_run_options options;
	bool has_profile, runs; /* options of measuring were given */
};

enum {
	KEY_SPEC = 0x200,
	KEY_JUNIT,
	KEY_BACKEND,
	KEY_PROFILE,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const backends[] = {"auto", "host", "cuda"};
	struct arguments *a = state->input;
	struct sv_err err;

	a->runs = a->runs || key == KEY_BACKEND || key == KEY_PROFILE ||
		  key == 'd' || key == 'o';
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case KEY_SPEC:
		a->spec = arg;
		return 0;
	case KEY_JUNIT:
		a->junit = arg;
		return 0;
	case KEY_BACKEND:
		a->options.backend = arg;
		return sv_choice(state, "--backend", arg, backends, 3);
	case KEY_PROFILE:
		a->has_profile = true;
		return sv_profile_parse(arg, &a->options.profile, &err) == 0
			   ? 0
			   : sv_wrong(state, "--%s", err.text);
	case 'd':
		a->options.device = arg;
		return 0;
	case 'o':
		a->options.output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->result != NULL)
			return sv_wrong(state, "expected at most one RESULT");
		a->result = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->spec == NULL)
			return sv_wrong(state,
			    "expected --spec NAME or FILE; `stave list specs` "
			    "lists what is shipped");
		if (a->result != NULL && a->runs)
			return sv_wrong(state,
			    "a RESULT is there: nothing is measured, so that "
			    "--backend, --device, --profile and -o mean "
			    "nothing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Measure what the specification needs. *status: 130 when interrupted. */
static int measure(struct arguments *a, const struct sv_spec *spec,
    struct sv_result **out, int *status, struct sv_err *err)
{
	struct sv_run_outcome outcome = {0};
	char output[SV_OUTPUT_BYTES];
	int code = 0;

	/* What this profile or build lacks is skipped, which is no pass. */
	a->options.benches = spec->benches;
	a->options.patterns_are_wishes = true;
	if (!a->has_profile)
		code =
		    sv_profile_parse(spec->profile, &a->options.profile, err);
	if (code == 0)
		code =
		    sv_measure(&a->options, NULL, output, out, &outcome, err);
	if (code != 0)
		return code;
	fprintf(stderr, "saved in %s\n", a->options.output);
	if (outcome.interrupted) {
		fprintf(stderr,
		    "stave: interrupted; carry on with: stave run --resume "
		    "%s.part, then qualify the result\n",
		    a->options.output);
		*status = sv_err_exit_status(SV_EINTERRUPTED);
	}
	return 0;
}

static int write_junit(
    const struct sv_checklist *list, const char *path, struct sv_err *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	int code;

	if (out == NULL)
		return sv_err_set(err, SV_ERESOURCE, "JUnit: out of memory");
	sv_report_junit(list, out);
	code = fclose(out) == 0
		   ? sv_save(path, text, n, err)
		   : sv_err_set(err, SV_ERESOURCE, "JUnit: out of memory");
	free(text);
	return code;
}

/* Judge, show, and say it as an exit status. */
static int tell(const struct arguments *a, const struct sv_spec *spec,
    const struct sv_result *r)
{
	struct sv_checklist list;
	struct sv_report_style style = sv_style(a->common.colour);
	struct sv_err err;
	int status;

	if (sv_spec_judge(spec, r, &list, &err) != 0)
		return sv_complain(&err);
	/* What could not be told is no pass either. */
	status = strcmp(list.verdict, "pass") != 0;
	if (!a->common.json)
		sv_report_checklist(&list, stdout, &style);
	else if (sv_print_json(sv_checklist_to_json(&list), stdout, &err) != 0)
		status = sv_complain(&err);
	if (a->junit != NULL && write_junit(&list, a->junit, &err) != 0)
		status = sv_complain(&err);
	sv_checklist_fini(&list);
	return status;
}

int sv_command_qualify(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"spec", KEY_SPEC, "NAME|FILE", 0,
		"what to qualify against: a shipped specification, or a file",
		0},
	    {"junit", KEY_JUNIT, "FILE", 0, "also write JUnit XML", 0},
	    {"backend", KEY_BACKEND, "NAME", 0, "auto, host or cuda", 0},
	    {"device", 'd', "SEL", 0,
		"the device: an index, a (partial) UUID or a PCI address", 0},
	    {"profile", KEY_PROFILE, "NAME", 0,
		"quick, standard or full (the specification's)", 0},
	    {"output", 'o', "FILE", 0,
		"the result file (" SV_DEFAULT_FOLDER "/LABEL-TIME.json)", 0},
	    {0}};
	static const struct argp_child children[] = {
	    {&sv_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "[RESULT]",
	    .doc = "Judges a result against a specification: pass, fail, "
		   "inconclusive or skipped for each check. Without RESULT "
		   "it measures first what the specification needs. The "
		   "verdict is pass only when every check passed; exit status "
		   "1 for every other one."
		   "\vFor example:\n  stave qualify this.json --spec rtx-4090\n"
		   "  stave qualify --spec generic --junit stave.xml",
	    .children = children};
	struct arguments a = {.options = {.backend = "auto",
				  .profile = SV_PROFILE_STANDARD,
				  .case_timeout_s = SV_CASE_TIMEOUT_S}};
	struct sv_spec *spec = NULL;
	struct sv_result *r = NULL;
	struct sv_err err;
	int code, status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	code = sv_spec_read(a.spec, &spec, &err);
	if (code == 0)
		code = a.result != NULL ? sv_result_read(a.result, &r, &err)
					: measure(&a, spec, &r, &status, &err);
	if (code != 0)
		status = sv_complain(&err);
	else if (status == 0)
		status = tell(&a, spec, r);
	sv_result_free(r);
	sv_spec_free(spec);
	return status;
}
