/* Changing one field of a workload from the command line. */
#include "workload_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"

static int bad_value(const char *key, const char *expected, const char *value,
    struct sv_err *err)
{
	return sv_err_set(
	    err, SV_EUSAGE, "%.60s=%.60s: expected %s", key, value, expected);
}

static int set_word(const char *key, const char *value,
    const char *const *words, int *index, struct sv_err *err)
{
	char list[80];

	*index = sv_word_index(words, value);
	return *index >= 0
		   ? 0
		   : bad_value(key, sv_word_choices(words, list, sizeof list),
			 value, err);
}

static int parse_number(const char *key, const char *value, double least,
    double most, double *out, struct sv_err *err)
{
	char *end, expected[80];
	double number = strtod(value, &end);

	if (end == value || *end != '\0' ||
	    !(number >= least && number <= most)) {
		snprintf(expected, sizeof expected, "a number from %g to %g",
		    least, most);
		return bad_value(key, expected, value, err);
	}
	*out = number;
	return 0;
}

static int set_count(const char *key, const char *value, long least, long most,
    long *out, struct sv_err *err)
{
	double number = 0.0;
	int code =
	    parse_number(key, value, (double)least, (double)most, &number, err);

	if (code == 0 && number != floor(number))
		return bad_value(key, "a whole number", value, err);
	if (code == 0)
		*out = (long)number;
	return code;
}

/* A default by its bare name; *known is false where there is none. */
static int set_default(struct sv_workload_defaults *d, const char *key,
    const char *value, bool *known, struct sv_err *err)
{
	static const char *const truths[] = {
	    "false", "true", "off", "on", "no", "yes", NULL};
	int i = 0, code;

	*known = true;
	if (strcmp(key, "batch") == 0)
		return set_count(
		    key, value, 1, SV_WORKLOAD_MAX_BATCH, &d->batch, err);
	if (strcmp(key, "loader_workers") == 0)
		return set_count(
		    key, value, 0, 100000, &d->loader_workers, err);
	if (strcmp(key, "gpus") == 0)
		return set_count(key, value, 1, 4096, &d->gpus, err);
	if (strcmp(key, "precision") == 0) {
		code = set_word(key, value, sv_workload_precisions, &i, err);
		if (code == 0)
			d->precision = sv_workload_precisions[i];
		return code;
	}
	if (strcmp(key, "memory") == 0) {
		code = set_word(key, value, sv_workload_memories, &i, err);
		if (code == 0)
			d->memory = (enum sv_memory_kind)i;
		return code;
	}
	*known = strcmp(key, "prefetch") == 0;
	if (!*known)
		return 0;
	code = set_word(key, value, truths, &i, err);
	if (code == 0)
		d->prefetch = i % 2 == 1;
	return code;
}

/* Whether a key of the command line names this number, or all beside it. */
static bool names_number(const struct sv_number_key *number, const char *key)
{
	size_t n;

	if (number->object == NULL)
		return strcmp(key, number->key) == 0;
	n = strlen(number->object);
	if (strncmp(key, number->object, n) != 0)
		return false;
	if (key[n] == '.')
		return strcmp(key + n + 1, number->key) == 0;
	return key[n] == '\0' && strncmp(key, "memory_bytes_", 13) == 0;
}

static int set_shape(struct sv_workload *w, const char *key, const char *value,
    bool *known, struct sv_err *err)
{
	static const char *const names[] = {
	    "gemm_shape.m", "gemm_shape.n", "gemm_shape.k", NULL};
	struct sv_expression *e = NULL, **places[3];
	struct sv_err why = {0};
	int i = sv_word_index(names, key), code;

	*known = i >= 0 && w->typical;
	if (!*known)
		return 0;
	places[0] = &w->gemm[0].m;
	places[1] = &w->gemm[0].n;
	places[2] = &w->gemm[0].k;
	code = sv_expression_new(value, &e, &why);
	if (code != 0)
		return sv_err_set(err, code == SV_EINPUT ? SV_EUSAGE : code,
		    "%.60s=%.60s: %s", key, value, why.text);
	sv_expression_free(*places[i]);
	*places[i] = e;
	return 0;
}

int sv_workload_set(struct sv_workload *w, const char *key, const char *value,
    struct sv_err *err)
{
	const char *bare = strncmp(key, "defaults.", 9) == 0 ? key + 9 : key;
	bool known = false;
	double number = 0.0;
	int code, i = 0;

	code = set_default(&w->defaults, bare, value, &known, err);
	if (!known)
		code = set_shape(w, key, value, &known, err);
	if (!known && strcmp(key, "sample.work") == 0) {
		known = true;
		code = set_word(key, value, sv_workload_works, &i, err);
		if (code == 0)
			w->work = sv_workload_works[i];
	}
	if (!known && strcmp(key, "amp_dtype") == 0) {
		known = true;
		code = set_word(key, value, sv_workload_half_types, &i, err);
		if (code == 0)
			w->bf16 = i == 1;
	}
	for (size_t k = 0; k < sv_number_keys_count && code == 0; k++) {
		if (!names_number(&sv_number_keys[k], key))
			continue;
		/* A list of products has no typical one. */
		if (sv_number_keys[k].offset ==
			offsetof(struct sv_numbers, gemm_flop_per_sample) &&
		    !w->typical)
			continue;
		known = true;
		code = parse_number(key, value, 0.0, 1e30, &number, err);
		if (code == 0)
			*sv_number_slot(&w->numbers, &sv_number_keys[k]) =
			    number;
	}
	if (!known)
		return sv_err_set(err, SV_EUSAGE,
		    "\"%.60s\": no field of workload %.60s that can be set",
		    key, w->name);
	sv_workload_settle(w);
	return code;
}
