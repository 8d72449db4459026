/* Tables of figures, pairs, flags and skips; see page.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "quantity.h"
#include "quote.h"
#include "stave/units.h"
#include "text.h"

/* What each flag means, as `stave help` and the README have it. */
static const struct {
	const char *flag, *meaning;
} meanings[] = {
    {"noisy", "the interval is wider than the method wants"},
    {"bimodal", "the samples have two modes"},
    {"drift", "the rounds have a trend"},
    {"jump", "a round lies far from the others"},
    {"short", "fewer samples or rounds than the method wants"},
    {"cache_resident", "the data fits a cache: no figure of the memory"},
    {"throttled", "the hardware slowed down meanwhile"},
    {"above_reference",
	"more than 5 % above a theoretical ceiling: something is wrong"},
};

void sv_page_cell(FILE *out, const char *class, const char *text)
{
	if (class != NULL)
		fprintf(out, "<td class=\"%s\">", class);
	else
		fputs("<td>", out);
	sv_quote_html(out, text != NULL ? text : "\u2014");
	fputs("</td>", out);
}

void sv_page_number(FILE *out, double value, const char *text)
{
	fputs("<td class=\"n\" data-v=\"", out);
	if (isfinite(value))
		sv_quote_number(out, value);
	fputs("\">", out);
	sv_quote_html(out, text);
	fputs("</td>", out);
}

static void put_columns(
    const char *const *titles, const bool *numeric, size_t n, FILE *out)
{
	fputs("<thead><tr>", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out,
		    "<th scope=\"col\"%s><button type=\"button\">%s</button>"
		    "</th>",
		    numeric[i] ? " class=\"n\"" : "", titles[i]);
	fputs("</tr></thead><tbody>\n", out);
}

static void put_controls(
    const char *table, const char *const *choices, size_t n, FILE *out)
{
	fprintf(out,
	    "<div class=\"controls\" data-for=\"%s\"><label>Search <input "
	    "type=\"search\" placeholder=\"for example: transfer "
	    "pinned\"></label>",
	    table);
	if (n > 0)
		fputs("<label>Verdict <select><option value=\"\">all</option>",
		    out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "<option>%s</option>", choices[i]);
	if (n > 0)
		fputs("</select></label>", out);
	fputs(
	    "<span class=\"muted small\" role=\"status\"></span></div>\n", out);
}

/*
 * Bar from the middle, B worse to the left; full length is a factor of two.
 * The words beside it say the same.
 */
static void put_ratio_bar(const struct sv_pair *p, FILE *out)
{
	double steps =
	    isnan(p->ratio) ? 0.0 : fmin(fmax(log2(p->ratio), -1.0), 1.0);
	const char *class = p->verdict == SV_FASTER   ? "up"
			    : p->verdict == SV_SLOWER ? "down"
						      : "none";

	fprintf(out,
	    "<td><svg class=\"ratio\" viewBox=\"0 0 100 10\" "
	    "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect "
	    "class=\"%s\" x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"8\"/>"
	    "<path class=\"axis\" d=\"M50 0V10\"/></svg></td>",
	    class, 50.0 + fmin(steps, 0.0) * 50.0, fabs(steps) * 50.0);
}

static void put_flags(
    const struct sv_measurement *m, const char *side, FILE *out)
{
	if (m->check == SV_CHECK_FAIL)
		fprintf(out, "<span class=\"flag bad\">%scheck failed</span>",
		    side);
	for (size_t i = 0; i < m->n_flags; i++) {
		fprintf(out, "<span class=\"flag\">%s", side);
		sv_quote_html(out, m->flags[i]);
		fputs("</span>", out);
	}
}

static void put_pair(const struct sv_pair *p, FILE *out)
{
	const char *verdict = sv_verdict_name(p->verdict);
	char text[512];

	fprintf(out, "<tr data-k=\"%s\"><th scope=\"row\">", verdict);
	sv_quote_html(out, p->a->bench);
	fputs("</th>", out);
	sv_page_cell(out, NULL, p->a->metric);
	sv_page_cell(out, "p", sv_report_params(p->a, text, sizeof text));
	sv_page_number(out, p->a->summary.median,
	    sv_quantity(text, sizeof text, p->a->summary.median, p->a->unit));
	sv_page_number(out, p->b->summary.median,
	    sv_quantity(text, sizeof text, p->b->summary.median, p->b->unit));
	snprintf(
	    text, sizeof text, isnan(p->ratio) ? "\u2014" : "%.3f", p->ratio);
	sv_page_number(out, p->ratio, text);
	put_ratio_bar(p, out);
	if (isnan(p->lo))
		text[0] = '\0';
	else
		snprintf(text, sizeof text, "%.3f to %.3f", p->lo, p->hi);
	sv_page_number(out, p->lo, text);
	fprintf(out, "<td><span class=\"%s\">%s</span>", verdict, verdict);
	if (p->reason != NULL) {
		fputs(" <span class=\"muted\">", out);
		sv_quote_html(out, sv_reason_text(p->reason));
		fputs("</span>", out);
	}
	fputs("</td><td>", out);
	put_flags(p->a, "A: ", out);
	put_flags(p->b, "B: ", out);
	fputs("</td></tr>\n", out);
}

static void put_unpaired(
    const char *side, const char *const *ids, size_t n, FILE *out)
{
	if (n == 0)
		return;
	fprintf(out,
	    "<details><summary>Figures only in %s: %zu</summary><ul "
	    "class=\"small\">",
	    side, n);
	for (size_t i = 0; i < n; i++) {
		fputs("<li>", out);
		sv_quote_html(out, ids[i]);
		fputs("</li>", out);
	}
	fputs("</ul></details>\n", out);
}

void sv_page_pairs(const struct sv_page *page, FILE *out)
{
	static const char *const titles[] = {"bench", "metric", "parameters",
	    "A", "B", "B better by", "worse | better", "95 %", "verdict",
	    "flags"};
	static const bool numeric[] = {
	    false, false, false, true, true, true, false, true, false, false};
	static const char *const verdicts[] = {
	    "faster", "slower", "same", "unclear"};
	const struct sv_comparison *c = page->comparison;

	put_controls("pairs", verdicts, 4, out);
	fputs("<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Comparison\"><table id=\"pairs\" "
	      "class=\"sortable\"><caption>Every figure that both have; a "
	      "ratio above 1 means that B is better</caption>",
	    out);
	put_columns(titles, numeric, 10, out);
	for (size_t i = 0; i < c->n_pairs; i++)
		put_pair(&c->pairs[i], out);
	fputs("</tbody></table></div>\n", out);
	for (size_t i = 0; i < c->n_mismatched; i++) {
		fputs("<p class=\"small\">Not compared: ", out);
		sv_quote_html(out, c->mismatched[i].id);
		fputs(": ", out);
		sv_quote_html(out, c->mismatched[i].why);
		fputs("</p>\n", out);
	}
	put_unpaired("A", c->only_a, c->n_only_a, out);
	put_unpaired("B", c->only_b, c->n_only_b, out);
}

static void put_figure(const struct sv_measurement *m, FILE *out)
{
	static const char *const checks[] = {"none", "pass", "fail"};
	double half = (m->summary.ci95.hi - m->summary.ci95.lo) / 2.0;
	double share = m->has_reference && m->reference > 0.0
			   ? m->summary.median / m->reference
			   : NAN;
	char text[512];

	fputs("<tr><th scope=\"row\">", out);
	sv_quote_html(out, m->bench);
	fputs("</th>", out);
	sv_page_cell(out, NULL, m->metric);
	sv_page_cell(out, "p", sv_report_params(m, text, sizeof text));
	sv_page_number(out, m->summary.median,
	    sv_quantity(text, sizeof text, m->summary.median, m->unit));
	sv_report_spread(m, text, sizeof text);
	sv_page_number(out, half / fabs(m->summary.median), text);
	text[0] = '\0';
	if (isfinite(share))
		snprintf(text, sizeof text, "%.0f %%", 100.0 * share);
	sv_page_number(out, share, text);
	snprintf(text, sizeof text, "%zu", m->n_rounds);
	sv_page_number(out, (double)m->n_rounds, text);
	sv_page_cell(
	    out, m->check == SV_CHECK_FAIL ? "bad" : NULL, checks[m->check]);
	fputs("<td>", out);
	put_flags(m, "", out);
	fputs("</td></tr>\n", out);
}

void sv_page_figures(const struct sv_result *r, FILE *out)
{
	static const char *const titles[] = {"bench", "metric", "parameters",
	    "median", "95 %", "of reference", "rounds", "check", "flags"};
	static const bool numeric[] = {
	    false, false, false, true, true, true, true, false, false};

	put_controls("figures-table", NULL, 0, out);
	fputs("<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Figures\"><table id=\"figures-table\" "
	      "class=\"sortable\"><caption>Every figure, with half the width "
	      "of its interval</caption>",
	    out);
	put_columns(titles, numeric, 9, out);
	for (size_t i = 0; i < r->n_measurements; i++)
		put_figure(&r->measurements[i], out);
	fputs("</tbody></table></div>\n", out);
}

static size_t count_flag(const struct sv_result *r, const char *flag)
{
	size_t count = 0;

	for (size_t i = 0; i < r->n_measurements; i++)
		for (size_t j = 0; j < r->measurements[i].n_flags; j++)
			count += strcmp(r->measurements[i].flags[j], flag) == 0;
	return count;
}

/* A line a flag that is there, with what it means. */
static void put_flag_counts(const struct sv_page *page, FILE *out)
{
	bool any = false;

	for (size_t k = 0; k < sizeof meanings / sizeof meanings[0]; k++) {
		size_t counts[2] = {0}, total = 0;

		for (size_t i = 0; i < page->n_results; i++)
			total += counts[i] =
			    count_flag(page->results[i], meanings[k].flag);
		if (total == 0)
			continue;
		if (!any)
			fputs("<p>Nothing is dropped; what looks odd is "
			      "flagged:</p><ul>",
			    out);
		any = true;
		fprintf(out, "<li><strong>%s</strong>: %s (", meanings[k].flag,
		    meanings[k].meaning);
		for (size_t i = 0; i < page->n_results; i++) {
			fputs(i > 0 ? "; " : "", out);
			sv_quote_html(out, page->names[i]);
			fprintf(out, ": %zu", counts[i]);
		}
		fputs(")</li>", out);
	}
	fputs(any ? "</ul>\n" : "<p>No figure is flagged.</p>\n", out);
}

/* Skips of one bench and one reason are one line. */
static void put_skipped(const struct sv_result *r, FILE *out)
{
	if (r->n_skipped > 0)
		fputs("<p>Not measured:</p><ul>", out);
	for (size_t i = 0; i < r->n_skipped; i++) {
		size_t alike = sv_report_skipped_alike(r, i);

		if (alike == 0)
			continue;
		fputs("<li>", out);
		sv_quote_html(out, r->skipped[i].bench);
		fprintf(out, " (%zu): ", alike);
		sv_quote_html(out, r->skipped[i].reason);
		fputs("</li>", out);
	}
	if (r->n_skipped > 0)
		fputs("</ul>\n", out);
}

static void put_failures(const struct sv_result *r, FILE *out)
{
	for (size_t i = 0; i < r->n_failures; i++) {
		const struct sv_failure *f = &r->failures[i];

		fputs("<div class=\"note\"><strong>Failed:</strong> ", out);
		sv_quote_html(out, f->bench);
		fputs(": ", out);
		sv_quote_html(out, f->reason);
		if (f->log_tail != NULL && f->log_tail[0] != '\0') {
			fputs("<details><summary>end of its log</summary>"
			      "<pre>",
			    out);
			sv_quote_html(out, f->log_tail);
			fputs("</pre></details>", out);
		}
		fputs("</div>\n", out);
	}
}

void sv_page_flags(const struct sv_page *page, FILE *out)
{
	put_flag_counts(page, out);
	for (size_t i = 0; i < page->n_results; i++) {
		const struct sv_result *r = page->results[i];

		if (r->n_skipped == 0 && r->n_failures == 0)
			continue;
		fputs("<h3>", out);
		sv_quote_html(out, page->names[i]);
		fputs("</h3>\n", out);
		put_failures(r, out);
		put_skipped(r, out);
	}
}
