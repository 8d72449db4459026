/*
 * Says whether a device file is sound before anything runs on it: silence and
 * 0, or one line and 3. Prints "nvml absent" where the file wants the NVML
 * library itself missing.
 * usage: stave-sim-check DEVICE.json LIBRARY_DIR
 */
#include "sim.h"

#include <dlfcn.h>
#include <stdio.h>

#define STATUS_USAGE 2
#define STATUS_INPUT 3

static const char *const libraries[] = {
    "libcuda.so.1", "libcublas.so.13", "libnvidia-ml.so.1"};

/* A fault in a call that does not exist would silently never strike. */
static bool exists(const char *call, const char *folder)
{
	char path[4096];
	bool found = false;

	for (size_t i = 0; i < 3 && !found; i++) {
		void *library;

		snprintf(path, sizeof path, "%s/%s", folder, libraries[i]);
		library = dlopen(path, RTLD_LAZY);
		found = library != NULL && dlsym(library, call) != NULL;
		if (library != NULL)
			dlclose(library);
	}
	return found;
}

int main(int argc, char **argv)
{
	static struct sim_config config;
	char text[1024];

	if (argc != 3) {
		fputs(
		    "usage: stave-sim-check DEVICE.json LIBRARY_DIR\n", stderr);
		return STATUS_USAGE;
	}
	if (sim_config_load(&config, argv[1], text, sizeof text) != 0) {
		fprintf(stderr, "%s\n", text);
		return STATUS_INPUT;
	}
	for (size_t i = 0; i < config.n_faults; i++)
		if (!exists(config.faults[i].call, argv[2])) {
			fprintf(stderr,
			    "%s: faults[%zu].call: the simulated"
			    " driver has no %s\n",
			    argv[1], i, config.faults[i].call);
			return STATUS_INPUT;
		}
	for (size_t i = 0; i < config.n_devices; i++)
		if (config.devices[i].is.nvml == SIM_NVML_ABSENT)
			puts("nvml absent");
	return 0;
}
