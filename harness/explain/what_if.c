/* Suppositions about B; see the header. */
#include "what_if.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

static int wrong(
    const struct sv_supposition *s, const char *expected, struct sv_err *err)
{
	return sv_err_set(err, SV_EUSAGE, "--what-if %.40s=%.40s: expected %s",
	    s->key, s->value, expected);
}

/* "4x16": generation and lanes. */
static int suppose_link(const struct sv_case *c, const struct sv_supposition *s,
    struct sv_side *side, struct sv_err *err)
{
	struct sv_link use = sv_link_in_use(c, true), wanted;
	double generation, width;
	char rest;

	if (sscanf(s->value, "%lfx%lf%c", &generation, &width, &rest) != 2 ||
	    !(generation >= 1.0 && generation <= 6.0) ||
	    !(width >= 1.0 && width <= 32.0))
		return wrong(s, "GENERATIONxLANES, as in 4x16", err);
	if (isnan(use.Bps))
		return sv_err_set(err, SV_EINPUT,
		    "--what-if link: B does not say what its link is");
	wanted = sv_link_of(generation, width);
	side->link_factor = wanted.Bps / use.Bps;
	return 0;
}

/* One component of A, in B's place. */
static bool is_swap(const struct sv_supposition *s, enum sv_component *out)
{
	for (int i = 0; i < SV_N_COMPONENTS; i++)
		if (strcmp(s->key, sv_component_name(i)) == 0 &&
		    strcmp(s->value, "a") == 0) {
			*out = (enum sv_component)i;
			return true;
		}
	return false;
}

static int suppose(struct sv_case *c, const struct sv_supposition *s,
    struct sv_side *side, struct sv_workload *w, bool swaps[SV_N_COMPONENTS],
    struct sv_err *err)
{
	enum sv_component component;

	if (strcmp(s->key, "link") == 0)
		return suppose_link(c, s, side, err);
	if (strcmp(s->key, "graphs") == 0) {
		side->graphs = strcmp(s->value, "on") == 0;
		return side->graphs || strcmp(s->value, "off") == 0
			   ? 0
			   : wrong(s, "on or off", err);
	}
	if (is_swap(s, &component)) {
		swaps[component] = true;
		return 0;
	}
	return sv_workload_set(w, s->key, s->value, err);
}

static void say(struct sv_case *c)
{
	const struct sv_explain_request *r = c->request;
	char text[500] = "";
	size_t used = 0;

	for (size_t i = 0; i < r->n_what_if && used < sizeof text; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%.60s=%.60s", i == 0 ? "" : ", ", r->what_if[i].key,
		    r->what_if[i].value);
	c->x->what_if = sv_case_text(c, "%s", text);
}

int sv_what_if(struct sv_case *c, struct sv_err *err)
{
	const struct sv_explain_request *r = c->request;
	bool swaps[SV_N_COMPONENTS] = {false};
	struct sv_workload *w = NULL;
	struct sv_side side = c->b;
	struct sv_stages s;
	double samples;
	int code;

	if (r->n_what_if == 0)
		return 0;
	code = sv_workload_copy(r->workload_b, &w, err);
	for (size_t i = 0; code == 0 && i < r->n_what_if; i++)
		code = suppose(c, &r->what_if[i], &side, w, swaps, err);
	if (code == 0) {
		side.workload = w;
		side.batch = sv_workload_defaults(w)->batch;
		sv_case_stages(c, &side, &s);
		code = c->code;
	}
	if (code == 0) {
		for (int i = 0; i < SV_N_COMPONENTS; i++)
			if (swaps[i])
				sv_stage_take(
				    &s, &c->stages_a, (enum sv_component)i);
		/* Batches of another size are compared by the sample. */
		samples = (double)side.batch / (double)c->b.batch;
		c->x->has_what_if = true;
		c->x->what_if_step_s = sv_step_time(&s);
		c->x->what_if_speedup =
		    samples * c->shares.b_s / c->x->what_if_step_s;
		say(c);
	}
	sv_workload_free(w);
	return code;
}
