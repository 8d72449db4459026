/* Whether the clock is one that the host's own work can be timed with. */
#include "timing.h"

#define TRIAL_NS 100000

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int sv_timing_host_work(struct sv_err *err)
{
	int64_t begin = now_ns(CLOCK_BOOTTIME);
	uint64_t start = sv_now_ns();

	while (now_ns(CLOCK_BOOTTIME) - begin < TRIAL_NS)
		continue;
	if (sv_now_ns() - start >= TRIAL_NS / 2)
		return 0;
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "the clock does not run while the host works: it is a simulated "
	    "one");
}
