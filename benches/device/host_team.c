/*
 * A team of threads that share out one kernel's elements. Members spin for a
 * moment between kernels and then sleep, so that an idle device costs
 * nothing and a busy one does not pay a wake-up for each kernel.
 */
#include "host.h"

#include <stdlib.h>

#include "waiting.h"

/*
 * Fewer elements than this are done before another thread has woken up: some
 * 10 µs of work at a few bytes a nanosecond.
 */
#define SHARED_FROM 16384

struct host_team {
	unsigned members, started;
	pthread_t threads[SV_MAX_TEAM];
	pthread_mutex_t running; /* one kernel at a time */
	pthread_mutex_t lock;
	pthread_cond_t begin, end;
	/* Changes with each kernel; set under lock, read without. */
	atomic_uint generation;
	atomic_uint busy; /* members at work, the caller not counted */
	bool quit;
	host_part_fn *fn;
	const void *args;
};

struct member {
	struct host_team *team;
	unsigned number;
};

static void *work(void *state)
{
	struct member me = *(struct member *)state;
	struct host_team *team = me.team;
	unsigned seen = 0;

	free(state);
	for (;;) {
		for (unsigned i = 0;
		     i < HOST_SPINS && atomic_load(&team->generation) == seen;
		     i++)
			host_pause();
		pthread_mutex_lock(&team->lock);
		while (atomic_load(&team->generation) == seen && !team->quit)
			pthread_cond_wait(&team->begin, &team->lock);
		bool quit = team->quit;

		seen = atomic_load(&team->generation);
		pthread_mutex_unlock(&team->lock);
		if (quit)
			return NULL;
		team->fn(team->args, me.number, team->members);
		if (atomic_fetch_sub(&team->busy, 1) == 1) {
			pthread_mutex_lock(&team->lock);
			pthread_cond_signal(&team->end);
			pthread_mutex_unlock(&team->lock);
		}
	}
}

static bool start_member(struct host_team *team, unsigned number)
{
	struct member *me = malloc(sizeof *me);

	if (me == NULL)
		return false;
	*me = (struct member){team, number};
	if (pthread_create(&team->threads[number], NULL, work, me) != 0) {
		free(me);
		return false;
	}
	return true;
}

struct host_team *host_team_new(unsigned members)
{
	struct host_team *team = calloc(1, sizeof *team);

	if (team == NULL)
		return NULL;
	pthread_mutex_init(&team->running, NULL);
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->begin, NULL);
	pthread_cond_init(&team->end, NULL);
	team->members = members < 1 ? 1 : members;
	if (team->members > SV_MAX_TEAM)
		team->members = SV_MAX_TEAM;
	/* Member 0 is whoever calls; a smaller team also does the work. */
	for (team->started = 1; team->started < team->members; team->started++)
		if (!start_member(team, team->started))
			break;
	team->members = team->started;
	return team;
}

void host_team_free(struct host_team *team)
{
	if (team == NULL)
		return;
	pthread_mutex_lock(&team->lock);
	team->quit = true;
	pthread_cond_broadcast(&team->begin);
	pthread_mutex_unlock(&team->lock);
	for (unsigned i = 1; i < team->started; i++)
		pthread_join(team->threads[i], NULL);
	pthread_cond_destroy(&team->begin);
	pthread_cond_destroy(&team->end);
	pthread_mutex_destroy(&team->lock);
	pthread_mutex_destroy(&team->running);
	free(team);
}

unsigned host_team_members(const struct host_team *team)
{
	return team->members;
}

void host_team_run(struct host_team *team, host_part_fn *fn, const void *args)
{
	pthread_mutex_lock(&team->running);
	pthread_mutex_lock(&team->lock);
	team->fn = fn;
	team->args = args;
	atomic_store(&team->busy, team->members - 1);
	atomic_fetch_add(&team->generation, 1);
	pthread_cond_broadcast(&team->begin);
	pthread_mutex_unlock(&team->lock);
	fn(args, 0, team->members);
	for (unsigned i = 0; i < HOST_SPINS && atomic_load(&team->busy) > 0;
	     i++)
		host_pause();
	pthread_mutex_lock(&team->lock);
	while (atomic_load(&team->busy) > 0)
		pthread_cond_wait(&team->end, &team->lock);
	pthread_mutex_unlock(&team->lock);
	pthread_mutex_unlock(&team->running);
}

void host_team_share(
    struct host_team *team, host_part_fn *fn, const void *args, uint64_t n)
{
	if (n < SHARED_FROM)
		fn(args, 0, 1);
	else
		host_team_run(team, fn, args);
}
