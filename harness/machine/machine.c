/*
 * This machine, put together: what the kernel's files tell (facts.c), what
 * hwloc knows of its shape, and the binding of workers to it.
 */
#include "machine.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"

struct sv_machine {
	json_t *json;
	hwloc_topology_t topology;
	bool has_topology;
	hwloc_cpuset_t before; /* binding to go back to, or NULL */
};

/*
 * Load the topology with PCI devices. Plugins that would open a driver are
 * kept out: the harness touches no vendor library, and one that starts a
 * runtime costs more than the whole capture.
 */
static bool load_topology(hwloc_topology_t *out)
{
	static const char *const plugins[] = {
	    "opencl", "cuda", "nvml", "gl", "rsmi", "levelzero"};
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) != 0)
		return false;
	for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
		/* One that is not there is not there to be kept out. */
		(void)hwloc_topology_set_components(topology,
		    HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugins[i]);
	hwloc_topology_set_io_types_filter(
	    topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (hwloc_topology_load(topology) != 0) {
		hwloc_topology_destroy(topology);
		return false;
	}
	*out = topology;
	return true;
}

static void count_fact(
    struct sv_machine *m, const char *field, hwloc_obj_type_t type)
{
	int n =
	    m->has_topology ? hwloc_get_nbobjs_by_type(m->topology, type) : 0;

	if (n > 0)
		sv_fact(m->json, field, json_integer(n));
	else
		sv_fact_unknown(m->json, field, "absent");
}

static json_t *node_tree(hwloc_obj_t node)
{
	char *cpus = NULL;
	json_t *tree;

	if (hwloc_bitmap_list_asprintf(&cpus, node->cpuset) < 0)
		return NULL;
	tree = json_pack("{s:i, s:s, s:I}", "node", (int)node->os_index, "cpus",
	    cpus, "memory_bytes",
	    (json_int_t)node->attr->numanode.local_memory);
	free(cpus);
	return tree;
}

static void topology_facts(struct sv_machine *m)
{
	json_t *nodes = json_array();
	hwloc_obj_t node = NULL;

	count_fact(m, "cpu.sockets", HWLOC_OBJ_PACKAGE);
	count_fact(m, "cpu.cores", HWLOC_OBJ_CORE);
	count_fact(m, "cpu.threads", HWLOC_OBJ_PU);
	while (
	    m->has_topology && (node = hwloc_get_next_obj_by_type(m->topology,
				    HWLOC_OBJ_NUMANODE, node)) != NULL) {
		json_t *tree = node_tree(node);

		if (tree != NULL)
			json_array_append_new(nodes, tree);
	}
	json_object_set_new(m->json, "numa", nodes);
}

int sv_machine_open(
    const char *storage_path, struct sv_machine **out, struct sv_err *err)
{
	struct sv_machine *m = calloc(1, sizeof *m);

	if (m == NULL || (m->json = json_object()) == NULL) {
		free(m);
		return sv_err_set(err, SV_ERESOURCE, "machine: out of memory");
	}
	m->has_topology = load_topology(&m->topology);
	sv_facts_processor(m->json, "/");
	topology_facts(m);
	sv_facts_memory(m->json, "/");
	sv_facts_system(m->json, "/");
	sv_facts_virtualisation(m->json, "/");
	sv_facts_storage(m->json, "/", storage_path);
	sv_facts_environment(m->json);
	sv_fact(m->json, "binding.node", json_null());
	if (json_object_get(m->json, "unknown") == NULL)
		json_object_set_new(m->json, "unknown", json_array());
	*out = m;
	return 0;
}

void sv_machine_close(struct sv_machine *m)
{
	if (m == NULL)
		return;
	sv_machine_unbind(m);
	if (m->has_topology)
		hwloc_topology_destroy(m->topology);
	json_decref(m->json);
	free(m);
}

json_t *sv_machine_json(const struct sv_machine *m)
{
	return m->json;
}

/* The first node with CPUs, or the one nearest to a PCI device. */
static hwloc_obj_t nearest_node(
    const struct sv_machine *m, const char *pci_address)
{
	hwloc_obj_t node = NULL, device = NULL;

	if (pci_address != NULL)
		device =
		    hwloc_get_pcidev_by_busidstring(m->topology, pci_address);
	if (device != NULL)
		device = hwloc_get_non_io_ancestor_obj(m->topology, device);
	while ((node = hwloc_get_next_obj_by_type(
		    m->topology, HWLOC_OBJ_NUMANODE, node)) != NULL) {
		if (hwloc_bitmap_iszero(node->cpuset))
			continue;
		if (device == NULL ||
		    hwloc_bitmap_intersects(node->cpuset, device->cpuset))
			return node;
	}
	return NULL;
}

void sv_machine_bind(struct sv_machine *m, const char *pci_address)
{
	hwloc_obj_t node;

	/* A second call would lose the binding to go back to. */
	if (!m->has_topology || m->before != NULL ||
	    hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_NUMANODE) < 2)
		return;
	node = nearest_node(m, pci_address);
	m->before = hwloc_bitmap_alloc();
	if (node == NULL || m->before == NULL ||
	    hwloc_get_cpubind(m->topology, m->before, HWLOC_CPUBIND_THREAD) !=
		0 ||
	    hwloc_set_cpubind(
		m->topology, node->cpuset, HWLOC_CPUBIND_THREAD) != 0) {
		hwloc_bitmap_free(m->before);
		m->before = NULL;
		sv_fact_unknown(
		    m->json, "binding.node", "error: binding refused");
		return;
	}
	sv_fact(m->json, "binding.node", json_integer(node->os_index));
}

void sv_machine_unbind(struct sv_machine *m)
{
	if (m->before == NULL)
		return;
	(void)hwloc_set_cpubind(m->topology, m->before, HWLOC_CPUBIND_THREAD);
	hwloc_bitmap_free(m->before);
	m->before = NULL;
}

void sv_machine_host_name(char *out, size_t size)
{
	if (gethostname(out, size) != 0 || out[0] == '\0')
		snprintf(out, size, "host");
	out[size - 1] = '\0';
}
