/* See the header. */
#include "save.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int sv_save(const char *path, const void *bytes, size_t n, struct sv_err *err)
{
	FILE *out = fopen(path, "wbe");
	bool good;

	if (out == NULL)
		return sv_err_set(
		    err, SV_EOUTPUT, "write %.300s: %s", path, strerror(errno));
	good = fwrite(bytes, 1, n, out) == n;
	good = fclose(out) == 0 && good;
	return good ? 0
		    : sv_err_set(err, SV_EOUTPUT, "write %.300s: %s", path,
			  strerror(errno));
}
