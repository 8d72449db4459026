/*
 * The pattern of buffers and the random numbers of operands: splitmix64, a
 * counter hashed, so that any position can be computed by itself.
 *
 * Source: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
 * generators".
 */
#include "pattern.h"

#include <math.h>
#include <string.h>

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

#define GOLDEN 0x9e3779b97f4a7c15u

void sv_pattern_fill(void *data, size_t n_bytes, uint64_t seed)
{
	unsigned char *at = data;
	size_t words = n_bytes / 8;
	uint64_t word;

	for (size_t i = 0; i < words; i++) {
		word = mix(seed + (i + 1) * GOLDEN);
		memcpy(at + 8 * i, &word, 8);
	}
	word = mix(seed + (words + 1) * GOLDEN);
	memcpy(at + 8 * words, &word, n_bytes % 8);
}

size_t sv_pattern_check(const void *data, size_t n_bytes, uint64_t seed)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < n_bytes; i += 8) {
		size_t n = n_bytes - i < 8 ? n_bytes - i : 8;
		uint64_t word = mix(seed + (i / 8 + 1) * GOLDEN);
		unsigned char expected[8];

		memcpy(expected, &word, 8);
		if (memcmp(at + i, expected, n) == 0)
			continue;
		for (size_t j = 0; j < n; j++)
			if (at[i + j] != expected[j])
				return i + j;
	}
	return n_bytes;
}

uint64_t sv_random_next(uint64_t *state)
{
	return mix(*state += GOLDEN);
}

double sv_random_uniform(uint64_t *state)
{
	return (double)(sv_random_next(state) >> 11) * 0x1p-53;
}

double sv_random_normal(uint64_t *state)
{
	/* 1 - u is in (0, 1], so that the logarithm is finite. */
	double radius = sqrt(-2.0 * log(1.0 - sv_random_uniform(state)));

	return radius * cos(6.283185307179586 * sv_random_uniform(state));
}

/* Source: Fisher & Yates, from the inside out. */
void sv_random_shuffle(size_t *out, size_t n, uint64_t *state)
{
	for (size_t i = 0; i < n; i++) {
		size_t j = (size_t)(sv_random_next(state) % (i + 1));

		out[i] = out[j];
		out[j] = i;
	}
}
