/*
 * The step put together from its stages: two clocks, host and device, that
 * wait for each other at synchronisations and resets.
 */
#include <math.h>
#include <string.h>

#include "step_model.h"

const char *sv_component_name(enum sv_component c)
{
	static const char *const names[] = {"storage", "preprocess", "transfer",
	    "dispatch", "gemm", "memory", "sync", "allocator", "exchange",
	    "spill", "unexplained"};

	return names[c];
}

/* Work of the device in one step, and the kernels that it is in. */
static double device_s(const struct sv_stages *s, double *kernels)
{
	double floor_s = s->dispatch.floor_s, memory_s = s->memory_s;
	double products = 0.0, product_s = 0.0, n, rest;

	for (size_t i = 0; i < s->gemm.n; i++) {
		products += s->gemm.list[i].count;
		product_s += s->gemm.list[i].each_s * s->gemm.list[i].count;
	}
	if (s->gemm.is_spread) {
		n = s->dispatch.kernels;
		*kernels = n;
		return fmax(n * floor_s, product_s + memory_s);
	}
	n = s->dispatch.kernels;
	product_s = 0.0;
	for (size_t i = 0; i < s->gemm.n; i++)
		product_s += s->gemm.list[i].count *
			     fmax(floor_s, s->gemm.list[i].each_s);
	rest = fmax(n - products, 0.0);
	*kernels = fmax(n, 0.0);
	return product_s + fmax(rest * floor_s, memory_s);
}

/*
 * From an idle queue until the last of n kernels has ended, as evenly mixed:
 * the first kernel starts a latency after its submission, and from then on
 * either the host or the device is always busy. The recursion start = max
 * (submitted + latency, end of the one before) has this closed form.
 */
static double drained_s(
    const struct sv_stages *s, double n, double host, double device)
{
	if (n < 1.0)
		return host + device;
	return s->dispatch.latency_s +
	       fmax(host + device / n, host / n + device);
}

/* The host's and the device's clocks over one step. */
static double core_s(const struct sv_stages *s)
{
	double n, device = device_s(s, &n);
	double host = n * s->dispatch.host_each_s;
	double waits = s->sync.count + s->allocator.count;
	double cost = s->sync.count * s->sync.each_s +
		      s->allocator.count * s->allocator.each_s;
	double flowing = fmax(host, device);

	/* With no wait, a step's tail hides the head of the next. */
	if (waits <= 0.0)
		return flowing;
	if (waits < 1.0)
		return (1.0 - waits) * flowing +
		       waits * fmax(drained_s(s, n, host, device), flowing) +
		       cost;
	return waits *
		   fmax(drained_s(s, n / waits, host / waits, device / waits),
		       flowing / waits) +
	       cost;
}

double sv_step_time(const struct sv_stages *s)
{
	double body = core_s(s), load;

	body += s->transfer.s - s->transfer.hidden * fmin(s->transfer.s, body);
	body += s->exchange_s + s->spill_s + s->unexplained_s;
	/* Workers read while others prepare; one alone does both in turn. */
	load = s->preprocess.is_async ? fmax(s->storage_s, s->preprocess.s)
				      : s->storage_s + s->preprocess.s;
	return s->preprocess.is_async ? fmax(load, body) : load + body;
}

double sv_stage_alone(const struct sv_stages *s, enum sv_component c)
{
	double products = 0.0;

	switch (c) {
	case SV_STORAGE:
		return s->storage_s;
	case SV_PREPROCESS:
		return s->preprocess.s;
	case SV_TRANSFER:
		return s->transfer.s;
	case SV_DISPATCH:
		return s->dispatch.kernels * s->dispatch.host_each_s;
	case SV_GEMM:
		for (size_t i = 0; i < s->gemm.n; i++)
			products +=
			    s->gemm.list[i].each_s * s->gemm.list[i].count;
		return products;
	case SV_MEMORY:
		return s->memory_s;
	case SV_SYNC:
		return s->sync.count * s->sync.each_s;
	case SV_ALLOCATOR:
		return s->allocator.count * s->allocator.each_s;
	case SV_EXCHANGE:
		return s->exchange_s;
	case SV_SPILL:
		return s->spill_s;
	default:
		return s->unexplained_s;
	}
}

void sv_stage_take(
    struct sv_stages *to, const struct sv_stages *from, enum sv_component c)
{
	switch (c) {
	case SV_STORAGE:
		to->storage_s = from->storage_s;
		break;
	case SV_PREPROCESS:
		to->preprocess = from->preprocess;
		break;
	case SV_TRANSFER:
		to->transfer = from->transfer;
		break;
	case SV_DISPATCH:
		to->dispatch = from->dispatch;
		break;
	case SV_GEMM:
		to->gemm = from->gemm;
		break;
	case SV_MEMORY:
		to->memory_s = from->memory_s;
		break;
	case SV_SYNC:
		to->sync = from->sync;
		break;
	case SV_ALLOCATOR:
		to->allocator = from->allocator;
		break;
	case SV_EXCHANGE:
		to->exchange_s = from->exchange_s;
		break;
	case SV_SPILL:
		to->spill_s = from->spill_s;
		break;
	default:
		to->unexplained_s = from->unexplained_s;
		break;
	}
}

void sv_stage_drop(struct sv_stages *s, enum sv_component c)
{
	struct sv_stages nothing = {.storage_s = 0.0};

	/* Whether there are workers, and how many kernels, is no cost. */
	nothing.preprocess.is_async = s->preprocess.is_async;
	nothing.dispatch.kernels = s->dispatch.kernels;
	nothing.gemm.is_spread = s->gemm.is_spread;
	sv_stage_take(s, &nothing, c);
}

enum sv_component sv_step_limit(const struct sv_stages *s)
{
	enum sv_component limit = SV_N_COMPONENTS;
	double shortest = sv_step_time(s);

	for (int c = 0; c < SV_UNEXPLAINED; c++) {
		struct sv_stages without = *s;
		double t;

		sv_stage_drop(&without, (enum sv_component)c);
		t = sv_step_time(&without);
		if (t < shortest) {
			shortest = t;
			limit = (enum sv_component)c;
		}
	}
	return limit;
}

static bool same_products(const struct sv_stages *a, const struct sv_stages *b)
{
	if (a->gemm.n != b->gemm.n || a->gemm.is_spread != b->gemm.is_spread)
		return false;
	for (size_t i = 0; i < a->gemm.n; i++)
		if (a->gemm.list[i].each_s != b->gemm.list[i].each_s ||
		    a->gemm.list[i].count != b->gemm.list[i].count)
			return false;
	return true;
}

bool sv_stage_equal(
    const struct sv_stages *a, const struct sv_stages *b, enum sv_component c)
{
	switch (c) {
	case SV_TRANSFER:
		return a->transfer.s == b->transfer.s &&
		       a->transfer.hidden == b->transfer.hidden;
	case SV_PREPROCESS:
		return a->preprocess.s == b->preprocess.s &&
		       a->preprocess.is_async == b->preprocess.is_async;
	case SV_DISPATCH:
		return a->dispatch.kernels == b->dispatch.kernels &&
		       a->dispatch.host_each_s == b->dispatch.host_each_s &&
		       a->dispatch.latency_s == b->dispatch.latency_s &&
		       a->dispatch.floor_s == b->dispatch.floor_s;
	case SV_GEMM:
		return same_products(a, b);
	case SV_SYNC:
		return a->sync.count == b->sync.count &&
		       a->sync.each_s == b->sync.each_s;
	case SV_ALLOCATOR:
		return a->allocator.count == b->allocator.count &&
		       a->allocator.each_s == b->allocator.each_s;
	default:
		return sv_stage_alone(a, c) == sv_stage_alone(b, c);
	}
}
