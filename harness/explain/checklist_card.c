/*
 * The state that the card is in: power, heat, clocks, modes, software, free
 * memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checklist_parts.h"
#include "quantity.h"

/* Slack for limits that are told in whole watts. */
#define LOWERED		  0.99
#define BINDS		  0.95
#define CLOCK_HELD	  0.75
#define MEMORY_CLOCK_HELD 0.9
#define ECC_COSTS	  0.75
#define MOSTLY_FREE	  0.9
#define HALF_FREE	  0.5

void sv_judge_power(const struct sv_result *r, struct sv_finding *f)
{
	double limit = sv_seen_number(r->device, "power.limit_w");
	double usual = sv_seen_number(r->device, "power.default_limit_w");
	double draw = sv_seen_number(r->device, "power.draw_under_load_w");

	if (!isfinite(limit) || !isfinite(usual)) {
		sv_say(f, "power limit: %s",
		    sv_seen_why(r->device, "power.limit_w"));
		return;
	}
	sv_say(f, "limit %.0f W, default %.0f W", limit, usual);
	if (isfinite(draw))
		sv_say(f, "drew up to %.0f W", draw);
	if (limit >= LOWERED * usual) {
		sv_at_least(f, SV_FINDING_OK);
	} else if (isfinite(draw) && draw < BINDS * limit) {
		sv_say(f, "lowered, but it was not reached");
		sv_at_least(f, SV_FINDING_OK);
	} else {
		sv_at_least(f, SV_FINDING_WARN);
		sv_advise(f,
		    "nvidia-smi -pl %.0f as root; look for a service "
		    "that lowers it",
		    usual);
	}
}

void sv_judge_thermal(const struct sv_result *r, struct sv_finding *f)
{
	json_t *reasons = sv_result_field(r->device, "throttle.reasons"), *one;
	double fraction = sv_seen_number(r->device, "throttle.fraction");
	double heat = sv_seen_number(r->device, "temperature_under_load_C");
	size_t i;

	if (!json_is_array(reasons)) {
		sv_say(f, "slowdowns: %s", sv_seen_why(r->device, "throttle"));
		return;
	}
	sv_at_least(f, SV_FINDING_OK);
	json_array_foreach (reasons, i, one) {
		const char *name = json_string_value(one);

		if (name == NULL)
			continue;
		sv_say(f, "%s", name);
		if (strncmp(name, "hw_", 3) == 0)
			sv_at_least(f, SV_FINDING_FAIL);
		else if (strcmp(name, "sw_thermal") == 0)
			sv_at_least(f, SV_FINDING_WARN);
	}
	if (json_array_size(reasons) == 0)
		sv_say(f, "no slowdown was seen");
	else if (isfinite(fraction))
		sv_say(f, "for %.0f %% of the time", 100.0 * fraction);
	if (isfinite(heat))
		sv_say(f, "%.0f degrees under load", heat);
}

void sv_judge_clocks(const struct sv_result *r, struct sv_finding *f)
{
	double sm = sv_seen_number(r->device, "clocks.under_load.sm_Hz") /
		    sv_seen_number(r->device, "clocks.max_sm_Hz");
	double memory =
	    sv_seen_number(r->device, "clocks.under_load.memory_Hz") /
	    sv_seen_number(r->device, "clocks.max_memory_Hz");

	if (!isfinite(sm)) {
		sv_say(f, "clocks under load: %s",
		    sv_seen_why(r->device, "clocks.under_load.sm_Hz"));
		return;
	}
	sv_say(
	    f, "multiprocessors at %.0f %% of their highest clock", 100.0 * sm);
	sv_at_least(f, sm < CLOCK_HELD ? SV_FINDING_WARN : SV_FINDING_OK);
	if (!isfinite(memory))
		return;
	sv_say(f, "memory at %.0f %%", 100.0 * memory);
	if (memory < MEMORY_CLOCK_HELD)
		sv_at_least(f, SV_FINDING_WARN);
}

void sv_judge_ecc(const struct sv_result *r, struct sv_finding *f)
{
	const struct sv_measurement *best =
	    sv_best_figure(r, "memory/bandwidth");
	int ecc = sv_seen_truth(r->device, "modes.ecc");
	double peak = sv_seen_number(r->device, "memory_bandwidth_Bps");
	double share =
	    best != NULL && peak > 0.0 ? best->summary.median / peak : NAN;

	if (ecc < 0) {
		sv_say(f, "ECC: %s", sv_seen_why(r->device, "modes.ecc"));
		return;
	}
	sv_say(f, "ECC is %s", ecc ? "on" : "off");
	if (isfinite(share)) {
		sv_rest_on(f, best);
		sv_say(f, "memory reaches %.0f %% of its bandwidth",
		    100.0 * share);
	}
	sv_at_least(f, ecc && isfinite(share) && share < ECC_COSTS
			   ? SV_FINDING_WARN
			   : SV_FINDING_OK);
}

void sv_judge_mig(const struct sv_result *r, struct sv_finding *f)
{
	int mig = sv_seen_truth(r->device, "modes.mig");

	if (mig < 0) {
		const char *why = sv_seen_why(r->device, "modes.mig");

		sv_say(f, "MIG: %s", why);
		/* A card that cannot be cut is whole. */
		if (strcmp(why, "not supported here") == 0)
			sv_at_least(f, SV_FINDING_OK);
		return;
	}
	sv_say(f, mig ? "MIG is on: this is a part of a card" : "MIG is off");
	sv_at_least(f, mig ? SV_FINDING_WARN : SV_FINDING_OK);
}

void sv_judge_compute_mode(const struct sv_result *r, struct sv_finding *f)
{
	const char *mode = sv_seen_text(r->device, "modes.compute_mode");

	if (mode == NULL) {
		sv_say(f, "compute mode: %s",
		    sv_seen_why(r->device, "modes.compute_mode"));
		return;
	}
	sv_say(f, "compute mode %.30s", mode);
	sv_at_least(f, strcmp(mode, "default") == 0	 ? SV_FINDING_OK
		       : strcmp(mode, "prohibited") == 0 ? SV_FINDING_FAIL
							 : SV_FINDING_WARN);
	if (strncmp(mode, "exclusive", 9) == 0)
		sv_say(f, "a second process is told \"busy or unavailable\"");
}

void sv_judge_others(const struct sv_result *r, struct sv_finding *f)
{
	double n = sv_seen_number(r->device, "modes.other_processes");

	if (!isfinite(n)) {
		sv_say(f, "other processes: %s",
		    sv_seen_why(r->device, "modes.other_processes"));
		return;
	}
	sv_say(f, "%.0f other processes compute on the card", n);
	sv_at_least(f, n > 0.0 ? SV_FINDING_WARN : SV_FINDING_OK);
}

void sv_judge_display(const struct sv_result *r, struct sv_finding *f)
{
	int active = sv_seen_truth(r->device, "modes.display_active");

	if (active < 0) {
		sv_say(f, "display: %s",
		    sv_seen_why(r->device, "modes.display_active"));
		return;
	}
	sv_say(f,
	    active ? "a display runs on the card" : "no display on the card");
	sv_at_least(f, active ? SV_FINDING_WARN : SV_FINDING_OK);
}

/*
 * The first version that knows an architecture. Source: CUDA release notes
 * and cuDNN release notes by version; pytorch#47039 for cuDNN on 8.6.
 */
static const struct age {
	int capability; /* 10 × major + minor */
	const char *cuda, *cudnn;
} ages[] = {{70, "9.0", "7.0"}, {75, "10.0", "7.3"}, {80, "11.0", "8.0"},
    {86, "11.1", "8.0.5"}, {89, "11.8", "8.7"}, {90, "11.8", "8.7"},
    {100, "12.8", "9.7"}, {120, "12.8", "9.7"}};

/* "12.8", "13.1.0" and "130000" as numbers that can be compared; NaN else. */
static double version_of(const char *text)
{
	int major = 0, minor = 0, patch = 0, n;

	n = text != NULL ? sscanf(text, "%d.%d.%d", &major, &minor, &patch) : 0;
	if (n < 1)
		return NAN;
	/* "130000" stands for 13.0. */
	if (n == 1 && major >= 10000) {
		minor = major / 100 % 100;
		major /= 10000;
	}
	return major + minor / 1e3 + patch / 1e6;
}

static void judge_version(
    struct sv_finding *f, const char *what, const char *text, const char *least)
{
	double version = version_of(text);

	if (!isfinite(version))
		return;
	if (version >= version_of(least)) {
		sv_say(f, "%s %.30s", what, text);
		sv_at_least(f, SV_FINDING_OK);
		return;
	}
	sv_say(f, "%s %.30s is older than the card", what, text);
	sv_at_least(f, SV_FINDING_FAIL);
}

/* Code for the same major architecture, not younger, or PTX of any before. */
static bool can_run(const char *arch, int capability)
{
	int number = 0;

	if (sscanf(arch, "sm_%d", &number) == 1)
		return number / 10 == capability / 10 && number <= capability;
	return sscanf(arch, "compute_%d", &number) == 1 && number <= capability;
}

static void judge_arch_list(
    const struct sv_result *r, struct sv_finding *f, int capability)
{
	json_t *list =
		   sv_result_field(r->device, "libraries.framework_arch_list"),
	       *one;
	bool found = false;
	size_t i;

	if (!json_is_array(list))
		return;
	json_array_foreach (list, i, one)
		found =
		    found || (json_is_string(one) &&
				 can_run(json_string_value(one), capability));
	sv_say(f, "the framework has %s code for sm_%d",
	    found ? "native" : "no", capability);
	sv_at_least(f, found ? SV_FINDING_OK : SV_FINDING_FAIL);
}

void sv_judge_software(const struct sv_result *r, struct sv_finding *f)
{
	json_t *cc = json_object_get(r->device, "compute_capability");
	int capability = 10 * (int)json_integer_value(json_array_get(cc, 0)) +
			 (int)json_integer_value(json_array_get(cc, 1));
	const struct age *age = NULL;

	if (capability == 0) {
		sv_say(f, "architecture of the device: %s",
		    sv_seen_why(r->device, "compute_capability"));
		return;
	}
	for (size_t i = 0; i < sizeof ages / sizeof ages[0]; i++)
		if (ages[i].capability <= capability)
			age = &ages[i];
	judge_arch_list(r, f, capability);
	if (age == NULL) {
		sv_say(
		    f, "sm_%d is older than the table of versions", capability);
		return;
	}
	judge_version(f, "the driver's CUDA",
	    sv_seen_text(r->device, "driver.cuda_version"), age->cuda);
	judge_version(f, "cuBLAS", sv_seen_text(r->device, "libraries.cublas"),
	    age->cuda);
	judge_version(
	    f, "cuDNN", sv_seen_text(r->device, "libraries.cudnn"), age->cudnn);
	if (f->status == SV_FINDING_UNKNOWN)
		sv_say(f, "versions: %s",
		    sv_seen_why(r->device, "driver.cuda_version"));
}

void sv_judge_driver_model(const struct sv_result *r, struct sv_finding *f)
{
	const char *model = sv_seen_text(r->device, "driver.model");

	if (model == NULL) {
		sv_say(f, "driver model: %s",
		    sv_seen_why(r->device, "driver.model"));
		return;
	}
	sv_say(f, "driver model %.20s", model);
	if (strcmp(model, "linux") == 0 || strcmp(model, "tcc") == 0) {
		sv_at_least(f, SV_FINDING_OK);
		return;
	}
	sv_say(f, "transfers and waits cost more, and memory may spill to "
		  "the system's unnoticed");
	sv_at_least(f, SV_FINDING_WARN);
}

void sv_judge_memory(const struct sv_result *r, struct sv_finding *f)
{
	double all = sv_seen_number(r->device, "memory_bytes");
	double available = sv_seen_number(r->device, "memory_free_bytes");
	char a[SV_QUANTITY_BYTES], b[SV_QUANTITY_BYTES];

	if (!isfinite(all) || !isfinite(available)) {
		sv_say(f, "free memory: %s",
		    sv_seen_why(r->device, "memory_free_bytes"));
		return;
	}
	sv_say(f, "%s of %s are free", sv_quantity_size(a, sizeof a, available),
	    sv_quantity_size(b, sizeof b, all));
	sv_at_least(f, available < HALF_FREE * all     ? SV_FINDING_FAIL
		       : available < MOSTLY_FREE * all ? SV_FINDING_WARN
						       : SV_FINDING_OK);
}
