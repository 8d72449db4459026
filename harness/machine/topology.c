/* hwloc's part of the machine; see the header. */
#include "topology.h"

#include <stdlib.h>
#include <string.h>

#include "facts.h"

/*
 * Plugins that would open a driver are kept out: the harness touches no
 * vendor library, and one that starts a runtime costs more than the whole
 * capture.
 */
static bool load(hwloc_topology_t *out)
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
	if (hwloc_topology_load(*out) == 0)
		return true;
	hwloc_topology_destroy(*out);
	return false;
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

/* The export without what names the machine, a new string; or NULL. */
static char *export(hwloc_topology_t topology)
{
	char *xml = NULL, *copy = NULL, *out;
	int n = 0;

	if (hwloc_topology_export_xmlbuffer(topology, &xml, &n, 0) != 0)
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
	hwloc_free_xmlbuffer(topology, xml);
	return copy;
}

void sv_topology_read(struct sv_topology *t)
{
	struct sv_err ignored;

	*t = (struct sv_topology){.live = false};
	t->live = load(&t->handle);
	if (t->live)
		t->xml = export(t->handle);
	if (t->xml != NULL && sv_layout_parse(&t->layout, t->xml,
				  strlen(t->xml), "hwloc", &ignored) != 0)
		t->layout = (struct sv_layout){.packages = 0};
}

int sv_topology_parse(struct sv_topology *t, const char *xml, size_t n,
    const char *name, struct sv_err *err)
{
	*t = (struct sv_topology){.live = false};
	return sv_layout_parse(&t->layout, xml, n, name, err);
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
	sv_topology_unbind(t);
	if (t->live)
		hwloc_topology_destroy(t->handle);
	sv_layout_fini(&t->layout);
	free(t->xml);
	*t = (struct sv_topology){.live = false};
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
static json_t *node_tree(const struct sv_node *node, struct sv_sources *s)
{
	char path[96], text[SV_SOURCE_BYTES];
	json_t *cpus;

	snprintf(path, sizeof path, "sys/devices/system/node/node%u/cpulist",
	    node->index);
	cpus = sv_source_read(s, path, text) == NULL ? json_string(text)
						     : list_of(node->cpus);
	return json_pack("{s:i, s:o, s:I}", "node", (int)node->index, "cpus",
	    cpus != NULL ? cpus : json_null(), "memory_bytes",
	    (json_int_t)node->memory_bytes);
}

/* Kinds of cores, where there are more than one. */
static void tell_kinds(const struct sv_layout *layout, json_t *machine)
{
	json_t *kinds = json_array();

	for (size_t i = 0; layout->n_kinds > 1 && i < layout->n_kinds; i++) {
		const struct sv_core_kind *kind = &layout->kinds[i];

		json_array_append_new(kinds,
		    json_pack("{s:o, s:s?, s:o}", "cpus", list_of(kind->cpus),
			"type", kind->type[0] != '\0' ? kind->type : NULL,
			"efficiency",
			kind->efficiency >= 0 ? json_integer(kind->efficiency)
					      : json_null()));
	}
	if (json_array_size(kinds) > 0)
		sv_fact(machine, "cpu.kinds", kinds);
	else
		json_decref(kinds);
}

static void tell_count(json_t *machine, const char *field, unsigned n)
{
	sv_fact_or(machine, field, n > 0 ? NULL : "absent", json_integer(n));
}

void sv_topology_tell(
    const struct sv_topology *t, json_t *machine, struct sv_sources *s)
{
	const struct sv_layout *layout = &t->layout;
	json_t *nodes = json_array();

	tell_count(machine, "cpu.sockets", layout->packages);
	tell_count(machine, "cpu.cores", layout->cores);
	tell_count(machine, "cpu.threads", layout->threads);
	tell_kinds(layout, machine);
	sv_fact_or(machine, "cpu.last_cache_bytes",
	    layout->cache_level > 0 ? NULL : "absent",
	    json_integer((json_int_t)layout->cache_bytes));
	for (size_t i = 0; i < layout->n_nodes; i++)
		json_array_append_new(nodes, node_tree(&layout->nodes[i], s));
	json_object_set_new(machine, "numa", nodes);
}

/* A list of CPUs as a set, or NULL for none. */
static hwloc_bitmap_t set_of(const char *cpus)
{
	hwloc_bitmap_t set = cpus != NULL ? hwloc_bitmap_alloc() : NULL;

	if (set != NULL && hwloc_bitmap_list_sscanf(set, cpus) == 0 &&
	    !hwloc_bitmap_iszero(set))
		return set;
	hwloc_bitmap_free(set);
	return NULL;
}

int sv_topology_near(const struct sv_topology *t, const char *cpus)
{
	hwloc_bitmap_t near = set_of(cpus);
	int found = -1;

	for (size_t i = 0; found < 0 && i < t->layout.n_nodes; i++)
		if (near == NULL ||
		    hwloc_bitmap_intersects(t->layout.nodes[i].cpus, near))
			found = (int)t->layout.nodes[i].index;
	hwloc_bitmap_free(near);
	return found;
}

int sv_topology_within(const struct sv_topology *t, const char *cpus)
{
	hwloc_bitmap_t set = set_of(cpus);
	int found = -1;

	for (size_t i = 0; set != NULL && found < 0 && i < t->layout.n_nodes;
	     i++)
		if (hwloc_bitmap_isincluded(set, t->layout.nodes[i].cpus))
			found = (int)t->layout.nodes[i].index;
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
