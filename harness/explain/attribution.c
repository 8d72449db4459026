/* Shapley values; see the header. */
#include "attribution.h"

#include <math.h>
#include <stdbool.h>

/* Bits of a time that are kept: sums of dozens of shares stay in 53. */
#define GRID_BITS 46

#define MAX_SUBSETS (1u << SV_N_COMPONENTS)

/* n! for the few players there are. */
static double factorial(int n)
{
	double product = 1.0;

	for (int i = 2; i <= n; i++)
		product *= i;
	return product;
}

/*
 * Components that differ; one that is the same on both sides changes no step
 * and has share 0 without being played.
 */
static int players(const struct sv_stages *a, const struct sv_stages *b,
    enum sv_component out[SV_N_COMPONENTS])
{
	int n = 0;

	for (int c = 0; c < SV_N_COMPONENTS; c++)
		if (!sv_stage_equal(a, b, (enum sv_component)c))
			out[n++] = (enum sv_component)c;
	return n;
}

/* Steps with every subset of the players taken from B, the others from A. */
static void play(const struct sv_stages *a, const struct sv_stages *b,
    const enum sv_component *player, int n, double value[MAX_SUBSETS])
{
	for (unsigned subset = 0; subset < 1u << n; subset++) {
		struct sv_stages mixed = *a;

		for (int i = 0; i < n; i++)
			if (subset & 1u << i)
				sv_stage_take(&mixed, b, player[i]);
		value[subset] = sv_step_time(&mixed);
	}
}

static int bits(unsigned subset)
{
	int n = 0;

	for (; subset != 0; subset &= subset - 1)
		n++;
	return n;
}

static double share(const double *value, int n, int player)
{
	unsigned self = 1u << player;
	double sum = 0.0;

	for (unsigned subset = 0; subset < 1u << n; subset++) {
		int size = bits(subset);

		if (subset & self)
			continue;
		sum += factorial(size) * factorial(n - size - 1) *
		       (value[subset | self] - value[subset]);
	}
	return sum / factorial(n);
}

/* In one fixed direction, so that exchanging A and B gives the same digits. */
static bool is_reversed(const struct sv_stages *a, const struct sv_stages *b)
{
	double ta = sv_step_time(a), tb = sv_step_time(b);

	if (ta != tb)
		return ta > tb;
	for (int c = 0; c < SV_N_COMPONENTS; c++) {
		double ca = sv_stage_alone(a, (enum sv_component)c);
		double cb = sv_stage_alone(b, (enum sv_component)c);

		if (ca != cb)
			return ca > cb;
	}
	return false;
}

void sv_attribute_raw(const struct sv_stages *a, const struct sv_stages *b,
    struct sv_attribution *out)
{
	enum sv_component player[SV_N_COMPONENTS];
	double value[MAX_SUBSETS];
	bool reversed = is_reversed(a, b);
	int n = players(a, b, player);

	*out = (struct sv_attribution){
	    .a_s = sv_step_time(a), .b_s = sv_step_time(b)};
	for (int c = 0; c < SV_N_COMPONENTS; c++)
		out->if_b_had_a_s[c] = out->b_s;
	if (reversed)
		play(b, a, player, n, value);
	else
		play(a, b, player, n, value);
	for (int i = 0; i < n; i++) {
		unsigned all = (1u << n) - 1, self = 1u << i;
		double s = share(value, n, i);

		out->share_s[player[i]] = reversed ? -s : s;
		out->if_b_had_a_s[player[i]] =
		    value[reversed ? self : all & ~self];
	}
}

static double grid_of(double scale)
{
	int exponent;

	frexp(scale, &exponent);
	return ldexp(1.0, exponent - GRID_BITS);
}

double sv_on_grid(double value, double scale)
{
	double grid = grid_of(scale);

	return grid * nearbyint(value / grid);
}

void sv_attribute(const struct sv_stages *a, const struct sv_stages *b,
    double scale, struct sv_attribution *out)
{
	int largest = 0;
	double rest;

	sv_attribute_raw(a, b, out);
	out->a_s = sv_on_grid(out->a_s, scale);
	out->b_s = sv_on_grid(out->b_s, scale);
	rest = out->b_s - out->a_s;
	for (int c = 0; c < SV_N_COMPONENTS; c++) {
		out->share_s[c] = sv_on_grid(out->share_s[c], scale);
		out->if_b_had_a_s[c] = sv_on_grid(out->if_b_had_a_s[c], scale);
		rest -= out->share_s[c];
		if (fabs(out->share_s[c]) > fabs(out->share_s[largest]))
			largest = c;
	}
	/* What rounding left over is a few points of the grid. */
	out->share_s[largest] += rest;
}
