/*
 * What differs between two results beside the figures: every one of these may
 * be the reason for a difference, so they are named first. And what may be
 * said of whom: of the card only where the host is the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pairing.h"

/* Numbers that vary a little by themselves are the same within this. */
#define LOOSE 0.01

/* What a field belongs to: a difference in it widens what is spoken of. */
enum part {
	SETTING,
	HOST,
};

static const struct {
	const char *path;
	enum part part;
	bool loose;
} confounding[] = {
    {"machine.cpu.model", HOST, false},
    {"machine.cpu.usable_threads", HOST, false},
    {"machine.cpu.governor", SETTING, false},
    {"machine.cpu.smt", SETTING, false},
    {"machine.memory.total_bytes", HOST, true},
    {"machine.memory.thp", SETTING, false},
    {"machine.binding.node", SETTING, false},
    {"machine.os.kernel", HOST, false},
    {"machine.os.distribution", HOST, false},
    {"machine.os.iommu", SETTING, false},
    {"machine.virtualisation.kind", HOST, false},
    {"machine.storage.transport", HOST, false},
    {"machine.storage.filesystem", HOST, false},
    {"machine.environment", SETTING, false},
    {"device.backend", SETTING, false},
    {"device.name", SETTING, false},
    {"device.driver.version", SETTING, false},
    {"device.driver.cuda_version", SETTING, false},
    {"device.driver.model", SETTING, false},
    {"device.libraries.cublas", SETTING, false},
    {"device.libraries.cudnn", SETTING, false},
    {"device.libraries.blas", SETTING, false},
    {"device.libraries.blas_kernel", SETTING, false},
    {"device.power.limit_w", SETTING, false},
    {"device.clocks.under_load.sm_Hz", SETTING, true},
    {"device.clocks.under_load.memory_Hz", SETTING, true},
    {"device.pcie.under_load.generation", SETTING, false},
    {"device.pcie.under_load.width", SETTING, false},
    {"device.pcie.slot_max_generation", HOST, false},
    {"device.pcie.slot_max_width", HOST, false},
    {"device.pcie.numa_node", SETTING, false},
    {"device.throttle.reasons", SETTING, false},
    {"device.modes.ecc", SETTING, false},
    {"device.modes.mig", SETTING, false},
    {"device.modes.display_active", SETTING, false},
    {"device.modes.other_processes", SETTING, false},
};

#define N_CONFOUNDING (sizeof confounding / sizeof confounding[0])

json_t *sv_field_of(const struct sv_result *r, const char *path)
{
	bool machine = strncmp(path, "machine.", 8) == 0;

	return sv_result_field(
	    machine ? r->machine : r->device, path + (machine ? 8 : 7));
}

/* A field's value as text; malloc'd, NULL when out of memory. */
static char *text_of(json_t *value)
{
	if (value == NULL)
		return strdup("unknown");
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
				     JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
}

/* 1 and 1.0 are one value that two programs wrote. */
static bool are_one(json_t *a, json_t *b, bool loose)
{
	if (!json_is_number(a) || !json_is_number(b))
		return a == b || (a != NULL && b != NULL && json_equal(a, b));
	double x = json_number_value(a), y = json_number_value(b);

	return fabs(x - y) <= (loose ? LOOSE * fmax(fabs(x), fabs(y)) : 0.0);
}

static bool is_present(const struct sv_result *r, const char *path)
{
	return sv_field_of(r, path) != NULL;
}

int sv_find_confounders(struct sv_comparison *c, struct sv_err *err)
{
	bool host = false, card = false;

	c->confounders = calloc(N_CONFOUNDING, sizeof *c->confounders);
	if (c->confounders == NULL)
		goto no_memory;
	for (size_t i = 0; i < N_CONFOUNDING; i++) {
		const char *path = confounding[i].path;
		json_t *a = sv_field_of(c->a, path);
		json_t *b = sv_field_of(c->b, path);
		struct sv_confounder *found;

		/* Unknown on both sides is no difference, on one may be. */
		if (are_one(a, b, confounding[i].loose))
			continue;
		found = &c->confounders[c->n_confounders++];
		found->field = path;
		found->a = text_of(a);
		found->b = text_of(b);
		if (found->a == NULL || found->b == NULL)
			goto no_memory;
		host = host ||
		       (confounding[i].part == HOST && a != NULL && b != NULL);
		card = card || strcmp(path, "device.name") == 0;
	}
	if (host)
		c->scope = SV_SCOPE_SYSTEM;
	else if (!is_present(c->a, "machine.cpu.model") ||
		 !is_present(c->b, "machine.cpu.model"))
		c->scope = SV_SCOPE_UNKNOWN;
	else
		c->scope = card ? SV_SCOPE_CARD : SV_SCOPE_SETTINGS;
	return 0;

no_memory:
	return sv_err_set(err, SV_ERESOURCE, "compare: out of memory");
}
