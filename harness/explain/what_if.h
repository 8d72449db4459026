/*
 * Suppositions about B, as the command line words them. Inside the room only.
 */
#ifndef STAVE_WHAT_IF_H
#define STAVE_WHAT_IF_H

#include "case.h"

/*
 * B's step with everything that was supposed, into the explanation. Errors:
 * SV_EUSAGE for what means nothing, SV_EINPUT, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_what_if(struct sv_case *, struct sv_err *err);

#endif
