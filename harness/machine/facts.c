/* Fields and their absence; see the header. */
#include "facts.h"

#include <stdio.h>
#include <string.h>

/* The object that a dotted path ends in, made on the way; *name is the end. */
static json_t *home_of(json_t *object, const char *path, const char **name)
{
	const char *dot;

	for (*name = path; (dot = strchr(*name, '.')) != NULL;
	     *name = dot + 1) {
		char head[64];
		json_t *inner;

		snprintf(head, sizeof head, "%.*s", (int)(dot - *name), *name);
		inner = json_object_get(object, head);
		if (!json_is_object(inner)) {
			inner = json_object();
			json_object_set_new(object, head, inner);
		}
		object = inner;
	}
	return object;
}

void sv_fact_known(json_t *object, const char *path)
{
	json_t *list = json_object_get(object, "unknown");

	for (size_t i = json_array_size(list); i-- > 0;) {
		const char *field = json_string_value(
		    json_object_get(json_array_get(list, i), "field"));

		if (field != NULL && strcmp(field, path) == 0)
			json_array_remove(list, i);
	}
}

void sv_fact_unknown(json_t *object, const char *path, const char *why)
{
	const char *name;
	json_t *home = home_of(object, path, &name);
	json_t *list = json_object_get(object, "unknown");

	sv_fact_known(object, path);
	json_object_set_new(home, name, json_null());
	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(object, "unknown", list);
	}
	json_array_append_new(
	    list, json_pack("{s:s, s:s}", "field", path, "why", why));
}

void sv_fact(json_t *object, const char *path, json_t *take_value)
{
	const char *name;
	json_t *home = home_of(object, path, &name);

	if (take_value == NULL) {
		sv_fact_unknown(object, path, "error: not UTF-8 text");
		return;
	}
	sv_fact_known(object, path);
	json_object_set_new(home, name, take_value);
}

void sv_fact_or(
    json_t *object, const char *path, const char *why, json_t *take_value)
{
	if (why == NULL) {
		sv_fact(object, path, take_value);
		return;
	}
	json_decref(take_value);
	sv_fact_unknown(object, path, why);
}

void sv_fact_text(
    json_t *object, const char *field, struct sv_sources *s, const char *path)
{
	char text[SV_SOURCE_BYTES];
	const char *why = sv_source_read(s, path, text);

	sv_fact_or(object, field, why, why == NULL ? json_string(text) : NULL);
}

void sv_fact_number(json_t *object, const char *field, struct sv_sources *s,
    const char *path, double scale)
{
	long long value = 0;
	const char *why = sv_source_number(s, path, &value);

	/* A negative number in these files stands for "not known". */
	if (why == NULL && value < 0)
		why = "absent";
	sv_fact_or(object, field, why,
	    scale == 1.0 ? json_integer(value)
			 : json_real((double)value * scale));
}

/* The choice that the kernel marks with brackets. */
void sv_fact_choice(
    json_t *object, const char *field, struct sv_sources *s, const char *path)
{
	char text[SV_SOURCE_BYTES], *from, *to;
	const char *why = sv_source_read(s, path, text);

	if (why == NULL && (from = strchr(text, '[')) != NULL &&
	    (to = strchr(from, ']')) != NULL) {
		*to = '\0';
		sv_fact(object, field, json_string(from + 1));
		return;
	}
	sv_fact_unknown(
	    object, field, why != NULL ? why : "error: no choice marked");
}
