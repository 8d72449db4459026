/*
 * The CUDA backend: finding devices, opening one, and the table of what the
 * other files do. A device that cannot be used says why, and what to do.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_backend.h"
#include "cuda_placement.h"
#include "cuda_select.h"

#define MAX_DEVICES 64

void cuda_late(struct cuda_device *cuda, CUresult rc, const char *what, ...)
{
	struct sv_err cause;
	char call[128];
	va_list args;

	/* A broken context fails everything: the first failure says it all. */
	if (rc == CUDA_SUCCESS || cuda->late.code != 0 ||
	    cuda->driver.sticky != CUDA_SUCCESS)
		return;
	va_start(args, what);
	vsnprintf(call, sizeof call, what, args);
	va_end(args);
	(void)cuda_fail(&cuda->driver, rc, &cause, "%s", call);
	cuda->late = cause;
}

int cuda_attribute(struct cuda_device *cuda, CUdevice_attribute which)
{
	int value = 0;

	/* A driver that does not know it answers with an error: 0 then. */
	if (cuda->driver.device_attribute(&value, which, cuda->handle) !=
	    CUDA_SUCCESS)
		return 0;
	return value;
}

/* An attribute that nothing works without. */
static int need_attribute(struct cuda_device *cuda, CUdevice_attribute which,
    const char *name, int *out, struct sv_err *err)
{
	CUresult rc = cuda->driver.device_attribute(out, which, cuda->handle);

	return rc == CUDA_SUCCESS ? 0
				  : cuda_fail(&cuda->driver, rc, err,
					"cuDeviceGetAttribute %s", name);
}

/* "GPU-12345678-1234-1234-1234-123456789abc" */
static void write_uuid(
    const char *prefix, const CUuuid *uuid, char *out, size_t room)
{
	const unsigned char *b = (const unsigned char *)uuid->bytes;
	size_t used = (size_t)snprintf(out, room, "%s", prefix);

	for (size_t i = 0; i < sizeof uuid->bytes && used < room; i++)
		used += (size_t)snprintf(out + used, room - used, "%s%02x",
		    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
}

/*
 * A device of CUDA's may be a part of a card (MIG), with a UUID of its own
 * that drivers since 11.4 tell. Whoever asked for a part sees nothing else.
 */
static int read_uuid(
    struct cuda_device *cuda, char *out, size_t room, struct sv_err *err)
{
	struct cuda_driver *driver = &cuda->driver;
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	CUuuid card, part;
	CUresult rc = driver->device_uuid(&card, cuda->handle);

	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "cuDeviceGetUuid");
	part = card;
	if (driver->device_instance_uuid != NULL) {
		rc = driver->device_instance_uuid(&part, cuda->handle);
		if (rc != CUDA_SUCCESS)
			return cuda_fail(driver, rc, err, "cuDeviceGetUuid_v2");
	}
	if (memcmp(&card, &part, sizeof card) != 0 ||
	    (visible != NULL && strncmp(visible, "MIG-", 4) == 0))
		write_uuid("MIG-", &part, out, room);
	else
		write_uuid("GPU-", &card, out, room);
	return 0;
}

static int read_identity(
    struct cuda_device *cuda, int index, struct sv_err *err)
{
	struct cuda_driver *driver = &cuda->driver;
	CUresult rc = driver->device_get(&cuda->handle, index);
	int code;

	cuda->index = index;
	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "cuDeviceGet %d", index);
	rc = driver->device_name(
	    cuda->name, (int)sizeof cuda->name, cuda->handle);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "cuDeviceGetName %d", index);
	rc = driver->device_pci(
	    cuda->pci_address, (int)sizeof cuda->pci_address, cuda->handle);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(
		    driver, rc, err, "cuDeviceGetPCIBusId %d", index);
	/* As the system's own files write it. */
	for (char *c = cuda->pci_address; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	code =
	    need_attribute(cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
		"compute capability", &cuda->major, err);
	if (code == 0)
		code = need_attribute(cuda,
		    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
		    "compute capability", &cuda->minor, err);
	return code != 0 ? code
			 : read_uuid(cuda, cuda->uuid, sizeof cuda->uuid, err);
}

/* Refuse what can be seen to be unusable without touching it. */
static int check_usable(struct cuda_device *cuda, struct sv_err *err)
{
	char archs[256];

	if (cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) ==
	    CU_COMPUTEMODE_PROHIBITED)
		return sv_err_set(err, SV_EDEVICE,
		    "its compute mode is prohibited: `nvidia-smi -i %d -c 0` "
		    "allows it",
		    cuda->index);
	if (cuda_images_suit(cuda->major, cuda->minor))
		return 0;
	cuda_images_describe(archs, sizeof archs);
	return sv_err_set(err, SV_EDEVICE,
	    "it is an sm_%d%d, and this build has code for %s: build with a "
	    "toolkit that knows it",
	    cuda->major, cuda->minor, archs);
}

static int count_devices(
    struct cuda_driver *driver, size_t *count, struct sv_err *err)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int n = 0;
	CUresult rc = driver->device_count(&n);

	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "cuDeviceGetCount");
	if (n == 0 && visible != NULL)
		return sv_err_set(err, SV_EDEVICE,
		    "no CUDA device: CUDA_VISIBLE_DEVICES=\"%.200s\" shows "
		    "none",
		    visible);
	if (n == 0)
		return sv_err_set(err, SV_EDEVICE,
		    "no CUDA device: the NVIDIA driver sees no card, or its "
		    "cards are in MIG mode without an instance");
	*count = n < MAX_DEVICES ? (size_t)n : MAX_DEVICES;
	return 0;
}

/* What is known of every device without making a context on it. */
static int list_opened(struct cuda_device *cuda,
    struct sv_device_entry *entries, size_t max, size_t *count,
    struct sv_err *err)
{
	struct sv_err reason;
	int code = count_devices(&cuda->driver, count, err);

	for (size_t i = 0; code == 0 && i < *count && i < max; i++) {
		struct sv_device_entry *entry = &entries[i];

		*entry = (struct sv_device_entry){.index = (int)i};
		entry->usable = read_identity(cuda, (int)i, &reason) == 0 &&
				check_usable(cuda, &reason) == 0;
		snprintf(entry->name, sizeof entry->name, "%s", cuda->name);
		snprintf(entry->uuid, sizeof entry->uuid, "%s", cuda->uuid);
		snprintf(entry->pci_address, sizeof entry->pci_address, "%s",
		    cuda->pci_address);
		if (!entry->usable)
			snprintf(entry->reason, sizeof entry->reason, "%.255s",
			    reason.text);
	}
	return code;
}

static int list_devices(struct sv_device_entry *entries, size_t max,
    size_t *count, struct sv_err *err)
{
	struct cuda_device *cuda = calloc(1, sizeof *cuda);
	size_t n = 0;
	int code;

	if (cuda == NULL)
		return sv_err_set(err, SV_ERESOURCE, "devices: out of memory");
	code = cuda_driver_open(&cuda->driver, err);
	if (code == 0) {
		code = list_opened(cuda, entries, max, &n, err);
		cuda_driver_close(&cuda->driver);
	}
	free(cuda);
	if (code == 0)
		*count = n;
	return code;
}

/* Everything that open made, in whatever state it is. */
static void close_context(struct cuda_device *cuda)
{
	struct cuda_driver *driver = &cuda->driver;

	if (cuda->retained) {
		cuda_blas_close(cuda);
		cuda_modules_unload(cuda);
		cuda_late(cuda, driver->context_set_current(NULL),
		    "cuCtxSetCurrent none");
		cuda_late(cuda, driver->context_release(cuda->handle),
		    "cuDevicePrimaryCtxRelease");
	}
	cuda->retained = false;
	cuda->pool = NULL;
	cuda_nvml_close(&cuda->nvml);
}

static int retain_failed(
    struct cuda_device *cuda, CUresult rc, struct sv_err *err)
{
	if (rc == CUDA_ERROR_DEVICE_UNAVAILABLE)
		return sv_err_set(err, SV_EDEVICE,
		    "another process has it to itself: its compute mode is "
		    "exclusive; end that process, or `nvidia-smi -i %d -c 0` "
		    "(cuDevicePrimaryCtxRetain: CUDA_ERROR_DEVICE_UNAVAILABLE)",
		    cuda->index);
	return cuda_fail(&cuda->driver, rc, err, "cuDevicePrimaryCtxRetain");
}

static int make_context(struct cuda_device *cuda, struct sv_err *err)
{
	struct cuda_driver *driver = &cuda->driver;
	CUcontext context;
	CUresult rc = driver->context_set_wait(cuda->handle, CU_CTX_SCHED_SPIN);

	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "cuDevicePrimaryCtxSetFlags");
	cuda->wait = SV_WAIT_SPIN;
	rc = driver->context_retain(&context, cuda->handle);
	if (rc != CUDA_SUCCESS)
		return retain_failed(cuda, rc, err);
	cuda->retained = true;
	cuda->context = context;
	rc = driver->context_set_current(context);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(driver, rc, err, "cuCtxSetCurrent");
	return 0;
}

static int read_sizes(struct cuda_device *cuda, struct sv_err *err)
{
	size_t bytes;
	CUresult rc = cuda->driver.device_memory(&bytes, cuda->handle);
	int units, code;

	if (rc != CUDA_SUCCESS)
		return cuda_fail(&cuda->driver, rc, err, "cuDeviceTotalMem");
	cuda->memory_bytes = bytes;
	cuda->cache_bytes =
	    (uint64_t)cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
	code = need_attribute(cuda, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
	    "multiprocessors", &units, err);
	if (code == 0)
		cuda->units = (unsigned)units;
	return code;
}

/* The card as it idles; a context wakes it. */
static void read_idle(struct cuda_device *cuda)
{
	const struct cuda_nvml *nvml = &cuda->nvml;

	cuda->idle_generation = cuda_nvml_read(nvml, nvml->generation);
	cuda->idle_width = cuda_nvml_read(nvml, nvml->width);
	cuda->idle_sm_MHz =
	    cuda_nvml_read_typed(nvml, nvml->clock, CUDA_NVML_CLOCK_SM);
	cuda->idle_memory_MHz =
	    cuda_nvml_read_typed(nvml, nvml->clock, CUDA_NVML_CLOCK_MEM);
}

static int open_index(struct cuda_device *cuda, int index, struct sv_err *err)
{
	struct sv_err cause;
	int code = read_identity(cuda, index, &cause);

	if (code == 0)
		code = check_usable(cuda, &cause);
	if (code == 0) {
		cuda_nvml_open(&cuda->nvml, cuda->pci_address);
		read_idle(cuda);
		code = make_context(cuda, &cause);
	}
	if (code == 0)
		code = read_sizes(cuda, &cause);
	if (code == 0)
		code = cuda_modules_load(cuda, &cause);
	if (code == 0)
		return 0;
	close_context(cuda);
	cuda->late = (struct sv_err){0};
	return sv_err_set(err, SV_EDEVICE, "device %d (%s): %s", index,
	    cuda->name[0] != '\0' ? cuda->name : "no name", cause.text);
}

/* The first device that opens; otherwise why the first one does not. */
static int open_first(
    struct cuda_device *cuda, size_t count, struct sv_err *err)
{
	struct sv_err failed, first = {0};

	for (size_t i = 0; i < count; i++) {
		if (open_index(cuda, (int)i, &failed) == 0)
			return 0;
		if (i == 0)
			first = failed;
	}
	return sv_err_set(err, SV_EDEVICE, "%s", first.text);
}

static int open_selected(
    struct cuda_device *cuda, const char *selector, struct sv_err *err)
{
	struct sv_device_entry *entries = calloc(MAX_DEVICES, sizeof *entries);
	size_t n = 0, place = 0;
	int code;

	if (entries == NULL)
		return sv_err_set(err, SV_ERESOURCE, "device: out of memory");
	code = list_opened(cuda, entries, MAX_DEVICES, &n, err);
	if (code == 0 && (selector == NULL || selector[0] == '\0')) {
		code = open_first(cuda, n, err);
	} else if (code == 0) {
		code = cuda_select(entries, n, selector, &place, err);
		if (code == 0)
			code = open_index(cuda, entries[place].index, err);
	}
	free(entries);
	return code;
}

static const struct sv_backend cuda_backend;

/* Open by index where that is 0 or more, else by selector. */
static int open_by(
    struct sv_device **out, int index, const char *selector, struct sv_err *err)
{
	struct cuda_device *cuda = calloc(1, sizeof *cuda);
	int code;

	if (cuda == NULL)
		return sv_err_set(err, SV_ERESOURCE, "device: out of memory");
	cuda->device.ops = &cuda_backend;
	code = cuda_driver_open(&cuda->driver, err);
	if (code == 0) {
		code = index >= 0 ? open_index(cuda, index, err)
				  : open_selected(cuda, selector, err);
		if (code != 0)
			cuda_driver_close(&cuda->driver);
	}
	if (code != 0) {
		free(cuda);
		return code;
	}
	*out = &cuda->device;
	return 0;
}

static int open_device(
    struct sv_device **out, const char *selector, struct sv_err *err)
{
	return open_by(out, -1, selector, err);
}

int cuda_open_index(struct sv_device **out, int index, struct sv_err *err)
{
	return open_by(out, index, NULL, err);
}

void cuda_close_device(struct sv_device *device)
{
	struct cuda_device *cuda = cuda_of(device);

	if (device == NULL)
		return;
	close_context(cuda);
	cuda_driver_close(&cuda->driver);
	free(cuda);
}

static void limits(struct sv_device *device, struct sv_device_limits *out)
{
	struct cuda_device *cuda = cuda_of(device);
	size_t free_bytes = 0, total = 0;

	/* 0, unknown, where the driver does not say. */
	if (cuda->driver.mem_info(&free_bytes, &total) != CUDA_SUCCESS)
		free_bytes = 0;
	*out = (struct sv_device_limits){.memory_bytes = cuda->memory_bytes,
	    .memory_free_bytes = free_bytes,
	    .cache_bytes = cuda->cache_bytes,
	    .units = cuda->units,
	    .numa_nodes = cuda_placement_nodes()};
}

static int settle(struct sv_device *device, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	struct sv_err late = cuda->late;

	CUresult rc = cuda->driver.context_sync();

	cuda->late = (struct sv_err){0};
	/* cuBLAS reports a broken context in words of its own: ask. */
	if (rc != CUDA_SUCCESS && late.code == 0)
		late.code = cuda_fail(
		    &cuda->driver, rc, &late, "cuCtxSynchronize after a case");
	if (cuda->driver.sticky != CUDA_SUCCESS) {
		(void)cuda_fail(&cuda->driver, cuda->driver.sticky, err,
		    "the device is lost to this process");
		return err->code = SV_EDEVICE;
	}
	if (late.code == 0)
		return 0;
	/* What could not be freed is no reason to give the device up. */
	return sv_err_set(err, SV_ESYSTEM, "%s", late.text);
}

static const struct sv_backend cuda_backend = {
    .version = SV_BACKEND_VERSION,
    .name = "cuda",
    .patient = SV_WAIT_SPIN,
    .list = list_devices,
    .open = open_device,
    .close = cuda_close_device,
    .describe = cuda_describe,
    .limits = limits,
    .can_memory = cuda_can_memory,
    .can_precision = cuda_can_precision,
    .can_wait = cuda_can_wait,
    .can_kernel = cuda_can_kernel,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .pool_alloc = cuda_pool_alloc,
    .pool_free = cuda_pool_free,
    .pool_trim = cuda_pool_trim,
    .stream_new = cuda_stream_new,
    .stream_free = cuda_stream_free,
    .event_new = cuda_event_new,
    .event_free = cuda_event_free,
    .event_record = cuda_event_record,
    .stream_wait_event = cuda_stream_wait_event,
    .event_elapsed_ns = cuda_event_elapsed_ns,
    .stream_sync = cuda_stream_sync,
    .event_sync = cuda_event_sync,
    .device_sync = cuda_device_sync,
    .copy = cuda_copy,
    .readback = cuda_readback,
    .launch = cuda_launch,
    .hold = cuda_hold,
    .release = cuda_release,
    .graph_new = cuda_graph_new,
    .graph_free = cuda_graph_free,
    .graph_launch = cuda_graph_launch,
    .first_launch = cuda_first_launch,
    .gemm_element_bytes = cuda_gemm_bytes,
    .gemm = cuda_gemm,
    .state = cuda_state,
    .settle = settle,
    .peer_can = cuda_peer_can,
    .peer_open = cuda_peer_open,
    .peer_close = cuda_peer_close,
    .peer_use = cuda_peer_use,
    .peer_access = cuda_peer_access,
    .peer_copy = cuda_peer_copy,
};

const struct sv_backend *const sv_backend = &cuda_backend;
