/*
 * When to stop sampling: the rule of the method notes (section 1, scheme 3)
 * as a pure function of the samples so far.
 */
#ifndef STAVE_STOPPING_H
#define STAVE_STOPPING_H

#include <stdbool.h>
#include <stddef.h>

/* Samples in a block, unless their medians resemble each other too much. */
#define SV_STOP_BLOCK	   8
#define SV_STOP_MAX_BLOCK  64
#define SV_STOP_MIN_BLOCKS 10

struct sv_stopping {
	double target; /* relative half-width of the median's interval */
	/* State, zeroed at the start. */
	double checked_width;	/* at the last doubling */
	size_t checked_samples; /* when that was */
};

enum sv_stop {
	SV_GO_ON,
	SV_STOP_SETTLED, /* the interval is narrow enough */
	SV_STOP_NOISY,	 /* it no longer shrinks */
};

/*
 * Judge n values in the order they were taken; scratch holds n more.
 * Relative half-widths are of the block medians' interval.
 */
enum sv_stop sv_stopping_judge(
    struct sv_stopping *, const double *values, size_t n, double *scratch);

/*
 * Whether the last three blocks of n warm-up values agree within 1 %; the
 * block medians are taken in scratch (n values).
 */
bool sv_stopping_warm(const double *values, size_t n, double *scratch);

#endif
