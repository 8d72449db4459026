/*
 * What a CUDA device is, and what it is doing right now, as facts of the
 * result file. What cannot be read is told with the reason; nothing here
 * fails. The path to the card through bridges and slots is the harness's to
 * read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_backend.h"
#include "cuda_peak.h"
#include "cuda_placement.h"
#include "kernels.h"
#include "timing.h"

/*
 * An idle card runs its link and clocks slowly and speeds up within a few
 * tenths of a second under load. The probe ends when the link is at its best.
 */
#define PROBE_LIMIT_NS	300000000u
#define PROBE_BYTES	((size_t)32 << 20)
#define PROBE_COPIES	8
#define PROBE_KERNEL_NS 10000000u

static const char *const precision_names[] = {
    "fp64", "fp32", "tf32", "fp16", "fp16acc", "bf16"};

static void tell_text(
    struct sv_facts *facts, const char *path, const char *text)
{
	if (text[0] != '\0')
		facts->text(facts, path, text);
	else
		facts->unknown(facts, path, "absent");
}

/* An attribute that is never 0 where the driver knows it. */
static void tell_attribute(struct cuda_device *cuda, struct sv_facts *facts,
    const char *path, CUdevice_attribute which)
{
	int value = cuda_attribute(cuda, which);

	if (value > 0)
		facts->integer(facts, path, value);
	else
		facts->unknown(facts, path, "not_supported");
}

static void describe_identity(struct cuda_device *cuda, struct sv_facts *facts)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	const int64_t capability[] = {cuda->major, cuda->minor};
	char archs[256], vbios[64] = "";

	facts->text(facts, "name", cuda->name);
	facts->integer(facts, "index", cuda->index);
	tell_text(facts, "uuid", cuda->uuid);
	tell_text(facts, "pci_address", cuda->pci_address);
	if (facts->integers != NULL)
		facts->integers(facts, "compute_capability", capability, 2);
	facts->integer(facts, "multiprocessors", cuda->units);
	/* Part of the processor's chip: no memory and no link of its own. */
	facts->boolean(facts, "integrated",
	    cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0);
	tell_attribute(cuda, facts, "copy_engines",
	    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
	cuda_images_describe(archs, sizeof archs);
	facts->text(facts, "kernels", archs);
	if (visible != NULL)
		facts->text(facts, "visible_devices", visible);
	if (cuda->nvml.card != NULL && cuda->nvml.vbios != NULL &&
	    cuda->nvml.vbios(cuda->nvml.card, vbios, sizeof vbios) ==
		CUDA_NVML_SUCCESS)
		facts->text(facts, "vbios", vbios);
}

/* Hz; the driver's own figure where NVML has none. */
static struct cuda_reading max_clock(struct cuda_device *cuda, unsigned type)
{
	struct cuda_reading reading =
	    cuda_nvml_read_typed(&cuda->nvml, cuda->nvml.max_clock, type);
	int kHz = cuda_attribute(cuda,
	    type == CUDA_NVML_CLOCK_SM ? CU_DEVICE_ATTRIBUTE_CLOCK_RATE
				       : CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);

	if (reading.known)
		reading.value *= 1000000u;
	else if (kHz > 0)
		reading = (struct cuda_reading){
		    .known = true, .value = (uint64_t)kHz * 1000u};
	return reading;
}

static void describe_memory(struct cuda_device *cuda, struct sv_facts *facts)
{
	struct sv_device_limits limits;
	int bits =
	    cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
	int kHz = cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
	double clock_Hz = kHz * 1e3;

	cuda->device.ops->limits(&cuda->device, &limits);
	facts->integer(facts, "memory_bytes", (int64_t)limits.memory_bytes);
	if (limits.memory_free_bytes > 0)
		facts->integer(facts, "memory_free_bytes",
		    (int64_t)limits.memory_free_bytes);
	else
		facts->unknown(
		    facts, "memory_free_bytes", "error: cuMemGetInfo failed");
	tell_attribute(
	    cuda, facts, "l2_bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
	if (kHz <= 0)
		clock_Hz = (double)max_clock(cuda, CUDA_NVML_CLOCK_MEM).value;
	/* Data on both edges of the clock. */
	if (clock_Hz > 0.0 && bits > 0)
		facts->number(
		    facts, "memory_bandwidth_Bps", 2.0 * clock_Hz * bits / 8.0);
	else
		facts->unknown(facts, "memory_bandwidth_Bps", "not_supported");
}

static void describe_peaks(struct cuda_device *cuda, struct sv_facts *facts)
{
	int capability = 10 * cuda->major + cuda->minor;
	struct cuda_reading clock = max_clock(cuda, CUDA_NVML_CLOCK_SM);

	if (!cuda_peak_known(capability)) {
		facts->unknown(facts, "peak_flops",
		    "absent"); /* from our table of architectures */
		return;
	}
	if (!clock.known) {
		facts->unknown(facts, "peak_flops", clock.why);
		return;
	}
	for (int i = SV_FP64; i <= SV_BF16; i++) {
		unsigned flop =
		    cuda_peak_flop_per_clock(capability, (enum sv_precision)i);
		char path[32];

		snprintf(
		    path, sizeof path, "peak_flops.%s", precision_names[i]);
		if (flop > 0)
			facts->number(facts, path,
			    (double)cuda->units * (double)clock.value * flop);
		else
			facts->unknown(facts, path, "not_supported");
	}
}

struct probe {
	struct cuda_reading generation, width, sm_MHz, memory_MHz;
};

static void read_probe(struct cuda_device *cuda, struct probe *probe)
{
	const struct cuda_nvml *nvml = &cuda->nvml;

	probe->generation = cuda_nvml_read(nvml, nvml->generation);
	probe->width = cuda_nvml_read(nvml, nvml->width);
	probe->sm_MHz =
	    cuda_nvml_read_typed(nvml, nvml->clock, CUDA_NVML_CLOCK_SM);
	probe->memory_MHz =
	    cuda_nvml_read_typed(nvml, nvml->clock, CUDA_NVML_CLOCK_MEM);
}

struct load {
	struct sv_stream *copying, *computing;
	struct sv_buffer device;
	struct sv_hostmem host;
};

static int open_load(
    struct sv_device *device, struct load *load, struct sv_err *err)
{
	int code = cuda_stream_new(device, &load->copying, err);

	if (code == 0)
		code = cuda_stream_new(device, &load->computing, err);
	if (code == 0)
		code = cuda_alloc(device, PROBE_BYTES, &load->device, err);
	if (code == 0)
		code = cuda_host_alloc(
		    device, SV_PINNED, PROBE_BYTES, -1, &load->host, err);
	return code;
}

static int close_load(
    struct sv_device *device, struct load *load, struct sv_err *err)
{
	cuda_host_free(device, &load->host);
	cuda_stream_free(device, load->copying);
	cuda_stream_free(device, load->computing);
	return cuda_free(device, &load->device, err);
}

/* Some milliseconds of work for the link and for a multiprocessor. */
static int put_load(struct load *load, struct sv_err *err)
{
	const struct svk_busy_args busy = {.ns = PROBE_KERNEL_NS};
	const struct sv_grid one = {1, 1};
	int code = cuda_launch(
	    load->computing, SV_KERNEL_BUSY, one, &busy, sizeof busy, err);

	for (int i = 0; code == 0 && i < PROBE_COPIES; i++)
		code = cuda_copy(load->copying, SV_H2D, &load->device, 0,
		    &load->host, 0, PROBE_BYTES, err);
	return code;
}

/* The card under load, read while the work is under way. */
static int probe_load(
    struct cuda_device *cuda, struct probe *probe, struct sv_err *err)
{
	struct cuda_reading best =
	    cuda_nvml_read(&cuda->nvml, cuda->nvml.link_max_generation);
	uint64_t start = sv_now_ns();
	struct load load = {0};
	struct sv_err ignored;
	int code = open_load(&cuda->device, &load, err);
	bool settled = false;

	while (code == 0 && !settled) {
		code = put_load(&load, err);
		read_probe(cuda, probe);
		if (code == 0)
			code =
			    cuda_device_sync(&cuda->device, SV_WAIT_SPIN, err);
		settled = !best.known || !probe->generation.known ||
			  probe->generation.value >= best.value ||
			  sv_now_ns() - start > PROBE_LIMIT_NS;
	}
	if (code == 0)
		code = close_load(&cuda->device, &load, err);
	else
		(void)close_load(&cuda->device, &load, &ignored);
	/* What went wrong here costs no case. */
	if (code == 0 && cuda->late.code != 0)
		code = sv_err_set(err, cuda->late.code, "%s", cuda->late.text);
	cuda->late = (struct sv_err){0};
	return code;
}

static void describe_link(
    struct cuda_device *cuda, struct sv_facts *facts, const struct probe *probe)
{
	const struct cuda_nvml *nvml = &cuda->nvml;
	int node = cuda_placement_near(cuda->pci_address);
	struct cuda_reading of_card =
	    cuda_nvml_read(nvml, nvml->card_max_generation);
	struct cuda_reading of_link =
	    cuda_nvml_read(nvml, nvml->link_max_generation);

	cuda_tell_integer(facts, "pcie.generation", cuda->idle_generation);
	cuda_tell_integer(facts, "pcie.width", cuda->idle_width);
	cuda_tell_integer(
	    facts, "pcie.under_load.generation", probe->generation);
	cuda_tell_integer(facts, "pcie.under_load.width", probe->width);
	/* Before CUDA 12.0 NVML knows only what card and slot can do together.
	 */
	cuda_tell_integer(
	    facts, "pcie.max_generation", of_card.known ? of_card : of_link);
	cuda_tell_integer(facts, "pcie.link_max_generation", of_link);
	cuda_tell_integer(
	    facts, "pcie.max_width", cuda_nvml_read(nvml, nvml->max_width));
	cuda_tell_integer(
	    facts, "pcie.replays", cuda_nvml_read(nvml, nvml->replays));
	if (node >= 0)
		facts->integer(facts, "pcie.numa_node", node);
	else
		facts->unknown(facts, "pcie.numa_node", "absent");
}

static void describe_power(
    struct cuda_device *cuda, struct sv_facts *facts, const struct probe *probe)
{
	const struct cuda_nvml *nvml = &cuda->nvml;

	cuda_tell_number(facts, "clocks.sm_Hz", cuda->idle_sm_MHz, 1e6);
	cuda_tell_number(facts, "clocks.memory_Hz", cuda->idle_memory_MHz, 1e6);
	cuda_tell_number(facts, "clocks.max_sm_Hz",
	    max_clock(cuda, CUDA_NVML_CLOCK_SM), 1.0);
	cuda_tell_number(facts, "clocks.max_memory_Hz",
	    max_clock(cuda, CUDA_NVML_CLOCK_MEM), 1.0);
	cuda_tell_number(facts, "clocks.under_load.sm_Hz", probe->sm_MHz, 1e6);
	cuda_tell_number(
	    facts, "clocks.under_load.memory_Hz", probe->memory_MHz, 1e6);
	cuda_tell_number(facts, "power.limit_w",
	    cuda_nvml_read(nvml, nvml->power_limit), 1e-3);
	cuda_tell_number(facts, "power.default_limit_w",
	    cuda_nvml_read(nvml, nvml->power_default), 1e-3);
	cuda_tell_number(facts, "power.max_limit_w",
	    cuda_nvml_read_pair(nvml, nvml->power_range, true), 1e-3);
	/* Seconds of work show these, not a probe: state() during cases. */
	facts->unknown(facts, "power.draw_under_load_w", "absent");
	facts->unknown(facts, "temperature_under_load_C", "absent");
	facts->unknown(facts, "throttle", "absent");
}

/* The kernel module's own word, where NVML is not there to ask. */
static void read_module_version(char *out, size_t room)
{
	FILE *file = fopen("/sys/module/nvidia/version", "r");

	if (file == NULL)
		return;
	if (fgets(out, (int)room, file) == NULL)
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(file);
}

static void describe_software(struct cuda_device *cuda, struct sv_facts *facts)
{
	const struct cuda_nvml *nvml = &cuda->nvml;
	char text[CUDA_NVML_VERSION_BUFFER_BYTES] = "";

	if (!nvml->initialised || nvml->driver_version == NULL ||
	    nvml->driver_version(text, sizeof text) != CUDA_NVML_SUCCESS) {
		text[0] = '\0';
		read_module_version(text, sizeof text);
	}
	tell_text(facts, "driver.version", text);
	snprintf(text, sizeof text, "%d.%d", cuda->driver.version / 1000,
	    cuda->driver.version % 1000 / 10);
	facts->text(facts, "driver.cuda_version", text);
	facts->text(facts, "driver.model",
	    access("/dev/dxg", F_OK) == 0 ? "wsl" : "linux");
	if (cuda_blas_version(cuda, text, sizeof text))
		facts->text(facts, "libraries.cublas", text);
	else
		facts->unknown(facts, "libraries.cublas",
		    cuda->blas_missing[0] != '\0' ? cuda->blas_missing
						  : "absent");
	if (nvml->initialised && nvml->nvml_version != NULL &&
	    nvml->nvml_version(text, sizeof text) == CUDA_NVML_SUCCESS)
		facts->text(facts, "libraries.nvml", text);
	else
		facts->unknown(facts, "libraries.nvml", "absent");
	facts->unknown(facts, "libraries.cudnn", "absent");
	facts->unknown(facts, "libraries.framework_arch_list", "absent");
}

static void describe_modes(struct cuda_device *cuda, struct sv_facts *facts)
{
	static const char *const modes[] = {
	    "default", "exclusive_thread", "prohibited", "exclusive_process"};
	const struct cuda_nvml *nvml = &cuda->nvml;
	int mode = cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
	struct cuda_reading processes = cuda_nvml_processes(nvml);

	facts->boolean(facts, "modes.ecc",
	    cuda_attribute(cuda, CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0);
	/* A part of a card is one by its UUID, whatever NVML may tell. */
	if (strncmp(cuda->uuid, "MIG-", 4) == 0)
		facts->boolean(facts, "modes.mig", true);
	else
		cuda_tell_boolean(facts, "modes.mig",
		    cuda_nvml_read_pair(nvml, nvml->mig, false));
	if (mode >= 0 && mode < 4)
		facts->text(facts, "modes.compute_mode", modes[mode]);
	else
		facts->unknown(facts, "modes.compute_mode", "not_supported");
	cuda_tell_boolean(facts, "modes.persistence",
	    cuda_nvml_read(nvml, nvml->persistence));
	cuda_tell_boolean(facts, "modes.display_active",
	    cuda_nvml_read(nvml, nvml->display_active));
	/* This process is one of them. */
	if (processes.known && processes.value > 0)
		processes.value--;
	cuda_tell_integer(facts, "modes.other_processes", processes);
	cuda_tell_integer(facts, "modes.virtualisation",
	    cuda_nvml_read(nvml, nvml->virtualisation));
}

/* A probe that could not be made, for that reason. */
static void spoil(struct probe *probe, const char *why)
{
	struct cuda_reading *all[] = {&probe->generation, &probe->width,
	    &probe->sm_MHz, &probe->memory_MHz};

	for (size_t i = 0; i < 4; i++) {
		*all[i] = (struct cuda_reading){.known = false};
		snprintf(all[i]->why, sizeof all[i]->why, "%s", why);
	}
}

void cuda_describe(struct sv_device *device, struct sv_facts *facts)
{
	struct cuda_device *cuda = cuda_of(device);
	struct probe probe;
	struct sv_err err;
	char why[96];

	describe_identity(cuda, facts);
	describe_memory(cuda, facts);
	describe_peaks(cuda, facts);
	if (cuda->nvml.card == NULL) {
		spoil(&probe, cuda->nvml.missing);
	} else if (probe_load(cuda, &probe, &err) != 0) {
		snprintf(why, sizeof why, "error: %.80s", err.text);
		spoil(&probe, why);
	}
	describe_link(cuda, facts, &probe);
	describe_power(cuda, facts, &probe);
	describe_software(cuda, facts);
	describe_modes(cuda, facts);
}

/* The contract's names of the reasons for a lower clock. */
static void tell_reasons(struct sv_facts *facts, struct cuda_reading mask)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {
	    {CUDA_NVML_REASON_SW_POWER_CAP, "sw_power_cap"},
	    {CUDA_NVML_REASON_HW_SLOWDOWN, "hw_slowdown"},
	    {CUDA_NVML_REASON_SW_THERMAL, "sw_thermal"},
	    {CUDA_NVML_REASON_HW_THERMAL, "hw_thermal"},
	    {CUDA_NVML_REASON_HW_POWER_BRAKE, "hw_power_brake"},
	    {CUDA_NVML_REASON_DISPLAY_CLOCK, "display_clock"},
	};
	const char *found[sizeof names / sizeof names[0]];
	size_t n = 0;

	cuda_tell_integer(facts, "throttle_mask", mask);
	if (!mask.known || facts->texts == NULL)
		return;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if ((mask.value & names[i].bit) != 0)
			found[n++] = names[i].name;
	facts->texts(facts, "throttle", found, n);
}

void cuda_state(struct sv_device *device, struct sv_facts *facts)
{
	struct cuda_device *cuda = cuda_of(device);
	const struct cuda_nvml *nvml = &cuda->nvml;
	struct probe now;

	read_probe(cuda, &now);
	cuda_tell_number(facts, "sm_Hz", now.sm_MHz, 1e6);
	cuda_tell_number(facts, "memory_Hz", now.memory_MHz, 1e6);
	cuda_tell_integer(facts, "pcie_generation", now.generation);
	cuda_tell_integer(facts, "pcie_width", now.width);
	cuda_tell_number(
	    facts, "power_w", cuda_nvml_read(nvml, nvml->power), 1e-3);
	cuda_tell_number(facts, "temperature_C",
	    cuda_nvml_read_typed(
		nvml, nvml->temperature, CUDA_NVML_TEMPERATURE_GPU),
	    1.0);
	cuda_tell_number(
	    facts, "energy_J", cuda_nvml_read_wide(nvml, nvml->energy), 1e-3);
	cuda_tell_integer(facts, "performance_state",
	    cuda_nvml_read(nvml, nvml->performance_state));
	tell_reasons(facts, cuda_nvml_read_wide(nvml, nvml->reasons));
}
