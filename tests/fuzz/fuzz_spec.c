/*
 * Entry for libFuzzer: any bytes are refused in one clear line, or read as a
 * specification. A corpus to begin with is results/specs.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv_spec *spec = NULL;
	struct sv_err err = {0};
	int code = sv_spec_parse((const char *)data, size, "spec", &spec, &err);

	sv_spec_free(spec);
	if (code != 0 &&
	    (code != SV_EINPUT || strncmp(err.text, "spec: ", 6) != 0 ||
		strpbrk(err.text, "\n\r") != NULL))
		abort();
	return 0;
}
