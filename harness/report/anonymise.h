/*
 * A result without what names a machine, its owner or its folders. Text of
 * the machine and the device is kept only where its field is known to name
 * nobody; what is withheld there is looked for in every other text too, and
 * text that looks like a UUID, a MAC address, an internet or mail address or
 * a path goes wherever it stands.
 */
#ifndef STAVE_ANONYMISE_H
#define STAVE_ANONYMISE_H

#include <stdbool.h>
#include <stddef.h>

#include "result.h"

/* Who is publishing, and where: words that must not be in what is published. */
struct sv_identity {
	const char *host, *user, *home; /* NULL or "": unknown */
};

/*
 * A new result. Its label is the device's name; withheld fields are null, with
 * an entry "withheld" among the unknown ones. Errors: SV_EINPUT where a text
 * that had to go was part of an id and two ids became one, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_anonymise(const struct sv_result *,
    const struct sv_identity *, struct sv_result **out, struct sv_err *err);

/*
 * Text with what looks like an identity replaced; addresses: whether four
 * numbers with dots are an internet address, and no version. malloc'd, NULL
 * when out of memory.
 */
char *sv_anonymise_text(const char *text, bool addresses);

#endif
