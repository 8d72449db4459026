/*
 * What one worker process says, case by case. Pure: bytes in, records out.
 * A record is a line of the journal:
 *
 *   {"case", "bench", "params", "round",
 *    "outcome": "measured" | "skipped" | "failed",
 *    measured: "metrics": [samples messages], "check": {…} | null,
 *              "spans" where a timeline is wanted
 *    skipped:  "reason", "code"
 *    failed:   "reason", "kind", "value", "log_tail"}
 */
#ifndef STAVE_COLLECT_H
#define STAVE_COLLECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "message.h"
#include "plan.h"
#include "stave/err.h"

/* Most bytes of messages that one case may bring. */
#define SV_COLLECT_MAX_CASE_BYTES (64u << 20)

struct sv_collector {
	struct sv_planned **pending; /* cases asked for, in order */
	size_t n_pending, at;	     /* at: the next to be announced */
	unsigned round;
	bool greeted, open, ended; /* a case is open; bye has come */
	bool lost;		   /* and with it: the rest is for another */
	json_t *record;		   /* of the open case */
	size_t case_bytes;
	struct sv_lines lines;
	json_t *finished; /* records to be taken, in order */
};

SV_MUST_CHECK int sv_collector_init(struct sv_collector *,
    struct sv_planned **pending, size_t n, unsigned round, struct sv_err *err);
void sv_collector_fini(struct sv_collector *);

/*
 * Take bytes of the wire. Finished records are appended to `finished`.
 * Errors: SV_EPROTOCOL; the worker is then to be ended and
 * sv_collector_fail called.
 */
SV_MUST_CHECK int sv_collector_feed(
    struct sv_collector *, const char *bytes, size_t n, struct sv_err *err);

/*
 * The process is over and something is amiss: the open case, else the next
 * pending one, is recorded as failed. kind is "signal", "exit" or "timeout",
 * value its number. False when no case was left to carry it.
 */
bool sv_collector_fail(struct sv_collector *, const char *reason,
    const char *kind, double value, const char *log_tail);

#endif
