/*
 * The simulated driver's inside: one process-wide simulation that the three
 * stand-in libraries (driver, cuBLAS, NVML) share. It models time (a virtual
 * host clock, streams, engines, the link) and effect (device memory whose
 * contents are computed when somebody looks). It does not know the
 * vendors' interfaces; drv_*.c, sim_cublas.c and sim_nvml.c translate.
 *
 * Time is whole picoseconds since the driver was initialised. Everything
 * here is called with the simulation's lock held (sim_enter … sim_leave).
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 16
#define SIM_MAX_PEERS	16
#define SIM_MAX_FAULTS	64
#define SIM_PS_PER_S	1e12

/* Driver error codes that the inside needs to name. */
enum sim_code {
	SIM_OK = 0,
	SIM_INVALID_VALUE = 1,
	SIM_OUT_OF_MEMORY = 2,
	SIM_NOT_INITIALIZED = 3,
	SIM_INVALID_CONTEXT = 201,
	SIM_ILLEGAL_ADDRESS = 700,
	SIM_UNKNOWN = 999,
};

enum sim_precision {
	SIM_FP32,
	SIM_TF32,
	SIM_FP16,
	SIM_FP16ACC,
	SIM_BF16,
	SIM_FP64,
	SIM_PRECISIONS,
};

enum sim_nvml_mode {
	SIM_NVML_OK,
	SIM_NVML_ABSENT,
	SIM_NVML_NO_PERMISSION,
	SIM_NVML_LOST,
};

enum sim_throttle {
	SIM_THROTTLE_NONE,
	SIM_THROTTLE_SW_POWER_CAP,
	SIM_THROTTLE_HW_THERMAL,
	SIM_THROTTLE_SW_THERMAL,
	SIM_THROTTLE_HW_POWER_BRAKE,
};

/* Things of a device that one operation at a time can have. */
enum sim_engine {
	SIM_COMPUTE,
	SIM_H2D,
	SIM_D2H,
	SIM_ENGINES,
	SIM_NO_LINK = SIM_ENGINES,
};

struct sim_op;

/* A device as its file plants it (interface contract, section 6). */
struct sim_planted {
	char name[192];
	int64_t capability_major, capability_minor;
	int64_t multiprocessors, memory_bytes, l2_bytes;
	double sm_clock_Hz, memory_bandwidth_Bps;
	char uuid[48];	   /* "GPU-…" */
	char mig_uuid[48]; /* "MIG-…" */
	char pci_address[32];
	unsigned pci_domain, pci_bus, pci_device;
	int64_t generation, width, max_generation, max_width, idle_generation;
	double h2d_Bps, d2h_Bps, bidir_Bps, pageable_h2d_Bps, pageable_d2h_Bps;
	double link_latency_s, far_node_factor;
	double submit_s, floor_s, graph_node_s, first_s;
	int64_t queue_depth;
	double spin_s, yield_s, block_s, readback_s;
	double alloc_s, alloc_s_per_byte, free_s, pool_alloc_s, trim_s;
	double peak_flops[SIM_PRECISIONS];
	double half_size;
	double power_limit_w, power_default_w, power_max_w;
	enum sim_throttle throttle;
	double throttle_after_s, throttle_factor;
	bool exclusive, mig;
	enum sim_nvml_mode nvml;
};

struct sim_peer {
	int64_t device; /* place in the device file */
	bool p2p;
	double Bps, latency_s;
};

struct sim_fault {
	char call[64];
	int64_t after;
	int64_t error;
	bool sticky, hang, once;
	int64_t calls; /* made so far in this process */
};

struct sim_device {
	struct sim_planted is;
	struct sim_peer peers[SIM_MAX_PEERS];
	size_t n_peers;
	int place; /* in the device file */

	/* What it is doing. */
	struct sim_op *owner[SIM_ENGINES];
	int64_t busy_ps;	/* of kernels so far */
	int64_t throttled_ps;	/* of it at the lower speed */
	int64_t last_active_ps; /* last end of anything, -1 for never */
	unsigned running;
	uint64_t used_bytes;
	uint64_t next_address;

	/* Its primary context. */
	unsigned retained;
	unsigned context_flags;
	int sticky; /* the error that poisoned it, 0 */
	int exclusive_fd;
	bool peer_enabled[SIM_MAX_DEVICES];
	struct sim_stream *legacy;
	struct sim_pool *pools;
	struct sim_pool *default_pool;
	struct sim_pool *current_pool;
};

/* --- sim_config.c: the device file --- */

struct sim_config {
	struct sim_device devices[SIM_MAX_DEVICES];
	size_t n_devices;
	struct sim_fault faults[SIM_MAX_FAULTS];
	size_t n_faults;
	int64_t driver_cuda; /* 13000 for CUDA 13.0 */
	char driver_version[64];
	char cublas_version[32];
};

/*
 * Read a device file. On failure -1, and text says file, key and what was
 * expected, in one line.
 */
int sim_config_load(
    struct sim_config *, const char *path, char *text, size_t text_bytes);

/* --- sim_state.c: the process's one simulation --- */

struct sim {
	struct sim_config config;
	bool configured;  /* the device file was read */
	bool initialised; /* cuInit succeeded */
	struct sim_device *visible[SIM_MAX_DEVICES]; /* CUDA's order */
	size_t n_visible;
	struct sim_device *by_pci[SIM_MAX_DEVICES]; /* NVML's order */
	int64_t host_ps;
	int64_t device_ps;
	struct sim_stream *streams;
	uint64_t sequence;
	uint64_t version;
	uint64_t lazy_eager_flop;
};

extern struct sim sim;

/* Which library an entry point belongs to: faults stay in theirs. */
enum sim_library {
	SIM_LIB_DRIVER,
	SIM_LIB_BLAS,
	SIM_LIB_NVML,
	SIM_LIBRARIES,
};

/*
 * Begin an entry point: take the lock, read the device file if need be, let
 * devices come up to the host's time, and meet planted faults. Gives the
 * error that the call shall return, 0 to go on. *code of a fault is the
 * library's own. Always paired with sim_leave.
 */
int sim_enter(enum sim_library, const char *call);
/* End it: let devices come up to the host's time, release the lock. */
int sim_leave(int code);
/* Same without faults, for what can never fail. */
void sim_lock(void);
void sim_unlock(void);

/* Let the host spend time. */
void sim_spend(double seconds);
int64_t sim_ps(double seconds);
/* Read the device file unless that is done; 0 or SIM_UNKNOWN. */
int sim_configure(void);
/* cuInit's part: order devices, start the clock. */
int sim_initialise(void);
/* Block for ever, as a hung driver does; the lock is given up. */
void sim_hang(void);
struct sim_device *sim_device_of_uuid(const char *text);
/*
 * Width of the memory bus, in bits; with it, a clock follows from the
 * bandwidth: 2 · clock · width / 8. Wide where memory is stacked.
 */
int sim_bus_bits(const struct sim_device *);
/*
 * What a program holds by a handle is the driver's memory: zeroed, and given
 * back with the driver where the program could not give it back.
 */
void *sim_object_new(size_t bytes);
void sim_object_free(void *);

/* --- sim_memory.c: device memory --- */

struct sim_lazy;

/* Contents of [start, next segment's start). */
struct sim_segment {
	uint64_t start; /* offset in the span */
	uint64_t version;
	struct sim_lazy *lazy; /* how to compute them; NULL: bytes are true */
};

/* A contiguous piece of device memory with its own backing. */
struct sim_span {
	struct sim_device *device;
	uint64_t address, bytes;
	unsigned char *backing; /* mapped when first needed */
	struct sim_segment *segments;
	size_t n_segments, room;
	struct sim_pool *pool; /* that parcels it out, or NULL */
	/* Results that share a copy, which was kept for them. */
	unsigned keepers;
};

/* Device memory that a lazy result is computed from. */
struct sim_operand {
	uint64_t address, bytes;
	struct sim_span *kept;	       /* as it was before it was overwritten */
	const unsigned char *borrowed; /* bytes elsewhere, for a moment */
};

#define SIM_MAX_OPERANDS 4
#define SIM_ARGS_BYTES	 128

struct sim_gemm {
	int64_t m, n, k, count;
	bool trans_a, trans_b;
	uint64_t a, b, c;
	int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
	unsigned type_a, type_b, type_c; /* enum sim_type */
	enum sim_precision precision;
	double alpha, beta;
};

/*
 * A result not computed yet. produce writes the bytes that belong to device
 * addresses [from, to) to out.
 */
typedef void sim_produce_fn(
    struct sim_lazy *, uint64_t from, uint64_t to, unsigned char *out);

struct sim_lazy {
	unsigned refs;
	struct sim_lazy *next, *previous;
	sim_produce_fn *produce;
	uint64_t output;
	struct sim_operand in[SIM_MAX_OPERANDS];
	size_t n_in;
	double flop_per_byte; /* of output; how dear it is to look */
	unsigned depth;	      /* results, one behind another, that it keeps */
	uint64_t looked_at;   /* the last time that depth was found anew */
	union {
		struct sim_gemm gemm;
		unsigned char args[sizeof(struct sim_gemm)];
	};
};

/* The live allocation's span that holds the whole range, or NULL. */
struct sim_span *sim_span_find(uint64_t address, uint64_t bytes);
/* 0 or SIM_OUT_OF_MEMORY. */
int sim_span_new(struct sim_device *, uint64_t bytes, struct sim_span **out);
void sim_span_free(struct sim_span *);
/* The true bytes of a range, computed if they were not yet. */
unsigned char *sim_span_read(
    struct sim_span *, uint64_t address, uint64_t bytes);
/*
 * A range is about to be replaced: results that need what is there keep it
 * as it is. lazy, which may be NULL, says how to compute the new contents;
 * else the caller writes them to the returned place.
 */
unsigned char *sim_span_write(
    struct sim_span *, uint64_t address, uint64_t bytes, struct sim_lazy *lazy);
/* Changes whenever something in the range does. */
uint64_t sim_span_version(struct sim_span *, uint64_t address, uint64_t bytes);
/* FLOP that reading the range would cost. */
double sim_span_cost(struct sim_span *, uint64_t address, uint64_t bytes);
/* The lazy result that covers address, up to *end; NULL where true bytes. */
struct sim_lazy *sim_span_lazy_at(
    struct sim_span *, uint64_t address, uint64_t *end);
/* What a context leaves when it goes. */
void sim_device_memory_free(struct sim_device *);
void sim_spans_free_all(void);

struct sim_lazy *sim_lazy_new(sim_produce_fn *, uint64_t output);
void sim_lazy_ref(struct sim_lazy *);
void sim_lazy_unref(struct sim_lazy *);
/* Bytes [offset, offset + bytes) of an operand, for produce functions. */
const unsigned char *sim_operand_read(
    struct sim_lazy *, size_t index, uint64_t offset, uint64_t bytes);

/* --- sim_host.c: host memory as the device sees it --- */

enum sim_host_kind {
	SIM_HOST_PAGEABLE,
	SIM_HOST_PINNED,
};

int sim_pin(void *data, uint64_t bytes, unsigned flags, bool owned);
/* Bytes of the block that starts here, 0 when none does. */
uint64_t sim_pinned_bytes(const void *data, bool *owned, unsigned *flags);
void sim_unpin(void *data);
bool sim_host_is_pinned(const void *data, uint64_t bytes);
/* On a memory node that is not the device's. */
bool sim_host_is_far(const void *data);
void *sim_host_alloc(uint64_t bytes);
void sim_host_release(void *data, uint64_t bytes);
/*
 * A number that stands for the contents of host memory: while it is the same
 * so are they. 0 when not worth the effort.
 */
uint64_t sim_host_version(const void *data, uint64_t bytes);
/* We are about to read, or to write, host memory ourselves. */
void sim_host_will_read(const void *data, uint64_t bytes);
void sim_host_will_write(void *data, uint64_t bytes);
/*
 * Copy device memory to the host, leaving what is dear to compute until the
 * host touches the page.
 */
void sim_host_copy_out(
    void *data, struct sim_span *, uint64_t address, uint64_t bytes);
void sim_host_forget_all(void);
/* Whose anonymous memory it is: untouched pages can be told, and are zero. */
enum sim_ours {
	SIM_SRC_OURS = 1,
	SIM_DST_OURS = 2,
};
/* memcpy that leaves alone what is zero, and untouched, on both sides. */
void sim_copy_touched(
    void *dst, const void *src, uint64_t bytes, unsigned ours);
/* Whether it is memory that the simulated driver allocated. */
bool sim_host_is_ours(const void *data, uint64_t bytes);

/* --- sim_engine.c: time --- */

enum sim_op_state {
	SIM_PENDING,
	SIM_RUNNING,
	SIM_DONE,
};

enum sim_until {
	SIM_UNTIL_TIME,	 /* it ends by itself */
	SIM_UNTIL_FLAG,	 /* or when the flag is no longer 0 */
	SIM_UNTIL_VALUE, /* when a word in memory meets a condition */
};

struct sim_claim {
	struct sim_device *device;
	enum sim_engine engine;
};

struct sim_effect;
typedef int sim_effect_fn(struct sim_op *);

struct sim_op {
	struct sim_op *next;
	unsigned refs;
	enum sim_op_state state;
	struct sim_stream *stream;
	struct sim_device *device;
	uint64_t sequence;
	bool counted; /* takes a place in the stream's queue */
	int64_t submit_ps, start_ps, end_ps;
	struct sim_op **after;
	size_t n_after;

	/* How long it takes. */
	int64_t fixed_ps;
	int64_t work_ps; /* at full clock */
	bool throttles, slowed;
	enum sim_engine link; /* SIM_H2D, SIM_D2H or SIM_NO_LINK */
	double bytes;	      /* still to move over it */
	double bytes_per_s;
	int64_t flows_from_ps;
	struct sim_claim claims[2];
	size_t n_claims;

	/* What it may wait for. */
	enum sim_until until;
	const volatile uint32_t *word;
	uint64_t word_address; /* in device memory, where word is NULL */
	uint32_t wanted;
	unsigned condition;
	int64_t timeout_ps; /* 0: for ever */

	/* What it does when it ends; gives a driver error. */
	sim_effect_fn *effect;
	uint64_t dst, src, amount;
	const struct sim_kernel *kernel;
	void *held; /* let go of with it */
	void (*release)(void *held);
	unsigned char args[SIM_ARGS_BYTES];
	struct sim_gemm gemm;
};

struct sim_graph;

struct sim_stream {
	struct sim_stream *next;
	struct sim_device *device;
	bool non_blocking;
	int priority;
	struct sim_op *head, *tail;
	struct sim_op *last; /* submitted last, done or not; referenced */
	unsigned counted;
	struct sim_graph *capturing; /* freed by who began it */
};

int sim_stream_new(struct sim_device *, bool non_blocking, int priority,
    struct sim_stream **out);
void sim_stream_free(struct sim_stream *);

struct sim_op *sim_op_new(struct sim_stream *);
void sim_op_ref(struct sim_op *);
void sim_op_unref(struct sim_op *);
void sim_op_after(struct sim_op *, struct sim_op *earlier);
void sim_op_claim(struct sim_op *, struct sim_device *, enum sim_engine);
/*
 * Hand an operation to its stream at the host's time. One that counts costs
 * the host the submit time and waits for a place in the queue.
 */
void sim_op_submit(struct sim_op *take_op);
/* Let devices run up to a time that is not after the host's. */
void sim_advance(int64_t until_ps);
/* Host memory may have changed since: flags that operations wait for. */
void sim_poll(void);
/* Let devices, then the host, come to the end of an operation. */
void sim_wait(struct sim_op *);
void sim_wait_stream(struct sim_stream *);
void sim_wait_device(struct sim_device *);
bool sim_stream_idle(struct sim_stream *);
bool sim_device_active(struct sim_device *);
bool sim_device_throttled(struct sim_device *);
/* Drop all work and streams. */
void sim_engine_free_all(void);

/* --- sim_effects.c: what operations do --- */

/* An address that the device follows: its own memory or pinned host's. */
struct sim_place {
	struct sim_span *span; /* NULL: host */
	unsigned char *host;
};

int sim_place_find(uint64_t address, uint64_t bytes, struct sim_place *);
/* Whether address belongs to some device's memory range. */
bool sim_is_device_address(uint64_t address);
sim_effect_fn sim_effect_copy; /* dst, src, amount: any two addresses */
sim_effect_fn sim_effect_fill; /* dst, amount bytes; args: u32 value, width */
sim_effect_fn sim_effect_write_value; /* dst; args: u32 value */
sim_effect_fn sim_effect_kernel;
sim_effect_fn sim_effect_gemm;
/*
 * Make `output` lazily known, unless the same was done before and nothing
 * it depends on changed since. key: what tells this work from another.
 */
struct sim_work {
	sim_produce_fn *produce;
	uint64_t output, output_bytes;
	uint64_t in[SIM_MAX_OPERANDS], in_bytes[SIM_MAX_OPERANDS];
	size_t n_in;
	double flop_per_byte;
	const void *args;
	size_t args_bytes;
};
int sim_work_do(const struct sim_work *);
void sim_effects_forget(void);

/* --- sim_gemm.c --- */

enum sim_type {
	SIM_R_32F,
	SIM_R_64F,
	SIM_R_16F,
	SIM_R_16BF,
};

size_t sim_type_bytes(unsigned type);
/* An IEEE half's value. */
float sim_half(uint16_t half);
/* Device time of a GEMM, without throttling. */
double sim_gemm_seconds(const struct sim_device *, const struct sim_gemm *);

/* --- sim_kernels.c --- */

/* What a launch moves and how long it takes by itself. */
struct sim_kernel_cost {
	uint64_t device_bytes;		  /* read and written */
	uint64_t host_read, host_written; /* over the link */
	const void *host;		  /* where that memory is */
	double fixed_s;			  /* besides the floor */
};

struct sim_kernel {
	const char *name;
	size_t args_bytes; /* of the structure it takes, 0 for any */
	bool holds;
	void (*cost)(const struct sim_op *, struct sim_kernel_cost *);
	sim_effect_fn *effect;
};

/* Those of sim_transform.c. */
extern const struct sim_kernel sim_transform_kernels[];
extern const size_t sim_transform_kernels_count;

/* NULL when nobody knows the name. */
const struct sim_kernel *sim_kernel_find(const char *name);
/* sim_step.c: those of a training step. */
extern const struct sim_kernel sim_step_kernels[];
extern const size_t sim_step_kernels_count;

/* --- drv_pool.c --- */

void sim_pools_trim_on_sync(struct sim_device *);
void sim_pools_free(struct sim_device *);
/* Whether a range lies in one block that its pool has handed out. */
bool sim_pool_owns(struct sim_pool *, uint64_t address, uint64_t bytes);

#endif
