/*
 * What there is to know of a machine's shape, from hwloc's XML: counts, nodes
 * of memory, the last cache, kinds of cores. Live and recorded machines come
 * this way alike; hwloc's own reader is not for files of strangers, some of
 * which crash it. Inside the room only.
 */
#ifndef STAVE_LAYOUT_H
#define STAVE_LAYOUT_H

#include <hwloc.h>
#include <stddef.h>

#include "stave/err.h"

#define SV_MAX_NODES 1024
#define SV_MAX_KINDS 16

struct sv_node {
	unsigned index;
	hwloc_bitmap_t cpus; /* owned */
	unsigned long long memory_bytes;
};

struct sv_core_kind {
	hwloc_bitmap_t cpus; /* owned */
	int efficiency;	     /* the greater the faster; -1 unknown */
	char type[32];	     /* "IntelAtom" and the like, "" unknown */
};

struct sv_layout {
	unsigned packages, cores, threads;
	unsigned cache_level; /* of the last cache, 0 without one */
	unsigned long long cache_bytes;
	struct sv_node *nodes;
	size_t n_nodes;
	struct sv_core_kind kinds[SV_MAX_KINDS];
	size_t n_kinds;
};

/*
 * Read n bytes of XML as hwloc 2 exports it; name stands for the file in
 * messages. Errors: SV_EINPUT with the line and what was expected,
 * SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_layout_parse(struct sv_layout *, const char *xml, size_t n,
    const char *name, struct sv_err *err);
void sv_layout_fini(struct sv_layout *);

#endif
