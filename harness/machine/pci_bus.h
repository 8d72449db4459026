/*
 * The functions on a machine's PCI bus with the bytes of their configuration
 * space: from libpci, or from text as `lspci -xxxx` prints it. Inside the room
 * only.
 */
#ifndef STAVE_PCI_BUS_H
#define STAVE_PCI_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pci_config.h"
#include "stave/err.h"

#define SV_PCI_ADDRESS_BYTES 16
#define SV_PCI_NAME_BYTES    160

struct sv_pci_function {
	unsigned domain, bus, slot, function;
	char address[SV_PCI_ADDRESS_BYTES]; /* 0000:01:00.0 */
	char name[SV_PCI_NAME_BYTES];	    /* by pci.ids; "" unknown */
	unsigned char *config;		    /* n bytes */
	size_t n;
	struct sv_pci_registers registers; /* what they say */
};

struct sv_pci_bus {
	struct sv_pci_function *functions; /* as the bus has them */
	size_t n;
};

/*
 * Look at this machine's bus; an empty one where it cannot be read. Bridges
 * and cards alone are told: the read of a word costs a microsecond and more.
 */
void sv_pci_bus_read(struct sv_pci_bus *);

/*
 * Parse a dump. name stands for it in messages. Errors: SV_EINPUT with the
 * line and what was expected, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_pci_bus_parse(struct sv_pci_bus *, const char *text,
    size_t n, const char *name, struct sv_err *err);

/* Print as a dump, serial numbers blanked. */
void sv_pci_bus_print(const struct sv_pci_bus *, FILE *out);

void sv_pci_bus_fini(struct sv_pci_bus *);

/* The function at an address (any case, domain optional), or NULL. */
const struct sv_pci_function *sv_pci_bus_find(
    const struct sv_pci_bus *, const char *address);

/* Display controllers and processing accelerators. */
bool sv_pci_is_card(const struct sv_pci_function *);

/*
 * The way to a function: fill hops[0 … ] from the port at the root down to
 * it, at most max; returns how many, 0 where the address is not on the bus.
 */
size_t sv_pci_bus_path(const struct sv_pci_bus *, const char *address,
    const struct sv_pci_function **hops, size_t max);

#endif
