/*
 * Looking without measuring: the machine, and its device as the worker tells
 * it while it keeps the device busy for a moment.
 */
#include <string.h>

#include "run_state.h"
#include "stave/version.h"

static void watch_links(void *machine)
{
	sv_machine_watch(machine);
}

int sv_run_examine(struct sv_run_state *run,
    const struct sv_run_options *options, const char *backend,
    const char *storage_path, json_t **messages, struct sv_err *err)
{
	const struct sv_question question = {.backend = backend,
	    .mode = "plan",
	    .device = options->device,
	    .profile = options->profile,
	    .storage_path = storage_path,
	    .tasks = options->tasks,
	    .watch = watch_links,
	    .watch_data = run->machine};
	json_t *device;
	int code = sv_run_ask(&question, messages, err);

	if (code != 0)
		return code;
	device = json_object_get(json_array_get(*messages, 0), "device");
	if (!json_is_object(device))
		code = sv_err_set(err, SV_EPROTOCOL,
		    "worker %s plan: hello without a device", backend);
	if (code == 0 && options->record_machine != NULL)
		code = sv_machine_save(
		    run->machine, device, options->record_machine, err);
	if (code == 0)
		sv_machine_complete(run->machine, device);
	if (code != 0) {
		json_decref(*messages);
		*messages = NULL;
	}
	return code;
}

/* The device as a worker tells it; a new reference. */
static int find_device(struct sv_run_state *run,
    const struct sv_run_options *options, json_t **out, struct sv_err *err)
{
	bool asked =
	    strcmp(options->backend, "auto") != 0 || options->device != NULL;
	const char *backend = "host";
	json_t *messages = NULL;
	int code = sv_run_choose(run, options, &backend, err);

	if (code == 0)
		code =
		    sv_run_examine(run, options, backend, NULL, &messages, err);
	if (code == 0) {
		*out = json_incref(
		    json_object_get(json_array_get(messages, 0), "device"));
		json_decref(messages);
		return 0;
	}
	if (asked || code == SV_EOUTPUT)
		return code;
	sv_run_note(run, "the device is not known: %s", err->text);
	if (options->record_machine != NULL) {
		code = sv_machine_save(
		    run->machine, NULL, options->record_machine, err);
		if (code != 0)
			return code;
	}
	*out = json_pack("{s:s}", "backend", backend);
	return *out != NULL
		   ? 0
		   : sv_err_set(err, SV_ERESOURCE, "device: out of memory");
}

int sv_run_look(const struct sv_run_options *options,
    const struct sv_run_listener *listener, struct sv_result **out,
    struct sv_err *err)
{
	struct sv_run_state run = {.listener = listener};
	struct sv_result *r = sv_result_new();
	json_t *device = NULL;
	char now[32];
	int code;

	if (r == NULL)
		return sv_err_set(err, SV_ERESOURCE, "machine: out of memory");
	code = sv_machine_open(".", &run.machine, err);
	if (code == 0)
		code = find_device(&run, options, &device, err);
	if (code == 0) {
		json_decref(r->machine);
		json_decref(r->device);
		r->machine = json_incref(sv_machine_json(run.machine));
		r->device = device;
		r->run.started = sv_result_text(r, sv_run_now(now));
		r->run.version = SV_VERSION;
		r->run.revision = SV_REVISION;
		*out = r;
	} else {
		sv_result_free(r);
	}
	sv_machine_close(run.machine);
	return code;
}
