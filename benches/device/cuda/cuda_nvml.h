/*
 * NVML as far as it is needed, opened at run time. The declarations are our
 * own: names, numbers and parameters of the library's stable ABI (baseline
 * driver branch R450), compared with the vendor's header by a test where that
 * can be had. A value that cannot be read keeps the reason why; nothing here
 * makes a measurement fail.
 */
#ifndef STAVE_CUDA_NVML_H
#define STAVE_CUDA_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "stave/device.h"

/* Return codes that mean something to us. */
#define CUDA_NVML_SUCCESS	     0u
#define CUDA_NVML_NOT_SUPPORTED	     3u
#define CUDA_NVML_NO_PERMISSION	     4u
#define CUDA_NVML_INSUFFICIENT_SIZE  7u
#define CUDA_NVML_FUNCTION_NOT_FOUND 13u

#define CUDA_NVML_CLOCK_SM	       1u
#define CUDA_NVML_CLOCK_MEM	       2u
#define CUDA_NVML_TEMPERATURE_GPU      0u
#define CUDA_NVML_VERSION_BUFFER_BYTES 96u

/* Bits of the clocks' event reasons. */
#define CUDA_NVML_REASON_SW_POWER_CAP	0x4u
#define CUDA_NVML_REASON_HW_SLOWDOWN	0x8u
#define CUDA_NVML_REASON_SW_THERMAL	0x20u
#define CUDA_NVML_REASON_HW_THERMAL	0x40u
#define CUDA_NVML_REASON_HW_POWER_BRAKE 0x80u
#define CUDA_NVML_REASON_DISPLAY_CLOCK	0x100u

struct nvmlDevice_st; /* the vendor's tag */

/* X(member, symbol, parameters); any may be missing. */
#define CUDA_NVML_ENTRIES(X)                                                \
	X(init, "nvmlInit_v2", (void))                                      \
	X(shutdown, "nvmlShutdown", (void))                                 \
	X(driver_version, "nvmlSystemGetDriverVersion", (char *, unsigned)) \
	X(nvml_version, "nvmlSystemGetNVMLVersion", (char *, unsigned))     \
	X(by_pci, "nvmlDeviceGetHandleByPciBusId_v2",                       \
	    (const char *, struct nvmlDevice_st **))                        \
	X(vbios, "nvmlDeviceGetVbiosVersion",                               \
	    (struct nvmlDevice_st *, char *, unsigned))                     \
	X(generation, "nvmlDeviceGetCurrPcieLinkGeneration",                \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(width, "nvmlDeviceGetCurrPcieLinkWidth",                          \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(link_max_generation, "nvmlDeviceGetMaxPcieLinkGeneration",        \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(card_max_generation, "nvmlDeviceGetGpuMaxPcieLinkGeneration",     \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(max_width, "nvmlDeviceGetMaxPcieLinkWidth",                       \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(replays, "nvmlDeviceGetPcieReplayCounter",                        \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(clock, "nvmlDeviceGetClockInfo",                                  \
	    (struct nvmlDevice_st *, unsigned type, unsigned *))            \
	X(max_clock, "nvmlDeviceGetMaxClockInfo",                           \
	    (struct nvmlDevice_st *, unsigned type, unsigned *))            \
	X(performance_state, "nvmlDeviceGetPerformanceState",               \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons",             \
	    (struct nvmlDevice_st *, unsigned long long *))                 \
	X(temperature, "nvmlDeviceGetTemperature",                          \
	    (struct nvmlDevice_st *, unsigned sensor, unsigned *))          \
	X(power, "nvmlDeviceGetPowerUsage",                                 \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(power_limit, "nvmlDeviceGetEnforcedPowerLimit",                   \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(power_default, "nvmlDeviceGetPowerManagementDefaultLimit",        \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(power_range, "nvmlDeviceGetPowerManagementLimitConstraints",      \
	    (struct nvmlDevice_st *, unsigned *low, unsigned *high))        \
	X(energy, "nvmlDeviceGetTotalEnergyConsumption",                    \
	    (struct nvmlDevice_st *, unsigned long long *))                 \
	X(persistence, "nvmlDeviceGetPersistenceMode",                      \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(display_active, "nvmlDeviceGetDisplayActive",                     \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(compute_mode, "nvmlDeviceGetComputeMode",                         \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(ecc, "nvmlDeviceGetEccMode",                                      \
	    (struct nvmlDevice_st *, unsigned *now, unsigned *pending))     \
	X(mig, "nvmlDeviceGetMigMode",                                      \
	    (struct nvmlDevice_st *, unsigned *now, unsigned *pending))     \
	X(virtualisation, "nvmlDeviceGetVirtualizationMode",                \
	    (struct nvmlDevice_st *, unsigned *))                           \
	X(processes, "nvmlDeviceGetComputeRunningProcesses",                \
	    (struct nvmlDevice_st *, unsigned *count, void *none))

/* Later names of the same function, taken where the library has them. */
#define CUDA_NVML_NEWER(X)                                      \
	X(reasons, "nvmlDeviceGetCurrentClocksEventReasons")    \
	X(processes, "nvmlDeviceGetComputeRunningProcesses_v3") \
	X(processes, "nvmlDeviceGetComputeRunningProcesses_v2")

struct cuda_nvml {
	void *library;
	bool initialised;
	struct nvmlDevice_st *card; /* NULL: then missing says why */
	char missing[96];
#define X(member, symbol, parameters) unsigned(*member) parameters;
	CUDA_NVML_ENTRIES(X)
#undef X
};

/*
 * Open the library and find the card of this PCI address (CUDA numbers cards
 * in another order). Never fails: the reason goes into `missing`.
 */
void cuda_nvml_open(struct cuda_nvml *, const char *pci_address);
void cuda_nvml_close(struct cuda_nvml *);

/* A reading, or NULL value's reason in the words of the result file. */
struct cuda_reading {
	bool known;
	uint64_t value;
	char why[96];
};

/* Readings of numbers, in the library's own units (MHz, mW, mJ). */
struct cuda_reading cuda_nvml_read(const struct cuda_nvml *,
    unsigned (*function)(struct nvmlDevice_st *, unsigned *));
struct cuda_reading cuda_nvml_read_typed(const struct cuda_nvml *,
    unsigned (*function)(struct nvmlDevice_st *, unsigned, unsigned *),
    unsigned type);
struct cuda_reading cuda_nvml_read_wide(const struct cuda_nvml *,
    unsigned (*function)(struct nvmlDevice_st *, unsigned long long *));
/* The first of two outputs: what is in force now. */
struct cuda_reading cuda_nvml_read_pair(const struct cuda_nvml *,
    unsigned (*function)(struct nvmlDevice_st *, unsigned *, unsigned *),
    bool second);
/* Processes that compute on the card, this one included. */
struct cuda_reading cuda_nvml_processes(const struct cuda_nvml *);

/* Tell facts a reading times scale, or why it is unknown. */
void cuda_tell_number(
    struct sv_facts *, const char *path, struct cuda_reading, double scale);
void cuda_tell_integer(
    struct sv_facts *, const char *path, struct cuda_reading);
void cuda_tell_boolean(
    struct sv_facts *, const char *path, struct cuda_reading);

#endif
