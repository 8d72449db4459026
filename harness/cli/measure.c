/* Measuring with something to see: what run and qualify share. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "machine.h"
#include "quantity.h"
#include "run.h"

/* Case, round, elapsed and remaining time; the rest of the line is the id. */
#define PROGRESS_FIXED 48

/* How progress is shown: one line that is rewritten, or lines. */
struct screen {
	size_t width; /* of the terminal, 0 when there is none */
	bool open;    /* the rewritten line is on the screen */
	unsigned round;
	char bench[64];
};

static void clear(struct screen *s)
{
	if (s->open)
		fputs("\r\033[K", stderr);
	s->open = false;
}

static void on_note(void *data, const char *text)
{
	struct screen *s = data;

	clear(s);
	fprintf(stderr, "%s\n", text);
}

static void on_progress(void *data, const struct sv_run_progress *p)
{
	struct screen *s = data;
	char elapsed[SV_QUANTITY_BYTES], eta[SV_QUANTITY_BYTES], bench[64];

	sv_quantity_clock(elapsed, sizeof elapsed, p->elapsed_s);
	sv_quantity_clock(eta, sizeof eta, p->eta_s);
	if (s->width > PROGRESS_FIXED) {
		fprintf(stderr,
		    "\r\033[K%zu/%zu  round %u/%u  %s, %s to go  %.*s", p->done,
		    p->total, p->round, p->rounds, elapsed, eta,
		    (int)(s->width - PROGRESS_FIXED), p->case_id);
		s->open = true;
		return;
	}
	snprintf(bench, sizeof bench, "%.*s", (int)strcspn(p->case_id, "/"),
	    p->case_id);
	if (s->round == p->round && strcmp(bench, s->bench) == 0)
		return;
	s->round = p->round;
	snprintf(s->bench, sizeof s->bench, "%s", bench);
	fprintf(stderr, "round %u/%u  %s  (%zu of %zu done, %s, %s to go)\n",
	    p->round, p->rounds, bench, p->done, p->total, elapsed, eta);
}

/* Letters, digits, dots and dashes of a label, for a file name. */
static void file_stem(const char *label, char *out, size_t size)
{
	size_t n = 0;

	for (; *label != '\0' && n + 1 < size; label++) {
		unsigned char c = (unsigned char)*label;

		if (isalnum(c) || c == '-' || c == '_' || (c == '.' && n > 0))
			out[n++] = (char)c;
		else if (n > 0 && out[n - 1] != '-')
			out[n++] = '-';
	}
	out[n] = '\0';
	if (n == 0)
		snprintf(out, size, "result");
}

/* results/local/LABEL-TIME.json, its folders made. */
static int default_output(
    const char *label, char *out, size_t size, struct sv_err *err)
{
	char host[256], stem[128], when[32];
	time_t now = time(NULL);
	struct tm utc;

	sv_machine_host_name(host, sizeof host);
	file_stem(label != NULL ? label : host, stem, sizeof stem);
	gmtime_r(&now, &utc);
	strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc);
	snprintf(out, size, SV_DEFAULT_FOLDER "/%s-%s.json", stem, when);
	if ((mkdir("results", 0777) != 0 && errno != EEXIST) ||
	    (mkdir(SV_DEFAULT_FOLDER, 0777) != 0 && errno != EEXIST))
		return sv_err_set(err, SV_EOUTPUT, "make %s: %s",
		    SV_DEFAULT_FOLDER, strerror(errno));
	return 0;
}

int sv_measure(struct sv_run_options *options, const char *resume,
    char output[SV_OUTPUT_BYTES], struct sv_result **out,
    struct sv_run_outcome *outcome, struct sv_err *err)
{
	struct screen screen = {.width = sv_terminal_width(STDERR_FILENO)};
	const struct sv_run_listener listener = {&screen, on_note, on_progress};
	int code = 0;

	if (resume == NULL && options->output == NULL) {
		code = default_output(
		    options->label, output, SV_OUTPUT_BYTES, err);
		options->output = output;
	}
	if (code == 0)
		code = resume != NULL
			   ? sv_run_resume(resume, &listener, out, outcome, err)
			   : sv_run(options, &listener, out, outcome, err);
	clear(&screen);
	return code;
}
