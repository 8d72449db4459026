/*
 * The layouts that need no library: a file for each sample, a thousand to a
 * folder, and one packed file whose samples begin on page boundaries.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset_layout.h"

#define FILES_A_FOLDER 1000u
#define NAME_BYTES     48

static void name_of(size_t index, char out[NAME_BYTES])
{
	snprintf(out, NAME_BYTES, "%03zu/%06zu", index / FILES_A_FOLDER, index);
}

static int make_file(int folder, const struct sv_dataset_spec *spec,
    size_t index, unsigned char *buffer, struct sv_err *err)
{
	char name[NAME_BYTES];
	size_t bytes = spec->contents(spec->state, index, buffer);
	int fd, code;

	name_of(index, name);
	if (index % FILES_A_FOLDER == 0) {
		char *slash = strchr(name, '/');

		*slash = '\0';
		if (mkdirat(folder, name, 0700) != 0)
			return sv_dataset_fail(err, "make", name);
		*slash = '/';
	}
	fd =
	    openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return sv_dataset_fail(err, "make", name);
	code = sv_dataset_write(fd, name, buffer, bytes, err);
	if (close(fd) != 0 && code == 0)
		code = sv_dataset_fail(err, "write", name);
	return code;
}

static int make_files(const struct sv_dataset_spec *spec, const char *path,
    unsigned char *buffer, struct sv_err *err)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), code = 0;

	if (folder < 0)
		return sv_dataset_fail(err, "open", path);
	for (size_t i = 0; code == 0 && i < spec->n; i++)
		code = make_file(folder, spec, i, buffer, err);
	close(folder);
	return code;
}

/* Read up to room bytes from a place on; *bytes gets how many there were. */
static int read_range(int fd, size_t from, unsigned char *buffer, size_t room,
    size_t *bytes, struct sv_err *err)
{
	*bytes = 0;
	while (*bytes < room) {
		ssize_t n = pread(
		    fd, buffer + *bytes, room - *bytes, (off_t)(from + *bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sv_dataset_fail(err, "read", "a sample");
		if (n == 0)
			break;
		*bytes += (size_t)n;
	}
	return 0;
}

static int open_file(
    struct sv_dataset *dataset, size_t index, int *fd, struct sv_err *err)
{
	char name[NAME_BYTES];

	name_of(index, name);
	*fd = openat(dataset->fd, name, O_RDONLY | O_CLOEXEC);
	return *fd >= 0 ? 0 : sv_dataset_fail(err, "open", name);
}

static int read_file(struct sv_reader *reader, size_t index,
    const unsigned char **data, size_t *bytes, struct sv_err *err)
{
	int fd, code = open_file(reader->dataset, index, &fd, err);

	if (code != 0)
		return code;
	code = read_range(
	    fd, 0, reader->buffer, reader->dataset->spec.bytes, bytes, err);
	close(fd);
	*data = reader->buffer;
	return code;
}

static int locate_file(struct sv_dataset *dataset, size_t index, int *fd,
    size_t *from, size_t *bytes, struct sv_err *err)
{
	struct stat info;
	int code = open_file(dataset, index, fd, err);

	if (code != 0)
		return code;
	if (fstat(*fd, &info) != 0) {
		code = sv_dataset_fail(err, "look at", "a sample");
		close(*fd);
		return code;
	}
	*from = 0;
	*bytes = (size_t)info.st_size;
	return 0;
}

const struct layout sv_layout_files = {
    .name = "files",
    .make = make_files,
    .inside = "",
    .read = read_file,
    .locate = locate_file,
};

static int make_packed(const struct sv_dataset_spec *spec, const char *path,
    unsigned char *buffer, struct sv_err *err)
{
	size_t stride = sv_dataset_stride(spec);
	char name[SV_DATASET_PATH_BYTES + 16];
	int fd, code = 0;

	snprintf(name, sizeof name, "%s/samples", path);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return sv_dataset_fail(err, "make", name);
	memset(buffer, 0, stride);
	for (size_t i = 0; code == 0 && i < spec->n; i++) {
		spec->contents(spec->state, i, buffer);
		code = sv_dataset_write(fd, name, buffer, stride, err);
	}
	if (close(fd) != 0 && code == 0)
		code = sv_dataset_fail(err, "write", name);
	return code;
}

/*
 * Reading directly needs a descriptor of its own, and a file system that does
 * it: some refuse when opening, some when reading.
 */
static int open_packed(
    struct sv_reader *reader, bool direct, struct sv_err *err)
{
	char name[SV_DATASET_PATH_BYTES + 16];

	(void)err;
	/* Where reads come in no order, reading ahead is of no use. */
	(void)posix_fadvise(reader->dataset->fd, 0, 0, POSIX_FADV_RANDOM);
	if (!direct)
		return 0;
	snprintf(name, sizeof name, "%s%s", reader->dataset->path,
	    sv_layout_packed.inside);
	reader->fd = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (reader->fd >= 0 &&
	    pread(reader->fd, reader->buffer, SV_DATASET_ALIGNMENT, 0) < 0) {
		close(reader->fd);
		reader->fd = -1;
	}
	return 0;
}

static int read_packed(struct sv_reader *reader, size_t index,
    const unsigned char **data, size_t *bytes, struct sv_err *err)
{
	const struct sv_dataset_spec *spec = &reader->dataset->spec;
	size_t stride = sv_dataset_stride(spec);
	bool direct = reader->fd >= 0;
	int code = read_range(direct ? reader->fd : reader->dataset->fd,
	    index * stride, reader->buffer, direct ? stride : spec->bytes,
	    bytes, err);

	if (*bytes > spec->bytes)
		*bytes = spec->bytes;
	*data = reader->buffer;
	return code;
}

static int locate_packed(struct sv_dataset *dataset, size_t index, int *fd,
    size_t *from, size_t *bytes, struct sv_err *err)
{
	(void)err;
	*fd = dataset->fd;
	*from = index * sv_dataset_stride(&dataset->spec);
	*bytes = dataset->spec.bytes;
	return 0;
}

const struct layout sv_layout_packed = {
    .name = "packed",
    .make = make_packed,
    .inside = "/samples",
    .reader_open = open_packed,
    .read = read_packed,
    .locate = locate_packed,
};
