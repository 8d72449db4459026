/*
 * Question: how many prepared samples does the whole host side deliver to the
 * device, by number of workers and kind of memory?
 * Method: worker threads each take the next sample of a shuffled order, read
 * its file, decode it, do the standard transform, and put it at its place in
 * a batch. The batch that is full goes to the device while the next ones are
 * filled; as many as `prefetch` (2 where it is not named) may be ahead. With
 * 0 workers the thread that feeds the device does all of it in line, as
 * loaders without workers do. A sample of the clock is a batch delivered.
 * Inside the timed region: all of it, in the steady state. Outside: making the
 * files, starting the workers, filling the first batches.
 * Known bias: the files stay in memory (storage tells what a disk adds);
 * workers are threads that share a batch, so that batches come evenly; on the
 * host backend the copy takes time from the workers' cores.
 * Checked: samples read back from the device against the reference, as
 * preprocess does.
 * Source: method notes, section 2, CPU/storage, and section 4, Loader.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "crew.h"
#include "dataset.h"
#include "pattern.h"
#include "preparer.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "timing.h"

#define PICTURES      8u
#define CROPS	      64u
#define FILES_QUICK   64u
#define FILES	      1024u
/* More than the largest picture has. */
#define FILE_ROOM     131072u
#define PREFETCH      2
#define MAX_PREFETCH  8
#define MAX_SLOTS     (MAX_PREFETCH + 1)
#define CHECKED_FILES 3u
#define CHECKED	      64u
#define SAMPLE_BYTES  (SVK_PREPARED * sizeof(float))

static const struct sv_metric metrics[] = {
    {"rate", SV_UNIT_PER_SECOND, true,
	"prepared samples delivered to the device a second"},
};

static const struct sv_value workers[] = {{NULL, 0, SV_QUICK},
    {NULL, 1, SV_STANDARD}, {NULL, 2, SV_STANDARD}, {NULL, 4, SV_STANDARD},
    {NULL, 8, SV_STANDARD}, {NULL, 16, SV_STANDARD}, {NULL, 32, SV_STANDARD},
    {NULL, 64, SV_STANDARD}, {NULL, 128, SV_STANDARD}, {"all", 0, SV_QUICK}};
static const struct sv_value all_workers[] = {{"all", 0, SV_FULL}};
static const struct sv_value memories[] = {
    {"pinned", 0, SV_QUICK}, {"pageable", 0, SV_STANDARD}};
static const struct sv_value pinned[] = {{"pinned", 0, SV_FULL}};
static const struct sv_value batches[] = {
    {NULL, 16, SV_QUICK}, {NULL, 32, SV_STANDARD}, {NULL, 128, SV_FULL}};
static const struct sv_value middle[] = {{NULL, 32, SV_FULL}};
static const struct sv_value depths[] = {
    {NULL, 1, SV_FULL}, {NULL, 4, SV_FULL}, {NULL, MAX_PREFETCH, SV_FULL}};

#define AXIS(name, values)                                           \
	{                                                            \
		(name), (values), sizeof(values) / sizeof(values)[0] \
	}

static const struct sv_axis axes[] = {
    AXIS("workers", workers), AXIS("memory", memories), AXIS("batch", batches)};
static const struct sv_axis depth_axes[] = {AXIS("workers", all_workers),
    AXIS("memory", pinned), AXIS("batch", middle), AXIS("prefetch", depths)};
static const struct sv_group groups[] = {
    {{"rate"}, axes, 3, sv_case_fit_workers},
    {{"rate"}, depth_axes, 4, sv_case_fit_workers},
};

static size_t slots_of(const struct sv_case *c)
{
	size_t ahead = PREFETCH;

	if (sv_case_number(c, "workers") == 0)
		return 1;
	if (sv_case_has(c, "prefetch"))
		ahead = (size_t)sv_case_number(c, "prefetch");
	return ahead + 1; /* and the one on its way to the device */
}

static size_t batch_bytes(const struct sv_case *c)
{
	return (size_t)sv_case_number(c, "batch") * SAMPLE_BYTES;
}

/* A file's contents: one of the pictures. */
static size_t fill(void *state, size_t index, unsigned char *buffer)
{
	const struct sv_pictures *pictures = state;
	const struct sv_jpeg *jpeg = &pictures->list[index % PICTURES];

	memcpy(buffer, jpeg->data, jpeg->bytes);
	return jpeg->bytes;
}

static struct sv_dataset_spec spec_of(
    const struct sv_case *c, struct sv_pictures *pictures)
{
	return (struct sv_dataset_spec){.name = "pictures",
	    .layout = SV_LAYOUT_FILES,
	    .n = c->level == SV_QUICK ? FILES_QUICK : FILES,
	    .bytes = FILE_ROOM,
	    .contents = fill,
	    .state = pictures};
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	struct sv_dataset_spec spec = spec_of(c, NULL);
	int code = sv_jpeg_built(err);

	if (code == 0)
		code = sv_timing_host_work(err);
	if (code == 0)
		code = device->ops->can_memory(device, sv_case_memory(c), err);
	if (code == 0)
		code = sv_rig_fits(
		    device, (double)(batch_bytes(c) * 2 * slots_of(c)), err);
	return code != 0 ? code
			 : sv_dataset_possible(c->place->folder, &spec, err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	return (struct sv_cost){.bytes = (double)batch_bytes(c)};
}

/* Where time goes, in ns. */
struct spent {
	uint64_t reading, preparing, waiting;
};

/* A batch being filled, or on its way to the device. */
struct slot {
	struct sv_hostmem host;
	struct sv_buffer device;
	struct sv_event *copied;
	size_t done; /* samples in place */
};

struct worker {
	struct state *state;
	pthread_t thread;
	struct sv_reader *reader;
	struct sv_preparer *preparer;
	struct spent spent;
};

struct state {
	const struct sv_place *place;
	struct sv_rig rig;
	struct sv_pictures pictures;
	struct svk_crop crops[CROPS];
	struct sv_dataset *dataset;
	size_t *order, n; /* files, shuffled */
	struct slot slots[MAX_SLOTS];
	size_t n_slots, batch;
	bool pageable;
	struct worker *workers; /* at least one: in line it is ours */
	unsigned n_workers, started;
	uint64_t batches_taken; /* by the feeding thread alone */
	uint64_t starved_ns, feeding_ns;

	pthread_mutex_t lock;
	pthread_cond_t ready, room;
	/* Under the lock. */
	uint64_t next;	/* sample to be taken */
	uint64_t freed; /* batches whose slot is free again */
	bool quit;
	int code; /* of a worker that failed */
	struct sv_err err;
};

static size_t file_of(const struct state *s, uint64_t sample)
{
	return s->order[sample % s->n];
}

/* Read and prepare a sample into its place. */
static int do_sample(
    struct state *s, struct worker *w, uint64_t sample, struct sv_err *err)
{
	struct slot *slot = &s->slots[sample / s->batch % s->n_slots];
	float *place =
	    (float *)slot->host.data + sample % s->batch * SVK_PREPARED;
	uint64_t start = sv_now_ns(), read;
	const unsigned char *data;
	size_t bytes;
	int code =
	    sv_reader_read(w->reader, file_of(s, sample), &data, &bytes, err);

	read = sv_now_ns();
	if (code == 0)
		code = sv_preparer_run(w->preparer, SV_WORK_STANDARD, data,
		    bytes, &s->crops[sample % CROPS], place, err);
	w->spent.reading += read - start;
	w->spent.preparing += sv_now_ns() - read;
	return code;
}

/* The next sample for a worker; false when it is to end. Under the lock. */
static bool take_sample(struct state *s, struct worker *w, uint64_t *sample)
{
	uint64_t start = sv_now_ns();

	while (!s->quit && s->next / s->batch >= s->freed + s->n_slots)
		pthread_cond_wait(&s->room, &s->lock);
	w->spent.waiting += sv_now_ns() - start;
	*sample = s->next++;
	return !s->quit;
}

static void *work(void *state)
{
	struct worker *w = state;
	struct state *s = w->state;
	struct sv_err err;
	uint64_t sample;

	pthread_mutex_lock(&s->lock);
	while (take_sample(s, w, &sample)) {
		pthread_mutex_unlock(&s->lock);
		int code = do_sample(s, w, sample, &err);

		pthread_mutex_lock(&s->lock);
		struct slot *slot = &s->slots[sample / s->batch % s->n_slots];

		if (code != 0) {
			s->code = code;
			s->err = err;
			s->quit = true;
			pthread_cond_broadcast(&s->room);
		}
		if (code != 0 || ++slot->done == s->batch)
			pthread_cond_signal(&s->ready);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Wait until a batch is full. */
static int await_batch(struct state *s, struct slot *slot, struct sv_err *err)
{
	uint64_t start = sv_now_ns();
	int code;

	pthread_mutex_lock(&s->lock);
	while (s->code == 0 && slot->done < s->batch)
		pthread_cond_wait(&s->ready, &s->lock);
	code = s->code;
	if (code != 0)
		*err = s->err;
	pthread_mutex_unlock(&s->lock);
	s->starved_ns += sv_now_ns() - start;
	return code;
}

/* Hand a batch's slot back to the workers, once the device has it. */
static int free_batch(struct state *s, struct slot *slot, struct sv_err *err)
{
	int code = 0;

	if (!s->pageable)
		code = s->rig.ops->event_sync(
		    slot->copied, s->rig.ops->patient, err);
	pthread_mutex_lock(&s->lock);
	slot->done = 0;
	s->freed++;
	pthread_cond_broadcast(&s->room);
	pthread_mutex_unlock(&s->lock);
	return code;
}

/* Send a full batch on its way. */
static int send_batch(struct state *s, struct slot *slot, struct sv_err *err)
{
	int code = s->rig.ops->copy(s->rig.stream, SV_H2D, &slot->device, 0,
	    &slot->host, 0, s->batch * SAMPLE_BYTES, err);

	return code != 0 || s->pageable
		   ? code
		   : s->rig.ops->event_record(s->rig.stream, slot->copied, err);
}

/* In line: fill, send, wait. */
static int deliver_in_line(struct state *s, struct sv_err *err)
{
	struct slot *slot = &s->slots[0];
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->batch; i++)
		code = do_sample(
		    s, &s->workers[0], s->batches_taken * s->batch + i, err);
	if (code == 0)
		code = send_batch(s, slot, err);
	return code != 0 || s->pageable ? code
					: s->rig.ops->event_sync(slot->copied,
					      s->rig.ops->patient, err);
}

/*
 * From workers: send the batch that is full, then free the one before it,
 * which was under way meanwhile.
 */
static int deliver(struct state *s, struct sv_err *err)
{
	uint64_t batch = s->batches_taken;
	struct slot *slot = &s->slots[batch % s->n_slots];
	int code = await_batch(s, slot, err);

	if (code == 0)
		code = send_batch(s, slot, err);
	if (code == 0 && batch > 0)
		code = free_batch(s, &s->slots[(batch - 1) % s->n_slots], err);
	return code;
}

static int deliver_next(struct state *s, struct sv_err *err)
{
	int code =
	    s->n_workers == 0 ? deliver_in_line(s, err) : deliver(s, err);

	s->batches_taken++;
	return code;
}

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t start = sv_now_ns();
	int code = 0;

	for (uint64_t i = 0; code == 0 && i < inner; i++)
		code = deliver_next(s, err);
	readings[0] = (double)(sv_now_ns() - start);
	s->feeding_ns += (uint64_t)readings[0];
	return code;
}

static int open_slots(struct state *s, struct sv_device *device,
    enum sv_memory memory, struct sv_err *err)
{
	size_t bytes = s->batch * SAMPLE_BYTES;
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n_slots; i++) {
		struct slot *slot = &s->slots[i];

		code = device->ops->host_alloc(
		    device, memory, bytes, -1, &slot->host, err);
		if (code == 0)
			code = device->ops->alloc(
			    device, bytes, &slot->device, err);
		if (code == 0)
			code =
			    device->ops->event_new(device, &slot->copied, err);
	}
	return code;
}

static int open_files(struct state *s, const struct sv_case *c, uint64_t random,
    struct sv_err *err)
{
	struct sv_dataset_spec spec = spec_of(c, &s->pictures);
	int code = sv_pictures_new(&s->pictures, PICTURES, err);

	s->n = spec.n;
	s->order = calloc(s->n, sizeof *s->order);
	if (code == 0 && s->order == NULL)
		code = sv_err_set(err, SV_ERESOURCE, "loader: out of memory");
	if (code == 0 && sv_pictures_most_bytes(&s->pictures) > FILE_ROOM)
		code = sv_err_set(err, SV_ECHECK,
		    "pictures: %zu bytes, more than the %u there is room for",
		    sv_pictures_most_bytes(&s->pictures), FILE_ROOM);
	if (code != 0)
		return code;
	sv_random_shuffle(s->order, s->n, &random);
	return sv_dataset_open(c->place->folder, &spec, &s->dataset, err);
}

static int start_workers(struct state *s, struct sv_err *err)
{
	unsigned n = s->n_workers > 0 ? s->n_workers : 1;
	int code = 0;

	s->workers = calloc(n, sizeof *s->workers);
	if (s->workers == NULL)
		return sv_err_set(err, SV_ERESOURCE, "loader: out of memory");
	for (unsigned i = 0; code == 0 && i < n; i++) {
		struct worker *w = &s->workers[i];

		w->state = s;
		code = sv_reader_open(s->dataset, false, &w->reader, err);
		if (code == 0)
			code = sv_preparer_new(&w->preparer, err);
		if (code == 0 && s->n_workers > 0)
			code =
			    sv_crew_thread(s->place, &w->thread, work, w, err);
		s->started += code == 0 && s->n_workers > 0;
	}
	return code;
}

static void stop_workers(struct state *s)
{
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_cond_broadcast(&s->room);
	pthread_mutex_unlock(&s->lock);
	for (unsigned i = 0; i < s->started; i++)
		pthread_join(s->workers[i].thread, NULL);
	s->started = 0;
}

static void close_all(struct state *s, struct sv_device *device)
{
	unsigned n = s->n_workers > 0 ? s->n_workers : 1;
	struct sv_err ignored;

	for (unsigned i = 0; s->workers != NULL && i < n; i++) {
		sv_reader_close(s->workers[i].reader);
		sv_preparer_free(s->workers[i].preparer);
	}
	free(s->workers);
	/* What is on its way to the device still needs its memory. */
	if (s->rig.device != NULL)
		(void)device->ops->stream_sync(
		    s->rig.stream, SV_WAIT_SPIN, &ignored);
	for (size_t i = 0; i < s->n_slots; i++) {
		device->ops->event_free(device, s->slots[i].copied);
		if (s->slots[i].device.token != NULL)
			(void)device->ops->free(
			    device, &s->slots[i].device, &ignored);
		device->ops->host_free(device, &s->slots[i].host);
	}
	sv_rig_fini(&s->rig);
	sv_dataset_close(s->dataset);
	sv_pictures_free(&s->pictures);
	free(s->order);
}

/* Shares of the workers' time, and of ours, as text. */
static void tell_waits(const struct state *s, char *out, size_t size)
{
	unsigned n = s->n_workers > 0 ? s->n_workers : 1;
	struct spent sum = {0};

	for (unsigned i = 0; i < n; i++) {
		sum.reading += s->workers[i].spent.reading;
		sum.preparing += s->workers[i].spent.preparing;
		sum.waiting += s->workers[i].spent.waiting;
	}
	double all = (double)(sum.reading + sum.preparing + sum.waiting);

	if (s->n_workers == 0)
		snprintf(out, size,
		    "in line: %.0f %% of the time reading, %.0f %% preparing",
		    100.0 * (double)sum.reading / (double)s->feeding_ns,
		    100.0 * (double)sum.preparing / (double)s->feeding_ns);
	else
		snprintf(out, size,
		    "workers: %.0f %% of their time reading, %.0f %% "
		    "preparing, %.0f %% waiting for a free batch; the device's "
		    "side waited %.0f %% for a full one",
		    100.0 * (double)sum.reading / all,
		    100.0 * (double)sum.preparing / all,
		    100.0 * (double)sum.waiting / all,
		    100.0 * (double)s->starved_ns / (double)s->feeding_ns);
}

/* Compare one sample of the last batch, as the device has it. */
static int compare_sample(struct state *s, struct sv_preparer *preparer,
    size_t place, float *prepared, uint64_t *random, double *difference,
    struct sv_err *err)
{
	uint64_t batch = s->batches_taken - 1,
		 sample = batch * s->batch + place;
	const struct sv_jpeg *jpeg =
	    &s->pictures.list[file_of(s, sample) % PICTURES];
	struct slot *slot = &s->slots[batch % s->n_slots];
	struct sv_image image;
	int code = sv_rig_download(&s->rig, &slot->device, place * SAMPLE_BYTES,
	    prepared, SAMPLE_BYTES, err);

	if (code == 0)
		code = sv_preparer_run(preparer, SV_WORK_DECODE, jpeg->data,
		    jpeg->bytes, NULL, NULL, err);
	if (code != 0)
		return code;
	image = sv_preparer_decoded(preparer);
	*difference = sv_transform_compare(SV_WORK_STANDARD, &image,
	    &s->crops[sample % CROPS], prepared, CHECKED, random);
	return 0;
}

/* The workers have stopped; the last batch lies on the device. */
static int check(
    struct sv_bench_context *context, struct state *s, struct sv_err *err)
{
	const size_t places[CHECKED_FILES] = {0, s->batch / 2, s->batch - 1};
	uint64_t random = sv_context_seed(context);
	struct sv_preparer *preparer = NULL;
	float *prepared = malloc(SAMPLE_BYTES);
	double largest = 0.0, difference = 0.0;
	char waits[256];
	int code = prepared == NULL
		       ? sv_err_set(err, SV_ERESOURCE, "check: out of memory")
		       : sv_preparer_new(&preparer, err);

	for (size_t i = 0; code == 0 && i < CHECKED_FILES; i++) {
		code = compare_sample(s, preparer, places[i], prepared, &random,
		    &difference, err);
		largest = fmax(largest, difference);
	}
	if (code == 0) {
		tell_waits(s, waits, sizeof waits);
		sv_report_check(context, largest <= SV_TRANSFORM_TOLERANCE,
		    "%u samples on the device to %.2g of the reference (at "
		    "most %g); %s",
		    CHECKED_FILES, largest, SV_TRANSFORM_TOLERANCE, waits);
	}
	sv_preparer_free(preparer);
	free(prepared);
	return code;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	struct state s = {.place = c->place,
	    .batch = (size_t)sv_case_number(c, "batch"),
	    .n_slots = slots_of(c),
	    .n_workers = (unsigned)sv_case_number(c, "workers"),
	    .pageable = sv_case_memory(c) == SV_PAGEABLE};
	const struct sv_sampled sampled[] = {
	    {.metric = "rate", .as = SV_AS_RATE, .amount = (double)s.batch}};
	const struct sv_sampling sampling = {0};
	uint64_t fixed = 1; /* the same crops in every round */
	int code;

	for (size_t i = 0; i < CROPS; i++)
		s.crops[i] = sv_transform_draw(
		    SV_PICTURE_WIDTH, SV_PICTURE_HEIGHT, &fixed);
	pthread_mutex_init(&s.lock, NULL);
	pthread_cond_init(&s.ready, NULL);
	pthread_cond_init(&s.room, NULL);
	code = sv_rig_init(&s.rig, device, err);
	if (code == 0)
		code = open_files(&s, c, sv_context_seed(context), err);
	if (code == 0)
		code = open_slots(&s, device, sv_case_memory(c), err);
	if (code == 0)
		code = start_workers(&s, err);
	if (code == 0)
		code =
		    sv_sample(context, sampled, 1, &sampling, measure, &s, err);
	stop_workers(&s);
	if (code == 0)
		code = check(context, &s, err);
	close_all(&s, device);
	pthread_cond_destroy(&s.room);
	pthread_cond_destroy(&s.ready);
	pthread_mutex_destroy(&s.lock);
	return code;
}

const struct sv_bench sv_bench_loader = {
    .name = "loader",
    .question = "How many prepared samples does the whole host side deliver "
		"to the device?",
    .source = "method notes, section 2, CPU/storage, and section 4",
    .metrics = metrics,
    .n_metrics = 1,
    .groups = groups,
    .n_groups = 2,
    .files = true,
    .supported = supported,
    .cost = cost,
    .run = run,
};
