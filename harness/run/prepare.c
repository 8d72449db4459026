/*
 * Before anything is measured: which backend, which cases, where the result
 * goes, and whether an unfinished run can be carried on here.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "run_state.h"
#include "stave/version.h"
#include "timeline.h"

int sv_run_choose(struct sv_run_state *run,
    const struct sv_run_options *options, const char **chosen,
    struct sv_err *err)
{
	const char *const *backends = sv_run_backends();
	struct sv_err cause;
	json_t *messages;

	*chosen = options->backend;
	if (strcmp(options->backend, "auto") != 0)
		return 0;
	if (backends[0] == NULL)
		return sv_err_set(err, SV_EDEVICE,
		    "no worker is installed beside this program");
	for (; backends[0] != NULL && backends[1] != NULL; backends++) {
		bool usable = false;
		json_t *devices, *device;
		size_t i;

		const struct sv_question question = {.backend = backends[0],
		    .mode = "devices",
		    .profile = options->profile};

		if (sv_run_ask(&question, &messages, &cause) != 0) {
			sv_run_note(run, "%s backend not used: %s", backends[0],
			    cause.text);
			continue;
		}
		devices =
		    json_object_get(json_array_get(messages, 0), "devices");
		json_array_foreach (devices, i, device)
			usable = usable || json_is_true(json_object_get(
					       device, "usable"));
		json_decref(messages);
		if (usable)
			break;
		sv_run_note(run, "%s backend not used: it has no usable device",
		    backends[0]);
	}
	*chosen = backends[0];
	if (backends == sv_run_backends() && strcmp(backends[0], "host") == 0)
		sv_run_note(
		    run, "host backend: this build has no worker for a GPU");
	else
		sv_run_note(run, "%s backend", backends[0]);
	return 0;
}

/* A name that fits no case is a slip of the pen, and said so. */
static int check_patterns(json_t *messages, const char *const *patterns,
    const char *what, struct sv_err *err)
{
	for (; patterns != NULL && *patterns != NULL; patterns++) {
		const char *const one[] = {*patterns, NULL};
		char names[512] = "";
		const char *last = "";
		bool found = false;
		json_t *message;
		size_t i;

		json_array_foreach (messages, i, message) {
			const char *bench = json_string_value(
			    json_object_get(message, "bench"));
			const char *id =
			    json_string_value(json_object_get(message, "id"));

			if (bench == NULL || id == NULL)
				continue;
			found = found || sv_plan_wants(bench, id, one, NULL);
			if (strcmp(bench, last) != 0)
				snprintf(names + strlen(names),
				    sizeof names - strlen(names), "%s%s",
				    names[0] != '\0' ? ", " : "", bench);
			last = bench;
		}
		if (!found)
			return sv_err_set(err, SV_EUSAGE,
			    "%s \"%.60s\": no benchmark or case of this "
			    "profile fits; benchmarks: %s",
			    what, *patterns, names);
	}
	return 0;
}

static bool is_type(json_t *message, const char *type)
{
	const char *name = json_string_value(json_object_get(message, "type"));

	return name != NULL && strcmp(name, type) == 0;
}

/* Split a plan's messages into the cases and the skips that are wanted. */
static void select_cases(json_t *messages, const struct sv_run_options *options,
    json_t *cases, json_t *skipped)
{
	json_t *message;
	size_t i;

	json_array_foreach (messages, i, message) {
		json_t *list = is_type(message, "case")	  ? cases
			       : is_type(message, "skip") ? skipped
							  : NULL;

		if (list == NULL ||
		    !sv_plan_wants(
			json_string_value(json_object_get(message, "bench")),
			json_string_value(json_object_get(message, "id")),
			options->benches, options->skips))
			continue;
		json_object_del(message, "type");
		json_array_append(list, message);
	}
}

/* Whether some case is of a task. */
static bool has_tasks(json_t *cases)
{
	json_t *one;
	size_t i;

	json_array_foreach (cases, i, one)
		if (sv_run_is_of_task(json_object_get(one, "params")))
			return true;
	return false;
}

static json_t *words_tree(const char *const *words)
{
	json_t *list = json_array();

	for (; words != NULL && *words != NULL; words++)
		json_array_append_new(list, json_string(*words));
	return list;
}

static uint64_t draw_seed(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ((uint64_t)t.tv_sec * 1000003u + (uint64_t)t.tv_nsec) >> 1;
}

/* Everything about the run that a resumption needs to know. */
static json_t *make_header(const struct sv_run_options *options,
    const char *backend, const char *storage, json_t *machine, json_t *facts,
    json_t *cases, json_t *skipped)
{
	char host[256], started[32], id[64], seed[32];
	uint64_t chosen = options->seed != 0 ? options->seed : draw_seed();

	sv_machine_host_name(host, sizeof host);
	sv_run_now(started);
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)chosen);
	snprintf(id, sizeof id, "%s-%08x", started,
	    (unsigned)(draw_seed() * 2654435761u));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:s, s:s, s:s, s:s, "
			 "s:s, s:s, s:f, s:i, s:O, s:O, s:O, s:O, s:o, s:s?}",
	    "schema", SV_JOURNAL_SCHEMA, "version", SV_VERSION, "run_id", id,
	    "started", started, "backend", backend, "device", options->device,
	    "profile", sv_profile_name(options->profile), "seed", seed, "label",
	    options->label != NULL ? options->label : host, "output",
	    options->output, "storage_path", storage, "keep",
	    options->keep == SV_KEEP_SUMMARY ? "summary" : "all",
	    "case_timeout_s", options->case_timeout_s, "rounds",
	    (int)(options->rounds != 0 ? options->rounds
				       : sv_profile_rounds(options->profile)),
	    "machine_facts", machine, "device_facts", facts, "cases", cases,
	    "skipped", skipped, "tasks", words_tree(options->tasks), "timeline",
	    options->timeline);
}

/* Refuse an output that cannot be, before anything is measured. */
static int check_output(const char *output, struct sv_err *err)
{
	struct stat info;

	if (stat(output, &info) == 0 && !S_ISREG(info.st_mode))
		return sv_err_set(err, SV_EOUTPUT,
		    "write %s: it exists and is not a regular file", output);
	return 0;
}

/* The folder whose disk is measured, by its full name. */
static int check_storage(
    const char *path, char out[PATH_MAX], struct sv_err *err)
{
	struct stat info;

	if (realpath(path != NULL ? path : ".", out) != NULL &&
	    stat(out, &info) == 0) {
		if (S_ISDIR(info.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	return sv_err_set(err, SV_EUSAGE, "--storage-path \"%.200s\": %s",
	    path != NULL ? path : ".", strerror(errno));
}

int sv_run_prepare(struct sv_run_state *run,
    const struct sv_run_options *options, json_t *cases, json_t *skipped,
    struct sv_err *err)
{
	json_t *messages = NULL, *facts;
	const char *backend;
	char *folder = NULL, storage[PATH_MAX];
	int code;

	if ((code = check_output(options->output, err)) != 0 ||
	    (code = check_storage(options->storage_path, storage, err)) != 0 ||
	    (options->timeline != NULL &&
		(code = sv_timeline_check(options->timeline, err)) != 0) ||
	    (code = sv_run_choose(run, options, &backend, err)) != 0 ||
	    (code = sv_worker_path(backend, run->worker, err)) != 0 ||
	    (code = sv_run_examine(
		 run, options, backend, storage, &messages, err)) != 0)
		return code;
	facts = json_object_get(json_array_get(messages, 0), "device");
	if (!options->patterns_are_wishes &&
	    ((code = check_patterns(
		  messages, options->benches, "--bench", err)) != 0 ||
		(code = check_patterns(
		     messages, options->skips, "--skip", err)) != 0))
		goto free_messages;
	select_cases(messages, options, cases, skipped);
	/* Once, so that the record says what workers will be bound to. */
	sv_machine_bind(run->machine,
	    json_string_value(json_object_get(facts, "pci_address")));
	sv_machine_unbind(run->machine);
	if (json_array_size(cases) == 0 && json_array_size(skipped) == 0) {
		code = sv_err_set(err, SV_EUSAGE, "nothing is left to measure");
		goto free_messages;
	}
	if (options->timeline != NULL && !has_tasks(cases)) {
		code = sv_err_set(err, SV_EUSAGE,
		    "--timeline: it shows training steps, and no case of "
		    "`step` is to be measured");
		goto free_messages;
	}
	run->header = make_header(options, backend, storage,
	    sv_machine_json(run->machine), facts, cases, skipped);
	if (run->header == NULL ||
	    asprintf(&folder, "%s.part", options->output) < 0)
		code = sv_err_set(err, SV_ERESOURCE, "run: out of memory");
	else
		code =
		    sv_journal_create(&run->journal, folder, run->header, err);
	free(folder);

free_messages:
	json_decref(messages);
	return code;
}

static int check_cases(json_t *cases, struct sv_err *err)
{
	json_t *one;
	size_t i;

	json_array_foreach (cases, i, one)
		if (!json_is_string(json_object_get(one, "id")) ||
		    !json_is_string(json_object_get(one, "bench")) ||
		    !json_is_object(json_object_get(one, "params")) ||
		    !json_is_array(json_object_get(one, "metrics")))
			return sv_err_set(err, SV_EINPUT,
			    "journal: line 1: cases[%zu]: expected id, bench, "
			    "params and metrics",
			    i);
	return 0;
}

/* The journal must be of this program and of the device that is here. */
int sv_run_check_header(struct sv_run_state *run, struct sv_err *err)
{
	static const char *const texts[] = {"version", "run_id", "started",
	    "backend", "profile", "seed", "label", "output", "keep"};
	const char *name, *was;
	enum sv_profile profile = SV_PROFILE_QUICK;
	json_t *messages = NULL;
	int code;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (sv_run_option(run, texts[i]) == NULL)
			return sv_err_set(err, SV_EINPUT,
			    "journal: line 1: %s: expected text", texts[i]);
	if (!json_is_array(json_object_get(run->header, "cases")) ||
	    !json_is_object(json_object_get(run->header, "device_facts")) ||
	    !json_is_object(json_object_get(run->header, "machine_facts")) ||
	    json_integer_value(json_object_get(run->header, "rounds")) < 1 ||
	    json_integer_value(json_object_get(run->header, "rounds")) > 10000)
		return sv_err_set(err, SV_EINPUT,
		    "journal: line 1: expected cases, device_facts, "
		    "machine_facts and rounds");
	code = check_cases(json_object_get(run->header, "cases"), err);
	if (code != 0)
		return code;
	if (strcmp(sv_run_option(run, "version"), SV_VERSION) != 0)
		return sv_err_set(err, SV_EINPUT,
		    "journal: it is of stave %.40s, this is %s: measurements "
		    "of two versions are not one run",
		    sv_run_option(run, "version"), SV_VERSION);
	if ((code = sv_profile_parse(
		 sv_run_option(run, "profile"), &profile, err)) != 0 ||
	    (code = sv_worker_path(
		 sv_run_option(run, "backend"), run->worker, err)) != 0 ||
	    (code = sv_run_ask(
		 &(struct sv_question){.backend = sv_run_option(run, "backend"),
		     .mode = "plan",
		     .device = sv_run_option(run, "device"),
		     .profile = profile,
		     .storage_path = sv_run_option(run, "storage_path")},
		 &messages, err)) != 0)
		return code;
	name = json_string_value(sv_result_field(
	    json_object_get(json_array_get(messages, 0), "device"), "name"));
	was = json_string_value(sv_result_field(
	    json_object_get(run->header, "device_facts"), "name"));
	if (name == NULL || was == NULL || strcmp(name, was) != 0)
		code = sv_err_set(err, SV_EINPUT,
		    "journal: it is of device \"%.100s\", here is "
		    "\"%.100s\"",
		    was != NULL ? was : "", name != NULL ? name : "");
	json_decref(messages);
	return code;
}
