/*
 * The training checklist: a healthy machine has nothing to find, and each
 * fault that is put into it is found by its check, and by no other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checklist.h"
#include "cmocka_all.h"
#include "edit.h"
#include "result.h"

#define HEALTHY SV_TEST_FIXTURES "/checklist/healthy.json"
#define H2D	"@transfer/bandwidth?bytes=268435456&direction=h2d&memory=pinned"
#define D2H	"@transfer/bandwidth?bytes=268435456&direction=d2h&memory=pinned"
#define GEMM(precision)                                                        \
	"@gemm/"                                                               \
	"throughput?batch=1&count=1&k=8192&m=8192&n=8192&precision=" precision \
	"&shape=square"

/* A healthy result with something changed, judged. The caller frees. */
static void judge(
    const char *edits, struct sv_result **r, struct sv_checklist *list)
{
	struct sv_err err = {0};

	*r = sv_edited(HEALTHY, edits);
	assert_int_equal(sv_checklist_doctor(*r, list, &err), 0);
}

static const struct sv_finding *find(
    const struct sv_checklist *list, const char *code)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->findings[i].code, code) == 0)
			return &list->findings[i];
	fail_msg("no check %s", code);
	return NULL;
}

static void a_healthy_machine_has_nothing_to_find(void **state)
{
	struct sv_checklist list;
	struct sv_result *r;

	(void)state;
	judge("", &r, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct sv_finding *f = &list.findings[i];

		if (f->status != SV_FINDING_OK)
			print_error("%s: %s\n", f->code, f->evidence);
		assert_int_equal(f->status, SV_FINDING_OK);
		assert_true(f->evidence[0] != '\0');
		assert_true(f->expected[0] != '\0');
	}
	assert_string_equal(list.verdict, "ok");
	sv_checklist_fini(&list);
	sv_result_free(r);
}

/* What is changed, which check sees it, how it ends, and what it says. */
static const struct fault {
	const char *edits, *code, *status, *says;
} faults[] = {
    {GEMM("fp16") " := 2e13 ; " GEMM("bf16") " := 2e13 ; " GEMM(
	 "tf32") " := 2e13 ; " GEMM("fp32") " := 1e13 ; "
					    "@gemm/"
					    "throughput?batch=1024&count=1&k="
					    "4096&m=1024&n=4096&precision="
					    "fp16&shape=mlp := 2e13 ; "
					    "@gemm/"
					    "throughput?batch=128&count=1&k="
					    "4096&m=128&n=4096&precision="
					    "fp16&shape=mlp := 2e13",
	"UTILISATION", "warn", "12 % of the peak"},
    {"@storage/rate?cache=cold&layout=files&sample_bytes=110000&threads=16 "
     ":= 2000",
	"STORAGE", "warn", "35.0 times as fast"},
    {"@storage/rate?cache=cold&layout=files&sample_bytes=110000&threads=16 "
     ":= 90 ; machine.storage.rotational := true ; "
     "machine.storage.transport := \"sata\"",
	"STORAGE", "fail", "a rotating disk"},
    {"machine.cpu.usable_threads := 8", "LOADER_WORKERS", "warn",
	"8 of 24 threads"},
    {"machine.cpu.usable_threads := 1", "LOADER_WORKERS", "fail",
	"1 of 24 threads"},
    {"@loader/rate?batch=64&memory=pinned&workers=8 := 50", "LOADER_RATE",
	"warn", "with 1 workers"},
    {"machine.memory.shm_bytes := 67108864", "SHARED_MEMORY", "warn", "64 MiB"},
    {"@sync/loop?every=1&kernels=10 := 2e-4", "SYNC_EVERY_STEP", "warn",
	"2.00 times as long"},
    {"@sync/readback?call=stream&wait=spin := 2e-4", "SYNC_EVERY_STEP", "warn",
	"200 µs"},
    {"@step/time?batch=64&habit=sync_every_step&precision=amp&"
     "workload=resnet50 := 0.14",
	"SYNC_EVERY_STEP", "warn", "up to 1.40 times as long"},
    {"@step/time?batch=64&habit=reset_every_step&precision=amp&"
     "workload=resnet50 := 0.24",
	"ALLOCATOR_RESET", "warn", "up to 2.40 times as long"},
    {"@allocator/reset?blocks=64&bytes=2147483648 := 0.08", "ALLOCATOR_RESET",
	"warn", "80.0 ms"},
    {GEMM("fp16") " := 5.1e13 ; " GEMM("bf16") " := 5.1e13", "PRECISION_OFF",
	"fail", "1.0 times as fast"},
    {"machine.environment := {\"NVIDIA_TF32_OVERRIDE\":\"0\"}", "PRECISION_OFF",
	"warn", "NVIDIA_TF32_OVERRIDE=0"},
    {"@preprocess/rate?where=cpu&work=standard&workers=8 := 100",
	"CPU_PREPROCESS", "warn", "25 % of ideal"},
    {H2D " := 1.24e10 ; " D2H " := 1.24e10 ; "
	 "device.pcie.under_load := {\"generation\":4,\"width\":8} ; "
	 "device.pcie.bottleneck := \"0000:00:01.1\"",
	"PCIE_LINK", "warn", "50 % of what the card could use"},
    {H2D " := 3e9 ; " D2H " := 3e9 ; "
	 "device.pcie.under_load := {\"generation\":1,\"width\":16}",
	"PCIE_LINK", "fail", "Gen1 x16 under load"},
    {H2D " := 1.2e10 ; " D2H " := 1.2e10", "PCIE_LINK", "warn",
	"41 % of what the path carries"},
    {"device.pcie.corrected_errors := 4711", "PCIE_LINK", "warn",
	"4711 errors"},
    {"machine.numa := [{\"node\":0,\"cpus\":\"0-11\"},"
     "{\"node\":1,\"cpus\":\"12-23\"}]",
	"NUMA_REMOTE", "warn", "not bound"},
    {"machine.numa := [{\"node\":0,\"cpus\":\"0-11\"},"
     "{\"node\":1,\"cpus\":\"12-23\"}] ; machine.binding.node := 1",
	"NUMA_REMOTE", "fail", "node 1"},
    {"device.power.limit_w := 350 ; device.power.draw_under_load_w := 349",
	"POWER_LIMIT", "warn", "limit 350 W, default 450 W"},
    {"device.throttle := {\"reasons\":[\"hw_power_brake\"],\"fraction\":0.4}",
	"THERMAL", "fail", "hw_power_brake; for 40 % of the time"},
    {"device.throttle := {\"reasons\":[\"sw_thermal\"],\"fraction\":0.1}",
	"THERMAL", "warn", "sw_thermal"},
    {"device.clocks.under_load.sm_Hz := 1.2e9", "CLOCKS", "warn",
	"39 % of their highest clock"},
    {"device.clocks.under_load.memory_Hz := 5e9", "CLOCKS", "warn",
	"memory at 48 %"},
    {"machine.cpu.governor := \"powersave\"", "HOST_CPU", "warn",
	"governor powersave"},
    {"machine.cpu.boost := false", "HOST_CPU", "warn", "boost is off"},
    {"machine.cpu.c_states := [{\"name\":\"C6\",\"exit_latency_s\":0.00017,"
     "\"disabled\":false}]",
	"C_STATES", "warn", "C6, 170 us"},
    {"device.modes.ecc := true ; "
     "@memory/bandwidth?bytes=1073741824&op=copy := 6e11",
	"ECC", "warn", "60 % of its bandwidth"},
    {"device.modes.mig := true", "MIG", "warn", "a part of a card"},
    {"device.modes.compute_mode := \"exclusive_process\"", "COMPUTE_MODE",
	"warn", "busy or unavailable"},
    {"device.modes.compute_mode := \"prohibited\"", "COMPUTE_MODE", "fail",
	"prohibited"},
    {"device.modes.other_processes := 2", "OTHER_PROCESSES", "warn",
	"2 other processes"},
    {"device.modes.display_active := true", "DISPLAY", "warn",
	"a display runs"},
    {"machine.cards := 2 ; device.pcie.acs_redirects := true", "PEER_PATH",
	"warn", "redirect peers"},
    {"machine.cards := 2 ; machine.os.iommu := \"on\" ; "
     "machine.os.iommu_group_type := \"DMA-FQ\"",
	"PEER_PATH", "warn", "groups DMA-FQ"},
    {"device.libraries.cudnn := \"8.5.0\"", "SOFTWARE_AGE", "fail",
	"cuDNN 8.5.0 is older"},
    {"device.driver.cuda_version := \"11.7\"", "SOFTWARE_AGE", "fail",
	"CUDA 11.7 is older"},
    {"device.libraries.framework_arch_list := [\"sm_70\",\"sm_90\"]",
	"SOFTWARE_AGE", "fail", "no code for sm_89"},
    {"device.memory_free_bytes := 2e10", "VRAM_SPILL", "warn", "are free"},
    {"device.memory_free_bytes := 2e9", "VRAM_SPILL", "fail", "are free"},
    {"device.driver.model := \"wsl\"", "DRIVER_MODEL", "warn", "wsl"},
    /* A kernel that did nothing, and a bandwidth out of a cache. */
    {H2D "!check := {\"status\":\"fail\",\"detail\":\"byte 7 differs\"}",
	"RESULT_QUALITY", "fail", "1 failed their check"},
    {"@memory/bandwidth?bytes=1073741824&op=copy := 3.9e12", "RESULT_QUALITY",
	"warn", "1 are impossible"},
};

static void each_fault_is_found_by_its_check_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		const struct fault *fault = &faults[i];
		struct sv_checklist list;
		const struct sv_finding *f;
		struct sv_result *r;

		if (fault->code[0] == '\0')
			continue;
		judge(fault->edits, &r, &list);
		f = find(&list, fault->code);
		if (strcmp(sv_finding_status_name(f->status), fault->status) !=
			0 ||
		    strstr(f->evidence, fault->says) == NULL)
			fail_msg("%s: %s is %s: %s", fault->edits, f->code,
			    sv_finding_status_name(f->status), f->evidence);
		assert_true(f->remedy[0] != '\0');
		assert_string_equal(list.verdict, fault->status);
		for (size_t j = 0; j < list.n; j++) {
			const struct sv_finding *other = &list.findings[j];

			if (other == f || other->status == SV_FINDING_OK ||
			    other->status == SV_FINDING_UNKNOWN)
				continue;
			fail_msg("%s: %s is %s too: %s", fault->edits,
			    other->code, sv_finding_status_name(other->status),
			    other->evidence);
		}
		sv_checklist_fini(&list);
		sv_result_free(r);
	}
}

/* What looks odd and is none: must stay ok. */
static const char *const controls[][2] = {
    /* A cap that is not reached (noonghunna/club-3090#697). */
    {"device.power.limit_w := 360 ; device.power.draw_under_load_w := 247",
	"POWER_LIMIT"},
    /* Gen1 at idle (Syllo/nvtop#6). */
    {"device.pcie.generation := 1", "PCIE_LINK"},
    /* Half of the machine is all there is at the card's node. */
    {"machine.numa := [{\"node\":0,\"cpus\":\"0-11\"},"
     "{\"node\":1,\"cpus\":\"12-23\"}] ; machine.binding.node := 0 ; "
     "machine.cpu.usable_threads := 12",
	"LOADER_WORKERS"},
    /* Memory of the card as a node without processors. */
    {"machine.numa := [{\"node\":0,\"cpus\":\"0-23\"},"
     "{\"node\":1,\"cpus\":\"\"}]",
	"NUMA_REMOTE"},
    /* powersave of a driver that goes by demand. */
    {"machine.cpu.governor := \"powersave\" ; "
     "machine.cpu.driver := \"intel_pstate\"",
	"HOST_CPU"},
    /* The compute P-state's memory clock (nicehash#206). */
    {"device.clocks.under_load.memory_Hz := 1.0e10", "CLOCKS"},
    /* An old card without tensor cores gains nothing, by design. */
    {"device.compute_capability := [6,1] ; " GEMM("fp16") " := 5e13 ; " GEMM(
	 "bf16") " := 5e13 ; device.libraries.framework_arch_list := -",
	"PRECISION_OFF"},
    /* A guest's registers say Gen1 x1, copies say otherwise. */
    {"device.pcie.trusted := false ; "
     "device.pcie.under_load := {\"generation\":1,\"width\":1}",
	"PCIE_LINK"},
    /* A deep state that is switched off. */
    {"machine.cpu.c_states := [{\"name\":\"C6\",\"exit_latency_s\":0.00017,"
     "\"disabled\":true}]",
	"C_STATES"},
};

static void what_looks_odd_and_is_none_stays_ok(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
		struct sv_checklist list;
		const struct sv_finding *f;
		struct sv_result *r;

		judge(controls[i][0], &r, &list);
		f = find(&list, controls[i][1]);
		if (f->status != SV_FINDING_OK)
			fail_msg("%s: %s", controls[i][0], f->evidence);
		sv_checklist_fini(&list);
		sv_result_free(r);
	}
}

/* Everything that a machine may keep to itself, one after another. */
static void what_is_not_there_is_unknown_and_never_ok(void **state)
{
	static const char *const missing[][2] = {
	    {"machine.cpu.usable_threads", "LOADER_WORKERS"},
	    {"machine.memory.shm_bytes", "SHARED_MEMORY"},
	    {"machine.cpu.governor", "HOST_CPU"},
	    {"machine.cpu.c_states", "C_STATES"},
	    {"machine.numa", "NUMA_REMOTE"},
	    {"device.pcie", "PCIE_LINK"},
	    {"device.power.limit_w", "POWER_LIMIT"},
	    {"device.throttle", "THERMAL"},
	    {"device.clocks.under_load", "CLOCKS"},
	    {"device.modes.ecc", "ECC"},
	    {"device.modes.mig", "MIG"},
	    {"device.modes.compute_mode", "COMPUTE_MODE"},
	    {"device.modes.other_processes", "OTHER_PROCESSES"},
	    {"device.modes.display_active", "DISPLAY"},
	    {"device.memory_free_bytes", "VRAM_SPILL"},
	    {"device.driver.model", "DRIVER_MODEL"},
	    {"device.compute_capability", "SOFTWARE_AGE"},
	    {"device.peak_flops", "UTILISATION"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
		char edits[400];
		const char *field = strchr(missing[i][0], '.') + 1;
		struct sv_checklist list;
		const struct sv_finding *f;
		struct sv_result *r;

		snprintf(edits, sizeof edits,
		    "%s := null ; %.7s.unknown := [{\"field\":\"%s\","
		    "\"why\":\"no_permission\"}]",
		    missing[i][0],
		    missing[i][0][0] == 'm' ? "machine" : "device", field);
		judge(edits, &r, &list);
		f = find(&list, missing[i][1]);
		if (f->status != SV_FINDING_UNKNOWN || f->evidence[0] == '\0')
			fail_msg("%s: %s is %s: %s", missing[i][0], f->code,
			    sv_finding_status_name(f->status), f->evidence);
		sv_checklist_fini(&list);
		sv_result_free(r);
	}
}

static void without_measurements_it_says_what_to_measure(void **state)
{
	static const char *const need[] = {"UTILISATION", "STORAGE",
	    "LOADER_RATE", "SYNC_EVERY_STEP", "ALLOCATOR_RESET", "SMALL_BATCH",
	    "PRECISION_OFF", "CPU_PREPROCESS", "PCIE_LINK", "RESULT_QUALITY"};
	struct sv_result *r = sv_result_new();
	json_t *root = json_load_file(HEALTHY, 0, NULL);
	struct sv_checklist list;
	struct sv_err err;

	(void)state;
	json_decref(r->machine);
	json_decref(r->device);
	r->machine = json_incref(json_object_get(root, "machine"));
	r->device = json_incref(json_object_get(root, "device"));
	assert_int_equal(sv_checklist_doctor(r, &list, &err), 0);
	for (size_t i = 0; i < sizeof need / sizeof need[0]; i++) {
		const struct sv_finding *f = find(&list, need[i]);

		assert_int_equal(f->status, SV_FINDING_UNKNOWN);
		assert_non_null(strstr(f->next_command, "stave run --bench"));
	}
	assert_string_equal(list.verdict, "ok");
	sv_checklist_fini(&list);
	sv_result_free(r);
	json_decref(root);
}

static void a_pattern_asks_for_what_it_names(void **state)
{
	struct sv_result *r;
	struct sv_err err;
	const struct sv_measurement *m;

	(void)state;
	assert_int_equal(sv_result_read(HEALTHY, &r, &err), 0);
	m = sv_best_figure(r, "transfer/bandwidth?memory=pinned");
	assert_string_equal(m->id, &D2H[1]);
	assert_true(sv_pattern_fits("transfer", m));
	assert_true(sv_pattern_fits("*/bandwidth", m));
	assert_true(sv_pattern_fits("transfer/*?direction=d*", m));
	assert_true(sv_pattern_fits(m->id, m));
	assert_true(sv_pattern_fits("transfer/bandwidth?bytes=268435456", m));
	assert_false(sv_pattern_fits("transfer/bandwidth?bytes=1", m));
	assert_false(sv_pattern_fits("transfer/bandwidth?numa=near", m));
	assert_false(sv_pattern_fits("transfer/bandwidth?memory", m));
	assert_false(sv_pattern_fits("transfer/latency", m));
	assert_false(sv_pattern_fits("", m));
	assert_null(sv_best_figure(r, "nothing/at?all=1"));
	/* Lower is better there. */
	m = sv_best_figure(r, "sync/loop");
	assert_string_equal(m->id, "sync/loop?every=never&kernels=10");
	sv_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_healthy_machine_has_nothing_to_find),
	    cmocka_unit_test(each_fault_is_found_by_its_check_alone),
	    cmocka_unit_test(what_looks_odd_and_is_none_stays_ok),
	    cmocka_unit_test(what_is_not_there_is_unknown_and_never_ok),
	    cmocka_unit_test(without_measurements_it_says_what_to_measure),
	    cmocka_unit_test(a_pattern_asks_for_what_it_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
