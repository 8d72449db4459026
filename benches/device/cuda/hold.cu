/*
 * The kernel behind hold(): keeps its stream until the host writes a flag,
 * or until a time is over, whichever comes first. One thread.
 */
#include "cuda_hold.h"
#include "globaltimer.cuh"

extern "C" __global__ void svk_hold(struct svk_hold_args args)
{
	const volatile uint32_t *flag = (const volatile uint32_t *)args.flag;
	uint64_t start = globaltimer_ns();

	while (*flag == 0 && globaltimer_ns() - start < args.timeout_ns)
		;
}
