/*
 * What a result owns: an arena for its text and arrays, an index from id to
 * measurement, and the capacities of its growing arrays. Inside the room
 * only.
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

#endif
