/*
 * Who is to blame for the difference of two steps: the exact Shapley value of
 * every component, over all orders in which A's components can be exchanged
 * for B's. Source: Shapley, A value for n-person games, 1953. Inside the room
 * only.
 */
#ifndef STAVE_ATTRIBUTION_H
#define STAVE_ATTRIBUTION_H

#include "step_model.h"

struct sv_attribution {
	double a_s, b_s;		 /* steps */
	double share_s[SV_N_COMPONENTS]; /* of b_s - a_s */
	double if_b_had_a_s[SV_N_COMPONENTS];
};

/* Shares as they come out, for intervals: their sum is exact but for noise. */
void sv_attribute_raw(const struct sv_stages *a, const struct sv_stages *b,
    struct sv_attribution *out);

/*
 * Steps and shares on a grid fine enough for every digit that is measured and
 * coarse enough that sums of them are exact: shares add up to b_s - a_s in any
 * order, to the last digit. Exchanging A and B flips every sign. `scale`: a
 * time no shorter than either step.
 */
void sv_attribute(const struct sv_stages *a, const struct sv_stages *b,
    double scale, struct sv_attribution *out);

/* Nearest point of the grid that sv_attribute uses at this scale. */
double sv_on_grid(double value, double scale);

#endif
