/*
 * The rules, one function each: the fact that makes a cause possible, the
 * terms as they would be with it lifted, and the words. A rule that finds the
 * fact but no time behind it rules the cause out.
 */
#include "causes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A link, card or clock this close to its peer is not called short. */
#define NEARLY 0.95

const char *sv_cause_name(enum sv_cause_code code)
{
	static const char *const names[] = {
#define SV_X(name) #name,
	    SV_CAUSES(SV_X)
#undef SV_X
	};

	return names[code];
}

/* What the rules work with. */
struct court {
	const struct sv_sides *s;
	double step_s; /* B's */
	double least_s;
	struct sv_verdicts *out;
};

static double number(const struct sv_model *m, const char *path)
{
	json_t *value = sv_result_field(m->result->device, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static double machine_number(const struct sv_model *m, const char *path)
{
	json_t *value = sv_result_field(m->result->machine, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text(json_t *object, const char *path)
{
	const char *value = json_string_value(sv_result_field(object, path));

	return value != NULL ? value : "";
}

static bool throttled_by(const struct sv_model *m, const char *reason)
{
	json_t *reasons =
	    sv_result_field(m->result->device, "throttle.reasons");
	size_t i;
	json_t *one;

	json_array_foreach (reasons, i, one)
		if (json_is_string(one) &&
		    strcmp(json_string_value(one), reason) == 0)
			return true;
	return false;
}

/*
 * Give a cause its place, or none: it must save, or add against A, enough to
 * matter. Returns where to write the words, or NULL.
 */
static struct sv_cause *list_cause(struct court *court, enum sv_cause_code code,
    double share_s, double saving_s)
{
	struct sv_cause *cause;

	if (fmax(share_s, saving_s) < court->least_s)
		return NULL;
	cause = &court->out->causes[court->out->n_causes++];
	memset(cause, 0, sizeof *cause);
	cause->code = code;
	cause->share_s = share_s;
	cause->saving_s = fmax(saving_s, 0.0);
	return cause;
}

static void add_evidence(struct sv_cause *cause, const char *what)
{
	if (cause->n_evidence < SV_CAUSE_MAX_EVIDENCE)
		cause->evidence[cause->n_evidence++] = what;
}

static void add_component_evidence(const struct court *court,
    struct sv_cause *cause, enum sv_component component)
{
	cause->n_evidence += sv_model_evidence(court->s->b, component,
	    cause->evidence + cause->n_evidence,
	    SV_CAUSE_MAX_EVIDENCE - cause->n_evidence);
}

/* The words of a cause: claim, remedy, what would disprove it. */
SV_PRINTF(4, 5)
static void say(struct sv_cause *cause, const char *remedy, const char *falsify,
    const char *claim, ...)
{
	va_list args;

	va_start(args, claim);
	vsnprintf(cause->claim, sizeof cause->claim, claim, args);
	va_end(args);
	snprintf(cause->remedy, sizeof cause->remedy, "%s", remedy);
	snprintf(cause->falsify, sizeof cause->falsify, "%s", falsify);
}

SV_PRINTF(4, 5)
static void rule_out(struct court *court, enum sv_cause_code code,
    const char *evidence, const char *why, ...)
{
	struct sv_ruled_out *ruled =
	    &court->out->ruled_out[court->out->n_ruled_out++];
	va_list args;

	ruled->code = code;
	ruled->evidence = evidence;
	va_start(args, why);
	vsnprintf(ruled->why, sizeof ruled->why, why, args);
	va_end(args);
}

static double share(const struct court *court, enum sv_component component)
{
	return court->s->attribution->share_s[component];
}

static double saving(const struct court *court, const struct sv_terms *lifted)
{
	return court->step_s - sv_model_step(lifted);
}

static double ms(double seconds)
{
	return seconds * 1e3;
}

static void judge_dispatch(struct court *court)
{
	const struct sv_terms *b = court->s->terms_b, *a = court->s->terms_a;
	struct sv_terms lifted = *b;
	double host = sv_model_host_s(b), device = sv_model_device_s(b);
	double power = number(court->s->b, "power.draw_under_load_w");
	double limit = number(court->s->b, "power.limit_w");

	if (b->dispatch.kernels <= 0.0)
		return;
	lifted.dispatch.submit_s = 0.0;
	double gain = saving(court, &lifted);

	if (host > device) {
		struct sv_cause *cause = list_cause(court,
		    SV_CAUSE_LAUNCH_BOUND, share(court, SV_DISPATCH), gain);

		if (cause != NULL) {
			say(cause,
			    "Capture the step as a graph, fuse kernels, or "
			    "raise the batch until the device is the slower.",
			    "Replay the step as a graph (--what-if graphs=on): "
			    "if it is no faster, the host was not the limit.",
			    "The host issues %.0f kernels in %.3g ms; the "
			    "device would need only %.3g ms for them. A faster "
			    "card cannot help.",
			    b->dispatch.kernels, ms(host), ms(device));
			add_component_evidence(court, cause, SV_DISPATCH);
			if (limit > 0.0 && power < 0.6 * limit)
				rule_out(court, SV_CAUSE_POWER_LIMIT,
				    "device.power.draw_under_load_w",
				    "the draw of %.0f W under a limit of %.0f "
				    "W is low because the device waits for "
				    "the host",
				    power, limit);
		}
	}
	if (a->dispatch.submit_s > 0.0 &&
	    b->dispatch.submit_s > 1.05 * a->dispatch.submit_s) {
		bool windows =
		    strcmp(text(court->s->b->result->device, "driver.model"),
			"wddm") == 0 ||
		    strcmp(text(court->s->b->result->device, "driver.model"),
			"wsl") == 0;
		struct sv_terms same = *b;

		same.dispatch = a->dispatch;
		struct sv_cause *cause = list_cause(court,
		    windows ? SV_CAUSE_DRIVER_MODEL : SV_CAUSE_HOST_CPU,
		    share(court, SV_DISPATCH), saving(court, &same));

		if (cause == NULL)
			return;
		say(cause,
		    windows ? "Run on native Linux, or TCC where the card "
			      "allows it."
			    : "A faster core, governor \"performance\", or "
			      "fewer launches (graphs).",
		    "Measure launch/submit on both hosts with the same card.",
		    "One launch costs %.3g us of host time on B and %.3g us "
		    "on A.",
		    b->dispatch.submit_s * 1e6, a->dispatch.submit_s * 1e6);
		add_component_evidence(court, cause, SV_DISPATCH);
		add_evidence(cause,
		    windows ? "device.driver.model" : "machine.cpu.model");
	}
}

/* Highest rate measured for the precision that the model uses. */
static double plateau(
    const struct sv_model *m, const char *precision, const double *medians)
{
	double best = 0.0;

	for (double size = 256.0; size <= 16384.0; size *= 2.0) {
		struct sv_input rate = sv_input_gemm(
		    m->result, precision, size, size, size, m->use_flagged);

		if (rate.n > 0)
			best = fmax(best, sv_input_value(&rate, medians));
	}
	return best;
}

static double gemm_flop(const struct sv_model *m)
{
	double flop = 0.0;

	for (size_t i = 0; i < m->n_gemm; i++)
		flop += m->gemm[i].flop * m->gemm[i].count;
	return flop;
}

static void judge_small_batch(struct court *court)
{
	const struct sv_terms *b = court->s->terms_b;
	const struct sv_model *m = court->s->b;
	double best = plateau(m, m->gemm_precision, court->s->medians_b);
	struct sv_terms lifted = *b;

	if (best <= 0.0 || b->gemm.device_s <= 0.0 ||
	    sv_model_host_s(b) > sv_model_device_s(b))
		return;
	double reached = gemm_flop(m) / b->gemm.device_s / best;

	if (reached >= 0.5)
		return;
	lifted.gemm.device_s = gemm_flop(m) / best;
	struct sv_cause *cause = list_cause(court, SV_CAUSE_SMALL_BATCH,
	    share(court, SV_GEMM), saving(court, &lifted));

	if (cause == NULL)
		return;
	say(cause, "Raise the batch, or accumulate several into one product.",
	    "Measure gemm/throughput at the workload's shapes for larger "
	    "batches.",
	    "As designed: at batch %g the products reach %.0f %% of what the "
	    "card does on large ones.",
	    m->batch, 100.0 * reached);
	add_component_evidence(court, cause, SV_GEMM);
}

/* Bytes a second of a PCIe link, encoding and packets taken off. */
static double link_ceiling(double generation, double width)
{
	/* x16 at 256-byte payload; method notes, section 2. */
	static const double x16[] = {
	    NAN, 3.7e9, 7.4e9, 14.6e9, 29.2e9, 58.4e9, 116.8e9};
	int g = isnan(generation) ? 0 : (int)generation;

	if (g < 1 || g > 6 || isnan(width) || width < 1.0 || width > 16.0)
		return NAN;
	return x16[g] * width / 16.0;
}

/* Copy time scaled as if the link moved `ratio` times as much. */
static struct sv_terms faster_copies(const struct sv_terms *b, double ratio)
{
	struct sv_terms lifted = *b;

	lifted.transfer.copy_s = b->transfer.copy_s / ratio;
	return lifted;
}

static bool judge_numa(struct court *court)
{
	const struct sv_model *m = court->s->b;
	double bound = machine_number(m, "binding.node");
	double card = number(m, "pcie.numa_node");
	const struct sv_wanted near_copy[] = {{"direction", "h2d", 0.0},
	    {"memory", "pinned", 0.0}, {"numa", "near", 0.0}};
	const struct sv_query query = {.bench = "transfer",
	    .metric = "bandwidth",
	    .wanted = near_copy,
	    .n_wanted = 3,
	    .over = "bytes",
	    .at = 1e15};
	struct sv_input near_input = sv_input_find(m->result, &query);
	double now =
	    m->h2d.n > 0 ? sv_input_value(&m->h2d, court->s->medians_b) : NAN;
	double near_rate =
	    near_input.n > 0 ? sv_input_value(&near_input, court->s->medians_b)
			     : NAN;

	if (isnan(bound) || isnan(card) || bound == card || card < 0.0)
		return false;
	if (!(near_rate > now / NEARLY))
		return false;
	struct sv_terms lifted =
	    faster_copies(court->s->terms_b, near_rate / now);
	struct sv_cause *cause = list_cause(court, SV_CAUSE_NUMA_REMOTE,
	    share(court, SV_TRANSFER), saving(court, &lifted));

	if (cause == NULL) {
		rule_out(court, SV_CAUSE_NUMA_REMOTE, "machine.binding.node",
		    "bound to node %.0f, the card is at node %.0f, but this "
		    "step moves too little for it to matter",
		    bound, card);
		return true;
	}
	say(cause,
	    "Bind the process and its memory to the card's node (numactl "
	    "--cpunodebind and --membind).",
	    "Measure transfer/bandwidth with numa=near: if it is no faster, "
	    "the node is not the cause.",
	    "The process runs on NUMA node %.0f, the card hangs on node "
	    "%.0f: copies reach %.3g GB/s where the near node gives %.3g "
	    "GB/s.",
	    bound, card, now / 1e9, near_rate / 1e9);
	add_component_evidence(court, cause, SV_TRANSFER);
	if (near_input.n > 0)
		add_evidence(
		    cause, m->result->measurements[near_input.from[0]].id);
	add_evidence(cause, "machine.binding.node");
	return true;
}

static bool judge_pageable(struct court *court)
{
	const struct sv_model *m = court->s->b;
	const struct sv_wanted pinned_copy[] = {
	    {"direction", "h2d", 0.0}, {"memory", "pinned", 0.0}};
	const struct sv_query query = {.bench = "transfer",
	    .metric = "bandwidth",
	    .wanted = pinned_copy,
	    .n_wanted = 2,
	    .over = "bytes",
	    .at = 1e15};
	struct sv_input found = sv_input_find(m->result, &query);
	double now, pinned;

	if (m->pinned || m->h2d.n == 0 || found.n == 0)
		return false;
	now = sv_input_value(&m->h2d, court->s->medians_b);
	pinned = sv_input_value(&found, court->s->medians_b);
	if (pinned * NEARLY <= now)
		return false;
	struct sv_terms lifted = faster_copies(court->s->terms_b, pinned / now);

	if (m->workload->prefetch)
		lifted.transfer.overlap =
		    m->overlap.n > 0 ? fmin(fmax(sv_input_value(&m->overlap,
						     court->s->medians_b),
						0.0),
					   1.0)
				     : 1.0;
	struct sv_cause *cause = list_cause(court, SV_CAUSE_PAGEABLE_MEMORY,
	    share(court, SV_TRANSFER), saving(court, &lifted));

	if (cause == NULL)
		return false;
	say(cause,
	    "Pin the batches (pin_memory=True) and copy them asynchronously.",
	    "Measure the step with pinned batches (--what-if memory=pinned).",
	    "Batches lie in pageable memory: %.3g GB/s and the host waits for "
	    "each copy; pinned gives %.3g GB/s and overlaps.",
	    now / 1e9, pinned / 1e9);
	add_component_evidence(court, cause, SV_TRANSFER);
	add_evidence(cause, m->result->measurements[found.from[0]].id);
	return true;
}

static void judge_link(struct court *court, bool explained)
{
	const struct sv_model *m = court->s->b;
	double generation = number(m, "pcie.under_load.generation");
	double width = number(m, "pcie.under_load.width");
	double idle = number(m, "pcie.generation");
	double idle_width = number(m, "pcie.width");

	if (isnan(generation))
		generation = idle;
	if (isnan(width))
		width = idle_width;
	double card = link_ceiling(
	    number(m, "pcie.max_generation"), number(m, "pcie.max_width"));
	double now = link_ceiling(generation, width);

	if (idle < generation)
		rule_out(court, SV_CAUSE_PCIE_LINK, "device.pcie.generation",
		    "the idle link reads Gen%.0f to save power; under load it "
		    "is Gen%.0f x%.0f",
		    idle, generation, width);
	if (explained || isnan(card) || isnan(now) || now >= card * NEARLY)
		return;
	struct sv_terms lifted = faster_copies(court->s->terms_b, card / now);
	struct sv_cause *cause = list_cause(court, SV_CAUSE_PCIE_LINK,
	    share(court, SV_TRANSFER), saving(court, &lifted));

	if (cause == NULL) {
		rule_out(court, SV_CAUSE_PCIE_LINK, "device.pcie.under_load",
		    "the link is Gen%.0f x%.0f where the card could do more, "
		    "but this step moves too little for it to matter",
		    generation, width);
		return;
	}
	say(cause,
	    "Move the card to a slot with all lanes of its generation; check "
	    "risers, bifurcation and the other cards.",
	    "Measure pinned transfer/bandwidth in another slot.",
	    "Under load the link is Gen%.0f x%.0f (at most %.3g GB/s); the "
	    "card could do %.3g GB/s.",
	    generation, width, now / 1e9, card / 1e9);
	add_component_evidence(court, cause, SV_TRANSFER);
	add_evidence(cause, "device.pcie.under_load");
}

static void judge_transfer(struct court *court)
{
	bool explained = judge_numa(court);

	explained = judge_pageable(court) || explained;
	judge_link(court, explained);
}

static void judge_waits(struct court *court)
{
	const struct sv_terms *b = court->s->terms_b;
	struct sv_terms lifted = *b;
	struct sv_cause *cause;

	lifted.sync.waits = 0.0;
	cause = b->sync.waits <= 0.0
		    ? NULL
		    : list_cause(court, SV_CAUSE_SYNC_EVERY_STEP,
			  share(court, SV_SYNC), saving(court, &lifted));
	if (cause != NULL) {
		say(cause,
		    "Read values back every hundred steps, or asynchronously.",
		    "Measure the step with no read-back (--what-if "
		    "syncs_per_step=0).",
		    "%g waits a step: each costs %.3g us and lets the queue "
		    "run dry.",
		    b->sync.waits, b->sync.wait_s * 1e6);
		add_component_evidence(court, cause, SV_SYNC);
	}
	lifted = *b;
	lifted.allocator.resets = 0.0;
	cause = b->allocator.resets <= 0.0
		    ? NULL
		    : list_cause(court, SV_CAUSE_ALLOCATOR_RESET,
			  share(court, SV_ALLOCATOR), saving(court, &lifted));
	if (cause != NULL) {
		say(cause,
		    "Do not empty the allocator's cache inside the loop.",
		    "Measure the step without the reset.",
		    "%g resets of the allocator a step, %.3g ms each.",
		    b->allocator.resets, ms(b->allocator.reset_s));
		add_component_evidence(court, cause, SV_ALLOCATOR);
	}
}

static double gemm_seconds(
    const struct sv_model *m, const char *precision, const double *medians)
{
	double total = 0.0;

	for (size_t i = 0; i < m->n_gemm; i++) {
		double side = cbrt(m->gemm[i].flop / 2.0);
		struct sv_input rate = sv_input_gemm(
		    m->result, precision, side, side, side, m->use_flagged);

		if (rate.n == 0)
			return NAN;
		total += m->gemm[i].count * m->gemm[i].flop /
			 sv_input_value(&rate, medians);
	}
	return total;
}

static void judge_precision(struct court *court)
{
	const struct sv_model *m = court->s->b;
	const struct sv_terms *b = court->s->terms_b;
	static const char *const faster[] = {"tf32", "bf16", "fp16"};
	const char *best = NULL;
	struct sv_terms lifted = *b;

	if (strcmp(m->gemm_precision, "fp32") != 0 || m->n_gemm == 0)
		return;
	for (size_t i = 0; i < 3; i++) {
		double s = gemm_seconds(m, faster[i], court->s->medians_b);

		/* Take the mildest step that brings a real gain. */
		if (s < NEARLY * lifted.gemm.device_s &&
		    (best == NULL || s < 0.7 * lifted.gemm.device_s)) {
			lifted.gemm.device_s = s;
			best = faster[i];
		}
	}
	if (best == NULL)
		return;
	struct sv_cause *cause = list_cause(court, SV_CAUSE_PRECISION_OFF,
	    share(court, SV_GEMM), saving(court, &lifted));

	if (cause == NULL)
		return;
	say(cause,
	    "Allow TF32 for matrix products, or train with automatic mixed "
	    "precision; check the loss.",
	    "Measure the step in the other precision (--what-if "
	    "precision=tf32 or amp).",
	    "Matrix products run in plain FP32 and the tensor cores idle: "
	    "%.3g ms a step where %s would take %.3g ms.",
	    ms(b->gemm.device_s), best, ms(lifted.gemm.device_s));
	add_component_evidence(court, cause, SV_GEMM);
}

static void judge_memory(struct court *court)
{
	const struct sv_terms *b = court->s->terms_b;
	struct sv_terms lifted = *b;
	double peak = number(court->s->b, "memory_bandwidth_Bps");
	double now =
	    court->s->b->bandwidth.n > 0
		? sv_input_value(&court->s->b->bandwidth, court->s->medians_b)
		: NAN;

	if (court->out->limiting_b != SV_MEMORY)
		return;
	sv_model_lift(&lifted, SV_MEMORY);
	struct sv_cause *cause = list_cause(court, SV_CAUSE_MEMORY_BANDWIDTH,
	    share(court, SV_MEMORY), saving(court, &lifted));

	if (cause == NULL)
		return;
	say(cause,
	    "Fewer passes over memory: fused kernels, a fused optimiser, "
	    "channels-last, lower precision of activations.",
	    "Measure memory/bandwidth: well below the datasheet it would be "
	    "a fault.",
	    "As designed: the step is bound by device memory, %.3g ms of it "
	    "at %.0f GB/s%s.",
	    ms(b->memory.device_s), now / 1e9,
	    peak > 0.0 && now > 0.7 * peak ? ", as fast as this card is" : "");
	add_component_evidence(court, cause, SV_MEMORY);
}

/* Preparing a batch with as many workers as pay: seconds, and how many. */
static double best_preparation(const struct court *court, double *workers)
{
	const struct sv_model *m = court->s->b;
	double usable = machine_number(m, "cpu.usable_threads");
	const struct sv_wanted work[] = {
	    {"where", "cpu", 0.0}, {"work", m->workload->sample_work, 0.0}};
	double best = court->s->terms_b->preprocess.prepare_s;

	*workers = m->workload->loader_workers;
	for (double w = 1.0; w <= usable; w += 1.0) {
		const struct sv_query query = {.bench = "preprocess",
		    .metric = "rate",
		    .wanted = work,
		    .n_wanted = 2,
		    .over = "workers",
		    .at = w};
		struct sv_input rate = sv_input_find(m->result, &query);

		if (rate.n == 0 || rate.extrapolated)
			continue;
		double s =
		    m->batch / sv_input_value(&rate, court->s->medians_b);

		if (s < NEARLY * best) {
			best = s;
			*workers = w;
		}
	}
	return best;
}

static void judge_preparation(struct court *court)
{
	const struct sv_terms *b = court->s->terms_b;
	struct sv_terms lifted = *b;
	double workers, now = court->s->b->workload->loader_workers;

	if (b->preprocess.prepare_s <= 0.0)
		return;
	lifted.preprocess.prepare_s = best_preparation(court, &workers);
	lifted.preprocess.in_line = false;
	struct sv_cause *cause =
	    workers > now || b->preprocess.in_line
		? list_cause(court, SV_CAUSE_LOADER_WORKERS,
		      share(court, SV_PREPROCESS), saving(court, &lifted))
		: NULL;

	if (cause != NULL) {
		say(cause, "Raise the loader's workers, with prefetch on.",
		    "Measure loader/rate with more workers.",
		    "%g loader workers%s; %g would prepare a batch in %.3g ms "
		    "instead of %.3g ms.",
		    now, b->preprocess.in_line ? ", in line" : "", workers,
		    ms(lifted.preprocess.prepare_s),
		    ms(b->preprocess.prepare_s));
		add_component_evidence(court, cause, SV_PREPROCESS);
	}
	double with_workers = sv_model_step(&lifted);

	/* What more workers leave is the processor's. */
	lifted.preprocess.prepare_s = 0.0;
	cause = list_cause(court, SV_CAUSE_CPU_PREPROCESS,
	    cause == NULL ? share(court, SV_PREPROCESS) : 0.0,
	    with_workers - sv_model_step(&lifted));
	if (cause == NULL)
		return;
	say(cause,
	    "Move decoding and augmentation to the device, cache prepared "
	    "samples, or do less of it.",
	    "Measure the step on synthetic batches: if it is no faster, "
	    "preparation was not the limit.",
	    "The processor prepares a batch in %.3g ms at best; no card can "
	    "go faster than that.",
	    ms(best_preparation(court, &workers)));
	add_component_evidence(court, cause, SV_PREPROCESS);
}

static void judge_storage(struct court *court)
{
	const struct sv_terms *b = court->s->terms_b;
	struct sv_terms lifted = *b;

	sv_model_lift(&lifted, SV_STORAGE);
	struct sv_cause *cause =
	    b->storage.fetch_s <= 0.0
		? NULL
		: list_cause(court, SV_CAUSE_STORAGE, share(court, SV_STORAGE),
		      saving(court, &lifted));

	if (cause == NULL)
		return;
	say(cause,
	    "Pack the samples into large files, put them on local NVMe, or "
	    "cache them in memory.",
	    "Run the epoch again with the files in the page cache.",
	    "Reading a batch from cold storage takes %.3g ms.",
	    ms(b->storage.fetch_s));
	add_component_evidence(court, cause, SV_STORAGE);
}

/* Saving if the products ran at the clock that the card could hold. */
static double clock_saving(const struct court *court)
{
	double now = number(court->s->b, "clocks.under_load.sm_Hz");
	double most = number(court->s->b, "clocks.max_sm_Hz");
	double held = number(court->s->a, "clocks.under_load.sm_Hz") /
		      number(court->s->a, "clocks.max_sm_Hz");
	struct sv_terms lifted = *court->s->terms_b;

	if (!(now > 0.0) || !(most > now))
		return 0.0;
	/* No card holds its highest clock: what A holds of its own is fair. */
	if (held > 0.0 && held < 1.0)
		most *= held;
	if (most <= now)
		return 0.0;
	lifted.gemm.device_s *= now / most;
	return saving(court, &lifted);
}

static void judge_clocks(struct court *court)
{
	const struct sv_model *m = court->s->b;
	double limit = number(m, "power.limit_w");
	double usual = number(m, "power.default_limit_w");
	double draw = number(m, "power.draw_under_load_w");
	bool capped = limit < NEARLY * usual;
	bool power = throttled_by(m, "sw_power_cap") ||
		     throttled_by(m, "hw_power_brake");
	bool heat =
	    throttled_by(m, "hw_thermal") || throttled_by(m, "sw_thermal");
	double now = number(m, "clocks.under_load.sm_Hz");
	double most = number(m, "clocks.max_sm_Hz");
	double gain = clock_saving(court);
	/* Shares of the products are the clock's only when it is low. */
	double added = gain > 0.0 ? share(court, SV_GEMM) : 0.0;
	struct sv_cause *cause = NULL;

	if (heat) {
		cause = list_cause(court, SV_CAUSE_THERMAL, added, gain);
		if (cause != NULL)
			say(cause,
			    "Cool the card: airflow, dust, spacing, fans.",
			    "Repeat the run on a cool card and compare "
			    "clocks.",
			    "The card slowed itself because it was hot: %.0f "
			    "MHz under load of at most %.0f MHz.",
			    now / 1e6, most / 1e6);
	} else if (power || (capped && draw > NEARLY * limit)) {
		cause = list_cause(court, SV_CAUSE_POWER_LIMIT, added, gain);
		if (cause != NULL)
			say(cause,
			    "Raise the power limit to the card's default "
			    "(nvidia-smi -pl), or mend the supply.",
			    "Raise the limit and measure gemm/throughput "
			    "again.",
			    "The power limit of %.0f W (default %.0f W) holds "
			    "the clock at %.0f MHz.",
			    limit, usual, now / 1e6);
	} else if (now < 0.75 * most) {
		cause = list_cause(court, SV_CAUSE_CLOCKS, added, gain);
		if (cause != NULL)
			say(cause,
			    "Look for locked clocks (nvidia-smi -q -d CLOCK) "
			    "and reset them.",
			    "Measure with clocks unlocked.",
			    "Under load the clock is %.0f MHz of at most %.0f "
			    "MHz, with no throttle reason.",
			    now / 1e6, most / 1e6);
	}
	if (cause != NULL) {
		add_component_evidence(court, cause, SV_GEMM);
		add_evidence(cause, "device.clocks.under_load");
	} else if (capped && !power) {
		rule_out(court, SV_CAUSE_POWER_LIMIT, "device.power.limit_w",
		    "the limit of %.0f W is below the default of %.0f W but "
		    "does not bind: the draw is %.0f W",
		    limit, usual, draw);
	}
}

static void judge_rest(struct court *court)
{
	const struct sv_terms *b = court->s->terms_b;
	struct sv_terms lifted = *b;
	struct sv_cause *cause;

	sv_model_lift(&lifted, SV_SPILL);
	cause = b->spill.spill_s <= 0.0
		    ? NULL
		    : list_cause(court, SV_CAUSE_VRAM_SPILL,
			  share(court, SV_SPILL), saving(court, &lifted));
	if (cause != NULL) {
		say(cause, "A smaller batch, or a card with more memory.",
		    "Run one smaller batch: if the step is not much faster, "
		    "nothing spilled.",
		    "The working set is larger than the card's free memory; "
		    "what spills crosses the link every step.");
		add_component_evidence(court, cause, SV_SPILL);
		add_evidence(cause, "device.memory_free_bytes");
	}
	lifted = *b;
	sv_model_lift(&lifted, SV_EXCHANGE);
	cause = b->exchange.exchange_s <= 0.0
		    ? NULL
		    : list_cause(court, SV_CAUSE_PEER_PATH,
			  share(court, SV_EXCHANGE), saving(court, &lifted));
	if (cause != NULL) {
		say(cause,
		    "Accumulate gradients over more steps, compress them, or "
		    "use cards with a direct path.",
		    "Measure peer/bandwidth between the two cards.",
		    "Exchanging gradients between cards takes %.3g ms a step.",
		    ms(b->exchange.exchange_s));
		add_component_evidence(court, cause, SV_EXCHANGE);
	}
}

static void judge_software(struct court *court)
{
	const struct sv_model *m = court->s->b;
	json_t *list =
	    sv_result_field(m->result->device, "libraries.framework_arch_list");
	json_t *sm = sv_result_field(m->result->device, "compute_capability");
	char want[32];
	size_t i;
	json_t *one;

	if (!json_is_array(list) || json_array_size(sm) != 2)
		return;
	snprintf(want, sizeof want,
	    "sm_%" JSON_INTEGER_FORMAT "%" JSON_INTEGER_FORMAT,
	    json_integer_value(json_array_get(sm, 0)),
	    json_integer_value(json_array_get(sm, 1)));
	json_array_foreach (list, i, one) {
		const char *has = json_string_value(one);

		/* Same major family runs the older minor's code. */
		if (has != NULL && strncmp(has, want, strlen(want) - 1) == 0 &&
		    strcmp(has, want) <= 0)
			return;
	}
	struct sv_cause *cause = list_cause(court, SV_CAUSE_SOFTWARE_AGE,
	    share(court, SV_GEMM) + share(court, SV_MEMORY), 0.0);

	if (cause == NULL)
		return;
	say(cause, "Install a build of the framework for this card.",
	    "Repeat with a current build.",
	    "The framework's kernels were not built for %s.", want);
	add_evidence(cause, "device.libraries.framework_arch_list");
}

/* Same model of card, same clocks, and yet slower: only then. */
static void judge_card(struct court *court)
{
	const struct sv_model *a = court->s->a, *b = court->s->b;
	double slower = share(court, SV_GEMM) + share(court, SV_MEMORY);
	bool same =
	    strcmp(text(a->result->device, "name"),
		text(b->result->device, "name")) == 0 &&
	    text(a->result->device, "name")[0] != '\0' &&
	    strcmp(a->workload->precision, b->workload->precision) == 0 &&
	    a->batch == b->batch;

	for (size_t i = 0; i < court->out->n_causes; i++) {
		enum sv_cause_code code = court->out->causes[i].code;

		if (code == SV_CAUSE_POWER_LIMIT || code == SV_CAUSE_THERMAL ||
		    code == SV_CAUSE_CLOCKS || code == SV_CAUSE_SOFTWARE_AGE)
			return;
	}
	if (!same || slower < 0.1 * court->step_s)
		return;
	struct sv_cause *cause =
	    list_cause(court, SV_CAUSE_FAULTY_CARD, slower, slower);

	if (cause == NULL)
		return;
	say(cause,
	    "Reseat the card, update its firmware, and have it replaced if "
	    "it stays slow.",
	    "Swap the two cards: the slowness must move with the card.",
	    "The same model of card with the same settings is slower here, "
	    "and nothing measured explains it.");
	add_component_evidence(court, cause, SV_GEMM);
}

static int by_weight(const void *left, const void *right)
{
	const struct sv_cause *a = left, *b = right;
	double x = fmax(a->share_s, a->saving_s);
	double y = fmax(b->share_s, b->saving_s);

	return x != y ? (x < y) - (x > y) : (int)a->code - (int)b->code;
}

enum sv_component sv_limiting(const struct sv_terms *terms)
{
	double step = sv_model_step(terms), most = -1.0;
	enum sv_component limiting = SV_GEMM;

	for (unsigned c = 0; c < SV_N_COMPONENTS; c++) {
		struct sv_terms lifted = *terms;

		sv_model_lift(&lifted, (enum sv_component)c);
		double gain = step - sv_model_step(&lifted);

		if (gain > most) {
			most = gain;
			limiting = (enum sv_component)c;
		}
	}
	return limiting;
}

void sv_causes(
    const struct sv_sides *sides, double least, struct sv_verdicts *out)
{
	struct court court = {
	    .s = sides, .step_s = sides->attribution->b_s, .out = out};

	memset(out, 0, sizeof *out);
	court.least_s = least * court.step_s;
	out->limiting_a = sv_limiting(sides->terms_a);
	out->limiting_b = sv_limiting(sides->terms_b);
	judge_dispatch(&court);
	judge_small_batch(&court);
	judge_transfer(&court);
	judge_waits(&court);
	judge_precision(&court);
	judge_memory(&court);
	judge_preparation(&court);
	judge_storage(&court);
	judge_clocks(&court);
	judge_rest(&court);
	judge_software(&court);
	judge_card(&court);
	qsort(out->causes, out->n_causes, sizeof out->causes[0], by_weight);
	if (out->n_causes > 0)
		return;
	struct sv_cause *none = &out->causes[out->n_causes++];

	none->code = SV_CAUSE_NO_FAULT;
	say(none, "None: a faster step needs a faster part.",
	    "A measured step that takes longer than this one.",
	    "Nothing measured on B is short; %s is what limits the step.",
	    sv_component_name(out->limiting_b));
}
