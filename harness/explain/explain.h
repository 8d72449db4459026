/*
 * Why B wins or loses against A on a workload: two results and one step in,
 * an explanation of schema stave.explanation/1 out. Pure; prints nothing.
 *
 * Ownership: an explanation owns what it points to, but for text of the
 * results and workloads that it was made from: keep them open.
 */
#ifndef STAVE_EXPLAIN_H
#define STAVE_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "result.h"
#include "stave/err.h"
#include "workload.h"

#define SV_EXPLANATION_SCHEMA "stave.explanation/1"

/* The model's components, and what it leaves unexplained. */
#define SV_EXPLAINED_COMPONENTS 11
/* Draws of the intervals. */
#define SV_EXPLAIN_DRAWS	1000

enum sv_explain_verdict {
	SV_B_FASTER,
	SV_B_SLOWER,
	SV_NO_DIFFERENCE,
	SV_VERDICT_UNKNOWN,
};

/* One supposition about B: "link=4x16", "memory=pinned", "transfer=a" … */
struct sv_supposition {
	const char *key, *value;
};

struct sv_explain_request {
	const struct sv_result *a, *b;
	/* One file read twice, so that either side can have fields of its own.
	 */
	const struct sv_workload *workload_a, *workload_b;
	const struct sv_supposition *what_if;
	size_t n_what_if;
	bool all_batches; /* every power of two, else every fourth */
	bool altered;	  /* the workload is not as its file says */
	size_t draws;
};

struct sv_explained_side {
	const char *label;
	double step_s, rate;
	struct sv_interval ci95;
	const char *limiting; /* component; NULL when the step is nothing */
};

struct sv_explained_component {
	const char *name;
	double a_s, b_s; /* by itself */
	/* Of the step: its Shapley value against a step of nothing. */
	double a_part_s, b_part_s;
	double share_s;
	struct sv_interval share_ci95;
	double if_b_had_a_s;
	const char *const *evidence; /* ids */
	size_t n_evidence;
	const char *confidence; /* high, medium, low */
};

struct sv_cause {
	const char *code;
	size_t rank; /* from 1 */
	double share_s;
	const char *claim, *remedy, *falsify;
	const char *const *evidence; /* ids and fields */
	size_t n_evidence;
	double gain_step_s, gain_speedup; /* B once it is lifted; or NaN */
};

struct sv_ruled_out {
	const char *code, *why, *evidence;
};

struct sv_batch_row {
	long batch;
	double a_s, b_s, speedup;
};

struct sv_difference {
	const char *field;
	json_t *a, *b; /* borrowed from the results; NULL unknown */
	bool matters;
};

struct sv_explanation {
	const char *workload, *precision; /* B's, and A's where it differs */
	const char *precision_a;
	long batch;
	struct sv_explained_side a, b;
	double speedup;
	struct sv_interval speedup_ci95;
	enum sv_explain_verdict verdict;
	struct sv_explained_component components[SV_EXPLAINED_COMPONENTS];
	struct sv_cause *causes; /* by rank */
	size_t n_causes;
	struct sv_ruled_out *ruled_out;
	size_t n_ruled_out;
	long crossover; /* batch, 0 for none */
	const char *crossover_why;
	struct sv_batch_row *by_batch;
	size_t n_by_batch;
	bool has_measured_step; /* by the step benchmark, on both sides */
	double measured_a_s, measured_b_s;
	double model_a_s, model_b_s; /* the model's of the same */
	double model_error;	     /* relative, the larger */
	double unexplained_s;
	/* The model and the measured step disagree: no story is told. */
	bool is_withheld;
	const char **not_modelled;
	size_t n_not_modelled;
	struct sv_difference *differences;
	size_t n_differences;
	bool has_what_if;
	const char *what_if;			/* what was supposed */
	double what_if_step_s, what_if_speedup; /* against B as it is */
	const char *next;			/* the command to run next */
	struct sv_result *store;		/* arena of the text */
};

/*
 * Errors: SV_EUSAGE for a supposition that means nothing, SV_EINPUT where the
 * workload has no demand at its batch or the results no measurement that it
 * needs, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_explain(const struct sv_explain_request *,
    struct sv_explanation **out, struct sv_err *err);
void sv_explanation_free(struct sv_explanation *);

const char *sv_explain_verdict_name(enum sv_explain_verdict);

/* stave.explanation/1; a new reference, NULL when out of memory. */
json_t *sv_explanation_json(const struct sv_explanation *);

#endif
