/*
 * A run under way, shared among the files that prepare it, carry it out and
 * end it. Inside the room only.
 */
#ifndef STAVE_RUN_STATE_H
#define STAVE_RUN_STATE_H

#include <signal.h>

#include "child.h"
#include "journal.h"
#include "machine.h"
#include "plan.h"
#include "run.h"
#include "scratch.h"

struct sv_run_state {
	const struct sv_run_listener *listener;
	json_t *header, *records;
	struct sv_journal journal;
	struct sv_plan plan;
	struct sv_machine *machine;
	struct sv_scratch scratch; /* for files to measure with */
	char worker[SV_WORKER_PATH_BYTES];
	int signal_fd;
	sigset_t old_mask;
	uint64_t started_ns;
	size_t done_before; /* case rounds on record when we began */
	bool interrupted;
};

/* A text of the journal's header, NULL where it has none. */
const char *sv_run_option(const struct sv_run_state *, const char *name);

/* Whether parameters are those of a task's case: its worker is told it. */
bool sv_run_is_of_task(json_t *params);

/* Tell the listener a line. */
SV_PRINTF(2, 3)
void sv_run_note(const struct sv_run_state *, const char *fmt, ...);

/* Case rounds that are on record, or that will never be. */
size_t sv_run_count_done(const struct sv_run_state *);

/*
 * Take a record into the plan: what is done, what is out, what is frozen.
 * Errors: SV_EINPUT for a case or round that the plan lacks.
 */
SV_MUST_CHECK int sv_run_apply(
    struct sv_run_state *, json_t *record, struct sv_err *err);

/* Now, in RFC 3339, UTC; returns out. */
const char *sv_run_now(char out[32]);

/* prepare.c: choose the backend, and say which and why. */
SV_MUST_CHECK int sv_run_choose(struct sv_run_state *,
    const struct sv_run_options *, const char **chosen, struct sv_err *err);

/*
 * look.c: ask the backend's worker for its plan, watch the links meanwhile,
 * record the machine where that is wanted, and complete the device of the
 * first message. Errors: those of asking, of recording, SV_EPROTOCOL.
 */
SV_MUST_CHECK int sv_run_examine(struct sv_run_state *,
    const struct sv_run_options *, const char *backend,
    const char *storage_path, json_t **messages, struct sv_err *err);

/*
 * prepare.c: choose the backend, plan, and begin the journal. cases and
 * skipped are arrays to be filled.
 */
SV_MUST_CHECK int sv_run_prepare(struct sv_run_state *,
    const struct sv_run_options *, json_t *cases, json_t *skipped,
    struct sv_err *err);
/* Whether the journal is of this program and of the device that is here. */
SV_MUST_CHECK int sv_run_check_header(
    struct sv_run_state *, struct sv_err *err);

/* round.c: measure what one round (from 1) still lacks. */
SV_MUST_CHECK int sv_run_round(
    struct sv_run_state *, unsigned round, struct sv_err *err);

/*
 * finish.c: the result that the records make, written where it belongs.
 * Errors: SV_EOUTPUT, the text says how to carry on.
 */
SV_MUST_CHECK int sv_run_finish(struct sv_run_state *, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err);

#endif
