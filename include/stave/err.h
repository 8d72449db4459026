/*
 * Errors as values. A fallible function returns 0 or a negative SV_E* code
 * and describes the failure in the caller's struct sv_err: operation, object,
 * cause ("open results/a.json: permission denied"). Nothing here prints or
 * exits; only the two main files do.
 */
#ifndef STAVE_ERR_H
#define STAVE_ERR_H

#include <stdarg.h>
#include <stdio.h>

#define SV_MUST_CHECK __attribute__((warn_unused_result))
#define SV_PRINTF(fmt_index, first_index) \
	__attribute__((format(printf, fmt_index, first_index)))

/*
 * X(name, value, exit status of the stave program, short text). Exit statuses
 * are fixed by the interface contract, section 1.
 */
#define SV_ERROR_TABLE(X)                                         \
	X(SV_EUSAGE, -1, 2, "usage error")                        \
	X(SV_EINPUT, -2, 3, "bad input file")                     \
	X(SV_EDEVICE, -3, 4, "device or backend cannot be used")  \
	X(SV_EUNSUPPORTED, -4, 4, "not supported by this device") \
	X(SV_ERESOURCE, -5, 6, "out of memory or over a limit")   \
	X(SV_EPERMISSION, -6, 6, "no permission")                 \
	X(SV_ECHECK, -7, 5, "verification failed")                \
	X(SV_EPROTOCOL, -8, 5, "worker protocol error")           \
	X(SV_ETIMEOUT, -9, 5, "timed out")                        \
	X(SV_EOUTPUT, -10, 6, "output cannot be written")         \
	X(SV_EINTERRUPTED, -11, 130, "interrupted")               \
	X(SV_ESYSTEM, -12, 6, "system call failed")

enum sv_error {
	SV_OK = 0,
#define SV_X(name, value, status, text) name = (value),
	SV_ERROR_TABLE(SV_X)
#undef SV_X
};

/* What went wrong, for a person. text is always terminated, one line. */
struct sv_err {
	int code;
	char text[1024];
};

/*
 * Fill *err (which may be NULL) and give code back, so that a failing path
 * reads `return sv_err_set(err, SV_EINPUT, "…")`. A message longer than the
 * buffer is cut.
 */
SV_PRINTF(3, 4)
static inline int sv_err_set(struct sv_err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (err == NULL)
		return code;
	err->code = code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, args);
	va_end(args);
	return code;
}

/* Exit status of the stave program for an error code; 0 for SV_OK. */
static inline int sv_err_exit_status(int code)
{
	switch (code) {
#define SV_X(name, value, status, text) \
	case name:                      \
		return status;
		SV_ERROR_TABLE(SV_X)
#undef SV_X
	default:
		return 0;
	}
}

/* Short text of an error code, "ok" for SV_OK. Static storage. */
static inline const char *sv_err_name(int code)
{
	switch (code) {
#define SV_X(name, value, status, text) \
	case name:                      \
		return text;
		SV_ERROR_TABLE(SV_X)
#undef SV_X
	default:
		return "ok";
	}
}

#endif
