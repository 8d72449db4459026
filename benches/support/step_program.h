/*
 * From a task to what one training step launches: a list of operations over
 * blocks of device memory. Pure; knows no device.
 *
 * A workload names products, not a network. Products are taken together to a
 * layer where one is another's backward product: Y[m][n] = X[m][k]·W[k][n]
 * with dW = Xᵀ·dY, a product of k, n, m, and dX = dY·Wᵀ, of m, k, n. A layer
 * without the first is frozen. Layers whose shapes fit are chained, at most
 * SV_STEP_CHAIN of them, with a ReLU between; each chain learns to give back
 * half of the features that it is fed, which come from the step's batch. What
 * belongs to no layer is multiplied all the same. Memory traffic and launches
 * that the workload has beyond that are normalisations and additions between
 * the others.
 */
#ifndef STAVE_STEP_PROGRAM_H
#define STAVE_STEP_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "kernels.h"
#include "stave/task.h"

/* Deeper chains learn slowly without the shortcuts that no file names. */
#define SV_STEP_CHAIN 4

enum sv_step_kind {
	SV_STEP_INPUT,	   /* c = features, m·k of them */
	SV_STEP_GEMM,	   /* c = a·b */
	SV_STEP_RELU,	   /* c, m·n elements */
	SV_STEP_LOSS,	   /* c [m][n] against a [m][k], sums to b */
	SV_STEP_RELU_BACK, /* c by the sign of a, m·n elements */
	SV_STEP_SUM,	   /* c = sum of the n floats at a */
	SV_STEP_ADAM,	   /* over all trained parameters */
	SV_STEP_NORM,	   /* c = rows [m][n] of a, brought to 0 and 1 */
	SV_STEP_ADD,	   /* c = a + b, n floats */
};

/* The first blocks; those from SV_STEP_ACTIVATIONS on live for one step. */
enum sv_step_block {
	SV_STEP_WEIGHTS, /* of all layers, trained ones first; of type */
	SV_STEP_GRADIENTS,
	SV_STEP_MASTER,	 /* floats; empty where weights are floats */
	SV_STEP_MOMENTS, /* floats, two for each parameter */
	SV_STEP_LOSSES,	 /* floats: the loss, then its parts */
	SV_STEP_STILL,	 /* operands that no step changes; of type */
	SV_STEP_ACTIVATIONS,
};

struct sv_step_place {
	size_t block, offset_bytes;
};

struct sv_step_op {
	enum sv_step_kind kind;
	const char *name; /* for a timeline */
	struct sv_step_place a, b, c;
	uint64_t m, n, k, count;
	bool transpose_a, transpose_b;
	float weight, gradient_scale; /* of a loss */
};

/* One layer's initial weights: uniform in ± scale. */
struct sv_step_weights {
	struct sv_step_place at;
	uint64_t n;
	float scale;
	bool trained; /* and so in the master copy, at the same element */
};

struct sv_step_program {
	enum svk_type type;
	size_t element_bytes;
	struct sv_step_op *ops;
	size_t n_ops;
	size_t *block_bytes;
	size_t n_blocks;
	struct sv_step_weights *weights;
	size_t n_weights;
	uint64_t parameters; /* trained, with what aligns them */
	float rate;	     /* of learning */
	size_t chains;
};

/*
 * Make the program of a task. element_bytes: of a matrix's element of the
 * type. Errors: SV_EUNSUPPORTED for a task with nothing to learn,
 * SV_ERESOURCE. *out is to be ended in any case.
 */
SV_MUST_CHECK int sv_step_program_make(const struct sv_task *,
    enum sv_precision precision, enum svk_type type, size_t element_bytes,
    struct sv_step_program *out, struct sv_err *err);
void sv_step_program_fini(struct sv_step_program *);

/* Device memory that all blocks take. */
double sv_step_program_bytes(const struct sv_step_program *);
/* Memory traffic of an operation that is no product. */
double sv_step_op_bytes(
    const struct sv_step_program *, const struct sv_step_op *);

#endif
