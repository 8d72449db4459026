/*
 * Checklists: what a machine or a result shows, check by check, with evidence,
 * expectation and remedy (stave.checklist/1). Deciding is pure; nothing here
 * reads a machine or prints.
 */
#ifndef STAVE_CHECKLIST_H
#define STAVE_CHECKLIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "result.h"

#define SV_CHECKLIST_SCHEMA	"stave.checklist/1"
#define SV_FINDING_MAX_EVIDENCE 6

/* The first four are `doctor`'s, the last four `qualify`'s. */
enum sv_finding_status {
	SV_FINDING_OK,
	SV_FINDING_WARN,
	SV_FINDING_FAIL, /* both; written "fail" */
	SV_FINDING_UNKNOWN,
	SV_FINDING_PASS,
	SV_FINDING_INCONCLUSIVE,
	SV_FINDING_SKIPPED,
};

/* One check and what came of it. Text is the finding's own. */
struct sv_finding {
	char code[48], title[120];
	enum sv_finding_status status;
	char severity[8]; /* "high", "medium", "low" */
	char cause[48];	  /* what a failure means; "" where code says it */
	char evidence[640], expected[400], remedy[480], next_command[160];
	/* Ids of measurements that it rests on; of the result. */
	const char *measurements[SV_FINDING_MAX_EVIDENCE];
	size_t n_measurements;
};

struct sv_checklist {
	char subject[200];
	const char *verdict;
	struct sv_finding *findings;
	size_t n;
};

const char *sv_finding_status_name(enum sv_finding_status);

/* Add an empty finding, or NULL when out of memory. */
struct sv_finding *sv_checklist_add(struct sv_checklist *);
void sv_checklist_fini(struct sv_checklist *);

/*
 * The training checklist on a result, or on a machine and device without
 * measurements: ok, warn, fail or unknown each. The verdict is the worst
 * that was found, "unknown" where nothing was. The checklist borrows ids of
 * the result. Errors: SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_checklist_doctor(
    const struct sv_result *, struct sv_checklist *out, struct sv_err *err);

/* stave.checklist/1, a new reference; NULL when out of memory. */
json_t *sv_checklist_to_json(const struct sv_checklist *);

/*
 * Whether a measurement is one that a pattern "bench/metric?k=v&k=v" asks
 * for: names and values may hold * and ?, parameters that are not named do
 * not matter. Source of the wildcards: fnmatch(3).
 */
bool sv_pattern_fits(const char *pattern, const struct sv_measurement *);

/*
 * Whether a figure may be relied on: checked or unchecked, finite, and not
 * above what is physically possible.
 */
bool sv_figure_usable(const struct sv_measurement *);

bool sv_figure_flagged(const struct sv_measurement *, const char *flag);

/*
 * Whether a figure fits, is usable, and is what its name says: one out of a
 * cache is none of the memory behind it.
 */
bool sv_figure_counts(const char *pattern, const struct sv_measurement *);

/* The best figure that counts, or NULL. */
const struct sv_measurement *sv_best_figure(
    const struct sv_result *, const char *pattern);

/* A whole parameter by name; fallback where there is none. */
long long sv_figure_param(
    const struct sv_measurement *, const char *name, long long fallback);

#endif
