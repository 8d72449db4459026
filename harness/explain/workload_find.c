/* Where workload files are: named on the command line, or shipped. */
#include "workload.h"

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_fields.h"

#define MAX_NAME_SIZE 300

static void folder_of_shipped(char *out, size_t size)
{
	const char *chosen = getenv("STAVE_WORKLOAD_DIR");
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (chosen != NULL)
		snprintf(out, size, "%s", chosen);
	else
		snprintf(out, size, "%s/../share/stave/workloads",
		    n > 0 ? dirname(self) : ".");
}

static bool is_json_name(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

int sv_workload_read(
    const char *name_or_path, struct sv_workload **out, struct sv_err *err)
{
	char path[PATH_MAX + MAX_NAME_SIZE], folder[PATH_MAX];
	char *bytes = NULL;
	size_t size = 0;
	bool shipped =
	    strchr(name_or_path, '/') == NULL && !is_json_name(name_or_path);
	int code;

	folder_of_shipped(folder, sizeof folder);
	if (shipped)
		snprintf(
		    path, sizeof path, "%s/%.250s.json", folder, name_or_path);
	else
		snprintf(path, sizeof path, "%s", name_or_path);
	if (shipped && access(path, F_OK) != 0)
		return sv_err_set(err, SV_EINPUT,
		    "workload \"%.60s\": none of that name is shipped; "
		    "`stave list workloads` lists them, and a file's name has "
		    "a slash or ends in .json",
		    name_or_path);
	code = sv_json_read_bytes(path, "a workload", &bytes, &size, err);
	if (code == 0)
		code = sv_workload_parse(bytes, size, path, out, err);
	free(bytes);
	return code;
}

static int is_workload_file(const struct dirent *entry)
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

int sv_workload_shipped(char ***out, struct sv_err *err)
{
	char folder[PATH_MAX];
	struct dirent **entries = NULL;
	char **names;
	int n;

	folder_of_shipped(folder, sizeof folder);
	n = scandir(folder, &entries, is_workload_file, alphasort);
	if (n < 0)
		return sv_err_set(err, SV_EINPUT,
		    "open %s: the shipped workloads should be there: %m",
		    folder);
	names = join_names(entries, (size_t)n);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	if (names == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "list workloads: out of memory");
	*out = names;
	return 0;
}
