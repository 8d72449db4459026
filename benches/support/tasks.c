/* Reading tasks; see the headers. */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"

/* Products a side are at most this, so that sizes fit 64 bits by far. */
#define MAX_SIDE UINT64_C(1000000000)

/*
 * A whole number from *at on, which moves behind it; false where there is
 * none, or one that is too large.
 */
static bool read_number(const char **at, uint64_t most, uint64_t *out)
{
	char *end;
	unsigned long long value;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	value = strtoull(*at, &end, 10);
	if (errno != 0 || value > most)
		return false;
	*at = end;
	*out = value;
	return true;
}

/* `n` numbers with commas between them, and nothing behind. */
static bool read_numbers(
    const char *text, uint64_t most, uint64_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && *text++ != ',')
			return false;
		if (!read_number(&text, most, &out[i]))
			return false;
	}
	return *text == '\0';
}

/* Whether no operand of a product is too large. */
static bool is_small(const uint64_t n[5])
{
	double m = (double)n[0] * (double)n[3], k = (double)n[2];

	return m * (double)n[1] <= SV_TASK_MAX_ELEMENTS &&
	       m * k <= SV_TASK_MAX_ELEMENTS &&
	       k * (double)n[1] * (double)n[3] <= SV_TASK_MAX_ELEMENTS;
}

static int add_gemm(struct sv_task *task, const char *text, struct sv_err *err)
{
	uint64_t n[5], launches = 0;
	struct sv_task_gemm *grown;

	if (!read_numbers(text, MAX_SIDE, n, 5) || n[0] < 1 || n[1] < 1 ||
	    n[2] < 1 || n[3] < 1 || n[3] > SV_TASK_MAX_COUNT ||
	    (n[4] != 1 && n[4] != n[3]) || !is_small(n))
		return sv_err_set(err, SV_EUSAGE,
		    "task: gemm=%.60s: expected M,N,K,COUNT,LAUNCHES, "
		    "LAUNCHES being 1 or COUNT, and at most %g elements",
		    text, SV_TASK_MAX_ELEMENTS);
	for (size_t i = 0; i < task->n_gemm; i++)
		launches += task->gemm[i].launches;
	if (task->n_gemm == SV_TASK_MAX_GEMM ||
	    launches + n[4] > SV_TASK_MAX_LAUNCHES)
		return sv_err_set(err, SV_EUSAGE,
		    "task: at most %d kinds of products and %d launches",
		    SV_TASK_MAX_GEMM, SV_TASK_MAX_LAUNCHES);
	grown = realloc(task->gemm, (task->n_gemm + 1) * sizeof *grown);
	if (grown == NULL)
		return sv_err_set(err, SV_ERESOURCE, "task: out of memory");
	task->gemm = grown;
	task->gemm[task->n_gemm++] =
	    (struct sv_task_gemm){n[0], n[1], n[2], n[3], n[4]};
	return 0;
}

/* One KEY=VALUE. */
static int read_part(struct sv_task *task, char *part, struct sv_err *err)
{
	uint64_t memory[2], habits = 0;
	const struct {
		const char *key;
		uint64_t *number, most;
	} numbers[] = {{"batch", &task->batch, SV_TASK_MAX_BYTES},
	    {"kernels", &task->kernels, SV_TASK_MAX_LAUNCHES},
	    {"h2d", &task->h2d_bytes, SV_TASK_MAX_BYTES},
	    {"d2h", &task->d2h_bytes, SV_TASK_MAX_BYTES},
	    {"set", &task->set_bytes, SV_TASK_MAX_BYTES},
	    {"habits", &habits, 1}};
	char *value = strchr(part, '=');

	if (value == NULL)
		return sv_err_set(err, SV_EUSAGE,
		    "task: \"%.60s\": expected KEY=VALUE", part);
	*value++ = '\0';
	if (strcmp(part, "gemm") == 0)
		return add_gemm(task, value, err);
	if (strcmp(part, "precision") == 0 || strcmp(part, "half") == 0) {
		enum sv_precision *to =
		    part[0] == 'h' ? &task->half : &task->precision;

		if (sv_precision_parse(value, to))
			return 0;
	} else if (strcmp(part, "memory") == 0) {
		if (read_numbers(value, SV_TASK_MAX_BYTES, memory, 2)) {
			task->memory_fp32_bytes = memory[0];
			task->memory_half_bytes = memory[1];
			return 0;
		}
	}
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (strcmp(part, numbers[i].key) == 0 &&
		    read_numbers(
			value, numbers[i].most, numbers[i].number, 1)) {
			task->habits = task->habits || habits != 0;
			return 0;
		}
	return sv_err_set(err, SV_EUSAGE,
	    "task: %.20s=%.60s: no such key, or not a value of it", part,
	    value);
}

int sv_task_parse(const char *word, struct sv_task *out, struct sv_err *err)
{
	char *copy = strdup(word), *rest = copy, *part;
	int code = 0;

	*out = (struct sv_task){.precision = SV_FP32, .half = SV_FP16};
	if (copy == NULL)
		return sv_err_set(err, SV_ERESOURCE, "task: out of memory");
	part = strsep(&rest, ";");
	if (part[0] == '\0' || strlen(part) >= sizeof out->name ||
	    strpbrk(part, "/=?& ") != NULL)
		code = sv_err_set(err, SV_EUSAGE,
		    "task: \"%.80s\": expected a name without / = ? & and "
		    "spaces, under %d letters",
		    part, SV_TASK_NAME_BYTES);
	else
		memcpy(out->name, part, strlen(part) + 1);
	while (code == 0 && (part = strsep(&rest, ";")) != NULL)
		code = read_part(out, part, err);
	if (code == 0 && out->batch < 1)
		code = sv_err_set(
		    err, SV_EUSAGE, "task %s: expected batch=N", out->name);
	free(copy);
	return code;
}

void sv_task_fini(struct sv_task *task)
{
	free(task->gemm);
	*task = (struct sv_task){0};
}

int sv_tasks_add(struct sv_tasks *tasks, const char *word, struct sv_err *err)
{
	struct sv_task *grown =
	    realloc(tasks->items, (tasks->n + 1) * sizeof *grown);
	int code;

	if (grown == NULL)
		return sv_err_set(err, SV_ERESOURCE, "task: out of memory");
	tasks->items = grown;
	code = sv_task_parse(word, &grown[tasks->n], err);
	if (code != 0)
		sv_task_fini(&grown[tasks->n]);
	else
		tasks->n++;
	return code;
}

void sv_tasks_fini(struct sv_tasks *tasks)
{
	for (size_t i = 0; i < tasks->n; i++)
		sv_task_fini(&tasks->items[i]);
	free(tasks->items);
	*tasks = (struct sv_tasks){0};
}

void sv_tasks_settle(struct sv_tasks *tasks, struct sv_device *device)
{
	for (size_t i = 0; i < tasks->n; i++) {
		struct sv_task *task = &tasks->items[i];

		if (device->ops->can_precision(device, task->precision, NULL) !=
		    0)
			task->precision = SV_FP32;
	}
}

double sv_task_memory_bytes(
    const struct sv_task *task, enum sv_precision precision)
{
	return (double)(precision == SV_FP16 || precision == SV_BF16
			    ? task->memory_half_bytes
			    : task->memory_fp32_bytes);
}

double sv_task_flop(const struct sv_task *task)
{
	double flop = 0.0;

	for (size_t i = 0; i < task->n_gemm; i++) {
		const struct sv_task_gemm *g = &task->gemm[i];

		flop += 2.0 * (double)g->m * (double)g->n * (double)g->k *
			(double)g->count;
	}
	return flop;
}
