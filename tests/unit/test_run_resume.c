/*
 * Whatever ends a run, what it had finished is there, and resuming measures
 * the rest once.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "journal.h"
#include "random.h"
#include "run.h"

#define ROUNDS 4

static char folder[64], output[96], part[112], count[96];

static struct sv_run_options options(void)
{
	return (struct sv_run_options){.backend = "host",
	    .profile = SV_PROFILE_QUICK,
	    .label = "test",
	    .output = output,
	    .case_timeout_s = 5.0,
	    .rounds = ROUNDS,
	    .seed = 5,
	    .keep = SV_KEEP_ALL};
}

/* A run in a process of its own, so that it can be killed. */
static pid_t start(const char *resume)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct sv_run_options o = options();
		struct sv_run_outcome outcome;
		struct sv_result *r = NULL;
		struct sv_err err;
		int code = resume != NULL
			       ? sv_run_resume(resume, NULL, &r, &outcome, &err)
			       : sv_run(&o, NULL, &r, &outcome, &err);

		_exit(code != 0 ? 1 : outcome.interrupted ? 2 : 0);
	}
	assert_true(pid > 0);
	return pid;
}

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void check_result(void)
{
	struct sv_result *r;
	struct sv_err err = {0};
	int code = sv_result_read(output, &r, &err);

	if (code != 0)
		print_error("%s\n", err.text);
	assert_int_equal(code, 0);
	assert_true(r->run.complete);
	assert_int_equal(r->n_measurements, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(r->measurements[i].n_rounds, ROUNDS);
	sv_result_free(r);
	assert_int_equal(access(part, F_OK), -1);
}

/*
 * Case rounds that the journal holds. A process that was killed as it started
 * a worker leaves its lock to that one for the moment until exec: look again.
 */
static size_t on_record(void)
{
	struct sv_journal journal;
	json_t *header, *records;
	struct sv_err err;
	size_t n;
	int code = SV_EOUTPUT;

	for (int i = 0; i < 200 && code == SV_EOUTPUT; i++) {
		code = sv_journal_open(&journal, part, &header, &records, &err);
		if (code == SV_EOUTPUT)
			usleep(5000);
	}
	if (code != 0)
		return 0;
	n = json_array_size(records);
	json_decref(header);
	json_decref(records);
	sv_journal_close(&journal, false);
	return n;
}

static size_t lines_of(const char *name)
{
	FILE *file = fopen(name, "r");
	size_t n = 0;
	int c;

	while (file != NULL && (c = fgetc(file)) != EOF)
		n += c == '\n';
	if (file != NULL)
		fclose(file);
	return n;
}

static void a_kill_at_any_moment_loses_no_finished_case(void **state)
{
	uint64_t seed = 3;
	size_t resumed = 0;

	(void)state;
	/* A busy machine is slow to begin: kill later where that was in vain.
	 */
	for (unsigned i = 0; i < 12 || (resumed < 4 && i < 60); i++) {
		unsigned window_us = 120000 * (1 + i / 12);
		size_t kept;
		int status = -1;
		pid_t pid = start(NULL);

		usleep((useconds_t)(test_random(&seed) % window_us));
		kill(pid, SIGKILL);
		status = wait_for(pid);
		kept = on_record();
		/* Too early for a journal, or it was done already. */
		if (access(part, F_OK) != 0 ||
		    (kept == 0 && WIFEXITED(status))) {
			if (access(output, F_OK) == 0)
				check_result();
			continue;
		}
		unlink(count);
		status = wait_for(start(part));
		/* A header torn by the kill is nothing to resume. */
		if (status != 0 && kept == 0) {
			char command[160];

			snprintf(command, sizeof command, "rm -r %s", part);
			assert_int_equal(system(command), 0);
			continue;
		}
		assert_int_equal(status, 0);
		/* What was on record is not measured again. */
		assert_int_equal(lines_of(count), 2 * ROUNDS - kept);
		check_result();
		unlink(output);
		resumed++;
	}
	assert_true(resumed >= 4);
}

static void an_interrupt_saves_what_was_measured(void **state)
{
	struct sv_result *r;
	struct sv_err err;
	int status;
	pid_t pid;

	(void)state;
	unlink(output);
	unlink(count);
	pid = start(NULL);
	/* Until something is on record, and not much longer. */
	for (int i = 0; i < 400 && lines_of(count) < 4; i++)
		usleep(5000);
	kill(pid, SIGINT);
	status = wait_for(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
	assert_int_equal(access(part, F_OK), 0);
	assert_int_equal(sv_result_read(output, &r, &err), 0);
	assert_false(r->run.complete);
	assert_true(r->n_measurements > 0);
	sv_result_free(r);
	assert_int_equal(wait_for(start(part)), 0);
	check_result();
}

static void an_interrupt_leaves_another_result_alone(void **state)
{
	char before[64] = "", after[64] = "";
	FILE *file;
	pid_t pid;

	(void)state;
	file = fopen(output, "w");
	fputs("something of somebody's", file);
	fclose(file);
	unlink(count);
	pid = start(NULL);
	for (int i = 0; i < 400 && lines_of(count) < 2; i++)
		usleep(5000);
	kill(pid, SIGTERM);
	wait_for(pid);
	file = fopen(output, "r");
	assert_non_null(fgets(after, sizeof after, file));
	fclose(file);
	snprintf(before, sizeof before, "something of somebody's");
	assert_string_equal(after, before);
	assert_int_equal(wait_for(start(part)), 0);
	check_result();
}

static void two_runs_do_not_share_a_folder(void **state)
{
	struct sv_run_outcome outcome;
	struct sv_result *r = NULL;
	struct sv_err err;
	pid_t pid;

	(void)state;
	unlink(output);
	unlink(count);
	pid = start(NULL);
	for (int i = 0; i < 400 && lines_of(count) < 1; i++)
		usleep(5000);
	assert_int_equal(
	    sv_run_resume(part, NULL, &r, &outcome, &err), SV_EOUTPUT);
	assert_non_null(strstr(err.text, "another run"));
	assert_int_equal(wait_for(pid), 0);
	check_result();
}

/* Size of the journal of a run that has measured nothing yet. */
static rlim_t header_bytes(void)
{
	char journal[160];
	FILE *file;
	size_t n = 0;
	pid_t pid;

	unlink(output);
	unlink(count);
	pid = start(NULL);
	for (int i = 0; i < 400 && lines_of(count) < 1; i++)
		usleep(5000);
	kill(pid, SIGKILL);
	wait_for(pid);
	snprintf(journal, sizeof journal, "%s/journal.ndjson", part);
	file = fopen(journal, "r");
	assert_non_null(file);
	while (fgetc(file) != '\n')
		n++;
	fclose(file);
	(void)on_record(); /* until the lock is free */
	assert_int_equal(wait_for(start(part)), 0);
	unlink(output);
	return (rlim_t)n;
}

static void a_full_disk_stops_the_run_and_keeps_the_rest(void **state)
{
	/* Room for the header and a few of the records. */
	rlim_t disk = header_bytes() + 1000;
	int status;
	pid_t pid;

	(void)state;
	unlink(output);
	pid = fork();
	if (pid == 0) {
		struct sv_run_options o = options();
		struct rlimit limit = {disk, disk};
		struct sv_run_outcome outcome;
		struct sv_result *r = NULL;
		struct sv_err err;
		int code;

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		code = sv_run(&o, NULL, &r, &outcome, &err);
		_exit(code == SV_EOUTPUT && strstr(err.text, "--resume") != NULL
			  ? 0
			  : 1);
	}
	status = wait_for(pid);
	assert_int_equal(status, 0);
	assert_true(on_record() < 2 * ROUNDS);
	assert_int_equal(wait_for(start(part)), 0);
	check_result();
}

static void what_is_no_journal_is_refused(void **state)
{
	struct sv_run_outcome outcome;
	struct sv_result *r = NULL;
	struct sv_err err;

	(void)state;
	assert_int_equal(
	    sv_run_resume(folder, NULL, &r, &outcome, &err), SV_EINPUT);
	assert_int_equal(
	    sv_run_resume("/nowhere", NULL, &r, &outcome, &err), SV_EINPUT);
	assert_non_null(strstr(err.text, "/nowhere"));
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/stave-test-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(output, sizeof output, "%s/r.json", folder);
	snprintf(part, sizeof part, "%s.part", output);
	snprintf(count, sizeof count, "%s/count", folder);
	setenv("FAKE_WAYS", "good also_good", 1);
	setenv("FAKE_DELAY_US", "4000", 1);
	setenv("FAKE_COUNT_FILE", count, 1);
	return setenv("STAVE_WORKER_DIR", SV_TEST_FAKE_DIR, 1);
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
	    cmocka_unit_test(a_kill_at_any_moment_loses_no_finished_case),
	    cmocka_unit_test(an_interrupt_saves_what_was_measured),
	    cmocka_unit_test(an_interrupt_leaves_another_result_alone),
	    cmocka_unit_test(two_runs_do_not_share_a_folder),
	    cmocka_unit_test(a_full_disk_stops_the_run_and_keeps_the_rest),
	    cmocka_unit_test(what_is_no_journal_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down) != 0;
}
