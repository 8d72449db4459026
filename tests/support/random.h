/*
 * Random numbers of tests: fixed seeds, the same everywhere. splitmix64.
 */
#ifndef SV_TEST_RANDOM_H
#define SV_TEST_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t test_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline double test_uniform(uint64_t *state)
{
	return (double)(test_random(state) >> 11) * 0x1p-53;
}

static inline double test_normal(uint64_t *state)
{
	double radius = sqrt(-2.0 * log(1.0 - test_uniform(state)));

	return radius * cos(6.283185307179586 * test_uniform(state));
}

#endif
