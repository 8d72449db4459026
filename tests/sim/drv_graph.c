/*
 * Driver entry points: graphs, built node by node or captured from a stream.
 * A graph here is a straight line: nodes run in the order in which they were
 * added, each at the planted time of a node plus what its kernel takes above
 * an empty one. A replay is one operation of its stream.
 */
#include "drv.h"

/* Nodes hang on each other; what is instantiated shares the first of them. */
struct sim_graph {
	unsigned refs;
	struct sim_op *first, *last;
	size_t n_nodes;
	struct sim_device *device;
};

static struct sim_graph *graph_new(struct sim_device *device)
{
	struct sim_graph *graph = sim_object_new(sizeof *graph);

	graph->refs = 1;
	graph->device = device;
	return graph;
}

static void graph_unref(void *held)
{
	struct sim_graph *graph = held;
	struct sim_op *node = graph->first;

	if (--graph->refs > 0)
		return;
	for (size_t i = 0; i < graph->n_nodes; i++) {
		struct sim_op *next = node->next;

		sim_op_unref(node);
		node = next;
	}
	sim_object_free(graph);
}

static void add_node(struct sim_graph *graph, struct sim_op *take_op)
{
	if (graph->last == NULL)
		graph->first = take_op;
	else
		graph->last->next = take_op;
	graph->last = take_op;
	graph->n_nodes++;
}

bool drv_capturing(const struct sim_stream *stream)
{
	return stream->capturing != NULL;
}

void drv_submit(struct sim_op *op)
{
	if (op->stream->capturing != NULL)
		add_node(op->stream->capturing, op);
	else
		sim_op_submit(op);
}

static struct sim_graph *graph_of(CUgraph handle)
{
	return (struct sim_graph *)(void *)handle;
}

static int create(CUgraph *out)
{
	if (drv_current() == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	*out = (CUgraph)(void *)graph_new(drv_current());
	return 0;
}

CUresult CUDAAPI cuGraphCreate(CUgraph *out, unsigned int flags)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && (out == NULL || flags != 0))
		rc = CUDA_ERROR_INVALID_VALUE;
	return drv_leave(rc != 0 ? rc : create(out));
}

CUresult CUDAAPI cuGraphDestroy(CUgraph graph)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && graph == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0)
		graph_unref(graph_of(graph));
	return drv_leave(rc);
}

static int add_kernel_node(
    CUgraphNode *out, CUgraph handle, CUfunction f, void **params, void **extra)
{
	struct sim_graph *graph = graph_of(handle);
	struct sim_op *op;
	int rc;

	if (graph == NULL || f == NULL || out == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	if (graph->device->legacy == NULL)
		return CUDA_ERROR_INVALID_CONTEXT;
	rc = drv_kernel_op(graph->device->legacy,
	    (struct drv_function *)(void *)f, params, extra, &op);
	if (rc != 0)
		return rc;
	add_node(graph, op);
	*out = (CUgraphNode)(void *)op;
	return 0;
}

/* Both ABIs' parameters begin alike. */
CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph,
    const CUgraphNode *after, size_t n_after,
    const CUDA_KERNEL_NODE_PARAMS_v1 *node)
{
	int rc = drv_enter(__func__);

	(void)after;
	(void)n_after;
	if (rc == 0 && node == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	return drv_leave(rc != 0 ? rc
				 : add_kernel_node(out, graph, node->func,
				       node->kernelParams, node->extra));
}

CUresult CUDAAPI cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph,
    const CUgraphNode *after, size_t n_after,
    const CUDA_KERNEL_NODE_PARAMS *node)
{
	int rc = drv_enter(__func__);

	(void)after;
	(void)n_after;
	if (rc == 0 && node == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	return drv_leave(rc != 0 ? rc
				 : add_kernel_node(out, graph, node->func,
				       node->kernelParams, node->extra));
}

static int get_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
	const struct sim_graph *graph = graph_of(handle);
	struct sim_op *node;

	if (graph == NULL || count == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	node = graph->first;
	for (size_t i = 0; nodes != NULL && i < *count && i < graph->n_nodes;
	     i++, node = node->next)
		nodes[i] = (CUgraphNode)(void *)node;
	*count = graph->n_nodes;
	return 0;
}

CUresult CUDAAPI cuGraphGetNodes(
    CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : get_nodes(graph, nodes, count));
}

/* --- ready to run --- */

/* Shares the nodes that there are now. */
static int instantiate(CUgraphExec *out, CUgraph handle)
{
	struct sim_graph *graph = graph_of(handle), *ready;
	struct sim_op *node;

	if (graph == NULL || out == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	ready = graph_new(graph->device);
	ready->first = node = graph->first;
	ready->last = graph->last;
	ready->n_nodes = graph->n_nodes;
	for (size_t i = 0; i < graph->n_nodes; i++, node = node->next)
		sim_op_ref(node);
	*out = (CUgraphExec)(void *)ready;
	return 0;
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *out, CUgraph graph,
    CUgraphNode *error_node, char *log, size_t log_bytes)
{
	int rc = drv_enter(__func__);

	(void)error_node;
	(void)log;
	(void)log_bytes;
	return drv_leave(rc != 0 ? rc : instantiate(out, graph));
}

CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph,
    CUgraphNode *error_node, char *log, size_t log_bytes)
{
	int rc = drv_enter(__func__);

	(void)error_node;
	(void)log;
	(void)log_bytes;
	return drv_leave(rc != 0 ? rc : instantiate(out, graph));
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(
    CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
	int rc = drv_enter(__func__);

	(void)flags;
	return drv_leave(rc != 0 ? rc : instantiate(out, graph));
}

CUresult CUDAAPI cuGraphInstantiateWithParams(
    CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && params == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0)
		rc = instantiate(out, graph);
	if (rc == 0)
		params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return drv_leave(rc);
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec)
{
	int rc = drv_enter(__func__);

	if (rc == 0 && exec == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0)
		graph_unref((void *)exec);
	return drv_leave(rc);
}

CUresult CUDAAPI cuGraphUpload(CUgraphExec exec, CUstream handle)
{
	struct sim_stream *stream;
	int rc = drv_enter(__func__);

	if (rc == 0 && exec == NULL)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == 0)
		rc = drv_stream(handle, &stream);
	return drv_leave(rc);
}

static int effect_of_graph(struct sim_op *op)
{
	const struct sim_graph *graph = op->held;
	struct sim_op *node = graph->first;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < graph->n_nodes;
	     i++, node = node->next)
		rc = node->effect == NULL ? 0 : node->effect(node);
	return rc;
}

static int launch(CUgraphExec exec, CUstream handle)
{
	struct sim_graph *graph = (struct sim_graph *)(void *)exec;
	struct sim_stream *stream;
	struct sim_op *op, *node;
	bool computes = false;
	int rc = drv_stream(handle, &stream);

	if (rc != 0)
		return rc;
	if (graph == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	if (drv_capturing(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	op = sim_op_new(stream);
	node = graph->first;
	for (size_t i = 0; i < graph->n_nodes; i++, node = node->next) {
		int64_t above = node->fixed_ps + node->work_ps -
				sim_ps(op->device->is.floor_s);

		op->fixed_ps += sim_ps(op->device->is.graph_node_s);
		op->fixed_ps += above > 0 ? above : 0;
		if (node->link != SIM_NO_LINK)
			op->fixed_ps += sim_ps(node->bytes / node->bytes_per_s);
		computes |= node->n_claims > 0;
	}
	if (computes)
		sim_op_claim(op, op->device, SIM_COMPUTE);
	op->counted = true;
	op->effect = effect_of_graph;
	op->held = graph;
	op->release = graph_unref;
	graph->refs++;
	sim_op_submit(op);
	return 0;
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : launch(exec, stream));
}

/* --- capture --- */

static int begin(CUstream handle)
{
	struct sim_stream *stream;
	int rc = drv_stream(handle, &stream);

	if (rc != 0)
		return rc;
	if (stream == stream->device->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capturing != NULL)
		return CUDA_ERROR_ILLEGAL_STATE;
	stream->capturing = graph_new(stream->device);
	return 0;
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream stream)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : begin(stream));
}

CUresult CUDAAPI cuStreamBeginCapture_v2(
    CUstream stream, CUstreamCaptureMode mode)
{
	int rc = drv_enter(__func__);

	(void)mode;
	return drv_leave(rc != 0 ? rc : begin(stream));
}

static int end(CUstream handle, CUgraph *out)
{
	struct sim_stream *stream;
	int rc = drv_stream(handle, &stream);

	if (rc != 0)
		return rc;
	if (stream->capturing == NULL)
		return CUDA_ERROR_ILLEGAL_STATE;
	*out = (CUgraph)(void *)stream->capturing;
	stream->capturing = NULL;
	return 0;
}

CUresult CUDAAPI cuStreamEndCapture(CUstream stream, CUgraph *out)
{
	int rc = drv_enter(__func__);

	return drv_leave(rc != 0 ? rc : end(stream, out));
}

CUresult CUDAAPI cuStreamIsCapturing(
    CUstream handle, CUstreamCaptureStatus *out)
{
	struct sim_stream *stream = NULL;
	int rc = drv_enter(__func__);

	if (rc == 0)
		rc = drv_stream(handle, &stream);
	if (rc == 0)
		*out = drv_capturing(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE
					     : CU_STREAM_CAPTURE_STATUS_NONE;
	return drv_leave(rc);
}
