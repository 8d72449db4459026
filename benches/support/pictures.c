/*
 * Pictures from numbers alone: a gradient of colours, shapes with edges, and
 * grain, which gives the entropy coder as much to do as a photograph does.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jpeg.h"
#include "pattern.h"

#define SHAPES 24
/* Grain's amplitude: with it a picture has ImageNet's mean of 110 kB. */
#define GRAIN  48

struct shape {
	int x, y, width, height;
	unsigned char colour[3];
	bool round;
};

static int below(uint64_t *state, int n)
{
	return (int)(sv_random_next(state) % (uint64_t)n);
}

static void put_shape(const struct shape *s, unsigned char *pixels)
{
	int width = (int)SV_PICTURE_WIDTH, height = (int)SV_PICTURE_HEIGHT;

	for (int y = s->y < 0 ? 0 : s->y; y < s->y + s->height && y < height;
	     y++)
		for (int x = s->x < 0 ? 0 : s->x;
		     x < s->x + s->width && x < width; x++) {
			/* Twice the distance from the middle, of the sides. */
			long u = 2 * (x - s->x) - s->width;
			long v = 2 * (y - s->y) - s->height;
			long w = s->width, h = s->height;

			if (s->round &&
			    u * u * h * h + v * v * w * w > w * w * h * h)
				continue;
			memcpy(pixels + 3 * ((size_t)y * SV_PICTURE_WIDTH +
						(size_t)x),
			    s->colour, 3);
		}
}

static void put_gradient(uint64_t *state, unsigned char *pixels)
{
	int from[3], across[3], down[3];

	for (int c = 0; c < 3; c++) {
		from[c] = 40 + below(state, 100);
		across[c] = below(state, 160) - 80;
		down[c] = below(state, 160) - 80;
	}
	for (int y = 0; y < (int)SV_PICTURE_HEIGHT; y++)
		for (int x = 0; x < (int)SV_PICTURE_WIDTH; x++)
			for (int c = 0; c < 3; c++) {
				int value =
				    from[c] +
				    across[c] * x / (int)SV_PICTURE_WIDTH +
				    down[c] * y / (int)SV_PICTURE_HEIGHT;

				*pixels++ =
				    (unsigned char)(value < 0	  ? 0
						    : value > 255 ? 255
								  : value);
			}
}

/* Grain is of brightness, as a sensor's mostly is; colour is halved by JPEG. */
static void put_grain(uint64_t *state, unsigned char *pixels)
{
	for (size_t i = 0; i < SV_PICTURE_BYTES; i += 3) {
		int grain = below(state, GRAIN + 1) - GRAIN / 2;

		for (size_t c = 0; c < 3; c++) {
			int value = pixels[i + c] + grain;

			pixels[i + c] = (unsigned char)(value < 0     ? 0
							: value > 255 ? 255
								      : value);
		}
	}
}

void sv_picture_draw(size_t index, unsigned char pixels[SV_PICTURE_BYTES])
{
	uint64_t state = 0x7069637475726573u + index;

	put_gradient(&state, pixels);
	for (int i = 0; i < SHAPES; i++) {
		struct shape s = {
		    .x = below(&state, (int)SV_PICTURE_WIDTH) - 40,
		    .y = below(&state, (int)SV_PICTURE_HEIGHT) - 40,
		    .width = 10 + below(&state, 150),
		    .height = 10 + below(&state, 120),
		    .round = below(&state, 2) == 1};

		for (int c = 0; c < 3; c++)
			s.colour[c] = (unsigned char)below(&state, 256);
		put_shape(&s, pixels);
	}
	put_grain(&state, pixels);
}

double sv_picture_psnr(const unsigned char *a, const unsigned char *b)
{
	double sum = 0.0;

	for (size_t i = 0; i < SV_PICTURE_BYTES; i++) {
		double difference = (double)a[i] - (double)b[i];

		sum += difference * difference;
	}
	return sum > 0.0 ? 10.0 * log10(255.0 * 255.0 *
					(double)SV_PICTURE_BYTES / sum)
			 : INFINITY;
}

void sv_pictures_free(struct sv_pictures *pictures)
{
	for (size_t i = 0; pictures->list != NULL && i < pictures->n; i++)
		free(pictures->list[i].data);
	free(pictures->list);
	*pictures = (struct sv_pictures){0};
}

size_t sv_pictures_most_bytes(const struct sv_pictures *pictures)
{
	size_t most = 0;

	for (size_t i = 0; i < pictures->n; i++)
		if (pictures->list[i].bytes > most)
			most = pictures->list[i].bytes;
	return most;
}
