/* Small files of the kernel; see the header. */
#include "sources.h"

#include <ctype.h>
#include <dirent.h>
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

/* The object of a recording, or a new one. */
static json_t *part_of(json_t *recording, const char *key)
{
	json_t *part = json_object_get(recording, key);

	return json_is_object(part) ? json_incref(part) : json_object();
}

int sv_sources_init(struct sv_sources *s, const char *root, json_t *recording,
    struct sv_err *err)
{
	*s = (struct sv_sources){.root = root,
	    .texts = part_of(recording, "texts"),
	    .refused = part_of(recording, "refused"),
	    .links = part_of(recording, "links")};
	if (s->texts != NULL && s->refused != NULL && s->links != NULL)
		return 0;
	sv_sources_fini(s);
	return sv_err_set(err, SV_ERESOURCE, "machine: out of memory");
}

void sv_sources_fini(struct sv_sources *s)
{
	json_decref(s->texts);
	json_decref(s->refused);
	json_decref(s->links);
	*s = (struct sv_sources){0};
}

/* Bytes that are no UTF-8 would make the whole recording unreadable. */
void sv_source_keep(struct sv_sources *s, const char *path, const char *text)
{
	if (s->root != NULL)
		json_object_set_new(s->texts, path, json_string(text));
}

static const char *refuse(struct sv_sources *s, const char *path, int cause)
{
	const char *why = why_not(cause);

	if (strcmp(why, "absent") != 0)
		json_object_set_new(s->refused, path, json_string(why));
	return why;
}

/* What the recording has of a file; as sv_source_read. */
static const char *read_recorded(
    const struct sv_sources *s, const char *path, char out[SV_SOURCE_BYTES])
{
	const char *text = json_string_value(json_object_get(s->texts, path));
	const char *why = json_string_value(json_object_get(s->refused, path));

	if (text == NULL)
		return why != NULL ? why : "absent";
	snprintf(out, SV_SOURCE_BYTES, "%s", text);
	return NULL;
}

const char *sv_source_read_private(
    struct sv_sources *s, const char *path, char out[SV_SOURCE_BYTES])
{
	char full[PATH_MAX];
	size_t used = 0;
	ssize_t n = 0;
	int fd, cause;

	if (s->root == NULL)
		return read_recorded(s, path, out);
	snprintf(full, sizeof full, "%s/%s", s->root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return refuse(s, path, errno);
	while (used < SV_SOURCE_BYTES - 1 &&
	       (n = read(fd, out + used, SV_SOURCE_BYTES - 1 - used)) > 0)
		used += (size_t)n;
	cause = n < 0 ? errno : 0;
	close(fd);
	if (cause != 0)
		return refuse(s, path, cause);
	while (used > 0 && isspace((unsigned char)out[used - 1]))
		used--;
	out[used] = '\0';
	return NULL;
}

const char *sv_source_read(
    struct sv_sources *s, const char *path, char out[SV_SOURCE_BYTES])
{
	const char *why = sv_source_read_private(s, path, out);

	if (why == NULL)
		sv_source_keep(s, path, out);
	return why;
}

const char *sv_source_number(
    struct sv_sources *s, const char *path, long long *out)
{
	char text[SV_SOURCE_BYTES], *end;
	const char *why = sv_source_read(s, path, text);
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

void sv_source_link(
    struct sv_sources *s, const char *path, char *out, size_t size)
{
	char full[PATH_MAX], target[PATH_MAX];
	const char *recorded =
	    json_string_value(json_object_get(s->links, path));
	ssize_t n;

	if (s->root == NULL) {
		snprintf(out, size, "%s", recorded != NULL ? recorded : "");
		return;
	}
	snprintf(full, sizeof full, "%s/%s", s->root, path);
	n = readlink(full, target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(out, size, "%s", target);
	if (target[0] != '\0')
		json_object_set_new(s->links, path, json_string(target));
}

bool sv_source_exists(struct sv_sources *s, const char *path)
{
	char full[PATH_MAX];

	if (s->root == NULL)
		return json_object_get(s->texts, path) != NULL;
	snprintf(full, sizeof full, "%s/%s", s->root, path);
	if (access(full, F_OK) != 0)
		return false;
	sv_source_keep(s, path, "");
	return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

bool sv_source_listed(json_t *names, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach (names, i, one)
		if (strcmp(json_string_value(one), name) == 0)
			return true;
	return false;
}

/* Names below a folder that the recording has texts of. */
static json_t *list_recorded(const struct sv_sources *s, const char *path)
{
	json_t *names = json_array(), *text;
	size_t n = strlen(path);
	const char *key;

	json_object_foreach (s->texts, key, text) {
		char name[256];

		if (strncmp(key, path, n) != 0 || key[n] != '/')
			continue;
		snprintf(name, sizeof name, "%.*s",
		    (int)strcspn(key + n + 1, "/"), key + n + 1);
		if (name[0] != '\0' && !sv_source_listed(names, name))
			json_array_append_new(names, json_string(name));
	}
	return names;
}

json_t *sv_source_list(struct sv_sources *s, const char *path)
{
	char full[PATH_MAX];
	struct dirent **entries = NULL;
	json_t *names;
	int n;

	if (s->root == NULL)
		return list_recorded(s, path);
	names = json_array();
	snprintf(full, sizeof full, "%s/%s", s->root, path);
	n = scandir(full, &entries, is_visible, by_name);
	for (int i = 0; i < n; i++) {
		json_array_append_new(names, json_string(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return names;
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
