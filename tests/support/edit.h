/*
 * Changing one thing of a JSON tree by text: "device.power.limit_w := 250";
 * a path that begins with @ is the id of a measurement, whose median is set,
 * or, as "@id!", whose key is: "@id!flags := [\"throttled\"]". "path := -"
 * takes a key away. Several are parted by " ; ". Any mistake ends the test.
 */
#ifndef SV_TEST_EDIT_H
#define SV_TEST_EDIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"
#include "walk.h"

static inline json_t *sv_edit_measurement(json_t *root, const char *id)
{
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(root, "measurements"), i, one)
		if (strcmp(json_string_value(json_object_get(one, "id")), id) ==
		    0)
			return one;
	print_error("no measurement %s\n", id);
	assert_true(false);
	return NULL;
}

static inline void sv_edit_put(json_t *home, const char *key, const char *value)
{
	json_t *tree;

	if (strcmp(value, "-") == 0) {
		assert_int_equal(json_object_del(home, key), 0);
		return;
	}
	tree = json_loads(value, JSON_DECODE_ANY, NULL);
	if (tree == NULL)
		print_error("not JSON: %s\n", value);
	assert_non_null(tree);
	assert_int_equal(json_object_set_new(home, key, tree), 0);
}

static inline void sv_edit_one(json_t *root, char *path, const char *value)
{
	char *end;

	if (path[0] == '@' && (end = strchr(path, '!')) != NULL) {
		*end = '\0';
		sv_edit_put(
		    sv_edit_measurement(root, path + 1), end + 1, value);
		return;
	}
	if (path[0] == '@') {
		json_t *summary = json_object_get(
		    sv_edit_measurement(root, path + 1), "summary");

		sv_edit_put(summary, "median", value);
		sv_edit_put(summary, "ci95", "null");
		return;
	}
	end = strrchr(path, '.');
	assert_non_null(end);
	*end = '\0';
	json_t *home = sv_walk(root, path);

	if (!json_is_object(home))
		print_error("no object %s\n", path);
	assert_true(json_is_object(home));
	sv_edit_put(home, end + 1, value);
}

static inline void sv_edit(json_t *root, const char *edits)
{
	char copy[2048], *next = copy;

	assert_true(strlen(edits) < sizeof copy);
	strcpy(copy, edits);
	while (next != NULL && *next != '\0') {
		char *path = next, *value = strstr(path, " := ");

		next = strstr(path, " ; ");
		if (next != NULL) {
			*next = '\0';
			next += 3;
		}
		assert_non_null(value);
		*value = '\0';
		sv_edit_one(root, path, value + 4);
	}
}

/*
 * A result from a file with something changed. The caller frees; a mistake in
 * either ends the test.
 */
static inline struct sv_result *sv_edited(const char *path, const char *edits)
{
	json_t *root = json_load_file(path, 0, NULL);
	struct sv_result *r = NULL;
	struct sv_err err;
	char *text;

	assert_non_null(root);
	sv_edit(root, edits);
	text = json_dumps(root, 0);
	if (sv_result_parse(text, strlen(text), "edited", &r, &err) != 0)
		fail_msg("%s: %s", edits, err.text);
	free(text);
	json_decref(root);
	return r;
}

#endif
