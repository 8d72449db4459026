/* Copies and the link that they cross; see assemble.h. */
#include <math.h>
#include <string.h>

#include "assemble.h"
#include "machine.h"

static const char *param(const struct sv_measurement *m, const char *name)
{
	for (size_t i = 0; i < m->n_params; i++)
		if (strcmp(m->params[i].name, name) == 0)
			return m->params[i].text;
	return NULL;
}

/* A figure of bytes a second in one direction. */
static bool is_copy(const struct sv_measurement *m)
{
	const char *direction = param(m, "direction");

	return strcmp(m->bench, "transfer") == 0 &&
	       strcmp(m->metric, "bandwidth") == 0 && direction != NULL &&
	       strcmp(direction, "bidir") != 0;
}

void sv_assemble_link(struct sv_result *r)
{
	double best = 0.0, ceiling;

	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		if (is_copy(m) && m->check != SV_CHECK_FAIL)
			best = fmax(best, m->summary.median);
	}
	sv_machine_doubt_link(r->device, best);
	ceiling =
	    json_number_value(sv_result_field(r->device, "pcie.ceiling_Bps"));
	if (!json_is_true(sv_result_field(r->device, "pcie.trusted")) ||
	    !(ceiling > 0.0))
		return;
	for (size_t i = 0; i < r->n_measurements; i++) {
		struct sv_measurement *m = &r->measurements[i];

		if (!is_copy(m) || m->has_reference)
			continue;
		m->has_reference = true;
		m->reference = ceiling;
		m->reference_what = "what the narrowest link carries";
	}
}
