/*
 * Machines that others own, as recordings: every fixture must come out as its
 * expect.json says; and what is saved of this machine must read back the same.
 */
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "files.h"
#include "machine.h"
#include "walk.h"

#define FIXTURES SV_TEST_FIXTURES "/machines"

/* Whether two values are the same; numbers within rounding. */
static bool same(json_t *a, json_t *b)
{
	if (json_is_number(a) && json_is_number(b)) {
		double x = json_number_value(a), y = json_number_value(b);

		return fabs(x - y) <= 1e-9 * fabs(y);
	}
	return json_equal(a, b);
}

static size_t compare(
    const char *name, json_t *object, json_t *expected, const char *what)
{
	const char *path;
	json_t *value;
	size_t wrong = 0;

	json_object_foreach (expected, path, value) {
		json_t *got = sv_walk(object, path);
		char *text;

		if (same(got, value))
			continue;
		text = json_dumps(got, JSON_ENCODE_ANY);
		print_error("%s: %s.%s is %s\n", name, what, path,
		    text != NULL ? text : "not there");
		free(text);
		wrong++;
	}
	return wrong;
}

/* Fields that must be null with this reason, of machine or device. */
static size_t compare_unknown(
    const char *name, json_t *machine, json_t *device, json_t *expected)
{
	const char *path;
	json_t *value;
	size_t wrong = 0;

	json_object_foreach (expected, path, value) {
		const char *why = sv_why(machine, path);
		json_t *home = why != NULL ? machine : device;

		why = sv_why(home, path);
		if (why != NULL && strcmp(why, json_string_value(value)) == 0 &&
		    json_is_null(sv_walk(home, path)))
			continue;
		print_error("%s: %s is unknown for \"%s\"\n", name, path,
		    why != NULL ? why : "(known)");
		wrong++;
	}
	return wrong;
}

/* Every null of machine and device must have its reason. */
static size_t nulls_without_reason(
    const char *name, json_t *object, json_t *tree, const char *prefix)
{
	/* Null is an answer there. */
	static const char *const answers[] = {"uuid", "binding.node",
	    "pcie.bottleneck", "pcie.bottleneck_why", "pcie.trusted_why",
	    "virtualisation.detail"};
	const char *key;
	json_t *value;
	size_t wrong = 0;

	json_object_foreach (tree, key, value) {
		char path[256];
		bool is_answer = false;

		snprintf(path, sizeof path, "%s%s%s", prefix,
		    prefix[0] != '\0' ? "." : "", key);
		for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
			is_answer = is_answer || strcmp(answers[i], path) == 0;
		if (json_is_object(value))
			wrong +=
			    nulls_without_reason(name, object, value, path);
		if (!json_is_null(value) || is_answer ||
		    sv_why(object, path) != NULL)
			continue;
		print_error("%s: %s is null without a reason\n", name, path);
		wrong++;
	}
	return wrong;
}

static size_t check_fixture(const char *name)
{
	char folder[512], path[600];
	struct sv_machine *m = NULL;
	struct sv_err err = {0};
	json_t *expect, *device, *value, *recording;
	size_t wrong = 0, i;

	snprintf(folder, sizeof folder, "%s/%s", FIXTURES, name);
	snprintf(path, sizeof path, "%s/expect.json", folder);
	expect = json_load_file(path, 0, NULL);
	assert_true(json_is_object(expect));
	snprintf(path, sizeof path, "%s/recording.json", folder);
	recording = json_load_file(path, 0, NULL);
	/* It is kept for a reason, and says which. */
	assert_true(
	    strlen(json_string_value(json_object_get(recording, "why"))) > 40);
	json_decref(recording);
	if (sv_machine_open_recording(folder, &m, &err) != 0)
		fail_msg("%s", err.text);
	device = json_deep_copy(sv_machine_device(m));
	if (device != NULL)
		sv_machine_complete(m, device);
	wrong += compare(name, sv_machine_json(m),
	    json_object_get(expect, "machine"), "machine");
	wrong +=
	    compare(name, device, json_object_get(expect, "device"), "device");
	wrong += compare_unknown(name, sv_machine_json(m), device,
	    json_object_get(expect, "unknown"));
	json_array_foreach (json_object_get(expect, "known"), i, value)
		wrong += sv_why(device, json_string_value(value)) != NULL;
	wrong += nulls_without_reason(
	    name, sv_machine_json(m), sv_machine_json(m), "");
	wrong += nulls_without_reason(name, device, device, "");
	value = json_object_get(expect, "node");
	if (value != NULL)
		assert_int_equal(sv_machine_nearest_node(
				     m, json_string_value(json_object_get(
					    device, "pci_address"))),
		    json_integer_value(value));
	json_decref(device);
	json_decref(expect);
	sv_machine_close(m);
	return wrong;
}

static void recorded_machines_come_out_as_expected(void **state)
{
	DIR *dir = opendir(FIXTURES);
	const struct dirent *entry;
	size_t n = 0, wrong = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (strchr(entry->d_name, '.') != NULL)
			continue;
		wrong += check_fixture(entry->d_name);
		n++;
	}
	closedir(dir);
	assert_int_equal(wrong, 0);
	assert_true(n >= 12);
}

static void what_was_saved_reads_back_the_same(void **state)
{
	char *folder = sv_new_folder();
	struct sv_machine *live = NULL, *again = NULL;
	json_t *device =
	    json_pack("{s:s, s:s}", "backend", "host", "uuid", "x");
	struct sv_err err = {0};
	char *xml, path[512];

	(void)state;
	assert_int_equal(sv_machine_open(".", &live, &err), 0);
	assert_int_equal(sv_machine_save(live, device, folder, &err), 0);
	assert_int_equal(sv_machine_open_recording(folder, &again, &err), 0);
	if (!json_equal(sv_machine_json(live), sv_machine_json(again))) {
		json_dumpf(sv_machine_json(live), stderr, JSON_INDENT(1));
		json_dumpf(sv_machine_json(again), stderr, JSON_INDENT(1));
		fail_msg("the recording differs");
	}
	assert_string_equal(json_string_value(json_object_get(
				sv_machine_device(again), "backend")),
	    "host");
	/* Who it is stays at home. */
	assert_true(
	    json_is_null(json_object_get(sv_machine_device(again), "uuid")));
	snprintf(path, sizeof path, "%s/topology.xml", folder);
	xml = sv_slurp(path, NULL);
	assert_null(strstr(xml, "HostName"));
	free(xml);
	/* A second recording does not overwrite the first. */
	assert_int_equal(
	    sv_machine_save(live, device, folder, &err), SV_EOUTPUT);
	json_decref(device);
	sv_machine_close(live);
	sv_machine_close(again);
	sv_drop_folder(folder);
}

/* A recording with one file replaced must be refused with that text. */
static void refuse(const char *file, const char *text, const char *message)
{
	static const char whole[] =
	    "{\"schema\":\"stave.machine/1\",\"why\":\"a test\","
	    "\"storage_path\":\"/\"}";
	char *folder = sv_new_folder();
	struct sv_machine *m = NULL;
	struct sv_err err = {0};
	char path[512];

	snprintf(path, sizeof path, "%s/recording.json", folder);
	sv_spill(path, whole, sizeof whole - 1);
	snprintf(path, sizeof path, "%s/%s", folder, file);
	sv_spill(path, text, strlen(text));
	assert_int_equal(
	    sv_machine_open_recording(folder, &m, &err), SV_EINPUT);
	assert_null(m);
	if (strstr(err.text, message) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, message);
	sv_drop_folder(folder);
}

static void wrong_recordings_are_refused_with_their_place(void **state)
{
	struct sv_machine *m = NULL;
	struct sv_err err = {0};

	(void)state;
	assert_int_equal(
	    sv_machine_open_recording("/nowhere", &m, &err), SV_EINPUT);
	refuse("recording.json", "{\n\"schema\": 1,\n}", "line 3");
	refuse("recording.json", "{\"schema\":\"stave.machine/2\"}",
	    "schema: expected \"stave.machine/1\"");
	refuse("recording.json",
	    "{\"schema\":\"stave.machine/1\",\"why\":\"\","
	    "\"storage_path\":\"/\",\"texts\":{\"a\":1}}",
	    "texts.a: expected text");
	refuse("recording.json",
	    "{\"schema\":\"stave.machine/1\",\"why\":\"\","
	    "\"storage_path\":\"/\",\"device\":7}",
	    "device: expected an object");
	refuse("pci.txt", "00:01.0 Bridge: X\n00: 86 zz\n", "line 2");
	refuse("pci.txt", "40: 00\n", "line 1: bytes before");
	refuse("pci.txt", "00:01.0 X\n00: 86 80\n10: 00\n",
	    "line 3: expected offset 02, found 10");
	refuse("pci.txt", "hello\n", "expected an address");
	refuse("topology.xml", "<topology", "line 1: expected > behind");
	refuse("topology.xml", "\n\n", "line 3: expected <topology");
	refuse("topology.xml", "hello", "expected a topology as hwloc");
	refuse("topology.xml", "<topology>\n<object type=\"PU\"></topology>",
	    "line 2: expected </object>, found </topology>");
	refuse("topology.xml",
	    "<topology><object type=\"NUMANode\" os_index=\"0\" "
	    "cpuset=\"all\"/></topology>",
	    "line 1: cpuset: expected a bitmap");
	refuse("topology.xml", "<topology/>", "expected a processor");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(recorded_machines_come_out_as_expected),
	    cmocka_unit_test(what_was_saved_reads_back_the_same),
	    cmocka_unit_test(wrong_recordings_are_refused_with_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
