/*
 * Every folder of tests/scenarios: two results, a workload and the right
 * answer, most of them reports of users; and what must hold of any
 * explanation, tried on all of them.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "explain.h"
#include "near.h"

#define SCENARIOS SV_TEST_FIXTURES "/../scenarios"
#define MAX_PATH  4096
#define MAX_WORDS 32

struct trial {
	struct sv_result *results[2];
	struct sv_workload *workloads[2];
	struct sv_supposition what_if[MAX_WORDS];
	size_t n_what_if;
	struct sv_explanation *x;
};

static void read_part(const char *folder, const char *file, char *out)
{
	assert_true(snprintf(out, MAX_PATH, "%s/%s/%s", SCENARIOS, folder,
			file) < MAX_PATH);
}

/* One --option with its word, as the program takes them. */
static void apply(struct trial *t, const char *option, const char *word)
{
	bool on_a = strcmp(option, "--set-b") != 0;
	bool on_b = strcmp(option, "--set-a") != 0;
	const char *equals = strchr(word, '=');
	char key[200];
	const char *value = word;
	struct sv_err err;

	snprintf(key, sizeof key, "%s", option + 2);
	if (strncmp(option, "--set", 5) == 0) {
		assert_non_null(equals);
		snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
		value = equals + 1;
	}
	if (on_a && sv_workload_set(t->workloads[0], key, value, &err) != 0)
		fail_msg("%s", err.text);
	if (on_b && sv_workload_set(t->workloads[1], key, value, &err) != 0)
		fail_msg("%s", err.text);
}

static void open_trial(struct trial *t, const char *folder, const json_t *args)
{
	static const char *const files[] = {"a.json", "b.json"};
	char path[MAX_PATH];
	struct sv_err err;

	*t = (struct trial){.n_what_if = 0};
	for (int i = 0; i < 2; i++) {
		read_part(folder, files[i], path);
		if (sv_result_read(path, &t->results[i], &err) != 0)
			fail_msg("%s", err.text);
		read_part(folder, "workload.json", path);
		if (sv_workload_read(path, &t->workloads[i], &err) != 0)
			fail_msg("%s", err.text);
	}
	for (size_t i = 0; i + 1 < json_array_size(args); i += 2)
		apply(t, json_string_value(json_array_get(args, i)),
		    json_string_value(json_array_get(args, i + 1)));
}

/* swapped: B in A's place, with its workload. */
static struct sv_explanation *run(
    const struct trial *t, bool swapped, size_t draws)
{
	struct sv_explain_request request = {.a = t->results[swapped],
	    .b = t->results[!swapped],
	    .workload_a = t->workloads[swapped],
	    .workload_b = t->workloads[!swapped],
	    .what_if = t->what_if,
	    .n_what_if = t->n_what_if,
	    .draws = draws};
	struct sv_explanation *x = NULL;
	struct sv_err err;

	if (sv_explain(&request, &x, &err) != 0)
		fail_msg("%s", err.text);
	return x;
}

static void close_trial(struct trial *t)
{
	sv_explanation_free(t->x);
	for (int i = 0; i < 2; i++) {
		sv_result_free(t->results[i]);
		sv_workload_free(t->workloads[i]);
	}
}

static bool within(const json_t *range, double value)
{
	return range == NULL ||
	       (value >= json_number_value(json_array_get(range, 0)) &&
		   value <= json_number_value(json_array_get(range, 1)));
}

static bool lists(const json_t *codes, const char *code)
{
	const json_t *one;
	size_t i;

	json_array_foreach (codes, i, one)
		if (strcmp(json_string_value(one), code) == 0)
			return true;
	return false;
}

static bool has_cause(const struct sv_explanation *x, const char *code)
{
	for (size_t i = 0; i < x->n_causes; i++)
		if (strcmp(x->causes[i].code, code) == 0)
			return true;
	return false;
}

static bool is_ruled_out(const struct sv_explanation *x, const char *code)
{
	for (size_t i = 0; i < x->n_ruled_out; i++)
		if (strcmp(x->ruled_out[i].code, code) == 0)
			return true;
	return false;
}

/* How many ways the explanation differs from what is expected; says them. */
static int faults_of(
    const char *folder, const struct sv_explanation *x, const json_t *expect)
{
	const char *top = x->causes[0].code, *code;
	const json_t *verdict = json_object_get(expect, "verdict"), *one;
	int faults = 0;
	size_t i;

#define EXPECT(good, ...)                    \
	if (!(good)) {                       \
		print_error("%s: ", folder); \
		print_error(__VA_ARGS__);    \
		print_error("\n");           \
		faults++;                    \
	}
	EXPECT(within(json_object_get(expect, "speedup"), x->speedup),
	    "speedup %g", x->speedup)
	EXPECT(within(json_object_get(expect, "a_step_s"), x->a.step_s),
	    "A's step %g s", x->a.step_s)
	EXPECT(within(json_object_get(expect, "b_step_s"), x->b.step_s),
	    "B's step %g s", x->b.step_s)
	EXPECT(verdict == NULL || strcmp(json_string_value(verdict),
				      sv_explain_verdict_name(x->verdict)) == 0,
	    "verdict %s", sv_explain_verdict_name(x->verdict))
	EXPECT(json_object_get(expect, "top_cause") == NULL ||
		   lists(json_object_get(expect, "top_cause"), top),
	    "top cause %s", top)
	EXPECT(!lists(json_object_get(expect, "must_not_top_cause"), top),
	    "top cause %s", top)
	json_array_foreach (json_object_get(expect, "must_not_cause"), i, one) {
		code = json_string_value(one);
		EXPECT(!has_cause(x, code), "blames %s", code)
	}
	json_array_foreach (json_object_get(expect, "causes"), i, one) {
		code = json_string_value(one);
		EXPECT(has_cause(x, code), "misses %s", code)
	}
	json_array_foreach (json_object_get(expect, "ruled_out"), i, one) {
		code = json_string_value(one);
		EXPECT(is_ruled_out(x, code), "does not rule out %s", code)
	}
#undef EXPECT
	return faults;
}

/* In any order: from the front, from the back, and from the middle. */
static void assert_shares_add_up(const struct sv_explanation *x)
{
	const size_t n = SV_EXPLAINED_COMPONENTS;
	double gap = x->b.step_s - x->a.step_s;
	double front = 0.0, back = 0.0, middle = 0.0;

	for (size_t i = 0; i < n; i++) {
		front += x->components[i].share_s;
		back += x->components[n - 1 - i].share_s;
		middle += x->components[(i * 7 + 5) % n].share_s;
	}
	assert_true(front == gap);
	assert_true(back == gap);
	assert_true(middle == gap);
}

static void assert_causes_hold(const struct sv_explanation *x)
{
	assert_true(x->n_causes > 0);
	for (size_t i = 0; i < x->n_causes; i++) {
		const struct sv_cause *c = &x->causes[i];

		assert_int_equal(c->rank, i + 1);
		assert_true(c->claim[0] != '\0' && c->remedy[0] != '\0' &&
			    c->falsify[0] != '\0');
		assert_false(is_ruled_out(x, c->code));
		if (strcmp(c->code, "NO_FAULT") != 0)
			assert_true(c->gain_step_s <= 0.98 * x->b.step_s);
		else
			assert_int_equal(x->n_causes, 1);
	}
}

static void assert_swap_flips(
    const struct sv_explanation *x, const struct sv_explanation *swapped)
{
	assert_true(x->a.step_s == swapped->b.step_s);
	assert_true(x->b.step_s == swapped->a.step_s);
	for (size_t i = 0; i < SV_EXPLAINED_COMPONENTS; i++)
		assert_true(x->components[i].share_s ==
			    -swapped->components[i].share_s);
}

static int try_one(const char *folder, const json_t *expect)
{
	struct trial t;
	struct sv_explanation *swapped;
	json_t *tree;
	int faults;

	open_trial(&t, folder, json_object_get(expect, "args"));
	t.x = run(&t, false, 200);
	faults = faults_of(folder, t.x, expect);
	assert_shares_add_up(t.x);
	assert_causes_hold(t.x);
	swapped = run(&t, true, 0);
	assert_shares_add_up(swapped);
	assert_swap_flips(t.x, swapped);
	sv_explanation_free(swapped);
	tree = sv_explanation_json(t.x);
	assert_non_null(tree);
	json_decref(tree);
	close_trial(&t);
	return faults;
}

static int try_folder(const char *folder)
{
	char path[MAX_PATH];
	json_t *expects, *one;
	int faults = 0;
	size_t i;

	read_part(folder, "expect.json", path);
	expects = json_load_file(path, 0, NULL);
	assert_true(json_array_size(expects) > 0);
	json_array_foreach (expects, i, one)
		faults += try_one(folder, one);
	json_decref(expects);
	return faults;
}

static void every_scenario_is_explained_rightly(void **state)
{
	struct dirent **entries;
	int n = scandir(SCENARIOS, &entries, NULL, alphasort), faults = 0;
	int folders = 0;

	(void)state;
	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		char path[MAX_PATH];
		FILE *expect;

		read_part(entries[i]->d_name, "expect.json", path);
		expect = fopen(path, "r");
		if (expect != NULL) {
			fclose(expect);
			folders++;
			faults += try_folder(entries[i]->d_name);
		}
		free(entries[i]);
	}
	free(entries);
	print_message("%d scenarios\n", folders);
	assert_true(folders >= 28);
	assert_int_equal(faults, 0);
}

static void a_machine_against_itself_has_no_shares(void **state)
{
	struct trial t;

	(void)state;
	open_trial(&t, "N13-itself", NULL);
	t.x = run(&t, false, 200);
	for (size_t i = 0; i < SV_EXPLAINED_COMPONENTS; i++)
		assert_true(t.x->components[i].share_s == 0.0);
	assert_true(t.x->speedup == 1.0);
	assert_int_equal(t.x->verdict, SV_NO_DIFFERENCE);
	close_trial(&t);
}

static void suppositions_change_b_alone(void **state)
{
	static const struct {
		struct sv_supposition s;
		double lo, hi; /* B's speed with it, over as it is */
	} tries[] = {
	    {{"transfer", "a"}, 1.9, 2.1}, {{"gemm", "a"}, 0.99, 1.01},
	    {{"h2d_bytes_per_sample", "0"}, 3.4, 3.9},
	    {{"prefetch", "on"}, 1.2, 1.5}, {{"link", "3x8"}, 0.50, 0.75},
	    {{"batch", "4"}, 0.95, 1.05}, /* by the sample */
	};
	struct trial t;

	(void)state;
	for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
		open_trial(&t, "S08-numa", NULL);
		t.what_if[t.n_what_if++] = tries[i].s;
		t.x = run(&t, false, 0);
		assert_true(t.x->has_what_if);
		if (t.x->what_if_speedup < tries[i].lo ||
		    t.x->what_if_speedup > tries[i].hi)
			fail_msg("%s=%s: %g", tries[i].s.key, tries[i].s.value,
			    t.x->what_if_speedup);
		close_trial(&t);
	}
	open_trial(&t, "S01-launch-bound", NULL);
	t.what_if[t.n_what_if++] = (struct sv_supposition){"graphs", "on"};
	t.x = run(&t, false, 0);
	assert_near(t.x->what_if_speedup, 2.26, 0.05);
	close_trial(&t);
}

static void suppositions_that_mean_nothing_are_refused(void **state)
{
	static const struct sv_supposition bad[] = {{"link", "16"},
	    {"link", "9x16"}, {"graphs", "maybe"}, {"gemm", "b"},
	    {"colour", "red"}};
	struct trial t;

	(void)state;
	open_trial(&t, "S08-numa", NULL);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct sv_explain_request request = {.a = t.results[0],
		    .b = t.results[1],
		    .workload_a = t.workloads[0],
		    .workload_b = t.workloads[1],
		    .what_if = &bad[i],
		    .n_what_if = 1};
		struct sv_err err;

		assert_int_equal(sv_explain(&request, &t.x, &err), SV_EUSAGE);
		assert_null(t.x);
	}
	close_trial(&t);
}

/* A is limited by its host up to batch 4, B up to 17. */
static struct sv_explanation *with_slow_hosts(struct trial *t, long batch)
{
	char word[32];

	open_trial(t, "S01-launch-bound", NULL);
	apply(t, "--set-a", "kernels_per_step=400000");
	apply(t, "--set-b", "kernels_per_step=700000");
	snprintf(word, sizeof word, "%ld", batch);
	apply(t, "--batch", word);
	t->x = run(t, false, 0);
	return t->x;
}

static void the_crossover_is_found_to_the_sample(void **state)
{
	struct trial t;
	long batch;

	(void)state;
	batch = with_slow_hosts(&t, 1)->crossover;
	close_trial(&t);
	/* 6.3 s of B's host against 0.74 s for A's sample. */
	assert_int_equal(batch, 9);
	assert_true(with_slow_hosts(&t, batch)->speedup >= 1.02);
	close_trial(&t);
	assert_true(with_slow_hosts(&t, batch - 1)->speedup < 1.02);
	close_trial(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_scenario_is_explained_rightly),
	    cmocka_unit_test(a_machine_against_itself_has_no_shares),
	    cmocka_unit_test(suppositions_change_b_alone),
	    cmocka_unit_test(suppositions_that_mean_nothing_are_refused),
	    cmocka_unit_test(the_crossover_is_found_to_the_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
