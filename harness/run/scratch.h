/*
 * The folder in which benchmarks keep files to measure with: made for one
 * run, removed at its end, and, where the run was killed, by the next one.
 *
 * `PARENT/stave-data-ID` is the folder; `PARENT/stave-data-ID.lock` beside it
 * is locked while its run lives.
 */
#ifndef STAVE_SCRATCH_H
#define STAVE_SCRATCH_H

#include "stave/err.h"

struct sv_scratch {
	char *folder, *lock; /* paths; NULL: none */
	int lock_fd;
};

/* Remove what dead runs left in a parent; returns how many folders. */
unsigned sv_scratch_sweep(const char *parent);

/*
 * Make one. Errors: SV_EOUTPUT where it cannot be made; nothing is left then.
 */
SV_MUST_CHECK int sv_scratch_open(
    struct sv_scratch *, const char *parent, struct sv_err *err);

/* Remove it with all that is in it; one that is zeroed or closed is none. */
void sv_scratch_close(struct sv_scratch *);

#endif
