/*
 * What the step model takes from one result: measurements found by bench,
 * metric and the parameters that matter, as curves over a size, and read by
 * interpolation on a log scale. Every reading can say which measurements it
 * stands on and how surely. Inside the room only.
 *
 * A measurement whose check failed or which is above what is physically
 * possible is left out; a throttled one where another says the same.
 */
#ifndef STAVE_INPUTS_H
#define STAVE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result.h"

/* Curves of one variable, which the comment names. */
enum sv_curve_name {
	SV_CURVE_H2D_PINNED,   /* bytes; [B/s] */
	SV_CURVE_H2D_PAGEABLE, /* bytes */
	SV_CURVE_D2H_PINNED,   /* bytes */
	SV_CURVE_D2H_PAGEABLE, /* bytes */
	SV_CURVE_H2D_NEAR,     /* bytes; where nodes were told apart */
	SV_CURVE_H2D_FAR,      /* bytes */
	SV_CURVE_SUBMIT,       /* bytes of arguments; [s] */
	SV_CURVE_ROUNDTRIP,    /* bytes of arguments */
	SV_CURVE_GAP,	       /* nothing */
	SV_CURVE_GRAPH,	       /* nodes */
	SV_CURVE_READBACK,     /* nothing */
	SV_CURVE_WAIT,	       /* nothing; spinning where that was measured */
	SV_CURVE_WAIT_BLOCK,   /* nothing; blocking */
	SV_CURVE_RESET,	       /* bytes */
	SV_CURVE_TRIAD,	       /* bytes; [B/s] */
	SV_CURVE_COPY,	       /* bytes */
	SV_CURVE_READ,	       /* bytes */
	SV_CURVE_FILES_COLD,   /* threads; [1/s] */
	SV_CURVE_FILES_WARM,   /* threads */
	SV_CURVE_PACKED_COLD,  /* threads */
	SV_CURVE_PACKED_WARM,  /* threads */
	SV_CURVE_DECODE,       /* workers; [1/s] */
	SV_CURVE_RESIZE,       /* workers */
	SV_CURVE_STANDARD,     /* workers */
	SV_CURVE_HEAVY,	       /* workers */
	SV_CURVE_PEER_P2P,     /* bytes; [B/s] */
	SV_CURVE_PEER_STAGED,  /* bytes */
	SV_CURVE_OVERLAP,      /* nothing; [1] */
	SV_N_CURVES,
};

enum sv_precision {
	SV_FP32,
	SV_TF32,
	SV_FP16,
	SV_BF16,
	SV_N_PRECISIONS,
};

/* How much a reading is to be believed: the worst of its parts. */
enum sv_quality {
	SV_MEASURED,
	SV_INTERPOLATED,
	SV_EXTRAPOLATED, /* beyond what was measured */
	SV_SUBSTITUTED,	 /* from another precision or kind */
	SV_THROTTLED,	 /* measured while the card was held back */
};

/* What a reading stands on; a list that is full takes no more. */
#define SV_EVIDENCE_MAX 24
struct sv_evidence {
	size_t index[SV_EVIDENCE_MAX]; /* of measurements */
	size_t n;
	enum sv_quality quality;
};

struct sv_point {
	double x;
	size_t index; /* of the measurement */
	double value; /* its median */
};

struct sv_curve {
	struct sv_point *points; /* by x, no two alike */
	size_t n;
	double sample_bytes; /* of storage curves, else 0 */
};

/* `count` products of [m][k] by [k][n] in one call. */
struct sv_gemm_point {
	double m, n, k, count;
	size_t index;
	double value; /* its median */
};

struct sv_gemm_points {
	struct sv_gemm_point *points;
	size_t n;
};

struct sv_inputs {
	const struct sv_result *result; /* borrowed */
	struct sv_curve curves[SV_N_CURVES];
	struct sv_gemm_points gemm[SV_N_PRECISIONS];
	double *medians; /* by measurement: what the readings start from */
	bool *used;	 /* by measurement: read with evidence asked for */
	/* Facts of the device and machine; NaN where not known. */
	double memory_bytes, memory_free_bytes, usable_threads;
	double peak_flops[SV_N_PRECISIONS];
};

/* Errors: SV_ERESOURCE. */
SV_MUST_CHECK int sv_inputs_new(
    const struct sv_result *, struct sv_inputs **out, struct sv_err *err);
void sv_inputs_free(struct sv_inputs *);

/* A number of the device or machine by dotted path; NaN when unknown. */
double sv_inputs_number(json_t *object, const char *path);

/* Draw every measurement's rounds anew, with replacement: values[] by index. */
void sv_inputs_draw(const struct sv_inputs *, uint64_t *random, double *values);

static inline bool sv_has_curve(
    const struct sv_inputs *in, enum sv_curve_name name)
{
	return in->curves[name].n > 0;
}

/*
 * The curve at x by straight lines between logarithms, its ends held;
 * values as from sv_inputs_draw or `medians`; evidence may be NULL. NaN where
 * nothing was measured.
 */
double sv_curve_at(const struct sv_inputs *, const double *values,
    enum sv_curve_name, double x, struct sv_evidence *);

/* The largest value of a curve, and at which x. */
double sv_curve_best(const struct sv_inputs *, enum sv_curve_name, double *x);

/*
 * How the rate of a product follows from measured ones: the logarithm of the
 * rate is a sum of theirs. Made once, asked for every draw.
 */
#define SV_GEMM_TERMS_MAX 64
struct sv_gemm_plan {
	struct {
		size_t index;
		double weight;
	} terms[SV_GEMM_TERMS_MAX];
	size_t n;
	double log_factor;
};

/*
 * The plan for a product in a precision, never faster than device memory of
 * that bandwidth (NaN: unknown) feeds it. Where the result has one size alone
 * and `other` (or NULL) has several, sizes count as much as they do there.
 * False where no precision was measured. Evidence may be NULL.
 */
bool sv_gemm_plan(const struct sv_inputs *, const struct sv_inputs *other,
    enum sv_precision, const struct sv_gemm_point *shape, double bandwidth_Bps,
    struct sv_gemm_plan *out, struct sv_evidence *);
/* FLOP/s of a plan. */
double sv_gemm_plan_rate(const struct sv_gemm_plan *, const double *values);

/* The best measured rate of a precision, NaN where there is none. */
double sv_gemm_plateau(const struct sv_inputs *, enum sv_precision);

/*
 * Evidence of one more measurement, or of all that another has; what was
 * measured throttled says so.
 */
void sv_evidence_add(const struct sv_inputs *, struct sv_evidence *,
    size_t index, enum sv_quality);
void sv_evidence_join(struct sv_evidence *, const struct sv_evidence *);

const char *sv_precision_name(enum sv_precision);

#endif
