/*
 * What work on a simulated card does to memory: real contents, limits, pools,
 * and that leaving out repeated work is never seen.
 */
#include "sim_api.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels.h"
#include "near.h"

#define MIB ((size_t)1 << 20)

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

static void fill(void *data, size_t bytes, uint32_t seed)
{
	uint32_t *words = data;

	for (size_t i = 0; i < bytes / 4; i++)
		words[i] = (uint32_t)i * 2654435761u + seed;
}

static bool is_filled(const void *data, size_t bytes, uint32_t seed)
{
	const uint32_t *words = data;

	for (size_t i = 0; i < bytes / 4; i++)
		if (words[i] != (uint32_t)i * 2654435761u + seed)
			return false;
	return true;
}

/* Through the device and back, many times, with changes in between. */
static void travel(struct sim_api *api, void *out, void *back, size_t bytes)
{
	CUdeviceptr memory;

	assert_int_equal(api->cuMemAlloc_v2(&memory, bytes), 0);
	for (uint32_t round = 0; round < 4; round++) {
		fill(out, bytes, round);
		/* Often enough to be known by heart. */
		for (int i = 0; i < 6; i++) {
			api->cuMemcpyHtoDAsync_v2(
			    memory, out, bytes, api->stream);
			api->cuMemcpyDtoHAsync_v2(
			    back, memory, bytes, api->stream);
		}
		api->cuStreamSynchronize(api->stream);
		assert_true(is_filled(back, bytes, round));
		/* One word, in the middle, on either side. */
		((uint32_t *)out)[bytes / 8] ^= 1;
		api->cuMemcpyHtoDAsync_v2(memory, out, bytes, api->stream);
		api->cuMemcpyDtoHAsync_v2(back, memory, bytes, api->stream);
		api->cuStreamSynchronize(api->stream);
		assert_memory_equal(out, back, bytes);
		((uint32_t *)back)[bytes / 8] ^= 2;
		api->cuMemcpyDtoHAsync_v2(back, memory, bytes, api->stream);
		api->cuStreamSynchronize(api->stream);
		assert_memory_equal(out, back, bytes);
	}
	api->cuMemFree_v2(memory);
}

static void pinned_memory_travels_unharmed(void **state)
{
	struct sim_api *api = *state;
	void *out, *back;

	api->cuMemHostAlloc(&out, 3 * MIB, 0);
	api->cuMemHostAlloc(&back, 3 * MIB, CU_MEMHOSTALLOC_WRITECOMBINED);
	travel(api, out, back, 3 * MIB);
	api->cuMemFreeHost(out);
	api->cuMemFreeHost(back);
}

static void pageable_memory_travels_unharmed(void **state)
{
	char *out = malloc(3 * MIB), *back = malloc(3 * MIB);

	travel(*state, out, back, 3 * MIB);
	free(out);
	free(back);
}

static void registered_memory_travels_unharmed(void **state)
{
	struct sim_api *api = *state;
	char *out = malloc(3 * MIB), *back = malloc(3 * MIB);

	assert_int_equal(api->cuMemHostRegister_v2(out, 3 * MIB, 0), 0);
	assert_int_equal(api->cuMemHostRegister_v2(out, 4096, 0),
	    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	travel(api, out, back, 3 * MIB);
	assert_int_equal(api->cuMemHostUnregister(out), 0);
	assert_int_equal(api->cuMemHostUnregister(out),
	    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	fill(out, 3 * MIB, 1);
	free(out);
	free(back);
}

static void memory_given_back_and_mapped_anew_is_read_anew(void **state)
{
	struct sim_api *api = *state;
	size_t bytes = 4 * MIB;
	CUdeviceptr memory = sim_api_alloc(api, bytes);
	void *back = malloc(bytes);
	char *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (uint32_t round = 0; round < 3; round++) {
		fill(out, bytes, round);
		for (int i = 0; i < 5; i++)
			api->cuMemcpyHtoDAsync_v2(
			    memory, out, bytes, api->stream);
		api->cuMemcpyDtoH_v2(back, memory, bytes);
		assert_true(is_filled(back, bytes, round));
		munmap(out, bytes);
		assert_ptr_equal(
		    mmap(out, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		    out);
	}
	munmap(out, bytes);
	free(back);
}

static void work_has_no_effect_before_it_runs(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr memory = sim_api_alloc(api, 64);
	volatile uint32_t *flag, *host;
	void *data;

	api->cuMemHostAlloc(&data, 64, 0);
	host = data;
	host[0] = 1;
	api->cuMemsetD8_v2(memory, 9, 64);
	api->cuCtxSynchronize();
	flag = sim_api_hold(api, api->stream, UINT64_C(1000000000));
	api->cuMemcpyDtoHAsync_v2(data, memory, 64, api->stream);
	assert_int_equal(host[0], 1);
	*flag = 1;
	api->cuStreamSynchronize(api->stream);
	assert_int_equal(host[0], 0x09090909);
}

static void kernels_compute_what_they_say(void **state)
{
	struct sim_api *api = *state;
	size_t n = MIB, bytes = n * sizeof(float);
	struct svk_triad_args triad = {0, 0, 0, n, 2.5F, 0};
	struct svk_write_args write = {0, n, 1.5F, 0};
	struct svk_read_args sum = {0, n, 0};
	struct svk_copy_args copy = {0, 0, n};
	float *host = malloc(bytes), result;
	double total = 0;

	triad.dst = sum.src = copy.src = sim_api_alloc(api, bytes);
	triad.a = write.dst = sim_api_alloc(api, bytes);
	triad.b = copy.dst = sim_api_alloc(api, bytes);
	sum.out = sim_api_alloc(api, sizeof result);
	for (size_t i = 0; i < n; i++)
		host[i] = (float)(i % 1000);
	api->cuMemcpyHtoD_v2(triad.b, host, bytes);
	sim_api_launch(api, api->stream, SV_KERNEL_WRITE, &write, sizeof write);
	sim_api_launch(api, api->stream, SV_KERNEL_TRIAD, &triad, sizeof triad);
	sim_api_launch(api, api->stream, SV_KERNEL_READ, &sum, sizeof sum);
	/* Overwrites what the triad was computed from. */
	sim_api_launch(api, api->stream, SV_KERNEL_COPY, &copy, sizeof copy);
	api->cuStreamSynchronize(api->stream);
	api->cuMemcpyDtoH_v2(host, copy.dst, bytes);
	for (size_t i = 0; i < n; i++) {
		assert_true(host[i] == 1.5F + 2.5F * (float)(i % 1000));
		total += (double)host[i];
	}
	api->cuMemcpyDtoH_v2(&result, sum.out, sizeof result);
	assert_near(result, total, 1e-6);
	free(host);
}

static void repeated_kernels_see_every_change(void **state)
{
	struct sim_api *api = *state;
	size_t n = 4096, bytes = n * sizeof(float);
	struct svk_triad_args args = {0, 0, 0, n, 1.0F, 0};
	float *host = calloc(n, sizeof *host);

	/* In place: every launch adds b once more. */
	args.dst = args.a = sim_api_alloc(api, bytes);
	args.b = sim_api_alloc(api, bytes);
	api->cuMemcpyHtoD_v2(args.a, host, bytes);
	for (size_t i = 0; i < n; i++)
		host[i] = (float)i;
	api->cuMemcpyHtoD_v2(args.b, host, bytes);
	for (int i = 0; i < 7; i++)
		sim_api_launch(
		    api, api->stream, SV_KERNEL_TRIAD, &args, sizeof args);
	api->cuStreamSynchronize(api->stream);
	api->cuMemcpyDtoH_v2(host, args.dst, bytes);
	for (size_t i = 0; i < n; i++)
		assert_true(host[i] == 7.0F * (float)i);
	free(host);
}

static void an_unknown_kernel_is_not_found(void **state)
{
	struct sim_api *api = *state;
	CUfunction function;

	assert_int_equal(
	    api->cuModuleGetFunction(&function, api->module, "svk_nonesuch"),
	    CUDA_ERROR_NOT_FOUND);
}

static void copies_outside_an_allocation_are_refused(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr memory = sim_api_alloc(api, 1000);
	char host[2000];

	assert_int_equal(api->cuMemcpyDtoH_v2(host, memory, 1000), 0);
	assert_int_equal(
	    api->cuMemcpyDtoH_v2(host, memory, 1001), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(api->cuMemcpyDtoH_v2(host, memory + 999, 2),
	    CUDA_ERROR_INVALID_VALUE);
	api->cuMemFree_v2(memory);
	assert_int_equal(
	    api->cuMemcpyDtoH_v2(host, memory, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(api->cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
}

static void a_kernel_astray_poisons_the_context(void **state)
{
	struct sim_api *api = *state;
	struct svk_write_args args = {0, 1024, 1, 0};

	args.dst = sim_api_alloc(api, 1024);
	assert_int_equal(sim_api_launch(api, api->stream, SV_KERNEL_WRITE,
			     &args, sizeof args),
	    0);
	assert_int_equal(
	    api->cuStreamSynchronize(api->stream), CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(api->cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void memory_runs_out_and_comes_back(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr first, second;
	size_t free_bytes, total;

	assert_int_equal(api->cuMemAlloc_v2(&first, 6000 * MIB), 0);
	assert_int_equal(
	    api->cuMemAlloc_v2(&second, 6000 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
	api->cuMemGetInfo_v2(&free_bytes, &total);
	assert_int_equal(total, 8192 * MIB);
	assert_int_equal(free_bytes, 2192 * MIB);
	assert_int_equal(api->cuMemFree_v2(first), 0);
	assert_int_equal(api->cuMemAlloc_v2(&second, 6000 * MIB), 0);
}

static void a_pool_keeps_what_comes_back_until_trimmed(void **state)
{
	struct sim_api *api = *state;
	cuuint64_t all = UINT64_MAX, reserved;
	CUmemoryPool pool;
	CUdeviceptr block, again;
	int64_t start;

	api->cuDeviceGetDefaultMemPool(&pool, api->device);
	api->cuMemPoolSetAttribute(
	    pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all);
	assert_int_equal(
	    api->cuMemAllocAsync(&block, 20 * MIB, api->stream), 0);
	assert_int_equal(api->cuMemFreeAsync(block, api->stream), 0);
	assert_int_equal(
	    api->cuMemFreeAsync(block, api->stream), CUDA_ERROR_INVALID_VALUE);
	api->cuStreamSynchronize(api->stream);
	start = sim_api_now_ns();
	for (int i = 0; i < 100; i++) {
		api->cuMemAllocAsync(&again, 20 * MIB, api->stream);
		api->cuMemFreeAsync(again, api->stream);
	}
	assert_near((double)(sim_api_now_ns() - start) / 100e9, 6e-7, 0.01);
	assert_int_equal(again, block);
	api->cuMemPoolGetAttribute(
	    pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
	assert_int_equal(reserved, 20 * MIB);
	start = sim_api_now_ns();
	assert_int_equal(api->cuMemPoolTrimTo(pool, 0), 0);
	assert_near((double)(sim_api_now_ns() - start) / 1e9, 3e-4, 0.01);
	api->cuMemPoolGetAttribute(
	    pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
	assert_int_equal(reserved, 0);
	start = sim_api_now_ns();
	api->cuMemAllocAsync(&again, 20 * MIB, api->stream);
	assert_near((double)(sim_api_now_ns() - start) / 1e9,
	    6e-7 + 9e-5 + 20 * MIB * 1e-13, 0.01);
}

static void a_pool_without_threshold_gives_back_at_a_wait(void **state)
{
	struct sim_api *api = *state;
	cuuint64_t reserved;
	CUmemoryPool pool;
	CUdeviceptr block;

	api->cuDeviceGetDefaultMemPool(&pool, api->device);
	api->cuMemAllocAsync(&block, 3 * MIB, api->stream);
	api->cuMemFreeAsync(block, api->stream);
	api->cuMemPoolGetAttribute(
	    pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
	assert_int_equal(reserved, 4 * MIB);
	api->cuStreamSynchronize(api->stream);
	api->cuMemPoolGetAttribute(
	    pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
	assert_int_equal(reserved, 0);
}

static void pieces_of_a_pool_do_not_overlap(void **state)
{
	struct sim_api *api = *state;
	CUdeviceptr blocks[64];
	uint32_t value;

	for (uint32_t i = 0; i < 64; i++) {
		api->cuMemAllocAsync(&blocks[i], 700 * (i + 1), api->stream);
		api->cuMemsetD32Async(
		    blocks[i], i, 700 * (i + 1) / 4, api->stream);
	}
	for (uint32_t i = 0; i < 64; i += 2)
		api->cuMemFreeAsync(blocks[i], api->stream);
	for (uint32_t i = 0; i < 64; i += 2) {
		api->cuMemAllocAsync(&blocks[i], 700 * (i + 1), api->stream);
		api->cuMemsetD32Async(
		    blocks[i], i, 700 * (i + 1) / 4, api->stream);
	}
	api->cuStreamSynchronize(api->stream);
	for (uint32_t i = 0; i < 64; i++) {
		api->cuMemcpyDtoH_v2(&value, blocks[i], 4);
		assert_int_equal(value, i);
		api->cuMemcpyDtoH_v2(
		    &value, blocks[i] + 700 * (i + 1) / 4 * 4 - 4, 4);
		assert_int_equal(value, i);
	}
}

#define ON_CARD(test) \
	cmocka_unit_test_setup_teardown(test, open_card, close_card)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ON_CARD(pinned_memory_travels_unharmed),
	    ON_CARD(pageable_memory_travels_unharmed),
	    ON_CARD(registered_memory_travels_unharmed),
	    ON_CARD(memory_given_back_and_mapped_anew_is_read_anew),
	    ON_CARD(work_has_no_effect_before_it_runs),
	    ON_CARD(kernels_compute_what_they_say),
	    ON_CARD(repeated_kernels_see_every_change),
	    ON_CARD(an_unknown_kernel_is_not_found),
	    ON_CARD(copies_outside_an_allocation_are_refused),
	    ON_CARD(a_kernel_astray_poisons_the_context),
	    ON_CARD(memory_runs_out_and_comes_back),
	    ON_CARD(a_pool_keeps_what_comes_back_until_trimmed),
	    ON_CARD(a_pool_without_threshold_gives_back_at_a_wait),
	    ON_CARD(pieces_of_a_pool_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
