/* Peaks by architecture; see the header. */
#include "cuda_peak.h"

#include <stddef.h>

/*
 * FLOP a clock and multiprocessor, dense, without sparsity. Source: method
 * notes, section 2, GEMM (data sheets divided by multiprocessors and boost
 * clock); FP64: the vendor's architecture papers on V100, Turing, A100,
 * GA102, Ada, H100 and Blackwell. Where cards of one architecture differ
 * (half-rate accumulation on GeForce), this is the faster kind: a ceiling
 * must not be below what a card can do.
 */
static const struct peak {
	int capability;
	unsigned flop[6]; /* by enum sv_precision */
} peaks[] = {
    {70, {[SV_FP64] = 64,
	     [SV_FP32] = 128,
	     [SV_FP16] = 1024,
	     [SV_FP16ACC] = 1024}},
    {75, {[SV_FP64] = 4,
	     [SV_FP32] = 128,
	     [SV_FP16] = 1024,
	     [SV_FP16ACC] = 1024}},
    {80, {[SV_FP64] = 128,
	     [SV_FP32] = 128,
	     [SV_TF32] = 1024,
	     [SV_FP16] = 2048,
	     [SV_FP16ACC] = 2048,
	     [SV_BF16] = 2048}},
    {86, {[SV_FP64] = 4,
	     [SV_FP32] = 256,
	     [SV_TF32] = 512,
	     [SV_FP16] = 1024,
	     [SV_FP16ACC] = 1024,
	     [SV_BF16] = 1024}},
    {89, {[SV_FP64] = 4,
	     [SV_FP32] = 256,
	     [SV_TF32] = 512,
	     [SV_FP16] = 1024,
	     [SV_FP16ACC] = 1024,
	     [SV_BF16] = 1024}},
    {90, {[SV_FP64] = 256,
	     [SV_FP32] = 256,
	     [SV_TF32] = 2048,
	     [SV_FP16] = 4096,
	     [SV_FP16ACC] = 4096,
	     [SV_BF16] = 4096}},
    {100, {[SV_FP64] = 128,
	      [SV_FP32] = 256,
	      [SV_TF32] = 4096,
	      [SV_FP16] = 8192,
	      [SV_FP16ACC] = 8192,
	      [SV_BF16] = 8192}},
    {120, {[SV_FP64] = 4,
	      [SV_FP32] = 256,
	      [SV_TF32] = 512,
	      [SV_FP16] = 1024,
	      [SV_FP16ACC] = 1024,
	      [SV_BF16] = 1024}},
};

static const struct peak *find(int capability)
{
	for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++)
		if (peaks[i].capability == capability)
			return &peaks[i];
	return NULL;
}

bool cuda_peak_known(int capability)
{
	return find(capability) != NULL;
}

unsigned cuda_peak_flop_per_clock(int capability, enum sv_precision precision)
{
	const struct peak *peak = find(capability);

	return peak != NULL ? peak->flop[precision] : 0;
}
