/*
 * Every descriptor of every benchmark of this build: what a file must say of
 * itself to be listed, planned and compared.
 */
#include <string.h>

#include "axes.h"
#include "cmocka_all.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "tasks.h"

#define MAX_CASES 4096

/* Tasks for benchmarks that have cases for each: two batches of one. */
static struct sv_tasks told;

static int tell(void **state)
{
	static const char *const words[] = {
	    "tiny;batch=8;precision=fp16;habits=1;kernels=30;h2d=64;"
	    "gemm=8,16,16,1,1;gemm=16,16,8,1,1",
	    "tiny;batch=4;precision=fp16;kernels=30;h2d=32;"
	    "gemm=4,16,16,1,1;gemm=16,16,4,1,1",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		if (sv_tasks_add(&told, words[i], NULL) != 0)
			return -1;
	return 0;
}

static int forget(void **state)
{
	(void)state;
	sv_tasks_fini(&told);
	return 0;
}

static bool has_metric(const struct sv_bench *b, const char *name)
{
	for (size_t i = 0; i < b->n_metrics; i++)
		if (strcmp(b->metrics[i].name, name) == 0)
			return true;
	return false;
}

static void every_benchmark_says_what_it_must(void **state)
{
	(void)state;
	assert_true(sv_benches_count >= 8);
	for (size_t i = 0; i < sv_benches_count; i++) {
		const struct sv_bench *b = sv_benches[i];

		assert_true(b->name[0] != '\0' && strlen(b->question) > 20 &&
			    strlen(b->source) > 5);
		assert_non_null(b->supported);
		assert_non_null(b->cost);
		assert_non_null(b->run);
		assert_true(b->n_metrics > 0 && b->n_groups > 0);
		for (size_t m = 0; m < b->n_metrics; m++) {
			assert_true(sv_unit_known(b->metrics[m].unit));
			assert_true(strlen(b->metrics[m].summary) > 10);
		}
		for (size_t g = 0; g < b->n_groups; g++)
			for (size_t m = 0; b->groups[g].metrics[m] != NULL; m++)
				assert_true(
				    has_metric(b, b->groups[g].metrics[m]));
		/* In order, so that a list of them reads like one. */
		if (i > 0)
			assert_true(
			    strcmp(sv_benches[i - 1]->name, b->name) < 0);
	}
}

/* A machine with more cores than any axis names. */
static const struct sv_place place = {
    .cores = 96, .cold = true, .tasks = &told};

struct seen {
	char ids[MAX_CASES][SV_CASE_ID_BYTES];
	size_t n;
};

static int remember(void *data, const struct sv_case *c)
{
	struct seen *seen = data;
	struct sv_cost cost = c->bench->cost(c);

	assert_true(cost.bytes >= 0.0 && cost.flop >= 0.0);
	assert_true(seen->n < MAX_CASES);
	sv_axes_id(c, seen->ids[seen->n]);
	for (size_t i = 0; i < seen->n; i++)
		assert_string_not_equal(seen->ids[i], seen->ids[seen->n]);
	seen->n++;
	for (size_t i = 1; i < c->n_params; i++)
		assert_true(
		    strcmp(c->params[i - 1].name, c->params[i].name) < 0);
	return 0;
}

static void ids_are_unique_and_found_again(void **state)
{
	static struct seen seen;

	(void)state;
	for (size_t i = 0; i < sv_benches_count; i++) {
		struct sv_case c;

		seen.n = 0;
		sv_axes_each(sv_benches[i], SV_FULL, &place, remember, &seen);
		assert_true(seen.n > 0);
		for (size_t j = 0; j < seen.n; j++) {
			char id[SV_CASE_ID_BYTES];

			assert_int_equal(
			    sv_axes_find(sv_benches[i], seen.ids[j], SV_QUICK,
				&place, &c, NULL),
			    0);
			sv_axes_id(&c, id);
			assert_string_equal(id, seen.ids[j]);
		}
		assert_int_equal(sv_axes_find(sv_benches[i], "no/such",
				     SV_QUICK, &place, &c, NULL),
		    SV_EUSAGE);
	}
}

static int count(void *data, const struct sv_case *c)
{
	(void)c;
	++*(size_t *)data;
	return 0;
}

static void profiles_hold_each_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < sv_benches_count; i++) {
		size_t n[3] = {0};

		for (int level = SV_QUICK; level <= SV_FULL; level++)
			sv_axes_each(sv_benches[i], (enum sv_level)level,
			    &place, count, &n[level]);
		assert_true(n[0] <= n[1] && n[1] > 0 && n[1] <= n[2]);
	}
}

struct limits {
	const struct sv_place *place;
	size_t whole; /* cases with as many workers as there are cores */
};

static int stay_within(void *data, const struct sv_case *c)
{
	struct limits *limits = data;

	for (size_t i = 0; i < c->n_params; i++) {
		const struct sv_param *p = &c->params[i];

		if (strcmp(p->name, "workers") == 0) {
			assert_null(p->text);
			assert_true(p->number <= limits->place->cores);
			limits->whole += p->number == limits->place->cores;
		}
		if (strcmp(p->name, "cache") == 0 && !limits->place->cold)
			assert_string_not_equal(p->text, "cold");
	}
	return 0;
}

static void cases_follow_from_the_machine(void **state)
{
	static const unsigned cores[] = {1, 2, 6, 16, 200};

	(void)state;
	for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
		const struct sv_place here = {.cores = cores[i]};
		struct limits limits = {.place = &here};

		for (size_t b = 0; b < sv_benches_count; b++)
			sv_axes_each(sv_benches[b], SV_FULL, &here, stay_within,
			    &limits);
		/* Some of preprocess, and some of loader. */
		assert_true(limits.whole > 4);
	}
}

/* What later tools look up by these very ids. */
static void the_contracts_ids_are_there(void **state)
{
	static const struct {
		const char *bench, *id;
	} ids[] = {
	    {"transfer", "transfer/bandwidth?bytes=268435456&direction=h2d&"
			 "memory=pinned"},
	    {"transfer", "transfer/bandwidth?bytes=65536&direction=d2h&"
			 "memory=pageable"},
	    {"transfer", "transfer/latency?bytes=4&direction=h2d&"
			 "memory=pinned"},
	    {"launch", "launch/submit?args_bytes=64"},
	    {"launch", "launch/roundtrip?args_bytes=64"},
	    {"launch", "launch/gap?args_bytes=64"},
	    {"launch", "launch/graph?nodes=1024"},
	    {"gemm", "gemm/throughput?batch=1&count=1&k=4096&m=4096&n=4096&"
		     "precision=bf16&shape=square"},
	    {"sync", "sync/wait?call=stream&wait=spin"},
	    {"sync", "sync/readback?call=stream&wait=spin"},
	    {"allocator", "allocator/alloc+free?bytes=20971520"},
	    {"allocator", "allocator/reset?blocks=64&bytes=2147483648"},
	    {"allocator", "allocator/pool_alloc?bytes=20971520"},
	    {"memory", "memory/bandwidth?bytes=1073741824&op=triad"},
	    {"loader", "loader/rate?batch=32&memory=pinned&workers=0"},
	    {"loader", "loader/rate?batch=32&memory=pageable&workers=96"},
	    {"preprocess", "preprocess/rate?where=cpu&work=heavy&workers=16"},
	    {"preprocess", "preprocess/rate?where=device&work=standard"},
	    {"storage", "storage/rate+bandwidth?cache=cold&layout=lmdb&"
			"sample_bytes=110000&threads=16"},
	    {"overlap", "overlap/efficiency?direction=h2d"},
	    {"step", "step/time+rate?batch=8&habit=baseline&precision=fp16&"
		     "workload=tiny"},
	    {"step", "step/time+rate?batch=8&habit=fp32&precision=fp32&"
		     "workload=tiny"},
	    {"step", "step/time+rate?batch=4&habit=baseline&precision=tf32&"
		     "workload=tiny"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		struct sv_err err = {0};
		struct sv_case c;
		int code = SV_EUSAGE;

		for (size_t b = 0; b < sv_benches_count; b++)
			if (strcmp(sv_benches[b]->name, ids[i].bench) == 0)
				code = sv_axes_find(sv_benches[b], ids[i].id,
				    SV_FULL, &place, &c, &err);
		if (code != 0)
			print_error("%s\n", err.text);
		assert_int_equal(code, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_benchmark_says_what_it_must),
	    cmocka_unit_test(ids_are_unique_and_found_again),
	    cmocka_unit_test(profiles_hold_each_other),
	    cmocka_unit_test(cases_follow_from_the_machine),
	    cmocka_unit_test(the_contracts_ids_are_there),
	};

	return cmocka_run_group_tests(tests, tell, forget) != 0;
}
