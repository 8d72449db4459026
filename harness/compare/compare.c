/*
 * Pairing two results and judging every pair; see the header. The order of
 * measurements in the files does not matter.
 */
#include "compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"
#include "verdict.h"

const char *sv_verdict_name(enum sv_verdict verdict)
{
	static const char *const names[] = {
	    "faster", "slower", "same", "unclear"};

	return names[verdict];
}

/* Fields whose difference may be the reason for a difference. */
static const char *const confounding[] = {
    "machine.cpu.model",
    "machine.cpu.usable_threads",
    "machine.cpu.governor",
    "machine.cpu.smt",
    "machine.memory.total_bytes",
    "machine.memory.thp",
    "machine.binding.node",
    "machine.os.kernel",
    "machine.os.distribution",
    "machine.os.iommu",
    "machine.virtualisation.kind",
    "machine.storage.transport",
    "device.backend",
    "device.name",
    "device.driver.version",
    "device.driver.model",
    "device.libraries.cublas",
    "device.libraries.blas",
    "device.libraries.blas_kernel",
    "device.power.limit_w",
    "device.clocks.under_load.sm_Hz",
    "device.pcie.under_load.generation",
    "device.pcie.under_load.width",
    "device.pcie.numa_node",
    "device.modes.ecc",
};

/* Fields that make the two hosts different machines. */
static const char *const host_fields[] = {
    "machine.cpu.model", "machine.memory.total_bytes", "machine.os.kernel"};

static json_t *field_of(const struct sv_result *r, const char *path)
{
	bool machine = strncmp(path, "machine.", 8) == 0;

	return sv_result_field(
	    machine ? r->machine : r->device, path + (machine ? 8 : 7));
}

/* A field's value as text; malloc'd, NULL when out of memory. */
static char *text_of(json_t *value)
{
	if (value == NULL)
		return strdup("unknown");
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return json_dumps(
	    value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
}

static int add_confounder(
    struct sv_comparison *c, const char *field, struct sv_err *err)
{
	json_t *a = field_of(c->a, field), *b = field_of(c->b, field);
	struct sv_confounder *slot = &c->confounders[c->n_confounders];

	/* Unknown on both sides is no difference, on one it may be. */
	if ((a == NULL && b == NULL) ||
	    (a != NULL && b != NULL && json_equal(a, b)))
		return 0;
	slot->field = field;
	slot->a = text_of(a);
	slot->b = text_of(b);
	c->n_confounders++;
	if (slot->a == NULL || slot->b == NULL)
		return sv_err_set(err, SV_ERESOURCE, "compare: out of memory");
	/* 1 and 1.0 are one value that two programs wrote. */
	if (strcmp(slot->a, slot->b) == 0) {
		free(slot->a);
		free(slot->b);
		c->n_confounders--;
	}
	return 0;
}

static int by_id(const void *left, const void *right)
{
	const struct sv_pair *a = left, *b = right;

	return strcmp(a->a->id, b->a->id);
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int by_mismatch(const void *left, const void *right)
{
	const struct sv_mismatch *a = left, *b = right;

	return strcmp(a->id, b->id);
}

/* Why two measurements of one id cannot be set against each other, or NULL. */
static const char *mismatch(
    const struct sv_measurement *a, const struct sv_measurement *b)
{
	if (strcmp(a->unit, b->unit) != 0)
		return "the units differ";
	if (a->higher_is_better != b->higher_is_better)
		return "the directions of better differ";
	return NULL;
}

static void pair_up(struct sv_comparison *c)
{
	for (size_t i = 0; i < c->a->n_measurements; i++) {
		const struct sv_measurement *a = &c->a->measurements[i];
		const struct sv_measurement *b = sv_result_find(c->b, a->id);
		const char *why = b == NULL ? NULL : mismatch(a, b);

		if (b == NULL)
			c->only_a[c->n_only_a++] = a->id;
		else if (why != NULL)
			c->mismatched[c->n_mismatched++] =
			    (struct sv_mismatch){a->id, why};
		else
			c->pairs[c->n_pairs++] =
			    (struct sv_pair){.a = a, .b = b};
	}
	for (size_t i = 0; i < c->b->n_measurements; i++)
		if (sv_result_find(c->a, c->b->measurements[i].id) == NULL)
			c->only_b[c->n_only_b++] = c->b->measurements[i].id;
	qsort(c->pairs, c->n_pairs, sizeof *c->pairs, by_id);
	qsort(c->only_a, c->n_only_a, sizeof *c->only_a, by_text);
	qsort(c->only_b, c->n_only_b, sizeof *c->only_b, by_text);
	qsort(
	    c->mismatched, c->n_mismatched, sizeof *c->mismatched, by_mismatch);
}

/* Correct the p-values of the headline, or of the rest, among themselves. */
static int correct(struct sv_comparison *c, bool headline, struct sv_err *err)
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
		    sv_is_headline(c->pairs[i].a) == headline) {
			of[n] = i;
			p[n++] = c->pairs[i].p;
		}
	code = headline ? sv_stats_holm(p, n, err)
			: sv_stats_benjamini_hochberg(p, n, err);
	for (size_t i = 0; code == 0 && i < n; i++)
		c->pairs[of[i]].p_adjusted = p[i];

free_arrays:
	free(p);
	free(of);
	return code;
}

static int judge_all(struct sv_comparison *c,
    const struct sv_compare_options *options, struct sv_err *err)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < c->n_pairs; i++)
		code = sv_pair_measure(&c->pairs[i], options->alpha, err);
	if (code == 0)
		code = correct(c, true, err);
	if (code == 0)
		code = correct(c, false, err);
	for (size_t i = 0; code == 0 && i < c->n_pairs; i++) {
		sv_pair_judge(&c->pairs[i], options);
		c->counts[c->pairs[i].verdict]++;
	}
	return code;
}

int sv_compare(const struct sv_result *a, const struct sv_result *b,
    const struct sv_compare_options *options, struct sv_comparison **out,
    struct sv_err *err)
{
	size_t n = sizeof confounding / sizeof confounding[0];
	struct sv_comparison *c = calloc(1, sizeof *c);
	int code = 0;

	if (c == NULL)
		return sv_err_set(err, SV_ERESOURCE, "compare: out of memory");
	c->a = a;
	c->b = b;
	c->pairs = calloc(a->n_measurements + 1, sizeof *c->pairs);
	c->mismatched = calloc(a->n_measurements + 1, sizeof *c->mismatched);
	c->only_a = calloc(a->n_measurements + 1, sizeof *c->only_a);
	c->only_b = calloc(b->n_measurements + 1, sizeof *c->only_b);
	c->confounders = calloc(n, sizeof *c->confounders);
	if (c->pairs == NULL || c->mismatched == NULL || c->only_a == NULL ||
	    c->only_b == NULL || c->confounders == NULL) {
		sv_comparison_free(c);
		return sv_err_set(err, SV_ERESOURCE, "compare: out of memory");
	}
	for (size_t i = 0; code == 0 && i < n; i++)
		code = add_confounder(c, confounding[i], err);
	if (code == 0) {
		pair_up(c);
		code = judge_all(c, options, err);
	}
	if (code != 0) {
		sv_comparison_free(c);
		return code;
	}
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
	free(c->confounders);
	free(c->pairs);
	free(c->mismatched);
	free(c->only_a);
	free(c->only_b);
	free(c);
}

static bool hosts_differ(const struct sv_comparison *c)
{
	for (size_t i = 0; i < c->n_confounders; i++)
		for (size_t j = 0;
		     j < sizeof host_fields / sizeof host_fields[0]; j++)
			if (strcmp(c->confounders[i].field, host_fields[j]) ==
			    0)
				return true;
	return false;
}

/* The pair with the most extreme ratio of a verdict, or NULL. */
static const struct sv_pair *extreme(
    const struct sv_comparison *c, enum sv_verdict verdict)
{
	const struct sv_pair *found = NULL;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct sv_pair *p = &c->pairs[i];

		if (p->verdict == verdict &&
		    (found == NULL ||
			(verdict == SV_FASTER ? p->ratio > found->ratio
					      : p->ratio < found->ratio)))
			found = p;
	}
	return found;
}

static const char *label_of(const struct sv_result *r)
{
	return r->run.label != NULL && r->run.label[0] != '\0' ? r->run.label
							       : "?";
}

char *sv_comparison_text(const struct sv_comparison *c)
{
	const struct sv_pair *best = extreme(c, SV_FASTER);
	const struct sv_pair *worst = extreme(c, SV_SLOWER);
	char most[400] = "", least[400] = "", *text;

	if (best != NULL)
		snprintf(most, sizeof most,
		    " Its largest gain is %.2fx (%.150s).", best->ratio,
		    best->a->id);
	if (worst != NULL)
		snprintf(least, sizeof least,
		    " Its largest loss is to %.2fx (%.150s).", worst->ratio,
		    worst->a->id);
	if (asprintf(&text,
		"Of %zu figures measured on both, B (%.100s) is better in "
		"%zu, worse in %zu and the same in %zu than A (%.100s); %zu "
		"cannot be told apart from noise or lack spread.%s%s%s%s",
		c->n_pairs, label_of(c->b), c->counts[SV_FASTER],
		c->counts[SV_SLOWER], c->counts[SV_SAME], label_of(c->a),
		c->counts[SV_UNCLEAR], most, least,
		hosts_differ(c) ? " The hosts differ: this is about card plus "
				  "host, not the card alone."
				: "",
		c->a->run.complete && c->b->run.complete
		    ? ""
		    : " One of the runs is incomplete.") < 0)
		return NULL;
	return text;
}

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *pair_json(const struct sv_pair *p)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, "
			 "s:o, s:s, s:s?}",
	    "id", p->a->id, "bench", p->a->bench, "metric", p->a->metric,
	    "unit", p->a->unit, "better",
	    p->a->higher_is_better ? "higher" : "lower", "a",
	    number_or_null(p->a->summary.median), "b",
	    number_or_null(p->b->summary.median), "ratio",
	    number_or_null(p->ratio), "ci95",
	    isnan(p->lo) ? json_null() : json_pack("[f,f]", p->lo, p->hi), "p",
	    number_or_null(p->p), "p_adjusted", number_or_null(p->p_adjusted),
	    "verdict", sv_verdict_name(p->verdict), "reason", p->reason);
}

static json_t *texts_json(const char *const *texts, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(texts[i]));
	return list;
}

json_t *sv_comparison_json(const struct sv_comparison *c)
{
	char *text = sv_comparison_text(c);
	json_t *pairs = json_array(), *confounders = json_array();
	json_t *mismatched = json_array(), *root = NULL;

	for (size_t i = 0; i < c->n_pairs; i++)
		json_array_append_new(pairs, pair_json(&c->pairs[i]));
	for (size_t i = 0; i < c->n_confounders; i++)
		json_array_append_new(confounders,
		    json_pack("{s:s, s:s, s:s}", "field",
			c->confounders[i].field, "a", c->confounders[i].a, "b",
			c->confounders[i].b));
	for (size_t i = 0; i < c->n_mismatched; i++)
		json_array_append_new(mismatched,
		    json_pack("{s:s, s:s}", "id", c->mismatched[i].id, "why",
			c->mismatched[i].why));
	root = json_pack(
	    "{s:s, s:s, s:s, s:{s:I, s:I, s:I, s:I, s:s?}, s:o, s:o, s:{s:o, "
	    "s:o}, s:o}",
	    "schema", SV_COMPARISON_SCHEMA, "a", label_of(c->a), "b",
	    label_of(c->b), "summary", "faster",
	    (json_int_t)c->counts[SV_FASTER], "slower",
	    (json_int_t)c->counts[SV_SLOWER], "same",
	    (json_int_t)c->counts[SV_SAME], "unclear",
	    (json_int_t)c->counts[SV_UNCLEAR], "text", text, "confounders",
	    confounders, "pairs", pairs, "unpaired", "a",
	    texts_json(c->only_a, c->n_only_a), "b",
	    texts_json(c->only_b, c->n_only_b), "mismatched", mismatched);
	free(text);
	return root;
}
