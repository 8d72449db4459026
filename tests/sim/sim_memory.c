/*
 * Device memory: where allocations lie, what their contents are, and how to
 * compute contents that nobody has looked at yet. A device address is no
 * host address: a program that follows one crashes, as with a real card.
 *
 * Contents are kept as segments, each with a version number that changes
 * whenever it is written and, where its bytes were not computed, the lazy
 * result that they will come from. A lazy result reads its operands when it
 * is looked at; before an operand is overwritten, a span that no address
 * leads to keeps it as it was, itself lazily. A chain of results that keep
 * each other ends after a number: then contents are given up, and a program
 * that asks for them all the same is stopped, not lied to.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ADDRESS_STEP (UINT64_C(2) << 20)
#define PIECE_BYTES  512
#define MAX_DEPTH    64

static struct sim_span **spans; /* by address */
static size_t n_spans, spans_room;
static struct sim_lazy *lazies;

/* Number of spans whose address is not above. */
static size_t spans_up_to(uint64_t address)
{
	size_t low = 0, high = n_spans;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The span that holds the range, whoever owns the parts. */
static struct sim_span *span_over(uint64_t address, uint64_t bytes)
{
	size_t n = spans_up_to(address);
	struct sim_span *span;

	if (n == 0)
		return NULL;
	span = spans[n - 1];
	if (address - span->address > span->bytes ||
	    bytes > span->bytes - (address - span->address))
		return NULL;
	return span;
}

struct sim_span *sim_span_find(uint64_t address, uint64_t bytes)
{
	struct sim_span *span = span_over(address, bytes);

	if (span != NULL && span->pool != NULL &&
	    !sim_pool_owns(span->pool, address, bytes))
		return NULL;
	return span;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static void *must_grow(void *array, size_t count, size_t each)
{
	void *grown = realloc(array, count * each);

	if (grown == NULL)
		abort(); /* the simulation's own memory: nothing to test */
	return grown;
}

int sim_span_new(
    struct sim_device *device, uint64_t bytes, struct sim_span **out)
{
	struct sim_span *span;
	uint64_t taken = round_up(bytes, PIECE_BYTES);
	size_t at;

	if (taken < bytes ||
	    taken > (uint64_t)device->is.memory_bytes - device->used_bytes)
		return SIM_OUT_OF_MEMORY;
	span = calloc(1, sizeof *span);
	if (span == NULL)
		return SIM_OUT_OF_MEMORY;
	span->device = device;
	span->bytes = bytes;
	/* A gap behind each, so that running over its end shows. */
	span->address = device->next_address;
	device->next_address += round_up(bytes + 1, ADDRESS_STEP);
	device->used_bytes += taken;
	span->room = 4;
	span->segments = must_grow(NULL, span->room, sizeof *span->segments);
	span->segments[0] = (struct sim_segment){0, ++sim.version, NULL};
	span->n_segments = 1;
	if (n_spans == spans_room) {
		spans_room = spans_room * 2 + 64;
		spans = must_grow(spans, spans_room, sizeof(struct sim_span *));
	}
	at = spans_up_to(span->address);
	memmove(spans + at + 1, spans + at, (n_spans - at) * sizeof *spans);
	spans[at] = span;
	n_spans++;
	*out = span;
	return 0;
}

/* The bytes' place on the host, mapped when first asked for. */
static unsigned char *backing(struct sim_span *span)
{
	void *place;

	if (span->backing != NULL)
		return span->backing;
	place = mmap(NULL, span->bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (place == MAP_FAILED)
		abort();
	span->backing = place;
	return span->backing;
}

static uint64_t segment_end(const struct sim_span *span, size_t i)
{
	return i + 1 < span->n_segments ? span->segments[i + 1].start
					: span->bytes;
}

/* The segment that offset lies in. */
static size_t segment_at(const struct sim_span *span, uint64_t offset)
{
	size_t low = 0, high = span->n_segments;

	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (span->segments[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* For one segment more. */
static void make_room(struct sim_span *span)
{
	if (span->n_segments < span->room)
		return;
	span->room = span->room * 2 + 4;
	span->segments =
	    must_grow(span->segments, span->room, sizeof *span->segments);
}

/* Make offset the start of a segment, and say which. */
static size_t split(struct sim_span *span, uint64_t offset)
{
	size_t i;

	if (offset >= span->bytes)
		return span->n_segments;
	i = segment_at(span, offset);
	if (span->segments[i].start == offset)
		return i;
	make_room(span);
	memmove(span->segments + i + 2, span->segments + i + 1,
	    (span->n_segments - i - 1) * sizeof *span->segments);
	span->segments[i + 1] = span->segments[i];
	span->segments[i + 1].start = offset;
	if (span->segments[i].lazy != NULL)
		sim_lazy_ref(span->segments[i].lazy);
	span->n_segments++;
	return i + 1;
}

/* Make [from, to) one segment of new contents. */
static void replace(struct sim_span *span, uint64_t from, uint64_t to,
    uint64_t version, struct sim_lazy *lazy)
{
	size_t first = split(span, from);
	size_t end = split(span, to);

	if (lazy != NULL)
		sim_lazy_ref(lazy);
	for (size_t i = first; i < end; i++)
		if (span->segments[i].lazy != NULL)
			sim_lazy_unref(span->segments[i].lazy);
	span->segments[first] = (struct sim_segment){from, version, lazy};
	memmove(span->segments + first + 1, span->segments + end,
	    (span->n_segments - end) * sizeof *span->segments);
	span->n_segments -= end - first - 1;
}

static void resolve(struct sim_span *span, uint64_t from, uint64_t to)
{
	while (from < to) {
		size_t i = segment_at(span, from);
		uint64_t end = segment_end(span, i);
		uint64_t version = span->segments[i].version;
		struct sim_lazy *lazy = span->segments[i].lazy;

		if (end > to)
			end = to;
		if (lazy != NULL) {
			/*
			 * Marked true before it is, so that what produce
			 * looks at can change the segments.
			 */
			sim_lazy_ref(lazy);
			replace(span, from, end, version, NULL);
			lazy->produce(lazy, span->address + from,
			    span->address + end, backing(span) + from);
			sim_lazy_unref(lazy);
		}
		from = end;
	}
}

unsigned char *sim_span_read(
    struct sim_span *span, uint64_t address, uint64_t bytes)
{
	uint64_t offset = address - span->address;

	resolve(span, offset, offset + bytes);
	return backing(span) + offset;
}

static void produce_lost(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	(void)lazy;
	(void)from;
	(void)to;
	(void)out;
	fprintf(stderr,
	    "simulated driver: contents behind more than %d"
	    " results in a row were asked for\n",
	    MAX_DEPTH);
	abort();
}

/*
 * Find a result's depth anew: what it keeps may have been computed since.
 * turn: tells this search from others, for results are met on many ways.
 */
static unsigned depth_of(struct sim_lazy *lazy, uint64_t turn)
{
	if (lazy->looked_at == turn)
		return lazy->depth;
	lazy->looked_at = turn;
	lazy->depth = 0;
	for (size_t i = 0; i < lazy->n_in; i++) {
		const struct sim_span *kept = lazy->in[i].kept;

		for (size_t j = 0; kept != NULL && j < kept->n_segments; j++) {
			unsigned behind =
			    kept->segments[j].lazy == NULL
				? 0
				: 1 + depth_of(kept->segments[j].lazy, turn);

			if (behind > lazy->depth)
				lazy->depth = behind;
		}
	}
	return lazy->depth;
}

/* A copy of a part: bytes that are true, and how to compute the others. */
static struct sim_span *keep(
    struct sim_span *span, uint64_t address, uint64_t bytes, unsigned *depth)
{
	static uint64_t turn;

	uint64_t from = address - span->address, to = from + bytes;
	struct sim_span *kept = calloc(1, sizeof *kept);

	if (kept == NULL)
		abort();
	kept->address = address;
	kept->bytes = bytes;
	for (size_t i = segment_at(span, from);
	     i < span->n_segments && span->segments[i].start < to; i++) {
		struct sim_segment s = span->segments[i];
		uint64_t start = s.start > from ? s.start : from;
		uint64_t end = segment_end(span, i);

		end = end < to ? end : to;
		if (s.lazy == NULL && span->backing != NULL)
			memcpy(backing(kept) + (start - from),
			    span->backing + start, end - start);
		if (s.lazy != NULL && s.lazy->depth >= MAX_DEPTH &&
		    depth_of(s.lazy, ++turn) >= MAX_DEPTH)
			s.lazy = sim_lazy_new(produce_lost, address);
		else if (s.lazy != NULL)
			sim_lazy_ref(s.lazy);
		if (s.lazy != NULL && s.lazy->depth >= *depth)
			*depth = s.lazy->depth + 1;
		s.start = start - from;
		make_room(kept);
		kept->segments[kept->n_segments++] = s;
	}
	return kept;
}

static void contents_free(struct sim_span *span)
{
	if (span->keepers > 1) {
		span->keepers--;
		return;
	}
	for (size_t i = 0; i < span->n_segments; i++)
		if (span->segments[i].lazy != NULL)
			sim_lazy_unref(span->segments[i].lazy);
	if (span->backing != NULL)
		munmap(span->backing, span->bytes);
	free(span->segments);
	free(span);
}

/*
 * The last copy that one save made, and how deep it is: results that need the
 * same share it, so that what is in it is computed once.
 */
struct last_kept {
	struct sim_span *span;
	unsigned depth;
};

static void keep_for(struct sim_lazy *lazy, struct sim_operand *in,
    struct sim_span *span, struct last_kept *last)
{
	if (last->span == NULL || last->span->address != in->address ||
	    last->span->bytes != in->bytes) {
		last->depth = 0;
		last->span = keep(span, in->address, in->bytes, &last->depth);
	}
	last->span->keepers++;
	in->kept = last->span;
	if (last->depth > lazy->depth)
		lazy->depth = last->depth;
}

/* Results that still need what is in the range keep it. */
static void save_operands(
    struct sim_span *span, uint64_t address, uint64_t bytes)
{
	struct last_kept last = {NULL, 0};

	for (struct sim_lazy *lazy = lazies; lazy != NULL; lazy = lazy->next)
		for (size_t i = 0; i < lazy->n_in; i++) {
			struct sim_operand *in = &lazy->in[i];

			if (in->kept == NULL && in->borrowed == NULL &&
			    in->address < address + bytes &&
			    address < in->address + in->bytes)
				keep_for(lazy, in, span, &last);
		}
}

unsigned char *sim_span_write(struct sim_span *span, uint64_t address,
    uint64_t bytes, struct sim_lazy *lazy)
{
	uint64_t offset = address - span->address;

	if (bytes == 0)
		return backing(span) + offset;
	save_operands(span, address, bytes);
	replace(span, offset, offset + bytes, ++sim.version, lazy);
	return lazy == NULL ? backing(span) + offset : NULL;
}

uint64_t sim_span_version(
    struct sim_span *span, uint64_t address, uint64_t bytes)
{
	uint64_t offset = address - span->address, newest = 0;

	for (size_t i = segment_at(span, offset);
	     i < span->n_segments && span->segments[i].start < offset + bytes;
	     i++)
		if (span->segments[i].version > newest)
			newest = span->segments[i].version;
	return newest;
}

double sim_span_cost(struct sim_span *span, uint64_t address, uint64_t bytes)
{
	uint64_t from = address - span->address, to = from + bytes;
	double flop = 0;

	for (size_t i = segment_at(span, from);
	     i < span->n_segments && span->segments[i].start < to; i++) {
		const struct sim_segment *s = &span->segments[i];
		uint64_t start = s->start > from ? s->start : from;
		uint64_t end = segment_end(span, i);

		if (s->lazy != NULL)
			flop += s->lazy->flop_per_byte *
				(double)((end < to ? end : to) - start);
	}
	return flop;
}

struct sim_lazy *sim_span_lazy_at(
    struct sim_span *span, uint64_t address, uint64_t *end)
{
	size_t i = segment_at(span, address - span->address);

	*end = span->address + segment_end(span, i);
	return span->segments[i].lazy;
}

void sim_span_free(struct sim_span *span)
{
	size_t at = spans_up_to(span->address) - 1;

	save_operands(span, span->address, span->bytes);
	memmove(spans + at, spans + at + 1, (n_spans - at - 1) * sizeof *spans);
	n_spans--;
	span->device->used_bytes -= round_up(span->bytes, PIECE_BYTES);
	contents_free(span);
}

void sim_device_memory_free(struct sim_device *device)
{
	for (size_t i = n_spans; i-- > 0;)
		if (spans[i]->device == device)
			sim_span_free(spans[i]);
}

void sim_spans_free_all(void)
{
	/* Contents first: nobody will look, so nothing need be saved. */
	for (size_t i = 0; i < n_spans; i++)
		replace(spans[i], 0, spans[i]->bytes, 0, NULL);
	while (n_spans > 0)
		sim_span_free(spans[n_spans - 1]);
	free(spans);
	spans = NULL;
	spans_room = 0;
}

struct sim_lazy *sim_lazy_new(sim_produce_fn *produce, uint64_t output)
{
	struct sim_lazy *lazy = calloc(1, sizeof *lazy);

	if (lazy == NULL)
		abort();
	lazy->refs = 1;
	lazy->produce = produce;
	lazy->output = output;
	lazy->next = lazies;
	if (lazies != NULL)
		lazies->previous = lazy;
	lazies = lazy;
	return lazy;
}

void sim_lazy_ref(struct sim_lazy *lazy)
{
	lazy->refs++;
}

void sim_lazy_unref(struct sim_lazy *lazy)
{
	if (--lazy->refs > 0)
		return;
	if (lazy->previous != NULL)
		lazy->previous->next = lazy->next;
	else
		lazies = lazy->next;
	if (lazy->next != NULL)
		lazy->next->previous = lazy->previous;
	for (size_t i = 0; i < lazy->n_in; i++)
		if (lazy->in[i].kept != NULL)
			contents_free(lazy->in[i].kept);
	free(lazy);
}

const unsigned char *sim_operand_read(
    struct sim_lazy *lazy, size_t index, uint64_t offset, uint64_t bytes)
{
	struct sim_operand *in = &lazy->in[index];

	if (in->borrowed != NULL)
		return in->borrowed + offset;
	if (in->kept != NULL)
		return sim_span_read(in->kept, in->address + offset, bytes);
	return sim_span_read(
	    span_over(in->address, in->bytes), in->address + offset, bytes);
}
