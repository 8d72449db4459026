/*
 * GEMM: how long one takes, and its elements for real, as cuBLAS defines
 * them (column-major, transposes, batches a stride apart). Elements are
 * computed when somebody reads them, one run of a column at a time: an 8192
 * cubed product costs nothing until its 64 checked elements are read.
 *
 * Rounding follows the precision: TF32 rounds its operands to 10 bits of
 * mantissa and accumulates in single, fp16 with fp16 accumulation rounds
 * every partial sum. The order of summation is plain, not a tensor core's.
 */
#include "sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUN 1024 /* elements of a column computed at once */

size_t sim_type_bytes(unsigned type)
{
	static const size_t bytes[] = {4, 8, 2, 2};

	return bytes[type];
}

double sim_gemm_seconds(
    const struct sim_device *device, const struct sim_gemm *g)
{
	double cube = (double)g->m * (double)g->n * (double)g->k;
	double size = cbrt(cube);
	double peak = device->is.peak_flops[g->precision];

	if (cube == 0 || g->count == 0)
		return 0;
	return 2 * cube * (double)g->count * (size + device->is.half_size) /
	       (peak * size);
}

/* --- number formats --- */

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Drop the lowest bits of a float, to nearest, ties to even. */
static float round_mantissa(float value, unsigned dropped)
{
	uint32_t bits = bits_of(value);
	uint32_t half = (UINT32_C(1) << (dropped - 1)) - 1;

	if ((bits & 0x7f800000) == 0x7f800000)
		return value;
	bits += half + (bits >> dropped & 1);
	return float_of(bits & ~((UINT32_C(1) << dropped) - 1));
}

float sim_half(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;

	if (exponent == 31)
		return float_of(sign | 0x7f800000 | mantissa << 13);
	if (exponent == 0)
		return (sign ? -1.0F : 1.0F) * ldexpf((float)mantissa, -24);
	return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

static uint16_t half_of_float(float value)
{
	uint32_t sign = bits_of(value) >> 16 & 0x8000;
	float magnitude = fabsf(value);
	uint32_t bits;

	if (isnan(value))
		return (uint16_t)(sign | 0x7e00);
	if (magnitude >= 65520.0F)
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 6.103515625e-05F) /* subnormal: units of 2^-24 */
		return (
		    uint16_t)(sign | (uint32_t)lrintf(ldexpf(magnitude, 24)));
	bits = bits_of(round_mantissa(magnitude, 13));
	return (uint16_t)(sign | ((bits >> 13) - (112u << 10)));
}

/* Every half as a float: a table beats the arithmetic above. */
static const float *half_table(void)
{
	static float table[1 << 16];
	static bool made;

	for (uint32_t i = 0; !made && i < 1u << 16; i++)
		table[i] = sim_half((uint16_t)i);
	made = true;
	return table;
}

/* count elements of a type, a stride (in elements) apart, as doubles. */
static void load(const struct sim_gemm *g, unsigned type,
    const unsigned char *from, int64_t stride, size_t count, double *out)
{
	const float *halves = type == SIM_R_16F ? half_table() : NULL;
	size_t step = sim_type_bytes(type) * (size_t)stride;
	float single;
	uint16_t half;

	for (size_t i = 0; i < count; i++, from += step) {
		switch (type) {
		case SIM_R_64F:
			memcpy(&out[i], from, sizeof out[i]);
			break;
		case SIM_R_32F:
			memcpy(&single, from, sizeof single);
			if (g->precision == SIM_TF32)
				single = round_mantissa(single, 13);
			out[i] = single;
			break;
		case SIM_R_16F:
			memcpy(&half, from, sizeof half);
			out[i] = halves[half];
			break;
		default:
			memcpy(&half, from, sizeof half);
			out[i] = float_of((uint32_t)half << 16);
		}
	}
}

static void store(unsigned type, double value, unsigned char *to)
{
	float single = (float)value;
	uint16_t half;

	switch (type) {
	case SIM_R_64F:
		memcpy(to, &value, sizeof value);
		return;
	case SIM_R_32F:
		memcpy(to, &single, sizeof single);
		return;
	case SIM_R_16F:
		half = half_of_float(single);
		break;
	default:
		half = (uint16_t)(bits_of(round_mantissa(single, 16)) >> 16);
	}
	memcpy(to, &half, sizeof half);
}

/* --- elements --- */

/* sum += a · b, rounded as the precision's accumulator does. */
static void accumulate(enum sim_precision precision, double *restrict sum,
    const double *restrict a, double b, size_t count)
{
	if (precision == SIM_FP64) {
		for (size_t i = 0; i < count; i++)
			sum[i] += a[i] * b;
	} else if (precision == SIM_FP16ACC) {
		for (size_t i = 0; i < count; i++)
			sum[i] =
			    sim_half(half_of_float((float)(sum[i] + a[i] * b)));
	} else {
		for (size_t i = 0; i < count; i++)
			sum[i] = (float)(sum[i] + a[i] * b);
	}
}

/*
 * A product's operands: in one piece where so much of the result is wanted
 * that all of them are needed, else NULL and read as needed. numbers: A by
 * columns and B by columns as they enter the sum, where there is one product
 * and they are not too large.
 */
struct operands {
	struct sim_lazy *lazy;
	const unsigned char *whole[3];
	double *numbers[2];
};

static const unsigned char *element(const struct operands *o, size_t operand,
    unsigned type, int64_t at, int64_t count)
{
	size_t each = sim_type_bytes(type);

	if (o->whole[operand] != NULL)
		return o->whole[operand] + (uint64_t)at * each;
	return sim_operand_read(
	    o->lazy, operand, (uint64_t)at * each, (uint64_t)count * each);
}

/* Elements [i, i + count) of column j of product `batch`, to out. */
static void run_of_column(const struct operands *o, int64_t batch, int64_t j,
    int64_t i, size_t count, unsigned char *out)
{
	const struct sim_gemm *g = &o->lazy->gemm;
	size_t each = sim_type_bytes(g->type_c);
	int64_t a0 = batch * g->stride_a, b0 = batch * g->stride_b;
	double sum[RUN] = {0}, old[RUN] = {0}, a[RUN], b;

	for (int64_t k = 0; k < g->k; k++) {
		if (o->numbers[0] != NULL) {
			accumulate(g->precision, sum,
			    o->numbers[0] + k * g->m + i,
			    o->numbers[1][j * g->k + k], count);
			continue;
		}
		/* A(i, k), a column of it unless it is transposed. */
		if (g->trans_a) {
			for (size_t e = 0; e < count; e++)
				load(g, g->type_a,
				    element(o, 0, g->type_a,
					a0 + k + (i + (int64_t)e) * g->lda, 1),
				    1, 1, &a[e]);
		} else {
			load(g, g->type_a,
			    element(o, 0, g->type_a, a0 + i + k * g->lda,
				(int64_t)count),
			    1, count, a);
		}
		load(g, g->type_b,
		    element(o, 1, g->type_b,
			b0 + (g->trans_b ? j + k * g->ldb : k + j * g->ldb), 1),
		    1, 1, &b);
		accumulate(g->precision, sum, a, b, count);
	}
	if (g->beta != 0)
		load(g, g->type_c,
		    element(o, 2, g->type_c,
			batch * g->stride_c + i + j * g->ldc, (int64_t)count),
		    1, count, old);
	for (size_t e = 0; e < count; e++)
		store(g->type_c,
		    g->alpha * sum[e] + (g->beta != 0 ? g->beta * old[e] : 0),
		    out + e * each);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Most elements that operands are turned into numbers for: 32 MB. */
#define MAX_NUMBERS 4000000

/*
 * A matrix [columns][rows] as numbers; transposed: it is stored by rows.
 */
static double *numbers_of(const struct sim_gemm *g, unsigned type,
    const unsigned char *from, int64_t ld, bool transposed, int64_t rows,
    int64_t columns)
{
	size_t each = sim_type_bytes(type);
	double *numbers = malloc((size_t)(rows * columns) * sizeof *numbers);

	for (int64_t j = 0; numbers != NULL && j < columns; j++)
		load(g, type, from + (size_t)(transposed ? j : j * ld) * each,
		    transposed ? ld : 1, (size_t)rows, numbers + j * rows);
	return numbers;
}

static void add_numbers(struct operands *o)
{
	const struct sim_gemm *g = &o->lazy->gemm;

	if (g->count > 1 || o->whole[0] == NULL || g->m * g->k > MAX_NUMBERS ||
	    g->k * g->n > MAX_NUMBERS)
		return;
	o->numbers[0] = numbers_of(
	    g, g->type_a, o->whole[0], g->lda, g->trans_a, g->m, g->k);
	o->numbers[1] = numbers_of(
	    g, g->type_b, o->whole[1], g->ldb, g->trans_b, g->k, g->n);
	if (o->numbers[0] != NULL && o->numbers[1] != NULL)
		return;
	/* Without memory it takes longer, no more. */
	free(o->numbers[0]);
	free(o->numbers[1]);
	o->numbers[0] = o->numbers[1] = NULL;
}

/* Read operands whole where a quarter of the result is wanted. */
static struct operands operands_of(struct sim_lazy *lazy, int64_t wanted)
{
	const struct sim_gemm *g = &lazy->gemm;
	int64_t products = g->count > 1 ? g->count : 1;
	struct operands o = {.lazy = lazy};

	for (size_t i = 0; i < lazy->n_in; i++)
		if (4 * wanted >= g->m * g->n * products)
			o.whole[i] =
			    sim_operand_read(lazy, i, 0, lazy->in[i].bytes);
	add_numbers(&o);
	return o;
}

/* Whole elements: from and to lie on their bounds. */
static void produce_elements(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	const struct sim_gemm *g = &lazy->gemm;
	int64_t each = (int64_t)sim_type_bytes(g->type_c);
	int64_t at = (int64_t)(from - g->c) / each;
	int64_t end = (int64_t)(to - g->c) / each;
	unsigned char *origin = out - (int64_t)(from - g->c);
	struct operands o = operands_of(lazy, end - at);

	while (at < end) {
		int64_t batch = g->count > 1 ? at / g->stride_c : 0;
		int64_t inside = at - batch * g->stride_c;
		int64_t j, i, count;

		if (g->count <= 1)
			inside = at;
		j = inside / g->ldc;
		i = inside % g->ldc;
		if (j >= g->n) { /* between two products */
			at = (batch + 1) * g->stride_c;
			continue;
		}
		if (i >= g->m) { /* between two columns */
			at += g->ldc - i;
			continue;
		}
		count = least(least(g->m - i, end - at), RUN);
		run_of_column(
		    &o, batch, j, i, (size_t)count, origin + at * each);
		at += count;
	}
	free(o.numbers[0]);
	free(o.numbers[1]);
}

static void produce_gemm(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	uint64_t each = sim_type_bytes(lazy->gemm.type_c);
	unsigned char whole[8];

	while (from < to) {
		uint64_t into = (from - lazy->gemm.c) % each;
		uint64_t bytes = (to - from) / each * each;

		if (into == 0 && bytes > 0) {
			produce_elements(lazy, from, from + bytes, out);
		} else { /* part of one */
			bytes = each - into;
			bytes = to - from < bytes ? to - from : bytes;
			memcpy(whole + into, out, bytes);
			produce_elements(
			    lazy, from - into, from - into + each, whole);
			memcpy(out, whole + into, bytes);
		}
		from += bytes;
		out += bytes;
	}
}

static uint64_t extent(
    int64_t rows, int64_t columns, int64_t ld, int64_t stride, int64_t count)
{
	if (rows == 0 || columns == 0 || count == 0)
		return 0;
	return (uint64_t)((count - 1) * stride + (columns - 1) * ld + rows);
}

int sim_effect_gemm(struct sim_op *op)
{
	const struct sim_gemm *g = &op->gemm;
	uint64_t c_bytes = sim_type_bytes(g->type_c) *
			   extent(g->m, g->n, g->ldc, g->stride_c, g->count);
	bool gaps =
	    g->ldc != g->m || (g->count > 1 && g->stride_c != g->m * g->n);
	struct sim_work work = {
	    .produce = produce_gemm,
	    .output = g->c,
	    .output_bytes = c_bytes,
	    .in = {g->a, g->b, g->c},
	    .in_bytes = {sim_type_bytes(g->type_a) *
			     extent(g->trans_a ? g->k : g->m,
				 g->trans_a ? g->m : g->k, g->lda, g->stride_a,
				 g->count),
		sim_type_bytes(g->type_b) * extent(g->trans_b ? g->n : g->k,
						g->trans_b ? g->k : g->n,
						g->ldb, g->stride_b, g->count),
		c_bytes},
	    .n_in = g->beta != 0 ? 3 : 2,
	    /* Looked at whole where others' bytes lie in between. */
	    .flop_per_byte =
		gaps ? 0
		     : 2.0 * (double)g->k / (double)sim_type_bytes(g->type_c),
	    .args = g,
	    .args_bytes = sizeof *g,
	};
	struct sim_span *span = sim_span_find(g->c, c_bytes);

	if (gaps && span != NULL)
		sim_span_read(span, g->c, c_bytes);
	return sim_work_do(&work);
}
