/*
 * Question: how fast can samples be read from where the training data lies,
 * in no order, by layout, number of readers, and with or without the help of
 * memory?
 * Method: the same samples as many small files, as one packed file and in an
 * LMDB, made once in the folder that --storage-path names. Threads take the
 * next sample of a shuffled order until all of the pass are read. cold: before
 * each pass its files are thrown out of the page cache by advice, and every
 * page is looked up to be gone; the packed file is read with O_DIRECT where
 * the file system allows it. warm: everything was read before, and is looked
 * up to be in memory. unknown: as cold, on a file system whose memory cannot
 * be looked into or emptied.
 * Inside the timed region: opening (where each sample is a file), reading and
 * copying out. Outside: making the samples, throwing them out, starting the
 * threads, comparing.
 * Known bias: folders and inodes stay in memory while samples do not; in a
 * virtual machine cold is the guest's cache alone, the host may still keep
 * what the guest dropped; LMDB comes in page by page, without reading ahead,
 * as trainers open it for shuffled reads.
 * Source: method notes, section 2, CPU/storage; the sample is an ImageNet
 * file's mean size.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "crew.h"
#include "dataset.h"
#include "pattern.h"
#include "stave/bench.h"
#include "stave/order.h"
#include "stave/units.h"
#include "timing.h"

#define MAX_THREADS	16
#define SAMPLES_QUICK	256
#define SAMPLES		10000
#define CHECKED		64
/*
 * Time of a sample, by the mean of some passes: long against one read of a
 * disk, a change of threads, and the pauses by which virtual disks keep to
 * their rate. A single sample would be taken for long enough because of one
 * such pause. Memory makes none.
 */
#define QUICK_SAMPLE_NS 1e7
#define COLD_SAMPLE_NS	1e8
#define WARM_SAMPLE_NS	2e7
#define QUICK_TRIAL_NS	2e7
#define TRIAL_NS	2e8
/*
 * A pass gives several samples one after the other: between passes a disk may
 * rest, and one whose rate is limited saves up for the next one.
 */
#define QUICK_SLICES	4
#define SLICES		8
#define DROP_TRIES	3
/* Of an LMDB a few pages are free space that nobody reads. */
#define WARM_SHARE	0.99

static const struct sv_metric metrics[] = {
    {"rate", SV_UNIT_PER_SECOND, true, "samples read a second"},
    {"bandwidth", SV_UNIT_BYTES_PER_SECOND, true,
	"bytes of samples read a second"},
};

static const struct sv_value layouts[] = {
    {"files", 0, SV_QUICK}, {"packed", 0, SV_QUICK}, {"lmdb", 0, SV_STANDARD}};
static const struct sv_value sizes[] = {{NULL, 110000, SV_QUICK}};
static const struct sv_value threads[] = {
    {NULL, 1, SV_STANDARD}, {NULL, 4, SV_QUICK}, {NULL, 16, SV_STANDARD}};
static const struct sv_value caches[] = {
    {"cold", 0, SV_QUICK}, {"warm", 0, SV_QUICK}};
static const struct sv_axis axes[] = {{"layout", layouts, 3},
    {"sample_bytes", sizes, 1}, {"threads", threads, 3}, {"cache", caches, 2}};

static bool is_cache(const struct sv_case *c, const char *text)
{
	return strcmp(sv_case_text(c, "cache"), text) == 0;
}

/* What cannot be verified to be cold is not called so. */
static bool derive(struct sv_case *c)
{
	if (is_cache(c, "cold") && !c->place->cold)
		sv_case_set_text(c, "cache", "unknown");
	return true;
}

static const struct sv_group groups[] = {
    {{"rate", "bandwidth"}, axes, 4, derive}};

static uint64_t seed_of(size_t index)
{
	uint64_t state = index;

	return sv_random_next(&state);
}

static size_t fill(void *state, size_t index, unsigned char *buffer)
{
	size_t bytes = *(const size_t *)state;

	sv_pattern_fill(buffer, bytes, seed_of(index));
	return bytes;
}

static struct sv_dataset_spec spec_of(const struct sv_case *c, size_t *bytes)
{
	const char *layout = sv_case_text(c, "layout");

	*bytes = (size_t)sv_case_number(c, "sample_bytes");
	return (struct sv_dataset_spec){.name = "samples",
	    .layout = strcmp(layout, "files") == 0    ? SV_LAYOUT_FILES
		      : strcmp(layout, "packed") == 0 ? SV_LAYOUT_PACKED
						      : SV_LAYOUT_LMDB,
	    .n = c->level == SV_QUICK ? SAMPLES_QUICK : SAMPLES,
	    .bytes = *bytes,
	    .contents = fill,
	    .state = bytes};
}

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	size_t bytes;
	struct sv_dataset_spec spec = spec_of(c, &bytes);
	int code = sv_timing_host_work(err);

	(void)device;
	return code != 0 ? code
			 : sv_dataset_possible(c->place->folder, &spec, err);
}

/* An iteration is one sample for each thread. */
static struct sv_cost cost(const struct sv_case *c)
{
	return (struct sv_cost){
	    .bytes = (double)sv_case_number(c, "threads") *
		     (double)sv_case_number(c, "sample_bytes")};
}

struct state {
	const struct sv_place *place;
	struct sv_dataset *dataset;
	struct sv_reader *readers[MAX_THREADS];
	unsigned threads;
	bool drop, verify, direct;
	size_t *order;	/* [n], shuffled */
	size_t n, used; /* of the order, so far */
	uint64_t random;
	/* Of the pass under way. */
	const size_t *pass;
	size_t count, slice; /* samples in all, and of one slice */
	atomic_size_t next, done;
	uint64_t begin_ns;
	double ends_ns[SLICES]; /* when each slice was read, from then on */
	/* Times of its slices, of which so many are given. */
	size_t most_slices, slices, given;
	double times_ns[SLICES];
};

static void close_readers(struct state *s)
{
	for (unsigned i = 0; i < s->threads; i++) {
		sv_reader_close(s->readers[i]);
		s->readers[i] = NULL;
	}
}

static int open_readers(struct state *s, struct sv_err *err)
{
	int code = 0;

	for (unsigned i = 0; code == 0 && i < s->threads; i++)
		if (s->readers[i] == NULL)
			code = sv_reader_open(
			    s->dataset, s->drop, &s->readers[i], err);
	if (code == 0)
		s->direct = sv_reader_is_direct(s->readers[0]);
	return code;
}

/*
 * Throw out the pass's samples. An LMDB that is open keeps its pages, so
 * readers come and go with each pass.
 */
static int make_cold(struct state *s, struct sv_err *err)
{
	double share = 1.0;
	int code = 0;

	close_readers(s);
	for (int i = 0; code == 0 && share > 0.0 && i < DROP_TRIES; i++) {
		code = sv_dataset_drop(s->dataset, s->pass, s->count, err);
		if (code == 0 && !s->verify)
			break;
		if (code == 0)
			code = sv_dataset_resident(
			    s->dataset, s->pass, s->count, &share, err);
	}
	if (code == 0 && s->verify && share > 0.0)
		code = sv_err_set(err, SV_EUNSUPPORTED,
		    "%.2f %% of the samples' pages stay in memory: nothing "
		    "here is cold",
		    100.0 * share);
	return code;
}

static int read_some(void *state, unsigned member, struct sv_err *err)
{
	struct state *s = state;
	const unsigned char *data;
	size_t i, bytes;

	while ((i = atomic_fetch_add(&s->next, 1)) < s->count) {
		int code = sv_reader_read(
		    s->readers[member], s->pass[i], &data, &bytes, err);

		if (code != 0)
			return code;
		i = atomic_fetch_add(&s->done, 1) + 1;
		if (i % s->slice == 0)
			s->ends_ns[i / s->slice - 1] =
			    (double)(sv_now_ns() - s->begin_ns);
	}
	return 0;
}

/* Read the samples of as many slices as a pass may have. */
static int make_pass(struct state *s, uint64_t inner, struct sv_err *err)
{
	double elapsed_ns, before_ns;
	int code = 0;

	s->slice = (size_t)inner * s->threads;
	s->slices = s->slice > 0 ? s->n / s->slice : 0;
	if (s->slices == 0)
		return sv_err_set(err, SV_EUSAGE,
		    "%llu iterations: there are %zu samples for %u threads",
		    (unsigned long long)inner, s->n, s->threads);
	if (s->slices > s->most_slices)
		s->slices = s->most_slices;
	s->count = s->slices * s->slice;
	if (s->used + s->count > s->n) {
		sv_random_shuffle(s->order, s->n, &s->random);
		s->used = 0;
	}
	s->pass = s->order + s->used;
	s->used += s->count;
	atomic_store(&s->next, 0);
	atomic_store(&s->done, 0);
	if (s->drop)
		code = make_cold(s, err);
	if (code == 0)
		code = open_readers(s, err);
	s->begin_ns = sv_now_ns();
	if (code == 0)
		code = sv_crew_run(
		    s->place, s->threads, read_some, s, &elapsed_ns, err);
	if (code != 0)
		return code;
	/* A thread may lose its core between the last read and the clock. */
	sv_order_sort(s->ends_ns, s->slices);
	before_ns = fmax(0.0, s->ends_ns[s->slices - 1] - elapsed_ns);
	for (size_t i = 0; i < s->slices; i++) {
		s->times_ns[i] = fmax(1.0, s->ends_ns[i] - before_ns);
		before_ns = s->ends_ns[i];
	}
	s->given = 0;
	return 0;
}

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	int code = 0;

	if (s->given == s->slices || s->slice != inner * s->threads)
		code = make_pass(s, inner, err);
	if (code == 0)
		readings[0] = readings[1] = s->times_ns[s->given++];
	return code;
}

/* How many iterations take `sample_ns`, by passes that take `trial_ns`. */
static int estimate(struct state *s, double sample_ns, double trial_ns,
    uint64_t *inner, struct sv_err *err)
{
	uint64_t most = s->n / s->threads, n = 1;
	double total_ns = 0.0, fitting;

	for (;; n = 2 * n < most ? 2 * n : most) {
		int code = make_pass(s, n, err);

		if (code != 0)
			return code;
		total_ns = 0.0;
		for (size_t i = 0; i < s->slices; i++)
			total_ns += s->times_ns[i];
		if (total_ns >= trial_ns || n == most)
			break;
	}
	fitting = sample_ns / total_ns * (double)(n * s->slices);
	*inner = fitting < 1.0		  ? 1
		 : fitting > (double)most ? most
					  : (uint64_t)fitting;
	return 0;
}

/* Read everything once, and see that it stays. */
static int make_warm(struct state *s, struct sv_err *err)
{
	const unsigned char *data;
	double share = 0.0;
	size_t bytes;
	int code = open_readers(s, err);

	for (size_t i = 0; code == 0 && i < s->n; i++)
		code = sv_reader_read(s->readers[0], i, &data, &bytes, err);
	if (code == 0)
		code = sv_dataset_resident(
		    s->dataset, s->order, s->n, &share, err);
	if (code == 0 && share < WARM_SHARE)
		code = sv_err_set(err, SV_ERESOURCE,
		    "only %.0f %% of the samples stay in memory: nothing here "
		    "is warm",
		    100.0 * share);
	return code;
}

static int check(struct sv_bench_context *context, struct state *s,
    size_t sample_bytes, struct sv_err *err)
{
	const unsigned char *data;
	size_t bytes = 0, wrong = s->n;
	int code = open_readers(s, err);

	for (size_t i = 0; code == 0 && wrong == s->n && i < CHECKED; i++) {
		size_t at = i == 0   ? 0
			    : i == 1 ? s->n - 1
				     : sv_random_next(&s->random) % s->n;

		code = sv_reader_read(
		    s->readers[i % s->threads], at, &data, &bytes, err);
		if (code == 0 &&
		    (bytes != sample_bytes ||
			sv_pattern_check(data, bytes, seed_of(at)) != bytes))
			wrong = at;
	}
	if (code == 0 && wrong == s->n)
		sv_report_check(context, true, "%d of %zu samples compared%s",
		    CHECKED, s->n, s->direct ? ", read with O_DIRECT" : "");
	else if (code == 0)
		sv_report_check(context, false,
		    "sample %zu is not what was written", wrong);
	return code;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	size_t bytes;
	struct sv_dataset_spec spec = spec_of(c, &bytes);
	struct state s = {.place = c->place,
	    .threads = (unsigned)sv_case_number(c, "threads"),
	    .drop = !is_cache(c, "warm"),
	    .verify = is_cache(c, "cold"),
	    .n = spec.n,
	    .most_slices = c->level == SV_QUICK ? QUICK_SLICES : SLICES,
	    .random = sv_context_seed(context)};
	const struct sv_sampled sampled[] = {
	    {.metric = "rate", .as = SV_AS_RATE, .amount = s.threads},
	    {.metric = "bandwidth", .as = SV_AS_RATE, .amount = cost(c).bytes}};
	bool quick = c->level == SV_QUICK;
	struct sv_sampling sampling = {0};
	int code;

	s.order = calloc(s.n, sizeof *s.order);
	if (s.order == NULL)
		return sv_err_set(err, SV_ERESOURCE, "storage: out of memory");
	sv_random_shuffle(s.order, s.n, &s.random);
	code = sv_dataset_open(c->place->folder, &spec, &s.dataset, err);
	if (code == 0 && !s.drop)
		code = make_warm(&s, err);
	if (code == 0 && c->inner == 0)
		code = estimate(&s,
		    quick    ? QUICK_SAMPLE_NS
		    : s.drop ? COLD_SAMPLE_NS
			     : WARM_SAMPLE_NS,
		    quick ? QUICK_TRIAL_NS : TRIAL_NS, &sampling.inner, err);
	if (code == 0)
		code =
		    sv_sample(context, sampled, 2, &sampling, measure, &s, err);
	if (code == 0)
		code = check(context, &s, bytes, err);
	close_readers(&s);
	sv_dataset_close(s.dataset);
	free(s.order);
	return code;
}

const struct sv_bench sv_bench_storage = {
    .name = "storage",
    .question = "How fast can samples be read from disk, in no order?",
    .source = "method notes, section 2, CPU/storage",
    .metrics = metrics,
    .n_metrics = 2,
    .groups = groups,
    .n_groups = 1,
    .files = true,
    .supported = supported,
    .cost = cost,
    .run = run,
};
