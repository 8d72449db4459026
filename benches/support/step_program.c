/* Layers, chains, memory and order of a training step; see the header. */
#include "step_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tasks.h"

#define ALIGN_ELEMENTS 64
/*
 * Activations are taken in pieces, as a caching allocator takes them: small
 * ones share a segment of 20 MiB. Source: PyTorch, CUDACachingAllocator.
 */
#define SEGMENT_BYTES  ((size_t)20 << 20)
/* Most bytes that one normalisation or addition moves. */
#define FILLER_BYTES   1e9
#define LEAST_FLOATS   64
/* A step's length for the widest layer, at which Adam does not overshoot. */
#define RATE_OVER_K    0.3f

struct layer {
	uint64_t m, n, k;
	bool trained, returns; /* has dW; has dX */
	struct sv_step_place weights, out;
	bool first, last; /* of its chain */
};

struct builder {
	struct sv_step_program *p;
	const struct sv_task *task;
	struct layer *layers;
	size_t n_layers;
	uint64_t *left; /* products of each entry that nothing has taken */
	size_t ops_room, blocks_room;
	bool out_of_memory;
	struct sv_step_op nowhere;
};

static uint64_t aligned(uint64_t elements)
{
	return (elements + ALIGN_ELEMENTS - 1) / ALIGN_ELEMENTS *
	       ALIGN_ELEMENTS;
}

/* --- growing --- */

static void *grow(
    struct builder *b, void *array, size_t n, size_t *room, size_t each)
{
	size_t more = *room * 2 + 64;
	void *grown;

	if (n < *room || b->out_of_memory)
		return array;
	grown = realloc(array, more * each);
	if (grown == NULL) {
		b->out_of_memory = true;
		return array;
	}
	*room = more;
	return grown;
}

static void add_op(struct builder *b, const struct sv_step_op *op)
{
	struct sv_step_program *p = b->p;

	p->ops = grow(b, p->ops, p->n_ops, &b->ops_room, sizeof *p->ops);
	if (!b->out_of_memory)
		p->ops[p->n_ops++] = *op;
}

/* A place for elements of an activation, in a segment or one of its own. */
static struct sv_step_place take(struct builder *b, uint64_t elements)
{
	struct sv_step_program *p = b->p;
	size_t bytes = (size_t)aligned(elements) * p->element_bytes, last;

	last = p->n_blocks - 1;
	if (last < SV_STEP_ACTIVATIONS ||
	    p->block_bytes[last] + bytes > SEGMENT_BYTES) {
		p->block_bytes = grow(b, p->block_bytes, p->n_blocks,
		    &b->blocks_room, sizeof *p->block_bytes);
		if (b->out_of_memory)
			return (struct sv_step_place){0, 0};
		last = p->n_blocks++;
		p->block_bytes[last] = 0;
	}
	p->block_bytes[last] += bytes;
	return (struct sv_step_place){last, p->block_bytes[last] - bytes};
}

/* --- layers --- */

/*
 * Take one product of this shape out of the list, if there is one: from an
 * entry behind `entry`, where files have what belongs to it, else from one
 * before it, else from itself.
 */
static bool take_product(
    struct builder *b, size_t entry, uint64_t m, uint64_t n, uint64_t k)
{
	for (size_t i = 1; i <= b->task->n_gemm; i++) {
		size_t at = (entry + i) % b->task->n_gemm;
		const struct sv_task_gemm *g = &b->task->gemm[at];

		if (b->left[at] > 0 && g->m == m && g->n == n && g->k == k) {
			b->left[at]--;
			return true;
		}
	}
	return false;
}

/* Take layers out of one entry: products with a backward product. */
static void find_layers(struct builder *b, size_t entry)
{
	const struct sv_task_gemm *g = &b->task->gemm[entry];

	while (b->left[entry] > 0) {
		struct layer *layer = &b->layers[b->n_layers];

		b->left[entry]--;
		*layer = (struct layer){.m = g->m, .n = g->n, .k = g->k};
		layer->trained = take_product(b, entry, g->k, g->n, g->m);
		layer->returns = take_product(b, entry, g->m, g->k, g->n);
		if (!layer->trained && !layer->returns) {
			b->left[entry]++;
			return;
		}
		b->n_layers++;
	}
}

/* Cut the layers into chains. */
static void chain_layers(struct builder *b)
{
	size_t length = 0;

	for (size_t i = 0; i < b->n_layers; i++) {
		struct layer *layer = &b->layers[i];
		const struct layer *before = i > 0 ? &b->layers[i - 1] : NULL;
		bool goes_on = before != NULL && layer->returns &&
			       before->m == layer->m && before->n == layer->k &&
			       length < SV_STEP_CHAIN;

		layer->first = !goes_on;
		length = goes_on ? length + 1 : 1;
		if (layer->first && i > 0)
			b->layers[i - 1].last = true;
		b->p->chains += layer->first;
	}
	if (b->n_layers > 0)
		b->layers[b->n_layers - 1].last = true;
}

static int find_all_layers(struct builder *b, struct sv_err *err)
{
	size_t products = 0;

	for (size_t i = 0; i < b->task->n_gemm; i++)
		products += (size_t)b->task->gemm[i].launches;
	b->left = calloc(b->task->n_gemm + 1, sizeof *b->left);
	b->layers = calloc(products + 1, sizeof *b->layers);
	if (b->left == NULL || b->layers == NULL)
		return sv_err_set(err, SV_ERESOURCE, "step: out of memory");
	/* What is multiplied in one strided call has no weights. */
	for (size_t i = 0; i < b->task->n_gemm; i++)
		if (b->task->gemm[i].launches == b->task->gemm[i].count)
			b->left[i] = b->task->gemm[i].count;
	for (size_t i = 0; i < b->task->n_gemm; i++)
		find_layers(b, i);
	chain_layers(b);
	for (size_t i = 0; i < b->n_layers; i++)
		if (b->layers[i].trained)
			return 0;
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "workload %s names no product whose weights are trained: a forward "
	    "product m, n, k needs one of k, n, m beside it",
	    b->task->name);
}

/* Trained weights first, so that one Adam goes over them and nothing else. */
static void place_weights(struct builder *b)
{
	struct sv_step_program *p = b->p;
	uint64_t at = 0, widest = 1;

	p->weights = calloc(b->n_layers + 1, sizeof *p->weights);
	if (p->weights == NULL) {
		b->out_of_memory = true;
		return;
	}
	for (int trained = 1; trained >= 0; trained--) {
		for (size_t i = 0; i < b->n_layers; i++) {
			struct layer *layer = &b->layers[i];
			uint64_t n = layer->n * layer->k;

			if (layer->trained != (trained == 1))
				continue;
			layer->weights = (struct sv_step_place){
			    SV_STEP_WEIGHTS, (size_t)at * p->element_bytes};
			/* Keeps variance, through a ReLU where one follows. */
			p->weights[p->n_weights++] =
			    (struct sv_step_weights){.at = layer->weights,
				.n = n,
				.scale = sqrtf((layer->last ? 3.0f : 6.0f) /
					       (float)layer->k),
				.trained = layer->trained};
			at += aligned(n);
			widest = layer->trained && layer->k > widest ? layer->k
								     : widest;
		}
		if (trained == 1)
			p->parameters = at;
	}
	p->rate = RATE_OVER_K / (float)widest;
	p->block_bytes[SV_STEP_WEIGHTS] = (size_t)at * p->element_bytes;
	p->block_bytes[SV_STEP_GRADIENTS] =
	    (size_t)p->parameters * p->element_bytes;
	p->block_bytes[SV_STEP_MASTER] =
	    p->type == SVK_FLOAT ? 0 : (size_t)p->parameters * 4;
	p->block_bytes[SV_STEP_MOMENTS] = (size_t)p->parameters * 8;
	p->block_bytes[SV_STEP_LOSSES] =
	    (ALIGN_ELEMENTS + p->chains * SVK_STEP_PARTS) * 4;
}

/* --- the step --- */

static void add_product(struct builder *b, const char *name,
    struct sv_step_place left, struct sv_step_place right,
    struct sv_step_place out, uint64_t m, uint64_t n, uint64_t k)
{
	add_op(b, &(struct sv_step_op){.kind = SV_STEP_GEMM,
		      .name = name,
		      .a = left,
		      .b = right,
		      .c = out,
		      .m = m,
		      .n = n,
		      .k = k,
		      .count = 1});
}

/* The last operation added, where there is room for one. */
static struct sv_step_op *last_op(struct builder *b)
{
	return b->p->n_ops > 0 ? &b->p->ops[b->p->n_ops - 1] : &b->nowhere;
}

/* What a chain is fed, m rows of k. */
struct features {
	struct sv_step_place at;
	uint64_t k;
};

/* Forward through one layer; *in: its input, then its output. */
static void add_forward(struct builder *b, struct layer *layer,
    struct sv_step_place *in, struct features *features, size_t chain)
{
	if (layer->first) {
		*in = take(b, layer->m * layer->k);
		*features = (struct features){*in, layer->k};
		add_op(b, &(struct sv_step_op){.kind = SV_STEP_INPUT,
			      .name = "features",
			      .c = *in,
			      .m = layer->m,
			      .k = layer->k});
	}
	layer->out = take(b, layer->m * layer->n);
	add_product(b, "forward", *in, layer->weights, layer->out, layer->m,
	    layer->n, layer->k);
	*in = layer->out;
	if (!layer->last) {
		add_op(b, &(struct sv_step_op){.kind = SV_STEP_RELU,
			      .name = "ReLU",
			      .c = layer->out,
			      .m = layer->m,
			      .n = layer->n});
		return;
	}
	add_op(b, &(struct sv_step_op){.kind = SV_STEP_LOSS,
		      .name = "loss",
		      .a = features->at,
		      .b = {SV_STEP_LOSSES,
			  (ALIGN_ELEMENTS + chain * SVK_STEP_PARTS) * 4},
		      .c = layer->out,
		      .m = layer->m,
		      .n = layer->n,
		      .k = features->k,
		      .weight = 1.0f / ((float)layer->m * (float)layer->n *
					   (float)b->p->chains),
		      /* Halves can hold it; Adam does not see the factor. */
		      .gradient_scale = 1.0f / sqrtf((float)layer->m)});
}

/* Input of layer i: the layer's before, or the chain's features. */
static struct sv_step_place input_of(
    const struct builder *b, size_t i, struct sv_step_place features)
{
	return b->layers[i].first ? features : b->layers[i - 1].out;
}

/*
 * Backward through layers [first, last]; scratch: two places, in turn for the
 * gradient that is read and the one that is written.
 */
static void add_backward(struct builder *b, size_t first, size_t last,
    struct sv_step_place features, const struct sv_step_place scratch[2])
{
	struct sv_step_place slope = b->layers[last].out;
	unsigned turn = 0;

	for (size_t i = last + 1; i-- > first;) {
		const struct layer *layer = &b->layers[i];
		struct sv_step_place in = input_of(b, i, features);

		if (layer->trained) {
			struct sv_step_place gradient = {
			    SV_STEP_GRADIENTS, layer->weights.offset_bytes};

			add_product(b, "backward, weights", in, slope, gradient,
			    layer->k, layer->n, layer->m);
			last_op(b)->transpose_a = true;
		}
		if (!layer->returns)
			continue;
		add_product(b, "backward", slope, layer->weights, scratch[turn],
		    layer->m, layer->k, layer->n);
		last_op(b)->transpose_b = true;
		slope = scratch[turn];
		turn = 1 - turn;
		if (!layer->first)
			add_op(
			    b, &(struct sv_step_op){.kind = SV_STEP_RELU_BACK,
				   .name = "ReLU, backward",
				   .a = in,
				   .c = slope,
				   .m = layer->m,
				   .n = layer->k});
	}
}

/* Products of no layer: operands that stay as they are. */
static void add_plain_products(struct builder *b)
{
	uint64_t left = 0, right = 0, out = 0;
	struct sv_step_place c;

	for (int pass = 0; pass < 2; pass++) {
		struct sv_step_place second = {
		    SV_STEP_STILL, (size_t)left * b->p->element_bytes};

		if (pass == 1 && out > 0)
			c = take(b, out);
		for (size_t i = 0; i < b->task->n_gemm; i++) {
			const struct sv_task_gemm *g = &b->task->gemm[i];
			bool strided = g->launches != g->count;
			uint64_t each = strided ? g->count : 1;
			uint64_t calls = strided ? 1 : b->left[i];

			if (calls == 0)
				continue;
			left = fmax(left, aligned(each * g->m * g->k));
			right = fmax(right, aligned(each * g->k * g->n));
			out = fmax(out, each * g->m * g->n);
			for (uint64_t j = 0; pass == 1 && j < calls; j++) {
				add_product(b, "product",
				    (struct sv_step_place){SV_STEP_STILL, 0},
				    second, c, g->m, g->n, g->k);
				last_op(b)->count = each;
			}
		}
	}
	b->p->block_bytes[SV_STEP_STILL] =
	    (size_t)(left + right) * b->p->element_bytes;
}

static void add_layers(struct builder *b)
{
	struct sv_step_place in = {0, 0}, scratch[2];
	struct features *features = calloc(b->p->chains, sizeof *features);
	uint64_t largest = 1;
	size_t chain = 0;

	if (features == NULL) {
		b->out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < b->n_layers; i++) {
		struct layer *layer = &b->layers[i];

		add_forward(b, layer, &in, &features[chain], chain);
		chain += layer->last;
		if (layer->m * layer->k > largest)
			largest = layer->m * layer->k;
	}
	add_plain_products(b);
	for (size_t i = 0; i < 2; i++)
		scratch[i] = take(b, largest);
	for (size_t last = b->n_layers; last-- > 0;) {
		size_t first = last;

		while (!b->layers[first].first)
			first--;
		add_backward(b, first, last, features[--chain].at, scratch);
		last = first;
	}
	free(features);
	add_op(b, &(struct sv_step_op){.kind = SV_STEP_SUM,
		      .name = "loss, sum",
		      .a = {SV_STEP_LOSSES, ALIGN_ELEMENTS * 4},
		      .c = {SV_STEP_LOSSES, 0},
		      .n = b->p->chains * SVK_STEP_PARTS});
	add_op(b, &(struct sv_step_op){.kind = SV_STEP_ADAM, .name = "Adam"});
}

double sv_step_op_bytes(
    const struct sv_step_program *p, const struct sv_step_op *op)
{
	double element = (double)p->element_bytes;
	double mn = (double)op->m * (double)op->n;

	switch (op->kind) {
	case SV_STEP_INPUT:
		return (double)op->m * (double)op->k * (1.0 + element);
	case SV_STEP_RELU:
		return 2.0 * element * mn;
	case SV_STEP_LOSS:
	case SV_STEP_RELU_BACK:
		return 3.0 * element * mn;
	case SV_STEP_SUM:
		return 4.0 * (double)op->n;
	case SV_STEP_ADAM:
		/* Source: method notes, section 4; mixed comes to the same. */
		return 28.0 * (double)p->parameters;
	case SV_STEP_NORM:
		return 8.0 * mn;
	case SV_STEP_ADD:
		return 12.0 * (double)op->n;
	case SV_STEP_GEMM:
		break;
	}
	return 0.0;
}

/* --- what is left of the workload's traffic and launches --- */

/* Floats that a filler of so many bytes a float takes, in rows. */
static uint64_t filler_floats(double bytes, double each)
{
	uint64_t n = (uint64_t)(bytes / each);
	uint64_t step = n >= SVK_STEP_ROW ? SVK_STEP_ROW : LEAST_FLOATS;

	n = n / step * step;
	return n > LEAST_FLOATS ? n : LEAST_FLOATS;
}

/* Put fillers between the operations there are, evenly. */
static void spread(struct builder *b, const struct sv_step_op *fillers,
    size_t n_kinds, uint64_t n)
{
	struct sv_step_program *p = b->p;
	struct sv_step_op *ops = p->ops;
	size_t n_ops = p->n_ops;

	p->ops = NULL;
	p->n_ops = b->ops_room = 0;
	for (size_t i = 0; i < n_ops; i++) {
		add_op(b, &ops[i]);
		for (uint64_t j = n * i / n_ops; j < n * (i + 1) / n_ops; j++)
			add_op(b, &fillers[j % n_kinds]);
	}
	free(ops);
}

static void add_fillers(struct builder *b, enum sv_precision precision)
{
	struct sv_step_program *p = b->p;
	double bytes = sv_task_memory_bytes(b->task, precision), each;
	uint64_t n = 0, norm, add;
	struct sv_step_place place[3];

	for (size_t i = 0; i < p->n_ops; i++)
		bytes -= sv_step_op_bytes(p, &p->ops[i]);
	bytes = fmax(bytes, 0.0);
	if (b->task->kernels > p->n_ops)
		n = b->task->kernels - p->n_ops;
	if (n < (uint64_t)ceil(bytes / FILLER_BYTES))
		n = (uint64_t)ceil(bytes / FILLER_BYTES);
	if (n == 0)
		return;
	each = bytes / (double)n;
	norm = filler_floats(each, 8.0);
	add = filler_floats(each, 12.0);
	for (size_t i = 0; i < 3; i++)
		place[i] = take(b, norm * 4 / p->element_bytes);
	const struct sv_step_op fillers[] = {
	    {.kind = SV_STEP_NORM,
		.name = "normalise",
		.a = place[0],
		.c = place[1],
		.n = norm < SVK_STEP_ROW ? norm : SVK_STEP_ROW,
		.m = norm < SVK_STEP_ROW ? 1 : norm / SVK_STEP_ROW},
	    {.kind = SV_STEP_ADD,
		.name = "add",
		.a = place[0],
		.b = place[1],
		.c = place[2],
		.n = add},
	};

	spread(b, fillers, 2, n);
}

int sv_step_program_make(const struct sv_task *task,
    enum sv_precision precision, enum svk_type type, size_t element_bytes,
    struct sv_step_program *out, struct sv_err *err)
{
	struct builder b = {.p = out, .task = task};
	int code;

	*out = (struct sv_step_program){
	    .type = type, .element_bytes = element_bytes};
	out->n_blocks = SV_STEP_ACTIVATIONS;
	b.blocks_room = SV_STEP_ACTIVATIONS;
	out->block_bytes = calloc(b.blocks_room, sizeof *out->block_bytes);
	if (out->block_bytes == NULL)
		return sv_err_set(err, SV_ERESOURCE, "step: out of memory");
	code = find_all_layers(&b, err);
	if (code == 0)
		place_weights(&b);
	if (code == 0 && !b.out_of_memory)
		add_layers(&b);
	if (code == 0 && !b.out_of_memory)
		add_fillers(&b, precision);
	if (b.out_of_memory)
		code = sv_err_set(err, SV_ERESOURCE, "step: out of memory");
	free(b.layers);
	free(b.left);
	return code;
}

void sv_step_program_fini(struct sv_step_program *p)
{
	free(p->ops);
	free(p->block_bytes);
	free(p->weights);
	*p = (struct sv_step_program){0};
}

double sv_step_program_bytes(const struct sv_step_program *p)
{
	double bytes = 0.0;

	for (size_t i = 0; i < p->n_blocks; i++)
		bytes += (double)p->block_bytes[i];
	return bytes;
}
