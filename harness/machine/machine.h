/*
 * What this machine is: the result file's machine object, and the binding of
 * workers to it. Every source is optional: a field that cannot be read is
 * null, with an entry in "unknown" that says why.
 */
#ifndef STAVE_MACHINE_H
#define STAVE_MACHINE_H

#include <jansson.h>
#include <stddef.h>

#include "stave/err.h"

struct sv_machine;

/*
 * Look at this machine. storage_path: the folder whose file system is told
 * as machine.storage. Errors: SV_ERESOURCE; a source that cannot be read is
 * no error.
 */
SV_MUST_CHECK int sv_machine_open(
    const char *storage_path, struct sv_machine **out, struct sv_err *err);
void sv_machine_close(struct sv_machine *);

/* The machine object, borrowed. */
json_t *sv_machine_json(const struct sv_machine *);

/*
 * Bind the calling thread, and so what it spawns, to the NUMA node nearest
 * to a device (pci_address, or NULL for the first node with CPUs). On a
 * machine with one node nothing is bound and machine.binding.node stays
 * null. sv_machine_unbind brings the former binding back. A binding that
 * the system refuses is recorded in machine.unknown and is no error.
 */
void sv_machine_bind(struct sv_machine *, const char *pci_address);
void sv_machine_unbind(struct sv_machine *);

/* One graphics or compute device found on the PCI bus. */
struct sv_pci_card {
	char address[32];
	char name[256]; /* from pci.ids */
	unsigned vendor, device;
};

/*
 * Fill up to max entries with the display controllers and accelerators on
 * the PCI bus; returns how many there are, 0 also where the bus cannot be
 * read.
 */
size_t sv_machine_pci_cards(struct sv_pci_card *cards, size_t max);

/* Host name for labels and default file names; "host" when unknown. */
void sv_machine_host_name(char *out, size_t size);

#endif
