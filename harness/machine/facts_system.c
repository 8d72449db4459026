/*
 * The system under everything: kernel, IOMMU, board, whether all of this is a
 * guest of another machine, and the variables that change results.
 */
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>

#include "facts.h"

extern char **environ;

/* Words of the kernel's command line that change results, in one line. */
static void allowed_words(const char *text, char *out, size_t size)
{
	static const char *const allowed[] = {"iommu", "intel_iommu",
	    "amd_iommu", "mitigations", "isolcpus", "nohz_full", "pcie_aspm",
	    "pci", "processor.max_cstate", "intel_idle.max_cstate",
	    "intel_pstate", "amd_pstate", "idle", "hugepages",
	    "default_hugepagesz", "transparent_hugepage", "nosmt",
	    "numa_balancing"};
	size_t used = 0;

	out[0] = '\0';
	while (*text != '\0') {
		size_t n = strcspn(text, " \n");

		for (size_t i = 0; i < sizeof allowed / sizeof allowed[0];
		     i++) {
			size_t m = strlen(allowed[i]);

			if (n >= m && strncmp(text, allowed[i], m) == 0 &&
			    (n == m || text[m] == '=') && used + n + 2 < size)
				used += (size_t)snprintf(out + used,
				    size - used, "%s%.*s", used > 0 ? " " : "",
				    (int)n, text);
		}
		text += n;
		text += strspn(text, " \n");
	}
}

static void command_line(json_t *machine, struct sv_sources *s)
{
	char text[SV_SOURCE_BYTES], words[2048];
	const char *why = sv_source_read_private(s, "proc/cmdline", text);
	json_t *list = json_array();
	char *word, *rest = words;

	words[0] = '\0';
	if (why == NULL) {
		/* The rest, the root device say, is nobody's business. */
		allowed_words(text, words, sizeof words);
		sv_source_keep(s, "proc/cmdline", words);
	}
	while ((word = strsep(&rest, " ")) != NULL)
		if (word[0] != '\0')
			json_array_append_new(list, json_string(word));
	sv_fact_or(machine, "os.cmdline_flags", why, list);
}

/* Have a recording list the folder again, as far as it matters. */
static void remember_first(
    struct sv_sources *s, const char *folder, json_t *names)
{
	const char *first = json_string_value(json_array_get(names, 0));
	char path[160];

	if (first == NULL)
		return;
	snprintf(path, sizeof path, "%s/%.80s", folder, first);
	(void)sv_source_exists(s, path);
}

/* On with the kind of translation of the first group, else "on" or "off". */
static void iommu(json_t *machine, struct sv_sources *s)
{
	json_t *units = sv_source_list(s, "sys/class/iommu");
	json_t *groups = sv_source_list(s, "sys/kernel/iommu_groups");
	bool is_on = json_array_size(units) > 0 || json_array_size(groups) > 0;
	bool has_class = sv_source_exists(s, "sys/class/iommu");

	remember_first(s, "sys/class/iommu", units);
	remember_first(s, "sys/kernel/iommu_groups", groups);
	if (is_on)
		sv_fact(machine, "os.iommu", json_string("on"));
	else if (has_class)
		sv_fact(machine, "os.iommu", json_string("off"));
	else
		sv_fact_unknown(machine, "os.iommu", "absent");
	sv_fact_text(machine, "os.iommu_group_type", s,
	    "sys/kernel/iommu_groups/0/type");
	json_decref(units);
	json_decref(groups);
}

/* Mitigations by name, as the kernel words them. */
static void vulnerabilities(json_t *machine, struct sv_sources *s)
{
	static const char folder[] = "sys/devices/system/cpu/vulnerabilities";
	json_t *names = sv_source_list(s, folder), *name;
	json_t *all = json_object();
	char text[SV_SOURCE_BYTES], path[160];
	size_t i;

	json_array_foreach (names, i, name) {
		snprintf(path, sizeof path, "%s/%.60s", folder,
		    json_string_value(name));
		if (sv_source_read(s, path, text) == NULL &&
		    strcmp(text, "Not affected") != 0)
			json_object_set_new(
			    all, json_string_value(name), json_string(text));
	}
	sv_fact_or(machine, "os.mitigations",
	    json_array_size(names) > 0 ? NULL : "absent", all);
	json_decref(names);
}

void sv_facts_system(json_t *machine, struct sv_sources *s)
{
	char text[SV_SOURCE_BYTES], name[256];
	const char *why;
	double load = 0.0;
	json_t *libc;

	sv_fact_text(machine, "os.kernel", s, "proc/sys/kernel/osrelease");
	why = sv_source_read(s, "etc/os-release", text);
	if (why == NULL &&
	    !sv_source_field(text, "PRETTY_NAME", name, sizeof name))
		why = "absent";
	sv_fact_or(machine, "os.distribution", why,
	    why == NULL ? json_string(name) : NULL);
	iommu(machine, s);
	command_line(machine, s);
	vulnerabilities(machine, s);
	/* Remembered, and told from memory: live and recorded alike. */
	sv_source_keep(s, "self/libc", gnu_get_libc_version());
	libc = json_object_get(s->texts, "self/libc");
	sv_fact_or(machine, "os.libc", libc != NULL ? NULL : "absent",
	    json_incref(libc));
	why = sv_source_read(s, "proc/loadavg", text);
	if (why == NULL && sscanf(text, "%lf", &load) != 1)
		why = "error: not a number";
	sv_fact_or(machine, "os.load", why, json_real(load));
	sv_fact_number(machine, "os.numa_balancing", s,
	    "proc/sys/kernel/numa_balancing", 1.0);
}

void sv_facts_board(json_t *machine, struct sv_sources *s)
{
	static const char *const files[][2] = {
	    {"board.vendor", "sys/class/dmi/id/sys_vendor"},
	    {"board.product", "sys/class/dmi/id/product_name"},
	    {"board.name", "sys/class/dmi/id/board_name"},
	    {"board.bios", "sys/class/dmi/id/bios_version"},
	    {"board.bios_date", "sys/class/dmi/id/bios_date"},
	};

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		sv_fact_text(machine, files[i][0], s, files[i][1]);
}

/*
 * The name that a hypervisor gives itself, "" without one. Source: CPUID leaf
 * 0x40000000, which hypervisors share by convention.
 */
static void hypervisor(struct sv_sources *s, char *out, size_t size)
{
	char text[SV_SOURCE_BYTES] = "";

	if (s->root == NULL) {
		if (sv_source_read(s, "self/hypervisor", text) != NULL)
			text[0] = '\0';
		snprintf(out, size, "%.12s", text);
		return;
	}
	out[0] = '\0';
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	/* A tree of files elsewhere is not this processor. */
	if (strcmp(s->root, "/") == 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
	    (c & (1u << 31)) != 0) {
		__cpuid(0x40000000, a, b, c, d);
		memcpy(text, &b, 4);
		memcpy(text + 4, &c, 4);
		memcpy(text + 8, &d, 4);
		text[12] = '\0';
		for (size_t i = 0; text[i] != '\0'; i++)
			if (text[i] < ' ' || text[i] > '~')
				text[i] = '?';
	}
#endif
	snprintf(out, size, "%s", text);
	if (text[0] != '\0')
		sv_source_keep(s, "self/hypervisor", text);
}

static void is_a(json_t *machine, const char *kind, const char *detail)
{
	sv_fact(machine, "virtualisation",
	    json_pack("{s:s, s:s?}", "kind", kind, "detail",
		detail[0] != '\0' ? detail : NULL));
}

/* What a guest can say of its host; "" for nothing. */
static void tell_host(struct sv_sources *s, char *out, size_t size)
{
	char vendor[SV_SOURCE_BYTES], product[SV_SOURCE_BYTES], name[16];
	size_t used;

	hypervisor(s, name, sizeof name);
	if (sv_source_read(s, "sys/class/dmi/id/sys_vendor", vendor) != NULL)
		vendor[0] = '\0';
	if (sv_source_read(s, "sys/class/dmi/id/product_name", product) != NULL)
		product[0] = '\0';
	used = (size_t)snprintf(out, size, "%.200s%s%.200s", vendor,
	    vendor[0] != '\0' && product[0] != '\0' ? " " : "", product);
	if (name[0] != '\0' && used < size)
		snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "",
		    name);
}

/* The bit that hypervisors set for their guests, or DMI's word. */
static bool is_guest(struct sv_sources *s, const char **why)
{
	char info[SV_SOURCE_BYTES], vendor[SV_SOURCE_BYTES];
	static const char *const makers[] = {"QEMU", "KVM", "VMware", "Xen",
	    "innotek GmbH", "Amazon EC2", "Google Compute", "Bochs"};

	*why = sv_source_read(s, "proc/cpuinfo", info);
	if (*why == NULL && strstr(info, " hypervisor") != NULL)
		return true;
	if (sv_source_read(s, "sys/class/dmi/id/sys_vendor", vendor) != NULL)
		return false;
	for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
		if (strstr(vendor, makers[i]) != NULL)
			return true;
	return false;
}

static bool is_container(struct sv_sources *s, char *detail, size_t size)
{
	static const char *const marks[] = {".dockerenv", "run/.containerenv"};
	static const char *const words[] = {
	    "docker", "kubepods", "lxc", "containerd", "libpod", "podman"};
	char text[SV_SOURCE_BYTES];

	for (size_t i = 0; i < 2; i++)
		if (sv_source_exists(s, marks[i])) {
			snprintf(detail, size, "%s", marks[i]);
			return true;
		}
	/* systemd's word to those who ask from inside. */
	if (sv_source_read(s, "run/systemd/container", text) == NULL &&
	    text[0] != '\0') {
		snprintf(detail, size, "%.60s", text);
		return true;
	}
	if (sv_source_read(s, "proc/1/cgroup", text) != NULL)
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(text, words[i]) != NULL) {
			snprintf(detail, size, "%s", words[i]);
			return true;
		}
	return false;
}

void sv_facts_virtualisation(json_t *machine, struct sv_sources *s)
{
	char release[SV_SOURCE_BYTES], detail[512], host[480];
	const char *why;
	bool guest = is_guest(s, &why);

	if (sv_source_read(s, "proc/sys/kernel/osrelease", release) == NULL &&
	    strcasestr(release, "microsoft") != NULL) {
		is_a(machine, "wsl", release);
		return;
	}
	tell_host(s, host, sizeof host);
	/* A container in a guest is both: its registers are the guest's. */
	if (is_container(s, detail, sizeof detail))
		is_a(machine, "container", detail);
	else if (guest)
		is_a(machine, "vm", host);
	else if (why != NULL)
		sv_fact_unknown(machine, "virtualisation", why);
	else
		is_a(machine, "none", "");
	if (json_is_object(json_object_get(machine, "virtualisation")))
		sv_fact(machine, "virtualisation.guest", json_boolean(guest));
}

/* "NAME=value" lines of the variables that are told. */
static void allowed_variables(char *out, size_t size)
{
	/* A star stands for any end. */
	static const char *const allowed[] = {"OMP_*", "OPENBLAS_*", "MKL_*",
	    "GOTO_NUM_THREADS", "CUDA_*", "CUBLAS_*", "NVIDIA_TF32_OVERRIDE",
	    "NCCL_*", "MALLOC_*", "KMP_*"};
	size_t used = 0;

	out[0] = '\0';
	for (char **entry = environ; *entry != NULL; entry++) {
		size_t n = strcspn(*entry, "=\n");

		for (size_t i = 0; i < sizeof allowed / sizeof allowed[0];
		     i++) {
			size_t m = strcspn(allowed[i], "*");
			bool open = allowed[i][m] == '*';

			if (n < m || strncmp(*entry, allowed[i], m) != 0 ||
			    (!open && n != m) || (*entry)[n] != '=' ||
			    strchr(*entry, '\n') != NULL)
				continue;
			if (used + strlen(*entry) + 2 < size)
				used += (size_t)snprintf(
				    out + used, size - used, "%s\n", *entry);
		}
	}
}

void sv_facts_environment(json_t *machine, struct sv_sources *s)
{
	char text[SV_SOURCE_BYTES] = "", *line, *rest = text;
	json_t *set = json_object();

	if (s->root != NULL) {
		allowed_variables(text, sizeof text);
		sv_source_keep(s, "self/environ", text);
	} else if (sv_source_read(s, "self/environ", text) != NULL) {
		text[0] = '\0';
	}
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *value = strchr(line, '=');

		if (value == NULL)
			continue;
		*value = '\0';
		json_t *tree = json_string(value + 1);

		if (tree != NULL)
			json_object_set_new(set, line, tree);
	}
	json_object_set_new(machine, "environment", set);
}
