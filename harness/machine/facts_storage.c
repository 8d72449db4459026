/*
 * The file system that a folder is on and the device below it; and the memory
 * that processes share through files. All from the kernel's list of mounts,
 * which a recording can keep.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "pci_path.h"

#define MAX_PATH 1024

/* One line of /proc/self/mountinfo. */
struct mount {
	char line[2048];
	unsigned major, minor;
	char point[MAX_PATH], type[64], options[512];
};

/* Octal escapes of blanks and the like, "\040", undone. */
static void unescape(char *text)
{
	char *out = text;

	while (*text != '\0') {
		unsigned code;

		if (text[0] == '\\' && sscanf(text + 1, "%3o", &code) == 1 &&
		    code > 0 && code < 256 && strlen(text) >= 4) {
			*out++ = (char)code;
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

/* Source: proc_pid_mountinfo(5). */
static bool parse_mount(const char *line, struct mount *m)
{
	const char *dash = strstr(line, " - ");

	if (dash == NULL ||
	    sscanf(line, "%*d %*d %u:%u %*s %1023s", &m->major, &m->minor,
		m->point) != 3 ||
	    sscanf(dash, " - %63s %*s %511s", m->type, m->options) < 1)
		return false;
	unescape(m->point);
	snprintf(m->line, sizeof m->line, "%.2000s", line);
	return true;
}

/* Whether path lies on or below a mount point. */
static bool is_below(const char *path, const char *point)
{
	size_t n = strlen(point);

	if (n > 1 && point[n - 1] == '/')
		n--;
	return n == 1 || (strncmp(path, point, n) == 0 &&
			     (path[n] == '\0' || path[n] == '/'));
}

/* The mount that path is on: the longest point, the last of equal ones. */
static const char *find_mount(
    const char *mounts, const char *path, struct mount *found)
{
	size_t longest = 0;
	struct mount m;

	for (const char *line = mounts; line != NULL && *line != '\0';) {
		const char *end = strchr(line, '\n');
		char one[sizeof m.line];

		snprintf(one, sizeof one, "%.*s",
		    (int)(end != NULL ? end - line : (long)strlen(line)), line);
		m = (struct mount){.options = ""};
		if (parse_mount(one, &m) && is_below(path, m.point) &&
		    strlen(m.point) >= longest) {
			longest = strlen(m.point);
			*found = m;
		}
		line = end != NULL ? end + 1 : NULL;
	}
	return longest > 0 ? NULL : "absent";
}

static const char *read_mounts(
    struct sv_sources *s, const char *path, struct mount *found)
{
	static const char file[] = "proc/self/mountinfo";
	char text[SV_SOURCE_BYTES], kept[SV_SOURCE_BYTES] = "";
	const char *why = sv_source_read_private(s, file, text);
	const char *before = json_string_value(json_object_get(s->texts, file));

	if (why == NULL)
		why = find_mount(text, path, found);
	/* The other mounts are nobody's business. */
	if (why == NULL) {
		snprintf(kept, sizeof kept, "%s%s%.2000s",
		    before != NULL ? before : "", before != NULL ? "\n" : "",
		    found->line);
		sv_source_keep(s, file, kept);
	}
	return why;
}

/*
 * "/sys/devices/…" of a block device, from the link "../../devices/…"; false
 * for a link that leads elsewhere.
 */
static bool device_folder(
    struct sv_sources *s, const char *link_path, char *out, size_t size)
{
	char target[MAX_PATH];
	const char *at;

	sv_source_link(s, link_path, target, sizeof target);
	at = strstr(target, "devices/");
	if (at == NULL || strstr(at, "..") != NULL)
		return false;
	snprintf(out, size, "sys/%.900s", at);
	return true;
}

static const char *transport_of(const char *folder)
{
	return strstr(folder, "/nvme") != NULL	 ? "nvme"
	       : strstr(folder, "/usb") != NULL	 ? "usb"
	       : strstr(folder, "/ata") != NULL	 ? "sata"
	       : strstr(folder, "/zram") != NULL ? "memory"
						 : "unknown";
}

/* From a mapped device (LVM, dm-crypt, RAID) to the first one below it. */
static void go_below(
    json_t *machine, struct sv_sources *s, char *folder, size_t size)
{
	char path[MAX_PATH + 96], uuid[SV_SOURCE_BYTES];

	for (int depth = 0; depth < 4; depth++) {
		json_t *below;
		const char *name;

		snprintf(path, sizeof path, "%.900s/dm/uuid", folder);
		/* It tells dm-crypt, and more that is private. */
		if (sv_source_read_private(s, path, uuid) == NULL) {
			bool crypt = strncmp(uuid, "CRYPT-", 6) == 0;

			sv_source_keep(s, path, crypt ? "CRYPT-" : "");
			if (crypt)
				sv_fact(
				    machine, "storage.encrypted", json_true());
		}
		snprintf(path, sizeof path, "%.900s/slaves", folder);
		below = sv_source_list(s, path);
		name = json_string_value(json_array_get(below, 0));
		if (name == NULL) {
			json_decref(below);
			return;
		}
		snprintf(
		    path, sizeof path, "%.900s/slaves/%.60s", folder, name);
		sv_source_keep(s, path, "");
		snprintf(path, sizeof path, "sys/class/block/%.60s", name);
		json_decref(below);
		if (!device_folder(s, path, folder, size))
			return;
	}
}

/* The link of an NVMe disk, by the address in its folder's name. */
static void link_facts(
    json_t *machine, struct sv_sources *s, const char *folder)
{
	const char *end = strstr(folder, "/nvme/"), *from = end;
	char path[160], address[48], text[SV_SOURCE_BYTES];
	unsigned generation = 0, width = 0;

	if (end == NULL)
		return;
	while (from > folder && from[-1] != '/')
		from--;
	snprintf(address, sizeof address, "%.*s", (int)(end - from), from);
	snprintf(path, sizeof path, "sys/bus/pci/devices/%s/current_link_speed",
	    address);
	if (sv_source_read(s, path, text) == NULL)
		generation = sv_link_speed_parse(text);
	snprintf(path, sizeof path, "sys/bus/pci/devices/%s/current_link_width",
	    address);
	if (sv_source_read(s, path, text) == NULL)
		width = sv_link_width_parse(text);
	sv_fact_or(machine, "storage.link.generation",
	    generation > 0 ? NULL : "absent", json_integer(generation));
	sv_fact_or(machine, "storage.link.width", width > 0 ? NULL : "absent",
	    json_integer(width));
}

static void device_facts(
    json_t *machine, struct sv_sources *s, const struct mount *m)
{
	char path[MAX_PATH + 96], folder[MAX_PATH], *slash;
	long long rotational = 0;
	const char *why;

	snprintf(path, sizeof path, "sys/dev/block/%u:%u", m->major, m->minor);
	if (!device_folder(s, path, folder, sizeof folder)) {
		sv_fact(machine, "storage.transport", json_string("unknown"));
		sv_fact_unknown(machine, "storage.rotational", "absent");
		return;
	}
	go_below(machine, s, folder, sizeof folder);
	/* A partition's queue is its disk's. */
	snprintf(path, sizeof path, "%s/partition", folder);
	if (sv_source_exists(s, path) && (slash = strrchr(folder, '/')) != NULL)
		*slash = '\0';
	sv_fact(
	    machine, "storage.transport", json_string(transport_of(folder)));
	link_facts(machine, s, folder);
	snprintf(path, sizeof path, "%s/queue/rotational", folder);
	why = sv_source_number(s, path, &rotational);
	sv_fact_or(
	    machine, "storage.rotational", why, json_boolean(rotational != 0));
	snprintf(path, sizeof path, "%s/queue/scheduler", folder);
	sv_fact_choice(machine, "storage.scheduler", s, path);
}

static const char *transport_of_type(const char *type)
{
	static const struct {
		const char *type, *transport;
	} known[] = {{"tmpfs", "memory"}, {"ramfs", "memory"},
	    {"nfs", "network"}, {"nfs4", "network"}, {"cifs", "network"},
	    {"smb3", "network"}, {"9p", "network"}, {"lustre", "network"},
	    {"ceph", "network"}, {"beegfs", "network"}, {"gpfs", "network"},
	    {"fuse.sshfs", "network"}, {"overlay", "unknown"}};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].type, type) == 0)
			return known[i].transport;
	return NULL;
}

/* /dev/shm: what loaders with processes pass batches through. */
static void shared_memory(json_t *machine, struct sv_sources *s)
{
	unsigned long long size = 0;
	struct mount m;
	const char *why = read_mounts(s, "/dev/shm", &m), *at;
	char unit = '\0';

	if (why == NULL && strcmp(m.point, "/dev/shm") != 0)
		why = "absent";
	at = why == NULL ? strstr(m.options, "size=") : NULL;
	if (at != NULL && sscanf(at, "size=%llu%c", &size, &unit) >= 1) {
		size *= unit == 'k'   ? 1024ull
			: unit == 'm' ? 1024ull * 1024
			: unit == 'g' ? 1024ull * 1024 * 1024
				      : 1ull;
		sv_fact(machine, "memory.shm_bytes",
		    json_integer((json_int_t)size));
		return;
	}
	/* Without the option the kernel takes half of the memory. */
	double total = json_number_value(
	    json_object_get(json_object_get(machine, "memory"), "total_bytes"));

	if (why == NULL && !(total > 0.0))
		why = "absent";
	sv_fact_or(machine, "memory.shm_bytes", why,
	    json_integer((json_int_t)(total / 2.0)));
}

void sv_facts_storage(
    json_t *machine, struct sv_sources *s, const char *storage_path)
{
	const char *why, *transport;
	struct mount m;

	sv_fact(machine, "storage.path", json_string(storage_path));
	why = read_mounts(s, storage_path, &m);
	sv_fact_or(machine, "storage.filesystem", why,
	    why == NULL ? json_string(m.type) : NULL);
	transport = why == NULL ? transport_of_type(m.type) : "unknown";
	if (transport == NULL) {
		device_facts(machine, s, &m);
	} else {
		sv_fact(machine, "storage.transport", json_string(transport));
		sv_fact_unknown(machine, "storage.rotational",
		    why != NULL ? why : "not_supported");
	}
	shared_memory(machine, s);
}
