/*
 * The run itself: prepared or taken up again, carried out round by round,
 * ended. Signals are held off for its time, so that a worker is never left
 * and a record never torn.
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "attend.h"
#include "run_state.h"

const char *sv_run_option(const struct sv_run_state *run, const char *name)
{
	return json_string_value(json_object_get(run->header, name));
}

bool sv_run_is_of_task(json_t *params)
{
	return json_object_get(params, "workload") != NULL;
}

void sv_run_note(const struct sv_run_state *run, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (run->listener == NULL || run->listener->note == NULL)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	run->listener->note(run->listener->data, text);
}

size_t sv_run_count_done(const struct sv_run_state *run)
{
	size_t done = 0;

	for (size_t i = 0; i < run->plan.n_cases; i++) {
		const struct sv_planned *c = &run->plan.cases[i];

		for (unsigned r = 0; r < run->plan.rounds; r++)
			done += c->out || c->done[r];
	}
	return done;
}

int sv_run_apply(struct sv_run_state *run, json_t *record, struct sv_err *err)
{
	const char *id = json_string_value(json_object_get(record, "case"));
	const char *outcome =
	    json_string_value(json_object_get(record, "outcome"));
	json_int_t round = json_integer_value(json_object_get(record, "round"));
	struct sv_planned *c = id == NULL ? NULL : sv_plan_find(&run->plan, id);
	json_t *samples = json_array_get(json_object_get(record, "metrics"), 0);

	if (c == NULL || outcome == NULL || round < 1 ||
	    round > (json_int_t)run->plan.rounds)
		return sv_err_set(err, SV_EINPUT,
		    "a record of a case or round that the plan lacks: "
		    "\"%.100s\"",
		    id != NULL ? id : "");
	c->done[round - 1] = 1;
	c->out = c->out || strcmp(outcome, "measured") != 0;
	if (c->inner == 0)
		c->inner = (uint64_t)json_integer_value(
		    json_object_get(samples, "inner"));
	return 0;
}

const char *sv_run_now(char out[32])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return out;
}

static void block_signals(struct sv_run_state *run)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	sigprocmask(SIG_BLOCK, &stop, &run->old_mask);
	run->signal_fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Eat what came in, so that it does not strike once unblocked. */
static void restore_signals(struct sv_run_state *run)
{
	struct signalfd_siginfo info;

	while (run->signal_fd >= 0 &&
	       read(run->signal_fd, &info, sizeof info) == sizeof info)
		run->interrupted = true;
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

/*
 * A folder for the files of the cases that need some. Without one they are
 * skipped, and the others measured. Leftovers of runs that were killed go in
 * any case.
 */
static void make_folder(struct sv_run_state *run)
{
	const char *parent = sv_run_option(run, "storage_path");
	bool needed = false;
	struct sv_err err;
	unsigned removed;

	if (parent == NULL)
		return;
	removed = sv_scratch_sweep(parent);
	if (removed > 0)
		sv_run_note(run,
		    "removed the measuring files of %u killed run%s in %s",
		    removed, removed == 1 ? "" : "s", parent);
	for (size_t i = 0; i < run->plan.n_cases; i++)
		needed = needed || run->plan.cases[i].files;
	if (needed && sv_scratch_open(&run->scratch, parent, &err) != 0)
		sv_run_note(run, "no storage is measured: %s", err.text);
}

/* Measure what the plan still lacks, and put the result together. */
static int carry_out(struct sv_run_state *run, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err)
{
	int code = 0;

	*outcome = (struct sv_run_outcome){0};
	make_folder(run);
	run->started_ns = sv_monotonic_ns();
	run->done_before = sv_run_count_done(run);
	sv_spawn_adopt(true);
	for (unsigned round = 1;
	     code == 0 && round <= run->plan.rounds && !run->interrupted;
	     round++)
		code = sv_run_round(run, round, err);
	sv_spawn_adopt(false);
	sv_scratch_close(&run->scratch);
	return code != 0 ? code : sv_run_finish(run, out, outcome, err);
}

static void end_run(struct sv_run_state *run, bool complete)
{
	sv_journal_close(&run->journal, complete);
	sv_plan_fini(&run->plan);
	sv_machine_close(run->machine);
	json_decref(run->header);
	json_decref(run->records);
}

int sv_run(const struct sv_run_options *options,
    const struct sv_run_listener *listener, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err)
{
	struct sv_run_state run = {.listener = listener,
	    .records = json_array(),
	    .journal = {.fd = -1, .lock_fd = -1},
	    .signal_fd = -1};
	json_t *cases = json_array(), *skipped = json_array();
	int code = sv_machine_open(
	    options->storage_path != NULL ? options->storage_path : ".",
	    &run.machine, err);

	block_signals(&run);
	if (code == 0)
		code = sv_run_prepare(&run, options, cases, skipped, err);
	if (code == 0)
		code = sv_plan_init(&run.plan, cases,
		    (unsigned)json_integer_value(
			json_object_get(run.header, "rounds")),
		    err);
	if (code == 0)
		code = carry_out(&run, out, outcome, err);
	restore_signals(&run);
	end_run(&run, code == 0 && !run.interrupted);
	json_decref(cases);
	json_decref(skipped);
	return code;
}

/* A record of the journal, of which the header is line 1. */
static int apply_stored(struct sv_run_state *run, const char *part_dir,
    json_t *record, size_t index, struct sv_err *err)
{
	struct sv_err why = {0};
	int code = sv_run_apply(run, record, &why);

	return code == 0
		   ? 0
		   : sv_err_set(err, code, "%s/journal.ndjson: line %zu: %s",
			 part_dir, index + 2, why.text);
}

int sv_run_resume(const char *part_dir, const struct sv_run_listener *listener,
    struct sv_result **out, struct sv_run_outcome *outcome, struct sv_err *err)
{
	struct sv_run_state run = {.listener = listener,
	    .journal = {.fd = -1, .lock_fd = -1},
	    .signal_fd = -1};
	json_t *cases, *record;
	size_t i;
	int code = sv_machine_open(".", &run.machine, err);

	block_signals(&run);
	if (code == 0)
		code = sv_journal_open(
		    &run.journal, part_dir, &run.header, &run.records, err);
	if (code == 0)
		code = sv_run_check_header(&run, err);
	cases = json_object_get(run.header, "cases");
	if (code == 0)
		code = sv_plan_init(&run.plan, cases,
		    (unsigned)json_integer_value(
			json_object_get(run.header, "rounds")),
		    err);
	json_array_foreach (run.records, i, record)
		if (code == 0)
			code = apply_stored(&run, part_dir, record, i, err);
	if (code == 0)
		code = carry_out(&run, out, outcome, err);
	restore_signals(&run);
	end_run(&run, code == 0 && !run.interrupted);
	return code;
}
