/*
 * A result against a specification: pure. A skipped check is never a pass, an
 * interval across a bound is no verdict, a failed check is a failure whatever
 * its figure says.
 */
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "checklist_parts.h"
#include "quantity.h"
#include "spec.h"

/* A path below machine or device; the object, and the rest of the path. */
static json_t *home_of(
    const struct sv_result *r, const char *path, const char **rest)
{
	*rest = strchr(path, '.') + 1;
	return strncmp(path, "device.", 7) == 0 ? r->device : r->machine;
}

/*
 * Turn shares into numbers; false, and a word of evidence, where what they
 * are shares of is not known.
 */
static bool resolve(const struct sv_result *r, const struct sv_limits *limits,
    struct sv_limits *out, struct sv_finding *f)
{
	const char *rest;
	json_t *home;
	double base;

	*out = *limits;
	if (limits->relative_to == NULL)
		return true;
	home = home_of(r, limits->relative_to, &rest);
	base = strcmp(limits->relative_to, "device.pcie.ceiling_Bps") == 0
		   ? sv_seen_ceiling(r)
		   : sv_seen_number(home, rest);
	if (!(base > 0.0)) {
		sv_say(
		    f, "%s: %s", limits->relative_to, sv_seen_why(home, rest));
		return false;
	}
	if (strncmp(limits->relative_to, "device.pcie.", 12) == 0 &&
	    sv_seen_truth(r->device, "pcie.trusted") == 0) {
		sv_say(f, "the link's registers are not trusted");
		return false;
	}
	out->at_least *= base;
	out->at_most *= base;
	return true;
}

/* "at least 21.0 GB/s (0.80 of device.pcie.ceiling_Bps); published: …" */
static void expect_limits(struct sv_finding *f, const struct sv_rule *rule,
    const struct sv_limits *asked, const struct sv_limits *now,
    const char *unit)
{
	char number[SV_QUANTITY_BYTES], share[120] = "";
	bool least = !isnan(now->at_least);
	double limit = least ? now->at_least : now->at_most;

	if (unit != NULL)
		sv_quantity(number, sizeof number, limit, unit);
	else
		snprintf(number, sizeof number, "%.6g", limit);
	if (asked->relative_to != NULL)
		snprintf(share, sizeof share, " (%.2f of %.80s)",
		    least ? asked->at_least : asked->at_most,
		    asked->relative_to);
	snprintf(f->expected, sizeof f->expected, "%s %s%s; %s: %.200s",
	    least ? "at least" : "at most", number, share, rule->basis,
	    rule->source);
}

static void begin(struct sv_finding *f, const struct sv_rule *rule)
{
	snprintf(f->code, sizeof f->code, "%s", rule->code);
	snprintf(f->title, sizeof f->title, "%.110s", rule->title);
	snprintf(f->severity, sizeof f->severity, "%s", rule->severity);
	snprintf(f->expected, sizeof f->expected, "%s: %.300s", rule->basis,
	    rule->source);
	snprintf(f->cause, sizeof f->cause, "%s", rule->cause);
	snprintf(f->remedy, sizeof f->remedy, "%.470s", rule->remedy);
	snprintf(f->next_command, sizeof f->next_command, "%.150s",
	    rule->next_command);
	f->status = SV_FINDING_INCONCLUSIVE;
}

/* Where an interval lies to the limits. */
static enum sv_finding_status place(
    double lo, double hi, const struct sv_limits *limits)
{
	if (hi < limits->at_least || lo > limits->at_most)
		return SV_FINDING_FAIL;
	if (lo < limits->at_least || hi > limits->at_most)
		return SV_FINDING_INCONCLUSIVE;
	return SV_FINDING_PASS;
}

/* One figure against limits; tells of it where it is not a plain pass. */
static enum sv_finding_status judge_figure(const struct sv_measurement *m,
    const struct sv_limits *limits, struct sv_finding *f)
{
	double lo = m->summary.ci95.lo, hi = m->summary.ci95.hi;
	enum sv_finding_status status;

	if (!isfinite(lo) || !isfinite(hi))
		lo = hi = m->summary.median;
	status = place(lo, hi, limits);
	sv_rest_on(f, m);
	sv_say(f, "%s", sv_figure_text(m));
	if (lo < hi) {
		char a[SV_QUANTITY_BYTES], b[SV_QUANTITY_BYTES];

		sv_say(f, "95 %% between %s and %s",
		    sv_quantity(a, sizeof a, lo, m->unit),
		    sv_quantity(b, sizeof b, hi, m->unit));
	}
	if (status == SV_FINDING_INCONCLUSIVE)
		sv_say(f, "the bound lies within: more rounds");
	/* The slowdown has a check of its own: this one cannot tell. */
	if (status == SV_FINDING_FAIL && sv_figure_flagged(m, "throttled")) {
		sv_say(f, "the card was slowed down while it was measured");
		status = SV_FINDING_INCONCLUSIVE;
	}
	return status;
}

/* Why nothing that fits was measured. */
static void tell_missing(const struct sv_result *r,
    const struct sv_bound *bound, struct sv_finding *f)
{
	size_t n = strcspn(bound->pattern, "/");

	f->status = SV_FINDING_SKIPPED;
	for (size_t i = 0; i < r->n_failures; i++)
		if (strlen(r->failures[i].bench) == n &&
		    strncmp(r->failures[i].bench, bound->pattern, n) == 0) {
			sv_say(f, "lost: %.200s", r->failures[i].reason);
			f->status = SV_FINDING_INCONCLUSIVE;
			return;
		}
	for (size_t i = 0; i < r->n_skipped; i++)
		if (strlen(r->skipped[i].bench) == n &&
		    strncmp(r->skipped[i].bench, bound->pattern, n) == 0) {
			sv_say(f, "skipped: %.200s", r->skipped[i].reason);
			return;
		}
	sv_say(f, "nothing that fits %.120s was measured", bound->pattern);
}

/* What the figures that fit say together of themselves. */
struct fitting {
	const struct sv_measurement *failed, *impossible;
	size_t usable;
};

static struct fitting look_over(const struct sv_result *r, const char *pattern)
{
	struct fitting seen = {NULL, NULL, 0};

	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (!sv_pattern_fits(pattern, m))
			continue;
		if (m->check == SV_CHECK_FAIL)
			seen.failed = m;
		else if (!sv_figure_usable(m))
			seen.impossible = m;
		else
			seen.usable += sv_figure_counts(pattern, m);
	}
	return seen;
}

/* The worst of all usable figures that fit. */
static void judge_every(const struct sv_result *r, const struct sv_bound *bound,
    const struct sv_limits *limits, struct sv_finding *f)
{
	static const int badness[] = {[SV_FINDING_PASS] = 0,
	    [SV_FINDING_INCONCLUSIVE] = 1,
	    [SV_FINDING_FAIL] = 2};

	f->status = SV_FINDING_PASS;
	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];
		struct sv_finding one = {.evidence = ""};
		enum sv_finding_status status;

		if (!sv_figure_counts(bound->pattern, m))
			continue;
		status = judge_figure(m, limits, &one);
		if (badness[status] > badness[f->status])
			f->status = status;
		if (status != SV_FINDING_PASS) {
			sv_rest_on(f, m);
			sv_say(f, "%.160s: %.200s", m->id, one.evidence);
		}
	}
	if (f->status == SV_FINDING_PASS)
		sv_say(f, "all figures that fit are within");
}

static void judge_bound(const struct sv_result *r, const struct sv_bound *bound,
    struct sv_finding *f)
{
	struct fitting seen = look_over(r, bound->pattern);
	const struct sv_measurement *best = sv_best_figure(r, bound->pattern);
	struct sv_limits limits;

	begin(f, &bound->rule);
	if (seen.failed != NULL) {
		sv_rest_on(f, seen.failed);
		sv_say(f, "%.200s failed its check: %.200s", seen.failed->id,
		    seen.failed->check_detail != NULL
			? seen.failed->check_detail
			: "no detail");
		f->status = SV_FINDING_FAIL;
		snprintf(f->cause, sizeof f->cause, "FAULTY_CARD");
		snprintf(f->remedy, sizeof f->remedy,
		    "wrong data outweighs any speed: repeat, then try another "
		    "card, driver or memory");
		return;
	}
	if (seen.usable == 0 && seen.impossible != NULL) {
		sv_rest_on(f, seen.impossible);
		sv_say(f,
		    "%s is physically impossible: a cache, or a kernel "
		    "that did nothing",
		    sv_figure_text(seen.impossible));
		return;
	}
	if (seen.usable == 0) {
		tell_missing(r, bound, f);
		return;
	}
	if (!resolve(r, &bound->limits, &limits, f)) {
		sv_rest_on(f, best);
		sv_say(f, "measured %s", sv_figure_text(best));
		return;
	}
	expect_limits(f, &bound->rule, &bound->limits, &limits, best->unit);
	if (bound->every)
		judge_every(r, bound, &limits, f);
	else
		f->status = judge_figure(best, &limits, f);
}

/* Words as a list for a person. */
static void join_words(const struct sv_expectation *e, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < e->n_words; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s%.60s",
		    i > 0 ? ", " : "", e->words[i]);
}

static void expect_words(struct sv_finding *f, const struct sv_expectation *e)
{
	static const char *const verbs[] = {[SV_EXPECT_ONE_OF] = "is one of",
	    [SV_EXPECT_FITS] = "fits one of",
	    [SV_EXPECT_LACKS] = "has none of"};
	char words[200];

	join_words(e, words, sizeof words);
	snprintf(f->expected, sizeof f->expected, "%.60s %s %s; %s: %.100s",
	    e->field, verbs[e->kind], words, e->rule.basis, e->rule.source);
}

static bool is_word(const struct sv_expectation *e, const char *text)
{
	for (size_t i = 0; i < e->n_words; i++)
		if (e->kind == SV_EXPECT_FITS
			? fnmatch(e->words[i], text, 0) == 0
			: strcmp(e->words[i], text) == 0)
			return true;
	return false;
}

/* A list that should have none of the words. */
static void judge_list(
    const struct sv_expectation *e, json_t *list, struct sv_finding *f)
{
	json_t *one;
	size_t i;

	f->status = SV_FINDING_PASS;
	json_array_foreach (list, i, one) {
		const char *text = json_string_value(one);

		if (text == NULL || !is_word(e, text))
			continue;
		sv_say(f, "%.60s", text);
		f->status = SV_FINDING_FAIL;
	}
	if (f->status == SV_FINDING_PASS)
		sv_say(f, "none of them was seen");
}

static void judge_value(
    const struct sv_expectation *e, json_t *value, struct sv_finding *f)
{
	const char *text = json_is_true(value)	  ? "true"
			   : json_is_false(value) ? "false"
						  : json_string_value(value);

	if (e->kind == SV_EXPECT_LACKS && json_is_array(value)) {
		judge_list(e, value, f);
	} else if (e->kind != SV_EXPECT_LACKS && text != NULL) {
		sv_say(f, "%.200s", text);
		f->status =
		    is_word(e, text) ? SV_FINDING_PASS : SV_FINDING_FAIL;
	} else {
		sv_say(f, "it is of another kind than expected");
	}
}

static void judge_number(const struct sv_result *r,
    const struct sv_expectation *e, json_t *value, struct sv_finding *f)
{
	struct sv_limits limits;
	double x = json_number_value(value);
	char size[SV_QUANTITY_BYTES];
	size_t n;

	if (!json_is_number(value)) {
		sv_say(f, "it is no number");
		return;
	}
	n = strlen(e->field);
	if (n > 6 && strcmp(e->field + n - 6, "_bytes") == 0)
		sv_say(f, "%s", sv_quantity_size(size, sizeof size, x));
	else
		sv_say(f, "%.6g", x);
	if (!resolve(r, &e->limits, &limits, f))
		return;
	expect_limits(f, &e->rule, &e->limits, &limits, NULL);
	f->status = place(x, x, &limits);
}

static void judge_expectation(const struct sv_result *r,
    const struct sv_expectation *e, struct sv_finding *f)
{
	json_t *value = NULL, *made = NULL;
	const char *rest = "";
	json_t *home = NULL;

	begin(f, &e->rule);
	if (e->kind != SV_EXPECT_NUMBER)
		expect_words(f, e);
	if (strcmp(e->field, "run.complete") == 0) {
		value = made = json_boolean(r->run.complete);
	} else if (strcmp(e->field, "run.origin") == 0) {
		value = made = json_string(r->run.origin);
	} else {
		home = home_of(r, e->field, &rest);
		value = sv_result_field(home, rest);
	}
	if (value == NULL || json_is_null(value))
		sv_say(f, "%.80s: %s", e->field, sv_seen_why(home, rest));
	else if (e->kind == SV_EXPECT_NUMBER)
		judge_number(r, e, value, f);
	else
		judge_value(e, value, f);
	json_decref(made);
}

static const char *verdict_of(const struct sv_checklist *list)
{
	bool open = list->n == 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->findings[i].status == SV_FINDING_FAIL)
			return "fail";
		open = open || list->findings[i].status != SV_FINDING_PASS;
	}
	return open ? "inconclusive" : "pass";
}

int sv_spec_judge(const struct sv_spec *spec, const struct sv_result *r,
    struct sv_checklist *out, struct sv_err *err)
{
	const char *device = sv_seen_text(r->device, "name");

	*out = (struct sv_checklist){.subject = ""};
	snprintf(out->subject, sizeof out->subject,
	    "%.60s, %.60s against %.50s%s",
	    r->run.label != NULL ? r->run.label : "a result",
	    device != NULL ? device : "unknown device", spec->name,
	    strcmp(r->run.origin, "measured") == 0 ? "" : " (not measured)");
	for (size_t i = 0; i < spec->n_expectations + spec->n_bounds; i++) {
		struct sv_finding *f = sv_checklist_add(out);

		if (f == NULL) {
			sv_checklist_fini(out);
			return sv_err_set(
			    err, SV_ERESOURCE, "checklist: out of memory");
		}
		if (i < spec->n_expectations)
			judge_expectation(r, &spec->expectations[i], f);
		else
			judge_bound(
			    r, &spec->bounds[i - spec->n_expectations], f);
		if (f->status == SV_FINDING_PASS)
			f->cause[0] = f->remedy[0] = f->next_command[0] = '\0';
	}
	sv_checklist_mend(out);
	out->verdict = verdict_of(out);
	return 0;
}
