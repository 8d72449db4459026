/* Opening the driver, and its errors in words; see the header. */
#include "cuda_driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SONAME "libcuda.so.1"

struct entry {
	const char *symbol;
	int since;
	size_t offset;
};

static const struct entry newer[] = {
#define X(member, symbol, since) \
	{symbol, since, offsetof(struct cuda_driver, member)},
    CUDA_DRIVER_NEWER(X)
#undef X
};

static const struct entry entries[] = {
#define X(member, symbol, since, parameters) \
	{symbol, since, offsetof(struct cuda_driver, member)},
    CUDA_DRIVER_ENTRIES(X)
#undef X
};

/* Fill the member unless that is done or the driver is too old for it. */
static bool resolve(struct cuda_driver *driver, const struct entry *entry)
{
	void *symbol, *held;
	char *member = (char *)driver + entry->offset;

	memcpy(&held, member, sizeof held);
	if (held != NULL)
		return true;
	if (entry->since > driver->version)
		return false;
	symbol = dlsym(driver->library, entry->symbol);
	memcpy(member, &symbol, sizeof symbol);
	return symbol != NULL;
}

static int resolve_all(struct cuda_driver *driver, struct sv_err *err)
{
	for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++)
		(void)resolve(driver, &newer[i]);
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		if (!resolve(driver, &entries[i]) &&
		    entries[i].since <= CUDA_BASELINE)
			return sv_err_set(err, SV_EDEVICE,
			    "the NVIDIA driver's " SONAME
			    " has no %s: it is damaged, or a stub",
			    entries[i].symbol);
	return 0;
}

/* The driver's version first: it says which entry points to ask for. */
static int read_version(struct cuda_driver *driver, struct sv_err *err)
{
	void *symbol = dlsym(driver->library, "cuDriverGetVersion");
	CUresult rc;

	if (symbol == NULL)
		return sv_err_set(err, SV_EDEVICE,
		    "the NVIDIA driver's " SONAME
		    " has no cuDriverGetVersion: it is damaged, or a stub");
	memcpy(&driver->driver_version, &symbol, sizeof symbol);
	rc = driver->driver_version(&driver->version);
	if (rc != CUDA_SUCCESS)
		return sv_err_set(err, SV_EDEVICE,
		    "cuDriverGetVersion: error %d of the NVIDIA driver",
		    (int)rc);
	if (driver->version < CUDA_BASELINE)
		return sv_err_set(err, SV_EDEVICE,
		    "the NVIDIA driver supports CUDA %d.%d: CUDA %d.%d (branch "
		    "R450) is needed at least, update the driver",
		    driver->version / 1000, driver->version % 1000 / 10,
		    CUDA_BASELINE / 1000, CUDA_BASELINE % 1000 / 10);
	return 0;
}

/* What keeps cuInit from working, where more can be said than its error. */
static int init_failed(
    struct cuda_driver *driver, CUresult rc, struct sv_err *err)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	if (rc == CUDA_ERROR_NO_DEVICE && visible != NULL)
		return sv_err_set(err, SV_EDEVICE,
		    "no CUDA device: CUDA_VISIBLE_DEVICES=\"%.200s\" shows "
		    "none (cuInit: CUDA_ERROR_NO_DEVICE)",
		    visible);
	if (rc == CUDA_ERROR_NO_DEVICE)
		return sv_err_set(err, SV_EDEVICE,
		    "no CUDA device: the NVIDIA driver sees no card (cuInit: "
		    "CUDA_ERROR_NO_DEVICE)");
	if (rc == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
		return sv_err_set(err, SV_EDEVICE,
		    SONAME " and the loaded kernel module are of different "
			   "driver versions: reboot, or reload the module "
			   "(cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)");
	(void)cuda_fail(driver, rc, err, "cuInit");
	return err->code = SV_EDEVICE;
}

int cuda_driver_open(struct cuda_driver *driver, struct sv_err *err)
{
	CUresult rc;
	int code;

	*driver = (struct cuda_driver){0};
	/*
	 * Loading code at its first launch would put that cost into a sample,
	 * and could wait for a stream that is held.
	 */
	if (setenv("CUDA_MODULE_LOADING", "EAGER", 1) != 0)
		return sv_err_set(
		    err, SV_ERESOURCE, "CUDA_MODULE_LOADING: out of memory");
	driver->library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (driver->library == NULL)
		return sv_err_set(err, SV_EDEVICE,
		    "no NVIDIA driver: " SONAME " cannot be opened (%s)",
		    dlerror());
	code = read_version(driver, err);
	if (code == 0)
		code = resolve_all(driver, err);
	if (code == 0) {
		rc = driver->init(0);
		if (rc != CUDA_SUCCESS)
			code = init_failed(driver, rc, err);
	}
	if (code != 0)
		cuda_driver_close(driver);
	return code;
}

void cuda_driver_close(struct cuda_driver *driver)
{
	if (driver->library != NULL)
		dlclose(driver->library);
	*driver = (struct cuda_driver){0};
}

/* Errors after which every call on the context fails the same way. */
static bool is_sticky(CUresult rc)
{
	switch ((int)rc) {
	case 214: /* ECC_UNCORRECTABLE */
	case 220: /* NVLINK_UNCORRECTABLE */
	case 700: /* ILLEGAL_ADDRESS */
	case 702: /* LAUNCH_TIMEOUT */
	case 710: /* ASSERT */
	case 714: /* HARDWARE_STACK_ERROR */
	case 715: /* ILLEGAL_INSTRUCTION */
	case 716: /* MISALIGNED_ADDRESS */
	case 717: /* INVALID_ADDRESS_SPACE */
	case 718: /* INVALID_PC */
	case 719: /* LAUNCH_FAILED */
	case 721: /* TENSOR_MEMORY_LEAK */
		return true;
	default:
		return false;
	}
}

static int code_of(CUresult rc)
{
	switch ((int)rc) {
	case CUDA_ERROR_OUT_OF_MEMORY:
	case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
		return SV_ERESOURCE;
	case CUDA_ERROR_NOT_PERMITTED:
		return SV_EPERMISSION;
	case CUDA_ERROR_NOT_SUPPORTED:
	case CUDA_ERROR_NO_BINARY_FOR_GPU:
	case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
		return SV_EUNSUPPORTED;
	default:
		return SV_EDEVICE;
	}
}

int cuda_fail(struct cuda_driver *driver, CUresult rc, struct sv_err *err,
    const char *what, ...)
{
	const char *name = NULL, *text = NULL;
	char call[256];
	va_list args;

	if (driver->sticky == CUDA_SUCCESS && is_sticky(rc))
		driver->sticky = rc;
	va_start(args, what);
	vsnprintf(call, sizeof call, what, args);
	va_end(args);
	if (driver->error_name(rc, &name) != CUDA_SUCCESS || name == NULL)
		return sv_err_set(err, SV_EDEVICE,
		    "%s: error %d, which the driver has no name for", call,
		    (int)rc);
	if (driver->error_string(rc, &text) != CUDA_SUCCESS || text == NULL)
		text = "no text";
	return sv_err_set(err, code_of(rc), "%s: %s, %s", call, name, text);
}

int cuda_too_old(const struct cuda_driver *driver, struct sv_err *err,
    const char *what, int since)
{
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "%s: needs a driver that supports CUDA %d.%d, this one supports "
	    "%d.%d",
	    what, since / 1000, since % 1000 / 10, driver->version / 1000,
	    driver->version % 1000 / 10);
}

struct cuda_size_text cuda_size(size_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	struct cuda_size_text size;
	double value = (double)bytes;
	size_t unit = 0;

	while (unit < 3 && value >= 1024.0) {
		value /= 1024.0;
		unit++;
	}
	snprintf(size.text, sizeof size.text, "%.5g %s", value, units[unit]);
	return size;
}
