/*
 * Causes on the way between host memory and the card, between cards, and when
 * the card's memory is too small.
 */
#include <math.h>
#include <string.h>

#include "link.h"
#include "quantity.h"
#include "stave/units.h"

/* A link that carries less than this of what it could is not the limit. */
#define LINK_USED 0.6
/* Far memory counts as slower from this factor on. */
#define NEAR_GAIN 1.25

/* What pinned copies to the device reach at large sizes. */
static double reached_Bps(const struct sv_inputs *in)
{
	double x;

	return sv_curve_best(in, SV_CURVE_H2D_PINNED, &x);
}

/* B as it is mended to, with the copies of a changed side. */
static void lift_copies(
    struct sv_case *c, const struct sv_side *side, struct sv_stages *with)
{
	struct sv_stages s;

	sv_case_stages(c, side, &s);
	*with = c->mended;
	sv_stage_take(with, &s, SV_TRANSFER);
}

/* Whether B's memory is known to be on another node than its card. */
static bool is_bound_elsewhere(const struct sv_case *c)
{
	double node = sv_case_number(c, true, "machine.binding.node");
	double card = sv_case_number(c, true, "device.pcie.numa_node");

	return node >= 0.0 && card >= 0.0 && node != card;
}

static bool is_remote(const struct sv_case *c)
{
	const struct sv_inputs *in = c->in_b;
	double x, near, far, used = reached_Bps(in);

	if (!sv_has_curve(in, SV_CURVE_H2D_NEAR))
		return false;
	near = sv_curve_best(in, SV_CURVE_H2D_NEAR, &x);
	far = sv_curve_best(in, SV_CURVE_H2D_FAR, &x);
	/* The measurement is trusted over the label. */
	return near > NEAR_GAIN * used &&
	       (isnan(far) || used < NEAR_GAIN * far);
}

static void numa_remote(struct sv_case *c)
{
	struct sv_side near = c->b;
	struct sv_stages with;
	double x;
	char used[SV_QUANTITY_BYTES], best[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "NUMA_REMOTE",
	    .share_s = c->shares.share_s[SV_TRANSFER],
	    .remedy = "bind the process and its memory to the card's node: "
		      "numactl --cpunodebind=N --membind=N",
	    .falsify = "stave run --bench transfer bound to the other node: "
		       "the copies are as slow",
	    .component = SV_TRANSFER,
	    .fields = {"machine.binding.node", "device.pcie.numa_node"}};

	if (is_remote(c)) {
		near.near = true;
		f.claim = sv_case_text(c,
		    "B's copies start in memory of the other socket: %s, "
		    "where the card's own node gives %s.",
		    sv_quantity(used, sizeof used, reached_Bps(c->in_b),
			SV_UNIT_BYTES_PER_SECOND),
		    sv_quantity(best, sizeof best,
			sv_curve_best(c->in_b, SV_CURVE_H2D_NEAR, &x),
			SV_UNIT_BYTES_PER_SECOND));
	} else if (is_bound_elsewhere(c) &&
		   reached_Bps(c->in_b) <
		       LINK_USED * sv_link_in_use(c, true).Bps) {
		near.link_factor =
		    sv_link_in_use(c, true).Bps / reached_Bps(c->in_b);
		f.claim = sv_case_text(c,
		    "B is bound to another node than its card's and copies "
		    "at %s, far below what its link carries.",
		    sv_quantity(used, sizeof used, reached_Bps(c->in_b),
			SV_UNIT_BYTES_PER_SECOND));
	} else {
		return;
	}
	lift_copies(c, &near, &with);
	if (!sv_case_lift(c, &f, &with))
		return;
	sv_case_add(c, &f);
	/* What else holds copies back is judged from the card's own node. */
	c->mended = with;
}

static void pageable_memory(struct sv_case *c)
{
	struct sv_stages with = c->mended, s = c->stages_b;
	const struct sv_workload_defaults *d =
	    sv_workload_defaults(c->request->workload_b);
	double bytes = 0.0, rate;
	struct sv_demand demand;
	struct sv_suspect f = {.code = "PAGEABLE_MEMORY",
	    .share_s = c->shares.share_s[SV_TRANSFER],
	    .remedy = "pin the batches (pin_memory=True) and copy them with "
		      "non_blocking=True",
	    .falsify = "stave run --bench transfer: pinned copies are no "
		       "faster than pageable ones",
	    .component = SV_TRANSFER};
	char text[SV_QUANTITY_BYTES], pinned[SV_QUANTITY_BYTES];
	double hidden, x;

	if (d->memory != SV_MEMORY_PAGEABLE ||
	    !sv_has_curve(c->in_b, SV_CURVE_H2D_PINNED) ||
	    !sv_has_curve(c->in_b, SV_CURVE_H2D_PAGEABLE) ||
	    sv_workload_demand(
		c->request->workload_b, c->b.batch, &demand, c->err) != 0)
		return;
	bytes = demand.h2d_bytes;
	sv_demand_fini(&demand);
	if (bytes <= 0.0)
		return;
	rate = sv_curve_at(
	    c->in_b, c->in_b->medians, SV_CURVE_H2D_PINNED, bytes, NULL);
	hidden =
	    sv_curve_at(c->in_b, c->in_b->medians, SV_CURVE_OVERLAP, 1.0, NULL);
	s.transfer.s = bytes / rate;
	s.transfer.hidden = !d->prefetch ? 0.0 : isnan(hidden) ? 1.0 : hidden;
	sv_stage_take(&with, &s, SV_TRANSFER);
	if (!sv_case_lift(c, &f, &with))
		return;
	f.claim = sv_case_text(c,
	    "B copies from pageable memory at %s, which the step waits for; "
	    "pinned memory gives %s and is copied beside the step.",
	    sv_quantity(text, sizeof text,
		sv_curve_best(c->in_b, SV_CURVE_H2D_PAGEABLE, &x),
		SV_UNIT_BYTES_PER_SECOND),
	    sv_quantity(pinned, sizeof pinned, rate, SV_UNIT_BYTES_PER_SECOND));
	sv_case_add(c, &f);
}

static void pcie_link(struct sv_case *c)
{
	struct sv_link use = sv_link_in_use(c, true),
		       card = sv_link_of_card(c, true);
	double reached = reached_Bps(c->in_b), best = card.Bps;
	struct sv_side wide = c->b;
	struct sv_stages with;
	char text[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "PCIE_LINK",
	    .share_s = c->shares.share_s[SV_TRANSFER],
	    .remedy = "move the card to a slot that gives it all its lanes "
		      "and its generation; look at riser, bifurcation and the "
		      "firmware's setting",
	    .falsify = "stave run --bench transfer in another slot: the "
		       "copies are as slow",
	    .component = SV_TRANSFER,
	    .fields = {"device.pcie.under_load", "device.pcie.max_generation",
		"device.pcie.max_width", "device.pcie.bottleneck"}};

	if (isnan(reached) || sv_case_has(c, "NUMA_REMOTE") || isnan(use.Bps) ||
	    isnan(best))
		return;
	if (reached > LINK_USED * use.Bps && use.Bps < 0.95 * best) {
		wide.link_factor = best / use.Bps;
		f.claim = sv_case_text(c,
		    "B's link runs at Gen%.0f x%.0f under load, the card "
		    "could do Gen%.0f x%.0f: copies reach %s.",
		    use.generation, use.width, card.generation, card.width,
		    sv_quantity(
			text, sizeof text, reached, SV_UNIT_BYTES_PER_SECOND));
	} else if (reached <= LINK_USED * use.Bps) {
		wide.link_factor = use.Bps / reached;
		f.claim = sv_case_text(c,
		    "B's copies reach %s, far below what a Gen%.0f x%.0f "
		    "link carries: a hop on the way is narrower, or the link "
		    "is disturbed.",
		    sv_quantity(
			text, sizeof text, reached, SV_UNIT_BYTES_PER_SECOND),
		    use.generation, use.width);
	} else {
		return;
	}
	lift_copies(c, &wide, &with);
	if (!sv_case_lift(c, &f, &with))
		return;
	sv_case_add(c, &f);
}

static void peer_path(struct sv_case *c)
{
	bool direct = sv_has_curve(c->in_b, SV_CURVE_PEER_P2P);
	bool slower = c->stages_b.exchange_s > 1.3 * c->stages_a.exchange_s;
	struct sv_stages with = c->mended;
	char text[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "PEER_PATH",
	    .share_s = c->shares.share_s[SV_EXCHANGE],
	    .remedy = "exchange less often (accumulate gradients over four "
		      "steps), compress them, or bridge the cards where they "
		      "take a bridge; GeForce cards since the 40 series have "
		      "no direct path by design",
	    .falsify = "stave run --bench peer: the path is direct and as "
		       "fast as A's",
	    .component = SV_EXCHANGE};

	/* A direct path that is as fast as A's is as designed. */
	if (c->stages_b.exchange_s <= 0.0 || (direct && !slower))
		return;
	with.exchange_s = slower && c->stages_a.exchange_s > 0.0
			      ? c->stages_a.exchange_s
			      : c->stages_b.exchange_s / 4.0;
	if (!sv_case_lift(c, &f, &with))
		return;
	f.claim = sv_case_text(c, "B's cards exchange gradients %s, %s a step.",
	    direct ? "over a slower path than A's"
		   : "through the host, for want of a direct path",
	    sv_quantity(
		text, sizeof text, c->stages_b.exchange_s, SV_UNIT_SECONDS));
	sv_case_add(c, &f);
}

/* The largest batch below this one whose step fits B's memory; 0: none. */
static long fitting_batch(struct sv_case *c)
{
	long lo = 0, hi = c->b.batch;

	while (hi - lo > 1) {
		struct sv_side side = c->b;
		struct sv_stages s;

		side.batch = lo + (hi - lo) / 2;
		sv_case_stages(c, &side, &s);
		if (c->code != 0)
			return 0;
		if (s.spill_s > 0.0)
			hi = side.batch;
		else
			lo = side.batch;
	}
	return lo;
}

static void vram_spill(struct sv_case *c)
{
	struct sv_stages with = c->mended;
	const struct sv_inputs *in = c->in_b;
	double room = isnan(in->memory_free_bytes) ? in->memory_bytes
						   : in->memory_free_bytes;
	char text[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "VRAM_SPILL",
	    .share_s = c->shares.share_s[SV_SPILL],
	    .falsify = "memory in use during a step: it stays below what the "
		       "card has",
	    .component = SV_SPILL,
	    .fields = {"device.memory_free_bytes"}};
	long batch;

	sv_stage_drop(&with, SV_SPILL);
	if (!sv_case_lift(c, &f, &with))
		return;
	batch = fitting_batch(c);
	f.claim = sv_case_text(c,
	    "The step needs more memory than the %s that B has free: it "
	    "fails, or its pages move over the link every step.",
	    sv_quantity_size(text, sizeof text, room));
	f.remedy = batch > 0 ? sv_case_text(c,
				   "a batch of %ld or less fits; checkpoint "
				   "activations; turn the driver's fallback "
				   "to system memory off",
				   batch)
			     : "checkpoint activations or shard the model; no "
			       "batch fits";
	sv_case_add(c, &f);
}

void sv_causes_transfer(struct sv_case *c)
{
	numa_remote(c);
	pageable_memory(c);
	pcie_link(c);
	peer_path(c);
	vram_spill(c);
}
