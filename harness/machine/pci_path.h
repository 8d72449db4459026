/*
 * The way from the root of the bus to a card: which link of it is the
 * narrowest, and what makes it so. Judging is pure. Inside the room only.
 */
#ifndef STAVE_PCI_PATH_H
#define STAVE_PCI_PATH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "pci_bus.h"
#include "sources.h"

#define SV_MAX_HOPS 16

/* One function on the way; 0 stands for unknown in every number. */
struct sv_hop {
	char address[SV_PCI_ADDRESS_BYTES];
	char name[SV_PCI_NAME_BYTES];
	enum sv_pci_port port;
	bool is_card;
	unsigned generation, width;	      /* read idle */
	unsigned load_generation, load_width; /* read while copies ran */
	unsigned max_generation, max_width;
	unsigned target_generation; /* where software holds the link to */
	unsigned payload_bytes;	    /* what packets carry; 0 unknown */
};

/* What a hop is, in words of the result file. */
const char *sv_hop_what(const struct sv_hop *);

struct sv_narrowest {
	/* The narrowest link's; ceiling 0 where nothing is known. */
	unsigned generation, width;
	double ceiling_Bps;
	bool under_load; /* its generation was read while copies ran */
	size_t hop;	 /* what makes it narrow; n where nothing does */
	char why[320];	 /* a sentence, "" where nothing does */
};

/*
 * Judge a path of n hops, the last of which is the card. Idle links run
 * slowly to save power: a low generation read idle proves nothing, a narrow
 * width does.
 */
void sv_path_judge(
    const struct sv_hop *hops, size_t n, struct sv_narrowest *out);

/* A generation from the kernel's "8.0 GT/s PCIe", 0 where it says none. */
unsigned sv_link_speed_parse(const char *text);
/* A width from its decimal number, 0 for one that there is not. */
unsigned sv_link_width_parse(const char *text);

/*
 * Fill hops[] for the card at an address from the bus and the kernel's files;
 * returns how many, 0 where neither knows it.
 */
size_t sv_path_read(const struct sv_pci_bus *, struct sv_sources *,
    const char *address, struct sv_hop hops[SV_MAX_HOPS]);

/*
 * Complete device.pcie: path, slot, bottleneck, ceiling, and what the bus
 * tells about the card beside its link. guest: registers may be a
 * hypervisor's inventions.
 */
void sv_path_tell(
    json_t *device, const struct sv_pci_bus *, struct sv_sources *, bool guest);

/*
 * Read the links of a card's path now and keep the fastest state seen, for
 * sv_path_read; costs a millisecond.
 */
void sv_path_watch(
    const struct sv_pci_bus *, struct sv_sources *, const char *address);

#endif
