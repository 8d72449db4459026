/*
 * Specifications that a machine is qualified against, stave.spec/1: bounds on
 * figures, absolute or relative to what the card and its link can, and
 * expectations of the environment. Each says its basis and source.
 *
 * Ownership: a specification owns its text.
 */
#ifndef STAVE_SPEC_H
#define STAVE_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "checklist.h"
#include "result.h"
#include "stave/err.h"

#define SV_SPEC_SCHEMA "stave.spec/1"

/* What a rule is about beside its condition. */
struct sv_rule {
	const char *code;  /* unique within the specification */
	const char *cause; /* a code of `explain` or `doctor` */
	const char *title, *severity;
	const char *basis; /* datasheet, published, link, derived, convention */
	const char *source; /* where the number is from */
	const char *remedy, *next_command;
};

/* Limits of a number; NaN for none. */
struct sv_limits {
	double at_least, at_most;
	/* A field that both are shares of: "device.peak_flops.fp16"; or NULL.
	 */
	const char *relative_to;
};

struct sv_bound {
	struct sv_rule rule;
	const char *pattern; /* of figures, as sv_pattern_fits has it */
	bool every;	     /* all that fit, not the best of them */
	struct sv_limits limits;
};

/* What a field of the result must be. */
enum sv_expected {
	SV_EXPECT_NUMBER, /* within limits */
	SV_EXPECT_ONE_OF, /* equal to one of words; true and false too */
	SV_EXPECT_FITS,	  /* text that fits one of words, with wildcards */
	SV_EXPECT_LACKS,  /* a list that has none of words */
};

struct sv_expectation {
	struct sv_rule rule;
	const char *field; /* "device.…", "machine.…", "run.complete" */
	enum sv_expected kind;
	struct sv_limits limits;
	const char *const *words;
	size_t n_words;
};

struct sv_spec {
	const char *name, *title;
	const char *profile;	    /* to run with */
	const char *const *benches; /* to run, NULL-ended */
	struct sv_bound *bounds;
	size_t n_bounds;
	struct sv_expectation *expectations;
	size_t n_expectations;
	struct sv_result *arena;
};

/*
 * Read a specification by name (shipped) or path. A file that says "extends":
 * NAME begins with the rules of that shipped one; rules of the same code take
 * their place. Errors: SV_EINPUT with file, place and what was expected,
 * SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_spec_read(
    const char *name_or_path, struct sv_spec **out, struct sv_err *err);
/* The same from memory; name stands for the file in messages. */
SV_MUST_CHECK int sv_spec_parse(const char *text, size_t n_bytes,
    const char *name, struct sv_spec **out, struct sv_err *err);
void sv_spec_free(struct sv_spec *);

/* Names of what is shipped; one block, the caller frees. */
SV_MUST_CHECK int sv_spec_shipped(char ***out, struct sv_err *err);

/*
 * Judge a result: pass, fail, inconclusive or skipped each. A figure passes
 * when all of its interval does, fails when none does. A failed check fails;
 * what is impossible, lost or unknown is inconclusive; what was not measured
 * is skipped. The verdict is pass only when every check passed. The checklist
 * borrows ids of the result. Errors: SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_spec_judge(const struct sv_spec *,
    const struct sv_result *, struct sv_checklist *out, struct sv_err *err);

#endif
