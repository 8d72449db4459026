/* Formatting of quantities; see the header. Parses nothing. */
#include "quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stave/units.h"

struct prefix {
	double factor;
	const char *text;
};

static const struct prefix decimal[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},
    {1e6, "M"}, {1e3, "k"}, {1.0, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"},
    {1e-12, "p"}};
static const struct prefix binary[] = {{1099511627776.0, "TiB"},
    {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1.0, "B"}};

/* Digits after the point that leave three significant ones. */
static int decimals(double value)
{
	double size = fabs(value);

	return size >= 100.0 ? 0 : size >= 10.0 ? 1 : 2;
}

const char *sv_quantity(char *out, size_t size, double value, const char *unit)
{
	size_t n = sizeof decimal / sizeof decimal[0];
	size_t at = 5; /* no prefix */

	if (!isfinite(value)) {
		snprintf(out, size, "-");
		return out;
	}
	if (strcmp(unit, SV_UNIT_ONE) == 0) {
		snprintf(out, size, "%.3f", value);
		return out;
	}
	if (value != 0.0) {
		/* 999.6 would print as 1000: it belongs to the next prefix. */
		for (at = 0; at + 1 < n; at++)
			if (fabs(value) >= 0.9995 * decimal[at].factor)
				break;
	}
	double scaled = value / decimal[at].factor;

	/* Rates of things have no unit to put the prefix before. */
	if (strcmp(unit, SV_UNIT_PER_SECOND) == 0)
		snprintf(out, size, "%.*f%s%s /s", decimals(scaled), scaled,
		    decimal[at].text[0] != '\0' ? " " : "", decimal[at].text);
	else
		snprintf(out, size, "%.*f %s%s", decimals(scaled), scaled,
		    decimal[at].text, unit);
	return out;
}

const char *sv_quantity_size(char *out, size_t size, double bytes)
{
	size_t n = sizeof binary / sizeof binary[0];
	size_t at = 0;

	if (!isfinite(bytes)) {
		snprintf(out, size, "-");
		return out;
	}
	while (at + 1 < n && fabs(bytes) < binary[at].factor)
		at++;
	double scaled = bytes / binary[at].factor;

	if (scaled == floor(scaled))
		snprintf(out, size, "%.0f %s", scaled, binary[at].text);
	else
		snprintf(out, size, "%.*f %s", decimals(scaled), scaled,
		    binary[at].text);
	return out;
}

const char *sv_quantity_clock(char *out, size_t size, double seconds)
{
	long whole;

	if (!isfinite(seconds) || seconds < 0.0) {
		snprintf(out, size, "-");
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
