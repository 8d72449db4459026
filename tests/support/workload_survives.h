/*
 * The property that every workload file must have: it is refused in one clear
 * line, or it is read and its demand at any batch is refused or finite.
 */
#ifndef SV_TEST_WORKLOAD_SURVIVES_H
#define SV_TEST_WORKLOAD_SURVIVES_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "workload.h"

static inline bool sv_demand_is_sound(const struct sv_demand *d)
{
	for (size_t i = 0; i < d->n_gemm; i++)
		if (!(d->gemm[i].m > 0.0 && d->gemm[i].n > 0.0 &&
			d->gemm[i].k > 0.0 && d->gemm[i].count >= 0.0))
			return false;
	return d->memory_bytes.amp >= 0.0 && d->kernels >= 0.0 &&
	       d->h2d_bytes >= 0.0 && d->working_set_bytes >= 0.0;
}

/* Says on stderr why not. *accepted tells how the property was met. */
static inline bool sv_workload_survives(
    const char *bytes, size_t n, bool *accepted)
{
	static const long batches[] = {1, 7, 4096, SV_WORKLOAD_MAX_BATCH};
	struct sv_workload *w = NULL;
	struct sv_err err = {0};
	int code = sv_workload_parse(bytes, n, "mutant.json", &w, &err);
	bool good = true;

	*accepted = code == 0;
	if (code != 0) {
		good = code == SV_EINPUT && w == NULL &&
		       strncmp(err.text, "mutant.json:", 12) == 0 &&
		       strpbrk(err.text, "\n\r") == NULL;
		if (!good)
			fprintf(stderr, "code %d, \"%s\"\n", code, err.text);
		return good;
	}
	for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
		struct sv_demand d;

		code = sv_workload_demand(w, batches[i], &d, &err);
		if (code == 0) {
			good = good && sv_demand_is_sound(&d);
			sv_demand_fini(&d);
		} else {
			good = good && code == SV_EINPUT;
		}
	}
	sv_workload_free(w);
	return good;
}

#endif
