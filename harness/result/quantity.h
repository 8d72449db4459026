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
 * digits and a prefix ("12.4 GB/s", "3.18 µs"), decimal prefixes throughout.
 * NaN gives "-". Returns out.
 */
const char *sv_quantity(char *out, size_t size, double value, const char *unit);

/* A size of memory ("512 MiB", "4 B"), exact where it is a whole number. */
const char *sv_quantity_size(char *out, size_t size, double bytes);

/* Seconds as a clock shows them ("1:05", "12 s"). */
const char *sv_quantity_clock(char *out, size_t size, double seconds);

#endif
