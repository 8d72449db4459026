/*
 * Memory: how much there is, how much this process may have, lock and share;
 * and the limits of control groups, which bind the processor too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"

static void kib_fact(json_t *machine, const char *text, const char *why,
    const char *field, const char *key)
{
	char value[64];
	unsigned long long kib = 0;

	if (why == NULL &&
	    (!sv_source_field(text, key, value, sizeof value) ||
		sscanf(value, "%llu kB", &kib) != 1 || kib > (1ull << 52)))
		why = "absent";
	sv_fact_or(machine, field, why, json_integer((json_int_t)kib << 10));
}

/* The number that a limit's text states; false for "max" and the like. */
static bool limit_of(const char *text, double *out)
{
	double value, period;
	int n = sscanf(text, "%lf %lf", &value, &period);

	if (n < 1 || !(value > 0.0))
		return false;
	/* v1 writes the largest number there is for "none". */
	if (n == 1 && value >= 9.2e18)
		return false;
	*out = n == 2 && period > 0.0 ? value / period : value;
	return true;
}

/* The process' group of a controller, "" for v2; false where it has none. */
static bool group_of(
    const char *text, const char *controller, char *out, size_t size)
{
	while (text != NULL && *text != '\0') {
		const char *names = strchr(text, ':');
		const char *path =
		    names != NULL ? strchr(names + 1, ':') : NULL;
		const char *line = text;
		char all[256];

		text = strchr(line, '\n');
		text = text != NULL ? text + 1 : NULL;
		if (path == NULL)
			continue;
		snprintf(all, sizeof all, ",%.*s,", (int)(path - names - 1),
		    names + 1);
		char wanted[64];

		snprintf(wanted, sizeof wanted, ",%.50s,", controller);
		if (controller[0] == '\0' ? strcmp(all, ",,") != 0
					  : strstr(all, wanted) == NULL)
			continue;
		snprintf(
		    out, size, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
		return strstr(out, "..") == NULL;
	}
	return false;
}

/* The least limit from a group up to the root of its tree. */
static const char *least(struct sv_sources *s, const char *tree,
    const char *group, const char *file, double *out)
{
	char at[1024], path[2048], text[SV_SOURCE_BYTES];
	const char *why = "absent";
	bool found = false;
	double value;

	snprintf(at, sizeof at, "%.900s", group);
	for (;;) {
		while (strlen(at) > 0 && at[strlen(at) - 1] == '/')
			at[strlen(at) - 1] = '\0';
		snprintf(path, sizeof path, "%s%s/%s", tree, at, file);
		const char *refused = sv_source_read(s, path, text);

		if (refused != NULL && strcmp(refused, "absent") != 0)
			why = refused;
		if (refused == NULL && limit_of(text, &value) &&
		    (!found || value < *out)) {
			*out = value;
			found = true;
		}
		if (strrchr(at, '/') == NULL)
			break;
		*strrchr(at, '/') = '\0';
	}
	return found ? NULL : why;
}

const char *sv_group_limit(struct sv_sources *s, const char *v2_file,
    const char *v1_controller, const char *v1_file, double *out)
{
	char groups[SV_SOURCE_BYTES], group[1024], tree[128];
	const char *why = sv_source_read(s, "proc/self/cgroup", groups);
	double period_us;

	if (why != NULL)
		groups[0] = '\0';
	if (!group_of(groups, "", group, sizeof group))
		group[0] = '\0';
	why = least(s, "sys/fs/cgroup", group, v2_file, out);
	if (why == NULL)
		return NULL;
	if (!group_of(groups, v1_controller, group, sizeof group))
		return why;
	snprintf(tree, sizeof tree, "sys/fs/cgroup/%.60s", v1_controller);
	why = least(s, tree, group, v1_file, out);
	if (why != NULL || strcmp(v1_controller, "cpu") != 0)
		return why;
	if (least(s, tree, group, "cpu.cfs_period_us", &period_us) != NULL)
		return "error: a quota without a period";
	*out /= period_us;
	return NULL;
}

/* "Max locked memory   8388608   8388608   bytes", the first of the two. */
static void memlock(json_t *machine, struct sv_sources *s)
{
	static const char key[] = "Max locked memory";
	char text[SV_SOURCE_BYTES], *line = NULL, value[32] = "";
	const char *why = sv_source_read(s, "proc/self/limits", text);

	if (why == NULL)
		line = strstr(text, key);
	if (line != NULL)
		(void)sscanf(line + sizeof key - 1, "%31s", value);
	if (strcmp(value, "unlimited") == 0)
		sv_fact_unknown(
		    machine, "memory.memlock_limit_bytes", "unlimited");
	else if (value[0] >= '0' && value[0] <= '9')
		sv_fact(machine, "memory.memlock_limit_bytes",
		    json_integer(strtoll(value, NULL, 10)));
	else
		sv_fact_unknown(machine, "memory.memlock_limit_bytes",
		    why != NULL ? why : "absent");
}

static void huge_pages(json_t *machine, struct sv_sources *s)
{
	static const char folder[] = "sys/kernel/mm/transparent_hugepage/";
	char path[96];

	snprintf(path, sizeof path, "%senabled", folder);
	sv_fact_choice(machine, "memory.thp", s, path);
	snprintf(path, sizeof path, "%sdefrag", folder);
	sv_fact_choice(machine, "memory.thp_defrag", s, path);
	sv_fact_number(
	    machine, "memory.huge_pages", s, "proc/sys/vm/nr_hugepages", 1.0);
}

/* "some avg10=0.00 avg60=1.50 …": the share of the last minute, from %. */
static void pressure(json_t *machine, struct sv_sources *s, const char *what)
{
	char path[64], field[64], text[SV_SOURCE_BYTES];
	const char *why, *at = NULL;
	double percent = 0.0;

	snprintf(path, sizeof path, "proc/pressure/%s", what);
	snprintf(field, sizeof field, "pressure.%s", what);
	why = sv_source_read(s, path, text);
	if (why == NULL)
		at = strstr(text, "avg60=");
	if (why == NULL &&
	    (at == NULL || sscanf(at, "avg60=%lf", &percent) != 1))
		why = "error: not a pressure";
	sv_fact_or(machine, field, why, json_real(percent / 100.0));
}

void sv_facts_memory(json_t *machine, struct sv_sources *s)
{
	char text[SV_SOURCE_BYTES];
	const char *why = sv_source_read(s, "proc/meminfo", text);
	double limit = 0.0;

	kib_fact(machine, text, why, "memory.total_bytes", "MemTotal");
	kib_fact(machine, text, why, "memory.available_bytes", "MemAvailable");
	kib_fact(machine, text, why, "memory.swap_bytes", "SwapTotal");
	why = sv_group_limit(
	    s, "memory.max", "memory", "memory.limit_in_bytes", &limit);
	sv_fact_or(machine, "memory.group_limit_bytes", why,
	    json_integer((json_int_t)limit));
	memlock(machine, s);
	huge_pages(machine, s);
	pressure(machine, s, "cpu");
	pressure(machine, s, "memory");
	pressure(machine, s, "io");
}
