/*
 * What one training step asks of a machine: a file of schema
 * stave.workload/1 in memory, and its demand at one batch size. The step
 * model and the step benchmark both read it; neither knows JSON.
 *
 * Ownership: a workload owns its text and expressions; a demand owns its GEMM
 * list. A term that the file leaves out is zero and its name is in
 * `not_modelled`.
 *
 * Beside the contract's keys: "amp_dtype" says whether amp means "fp16" (when
 * left out) or "bf16". A byte count by precision that names one precision
 * alone holds for both.
 */
#ifndef STAVE_WORKLOAD_H
#define STAVE_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "stave/err.h"

#define SV_WORKLOAD_SCHEMA "stave.workload/1"

/* What a byte count depends on: amp is half precision with fp32 state. */
struct sv_by_precision {
	double fp32, amp;
};

enum sv_memory_kind {
	SV_MEMORY_PINNED,
	SV_MEMORY_PAGEABLE,
};

#define SV_WORKLOAD_MAX_BATCH 1000000000L

/* How the step is run unless the user says otherwise. */
struct sv_workload_defaults {
	long batch;
	const char *precision; /* fp32, tf32, fp16, bf16, amp */
	long loader_workers;
	enum sv_memory_kind memory;
	bool prefetch;
	long gpus;
};

/* count products of [m][k] by [k][n]. */
struct sv_gemm_shape {
	double m, n, k, count;
};

struct sv_workload; /* opaque: holds compiled expressions */

/* One step at one batch size, in base units. */
struct sv_demand {
	struct sv_gemm_shape *gemm;
	size_t n_gemm;
	/*
	 * With gemm_flop_per_sample the file names only a typical shape: then
	 * there is one entry in gemm, whose count is flop / (2 m n k) and need
	 * not be whole.
	 */
	bool gemm_is_typical;
	struct sv_by_precision memory_bytes; /* per step: samples and state */
	double kernels;			     /* launched per step */
	double dispatch_factor;
	double h2d_bytes, d2h_bytes;
	double syncs, resets;
	double working_set_bytes;
	double sample_files; /* files read per step */
	double sample_bytes; /* bytes read per step */
	/* decode, resize, standard, heavy; or NULL. Borrowed. */
	const char *work;
	double gradient_bytes; /* exchanged per step when gpus > 1 */
	bool bf16;	       /* amp means bf16 here */
};

/*
 * Read and check a file (a word with a slash or ending in .json), or the
 * shipped workload of that name: $STAVE_WORKLOAD_DIR, else
 * ../share/stave/workloads beside the program. Errors: SV_EINPUT, one line with
 * file, line or JSON path, and what was expected; SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_workload_read(
    const char *name_or_path, struct sv_workload **out, struct sv_err *err);
SV_MUST_CHECK int sv_workload_parse(const char *text, size_t n_bytes,
    const char *name, struct sv_workload **out, struct sv_err *err);
void sv_workload_free(struct sv_workload *);

/*
 * Names of the shipped workloads, sorted, ending with NULL; malloc'd as one
 * block. Errors: SV_EINPUT when their folder cannot be read, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_workload_shipped(char ***out, struct sv_err *err);

const char *sv_workload_name(const struct sv_workload *);
const char *sv_workload_title(const struct sv_workload *); /* or NULL */
const struct sv_workload_defaults *sv_workload_defaults(
    const struct sv_workload *);
/* Whether the file's amp is bf16 and not fp16. */
bool sv_workload_amp_is_bf16(const struct sv_workload *);
/* Names of terms that the file leaves out; ends with NULL. */
const char *const *sv_workload_not_modelled(const struct sv_workload *);

/*
 * Override one field by its dotted name ("defaults.precision", or a default's
 * bare name: precision, batch, memory …; "sample.work"; a byte count by
 * precision as a whole or as "….amp"; "gemm_shape.m" as an expression in B).
 * Errors: SV_EUSAGE for an unknown key or a bad value.
 */
SV_MUST_CHECK int sv_workload_set(struct sv_workload *, const char *key,
    const char *value, struct sv_err *err);

/* An independent copy. Errors: SV_ERESOURCE. */
SV_MUST_CHECK int sv_workload_copy(
    const struct sv_workload *, struct sv_workload **out, struct sv_err *err);

/*
 * The demand at `batch` samples a step. *out is the caller's; release with
 * sv_demand_fini. Errors: SV_EINPUT where an expression has no finite,
 * positive value at this batch; SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_workload_demand(const struct sv_workload *, long batch,
    struct sv_demand *out, struct sv_err *err);
void sv_demand_fini(struct sv_demand *);

#endif
