/*
 * Choosing a device by what a user writes: an index, a (partial) UUID, a PCI
 * address. A decision on data; no driver is asked here.
 */
#ifndef STAVE_CUDA_SELECT_H
#define STAVE_CUDA_SELECT_H

#include <stddef.h>

#include "stave/device.h"

/*
 * The place in entries[0 … n) of the one device that selector names.
 * An index is the entry's own. A UUID may lack its prefix ("GPU-", "MIG-")
 * and its end; hexadecimal digits of either case. A PCI address may lack its
 * domain (then 0) and its function.
 * Errors: SV_EDEVICE when none or more than one fits, with what there is.
 */
SV_MUST_CHECK int cuda_select(const struct sv_device_entry *entries, size_t n,
    const char *selector, size_t *out, struct sv_err *err);

#endif
