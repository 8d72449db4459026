/*
 * Host memory as the device sees it: what is pinned and on which node it is;
 * whether it changed since a copy last read it; and results too dear to
 * compute whole, of which only the pages that the host touches are computed.
 *
 * Copies of hundreds of megabytes are repeated thousands of times by a
 * benchmark and cost real time here. Memory that was the same twice is
 * therefore made read-only: until the host writes to it (a page fault, which
 * this file serves) it is known to be unchanged, and copying it again is
 * known to change nothing. Pages of results not yet computed allow no access
 * at all. A system call that writes into such a page fails with EFAULT.
 */
#include "sim.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE		   4096
#define WATCHES		   8192 /* a power of two */
#define WATCH_LEAST	   (64 << 10)
#define WATCH_LEAST_PAGED  (1 << 20)
#define DEFER_LEAST	   (256 << 10)
#define MMAP_FROM	   (128 << 10)
#define MPOL_NODE_OF_ADDR  3 /* MPOL_F_NODE | MPOL_F_ADDR, linux/mempolicy.h */
#define EQUAL_BEFORE_WATCH 2
#define MOST_NEEDED	   8
#define LARGE		   (16 << 20)
#define PAGES_AT_ONCE	   512

struct pin {
	char *data;
	uint64_t bytes;
	unsigned flags;
	bool owned;
};

struct watch {
	const char *data;
	uint64_t bytes;
	uint64_t hash, edges; /* of everything; of the pages shared */
	uint64_t version;
	unsigned equal, needed;
	bool guarded; /* whole pages are read-only */
};

/* Pages whose bytes come from a lazy result when touched. */
struct deferred {
	struct deferred *next;
	char *from, *to;
	uint64_t address; /* device address of from */
	struct sim_lazy *lazy;
};

static struct pin *pins;
static size_t n_pins, pins_room;
static struct watch watches[WATCHES];
static size_t n_watches, n_guarded;
static struct deferred *deferrals;
static bool handling;
static struct sigaction previous;

/* --- pinned memory --- */

static struct pin *pin_over(const void *data, uint64_t bytes)
{
	const char *p = data;

	for (size_t i = 0; i < n_pins; i++)
		if (p >= pins[i].data &&
		    p + bytes <= pins[i].data + pins[i].bytes)
			return &pins[i];
	return NULL;
}

int sim_pin(void *data, uint64_t bytes, unsigned flags, bool owned)
{
	if (n_pins == pins_room) {
		size_t room = pins_room * 2 + 16;
		struct pin *grown = realloc(pins, room * sizeof *pins);

		if (grown == NULL)
			return SIM_OUT_OF_MEMORY;
		pins = grown;
		pins_room = room;
	}
	pins[n_pins++] = (struct pin){data, bytes, flags, owned};
	return 0;
}

uint64_t sim_pinned_bytes(const void *data, bool *owned, unsigned *flags)
{
	for (size_t i = 0; i < n_pins; i++)
		if (pins[i].data == data) {
			*owned = pins[i].owned;
			*flags = pins[i].flags;
			return pins[i].bytes;
		}
	return 0;
}

bool sim_host_is_pinned(const void *data, uint64_t bytes)
{
	return pin_over(data, bytes) != NULL;
}

bool sim_host_is_far(const void *data)
{
	const char *said = getenv("STAVE_SIM_HOST");
	const char *near_node = getenv("STAVE_SIM_NODE");
	int node = 0;

	if (said != NULL)
		return strcmp(said, "far") == 0;
	if (syscall(SYS_get_mempolicy, &node, NULL, 0, data,
		MPOL_NODE_OF_ADDR) != 0)
		return false;
	return node != (near_node == NULL ? 0 : atoi(near_node));
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

void *sim_host_alloc(uint64_t bytes)
{
	void *data = mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return data == MAP_FAILED ? NULL : data;
}

void sim_host_release(void *data, uint64_t bytes)
{
	munmap(data, whole_pages(bytes));
}

/* --- whole pages of a range, and what they allow --- */

static char *pages_from(const void *data)
{
	/* Borrowed from the caller's own memory: writable where that is. */
	return (char *)(((uintptr_t)data + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
}

static char *pages_to(const void *data, uint64_t bytes)
{
	return (char *)(((uintptr_t)data + bytes) & ~(uintptr_t)(PAGE - 1));
}

/* Whether every page there still allows what we set ("r--" or "---"). */
static bool still_allows(const char *from, const char *to, const char *what)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t at = (uintptr_t)from;
	char line[512], perms[8];
	unsigned long low, high;

	while (maps != NULL && at < (uintptr_t)to &&
	       fgets(line, sizeof line, maps) != NULL) {
		if (sscanf(line, "%lx-%lx %7s", &low, &high, perms) != 3 ||
		    high <= at)
			continue;
		if (low > at || strncmp(perms, what, 3) != 0)
			break;
		at = high;
	}
	if (maps != NULL)
		fclose(maps);
	return at >= (uintptr_t)to;
}

/* --- results computed page by page --- */

static void drop(struct deferred **place)
{
	struct deferred *gone = *place;

	*place = gone->next;
	sim_lazy_unref(gone->lazy);
	free(gone);
}

static void add_deferred(
    char *from, char *to, uint64_t address, struct sim_lazy *lazy)
{
	struct deferred *d;

	if (from >= to)
		return;
	d = malloc(sizeof *d);
	if (d == NULL)
		abort();
	sim_lazy_ref(lazy);
	*d = (struct deferred){deferrals, from, to, address, lazy};
	deferrals = d;
}

/* Take [from, to) out of the one at *place; compute it if asked to. */
static void take_out(
    struct deferred **place, char *from, char *to, bool compute)
{
	struct deferred d = **place;

	if (from < d.from)
		from = d.from;
	if (to > d.to)
		to = d.to;
	sim_lazy_ref(d.lazy);
	drop(place);
	add_deferred(d.from, from, d.address, d.lazy);
	add_deferred(to, d.to, d.address + (uint64_t)(to - d.from), d.lazy);
	mprotect(from, (size_t)(to - from), PROT_READ | PROT_WRITE);
	if (compute)
		d.lazy->produce(d.lazy, d.address + (uint64_t)(from - d.from),
		    d.address + (uint64_t)(to - d.from), (unsigned char *)from);
	sim_lazy_unref(d.lazy);
}

static struct deferred **deferred_over(const char *from, const char *to)
{
	for (struct deferred **d = &deferrals; *d != NULL; d = &(*d)->next)
		if ((*d)->from < to && from < (*d)->to)
			return d;
	return NULL;
}

/*
 * Settle what is deferred in a range: computed, or forgotten. Where the
 * program gave the memory back meanwhile, there is nothing of ours.
 */
static void settle(const void *data, uint64_t bytes, bool compute)
{
	char *from = pages_to(data, 0);
	char *to = pages_from((const char *)data + bytes);
	struct deferred **place;

	while ((place = deferred_over(from, to)) != NULL) {
		struct deferred *d = *place;
		bool edge = (const char *)data > d->from ||
			    (const char *)data + bytes < d->to;

		if (!still_allows(d->from, d->to, "---"))
			drop(place);
		else
			take_out(place, from, to, compute || edge);
	}
}

/* --- knowing that memory did not change --- */

/* Mark watches of a range, and of what overlaps it, as not guarded. */
static bool unguard(const char *from, const char *to, bool write_seen)
{
	bool any = false, more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < WATCHES && n_guarded > 0; i++) {
			struct watch *w = &watches[i];
			char *first = pages_from(w->data);
			char *last = pages_to(w->data, w->bytes);

			if (!w->guarded || last <= from || to <= first)
				continue;
			w->guarded = false;
			n_guarded--;
			w->equal = 0;
			if (write_seen && w->needed < MOST_NEEDED)
				w->needed *= 2;
			mprotect(first, (size_t)(last - first),
			    PROT_READ | PROT_WRITE);
			from = first < from ? first : from;
			to = last > to ? last : to;
			any = more = true;
		}
	}
	return any;
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
	char *page = pages_to(info->si_addr, 0);
	struct deferred **place;
	bool ours;

	sim_lock();
	place = deferred_over(page, page + PAGE);
	ours = place != NULL;
	if (ours)
		take_out(place, page, page + PAGE, true);
	else
		ours = unguard(page, page + PAGE, true);
	sim_unlock();
	if (ours)
		return;
	if (previous.sa_flags & SA_SIGINFO)
		previous.sa_sigaction(signo, info, context);
	else if (previous.sa_handler != SIG_DFL &&
		 previous.sa_handler != SIG_IGN)
		previous.sa_handler(signo);
	else
		signal(SIGSEGV, SIG_DFL); /* the access is tried again */
}

static void handle_faults(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};

	if (handling)
		return;
	handling = true;
	action.sa_sigaction = on_fault;
	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, &previous);
}

bool sim_host_is_ours(const void *data, uint64_t bytes)
{
	const struct pin *pin = pin_over(data, bytes);

	return pin != NULL && pin->owned;
}

/*
 * Which of n pages from `first` on were ever touched: present, or swapped out.
 * All of them where the system does not say. Source: the kernel's
 * Documentation/admin-guide/mm/pagemap.rst.
 */
static void touched_pages(uintptr_t first, size_t n, bool *touched)
{
	static int pagemap = -1;
	uint64_t entries[PAGES_AT_ONCE];
	ssize_t wanted = (ssize_t)(n * sizeof *entries);

	if (pagemap < 0)
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	bool known = pagemap >= 0 &&
		     pread(pagemap, entries, (size_t)wanted,
			 (off_t)(first / PAGE * sizeof *entries)) == wanted;
	for (size_t i = 0; i < n; i++)
		touched[i] = !known || entries[i] >> 62 != 0;
}

/* The same of memory that is not ours, where a look is all that tells. */
static void nonzero_pages(const char *first, size_t n, bool *nonzero)
{
	for (size_t i = 0; i < n; i++, first += PAGE)
		nonzero[i] =
		    first[0] != 0 || memcmp(first, first + 1, PAGE - 1) != 0;
}

/* A run of whole pages, alike in what was touched. */
static void copy_run(
    char *dst, const char *src, uint64_t bytes, bool from, bool to)
{
	if (from)
		memcpy(dst, src, bytes);
	else if (to)
		memset(dst, 0, bytes);
}

void sim_copy_touched(
    void *dst_bytes, const void *src_bytes, uint64_t bytes, unsigned ours)
{
	char *dst = dst_bytes;
	const char *src = src_bytes;

	if ((uintptr_t)dst % PAGE != (uintptr_t)src % PAGE ||
	    bytes < (uint64_t)4 * PAGE) {
		memcpy(dst, src, bytes);
		return;
	}
	uint64_t head = (uint64_t)(pages_from(src) - src);

	memcpy(dst, src, head);
	dst += head;
	src += head;
	bytes -= head;
	while (bytes >= PAGE) {
		bool from[PAGES_AT_ONCE], to[PAGES_AT_ONCE];
		uint64_t pages = bytes / PAGE;
		size_t n = pages < PAGES_AT_ONCE ? pages : PAGES_AT_ONCE;
		size_t start = 0;

		if (ours & SIM_SRC_OURS)
			touched_pages((uintptr_t)src, n, from);
		else
			nonzero_pages(src, n, from);
		if (ours & SIM_DST_OURS)
			touched_pages((uintptr_t)dst, n, to);
		else
			memset(to, true, sizeof to);
		for (size_t i = 1; i <= n; i++) {
			if (i < n && from[i] == from[start] &&
			    to[i] == to[start])
				continue;
			copy_run(dst + start * PAGE, src + start * PAGE,
			    (i - start) * PAGE, from[start], to[start]);
			start = i;
		}
		dst += n * PAGE;
		src += n * PAGE;
		bytes -= n * PAGE;
	}
	memcpy(dst, src, bytes);
}

/* Four lanes, so that it runs at memory's speed. */
static uint64_t hash_of(const void *data, uint64_t bytes, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t lane[4] = {seed, seed ^ 1, seed ^ 2, seed ^ 3};
	uint64_t word[4];

	while (bytes >= sizeof word) {
		memcpy(word, p, sizeof word);
		for (int i = 0; i < 4; i++) {
			lane[i] =
			    (lane[i] ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
			lane[i] ^= lane[i] >> 29;
		}
		p += sizeof word;
		bytes -= sizeof word;
	}
	memset(word, 0, sizeof word);
	memcpy(word, p, bytes);
	for (int i = 0; i < 4; i++)
		seed = (seed ^ lane[i] ^ word[i] ^ bytes) *
			   UINT64_C(0xbf58476d1ce4e5b9) +
		       (seed >> 31);
	return seed;
}

/* Of what was touched; the rest is zero for ever, whatever its number. */
static uint64_t hash_touched(const char *data, uint64_t bytes)
{
	uint64_t hash = 0, at = 0;

	while (at < bytes) {
		bool touched[PAGES_AT_ONCE];
		uint64_t pages = (bytes - at + PAGE - 1) / PAGE;
		size_t n = pages < PAGES_AT_ONCE ? pages : PAGES_AT_ONCE;

		touched_pages((uintptr_t)data + at, n, touched);
		for (size_t i = 0; i < n; i++, at += PAGE)
			if (touched[i])
				hash = hash_of(data + at,
				    bytes - at < PAGE ? bytes - at : PAGE,
				    hash ^ at);
	}
	return hash;
}

/* Of the first and last page, which other data may share. */
static uint64_t edge_hash(const struct watch *w)
{
	const char *first = pages_from(w->data);
	const char *last = pages_to(w->data, w->bytes);
	uint64_t head = hash_of(w->data, (uint64_t)(first - w->data), 1);

	return hash_of(last, (uint64_t)(w->data + w->bytes - last), head);
}

/* Memory of cases long gone fills the table: begin again. */
static void forget_watches(void)
{
	for (size_t i = 0; i < WATCHES; i++)
		if (watches[i].guarded)
			unguard(watches[i].data,
			    watches[i].data + watches[i].bytes, false);
	memset(watches, 0, sizeof watches);
	n_watches = 0;
}

static struct watch *watch_of(const void *data, uint64_t bytes)
{
	uint64_t key =
	    ((uintptr_t)data ^ bytes << 20) * UINT64_C(0x9e3779b97f4a7c15);

	for (size_t i = key >> 32, tries = 0; tries < WATCHES; i++, tries++) {
		struct watch *w = &watches[i % WATCHES];

		if (w->data == data && w->bytes == bytes)
			return w;
		if (w->data != NULL)
			continue;
		if (n_watches >= WATCHES / 2) {
			forget_watches();
			return watch_of(data, bytes);
		}
		n_watches++;
		w->data = data;
		w->bytes = bytes;
		w->needed = bytes < LARGE ? EQUAL_BEFORE_WATCH : 1;
		return w;
	}
	return NULL;
}

static void guard(struct watch *w)
{
	char *first = pages_from(w->data);
	char *last = pages_to(w->data, w->bytes);

	w->edges = edge_hash(w);
	handle_faults();
	w->guarded = mprotect(first, (size_t)(last - first), PROT_READ) == 0;
	n_guarded += w->guarded;
}

uint64_t sim_host_version(const void *data, uint64_t bytes)
{
	bool pinned = sim_host_is_pinned(data, bytes);
	struct watch *w;
	uint64_t hash;

	if (bytes < (pinned ? WATCH_LEAST : WATCH_LEAST_PAGED))
		return 0;
	sim_host_will_read(data, bytes);
	w = watch_of(data, bytes);
	if (w == NULL)
		return 0;
	/* Pageable memory may have gone and come again without our knowing. */
	if (w->guarded && !pinned &&
	    !still_allows(pages_from(data), pages_to(data, bytes), "r--")) {
		w->guarded = false;
		n_guarded--;
	}
	if (w->guarded && w->edges == edge_hash(w))
		return w->version;
	hash = pinned && sim_host_is_ours(data, bytes) &&
		       (uintptr_t)data % PAGE == 0
		   ? hash_touched(data, bytes)
		   : hash_of(data, bytes, 0);
	if (w->version != 0 && w->hash == hash) {
		w->equal++;
	} else {
		w->hash = hash;
		w->version = ++sim.version;
		w->equal = 0;
	}
	if (!w->guarded && w->equal >= w->needed)
		guard(w);
	return w->version;
}

void sim_host_will_read(const void *data, uint64_t bytes)
{
	settle(data, bytes, true);
}

void sim_host_will_write(void *data, uint64_t bytes)
{
	const char *p = data;

	settle(data, bytes, false);
	unguard(p, p + bytes, false);
}

/* --- copies out --- */

/* One piece that one lazy result covers: whole pages of it can wait. */
static void defer_piece(char *data, struct sim_span *span, uint64_t address,
    uint64_t bytes, struct sim_lazy *lazy)
{
	char *from = pages_from(data), *to = pages_to(data, bytes);
	uint64_t head = (uint64_t)(from - data);
	uint64_t tail = (uint64_t)(data + bytes - to);

	sim_lazy_ref(lazy);
	memcpy(data, sim_span_read(span, address, head), head);
	memcpy(to, sim_span_read(span, address + bytes - tail, tail), tail);
	handle_faults();
	mprotect(from, (size_t)(to - from), PROT_NONE);
	add_deferred(from, to, address + head, lazy);
	sim_lazy_unref(lazy);
}

void sim_host_copy_out(
    void *data, struct sim_span *span, uint64_t address, uint64_t bytes)
{
	char *p = data;
	unsigned ours =
	    SIM_SRC_OURS | (sim_host_is_ours(data, bytes) ? SIM_DST_OURS : 0);
	bool wait =
	    bytes >= DEFER_LEAST && ((uintptr_t)data - address) % 8 == 0 &&
	    sim_span_cost(span, address, bytes) > (double)sim.lazy_eager_flop;

	sim_host_will_write(data, bytes);
	while (bytes > 0) {
		uint64_t end, piece;
		struct sim_lazy *lazy = sim_span_lazy_at(span, address, &end);

		piece = end - address < bytes ? end - address : bytes;
		if (wait && lazy != NULL && piece > (uint64_t)2 * PAGE)
			defer_piece(p, span, address, piece, lazy);
		else
			sim_copy_touched(p, sim_span_read(span, address, piece),
			    piece, ours);
		p += piece;
		address += piece;
		bytes -= piece;
	}
}

void sim_unpin(void *data)
{
	for (size_t i = 0; i < n_pins; i++) {
		if (pins[i].data != data)
			continue;
		if (pins[i].owned)
			settle(data, whole_pages(pins[i].bytes), false);
		else
			settle(data, pins[i].bytes, true);
		unguard(data, (char *)data + pins[i].bytes, false);
		pins[i] = pins[--n_pins];
		return;
	}
}

void sim_host_forget_all(void)
{
	while (deferrals != NULL)
		settle(deferrals->from,
		    (uint64_t)(deferrals->to - deferrals->from), false);
	forget_watches();
	for (size_t i = 0; i < n_pins; i++)
		if (pins[i].owned)
			sim_host_release(pins[i].data, pins[i].bytes);
	free(pins);
	pins = NULL;
	n_pins = pins_room = 0;
	if (handling)
		sigaction(SIGSEGV, &previous, NULL);
	handling = false;
}

/*
 * Blocks that the C library keeps in its heap are written by free() itself,
 * with locks held that computing a page may need: keep large ones out of it.
 */
__attribute__((constructor)) static void keep_large_blocks_apart(void)
{
	mallopt(M_MMAP_THRESHOLD, MMAP_FROM);
}
