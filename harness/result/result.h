/*
 * The result model: one file of schema stave.result/1 in memory. Rooms above
 * read and build results only through this page.
 *
 * Ownership: a result owns everything reachable from it (its arena and its
 * JSON trees); pointers handed out live as long as the result. Text given to
 * a function is copied. Numbers that a file does not state are NaN here and
 * null in the file.
 *
 * A measurement that is in a result always has a known unit, finite rounds
 * and samples, and a finite summary.median that its rounds do not contradict.
 */
#ifndef STAVE_RESULT_H
#define STAVE_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stave/err.h"

#define SV_RESULT_SCHEMA "stave.result/1"

#define SV_RESULT_MAX_PARAMS 32
#define SV_RESULT_MAX_ID     1024

struct sv_interval {
	double lo, hi; /* both NaN when unknown */
};

/* Statistics of one measurement, in its unit; n counts rounds. */
struct sv_summary {
	size_t n;
	double median;
	struct sv_interval ci95;
	double mad;
	double min, max, p05, p95; /* over raw samples where kept */
};

/* A parameter of a measurement: text, or a whole number (text NULL). */
struct sv_result_param {
	const char *name;
	const char *text;
	int64_t number;
};

enum sv_check_status {
	SV_CHECK_NONE,
	SV_CHECK_PASS,
	SV_CHECK_FAIL,
};

/* The raw samples of one round. */
struct sv_series {
	const double *values;
	size_t n;
};

struct sv_measurement {
	const char *id; /* canonical */
	const char *bench, *metric;
	const struct sv_result_param *params; /* sorted by name */
	size_t n_params;
	const char *unit;
	bool higher_is_better;
	uint64_t inner;	      /* iterations a sample holds; 0 unknown */
	const double *rounds; /* median of each round */
	size_t n_rounds;
	const struct sv_series *samples; /* n_samples is 0 or n_rounds */
	size_t n_samples;
	struct sv_summary summary;
	bool has_reference;
	double reference;
	const char *reference_what; /* NULL when not said */
	const char *const *flags;
	size_t n_flags;
	enum sv_check_status check;
	const char *check_detail; /* NULL when not said */
	long source;		  /* index into run.source, -1 for none */
	json_t *extra;		  /* unknown keys of the file, or NULL */
};

/* A case that was not measured, and why. */
struct sv_skipped {
	const char *bench;
	json_t *params; /* object, or NULL */
	const char *reason, *code;
	json_t *extra; /* unknown keys of the file, or NULL */
};

/* A case that was lost: how its process ended, and the end of its log. */
struct sv_failure {
	const char *bench;
	json_t *params; /* object, or NULL */
	const char *reason;
	const char *kind; /* "signal", "exit" or "timeout" */
	double value;	  /* signal number, exit status, seconds; or NaN */
	const char *log_tail;
	json_t *extra; /* unknown keys of the file, or NULL */
};

struct sv_source {
	const char *title, *where, *retrieved; /* the last two may be NULL */
	json_t *extra; /* unknown keys of the file, or NULL */
};

struct sv_run_info {
	const char *id;
	const char *label, *profile;	/* NULL when not said */
	const char *started, *finished; /* RFC 3339, UTC */
	const char *version, *revision; /* of stave; NULL when not said */
	bool complete;
	const char *origin; /* "measured", "published", "simulated" */
	const struct sv_source *sources; /* in the arena */
	size_t n_sources;
	json_t *extra; /* unknown keys of the file, or NULL */
};

struct sv_result {
	struct sv_run_info run;
	json_t *machine;		     /* object */
	json_t *device;			     /* object */
	struct sv_measurement *measurements; /* in the order of the file */
	size_t n_measurements;
	struct sv_skipped *skipped;
	size_t n_skipped;
	struct sv_failure *failures;
	size_t n_failures;
	json_t *extra;		       /* unknown keys of the file, or NULL */
	struct sv_result_store *store; /* arena, index, capacities */
};

/*
 * An empty result: complete, measured, all other text NULL; NULL when out of
 * memory.
 */
struct sv_result *sv_result_new(void);
void sv_result_free(struct sv_result *);

/*
 * Copy text into the result's arena; bytes that are no UTF-8 become U+FFFD, so
 * that every text can be written. NULL in, or no memory: NULL out.
 */
const char *sv_result_text(struct sv_result *, const char *text);
/*
 * Bytes of the UTF-8 character that terminated text begins with, 0 where it
 * begins with none. Source: RFC 3629, section 4 (no overlong forms, no
 * surrogates, nothing above U+10FFFF).
 */
size_t sv_utf8_length(const char *text);
/* n bytes of zeroed storage in the arena, aligned for any type. */
void *sv_result_bytes(struct sv_result *, size_t n);

/*
 * Add a measurement: id computed, fields copied, references to its trees
 * taken. Errors: SV_EINPUT for a second one of the same id and for one that no
 * file may hold (the text names the field), SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_result_add(
    struct sv_result *, const struct sv_measurement *copy, struct sv_err *err);
SV_MUST_CHECK int sv_result_add_skipped(
    struct sv_result *, const struct sv_skipped *copy, struct sv_err *err);
/* kind is "signal", "exit" or "timeout", else SV_EINPUT. */
SV_MUST_CHECK int sv_result_add_failure(
    struct sv_result *, const struct sv_failure *copy, struct sv_err *err);

/* The measurement of a canonical id, or NULL. */
const struct sv_measurement *sv_result_find(
    const struct sv_result *, const char *id);

/*
 * Canonical id `bench/metric?k=v&…`, keys sorted bytewise, written to out
 * (size bytes). Errors: SV_EINPUT when it does not fit, and where a name is
 * empty, a key is there twice, or a character would make the id ambiguous:
 * space, control characters, `?` and `&` anywhere, `/` and `=` in names.
 */
SV_MUST_CHECK int sv_result_id(char *out, size_t size, const char *bench,
    const char *metric, const struct sv_result_param *params, size_t n,
    struct sv_err *err);

/*
 * A field of machine or device by dotted path ("pcie.under_load.width");
 * NULL when absent or null.
 */
json_t *sv_result_field(json_t *object, const char *path);

/*
 * Read and check a file (or a pipe). Errors: SV_EINPUT, one line with file,
 * line or JSON path, what was expected and what was found; SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_result_read(
    const char *path, struct sv_result **out, struct sv_err *err);
/* The same from memory; name stands for the file in messages. */
SV_MUST_CHECK int sv_result_parse(const char *text, size_t n_bytes,
    const char *name, struct sv_result **out, struct sv_err *err);

/* Whether raw samples go into the file. */
enum sv_keep {
	SV_KEEP_ALL,
	SV_KEEP_SUMMARY,
};

/*
 * The result as a JSON tree (a new reference, which shares subtrees with the
 * result: not to be modified); NULL when out of memory.
 */
json_t *sv_result_to_json(const struct sv_result *, enum sv_keep keep);

/* Print as the file has it. Errors: SV_EOUTPUT, SV_ERESOURCE. */
SV_MUST_CHECK int sv_result_print(
    const struct sv_result *, FILE *out, enum sv_keep keep, struct sv_err *err);

/*
 * Write atomically: a temporary file beside path, fsync, rename, fsync of the
 * folder. A symbolic link stays and its target is replaced; an existing path
 * that is no regular file is refused. Errors: SV_EOUTPUT, SV_ERESOURCE; an
 * existing file is untouched then and nothing is left beside it.
 */
SV_MUST_CHECK int sv_result_write(const struct sv_result *, const char *path,
    enum sv_keep keep, struct sv_err *err);

#endif
