/*
 * Operands of matrix products and the check of their results, for every
 * precision. Host side only; knows no device.
 */
#ifndef STAVE_OPERANDS_H
#define STAVE_OPERANDS_H

#include <stddef.h>
#include <stdint.h>

#include "stave/device.h"

/*
 * Fill n elements of a precision's operand format with N(0,1)·scale, rounded
 * to the format. Zeros or constants would let a device save power and clock
 * higher than real data does. *state: the generator's.
 */
void sv_operands_fill(void *data, size_t n, enum sv_precision precision,
    double scale, uint64_t *state);

/* Element i of an operand, or of a result, as a double. */
double sv_operands_value(
    const void *data, size_t i, enum sv_precision precision);

/*
 * The bound on |error| of one output: 4·(√k·u_acc + 2·u_in)·sum_abs +
 * u_out·|exact|, sum_abs being Σ|a·b|. u_in is 0 where operands are exact in
 * the format that the product reads.
 * Source: method notes, section 2, GEMM.
 */
double sv_operands_bound(
    enum sv_precision precision, double k, double sum_abs, double exact);

#endif
