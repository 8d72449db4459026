/* The host's way to prepare an image, a row at a time; see the header. */
#include "transform.h"

#include <math.h>
#include <string.h>

/* Where an output column or row takes its two inputs, and how much of which. */
struct place {
	uint32_t low, high;
	float part; /* of high */
};

/* Places of SVK_SIDE outputs over [from, from + extent) of n inputs. */
static void find_places(struct place out[SVK_SIDE], float from, float extent,
    bool reversed, uint32_t n)
{
	float step = extent / (float)SVK_SIDE, last = (float)(n - 1);

	for (uint32_t i = 0; i < SVK_SIDE; i++) {
		uint32_t k = reversed ? SVK_SIDE - 1 - i : i;
		float at = from + ((float)k + 0.5f) * step - 0.5f;

		at = at < 0.0f ? 0.0f : at > last ? last : at;
		out[i].low = (uint32_t)at;
		out[i].high = out[i].low + 1 < n ? out[i].low + 1 : out[i].low;
		out[i].part = at - (float)out[i].low;
	}
}

/* One row of outputs, RGB floats side by side. */
static void make_row(const struct sv_image *image,
    const struct place columns[SVK_SIDE], const struct place *row,
    float out[SVK_CHANNELS * SVK_SIDE])
{
	size_t bytes = (size_t)image->width * SVK_CHANNELS;
	const unsigned char *upper = image->pixels + row->low * bytes;
	const unsigned char *lower = image->pixels + row->high * bytes;

	for (size_t x = 0; x < SVK_SIDE; x++) {
		size_t low = (size_t)columns[x].low * SVK_CHANNELS;
		size_t high = (size_t)columns[x].high * SVK_CHANNELS;
		float part = columns[x].part;

		for (size_t c = 0; c < SVK_CHANNELS; c++) {
			float a = (float)upper[low + c];
			float b = (float)lower[low + c];

			a += part * ((float)upper[high + c] - a);
			b += part * ((float)lower[high + c] - b);
			out[x * SVK_CHANNELS + c] = a + row->part * (b - a);
		}
	}
}

void sv_transform_resize(const struct sv_image *image, unsigned char *out)
{
	struct place columns[SVK_SIDE], rows[SVK_SIDE];
	float row[SVK_CHANNELS * SVK_SIDE];

	find_places(columns, 0.0f, (float)image->width, false, image->width);
	find_places(rows, 0.0f, (float)image->height, false, image->height);
	for (size_t y = 0; y < SVK_SIDE; y++) {
		make_row(image, columns, &rows[y], row);
		for (size_t i = 0; i < SVK_CHANNELS * SVK_SIDE; i++)
			out[y * SVK_CHANNELS * SVK_SIDE + i] =
			    (unsigned char)(row[i] + 0.5f);
	}
}

void sv_transform_crop(
    const struct sv_image *image, const struct svk_crop *crop, float *out)
{
	struct place columns[SVK_SIDE], rows[SVK_SIDE];
	float row[SVK_CHANNELS * SVK_SIDE];

	find_places(
	    columns, crop->left, crop->width, crop->flip != 0, image->width);
	find_places(rows, crop->top, crop->height, false, image->height);
	for (size_t y = 0; y < SVK_SIDE; y++) {
		make_row(image, columns, &rows[y], row);
		for (size_t c = 0; c < SVK_CHANNELS; c++) {
			float *plane = out + c * SVK_PLANE + y * SVK_SIDE;

			for (size_t x = 0; x < SVK_SIDE; x++)
				plane[x] =
				    row[x * SVK_CHANNELS + c] * SVK_SCALE(c) +
				    SVK_SHIFT(c);
		}
	}
}

void sv_transform_elastic(const float *in, uint32_t seed, float *out)
{
	float across[SVK_GRID], down[SVK_GRID];

	for (uint32_t i = 0; i < SVK_GRID; i++) {
		across[i] = svk_control(seed, i);
		down[i] = svk_control(seed, SVK_GRID + i);
	}
	for (uint32_t y = 0; y < SVK_SIDE; y++)
		for (uint32_t x = 0; x < SVK_SIDE; x++) {
			float u = (float)x + svk_displacement(across, x, y);
			float v = (float)y + svk_displacement(down, x, y);

			for (size_t c = 0; c < SVK_CHANNELS; c++)
				out[c * SVK_PLANE + y * SVK_SIDE + x] =
				    svk_between(in + c * SVK_PLANE, u, v);
		}
}

void sv_transform_weights(float out[SVK_RADIUS + 1])
{
	double weights[SVK_RADIUS + 1], sum = 0.0;

	for (int i = 0; i <= SVK_RADIUS; i++) {
		weights[i] = exp(-i * i / (2.0 * SVK_SIGMA_PX * SVK_SIGMA_PX));
		sum += i == 0 ? weights[i] : 2.0 * weights[i];
	}
	for (int i = 0; i <= SVK_RADIUS; i++)
		out[i] = (float)(weights[i] / sum);
}

/* Along a row, with the edges drawn out on both sides. */
static void blur_row(
    const float *in, const float weights[SVK_RADIUS + 1], float *restrict out)
{
	float wide[SVK_SIDE + 2 * SVK_RADIUS];

	for (size_t i = 0; i < SVK_RADIUS; i++) {
		wide[i] = in[0];
		wide[SVK_RADIUS + SVK_SIDE + i] = in[SVK_SIDE - 1];
	}
	for (size_t x = 0; x < SVK_SIDE; x++)
		wide[SVK_RADIUS + x] = in[x];
	for (size_t x = 0; x < SVK_SIDE; x++)
		out[x] = weights[0] * wide[SVK_RADIUS + x];
	for (size_t i = 1; i <= SVK_RADIUS; i++)
		for (size_t x = 0; x < SVK_SIDE; x++)
			out[x] += weights[i] * (wide[SVK_RADIUS + x - i] +
						   wide[SVK_RADIUS + x + i]);
}

/*
 * One row of a blur down the columns: whole rows are added up. In a row of its
 * own, since rows of input and output at the same place in a page would make
 * loads wait for stores.
 */
static void blur_down(const float *plane, size_t y,
    const float weights[SVK_RADIUS + 1], float *out)
{
	float row[SVK_SIDE];

	for (size_t x = 0; x < SVK_SIDE; x++)
		row[x] = weights[0] * plane[y * SVK_SIDE + x];
	for (size_t i = 1; i <= SVK_RADIUS; i++) {
		size_t above = y < i ? 0 : y - i;
		size_t below = y + i < SVK_SIDE ? y + i : SVK_SIDE - 1;
		const float *a = plane + above * SVK_SIDE;
		const float *b = plane + below * SVK_SIDE;

		for (size_t x = 0; x < SVK_SIDE; x++)
			row[x] += weights[i] * (a[x] + b[x]);
	}
	memcpy(out, row, sizeof row);
}

void sv_transform_blur(const float *in, bool vertical,
    const float weights[SVK_RADIUS + 1], float *out)
{
	for (size_t c = 0; c < SVK_CHANNELS; c++)
		for (size_t y = 0; y < SVK_SIDE; y++) {
			size_t at = c * SVK_PLANE + y * SVK_SIDE;

			if (vertical)
				blur_down(
				    in + c * SVK_PLANE, y, weights, out + at);
			else
				blur_row(in + at, weights, out + at);
		}
}
