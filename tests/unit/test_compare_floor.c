/* The floor of a machine: recovered, stored, refused, and applied. */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "near.h"
#include "random.h"
#include "results.h"
#include "files.h"

#define RUNS   6
#define ROUNDS 10

static const struct sv_measurement copy = {.bench = "memory",
    .metric = "bandwidth",
    .unit = "B/s",
    .higher_is_better = true};
static const char *const names[] = {"1", "2", "3", "4", "5", "6"};

/* A run that is `shift` off, with rounds of a spread of their own. */
static struct sv_result *run_of(
    size_t number, double shift, double spread, uint64_t *seed)
{
	struct sv_result *r = test_result(names[number], "x", "card");
	double rounds[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++)
		rounds[i] = 1e9 * exp(shift + spread * test_normal(seed));
	test_add(r, &copy, rounds, ROUNDS);
	return r;
}

/* The floor of runs that vary by `between` and whose rounds do by `spread`. */
static struct sv_floor *floor_of(double between, double spread, uint64_t *seed)
{
	struct sv_result *runs[RUNS];
	struct sv_floor *floor = NULL;
	struct sv_err err = {0};

	for (size_t i = 0; i < RUNS; i++)
		runs[i] = run_of(i, between * test_normal(seed), spread, seed);
	assert_int_equal(
	    sv_floor_estimate((const struct sv_result *const *)runs, names,
		RUNS, &floor, &err),
	    0);
	for (size_t i = 0; i < RUNS; i++)
		sv_result_free(runs[i]);
	return floor;
}

static void what_runs_vary_by_is_found_and_what_rounds_do_is_not(void **state)
{
	uint64_t seed = 5;
	double planted = 0.0, nothing = 0.0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct sv_floor *floor = floor_of(0.03, 0.01, &seed);

		planted += floor->entries[0].between *
			   floor->entries[0].between / 400.0;
		sv_floor_free(floor);
		floor = floor_of(0.0, 0.01, &seed);
		nothing += floor->entries[0].between *
			   floor->entries[0].between / 400.0;
		sv_floor_free(floor);
	}
	assert_near(sqrt(planted), 0.03, 0.05);
	/* A round's spread of 1 % leaves 0.4 % of a median of ten. */
	assert_true(sqrt(nothing) < 0.003);
}

static void two_runs_stay_below_the_limit_19_times_of_20(void **state)
{
	uint64_t seed = 6;
	unsigned below = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct sv_floor *floor = floor_of(0.03, 0.001, &seed);
		double apart = 0.03 * (test_normal(&seed) - test_normal(&seed));

		below += fabs(apart) < floor->entries[0].limit;
		sv_floor_free(floor);
	}
	assert_in_range(below, 930, 970);
}

static void a_floor_comes_back_from_its_file(void **state)
{
	uint64_t seed = 7;
	struct sv_floor *floor = floor_of(0.02, 0.001, &seed), *again;
	char *folder = sv_new_folder(), path[4096];
	json_t *tree = sv_floor_json(floor);
	struct sv_err err;

	(void)state;
	snprintf(path, sizeof path, "%s/floor.json", folder);
	assert_int_equal(json_dump_file(tree, path, 0), 0);
	assert_int_equal(sv_floor_read(path, &again, &err), 0);
	sv_drop_folder(folder);
	assert_near(again->entries[0].limit, floor->entries[0].limit, 1e-12);
	assert_string_equal(again->machine.device, "card");
	assert_int_equal(again->runs, RUNS);
	json_decref(tree);
	sv_floor_free(floor);
	sv_floor_free(again);
}

static void assert_refused(const char *text, const char *message)
{
	char *folder = sv_new_folder(), path[4096];
	struct sv_floor *floor;
	struct sv_err err = {0};

	snprintf(path, sizeof path, "%s/floor.json", folder);
	sv_spill(path, text, strlen(text));
	assert_int_equal(sv_floor_read(path, &floor, &err), SV_EINPUT);
	sv_drop_folder(folder);
	if (strstr(err.text, message) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, message);
}

#define ROOT                                                       \
	"{\"schema\":\"stave.floor/1\",\"machine\":{\"cpu\":null," \
	"\"device\":null,\"memory_bytes\":null},\"runs\":2,\"floors\":["

static void a_damaged_floor_is_refused_with_the_place(void **state)
{
	struct sv_floor *floor;
	struct sv_err err;

	(void)state;
	assert_refused("", "expected a floor, found an empty file");
	assert_refused("{\"schema\":1}", "schema: expected");
	assert_refused("[]", "expected an object");
	assert_refused("{\"schema\":\"stave.floor/2\"}",
	    "schema: expected \"stave.floor/1\"");
	assert_refused("{\"schema\":\"stave.floor/1\"}", "machine: expected");
	assert_refused("{\"schema\":\"stave.floor/1\",\"machine\":{\"cpu\":1},"
		       "\"runs\":2,\"floors\":[]}",
	    "machine.cpu: expected");
	assert_refused(ROOT "7]}", "floors[0]: expected an object");
	assert_refused(
	    ROOT "{\"id\":\"a/b\",\"runs\":1}]}", "expected two or more");
	assert_refused(ROOT "{\"id\":\"a/b\",\"runs\":2,\"between\":-1,"
			    "\"limit\":0}]}",
	    "floors[0].between: expected");
	assert_refused(ROOT "{\"id\":\"b\",\"runs\":2,\"between\":0,"
			    "\"limit\":0},{\"id\":\"a\",\"runs\":2,"
			    "\"between\":0,\"limit\":0}]}",
	    "floors[1].id: expected ids in ascending order");
	assert_int_equal(
	    sv_floor_read("/nowhere/floor.json", &floor, &err), SV_EINPUT);
}

static void a_floor_with_any_byte_changed_is_read_or_refused(void **state)
{
	static const char marks[] = "\"{}[]:,-0e \xff";
	uint64_t seed = 9;
	struct sv_floor *floor = floor_of(0.02, 0.001, &seed), *again;
	json_t *tree = sv_floor_json(floor);
	char *text = json_dumps(tree, JSON_COMPACT);
	char *folder = sv_new_folder(), path[4096];
	unsigned accepted = 0, refused = 0;

	(void)state;
	assert_non_null(text);
	snprintf(path, sizeof path, "%s/floor.json", folder);
	for (size_t i = 0; text[i] != '\0'; i++) {
		char kept = text[i];
		struct sv_err err;

		text[i] = marks[i % (sizeof marks - 1)];
		sv_spill(path, text, strlen(text));
		if (sv_floor_read(path, &again, &err) == 0) {
			accepted++;
			sv_floor_free(again);
		} else {
			refused++;
			assert_null(strchr(err.text, '\n'));
			assert_non_null(strstr(err.text, "expected"));
		}
		text[i] = kept;
	}
	assert_true(accepted > 0 && refused > 0);
	sv_drop_folder(folder);
	free(text);
	json_decref(tree);
	sv_floor_free(floor);
}

static void runs_of_other_machines_and_runs_twice_are_refused(void **state)
{
	struct sv_result *a = test_result("1", "x", "card");
	struct sv_result *b = test_result("2", "x", "another card");
	const struct sv_result *mixed[] = {a, b}, *twice[] = {a, a};
	struct sv_floor *floor;
	struct sv_err err;

	(void)state;
	assert_int_equal(
	    sv_floor_estimate(mixed, names, 2, &floor, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "one machine"));
	assert_int_equal(
	    sv_floor_estimate(twice, names, 2, &floor, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "different runs"));
	assert_int_equal(
	    sv_floor_estimate(twice, names, 1, &floor, &err), SV_EINPUT);
	sv_result_free(a);
	sv_result_free(b);
}

static void a_difference_within_the_floor_is_none(void **state)
{
	uint64_t seed = 8;
	struct sv_floor *floor = floor_of(0.03, 0.001, &seed);
	const struct sv_floor *floors[] = {floor, NULL};
	struct sv_compare_options options = {.alpha = 0.05, .min_effect = 0.02};
	struct sv_result *a = run_of(0, 0.0, 0.001, &seed);
	struct sv_result *b = run_of(1, 0.05, 0.001, &seed);
	struct sv_result *c = run_of(2, 0.5, 0.001, &seed);
	struct sv_comparison *plain, *near, *far;
	struct sv_err err;

	(void)state;
	assert_int_equal(sv_compare(a, b, &options, &plain, &err), 0);
	assert_int_equal(plain->pairs[0].verdict, SV_FASTER);
	assert_true(isnan(plain->pairs[0].floor));
	options.floors = floors;
	assert_int_equal(sv_compare(a, b, &options, &near, &err), 0);
	assert_string_equal(near->pairs[0].reason, "within_floor");
	assert_near(
	    near->pairs[0].floor, expm1(floor->entries[0].limit), 1e-12);
	assert_int_equal(sv_compare(a, c, &options, &far, &err), 0);
	assert_int_equal(far->pairs[0].verdict, SV_FASTER);
	sv_comparison_free(plain);
	sv_comparison_free(near);
	sv_comparison_free(far);
	sv_result_free(a);
	sv_result_free(b);
	sv_result_free(c);
	sv_floor_free(floor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		what_runs_vary_by_is_found_and_what_rounds_do_is_not),
	    cmocka_unit_test(two_runs_stay_below_the_limit_19_times_of_20),
	    cmocka_unit_test(a_floor_comes_back_from_its_file),
	    cmocka_unit_test(a_damaged_floor_is_refused_with_the_place),
	    cmocka_unit_test(a_floor_with_any_byte_changed_is_read_or_refused),
	    cmocka_unit_test(runs_of_other_machines_and_runs_twice_are_refused),
	    cmocka_unit_test(a_difference_within_the_floor_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
