/* Tasks as words: what is read, and what is refused. */
#include <string.h>

#include "cmocka_all.h"
#include "context.h"
#include "near.h"
#include "random.h"
#include "step_program.h"
#include "tasks.h"

static void a_task_is_read_whole(void **state)
{
	struct sv_tasks tasks = {0};
	struct sv_err err;
	const struct sv_task *t;

	(void)state;
	assert_int_equal(
	    sv_tasks_add(&tasks,
		"net-1;batch=64;precision=bf16;half=bf16;habits=1;kernels=80;"
		"memory=655360,327680;h2d=7040;d2h=4;set=1000000;"
		"gemm=64,32,17,1,1;gemm=8,8,8,20,1",
		&err),
	    0);
	t = &tasks.items[0];
	assert_string_equal(t->name, "net-1");
	assert_true(t->batch == 64 && t->kernels == 80 && t->habits);
	assert_true(t->precision == SV_BF16 && t->half == SV_BF16);
	assert_true(t->h2d_bytes == 7040 && t->d2h_bytes == 4);
	assert_true(t->set_bytes == 1000000 && t->n_gemm == 2);
	assert_true(t->gemm[0].k == 17 && t->gemm[0].launches == 1);
	assert_true(t->gemm[1].count == 20 && t->gemm[1].launches == 1);
	assert_near(sv_task_memory_bytes(t, SV_TF32), 655360.0, 0.0);
	assert_near(sv_task_memory_bytes(t, SV_BF16), 327680.0, 0.0);
	assert_near(sv_task_flop(t), 2.0 * (64 * 32 * 17 + 512 * 20), 0.0);
	sv_tasks_fini(&tasks);
}

static void what_is_no_task_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *word, *says;
	} wrong[] = {
	    {"", "expected a name"},
	    {"a b;batch=1", "expected a name"},
	    {"a/b;batch=1", "expected a name"},
	    {"a", "expected batch=N"},
	    {"a;batch=0", "expected batch=N"},
	    {"a;batch=-1", "batch=-1"},
	    {"a;batch=1x", "batch=1x"},
	    {"a;batch=99999999999999999999", "batch=9"},
	    {"a;batch=1;colour=7", "colour=7"},
	    {"a;batch=1;precision=fp8", "precision=fp8"},
	    {"a;batch=1;memory=5", "memory=5"},
	    {"a;batch=1;gemm", "expected KEY=VALUE"},
	    {"a;batch=1;gemm=1,2,3", "M,N,K,COUNT,LAUNCHES"},
	    {"a;batch=1;gemm=1,2,0,1,1", "M,N,K,COUNT,LAUNCHES"},
	    {"a;batch=1;gemm=1,2,3,4,2", "M,N,K,COUNT,LAUNCHES"},
	    {"a;batch=1;gemm=1,2,3,9999999,1", "M,N,K,COUNT,LAUNCHES"},
	    {"a;batch=1;gemm=999999999,999999999,3,1,1", "elements"},
	    {"a;batch=1;gemm=1,1,1,90000,90000;gemm=1,1,1,20000,20000",
		"launches"},
	    {"a;batch=1;kernels=100001", "kernels=100001"},
	    {"a;batch=1;habits=2", "habits=2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct sv_tasks tasks = {0};
		struct sv_err err = {0};

		assert_int_equal(
		    sv_tasks_add(&tasks, wrong[i].word, &err), SV_EUSAGE);
		if (strstr(err.text, wrong[i].says) == NULL)
			fail_msg("\"%s\": %s", wrong[i].word, err.text);
		assert_true(tasks.n == 0);
		sv_tasks_fini(&tasks);
	}
}

/* What a step makes of it: refused in words, or a program. */
static void make(const struct sv_task *task)
{
	struct sv_step_program p;
	struct sv_err err = {0};
	int code = sv_step_program_make(task, SV_FP16, SVK_HALF, 2, &p, &err);

	if (code == 0)
		assert_true(p.n_ops > 0 && sv_step_program_bytes(&p) > 0.0);
	else
		assert_true(err.text[0] != '\0');
	sv_step_program_fini(&p);
}

static void damaged_words_are_refused_or_are_tasks(void **state)
{
	static const char sound[] =
	    "net;batch=8;precision=fp16;half=bf16;habits=1;kernels=50;"
	    "memory=40000,20000;h2d=704;d2h=4;set=1000;gemm=8,32,16,2,2;"
	    "gemm=16,32,8,2,2;gemm=8,16,32,1,1;gemm=8,8,8,20,1";
	uint64_t seed = 1;
	size_t taken = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		static const char letters[] = "0123456789,;=-x";
		struct sv_tasks tasks = {0};
		struct sv_err err = {0};
		char word[sizeof sound];
		int code;

		memcpy(word, sound, sizeof sound);
		for (unsigned j = 0; j <= i % 3; j++)
			word[test_random(&seed) % (sizeof sound - 1)] =
			    letters[test_random(&seed) % 15];
		if (test_random(&seed) % 8 == 0)
			word[test_random(&seed) % (sizeof sound - 1)] = '\0';
		code = sv_tasks_add(&tasks, word, &err);
		if (code != 0) {
			assert_int_equal(code, SV_EUSAGE);
			assert_true(err.text[0] != '\0');
		} else if (i % 8 == 0) {
			make(&tasks.items[0]);
			taken++;
		}
		sv_tasks_fini(&tasks);
	}
	assert_true(taken > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_task_is_read_whole),
	    cmocka_unit_test(what_is_no_task_is_refused_with_its_place),
	    cmocka_unit_test(damaged_words_are_refused_or_are_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
