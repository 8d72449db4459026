/*
 * From shares and facts to causes: which stave is short on B, what lifting it
 * would save, and what only looks odd. Pure: everything it reads is handed in.
 */
#ifndef STAVE_CAUSES_H
#define STAVE_CAUSES_H

#include <stdbool.h>
#include <stddef.h>

#include "attribution.h"
#include "step_model.h"

/* Codes of the contract, section 4. */
#define SV_CAUSES(X)        \
	X(LAUNCH_BOUND)     \
	X(SMALL_BATCH)      \
	X(PCIE_LINK)        \
	X(PAGEABLE_MEMORY)  \
	X(NUMA_REMOTE)      \
	X(SYNC_EVERY_STEP)  \
	X(ALLOCATOR_RESET)  \
	X(PRECISION_OFF)    \
	X(MEMORY_BANDWIDTH) \
	X(STORAGE)          \
	X(CPU_PREPROCESS)   \
	X(LOADER_WORKERS)   \
	X(POWER_LIMIT)      \
	X(THERMAL)          \
	X(CLOCKS)           \
	X(PEER_PATH)        \
	X(VRAM_SPILL)       \
	X(HOST_CPU)         \
	X(C_STATES)         \
	X(SOFTWARE_AGE)     \
	X(DRIVER_MODEL)     \
	X(FAULTY_CARD)      \
	X(UNEXPLAINED)      \
	X(NO_FAULT)

enum sv_cause_code {
#define SV_X(name) SV_CAUSE_##name,
	SV_CAUSES(SV_X)
#undef SV_X
	SV_N_CAUSES
};

const char *sv_cause_name(enum sv_cause_code);

#define SV_CAUSE_MAX_EVIDENCE 6

struct sv_cause {
	enum sv_cause_code code;
	double share_s;	 /* what it adds against A */
	double saving_s; /* what lifting it would take off B's step */
	char claim[320];
	char remedy[240];
	char falsify[240];
	const char *evidence[SV_CAUSE_MAX_EVIDENCE]; /* ids or fields */
	size_t n_evidence;
};

struct sv_ruled_out {
	enum sv_cause_code code;
	char why[240];
	const char *evidence; /* id or field */
};

/* Both sides of one explanation. */
struct sv_sides {
	const struct sv_model *a, *b;
	const struct sv_terms *terms_a, *terms_b;
	const double *medians_a, *medians_b;
	const struct sv_attribution *attribution;
};

#define SV_MAX_CAUSES SV_N_CAUSES

struct sv_verdicts {
	struct sv_cause causes[SV_MAX_CAUSES]; /* ranked */
	size_t n_causes;
	struct sv_ruled_out ruled_out[SV_MAX_CAUSES];
	size_t n_ruled_out;
	enum sv_component limiting_a, limiting_b;
};

/*
 * A cause is listed when lifting it would save, or it adds against A, at
 * least `least` (0.02) of B's step; what looks odd and does not is ruled
 * out. With nothing to lift the one cause is NO_FAULT.
 */
void sv_causes(const struct sv_sides *, double least, struct sv_verdicts *);

/* The component whose lifting would shorten the step most. */
enum sv_component sv_limiting(const struct sv_terms *);

#endif
