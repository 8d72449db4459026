/*
 * The worker program: one process, one benchmark, as stave/wire.h says. Only
 * here does a worker exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "axes.h"
#include "context.h"
#include "cores.h"
#include "dataset.h"
#include "emit.h"
#include "stave/bench.h"
#include "stave/version.h"
#include "stave/wire.h"
#include "tasks.h"

#define MAX_DEVICES 64

static const char *const level_names[] = {"quick", "standard", "full"};

struct request {
	const char *mode; /* describe, devices, plan, or a benchmark */
	const char *device;
	struct sv_place place;
	enum sv_level level;
	uint64_t round, seed;
	struct sv_tasks tasks;
	bool timeline;
	char **cases;
	size_t n_cases;
};

static void hello(json_t *take_more)
{
	json_t *message = json_pack("{s:i, s:i, s:s, s:s}", "protocol",
	    SV_WIRE_PROTOCOL, "pid", (int)getpid(), "backend", sv_backend->name,
	    "version", SV_VERSION);

	json_object_update(message, take_more);
	json_decref(take_more);
	sv_emit("hello", message);
}

static json_t *metrics_tree(const struct sv_bench *bench)
{
	json_t *list = json_array();

	for (size_t i = 0; i < bench->n_metrics; i++)
		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:s, s:s}", "name",
			bench->metrics[i].name, "unit", bench->metrics[i].unit,
			"better",
			bench->metrics[i].higher_is_better ? "higher" : "lower",
			"summary", bench->metrics[i].summary));
	return list;
}

static json_t *axis_tree(const struct sv_axis *axis)
{
	json_t *values = json_array();

	for (size_t i = 0; i < axis->n_values; i++)
		json_array_append_new(
		    values, json_pack("{s:o, s:s}", "value",
				axis->values[i].text != NULL
				    ? json_string(axis->values[i].text)
				    : json_integer(axis->values[i].number),
				"level", level_names[axis->values[i].level]));
	return json_pack("{s:s, s:o}", "name", axis->name, "values", values);
}

static json_t *groups_tree(const struct sv_bench *bench)
{
	json_t *list = json_array();

	for (size_t g = 0; g < bench->n_groups; g++) {
		const struct sv_group *group = &bench->groups[g];
		json_t *metrics = json_array(), *axes = json_array();

		for (size_t i = 0; group->metrics[i] != NULL; i++)
			json_array_append_new(
			    metrics, json_string(group->metrics[i]));
		for (size_t i = 0; i < group->n_axes; i++)
			json_array_append_new(axes, axis_tree(&group->axes[i]));
		json_array_append_new(list,
		    json_pack("{s:o, s:o}", "metrics", metrics, "axes", axes));
	}
	return list;
}

static int describe(void)
{
	json_t *benches = json_array();

	for (size_t i = 0; i < sv_benches_count; i++)
		json_array_append_new(
		    benches, json_pack("{s:s, s:s, s:s, s:o, s:o}", "name",
				 sv_benches[i]->name, "question",
				 sv_benches[i]->question, "source",
				 sv_benches[i]->source, "metrics",
				 metrics_tree(sv_benches[i]), "groups",
				 groups_tree(sv_benches[i])));
	hello(json_pack("{s:o}", "benches", benches));
	sv_emit("bye", NULL);
	return 0;
}

/* Tell why the device cannot be used; the process's exit status. */
static int refuse(const struct sv_err *err)
{
	fprintf(stderr, "%s\n", err->text);
	sv_emit("error",
	    json_pack("{s:s, s:s}", "reason", err->text, "code", "device"));
	sv_emit("bye", NULL);
	return sv_err_exit_status(SV_EDEVICE);
}

static json_t *text_or_null(const char *text)
{
	return text[0] != '\0' ? json_string(text) : json_null();
}

static int devices(void)
{
	static struct sv_device_entry entries[MAX_DEVICES];
	json_t *list = json_array();
	struct sv_err err;
	size_t n = 0;

	if (sv_backend->list(entries, MAX_DEVICES, &n, &err) != 0) {
		json_decref(list);
		hello(json_pack("{s:[]}", "devices"));
		return refuse(&err);
	}
	for (size_t i = 0; i < n && i < MAX_DEVICES; i++)
		json_array_append_new(
		    list, json_pack("{s:i, s:s, s:o, s:o, s:b, s:o}", "index",
			      entries[i].index, "name", entries[i].name, "uuid",
			      text_or_null(entries[i].uuid), "pci_address",
			      text_or_null(entries[i].pci_address), "usable",
			      entries[i].usable, "reason",
			      text_or_null(entries[i].reason)));
	hello(json_pack("{s:o}", "devices", list));
	sv_emit("bye", NULL);
	return 0;
}

static const char *skip_code(int code)
{
	return code == SV_EUNSUPPORTED	? SV_SKIP_UNSUPPORTED
	       : code == SV_EPERMISSION ? SV_SKIP_NO_PERMISSION
	       : code == SV_ERESOURCE	? SV_SKIP_NO_MEMORY
					: SV_SKIP_FAULT;
}

static void skip(const struct sv_case *c, const struct sv_err *err)
{
	json_t *message = sv_emit_case(c);

	json_object_set_new(message, "reason", json_string(err->text));
	json_object_set_new(message, "code", json_string(skip_code(err->code)));
	sv_emit("skip", message);
}

static int plan_case(void *state, const struct sv_case *c)
{
	struct sv_device *device = state;
	struct sv_err err = {0};
	struct sv_cost cost = c->bench->cost(c);
	json_t *metrics, *message;

	switch (c->bench->supported(device, c, &err)) {
	case 0:
		break;
	case SV_EUSAGE:
		return 0;
	default:
		skip(c, &err);
		return 0;
	}
	message = sv_emit_case(c);
	metrics = json_array();
	for (size_t i = 0; c->group->metrics[i] != NULL; i++)
		json_array_append_new(
		    metrics, json_string(c->group->metrics[i]));
	json_object_set_new(message, "metrics", metrics);
	if (c->bench->files)
		json_object_set_new(message, "files", json_true());
	json_object_set_new(message, "bytes", json_real(cost.bytes));
	json_object_set_new(message, "flop", json_real(cost.flop));
	sv_emit("case", message);
	return 0;
}

static void plan(const struct request *request, struct sv_device *device)
{
	for (size_t i = 0; i < sv_benches_count; i++)
		sv_axes_each(sv_benches[i], request->level, &request->place,
		    plan_case, device);
}

/*
 * Run a case and ask the device how it stands afterwards. *lost: no further
 * case can be measured by this process.
 */
static int run_case(struct sv_bench_context *context, const struct sv_case *c,
    bool *lost, struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	struct sv_err late = {0};
	int code = c->bench->supported(device, c, err), settled = 0;

	if (code == 0)
		code = c->bench->run(context, c, err);
	if (device->ops->settle != NULL)
		settled = device->ops->settle(device, &late);
	*lost = settled == SV_EDEVICE;
	if (code == 0 && settled != 0)
		code = sv_err_set(err, settled, "%s", late.text);
	return code;
}

/*
 * Measure one case named on the command line, CASE[@INNER]. False when this
 * process can measure no more.
 */
static bool measure(struct sv_bench_context *context,
    const struct sv_bench *bench, const struct request *request, char *name)
{
	bool lost = false;
	struct sv_err err = {0};
	struct sv_case c;
	char *at = strrchr(name, '@');
	uint64_t inner = 0;
	int code;

	if (at != NULL) {
		*at = '\0';
		inner = strtoull(at + 1, NULL, 10);
	}
	code = sv_axes_find(
	    bench, name, request->level, &request->place, &c, &err);
	if (code == 0) {
		c.inner = inner;
		sv_emit("case", sv_emit_case(&c));
		sv_context_begin(context, &c);
		code = run_case(context, &c, &lost, &err);
	}
	if (code == 0)
		return !lost;
	fprintf(stderr, "%s: %s\n", name, err.text);
	if (code == SV_EUNSUPPORTED || code == SV_EPERMISSION ||
	    code == SV_ERESOURCE)
		skip(&c, &err);
	else
		sv_emit("error", json_pack("{s:s, s:s}", "reason", err.text,
				     "code", sv_err_name(code)));
	return !lost;
}

struct runner {
	struct sv_bench_context *context;
	const struct request *request;
};

static int measure_each(void *state, const struct sv_case *c)
{
	struct runner *runner = state;
	char id[SV_CASE_ID_BYTES];

	sv_axes_id(c, id);
	return measure(runner->context, c->bench, runner->request, id)
		   ? 0
		   : SV_EDEVICE;
}

static int run_bench(const struct request *request,
    const struct sv_bench *bench, struct sv_device *device, bool *lost)
{
	/* Another seed in every round, the same one in a repeated run. */
	uint64_t seed = request->seed + request->round * 0x9e3779b97f4a7c15u;
	struct runner runner = {
	    sv_context_new(device, request->level, seed, request->timeline),
	    request};

	if (runner.context == NULL) {
		fprintf(stderr, "out of memory\n");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; !*lost && i < request->n_cases; i++)
		*lost =
		    !measure(runner.context, bench, request, request->cases[i]);
	if (request->n_cases == 0)
		*lost = sv_axes_each(bench, request->level, &request->place,
			    measure_each, &runner) != 0;
	sv_context_free(runner.context);
	return 0;
}

static int with_device(struct request *request, const struct sv_bench *bench)
{
	struct sv_device *device;
	struct sv_err err = {0};
	bool lost = false;
	int status = 0;

	if (sv_backend->open(&device, request->device, &err) != 0) {
		hello(NULL);
		return refuse(&err);
	}
	sv_tasks_settle(&request->tasks, device);
	/* A plan tells the library's version, which opening it tells. */
	if (bench == NULL)
		(void)device->ops->can_precision(device, SV_FP32, &err);
	hello(json_pack("{s:o}", "device", sv_emit_device(device)));
	if (bench == NULL) {
		plan(request, device);
		lost = device->ops->settle != NULL &&
		       device->ops->settle(device, &err) == SV_EDEVICE;
	} else {
		status = run_bench(request, bench, device, &lost);
	}
	device->ops->close(device);
	sv_emit("bye", lost ? json_pack("{s:b}", "lost", 1) : NULL);
	return status;
}

static int usage(const char *program, const char *what)
{
	fprintf(stderr,
	    "%s: %s\n"
	    "usage: %s describe | devices\n"
	    "       %s plan [--device SEL] [--profile P] [--storage-path DIR] "
	    "[--task TASK]...\n"
	    "       %s BENCH [--device SEL] [--profile P] [--round N] "
	    "[--seed N]\n"
	    "           [--storage-path DIR] [--task TASK]... [--timeline] "
	    "[CASE[@INNER]]...\n"
	    "Messages go to file descriptor 3; by hand: %s null 3>&1\n",
	    program, what, program, program, program, program);
	return sv_err_exit_status(SV_EUSAGE);
}

/* 0, or what is wrong with the command line; err has room for the words. */
static const char *parse(
    int argc, char **argv, struct request *request, struct sv_err *err)
{
	static const struct option options[] = {
	    {"device", required_argument, NULL, 'd'},
	    {"profile", required_argument, NULL, 'p'},
	    {"round", required_argument, NULL, 'r'},
	    {"seed", required_argument, NULL, 's'},
	    {"storage-path", required_argument, NULL, 'f'},
	    {"task", required_argument, NULL, 't'},
	    {"timeline", no_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
	int option, level;

	*request = (struct request){.level = SV_STANDARD};
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'd':
			request->device = optarg;
			break;
		case 'p':
			for (level = 0; level < 3; level++)
				if (strcmp(level_names[level], optarg) == 0)
					break;
			if (level == 3)
				return "profile: expected quick, standard or "
				       "full";
			request->level = (enum sv_level)level;
			break;
		case 'r':
			request->round = strtoull(optarg, NULL, 10);
			break;
		case 's':
			request->seed = strtoull(optarg, NULL, 10);
			break;
		case 'f':
			request->place.folder = optarg;
			break;
		case 't':
			if (sv_tasks_add(&request->tasks, optarg, err) != 0)
				return err->text;
			break;
		case 'l':
			request->timeline = true;
			break;
		default:
			return "unknown option";
		}
	}
	if (optind >= argc)
		return "expected a mode or a benchmark";
	request->mode = argv[optind];
	request->cases = argv + optind + 1;
	request->n_cases = (size_t)(argc - optind - 1);
	return NULL;
}

static int serve(struct request *request, const char *program)
{
	if (strcmp(request->mode, "describe") == 0)
		return describe();
	if (strcmp(request->mode, "devices") == 0)
		return devices();
	if (strcmp(request->mode, "plan") == 0)
		return with_device(request, NULL);
	for (size_t i = 0; i < sv_benches_count; i++)
		if (strcmp(sv_benches[i]->name, request->mode) == 0)
			return with_device(request, sv_benches[i]);
	return usage(program, "no such benchmark");
}

int main(int argc, char **argv)
{
	struct request request;
	struct sv_err err = {0};
	const char *wrong = parse(argc, argv, &request, &err);
	int status;

	if (wrong == NULL && fcntl(SV_WIRE_FD, F_GETFD) < 0)
		wrong = "file descriptor 3 is closed";
	if (wrong != NULL) {
		status = usage(argv[0], wrong);
		sv_tasks_fini(&request.tasks);
		return status;
	}
	/* A harness that is killed must not leave a worker behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	request.place.cores = sv_cores_usable(&request.place.cpus);
	request.place.cold = request.place.folder == NULL ||
			     sv_dataset_can_drop(request.place.folder);
	request.place.tasks = &request.tasks;
	status = serve(&request, argv[0]);
	sv_tasks_fini(&request.tasks);
	return status;
}
