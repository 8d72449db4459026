/*
 * Entry for libFuzzer: any bytes are refused in one clear line, or read with
 * nothing lost. Build with -DSTAVE_FUZZ=ON and Clang; a corpus to begin with
 * is tests/fixtures/result.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "roundtrip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool accepted;

	if (!sv_survives((const char *)data, size, &accepted))
		abort();
	return 0;
}
