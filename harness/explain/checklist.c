/*
 * The training checklist, in the order in which to go through it: what is
 * checked, what is expected, what to do. The judges are beside it, by what
 * they look at.
 */
#include "checklist.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "checklist_parts.h"
#include "quantity.h"

#define RUN(benches) "stave run --bench " benches " -o this.json"

static const struct check {
	const char *code, *title, *severity;
	const char *expected, *remedy, *next_command;
	sv_judge_fn judge;
	bool of_card; /* means nothing where the host is the device */
} checks[] = {
    {"UTILISATION", "Is the device really at work?", "low",
	"a large GEMM reaches half of the card's peak or more; \"100 % "
	"utilisation\" alone proves nothing",
	"judge by throughput, power draw and clocks, never by utilisation",
	RUN("gemm,sustain"), sv_judge_utilisation, true},
    {"STORAGE", "Does storage keep up?", "medium",
	"samples on local flash or in memory; packed files no more than "
	"twice as fast as single ones",
	"copy the data to a local disk, or pack the samples into few large "
	"files",
	RUN("storage"), sv_judge_storage, false},
    {"LOADER_WORKERS", "May the loader use the processor?", "high",
	"all threads of the machine usable, at least four",
	"widen the affinity mask, the control group's quota or the job's "
	"cpus-per-task",
	"taskset -p $$", sv_judge_loader_cores, false},
    {"LOADER_RATE", "Do more loader workers load more?", "medium",
	"the rate grows with workers up to the usable cores",
	"use the number of workers that was fastest", RUN("loader"),
	sv_judge_loader_rate, false},
    {"PAGEABLE_MEMORY", "Can memory be pinned?", "medium",
	"pinned copies work, and are faster than pageable ones",
	"raise the limit (`ulimit -l unlimited`, --ulimit memlock=-1 for a "
	"container), and pin the loader's memory",
	RUN("transfer"), sv_judge_pinned, false},
    {"SHARED_MEMORY", "Can loader processes pass batches on?", "medium",
	"/dev/shm of 1 GiB or more",
	"give the container more shared memory (--shm-size=8g, --ipc=host)",
	"df /dev/shm", sv_judge_shared_memory, false},
    {"SYNC_EVERY_STEP", "What does waiting and reading back cost?", "medium",
	"a read-back of a few microseconds, and a loop that loses under 5 % "
	"to one each step",
	"read the loss every hundredth step, keep sums on the device",
	RUN("sync"), sv_judge_sync, false},
    {"ALLOCATOR_RESET", "What does emptying the cache cost?", "medium",
	"a reset under 20 ms, and none of them inside the loop",
	"take empty_cache and gc.collect out of the training loop",
	RUN("allocator"), sv_judge_allocator, false},
    {"SMALL_BATCH", "From which batch on is the card filled?", "low",
	"a batch at which GEMM reaches 80 % of its best",
	"train at that batch or above it, or expect little from a faster "
	"card",
	RUN("gemm"), sv_judge_batch, false},
    {"PRECISION_OFF", "Do the tensor cores work?", "high",
	"FP16 or BF16 GEMM at least 1.5 times as fast as FP32 on a card with "
	"tensor cores",
	"turn AMP on; allow TF32; bring driver and cuBLAS up to date",
	RUN("gemm"), sv_judge_precision, true},
    {"CPU_PREPROCESS", "Does the processor keep up?", "medium",
	"the rate of prepared samples grows with workers, half of ideal or "
	"more",
	"fewer threads a worker (OMP_NUM_THREADS=1), more cores, or "
	"preparation on the card",
	RUN("preprocess"), sv_judge_preprocess, false},
    {"PCIE_LINK", "Does the link give what it should?", "medium",
	"the card's own generation and width on the whole path, read under "
	"load, and copies at 80 % of what that carries",
	"reseat the card, take the riser out, choose the slot with all "
	"lanes, look for a firmware setting",
	"sudo lspci -vv", sv_judge_link, true},
    {"NUMA_REMOTE", "Does the process run beside its card?", "high",
	"process and memory bound to the card's NUMA node",
	"numactl --cpunodebind=N --membind=N, N the card's node",
	RUN("transfer"), sv_judge_numa, false},
    {"POWER_LIMIT", "Is the power limit the card's own?", "medium",
	"the limit at its default or above, or never reached",
	"nvidia-smi -pl DEFAULT as root; look for a service that lowers it",
	"nvidia-smi -q -d POWER", sv_judge_power, true},
    {"THERMAL", "Did heat or the power supply slow it down?", "high",
	"no thermal or power-brake slowdown during the run",
	"airflow, dust, thermal pads; for a power brake the supply and its "
	"cables",
	RUN("sustain"), sv_judge_thermal, true},
    {"CLOCKS", "Are clocks held down?", "medium",
	"at least 75 % of the highest clock under load",
	"nvidia-smi -rgc and -rmc as root take locks back",
	"nvidia-smi -q -d CLOCK", sv_judge_clocks, true},
    {"HOST_CPU", "Does the governor give full speed?", "low",
	"performance, or a driver that goes by demand, boost on",
	"cpupower frequency-set -g performance", "cpupower frequency-info",
	sv_judge_governor, false},
    {"C_STATES", "Do the cores sleep too deeply?", "low",
	"no idle state enabled that takes more than 100 us to leave",
	"limit C-states (cpupower idle-set -D 100, or a latency request in "
	"/dev/cpu_dma_latency)",
	"cpupower idle-info", sv_judge_c_states, false},
    {"ECC", "Does ECC cost memory bandwidth?", "low",
	"ECC off, or memory at 75 % of its bandwidth or more all the same",
	"nvidia-smi -e 0 as root where errors do not matter, then a reboot",
	RUN("memory"), sv_judge_ecc, true},
    {"MIG", "Is this a whole card?", "medium", "MIG off",
	"nvidia-smi -mig 0 as root gives the whole card back", "nvidia-smi -L",
	sv_judge_mig, true},
    {"COMPUTE_MODE", "May several processes use it?", "medium",
	"compute mode default", "nvidia-smi -c DEFAULT as root",
	"nvidia-smi -q -d COMPUTE", sv_judge_compute_mode, true},
    {"OTHER_PROCESSES", "Is nobody else computing on it?", "high",
	"no other process", "end them, or choose another card", "nvidia-smi",
	sv_judge_others, true},
    {"DISPLAY", "Is the card free of a screen?", "low",
	"no display on the card that trains",
	"put the screen on another card or on the processor's graphics",
	"nvidia-smi -q -d PIDS", sv_judge_display, true},
    {"PEER_PATH", "Can cards talk to each other directly?", "low",
	"with two cards or more: no translation and no redirection of peers' "
	"packets, copies p2p",
	"iommu=pt or off, ACS off in the firmware; many cards have no direct "
	"path by design",
	RUN("peer"), sv_judge_peers, true},
    {"SOFTWARE_AGE", "Are driver and libraries as young as the card?", "high",
	"a CUDA version that knows the card's architecture, in "
	"driver, cuBLAS, cuDNN and framework",
	"install a driver and a framework build for this architecture",
	"nvidia-smi", sv_judge_software, true},
    {"VRAM_SPILL", "Is the card's memory free?", "medium",
	"nine tenths of the memory free before training",
	"end what holds it; a smaller batch; no fallback to system memory",
	"nvidia-smi", sv_judge_memory, true},
    {"DRIVER_MODEL", "Does the driver talk to the card directly?", "medium",
	"the Linux driver, or TCC", "train under Linux itself", "uname -r",
	sv_judge_driver_model, true},
    {"RESULT_QUALITY", "Can the figures be believed?", "high",
	"no failed check, nothing impossible, nothing lost",
	"a figure that fails its check is a defect of card, driver or memory: "
	"measure again, then with another card",
	RUN("transfer,gemm,memory"), sv_judge_quality, false},
};

double sv_seen_number(json_t *object, const char *path)
{
	json_t *value = sv_result_field(object, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *sv_seen_text(json_t *object, const char *path)
{
	return json_string_value(sv_result_field(object, path));
}

int sv_seen_truth(json_t *object, const char *path)
{
	json_t *value = sv_result_field(object, path);

	return json_is_boolean(value) ? json_is_true(value) : -1;
}

const char *sv_seen_why(json_t *object, const char *path)
{
	json_t *list = json_object_get(object, "unknown"), *one;
	const char *found = "not recorded";
	size_t i, best = 0;

	json_array_foreach (list, i, one) {
		const char *field =
		    json_string_value(json_object_get(one, "field"));
		const char *why =
		    json_string_value(json_object_get(one, "why"));
		size_t n = field != NULL ? strlen(field) : 0;

		/* What is said of the object holds for all in it. */
		if (why != NULL && n > best && strncmp(path, field, n) == 0 &&
		    (path[n] == '\0' || path[n] == '.')) {
			found = why;
			best = n;
		}
	}
	return strcmp(found, "no_permission") == 0 ? "no permission to read it"
	       : strcmp(found, "absent") == 0	   ? "nothing here tells"
	       : strcmp(found, "not_supported") == 0 ? "not supported here"
						     : found;
}

void sv_say(struct sv_finding *f, const char *fmt, ...)
{
	size_t used = strlen(f->evidence);
	va_list args;

	if (used > 0 && used + 2 < sizeof f->evidence) {
		memcpy(f->evidence + used, "; ", 3);
		used += 2;
	}
	va_start(args, fmt);
	vsnprintf(f->evidence + used, sizeof f->evidence - used, fmt, args);
	va_end(args);
}

void sv_advise(struct sv_finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->remedy, sizeof f->remedy, fmt, args);
	va_end(args);
}

void sv_rest_on(struct sv_finding *f, const struct sv_measurement *m)
{
	if (m != NULL && f->n_measurements < SV_FINDING_MAX_EVIDENCE)
		f->measurements[f->n_measurements++] = m->id;
}

void sv_at_least(struct sv_finding *f, enum sv_finding_status status)
{
	if (f->status == SV_FINDING_UNKNOWN || status > f->status)
		f->status = status;
}

const char *sv_figure_text(const struct sv_measurement *m)
{
	static _Thread_local char texts[8][SV_QUANTITY_BYTES];
	static _Thread_local unsigned next;
	char *out = texts[next++ % 8];

	return sv_quantity(out, SV_QUANTITY_BYTES, m->summary.median, m->unit);
}

/* The worst that was found. */
static const char *verdict_of(const struct sv_checklist *list)
{
	enum sv_finding_status worst = SV_FINDING_UNKNOWN;

	for (size_t i = 0; i < list->n; i++) {
		enum sv_finding_status s = list->findings[i].status;

		if (s != SV_FINDING_UNKNOWN &&
		    (worst == SV_FINDING_UNKNOWN || s > worst))
			worst = s;
	}
	return sv_finding_status_name(worst);
}

static void set_text(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text);
}

int sv_checklist_doctor(
    const struct sv_result *r, struct sv_checklist *out, struct sv_err *err)
{
	const char *device = sv_seen_text(r->device, "name");
	const char *backend = sv_seen_text(r->device, "backend");
	bool is_host = backend != NULL && strcmp(backend, "host") == 0;

	*out = (struct sv_checklist){.subject = ""};
	snprintf(out->subject, sizeof out->subject, "%.90s%s%.90s",
	    r->run.label != NULL ? r->run.label : "this machine",
	    device != NULL ? ", " : "", device != NULL ? device : "");
	for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
		const struct check *c = &checks[i];
		struct sv_finding *f = sv_checklist_add(out);

		if (f == NULL) {
			sv_checklist_fini(out);
			return sv_err_set(
			    err, SV_ERESOURCE, "checklist: out of memory");
		}
		set_text(f->code, sizeof f->code, c->code);
		set_text(f->title, sizeof f->title, c->title);
		set_text(f->severity, sizeof f->severity, c->severity);
		set_text(f->expected, sizeof f->expected, c->expected);
		set_text(f->remedy, sizeof f->remedy, c->remedy);
		set_text(
		    f->next_command, sizeof f->next_command, c->next_command);
		if (c->of_card && is_host) {
			sv_say(f, "no card: this is about the host itself");
			f->next_command[0] = '\0';
		} else {
			c->judge(r, f);
		}
		/* What is well needs no remedy, what is unknown a look. */
		if (f->status == SV_FINDING_OK)
			f->next_command[0] = '\0';
		if (f->status == SV_FINDING_OK ||
		    f->status == SV_FINDING_UNKNOWN)
			f->remedy[0] = '\0';
	}
	sv_checklist_mend(out);
	out->verdict = verdict_of(out);
	return 0;
}
