/* The profiles: how many rounds, by name. */
#include <string.h>

#include "run.h"

static const struct {
	const char *name;
	unsigned rounds;
} profiles[] = {{"quick", 6}, {"standard", 10}, {"full", 15}};

int sv_profile_parse(const char *name, enum sv_profile *out, struct sv_err *err)
{
	for (int i = 0; i < 3; i++)
		if (strcmp(profiles[i].name, name) == 0) {
			*out = (enum sv_profile)i;
			return 0;
		}
	return sv_err_set(err, SV_EUSAGE,
	    "profile \"%.40s\": expected quick, standard or full", name);
}

const char *sv_profile_name(enum sv_profile profile)
{
	return profiles[profile].name;
}

unsigned sv_profile_rounds(enum sv_profile profile)
{
	return profiles[profile].rounds;
}
