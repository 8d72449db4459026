/*
 * A comparison in one paragraph: who wins where and by how much, what is not
 * clear and what would clear it, and of whom it speaks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "cut.h"

/* Lists of benches are cut here: a summary is no table. */
#define MOST_BENCHES 6
/* So much of a label is read in a sentence. */
#define MOST_LABEL   100

/* What the pairs of one bench with one verdict come to. */
struct extent {
	const char *bench;
	size_t n, of; /* with the verdict; pairs of the bench */
	double least, most;
};

static void widen(struct extent *e, double ratio)
{
	if (isnan(ratio))
		return;
	e->least = e->n == 0 ? ratio : fmin(e->least, ratio);
	e->most = e->n == 0 ? ratio : fmax(e->most, ratio);
	e->n++;
}

/* The bench that begins at pair *from, which moves to the next. */
static struct extent next_bench(
    const struct sv_comparison *c, enum sv_verdict verdict, size_t *from)
{
	struct extent e = {.bench = c->pairs[*from].a->bench};

	for (; *from < c->n_pairs &&
	       strcmp(c->pairs[*from].a->bench, e.bench) == 0;
	     (*from)++) {
		e.of++;
		if (c->pairs[*from].verdict == verdict)
			widen(&e, c->pairs[*from].ratio);
	}
	return e;
}

static void print_range(FILE *out, const struct extent *e)
{
	char least[32], most[32];

	snprintf(least, sizeof least, "%.2fx", e->least);
	snprintf(most, sizeof most, "%.2fx", e->most);
	fputs(least, out);
	if (strcmp(least, most) != 0)
		fprintf(out, " to %s", most);
}

/* "Better in gemm (3 of 4, 1.2x to 2x), …", pairs being sorted by bench. */
static void print_where(
    FILE *out, const struct sv_comparison *c, enum sv_verdict verdict)
{
	size_t shown = 0, more = 0;

	if (c->counts[verdict] == 0)
		return;
	for (size_t i = 0; i < c->n_pairs;) {
		struct extent e = next_bench(c, verdict, &i);

		if (e.n == 0)
			continue;
		if (shown == MOST_BENCHES) {
			more++;
			continue;
		}
		if (shown++ == 0)
			fputs(
			    verdict == SV_FASTER ? " Better in " : " Worse in ",
			    out);
		else
			fputs(", ", out);
		fprintf(out, "%s (%zu of %zu, ", e.bench, e.n, e.of);
		print_range(out, &e);
		fputc(')', out);
	}
	if (more > 0)
		fprintf(out, " and %zu benches more", more);
	fputc('.', out);
}

/* Unclear pairs by reason, in the order in which reasons come up. */
struct doubt {
	const char *reason;
	size_t n;
	struct extent ratios;
};

static size_t gather_doubts(
    const struct sv_comparison *c, struct doubt *doubts, size_t room)
{
	size_t n = 0, at;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct sv_pair *p = &c->pairs[i];

		if (p->verdict != SV_UNCLEAR)
			continue;
		for (at = 0; at < n; at++)
			if (strcmp(doubts[at].reason, p->reason) == 0)
				break;
		if (at == room)
			continue;
		if (at == n)
			doubts[n++] = (struct doubt){.reason = p->reason};
		doubts[at].n++;
		widen(&doubts[at].ratios, p->ratio);
	}
	return n;
}

static int by_length(const void *left, const void *right)
{
	long x = *(const long *)left, y = *(const long *)right;

	return (x > y) - (x < y);
}

/* How many rounds more would decide half of the pairs of a reason. */
static void print_further(
    FILE *out, const struct sv_comparison *c, const struct doubt *d)
{
	long *further = calloc(d->n + 1, sizeof *further);
	size_t n = 0;

	for (size_t i = 0; further != NULL && i < c->n_pairs; i++) {
		const struct sv_pair *p = &c->pairs[i];

		if (p->verdict == SV_UNCLEAR && p->further >= 0 &&
		    strcmp(p->reason, d->reason) == 0)
			further[n++] = p->further;
	}
	/* Those that no number decides come last. */
	if (n > 0 && 2 * n >= d->n) {
		qsort(further, n, sizeof *further, by_length);
		fprintf(out,
		    " (about %ld more rounds on each side would decide %s)",
		    further[(d->n + 1) / 2 - 1],
		    d->n == 1 ? "it" : "half of them");
	}
	free(further);
}

static void print_doubts(FILE *out, const struct sv_comparison *c)
{
	struct doubt doubts[16];
	size_t n = gather_doubts(c, doubts, 16);

	if (n == 0 || c->moved != NULL)
		return;
	fputs(" Unclear: ", out);
	for (size_t i = 0; i < n; i++) {
		const struct doubt *d = &doubts[i];

		fprintf(out, "%s%zu for %s", i > 0 ? "; " : "", d->n,
		    sv_reason_text(d->reason));
		print_further(out, c, d);
		if (strcmp(d->reason, "no_spread") == 0 && d->ratios.n > 0) {
			fputs(", with ratios of ", out);
			print_range(out, &d->ratios);
		}
	}
	fputc('.', out);
}

static int by_value(const void *left, const void *right)
{
	double x = *(const double *)left, y = *(const double *)right;

	return (x > y) - (x < y);
}

/* A lower clock or slower silicon: the middle ratio, with and without. */
static void print_clock(
    FILE *out, const struct sv_comparison *c, const char *bench)
{
	double *ratios = calloc(c->n_pairs + 1, sizeof *ratios);
	double clock = NAN;
	size_t n = 0;

	for (size_t i = 0; ratios != NULL && i < c->n_pairs; i++) {
		const struct sv_pair *p = &c->pairs[i];

		if (strcmp(p->a->bench, bench) != 0 || p->clock == NULL)
			continue;
		ratios[n++] = p->ratio;
		clock = p->ratio_cycles / p->ratio;
	}
	if (n > 0 && fabs(log(clock)) >= log(1.01)) {
		qsort(ratios, n, sizeof *ratios, by_value);
		fprintf(out,
		    " In %s the middle ratio is %.2fx, and %.2fx at one "
		    "clock.",
		    bench, ratios[n / 2], ratios[n / 2] * clock);
	}
	free(ratios);
}

static void print_scope(FILE *out, const struct sv_comparison *c)
{
	static const char *const sentences[] = {
	    [SV_SCOPE_SETTINGS] = "",
	    [SV_SCOPE_CARD] = " The hosts are alike: this is about the card.",
	    [SV_SCOPE_SYSTEM] = " The hosts differ: this is about card plus "
				"host, not the card alone.",
	    [SV_SCOPE_UNKNOWN] = " Not all is known of the hosts: this may be "
				 "about card plus host.",
	};

	fputs(sentences[c->scope], out);
	if (c->a->run.complete && c->b->run.complete)
		return;
	fputs(" One of the runs is incomplete.", out);
}

static void print_counts(FILE *out, const struct sv_comparison *c)
{
	const char *a = sv_comparison_label(c->a);
	const char *b = sv_comparison_label(c->b);

	if (c->n_pairs == 0)
		fprintf(out,
		    "No figure was measured alike on A (%.*s) and B "
		    "(%.*s): nothing can be compared.",
		    sv_cut(a, MOST_LABEL), a, sv_cut(b, MOST_LABEL), b);
	else
		fprintf(out,
		    "Of %zu figure%s measured on both, B (%.*s) is better "
		    "than A (%.*s) in %zu, worse in %zu and the same in "
		    "%zu; %zu %s unclear.",
		    c->n_pairs, c->n_pairs == 1 ? "" : "s",
		    sv_cut(b, MOST_LABEL), b, sv_cut(a, MOST_LABEL), a,
		    c->counts[SV_FASTER], c->counts[SV_SLOWER],
		    c->counts[SV_SAME], c->counts[SV_UNCLEAR],
		    c->counts[SV_UNCLEAR] == 1 ? "is" : "are");
}

/* What nearly fits is named, so that nobody looks for it in vain. */
static void print_mismatches(FILE *out, const struct sv_comparison *c)
{
	bool one = c->n_mismatched == 1;

	if (c->n_mismatched > 0)
		fprintf(out,
		    " %zu figure%s in library, tool or the like and %s not "
		    "compared.",
		    c->n_mismatched, one ? " differs" : "s differ",
		    one ? "is" : "are");
}

char *sv_comparison_text(const struct sv_comparison *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	print_counts(out, c);
	if (c->moved != NULL)
		fprintf(out,
		    " Nothing here holds: %s must be the same on both and is "
		    "not.",
		    c->moved);
	print_where(out, c, SV_FASTER);
	print_where(out, c, SV_SLOWER);
	print_doubts(out, c);
	print_mismatches(out, c);
	print_clock(out, c, "gemm");
	print_clock(out, c, "memory");
	if (c->n_pairs > 0)
		print_scope(out, c);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
