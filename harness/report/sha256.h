/* SHA-256, for checksum files and for the policy of the page. */
#ifndef STAVE_SHA256_H
#define STAVE_SHA256_H

#include <stddef.h>

#define SV_SHA256_BYTES 32

/* The digest of n bytes. Source: FIPS 180-4. */
void sv_sha256(
    const void *bytes, size_t n, unsigned char digest[static SV_SHA256_BYTES]);

#endif
