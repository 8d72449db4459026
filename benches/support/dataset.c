/*
 * Datasets whatever their layout: room for them, making them whole or not at
 * all, and what of them is in memory. See the header.
 */
#include "dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dataset_layout.h"
#include "stave/tree.h"

/* Left free on the disk beside what a layout needs for itself. */
#define SPARE_BYTES  (64.0 * 1048576.0)
#define OVERHEAD     1.1
#define SPARE_INODES 100u
#define PROBE_BYTES  ((size_t)256 << 10)
#define PROBE_TRIES  3

int sv_dataset_fail(struct sv_err *err, const char *what, const char *path)
{
	int cause = errno;
	int code = cause == EACCES || cause == EPERM || cause == EROFS
		       ? SV_EPERMISSION
		   : cause == ENOSPC || cause == EDQUOT || cause == ENOMEM ||
			   cause == EMFILE || cause == ENFILE || cause == EFBIG
		       ? SV_ERESOURCE
		       : SV_ESYSTEM;

	return sv_err_set(err, code, "%s %s: %s", what, path, strerror(cause));
}

int sv_dataset_write(int fd, const char *path, const unsigned char *data,
    size_t bytes, struct sv_err *err)
{
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sv_dataset_fail(err, "write", path);
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

size_t sv_dataset_stride(const struct sv_dataset_spec *spec)
{
	return (spec->bytes + SV_DATASET_ALIGNMENT - 1) / SV_DATASET_ALIGNMENT *
	       SV_DATASET_ALIGNMENT;
}

static const struct layout *layout_of(enum sv_layout layout)
{
	return layout == SV_LAYOUT_FILES    ? &sv_layout_files
	       : layout == SV_LAYOUT_PACKED ? &sv_layout_packed
					    : &sv_layout_lmdb;
}

static void path_of(const char *folder, const struct sv_dataset_spec *spec,
    char out[SV_DATASET_PATH_BYTES])
{
	snprintf(out, SV_DATASET_PATH_BYTES, "%s/%s-%s-%zux%zu", folder,
	    spec->name, layout_of(spec->layout)->name, spec->n, spec->bytes);
}

static int open_probe(const char *folder, struct sv_err *err)
{
	char path[SV_DATASET_PATH_BYTES];
	int fd;

	snprintf(path, sizeof path, "%s/.stave-probe-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return sv_dataset_fail(err, "make a file in", folder);
	unlink(path);
	return fd;
}

static int check_room(
    const char *folder, const struct sv_dataset_spec *spec, struct sv_err *err)
{
	double needed =
	    OVERHEAD * (double)spec->n * (double)sv_dataset_stride(spec) +
	    SPARE_BYTES;
	struct statvfs room;

	if (statvfs(folder, &room) != 0)
		return sv_dataset_fail(err, "look at", folder);
	double bytes = (double)room.f_bavail * (double)room.f_frsize;

	if (bytes < needed)
		return sv_err_set(err, SV_ERESOURCE,
		    "%s: needs %.0f MiB of room on the disk, %.0f MiB are free",
		    folder, needed / 1048576.0, bytes / 1048576.0);
	if (spec->layout == SV_LAYOUT_FILES && room.f_files > 0 &&
	    room.f_favail < spec->n + SPARE_INODES)
		return sv_err_set(err, SV_ERESOURCE,
		    "%s: needs %zu more files, the file system has room for "
		    "%llu",
		    folder, spec->n, (unsigned long long)room.f_favail);
	return 0;
}

int sv_dataset_possible(
    const char *folder, const struct sv_dataset_spec *spec, struct sv_err *err)
{
	char path[SV_DATASET_PATH_BYTES];
	int fd, code;

	if (folder == NULL)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "no folder to keep samples in; name one with "
		    "--storage-path");
	if (spec->layout == SV_LAYOUT_LMDB) {
		code = sv_dataset_lmdb_built(err);
		if (code != 0)
			return code;
	}
	path_of(folder, spec, path);
	if (access(path, R_OK | X_OK) == 0)
		return 0;
	fd = open_probe(folder, err);
	if (fd < 0)
		return fd;
	close(fd);
	return check_room(folder, spec, err);
}

/* Make it under another name, so that a whole one is known by its own. */
static int make(const char *path, const struct sv_dataset_spec *spec,
    const struct layout *layout, struct sv_err *err)
{
	char unfinished[SV_DATASET_PATH_BYTES + 8];
	unsigned char *buffer = malloc(sv_dataset_stride(spec));
	int code = 0, fd;

	if (buffer == NULL)
		return sv_err_set(err, SV_ERESOURCE, "samples: out of memory");
	snprintf(unfinished, sizeof unfinished, "%s.new", path);
	(void)sv_tree_remove(unfinished);
	if (mkdir(unfinished, 0700) != 0)
		code = sv_dataset_fail(err, "make", unfinished);
	if (code == 0)
		code = layout->make(spec, unfinished, buffer, err);
	/* What is not yet on the disk can not be put out of memory. */
	fd = code == 0 ? open(unfinished, O_RDONLY | O_CLOEXEC) : -1;
	if (code == 0 && (fd < 0 || syncfs(fd) != 0))
		code = sv_dataset_fail(err, "sync", unfinished);
	if (fd >= 0)
		close(fd);
	if (code == 0 && rename(unfinished, path) != 0)
		code = sv_dataset_fail(err, "rename", unfinished);
	if (code != 0)
		(void)sv_tree_remove(unfinished);
	free(buffer);
	return code;
}

int sv_dataset_open(const char *folder, const struct sv_dataset_spec *spec,
    struct sv_dataset **out, struct sv_err *err)
{
	struct sv_dataset *dataset = calloc(1, sizeof *dataset);
	char inside[SV_DATASET_PATH_BYTES + 32];
	int code = 0;

	if (dataset == NULL)
		return sv_err_set(err, SV_ERESOURCE, "samples: out of memory");
	dataset->spec = *spec;
	dataset->layout = layout_of(spec->layout);
	path_of(folder, spec, dataset->path);
	if (access(dataset->path, F_OK) != 0)
		code = make(dataset->path, spec, dataset->layout, err);
	snprintf(inside, sizeof inside, "%s%s", dataset->path,
	    dataset->layout->inside);
	dataset->fd = code == 0 ? open(inside, O_RDONLY | O_CLOEXEC) : -1;
	if (code == 0 && dataset->fd < 0)
		code = sv_dataset_fail(err, "open", inside);
	if (code != 0) {
		sv_dataset_close(dataset);
		return code;
	}
	*out = dataset;
	return 0;
}

void sv_dataset_close(struct sv_dataset *dataset)
{
	if (dataset != NULL && dataset->fd >= 0)
		close(dataset->fd);
	free(dataset);
}

int sv_reader_open(struct sv_dataset *dataset, bool direct,
    struct sv_reader **out, struct sv_err *err)
{
	struct sv_reader *reader = calloc(1, sizeof *reader);
	int code = 0;

	if (reader == NULL)
		return sv_err_set(err, SV_ERESOURCE, "reader: out of memory");
	*reader = (struct sv_reader){.dataset = dataset, .fd = -1};
	reader->buffer = aligned_alloc(
	    SV_DATASET_ALIGNMENT, sv_dataset_stride(&dataset->spec));
	if (reader->buffer == NULL)
		code = sv_err_set(err, SV_ERESOURCE, "reader: out of memory");
	if (code == 0 && dataset->layout->reader_open != NULL)
		code = dataset->layout->reader_open(reader, direct, err);
	if (code != 0) {
		sv_reader_close(reader);
		return code;
	}
	*out = reader;
	return 0;
}

void sv_reader_close(struct sv_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->dataset->layout->reader_close != NULL)
		reader->dataset->layout->reader_close(reader);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->buffer);
	free(reader);
}

bool sv_reader_is_direct(const struct sv_reader *reader)
{
	return reader->fd >= 0;
}

int sv_reader_read(struct sv_reader *reader, size_t index,
    const unsigned char **data, size_t *bytes, struct sv_err *err)
{
	return reader->dataset->layout->read(reader, index, data, bytes, err);
}

/* Count the pages of a range, and those in memory; `from` is on a page. */
static int count_pages(int fd, size_t from, size_t bytes, size_t *resident,
    size_t *pages, struct sv_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t n = (bytes + page - 1) / page;
	unsigned char *map, *bits;
	int code = 0;

	if (n == 0)
		return 0;
	map = mmap(NULL, n * page, PROT_READ, MAP_SHARED, fd, (off_t)from);
	if (map == MAP_FAILED)
		return sv_dataset_fail(err, "map", "the samples");
	bits = malloc(n);
	if (bits == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "pages: out of memory");
		goto unmap;
	}
	if (mincore(map, n * page, bits) != 0) {
		code = sv_dataset_fail(err, "mincore of", "the samples");
		goto unmap;
	}
	for (size_t i = 0; i < n; i++)
		*resident += bits[i] & 1;
	*pages += n;
unmap:
	free(bits);
	munmap(map, n * page);
	return code;
}

/* Drop one sample, or count its pages where resident is given. */
static int visit(struct sv_dataset *dataset, size_t index, size_t *resident,
    size_t *pages, struct sv_err *err)
{
	size_t from = 0, bytes = 0;
	int fd = -1, failed;
	int code =
	    dataset->layout->locate(dataset, index, &fd, &from, &bytes, err);

	if (code != 0)
		return code;
	if (resident != NULL) {
		code = count_pages(fd, from, bytes, resident, pages, err);
	} else {
		/* A page may be part of a larger whole: all of the file. */
		failed = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (failed != 0) {
			errno = failed;
			code = sv_dataset_fail(err, "drop", dataset->path);
		}
	}
	if (fd != dataset->fd)
		close(fd);
	return code;
}

int sv_dataset_drop(struct sv_dataset *dataset, const size_t *indices, size_t n,
    struct sv_err *err)
{
	bool once = dataset->layout != &sv_layout_files;
	int code = 0;

	for (size_t i = 0; code == 0 && i < n && (i == 0 || !once); i++)
		code = visit(dataset, indices[i], NULL, NULL, err);
	return code;
}

int sv_dataset_resident(struct sv_dataset *dataset, const size_t *indices,
    size_t n, double *share, struct sv_err *err)
{
	size_t resident = 0, pages = 0;
	int code = 0;

	for (size_t i = 0;
	     code == 0 && i < n && (i == 0 || !dataset->layout->whole); i++)
		code = visit(dataset, indices[i], &resident, &pages, err);
	if (code == 0)
		*share = pages > 0 ? (double)resident / (double)pages : 0.0;
	return code;
}

/* Served by another machine, whose memory cannot be looked into. */
static bool is_remote(int fd)
{
	/* Source: linux/magic.h and the file systems' own headers. */
	static const unsigned long remote[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC,
	    CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC, CEPH_SUPER_MAGIC,
	    AFS_SUPER_MAGIC, V9FS_MAGIC, FUSE_SUPER_MAGIC,
	    0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */};
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return true;
	for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++)
		if ((unsigned long)fs.f_type == remote[i])
			return true;
	return false;
}

/* Whether a written and synced file goes out of memory when told to. */
static bool goes_out(int fd)
{
	size_t resident = 0, pages = 0;
	struct sv_err ignored;

	if (fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		return false;
	return count_pages(fd, 0, PROBE_BYTES, &resident, &pages, &ignored) ==
		   0 &&
	       resident == 0;
}

bool sv_dataset_can_drop(const char *folder)
{
	unsigned char *zeros = calloc(1, PROBE_BYTES);
	struct sv_err ignored;
	int fd = open_probe(folder, &ignored);
	bool good = false;

	if (zeros != NULL && fd >= 0 && !is_remote(fd) &&
	    sv_dataset_write(fd, folder, zeros, PROBE_BYTES, &ignored) == 0)
		for (int i = 0; !good && i < PROBE_TRIES; i++)
			good = goes_out(fd);
	if (fd >= 0)
		close(fd);
	free(zeros);
	return good;
}
