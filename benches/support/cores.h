/* Which processors this process may use. */
#ifndef STAVE_CORES_H
#define STAVE_CORES_H

#include <sched.h>

/*
 * How many cores the process may use, by affinity and the cgroup's quota, at
 * least 1. *set gets the calling thread's affinity, empty where it cannot be
 * read. To be asked before a backend gives the thread a core of its own.
 */
unsigned sv_cores_usable(cpu_set_t *set);

#endif
