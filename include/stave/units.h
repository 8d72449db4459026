/*
 * The units that a measurement may carry: SI base units and their quotients,
 * spelled as the interface contract spells them. Prefixes (GB/s, µs) exist
 * only on screens; no file and no message holds one.
 */
#ifndef STAVE_UNITS_H
#define STAVE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define SV_UNIT_SECONDS		 "s"
#define SV_UNIT_BYTES		 "B"
#define SV_UNIT_BYTES_PER_SECOND "B/s"
#define SV_UNIT_FLOP_PER_SECOND	 "FLOP/s"
#define SV_UNIT_PER_SECOND	 "1/s"
#define SV_UNIT_HERTZ		 "Hz"
#define SV_UNIT_WATT		 "W"
#define SV_UNIT_ONE		 "1"

/* Whether unit is one of the above. */
static inline bool sv_unit_known(const char *unit)
{
	static const char *const known[] = {SV_UNIT_SECONDS, SV_UNIT_BYTES,
	    SV_UNIT_BYTES_PER_SECOND, SV_UNIT_FLOP_PER_SECOND,
	    SV_UNIT_PER_SECOND, SV_UNIT_HERTZ, SV_UNIT_WATT, SV_UNIT_ONE};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(unit, known[i]) == 0)
			return true;
	return false;
}

#endif
