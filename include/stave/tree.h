/*
 * Removing a folder with all that is in it, for whoever made it: the harness
 * and the benchmarks both make folders of measuring files.
 */
#ifndef STAVE_TREE_H
#define STAVE_TREE_H

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

/* Open folders at once while walking; ours are two deep. */
#define SV_TREE_DESCRIPTORS 8

static inline int sv_tree_remove_one(
    const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

/*
 * Remove path, following no link and entering no other file system. Returns 0
 * also where there is nothing, or -1 with errno.
 */
static inline int sv_tree_remove(const char *path)
{
	int failed = nftw(path, sv_tree_remove_one, SV_TREE_DESCRIPTORS,
	    FTW_DEPTH | FTW_PHYS | FTW_MOUNT);

	return failed == 0 || errno == ENOENT ? 0 : -1;
}

#endif
