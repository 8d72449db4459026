/* The page of a report: its frame, its verdict, its pictures; see page.h. */
#include "page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "export.h"
#include "quantity.h"
#include "quote.h"
#include "report.h"
#include "sha256.h"
#include "stave/version.h"
#include "text.h"
#include "validity.h"

/* Columns of a label in a heading; the whole one is under "Method". */
#define NAME_COLUMNS 40

/* Of the largest gains and losses, so many are said first. */
#define MOST_SAID 5

static void name_results(struct sv_page *page)
{
	for (size_t i = 0; i < page->n_results; i++) {
		const char *label = page->results[i]->run.label;
		char cut[SV_FIGURE_TEXT - 8];

		sv_quote_cut(cut, sizeof cut,
		    label != NULL && label[0] != '\0' ? label : "no label",
		    NAME_COLUMNS);
		if (page->n_results > 1)
			snprintf(page->names[i], sizeof page->names[i],
			    "%c (%s)", (int)('A' + i), cut);
		else
			snprintf(
			    page->names[i], sizeof page->names[i], "%s", cut);
	}
}

static void put_title(const struct sv_page *page, FILE *out)
{
	sv_quote_html(out, page->names[0]);
	if (page->n_results > 1) {
		fputs(" against ", out);
		sv_quote_html(out, page->names[1]);
	}
}

/* Only the script of this page may run, and nothing may be loaded. */
static void put_policy(FILE *out)
{
	unsigned char digest[SV_SHA256_BYTES];

	sv_sha256(sv_asset_page_js, strlen(sv_asset_page_js), digest);
	fputs("<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'; "
	      "img-src data:; base-uri 'none'; form-action 'none'; script-src "
	      "'sha256-",
	    out);
	sv_quote_base64(out, digest, sizeof digest);
	fputs("'\">\n", out);
}

static void put_head(const struct sv_page *page, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\" class=\"no-script\">\n<head>"
	      "\n<meta charset=\"utf-8\">\n",
	    out);
	put_policy(out);
	fputs("<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n"
	      "<title>stave: ",
	    out);
	put_title(page, out);
	fputs("</title>\n<style>\n", out);
	fputs(sv_asset_page_css, out);
	fputs("</style>\n</head>\n<body>\n<a class=\"skip\" "
	      "href=\"#verdict\">Skip to the verdict</a>\n<header><div "
	      "class=\"bar\"><h1>",
	    out);
	put_title(page, out);
	fputs("</h1><button type=\"button\" id=\"theme\" "
	      "class=\"theme\">Theme</button></div>\n<nav "
	      "aria-label=\"Sections\"><ul><li><a "
	      "href=\"#verdict\">Verdict</a></li>",
	    out);
	if (page->n_explanations > 0)
		fputs("<li><a href=\"#explanation\">Explanation</a></li>", out);
	fputs("<li><a href=\"#machines\">Machines</a></li><li><a "
	      "href=\"#figures\">Figures</a></li><li><a "
	      "href=\"#pictures\">Pictures</a></li><li><a "
	      "href=\"#flags\">Flags and skips</a></li><li><a "
	      "href=\"#method\">Method</a></li><li><a "
	      "href=\"#data\">Data</a></li></ul></nav></header>\n<main>\n",
	    out);
}

/* What must be known before any figure is believed. */
static void put_notes(const struct sv_page *page, FILE *out)
{
	for (size_t i = 0; i < page->n_results; i++) {
		struct sv_validity v;

		sv_validity_judge(page->results[i], &v);
		fprintf(out, "<p class=\"%s\"><strong>",
		    v.n > 0 ? "note" : "small");
		sv_quote_html(out, page->names[i]);
		fputs(v.n > 0 ? "</strong> is a draft, not publishable: "
			      : "</strong> is publishable.",
		    out);
		for (size_t k = 0; k < v.n; k++) {
			fputs(k > 0 ? "; " : "", out);
			sv_quote_html(out, v.reasons[k]);
		}
		fputs(v.n > 0 ? ".</p>\n" : "</p>\n", out);
	}
}

static void put_tile(FILE *out, size_t n, const char *class, const char *word)
{
	fprintf(out,
	    "<div class=\"tile\"><b>%zu</b><span class=\"%s\">%s</span>"
	    "</div>",
	    n, class, word);
}

/* The next most extreme pair of a verdict beyond the last one; or NULL. */
static const struct sv_pair *next_extreme(const struct sv_comparison *c,
    enum sv_verdict verdict, const struct sv_pair *last)
{
	const struct sv_pair *found = NULL;
	double sign = verdict == SV_FASTER ? 1.0 : -1.0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct sv_pair *p = &c->pairs[i];
		/* Among equals the order of the pairs decides. */
		bool is_beyond = last == NULL ||
				 sign * p->ratio < sign * last->ratio ||
				 (p->ratio == last->ratio && p > last);

		if (p->verdict == verdict && is_beyond &&
		    (found == NULL || sign * p->ratio > sign * found->ratio))
			found = p;
	}
	return found;
}

static void put_extremes(const struct sv_comparison *c, enum sv_verdict verdict,
    const char *title, FILE *out)
{
	const struct sv_pair *p = next_extreme(c, verdict, NULL);

	if (p == NULL)
		return;
	fprintf(out, "<h3>%s</h3><ol>", title);
	for (int i = 0; p != NULL && i < MOST_SAID; i++) {
		char params[512], a[SV_QUANTITY_BYTES], b[SV_QUANTITY_BYTES];

		fprintf(out, "<li><span class=\"%s\">%.2f times</span> ",
		    sv_verdict_name(verdict), p->ratio);
		sv_quote_html(out, p->a->bench);
		fputc(' ', out);
		sv_quote_html(out, p->a->metric);
		fputs(" <span class=\"muted\">", out);
		sv_quote_html(
		    out, sv_report_params(p->a, params, sizeof params));
		fputs("</span>: ", out);
		sv_quote_html(out,
		    sv_quantity(a, sizeof a, p->a->summary.median, p->a->unit));
		fputs(" \u2192 ", out);
		sv_quote_html(out,
		    sv_quantity(b, sizeof b, p->b->summary.median, p->b->unit));
		fputs("</li>", out);
		p = next_extreme(c, verdict, p);
	}
	fputs("</ol>\n", out);
}

/* Errors: SV_ERESOURCE. */
static int put_comparison_verdict(
    const struct sv_comparison *c, FILE *out, struct sv_err *err)
{
	char *text = sv_comparison_text(c);

	if (text == NULL)
		return sv_err_set(err, SV_ERESOURCE, "report: out of memory");
	fputs("<p><strong>", out);
	sv_quote_html(out, text);
	fputs("</strong></p>\n<div class=\"tiles\">", out);
	free(text);
	put_tile(out, c->counts[SV_FASTER], "faster", "B better");
	put_tile(out, c->counts[SV_SLOWER], "slower", "B worse");
	put_tile(out, c->counts[SV_SAME], "same", "no difference");
	put_tile(out, c->counts[SV_UNCLEAR], "unclear", "cannot tell");
	fputs("</div>\n", out);
	put_extremes(c, SV_SLOWER, "Largest losses of B", out);
	put_extremes(c, SV_FASTER, "Largest gains of B", out);
	return 0;
}

static void put_result_verdict(const struct sv_result *r, FILE *out)
{
	size_t flagged = 0, wrong = 0;

	for (size_t i = 0; i < r->n_measurements; i++) {
		flagged += r->measurements[i].n_flags > 0;
		wrong += r->measurements[i].check == SV_CHECK_FAIL;
	}
	fputs("<div class=\"tiles\">", out);
	put_tile(out, r->n_measurements, "muted", "figures");
	put_tile(out, flagged, "muted", "of them flagged");
	put_tile(out, wrong, wrong > 0 ? "bad" : "muted", "failed checks");
	put_tile(out, r->n_skipped, "muted", "cases skipped");
	put_tile(out, r->n_failures, r->n_failures > 0 ? "bad" : "muted",
	    "cases failed");
	fputs("</div>\n", out);
}

static int put_verdict(
    const struct sv_page *page, FILE *out, struct sv_err *err)
{
	int code = 0;

	fputs("<section aria-labelledby=\"verdict\"><h2 "
	      "id=\"verdict\">Verdict</h2>\n",
	    out);
	if (page->comparison != NULL)
		code = put_comparison_verdict(page->comparison, out, err);
	else
		put_result_verdict(page->results[0], out);
	put_notes(page, out);
	fputs("</section>\n", out);
	return code;
}

int sv_page_picture(const struct sv_page_picture *picture, const char *prefix,
    const char *note, FILE *out, struct sv_err *err)
{
	char *label = NULL;
	size_t n = 0;
	FILE *text = open_memstream(&label, &n);
	bool drawn = false;

	if (text == NULL)
		return sv_err_set(err, SV_ERESOURCE, "report: out of memory");
	sv_figure_describe(picture->figure, text);
	if (fclose(text) != 0) {
		free(label);
		return sv_err_set(err, SV_ERESOURCE, "report: out of memory");
	}
	fputs("<figure>", out);
	if (picture->svg != NULL) {
		fputs("<div class=\"plot\" tabindex=\"0\" role=\"group\" "
		      "aria-label=\"",
		    out);
		sv_quote_html(out, picture->figure->title);
		fputs("\">", out);
		drawn = sv_page_svg(
		    picture->svg, picture->n_svg, prefix, label, out);
		fputs("</div>", out);
	}
	if (!drawn) {
		fputs("<p class=\"note\">", out);
		sv_quote_html(out, picture->figure->title);
		fputs(": no picture. ", out);
		sv_quote_html(out, picture->svg != NULL
				       ? "The drawing holds more than plain "
					 "lines and text"
				   : note != NULL ? note
						  : "It was not drawn");
		fputs(".</p>", out);
	}
	fputs("<figcaption><details><summary>In words</summary>", out);
	sv_quote_html(out, label);
	fputs("</details></figcaption></figure>\n", out);
	free(label);
	return 0;
}

static int put_pictures(
    const struct sv_page *page, FILE *out, struct sv_err *err)
{
	int code = 0;

	fputs("<section aria-labelledby=\"pictures\"><h2 "
	      "id=\"pictures\">Pictures</h2>\n",
	    out);
	if (page->n_pictures == 0)
		fputs("<p>There is nothing to draw.</p>\n", out);
	for (size_t i = 0; code == 0 && i < page->n_pictures; i++) {
		char prefix[24];

		snprintf(prefix, sizeof prefix, "p%zu-", i);
		code = sv_page_picture(
		    &page->pictures[i], prefix, page->picture_note, out, err);
	}
	fputs("</section>\n", out);
	return code;
}

static void put_fact(FILE *out, const char *name, const struct sv_page *page,
    const char *const *texts)
{
	fprintf(out, "<tr><th scope=\"row\">%s</th>", name);
	for (size_t i = 0; i < page->n_results; i++)
		sv_page_cell(out, "v", texts[i]);
	fputs("</tr>\n", out);
}

/* Where published figures come from. */
static void put_sources(const struct sv_page *page, FILE *out)
{
	for (size_t i = 0; i < page->n_results; i++) {
		const struct sv_run_info *run = &page->results[i]->run;

		for (size_t k = 0; k < run->n_sources; k++) {
			const struct sv_source *s = &run->sources[k];

			fputs("<p class=\"small\">Source of ", out);
			sv_quote_html(out, page->names[i]);
			fputs(": ", out);
			sv_quote_html(out, s->title);
			/* As text: a link may be anything. */
			if (s->where != NULL) {
				fputs(", ", out);
				sv_quote_html(out, s->where);
			}
			if (s->retrieved != NULL) {
				fputs(", retrieved ", out);
				sv_quote_html(out, s->retrieved);
			}
			fputs("</p>\n", out);
		}
	}
}

static void put_method(const struct sv_page *page, FILE *out)
{
	const char *texts[8][2] = {{NULL}};

	for (size_t i = 0; i < page->n_results; i++) {
		const struct sv_run_info *run = &page->results[i]->run;

		texts[0][i] = run->label;
		texts[1][i] = run->id;
		texts[2][i] = run->origin;
		texts[3][i] = run->profile;
		texts[4][i] = run->started;
		texts[5][i] = run->finished;
		texts[6][i] = run->version;
		texts[7][i] = run->revision;
	}
	fputs("<section aria-labelledby=\"method\"><h2 id=\"method\">Method "
	      "and versions</h2>\n<p>A round is a fresh process; the figure is "
	      "the median of the rounds' medians, with the interval of its "
	      "order statistics at 95 % or better. Results are verified after "
	      "timing, and nothing is dropped: what looks odd is flagged.</p>"
	      "\n<p>Pairs are compared by the Hodges-Lehmann ratio over rounds "
	      "with its exact interval and by exact Mann-Whitney tests, "
	      "corrected by Holm for the headline metrics and by "
	      "Benjamini-Hochberg for the rest. A difference counts when it is "
	      "significant and at least 2 %; a latency is the same until its "
	      "interval reaches 5 %. "
	      "\u201cUnclear\u201d is an answer.</p>\n<div "
	      "class=\"scroll\"><table><caption>The runs</caption><thead><tr>"
	      "<th scope=\"col\">of the run</th>",
	    out);
	for (size_t i = 0; i < page->n_results; i++) {
		fputs("<th scope=\"col\">", out);
		sv_quote_html(out, page->names[i]);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
	static const char *const names[] = {"label", "id", "origin", "profile",
	    "started", "finished", "stave", "revision"};
	for (size_t i = 0; i < 8; i++)
		put_fact(out, names[i], page, texts[i]);
	fputs("</tbody></table></div>\n", out);
	put_sources(page, out);
	fputs("<p class=\"small muted\">Page made by stave " SV_VERSION
	      " (" SV_REVISION ").</p></section>\n",
	    out);
}

/* A file within the page; the bytes are freed. */
static void put_download(FILE *out, const char *name, const char *type,
    const char *what, char *bytes, size_t n)
{
	fprintf(
	    out, "<li><a download=\"%s\" href=\"data:%s;base64,", name, type);
	sv_quote_base64(out, bytes, n);
	fprintf(out, "\">%s</a> <span class=\"muted\">%s, %zu kB</span></li>\n",
	    name, what, (n + 999) / 1000);
	free(bytes);
}

static int put_result_download(
    const struct sv_page *page, size_t i, FILE *out, struct sv_err *err)
{
	char *bytes = NULL, name[40];
	size_t n = 0;
	FILE *text = open_memstream(&bytes, &n);
	int code;

	if (text == NULL)
		return sv_err_set(err, SV_ERESOURCE, "report: out of memory");
	code = sv_result_print(page->results[i], text, SV_KEEP_SUMMARY, err);
	fclose(text);
	if (code != 0) {
		free(bytes);
		return code;
	}
	snprintf(name, sizeof name, "%s.json",
	    page->n_results < 2 ? "result"
	    : i == 0		? "a"
				: "b");
	put_download(out, name, "application/json",
	    "the result with every round; raw samples are in the file it was "
	    "made from",
	    bytes, n);
	return 0;
}

static int put_data(const struct sv_page *page, FILE *out, struct sv_err *err)
{
	char *bytes = NULL;
	size_t n = 0;
	FILE *text;
	int code = 0;

	fputs("<section aria-labelledby=\"data\"><h2 id=\"data\">Data</h2>\n"
	      "<ul class=\"downloads\">",
	    out);
	for (size_t i = 0; code == 0 && i < page->n_results; i++)
		code = put_result_download(page, i, out, err);
	text = code == 0 ? open_memstream(&bytes, &n) : NULL;
	if (code == 0 && text == NULL)
		code = sv_err_set(err, SV_ERESOURCE, "report: out of memory");
	if (code == 0 && page->comparison != NULL)
		sv_report_comparison_csv(page->comparison, text);
	else if (code == 0)
		code = sv_export_csv(page->results[0], text, err);
	if (text != NULL)
		fclose(text);
	if (code == 0)
		put_download(out,
		    page->comparison != NULL ? "comparison.csv" : "result.csv",
		    "text/csv", "for spreadsheets", bytes, n);
	else
		free(bytes);
	fputs("</ul></section>\n", out);
	return code;
}

static int put_figures(
    const struct sv_page *page, FILE *out, struct sv_err *err)
{
	int code;

	fputs("<section aria-labelledby=\"machines\"><h2 "
	      "id=\"machines\">Machines</h2>\n",
	    out);
	code = sv_page_machines(page, out, err);
	fputs("</section>\n<section aria-labelledby=\"figures\"><h2 "
	      "id=\"figures\">Figures</h2>\n",
	    out);
	if (page->comparison != NULL)
		sv_page_pairs(page, out);
	else
		sv_page_figures(page->results[0], out);
	fputs("</section>\n", out);
	return code;
}

int sv_page_print(const struct sv_page *given, FILE *out, struct sv_err *err)
{
	struct sv_page page = *given;
	int code;

	name_results(&page);
	put_head(&page, out);
	code = put_verdict(&page, out, err);
	if (code == 0)
		code = sv_page_explanations(&page, out, err);
	if (code == 0)
		code = put_figures(&page, out, err);
	if (code == 0)
		code = put_pictures(&page, out, err);
	if (code == 0) {
		fputs("<section aria-labelledby=\"flags\"><h2 "
		      "id=\"flags\">Flags and skips</h2>\n",
		    out);
		sv_page_flags(&page, out);
		fputs("</section>\n", out);
		put_method(&page, out);
		code = put_data(&page, out, err);
	}
	fputs("</main>\n<footer><p>Figures are SI: 1 GB/s is 1e9 bytes a "
	      "second. This page needs no network.</p></footer>\n<script>",
	    out);
	fputs(sv_asset_page_js, out);
	fputs("</script>\n</body>\n</html>\n", out);
	return code;
}
