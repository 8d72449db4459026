/*
 * Reading small text files of the kernel, on the live machine or on a
 * recording of one: the same calls give the same answers. What a live machine
 * answered is remembered, so that it can be saved. What no file tells (the
 * processor's own word on a hypervisor, variables of the environment) is kept
 * under a name of its own and comes back the same way. Inside the room only.
 */
#ifndef STAVE_SOURCES_H
#define STAVE_SOURCES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "stave/err.h"

/* A longer file is cut: what is looked for stands at the beginning. */
#define SV_SOURCE_BYTES 65536

struct sv_sources {
	const char *root; /* of a live machine's files, "/"; else NULL */
	json_t *texts;	  /* remembered or recorded: path → text */
	json_t *refused;  /* path → why, "absent" left out */
	json_t *links;	  /* path → target */
};

/*
 * Sources of a live machine below a folder (borrowed), or of a recording:
 * then root is NULL and recording an object whose "texts", "refused" and
 * "links" are objects of text, or missing. Errors: SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_sources_init(struct sv_sources *, const char *root,
    json_t *recording, struct sv_err *err);
void sv_sources_fini(struct sv_sources *);

/*
 * The file at path as text without its last newline. Returns NULL on success,
 * else why not, in the words of "unknown" lists: "no_permission", "absent",
 * "error: …" (static, or as long as the sources).
 */
const char *sv_source_read(
    struct sv_sources *, const char *path, char out[SV_SOURCE_BYTES]);
/* The same, remembered by nobody: for files of which a part is private. */
const char *sv_source_read_private(
    struct sv_sources *, const char *path, char out[SV_SOURCE_BYTES]);
/* Remember a text as if the file at path had it. */
void sv_source_keep(struct sv_sources *, const char *path, const char *text);

/* The same as a whole number, decimal. */
const char *sv_source_number(
    struct sv_sources *, const char *path, long long *out);

/* Where a symbolic link points, "" where there is none. */
void sv_source_link(
    struct sv_sources *, const char *path, char *out, size_t size);

/* Whether something is there; remembered as an empty text. */
bool sv_source_exists(struct sv_sources *, const char *path);

/*
 * Names in a folder, without dot files, sorted: a new array, empty where
 * there is no folder. Nothing is remembered but what is read below.
 */
json_t *sv_source_list(struct sv_sources *, const char *path);
/* Whether an array of names has this one. */
bool sv_source_listed(json_t *names, const char *name);

/*
 * The value behind "key" and a colon or equals sign at the start of a line of
 * text, spaces and quotes taken off; false where there is none.
 */
bool sv_source_field(const char *text, const char *key, char *out, size_t size);

#endif
