/*
 * Matrix products to be timed, and verified afterwards: operands N(0,1)·k^-¼
 * on the device in as many sets as two caches need, so that no product finds
 * its operands in the cache.
 */
#ifndef STAVE_PRODUCT_H
#define STAVE_PRODUCT_H

#include "context.h"
#include "rig.h"

#define SV_PRODUCT_MAX_SETS 8

struct sv_product {
	struct sv_rig rig;
	struct sv_gemm gemm; /* addresses of the set used last */
	/* Elements of all operands and results of one call; bytes of each. */
	size_t a_elements, b_elements, c_elements;
	size_t operand_bytes, result_bytes;
	struct sv_buffer a[SV_PRODUCT_MAX_SETS], b[SV_PRODUCT_MAX_SETS],
	    c[SV_PRODUCT_MAX_SETS];
	size_t sets, next;
	void *host_a, *host_b; /* contents of every set's operands */
};

/* Device memory that one set takes. Addresses of the product are ignored. */
double sv_product_bytes(struct sv_device *, const struct sv_gemm *);
double sv_product_flop(const struct sv_gemm *);

/*
 * Fill operands and do a first product, which loads what the library needs.
 * sv_product_fini follows also after a failure. Errors: SV_ERESOURCE and
 * those of the device.
 */
SV_MUST_CHECK int sv_product_init(struct sv_product *, struct sv_device *,
    const struct sv_gemm *sizes, uint64_t seed, struct sv_err *err);
void sv_product_fini(struct sv_product *);

/* An sv_measure_fn: `inner` products, timed by the device, in ns. */
int sv_product_measure(
    void *product, uint64_t inner, double *readings, struct sv_err *err);

/*
 * Do one more and compare some of its outputs with sums in double precision;
 * reports the check. Errors: those of the device.
 */
SV_MUST_CHECK int sv_product_verify(
    struct sv_bench_context *, struct sv_product *, struct sv_err *err);

#endif
