/*
 * From a file's bytes to a JSON tree. Whatever is no JSON is refused here with
 * line and column; what the tree means is the reader's business.
 */
#include "json_fields.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Far above what a full run with all its samples writes. What is larger is
 * some other file, and reading it would only take memory.
 */
#define MAX_FILE_BYTES (256u << 20)

void sv_fields_tidy(struct sv_err *err)
{
	char *c = err != NULL ? err->text : NULL;

	while (c != NULL && *c != '\0') {
		size_t n = sv_utf8_length(c);

		if (n == 0 || (unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
		c += n > 0 ? n : 1;
	}
}

/*
 * Where memory runs out in the middle of a token jansson speaks of bad syntax,
 * elsewhere of nothing: errno knows better.
 */
static int not_json(const char *name, const json_error_t *error,
    bool out_of_memory, struct sv_err *err)
{
	if (out_of_memory || error->text[0] == '\0')
		return sv_err_set(
		    err, SV_ERESOURCE, "read %s: out of memory", name);
	return sv_err_set(err, SV_EINPUT,
	    "%s: line %d, column %d: expected JSON, found: %s", name,
	    error->line, error->column, error->text);
}

int sv_json_parse(const char *text, size_t n_bytes, const char *name,
    const char *what, json_t **out, struct sv_err *err)
{
	json_error_t error = {0};
	json_t *root;
	int code;

	if (n_bytes == 0)
		return sv_err_set(err, SV_EINPUT,
		    "%s: expected %s, found an empty file", name, what);
	if (n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		return sv_err_set(err, SV_EINPUT,
		    "%s: line 1, column 1: expected JSON without a byte order "
		    "mark, found one",
		    name);
	errno = 0;
	root = sv_json_fast(text, n_bytes);
	if (root == NULL && errno != ENOMEM) {
		errno = 0;
		root =
		    json_loadb(text, n_bytes, JSON_REJECT_DUPLICATES, &error);
	}
	if (root != NULL) {
		*out = root;
		return 0;
	}
	code = not_json(name, &error, errno == ENOMEM, err);
	sv_fields_tidy(err);
	return code;
}

int sv_result_parse(const char *text, size_t n_bytes, const char *name,
    struct sv_result **out, struct sv_err *err)
{
	json_t *root = NULL;
	int code = sv_json_parse(text, n_bytes, name, "a result", &root, err);

	if (code != 0)
		return code;
	code = sv_result_from_json(root, name, out, err);
	json_decref(root);
	if (code != 0)
		sv_fields_tidy(err);
	return code;
}

static int too_large(const char *path, struct sv_err *err)
{
	return sv_err_set(err, SV_EINPUT,
	    "%s: expected at most %u MiB, found a larger file", path,
	    MAX_FILE_BYTES >> 20);
}

static int read_bytes(
    int fd, const char *path, char **out, size_t *size, struct sv_err *err)
{
	size_t used = 0, room = 1u << 16;
	char *bytes = malloc(room), *larger;
	int code = 0;

	while (bytes != NULL) {
		ssize_t got = read(fd, bytes + used, room - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			code = sv_err_set(err, SV_EINPUT, "read %s: %s", path,
			    strerror(errno));
		if (got <= 0)
			break;
		used += (size_t)got;
		if (used < room)
			continue;
		if (used > MAX_FILE_BYTES) {
			code = too_large(path, err);
			break;
		}
		larger = realloc(bytes, room *= 2);
		if (larger == NULL)
			free(bytes);
		bytes = larger;
	}
	if (bytes == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "read %s: out of memory", path);
	if (code != 0) {
		free(bytes);
		return code;
	}
	*out = bytes;
	*size = used;
	return 0;
}

/* Only files and pipes end. */
static int check_kind(
    int fd, const char *path, const char *what, struct sv_err *err)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return sv_err_set(
		    err, SV_EINPUT, "stat %s: %s", path, strerror(errno));
	if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
		return sv_err_set(err, SV_EINPUT,
		    "%s: expected %s file, found a %s", path, what,
		    S_ISDIR(info.st_mode) ? "folder" : "device");
	if (S_ISREG(info.st_mode) && info.st_size > (off_t)MAX_FILE_BYTES)
		return too_large(path, err);
	return 0;
}

int sv_json_read_bytes(const char *path, const char *what, char **out,
    size_t *size, struct sv_err *err)
{
	/* A pipe that nobody writes to shall be empty, not wait for ever. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int code;

	if (fd < 0)
		return sv_err_set(
		    err, SV_EINPUT, "open %s: %s", path, strerror(errno));
	code = check_kind(fd, path, what, err);
	if (code == 0 && fcntl(fd, F_SETFL, 0) != 0)
		code = sv_err_set(
		    err, SV_EINPUT, "read %s: %s", path, strerror(errno));
	if (code == 0)
		code = read_bytes(fd, path, out, size, err);
	close(fd);
	return code;
}

int sv_result_read(const char *path, struct sv_result **out, struct sv_err *err)
{
	char *bytes = NULL;
	size_t size = 0;
	int code = sv_json_read_bytes(path, "a result", &bytes, &size, err);

	if (code == 0)
		code = sv_result_parse(bytes, size, path, out, err);
	free(bytes);
	return code;
}
