/*
 * Our declarations of NVML against the vendor's: this file compiles when they
 * say the same, and there is nothing to run. A pointer of our type takes the
 * vendor's function, and our numbers are its enumerators.
 */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

#include "cuda_nvml.h"

#define SAME(ours, theirs)                                              \
	_Static_assert(                                                 \
	    (unsigned long long)(ours) == (unsigned long long)(theirs), \
	    #ours " is not " #theirs)

SAME(CUDA_NVML_SUCCESS, NVML_SUCCESS);
SAME(CUDA_NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
SAME(CUDA_NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
SAME(CUDA_NVML_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE);
SAME(CUDA_NVML_FUNCTION_NOT_FOUND, NVML_ERROR_FUNCTION_NOT_FOUND);
SAME(CUDA_NVML_CLOCK_SM, NVML_CLOCK_SM);
SAME(CUDA_NVML_CLOCK_MEM, NVML_CLOCK_MEM);
SAME(CUDA_NVML_TEMPERATURE_GPU, NVML_TEMPERATURE_GPU);
SAME(CUDA_NVML_REASON_SW_POWER_CAP, nvmlClocksThrottleReasonSwPowerCap);
SAME(CUDA_NVML_REASON_HW_SLOWDOWN, nvmlClocksThrottleReasonHwSlowdown);
SAME(CUDA_NVML_REASON_SW_THERMAL, nvmlClocksThrottleReasonSwThermalSlowdown);
SAME(CUDA_NVML_REASON_HW_THERMAL, nvmlClocksThrottleReasonHwThermalSlowdown);
SAME(CUDA_NVML_REASON_HW_POWER_BRAKE,
    nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
SAME(CUDA_NVML_REASON_DISPLAY_CLOCK,
    nvmlClocksThrottleReasonDisplayClockSetting);
_Static_assert(
    CUDA_NVML_VERSION_BUFFER_BYTES >= NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE &&
	CUDA_NVML_VERSION_BUFFER_BYTES >= NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE,
    "the buffer is too small for a version");

/* The old names are asked for where there is no new one. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* By the vendor's tag, all that we hold of a card. */
struct cuda_nvml sv_declared_nvml(nvmlDevice_t card);

/*
 * processes is left out: we pass no list, so the type of its elements, which
 * differs between versions, means nothing to us.
 */
struct cuda_nvml sv_declared_nvml(nvmlDevice_t card)
{
	return (struct cuda_nvml){
	    .card = card,
	    .init = nvmlInit_v2,
	    .shutdown = nvmlShutdown,
	    .driver_version = nvmlSystemGetDriverVersion,
	    .nvml_version = nvmlSystemGetNVMLVersion,
	    .by_pci = nvmlDeviceGetHandleByPciBusId_v2,
	    .vbios = nvmlDeviceGetVbiosVersion,
	    .generation = nvmlDeviceGetCurrPcieLinkGeneration,
	    .width = nvmlDeviceGetCurrPcieLinkWidth,
	    .link_max_generation = nvmlDeviceGetMaxPcieLinkGeneration,
	    .max_width = nvmlDeviceGetMaxPcieLinkWidth,
	    .replays = nvmlDeviceGetPcieReplayCounter,
	    .clock = nvmlDeviceGetClockInfo,
	    .max_clock = nvmlDeviceGetMaxClockInfo,
	    .performance_state = nvmlDeviceGetPerformanceState,
	    .reasons = nvmlDeviceGetCurrentClocksThrottleReasons,
	    .temperature = nvmlDeviceGetTemperature,
	    .power = nvmlDeviceGetPowerUsage,
	    .power_limit = nvmlDeviceGetEnforcedPowerLimit,
	    .power_default = nvmlDeviceGetPowerManagementDefaultLimit,
	    .power_range = nvmlDeviceGetPowerManagementLimitConstraints,
	    .energy = nvmlDeviceGetTotalEnergyConsumption,
	    .persistence = nvmlDeviceGetPersistenceMode,
	    .display_active = nvmlDeviceGetDisplayActive,
	    .compute_mode = nvmlDeviceGetComputeMode,
	    .ecc = nvmlDeviceGetEccMode,
	    .mig = nvmlDeviceGetMigMode,
	    .virtualisation = nvmlDeviceGetVirtualizationMode,
	};
}
