/* Quantiles of the distributions that the methods name. */
#include "stats.h"

#include <math.h>

double sv_stats_normal_quantile(double upper_tail)
{
	double lo = 0.0, hi = 40.0;

	if (upper_tail > 0.5)
		return -sv_stats_normal_quantile(1.0 - upper_tail);
	/* Bisection: it is asked for once a comparison. */
	for (int i = 0; i < 100; i++) {
		double z = 0.5 * (lo + hi);

		if (0.5 * erfc(z / sqrt(2.0)) > upper_tail)
			lo = z;
		else
			hi = z;
	}
	return hi;
}

double sv_stats_student_quantile(size_t degrees)
{
	/* Student's t, 97.5 %, by degrees of freedom from 1. */
	static const double t[] = {12.7062047362, 4.30265272975, 3.18244630528,
	    2.7764451052, 2.57058183564, 2.44691185114, 2.36462425159,
	    2.30600413520, 2.26215716280, 2.22813885199, 2.20098516009,
	    2.17881282967, 2.16036865646, 2.14478668792, 2.13144954556,
	    2.11990529922, 2.10981557783, 2.10092204024, 2.09302405441,
	    2.08596344727, 2.07961384473, 2.07387306790, 2.06865761042,
	    2.06389856163, 2.05953855275, 2.05552943864, 2.05183051648,
	    2.04840714180, 2.04522964213, 2.04227245630};
	size_t known = sizeof t / sizeof t[0];

	/* Beyond the table its last value errs to the safe side. */
	return degrees == 0 ? INFINITY
			    : t[(degrees < known ? degrees : known) - 1];
}
