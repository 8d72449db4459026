/* The plan: pure but for its storage. */
#include "plan.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static bool named(
    const char *bench, const char *id, const char *const *patterns)
{
	for (; patterns != NULL && *patterns != NULL; patterns++)
		if (strcmp(*patterns, bench) == 0 ||
		    fnmatch(*patterns, id, 0) == 0)
			return true;
	return false;
}

bool sv_plan_wants(const char *bench, const char *id,
    const char *const *benches, const char *const *skips)
{
	if (named(bench, id, skips))
		return false;
	return benches == NULL || benches[0] == NULL ||
	       named(bench, id, benches);
}

int sv_plan_init(
    struct sv_plan *plan, json_t *cases, unsigned rounds, struct sv_err *err)
{
	size_t n = json_array_size(cases);

	*plan = (struct sv_plan){.n_cases = n, .rounds = rounds};
	plan->cases = calloc(n > 0 ? n : 1, sizeof *plan->cases);
	if (plan->cases == NULL)
		goto no_memory;
	plan->messages = json_incref(cases);
	for (size_t i = 0; i < n; i++) {
		json_t *one = json_array_get(cases, i);
		struct sv_planned *c = &plan->cases[i];

		c->id = json_string_value(json_object_get(one, "id"));
		c->bench = json_string_value(json_object_get(one, "bench"));
		c->params = json_object_get(one, "params");
		c->metrics = json_object_get(one, "metrics");
		c->files = json_is_true(json_object_get(one, "files"));
		c->done = calloc(rounds > 0 ? rounds : 1, 1);
		if (c->done == NULL)
			goto no_memory;
	}
	return 0;

no_memory:
	sv_plan_fini(plan);
	return sv_err_set(err, SV_ERESOURCE, "plan: out of memory");
}

void sv_plan_fini(struct sv_plan *plan)
{
	for (size_t i = 0; plan->cases != NULL && i < plan->n_cases; i++)
		free(plan->cases[i].done);
	free(plan->cases);
	json_decref(plan->messages);
	*plan = (struct sv_plan){0};
}

struct sv_planned *sv_plan_find(struct sv_plan *plan, const char *id)
{
	for (size_t i = 0; i < plan->n_cases; i++)
		if (strcmp(plan->cases[i].id, id) == 0)
			return &plan->cases[i];
	return NULL;
}

/*
 * Cases get a random key of their bench above a random key of their own;
 * sorting by both keeps benches together.
 */
struct keyed {
	uint64_t bench, own;
	size_t index;
};

static int by_key(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;

	if (a->bench != b->bench)
		return a->bench < b->bench ? -1 : 1;
	if (a->own != b->own)
		return a->own < b->own ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static uint64_t key_of(const char *text, uint64_t seed)
{
	uint64_t state = seed;

	for (; *text != '\0'; text++)
		state = sv_stats_random(&state) ^ (unsigned char)*text;
	return sv_stats_random(&state);
}

void sv_plan_order(
    const struct sv_plan *plan, uint64_t seed, unsigned round, size_t *order)
{
	uint64_t mixed = seed ^ (0xd1b54a32d192ed03u * round);
	struct keyed *keys =
	    calloc(plan->n_cases > 0 ? plan->n_cases : 1, sizeof *keys);

	for (size_t i = 0; i < plan->n_cases; i++) {
		order[i] = i;
		/* Without memory the plan's own order will do. */
		if (keys != NULL)
			keys[i] =
			    (struct keyed){key_of(plan->cases[i].bench, mixed),
				key_of(plan->cases[i].id, mixed), i};
	}
	if (keys == NULL)
		return;
	qsort(keys, plan->n_cases, sizeof *keys, by_key);
	for (size_t i = 0; i < plan->n_cases; i++)
		order[i] = keys[i].index;
	free(keys);
}
