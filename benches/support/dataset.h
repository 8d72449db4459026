/*
 * Samples on disk as trainers keep them: one file each, one packed file, or an
 * LMDB. They are made once in a folder that somebody else owns and removes, and
 * found again by later processes. Reading is by position; what is in memory
 * can be thrown out of it, and is looked at page by page.
 */
#ifndef STAVE_DATASET_H
#define STAVE_DATASET_H

#include <stdbool.h>
#include <stddef.h>

#include "stave/err.h"

enum sv_layout {
	SV_LAYOUT_FILES,
	SV_LAYOUT_PACKED,
	SV_LAYOUT_LMDB,
};

/*
 * Put sample `index` into buffer (room for the spec's bytes) and return its
 * size. Where samples are packed all have the spec's bytes.
 */
typedef size_t sv_contents_fn(void *state, size_t index, unsigned char *buffer);

struct sv_dataset_spec {
	const char *name; /* of the contents; n and bytes are added to it */
	enum sv_layout layout;
	size_t n, bytes; /* samples, and the most that one has */
	sv_contents_fn *contents;
	void *state;
};

struct sv_dataset;
struct sv_reader;

/*
 * 0 when the dataset can be made, or has been made, in folder; else
 * SV_EUNSUPPORTED, SV_EPERMISSION or SV_ERESOURCE (room on the disk) with the
 * sentence that the user reads. Leaves nothing behind.
 */
SV_MUST_CHECK int sv_dataset_possible(
    const char *folder, const struct sv_dataset_spec *, struct sv_err *err);

/*
 * Open it, made first where it is not there. What could not be made whole is
 * removed again. Errors: as sv_dataset_possible, and SV_ESYSTEM.
 */
SV_MUST_CHECK int sv_dataset_open(const char *folder,
    const struct sv_dataset_spec *, struct sv_dataset **out,
    struct sv_err *err);
void sv_dataset_close(struct sv_dataset *);

/*
 * One thread's way to read. direct: past the page cache where the file system
 * allows it, for packed samples. The dataset must outlive it.
 */
SV_MUST_CHECK int sv_reader_open(struct sv_dataset *, bool direct,
    struct sv_reader **out, struct sv_err *err);
void sv_reader_close(struct sv_reader *);
bool sv_reader_is_direct(const struct sv_reader *);
/* *data is the reader's own, until its next call. */
SV_MUST_CHECK int sv_reader_read(struct sv_reader *, size_t index,
    const unsigned char **data, size_t *bytes, struct sv_err *err);

/*
 * Throw out of memory what belongs to n samples, and possibly more. No reader
 * may be open on an LMDB.
 */
SV_MUST_CHECK int sv_dataset_drop(
    struct sv_dataset *, const size_t *indices, size_t n, struct sv_err *err);
/*
 * Share of the samples' pages that are in memory; of an LMDB's, of the whole
 * file's.
 */
SV_MUST_CHECK int sv_dataset_resident(struct sv_dataset *,
    const size_t *indices, size_t n, double *share, struct sv_err *err);

/*
 * Whether files in the folder can be thrown out of memory and be seen to be,
 * by trying it with one: false on a file system in memory, one that is served
 * by another machine, and where nothing can be written.
 */
bool sv_dataset_can_drop(const char *folder);

#endif
