/*
 * How much of a difference between two steps each component carries. Pure.
 */
#ifndef STAVE_ATTRIBUTION_H
#define STAVE_ATTRIBUTION_H

#include "step_model.h"

struct sv_attribution {
	double a_s, b_s;
	/* Contributions to b_s - a_s; added in order they give it exactly. */
	double share_s[SV_N_COMPONENTS];
	/* B's step with this one component taken from A. */
	double if_b_had_a_s[SV_N_COMPONENTS];
};

/*
 * Exact Shapley values over the components: the mean, over all orders in
 * which A's components could be exchanged for B's, of what each exchange
 * adds. All 2^n subsets are evaluated.
 * Source: Shapley 1953, "A value for n-person games".
 */
void sv_attribute(const struct sv_terms *a, const struct sv_terms *b,
    struct sv_attribution *out);

#endif
