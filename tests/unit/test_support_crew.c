/* Threads at once: all of them run, one failure is everybody's. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "cores.h"
#include "crew.h"
#include "timing.h"

#define MEMBERS 6

struct state {
	atomic_uint runs[MEMBERS];
	atomic_uint there;
	unsigned failing;
};

/* Nobody goes on before all are there: they must run at once. */
static int meet(void *state, unsigned member, struct sv_err *err)
{
	struct state *s = state;

	atomic_fetch_add(&s->runs[member], 1);
	atomic_fetch_add(&s->there, 1);
	while (atomic_load(&s->there) < MEMBERS)
		usleep(100);
	if (member == s->failing)
		return sv_err_set(err, SV_ECHECK, "member %u failed", member);
	return 0;
}

static struct sv_place here(void)
{
	struct sv_place place = {0};

	place.cores = sv_cores_usable(&place.cpus);
	return place;
}

static void every_member_runs_once_and_beside_the_others(void **state)
{
	struct state s = {.failing = MEMBERS};
	struct sv_place place = here();
	struct sv_err err;
	double ns = 0.0;

	(void)state;
	assert_int_equal(sv_crew_run(&place, MEMBERS, meet, &s, &ns, &err), 0);
	for (int i = 0; i < MEMBERS; i++)
		assert_int_equal(atomic_load(&s.runs[i]), 1);
	assert_true(ns > 0.0);
}

static void a_members_failure_is_told(void **state)
{
	struct state s = {.failing = 3};
	struct sv_place place = here();
	struct sv_err err = {0};
	double ns;

	(void)state;
	assert_int_equal(
	    sv_crew_run(&place, MEMBERS, meet, &s, &ns, &err), SV_ECHECK);
	assert_string_equal(err.text, "member 3 failed");
}

static int look(void *state, unsigned member, struct sv_err *err)
{
	(void)member;
	(void)err;
	return sched_getaffinity(0, sizeof(cpu_set_t), state);
}

/* A thread that was given one core must not keep its crew on it. */
static void members_may_use_every_core_of_the_place(void **state)
{
	struct sv_place place = here();
	cpu_set_t one, found;
	struct sv_err err;
	double ns;
	int cpu = 0;

	(void)state;
	while (!CPU_ISSET(cpu, &place.cpus))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	int code = sv_crew_run(&place, 1, look, &found, &ns, &err);

	assert_int_equal(
	    sched_setaffinity(0, sizeof place.cpus, &place.cpus), 0);
	assert_int_equal(code, 0);
	assert_true(CPU_EQUAL(&found, &place.cpus));
}

static void usable_cores_are_counted(void **state)
{
	struct sv_place place = here();

	(void)state;
	assert_true(place.cores >= 1);
	assert_true(place.cores <= (unsigned)CPU_COUNT(&place.cpus));
}

static void a_real_clock_runs_while_the_host_works(void **state)
{
	struct sv_err err = {0};

	(void)state;
	assert_int_equal(sv_timing_host_work(&err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_member_runs_once_and_beside_the_others),
	    cmocka_unit_test(a_members_failure_is_told),
	    cmocka_unit_test(members_may_use_every_core_of_the_place),
	    cmocka_unit_test(usable_cores_are_counted),
	    cmocka_unit_test(a_real_clock_runs_while_the_host_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
