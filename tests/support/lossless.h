/*
 * Whether a result that was written back still says all that its file said.
 * What says nothing (null, an empty list or object) may be missing, and what
 * is missing may have been filled in from the rest.
 */
#ifndef SV_TEST_LOSSLESS_H
#define SV_TEST_LOSSLESS_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SV_LOSSLESS_PATH 4096

static inline bool sv_says_nothing(const json_t *value)
{
	return json_is_null(value) ||
	       (json_is_array(value) && json_array_size(value) == 0) ||
	       (json_is_object(value) && json_object_size(value) == 0);
}

/* The same number, however it is spelled; a sign of zero counts. */
static inline bool sv_same_number(const json_t *a, const json_t *b)
{
	if (json_is_integer(a) && json_is_integer(b))
		return json_integer_value(a) == json_integer_value(b);
	if (!json_is_number(b))
		return false;
	if (json_is_integer(a) &&
	    (json_int_t)json_real_value(b) != json_integer_value(a))
		return false;
	return json_number_value(a) == json_number_value(b) &&
	       (!json_is_real(a) || !signbit(json_number_value(a)) ==
					!signbit(json_number_value(b)));
}

static inline bool sv_lossless(
    json_t *before, const json_t *after, char *path, size_t used);

/* One part of a list or object; step is how the path goes on to it. */
static inline bool sv_lossless_part(json_t *before, const json_t *after,
    char *path, size_t used, const char *step)
{
	size_t n = strlen(step);

	/* A path that is too long to tell ends early. */
	if (used + n + 1 >= SV_LOSSLESS_PATH)
		return sv_lossless(before, after, path, used);
	memcpy(path + used, step, n + 1);
	return sv_lossless(before, after, path, used + n);
}

/*
 * Whether `after` holds everything of `before`; if not, path (of
 * SV_LOSSLESS_PATH bytes, used of them taken) names what was lost.
 */
static inline bool sv_lossless(
    json_t *before, const json_t *after, char *path, size_t used)
{
	const char *key;
	json_t *value;
	size_t i;
	char step[300];

	if (sv_says_nothing(before))
		return true;
	if (json_is_number(before))
		return sv_same_number(before, after);
	if (!json_is_object(before) && !json_is_array(before))
		return json_equal(before, after);
	if (after == NULL || json_typeof(before) != json_typeof(after) ||
	    (json_is_array(before) &&
		json_array_size(before) != json_array_size(after)))
		return false;
	json_array_foreach (before, i, value) {
		snprintf(step, sizeof step, "[%zu]", i);
		if (!sv_lossless_part(
			value, json_array_get(after, i), path, used, step))
			return false;
	}
	json_object_foreach (before, key, value) {
		snprintf(step, sizeof step, ".%s", key);
		if (!sv_lossless_part(
			value, json_object_get(after, key), path, used, step))
			return false;
	}
	return true;
}

#endif
