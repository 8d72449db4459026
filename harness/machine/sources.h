/*
 * Reading small text files of the kernel under a root folder, "/" for the
 * live machine. Inside the room only.
 */
#ifndef STAVE_SOURCES_H
#define STAVE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#define SV_SOURCE_BYTES 16384

/*
 * The file at root/path as text without its last newline; a larger one is cut.
 * Returns NULL on success, else why not, in the words of "unknown" lists:
 * "no_permission", "absent", "error: …" (static).
 */
const char *sv_source_read(
    const char *root, const char *path, char out[SV_SOURCE_BYTES]);

/* The same as a whole number, decimal. */
const char *sv_source_number(
    const char *root, const char *path, long long *out);

/* Whether root/path is there. */
bool sv_source_exists(const char *root, const char *path);

/*
 * The value behind "key" and a colon or equals sign at the start of a line of
 * text, spaces and quotes taken off; false where there is none.
 */
bool sv_source_field(const char *text, const char *key, char *out, size_t size);

#endif
