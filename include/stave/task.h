/*
 * A task: one training step of one workload at one batch, as the harness
 * tells it to a worker. It is one word of the worker's command line (--task),
 * so that a worker reads no file and a journal can say it again:
 *
 *   NAME;batch=64;precision=fp16;half=fp16;habits=1;kernels=80;
 *   memory=655360,327680;h2d=7040;d2h=4;set=1000000;gemm=64,64,17,1,1;…
 *
 * in one line. Values are whole numbers; what is left out is 0 (half: fp16).
 */
#ifndef STAVE_TASK_H
#define STAVE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stave/device.h"
#include "stave/err.h"

#define SV_TASK_NAME_BYTES   64
/*
 * What a task may have at most, so that nothing that is made of it overflows:
 * entries of products, products of one, launches of all, elements of an
 * operand, bytes of memory traffic.
 */
#define SV_TASK_MAX_GEMM     4096
#define SV_TASK_MAX_COUNT    1000000
#define SV_TASK_MAX_LAUNCHES 100000
#define SV_TASK_MAX_ELEMENTS 1e12
#define SV_TASK_MAX_BYTES    1000000000000000

/*
 * count products of [m][k] by [k][n], in `launches` calls: as many as there
 * are products, or one strided call for all.
 */
struct sv_task_gemm {
	uint64_t m, n, k, count, launches;
};

struct sv_task {
	char name[SV_TASK_NAME_BYTES];
	uint64_t batch;
	enum sv_precision precision; /* that the workload is trained in */
	enum sv_precision half;	     /* what mixed precision means for it */
	bool habits;		     /* whether habits are measured here */
	uint64_t kernels;	     /* launches a step, products included */
	/* Device memory traffic of all that is no product, a step. */
	uint64_t memory_fp32_bytes, memory_half_bytes;
	uint64_t h2d_bytes, d2h_bytes;
	uint64_t set_bytes; /* working set that the workload states */
	struct sv_task_gemm *gemm;
	size_t n_gemm;
};

#endif
