/*
 * cmocka 1.1.5 compares no doubles: this does, by relative difference.
 */
#ifndef SV_TEST_NEAR_H
#define SV_TEST_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fails, showing both numbers, when they differ by more than the fraction. */
#define assert_near(actual, expected, relative) \
	sv_near((actual), (expected), (relative), __FILE__, __LINE__)

static inline void sv_near(
    double actual, double expected, double relative, const char *file, int line)
{
	if (fabs(actual - expected) <= relative * fabs(expected))
		return;
	print_error(
	    "%.17g is not within %g of %.17g\n", actual, relative, expected);
	_fail(file, line);
}

#endif
