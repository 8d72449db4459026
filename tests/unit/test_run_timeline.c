/* Spans of records as Chrome's trace format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "near.h"
#include "timeline.h"

static json_t *parsed(const char *text)
{
	json_t *tree = json_loads(text, 0, NULL);

	assert_non_null(tree);
	return tree;
}

/* The n-th event of a kind, in order. */
static json_t *event(json_t *timeline, const char *ph, size_t n)
{
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(timeline, "traceEvents"), i, one)
		if (strcmp(json_string_value(json_object_get(one, "ph")), ph) ==
			0 &&
		    n-- == 0)
			return one;
	return NULL;
}

static double number(json_t *object, const char *key)
{
	assert_true(json_is_number(json_object_get(object, key)));
	return json_number_value(json_object_get(object, key));
}

static const char records_text[] =
    "[{\"case\":\"step/a\",\"spans\":[[\"step\",\"host\",2.5,0.5],"
    "[\"Adam\",\"device\",2.75,0.125],[\"batch\",\"copy\",2.0,1e-6]]},"
    "{\"case\":\"null/b\"},"
    "{\"case\":\"step/c\",\"spans\":[[\"step\",\"host\",-3,1]]}]";

static void spans_become_events_in_microseconds_from_the_first(void **state)
{
	json_t *records = parsed(records_text);
	json_t *timeline = sv_timeline_make(records), *one;

	(void)state;
	assert_non_null(timeline);
	one = event(timeline, "X", 0);
	assert_string_equal(
	    json_string_value(json_object_get(one, "name")), "step");
	assert_near(number(one, "ts"), 5e5, 1e-12);
	assert_near(number(one, "dur"), 5e5, 1e-12);
	assert_true(number(one, "pid") == 1.0 && number(one, "tid") == 1.0);
	one = event(timeline, "X", 1);
	assert_string_equal(
	    json_string_value(json_object_get(one, "cat")), "device");
	assert_true(number(one, "tid") == 2.0);
	one = event(timeline, "X", 2);
	assert_true(number(one, "ts") == 0.0 && number(one, "tid") == 3.0);
	/* Another case is another process, with a beginning of its own. */
	one = event(timeline, "X", 3);
	assert_true(number(one, "pid") == 2.0 && number(one, "ts") == 0.0);
	assert_null(event(timeline, "X", 4));
	json_decref(timeline);
	json_decref(records);
}

static void processes_are_cases_and_threads_are_tracks(void **state)
{
	static const char *const names[] = {
	    "step/a", "host", "device", "copy", "step/c"};
	json_t *records = parsed(records_text);
	json_t *timeline = sv_timeline_make(records);

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		json_t *args = json_object_get(event(timeline, "M", i), "args");

		assert_string_equal(
		    json_string_value(json_object_get(args, "name")), names[i]);
	}
	json_decref(timeline);
	json_decref(records);
}

static void what_cannot_be_written_is_known_before_and_after(void **state)
{
	json_t *records = parsed(records_text);
	char path[] = "/tmp/stave-timeline-XXXXXX";
	int fd = mkstemp(path);
	struct sv_err err = {0};
	json_t *read_back;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(sv_timeline_check(path, &err), 0);
	assert_int_equal(sv_timeline_write(records, path, &err), 0);
	read_back = json_load_file(path, 0, NULL);
	assert_true(json_is_object(read_back));
	json_decref(read_back);
	unlink(path);
	assert_int_equal(sv_timeline_check(path, &err), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(
	    sv_timeline_check("/nowhere/at/all.json", &err), SV_EOUTPUT);
	assert_int_equal(
	    sv_timeline_write(records, "/dev/full", &err), SV_EOUTPUT);
	assert_non_null(strstr(err.text, "/dev/full"));
	json_decref(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		spans_become_events_in_microseconds_from_the_first),
	    cmocka_unit_test(processes_are_cases_and_threads_are_tracks),
	    cmocka_unit_test(what_cannot_be_written_is_known_before_and_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
