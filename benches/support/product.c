/* Products and their check; see the header. */
#include "product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "operands.h"
#include "pattern.h"

#define CHECKED		 64
/* All sets together; a single larger one is taken as it is. */
#define MAX_SETS_BYTES	 ((double)((size_t)512 << 20))
/* Below this relative error a "TF32" product was done in FP32. */
#define TF32_LEAST_ERROR 1e-5

static void set_sizes(struct sv_product *p, struct sv_device *device)
{
	const struct sv_gemm *g = &p->gemm;

	p->a_elements = (size_t)(g->m * g->k * g->count);
	p->b_elements = (size_t)(g->k * g->n * g->count);
	p->c_elements = (size_t)(g->m * g->n * g->count);
	device->ops->gemm_element_bytes(
	    device, g->precision, &p->operand_bytes, &p->result_bytes);
}

double sv_product_bytes(struct sv_device *device, const struct sv_gemm *gemm)
{
	struct sv_product p = {.gemm = *gemm};

	set_sizes(&p, device);
	return (double)(p.a_elements + p.b_elements) * (double)p.operand_bytes +
	       (double)p.c_elements * (double)p.result_bytes;
}

double sv_product_flop(const struct sv_gemm *g)
{
	return 2.0 * (double)g->m * (double)g->n * (double)g->k *
	       (double)g->count;
}

static int multiply(struct sv_product *p, size_t set, struct sv_err *err)
{
	p->gemm.a = p->a[set].address;
	p->gemm.b = p->b[set].address;
	p->gemm.c = p->c[set].address;
	return p->rig.ops->gemm(p->rig.stream, &p->gemm, err);
}

int sv_product_measure(
    void *product, uint64_t inner, double *readings, struct sv_err *err)
{
	struct sv_product *p = product;
	int code = sv_rig_begin(&p->rig, err);

	for (uint64_t i = 0; code == 0 && i < inner; i++) {
		code = multiply(p, p->next, err);
		p->next = (p->next + 1) % p->sets;
	}
	return code != 0 ? code : sv_rig_end(&p->rig, readings, err);
}

/* One product, and the wait for it. */
static int multiply_and_wait(struct sv_product *p, struct sv_err *err)
{
	int code = multiply(p, 0, err);

	return code != 0
		   ? code
		   : p->rig.ops->stream_sync(p->rig.stream, SV_WAIT_SPIN, err);
}

/* One set comes from the host; the others are copies, at memory's speed. */
static int fill(struct sv_product *p, struct sv_buffer *buffers, size_t i,
    const void *contents, size_t bytes, struct sv_err *err)
{
	const struct svk_copy_args copy = {
	    buffers[i].address, buffers[0].address, bytes / sizeof(float)};
	const struct sv_grid grid = {1024, 256};

	if (i == 0 || bytes % sizeof(float) != 0)
		return sv_rig_upload(
		    &p->rig, &buffers[i], 0, contents, bytes, err);
	return p->rig.ops->launch(
	    p->rig.stream, SV_KERNEL_COPY, grid, &copy, sizeof copy, err);
}

static int make_operands(
    struct sv_product *p, uint64_t seed, struct sv_err *err)
{
	double scale = pow((double)p->gemm.k, -0.25);
	size_t a_bytes = p->a_elements * p->operand_bytes;
	size_t b_bytes = p->b_elements * p->operand_bytes;
	size_t c_bytes = p->c_elements * p->result_bytes;
	const struct sv_backend *ops = p->rig.ops;
	int code = 0;

	p->host_a = malloc(a_bytes);
	p->host_b = malloc(b_bytes);
	if (p->host_a == NULL || p->host_b == NULL)
		return sv_err_set(err, SV_ERESOURCE, "operands: out of memory");
	sv_operands_fill(
	    p->host_a, p->a_elements, p->gemm.precision, scale, &seed);
	sv_operands_fill(
	    p->host_b, p->b_elements, p->gemm.precision, scale, &seed);
	for (size_t i = 0; i < p->sets; i++)
		if ((code = ops->alloc(
			 p->rig.device, a_bytes, &p->a[i], err)) != 0 ||
		    (code = ops->alloc(
			 p->rig.device, b_bytes, &p->b[i], err)) != 0 ||
		    (code = ops->alloc(
			 p->rig.device, c_bytes, &p->c[i], err)) != 0 ||
		    (code = fill(p, p->a, i, p->host_a, a_bytes, err)) != 0 ||
		    (code = fill(p, p->b, i, p->host_b, b_bytes, err)) != 0)
			return code;
	return 0;
}

int sv_product_init(struct sv_product *p, struct sv_device *device,
    const struct sv_gemm *sizes, uint64_t seed, struct sv_err *err)
{
	double bytes = sv_product_bytes(device, sizes);
	size_t most = (size_t)fmax(1.0, MAX_SETS_BYTES / bytes);
	int code;

	*p = (struct sv_product){.gemm = *sizes};
	set_sizes(p, device);
	p->sets = sv_rig_rotation(device, (size_t)bytes, 2.0,
	    most < SV_PRODUCT_MAX_SETS ? most : SV_PRODUCT_MAX_SETS);
	code = sv_rig_init(&p->rig, device, err);
	if (code == 0)
		code = make_operands(p, seed, err);
	/* What the library loads for the first one must not meet a hold. */
	return code != 0 ? code : multiply_and_wait(p, err);
}

void sv_product_fini(struct sv_product *p)
{
	struct sv_device *device = p->rig.device;
	struct sv_err ignored;

	if (device == NULL)
		return;

	for (size_t i = 0; i < SV_PRODUCT_MAX_SETS; i++) {
		struct sv_buffer *all[] = {&p->a[i], &p->b[i], &p->c[i]};

		for (size_t j = 0; j < 3; j++)
			if (all[j]->token != NULL)
				(void)device->ops->free(
				    device, all[j], &ignored);
	}
	free(p->host_a);
	free(p->host_b);
	sv_rig_fini(&p->rig);
}

/* The exact output at (row, column) of one product, and Σ|a·b| beside it. */
static double exact_output(const struct sv_product *p, size_t product,
    size_t row, size_t column, double *sum_abs)
{
	const struct sv_gemm *g = &p->gemm;
	size_t a = (product * g->m + row) * g->k;
	size_t b = product * g->k * g->n + column;
	double sum = 0.0;

	*sum_abs = 0.0;
	for (size_t i = 0; i < g->k; i++) {
		double term =
		    sv_operands_value(p->host_a, a + i, g->precision) *
		    sv_operands_value(p->host_b, b + i * g->n, g->precision);

		sum += term;
		*sum_abs += fabs(term);
	}
	return sum;
}

/* What the device made of it. */
static int read_output(
    struct sv_product *p, size_t index, double *out, struct sv_err *err)
{
	unsigned char element[8];
	enum sv_precision as = p->result_bytes == 8   ? SV_FP64
			       : p->result_bytes == 4 ? SV_FP32
						      : p->gemm.precision;
	int code = p->rig.ops->readback(p->rig.stream, &p->c[0],
	    index * p->result_bytes, element, p->result_bytes, SV_WAIT_SPIN,
	    err);

	if (code == 0) {
		double aligned[1];

		memcpy(aligned, element, p->result_bytes);
		*out = sv_operands_value(aligned, 0, as);
	}
	return code;
}

int sv_product_verify(
    struct sv_bench_context *context, struct sv_product *p, struct sv_err *err)
{
	const struct sv_gemm *g = &p->gemm;
	uint64_t random = sv_context_seed(context);
	double worst = 0.0, largest_error = 0.0, size = 0.0;
	int code = multiply_and_wait(p, err);

	for (unsigned i = 0; code == 0 && i < CHECKED; i++) {
		size_t product = (size_t)(sv_random_next(&random) % g->count);
		size_t row = (size_t)(sv_random_next(&random) % g->m);
		size_t column = (size_t)(sv_random_next(&random) % g->n);
		double sum_abs, found = 0.0;
		double exact = exact_output(p, product, row, column, &sum_abs);

		code = read_output(
		    p, (product * g->m + row) * g->n + column, &found, err);
		double error = fabs(found - exact);
		double bound = sv_operands_bound(
		    g->precision, (double)g->k, sum_abs, exact);

		/* A NaN must not pass for a small error. */
		if (!(error <= bound))
			worst = INFINITY;
		else
			worst = fmax(worst, error / bound);
		largest_error = fmax(largest_error, error);
		size += fabs(exact) / CHECKED;
	}
	if (code != 0)
		return code;
	if (g->precision == SV_TF32 && largest_error < TF32_LEAST_ERROR * size)
		sv_report_check(context, false,
		    "relative error %.2g: TF32 was asked for and never "
		    "engaged",
		    largest_error / size);
	else
		sv_report_check(context, worst <= 1.0,
		    "%d outputs, error at most %.2g of the bound, %.2g of "
		    "the mean output",
		    CHECKED, worst, largest_error / size);
	return 0;
}
