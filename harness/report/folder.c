/* Writing a report's folder; see the header. */
#include "folder.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "export.h"
#include "figure.h"
#include "gnuplot.h"
#include "page.h"
#include "report.h"

#define MAX_PICTURES 16

static int no_memory(struct sv_err *err)
{
	return sv_err_set(err, SV_ERESOURCE, "report: out of memory");
}

int sv_folder_make(const char *path, struct sv_err *err)
{
	char part[PATH_MAX];
	struct stat info;
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof part)
		return sv_err_set(err, SV_EOUTPUT, "make folder %.200s: %s",
		    path, strerror(ENAMETOOLONG));
	memcpy(part, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (part[i] != '/' && part[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, 0777) != 0 && errno != EEXIST)
			return sv_err_set(err, SV_EOUTPUT,
			    "make folder %.200s: %s", part, strerror(errno));
		if (i < n)
			part[i] = '/';
	}
	if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
		return sv_err_set(err, SV_EOUTPUT,
		    "make folder %.200s: something else has this name", path);
	return 0;
}

int sv_folder_save(const char *folder, const char *name, const void *bytes,
    size_t n, struct sv_err *err)
{
	char path[PATH_MAX];
	FILE *out;
	bool good;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	out = fopen(path, "wb");
	if (out == NULL)
		return sv_err_set(
		    err, SV_EOUTPUT, "write %.300s: %s", path, strerror(errno));
	good = fwrite(bytes, 1, n, out) == n;
	good = fclose(out) == 0 && good;
	return good ? 0
		    : sv_err_set(err, SV_EOUTPUT, "write %.300s: %s", path,
			  strerror(errno));
}

/* What is printed into memory and then saved under a name. */
struct sheet {
	const char *folder, *name;
	char *bytes;
	size_t n;
	FILE *out;
};

static int open_sheet(
    struct sheet *s, const char *folder, const char *name, struct sv_err *err)
{
	*s = (struct sheet){.folder = folder, .name = name};
	s->out = open_memstream(&s->bytes, &s->n);
	return s->out != NULL ? 0 : no_memory(err);
}

/* Save unless what was to be printed failed (code). */
static int close_sheet(struct sheet *s, int code, struct sv_err *err)
{
	if (fclose(s->out) != 0 && code == 0)
		code = no_memory(err);
	if (code == 0)
		code = sv_folder_save(s->folder, s->name, s->bytes, s->n, err);
	free(s->bytes);
	return code;
}

struct pictures {
	struct sv_figure *figures[MAX_PICTURES];
	struct sv_page_picture of[MAX_PICTURES];
	char *svgs[MAX_PICTURES];
	size_t n;
};

static void free_pictures(struct pictures *p)
{
	for (size_t i = 0; i < p->n; i++) {
		sv_figure_free(p->figures[i]);
		free(p->svgs[i]);
	}
}

/* Draw one as PNG and as SVG; what gnuplot cannot do becomes a note. */
static int draw(struct pictures *p, size_t i, const char *folder,
    struct sv_folder_outcome *outcome, struct sv_err *err)
{
	static const char *const endings[] = {
	    [SV_PICTURE_SVG] = "svg", [SV_PICTURE_PNG] = "png"};
	struct sv_err cause;
	int code = 0;

	for (int kind = SV_PICTURE_PNG; code == 0 && kind >= SV_PICTURE_SVG;
	     kind--) {
		char name[64], *bytes = NULL;
		size_t n = 0;

		snprintf(name, sizeof name, "plots/%s.%s", p->figures[i]->kind,
		    endings[kind]);
		if (sv_gnuplot_draw(p->figures[i], (enum sv_picture)kind,
			&bytes, &n, &cause) != 0) {
			snprintf(outcome->note, sizeof outcome->note, "%.200s",
			    cause.text);
			return 0;
		}
		code = sv_folder_save(folder, name, bytes, n, err);
		if (code == 0 && kind == SV_PICTURE_SVG) {
			p->svgs[i] = bytes;
			p->of[i].svg = bytes;
			p->of[i].n_svg = n;
			outcome->n_pictures++;
		} else {
			free(bytes);
		}
	}
	return code;
}

static int make_pictures(const struct sv_folder *folder, const char *path,
    struct pictures *p, struct sv_folder_outcome *outcome, struct sv_err *err)
{
	struct sv_err cause;
	char plots[PATH_MAX];
	bool can_draw = sv_gnuplot_check(&cause) == 0;
	int code = 0;

	if (!can_draw)
		snprintf(
		    outcome->note, sizeof outcome->note, "%.200s", cause.text);
	snprintf(plots, sizeof plots, "%s/plots", path);
	if (can_draw)
		code = sv_folder_make(plots, err);
	for (const struct sv_figure_kind *kind = sv_figure_kinds;
	     code == 0 && kind->name != NULL && p->n < MAX_PICTURES; kind++) {
		code = sv_figure_make(kind, folder->results, folder->n_results,
		    &p->figures[p->n], err);
		if (code != 0 || p->figures[p->n] == NULL)
			continue;
		p->of[p->n].figure = p->figures[p->n];
		p->n++;
		if (can_draw)
			code = draw(p, p->n - 1, path, outcome, err);
	}
	return code;
}

static int write_page(const struct sv_folder *folder, const char *path,
    const struct pictures *p, const char *note, struct sv_err *err)
{
	struct sv_page page = {.results = folder->results,
	    .n_results = folder->n_results,
	    .comparison = folder->comparison,
	    .pictures = p->of,
	    .n_pictures = p->n,
	    .picture_note = note[0] != '\0' ? note : NULL,
	    .explanations = folder->explanations,
	    .n_explanations = folder->n_explanations};
	struct sheet sheet;
	int code = open_sheet(&sheet, path, "index.html", err);

	if (code != 0)
		return code;
	return close_sheet(&sheet, sv_page_print(&page, sheet.out, err), err);
}

static int write_tables(
    const struct sv_folder *folder, const char *path, struct sv_err *err)
{
	struct sheet sheet;
	int code = open_sheet(&sheet, path, "report.md", err);

	if (code == 0) {
		sv_report_markdown(folder, sheet.out);
		code = close_sheet(&sheet, 0, err);
	}
	for (size_t i = 0; code == 0 && i < folder->n_results; i++) {
		code = open_sheet(&sheet, path,
		    folder->n_results < 2 ? "result.csv"
		    : i == 0		  ? "a.csv"
					  : "b.csv",
		    err);
		if (code == 0)
			code = close_sheet(&sheet,
			    sv_export_csv(folder->results[i], sheet.out, err),
			    err);
	}
	if (code == 0 && folder->comparison != NULL) {
		code = open_sheet(&sheet, path, "comparison.csv", err);
		if (code == 0) {
			sv_report_comparison_csv(folder->comparison, sheet.out);
			code = close_sheet(&sheet, 0, err);
		}
	}
	return code;
}

int sv_folder_write(const struct sv_folder *folder, const char *path,
    struct sv_folder_outcome *outcome, struct sv_err *err)
{
	struct pictures pictures = {.n = 0};
	int code = sv_folder_make(path, err);

	*outcome = (struct sv_folder_outcome){.n_pictures = 0};
	if (code == 0)
		code = make_pictures(folder, path, &pictures, outcome, err);
	if (code == 0)
		code = write_page(folder, path, &pictures, outcome->note, err);
	if (code == 0)
		code = write_tables(folder, path, err);
	free_pictures(&pictures);
	return code;
}
