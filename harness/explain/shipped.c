/* Where shipped files are; see the header. */
#include "shipped.h"

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void folder_of(const struct sv_shipped *kind, char *out, size_t size)
{
	const char *chosen = getenv(kind->variable);
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (chosen != NULL)
		snprintf(out, size, "%s", chosen);
	else
		snprintf(out, size, "%s/../share/stave/%s",
		    n > 0 ? dirname(self) : ".", kind->folder);
}

static bool is_json_name(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

int sv_shipped_path(const struct sv_shipped *kind, const char *name_or_path,
    char *out, size_t size, struct sv_err *err)
{
	char folder[PATH_MAX];

	if (strchr(name_or_path, '/') != NULL || is_json_name(name_or_path)) {
		snprintf(out, size, "%s", name_or_path);
		return 0;
	}
	folder_of(kind, folder, sizeof folder);
	snprintf(out, size, "%s/%.250s.json", folder, name_or_path);
	if (access(out, F_OK) == 0)
		return 0;
	return sv_err_set(err, SV_EINPUT,
	    "%s \"%.60s\": none of that name is shipped; `stave list %s` "
	    "lists them, and a file's name has a slash or ends in .json",
	    kind->one, name_or_path, kind->folder);
}

static int is_shipped_file(const struct dirent *entry)
{
	return is_json_name(entry->d_name) && entry->d_name[0] != '.';
}

/* Pointers and names in one block, without their extension. */
static char **join_names(struct dirent **entries, size_t n)
{
	size_t bytes = (n + 1) * sizeof(char *);
	char **names, *at;

	for (size_t i = 0; i < n; i++)
		bytes += strlen(entries[i]->d_name) + 1;
	names = malloc(bytes);
	if (names == NULL)
		return NULL;
	at = (char *)(names + n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(entries[i]->d_name) - 5;

		names[i] = at;
		memcpy(at, entries[i]->d_name, length);
		at[length] = '\0';
		at += length + 1;
	}
	names[n] = NULL;
	return names;
}

int sv_shipped_names(
    const struct sv_shipped *kind, char ***out, struct sv_err *err)
{
	char folder[PATH_MAX];
	struct dirent **entries = NULL;
	char **names;
	int n;

	folder_of(kind, folder, sizeof folder);
	n = scandir(folder, &entries, is_shipped_file, alphasort);
	if (n < 0)
		return sv_err_set(err, SV_EINPUT,
		    "open %s: the shipped %s should be there: %m", folder,
		    kind->folder);
	names = join_names(entries, (size_t)n);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	if (names == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "list %s: out of memory", kind->folder);
	*out = names;
	return 0;
}
