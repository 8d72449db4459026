/* Typed access to JSON fields; see the header. Knows no schema. */
#include "json_fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "result.h"

void sv_fields_fault(struct sv_fields *f, const char *where, const char *key,
    const char *fmt, ...)
{
	char what[600];
	const char *dot = where[0] != '\0' && key[0] != '\0' ? "." : "";
	const char *colon = where[0] != '\0' || key[0] != '\0' ? ": " : "";
	va_list args;

	if (f->code != 0)
		return;
	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	f->code = sv_err_set(f->err, SV_EINPUT, "%s: %s%s%s%s%s", f->name,
	    where, dot, key, colon, what);
}

void sv_fields_no_memory(struct sv_fields *f)
{
	if (f->code == 0)
		f->code = sv_err_set(
		    f->err, SV_ERESOURCE, "read %s: out of memory", f->name);
}

const char *sv_fields_kind(const json_t *value)
{
	if (value == NULL)
		return "nothing";
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "text";
	case JSON_INTEGER:
		return "a whole number";
	case JSON_REAL:
		return "a fraction";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a truth value";
	default:
		return "null";
	}
}

json_t *sv_fields_present(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

const char *sv_fields_text(struct sv_fields *f, const json_t *object,
    const char *where, const char *key, bool required)
{
	const json_t *value = sv_fields_present(object, key);
	const char *copy;

	if (value == NULL && !required)
		return NULL;
	if (!json_is_string(value)) {
		sv_fields_fault(f, where, key, "expected text, found %s",
		    sv_fields_kind(value));
		return "";
	}
	copy = sv_result_text(f->r, json_string_value(value));
	if (copy == NULL)
		sv_fields_no_memory(f);
	return copy != NULL ? copy : "";
}

/* Above 2^53 a double skips whole numbers: reading one would change it. */
static bool fits_double(const json_t *value)
{
	const json_int_t most = (json_int_t)1 << 53;

	return !json_is_integer(value) ||
	       (json_integer_value(value) <= most &&
		   json_integer_value(value) >= -most);
}

static double number_of(struct sv_fields *f, const json_t *value,
    const char *where, const char *key)
{
	if (!json_is_number(value)) {
		sv_fields_fault(f, where, key, "expected a number, found %s",
		    sv_fields_kind(value));
		return NAN;
	}
	if (!fits_double(value)) {
		sv_fields_fault(f, where, key,
		    "expected a number that a double holds, found "
		    "%" JSON_INTEGER_FORMAT,
		    json_integer_value(value));
		return NAN;
	}
	return json_number_value(value);
}

double sv_fields_number(struct sv_fields *f, const json_t *object,
    const char *where, const char *key)
{
	const json_t *value = sv_fields_present(object, key);

	return value == NULL ? NAN : number_of(f, value, where, key);
}

long long sv_fields_count(struct sv_fields *f, const json_t *object,
    const char *where, const char *key, long long fallback)
{
	const json_t *value = sv_fields_present(object, key);

	if (value == NULL)
		return fallback;
	if (!json_is_integer(value) || json_integer_value(value) < 0) {
		sv_fields_fault(f, where, key,
		    "expected a whole number, 0 or more, found %s",
		    json_is_integer(value) ? "a negative one"
					   : sv_fields_kind(value));
		return fallback;
	}
	return json_integer_value(value);
}

static json_t *container(struct sv_fields *f, const json_t *object,
    const char *where, const char *key, bool required, json_type wanted)
{
	json_t *value = sv_fields_present(object, key);

	if (value == NULL && !required)
		return NULL;
	if (value == NULL || json_typeof(value) != wanted) {
		sv_fields_fault(f, where, key, "expected %s, found %s",
		    wanted == JSON_OBJECT ? "an object" : "an array",
		    sv_fields_kind(value));
		return NULL;
	}
	return value;
}

json_t *sv_fields_object(struct sv_fields *f, const json_t *object,
    const char *where, const char *key, bool required)
{
	return container(f, object, where, key, required, JSON_OBJECT);
}

json_t *sv_fields_array(struct sv_fields *f, const json_t *object,
    const char *where, const char *key, bool required)
{
	return container(f, object, where, key, required, JSON_ARRAY);
}

const double *sv_fields_numbers(struct sv_fields *f, const json_t *array,
    const char *where, const char *key, size_t *n)
{
	size_t count = json_array_size(array);
	double *values = sv_result_bytes(f->r, count * sizeof *values);

	*n = 0;
	if (values == NULL) {
		sv_fields_no_memory(f);
		return NULL;
	}
	for (size_t i = 0; i < count && f->code == 0; i++) {
		const json_t *value = json_array_get(array, i);
		char element[SV_FIELDS_MAX_PATH];

		/* The path costs more than the number: only where needed. */
		if (json_is_real(value)) {
			values[i] = json_real_value(value);
			continue;
		}
		snprintf(element, sizeof element, "%s[%zu]", key, i);
		values[i] = number_of(f, value, where, element);
	}
	if (f->code == 0)
		*n = count;
	return values;
}

static const struct sv_shape *shape_of(
    const struct sv_shape *shape, const char *key)
{
	for (; shape->key != NULL; shape++)
		if (strcmp(shape->key, key) == 0)
			return shape;
	return NULL;
}

json_t *sv_fields_unknown(
    struct sv_fields *f, json_t *object, const struct sv_shape *shape)
{
	json_t *unknown = NULL, *value;
	const char *key;

	json_object_foreach (object, key, value) {
		const struct sv_shape *known = shape_of(shape, key);
		json_t *part;

		if (known == NULL)
			part = json_incref(value);
		else if (known->inner != NULL && json_is_object(value))
			part = sv_fields_unknown(f, value, known->inner);
		else
			continue;
		if (part == NULL)
			continue;
		if (unknown == NULL)
			unknown = json_object();
		/* Consumes the part even where it fails. */
		if (json_object_set_new(unknown, key, part) != 0)
			sv_fields_no_memory(f);
	}
	return unknown;
}
