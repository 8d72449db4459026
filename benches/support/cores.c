/* Usable processors: affinity, and the cgroup's quota of time. */
#include "cores.h"

#include <stdio.h>

/* Cores by the cgroup's quota, rounded up; 0 for no limit. */
static unsigned quota_cores(void)
{
	FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
	unsigned long quota, period;
	int n;

	if (file == NULL)
		return 0;
	n = fscanf(file, "%lu %lu", &quota, &period);
	fclose(file);
	if (n != 2 || period == 0)
		return 0;
	return (unsigned)((quota + period - 1) / period);
}

unsigned sv_cores_usable(cpu_set_t *set)
{
	unsigned quota = quota_cores(), cores = 1;

	if (sched_getaffinity(0, sizeof *set, set) == 0)
		cores = (unsigned)CPU_COUNT(set);
	else
		CPU_ZERO(set);
	return quota > 0 && quota < cores ? quota : cores;
}
