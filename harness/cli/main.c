/*
 * The stave program: finds the command and hands over. Only here does it
 * exit.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "stave/version.h"

const struct sv_command sv_commands[] = {
    {"run", "measure this machine and write a result file", sv_command_run},
    {"list", "what can be run, and on what", sv_command_list},
    {"show", "one result, as tables", sv_command_show},
    {"compare", "judge the differences between two results",
	sv_command_compare},
    {"doctor", "the training checklist of this machine or a result",
	sv_command_doctor},
    {"qualify", "pass or fail of this machine against a specification",
	sv_command_qualify},
    {"explain", "why B wins or loses against A on a workload",
	sv_command_explain},
    {"report", "a page with verdict, tables and pictures", sv_command_report},
    {"publish", "results that name nobody, with report and checksums",
	sv_command_publish},
    {"plot", "one picture of one or more results", sv_command_plot},
    {"export", "one result in the format of another tool", sv_command_export},
};
const size_t sv_commands_count = sizeof sv_commands / sizeof sv_commands[0];

static void print_help(FILE *out)
{
	fputs("usage: stave COMMAND [OPTION...]\n\n"
	      "Measures every part of a training machine by itself, and "
	      "compares machines.\n\n",
	    out);
	for (size_t i = 0; i < sv_commands_count; i++)
		fprintf(out, "  %-10s%s\n", sv_commands[i].name,
		    sv_commands[i].summary);
	fputs("  help      how to use a command: stave help COMMAND\n\n"
	      "  --version  version, revision and backends of this build\n\n"
	      "For example:\n"
	      "  stave run --profile quick -o this.json\n"
	      "  stave compare old.json this.json\n",
	    out);
}

static int print_version(void)
{
	const char *const *backends = sv_run_backends();

	printf("stave %s (%s)\nbackends:", SV_VERSION, SV_REVISION);
	if (backends[0] == NULL)
		printf(" none");
	for (; *backends != NULL; backends++)
		printf(" %s", *backends);
	printf("\n");
	return 0;
}

/* Letters that two words share at their beginning. */
static size_t alike(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] != '\0' && a[n] == b[n])
		n++;
	return n;
}

static int unknown(const char *word)
{
	const struct sv_command *nearest = &sv_commands[0];

	for (size_t i = 1; i < sv_commands_count; i++)
		if (alike(sv_commands[i].name, word) >
		    alike(nearest->name, word))
			nearest = &sv_commands[i];
	if (alike(nearest->name, word) >= 2)
		fprintf(stderr,
		    "stave: no command \"%.60s\"; did you mean \"%s\"? "
		    "`stave help` lists them\n",
		    word, nearest->name);
	else
		fprintf(stderr,
		    "stave: no command \"%.60s\"; `stave help` lists them\n",
		    word);
	return sv_err_exit_status(SV_EUSAGE);
}

static int call(const struct sv_command *command, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof name, "stave %s", command->name);
	argv[0] = name;
	return command->run(argc, argv);
}

static const struct sv_command *find(const char *name)
{
	for (size_t i = 0; i < sv_commands_count; i++)
		if (strcmp(sv_commands[i].name, name) == 0)
			return &sv_commands[i];
	return NULL;
}

static int help(int argc, char **argv)
{
	static char flag[] = "--help";
	char *words[] = {NULL, flag, NULL};

	if (argc < 3) {
		print_help(stdout);
		return 0;
	}
	const struct sv_command *command = find(argv[2]);

	return command != NULL ? call(command, 2, words) : unknown(argv[2]);
}

static int dispatch(int argc, char **argv)
{
	const struct sv_command *command;

	if (argc < 2) {
		print_help(stderr);
		return sv_err_exit_status(SV_EUSAGE);
	}
	if (strcmp(argv[1], "--version") == 0)
		return print_version();
	if (strcmp(argv[1], "help") == 0)
		return help(argc, argv);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(stdout);
		return 0;
	}
	command = find(argv[1]);
	return command != NULL ? call(command, argc - 1, argv + 1)
			       : unknown(argv[1]);
}

int main(int argc, char **argv)
{
	int status = dispatch(argc, argv);

	/* What could not be written was not said. */
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "stave: write to standard output: %s\n",
		    strerror(errno));
		return sv_err_exit_status(SV_EOUTPUT);
	}
	return status;
}
