/* Helpers of the commands; see the header. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

enum {
	KEY_COLOUR = 0x100,
	KEY_JSON,
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct sv_common *common = state->input;
	static const char *const names[] = {"auto", "always", "never"};

	if (key == KEY_JSON) {
		common->json = true;
		return 0;
	}
	if (key != KEY_COLOUR)
		return ARGP_ERR_UNKNOWN;
	for (int i = 0; i < 3; i++)
		if (arg == NULL || strcmp(names[i], arg) == 0) {
			common->colour =
			    arg == NULL ? SV_COLOUR_ALWAYS : (enum sv_colour)i;
			return 0;
		}
	return sv_wrong(
	    state, "--color \"%.40s\": expected auto, always or never", arg);
}

static const struct argp_option colour_options[] = {
    {"color", KEY_COLOUR, "WHEN", OPTION_ARG_OPTIONAL,
	"colour on stdout: auto, always or never (NO_COLOR is honoured)", 0},
    {0}};
static const struct argp_option common_options[] = {
    {"color", KEY_COLOUR, "WHEN", OPTION_ARG_OPTIONAL,
	"colour on stdout: auto, always or never (NO_COLOR is honoured)", 0},
    {"json", KEY_JSON, NULL, 0, "print JSON instead of text", 0}, {0}};

const struct argp sv_colour_argp = {
    .options = colour_options, .parser = parse_common};
const struct argp sv_common_argp = {
    .options = common_options, .parser = parse_common};

/* argp knows -? for help; everybody types -h. */
static void rename_h(int argc, char **argv)
{
	static char help[] = "--help";

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "-h") == 0)
			argv[i] = help;
}

struct wrapper {
	const struct argp *inner;
	void *input;
	int status; /* as sv_parse returns it */
};

/* --help ends parsing; argp would exit from inside. */
static error_t parse_outer(int key, char *arg, struct argp_state *state)
{
	struct wrapper *w = state->input;

	(void)arg;
	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = w->input;
		return 0;
	}
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK);
	w->status = 1;
	/* An error ends parsing before missing words are complained of. */
	return ECANCELED;
}

int sv_parse(const struct argp *inner, int argc, char **argv, void *input)
{
	static const struct argp_option options[] = {
	    {"help", 'h', NULL, 0, "print this help", -1}, {0}};
	struct argp_child children[] = {{inner, 0, NULL, 0}, {0}};
	struct argp outer = {
	    .options = options, .parser = parse_outer, .children = children};
	struct wrapper w = {inner, input, 0};
	error_t wrong;

	rename_h(argc, argv);
	wrong = argp_parse(
	    &outer, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &w);
	if (w.status != 0)
		return w.status;
	return wrong != 0 ? sv_err_exit_status(SV_EUSAGE) + 1 : 0;
}

error_t sv_wrong(const struct argp_state *state, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", state->name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return EINVAL;
}

error_t sv_number(const struct argp_state *state, const char *option,
    const char *word, double least, double most, double *out)
{
	char *end;
	double value = strtod(word, &end);

	if (end == word || *end != '\0' || !(value >= least && value <= most))
		return sv_wrong(state,
		    "%s \"%.40s\": expected a number from %g to %g", option,
		    word, least, most);
	*out = value;
	return 0;
}

error_t sv_choice(const struct argp_state *state, const char *option,
    const char *word, const char *const *choices, size_t n)
{
	char known[128] = "";

	for (size_t i = 0; i < n; i++) {
		if (strcmp(choices[i], word) == 0)
			return 0;
		snprintf(known + strlen(known), sizeof known - strlen(known),
		    "%s%s",
		    i == 0	? ""
		    : i + 1 < n ? ", "
				: " or ",
		    choices[i]);
	}
	return sv_wrong(
	    state, "%s \"%.40s\": expected %s", option, word, known);
}

int sv_print_json(json_t *take_tree, FILE *out, struct sv_err *err)
{
	/* What cannot be written shows at the end, whoever wrote it. */
	bool good = take_tree != NULL &&
		    (json_dumpf(take_tree, out, JSON_INDENT(1)) == 0 ||
			ferror(out) != 0);

	if (good)
		fputc('\n', out);
	json_decref(take_tree);
	return good ? 0 : sv_err_set(err, SV_ERESOURCE, "JSON: out of memory");
}

int sv_complain(const struct sv_err *err)
{
	fprintf(stderr, "stave: %s\n", err->text);
	return sv_err_exit_status(err->code);
}

size_t sv_terminal_width(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

struct sv_report_style sv_style(enum sv_colour colour)
{
	const char *no_colour = getenv("NO_COLOR");
	bool wanted = no_colour == NULL || no_colour[0] == '\0';

	return (struct sv_report_style){
	    .width = sv_terminal_width(STDOUT_FILENO),
	    .colour =
		colour == SV_COLOUR_ALWAYS ||
		(colour == SV_COLOUR_AUTO && wanted && isatty(STDOUT_FILENO))};
}
