/*
 * Causes on the host's side of the card: how kernels are issued, waited for,
 * and memory given back.
 */
#include <math.h>
#include <string.h>

#include "case.h"
#include "quantity.h"
#include "stave/units.h"

/* A cost counts as dearer on B from this factor on. */
#define DEARER	    1.1
/* Leaving a state that takes this long is felt by every wait. */
#define DEEP_EXIT_S 50e-6

static bool is_slow_governor(const char *governor)
{
	static const char *const slow[] = {
	    "powersave", "conservative", "ondemand", "schedutil", "userspace"};

	for (size_t i = 0; governor != NULL && i < 5; i++)
		if (strcmp(governor, slow[i]) == 0)
			return true;
	return false;
}

static bool is_foreign_driver(const char *model)
{
	return model != NULL &&
	       (strcmp(model, "wddm") == 0 || strcmp(model, "wsl") == 0);
}

static double share_of(const struct sv_case *c, enum sv_component component)
{
	return c->shares.share_s[component];
}

/* B's step, from where it is mended to, with A's part of it. */
static void with_a(const struct sv_case *c, const enum sv_component *parts,
    size_t n, struct sv_stages *out)
{
	*out = c->mended;
	for (size_t i = 0; i < n; i++)
		sv_stage_take(out, &c->stages_a, parts[i]);
}

/*
 * A root cause: a fact of the machine that makes parts of B dearer than A's.
 * Once it is found, the rest is judged as if it were mended.
 */
static void root(struct sv_case *c, struct sv_suspect *f,
    const enum sv_component *parts, size_t n)
{
	struct sv_stages mended;

	with_a(c, parts, n, &mended);
	if (!sv_case_lift(c, f, &mended))
		return;
	sv_case_add(c, f);
	c->mended = mended;
}

static void driver_model(struct sv_case *c)
{
	static const enum sv_component parts[] = {SV_SYNC, SV_DISPATCH};
	const char *model = sv_case_word(c, true, "device.driver.model");
	const char *other = sv_case_word(c, false, "device.driver.model");
	struct sv_suspect f = {.code = "DRIVER_MODEL",
	    .share_s = share_of(c, SV_SYNC) + share_of(c, SV_DISPATCH),
	    .remedy = "run under a native Linux driver, or TCC where the card "
		      "has it; wait less often meanwhile",
	    .falsify = "stave run --bench launch,sync under the other driver "
		       "on the same machine: the costs stay as they are",
	    .component = SV_SYNC,
	    .fields = {"device.driver.model"}};

	if (!is_foreign_driver(model) ||
	    (other != NULL && strcmp(model, other) == 0))
		return;
	f.claim = sv_case_text(c,
	    "B's driver model, %s, makes waiting and issuing work dearer than "
	    "A's, %s.",
	    model, other != NULL ? other : "unknown");
	root(c, &f, parts, 2);
}

/* The longest exit latency of an idle state that is in use; 0 for none. */
static double deepest_exit_s(const struct sv_result *r)
{
	json_t *states = sv_result_field(r->machine, "cpu.c_states");
	json_t *state;
	size_t i;
	double deepest = 0.0;

	json_array_foreach (states, i, state) {
		double exit_s = sv_inputs_number(state, "exit_latency_s");

		if (!json_is_true(json_object_get(state, "disabled")) &&
		    exit_s > deepest)
			deepest = exit_s;
	}
	return deepest;
}

static void c_states(struct sv_case *c)
{
	static const enum sv_component parts[] = {SV_SYNC, SV_DISPATCH};
	double b = deepest_exit_s(c->request->b);
	double a = deepest_exit_s(c->request->a);
	char text[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "C_STATES",
	    .share_s = share_of(c, SV_SYNC) + share_of(c, SV_DISPATCH),
	    .remedy = "hold /dev/cpu_dma_latency open with 0, or disable the "
		      "deep states (cpupower idle-set -D 10)",
	    .falsify = "stave run --bench sync,launch with the deep states "
		       "disabled: the waits stay as long",
	    .component = SV_SYNC,
	    .fields = {"machine.cpu.c_states"}};

	if (b < DEEP_EXIT_S || a > 0.5 * b ||
	    c->stages_b.sync.each_s < DEARER * c->stages_a.sync.each_s)
		return;
	f.claim = sv_case_text(c,
	    "B's processor falls into idle states that take up to %s to "
	    "leave, and every wait pays for it.",
	    sv_quantity(text, sizeof text, b, SV_UNIT_SECONDS));
	root(c, &f, parts, 2);
}

static void host_cpu(struct sv_case *c)
{
	static const enum sv_component parts[] = {
	    SV_DISPATCH, SV_SYNC, SV_PREPROCESS};
	const char *governor = sv_case_word(c, true, "machine.cpu.governor");
	const char *other = sv_case_word(c, false, "machine.cpu.governor");
	double max_b = sv_case_number(c, true, "machine.cpu.max_Hz");
	double max_a = sv_case_number(c, false, "machine.cpu.max_Hz");
	bool held = is_slow_governor(governor) && !is_slow_governor(other) &&
		    other != NULL;
	bool slower = max_b < max_a / DEARER;
	struct sv_suspect f = {.code = "HOST_CPU",
	    .share_s = share_of(c, SV_DISPATCH) + share_of(c, SV_PREPROCESS) +
		       share_of(c, SV_SYNC),
	    .falsify = "stave run --bench launch,preprocess after the change: "
		       "the costs stay as they are",
	    .component = SV_DISPATCH,
	    .fields = {"machine.cpu.governor", "machine.cpu.max_Hz"}};

	/* Slower at what one thread does, and a reason for it. */
	if ((!held && !slower) ||
	    (c->stages_b.dispatch.host_each_s <
		    DEARER * c->stages_a.dispatch.host_each_s &&
		c->stages_b.preprocess.s < DEARER * c->stages_a.preprocess.s))
		return;
	f.claim = held ? sv_case_text(c,
			     "B's processor runs under the governor %s (A: "
			     "%s) and does the host's work more slowly.",
			     governor, other)
		       : sv_case_text(c,
			     "B's processor is slower: at most %.2f GHz "
			     "against %.2f GHz.",
			     max_b / 1e9, max_a / 1e9);
	f.remedy = held ? "cpupower frequency-set -g performance"
			: "a processor with faster single threads; CUDA "
			  "graphs or larger batches ask less of it";
	root(c, &f, parts, 3);
}

/* The least batch at which the device takes longer than the host; 0: none. */
static long batch_beyond_host(struct sv_case *c)
{
	for (long batch = c->b.batch * 2; batch <= 4096; batch *= 2) {
		struct sv_side side = c->b;
		struct sv_stages s;

		side.batch = batch;
		sv_case_stages(c, &side, &s);
		if (c->code != 0)
			return 0;
		if (sv_step_limit(&s) != SV_DISPATCH)
			return batch;
	}
	return 0;
}

static void launch_bound(struct sv_case *c)
{
	struct sv_side graphs = c->b;
	struct sv_stages s, lifted = c->mended;
	char each[SV_QUANTITY_BYTES], host[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "LAUNCH_BOUND",
	    .share_s = share_of(c, SV_DISPATCH),
	    .falsify = "step time at twice the batch: if it grows in "
		       "proportion, the host is not the limit",
	    .component = SV_DISPATCH};
	long batch;

	graphs.graphs = true;
	sv_case_stages(c, &graphs, &s);
	sv_stage_take(&lifted, &s, SV_DISPATCH);
	if (!sv_case_lift(c, &f, &lifted))
		return;
	batch = batch_beyond_host(c);
	f.claim = sv_case_text(c,
	    "The host issues %.0f kernels a step at %s each, %s in all: the "
	    "card waits for work.",
	    c->stages_b.dispatch.kernels,
	    sv_quantity(each, sizeof each, c->stages_b.dispatch.host_each_s,
		SV_UNIT_SECONDS),
	    sv_quantity(host, sizeof host,
		sv_stage_alone(&c->stages_b, SV_DISPATCH), SV_UNIT_SECONDS));
	f.remedy =
	    batch > 0
		? sv_case_text(c,
		      "replay the step as a CUDA graph, fuse kernels, or use "
		      "a batch of %ld or more",
		      batch)
		: "replay the step as a CUDA graph, or fuse kernels";
	sv_case_add(c, &f);
}

static void sync_every_step(struct sv_case *c)
{
	struct sv_stages lifted = c->mended;
	char each[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "SYNC_EVERY_STEP",
	    .share_s = share_of(c, SV_SYNC),
	    .remedy = "read losses and metrics every tenth step or less "
		      "often, and keep them on the device until then",
	    .falsify = "stave run --bench sync: a loop that waits every time "
		       "takes no longer than one that never does",
	    .component = SV_SYNC};

	sv_stage_drop(&lifted, SV_SYNC);
	if (!sv_case_lift(c, &f, &lifted))
		return;
	f.claim = sv_case_text(c,
	    "The host waits for the card: %.3g waits a step, %s each, with "
	    "nothing queued meanwhile.",
	    c->stages_b.sync.count,
	    sv_quantity(
		each, sizeof each, c->stages_b.sync.each_s, SV_UNIT_SECONDS));
	sv_case_add(c, &f);
}

static void allocator_reset(struct sv_case *c)
{
	struct sv_stages lifted = c->mended;
	char each[SV_QUANTITY_BYTES];
	struct sv_suspect f = {.code = "ALLOCATOR_RESET",
	    .share_s = share_of(c, SV_ALLOCATOR),
	    .remedy = "take empty_cache (and gc.collect) out of the loop, or "
		      "call it every tenth step; peak memory rises by what "
		      "the cache keeps",
	    .falsify = "the loop without the call: the step takes as long",
	    .component = SV_ALLOCATOR};

	sv_stage_drop(&lifted, SV_ALLOCATOR);
	if (!sv_case_lift(c, &f, &lifted))
		return;
	f.claim = sv_case_text(c,
	    "B's loop gives its memory back and takes it again: %.3g resets a "
	    "step, %s each.",
	    c->stages_b.allocator.count,
	    sv_quantity(each, sizeof each, c->stages_b.allocator.each_s,
		SV_UNIT_SECONDS));
	sv_case_add(c, &f);
}

void sv_causes_host(struct sv_case *c)
{
	driver_model(c);
	c_states(c);
	host_cpu(c);
	launch_bound(c);
	sync_every_step(c);
	allocator_reset(c);
}
