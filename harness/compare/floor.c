/*
 * The floor of a machine: the spread of its own runs beyond what their rounds
 * explain, and how much two runs therefore differ by at most.
 *
 * Source: the one-way random effects model, moments estimator of the variance
 * between groups; prediction by Student's t.
 */
#include "floor.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"
#include "stave/order.h"

/* Variance of a median against that of a mean, of normal values. */
#define MEDIAN_VARIANCE 1.5707963267948966
/* A factor of a million is no limit, and all that a file need hold. */
#define MOST_LIMIT	13.8
/* Machines' memory is the same within this: kernels keep some back. */
#define LOOSE		0.01

static int no_memory(struct sv_err *err)
{
	return sv_err_set(err, SV_ERESOURCE, "floor: out of memory");
}

static double number_field(json_t *object, const char *path)
{
	json_t *value = sv_result_field(object, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool same_text(const char *known, json_t *object, const char *path)
{
	const char *text = json_string_value(sv_result_field(object, path));

	return known == NULL ? text == NULL
			     : text != NULL && strcmp(known, text) == 0;
}

bool sv_floor_is_of(const struct sv_floor *floor, const struct sv_result *r)
{
	const struct sv_floor_machine *m = &floor->machine;
	double memory = number_field(r->machine, "memory.total_bytes");

	return same_text(m->cpu, r->machine, "cpu.model") &&
	       same_text(m->device, r->device, "name") &&
	       (isnan(memory) ? isnan(m->memory_bytes)
			      : fabs(memory - m->memory_bytes) <=
				    LOOSE * m->memory_bytes);
}

/* Of the logarithms of positive rounds; false where there are none such. */
static bool log_median(
    const struct sv_measurement *m, double *median, double *variance)
{
	double *logs = calloc(m->n_rounds + 1, sizeof *logs), mean = 0.0;
	double n = (double)m->n_rounds, squares = 0.0;
	bool good = logs != NULL && m->summary.median > 0.0;

	for (size_t i = 0; good && i < m->n_rounds; i++) {
		good = m->rounds[i] > 0.0;
		logs[i] = good ? log(m->rounds[i]) : 0.0;
		mean += logs[i] / n;
	}
	if (good && m->n_rounds == 0)
		*median = log(m->summary.median);
	if (good && m->n_rounds > 0) {
		sv_order_sort(logs, m->n_rounds);
		*median = sv_order_median(logs, m->n_rounds);
	}
	for (size_t i = 0; good && i < m->n_rounds; i++)
		squares += (logs[i] - mean) * (logs[i] - mean);
	/* What its rounds alone let the median vary by. */
	*variance =
	    m->n_rounds > 1 ? MEDIAN_VARIANCE * squares / (n - 1.0) / n : 0.0;
	free(logs);
	return good;
}

/* Estimate one id over the runs; false where fewer than two have it. */
static bool estimate(const struct sv_result *const *runs, size_t n,
    const char *id, struct sv_floor_entry *out)
{
	double sum = 0.0, squares = 0.0, within = 0.0, k;

	*out = (struct sv_floor_entry){0};
	for (size_t i = 0; i < n; i++) {
		const struct sv_measurement *m = sv_result_find(runs[i], id);
		double median, variance;

		if (m == NULL || m->check == SV_CHECK_FAIL ||
		    !log_median(m, &median, &variance))
			continue;
		out->runs++;
		/* Welford's running mean and sum of squares. */
		double delta = median - sum;

		sum += delta / (double)out->runs;
		squares += delta * (median - sum);
		within += variance;
	}
	if (out->runs < 2)
		return false;
	k = (double)out->runs;
	out->between = sqrt(fmax(0.0, squares / (k - 1.0) - within / k));
	out->limit =
	    sqrt(2.0) * out->between * sv_stats_student_quantile(out->runs - 1);
	return true;
}

static int by_id(const void *left, const void *right)
{
	const struct sv_floor_entry *a = left, *b = right;

	return strcmp(a->id, b->id);
}

/* Every id of the runs once: those of a run that no earlier one has. */
static bool is_new(
    const struct sv_result *const *runs, size_t run, const char *id)
{
	for (size_t i = 0; i < run; i++)
		if (sv_result_find(runs[i], id) != NULL)
			return false;
	return true;
}

static int add_entries(struct sv_floor *floor,
    const struct sv_result *const *runs, size_t n, struct sv_err *err)
{
	size_t room = 1;

	for (size_t i = 0; i < n; i++)
		room += runs[i]->n_measurements;
	floor->entries =
	    sv_result_bytes(floor->store, room * sizeof *floor->entries);
	if (floor->entries == NULL)
		return no_memory(err);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < runs[i]->n_measurements; j++) {
			const char *id = runs[i]->measurements[j].id;
			struct sv_floor_entry *next =
			    &floor->entries[floor->n_entries];

			if (!is_new(runs, i, id) ||
			    !estimate(runs, n, id, next))
				continue;
			next->id = sv_result_text(floor->store, id);
			if (next->id == NULL)
				return no_memory(err);
			floor->n_entries++;
		}
	qsort(floor->entries, floor->n_entries, sizeof *floor->entries, by_id);
	return 0;
}

/* One machine throughout, and no run twice: that would hide what varies. */
static int check_runs(const struct sv_floor *floor,
    const struct sv_result *const *runs, const char *const *names, size_t n,
    struct sv_err *err)
{
	for (size_t i = 1; i < n; i++) {
		if (!sv_floor_is_of(floor, runs[i]))
			return sv_err_set(err, SV_EINPUT,
			    "floor: expected runs of one machine, but %.200s "
			    "and %.200s differ in processor, memory or device",
			    names[0], names[i]);
		for (size_t j = 0; j < i; j++)
			if (strcmp(runs[i]->run.id, runs[j]->run.id) == 0)
				return sv_err_set(err, SV_EINPUT,
				    "floor: expected different runs, but "
				    "%.200s and %.200s are one",
				    names[j], names[i]);
	}
	return 0;
}

/* What is known of the machine of a run. */
static int take_machine(
    struct sv_floor *floor, const struct sv_result *r, struct sv_err *err)
{
	json_t *cpu = sv_result_field(r->machine, "cpu.model");
	json_t *device = sv_result_field(r->device, "name");
	struct sv_floor_machine *m = &floor->machine;

	m->cpu = sv_result_text(floor->store, json_string_value(cpu));
	m->device = sv_result_text(floor->store, json_string_value(device));
	m->memory_bytes = number_field(r->machine, "memory.total_bytes");
	return (json_is_string(cpu) && m->cpu == NULL) ||
		       (json_is_string(device) && m->device == NULL)
		   ? no_memory(err)
		   : 0;
}

struct sv_floor *sv_floor_new(void)
{
	struct sv_floor *floor = calloc(1, sizeof *floor);

	if (floor == NULL)
		return NULL;
	floor->machine.memory_bytes = NAN;
	floor->store = sv_result_new();
	if (floor->store != NULL)
		return floor;
	free(floor);
	return NULL;
}

int sv_floor_estimate(const struct sv_result *const *runs,
    const char *const *names, size_t n, struct sv_floor **out,
    struct sv_err *err)
{
	struct sv_floor *floor;
	int code;

	if (n < 2)
		return sv_err_set(err, SV_EINPUT,
		    "floor: expected two runs or more, found %zu", n);
	floor = sv_floor_new();
	if (floor == NULL)
		return no_memory(err);
	floor->runs = n;
	code = take_machine(floor, runs[0], err);
	if (code == 0)
		code = check_runs(floor, runs, names, n, err);
	if (code == 0)
		code = add_entries(floor, runs, n, err);
	if (code == 0)
		*out = floor;
	else
		sv_floor_free(floor);
	return code;
}

void sv_floor_free(struct sv_floor *floor)
{
	if (floor == NULL)
		return;
	sv_result_free(floor->store);
	free(floor);
}

static int id_to_entry(const void *id, const void *entry)
{
	return strcmp(id, ((const struct sv_floor_entry *)entry)->id);
}

static double limit_of(const struct sv_floor *floor, const char *id)
{
	const struct sv_floor_entry *found = bsearch(id, floor->entries,
	    floor->n_entries, sizeof *floor->entries, id_to_entry);

	return found != NULL ? found->limit : NAN;
}

/* The first floor of a result's machine that has the id. */
static double limit_for(const struct sv_floor *const *floors,
    const struct sv_result *r, const char *id)
{
	for (; *floors != NULL; floors++) {
		double limit =
		    sv_floor_is_of(*floors, r) ? limit_of(*floors, id) : NAN;

		if (!isnan(limit))
			return limit;
	}
	return NAN;
}

double sv_floor_limit(const struct sv_floor *const *floors,
    const struct sv_result *a, const struct sv_result *b, const char *id)
{
	double of_a, of_b;

	if (floors == NULL)
		return NAN;
	of_a = limit_for(floors, a, id);
	of_b = limit_for(floors, b, id);
	/* A machine of which nothing is known is taken for like the other. */
	if (isnan(of_a))
		return of_b;
	if (isnan(of_b))
		return of_a;
	return sqrt((of_a * of_a + of_b * of_b) / 2.0);
}
