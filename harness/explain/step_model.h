/*
 * How long one training step takes on a machine: every stage from its own
 * measurements, then one clock for the host and one for the device. Pure
 * functions; method notes, section 4. Inside the room only.
 */
#ifndef STAVE_STEP_MODEL_H
#define STAVE_STEP_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "inputs.h"
#include "workload.h"

enum sv_component {
	SV_STORAGE,
	SV_PREPROCESS,
	SV_TRANSFER,
	SV_DISPATCH,
	SV_GEMM,
	SV_MEMORY,
	SV_SYNC,
	SV_ALLOCATOR,
	SV_EXCHANGE,
	SV_SPILL,
	SV_UNEXPLAINED, /* what a measured step adds to the model's */
	SV_N_COMPONENTS,
};

const char *sv_component_name(enum sv_component);

/* `count` kernels of `each_s` seconds on the device. */
struct sv_gemm_time {
	double each_s, count;
};

/*
 * One step's stages: each member belongs to the component that it is named
 * after, so that a step may be put together from two machines.
 */
struct sv_stages {
	double storage_s;
	struct {
		double s;
		bool is_async; /* beside the step, by workers */
	} preprocess;
	struct {
		double s;
		double hidden; /* of it, what can hide behind the step: 0…1 */
	} transfer;
	struct {
		double kernels;
		double host_each_s; /* of the host, for a kernel */
		double latency_s;   /* from submit to start, queue empty */
		double floor_s;	    /* of the device, for the least kernel */
	} dispatch;
	struct {
		const struct sv_gemm_time *list;
		size_t n;
		bool is_spread; /* over all kernels, for want of a list */
	} gemm;
	double memory_s;
	struct {
		double count, each_s;
	} sync;
	struct {
		double count, each_s;
	} allocator;
	double exchange_s;
	double spill_s;
	double unexplained_s; /* may be negative */
};

/* Seconds of one step. */
double sv_step_time(const struct sv_stages *);

/* Take a component out, as if it cost nothing. */
void sv_stage_drop(struct sv_stages *, enum sv_component);
/*
 * The component without which the step would be shortest: what limits it, of
 * those that are modelled.
 * SV_N_COMPONENTS where the step is nothing.
 */
enum sv_component sv_step_limit(const struct sv_stages *);

/* Seconds of one component by itself, in no company. */
double sv_stage_alone(const struct sv_stages *, enum sv_component);

/* Put one component of `from` into `to`. */
void sv_stage_take(
    struct sv_stages *to, const struct sv_stages *from, enum sv_component);
/* Whether a component is the same in both. */
bool sv_stage_equal(
    const struct sv_stages *, const struct sv_stages *, enum sv_component);

/* What is asked of one machine: its measurements and the step. */
struct sv_side {
	const struct sv_inputs *in;
	const struct sv_inputs *other; /* the result it is compared with */
	const struct sv_workload *workload;
	long batch;
	/* Changes that a question supposes; 1 and false for none. */
	double link_factor; /* on bandwidth over the link */
	double gemm_factor; /* on the rate of products */
	bool graphs;	    /* the step is replayed as a graph */
	bool benched; /* as the step benchmark runs it: see sv_step_plan_new */
	bool near;    /* host memory is on the card's node */
	long workers; /* of the loader; below 0: as the workload says */
	const char *precision; /* NULL: as the workload says */
};

/* Side with nothing supposed. */
struct sv_side sv_side_plain(
    const struct sv_inputs *, const struct sv_workload *, long batch);

/*
 * A side made ready to be asked many times: lookups that do not change from
 * draw to draw are done.
 */
struct sv_step_plan;

struct sv_step_facts {
	struct sv_evidence evidence[SV_N_COMPONENTS];
	/* The step asks for it, and the result has no measurement of it. */
	bool missing[SV_N_COMPONENTS];
};

/*
 * memory_op: which of TRIAD, COPY and READ stands for kernels bound by
 * memory. A benched side has no loader, one device, pinned batches copied
 * ahead, bare launches and no waits, whatever its workload says. Errors:
 * SV_EINPUT from the demand, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_step_plan_new(const struct sv_side *,
    enum sv_curve_name memory_op, struct sv_step_facts *facts,
    struct sv_step_plan **out, struct sv_err *err);
void sv_step_plan_free(struct sv_step_plan *);

/*
 * The stages with these values of measurements; the list of products lives in
 * the plan until it is asked again.
 */
void sv_step_stages(
    struct sv_step_plan *, const double *values, struct sv_stages *out);

/* The operation on memory that both results have, or that either has. */
enum sv_curve_name sv_memory_op(
    const struct sv_inputs *a, const struct sv_inputs *b);

/* What the workload's word for a precision means for products. */
enum sv_precision sv_precision_of(const char *word, bool bf16);
/* Whether a precision counts the bytes of amp. */
bool sv_is_half(const char *word);

#endif
