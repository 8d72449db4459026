/*
 * How a workload looks inside, for the files that read it, find it and change
 * it. Inside the room only.
 */
#ifndef STAVE_WORKLOAD_TERMS_H
#define STAVE_WORKLOAD_TERMS_H

#include <stddef.h>

#include "workload.h"

struct sv_expression;
struct sv_result;

struct sv_gemm_terms {
	struct sv_expression *m, *n, *k, *count; /* count NULL: typical */
};

/* Every number of a workload that is one number; NaN where it is left out. */
struct sv_numbers {
	double gemm_flop_per_sample;
	struct sv_by_precision memory_per_sample, memory_per_step;
	double kernels, dispatch_factor;
	double h2d_per_sample, d2h_per_step, syncs, resets;
	double working_fixed, working_per_sample;
	double sample_files, sample_bytes;
	double gradient_bytes;
};

struct sv_workload {
	struct sv_result *store; /* its arena holds the text */
	const char *name, *title;
	struct sv_workload_defaults defaults;
	struct sv_gemm_terms *gemm;
	size_t n_gemm;
	bool typical;
	struct sv_numbers numbers;
	const char *work;
	bool bf16;
	const char *not_modelled[16];
};

/* A number of the file, by its place in it and in struct sv_numbers. */
struct sv_number_key {
	const char *object; /* NULL: the root */
	const char *key;
	size_t offset;
};

/* All of them, and how many. */
extern const struct sv_number_key sv_number_keys[];
extern const size_t sv_number_keys_count;

/* The choices of a word in the file; end with NULL. */
extern const char *const sv_workload_precisions[];
extern const char *const sv_workload_works[];
extern const char *const sv_workload_memories[];   /* by sv_memory_kind */
extern const char *const sv_workload_half_types[]; /* the second is bf16 */

double *sv_number_slot(struct sv_numbers *, const struct sv_number_key *);

/* Index of a word among choices, or -1. */
int sv_word_index(const char *const *words, const char *word);
/* "a, b or c"; returns out. */
const char *sv_word_choices(const char *const *words, char *out, size_t size);

/* To be called after every change: what the workload leaves out. */
void sv_workload_settle(struct sv_workload *);

#endif
