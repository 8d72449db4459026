/*
 * Time on the devices: streams of operations, engines that one operation at
 * a time can have, a link whose directions share a total, and operations that
 * wait for memory to change. Events happen in the order of their time; equal
 * times in the order in which the work was submitted. It does not know what
 * operations do; it calls their effect when they end.
 *
 * The devices' clock never passes the host's: they run up to it whenever the
 * host enters or leaves the driver, and beyond it only while the host waits
 * inside, which moves the host's clock along.
 */
#include "sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEVER	    INT64_MAX
#define MAX_RUNNING 64

static struct sim_op *running[MAX_RUNNING];
static size_t n_running;

/* --- operations --- */

struct sim_op *sim_op_new(struct sim_stream *stream)
{
	struct sim_op *op = sim_object_new(sizeof *op);

	op->refs = 1;
	op->stream = stream;
	op->device = stream->device;
	op->link = SIM_NO_LINK;
	return op;
}

void sim_op_ref(struct sim_op *op)
{
	op->refs++;
}

static void forget_earlier(struct sim_op *op)
{
	for (size_t i = 0; i < op->n_after; i++)
		sim_op_unref(op->after[i]);
	free(op->after);
	op->after = NULL;
	op->n_after = 0;
}

void sim_op_unref(struct sim_op *op)
{
	if (op == NULL || --op->refs > 0)
		return;
	forget_earlier(op);
	if (op->release != NULL)
		op->release(op->held);
	sim_object_free(op);
}

void sim_op_after(struct sim_op *op, struct sim_op *earlier)
{
	struct sim_op **grown;

	if (earlier == NULL || earlier->state == SIM_DONE)
		return;
	grown = realloc(op->after, (op->n_after + 1) * sizeof(struct sim_op *));
	if (grown == NULL)
		abort();
	op->after = grown;
	op->after[op->n_after++] = earlier;
	sim_op_ref(earlier);
}

void sim_op_claim(
    struct sim_op *op, struct sim_device *device, enum sim_engine engine)
{
	op->claims[op->n_claims++] = (struct sim_claim){device, engine};
}

/* --- whether one can start, and what else will happen --- */

static bool can_start(const struct sim_op *op)
{
	if (n_running == MAX_RUNNING || op->submit_ps > sim.device_ps)
		return false;
	for (size_t i = 0; i < op->n_after; i++)
		if (op->after[i]->state != SIM_DONE)
			return false;
	for (size_t i = 0; i < op->n_claims; i++)
		if (op->claims[i].device->owner[op->claims[i].engine] != NULL)
			return false;
	return true;
}

static struct sim_op *first_to_start(void)
{
	struct sim_op *first = NULL;

	for (struct sim_stream *s = sim.streams; s != NULL; s = s->next) {
		struct sim_op *op = s->head;

		if (op == NULL || op->state != SIM_PENDING || !can_start(op))
			continue;
		if (first == NULL || op->sequence < first->sequence)
			first = op;
	}
	return first;
}

bool sim_device_throttled(struct sim_device *device)
{
	return device->is.throttle != SIM_THROTTLE_NONE &&
	       device->busy_ps >= sim_ps(device->is.throttle_after_s);
}

static bool word_meets(struct sim_op *op)
{
	const volatile uint32_t *word = op->word;
	struct sim_span *span;
	uint32_t value;

	if (word == NULL) {
		span = sim_span_find(op->word_address, sizeof value);
		if (span == NULL)
			return true;
		word = (const volatile uint32_t *)(const void *)sim_span_read(
		    span, op->word_address, sizeof value);
	}
	value = *word;
	if (op->until == SIM_UNTIL_FLAG)
		return value != 0;
	switch (op->condition) {
	case 0: /* at least, as a difference that may wrap */
		return (int32_t)(value - op->wanted) >= 0;
	case 1:
		return value == op->wanted;
	case 2:
		return (value & op->wanted) != 0;
	default:
		return ~(value | op->wanted) != 0;
	}
}

static void start(struct sim_op *op)
{
	int64_t work = op->work_ps;

	op->state = SIM_RUNNING;
	op->start_ps = sim.device_ps;
	op->slowed = op->throttles && sim_device_throttled(op->device);
	if (op->slowed)
		work = llround((double)work / op->device->is.throttle_factor);
	op->flows_from_ps = op->start_ps + op->fixed_ps + work;
	op->end_ps = op->flows_from_ps;
	if (op->until != SIM_UNTIL_TIME)
		op->end_ps = word_meets(op) ? op->start_ps
			     : op->timeout_ps == 0
				 ? NEVER
				 : op->start_ps + op->timeout_ps;
	for (size_t i = 0; i < op->n_claims; i++)
		op->claims[i].device->owner[op->claims[i].engine] = op;
	op->device->running++;
	running[n_running++] = op;
}

/* --- the link: bytes that flow in both directions at once --- */

static bool flows(const struct sim_op *op)
{
	return op != NULL && op->bytes > 0 && op->link != SIM_NO_LINK &&
	       sim.device_ps >= op->flows_from_ps;
}

/*
 * A direction's rate: its own, or its fair share of the total while the
 * other flows too.
 */
static double rate_of(const struct sim_op *op)
{
	enum sim_engine other = op->link == SIM_H2D ? SIM_D2H : SIM_H2D;
	const struct sim_op *opposite = op->device->owner[other];
	double total = op->device->is.bidir_Bps, left;

	if (!flows(opposite) ||
	    op->bytes_per_s + opposite->bytes_per_s <= total)
		return op->bytes_per_s;
	if (opposite->bytes_per_s <= total / 2)
		left = total - opposite->bytes_per_s;
	else
		left = total / 2;
	return op->bytes_per_s < left ? op->bytes_per_s : left;
}

/* When the next thing happens to a running one, as matters stand. */
static int64_t next_of(const struct sim_op *op)
{
	if (op->bytes <= 0 || op->link == SIM_NO_LINK)
		return op->end_ps;
	if (!flows(op))
		return op->flows_from_ps;
	return sim.device_ps +
	       (int64_t)ceil(op->bytes / rate_of(op) * SIM_PS_PER_S);
}

/* Move the devices' clock, and the bytes with it. */
static void pass_time(int64_t until_ps)
{
	double moved[MAX_RUNNING] = {0};
	double seconds = (double)(until_ps - sim.device_ps) / SIM_PS_PER_S;

	for (size_t i = 0; i < n_running; i++)
		if (flows(running[i]))
			moved[i] = rate_of(running[i]) * seconds;
	for (size_t i = 0; i < n_running; i++) {
		struct sim_op *op = running[i];

		if (moved[i] == 0)
			continue;
		op->bytes -= moved[i];
		/* Rounding to whole picoseconds leaves a sliver of a byte. */
		if (op->bytes < 1e-2) {
			op->bytes = 0;
			op->end_ps = until_ps;
		}
	}
	sim.device_ps = until_ps;
}

/* Whether memory that a running one waits for has changed as it wants. */
static bool mark_met(void)
{
	bool any = false;

	for (size_t i = 0; i < n_running; i++) {
		struct sim_op *op = running[i];

		if (op->until == SIM_UNTIL_TIME ||
		    op->end_ps <= sim.device_ps || !word_meets(op))
			continue;
		op->end_ps = sim.device_ps;
		any = true;
	}
	return any;
}

static void pop(struct sim_stream *stream, struct sim_op *op)
{
	stream->head = op->next;
	if (stream->head == NULL)
		stream->tail = NULL;
	if (op->counted)
		stream->counted--;
}

static void finish(size_t place)
{
	struct sim_op *op = running[place];
	struct sim_device *device = op->device;
	int64_t took = sim.device_ps - op->start_ps;
	int rc;

	running[place] = running[--n_running];
	op->state = SIM_DONE;
	op->end_ps = sim.device_ps;
	for (size_t i = 0; i < op->n_claims; i++)
		op->claims[i].device->owner[op->claims[i].engine] = NULL;
	device->running--;
	if (took > 0)
		device->last_active_ps = sim.device_ps;
	if (op->throttles) {
		device->busy_ps += took;
		device->throttled_ps += op->slowed ? took : 0;
	}
	forget_earlier(op);
	rc = op->effect == NULL ? 0 : op->effect(op);
	if (rc != 0 && device->sticky == 0)
		device->sticky = rc;
	pop(op->stream, op);
	sim_op_unref(op);
	mark_met();
}

/* The running one that ends by now and was submitted first, or n_running. */
static size_t first_to_finish(void)
{
	size_t first = n_running;

	for (size_t i = 0; i < n_running; i++) {
		struct sim_op *op = running[i];

		if (op->end_ps > sim.device_ps ||
		    (op->bytes > 0 && op->link != SIM_NO_LINK))
			continue;
		if (first == n_running ||
		    op->sequence < running[first]->sequence)
			first = i;
	}
	return first;
}

/* Do everything that happens at the devices' present time. */
static void settle_now(void)
{
	for (;;) {
		size_t place = first_to_finish();
		struct sim_op *op;

		if (place < n_running) {
			finish(place);
			continue;
		}
		op = first_to_start();
		if (op == NULL)
			return;
		start(op);
	}
}

/* When the next thing happens by itself, NEVER when nothing does. */
static int64_t next_event(void)
{
	int64_t next = NEVER;

	for (size_t i = 0; i < n_running; i++) {
		int64_t t = next_of(running[i]);

		next = t < next ? t : next;
	}
	for (struct sim_stream *s = sim.streams; s != NULL; s = s->next)
		if (s->head != NULL && s->head->state == SIM_PENDING &&
		    s->head->submit_ps > sim.device_ps &&
		    s->head->submit_ps < next)
			next = s->head->submit_ps;
	return next;
}

/* One event at most, not after until_ps; false when there is none by then. */
static bool step(int64_t until_ps)
{
	int64_t next;

	settle_now();
	next = next_event();
	if (next > until_ps)
		return false;
	pass_time(next);
	settle_now();
	return true;
}

void sim_advance(int64_t until_ps)
{
	while (step(until_ps))
		;
	if (until_ps > sim.device_ps)
		pass_time(until_ps);
	settle_now();
}

void sim_poll(void)
{
	if (mark_met())
		settle_now();
}

/* --- streams --- */

int sim_stream_new(struct sim_device *device, bool non_blocking, int priority,
    struct sim_stream **out)
{
	struct sim_stream *stream = calloc(1, sizeof *stream);

	if (stream == NULL)
		return SIM_OUT_OF_MEMORY;
	stream->device = device;
	stream->non_blocking = non_blocking;
	stream->priority = priority;
	stream->next = sim.streams;
	sim.streams = stream;
	*out = stream;
	return 0;
}

static void unlink_stream(struct sim_stream *stream)
{
	struct sim_stream **place = &sim.streams;

	while (*place != stream)
		place = &(*place)->next;
	*place = stream->next;
	sim_op_unref(stream->last);
	free(stream);
}

void sim_stream_free(struct sim_stream *stream)
{
	sim_wait_stream(stream);
	unlink_stream(stream);
}

bool sim_stream_idle(struct sim_stream *stream)
{
	return stream->head == NULL;
}

bool sim_device_active(struct sim_device *device)
{
	return device->running > 0;
}

/*
 * The legacy default stream waits for all that was submitted to blocking
 * streams, and they for it.
 */
static void join_legacy(struct sim_op *op)
{
	struct sim_stream *legacy = op->device->legacy;

	if (op->stream->non_blocking)
		return;
	if (op->stream != legacy) {
		if (legacy != NULL)
			sim_op_after(op, legacy->last);
		return;
	}
	for (struct sim_stream *s = sim.streams; s != NULL; s = s->next)
		if (s != legacy && s->device == op->device && !s->non_blocking)
			sim_op_after(op, s->last);
}

/* Run the devices, and take the host along, until done(what) says so. */
static void wait_until(bool (*done)(const void *what), const void *what)
{
	while (!done(what))
		if (!step(INT64_MAX - 1))
			sim_hang(); /* nothing will ever end it */
	if (sim.device_ps > sim.host_ps)
		sim.host_ps = sim.device_ps;
}

static bool has_room(const void *what)
{
	const struct sim_stream *stream = what;

	return stream->counted < (uint64_t)stream->device->is.queue_depth;
}

static bool op_done(const void *what)
{
	return ((const struct sim_op *)what)->state == SIM_DONE;
}

static bool stream_done(const void *what)
{
	return ((const struct sim_stream *)what)->head == NULL;
}

static bool device_done(const void *what)
{
	for (struct sim_stream *s = sim.streams; s != NULL; s = s->next)
		if ((const void *)s->device == what && s->head != NULL)
			return false;
	return true;
}

void sim_op_submit(struct sim_op *op)
{
	struct sim_stream *stream = op->stream;

	join_legacy(op);
	if (op->counted) {
		wait_until(has_room, stream);
		sim_spend(op->device->is.submit_s);
		stream->counted++;
	}
	op->submit_ps = sim.host_ps;
	op->sequence = ++sim.sequence;
	if (stream->tail != NULL)
		stream->tail->next = op;
	else
		stream->head = op;
	stream->tail = op;
	sim_op_unref(stream->last);
	stream->last = op;
	sim_op_ref(op); /* the stream's; the caller's is the queue's now */
}

void sim_wait(struct sim_op *op)
{
	wait_until(op_done, op);
}

void sim_wait_stream(struct sim_stream *stream)
{
	wait_until(stream_done, stream);
}

void sim_wait_device(struct sim_device *device)
{
	wait_until(device_done, device);
}

void sim_engine_free_all(void)
{
	n_running = 0;
	while (sim.streams != NULL) {
		struct sim_stream *stream = sim.streams;

		while (stream->head != NULL) {
			struct sim_op *op = stream->head;

			stream->head = op->next;
			sim_op_unref(op);
		}
		unlink_stream(stream);
	}
}
