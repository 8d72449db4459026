/*
 * Links and paths as arithmetic and decisions: ceilings, what the kernel and
 * hypervisors write, who is to blame for a narrow link, and links watched
 * while they work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmocka_all.h"
#include "files.h"
#include "machine.h"
#include "near.h"
#include "pci_path.h"
#include "stave/pcie.h"
#include "walk.h"

/* GB/s by generation and width, payloads of 128 and 256 bytes: the table of
 * the method, which rounds to a tenth. */
static const struct {
	unsigned generation, width;
	double small, usual;
} ceilings[] = {{1, 16, 3.5, 3.7}, {3, 16, 13.6, 14.6}, {4, 16, 27.3, 29.2},
    {5, 16, 54.5, 58.4}, {4, 8, 13.6, 14.6}, {3, 4, 3.4, 3.65}};

static void ceilings_are_those_of_the_method(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof ceilings / sizeof ceilings[0]; i++) {
		unsigned g = ceilings[i].generation, w = ceilings[i].width;

		assert_near(sv_pcie_ceiling_Bps(g, w, 128),
		    ceilings[i].small * 1e9, 0.02);
		assert_near(sv_pcie_ceiling_Bps(g, w, 0),
		    ceilings[i].usual * 1e9, 0.02);
	}
	/* What there is none of carries nothing, and no more than that. */
	assert_true(sv_pcie_ceiling_Bps(0, 16, 0) == 0.0);
	assert_true(sv_pcie_ceiling_Bps(7, 16, 0) == 0.0);
	assert_true(sv_pcie_ceiling_Bps(4, 0, 0) == 0.0);
	assert_true(sv_pcie_ceiling_Bps(4, 63, 0) == 0.0);
}

static void words_of_hypervisors_are_no_numbers(void **state)
{
	static const char *const speeds[] = {"Unknown", "Unknown speed", "",
	    "0.0 GT/s PCIe", "-1", "8", "8.0", "8.1 GT/s PCIe", "255 GT/s",
	    "16.0 GT/s"};
	static const char *const widths[] = {
	    "0", "63", "255", "-1", "x16", "", "3", "16x", "16"};

	(void)state;
	for (size_t i = 0; i + 1 < sizeof speeds / sizeof speeds[0]; i++)
		assert_int_equal(sv_link_speed_parse(speeds[i]), 0);
	assert_int_equal(sv_link_speed_parse("16.0 GT/s"), 4);
	assert_int_equal(sv_link_speed_parse("2.5 GT/s PCIe"), 1);
	assert_int_equal(sv_link_speed_parse("64.0 GT/s PCIe"), 6);
	for (size_t i = 0; i + 1 < sizeof widths / sizeof widths[0]; i++)
		assert_int_equal(sv_link_width_parse(widths[i]), 0);
	assert_int_equal(sv_link_width_parse("16"), 16);
	assert_int_equal(sv_link_width_parse("1"), 1);
}

#define SLOT(g, w)                                               \
	{                                                        \
		.address = "0000:00:01.0", .port = SV_PORT_ROOT, \
		.max_generation = (g), .max_width = (w)          \
	}
#define CARD(...)                                                      \
	{                                                              \
		.address = "0000:01:00.0", .port = SV_PORT_ENDPOINT,   \
		.is_card = true, .max_generation = 4, .max_width = 16, \
		__VA_ARGS__                                            \
	}

static void who_is_to_blame(void **state)
{
	static const struct {
		struct sv_hop hops[2];
		size_t hop;
		const char *why;
	} cases[] = {
	    /* Nothing is wrong. */
	    {{SLOT(4, 16), CARD(.load_generation = 4, .load_width = 16)}, 2,
		""},
	    /* A faster slot does not make a card slow. */
	    {{SLOT(5, 16), CARD(.load_generation = 4, .load_width = 16)}, 2,
		""},
	    {{SLOT(4, 16), CARD(.generation = 1, .width = 16)}, 2, ""},
	    {{SLOT(4, 8), CARD(.load_generation = 4, .load_width = 8)}, 0,
		"the slot at"},
	    {{SLOT(3, 16), CARD(.load_generation = 3, .load_width = 16)}, 0,
		"wired Gen3 x16"},
	    /* Width does not rest: read idle it counts. */
	    {{SLOT(4, 16), CARD(.generation = 1, .width = 4)}, 0,
		"although both ends"},
	    {{SLOT(4, 16), CARD(.load_generation = 2, .load_width = 16)}, 0,
		"Gen2 x16 although both ends can Gen4 x16"},
	    /* Nothing is known of the slot. */
	    {{SLOT(0, 0), CARD(.load_generation = 3, .load_width = 16)}, 0,
		"although both ends"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sv_narrowest narrow;

		sv_path_judge(cases[i].hops, 2, &narrow);
		assert_true(narrow.ceiling_Bps > 0.0);
		if (narrow.hop != cases[i].hop ||
		    strstr(narrow.why, cases[i].why) == NULL)
			fail_msg(
			    "case %zu: hop %zu: %s", i, narrow.hop, narrow.why);
	}
}

static void a_path_of_nothing_known_has_no_ceiling(void **state)
{
	const struct sv_hop hops[] = {
	    {.address = "0000:00:01.0"}, {.address = "0000:01:00.0"}};
	struct sv_narrowest narrow;

	(void)state;
	sv_path_judge(hops, 2, &narrow);
	assert_true(narrow.ceiling_Bps == 0.0);
	assert_int_equal(narrow.hop, 2);
	sv_path_judge(hops, 0, &narrow);
	assert_true(narrow.ceiling_Bps == 0.0);
}

#define ZEROS " 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
/* A card alone: the 64 bytes that an ordinary user sees. */
static const char dump[] =
    "0000:01:00.0 VGA: A card\n"
    "00: de 10 84 26 00 00 00 00 00 00 00 03 00 00 00 00\n"
    "10:" ZEROS "20:" ZEROS "30:" ZEROS;

static void write_link(const char *root, const char *speed, const char *width)
{
	static const char *const names[] = {
	    "current_link_speed", "current_link_width"};
	const char *const values[] = {speed, width};
	char path[512];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path,
		    "%s/sys/bus/pci/devices/0000:01:00.0/%s", root, names[i]);
		sv_spill(path, values[i], strlen(values[i]));
	}
}

static void links_are_watched_at_their_best(void **state)
{
	static const char *const folders[] = {"sys", "sys/bus", "sys/bus/pci",
	    "sys/bus/pci/devices", "sys/bus/pci/devices/0000:01:00.0"};
	char *root = sv_new_folder(), path[512], command[600];
	struct sv_hop hops[SV_MAX_HOPS];
	struct sv_sources sources;
	struct sv_pci_bus bus;
	struct sv_err err;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof path, "%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0777), 0);
	}
	assert_int_equal(
	    sv_pci_bus_parse(&bus, dump, sizeof dump - 1, "dump", &err), 0);
	assert_int_equal(sv_sources_init(&sources, root, NULL, &err), 0);
	write_link(root, "2.5 GT/s PCIe\n", "16\n");
	assert_int_equal(sv_path_read(&bus, &sources, "01:00.0", hops), 1);
	assert_int_equal(hops[0].generation, 1);
	assert_int_equal(hops[0].load_generation, 0);
	/* It speeds up under load, and rests again. */
	sv_path_watch(&bus, &sources, "0000:01:00.0");
	write_link(root, "16.0 GT/s PCIe\n", "16\n");
	sv_path_watch(&bus, &sources, "0000:01:00.0");
	write_link(root, "2.5 GT/s PCIe\n", "16\n");
	sv_path_watch(&bus, &sources, "0000:01:00.0");
	assert_int_equal(sv_path_read(&bus, &sources, "01:00.0", hops), 1);
	assert_int_equal(hops[0].generation, 1);
	assert_int_equal(hops[0].load_generation, 4);
	assert_int_equal(hops[0].load_width, 16);
	sv_sources_fini(&sources);
	sv_pci_bus_fini(&bus);
	snprintf(command, sizeof command, "rm -r '%s'", root);
	assert_int_equal(system(command), 0);
	free(root);
}

static void a_copy_faster_than_the_link_makes_it_untrusted(void **state)
{
	json_t *device = json_loads(
	    "{\"pcie\":{\"ceiling_Bps\":1e10,\"bottleneck\":\"0000:00:01.0\","
	    "\"trusted\":true}}",
	    0, NULL);

	(void)state;
	sv_machine_doubt_link(device, 1.04e10);
	assert_true(json_is_true(sv_walk(device, "pcie.trusted")));
	sv_machine_doubt_link(device, 1.2e10);
	assert_true(json_is_false(sv_walk(device, "pcie.trusted")));
	assert_true(json_is_null(sv_walk(device, "pcie.bottleneck")));
	assert_string_equal(
	    sv_why(device, "pcie.bottleneck"), "error: contradicted by a copy");
	json_decref(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ceilings_are_those_of_the_method),
	    cmocka_unit_test(words_of_hypervisors_are_no_numbers),
	    cmocka_unit_test(who_is_to_blame),
	    cmocka_unit_test(a_path_of_nothing_known_has_no_ceiling),
	    cmocka_unit_test(links_are_watched_at_their_best),
	    cmocka_unit_test(a_copy_faster_than_the_link_makes_it_untrusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
