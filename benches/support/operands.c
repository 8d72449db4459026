/* Operands and error bounds; see the header. */
#include "operands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "pattern.h"

/*
 * Normal numbers cost more to make than a large product to compute: a block
 * of a prime number of them is repeated, so that no row or column repeats.
 */
#define BLOCK 65537

static void store(
    void *data, size_t i, enum sv_precision precision, double value)
{
	switch (precision) {
	case SV_FP64:
		((double *)data)[i] = value;
		return;
	case SV_FP32:
	case SV_TF32:
		((float *)data)[i] = (float)value;
		return;
	case SV_FP16:
	case SV_FP16ACC:
		((uint16_t *)data)[i] = sv_half_from_float((float)value);
		return;
	case SV_BF16:
		((uint16_t *)data)[i] = sv_bfloat_from_float((float)value);
		return;
	}
}

static size_t element_bytes(enum sv_precision precision)
{
	return precision == SV_FP64			      ? 8
	       : precision == SV_FP32 || precision == SV_TF32 ? 4
							      : 2;
}

void sv_operands_fill(void *data, size_t n, enum sv_precision precision,
    double scale, uint64_t *state)
{
	size_t size = element_bytes(precision);
	size_t made = n < BLOCK ? n : BLOCK;

	for (size_t i = 0; i < made; i++)
		store(data, i, precision, scale * sv_random_normal(state));
	for (size_t at = made; at < n; at += made) {
		size_t part = n - at < made ? n - at : made;

		memcpy((char *)data + at * size, data, part * size);
	}
}

double sv_operands_value(
    const void *data, size_t i, enum sv_precision precision)
{
	switch (precision) {
	case SV_FP64:
		return ((const double *)data)[i];
	case SV_FP32:
	case SV_TF32:
		return (double)((const float *)data)[i];
	case SV_FP16:
	case SV_FP16ACC:
		return (double)sv_half_to_float(((const uint16_t *)data)[i]);
	case SV_BF16:
		break;
	}
	return (double)sv_bfloat_to_float(((const uint16_t *)data)[i]);
}

double sv_operands_bound(
    enum sv_precision precision, double k, double sum_abs, double exact)
{
	double in = precision == SV_TF32 ? 0x1p-11 : 0.0;
	double accumulate = precision == SV_FP64      ? 0x1p-53
			    : precision == SV_FP16ACC ? 0x1p-11
						      : 0x1p-24;
	double out = precision == SV_FP64			       ? 0x1p-53
		     : precision == SV_FP16 || precision == SV_FP16ACC ? 0x1p-11
		     : precision == SV_BF16			       ? 0x1p-8
					    : 0x1p-24;

	return 4.0 * (sqrt(k) * accumulate + 2.0 * in) * sum_abs +
	       out * fabs(exact);
}
