/*
 * This machine's PCI bus, by libpci. What the library calls a fatal error
 * must not end the program: the bus is empty then.
 */
#include <fcntl.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pci_bus.h"

/* libpci hands its error function no context: the jump must be found. */
static _Thread_local jmp_buf escape;

static void __attribute__((noreturn)) on_error(char *message, ...)
{
	(void)message;
	longjmp(escape, 1);
}

static void ignore(char *message, ...)
{
	(void)message;
}

/* Display controllers, accelerators, and the bridges on the way to them. */
static bool matters(const struct pci_dev *device)
{
	unsigned class_code = (unsigned)device->device_class;

	return class_code >> 8 == 0x03 || class_code >> 8 == 0x12 ||
	       class_code == PCI_CLASS_BRIDGE_PCI;
}

/* As many bytes as we may read: the library gives all of a block or none. */
static void read_config(struct pci_dev *device, struct sv_pci_function *f)
{
	static const int sizes[] = {
	    SV_PCI_CONFIG_BYTES, 256, SV_PCI_HEADER_BYTES};

	for (size_t i = 0; f->n == 0 && i < 3; i++)
		if (pci_read_block(device, 0, f->config, sizes[i]) != 0)
			f->n = (size_t)sizes[i];
	sv_pci_decode(f->config, f->n, &f->registers);
}

static void fill(struct pci_access *access, struct pci_dev *device,
    struct sv_pci_function *f)
{
	f->domain = (unsigned)device->domain;
	f->bus = device->bus;
	f->slot = device->dev;
	f->function = device->func;
	snprintf(f->address, sizeof f->address, "%04x:%02x:%02x.%x",
	    f->domain & 0xffffff, f->bus, f->slot, f->function);
	read_config(device, f);
	/* The kernel's word, where the header itself could not be read. */
	f->registers.vendor = device->vendor_id;
	f->registers.device = device->device_id;
	f->registers.class_code = (unsigned)device->device_class << 8 |
				  (f->registers.class_code & 0xff);
	pci_lookup_name(access, f->name, sizeof f->name,
	    PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE, device->vendor_id,
	    device->device_id);
}

static void scan(struct pci_access *access, struct sv_pci_bus *bus)
{
	size_t count = 0;

	pci_init(access);
	pci_scan_bus(access);
	for (struct pci_dev *d = access->devices; d != NULL; d = d->next) {
		pci_fill_info(d, PCI_FILL_IDENT | PCI_FILL_CLASS);
		count += matters(d);
	}
	bus->functions = calloc(count > 0 ? count : 1, sizeof *bus->functions);
	for (struct pci_dev *d = access->devices;
	     bus->functions != NULL && d != NULL; d = d->next) {
		struct sv_pci_function *f = &bus->functions[bus->n];

		if (!matters(d))
			continue;
		f->config = calloc(1, SV_PCI_CONFIG_BYTES);
		if (f->config == NULL)
			break;
		bus->n++;
		fill(access, d, f);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct sv_pci_function *f = a, *g = b;

	return strcmp(f->address, g->address);
}

void sv_pci_bus_read(struct sv_pci_bus *bus)
{
	struct pci_access *access;

	*bus = (struct sv_pci_bus){0};
	/* Without the folder libpci would look in ways that need root. */
	if (faccessat(AT_FDCWD, "/sys/bus/pci/devices", R_OK, 0) != 0)
		return;
	access = pci_alloc();
	access->error = on_error;
	access->warning = ignore;
	access->debug = ignore;
	if (setjmp(escape) == 0) {
		scan(access, bus);
		pci_cleanup(access);
	} else {
		sv_pci_bus_fini(bus);
	}
	if (bus->n > 0)
		qsort(
		    bus->functions, bus->n, sizeof *bus->functions, by_address);
}
