/*
 * The project's image kernels: what a launch moves, and its effect, a whole
 * image at a time by the host's own code. That this is right is not what the
 * simulation tells: results are held against a reference written another way.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#include "transform.h"

#define IMAGE_BYTES (SVK_PREPARED * sizeof(float))

/* Prepare image number `image` of a lazy result. */
typedef void make_fn(struct sim_lazy *, uint64_t image, float *out);

/* Whole images for a range of a result, and of these the bytes in it. */
static void produce_images(struct sim_lazy *lazy, uint64_t from, uint64_t to,
    unsigned char *out, make_fn *make)
{
	float *whole = malloc(IMAGE_BYTES);

	if (whole == NULL)
		abort();
	for (uint64_t at = from; at < to;) {
		uint64_t image = (at - lazy->output) / IMAGE_BYTES;
		uint64_t begin = lazy->output + image * IMAGE_BYTES;
		uint64_t end =
		    begin + IMAGE_BYTES < to ? begin + IMAGE_BYTES : to;

		make(lazy, image, whole);
		memcpy(out + (at - from), (unsigned char *)whole + (at - begin),
		    end - at);
		at = end;
	}
	free(whole);
}

static struct svk_crop crop_of(struct sim_lazy *lazy, uint64_t image)
{
	struct svk_crop crop;

	memcpy(&crop,
	    sim_operand_read(lazy, 1, image * sizeof crop, sizeof crop),
	    sizeof crop);
	return crop;
}

/* Planes of an image of an earlier kernel, copied out to be aligned. */
static float *planes_of(struct sim_lazy *lazy, uint64_t image)
{
	float *planes = malloc(IMAGE_BYTES);

	if (planes == NULL)
		abort();
	memcpy(planes,
	    sim_operand_read(lazy, 0, image * IMAGE_BYTES, IMAGE_BYTES),
	    IMAGE_BYTES);
	return planes;
}

/* --- crop --- */

static uint64_t source_bytes(const struct svk_crop_args *args)
{
	return (uint64_t)args->width * args->height * SVK_CHANNELS;
}

static void crop_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	struct svk_crop_args args;

	memcpy(&args, op->args, sizeof args);
	cost->device_bytes = args.images * (source_bytes(&args) + IMAGE_BYTES);
}

static void make_crop(struct sim_lazy *lazy, uint64_t image, float *out)
{
	struct svk_crop_args args;
	struct svk_crop crop = crop_of(lazy, image);
	struct sv_image source;

	memcpy(&args, lazy->args, sizeof args);
	source.width = args.width;
	source.height = args.height;
	source.pixels = sim_operand_read(
	    lazy, 0, image * source_bytes(&args), source_bytes(&args));
	sv_transform_crop(&source, &crop, out);
}

static void produce_crop(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	produce_images(lazy, from, to, out, make_crop);
}

static int crop_effect(struct sim_op *op)
{
	struct svk_crop_args args;

	memcpy(&args, op->args, sizeof args);
	return sim_work_do(&(struct sim_work){.produce = produce_crop,
	    .output = args.dst,
	    .output_bytes = args.images * IMAGE_BYTES,
	    .in = {args.src, args.crops},
	    .in_bytes = {args.images * source_bytes(&args),
		args.images * sizeof(struct svk_crop)},
	    .n_in = 2,
	    .args = op->args,
	    .args_bytes = sizeof args});
}

/* --- elastic --- */

static void elastic_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	struct svk_elastic_args args;

	memcpy(&args, op->args, sizeof args);
	cost->device_bytes = 2 * args.images * IMAGE_BYTES;
}

static void make_elastic(struct sim_lazy *lazy, uint64_t image, float *out)
{
	struct svk_crop crop = crop_of(lazy, image);
	float *in = planes_of(lazy, image);

	sv_transform_elastic(in, crop.seed, out);
	free(in);
}

static void produce_elastic(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	produce_images(lazy, from, to, out, make_elastic);
}

static int elastic_effect(struct sim_op *op)
{
	struct svk_elastic_args args;

	memcpy(&args, op->args, sizeof args);
	return sim_work_do(&(struct sim_work){.produce = produce_elastic,
	    .output = args.dst,
	    .output_bytes = args.images * IMAGE_BYTES,
	    .in = {args.src, args.crops},
	    .in_bytes = {args.images * IMAGE_BYTES,
		args.images * sizeof(struct svk_crop)},
	    .n_in = 2,
	    .args = op->args,
	    .args_bytes = sizeof args});
}

/* --- blur --- */

static void blur_cost(const struct sim_op *op, struct sim_kernel_cost *cost)
{
	struct svk_blur_args args;

	memcpy(&args, op->args, sizeof args);
	cost->device_bytes = 2 * args.images * IMAGE_BYTES;
}

static void make_blur(struct sim_lazy *lazy, uint64_t image, float *out)
{
	struct svk_blur_args args;
	float *in = planes_of(lazy, image);

	memcpy(&args, lazy->args, sizeof args);
	sv_transform_blur(in, args.vertical != 0, args.weights, out);
	free(in);
}

static void produce_blur(
    struct sim_lazy *lazy, uint64_t from, uint64_t to, unsigned char *out)
{
	produce_images(lazy, from, to, out, make_blur);
}

static int blur_effect(struct sim_op *op)
{
	struct svk_blur_args args;

	memcpy(&args, op->args, sizeof args);
	return sim_work_do(&(struct sim_work){.produce = produce_blur,
	    .output = args.dst,
	    .output_bytes = args.images * IMAGE_BYTES,
	    .in = {args.src},
	    .in_bytes = {args.images * IMAGE_BYTES},
	    .n_in = 1,
	    .args = op->args,
	    .args_bytes = sizeof args});
}

const struct sim_kernel sim_transform_kernels[] = {
    {SV_KERNEL_CROP, sizeof(struct svk_crop_args), false, crop_cost,
	crop_effect},
    {SV_KERNEL_ELASTIC, sizeof(struct svk_elastic_args), false, elastic_cost,
	elastic_effect},
    {SV_KERNEL_BLUR, sizeof(struct svk_blur_args), false, blur_cost,
	blur_effect},
};
const size_t sim_transform_kernels_count =
    sizeof sim_transform_kernels / sizeof *sim_transform_kernels;
