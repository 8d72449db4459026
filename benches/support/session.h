/* What the context holds; inside support only. */
#ifndef STAVE_SESSION_H
#define STAVE_SESSION_H

#include "context.h"

struct sv_bench_context {
	struct sv_device *device;
	enum sv_level level;
	uint64_t seed;
	bool timeline;
	const struct sv_case *current;
};

#endif
