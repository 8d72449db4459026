/*
 * Reading tasks, stave/task.h. A task owns its products.
 */
#ifndef STAVE_TASKS_H
#define STAVE_TASKS_H

#include "stave/task.h"

/* The tasks of a worker. */
struct sv_tasks {
	struct sv_task *items;
	size_t n;
};

/*
 * Read a word into *out. Errors: SV_EUSAGE, saying which part and what was
 * expected; SV_ERESOURCE. *out is to be ended in any case.
 */
SV_MUST_CHECK int sv_task_parse(
    const char *word, struct sv_task *out, struct sv_err *err);
void sv_task_fini(struct sv_task *);

/* Read another word behind the others. Errors: as sv_task_parse. */
SV_MUST_CHECK int sv_tasks_add(
    struct sv_tasks *, const char *word, struct sv_err *err);
void sv_tasks_fini(struct sv_tasks *);
/*
 * What a device cannot train in is trained in fp32 there: the precision that
 * habits are measured at.
 */
void sv_tasks_settle(struct sv_tasks *, struct sv_device *);

/* Bytes and FLOP of a step in a precision. */
double sv_task_memory_bytes(const struct sv_task *, enum sv_precision);
double sv_task_flop(const struct sv_task *);

#endif
