/*
 * The project's kernels by name: the structure that each takes, what a launch
 * moves, and its effect in plain C. Names and structures are those that the
 * benchmarks launch; an unknown name is an unknown kernel.
 */
#include "sim.h"

#include <string.h>

#include "kernels.h"

/*
 * Wait until a word of pinned memory is no longer 0, or for a time: how a
 * backend holds a stream. Agreed with the backend, not a benchmark's kernel.
 */
struct hold_args {
	uint64_t flag, timeout_ns;
};

#define FLOAT_BYTES sizeof(float)

/* Count a range where it lies: in the device's memory, or over the link. */
static void count(struct sim_kernel_cost *cost, uint64_t address,
    uint64_t bytes, bool written)
{
	if (sim_is_device_address(address)) {
		cost->device_bytes += bytes;
		return;
	}
	cost->host = (const void *)(uintptr_t)address;
	if (written)
		cost->host_written += bytes;
	else
		cost->host_read += bytes;
}

/*
 * Do element-wise work: lazily where all of it is device memory; at once
 * where the device reads or writes the host's.
 */
static int do_work(const struct sim_work *work)
{
	struct sim_lazy *lazy;
	struct sim_place place;
	unsigned char *inputs[SIM_MAX_OPERANDS] = {NULL};
	unsigned char *out;
	bool host = !sim_is_device_address(work->output);
	int rc = 0;

	if (work->output_bytes == 0)
		return 0;
	for (size_t i = 0; i < work->n_in; i++)
		host |= !sim_is_device_address(work->in[i]);
	if (!host)
		return sim_work_do(work);
	lazy = sim_lazy_new(work->produce, work->output);
	memcpy(lazy->args, work->args, work->args_bytes);
	for (size_t i = 0; i < work->n_in && rc == 0; i++) {
		rc = sim_place_find(work->in[i], work->in_bytes[i], &place);
		if (rc == 0 && place.span != NULL) {
			inputs[i] = sim_span_read(
			    place.span, work->in[i], work->in_bytes[i]);
		} else if (rc == 0) {
			sim_host_will_read(place.host, work->in_bytes[i]);
			inputs[i] = place.host;
		}
		if (rc == 0 && place.span == NULL &&
		    !sim_host_is_pinned(place.host, work->in_bytes[i]))
			rc = SIM_ILLEGAL_ADDRESS;
		lazy->in[i].borrowed = inputs[i];
	}
	lazy->n_in = work->n_in;
	if (rc == 0)
		rc = sim_place_find(work->output, work->output_bytes, &place);
	if (rc == 0 && place.span == NULL &&
	    !sim_host_is_pinned(place.host, work->output_bytes))
		rc = SIM_ILLEGAL_ADDRESS;
	if (rc == 0) {
		out = place.host;
		if (place.span != NULL)
			out = sim_span_write(
			    place.span, work->output, work->output_bytes, NULL);
		else
			sim_host_will_write(out, work->output_bytes);
		work->produce(
		    lazy, work->output, work->output + work->output_bytes, out);
	}
	sim_lazy_unref(lazy);
	return rc;
}

/* --- busy --- */

static void busy_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	struct svk_busy_args args;

	memcpy(&args, op->args, sizeof args);
	cost->fixed_s = (double)args.ns / 1e9;
}

/* --- read: a sum, so that nothing is left out --- */

static void read_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	struct svk_read_args args;

	memcpy(&args, op->args, sizeof args);
	count(cost, args.src, args.n * FLOAT_BYTES, false);
}

static void produce_sum(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	struct svk_read_args args;
	const unsigned char *src;
	double sum = 0;
	float value;

	memcpy(&args, lazy->args, sizeof args);
	src = sim_operand_read(lazy, 0, 0, args.n * FLOAT_BYTES);
	for (uint64_t i = 0; i < args.n; i++) {
		memcpy(&value, src + i * FLOAT_BYTES, sizeof value);
		sum += value;
	}
	value = (float)sum;
	memcpy(out, (unsigned char *)&value + (from - lazy->output), to - from);
}

static int read_effect(struct sim_op *op)
{
	struct svk_read_args args;
	struct sim_work work = {
	    .produce = produce_sum,
	    .output_bytes = FLOAT_BYTES,
	    .n_in = 1,
	    .args = op->args,
	    .args_bytes = sizeof args,
	};

	memcpy(&args, op->args, sizeof args);
	work.output = args.out;
	work.in[0] = args.src;
	work.in_bytes[0] = args.n * FLOAT_BYTES;
	return do_work(&work);
}

/* --- write --- */

static void write_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	struct svk_write_args args;

	memcpy(&args, op->args, sizeof args);
	count(cost, args.dst, args.n * FLOAT_BYTES, true);
}

static void produce_value(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	struct svk_write_args args;
	unsigned char value[4];

	memcpy(&args, lazy->args, sizeof args);
	memcpy(value, &args.value, sizeof value);
	for (uint64_t i = 0; i < to - from; i++)
		out[i] = value[(from - lazy->output + i) % sizeof value];
}

static int write_effect(struct sim_op *op)
{
	struct svk_write_args args;
	struct sim_work work = {
	    .produce = produce_value,
	    .args = op->args,
	    .args_bytes = sizeof args,
	};

	memcpy(&args, op->args, sizeof args);
	work.output = args.dst;
	work.output_bytes = args.n * FLOAT_BYTES;
	return do_work(&work);
}

/* --- copy --- */

static void copy_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	struct svk_copy_args args;

	memcpy(&args, op->args, sizeof args);
	count(cost, args.src, args.n * FLOAT_BYTES, false);
	count(cost, args.dst, args.n * FLOAT_BYTES, true);
}

/* Only locked memory of the host has an address that the device follows. */
static bool can_reach(uint64_t address, uint64_t bytes)
{
	return sim_is_device_address(address) ||
	       sim_host_is_pinned((const void *)(uintptr_t)address, bytes);
}

/* What a copy engine does, and as seldom as it does it. */
static int copy_effect(struct sim_op *op)
{
	struct svk_copy_args args;
	struct sim_op copy = *op;

	memcpy(&args, op->args, sizeof args);
	copy.dst = args.dst;
	copy.src = args.src;
	copy.amount = args.n * FLOAT_BYTES;
	if (copy.amount > 0 && (!can_reach(copy.dst, copy.amount) ||
				   !can_reach(copy.src, copy.amount)))
		return SIM_ILLEGAL_ADDRESS;
	return sim_effect_copy(&copy);
}

/* --- triad: dst = a + scale · b --- */

static void triad_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	struct svk_triad_args args;

	memcpy(&args, op->args, sizeof args);
	count(cost, args.dst, args.n * FLOAT_BYTES, true);
	count(cost, args.a, args.n * FLOAT_BYTES, false);
	count(cost, args.b, args.n * FLOAT_BYTES, false);
}

static void produce_triad(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	uint64_t first = from - lazy->output, end = to - lazy->output;
	uint64_t low = first / FLOAT_BYTES * FLOAT_BYTES;
	uint64_t high = (end + FLOAT_BYTES - 1) / FLOAT_BYTES * FLOAT_BYTES;
	const unsigned char *a = sim_operand_read(lazy, 0, low, high - low);
	const unsigned char *b = sim_operand_read(lazy, 1, low, high - low);
	struct svk_triad_args args;

	memcpy(&args, lazy->args, sizeof args);
	for (uint64_t i = low; i < high; i += FLOAT_BYTES) {
		uint64_t head = i < first ? first - i : 0;
		uint64_t tail =
		    i + FLOAT_BYTES > end ? i + FLOAT_BYTES - end : 0;
		float x, y;

		memcpy(&x, a + (i - low), sizeof x);
		memcpy(&y, b + (i - low), sizeof y);
		x += args.scale * y;
		memcpy(out + (i + head - first), (unsigned char *)&x + head,
		    FLOAT_BYTES - head - tail);
	}
}

static int triad_effect(struct sim_op *op)
{
	struct svk_triad_args args;
	struct sim_work work = {
	    .produce = produce_triad,
	    .n_in = 2,
	    .args = op->args,
	    .args_bytes = sizeof args,
	};

	memcpy(&args, op->args, sizeof args);
	work.output = args.dst;
	work.output_bytes = args.n * FLOAT_BYTES;
	work.in[0] = args.a;
	work.in[1] = args.b;
	work.in_bytes[0] = work.in_bytes[1] = work.output_bytes;
	return do_work(&work);
}

static const struct sim_kernel kernels[] = {
    {"svk_null_64", 0, false, NULL, NULL},
    {"svk_null_1024", 0, false, NULL, NULL},
    {SV_KERNEL_NULL, 0, false, NULL, NULL},
    {SV_KERNEL_BUSY, sizeof(struct svk_busy_args), false, busy_cost, NULL},
    {SV_KERNEL_READ, sizeof(struct svk_read_args), false, read_cost,
	read_effect},
    {SV_KERNEL_WRITE, sizeof(struct svk_write_args), false, write_cost,
	write_effect},
    {SV_KERNEL_COPY, sizeof(struct svk_copy_args), false, copy_cost,
	copy_effect},
    {SV_KERNEL_TRIAD, sizeof(struct svk_triad_args), false, triad_cost,
	triad_effect},
    {"svk_hold", sizeof(struct hold_args), true, NULL, NULL},
};

const struct sim_kernel *sim_kernel_find(const char *name)
{
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	for (size_t i = 0; i < sim_transform_kernels_count; i++)
		if (strcmp(sim_transform_kernels[i].name, name) == 0)
			return &sim_transform_kernels[i];
	for (size_t i = 0; i < sim_step_kernels_count; i++)
		if (strcmp(sim_step_kernels[i].name, name) == 0)
			return &sim_step_kernels[i];
	return NULL;
}
