/* Fields and their absence, and what /proc and /sys tell; see the header. */
#include "facts.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "sources.h"

extern char **environ;

static json_t *home_of(json_t *machine, const char *path, const char **name)
{
	const char *dot = strchr(path, '.');
	char head[64];
	json_t *inner;

	*name = path;
	if (dot == NULL)
		return machine;
	snprintf(head, sizeof head, "%.*s", (int)(dot - path), path);
	inner = json_object_get(machine, head);
	if (!json_is_object(inner)) {
		inner = json_object();
		json_object_set_new(machine, head, inner);
	}
	*name = dot + 1;
	return inner;
}

void sv_fact_unknown(json_t *machine, const char *path, const char *why)
{
	const char *name;
	json_t *home = home_of(machine, path, &name);
	json_t *list = json_object_get(machine, "unknown");

	json_object_set_new(home, name, json_null());
	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(machine, "unknown", list);
	}
	json_array_append_new(
	    list, json_pack("{s:s, s:s}", "field", path, "why", why));
}

void sv_fact(json_t *machine, const char *path, json_t *take_value)
{
	const char *name;
	json_t *home = home_of(machine, path, &name);

	if (take_value == NULL)
		sv_fact_unknown(machine, path, "error: not UTF-8 text");
	else
		json_object_set_new(home, name, take_value);
}

/* A number of kHz as Hz, or unknown. */
static void khz_fact(
    json_t *machine, const char *root, const char *field, const char *path)
{
	long long khz;
	const char *why = sv_source_number(root, path, &khz);

	if (why != NULL)
		sv_fact_unknown(machine, field, why);
	else
		sv_fact(machine, field, json_real((double)khz * 1e3));
}

static void text_fact(
    json_t *machine, const char *root, const char *field, const char *path)
{
	char text[SV_SOURCE_BYTES];
	const char *why = sv_source_read(root, path, text);

	if (why != NULL)
		sv_fact_unknown(machine, field, why);
	else
		sv_fact(machine, field, json_string(text));
}

static void idle_states(json_t *machine, const char *root)
{
	static const char folder[] =
	    "sys/devices/system/cpu/cpu0/cpuidle/state";
	char path[128], name[SV_SOURCE_BYTES];
	json_t *list = json_array();

	for (int i = 0; i < 16; i++) {
		long long latency_us, disabled;

		snprintf(path, sizeof path, "%s%d/name", folder, i);
		if (sv_source_read(root, path, name) != NULL)
			break;
		snprintf(path, sizeof path, "%s%d/latency", folder, i);
		if (sv_source_number(root, path, &latency_us) != NULL)
			continue;
		snprintf(path, sizeof path, "%s%d/disable", folder, i);
		if (sv_source_number(root, path, &disabled) != NULL)
			disabled = 0;
		json_array_append_new(list,
		    json_pack("{s:s, s:f, s:b}", "name", name, "exit_latency_s",
			(double)latency_us * 1e-6, "disabled", disabled != 0));
	}
	if (json_array_size(list) > 0) {
		sv_fact(machine, "cpu.c_states", list);
	} else {
		json_decref(list);
		sv_fact_unknown(machine, "cpu.c_states", "absent");
	}
}

/* Threads by affinity, and no more than the cgroup's quota allows. */
static int usable_threads(const char *root)
{
	char text[SV_SOURCE_BYTES];
	double quota, period;
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		n = CPU_COUNT(&set);
	if (sv_source_read(root, "sys/fs/cgroup/cpu.max", text) == NULL &&
	    sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0.0) {
		int allowed = (int)((quota + period - 1.0) / period);

		if (n == 0 || allowed < n)
			n = allowed;
	}
	return n;
}

void sv_facts_processor(json_t *machine, const char *root)
{
	static const char freq[] = "sys/devices/system/cpu/cpu0/cpufreq/";
	char text[SV_SOURCE_BYTES], model[256], path[128];
	const char *why = sv_source_read(root, "proc/cpuinfo", text);
	int usable = usable_threads(root);
	long long smt;

	if (why == NULL &&
	    sv_source_field(text, "model name", model, sizeof model))
		sv_fact(machine, "cpu.model", json_string(model));
	else
		sv_fact_unknown(
		    machine, "cpu.model", why != NULL ? why : "absent");
	if (usable > 0)
		sv_fact(machine, "cpu.usable_threads", json_integer(usable));
	else
		sv_fact_unknown(machine, "cpu.usable_threads", "not_supported");
	snprintf(path, sizeof path, "%sscaling_governor", freq);
	text_fact(machine, root, "cpu.governor", path);
	snprintf(path, sizeof path, "%scpuinfo_max_freq", freq);
	khz_fact(machine, root, "cpu.max_Hz", path);
	snprintf(path, sizeof path, "%scpuinfo_min_freq", freq);
	khz_fact(machine, root, "cpu.min_Hz", path);
	why = sv_source_number(root, "sys/devices/system/cpu/smt/active", &smt);
	if (why != NULL)
		sv_fact_unknown(machine, "cpu.smt", why);
	else
		sv_fact(machine, "cpu.smt", json_boolean(smt != 0));
	idle_states(machine, root);
}

static void kib_fact(
    json_t *machine, const char *text, const char *field, const char *key)
{
	char value[64];
	unsigned long long kib;

	if (sv_source_field(text, key, value, sizeof value) &&
	    sscanf(value, "%llu kB", &kib) == 1)
		sv_fact(machine, field, json_integer((json_int_t)kib << 10));
	else
		sv_fact_unknown(machine, field, "absent");
}

/* The choice that the kernel marks with brackets. */
static void chosen_fact(
    json_t *machine, const char *root, const char *field, const char *path)
{
	char text[SV_SOURCE_BYTES], *from, *to;
	const char *why = sv_source_read(root, path, text);

	if (why == NULL && (from = strchr(text, '[')) != NULL &&
	    (to = strchr(from, ']')) != NULL) {
		*to = '\0';
		sv_fact(machine, field, json_string(from + 1));
		return;
	}
	sv_fact_unknown(
	    machine, field, why != NULL ? why : "error: no choice marked");
}

void sv_facts_memory(json_t *machine, const char *root)
{
	char text[SV_SOURCE_BYTES];
	const char *why = sv_source_read(root, "proc/meminfo", text);
	struct rlimit limit;

	if (why != NULL) {
		sv_fact_unknown(machine, "memory.total_bytes", why);
		sv_fact_unknown(machine, "memory.available_bytes", why);
	} else {
		kib_fact(machine, text, "memory.total_bytes", "MemTotal");
		kib_fact(
		    machine, text, "memory.available_bytes", "MemAvailable");
	}
	chosen_fact(machine, root, "memory.thp",
	    "sys/kernel/mm/transparent_hugepage/enabled");
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		sv_fact_unknown(
		    machine, "memory.memlock_limit_bytes", "not_supported");
	else if (limit.rlim_cur == RLIM_INFINITY)
		sv_fact_unknown(
		    machine, "memory.memlock_limit_bytes", "unlimited");
	else
		sv_fact(machine, "memory.memlock_limit_bytes",
		    json_integer((json_int_t)limit.rlim_cur));
}

/* Words of the kernel's command line that change results. */
static json_t *command_flags(const char *text)
{
	static const char *const allowed[] = {"iommu", "intel_iommu",
	    "amd_iommu", "mitigations", "isolcpus", "nohz_full", "pcie_aspm",
	    "pci", "processor.max_cstate", "intel_idle.max_cstate",
	    "intel_pstate", "amd_pstate", "idle", "hugepages",
	    "default_hugepagesz", "transparent_hugepage", "nosmt",
	    "numa_balancing"};
	json_t *list = json_array();

	while (*text != '\0') {
		size_t n = strcspn(text, " \n");

		for (size_t i = 0; i < sizeof allowed / sizeof allowed[0];
		     i++) {
			size_t m = strlen(allowed[i]);

			if (n >= m && strncmp(text, allowed[i], m) == 0 &&
			    (n == m || text[m] == '='))
				json_array_append_new(
				    list, json_stringn(text, n));
		}
		text += n;
		text += strspn(text, " \n");
	}
	return list;
}

void sv_facts_system(json_t *machine, const char *root)
{
	char text[SV_SOURCE_BYTES], name[256];
	struct utsname uts;
	const char *why =
	    sv_source_read(root, "proc/sys/kernel/osrelease", text);

	if (why == NULL)
		sv_fact(machine, "os.kernel", json_string(text));
	else if (uname(&uts) == 0)
		sv_fact(machine, "os.kernel", json_string(uts.release));
	else
		sv_fact_unknown(machine, "os.kernel", why);
	why = sv_source_read(root, "etc/os-release", text);
	if (why == NULL &&
	    sv_source_field(text, "PRETTY_NAME", name, sizeof name))
		sv_fact(machine, "os.distribution", json_string(name));
	else
		sv_fact_unknown(
		    machine, "os.distribution", why != NULL ? why : "absent");
	if (!sv_source_exists(root, "sys/class/iommu"))
		sv_fact_unknown(machine, "os.iommu", "absent");
	else
		sv_fact(machine, "os.iommu",
		    json_string(
			sv_source_exists(root, "sys/class/iommu/dmar0") ||
				sv_source_exists(
				    root, "sys/class/iommu/ivhd0") ||
				sv_source_exists(
				    root, "sys/kernel/iommu_groups/0")
			    ? "on"
			    : "off"));
	why = sv_source_read(root, "proc/cmdline", text);
	if (why != NULL)
		sv_fact_unknown(machine, "os.cmdline_flags", why);
	else
		sv_fact(machine, "os.cmdline_flags", command_flags(text));
}

static void is_a(json_t *machine, const char *kind, json_t *take_detail)
{
	sv_fact(machine, "virtualisation",
	    json_pack("{s:s, s:o}", "kind", kind, "detail", take_detail));
}

void sv_facts_virtualisation(json_t *machine, const char *root)
{
	char release[SV_SOURCE_BYTES], vendor[SV_SOURCE_BYTES];
	char product[SV_SOURCE_BYTES], info[SV_SOURCE_BYTES], detail[512];
	static const char *const marks[] = {".dockerenv", "run/.containerenv"};

	if (sv_source_read(root, "proc/sys/kernel/osrelease", release) ==
		NULL &&
	    strcasestr(release, "microsoft") != NULL) {
		is_a(machine, "wsl", json_string(release));
		return;
	}
	for (size_t i = 0; i < 2; i++)
		if (sv_source_exists(root, marks[i])) {
			is_a(machine, "container", json_string(marks[i]));
			return;
		}
	if (sv_source_read(root, "proc/cpuinfo", info) != NULL) {
		sv_fact_unknown(machine, "virtualisation", "absent");
		return;
	}
	/* The bit that hypervisors set for their guests. */
	if (strstr(info, " hypervisor") == NULL) {
		is_a(machine, "none", json_null());
		return;
	}
	if (sv_source_read(root, "sys/class/dmi/id/sys_vendor", vendor) != NULL)
		vendor[0] = '\0';
	if (sv_source_read(root, "sys/class/dmi/id/product_name", product) !=
	    NULL)
		product[0] = '\0';
	snprintf(detail, sizeof detail, "%.200s%s%.200s", vendor,
	    vendor[0] != '\0' && product[0] != '\0' ? " " : "", product);
	is_a(machine, "vm",
	    detail[0] != '\0' ? json_string(detail) : json_null());
}

/* File systems by their magic numbers. Source: statfs(2). */
static const struct {
	long magic;
	const char *name, *transport; /* transport NULL: ask the device */
} file_systems[] = {
    {0xEF53, "ext4", NULL},
    {0x58465342, "xfs", NULL},
    {0x9123683E, "btrfs", NULL},
    {0x2FC12FC1, "zfs", "unknown"},
    {0x01021994, "tmpfs", "memory"},
    {0x858458F6, "ramfs", "memory"},
    {0x794C7630, "overlay", "unknown"},
    {0x6969, "nfs", "network"},
    {0xFF534D42, "cifs", "network"},
    {0xFE534D42, "smb2", "network"},
    {0x01021997, "9p", "network"},
    {0x65735546, "fuse", "unknown"},
    {0x0BD00BD0, "lustre", "network"},
    {0xF2F52010, "f2fs", NULL},
};

/* How the block device of a number is attached, by its place in sysfs. */
static const char *transport_of(const char *root, dev_t device)
{
	char path[128], full[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof path, "sys/dev/block/%u:%u", major(device),
	    minor(device));
	snprintf(full, sizeof full, "%s/%s", root, path);
	if (realpath(full, target) == NULL)
		return "unknown";
	return strstr(target, "/nvme") != NULL	? "nvme"
	       : strstr(target, "/usb") != NULL ? "usb"
	       : strstr(target, "/ata") != NULL ? "sata"
						: "unknown";
}

static void rotational_fact(json_t *machine, const char *root, dev_t device)
{
	const char *why = "absent";
	char path[128];
	long long value;

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path,
		    i == 0 ? "sys/dev/block/%u:%u/queue/rotational"
			   : "sys/dev/block/%u:%u/../queue/rotational",
		    major(device), minor(device));
		why = sv_source_number(root, path, &value);
		if (why == NULL) {
			sv_fact(machine, "storage.rotational",
			    json_boolean(value != 0));
			return;
		}
	}
	sv_fact_unknown(machine, "storage.rotational", why);
}

void sv_facts_storage(json_t *machine, const char *root, const char *path)
{
	char full[PATH_MAX];
	struct statfs fs;
	struct stat info;
	size_t i = 0, n = sizeof file_systems / sizeof file_systems[0];

	sv_fact(machine, "storage.path",
	    json_string(realpath(path, full) != NULL ? full : path));
	if (statfs(path, &fs) != 0 || stat(path, &info) != 0) {
		sv_fact_unknown(machine, "storage.filesystem", "absent");
		sv_fact_unknown(machine, "storage.rotational", "absent");
		sv_fact(machine, "storage.transport", json_string("unknown"));
		return;
	}
	while (i < n && file_systems[i].magic != (long)fs.f_type)
		i++;
	if (i < n)
		sv_fact(machine, "storage.filesystem",
		    json_string(file_systems[i].name));
	else
		sv_fact_unknown(machine, "storage.filesystem", "not_supported");
	sv_fact(machine, "storage.transport",
	    json_string(i < n && file_systems[i].transport != NULL
			    ? file_systems[i].transport
			    : transport_of(root, info.st_dev)));
	rotational_fact(machine, root, info.st_dev);
}

void sv_facts_environment(json_t *machine)
{
	/* A star stands for any end. */
	static const char *const allowed[] = {"OMP_*", "OPENBLAS_*", "MKL_*",
	    "GOTO_NUM_THREADS", "CUDA_*", "CUBLAS_*", "NVIDIA_TF32_OVERRIDE",
	    "NCCL_*", "MALLOC_*", "KMP_*"};
	json_t *set = json_object();

	for (char **entry = environ; *entry != NULL; entry++) {
		size_t n = strcspn(*entry, "=");
		char name[128];

		snprintf(name, sizeof name, "%.*s", (int)n, *entry);
		for (size_t i = 0; i < sizeof allowed / sizeof allowed[0];
		     i++) {
			size_t m = strcspn(allowed[i], "*");
			bool open = allowed[i][m] == '*';

			if (strncmp(name, allowed[i], m) != 0 ||
			    (!open && n != m) || (*entry)[n] != '=')
				continue;
			json_t *value = json_string(*entry + n + 1);

			if (value != NULL)
				json_object_set_new(set, name, value);
		}
	}
	json_object_set_new(machine, "environment", set);
}
