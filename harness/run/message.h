/*
 * The harness's side of the wire: bytes to lines, lines to checked messages.
 * Pure; whatever a broken worker writes ends as an error here.
 */
#ifndef STAVE_MESSAGE_H
#define STAVE_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "stave/err.h"

enum sv_message_type {
	SV_MESSAGE_HELLO,
	SV_MESSAGE_CASE,
	SV_MESSAGE_PROGRESS,
	SV_MESSAGE_SAMPLES,
	SV_MESSAGE_CHECK,
	SV_MESSAGE_SPANS,
	SV_MESSAGE_SKIP,
	SV_MESSAGE_ERROR,
	SV_MESSAGE_BYE,
};

/* Bytes that have come in and are not yet lines. Starts zeroed. */
struct sv_lines {
	char *data;
	size_t start, used, room;
};

/* Errors: SV_EPROTOCOL for a line over the limit, SV_ERESOURCE. */
SV_MUST_CHECK int sv_lines_add(
    struct sv_lines *, const char *bytes, size_t n, struct sv_err *err);
/* The next whole line without its newline, or NULL; valid until add. */
const char *sv_lines_next(struct sv_lines *, size_t *n);
/* Whether something is left that no newline ended. */
bool sv_lines_rest(const struct sv_lines *);
void sv_lines_free(struct sv_lines *);

/*
 * One line as a message, its fields checked for presence, type and range.
 * *out is a new reference. Errors: SV_EPROTOCOL with what was expected.
 */
SV_MUST_CHECK int sv_message_parse(const char *line, size_t n,
    enum sv_message_type *type, json_t **out, struct sv_err *err);

#endif
