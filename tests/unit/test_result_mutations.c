/*
 * Ten thousand damaged files: each is refused, or is read so that nothing it
 * says is lost. Deterministic, so that a failure can be looked at again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "random.h"
#include "result.h"
#include "sample_result.h"

#define MUTATIONS 10000

/* One change of the text in place or by a copy; returns the new length. */
static size_t mutate(uint64_t *seed, char *text, size_t n)
{
	static const char *const pieces[] = {"null", "-1", "1e400", "\"x\"",
	    "{}", "[]", "0", "true", "\\u0000", "\"", "}", "]", ","};
	size_t at = test_random(seed) % n, from, length;
	const char *piece;

	switch (test_random(seed) % 7) {
	case 0: /* a bit */
		text[at] ^= (char)(1u << test_random(seed) % 8);
		return n;
	case 1: /* a cut */
		return at;
	case 2: /* a hole */
		length = test_random(seed) % 40;
		if (at + length > n)
			length = n - at;
		memmove(text + at, text + at + length, n - at - length);
		return n - length;
	case 3: /* a piece put in */
		piece = pieces[test_random(seed) % 13];
		length = strlen(piece);
		memmove(text + at + length, text + at, n - at);
		memcpy(text + at, piece, length);
		return n + length;
	case 4: /* a stretch over another */
		from = test_random(seed) % n;
		length = test_random(seed) % 60;
		if (at + length <= n && from + length <= n)
			memmove(text + at, text + from, length);
		return n;
	case 5: /* a digit */
		while (at < n && !(text[at] >= '0' && text[at] <= '9'))
			at++;
		if (at < n)
			text[at] = (char)('0' + test_random(seed) % 10);
		return n;
	default: /* a byte */
		text[at] = (char)test_random(seed);
		return n;
	}
}

/*
 * Whether all that `file` says is in `tree`: numbers alike, what is null or
 * empty in the file may be missing or filled in.
 */
static bool holds(json_t *tree, json_t *file)
{
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_null(file))
		return true;
	if (json_is_number(file) && json_is_number(tree))
		return json_number_value(file) == json_number_value(tree);
	if (json_is_object(file)) {
		json_object_foreach (file, key, value) {
			json_t *there = json_object_get(tree, key);
			bool empty = json_is_null(value) ||
				     (json_is_array(value) &&
					 json_array_size(value) == 0) ||
				     (json_is_object(value) &&
					 json_object_size(value) == 0);

			if (!empty && !holds(there, value))
				return false;
		}
		return json_is_object(tree);
	}
	if (json_is_array(file)) {
		if (json_array_size(tree) != json_array_size(file))
			return false;
		json_array_foreach (file, i, value)
			if (!holds(json_array_get(tree, i), value))
				return false;
		return true;
	}
	return tree != NULL && json_equal(tree, file);
}

static void damaged_files_are_refused_or_wholly_read(void **state)
{
	static char text[sizeof sample_result + 512];
	uint64_t seed = 20261201;
	unsigned read = 0;

	(void)state;
	for (unsigned i = 0; i < MUTATIONS; i++) {
		size_t n = sizeof sample_result - 1;
		struct sv_result *r = NULL;
		struct sv_err err = {0};
		int code;

		memcpy(text, sample_result, n);
		for (unsigned j = 0; n > 1 && j <= test_random(&seed) % 3; j++)
			n = mutate(&seed, text, n);
		code = sv_result_parse(text, n, "mutated", &r, &err);
		if (code != 0) {
			assert_int_equal(code, SV_EINPUT);
			assert_true(err.text[0] != '\0');
			assert_null(r);
			continue;
		}
		json_t *file =
		    json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
		json_t *tree = sv_result_to_json(r, SV_KEEP_ALL);

		if (!holds(tree, file))
			fwrite(text, 1, n, stderr);
		assert_true(holds(tree, file));
		json_decref(file);
		json_decref(tree);
		sv_result_free(r);
		read++;
	}
	/* Both happen, or the mutations are too tame or too wild. */
	assert_in_range(read, MUTATIONS / 50, MUTATIONS * 9 / 10);
}

static size_t allocations_left;

static void *failing_malloc(size_t n)
{
	if (allocations_left == 0)
		return NULL;
	allocations_left--;
	return malloc(n);
}

static void running_out_of_memory_is_an_error_wherever_it_happens(void **state)
{
	size_t last = 0;

	(void)state;
	json_set_alloc_funcs(failing_malloc, free);
	for (size_t n = 0; n < 5000; n++) {
		struct sv_result *r = NULL;
		struct sv_err err = {0};
		int code;

		allocations_left = n;
		code = sv_result_parse(
		    sample_result, sizeof sample_result - 1, "t", &r, &err);
		if (code == 0) {
			last = n;
			sv_result_free(r);
			break;
		}
		assert_true(code == SV_ERESOURCE || code == SV_EINPUT);
		assert_null(r);
	}
	json_set_alloc_funcs(malloc, free);
	/* It needs some memory, and with enough of it succeeds. */
	assert_true(last > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(damaged_files_are_refused_or_wholly_read),
	    cmocka_unit_test(
		running_out_of_memory_is_an_error_wherever_it_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
