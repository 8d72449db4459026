/*
 * Pairing of two results and a verdict per pair: pure, no printing.
 */
#ifndef STAVE_COMPARE_H
#define STAVE_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "floor.h"
#include "result.h"
#include "stave/err.h"

#define SV_COMPARISON_SCHEMA "stave.comparison/1"

enum sv_verdict {
	SV_FASTER,
	SV_SLOWER,
	SV_SAME,
	SV_UNCLEAR,
};

/* Among which pairs a p-value is corrected. */
enum sv_family {
	SV_SWEEP,    /* Benjamini-Hochberg */
	SV_HEADLINE, /* Holm, over the dozen that a summary stands on */
	SV_CONTROL,  /* Holm; what must not move */
};

/* What a difference may be due to. */
enum sv_scope {
	SV_SCOPE_SETTINGS, /* one host and one kind of card */
	SV_SCOPE_CARD,	   /* the card alone: the host is the same */
	SV_SCOPE_SYSTEM,   /* card plus host */
	SV_SCOPE_UNKNOWN,  /* nothing is known of a host */
};

enum sv_sort {
	SV_SORT_ID, /* and so by bench */
	SV_SORT_WORST,
	SV_SORT_BEST,
};

struct sv_compare_options {
	double alpha;	   /* default 0.05 */
	double min_effect; /* relative, default 0.02 */
	enum sv_sort sort; /* of the order in which pairs are shown */
	/* Patterns of ids that must not move, beside null; NULL-terminated. */
	const char *const *controls;
	/* What the machines themselves vary by; NULL-terminated. */
	const struct sv_floor *const *floors;
};

struct sv_pair {
	const struct sv_measurement *a, *b;
	double ratio;  /* b over a in the direction of better; NaN unknown */
	double lo, hi; /* its 95 % interval, NaN unknown */
	double log_ratio, log_lo, log_hi; /* natural; what is judged */
	double ratio_cycles;  /* at one clock on both sides; NaN unknown */
	const char *clock;    /* which: "sm", "memory" or NULL; static */
	double p, p_adjusted; /* NaN where no test was possible */
	double level;	      /* that p_adjusted has to be below */
	double least;	      /* relative difference that counts */
	double effect; /* relative difference within which all is the same */
	double floor;  /* relative difference of the machine itself, or NaN */
	enum sv_family family;
	enum sv_verdict verdict;
	const char *reason; /* code, static; NULL with a clear verdict */
	long further; /* rounds on each side that would decide; -1 unknown */
};

struct sv_confounder {
	const char *field; /* dotted path, machine.… or device.… */
	char *a, *b;	   /* as text; "unknown" where null */
};

struct sv_mismatch {
	const char *id;
	char *why;
};

struct sv_comparison {
	const struct sv_result *a, *b; /* borrowed: keep them open */
	struct sv_pair *pairs;	       /* sorted by id */
	size_t n_pairs;
	const struct sv_pair **order; /* the pairs as they are to be shown */
	enum sv_sort sort;
	const char **only_a, **only_b;
	size_t n_only_a, n_only_b;
	struct sv_mismatch *mismatched; /* sorted by id */
	size_t n_mismatched;
	struct sv_confounder *confounders;
	size_t n_confounders;
	enum sv_scope scope;
	const char *moved; /* a control that moved: nothing holds; or NULL */
	size_t counts[4];  /* by verdict */
};

SV_MUST_CHECK int sv_compare(const struct sv_result *a,
    const struct sv_result *b, const struct sv_compare_options *,
    struct sv_comparison **out, struct sv_err *err);
void sv_comparison_free(struct sv_comparison *);

const char *sv_verdict_name(enum sv_verdict);
/* What a reason's code means, in a few words. */
const char *sv_reason_text(const char *reason);

bool sv_measurement_has_flag(const struct sv_measurement *, const char *flag);

/* The label of a result, "?" where it has none. */
const char *sv_comparison_label(const struct sv_result *);

/* One paragraph in plain words; malloc'd, NULL when out of memory. */
char *sv_comparison_text(const struct sv_comparison *);

/* stave.comparison/1; a new reference, NULL when out of memory. */
json_t *sv_comparison_json(const struct sv_comparison *);

#endif
