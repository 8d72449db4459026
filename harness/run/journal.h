/*
 * The state of a run on disk: a folder with the journal (one JSON object a
 * line, fsynced before anything is shown), the workers' logs and a lock.
 */
#ifndef STAVE_JOURNAL_H
#define STAVE_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "stave/err.h"

#define SV_JOURNAL_SCHEMA "stave.journal/1"

struct sv_journal {
	char *folder;
	int fd, lock_fd;
	long long size; /* bytes of whole, synced lines */
};

/*
 * Make folder with a journal that begins with header. Errors: SV_EOUTPUT;
 * where the folder exists the text says how to resume.
 */
SV_MUST_CHECK int sv_journal_create(struct sv_journal *, const char *folder,
    json_t *header, struct sv_err *err);

/*
 * Open an existing one: *header and *records (an array) are new references.
 * A last line that a crash tore is dropped. Errors: SV_EINPUT with the line,
 * SV_EOUTPUT when it is in use by another run or cannot be written.
 */
SV_MUST_CHECK int sv_journal_open(struct sv_journal *, const char *folder,
    json_t **header, json_t **records, struct sv_err *err);

/*
 * Append and sync one record; what could not be written whole is taken back.
 * Errors: SV_EOUTPUT, the text says how to resume.
 */
SV_MUST_CHECK int sv_journal_append(
    struct sv_journal *, json_t *record, struct sv_err *err);

/* Add to a worker's log, up to 1 MiB each; failing is no error. */
void sv_journal_log(
    struct sv_journal *, const char *name, const char *bytes, size_t n);

/* Close; with remove, also delete the folder and all that is ours in it. */
void sv_journal_close(struct sv_journal *, bool remove);

/*
 * Parse a journal's text: pure. *whole gets the bytes of whole lines.
 * Errors: as sv_journal_open.
 */
SV_MUST_CHECK int sv_journal_parse(const char *text, size_t n, const char *name,
    json_t **header, json_t **records, size_t *whole, struct sv_err *err);

#endif
