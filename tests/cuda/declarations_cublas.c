/*
 * Our declarations of cuBLAS against the vendor's: this file compiles when
 * they say the same, and there is nothing to run.
 */
#include <cublas_v2.h>

#include "cuda_blas_abi.h"

#define SAME(ours, theirs)                                       \
	_Static_assert((long long)(ours) == (long long)(theirs), \
	    #ours " is not " #theirs)

SAME(CUDA_BLAS_SUCCESS, CUBLAS_STATUS_SUCCESS);
SAME(CUDA_BLAS_NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED);
SAME(CUDA_BLAS_ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED);
SAME(CUDA_BLAS_INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE);
SAME(CUDA_BLAS_ARCH_MISMATCH, CUBLAS_STATUS_ARCH_MISMATCH);
SAME(CUDA_BLAS_MAPPING_ERROR, CUBLAS_STATUS_MAPPING_ERROR);
SAME(CUDA_BLAS_EXECUTION_FAILED, CUBLAS_STATUS_EXECUTION_FAILED);
SAME(CUDA_BLAS_INTERNAL_ERROR, CUBLAS_STATUS_INTERNAL_ERROR);
SAME(CUDA_BLAS_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(CUDA_BLAS_LICENSE_ERROR, CUBLAS_STATUS_LICENSE_ERROR);
SAME(CUDA_BLAS_OP_N, CUBLAS_OP_N);
SAME(CUDA_BLAS_OP_T, CUBLAS_OP_T);
SAME(CUDA_BLAS_GEMM_DEFAULT, CUBLAS_GEMM_DEFAULT);
SAME(CUDA_BLAS_R_32F, CUDA_R_32F);
SAME(CUDA_BLAS_R_64F, CUDA_R_64F);
SAME(CUDA_BLAS_R_16F, CUDA_R_16F);
SAME(CUDA_BLAS_R_16BF, CUDA_R_16BF);
SAME(CUDA_BLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F);
SAME(CUDA_BLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(CUDA_BLAS_COMPUTE_32F_PEDANTIC, CUBLAS_COMPUTE_32F_PEDANTIC);
SAME(CUDA_BLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F);
SAME(CUDA_BLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);

struct declared {
#define X(member, symbol, needed, parameters) unsigned(*member) parameters;
	CUDA_BLAS_ENTRIES(X)
#undef X
	int (*algorithm)(cublasGemmAlgo_t);
};

struct declared sv_declared_cublas(void);

/*
 * The vendor's algorithm is an enumeration with a negative member, hence an
 * int; a compiler may give it that type and still tell the two functions
 * apart, so only the size is compared there.
 */
_Static_assert(sizeof(cublasGemmAlgo_t) == sizeof(int),
    "an algorithm is passed as an int");

struct declared sv_declared_cublas(void)
{
	return (struct declared){
	    .create = cublasCreate_v2,
	    .destroy = cublasDestroy_v2,
	    .get_version = cublasGetVersion_v2,
	    .set_stream = cublasSetStream_v2,
	    .set_workspace = cublasSetWorkspace_v2,
	    .gemm = cublasGemmEx,
	    .gemm_batched = cublasGemmStridedBatchedEx,
	};
}
