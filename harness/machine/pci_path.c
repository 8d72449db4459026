/*
 * The path of a card as facts: read from the bus and the kernel's files, told
 * in device.pcie; see the header.
 */
#include "pci_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "stave/pcie.h"

#define SYSFS "sys/bus/pci/devices/"

static const char *attribute(struct sv_sources *s, const char *address,
    const char *name, char out[SV_SOURCE_BYTES])
{
	char path[128];

	snprintf(path, sizeof path, SYSFS "%s/%s", address, name);
	return sv_source_read(s, path, out);
}

static unsigned speed_at(
    struct sv_sources *s, const char *address, const char *name)
{
	char text[SV_SOURCE_BYTES];

	return attribute(s, address, name, text) == NULL
		   ? sv_link_speed_parse(text)
		   : 0;
}

static unsigned width_at(
    struct sv_sources *s, const char *address, const char *name)
{
	char text[SV_SOURCE_BYTES];

	return attribute(s, address, name, text) == NULL
		   ? sv_link_width_parse(text)
		   : 0;
}

static unsigned known(unsigned first, unsigned second)
{
	return first > 0 ? first : second;
}

/* Where a watched state of a link is kept: no file of the kernel has it. */
static void watched_path(const char *address, char *out, size_t size)
{
	snprintf(out, size, "self/link/%s", address);
}

static void read_watched(struct sv_sources *s, struct sv_hop *hop)
{
	char path[64], text[SV_SOURCE_BYTES];
	const char *kept;

	watched_path(hop->address, path, sizeof path);
	kept = json_string_value(json_object_get(s->texts, path));
	if (kept == NULL && s->root == NULL &&
	    sv_source_read(s, path, text) == NULL)
		kept = text;
	if (kept == NULL ||
	    sscanf(kept, "%u %u", &hop->load_generation, &hop->load_width) !=
		2 ||
	    sv_pcie_wire_Bps(hop->load_generation, hop->load_width) == 0.0)
		hop->load_generation = hop->load_width = 0;
}

static void read_hop(
    const struct sv_pci_function *f, struct sv_sources *s, struct sv_hop *hop)
{
	const struct sv_pci_registers *r = &f->registers;

	*hop = (struct sv_hop){.port = r->port,
	    .target_generation = r->target_generation,
	    .payload_bytes = r->payload_bytes};
	snprintf(hop->address, sizeof hop->address, "%s", f->address);
	snprintf(hop->name, sizeof hop->name, "%s", f->name);
	hop->generation =
	    known(speed_at(s, f->address, "current_link_speed"), r->generation);
	hop->width =
	    known(width_at(s, f->address, "current_link_width"), r->width);
	hop->max_generation =
	    known(speed_at(s, f->address, "max_link_speed"), r->max_generation);
	hop->max_width =
	    known(width_at(s, f->address, "max_link_width"), r->max_width);
	read_watched(s, hop);
}

size_t sv_path_read(const struct sv_pci_bus *bus, struct sv_sources *s,
    const char *address, struct sv_hop hops[SV_MAX_HOPS])
{
	const struct sv_pci_function *functions[SV_MAX_HOPS];
	size_t n = sv_pci_bus_path(bus, address, functions, SV_MAX_HOPS);

	for (size_t i = 0; i < n; i++)
		read_hop(functions[i], s, &hops[i]);
	if (n > 0)
		hops[n - 1].is_card = true;
	return n;
}

void sv_path_watch(
    const struct sv_pci_bus *bus, struct sv_sources *s, const char *address)
{
	const struct sv_pci_function *functions[SV_MAX_HOPS];
	size_t n = sv_pci_bus_path(bus, address, functions, SV_MAX_HOPS);

	for (size_t i = 0; i < n; i++) {
		char path[128], speed[SV_SOURCE_BYTES], width[SV_SOURCE_BYTES];
		struct sv_hop before = {.address = ""};
		unsigned g, w;

		snprintf(path, sizeof path, SYSFS "%s/current_link_speed",
		    functions[i]->address);
		if (sv_source_read_private(s, path, speed) != NULL)
			continue;
		snprintf(path, sizeof path, SYSFS "%s/current_link_width",
		    functions[i]->address);
		if (sv_source_read_private(s, path, width) != NULL)
			continue;
		g = sv_link_speed_parse(speed);
		w = sv_link_width_parse(width);
		snprintf(before.address, sizeof before.address, "%s",
		    functions[i]->address);
		read_watched(s, &before);
		if (sv_pcie_wire_Bps(g, w) <=
		    sv_pcie_wire_Bps(before.load_generation, before.load_width))
			continue;
		watched_path(functions[i]->address, path, sizeof path);
		snprintf(speed, sizeof speed, "%u %u", g, w);
		sv_source_keep(s, path, speed);
	}
}

static json_t *or_null(unsigned value)
{
	return value > 0 ? json_integer(value) : json_null();
}

static json_t *hop_tree(const struct sv_hop *hop)
{
	return json_pack("{s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "address",
	    hop->address, "what", sv_hop_what(hop), "name",
	    hop->name[0] != '\0' ? hop->name : NULL, "generation",
	    or_null(hop->generation), "width", or_null(hop->width),
	    "max_generation", or_null(hop->max_generation), "max_width",
	    or_null(hop->max_width), "under_load",
	    hop->load_generation > 0
		? json_pack("{s:i, s:i}", "generation",
		      (int)hop->load_generation, "width", (int)hop->load_width)
		: json_null());
}

/* A whole number of device.pcie that the worker told, 0 where it did not. */
static unsigned told(json_t *device, const char *name)
{
	json_t *value = json_object_get(json_object_get(device, "pcie"), name);
	json_int_t n = json_integer_value(value);

	return n > 0 && n < 64 ? (unsigned)n : 0;
}

/* The driver library's word on the card's own link goes first. */
static void merge(json_t *device, struct sv_hop *card)
{
	json_t *load =
	    json_object_get(json_object_get(device, "pcie"), "under_load");
	json_int_t g = json_integer_value(json_object_get(load, "generation"));
	json_int_t w = json_integer_value(json_object_get(load, "width"));

	card->max_generation =
	    known(told(device, "max_generation"), card->max_generation);
	card->max_width = known(told(device, "max_width"), card->max_width);
	if (g > 0 && g < 64 && w > 0 && w < 64 &&
	    sv_pcie_wire_Bps((unsigned)g, (unsigned)w) > 0.0) {
		card->load_generation = (unsigned)g;
		card->load_width = (unsigned)w;
	}
}

static void tell_if_unknown(
    json_t *device, const char *name, unsigned value, const char *why)
{
	char field[64];

	if (told(device, name) > 0)
		return;
	snprintf(field, sizeof field, "pcie.%s", name);
	sv_fact_or(device, field, value > 0 ? NULL : why, json_integer(value));
}

static void tell_link(json_t *device, const struct sv_hop *hops, size_t n)
{
	const struct sv_hop *card = &hops[n - 1];

	tell_if_unknown(device, "generation", card->generation, "absent");
	tell_if_unknown(device, "width", card->width, "absent");
	tell_if_unknown(
	    device, "max_generation", card->max_generation, "absent");
	tell_if_unknown(device, "max_width", card->max_width, "absent");
	tell_if_unknown(device, "slot_max_generation",
	    n > 1 ? hops[n - 2].max_generation : 0, "absent");
	tell_if_unknown(device, "slot_max_width",
	    n > 1 ? hops[n - 2].max_width : 0, "absent");
	if (card->load_generation > 0) {
		sv_fact(device, "pcie.under_load.generation",
		    json_integer(card->load_generation));
		sv_fact(device, "pcie.under_load.width",
		    json_integer(card->load_width));
	}
}

static void tell_narrowest(json_t *device, const struct sv_hop *hops, size_t n)
{
	struct sv_narrowest narrow;
	bool found;

	sv_path_judge(hops, n, &narrow);
	found = narrow.hop < n;
	if (narrow.ceiling_Bps == 0.0) {
		sv_fact_unknown(device, "pcie.bottleneck", "absent");
		sv_fact_unknown(device, "pcie.ceiling_Bps", "absent");
		return;
	}
	sv_fact(device, "pcie.bottleneck",
	    found ? json_string(hops[narrow.hop].address) : json_null());
	sv_fact(device, "pcie.bottleneck_why",
	    found ? json_string(narrow.why) : json_null());
	sv_fact(device, "pcie.narrowest",
	    json_pack("{s:i, s:i}", "generation", (int)narrow.generation,
		"width", (int)narrow.width));
	sv_fact(device, "pcie.ceiling_Bps", json_real(narrow.ceiling_Bps));
	sv_fact(device, "pcie.read",
	    json_string(narrow.under_load ? "under_load" : "idle"));
}

/* Registers of the card and its path that only root may read. */
static void tell_registers(
    json_t *device, const struct sv_pci_bus *bus, const char *address)
{
	const struct sv_pci_function *path[SV_MAX_HOPS];
	size_t n = sv_pci_bus_path(bus, address, path, SV_MAX_HOPS);
	const struct sv_pci_registers *card = &path[n - 1]->registers;
	static const char *const aspm[] = {"off", "L0s", "L1", "L0s L1"};
	/* 64 bytes are what others may read; no PCI Express: none to read. */
	const char *why = card->has_capabilities ? NULL
			  : path[n - 1]->n <= SV_PCI_HEADER_BYTES
			      ? "no_permission"
			      : "not_supported";
	bool redirects = false, has_acs = false;

	for (size_t i = 0; i + 1 < n; i++) {
		has_acs = has_acs || path[i]->registers.has_acs;
		redirects = redirects || path[i]->registers.acs_redirects;
	}
	sv_fact_or(device, "pcie.payload_bytes", why,
	    json_integer(card->payload_bytes));
	sv_fact_or(device, "pcie.read_request_bytes", why,
	    json_integer(card->read_request_bytes));
	sv_fact_or(device, "pcie.aspm",
	    why != NULL	     ? why
	    : card->has_aspm ? NULL
			     : "not_supported",
	    json_string(aspm[card->aspm & 3]));
	sv_fact_or(device, "pcie.acs_redirects",
	    why != NULL ? why
	    : has_acs	? NULL
			: "not_supported",
	    json_boolean(redirects));
	sv_fact_or(device, "pcie.resizable_bytes",
	    why != NULL			  ? why
	    : card->resizable_bytes > 0.0 ? NULL
					  : "not_supported",
	    json_real(card->resizable_bytes));
}

/* The largest window of memory that the card shows on the bus. */
static void tell_window(
    json_t *device, struct sv_sources *s, const char *address)
{
	char text[SV_SOURCE_BYTES], *line, *rest = text;
	const char *why = attribute(s, address, "resource", text);
	unsigned long long from, to, flags, largest = 0;

	while (why == NULL && (line = strsep(&rest, "\n")) != NULL)
		/* Flag 0x200: memory. Source: linux/ioport.h. */
		if (sscanf(line, "%llx %llx %llx", &from, &to, &flags) == 3 &&
		    (flags & 0x200) != 0 && to > from &&
		    to - from + 1 > largest)
			largest = to - from + 1;
	sv_fact_or(device, "pcie.window_bytes",
	    why != NULL	  ? why
	    : largest > 0 ? NULL
			  : "absent",
	    json_real((double)largest));
}

/* Errors of transmission that were mended, which cost time and tell faults. */
static void tell_errors(
    json_t *device, struct sv_sources *s, const char *address)
{
	char text[SV_SOURCE_BYTES];
	const char *why = attribute(s, address, "aer_dev_correctable", text);
	const char *at = why == NULL ? strstr(text, "TOTAL_ERR_COR") : NULL;
	long long n = 0;

	if (why == NULL &&
	    (at == NULL || sscanf(at, "TOTAL_ERR_COR %lld", &n) != 1 || n < 0))
		why = "error: not a count";
	sv_fact_or(device, "pcie.corrected_errors", why, json_integer(n));
}

/* The node that the firmware names; -1 and no file are both "not named". */
static void tell_node(json_t *device, struct sv_sources *s, const char *address)
{
	json_t *before =
	    json_object_get(json_object_get(device, "pcie"), "numa_node");
	char path[128];

	if (json_is_integer(before) && json_integer_value(before) >= 0)
		return;
	snprintf(path, sizeof path, SYSFS "%s/numa_node", address);
	long long node = -1;
	const char *why = sv_source_number(s, path, &node);

	if (why == NULL && node < 0)
		why = "absent";
	sv_fact_or(device, "pcie.numa_node", why, json_integer(node));
}

static void last_name(json_t *device, const char *field, struct sv_sources *s,
    const char *address, const char *link)
{
	char path[128], target[512];
	const char *name;

	snprintf(path, sizeof path, SYSFS "%s/%s", address, link);
	sv_source_link(s, path, target, sizeof target);
	name = strrchr(target, '/');
	if (name != NULL)
		sv_fact(device, field, json_string(name + 1));
	else
		sv_fact_unknown(device, field, "absent");
}

static void tell_trust(
    json_t *device, const struct sv_hop *hops, size_t n, bool guest)
{
	const struct sv_hop *card = &hops[n - 1];
	const char *doubt = NULL;

	if (guest)
		doubt = "a virtual machine: its link registers are the "
			"hypervisor's";
	else if (card->port == SV_PORT_INTEGRATED)
		doubt = "inside the processor: there is no link";
	else if (card->width == 0 && card->load_width == 0)
		doubt = "the card names no width that there is";
	sv_fact(device, "pcie.trusted", json_boolean(doubt == NULL));
	sv_fact(device, "pcie.trusted_why",
	    doubt != NULL ? json_string(doubt) : json_null());
}

/* Without a bus to see, the driver library's word on the link is all. */
static void tell_unseen(json_t *device, bool guest)
{
	struct sv_hop card = {.port = SV_PORT_ENDPOINT};

	merge(device, &card);
	tell_trust(device, &card, 1, guest);
}

void sv_path_tell(json_t *device, const struct sv_pci_bus *bus,
    struct sv_sources *s, bool guest)
{
	const char *address =
	    json_string_value(json_object_get(device, "pci_address"));
	const struct sv_pci_function *f = sv_pci_bus_find(bus, address);
	struct sv_hop hops[SV_MAX_HOPS];
	json_t *path = json_array();
	size_t n = f != NULL ? sv_path_read(bus, s, f->address, hops) : 0;

	if (n == 0) {
		json_decref(path);
		sv_fact_unknown(device, "pcie.path", "absent");
		sv_fact_unknown(device, "pcie.bottleneck", "absent");
		sv_fact_unknown(device, "pcie.slot_max_generation", "absent");
		sv_fact_unknown(device, "pcie.slot_max_width", "absent");
		tell_unseen(device, guest);
		return;
	}
	merge(device, &hops[n - 1]);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(path, hop_tree(&hops[i]));
	sv_fact(device, "pcie.path", path);
	tell_link(device, hops, n);
	tell_narrowest(device, hops, n);
	tell_trust(device, hops, n, guest);
	tell_registers(device, bus, f->address);
	tell_window(device, s, f->address);
	tell_errors(device, s, f->address);
	tell_node(device, s, f->address);
	last_name(device, "pcie.driver", s, f->address, "driver");
	last_name(device, "pcie.iommu_group", s, f->address, "iommu_group");
}
