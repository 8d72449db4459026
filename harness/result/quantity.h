/*
 * Values as people read them. The only place where GB, GiB and µs exist:
 * files and messages hold SI base units.
 */
#ifndef STAVE_QUANTITY_H
#define STAVE_QUANTITY_H

#include <stddef.h>

/* Room that any formatted quantity fits in. */
#define SV_QUANTITY_BYTES 48

/*
 * A value in one of the units of stave/units.h with three or four significant
 * digits and a decimal prefix ("12.4 GB/s", "3.18 µs", "5.20 k/s"); a ratio
 * (unit "1") with three decimals and no unit. What is not finite gives an em
 * dash, here and below. Returns out.
 */
const char *sv_quantity(char *out, size_t size, double value, const char *unit);

/*
 * The prefix that value would be shown with, as a factor, and the unit with
 * it ("GB/s") in out: for axes, which show many values in one.
 */
double sv_quantity_prefix(
    char *out, size_t size, double value, const char *unit);

/*
 * A size of memory in binary prefixes ("512 MiB", "4 B"), exact where it is a
 * whole number of them. Returns out.
 */
const char *sv_quantity_size(char *out, size_t size, double bytes);

/* Seconds, 0 or more, as a clock shows them ("1:05", "12 s"). Returns out. */
const char *sv_quantity_clock(char *out, size_t size, double seconds);

#endif
