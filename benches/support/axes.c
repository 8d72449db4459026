/* The product of axes as an odometer; see the header. */
#include "axes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks.h"

#include "context.h"

#define MAX_AXES 8

static int by_name(const void *left, const void *right)
{
	const struct sv_param *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* Advance the wheels over values of the level; false after the last. */
static bool turn(
    const struct sv_group *group, enum sv_level level, size_t *wheel)
{
	for (size_t i = group->n_axes; i-- > 0;) {
		const struct sv_axis *axis = &group->axes[i];

		while (++wheel[i] < axis->n_values)
			if (axis->values[wheel[i]].level <= level)
				return true;
		wheel[i] = 0;
		while (wheel[i] < axis->n_values &&
		       axis->values[wheel[i]].level > level)
			wheel[i]++;
	}
	return false;
}

/* Set the wheels to the first values; false where an axis has none. */
static bool start(
    const struct sv_group *group, enum sv_level level, size_t *wheel)
{
	for (size_t i = 0; i < group->n_axes; i++) {
		const struct sv_axis *axis = &group->axes[i];

		wheel[i] = 0;
		while (wheel[i] < axis->n_values &&
		       axis->values[wheel[i]].level > level)
			wheel[i]++;
		if (wheel[i] == axis->n_values)
			return false;
	}
	return true;
}

static bool make_case(const struct sv_bench *bench,
    const struct sv_group *group, const struct sv_task *task,
    enum sv_level level, const struct sv_place *place, const size_t *wheel,
    struct sv_case *out)
{
	memset(out, 0, sizeof *out);
	out->place = place;
	out->bench = bench;
	out->group = group;
	out->level = level;
	out->n_params = group->n_axes;
	for (size_t i = 0; i < group->n_axes; i++) {
		const struct sv_value *value = &group->axes[i].values[wheel[i]];

		out->params[i] = (struct sv_param){
		    group->axes[i].name, value->text, value->number};
	}
	if (task != NULL) {
		out->task = task;
		sv_case_set_text(out, "workload", task->name);
		sv_case_set_number(out, "batch", (int64_t)task->batch);
	}
	if (group->derive != NULL && !group->derive(out))
		return false;
	qsort(out->params, out->n_params, sizeof out->params[0], by_name);
	return true;
}

/* The cases of a group, for one task where it has them. */
static int each_of_group(const struct sv_bench *bench,
    const struct sv_group *group, const struct sv_task *task,
    enum sv_level level, const struct sv_place *place, sv_case_fn *fn,
    void *state)
{
	size_t wheel[MAX_AXES];
	struct sv_case c;
	int code = 0;

	assert(group->n_axes <= MAX_AXES);
	if (!start(group, level, wheel))
		return 0;
	do {
		if (make_case(bench, group, task, level, place, wheel, &c))
			code = fn(state, &c);
	} while (code == 0 && turn(group, level, wheel));
	return code;
}

int sv_axes_each(const struct sv_bench *bench, enum sv_level level,
    const struct sv_place *place, sv_case_fn *fn, void *state)
{
	const struct sv_tasks *tasks = place->tasks;
	int code = 0;

	for (size_t g = 0; code == 0 && g < bench->n_groups; g++) {
		const struct sv_group *group = &bench->groups[g];
		size_t n = !bench->per_task ? 1 : tasks != NULL ? tasks->n : 0;

		for (size_t i = 0; code == 0 && i < n; i++)
			code = each_of_group(bench, group,
			    bench->per_task ? &tasks->items[i] : NULL, level,
			    place, fn, state);
	}
	return code;
}

size_t sv_axes_id(const struct sv_case *c, char out[SV_CASE_ID_BYTES])
{
	size_t used = 0, size = SV_CASE_ID_BYTES;

	used += (size_t)snprintf(out, size, "%s/", c->bench->name);
	for (size_t i = 0; c->group->metrics[i] != NULL && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s",
		    i > 0 ? "+" : "", c->group->metrics[i]);
	for (size_t i = 0; i < c->n_params && used < size; i++) {
		const struct sv_param *p = &c->params[i];
		const char *mark = i == 0 ? "?" : "&";

		used += (size_t)(p->text != NULL
				     ? snprintf(out + used, size - used,
					   "%s%s=%s", mark, p->name, p->text)
				     : snprintf(out + used, size - used,
					   "%s%s=%lld", mark, p->name,
					   (long long)p->number));
	}
	assert(used < size);
	return used;
}

struct search {
	const char *id;
	struct sv_case *out;
	enum sv_level level;
};

static int match(void *state, const struct sv_case *c)
{
	struct search *search = state;
	char id[SV_CASE_ID_BYTES];

	sv_axes_id(c, id);
	if (strcmp(id, search->id) != 0)
		return 0;
	*search->out = *c;
	search->out->level = search->level;
	return 1;
}

int sv_axes_find(const struct sv_bench *bench, const char *id,
    enum sv_level level, const struct sv_place *place, struct sv_case *out,
    struct sv_err *err)
{
	struct search search = {id, out, level};

	if (sv_axes_each(bench, SV_FULL, place, match, &search) == 1)
		return 0;
	return sv_err_set(err, SV_EUSAGE,
	    "\"%.200s\": %s has no such case; `plan` lists them", id,
	    bench->name);
}

const struct sv_metric *sv_axes_metric(
    const struct sv_bench *bench, const char *name)
{
	for (size_t i = 0; i < bench->n_metrics; i++)
		if (strcmp(bench->metrics[i].name, name) == 0)
			return &bench->metrics[i];
	assert(!"a group names a metric that its benchmark lacks");
	return NULL;
}
