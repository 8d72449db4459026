/* stave run: measure, save, show. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "workload_tasks.h"
#include "workload.h"

#define MAX_PATTERNS 64

struct arguments {
	struct sv_common common;
	struct sv_run_options options;
	enum sv_profile profile;
	const char *benches[MAX_PATTERNS + 1], *skips[MAX_PATTERNS + 1];
	size_t n_benches, n_skips;
	const char *workloads[MAX_PATTERNS + 1];
	size_t n_workloads;
	const char *resume;
	bool alone; /* some option that --resume takes from the journal */
};

enum {
	KEY_BACKEND = 0x200,
	KEY_PROFILE,
	KEY_SKIP,
	KEY_LABEL,
	KEY_STORAGE,
	KEY_RESUME,
	KEY_TIMEOUT,
	KEY_KEEP,
	KEY_ROUNDS,
	KEY_WORKLOAD,
	KEY_TIMELINE,
	KEY_SEED,
	KEY_RECORD,
};

static error_t add_patterns(const struct argp_state *state, char *list,
    const char **patterns, size_t *n)
{
	for (char *one = strtok(list, ","); one != NULL;
	     one = strtok(NULL, ",")) {
		if (*n == MAX_PATTERNS)
			return sv_wrong(
			    state, "at most %d names", MAX_PATTERNS);
		patterns[(*n)++] = one;
	}
	return 0;
}

/* 0 when the text can stand in a result file, which is UTF-8. */
static error_t check_text(
    const struct argp_state *state, const char *option, const char *text)
{
	json_t *json = json_string(text);

	if (json == NULL)
		return sv_wrong(state, "%s: expected text in UTF-8", option);
	json_decref(json);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const backends[] = {"auto", "host", "cuda"};
	static const char *const keeps[] = {"all", "summary"};
	struct arguments *a = state->input;
	double value = 0.0;
	struct sv_err err;
	error_t wrong;

	a->alone =
	    a->alone || (key != KEY_RESUME &&
			    (key == 'o' || key == 'b' || key == 'd' ||
				(key >= KEY_BACKEND && key <= KEY_RECORD)));
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case KEY_BACKEND:
		a->options.backend = arg;
		return sv_choice(state, "--backend", arg, backends, 3);
	case 'd':
		a->options.device = arg;
		return 0;
	case KEY_PROFILE:
		return sv_profile_parse(arg, &a->options.profile, &err) == 0
			   ? 0
			   : sv_wrong(state, "--%s", err.text);
	case 'b':
		return add_patterns(state, arg, a->benches, &a->n_benches);
	case KEY_SKIP:
		return add_patterns(state, arg, a->skips, &a->n_skips);
	case KEY_WORKLOAD:
		if (a->n_workloads == MAX_PATTERNS)
			return sv_wrong(
			    state, "at most %d workloads", MAX_PATTERNS);
		a->workloads[a->n_workloads++] = arg;
		return 0;
	case KEY_TIMELINE:
		a->options.timeline = arg;
		return 0;
	case KEY_LABEL:
		a->options.label = arg;
		return check_text(state, "--label", arg);
	case KEY_STORAGE:
		a->options.storage_path = arg;
		return check_text(state, "--storage-path", arg);
	case 'o':
		a->options.output = arg;
		return check_text(state, "--output", arg);
	case KEY_RECORD:
		a->options.record_machine = arg;
		return 0;
	case KEY_RESUME:
		a->resume = arg;
		return 0;
	case KEY_TIMEOUT:
		return sv_number(state, "--case-timeout", arg, 0.01, 86400.0,
		    &a->options.case_timeout_s);
	case KEY_KEEP:
		a->options.keep =
		    strcmp(arg, "summary") == 0 ? SV_KEEP_SUMMARY : SV_KEEP_ALL;
		return sv_choice(state, "--keep-samples", arg, keeps, 2);
	case KEY_ROUNDS:
		wrong = sv_number(state, "--rounds", arg, 1.0, 1000.0, &value);
		a->options.rounds = (unsigned)value;
		return wrong;
	case KEY_SEED:
		wrong = sv_number(state, "--seed", arg, 1.0, 9e15, &value);
		a->options.seed = (uint64_t)value;
		return wrong;
	case ARGP_KEY_ARG:
		return sv_wrong(state, "unexpected \"%.60s\"", arg);
	case ARGP_KEY_END:
		if (a->resume != NULL && a->alone)
			return sv_wrong(state,
			    "--resume takes everything else from the run "
			    "that it carries on");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
    {"backend", KEY_BACKEND, "NAME", 0,
	"auto, host or cuda (auto: cuda where a usable device exists)", 0},
    {"device", 'd', "SEL", 0,
	"the device: an index, a (partial) UUID or a PCI address", 0},
    {"profile", KEY_PROFILE, "NAME", 0,
	"quick (6 rounds), standard (10) or full (15); standard", 0},
    {"bench", 'b', "LIST", 0,
	"only these: benchmark names or patterns of case ids", 0},
    {"skip", KEY_SKIP, "LIST", 0, "not these", 0},
    {"workload", KEY_WORKLOAD, "NAME", 0,
	"train steps of this workload, by name or file; may be repeated "
	"(mlp-tiny; standard: also resnet50 and bert-base-128; full: all)",
	0},
    {"timeline", KEY_TIMELINE, "FILE", 0,
	"write spans of the training steps, for Perfetto or chrome://tracing",
	0},
    {"label", KEY_LABEL, "TEXT", 0, "name of the result (the host's)", 0},
    {"output", 'o', "FILE", 0,
	"the result file (" SV_DEFAULT_FOLDER "/LABEL-TIME.json)", 0},
    {"storage-path", KEY_STORAGE, "DIR", 0,
	"a folder on the disk to measure; its files are removed again (.)", 0},
    {"resume", KEY_RESUME, "DIR", 0,
	"carry on with the unfinished run in DIR (FILE.part)", 0},
    {"case-timeout", KEY_TIMEOUT, "S", 0,
	"seconds that one case may take in one round (60)", 0},
    {"keep-samples", KEY_KEEP, "WHAT", 0,
	"all, or summary: without the raw samples", 0},
    {"rounds", KEY_ROUNDS, "N", 0, "rounds, whatever the profile says", 0},
    {"seed", KEY_SEED, "N", 0, "seed of the order of cases", 0},
    {"record-machine", KEY_RECORD, "DIR", 0,
	"also save what was read of the machine, to look at it elsewhere", 0},
    {0}};

static void tell_next(const struct arguments *a, const char *output,
    const struct sv_run_outcome *outcome)
{
	char part[4096];

	if (a->resume != NULL)
		snprintf(part, sizeof part, "%s", a->resume);
	else
		snprintf(part, sizeof part, "%s.part", output);
	if (outcome->interrupted) {
		fprintf(stderr,
		    "stave: interrupted; what was measured is kept. Carry on "
		    "with: stave run --resume %s\n",
		    part);
		return;
	}
	if (a->resume == NULL)
		printf("\nsaved in %s\n", output);
	printf("next: stave compare A.json B.json, with a result of another "
	       "machine\n");
	if (outcome->faults)
		fprintf(stderr,
		    "stave: the run is saved, but something failed or did "
		    "not pass its check; see above\n");
}

/* Whether a workload of that name is among the tasks: stave/task.h. */
static bool is_told(const struct sv_words *tasks, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < tasks->n; i++)
		if (strncmp(tasks->items[i], name, length) == 0 &&
		    tasks->items[i][length] == ';')
			return true;
	return false;
}

static int add_workload(const char *name, enum sv_profile profile,
    struct sv_words *tasks, struct sv_err *err)
{
	static const enum sv_batches batches[] = {
	    [SV_PROFILE_QUICK] = SV_BATCHES_DEFAULT,
	    [SV_PROFILE_STANDARD] = SV_BATCHES_FEW,
	    [SV_PROFILE_FULL] = SV_BATCHES_MANY};
	struct sv_workload *workload;
	int code = sv_workload_read(name, &workload, err);

	if (code != 0)
		return code;
	if (is_told(tasks, sv_workload_name(workload)))
		code = sv_err_set(err, SV_EUSAGE,
		    "--workload %.200s: a workload called \"%.64s\" was named "
		    "before; each needs a name of its own",
		    name, sv_workload_name(workload));
	else
		code =
		    sv_workload_tasks(workload, batches[profile], tasks, err);
	sv_workload_free(workload);
	return code;
}

/*
 * The tasks that workers are told: of the workloads asked for, else of those
 * that the profile has. Without the shipped ones a run has no training steps
 * and is one all the same.
 */
static int make_tasks(
    const struct arguments *a, struct sv_words *tasks, struct sv_err *err)
{
	static const char *const usual[] = {
	    "mlp-tiny", "resnet50", "bert-base-128"};
	enum sv_profile profile = a->options.profile;
	char **shipped = NULL;
	int code = 0;

	for (size_t i = 0; code == 0 && i < a->n_workloads; i++)
		code = add_workload(a->workloads[i], profile, tasks, err);
	if (a->n_workloads > 0)
		return code;
	if (sv_workload_shipped(&shipped, err) != 0) {
		fprintf(stderr, "stave: no training steps: %s\n", err->text);
		return 0;
	}
	for (size_t i = 0; code == 0 && shipped[i] != NULL; i++) {
		size_t n = profile == SV_PROFILE_QUICK ? 1 : 3;
		bool wanted = profile == SV_PROFILE_FULL;

		for (size_t j = 0; j < n; j++)
			wanted = wanted || strcmp(shipped[i], usual[j]) == 0;
		if (wanted)
			code = add_workload(shipped[i], profile, tasks, err);
	}
	free(shipped);
	return code;
}

int sv_command_run(int argc, char **argv)
{
	static const struct argp_child children[] = {
	    {&sv_colour_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .doc = "Measures this machine in rounds of fresh processes and "
		   "writes one result file. While it runs, its state is in "
		   "FILE.part: a crash, a kill or Ctrl-C loses nothing that "
		   "was finished."
		   "\vFor example:\n  stave run --profile quick -o this.json\n"
		   "  stave run --bench transfer,'gemm/*precision=fp32*'\n"
		   "  stave run --bench storage --storage-path /data\n"
		   "  stave run --bench step --workload resnet50 --timeline "
		   "steps.json",
	    .children = children};
	struct arguments a = {.options = {.backend = "auto",
				  .profile = SV_PROFILE_STANDARD,
				  .case_timeout_s = SV_CASE_TIMEOUT_S}};
	struct sv_run_outcome outcome = {0};
	struct sv_result *result = NULL;
	struct sv_report_style style;
	struct sv_words tasks = {0};
	struct sv_err err = {0};
	char output[SV_OUTPUT_BYTES];
	int code = 0, status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	a.options.benches = a.benches;
	a.options.skips = a.skips;
	if (a.resume == NULL)
		code = make_tasks(&a, &tasks, &err);
	/* Words that nobody changes. */
	memcpy(&a.options.tasks, &tasks.items, sizeof tasks.items);
	if (code == 0)
		code = sv_measure(
		    &a.options, a.resume, output, &result, &outcome, &err);
	sv_words_fini(&tasks);
	if (code != 0)
		return sv_complain(&err);
	style = sv_style(a.common.colour);
	sv_report_result(result, NULL, stdout, &style);
	tell_next(&a, a.options.output, &outcome);
	sv_result_free(result);
	return outcome.interrupted ? sv_err_exit_status(SV_EINTERRUPTED)
	       : outcome.faults	   ? sv_err_exit_status(SV_ECHECK)
				   : 0;
}
