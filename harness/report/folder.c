/* Writing a report's folder; see the header. */
#include "folder.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "explained.h"
#include "export.h"
#include "figure.h"
#include "gnuplot.h"
#include "page.h"
#include "report.h"
#include "save.h"

#define MAX_PICTURES 16
#define MOST_DRAWN   2 /* explanations with pictures of their own */

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

	if (snprintf(path, sizeof path, "%s/%s", folder, name) >=
	    (int)sizeof path)
		return sv_err_set(err, SV_EOUTPUT, "write %.200s: %s", name,
		    strerror(ENAMETOOLONG));
	return sv_save(path, bytes, n, err);
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

/* How pictures are drawn, and what has come of it. */
struct studio {
	const char *folder;
	bool can_draw;
	struct sv_folder_outcome *outcome;
};

/* Draw one as PNG and as SVG; what gnuplot cannot do becomes a note. */
static int draw(struct studio *studio, struct pictures *p, size_t i,
    const char *stem, struct sv_err *err)
{
	static const char *const endings[] = {
	    [SV_PICTURE_SVG] = "svg", [SV_PICTURE_PNG] = "png"};
	struct sv_folder_outcome *outcome = studio->outcome;
	struct sv_err cause;
	int code = 0;

	for (int kind = SV_PICTURE_PNG; code == 0 && kind >= SV_PICTURE_SVG;
	     kind--) {
		char name[80], *bytes = NULL;
		size_t n = 0;

		snprintf(
		    name, sizeof name, "plots/%.60s.%s", stem, endings[kind]);
		if (sv_gnuplot_draw(p->figures[i], (enum sv_picture)kind,
			&bytes, &n, &cause) != 0) {
			snprintf(outcome->note, sizeof outcome->note, "%.200s",
			    cause.text);
			return 0;
		}
		code = sv_folder_save(studio->folder, name, bytes, n, err);
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

/* Take a figure, NULL for none, into the pictures. */
static int add_picture(struct studio *studio, struct pictures *p,
    struct sv_figure *take_figure, const char *stem, struct sv_err *err)
{
	if (take_figure == NULL)
		return 0;
	if (p->n == MAX_PICTURES) {
		sv_figure_free(take_figure);
		return 0;
	}
	p->figures[p->n] = take_figure;
	p->of[p->n].figure = take_figure;
	p->n++;
	return studio->can_draw ? draw(studio, p, p->n - 1, stem, err) : 0;
}

static int make_pictures(struct studio *studio, const struct sv_folder *folder,
    struct pictures *p, struct sv_err *err)
{
	int code = 0;

	for (const struct sv_figure_kind *kind = sv_figure_kinds;
	     code == 0 && kind->name != NULL; kind++) {
		struct sv_figure *figure;

		code = sv_figure_make(
		    kind, folder->results, folder->n_results, &figure, err);
		if (code == 0)
			code = add_picture(studio, p, figure, kind->name, err);
	}
	return code;
}

/* Pictures of the first explanations; n_of says how many each has. */
static int make_explained(struct studio *studio,
    const struct sv_explained *explained, struct pictures *p, size_t n_of[],
    struct sv_err *err)
{
	static const char *const stems[] = {[SV_EXPLAINED_STEP] = "step-parts",
	    [SV_EXPLAINED_CROSSOVER] = "crossover"};
	int code = 0;

	for (size_t i = 0; code == 0 && i < explained->n && i < MOST_DRAWN;
	     i++) {
		size_t before = p->n;

		for (int which = 0; code == 0 && which < 2; which++) {
			struct sv_figure *figure;
			char stem[60];

			snprintf(
			    stem, sizeof stem, "%s-%zu", stems[which], i + 1);
			code =
			    sv_figure_explained((enum sv_figure_explained)which,
				explained->list[i], &figure, err);
			if (code == 0)
				code =
				    add_picture(studio, p, figure, stem, err);
		}
		n_of[i] = p->n - before;
	}
	return code;
}

/* Whether there is a gnuplot; a folder for what it draws. */
static int open_studio(struct studio *studio, struct sv_err *err)
{
	struct sv_err cause;
	char plots[PATH_MAX];

	studio->can_draw = sv_gnuplot_check(&cause) == 0;
	if (!studio->can_draw) {
		snprintf(studio->outcome->note, sizeof studio->outcome->note,
		    "%.200s", cause.text);
		return 0;
	}
	snprintf(plots, sizeof plots, "%s/plots", studio->folder);
	return sv_folder_make(plots, err);
}

static int write_page(
    const struct sv_page *page, const char *path, struct sv_err *err)
{
	struct sheet sheet;
	int code = open_sheet(&sheet, path, "index.html", err);

	if (code != 0)
		return code;
	return close_sheet(&sheet, sv_page_print(page, sheet.out, err), err);
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
	struct pictures pictures = {.n = 0}, explained_pictures = {.n = 0};
	struct studio studio = {.folder = path, .outcome = outcome};
	struct sv_explained explained = {.n = 0};
	size_t n_explained[SV_EXPLAINED_MAX] = {0};
	int code;

	*outcome = (struct sv_folder_outcome){.n_pictures = 0};
	code = sv_folder_make(path, err);
	if (code == 0)
		code = open_studio(&studio, err);
	if (code == 0 && folder->n_results == 2)
		code = sv_explained_make(
		    folder->results[0], folder->results[1], &explained, err);
	if (code == 0)
		code = make_explained(
		    &studio, &explained, &explained_pictures, n_explained, err);
	if (code == 0)
		code = make_pictures(&studio, folder, &pictures, err);
	if (code == 0) {
		struct sv_page page = {.results = folder->results,
		    .n_results = folder->n_results,
		    .comparison = folder->comparison,
		    .pictures = pictures.of,
		    .n_pictures = pictures.n,
		    .picture_note =
			outcome->note[0] != '\0' ? outcome->note : NULL,
		    .explanations = explained.list,
		    .n_explanations = explained.n,
		    .explained = explained_pictures.of,
		    .n_explained = n_explained};

		code = write_page(&page, path, err);
	}
	if (code == 0)
		code = write_tables(folder, path, err);
	free_pictures(&pictures);
	free_pictures(&explained_pictures);
	sv_explained_free(&explained);
	return code;
}
