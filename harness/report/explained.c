/* Explaining all shipped workloads; see the header. */
#include "explained.h"

#include <math.h>
#include <stdlib.h>

#include "explain.h"
#include "workload.h"

static double speedup_of(const json_t *explanation)
{
	json_t *value =
	    json_object_get(json_object_get(explanation, "speedup"), "value");

	return json_is_number(value) ? json_number_value(value) : INFINITY;
}

static int by_speedup(const void *left, const void *right)
{
	double a = speedup_of(*(json_t *const *)left);
	double b = speedup_of(*(json_t *const *)right);

	return a < b ? -1 : a > b;
}

int sv_explained_one(const struct sv_result *a, const struct sv_result *b,
    const char *workload, json_t **out, struct sv_err *err)
{
	struct sv_workload *read = NULL;
	struct sv_explanation *explanation = NULL;
	struct sv_explain_request request = {
	    .a = a, .b = b, .draws = SV_EXPLAIN_DRAWS};
	int code = sv_workload_read(workload, &read, err);

	*out = NULL;
	request.workload_a = request.workload_b = read;
	if (code == 0)
		code = sv_explain(&request, &explanation, err);
	if (code == 0) {
		*out = sv_explanation_json(explanation);
		if (*out == NULL)
			code = sv_err_set(
			    err, SV_ERESOURCE, "explain: out of memory");
	}
	sv_explanation_free(explanation);
	sv_workload_free(read);
	return code;
}

int sv_explained_make(const struct sv_result *a, const struct sv_result *b,
    struct sv_explained *out, struct sv_err *err)
{
	char **names = NULL;
	int code = sv_workload_shipped(&names, err);

	*out = (struct sv_explained){.n = 0};
	/* A program without its workloads still reports. */
	if (code != 0)
		return code == SV_ERESOURCE ? code : 0;
	for (size_t i = 0; code == 0 && names[i] != NULL; i++) {
		if (out->n == SV_EXPLAINED_MAX)
			break;
		code =
		    sv_explained_one(a, b, names[i], &out->list[out->n], err);
		out->n += out->list[out->n] != NULL;
		if (code != SV_ERESOURCE)
			code = 0;
	}
	free(names);
	if (code != 0)
		sv_explained_free(out);
	else if (out->n > 0)
		qsort(out->list, out->n, sizeof *out->list, by_speedup);
	return code;
}

void sv_explained_free(struct sv_explained *x)
{
	for (size_t i = 0; i < x->n; i++)
		json_decref(x->list[i]);
	x->n = 0;
}
