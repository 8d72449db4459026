/*
 * Matrix products by cuBLAS. The library takes a tenth of a second and more
 * to open, so that is done when somebody asks for a product, and not before.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_backend.h"
#include "cuda_blas_abi.h"

/*
 * Set once, so that no product allocates. 32 MiB is what the library's makers
 * recommend for their largest cards.
 */
#define WORKSPACE_BYTES ((size_t)32 << 20)

struct cuda_blas {
	void *library;
	struct cublasContext *handle;
	CUdeviceptr workspace; /* 0 where the library is too old for it */
	CUstream stream;       /* what the handle works on */
	int version;	       /* 130100 for 13.1.0 */
#define X(member, symbol, needed, parameters) unsigned(*member) parameters;
	CUDA_BLAS_ENTRIES(X)
#undef X
};

static const struct {
	const char *symbol;
	size_t offset;
	int needed;
} entries[] = {
#define X(member, symbol, needed, parameters) \
	{symbol, offsetof(struct cuda_blas, member), needed},
    CUDA_BLAS_ENTRIES(X)
#undef X
};

/* How a precision is asked for. */
static const struct kind {
	unsigned operand, result, compute;
	size_t bytes;	/* of either */
	int capability; /* the least that has it, 70 for 7.0 */
	const char *name;
} kinds[] = {
    [SV_FP64] = {CUDA_BLAS_R_64F, CUDA_BLAS_R_64F, CUDA_BLAS_COMPUTE_64F, 8, 0,
	"FP64"},
    [SV_FP32] = {CUDA_BLAS_R_32F, CUDA_BLAS_R_32F,
	CUDA_BLAS_COMPUTE_32F_PEDANTIC, 4, 0, "FP32"},
    [SV_TF32] = {CUDA_BLAS_R_32F, CUDA_BLAS_R_32F,
	CUDA_BLAS_COMPUTE_32F_FAST_TF32, 4, 80, "TF32"},
    [SV_FP16] = {CUDA_BLAS_R_16F, CUDA_BLAS_R_16F, CUDA_BLAS_COMPUTE_32F, 2, 53,
	"FP16"},
    [SV_FP16ACC] = {CUDA_BLAS_R_16F, CUDA_BLAS_R_16F, CUDA_BLAS_COMPUTE_16F, 2,
	53, "FP16"},
    [SV_BF16] = {CUDA_BLAS_R_16BF, CUDA_BLAS_R_16BF, CUDA_BLAS_COMPUTE_32F, 2,
	80, "BF16"},
};

/* Our own table: the library's names came with 11.4.2. */
static const char *status_name(unsigned status)
{
	static const struct {
		unsigned status;
		const char *name;
	} names[] = {
	    {CUDA_BLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED"},
	    {CUDA_BLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED"},
	    {CUDA_BLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE"},
	    {CUDA_BLAS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH"},
	    {CUDA_BLAS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR"},
	    {CUDA_BLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED"},
	    {CUDA_BLAS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR"},
	    {CUDA_BLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"},
	    {CUDA_BLAS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR"},
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i].status == status)
			return names[i].name;
	return "a status that cuBLAS does not document";
}

static int fail(const char *call, unsigned status, struct sv_err *err)
{
	int code = status == CUDA_BLAS_ALLOC_FAILED ? SV_ERESOURCE
		   : status == CUDA_BLAS_NOT_SUPPORTED ||
			   status == CUDA_BLAS_ARCH_MISMATCH
		       ? SV_EUNSUPPORTED
		       : SV_EDEVICE;

	return sv_err_set(
	    err, code, "%s: %s (%u)", call, status_name(status), status);
}

static int open_library(
    struct cuda_blas *blas, const char *soname, struct sv_err *err)
{
	blas->library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	if (blas->library == NULL)
		return sv_err_set(err, SV_EUNSUPPORTED, "%s", dlerror());
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
		void *symbol = dlsym(blas->library, entries[i].symbol);

		if (symbol == NULL && entries[i].needed)
			return sv_err_set(err, SV_EUNSUPPORTED, "%s has no %s",
			    soname, entries[i].symbol);
		memcpy(
		    (char *)blas + entries[i].offset, &symbol, sizeof symbol);
	}
	return 0;
}

static int open_handle(struct cuda_device *cuda, struct cuda_blas *blas,
    const char *soname, struct sv_err *err)
{
	struct cuda_driver *driver = &cuda->driver;
	/* sv_err_set gives its code back: NOLINTNEXTLINE */
	unsigned status = blas->create(&blas->handle);
	CUresult rc;

	if (status != CUDA_BLAS_SUCCESS)
		blas->handle = NULL;
	if (status == CUDA_BLAS_NOT_INITIALIZED)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "cublasCreate of %s: %s (%u): the library may need a "
		    "newer driver than this one, which supports CUDA %d.%d",
		    soname, status_name(status), status, driver->version / 1000,
		    driver->version % 1000 / 10);
	if (status != CUDA_BLAS_SUCCESS)
		return fail("cublasCreate", status, err);
	status = blas->get_version(blas->handle, &blas->version);
	if (status != CUDA_BLAS_SUCCESS)
		return fail("cublasGetVersion", status, err);
	if (blas->set_workspace == NULL)
		return 0;
	rc = driver->mem_alloc(&blas->workspace, WORKSPACE_BYTES);
	if (rc != CUDA_SUCCESS) {
		blas->workspace = 0;
		return cuda_fail(driver, rc, err,
		    "cuMemAlloc %s of cuBLAS workspace",
		    cuda_size(WORKSPACE_BYTES).text);
	}
	return 0;
}

static void close_blas(struct cuda_device *cuda, struct cuda_blas *blas)
{
	struct sv_err cause;
	unsigned status;

	if (blas == NULL)
		return;
	if (blas->handle != NULL) {
		status = blas->destroy(blas->handle);
		if (status != CUDA_BLAS_SUCCESS && cuda->late.code == 0 &&
		    cuda->driver.sticky == CUDA_SUCCESS) {
			(void)fail("cublasDestroy", status, &cause);
			cuda->late = cause;
		}
	}
	if (blas->workspace != 0)
		cuda_late(cuda, cuda->driver.mem_free(blas->workspace),
		    "cuMemFree of cuBLAS workspace");
	if (blas->library != NULL)
		dlclose(blas->library);
	free(blas);
}

void cuda_blas_close(struct cuda_device *cuda)
{
	close_blas(cuda, cuda->blas);
	cuda->blas = NULL;
}

/*
 * The newest library that is there and works with this driver: a newer one
 * than the driver supports opens, and then fails to make a handle.
 */
static int open_any(struct cuda_device *cuda, struct sv_err *err)
{
	static const char *const sonames[] = {
	    "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
	struct sv_err first = {0}, failed;
	bool found = false;

	if (cuda->blas != NULL)
		return 0;
	for (size_t i = 0; i < sizeof sonames / sizeof sonames[0]; i++) {
		struct cuda_blas *blas = calloc(1, sizeof *blas);
		int code;

		if (blas == NULL)
			return sv_err_set(
			    err, SV_ERESOURCE, "cuBLAS: out of memory");
		code = open_library(blas, sonames[i], &failed);
		if (code == 0)
			code = open_handle(cuda, blas, sonames[i], &failed);
		if (code == 0) {
			cuda->blas = blas;
			return 0;
		}
		/* A library that is there says more than one that is not. */
		if (first.code == 0 || (!found && blas->library != NULL))
			first = failed;
		found = found || blas->library != NULL;
		close_blas(cuda, blas);
		/* Another library makes no memory and mends no card. */
		if (code == SV_ERESOURCE || cuda->driver.sticky != CUDA_SUCCESS)
			break;
	}
	if (found)
		return sv_err_set(err, first.code, "%s", first.text);
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "cuBLAS: none of libcublas.so.13, .12 and .11 can be opened (%s); "
	    "it comes with the CUDA toolkit, and its folder must be on the "
	    "library path",
	    first.text);
}

static int open_blas(struct cuda_device *cuda, struct sv_err *err)
{
	struct sv_err why;
	int code = open_any(cuda, &why);

	if (code == 0)
		return 0;
	snprintf(cuda->blas_missing, sizeof cuda->blas_missing, "%s%.80s",
	    code == SV_EUNSUPPORTED ? "absent" : "error: ",
	    code == SV_EUNSUPPORTED ? "" : why.text);
	return sv_err_set(err, code, "%s", why.text);
}

/* The environment can turn TF32 on or off behind the caller's back. */
static int check_override(enum sv_precision precision, struct sv_err *err)
{
	const char *set = getenv("NVIDIA_TF32_OVERRIDE");
	bool off = set != NULL && strcmp(set, "0") == 0;

	if (set == NULL || (precision != SV_TF32 && precision != SV_FP32) ||
	    (precision == SV_FP32 && off) || (precision == SV_TF32 && !off))
		return 0;
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "NVIDIA_TF32_OVERRIDE=%.16s is set: an %s product would not be "
	    "one; unset it",
	    set, precision == SV_TF32 ? "asked-for TF32" : "FP32");
}

int cuda_can_precision(
    struct sv_device *device, enum sv_precision precision, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	const struct kind *kind = &kinds[precision];
	int code = check_override(precision, err);

	if (code != 0)
		return code;
	if (10 * cuda->major + cuda->minor < kind->capability)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "%s products need compute capability %d.%d, this card has "
		    "%d.%d",
		    kind->name, kind->capability / 10, kind->capability % 10,
		    cuda->major, cuda->minor);
	return open_blas(cuda, err);
}

void cuda_gemm_bytes(struct sv_device *device, enum sv_precision precision,
    size_t *operand, size_t *result)
{
	(void)device;
	*operand = kinds[precision].bytes;
	*result = kinds[precision].bytes;
}

bool cuda_blas_version(const struct cuda_device *cuda, char *out, size_t room)
{
	int version;

	if (cuda->blas == NULL)
		return false;
	version = cuda->blas->version;
	snprintf(out, room, "%d.%d.%d", version / 10000, version / 100 % 100,
	    version % 100);
	return true;
}

void cuda_blas_forget(struct cuda_device *cuda, CUstream stream)
{
	if (cuda->blas != NULL && cuda->blas->stream == stream)
		cuda->blas->stream = NULL;
}

/*
 * Setting a stream forgets the workspace, so both are set together. There is
 * one workspace: products of two streams must not run at once.
 */
static int use_stream(
    struct cuda_blas *blas, CUstream stream, struct sv_err *err)
{
	unsigned status;

	/* sv_err_set gives its code back: NOLINTNEXTLINE */
	if (blas->stream == stream)
		return 0;
	status = blas->set_stream(blas->handle, stream);
	if (status != CUDA_BLAS_SUCCESS)
		return fail("cublasSetStream", status, err);
	if (blas->workspace != 0) {
		status = blas->set_workspace(blas->handle,
		    (void *)(uintptr_t)blas->workspace, WORKSPACE_BYTES);
		if (status != CUDA_BLAS_SUCCESS)
			return fail("cublasSetWorkspace", status, err);
	}
	blas->stream = stream;
	return 0;
}

/* 1 and 0 in the type that the product is computed in. */
union scalar {
	double wide;
	float single;
	uint16_t half;
};

static void set_scalars(
    enum sv_precision precision, union scalar *alpha, union scalar *beta)
{
	*alpha = *beta = (union scalar){.wide = 0.0};
	if (precision == SV_FP64)
		alpha->wide = 1.0;
	else if (precision == SV_FP16ACC)
		alpha->half = 0x3c00; /* IEEE 754 half: 1 */
	else
		alpha->single = 1.0f;
}

/*
 * The library stores by columns: read so, our packed row-major matrices are
 * their own transposes, and Cᵀ[n][m] = Bᵀ·Aᵀ needs none but what was asked for.
 */
static unsigned multiply(struct cuda_blas *blas, const struct sv_gemm *g)
{
	const struct kind *kind = &kinds[g->precision];
	const void *a = (const void *)(uintptr_t)g->a;
	const void *b = (const void *)(uintptr_t)g->b;
	void *c = (void *)(uintptr_t)g->c;
	int m = (int)g->m, n = (int)g->n, k = (int)g->k;
	int lda = g->transpose_a ? m : k, ldb = g->transpose_b ? k : n;
	unsigned ta = g->transpose_a ? CUDA_BLAS_OP_T : CUDA_BLAS_OP_N;
	unsigned tb = g->transpose_b ? CUDA_BLAS_OP_T : CUDA_BLAS_OP_N;
	union scalar alpha, beta;

	set_scalars(g->precision, &alpha, &beta);
	if (g->count == 1)
		return blas->gemm(blas->handle, tb, ta, n, m, k, &alpha, b,
		    kind->operand, ldb, a, kind->operand, lda, &beta, c,
		    kind->result, n, kind->compute, CUDA_BLAS_GEMM_DEFAULT);
	return blas->gemm_batched(blas->handle, tb, ta, n, m, k, &alpha, b,
	    kind->operand, ldb, (long long)g->k * n, a, kind->operand, lda,
	    (long long)g->m * k, &beta, c, kind->result, n, (long long)g->m * n,
	    (int)g->count, kind->compute, CUDA_BLAS_GEMM_DEFAULT);
}

int cuda_gemm(
    struct sv_stream *stream, const struct sv_gemm *g, struct sv_err *err)
{
	struct cuda_device *cuda = stream->cuda;
	unsigned status;
	char call[160];
	int code = 0;

	if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX ||
	    g->count > INT_MAX)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "cuBLAS: sizes and counts above %d", INT_MAX);
	if (cuda->blas == NULL)
		code = cuda_can_precision(&cuda->device, g->precision, err);
	if (code == 0)
		code = use_stream(cuda->blas, stream->handle, err);
	if (code != 0)
		return code;
	status = multiply(cuda->blas, g);
	if (status == CUDA_BLAS_SUCCESS)
		return 0;
	snprintf(call, sizeof call, "%s %s %llu×%llu×%llu, %llu of them",
	    g->count == 1 ? "cublasGemmEx" : "cublasGemmStridedBatchedEx",
	    kinds[g->precision].name, (unsigned long long)g->m,
	    (unsigned long long)g->n, (unsigned long long)g->k,
	    (unsigned long long)g->count);
	return fail(call, status, err);
}
