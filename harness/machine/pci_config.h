/*
 * The configuration space of a PCI function, decoded: pure, on bytes. What
 * lies past the bytes at hand is unknown and never 0.
 */
#ifndef STAVE_PCI_CONFIG_H
#define STAVE_PCI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#define SV_PCI_CONFIG_BYTES 4096
/* What an ordinary user may read. */
#define SV_PCI_HEADER_BYTES 64

/* What a function is to a PCI Express link. */
enum sv_pci_port {
	SV_PORT_UNKNOWN, /* capabilities not at hand, or no PCI Express */
	SV_PORT_ENDPOINT,
	SV_PORT_ROOT,	    /* the slot's side of the link to a card */
	SV_PORT_UPSTREAM,   /* of a switch, towards the processor */
	SV_PORT_DOWNSTREAM, /* of a switch, towards a card */
	SV_PORT_BRIDGE,	    /* to or from conventional PCI */
	SV_PORT_INTEGRATED, /* inside the root complex: no link */
};

struct sv_pci_registers {
	unsigned vendor, device, class_code; /* class 0x030000: a display */
	bool is_bridge;
	unsigned secondary_bus, subordinate_bus; /* of a bridge */
	bool has_capabilities; /* the bytes at hand reach to the PCIe ones */
	enum sv_pci_port port;
	/* 0: unknown, here and below. */
	unsigned generation, width, max_generation, max_width;
	unsigned target_generation; /* where software holds it to */
	unsigned payload_bytes, max_payload_bytes, read_request_bytes;
	bool has_aspm;
	unsigned aspm; /* bit 0: L0s on, bit 1: L1 on */
	bool has_acs;
	bool acs_redirects;	/* peers' packets go by the root */
	double resizable_bytes; /* a BAR's size by its capability */
	double resizable_max_bytes;
};

/* Decode n bytes (fewer than SV_PCI_HEADER_BYTES give nothing). */
void sv_pci_decode(
    const unsigned char *bytes, size_t n, struct sv_pci_registers *out);

/* Where the Device Serial Number stands, 0 where there is none. */
size_t sv_pci_serial_offset(const unsigned char *bytes, size_t n);

#endif
