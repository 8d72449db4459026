/* Results made in memory, for tests of what reads them. */
#ifndef SV_TEST_RESULTS_H
#define SV_TEST_RESULTS_H

#include <math.h>
#include <string.h>

#include "cmocka_all.h"
#include "result.h"
#include "stave/order.h"

#define TEST_MAX_ROUNDS 64

/* A summary that the rounds agree with. */
static inline struct sv_summary test_summary(const double *rounds, size_t n)
{
	double sorted[TEST_MAX_ROUNDS];

	memcpy(sorted, rounds, n * sizeof *rounds);
	sv_order_sort(sorted, n);
	return (struct sv_summary){.n = n,
	    .median = sv_order_median(sorted, n),
	    .ci95 = {NAN, NAN},
	    .mad = NAN,
	    .min = NAN,
	    .max = NAN,
	    .p05 = NAN,
	    .p95 = NAN};
}

/* Add a measurement with these rounds, everything else as the model has it. */
static inline struct sv_measurement *test_add(struct sv_result *r,
    const struct sv_measurement *model, const double *rounds, size_t n)
{
	struct sv_measurement m = *model;
	struct sv_err err = {0};

	m.rounds = rounds;
	m.n_rounds = n;
	if (n > 0)
		m.summary = test_summary(rounds, n);
	m.source = -1;
	if (sv_result_add(r, &m, &err) != 0)
		fail_msg("%s", err.text);
	return &r->measurements[r->n_measurements - 1];
}

/* The same from one number and a relative step from round to round. */
static inline struct sv_measurement *test_add_around(struct sv_result *r,
    const struct sv_measurement *model, double middle, double step, size_t n)
{
	double rounds[TEST_MAX_ROUNDS];

	struct sv_measurement m = *model;

	/* Without rounds there is what others publish: one number. */
	m.summary = test_summary(&middle, 1);
	m.summary.n = 0;
	for (size_t i = 0; i < n; i++)
		rounds[i] =
		    middle * (1.0 + step * ((double)i - (double)(n - 1) / 2.0));
	return test_add(r, &m, rounds, n);
}

/* An empty result of a machine; cpu NULL for one of which nothing is known. */
static inline struct sv_result *test_result(
    const char *label, const char *cpu, const char *device)
{
	struct sv_result *r = sv_result_new();

	assert_non_null(r);
	r->run.id = r->run.label = sv_result_text(r, label);
	if (cpu != NULL)
		json_object_set_new(
		    r->machine, "cpu", json_pack("{s:s}", "model", cpu));
	if (device != NULL)
		json_object_set_new(r->device, "name", json_string(device));
	return r;
}

#endif
