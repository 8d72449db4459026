/* NUMA nodes and memory policies; see the header. */
#include "cuda_placement.h"

#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NODES	  "/sys/devices/system/node"
/* Nodes that a mask of one word can name; enough for any machine with cards. */
#define MAX_NODES ((int)(sizeof(unsigned long) * CHAR_BIT))

#define MASK_BITS 1024ul

/* The nodes of a list like "0-1,4" as bits; 0 where there is no such file. */
static unsigned long read_list(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long mask = 0;
	int first, last;

	while (file != NULL && fscanf(file, "%d", &first) == 1) {
		last = first;
		if (fscanf(file, "-%d", &last) == EOF)
			last = first;
		for (int i = first; i >= 0 && i <= last && i < MAX_NODES; i++)
			mask |= 1ul << i;
		if (fgetc(file) != ',')
			break;
	}
	if (file != NULL)
		fclose(file);
	return mask;
}

static unsigned long usable_nodes(void)
{
	return read_list(NODES "/has_cpu") & read_list(NODES "/has_memory");
}

unsigned cuda_placement_nodes(void)
{
	int n = __builtin_popcountl(usable_nodes());

	return n > 0 ? (unsigned)n : 1;
}

int cuda_placement_near(const char *pci_address)
{
	char path[128];
	FILE *file;
	int node = -1;

	snprintf(path, sizeof path, "/sys/bus/pci/devices/%.20s/numa_node",
	    pci_address);
	file = fopen(path, "r");
	if (file == NULL)
		return -1;
	if (fscanf(file, "%d", &node) != 1)
		node = -1;
	fclose(file);
	return node;
}

/* Distances from a node to all online ones, in the order of their numbers. */
static bool read_distances(int from, int *distance)
{
	unsigned long online = read_list(NODES "/online");
	char path[64];
	FILE *file;
	bool whole = true;

	snprintf(path, sizeof path, NODES "/node%d/distance", from);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	for (int i = 0; i < MAX_NODES; i++)
		if ((online >> i & 1) != 0 &&
		    fscanf(file, "%d", &distance[i]) != 1)
			whole = false;
	fclose(file);
	return whole;
}

int cuda_placement_node(
    const char *pci_address, int rank, int *out, struct sv_err *err)
{
	unsigned long left = usable_nodes();
	int distance[MAX_NODES], near = cuda_placement_near(pci_address);
	int node = -1;

	memset(distance, 0, sizeof distance);
	if (near < 0 || !read_distances(near, distance))
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "NUMA: the system does not say which node is nearest to "
		    "%s",
		    pci_address);
	for (int i = 0; i <= rank; i++) {
		node = -1;
		for (int j = 0; j < MAX_NODES; j++)
			if ((left >> j & 1) != 0 &&
			    (node < 0 || distance[j] < distance[node]))
				node = j;
		if (node < 0)
			return sv_err_set(err, SV_EUNSUPPORTED,
			    "NUMA: there are only %d nodes with CPUs and "
			    "memory",
			    i);
		left &= ~(1ul << node);
	}
	*out = node;
	return 0;
}

static int failed(const char *what, int node, struct sv_err *err)
{
	return sv_err_set(err, errno == EPERM ? SV_EPERMISSION : SV_ESYSTEM,
	    "%s node %d: %s", what, node, strerror(errno));
}

int cuda_placement_begin(
    struct cuda_placement *placement, int node, struct sv_err *err)
{
	unsigned long mask = node >= 0 ? 1ul << node : 0;

	placement->node = node;
	if (node < 0)
		return 0;
	if (syscall(SYS_get_mempolicy, &placement->policy, placement->nodes,
		MASK_BITS, NULL, 0ul) != 0)
		return failed("get_mempolicy before", node, err);
	if (syscall(SYS_set_mempolicy, MPOL_BIND, &mask,
		(unsigned long)MAX_NODES + 1) != 0)
		return failed("set_mempolicy", node, err);
	return 0;
}

int cuda_placement_end(struct cuda_placement *placement, struct sv_err *err)
{
	if (placement->node >= 0 &&
	    syscall(SYS_set_mempolicy, placement->policy, placement->nodes,
		MASK_BITS) != 0)
		return failed("set_mempolicy away from", placement->node, err);
	return 0;
}

int cuda_placement_bind(void *data, size_t bytes, int node, struct sv_err *err)
{
	unsigned long mask = node >= 0 ? 1ul << node : 0;

	if (node >= 0 && syscall(SYS_mbind, data, bytes, MPOL_BIND, &mask,
			     (unsigned long)MAX_NODES + 1, 0u) != 0)
		return failed("mbind", node, err);
	return 0;
}

int cuda_placement_of(const void *data)
{
	int node = -1;

	if (syscall(SYS_get_mempolicy, &node, NULL, 0ul, data,
		MPOL_F_NODE | MPOL_F_ADDR) != 0)
		return -1;
	return node;
}
