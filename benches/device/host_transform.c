/*
 * The image kernels of support/transform_math.h on host cores: whole images
 * are shared out, each prepared as the host's own workers do it.
 */
#include "host.h"
#include "transform.h"

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void crop_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_crop_args *a = args;
	const struct svk_crop *crops = at(a->crops);
	const unsigned char *src = at(a->src);
	float *dst = at(a->dst);
	size_t bytes = (size_t)a->width * a->height * SVK_CHANNELS;

	for (size_t i = member; i < a->images; i += members) {
		const struct sv_image image = {
		    src + i * bytes, a->width, a->height};

		sv_transform_crop(&image, &crops[i], dst + i * SVK_PREPARED);
	}
}

static void elastic_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_elastic_args *a = args;
	const struct svk_crop *crops = at(a->crops);
	const float *src = at(a->src);
	float *dst = at(a->dst);

	for (size_t i = member; i < a->images; i += members)
		sv_transform_elastic(src + i * SVK_PREPARED, crops[i].seed,
		    dst + i * SVK_PREPARED);
}

static void blur_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_blur_args *a = args;
	const float *src = at(a->src);
	float *dst = at(a->dst);

	for (size_t i = member; i < a->images; i += members)
		sv_transform_blur(src + i * SVK_PREPARED, a->vertical != 0,
		    a->weights, dst + i * SVK_PREPARED);
}

static void run_crop(struct host_team *team, const void *args)
{
	host_team_run(team, crop_part, args);
}

static void run_elastic(struct host_team *team, const void *args)
{
	host_team_run(team, elastic_part, args);
}

static void run_blur(struct host_team *team, const void *args)
{
	host_team_run(team, blur_part, args);
}

const struct host_kernel host_transform_kernels[] = {
    {SV_KERNEL_CROP, true, run_crop},
    {SV_KERNEL_ELASTIC, true, run_elastic},
    {SV_KERNEL_BLUR, true, run_blur},
};
const size_t host_transform_kernels_count =
    sizeof host_transform_kernels / sizeof host_transform_kernels[0];
