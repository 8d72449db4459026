/*
 * The simulated cuBLAS: handles, and the two GEMM entry points that cover
 * every precision measured. Which combinations of types are accepted follows
 * the vendor's table of supported ones.
 */
#include <cublas_v2.h>

#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE_MAGIC UINT64_C(0x6375626c6173) /* "cublas" */

struct cublasContext {
	uint64_t magic;
	struct sim_device *device;
	struct sim_stream *stream; /* NULL: the default one */
	cublasMath_t math;
	cublasPointerMode_t pointers;
};

/* In libcuda's stand-in. */
struct sim_device *drv_current(void);
int drv_stream(struct CUstream_st *handle, struct sim_stream **out);
void drv_submit(struct sim_op *take_op);

static int blas_enter(const char *call)
{
	int rc = sim_enter(SIM_LIB_BLAS, call);

	if (rc == 0 && !sim.initialised)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	return rc;
}

static cublasStatus_t blas_leave(int rc)
{
	return (cublasStatus_t)sim_leave(rc);
}

static struct cublasContext *checked(cublasHandle_t handle)
{
	return handle != NULL && handle->magic == HANDLE_MAGIC ? handle : NULL;
}

cublasStatus_t CUBLASWINAPI cublasCreate_v2(cublasHandle_t *out)
{
	struct cublasContext *handle;
	int rc = blas_enter(__func__);

	if (rc == 0 && drv_current() == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	if (rc == 0) {
		handle = sim_object_new(sizeof *handle);
		handle->magic = HANDLE_MAGIC;
		handle->device = drv_current();
		*out = handle;
	}
	return blas_leave(rc);
}

cublasStatus_t CUBLASWINAPI cublasDestroy_v2(cublasHandle_t handle)
{
	int rc = blas_enter(__func__);

	if (rc == 0 && checked(handle) == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	if (rc == 0) {
		sim_wait_device(handle->device);
		handle->magic = 0;
		sim_object_free(handle);
	}
	return blas_leave(rc);
}

cublasStatus_t CUBLASWINAPI cublasGetVersion_v2(
    cublasHandle_t handle, int *version)
{
	int rc = blas_enter(__func__);

	(void)handle;
	if (rc == 0)
		*version = atoi(sim.config.cublas_version);
	return blas_leave(rc);
}

cublasStatus_t CUBLASWINAPI cublasSetStream_v2(
    cublasHandle_t handle, cudaStream_t stream)
{
	int rc = blas_enter(__func__);

	if (rc == 0 && checked(handle) == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	if (rc == 0 && drv_stream(stream, &handle->stream) != 0)
		rc = CUBLAS_STATUS_INVALID_VALUE;
	return blas_leave(rc);
}

cublasStatus_t CUBLASWINAPI cublasSetWorkspace_v2(
    cublasHandle_t handle, void *workspace, size_t bytes)
{
	int rc = blas_enter(__func__);

	if (rc == 0 && checked(handle) == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	if (rc == 0 && bytes > 0 &&
	    ((uintptr_t)workspace % 256 != 0 ||
		sim_span_find((uintptr_t)workspace, bytes) == NULL))
		rc = CUBLAS_STATUS_INVALID_VALUE;
	return blas_leave(rc);
}

cublasStatus_t CUBLASWINAPI cublasSetMathMode(
    cublasHandle_t handle, cublasMath_t mode)
{
	int rc = blas_enter(__func__);

	if (rc == 0 && checked(handle) == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	if (rc == 0)
		handle->math = mode;
	return blas_leave(rc);
}

cublasStatus_t CUBLASWINAPI cublasGetMathMode(
    cublasHandle_t handle, cublasMath_t *mode)
{
	int rc = blas_enter(__func__);

	if (rc == 0 && checked(handle) == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	if (rc == 0)
		*mode = handle->math;
	return blas_leave(rc);
}

cublasStatus_t CUBLASWINAPI cublasSetPointerMode_v2(
    cublasHandle_t handle, cublasPointerMode_t mode)
{
	int rc = blas_enter(__func__);

	if (rc == 0 && checked(handle) == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	else if (rc == 0 && mode != CUBLAS_POINTER_MODE_HOST)
		rc = CUBLAS_STATUS_NOT_SUPPORTED;
	return blas_leave(rc);
}

static const char *const statuses[] = {"CUBLAS_STATUS_SUCCESS",
    "CUBLAS_STATUS_NOT_INITIALIZED", NULL, "CUBLAS_STATUS_ALLOC_FAILED", NULL,
    NULL, NULL, "CUBLAS_STATUS_INVALID_VALUE", "CUBLAS_STATUS_ARCH_MISMATCH",
    NULL, NULL, "CUBLAS_STATUS_MAPPING_ERROR", NULL,
    "CUBLAS_STATUS_EXECUTION_FAILED", "CUBLAS_STATUS_INTERNAL_ERROR",
    "CUBLAS_STATUS_NOT_SUPPORTED", "CUBLAS_STATUS_LICENSE_ERROR"};

const char *CUBLASWINAPI cublasGetStatusName(cublasStatus_t status)
{
	size_t i = (size_t)status;

	if (i >= sizeof statuses / sizeof *statuses || statuses[i] == NULL)
		return "unrecognized error code";
	return statuses[i];
}

const char *CUBLASWINAPI cublasGetStatusString(cublasStatus_t status)
{
	return cublasGetStatusName(status);
}

/* --- which GEMM --- */

static int type_of(cudaDataType_t type)
{
	switch (type) {
	case CUDA_R_32F:
		return SIM_R_32F;
	case CUDA_R_64F:
		return SIM_R_64F;
	case CUDA_R_16F:
		return SIM_R_16F;
	case CUDA_R_16BF:
		return SIM_R_16BF;
	default:
		return -1;
	}
}

/*
 * TF32 where it is asked for, by the call, the handle or the environment, and
 * where the card has it; the environment can also forbid it.
 */
static enum sim_precision single_precision(
    const struct cublasContext *handle, cublasComputeType_t compute)
{
	const char *forced = getenv("NVIDIA_TF32_OVERRIDE");
	bool asked = compute == CUBLAS_COMPUTE_32F_FAST_TF32 ||
		     (compute == CUBLAS_COMPUTE_32F &&
			 (handle->math == CUBLAS_TF32_TENSOR_OP_MATH ||
			     (forced != NULL && strcmp(forced, "1") == 0)));

	if (forced != NULL && strcmp(forced, "0") == 0)
		asked = false;
	return asked && handle->device->is.capability_major >= 8 ? SIM_TF32
								 : SIM_FP32;
}

/* 0 and the precision that the types mean, or a cuBLAS status. */
static int precision_of(const struct cublasContext *handle,
    const struct sim_gemm *g, cublasComputeType_t compute,
    enum sim_precision *out)
{
	bool single = compute == CUBLAS_COMPUTE_32F ||
		      compute == CUBLAS_COMPUTE_32F_PEDANTIC;
	unsigned in = g->type_a, c = g->type_c;

	if (g->type_b != in)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (in == SIM_R_64F && c == in &&
	    (compute == CUBLAS_COMPUTE_64F ||
		compute == CUBLAS_COMPUTE_64F_PEDANTIC))
		*out = SIM_FP64;
	else if (in == SIM_R_32F && c == in &&
		 (single || compute == CUBLAS_COMPUTE_32F_FAST_TF32))
		*out = single_precision(handle, compute);
	else if (in == SIM_R_16F && (c == in || c == SIM_R_32F) && single)
		*out = SIM_FP16;
	else if (in == SIM_R_16F && c == in &&
		 (compute == CUBLAS_COMPUTE_16F ||
		     compute == CUBLAS_COMPUTE_16F_PEDANTIC))
		*out = SIM_FP16ACC;
	else if (in == SIM_R_16BF && (c == in || c == SIM_R_32F) && single)
		*out = SIM_BF16;
	else
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (*out == SIM_BF16 && handle->device->is.capability_major < 8)
		return CUBLAS_STATUS_ARCH_MISMATCH;
	if (handle->device->is.peak_flops[*out] == 0)
		return CUBLAS_STATUS_ARCH_MISMATCH;
	return 0;
}

/* The scalars have the compute type's format. */
static double scalar(const void *value, enum sim_precision precision)
{
	double wide;
	float single;
	uint16_t half;

	switch (precision) {
	case SIM_FP64:
		memcpy(&wide, value, sizeof wide);
		return wide;
	case SIM_FP16ACC:
		memcpy(&half, value, sizeof half);
		return sim_half(half);
	default:
		memcpy(&single, value, sizeof single);
		return single;
	}
}

static bool shape_is_valid(const struct sim_gemm *g)
{
	int64_t rows_a = g->trans_a ? g->k : g->m;
	int64_t rows_b = g->trans_b ? g->n : g->k;

	return g->m >= 0 && g->n >= 0 && g->k >= 0 && g->count >= 0 &&
	       g->lda >= (rows_a > 1 ? rows_a : 1) &&
	       g->ldb >= (rows_b > 1 ? rows_b : 1) &&
	       g->ldc >= (g->m > 1 ? g->m : 1);
}

static int submit(struct cublasContext *handle, const struct sim_gemm *g,
    cublasComputeType_t compute, const void *alpha, const void *beta)
{
	struct sim_stream *stream = handle->stream;
	enum sim_precision precision;
	struct sim_op *op;
	int rc;

	if (!shape_is_valid(g) || alpha == NULL || beta == NULL)
		return CUBLAS_STATUS_INVALID_VALUE;
	rc = precision_of(handle, g, compute, &precision);
	if (rc != 0)
		return rc;
	if (g->m == 0 || g->n == 0 || g->count == 0)
		return 0;
	if (stream == NULL && drv_stream(NULL, &stream) != 0)
		return CUBLAS_STATUS_EXECUTION_FAILED;
	op = sim_op_new(stream);
	memcpy(&op->gemm, g, sizeof op->gemm);
	op->gemm.precision = precision;
	op->gemm.alpha = scalar(alpha, precision);
	op->gemm.beta = scalar(beta, precision);
	op->effect = sim_effect_gemm;
	op->counted = true;
	op->throttles = true;
	op->fixed_ps = sim_ps(op->device->is.floor_s);
	op->work_ps = sim_ps(sim_gemm_seconds(op->device, &op->gemm));
	sim_op_claim(op, op->device, SIM_COMPUTE);
	drv_submit(op);
	return 0;
}

/* What both entry points are given alike; strides and count follow. */
static int describe(struct sim_gemm *g, cublasOperation_t trans_a,
    cublasOperation_t trans_b, const cudaDataType_t types[3],
    const void *const at[3])
{
	int a = type_of(types[0]), b = type_of(types[1]), c = type_of(types[2]);

	if (a < 0 || b < 0 || c < 0)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	g->type_a = (unsigned)a;
	g->type_b = (unsigned)b;
	g->type_c = (unsigned)c;
	g->trans_a = trans_a != CUBLAS_OP_N;
	g->trans_b = trans_b != CUBLAS_OP_N;
	g->a = (uint64_t)(uintptr_t)at[0];
	g->b = (uint64_t)(uintptr_t)at[1];
	g->c = (uint64_t)(uintptr_t)at[2];
	return 0;
}

cublasStatus_t CUBLASWINAPI cublasGemmStridedBatchedEx(cublasHandle_t handle,
    cublasOperation_t trans_a, cublasOperation_t trans_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType_t type_a, int lda,
    long long stride_a, const void *b, cudaDataType_t type_b, int ldb,
    long long stride_b, const void *beta, void *c, cudaDataType_t type_c,
    int ldc, long long stride_c, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t algo)
{
	const cudaDataType_t types[3] = {type_a, type_b, type_c};
	const void *const at[3] = {a, b, c};
	struct sim_gemm g;
	int rc = blas_enter(__func__);

	(void)algo;
	memset(&g, 0, sizeof g);
	g.m = m;
	g.n = n;
	g.k = k;
	g.count = count;
	g.lda = lda;
	g.ldb = ldb;
	g.ldc = ldc;
	g.stride_a = stride_a;
	g.stride_b = stride_b;
	g.stride_c = stride_c;
	if (rc == 0 && checked(handle) == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	if (rc == 0)
		rc = describe(&g, trans_a, trans_b, types, at);
	if (rc == 0 && count > 1 && stride_c < (long long)ldc * n)
		rc = CUBLAS_STATUS_INVALID_VALUE;
	if (rc == 0)
		rc = submit(handle, &g, compute, alpha, beta);
	return blas_leave(rc);
}

cublasStatus_t CUBLASWINAPI cublasGemmEx(cublasHandle_t handle,
    cublasOperation_t trans_a, cublasOperation_t trans_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType_t type_a, int lda,
    const void *b, cudaDataType_t type_b, int ldb, const void *beta, void *c,
    cudaDataType_t type_c, int ldc, cublasComputeType_t compute,
    cublasGemmAlgo_t algo)
{
	const cudaDataType_t types[3] = {type_a, type_b, type_c};
	const void *const at[3] = {a, b, c};
	struct sim_gemm g;
	int rc = blas_enter(__func__);

	(void)algo;
	memset(&g, 0, sizeof g);
	g.m = m;
	g.n = n;
	g.k = k;
	g.count = 1;
	g.lda = lda;
	g.ldb = ldb;
	g.ldc = ldc;
	if (rc == 0 && checked(handle) == NULL)
		rc = CUBLAS_STATUS_NOT_INITIALIZED;
	if (rc == 0)
		rc = describe(&g, trans_a, trans_b, types, at);
	if (rc == 0)
		rc = submit(handle, &g, compute, alpha, beta);
	return blas_leave(rc);
}
