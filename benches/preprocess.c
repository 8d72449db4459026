/*
 * Question: how fast are samples prepared, by work, on how many cores, or on
 * the device?
 * Method: the same pictures over and over, made from numbers and encoded as
 * JPEG before. On the host each worker is a thread with a decoder of its own
 * that takes the next picture: decode; decode and resize to 224; the standard
 * transform (random resized crop, flip, normalise, bytes to planes of floats);
 * the heavy one (and elastic deformation and Gaussian blur). What is random
 * is drawn once, the same in every round. On the device the same transforms
 * are kernels over a batch of decoded pictures that lies there.
 * Inside the timed region: the work. Outside: making the pictures, starting
 * the threads, comparing; for the device decoding and copying too.
 * Known bias: pictures and results of one worker stay in its caches, which a
 * loader's do not; bilinear without antialias.
 * Checked: prepared values against a reference in double precision, to 1e-3
 * of their unit deviation; decoded pictures against what was encoded, by 30
 * dB.
 * Source: method notes, section 2, CPU/storage; the recipe is that of
 * ImageNet training.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "crew.h"
#include "pattern.h"
#include "preparer.h"
#include "rig.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "timing.h"

#define PICTURES	8u
#define CROPS		64u
#define CHECKED		64u /* values of a prepared picture */
#define QUICK_SAMPLE_NS 5e6
/* Several pictures to a worker, so that the last one waits for little. */
#define SAMPLE_NS	2e7
/* On the device: enough to fill a large one. */
#define BATCH		32u
#define BLOCKS		64u /* to an image */
#define THREADS		256u

static const struct sv_metric metrics[] = {
    {"rate", SV_UNIT_PER_SECOND, true, "samples prepared a second"},
};

static const struct sv_value transforms[] = {
    {"standard", 0, SV_QUICK}, {"heavy", 0, SV_STANDARD}};
static const struct sv_value decodings[] = {
    {"decode", 0, SV_QUICK}, {"resize", 0, SV_STANDARD}};
static const struct sv_value on_cpu[] = {{"cpu", 0, SV_QUICK}};
static const struct sv_value on_device[] = {{"device", 0, SV_QUICK}};
static const struct sv_value workers[] = {{NULL, 1, SV_QUICK},
    {NULL, 2, SV_STANDARD}, {NULL, 4, SV_STANDARD}, {NULL, 8, SV_STANDARD},
    {NULL, 16, SV_STANDARD}, {NULL, 32, SV_STANDARD}, {NULL, 64, SV_STANDARD},
    {NULL, 128, SV_STANDARD}, {"all", 0, SV_QUICK}};

#define AXIS(name, values)                                           \
	{                                                            \
		(name), (values), sizeof(values) / sizeof(values)[0] \
	}

static const struct sv_axis transform_axes[] = {
    AXIS("work", transforms), AXIS("where", on_cpu), AXIS("workers", workers)};
static const struct sv_axis decoding_axes[] = {
    AXIS("work", decodings), AXIS("where", on_cpu), AXIS("workers", workers)};
static const struct sv_axis device_axes[] = {
    AXIS("work", transforms), AXIS("where", on_device)};

/* Decoding alone by one worker is enough where there is little time. */
static bool derive_decoding(struct sv_case *c)
{
	bool fits = sv_case_fit_workers(c);

	return fits &&
	       (c->level > SV_QUICK || sv_case_number(c, "workers") == 1);
}

static const struct sv_group groups[] = {
    {{"rate"}, transform_axes, 3, sv_case_fit_workers},
    {{"rate"}, decoding_axes, 3, derive_decoding},
    {{"rate"}, device_axes, 2, NULL},
};

static enum sv_work work_of(const struct sv_case *c)
{
	static const char *const names[] = {
	    "decode", "resize", "standard", "heavy"};
	size_t i = 0;

	while (strcmp(names[i], sv_case_text(c, "work")) != 0)
		i++;
	return (enum sv_work)i;
}

static bool is_on_device(const struct sv_case *c)
{
	return strcmp(sv_case_text(c, "where"), "device") == 0;
}

static size_t source_bytes(void)
{
	return BATCH * SV_PICTURE_BYTES;
}

static size_t result_bytes(void)
{
	return BATCH * SVK_PREPARED * sizeof(float);
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	static const char *const kernels[] = {
	    SV_KERNEL_CROP, SV_KERNEL_ELASTIC, SV_KERNEL_BLUR};
	int code = sv_jpeg_built(err);

	if (code == 0 && !is_on_device(c))
		return sv_timing_host_work(err);
	for (size_t i = 0; code == 0 && i < 3; i++)
		code = device->ops->can_kernel(device, kernels[i], err);
	return code != 0
		   ? code
		   : sv_rig_fits(device,
			 (double)(source_bytes() + 2 * result_bytes()), err);
}

static struct sv_cost cost(const struct sv_case *c)
{
	(void)c;
	return (struct sv_cost){0};
}

/* What both ways have: pictures, and what is random about their crops. */
struct inputs {
	struct sv_pictures pictures;
	struct svk_crop crops[CROPS];
};

static int make_inputs(struct inputs *in, struct sv_err *err)
{
	uint64_t state = 1; /* the same in every round */

	for (size_t i = 0; i < CROPS; i++)
		in->crops[i] = sv_transform_draw(
		    SV_PICTURE_WIDTH, SV_PICTURE_HEIGHT, &state);
	return sv_pictures_new(&in->pictures, PICTURES, err);
}

/* --- on the host --- */

struct crew_state {
	const struct sv_place *place;
	struct inputs in;
	enum sv_work work;
	unsigned workers;
	struct member {
		struct sv_preparer *preparer;
		float *prepared;
	} * members;
	size_t count; /* of the pass under way */
	atomic_size_t next;
};

static int prepare_one(
    struct crew_state *s, unsigned member, size_t i, struct sv_err *err)
{
	const struct sv_jpeg *jpeg = &s->in.pictures.list[i % PICTURES];

	return sv_preparer_run(s->members[member].preparer, s->work, jpeg->data,
	    jpeg->bytes, &s->in.crops[i % CROPS], s->members[member].prepared,
	    err);
}

static int prepare_some(void *state, unsigned member, struct sv_err *err)
{
	struct crew_state *s = state;
	size_t i;

	while ((i = atomic_fetch_add(&s->next, 1)) < s->count) {
		int code = prepare_one(s, member, i, err);

		if (code != 0)
			return code;
	}
	return 0;
}

static int measure_crew(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct crew_state *s = state;

	s->count = (size_t)inner * s->workers;
	atomic_store(&s->next, 0);
	return sv_crew_run(
	    s->place, s->workers, prepare_some, s, readings, err);
}

/* How many dB a decoded picture is from what was encoded. */
static int decoded_db(const struct sv_image *image, size_t picture, double *db,
    struct sv_err *err)
{
	unsigned char *original = malloc(SV_PICTURE_BYTES);

	if (original == NULL)
		return sv_err_set(err, SV_ERESOURCE, "check: out of memory");
	sv_picture_draw(picture, original);
	*db = sv_picture_psnr(original, image->pixels);
	free(original);
	return 0;
}

/* Largest difference of a resized picture from the reference, in bytes. */
static double compare_resized(const struct sv_image *image,
    const unsigned char *resized, uint64_t *random)
{
	double largest = 0.0;

	for (unsigned i = 0; i < CHECKED; i++) {
		uint64_t drawn = sv_random_next(random) % SVK_PREPARED;
		unsigned at = i == 0   ? 0
			      : i == 1 ? SVK_PREPARED - 1
				       : (unsigned)drawn;
		unsigned place = at / SVK_CHANNELS;

		largest = fmax(largest,
		    fabs(resized[at] - sv_transform_reference_resized(image,
					   at % SVK_CHANNELS, place / SVK_SIDE,
					   place % SVK_SIDE)));
	}
	return largest;
}

/* Every picture once more, by one worker, against what it must be. */
static int check_crew(
    struct sv_bench_context *context, struct crew_state *s, struct sv_err *err)
{
	uint64_t random = sv_context_seed(context);
	double largest = 0.0, least_db = INFINITY, db = 0.0;

	for (size_t i = 0; i < PICTURES; i++) {
		const struct member *m = &s->members[i % s->workers];
		int code = prepare_one(s, (unsigned)(i % s->workers), i, err);
		struct sv_image image = sv_preparer_decoded(m->preparer);

		if (code == 0)
			code = decoded_db(&image, i, &db, err);
		if (code != 0)
			return code;
		least_db = fmin(least_db, db);
		if (s->work == SV_WORK_RESIZE)
			largest = fmax(largest,
			    compare_resized(&image,
				sv_preparer_resized(m->preparer), &random));
		else if (s->work != SV_WORK_DECODE)
			largest =
			    fmax(largest, sv_transform_compare(s->work, &image,
					      &s->in.crops[i % CROPS],
					      m->prepared, CHECKED, &random));
	}
	/* Half a step by rounding, and what single precision adds. */
	double tolerance = s->work == SV_WORK_RESIZE
			       ? 0.5 + SV_TRANSFORM_TOLERANCE
			       : SV_TRANSFORM_TOLERANCE;

	sv_report_check(context,
	    largest <= tolerance && least_db >= SV_PICTURE_LEAST_DB,
	    "%u pictures: decoded to %.1f dB of the original (at least %.0f), "
	    "prepared to %.2g of the reference (at most %g)",
	    PICTURES, least_db, SV_PICTURE_LEAST_DB, largest, tolerance);
	return 0;
}

static int open_members(struct crew_state *s, struct sv_err *err)
{
	int code = 0;

	s->members = calloc(s->workers, sizeof *s->members);
	if (s->members == NULL)
		return sv_err_set(err, SV_ERESOURCE, "workers: out of memory");
	for (unsigned i = 0; code == 0 && i < s->workers; i++) {
		struct member *m = &s->members[i];

		m->prepared = calloc(SVK_PREPARED, sizeof *m->prepared);
		code = m->prepared == NULL ? sv_err_set(err, SV_ERESOURCE,
						 "workers: out of memory")
					   : sv_preparer_new(&m->preparer, err);
	}
	return code;
}

static void close_members(struct crew_state *s)
{
	for (unsigned i = 0; s->members != NULL && i < s->workers; i++) {
		sv_preparer_free(s->members[i].preparer);
		free(s->members[i].prepared);
	}
	free(s->members);
}

static int run_crew(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct crew_state s = {.place = c->place,
	    .work = work_of(c),
	    .workers = (unsigned)sv_case_number(c, "workers")};
	const struct sv_sampled sampled[] = {
	    {.metric = "rate", .as = SV_AS_RATE, .amount = s.workers}};
	const struct sv_sampling sampling = {
	    .min_sample_ns =
		c->level == SV_QUICK ? QUICK_SAMPLE_NS : SAMPLE_NS};
	int code = make_inputs(&s.in, err);

	if (code == 0)
		code = open_members(&s, err);
	if (code == 0)
		code = sv_sample(
		    context, sampled, 1, &sampling, measure_crew, &s, err);
	if (code == 0)
		code = check_crew(context, &s, err);
	close_members(&s);
	sv_pictures_free(&s.in.pictures);
	return code;
}

/* --- on the device --- */

struct device_state {
	struct sv_rig rig;
	struct inputs in;
	enum sv_work work;
	struct sv_buffer source, crops, result[2];
	struct svk_crop_args crop;
	struct svk_elastic_args elastic;
	struct svk_blur_args across, down;
};

static int launch(struct device_state *s, const char *kernel, const void *args,
    size_t bytes, struct sv_err *err)
{
	static const struct sv_grid grid = {BATCH * BLOCKS, THREADS};

	return s->rig.ops->launch(
	    s->rig.stream, kernel, grid, args, bytes, err);
}

static int launch_all(struct device_state *s, struct sv_err *err)
{
	int code = launch(s, SV_KERNEL_CROP, &s->crop, sizeof s->crop, err);

	if (code != 0 || s->work == SV_WORK_STANDARD)
		return code;
	code =
	    launch(s, SV_KERNEL_ELASTIC, &s->elastic, sizeof s->elastic, err);
	if (code == 0)
		code = launch(
		    s, SV_KERNEL_BLUR, &s->across, sizeof s->across, err);
	return code != 0
		   ? code
		   : launch(s, SV_KERNEL_BLUR, &s->down, sizeof s->down, err);
}

static int measure_device(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct device_state *s = state;
	int code = sv_rig_begin(&s->rig, err);

	for (uint64_t i = 0; code == 0 && i < inner; i++)
		code = launch_all(s, err);
	return code != 0 ? code : sv_rig_end(&s->rig, readings, err);
}

/* Results go to and fro: heavy work ends in the second buffer. */
static void set_args(struct device_state *s)
{
	uint64_t a = s->result[0].address, b = s->result[1].address;

	s->crop = (struct svk_crop_args){.dst = a,
	    .src = s->source.address,
	    .crops = s->crops.address,
	    .images = BATCH,
	    .width = SV_PICTURE_WIDTH,
	    .height = SV_PICTURE_HEIGHT};
	s->elastic = (struct svk_elastic_args){
	    .dst = b, .src = a, .crops = s->crops.address, .images = BATCH};
	s->across = (struct svk_blur_args){.dst = a, .src = b, .images = BATCH};
	sv_transform_weights(s->across.weights);
	s->down = s->across;
	s->down.dst = b;
	s->down.src = a;
	s->down.vertical = 1;
}

/* Decoded picture `picture`, in a preparer that keeps it. */
static int decode(struct device_state *s, struct sv_preparer *preparer,
    size_t picture, struct sv_err *err)
{
	const struct sv_jpeg *jpeg = &s->in.pictures.list[picture];

	return sv_preparer_run(
	    preparer, SV_WORK_DECODE, jpeg->data, jpeg->bytes, NULL, NULL, err);
}

static int fill_device(
    struct device_state *s, struct sv_preparer *preparer, struct sv_err *err)
{
	int code = sv_rig_upload(&s->rig, &s->crops, 0, s->in.crops,
	    BATCH * sizeof s->in.crops[0], err);

	for (size_t i = 0; code == 0 && i < PICTURES; i++) {
		code = decode(s, preparer, i, err);
		for (size_t at = i; code == 0 && at < BATCH; at += PICTURES)
			code = sv_rig_upload(&s->rig, &s->source,
			    at * SV_PICTURE_BYTES,
			    sv_preparer_decoded(preparer).pixels,
			    SV_PICTURE_BYTES, err);
	}
	return code;
}

/* The first and the last of the batch, and one between, on the way back. */
static int check_device(struct sv_bench_context *context,
    struct device_state *s, struct sv_preparer *preparer, struct sv_err *err)
{
	static const size_t places[] = {0, BATCH / 2 + 1, BATCH - 1};
	uint64_t random = sv_context_seed(context);
	float *prepared = malloc(SVK_PREPARED * sizeof *prepared);
	double largest = 0.0;
	int code = 0;

	if (prepared == NULL)
		return sv_err_set(err, SV_ERESOURCE, "check: out of memory");
	for (size_t i = 0; code == 0 && i < 3; i++) {
		size_t at = places[i];
		struct sv_image image;

		code = decode(s, preparer, at % PICTURES, err);
		image = sv_preparer_decoded(preparer);
		if (code == 0)
			code = sv_rig_download(&s->rig,
			    &s->result[s->work == SV_WORK_HEAVY],
			    at * SVK_PREPARED * sizeof *prepared, prepared,
			    SVK_PREPARED * sizeof *prepared, err);
		if (code == 0)
			largest = fmax(largest,
			    sv_transform_compare(s->work, &image,
				&s->in.crops[at], prepared, CHECKED, &random));
	}
	if (code == 0)
		sv_report_check(context, largest <= SV_TRANSFORM_TOLERANCE,
		    "3 of %u pictures: prepared to %.2g of the reference (at "
		    "most %g)",
		    BATCH, largest, SV_TRANSFORM_TOLERANCE);
	free(prepared);
	return code;
}

static int run_device(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct sv_device *device = sv_context_device(context);
	struct device_state s = {.work = work_of(c)};
	struct sv_buffer *buffers[] = {
	    &s.source, &s.crops, &s.result[0], &s.result[1]};
	const size_t bytes[] = {source_bytes(), BATCH * sizeof(struct svk_crop),
	    result_bytes(), result_bytes()};
	const struct sv_sampled sampled[] = {
	    {.metric = "rate", .as = SV_AS_RATE, .amount = BATCH}};
	/* Four launches to an iteration. */
	const struct sv_sampling sampling = {
	    .max_inner = SV_RIG_MAX_QUEUED / 4};
	struct sv_preparer *preparer = NULL;
	struct sv_err ignored;
	int code = make_inputs(&s.in, err);

	if (code == 0)
		code = sv_preparer_new(&preparer, err);
	if (code == 0)
		code = sv_rig_init(&s.rig, device, err);
	for (size_t i = 0; code == 0 && i < 4; i++)
		code = device->ops->alloc(device, bytes[i], buffers[i], err);
	if (code == 0)
		code = fill_device(&s, preparer, err);
	if (code == 0) {
		set_args(&s);
		code = sv_sample(
		    context, sampled, 1, &sampling, measure_device, &s, err);
	}
	if (code == 0)
		code = check_device(context, &s, preparer, err);
	for (size_t i = 0; i < 4; i++)
		if (buffers[i]->token != NULL)
			(void)device->ops->free(device, buffers[i], &ignored);
	sv_rig_fini(&s.rig);
	sv_preparer_free(preparer);
	sv_pictures_free(&s.in.pictures);
	return code;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	return is_on_device(c) ? run_device(context, c, err)
			       : run_crew(context, c, err);
}

const struct sv_bench sv_bench_preprocess = {
    .name = "preprocess",
    .question = "How fast are samples prepared, on how many cores, or on the "
		"device?",
    .source = "method notes, section 2, CPU/storage; ImageNet's recipe",
    .metrics = metrics,
    .n_metrics = 1,
    .groups = groups,
    .n_groups = 3,
    .supported = supported,
    .cost = cost,
    .run = run,
};
