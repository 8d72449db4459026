/*
 * What the device does with what it is fed: throughput, waits, the allocator,
 * batch, precision, and whether the figures can be believed at all.
 */
#include <stdio.h>
#include <string.h>

#include "checklist_parts.h"
#include "quantity.h"

/* Half of the theoretical peak is what a healthy GEMM reaches with ease. */
#define AT_WORK		0.5
/* Ratio of half-precision to FP32 GEMM: 6 to 8 with tensor cores at work on
 * data-centre cards, 2 and more on others, 1 without (NVIDIA/apex#325). */
#define TENSOR_CORES	1.5
#define NO_TENSOR_CORES 1.3
#define FILLED		0.8
#define LARGE_BATCH	256
#define SLOW_READBACK_S 50e-6
#define SLOW_RESET_S	20e-3
#define WORTH_A_WORD	1.05

static const char *const precisions[] = {"fp16", "bf16", "tf32", "fp32"};

void sv_judge_utilisation(const struct sv_result *r, struct sv_finding *f)
{
	double draw = sv_seen_number(r->device, "power.draw_under_load_w");
	double limit = sv_seen_number(r->device, "power.limit_w");
	double best = 0.0;

	for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++) {
		char pattern[64], field[64];
		const struct sv_measurement *m;
		double peak;

		snprintf(field, sizeof field, "peak_flops.%s", precisions[i]);
		snprintf(pattern, sizeof pattern,
		    "gemm/throughput?precision=%s", precisions[i]);
		peak = sv_seen_number(r->device, field);
		m = sv_best_figure(r, pattern);
		if (m == NULL || !(peak > 0.0))
			continue;
		sv_rest_on(f, m);
		sv_say(f, "%s GEMM reaches %s, %.0f %% of the peak",
		    precisions[i], sv_figure_text(m),
		    100.0 * m->summary.median / peak);
		best = fmax(best, m->summary.median / peak);
	}
	if (isfinite(draw) && isfinite(limit))
		sv_say(f, "the card drew up to %.0f of %.0f W", draw, limit);
	if (best > 0.0)
		sv_at_least(
		    f, best < AT_WORK ? SV_FINDING_WARN : SV_FINDING_OK);
	else
		sv_say(f, "no GEMM was measured against a known peak");
}

/* Cost of a habit by a loop that has it every time and one that never has. */
static double habit(const struct sv_result *r, const char *bench,
    struct sv_finding *f, const char *what)
{
	const struct sv_measurement *always, *never;
	char pattern[64];
	double ratio;

	snprintf(pattern, sizeof pattern, "%s/loop?every=1", bench);
	always = sv_best_figure(r, pattern);
	snprintf(pattern, sizeof pattern, "%s/loop?every=never", bench);
	never = sv_best_figure(r, pattern);
	if (always == NULL || never == NULL || !(never->summary.median > 0.0))
		return NAN;
	ratio = always->summary.median / never->summary.median;
	sv_rest_on(f, always);
	sv_rest_on(f, never);
	sv_say(f, "a small loop takes %.2f times as long with %s each time",
	    ratio, what);
	return ratio;
}

/* The same step without the habit: all other parameters alike. */
static const struct sv_measurement *without_habit(
    const struct sv_result *r, const struct sv_measurement *m)
{
	struct sv_result_param params[SV_RESULT_MAX_PARAMS];
	char id[SV_RESULT_MAX_ID];
	struct sv_err ignored;

	for (size_t i = 0; i < m->n_params; i++) {
		params[i] = m->params[i];
		if (strcmp(params[i].name, "habit") == 0)
			params[i].text = "baseline";
	}
	if (sv_result_id(id, sizeof id, m->bench, m->metric, params,
		m->n_params, &ignored) != 0)
		return NULL;
	m = sv_result_find(r, id);
	return m != NULL && sv_figure_usable(m) ? m : NULL;
}

/*
 * The same of whole training steps: the worst of the workloads and batches
 * that were measured with the habit and without; NaN without any.
 */
static double step_habit(const struct sv_result *r, const char *name,
    struct sv_finding *f, const char *what)
{
	const struct sv_measurement *worst = NULL;
	char pattern[64];
	double most = NAN;

	snprintf(pattern, sizeof pattern, "step/time?habit=%s", name);
	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i], *base;

		if (!sv_figure_counts(pattern, m))
			continue;
		base = without_habit(r, m);
		if (base == NULL || !(base->summary.median > 0.0))
			continue;
		double ratio = m->summary.median / base->summary.median;

		if (isnan(most) || ratio > most) {
			most = ratio;
			worst = m;
		}
	}
	if (worst != NULL) {
		sv_rest_on(f, worst);
		sv_say(f,
		    "a training step takes up to %.2f times as long with "
		    "%s each step",
		    most, what);
	}
	return most;
}

/* What a habit costs, where that was measured. */
static void judge_ratio(double ratio, struct sv_finding *f)
{
	if (isfinite(ratio))
		sv_at_least(
		    f, ratio > WORTH_A_WORD ? SV_FINDING_WARN : SV_FINDING_OK);
}

void sv_judge_sync(const struct sv_result *r, struct sv_finding *f)
{
	const struct sv_measurement *readback =
	    sv_best_figure(r, "sync/readback");
	double ratio = habit(r, "sync", f, "a wait");
	double step = step_habit(r, "sync_every_step", f, "a wait");

	if (readback != NULL) {
		sv_rest_on(f, readback);
		sv_say(f,
		    "one read-back (.item()) costs %s beside the wait "
		    "for what is queued",
		    sv_figure_text(readback));
		sv_at_least(f, readback->summary.median > SLOW_READBACK_S
				   ? SV_FINDING_WARN
				   : SV_FINDING_OK);
	}
	judge_ratio(ratio, f);
	judge_ratio(step, f);
	if (f->status == SV_FINDING_UNKNOWN)
		sv_say(f, "waits were not measured");
}

void sv_judge_allocator(const struct sv_result *r, struct sv_finding *f)
{
	const struct sv_measurement *reset = NULL;
	double ratio = habit(r, "allocator", f, "a reset");
	double step = step_habit(r, "reset_every_step", f, "a reset");
	long long most = 0;

	/* The largest working set is what training has. */
	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (sv_figure_counts("allocator/reset", m) &&
		    sv_figure_param(m, "bytes", 0) > most) {
			most = sv_figure_param(m, "bytes", 0);
			reset = m;
		}
	}
	if (reset != NULL) {
		char size[SV_QUANTITY_BYTES];

		sv_rest_on(f, reset);
		sv_say(f, "emptying the cache and taking %s again costs %s",
		    sv_quantity_size(size, sizeof size, (double)most),
		    sv_figure_text(reset));
		sv_at_least(f, reset->summary.median > SLOW_RESET_S
				   ? SV_FINDING_WARN
				   : SV_FINDING_OK);
	}
	if (reset == NULL)
		judge_ratio(ratio, f);
	judge_ratio(step, f);
	if (f->status == SV_FINDING_UNKNOWN)
		sv_say(f, "the allocator was not measured");
}

/* The smallest batch that reaches FILLED of the best; 0 where none is known. */
static long long filling_batch(const struct sv_result *r, const char *precision,
    const struct sv_measurement **best)
{
	char pattern[96];
	long long least = 0;

	snprintf(pattern, sizeof pattern,
	    "gemm/throughput?shape=mlp&precision=%s", precision);
	*best = sv_best_figure(r, pattern);
	for (size_t i = 0; *best != NULL && i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];
		long long batch = sv_figure_param(m, "batch", 0);

		if (sv_figure_counts(pattern, m) &&
		    m->summary.median >= FILLED * (*best)->summary.median &&
		    batch > 0 && (least == 0 || batch < least))
			least = batch;
	}
	return least;
}

void sv_judge_batch(const struct sv_result *r, struct sv_finding *f)
{
	for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++) {
		const struct sv_measurement *best;
		long long batch = filling_batch(r, precisions[i], &best);

		if (batch == 0)
			continue;
		sv_rest_on(f, best);
		sv_say(f, "%s: 80 %% of %s from batch %lld on", precisions[i],
		    sv_figure_text(best), batch);
		sv_at_least(
		    f, batch > LARGE_BATCH ? SV_FINDING_WARN : SV_FINDING_OK);
	}
	if (f->status == SV_FINDING_UNKNOWN)
		sv_say(f, "GEMM by batch (shape mlp) was not measured");
}

/* The figure of another precision at the same sizes; NULL without one. */
static const struct sv_measurement *like(const struct sv_result *r,
    const struct sv_measurement *m, const char *precision)
{
	char pattern[256];

	snprintf(pattern, sizeof pattern,
	    "gemm/throughput?shape=square&precision=%s&m=%lld&n=%lld&k=%lld",
	    precision, sv_figure_param(m, "m", 0), sv_figure_param(m, "n", 0),
	    sv_figure_param(m, "k", 0));
	return sv_best_figure(r, pattern);
}

/* Major version of the card's compute capability, 0 where it is unknown. */
static int capability(const struct sv_result *r)
{
	return (int)json_integer_value(json_array_get(
	    json_object_get(r->device, "compute_capability"), 0));
}

void sv_judge_precision(const struct sv_result *r, struct sv_finding *f)
{
	const struct sv_measurement *full =
	    sv_best_figure(r, "gemm/throughput?shape=square&precision=fp32");
	const struct sv_measurement *half =
	    full != NULL ? like(r, full, "fp16") : NULL;
	const struct sv_measurement *tf32 =
	    full != NULL ? like(r, full, "tf32") : NULL;
	const char *override =
	    sv_seen_text(r->machine, "environment.NVIDIA_TF32_OVERRIDE");
	double ratio;

	if (override != NULL) {
		sv_say(f, "NVIDIA_TF32_OVERRIDE=%.20s is set", override);
		sv_at_least(f, SV_FINDING_WARN);
	}
	if (half == NULL && full != NULL)
		half = like(r, full, "bf16");
	if (full != NULL && tf32 != NULL) {
		sv_rest_on(f, tf32);
		sv_say(f, "TF32 GEMM is %.1f times as fast as FP32",
		    tf32->summary.median / full->summary.median);
	}
	if (half == NULL) {
		sv_say(f, "half-precision GEMM was not measured");
		return;
	}
	ratio = half->summary.median / full->summary.median;
	sv_rest_on(f, full);
	sv_rest_on(f, half);
	sv_say(f, "half-precision GEMM is %.1f times as fast as FP32", ratio);
	if (capability(r) > 0 && capability(r) < 7) {
		sv_say(f, "this card has no tensor cores: AMP saves memory, "
			  "no time");
		sv_at_least(f, SV_FINDING_OK);
		return;
	}
	sv_at_least(f, ratio < NO_TENSOR_CORES ? SV_FINDING_FAIL
		       : ratio < TENSOR_CORES  ? SV_FINDING_WARN
					       : SV_FINDING_OK);
}

void sv_judge_quality(const struct sv_result *r, struct sv_finding *f)
{
	size_t wrong = 0, impossible = 0;

	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (sv_figure_usable(m))
			continue;
		sv_rest_on(f, m);
		if (m->check == SV_CHECK_FAIL)
			wrong++;
		else
			impossible++;
	}
	if (r->n_measurements == 0 && r->n_failures == 0) {
		sv_say(f, "nothing was measured");
		return;
	}
	sv_say(f,
	    "%zu figures: %zu failed their check, %zu are impossible; "
	    "%zu cases were lost",
	    r->n_measurements, wrong, impossible, r->n_failures);
	if (r->n_failures > 0)
		sv_say(f, "%.60s: %.120s", r->failures[0].bench,
		    r->failures[0].reason);
	sv_at_least(f, wrong > 0			     ? SV_FINDING_FAIL
		       : impossible > 0 || r->n_failures > 0 ? SV_FINDING_WARN
							     : SV_FINDING_OK);
}
