/*
 * The processor: its model and clocks, who governs them, how deep it sleeps,
 * and how much of it this process may use. Its shape is hwloc's to tell
 * (topology.c).
 */
#include <stdio.h>
#include <string.h>

#include "facts.h"

#define CPU "sys/devices/system/cpu/"

/* CPUs in a list as the kernel writes it, "0-3,8"; 0 where it is none. */
static int count_list(const char *text)
{
	int total = 0, from, to, used;

	while (*text != '\0') {
		if (sscanf(text, "%d-%d%n", &from, &to, &used) == 2 &&
		    to >= from && from >= 0 && to < (1 << 20))
			total += to - from + 1;
		else if (sscanf(text, "%d%n", &from, &used) == 1)
			total++;
		else
			return 0;
		text += used;
		text += *text == ',' ? 1 : 0;
	}
	return total;
}

/* Threads by affinity, and no more than the control group's quota allows. */
static void usable_threads(json_t *machine, struct sv_sources *s)
{
	char text[SV_SOURCE_BYTES], list[1024];
	const char *why = sv_source_read(s, "proc/self/status", text);
	double quota;
	int n = 0;

	if (why == NULL &&
	    sv_source_field(text, "Cpus_allowed_list", list, sizeof list))
		n = count_list(list);
	if (sv_group_limit(s, "cpu.max", "cpu", "cpu.cfs_quota_us", &quota) ==
	    NULL) {
		int allowed = (int)(quota + 0.999999);

		sv_fact(machine, "cpu.quota_threads", json_real(quota));
		if (n == 0 || allowed < n)
			n = allowed > 0 ? allowed : 1;
	}
	if (n > 0)
		sv_fact(machine, "cpu.usable_threads", json_integer(n));
	else
		sv_fact_unknown(machine, "cpu.usable_threads",
		    why != NULL ? why : "error: not a list of CPUs");
}

static void idle_states(json_t *machine, struct sv_sources *s)
{
	static const char folder[] = CPU "cpu0/cpuidle/state";
	char path[128], name[SV_SOURCE_BYTES];
	const char *why = NULL;
	json_t *list = json_array();

	for (int i = 0; i < 16; i++) {
		long long latency_us, disabled;
		json_t *one;

		snprintf(path, sizeof path, "%s%d/name", folder, i);
		why = sv_source_read(s, path, name);
		if (why != NULL)
			break;
		snprintf(path, sizeof path, "%s%d/latency", folder, i);
		if (sv_source_number(s, path, &latency_us) != NULL ||
		    latency_us < 0)
			continue;
		snprintf(path, sizeof path, "%s%d/disable", folder, i);
		if (sv_source_number(s, path, &disabled) != NULL)
			disabled = 0;
		one =
		    json_pack("{s:s, s:f, s:b}", "name", name, "exit_latency_s",
			(double)latency_us * 1e-6, "disabled", disabled != 0);
		if (one != NULL)
			json_array_append_new(list, one);
	}
	sv_fact_or(machine, "cpu.c_states",
	    json_array_size(list) > 0 ? NULL
	    : why != NULL	      ? why
				      : "absent",
	    list);
}

/* One word where all cores are governed alike, else all the words. */
static void governor(json_t *machine, struct sv_sources *s)
{
	char text[SV_SOURCE_BYTES], all[256] = "";
	const char *why = "absent";
	json_t *policies = sv_source_list(s, CPU "cpufreq"), *policy;
	json_t *seen = json_array();
	size_t i;

	json_array_foreach (policies, i, policy) {
		char path[160];
		const char *refused;

		if (strncmp(json_string_value(policy), "policy", 6) != 0)
			continue;
		snprintf(path, sizeof path,
		    CPU "cpufreq/%.60s/scaling_governor",
		    json_string_value(policy));
		refused = sv_source_read(s, path, text);
		if (refused != NULL) {
			why = refused;
			continue;
		}
		if (sv_source_listed(seen, text) || strlen(text) > 60)
			continue;
		json_array_append_new(seen, json_string(text));
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
		    all[0] != '\0' ? "," : "", text);
	}
	json_decref(policies);
	json_decref(seen);
	sv_fact_or(machine, "cpu.governor", all[0] != '\0' ? NULL : why,
	    json_string(all));
}

/* Whether clocks above the nominal one are allowed; two kernels' words. */
static void boost(json_t *machine, struct sv_sources *s)
{
	long long value = 0;
	const char *why = sv_source_number(s, CPU "cpufreq/boost", &value);

	if (why != NULL) {
		why = sv_source_number(s, CPU "intel_pstate/no_turbo", &value);
		value = !value;
	}
	sv_fact_or(machine, "cpu.boost", why, json_boolean(value != 0));
}

static void sizes(json_t *machine, struct sv_sources *s)
{
	long long smt = 0;
	const char *why = sv_source_number(s, CPU "smt/active", &smt);

	sv_fact_or(machine, "cpu.smt", why, json_boolean(smt != 0));
	sv_fact_number(
	    machine, "cpu.max_Hz", s, CPU "cpu0/cpufreq/cpuinfo_max_freq", 1e3);
	sv_fact_number(
	    machine, "cpu.min_Hz", s, CPU "cpu0/cpufreq/cpuinfo_min_freq", 1e3);
	sv_fact_text(
	    machine, "cpu.driver", s, CPU "cpu0/cpufreq/scaling_driver");
	sv_fact_text(machine, "cpu.energy_preference", s,
	    CPU "cpu0/cpufreq/energy_performance_preference");
	sv_fact_text(
	    machine, "cpu.idle_driver", s, CPU "cpuidle/current_driver");
}

static void identity(json_t *machine, struct sv_sources *s)
{
	/* x86, then the names that other architectures have for it. */
	static const char *const keys[] = {
	    "model name", "cpu model", "cpu", "Model", "Hardware"};
	char text[SV_SOURCE_BYTES], value[256];
	const char *why = sv_source_read(s, "proc/cpuinfo", text);
	bool found = false;

	for (size_t i = 0; why == NULL && !found && i < 5; i++)
		found = sv_source_field(text, keys[i], value, sizeof value);
	sv_fact_or(machine, "cpu.model",
	    found	  ? NULL
	    : why != NULL ? why
			  : "absent",
	    found ? json_string(value) : NULL);
	found = why == NULL &&
		sv_source_field(text, "microcode", value, sizeof value);
	sv_fact_or(machine, "cpu.microcode",
	    found	  ? NULL
	    : why != NULL ? why
			  : "absent",
	    found ? json_string(value) : NULL);
}

void sv_facts_processor(json_t *machine, struct sv_sources *s)
{
	identity(machine, s);
	usable_threads(machine, s);
	governor(machine, s);
	sizes(machine, s);
	boost(machine, s);
	idle_states(machine, s);
}
