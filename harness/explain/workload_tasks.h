/*
 * A workload as tasks for a worker, stave/task.h: one word a batch.
 */
#ifndef STAVE_WORKLOAD_TASKS_H
#define STAVE_WORKLOAD_TASKS_H

#include <stddef.h>

#include "workload.h"

/* At which batches a step is measured. */
enum sv_batches {
	SV_BATCHES_DEFAULT, /* the workload's own */
	SV_BATCHES_FEW,	    /* 1 and that */
	SV_BATCHES_MANY,    /* 1, 4, 16 … and that, up to 16 times that */
};

/* Words that are collected; ends with NULL. Starts zeroed. */
struct sv_words {
	char **items;
	size_t n;
};

/*
 * Add the workload's tasks to the words. A byte count and a shape are rounded
 * to whole numbers. Products whose count grows with the batch are one strided
 * call; of a typical shape a third each is forward and the two backward ones.
 * A batch other than its own at which it can be no task is left out.
 * Errors: SV_EINPUT for a name that no case id may hold, for counts beyond
 * what a task may have, and as sv_workload_demand; SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_workload_tasks(const struct sv_workload *,
    enum sv_batches batches, struct sv_words *words, struct sv_err *err);
void sv_words_fini(struct sv_words *);

#endif
