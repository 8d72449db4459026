/*
 * What a benchmark is: const data and three functions. One benchmark is one
 * file, benches/NAME.c, which defines `const struct sv_bench sv_bench_NAME`;
 * the build finds the file and generates the table.
 */
#ifndef STAVE_BENCH_H
#define STAVE_BENCH_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stave/device.h"
#include "stave/err.h"
#include "stave/task.h"

/* From which profile on a value is measured. */
enum sv_level {
	SV_QUICK,
	SV_STANDARD,
	SV_FULL,
};

/* A parameter's value: text, or a whole number where text is NULL. */
struct sv_value {
	const char *text;
	int64_t number;
	enum sv_level level;
};

struct sv_axis {
	const char *name;
	const struct sv_value *values;
	size_t n_values;
};

struct sv_param {
	const char *name;
	const char *text; /* NULL: number holds */
	int64_t number;
};

#define SV_MAX_PARAMS  12
#define SV_MAX_METRICS 4

struct sv_metric {
	const char *name;
	const char *unit; /* SV_UNIT_* */
	bool higher_is_better;
	const char *summary; /* one sentence, what one unit of it means */
};

struct sv_case;
struct sv_tasks;

/* What a process was given beside its device. */
struct sv_place {
	unsigned cores;	    /* usable: affinity and cgroup */
	cpu_set_t cpus;	    /* of the process, before a device took any */
	const char *folder; /* where files may be made; NULL: nowhere */
	/*
	 * Whether what folder holds can be put out of memory, and be seen to
	 * be: without it nobody knows where a read comes from.
	 */
	bool cold;
	const struct sv_tasks *tasks; /* that were asked for; may be NULL */
};

/*
 * Cases that are alike: the product of the axes, every case giving all of
 * `metrics` (names, ended by NULL).
 */
struct sv_group {
	const char *metrics[SV_MAX_METRICS + 1];
	const struct sv_axis *axes;
	size_t n_axes;
	/*
	 * Optional: replace or add parameters that follow from the axes;
	 * false drops the combination.
	 */
	bool (*derive)(struct sv_case *);
};

/* One case: a group with its parameters chosen. */
struct sv_case {
	const struct sv_bench *bench;
	const struct sv_group *group;
	struct sv_param params[SV_MAX_PARAMS];
	size_t n_params;
	const struct sv_place *place;
	enum sv_level level; /* the profile this run has */
	uint64_t inner;	     /* frozen iterations a sample; 0: calibrate */
	const struct sv_task *task; /* of a benchmark that has them, or NULL */
};

/* What one iteration moves and computes; 0 where it means nothing. */
struct sv_cost {
	double bytes;
	double flop;
};

struct sv_bench_context; /* one process of one benchmark: support/ */

struct sv_bench {
	const char *name;     /* equals the file's stem */
	const char *question; /* what a user learns, one sentence */
	const char *source;   /* where the method comes from */
	const struct sv_metric *metrics;
	size_t n_metrics;
	const struct sv_group *groups;
	size_t n_groups;
	bool files; /* measures with files in the place's folder */
	/*
	 * Its cases are there once for every task that the worker was told
	 * (stave/task.h), with parameters workload and batch beside the axes.
	 */
	bool per_task;
	/*
	 * 0 when the device can run the case; otherwise SV_EUNSUPPORTED,
	 * SV_EPERMISSION or SV_ERESOURCE with the sentence that the user
	 * reads as reason, or SV_EUSAGE where the case names something that
	 * is not here (the third of two devices): it is left out without a
	 * word. Allocates nothing.
	 */
	int (*supported)(
	    struct sv_device *, const struct sv_case *, struct sv_err *);
	struct sv_cost (*cost)(const struct sv_case *);
	/* Measure one case: samples, then check, through the context. */
	int (*run)(
	    struct sv_bench_context *, const struct sv_case *, struct sv_err *);
};

/* Every benchmark of this build, by name; generated. */
extern const struct sv_bench *const sv_benches[];
extern const size_t sv_benches_count;

#endif
