/*
 * What the commands share. A command parses its words, calls, prints, and
 * gives the exit status; only main.c exits.
 */
#ifndef STAVE_CLI_H
#define STAVE_CLI_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>

#include "report.h"
#include "stave/err.h"

struct sv_command {
	const char *name, *summary;
	/* argv[0] is "stave NAME"; returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct sv_command sv_commands[];
extern const size_t sv_commands_count;

int sv_command_run(int argc, char **argv);
int sv_command_list(int argc, char **argv);
int sv_command_show(int argc, char **argv);
int sv_command_compare(int argc, char **argv);
int sv_command_doctor(int argc, char **argv);
int sv_command_qualify(int argc, char **argv);
int sv_command_explain(int argc, char **argv);
int sv_command_report(int argc, char **argv);
int sv_command_publish(int argc, char **argv);
int sv_command_plot(int argc, char **argv);
int sv_command_export(int argc, char **argv);

/* When to use colour: "auto", "always" or "never". */
enum sv_colour {
	SV_COLOUR_AUTO,
	SV_COLOUR_ALWAYS,
	SV_COLOUR_NEVER,
};

/* Options that several commands have; give sv_common_argp as a child. */
struct sv_common {
	enum sv_colour colour;
	bool json;
};

/* --color alone, and --color with --json. Input: struct sv_common. */
extern const struct argp sv_colour_argp;
extern const struct argp sv_common_argp;

/*
 * Parse with argp, -h included; a wrong word prints one line on stderr.
 * Returns 0 to go on, else the exit status plus 1 (help: 1).
 */
int sv_parse(const struct argp *, int argc, char **argv, void *input);

/*
 * For parsers: print one line on stderr, "stave CMD: text", and give the error
 * that ends parsing.
 */
SV_PRINTF(2, 3)
error_t sv_wrong(const struct argp_state *, const char *fmt, ...);

/*
 * A number in [least, most] from the word of an option. Returns 0, or the
 * error that ends parsing.
 */
error_t sv_number(const struct argp_state *, const char *option,
    const char *word, double least, double most, double *out);

/*
 * Returns 0 when the word of an option is one of the n choices, else the error
 * that ends parsing.
 */
error_t sv_choice(const struct argp_state *, const char *option,
    const char *word, const char *const *choices, size_t n);

/* Print a tree, NULL for one that memory was short for. Errors: SV_ERESOURCE.
 */
SV_MUST_CHECK int sv_print_json(
    json_t *take_tree, FILE *out, struct sv_err *err);

/* stave list specs. Returns the exit status. */
int sv_list_specs(const struct sv_common *);

/* Print "stave: text" on stderr and give the exit status of the error. */
int sv_complain(const struct sv_err *);

/* How stdout is to be written. */
struct sv_report_style sv_style(enum sv_colour);

/* Where results go unless told otherwise, below the current folder. */
#define SV_DEFAULT_FOLDER "results/local"
#define SV_OUTPUT_BYTES	  512
/* Seconds that one case may take in one round. */
#define SV_CASE_TIMEOUT_S 60.0

struct sv_run_options;
struct sv_run_outcome;

/*
 * Measure, or carry on with the run in the folder resume (or NULL), progress
 * on stderr. Where options name no output, it is a file of its own in the
 * default folder, put into output. Errors: as sv_run, sv_run_resume.
 */
SV_MUST_CHECK int sv_measure(struct sv_run_options *options, const char *resume,
    char output[SV_OUTPUT_BYTES], struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err);

/* Columns of a terminal, 0 where fd is none. */
size_t sv_terminal_width(int fd);

#endif
