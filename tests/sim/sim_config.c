/*
 * Reads a device file (interface contract, section 6) into the simulation's
 * structures. Every refusal names the file, the key and what was expected.
 * It does not judge whether a card like that exists.
 */
#include "sim.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	KIND_TEXT,
	KIND_WHOLE,
	KIND_REAL,
};

/* One number or text of a device: where it is and what it may be. */
struct field {
	const char *object; /* "" for the device itself */
	const char *key;
	enum kind kind;
	size_t offset;
	bool needed;
	double least;
	double otherwise; /* where left out */
};

#define AT(member) offsetof(struct sim_planted, member)

static const struct field fields[] = {
    {"", "name", KIND_TEXT, AT(name), true, 0, 0},
    {"", "multiprocessors", KIND_WHOLE, AT(multiprocessors), true, 1, 0},
    {"", "sm_clock_Hz", KIND_REAL, AT(sm_clock_Hz), true, 1e6, 0},
    {"", "memory_bytes", KIND_WHOLE, AT(memory_bytes), true, 1 << 20, 0},
    {"", "memory_bandwidth_Bps", KIND_REAL, AT(memory_bandwidth_Bps), true, 1e6,
	0},
    {"", "l2_bytes", KIND_WHOLE, AT(l2_bytes), true, 0, 0},
    {"", "uuid", KIND_TEXT, AT(uuid), true, 0, 0},
    {"", "mig_uuid", KIND_TEXT, AT(mig_uuid), false, 0, 0},
    {"", "pci_address", KIND_TEXT, AT(pci_address), true, 0, 0},
    {"pcie", "generation", KIND_WHOLE, AT(generation), true, 1, 0},
    {"pcie", "width", KIND_WHOLE, AT(width), true, 1, 0},
    {"pcie", "max_generation", KIND_WHOLE, AT(max_generation), true, 1, 0},
    {"pcie", "max_width", KIND_WHOLE, AT(max_width), true, 1, 0},
    {"pcie", "h2d_Bps", KIND_REAL, AT(h2d_Bps), true, 1e3, 0},
    {"pcie", "d2h_Bps", KIND_REAL, AT(d2h_Bps), true, 1e3, 0},
    {"pcie", "bidir_Bps", KIND_REAL, AT(bidir_Bps), true, 1e3, 0},
    {"pcie", "pageable_h2d_Bps", KIND_REAL, AT(pageable_h2d_Bps), true, 1e3, 0},
    {"pcie", "pageable_d2h_Bps", KIND_REAL, AT(pageable_d2h_Bps), true, 1e3, 0},
    {"pcie", "latency_s", KIND_REAL, AT(link_latency_s), true, 0, 0},
    {"pcie", "idle_generation", KIND_WHOLE, AT(idle_generation), false, 1, 1},
    {"pcie", "far_node_factor", KIND_REAL, AT(far_node_factor), false, 1e-3, 1},
    {"launch", "submit_s", KIND_REAL, AT(submit_s), true, 0, 0},
    {"launch", "floor_s", KIND_REAL, AT(floor_s), true, 0, 0},
    {"launch", "queue_depth", KIND_WHOLE, AT(queue_depth), true, 2, 0},
    {"launch", "graph_node_s", KIND_REAL, AT(graph_node_s), true, 0, 0},
    {"launch", "first_s", KIND_REAL, AT(first_s), true, 0, 0},
    {"sync", "spin_s", KIND_REAL, AT(spin_s), true, 0, 0},
    {"sync", "yield_s", KIND_REAL, AT(yield_s), true, 0, 0},
    {"sync", "block_s", KIND_REAL, AT(block_s), true, 0, 0},
    {"sync", "readback_s", KIND_REAL, AT(readback_s), true, 0, 0},
    {"alloc", "alloc_s", KIND_REAL, AT(alloc_s), true, 0, 0},
    {"alloc", "alloc_s_per_byte", KIND_REAL, AT(alloc_s_per_byte), true, 0, 0},
    {"alloc", "free_s", KIND_REAL, AT(free_s), true, 0, 0},
    {"alloc", "pool_alloc_s", KIND_REAL, AT(pool_alloc_s), true, 0, 0},
    {"alloc", "trim_s", KIND_REAL, AT(trim_s), true, 0, 0},
    {"gemm", "half_size", KIND_REAL, AT(half_size), true, 0, 0},
    {"gemm.peak_flops", "fp32", KIND_REAL, AT(peak_flops[SIM_FP32]), true, 1,
	0},
    {"gemm.peak_flops", "tf32", KIND_REAL, AT(peak_flops[SIM_TF32]), false, 1,
	0},
    {"gemm.peak_flops", "fp16", KIND_REAL, AT(peak_flops[SIM_FP16]), false, 1,
	0},
    {"gemm.peak_flops", "fp16acc", KIND_REAL, AT(peak_flops[SIM_FP16ACC]),
	false, 1, 0},
    {"gemm.peak_flops", "bf16", KIND_REAL, AT(peak_flops[SIM_BF16]), false, 1,
	0},
    {"gemm.peak_flops", "fp64", KIND_REAL, AT(peak_flops[SIM_FP64]), false, 1,
	0},
    {"power", "limit_w", KIND_REAL, AT(power_limit_w), false, 1, 300},
    {"power", "default_w", KIND_REAL, AT(power_default_w), false, 1, 300},
    {"power", "max_w", KIND_REAL, AT(power_max_w), false, 1, 300},
    {"throttle", "after_s", KIND_REAL, AT(throttle_after_s), false, 0, 0},
    {"throttle", "factor", KIND_REAL, AT(throttle_factor), false, 1e-3, 1},
};

#define N_FIELDS (sizeof fields / sizeof *fields)

/* Keys that are read by hand; with the fields, all that there may be. */
static const char *const other_keys[] = {"compute_capability", "pcie", "launch",
    "sync", "alloc", "gemm", "gemm.peak_flops", "power", "throttle",
    "throttle.reason", "peers", "modes", "modes.compute", "modes.mig",
    "modes.nvml", "faults", "driver", "driver.cuda", "driver.version",
    "driver.cublas"};

struct reader {
	const char *path;
	char at[64]; /* "devices[1]." or "" */
	char *text;
	size_t text_bytes;
};

__attribute__((format(printf, 2, 3))) static int refuse(
    struct reader *reader, const char *fmt, ...)
{
	va_list args;
	int used = snprintf(reader->text, reader->text_bytes, "%s: %s",
	    reader->path, reader->at);

	va_start(args, fmt);
	if (used >= 0 && (size_t)used < reader->text_bytes)
		vsnprintf(
		    reader->text + used, reader->text_bytes - used, fmt, args);
	va_end(args);
	return -1;
}

/* The object at a dotted path below parent, NULL when absent. */
static json_t *descend(json_t *parent, const char *path)
{
	char part[64];

	while (parent != NULL && *path != '\0') {
		size_t length = strcspn(path, ".");

		snprintf(part, sizeof part, "%.*s", (int)length, path);
		parent = json_object_get(parent, part);
		path += length + (path[length] == '.');
	}
	return parent;
}

static int read_field(struct reader *reader, json_t *device,
    const struct field *field, struct sim_planted *out)
{
	char *place = (char *)out + field->offset;
	const char *dot = *field->object == '\0' ? "" : ".";
	json_t *value =
	    json_object_get(descend(device, field->object), field->key);
	double number;

	if (value == NULL && field->needed)
		return refuse(reader, "%s%s%s is missing", field->object, dot,
		    field->key);
	if (field->kind == KIND_TEXT) {
		size_t room = field->offset == AT(name) ? sizeof out->name
			      : field->offset == AT(pci_address)
				  ? sizeof out->pci_address
				  : sizeof out->uuid;
		const char *text =
		    value == NULL ? "" : json_string_value(value);

		if (text == NULL || strlen(text) >= room)
			return refuse(reader,
			    "%s must be a text shorter than %zu", field->key,
			    room);
		memcpy(place, text, strlen(text) + 1);
		return 0;
	}
	if (value == NULL)
		number = field->otherwise;
	else if (field->kind == KIND_WHOLE ? json_is_integer(value)
					   : json_is_number(value))
		number = json_number_value(value);
	else
		return refuse(reader, "%s%s%s must be a %snumber",
		    field->object, dot, field->key,
		    field->kind == KIND_WHOLE ? "whole " : "");
	if (value != NULL && (number < field->least || !isfinite(number)))
		return refuse(reader, "%s%s%s is %g, the least allowed is %g",
		    field->object, dot, field->key, number, field->least);
	if (field->kind == KIND_WHOLE) {
		int64_t whole =
		    value == NULL ? (int64_t)number : json_integer_value(value);

		memcpy(place, &whole, sizeof whole);
	} else {
		memcpy(place, &number, sizeof number);
	}
	return 0;
}

static bool known_key(const char *object, const char *key)
{
	char full[160];

	for (size_t i = 0; i < N_FIELDS; i++)
		if (strcmp(fields[i].object, object) == 0 &&
		    strcmp(fields[i].key, key) == 0)
			return true;
	snprintf(full, sizeof full, "%s%s%s", object,
	    *object == '\0' ? "" : ".", key);
	for (size_t i = 0; i < sizeof other_keys / sizeof *other_keys; i++)
		if (strcmp(other_keys[i], full) == 0)
			return true;
	return false;
}

/* A misspelt key would silently plant nothing. */
static int refuse_unknown_keys(
    struct reader *reader, json_t *value, const char *object)
{
	const char *key;
	json_t *child;
	char full[160];

	json_object_foreach (value, key, child) {
		if (!known_key(object, key))
			return refuse(reader, "unknown key %s%s%s", object,
			    *object == '\0' ? "" : ".", key);
		snprintf(full, sizeof full, "%s%s%s", object,
		    *object == '\0' ? "" : ".", key);
		if (json_is_object(child) &&
		    refuse_unknown_keys(reader, child, full) != 0)
			return -1;
	}
	return 0;
}

/* The place of text in a list ended by NULL, -1 when it is not there. */
static int which(const char *text, const char *const *list)
{
	for (int i = 0; text != NULL && list[i] != NULL; i++)
		if (strcmp(text, list[i]) == 0)
			return i;
	return -1;
}

/* One of a few words; left out means the first. */
static int read_word(struct reader *reader, json_t *object, const char *key,
    const char *const *list, int *out)
{
	json_t *value = json_object_get(object, key);

	*out = value == NULL ? 0 : which(json_string_value(value), list);
	if (*out < 0)
		return refuse(reader,
		    "%s must be \"%s\" or another of the"
		    " contract's words",
		    key, list[0]);
	return 0;
}

/* Whether an optional flag is a flag; *out false where left out. */
static int read_flag(
    struct reader *reader, json_t *object, const char *key, bool *out)
{
	json_t *value = json_object_get(object, key);

	if (value != NULL && !json_is_boolean(value))
		return refuse(reader, "%s must be true or false", key);
	*out = json_is_true(value);
	return 0;
}

static int read_modes(
    struct reader *reader, json_t *device, struct sim_planted *out)
{
	static const char *const compute[] = {"default", "exclusive", NULL};
	static const char *const nvml[] = {
	    "ok", "absent", "no_permission", "lost", NULL};
	static const char *const reasons[] = {
	    "sw_power_cap", "hw_thermal", "sw_thermal", "hw_power_brake", NULL};
	json_t *modes = json_object_get(device, "modes");
	json_t *throttle = json_object_get(device, "throttle");
	int word;

	if (read_word(reader, modes, "compute", compute, &word) != 0)
		return -1;
	out->exclusive = word == 1;
	if (read_flag(reader, modes, "mig", &out->mig) != 0)
		return -1;
	if (read_word(reader, modes, "nvml", nvml, &word) != 0)
		return -1;
	out->nvml = (enum sim_nvml_mode)word;
	if (throttle == NULL || json_is_null(throttle))
		return 0;
	if (read_word(reader, throttle, "reason", reasons, &word) != 0)
		return -1;
	out->throttle = (enum sim_throttle)(SIM_THROTTLE_SW_POWER_CAP + word);
	return 0;
}

static int read_capability(
    struct reader *reader, json_t *device, struct sim_planted *out)
{
	json_t *pair = json_object_get(device, "compute_capability");

	if (json_array_size(pair) != 2 ||
	    !json_is_integer(json_array_get(pair, 0)) ||
	    !json_is_integer(json_array_get(pair, 1)))
		return refuse(
		    reader, "compute_capability must be two whole numbers");
	out->capability_major = json_integer_value(json_array_get(pair, 0));
	out->capability_minor = json_integer_value(json_array_get(pair, 1));
	return 0;
}

/* A UUID's form: GPU- or MIG- and 36 characters of it. */
static bool is_uuid(const char *text, const char *prefix)
{
	size_t i;

	if (strncmp(text, prefix, 4) != 0 || strlen(text) != 40)
		return false;
	for (i = 4; i < 40; i++) {
		bool dash = i == 12 || i == 17 || i == 22 || i == 27;

		if (dash ? text[i] != '-'
			 : strchr("0123456789abcdef", text[i]) == NULL)
			return false;
	}
	return true;
}

static int check_identity(struct reader *reader, struct sim_planted *out)
{
	char bare[41];

	/* Results made here must say so, whatever the file calls the card. */
	if (strstr(out->name, "(simulated)") == NULL) {
		if (strlen(out->name) + 13 > sizeof out->name)
			return refuse(reader, "name is too long");
		strcat(out->name, " (simulated)");
	}
	if (strncmp(out->uuid, "GPU-", 4) != 0) {
		memcpy(bare, out->uuid, sizeof bare - 1);
		bare[sizeof bare - 1] = '\0';
		snprintf(out->uuid, sizeof out->uuid, "GPU-%s", bare);
	}
	if (!is_uuid(out->uuid, "GPU-"))
		return refuse(reader,
		    "uuid must be like"
		    " \"GPU-00000000-0000-0000-0000-000000000001\","
		    " lower case");
	if (*out->mig_uuid == '\0')
		snprintf(out->mig_uuid, sizeof out->mig_uuid, "MIG-%.40s",
		    out->uuid + 4);
	if (!is_uuid(out->mig_uuid, "MIG-"))
		return refuse(reader,
		    "mig_uuid must be like"
		    " \"MIG-00000000-0000-0000-0000-000000000001\"");
	if (sscanf(out->pci_address, "%x:%x:%x", &out->pci_domain,
		&out->pci_bus, &out->pci_device) != 3)
		return refuse(
		    reader, "pci_address must be like \"0000:01:00.0\"");
	return 0;
}

/* fp16acc runs at fp16's rate unless planted; what is 0 is not supported. */
static void fill_peaks(struct sim_planted *out)
{
	if (out->peak_flops[SIM_FP16ACC] == 0)
		out->peak_flops[SIM_FP16ACC] = out->peak_flops[SIM_FP16];
}

static int read_peers(
    struct reader *reader, json_t *device, struct sim_device *out)
{
	json_t *peers = json_object_get(device, "peers");

	if (peers != NULL && !json_is_array(peers))
		return refuse(reader, "peers must be an array");
	if (json_array_size(peers) > SIM_MAX_PEERS)
		return refuse(reader, "peers has more than %d", SIM_MAX_PEERS);
	for (size_t i = 0; i < json_array_size(peers); i++) {
		json_t *peer = json_array_get(peers, i);
		struct sim_peer *p = &out->peers[i];

		p->device =
		    json_is_integer(json_object_get(peer, "device"))
			? json_integer_value(json_object_get(peer, "device"))
			: -1;
		p->Bps = json_number_value(json_object_get(peer, "Bps"));
		p->latency_s =
		    json_number_value(json_object_get(peer, "latency_s"));
		if (p->device < 0 || p->device >= SIM_MAX_DEVICES ||
		    !(p->Bps >= 1e3) || !(p->latency_s >= 0))
			return refuse(reader,
			    "peers[%zu] needs device, Bps and latency_s", i);
		if (read_flag(reader, peer, "p2p", &p->p2p) != 0)
			return -1;
		out->n_peers++;
	}
	return 0;
}

static int read_faults(
    struct reader *reader, json_t *device, struct sim_config *config)
{
	json_t *faults = json_object_get(device, "faults");

	if (faults != NULL && !json_is_array(faults))
		return refuse(reader, "faults must be an array");
	for (size_t i = 0; i < json_array_size(faults); i++) {
		json_t *fault = json_array_get(faults, i);
		struct sim_fault *f = &config->faults[config->n_faults];
		const char *call =
		    json_string_value(json_object_get(fault, "call"));
		json_t *error = json_object_get(fault, "error");

		if (config->n_faults == SIM_MAX_FAULTS)
			return refuse(
			    reader, "more than %d faults", SIM_MAX_FAULTS);
		if (call == NULL || strlen(call) >= sizeof f->call)
			return refuse(reader,
			    "faults[%zu].call must name an entry point", i);
		memset(f, 0, sizeof *f);
		memcpy(f->call, call, strlen(call) + 1);
		f->after = json_integer_value(json_object_get(fault, "after"));
		f->error = json_integer_value(error);
		if (read_flag(reader, fault, "sticky", &f->sticky) != 0 ||
		    read_flag(reader, fault, "hang", &f->hang) != 0 ||
		    read_flag(reader, fault, "once", &f->once) != 0)
			return -1;
		if (f->after < 0 || (!f->hang && f->error <= 0))
			return refuse(reader,
			    "faults[%zu] needs \"error\","
			    " a code above 0, or \"hang\": true",
			    i);
		config->n_faults++;
	}
	return 0;
}

static int read_driver(
    struct reader *reader, json_t *device, struct sim_config *config)
{
	json_t *driver = json_object_get(device, "driver");
	const char *version =
	    json_string_value(json_object_get(driver, "version"));
	const char *blas = json_string_value(json_object_get(driver, "cublas"));
	json_t *cuda = json_object_get(driver, "cuda");

	if (cuda != NULL && !json_is_integer(cuda))
		return refuse(reader, "driver.cuda must be like 13000");
	if (cuda != NULL)
		config->driver_cuda = json_integer_value(cuda);
	if (version != NULL)
		snprintf(config->driver_version, sizeof config->driver_version,
		    "%s", version);
	if (blas != NULL)
		snprintf(config->cublas_version, sizeof config->cublas_version,
		    "%s", blas);
	return 0;
}

static int read_device(
    struct reader *reader, json_t *value, struct sim_config *config)
{
	struct sim_device *device = &config->devices[config->n_devices];

	if (!json_is_object(value))
		return refuse(reader, "a device must be an object");
	if (refuse_unknown_keys(reader, value, "") != 0)
		return -1;
	for (size_t i = 0; i < N_FIELDS; i++)
		if (read_field(reader, value, &fields[i], &device->is) != 0)
			return -1;
	if (read_capability(reader, value, &device->is) != 0 ||
	    read_modes(reader, value, &device->is) != 0 ||
	    check_identity(reader, &device->is) != 0 ||
	    read_peers(reader, value, device) != 0 ||
	    read_faults(reader, value, config) != 0 ||
	    read_driver(reader, value, config) != 0)
		return -1;
	fill_peaks(&device->is);
	device->place = (int)config->n_devices;
	device->last_active_ps = -1;
	device->exclusive_fd = -1;
	device->next_address =
	    (uint64_t)(config->n_devices + 1) << 40 | UINT64_C(0x302000000);
	config->n_devices++;
	return 0;
}

static int check_peers(struct reader *reader, const struct sim_config *config)
{
	for (size_t i = 0; i < config->n_devices; i++) {
		const struct sim_device *device = &config->devices[i];

		for (size_t j = 0; j < device->n_peers; j++)
			if (device->peers[j].device >=
				(int64_t)config->n_devices ||
			    device->peers[j].device == device->place)
				return refuse(reader,
				    "devices[%zu].peers[%zu].device is not"
				    " another device of the file",
				    i, j);
	}
	return 0;
}

int sim_config_load(
    struct sim_config *config, const char *path, char *text, size_t text_bytes)
{
	struct reader reader = {path, "", text, text_bytes};
	json_error_t error;
	json_t *root, *list;
	int rc = 0;

	memset(config, 0, sizeof *config);
	config->driver_cuda = 13000;
	snprintf(
	    config->driver_version, sizeof config->driver_version, "580.65.06");
	snprintf(
	    config->cublas_version, sizeof config->cublas_version, "130000");
	root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL) {
		if (error.line < 0)
			return refuse(&reader, "%s", error.text);
		return refuse(&reader, "line %d: %s", error.line, error.text);
	}
	list = json_object_get(root, "devices");
	if (list == NULL)
		rc = read_device(&reader, root, config);
	else if (!json_is_array(list) || json_object_size(root) != 1 ||
		 json_array_size(list) == 0 ||
		 json_array_size(list) > SIM_MAX_DEVICES)
		rc = refuse(&reader,
		    "devices must be the only key, an array of 1 to %d",
		    SIM_MAX_DEVICES);
	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		snprintf(reader.at, sizeof reader.at, "devices[%zu]: ", i);
		rc = read_device(&reader, json_array_get(list, i), config);
	}
	reader.at[0] = '\0';
	if (rc == 0)
		rc = check_peers(&reader, config);
	json_decref(root);
	return rc;
}
