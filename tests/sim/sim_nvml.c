/*
 * The simulated NVML. Declarations are our own: the interface is a stable
 * ABI of names, numbers and plain structures, and its header is not in the
 * toolkit. What a card reports follows from what it is doing: idle or under
 * load, throttled or not.
 */
#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum nvml_code {
	NVML_OK = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_LIBRARY_NOT_FOUND = 12,
	NVML_GPU_IS_LOST = 15,
	NVML_VERSION_MISMATCH = 25,
};

/* Activity shows this long in clocks and link: they fall back slowly. */
#define LINGER_PS   INT64_C(20000000000)
#define IDLE_SM_MHZ 210

/* What a caller holds: the card, or its one MIG instance. */
struct nvml_device {
	struct sim_device *device;
	bool instance;
};

struct nvml_pci {
	char legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char text[32];
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

struct nvml_bar1 {
	unsigned long long total, free, used;
};

struct nvml_field {
	unsigned field, scope;
	long long timestamp, latency_us;
	unsigned type;
	int code;
	unsigned long long value;
};

struct nvml_process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

struct nvml_temperature {
	unsigned version, sensor;
	int celsius;
};

static struct nvml_device handles[SIM_MAX_DEVICES][2];
static unsigned initialised;

static struct nvml_device *handle_of(struct sim_device *device, bool instance)
{
	struct nvml_device *h = &handles[device->place][instance];

	h->device = device;
	h->instance = instance;
	return h;
}

/* --- how calls begin --- */

static int enter(const char *call)
{
	int rc = sim_enter(SIM_LIB_NVML, call);

	return rc == 0 && initialised == 0 ? NVML_UNINITIALIZED : rc;
}

static bool any_in_mode(enum sim_nvml_mode mode)
{
	for (size_t i = 0; i < sim.config.n_devices; i++)
		if (sim.config.devices[i].is.nvml == mode)
			return true;
	return false;
}

/* What a caller asks about: without permission, names alone. */
enum subject {
	IDENTITY,
	STATE,
};

static int enter_device(const char *call, struct nvml_device *h,
    enum subject subject, const void *out)
{
	int rc = enter(call);

	if (rc != 0)
		return rc;
	if (h == NULL || out == NULL)
		return NVML_INVALID_ARGUMENT;
	if (h->device->is.nvml == SIM_NVML_LOST)
		return NVML_GPU_IS_LOST;
	if (h->device->is.nvml == SIM_NVML_NO_PERMISSION && subject == STATE)
		return NVML_NO_PERMISSION;
	/* An instance has no link, clock or power of its own. */
	if (h->instance && subject == STATE)
		return NVML_NOT_SUPPORTED;
	return 0;
}

static int put_text(char *out, unsigned room, const char *text)
{
	if (out == NULL)
		return NVML_INVALID_ARGUMENT;
	if (strlen(text) >= room)
		return NVML_INSUFFICIENT_SIZE;
	memcpy(out, text, strlen(text) + 1);
	return 0;
}

/* A number that is read whole, when the call may be made. */
static int give(const char *call, struct nvml_device *h, unsigned *out,
    double (*value)(struct sim_device *))
{
	int rc = enter_device(call, h, STATE, out);

	if (rc == 0)
		*out = (unsigned)(value(h->device) + 0.5);
	return sim_leave(rc);
}

/* --- what a card is doing --- */

static bool loaded(struct sim_device *device)
{
	return sim_device_active(device) ||
	       (device->last_active_ps >= 0 &&
		   sim.host_ps - device->last_active_ps < LINGER_PS);
}

static bool slowed(struct sim_device *device)
{
	return loaded(device) && sim_device_throttled(device);
}

static double generation_now(struct sim_device *device)
{
	return (double)(loaded(device) ? device->is.generation
				       : device->is.idle_generation);
}

static double width_now(struct sim_device *device)
{
	return (double)device->is.width;
}

static double generation_max(struct sim_device *device)
{
	return (double)device->is.max_generation;
}

static double width_max(struct sim_device *device)
{
	return (double)device->is.max_width;
}

/* In Mb/s a lane, as the interface counts: 2500, 5000, 8000, … */
static double lane_speed(struct sim_device *device)
{
	int64_t generation = (int64_t)generation_now(device);

	return generation <= 2 ? 2500.0 * (double)generation
			       : 8000.0 * pow(2, (double)generation - 3);
}

static double sm_MHz(struct sim_device *device)
{
	double factor = slowed(device) ? device->is.throttle_factor : 1;

	return loaded(device) ? device->is.sm_clock_Hz * factor / 1e6
			      : IDLE_SM_MHZ;
}

static double bus_bits(struct sim_device *device)
{
	return sim_bus_bits(device);
}

static double memory_max_MHz(struct sim_device *device)
{
	return device->is.memory_bandwidth_Bps / (2 * bus_bits(device) / 8) /
	       1e6;
}

static double memory_MHz(struct sim_device *device)
{
	return loaded(device) ? memory_max_MHz(device) : 405;
}

static double sm_max_MHz(struct sim_device *device)
{
	return device->is.sm_clock_Hz / 1e6;
}

static double draw_mW(struct sim_device *device)
{
	double load =
	    device->is.throttle == SIM_THROTTLE_SW_POWER_CAP ? 1 : 0.9;

	return device->is.power_limit_w * 1e3 * (loaded(device) ? load : 0.1);
}

static double limit_mW(struct sim_device *device)
{
	return device->is.power_limit_w * 1e3;
}

static double default_mW(struct sim_device *device)
{
	return device->is.power_default_w * 1e3;
}

static double celsius(struct sim_device *device)
{
	bool hot = device->is.throttle == SIM_THROTTLE_HW_THERMAL ||
		   device->is.throttle == SIM_THROTTLE_SW_THERMAL;

	return !loaded(device) ? 35 : hot && slowed(device) ? 93 : 65;
}

static double state_number(struct sim_device *device)
{
	return loaded(device) ? 0 : 8;
}

/* Bits of the clocks' event reasons. */
static unsigned long long reasons(struct sim_device *device)
{
	if (!loaded(device))
		return 0x1;
	if (!slowed(device))
		return 0;
	switch (device->is.throttle) {
	case SIM_THROTTLE_SW_POWER_CAP:
		return 0x4;
	case SIM_THROTTLE_SW_THERMAL:
		return 0x20;
	case SIM_THROTTLE_HW_THERMAL:
		return 0x40 | 0x8;
	case SIM_THROTTLE_HW_POWER_BRAKE:
		return 0x80 | 0x8;
	default:
		return 0;
	}
}

/* --- the library --- */

int nvmlInit_v2(void);
int nvmlInitWithFlags(unsigned flags);
int nvmlShutdown(void);
const char *nvmlErrorString(int code);
int nvmlSystemGetDriverVersion(char *out, unsigned room);
int nvmlSystemGetNVMLVersion(char *out, unsigned room);
int nvmlSystemGetCudaDriverVersion_v2(int *out);
int nvmlSystemGetCudaDriverVersion(int *out);

static int start(void)
{
	if (any_in_mode(SIM_NVML_ABSENT))
		return NVML_LIBRARY_NOT_FOUND;
	initialised++;
	return 0;
}

int nvmlInit_v2(void)
{
	int rc = sim_enter(SIM_LIB_NVML, __func__);

	return sim_leave(rc != 0 ? rc : start());
}

int nvmlInitWithFlags(unsigned flags)
{
	int rc = sim_enter(SIM_LIB_NVML, __func__);

	(void)flags;
	return sim_leave(rc != 0 ? rc : start());
}

int nvmlShutdown(void)
{
	int rc = enter(__func__);

	if (rc == 0)
		initialised--;
	return sim_leave(rc);
}

const char *nvmlErrorString(int code)
{
	static const char *const texts[] = {"Success", "Uninitialized",
	    "Invalid Argument", "Not Supported", "Insufficient Permissions",
	    "Already Initialized", "Not Found", "Insufficient Size",
	    "Insufficient External Power", "Driver Not Loaded", "Timeout",
	    "Interrupt Request Issue", "NVML Shared Library Not Found",
	    "Function Not Found", "Corrupted infoROM", "GPU is lost",
	    "GPU requires reset",
	    "The operating system has blocked the request",
	    "RM has detected an NVML/RM version mismatch"};

	if (code < 0 || (size_t)code >= sizeof texts / sizeof *texts)
		return "Unknown Error";
	return texts[code];
}

int nvmlSystemGetDriverVersion(char *out, unsigned room)
{
	int rc = enter(__func__);

	return sim_leave(
	    rc != 0 ? rc : put_text(out, room, sim.config.driver_version));
}

int nvmlSystemGetNVMLVersion(char *out, unsigned room)
{
	char text[96];
	int rc = enter(__func__);

	snprintf(text, sizeof text, "%d.%s",
	    (int)(sim.config.driver_cuda / 1000), sim.config.driver_version);
	return sim_leave(rc != 0 ? rc : put_text(out, room, text));
}

static int cuda_version(const char *call, int *out)
{
	int rc = enter(call);

	if (rc == 0 && out == NULL)
		rc = NVML_INVALID_ARGUMENT;
	if (rc == 0)
		*out = (int)sim.config.driver_cuda;
	return sim_leave(rc);
}

int nvmlSystemGetCudaDriverVersion_v2(int *out)
{
	return cuda_version(__func__, out);
}

int nvmlSystemGetCudaDriverVersion(int *out)
{
	return cuda_version(__func__, out);
}

/* --- finding devices --- */

int nvmlDeviceGetCount_v2(unsigned *out);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **out);
int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **out);
int nvmlDeviceGetHandleByPciBusId_v2(
    const char *text, struct nvml_device **out);
int nvmlDeviceGetIndex(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetMinorNumber(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetName(struct nvml_device *h, char *out, unsigned room);
int nvmlDeviceGetUUID(struct nvml_device *h, char *out, unsigned room);
int nvmlDeviceGetPciInfo_v3(struct nvml_device *h, struct nvml_pci *out);
int nvmlDeviceGetCudaComputeCapability(
    struct nvml_device *h, int *major, int *minor);
int nvmlDeviceGetVbiosVersion(struct nvml_device *h, char *out, unsigned room);

int nvmlDeviceGetCount_v2(unsigned *out)
{
	int rc = enter(__func__);

	if (rc == 0)
		*out = (unsigned)sim.config.n_devices;
	return sim_leave(rc);
}

/* Every device of the machine by its place on the bus, visible or not. */
static struct sim_device *by_index(unsigned index)
{
	struct sim_device *found = NULL;

	for (size_t i = 0; i < sim.config.n_devices; i++) {
		struct sim_device *d = &sim.config.devices[i];
		unsigned before = 0;

		for (size_t j = 0; j < sim.config.n_devices; j++) {
			const struct sim_planted *o = &sim.config.devices[j].is;
			uint64_t mine = (uint64_t)d->is.pci_domain << 32 |
					d->is.pci_bus << 8 | d->is.pci_device;
			uint64_t its = (uint64_t)o->pci_domain << 32 |
				       o->pci_bus << 8 | o->pci_device;

			before += its < mine;
		}
		if (before == index)
			found = d;
	}
	return found;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **out)
{
	struct sim_device *device = NULL;
	int rc = enter(__func__);

	if (rc == 0 && (out == NULL || (device = by_index(index)) == NULL))
		rc = NVML_INVALID_ARGUMENT;
	if (rc == 0)
		*out = handle_of(device, false);
	return sim_leave(rc);
}

static int by_uuid(const char *uuid, struct nvml_device **out)
{
	struct sim_device *device = sim_device_of_uuid(uuid);

	if (device != NULL) {
		*out = handle_of(device, false);
		return 0;
	}
	for (size_t i = 0; i < sim.config.n_devices; i++) {
		device = &sim.config.devices[i];
		if (device->is.mig && strcmp(device->is.mig_uuid, uuid) == 0) {
			*out = handle_of(device, true);
			return 0;
		}
	}
	return NVML_NOT_FOUND;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **out)
{
	int rc = enter(__func__);

	if (rc == 0 && (uuid == NULL || out == NULL))
		rc = NVML_INVALID_ARGUMENT;
	return sim_leave(rc != 0 ? rc : by_uuid(uuid, out));
}

static int by_bus(const char *text, struct nvml_device **out)
{
	unsigned domain, bus, slot;

	if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3)
		return NVML_INVALID_ARGUMENT;
	for (size_t i = 0; i < sim.config.n_devices; i++) {
		struct sim_device *device = &sim.config.devices[i];

		if (device->is.pci_domain == domain &&
		    device->is.pci_bus == bus &&
		    device->is.pci_device == slot) {
			*out = handle_of(device, false);
			return 0;
		}
	}
	return NVML_NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *text, struct nvml_device **out)
{
	int rc = enter(__func__);

	if (rc == 0 && (text == NULL || out == NULL))
		rc = NVML_INVALID_ARGUMENT;
	return sim_leave(rc != 0 ? rc : by_bus(text, out));
}

static int index_of(const char *call, struct nvml_device *h, unsigned *out)
{
	int rc = enter_device(call, h, IDENTITY, out);

	if (rc == 0)
		for (*out = 0; by_index(*out) != h->device;)
			++*out;
	return sim_leave(rc);
}

int nvmlDeviceGetIndex(struct nvml_device *h, unsigned *out)
{
	return index_of(__func__, h, out);
}

int nvmlDeviceGetMinorNumber(struct nvml_device *h, unsigned *out)
{
	return index_of(__func__, h, out);
}

int nvmlDeviceGetName(struct nvml_device *h, char *out, unsigned room)
{
	int rc = enter_device(__func__, h, IDENTITY, out);

	return sim_leave(
	    rc != 0 ? rc : put_text(out, room, h->device->is.name));
}

int nvmlDeviceGetUUID(struct nvml_device *h, char *out, unsigned room)
{
	int rc = enter_device(__func__, h, IDENTITY, out);

	return sim_leave(rc != 0 ? rc
				 : put_text(out, room,
				       h->instance ? h->device->is.mig_uuid
						   : h->device->is.uuid));
}

int nvmlDeviceGetPciInfo_v3(struct nvml_device *h, struct nvml_pci *out)
{
	int rc = enter_device(__func__, h, IDENTITY, out);
	const struct sim_planted *is;

	if (rc == 0) {
		is = &h->device->is;
		memset(out, 0, sizeof *out);
		out->domain = is->pci_domain;
		out->bus = is->pci_bus;
		out->device = is->pci_device;
		out->id = 0x000010de; /* the vendor; no model */
		snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.0",
		    is->pci_domain & 0xffff, is->pci_bus & 0xff,
		    is->pci_device & 0xff);
		snprintf(out->text, sizeof out->text, "%08X:%02X:%02X.0",
		    is->pci_domain, is->pci_bus, is->pci_device);
	}
	return sim_leave(rc);
}

int nvmlDeviceGetCudaComputeCapability(
    struct nvml_device *h, int *major, int *minor)
{
	int rc = enter_device(__func__, h, IDENTITY, major);

	if (rc == 0) {
		*major = (int)h->device->is.capability_major;
		*minor = (int)h->device->is.capability_minor;
	}
	return sim_leave(rc);
}

int nvmlDeviceGetVbiosVersion(struct nvml_device *h, char *out, unsigned room)
{
	int rc = enter_device(__func__, h, STATE, out);

	return sim_leave(rc != 0 ? rc : put_text(out, room, "00.00.00.00.00"));
}

/* --- numbers --- */

int nvmlDeviceGetCurrPcieLinkGeneration(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetCurrPcieLinkWidth(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetMaxPcieLinkGeneration(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetGpuMaxPcieLinkGeneration(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetMaxPcieLinkWidth(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetPcieSpeed(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetPcieReplayCounter(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetPowerUsage(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetEnforcedPowerLimit(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetPowerManagementLimit(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetPowerManagementDefaultLimit(
    struct nvml_device *h, unsigned *out);
int nvmlDeviceGetPowerManagementLimitConstraints(
    struct nvml_device *h, unsigned *least, unsigned *most);
int nvmlDeviceGetPerformanceState(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetMemoryBusWidth(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetTemperature(
    struct nvml_device *h, unsigned sensor, unsigned *out);
int nvmlDeviceGetTemperatureV(
    struct nvml_device *h, struct nvml_temperature *out);
int nvmlDeviceGetClockInfo(
    struct nvml_device *h, unsigned which, unsigned *out);
int nvmlDeviceGetMaxClockInfo(
    struct nvml_device *h, unsigned which, unsigned *out);
int nvmlDeviceGetCurrentClocksEventReasons(
    struct nvml_device *h, unsigned long long *out);
int nvmlDeviceGetCurrentClocksThrottleReasons(
    struct nvml_device *h, unsigned long long *out);
int nvmlDeviceGetTotalEnergyConsumption(
    struct nvml_device *h, unsigned long long *out);

int nvmlDeviceGetCurrPcieLinkGeneration(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, generation_now);
}

int nvmlDeviceGetCurrPcieLinkWidth(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, width_now);
}

int nvmlDeviceGetMaxPcieLinkGeneration(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, generation_max);
}

int nvmlDeviceGetGpuMaxPcieLinkGeneration(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, generation_max);
}

int nvmlDeviceGetMaxPcieLinkWidth(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, width_max);
}

int nvmlDeviceGetPcieSpeed(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, lane_speed);
}

static double none(struct sim_device *device)
{
	(void)device;
	return 0;
}

int nvmlDeviceGetPcieReplayCounter(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, none);
}

int nvmlDeviceGetPowerUsage(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, draw_mW);
}

int nvmlDeviceGetEnforcedPowerLimit(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, limit_mW);
}

int nvmlDeviceGetPowerManagementLimit(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, limit_mW);
}

int nvmlDeviceGetPowerManagementDefaultLimit(
    struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, default_mW);
}

int nvmlDeviceGetPowerManagementLimitConstraints(
    struct nvml_device *h, unsigned *least, unsigned *most)
{
	int rc = enter_device(__func__, h, STATE, least);

	if (rc == 0) {
		*least = (unsigned)(h->device->is.power_default_w * 1e3 / 3);
		*most = (unsigned)(h->device->is.power_max_w * 1e3 + 0.5);
	}
	return sim_leave(rc);
}

int nvmlDeviceGetPerformanceState(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, state_number);
}

int nvmlDeviceGetMemoryBusWidth(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, bus_bits);
}

int nvmlDeviceGetTemperature(
    struct nvml_device *h, unsigned sensor, unsigned *out)
{
	(void)sensor;
	return give(__func__, h, out, celsius);
}

int nvmlDeviceGetTemperatureV(
    struct nvml_device *h, struct nvml_temperature *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	/* Version 1 of the structure: its size and the number. */
	if (rc == 0 && out->version != (sizeof *out | 1u << 24))
		rc = NVML_VERSION_MISMATCH;
	if (rc == 0)
		out->celsius = (int)celsius(h->device);
	return sim_leave(rc);
}

/* Clock domains: graphics, SM, memory, video. */
int nvmlDeviceGetClockInfo(struct nvml_device *h, unsigned which, unsigned *out)
{
	return give(__func__, h, out, which == 2 ? memory_MHz : sm_MHz);
}

int nvmlDeviceGetMaxClockInfo(
    struct nvml_device *h, unsigned which, unsigned *out)
{
	return give(__func__, h, out, which == 2 ? memory_max_MHz : sm_max_MHz);
}

static int give_reasons(
    const char *call, struct nvml_device *h, unsigned long long *out)
{
	int rc = enter_device(call, h, STATE, out);

	if (rc == 0)
		*out = reasons(h->device);
	return sim_leave(rc);
}

int nvmlDeviceGetCurrentClocksEventReasons(
    struct nvml_device *h, unsigned long long *out)
{
	return give_reasons(__func__, h, out);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(
    struct nvml_device *h, unsigned long long *out)
{
	return give_reasons(__func__, h, out);
}

/* In mJ: kernels at the load's draw, the rest of the time at the idle one. */
static unsigned long long energy(struct sim_device *device)
{
	double busy = (double)device->busy_ps / SIM_PS_PER_S;
	double all = (double)sim.host_ps / SIM_PS_PER_S;

	return (unsigned long long)(device->is.power_limit_w * 1e3 *
				    (0.9 * busy + 0.1 * (all - busy)));
}

int nvmlDeviceGetTotalEnergyConsumption(
    struct nvml_device *h, unsigned long long *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	if (rc == 0)
		*out = energy(h->device);
	return sim_leave(rc);
}

/* --- memory, processes, modes --- */

int nvmlDeviceGetMemoryInfo(struct nvml_device *h, struct nvml_memory *out);
int nvmlDeviceGetMemoryInfo_v2(
    struct nvml_device *h, struct nvml_memory_v2 *out);
int nvmlDeviceGetBAR1MemoryInfo(struct nvml_device *h, struct nvml_bar1 *out);
int nvmlDeviceGetComputeRunningProcesses_v2(
    struct nvml_device *h, unsigned *count, struct nvml_process *out);
int nvmlDeviceGetComputeRunningProcesses_v3(
    struct nvml_device *h, unsigned *count, struct nvml_process *out);
int nvmlDeviceGetPersistenceMode(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetDisplayActive(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetDisplayMode(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetComputeMode(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetEccMode(
    struct nvml_device *h, unsigned *now, unsigned *pending);
int nvmlDeviceGetMigMode(
    struct nvml_device *h, unsigned *now, unsigned *pending);
int nvmlDeviceIsMigDeviceHandle(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetMaxMigDeviceCount(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetMigDeviceHandleByIndex(
    struct nvml_device *h, unsigned index, struct nvml_device **out);
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
    struct nvml_device *h, struct nvml_device **out);
int nvmlDeviceGetVirtualizationMode(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetBusType(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetNumaNodeId(struct nvml_device *h, unsigned *out);
int nvmlDeviceGetNvLinkState(
    struct nvml_device *h, unsigned link, unsigned *out);
int nvmlDeviceGetP2PStatus(struct nvml_device *h, struct nvml_device *other,
    unsigned which, unsigned *out);
int nvmlDeviceGetTopologyCommonAncestor(
    struct nvml_device *h, struct nvml_device *other, unsigned *out);
int nvmlDeviceGetFieldValues(
    struct nvml_device *h, int count, struct nvml_field *fields);

int nvmlDeviceGetMemoryInfo(struct nvml_device *h, struct nvml_memory *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	if (rc == 0) {
		out->total = (unsigned long long)h->device->is.memory_bytes;
		out->used = h->device->used_bytes;
		out->free = out->total - out->used;
	}
	return sim_leave(rc);
}

int nvmlDeviceGetMemoryInfo_v2(
    struct nvml_device *h, struct nvml_memory_v2 *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	if (rc == 0 && out->version != (sizeof *out | 2u << 24))
		rc = NVML_VERSION_MISMATCH;
	if (rc == 0) {
		out->total = (unsigned long long)h->device->is.memory_bytes;
		out->reserved = 0;
		out->used = h->device->used_bytes;
		out->free = out->total - out->used;
	}
	return sim_leave(rc);
}

int nvmlDeviceGetBAR1MemoryInfo(struct nvml_device *h, struct nvml_bar1 *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	if (rc == 0) {
		out->total = UINT64_C(256) << 20;
		out->used = UINT64_C(2) << 20;
		out->free = out->total - out->used;
	}
	return sim_leave(rc);
}

/* This process, where it has a context; the machine is otherwise empty. */
static int processes(const char *call, struct nvml_device *h, unsigned *count,
    struct nvml_process *out)
{
	int rc = enter_device(call, h, STATE, count);
	unsigned room;

	if (rc == 0) {
		room = *count;
		*count = h->device->retained > 0;
		if (room < *count)
			rc = NVML_INSUFFICIENT_SIZE;
		else if (*count > 0 && out != NULL)
			*out = (struct nvml_process){(unsigned)getpid(),
			    h->device->used_bytes, ~0u, ~0u};
	}
	return sim_leave(rc);
}

int nvmlDeviceGetComputeRunningProcesses_v2(
    struct nvml_device *h, unsigned *count, struct nvml_process *out)
{
	return processes(__func__, h, count, out);
}

int nvmlDeviceGetComputeRunningProcesses_v3(
    struct nvml_device *h, unsigned *count, struct nvml_process *out)
{
	return processes(__func__, h, count, out);
}

static double one(struct sim_device *device)
{
	(void)device;
	return 1;
}

int nvmlDeviceGetPersistenceMode(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, one);
}

int nvmlDeviceGetDisplayActive(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, none);
}

int nvmlDeviceGetDisplayMode(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, none);
}

static double compute_mode(struct sim_device *device)
{
	return device->is.exclusive ? 3 : 0;
}

int nvmlDeviceGetComputeMode(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, compute_mode);
}

int nvmlDeviceGetEccMode(
    struct nvml_device *h, unsigned *now, unsigned *pending)
{
	int rc = enter_device(__func__, h, STATE, now);

	if (rc == 0)
		*now = *pending = 0;
	return sim_leave(rc);
}

int nvmlDeviceGetMigMode(
    struct nvml_device *h, unsigned *now, unsigned *pending)
{
	int rc = enter_device(__func__, h, STATE, now);

	if (rc == 0)
		*now = *pending = h->device->is.mig;
	return sim_leave(rc);
}

int nvmlDeviceIsMigDeviceHandle(struct nvml_device *h, unsigned *out)
{
	int rc = enter_device(__func__, h, IDENTITY, out);

	if (rc == 0)
		*out = h->instance;
	return sim_leave(rc);
}

int nvmlDeviceGetMaxMigDeviceCount(struct nvml_device *h, unsigned *out)
{
	int rc = enter_device(__func__, h, IDENTITY, out);

	if (rc == 0)
		*out = h->device->is.mig ? 1 : 0;
	return sim_leave(rc);
}

int nvmlDeviceGetMigDeviceHandleByIndex(
    struct nvml_device *h, unsigned index, struct nvml_device **out)
{
	int rc = enter_device(__func__, h, IDENTITY, out);

	if (rc == 0 && (!h->device->is.mig || index > 0))
		rc = NVML_NOT_FOUND;
	if (rc == 0)
		*out = handle_of(h->device, true);
	return sim_leave(rc);
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
    struct nvml_device *h, struct nvml_device **out)
{
	int rc = enter_device(__func__, h, IDENTITY, out);

	if (rc == 0 && !h->instance)
		rc = NVML_INVALID_ARGUMENT;
	if (rc == 0)
		*out = handle_of(h->device, false);
	return sim_leave(rc);
}

int nvmlDeviceGetVirtualizationMode(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, none);
}

static double pcie_bus(struct sim_device *device)
{
	(void)device;
	return 2;
}

int nvmlDeviceGetBusType(struct nvml_device *h, unsigned *out)
{
	return give(__func__, h, out, pcie_bus);
}

int nvmlDeviceGetNumaNodeId(struct nvml_device *h, unsigned *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	/* Only cards that bring a node of their own have one to tell. */
	return sim_leave(rc != 0 ? rc : NVML_NOT_SUPPORTED);
}

int nvmlDeviceGetNvLinkState(
    struct nvml_device *h, unsigned link, unsigned *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	(void)link;
	return sim_leave(rc != 0 ? rc : NVML_NOT_SUPPORTED);
}

int nvmlDeviceGetP2PStatus(struct nvml_device *h, struct nvml_device *other,
    unsigned which, unsigned *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	(void)which;
	if (rc == 0 && other == NULL)
		rc = NVML_INVALID_ARGUMENT;
	if (rc == 0) {
		*out = 5; /* not supported */
		for (size_t i = 0; i < h->device->n_peers; i++)
			if (h->device->peers[i].device ==
				other->device->place &&
			    h->device->peers[i].p2p)
				*out = 0;
	}
	return sim_leave(rc);
}

int nvmlDeviceGetTopologyCommonAncestor(
    struct nvml_device *h, struct nvml_device *other, unsigned *out)
{
	int rc = enter_device(__func__, h, STATE, out);

	if (rc == 0 && other == NULL)
		rc = NVML_INVALID_ARGUMENT;
	if (rc == 0)
		*out = 30; /* one host bridge */
	return sim_leave(rc);
}

/* ns that the clocks were held down for a reason so far. */
static unsigned long long held_down(
    struct sim_device *device, enum sim_throttle reason)
{
	return device->is.throttle == reason
		   ? (unsigned long long)(device->throttled_ps / 1000)
		   : 0;
}

static int one_field(struct sim_device *device, struct nvml_field *f)
{
	f->type = 3; /* unsigned 64-bit */
	switch (f->field) {
	case 74: /* power policy */
		f->value = held_down(device, SIM_THROTTLE_SW_POWER_CAP);
		return 0;
	case 75: /* thermal policy */
		f->value = held_down(device, SIM_THROTTLE_SW_THERMAL) +
			   held_down(device, SIM_THROTTLE_HW_THERMAL);
		return 0;
	case 76: /* sync boost, board limit, utilization, reliability, … */
	case 77:
	case 78:
	case 79:
	case 80:
	case 81:
		f->value = 0;
		return 0;
	case 83: /* energy, mJ */
		f->value = energy(device);
		return 0;
	case 186: /* power now, mW */
		f->type = 1;
		f->value = (unsigned)(draw_mW(device) + 0.5);
		return 0;
	case 269:
		f->value = held_down(device, SIM_THROTTLE_SW_THERMAL);
		return 0;
	case 270:
		f->value = held_down(device, SIM_THROTTLE_HW_THERMAL);
		return 0;
	case 271:
		f->value = held_down(device, SIM_THROTTLE_HW_POWER_BRAKE);
		return 0;
	default:
		return NVML_NOT_SUPPORTED;
	}
}

int nvmlDeviceGetFieldValues(
    struct nvml_device *h, int count, struct nvml_field *fields)
{
	int rc = enter_device(__func__, h, STATE, fields);

	for (int i = 0; rc == 0 && i < count; i++)
		fields[i].code = one_field(h->device, &fields[i]);
	return sim_leave(rc);
}
