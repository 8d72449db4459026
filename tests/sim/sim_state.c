/*
 * The process's one simulation: its lock, its planted faults, the host's
 * virtual time, and the orders in which CUDA and NVML list devices. It knows
 * nothing of streams or memory beyond letting them come up to date.
 */
#include "sim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one reading of the clock costs, so that loops that spin on it end. */
#define CLOCK_READ_PS 25000

struct sim sim = {.lazy_eager_flop = UINT64_C(1) << 28};

static pthread_mutex_t lock;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static int poison[SIM_LIBRARIES]; /* the sticky error that every call gives */

/* The preloaded clock's door; absent where nobody preloaded it. */
typedef void attach_fn(int64_t (*now_ns)(void), void (*sleep_ns)(int64_t ns));
static attach_fn *attach;

/* Recursive: a page fault of our own may come in while it is held. */
static void make_lock(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

void sim_lock(void)
{
	pthread_once(&lock_once, make_lock);
	pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

int64_t sim_ps(double seconds)
{
	return llround(seconds * SIM_PS_PER_S);
}

void sim_spend(double seconds)
{
	sim.host_ps += sim_ps(seconds);
}

/* Before each object; aligned as malloc's memory is. */
struct object {
	_Alignas(max_align_t) struct object *next;
	struct object *previous;
};

static struct object objects = {&objects, &objects};

void *sim_object_new(size_t bytes)
{
	struct object *object = calloc(1, sizeof *object + bytes);

	if (object == NULL)
		abort();
	object->next = objects.next;
	object->previous = &objects;
	objects.next->previous = object;
	objects.next = object;
	return object + 1;
}

void sim_object_free(void *data)
{
	struct object *object = data;

	if (object == NULL)
		return;
	object--;
	object->previous->next = object->next;
	object->next->previous = object->previous;
	free(object);
}

static int64_t clock_now_ns(void)
{
	int64_t now;

	sim_lock();
	sim_advance(sim.host_ps);
	sim_poll();
	sim.host_ps += CLOCK_READ_PS;
	now = sim.host_ps / 1000;
	sim_unlock();
	return now;
}

static void clock_sleep_ns(int64_t ns)
{
	sim_lock();
	sim_advance(sim.host_ps);
	sim_poll();
	sim.host_ps += ns > 0 ? ns * 1000 : 0;
	sim_advance(sim.host_ps);
	sim_unlock();
}

void sim_hang(void)
{
	sim_unlock();
	for (;;)
		pause();
}

/* The mark of a fault holds the words of the process that it struck. */
static void tell_who(int fd)
{
	char words[4096];
	int own = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = own < 0 ? 0 : read(own, words, sizeof words);

	for (ssize_t i = 0; i < n; i++)
		if (words[i] == '\0')
			words[i] = ' ';
	if (n > 0 && write(fd, words, (size_t)n) != n)
		fprintf(stderr, "sim: the mark of a fault was cut short\n");
	if (own >= 0)
		close(own);
}

/* A fault that shall strike one process of a run alone leaves a mark. */
static bool first_process_to_strike(size_t index)
{
	const char *folder = getenv("STAVE_SIM_STATE");
	char path[4096];
	int fd;

	if (folder == NULL)
		return true;
	snprintf(path, sizeof path, "%s/fault-%zu", folder, index);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	tell_who(fd);
	close(fd);
	return true;
}

static int meet_faults(enum sim_library library, const char *call)
{
	for (size_t i = 0; i < sim.config.n_faults; i++) {
		struct sim_fault *fault = &sim.config.faults[i];

		if (strcmp(fault->call, call) != 0 ||
		    fault->calls++ != fault->after)
			continue;
		if (fault->once && !first_process_to_strike(i))
			continue;
		if (fault->hang)
			sim_hang();
		if (fault->sticky)
			poison[library] = (int)fault->error;
		return (int)fault->error;
	}
	return 0;
}

int sim_configure(void)
{
	const char *path = getenv("STAVE_SIM");
	char text[1024] = "STAVE_SIM names no device file";

	if (sim.configured)
		return 0;
	if (path == NULL ||
	    sim_config_load(&sim.config, path, text, sizeof text) != 0) {
		fprintf(stderr, "simulated driver: %s\n", text);
		return SIM_UNKNOWN;
	}
	sim.configured = true;
	return 0;
}

int sim_enter(enum sim_library library, const char *call)
{
	int rc;

	sim_lock();
	rc = sim_configure();
	if (rc != 0)
		return rc;
	sim_advance(sim.host_ps);
	sim_poll();
	rc = meet_faults(library, call);
	if (rc == 0)
		rc = poison[library];
	if (rc == 0 && library == SIM_LIB_DRIVER && !sim.initialised &&
	    strcmp(call, "cuInit") != 0)
		rc = SIM_NOT_INITIALIZED;
	return rc;
}

/*
 * A context whose work went wrong gives that error from then on, from the
 * first call that returns after it happened.
 */
static int meet_poisoned_context(int code)
{
	for (size_t i = 0; i < sim.config.n_devices; i++)
		if (sim.config.devices[i].sticky != 0)
			poison[SIM_LIB_DRIVER] = sim.config.devices[i].sticky;
	/* cuBLAS says "execution failed" when the driver under it does. */
	if (poison[SIM_LIB_DRIVER] != 0 && poison[SIM_LIB_BLAS] == 0)
		poison[SIM_LIB_BLAS] = 13;
	return code;
}

int sim_leave(int code)
{
	sim_advance(sim.host_ps);
	code = meet_poisoned_context(code);
	sim_unlock();
	return code;
}

/* --- the orders of devices --- */

static double speed(const struct sim_device *device)
{
	return (double)device->is.multiprocessors * device->is.sm_clock_Hz;
}

static int by_pci(const void *left, const void *right)
{
	const struct sim_device *a = *(struct sim_device *const *)left;
	const struct sim_device *b = *(struct sim_device *const *)right;
	uint64_t x = (uint64_t)a->is.pci_domain << 32 | a->is.pci_bus << 8 |
		     a->is.pci_device;
	uint64_t y = (uint64_t)b->is.pci_domain << 32 | b->is.pci_bus << 8 |
		     b->is.pci_device;

	return x < y ? -1 : x > y;
}

static int by_speed(const void *left, const void *right)
{
	const struct sim_device *a = *(struct sim_device *const *)left;
	const struct sim_device *b = *(struct sim_device *const *)right;

	if (speed(a) != speed(b))
		return speed(a) > speed(b) ? -1 : 1;
	return by_pci(left, right);
}

/* The device that one entry of CUDA_VISIBLE_DEVICES means, or NULL. */
static struct sim_device *device_of_entry(
    const char *entry, struct sim_device *const *order, size_t n)
{
	struct sim_device *found = NULL;
	char *end;
	long index;

	if (strncmp(entry, "GPU-", 4) != 0 && strncmp(entry, "MIG-", 4) != 0) {
		index = strtol(entry, &end, 10);
		if (end == entry || *end != '\0' || index < 0 ||
		    (size_t)index >= n)
			return NULL;
		return order[index];
	}
	for (size_t i = 0; i < n; i++) {
		const char *uuid =
		    *entry == 'M' ? order[i]->is.mig_uuid : order[i]->is.uuid;

		if (*entry == 'M' && !order[i]->is.mig)
			continue;
		if (strncmp(uuid, entry, strlen(entry)) != 0)
			continue;
		if (found != NULL)
			return NULL;
		found = order[i];
	}
	return found;
}

/*
 * The list ends at its first entry that means no device; a device named
 * twice leaves none at all.
 */
static void choose_visible(struct sim_device *const *order, size_t n)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	char entry[64];

	sim.n_visible = 0;
	if (list == NULL) {
		for (size_t i = 0; i < n; i++)
			sim.visible[sim.n_visible++] = order[i];
		return;
	}
	while (*list != '\0' && sim.n_visible < SIM_MAX_DEVICES) {
		size_t length = strcspn(list, ",");
		struct sim_device *device;

		while (length > 0 && *list == ' ')
			list++, length--;
		snprintf(entry, sizeof entry, "%.*s", (int)length, list);
		device = device_of_entry(entry, order, n);
		if (device == NULL)
			return;
		for (size_t i = 0; i < sim.n_visible; i++)
			if (sim.visible[i] == device) {
				sim.n_visible = 0;
				return;
			}
		sim.visible[sim.n_visible++] = device;
		list += length + (list[length] == ',');
	}
}

struct sim_device *sim_device_of_uuid(const char *text)
{
	for (size_t i = 0; i < sim.config.n_devices; i++)
		if (strcmp(sim.config.devices[i].is.uuid, text) == 0)
			return &sim.config.devices[i];
	return NULL;
}

int sim_bus_bits(const struct sim_device *device)
{
	bool stacked = device->is.capability_minor == 0 &&
		       device->is.capability_major >= 7 &&
		       device->is.capability_major < 12;

	return stacked ? 5120 : 384;
}

int sim_initialise(void)
{
	struct sim_device *order[SIM_MAX_DEVICES];
	const char *wish = getenv("CUDA_DEVICE_ORDER");
	bool pci = wish != NULL && strcmp(wish, "PCI_BUS_ID") == 0;
	size_t n = sim.config.n_devices;

	if (sim.initialised)
		return 0;
	for (size_t i = 0; i < n; i++)
		order[i] = &sim.config.devices[i];
	qsort(order, n, sizeof *order, pci ? by_pci : by_speed);
	choose_visible(order, n);
	if (sim.n_visible == 0)
		return 100; /* no device */
	sim.initialised = true;
	*(void **)&attach = dlsym(RTLD_DEFAULT, "stave_sim_clock_attach");
	if (attach != NULL)
		attach(clock_now_ns, clock_sleep_ns);
	return 0;
}

/* Leave nothing behind when the libraries are closed or the process ends. */
__attribute__((destructor)) static void tear_down(void)
{
	if (attach != NULL)
		attach(NULL, NULL);
	sim_engine_free_all();
	for (size_t i = 0; i < sim.config.n_devices; i++) {
		sim_pools_free(&sim.config.devices[i]);
		if (sim.config.devices[i].exclusive_fd >= 0)
			close(sim.config.devices[i].exclusive_fd);
	}
	sim_host_forget_all();
	sim_effects_forget();
	sim_spans_free_all();
	while (objects.next != &objects)
		sim_object_free(objects.next + 1);
}
