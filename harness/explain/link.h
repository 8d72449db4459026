/* What a PCI Express link carries. Inside the room only. */
#ifndef STAVE_LINK_H
#define STAVE_LINK_H

#include "case.h"

struct sv_link {
	double generation, width, Bps; /* NaN unknown */
};

struct sv_link sv_link_of(double generation, double width);
/* As read under load, else at rest. */
struct sv_link sv_link_in_use(const struct sv_case *, bool of_b);
/* The most that the card can do. */
struct sv_link sv_link_of_card(const struct sv_case *, bool of_b);

#endif
