/*
 * A direct loop over libturbojpeg on the pictures that preprocess uses: what
 * its decode rate on one core is to be held against. Prints the median rate.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <turbojpeg.h>

#include "jpeg.h"

#define PICTURES 8
#define PASSES	 60

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *left, const void *right)
{
	double x = *(const double *)left, y = *(const double *)right;

	return (x > y) - (x < y);
}

int main(void)
{
	unsigned char *pixels = malloc(SV_PICTURE_BYTES);
	tjhandle handle = tjInitDecompress();
	struct sv_pictures pictures;
	struct sv_err err = {0};
	double times[PASSES];

	if (pixels == NULL || handle == NULL ||
	    sv_pictures_new(&pictures, PICTURES, &err) != 0) {
		fprintf(stderr, "decode_direct: %s\n", err.text);
		return EXIT_FAILURE;
	}
	for (int pass = 0; pass < PASSES; pass++) {
		double start = now();

		for (int i = 0; i < PICTURES; i++)
			if (tjDecompress2(handle, pictures.list[i].data,
				(unsigned long)pictures.list[i].bytes, pixels,
				(int)SV_PICTURE_WIDTH, 0,
				(int)SV_PICTURE_HEIGHT, TJPF_RGB, 0) != 0)
				return EXIT_FAILURE;
		times[pass] = now() - start;
	}
	qsort(times, PASSES, sizeof *times, by_value);
	printf("%.6g\n", PICTURES / times[PASSES / 2]);
	sv_pictures_free(&pictures);
	tjDestroy(handle);
	free(pixels);
	return 0;
}
