/*
 * Results made fit to be shown: the report, anonymised results, checksums of
 * all files, and what to cite them by.
 */
#ifndef STAVE_PUBLISH_H
#define STAVE_PUBLISH_H

#include <stddef.h>
#include <stdio.h>

#include "anonymise.h"
#include "folder.h"
#include "result.h"

/*
 * Publish into a folder, which must be new or empty: what an older one left
 * there would be published too. One or two results have one report in it,
 * more a folder with a report each. Prints on said, for each result, whether
 * it is publishable or a draft. Errors: SV_EOUTPUT, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_publish(const struct sv_result *const *, size_t n,
    const struct sv_identity *, const char *path, FILE *said,
    struct sv_folder_outcome *, struct sv_err *err);

#endif
