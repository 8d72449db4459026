/*
 * What the host and the kernel that holds a stream agree on. Included by C
 * and by CUDA C.
 */
#ifndef STAVE_CUDA_HOLD_H
#define STAVE_CUDA_HOLD_H

#include <stdint.h>

#define SV_KERNEL_HOLD "svk_hold"
struct svk_hold_args {
	uint64_t flag; /* address of a 32-bit word; not 0: go on */
	uint64_t timeout_ns;
};

/*
 * Far longer than filling a queue takes, and short of the five seconds after
 * which a desktop's watchdog ends a kernel.
 */
#define SVK_HOLD_TIMEOUT_NS 2000000000u

#endif
