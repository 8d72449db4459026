/*
 * Files beside results (reports, recordings, floors): written where they are,
 * for a terminal or a pipe may be meant. Results themselves are replaced as a
 * whole, see sv_result_write.
 */
#ifndef STAVE_SAVE_H
#define STAVE_SAVE_H

#include <stddef.h>

#include "stave/err.h"

/* Write n bytes. Errors: SV_EOUTPUT, "write PATH: cause". */
SV_MUST_CHECK int sv_save(
    const char *path, const void *bytes, size_t n, struct sv_err *err);

#endif
