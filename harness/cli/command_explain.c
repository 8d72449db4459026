/* stave explain: why B wins or loses against A on a workload. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "explain.h"
#include "result.h"
#include "workload.h"

#define MAX_SETTINGS  64
#define MAX_WORKLOADS 64

enum {
	KEY_WORKLOAD = 'w',
	KEY_BATCH = 'b',
	KEY_PRECISION = 'p',
	KEY_SET = 's',
	KEY_SET_A = 0x200,
	KEY_SET_B,
	KEY_WHAT_IF,
	KEY_ALL_BATCHES,
};

/* One --set, --set-a or --set-b; on both sides unless one is named. */
struct setting {
	struct sv_supposition pair;
	bool on_a, on_b;
};

struct arguments {
	struct sv_common common;
	const char *results[2];
	int n_results;
	const char *workloads[MAX_WORKLOADS];
	size_t n_workloads;
	struct setting settings[MAX_SETTINGS];
	size_t n_settings;
	struct sv_supposition what_if[MAX_SETTINGS];
	size_t n_what_if;
	bool all_batches;
};

/* Split KEY=VALUE in place. */
static error_t parse_pair(const struct argp_state *state, const char *option,
    char *word, struct sv_supposition *out)
{
	char *equals = strchr(word, '=');

	if (equals == NULL || equals == word || equals[1] == '\0')
		return sv_wrong(
		    state, "%s \"%.60s\": expected KEY=VALUE", option, word);
	*equals = '\0';
	*out = (struct sv_supposition){word, equals + 1};
	return 0;
}

static error_t add_setting(const struct argp_state *state, struct arguments *a,
    const struct setting *s)
{
	if (a->n_settings == MAX_SETTINGS)
		return sv_wrong(
		    state, "expected at most %d settings", MAX_SETTINGS);
	a->settings[a->n_settings++] = *s;
	return 0;
}

static error_t parse_setting(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	struct setting s = {.on_a = key != KEY_SET_B, .on_b = key != KEY_SET_A};
	const char *option = key == KEY_SET_A	? "--set-a"
			     : key == KEY_SET_B ? "--set-b"
						: "--set";
	error_t wrong = 0;

	if (key == KEY_BATCH)
		s.pair = (struct sv_supposition){"batch", arg};
	else if (key == KEY_PRECISION)
		s.pair = (struct sv_supposition){"precision", arg};
	else
		wrong = parse_pair(state, option, arg, &s.pair);
	return wrong != 0 ? wrong : add_setting(state, a, &s);
}

static error_t parse_what_if(char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	if (a->n_what_if == MAX_SETTINGS)
		return sv_wrong(
		    state, "expected at most %d suppositions", MAX_SETTINGS);
	return parse_pair(state, "--what-if", arg, &a->what_if[a->n_what_if++]);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case KEY_WORKLOAD:
		if (a->n_workloads == MAX_WORKLOADS)
			return sv_wrong(state, "expected at most %d workloads",
			    MAX_WORKLOADS);
		a->workloads[a->n_workloads++] = arg;
		return 0;
	case KEY_BATCH:
	case KEY_PRECISION:
	case KEY_SET:
	case KEY_SET_A:
	case KEY_SET_B:
		return parse_setting(key, arg, state);
	case KEY_WHAT_IF:
		return parse_what_if(arg, state);
	case KEY_ALL_BATCHES:
		a->all_batches = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n_results == 2)
			return sv_wrong(state, "expected two results, A and B");
		a->results[a->n_results++] = arg;
		return 0;
	case ARGP_KEY_END:
		return a->n_results == 2
			   ? 0
			   : sv_wrong(state, "expected two results, A and B");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A batch or a precision is another measured step, not another workload. */
static bool alters(const struct setting *s)
{
	return strcmp(s->pair.key, "batch") != 0 &&
	       strcmp(s->pair.key, "precision") != 0;
}

/* Explanation of one workload; the two workloads are the caller's to free. */
struct explained {
	struct sv_workload *a, *b;
	struct sv_explanation *x;
};

static void free_explained(struct explained *e)
{
	sv_explanation_free(e->x);
	sv_workload_free(e->a);
	sv_workload_free(e->b);
}

static int explain_one(const struct arguments *a,
    struct sv_result *const results[2], const char *workload,
    struct explained *e, struct sv_err *err)
{
	struct sv_explain_request request = {.a = results[0],
	    .b = results[1],
	    .what_if = a->what_if,
	    .n_what_if = a->n_what_if,
	    .all_batches = a->all_batches,
	    .draws = SV_EXPLAIN_DRAWS};
	int code = sv_workload_read(workload, &e->a, err);

	if (code == 0)
		code = sv_workload_copy(e->a, &e->b, err);
	for (size_t i = 0; code == 0 && i < a->n_settings; i++) {
		const struct setting *s = &a->settings[i];

		if (s->on_a)
			code = sv_workload_set(
			    e->a, s->pair.key, s->pair.value, err);
		if (code == 0 && s->on_b)
			code = sv_workload_set(
			    e->b, s->pair.key, s->pair.value, err);
		request.altered = request.altered || alters(s);
	}
	request.workload_a = e->a;
	request.workload_b = e->b;
	return code != 0 ? code : sv_explain(&request, &e->x, err);
}

static int print_json(
    const struct explained *list, size_t n, struct sv_err *err)
{
	json_t *tree = n == 1 ? NULL : json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *one = sv_explanation_json(list[i].x);

		if (n == 1) {
			tree = one;
		} else if (json_array_append_new(tree, one) != 0) {
			json_decref(tree);
			tree = NULL;
		}
	}
	return sv_print_json(tree, stdout, err);
}

/* How far a workload is from a draw. */
static double distance(const struct explained *e)
{
	return fabs(log(e->x->speedup));
}

/* All in a line each, and the two that differ most in full. */
static void print_all(
    const struct arguments *a, const struct explained *list, size_t n)
{
	struct sv_report_style style = sv_style(a->common.colour);
	const struct sv_explanation *lines[MAX_WORKLOADS];
	size_t most = 0, second;

	if (n == 1) {
		sv_report_explanation(list[0].x, stdout, &style);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		lines[i] = list[i].x;
		if (distance(&list[i]) > distance(&list[most]))
			most = i;
	}
	second = most == 0 ? 1 : 0;
	for (size_t i = 0; i < n; i++)
		if (i != most && distance(&list[i]) > distance(&list[second]))
			second = i;
	sv_report_explanations(lines, n, stdout, &style);
	fputc('\n', stdout);
	sv_report_explanation(list[most].x, stdout, &style);
	fputc('\n', stdout);
	sv_report_explanation(list[second].x, stdout, &style);
}

static int explain_each(const struct arguments *a, char *const *names, size_t n,
    struct sv_result *const results[2], struct sv_err *err)
{
	struct explained *list = calloc(n + 1, sizeof *list);
	int code = 0;

	if (list == NULL)
		return sv_err_set(err, SV_ERESOURCE, "explain: out of memory");
	for (size_t i = 0; code == 0 && i < n; i++)
		code = explain_one(a, results, names[i], &list[i], err);
	if (code == 0 && a->common.json)
		code = print_json(list, n, err);
	else if (code == 0)
		print_all(a, list, n);
	for (size_t i = 0; i < n; i++)
		free_explained(&list[i]);
	free(list);
	return code;
}

static int explain(struct arguments *a, struct sv_err *err)
{
	struct sv_result *results[2] = {NULL, NULL};
	char **shipped = NULL;
	char *named[MAX_WORKLOADS + 1] = {NULL};
	size_t n = a->n_workloads;
	int code = sv_result_read(a->results[0], &results[0], err);

	if (code == 0)
		code = sv_result_read(a->results[1], &results[1], err);
	for (size_t i = 0; i < n; i++)
		named[i] = (char *)(uintptr_t)a->workloads[i];
	if (code == 0 && n == 0) {
		code = sv_workload_shipped(&shipped, err);
		while (code == 0 && shipped[n] != NULL && n < MAX_WORKLOADS)
			n++;
		if (code == 0 && n == 0)
			code = sv_err_set(err, SV_EINPUT,
			    "explain: no workload is shipped with this build: "
			    "name a file with --workload");
	}
	if (code == 0)
		code = explain_each(
		    a, shipped != NULL ? shipped : named, n, results, err);
	free(shipped);
	sv_result_free(results[0]);
	sv_result_free(results[1]);
	return code != 0 ? sv_complain(err) : 0;
}

int sv_command_explain(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"workload", KEY_WORKLOAD, "NAME|FILE", 0,
		"what is trained: a shipped workload (stave list workloads) "
		"or a file; may be given again (all that are shipped)",
		0},
	    {"batch", KEY_BATCH, "N", 0, "samples a step", 0},
	    {"precision", KEY_PRECISION, "P", 0,
		"fp32, tf32, fp16, bf16 or amp", 0},
	    {"set", KEY_SET, "KEY=VALUE", 0,
		"another value for a field of the workload", 0},
	    {"set-a", KEY_SET_A, "KEY=VALUE", 0, "the same, on A alone", 0},
	    {"set-b", KEY_SET_B, "KEY=VALUE", 0, "the same, on B alone", 0},
	    {"what-if", KEY_WHAT_IF, "KEY=VALUE", 0,
		"what B would do with link=4x16, graphs=on, a field of the "
		"workload such as memory=pinned or batch=64, or a component "
		"of A: transfer=a",
		0},
	    {"all-batches", KEY_ALL_BATCHES, NULL, 0,
		"every power of two in the table by batch", 0},
	    {0}};
	static const struct argp_child children[] = {
	    {&sv_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "A B",
	    .doc = "Says why B wins or loses against A on a workload: each "
		   "part's share of the difference, what holds B back, what "
		   "was ruled out, and what mending it would gain."
		   "\vFor example:\n"
		   "  stave explain old.json new.json --workload "
		   "resnet50-train\n"
		   "  stave explain old.json new.json --workload mine.json "
		   "--batch 32 --what-if link=4x16",
	    .children = children};
	struct arguments *a = calloc(1, sizeof *a);
	struct sv_err err;
	int status;

	if (a == NULL) {
		sv_err_set(&err, SV_ERESOURCE, "explain: out of memory");
		return sv_complain(&err);
	}
	status = sv_parse(&argp, argc, argv, a);
	status = status != 0 ? status - 1 : explain(a, &err);
	free(a);
	return status;
}
