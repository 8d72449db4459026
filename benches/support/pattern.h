/*
 * Buffer contents that can be checked after timing: a pseudo-random sequence
 * that depends on seed and position, so that a copy to the wrong place, a
 * lost copy and a stale buffer all show.
 */
#ifndef STAVE_PATTERN_H
#define STAVE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Fill n_bytes with the sequence of seed. */
void sv_pattern_fill(void *data, size_t n_bytes, uint64_t seed);
/* Offset of the first byte that differs from it, n_bytes when none does. */
size_t sv_pattern_check(const void *data, size_t n_bytes, uint64_t seed);

/* The next value of a splitmix64 sequence; *state is its only state. */
uint64_t sv_random_next(uint64_t *state);
/* Uniform in [0, 1). */
double sv_random_uniform(uint64_t *state);
/* Standard normal (Box–Muller, one of the pair). */
double sv_random_normal(uint64_t *state);
/* The numbers 0 … n - 1 in a random order. */
void sv_random_shuffle(size_t *out, size_t n, uint64_t *state);

#endif
