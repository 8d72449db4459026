/*
 * Explanations on the page, from documents of stave.explanation/1. They are
 * read as any foreign file is: what is missing is left out, what is of another
 * type is shown as it stands.
 */
#include <math.h>
#include <string.h>

#include "page.h"
#include "quantity.h"
#include "quote.h"
#include "stave/units.h"

static const char *text_at(json_t *object, const char *path)
{
	return json_string_value(sv_result_field(object, path));
}

static double number_at(json_t *object, const char *path)
{
	json_t *value = sv_result_field(object, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *seconds(double value, char out[static SV_QUANTITY_BYTES])
{
	/* What rounding leaves of nothing. */
	if (fabs(value) < 1e-12)
		value = 0.0;
	return sv_quantity(out, SV_QUANTITY_BYTES, value, SV_UNIT_SECONDS);
}

/* "<p>Name: text</p>", nothing without a text. */
static void put_line(FILE *out, const char *name, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	fprintf(out, "<p>%s", name);
	sv_quote_html(out, text);
	fputs("</p>\n", out);
}

static void put_lead(json_t *e, FILE *out)
{
	double speedup = number_at(e, "speedup.value");
	json_t *interval = sv_result_field(e, "speedup.ci95");
	const char *verdict = text_at(e, "speedup.verdict");
	char a[SV_QUANTITY_BYTES], b[SV_QUANTITY_BYTES];

	fputs("<p><strong>", out);
	if (verdict == NULL || isnan(speedup))
		fputs("The speed-up is unknown", out);
	else if (strcmp(verdict, "no_difference") == 0)
		fprintf(out, "No difference (%.2f times)", speedup);
	else
		fprintf(out, "B is %s: %.2f times the speed of A",
		    strcmp(verdict, "b_faster") == 0   ? "faster"
		    : strcmp(verdict, "b_slower") == 0 ? "slower"
						       : "of unknown worth",
		    speedup);
	if (json_array_size(interval) == 2)
		fprintf(out, " (95 %%: %.2f to %.2f)",
		    json_number_value(json_array_get(interval, 0)),
		    json_number_value(json_array_get(interval, 1)));
	fprintf(out, ".</strong> A step takes %s on A and %s on B.",
	    seconds(number_at(e, "a.step_s"), a),
	    seconds(number_at(e, "b.step_s"), b));
	if (text_at(e, "a.limiting") != NULL &&
	    text_at(e, "b.limiting") != NULL) {
		fputs(" What limits: ", out);
		sv_quote_html(out, text_at(e, "a.limiting"));
		fputs(" on A, ", out);
		sv_quote_html(out, text_at(e, "b.limiting"));
		fputs(" on B.", out);
	}
	fputs("</p>\n", out);
}

static void put_evidence(json_t *list, FILE *out)
{
	json_t *one;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	fputs("<details><summary>evidence</summary><ul class=\"small\">", out);
	json_array_foreach (list, i, one)
		if (json_is_string(one)) {
			fputs("<li>", out);
			sv_quote_html(out, json_string_value(one));
			fputs("</li>", out);
		}
	fputs("</ul></details>", out);
}

static void put_causes(json_t *causes, FILE *out)
{
	json_t *cause;
	size_t i;

	if (json_array_size(causes) == 0)
		return;
	fputs("<h4>Causes</h4><ol>", out);
	json_array_foreach (causes, i, cause) {
		double gain = number_at(cause, "gain.speedup");
		const char *code = text_at(cause, "code");

		fputs("<li><strong>", out);
		sv_quote_html(out, code != NULL ? code : "?");
		fputs("</strong>", out);
		put_line(out, "", text_at(cause, "claim"));
		put_line(
		    out, "<strong>Remedy:</strong> ", text_at(cause, "remedy"));
		if (gain >= 1.005)
			fprintf(out,
			    "<p class=\"small\">Worth %.2f times.</p>\n", gain);
		put_line(out, "<span class=\"muted\">To disprove it:</span> ",
		    text_at(cause, "falsify"));
		put_evidence(json_object_get(cause, "evidence"), out);
		fputs("</li>", out);
	}
	fputs("</ol>\n", out);
}

static void put_components(json_t *components, FILE *out)
{
	static const char *const keys[] = {
	    "a_s", "b_s", "share_s", "if_b_had_a_s"};
	json_t *one;
	size_t i;

	if (json_array_size(components) == 0)
		return;
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Components of a step\"><table><caption>Components "
	      "of a step; shares add up to the difference</caption><thead><tr>"
	      "<th scope=\"col\">component</th><th scope=\"col\" "
	      "class=\"n\">A</th><th scope=\"col\" class=\"n\">B</th><th "
	      "scope=\"col\" class=\"n\">share of the difference</th><th "
	      "scope=\"col\" class=\"n\">B\u2019s step with A\u2019s</th></tr>"
	      "</thead><tbody>\n",
	    out);
	json_array_foreach (components, i, one) {
		const char *name = text_at(one, "name");

		/* What is nothing on either side says nothing. */
		if (number_at(one, "a_s") == 0.0 &&
		    number_at(one, "b_s") == 0.0)
			continue;
		fputs("<tr><th scope=\"row\">", out);
		sv_quote_html(out, name != NULL ? name : "?");
		fputs("</th>", out);
		for (size_t k = 0; k < 4; k++) {
			char text[SV_QUANTITY_BYTES];
			double value = number_at(one, keys[k]);

			sv_page_number(out, value, seconds(value, text));
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

static void put_ruled_out(json_t *list, FILE *out)
{
	json_t *one;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	fputs("<details><summary>Ruled out</summary><ul>", out);
	json_array_foreach (list, i, one) {
		const char *code = text_at(one, "code");
		const char *why = text_at(one, "why");

		fputs("<li><strong>", out);
		sv_quote_html(out, code != NULL ? code : "?");
		fputs("</strong>: ", out);
		sv_quote_html(out, why != NULL ? why : "");
		fputs("</li>", out);
	}
	fputs("</ul></details>\n", out);
}

static void put_not_modelled(json_t *list, FILE *out)
{
	json_t *one;
	size_t i;
	const char *comma = "";

	if (json_array_size(list) == 0)
		return;
	fputs("<p class=\"small muted\">Not modelled: ", out);
	json_array_foreach (list, i, one)
		if (json_is_string(one)) {
			fputs(comma, out);
			sv_quote_html(out, json_string_value(one));
			comma = "; ";
		}
	fputs(".</p>\n", out);
}

/* "resnet50, batch 64, amp" */
static void put_name(json_t *e, FILE *out)
{
	const char *workload = text_at(e, "workload");
	const char *precision = text_at(e, "precision");
	double batch = number_at(e, "batch");

	sv_quote_html(out, workload != NULL ? workload : "workload");
	if (isfinite(batch))
		fprintf(out, ", batch %.0f", batch);
	if (precision != NULL) {
		fputs(", ", out);
		sv_quote_html(out, precision);
	}
}

static void put_explanation(json_t *e, FILE *out)
{
	put_lead(e, out);
	put_causes(json_object_get(e, "causes"), out);
	put_components(json_object_get(e, "components"), out);
	put_line(out, "Crossover: ", text_at(e, "crossover.why"));
	put_ruled_out(json_object_get(e, "ruled_out"), out);
	put_not_modelled(json_object_get(e, "not_modelled"), out);
}

static void put_summary_row(json_t *e, FILE *out)
{
	double speedup = number_at(e, "speedup.value");
	json_t *cause = json_array_get(json_object_get(e, "causes"), 0);
	char text[SV_QUANTITY_BYTES];

	fputs("<tr><th scope=\"row\">", out);
	put_name(e, out);
	fputs("</th>", out);
	sv_page_number(out, number_at(e, "a.step_s"),
	    seconds(number_at(e, "a.step_s"), text));
	sv_page_number(out, number_at(e, "b.step_s"),
	    seconds(number_at(e, "b.step_s"), text));
	snprintf(text, sizeof text, "%.2f", speedup);
	sv_page_number(out, speedup, isfinite(speedup) ? text : "\u2014");
	sv_page_cell(out, NULL, text_at(e, "b.limiting"));
	sv_page_cell(out, NULL, text_at(cause, "code"));
	fputs("</tr>\n", out);
}

/* Workloads in a line each, where there are several. */
static void put_summary(const struct sv_page *page, FILE *out)
{
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Workloads\"><table><caption>A training step by "
	      "the model, from the figures below; the slowest on B against A "
	      "first</caption><thead><tr><th scope=\"col\">workload</th><th "
	      "scope=\"col\" class=\"n\">A</th><th scope=\"col\" "
	      "class=\"n\">B</th><th scope=\"col\" class=\"n\">B over A</th>"
	      "<th scope=\"col\">limits B</th><th scope=\"col\">what holds B "
	      "back</th></tr></thead><tbody>\n",
	    out);
	for (size_t i = 0; i < page->n_explanations; i++)
		put_summary_row(page->explanations[i], out);
	fputs("</tbody></table></div>\n", out);
}

int sv_page_explanations(
    const struct sv_page *page, FILE *out, struct sv_err *err)
{
	size_t picture = 0;
	int code = 0;

	if (page->n_explanations == 0)
		return 0;
	fputs("<section aria-labelledby=\"explanation\"><h2 "
	      "id=\"explanation\">Explanation</h2>\n",
	    out);
	if (page->n_explanations > 1)
		put_summary(page, out);
	for (size_t i = 0; code == 0 && i < page->n_explanations; i++) {
		size_t n = page->n_explained != NULL ? page->n_explained[i] : 0;

		/* The first says most; the others are a click away. */
		fputs(i == 0 ? "<details open><summary><h3>"
			     : "<details><summary><h3>",
		    out);
		put_name(page->explanations[i], out);
		fputs("</h3></summary>\n", out);
		put_explanation(page->explanations[i], out);
		for (size_t k = 0; code == 0 && k < n; k++, picture++) {
			char prefix[24];

			snprintf(prefix, sizeof prefix, "e%zu-", picture);
			code = sv_page_picture(&page->explained[picture],
			    prefix, page->picture_note, out, err);
		}
		fputs("</details>\n", out);
	}
	fputs("</section>\n", out);
	return code;
}
