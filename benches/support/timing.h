/*
 * The clock of the host side. Everything in a worker that times with the
 * host reads it here, so that a test can put a virtual clock in its place.
 */
#ifndef STAVE_TIMING_H
#define STAVE_TIMING_H

#include <stdint.h>
#include <time.h>

#include "stave/err.h"

/* CLOCK_MONOTONIC_RAW in ns: no rate correction inside a sample. */
static inline uint64_t sv_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * 0 when the clock runs while the host works; SV_EUNSUPPORTED where it is a
 * simulated device's, which only that device's work moves on.
 */
SV_MUST_CHECK int sv_timing_host_work(struct sv_err *err);

#endif
