/* The journal; see the header. */
#include "journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LOG_BYTES	  (1 << 20)
#define MAX_JOURNAL_BYTES (1u << 30)

/* A path inside the folder; malloc'd, NULL when out of memory. */
static char *inside(const char *folder, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static int open_inside(const char *folder, const char *name, int flags)
{
	char *path = inside(folder, name);
	int fd = path == NULL ? -1 : open(path, flags | O_CLOEXEC, 0666);
	int cause = errno;

	free(path);
	errno = cause;
	return fd;
}

static void sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
}

static int take_lock(struct sv_journal *journal, struct sv_err *err)
{
	journal->lock_fd =
	    open_inside(journal->folder, "lock", O_RDWR | O_CREAT);
	if (journal->lock_fd < 0)
		return sv_err_set(err, SV_EOUTPUT, "write in %s: %s",
		    journal->folder, strerror(errno));
	if (flock(journal->lock_fd, LOCK_EX | LOCK_NB) != 0)
		return sv_err_set(err, SV_EOUTPUT,
		    "%s: another run is using it", journal->folder);
	return 0;
}

int sv_journal_create(struct sv_journal *journal, const char *folder,
    json_t *header, struct sv_err *err)
{
	int code;

	*journal = (struct sv_journal){
	    .folder = strdup(folder), .fd = -1, .lock_fd = -1};
	if (journal->folder == NULL)
		return sv_err_set(err, SV_ERESOURCE, "journal: out of memory");
	if (mkdir(folder, 0777) != 0) {
		code =
		    errno == EEXIST
			? sv_err_set(err, SV_EOUTPUT,
			      "%s: an unfinished run is there; carry on with "
			      "`stave run --resume %s`, or remove it",
			      folder, folder)
			: sv_err_set(err, SV_EOUTPUT, "make %s: %s", folder,
			      strerror(errno));
		sv_journal_close(journal, false);
		return code;
	}
	code = take_lock(journal, err);
	if (code == 0) {
		journal->fd = open_inside(folder, "journal.ndjson",
		    O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
		if (journal->fd < 0)
			code = sv_err_set(err, SV_EOUTPUT, "write in %s: %s",
			    folder, strerror(errno));
	}
	if (code == 0 && sv_journal_append(journal, header, err) != 0)
		/* There is nothing yet that could be carried on with. */
		code = sv_err_set(err, SV_EOUTPUT, "write in %s: %s", folder,
		    strerror(errno));
	if (code != 0) {
		/* Nothing is measured yet: leave nothing behind either. */
		sv_journal_close(journal, true);
		return code;
	}
	sync_folder(folder);
	return 0;
}

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

int sv_journal_append(
    struct sv_journal *journal, json_t *record, struct sv_err *err)
{
	char *text = json_dumps(record, JSON_COMPACT), *line = NULL;
	int n = text == NULL ? -1 : asprintf(&line, "%s\n", text), code = 0;

	free(text);
	if (n < 0)
		return sv_err_set(err, SV_ERESOURCE, "journal: out of memory");
	if (write_all(journal->fd, line, (size_t)n) != 0 ||
	    fdatasync(journal->fd) != 0) {
		code = sv_err_set(err, SV_EOUTPUT,
		    "write %s/journal.ndjson: %s; what is finished is kept: "
		    "make room and carry on with `stave run --resume %s`",
		    journal->folder, strerror(errno), journal->folder);
		/* Half a line would be the next reader's damage. */
		if (ftruncate(journal->fd, (off_t)journal->size) != 0)
			(void)fdatasync(journal->fd);
	} else {
		journal->size += n;
	}
	free(line);
	return code;
}

int sv_journal_parse(const char *text, size_t n, const char *name,
    json_t **header, json_t **records, size_t *whole, struct sv_err *err)
{
	json_t *first = NULL, *rest = json_array();
	size_t at = 0, number = 0;
	json_error_t error;

	if (rest == NULL)
		return sv_err_set(err, SV_ERESOURCE, "journal: out of memory");
	while (at < n) {
		const char *end = memchr(text + at, '\n', n - at);

		/* Torn by a crash: it was never said to be finished. */
		if (end == NULL)
			break;
		size_t length = (size_t)(end - (text + at));
		json_t *line = json_loadb(
		    text + at, length, JSON_REJECT_DUPLICATES, &error);

		number++;
		if (!json_is_object(line)) {
			sv_err_set(err, SV_EINPUT,
			    "%s: line %zu: expected a JSON object%s%.60s", name,
			    number, line == NULL ? ": " : "",
			    line == NULL ? error.text : "");
			json_decref(line);
			goto refuse;
		}
		if (first == NULL)
			first = line;
		else
			json_array_append_new(rest, line);
		at += length + 1;
	}
	const char *schema =
	    json_string_value(json_object_get(first, "schema"));

	if (schema == NULL || strcmp(schema, SV_JOURNAL_SCHEMA) != 0) {
		sv_err_set(err, SV_EINPUT,
		    "%s: line 1: expected a header of schema \"%s\"", name,
		    SV_JOURNAL_SCHEMA);
		goto refuse;
	}
	*header = first;
	*records = rest;
	*whole = at;
	return 0;

refuse:
	json_decref(first);
	json_decref(rest);
	return SV_EINPUT;
}

/* The whole file in memory; malloc'd. */
static int slurp(
    int fd, const char *name, char **out, size_t *n, struct sv_err *err)
{
	struct stat info;
	char *text;
	size_t used = 0;

	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
	    info.st_size > MAX_JOURNAL_BYTES)
		return sv_err_set(
		    err, SV_EINPUT, "%s: expected a journal", name);
	text = malloc((size_t)info.st_size + 1);
	if (text == NULL)
		return sv_err_set(err, SV_ERESOURCE, "journal: out of memory");
	while (used < (size_t)info.st_size) {
		ssize_t got =
		    read(fd, text + used, (size_t)info.st_size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	*out = text;
	*n = used;
	return 0;
}

int sv_journal_open(struct sv_journal *journal, const char *folder,
    json_t **header, json_t **records, struct sv_err *err)
{
	char *text = NULL, *name = inside(folder, "journal.ndjson");
	size_t n = 0, whole = 0;
	int code;

	*journal = (struct sv_journal){
	    .folder = strdup(folder), .fd = -1, .lock_fd = -1};
	*header = *records = NULL;
	if (journal->folder == NULL || name == NULL) {
		code = sv_err_set(err, SV_ERESOURCE, "journal: out of memory");
		goto close_journal;
	}
	/* Look before the lock file is made in somebody's other folder. */
	journal->fd = open_inside(folder, "journal.ndjson", O_RDWR | O_APPEND);
	if (journal->fd < 0) {
		code = sv_err_set(err, SV_EINPUT,
		    "open %s: %s; expected the folder of an unfinished run",
		    name, strerror(errno));
		goto close_journal;
	}
	if ((code = take_lock(journal, err)) != 0 ||
	    (code = slurp(journal->fd, name, &text, &n, err)) != 0 ||
	    (code = sv_journal_parse(
		 text, n, name, header, records, &whole, err)) != 0)
		goto close_journal;
	journal->size = (long long)whole;
	if (whole < n && ftruncate(journal->fd, (off_t)whole) != 0)
		code = sv_err_set(
		    err, SV_EOUTPUT, "write %s: %s", name, strerror(errno));

close_journal:
	free(name);
	free(text);
	if (code != 0) {
		json_decref(*header);
		json_decref(*records);
		*header = *records = NULL;
		sv_journal_close(journal, false);
	}
	return code;
}

void sv_journal_log(
    struct sv_journal *journal, const char *name, const char *bytes, size_t n)
{
	char *path;
	struct stat info;
	int fd;

	if (asprintf(&path, "%s/logs", journal->folder) < 0)
		return;
	(void)mkdir(path, 0777);
	free(path);
	if (asprintf(&path, "%s/logs/%s.log", journal->folder, name) < 0)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	free(path);
	if (fd < 0)
		return;
	if (fstat(fd, &info) == 0 && info.st_size < MAX_LOG_BYTES)
		(void)write_all(fd, bytes, n);
	close(fd);
}

static void remove_logs(const char *folder)
{
	char *logs = inside(folder, "logs");
	DIR *dir = logs == NULL ? NULL : opendir(logs);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char *path = inside(logs, entry->d_name);

		if (path != NULL && entry->d_name[0] != '.')
			(void)unlink(path);
		free(path);
	}
	if (dir != NULL)
		closedir(dir);
	if (logs != NULL)
		(void)rmdir(logs);
	free(logs);
}

void sv_journal_close(struct sv_journal *journal, bool remove)
{
	static const char *const names[] = {"journal.ndjson", "lock"};

	if (remove && journal->folder != NULL) {
		remove_logs(journal->folder);
		for (size_t i = 0; i < 2; i++) {
			char *path = inside(journal->folder, names[i]);

			if (path != NULL)
				(void)unlink(path);
			free(path);
		}
		(void)rmdir(journal->folder);
	}
	if (journal->fd >= 0)
		close(journal->fd);
	if (journal->lock_fd >= 0)
		close(journal->lock_fd);
	free(journal->folder);
	*journal = (struct sv_journal){.fd = -1, .lock_fd = -1};
}
