/*
 * cuBLAS as far as it is needed: numbers and parameters of its stable ABI,
 * our own declarations, so that its header need not be there. Compared with
 * the vendor's by a test where that can be had. Source: cuBLAS documentation,
 * sections on data types, cublasGemmEx and cublasGemmStridedBatchedEx.
 */
#ifndef STAVE_CUDA_BLAS_ABI_H
#define STAVE_CUDA_BLAS_ABI_H

#include <stddef.h>

struct cublasContext; /* the vendor's tags */
struct CUstream_st;

#define CUDA_BLAS_SUCCESS	   0u
#define CUDA_BLAS_NOT_INITIALIZED  1u
#define CUDA_BLAS_ALLOC_FAILED	   3u
#define CUDA_BLAS_INVALID_VALUE	   7u
#define CUDA_BLAS_ARCH_MISMATCH	   8u
#define CUDA_BLAS_MAPPING_ERROR	   11u
#define CUDA_BLAS_EXECUTION_FAILED 13u
#define CUDA_BLAS_INTERNAL_ERROR   14u
#define CUDA_BLAS_NOT_SUPPORTED	   15u
#define CUDA_BLAS_LICENSE_ERROR	   16u

#define CUDA_BLAS_OP_N	       0u
#define CUDA_BLAS_OP_T	       1u
#define CUDA_BLAS_GEMM_DEFAULT (-1)

/* cudaDataType */
#define CUDA_BLAS_R_32F	 0u
#define CUDA_BLAS_R_64F	 1u
#define CUDA_BLAS_R_16F	 2u
#define CUDA_BLAS_R_16BF 14u

/* cublasComputeType_t */
#define CUDA_BLAS_COMPUTE_16F		64u
#define CUDA_BLAS_COMPUTE_32F		68u
#define CUDA_BLAS_COMPUTE_32F_PEDANTIC	69u
#define CUDA_BLAS_COMPUTE_64F		70u
#define CUDA_BLAS_COMPUTE_32F_FAST_TF32 77u

/* X(member, symbol, needed, parameters) */
#define CUDA_BLAS_ENTRIES(X)                                                  \
	X(create, "cublasCreate_v2", 1, (struct cublasContext **))            \
	X(destroy, "cublasDestroy_v2", 1, (struct cublasContext *))           \
	X(get_version, "cublasGetVersion_v2", 1,                              \
	    (struct cublasContext *, int *))                                  \
	X(set_stream, "cublasSetStream_v2", 1,                                \
	    (struct cublasContext *, struct CUstream_st *))                   \
	X(set_workspace, "cublasSetWorkspace_v2", 0,                          \
	    (struct cublasContext *, void *, size_t))                         \
	X(gemm, "cublasGemmEx", 1,                                            \
	    (struct cublasContext *, unsigned op_a, unsigned op_b, int m,     \
		int n, int k, const void *alpha, const void *a,               \
		unsigned type_a, int lda, const void *b, unsigned type_b,     \
		int ldb, const void *beta, void *c, unsigned type_c, int ldc, \
		unsigned compute, int algorithm))                             \
	X(gemm_batched, "cublasGemmStridedBatchedEx", 1,                      \
	    (struct cublasContext *, unsigned op_a, unsigned op_b, int m,     \
		int n, int k, const void *alpha, const void *a,               \
		unsigned type_a, int lda, long long stride_a, const void *b,  \
		unsigned type_b, int ldb, long long stride_b,                 \
		const void *beta, void *c, unsigned type_c, int ldc,          \
		long long stride_c, int count, unsigned compute,              \
		int algorithm))

#endif
