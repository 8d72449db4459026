/*
 * Attribution by Shapley values. Components that are equal on both sides
 * change nothing, so they are left out of the subsets: their share is 0 by
 * definition and the work halves with each.
 */
#include "attribution.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define N_SUBSETS (1u << SV_N_COMPONENTS)

/* Whether taking the component from b changes the terms of a. */
static bool differs(const struct sv_terms *a, const struct sv_terms *b,
    enum sv_component component)
{
	struct sv_terms mixed = *a;

	sv_model_take(&mixed, b, component);
	return memcmp(&mixed, a, sizeof mixed) != 0;
}

static double factorial(unsigned n)
{
	double product = 1.0;

	for (unsigned i = 2; i <= n; i++)
		product *= i;
	return product;
}

/*
 * Make the shares, added in order, give exactly b_s - a_s: rounding of the
 * sums is put on the largest share.
 */
static void settle(struct sv_attribution *out)
{
	size_t largest = 0;

	for (size_t i = 1; i < SV_N_COMPONENTS; i++)
		if (fabs(out->share_s[i]) > fabs(out->share_s[largest]))
			largest = i;
	for (int pass = 0; pass < 8; pass++) {
		double sum = 0.0;

		for (size_t i = 0; i < SV_N_COMPONENTS; i++)
			sum += out->share_s[i];
		double rest = (out->b_s - out->a_s) - sum;

		if (rest == 0.0)
			return;
		out->share_s[largest] += rest;
	}
}

void sv_attribute(const struct sv_terms *a, const struct sv_terms *b,
    struct sv_attribution *out)
{
	enum sv_component players[SV_N_COMPONENTS];
	double step[N_SUBSETS], weight[SV_N_COMPONENTS];
	unsigned n = 0;

	memset(out, 0, sizeof *out);
	out->a_s = sv_model_step(a);
	out->b_s = sv_model_step(b);
	for (unsigned c = 0; c < SV_N_COMPONENTS; c++) {
		struct sv_terms swapped = *b;

		sv_model_take(&swapped, a, (enum sv_component)c);
		out->if_b_had_a_s[c] = sv_model_step(&swapped);
		if (differs(a, b, (enum sv_component)c))
			players[n++] = (enum sv_component)c;
	}
	for (unsigned subset = 0; subset < 1u << n; subset++) {
		struct sv_terms mixed = *a;

		for (unsigned i = 0; i < n; i++)
			if (subset & 1u << i)
				sv_model_take(&mixed, b, players[i]);
		step[subset] = sv_model_step(&mixed);
	}
	/* Share of the orders in which k others come before a player. */
	for (unsigned k = 0; k < n; k++)
		weight[k] = factorial(k) * factorial(n - 1 - k) / factorial(n);
	for (unsigned subset = 0; subset < 1u << n; subset++) {
		unsigned before = (unsigned)__builtin_popcount(subset);

		for (unsigned i = 0; i < n; i++)
			if (!(subset & 1u << i))
				out->share_s[players[i]] +=
				    weight[before] *
				    (step[subset | 1u << i] - step[subset]);
	}
	settle(out);
}
