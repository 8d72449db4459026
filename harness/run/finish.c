/*
 * The end of a run, whole or interrupted: from its records to a result, and to
 * the file, where that destroys nothing.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "assemble.h"
#include "run_state.h"
#include "stave/version.h"
#include "timeline.h"

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The result that the journal makes, whether or not the run is complete. */
static int make_result(struct sv_run_state *run, struct sv_result **out,
    bool *faults, struct sv_err *err)
{
	struct sv_result *r = sv_result_new();
	json_t *facts = json_object_get(run->header, "device_facts");
	const char *name = json_string_value(json_object_get(facts, "name"));
	char finished[32];
	int code;

	if (r == NULL)
		return sv_err_set(err, SV_ERESOURCE, "result: out of memory");
	json_decref(r->machine);
	json_decref(r->device);
	r->machine = json_incref(json_object_get(run->header, "machine_facts"));
	r->device = json_deep_copy(facts);
	r->run = (struct sv_run_info){
	    .id = sv_result_text(r, sv_run_option(run, "run_id")),
	    .label = sv_result_text(r, sv_run_option(run, "label")),
	    .profile = sv_result_text(r, sv_run_option(run, "profile")),
	    .started = sv_result_text(r, sv_run_option(run, "started")),
	    .finished = sv_result_text(r, sv_run_now(finished)),
	    .version = SV_VERSION,
	    .revision = SV_REVISION,
	    .complete =
		sv_run_count_done(run) == run->plan.n_cases * run->plan.rounds,
	    .origin = name != NULL && ends_with(name, "(simulated)")
			  ? "simulated"
			  : "measured"};
	/* What a repetition of this very run needs. */
	r->run.extra = json_pack("{s:O, s:i}", "seed",
	    json_object_get(run->header, "seed"), "rounds",
	    (int)run->plan.rounds);
	code = sv_assemble(r, run->plan.messages,
	    json_object_get(run->header, "skipped"), run->records,
	    run->plan.rounds, faults, err);
	if (code == 0 && r->device == NULL)
		code = sv_err_set(err, SV_ERESOURCE, "result: out of memory");
	if (code != 0) {
		sv_result_free(r);
		return code;
	}
	sv_assemble_device(r->device, run->records);
	sv_assemble_link(r);
	*out = r;
	return 0;
}

/*
 * A partial result may be written only where it destroys nothing: no file, or
 * an earlier partial one of this run.
 */
static bool may_write_partial(
    const struct sv_run_state *run, const char *output)
{
	struct sv_result *there;
	struct sv_err ignored;
	bool ours;

	if (access(output, F_OK) != 0)
		return true;
	if (sv_result_read(output, &there, &ignored) != 0)
		return false;
	ours = !there->run.complete &&
	       strcmp(there->run.id, sv_run_option(run, "run_id")) == 0;
	sv_result_free(there);
	return ours;
}

int sv_run_finish(struct sv_run_state *run, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err)
{
	const char *output = sv_run_option(run, "output");
	const char *timeline = sv_run_option(run, "timeline");
	enum sv_keep keep = strcmp(sv_run_option(run, "keep"), "summary") == 0
				? SV_KEEP_SUMMARY
				: SV_KEEP_ALL;
	struct sv_err cause = {0};
	int code = make_result(run, out, &outcome->faults, err);

	outcome->interrupted = run->interrupted;
	if (code != 0)
		return code;
	if (run->interrupted && !may_write_partial(run, output)) {
		sv_run_note(run,
		    "%s is left as it was; what was measured is in %s", output,
		    run->journal.folder);
		return 0;
	}
	code = sv_result_write(*out, output, keep, &cause);
	if (code == 0 && timeline != NULL && !run->interrupted)
		code = sv_timeline_write(run->records, timeline, &cause);
	if (code == 0)
		return 0;
	sv_result_free(*out);
	*out = NULL;
	return sv_err_set(err, code,
	    "%s; nothing is lost: make room and carry on with `stave run "
	    "--resume %s`",
	    cause.text, run->journal.folder);
}
