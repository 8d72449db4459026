/*
 * What feeds the device: storage, loader, pinned and shared memory,
 * preparation on the processor.
 */
#include <string.h>

#include "checklist_parts.h"
#include "quantity.h"

/* Reading packed samples this much faster than files is worth packing. */
#define PACKING_PAYS	    2.0
/* What Docker gives a container unless told otherwise is far below. */
#define ENOUGH_SHARED_BYTES (1024.0 * 1024 * 1024)
/* A batch or two of images; what Debian allows by default is below. */
#define ENOUGH_LOCKED_BYTES (64.0 * 1024 * 1024)
/* Below this share of one worker's rate times workers they hinder another. */
#define SCALES_WELL	    0.5
#define FEW_THREADS	    4.0

/* A medium that is slow at many small files, and its name; else NULL. */
static const char *slow_medium(const struct sv_result *r)
{
	const char *transport = sv_seen_text(r->machine, "storage.transport");

	if (transport == NULL)
		return NULL;
	/* Emulated disks call themselves rotating. */
	if (sv_seen_truth(r->machine, "storage.rotational") == 1 &&
	    strcmp(transport, "sata") == 0)
		return "a rotating disk";
	return strcmp(transport, "network") == 0 ? "a network file system"
	       : strcmp(transport, "usb") == 0	 ? "a disk on USB"
						 : NULL;
}

void sv_judge_storage(const struct sv_result *r, struct sv_finding *f)
{
	const struct sv_measurement *files =
	    sv_best_figure(r, "storage/rate?layout=files&cache=cold");
	const struct sv_measurement *packed =
	    sv_best_figure(r, "storage/rate?layout=packed&cache=cold");
	const char *slow = slow_medium(r);
	const char *path = sv_seen_text(r->machine, "storage.path");
	const char *system = sv_seen_text(r->machine, "storage.filesystem");
	double ratio;

	sv_say(f, "%s is on %s (%s)", path != NULL ? path : "the data",
	    slow != NULL ? slow : "a medium that is not known to be slow",
	    system != NULL ? system : "file system unknown");
	if (files == NULL || packed == NULL) {
		sv_say(f, "small files and packed ones were not measured");
		if (slow != NULL)
			sv_at_least(f, SV_FINDING_WARN);
		return;
	}
	ratio = packed->summary.median / files->summary.median;
	sv_rest_on(f, files);
	sv_rest_on(f, packed);
	sv_say(f, "small files are read at %s, packed ones %.1f times as fast",
	    sv_figure_text(files), ratio);
	sv_at_least(f, ratio < PACKING_PAYS ? SV_FINDING_OK
		       : slow == NULL	    ? SV_FINDING_WARN
					    : SV_FINDING_FAIL);
}

void sv_judge_loader_cores(const struct sv_result *r, struct sv_finding *f)
{
	double usable = sv_seen_number(r->machine, "cpu.usable_threads");
	double all = sv_seen_number(r->machine, "cpu.threads");
	double quota = sv_seen_number(r->machine, "cpu.quota_threads");
	bool bound;

	if (!isfinite(usable)) {
		sv_say(f, "usable threads: %s",
		    sv_seen_why(r->machine, "cpu.usable_threads"));
		return;
	}
	if (isfinite(all))
		sv_say(f, "%.0f of %.0f threads are usable", usable, all);
	else
		sv_say(f, "%.0f threads are usable", usable);
	if (isfinite(quota))
		sv_say(f, "the control group allows %.1f", quota);
	bound = isfinite(sv_seen_number(r->machine, "binding.node"));
	if (bound)
		sv_say(f, "the process is bound to a node");
	if (usable < 2.0 && isfinite(all) && all > 2.0)
		sv_at_least(f, SV_FINDING_FAIL);
	else if (usable < FEW_THREADS ||
		 (isfinite(all) && usable < all && !bound))
		sv_at_least(f, SV_FINDING_WARN);
	else
		sv_at_least(f, SV_FINDING_OK);
}

void sv_judge_loader_rate(const struct sv_result *r, struct sv_finding *f)
{
	const struct sv_measurement *none =
	    sv_best_figure(r, "loader/rate?workers=0");
	const struct sv_measurement *one =
	    sv_best_figure(r, "loader/rate?workers=1");
	const struct sv_measurement *best = sv_best_figure(r, "loader/rate");
	const struct sv_measurement *base = one != NULL ? one : none;
	double gain;
	long long workers;

	if (best == NULL || base == NULL) {
		sv_say(f, "the loader was not measured");
		return;
	}
	workers = sv_figure_param(best, "workers", 0);
	gain = best->summary.median / base->summary.median;
	sv_rest_on(f, base);
	sv_rest_on(f, best);
	sv_say(f, "%s with %lld workers, %.1f times that with %lld",
	    sv_figure_text(best), workers, gain,
	    sv_figure_param(base, "workers", 0));
	sv_at_least(
	    f, workers > 1 || gain > 1.0 ? SV_FINDING_OK : SV_FINDING_WARN);
	if (f->status == SV_FINDING_WARN)
		sv_advise(f, "more workers do not help here: look at storage, "
			     "at what a worker does, and at its threads");
}

/* A skip of pinned memory, with its reason; NULL where there is none. */
static const char *pinned_refused(const struct sv_result *r)
{
	for (size_t i = 0; i < r->n_skipped; i++) {
		const char *memory = json_string_value(
		    json_object_get(r->skipped[i].params, "memory"));

		if (memory != NULL && strcmp(memory, "pinned") == 0)
			return r->skipped[i].reason;
	}
	return NULL;
}

void sv_judge_pinned(const struct sv_result *r, struct sv_finding *f)
{
	static const char field[] = "memory.memlock_limit_bytes";
	const struct sv_measurement *pinned =
	    sv_best_figure(r, "transfer/bandwidth?memory=pinned&direction=h2d");
	const struct sv_measurement *pageable = sv_best_figure(
	    r, "transfer/bandwidth?memory=pageable&direction=h2d");
	const char *refused = pinned_refused(r);
	const char *backend = sv_seen_text(r->device, "backend");
	bool is_card = backend != NULL && strcmp(backend, "cuda") == 0;
	double limit = sv_seen_number(r->machine, field);
	char size[SV_QUANTITY_BYTES];

	if (isfinite(limit))
		sv_say(f, "RLIMIT_MEMLOCK is %s",
		    sv_quantity_size(size, sizeof size, limit));
	else
		sv_say(f, "RLIMIT_MEMLOCK: %s", sv_seen_why(r->machine, field));
	if (pinned != NULL && pageable != NULL) {
		sv_rest_on(f, pinned);
		sv_rest_on(f, pageable);
		sv_say(f, "pinned copies run at %s, pageable at %s",
		    sv_figure_text(pinned), sv_figure_text(pageable));
	}
	if (refused != NULL) {
		sv_say(f, "pinned memory was refused: %.160s", refused);
		sv_at_least(f, SV_FINDING_WARN);
	} else if (pinned != NULL) {
		sv_at_least(f, SV_FINDING_OK);
	} else if (isfinite(limit) && limit < ENOUGH_LOCKED_BYTES && is_card) {
		sv_say(f, "a card's driver pins past it as a rule, except "
			  "in WSL: measure");
	} else if (isfinite(limit)) {
		sv_at_least(f, limit < ENOUGH_LOCKED_BYTES ? SV_FINDING_WARN
							   : SV_FINDING_OK);
	} else if (strcmp(sv_seen_why(r->machine, field), "unlimited") == 0) {
		sv_at_least(f, SV_FINDING_OK);
	}
}

void sv_judge_shared_memory(const struct sv_result *r, struct sv_finding *f)
{
	double bytes = sv_seen_number(r->machine, "memory.shm_bytes");
	char size[SV_QUANTITY_BYTES];

	if (!isfinite(bytes)) {
		sv_say(f, "/dev/shm: %s",
		    sv_seen_why(r->machine, "memory.shm_bytes"));
		return;
	}
	sv_say(
	    f, "/dev/shm holds %s", sv_quantity_size(size, sizeof size, bytes));
	sv_at_least(
	    f, bytes < ENOUGH_SHARED_BYTES ? SV_FINDING_WARN : SV_FINDING_OK);
}

/* The figure with the most workers among those that fit. */
static const struct sv_measurement *most_workers(
    const struct sv_result *r, const char *pattern)
{
	const struct sv_measurement *most = NULL;

	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (sv_figure_counts(pattern, m) &&
		    (most == NULL || sv_figure_param(m, "workers", 0) >
					 sv_figure_param(most, "workers", 0)))
			most = m;
	}
	return most;
}

void sv_judge_preprocess(const struct sv_result *r, struct sv_finding *f)
{
	static const char all[] = "preprocess/rate?where=cpu&work=standard";
	const struct sv_measurement *one = sv_best_figure(
	    r, "preprocess/rate?where=cpu&work=standard&workers=1");
	const struct sv_measurement *most = most_workers(r, all);
	const struct sv_measurement *best = sv_best_figure(r, all);
	double share;
	long long workers;

	if (one == NULL || most == NULL) {
		sv_say(f, "preparation was not measured");
		return;
	}
	workers = sv_figure_param(most, "workers", 1);
	share = most->summary.median / (one->summary.median * (double)workers);
	sv_rest_on(f, one);
	sv_rest_on(f, most);
	sv_say(f, "one worker prepares %s, %lld together %s: %.0f %% of ideal",
	    sv_figure_text(one), workers, sv_figure_text(most), 100.0 * share);
	if (best != most) {
		sv_rest_on(f, best);
		sv_say(f, "the best is %s with %lld", sv_figure_text(best),
		    sv_figure_param(best, "workers", 1));
	}
	sv_at_least(f, share < SCALES_WELL ? SV_FINDING_WARN : SV_FINDING_OK);
}
