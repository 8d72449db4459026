/*
 * Asking a worker about itself: what it can measure, its devices, the cases
 * that can run here.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "attend.h"
#include "child.h"
#include "message.h"
#include "run.h"

/* Opening a device may take seconds on a large machine. */
#define ASK_TIMEOUT_S 60.0

struct asking {
	struct sv_lines lines;
	json_t *messages;
	struct sv_err *refusal; /* of an error message: the device's reason */
	bool refused;
};

static int take(void *state, const char *bytes, size_t n, struct sv_err *err)
{
	struct asking *asking = state;
	const char *line;
	size_t length;
	int code = sv_lines_add(&asking->lines, bytes, n, err);

	while (code == 0 &&
	       (line = sv_lines_next(&asking->lines, &length)) != NULL) {
		enum sv_message_type type;
		json_t *message = NULL;

		code = sv_message_parse(line, length, &type, &message, err);
		if (code == 0 && type == SV_MESSAGE_ERROR) {
			asking->refused = true;
			sv_err_set(asking->refusal, SV_EDEVICE, "%s",
			    json_string_value(
				json_object_get(message, "reason")));
		}
		if (code == 0 &&
		    json_array_append(asking->messages, message) != 0)
			code =
			    sv_err_set(err, SV_ERESOURCE, "ask: out of memory");
		json_decref(message);
	}
	return code;
}

/* What the end of the process means for the answer. */
static int judge(const struct sv_attendance *a, const char *backend,
    const char *mode, struct sv_err *err)
{
	if (a->end == SV_ATTEND_REFUSED)
		return err->code;
	if (a->end == SV_ATTEND_EXIT && WIFEXITED(a->status) &&
	    WEXITSTATUS(a->status) == 0)
		return 0;
	if (a->end == SV_ATTEND_TIMEOUT)
		return sv_err_set(err, SV_EDEVICE,
		    "worker %s %s: no answer within %.0f s", backend, mode,
		    ASK_TIMEOUT_S);
	return sv_err_set(err, SV_EDEVICE, "worker %s %s: it failed: %.300s",
	    backend, mode, a->tail[0] != '\0' ? a->tail : "it said nothing");
}

/* The worker's command line: the caller's words, in an array of its own. */
static const char **make_words(const char *path, const struct sv_question *q)
{
	size_t n_tasks = 0, n = 0;
	const char **words;

	while (q->tasks != NULL && q->tasks[n_tasks] != NULL)
		n_tasks++;
	words = calloc(9 + 2 * n_tasks, sizeof *words);
	if (words == NULL)
		return NULL;
	words[n++] = path;
	words[n++] = q->mode;
	words[n++] = "--profile";
	words[n++] = sv_profile_name(q->profile);
	if (q->device != NULL) {
		words[n++] = "--device";
		words[n++] = q->device;
	}
	if (q->storage_path != NULL) {
		words[n++] = "--storage-path";
		words[n++] = q->storage_path;
	}
	for (size_t i = 0; i < n_tasks; i++) {
		words[n++] = "--task";
		words[n++] = q->tasks[i];
	}
	return words;
}

static int ask_once(
    const struct sv_question *q, json_t **out, struct sv_err *err)
{
	char path[SV_WORKER_PATH_BYTES];
	struct sv_err refusal = {0};
	struct asking asking = {.refusal = &refusal};
	const char **words;
	struct sv_attendance a = {.path = path,
	    .signal_fd = -1,
	    .state = &asking,
	    .take = take,
	    .tick = q->watch,
	    .tick_data = q->watch_data};
	int code = sv_worker_path(q->backend, path, err);

	if (code != 0)
		return code;
	words = make_words(path, q);
	asking.messages = json_array();
	if (words == NULL || asking.messages == NULL) {
		free(words);
		json_decref(asking.messages);
		return sv_err_set(err, SV_ERESOURCE, "ask: out of memory");
	}
	/* exec takes words that it does not change. */
	memcpy(&a.argv, &words, sizeof a.argv);
	a.deadline_ns = sv_deadline_ns(ASK_TIMEOUT_S);
	code = sv_attend(&a, err);
	free(words);
	if (code == 0)
		code = judge(&a, q->backend, q->mode, err);
	if (asking.refused)
		code = sv_err_set(err, SV_EDEVICE, "%s", refusal.text);
	sv_lines_free(&asking.lines);
	if (code != 0)
		json_decref(asking.messages);
	else
		*out = asking.messages;
	return code;
}

/* Whether the process lost its device on the way: half its answer is guessed.
 */
static bool was_lost(json_t *messages)
{
	size_t n = json_array_size(messages);

	return n > 0 && json_is_true(json_object_get(
			    json_array_get(messages, n - 1), "lost"));
}

int sv_run_ask(const struct sv_question *q, json_t **out, struct sv_err *err)
{
	json_t *messages = NULL;
	int code = ask_once(q, &messages, err);

	if (code == 0 && was_lost(messages)) {
		json_decref(messages);
		code = ask_once(q, &messages, err);
	}
	if (code == 0)
		*out = messages;
	return code;
}

const char *const *sv_run_backends(void)
{
	/* Every set there can be, so that nothing is built at run time. */
	static const char *const sets[4][3] = {
	    {NULL}, {"host", NULL}, {"cuda", NULL}, {"cuda", "host", NULL}};
	char path[SV_WORKER_PATH_BYTES];
	struct sv_err ignored;
	unsigned host = sv_worker_path("host", path, &ignored) == 0;
	unsigned cuda = sv_worker_path("cuda", path, &ignored) == 0;

	return sets[host + 2 * cuda];
}
