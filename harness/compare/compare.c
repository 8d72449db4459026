/*
 * Pairing two results and judging every pair; see the header. The order of
 * measurements in the files does not matter.
 */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pairing.h"
#include "stats.h"
#include "verdict.h"

#define N_FAMILIES 3

const char *sv_verdict_name(enum sv_verdict verdict)
{
	static const char *const names[] = {
	    "faster", "slower", "same", "unclear"};

	return names[verdict];
}

const char *sv_reason_text(const char *reason)
{
	static const struct {
		const char *code, *text;
	} table[] = {
	    {"check_failed", "wrong data"},
	    {"above_reference", "impossibly good"},
	    {"throttled", "throttled on one side"},
	    {"not_positive", "no positive figure"},
	    {"no_spread", "want of spread"},
	    {"few_rounds", "want of rounds"},
	    {"noise", "noise"},
	    {"small_effect", "a small difference"},
	    {"many_tests", "one hit among many tests"},
	    {"within_floor", "the machine's own variation"},
	    {"control_moved", "a control that moved"},
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].code, reason) == 0)
			return table[i].text;
	return reason;
}

/* Correct the p-values of one family among themselves; *tests: how many. */
static int correct(struct sv_comparison *c, enum sv_family family,
    size_t *tests, struct sv_err *err)
{
	double *p = calloc(c->n_pairs + 1, sizeof *p);
	size_t *of = calloc(c->n_pairs + 1, sizeof *of), n = 0;
	int code = SV_ERESOURCE;

	if (p == NULL || of == NULL) {
		sv_err_set(err, code, "compare: out of memory");
		goto free_arrays;
	}
	for (size_t i = 0; i < c->n_pairs; i++)
		if (!isnan(c->pairs[i].p) && c->pairs[i].reason == NULL &&
		    c->pairs[i].family == family) {
			of[n] = i;
			p[n++] = c->pairs[i].p;
		}
	*tests = n;
	code = family == SV_SWEEP ? sv_stats_benjamini_hochberg(p, n, err)
				  : sv_stats_holm(p, n, err);
	for (size_t i = 0; code == 0 && i < n; i++)
		c->pairs[of[i]].p_adjusted = p[i];

free_arrays:
	free(p);
	free(of);
	return code;
}

/* What should not move and did: then nothing else can be believed. */
static void apply_controls(struct sv_comparison *c)
{
	for (size_t i = 0; i < c->n_pairs && c->moved == NULL; i++)
		if (c->pairs[i].family == SV_CONTROL &&
		    (c->pairs[i].verdict == SV_FASTER ||
			c->pairs[i].verdict == SV_SLOWER))
			c->moved = c->pairs[i].a->id;
	for (size_t i = 0; c->moved != NULL && i < c->n_pairs; i++) {
		struct sv_pair *p = &c->pairs[i];

		if (p->family == SV_CONTROL)
			continue;
		p->verdict = SV_UNCLEAR;
		p->reason = "control_moved";
		p->further = -1;
	}
}

static int judge_all(struct sv_comparison *c,
    const struct sv_compare_options *options, struct sv_err *err)
{
	size_t tests[N_FAMILIES];
	int code = 0;

	for (size_t i = 0; code == 0 && i < c->n_pairs; i++) {
		struct sv_pair *p = &c->pairs[i];

		code = sv_pair_measure(p, options, err);
		sv_pair_cycles(p, c);
		p->floor = expm1(
		    sv_floor_limit(options->floors, c->a, c->b, p->a->id));
	}
	for (int f = 0; code == 0 && f < N_FAMILIES; f++)
		code = correct(c, (enum sv_family)f, &tests[f], err);
	if (code != 0)
		return code;
	for (size_t i = 0; i < c->n_pairs; i++)
		sv_pair_judge(&c->pairs[i], tests[c->pairs[i].family]);
	apply_controls(c);
	for (size_t i = 0; i < c->n_pairs; i++)
		c->counts[c->pairs[i].verdict]++;
	return 0;
}

static int by_ratio(const void *left, const void *right)
{
	const struct sv_pair *a = *(const struct sv_pair *const *)left;
	const struct sv_pair *b = *(const struct sv_pair *const *)right;

	/* Without a ratio there is no place: at the end, by id. */
	if (isnan(a->log_ratio) != isnan(b->log_ratio))
		return isnan(a->log_ratio) ? 1 : -1;
	if (a->log_ratio < b->log_ratio)
		return -1;
	if (a->log_ratio > b->log_ratio)
		return 1;
	return strcmp(a->a->id, b->a->id);
}

static void put_in_order(struct sv_comparison *c, enum sv_sort sort)
{
	size_t known = 0;

	c->sort = sort;
	for (size_t i = 0; i < c->n_pairs; i++)
		c->order[i] = &c->pairs[i];
	if (sort == SV_SORT_ID)
		return;
	qsort(c->order, c->n_pairs, sizeof *c->order, by_ratio);
	while (known < c->n_pairs && !isnan(c->order[known]->log_ratio))
		known++;
	for (size_t i = 0; sort == SV_SORT_BEST && i < known / 2; i++) {
		const struct sv_pair *swapped = c->order[i];

		c->order[i] = c->order[known - 1 - i];
		c->order[known - 1 - i] = swapped;
	}
}

int sv_compare(const struct sv_result *a, const struct sv_result *b,
    const struct sv_compare_options *options, struct sv_comparison **out,
    struct sv_err *err)
{
	struct sv_comparison *c = calloc(1, sizeof *c);
	int code = SV_ERESOURCE;

	if (c == NULL)
		return sv_err_set(err, code, "compare: out of memory");
	c->a = a;
	c->b = b;
	c->pairs = calloc(a->n_measurements + 1, sizeof *c->pairs);
	c->order = calloc(a->n_measurements + 1, sizeof *c->order);
	c->mismatched = calloc(a->n_measurements + 1, sizeof *c->mismatched);
	c->only_a = calloc(a->n_measurements + 1, sizeof *c->only_a);
	c->only_b = calloc(b->n_measurements + 1, sizeof *c->only_b);
	if (c->pairs == NULL || c->order == NULL || c->mismatched == NULL ||
	    c->only_a == NULL || c->only_b == NULL)
		sv_err_set(err, code, "compare: out of memory");
	else
		code = sv_find_confounders(c, err);
	if (code == 0)
		code = sv_pair_up(c, err);
	if (code == 0)
		code = judge_all(c, options, err);
	if (code != 0) {
		sv_comparison_free(c);
		return code;
	}
	put_in_order(c, options->sort);
	*out = c;
	return 0;
}

void sv_comparison_free(struct sv_comparison *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->n_confounders; i++) {
		free(c->confounders[i].a);
		free(c->confounders[i].b);
	}
	for (size_t i = 0; i < c->n_mismatched; i++)
		free(c->mismatched[i].why);
	free(c->confounders);
	free(c->pairs);
	free(c->order);
	free(c->mismatched);
	free(c->only_a);
	free(c->only_b);
	free(c);
}

const char *sv_comparison_label(const struct sv_result *r)
{
	return r->run.label != NULL && r->run.label[0] != '\0' ? r->run.label
							       : "?";
}
