/*
 * Attending one worker process from its start to the last of its group: wire,
 * log, end, time limit and signals, whatever comes first.
 */
#ifndef STAVE_ATTEND_H
#define STAVE_ATTEND_H

#include <stddef.h>
#include <stdint.h>

#include "stave/err.h"

#define SV_LOG_TAIL_BYTES 4096

/* Why attending ended. */
enum sv_attend_end {
	SV_ATTEND_EXIT,	   /* the process ended; see status */
	SV_ATTEND_TIMEOUT, /* the deadline passed */
	SV_ATTEND_REFUSED, /* take gave an error: the worker talks nonsense */
	SV_ATTEND_CLOSED,  /* it closed the wire and went on */
	SV_ATTEND_SIGNAL,  /* we were told to stop */
};

struct sv_attendance {
	const char *path;
	char *const *argv;
	int signal_fd;	      /* -1: none */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; take may move it */
	void *state;
	/* Bytes of the wire. */
	int (*take)(void *state, const char *bytes, size_t n, struct sv_err *);
	/* Called every few hundredths of a second meanwhile; may be NULL. */
	void (*tick)(void *data);
	void *tick_data;
	/* Bytes of the log; may be NULL. */
	void (*log)(void *state, const char *bytes, size_t n);

	/* Set by sv_attend: */
	enum sv_attend_end end;
	int status; /* as of waitpid, after SV_ATTEND_EXIT */
	char tail[SV_LOG_TAIL_BYTES + 1]; /* end of the log, valid UTF-8 */
};

/*
 * Start, attend, and clear up; nothing of the worker's group is left. The end
 * is in the attendance; err holds take's error after SV_ATTEND_REFUSED.
 * Errors: those of starting.
 */
SV_MUST_CHECK int sv_attend(struct sv_attendance *, struct sv_err *err);

/* CLOCK_MONOTONIC in ns, and a deadline from now. */
uint64_t sv_monotonic_ns(void);
uint64_t sv_deadline_ns(double seconds);

#endif
