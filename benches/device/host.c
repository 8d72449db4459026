/*
 * The host backend: this machine's cores as a device. A real measurement,
 * told as backend "host"; what means nothing on a host is refused in words.
 */
#include "host.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "cores.h"
#include "waiting.h"

/* The processor's name as the kernel has it; the architecture's otherwise. */
static void read_name(char *out, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[512];

	snprintf(out, size, "host processor");
	while (file != NULL && fgets(line, sizeof line, file) != NULL) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || colon == NULL)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(out, size, "%.200s", colon + 2);
		break;
	}
	if (file != NULL)
		fclose(file);
}

/* Bytes the kernel thinks can be had without swapping. */
static uint64_t available_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long kib;
	char line[128];
	uint64_t bytes = 0;

	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			bytes = kib << 10;
	if (file != NULL)
		fclose(file);
	return bytes;
}

static uint64_t total_bytes(void)
{
	struct sysinfo info;

	return sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit
				   : 0;
}

/*
 * Bytes of the last-level cache, by sysfs: sysconf multiplies it by the
 * number of cores on some processors.
 */
static uint64_t cache_bytes(void)
{
	unsigned long long kib, largest = 0;
	char path[96];

	for (int index = 0; index < 8; index++) {
		snprintf(path, sizeof path,
		    "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
		FILE *file = fopen(path, "r");

		if (file == NULL)
			break;
		if (fscanf(file, "%lluK", &kib) == 1 && kib > largest)
			largest = kib;
		fclose(file);
	}
	return largest << 10;
}

/* Give the calling thread a core of its own, where there is another. */
static void divide_cores(struct host_device *host)
{
	int cpu = sched_getcpu();

	host->host_cpus = host->stream_cpus = host->before;
	if (CPU_COUNT(&host->before) < 2 || host->cores < 2 || cpu < 0 ||
	    !CPU_ISSET(cpu, &host->before))
		return;
	CPU_ZERO(&host->host_cpus);
	CPU_SET(cpu, &host->host_cpus);
	CPU_CLR(cpu, &host->stream_cpus);
	(void)sched_setaffinity(0, sizeof host->host_cpus, &host->host_cpus);
}

static int list_devices(struct sv_device_entry *entries, size_t max,
    size_t *count, struct sv_err *err)
{
	(void)err;
	if (max > 0) {
		entries[0] = (struct sv_device_entry){.usable = true};
		read_name(entries[0].name, sizeof entries[0].name);
	}
	*count = 1;
	return 0;
}

static const struct sv_backend host_backend;

static void close_device(struct sv_device *device)
{
	struct host_device *host = (struct host_device *)device;
	struct sv_err ignored;

	if (host == NULL)
		return;
	for (size_t i = 0; i < HOST_MAX_STREAMS; i++)
		host_stream_free(device, host->streams[i]);
	(void)host_pool_trim(device, &ignored);
	host_team_free(host->team);
	if (CPU_COUNT(&host->before) > 0)
		(void)sched_setaffinity(0, sizeof host->before, &host->before);
	free(host);
}

static int open_device(
    struct sv_device **out, const char *selector, struct sv_err *err)
{
	struct host_device *host;

	if (selector != NULL && selector[0] != '\0' &&
	    strcmp(selector, "0") != 0 && strcmp(selector, "host") != 0)
		return sv_err_set(err, SV_EDEVICE,
		    "device \"%.60s\": the host backend has device 0 alone",
		    selector);
	host = calloc(1, sizeof *host);
	if (host == NULL)
		return sv_err_set(err, SV_ERESOURCE, "device: out of memory");
	host->device.ops = &host_backend;
	host->cores = sv_cores_usable(&host->before);
	if (host->cores > SV_MAX_TEAM)
		host->cores = SV_MAX_TEAM;
	read_name(host->name, sizeof host->name);
	host->team = host_team_new(host->cores);
	if (host->team == NULL) {
		free(host);
		return sv_err_set(err, SV_ERESOURCE, "device: out of memory");
	}
	host_gemm_threads(host->cores);
	/* After the team and the BLAS have made their threads for all cores. */
	divide_cores(host);
	*out = &host->device;
	return 0;
}

static void describe(struct sv_device *device, struct sv_facts *facts)
{
	/* Fields of the contract that only a card has. */
	static const char *const absent[] = {"uuid", "pci_address",
	    "compute_capability", "memory_bandwidth_Bps", "peak_flops",
	    "clocks.sm_Hz", "clocks.memory_Hz", "clocks.max_sm_Hz",
	    "clocks.max_memory_Hz", "clocks.under_load", "power.limit_w",
	    "power.default_limit_w", "power.max_limit_w",
	    "power.draw_under_load_w", "temperature_under_load_C", "pcie",
	    "driver", "libraries.cublas", "libraries.cudnn", "throttle",
	    "modes"};
	struct host_device *host = (struct host_device *)device;
	uint64_t total = total_bytes(), available = available_bytes();

	facts->text(facts, "name", host->name);
	facts->integer(facts, "index", 0);
	facts->integer(facts, "multiprocessors", host->cores);
	if (total > 0)
		facts->integer(facts, "memory_bytes", (int64_t)total);
	else
		facts->unknown(facts, "memory_bytes", "absent");
	if (available > 0)
		facts->integer(facts, "memory_free_bytes", (int64_t)available);
	else
		facts->unknown(facts, "memory_free_bytes", "absent");
	if (cache_bytes() > 0)
		facts->integer(facts, "l2_bytes", (int64_t)cache_bytes());
	else
		facts->unknown(facts, "l2_bytes", "absent");
	host_gemm_describe(facts);
	for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
		facts->unknown(facts, absent[i], "not_supported");
}

static void limits(struct sv_device *device, struct sv_device_limits *out)
{
	struct host_device *host = (struct host_device *)device;

	*out = (struct sv_device_limits){.memory_bytes = total_bytes(),
	    .memory_free_bytes = available_bytes(),
	    .cache_bytes = cache_bytes(),
	    .units = host->cores,
	    .numa_nodes = 1};
}

static int can_precision(
    struct sv_device *device, enum sv_precision precision, struct sv_err *err)
{
	(void)device;
	return host_gemm_can(precision, err);
}

static int can_wait(
    struct sv_device *device, enum sv_wait wait, struct sv_err *err)
{
	(void)device;
	(void)wait;
	(void)err;
	return 0;
}

static int can_kernel(
    struct sv_device *device, const char *kernel, struct sv_err *err)
{
	(void)device;
	if (host_kernel_find(kernel) != NULL)
		return 0;
	return sv_err_set(
	    err, SV_EUNSUPPORTED, "the host backend has no kernel %s", kernel);
}

static int first_launch(
    struct sv_device *device, double *elapsed_ns, struct sv_err *err)
{
	(void)device;
	(void)elapsed_ns;
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "host kernels are part of the program: there is no module to "
	    "load");
}

static void gemm_element_bytes(struct sv_device *device,
    enum sv_precision precision, size_t *operand, size_t *result)
{
	(void)device;
	host_gemm_bytes(precision, operand, result);
}

static const struct sv_backend host_backend = {
    .version = SV_BACKEND_VERSION,
    .name = "host",
    .patient = SV_WAIT_BLOCK,
    .list = list_devices,
    .open = open_device,
    .close = close_device,
    .describe = describe,
    .limits = limits,
    .can_memory = host_memory_can,
    .can_precision = can_precision,
    .can_wait = can_wait,
    .can_kernel = can_kernel,
    .host_alloc = host_memory_alloc,
    .host_free = host_memory_free,
    .alloc = host_alloc,
    .free = host_free,
    .pool_alloc = host_pool_alloc,
    .pool_free = host_pool_free,
    .pool_trim = host_pool_trim,
    .stream_new = host_stream_new,
    .stream_free = host_stream_free,
    .event_new = host_event_new,
    .event_free = host_event_free,
    .event_record = host_event_record,
    .stream_wait_event = host_stream_wait_event,
    .event_elapsed_ns = host_event_elapsed_ns,
    .stream_sync = host_stream_sync,
    .event_sync = host_event_sync,
    .device_sync = host_device_sync,
    .copy = host_copy,
    .readback = host_readback,
    .launch = host_launch,
    .hold = host_hold,
    .release = host_release,
    .graph_new = host_graph_new,
    .graph_free = host_graph_free,
    .graph_launch = host_graph_launch,
    .first_launch = first_launch,
    .gemm_element_bytes = gemm_element_bytes,
    .gemm = host_gemm,
};

const struct sv_backend *const sv_backend = &host_backend;
