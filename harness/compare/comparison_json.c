/* A comparison as JSON: stave.comparison/1, and more beside its keys. */
#include <math.h>
#include <stdlib.h>

#include "compare.h"

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count_or_null(long value)
{
	return value >= 0 ? json_integer(value) : json_null();
}

/* The array with one more, or NULL and the array is gone: no memory. */
static json_t *appended(json_t *take_array, json_t *take_value)
{
	if (json_array_append_new(take_array, take_value) == 0)
		return take_array;
	json_decref(take_array);
	return NULL;
}

static json_t *texts(const char *const *list, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; array != NULL && i < n; i++)
		array = appended(array, json_string(list[i]));
	return array;
}

static const char *family_name(enum sv_family family)
{
	static const char *const names[] = {"sweep", "headline", "control"};

	return names[family];
}

static json_t *pair_json(const struct sv_pair *p)
{
	return json_pack(
	    "{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, "
	    "s:s?, s:f, s:o, s:s?, s:f, s:o, s:s, s:o, s:{s:I, s:I}, "
	    "s:{s:o, s:o}}",
	    "id", p->a->id, "bench", p->a->bench, "metric", p->a->metric,
	    "unit", p->a->unit, "better",
	    p->a->higher_is_better ? "higher" : "lower", "a",
	    number_or_null(p->a->summary.median), "b",
	    number_or_null(p->b->summary.median), "ratio",
	    number_or_null(p->ratio), "ci95",
	    isnan(p->lo) ? json_null() : json_pack("[f,f]", p->lo, p->hi), "p",
	    number_or_null(p->p), "p_adjusted", number_or_null(p->p_adjusted),
	    "verdict", sv_verdict_name(p->verdict), "reason", p->reason,
	    "level", p->level, "ratio_cycles", number_or_null(p->ratio_cycles),
	    "clock", p->clock, "effect", p->effect, "floor",
	    number_or_null(p->floor), "family", family_name(p->family),
	    "further_rounds", count_or_null(p->further), "rounds", "a",
	    (json_int_t)p->a->n_rounds, "b", (json_int_t)p->b->n_rounds,
	    "flags", "a", texts(p->a->flags, p->a->n_flags), "b",
	    texts(p->b->flags, p->b->n_flags));
}

static json_t *pairs_json(const struct sv_comparison *c)
{
	json_t *array = json_array();

	for (size_t i = 0; array != NULL && i < c->n_pairs; i++)
		array = appended(array, pair_json(&c->pairs[i]));
	return array;
}

static json_t *confounders_json(const struct sv_comparison *c)
{
	json_t *array = json_array();

	for (size_t i = 0; array != NULL && i < c->n_confounders; i++)
		array = appended(
		    array, json_pack("{s:s, s:s, s:s}", "field",
			       c->confounders[i].field, "a",
			       c->confounders[i].a, "b", c->confounders[i].b));
	return array;
}

static json_t *mismatched_json(const struct sv_comparison *c)
{
	json_t *array = json_array();

	for (size_t i = 0; array != NULL && i < c->n_mismatched; i++)
		array = appended(
		    array, json_pack("{s:s, s:s}", "id", c->mismatched[i].id,
			       "why", c->mismatched[i].why));
	return array;
}

static const char *scope_name(enum sv_scope scope)
{
	static const char *const names[] = {
	    "settings", "card", "card_and_host", "unknown"};

	return names[scope];
}

json_t *sv_comparison_json(const struct sv_comparison *c)
{
	char *text = sv_comparison_text(c);
	json_t *root;

	if (text == NULL)
		return NULL;
	root = json_pack(
	    "{s:s, s:s, s:s, s:{s:I, s:I, s:I, s:I, s:s}, s:s, s:s?, s:o, "
	    "s:o, s:{s:o, s:o}, s:o}",
	    "schema", SV_COMPARISON_SCHEMA, "a", sv_comparison_label(c->a), "b",
	    sv_comparison_label(c->b), "summary", "faster",
	    (json_int_t)c->counts[SV_FASTER], "slower",
	    (json_int_t)c->counts[SV_SLOWER], "same",
	    (json_int_t)c->counts[SV_SAME], "unclear",
	    (json_int_t)c->counts[SV_UNCLEAR], "text", text, "scope",
	    scope_name(c->scope), "moved_control", c->moved, "confounders",
	    confounders_json(c), "pairs", pairs_json(c), "unpaired", "a",
	    texts(c->only_a, c->n_only_a), "b", texts(c->only_b, c->n_only_b),
	    "mismatched", mismatched_json(c));
	free(text);
	return root;
}
