/*
 * The workloads that are shipped, from their files to what a worker makes of
 * them: nothing is refused, nothing is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "near.h"
#include "step_program.h"
#include "tasks.h"
#include "workload_tasks.h"

static void good(int code, const struct sv_err *err)
{
	if (code != 0)
		fail_msg("%s", err->text);
}

/* One word, as the worker has it, in one precision. */
static void check_program(
    const struct sv_task *task, enum sv_precision precision)
{
	enum svk_type type = precision == SV_FP32 ? SVK_FLOAT : SVK_HALF;
	struct sv_step_program p;
	struct sv_err err = {0};
	double flop = 0.0;

	good(sv_step_program_make(
		 task, precision, type, type == SVK_FLOAT ? 4 : 2, &p, &err),
	    &err);
	for (size_t i = 0; i < p.n_ops; i++)
		if (p.ops[i].kind == SV_STEP_GEMM)
			flop += 2.0 * (double)p.ops[i].m * (double)p.ops[i].n *
				(double)p.ops[i].k * (double)p.ops[i].count;
	assert_near(flop, sv_task_flop(task), 1e-12);
	assert_true(p.n_ops >= task->kernels);
	/* At its own batch the file's count is one that its products allow. */
	if (task->habits && p.n_ops > task->kernels + task->kernels / 50)
		fail_msg("%s: %zu launches, the file says %llu", task->name,
		    p.n_ops, (unsigned long long)task->kernels);
	sv_step_program_fini(&p);
}

static void every_shipped_workload_becomes_a_step(void **state)
{
	struct sv_err err = {0};
	char **names;
	size_t n = 0;

	(void)state;
	good(sv_workload_shipped(&names, &err), &err);
	for (; names[n] != NULL; n++) {
		struct sv_workload *w;
		struct sv_words words = {0};
		struct sv_tasks tasks = {0};

		good(sv_workload_read(names[n], &w, &err), &err);
		assert_string_equal(sv_workload_name(w), names[n]);
		assert_non_null(sv_workload_title(w));
		good(sv_workload_tasks(w, SV_BATCHES_MANY, &words, &err), &err);
		assert_true(words.n >= 3);
		for (size_t i = 0; i < words.n; i++) {
			good(sv_tasks_add(&tasks, words.items[i], &err), &err);
			check_program(&tasks.items[i], SV_FP32);
			check_program(&tasks.items[i], SV_FP16);
		}
		sv_tasks_fini(&tasks);
		sv_words_fini(&words);
		sv_workload_free(w);
	}
	assert_true(n == 6);
	free(names);
}

/* Source: method notes, section 4, the derived table. */
static void shipped_figures_are_the_derived_ones(void **state)
{
	static const struct {
		const char *name;
		double flop_per_sample;
	} derived[] = {{"resnet50", 24.5e9}, {"bert-base-128", 67.0e9},
	    {"mlp-tiny", 66e3}, {"graphsage", 47e6},
	    {"llama-7b-lora", 57.4e12}};

	(void)state;
	for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
		struct sv_workload *w;
		struct sv_demand d;
		struct sv_err err = {0};
		double flop = 0.0;
		long batch;

		good(sv_workload_read(derived[i].name, &w, &err), &err);
		batch = sv_workload_defaults(w)->batch;
		good(sv_workload_demand(w, batch, &d, &err), &err);
		for (size_t j = 0; j < d.n_gemm; j++)
			flop += 2.0 * d.gemm[j].m * d.gemm[j].n * d.gemm[j].k *
				d.gemm[j].count;
		/* Products alone: biases and the like are not in it. */
		assert_near(
		    flop / (double)batch, derived[i].flop_per_sample, 0.1);
		sv_demand_fini(&d);
		sv_workload_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_shipped_workload_becomes_a_step),
	    cmocka_unit_test(shipped_figures_are_the_derived_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
