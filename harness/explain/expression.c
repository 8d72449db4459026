/*
 * A recursive descent to a list of operations in the order of a stack; see
 * the header. Compiled once, since the step model asks at many batches.
 */
#include "expression.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No shape needs more; a file that nests deeper means harm. */
#define MAX_OPERATIONS 64
#define MAX_DEPTH      16
#define MAX_TEXT       200

struct operation {
	char kind;    /* '#' number, 'B', '~' negate, or + - * / */
	double value; /* of a number */
};

struct sv_expression {
	size_t n;
	struct operation list[MAX_OPERATIONS];
};

struct parser {
	const char *text, *at;
	struct sv_expression *e;
	size_t depth;
	struct sv_err *err;
	int code;
};

static void refuse(struct parser *p, const char *expected)
{
	char found[16] = "the end";

	if (p->code != 0)
		return;
	if (*p->at != '\0')
		snprintf(found, sizeof found, "\"%c\"", *p->at);
	p->code =
	    sv_err_set(p->err, SV_EINPUT, "column %zu: expected %s, found %s",
		(size_t)(p->at - p->text) + 1, expected, found);
}

static void emit(struct parser *p, char kind, double value)
{
	if (p->e->n == MAX_OPERATIONS) {
		refuse(p, "at most 64 operations");
		return;
	}
	p->e->list[p->e->n++] = (struct operation){kind, value};
}

static void skip_space(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

static size_t digits(const char *text)
{
	size_t n = 0;

	while (isdigit((unsigned char)text[n]))
		n++;
	return n;
}

/* 12, 1.5, .5, 2e3: what JSON and people write; no hexadecimal, no "inf". */
static size_t number_length(const char *text)
{
	size_t whole = digits(text), n = whole, more;

	if (text[n] == '.') {
		more = digits(text + n + 1);
		if (whole + more == 0)
			return 0;
		n += 1 + more;
	}
	if (n > 0 && (text[n] == 'e' || text[n] == 'E')) {
		size_t sign = text[n + 1] == '+' || text[n + 1] == '-' ? 1 : 0;

		more = digits(text + n + 1 + sign);
		if (more > 0)
			n += 1 + sign + more;
	}
	return n;
}

static void parse_number(struct parser *p)
{
	char copy[MAX_TEXT + 1] = "";
	size_t n = number_length(p->at);
	double value;

	if (n == 0) {
		refuse(p, "a number, B or (");
		return;
	}
	memcpy(copy, p->at, n);
	value = strtod(copy, NULL);
	if (!isfinite(value)) {
		refuse(p, "a number that a double holds");
		return;
	}
	p->at += n;
	emit(p, '#', value);
}

static void parse_sum(struct parser *p);

static void parse_factor(struct parser *p)
{
	skip_space(p);
	if (p->code != 0)
		return;
	if (p->depth == MAX_DEPTH) {
		refuse(p, "at most 16 levels");
		return;
	}
	p->depth++;
	if (*p->at == 'B') {
		p->at++;
		emit(p, 'B', 0.0);
	} else if (*p->at == '-') {
		p->at++;
		parse_factor(p);
		emit(p, '~', 0.0);
	} else if (*p->at == '(') {
		p->at++;
		parse_sum(p);
		if (p->code == 0 && *p->at == ')')
			p->at++;
		else
			refuse(p, ")");
	} else {
		parse_number(p);
	}
	p->depth--;
	skip_space(p);
}

/* Operands joined by one of two operators, from left to right. */
static void parse_chain(
    struct parser *p, void (*operand)(struct parser *), const char *operators)
{
	operand(p);
	while (p->code == 0 && *p->at != '\0' &&
	       strchr(operators, *p->at) != NULL) {
		char kind = *p->at++;

		operand(p);
		emit(p, kind, 0.0);
	}
}

static void parse_product(struct parser *p)
{
	parse_chain(p, parse_factor, "*/");
}

static void parse_sum(struct parser *p)
{
	parse_chain(p, parse_product, "+-");
}

int sv_expression_new(
    const char *text, struct sv_expression **out, struct sv_err *err)
{
	struct parser p = {.text = text, .at = text, .err = err};

	if (strnlen(text, MAX_TEXT + 1) > MAX_TEXT)
		return sv_err_set(err, SV_EINPUT,
		    "expected at most %d characters, found more", MAX_TEXT);
	p.e = calloc(1, sizeof *p.e);
	if (p.e == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "expression: out of memory");
	parse_sum(&p);
	if (p.code == 0 && *p.at != '\0')
		refuse(&p, "+, -, *, / or the end");
	if (p.code != 0) {
		free(p.e);
		return p.code;
	}
	*out = p.e;
	return 0;
}

struct sv_expression *sv_expression_copy(const struct sv_expression *e)
{
	struct sv_expression *copy = e != NULL ? malloc(sizeof *copy) : NULL;

	if (copy != NULL)
		*copy = *e;
	return copy;
}

void sv_expression_free(struct sv_expression *e)
{
	free(e);
}

double sv_expression_at(const struct sv_expression *e, double batch)
{
	/* Every operation leaves at most one value more than it found. */
	double stack[MAX_OPERATIONS] = {0.0};
	size_t top = 0;

	for (size_t i = 0; i < e->n; i++) {
		char kind = e->list[i].kind;

		if (kind == '#' || kind == 'B') {
			stack[top++] = kind == 'B' ? batch : e->list[i].value;
			continue;
		}
		if (kind == '~') {
			stack[top - 1] = -stack[top - 1];
			continue;
		}
		top--;
		if (kind == '+')
			stack[top - 1] += stack[top];
		else if (kind == '-')
			stack[top - 1] -= stack[top];
		else if (kind == '*')
			stack[top - 1] *= stack[top];
		else
			stack[top - 1] /= stack[top];
	}
	return stack[0];
}
