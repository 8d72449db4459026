/* What a device selector means; see the header. */
#include "cuda_select.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct address {
	unsigned domain, bus, device, function;
};

/* Read [domain:]bus:device[.function], all hexadecimal. */
static bool parse_address(const char *text, struct address *out)
{
	struct address a = {0};
	int end = 0;

	/* scanf would take signs, blanks and 0x for part of a number. */
	if (text[strspn(text, "0123456789abcdefABCDEF:.")] != '\0')
		return false;
	if ((sscanf(text, "%x:%x:%x.%x%n", &a.domain, &a.bus, &a.device,
		 &a.function, &end) == 4 &&
		text[end] == '\0') ||
	    (sscanf(text, "%x:%x:%x%n", &a.domain, &a.bus, &a.device, &end) ==
		    3 &&
		text[end] == '\0')) {
		*out = a;
		return true;
	}
	a = (struct address){0};
	if ((sscanf(text, "%x:%x.%x%n", &a.bus, &a.device, &a.function, &end) ==
		    3 &&
		text[end] == '\0') ||
	    (sscanf(text, "%x:%x%n", &a.bus, &a.device, &end) == 2 &&
		text[end] == '\0')) {
		*out = a;
		return true;
	}
	return false;
}

static bool is_address(
    const struct sv_device_entry *entry, const struct address *wanted)
{
	struct address own;

	return parse_address(entry->pci_address, &own) &&
	       own.domain == wanted->domain && own.bus == wanted->bus &&
	       own.device == wanted->device && own.function == wanted->function;
}

/* "GPU-1234…" → "1234…" */
static const char *without_prefix(const char *uuid)
{
	return strncasecmp(uuid, "GPU-", 4) == 0 ||
		       strncasecmp(uuid, "MIG-", 4) == 0
		   ? uuid + 4
		   : uuid;
}

static bool is_uuid(const struct sv_device_entry *entry, const char *wanted)
{
	const char *digits = without_prefix(wanted);
	const char *own = without_prefix(entry->uuid);

	/* A prefix that was written must be the right one. */
	if (digits != wanted && strncasecmp(entry->uuid, wanted, 4) != 0)
		return false;
	return *digits != '\0' && *own != '\0' &&
	       strncasecmp(own, digits, strlen(digits)) == 0;
}

static bool is_index(const char *text, int *out)
{
	char *end;
	long value = strtol(text, &end, 10);

	/* More digits than that are the beginning of a UUID. */
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || end - text > 4)
		return false;
	*out = (int)value;
	return true;
}

/* What there is, for a person who asked for something else. */
static int refuse(const struct sv_device_entry *entries, size_t n,
    const char *selector, const char *what, struct sv_err *err)
{
	char list[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < n && used < sizeof list; i++) {
		int wrote = snprintf(list + used, sizeof list - used,
		    "%s%d (%s, %s)", i == 0 ? "" : ", ", entries[i].index,
		    entries[i].uuid, entries[i].pci_address);

		used += wrote > 0 ? (size_t)wrote : 0;
	}
	return sv_err_set(err, SV_EDEVICE, "device \"%.80s\": %s; there is %s",
	    selector, what, n > 0 ? list : "none");
}

int cuda_select(const struct sv_device_entry *entries, size_t n,
    const char *selector, size_t *out, struct sv_err *err)
{
	struct address address;
	bool by_address = parse_address(selector, &address);
	int index;
	size_t found = 0, place = 0;

	if (is_index(selector, &index)) {
		for (size_t i = 0; i < n; i++)
			if (entries[i].index == index) {
				*out = i;
				return 0;
			}
		return refuse(
		    entries, n, selector, "no device has that index", err);
	}
	for (size_t i = 0; i < n; i++)
		if (by_address ? is_address(&entries[i], &address)
			       : is_uuid(&entries[i], selector)) {
			found++;
			place = i;
		}
	if (found == 0)
		return refuse(entries, n, selector,
		    "no device has that UUID or PCI address", err);
	if (found > 1)
		return refuse(
		    entries, n, selector, "more than one device fits", err);
	*out = place;
	return 0;
}
