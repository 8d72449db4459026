/* stave doctor: the training checklist, of a result or of this machine. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "checklist.h"
#include "cli.h"
#include "machine.h"
#include "run.h"

struct arguments {
	struct sv_common common;
	const char *result, *recording;
	struct sv_run_options options;
};

enum {
	KEY_BACKEND = 0x200,
	KEY_MACHINE,
	KEY_RECORD,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const backends[] = {"auto", "host", "cuda"};
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case KEY_BACKEND:
		a->options.backend = arg;
		return sv_choice(state, "--backend", arg, backends, 3);
	case 'd':
		a->options.device = arg;
		return 0;
	case KEY_MACHINE:
		a->recording = arg;
		return 0;
	case KEY_RECORD:
		a->options.record_machine = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->result != NULL)
			return sv_wrong(state, "expected at most one RESULT");
		a->result = arg;
		return 0;
	case ARGP_KEY_END:
		if ((a->result != NULL) + (a->recording != NULL) > 1 ||
		    ((a->result != NULL || a->recording != NULL) &&
			(a->options.record_machine != NULL ||
			    a->options.device != NULL)))
			return sv_wrong(state,
			    "expected a RESULT, or --machine, or options of "
			    "the live machine");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A recorded machine as a result without measurements. */
static int look_at_recording(
    const char *folder, struct sv_result **out, struct sv_err *err)
{
	struct sv_machine *m = NULL;
	struct sv_result *r = sv_result_new();
	char *name = strdup(folder);
	json_t *device;
	int code = SV_ERESOURCE;

	if (r == NULL || name == NULL) {
		sv_err_set(err, code, "machine: out of memory");
		goto free_all;
	}
	code = sv_machine_open_recording(folder, &m, err);
	if (code != 0)
		goto free_all;
	device = sv_machine_device(m);
	json_decref(r->machine);
	json_decref(r->device);
	r->machine = json_incref(sv_machine_json(m));
	r->device = device != NULL ? json_deep_copy(device)
				   : json_pack("{s:s}", "backend", "host");
	r->run.label = sv_result_text(r, basename(name));
	sv_machine_complete(m, r->device);
	*out = r;
	r = NULL;

free_all:
	sv_result_free(r);
	sv_machine_close(m);
	free(name);
	return code;
}

static void on_note(void *data, const char *text)
{
	(void)data;
	fprintf(stderr, "%s\n", text);
}

static int look(
    const struct arguments *a, struct sv_result **out, struct sv_err *err)
{
	const struct sv_run_listener listener = {.note = on_note};

	if (a->result != NULL)
		return sv_result_read(a->result, out, err);
	if (a->recording != NULL)
		return look_at_recording(a->recording, out, err);
	return sv_run_look(&a->options, &listener, out, err);
}

int sv_command_doctor(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"machine", KEY_MACHINE, "DIR", 0,
		"a recorded machine instead of this one", 0},
	    {"backend", KEY_BACKEND, "NAME", 0, "auto, host or cuda", 0},
	    {"device", 'd', "SEL", 0,
		"the device: an index, a (partial) UUID or a PCI address", 0},
	    {"record-machine", KEY_RECORD, "DIR", 0,
		"also save what was read of this machine", 0},
	    {0}};
	static const struct argp_child children[] = {
	    {&sv_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "[RESULT]",
	    .doc = "Goes through the training checklist: ok, warn, fail or "
		   "unknown, with what was seen, what is expected, and what "
		   "to do. Without RESULT it looks at this machine and says "
		   "which checks need a measurement. Exit status 1 when a "
		   "check fails."
		   "\vFor example:\n  stave doctor\n  stave doctor this.json",
	    .children = children};
	struct arguments a = {.options = {.backend = "auto"}};
	struct sv_checklist list;
	struct sv_report_style style;
	struct sv_result *r = NULL;
	struct sv_err err;
	int status = sv_parse(&argp, argc, argv, &a);

	if (status != 0)
		return status - 1;
	if (look(&a, &r, &err) != 0)
		return sv_complain(&err);
	if (sv_checklist_doctor(r, &list, &err) != 0) {
		sv_result_free(r);
		return sv_complain(&err);
	}
	style = sv_style(a.common.colour);
	status = strcmp(list.verdict, "fail") == 0;
	if (!a.common.json)
		sv_report_checklist(&list, stdout, &style);
	else if (sv_print_json(sv_checklist_to_json(&list), stdout, &err) != 0)
		status = sv_complain(&err);
	sv_checklist_fini(&list);
	sv_result_free(r);
	return status;
}
