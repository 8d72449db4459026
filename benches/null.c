/*
 * Question: does the harness give back a time that is known beforehand?
 * Method: spin on the clock until a declared time has passed; the reading is
 * the same clock around `inner` of these.
 * Inside the timed region: the spins and the loop around them. Outside:
 * nothing.
 * Known bias: each spin overshoots by up to one read of the clock.
 * Source: fio's null engine, as an idea: a benchmark of known cost tests the
 * tool.
 */
#include "context.h"
#include "stave/bench.h"
#include "stave/units.h"
#include "timing.h"

static const struct sv_metric metrics[] = {
    {"sleep", SV_UNIT_SECONDS, false, "time that a declared wait takes"},
};

static const struct sv_value waits_ns[] = {
    {NULL, 10000, SV_QUICK},
    {NULL, 1000000, SV_QUICK},
    {NULL, 100000, SV_STANDARD},
};

static const struct sv_axis axes[] = {
    {"ns", waits_ns, sizeof waits_ns / sizeof waits_ns[0]},
};

static const struct sv_group groups[] = {
    {{"sleep"}, axes, 1, NULL},
};

static int supported(
    struct sv_device *device, const struct sv_case *c, struct sv_err *err)
{
	(void)device;
	(void)c;
	(void)err;
	return 0;
}

static struct sv_cost cost(const struct sv_case *c)
{
	(void)c;
	return (struct sv_cost){0};
}

struct state {
	uint64_t ns;
	uint64_t early; /* spins that came back before their time */
};

static int measure(
    void *state, uint64_t inner, double *readings, struct sv_err *err)
{
	struct state *s = state;
	uint64_t start = sv_now_ns(), now = start;

	(void)err;
	for (uint64_t i = 0; i < inner; i++) {
		uint64_t begin = now;

		do {
			now = sv_now_ns();
		} while (now - begin < s->ns);
		if (now < begin)
			s->early++;
	}
	readings[0] = (double)(now - start);
	return 0;
}

static int run(struct sv_bench_context *context, const struct sv_case *c,
    struct sv_err *err)
{
	struct state state = {.ns = (uint64_t)sv_case_number(c, "ns")};
	const struct sv_sampled sampled[] = {{.metric = "sleep",
	    .as = SV_AS_TIME,
	    .reference = (double)state.ns * 1e-9,
	    .reference_what = "the declared time"}};
	const struct sv_sampling sampling = {0};
	int code =
	    sv_sample(context, sampled, 1, &sampling, measure, &state, err);

	if (code == 0)
		sv_report_check(context, state.early == 0,
		    "%llu waits during which the clock went backwards",
		    (unsigned long long)state.early);
	return code;
}

const struct sv_bench sv_bench_null = {
    .name = "null",
    .question = "Does the harness give back a time that is known beforehand?",
    .source = "known-cost benchmark, after fio's null engine",
    .metrics = metrics,
    .n_metrics = 1,
    .groups = groups,
    .n_groups = 1,
    .supported = supported,
    .cost = cost,
    .run = run,
};
