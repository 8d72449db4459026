/*
 * Where pages of host memory lie: NUMA nodes counted from a device, and the
 * kernel's memory policies, by system calls (workers link no topology
 * library).
 */
#ifndef STAVE_CUDA_PLACEMENT_H
#define STAVE_CUDA_PLACEMENT_H

#include <stddef.h>

#include "stave/err.h"

/* Words of a mask of nodes: the kernel's own limit is 1024 of them. */
#define CUDA_PLACEMENT_WORDS (1024 / (8 * sizeof(unsigned long)))

/* NUMA nodes of this machine that have CPUs and memory; at least 1. */
unsigned cuda_placement_nodes(void);
/* The node of a PCI device, -1 where the system does not say. */
int cuda_placement_near(const char *pci_address);
/*
 * The node that comes rank-th from the device (0: its own), by the kernel's
 * distances. Errors: SV_EUNSUPPORTED when there is none, or when it is not
 * known which the device's is.
 */
SV_MUST_CHECK int cuda_placement_node(
    const char *pci_address, int rank, int *out, struct sv_err *err);

/*
 * Between begin and end every page that this thread makes present comes from
 * the node; -1 changes nothing. Errors: SV_EPERMISSION, SV_ESYSTEM.
 */
struct cuda_placement {
	int node;
	/* What held before, for example by whoever started the process. */
	int policy;
	unsigned long nodes[CUDA_PLACEMENT_WORDS];
};
SV_MUST_CHECK int cuda_placement_begin(
    struct cuda_placement *, int node, struct sv_err *err);
SV_MUST_CHECK int cuda_placement_end(
    struct cuda_placement *, struct sv_err *err);
/* The same for pages of a mapping that are not present yet. */
SV_MUST_CHECK int cuda_placement_bind(
    void *data, size_t bytes, int node, struct sv_err *err);
/* The node that the page at data is on, -1 where the kernel cannot say. */
int cuda_placement_of(const void *data);

#endif
