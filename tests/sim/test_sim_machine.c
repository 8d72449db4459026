/*
 * Machines that are not one healthy card: planted faults, several devices in
 * different orders, NVML in its moods, device files that are wrong.
 */
#include "sim_api.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <unistd.h>

#include "kernels.h"
#include "near.h"

#define TWO_CARDS                                                  \
	"{\"devices\":[{\"name\":\"Slow\",\"multiprocessors\":40," \
	"\"pci_address\":\"0000:01:00.0\","                        \
	"\"uuid\":\"GPU-00000000-0000-0000-0000-0000000000b1\","   \
	"\"peers\":[{\"device\":1,\"p2p\":true,\"Bps\":2.1e10,"    \
	"\"latency_s\":1.2e-5}]},"                                 \
	"{\"name\":\"Fast\",\"pci_address\":\"0000:41:00.0\","     \
	"\"uuid\":\"GPU-00000000-0000-0000-0000-0000000000c1\","   \
	"\"modes\":{\"mig\":true},"                                \
	"\"mig_uuid\":\"MIG-00000000-0000-0000-0000-0000000000d1\"}]}"

/* NVML as a program declares it. */
struct nvml {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *);
	int (*by_index)(unsigned, void **);
	int (*by_bus)(const char *, void **);
	int (*by_uuid)(const char *, void **);
	int (*uuid)(void *, char *, unsigned);
	int (*generation)(void *, unsigned *);
	int (*clock)(void *, unsigned, unsigned *);
	int (*power)(void *, unsigned *);
	int (*reasons)(void *, unsigned long long *);
};

static void open_nvml(struct nvml *nvml)
{
	void *l = sim_api_library("libnvidia-ml.so.1");

	nvml->library = l;
	*(void **)&nvml->init = sim_api_call(l, "nvmlInit_v2");
	*(void **)&nvml->shutdown = sim_api_call(l, "nvmlShutdown");
	*(void **)&nvml->count = sim_api_call(l, "nvmlDeviceGetCount_v2");
	*(void **)&nvml->by_index =
	    sim_api_call(l, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&nvml->by_bus =
	    sim_api_call(l, "nvmlDeviceGetHandleByPciBusId_v2");
	*(void **)&nvml->by_uuid = sim_api_call(l, "nvmlDeviceGetHandleByUUID");
	*(void **)&nvml->uuid = sim_api_call(l, "nvmlDeviceGetUUID");
	*(void **)&nvml->generation =
	    sim_api_call(l, "nvmlDeviceGetCurrPcieLinkGeneration");
	*(void **)&nvml->clock = sim_api_call(l, "nvmlDeviceGetClockInfo");
	*(void **)&nvml->power = sim_api_call(l, "nvmlDeviceGetPowerUsage");
	*(void **)&nvml->reasons =
	    sim_api_call(l, "nvmlDeviceGetCurrentClocksEventReasons");
}

static void a_planted_error_strikes_once(void **state)
{
	struct sim_api api;
	CUdeviceptr memory;

	(void)state;
	sim_api_open(&api,
	    "{\"faults\":[{\"call\":\"cuMemAlloc_v2\",\"after\":1,"
	    "\"error\":2}]}");
	assert_int_equal(api.cuMemAlloc_v2(&memory, 64), 0);
	assert_int_equal(
	    api.cuMemAlloc_v2(&memory, 64), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(api.cuMemAlloc_v2(&memory, 64), 0);
	sim_api_close(&api);
}

static void a_sticky_error_stays(void **state)
{
	struct sim_api api;
	CUdeviceptr memory;

	(void)state;
	sim_api_open(&api,
	    "{\"faults\":[{\"call\":\"cuLaunchKernel\",\"after\":2,"
	    "\"error\":719,\"sticky\":true}]}");
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    sim_api_launch(&api, api.stream, SV_KERNEL_NULL, "", 0), 0);
	assert_int_equal(
	    sim_api_launch(&api, api.stream, SV_KERNEL_NULL, "", 0), 719);
	assert_int_equal(api.cuMemAlloc_v2(&memory, 64), 719);
	assert_int_equal(api.cuStreamSynchronize(api.stream), 719);
	sim_api_close(&api);
}

static sigjmp_buf out_of_hang;

static void leave_hang(int signo)
{
	siglongjmp(out_of_hang, signo);
}

static void a_hang_hangs(void **state)
{
	struct sim_api api;
	volatile bool hung = false;

	(void)state;
	sim_api_open(&api,
	    "{\"faults\":[{\"call\":\"cuCtxSynchronize\",\"hang\":true}]}");
	signal(SIGALRM, leave_hang);
	if (sigsetjmp(out_of_hang, 1) == 0) {
		hung = true;
		alarm(1);
		api.cuCtxSynchronize();
		hung = false;
	}
	signal(SIGALRM, SIG_DFL);
	assert_true(hung);
	/* The rest of the driver still answers, as a real one's may. */
	assert_int_equal(api.cuStreamSynchronize(api.stream), 0);
	sim_api_close(&api);
}

static void a_library_that_was_not_started_says_so(void **state)
{
	struct sim_api api;
	int version, count;

	(void)state;
	sim_api_load(&api, NULL);
	assert_int_equal(
	    api.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
	assert_int_equal(api.cuDriverGetVersion(&version), 0);
	assert_int_equal(version, 13000);
	sim_api_close(&api);
}

static void entry_points_are_found_by_version(void **state)
{
	struct sim_api api;
	CUdriverProcAddressQueryResult result;
	void *found = NULL;

	(void)state;
	sim_api_open(&api, "{\"driver\":{\"cuda\":12040}}");
	assert_int_equal(api.cuGetProcAddress_v2(
			     "cuEventElapsedTime", &found, 12000, 0, &result),
	    0);
	assert_ptr_equal(found, dlsym(api.cuda, "cuEventElapsedTime"));
	assert_int_equal(
	    api.cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &result),
	    0);
	assert_ptr_equal(found, dlsym(api.cuda, "cuMemAlloc_v2"));
	assert_int_equal(
	    api.cuGetProcAddress_v2("cuNonesuch", &found, 12000, 0, &result),
	    0);
	assert_null(found);
	assert_int_equal(result, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	assert_int_equal(api.cuGetProcAddress_v2(
			     "cuEventElapsedTime", &found, 12080, 0, &result),
	    CUDA_ERROR_INVALID_VALUE);
	sim_api_close(&api);
}

static void names_of_first_device(
    const char *visible, const char *order, int count, const char *name)
{
	struct sim_api api;
	char got[128];
	int found = 0, rc;

	if (visible != NULL)
		setenv("CUDA_VISIBLE_DEVICES", visible, 1);
	if (order != NULL)
		setenv("CUDA_DEVICE_ORDER", order, 1);
	sim_api_load(&api, TWO_CARDS);
	rc = api.cuInit(0);
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("CUDA_DEVICE_ORDER");
	assert_int_equal(rc, count == 0 ? CUDA_ERROR_NO_DEVICE : 0);
	if (rc == 0) {
		api.cuDeviceGetCount(&found);
		assert_int_equal(found, count);
		api.cuDeviceGetName(got, sizeof got, 0);
		assert_string_equal(got, name);
	}
	sim_api_close(&api);
}

static void devices_are_chosen_as_the_environment_says(void **state)
{
	(void)state;
	names_of_first_device(NULL, NULL, 2, "Fast (simulated)");
	names_of_first_device(NULL, "PCI_BUS_ID", 2, "Slow (simulated)");
	names_of_first_device("1", NULL, 1, "Slow (simulated)");
	names_of_first_device("1,7,0", NULL, 1, "Slow (simulated)");
	names_of_first_device("1,0", NULL, 2, "Slow (simulated)");
	names_of_first_device("", NULL, 0, NULL);
	names_of_first_device("-1", NULL, 0, NULL);
	names_of_first_device("0,0", NULL, 0, NULL);
	names_of_first_device("GPU-00000000-0000-0000-0000-0000000000b1", NULL,
	    1, "Slow (simulated)");
	names_of_first_device("GPU-0", NULL, 0, NULL); /* two begin so */
	names_of_first_device("MIG-00000000-0000-0000-0000-0000000000d1", NULL,
	    1, "Fast (simulated)");
	names_of_first_device(
	    "MIG-00000000-0000-0000-0000-0000000000b1", NULL, 0, NULL);
}

static void nvml_lists_devices_by_their_bus(void **state)
{
	struct sim_api api;
	struct nvml nvml;
	unsigned count;
	void *device, *same;
	char uuid[64];

	(void)state;
	sim_api_open(&api, TWO_CARDS);
	open_nvml(&nvml);
	assert_int_equal(nvml.count(&count), 1); /* not started */
	assert_int_equal(nvml.init(), 0);
	assert_int_equal(nvml.count(&count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(nvml.by_index(0, &device), 0);
	assert_int_equal(nvml.uuid(device, uuid, sizeof uuid), 0);
	assert_string_equal(uuid, "GPU-00000000-0000-0000-0000-0000000000b1");
	assert_int_equal(nvml.by_bus("00000000:01:00.0", &same), 0);
	assert_ptr_equal(same, device);
	assert_int_equal(
	    nvml.by_uuid("MIG-00000000-0000-0000-0000-0000000000d1", &same), 0);
	assert_int_not_equal(nvml.by_bus("0000:02:00.0", &same), 0);
	assert_int_equal(nvml.shutdown(), 0);
	dlclose(nvml.library);
	sim_api_close(&api);
}

static void peers_copy_at_the_planted_rate(void **state)
{
	struct sim_api api;
	CUcontext slow;
	CUdeviceptr here, there;
	CUevent from, to;
	size_t bytes = (size_t)64 << 20;
	uint32_t value;
	int can;

	(void)state;
	sim_api_open(&api, TWO_CARDS); /* on the fast one */
	api.cuDeviceCanAccessPeer(&can, 1, 0);
	assert_int_equal(can, 1);
	api.cuDeviceCanAccessPeer(&can, 0, 1);
	assert_int_equal(can, 0);
	there = sim_api_alloc(&api, bytes);
	assert_int_equal(api.cuDevicePrimaryCtxRetain(&slow, 1), 0);
	assert_int_equal(api.cuCtxEnablePeerAccess(slow, 0),
	    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
	api.cuCtxSetCurrent(slow);
	here = sim_api_alloc(&api, bytes);
	assert_int_equal(api.cuCtxEnablePeerAccess(api.context, 0), 0);
	api.cuMemsetD32Async(here, 123, bytes / 4, NULL);
	api.cuCtxSynchronize();
	from = sim_api_event(&api, NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(api.cuMemcpyPeerAsync(there, api.context, here,
				     slow, bytes, NULL),
		    0);
	to = sim_api_event(&api, NULL);
	assert_near(4.0 * (double)bytes / sim_api_seconds(&api, from, to),
	    2.1e10, 0.01);
	api.cuMemcpyDtoH_v2(&value, there + bytes - 4, 4);
	assert_int_equal(value, 123);
	api.cuDevicePrimaryCtxRelease_v2(1);
	api.cuCtxSetCurrent(api.context);
	sim_api_close(&api);
}

static void nvml_refuses_as_planted(void **state)
{
	static const struct {
		const char *changes;
		int init, read;
	} modes[] = {{NULL, 0, 0}, {"{\"modes\":{\"nvml\":\"absent\"}}", 12, 1},
	    {"{\"modes\":{\"nvml\":\"no_permission\"}}", 0, 4},
	    {"{\"modes\":{\"nvml\":\"lost\"}}", 0, 15},
	    {"{\"faults\":[{\"call\":\"nvmlDeviceGetPowerUsage\","
	     "\"error\":3}]}",
		0, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		struct sim_api api;
		struct nvml nvml;
		void *device = NULL;
		unsigned power;

		sim_api_open(&api, modes[i].changes);
		open_nvml(&nvml);
		assert_int_equal(nvml.init(), modes[i].init);
		nvml.by_index(0, &device);
		assert_int_equal(nvml.power(device, &power), modes[i].read);
		dlclose(nvml.library);
		sim_api_close(&api);
	}
}

static void link_and_clocks_follow_the_load(void **state)
{
	struct sim_api api;
	struct nvml nvml;
	struct svk_busy_args busy = {1000000};
	unsigned generation, clock;
	unsigned long long reasons;
	void *device;

	(void)state;
	sim_api_open(&api, NULL);
	open_nvml(&nvml);
	nvml.init();
	nvml.by_index(0, &device);
	nvml.generation(device, &generation);
	nvml.reasons(device, &reasons);
	assert_int_equal(generation, 1);
	assert_int_equal(reasons, 1);
	sim_api_launch(&api, api.stream, SV_KERNEL_BUSY, &busy, sizeof busy);
	nvml.generation(device, &generation);
	nvml.clock(device, 1, &clock);
	nvml.reasons(device, &reasons);
	assert_int_equal(generation, 4);
	assert_int_equal(clock, 2500);
	assert_int_equal(reasons, 0);
	dlclose(nvml.library);
	sim_api_close(&api);
}

static void a_card_that_throttles_slows_down_and_says_why(void **state)
{
	struct sim_api api;
	struct nvml nvml;
	void *library, *handle, *device;
	int (*create)(void **);
	int (*set_stream)(void *, CUstream);
	int (*gemm)(void *, int, int, int, int, int, const void *, const void *,
	    int, int, const void *, int, int, const void *, void *, int, int,
	    int, int);
	const float one = 1, zero = 0;
	unsigned long long reasons;
	void *a, *b, *c;
	double first = 0, last = 0;

	(void)state;
	sim_api_open(&api, "{\"throttle\":{\"after_s\":0.05,\"factor\":0.5,"
			   "\"reason\":\"hw_thermal\"}}");
	open_nvml(&nvml);
	nvml.init();
	nvml.by_index(0, &device);
	library = sim_api_library("libcublas.so.13");
	*(void **)&create = sim_api_call(library, "cublasCreate_v2");
	*(void **)&set_stream = sim_api_call(library, "cublasSetStream_v2");
	*(void **)&gemm = sim_api_call(library, "cublasGemmEx");
	create(&handle);
	set_stream(handle, api.stream);
	a = (void *)(uintptr_t)sim_api_alloc(&api, (size_t)64 << 20);
	b = (void *)(uintptr_t)sim_api_alloc(&api, (size_t)64 << 20);
	c = (void *)(uintptr_t)sim_api_alloc(&api, (size_t)64 << 20);
	for (int i = 0; i < 30; i++) {
		CUevent from = sim_api_event(&api, api.stream), to;

		assert_int_equal(
		    gemm(handle, 0, 0, 4096, 4096, 4096, &one, a, 0, 4096, b, 0,
			4096, &zero, c, 0, 4096, 68, -1),
		    0);
		to = sim_api_event(&api, api.stream);
		last = sim_api_seconds(&api, from, to);
		if (i == 0)
			first = last;
	}
	assert_near(last / first, 2, 0.01);
	nvml.reasons(device, &reasons);
	assert_int_equal(reasons, 0x48);
	dlclose(library);
	dlclose(nvml.library);
	sim_api_close(&api);
}

static void a_card_far_away_is_slower(void **state)
{
	struct sim_api api;
	CUdeviceptr memory;
	CUevent from, to;
	void *host;

	(void)state;
	setenv("STAVE_SIM_HOST", "far", 1);
	sim_api_open(&api, "{\"pcie\":{\"far_node_factor\":0.5}}");
	memory = sim_api_alloc(&api, (size_t)64 << 20);
	api.cuMemHostAlloc(&host, (size_t)64 << 20, 0);
	from = sim_api_event(&api, api.stream);
	api.cuMemcpyHtoDAsync_v2(memory, host, (size_t)64 << 20, api.stream);
	to = sim_api_event(&api, api.stream);
	unsetenv("STAVE_SIM_HOST");
	assert_near((double)(64 << 20) / sim_api_seconds(&api, from, to),
	    1.25e10, 0.01);
	sim_api_close(&api);
}

static void wrong_device_files_are_refused(void **state)
{
	static const char *const wrong[] = {
	    "{\"pcie\":{\"h2d_Bps\":-1}}",
	    "{\"pcie\":{\"h2d_bps\":1e9}}",
	    "{\"launch\":{\"queue_depth\":1.5}}",
	    "{\"memory_bytes\":null}",
	    "{\"uuid\":\"GPU-1\"}",
	    "{\"compute_capability\":[8]}",
	    "{\"modes\":{\"nvml\":\"fine\"}}",
	    "{\"faults\":[{\"call\":\"cuInit\"}]}",
	    "{\"peers\":[{\"device\":0,\"Bps\":1e9,\"latency_s\":0}]}",
	    "{\"devices\":[]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct sim_api api;

		sim_api_load(&api, wrong[i]);
		assert_int_equal(api.cuInit(0), CUDA_ERROR_UNKNOWN);
		sim_api_close(&api);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_planted_error_strikes_once),
	    cmocka_unit_test(a_sticky_error_stays),
	    cmocka_unit_test(a_hang_hangs),
	    cmocka_unit_test(a_library_that_was_not_started_says_so),
	    cmocka_unit_test(entry_points_are_found_by_version),
	    cmocka_unit_test(devices_are_chosen_as_the_environment_says),
	    cmocka_unit_test(nvml_lists_devices_by_their_bus),
	    cmocka_unit_test(peers_copy_at_the_planted_rate),
	    cmocka_unit_test(nvml_refuses_as_planted),
	    cmocka_unit_test(link_and_clocks_follow_the_load),
	    cmocka_unit_test(a_card_that_throttles_slows_down_and_says_why),
	    cmocka_unit_test(a_card_far_away_is_slower),
	    cmocka_unit_test(wrong_device_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
