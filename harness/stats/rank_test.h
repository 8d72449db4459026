/*
 * The null distribution of the Mann-Whitney statistic, shared by the test and
 * by the interval of the Hodges-Lehmann ratio. Inside the room only.
 */
#ifndef STAVE_RANK_TEST_H
#define STAVE_RANK_TEST_H

#include <stddef.h>

/* Most values in both sets together for which counting stays exact. */
#define SV_RANK_EXACT_MAX 50

/*
 * How many ways there are to draw n_a of the n ranks (doubled, so that
 * mid-ranks are whole) with each sum: counts[0 … max_sum], malloc'd; NULL
 * when out of memory. n ≤ SV_RANK_EXACT_MAX, so that every count is exact in
 * a double.
 */
double *sv_rank_sum_counts(
    const unsigned *doubled_ranks, size_t n, size_t n_a, size_t *max_sum);

#endif
