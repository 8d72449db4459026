/*
 * Pairing of two results and a verdict per pair: pure, no printing.
 */
#ifndef STAVE_COMPARE_H
#define STAVE_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "result.h"
#include "stave/err.h"

#define SV_COMPARISON_SCHEMA "stave.comparison/1"

enum sv_verdict {
	SV_FASTER,
	SV_SLOWER,
	SV_SAME,
	SV_UNCLEAR,
};

struct sv_compare_options {
	double alpha;	   /* default 0.05 */
	double min_effect; /* relative, default 0.02; latencies 0.05 at least */
};

struct sv_pair {
	const struct sv_measurement *a, *b;
	double ratio;  /* b over a in the direction of better; NaN unknown */
	double lo, hi; /* 95 % interval, NaN unknown */
	double p, p_adjusted; /* NaN where no test was possible */
	enum sv_verdict verdict;
	const char *reason; /* code, static; NULL with a clear verdict */
};

struct sv_confounder {
	const char *field; /* dotted path, machine.… or device.… */
	char *a, *b;	   /* as text; "unknown" where null */
};

struct sv_mismatch {
	const char *id;
	const char *why; /* static */
};

struct sv_comparison {
	const struct sv_result *a, *b; /* borrowed: keep them open */
	struct sv_pair *pairs;	       /* sorted by id */
	size_t n_pairs;
	const char **only_a, **only_b;
	size_t n_only_a, n_only_b;
	struct sv_mismatch *mismatched;
	size_t n_mismatched;
	struct sv_confounder *confounders;
	size_t n_confounders;
	size_t counts[4]; /* by verdict */
};

SV_MUST_CHECK int sv_compare(const struct sv_result *a,
    const struct sv_result *b, const struct sv_compare_options *,
    struct sv_comparison **out, struct sv_err *err);
void sv_comparison_free(struct sv_comparison *);

const char *sv_verdict_name(enum sv_verdict);

/* One paragraph in plain words; malloc'd, NULL when out of memory. */
char *sv_comparison_text(const struct sv_comparison *);

/* stave.comparison/1; a new reference, NULL when out of memory. */
json_t *sv_comparison_json(const struct sv_comparison *);

#endif
