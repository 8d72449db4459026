/*
 * The model of one training step: pure functions from a workload and a
 * result's figures to seconds. Claimed to ±20 %; where a measured step says
 * otherwise, that wins.
 *
 * Source: method notes, section 4 (after Paleo, DS-Analyzer and Daydream).
 */
#ifndef STAVE_STEP_MODEL_H
#define STAVE_STEP_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "inputs.h"
#include "result.h"
#include "stave/err.h"
#include "workload.h"

/* Components of a step, in the order of the contract. */
#define SV_COMPONENTS(X)            \
	X(STORAGE, "storage")       \
	X(PREPROCESS, "preprocess") \
	X(TRANSFER, "transfer")     \
	X(DISPATCH, "dispatch")     \
	X(GEMM, "gemm")             \
	X(MEMORY, "memory")         \
	X(SYNC, "sync")             \
	X(ALLOCATOR, "allocator")   \
	X(EXCHANGE, "exchange")     \
	X(SPILL, "spill")

enum sv_component {
#define SV_X(name, text) SV_##name,
	SV_COMPONENTS(SV_X)
#undef SV_X
	SV_N_COMPONENTS
};

const char *sv_component_name(enum sv_component);

/*
 * What each component brings to a step, in seconds and counts; a component's
 * members may be taken from another machine's terms without touching the
 * others. Unmeasured or unasked terms are 0.
 */
struct sv_terms {
	struct {
		double fetch_s; /* reading a batch, all workers at it */
	} storage;
	struct {
		double prepare_s; /* preparing a batch, all workers at it */
		bool in_line;	  /* the training process does it itself */
	} preprocess;
	struct {
		double copy_s;
		double overlap; /* share of the shorter that hides, 0…1 */
	} transfer;
	struct {
		double kernels;
		double submit_s;  /* host time of one launch, dispatch factor
				     included */
		double floor_s;	  /* shortest device time of one kernel */
		double latency_s; /* first launch after a drain, until it
				     runs */
		double once_s;	  /* host time a step beside (graph launch) */
	} dispatch;
	struct {
		double device_s;
		double kernels;
	} gemm;
	struct {
		double device_s;
	} memory;
	struct {
		double waits; /* a step; may be below 1 */
		double wait_s;
	} sync;
	struct {
		double resets; /* a step; may be below 1 */
		double reset_s;
	} allocator;
	struct {
		double exchange_s;
	} exchange;
	struct {
		double spill_s;
	} spill;
};

/* Seconds of one step. */
double sv_model_step(const struct sv_terms *);

/* base with one component's terms taken from other. */
void sv_model_take(
    struct sv_terms *base, const struct sv_terms *other, enum sv_component);
/* base with one component costing nothing. */
void sv_model_lift(struct sv_terms *base, enum sv_component);

/* Host and device seconds of a step, each as if the other were free. */
double sv_model_host_s(const struct sv_terms *);
double sv_model_device_s(const struct sv_terms *);

#define SV_MODEL_MAX_NOTES 32

/* A workload on a machine: looked up once, evaluated many times. */
struct sv_model {
	const struct sv_result *result;
	const struct sv_workload *workload;
	double batch;
	bool use_flagged;
	const char *gemm_precision; /* fp32 … after amp is resolved */
	bool amp_bytes;
	bool pinned;

	struct sv_input submit, gap, roundtrip, graph_node;
	struct sv_input bandwidth; /* device memory */
	struct sv_input h2d, d2h, pageable_h2d, latency;
	struct sv_input overlap;
	struct sv_input wait, readback;
	struct sv_input reset;
	struct sv_input fetch, prepare;
	struct sv_input peer;
	struct {
		struct sv_input rate;
		double flop, bytes, count; /* of one product; how many */
	} gemm[SV_WORKLOAD_MAX_GEMM];
	size_t n_gemm;
	double reset_bytes; /* working set that `reset` was measured for */
	double memory_bytes_free; /* 0 unknown */

	/* What the workload asks for and the result does not tell. */
	const char *missing[SV_MODEL_MAX_NOTES];
	size_t n_missing;
	const char *extrapolated[SV_MODEL_MAX_NOTES];
	size_t n_extrapolated;
};

/*
 * Look up what the workload needs at its batch. Errors: SV_EINPUT from an
 * expression; what is merely not measured goes to missing.
 */
SV_MUST_CHECK int sv_model_prepare(struct sv_model *, const struct sv_result *,
    const struct sv_workload *, bool use_flagged, struct sv_err *err);

/* The terms that these medians give. */
void sv_model_terms(
    const struct sv_model *, const double *medians, struct sv_terms *out);

/* Measurements that a component rests on: up to max ids; returns how many. */
size_t sv_model_evidence(
    const struct sv_model *, enum sv_component, const char **ids, size_t max);

#endif
