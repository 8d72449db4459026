/*
 * GEMM on a simulated card: the planted time, and true elements in every
 * precision, looked at one by one or all at once.
 */
#include "sim_api.h"

#include <cublas_v2.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>

#include "near.h"

struct card {
	struct sim_api api;
	void *library;
	cublasHandle_t handle;
	__typeof__(cublasCreate_v2) *create;
	__typeof__(cublasDestroy_v2) *destroy;
	__typeof__(cublasSetStream_v2) *set_stream;
	__typeof__(cublasGemmEx) *gemm;
	__typeof__(cublasGemmStridedBatchedEx) *batched;
};

static int open_card(void **state)
{
	static struct card card;

	sim_api_open(&card.api, NULL);
	card.library = sim_api_library("libcublas.so.13");
	*(void **)&card.create = sim_api_call(card.library, "cublasCreate_v2");
	*(void **)&card.destroy =
	    sim_api_call(card.library, "cublasDestroy_v2");
	*(void **)&card.set_stream =
	    sim_api_call(card.library, "cublasSetStream_v2");
	*(void **)&card.gemm = sim_api_call(card.library, "cublasGemmEx");
	*(void **)&card.batched =
	    sim_api_call(card.library, "cublasGemmStridedBatchedEx");
	assert_int_equal(card.create(&card.handle), 0);
	assert_int_equal(card.set_stream(card.handle, card.api.stream), 0);
	*state = &card;
	return 0;
}

static int close_card(void **state)
{
	struct card *card = *state;

	card->destroy(card->handle);
	dlclose(card->library);
	sim_api_close(&card->api);
	return 0;
}

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static cublasStatus_t square(struct card *card, uint64_t a, uint64_t b,
    uint64_t c, int n, cudaDataType_t type, cublasComputeType_t compute)
{
	static const float one = 1, zero = 0;
	static const double wide_one = 1, wide_zero = 0;
	static const uint16_t half_one = 0x3c00, half_zero = 0;
	const void *alpha =
	    compute == CUBLAS_COMPUTE_64F   ? (const void *)&wide_one
	    : compute == CUBLAS_COMPUTE_16F ? (const void *)&half_one
					    : &one;
	const void *beta =
	    compute == CUBLAS_COMPUTE_64F   ? (const void *)&wide_zero
	    : compute == CUBLAS_COMPUTE_16F ? (const void *)&half_zero
					    : &zero;

	return card->gemm(card->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n,
	    alpha, at(a), type, n, at(b), type, n, beta, at(c), type, n,
	    compute, CUBLAS_GEMM_DEFAULT);
}

/* Values that every format holds exactly, small enough to sum in halves. */
static double value_at(uint64_t seed, uint64_t i)
{
	uint64_t hash = (seed * 1000003 + i) * UINT64_C(0x9e3779b97f4a7c15);

	return ((double)(hash >> 60) - 7.5) / 16;
}

static uint16_t half_of(double value)
{
	int exponent;
	double fraction = frexp(fabs(value), &exponent);

	return (uint16_t)((value < 0 ? 0x8000 : 0) |
			  (value == 0 ? 0
				      : ((exponent + 14) << 10) +
					    ((int)(fraction * 2048) - 1024)));
}

static void put(void *data, cudaDataType_t type, uint64_t i, double value)
{
	float single = (float)value;
	uint32_t bits;

	memcpy(&bits, &single, sizeof bits);
	switch (type) {
	case CUDA_R_64F:
		((double *)data)[i] = value;
		break;
	case CUDA_R_32F:
		((float *)data)[i] = single;
		break;
	case CUDA_R_16F:
		((uint16_t *)data)[i] = half_of(value);
		break;
	default:
		((uint16_t *)data)[i] = (uint16_t)(bits >> 16);
	}
}

static double get(const void *data, cudaDataType_t type, uint64_t i)
{
	uint32_t bits;
	float single;
	uint16_t half;

	switch (type) {
	case CUDA_R_64F:
		return ((const double *)data)[i];
	case CUDA_R_32F:
		return ((const float *)data)[i];
	case CUDA_R_16F:
		half = ((const uint16_t *)data)[i];
		if ((half & 0x7c00) == 0)
			return ldexp(half & 1023, -24) *
			       (half & 0x8000 ? -1 : 1);
		return ldexp(1024 + (half & 1023), (half >> 10 & 31) - 25) *
		       (half & 0x8000 ? -1 : 1);
	default:
		bits = (uint32_t)((const uint16_t *)data)[i] << 16;
		memcpy(&single, &bits, sizeof single);
		return single;
	}
}

static size_t bytes_of(cudaDataType_t type)
{
	return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

static uint64_t upload(
    struct card *card, cudaDataType_t type, uint64_t n, uint64_t seed)
{
	void *host = malloc(n * bytes_of(type));
	uint64_t memory = sim_api_alloc(&card->api, n * bytes_of(type));

	for (uint64_t i = 0; i < n; i++)
		put(host, type, i, value_at(seed, i));
	card->api.cuMemcpyHtoD_v2(memory, host, n * bytes_of(type));
	free(host);
	return memory;
}

static double expected(int n, uint64_t i, uint64_t j)
{
	double sum = 0;

	for (int k = 0; k < n; k++)
		sum += value_at(1, i + (uint64_t)k * (uint64_t)n) *
		       value_at(2, (uint64_t)k + j * (uint64_t)n);
	return sum;
}

static void elements_are_right(struct card *card, cudaDataType_t type,
    cublasComputeType_t compute, double tolerance)
{
	const int n = 48;
	uint64_t a = upload(card, type, (uint64_t)n * n, 1);
	uint64_t b = upload(card, type, (uint64_t)n * n, 2);
	uint64_t c = upload(card, type, (uint64_t)n * n, 3);
	void *host = malloc((size_t)n * n * bytes_of(type));

	assert_int_equal(square(card, a, b, c, n, type, compute), 0);
	card->api.cuStreamSynchronize(card->api.stream);
	card->api.cuMemcpyDtoH_v2(host, c, (size_t)n * n * bytes_of(type));
	for (uint64_t j = 0; j < (uint64_t)n; j++)
		for (uint64_t i = 0; i < (uint64_t)n; i++)
			assert_true(fabs(get(host, type, i + j * n) -
					 expected(n, i, j)) <= tolerance);
	free(host);
}

static void every_precision_computes_its_products(void **state)
{
	elements_are_right(*state, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1e-14);
	elements_are_right(
	    *state, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, 1e-6);
	elements_are_right(
	    *state, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 1e-6);
	elements_are_right(*state, CUDA_R_16F, CUBLAS_COMPUTE_32F, 5e-3);
	elements_are_right(*state, CUDA_R_16F, CUBLAS_COMPUTE_16F, 5e-2);
	elements_are_right(*state, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 4e-2);
}

static void tf32_rounds_what_it_reads(void **state)
{
	struct card *card = *state;
	float x = 1.0F + 1.0F / 4096, y = 1, result[2];
	uint64_t a = sim_api_alloc(&card->api, 4);
	uint64_t b = sim_api_alloc(&card->api, 4);
	uint64_t c = sim_api_alloc(&card->api, 4);

	card->api.cuMemcpyHtoD_v2(a, &x, 4);
	card->api.cuMemcpyHtoD_v2(b, &y, 4);
	for (int i = 0; i < 2; i++) {
		square(card, a, b, c, 1, CUDA_R_32F,
		    i == 0 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32);
		card->api.cuStreamSynchronize(card->api.stream);
		card->api.cuMemcpyDtoH_v2(&result[i], c, 4);
	}
	assert_true(result[0] == x);
	assert_true(result[1] == 1.0F);
}

static void transposes_scalars_and_strides_are_cublas_ones(void **state)
{
	struct card *card = *state;
	const int m = 5, n = 7, k = 11, lda = 13, ldb = 9, ldc = 6, count = 3;
	const long long sa = 80, sb = 110, sc = 50;
	const float alpha = 0.5F, beta = 2;
	uint64_t a = upload(card, CUDA_R_32F, (uint64_t)sa * count, 1);
	uint64_t b = upload(card, CUDA_R_32F, (uint64_t)sb * count, 2);
	uint64_t c = upload(card, CUDA_R_32F, (uint64_t)sc * count, 3);
	float host[150];

	assert_int_equal(
	    card->batched(card->handle, CUBLAS_OP_T, CUBLAS_OP_T, m, n, k,
		&alpha, at(a), CUDA_R_32F, lda, sa, at(b), CUDA_R_32F, ldb, sb,
		&beta, at(c), CUDA_R_32F, ldc, sc, count, CUBLAS_COMPUTE_32F,
		CUBLAS_GEMM_DEFAULT),
	    0);
	card->api.cuStreamSynchronize(card->api.stream);
	card->api.cuMemcpyDtoH_v2(host, c, sizeof host);
	for (int e = 0; e < 150; e++) {
		int batch = e / 50, j = e % 50 / ldc, i = e % 50 % ldc;
		double want = value_at(3, (uint64_t)e);

		if (i < m && j < n) {
			double sum = 0;

			for (int l = 0; l < k; l++)
				sum +=
				    value_at(1,
					(uint64_t)(batch * sa + l + i * lda)) *
				    value_at(2,
					(uint64_t)(batch * sb + j + l * ldb));
			want = alpha * sum + beta * want;
		}
		assert_true(fabs(host[e] - want) < 1e-5);
	}
}

static void time_is_flop_over_the_rate_of_the_size(void **state)
{
	static const struct {
		cudaDataType_t type;
		cublasComputeType_t compute;
		double peak;
	} cases[] = {{CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, 8.2e13},
	    {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 8.0e13},
	    {CUDA_R_16F, CUBLAS_COMPUTE_32F, 1.65e14},
	    {CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1.6e14},
	    {CUDA_R_64F, CUBLAS_COMPUTE_64F, 1.3e12}};
	struct card *card = *state;
	uint64_t bytes = UINT64_C(2048) * 2048 * 8;
	uint64_t a = sim_api_alloc(&card->api, bytes);
	uint64_t b = sim_api_alloc(&card->api, bytes);
	uint64_t c = sim_api_alloc(&card->api, bytes);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CUevent from = sim_api_event(&card->api, card->api.stream), to;

		for (int n = 0; n < 10; n++)
			square(card, a, b, c, 2048, cases[i].type,
			    cases[i].compute);
		to = sim_api_event(&card->api, card->api.stream);
		assert_near(sim_api_seconds(&card->api, from, to) / 10,
		    2.0 * 2048 * 2048 * 2048 /
			    (cases[i].peak * 2048 / (2048 + 1024)) +
			1.8e-6,
		    0.01);
	}
}

/* 550 GFLOP, of which 64 elements, then one page, are looked at. */
static void a_large_product_is_computed_where_it_is_read(void **state)
{
	struct card *card = *state;
	const int n = 6500;
	size_t bytes = (size_t)n * n * sizeof(float);
	uint64_t a = upload(card, CUDA_R_32F, (uint64_t)n * n, 1);
	uint64_t b = upload(card, CUDA_R_32F, (uint64_t)n * n, 2);
	uint64_t c = sim_api_alloc(&card->api, bytes);
	uint64_t state64 = 88172645463325252u;
	float value, *host;
	void *pinned;

	square(card, a, b, c, n, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC);
	card->api.cuStreamSynchronize(card->api.stream);
	for (int e = 0; e < 64; e++) {
		uint64_t i, j;

		state64 ^= state64 << 13;
		state64 ^= state64 >> 7;
		state64 ^= state64 << 17;
		i = state64 % (uint64_t)n;
		j = state64 / 65536 % (uint64_t)n;
		card->api.cuMemcpyDtoH_v2(
		    &value, c + (i + j * (uint64_t)n) * 4, 4);
		assert_true(fabs(value - expected(n, i, j)) < 1e-2);
	}
	card->api.cuMemHostAlloc(&pinned, bytes, 0);
	card->api.cuMemcpyDtoHAsync_v2(pinned, c, bytes, card->api.stream);
	card->api.cuStreamSynchronize(card->api.stream);
	/* What it was computed from may go: it is kept. */
	card->api.cuMemsetD32Async(a, 0, (size_t)n * n, card->api.stream);
	card->api.cuMemFree_v2(b);
	card->api.cuMemFree_v2(c);
	host = pinned;
	assert_true(fabs(host[3000 + 5000 * (size_t)n] -
			 expected(n, 3000, 5000)) < 1e-2);
	assert_true(fabs(host[0] - expected(n, 0, 0)) < 1e-2);
	assert_true(fabs(host[(size_t)n * n - 1] -
			 expected(n, (uint64_t)n - 1, (uint64_t)n - 1)) < 1e-2);
	card->api.cuMemFreeHost(pinned);
}

static void a_product_can_be_the_operand_of_the_next(void **state)
{
	struct card *card = *state;
	const int n = 24;
	size_t bytes = (size_t)n * n * 8;
	uint64_t a = upload(card, CUDA_R_64F, (uint64_t)n * n, 1);
	uint64_t b = upload(card, CUDA_R_64F, (uint64_t)n * n, 2);
	uint64_t x = sim_api_alloc(&card->api, bytes);
	uint64_t y = sim_api_alloc(&card->api, bytes);
	double *host = malloc(bytes), sum = 0;

	/* y = (a·b)·b, and x is overwritten before anybody looks. */
	square(card, a, b, x, n, CUDA_R_64F, CUBLAS_COMPUTE_64F);
	square(card, x, b, y, n, CUDA_R_64F, CUBLAS_COMPUTE_64F);
	square(card, b, b, x, n, CUDA_R_64F, CUBLAS_COMPUTE_64F);
	card->api.cuStreamSynchronize(card->api.stream);
	card->api.cuMemcpyDtoH_v2(host, y, bytes);
	for (int k = 0; k < n; k++)
		sum += expected(n, 3, (uint64_t)k) *
		       value_at(2, (uint64_t)k + 5 * (uint64_t)n);
	assert_near(host[3 + 5 * n], sum, 1e-12);
	free(host);
}

/* As layers do: two buffers in turn, far more work than can be done here. */
static void long_chains_cost_nothing_unless_looked_at(void **state)
{
	struct card *card = *state;
	const int n = 2048;
	uint64_t w = upload(card, CUDA_R_32F, (uint64_t)n * n, 1);
	uint64_t x = upload(card, CUDA_R_32F, (uint64_t)n * n, 2);
	uint64_t y = sim_api_alloc(&card->api, (size_t)n * n * 4);
	float value;

	for (int i = 0; i < 200; i++) {
		square(card, w, x, y, n, CUDA_R_32F, CUBLAS_COMPUTE_32F);
		square(card, w, y, x, n, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	}
	card->api.cuMemsetD8_v2(x, 0, (size_t)n * n * 4);
	square(card, w, x, y, n, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	card->api.cuCtxSynchronize();
	card->api.cuMemcpyDtoH_v2(&value, y + 4000, 4);
	assert_true(value == 0);
}

static void wrong_types_and_shapes_are_refused(void **state)
{
	struct card *card = *state;
	uint64_t a = sim_api_alloc(&card->api, 4096);
	const float one = 1;

	assert_int_equal(
	    square(card, a, a, a, 8, CUDA_R_8I, CUBLAS_COMPUTE_32F),
	    CUBLAS_STATUS_NOT_SUPPORTED);
	assert_int_equal(
	    square(card, a, a, a, 8, CUDA_R_64F, CUBLAS_COMPUTE_32F),
	    CUBLAS_STATUS_NOT_SUPPORTED);
	assert_int_equal(
	    card->gemm(card->handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one,
		at(a), CUDA_R_32F, 7, at(a), CUDA_R_32F, 8, &one, at(a),
		CUDA_R_32F, 8, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
	    CUBLAS_STATUS_INVALID_VALUE);
}

#define ON_CARD(test) \
	cmocka_unit_test_setup_teardown(test, open_card, close_card)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ON_CARD(every_precision_computes_its_products),
	    ON_CARD(tf32_rounds_what_it_reads),
	    ON_CARD(transposes_scalars_and_strides_are_cublas_ones),
	    ON_CARD(time_is_flop_over_the_rate_of_the_size),
	    ON_CARD(a_large_product_is_computed_where_it_is_read),
	    ON_CARD(a_product_can_be_the_operand_of_the_next),
	    ON_CARD(long_chains_cost_nothing_unless_looked_at),
	    ON_CARD(wrong_types_and_shapes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
