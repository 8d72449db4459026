/*
 * A recursive-descent reader that computes while it reads: an expression is
 * a handful of characters and is evaluated once a batch size, so there is no
 * tree to build.
 */
#include "expression.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Deep enough for anything a person writes; bounds the stack. */
#define MAX_DEPTH 64

struct reader {
	const char *text, *at;
	double batch;
	int depth;
	const char *expected; /* set by the first failure */
};

static double read_sum(struct reader *r);

static void skip_space(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

static double refuse(struct reader *r, const char *expected)
{
	if (r->expected == NULL)
		r->expected = expected;
	return 0.0;
}

static double read_group(struct reader *r)
{
	double value;

	if (++r->depth > MAX_DEPTH)
		return refuse(r, "fewer nested parentheses");
	r->at++;
	value = read_sum(r);
	skip_space(r);
	if (*r->at != ')')
		return refuse(r, "')'");
	r->at++;
	r->depth--;
	return value;
}

static double read_number(struct reader *r)
{
	char *end;
	double value;

	/* strtod also reads hexadecimal, "inf" and "nan"; a file may not. */
	if (r->at[0] == '0' && (r->at[1] == 'x' || r->at[1] == 'X'))
		return refuse(r, "a decimal number");
	value = strtod(r->at, &end);
	r->at = end;
	return value;
}

static double read_factor(struct reader *r)
{
	skip_space(r);
	if (r->expected != NULL)
		return 0.0;
	if (*r->at == '(')
		return read_group(r);
	if (*r->at == 'B') {
		r->at++;
		return r->batch;
	}
	if (isdigit((unsigned char)*r->at) || *r->at == '.')
		return read_number(r);
	return refuse(r, "a number, B or '('");
}

static double read_product(struct reader *r)
{
	double value = read_factor(r);

	for (;;) {
		skip_space(r);
		if (r->expected != NULL || (*r->at != '*' && *r->at != '/'))
			return value;
		bool divide = *r->at++ == '/';
		double next = read_factor(r);

		value = divide ? value / next : value * next;
	}
}

static double read_sum(struct reader *r)
{
	double value;

	skip_space(r);
	bool negative = *r->at == '-';

	if (negative)
		r->at++;
	value = read_product(r);
	if (negative)
		value = -value;
	for (;;) {
		skip_space(r);
		if (r->expected != NULL || (*r->at != '+' && *r->at != '-'))
			return value;
		bool minus = *r->at++ == '-';
		double next = read_product(r);

		value = minus ? value - next : value + next;
	}
}

int sv_expression_value(
    const char *text, double batch, double *out, struct sv_err *err)
{
	struct reader r = {.text = text, .at = text, .batch = batch};
	double value = read_sum(&r);

	if (r.expected == NULL) {
		skip_space(&r);
		if (*r.at != '\0')
			refuse(&r, "an operator or the end");
	}
	if (r.expected != NULL)
		return sv_err_set(err, SV_EINPUT,
		    "expression \"%.80s\": character %ld: expected %s", text,
		    (long)(r.at - text) + 1, r.expected);
	if (!isfinite(value))
		return sv_err_set(err, SV_EINPUT,
		    "expression \"%.80s\": not a finite number at B = %g", text,
		    batch);
	*out = value;
	return 0;
}
