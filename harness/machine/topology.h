/*
 * The machine's shape: as hwloc sees it live, or from the XML of a recording;
 * and the binding of threads to a live one. Inside the room only.
 */
#ifndef STAVE_TOPOLOGY_H
#define STAVE_TOPOLOGY_H

#include <hwloc.h>
#include <jansson.h>
#include <stdbool.h>

#include "layout.h"
#include "sources.h"
#include "stave/err.h"

struct sv_topology {
	struct sv_layout layout; /* empty where hwloc could not look */
	char *xml;		 /* what it was read from, or NULL */
	bool live;		 /* handle is there: this machine */
	hwloc_topology_t handle;
	hwloc_cpuset_t before; /* binding to go back to, or NULL */
};

void sv_topology_read(struct sv_topology *);
/* Errors: as sv_layout_parse. */
SV_MUST_CHECK int sv_topology_parse(struct sv_topology *, const char *xml,
    size_t n, const char *name, struct sv_err *err);
void sv_topology_fini(struct sv_topology *);

/* Bring back the binding of `before`, where there is one. */
void sv_topology_unbind(struct sv_topology *);

/* machine.cpu's counts and kinds, machine.numa. */
void sv_topology_tell(
    const struct sv_topology *, json_t *machine, struct sv_sources *);

/* The first node that has one of a list of CPUs (NULL: of any), or -1. */
int sv_topology_near(const struct sv_topology *, const char *cpus);
/* The node that has all of a list of CPUs, or -1. */
int sv_topology_within(const struct sv_topology *, const char *cpus);

/* Bind the calling thread to a node; false where that is refused. */
bool sv_topology_bind(struct sv_topology *, int node);

#endif
