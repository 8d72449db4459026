/*
 * Driver entry points: modules, kernels by name, launches. An image is taken
 * as it comes: which kernels there are, and what they do, is known from their
 * names (sim_kernels.c).
 */
#include "drv.h"

#include <stdlib.h>
#include <string.h>

#define MODULE_MAGIC UINT64_C(0x6d6f64756c65) /* "module" */

struct named {
	struct named *next;
	struct drv_function function;
};

struct drv_module {
	uint64_t magic;
	bool load_at_launch; /* lazy loading: the first launch pays */
	struct named *functions;
};

static struct drv_module *module_of(CUmodule handle)
{
	struct drv_module *module = (struct drv_module *)(void *)handle;

	return module != NULL && module->magic == MODULE_MAGIC ? module : NULL;
}

static bool lazy_loading(void)
{
	const char *wish = getenv("CUDA_MODULE_LOADING");

	if (wish != NULL)
		return strcmp(wish, "EAGER") != 0;
	/* The default changed with CUDA 12.2 on Linux. */
	return sim.config.driver_cuda >= 12020;
}

/*
 * Loading costs what makes it, together with the submission that follows,
 * the planted first launch.
 */
static void spend_load(const struct sim_device *device)
{
	if (device->is.first_s > device->is.submit_s)
		sim_spend(device->is.first_s - device->is.submit_s);
}

static int load(CUmodule *out, const void *image)
{
	struct sim_device *device = drv_current();
	struct drv_module *module;

	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (out == NULL || image == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	module = sim_object_new(sizeof *module);
	module->magic = MODULE_MAGIC;
	module->load_at_launch = lazy_loading();
	if (!module->load_at_launch)
		spend_load(device);
	*out = (CUmodule)(void *)module;
	return 0;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *out, const void *image)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : load(out, image));
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : load(out, image));
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *out, const void *image,
    unsigned int n_options, CUjit_option *options, void **values)
{
	int rc = drv_enter(__func__);

	(void)n_options;
	(void)options;
	(void)values;
	return drv_leave(rc != 0 ? rc : load(out, image));
}

/* Waits for the device: what runs may be of this module. */
static int unload(CUmodule handle)
{
	struct drv_module *module = module_of(handle);

	if (module == NULL)
		return CUDA_ERROR_INVALID_HANDLE;
	if (drv_current() != NULL)
		sim_wait_device(drv_current());
	while (module->functions != NULL) {
		struct named *gone = module->functions;

		module->functions = gone->next;
		sim_object_free(gone);
	}
	module->magic = 0;
	sim_object_free(module);
	return 0;
}

CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : unload(module));
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *out)
{
	int rc = drv_enter(__func__);

	if (rc == 0)
		*out = lazy_loading() ? CU_MODULE_LAZY_LOADING
				      : CU_MODULE_EAGER_LOADING;
	return drv_leave(rc);
}

static int get_function(CUfunction *out, CUmodule handle, const char *name)
{
	struct drv_module *module = module_of(handle);
	const struct sim_kernel *kernel;
	struct named *named;

	if (module == NULL)
		return CUDA_ERROR_INVALID_HANDLE;
	if (out == NULL || name == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	kernel = sim_kernel_find(name);
	if (kernel == NULL)
		return CUDA_ERROR_NOT_FOUND;
	for (named = module->functions; named != NULL; named = named->next)
		if (named->function.kernel == kernel)
			break;
	if (named == NULL) {
		named = sim_object_new(sizeof *named);
		named->function.kernel = kernel;
		named->function.module = module;
		named->next = module->functions;
		module->functions = named;
	}
	*out = (CUfunction)(void *)&named->function;
	return 0;
}

CUresult CUDAAPI cuModuleGetFunction(
    CUfunction *out, CUmodule module, const char *name)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : get_function(out, module, name));
}

static int function_attribute(int *out, CUfunction_attribute which)
{
	const struct sim_device *device = drv_current();

	if (device == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	switch (which) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*out = 1024;
		return 0;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*out = 32;
		return 0;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
		*out = 0;
		return 0;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*out = (int)(device->is.capability_major * 10 +
			     device->is.capability_minor);
		return 0;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult CUDAAPI cuFuncGetAttribute(
    int *out, CUfunction_attribute which, CUfunction function)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && function == NULL)
		rc = CUDA_ERROR_INVALID_HANDLE;
	return drv_leave(rc != 0 ? rc : function_attribute(out, which));
}

CUresult CUDAAPI cuFuncLoad(CUfunction function)
{
	struct drv_function *f = (struct drv_function *)(void *)function;
	int rc = drv_enter(__func__);

	if (rc == 0 && f == NULL)
		rc = CUDA_ERROR_INVALID_HANDLE;
	if (rc == 0 && f->module->load_at_launch && drv_current() != NULL) {
		spend_load(drv_current());
		f->module->load_at_launch = false;
	}
	return drv_leave(rc);
}

CUresult CUDAAPI cuFuncIsLoaded(
    CUfunctionLoadingState *out, CUfunction function)
{
	struct drv_function *f = (struct drv_function *)(void *)function;
	int rc = drv_enter(__func__);

	if (rc == 0 && f == NULL)
		rc = CUDA_ERROR_INVALID_HANDLE;
	if (rc == 0)
		*out = f->module->load_at_launch
			   ? CU_FUNCTION_LOADING_STATE_UNLOADED
			   : CU_FUNCTION_LOADING_STATE_LOADED;
	return drv_leave(rc);
}

/* --- launches --- */

/* The packed structure, whichever way it was given; NULL where it was not. */
static const void *packed_args(void **params, void **extra, size_t *bytes)
{
	const void *packed = NULL;

	*bytes = 0;
	if (params != NULL)
		return params[0];
	while (extra != NULL && *extra != CU_LAUNCH_PARAM_END) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			packed = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			*bytes = *(size_t *)extra[1];
		extra += 2;
	}
	return packed;
}

static void set_time(struct sim_op *op)
{
	const struct sim_planted *is = &op->device->is;
	struct sim_kernel_cost cost = {0};
	double seconds = is->floor_s;
	double factor = 1;

	if (op->kernel->cost != NULL)
		op->kernel->cost(op, &cost);
	seconds += cost.fixed_s;
	if (cost.host_read + cost.host_written > 0) {
		if (is->far_node_factor != 1 && sim_host_is_far(cost.host))
			factor = is->far_node_factor;
		op->link =
		    cost.host_read >= cost.host_written ? SIM_H2D : SIM_D2H;
		op->bytes = (double)(op->link == SIM_H2D ? cost.host_read
							 : cost.host_written);
		op->bytes_per_s =
		    factor * (op->link == SIM_H2D ? is->h2d_Bps : is->d2h_Bps);
		sim_op_claim(op, op->device, op->link);
	} else if (cost.device_bytes > 0) {
		seconds += (double)cost.device_bytes / is->memory_bandwidth_Bps;
		sim_op_claim(op, op->device, SIM_COMPUTE);
	}
	op->fixed_ps = sim_ps(seconds);
}

/* A hold waits for a flag in pinned memory, or until its time is over. */
static int set_hold(struct sim_op *op)
{
	uint64_t flag, timeout_ns;

	memcpy(&flag, op->args, sizeof flag);
	memcpy(&timeout_ns, op->args + sizeof flag, sizeof timeout_ns);
	if (!sim_host_is_pinned((const void *)(uintptr_t)flag, 4))
		return SIM_ILLEGAL_ADDRESS;
	op->until = SIM_UNTIL_FLAG;
	op->word = (const volatile uint32_t *)(uintptr_t)flag;
	op->timeout_ps = timeout_ns > (uint64_t)INT64_MAX / 4000
			     ? 0
			     : (int64_t)timeout_ns * 1000;
	return 0;
}

int drv_kernel_op(struct sim_stream *stream, struct drv_function *function,
    void **params, void **extra, struct sim_op **out)
{
	const struct sim_kernel *kernel = function->kernel;
	size_t bytes;
	const void *args = packed_args(params, extra, &bytes);
	struct sim_op *op;

	if ((params != NULL && extra != NULL) ||
	    (kernel->args_bytes > 0 &&
		(args == NULL ||
		    (params == NULL && bytes < kernel->args_bytes))))
		return CUDA_ERROR_INVALID_VALUE;
	op = sim_op_new(stream);
	op->counted = true;
	op->kernel = kernel;
	op->effect = sim_effect_kernel;
	if (kernel->args_bytes > 0)
		memcpy(op->args, args, kernel->args_bytes);
	if (!kernel->holds) {
		set_time(op);
	} else if (set_hold(op) != 0) {
		sim_op_unref(op);
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	}
	*out = op;
	return 0;
}

static int launch(CUfunction handle, const unsigned *grid,
    const unsigned *block, CUstream stream_handle, void **params, void **extra)
{
	struct drv_function *function = (struct drv_function *)(void *)handle;
	struct sim_stream *stream;
	struct sim_op *op;
	int rc = drv_stream(stream_handle, &stream);

	if (rc != 0)
		return rc;
	if (function == NULL)
		return CUDA_ERROR_INVALID_HANDLE;
	if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || block[0] == 0 ||
	    block[1] == 0 || block[2] == 0 ||
	    (uint64_t)block[0] * block[1] * block[2] > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	rc = drv_kernel_op(stream, function, params, extra, &op);
	if (rc != 0)
		return rc;
	if (function->module->load_at_launch) {
		spend_load(stream->device);
		function->module->load_at_launch = false;
	}
	drv_submit(op);
	return 0;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned int grid_x,
    unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
    unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
    CUstream stream, void **params, void **extra)
{
	unsigned grid[3] = {grid_x, grid_y, grid_z};
	unsigned block[3] = {block_x, block_y, block_z};
	int rc = drv_enter(__func__);

	(void)shared_bytes;
	return drv_leave(
	    rc != 0 ? rc
		    : launch(function, grid, block, stream, params, extra));
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config,
    CUfunction function, void **params, void **extra)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && config == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0) {
		unsigned grid[3] = {
		    config->gridDimX, config->gridDimY, config->gridDimZ};
		unsigned block[3] = {
		    config->blockDimX, config->blockDimY, config->blockDimZ};

		rc = launch(
		    function, grid, block, config->hStream, params, extra);
	}
	return drv_leave(rc);
}
