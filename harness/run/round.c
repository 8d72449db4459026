/*
 * One round: a fresh process for each benchmark, another one for what a
 * process left undone, and every finished case in the journal before anybody
 * is told of it. What a worker says is collect.c's; how it is held is
 * attend.c's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "attend.h"
#include "collect.h"
#include "run_state.h"

static void tell_progress(
    const struct sv_run_state *run, const char *case_id, unsigned round)
{
	size_t done = sv_run_count_done(run);
	struct sv_run_progress p = {.case_id = case_id,
	    .round = round,
	    .rounds = run->plan.rounds,
	    .done = done,
	    .total = run->plan.n_cases * run->plan.rounds,
	    .elapsed_s = (double)(sv_monotonic_ns() - run->started_ns) * 1e-9,
	    .eta_s = NAN};

	if (run->listener == NULL || run->listener->progress == NULL)
		return;
	if (done > run->done_before)
		p.eta_s = p.elapsed_s / (double)(done - run->done_before) *
			  (double)(p.total - done);
	run->listener->progress(run->listener->data, &p);
}

/* One worker process at its cases of one round. */
struct shift {
	struct sv_run_state *run;
	struct sv_collector collector;
	struct sv_attendance attendance;
	char log_name[128];
	double timeout_s;
	size_t last_at; /* case at which the deadline was last set */
	bool last_open;
	struct sv_err journal_error;
};

/* Journal what is finished, then show it. */
static int keep_finished(struct shift *shift, struct sv_err *err)
{
	json_t *finished = shift->collector.finished, *record;
	struct sv_run_state *run = shift->run;
	size_t i;
	int code = 0;

	json_array_foreach (finished, i, record) {
		const char *outcome =
		    json_string_value(json_object_get(record, "outcome"));
		const char *id =
		    json_string_value(json_object_get(record, "case"));

		code = sv_journal_append(&run->journal, record, err);
		if (code == 0)
			code = sv_run_apply(run, record, err);
		if (code != 0)
			break;
		json_array_append(run->records, record);
		if (strcmp(outcome, "failed") == 0)
			sv_run_note(run, "failed: %s (round %u): %s", id,
			    shift->collector.round,
			    json_string_value(
				json_object_get(record, "reason")));
		tell_progress(run, id, shift->collector.round);
	}
	json_array_clear(finished);
	return code;
}

static int take_wire(
    void *state, const char *bytes, size_t n, struct sv_err *err)
{
	struct shift *shift = state;
	struct sv_collector *c = &shift->collector;
	int code = sv_collector_feed(c, bytes, n, err);
	int kept = keep_finished(shift, &shift->journal_error);

	/* Each case has the whole limit to itself. */
	if (c->at != shift->last_at || c->open != shift->last_open) {
		shift->last_at = c->at;
		shift->last_open = c->open;
		shift->attendance.deadline_ns =
		    sv_deadline_ns(shift->timeout_s);
	}
	return code != 0 ? code : kept;
}

static void take_log(void *state, const char *bytes, size_t n)
{
	struct shift *shift = state;

	sv_journal_log(&shift->run->journal, shift->log_name, bytes, n);
}

/* Record how the process ended where that cost a case. */
static void record_end(struct shift *shift, const struct sv_err *err)
{
	const struct sv_attendance *a = &shift->attendance;
	struct sv_collector *c = &shift->collector;
	char reason[1200];

	switch (a->end) {
	case SV_ATTEND_SIGNAL:
		return;
	case SV_ATTEND_TIMEOUT:
		if (c->ended)
			return;
		snprintf(reason, sizeof reason, "no result within %g s",
		    shift->timeout_s);
		sv_collector_fail(
		    c, reason, "timeout", shift->timeout_s, a->tail);
		return;
	case SV_ATTEND_REFUSED:
		sv_collector_fail(c, err->text, "signal", SIGKILL, a->tail);
		return;
	case SV_ATTEND_CLOSED:
		if (!c->ended)
			sv_collector_fail(c,
			    "the worker closed the wire before it was done",
			    "signal", SIGKILL, a->tail);
		return;
	case SV_ATTEND_EXIT:
		break;
	}
	if (WIFSIGNALED(a->status)) {
		int signal_number = WTERMSIG(a->status);

		snprintf(reason, sizeof reason, "killed by signal %d (%s)",
		    signal_number, strsignal(signal_number));
		sv_collector_fail(c, reason, "signal", signal_number, a->tail);
	} else if (WEXITSTATUS(a->status) != 0) {
		snprintf(reason, sizeof reason,
		    "the worker exited with status %d before it was done",
		    WEXITSTATUS(a->status));
		sv_collector_fail(
		    c, reason, "exit", WEXITSTATUS(a->status), a->tail);
	} else if (!c->ended) {
		sv_collector_fail(c,
		    sv_lines_rest(&c->lines)
			? "the worker ended in the middle of a message"
			: "the worker ended without saying bye",
		    "exit", 0.0, a->tail);
	} else if (c->at < c->n_pending && !c->lost) {
		sv_collector_fail(c,
		    "the worker said bye before it began this case", "exit",
		    0.0, a->tail);
	}
}

/* The worker's command line; malloc'd strings, NULL-ended. */
static char **make_argv(const struct sv_run_state *run,
    struct sv_planned *const *pending, size_t n, unsigned round)
{
	const char *device = sv_run_option(run, "device");
	json_t *tasks = sv_run_is_of_task(pending[0]->params)
			    ? json_object_get(run->header, "tasks")
			    : NULL;
	char **argv = calloc(n + 2 * json_array_size(tasks) + 15, sizeof *argv);
	size_t used = 0, t;
	bool good = argv != NULL;
	json_t *task;

#define WORD(...) \
	(good = good && asprintf(&argv[used], __VA_ARGS__) >= 0 && ++used)
	WORD("%s", run->worker);
	WORD("%s", pending[0]->bench);
	WORD("--profile");
	WORD("%s", sv_run_option(run, "profile"));
	WORD("--round");
	WORD("%u", round);
	WORD("--seed");
	WORD("%s", sv_run_option(run, "seed"));
	if (device != NULL) {
		WORD("--device");
		WORD("%s", device);
	}
	if (pending[0]->files && run->scratch.folder != NULL) {
		WORD("--storage-path");
		WORD("%s", run->scratch.folder);
	}
	json_array_foreach (tasks, t, task) {
		WORD("--task");
		WORD("%s", json_string_value(task));
	}
	/* Once is enough, and the first round has everything. */
	if (tasks != NULL && round == 1 &&
	    sv_run_option(run, "timeline") != NULL)
		WORD("--timeline");
	for (size_t i = 0; i < n; i++) {
		if (pending[i]->inner > 0)
			WORD("%s@%llu", pending[i]->id,
			    (unsigned long long)pending[i]->inner);
		else
			WORD("%s", pending[i]->id);
	}
#undef WORD
	if (good)
		return argv;
	for (size_t i = 0; argv != NULL && i < used; i++)
		free(argv[i]);
	free(argv);
	return NULL;
}

/*
 * One process for the pending cases, which are all of one bench; *taken gets
 * how many of them are on record now, in order.
 */
static int run_worker(struct sv_run_state *run, struct sv_planned **pending,
    size_t n, unsigned round, size_t *taken, struct sv_err *err)
{
	struct shift shift = {.run = run,
	    .timeout_s = json_number_value(
		json_object_get(run->header, "case_timeout_s"))};
	char **argv = make_argv(run, pending, n, round);
	const char *pci = json_string_value(sv_result_field(
	    json_object_get(run->header, "device_facts"), "pci_address"));
	struct sv_err cause = {0};
	int code;

	*taken = 0;
	if (argv == NULL)
		return sv_err_set(err, SV_ERESOURCE, "run: out of memory");
	code = sv_collector_init(&shift.collector, pending, n, round, err);
	if (code != 0)
		goto free_argv;
	snprintf(shift.log_name, sizeof shift.log_name, "%.80s-%u",
	    pending[0]->bench, round);
	shift.attendance = (struct sv_attendance){.path = run->worker,
	    .argv = argv,
	    .signal_fd = run->signal_fd,
	    .deadline_ns = sv_deadline_ns(shift.timeout_s),
	    .state = &shift,
	    .take = take_wire,
	    .log = take_log};
	sv_machine_bind(run->machine, pci);
	code = sv_attend(&shift.attendance, &cause);
	sv_machine_unbind(run->machine);
	if (code != 0) {
		code = sv_err_set(err, code, "%s", cause.text);
	} else if (shift.journal_error.code != 0) {
		code = sv_err_set(err, shift.journal_error.code, "%s",
		    shift.journal_error.text);
	} else {
		run->interrupted = shift.attendance.end == SV_ATTEND_SIGNAL;
		record_end(&shift, &cause);
		code = keep_finished(&shift, err);
	}
	*taken = shift.collector.at;

free_argv:
	sv_collector_fini(&shift.collector);
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
	return code;
}

/* All that is pending of one bench in one round, however many processes. */
static int run_bench(struct sv_run_state *run, struct sv_planned **pending,
    size_t n, unsigned round, struct sv_err *err)
{
	int code = 0;

	for (size_t at = 0; code == 0 && at < n && !run->interrupted;) {
		size_t taken;

		tell_progress(run, pending[at]->id, round);
		code =
		    run_worker(run, pending + at, n - at, round, &taken, err);
		/* A process that can carry no case would go on for ever. */
		if (code == 0 && taken == 0 && !run->interrupted)
			code = sv_err_set(err, SV_EPROTOCOL,
			    "%s: the worker makes no progress",
			    pending[at]->bench);
		at += taken;
	}
	return code;
}

int sv_run_round(struct sv_run_state *run, unsigned round, struct sv_err *err)
{
	size_t n = run->plan.n_cases, at = 0;
	size_t *order = calloc(n, sizeof *order);
	struct sv_planned **pending = calloc(n, sizeof *pending);
	uint64_t seed = strtoull(sv_run_option(run, "seed"), NULL, 10);
	int code = 0;

	if (order == NULL || pending == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "run: out of memory");
		goto free_arrays;
	}
	sv_plan_order(&run->plan, seed, round, order);
	while (code == 0 && at < n && !run->interrupted) {
		const char *bench = run->plan.cases[order[at]].bench;
		size_t count = 0;

		for (; at < n; at++) {
			struct sv_planned *c = &run->plan.cases[order[at]];

			if (strcmp(c->bench, bench) != 0)
				break;
			if (!c->out && !c->done[round - 1])
				pending[count++] = c;
		}
		if (count > 0)
			code = run_bench(run, pending, count, round, err);
	}

free_arrays:
	free(order);
	free(pending);
	return code;
}
