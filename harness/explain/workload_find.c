/* Where workload files are: named on the command line, or shipped. */
#include <limits.h>
#include <stdlib.h>

#include "json_fields.h"
#include "shipped.h"
#include "workload.h"

static const struct sv_shipped workloads = {
    "workloads", "workload", "STAVE_WORKLOAD_DIR"};

int sv_workload_read(
    const char *name_or_path, struct sv_workload **out, struct sv_err *err)
{
	char path[PATH_MAX + NAME_MAX];
	char *bytes = NULL;
	size_t size = 0;
	int code =
	    sv_shipped_path(&workloads, name_or_path, path, sizeof path, err);

	if (code == 0)
		code =
		    sv_json_read_bytes(path, "a workload", &bytes, &size, err);
	if (code == 0)
		code = sv_workload_parse(bytes, size, path, out, err);
	free(bytes);
	return code;
}

int sv_workload_shipped(char ***out, struct sv_err *err)
{
	return sv_shipped_names(&workloads, out, err);
}
