/* Which link of a path is the narrowest, and why: pure; see the header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pci_path.h"
#include "stave/pcie.h"

/* Less than the rounding of any figure. */
#define NEARLY 0.99

const char *sv_hop_what(const struct sv_hop *hop)
{
	switch (hop->port) {
	case SV_PORT_ROOT:
		return "root port";
	case SV_PORT_UPSTREAM:
		return "switch, upstream";
	case SV_PORT_DOWNSTREAM:
		return "switch, downstream";
	case SV_PORT_INTEGRATED:
		return "card, inside the processor";
	default:
		return hop->is_card ? "card" : "bridge";
	}
}

unsigned sv_link_speed_parse(const char *text)
{
	static const double rates[] = {0.0, 2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
	char *end;
	double rate = strtod(text, &end);

	if (end == text || strncmp(end, " GT/s", 5) != 0)
		return 0;
	for (unsigned g = 1; g <= SV_PCIE_MAX_GENERATION; g++)
		if (rate == rates[g])
			return g;
	return 0;
}

unsigned sv_link_width_parse(const char *text)
{
	char *end;
	unsigned long width = strtoul(text, &end, 10);

	if (end == text || *end != '\0' || width > 64 ||
	    !sv_pcie_width_known((unsigned)width))
		return 0;
	return (unsigned)width;
}

/* The lesser of what is known of two. */
static unsigned lesser(unsigned a, unsigned b)
{
	if (a == 0 || b == 0)
		return a + b;
	return a < b ? a : b;
}

/* One link, from hop `upper` (NULL: not seen) down to `lower`. */
struct link {
	const struct sv_hop *upper, *lower;
	unsigned best_generation, best_width; /* what both ends can do */
	unsigned generation, width; /* what it does, as far as known */
	bool under_load, held;
};

static struct link look_at(const struct sv_hop *hops, size_t i)
{
	static const struct sv_hop unseen = {.address = ""};
	const struct sv_hop *lower = &hops[i];
	const struct sv_hop *upper = i > 0 ? &hops[i - 1] : &unseen;
	struct link l = {.upper = i > 0 ? upper : NULL, .lower = lower};
	unsigned target = upper->target_generation;
	unsigned load = lower->load_generation > 0 ? lower->load_generation
						   : upper->load_generation;

	l.best_generation =
	    lesser(upper->max_generation, lower->max_generation);
	l.best_width = lesser(upper->max_width, lower->max_width);
	l.width = lower->load_width > 0	  ? lower->load_width
		  : upper->load_width > 0 ? upper->load_width
		  : lower->width > 0	  ? lower->width
		  : upper->width > 0	  ? upper->width
					  : l.best_width;
	l.under_load = load > 0;
	l.held = load > 0 && load <= target && target < l.best_generation;
	/* Read idle it says nothing: the best that both ends can. */
	l.generation = load > 0 ? load : l.best_generation;
	if (l.generation == 0)
		l.generation = lesser(upper->generation, lower->generation);
	return l;
}

/* Who is to blame for a narrow link: an index, and the sentence. */
static void blame(const struct link *l, size_t lower, const struct sv_hop *card,
    struct sv_narrowest *out)
{
	const struct sv_hop *upper = l->upper;
	bool below_both =
	    l->generation < l->best_generation || l->width < l->best_width;

	out->hop = upper != NULL ? lower - 1 : lower;
	if (upper == NULL) {
		snprintf(out->why, sizeof out->why,
		    "the card's link is Gen%u x%u of Gen%u x%u; what is above "
		    "it cannot be seen",
		    l->generation, l->width, card->max_generation,
		    card->max_width);
	} else if (l->held) {
		snprintf(out->why, sizeof out->why,
		    "the link below %s is held at Gen%u by the firmware or by "
		    "software, both ends can Gen%u",
		    upper->address, l->generation, l->best_generation);
	} else if (below_both) {
		snprintf(out->why, sizeof out->why,
		    "the link below %s runs at Gen%u x%u although both ends "
		    "can Gen%u x%u: a riser, a cable, contacts, or lanes "
		    "shared with another slot",
		    upper->address, l->generation, l->width, l->best_generation,
		    l->best_width);
	} else if (l->lower->is_card ||
		   upper->max_width < l->lower->max_width ||
		   upper->max_generation < l->lower->max_generation) {
		snprintf(out->why, sizeof out->why,
		    "the %s at %s is wired Gen%u x%u, the card could use "
		    "Gen%u x%u",
		    upper->port == SV_PORT_ROOT ? "slot" : sv_hop_what(upper),
		    upper->address, upper->max_generation, upper->max_width,
		    card->max_generation, card->max_width);
	} else {
		out->hop = lower;
		snprintf(out->why, sizeof out->why,
		    "the %s at %s takes Gen%u x%u, the card could use Gen%u "
		    "x%u",
		    sv_hop_what(l->lower), l->lower->address,
		    l->lower->max_generation, l->lower->max_width,
		    card->max_generation, card->max_width);
	}
}

void sv_path_judge(
    const struct sv_hop *hops, size_t n, struct sv_narrowest *out)
{
	unsigned payload = 0;
	double possible;
	size_t at = 0;
	struct link narrow = {0};

	*out = (struct sv_narrowest){.hop = n};
	for (size_t i = 0; i < n; i++)
		payload = lesser(payload, hops[i].payload_bytes);
	for (size_t i = n > 1 ? 1 : 0; i < n; i++) {
		struct link l = look_at(hops, i);
		double ceiling =
		    sv_pcie_ceiling_Bps(l.generation, l.width, payload);

		/* Inside a switch there is no link; of equals the last. */
		if (ceiling == 0.0 ||
		    (hops[i].port == SV_PORT_DOWNSTREAM && i > 0 &&
			hops[i - 1].port == SV_PORT_UPSTREAM))
			continue;
		if (out->ceiling_Bps == 0.0 || ceiling <= out->ceiling_Bps) {
			out->ceiling_Bps = ceiling;
			narrow = l;
			at = i;
		}
	}
	if (out->ceiling_Bps == 0.0)
		return;
	out->generation = narrow.generation;
	out->width = narrow.width;
	out->under_load = narrow.under_load;
	possible = sv_pcie_ceiling_Bps(
	    hops[n - 1].max_generation, hops[n - 1].max_width, payload);
	if (out->ceiling_Bps < NEARLY * possible)
		blame(&narrow, at, &hops[n - 1], out);
}
