/*
 * The run itself: rounds of fresh processes over the plan, every finished
 * case in the journal before anybody is told of it, and the result at the
 * end. What a worker says is collect.c's; how it is held is attend.c's.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assemble.h"
#include "attend.h"
#include "child.h"
#include "collect.h"
#include "journal.h"
#include "machine.h"
#include "plan.h"
#include "stave/version.h"

static const struct {
	const char *name;
	unsigned rounds;
} profiles[] = {{"quick", 6}, {"standard", 10}, {"full", 15}};

int sv_profile_parse(const char *name, enum sv_profile *out, struct sv_err *err)
{
	for (int i = 0; i < 3; i++)
		if (strcmp(profiles[i].name, name) == 0) {
			*out = (enum sv_profile)i;
			return 0;
		}
	return sv_err_set(err, SV_EUSAGE,
	    "profile \"%.40s\": expected quick, standard or full", name);
}

const char *sv_profile_name(enum sv_profile profile)
{
	return profiles[profile].name;
}

struct run {
	const struct sv_run_listener *listener;
	json_t *header, *records;
	struct sv_journal journal;
	struct sv_plan plan;
	struct sv_machine *machine;
	char worker[SV_WORKER_PATH_BYTES];
	int signal_fd;
	sigset_t old_mask;
	uint64_t started_ns;
	size_t done_before; /* case rounds on record when we began */
	bool interrupted;
};

static const char *option(const struct run *run, const char *name)
{
	return json_string_value(json_object_get(run->header, name));
}

SV_PRINTF(2, 3)
static void note(const struct run *run, const char *fmt, ...)
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

/* Case rounds that are on record, or that will never be. */
static size_t count_done(const struct run *run)
{
	size_t done = 0;

	for (size_t i = 0; i < run->plan.n_cases; i++) {
		const struct sv_planned *c = &run->plan.cases[i];

		for (unsigned r = 0; r < run->plan.rounds; r++)
			done += c->out || c->done[r];
	}
	return done;
}

static void tell_progress(
    const struct run *run, const char *case_id, unsigned round)
{
	size_t done = count_done(run);
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

/* Take a record into the plan: what is done, what is out, what is frozen. */
static int apply(struct run *run, json_t *record, struct sv_err *err)
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
		    "journal: a record of a case or round that the plan "
		    "lacks: \"%.100s\"",
		    id != NULL ? id : "");
	c->done[round - 1] = 1;
	c->out = c->out || strcmp(outcome, "measured") != 0;
	if (c->inner == 0)
		c->inner = (uint64_t)json_integer_value(
		    json_object_get(samples, "inner"));
	return 0;
}

/* One worker process at its cases of one round. */
struct shift {
	struct run *run;
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
	struct run *run = shift->run;
	size_t i;
	int code = 0;

	json_array_foreach (finished, i, record) {
		const char *outcome =
		    json_string_value(json_object_get(record, "outcome"));
		const char *id =
		    json_string_value(json_object_get(record, "case"));

		code = sv_journal_append(&run->journal, record, err);
		if (code == 0)
			code = apply(run, record, err);
		if (code != 0)
			break;
		json_array_append(run->records, record);
		if (strcmp(outcome, "failed") == 0)
			note(run, "failed: %s (round %u): %s", id,
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
	} else if (c->at < c->n_pending) {
		sv_collector_fail(c,
		    "the worker said bye before it began this case", "exit",
		    0.0, a->tail);
	}
}

/* The worker's command line; malloc'd strings, NULL-ended. */
static char **make_argv(const struct run *run,
    struct sv_planned *const *pending, size_t n, unsigned round)
{
	const char *device = option(run, "device");
	char **argv = calloc(n + 12, sizeof *argv);
	size_t used = 0;
	bool good = argv != NULL;

#define WORD(...) \
	(good = good && asprintf(&argv[used], __VA_ARGS__) >= 0 && ++used)
	WORD("%s", run->worker);
	WORD("%s", pending[0]->bench);
	WORD("--profile");
	WORD("%s", option(run, "profile"));
	WORD("--round");
	WORD("%u", round);
	WORD("--seed");
	WORD("%s", option(run, "seed"));
	if (device != NULL) {
		WORD("--device");
		WORD("%s", device);
	}
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
static int run_worker(struct run *run, struct sv_planned **pending, size_t n,
    unsigned round, size_t *taken, struct sv_err *err)
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
static int run_bench(struct run *run, struct sv_planned **pending, size_t n,
    unsigned round, struct sv_err *err)
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

static int run_round(struct run *run, unsigned round, struct sv_err *err)
{
	size_t n = run->plan.n_cases, at = 0;
	size_t *order = calloc(n, sizeof *order);
	struct sv_planned **pending = calloc(n, sizeof *pending);
	uint64_t seed = strtoull(option(run, "seed"), NULL, 10);
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

static const char *now_text(char out[32])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return out;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The result that the journal makes, whether or not the run is complete. */
static int make_result(
    struct run *run, struct sv_result **out, bool *faults, struct sv_err *err)
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
	r->device = json_incref(facts);
	r->run = (struct sv_run_info){
	    .id = sv_result_text(r, option(run, "run_id")),
	    .label = sv_result_text(r, option(run, "label")),
	    .profile = sv_result_text(r, option(run, "profile")),
	    .started = sv_result_text(r, option(run, "started")),
	    .finished = sv_result_text(r, now_text(finished)),
	    .version = SV_VERSION,
	    .revision = SV_REVISION,
	    .complete = count_done(run) == run->plan.n_cases * run->plan.rounds,
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
	if (code != 0) {
		sv_result_free(r);
		return code;
	}
	*out = r;
	return 0;
}

/*
 * A partial result may be written only where it destroys nothing: no file, or
 * an earlier partial one of this run.
 */
static bool may_write_partial(const struct run *run, const char *output)
{
	struct sv_result *there;
	struct sv_err ignored;
	bool ours;

	if (access(output, F_OK) != 0)
		return true;
	if (sv_result_read(output, &there, &ignored) != 0)
		return false;
	ours = !there->run.complete &&
	       strcmp(there->run.id, option(run, "run_id")) == 0;
	sv_result_free(there);
	return ours;
}

static int finish_run(struct run *run, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err)
{
	const char *output = option(run, "output");
	enum sv_keep keep = strcmp(option(run, "keep"), "summary") == 0
				? SV_KEEP_SUMMARY
				: SV_KEEP_ALL;
	struct sv_err cause = {0};
	int code = make_result(run, out, &outcome->faults, err);

	outcome->interrupted = run->interrupted;
	if (code != 0)
		return code;
	if (run->interrupted && !may_write_partial(run, output)) {
		note(run, "%s is left as it was; what was measured is in %s",
		    output, run->journal.folder);
		return 0;
	}
	code = sv_result_write(*out, output, keep, &cause);
	if (code == 0)
		return 0;
	sv_result_free(*out);
	*out = NULL;
	return sv_err_set(err, code,
	    "%s; nothing is lost: make room and carry on with `stave run "
	    "--resume %s`",
	    cause.text, run->journal.folder);
}

static void block_signals(struct run *run)
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
static void restore_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (run->signal_fd >= 0 &&
	       read(run->signal_fd, &info, sizeof info) == sizeof info)
		run->interrupted = true;
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

/* Measure what the plan still lacks, and put the result together. */
static int carry_out(struct run *run, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err)
{
	int code = 0;

	*outcome = (struct sv_run_outcome){0};
	run->started_ns = sv_monotonic_ns();
	run->done_before = count_done(run);
	sv_spawn_adopt(true);
	for (unsigned round = 1;
	     code == 0 && round <= run->plan.rounds && !run->interrupted;
	     round++)
		code = run_round(run, round, err);
	sv_spawn_adopt(false);
	return code != 0 ? code : finish_run(run, out, outcome, err);
}

static void end_run(struct run *run, bool complete)
{
	sv_journal_close(&run->journal, complete);
	sv_plan_fini(&run->plan);
	sv_machine_close(run->machine);
	json_decref(run->header);
	json_decref(run->records);
}

/* Choose the backend, and say which and why. */
static int choose_backend(struct run *run, const struct sv_run_options *options,
    const char **chosen, struct sv_err *err)
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

		if (sv_run_ask(backends[0], "devices", NULL, options->profile,
			&messages, &cause) != 0) {
			note(run, "%s backend not used: %s", backends[0],
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
		note(run, "%s backend not used: it has no usable device",
		    backends[0]);
	}
	*chosen = backends[0];
	if (backends == sv_run_backends() && strcmp(backends[0], "host") == 0)
		note(run, "host backend: this build has no worker for a GPU");
	else
		note(run, "%s backend", backends[0]);
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

static uint64_t draw_seed(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ((uint64_t)t.tv_sec * 1000003u + (uint64_t)t.tv_nsec) >> 1;
}

/* Everything about the run that a resumption needs to know. */
static json_t *make_header(const struct sv_run_options *options,
    const char *backend, json_t *machine, json_t *facts, json_t *cases,
    json_t *skipped)
{
	char host[256], started[32], id[64], seed[32];
	uint64_t chosen = options->seed != 0 ? options->seed : draw_seed();

	sv_machine_host_name(host, sizeof host);
	now_text(started);
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)chosen);
	snprintf(id, sizeof id, "%s-%08x", started,
	    (unsigned)(draw_seed() * 2654435761u));
	return json_pack(
	    "{s:s, s:s, s:s, s:s, s:s, s:s?, s:s, s:s, s:s, s:s, s:s, s:f, "
	    "s:i, s:O, s:O, s:O, s:O}",
	    "schema", SV_JOURNAL_SCHEMA, "version", SV_VERSION, "run_id", id,
	    "started", started, "backend", backend, "device", options->device,
	    "profile", sv_profile_name(options->profile), "seed", seed, "label",
	    options->label != NULL ? options->label : host, "output",
	    options->output, "keep",
	    options->keep == SV_KEEP_SUMMARY ? "summary" : "all",
	    "case_timeout_s", options->case_timeout_s, "rounds",
	    (int)(options->rounds != 0 ? options->rounds
				       : profiles[options->profile].rounds),
	    "machine_facts", machine, "device_facts", facts, "cases", cases,
	    "skipped", skipped);
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

static int start_run(struct run *run, const struct sv_run_options *options,
    json_t *cases, json_t *skipped, struct sv_err *err)
{
	json_t *messages = NULL, *facts;
	const char *backend;
	char *folder = NULL;
	int code;

	if ((code = check_output(options->output, err)) != 0 ||
	    (code = choose_backend(run, options, &backend, err)) != 0 ||
	    (code = sv_worker_path(backend, run->worker, err)) != 0 ||
	    (code = sv_run_ask(backend, "plan", options->device,
		 options->profile, &messages, err)) != 0)
		return code;
	facts = json_object_get(json_array_get(messages, 0), "device");
	if ((code = check_patterns(
		 messages, options->benches, "--bench", err)) != 0 ||
	    (code = check_patterns(messages, options->skips, "--skip", err)) !=
		0)
		goto free_messages;
	if (!json_is_object(facts)) {
		code = sv_err_set(err, SV_EPROTOCOL,
		    "worker %s plan: hello without a device", backend);
		goto free_messages;
	}
	select_cases(messages, options, cases, skipped);
	/* Once, so that the record says what workers will be bound to. */
	sv_machine_bind(run->machine,
	    json_string_value(json_object_get(facts, "pci_address")));
	sv_machine_unbind(run->machine);
	if (json_array_size(cases) == 0 && json_array_size(skipped) == 0) {
		code = sv_err_set(err, SV_EUSAGE, "nothing is left to measure");
		goto free_messages;
	}
	run->header = make_header(options, backend,
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

int sv_run(const struct sv_run_options *options,
    const struct sv_run_listener *listener, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err)
{
	struct run run = {.listener = listener,
	    .records = json_array(),
	    .journal = {.fd = -1, .lock_fd = -1},
	    .signal_fd = -1};
	json_t *cases = json_array(), *skipped = json_array();
	int code = sv_machine_open(".", &run.machine, err);

	block_signals(&run);
	if (code == 0)
		code = start_run(&run, options, cases, skipped, err);
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

/* The journal must be of this program and of the device that is here. */
static int check_header(struct run *run, struct sv_err *err)
{
	static const char *const texts[] = {"version", "run_id", "started",
	    "backend", "profile", "seed", "label", "output", "keep"};
	const char *name, *was;
	enum sv_profile profile = SV_PROFILE_QUICK;
	json_t *messages = NULL;
	int code;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (option(run, texts[i]) == NULL)
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
	if (strcmp(option(run, "version"), SV_VERSION) != 0)
		return sv_err_set(err, SV_EINPUT,
		    "journal: it is of stave %.40s, this is %s: measurements "
		    "of two versions are not one run",
		    option(run, "version"), SV_VERSION);
	if ((code = sv_profile_parse(option(run, "profile"), &profile, err)) !=
		0 ||
	    (code = sv_worker_path(option(run, "backend"), run->worker, err)) !=
		0 ||
	    (code = sv_run_ask(option(run, "backend"), "plan",
		 option(run, "device"), profile, &messages, err)) != 0)
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

int sv_run_resume(const char *part_dir, const struct sv_run_listener *listener,
    struct sv_result **out, struct sv_run_outcome *outcome, struct sv_err *err)
{
	struct run run = {.listener = listener,
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
		code = check_header(&run, err);
	cases = json_object_get(run.header, "cases");
	if (code == 0)
		code = check_cases(cases, err);
	if (code == 0)
		code = sv_plan_init(&run.plan, cases,
		    (unsigned)json_integer_value(
			json_object_get(run.header, "rounds")),
		    err);
	json_array_foreach (run.records, i, record)
		if (code == 0)
			code = apply(&run, record, err);
	if (code == 0)
		code = carry_out(&run, out, outcome, err);
	restore_signals(&run);
	end_run(&run, code == 0 && !run.interrupted);
	return code;
}
