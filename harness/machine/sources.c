/* Small files of the kernel; see the header. */
#include "sources.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *why_not(int cause)
{
	switch (cause) {
	case EACCES:
	case EPERM:
		return "no_permission";
	case ENOENT:
	case ENOTDIR:
	case ENXIO:
	case ENODEV:
		return "absent";
	case EOPNOTSUPP:
	case ENOSYS:
		return "not_supported";
	case EINVAL:
		return "error: invalid argument";
	case EIO:
		return "error: input/output error";
	case ERANGE:
		return "error: not a number";
	default:
		return "error: cannot be read";
	}
}

const char *sv_source_read(
    const char *root, const char *path, char out[SV_SOURCE_BYTES])
{
	char full[PATH_MAX];
	size_t used = 0;
	ssize_t n;
	int fd, cause;

	snprintf(full, sizeof full, "%s/%s", root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return why_not(errno);
	while (used < SV_SOURCE_BYTES - 1 &&
	       (n = read(fd, out + used, SV_SOURCE_BYTES - 1 - used)) > 0)
		used += (size_t)n;
	cause = n < 0 ? errno : 0;
	close(fd);
	if (cause != 0)
		return why_not(cause);
	while (used > 0 && isspace((unsigned char)out[used - 1]))
		used--;
	out[used] = '\0';
	return NULL;
}

const char *sv_source_number(const char *root, const char *path, long long *out)
{
	char text[SV_SOURCE_BYTES], *end;
	const char *why = sv_source_read(root, path, text);
	long long value;

	if (why != NULL)
		return why;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0)
		return why_not(ERANGE);
	*out = value;
	return NULL;
}

bool sv_source_exists(const char *root, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof full, "%s/%s", root, path);
	return access(full, F_OK) == 0;
}

bool sv_source_field(const char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	while (text != NULL && *text != '\0') {
		const char *at = text + n;
		const char *line = text;

		text = strchr(text, '\n');
		if (text != NULL)
			text++;
		if (strncmp(line, key, n) != 0)
			continue;
		while (*at == ' ' || *at == '\t')
			at++;
		if (*at != ':' && *at != '=')
			continue;
		at++;
		while (*at == ' ' || *at == '\t' || *at == '"')
			at++;
		size_t length = strcspn(at, "\"\n");

		while (length > 0 && isspace((unsigned char)at[length - 1]))
			length--;
		snprintf(out, size, "%.*s", (int)length, at);
		return true;
	}
	return false;
}
