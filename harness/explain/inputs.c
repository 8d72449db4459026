/*
 * Finding and interpolating measurements. Nothing here knows what a figure is
 * for; that is the model's.
 */
#include "inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stave/order.h"

/* Rounds beyond this are not drawn; no profile has as many. */
#define MAX_ROUNDS 256

static const struct sv_result_param *param_of(
    const struct sv_measurement *m, const char *name)
{
	for (size_t i = 0; i < m->n_params; i++)
		if (strcmp(m->params[i].name, name) == 0)
			return &m->params[i];
	return NULL;
}

static bool has_flag(const struct sv_measurement *m, const char *flag)
{
	for (size_t i = 0; i < m->n_flags; i++)
		if (strcmp(m->flags[i], flag) == 0)
			return true;
	return false;
}

/* What must not reach an explanation unless it is asked for. */
static bool is_sound(const struct sv_measurement *m)
{
	return m->check != SV_CHECK_FAIL && !has_flag(m, "above_reference") &&
	       m->summary.median > 0.0;
}

static bool matches(
    const struct sv_measurement *m, const struct sv_query *query)
{
	if (strcmp(m->bench, query->bench) != 0 ||
	    strcmp(m->metric, query->metric) != 0)
		return false;
	if (!query->use_flagged && !is_sound(m))
		return false;
	if (!(m->summary.median > 0.0))
		return false;
	for (size_t i = 0; i < query->n_wanted; i++) {
		const struct sv_wanted *want = &query->wanted[i];
		const struct sv_result_param *p = param_of(m, want->name);

		if (p == NULL || (p->text == NULL) != (want->text == NULL))
			return false;
		if (want->text != NULL ? strcmp(p->text, want->text) != 0
				       : (double)p->number != want->number)
			return false;
	}
	return true;
}

/* Nearest measured neighbours of a point on a log scale. */
struct bracket {
	bool has_below, has_above;
	size_t below, above; /* measurements */
	double at_below, at_above;
};

static void bracket_add(
    struct bracket *b, size_t index, double at, double point)
{
	if (at <= point && (!b->has_below || at > b->at_below)) {
		b->has_below = true;
		b->below = index;
		b->at_below = at;
	}
	if (at >= point && (!b->has_above || at < b->at_above)) {
		b->has_above = true;
		b->above = index;
		b->at_above = at;
	}
}

static struct sv_input bracket_input(const struct bracket *b, double point)
{
	struct sv_input input = {0};

	if (!b->has_below && !b->has_above)
		return input;
	input.n = 1;
	input.weight[0] = 1.0;
	if (!b->has_below || !b->has_above) {
		input.from[0] = b->has_below ? b->below : b->above;
		input.extrapolated = true;
		return input;
	}
	input.from[0] = b->below;
	if (b->below == b->above || b->at_below == b->at_above)
		return input;
	input.n = 2;
	input.from[1] = b->above;
	input.weight[1] =
	    log(point / b->at_below) / log(b->at_above / b->at_below);
	input.weight[0] = 1.0 - input.weight[1];
	return input;
}

struct sv_input sv_input_find(
    const struct sv_result *result, const struct sv_query *query)
{
	struct bracket bracket = {0};

	for (size_t i = 0; i < result->n_measurements; i++) {
		const struct sv_measurement *m = &result->measurements[i];

		if (!matches(m, query))
			continue;
		if (query->over == NULL)
			return (struct sv_input){
			    .n = 1, .from = {i}, .weight = {1.0}};
		const struct sv_result_param *p = param_of(m, query->over);

		if (p != NULL && p->text == NULL && p->number > 0)
			bracket_add(&bracket, i, (double)p->number, query->at);
	}
	return bracket_input(&bracket, query->at);
}

static double number_of(const struct sv_measurement *m, const char *name)
{
	const struct sv_result_param *p = param_of(m, name);

	return p != NULL && p->text == NULL ? (double)p->number : 0.0;
}

struct sv_input sv_input_gemm(const struct sv_result *result,
    const char *precision, double m, double n, double k, bool use_flagged)
{
	const struct sv_wanted wanted[] = {{"precision", precision, 0.0}};
	const struct sv_query query = {.bench = "gemm",
	    .metric = "throughput",
	    .wanted = wanted,
	    .n_wanted = 1,
	    .use_flagged = use_flagged};
	double point = cbrt(m * n * k);
	struct bracket bracket = {0};

	for (size_t i = 0; i < result->n_measurements; i++) {
		const struct sv_measurement *at = &result->measurements[i];

		if (!matches(at, &query))
			continue;
		double am = number_of(at, "m"), an = number_of(at, "n"),
		       ak = number_of(at, "k");

		if (am == m && an == n && ak == k)
			return (struct sv_input){
			    .n = 1, .from = {i}, .weight = {1.0}};
		if (am > 0.0 && am == an && am == ak)
			bracket_add(&bracket, i, am, point);
	}
	return bracket_input(&bracket, point);
}

double sv_input_value(const struct sv_input *input, const double *medians)
{
	double sum = 0.0;

	if (input->n == 0)
		return NAN;
	for (size_t i = 0; i < input->n; i++)
		sum += input->weight[i] * log(medians[input->from[i]]);
	return exp(sum);
}

double *sv_input_medians(const struct sv_result *result)
{
	double *medians = calloc(result->n_measurements + 1, sizeof *medians);

	for (size_t i = 0; medians != NULL && i < result->n_measurements; i++)
		medians[i] = result->measurements[i].summary.median;
	return medians;
}

/* Source: Marsaglia 2003, "Xorshift RNGs", the 64-bit (13, 7, 17) member. */
static unsigned long long draw(unsigned long long *state)
{
	unsigned long long x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

void sv_input_resample(
    const struct sv_result *result, unsigned long long *state, double *medians)
{
	double drawn[MAX_ROUNDS];

	for (size_t i = 0; i < result->n_measurements; i++) {
		const struct sv_measurement *m = &result->measurements[i];
		size_t n = m->n_rounds < MAX_ROUNDS ? m->n_rounds : MAX_ROUNDS;

		medians[i] = m->summary.median;
		if (n < 2)
			continue;
		for (size_t j = 0; j < n; j++)
			drawn[j] = m->rounds[draw(state) % n];
		sv_order_sort(drawn, n);
		medians[i] = sv_order_median(drawn, n);
	}
}
