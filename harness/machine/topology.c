/* hwloc's part of the machine; see the header. */
#include "topology.h"

#include <stdlib.h>
#include <string.h>

#include "facts.h"

/* An XML file with more objects than any machine is none. */
#define MAX_XML_BYTES (16u << 20)

/*
 * Plugins that would open a driver are kept out: the harness touches no
 * vendor library, and one that starts a runtime costs more than the whole
 * capture.
 */
static bool begin(hwloc_topology_t *out)
{
	static const char *const plugins[] = {
	    "opencl", "cuda", "nvml", "gl", "rsmi", "levelzero"};

	if (hwloc_topology_init(out) != 0)
		return false;
	for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
		/* One that is not there is not there to be kept out. */
		(void)hwloc_topology_set_components(
		    *out, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugins[i]);
	/*
	 * The bus is read once, by pci_live.c: hwloc's own look at it reads
	 * every function, the slow ones of a virtual machine too.
	 */
	hwloc_topology_set_io_types_filter(*out, HWLOC_TYPE_FILTER_KEEP_NONE);
	return true;
}

void sv_topology_read(struct sv_topology *t)
{
	*t = (struct sv_topology){.live = true};
	if (!begin(&t->handle))
		return;
	t->loaded = hwloc_topology_load(t->handle) == 0;
	if (!t->loaded)
		hwloc_topology_destroy(t->handle);
}

int sv_topology_parse(struct sv_topology *t, const char *xml, size_t n,
    const char *name, struct sv_err *err)
{
	*t = (struct sv_topology){.live = false};
	if (n > MAX_XML_BYTES)
		return sv_err_set(
		    err, SV_EINPUT, "%s: larger than a topology can be", name);
	if (!begin(&t->handle))
		return sv_err_set(err, SV_ERESOURCE, "%s: out of memory", name);
	/* The size counts the terminator. */
	t->loaded =
	    hwloc_topology_set_xmlbuffer(t->handle, xml, (int)n + 1) == 0 &&
	    hwloc_topology_load(t->handle) == 0;
	if (t->loaded)
		return 0;
	hwloc_topology_destroy(t->handle);
	return sv_err_set(err, SV_EINPUT,
	    "%s: expected a topology as hwloc %d.%d exports it", name,
	    HWLOC_API_VERSION >> 16, HWLOC_API_VERSION >> 8 & 0xff);
}

void sv_topology_unbind(struct sv_topology *t)
{
	if (t->before == NULL)
		return;
	(void)hwloc_set_cpubind(t->handle, t->before, HWLOC_CPUBIND_THREAD);
	hwloc_bitmap_free(t->before);
	t->before = NULL;
}

void sv_topology_fini(struct sv_topology *t)
{
	if (t->loaded) {
		sv_topology_unbind(t);
		hwloc_topology_destroy(t->handle);
	}
	*t = (struct sv_topology){0};
}

static void tell_count(const struct sv_topology *t, json_t *machine,
    const char *field, hwloc_obj_type_t type)
{
	int n = t->loaded ? hwloc_get_nbobjs_by_type(t->handle, type) : 0;

	sv_fact_or(machine, field, n > 0 ? NULL : "absent", json_integer(n));
}

static json_t *list_of(hwloc_const_bitmap_t set)
{
	char *text = NULL;
	json_t *list;

	if (hwloc_bitmap_list_asprintf(&text, set) < 0)
		return json_null();
	list = json_string(text);
	free(text);
	return list;
}

/*
 * The kernel's own list of a node's CPUs goes first: hwloc gives a node of
 * memory alone the CPUs that are nearest to it.
 */
static json_t *node_tree(hwloc_obj_t node, struct sv_sources *s)
{
	char path[96], text[SV_SOURCE_BYTES];
	json_t *cpus;

	snprintf(path, sizeof path, "sys/devices/system/node/node%u/cpulist",
	    node->os_index);
	cpus = sv_source_read(s, path, text) == NULL ? json_string(text)
						     : list_of(node->cpuset);
	return json_pack("{s:i, s:o, s:I}", "node", (int)node->os_index, "cpus",
	    cpus, "memory_bytes",
	    (json_int_t)node->attr->numanode.local_memory);
}

/* Kinds of cores where there are more than one, the slowest first. */
static void tell_kinds(const struct sv_topology *t, json_t *machine)
{
	json_t *kinds = json_array();
#if HWLOC_API_VERSION >= 0x00020400
	int n = t->loaded ? hwloc_cpukinds_get_nr(t->handle, 0) : 0;
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	for (int i = 0; set != NULL && n > 1 && i < n; i++) {
		int efficiency = -1;

		if (hwloc_cpukinds_get_info(t->handle, (unsigned)i, set,
			&efficiency, NULL, NULL, 0) != 0)
			continue;
		json_array_append_new(
		    kinds, json_pack("{s:o, s:i}", "cpus", list_of(set),
			       "efficiency", efficiency));
	}
	hwloc_bitmap_free(set);
#endif
	if (json_array_size(kinds) > 0)
		sv_fact(machine, "cpu.kinds", kinds);
	else
		json_decref(kinds);
}

/* Bytes of the largest cache, that of the last level. */
static void tell_cache(const struct sv_topology *t, json_t *machine)
{
	static const hwloc_obj_type_t levels[] = {
	    HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE};
	hwloc_obj_t cache = NULL;

	for (size_t i = 0; t->loaded && cache == NULL && i < 3; i++)
		cache = hwloc_get_next_obj_by_type(t->handle, levels[i], NULL);
	sv_fact_or(machine, "cpu.last_cache_bytes",
	    cache != NULL ? NULL : "absent",
	    json_integer(
		cache != NULL ? (json_int_t)cache->attr->cache.size : 0));
}

void sv_topology_tell(
    const struct sv_topology *t, json_t *machine, struct sv_sources *s)
{
	json_t *nodes = json_array();
	hwloc_obj_t node = NULL;

	tell_count(t, machine, "cpu.sockets", HWLOC_OBJ_PACKAGE);
	tell_count(t, machine, "cpu.cores", HWLOC_OBJ_CORE);
	tell_count(t, machine, "cpu.threads", HWLOC_OBJ_PU);
	tell_kinds(t, machine);
	tell_cache(t, machine);
	while (t->loaded && (node = hwloc_get_next_obj_by_type(
				 t->handle, HWLOC_OBJ_NUMANODE, node)) != NULL)
		json_array_append_new(nodes, node_tree(node, s));
	json_object_set_new(machine, "numa", nodes);
}

/* Whether a line of the export names the machine rather than tells of it. */
static bool is_private(const char *line, size_t n)
{
	static const char *const names[] = {"HostName", "Serial", "UUID",
	    "GUID", "Address", "AssetTag", "ProcessName", "LinuxCgroup"};
	const char *info = memmem(line, n, "<info name=\"", 12);

	for (size_t i = 0; info != NULL && i < sizeof names / sizeof names[0];
	     i++)
		if (memmem(info, n - (size_t)(info - line), names[i],
			strlen(names[i])) != NULL)
			return true;
	return false;
}

char *sv_topology_print(const struct sv_topology *t)
{
	char *xml = NULL, *copy = NULL, *out;
	int n = 0;

	if (!t->loaded ||
	    hwloc_topology_export_xmlbuffer(t->handle, &xml, &n, 0) != 0)
		return NULL;
	out = copy = malloc((size_t)n + 1);
	for (const char *line = xml; copy != NULL && *line != '\0';) {
		size_t length = strcspn(line, "\n");

		length += line[length] == '\n' ? 1 : 0;
		if (!is_private(line, length)) {
			memcpy(out, line, length);
			out += length;
		}
		line += length;
	}
	if (copy != NULL)
		*out = '\0';
	hwloc_free_xmlbuffer(t->handle, xml);
	return copy;
}

int sv_topology_near(const struct sv_topology *t, const char *cpus)
{
	hwloc_bitmap_t near = hwloc_bitmap_alloc();
	hwloc_obj_t node = NULL;
	int found = -1;
	bool anywhere = cpus == NULL || near == NULL ||
			hwloc_bitmap_list_sscanf(near, cpus) != 0 ||
			hwloc_bitmap_iszero(near);

	while (t->loaded && found < 0 &&
	       (node = hwloc_get_next_obj_by_type(
		    t->handle, HWLOC_OBJ_NUMANODE, node)) != NULL)
		if (anywhere || hwloc_bitmap_intersects(node->cpuset, near))
			found = (int)node->os_index;
	hwloc_bitmap_free(near);
	return found;
}

int sv_topology_within(const struct sv_topology *t, const char *cpus)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	hwloc_obj_t node = NULL;
	int found = -1;

	if (set == NULL || hwloc_bitmap_list_sscanf(set, cpus) != 0 ||
	    hwloc_bitmap_iszero(set)) {
		hwloc_bitmap_free(set);
		return -1;
	}
	while (t->loaded && found < 0 &&
	       (node = hwloc_get_next_obj_by_type(
		    t->handle, HWLOC_OBJ_NUMANODE, node)) != NULL)
		if (hwloc_bitmap_isincluded(set, node->cpuset))
			found = (int)node->os_index;
	hwloc_bitmap_free(set);
	return found;
}

bool sv_topology_bind(struct sv_topology *t, int number)
{
	hwloc_obj_t node =
	    hwloc_get_numanode_obj_by_os_index(t->handle, (unsigned)number);

	t->before = hwloc_bitmap_alloc();
	if (node != NULL && t->before != NULL &&
	    hwloc_get_cpubind(t->handle, t->before, HWLOC_CPUBIND_THREAD) ==
		0 &&
	    hwloc_set_cpubind(t->handle, node->cpuset, HWLOC_CPUBIND_THREAD) ==
		0)
		return true;
	hwloc_bitmap_free(t->before);
	t->before = NULL;
	return false;
}
