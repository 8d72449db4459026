/*
 * Ten thousand damaged result files, the same ones every time: none may crash
 * the reader, hold it up, or be read with something of it lost.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmocka_all.h"
#include "files.h"
#include "random.h"
#include "roundtrip.h"

#define N_MUTANTS 10000
#define MAX_CHUNK 400

/* A text that is being damaged; room is enough for every mutation. */
struct mutant {
	char *bytes;
	size_t n;
};

static size_t below(uint64_t *state, size_t limit)
{
	return limit == 0 ? 0 : (size_t)(test_random(state) % limit);
}

/* Put n bytes in the place of `gone` bytes at `at`. */
static void splice(
    struct mutant *m, size_t at, size_t gone, const char *bytes, size_t n)
{
	memmove(m->bytes + at + n, m->bytes + at + gone, m->n - at - gone);
	memcpy(m->bytes + at, bytes, n);
	m->n = m->n - gone + n;
}

static void flip_a_bit(struct mutant *m, uint64_t *random)
{
	size_t at = below(random, m->n);

	m->bytes[at] = (char)(m->bytes[at] ^ (1 << below(random, 8)));
}

static void change_a_byte(struct mutant *m, uint64_t *random)
{
	m->bytes[below(random, m->n)] = (char)below(random, 256);
}

static void delete_a_chunk(struct mutant *m, uint64_t *random)
{
	size_t at = below(random, m->n);
	size_t n = 1 + below(random, MAX_CHUNK);

	splice(m, at, n < m->n - at ? n : m->n - at, "", 0);
}

static void truncate_it(struct mutant *m, uint64_t *random)
{
	m->n = below(random, m->n);
}

static void insert_bytes(struct mutant *m, uint64_t *random)
{
	char bytes[8];
	size_t n = 1 + below(random, sizeof bytes);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)below(random, 256);
	splice(m, below(random, m->n), 0, bytes, n);
}

static void insert_a_token(struct mutant *m, uint64_t *random)
{
	static const char *const tokens[] = {",", ":", "{", "}", "[", "]", "\"",
	    "null", "true", "-", "1e999", "0.5", "\\u0000", "\\ud800",
	    "\"x\":1,", "{},", "[],", "\xef\xbb\xbf", "NaN"};
	const char *token =
	    tokens[below(random, sizeof tokens / sizeof *tokens)];

	splice(m, below(random, m->n), 0, token, strlen(token));
}

static void duplicate_a_chunk(struct mutant *m, uint64_t *random)
{
	char chunk[MAX_CHUNK];
	size_t n = 1 + below(random, MAX_CHUNK - 1);
	size_t from = below(random, m->n);

	n = n < m->n - from ? n : m->n - from;
	memcpy(chunk, m->bytes + from, n);
	splice(m, below(random, m->n), 0, chunk, n);
}

static void swap_two_chunks(struct mutant *m, uint64_t *random)
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
static size_t find_number(const struct mutant *m, size_t at)
{
	while (at < m->n && !(isdigit((unsigned char)m->bytes[at]) && at > 0 &&
				strchr(":,[", m->bytes[at - 1]) != NULL))
		at++;
	return at;
}

static void replace_a_number(struct mutant *m, uint64_t *random)
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
static size_t find_key(const struct mutant *m, size_t at)
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
static void delete_a_key(struct mutant *m, uint64_t *random)
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

static void rename_a_key(struct mutant *m, uint64_t *random)
{
	size_t at = find_key(m, below(random, m->n));

	if (at < m->n)
		splice(m, at + 1, 0, "x", 1);
}

static void (*const mutations[])(struct mutant *, uint64_t *) = {flip_a_bit,
    change_a_byte, delete_a_chunk, truncate_it, insert_bytes, insert_a_token,
    duplicate_a_chunk, swap_two_chunks, replace_a_number, delete_a_key,
    rename_a_key};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void save(const struct mutant *m)
{
	const char *path = SV_TEST_BINARY_DIR "/mutant.json";

	sv_spill(path, m->bytes, m->n);
	print_error("the mutant is kept as %s\n", path);
}

static void damaged_files_are_refused_or_lose_nothing(void **state)
{
	size_t n, accepted_count = 0;
	char *seed = sv_slurp(SV_TEST_FIXTURES "/result/valid/full.json", &n);
	struct mutant m = {malloc(n + 16 * MAX_CHUNK), 0};
	size_t n_mutations = sizeof mutations / sizeof *mutations;

	(void)state;
	assert_non_null(m.bytes);
	for (uint64_t i = 0; i < N_MUTANTS; i++) {
		uint64_t random = i;
		bool accepted, survived;
		double begin = now_s();

		memcpy(m.bytes, seed, n);
		m.n = n;
		/* Most are damaged once, some up to four times. */
		for (size_t k = 0; k <= below(&random, 8) / 2; k++)
			if (m.n > 0)
				mutations[below(&random, n_mutations)](
				    &m, &random);
		survived = sv_survives(m.bytes, m.n, &accepted);
		accepted_count += accepted ? 1 : 0;
		if (!survived || now_s() - begin > 1.0) {
			save(&m);
			fail_msg("mutant %llu", (unsigned long long)i);
		}
	}
	/* Both ways must have been taken often for this to mean anything. */
	print_message("%zu of %d were read\n", accepted_count, N_MUTANTS);
	assert_true(accepted_count > N_MUTANTS / 20);
	assert_true(accepted_count < N_MUTANTS / 2);
	free(m.bytes);
	free(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(damaged_files_are_refused_or_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
