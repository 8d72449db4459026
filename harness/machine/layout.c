/* Reading hwloc's XML, as much of it as is of use; see the header. */
#include "layout.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than any machine's tree. */
#define MAX_DEPTH 64
/* A bitmap of 4096 processors takes 1408 characters. */
#define MAX_VALUE 16384

struct reading {
	struct sv_layout *layout;
	const char *at, *end, *name;
	size_t line;
	char open[MAX_DEPTH][24]; /* names of the elements we are in */
	size_t depth;
	bool seen; /* the root element */
	struct sv_err *err;
};

SV_PRINTF(2, 3)
static int fault(struct reading *r, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	for (char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	return sv_err_set(
	    r->err, SV_EINPUT, "%s: line %zu: %s", r->name, r->line, text);
}

static void skip_blanks(struct reading *r)
{
	while (r->at < r->end && isspace((unsigned char)*r->at))
		r->line += *r->at++ == '\n';
}

/* A name of letters, digits and the like; 0, or a fault. */
static int take_name(struct reading *r, char *out, size_t size)
{
	size_t n = 0;

	while (r->at < r->end &&
	       (isalnum((unsigned char)*r->at) || strchr("_-.:", *r->at)) &&
	       *r->at != '\0' && n + 1 < size)
		out[n++] = *r->at++;
	out[n] = '\0';
	return n > 0 ? 0 : fault(r, "expected a name");
}

/* name="value"; entities stay as they are: what we read has none. */
static int take_attribute(struct reading *r, char *name, size_t name_size,
    char *value, size_t value_size)
{
	int code = take_name(r, name, name_size);
	size_t n = 0;
	char quote;

	if (code != 0)
		return code;
	skip_blanks(r);
	if (r->at == r->end || *r->at++ != '=')
		return fault(r, "expected = behind %s", name);
	skip_blanks(r);
	if (r->at == r->end || (*r->at != '"' && *r->at != '\''))
		return fault(r, "expected a value in quotes for %s", name);
	quote = *r->at++;
	for (; r->at < r->end && *r->at != quote; r->at++) {
		if (*r->at == '<' || *r->at == '\0' || n + 1 == value_size)
			return fault(
			    r, "expected the end of the value of %s", name);
		r->line += *r->at == '\n';
		value[n++] = *r->at;
	}
	if (r->at == r->end)
		return fault(r, "expected the end of the value of %s", name);
	r->at++;
	value[n] = '\0';
	return 0;
}

/* The attributes of one element that are of use. */
struct element {
	char name[24], type[32], info_name[64], info_value[64];
	char cpus[MAX_VALUE];
	bool has_cpus;
	long long index, memory, cache, efficiency; /* -1 unknown */
};

/* A whole number that fits; -1 is what "unknown" is written as. */
static int take_number(
    struct reading *r, const char *name, const char *value, long long *out)
{
	char *end;

	errno = 0;
	*out = strtoll(value, &end, 10);
	if (end == value || *end != '\0' || errno != 0 || *out < -1)
		return fault(r, "%s: expected a whole number, found \"%.40s\"",
		    name, value);
	return 0;
}

static int keep(
    struct reading *r, struct element *e, const char *name, const char *value)
{
	const struct {
		const char *name;
		long long *number;
	} numbers[] = {{"os_index", &e->index}, {"local_memory", &e->memory},
	    {"cache_size", &e->cache}, {"forced_efficiency", &e->efficiency}};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (strcmp(name, numbers[i].name) == 0)
			return take_number(r, name, value, numbers[i].number);
	if (strcmp(name, "type") == 0) {
		snprintf(e->type, sizeof e->type, "%.31s", value);
	} else if (strcmp(name, "cpuset") == 0) {
		memcpy(e->cpus, value, strlen(value) + 1);
		e->has_cpus = true;
	} else if (strcmp(name, "name") == 0) {
		snprintf(e->info_name, sizeof e->info_name, "%.63s", value);
	} else if (strcmp(name, "value") == 0) {
		snprintf(e->info_value, sizeof e->info_value, "%.63s", value);
	}
	return 0;
}

/* The bitmap of an element, a new one. */
static int take_cpus(
    struct reading *r, const struct element *e, hwloc_bitmap_t *out)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	if (set == NULL)
		return sv_err_set(
		    r->err, SV_ERESOURCE, "%s: out of memory", r->name);
	if (!e->has_cpus || strncmp(e->cpus, "0x", 2) != 0 ||
	    hwloc_bitmap_sscanf(set, e->cpus) != 0 ||
	    hwloc_bitmap_last(set) < -1 ||
	    (hwloc_bitmap_last(set) == -1 && !hwloc_bitmap_iszero(set))) {
		hwloc_bitmap_free(set);
		return fault(r,
		    "cpuset: expected a bitmap (0x0000000f), "
		    "found \"%.40s\"",
		    e->has_cpus ? e->cpus : "nothing");
	}
	*out = set;
	return 0;
}

static int add_node(struct reading *r, const struct element *e)
{
	struct sv_layout *s = r->layout;
	struct sv_node *more;
	int code;

	if (s->n_nodes == SV_MAX_NODES || e->index < 0 || e->index > 1 << 20)
		return fault(r, "expected a NUMA node with an os_index");
	more = realloc(s->nodes, (s->n_nodes + 1) * sizeof *more);
	if (more == NULL)
		return sv_err_set(
		    r->err, SV_ERESOURCE, "%s: out of memory", r->name);
	s->nodes = more;
	more = &more[s->n_nodes];
	*more = (struct sv_node){.index = (unsigned)e->index,
	    .memory_bytes = e->memory > 0 ? (unsigned long long)e->memory : 0};
	code = take_cpus(r, e, &more->cpus);
	s->n_nodes += code == 0;
	return code;
}

static int add_object(struct reading *r, const struct element *e)
{
	struct sv_layout *s = r->layout;
	unsigned level;

	if (strcmp(e->type, "NUMANode") == 0)
		return add_node(r, e);
	s->packages += strcmp(e->type, "Package") == 0;
	s->cores += strcmp(e->type, "Core") == 0;
	s->threads += strcmp(e->type, "PU") == 0;
	/* L1iCache is none of these. */
	if (sscanf(e->type, "L%1uCache", &level) == 1 && e->cache > 0 &&
	    strcmp(e->type + 2, "Cache") == 0 && level > s->cache_level) {
		s->cache_level = level;
		s->cache_bytes = (unsigned long long)e->cache;
	}
	return 0;
}

static int add_kind(struct reading *r, const struct element *e)
{
	struct sv_layout *s = r->layout;
	struct sv_core_kind *kind;
	int code;

	if (s->n_kinds == SV_MAX_KINDS)
		return fault(r, "more kinds of cores than there are");
	kind = &s->kinds[s->n_kinds];
	*kind = (struct sv_core_kind){
	    .efficiency = e->efficiency >= 0 && e->efficiency < 1000
			      ? (int)e->efficiency
			      : -1};
	code = take_cpus(r, e, &kind->cpus);
	s->n_kinds += code == 0;
	return code;
}

/* What an element tells; info counts inside of a cpukind alone. */
static int take_in(struct reading *r, const struct element *e)
{
	const char *inside = r->depth > 0 ? r->open[r->depth - 1] : "";

	if (r->depth == 0) {
		if (r->seen || strcmp(e->name, "topology") != 0)
			return fault(
			    r, "expected one <topology>, found <%s>", e->name);
		r->seen = true;
	} else if (strcmp(e->name, "object") == 0) {
		return add_object(r, e);
	} else if (strcmp(e->name, "cpukind") == 0) {
		return add_kind(r, e);
	} else if (strcmp(e->name, "info") == 0 &&
		   strcmp(inside, "cpukind") == 0 &&
		   strcmp(e->info_name, "CoreType") == 0 &&
		   r->layout->n_kinds > 0) {
		struct sv_core_kind *kind =
		    &r->layout->kinds[r->layout->n_kinds - 1];

		snprintf(kind->type, sizeof kind->type, "%.31s", e->info_value);
	}
	return 0;
}

/* </name> */
static int close_element(struct reading *r)
{
	char name[24];
	int code = take_name(r, name, sizeof name);

	if (code != 0)
		return code;
	skip_blanks(r);
	if (r->at == r->end || *r->at++ != '>')
		return fault(r, "expected > behind </%s", name);
	if (r->depth == 0 || strcmp(r->open[r->depth - 1], name) != 0)
		return fault(r, "expected </%s>, found </%s>",
		    r->depth > 0 ? r->open[r->depth - 1] : "nothing", name);
	r->depth--;
	return 0;
}

/* <name a="b" …> or <name a="b" …/> */
static int open_element(struct reading *r)
{
	struct element e = {
	    .index = -1, .memory = -1, .cache = -1, .efficiency = -1};
	char name[64], value[MAX_VALUE];
	int code = take_name(r, e.name, sizeof e.name);

	for (skip_blanks(r);
	     code == 0 && r->at < r->end && *r->at != '>' && *r->at != '/';
	     skip_blanks(r)) {
		code =
		    take_attribute(r, name, sizeof name, value, sizeof value);
		if (code == 0)
			code = keep(r, &e, name, value);
	}
	if (code == 0)
		code = take_in(r, &e);
	if (code != 0)
		return code;
	if (r->at < r->end && *r->at == '/') {
		r->at++;
	} else {
		if (r->depth == MAX_DEPTH)
			return fault(r, "deeper than a machine is");
		memcpy(r->open[r->depth++], e.name, sizeof e.name);
	}
	if (r->at == r->end || *r->at++ != '>')
		return fault(r, "expected > behind <%s", e.name);
	return 0;
}

/* <?xml …?>, <!DOCTYPE …> and <!-- … -->, none of which tells anything. */
static int skip_declaration(struct reading *r)
{
	bool comment = r->end - r->at > 3 && strncmp(r->at, "!--", 3) == 0;

	for (; r->at < r->end; r->at++) {
		r->line += *r->at == '\n';
		if (*r->at == '>' &&
		    (!comment || strncmp(r->at - 2, "--", 2) == 0)) {
			r->at++;
			return 0;
		}
	}
	return fault(r, "expected the end of a declaration");
}

static int take_tag(struct reading *r)
{
	if (r->at == r->end)
		return fault(r, "expected a name behind <");
	if (*r->at == '?' || *r->at == '!')
		return skip_declaration(r);
	if (*r->at != '/')
		return open_element(r);
	r->at++;
	return close_element(r);
}

static int by_index(const void *a, const void *b)
{
	const struct sv_node *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

int sv_layout_parse(struct sv_layout *out, const char *xml, size_t n,
    const char *name, struct sv_err *err)
{
	struct reading r = {.layout = out,
	    .at = xml,
	    .end = xml + n,
	    .name = name,
	    .line = 1,
	    .err = err};
	int code = 0;

	*out = (struct sv_layout){.packages = 0};
	while (code == 0 && r.at < r.end) {
		char c = *r.at++;

		r.line += c == '\n';
		if (c == '<')
			code = take_tag(&r);
		else if (r.depth == 0 && !isspace((unsigned char)c))
			code = fault(&r, "expected a topology as hwloc "
					 "exports it (<topology …>)");
	}
	if (code == 0 && (r.depth > 0 || !r.seen))
		code = fault(&r, "expected %s%s, found the end",
		    r.depth > 0 ? "</" : "<",
		    r.depth > 0 ? r.open[r.depth - 1] : "topology");
	if (code == 0 && out->threads == 0)
		code = fault(&r, "expected a processor (an object PU)");
	if (code != 0)
		sv_layout_fini(out);
	else if (out->n_nodes > 0)
		qsort(out->nodes, out->n_nodes, sizeof *out->nodes, by_index);
	return code;
}

void sv_layout_fini(struct sv_layout *s)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		hwloc_bitmap_free(s->nodes[i].cpus);
	for (size_t i = 0; i < s->n_kinds; i++)
		hwloc_bitmap_free(s->kinds[i].cpus);
	free(s->nodes);
	*s = (struct sv_layout){.packages = 0};
}
