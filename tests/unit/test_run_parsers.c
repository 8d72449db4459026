/* The wire and the journal as text: what they take, and ten thousand ways
 * in which it can be damaged. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "collect.h"
#include "journal.h"
#include "message.h"
#include "random.h"

#define MUTATIONS 10000

static const char wire[] =
    "{\"type\":\"hello\",\"protocol\":1,\"pid\":1,\"backend\":\"host\"}\n"
    "{\"type\":\"case\",\"id\":\"b/m\",\"bench\":\"b\",\"params\":{}}\n"
    "{\"type\":\"samples\",\"metric\":\"m\",\"unit\":\"s\",\"better\":"
    "\"lower\",\"inner\":1,\"values\":[1.5,2],\"reference\":null,"
    "\"flags\":[\"short\"]}\n"
    "{\"type\":\"spans\",\"spans\":[[\"step\",\"host\",0,1.5]]}\n"
    "{\"type\":\"check\",\"status\":\"pass\",\"detail\":\"ok\"}\n"
    "{\"type\":\"case\",\"id\":\"b/n\",\"bench\":\"b\",\"params\":{}}\n"
    "{\"type\":\"skip\",\"id\":\"b/n\",\"bench\":\"b\",\"params\":{},"
    "\"reason\":\"r\",\"code\":\"unsupported\"}\n"
    "{\"type\":\"bye\"}\n";

static const char journal[] =
    "{\"schema\":\"stave.journal/1\",\"version\":\"0.1.0\"}\n"
    "{\"case\":\"b/m\",\"round\":1,\"outcome\":\"measured\"}\n"
    "{\"case\":\"b/m\",\"round\":2,\"outcome\":\"measured\"}\n";

/* Feed text in pieces of a size to a collector of two cases. */
static int feed(const char *text, size_t n, size_t piece, size_t *finished)
{
	json_t *params = json_object();
	json_t *m = json_pack("[s]", "m"), *other = json_pack("[s]", "n");
	struct sv_planned a = {
	    .id = "b/m", .bench = "b", .params = params, .metrics = m};
	struct sv_planned b = {
	    .id = "b/n", .bench = "b", .params = params, .metrics = other};
	struct sv_planned *pending[] = {&a, &b};
	struct sv_collector c;
	struct sv_err err = {0};
	int code = sv_collector_init(&c, pending, 2, 1, &err);

	for (size_t at = 0; code == 0 && at < n; at += piece)
		code = sv_collector_feed(
		    &c, text + at, n - at < piece ? n - at : piece, &err);
	if (code != 0)
		assert_true(err.text[0] != '\0');
	*finished = json_array_size(c.finished);
	sv_collector_fini(&c);
	json_decref(params);
	json_decref(m);
	json_decref(other);
	return code;
}

static void pieces_of_any_size_make_the_same_records(void **state)
{
	(void)state;
	for (size_t piece = 1; piece <= sizeof wire; piece += 7) {
		size_t finished;

		assert_int_equal(
		    feed(wire, sizeof wire - 1, piece, &finished), 0);
		assert_int_equal(finished, 2);
	}
}

static void spans_that_are_none_are_refused(void **state)
{
	static const char *const wrong[] = {
	    "{\"type\":\"spans\"}",
	    "{\"type\":\"spans\",\"spans\":[[\"step\",\"host\",0]]}",
	    "{\"type\":\"spans\",\"spans\":[[\"step\",1,0,1]]}",
	    "{\"type\":\"spans\",\"spans\":[[\"step\",\"host\",0,\"1\"]]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		enum sv_message_type type;
		json_t *message = NULL;
		struct sv_err err = {0};

		assert_int_equal(sv_message_parse(wrong[i], strlen(wrong[i]),
				     &type, &message, &err),
		    SV_EPROTOCOL);
		assert_non_null(strstr(err.text, "spans"));
	}
}

static size_t damage(uint64_t *seed, char *text, size_t n)
{
	size_t at = test_random(seed) % n, length = test_random(seed) % 30;

	switch (test_random(seed) % 4) {
	case 0:
		text[at] = (char)test_random(seed);
		return n;
	case 1:
		return at;
	case 2:
		if (at + length > n)
			length = n - at;
		memmove(text + at, text + at + length, n - at - length);
		return n - length;
	default:
		text[at] ^= (char)(1u << test_random(seed) % 8);
		return n;
	}
}

static void a_damaged_wire_is_an_error_or_harmless(void **state)
{
	char text[sizeof wire];
	uint64_t seed = 1;
	unsigned refused = 0;

	(void)state;
	for (unsigned i = 0; i < MUTATIONS; i++) {
		size_t n = sizeof wire - 1, finished;

		memcpy(text, wire, n);
		n = damage(&seed, text, n);
		refused += feed(text, n, 64, &finished) != 0;
		assert_true(finished <= 2);
	}
	assert_in_range(refused, MUTATIONS / 10, MUTATIONS - 1);
}

static void a_damaged_journal_is_an_error_or_shorter(void **state)
{
	char text[sizeof journal];
	uint64_t seed = 2;
	unsigned refused = 0;

	(void)state;
	for (unsigned i = 0; i < MUTATIONS; i++) {
		size_t n = sizeof journal - 1, whole;
		json_t *header = NULL, *records = NULL;
		struct sv_err err = {0};

		memcpy(text, journal, n);
		n = damage(&seed, text, n);
		if (sv_journal_parse(
			text, n, "j", &header, &records, &whole, &err) != 0) {
			assert_null(header);
			refused++;
			continue;
		}
		assert_true(whole <= n);
		json_decref(header);
		json_decref(records);
	}
	assert_in_range(refused, MUTATIONS / 20, MUTATIONS - 1);
}

static void a_torn_last_line_is_dropped(void **state)
{
	json_t *header, *records;
	struct sv_err err;
	size_t whole;

	(void)state;
	assert_int_equal(sv_journal_parse(journal, sizeof journal - 9, "j",
			     &header, &records, &whole, &err),
	    0);
	assert_int_equal(json_array_size(records), 1);
	json_decref(header);
	json_decref(records);
}

static void the_order_is_the_seeds_and_holds_each_case_once(void **state)
{
	json_t *cases = json_array();
	struct sv_plan plan;
	size_t first[20], again[20], other[20];
	bool differs = false;

	(void)state;
	for (int i = 0; i < 20; i++) {
		char id[16], bench[8];

		snprintf(id, sizeof id, "b%d/m?x=%d", i % 4, i);
		snprintf(bench, sizeof bench, "b%d", i % 4);
		json_array_append_new(
		    cases, json_pack("{s:s, s:s, s:{}, s:[s]}", "id", id,
			       "bench", bench, "params", "metrics", "m"));
	}
	assert_int_equal(sv_plan_init(&plan, cases, 3, NULL), 0);
	sv_plan_order(&plan, 11, 1, first);
	sv_plan_order(&plan, 11, 1, again);
	sv_plan_order(&plan, 11, 2, other);
	assert_memory_equal(first, again, sizeof first);
	for (size_t i = 0; i < 20; i++) {
		unsigned seen = 0, changes = 0;

		for (size_t j = 0; j < 20; j++) {
			seen += first[j] == i;
			changes +=
			    j > 0 && strcmp(plan.cases[first[j]].bench,
					 plan.cases[first[j - 1]].bench) != 0;
		}
		assert_int_equal(seen, 1);
		assert_int_equal(changes, 3); /* benches stay together */
		differs = differs || first[i] != other[i];
	}
	assert_true(differs);
	sv_plan_fini(&plan);
	json_decref(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_of_any_size_make_the_same_records),
	    cmocka_unit_test(spans_that_are_none_are_refused),
	    cmocka_unit_test(a_damaged_wire_is_an_error_or_harmless),
	    cmocka_unit_test(a_damaged_journal_is_an_error_or_shorter),
	    cmocka_unit_test(a_torn_last_line_is_dropped),
	    cmocka_unit_test(the_order_is_the_seeds_and_holds_each_case_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
