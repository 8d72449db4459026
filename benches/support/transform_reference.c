/*
 * What prepared images must be, from the definitions: every value is followed
 * back to the pixels it comes from, in double precision and without a table.
 * Shares with what it checks the mixer of the seeds and nothing else. Drawing
 * what is random is here too, which needs no speed.
 */
#include <math.h>

#include "pattern.h"
#include "transform.h"

/* Bounds of the usual random resized crop. */
#define LEAST_AREA 0.08
#define WIDEST	   (4.0 / 3.0)
#define CROP_TRIES 10

struct svk_crop sv_transform_draw(
    uint32_t width, uint32_t height, uint64_t *state)
{
	struct svk_crop crop = {0.0f, 0.0f, (float)width, (float)height,
	    (uint32_t)(sv_random_next(state) & 1),
	    (uint32_t)sv_random_next(state)};

	for (int i = 0; i < CROP_TRIES; i++) {
		double area = (LEAST_AREA + (1.0 - LEAST_AREA) *
						sv_random_uniform(state)) *
			      width * height;
		double ratio =
		    exp(log(WIDEST) * (2.0 * sv_random_uniform(state) - 1.0));
		double w = floor(sqrt(area * ratio));
		double h = floor(sqrt(area / ratio));

		if (w < 1.0 || h < 1.0 || w > width || h > height)
			continue;
		crop.width = (float)w;
		crop.height = (float)h;
		crop.left =
		    (float)floor(sv_random_uniform(state) * (width - w + 1.0));
		crop.top =
		    (float)floor(sv_random_uniform(state) * (height - h + 1.0));
		break;
	}
	return crop;
}

static double clamp(double x, double last)
{
	return fmin(fmax(x, 0.0), last);
}

static double pixel(
    const struct sv_image *image, unsigned channel, double x, double y)
{
	size_t i = (size_t)clamp(x, image->width - 1.0);
	size_t j = (size_t)clamp(y, image->height - 1.0);

	return image->pixels[(j * image->width + i) * SVK_CHANNELS + channel];
}

/* A byte value of the image between its pixels. */
static double between_pixels(
    const struct sv_image *image, unsigned channel, double x, double y)
{
	x = clamp(x, image->width - 1.0);
	y = clamp(y, image->height - 1.0);
	double i = floor(x), j = floor(y), u = x - i, v = y - j;

	return (1.0 - u) * (1.0 - v) * pixel(image, channel, i, j) +
	       u * (1.0 - v) * pixel(image, channel, i + 1.0, j) +
	       (1.0 - u) * v * pixel(image, channel, i, j + 1.0) +
	       u * v * pixel(image, channel, i + 1.0, j + 1.0);
}

static double resized(const struct sv_image *image, const struct svk_crop *crop,
    unsigned channel, double x, double y)
{
	double k = crop->flip != 0 ? SVK_SIDE - 1.0 - x : x;

	return between_pixels(image, channel,
	    crop->left + (k + 0.5) * crop->width / SVK_SIDE - 0.5,
	    crop->top + (y + 0.5) * crop->height / SVK_SIDE - 0.5);
}

double sv_transform_reference_resized(
    const struct sv_image *image, unsigned channel, unsigned y, unsigned x)
{
	const struct svk_crop whole = {
	    0.0f, 0.0f, (float)image->width, (float)image->height, 0, 0};

	return resized(image, &whole, channel, x, y);
}

static double standard(const struct sv_image *image,
    const struct svk_crop *crop, unsigned channel, double x, double y)
{
	static const double mean[] = {0.485, 0.456, 0.406};
	static const double deviation[] = {0.229, 0.224, 0.225};

	return (resized(image, crop, channel, x, y) / 255.0 - mean[channel]) /
	       deviation[channel];
}

static double displacement(uint32_t seed, uint32_t axis, double x, double y)
{
	double u = x * (SVK_CONTROLS - 1) / (SVK_SIDE - 1);
	double v = y * (SVK_CONTROLS - 1) / (SVK_SIDE - 1), sum = 0.0;

	/* Every control point has a tent over its neighbours. */
	for (uint32_t j = 0; j < SVK_CONTROLS; j++)
		for (uint32_t i = 0; i < SVK_CONTROLS; i++)
			sum += fmax(0.0, 1.0 - fabs(u - i)) *
			       fmax(0.0, 1.0 - fabs(v - j)) *
			       svk_control(seed,
				   axis * SVK_GRID + j * SVK_CONTROLS + i);
	return SVK_MOST_PX * sum;
}

/* The prepared image before deformation, between its pixels. */
static double deformed(const struct sv_image *image,
    const struct svk_crop *crop, unsigned channel, double x, double y)
{
	double u = clamp(x + displacement(crop->seed, 0, x, y), SVK_SIDE - 1.0);
	double v = clamp(y + displacement(crop->seed, 1, x, y), SVK_SIDE - 1.0);
	double sum = 0.0;

	for (int j = (int)v; j <= (int)v + 1; j++)
		for (int i = (int)u; i <= (int)u + 1; i++) {
			double weight =
			    (1.0 - fabs(u - i)) * (1.0 - fabs(v - j));

			if (weight > 0.0)
				sum += weight *
				       standard(image, crop, channel, i, j);
		}
	return sum;
}

double sv_transform_reference(enum sv_work work, const struct sv_image *image,
    const struct svk_crop *crop, unsigned channel, unsigned y, unsigned x)
{
	double sum = 0.0, weights = 0.0;

	if (work != SV_WORK_HEAVY)
		return standard(image, crop, channel, x, y);
	for (int j = -SVK_RADIUS; j <= SVK_RADIUS; j++)
		for (int i = -SVK_RADIUS; i <= SVK_RADIUS; i++) {
			double weight =
			    exp(-(i * i + j * j) /
				(2.0 * SVK_SIGMA_PX * SVK_SIGMA_PX));

			weights += weight;
			sum +=
			    weight * deformed(image, crop, channel,
					 clamp((double)x + i, SVK_SIDE - 1.0),
					 clamp((double)y + j, SVK_SIDE - 1.0));
		}
	return sum / weights;
}

double sv_transform_compare(enum sv_work work, const struct sv_image *image,
    const struct svk_crop *crop, const float *prepared, unsigned places,
    uint64_t *state)
{
	double largest = 0.0;

	for (unsigned i = 0; i < places; i++) {
		uint64_t drawn = sv_random_next(state);
		unsigned x = (unsigned)(drawn % SVK_SIDE);
		unsigned y = (unsigned)(drawn / SVK_SIDE % SVK_SIDE);
		unsigned channel = (unsigned)(drawn / SVK_PLANE % SVK_CHANNELS);

		/* The corners, where an edge that is wrong shows. */
		if (i < 4) {
			x = i % 2 * (SVK_SIDE - 1);
			y = i / 2 * (SVK_SIDE - 1);
		}
		double difference = fabs(
		    (double)prepared[channel * SVK_PLANE + y * SVK_SIDE + x] -
		    sv_transform_reference(work, image, crop, channel, y, x));

		if (isnan(difference))
			return INFINITY;
		largest = fmax(largest, difference);
	}
	return largest;
}
