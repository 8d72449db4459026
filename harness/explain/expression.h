/*
 * Arithmetic in one variable: what a workload file writes for the sizes of a
 * matrix product ("B*196"). Numbers, B (the batch), + - * / and parentheses;
 * nothing else, so that a file can do no harm.
 */
#ifndef STAVE_EXPRESSION_H
#define STAVE_EXPRESSION_H

#include "stave/err.h"

/*
 * Value of text at the given batch. Errors: SV_EINPUT with the position and
 * what was expected there; also for a result that is not finite.
 */
SV_MUST_CHECK int sv_expression_value(
    const char *text, double batch, double *out, struct sv_err *err);

#endif
