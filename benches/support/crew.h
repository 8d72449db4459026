/*
 * Threads that do something at once and are timed as one: readers, decoders.
 * They may run on every core of the process, whatever core its own thread
 * was given.
 */
#ifndef STAVE_CREW_H
#define STAVE_CREW_H

#include <pthread.h>

#include "stave/bench.h"

/* What member number `member` does; it runs beside the others. */
typedef int sv_crew_fn(void *state, unsigned member, struct sv_err *err);

/*
 * Run fn once for each member. *elapsed_ns gets the time from letting all of
 * them go until the last is done; making the threads is outside of it.
 * Errors: the first member's that failed, SV_ERESOURCE where a thread cannot
 * be made.
 */
SV_MUST_CHECK int sv_crew_run(const struct sv_place *, unsigned members,
    sv_crew_fn *fn, void *state, double *elapsed_ns, struct sv_err *err);

/*
 * Make one thread that may run on every core of the place. Errors:
 * SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_crew_thread(const struct sv_place *, pthread_t *out,
    void *(*fn)(void *), void *state, struct sv_err *err);

#endif
