/* What a layout of samples on disk is; shared by the dataset*.c files. */
#ifndef STAVE_DATASET_LAYOUT_H
#define STAVE_DATASET_LAYOUT_H

#include "dataset.h"

#define SV_DATASET_PATH_BYTES 4096
/* Packed samples begin on such a boundary, which O_DIRECT needs. */
#define SV_DATASET_ALIGNMENT  ((size_t)4096)

struct sv_dataset {
	struct sv_dataset_spec spec;
	char path[SV_DATASET_PATH_BYTES];
	const struct layout *layout;
	int fd;	      /* the folder of files, or the packed or LMDB file */
	void *shared; /* the layout's, among readers */
	unsigned readers;
};

struct sv_reader {
	struct sv_dataset *dataset;
	unsigned char *buffer; /* aligned, room for an aligned sample */
	int fd;		       /* its own where it reads directly, else -1 */
	void *state;	       /* the layout's */
};

struct layout {
	const char *name;
	/* Fill path, which is not there yet. */
	int (*make)(const struct sv_dataset_spec *, const char *path,
	    unsigned char *buffer, struct sv_err *err);
	/* The file or folder below path that fd is opened on. */
	const char *inside;
	int (*reader_open)(struct sv_reader *, bool direct, struct sv_err *);
	void (*reader_close)(struct sv_reader *);
	int (*read)(struct sv_reader *, size_t index,
	    const unsigned char **data, size_t *bytes, struct sv_err *err);
	/*
	 * Where sample `index` lies: a descriptor to be closed where it is not
	 * the dataset's, and a range. Whole files are one sample's or all's.
	 */
	int (*locate)(struct sv_dataset *, size_t index, int *fd, size_t *from,
	    size_t *bytes, struct sv_err *err);
	bool whole; /* locate gives the same for every index */
};

extern const struct layout sv_layout_files, sv_layout_packed, sv_layout_lmdb;

size_t sv_dataset_stride(const struct sv_dataset_spec *);
/* 0, or why this build has no LMDB. */
int sv_dataset_lmdb_built(struct sv_err *err);

/* "WHAT PATH: cause" with the code that the present errno deserves. */
int sv_dataset_fail(struct sv_err *err, const char *what, const char *path);
/* Write all of it. Errors: as sv_dataset_fail. */
int sv_dataset_write(int fd, const char *path, const unsigned char *data,
    size_t bytes, struct sv_err *err);

#endif
