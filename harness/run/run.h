/*
 * The main job: plan the cases, measure each in rounds of fresh processes,
 * journal every finished case, and put the result together.
 */
#ifndef STAVE_RUN_H
#define STAVE_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result.h"
#include "stave/err.h"

enum sv_profile {
	SV_PROFILE_QUICK,    /* 6 rounds */
	SV_PROFILE_STANDARD, /* 10 */
	SV_PROFILE_FULL,     /* 15 */
};

/* "quick" … → profile. Errors: SV_EUSAGE, naming the choices. */
SV_MUST_CHECK int sv_profile_parse(
    const char *name, enum sv_profile *out, struct sv_err *err);
const char *sv_profile_name(enum sv_profile);
/* Rounds of a profile: 6, 10 or 15. */
unsigned sv_profile_rounds(enum sv_profile);

/* What `stave run` was asked for; text is borrowed. */
struct sv_run_options {
	const char *backend; /* "auto", "host", "cuda" */
	const char *device;  /* selector, or NULL */
	enum sv_profile profile;
	/* Patterns: a bench name, or a glob on the case id; NULL-ended. */
	const char *const *benches; /* NULL: all */
	const char *const *skips;
	/* A pattern that fits nothing is no slip: a specification's. */
	bool patterns_are_wishes;
	const char *const *tasks; /* stave/task.h, NULL-ended; NULL: none */
	const char *timeline;	  /* file for spans, or NULL */
	const char *label;	  /* NULL: the host name */
	const char *output;	  /* result file */
	/* Folder whose disk is measured, for a while; NULL: the current. */
	const char *storage_path;
	const char *record_machine; /* folder for a recording, or NULL */
	double case_timeout_s;
	unsigned rounds; /* 0: the profile's */
	uint64_t seed;	 /* 0: drawn, and saved */
	enum sv_keep keep;
};

/* Where the run stands, for whoever shows it. */
struct sv_run_progress {
	const char *case_id;
	unsigned round, rounds;
	size_t done, total;	 /* case rounds */
	double elapsed_s, eta_s; /* eta NaN before there is a guess */
};

/* Listener of a run; every member may be NULL. */
struct sv_run_listener {
	void *data;
	/* A line worth reading once: which backend and why, a failure. */
	void (*note)(void *data, const char *text);
	void (*progress)(void *data, const struct sv_run_progress *);
};

/* What came of it beside the file. */
struct sv_run_outcome {
	bool faults;	  /* something failed or was skipped by a fault */
	bool interrupted; /* saved as far as measured; can be resumed */
};

/*
 * Run and write options->output; while under way the state is the folder
 * `<output>.part`. *out gets the result as written. Errors: SV_EDEVICE,
 * SV_EOUTPUT (also when the folder exists: the text says how to resume),
 * SV_EUSAGE when no case is left after filtering, SV_ESYSTEM.
 * On SIGINT, SIGTERM or SIGHUP what was measured is saved, the folder stays,
 * outcome->interrupted is set and 0 is returned.
 */
SV_MUST_CHECK int sv_run(const struct sv_run_options *options,
    const struct sv_run_listener *listener, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err);

/*
 * Carry on with the run whose folder is part_dir; options come from its
 * journal. Errors: as sv_run, and SV_EINPUT when the journal cannot be
 * understood.
 */
SV_MUST_CHECK int sv_run_resume(const char *part_dir,
    const struct sv_run_listener *listener, struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err);

/*
 * Look at this machine and its device without measuring: *out gets a result
 * with machine and device alone. Of options only backend, device and
 * record_machine count. Where backend is "auto" and no worker answers, the
 * device stays unknown and the listener is told why. Errors: SV_EDEVICE for a
 * device that was asked for, SV_EOUTPUT from recording, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_run_look(const struct sv_run_options *options,
    const struct sv_run_listener *listener, struct sv_result **out,
    struct sv_err *err);

/* What to ask the worker of a backend. */
struct sv_question {
	const char *backend;
	const char *mode;   /* describe, devices or plan */
	const char *device; /* NULL: any */
	enum sv_profile profile;
	const char *storage_path; /* where cases may use files; NULL: none */
	const char *const *tasks; /* stave/task.h, NULL-ended; or NULL */
	/*
	 * Called every few hundredths of a second meanwhile, and so while the
	 * worker, to describe its device, keeps it busy; or NULL.
	 */
	void (*watch)(void *data);
	void *watch_data;
};

/*
 * Ask; *out gets an array of the worker's messages (new reference). A worker
 * that loses its device on the way is asked once more. Errors: SV_EDEVICE when
 * this build has no such worker or it cannot answer, SV_EPROTOCOL.
 */
SV_MUST_CHECK int sv_run_ask(
    const struct sv_question *, json_t **out, struct sv_err *err);

/* Backends whose worker this installation has, NULL-ended, best first. */
const char *const *sv_run_backends(void);

#endif
