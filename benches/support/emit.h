/*
 * The worker's side of the wire: messages to file descriptor 3, as
 * stave/wire.h says. Whoever cannot write any more has lost its harness and
 * ends the process.
 */
#ifndef STAVE_EMIT_H
#define STAVE_EMIT_H

#include <jansson.h>
#include <stdbool.h>

#include "stave/bench.h"

/* Send a message of a type; takes the object, which may be NULL for none. */
void sv_emit(const char *type, json_t *take_message);

/* Parameters of a case as an object, a new reference. */
json_t *sv_emit_params(const struct sv_case *);

/* A case's message with id, bench and params. */
json_t *sv_emit_case(const struct sv_case *);

/* What a device is doing right now, as an object; a new reference. */
json_t *sv_emit_state(struct sv_device *);

/* Facts of a device as an object with its "unknown" list; new reference. */
json_t *sv_emit_device(struct sv_device *);

#endif
