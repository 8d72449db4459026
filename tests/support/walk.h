/*
 * A value inside a JSON tree by a path with names and array indices,
 * "pcie.path.0.what"; NULL where it leads nowhere.
 */
#ifndef SV_TEST_WALK_H
#define SV_TEST_WALK_H

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline json_t *sv_walk(json_t *tree, const char *path)
{
	while (tree != NULL && *path != '\0') {
		size_t n = strcspn(path, ".");
		char step[128];

		snprintf(step, sizeof step, "%.*s", (int)n, path);
		tree = isdigit((unsigned char)step[0])
			   ? json_array_get(tree, strtoul(step, NULL, 10))
			   : json_object_get(tree, step);
		path += n + (path[n] == '.' ? 1 : 0);
	}
	return tree;
}

/* Why a field of an object with an "unknown" list is unknown, or NULL. */
static inline const char *sv_why(json_t *object, const char *field)
{
	json_t *list = json_object_get(object, "unknown"), *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (strcmp(json_string_value(json_object_get(one, "field")),
			field) == 0)
			return json_string_value(json_object_get(one, "why"));
	return NULL;
}

#endif
