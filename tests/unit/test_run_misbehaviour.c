/*
 * Workers that misbehave in every way there is: each costs its own case and
 * no other, nothing of them is left, and nothing measured is lost.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "near.h"
#include "run.h"

static char folder[64], output[96], part[112];

static void path(char *out, size_t size, const char *name)
{
	snprintf(out, size, "%s/%s", folder, name);
}

static struct sv_run_options options(unsigned rounds)
{
	return (struct sv_run_options){.backend = "host",
	    .profile = SV_PROFILE_QUICK,
	    .label = "test",
	    .output = output,
	    .case_timeout_s = 0.4,
	    .rounds = rounds,
	    .seed = 5,
	    .keep = SV_KEEP_ALL};
}

static int count_folder(const char *name)
{
	DIR *dir = opendir(name);
	int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		closedir(dir);
	return n;
}

/* Processes whose command line names this test's folder. */
static int count_workers(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int found = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char name[300], command[256] = "";
		FILE *file;

		snprintf(
		    name, sizeof name, "/proc/%.200s/cmdline", entry->d_name);
		file = fopen(name, "r");
		if (file == NULL)
			continue;
		if (fgets(command, sizeof command, file) != NULL)
			found += strstr(command, folder) != NULL;
		fclose(file);
	}
	closedir(dir);
	return found;
}

static const struct sv_measurement *measured(
    const struct sv_result *r, const char *way)
{
	char id[96];

	snprintf(id, sizeof id, "fake/value?way=%s", way);
	return sv_result_find(r, id);
}

static const struct sv_failure *failed(
    const struct sv_result *r, const char *way)
{
	for (size_t i = 0; i < r->n_failures; i++)
		if (strcmp(json_string_value(
			       json_object_get(r->failures[i].params, "way")),
			way) == 0)
			return &r->failures[i];
	return NULL;
}

static struct sv_result *run_ways(
    const char *ways, unsigned rounds, struct sv_run_outcome *outcome)
{
	struct sv_run_options o = options(rounds);
	struct sv_result *r = NULL;
	struct sv_err err = {0};
	int code;

	setenv("FAKE_WAYS", ways, 1);
	code = sv_run(&o, NULL, &r, outcome, &err);
	if (code != 0)
		print_error("%s\n", err.text);
	assert_int_equal(code, 0);
	assert_int_equal(access(part, F_OK), -1);
	return r;
}

static void each_costs_its_own_case_only(void **state)
{
	static const struct {
		const char *way, *kind, *says;
	} cases[] = {
	    {"crash", "signal", "signal 11"},
	    {"abort", "signal", "signal 6"},
	    {"exit_early", "exit", "without saying bye"},
	    {"exit_status", "exit", "status 7"},
	    {"hang", "timeout", "no result within"},
	    {"hang_deaf", "timeout", "no result within"},
	    {"garbage", "signal", "no JSON object"},
	    {"half_line", "exit", "middle of a message"},
	    {"endless_line", "signal", "a line of more than"},
	    {"wrong_case", "signal", "expected \"fake/value?way=wrong_case"},
	    {"nan", "signal", "no JSON object"},
	    {"huge_value", "signal", "no JSON object"},
	    {"deep_json", "signal", "no JSON object"},
	    {"unknown_metric", "signal", "does not give"},
	    {"no_samples", "exit", "without a result"},
	    {"progress_forever", "timeout", "no result within"},
	    {"error", "exit", "it failed"},
	    {"die_after_samples", "signal", "signal 9"},
	    {"close_wire", "signal", "closed the wire"},
	    {"bye_early", "exit", "without a result"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char ways[96];
		struct sv_run_outcome outcome;
		struct sv_result *r;
		const struct sv_failure *f;

		snprintf(ways, sizeof ways, "good also_good %s", cases[i].way);
		r = run_ways(ways, 2, &outcome);
		f = failed(r, cases[i].way);
		if (f == NULL || strstr(f->reason, cases[i].says) == NULL)
			print_error("%s: %s\n", cases[i].way,
			    f != NULL ? f->reason : "did not fail");
		assert_non_null(f);
		assert_non_null(strstr(f->reason, cases[i].says));
		assert_string_equal(f->kind, cases[i].kind);
		assert_int_equal(r->n_failures, 1);
		assert_null(measured(r, cases[i].way));
		assert_int_equal(measured(r, "good")->n_rounds, 2);
		assert_int_equal(measured(r, "also_good")->n_rounds, 2);
		assert_true(outcome.faults && !outcome.interrupted);
		assert_true(r->run.complete);
		assert_int_equal(count_workers(), 0);
		sv_result_free(r);
	}
}

static void a_flood_ends_by_its_size_or_by_its_time(void **state)
{
	struct sv_run_outcome outcome;
	struct sv_result *r = run_ways("good flood_wire", 1, &outcome);
	const struct sv_failure *f = failed(r, "flood_wire");

	(void)state;
	assert_non_null(f);
	assert_true(strstr(f->reason, "MiB of messages") != NULL ||
		    strstr(f->reason, "no result within") != NULL);
	assert_int_equal(r->n_failures, 1);
	assert_non_null(measured(r, "good"));
	assert_int_equal(count_workers(), 0);
	sv_result_free(r);
}

static void last_words_are_kept(void **state)
{
	struct sv_run_outcome outcome;
	struct sv_result *r = run_ways("exit_status", 1, &outcome);

	(void)state;
	assert_non_null(
	    strstr(failed(r, "exit_status")->log_tail, "the last words"));
	sv_result_free(r);
}

static void grandchildren_are_found_and_ended(void **state)
{
	struct sv_run_outcome outcome;
	struct sv_result *r = run_ways(
	    "good grandchild grandchild_session flood_log", 1, &outcome);

	(void)state;
	assert_int_equal(r->n_failures, 0);
	assert_int_equal(r->n_measurements, 4);
	assert_int_equal(count_workers(), 0);
	/* Nobody is left for us to wait for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	sv_result_free(r);
}

static void descriptors_do_not_leak(void **state)
{
	struct sv_run_outcome outcome;
	int before = count_folder("/proc/self/fd");

	(void)state;
	sv_result_free(run_ways("good crash hang", 3, &outcome));
	assert_int_equal(count_folder("/proc/self/fd"), before);
}

static void skips_and_checks_are_told_apart(void **state)
{
	struct sv_run_outcome outcome;
	struct sv_result *r = run_ways("good skip", 2, &outcome);

	(void)state;
	assert_false(outcome.faults);
	assert_int_equal(r->n_skipped, 1);
	assert_string_equal(r->skipped[0].reason, "cannot");
	sv_result_free(r);
	r = run_ways("good fault_skip", 2, &outcome);
	assert_true(outcome.faults);
	sv_result_free(r);
	r = run_ways("good check_fail", 2, &outcome);
	assert_true(outcome.faults);
	assert_int_equal(measured(r, "check_fail")->check, SV_CHECK_FAIL);
	assert_string_equal(
	    measured(r, "check_fail")->check_detail, "byte 3 differs");
	sv_result_free(r);
}

static void rounds_medians_and_inner_come_back(void **state)
{
	struct sv_run_outcome outcome;
	struct sv_result *r = run_ways("good", 6, &outcome);
	const struct sv_measurement *m = measured(r, "good");

	(void)state;
	assert_int_equal(m->n_rounds, 6);
	assert_int_equal(m->inner, 7);
	assert_int_equal(m->samples[5].n, 3);
	assert_near(m->summary.median, 1.1, 1e-12);
	assert_near(m->summary.ci95.lo, 1.1, 1e-12);
	assert_string_equal(r->run.origin, "measured");
	assert_string_equal(r->run.label, "test");
	sv_result_free(r);
}

static void another_protocol_is_refused(void **state)
{
	struct sv_run_options o = options(1);
	struct sv_run_outcome outcome;
	struct sv_result *r = NULL;
	struct sv_err err;

	(void)state;
	setenv("FAKE_PROTOCOL", "99", 1);
	assert_int_equal(sv_run(&o, NULL, &r, &outcome, &err), SV_EPROTOCOL);
	unsetenv("FAKE_PROTOCOL");
	assert_non_null(strstr(err.text, "protocol"));
	assert_int_equal(access(part, F_OK), -1);
}

static void patterns_choose_and_slips_are_named(void **state)
{
	static const char *const chosen[] = {"*good", NULL};
	static const char *const skipped[] = {"*also*", NULL};
	static const char *const wrong[] = {"gem", NULL};
	struct sv_run_options o = options(1);
	struct sv_run_outcome outcome;
	struct sv_result *r = NULL;
	struct sv_err err;

	(void)state;
	setenv("FAKE_WAYS", "good also_good hang", 1);
	o.benches = chosen;
	o.skips = skipped;
	assert_int_equal(sv_run(&o, NULL, &r, &outcome, &err), 0);
	assert_int_equal(r->n_measurements, 1);
	sv_result_free(r);
	o.benches = wrong;
	assert_int_equal(sv_run(&o, NULL, &r, &outcome, &err), SV_EUSAGE);
	assert_non_null(strstr(err.text, "fake"));
}

static void outputs_that_cannot_be_are_refused_at_once(void **state)
{
	struct sv_run_options o = options(1);
	struct sv_run_outcome outcome;
	struct sv_result *r = NULL;
	struct sv_err err;
	char missing[96];

	(void)state;
	setenv("FAKE_WAYS", "good", 1);
	o.output = "/dev/full";
	assert_int_equal(sv_run(&o, NULL, &r, &outcome, &err), SV_EOUTPUT);
	assert_non_null(strstr(err.text, "/dev/full"));
	o.output = folder;
	assert_int_equal(sv_run(&o, NULL, &r, &outcome, &err), SV_EOUTPUT);
	path(missing, sizeof missing, "no/such/r.json");
	o.output = missing;
	assert_int_equal(sv_run(&o, NULL, &r, &outcome, &err), SV_EOUTPUT);
	o.output = output;
	assert_int_equal(mkdir(part, 0777), 0);
	assert_int_equal(sv_run(&o, NULL, &r, &outcome, &err), SV_EOUTPUT);
	assert_non_null(strstr(err.text, "--resume"));
	rmdir(part);
}

static int set_up(void **state)
{
	char worker[96];

	(void)state;
	snprintf(folder, sizeof folder, "/tmp/stave-test-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	path(output, sizeof output, "r.json");
	snprintf(part, sizeof part, "%s.part", output);
	/* By a name of this test's own, so that its workers are known. */
	path(worker, sizeof worker, "stave-worker-host");
	if (symlink(SV_TEST_FAKE_DIR "/stave-worker-host", worker) != 0)
		return -1;
	return setenv("STAVE_WORKER_DIR", folder, 1);
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_costs_its_own_case_only),
	    cmocka_unit_test(a_flood_ends_by_its_size_or_by_its_time),
	    cmocka_unit_test(last_words_are_kept),
	    cmocka_unit_test(grandchildren_are_found_and_ended),
	    cmocka_unit_test(descriptors_do_not_leak),
	    cmocka_unit_test(skips_and_checks_are_told_apart),
	    cmocka_unit_test(rounds_medians_and_inner_come_back),
	    cmocka_unit_test(another_protocol_is_refused),
	    cmocka_unit_test(patterns_choose_and_slips_are_named),
	    cmocka_unit_test(outputs_that_cannot_be_are_refused_at_once),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down) != 0;
}
