/*
 * The kernels of a training step: what they move, and their effect. Results
 * are lazy, so that a step whose loss nobody reads costs nothing to simulate.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "kernels.h"
#include "step_math.h"

static size_t type_bytes(uint32_t type)
{
	return type == SVK_FLOAT ? 4 : 2;
}

static float load(uint32_t type, const unsigned char *from, uint64_t i)
{
	uint16_t half;
	float value;

	if (type == SVK_FLOAT) {
		memcpy(&value, from + 4 * i, sizeof value);
		return value;
	}
	memcpy(&half, from + 2 * i, sizeof half);
	return type == SVK_HALF ? sv_half_to_float(half)
				: sv_bfloat_to_float(half);
}

static void store(uint32_t type, unsigned char *to, uint64_t i, float value)
{
	uint16_t half;

	if (type == SVK_FLOAT) {
		memcpy(to + 4 * i, &value, sizeof value);
		return;
	}
	half = type == SVK_HALF ? sv_half_from_float(value)
				: sv_bfloat_from_float(value);
	memcpy(to + 2 * i, &half, sizeof half);
}

/* Compute elements [first, first + count) of a result, to out. */
typedef void elements_fn(
    struct sim_lazy *, uint64_t first, uint64_t count, unsigned char *out);

/* Bytes [from, to) of a result whose elements have `each` bytes. */
static void produce(struct sim_lazy *lazy, uint64_t from, uint64_t to,
    unsigned char *out, size_t each, elements_fn *fn)
{
	uint64_t first = (from - lazy->output) / each;
	uint64_t end = (to - lazy->output + each - 1) / each;
	uint64_t head = from - lazy->output - first * each;
	unsigned char *whole;

	if (head == 0 && to - from == (end - first) * each) {
		fn(lazy, first, end - first, out);
		return;
	}
	whole = malloc((end - first) * each);
	if (whole == NULL)
		abort(); /* the simulation's own memory: nothing to test */
	fn(lazy, first, end - first, whole);
	memcpy(out, whole + head, to - from);
	free(whole);
}

/* Elements of operand `index`, whose type has `each` bytes. */
static const unsigned char *operand(struct sim_lazy *lazy, size_t index,
    size_t each, uint64_t first, uint64_t count)
{
	return sim_operand_read(lazy, index, first * each, count * each);
}

/* Arguments of the kernel that a result is of. */
#define ARGS(kernel)                       \
	struct svk_step_##kernel##_args a; \
                                           \
	memcpy(&a, lazy->args, sizeof a)
#define ARGS_OF_OP(kernel)                 \
	struct svk_step_##kernel##_args a; \
                                           \
	memcpy(&a, op->args, sizeof a)

/* A produce function for elements of `each` bytes, which may look at a. */
#define PRODUCE(kernel, what, each)                                      \
	static void produce_##what(struct sim_lazy *lazy, uint64_t from, \
	    uint64_t to, unsigned char *out)                             \
	{                                                                \
		ARGS(kernel);                                            \
		(void)a;                                                 \
		produce(lazy, from, to, out, each, what##_elements);     \
	}

static struct sim_work work_on(const struct sim_op *op, sim_produce_fn *fn,
    uint64_t output, uint64_t output_bytes)
{
	return (struct sim_work){.produce = fn,
	    .output = output,
	    .output_bytes = output_bytes,
	    .args = op->args,
	    .args_bytes = op->kernel->args_bytes};
}

static void add_input(struct sim_work *work, uint64_t address, uint64_t bytes)
{
	work->in[work->n_in] = address;
	work->in_bytes[work->n_in++] = bytes;
}

/* --- fill --- */

static void fill_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	ARGS_OF_OP(fill);

	cost->device_bytes = a.n * (type_bytes(a.type) + (a.copy != 0 ? 4 : 0));
}

static void weight_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	ARGS(fill);

	for (uint64_t i = 0; i < count; i++)
		store(a.type, out, i, a.scale * svk_weight(a.seed, first + i));
}
PRODUCE(fill, weight, type_bytes(a.type))

static void master_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	ARGS(fill);

	for (uint64_t i = 0; i < count; i++)
		store(
		    SVK_FLOAT, out, i, a.scale * svk_weight(a.seed, first + i));
}
PRODUCE(fill, master, 4)

static int fill_effect(struct sim_op *op)
{
	ARGS_OF_OP(fill);
	struct sim_work weight =
	    work_on(op, produce_weight, a.dst, a.n * type_bytes(a.type));
	struct sim_work master = work_on(op, produce_master, a.copy, 4 * a.n);
	int rc = sim_work_do(&weight);

	return rc != 0 || a.copy == 0 ? rc : sim_work_do(&master);
}

/* --- input --- */

static void input_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	ARGS_OF_OP(input);

	cost->device_bytes = a.n * (1 + type_bytes(a.type));
}

static void feature_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	const unsigned char *bytes;
	ARGS(input);

	bytes = operand(lazy, 0, 1, 0, a.n_bytes);
	for (uint64_t i = 0; i < count; i++)
		store(
		    a.type, out, i, svk_pixel(bytes[(first + i) % a.n_bytes]));
}
PRODUCE(input, feature, type_bytes(a.type))

static int input_effect(struct sim_op *op)
{
	ARGS_OF_OP(input);
	struct sim_work work =
	    work_on(op, produce_feature, a.x, a.n * type_bytes(a.type));

	add_input(&work, a.bytes, a.n_bytes);
	return sim_work_do(&work);
}

/* --- relu --- */

static void relu_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	ARGS_OF_OP(relu);

	cost->device_bytes = 2 * a.n * type_bytes(a.type);
}

static void relu_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	const unsigned char *x;
	ARGS(relu);

	x = operand(lazy, 0, type_bytes(a.type), first, count);
	for (uint64_t i = 0; i < count; i++) {
		float value = load(a.type, x, i);

		store(a.type, out, i, value > 0.0f ? value : 0.0f);
	}
}
PRODUCE(relu, relu, type_bytes(a.type))

static int relu_effect(struct sim_op *op)
{
	ARGS_OF_OP(relu);
	uint64_t bytes = a.n * type_bytes(a.type);
	struct sim_work work = work_on(op, produce_relu, a.x, bytes);

	add_input(&work, a.x, bytes);
	return sim_work_do(&work);
}

/* --- relu, backward --- */

static void relu_back_cost(
    const struct sim_op *op, struct sim_kernel_cost *cost)
{
	ARGS_OF_OP(relu_back);

	cost->device_bytes = 3 * a.n * type_bytes(a.type);
}

static void gradient_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	const unsigned char *g, *x;
	ARGS(relu_back);

	g = operand(lazy, 0, type_bytes(a.type), first, count);
	x = operand(lazy, 1, type_bytes(a.type), first, count);
	for (uint64_t i = 0; i < count; i++)
		store(a.type, out, i,
		    load(a.type, x, i) > 0.0f ? load(a.type, g, i) : 0.0f);
}
PRODUCE(relu_back, gradient, type_bytes(a.type))

static int relu_back_effect(struct sim_op *op)
{
	ARGS_OF_OP(relu_back);
	uint64_t bytes = a.n * type_bytes(a.type);
	struct sim_work work = work_on(op, produce_gradient, a.g, bytes);

	add_input(&work, a.g, bytes);
	add_input(&work, a.x, bytes);
	return sim_work_do(&work);
}

/* --- loss --- */

static void loss_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	ARGS_OF_OP(loss);

	cost->device_bytes = 3 * a.rows * a.n * type_bytes(a.type);
}

static float difference(const struct svk_step_loss_args *a,
    const unsigned char *y, const unsigned char *x, uint64_t i)
{
	uint64_t row = i / a->n, column = i % a->n;

	return load(a->type, y, i) -
	       0.5f * load(a->type, x, row * a->k + column % a->k);
}

/* Both operands whole: a part of y needs scattered elements of x. */
#define LOSS_OPERANDS                                              \
	const unsigned char *y =                                   \
	    operand(lazy, 0, type_bytes(a.type), 0, a.rows * a.n); \
	const unsigned char *x =                                   \
	    operand(lazy, 1, type_bytes(a.type), 0, a.rows * a.k)

static void part_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	ARGS(loss);
	uint64_t n = a.rows * a.n;
	LOSS_OPERANDS;

	for (uint64_t p = first; p < first + count; p++) {
		float sum = 0.0f;

		for (uint64_t i = n * p / SVK_STEP_PARTS;
		     i < n * (p + 1) / SVK_STEP_PARTS; i++) {
			float d = difference(&a, y, x, i);

			sum += d * d;
		}
		store(SVK_FLOAT, out, p - first, a.weight * sum);
	}
}
PRODUCE(loss, part, 4)

static void slope_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	ARGS(loss);
	LOSS_OPERANDS;

	for (uint64_t i = 0; i < count; i++)
		store(a.type, out, i,
		    a.gradient_scale * difference(&a, y, x, first + i));
}
PRODUCE(loss, slope, type_bytes(a.type))

static int loss_effect(struct sim_op *op)
{
	ARGS_OF_OP(loss);
	uint64_t y_bytes = a.rows * a.n * type_bytes(a.type);
	struct sim_work parts =
	    work_on(op, produce_part, a.parts, 4 * SVK_STEP_PARTS);
	struct sim_work slope = work_on(op, produce_slope, a.y, y_bytes);
	int rc;

	add_input(&parts, a.y, y_bytes);
	add_input(&parts, a.x, a.rows * a.k * type_bytes(a.type));
	add_input(&slope, a.y, y_bytes);
	add_input(&slope, a.x, a.rows * a.k * type_bytes(a.type));
	/* The sums are of y as it was. */
	rc = sim_work_do(&parts);
	return rc != 0 ? rc : sim_work_do(&slope);
}

/* --- Adam --- */

static void adam_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	ARGS_OF_OP(adam);

	cost->device_bytes = a.n * (24 + type_bytes(a.type) +
				       (a.copy != 0 ? type_bytes(a.type) : 0));
}

/* Which of the three results of an update is wanted. */
enum updated {
	PARAMETER,
	MOMENT_1,
	MOMENT_2,
};

/* Operands: g, m, v, and p where that is wanted. */
static void update_elements(struct sim_lazy *lazy, uint64_t first,
    uint64_t count, unsigned char *out, enum updated wanted)
{
	const unsigned char *p = NULL, *g, *m, *v;
	ARGS(adam);

	g = operand(lazy, 0, type_bytes(a.type), first, count);
	m = operand(lazy, 1, 4, first, count);
	v = operand(lazy, 2, 4, first, count);
	if (wanted == PARAMETER)
		p = operand(lazy, 3, 4, first, count);
	for (uint64_t i = 0; i < count; i++) {
		float m_i = load(SVK_FLOAT, m, i), v_i = load(SVK_FLOAT, v, i);
		float p_i = svk_adam(p != NULL ? load(SVK_FLOAT, p, i) : 0.0f,
		    load(a.type, g, i), &m_i, &v_i, a.rate, a.correction_1,
		    a.correction_2);

		store(SVK_FLOAT, out, i,
		    wanted == PARAMETER	 ? p_i
		    : wanted == MOMENT_1 ? m_i
					 : v_i);
	}
}

/*
 * Moments that the same update left are computed with its parameters: nobody
 * reads them, and so they would wait for each other, step behind step.
 */
static void settle_moment(
    const struct sim_lazy *lazy, uint64_t address, uint64_t bytes)
{
	struct sim_span *span = sim_span_find(address, bytes);
	struct sim_lazy *moment;
	uint64_t end;

	if (span == NULL)
		return;
	moment = sim_span_lazy_at(span, address, &end);
	if (moment != NULL && memcmp(moment->args, lazy->args,
				  sizeof(struct svk_step_adam_args)) == 0)
		sim_span_read(span, address, bytes);
}

static void parameter_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	ARGS(adam);

	update_elements(lazy, first, count, out, PARAMETER);
	settle_moment(lazy, a.m + 4 * first, 4 * count);
	settle_moment(lazy, a.v + 4 * first, 4 * count);
}
PRODUCE(adam, parameter, 4)

static void moment_1_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	update_elements(lazy, first, count, out, MOMENT_1);
}
PRODUCE(adam, moment_1, 4)

static void moment_2_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	update_elements(lazy, first, count, out, MOMENT_2);
}
PRODUCE(adam, moment_2, 4)

static void copied_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	const unsigned char *p = operand(lazy, 0, 4, first, count);
	ARGS(adam);

	for (uint64_t i = 0; i < count; i++)
		store(a.type, out, i, load(SVK_FLOAT, p, i));
}
PRODUCE(adam, copied, type_bytes(a.type))

static int adam_effect(struct sim_op *op)
{
	ARGS_OF_OP(adam);
	/* p first: what it needs of m and v is kept when they are written. */
	struct sim_work works[] = {
	    work_on(op, produce_parameter, a.p, 4 * a.n),
	    work_on(op, produce_moment_1, a.m, 4 * a.n),
	    work_on(op, produce_moment_2, a.v, 4 * a.n),
	};
	struct sim_work copy =
	    work_on(op, produce_copied, a.copy, a.n * type_bytes(a.type));
	int rc = 0;

	for (size_t i = 0; i < 3 && rc == 0; i++) {
		add_input(&works[i], a.g, a.n * type_bytes(a.type));
		add_input(&works[i], a.m, 4 * a.n);
		add_input(&works[i], a.v, 4 * a.n);
		if (i == 0)
			add_input(&works[i], a.p, 4 * a.n);
		rc = sim_work_do(&works[i]);
	}
	add_input(&copy, a.p, 4 * a.n);
	return rc != 0 || a.copy == 0 ? rc : sim_work_do(&copy);
}

/* --- normalisation --- */

static void norm_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	ARGS_OF_OP(norm);

	cost->device_bytes = 8 * a.rows * a.width;
}

static void normal_elements(
    struct sim_lazy *lazy, uint64_t first, uint64_t count, unsigned char *out)
{
	ARGS(norm);

	/* An element is a row here. */
	for (uint64_t row = 0; row < count; row++, out += 4 * a.width) {
		const unsigned char *src =
		    operand(lazy, 0, 4, (first + row) * a.width, a.width);
		float sum = 0.0f, squares = 0.0f, mean, scale;

		for (uint64_t i = 0; i < a.width; i++) {
			float value = load(SVK_FLOAT, src, i);

			sum += value;
			squares += value * value;
		}
		mean = sum / (float)a.width;
		scale = 1.0f / sqrtf(squares / (float)a.width - mean * mean +
				     SVK_VARIANCE_FLOOR);
		for (uint64_t i = 0; i < a.width; i++)
			store(SVK_FLOAT, out, i,
			    (load(SVK_FLOAT, src, i) - mean) * scale);
	}
}
PRODUCE(norm, normal, 4 * a.width)

static int norm_effect(struct sim_op *op)
{
	ARGS_OF_OP(norm);
	uint64_t bytes = 4 * a.rows * a.width;
	struct sim_work work = work_on(op, produce_normal, a.dst, bytes);

	add_input(&work, a.src, bytes);
	return sim_work_do(&work);
}

#define KERNEL(name, kernel)                                          \
	{                                                             \
		name, sizeof(struct svk_step_##kernel##_args), false, \
		    kernel##_cost, kernel##_effect                    \
	}
const struct sim_kernel sim_step_kernels[] = {
    KERNEL(SV_KERNEL_STEP_FILL, fill),
    KERNEL(SV_KERNEL_STEP_INPUT, input),
    KERNEL(SV_KERNEL_STEP_RELU, relu),
    KERNEL(SV_KERNEL_STEP_RELU_BACK, relu_back),
    KERNEL(SV_KERNEL_STEP_LOSS, loss),
    KERNEL(SV_KERNEL_STEP_ADAM, adam),
    KERNEL(SV_KERNEL_STEP_NORM, norm),
};
const size_t sim_step_kernels_count =
    sizeof sim_step_kernels / sizeof sim_step_kernels[0];
