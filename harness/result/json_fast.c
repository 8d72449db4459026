/*
 * Result files are millions of numbers, and the general reader spends most of
 * its time on what they never hold. This one takes plain files several times
 * faster; of whatever is out of the ordinary (escapes, characters beyond
 * ASCII, long keys, whole numbers of more than 18 digits, deep nesting, a
 * fault) it says nothing, and the general reader decides.
 */
#include "store.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KEY	   128
#define MAX_DEPTH  32
/* Digits that fit an int64_t whatever they are. */
#define MAX_DIGITS 18
/* Whole numbers and powers of ten that a double holds exactly. */
#define EXACT	   (INT64_C(1) << 53)
#define MAX_POWER  22

/* What is left of the text; never read at or beyond end. */
struct scan {
	const char *at, *end;
	unsigned depth;
};

static json_t *scan_value(struct scan *s);

static void skip_space(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' ||
				     *s->at == '\t' || *s->at == '\r'))
		s->at++;
}

/* Whether the next character, space aside, is c; it is taken then. */
static bool take(struct scan *s, char c)
{
	skip_space(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* The inside of a plain string; false where it is not plain. */
static bool scan_text(struct scan *s, const char **text, size_t *n)
{
	if (!take(s, '"'))
		return false;
	*text = s->at;
	while (s->at < s->end && *s->at >= ' ' && *s->at < 0x7f &&
	       *s->at != '"' && *s->at != '\\')
		s->at++;
	*n = (size_t)(s->at - *text);
	return take(s, '"') && s->at == *text + *n + 1;
}

static bool scan_digits(struct scan *s)
{
	const char *begin = s->at;

	while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
		s->at++;
	return s->at > begin;
}

/* A number as it is written. */
struct number {
	const char *text, *end;
	bool negative, real;
	size_t digits;	  /* in front of an exponent */
	int64_t mantissa; /* of all of them, where MAX_DIGITS suffice */
	long power;	  /* of ten that goes with the mantissa */
};

static void count_digits(struct number *n, const char *from, const char *to)
{
	for (; from < to && n->digits <= MAX_DIGITS; from++, n->digits++)
		if (n->digits < MAX_DIGITS)
			n->mantissa = 10 * n->mantissa + (*from - '0');
}

static bool scan_exponent(struct scan *s, struct number *n)
{
	const char *begin;
	bool down = false;
	long power = 0;

	s->at++;
	if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
		down = *s->at++ == '-';
	begin = s->at;
	if (!scan_digits(s) || s->at - begin > 4)
		return false;
	for (; begin < s->at; begin++)
		power = 10 * power + (*begin - '0');
	n->power += down ? -power : power;
	n->real = true;
	return true;
}

/* RFC 8259, section 6. */
static bool scan_number(struct scan *s, struct number *n)
{
	const char *whole;

	*n = (struct number){.text = s->at};
	n->negative = *s->at == '-';
	s->at += n->negative;
	whole = s->at;
	if (!scan_digits(s) || (*whole == '0' && s->at > whole + 1))
		return false;
	count_digits(n, whole, s->at);
	if (s->at < s->end && *s->at == '.') {
		const char *fraction = ++s->at;

		if (!scan_digits(s))
			return false;
		count_digits(n, fraction, s->at);
		n->power = -(long)(s->at - fraction);
		n->real = true;
	}
	if (s->at < s->end && (*s->at == 'e' || *s->at == 'E') &&
	    !scan_exponent(s, n))
		return false;
	n->end = s->at;
	/* Something follows in every file: what converts may look at it. */
	return s->at < s->end;
}

/*
 * Few digits and a small power are exact in doubles, and one operation on
 * them is rounded right. Source: Clinger, How to read floating point numbers
 * accurately, 1990. The rest is the C library's.
 */
static json_t *real_of(const struct number *n)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
	    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
	    1e19, 1e20, 1e21, 1e22};
	double value;
	char *end;

	if (n->digits <= MAX_DIGITS && n->mantissa <= EXACT &&
	    labs(n->power) <= MAX_POWER) {
		value = (double)(n->negative ? -n->mantissa : n->mantissa);
		if (n->negative && n->mantissa == 0)
			value = -0.0;
		return json_real(n->power < 0 ? value / powers[-n->power]
					      : value * powers[n->power]);
	}
	value = strtod(n->text, &end);
	return end == n->end && isfinite(value) ? json_real(value) : NULL;
}

static json_t *scan_any_number(struct scan *s)
{
	struct number n;

	if (!scan_number(s, &n))
		return NULL;
	if (n.real)
		return real_of(&n);
	if (n.digits > MAX_DIGITS)
		return NULL;
	return json_integer(n.negative ? -n.mantissa : n.mantissa);
}

static json_t *scan_array(struct scan *s)
{
	json_t *array = json_array();

	if (take(s, ']'))
		return array;
	while (
	    array != NULL && json_array_append_new(array, scan_value(s)) == 0) {
		if (take(s, ']'))
			return array;
		if (!take(s, ','))
			break;
	}
	json_decref(array);
	return NULL;
}

/* One key and its value; false where it is not plain, or there already. */
static bool scan_member(struct scan *s, json_t *object)
{
	const char *text;
	char key[MAX_KEY];
	size_t n;

	if (!scan_text(s, &text, &n) || n >= sizeof key || !take(s, ':'))
		return false;
	memcpy(key, text, n);
	key[n] = '\0';
	return json_object_get(object, key) == NULL &&
	       json_object_set_new_nocheck(object, key, scan_value(s)) == 0;
}

static json_t *scan_object(struct scan *s)
{
	json_t *object = json_object();

	if (take(s, '}'))
		return object;
	while (object != NULL && scan_member(s, object)) {
		if (take(s, '}'))
			return object;
		if (!take(s, ','))
			break;
	}
	json_decref(object);
	return NULL;
}

static bool take_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
		return false;
	s->at += n;
	return true;
}

static json_t *scan_string(struct scan *s)
{
	const char *text;
	size_t n;

	return scan_text(s, &text, &n) ? json_stringn_nocheck(text, n) : NULL;
}

/* An array or object, unless it is nested too deep. */
static json_t *scan_nested(struct scan *s, json_t *(*inner)(struct scan *))
{
	json_t *value;

	if (s->depth == MAX_DEPTH)
		return NULL;
	s->at++;
	s->depth++;
	value = inner(s);
	s->depth--;
	return value;
}

static json_t *scan_value(struct scan *s)
{
	skip_space(s);
	if (s->at == s->end)
		return NULL;
	switch (*s->at) {
	case '{':
		return scan_nested(s, scan_object);
	case '[':
		return scan_nested(s, scan_array);
	case '"':
		return scan_string(s);
	case 't':
		return take_word(s, "true") ? json_true() : NULL;
	case 'f':
		return take_word(s, "false") ? json_false() : NULL;
	case 'n':
		return take_word(s, "null") ? json_null() : NULL;
	default:
		return *s->at == '-' || (*s->at >= '0' && *s->at <= '9')
			   ? scan_any_number(s)
			   : NULL;
	}
}

json_t *sv_json_fast(const char *text, size_t n_bytes)
{
	struct scan s = {text, text + n_bytes, 0};
	json_t *root = NULL;

	skip_space(&s);
	if (s.at < s.end && *s.at == '{')
		root = scan_value(&s);
	skip_space(&s);
	if (root != NULL && s.at == s.end)
		return root;
	json_decref(root);
	return NULL;
}
