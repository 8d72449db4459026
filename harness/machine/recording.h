/*
 * A recording: a folder that holds what was read of a machine, so that the
 * same code runs on it anywhere.
 *
 *   recording.json  schema, why it is kept, the kernel's files that were
 *                   read (texts, refused, links), the device as its worker
 *                   told it
 *   topology.xml    hwloc's export, optional
 *   pci.txt         the PCI bus as `lspci -xxxx` prints it, optional
 *
 * What names a machine or its user is left out: host name, serial numbers,
 * UUIDs, hardware addresses, mounts other than those asked for.
 *
 * Inside the room only.
 */
#ifndef STAVE_RECORDING_H
#define STAVE_RECORDING_H

#include <jansson.h>

#include "pci_bus.h"
#include "sources.h"
#include "topology.h"

#define SV_RECORDING_SCHEMA "stave.machine/1"

struct sv_recording {
	json_t *index;	  /* recording.json */
	char *xml, *dump; /* text of the files, NULL where there is none */
	size_t n_xml, n_dump;
};

/* Read a folder. Errors: SV_EINPUT with file and place, SV_ERESOURCE. */
SV_MUST_CHECK int sv_recording_read(
    const char *folder, struct sv_recording *out, struct sv_err *err);
void sv_recording_fini(struct sv_recording *);

/*
 * Write one. The folder is made, or may be there without a recording in it.
 * device: as the worker told it, or NULL. Errors: SV_EOUTPUT.
 */
SV_MUST_CHECK int sv_recording_write(const char *folder,
    const struct sv_sources *, const struct sv_topology *,
    const struct sv_pci_bus *, const char *storage_path, json_t *device,
    struct sv_err *err);

#endif
