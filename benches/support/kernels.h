/*
 * Kernels that benchmarks launch by name, and their packed arguments. Every
 * backend implements all of them; element counts are of 4-byte floats.
 * Addresses are device addresses.
 */
#ifndef STAVE_KERNELS_H
#define STAVE_KERNELS_H

#include <stdint.h>

/* Nothing; its arguments may have any size and are not looked at. */
#define SV_KERNEL_NULL "svk_null"

/* Occupy the device for a time, by its own clock. */
#define SV_KERNEL_BUSY "svk_busy"
struct svk_busy_args {
	uint64_t ns;
};

/* out[0] = sum of src[0 … n), in whatever order. */
#define SV_KERNEL_READ "svk_read"
struct svk_read_args {
	uint64_t src, n, out;
};

/* dst[i] = value. */
#define SV_KERNEL_WRITE "svk_write"
struct svk_write_args {
	uint64_t dst, n;
	float value;
	uint32_t unused;
};

/* dst[i] = src[i]. */
#define SV_KERNEL_COPY "svk_copy"
struct svk_copy_args {
	uint64_t dst, src, n;
};

/* dst[i] = a[i] + scale · b[i]. */
#define SV_KERNEL_TRIAD "svk_triad"
struct svk_triad_args {
	uint64_t dst, a, b, n;
	float scale;
	uint32_t unused;
};

#endif
