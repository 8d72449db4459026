/* stave list: benchmarks, devices, specifications. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "machine.h"
#include "quantity.h"
#include "run.h"
#include "table.h"
#include "workload.h"

#define MAX_CARDS     64
#define NVIDIA_VENDOR 0x10deu

struct arguments {
	struct sv_common common;
	const char *what;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case ARGP_KEY_ARG:
		if (a->what != NULL || (strcmp(arg, "benches") != 0 &&
					   strcmp(arg, "devices") != 0 &&
					   strcmp(arg, "workloads") != 0 &&
					   strcmp(arg, "specs") != 0))
			return sv_wrong(state,
			    "\"%.40s\": expected benches, devices, workloads "
			    "or "
			    "specs",
			    arg);
		a->what = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->what == NULL)
			return sv_wrong(state,
			    "expected benches, devices, workloads or specs");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *text(json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "";
}

/* A worker's answer under a key of its hello; a new reference, or NULL. */
static json_t *ask(
    const char *backend, const char *mode, const char *key, struct sv_err *err)
{
	const struct sv_question question = {
	    .backend = backend, .mode = mode, .profile = SV_PROFILE_QUICK};
	json_t *messages, *answer;

	if (sv_run_ask(&question, &messages, err) != 0)
		return NULL;
	answer = json_incref(json_object_get(json_array_get(messages, 0), key));
	json_decref(messages);
	return answer;
}

static void print_axis(json_t *axis)
{
	json_t *values = json_object_get(axis, "values"), *one;
	size_t i;

	printf("    %-12s", text(axis, "name"));
	json_array_foreach (values, i, one) {
		json_t *value = json_object_get(one, "value");

		if (json_is_string(value))
			printf(" %s", json_string_value(value));
		else
			printf(" %lld", (long long)json_integer_value(value));
	}
	printf("\n");
}

static void print_bench(json_t *bench)
{
	json_t *list, *one, *axis;
	size_t i, j;

	printf("%s: %s\n", text(bench, "name"), text(bench, "question"));
	list = json_object_get(bench, "metrics");
	json_array_foreach (list, i, one)
		printf("  %-12s [%s]  %s\n", text(one, "name"),
		    text(one, "unit"), text(one, "summary"));
	list = json_object_get(bench, "groups");
	json_array_foreach (list, i, one) {
		json_t *metrics = json_object_get(one, "metrics"), *metric;

		if (json_array_size(json_object_get(one, "axes")) == 0)
			continue;
		printf("  parameters of");
		json_array_foreach (metrics, j, metric)
			printf(" %s", json_string_value(metric));
		printf("\n");
		json_array_foreach (json_object_get(one, "axes"), j, axis)
			print_axis(axis);
	}
	printf("\n");
}

static int print_json(json_t *take_tree, struct sv_err *err)
{
	return sv_print_json(take_tree, stdout, err) == 0 ? 0
							  : sv_complain(err);
}

static int list_benches(const struct arguments *a, struct sv_err *err)
{
	const char *const *backends = sv_run_backends();
	json_t *benches, *one;
	size_t i;

	if (backends[0] == NULL) {
		sv_err_set(err, SV_EDEVICE,
		    "no worker is installed beside this program");
		return sv_complain(err);
	}
	/* Every worker is built from the same benchmarks. */
	benches = ask(backends[0], "describe", "benches", err);
	if (benches == NULL)
		return sv_complain(err);
	if (a->common.json)
		return print_json(benches, err);
	json_array_foreach (benches, i, one)
		print_bench(one);
	json_decref(benches);
	return 0;
}

/* The devices of one backend, or the one line why there is none. */
static void add_backend(json_t *all, const char *backend)
{
	struct sv_err err = {0};
	json_t *devices = ask(backend, "devices", "devices", &err), *one;
	size_t i;

	if (devices == NULL)
		json_array_append_new(
		    all, json_pack("{s:s, s:n, s:n, s:n, s:n, s:b, s:s}",
			     "backend", backend, "index", "name", "uuid",
			     "pci_address", "usable", 0, "reason", err.text));
	json_array_foreach (devices, i, one) {
		json_t *entry = json_pack("{s:s}", "backend", backend);

		json_object_update(entry, one);
		json_array_append_new(all, entry);
	}
	json_decref(devices);
}

static bool is_listed(json_t *all, const char *address)
{
	json_t *one;
	size_t i;

	json_array_foreach (all, i, one)
		if (strcasecmp(text(one, "pci_address"), address) == 0)
			return true;
	return false;
}

/* Cards on the bus that no backend told of. */
static void add_cards(json_t *all)
{
	static struct sv_pci_card cards[MAX_CARDS];
	size_t n = sv_machine_pci_cards(cards, MAX_CARDS);
	const char *const *backends = sv_run_backends();
	bool has_cuda = backends[0] != NULL && strcmp(backends[0], "cuda") == 0;

	for (size_t i = 0; i < n && i < MAX_CARDS; i++)
		if (cards[i].vendor == NVIDIA_VENDOR &&
		    !is_listed(all, cards[i].address))
			json_array_append_new(all,
			    json_pack("{s:s, s:n, s:s, s:n, s:s, s:b, s:s}",
				"backend", "cuda", "index", "name",
				cards[i].name, "uuid", "pci_address",
				cards[i].address, "usable", 0, "reason",
				has_cuda ? "on the PCI bus, but the driver "
					   "does not offer it"
					 : "on the PCI bus, but this build "
					   "has no CUDA worker"));
}

static void print_devices(json_t *all, const struct arguments *a)
{
	struct sv_report_style style = sv_style(a->common.colour);
	struct sv_table *t = sv_table_new();
	json_t *one;
	size_t i;

	sv_table_column(t, "backend", SV_LEFT);
	sv_table_column(t, "index", SV_RIGHT);
	sv_table_column(t, "name", SV_LEFT);
	sv_table_column(t, "PCI address", SV_LEFT);
	sv_table_column(t, "usable", SV_LEFT);
	json_array_foreach (all, i, one) {
		json_t *index = json_object_get(one, "index");
		char number[24] = "", state[400];

		if (json_is_integer(index))
			snprintf(number, sizeof number, "%lld",
			    (long long)json_integer_value(index));
		if (json_is_true(json_object_get(one, "usable")))
			snprintf(state, sizeof state, "yes");
		else
			snprintf(state, sizeof state, "no: %.380s",
			    text(one, "reason"));
		sv_table_row(t);
		sv_table_cell(t, text(one, "backend"));
		sv_table_cell(t, number);
		sv_table_cell(t, text(one, "name"));
		sv_table_cell(t, text(one, "pci_address"));
		sv_table_cell(t, state);
	}
	sv_table_print(t, stdout, style.width, 0);
	sv_table_free(t);
}

static int list_devices(const struct arguments *a, struct sv_err *err)
{
	json_t *all = json_array();

	for (const char *const *b = sv_run_backends(); *b != NULL; b++)
		add_backend(all, *b);
	add_cards(all);
	if (a->common.json)
		return print_json(all, err);
	if (json_array_size(all) == 0)
		printf("no device: no worker is installed beside this "
		       "program\n");
	else
		print_devices(all, a);
	json_decref(all);
	return 0;
}

/* FLOP of a sample's products at the default batch. */
static double flop_per_sample(const struct sv_demand *d, long batch)
{
	double flop = 0.0;

	for (size_t i = 0; i < d->n_gemm; i++)
		flop += 2.0 * d->gemm[i].m * d->gemm[i].n * d->gemm[i].k *
			d->gemm[i].count;
	return flop / (double)batch;
}

/* One shipped workload, as the list has it. */
static int add_workload(json_t *all, const char *name, struct sv_err *err)
{
	const struct sv_workload_defaults *defaults;
	struct sv_workload *w;
	struct sv_demand d;
	int code = sv_workload_read(name, &w, err);

	if (code != 0)
		return code;
	defaults = sv_workload_defaults(w);
	code = sv_workload_demand(w, defaults->batch, &d, err);
	if (code == 0) {
		json_array_append_new(all,
		    json_pack("{s:s, s:s?, s:{s:I, s:s}, s:f, s:f, s:f, s:f}",
			"name", sv_workload_name(w), "title",
			sv_workload_title(w), "defaults", "batch",
			(json_int_t)defaults->batch, "precision",
			defaults->precision, "gemm_flop_per_sample",
			flop_per_sample(&d, defaults->batch),
			"h2d_bytes_per_sample",
			d.h2d_bytes / (double)defaults->batch,
			"kernels_per_step", d.kernels, "working_set_bytes",
			d.working_set_bytes));
		sv_demand_fini(&d);
	}
	sv_workload_free(w);
	return code;
}

static void print_workloads(json_t *all, const struct arguments *a)
{
	struct sv_report_style style = sv_style(a->common.colour);
	struct sv_table *t = sv_table_new();
	json_t *one;
	size_t i;

	sv_table_column(t, "name", SV_LEFT);
	sv_table_column(t, "batch", SV_RIGHT);
	sv_table_column(t, "precision", SV_LEFT);
	sv_table_column(t, "FLOP/sample", SV_RIGHT);
	sv_table_column(t, "kernels", SV_RIGHT);
	sv_table_column(t, "working set", SV_RIGHT);
	sv_table_column(t, "what", SV_LEFT);
	json_array_foreach (all, i, one) {
		json_t *defaults = json_object_get(one, "defaults");
		char cell[SV_QUANTITY_BYTES];

		sv_table_row(t);
		sv_table_cell(t, text(one, "name"));
		snprintf(cell, sizeof cell, "%lld",
		    (long long)json_integer_value(
			json_object_get(defaults, "batch")));
		sv_table_cell(t, cell);
		sv_table_cell(t, text(defaults, "precision"));
		snprintf(cell, sizeof cell, "%.3g",
		    json_number_value(
			json_object_get(one, "gemm_flop_per_sample")));
		sv_table_cell(t, cell);
		snprintf(cell, sizeof cell, "%.0f",
		    json_number_value(
			json_object_get(one, "kernels_per_step")));
		sv_table_cell(t, cell);
		sv_table_cell(t, sv_quantity_size(cell, sizeof cell,
				     json_number_value(json_object_get(
					 one, "working_set_bytes"))));
		sv_table_cell(t, text(one, "title"));
	}
	sv_table_print(t, stdout, style.width, 0);
	sv_table_free(t);
}

static int list_workloads(const struct arguments *a, struct sv_err *err)
{
	json_t *all = json_array();
	char **names = NULL;
	int code = sv_workload_shipped(&names, err);

	for (size_t i = 0; code == 0 && names[i] != NULL; i++)
		code = add_workload(all, names[i], err);
	free(names);
	if (code == 0 && a->common.json)
		return print_json(all, err);
	if (code == 0)
		print_workloads(all, a);
	json_decref(all);
	return code != 0 ? sv_complain(err) : 0;
}

int sv_command_list(int argc, char **argv)
{
	static const struct argp_child children[] = {
	    {&sv_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.parser = parse,
	    .args_doc = "benches|devices|workloads|specs",
	    .doc = "Lists the benchmarks with their metrics and parameters, "
		   "the devices with the reason where one cannot be used, the "
		   "workloads that are shipped, or the specifications to "
		   "qualify against."
		   "\vFor example:\n  stave list devices",
	    .children = children};
	struct arguments a = {0};
	struct sv_err err;
	int status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	if (strcmp(a.what, "workloads") == 0)
		return list_workloads(&a, &err);
	if (strcmp(a.what, "specs") == 0)
		return sv_list_specs(&a.common);
	return strcmp(a.what, "benches") == 0 ? list_benches(&a, &err)
					      : list_devices(&a, &err);
}
