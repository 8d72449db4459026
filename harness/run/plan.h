/*
 * What is to be measured, and in which order.
 */
#ifndef STAVE_PLAN_H
#define STAVE_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stave/err.h"

/* A case of the plan; text and trees are borrowed from its messages. */
struct sv_planned {
	const char *id, *bench;
	json_t *params;
	json_t *metrics;     /* array of names */
	uint64_t inner;	     /* frozen by the first round; 0 before */
	bool out;	     /* failed or skipped: not tried again */
	bool files;	     /* uses files in the run's folder */
	unsigned char *done; /* [rounds], whether that round is on record */
};

struct sv_plan {
	struct sv_planned *cases;
	size_t n_cases;
	unsigned rounds;
	json_t *messages; /* owns what the cases borrow */
};

/*
 * Whether a case is wanted: named by no skip pattern, and by some bench
 * pattern or there are none. A pattern is a bench name or a glob on the id.
 * Lists end with NULL; NULL is an empty list.
 */
bool sv_plan_wants(const char *bench, const char *id,
    const char *const *benches, const char *const *skips);

/*
 * Make a plan from a worker's case messages (an array of objects with id,
 * bench, params, metrics). Errors: SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_plan_init(
    struct sv_plan *, json_t *cases, unsigned rounds, struct sv_err *err);
void sv_plan_fini(struct sv_plan *);

struct sv_planned *sv_plan_find(struct sv_plan *, const char *id);

/*
 * The order of a round (from 1): indices of all cases, benches shuffled and
 * cases shuffled within their bench; the same for the same seed.
 */
void sv_plan_order(
    const struct sv_plan *, uint64_t seed, unsigned round, size_t *order);

#endif
