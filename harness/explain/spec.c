/* Reading specifications; see the header. Judging is spec_judge.c's. */
#include "spec.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_fields.h"
#include "shipped.h"

#define MAX_RULES 512
#define MAX_WORDS 64
/* One that extends one that extends … is a circle. */
#define MAX_DEPTH 4

static const struct sv_shipped specs = {"specs", "spec", "STAVE_SPEC_DIR"};

static const char *const severities[] = {"high", "medium", "low"};
static const char *const bases[] = {
    "datasheet", "published", "link", "derived", "convention"};
static const char *const selections[] = {"best", "every"};
static const char *const profiles[] = {"quick", "standard", "full"};

/* A text that must be one of n words. */
static const char *read_word(struct sv_fields *f, const json_t *object,
    const char *where, const char *key, const char *const *words, size_t n)
{
	const char *text = sv_fields_text(f, object, where, key, true);
	char known[160] = "";

	for (size_t i = 0; f->code == 0 && i < n; i++) {
		if (strcmp(words[i], text) == 0)
			return words[i];
		snprintf(known + strlen(known), sizeof known - strlen(known),
		    "%s%s", i > 0 ? ", " : "", words[i]);
	}
	sv_fields_fault(
	    f, where, key, "expected one of %s, found \"%.40s\"", known, text);
	return text;
}

/* A text that must not be empty. */
static const char *read_said(struct sv_fields *f, const json_t *object,
    const char *where, const char *key)
{
	const char *text = sv_fields_text(f, object, where, key, true);

	if (f->code == 0 && text[0] == '\0')
		sv_fields_fault(f, where, key, "expected text, found none");
	return text;
}

static void check_code(
    struct sv_fields *f, const char *where, const char *key, const char *code)
{
	if (f->code == 0 &&
	    (code[0] < 'A' || code[0] > 'Z' || strlen(code) > 40 ||
		strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
		    strlen(code)))
		sv_fields_fault(f, where, key,
		    "expected capitals, digits and _, found \"%.40s\"", code);
}

static void read_rule(struct sv_fields *f, const json_t *object,
    const char *where, struct sv_rule *rule)
{
	rule->code = read_said(f, object, where, "code");
	check_code(f, where, "code", rule->code);
	rule->cause = read_said(f, object, where, "cause");
	check_code(f, where, "cause", rule->cause);
	rule->title = read_said(f, object, where, "title");
	rule->severity = read_word(f, object, where, "severity", severities, 3);
	rule->basis = read_word(f, object, where, "basis", bases, 5);
	rule->source = read_said(f, object, where, "source");
	rule->remedy = read_said(f, object, where, "remedy");
	rule->next_command = read_said(f, object, where, "next_command");
}

/* Whether a path names a number of the result. */
static bool is_field(const char *path)
{
	return strncmp(path, "device.", 7) == 0 ||
	       strncmp(path, "machine.", 8) == 0;
}

/* Returns whether there is a limit at all. */
static bool read_limits(struct sv_fields *f, const json_t *object,
    const char *where, struct sv_limits *limits)
{
	limits->at_least = sv_fields_number(f, object, where, "at_least");
	limits->at_most = sv_fields_number(f, object, where, "at_most");
	limits->relative_to =
	    sv_fields_text(f, object, where, "relative_to", false);
	if (f->code == 0 && limits->relative_to != NULL &&
	    !is_field(limits->relative_to))
		sv_fields_fault(f, where, "relative_to",
		    "expected a field of device or machine, found \"%.60s\"",
		    limits->relative_to);
	return !isnan(limits->at_least) || !isnan(limits->at_most);
}

static void read_bound(struct sv_fields *f, const json_t *object,
    const char *where, struct sv_bound *bound)
{
	read_rule(f, object, where, &bound->rule);
	bound->pattern = read_said(f, object, where, "pattern");
	if (f->code == 0 && strchr(bound->pattern, '/') == NULL)
		sv_fields_fault(f, where, "pattern",
		    "expected BENCH/METRIC, found \"%.60s\"", bound->pattern);
	bound->every =
	    sv_fields_present(object, "select") != NULL &&
	    strcmp(read_word(f, object, where, "select", selections, 2),
		"every") == 0;
	if (!read_limits(f, object, where, &bound->limits))
		sv_fields_fault(
		    f, where, "", "expected at_least or at_most, found none");
}

/* Texts of an array in the arena, or of one word. */
static const char *const *read_words(struct sv_fields *f, const json_t *object,
    const char *where, const char *key, size_t *n)
{
	json_t *list = sv_fields_array(f, object, where, key, true), *one;
	size_t count = json_array_size(list), i;
	const char **words = sv_result_bytes(f->r, (count + 1) * sizeof *words);

	*n = 0;
	if (words == NULL) {
		sv_fields_no_memory(f);
		return NULL;
	}
	if (f->code == 0 && (count == 0 || count > MAX_WORDS))
		sv_fields_fault(
		    f, where, key, "expected 1 to %d words", MAX_WORDS);
	json_array_foreach (list, i, one) {
		const char *text = json_is_true(one) ? "true"
				   : json_is_false(one)
				       ? "false"
				       : json_string_value(one);

		if (text == NULL) {
			sv_fields_fault(f, where, key,
			    "expected text, true or false, found %s",
			    sv_fields_kind(one));
			return words;
		}
		words[i] = sv_result_text(f->r, text);
	}
	*n = count;
	return words;
}

static void read_expectation(struct sv_fields *f, const json_t *object,
    const char *where, struct sv_expectation *e)
{
	static const struct {
		const char *key;
		enum sv_expected kind;
	} kinds[] = {{"one_of", SV_EXPECT_ONE_OF}, {"fits", SV_EXPECT_FITS},
	    {"lacks", SV_EXPECT_LACKS}};
	size_t conditions = 0;

	read_rule(f, object, where, &e->rule);
	e->field = read_said(f, object, where, "field");
	if (f->code == 0 && !is_field(e->field) &&
	    strcmp(e->field, "run.complete") != 0 &&
	    strcmp(e->field, "run.origin") != 0)
		sv_fields_fault(f, where, "field",
		    "expected a field of device or machine, run.complete or "
		    "run.origin, found \"%.60s\"",
		    e->field);
	if (read_limits(f, object, where, &e->limits)) {
		e->kind = SV_EXPECT_NUMBER;
		conditions++;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (sv_fields_present(object, kinds[i].key) == NULL)
			continue;
		e->kind = kinds[i].kind;
		e->words =
		    read_words(f, object, where, kinds[i].key, &e->n_words);
		conditions++;
	}
	if (f->code == 0 && conditions != 1)
		sv_fields_fault(f, where, "",
		    "expected one of limits, one_of, fits and lacks, found "
		    "%zu of them",
		    conditions);
}

/* Where a rule of this code stands among n of a size, else at the end. */
static size_t place_of(
    const void *rules, size_t n, size_t size, const char *code)
{
	for (size_t i = 0; i < n; i++) {
		/* The rule is what both begin with. */
		const struct sv_rule *rule =
		    (const void *)((const char *)rules + i * size);

		if (strcmp(rule->code, code) == 0)
			return i;
	}
	return n;
}

/*
 * Where a rule that was read goes: in place of an inherited one of its code,
 * else behind the others. NULL after a fault: too many, or a second one of the
 * same code in one file, which is a slip.
 */
static void *room_for(struct sv_fields *f, const char *where, const char *code,
    void *rules, size_t size, size_t inherited, size_t *n)
{
	char *first = rules, *own = first + inherited * size;
	size_t at;

	if (f->code != 0)
		return NULL;
	at = place_of(rules, inherited, size, code);
	if (at < inherited)
		return first + at * size;
	if (place_of(own, *n - inherited, size, code) < *n - inherited)
		sv_fields_fault(
		    f, where, "code", "\"%.40s\" is there a second time", code);
	if (f->code == 0 && *n == MAX_RULES)
		sv_fields_fault(f, where, "", "more than %d rules", MAX_RULES);
	return f->code == 0 ? first + (*n)++ * size : NULL;
}

static void read_bounds(
    struct sv_fields *f, const json_t *root, struct sv_spec *spec)
{
	json_t *list = sv_fields_array(f, root, "", "bounds", false), *one;
	size_t inherited = spec->n_bounds, i;

	json_array_foreach (list, i, one) {
		char where[SV_FIELDS_MAX_PATH];
		struct sv_bound bound = {.every = false}, *room;

		snprintf(where, sizeof where, "bounds[%zu]", i);
		read_bound(f, one, where, &bound);
		room = room_for(f, where, bound.rule.code, spec->bounds,
		    sizeof bound, inherited, &spec->n_bounds);
		if (room == NULL)
			return;
		*room = bound;
	}
}

static void read_environment(
    struct sv_fields *f, const json_t *root, struct sv_spec *spec)
{
	json_t *list = sv_fields_array(f, root, "", "environment", false), *one;
	size_t inherited = spec->n_expectations, i;

	json_array_foreach (list, i, one) {
		char where[SV_FIELDS_MAX_PATH];
		struct sv_expectation e = {.kind = SV_EXPECT_NUMBER}, *room;

		snprintf(where, sizeof where, "environment[%zu]", i);
		read_expectation(f, one, where, &e);
		room = room_for(f, where, e.rule.code, spec->expectations,
		    sizeof e, inherited, &spec->n_expectations);
		if (room == NULL)
			return;
		*room = e;
	}
}

static int take_file(const char *name_or_path, struct sv_spec *spec, int depth,
    struct sv_err *err);

/* What a file extends; a fault in it is one in the file that names it. */
static void read_base(
    struct sv_fields *f, const char *base, struct sv_spec *spec, int depth)
{
	struct sv_err cause = {0};
	int code = take_file(base, spec, depth + 1, &cause);

	if (code == 0)
		return;
	sv_fields_fault(f, "", "extends", "%.400s", cause.text);
	f->code = f->err->code = code;
}

static void read_root(
    struct sv_fields *f, const json_t *root, struct sv_spec *spec, int depth)
{
	const char *schema, *base;
	size_t n;

	if (!json_is_object(root)) {
		sv_fields_fault(f, "", "", "expected an object, found %s",
		    sv_fields_kind(root));
		return;
	}
	schema = sv_fields_text(f, root, "", "schema", true);
	if (f->code == 0 && strcmp(schema, SV_SPEC_SCHEMA) != 0)
		sv_fields_fault(f, "", "schema",
		    "expected \"" SV_SPEC_SCHEMA "\", found \"%.60s\"", schema);
	base = sv_fields_text(f, root, "", "extends", false);
	if (f->code == 0 && base != NULL) {
		if (depth + 1 >= MAX_DEPTH || strpbrk(base, "/.") != NULL)
			sv_fields_fault(f, "", "extends",
			    "expected the name of a shipped specification "
			    "that stands on its own, found \"%.60s\"",
			    base);
		else
			read_base(f, base, spec, depth);
	}
	spec->name = read_said(f, root, "", "name");
	spec->title = read_said(f, root, "", "title");
	if (base == NULL || sv_fields_present(root, "profile") != NULL)
		spec->profile = read_word(f, root, "", "profile", profiles, 3);
	if (f->code == 0 &&
	    (base == NULL || sv_fields_present(root, "benches") != NULL))
		spec->benches = read_words(f, root, "", "benches", &n);
	read_bounds(f, root, spec);
	read_environment(f, root, spec);
	if (f->code == 0 && spec->n_bounds + spec->n_expectations == 0)
		sv_fields_fault(f, "", "",
		    "expected bounds or environment, "
		    "found neither");
}

/* The rules of a text, put behind what is there. */
static int take_text(const char *text, size_t n_bytes, const char *name,
    struct sv_spec *spec, int depth, struct sv_err *err)
{
	struct sv_fields f = {.name = name, .r = spec->arena, .err = err};
	json_t *root = NULL;
	int code =
	    sv_json_parse(text, n_bytes, name, "a specification", &root, err);

	if (code != 0)
		return code;
	read_root(&f, root, spec, depth);
	json_decref(root);
	if (f.code != 0)
		sv_fields_tidy(err);
	return f.code;
}

static int take_file(const char *name_or_path, struct sv_spec *spec, int depth,
    struct sv_err *err)
{
	char path[PATH_MAX + NAME_MAX];
	char *bytes = NULL;
	size_t size = 0;
	int code =
	    sv_shipped_path(&specs, name_or_path, path, sizeof path, err);

	if (code == 0)
		code = sv_json_read_bytes(
		    path, "a specification", &bytes, &size, err);
	if (code == 0)
		code = take_text(bytes, size, path, spec, depth, err);
	free(bytes);
	return code;
}

static struct sv_spec *new_spec(struct sv_err *err)
{
	struct sv_spec *spec = calloc(1, sizeof *spec);

	if (spec != NULL) {
		spec->arena = sv_result_new();
		spec->bounds = calloc(MAX_RULES, sizeof *spec->bounds);
		spec->expectations =
		    calloc(MAX_RULES, sizeof *spec->expectations);
	}
	if (spec != NULL && spec->arena != NULL && spec->bounds != NULL &&
	    spec->expectations != NULL)
		return spec;
	sv_spec_free(spec);
	sv_err_set(err, SV_ERESOURCE, "specification: out of memory");
	return NULL;
}

int sv_spec_read(
    const char *name_or_path, struct sv_spec **out, struct sv_err *err)
{
	struct sv_spec *spec = new_spec(err);
	int code =
	    spec != NULL ? take_file(name_or_path, spec, 0, err) : SV_ERESOURCE;

	if (code != 0)
		sv_spec_free(spec);
	else
		*out = spec;
	return code;
}

int sv_spec_parse(const char *text, size_t n_bytes, const char *name,
    struct sv_spec **out, struct sv_err *err)
{
	struct sv_spec *spec = new_spec(err);
	int code = spec != NULL ? take_text(text, n_bytes, name, spec, 0, err)
				: SV_ERESOURCE;

	if (code != 0)
		sv_spec_free(spec);
	else
		*out = spec;
	return code;
}

void sv_spec_free(struct sv_spec *spec)
{
	if (spec == NULL)
		return;
	free(spec->bounds);
	free(spec->expectations);
	sv_result_free(spec->arena);
	free(spec);
}

int sv_spec_shipped(char ***out, struct sv_err *err)
{
	return sv_shipped_names(&specs, out, err);
}
