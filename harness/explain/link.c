/* What a PCI Express link carries; see the header. */
#include "link.h"

#include <math.h>

/*
 * What pinned copies reach over a lane of each generation, B/s: 128b/130b
 * (8b/10b before Gen3), headers of 256-byte packets. Source: Intel AN 708;
 * healthy Gen4 x16 copies reach 25-26 GB/s.
 */
static double lane_Bps(double generation)
{
	static const double lanes[] = {
	    0.0, 0.22e9, 0.44e9, 0.82e9, 1.64e9, 3.4e9, 6.8e9};

	return generation >= 1.0 && generation <= 6.0 ? lanes[(int)generation]
						      : NAN;
}

struct sv_link sv_link_of(double generation, double width)
{
	return (struct sv_link){
	    generation, width, lane_Bps(generation) * width};
}

struct sv_link sv_link_in_use(const struct sv_case *c, bool of_b)
{
	struct sv_link l = sv_link_of(
	    sv_case_number(c, of_b, "device.pcie.under_load.generation"),
	    sv_case_number(c, of_b, "device.pcie.under_load.width"));

	return isnan(l.Bps) ? sv_link_of(sv_case_number(
					     c, of_b, "device.pcie.generation"),
				  sv_case_number(c, of_b, "device.pcie.width"))
			    : l;
}

struct sv_link sv_link_of_card(const struct sv_case *c, bool of_b)
{
	return sv_link_of(sv_case_number(c, of_b, "device.pcie.max_generation"),
	    sv_case_number(c, of_b, "device.pcie.max_width"));
}
