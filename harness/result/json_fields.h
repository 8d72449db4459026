/*
 * Typed access to the fields of a JSON file, with the place in every refusal.
 * The first fault sticks: later calls give defaults, so that reading code
 * needs no check between fields. Inside the room only.
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
