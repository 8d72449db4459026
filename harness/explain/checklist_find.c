/* Looking figures up by pattern, and findings as data; see checklist.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checklist_parts.h"

/* A figure this much above its ceiling is impossible: the contract's 5 %. */
#define IMPOSSIBLE 1.05

static bool glob(const char *pattern, size_t n, const char *text)
{
	char copy[256];

	if (n >= sizeof copy)
		return false;
	memcpy(copy, pattern, n);
	copy[n] = '\0';
	return fnmatch(copy, text, 0) == 0;
}

/* Whether a parameter has the value of "name=value". */
static bool has_param(
    const struct sv_measurement *m, const char *want, size_t n)
{
	const char *equals = memchr(want, '=', n);
	size_t name_n = equals != NULL ? (size_t)(equals - want) : n;

	for (size_t i = 0; equals != NULL && i < m->n_params; i++) {
		const struct sv_result_param *p = &m->params[i];
		char number[24];

		if (strlen(p->name) != name_n ||
		    memcmp(p->name, want, name_n) != 0)
			continue;
		snprintf(number, sizeof number, "%lld", (long long)p->number);
		return glob(equals + 1, n - name_n - 1,
		    p->text != NULL ? p->text : number);
	}
	return false;
}

bool sv_pattern_fits(const char *pattern, const struct sv_measurement *m)
{
	size_t bench_n = strcspn(pattern, "/?");
	const char *at = pattern + bench_n;
	size_t metric_n;

	if (!glob(pattern, bench_n, m->bench))
		return false;
	if (*at == '/') {
		metric_n = strcspn(++at, "?");
		if (!glob(at, metric_n, m->metric))
			return false;
		at += metric_n;
	}
	while (*at != '\0') {
		size_t n = strcspn(++at, "&");

		if (n > 0 && !has_param(m, at, n))
			return false;
		at += n;
	}
	return true;
}

bool sv_figure_flagged(const struct sv_measurement *m, const char *flag)
{
	for (size_t i = 0; i < m->n_flags; i++)
		if (strcmp(m->flags[i], flag) == 0)
			return true;
	return false;
}

bool sv_figure_usable(const struct sv_measurement *m)
{
	if (m->check == SV_CHECK_FAIL || !isfinite(m->summary.median) ||
	    sv_figure_flagged(m, "above_reference"))
		return false;
	return !m->has_reference || !m->higher_is_better ||
	       !(m->reference > 0.0) ||
	       m->summary.median <= IMPOSSIBLE * m->reference;
}

bool sv_figure_counts(const char *pattern, const struct sv_measurement *m)
{
	return sv_pattern_fits(pattern, m) && sv_figure_usable(m) &&
	       !sv_figure_flagged(m, "cache_resident");
}

const struct sv_measurement *sv_best_figure(
    const struct sv_result *r, const char *pattern)
{
	const struct sv_measurement *best = NULL;

	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (!sv_figure_counts(pattern, m))
			continue;
		if (best == NULL ||
		    (m->higher_is_better
			    ? m->summary.median > best->summary.median
			    : m->summary.median < best->summary.median))
			best = m;
	}
	return best;
}

long long sv_figure_param(
    const struct sv_measurement *m, const char *name, long long fallback)
{
	for (size_t i = 0; i < m->n_params; i++)
		if (strcmp(m->params[i].name, name) == 0 &&
		    m->params[i].text == NULL)
			return m->params[i].number;
	return fallback;
}

const char *sv_finding_status_name(enum sv_finding_status status)
{
	static const char *const names[] = {
	    "ok", "warn", "fail", "unknown", "pass", "inconclusive", "skipped"};

	return names[status];
}

struct sv_finding *sv_checklist_add(struct sv_checklist *list)
{
	struct sv_finding *more =
	    realloc(list->findings, (list->n + 1) * sizeof *more);

	if (more == NULL)
		return NULL;
	list->findings = more;
	more = &more[list->n++];
	*more = (struct sv_finding){.status = SV_FINDING_UNKNOWN};
	return more;
}

void sv_checklist_fini(struct sv_checklist *list)
{
	free(list->findings);
	*list = (struct sv_checklist){.subject = ""};
}

/* Bytes of the character that text begins with, 0 where it is cut. */
static size_t character(const char *text)
{
	unsigned char lead = (unsigned char)text[0];
	size_t n = lead < 0x80	  ? 1
		   : lead >= 0xf0 ? 4
		   : lead >= 0xe0 ? 3
		   : lead >= 0xc2 ? 2
				  : 0;

	for (size_t i = 1; i < n; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* Names that were cut to fit may have been cut inside a character. */
static void mend(char *text)
{
	while (*text != '\0') {
		size_t n = character(text);

		if (n == 0 || (unsigned char)*text < ' ')
			*text = '?';
		text += n > 0 ? n : 1;
	}
}

void sv_checklist_mend(struct sv_checklist *list)
{
	mend(list->subject);
	for (size_t i = 0; i < list->n; i++) {
		struct sv_finding *f = &list->findings[i];

		mend(f->title);
		mend(f->evidence);
		mend(f->expected);
		mend(f->remedy);
		mend(f->next_command);
	}
}

static json_t *finding_tree(const struct sv_finding *f)
{
	json_t *ids = json_array(), *tree;

	for (size_t i = 0; i < f->n_measurements; i++)
		json_array_append_new(ids, json_string(f->measurements[i]));
	tree = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}",
	    "code", f->code, "title", f->title, "status",
	    sv_finding_status_name(f->status), "severity", f->severity,
	    "evidence", f->evidence, "expected", f->expected, "remedy",
	    f->remedy, "next_command", f->next_command, "measurements", ids);
	if (f->cause[0] != '\0')
		json_object_set_new(tree, "cause", json_string(f->cause));
	return tree;
}

json_t *sv_checklist_to_json(const struct sv_checklist *list)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < list->n; i++)
		if (json_array_append_new(
			checks, finding_tree(&list->findings[i])) != 0) {
			json_decref(checks);
			return NULL;
		}
	return json_pack("{s:s, s:s, s:s, s:o}", "schema", SV_CHECKLIST_SCHEMA,
	    "subject", list->subject, "verdict", list->verdict, "checks",
	    checks);
}
