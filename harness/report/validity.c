/* Publishable or draft; see the header. */
#include "validity.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "stave/err.h"

#define LEAST_ROUNDS 10

/* What a reader needs to make sense of a figure, by backend. */
static const char *const machine_fields[] = {"cpu.model", "cpu.cores",
    "cpu.governor", "memory.total_bytes", "os.kernel", "os.distribution", NULL};
static const char *const cuda_fields[] = {"name", "driver.version",
    "driver.cuda_version", "clocks.under_load.sm_Hz", "power.limit_w",
    "pcie.under_load.generation", "pcie.under_load.width",
    "temperature_under_load_C", "throttle", "modes.ecc", NULL};
static const char *const host_fields[] = {"name", "libraries.blas", NULL};

SV_PRINTF(2, 3)
static void because(struct sv_validity *v, const char *fmt, ...)
{
	va_list args;

	if (v->n == SV_VALIDITY_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(v->reasons[v->n++], sizeof v->reasons[0], fmt, args);
	va_end(args);
}

static void judge_run(const struct sv_result *r, struct sv_validity *v)
{
	const char *revision = r->run.revision;

	if (strcmp(r->run.origin, "measured") != 0)
		because(
		    v, "the figures are %s, not measured here", r->run.origin);
	if (!r->run.complete)
		because(v, "the run is incomplete");
	if (r->n_failures > 0)
		because(v, "cases that failed: %zu", r->n_failures);
	if (revision == NULL || strcmp(revision, "unknown") == 0)
		because(v, "the revision of stave is unknown");
	else if (strstr(revision, "dirty") != NULL)
		because(v, "stave was built from changed sources");
}

static bool has_flag(const struct sv_measurement *m, const char *flag)
{
	for (size_t i = 0; i < m->n_flags; i++)
		if (strcmp(m->flags[i], flag) == 0)
			return true;
	return false;
}

static void judge_measurements(const struct sv_result *r, struct sv_validity *v)
{
	size_t few = 0, wrong = 0, throttled = 0, impossible = 0;

	for (size_t i = 0; i < r->n_measurements; i++) {
		const struct sv_measurement *m = &r->measurements[i];

		few += m->n_rounds < LEAST_ROUNDS;
		wrong += m->check == SV_CHECK_FAIL;
		throttled += has_flag(m, "throttled");
		impossible += has_flag(m, "above_reference");
	}
	if (r->n_measurements == 0)
		because(v, "nothing was measured");
	if (few > 0)
		because(v, "figures with fewer than %d rounds: %zu of %zu",
		    LEAST_ROUNDS, few, r->n_measurements);
	if (wrong > 0)
		because(v, "figures that failed their check: %zu", wrong);
	if (throttled > 0)
		because(v, "figures throttled by the hardware: %zu", throttled);
	if (impossible > 0)
		because(v, "figures above what is possible: %zu", impossible);
}

/* Hardware slowdown, thermal and power brake; caps by software are notes. */
static void judge_throttle(const struct sv_result *r, struct sv_validity *v)
{
	static const char *const invalid[] = {
	    "hw_slowdown", "hw_thermal", "hw_power_brake"};
	json_t *reasons = sv_result_field(r->device, "throttle.reasons");
	json_t *reason;
	size_t i;

	json_array_foreach (reasons, i, reason)
		for (size_t j = 0; j < sizeof invalid / sizeof invalid[0]; j++)
			if (json_is_string(reason) &&
			    strcmp(json_string_value(reason), invalid[j]) == 0)
				because(v, "the card was throttled (%s)",
				    invalid[j]);
}

static void judge_processes(const struct sv_result *r, struct sv_validity *v)
{
	json_t *others = sv_result_field(r->device, "modes.other_processes");

	if (!json_is_number(others))
		because(v, "whether others used the card is unknown");
	else if (json_number_value(others) > 0.0)
		because(v, "other processes that used the card: %.0f",
		    json_number_value(others));
}

static void judge_fields(json_t *object, const char *name,
    const char *const *fields, struct sv_validity *v)
{
	char missing[200] = "";
	size_t used = 0;

	for (; *fields != NULL; fields++)
		if (sv_result_field(object, *fields) == NULL &&
		    used < sizeof missing)
			used += (size_t)snprintf(missing + used,
			    sizeof missing - used, "%s%s", used > 0 ? ", " : "",
			    *fields);
	if (used > 0)
		because(v, "unknown of the %s: %s", name, missing);
}

void sv_validity_judge(const struct sv_result *r, struct sv_validity *out)
{
	const char *backend =
	    json_string_value(sv_result_field(r->device, "backend"));
	bool is_cuda = backend != NULL && strcmp(backend, "cuda") == 0;

	out->n = 0;
	judge_run(r, out);
	judge_measurements(r, out);
	judge_fields(r->machine, "machine", machine_fields, out);
	judge_fields(
	    r->device, "device", is_cuda ? cuda_fields : host_fields, out);
	if (is_cuda) {
		judge_throttle(r, out);
		judge_processes(r, out);
	}
}

void sv_validity_print(const struct sv_validity *v, FILE *out)
{
	fputs(v->n == 0 ? "publishable" : "draft: ", out);
	for (size_t i = 0; i < v->n; i++)
		fprintf(out, "%s%s", i > 0 ? "; " : "", v->reasons[i]);
}
