/*
 * A machine, put together: what the kernel's files tell (facts*.c), what
 * hwloc knows of its shape (topology.c), its bus (pci_*.c), live or from a
 * recording, and the binding of workers to it.
 */
#include "machine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"
#include "pci_path.h"
#include "recording.h"
#include "topology.h"

/* A copy this much above a ceiling is no rounding. */
#define DOUBT  1.05
/* The vendor whose cards a backend here can use. Source: pci.ids. */
#define NVIDIA 0x10deu

struct sv_machine {
	json_t *json;
	char *storage_path;
	struct sv_sources sources;
	struct sv_topology topology;
	struct sv_pci_bus bus;
	struct sv_recording recording; /* empty when live */
};

/* How many cards there are to choose from, or to talk to each other. */
static void tell_cards(struct sv_machine *m)
{
	json_int_t cards = 0;

	for (size_t i = 0; i < m->bus.n; i++)
		cards += sv_pci_is_card(&m->bus.functions[i]) &&
			 m->bus.functions[i].registers.vendor == NVIDIA;
	sv_fact_or(m->json, "cards", m->bus.n > 0 ? NULL : "absent",
	    json_integer(cards));
}

/* Nodes of memory alone, a card's say, are no place for a thread. */
static bool has_cpus(struct sv_machine *m, int number, size_t *nodes)
{
	json_t *list = json_object_get(m->json, "numa"), *one;
	bool found = false;
	size_t i;

	*nodes = 0;
	json_array_foreach (list, i, one) {
		const char *cpus =
		    json_string_value(json_object_get(one, "cpus"));

		if (cpus == NULL || cpus[0] == '\0')
			continue;
		*nodes += 1;
		found = found || json_integer_value(
				     json_object_get(one, "node")) == number;
	}
	return found;
}

/* Whoever started us may have bound us already. */
static void tell_binding(struct sv_machine *m)
{
	char text[SV_SOURCE_BYTES], cpus[1024];
	size_t nodes;
	int node = -1;

	if (sv_source_read(&m->sources, "proc/self/status", text) == NULL &&
	    sv_source_field(text, "Cpus_allowed_list", cpus, sizeof cpus))
		node = sv_topology_within(&m->topology, cpus);
	sv_fact(m->json, "binding.node",
	    has_cpus(m, node, &nodes) && nodes > 1 ? json_integer(node)
						   : json_null());
}

/* Everything that the sources tell, in the order of the contract's table. */
static void tell(struct sv_machine *m)
{
	struct sv_sources *s = &m->sources;

	sv_facts_processor(m->json, s);
	sv_topology_tell(&m->topology, m->json, s);
	sv_facts_memory(m->json, s);
	sv_facts_system(m->json, s);
	sv_facts_board(m->json, s);
	sv_facts_virtualisation(m->json, s);
	sv_facts_storage(m->json, s, m->storage_path);
	sv_facts_environment(m->json, s);
	tell_cards(m);
	tell_binding(m);
	if (json_object_get(m->json, "unknown") == NULL)
		json_object_set_new(m->json, "unknown", json_array());
}

/* An empty one; NULL, and an error, when out of memory. */
static struct sv_machine *begin(const char *storage_path, struct sv_err *err)
{
	struct sv_machine *m = calloc(1, sizeof *m);

	if (m != NULL && (m->json = json_object()) != NULL &&
	    (m->storage_path = strdup(storage_path)) != NULL)
		return m;
	sv_machine_close(m);
	sv_err_set(err, SV_ERESOURCE, "machine: out of memory");
	return NULL;
}

int sv_machine_open(
    const char *storage_path, struct sv_machine **out, struct sv_err *err)
{
	char full[PATH_MAX];
	struct sv_machine *m = begin(
	    realpath(storage_path, full) != NULL ? full : storage_path, err);
	int code;

	if (m == NULL)
		return SV_ERESOURCE;
	code = sv_sources_init(&m->sources, "/", NULL, err);
	if (code != 0) {
		sv_machine_close(m);
		return code;
	}
	sv_topology_read(&m->topology);
	sv_pci_bus_read(&m->bus);
	tell(m);
	*out = m;
	return 0;
}

/* The parts of a recording, each by its own reader. */
static int open_parts(
    struct sv_machine *m, const char *folder, struct sv_err *err)
{
	struct sv_recording *r = &m->recording;
	char name[PATH_MAX];
	int code = sv_sources_init(&m->sources, NULL, r->index, err);

	snprintf(name, sizeof name, "%s/topology.xml", folder);
	if (code == 0 && r->xml != NULL)
		code = sv_topology_parse(
		    &m->topology, r->xml, r->n_xml, name, err);
	snprintf(name, sizeof name, "%s/pci.txt", folder);
	if (code == 0 && r->dump != NULL)
		code = sv_pci_bus_parse(&m->bus, r->dump, r->n_dump, name, err);
	return code;
}

int sv_machine_open_recording(
    const char *folder, struct sv_machine **out, struct sv_err *err)
{
	struct sv_recording r = {0};
	struct sv_machine *m;
	int code = sv_recording_read(folder, &r, err);

	if (code != 0)
		return code;
	m = begin(
	    json_string_value(json_object_get(r.index, "storage_path")), err);
	if (m == NULL) {
		sv_recording_fini(&r);
		return SV_ERESOURCE;
	}
	m->recording = r;
	code = open_parts(m, folder, err);
	if (code != 0) {
		sv_machine_close(m);
		return code;
	}
	tell(m);
	*out = m;
	return 0;
}

void sv_machine_close(struct sv_machine *m)
{
	if (m == NULL)
		return;
	sv_topology_fini(&m->topology);
	sv_pci_bus_fini(&m->bus);
	sv_sources_fini(&m->sources);
	sv_recording_fini(&m->recording);
	json_decref(m->json);
	free(m->storage_path);
	free(m);
}

json_t *sv_machine_json(const struct sv_machine *m)
{
	return m->json;
}

json_t *sv_machine_device(const struct sv_machine *m)
{
	json_t *device = json_object_get(m->recording.index, "device");

	return json_is_object(device) ? device : NULL;
}

int sv_machine_save(const struct sv_machine *m, json_t *device,
    const char *folder, struct sv_err *err)
{
	return sv_recording_write(folder, &m->sources, &m->topology, &m->bus,
	    m->storage_path, device, err);
}

/* A container's registers are its host's, unless that is a guest itself. */
static bool is_guest(const struct sv_machine *m)
{
	json_t *v = json_object_get(m->json, "virtualisation");
	const char *kind = json_string_value(json_object_get(v, "kind"));

	return json_is_true(json_object_get(v, "guest")) ||
	       (kind != NULL &&
		   (strcmp(kind, "vm") == 0 || strcmp(kind, "wsl") == 0));
}

void sv_machine_complete(struct sv_machine *m, json_t *device)
{
	if (json_string_value(json_object_get(device, "pci_address")) == NULL)
		return;
	/* A part of the processor has no link, whatever it may report. */
	if (json_is_true(json_object_get(device, "integrated"))) {
		sv_fact_unknown(device, "pcie", "not_supported");
		return;
	}
	sv_path_tell(device, &m->bus, &m->sources, is_guest(m));
}

void sv_machine_watch(struct sv_machine *m)
{
	for (size_t i = 0; i < m->bus.n; i++)
		if (sv_pci_is_card(&m->bus.functions[i]))
			sv_path_watch(
			    &m->bus, &m->sources, m->bus.functions[i].address);
}

void sv_machine_doubt_link(json_t *device, double best_Bps)
{
	json_t *pcie = json_object_get(device, "pcie");
	double ceiling =
	    json_number_value(json_object_get(pcie, "ceiling_Bps"));

	if (!(ceiling > 0.0) || !(best_Bps > DOUBT * ceiling))
		return;
	sv_fact(device, "pcie.trusted", json_false());
	sv_fact(device, "pcie.trusted_why",
	    json_string("copies were faster than the registers allow"));
	/* What they said of the narrowest link is worth no more. */
	sv_fact_unknown(
	    device, "pcie.bottleneck", "error: contradicted by a copy");
	sv_fact_unknown(
	    device, "pcie.ceiling_Bps", "error: contradicted by a copy");
}

/* What the kernel says of a card: its node (-1: not named), CPUs near it. */
static int named_node(
    struct sv_machine *m, const char *pci_address, char cpus[SV_SOURCE_BYTES])
{
	const struct sv_pci_function *f = sv_pci_bus_find(&m->bus, pci_address);
	long long node = -1;
	char path[128];

	cpus[0] = '\0';
	if (f == NULL)
		return -1;
	snprintf(path, sizeof path, "sys/bus/pci/devices/%s/local_cpulist",
	    f->address);
	if (sv_source_read(&m->sources, path, cpus) != NULL)
		cpus[0] = '\0';
	snprintf(
	    path, sizeof path, "sys/bus/pci/devices/%s/numa_node", f->address);
	if (sv_source_number(&m->sources, path, &node) != NULL || node < 0)
		return -1;
	return node < INT_MAX ? (int)node : -1;
}

int sv_machine_nearest_node(struct sv_machine *m, const char *pci_address)
{
	char cpus[SV_SOURCE_BYTES];
	int node = named_node(m, pci_address, cpus);
	size_t nodes;

	if (node < 0 || !has_cpus(m, node, &nodes))
		node = sv_topology_near(
		    &m->topology, cpus[0] != '\0' ? cpus : NULL);
	if (!has_cpus(m, node, &nodes) || nodes < 2)
		return -1;
	return node;
}

void sv_machine_bind(struct sv_machine *m, const char *pci_address)
{
	struct sv_topology *t = &m->topology;
	int node;

	/* A second call would lose the binding to go back to. */
	if (!t->live || t->before != NULL)
		return;
	node = sv_machine_nearest_node(m, pci_address);
	if (node < 0)
		return;
	if (sv_topology_bind(t, node))
		sv_fact(m->json, "binding.node", json_integer(node));
	else
		sv_fact_unknown(
		    m->json, "binding.node", "error: binding refused");
}

void sv_machine_unbind(struct sv_machine *m)
{
	sv_topology_unbind(&m->topology);
}

size_t sv_machine_pci_cards(struct sv_pci_card *cards, size_t max)
{
	struct sv_pci_bus bus;
	size_t n = 0;

	sv_pci_bus_read(&bus);
	for (size_t i = 0; i < bus.n; i++) {
		const struct sv_pci_function *f = &bus.functions[i];

		if (!sv_pci_is_card(f))
			continue;
		if (n < max) {
			snprintf(cards[n].address, sizeof cards[n].address,
			    "%s", f->address);
			snprintf(
			    cards[n].name, sizeof cards[n].name, "%s", f->name);
			cards[n].vendor = f->registers.vendor;
			cards[n].device = f->registers.device;
		}
		n++;
	}
	sv_pci_bus_fini(&bus);
	return n;
}

void sv_machine_host_name(char *out, size_t size)
{
	if (gethostname(out, size) != 0 || out[0] == '\0')
		snprintf(out, size, "host");
	out[size - 1] = '\0';
}
