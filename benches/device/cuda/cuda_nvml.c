/* Readings from NVML; see the header. */
#include "cuda_nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SONAME "libnvidia-ml.so.1"

struct entry {
	const char *symbol;
	size_t offset;
};

/* The newer names first: whatever is found first stays. */
static const struct entry entries[] = {
#define X(member, symbol) {symbol, offsetof(struct cuda_nvml, member)},
    CUDA_NVML_NEWER(X)
#undef X
#define X(member, symbol, parameters) \
	{symbol, offsetof(struct cuda_nvml, member)},
	CUDA_NVML_ENTRIES(X)
#undef X
};

/* A return code in the words of the result file. */
static void explain(unsigned rc, char *why, size_t room)
{
	/* Texts of nvmlErrorString, shortened; by their numbers. */
	static const struct {
		unsigned rc;
		const char *text;
	} known[] = {
	    {1, "error: NVML is not initialised"},
	    {2, "error: NVML takes an argument for invalid"},
	    {CUDA_NVML_NOT_SUPPORTED, "not_supported"},
	    {CUDA_NVML_NO_PERMISSION, "no_permission"},
	    {6, "absent"}, /* no such card */
	    {9, "absent"}, /* the driver is not loaded */
	    {10, "error: NVML timed out"},
	    {12, "absent"}, /* a library that NVML needs */
	    {CUDA_NVML_FUNCTION_NOT_FOUND, "absent"},
	    {15, "error: NVML says that the GPU is lost"},
	    {16, "error: NVML says that the GPU must be reset"},
	    {17, "no_permission"}, /* blocked by the operating system */
	    {18, "error: NVML and the driver are of different versions"},
	    {20, "error: out of memory"},
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].rc == rc) {
			snprintf(why, room, "%s", known[i].text);
			return;
		}
	snprintf(why, room, "error: NVML code %u", rc);
}

void cuda_nvml_open(struct cuda_nvml *nvml, const char *pci_address)
{
	unsigned rc;

	*nvml = (struct cuda_nvml){0};
	snprintf(nvml->missing, sizeof nvml->missing, "absent");
	nvml->library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (nvml->library == NULL)
		return;
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
		char *member = (char *)nvml + entries[i].offset;
		void *symbol, *held;

		memcpy(&held, member, sizeof held);
		if (held != NULL)
			continue;
		symbol = dlsym(nvml->library, entries[i].symbol);
		memcpy(member, &symbol, sizeof symbol);
	}
	if (nvml->init == NULL || nvml->shutdown == NULL ||
	    nvml->by_pci == NULL)
		return;
	rc = nvml->init();
	nvml->initialised = rc == CUDA_NVML_SUCCESS;
	if (nvml->initialised)
		rc = nvml->by_pci(pci_address, &nvml->card);
	if (rc != CUDA_NVML_SUCCESS) {
		nvml->card = NULL;
		explain(rc, nvml->missing, sizeof nvml->missing);
	}
}

void cuda_nvml_close(struct cuda_nvml *nvml)
{
	/* Nobody is left to tell, and the process ends soon. */
	if (nvml->initialised)
		(void)nvml->shutdown();
	if (nvml->library != NULL)
		dlclose(nvml->library);
	*nvml = (struct cuda_nvml){0};
}

/* The reading that a call's return code and value make. */
static struct cuda_reading reading_of(unsigned rc, uint64_t value)
{
	struct cuda_reading reading = {.known = rc == CUDA_NVML_SUCCESS};

	if (reading.known)
		reading.value = value;
	else
		explain(rc, reading.why, sizeof reading.why);
	return reading;
}

static struct cuda_reading no_card(const struct cuda_nvml *nvml)
{
	struct cuda_reading reading = {.known = false};

	snprintf(reading.why, sizeof reading.why, "%s", nvml->missing);
	return reading;
}

struct cuda_reading cuda_nvml_read(const struct cuda_nvml *nvml,
    unsigned (*function)(struct nvmlDevice_st *, unsigned *))
{
	unsigned value = 0, rc = CUDA_NVML_FUNCTION_NOT_FOUND;

	if (nvml->card == NULL)
		return no_card(nvml);
	if (function != NULL)
		rc = function(nvml->card, &value);
	return reading_of(rc, value);
}

struct cuda_reading cuda_nvml_read_typed(const struct cuda_nvml *nvml,
    unsigned (*function)(struct nvmlDevice_st *, unsigned, unsigned *),
    unsigned type)
{
	unsigned value = 0, rc = CUDA_NVML_FUNCTION_NOT_FOUND;

	if (nvml->card == NULL)
		return no_card(nvml);
	if (function != NULL)
		rc = function(nvml->card, type, &value);
	return reading_of(rc, value);
}

struct cuda_reading cuda_nvml_read_wide(const struct cuda_nvml *nvml,
    unsigned (*function)(struct nvmlDevice_st *, unsigned long long *))
{
	unsigned long long value = 0;
	unsigned rc = CUDA_NVML_FUNCTION_NOT_FOUND;

	if (nvml->card == NULL)
		return no_card(nvml);
	if (function != NULL)
		rc = function(nvml->card, &value);
	return reading_of(rc, value);
}

struct cuda_reading cuda_nvml_read_pair(const struct cuda_nvml *nvml,
    unsigned (*function)(struct nvmlDevice_st *, unsigned *, unsigned *),
    bool second)
{
	unsigned values[2] = {0, 0}, rc = CUDA_NVML_FUNCTION_NOT_FOUND;

	if (nvml->card == NULL)
		return no_card(nvml);
	if (function != NULL)
		rc = function(nvml->card, &values[0], &values[1]);
	return reading_of(rc, values[second]);
}

struct cuda_reading cuda_nvml_processes(const struct cuda_nvml *nvml)
{
	/* No room for the list itself: only how long it is. */
	unsigned count = 0, rc = CUDA_NVML_FUNCTION_NOT_FOUND;

	if (nvml->card == NULL)
		return no_card(nvml);
	if (nvml->processes != NULL)
		rc = nvml->processes(nvml->card, &count, NULL);
	if (rc == CUDA_NVML_INSUFFICIENT_SIZE)
		rc = CUDA_NVML_SUCCESS;
	return reading_of(rc, count);
}

void cuda_tell_number(struct sv_facts *facts, const char *path,
    struct cuda_reading reading, double scale)
{
	if (reading.known)
		facts->number(facts, path, (double)reading.value * scale);
	else
		facts->unknown(facts, path, reading.why);
}

void cuda_tell_integer(
    struct sv_facts *facts, const char *path, struct cuda_reading reading)
{
	if (reading.known)
		facts->integer(facts, path, (int64_t)reading.value);
	else
		facts->unknown(facts, path, reading.why);
}

void cuda_tell_boolean(
    struct sv_facts *facts, const char *path, struct cuda_reading reading)
{
	if (reading.known)
		facts->boolean(facts, path, reading.value != 0);
	else
		facts->unknown(facts, path, reading.why);
}
