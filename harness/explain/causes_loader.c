/* Causes before the step: reading samples and preparing them. */
#include <math.h>

#include "case.h"
#include "quantity.h"
#include "stave/units.h"

static double rate(const struct sv_case *c, double seconds)
{
	return (double)c->b.batch / seconds;
}

static void loader_workers(struct sv_case *c)
{
	const struct sv_workload_defaults *d =
	    sv_workload_defaults(c->request->workload_b);
	double best_s = INFINITY;
	long most = isnan(c->in_b->usable_threads)
			? d->loader_workers
			: (long)c->in_b->usable_threads;
	struct sv_stages best = c->mended;
	long best_n = d->loader_workers;
	struct sv_suspect f = {.code = "LOADER_WORKERS",
	    .share_s = c->shares.share_s[SV_PREPROCESS],
	    .falsify = "stave run --bench preprocess,loader: the rate does "
		       "not follow the number of workers",
	    .component = SV_PREPROCESS,
	    .fields = {"machine.cpu.usable_threads"}};

	if (c->stages_b.preprocess.s <= 0.0)
		return;
	/* Only numbers near the present one's doublings are worth trying. */
	for (long n = 1; n <= most; n = n < 4 ? n + 1 : n + n / 4) {
		struct sv_side side = c->b;
		struct sv_stages s, with = c->mended;
		double t;

		side.workers = n;
		sv_case_stages(c, &side, &s);
		if (c->code != 0)
			return;
		sv_stage_take(&with, &s, SV_PREPROCESS);
		sv_stage_take(&with, &s, SV_STORAGE);
		t = sv_step_time(&with);
		/* More workers must be worth their memory. */
		if (t < 0.995 * best_s) {
			best_s = t;
			best_n = n;
			best = with;
		}
	}
	if (!sv_case_lift(c, &f, &best))
		return;
	f.claim = sv_case_text(c,
	    "%ld loader workers prepare %.3g samples a second; %ld would "
	    "prepare %.3g.",
	    d->loader_workers, rate(c, c->mended.preprocess.s), best_n,
	    rate(c, best.preprocess.s));
	f.remedy = sv_case_text(c, "num_workers=%ld", best_n);
	sv_case_add(c, &f);
	c->mended = best;
}

static void cpu_preprocess(struct sv_case *c)
{
	struct sv_stages with = c->mended;
	double before = sv_step_time(&c->mended), after;
	struct sv_suspect f = {.code = "CPU_PREPROCESS",
	    .share_s = c->shares.share_s[SV_PREPROCESS],
	    .remedy = "lighter or GPU-side augmentation, smaller stored "
		      "images, more or faster cores; a larger batch or a "
		      "faster card alone changes nothing",
	    .falsify = "the loop on data made up in memory: it is no faster",
	    .component = SV_PREPROCESS,
	    .fields = {"machine.cpu.usable_threads"}};

	sv_stage_drop(&with, SV_PREPROCESS);
	if (!sv_case_lift(c, &f, &with))
		return;
	after = sv_step_time(&with);
	f.claim = sv_case_text(c,
	    "The host prepares %.3g samples a second; the rest of B's step "
	    "could take %.3g, %.1f times as many.",
	    rate(c, c->mended.preprocess.s), rate(c, after), before / after);
	sv_case_add(c, &f);
}

static void storage(struct sv_case *c)
{
	struct sv_stages with = c->mended;
	double after;
	const char *transport =
	    sv_case_word(c, true, "machine.storage.transport");
	struct sv_suspect f = {.code = "STORAGE",
	    .share_s = c->shares.share_s[SV_STORAGE],
	    .remedy = "copy the data to a local NVMe disk, or pack the "
		      "samples into few large files; more memory keeps more "
		      "of it cached",
	    .falsify = "the second epoch of a data set that fits memory: it "
		       "is no faster",
	    .component = SV_STORAGE,
	    .fields = {
		"machine.storage.transport", "machine.storage.rotational"}};

	sv_stage_drop(&with, SV_STORAGE);
	if (!sv_case_lift(c, &f, &with))
		return;
	after = sv_step_time(&with);
	f.claim = sv_case_text(c,
	    "B's storage (%s) delivers %.3g samples a second; the rest of "
	    "the step could take %.3g.",
	    transport != NULL ? transport : "transport unknown",
	    rate(c, c->mended.storage_s), rate(c, after));
	sv_case_add(c, &f);
}

void sv_causes_loader(struct sv_case *c)
{
	storage(c);
	loader_workers(c);
	cpu_preprocess(c);
}
