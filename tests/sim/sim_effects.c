/*
 * What operations do to memory when they end, computed as late as possible
 * and never twice: work that is the same as before, on contents that are the
 * same, is known to change nothing. The arithmetic of GEMM and of kernels is
 * in their own files.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define MEMOS 16384 /* a power of two */

/* What was done to what; padding is zeroed, for it is compared as bytes. */
struct memo {
	struct memo_key {
		sim_produce_fn *what;
		uint64_t output, output_bytes;
		uint64_t in[SIM_MAX_OPERANDS], in_bytes[SIM_MAX_OPERANDS];
		uint64_t n_in;
		unsigned char args[sizeof(struct sim_gemm)];
	} key;
	uint64_t after; /* version of the output then */
	uint64_t before[SIM_MAX_OPERANDS];
};

static struct memo *memos;

bool sim_is_device_address(uint64_t address)
{
	return address >> 40 >= 1 && address >> 40 <= SIM_MAX_DEVICES;
}

int sim_place_find(uint64_t address, uint64_t bytes, struct sim_place *out)
{
	out->span = NULL;
	out->host = NULL;
	if (sim_is_device_address(address)) {
		out->span = sim_span_find(address, bytes);
		return out->span == NULL ? SIM_ILLEGAL_ADDRESS : 0;
	}
	/* With unified addressing the device uses the host's own address. */
	out->host = (unsigned char *)(uintptr_t)address;
	return address == 0 ? SIM_ILLEGAL_ADDRESS : 0;
}

/* --- remembering --- */

static uint64_t version_at(uint64_t address, uint64_t bytes)
{
	struct sim_place place;

	if (bytes == 0 || sim_place_find(address, bytes, &place) != 0)
		return 0;
	if (place.span != NULL)
		return sim_span_version(place.span, address, bytes);
	return sim_host_version(place.host, bytes);
}

static void make_key(struct memo_key *key, const struct sim_work *work)
{
	memset(key, 0, sizeof *key);
	key->what = work->produce;
	key->output = work->output;
	key->output_bytes = work->output_bytes;
	key->n_in = work->n_in;
	for (size_t i = 0; i < work->n_in; i++) {
		key->in[i] = work->in[i];
		key->in_bytes[i] = work->in_bytes[i];
	}
	memcpy(key->args, work->args, work->args_bytes);
}

static struct memo *memo_of(const struct memo_key *key)
{
	const unsigned char *p = (const unsigned char *)key;
	uint64_t hash = 14695981039346656037u, word;

	if (memos == NULL)
		memos = calloc(MEMOS, sizeof *memos);
	if (memos == NULL)
		abort();
	for (size_t i = 0; i + sizeof word <= sizeof *key; i += sizeof word) {
		memcpy(&word, p + i, sizeof word);
		hash = (hash ^ word) * 1099511628211u;
		hash ^= hash >> 32;
	}
	return &memos[hash % MEMOS];
}

/* Whether this was done before and everything is still as it left it. */
static bool done_before(const struct memo_key *key)
{
	const struct memo *memo = memo_of(key);
	uint64_t now;

	if (memo->after == 0 || memcmp(&memo->key, key, sizeof *key) != 0)
		return false;
	for (size_t i = 0; i < key->n_in; i++) {
		now = version_at(key->in[i], key->in_bytes[i]);
		if (now == 0 || now != memo->before[i])
			return false;
	}
	return version_at(key->output, key->output_bytes) == memo->after;
}

/*
 * Called after the work was done. A version of 0 matches nothing later; nor
 * may work that changed its own input be left out the next time.
 */
static void remember(const struct memo_key *key)
{
	struct memo *memo = memo_of(key);

	memo->key = *key;
	memo->after = version_at(key->output, key->output_bytes);
	for (size_t i = 0; i < key->n_in; i++) {
		memo->before[i] = version_at(key->in[i], key->in_bytes[i]);
		if (key->in[i] < key->output + key->output_bytes &&
		    key->output < key->in[i] + key->in_bytes[i])
			memo->after = 0;
	}
}

void sim_effects_forget(void)
{
	free(memos);
	memos = NULL;
}

int sim_work_do(const struct sim_work *work)
{
	struct sim_span *span;
	struct sim_lazy *lazy;
	struct memo_key key;

	if (work->output_bytes == 0)
		return 0;
	span = sim_span_find(work->output, work->output_bytes);
	if (span == NULL)
		return SIM_ILLEGAL_ADDRESS;
	for (size_t i = 0; i < work->n_in; i++)
		if (sim_span_find(work->in[i], work->in_bytes[i]) == NULL)
			return SIM_ILLEGAL_ADDRESS;
	make_key(&key, work);
	if (done_before(&key))
		return 0;
	lazy = sim_lazy_new(work->produce, work->output);
	for (size_t i = 0; i < work->n_in; i++)
		lazy->in[i] = (struct sim_operand){
		    work->in[i], work->in_bytes[i], NULL, NULL};
	lazy->n_in = work->n_in;
	lazy->flop_per_byte = work->flop_per_byte;
	memcpy(lazy->args, work->args, work->args_bytes);
	sim_lazy_ref(lazy); /* while it is made, its operands may be saved */
	sim_span_write(span, work->output, work->output_bytes, lazy);
	sim_lazy_unref(lazy);
	sim_lazy_unref(lazy);
	remember(&key);
	return 0;
}

/* --- copies --- */

static void produce_copy(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	memcpy(out, sim_operand_read(lazy, 0, from - lazy->output, to - from),
	    to - from);
}

static void copy_between_host_and_device(
    const struct sim_op *op, struct sim_place *dst, struct sim_place *src)
{
	struct sim_work work = {
	    .produce = produce_copy,
	    .output = op->dst,
	    .output_bytes = op->amount,
	    .in = {op->src},
	    .in_bytes = {op->amount},
	    .n_in = 1,
	    .args = "",
	};
	struct memo_key key;

	make_key(&key, &work);
	if (done_before(&key))
		return;
	if (src->span != NULL) {
		sim_host_copy_out(dst->host, src->span, op->src, op->amount);
	} else {
		sim_host_will_read(src->host, op->amount);
		sim_copy_touched(
		    sim_span_write(dst->span, op->dst, op->amount, NULL),
		    src->host, op->amount,
		    SIM_DST_OURS |
			(sim_host_is_ours(src->host, op->amount) ? SIM_SRC_OURS
								 : 0));
	}
	/* Looking at what was left to be computed would compute it. */
	if (src->span == NULL || sim_span_cost(src->span, op->src,
				     op->amount) <= (double)sim.lazy_eager_flop)
		remember(&key);
}

int sim_effect_copy(struct sim_op *op)
{
	struct sim_place dst, src;
	int rc;

	if (op->amount == 0)
		return 0;
	rc = sim_place_find(op->dst, op->amount, &dst);
	if (rc == 0)
		rc = sim_place_find(op->src, op->amount, &src);
	if (rc != 0)
		return rc;
	if (dst.span != NULL && src.span != NULL) {
		struct sim_work work = {
		    .produce = produce_copy,
		    .output = op->dst,
		    .output_bytes = op->amount,
		    .in = {op->src},
		    .in_bytes = {op->amount},
		    .n_in = 1,
		    .args = "",
		};

		return sim_work_do(&work);
	}
	if (dst.span == NULL && src.span == NULL) {
		sim_host_will_read(src.host, op->amount);
		sim_host_will_write(dst.host, op->amount);
		memmove(dst.host, src.host, op->amount);
		return 0;
	}
	copy_between_host_and_device(op, &dst, &src);
	return 0;
}

/* --- fills --- */

struct fill {
	uint32_t value, width;
};

static void produce_fill(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	struct fill fill;
	unsigned char value[4];

	memcpy(&fill, lazy->args, sizeof fill);
	memcpy(value, &fill.value, sizeof value);
	for (uint64_t i = 0; i < to - from; i++)
		out[i] = value[(from - lazy->output + i) % fill.width];
}

int sim_effect_fill(struct sim_op *op)
{
	struct sim_work work = {
	    .produce = produce_fill,
	    .output = op->dst,
	    .output_bytes = op->amount,
	    .args = op->args,
	    .args_bytes = sizeof(struct fill),
	};

	return sim_work_do(&work);
}

int sim_effect_write_value(struct sim_op *op)
{
	struct sim_place place;
	int rc = sim_place_find(op->dst, sizeof(uint32_t), &place);

	if (rc != 0)
		return rc;
	if (place.span != NULL)
		place.host =
		    sim_span_write(place.span, op->dst, sizeof(uint32_t), NULL);
	else
		sim_host_will_write(place.host, sizeof(uint32_t));
	memcpy(place.host, op->args, sizeof(uint32_t));
	return 0;
}

int sim_effect_kernel(struct sim_op *op)
{
	return op->kernel->effect == NULL ? 0 : op->kernel->effect(op);
}
