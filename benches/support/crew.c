/* A crew waits at a gate until all are there; see the header. */
#include "crew.h"

#include <stdlib.h>
#include <string.h>

#include "timing.h"

struct crew {
	pthread_mutex_t lock;
	pthread_cond_t gate;
	bool open, cancelled;
	sv_crew_fn *fn;
	void *state;
};

struct member {
	struct crew *crew;
	pthread_t thread;
	unsigned number;
	uint64_t end_ns;
	int code;
	struct sv_err err;
};

static void *work(void *state)
{
	struct member *me = state;
	struct crew *crew = me->crew;
	bool cancelled;

	pthread_mutex_lock(&crew->lock);
	while (!crew->open)
		pthread_cond_wait(&crew->gate, &crew->lock);
	cancelled = crew->cancelled;
	pthread_mutex_unlock(&crew->lock);
	if (!cancelled)
		me->code = crew->fn(crew->state, me->number, &me->err);
	me->end_ns = sv_now_ns();
	return NULL;
}

int sv_crew_thread(const struct sv_place *place, pthread_t *out,
    void *(*fn)(void *), void *state, struct sv_err *err)
{
	pthread_attr_t attributes;
	int failed;

	pthread_attr_init(&attributes);
	if (CPU_COUNT(&place->cpus) > 0)
		pthread_attr_setaffinity_np(
		    &attributes, sizeof place->cpus, &place->cpus);
	failed = pthread_create(out, &attributes, fn, state);
	pthread_attr_destroy(&attributes);
	if (failed != 0)
		return sv_err_set(
		    err, SV_ERESOURCE, "thread: %s", strerror(failed));
	return 0;
}

static uint64_t open_gate(struct crew *crew, bool cancelled)
{
	uint64_t start;

	pthread_mutex_lock(&crew->lock);
	crew->open = true;
	crew->cancelled = cancelled;
	start = sv_now_ns();
	pthread_cond_broadcast(&crew->gate);
	pthread_mutex_unlock(&crew->lock);
	return start;
}

int sv_crew_run(const struct sv_place *place, unsigned members, sv_crew_fn *fn,
    void *state, double *elapsed_ns, struct sv_err *err)
{
	struct crew crew = {.fn = fn, .state = state};
	struct member *list = calloc(members, sizeof *list);
	unsigned started = 0;
	uint64_t start, end;
	int code = 0;

	if (list == NULL)
		return sv_err_set(err, SV_ERESOURCE, "threads: out of memory");
	pthread_mutex_init(&crew.lock, NULL);
	pthread_cond_init(&crew.gate, NULL);
	while (code == 0 && started < members) {
		list[started] =
		    (struct member){.crew = &crew, .number = started};
		code = sv_crew_thread(
		    place, &list[started].thread, work, &list[started], err);
		started += code == 0;
	}
	end = start = open_gate(&crew, code != 0);
	for (unsigned i = 0; i < started; i++) {
		pthread_join(list[i].thread, NULL);
		end = list[i].end_ns > end ? list[i].end_ns : end;
		if (code == 0 && list[i].code != 0)
			code = sv_err_set(
			    err, list[i].code, "%s", list[i].err.text);
	}
	*elapsed_ns = (double)(end - start);
	pthread_cond_destroy(&crew.gate);
	pthread_mutex_destroy(&crew.lock);
	free(list);
	return code;
}
