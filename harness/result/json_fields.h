/*
 * JSON files of the project's schemas: from a path to a tree, and typed access
 * to its fields with the place in every refusal. The first fault sticks: later
 * calls give defaults, so that reading code needs no check between fields.
 *
 * `where` is the JSON path of the object ("measurements[3]"), "" for the root;
 * `key` what is read below it. A key that is missing and one that is null are
 * the same to every function here.
 */
#ifndef STAVE_JSON_FIELDS_H
#define STAVE_JSON_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "stave/err.h"

#define SV_FIELDS_MAX_PATH 160

struct sv_result;

/*
 * The bytes of a file or a pipe, malloc'd; `what` names the kind with its
 * article ("a result"). Errors: SV_EINPUT, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_json_read_bytes(const char *path, const char *what,
    char **out, size_t *size, struct sv_err *err);
/*
 * The tree of a file's bytes; name stands for the file in messages. Errors:
 * SV_EINPUT with line and column, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_json_parse(const char *text, size_t n_bytes,
    const char *name, const char *what, json_t **out, struct sv_err *err);

struct sv_fields {
	const char *name;    /* of the file, for messages */
	struct sv_result *r; /* its arena gets the text and the numbers */
	struct sv_err *err;
	int code; /* 0, or the first fault */
};

/* Keys that a reader knows; ends with {NULL, NULL}. */
struct sv_shape {
	const char *key;
	const struct sv_shape *inner; /* of an object; NULL: all of it */
};

/* Note "NAME: PATH: …" as the fault, unless there is one. */
SV_PRINTF(4, 5)
void sv_fields_fault(struct sv_fields *, const char *where, const char *key,
    const char *fmt, ...);
void sv_fields_no_memory(struct sv_fields *);
/* Make the message one line of UTF-8, whatever was quoted and cut in it. */
void sv_fields_tidy(struct sv_err *);

/* What a value is, for messages ("a whole number"); "nothing" for NULL. */
const char *sv_fields_kind(const json_t *value);
/* The value under key unless it is null. */
json_t *sv_fields_present(const json_t *object, const char *key);

/*
 * A copy in the arena; NULL where it is missing and not required. After a
 * fault "", never NULL.
 */
const char *sv_fields_text(struct sv_fields *, const json_t *object,
    const char *where, const char *key, bool required);
/* NaN where it is missing. A whole number must fit a double exactly. */
double sv_fields_number(struct sv_fields *, const json_t *object,
    const char *where, const char *key);
/* A whole number, 0 or more; fallback where it is missing. */
long long sv_fields_count(struct sv_fields *, const json_t *object,
    const char *where, const char *key, long long fallback);
/* Borrowed; NULL where it is missing, and after a fault. */
json_t *sv_fields_object(struct sv_fields *, const json_t *object,
    const char *where, const char *key, bool required);
json_t *sv_fields_array(struct sv_fields *, const json_t *object,
    const char *where, const char *key, bool required);
/* Values in the arena, *n of them; *n is 0 where it is no array of numbers. */
const double *sv_fields_numbers(struct sv_fields *, const json_t *array,
    const char *where, const char *key, size_t *n);

/*
 * What the shape does not name, nested as it was: a new object, or NULL where
 * there is nothing.
 */
json_t *sv_fields_unknown(
    struct sv_fields *, json_t *object, const struct sv_shape *shape);

#endif
