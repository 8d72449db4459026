/* A checklist on a terminal: what was found first, then what is well. */
#include <string.h>

#include "report.h"
#include "text.h"

/* The status is set in so many columns, in every line. */
#define STATUS_COLUMNS 14

static const char *colour_of(enum sv_finding_status status)
{
	switch (status) {
	case SV_FINDING_OK:
	case SV_FINDING_PASS:
		return "\033[32m";
	case SV_FINDING_FAIL:
		return "\033[31m";
	case SV_FINDING_WARN:
		return "\033[33m";
	default:
		return "\033[2m";
	}
}

static void print_field(
    const char *name, const char *text, size_t width, FILE *out)
{
	char line[1024];

	if (text[0] == '\0')
		return;
	snprintf(line, sizeof line, "%s%s", name, text);
	fprintf(out, "%*s", STATUS_COLUMNS, "");
	sv_report_wrapped(line, width, STATUS_COLUMNS, out);
}

static void print_finding(
    const struct sv_finding *f, FILE *out, const struct sv_report_style *style)
{
	size_t width = sv_report_columns(style);
	const char *name = sv_finding_status_name(f->status);

	fprintf(out, "%s%s%s%*s", style->colour ? colour_of(f->status) : "",
	    name, style->colour ? "\033[0m" : "",
	    (int)(STATUS_COLUMNS - strlen(name)), "");
	fprintf(out, "%s  %s\n", f->code, f->title);
	print_field("", f->evidence, width, out);
	if (f->status == SV_FINDING_OK || f->status == SV_FINDING_PASS)
		return;
	if (f->status != SV_FINDING_UNKNOWN)
		print_field("expected: ", f->expected, width, out);
	print_field("cause: ", f->cause, width, out);
	print_field("do: ", f->remedy, width, out);
	print_field("next: ", f->next_command, width, out);
}

static size_t count(const struct sv_checklist *list, enum sv_finding_status s)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->findings[i].status == s;
	return n;
}

void sv_report_checklist(const struct sv_checklist *list, FILE *out,
    const struct sv_report_style *style)
{
	static const enum sv_finding_status order[] = {SV_FINDING_FAIL,
	    SV_FINDING_WARN, SV_FINDING_INCONCLUSIVE, SV_FINDING_PASS,
	    SV_FINDING_OK, SV_FINDING_SKIPPED, SV_FINDING_UNKNOWN};
	const char *between = "";

	fprintf(out, "%s: %s (", list->subject, list->verdict);
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		size_t n = count(list, order[i]);

		if (n == 0)
			continue;
		fprintf(out, "%s%zu %s", between, n,
		    sv_finding_status_name(order[i]));
		between = ", ";
	}
	fprintf(out, ")\n");
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		if (count(list, order[i]) > 0)
			fputc('\n', out);
		for (size_t j = 0; j < list->n; j++)
			if (list->findings[j].status == order[i])
				print_finding(&list->findings[j], out, style);
	}
}
