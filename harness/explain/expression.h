/*
 * Arithmetic in B, the batch: what a workload's shapes are written in
 * ("B*196", "(B+1)/2"). Numbers, B, + - * / and parentheses; nothing else, so
 * that a workload file can hold no program.
 */
#ifndef STAVE_EXPRESSION_H
#define STAVE_EXPRESSION_H

#include "stave/err.h"

struct sv_expression;

/*
 * Errors: SV_EINPUT with the column and what was expected there, SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_expression_new(
    const char *text, struct sv_expression **out, struct sv_err *err);
/* NULL when out of memory, and for NULL. */
struct sv_expression *sv_expression_copy(const struct sv_expression *);
void sv_expression_free(struct sv_expression *);

/* The value at a batch; not finite where the arithmetic is not. */
double sv_expression_at(const struct sv_expression *, double batch);

#endif
