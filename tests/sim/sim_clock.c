/*
 * The virtual clock, preloaded: once the simulated driver in a process is
 * initialised, its monotonic clock is the simulation's, and sleeping costs
 * virtual time alone. In every other process, the harness among them, and
 * for every other clock, the real one passes through. It keeps no time
 * itself.
 *
 * Virtual time goes on from the real reading at that moment, so that no
 * difference of two readings is absurd; differences of readings after it
 * depend on nothing real.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

typedef int64_t now_fn(void);
typedef void sleep_fn(int64_t ns);

void stave_sim_clock_attach(now_fn *now_ns, sleep_fn *sleep_ns);

static now_fn *virtual_now;
static sleep_fn *virtual_sleep;
static int64_t origin_ns[2]; /* MONOTONIC, MONOTONIC_RAW */

static int real_gettime(clockid_t clock, struct timespec *out)
{
	static int (*real)(clockid_t, struct timespec *);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	return real(clock, out);
}

static int real_nanosleep(clockid_t clock, int flags,
    const struct timespec *wanted, struct timespec *left)
{
	static int (*real)(
	    clockid_t, int, const struct timespec *, struct timespec *);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_nanosleep");
	return real(clock, flags, wanted, left);
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * NS_PER_S + t->tv_nsec;
}

/* Both functions NULL: back to the real clock. */
void stave_sim_clock_attach(now_fn *now_ns, sleep_fn *sleep_ns)
{
	struct timespec t;

	real_gettime(CLOCK_MONOTONIC, &t);
	origin_ns[0] = ns_of(&t);
	real_gettime(CLOCK_MONOTONIC_RAW, &t);
	origin_ns[1] = ns_of(&t);
	virtual_sleep = sleep_ns;
	virtual_now = now_ns;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int64_t now;

	if (virtual_now == NULL ||
	    (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_RAW))
		return real_gettime(clock, out);
	now = virtual_now() + origin_ns[clock == CLOCK_MONOTONIC_RAW];
	out->tv_sec = now / NS_PER_S;
	out->tv_nsec = now % NS_PER_S;
	return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
    struct timespec *left)
{
	struct timespec now;
	int64_t ns;

	if (virtual_sleep == NULL)
		return real_nanosleep(clock, flags, wanted, left);
	if (wanted->tv_nsec < 0 || wanted->tv_nsec >= NS_PER_S ||
	    wanted->tv_sec < 0)
		return EINVAL;
	ns = ns_of(wanted);
	if (flags & TIMER_ABSTIME) {
		clock_gettime(clock, &now);
		ns -= ns_of(&now);
	}
	virtual_sleep(ns);
	return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	int rc = clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, left);

	if (rc == 0)
		return 0;
	errno = rc;
	return -1;
}

int usleep(useconds_t us)
{
	struct timespec wanted = {us / 1000000, us % 1000000 * 1000};

	return nanosleep(&wanted, NULL);
}
