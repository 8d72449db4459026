/*
 * From the records of a journal to a result: pure.
 */
#ifndef STAVE_ASSEMBLE_H
#define STAVE_ASSEMBLE_H

#include <jansson.h>
#include <stdbool.h>

#include "result.h"
#include "stave/err.h"

/*
 * Add everything that the records say to a result: measurements in the order
 * of `cases` (the plan's messages), skips and failures. planned: rounds that
 * a whole measurement has. *faults is set when something failed, was skipped
 * by a fault, or did not pass its check. Errors: SV_EINPUT for records that
 * cannot be, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_assemble(struct sv_result *, json_t *cases,
    json_t *skipped, json_t *records, unsigned planned, bool *faults,
    struct sv_err *err);

/*
 * Fill what only a loaded device shows from the states that samples came
 * with: power draw, temperature, reasons of throttling and for how much of the
 * time. Fields that no state tells stay as they are.
 */
void sv_assemble_device(json_t *device, json_t *records);

/*
 * Hold copies against the link: one that is faster than it can be makes its
 * registers untrusted; a link that is trusted is what copies in one direction
 * could reach at best, and becomes their reference.
 */
void sv_assemble_link(struct sv_result *);

#endif
