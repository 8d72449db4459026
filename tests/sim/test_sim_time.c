/*
 * Time on a simulated card: what is planted comes back, order is kept, and
 * the host's clock is the simulation's.
 */
#include "sim_api.h"

#include <string.h>
#include <time.h>

#include "kernels.h"
#include "near.h"

#define MIB	((size_t)1 << 20)
#define HOLD_NS UINT64_C(1000000000)

static int open_card(void **state)
{
	static struct sim_api api;

	sim_api_open(&api, NULL);
	*state = &api;
	return 0;
}

static int close_card(void **state)
{
	sim_api_close(*state);
	return 0;
}

static void busy(struct sim_api *api, CUstream stream, uint64_t ns)
{
	struct svk_busy_args args = {ns};

	assert_int_equal(
	    sim_api_launch(api, stream, SV_KERNEL_BUSY, &args, sizeof args), 0);
}

static void null_kernel(struct sim_api *api, CUstream stream)
{
	assert_int_equal(sim_api_launch(api, stream, SV_KERNEL_NULL, "", 0), 0);
}

static void submitting_costs_the_host_its_time(void **state)
{
	struct sim_api *api = *state;
	int64_t start = sim_api_now_ns();

	for (int i = 0; i < 40; i++)
		null_kernel(api, api->stream);
	assert_near((double)(sim_api_now_ns() - start) / 40e9, 2.2e-6, 0.01);
}

static void empty_kernels_follow_each_other_at_the_floor(void **state)
{
	struct sim_api *api = *state;
	volatile uint32_t *flag = sim_api_hold(api, api->stream, HOLD_NS);
	CUevent from = sim_api_event(api, api->stream), to;

	for (int i = 0; i < 50; i++)
		null_kernel(api, api->stream);
	to = sim_api_event(api, api->stream);
	*flag = 1;
	assert_near(sim_api_seconds(api, from, to) / 50, 1.8e-6, 1e-5);
}

static void launch_and_wait_add_up(void **state)
{
	struct sim_api *api = *state;
	int64_t start = sim_api_now_ns();

	for (int i = 0; i < 100; i++) {
		null_kernel(api, api->stream);
		api->cuStreamSynchronize(api->stream);
	}
	assert_near((double)(sim_api_now_ns() - start) / 100e9,
	    2.2e-6 + 1.8e-6 + 1.5e-6, 0.01);
}

static void waits_cost_what_their_mode_costs(void **state)
{
	static const struct {
		unsigned flags;
		double seconds;
	} modes[] = {{CU_CTX_SCHED_SPIN, 1.5e-6}, {CU_CTX_SCHED_YIELD, 2.0e-6},
	    {CU_CTX_SCHED_BLOCKING_SYNC, 2.5e-5}};
	struct sim_api *api = *state;

	for (size_t m = 0; m < 3; m++) {
		int64_t start;

		api->cuDevicePrimaryCtxSetFlags_v2(api->device, modes[m].flags);
		start = sim_api_now_ns();
		for (int i = 0; i < 100; i++)
			api->cuCtxSynchronize();
		assert_near((double)(sim_api_now_ns() - start) / 100e9,
		    modes[m].seconds, 0.01);
	}
}

static void a_full_queue_keeps_the_host_until_there_is_room(void **state)
{
	struct sim_api *api = *state;
	int64_t before, last;

	/* One runs, 63 wait: 64 places. */
	for (int i = 0; i < 64; i++)
		busy(api, api->stream, 1000000);
	before = sim_api_now_ns();
	busy(api, api->stream, 1000000);
	last = sim_api_now_ns();
	assert_true(last - before > 500000);
	before = sim_api_now_ns();
	busy(api, api->stream, 1000000);
	assert_near((double)(sim_api_now_ns() - before), 1e6 + 1.8e3, 0.01);
}

static void a_hold_ends_when_the_flag_is_written(void **state)
{
	struct sim_api *api = *state;
	volatile uint32_t *flag = sim_api_hold(api, api->stream, HOLD_NS);
	struct timespec pause = {0, 5000000};

	null_kernel(api, api->stream);
	nanosleep(&pause, NULL);
	assert_int_equal(api->cuStreamQuery(api->stream), CUDA_ERROR_NOT_READY);
	*flag = 1;
	nanosleep(&pause, NULL);
	assert_int_equal(api->cuStreamQuery(api->stream), 0);
}

static void a_hold_nobody_releases_ends_by_its_timeout(void **state)
{
	struct sim_api *api = *state;
	int64_t start = sim_api_now_ns();

	sim_api_hold(api, api->stream, 20000000);
	api->cuStreamSynchronize(api->stream);
	assert_near((double)(sim_api_now_ns() - start), 2e7, 0.01);
}

static void a_loop_that_reads_the_clock_ends(void **state)
{
	struct sim_api *api = *state;
	int64_t start = sim_api_now_ns();

	busy(api, api->stream, 1000000);
	while (sim_api_now_ns() - start < 2000000)
		;
	assert_int_equal(api->cuStreamQuery(api->stream), 0);
}

static void streams_run_at_the_same_time(void **state)
{
	struct sim_api *api = *state;
	CUstream other;
	int64_t start = sim_api_now_ns();

	api->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
	busy(api, api->stream, 10000000);
	busy(api, other, 10000000);
	api->cuCtxSynchronize();
	assert_near((double)(sim_api_now_ns() - start), 1e7, 0.01);
	api->cuStreamDestroy_v2(other);
}

static void an_event_orders_two_streams(void **state)
{
	struct sim_api *api = *state;
	CUstream other;
	CUevent event, end;
	int64_t start = sim_api_now_ns();

	api->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
	busy(api, api->stream, 10000000);
	event = sim_api_event(api, api->stream);
	api->cuStreamWaitEvent(other, event, 0);
	busy(api, other, 10000000);
	end = sim_api_event(api, other);
	assert_int_equal(api->cuEventQuery(end), CUDA_ERROR_NOT_READY);
	assert_near(sim_api_seconds(api, event, end), 1e-2 + 1.8e-6, 1e-4);
	assert_near((double)(sim_api_now_ns() - start), 2e7, 0.01);
	api->cuStreamDestroy_v2(other);
}

static void the_default_stream_waits_for_blocking_streams(void **state)
{
	struct sim_api *api = *state;
	CUstream blocking;
	int64_t start = sim_api_now_ns();

	api->cuStreamCreate(&blocking, CU_STREAM_DEFAULT);
	busy(api, blocking, 10000000);
	busy(api, NULL, 10000000);
	busy(api, blocking, 10000000);
	busy(api, api->stream, 10000000); /* which asks nobody */
	api->cuStreamSynchronize(api->stream);
	assert_near((double)(sim_api_now_ns() - start), 1e7, 0.01);
	api->cuStreamSynchronize(blocking);
	assert_near((double)(sim_api_now_ns() - start), 3e7, 0.01);
	api->cuStreamDestroy_v2(blocking);
}

static void freeing_waits_for_the_device(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr memory;
	int64_t start;

	start = sim_api_now_ns();
	assert_int_equal(api->cuMemAlloc_v2(&memory, 256 * MIB), 0);
	assert_near((double)(sim_api_now_ns() - start) / 1e9,
	    9e-5 + 256 * MIB * 1e-13, 0.01);
	busy(api, api->stream, 10000000);
	start = sim_api_now_ns();
	assert_int_equal(api->cuMemFree_v2(memory), 0);
	assert_near(
	    (double)(sim_api_now_ns() - start) / 1e9, 1e-2 + 1.4e-4, 0.01);
}

/* Seconds of `times` copies of pinned memory, by events. */
static double copies(struct sim_api *api, bool up, size_t bytes, int times)
{
	CUdeviceptr memory;
	CUevent from, to;
	void *host;
	double seconds;

	api->cuMemHostAlloc(&host, bytes, 0);
	api->cuMemAlloc_v2(&memory, bytes);
	from = sim_api_event(api, api->stream);
	for (int i = 0; i < times; i++)
		if (up)
			api->cuMemcpyDtoHAsync_v2(
			    host, memory, bytes, api->stream);
		else
			api->cuMemcpyHtoDAsync_v2(
			    memory, host, bytes, api->stream);
	to = sim_api_event(api, api->stream);
	seconds = sim_api_seconds(api, from, to);
	api->cuMemFree_v2(memory);
	api->cuMemFreeHost(host);
	return seconds;
}

static void pinned_copies_run_at_the_planted_rates(void **state)
{
	struct sim_api *api = *state;

	assert_near(
	    4.0 * 64 * MIB / copies(api, false, 64 * MIB, 4), 2.5e10, 0.01);
	assert_near(
	    4.0 * 64 * MIB / copies(api, true, 64 * MIB, 4), 2.6e10, 0.01);
}

static void a_small_copy_takes_the_latency(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr memory;
	CUevent from, to;
	volatile uint32_t *flag;
	void *host;

	api->cuMemHostAlloc(&host, 4, 0);
	api->cuMemAlloc_v2(&memory, 4);
	flag = sim_api_hold(api, api->stream, HOLD_NS);
	from = sim_api_event(api, api->stream);
	for (int i = 0; i < 32; i++)
		api->cuMemcpyHtoDAsync_v2(memory, host, 4, api->stream);
	to = sim_api_event(api, api->stream);
	*flag = 1;
	assert_near(sim_api_seconds(api, from, to) / 32, 1e-6, 0.01);
}

static void both_directions_share_the_total(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr down, up;
	CUstream other;
	volatile uint32_t *flag;
	void *a, *b;
	CUevent from, to;
	double seconds;

	api->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
	api->cuMemHostAlloc(&a, 64 * MIB, 0);
	api->cuMemHostAlloc(&b, 64 * MIB, 0);
	api->cuMemAlloc_v2(&down, 64 * MIB);
	api->cuMemAlloc_v2(&up, 64 * MIB);
	flag = sim_api_hold(api, api->stream, HOLD_NS);
	from = sim_api_event(api, api->stream);
	api->cuStreamWaitEvent(other, from, 0);
	for (int i = 0; i < 4; i++) {
		api->cuMemcpyHtoDAsync_v2(down, a, 64 * MIB, api->stream);
		api->cuMemcpyDtoHAsync_v2(b, up, 64 * MIB, other);
	}
	to = sim_api_event(api, other);
	api->cuStreamWaitEvent(api->stream, to, 0);
	api->cuEventDestroy_v2(to);
	to = sim_api_event(api, api->stream);
	*flag = 1;
	seconds = sim_api_seconds(api, from, to);
	assert_near(8.0 * 64 * MIB / seconds, 4.4e10, 0.01);
	api->cuStreamDestroy_v2(other);
}

static void pageable_copies_keep_the_host(void **state)
{
	struct sim_api *api = *state;
	size_t bytes = 64 * MIB;
	char *host = test_malloc(bytes);
	CUdeviceptr memory;
	int64_t start;

	api->cuMemAlloc_v2(&memory, bytes);
	memset(host, 1, bytes);
	start = sim_api_now_ns();
	api->cuMemcpyHtoDAsync_v2(memory, host, bytes, api->stream);
	assert_near((double)bytes / (double)(sim_api_now_ns() - start) * 1e9,
	    1.1e10, 0.01);
	busy(api, api->stream, 10000000);
	start = sim_api_now_ns();
	api->cuMemcpyDtoHAsync_v2(host, memory, bytes, api->stream);
	assert_near((double)(sim_api_now_ns() - start) / 1e9,
	    1e-2 + (double)bytes / 9e9, 0.01);
	test_free(host);
}

static void reading_four_bytes_back_takes_the_planted_time(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr memory;
	uint32_t value;
	int64_t start;

	api->cuMemAlloc_v2(&memory, 4);
	start = sim_api_now_ns();
	for (int i = 0; i < 100; i++)
		api->cuMemcpyDtoH_v2(&value, memory, 4);
	assert_near((double)(sim_api_now_ns() - start) / 100e9, 7e-6, 0.01);
	start = sim_api_now_ns();
	for (int i = 0; i < 100; i++)
		api->cuMemcpyDtoHAsync_v2(&value, memory, 4, api->stream);
	assert_near((double)(sim_api_now_ns() - start) / 100e9, 7e-6, 0.01);
}

static void copies_overlap_with_kernels(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr memory;
	CUstream other;
	void *host;
	int64_t start;

	api->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
	api->cuMemHostAlloc(&host, 250 * MIB, 0);
	api->cuMemAlloc_v2(&memory, 250 * MIB);
	start = sim_api_now_ns();
	busy(api, api->stream, 10000000);
	api->cuMemcpyHtoDAsync_v2(memory, host, 250 * MIB, other);
	api->cuCtxSynchronize();
	assert_near((double)(sim_api_now_ns() - start) / 1e9,
	    250.0 * MIB / 2.5e10, 0.01);
	api->cuStreamDestroy_v2(other);
}

static void memory_kernels_run_at_the_memory_rate(void **state)
{
	struct sim_api *api = *state;
	struct svk_copy_args args = {0, 0, 16 * MIB};
	CUevent from, to;

	args.dst = sim_api_alloc(api, 64 * MIB);
	args.src = sim_api_alloc(api, 64 * MIB);
	from = sim_api_event(api, api->stream);
	for (int i = 0; i < 10; i++)
		sim_api_launch(
		    api, api->stream, SV_KERNEL_COPY, &args, sizeof args);
	to = sim_api_event(api, api->stream);
	assert_near(sim_api_seconds(api, from, to) / 10,
	    2.0 * 64 * MIB / 1e12 + 1.8e-6, 0.01);
}

static void mapped_memory_is_read_at_the_link_rate(void **state)
{
	struct sim_api *api = *state;
	struct svk_copy_args args = {0, 0, 16 * MIB};
	CUevent from, to;
	void *host;

	args.dst = sim_api_alloc(api, 64 * MIB);
	api->cuMemHostAlloc(&host, 64 * MIB, CU_MEMHOSTALLOC_DEVICEMAP);
	args.src = (uint64_t)(uintptr_t)host;
	from = sim_api_event(api, api->stream);
	sim_api_launch(api, api->stream, SV_KERNEL_COPY, &args, sizeof args);
	to = sim_api_event(api, api->stream);
	assert_near(64.0 * MIB / sim_api_seconds(api, from, to), 2.5e10, 0.01);
}

static void graph_nodes_take_the_planted_time(void **state)
{
	struct sim_api *api = *state;
	CUDA_KERNEL_NODE_PARAMS node = {0};
	CUgraphNode made;
	CUgraphExec exec;
	CUgraph graph;
	CUevent from, to;

	node.func = sim_api_kernel(api, SV_KERNEL_NULL);
	node.gridDimX = node.gridDimY = node.gridDimZ = 1;
	node.blockDimX = node.blockDimY = node.blockDimZ = 1;
	assert_int_equal(api->cuGraphCreate(&graph, 0), 0);
	for (int i = 0; i < 256; i++)
		assert_int_equal(api->cuGraphAddKernelNode_v2(&made, graph,
				     i == 0 ? NULL : &made, i > 0, &node),
		    0);
	assert_int_equal(api->cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
	assert_int_equal(api->cuGraphDestroy(graph), 0);
	from = sim_api_event(api, api->stream);
	assert_int_equal(api->cuGraphLaunch(exec, api->stream), 0);
	to = sim_api_event(api, api->stream);
	assert_near(sim_api_seconds(api, from, to) / 256, 1.1e-6, 0.01);
	assert_int_equal(api->cuGraphExecDestroy(exec), 0);
}

static void captured_work_runs_when_the_graph_does(void **state)
{
	struct sim_api *api = *state;
	uint32_t value = 0;
	CUdeviceptr memory;
	CUgraphExec exec;
	CUgraph graph;

	api->cuMemAlloc_v2(&memory, 64);
	api->cuStreamBeginCapture_v2(
	    api->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	assert_int_equal(api->cuMemsetD32Async(memory, 77, 16, api->stream), 0);
	assert_int_equal(api->cuStreamSynchronize(api->stream),
	    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_int_equal(api->cuStreamEndCapture(api->stream, &graph), 0);
	api->cuMemcpyDtoH_v2(&value, memory, 4);
	assert_int_equal(value, 0);
	api->cuGraphInstantiateWithFlags(&exec, graph, 0);
	api->cuGraphLaunch(exec, api->stream);
	api->cuStreamSynchronize(api->stream);
	api->cuMemcpyDtoH_v2(&value, memory, 4);
	assert_int_equal(value, 77);
	api->cuGraphExecDestroy(exec);
	api->cuGraphDestroy(graph);
}

static void loading_and_first_launch_take_the_planted_time(void **state)
{
	struct sim_api *api = *state;
	int64_t start = sim_api_now_ns();
	CUfunction function;
	CUmodule module;

	api->cuModuleLoadDataEx(&module, "image", 0, NULL, NULL);
	api->cuModuleGetFunction(&function, module, SV_KERNEL_NULL);
	api->cuLaunchKernel(
	    function, 1, 1, 1, 1, 1, 1, 0, api->stream, NULL, NULL);
	assert_near((double)(sim_api_now_ns() - start) / 1e9, 3e-3, 0.001);
	api->cuModuleUnload(module);
}

static void a_word_in_memory_holds_a_stream(void **state)
{
	struct sim_api *api = *state;
	CUstream other;
	CUdeviceptr word;

	api->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
	api->cuMemAlloc_v2(&word, 4);
	api->cuMemsetD8_v2(word, 0, 4);
	api->cuCtxSynchronize();
	assert_int_equal(api->cuStreamWaitValue32(
			     api->stream, word, 5, CU_STREAM_WAIT_VALUE_EQ),
	    0);
	null_kernel(api, api->stream);
	busy(api, other, 5000000);
	assert_int_equal(api->cuStreamWriteValue32(other, word, 5, 0), 0);
	assert_int_equal(api->cuStreamQuery(api->stream), CUDA_ERROR_NOT_READY);
	api->cuStreamSynchronize(other);
	api->cuStreamSynchronize(api->stream);
	api->cuStreamDestroy_v2(other);
}

/* A bit of everything; what the clock said after each. */
static void session(struct sim_api *api, int64_t *readings)
{
	CUdeviceptr memory;
	void *host;
	int64_t start = sim_api_now_ns();

	api->cuMemAlloc_v2(&memory, 3 * MIB + 5);
	readings[0] = sim_api_now_ns() - start;
	api->cuMemHostAlloc(&host, 3 * MIB + 5, 0);
	for (int i = 0; i < 17; i++)
		api->cuMemcpyHtoDAsync_v2(
		    memory, host, 3 * MIB + 5, api->stream);
	readings[1] = sim_api_now_ns() - start;
	for (int i = 0; i < 100; i++)
		null_kernel(api, api->stream);
	readings[2] = sim_api_now_ns() - start;
	api->cuCtxSynchronize();
	readings[3] = sim_api_now_ns() - start;
	api->cuMemFree_v2(memory);
	readings[4] = sim_api_now_ns() - start;
}

static void the_same_calls_give_the_same_times(void **state)
{
	struct sim_api api;
	int64_t first[5], second[5];

	(void)state;
	sim_api_open(&api, NULL);
	session(&api, first);
	sim_api_close(&api);
	sim_api_open(&api, NULL);
	session(&api, second);
	sim_api_close(&api);
	assert_memory_equal(first, second, sizeof first);
	assert_true(first[4] > first[0]);
}

static void the_clock_is_real_until_the_driver_starts(void **state)
{
	struct sim_api api;
	struct timespec a, b;

	(void)state;
	sim_api_load(&api, NULL);
	clock_gettime(CLOCK_MONOTONIC, &a);
	while (clock_gettime(CLOCK_MONOTONIC, &b) == 0 &&
	       b.tv_sec == a.tv_sec && b.tv_nsec - a.tv_nsec < 100000)
		;
	assert_int_equal(api.cuInit(0), 0);
	clock_gettime(CLOCK_MONOTONIC, &a);
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert_int_equal(
	    (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec, 25);
	clock_gettime(CLOCK_REALTIME, &a);
	assert_true(a.tv_sec > 1000000000);
	sim_api_close(&api);
}

#define ON_CARD(test) \
	cmocka_unit_test_setup_teardown(test, open_card, close_card)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ON_CARD(submitting_costs_the_host_its_time),
	    ON_CARD(empty_kernels_follow_each_other_at_the_floor),
	    ON_CARD(launch_and_wait_add_up),
	    ON_CARD(waits_cost_what_their_mode_costs),
	    ON_CARD(a_full_queue_keeps_the_host_until_there_is_room),
	    ON_CARD(a_hold_ends_when_the_flag_is_written),
	    ON_CARD(a_hold_nobody_releases_ends_by_its_timeout),
	    ON_CARD(a_loop_that_reads_the_clock_ends),
	    ON_CARD(streams_run_at_the_same_time),
	    ON_CARD(an_event_orders_two_streams),
	    ON_CARD(the_default_stream_waits_for_blocking_streams),
	    ON_CARD(freeing_waits_for_the_device),
	    ON_CARD(pinned_copies_run_at_the_planted_rates),
	    ON_CARD(a_small_copy_takes_the_latency),
	    ON_CARD(both_directions_share_the_total),
	    ON_CARD(pageable_copies_keep_the_host),
	    ON_CARD(reading_four_bytes_back_takes_the_planted_time),
	    ON_CARD(copies_overlap_with_kernels),
	    ON_CARD(memory_kernels_run_at_the_memory_rate),
	    ON_CARD(mapped_memory_is_read_at_the_link_rate),
	    ON_CARD(graph_nodes_take_the_planted_time),
	    ON_CARD(captured_work_runs_when_the_graph_does),
	    ON_CARD(loading_and_first_launch_take_the_planted_time),
	    ON_CARD(a_word_in_memory_holds_a_stream),
	    cmocka_unit_test(the_same_calls_give_the_same_times),
	    cmocka_unit_test(the_clock_is_real_until_the_driver_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
