/*
 * Matrix products by the distribution's BLAS, with all usable cores. A
 * precision that the library lacks is refused; nothing is emulated, since an
 * emulation's speed says nothing about the machine.
 */
#include <cblas.h>
#include <dlfcn.h>
#include <string.h>

#include "host.h"

typedef void sbgemm_fn(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE,
    enum CBLAS_TRANSPOSE, blasint m, blasint n, blasint k, float alpha,
    const uint16_t *a, blasint lda, const uint16_t *b, blasint ldb, float beta,
    float *c, blasint ldc);

/*
 * The header declares cblas_sbgemm whether or not the library was built with
 * it, so only the loaded library can say.
 */
static sbgemm_fn *find_sbgemm(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "cblas_sbgemm");
	sbgemm_fn *fn;

	memcpy(&fn, &symbol, sizeof fn);
	return fn;
}

int host_gemm_can(enum sv_precision precision, struct sv_err *err)
{
	switch (precision) {
	case SV_FP64:
	case SV_FP32:
		return 0;
	case SV_TF32:
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "TF32 is a format of NVIDIA's tensor cores; a host has "
		    "none");
	case SV_BF16:
		if (find_sbgemm() != NULL)
			return 0;
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "this OpenBLAS has no BF16 product (cblas_sbgemm), and an "
		    "emulated one would measure nothing");
	case SV_FP16:
	case SV_FP16ACC:
		break;
	}
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "OpenBLAS has no FP16 product, and an emulated one would measure "
	    "nothing");
}

void host_gemm_bytes(
    enum sv_precision precision, size_t *operand, size_t *result)
{
	*operand = precision == SV_FP64 ? 8 : precision == SV_FP32 ? 4 : 2;
	*result = precision == SV_FP64 ? 8 : 4;
}

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

void host_gemm_run(const struct sv_gemm *g)
{
	blasint m = (blasint)g->m, n = (blasint)g->n, k = (blasint)g->k;
	enum CBLAS_TRANSPOSE ta = g->transpose_a ? CblasTrans : CblasNoTrans;
	enum CBLAS_TRANSPOSE tb = g->transpose_b ? CblasTrans : CblasNoTrans;
	blasint lda = g->transpose_a ? m : k, ldb = g->transpose_b ? k : n;
	sbgemm_fn *sbgemm = g->precision == SV_BF16 ? find_sbgemm() : NULL;

	for (uint64_t i = 0; i < g->count; i++) {
		uint64_t a = i * g->m * g->k, b = i * g->k * g->n;
		uint64_t c = i * g->m * g->n;

		if (g->precision == SV_FP64)
			cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0,
			    (double *)at(g->a) + a, lda, (double *)at(g->b) + b,
			    ldb, 0.0, (double *)at(g->c) + c, n);
		else if (g->precision == SV_FP32)
			cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f,
			    (float *)at(g->a) + a, lda, (float *)at(g->b) + b,
			    ldb, 0.0f, (float *)at(g->c) + c, n);
		else if (sbgemm != NULL)
			sbgemm(CblasRowMajor, ta, tb, m, n, k, 1.0f,
			    (uint16_t *)at(g->a) + a, lda,
			    (uint16_t *)at(g->b) + b, ldb, 0.0f,
			    (float *)at(g->c) + c, n);
	}
}

void host_gemm_describe(struct sv_facts *facts)
{
	facts->text(facts, "libraries.blas", openblas_get_config());
	facts->text(facts, "libraries.blas_kernel", openblas_get_corename());
}

void host_gemm_threads(unsigned threads)
{
	openblas_set_num_threads((int)threads);
}
