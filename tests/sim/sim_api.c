/*
 * Opens the simulated libraries for a test. The card's numbers are round and
 * differ from each other, so that a wrong one shows.
 */
#include "sim_api.h"

#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels.h"

static const char card[] =
    "{\"name\":\"Test card (simulated)\",\"compute_capability\":[8,9],"
    "\"multiprocessors\":128,\"sm_clock_Hz\":2.5e9,"
    "\"memory_bytes\":8589934592,\"memory_bandwidth_Bps\":1.0e12,"
    "\"l2_bytes\":75497472,"
    "\"uuid\":\"GPU-00000000-0000-0000-0000-0000000000a1\","
    "\"pci_address\":\"0000:01:00.0\","
    "\"pcie\":{\"generation\":4,\"width\":16,\"max_generation\":4,"
    "\"max_width\":16,\"h2d_Bps\":2.5e10,\"d2h_Bps\":2.6e10,"
    "\"bidir_Bps\":4.4e10,\"pageable_h2d_Bps\":1.1e10,"
    "\"pageable_d2h_Bps\":9e9,\"latency_s\":1.0e-6,"
    "\"idle_generation\":1},"
    "\"launch\":{\"submit_s\":2.2e-6,\"floor_s\":1.8e-6,"
    "\"queue_depth\":64,\"graph_node_s\":1.1e-6,\"first_s\":3e-3},"
    "\"sync\":{\"spin_s\":1.5e-6,\"yield_s\":2.0e-6,\"block_s\":2.5e-5,"
    "\"readback_s\":7e-6},"
    "\"alloc\":{\"alloc_s\":9e-5,\"alloc_s_per_byte\":1e-13,"
    "\"free_s\":1.4e-4,\"pool_alloc_s\":6e-7,\"trim_s\":3e-4},"
    "\"gemm\":{\"peak_flops\":{\"fp32\":8.2e13,\"tf32\":8.0e13,"
    "\"fp16\":1.65e14,\"bf16\":1.6e14,\"fp64\":1.3e12},"
    "\"half_size\":1024},"
    "\"power\":{\"limit_w\":450,\"default_w\":450,\"max_w\":600}}";

static void write_file(struct sim_api *api, const char *changes)
{
	json_t *root = json_loads(card, 0, NULL), *more;

	assert_non_null(root);
	if (changes != NULL) {
		more = json_loads(changes, 0, NULL);
		assert_non_null(more);
		if (json_object_get(more, "devices") != NULL) {
			json_t *value;
			size_t i;

			json_array_foreach (
			    json_object_get(more, "devices"), i, value) {
				json_t *copy = json_deep_copy(root);

				json_object_update_recursive(copy, value);
				json_array_set_new(
				    json_object_get(more, "devices"), i, copy);
			}
			json_decref(root);
			root = more;
		} else {
			json_object_update_recursive(root, more);
			json_decref(more);
		}
	}
	/* In the folder the test runs in, one a process. */
	snprintf(
	    api->file, sizeof api->file, "sim-device-%d.json", (int)getpid());
	assert_int_equal(json_dump_file(root, api->file, 0), 0);
	json_decref(root);
}

void *sim_api_library(const char *name)
{
	char path[4096];
	void *library;

	snprintf(path, sizeof path, "%s/%s", SIM_LIBRARIES, name);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		print_error("%s\n", dlerror());
	assert_non_null(library);
	return library;
}

void *sim_api_call(void *library, const char *name)
{
	void *call = dlsym(library, name);

	if (call == NULL)
		print_error("%s is missing\n", name);
	assert_non_null(call);
	return call;
}

void sim_api_load(struct sim_api *api, const char *changes)
{
	memset(api, 0, sizeof *api);
	write_file(api, changes);
	setenv("STAVE_SIM", api->file, 1);
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	api->cuda = sim_api_library("libcuda.so.1");
#define SIM_X(name) *(void **)&api->name = sim_api_call(api->cuda, #name);
	SIM_API_CALLS(SIM_X)
#undef SIM_X
}

void sim_api_open(struct sim_api *api, const char *changes)
{
	sim_api_load(api, changes);
	assert_int_equal(api->cuInit(0), 0);
	assert_int_equal(api->cuDeviceGet(&api->device, 0), 0);
	assert_int_equal(
	    api->cuDevicePrimaryCtxRetain(&api->context, api->device), 0);
	assert_int_equal(api->cuCtxSetCurrent(api->context), 0);
	assert_int_equal(
	    api->cuModuleLoadDataEx(&api->module, "image", 0, NULL, NULL), 0);
	assert_int_equal(
	    api->cuStreamCreate(&api->stream, CU_STREAM_NON_BLOCKING), 0);
}

void sim_api_close(struct sim_api *api)
{
	if (api->module != NULL)
		api->cuModuleUnload(api->module);
	if (api->stream != NULL)
		api->cuStreamDestroy_v2(api->stream);
	if (api->context != NULL)
		api->cuDevicePrimaryCtxRelease_v2(api->device);
	dlclose(api->cuda);
	unlink(api->file);
}

uint64_t sim_api_alloc(struct sim_api *api, size_t bytes)
{
	CUdeviceptr address;

	assert_int_equal(api->cuMemAlloc_v2(&address, bytes), 0);
	return address;
}

CUfunction sim_api_kernel(struct sim_api *api, const char *name)
{
	CUfunction function;

	assert_int_equal(
	    api->cuModuleGetFunction(&function, api->module, name), 0);
	return function;
}

CUresult sim_api_launch(struct sim_api *api, CUstream stream, const char *name,
    const void *args, size_t bytes)
{
	unsigned char packed[4096];
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed,
	    CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};

	memcpy(packed, args, bytes);
	return api->cuLaunchKernel(sim_api_kernel(api, name), 1, 1, 1, 32, 1, 1,
	    0, stream, NULL, extra);
}

volatile uint32_t *sim_api_hold(
    struct sim_api *api, CUstream stream, uint64_t timeout_ns)
{
	uint64_t args[2] = {0, timeout_ns};
	CUdeviceptr address;
	void *word;

	assert_int_equal(
	    api->cuMemHostAlloc(&word, 4, CU_MEMHOSTALLOC_DEVICEMAP), 0);
	*(volatile uint32_t *)word = 0;
	assert_int_equal(
	    api->cuMemHostGetDevicePointer_v2(&address, word, 0), 0);
	args[0] = address;
	assert_int_equal(
	    sim_api_launch(api, stream, "svk_hold", args, sizeof args), 0);
	return word;
}

CUevent sim_api_event(struct sim_api *api, CUstream stream)
{
	CUevent event;

	assert_int_equal(api->cuEventCreate(&event, 0), 0);
	assert_int_equal(api->cuEventRecord(event, stream), 0);
	return event;
}

double sim_api_seconds(struct sim_api *api, CUevent from, CUevent to)
{
	float ms;

	assert_int_equal(api->cuEventSynchronize(from), 0);
	assert_int_equal(api->cuEventSynchronize(to), 0);
	assert_int_equal(api->cuEventElapsedTime(&ms, from, to), 0);
	api->cuEventDestroy_v2(from);
	api->cuEventDestroy_v2(to);
	return (double)ms / 1e3;
}

int64_t sim_api_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
