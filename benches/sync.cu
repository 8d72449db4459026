/* A kernel that takes a known time and touches nothing. */
#include "globaltimer.cuh"
#include "kernels.h"

extern "C" __global__ void svk_busy(struct svk_busy_args args)
{
	uint64_t start = globaltimer_ns();

	while (globaltimer_ns() - start < args.ns)
		;
}
