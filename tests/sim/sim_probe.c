/*
 * A program that uses the driver as any does, to see with-device at work: it
 * prints what it finds and what the clock says.
 * usage: sim-probe [hold FILE]
 * `hold` keeps the device until FILE exists.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *call(void *library, const char *name)
{
	void *found = library == NULL ? NULL : dlsym(library, name);

	if (found == NULL)
		fprintf(stderr, "sim-probe: no %s\n", name);
	return found;
}

struct driver {
	__typeof__(cuInit) *init;
	__typeof__(cuDeviceGetName) *name;
	__typeof__(cuDevicePrimaryCtxRetain) *retain;
	__typeof__(cuDevicePrimaryCtxRelease_v2) *release;
	__typeof__(cuCtxSetCurrent) *set_current;
	__typeof__(cuMemAlloc_v2) *alloc;
	__typeof__(cuMemFree_v2) *free;
	__typeof__(cuMemsetD8_v2) *fill;
	__typeof__(cuCtxSynchronize) *synchronise;
};

static int work(const struct driver *d)
{
	CUdeviceptr memory;
	int rc = d->alloc(&memory, 1 << 20);

	for (int i = 0; rc == 0 && i < 1000; i++)
		rc = d->fill(memory, (unsigned char)i, 1 << 20);
	if (rc == 0)
		rc = d->synchronise();
	if (rc == 0)
		rc = d->free(memory);
	return rc;
}

int main(int argc, char **argv)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	struct driver d;
	CUcontext context;
	char name[256];
	int64_t start;
	int rc;

	*(void **)&d.init = call(cuda, "cuInit");
	*(void **)&d.name = call(cuda, "cuDeviceGetName");
	*(void **)&d.retain = call(cuda, "cuDevicePrimaryCtxRetain");
	*(void **)&d.release = call(cuda, "cuDevicePrimaryCtxRelease_v2");
	*(void **)&d.set_current = call(cuda, "cuCtxSetCurrent");
	*(void **)&d.alloc = call(cuda, "cuMemAlloc_v2");
	*(void **)&d.free = call(cuda, "cuMemFree_v2");
	*(void **)&d.fill = call(cuda, "cuMemsetD8_v2");
	*(void **)&d.synchronise = call(cuda, "cuCtxSynchronize");
	if (cuda == NULL)
		return 1;
	rc = d.init(0);
	if (rc == 0)
		rc = d.name(name, sizeof name, 0);
	if (rc == 0)
		rc = d.retain(&context, 0);
	if (rc == 0)
		rc = d.set_current(context);
	start = now_ns();
	if (rc == 0)
		rc = work(&d);
	if (rc != 0) {
		printf("error %d\n", rc);
		return 1;
	}
	printf("%s: %lld ns, nvml %s\n", name, (long long)(now_ns() - start),
	    nvml == NULL ? "none" : "there");
	fflush(stdout);
	while (argc == 3 && strcmp(argv[1], "hold") == 0 &&
	       access(argv[2], F_OK) != 0)
		;
	d.release(0);
	return 0;
}
