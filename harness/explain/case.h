/*
 * A comparison while causes are looked for: both sides, their stages, B's step
 * as it is and as it would be with something mended. Inside the room only.
 */
#ifndef STAVE_CASE_H
#define STAVE_CASE_H

#include "attribution.h"
#include "explain.h"
#include "step_model.h"

/* A cause saves this much of B's step, or it is none. */
#define SV_LEAST_GAIN 0.02

#define SV_MAX_CAUSES	 24
#define SV_MAX_RULED_OUT 16

struct sv_case {
	const struct sv_explain_request *request;
	struct sv_inputs *in_a, *in_b;
	struct sv_side a, b;
	enum sv_curve_name memory_op;
	struct sv_step_plan *plan_a, *plan_b;
	/* The step as benched, where both sides measured it; or NULL. */
	struct sv_step_plan *benched_a, *benched_b;
	size_t measured_a, measured_b; /* measurements */
	struct sv_step_facts facts_a, facts_b;
	struct sv_stages stages_a, stages_b;
	struct sv_attribution shares;
	enum sv_component limit_a, limit_b;
	/*
	 * B with the root causes that were found mended: what is built on
	 * them is judged from here, so that nothing is counted twice.
	 */
	struct sv_stages mended;
	struct sv_explanation *x;
	struct sv_cause causes[SV_MAX_CAUSES];
	double keys[SV_MAX_CAUSES];
	size_t n_causes;
	struct sv_ruled_out ruled_out[SV_MAX_RULED_OUT];
	size_t n_ruled_out;
	struct sv_err *err;
	int code; /* 0, or the first fault */
};

/* printf into the explanation's arena; "" when out of memory. */
SV_PRINTF(2, 3)
const char *sv_case_text(struct sv_case *, const char *fmt, ...);

/*
 * Stages of two changed sides, and of a changed B alone; what either side has
 * no measurement for is left out of both.
 */
void sv_case_both(struct sv_case *, const struct sv_side *a,
    const struct sv_side *b, struct sv_stages *out_a, struct sv_stages *out_b);
void sv_case_stages(
    struct sv_case *, const struct sv_side *, struct sv_stages *out);

/* A number or text of B's or A's device or machine ("device.power.limit_w"). */
double sv_case_number(const struct sv_case *, bool of_b, const char *path);
const char *sv_case_word(const struct sv_case *, bool of_b, const char *path);

/* What is said of a cause; evidence: components' ids, then fields. */
struct sv_suspect {
	const char *code;
	double share_s;
	double lifted_s; /* B's step without it */
	/* Ranks by share alone, and is listed whatever lifting it saves. */
	bool is_explanation;
	const char *claim, *remedy, *falsify;
	enum sv_component component; /* whose measurements are evidence */
	const char *fields[4];
};
void sv_case_add(struct sv_case *, const struct sv_suspect *);
void sv_case_rule_out(
    struct sv_case *, const char *code, const char *field, const char *why);
bool sv_case_has(const struct sv_case *, const char *code);

/*
 * Fill in what B's step would take with these stages in place of the mended
 * ones; whether that is worth a cause.
 */
bool sv_case_lift(const struct sv_case *, struct sv_suspect *,
    const struct sv_stages *lifted);

/* Look for causes, family by family; roots first. */
void sv_causes_host(struct sv_case *);
void sv_causes_transfer(struct sv_case *);
void sv_causes_loader(struct sv_case *);
void sv_causes_device(struct sv_case *);
/* What looks odd and does not matter; after the causes. */
void sv_causes_rule_out(struct sv_case *);
/* Rank, and say NO_FAULT where nothing was found. */
void sv_causes_rank(struct sv_case *);

#endif
