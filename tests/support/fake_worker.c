/*
 * A worker that misbehaves on request. Its one benchmark, "fake", has a case
 * for each way; "fake/value?way=good" is how it should be done. What happens
 * in a case is told by its name alone, so that any order can be asked for.
 */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *const ways[] = {"good", "also_good", "crash", "abort",
    "exit_early", "exit_status", "hang", "hang_deaf", "garbage", "half_line",
    "endless_line", "flood_wire", "flood_log", "grandchild",
    "grandchild_session", "wrong_case", "nan", "unknown_metric", "no_samples",
    "progress_forever", "skip", "error", "check_fail", "die_after_samples",
    "close_wire", "bye_early", "huge_value", "deep_json", "fault_skip"};

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vdprintf(3, fmt, args);
	va_end(args);
}

static void say_case(const char *type, const char *way, const char *more)
{
	say("{\"type\":\"%s\",\"id\":\"fake/value?way=%s\",\"bench\":\"fake\","
	    "\"params\":{\"way\":\"%s\"}%s}\n",
	    type, way, way, more);
}

static void say_samples(const char *metric, const char *values)
{
	say("{\"type\":\"samples\",\"metric\":\"%s\",\"unit\":\"s\","
	    "\"better\":\"lower\",\"inner\":7,\"values\":[%s],"
	    "\"reference\":null,\"flags\":[],\"stop\":\"settled\"}\n",
	    metric, values);
}

static void grandchild(int new_session)
{
	if (fork() == 0) {
		if (new_session)
			setsid();
		for (;;)
			pause();
	}
}

static void forever(void)
{
	for (;;)
		pause();
}

/* Ways that end the process, or never end; returns for the others. */
static void misbehave(const char *way)
{
	if (strcmp(way, "crash") == 0)
		raise(SIGSEGV);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "exit_early") == 0)
		_exit(0);
	if (strcmp(way, "exit_status") == 0) {
		fprintf(stderr, "the last words\n");
		_exit(7);
	}
	if (strcmp(way, "hang") == 0)
		forever();
	if (strcmp(way, "hang_deaf") == 0) {
		signal(SIGTERM, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		forever();
	}
	if (strcmp(way, "half_line") == 0) {
		say("{\"type\":\"sam");
		_exit(0);
	}
	if (strcmp(way, "endless_line") == 0)
		for (;;)
			say("%01000d", 0);
	if (strcmp(way, "flood_wire") == 0)
		for (;;)
			say("{\"type\":\"progress\",\"text\":\"%01000d\"}\n",
			    0);
	if (strcmp(way, "flood_log") == 0)
		for (int i = 0; i < 20000; i++)
			printf("%01000d\n", 0);
	if (strcmp(way, "progress_forever") == 0)
		for (;;) {
			say("{\"type\":\"progress\",\"done\":0.5}\n");
			usleep(20000);
		}
	if (strcmp(way, "close_wire") == 0) {
		close(3);
		forever();
	}
	if (strcmp(way, "die_after_samples") == 0) {
		say_samples("value", "1.0, 1.1");
		raise(SIGKILL);
	}
	if (strcmp(way, "bye_early") == 0) {
		say("{\"type\":\"bye\"}\n");
		_exit(0);
	}
}

static void measure(const char *way)
{
	if (strcmp(way, "wrong_case") == 0) {
		say_case("case", "another", "");
		return;
	}
	say_case("case", way, "");
	misbehave(way);
	if (strcmp(way, "garbage") == 0)
		say("%c%c not json\n", 1, 200);
	else if (strcmp(way, "deep_json") == 0)
		for (int i = 0; i < 5000; i++)
			say("[%s", i == 4999 ? "\n" : "");
	else if (strcmp(way, "nan") == 0)
		say_samples("value", "NaN");
	else if (strcmp(way, "huge_value") == 0)
		say_samples("value", "1e999");
	else if (strcmp(way, "unknown_metric") == 0)
		say_samples("price", "1.0");
	else if (strcmp(way, "skip") == 0)
		say_case("skip", way,
		    ",\"reason\":\"cannot\",\"code\":\"unsupported\"");
	else if (strcmp(way, "fault_skip") == 0)
		say_case(
		    "skip", way, ",\"reason\":\"broken\",\"code\":\"fault\"");
	else if (strcmp(way, "error") == 0)
		say("{\"type\":\"error\",\"reason\":\"it failed\","
		    "\"code\":\"fault\"}\n");
	else if (strcmp(way, "no_samples") != 0)
		say_samples("value", "1.0, 1.2, 1.1");
	if (strcmp(way, "grandchild") == 0)
		grandchild(0);
	if (strcmp(way, "grandchild_session") == 0)
		grandchild(1);
	if (strcmp(way, "check_fail") == 0)
		say("{\"type\":\"check\",\"status\":\"fail\","
		    "\"detail\":\"byte 3 differs\"}\n");
}

/* Whether the environment names the way; all of them when it is silent. */
static int wanted(const char *way)
{
	const char *list = getenv("FAKE_WAYS");
	size_t n = strlen(way);

	if (list == NULL)
		return 1;
	for (const char *at = list; (at = strstr(at, way)) != NULL; at += n)
		if ((at == list || at[-1] == ' ') &&
		    (at[n] == ' ' || at[n] == '\0'))
			return 1;
	return 0;
}

static void hello(const char *more)
{
	const char *protocol = getenv("FAKE_PROTOCOL");

	say("{\"type\":\"hello\",\"protocol\":%s,\"pid\":%d,\"backend\":"
	    "\"host\",\"version\":\"0.1.0\"%s}\n",
	    protocol != NULL ? protocol : "1", (int)getpid(), more);
}

/* The case's way, out of "fake/value?way=W@7". */
static void measure_word(char *word)
{
	char *way = strchr(word, '='), *at;

	if (word[0] == '-' || way == NULL)
		return;
	at = strchr(way, '@');
	if (at != NULL)
		*at = '\0';
	measure(way + 1);
}

int main(int argc, char **argv)
{
	const char *count = getenv("FAKE_COUNT_FILE");
	const char *delay = getenv("FAKE_DELAY_US");

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "devices") == 0) {
		hello(",\"devices\":[{\"index\":0,\"name\":\"Fake\",\"uuid\":"
		      "null,\"pci_address\":null,\"usable\":true,\"reason\":"
		      "null}]");
	} else if (strcmp(argv[1], "plan") == 0) {
		hello(",\"device\":{\"backend\":\"host\",\"name\":\"Fake\","
		      "\"unknown\":[]}");
		for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
			if (wanted(ways[i]))
				say_case("case", ways[i],
				    ",\"metrics\":[\"value\"],\"bytes\":0,"
				    "\"flop\":0");
	} else {
		hello("");
		for (int i = 2; i < argc; i++) {
			if (count != NULL && argv[i][0] == 'f') {
				int fd = open(
				    count, O_WRONLY | O_CREAT | O_APPEND, 0666);

				dprintf(fd, "%s\n", argv[i]);
				close(fd);
			}
			if (delay != NULL)
				usleep((useconds_t)atoi(delay));
			measure_word(argv[i]);
		}
	}
	say("{\"type\":\"bye\"}\n");
	return 0;
}
