/* Judging one pair of measurements. Inside the room only. */
#ifndef STAVE_VERDICT_H
#define STAVE_VERDICT_H

#include "compare.h"

/* Whether an id belongs to the headline metrics, corrected among themselves. */
bool sv_is_headline(const struct sv_measurement *);

/*
 * Ratio, interval and p of a pair; verdict UNCLEAR with a reason where no
 * judgement is possible at all, reason NULL where one is to be made.
 */
SV_MUST_CHECK int sv_pair_measure(
    struct sv_pair *, double alpha, struct sv_err *err);

/* The verdict, once p_adjusted is known. */
void sv_pair_judge(struct sv_pair *, const struct sv_compare_options *);

#endif
