/* What a device could do at best, from its architecture and clocks. */
#ifndef STAVE_CUDA_PEAK_H
#define STAVE_CUDA_PEAK_H

#include "stave/device.h"

/*
 * Operations a multiprocessor does in one clock, a multiplication with an
 * addition counting two; 0 where the architecture (compute capability times
 * ten) has none or is not known.
 */
unsigned cuda_peak_flop_per_clock(int capability, enum sv_precision);

/* Whether the architecture is in the table at all. */
bool cuda_peak_known(int capability);

#endif
