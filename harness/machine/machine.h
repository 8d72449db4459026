/*
 * What this machine is, or a recorded one was: the result file's machine
 * object, the way to its card, and the binding of workers. Every source is
 * optional: a field that cannot be read is null, with an entry in "unknown"
 * that says why.
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

/*
 * Look at a recorded one. Errors: SV_EINPUT with the file, the place and what
 * was expected, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_machine_open_recording(
    const char *folder, struct sv_machine **out, struct sv_err *err);
void sv_machine_close(struct sv_machine *);

/* The machine object, borrowed. */
json_t *sv_machine_json(const struct sv_machine *);

/* A recording's device as its worker told it, borrowed; NULL where none. */
json_t *sv_machine_device(const struct sv_machine *);

/*
 * Save what was read as a recording that sv_machine_open_recording opens;
 * device as the worker told it, before sv_machine_complete, or NULL. Errors:
 * SV_EOUTPUT.
 */
SV_MUST_CHECK int sv_machine_save(const struct sv_machine *, json_t *device,
    const char *folder, struct sv_err *err);

/*
 * Complete a device object by what this machine knows of the way to it; a
 * device without a PCI address stays as it is.
 */
void sv_machine_complete(struct sv_machine *, json_t *device);

/*
 * Read the links to all cards now and keep the fastest states, for
 * sv_machine_complete: called while a worker keeps its card busy. Costs a
 * millisecond.
 */
void sv_machine_watch(struct sv_machine *);

/*
 * Call the link of a completed device untrusted where a copy was faster than
 * it can be, best_Bps in one direction: pure.
 */
void sv_machine_doubt_link(json_t *device, double best_Bps);

/*
 * The NUMA node nearest to a device (pci_address, or NULL for the first node
 * with CPUs); -1 where there are not two nodes with CPUs to choose from.
 */
int sv_machine_nearest_node(struct sv_machine *, const char *pci_address);

/*
 * Bind the calling thread, and so what it spawns, to the NUMA node nearest
 * to a device, as above. On a machine with one node nothing is bound and
 * machine.binding.node stays null. sv_machine_unbind brings the former binding
 * back. A binding that the system refuses is recorded in machine.unknown and is
 * no error.
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
