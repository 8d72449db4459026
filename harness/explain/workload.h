/*
 * What one training step asks of a machine: a file of schema
 * stave.workload/1 in memory, with the overrides of the command line.
 */
#ifndef STAVE_WORKLOAD_H
#define STAVE_WORKLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "stave/err.h"

#define SV_WORKLOAD_SCHEMA   "stave.workload/1"
#define SV_WORKLOAD_MAX_GEMM 256

/* One kind of matrix product of a step; expressions in B, the batch. */
struct sv_workload_gemm {
	const char *m, *n, *k, *count;
};

/*
 * Terms that the file leaves out are NaN (numbers) or NULL (text): they count
 * as zero and an explanation lists them as not modelled.
 */
struct sv_workload {
	const char *name, *title;
	/* defaults, and what the command line put over them */
	double batch;
	const char *precision; /* fp64 fp32 tf32 fp16 bf16 amp */
	double loader_workers;
	const char *memory; /* pinned, pageable */
	bool prefetch;
	bool graphs; /* kernels replayed as one graph */
	double gpus;
	const char *amp_type; /* fp16 or bf16: what amp means here */

	struct sv_workload_gemm gemm[SV_WORKLOAD_MAX_GEMM];
	size_t n_gemm;
	double gemm_flop_per_sample;
	struct sv_workload_gemm gemm_shape; /* m NULL when left out */

	double memory_bytes_per_sample_fp32, memory_bytes_per_sample_amp;
	double memory_bytes_per_step_fp32, memory_bytes_per_step_amp;
	double kernels_per_step, dispatch_factor;
	double h2d_bytes_per_sample, d2h_bytes_per_step;
	double syncs_per_step, resets_per_step;
	double working_set_fixed_bytes, working_set_bytes_per_sample;
	double sample_files, sample_bytes;
	const char *sample_work; /* decode resize standard heavy */
	double gradient_bytes;

	json_t *document; /* owns every text above */
};

/*
 * Read and check a file. Errors: SV_EINPUT with file, JSON path and what was
 * expected. The caller frees it with sv_workload_free.
 */
SV_MUST_CHECK int sv_workload_read(
    const char *path, struct sv_workload **out, struct sv_err *err);
/* The same from a tree; name stands for the file in messages. */
SV_MUST_CHECK int sv_workload_from_json(json_t *document, const char *name,
    struct sv_workload **out, struct sv_err *err);
void sv_workload_free(struct sv_workload *);

/*
 * A copy with one field changed: KEY=VALUE, where KEY is the path of a field
 * as the file has it ("resets_per_step", "working_set_bytes.fixed"); the
 * fields of "defaults" go by their bare names ("batch", "precision").
 * Errors: SV_EUSAGE for an unknown key (the text names the known ones) or a
 * value of the wrong kind.
 */
SV_MUST_CHECK int sv_workload_set(
    struct sv_workload *, const char *assignment, struct sv_err *err);
SV_MUST_CHECK int sv_workload_copy(
    const struct sv_workload *, struct sv_workload **out, struct sv_err *err);

#endif
