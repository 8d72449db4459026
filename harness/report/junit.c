/*
 * A checklist as JUnit XML, which CI systems show: a failure is red, what
 * could not be told an error, what was not measured skipped. Source: the
 * schema of Jenkins' xUnit plugin, which others follow.
 */
#include "quote.h"
#include "report.h"

static void put_attribute(const char *name, const char *text, FILE *out)
{
	fprintf(out, " %s=\"", name);
	sv_quote_html(out, text);
	fputc('"', out);
}

static void put_outcome(const struct sv_finding *f, const char *what, FILE *out)
{
	fprintf(out, "   <%s", what);
	put_attribute("message", f->evidence, out);
	put_attribute("type", sv_finding_status_name(f->status), out);
	fputs(">expected: ", out);
	sv_quote_html(out, f->expected);
	fputs("\ncause: ", out);
	sv_quote_html(out, f->cause[0] != '\0' ? f->cause : f->code);
	fputs("\nseverity: ", out);
	sv_quote_html(out, f->severity);
	fputs("\ndo: ", out);
	sv_quote_html(out, f->remedy);
	fputs("\nnext: ", out);
	sv_quote_html(out, f->next_command);
	fprintf(out, "</%s>\n", what);
}

static void put_case(
    const struct sv_checklist *list, const struct sv_finding *f, FILE *out)
{
	fputs("  <testcase", out);
	put_attribute("classname", list->subject, out);
	put_attribute("name", f->code, out);
	fputs(">\n", out);
	switch (f->status) {
	case SV_FINDING_FAIL:
		put_outcome(f, "failure", out);
		break;
	case SV_FINDING_INCONCLUSIVE:
		put_outcome(f, "error", out);
		break;
	case SV_FINDING_SKIPPED:
		fputs("   <skipped", out);
		put_attribute("message", f->evidence, out);
		fputs("/>\n", out);
		break;
	default:
		break;
	}
	fputs("   <system-out>", out);
	sv_quote_html(out, f->title);
	fputs(": ", out);
	sv_quote_html(out, f->evidence);
	fputs("</system-out>\n  </testcase>\n", out);
}

void sv_report_junit(const struct sv_checklist *list, FILE *out)
{
	size_t failures = 0, errors = 0, skipped = 0;

	for (size_t i = 0; i < list->n; i++) {
		failures += list->findings[i].status == SV_FINDING_FAIL;
		errors += list->findings[i].status == SV_FINDING_INCONCLUSIVE;
		skipped += list->findings[i].status == SV_FINDING_SKIPPED;
	}
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
	      " <testsuite",
	    out);
	put_attribute("name", list->subject, out);
	fprintf(out,
	    " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
	    "skipped=\"%zu\">\n",
	    list->n, failures, errors, skipped);
	for (size_t i = 0; i < list->n; i++)
		put_case(list, &list->findings[i], out);
	fputs(" </testsuite>\n</testsuites>\n", out);
}
