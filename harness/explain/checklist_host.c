/*
 * How the machine is put together and set up: the way to the card, nodes of
 * memory, governor, idle states, paths between cards.
 */
#include <stdio.h>
#include <string.h>

#include "checklist_parts.h"
#include "quantity.h"
#include "stave/pcie.h"

/* Copies reach 85 to 97 % of what a healthy link carries; see the method. */
#define LINK_GOOD    0.8
/* A link this much below the card's own is no matter of resident work. */
#define LINK_POOR    0.3
#define MANY_ERRORS  100.0
#define DEEP_SLEEP_S 100e-6
#define FAR_IS_SLOW  1.15

static const char *or_text(const char *text, const char *other)
{
	return text != NULL ? text : other;
}

/* Best pinned copy in one direction, the larger of the two. */
static const struct sv_measurement *best_copy(const struct sv_result *r)
{
	const struct sv_measurement *h2d =
	    sv_best_figure(r, "transfer/bandwidth?memory=pinned&direction=h2d");
	const struct sv_measurement *d2h =
	    sv_best_figure(r, "transfer/bandwidth?memory=pinned&direction=d2h");

	if (h2d == NULL || d2h == NULL)
		return h2d != NULL ? h2d : d2h;
	return h2d->summary.median > d2h->summary.median ? h2d : d2h;
}

/* What a link of these fields carries, 0 where either is unknown. */
static double carries(
    const struct sv_result *r, const char *generation, const char *width)
{
	double g = sv_seen_number(r->device, generation);
	double w = sv_seen_number(r->device, width);

	return g >= 1.0 && g <= 6.0 && w >= 1.0 && w <= 32.0
		   ? sv_pcie_ceiling_Bps((unsigned)g, (unsigned)w, 0)
		   : 0.0;
}

double sv_seen_ceiling(const struct sv_result *r)
{
	double known = sv_seen_number(r->device, "pcie.ceiling_Bps");

	if (known > 0.0)
		return known;
	return carries(
	    r, "pcie.under_load.generation", "pcie.under_load.width");
}

/* What the registers say; the finding gets worse by what they show. */
static void judge_registers(
    const struct sv_result *r, struct sv_finding *f, double ceiling)
{
	double most = carries(r, "pcie.max_generation", "pcie.max_width");
	double errors = sv_seen_number(r->device, "pcie.corrected_errors");
	const char *why = sv_seen_text(r->device, "pcie.bottleneck_why");

	if (why != NULL)
		sv_say(f, "%s", why);
	else if (sv_seen_text(r->device, "pcie.bottleneck") != NULL)
		sv_say(f, "the narrowest hop is %s",
		    sv_seen_text(r->device, "pcie.bottleneck"));
	if (ceiling > 0.0 && most > 0.0 && ceiling < 0.99 * most) {
		sv_say(f,
		    "the path carries %.0f %% of what the card could use; "
		    "resident training loses little by it, offloading and "
		    "several cards lose in full",
		    100.0 * ceiling / most);
		sv_at_least(f, ceiling < LINK_POOR * most ? SV_FINDING_FAIL
							  : SV_FINDING_WARN);
	} else if (ceiling > 0.0) {
		sv_at_least(f, SV_FINDING_OK);
	}
	if (errors > MANY_ERRORS) {
		sv_say(f, "%.0f errors of transmission were mended", errors);
		sv_at_least(f, SV_FINDING_WARN);
	}
}

/* How the link was read, for who wonders about a Gen1. */
static void tell_reading(const struct sv_result *r, struct sv_finding *f)
{
	double idle = sv_seen_number(r->device, "pcie.generation");
	double load = sv_seen_number(r->device, "pcie.under_load.generation");
	double width = sv_seen_number(r->device, "pcie.under_load.width");

	if (load > 0.0 && width > 0.0)
		sv_say(f, "Gen%.0f x%.0f under load%s", load, width,
		    idle < load ? ", idle it rests at a lower one" : "");
	else if (idle > 0.0)
		sv_say(f,
		    "Gen%.0f x%.0f, read idle: a low generation may be "
		    "power saving",
		    idle, sv_seen_number(r->device, "pcie.width"));
}

void sv_judge_link(const struct sv_result *r, struct sv_finding *f)
{
	const struct sv_measurement *copy = best_copy(r);
	double ceiling = sv_seen_ceiling(r);
	bool trusted = sv_seen_truth(r->device, "pcie.trusted") != 0;

	if (!json_is_object(json_object_get(r->device, "pcie"))) {
		sv_say(f, "link: %s", sv_seen_why(r->device, "pcie"));
		return;
	}
	tell_reading(r, f);
	if (!trusted)
		sv_say(f,
		    "the registers are not trusted (%s): measuring "
		    "decides",
		    or_text(sv_seen_text(r->device, "pcie.trusted_why"),
			"a virtual machine"));
	else
		judge_registers(r, f, ceiling);
	if (copy == NULL) {
		sv_say(f, "copies were not measured");
		snprintf(f->next_command, sizeof f->next_command,
		    "stave run --bench transfer -o this.json");
		/* Facts alone may warn; they do not prove that all is well. */
		if (f->status == SV_FINDING_OK)
			f->status = SV_FINDING_UNKNOWN;
		return;
	}
	sv_rest_on(f, copy);
	if (!trusted || !(ceiling > 0.0)) {
		double most =
		    carries(r, "pcie.max_generation", "pcie.max_width");

		sv_say(f, "pinned copies run at %s", sv_figure_text(copy));
		if (most > 0.0)
			sv_at_least(f, copy->summary.median >= LINK_GOOD * most
					   ? SV_FINDING_OK
					   : SV_FINDING_WARN);
		return;
	}
	sv_say(f, "pinned copies run at %s, %.0f %% of what the path carries",
	    sv_figure_text(copy), 100.0 * copy->summary.median / ceiling);
	sv_at_least(f, copy->summary.median < LINK_GOOD * ceiling
			   ? SV_FINDING_WARN
			   : SV_FINDING_OK);
}

/* Nodes that have processors: those of memory alone are no place to be. */
static size_t nodes_with_cpus(const struct sv_result *r)
{
	json_t *list = json_object_get(r->machine, "numa"), *one;
	size_t n = 0, i;

	json_array_foreach (list, i, one) {
		const char *cpus =
		    json_string_value(json_object_get(one, "cpus"));

		n += cpus == NULL || cpus[0] != '\0';
	}
	return n;
}

void sv_judge_numa(const struct sv_result *r, struct sv_finding *f)
{
	size_t nodes = nodes_with_cpus(r);
	double bound = sv_seen_number(r->machine, "binding.node");
	double card = sv_seen_number(r->device, "pcie.numa_node");
	const struct sv_measurement *near =
	    sv_best_figure(r, "transfer/bandwidth?numa=near");
	const struct sv_measurement *far =
	    sv_best_figure(r, "transfer/bandwidth?numa=far");

	if (nodes < 2) {
		sv_say(f, nodes == 1 ? "one node: near is everywhere"
				     : "nodes: nothing here tells");
		if (nodes == 1)
			sv_at_least(f, SV_FINDING_OK);
		return;
	}
	sv_say(f, "%zu nodes with processors", nodes);
	if (near != NULL && far != NULL) {
		double ratio = near->summary.median / far->summary.median;

		sv_rest_on(f, near);
		sv_rest_on(f, far);
		sv_say(
		    f, "copies from the far node are %.2f times slower", ratio);
		/* Measured, it goes above any label. */
		if (ratio < FAR_IS_SLOW && !isfinite(card))
			sv_at_least(f, SV_FINDING_OK);
	}
	if (!isfinite(card)) {
		sv_say(f, "the card's node: %s",
		    sv_seen_why(r->device, "pcie.numa_node"));
		return;
	}
	if (!isfinite(bound)) {
		sv_say(f, "the card is at node %.0f, the process is not bound",
		    card);
		sv_at_least(f, SV_FINDING_WARN);
	} else {
		sv_say(f, "the card is at node %.0f, the process at node %.0f",
		    card, bound);
		sv_at_least(f, bound == card ? SV_FINDING_OK : SV_FINDING_FAIL);
	}
	sv_advise(
	    f, "numactl --cpunodebind=%.0f --membind=%.0f COMMAND", card, card);
}

/* Drivers whose "powersave" goes by demand. Source: kernel, intel_pstate and
 * amd-pstate documentation. */
static bool goes_by_demand(const struct sv_result *r)
{
	const char *driver = sv_seen_text(r->machine, "cpu.driver");
	const char *wish = sv_seen_text(r->machine, "cpu.energy_preference");

	return driver != NULL &&
	       (strcmp(driver, "intel_pstate") == 0 ||
		   strcmp(driver, "amd-pstate-epp") == 0) &&
	       (wish == NULL || strcmp(wish, "power") != 0);
}

void sv_judge_governor(const struct sv_result *r, struct sv_finding *f)
{
	const char *governor = sv_seen_text(r->machine, "cpu.governor");

	if (sv_seen_truth(r->machine, "cpu.boost") == 0) {
		sv_say(f, "boost is off");
		sv_at_least(f, SV_FINDING_WARN);
	}
	if (governor == NULL) {
		sv_say(
		    f, "governor: %s", sv_seen_why(r->machine, "cpu.governor"));
		return;
	}
	sv_say(f, "governor %s, driver %s", governor,
	    or_text(sv_seen_text(r->machine, "cpu.driver"), "unknown"));
	if (strchr(governor, ',') != NULL ||
	    strcmp(governor, "conservative") == 0 ||
	    (strcmp(governor, "powersave") == 0 && !goes_by_demand(r)))
		sv_at_least(f, SV_FINDING_WARN);
	else
		sv_at_least(f, SV_FINDING_OK);
}

void sv_judge_c_states(const struct sv_result *r, struct sv_finding *f)
{
	json_t *list = sv_result_field(r->machine, "cpu.c_states"), *one;
	double deepest = 0.0;
	const char *name = "none";
	size_t i;

	if (!json_is_array(list)) {
		sv_say(f, "idle states: %s",
		    sv_seen_why(r->machine, "cpu.c_states"));
		return;
	}
	json_array_foreach (list, i, one) {
		double latency =
		    json_number_value(json_object_get(one, "exit_latency_s"));

		if (json_is_true(json_object_get(one, "disabled")) ||
		    latency < deepest)
			continue;
		deepest = latency;
		name = or_text(
		    json_string_value(json_object_get(one, "name")), "unnamed");
	}
	sv_say(f, "the deepest state enabled is %.20s, %.0f us to leave", name,
	    deepest * 1e6);
	sv_at_least(
	    f, deepest > DEEP_SLEEP_S ? SV_FINDING_WARN : SV_FINDING_OK);
}

void sv_judge_peers(const struct sv_result *r, struct sv_finding *f)
{
	const struct sv_measurement *direct =
	    sv_best_figure(r, "peer/bandwidth?path=p2p");
	const struct sv_measurement *staged =
	    sv_best_figure(r, "peer/bandwidth?path=staged");
	const char *iommu = sv_seen_text(r->machine, "os.iommu");
	const char *type = sv_seen_text(r->machine, "os.iommu_group_type");
	int redirects = sv_seen_truth(r->device, "pcie.acs_redirects");
	bool translates = type != NULL && strncmp(type, "DMA", 3) == 0;
	double cards = sv_seen_number(r->machine, "cards");

	if (cards == 1.0) {
		sv_say(f, "one card: there is no peer");
		sv_at_least(f, SV_FINDING_OK);
		return;
	}
	sv_say(f, "IOMMU %s%s%s", or_text(iommu, "unknown"),
	    type != NULL ? ", groups " : "", type != NULL ? type : "");
	if (redirects >= 0)
		sv_say(f, "ports on the path %s peers' packets",
		    redirects ? "redirect" : "do not redirect");
	sv_rest_on(f, direct);
	sv_rest_on(f, staged);
	if (direct != NULL)
		sv_say(f, "direct copies at %s", sv_figure_text(direct));
	if (staged != NULL)
		sv_say(
		    f, "copies through the host at %s", sv_figure_text(staged));
	if (redirects == 1 || translates || (direct == NULL && staged != NULL))
		sv_at_least(f, SV_FINDING_WARN);
	else if (direct != NULL || redirects == 0)
		sv_at_least(f, SV_FINDING_OK);
}
