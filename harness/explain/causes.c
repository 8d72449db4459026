/* The list of causes: what gets on it, in which order, and what does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "quantity.h"
#include "stave/units.h"

const char *sv_case_text(struct sv_case *c, const char *fmt, ...)
{
	char text[600];
	const char *copy;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	copy = sv_result_text(c->x->store, text);
	if (copy == NULL && c->code == 0)
		c->code =
		    sv_err_set(c->err, SV_ERESOURCE, "explain: out of memory");
	return copy != NULL ? copy : "";
}

static json_t *field(const struct sv_case *c, bool of_b, const char *path)
{
	const struct sv_result *r = of_b ? c->request->b : c->request->a;
	bool machine = strncmp(path, "machine.", 8) == 0;

	return sv_result_field(
	    machine ? r->machine : r->device, path + (machine ? 8 : 7));
}

double sv_case_number(const struct sv_case *c, bool of_b, const char *path)
{
	const json_t *value = field(c, of_b, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *sv_case_word(const struct sv_case *c, bool of_b, const char *path)
{
	return json_string_value(field(c, of_b, path));
}

/* The list of products in the arena: it outlives its plan. */
static int keep_products(struct sv_case *c, struct sv_stages *s)
{
	struct sv_gemm_time *list =
	    sv_result_bytes(c->x->store, (s->gemm.n + 1) * sizeof *list);

	if (list == NULL)
		return sv_err_set(
		    c->err, SV_ERESOURCE, "explain: out of memory");
	memcpy(list, s->gemm.list, s->gemm.n * sizeof *list);
	s->gemm.list = list;
	return 0;
}

/* One side's stages at the medians, and what it lacks. */
static int side_stages(struct sv_case *c, const struct sv_side *side,
    struct sv_step_facts *facts, struct sv_stages *out)
{
	struct sv_step_plan *plan = NULL;
	int code = sv_step_plan_new(side, c->memory_op, facts, &plan, c->err);

	*out = (struct sv_stages){.storage_s = 0.0};
	if (code == 0) {
		sv_step_stages(plan, side->in->medians, out);
		code = keep_products(c, out);
	}
	sv_step_plan_free(plan);
	return code;
}

void sv_case_both(struct sv_case *c, const struct sv_side *a,
    const struct sv_side *b, struct sv_stages *out_a, struct sv_stages *out_b)
{
	struct sv_step_facts facts_a, facts_b;
	int code = side_stages(c, a, &facts_a, out_a);

	if (code == 0)
		code = side_stages(c, b, &facts_b, out_b);
	if (code != 0) {
		*out_a = c->stages_a;
		*out_b = c->stages_b;
		if (c->code == 0)
			c->code = code;
		return;
	}
	/* What the model misses of a sample, it misses at every batch. */
	out_a->unexplained_s =
	    c->stages_a.unexplained_s * (double)a->batch / (double)c->a.batch;
	out_b->unexplained_s =
	    c->stages_b.unexplained_s * (double)b->batch / (double)c->b.batch;
	for (int i = 0; i < SV_N_COMPONENTS; i++)
		if (facts_a.missing[i] || facts_b.missing[i] ||
		    c->facts_a.missing[i] || c->facts_b.missing[i]) {
			sv_stage_drop(out_a, (enum sv_component)i);
			sv_stage_drop(out_b, (enum sv_component)i);
		}
}

void sv_case_stages(
    struct sv_case *c, const struct sv_side *side, struct sv_stages *out)
{
	struct sv_stages a;
	struct sv_side other = c->a;

	/* A at the same batch lacks what it lacks there. */
	other.batch = side->batch;
	sv_case_both(c, &other, side, &a, out);
}

bool sv_case_lift(const struct sv_case *c, struct sv_suspect *f,
    const struct sv_stages *lifted)
{
	double saved_s = sv_step_time(&c->mended) - sv_step_time(lifted);

	f->lifted_s = c->shares.b_s - saved_s;
	return c->code == 0 && saved_s >= SV_LEAST_GAIN * c->shares.b_s;
}

bool sv_case_has(const struct sv_case *c, const char *code)
{
	for (size_t i = 0; i < c->n_causes; i++)
		if (strcmp(c->causes[i].code, code) == 0)
			return true;
	return false;
}

/* Ids of a component on B, then fields. */
static const char *const *evidence_of(
    struct sv_case *c, const struct sv_suspect *f, size_t *n)
{
	const struct sv_evidence *e = &c->facts_b.evidence[f->component];
	const char **list =
	    sv_result_bytes(c->x->store, (e->n + 4) * sizeof *list);

	*n = 0;
	if (list == NULL) {
		if (c->code == 0)
			c->code = sv_err_set(
			    c->err, SV_ERESOURCE, "explain: out of memory");
		return NULL;
	}
	for (size_t i = 0; i < e->n; i++)
		list[(*n)++] = c->request->b->measurements[e->index[i]].id;
	for (size_t i = 0; i < 4 && f->fields[i] != NULL; i++)
		list[(*n)++] = f->fields[i];
	return list;
}

void sv_case_add(struct sv_case *c, const struct sv_suspect *f)
{
	double saved = c->shares.b_s - f->lifted_s;
	struct sv_cause *cause;

	if (c->n_causes == SV_MAX_CAUSES)
		return;
	cause = &c->causes[c->n_causes];
	*cause = (struct sv_cause){.code = f->code,
	    .share_s = f->share_s,
	    .claim = f->claim,
	    .remedy = f->remedy,
	    .falsify = f->falsify,
	    .gain_step_s = f->lifted_s,
	    .gain_speedup = c->shares.b_s / f->lifted_s};
	cause->evidence = evidence_of(c, f, &cause->n_evidence);
	/* What is as designed cannot be lifted: it counts as what it adds. */
	c->keys[c->n_causes++] =
	    f->is_explanation ? f->share_s : fmax(f->share_s, saved);
}

void sv_case_rule_out(
    struct sv_case *c, const char *code, const char *evidence, const char *why)
{
	if (sv_case_has(c, code) || c->n_ruled_out == SV_MAX_RULED_OUT)
		return;
	c->ruled_out[c->n_ruled_out++] =
	    (struct sv_ruled_out){code, why, evidence};
}

static double ms(double seconds)
{
	return 1e3 * seconds;
}

static void rule_out_link(struct sv_case *c)
{
	double width = sv_case_number(c, true, "device.pcie.under_load.width");
	double gen =
	    sv_case_number(c, true, "device.pcie.under_load.generation");
	double idle = sv_case_number(c, true, "device.pcie.generation");
	double most = sv_case_number(c, true, "device.pcie.max_width");
	double newest = sv_case_number(c, true, "device.pcie.max_generation");
	double step = c->shares.b_s, copy = c->stages_b.transfer.s, x;
	const char *because =
	    sv_case_has(c, "NUMA_REMOTE")
		? "the card's own node copies as fast as the link carries"
	    : c->stages_b.transfer.hidden > 0.5
		? sv_case_text(c,
		      "a step of %.3g ms copies for %.3g ms and "
		      "hides that behind its kernels",
		      ms(step), ms(copy))
		: sv_case_text(c, "a step of %.3g ms copies for %.3g ms only",
		      ms(step), ms(copy));

	if (width < most || gen < newest)
		sv_case_rule_out(c, "PCIE_LINK", "device.pcie.under_load",
		    sv_case_text(c,
			"the link runs at Gen%.0f x%.0f where the card could "
			"do Gen%.0f x%.0f, but %s",
			gen, width, newest, most, because));
	else if (idle < gen)
		sv_case_rule_out(c, "PCIE_LINK", "device.pcie.under_load",
		    sv_case_text(c,
			"the link reads Gen%.0f at rest to save power; under "
			"load it is Gen%.0f x%.0f and copies reach %.1f GB/s",
			idle, gen, width,
			1e-9 *
			    sv_curve_best(c->in_b, SV_CURVE_H2D_PINNED, &x)));
}

static void rule_out_power(struct sv_case *c)
{
	double limit = sv_case_number(c, true, "device.power.limit_w");
	double own = sv_case_number(c, true, "device.power.default_limit_w");
	double draw = sv_case_number(c, true, "device.power.draw_under_load_w");

	if (draw < 0.5 * limit)
		sv_case_rule_out(c, "POWER_LIMIT",
		    "device.power.draw_under_load_w",
		    sv_case_text(c,
			"the card draws %.0f of %.0f W: a symptom of a card "
			"that waits, and no limit",
			draw, limit));
	else if (limit < 0.95 * own)
		sv_case_rule_out(c, "POWER_LIMIT", "device.power.limit_w",
		    sv_case_text(c,
			"the limit of %.0f W is below the card's own %.0f W "
			"but does not bind: it draws %.0f W",
			limit, own, draw));
	if (sv_case_number(c, true, "device.temperature_under_load_C") >= 83.0)
		sv_case_rule_out(c, "THERMAL",
		    "device.temperature_under_load_C",
		    "the card is warm, but gives heat as a reason in none of "
		    "the measured time that this step depends on");
}

static void rule_out_host(struct sv_case *c)
{
	double node = sv_case_number(c, true, "machine.binding.node");
	double card = sv_case_number(c, true, "device.pcie.numa_node");
	const char *governor = sv_case_word(c, true, "machine.cpu.governor");
	const char *model = sv_case_word(c, true, "device.driver.model");
	const char *disk = sv_case_word(c, true, "machine.storage.transport");

	if (node >= 0.0 && card >= 0.0 && node != card)
		sv_case_rule_out(c, "NUMA_REMOTE", "machine.binding.node",
		    "the process is bound to another node than the card's, "
		    "but what the step copies does not suffer from it");
	if (governor != NULL && strcmp(governor, "performance") != 0)
		sv_case_rule_out(c, "HOST_CPU", "machine.cpu.governor",
		    sv_case_text(c,
			"the governor is %s, but the host's work costs this "
			"step no more for it",
			governor));
	if (model != NULL &&
	    (strcmp(model, "wddm") == 0 || strcmp(model, "wsl") == 0))
		sv_case_rule_out(c, "DRIVER_MODEL", "device.driver.model",
		    sv_case_text(c,
			"the driver model is %s, but waits and launches cost "
			"this step no more than A's",
			model));
	if (disk != NULL && c->stages_b.storage_s > 0.0 &&
	    strcmp(disk, "nvme") != 0 && strcmp(disk, "memory") != 0)
		sv_case_rule_out(c, "STORAGE", "machine.storage.transport",
		    sv_case_text(c,
			"the data is on %s, but a step's samples are read in "
			"%.3g ms of %.3g ms",
			disk, ms(c->stages_b.storage_s), ms(c->shares.b_s)));
}

void sv_causes_rule_out(struct sv_case *c)
{
	rule_out_link(c);
	rule_out_power(c);
	rule_out_host(c);
}

static const char *needed_for(enum sv_component limit)
{
	static const char *const needs[] = {
	    [SV_STORAGE] = "faster storage",
	    [SV_PREPROCESS] = "faster preparation of samples",
	    [SV_TRANSFER] = "fewer bytes over the link",
	    [SV_DISPATCH] = "fewer or larger kernels",
	    [SV_GEMM] = "a card with faster products, or a lower precision",
	    [SV_MEMORY] = "fewer bytes, or a card with faster memory",
	    [SV_SYNC] = "fewer waits",
	    [SV_ALLOCATOR] = "fewer resets",
	    [SV_EXCHANGE] = "fewer gradients to exchange",
	    [SV_SPILL] = "a smaller working set",
	};

	return limit < SV_N_COMPONENTS ? needs[limit] : "a step to make";
}

static void no_fault(struct sv_case *c)
{
	struct sv_suspect f = {.code = "NO_FAULT",
	    .lifted_s = c->shares.b_s,
	    .remedy = "nothing to mend",
	    .falsify = "a measured step that takes clearly longer than this "
		       "model says",
	    .component = c->limit_b < SV_N_COMPONENTS ? c->limit_b : SV_GEMM};

	f.claim = sv_case_text(c,
	    "No part of B is held back: its step is limited by %s, as "
	    "designed, and a faster one would need %s.",
	    c->limit_b < SV_N_COMPONENTS ? sv_component_name(c->limit_b)
					 : "nothing",
	    needed_for(c->limit_b));
	sv_case_add(c, &f);
}

void sv_causes_rank(struct sv_case *c)
{
	if (c->n_causes == 0)
		no_fault(c);
	/* A few entries: insertion, and those alike keep their order. */
	for (size_t i = 1; i < c->n_causes; i++) {
		struct sv_cause cause = c->causes[i];
		double key = c->keys[i];
		size_t k = i;

		for (; k > 0 && c->keys[k - 1] < key; k--) {
			c->causes[k] = c->causes[k - 1];
			c->keys[k] = c->keys[k - 1];
		}
		c->causes[k] = cause;
		c->keys[k] = key;
	}
	for (size_t i = 0; i < c->n_causes; i++)
		c->causes[i].rank = i + 1;
}
