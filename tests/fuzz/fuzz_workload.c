/*
 * Entry for libFuzzer: any bytes are refused in one clear line, or are a
 * workload whose demand is finite. Build with -DSTAVE_FUZZ=ON and Clang; a
 * corpus to begin with is tests/fixtures/workload.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "workload_survives.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool accepted;

	if (!sv_workload_survives((const char *)data, size, &accepted))
		abort();
	return 0;
}
