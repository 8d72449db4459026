/*
 * What a machine's own results differ by from one run to the next, though
 * nothing was changed: rounds within a run cannot see it, and a difference
 * below it means nothing.
 */
#ifndef STAVE_FLOOR_H
#define STAVE_FLOOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "result.h"
#include "stave/err.h"

#define SV_FLOOR_SCHEMA "stave.floor/1"

struct sv_floor_entry {
	const char *id;
	size_t runs;	/* in which it was measured */
	double between; /* standard deviation between runs, of the logarithm */
	double limit;	/* of the logarithm: what two runs differ by at most,
			   19 times of 20 */
};

/* The machine that a floor was taken on, as far as it is known. */
struct sv_floor_machine {
	const char *cpu, *device; /* NULL unknown */
	double memory_bytes;	  /* NaN unknown */
};

struct sv_floor {
	struct sv_floor_machine machine;
	size_t runs;
	struct sv_floor_entry *entries; /* sorted by id */
	size_t n_entries;
	struct sv_result *store; /* owns all text and the entries */
};

/* A floor without entries, of an unknown machine; NULL: no memory. */
struct sv_floor *sv_floor_new(void);

/*
 * The floor from n ≥ 2 runs on one machine; what fewer than two runs have is
 * left out. names: how messages call the runs. Errors: SV_EINPUT for fewer,
 * for another machine among them and for one run twice, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_floor_estimate(const struct sv_result *const *runs,
    const char *const *names, size_t n, struct sv_floor **out,
    struct sv_err *err);
void sv_floor_free(struct sv_floor *);

/* stave.floor/1; a new reference, NULL when out of memory. */
json_t *sv_floor_json(const struct sv_floor *);
/* Errors: SV_EINPUT with file, place and what was expected, SV_ERESOURCE. */
SV_MUST_CHECK int sv_floor_read(
    const char *path, struct sv_floor **out, struct sv_err *err);

/* Whether a result is of the floor's machine. */
bool sv_floor_is_of(const struct sv_floor *, const struct sv_result *);

/*
 * Limit for the logarithm of b over a of one id: that of the floors which are
 * of one of the two machines, of both where both are known. NaN where none
 * is. floors: NULL-terminated, or NULL.
 */
double sv_floor_limit(const struct sv_floor *const *floors,
    const struct sv_result *a, const struct sv_result *b, const char *id);

#endif
