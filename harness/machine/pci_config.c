/*
 * Configuration space; see the header. Offsets and fields: PCI Express Base
 * Specification 5.0, chapter 7 (the same numbers as linux/pci_regs.h).
 */
#include "pci_config.h"

#include <stdint.h>

#define STATUS		     0x06
#define STATUS_CAPABILITIES  0x10
#define CLASS_CODE	     0x09
#define HEADER_TYPE	     0x0e
#define HEADER_IS_BRIDGE     1
#define SECONDARY_BUS	     0x19
#define SUBORDINATE_BUS	     0x1a
#define CAPABILITIES	     0x34
#define CAP_PCIE	     0x10
#define CAP_PCIE_BYTES	     0x3c
#define EXTENDED	     0x100
#define EXT_CAP_SERIAL	     0x0003
#define EXT_CAP_ACS	     0x000d
#define EXT_CAP_RESIZABLE    0x0015
/* More than fit: a list that is longer runs in a circle. */
#define MAX_CAPABILITIES     48
#define MAX_EXT_CAPABILITIES 480
#define MIB		     1048576.0

/* The bytes at hand. */
struct bytes {
	const unsigned char *at;
	size_t n;
};

static unsigned word(const struct bytes *b, size_t offset)
{
	return offset + 2 <= b->n
		   ? b->at[offset] | (unsigned)b->at[offset + 1] << 8
		   : 0;
}

static uint32_t dword(const struct bytes *b, size_t offset)
{
	return word(b, offset) | (uint32_t)word(b, offset + 2) << 16;
}

/* Offset of a capability, 0 where it is not, or not at hand. */
static size_t find(const struct bytes *b, unsigned id)
{
	size_t at;

	if ((word(b, STATUS) & STATUS_CAPABILITIES) == 0)
		return 0;
	at = word(b, CAPABILITIES) & 0xfc;
	for (int i = 0; i < MAX_CAPABILITIES; i++) {
		unsigned head = word(b, at);

		if (at < SV_PCI_HEADER_BYTES || at + 2 > b->n)
			return 0;
		if ((head & 0xff) == id)
			return at;
		at = head >> 8 & 0xfc;
	}
	return 0;
}

static size_t find_extended(const struct bytes *b, unsigned id)
{
	size_t at = EXTENDED;

	for (int i = 0; i < MAX_EXT_CAPABILITIES; i++) {
		uint32_t head = dword(b, at);

		if (at < EXTENDED || at + 4 > b->n || head == 0 ||
		    head == 0xffffffffu)
			return 0;
		if ((head & 0xffff) == id)
			return at;
		at = head >> 20 & 0xffc;
	}
	return 0;
}

static enum sv_pci_port port_of(unsigned flags)
{
	switch (flags >> 4 & 0xf) {
	case 0x0:
	case 0x1:
		return SV_PORT_ENDPOINT;
	case 0x4:
		return SV_PORT_ROOT;
	case 0x5:
		return SV_PORT_UPSTREAM;
	case 0x6:
		return SV_PORT_DOWNSTREAM;
	case 0x7:
	case 0x8:
		return SV_PORT_BRIDGE;
	case 0x9:
	case 0xa:
		return SV_PORT_INTEGRATED;
	default:
		return SV_PORT_UNKNOWN;
	}
}

/* A generation that there is, else unknown. */
static unsigned speed(unsigned field)
{
	return field >= 1 && field <= 6 ? field : 0;
}

/* A width that there is; emulated links say 0, powered-down ones 63. */
static unsigned width(unsigned field)
{
	return field == 1 || field == 2 || field == 4 || field == 8 ||
		       field == 12 || field == 16 || field == 32
		   ? field
		   : 0;
}

static void decode_link(
    const struct bytes *b, size_t cap, struct sv_pci_registers *out)
{
	uint32_t device = dword(b, cap + 0x04), link = dword(b, cap + 0x0c);
	unsigned control = word(b, cap + 0x08), status = word(b, cap + 0x12);
	unsigned link_control2 = word(b, cap + 0x30);

	out->has_capabilities = true;
	out->port = port_of(word(b, cap + 2));
	out->max_payload_bytes = 128u << (device & 7);
	out->payload_bytes = 128u << (control >> 5 & 7);
	out->read_request_bytes = 128u << (control >> 12 & 7);
	if (out->port == SV_PORT_INTEGRATED)
		return;
	out->max_generation = speed(link & 0xf);
	out->max_width = width(link >> 4 & 0x3f);
	out->generation = speed(status & 0xf);
	out->width = width(status >> 4 & 0x3f);
	out->has_aspm = true;
	out->aspm = word(b, cap + 0x10) & 3;
	if ((word(b, cap + 2) & 0xf) >= 2)
		out->target_generation = speed(link_control2 & 0xf);
}

/* The first resizable BAR: size by its control, largest by its capability. */
static void decode_resizable(
    const struct bytes *b, size_t cap, struct sv_pci_registers *out)
{
	uint32_t sizes = dword(b, cap + 4) >> 4;
	unsigned chosen = dword(b, cap + 8) >> 8 & 0x3f;

	if (cap + 12 > b->n)
		return;
	out->resizable_bytes = (double)(UINT64_C(1) << chosen % 44) * MIB;
	for (unsigned i = 0; i < 28; i++)
		if ((sizes >> i & 1) != 0)
			out->resizable_max_bytes =
			    (double)(UINT64_C(1) << i) * MIB;
}

void sv_pci_decode(
    const unsigned char *bytes, size_t n, struct sv_pci_registers *out)
{
	const struct bytes b = {bytes, n};
	size_t cap;

	*out = (struct sv_pci_registers){.port = SV_PORT_UNKNOWN};
	/* All ones: nobody answers, the function is powered down. */
	if (n < SV_PCI_HEADER_BYTES || word(&b, 0) == 0xffff)
		return;
	out->vendor = word(&b, 0);
	out->device = word(&b, 2);
	out->class_code = dword(&b, CLASS_CODE) & 0xffffff;
	out->is_bridge = (bytes[HEADER_TYPE] & 0x7f) == HEADER_IS_BRIDGE;
	if (out->is_bridge) {
		out->secondary_bus = bytes[SECONDARY_BUS];
		out->subordinate_bus = bytes[SUBORDINATE_BUS];
	}
	cap = find(&b, CAP_PCIE);
	if (cap == 0 || cap + CAP_PCIE_BYTES > n)
		return;
	decode_link(&b, cap, out);
	cap = find_extended(&b, EXT_CAP_ACS);
	out->has_acs = cap != 0 && cap + 8 <= n;
	/* Request redirect and completion redirect. */
	out->acs_redirects = out->has_acs && (word(&b, cap + 6) & 0x0c) != 0;
	cap = find_extended(&b, EXT_CAP_RESIZABLE);
	if (cap != 0)
		decode_resizable(&b, cap, out);
}

size_t sv_pci_serial_offset(const unsigned char *bytes, size_t n)
{
	const struct bytes b = {bytes, n};
	size_t cap = find_extended(&b, EXT_CAP_SERIAL);

	return cap != 0 && cap + 12 <= n ? cap + 4 : 0;
}
