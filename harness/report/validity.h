/*
 * Whether a result may be published as it is, by the rule of the method notes
 * (section 3): ten rounds, no invalid throttling, no foreign process, complete
 * fields of card, link and host, a clean revision, all checks passed. Pure.
 */
#ifndef STAVE_VALIDITY_H
#define STAVE_VALIDITY_H

#include <stddef.h>
#include <stdio.h>

#include "result.h"

#define SV_VALIDITY_MAX 16

struct sv_validity {
	size_t n; /* 0: publishable */
	char reasons[SV_VALIDITY_MAX][240];
};

void sv_validity_judge(const struct sv_result *, struct sv_validity *out);

/* "publishable", or "draft: reason; reason". */
void sv_validity_print(const struct sv_validity *, FILE *out);

#endif
