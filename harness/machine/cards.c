/*
 * Graphics and compute devices on the PCI bus, by libpci. What the library
 * calls a fatal error must not end the program: no card is found then.
 */
#include <fcntl.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "machine.h"

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

/* Display controllers and processing accelerators. Source: PCI class codes. */
static bool is_card(const struct pci_dev *device)
{
	unsigned class_code = (unsigned)device->device_class >> 8;

	return class_code == 0x03 || class_code == 0x12;
}

static void fill(
    struct pci_access *access, struct pci_dev *device, struct sv_pci_card *card)
{
	snprintf(card->address, sizeof card->address, "%04x:%02x:%02x.%x",
	    (unsigned)device->domain, device->bus, device->dev, device->func);
	card->vendor = device->vendor_id;
	card->device = device->device_id;
	pci_lookup_name(access, card->name, sizeof card->name,
	    PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE, device->vendor_id,
	    device->device_id);
}

size_t sv_machine_pci_cards(struct sv_pci_card *cards, size_t max)
{
	struct pci_access *access;
	volatile size_t n = 0;

	/* Without the folder libpci would look in ways that need root. */
	if (faccessat(AT_FDCWD, "/sys/bus/pci/devices", R_OK, 0) != 0)
		return 0;
	access = pci_alloc();
	access->error = on_error;
	access->warning = ignore;
	access->debug = ignore;
	if (setjmp(escape) == 0) {
		pci_init(access);
		pci_scan_bus(access);
		for (struct pci_dev *d = access->devices; d != NULL;
		     d = d->next) {
			pci_fill_info(d, PCI_FILL_IDENT | PCI_FILL_CLASS);
			if (!is_card(d))
				continue;
			if (n < max)
				fill(access, d, &cards[n]);
			n++;
		}
		pci_cleanup(access);
	}
	return n;
}
