/* Which export is which; each format has a file of its own. */
#include "export.h"

#include <string.h>

typedef int (*exporter)(const struct sv_result *, FILE *, struct sv_err *);

static const struct {
	const char *name;
	exporter write;
} formats[] = {
    [SV_EXPORT_CSV] = {"csv", sv_export_csv},
    [SV_EXPORT_OPENMETRICS] = {"openmetrics", sv_export_openmetrics},
    [SV_EXPORT_BENCHFMT] = {"benchfmt", sv_export_benchfmt},
    [SV_EXPORT_GBENCH] = {"gbench", sv_export_gbench},
};

int sv_export_format(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (strcmp(formats[i].name, name) == 0)
			return (int)i;
	return -1;
}

int sv_export(const struct sv_result *r, enum sv_export_format format,
    FILE *out, struct sv_err *err)
{
	return formats[format].write(r, out, err);
}
