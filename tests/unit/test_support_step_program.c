/* What a training step launches for a task: layers, memory, traffic, order. */
#include <string.h>

#include "cmocka_all.h"
#include "context.h"
#include "near.h"
#include "step_program.h"
#include "tasks.h"

static struct sv_step_program made(const char *word, enum svk_type type)
{
	struct sv_tasks tasks = {0};
	struct sv_step_program p = {0};
	struct sv_err err = {0};

	if (sv_tasks_add(&tasks, word, &err) != 0 ||
	    sv_step_program_make(&tasks.items[0],
		type == SVK_FLOAT ? SV_FP32 : SV_FP16, type,
		type == SVK_FLOAT ? 4 : 2, &p, &err) != 0)
		fail_msg("%s", err.text);
	sv_tasks_fini(&tasks);
	return p;
}

static size_t count(const struct sv_step_program *p, enum sv_step_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_ops; i++)
		n += p->ops[i].kind == kind;
	return n;
}

/* Bytes behind a place that an operation needs there. */
static void inside(
    const struct sv_step_program *p, struct sv_step_place place, uint64_t bytes)
{
	assert_true(place.block < p->n_blocks);
	assert_true(place.offset_bytes + bytes <= p->block_bytes[place.block]);
}

/* Every operand of every operation lies in the block that it names. */
static void all_inside(const struct sv_step_program *p)
{
	size_t e = p->element_bytes;

	for (size_t i = 0; i < p->n_ops; i++) {
		const struct sv_step_op *op = &p->ops[i];
		uint64_t mn = op->m * op->n, mk = op->m * op->k;

		switch (op->kind) {
		case SV_STEP_GEMM:
			inside(p, op->a, op->count * mk * e);
			inside(p, op->b, op->count * op->k * op->n * e);
			inside(p, op->c, op->count * mn * e);
			break;
		case SV_STEP_INPUT:
			inside(p, op->c, mk * e);
			break;
		case SV_STEP_LOSS:
			inside(p, op->a, mk * e);
			inside(p, op->b, 4 * SVK_STEP_PARTS);
			inside(p, op->c, mn * e);
			break;
		case SV_STEP_RELU_BACK:
			inside(p, op->a, mn * e);
			inside(p, op->c, mn * e);
			break;
		case SV_STEP_RELU:
			inside(p, op->c, mn * e);
			break;
		case SV_STEP_SUM:
			inside(p, op->a, 4 * op->n);
			inside(p, op->c, 4);
			break;
		case SV_STEP_NORM:
			inside(p, op->a, 4 * mn);
			inside(p, op->c, 4 * mn);
			break;
		case SV_STEP_ADD:
			inside(p, op->a, 4 * op->n);
			inside(p, op->b, 4 * op->n);
			inside(p, op->c, 4 * op->n);
			break;
		case SV_STEP_ADAM:
			break;
		}
	}
}

/* Two layers of 16-32-8; the first gives no gradient of its input. */
#define TWO_LAYERS                                      \
	"two;batch=4;gemm=4,32,16,1,1;gemm=4,8,32,1,1;" \
	"gemm=32,8,4,1,1;gemm=4,32,8,1,1;gemm=16,32,4,1,1;"

static void layers_are_found_by_their_backward_products(void **state)
{
	struct sv_step_program p = made(TWO_LAYERS "kernels=0", SVK_FLOAT);

	(void)state;
	assert_true(p.chains == 1 && p.parameters == 16 * 32 + 32 * 8);
	assert_true(count(&p, SV_STEP_GEMM) == 5);
	assert_true(count(&p, SV_STEP_INPUT) == 1);
	assert_true(count(&p, SV_STEP_RELU) == 1);
	assert_true(count(&p, SV_STEP_RELU_BACK) == 1);
	assert_true(count(&p, SV_STEP_LOSS) == 1);
	assert_true(count(&p, SV_STEP_ADAM) == 1);
	/* Nothing is left to fill up. */
	assert_true(count(&p, SV_STEP_NORM) + count(&p, SV_STEP_ADD) == 0);
	all_inside(&p);
	sv_step_program_fini(&p);
}

static void the_order_is_that_of_a_step(void **state)
{
	static const enum sv_step_kind order[] = {SV_STEP_INPUT, SV_STEP_GEMM,
	    SV_STEP_RELU, SV_STEP_GEMM, SV_STEP_LOSS, SV_STEP_GEMM,
	    SV_STEP_GEMM, SV_STEP_RELU_BACK, SV_STEP_GEMM, SV_STEP_SUM,
	    SV_STEP_ADAM};
	struct sv_step_program p = made(TWO_LAYERS "kernels=0", SVK_FLOAT);

	(void)state;
	assert_true(p.n_ops == sizeof order / sizeof order[0]);
	for (size_t i = 0; i < p.n_ops; i++)
		assert_int_equal(p.ops[i].kind, order[i]);
	/* dW = X'.dY, then dX = dY.W' */
	assert_true(p.ops[5].transpose_a && !p.ops[5].transpose_b);
	assert_true(!p.ops[6].transpose_a && p.ops[6].transpose_b);
	assert_true(p.ops[5].c.block == SV_STEP_GRADIENTS);
	sv_step_program_fini(&p);
}

static void launches_and_traffic_are_the_workloads(void **state)
{
	struct sv_step_program p =
	    made(TWO_LAYERS "kernels=100;memory=40000000,20000000", SVK_FLOAT);
	double bytes = 0.0;

	(void)state;
	assert_true(p.n_ops == 100);
	for (size_t i = 0; i < p.n_ops; i++)
		bytes += sv_step_op_bytes(&p, &p.ops[i]);
	assert_near(bytes, 4e7, 0.02);
	assert_true(count(&p, SV_STEP_NORM) == count(&p, SV_STEP_ADD) ||
		    count(&p, SV_STEP_NORM) == count(&p, SV_STEP_ADD) + 1);
	all_inside(&p);
	sv_step_program_fini(&p);
}

static void halves_have_a_master_copy_and_half_the_bytes(void **state)
{
	struct sv_step_program single = made(TWO_LAYERS "kernels=0", SVK_FLOAT);
	struct sv_step_program half = made(TWO_LAYERS "kernels=0", SVK_HALF);

	(void)state;
	assert_true(single.block_bytes[SV_STEP_MASTER] == 0);
	assert_true(half.block_bytes[SV_STEP_MASTER] == 4 * half.parameters);
	assert_true(2 * half.block_bytes[SV_STEP_WEIGHTS] ==
		    single.block_bytes[SV_STEP_WEIGHTS]);
	all_inside(&half);
	sv_step_program_fini(&single);
	sv_step_program_fini(&half);
}

static void frozen_layers_and_products_of_none_are_multiplied_too(void **state)
{
	/* Frozen: forward and the input's gradient; then 12 strided ones. */
	struct sv_step_program p =
	    made("lora;batch=2;gemm=2,64,64,1,1;gemm=2,64,64,1,1;"
		 "gemm=2,8,64,1,1;gemm=2,64,8,1,1;gemm=64,8,2,1,1;"
		 "gemm=16,16,4,12,1;kernels=0",
		SVK_FLOAT);
	uint64_t strided = 0;

	(void)state;
	assert_true(count(&p, SV_STEP_GEMM) == 6);
	assert_true(p.parameters == 64 * 8 && p.n_weights == 2);
	assert_true(p.weights[0].trained && !p.weights[1].trained);
	for (size_t i = 0; i < p.n_ops; i++)
		if (p.ops[i].kind == SV_STEP_GEMM && p.ops[i].count > 1)
			strided = p.ops[i].count;
	assert_true(strided == 12);
	all_inside(&p);
	sv_step_program_fini(&p);
}

static void chains_are_cut_where_they_grow_deep(void **state)
{
	struct sv_step_program p =
	    made("deep;batch=4;gemm=4,16,16,10,10;gemm=16,16,4,10,10;"
		 "gemm=4,16,16,10,10;kernels=0",
		SVK_FLOAT);

	(void)state;
	assert_true(p.chains == 3 && count(&p, SV_STEP_GEMM) == 30);
	assert_true(count(&p, SV_STEP_RELU) == 7);
	all_inside(&p);
	sv_step_program_fini(&p);
}

static void nothing_to_learn_is_refused(void **state)
{
	struct sv_tasks tasks = {0};
	struct sv_step_program p;
	struct sv_err err = {0};

	(void)state;
	assert_int_equal(
	    sv_tasks_add(&tasks, "idle;batch=1;gemm=8,9,10,2,2", &err), 0);
	assert_int_equal(sv_step_program_make(
			     &tasks.items[0], SV_FP32, SVK_FLOAT, 4, &p, &err),
	    SV_EUNSUPPORTED);
	assert_non_null(strstr(err.text, "idle"));
	sv_step_program_fini(&p);
	sv_tasks_fini(&tasks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(layers_are_found_by_their_backward_products),
	    cmocka_unit_test(the_order_is_that_of_a_step),
	    cmocka_unit_test(launches_and_traffic_are_the_workloads),
	    cmocka_unit_test(halves_have_a_master_copy_and_half_the_bytes),
	    cmocka_unit_test(
		frozen_layers_and_products_of_none_are_multiplied_too),
	    cmocka_unit_test(chains_are_cut_where_they_grow_deep),
	    cmocka_unit_test(nothing_to_learn_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
