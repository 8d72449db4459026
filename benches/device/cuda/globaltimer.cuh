/* The device's own clock, for kernels. */
#ifndef STAVE_GLOBALTIMER_CUH
#define STAVE_GLOBALTIMER_CUH

#include <stdint.h>

/*
 * Nanoseconds of a clock that all multiprocessors share and that no change of
 * the core clock affects. Its step is up to a microsecond. Source: PTX ISA,
 * special register %globaltimer.
 */
static __device__ __forceinline__ uint64_t globaltimer_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

#endif
