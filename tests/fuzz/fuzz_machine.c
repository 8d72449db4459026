/*
 * Entry for libFuzzer: parts of a recording. The first byte says which part:
 * even a PCI dump, odd a topology. Each is read, or refused in one clear line.
 * Corpora to begin with are tests/fixtures/machines.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "pci_bus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A terminated copy of just that size. */
static char *copy_of(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);

	if (copy == NULL)
		abort();
	memcpy(copy, data, size);
	copy[size] = '\0';
	return copy;
}

static int read_bus(const char *text, size_t n, struct sv_err *err)
{
	const struct sv_pci_function *path[16];
	struct sv_pci_bus bus;
	int code = sv_pci_bus_parse(&bus, text, n, "part", err);

	if (code != 0)
		return code;
	for (size_t i = 0; i < bus.n; i++)
		(void)sv_pci_bus_path(&bus, bus.functions[i].address, path, 16);
	sv_pci_bus_fini(&bus);
	return 0;
}

static int read_layout(const char *text, size_t n, struct sv_err *err)
{
	struct sv_layout layout;
	int code = sv_layout_parse(&layout, text, n, "part", err);

	if (code == 0)
		sv_layout_fini(&layout);
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv_err err = {0};
	char *text;
	int code;

	if (size == 0)
		return 0;
	text = copy_of(data + 1, size - 1);
	code = data[0] % 2 == 0 ? read_bus(text, size - 1, &err)
				: read_layout(text, size - 1, &err);
	free(text);
	if (code != 0 &&
	    (code != SV_EINPUT || strncmp(err.text, "part: line ", 11) != 0 ||
		strpbrk(err.text, "\n\r") != NULL))
		abort();
	return 0;
}
