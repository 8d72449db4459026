/*
 * The arithmetic of a step. Kernels are taken as evenly spread: with a queue
 * as deep as drivers have it, what counts is whether the host or the device
 * is the slower of the two between two points where one waits for the other.
 */
#include "step_model.h"

#include <math.h>
#include <string.h>

#include "expression.h"

const char *sv_component_name(enum sv_component component)
{
	static const char *const names[] = {
#define SV_X(name, text) text,
	    SV_COMPONENTS(SV_X)
#undef SV_X
	};

	return names[component];
}

double sv_model_host_s(const struct sv_terms *t)
{
	return t->dispatch.kernels * t->dispatch.submit_s + t->dispatch.once_s;
}

double sv_model_device_s(const struct sv_terms *t)
{
	double others = t->dispatch.kernels - t->gemm.kernels;
	double floor_s = others > 0.0 ? others * t->dispatch.floor_s : 0.0;
	double small_s = fmax(t->memory.device_s, floor_s);
	double gemm_s =
	    fmax(t->gemm.device_s, t->gemm.kernels * t->dispatch.floor_s);

	return gemm_s + small_s + t->spill.spill_s;
}

/*
 * Host and device together. Between two waits the host issues n kernels of
 * cost c and the device runs n of time d; the first cannot start before it is
 * issued, the last not before it is issued either, and after a wait the
 * device has run dry, so that each segment pays the first launch's way.
 */
static double dispatch_and_device(const struct sv_terms *t)
{
	double host = sv_model_host_s(t), device = sv_model_device_s(t);
	double stops = t->sync.waits + t->allocator.resets;
	double extra = t->sync.waits * t->sync.wait_s +
		       t->allocator.resets * t->allocator.reset_s;
	double kernels = fmax(t->dispatch.kernels, 1.0);

	if (stops <= 0.0)
		return fmax(host, device) + extra;
	double per_kernel_host = host / kernels;
	double per_kernel_device = device / kernels;
	double segment = kernels / stops;
	double run = fmax(per_kernel_host + segment * per_kernel_device,
	    segment * per_kernel_host + per_kernel_device);

	return stops * (run + t->dispatch.latency_s) + extra;
}

static double joined(double a, double b, double overlap)
{
	return a + b - overlap * fmin(a, b);
}

double sv_model_step(const struct sv_terms *t)
{
	double work = joined(
	    dispatch_and_device(t), t->transfer.copy_s, t->transfer.overlap);
	double load = fmax(t->storage.fetch_s, t->preprocess.prepare_s);

	work += t->exchange.exchange_s;
	if (t->preprocess.in_line)
		return work + t->storage.fetch_s + t->preprocess.prepare_s;
	return fmax(work, load);
}

void sv_model_take(struct sv_terms *base, const struct sv_terms *other,
    enum sv_component component)
{
	switch (component) {
	case SV_STORAGE:
		base->storage = other->storage;
		break;
	case SV_PREPROCESS:
		base->preprocess = other->preprocess;
		break;
	case SV_TRANSFER:
		base->transfer = other->transfer;
		break;
	case SV_DISPATCH:
		base->dispatch = other->dispatch;
		break;
	case SV_GEMM:
		base->gemm = other->gemm;
		break;
	case SV_MEMORY:
		base->memory = other->memory;
		break;
	case SV_SYNC:
		base->sync = other->sync;
		break;
	case SV_ALLOCATOR:
		base->allocator = other->allocator;
		break;
	case SV_EXCHANGE:
		base->exchange = other->exchange;
		break;
	case SV_SPILL:
		base->spill = other->spill;
		break;
	case SV_N_COMPONENTS:
		break;
	}
}

void sv_model_lift(struct sv_terms *base, enum sv_component component)
{
	/* A step without the component still issues and runs the rest. */
	static const struct sv_terms nothing;
	struct sv_terms lifted = nothing;

	lifted.preprocess.in_line = base->preprocess.in_line;
	lifted.transfer.overlap = base->transfer.overlap;
	lifted.dispatch.kernels = base->dispatch.kernels;
	lifted.gemm.kernels = base->gemm.kernels;
	sv_model_take(base, &lifted, component);
}

static void note(const char **list, size_t *n, const char *what)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(list[i], what) == 0)
			return;
	if (*n < SV_MODEL_MAX_NOTES)
		list[(*n)++] = what;
}

/* Keep an input, and note when it is missing or beyond what was measured. */
static void keep(struct sv_model *model, struct sv_input *place,
    struct sv_input found, const char *what)
{
	*place = found;
	if (found.n == 0)
		note(model->missing, &model->n_missing, what);
	else if (found.extrapolated)
		note(model->extrapolated, &model->n_extrapolated, what);
}

static struct sv_input find(const struct sv_model *model, const char *bench,
    const char *metric, const struct sv_wanted *wanted, size_t n,
    const char *over, double at)
{
	const struct sv_query query = {.bench = bench,
	    .metric = metric,
	    .wanted = wanted,
	    .n_wanted = n,
	    .over = over,
	    .at = at,
	    .use_flagged = model->use_flagged};

	return sv_input_find(model->result, &query);
}

/* A launch figure: at 64 argument bytes, else whatever there is. */
static struct sv_input find_launch(
    const struct sv_model *model, const char *metric)
{
	return find(model, "launch", metric, NULL, 0, "args_bytes", 64.0);
}

static struct sv_input find_copy(const struct sv_model *model,
    const char *direction, const char *memory, double bytes)
{
	const struct sv_wanted wanted[] = {
	    {"direction", direction, 0.0}, {"memory", memory, 0.0}};

	return find(model, "transfer", "bandwidth", wanted, 2, "bytes", bytes);
}

static bool asked(double value)
{
	return !isnan(value) && value > 0.0;
}

static void prepare_launch(struct sv_model *model)
{
	if (!asked(model->workload->kernels_per_step))
		return;
	keep(model, &model->submit, find_launch(model, "submit"),
	    "launch/submit");
	keep(model, &model->gap, find_launch(model, "gap"), "launch/gap");
	model->roundtrip = find_launch(model, "roundtrip");
	if (model->workload->graphs)
		keep(model, &model->graph_node,
		    find(model, "launch", "graph", NULL, 0, "nodes",
			model->workload->kernels_per_step),
		    "launch/graph");
}

static int add_product(struct sv_model *model,
    const struct sv_workload_gemm *sizes, double flop_in_all,
    struct sv_err *err)
{
	const char *const texts[] = {
	    sizes->m, sizes->n, sizes->k, sizes->count};
	double size[4];

	for (size_t i = 0; i < 4; i++) {
		int code =
		    sv_expression_value(texts[i], model->batch, &size[i], err);

		if (code != 0)
			return code;
		if (size[i] <= 0.0)
			return sv_err_set(err, SV_EINPUT,
			    "gemm size \"%.80s\": expected more than 0 at "
			    "batch %g",
			    texts[i], model->batch);
	}
	double element = strcmp(model->gemm_precision, "fp64") == 0 ? 8.0
			 : strcmp(model->gemm_precision, "fp16") == 0 ||
				 strcmp(model->gemm_precision, "bf16") == 0
			     ? 2.0
			     : 4.0;
	size_t i = model->n_gemm++;

	model->gemm[i].flop = 2.0 * size[0] * size[1] * size[2];
	model->gemm[i].bytes =
	    element *
	    (size[0] * size[2] + size[2] * size[1] + size[0] * size[1]);
	model->gemm[i].count =
	    flop_in_all > 0.0 ? flop_in_all / model->gemm[i].flop : size[3];
	keep(model, &model->gemm[i].rate,
	    sv_input_gemm(model->result, model->gemm_precision, size[0],
		size[1], size[2], model->use_flagged),
	    "gemm/throughput");
	return 0;
}

/* The shape taken where a workload gives FLOP and no shape. */
static const struct sv_workload_gemm usual_shape = {
    "4096", "4096", "4096", "1"};

static int prepare_gemm(struct sv_model *model, struct sv_err *err)
{
	const struct sv_workload *w = model->workload;

	for (size_t i = 0; i < w->n_gemm; i++) {
		int code = add_product(model, &w->gemm[i], 0.0, err);

		if (code != 0)
			return code;
	}
	if (w->n_gemm > 0 || !asked(w->gemm_flop_per_sample))
		return 0;
	return add_product(model,
	    w->gemm_shape.m != NULL ? &w->gemm_shape : &usual_shape,
	    w->gemm_flop_per_sample * model->batch, err);
}

static double memory_bytes(const struct sv_model *model)
{
	const struct sv_workload *w = model->workload;
	double sample = model->amp_bytes ? w->memory_bytes_per_sample_amp
					 : w->memory_bytes_per_sample_fp32;
	double step = model->amp_bytes ? w->memory_bytes_per_step_amp
				       : w->memory_bytes_per_step_fp32;

	return (asked(sample) ? sample * model->batch : 0.0) +
	       (asked(step) ? step : 0.0);
}

static void prepare_memory(struct sv_model *model)
{
	/* Far beyond any cache: the largest size that was measured. */
	static const double far = 1e15;
	const struct sv_wanted copy[] = {{"op", "copy", 0.0}};
	const struct sv_wanted triad[] = {{"op", "triad", 0.0}};
	struct sv_input found =
	    find(model, "memory", "bandwidth", copy, 1, "bytes", far);

	if (found.n == 0)
		found =
		    find(model, "memory", "bandwidth", triad, 1, "bytes", far);
	found.extrapolated = false;
	model->bandwidth = found;
	if (memory_bytes(model) > 0.0 && found.n == 0)
		note(model->missing, &model->n_missing, "memory/bandwidth");
}

static double working_set(const struct sv_workload *w, double batch)
{
	double fixed = w->working_set_fixed_bytes;
	double sample = w->working_set_bytes_per_sample;

	return (asked(fixed) ? fixed : 0.0) +
	       (asked(sample) ? sample * batch : 0.0);
}

static void prepare_transfer(struct sv_model *model)
{
	const struct sv_workload *w = model->workload;
	const char *memory = model->pinned ? "pinned" : "pageable";
	const struct sv_wanted direction[] = {{"direction", "h2d", 0.0}};
	double bytes = asked(w->h2d_bytes_per_sample)
			   ? w->h2d_bytes_per_sample * model->batch
			   : 0.0;

	if (bytes > 0.0)
		keep(model, &model->h2d, find_copy(model, "h2d", memory, bytes),
		    "transfer/bandwidth?direction=h2d");
	if (asked(w->d2h_bytes_per_step))
		keep(model, &model->d2h,
		    find_copy(model, "d2h", memory, w->d2h_bytes_per_step),
		    "transfer/bandwidth?direction=d2h");
	model->overlap =
	    find(model, "overlap", "efficiency", direction, 1, NULL, 0.0);
	if (working_set(w, model->batch) > 0.0)
		model->pageable_h2d = find_copy(model, "h2d", "pageable", 1e15);
}

static void prepare_waits(struct sv_model *model)
{
	const struct sv_workload *w = model->workload;

	if (asked(w->syncs_per_step)) {
		model->wait = find(model, "sync", "wait", NULL, 0, NULL, 0.0);
		keep(model, &model->readback,
		    find(model, "sync", "readback", NULL, 0, NULL, 0.0),
		    "sync/readback");
	}
	if (!asked(w->resets_per_step))
		return;
	keep(model, &model->reset,
	    find(model, "allocator", "reset", NULL, 0, "bytes",
		fmax(working_set(w, model->batch), 1.0)),
	    "allocator/reset");
}

static void prepare_loader(struct sv_model *model)
{
	const struct sv_workload *w = model->workload;
	double workers = fmax(w->loader_workers, 1.0);
	const struct sv_wanted cold[] = {
	    {"cache", "cold", 0.0}, {"layout", "files", 0.0}};
	const struct sv_wanted work[] = {
	    {"where", "cpu", 0.0}, {"work", w->sample_work, 0.0}};

	if (asked(w->sample_bytes))
		keep(model, &model->fetch,
		    find(model, "storage", "rate", cold, 2, "threads", workers),
		    "storage/rate");
	if (w->sample_work != NULL)
		keep(model, &model->prepare,
		    find(model, "preprocess", "rate", work, 2, "workers",
			workers),
		    "preprocess/rate");
}

static double number_field(const struct sv_result *result, const char *path)
{
	json_t *value = sv_result_field(result->device, path);

	return json_is_number(value) ? json_number_value(value) : 0.0;
}

static double sample_bytes_measured(const struct sv_model *model)
{
	const struct sv_measurement *m;

	if (model->fetch.n == 0)
		return 0.0;
	m = &model->result->measurements[model->fetch.from[0]];
	for (size_t i = 0; i < m->n_params; i++)
		if (strcmp(m->params[i].name, "sample_bytes") == 0 &&
		    m->params[i].text == NULL)
			return (double)m->params[i].number;
	return 0.0;
}

int sv_model_prepare(struct sv_model *model, const struct sv_result *result,
    const struct sv_workload *workload, bool use_flagged, struct sv_err *err)
{
	int code;

	memset(model, 0, sizeof *model);
	model->result = result;
	model->workload = workload;
	model->batch = workload->batch;
	model->use_flagged = use_flagged;
	model->pinned = strcmp(workload->memory, "pinned") == 0;
	model->amp_bytes = strcmp(workload->precision, "amp") == 0 ||
			   strcmp(workload->precision, "fp16") == 0 ||
			   strcmp(workload->precision, "bf16") == 0;
	model->gemm_precision = strcmp(workload->precision, "amp") == 0
				    ? workload->amp_type
				    : workload->precision;
	model->memory_bytes_free = number_field(result, "memory_free_bytes");
	if (model->memory_bytes_free == 0.0)
		model->memory_bytes_free = number_field(result, "memory_bytes");

	prepare_launch(model);
	if ((code = prepare_gemm(model, err)) != 0)
		return code;
	prepare_memory(model);
	prepare_transfer(model);
	prepare_waits(model);
	prepare_loader(model);
	if (workload->gpus > 1.0 && asked(workload->gradient_bytes))
		keep(model, &model->peer,
		    find(model, "peer", "bandwidth", NULL, 0, NULL, 0.0),
		    "peer/bandwidth");
	return 0;
}

/* An input's value, 0 where it was not measured. */
static double value(const struct sv_input *input, const double *medians)
{
	return input->n > 0 ? sv_input_value(input, medians) : 0.0;
}

/* amount / rate, 0 where the rate was not measured. */
static double seconds(double amount, double rate)
{
	return rate > 0.0 && amount > 0.0 ? amount / rate : 0.0;
}

static void dispatch_terms(
    const struct sv_model *model, const double *medians, struct sv_terms *out)
{
	const struct sv_workload *w = model->workload;
	double submit = value(&model->submit, medians);
	double floor_s = value(&model->gap, medians);
	double round = value(&model->roundtrip, medians);

	if (!asked(w->kernels_per_step))
		return;
	out->dispatch.kernels = w->kernels_per_step;
	out->dispatch.submit_s = submit * w->dispatch_factor;
	out->dispatch.floor_s = floor_s;
	out->dispatch.latency_s = fmax(0.0, round - submit - floor_s);
	if (w->graphs && model->graph_node.n > 0) {
		/* One launch replays all; nodes follow at their own pace. */
		out->dispatch.once_s = out->dispatch.submit_s;
		out->dispatch.submit_s = 0.0;
		out->dispatch.floor_s = value(&model->graph_node, medians);
	}
}

static void gemm_terms(
    const struct sv_model *model, const double *medians, struct sv_terms *out)
{
	double bandwidth = value(&model->bandwidth, medians);

	for (size_t i = 0; i < model->n_gemm; i++) {
		double rate = value(&model->gemm[i].rate, medians);
		double one = fmax(seconds(model->gemm[i].flop, rate),
		    seconds(model->gemm[i].bytes, bandwidth));

		/* Without its rate a product is not modelled at all. */
		if (rate <= 0.0)
			continue;
		out->gemm.device_s += model->gemm[i].count * one;
		if (model->workload->n_gemm > 0)
			out->gemm.kernels += model->gemm[i].count;
	}
}

static void transfer_terms(
    const struct sv_model *model, const double *medians, struct sv_terms *out)
{
	const struct sv_workload *w = model->workload;
	double overlap =
	    model->overlap.n > 0 ? value(&model->overlap, medians) : 1.0;

	out->transfer.copy_s =
	    seconds(asked(w->h2d_bytes_per_sample)
			? w->h2d_bytes_per_sample * model->batch
			: 0.0,
		value(&model->h2d, medians)) +
	    seconds(asked(w->d2h_bytes_per_step) ? w->d2h_bytes_per_step : 0.0,
		value(&model->d2h, medians));
	/* A pageable copy waits for the stream before it starts. */
	if (model->pinned && w->prefetch)
		out->transfer.overlap = fmin(fmax(overlap, 0.0), 1.0);
}

static void loader_terms(
    const struct sv_model *model, const double *medians, struct sv_terms *out)
{
	const struct sv_workload *w = model->workload;
	double measured = sample_bytes_measured(model);
	/* Larger samples take longer in proportion, smaller ones do not. */
	double scale = measured > 0.0
			   ? fmax(w->sample_files, w->sample_bytes / measured)
			   : 1.0;

	out->storage.fetch_s =
	    seconds(model->batch * scale, value(&model->fetch, medians));
	out->preprocess.prepare_s =
	    seconds(model->batch, value(&model->prepare, medians));
	out->preprocess.in_line = w->loader_workers < 1.0 || !w->prefetch;
}

static void spill_terms(
    const struct sv_model *model, const double *medians, struct sv_terms *out)
{
	double over = working_set(model->workload, model->batch) -
		      model->memory_bytes_free;

	if (model->memory_bytes_free <= 0.0 || over <= 0.0)
		return;
	/* What does not fit crosses the link in and out every step. */
	out->spill.spill_s =
	    seconds(2.0 * over, value(&model->pageable_h2d, medians));
}

void sv_model_terms(
    const struct sv_model *model, const double *medians, struct sv_terms *out)
{
	const struct sv_workload *w = model->workload;

	memset(out, 0, sizeof *out);
	dispatch_terms(model, medians, out);
	gemm_terms(model, medians, out);
	out->memory.device_s =
	    seconds(memory_bytes(model), value(&model->bandwidth, medians));
	transfer_terms(model, medians, out);
	loader_terms(model, medians, out);
	spill_terms(model, medians, out);
	if (asked(w->syncs_per_step)) {
		out->sync.waits = w->syncs_per_step;
		out->sync.wait_s = model->readback.n > 0
				       ? value(&model->readback, medians)
				       : value(&model->wait, medians);
	}
	if (asked(w->resets_per_step)) {
		out->allocator.resets = w->resets_per_step;
		out->allocator.reset_s = value(&model->reset, medians);
	}
	if (model->peer.n > 0)
		/* Ring all-reduce: every byte crosses 2 (g - 1) / g times. */
		out->exchange.exchange_s =
		    seconds(2.0 * (w->gpus - 1.0) / w->gpus * w->gradient_bytes,
			value(&model->peer, medians));
}

static size_t add_ids(const struct sv_model *model,
    const struct sv_input *input, const char **ids, size_t n, size_t max)
{
	for (size_t i = 0; i < input->n; i++) {
		const char *id = model->result->measurements[input->from[i]].id;
		bool known = false;

		for (size_t j = 0; j < n; j++)
			known = known || strcmp(ids[j], id) == 0;
		if (!known && n < max)
			ids[n++] = id;
	}
	return n;
}

size_t sv_model_evidence(const struct sv_model *model,
    enum sv_component component, const char **ids, size_t max)
{
	const struct sv_input *inputs[4] = {NULL};
	size_t n = 0;

	switch (component) {
	case SV_STORAGE:
		inputs[0] = &model->fetch;
		break;
	case SV_PREPROCESS:
		inputs[0] = &model->prepare;
		break;
	case SV_TRANSFER:
		inputs[0] = &model->h2d;
		inputs[1] = &model->d2h;
		inputs[2] = &model->overlap;
		break;
	case SV_DISPATCH:
		inputs[0] = &model->submit;
		inputs[1] = &model->gap;
		inputs[2] = &model->roundtrip;
		inputs[3] = &model->graph_node;
		break;
	case SV_GEMM:
		for (size_t i = 0; i < model->n_gemm; i++)
			n = add_ids(model, &model->gemm[i].rate, ids, n, max);
		break;
	case SV_MEMORY:
		inputs[0] = &model->bandwidth;
		break;
	case SV_SYNC:
		inputs[0] = &model->readback;
		break;
	case SV_ALLOCATOR:
		inputs[0] = &model->reset;
		break;
	case SV_EXCHANGE:
		inputs[0] = &model->peer;
		break;
	case SV_SPILL:
		inputs[0] = &model->pageable_h2d;
		break;
	case SV_N_COMPONENTS:
		break;
	}
	for (size_t i = 0; i < 4 && inputs[i] != NULL; i++)
		n = add_ids(model, inputs[i], ids, n, max);
	return n;
}
