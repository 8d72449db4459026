/*
 * Google Benchmark's JSON, read by its compare.py: one entry a round. Its
 * tools compare times and nothing else, so that a rate is given as the time
 * of one unit of work (1/rate), with the rate itself as a counter beside it.
 * What has neither (a ratio) and what failed its check is left out and named
 * in the context.
 */
#include <math.h>
#include <string.h>

#include "export.h"
#include "stave/units.h"

#define NS_PER_S 1e9

/* Nanoseconds of one unit of work; NaN where there is no such thing. */
static double time_ns(const struct sv_measurement *m, double value)
{
	if (strcmp(m->unit, SV_UNIT_SECONDS) == 0)
		return value * NS_PER_S;
	if (strcmp(m->unit, SV_UNIT_BYTES_PER_SECOND) == 0 ||
	    strcmp(m->unit, SV_UNIT_FLOP_PER_SECOND) == 0 ||
	    strcmp(m->unit, SV_UNIT_PER_SECOND) == 0)
		return value > 0.0 ? NS_PER_S / value : NAN;
	return NAN;
}

static bool is_exported(const struct sv_measurement *m)
{
	return m->check != SV_CHECK_FAIL &&
	       isfinite(time_ns(m, m->summary.median));
}

static const char *counter_name(const struct sv_measurement *m)
{
	if (strcmp(m->unit, SV_UNIT_BYTES_PER_SECOND) == 0)
		return "bytes_per_second";
	if (strcmp(m->unit, SV_UNIT_PER_SECOND) == 0)
		return "items_per_second";
	return strcmp(m->unit, SV_UNIT_FLOP_PER_SECOND) == 0 ? "FLOP_per_second"
							     : NULL;
}

static json_t *entry(const struct sv_measurement *m, size_t index,
    size_t repetitions, double value)
{
	double ns = time_ns(m, value);
	const char *counter = counter_name(m);
	json_t *tree;

	/* A round may be 0 where its median is not. */
	if (!isfinite(ns))
		return json_null();
	tree = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:s}",
	    "name", m->id, "run_name", m->id, "run_type", "iteration",
	    "repetitions", (json_int_t)repetitions, "repetition_index",
	    (json_int_t)index, "threads", (json_int_t)1, "iterations",
	    (json_int_t)(m->inner > 0 ? m->inner : 1), "real_time", ns,
	    "cpu_time", ns, "time_unit", "ns");
	if (tree != NULL && counter != NULL)
		json_object_set_new(tree, counter, json_real(value));
	return tree;
}

/* Whether all of it could be added. */
static bool add_measurement(json_t *list, const struct sv_measurement *m)
{
	size_t n = m->n_rounds > 0 ? m->n_rounds : 1;

	for (size_t i = 0; i < n; i++) {
		json_t *tree = entry(m, i, n,
		    m->n_rounds > 0 ? m->rounds[i] : m->summary.median);

		if (json_is_null(tree))
			continue;
		if (json_array_append_new(list, tree) != 0)
			return false;
	}
	return true;
}

static json_t *context(const struct sv_result *r, json_t *left_out)
{
	json_t *threads = sv_result_field(r->machine, "cpu.usable_threads");
	json_t *device = sv_result_field(r->device, "name");

	return json_pack("{s:s?, s:s?, s:s, s:o, s:I, s:b, s:[], s:[], s:s, "
			 "s:s?, s:s, s:s, s:o}",
	    "date", r->run.finished, "host_name", r->run.label, "executable",
	    "stave", "num_cpus",
	    json_is_integer(threads) ? json_incref(threads) : json_integer(0),
	    "mhz_per_cpu", (json_int_t)0, "cpu_scaling_enabled", 0, "caches",
	    "load_avg", "library_build_type", "release", "device",
	    json_string_value(device), "origin", r->run.origin, "rates",
	    "real_time of a rate is the time of one unit of work, 1/rate",
	    "left_out", left_out);
}

int sv_export_gbench(const struct sv_result *r, FILE *out, struct sv_err *err)
{
	json_t *list = json_array(), *left_out = json_array(), *root = NULL;
	bool good = list != NULL && left_out != NULL;

	for (size_t i = 0; good && i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		good = is_exported(m) ? add_measurement(list, m)
				      : json_array_append_new(
					    left_out, json_string(m->id)) == 0;
	}
	if (good) {
		root = json_pack("{s:o, s:O}", "context",
		    context(r, json_incref(left_out)), "benchmarks", list);
		good = root != NULL;
	}
	if (good) {
		json_dumpf(root, out, JSON_INDENT(1));
		fputc('\n', out);
	}
	json_decref(root);
	json_decref(list);
	json_decref(left_out);
	return good ? 0
		    : sv_err_set(err, SV_ERESOURCE, "export: out of memory");
}
