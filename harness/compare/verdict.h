/* Judging one pair of measurements. Inside the room only. */
#ifndef STAVE_VERDICT_H
#define STAVE_VERDICT_H

#include "compare.h"

/* The family that a pair's p-value is corrected in. */
enum sv_family sv_pair_family(
    const struct sv_measurement *, const struct sv_compare_options *);

/*
 * Ratio, interval and p of a pair; verdict UNCLEAR with a reason where no
 * judgement is possible at all, reason NULL where one is to be made.
 */
SV_MUST_CHECK int sv_pair_measure(
    struct sv_pair *, const struct sv_compare_options *, struct sv_err *err);

/* The ratio at one clock, where the clocks of both devices are known. */
void sv_pair_cycles(struct sv_pair *, const struct sv_comparison *);

/*
 * The verdict, once p_adjusted is known; tests: pairs that were corrected
 * together. Where it is unclear, how many rounds more would decide.
 */
void sv_pair_judge(struct sv_pair *, size_t tests);

/*
 * Rounds on each side that would most likely decide an unclear pair, if its
 * ratio and spread are what they seem; -1 where none would, or too
 * many.
 */
long sv_pair_further(const struct sv_pair *, size_t tests);

#endif
