/*
 * Recordings with one file damaged, thousands of them and the same ones every
 * time: each is refused in one clear line, or read with nothing invented; none
 * crashes or takes its time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmocka_all.h"
#include "files.h"
#include "machine.h"
#include "mutate.h"
#include "pci_bus.h"
#include "pci_path.h"
#include "topology.h"
#include "walk.h"

#define FIXTURES SV_TEST_FIXTURES "/machines/"

static size_t accepted, refused;

/* Code and message of a reader must be those of a bad file. */
static void check_refusal(int code, const struct sv_err *err, const char *name)
{
	if (code == 0) {
		accepted++;
		return;
	}
	refused++;
	if (code != SV_EINPUT || strncmp(err->text, name, strlen(name)) != 0 ||
	    strpbrk(err->text, "\n\r") != NULL)
		fail_msg("code %d: %s", code, err->text);
}

static void try_bus(const char *text, size_t n)
{
	const struct sv_pci_function *path[SV_MAX_HOPS];
	struct sv_pci_bus bus;
	struct sv_err err = {0};
	int code = sv_pci_bus_parse(&bus, text, n, "pci.txt", &err);

	check_refusal(code, &err, "pci.txt: line ");
	for (size_t i = 0; code == 0 && i < bus.n; i++) {
		const struct sv_pci_registers *r = &bus.functions[i].registers;
		size_t hops = sv_pci_bus_path(
		    &bus, bus.functions[i].address, path, SV_MAX_HOPS);

		assert_true(hops <= SV_MAX_HOPS);
		/* No generation and no width that there is none of. */
		assert_true(r->generation <= 6 && r->max_generation <= 6);
		assert_true(r->width <= 32 && r->max_width <= 32);
	}
	if (code == 0)
		sv_pci_bus_fini(&bus);
}

static void try_topology(const char *text, size_t n)
{
	struct sv_topology t;
	struct sv_err err = {0};
	int code = sv_topology_parse(&t, text, n, "topology.xml", &err);

	check_refusal(code, &err, "topology.xml: line ");
	if (code == 0)
		sv_topology_fini(&t);
}

/* A whole recording of which recording.json is the text. */
static void try_recording(const char *text, size_t n)
{
	static const char folder[] = SV_TEST_BINARY_DIR "/mutated-recording";
	struct sv_machine *m = NULL;
	struct sv_err err = {0};
	char path[600];
	int code;

	snprintf(path, sizeof path, "%s/recording.json", folder);
	sv_spill(path, text, n);
	code = sv_machine_open_recording(folder, &m, &err);
	check_refusal(code, &err, folder);
	if (code != 0)
		return;
	json_t *device = json_deep_copy(sv_machine_device(m));

	if (device != NULL)
		sv_machine_complete(m, device);
	assert_true(json_is_object(sv_machine_json(m)));
	json_decref(device);
	sv_machine_close(m);
}

static void damage(
    const char *file, uint64_t count, void (*try)(const char *text, size_t n))
{
	char path[512];
	size_t n;
	char *seed, *copy;
	struct mutant m;

	snprintf(path, sizeof path, FIXTURES "%s", file);
	seed = sv_slurp(path, &n);
	m = (struct mutant){malloc(sv_mutant_room(n)), 0};
	assert_non_null(m.bytes);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t random = i;

		memcpy(m.bytes, seed, n);
		m.n = n;
		sv_mutate(&m, &random);
		/* Of just its size, so that one byte too far is seen. */
		copy = malloc(m.n + 1);
		assert_non_null(copy);
		memcpy(copy, m.bytes, m.n);
		copy[m.n] = '\0';
		try(copy, m.n);
		free(copy);
	}
	free(m.bytes);
	free(seed);
}

/* Both ways must have been taken for this to mean anything. */
static void tell(void)
{
	print_message("%zu read, %zu refused\n", accepted, refused);
	assert_true(accepted > 0 && refused > 0);
	accepted = refused = 0;
}

static void damaged_dumps_are_refused_or_read(void **state)
{
	(void)state;
	damage("mining-switch-x1/pci.txt", 4000, try_bus);
	damage("chassis-eight-cards/pci.txt", 500, try_bus);
	tell();
}

static void damaged_topologies_are_refused_or_read(void **state)
{
	(void)state;
	damage("amd-four-nodes/topology.xml", 1500, try_topology);
	damage("laptop-hybrid/topology.xml", 1500, try_topology);
	tell();
}

static void damaged_recordings_are_refused_or_read(void **state)
{
	(void)state;
	(void)mkdir(SV_TEST_BINARY_DIR "/mutated-recording", 0777);
	damage("desktop-gen4-x16/recording.json", 300, try_recording);
	damage("container-without-sys/recording.json", 300, try_recording);
	tell();
}

/* Any text in any file of the kernel is unknown at worst. */
static void damaged_files_of_the_kernel_are_unknown(void **state)
{
	json_t *root =
	    json_load_file(FIXTURES "desktop-gen4-x16/recording.json", 0, NULL);
	json_t *texts = json_object_get(root, "texts"), *text;
	static const char *const odd[] = {"", "\n", "-1", "Unknown", "x0", "63",
	    "255", "99999999999999999999", "0x", "[", "]", "[]",
	    ": : :", "18446744073709551615 0", "nan", "-", "1 2 3 4 5 6 7 8",
	    "0-", "-0", "4294967295-4294967296", "\xc3\xa9"};
	const char *path;
	void *next;

	(void)state;
	(void)mkdir(SV_TEST_BINARY_DIR "/mutated-recording", 0777);
	json_object_foreach_safe (texts, next, path, text) {
		char *was = strdup(json_string_value(text));
		char *key = strdup(path);

		for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
			char *whole;

			json_object_set_new(texts, key, json_string(odd[i]));
			whole = json_dumps(root, 0);
			try_recording(whole, strlen(whole));
			free(whole);
		}
		json_object_set_new(texts, key, json_string(was));
		free(was);
		free(key);
	}
	assert_int_equal(refused, 0);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(damaged_dumps_are_refused_or_read),
	    cmocka_unit_test(damaged_topologies_are_refused_or_read),
	    cmocka_unit_test(damaged_recordings_are_refused_or_read),
	    cmocka_unit_test(damaged_files_of_the_kernel_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
