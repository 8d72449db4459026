/*
 * Whole files in memory, and folders that tests write in. Any failure ends
 * the test that asked.
 */
#ifndef SV_TEST_FILES_H
#define SV_TEST_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The bytes of a file, terminated beyond the end; the caller frees them. */
static inline char *sv_slurp(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	size_t used = 0, room = 1u << 16;
	char *bytes = malloc(room + 1);

	if (file == NULL)
		print_error("cannot open %s\n", path);
	assert_non_null(file);
	assert_non_null(bytes);
	while ((used += fread(bytes + used, 1, room - used, file)) == room) {
		bytes = realloc(bytes, 2 * room + 1);
		assert_non_null(bytes);
		room *= 2;
	}
	fclose(file);
	bytes[used] = '\0';
	if (n != NULL)
		*n = used;
	return bytes;
}

static inline void sv_spill(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

/* How many entries a folder has; . and .. do not count. */
static inline size_t sv_count_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n - 2;
}

/* An empty folder of its own; the caller frees the name. */
static inline char *sv_new_folder(void)
{
	static const char stem[] = SV_TEST_BINARY_DIR "/folder-";
	size_t n = sizeof stem - 1;
	char *name = calloc(1, n + 7);

	assert_non_null(name);
	memcpy(name, stem, n);
	memset(name + n, 'X', 6);
	assert_non_null(mkdtemp(name));
	return name;
}

/* Remove a folder that holds files alone, and free its name. */
static inline void sv_drop_folder(char *name)
{
	DIR *dir = opendir(name);
	const struct dirent *entry;
	char path[4096];

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
		(void)unlink(path);
	}
	closedir(dir);
	assert_int_equal(rmdir(name), 0);
	free(name);
}

#endif
