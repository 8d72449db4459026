/* Fields read from small trees of files, and why others could not be. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "facts.h"
#include "machine.h"
#include "near.h"
#include "result.h"
#include "sources.h"
#include "walk.h"

static char root[64];
/* The tree below root, as a live machine's. */
static struct sv_sources sources;

static void put(const char *name, const char *text)
{
	char full[256], command[400];
	FILE *file;

	snprintf(full, sizeof full, "%s/%s", root, name);
	snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", full);
	assert_int_equal(system(command), 0);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static const char *text(json_t *machine, const char *path)
{
	return json_string_value(sv_result_field(machine, path));
}

static void a_desktop_is_read(void **state)
{
	static const char freq[] = "sys/devices/system/cpu/cpu0/cpufreq/";
	static const char policy[] =
	    "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
	json_t *m = json_object();
	char name[128];

	(void)state;
	put("proc/cpuinfo", "processor : 0\nmodel name\t: A CPU @ 3 GHz\n");
	put(policy, "powersave\n");
	snprintf(name, sizeof name, "%scpuinfo_max_freq", freq);
	put(name, "4800000\n");
	snprintf(name, sizeof name, "%scpuinfo_min_freq", freq);
	put(name, "not a number\n");
	put("sys/devices/system/cpu/smt/active", "1\n");
	put("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n");
	put("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n");
	put("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n");
	put("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "170\n");
	put("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n");
	sv_facts_processor(m, &sources);
	assert_string_equal(text(m, "cpu.model"), "A CPU @ 3 GHz");
	assert_string_equal(text(m, "cpu.governor"), "powersave");
	assert_near(
	    json_number_value(sv_result_field(m, "cpu.max_Hz")), 4.8e9, 0.0);
	assert_null(sv_result_field(m, "cpu.min_Hz"));
	assert_string_equal(sv_why(m, "cpu.min_Hz"), "error: not a number");
	assert_true(json_is_true(sv_result_field(m, "cpu.smt")));
	json_t *deep = json_array_get(sv_result_field(m, "cpu.c_states"), 1);

	assert_near(json_number_value(json_object_get(deep, "exit_latency_s")),
	    170e-6, 1e-12);
	assert_true(json_is_true(json_object_get(deep, "disabled")));
	json_decref(m);
}

static void what_is_not_there_is_absent_and_never_zero(void **state)
{
	json_t *m = json_object();
	struct sv_sources nowhere;
	struct sv_err err;

	(void)state;
	assert_int_equal(sv_sources_init(&nowhere, "/nowhere", NULL, &err), 0);
	sv_facts_processor(m, &nowhere);
	sv_facts_memory(m, &nowhere);
	sv_facts_virtualisation(m, &nowhere);
	sv_sources_fini(&nowhere);
	assert_null(sv_result_field(m, "cpu.max_Hz"));
	assert_string_equal(sv_why(m, "cpu.max_Hz"), "absent");
	assert_string_equal(sv_why(m, "memory.total_bytes"), "absent");
	assert_string_equal(sv_why(m, "cpu.governor"), "absent");
	json_decref(m);
}

static void no_permission_is_told_from_absent(void **state)
{
	char full[128], out[SV_SOURCE_BYTES];

	(void)state;
	put("secret", "x");
	snprintf(full, sizeof full, "%s/secret", root);
	assert_int_equal(chmod(full, 0), 0);
	assert_int_equal(chmod(root, 0755), 0);
	/* Root may read everything: be somebody else meanwhile. */
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	assert_string_equal(
	    sv_source_read(&sources, "secret", out), "no_permission");
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	/* And it is remembered, for a recording. */
	assert_string_equal(
	    json_string_value(json_object_get(sources.refused, "secret")),
	    "no_permission");
}

static void memory_and_system_are_read(void **state)
{
	json_t *m = json_object();

	(void)state;
	put("proc/meminfo", "MemTotal:  1024 kB\nMemAvailable: 512 kB\n");
	put("sys/kernel/mm/transparent_hugepage/enabled",
	    "always [madvise] never\n");
	put("proc/sys/kernel/osrelease", "6.8.0-test\n");
	put("etc/os-release", "NAME=\"D\"\nPRETTY_NAME=\"Debian 12\"\n");
	put("proc/cmdline", "root=/dev/sda1 iommu=pt quiet mitigations=off\n");
	sv_facts_memory(m, &sources);
	sv_facts_system(m, &sources);
	assert_near(json_number_value(sv_result_field(m, "memory.total_bytes")),
	    1048576.0, 0.0);
	assert_string_equal(text(m, "memory.thp"), "madvise");
	assert_string_equal(text(m, "os.kernel"), "6.8.0-test");
	assert_string_equal(text(m, "os.distribution"), "Debian 12");
	json_t *flags = sv_result_field(m, "os.cmdline_flags");

	/* The root device is nobody's business. */
	assert_int_equal(json_array_size(flags), 2);
	assert_string_equal(
	    json_string_value(json_array_get(flags, 0)), "iommu=pt");
	json_decref(m);
}

static void guests_know_that_they_are(void **state)
{
	json_t *m = json_object();

	(void)state;
	put("proc/cpuinfo", "flags\t: fpu hypervisor avx\n");
	put("sys/class/dmi/id/sys_vendor", "QEMU\n");
	put("proc/sys/kernel/osrelease", "6.8.0\n");
	sv_facts_virtualisation(m, &sources);
	assert_string_equal(text(m, "virtualisation.kind"), "vm");
	assert_string_equal(text(m, "virtualisation.detail"), "QEMU");
	put("run/.containerenv", "");
	sv_facts_virtualisation(m, &sources);
	assert_string_equal(text(m, "virtualisation.kind"), "container");
	put("proc/sys/kernel/osrelease", "5.15-microsoft-standard-WSL2\n");
	sv_facts_virtualisation(m, &sources);
	assert_string_equal(text(m, "virtualisation.kind"), "wsl");
	json_decref(m);
}

static void this_machine_is_read_without_inventing(void **state)
{
	struct sv_machine *machine;
	struct sv_err err;
	json_t *m;

	(void)state;
	assert_int_equal(sv_machine_open(".", &machine, &err), 0);
	m = sv_machine_json(machine);
	assert_true(
	    json_number_value(sv_result_field(m, "cpu.usable_threads")) >= 1.0);
	assert_true(json_is_array(json_object_get(m, "numa")));
	assert_true(json_is_object(json_object_get(m, "environment")));
	/* Every null of the groups that are told has its reason. */
	json_t *cpu = json_object_get(m, "cpu"), *value;
	const char *key;

	json_object_foreach (cpu, key, value) {
		char field[64];

		snprintf(field, sizeof field, "cpu.%s", key);
		assert_true(!json_is_null(value) || sv_why(m, field) != NULL);
	}
	sv_machine_bind(machine, NULL);
	sv_machine_unbind(machine);
	sv_machine_close(machine);
	assert_true(sv_machine_pci_cards(NULL, 0) < 1000);
}

static int set_up(void **state)
{
	struct sv_err err;

	(void)state;
	snprintf(root, sizeof root, "/tmp/stave-test-XXXXXX");
	return mkdtemp(root) == NULL ||
	       sv_sources_init(&sources, root, NULL, &err) != 0;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	sv_sources_fini(&sources);
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_desktop_is_read),
	    cmocka_unit_test(what_is_not_there_is_absent_and_never_zero),
	    cmocka_unit_test(no_permission_is_told_from_absent),
	    cmocka_unit_test(memory_and_system_are_read),
	    cmocka_unit_test(guests_know_that_they_are),
	    cmocka_unit_test(this_machine_is_read_without_inventing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down) != 0;
}
