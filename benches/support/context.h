/*
 * What a running benchmark has at hand: its device, its case, and the way to
 * report samples and checks. Made by the worker, one for each process.
 */
#ifndef STAVE_CONTEXT_H
#define STAVE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "stave/bench.h"

struct sv_device *sv_context_device(struct sv_bench_context *);
/* Seed of this process, different in every round. */
uint64_t sv_context_seed(const struct sv_bench_context *);

/* A parameter of a case; the case must have it with that type. */
int64_t sv_case_number(const struct sv_case *, const char *name);
const char *sv_case_text(const struct sv_case *, const char *name);
/* Whether the case has the parameter at all. */
bool sv_case_has(const struct sv_case *, const char *name);
/*
 * Set or replace a parameter, for a group's derive(); text is borrowed and
 * must be static. Names stay sorted only when the id is made.
 */
void sv_case_set_number(struct sv_case *, const char *name, int64_t number);
void sv_case_set_text(struct sv_case *, const char *name, const char *text);
void sv_case_drop(struct sv_case *, const char *name);

/*
 * For a derive(): "all" workers become the usable cores, and so many or more
 * by number are dropped: false.
 */
bool sv_case_fit_workers(struct sv_case *);

/* Case parameters as the device interface's enums, by their contract names. */
enum sv_memory sv_case_memory(const struct sv_case *);
enum sv_wait sv_case_wait(const struct sv_case *);
enum sv_precision sv_case_precision(const struct sv_case *);
/* A precision by its contract name; false where there is none of it. */
bool sv_precision_parse(const char *name, enum sv_precision *out);
const char *sv_precision_name(enum sv_precision);

/* How a reading of the clock becomes a value of the metric. */
enum sv_conversion {
	SV_AS_TIME,  /* s: reading (ns, for `inner` iterations) / inner */
	SV_AS_RATE,  /* 1/s: amount · inner / reading (ns) */
	SV_AS_VALUE, /* the reading is the value, in the metric's unit */
};

/* One metric that a measuring function gives a reading of. */
struct sv_sampled {
	const char *metric;
	enum sv_conversion as;
	double amount;	  /* per iteration, in SI units; SV_AS_RATE only */
	double reference; /* theoretical ceiling, 0 for none */
	const char *reference_what;
	const char *flag; /* to attach to the measurement, or NULL */
};

/* How to sample. Zero members mean the defaults of the method notes. */
struct sv_sampling {
	double min_sample_ns; /* default 200 µs (host clock) */
	uint64_t max_inner;   /* 0: no limit, e.g. a queue depth otherwise */
	uint64_t inner;	      /* known without calibrating; 0: calibrate */
};

/*
 * Do `inner` iterations and give one reading per metric; only what belongs
 * to the quantity lies inside the timed region.
 */
typedef int sv_measure_fn(
    void *state, uint64_t inner, double *readings, struct sv_err *err);

/*
 * Sample until the stopping rule of the method notes (section 1, scheme 2
 * and 3; shortened in the quick profile) is met, and report the samples of
 * all metrics. Calibrates inner unless the case brings it. Errors: those of
 * measure.
 */
SV_MUST_CHECK int sv_sample(struct sv_bench_context *,
    const struct sv_sampled *metrics, size_t n_metrics,
    const struct sv_sampling *, sv_measure_fn *measure, void *state,
    struct sv_err *err);

/*
 * Measure for a fixed time, not until it settles: n windows, each until its
 * readings add up to window_ns. metrics[0] gets the windows' values,
 * metrics[1] the one value that `of` makes of them. The device's state is read
 * between windows. Errors: those of measure.
 */
SV_MUST_CHECK int sv_sample_windows(struct sv_bench_context *,
    const struct sv_sampled metrics[2], const struct sv_sampling *,
    double window_ns, size_t n, double (*of)(const double *values, size_t n),
    sv_measure_fn *measure, void *state, struct sv_err *err);

/*
 * Made by the worker for one process; ends with it. level chooses how long a
 * case may take; timeline: whether somebody wants spans.
 */
struct sv_bench_context *sv_context_new(
    struct sv_device *, enum sv_level level, uint64_t seed, bool timeline);
void sv_context_free(struct sv_bench_context *);
/* Begin a case; what is sampled from now on belongs to it. */
void sv_context_begin(struct sv_bench_context *, const struct sv_case *);

/* One thing that went on for a while, for a timeline. */
struct sv_span {
	const char *name;  /* what */
	const char *track; /* where: "host", "device", "copy" */
	double start_s, duration_s;
};

/* Whether a timeline of this case is wanted, and giving it. */
bool sv_context_timeline(const struct sv_bench_context *);
void sv_report_spans(
    struct sv_bench_context *, const struct sv_span *spans, size_t n);

/* Report what verification said about the case just sampled. */
SV_PRINTF(3, 4)
void sv_report_check(
    struct sv_bench_context *, bool pass, const char *detail, ...);

#endif
