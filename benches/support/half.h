/*
 * The 16-bit floating-point formats in software: for making operands and
 * checking results, never for measuring.
 */
#ifndef STAVE_HALF_H
#define STAVE_HALF_H

#include <stdint.h>

/* To the nearest, ties to even. Source: IEEE 754-2019, binary16. */
uint16_t sv_half_from_float(float);
float sv_half_to_float(uint16_t);

/* The upper half of a binary32, rounded to the nearest, ties to even. */
uint16_t sv_bfloat_from_float(float);
float sv_bfloat_to_float(uint16_t);

#endif
