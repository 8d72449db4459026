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

/*
 * What a training step does besides its products. Matrices have elements of
 * one type, the master weights and the optimiser's state are floats;
 * step_math.h has the arithmetic.
 */
enum svk_type {
	SVK_FLOAT,
	SVK_HALF,
	SVK_BFLOAT,
};

/* dst[i] = scale · weight(seed, i), and the same to copy unless it is 0. */
#define SV_KERNEL_STEP_FILL "svk_step_fill"
struct svk_step_fill_args {
	uint64_t dst, copy, n, seed; /* dst: of type; copy: floats */
	float scale;
	uint32_t type;
};

/* x[i] = pixel(bytes[i mod n_bytes]). */
#define SV_KERNEL_STEP_INPUT "svk_step_input"
struct svk_step_input_args {
	uint64_t x, n, bytes, n_bytes;
	uint32_t type, unused;
};

/* x[i] = max(x[i], 0). */
#define SV_KERNEL_STEP_RELU "svk_step_relu"
struct svk_step_relu_args {
	uint64_t x, n;
	uint32_t type, unused;
};

/* g[i] = x[i] > 0 ? g[i] : 0. */
#define SV_KERNEL_STEP_RELU_BACK "svk_step_relu_back"
struct svk_step_relu_back_args {
	uint64_t g, x, n;
	uint32_t type, unused;
};

/*
 * The loss of y [rows][n] against half of the features it came from, x
 * [rows][k]: d = y[i][j] - x[i][j mod k] / 2. parts[p] = weight · Σ d² over
 * the p-th of SVK_STEP_PARTS parts of y, then y = gradient_scale · d. One
 * block a part, of a power of two threads up to 256.
 */
#define SV_KERNEL_STEP_LOSS "svk_step_loss"
#define SVK_STEP_PARTS	    256
struct svk_step_loss_args {
	uint64_t y, x, parts; /* parts: floats */
	uint64_t rows, n, k;
	float weight, gradient_scale;
	uint32_t type, unused;
};

/*
 * Adam over n parameters p with gradient g (of type), moments m and v; the new
 * p also to copy (of type) unless that is 0.
 */
#define SV_KERNEL_STEP_ADAM "svk_step_adam"
struct svk_step_adam_args {
	uint64_t p, g, m, v, copy, n;
	float rate, correction_1, correction_2; /* 1 / (1 - beta^t) */
	uint32_t type;
};

/*
 * dst = rows of src shifted to mean 0 and scaled to variance 1; floats. A
 * block of a power of two threads up to 256 takes a row; at most
 * SVK_STEP_ROW elements, a multiple of 4.
 */
#define SV_KERNEL_STEP_NORM "svk_step_norm"
#define SVK_STEP_ROW	    1024
struct svk_step_norm_args {
	uint64_t dst, src, rows, width;
};

#endif
