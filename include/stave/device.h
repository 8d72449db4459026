/*
 * The small device interface that benchmarks are written against. A backend
 * (host, cuda) implements struct sv_backend; a benchmark sees only this page.
 *
 * Order: work put on one stream runs in that order; streams are independent
 * unless joined by an event. Copies from pageable memory may be synchronous
 * to the host, every other operation taking a stream is asynchronous.
 *
 * Ownership: *_new/_alloc hands an object to the caller, who gives it to the
 * matching _free; free functions accept NULL. All memory sizes are bytes.
 * Outputs are untouched on failure.
 *
 * Errors: SV_EUNSUPPORTED (this device cannot do it, and the text says why),
 * SV_ERESOURCE (memory or a limit), SV_EPERMISSION, SV_EDEVICE (the device
 * failed or is lost), SV_ETIMEOUT.
 */
#ifndef STAVE_DEVICE_H
#define STAVE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stave/err.h"

/* Kinds of host memory. */
enum sv_memory {
	SV_PAGEABLE,	  /* ordinary pages, touched once */
	SV_PINNED,	  /* allocated locked */
	SV_REGISTERED,	  /* ordinary pages, locked afterwards */
	SV_WRITECOMBINED, /* locked, uncached for reading */
	SV_MAPPED,	  /* locked, read by the device in place */
};

enum sv_direction {
	SV_H2D,
	SV_D2H,
};

/* How the host waits. */
enum sv_wait {
	SV_WAIT_SPIN,
	SV_WAIT_YIELD,
	SV_WAIT_BLOCK,
};

enum sv_precision {
	SV_FP64,
	SV_FP32,
	SV_TF32,
	SV_FP16,    /* fp16 operands, fp32 accumulation */
	SV_FP16ACC, /* fp16 operands and accumulation */
	SV_BF16,    /* bf16 operands, fp32 accumulation */
};

struct sv_device;
struct sv_stream;
struct sv_event;
struct sv_graph;

/*
 * Host memory that copies read or write. bytes are usable; the backend keeps
 * what it needs to free it in token.
 */
struct sv_hostmem {
	void *data;
	size_t bytes;
	enum sv_memory kind;
	void *token;
};

/* Device memory: an address that only the device may follow. */
struct sv_buffer {
	uint64_t address;
	size_t bytes;
	void *token;
};

/* Launch geometry; the host backend splits the grid over its cores. */
struct sv_grid {
	uint32_t blocks;
	uint32_t threads;
};

/*
 * C[m][n] = A[m][k] · B[k][n], row-major and packed, repeated for `count`
 * matrices stored one after the other. Element types follow precision; C has
 * the operand type for fp64/fp32/tf32/fp16/fp16acc and fp32 for bf16 where
 * the library accumulates to fp32 only (c_is_fp32 says which).
 */
struct sv_gemm {
	enum sv_precision precision;
	uint64_t m, n, k, count;
	uint64_t a, b, c; /* device addresses */
	/* A is stored as [k][m], B as [n][k]. */
	bool transpose_a, transpose_b;
};

/*
 * Receiver of device facts: fields of the result file's device object, by
 * dotted path ("clocks.sm_Hz"). A field that could not be read goes to
 * unknown() with why: no_permission, not_supported, absent, "error: …".
 */
struct sv_facts {
	void (*text)(struct sv_facts *, const char *path, const char *value);
	void (*number)(struct sv_facts *, const char *path, double value);
	void (*integer)(struct sv_facts *, const char *path, int64_t value);
	void (*boolean)(struct sv_facts *, const char *path, bool value);
	void (*unknown)(struct sv_facts *, const char *path, const char *why);
	/* Optional: lists; a teller leaves them out where these are NULL. */
	void (*integers)(struct sv_facts *, const char *path,
	    const int64_t *values, size_t n);
	void (*texts)(struct sv_facts *, const char *path,
	    const char *const *values, size_t n);
};

/* One device as `stave list devices` shows it. */
struct sv_device_entry {
	int index;
	char name[256];
	char uuid[64];	      /* "" where the device has none */
	char pci_address[32]; /* "" where it is on no PCI bus */
	bool usable;
	char reason[256]; /* why not, "" when usable */
};

/* Attributes that benchmarks size their work by. 0 where unknown. */
struct sv_device_limits {
	uint64_t memory_bytes;	    /* in all */
	uint64_t memory_free_bytes; /* now */
	uint64_t cache_bytes;	    /* last level in front of memory */
	uint32_t units;		    /* multiprocessors, or cores of a host */
	uint32_t numa_nodes;	    /* with CPUs and memory, on this machine */
};

#define SV_BACKEND_VERSION 1

struct sv_backend {
	unsigned version; /* SV_BACKEND_VERSION */
	const char *name; /* "host", "cuda" */
	/*
	 * How to wait for long work without taking anything from the device:
	 * a host that spins takes a core from a device made of cores.
	 */
	enum sv_wait patient;

	/*
	 * List up to max devices into entries; *count gets how many there
	 * are. Errors: SV_EDEVICE when the backend itself cannot be used
	 * (no driver).
	 */
	int (*list)(struct sv_device_entry *entries, size_t max, size_t *count,
	    struct sv_err *err);

	/*
	 * Open the device named by selector: NULL or "" for the first usable
	 * one, an index, a (partial) UUID, or a PCI address.
	 */
	int (*open)(
	    struct sv_device **out, const char *selector, struct sv_err *err);
	void (*close)(struct sv_device *);

	/* Tell every fact of the device object except "backend". */
	void (*describe)(struct sv_device *, struct sv_facts *facts);
	void (*limits)(struct sv_device *, struct sv_device_limits *out);

	/*
	 * Whether a host memory kind / precision / wait mode / kernel works
	 * here; the refusal's text is what the user reads as skip reason.
	 */
	int (*can_memory)(struct sv_device *, enum sv_memory, struct sv_err *);
	int (*can_precision)(
	    struct sv_device *, enum sv_precision, struct sv_err *);
	int (*can_wait)(struct sv_device *, enum sv_wait, struct sv_err *);
	int (*can_kernel)(
	    struct sv_device *, const char *kernel, struct sv_err *);

	/*
	 * numa_node: where the pages shall be, counted from the device: 0 is
	 * the node nearest to it, 1 the next, …; -1 for no preference.
	 */
	int (*host_alloc)(struct sv_device *, enum sv_memory, size_t bytes,
	    int numa_node, struct sv_hostmem *out, struct sv_err *err);
	void (*host_free)(struct sv_device *, struct sv_hostmem *);

	/*
	 * Device memory, straight from the driver; backed by pages when it
	 * returns. free waits for work in flight where the driver does.
	 */
	int (*alloc)(struct sv_device *, size_t bytes, struct sv_buffer *out,
	    struct sv_err *err);
	int (*free)(struct sv_device *, struct sv_buffer *, struct sv_err *err);

	/*
	 * The same from a caching pool that keeps what is freed until
	 * pool_trim gives all of it back to the system.
	 */
	int (*pool_alloc)(struct sv_device *, struct sv_stream *, size_t bytes,
	    struct sv_buffer *out, struct sv_err *err);
	int (*pool_free)(struct sv_device *, struct sv_stream *,
	    struct sv_buffer *, struct sv_err *err);
	int (*pool_trim)(struct sv_device *, struct sv_err *err);

	int (*stream_new)(
	    struct sv_device *, struct sv_stream **out, struct sv_err *err);
	void (*stream_free)(struct sv_device *, struct sv_stream *);
	int (*event_new)(
	    struct sv_device *, struct sv_event **out, struct sv_err *err);
	void (*event_free)(struct sv_device *, struct sv_event *);

	/* Mark the point that the stream has reached when it gets there. */
	int (*event_record)(
	    struct sv_stream *, struct sv_event *, struct sv_err *err);
	/*
	 * Make later work of the stream wait for the event as it was recorded
	 * last; it may be recorded anew before the stream gets there.
	 */
	int (*stream_wait_event)(
	    struct sv_stream *, struct sv_event *, struct sv_err *err);
	/*
	 * Device time between two events that have happened, in ns.
	 */
	int (*event_elapsed_ns)(struct sv_event *from, struct sv_event *to,
	    double *elapsed_ns, struct sv_err *err);

	int (*stream_sync)(
	    struct sv_stream *, enum sv_wait, struct sv_err *err);
	int (*event_sync)(struct sv_event *, enum sv_wait, struct sv_err *err);
	int (*device_sync)(
	    struct sv_device *, enum sv_wait, struct sv_err *err);

	/*
	 * Copy the first `bytes` of one to the other (offsets in bytes).
	 * For pageable memory the call may wait, as the driver's does.
	 */
	int (*copy)(struct sv_stream *, enum sv_direction,
	    struct sv_buffer *device, size_t device_offset,
	    struct sv_hostmem *host, size_t host_offset, size_t bytes,
	    struct sv_err *err);
	/*
	 * Read `bytes` (≤ 64) of device memory into ordinary host memory and
	 * wait for them: the `.item()` pattern.
	 */
	int (*readback)(struct sv_stream *, struct sv_buffer *, size_t offset,
	    void *out, size_t bytes, enum sv_wait, struct sv_err *err);

	/*
	 * Launch a kernel by name. args: the packed argument structure of
	 * that kernel, at most 1024 bytes, copied before the call returns.
	 */
	int (*launch)(struct sv_stream *, const char *kernel, struct sv_grid,
	    const void *args, size_t args_bytes, struct sv_err *err);

	/*
	 * Hold a stream: work queued behind it waits until release, so that
	 * a queue can be filled before it is timed. A hold ends by itself
	 * after a timeout (SV_ETIMEOUT from release). Nothing that waits for
	 * the device may be called in between.
	 */
	int (*hold)(struct sv_stream *, struct sv_err *err);
	int (*release)(struct sv_stream *, struct sv_err *err);

	/*
	 * Record `nodes` launches of one kernel as a graph that one call
	 * replays. May replay it once itself, to have it ready.
	 */
	int (*graph_new)(struct sv_device *, const char *kernel, struct sv_grid,
	    const void *args, size_t args_bytes, size_t nodes,
	    struct sv_graph **out, struct sv_err *err);
	void (*graph_free)(struct sv_device *, struct sv_graph *);
	int (*graph_launch)(
	    struct sv_stream *, struct sv_graph *, struct sv_err *err);

	/*
	 * Time of loading the kernels' module afresh and launching from it
	 * once, in ns. elapsed_ns NULL: do neither, only say whether it can
	 * be done.
	 */
	int (*first_launch)(
	    struct sv_device *, double *elapsed_ns, struct sv_err *err);

	/* Bytes an operand element has in this precision, and the result's. */
	void (*gemm_element_bytes)(struct sv_device *, enum sv_precision,
	    size_t *operand, size_t *result);
	/*
	 * The first product of a kind may load code and wait for the device:
	 * do one, and wait for it, before a hold.
	 */
	int (*gemm)(
	    struct sv_stream *, const struct sv_gemm *, struct sv_err *);

	/*
	 * Optional (NULL): tell what the device is doing right now: sm_Hz,
	 * memory_Hz, power_w, temperature_C, energy_J, performance_state,
	 * pcie_generation, pcie_width, throttle_mask and throttle (texts).
	 * Costs up to a millisecond: never inside a timed region.
	 */
	void (*state)(struct sv_device *, struct sv_facts *facts);

	/*
	 * Optional (NULL): the end of a case. Gives the first error since the
	 * last call from functions that return none. SV_EDEVICE: the device
	 * is lost to this process, only a fresh one can go on.
	 */
	int (*settle)(struct sv_device *, struct sv_err *err);

	/*
	 * Optional (NULL together): other devices of this machine, and copies
	 * between two of them. Devices are named by their index in list().
	 */
	/*
	 * Whether copies can go from one to the other, direct or through the
	 * host. SV_EUSAGE: there is no such device here.
	 */
	int (*peer_can)(struct sv_device *, int from, int to, bool direct,
	    struct sv_err *err);
	/*
	 * Open a device beside this one; this one itself where it has that
	 * index. It ends with peer_close, before this one does.
	 */
	int (*peer_open)(struct sv_device *, int index, struct sv_device **out,
	    struct sv_err *err);
	void (*peer_close)(struct sv_device *, struct sv_device *peer);
	/*
	 * The device that calls without a stream are about from now on. Whoever
	 * changes it changes it back.
	 */
	int (*peer_use)(struct sv_device *, struct sv_err *err);
	/* Let copies between the two go direct, or no longer. */
	int (*peer_access)(struct sv_device *, struct sv_device *, bool direct,
	    struct sv_err *err);
	/* Copy `bytes` between two devices; the stream is of either. */
	int (*peer_copy)(struct sv_stream *, struct sv_device *to_device,
	    struct sv_buffer *to, struct sv_device *from_device,
	    struct sv_buffer *from, size_t bytes, struct sv_err *err);
};

/* Open device: what every backend's struct begins with. */
struct sv_device {
	const struct sv_backend *ops;
};

/* The backend that this worker was built with. */
extern const struct sv_backend *const sv_backend;

#endif
