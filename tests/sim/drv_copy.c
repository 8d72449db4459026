/*
 * Driver entry points: copies and fills, and what each costs. Copies of
 * pinned memory run on the device's copy engines; those of pageable memory
 * wait for the stream, keep the host until they are done, and run at the
 * staged rate.
 */
#include "drv.h"

#include <string.h>

struct copy {
	uint64_t dst, src, bytes;
	struct sim_stream *stream;
	bool waits; /* the caller's host does */
};

/* The host's part of a copy between host and device. */
static const void *host_part(const struct copy *copy)
{
	uint64_t address =
	    sim_is_device_address(copy->dst) ? copy->src : copy->dst;

	return (const void *)(uintptr_t)address;
}

static int finish_now(struct sim_op *op)
{
	struct sim_device *device = op->device;

	sim_op_ref(op);
	drv_submit(op);
	sim_wait(op);
	sim_op_unref(op);
	return device->sticky;
}

static struct sim_op *new_copy(const struct copy *copy)
{
	struct sim_op *op = sim_op_new(copy->stream);

	op->effect = sim_effect_copy;
	op->dst = copy->dst;
	op->src = copy->src;
	op->amount = copy->bytes;
	return op;
}

static int copy_over_link(const struct copy *copy)
{
	const struct sim_planted *is = &copy->stream->device->is;
	bool up = sim_is_device_address(copy->src); /* to the host */
	bool pinned = sim_host_is_pinned(host_part(copy), copy->bytes);
	bool waits = copy->waits || !pinned;
	struct sim_op *op;

	if (waits && drv_capturing(copy->stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	op = new_copy(copy);
	op->link = up ? SIM_D2H : SIM_H2D;
	op->bytes = (double)copy->bytes;
	if (pinned)
		op->bytes_per_s = up ? is->d2h_Bps : is->h2d_Bps;
	else
		op->bytes_per_s =
		    up ? is->pageable_d2h_Bps : is->pageable_h2d_Bps;
	if (is->far_node_factor != 1 && sim_host_is_far(host_part(copy)))
		op->bytes_per_s *= is->far_node_factor;
	op->fixed_ps =
	    sim_ps(waits && up ? is->readback_s : is->link_latency_s);
	sim_op_claim(op, op->device, op->link);
	if (waits)
		return finish_now(op);
	op->counted = true;
	drv_submit(op);
	return 0;
}

static int copy_inside(const struct copy *copy)
{
	struct sim_op *op = new_copy(copy);

	op->counted = true;
	op->fixed_ps = sim_ps(
	    op->device->is.floor_s +
	    2 * (double)copy->bytes / op->device->is.memory_bandwidth_Bps);
	sim_op_claim(op, op->device, SIM_COMPUTE);
	drv_submit(op);
	return 0;
}

/* Straight where access is enabled, else through the host. */
static int copy_between(
    const struct copy *copy, struct sim_device *from, struct sim_device *to)
{
	struct sim_op *op = new_copy(copy);
	double seconds = from->is.link_latency_s + to->is.link_latency_s +
			 (double)copy->bytes / from->is.d2h_Bps +
			 (double)copy->bytes / to->is.h2d_Bps;

	for (size_t i = 0; i < from->n_peers; i++) {
		const struct sim_peer *peer = &from->peers[i];
		bool enabled = from->peer_enabled[to->place] ||
			       to->peer_enabled[from->place];

		if (peer->device == to->place && enabled == peer->p2p)
			seconds =
			    peer->latency_s + (double)copy->bytes / peer->Bps;
	}
	op->counted = true;
	op->fixed_ps = sim_ps(seconds);
	sim_op_claim(op, from, SIM_D2H);
	sim_op_claim(op, to, SIM_H2D);
	drv_submit(op);
	return 0;
}

static int do_copy(const struct copy *copy)
{
	bool to_device = sim_is_device_address(copy->dst);
	bool from_device = sim_is_device_address(copy->src);
	struct sim_place dst, src;

	if (copy->bytes == 0)
		return 0;
	if (sim_place_find(copy->dst, copy->bytes, &dst) != 0 ||
	    sim_place_find(copy->src, copy->bytes, &src) != 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!to_device && !from_device)
		return finish_now(new_copy(copy));
	if (to_device != from_device)
		return copy_over_link(copy);
	if (dst.span->device != src.span->device)
		return copy_between(copy, src.span->device, dst.span->device);
	return copy_inside(copy);
}

static int copy_async(
    uint64_t dst, uint64_t src, uint64_t bytes, CUstream handle)
{
	struct copy copy = {dst, src, bytes, NULL, false};
	int rc = drv_stream(handle, &copy.stream);

	return rc != 0 ? rc : do_copy(&copy);
}

static int copy_now(uint64_t dst, uint64_t src, uint64_t bytes)
{
	struct copy copy = {dst, src, bytes, NULL, true};
	int rc = drv_default_stream(&copy.stream);

	return rc != 0 ? rc : do_copy(&copy);
}

/* The side that must be the device's is. */
static int is_device(uint64_t address)
{
	return sim_is_device_address(address) ? 0 : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && bytes > 0)
		rc = is_device(dst);
	return drv_leave(
	    rc != 0 ? rc : copy_now(dst, (uint64_t)(uintptr_t)src, bytes));
}

CUresult CUDAAPI cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && bytes > 0)
		rc = is_device(src);
	return drv_leave(
	    rc != 0 ? rc : copy_now((uint64_t)(uintptr_t)dst, src, bytes));
}

CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : copy_now(dst, src, bytes));
}

CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : copy_now(dst, src, bytes));
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2(
    CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && bytes > 0)
		rc = is_device(dst);
	return drv_leave(
	    rc != 0 ? rc
		    : copy_async(dst, (uint64_t)(uintptr_t)src, bytes, stream));
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(
    void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && bytes > 0)
		rc = is_device(src);
	return drv_leave(
	    rc != 0 ? rc
		    : copy_async((uint64_t)(uintptr_t)dst, src, bytes, stream));
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2(
    CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : copy_async(dst, src, bytes, stream));
}

CUresult CUDAAPI cuMemcpyAsync(
    CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : copy_async(dst, src, bytes, stream));
}

CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src,
    CUcontext from, size_t bytes)
{
	int rc = drv_enter(__func__);

	if (rc == 0 &&
	    (drv_of_context(to) == NULL || drv_of_context(from) == NULL))
		rc = CUDA_ERROR_INVALID_CONTEXT;
	return drv_leave(rc != 0 ? rc : copy_now(dst, src, bytes));
}

CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to,
    CUdeviceptr src, CUcontext from, size_t bytes, CUstream stream)
{
	int rc = drv_enter(__func__);

	if (rc == 0 &&
	    (drv_of_context(to) == NULL || drv_of_context(from) == NULL))
		rc = CUDA_ERROR_INVALID_CONTEXT;
	return drv_leave(rc != 0 ? rc : copy_async(dst, src, bytes, stream));
}

/* --- fills --- */

static int fill_on(struct sim_stream *stream, uint64_t dst, uint32_t value,
    uint32_t width, uint64_t count)
{
	struct sim_op *op;
	uint64_t bytes = count * width;

	if (count == 0)
		return 0;
	if (dst % width != 0 || sim_span_find(dst, bytes) == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	op = sim_op_new(stream);
	op->effect = sim_effect_fill;
	op->dst = dst;
	op->amount = bytes;
	memcpy(op->args, &value, sizeof value);
	memcpy(op->args + sizeof value, &width, sizeof width);
	op->counted = true;
	op->fixed_ps =
	    sim_ps(op->device->is.floor_s +
		   (double)bytes / op->device->is.memory_bandwidth_Bps);
	sim_op_claim(op, op->device, SIM_COMPUTE);
	drv_submit(op);
	return 0;
}

static int fill_async(uint64_t dst, uint32_t value, uint32_t width,
    uint64_t count, CUstream handle)
{
	struct sim_stream *stream;
	int rc = drv_stream(handle, &stream);

	return rc != 0 ? rc : fill_on(stream, dst, value, width, count);
}

CUresult CUDAAPI cuMemsetD8_v2(
    CUdeviceptr dst, unsigned char value, size_t count)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : fill_async(dst, value, 1, count, NULL));
}

CUresult CUDAAPI cuMemsetD32_v2(
    CUdeviceptr dst, unsigned int value, size_t count)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : fill_async(dst, value, 4, count, NULL));
}

CUresult CUDAAPI cuMemsetD8Async(
    CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(
	    rc != 0 ? rc : fill_async(dst, value, 1, count, stream));
}

CUresult CUDAAPI cuMemsetD32Async(
    CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(
	    rc != 0 ? rc : fill_async(dst, value, 4, count, stream));
}
