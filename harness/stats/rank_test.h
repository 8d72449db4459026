/*
 * The null distribution of the Mann-Whitney statistic, shared by the test and
 * by the interval of the Hodges-Lehmann ratio. Inside the room only.
 */
#ifndef STAVE_RANK_TEST_H
#define STAVE_RANK_TEST_H

#include <stddef.h>

/*
 * Most values in both sets together that are counted out; beyond, the normal
 * approximation. With ties the counting costs more, and ends earlier. Counts
 * are whole numbers, exact in a double up to 56 values and to 1e-13 beyond.
 */
#define SV_RANK_EXACT_MAX      100
#define SV_RANK_EXACT_MAX_TIED 60

/*
 * In how many ways U of two untied sets takes each value 0 … n_a·n_b;
 * malloc'd, NULL when out of memory.
 */
double *sv_rank_counts(size_t n_a, size_t n_b);

/*
 * In how many ways n_a of n ranks (doubled, so that mid-ranks are whole) can
 * be drawn with each sum 0 … most; malloc'd, NULL when out of memory.
 */
double *sv_rank_sum_counts(
    const unsigned *doubled_ranks, size_t n, size_t n_a, size_t most);

#endif
