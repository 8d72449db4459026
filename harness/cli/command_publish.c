/* stave publish: results without identities, a report, checksums, a citation.
 */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "publish.h"
#include "result.h"

struct arguments {
	const char *output;
	const char **results; /* argv's own words */
	size_t n;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'o':
		a->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		a->results[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n == 0)
			return sv_wrong(state, "expected a RESULT");
		if (a->output == NULL)
			return sv_wrong(state, "-o DIR is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Errors: as those of what it calls. */
static int publish(const struct arguments *a, struct sv_err *err)
{
	struct sv_result **results = calloc(a->n, sizeof *results);
	const struct passwd *who = getpwuid(getuid());
	struct sv_folder_outcome outcome;
	char host[256] = "";
	struct sv_identity here = {.host = host,
	    .user = who != NULL ? who->pw_name : getenv("USER"),
	    .home = who != NULL ? who->pw_dir : getenv("HOME")};
	int code = 0;

	if (gethostname(host, sizeof host - 1) != 0)
		host[0] = '\0';
	if (results == NULL)
		return sv_err_set(err, SV_ERESOURCE, "publish: out of memory");
	for (size_t i = 0; code == 0 && i < a->n; i++)
		code = sv_result_read(a->results[i], &results[i], err);
	if (code == 0)
		code = sv_publish((const struct sv_result *const *)results,
		    a->n, &here, a->output, stdout, &outcome, err);
	if (code == 0 && outcome.note[0] != '\0')
		fprintf(stderr,
		    "stave publish: some pictures are missing: %s\n",
		    outcome.note);
	for (size_t i = 0; i < a->n; i++)
		sv_result_free(results[i]);
	free(results);
	return code;
}

int sv_command_publish(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"output", 'o', "DIR", 0, "folder, new or empty", 0}, {0}};
	static const struct argp argp = {.options = options,
	    .parser = parse,
	    .args_doc = "RESULT...",
	    .doc = "Writes results that name nobody (no host name, user, UUID, "
		   "serial number, MAC address or path), their report, "
		   "checksums and a citation, and says of each result whether "
		   "it is publishable or a draft, and why. Labels become the "
		   "device's name."
		   "\vFor example:\n  stave publish old.json new.json -o "
		   "published"};
	struct arguments a = {0};
	struct sv_err err;
	int status;

	a.results = calloc((size_t)argc, sizeof *a.results);
	if (a.results == NULL) {
		sv_err_set(&err, SV_ERESOURCE, "publish: out of memory");
		return sv_complain(&err);
	}
	status = sv_parse(&argp, argc, argv, &a);
	if (status != 0)
		status--;
	else if (publish(&a, &err) != 0)
		status = sv_complain(&err);
	free(a.results);
	return status;
}
