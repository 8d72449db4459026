/* Formatting of quantities; see the header. Parses nothing. */
#include "quantity.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "stave/units.h"

#define UNKNOWN "\u2014" /* an em dash */

struct prefix {
	double factor;
	const char *text;
};

static const struct prefix decimal[] = {{1e18, "E"}, {1e15, "P"}, {1e12, "T"},
    {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1.0, ""}, {1e-3, "m"}, {1e-6, "µ"},
    {1e-9, "n"}, {1e-12, "p"}};
static const struct prefix binary[] = {{1099511627776.0, "TiB"},
    {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1.0, "B"}};

#define N_DECIMAL (sizeof decimal / sizeof decimal[0])
#define N_BINARY  (sizeof binary / sizeof binary[0])

/* Digits after the point that leave three significant ones. */
static int decimals(double value)
{
	double size = fabs(value);

	return size >= 100.0 ? 0 : size >= 10.0 ? 1 : 2;
}

/*
 * The largest prefix that leaves one or more, the last where none does. 999.6
 * would print as 1000: it belongs to the next one.
 */
static const struct prefix *prefix_for(
    double value, const struct prefix *prefixes, size_t n)
{
	size_t at = 0;

	while (at + 1 < n && fabs(value) < 0.9995 * prefixes[at].factor)
		at++;
	return &prefixes[at];
}

/* Only time and power are worth a prefix below one: nobody reads "mB/s". */
static bool has_small_prefixes(const char *unit)
{
	return strcmp(unit, SV_UNIT_SECONDS) == 0 ||
	       strcmp(unit, SV_UNIT_WATT) == 0;
}

/* Whether three decimals say what a ratio is. */
static bool is_plain(double value)
{
	return value == 0.0 || (fabs(value) >= 0.001 && fabs(value) < 1e4);
}

static const struct prefix *decimal_for(double value, const char *unit)
{
	return prefix_for(value != 0.0 ? value : 1.0, decimal,
	    has_small_prefixes(unit) ? N_DECIMAL : 7);
}

double sv_quantity_prefix(
    char *out, size_t size, double value, const char *unit)
{
	const struct prefix *prefix = decimal_for(value, unit);

	if (strcmp(unit, SV_UNIT_ONE) == 0) {
		out[0] = '\0';
		return 1.0;
	}
	snprintf(out, size, "%s%s", prefix->text,
	    strcmp(unit, SV_UNIT_PER_SECOND) == 0 ? "/s" : unit);
	return prefix->factor;
}

const char *sv_quantity(char *out, size_t size, double value, const char *unit)
{
	const struct prefix *prefix = decimal_for(value, unit);
	double scaled = value / prefix->factor;
	bool is_ratio = strcmp(unit, SV_UNIT_ONE) == 0;

	/* What is one of a thing in "1/s" takes the prefix itself. */
	if (strcmp(unit, SV_UNIT_PER_SECOND) == 0)
		unit = "/s";
	if (!isfinite(value))
		snprintf(out, size, UNKNOWN);
	else if (is_ratio)
		snprintf(out, size, is_plain(value) ? "%.3f" : "%.2e", value);
	else if (fabs(scaled) >= 1000.0 ||
		 (fabs(scaled) < 0.01 && value != 0.0))
		snprintf(out, size, "%.2e %s", value, unit);
	else
		snprintf(out, size, "%.*f %s%s", decimals(scaled), scaled,
		    prefix->text, unit);
	return out;
}

const char *sv_quantity_size(char *out, size_t size, double bytes)
{
	const struct prefix *prefix = prefix_for(bytes, binary, N_BINARY);
	double scaled = bytes / prefix->factor;

	if (!isfinite(bytes))
		snprintf(out, size, UNKNOWN);
	else if (fabs(scaled) >= 1e6)
		snprintf(out, size, "%.2e %s", scaled, prefix->text);
	else if (scaled == floor(scaled))
		snprintf(out, size, "%.0f %s", scaled, prefix->text);
	else
		snprintf(out, size, "%.*f %s", decimals(scaled), scaled,
		    prefix->text);
	return out;
}

const char *sv_quantity_clock(char *out, size_t size, double seconds)
{
	long whole;

	if (!(seconds >= 0.0 && seconds < 1e9)) {
		snprintf(out, size, UNKNOWN);
		return out;
	}
	whole = lround(seconds);
	if (whole < 60)
		snprintf(out, size, "%ld s", whole);
	else if (whole < 3600)
		snprintf(out, size, "%ld:%02ld", whole / 60, whole % 60);
	else
		snprintf(out, size, "%ld:%02ld:%02ld", whole / 3600,
		    whole / 60 % 60, whole % 60);
	return out;
}
