/*
 * A report as a folder: the page, Markdown for an issue tracker, CSV, and the
 * pictures as SVG and PNG. Pictures that cannot be drawn are missed with a
 * note; everything else is still written.
 */
#ifndef STAVE_FOLDER_H
#define STAVE_FOLDER_H

#include <stddef.h>

#include "compare.h"
#include "result.h"

struct sv_folder {
	const struct sv_result *const *results; /* one or two */
	size_t n_results;
	const struct sv_comparison *comparison; /* NULL for one */
};

/* What was written, and what was not. */
struct sv_folder_outcome {
	size_t n_pictures;
	char note[256]; /* why pictures are missing; "" where none are */
};

/*
 * Write the report into a folder, with an explanation of each shipped workload
 * that two results have the figures for. The folder is made where it is not
 * there (with those above it). Errors: SV_EOUTPUT, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_folder_write(const struct sv_folder *, const char *path,
    struct sv_folder_outcome *, struct sv_err *err);

/* The text for an issue tracker, by which 64 kB must not be exceeded. */
void sv_report_markdown(const struct sv_folder *, FILE *out);

/* Make a folder and those above it. Errors: SV_EOUTPUT. */
SV_MUST_CHECK int sv_folder_make(const char *path, struct sv_err *err);

/* Write a file into a folder. Errors: SV_EOUTPUT. */
SV_MUST_CHECK int sv_folder_save(const char *folder, const char *name,
    const void *bytes, size_t n, struct sv_err *err);

#endif
