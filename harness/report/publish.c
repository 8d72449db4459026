/* Publishing; see the header. */
#include "publish.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compare.h"
#include "quote.h"
#include "sha256.h"
#include "stave/version.h"
#include "validity.h"

#define MAX_NAME 80

static int no_memory(struct sv_err *err)
{
	return sv_err_set(err, SV_ERESOURCE, "publish: out of memory");
}

/* Whether a folder is not there, or has nothing in it. */
static int check_empty(const char *path, struct sv_err *err)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t n = 0;

	if (dir == NULL && errno == ENOENT)
		return 0;
	if (dir == NULL)
		return sv_err_set(err, SV_EOUTPUT, "open folder %.300s: %s",
		    path, strerror(errno));
	while ((entry = readdir(dir)) != NULL)
		n += strcmp(entry->d_name, ".") != 0 &&
		     strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return n == 0 ? 0
		      : sv_err_set(err, SV_EOUTPUT,
			    "publish into %.300s: the folder is not empty; "
			    "name a new one",
			    path);
}

/* A file name from the device's, "nvidia-geforce-rtx-4090". */
static void file_stem(
    const struct sv_result *r, size_t i, char out[static MAX_NAME])
{
	const char *name =
	    json_string_value(sv_result_field(r->device, "name"));
	size_t n = 0;

	for (; name != NULL && *name != '\0' && n < 48; name++) {
		char c = *name;

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			out[n++] = c;
		else if (n > 0 && out[n - 1] != '-')
			out[n++] = '-';
	}
	while (n > 0 && out[n - 1] == '-')
		n--;
	/* Results of one kind of card are told apart by their place. */
	snprintf(
	    out + n, MAX_NAME - n, "%s%zu", n > 0 ? "-" : "result-", i + 1);
}

/* Add "digest  name" of one file to the list. Errors: SV_EOUTPUT. */
static int add_checksum(
    FILE *list, const char *path, const char *name, struct sv_err *err)
{
	unsigned char digest[SV_SHA256_BYTES];
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;
	struct stat info;
	bool good = file != NULL && fstat(fileno(file), &info) == 0;
	size_t n = good ? (size_t)info.st_size : 0;

	if (good) {
		bytes = malloc(n + 1);
		good = bytes != NULL && fread(bytes, 1, n, file) == n;
	}
	if (file != NULL)
		fclose(file);
	if (!good) {
		free(bytes);
		return sv_err_set(err, SV_EOUTPUT, "read back %.300s: %s", path,
		    strerror(errno));
	}
	sv_sha256(bytes, n, digest);
	free(bytes);
	for (int i = 0; i < SV_SHA256_BYTES; i++)
		fprintf(list, "%02x", digest[i]);
	fprintf(list, "  %s\n", name);
	return 0;
}

/* Every file below a folder, in the order of their names. */
static int add_checksums(
    FILE *list, const char *root, const char *inside, struct sv_err *err)
{
	char path[PATH_MAX], name[PATH_MAX];
	struct dirent **entries = NULL;
	int code = 0, n;

	snprintf(path, sizeof path, "%s/%s", root, inside);
	n = scandir(path, &entries, NULL, alphasort);
	if (n < 0)
		return sv_err_set(
		    err, SV_EOUTPUT, "list %.300s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		struct stat info;
		size_t wanted = (size_t)snprintf(name, sizeof name, "%s%s%s",
		    inside, inside[0] != '\0' ? "/" : "", entries[i]->d_name);
		size_t full = strlen(root) + 1 + wanted;

		/* Both are cut only where the path is longer than any is. */
		if (code == 0 && entries[i]->d_name[0] != '.' &&
		    full < sizeof path &&
		    (size_t)snprintf(path, sizeof path, "%s/%s", root, name) ==
			full &&
		    stat(path, &info) == 0)
			code = S_ISDIR(info.st_mode)
				   ? add_checksums(list, root, name, err)
				   : add_checksum(list, path, name, err);
		free(entries[i]);
	}
	free(entries);
	return code;
}

static int write_checksums(const char *path, struct sv_err *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *list = open_memstream(&text, &n);
	int code;

	if (list == NULL)
		return no_memory(err);
	code = add_checksums(list, path, "", err);
	if (fclose(list) != 0 && code == 0)
		code = no_memory(err);
	if (code == 0)
		code = sv_folder_save(path, "SHA256SUMS", text, n, err);
	free(text);
	return code;
}

static void put_or(FILE *out, const char *text, const char *otherwise)
{
	sv_quote_markdown(out, text != NULL ? text : otherwise);
}

/* One result as a citation says it: what, on what, when, by what. */
static void put_citation(FILE *out, const struct sv_result *r, size_t i)
{
	const char *started = r->run.started;
	const char *cpu =
	    json_string_value(sv_result_field(r->machine, "cpu.model"));

	fputs("> ", out);
	put_or(out, r->run.label, "unnamed device");
	if (cpu != NULL) {
		fputs(" with ", out);
		put_or(out, cpu, "");
	}
	fputs(": training microbenchmarks, profile ", out);
	put_or(out, r->run.profile, "unknown");
	fprintf(out, ", %s", r->run.origin);
	if (started != NULL)
		fprintf(out, " %.10s", started);
	fputs(" with stave ", out);
	put_or(out, r->run.version, "of unknown version");
	if (r->run.revision != NULL) {
		fputs(" (", out);
		put_or(out, r->run.revision, "");
		fputc(')', out);
	}
	fputs(", run ", out);
	put_or(out, r->run.id, "unknown");
	fprintf(out, " (result %zu).\n", i + 1);
}

static void put_readme(FILE *out, struct sv_result *const *results, size_t n,
    char (*names)[MAX_NAME])
{
	fputs("# Published by stave " SV_VERSION "\n\n", out);
	for (size_t i = 0; i < n; i++) {
		struct sv_validity validity;

		sv_validity_judge(results[i], &validity);
		fprintf(out, "- `%s.json`: **", names[i]);
		put_or(out, results[i]->run.label, "unnamed device");
		fputs("**: ", out);
		sv_validity_print(&validity, out);
		fputs(".\n", out);
	}
	fputs("\nHost names, users, UUIDs, serial numbers, MAC addresses and "
	      "paths have been taken out of the results; fields that were "
	      "withheld are listed in them as unknown. `sha256sum -c "
	      "SHA256SUMS` checks that the files are as they were "
	      "published.\n\n## To cite\n\n",
	    out);
	for (size_t i = 0; i < n; i++) {
		put_citation(out, results[i], i);
		if (i + 1 < n)
			fputs(">\n", out);
	}
}

static int write_readme(const char *path, struct sv_result *const *results,
    size_t n, char (*names)[MAX_NAME], struct sv_err *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int code = 0;

	if (out == NULL)
		return no_memory(err);
	put_readme(out, results, n, names);
	if (fclose(out) != 0)
		code = no_memory(err);
	if (code == 0)
		code = sv_folder_save(path, "README.md", text, size, err);
	free(text);
	return code;
}

/* The report of one result, or of two compared. */
static int write_report(struct sv_result *const *results, size_t n,
    const char *path, struct sv_folder_outcome *outcome, struct sv_err *err)
{
	static const struct sv_compare_options options = {
	    .alpha = 0.05, .min_effect = 0.02};
	struct sv_folder folder = {
	    .results = (const struct sv_result *const *)results,
	    .n_results = n};
	struct sv_comparison *comparison = NULL;
	int code = 0;

	if (n == 2)
		code = sv_compare(
		    results[0], results[1], &options, &comparison, err);
	folder.comparison = comparison;
	if (code == 0)
		code = sv_folder_write(&folder, path, outcome, err);
	sv_comparison_free(comparison);
	return code;
}

static int write_reports(struct sv_result *const *results, size_t n,
    char (*names)[MAX_NAME], const char *path,
    struct sv_folder_outcome *outcome, struct sv_err *err)
{
	int code = 0;

	if (n <= 2)
		return write_report(results, n, path, outcome, err);
	for (size_t i = 0; code == 0 && i < n; i++) {
		char inner[PATH_MAX];

		snprintf(inner, sizeof inner, "%s/%s", path, names[i]);
		code = write_report(&results[i], 1, inner, outcome, err);
	}
	return code;
}

static int write_all(struct sv_result *const *results, size_t n,
    const char *path, FILE *said, struct sv_folder_outcome *outcome,
    struct sv_err *err)
{
	char(*names)[MAX_NAME] = calloc(n, sizeof *names);
	int code;

	if (names == NULL)
		return no_memory(err);
	code = sv_folder_make(path, err);
	for (size_t i = 0; code == 0 && i < n; i++) {
		char file[PATH_MAX];
		struct sv_validity validity;

		file_stem(results[i], i, names[i]);
		snprintf(file, sizeof file, "%s/%s.json", path, names[i]);
		code = sv_result_write(results[i], file, SV_KEEP_ALL, err);
		sv_validity_judge(results[i], &validity);
		fprintf(said, "%s.json: ", names[i]);
		sv_validity_print(&validity, said);
		fputc('\n', said);
	}
	if (code == 0)
		code = write_reports(results, n, names, path, outcome, err);
	if (code == 0)
		code = write_readme(path, results, n, names, err);
	/* Last, so that every file is in the list. */
	if (code == 0)
		code = write_checksums(path, err);
	free(names);
	return code;
}

int sv_publish(const struct sv_result *const *results, size_t n,
    const struct sv_identity *here, const char *path, FILE *said,
    struct sv_folder_outcome *outcome, struct sv_err *err)
{
	struct sv_result **clean = calloc(n, sizeof *clean);
	int code;

	*outcome = (struct sv_folder_outcome){.n_pictures = 0};
	if (clean == NULL)
		return no_memory(err);
	code = check_empty(path, err);
	for (size_t i = 0; code == 0 && i < n; i++)
		code = sv_anonymise(results[i], here, &clean[i], err);
	if (code == 0)
		code = write_all(clean, n, path, said, outcome, err);
	for (size_t i = 0; i < n; i++)
		sv_result_free(clean[i]);
	free(clean);
	return code;
}
