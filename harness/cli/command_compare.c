/* stave compare: two results, a verdict for every pair of figures. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "compare.h"
#include "result.h"
#include "save.h"

#define MAX_CONTROLS 32
#define MAX_FLOORS   2
#define MAX_RUNS     64

enum format {
	FORMAT_TABLE,
	FORMAT_MARKDOWN,
	FORMAT_CSV,
	FORMAT_JSON,
};

enum {
	KEY_FLOOR = 0x200,
	KEY_WITH_FLOOR,
	KEY_CONTROL,
	KEY_SORT,
};

struct arguments {
	struct sv_common common;
	struct sv_compare_options options;
	enum format format;
	bool fail_on_regression;
	bool judging; /* some option that only a comparison has */
	bool floor;   /* results are runs of one machine */
	const char *output;
	const char *results[MAX_RUNS];
	size_t n_results;
	const char *controls[MAX_CONTROLS + 1];
	size_t n_controls;
	const char *floors[MAX_FLOORS];
	size_t n_floors;
};

/* Which of the names a word is, *out; else the complaint. */
static error_t choose(const struct argp_state *state, const char *option,
    const char *word, const char *const *names, int n, const char *known,
    int *out)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], word) == 0) {
			*out = i;
			return 0;
		}
	return sv_wrong(
	    state, "%s \"%.40s\": expected %s", option, word, known);
}

/* Add a word to a list that has room for so many. */
static error_t add(const struct argp_state *state, const char *option,
    const char *word, const char **list, size_t room, size_t *n)
{
	if (*n == room)
		return sv_wrong(state, "%s: at most %zu", option, room);
	list[(*n)++] = word;
	return 0;
}

static error_t parse_judging(int key, char *arg, struct argp_state *state)
{
	static const char *const sorts[] = {"id", "worst", "best"};
	static const char *const regression[] = {"regression"};
	struct arguments *a = state->input;
	error_t wrong;
	int i = 0;

	switch (key) {
	case 'a':
		return sv_number(
		    state, "--alpha", arg, 1e-6, 0.5, &a->options.alpha);
	case 'e':
		return sv_number(state, "--min-effect", arg, 0.0, 1.0,
		    &a->options.min_effect);
	case 'f':
		a->fail_on_regression = true;
		return choose(
		    state, "--fail-on", arg, regression, 1, "regression", &i);
	case KEY_SORT:
		wrong = choose(
		    state, "--sort", arg, sorts, 3, "id, worst or best", &i);
		a->options.sort = (enum sv_sort)i;
		return wrong;
	case KEY_CONTROL:
		return add(state, "--control", arg, a->controls, MAX_CONTROLS,
		    &a->n_controls);
	case KEY_WITH_FLOOR:
		return add(state, "--with-floor", arg, a->floors, MAX_FLOORS,
		    &a->n_floors);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t check_all(struct argp_state *state, const struct arguments *a)
{
	if (!a->floor && a->n_results < 2)
		return sv_wrong(state, "expected two results, A and B");
	if (!a->floor && a->n_results > 2)
		return sv_wrong(state,
		    "expected two results, A and B; several runs of one "
		    "machine go with --floor");
	if (!a->floor && a->output != NULL)
		return sv_wrong(state, "-o goes with --floor");
	if (a->floor && a->n_results < 2)
		return sv_wrong(state, "--floor: expected two runs or more");
	if (a->floor && a->judging)
		return sv_wrong(state,
		    "--floor judges nothing: it goes with -o, --json and "
		    "--color alone");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = {
	    "table", "markdown", "csv", "json"};
	struct arguments *a = state->input;
	error_t wrong = parse_judging(key, arg, state);
	int i = 0;

	if (wrong != ARGP_ERR_UNKNOWN) {
		a->judging = true;
		return wrong;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 'F':
		wrong = choose(state, "--format", arg, formats, 4,
		    "table, markdown, csv or json", &i);
		a->format = (enum format)i;
		a->judging = a->judging || a->format == FORMAT_MARKDOWN ||
			     a->format == FORMAT_CSV;
		return wrong;
	case KEY_FLOOR:
		a->floor = true;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		return add(
		    state, "results", arg, a->results, MAX_RUNS, &a->n_results);
	case ARGP_KEY_END:
		return check_all(state, a);
	default:
		return ARGP_ERR_UNKNOWN;
	}
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
		return sv_print_json(sv_comparison_json(c), stdout, err);
	case FORMAT_TABLE:
		break;
	}
	sv_report_comparison(c, stdout, &style);
	return 0;
}

/* Every floor has to be of A's machine or of B's. */
static int read_floors(const struct arguments *a,
    struct sv_result *const results[2], struct sv_floor **floors,
    struct sv_err *err)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < a->n_floors; i++) {
		code = sv_floor_read(a->floors[i], &floors[i], err);
		if (code == 0 && !sv_floor_is_of(floors[i], results[0]) &&
		    !sv_floor_is_of(floors[i], results[1]))
			code = sv_err_set(err, SV_EINPUT,
			    "%.300s: expected the floor of one of the two "
			    "machines, found that of another (%.200s, %.200s)",
			    a->floors[i],
			    floors[i]->machine.cpu != NULL
				? floors[i]->machine.cpu
				: "processor unknown",
			    floors[i]->machine.device != NULL
				? floors[i]->machine.device
				: "device unknown");
	}
	return code;
}

/* One file being read. */
struct reading {
	const char *path;
	struct sv_result *result;
	struct sv_err err;
	int code;
};

static void *read_one(void *reading)
{
	struct reading *r = reading;

	r->code = sv_result_read(r->path, &r->result, &r->err);
	return NULL;
}

/*
 * Both files at once: reading is nearly all the time that comparing takes.
 * What is wrong with A is told first, whichever ended first.
 */
static int read_both(const char *const paths[2], struct sv_result *results[2],
    struct sv_err *err)
{
	struct reading a = {.path = paths[0]}, b = {.path = paths[1]};
	pthread_t thread;
	bool beside = pthread_create(&thread, NULL, read_one, &b) == 0;

	read_one(&a);
	if (beside)
		pthread_join(thread, NULL);
	else
		read_one(&b);
	results[0] = a.result;
	results[1] = b.result;
	*err = a.code != 0 ? a.err : b.err;
	return a.code != 0 ? a.code : b.code;
}

static int compare(const struct arguments *a, struct sv_err *err)
{
	struct sv_result *results[2] = {NULL, NULL};
	struct sv_floor *floors[MAX_FLOORS + 1] = {NULL};
	struct sv_compare_options options = a->options;
	struct sv_comparison *c = NULL;
	int status = 0, code;

	options.controls = a->controls;
	options.floors = (const struct sv_floor *const *)floors;
	code = read_both(a->results, results, err);
	if (code == 0)
		code = read_floors(a, results, floors, err);
	if (code == 0)
		code = sv_compare(results[0], results[1], &options, &c, err);
	if (code == 0)
		code = print(a, c, err);
	if (code != 0)
		status = sv_complain(err);
	else if (a->fail_on_regression && c->counts[SV_SLOWER] > 0)
		status = 1;
	sv_comparison_free(c);
	for (int i = 0; i < MAX_FLOORS; i++)
		sv_floor_free(floors[i]);
	sv_result_free(results[0]);
	sv_result_free(results[1]);
	return status;
}

static int write_floor(
    const char *path, const struct sv_floor *floor, struct sv_err *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	int code;

	if (out == NULL)
		return sv_err_set(err, SV_ERESOURCE, "floor: out of memory");
	code = sv_print_json(sv_floor_json(floor), out, err);
	if (fclose(out) != 0 && code == 0)
		code = sv_err_set(err, SV_ERESOURCE, "floor: out of memory");
	if (code == 0)
		code = sv_save(path, text, n, err);
	free(text);
	return code;
}

static int take_floor(const struct arguments *a, struct sv_err *err)
{
	struct sv_report_style style = sv_style(a->common.colour);
	struct sv_result *runs[MAX_RUNS] = {NULL};
	struct sv_floor *floor = NULL;
	int code = 0;

	for (size_t i = 0; code == 0 && i < a->n_results; i++)
		code = sv_result_read(a->results[i], &runs[i], err);
	if (code == 0)
		code = sv_floor_estimate((const struct sv_result *const *)runs,
		    a->results, a->n_results, &floor, err);
	if (code == 0 && a->output != NULL)
		code = write_floor(a->output, floor, err);
	if (code == 0 && (a->common.json || a->format == FORMAT_JSON))
		code = sv_print_json(sv_floor_json(floor), stdout, err);
	else if (code == 0)
		sv_report_floor(floor, stdout, &style);
	sv_floor_free(floor);
	for (size_t i = 0; i < a->n_results; i++)
		sv_result_free(runs[i]);
	return code == 0 ? 0 : sv_complain(err);
}

static const struct argp_option options[] = {
    {"alpha", 'a', "P", 0, "level of significance (0.05)", 0},
    {"min-effect", 'e', "R", 0,
	"smallest relative difference that matters (0.02; the clock allows "
	"0.005); a latency is the same until it can differ by 0.05",
	0},
    {"sort", KEY_SORT, "ORDER", 0,
	"id (by bench), worst or best: which come first", 0},
    {"fail-on", 'f', "regression", 0, "exit with 1 when B is slower anywhere",
	0},
    {"format", 'F', "FORMAT", 0, "table, markdown, csv or json (table)", 0},
    {"control", KEY_CONTROL, "PATTERN", 0,
	"ids that must not move, beside null: where one does, nothing holds",
	0},
    {"with-floor", KEY_WITH_FLOOR, "FILE", 0,
	"count nothing below what the machine's own runs differ by; once for "
	"each machine",
	0},
    {"floor", KEY_FLOOR, NULL, 0,
	"take the floor of a machine from two runs of it or more", 1},
    {"output", 'o', "FILE", 0, "where to store the floor", 1}, {0}};

int sv_command_compare(int argc, char **argv)
{
	static const struct argp_child children[] = {
	    {&sv_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "A B\n--floor RUN RUN...",
	    .doc =
		"Pairs the figures of two results and judges each difference: "
		"faster, slower, same, or unclear with a reason. A ratio "
		"above 1 means that B is better."
		"\vFor example:\n  stave compare old.json new.json\n"
		"  stave compare old.json new.json --format markdown\n"
		"  stave compare --floor run1.json run2.json run3.json -o "
		"floor.json\n"
		"  stave compare old.json new.json --with-floor floor.json\n"
		"  stave compare old.json new.json --fail-on regression",
	    .children = children};
	struct arguments a = {.options = {0.05, 0.02, SV_SORT_ID, NULL, NULL}};
	struct sv_err err;
	int status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	return a.floor ? take_floor(&a, &err) : compare(&a, &err);
}
