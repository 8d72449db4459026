/*
 * The checks of the training checklist, by what they look at, and what they
 * share. Inside the room only.
 *
 * A judge sees the result and fills status, evidence and the ids that it
 * rests on; it may change the remedy that the table gave. "unknown" is what a
 * finding begins as.
 */
#ifndef STAVE_CHECKLIST_PARTS_H
#define STAVE_CHECKLIST_PARTS_H

#include <math.h>

#include "checklist.h"
#include "stave/err.h"

/* A field of machine or device; NaN or NULL where it is unknown. */
double sv_seen_number(json_t *object, const char *path);
const char *sv_seen_text(json_t *object, const char *path);
/* 1, 0, or -1 where it is unknown. */
int sv_seen_truth(json_t *object, const char *path);
/* Why a field is unknown, in words for a person; "not recorded" by default. */
const char *sv_seen_why(json_t *object, const char *path);

/*
 * What the path to the card carries, B/s: as recorded, else by the card's own
 * link under load; 0 unknown.
 */
double sv_seen_ceiling(const struct sv_result *);

/* Put evidence behind what is there, parted by "; ". */
SV_PRINTF(2, 3)
void sv_say(struct sv_finding *, const char *fmt, ...);
/* Replace the remedy of the table. */
SV_PRINTF(2, 3)
void sv_advise(struct sv_finding *, const char *fmt, ...);
/* Note a figure as evidence; NULL is ignored. */
void sv_rest_on(struct sv_finding *, const struct sv_measurement *);
/* Make a finding at least this bad; unknown gives way to everything. */
void sv_at_least(struct sv_finding *, enum sv_finding_status);
/* A figure with its unit, in one of a few static buffers. */
const char *sv_figure_text(const struct sv_measurement *);

/* Make all text of a finished checklist UTF-8 in one line. */
void sv_checklist_mend(struct sv_checklist *);

typedef void (*sv_judge_fn)(const struct sv_result *, struct sv_finding *);

/* checklist_data.c: what feeds the device. */
void sv_judge_storage(const struct sv_result *, struct sv_finding *);
void sv_judge_loader_cores(const struct sv_result *, struct sv_finding *);
void sv_judge_loader_rate(const struct sv_result *, struct sv_finding *);
void sv_judge_pinned(const struct sv_result *, struct sv_finding *);
void sv_judge_shared_memory(const struct sv_result *, struct sv_finding *);
void sv_judge_preprocess(const struct sv_result *, struct sv_finding *);

/* checklist_work.c: what the device does with it. */
void sv_judge_utilisation(const struct sv_result *, struct sv_finding *);
void sv_judge_sync(const struct sv_result *, struct sv_finding *);
void sv_judge_allocator(const struct sv_result *, struct sv_finding *);
void sv_judge_batch(const struct sv_result *, struct sv_finding *);
void sv_judge_precision(const struct sv_result *, struct sv_finding *);
void sv_judge_quality(const struct sv_result *, struct sv_finding *);

/* checklist_host.c: how the machine is put together and set up. */
void sv_judge_link(const struct sv_result *, struct sv_finding *);
void sv_judge_numa(const struct sv_result *, struct sv_finding *);
void sv_judge_governor(const struct sv_result *, struct sv_finding *);
void sv_judge_c_states(const struct sv_result *, struct sv_finding *);
void sv_judge_peers(const struct sv_result *, struct sv_finding *);

/* checklist_card.c: the state that the card is in. */
void sv_judge_power(const struct sv_result *, struct sv_finding *);
void sv_judge_thermal(const struct sv_result *, struct sv_finding *);
void sv_judge_clocks(const struct sv_result *, struct sv_finding *);
void sv_judge_ecc(const struct sv_result *, struct sv_finding *);
void sv_judge_mig(const struct sv_result *, struct sv_finding *);
void sv_judge_compute_mode(const struct sv_result *, struct sv_finding *);
void sv_judge_others(const struct sv_result *, struct sv_finding *);
void sv_judge_display(const struct sv_result *, struct sv_finding *);
void sv_judge_software(const struct sv_result *, struct sv_finding *);
void sv_judge_driver_model(const struct sv_result *, struct sv_finding *);
void sv_judge_memory(const struct sv_result *, struct sv_finding *);

#endif
