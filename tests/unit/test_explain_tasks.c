/* A workload as a worker is told it. */
#include <string.h>

#include "cmocka_all.h"
#include "workload_tasks.h"

static struct sv_words told(const char *json, enum sv_batches batches)
{
	struct sv_workload *w;
	struct sv_words words = {0};
	struct sv_err err = {0};

	if (sv_workload_parse(json, strlen(json), "test", &w, &err) != 0 ||
	    sv_workload_tasks(w, batches, &words, &err) != 0)
		fail_msg("%s", err.text);
	sv_workload_free(w);
	return words;
}

#define HEAD "{\"schema\":\"stave.workload/1\",\"name\":\"net\","

static void a_task_says_all_that_a_step_needs(void **state)
{
	struct sv_words words =
	    told(HEAD "\"defaults\":{\"batch\":8,\"precision\":\"amp\"},"
		      "\"amp_dtype\":\"bf16\",\"kernels_per_step\":20,"
		      "\"memory_bytes_per_sample\":{\"fp32\":10,\"amp\":5},"
		      "\"memory_bytes_per_step\":{\"fp32\":100,\"amp\":100},"
		      "\"h2d_bytes_per_sample\":3,\"d2h_bytes_per_step\":4,"
		      "\"working_set_bytes\":{\"fixed\":7,\"per_sample\":1},"
		      "\"gemm\":[{\"m\":\"B*2\",\"n\":5,\"k\":6,\"count\":3},"
		      "{\"m\":4,\"n\":4,\"k\":4,\"count\":\"B*2\"}]}",
		SV_BATCHES_DEFAULT);

	(void)state;
	assert_true(words.n == 1 && words.items[1] == NULL);
	/* What is there more often with more samples is one call. */
	assert_string_equal(words.items[0],
	    "net;batch=8;precision=bf16;half=bf16;habits=1;kernels=20;"
	    "memory=180,140;h2d=24;d2h=4;set=15;gemm=16,5,6,3,3;"
	    "gemm=4,4,4,16,1");
	sv_words_fini(&words);
}

static void a_typical_shape_is_shared_out_forward_and_backward(void **state)
{
	struct sv_words words =
	    told(HEAD "\"defaults\":{\"batch\":2,\"precision\":\"fp32\"},"
		      "\"gemm_flop_per_sample\":720000,"
		      "\"gemm_shape\":{\"m\":\"B*10\",\"n\":30,\"k\":20}}",
		SV_BATCHES_DEFAULT);

	(void)state;
	/* 2 · 720000 / (2 · 20 · 30 · 20) = 60 products. */
	assert_non_null(strstr(words.items[0],
	    ";gemm=20,30,20,20,20;gemm=20,30,20,20,20;gemm=20,20,30,20,20"));
	sv_words_fini(&words);
}

static void batches_grow_with_the_profile(void **state)
{
	static const char net[] =
	    HEAD "\"defaults\":{\"batch\":8,\"precision\":\"fp32\"},"
		 "\"gemm\":[{\"m\":\"B\",\"n\":1,\"k\":1,\"count\":1}]}";
	static const char *const many[] = {
	    "batch=8;", "batch=1;", "batch=4;", "batch=16;", "batch=64;"};
	struct sv_words few = told(net, SV_BATCHES_FEW);
	struct sv_words all = told(net, SV_BATCHES_MANY);

	(void)state;
	assert_true(few.n == 2 && all.n == 5);
	for (size_t i = 0; i < 5; i++) {
		assert_non_null(strstr(all.items[i], many[i]));
		/* Habits are measured at the workload's own batch. */
		assert_non_null(
		    strstr(all.items[i], i == 0 ? "habits=1" : "habits=0"));
	}
	sv_words_fini(&few);
	sv_words_fini(&all);
}

static void a_batch_that_cannot_be_is_left_out(void **state)
{
	struct sv_words words =
	    told(HEAD "\"defaults\":{\"batch\":8,\"precision\":\"fp32\"},"
		      "\"gemm\":[{\"m\":\"B-4\",\"n\":1,\"k\":1,\"count\":1}]}",
		SV_BATCHES_MANY);

	(void)state;
	/* 8, then 16 and 64: at 1 and 4 there is no such matrix. */
	assert_true(words.n == 3);
	sv_words_fini(&words);
}

static void what_no_task_can_hold_is_refused(void **state)
{
	static const struct {
		const char *json, *says;
	} wrong[] = {
	    {"{\"schema\":\"stave.workload/1\",\"name\":\"a b\"}", "name"},
	    {"{\"schema\":\"stave.workload/1\",\"name\":\"a;b\"}", "name"},
	    {HEAD "\"gemm\":[{\"m\":1,\"n\":1,\"k\":1,\"count\":199999}]}",
		"gemm[0]"},
	    {HEAD "\"kernels_per_step\":1e9}", "kernels_per_step"},
	    {HEAD "\"h2d_bytes_per_sample\":1e18}", "bytes"},
	    {HEAD "\"gemm\":[{\"m\":1e9,\"n\":1e9,\"k\":1,\"count\":1}]}",
		"gemm[0]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct sv_workload *w;
		struct sv_words words = {0};
		struct sv_err err = {0};

		assert_int_equal(sv_workload_parse(wrong[i].json,
				     strlen(wrong[i].json), "t", &w, &err),
		    0);
		assert_int_equal(
		    sv_workload_tasks(w, SV_BATCHES_DEFAULT, &words, &err),
		    SV_EINPUT);
		assert_non_null(strstr(err.text, wrong[i].says));
		assert_true(words.n == 0);
		sv_words_fini(&words);
		sv_workload_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_task_says_all_that_a_step_needs),
	    cmocka_unit_test(
		a_typical_shape_is_shared_out_forward_and_backward),
	    cmocka_unit_test(batches_grow_with_the_profile),
	    cmocka_unit_test(a_batch_that_cannot_be_is_left_out),
	    cmocka_unit_test(what_no_task_can_hold_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
