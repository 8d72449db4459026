/*
 * What a result owns: an arena for its text and arrays, an index from id to
 * measurement, and the capacities of its growing arrays; and what the files of
 * this room share. Inside the room only.
 */
#ifndef STAVE_STORE_H
#define STAVE_STORE_H

#include <stddef.h>

#include "result.h"

struct sv_result_store {
	struct sv_arena_block *blocks;
	size_t *index; /* open addressing; measurement number + 1, or 0 */
	size_t index_size;
	size_t measurements_room, skipped_room, failures_room;
};

/*
 * Whether a file may hold this measurement; looks at everything but its id
 * and source. Errors: SV_EINPUT; the text begins with the field, as a JSON
 * path below the measurement, and a colon.
 */
SV_MUST_CHECK int sv_measurement_check(
    const struct sv_measurement *, struct sv_err *err);

/*
 * The tree of a plain JSON object, as jansson would read it: a new reference.
 * NULL where it is not plain, or wrong: ask jansson then. Also NULL, errno
 * then says so, where there is no memory.
 */
json_t *sv_json_fast(const char *text, size_t n_bytes);

/*
 * A result from the root of a file's tree, which is only read; name stands
 * for the file in messages. Errors: SV_EINPUT, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_result_from_json(
    json_t *root, const char *name, struct sv_result **out, struct sv_err *err);

#endif
