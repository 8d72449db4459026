/* The bus as data: dumps in and out, and the way to a card; see the header. */
#include "pci_bus.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* More than any chassis has; a dump with more is none. */
#define MAX_FUNCTIONS 8192

void sv_pci_bus_fini(struct sv_pci_bus *bus)
{
	for (size_t i = 0; i < bus->n; i++)
		free(bus->functions[i].config);
	free(bus->functions);
	*bus = (struct sv_pci_bus){0};
}

static struct sv_pci_function *add(struct sv_pci_bus *bus)
{
	struct sv_pci_function *more;

	if ((bus->n & (bus->n - 1)) == 0) {
		more = realloc(bus->functions,
		    (bus->n == 0 ? 1 : 2 * bus->n) * sizeof *more);
		if (more == NULL)
			return NULL;
		bus->functions = more;
	}
	more = &bus->functions[bus->n];
	*more = (struct sv_pci_function){0};
	more->config = calloc(1, SV_PCI_CONFIG_BYTES);
	if (more->config == NULL)
		return NULL;
	bus->n++;
	return more;
}

/* "dddd:bb:dd.f" or "bb:dd.f"; characters used, 0 where it is neither. */
static int parse_address(const char *text, unsigned out[4])
{
	int used = 0;

	if (sscanf(text, "%8x:%2x:%2x.%1x%n", &out[0], &out[1], &out[2],
		&out[3], &used) == 4 &&
	    used > 0 && isxdigit((unsigned char)text[0]))
		return out[2] < 32 && out[3] < 8 ? used : 0;
	out[0] = 0;
	if (sscanf(text, "%2x:%2x.%1x%n", &out[1], &out[2], &out[3], &used) ==
		3 &&
	    used > 0 && isxdigit((unsigned char)text[0]))
		return out[2] < 32 && out[3] < 8 ? used : 0;
	return 0;
}

/* State of parsing one dump. */
struct reading {
	struct sv_pci_bus *bus;
	struct sv_pci_function *now; /* NULL before the first */
	const char *name;
	size_t line;
};

static int fault(
    const struct reading *r, const char *expected, struct sv_err *err)
{
	return sv_err_set(
	    err, SV_EINPUT, "%s: line %zu: %s", r->name, r->line, expected);
}

/* "0000:01:00.0 VGA compatible controller: NAME (rev a1)" */
static int head_line(struct reading *r, const char *line, const unsigned a[4],
    struct sv_err *err)
{
	const char *name = strstr(line, ": ");

	if (r->bus->n >= MAX_FUNCTIONS)
		return fault(r, "more functions than a bus has", err);
	r->now = add(r->bus);
	if (r->now == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "%s: out of memory", r->name);
	r->now->domain = a[0];
	r->now->bus = a[1];
	r->now->slot = a[2];
	r->now->function = a[3];
	snprintf(r->now->address, sizeof r->now->address, "%04x:%02x:%02x.%x",
	    a[0] & 0xffffff, a[1], a[2], a[3]);
	if (name == NULL)
		return 0;
	snprintf(r->now->name, sizeof r->now->name, "%s", name + 2);
	for (char *c = r->now->name; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	return 0;
}

/* "40: 01 4a 23 00 …": bytes that go on where the last line ended. */
static int bytes_line(struct reading *r, const char *line, struct sv_err *err)
{
	unsigned offset, value;
	int used = 0;

	if (sscanf(line, "%3x:%n", &offset, &used) != 1 || used == 0)
		return fault(r,
		    "expected an address (0000:01:00.0), or an offset and "
		    "bytes (40: 01 4a …)",
		    err);
	if (r->now == NULL)
		return fault(r, "bytes before the first address", err);
	if (offset != r->now->n)
		return sv_err_set(err, SV_EINPUT,
		    "%s: line %zu: expected offset %02zx, found %02x", r->name,
		    r->line, r->now->n, offset);
	for (line += used; *line != '\0'; line += used) {
		if (sscanf(line, " %2x%n", &value, &used) != 1) {
			if (line[strspn(line, " \t\r")] == '\0')
				break;
			return fault(r, "expected two hexadecimal digits", err);
		}
		if (r->now->n >= SV_PCI_CONFIG_BYTES)
			return fault(r, "more than 4096 bytes", err);
		r->now->config[r->now->n++] = (unsigned char)value;
	}
	return 0;
}

static int parse_line(struct reading *r, const char *line, struct sv_err *err)
{
	unsigned address[4];

	/* What `lspci -v` says of a function, in words. */
	if (line[0] == '\t' || line[strspn(line, " \r")] == '\0')
		return 0;
	return parse_address(line, address) > 0
		   ? head_line(r, line, address, err)
		   : bytes_line(r, line, err);
}

int sv_pci_bus_parse(struct sv_pci_bus *bus, const char *text, size_t n,
    const char *name, struct sv_err *err)
{
	struct reading r = {.bus = bus, .name = name};
	const char *end = text + n;
	int code = 0;

	*bus = (struct sv_pci_bus){0};
	while (code == 0 && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop != NULL ? stop : end) - text);
		char line[512];

		r.line++;
		snprintf(line, sizeof line, "%.*s",
		    (int)(length < sizeof line ? length : sizeof line - 1),
		    text);
		if (memchr(text, '\0', length) != NULL)
			code = fault(&r, "a zero byte", err);
		else
			code = parse_line(&r, line, err);
		text += length + 1;
	}
	for (size_t i = 0; code == 0 && i < bus->n; i++)
		sv_pci_decode(bus->functions[i].config, bus->functions[i].n,
		    &bus->functions[i].registers);
	if (code != 0)
		sv_pci_bus_fini(bus);
	return code;
}

void sv_pci_bus_print(const struct sv_pci_bus *bus, FILE *out)
{
	for (size_t i = 0; i < bus->n; i++) {
		const struct sv_pci_function *f = &bus->functions[i];
		size_t serial = sv_pci_serial_offset(f->config, f->n);

		fprintf(out, "%s %04x: %s", f->address,
		    f->registers.class_code >> 8, f->name);
		for (size_t j = 0; j < f->n; j++) {
			bool blank =
			    serial != 0 && j >= serial && j < serial + 8;

			if (j % 16 == 0)
				fprintf(out, "\n%02zx:", j);
			fprintf(out, " %02x", blank ? 0u : f->config[j]);
		}
		fprintf(out, "\n\n");
	}
}

const struct sv_pci_function *sv_pci_bus_find(
    const struct sv_pci_bus *bus, const char *address)
{
	unsigned a[4];

	if (address == NULL || parse_address(address, a) == 0)
		return NULL;
	for (size_t i = 0; i < bus->n; i++) {
		const struct sv_pci_function *f = &bus->functions[i];

		if (f->domain == a[0] && f->bus == a[1] && f->slot == a[2] &&
		    f->function == a[3])
			return f;
	}
	return NULL;
}

/* Source: PCI Code and ID Assignment, base classes 03h and 12h. */
bool sv_pci_is_card(const struct sv_pci_function *f)
{
	unsigned base = f->registers.class_code >> 16;

	return base == 0x03 || base == 0x12;
}

/* The bridge whose far side is this bus. */
static const struct sv_pci_function *bridge_to(
    const struct sv_pci_bus *bus, unsigned domain, unsigned number)
{
	for (size_t i = 0; i < bus->n; i++) {
		const struct sv_pci_function *f = &bus->functions[i];

		if (f->domain == domain && f->registers.is_bridge &&
		    f->registers.secondary_bus == number && number != 0 &&
		    f->bus < number)
			return f;
	}
	return NULL;
}

size_t sv_pci_bus_path(const struct sv_pci_bus *bus, const char *address,
    const struct sv_pci_function **hops, size_t max)
{
	const struct sv_pci_function *f = sv_pci_bus_find(bus, address);
	size_t n = 0;

	/* Bus numbers fall on the way up: a circle is impossible. */
	while (f != NULL && n < max) {
		hops[n++] = f;
		f = bridge_to(bus, f->domain, f->bus);
	}
	for (size_t i = 0; i < n / 2; i++) {
		const struct sv_pci_function *swap = hops[i];

		hops[i] = hops[n - 1 - i];
		hops[n - 1 - i] = swap;
	}
	return n;
}
