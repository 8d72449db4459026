/*
 * Damaging text in the ways that files get damaged: the same seed, the same
 * damage. What parsers of all kinds are tried with.
 */
#ifndef SV_TEST_MUTATE_H
#define SV_TEST_MUTATE_H

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "random.h"

#define MAX_CHUNK 400

/* A text that is being damaged; room is enough for every mutation. */
struct mutant {
	char *bytes;
	size_t n;
};

static inline size_t below(uint64_t *state, size_t limit)
{
	return limit == 0 ? 0 : (size_t)(test_random(state) % limit);
}

/* Put n bytes in the place of `gone` bytes at `at`. */
static inline void splice(
    struct mutant *m, size_t at, size_t gone, const char *bytes, size_t n)
{
	memmove(m->bytes + at + n, m->bytes + at + gone, m->n - at - gone);
	memcpy(m->bytes + at, bytes, n);
	m->n = m->n - gone + n;
}

static inline void flip_a_bit(struct mutant *m, uint64_t *random)
{
	size_t at = below(random, m->n);

	m->bytes[at] = (char)(m->bytes[at] ^ (1 << below(random, 8)));
}

static inline void change_a_byte(struct mutant *m, uint64_t *random)
{
	m->bytes[below(random, m->n)] = (char)below(random, 256);
}

static inline void delete_a_chunk(struct mutant *m, uint64_t *random)
{
	size_t at = below(random, m->n);
	size_t n = 1 + below(random, MAX_CHUNK);

	splice(m, at, n < m->n - at ? n : m->n - at, "", 0);
}

static inline void truncate_it(struct mutant *m, uint64_t *random)
{
	m->n = below(random, m->n);
}

static inline void insert_bytes(struct mutant *m, uint64_t *random)
{
	char bytes[8];
	size_t n = 1 + below(random, sizeof bytes);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)below(random, 256);
	splice(m, below(random, m->n), 0, bytes, n);
}

static inline void insert_a_token(struct mutant *m, uint64_t *random)
{
	static const char *const tokens[] = {",", ":", "{", "}", "[", "]", "\"",
	    "null", "true", "-", "1e999", "0.5", "\\u0000", "\\ud800",
	    "\"x\":1,", "{},", "[],", "\xef\xbb\xbf", "NaN"};
	const char *token =
	    tokens[below(random, sizeof tokens / sizeof *tokens)];

	splice(m, below(random, m->n), 0, token, strlen(token));
}

static inline void duplicate_a_chunk(struct mutant *m, uint64_t *random)
{
	char chunk[MAX_CHUNK];
	size_t n = 1 + below(random, MAX_CHUNK - 1);
	size_t from = below(random, m->n);

	n = n < m->n - from ? n : m->n - from;
	memcpy(chunk, m->bytes + from, n);
	splice(m, below(random, m->n), 0, chunk, n);
}

static inline void swap_two_chunks(struct mutant *m, uint64_t *random)
{
	char chunk[MAX_CHUNK];
	size_t n = 1 + below(random, MAX_CHUNK - 1);
	size_t from, to;

	if (m->n < 2 * n)
		return;
	from = below(random, m->n - n);
	to = below(random, m->n - n);
	memcpy(chunk, m->bytes + from, n);
	memmove(m->bytes + from, m->bytes + to, n);
	memcpy(m->bytes + to, chunk, n);
}

/* Where a number begins at or after `at`; n where there is none. */
static inline size_t find_number(const struct mutant *m, size_t at)
{
	while (at < m->n && !(isdigit((unsigned char)m->bytes[at]) && at > 0 &&
				strchr(":,[", m->bytes[at - 1]) != NULL))
		at++;
	return at;
}

static inline void replace_a_number(struct mutant *m, uint64_t *random)
{
	static const char *const numbers[] = {"0", "-1", "1e308", "-0.0",
	    "1e-320", "9223372036854775807", "9223372036854775808",
	    "9007199254740993", "1e400", "3.5", "6", "null", "\"6\"", "[6]",
	    "{}", "NaN", "1e", "01"};
	const char *number =
	    numbers[below(random, sizeof numbers / sizeof *numbers)];
	size_t at = find_number(m, below(random, m->n)), n = 0;

	while (at + n < m->n && strchr("+-.eE0123456789", m->bytes[at + n]))
		n++;
	splice(m, at, n, number, strlen(number));
}

/* Where a key begins at or after `at`, its quote; n where there is none. */
static inline size_t find_key(const struct mutant *m, size_t at)
{
	for (; at + 1 < m->n; at++) {
		size_t end = at + 1;

		if (m->bytes[at] != '"' ||
		    (at > 0 && strchr("{, \n", m->bytes[at - 1]) == NULL))
			continue;
		while (end < m->n && (isalnum((unsigned char)m->bytes[end]) ||
					 m->bytes[end] == '_'))
			end++;
		if (end + 1 < m->n && m->bytes[end] == '"' &&
		    m->bytes[end + 1] == ':')
			return at;
	}
	return m->n;
}

/* A key and what it holds, up to the next comma at its level. */
static inline void delete_a_key(struct mutant *m, uint64_t *random)
{
	size_t at = find_key(m, below(random, m->n)), end = at;
	int depth = 0;

	for (; end < m->n && depth >= 0; end++) {
		char c = m->bytes[end];

		depth += c == '{' || c == '[' ? 1 : 0;
		depth -= c == '}' || c == ']' ? 1 : 0;
		if (c == ',' && depth == 0)
			break;
	}
	if (at < m->n && end < m->n && m->bytes[end] == ',')
		splice(m, at, end + 1 - at, "", 0);
}

static inline void rename_a_key(struct mutant *m, uint64_t *random)
{
	size_t at = find_key(m, below(random, m->n));

	if (at < m->n)
		splice(m, at + 1, 0, "x", 1);
}

static void (*const sv_mutations[])(struct mutant *, uint64_t *) = {flip_a_bit,
    change_a_byte, delete_a_chunk, truncate_it, insert_bytes, insert_a_token,
    duplicate_a_chunk, swap_two_chunks, replace_a_number, delete_a_key,
    rename_a_key};

/* Room that n bytes need for any damage. */
static inline size_t sv_mutant_room(size_t n)
{
	return n + 16 * MAX_CHUNK;
}

/* Most are damaged once, some up to four times. */
static inline void sv_mutate(struct mutant *m, uint64_t *random)
{
	size_t n = sizeof sv_mutations / sizeof *sv_mutations;

	for (size_t k = 0; k <= below(random, 8) / 2; k++)
		if (m->n > 0)
			sv_mutations[below(random, n)](m, random);
}

#endif
