/*
 * JSON files that come with the program: found beside it, built or installed,
 * by name; or anywhere, by path.
 */
#ifndef STAVE_SHIPPED_H
#define STAVE_SHIPPED_H

#include <stddef.h>

#include "stave/err.h"

/* A kind of file: "workloads" of share/stave, one "workload". */
struct sv_shipped {
	const char *folder, *one;
	const char *variable; /* of the environment: a folder to use instead */
};

/*
 * The path of what a user calls by name ("NAME": shipped, a slash or ".json":
 * a file of theirs), written to out. Errors: SV_EINPUT where nothing of the
 * name is shipped.
 */
SV_MUST_CHECK int sv_shipped_path(const struct sv_shipped *,
    const char *name_or_path, char *out, size_t size, struct sv_err *err);

/*
 * Names of what is shipped, sorted and NULL-ended, in one block that the
 * caller frees. Errors: SV_EINPUT where the folder is not there, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_shipped_names(
    const struct sv_shipped *, char ***out, struct sv_err *err);

#endif
