/*
 * The kernels of support/kernels.h on host cores. Addresses are pointers into
 * this process. Stores are ordinary ones: what a write to a line that is not
 * in cache costs beside (reading it first) is part of what the host does and
 * is not counted as traffic.
 */
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "host.h"
#include "kernels.h"
#include "timing.h"
#include "waiting.h"

/* Independent sums, so that additions do not wait for each other. */
#define LANES 32

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

void host_part(
    uint64_t n, unsigned member, unsigned members, uint64_t *from, uint64_t *to)
{
	uint64_t each = (n / members + 15) / 16 * 16;

	*from = each * member < n ? each * member : n;
	*to = member + 1 == members || *from + each > n ? n : *from + each;
}

static void run_null(struct host_team *team, const void *args)
{
	(void)team;
	(void)args;
}

static void run_busy(struct host_team *team, const void *args)
{
	const struct svk_busy_args *a = args;
	uint64_t end = sv_now_ns() + a->ns;

	(void)team;
	while (sv_now_ns() < end)
		host_pause();
}

struct read_work {
	struct svk_read_args args;
	float sums[SV_MAX_TEAM];
};

static void read_part(const void *args, unsigned member, unsigned members)
{
	/* The team hands const through; the sums are this caller's own. */
	struct read_work *work = (struct read_work *)(uintptr_t)args;
	const float *src = at(work->args.src);
	float lanes[LANES] = {0};
	uint64_t from, to, i;
	float sum = 0.0f;

	host_part(work->args.n, member, members, &from, &to);
	for (i = from; i + LANES <= to; i += LANES)
		for (unsigned lane = 0; lane < LANES; lane++)
			lanes[lane] += src[i + lane];
	for (; i < to; i++)
		sum += src[i];
	for (unsigned lane = 0; lane < LANES; lane++)
		sum += lanes[lane];
	work->sums[member] = sum;
}

static void run_read(struct host_team *team, const void *args)
{
	struct read_work work = {.sums = {0.0f}};
	float sum = 0.0f;

	memcpy(&work.args, args, sizeof work.args);
	host_team_share(team, read_part, &work, work.args.n);
	for (unsigned i = 0; i < host_team_members(team); i++)
		sum += work.sums[i];
	*(float *)at(work.args.out) = sum;
}

static void write_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_write_args *a = args;
	float *dst = at(a->dst);
	float value = a->value;
	uint64_t from, to;

	host_part(a->n, member, members, &from, &to);
	for (uint64_t i = from; i < to; i++)
		dst[i] = value;
}

static void copy_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_copy_args *a = args;
	float *dst = at(a->dst);
	const float *src = at(a->src);
	uint64_t from, to;

	host_part(a->n, member, members, &from, &to);
	memcpy(dst + from, src + from, (to - from) * sizeof *dst);
}

static void triad_part(const void *args, unsigned member, unsigned members)
{
	const struct svk_triad_args *triad = args;
	float *restrict dst = at(triad->dst);
	const float *restrict a = at(triad->a);
	const float *restrict b = at(triad->b);
	float scale = triad->scale;
	uint64_t from, to;

	host_part(triad->n, member, members, &from, &to);
	for (uint64_t i = from; i < to; i++)
		dst[i] = a[i] + scale * b[i];
}

static void run_write(struct host_team *team, const void *args)
{
	const struct svk_write_args *a = args;

	host_team_share(team, write_part, a, a->n);
}

static void run_copy(struct host_team *team, const void *args)
{
	const struct svk_copy_args *a = args;

	host_team_share(team, copy_part, a, a->n);
}

static void run_triad(struct host_team *team, const void *args)
{
	const struct svk_triad_args *a = args;

	host_team_share(team, triad_part, a, a->n);
}

const struct host_kernel *host_kernel_find(const char *name)
{
	static const struct host_kernel kernels[] = {
	    {SV_KERNEL_NULL, false, run_null},
	    {SV_KERNEL_BUSY, false, run_busy},
	    {SV_KERNEL_READ, true, run_read},
	    {SV_KERNEL_WRITE, true, run_write},
	    {SV_KERNEL_COPY, true, run_copy},
	    {SV_KERNEL_TRIAD, true, run_triad},
	};

	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	for (size_t i = 0; i < host_transform_kernels_count; i++)
		if (strcmp(host_transform_kernels[i].name, name) == 0)
			return &host_transform_kernels[i];
	for (size_t i = 0; i < host_step_kernels_count; i++)
		if (strcmp(host_step_kernels[i].name, name) == 0)
			return &host_step_kernels[i];
	return NULL;
}
