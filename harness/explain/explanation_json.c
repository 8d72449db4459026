/* An explanation as JSON, schema stave.explanation/1. */
#include <math.h>

#include "explain.h"

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *interval_json(const struct sv_interval *i)
{
	return isfinite(i->lo) && isfinite(i->hi)
		   ? json_pack("[f,f]", i->lo, i->hi)
		   : json_null();
}

static json_t *texts_json(const char *const *texts, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(texts[i]));
	return list;
}

static json_t *side_json(const struct sv_explained_side *s)
{
	return json_pack("{s:s, s:f, s:o, s:f, s:s?}", "label", s->label,
	    "step_s", s->step_s, "ci95", interval_json(&s->ci95), "rate",
	    s->rate, "limiting", s->limiting);
}

static json_t *components_json(const struct sv_explanation *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < SV_EXPLAINED_COMPONENTS; i++) {
		const struct sv_explained_component *c = &x->components[i];

		json_array_append_new(list,
		    json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:o, "
			      "s:s}",
			"name", c->name, "a_s", c->a_s, "b_s", c->b_s,
			"a_part_s", c->a_part_s, "b_part_s", c->b_part_s,
			"share_s", c->share_s, "share_ci95",
			interval_json(&c->share_ci95), "if_b_had_a_s",
			c->if_b_had_a_s, "evidence",
			texts_json(c->evidence, c->n_evidence), "confidence",
			c->confidence));
	}
	return list;
}

static json_t *causes_json(const struct sv_explanation *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->n_causes; i++) {
		const struct sv_cause *c = &x->causes[i];

		json_array_append_new(list,
		    json_pack("{s:s, s:I, s:f, s:s, s:o, s:s, s:{s:o, s:o}, "
			      "s:s}",
			"code", c->code, "rank", (json_int_t)c->rank, "share_s",
			c->share_s, "claim", c->claim, "evidence",
			texts_json(c->evidence, c->n_evidence), "remedy",
			c->remedy, "gain", "step_s",
			number_or_null(c->gain_step_s), "speedup",
			number_or_null(c->gain_speedup), "falsify",
			c->falsify));
	}
	return list;
}

static json_t *ruled_out_json(const struct sv_explanation *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->n_ruled_out; i++)
		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:s}", "code",
			      x->ruled_out[i].code, "why", x->ruled_out[i].why,
			      "evidence", x->ruled_out[i].evidence));
	return list;
}

static json_t *batches_json(const struct sv_explanation *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->n_by_batch; i++)
		json_array_append_new(
		    list, json_pack("{s:I, s:f, s:f, s:f}", "batch",
			      (json_int_t)x->by_batch[i].batch, "a_s",
			      x->by_batch[i].a_s, "b_s", x->by_batch[i].b_s,
			      "speedup", x->by_batch[i].speedup));
	return list;
}

static json_t *differences_json(const struct sv_explanation *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->n_differences; i++) {
		const struct sv_difference *d = &x->differences[i];

		json_array_append_new(
		    list, json_pack("{s:s, s:O?, s:O?, s:b}", "field", d->field,
			      "a", d->a, "b", d->b, "matters", d->matters));
	}
	return list;
}

static json_t *measured_json(const struct sv_explanation *x)
{
	return !x->has_measured_step
		   ? json_null()
		   : json_pack("{s:f, s:f, s:f, s:f, s:f}", "a_s",
			 x->measured_a_s, "b_s", x->measured_b_s, "a_model_s",
			 x->model_a_s, "b_model_s", x->model_b_s, "model_error",
			 x->model_error);
}

static json_t *what_if_json(const struct sv_explanation *x)
{
	return !x->has_what_if ? json_null()
			       : json_pack("{s:s, s:f, s:f}", "changes",
				     x->what_if, "step_s", x->what_if_step_s,
				     "speedup", x->what_if_speedup);
}

json_t *sv_explanation_json(const struct sv_explanation *x)
{
	json_t *crossover = x->crossover > 0
				? json_integer((json_int_t)x->crossover)
				: json_null();

	return json_pack(
	    "{s:s, s:s, s:I, s:s, s:s?, s:o, s:o, s:{s:f, s:o, s:s}, s:o, s:o, "
	    "s:o, s:{s:o, s:s}, s:o, s:o, s:f, s:o, s:o, s:o, s:s}",
	    "schema", SV_EXPLANATION_SCHEMA, "workload", x->workload, "batch",
	    (json_int_t)x->batch, "precision", x->precision, "precision_a",
	    x->precision_a, "a", side_json(&x->a), "b", side_json(&x->b),
	    "speedup", "value", x->speedup, "ci95",
	    interval_json(&x->speedup_ci95), "verdict",
	    sv_explain_verdict_name(x->verdict), "components",
	    components_json(x), "causes", causes_json(x), "ruled_out",
	    ruled_out_json(x), "crossover", "batch", crossover, "why",
	    x->crossover_why, "by_batch", batches_json(x), "measured_step",
	    measured_json(x), "unexplained_s", x->unexplained_s, "not_modelled",
	    texts_json(x->not_modelled, x->n_not_modelled), "differences",
	    differences_json(x), "what_if", what_if_json(x), "next", x->next);
}
