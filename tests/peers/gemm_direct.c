/*
 * A direct loop over the same cblas_sgemm that the host backend calls: what
 * the gemm benchmark is to be held against. Prints the median FLOP/s.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIDE   2048
#define TIMES  9
#define ROUNDS (TIMES + 2)

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
	size_t n = (size_t)SIDE * SIDE;
	float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
	float *c = malloc(n * sizeof *c);
	double times[ROUNDS];

	if (a == NULL || b == NULL || c == NULL)
		return EXIT_FAILURE;
	for (size_t i = 0; i < n; i++) {
		a[i] = (float)(rand() % 1000) / 1000.0f - 0.5f;
		b[i] = (float)(rand() % 1000) / 1000.0f - 0.5f;
		c[i] = 0.0f;
	}
	for (int i = 0; i < ROUNDS; i++) {
		double start = now();

		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE,
		    SIDE, SIDE, 1.0f, a, SIDE, b, SIDE, 0.0f, c, SIDE);
		times[i] = now() - start;
	}
	/* The first two pay for page faults and sleeping threads. */
	qsort(times + 2, TIMES, sizeof *times, by_value);
	printf("%.6g\n", 2.0 * SIDE * SIDE * SIDE / times[2 + TIMES / 2]);
	free(a);
	free(b);
	free(c);
	return 0;
}
