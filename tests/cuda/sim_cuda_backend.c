/*
 * The CUDA backend on a simulated device: what holds, waits, copies, pools
 * and graphs do, beyond what the benchmarks show. Run by with-device; the
 * clock is the simulation's, so that two seconds of holding take none.
 */
#include <string.h>

#include "cmocka_all.h"
#include "kernels.h"
#include "stave/device.h"
#include "timing.h"

#define BYTES 4096

struct fixture {
	struct sv_device *device;
	const struct sv_backend *ops;
	struct sv_stream *stream;
	struct sv_event *from, *to;
	struct sv_buffer buffer;
	struct sv_err err;
};

static int open_device(void **state)
{
	static struct fixture f;

	f = (struct fixture){.ops = sv_backend};
	if (f.ops->open(&f.device, NULL, &f.err) != 0 ||
	    f.ops->stream_new(f.device, &f.stream, &f.err) != 0 ||
	    f.ops->event_new(f.device, &f.from, &f.err) != 0 ||
	    f.ops->event_new(f.device, &f.to, &f.err) != 0 ||
	    f.ops->alloc(f.device, BYTES, &f.buffer, &f.err) != 0) {
		print_error("%s\n", f.err.text);
		return -1;
	}
	*state = &f;
	return 0;
}

static int close_device(void **state)
{
	struct fixture *f = *state;
	int code = f->ops->free(f->device, &f->buffer, &f->err);

	f->ops->event_free(f->device, f->from);
	f->ops->event_free(f->device, f->to);
	f->ops->stream_free(f->device, f->stream);
	if (code == 0)
		code = f->ops->settle(f->device, &f->err);
	f->ops->close(f->device);
	return code;
}

static void good(const struct fixture *f, int code)
{
	if (code != 0)
		print_error("%s\n", f->err.text);
	assert_int_equal(code, 0);
}

static void launch_busy(struct fixture *f, uint64_t ns)
{
	const struct svk_busy_args args = {.ns = ns};
	const struct sv_grid one = {1, 1};

	good(f, f->ops->launch(f->stream, SV_KERNEL_BUSY, one, &args,
		    sizeof args, &f->err));
}

static void what_is_queued_behind_a_hold_runs_after_its_release(void **state)
{
	struct fixture *f = *state;
	double ns;

	good(f, f->ops->hold(f->stream, &f->err));
	good(f, f->ops->event_record(f->stream, f->from, &f->err));
	launch_busy(f, 5000000);
	good(f, f->ops->event_record(f->stream, f->to, &f->err));
	assert_int_not_equal(
	    f->ops->event_elapsed_ns(f->from, f->to, &ns, &f->err), 0);
	assert_non_null(strstr(f->err.text, "CUDA_ERROR_NOT_READY"));
	good(f, f->ops->release(f->stream, &f->err));
	good(f, f->ops->stream_sync(f->stream, SV_WAIT_SPIN, &f->err));
	good(f, f->ops->event_elapsed_ns(f->from, f->to, &ns, &f->err));
	/* The kernel alone: no host time between the events. */
	assert_true(ns >= 5e6 && ns < 5.01e6);
}

static void a_hold_that_is_not_released_ends_by_itself(void **state)
{
	struct fixture *f = *state;
	uint64_t start = sv_now_ns();

	good(f, f->ops->hold(f->stream, &f->err));
	good(f, f->ops->stream_sync(f->stream, SV_WAIT_SPIN, &f->err));
	assert_true(sv_now_ns() - start >= 2000000000u);
	assert_int_equal(f->ops->release(f->stream, &f->err), SV_ETIMEOUT);
	assert_non_null(strstr(f->err.text, "hold"));
	/* And the stream works as before. */
	good(f, f->ops->hold(f->stream, &f->err));
	good(f, f->ops->release(f->stream, &f->err));
	good(f, f->ops->stream_sync(f->stream, SV_WAIT_SPIN, &f->err));
}

static void holds_can_be_used_more_often_than_there_are_flags(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 300; i++) {
		good(f, f->ops->hold(f->stream, &f->err));
		good(f, f->ops->release(f->stream, &f->err));
	}
	good(f, f->ops->stream_sync(f->stream, SV_WAIT_SPIN, &f->err));
}

static void a_second_hold_and_a_lone_release_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->ops->release(f->stream, &f->err), SV_EDEVICE);
	good(f, f->ops->hold(f->stream, &f->err));
	assert_int_equal(f->ops->hold(f->stream, &f->err), SV_EDEVICE);
	good(f, f->ops->release(f->stream, &f->err));
}

static void bytes_come_back_from_every_kind_of_memory(void **state)
{
	struct fixture *f = *state;

	for (int kind = SV_PAGEABLE; kind <= SV_MAPPED; kind++) {
		struct sv_hostmem memory;

		good(f, f->ops->host_alloc(f->device, (enum sv_memory)kind,
			    BYTES, -1, &memory, &f->err));
		memset(memory.data, kind + 1, BYTES);
		good(f, f->ops->copy(f->stream, SV_H2D, &f->buffer, 0, &memory,
			    0, BYTES, &f->err));
		good(f, f->ops->stream_sync(f->stream, SV_WAIT_SPIN, &f->err));
		memset(memory.data, 0, BYTES);
		good(f, f->ops->copy(f->stream, SV_D2H, &f->buffer, 1024,
			    &memory, 2048, 1024, &f->err));
		good(f, f->ops->stream_sync(f->stream, SV_WAIT_SPIN, &f->err));
		assert_int_equal(((char *)memory.data)[2047], 0);
		assert_int_equal(((char *)memory.data)[2048], kind + 1);
		assert_int_equal(((char *)memory.data)[3071], kind + 1);
		assert_int_equal(((char *)memory.data)[3072], 0);
		f->ops->host_free(f->device, &memory);
		assert_null(memory.token);
	}
}

static void a_read_back_comes_after_the_streams_work(void **state)
{
	const struct sv_grid grid = {4, 256};
	struct fixture *f = *state;
	const struct svk_write_args args = {
	    .dst = f->buffer.address, .n = BYTES / 4, .value = 2.5f};
	float value = 0.0f;

	launch_busy(f, 1000000);
	good(f, f->ops->launch(f->stream, SV_KERNEL_WRITE, grid, &args,
		    sizeof args, &f->err));
	good(f, f->ops->readback(f->stream, &f->buffer, BYTES - 4, &value,
		    sizeof value, SV_WAIT_SPIN, &f->err));
	assert_true(value == 2.5f);
}

static void ways_of_waiting_cost_what_they_cost(void **state)
{
	struct fixture *f = *state;
	uint64_t cost[3];

	for (int how = SV_WAIT_SPIN; how <= SV_WAIT_BLOCK; how++) {
		uint64_t start;

		good(
		    f, f->ops->can_wait(f->device, (enum sv_wait)how, &f->err));
		/* The first one changes the way. */
		good(f,
		    f->ops->device_sync(f->device, (enum sv_wait)how, &f->err));
		start = sv_now_ns();
		good(f,
		    f->ops->device_sync(f->device, (enum sv_wait)how, &f->err));
		cost[how] = sv_now_ns() - start;
	}
	assert_true(cost[SV_WAIT_SPIN] < cost[SV_WAIT_YIELD]);
	assert_true(10 * cost[SV_WAIT_YIELD] < cost[SV_WAIT_BLOCK]);
}

static void a_trimmed_pool_gives_its_memory_back(void **state)
{
	struct fixture *f = *state;
	struct sv_device_limits before, kept, after;
	struct sv_buffer block;

	f->ops->limits(f->device, &before);
	good(f, f->ops->pool_alloc(
		    f->device, f->stream, (size_t)64 << 20, &block, &f->err));
	good(f, f->ops->pool_free(f->device, f->stream, &block, &f->err));
	good(f, f->ops->stream_sync(f->stream, SV_WAIT_SPIN, &f->err));
	f->ops->limits(f->device, &kept);
	assert_true(kept.memory_free_bytes < before.memory_free_bytes);
	good(f, f->ops->pool_trim(f->device, &f->err));
	f->ops->limits(f->device, &after);
	assert_int_equal(after.memory_free_bytes, before.memory_free_bytes);
}

static void a_graphs_nodes_all_run(void **state)
{
	const struct svk_busy_args args = {.ns = 100000};
	const struct sv_grid one = {1, 1};
	struct fixture *f = *state;
	struct sv_graph *graph;
	double ns;

	good(f, f->ops->graph_new(f->device, SV_KERNEL_BUSY, one, &args,
		    sizeof args, 32, &graph, &f->err));
	good(f, f->ops->event_record(f->stream, f->from, &f->err));
	good(f, f->ops->graph_launch(f->stream, graph, &f->err));
	good(f, f->ops->event_record(f->stream, f->to, &f->err));
	good(f, f->ops->event_sync(f->to, SV_WAIT_SPIN, &f->err));
	good(f, f->ops->event_elapsed_ns(f->from, f->to, &ns, &f->err));
	assert_true(ns >= 32 * 1e5);
	f->ops->graph_free(f->device, graph);
}

static void more_memory_than_there_is_is_a_resource_error(void **state)
{
	struct fixture *f = *state;
	struct sv_buffer buffer = {0};

	assert_int_equal(
	    f->ops->alloc(f->device, (size_t)1 << 45, &buffer, &f->err),
	    SV_ERESOURCE);
	assert_non_null(strstr(
	    f->err.text, "cuMemAlloc 32768 GiB: CUDA_ERROR_OUT_OF_MEMORY"));
	assert_null(buffer.token);
}

static void an_unknown_kernel_is_unsupported(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->ops->can_kernel(f->device, "svk_nobody", &f->err),
	    SV_EUNSUPPORTED);
	assert_non_null(strstr(f->err.text, "svk_nobody"));
}

static void settling_a_good_device_says_nothing(void **state)
{
	struct fixture *f = *state;

	good(f, f->ops->settle(f->device, &f->err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		what_is_queued_behind_a_hold_runs_after_its_release),
	    cmocka_unit_test(a_hold_that_is_not_released_ends_by_itself),
	    cmocka_unit_test(holds_can_be_used_more_often_than_there_are_flags),
	    cmocka_unit_test(a_second_hold_and_a_lone_release_are_refused),
	    cmocka_unit_test(bytes_come_back_from_every_kind_of_memory),
	    cmocka_unit_test(a_read_back_comes_after_the_streams_work),
	    cmocka_unit_test(ways_of_waiting_cost_what_they_cost),
	    cmocka_unit_test(a_trimmed_pool_gives_its_memory_back),
	    cmocka_unit_test(a_graphs_nodes_all_run),
	    cmocka_unit_test(more_memory_than_there_is_is_a_resource_error),
	    cmocka_unit_test(an_unknown_kernel_is_unsupported),
	    cmocka_unit_test(settling_a_good_device_says_nothing),
	};

	return cmocka_run_group_tests(tests, open_device, close_device) != 0;
}
