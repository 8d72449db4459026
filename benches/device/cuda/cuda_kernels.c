/*
 * Kernels of the CUDA backend: the embedded images, what they have code for,
 * and launching by name, one at a time or as a graph.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_backend.h"
#include "kernels.h"
#include "timing.h"

/* The image that a first launch is measured with: its kernels do nothing. */
#define FIRST_IMAGE "launch"

static const struct sv_grid one = {1, 1};

/*
 * Code for sm_XY runs on every card of the same major capability and at least
 * its minor one; intermediate code can be made to run on all later cards.
 * Source: CUDA C++ Programming Guide, binary and PTX compatibility.
 */
bool cuda_images_suit(int major, int minor)
{
	for (size_t i = 0; cuda_image_archs[i] != 0; i++)
		if (cuda_image_archs[i] / 10 == major &&
		    cuda_image_archs[i] % 10 <= minor)
			return true;
	return cuda_image_ptx != 0 && 10 * major + minor >= cuda_image_ptx;
}

void cuda_images_describe(char *out, size_t room)
{
	size_t used = 0;

	for (size_t i = 0; cuda_image_archs[i] != 0 && used < room; i++) {
		int wrote = snprintf(out + used, room - used, "%ssm_%d",
		    i == 0 ? "" : ", ", cuda_image_archs[i]);

		used += wrote > 0 ? (size_t)wrote : 0;
	}
	if (used < room)
		snprintf(out + used, room - used,
		    " and PTX for sm_%d, made with CUDA %s", cuda_image_ptx,
		    cuda_image_toolkit);
}

/* Loading fails in ways that a user can do something about. */
static int load_failed(struct cuda_device *cuda, CUresult rc,
    const struct cuda_image *image, struct sv_err *err)
{
	char archs[256];
	struct sv_err cause;
	int code = cuda_fail(&cuda->driver, rc, &cause,
	    "cuModuleLoadDataEx of the kernels of %s", image->name);

	switch ((int)rc) {
	case CUDA_ERROR_NO_BINARY_FOR_GPU:
	case CUDA_ERROR_INVALID_IMAGE:
	case CUDA_ERROR_INVALID_SOURCE:
	case CUDA_ERROR_INVALID_PTX:
	case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
	case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
		break;
	default:
		return sv_err_set(err, code, "%s", cause.text);
	}
	cuda_images_describe(archs, sizeof archs);
	return sv_err_set(err, SV_EDEVICE,
	    "%s; the card is an sm_%d%d, its driver supports CUDA %d.%d, and "
	    "this build has code for %s: update the driver, or build with a "
	    "toolkit that suits both",
	    cause.text, cuda->major, cuda->minor, cuda->driver.version / 1000,
	    cuda->driver.version % 1000 / 10, archs);
}

static int load(struct cuda_device *cuda, const struct cuda_image *image,
    CUmodule *out, struct sv_err *err)
{
	CUresult rc = cuda->driver.module_load(out, image->data, 0, NULL, NULL);

	return rc == CUDA_SUCCESS ? 0 : load_failed(cuda, rc, image, err);
}

int cuda_modules_load(struct cuda_device *cuda, struct sv_err *err)
{
	if (cuda_images_count > CUDA_MAX_IMAGES)
		return sv_err_set(err, SV_ERESOURCE,
		    "kernels: %zu images, at most %d", cuda_images_count,
		    CUDA_MAX_IMAGES);
	for (size_t i = 0; i < cuda_images_count; i++) {
		int code = load(cuda, &cuda_images[i], &cuda->modules[i], err);

		if (code != 0)
			return code;
	}
	return 0;
}

void cuda_modules_unload(struct cuda_device *cuda)
{
	for (size_t i = 0; i < cuda_images_count && i < CUDA_MAX_IMAGES; i++) {
		if (cuda->modules[i] != NULL)
			cuda_late(cuda,
			    cuda->driver.module_unload(cuda->modules[i]),
			    "cuModuleUnload of the kernels of %s",
			    cuda_images[i].name);
		cuda->modules[i] = NULL;
	}
	cuda->n_kernels = 0;
}

/*
 * The function in whichever module has it. An empty kernel's arguments have
 * any size the caller likes, a compiled kernel's have not: there is one for
 * each.
 */
static int look_up(struct cuda_device *cuda, const char *name,
    size_t args_bytes, CUfunction *out, struct sv_err *err)
{
	char symbol[64];

	if (strcmp(name, SV_KERNEL_NULL) == 0 && args_bytes > 0)
		snprintf(symbol, sizeof symbol, "%s_%zu", name, args_bytes);
	else
		snprintf(symbol, sizeof symbol, "%s", name);
	for (size_t i = 0; i < cuda_images_count; i++) {
		CUresult rc =
		    cuda->driver.module_function(out, cuda->modules[i], symbol);

		if (rc == CUDA_SUCCESS)
			return 0;
		if (rc != CUDA_ERROR_NOT_FOUND)
			return cuda_fail(&cuda->driver, rc, err,
			    "cuModuleGetFunction %s", symbol);
	}
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "kernel %s: the CUDA backend has none of that name", symbol);
}

static int find(struct cuda_device *cuda, const char *name, size_t args_bytes,
    CUfunction *out, struct sv_err *err)
{
	struct cuda_kernel *kernel;
	int code;

	for (size_t i = 0; i < cuda->n_kernels; i++) {
		kernel = &cuda->kernels[i];
		if (kernel->args_bytes == args_bytes &&
		    strcmp(kernel->name, name) == 0) {
			*out = kernel->function;
			return 0;
		}
	}
	code = look_up(cuda, name, args_bytes, out, err);
	if (code != 0)
		return code;
	/* One more than fits is looked up again each time. */
	if (cuda->n_kernels < CUDA_MAX_KERNELS &&
	    strlen(name) < sizeof kernel->name) {
		kernel = &cuda->kernels[cuda->n_kernels++];
		snprintf(kernel->name, sizeof kernel->name, "%s", name);
		kernel->args_bytes = args_bytes;
		kernel->function = *out;
	}
	return 0;
}

int cuda_can_kernel(
    struct sv_device *device, const char *name, struct sv_err *err)
{
	CUfunction function;

	return look_up(cuda_of(device), name, 0, &function, err);
}

/* One parameter, the whole structure; NULL where there is none. */
static void *const *params_of(void **params, const void *args, size_t bytes)
{
	/* The driver copies from there and writes nothing. */
	params[0] = (void *)(uintptr_t)args;
	return bytes > 0 ? params : NULL;
}

static CUresult launch(struct cuda_driver *driver, CUfunction function,
    struct sv_grid grid, CUstream stream, const void *args, size_t args_bytes)
{
	void *params[1];

	return driver->launch(function, grid.blocks, 1, 1, grid.threads, 1, 1,
	    0, stream, (void **)(uintptr_t)params_of(params, args, args_bytes),
	    NULL);
}

int cuda_launch(struct sv_stream *stream, const char *kernel,
    struct sv_grid grid, const void *args, size_t args_bytes,
    struct sv_err *err)
{
	struct cuda_driver *driver = &stream->cuda->driver;
	CUfunction function;
	CUresult rc;
	int code = find(stream->cuda, kernel, args_bytes, &function, err);

	if (code != 0)
		return code;
	rc = launch(driver, function, grid, stream->handle, args, args_bytes);
	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(driver, rc, err, "cuLaunchKernel %s", kernel);
}

static const struct cuda_image *first_image(void)
{
	for (size_t i = 0; i < cuda_images_count; i++)
		if (strcmp(cuda_images[i].name, FIRST_IMAGE) == 0)
			return &cuda_images[i];
	return NULL;
}

/* Load, look up and launch: what the host waits for the first time. */
static int time_first(struct cuda_device *cuda, const struct cuda_image *image,
    struct sv_stream *stream, CUmodule *module, double *elapsed_ns,
    struct sv_err *err)
{
	struct cuda_driver *driver = &cuda->driver;
	CUfunction function;
	uint64_t start = sv_now_ns();
	int code = load(cuda, image, module, err);
	CUresult rc;

	if (code != 0)
		return code;
	rc = driver->module_function(&function, *module, SV_KERNEL_NULL);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(
		    driver, rc, err, "cuModuleGetFunction " SV_KERNEL_NULL);
	rc = launch(driver, function, one, stream->handle, NULL, 0);
	if (rc != CUDA_SUCCESS)
		return cuda_fail(
		    driver, rc, err, "cuLaunchKernel " SV_KERNEL_NULL);
	*elapsed_ns = (double)(sv_now_ns() - start);
	return cuda_stream_sync(stream, SV_WAIT_SPIN, err);
}

int cuda_first_launch(
    struct sv_device *device, double *elapsed_ns, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	const struct cuda_image *image = first_image();
	struct sv_stream *stream = NULL;
	CUmodule module = NULL;
	double ns = 0.0;
	CUresult rc;
	int code;

	if (image == NULL)
		return sv_err_set(err, SV_EUNSUPPORTED,
		    "this build has no kernels of " FIRST_IMAGE ".cu");
	if (elapsed_ns == NULL)
		return 0;
	code = cuda_stream_new(device, &stream, err);
	if (code != 0)
		return code;
	code = time_first(cuda, image, stream, &module, &ns, err);
	if (module != NULL) {
		rc = cuda->driver.module_unload(module);
		if (rc != CUDA_SUCCESS && code == 0)
			code =
			    cuda_fail(&cuda->driver, rc, err, "cuModuleUnload");
	}
	cuda_stream_free(device, stream);
	if (code == 0)
		*elapsed_ns = ns;
	return code;
}

/* A line of launches, each after the one before. */
static int add_nodes(struct cuda_driver *driver, CUgraph graph,
    const CUDA_KERNEL_NODE_PARAMS_v1 *node, size_t nodes, struct sv_err *err)
{
	CUgraphNode last = NULL;

	for (size_t i = 0; i < nodes; i++) {
		CUgraphNode added;
		CUresult rc = driver->graph_add_kernel(
		    &added, graph, i > 0 ? &last : NULL, i > 0 ? 1 : 0, node);

		if (rc != CUDA_SUCCESS)
			return cuda_fail(driver, rc, err,
			    "cuGraphAddKernelNode %zu of %zu", i + 1, nodes);
		last = added;
	}
	return 0;
}

static int instantiate(struct cuda_driver *driver, CUgraph graph, size_t nodes,
    CUgraphExec *out, struct sv_err *err)
{
	CUresult rc =
	    driver->graph_instantiate != NULL
		? driver->graph_instantiate(out, graph, 0)
		: driver->graph_instantiate_logged(out, graph, NULL, NULL, 0);

	return rc == CUDA_SUCCESS
		   ? 0
		   : cuda_fail(driver, rc, err, "%s of %zu nodes",
			 driver->graph_instantiate != NULL
			     ? "cuGraphInstantiateWithFlags"
			     : "cuGraphInstantiate",
			 nodes);
}

/*
 * The first replay brings the graph to the device, which may wait for it: not
 * behind a hold.
 */
static int replay_once(
    struct sv_device *device, struct sv_graph *graph, struct sv_err *err)
{
	struct sv_stream *stream = NULL;
	int code = cuda_stream_new(device, &stream, err);

	if (code == 0)
		code = cuda_graph_launch(stream, graph, err);
	if (code == 0)
		code = cuda_stream_sync(stream, SV_WAIT_SPIN, err);
	cuda_stream_free(device, stream);
	return code;
}

int cuda_graph_new(struct sv_device *device, const char *kernel,
    struct sv_grid grid, const void *args, size_t args_bytes, size_t nodes,
    struct sv_graph **out, struct sv_err *err)
{
	struct cuda_device *cuda = cuda_of(device);
	struct cuda_driver *driver = &cuda->driver;
	void *params[1];
	CUDA_KERNEL_NODE_PARAMS_v1 node = {.gridDimX = grid.blocks,
	    .gridDimY = 1,
	    .gridDimZ = 1,
	    .blockDimX = grid.threads,
	    .blockDimY = 1,
	    .blockDimZ = 1};
	struct sv_graph *made = NULL;
	CUgraph graph = NULL;
	CUresult rc;
	int code = find(cuda, kernel, args_bytes, &node.func, err);

	if (code != 0)
		return code;
	node.kernelParams =
	    (void **)(uintptr_t)params_of(params, args, args_bytes);
	made = calloc(1, sizeof *made);
	if (made == NULL)
		return sv_err_set(err, SV_ERESOURCE, "graph: out of memory");
	rc = driver->graph_create(&graph, 0);
	if (rc != CUDA_SUCCESS) {
		code = cuda_fail(driver, rc, err, "cuGraphCreate");
		goto free_made;
	}
	code = add_nodes(driver, graph, &node, nodes, err);
	if (code == 0)
		code = instantiate(driver, graph, nodes, &made->handle, err);
	/* What was made of it has its own copy. */
	rc = driver->graph_destroy(graph);
	if (code == 0 && rc != CUDA_SUCCESS) {
		code = cuda_fail(driver, rc, err, "cuGraphDestroy");
		cuda_late(cuda, driver->graph_exec_destroy(made->handle),
		    "cuGraphExecDestroy");
	}
	if (code == 0) {
		code = replay_once(device, made, err);
		if (code == 0) {
			*out = made;
			return 0;
		}
		cuda_late(cuda, driver->graph_exec_destroy(made->handle),
		    "cuGraphExecDestroy");
	}
free_made:
	free(made);
	return code;
}

void cuda_graph_free(struct sv_device *device, struct sv_graph *graph)
{
	struct cuda_device *cuda = cuda_of(device);

	if (graph == NULL)
		return;
	cuda_late(cuda, cuda->driver.graph_exec_destroy(graph->handle),
	    "cuGraphExecDestroy");
	free(graph);
}

int cuda_graph_launch(
    struct sv_stream *stream, struct sv_graph *graph, struct sv_err *err)
{
	struct cuda_driver *driver = &stream->cuda->driver;
	CUresult rc = driver->graph_launch(graph->handle, stream->handle);

	return rc == CUDA_SUCCESS ? 0
				  : cuda_fail(driver, rc, err, "cuGraphLaunch");
}
