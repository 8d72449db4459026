/* Which measurements may be set against each other. Inside the room only. */
#ifndef STAVE_PAIRING_H
#define STAVE_PAIRING_H

#include "compare.h"

/*
 * Fill pairs, only_a, only_b and mismatched, each sorted by id. Their arrays
 * hold as many elements as both results have measurements. Errors:
 * SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_pair_up(struct sv_comparison *, struct sv_err *err);

/* Fill confounders and scope. Errors: SV_ERESOURCE. */
SV_MUST_CHECK int sv_find_confounders(
    struct sv_comparison *, struct sv_err *err);

/* A field of "machine.…" or "device.…"; NULL where absent or null. */
json_t *sv_field_of(const struct sv_result *, const char *path);

#endif
