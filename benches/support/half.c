/* Conversions of the 16-bit formats; see the header. */
#include "half.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static float of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

uint16_t sv_half_from_float(float value)
{
	uint32_t bits = bits_of(value);
	uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
	uint32_t size = bits & 0x7fffffff;

	if (size > 0x7f800000)
		return sign | 0x7e00;
	/* 65520 is where rounding leaves the format. */
	if (size >= 0x477ff000)
		return sign | 0x7c00;
	if (size < 0x38800000) {
		/* Subnormal: the sum's last bit is the format's last bit. */
		float scaled = fabsf(value) + 0.5f;

		return sign | (uint16_t)(bits_of(scaled) - bits_of(0.5f));
	}
	uint32_t odd = size >> 13 & 1;

	/* Rebias the exponent from 127 to 15 and round in one addition. */
	return sign | (uint16_t)((size - 0x38000000 + 0xfff + odd) >> 13);
}

float sv_half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;

	if (exponent == 0x1f)
		return of_bits(sign | 0x7f800000 | fraction << 13);
	if (exponent == 0) {
		float size = (float)fraction * 0x1p-24f;

		return sign != 0 ? -size : size;
	}
	return of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t sv_bfloat_from_float(float value)
{
	uint32_t bits = bits_of(value);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float sv_bfloat_to_float(uint16_t bfloat)
{
	return of_bits((uint32_t)bfloat << 16);
}
