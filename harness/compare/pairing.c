/*
 * Only what was measured alike is paired: same id, unit, direction and
 * library. What nearly fits is shown with the reason, and never averaged.
 */
#include "pairing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Parameters that say how a figure was obtained rather than what it is about:
 * figures that differ in these alone are a mismatch worth showing.
 */
static const char *const qualifiers[] = {
    "accumulate", "host", "library", "software", "tool"};

#define N_QUALIFIERS (sizeof qualifiers / sizeof qualifiers[0])

static bool is_qualifier(const char *name)
{
	for (size_t i = 0; i < N_QUALIFIERS; i++)
		if (strcmp(qualifiers[i], name) == 0)
			return true;
	return false;
}

static int by_id(const void *left, const void *right)
{
	const struct sv_pair *a = left, *b = right;

	return strcmp(a->a->id, b->a->id);
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int by_mismatch(const void *left, const void *right)
{
	const struct sv_mismatch *a = left, *b = right;

	return strcmp(a->id, b->id);
}

static int no_memory(struct sv_err *err)
{
	return sv_err_set(err, SV_ERESOURCE, "compare: out of memory");
}

/* The kind of BLAS that a device used, its first word; NULL: nobody says. */
static const char *library_of(const struct sv_result *r, int *n)
{
	json_t *blas = sv_field_of(r, "device.libraries.blas");
	const char *text = json_string_value(blas);

	if (json_is_string(sv_field_of(r, "device.libraries.cublas")))
		text = "cuBLAS";
	*n = text != NULL ? (int)strcspn(text, " ") : 0;
	return text;
}

/* Its version is a confounder; another library is another measurement. */
static char *library_mismatch(
    const struct sv_comparison *c, const struct sv_measurement *m)
{
	const char *a, *b;
	int n_a, n_b;
	char *why = NULL;

	if (strcmp(m->bench, "gemm") != 0 && strcmp(m->bench, "sustain") != 0)
		return NULL;
	a = library_of(c->a, &n_a);
	b = library_of(c->b, &n_b);
	if (a == NULL || b == NULL ||
	    (n_a == n_b && strncmp(a, b, (size_t)n_a) == 0))
		return NULL;
	return asprintf(&why, "the libraries differ: %.*s against %.*s", n_a, a,
		   n_b, b) < 0
		   ? NULL
		   : why;
}

/* A measurement may name its own library or way to add up. */
static char *own_mismatch(
    const struct sv_measurement *a, const struct sv_measurement *b)
{
	for (size_t i = 0; i < N_QUALIFIERS; i++) {
		const char *x =
		    json_string_value(json_object_get(a->extra, qualifiers[i]));
		const char *y =
		    json_string_value(json_object_get(b->extra, qualifiers[i]));
		char *why = NULL;

		if (x != NULL && y != NULL && strcmp(x, y) != 0 &&
		    asprintf(&why, "%s differs: %s against %s", qualifiers[i],
			x, y) >= 0)
			return why;
	}
	return NULL;
}

/* Why two measurements of one id are no pair; NULL when they are. */
static char *mismatch(const struct sv_comparison *c,
    const struct sv_measurement *a, const struct sv_measurement *b)
{
	char *why = NULL;

	if (strcmp(a->unit, b->unit) != 0)
		why = strdup("the units differ");
	else if (a->higher_is_better != b->higher_is_better)
		why = strdup("the directions of better differ");
	else if ((why = library_mismatch(c, a)) == NULL)
		why = own_mismatch(a, b);
	return why;
}

/* A measurement that has no partner, by what it is about. */
struct lonely {
	char *about; /* its id without qualifiers */
	const struct sv_measurement *m;
};

static int by_about(const void *left, const void *right)
{
	const struct lonely *a = left, *b = right;
	int order = strcmp(a->about, b->about);

	return order != 0 ? order : strcmp(a->m->id, b->m->id);
}

/* The id without qualifiers, malloc'd; NULL when out of memory. */
static char *about_of(const struct sv_measurement *m)
{
	struct sv_result_param rest[SV_RESULT_MAX_PARAMS];
	char id[SV_RESULT_MAX_ID];
	size_t n = 0;

	for (size_t i = 0; i < m->n_params; i++)
		if (!is_qualifier(m->params[i].name))
			rest[n++] = m->params[i];
	/* Shorter than the id that it comes from, and made of its parts. */
	if (sv_result_id(id, sizeof id, m->bench, m->metric, rest, n, NULL) !=
	    0)
		return NULL;
	return strdup(id);
}

static const char *param_text(
    const struct sv_measurement *m, const char *name, char *out, size_t size)
{
	for (size_t i = 0; i < m->n_params; i++) {
		if (strcmp(m->params[i].name, name) != 0)
			continue;
		if (m->params[i].text != NULL)
			return m->params[i].text;
		snprintf(out, size, "%lld", (long long)m->params[i].number);
		return out;
	}
	return "not stated";
}

/* In which qualifiers two measurements differ; malloc'd, NULL: no memory. */
static char *qualifier_mismatch(
    const struct sv_measurement *a, const struct sv_measurement *b)
{
	char *why = NULL, number_a[32], number_b[32];
	size_t size = 0, n = 0;
	FILE *out = open_memstream(&why, &size);

	for (size_t i = 0; out != NULL && i < N_QUALIFIERS; i++) {
		const char *x =
		    param_text(a, qualifiers[i], number_a, sizeof number_a);
		const char *y =
		    param_text(b, qualifiers[i], number_b, sizeof number_b);

		if (strcmp(x, y) != 0)
			fprintf(out, "%s%s differs: %s against %s",
			    n++ > 0 ? "; " : "", qualifiers[i], x, y);
	}
	if (out == NULL || fclose(out) != 0) {
		free(why);
		return NULL;
	}
	return why;
}

static struct lonely *gather(
    const struct sv_result *r, const char *const *ids, size_t n)
{
	struct lonely *list = calloc(n + 1, sizeof *list);

	for (size_t i = 0; list != NULL && i < n; i++) {
		list[i].m = sv_result_find(r, ids[i]);
		list[i].about = about_of(list[i].m);
		if (list[i].about == NULL) {
			while (i-- > 0)
				free(list[i].about);
			free(list);
			return NULL;
		}
	}
	if (list != NULL)
		qsort(list, n, sizeof *list, by_about);
	return list;
}

static void release(struct lonely *list, size_t n)
{
	for (size_t i = 0; list != NULL && i < n; i++)
		free(list[i].about);
	free(list);
}

/*
 * Among what is in one result only, find what differs in qualifiers alone:
 * the first of the one with the first of the other, and so on; those left
 * over stay lonely.
 */
static int match_lonely(struct sv_comparison *c, struct sv_err *err)
{
	size_t n_a = c->n_only_a, n_b = c->n_only_b, i = 0, j = 0;
	struct lonely *a = gather(c->a, c->only_a, n_a);
	struct lonely *b = gather(c->b, c->only_b, n_b);
	int code = 0;

	if (a == NULL || b == NULL) {
		code = no_memory(err);
		goto free_lists;
	}
	c->n_only_a = c->n_only_b = 0;
	while (code == 0 && (i < n_a || j < n_b)) {
		int order = i == n_a   ? 1
			    : j == n_b ? -1
				       : strcmp(a[i].about, b[j].about);

		if (order < 0) {
			c->only_a[c->n_only_a++] = a[i++].m->id;
		} else if (order > 0) {
			c->only_b[c->n_only_b++] = b[j++].m->id;
		} else {
			char *why = qualifier_mismatch(a[i++].m, b[j].m);

			if (why == NULL)
				code = no_memory(err);
			else
				c->mismatched[c->n_mismatched++] =
				    (struct sv_mismatch){a[i - 1].m->id, why};
			j++;
		}
	}

free_lists:
	release(a, n_a);
	release(b, n_b);
	return code;
}

int sv_pair_up(struct sv_comparison *c, struct sv_err *err)
{
	int code;

	for (size_t i = 0; i < c->a->n_measurements; i++) {
		const struct sv_measurement *a = &c->a->measurements[i];
		const struct sv_measurement *b = sv_result_find(c->b, a->id);
		char *why = b == NULL ? NULL : mismatch(c, a, b);

		if (b == NULL)
			c->only_a[c->n_only_a++] = a->id;
		else if (why != NULL)
			c->mismatched[c->n_mismatched++] =
			    (struct sv_mismatch){a->id, why};
		else
			c->pairs[c->n_pairs++] =
			    (struct sv_pair){.a = a, .b = b};
	}
	for (size_t i = 0; i < c->b->n_measurements; i++)
		if (sv_result_find(c->a, c->b->measurements[i].id) == NULL)
			c->only_b[c->n_only_b++] = c->b->measurements[i].id;
	code = match_lonely(c, err);
	qsort(c->pairs, c->n_pairs, sizeof *c->pairs, by_id);
	qsort(c->only_a, c->n_only_a, sizeof *c->only_a, by_text);
	qsort(c->only_b, c->n_only_b, sizeof *c->only_b, by_text);
	qsort(
	    c->mismatched, c->n_mismatched, sizeof *c->mismatched, by_mismatch);
	return code;
}
