/*
 * Samples in an LMDB, as trainers that use it keep them: the key is the
 * position, values come in by page fault and are copied out. Built where the
 * library is.
 */
#include "dataset_layout.h"

#ifdef SV_HAVE_LMDB

#include <errno.h>
#include <lmdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Samples to a transaction while writing: what is dirty is kept in memory. */
#define SAMPLES_A_COMMIT 256u
/* Pages of keys and of free space, beside the values. */
#define MAP_SPARE	 ((size_t)16 << 20)

int sv_dataset_lmdb_built(struct sv_err *err)
{
	(void)err;
	return 0;
}

/* Errors of the library are its own, or errno's. */
static int fail(struct sv_err *err, const char *what, int rc)
{
	if (rc > 0) {
		errno = rc;
		return sv_dataset_fail(err, what, "the LMDB");
	}
	return sv_err_set(err, rc == MDB_MAP_FULL ? SV_ERESOURCE : SV_ESYSTEM,
	    "%s the LMDB: %s", what, mdb_strerror(rc));
}

static size_t map_bytes(const struct sv_dataset_spec *spec)
{
	/* A value of several pages has a header and begins on a page. */
	return spec->n * (sv_dataset_stride(spec) + 2 * SV_DATASET_ALIGNMENT) +
	       MAP_SPARE;
}

static int open_env(const struct sv_dataset_spec *spec, const char *path,
    unsigned flags, MDB_env **out)
{
	MDB_env *env = NULL;
	int rc = mdb_env_create(&env);

	if (rc == 0)
		rc = mdb_env_set_mapsize(env, map_bytes(spec));
	/* One process at a time, and no writer beside readers: no locks. */
	if (rc == 0)
		rc = mdb_env_open(
		    env, path, flags | MDB_NOLOCK | MDB_NOTLS, 0600);
	if (rc != 0) {
		mdb_env_close(env);
		return rc;
	}
	*out = env;
	return 0;
}

static void key_of(size_t index, unsigned char out[8])
{
	for (int i = 0; i < 8; i++)
		out[i] = (unsigned char)((uint64_t)index >> (56 - 8 * i));
}

/* Samples from *next on, as many as go into one transaction. */
static int put_some(MDB_env *env, const struct sv_dataset_spec *spec,
    size_t *next, unsigned char *buffer)
{
	MDB_txn *txn = NULL;
	MDB_dbi dbi;
	int rc = mdb_txn_begin(env, NULL, 0, &txn);

	if (rc != 0)
		return rc;
	rc = mdb_dbi_open(txn, NULL, 0, &dbi);
	for (size_t i = 0; rc == 0 && i < SAMPLES_A_COMMIT && *next < spec->n;
	     i++, ++*next) {
		unsigned char bytes[8];
		MDB_val key = {sizeof bytes, bytes}, value = {0, buffer};

		key_of(*next, bytes);
		value.mv_size = spec->contents(spec->state, *next, buffer);
		rc = mdb_put(txn, dbi, &key, &value, MDB_APPEND);
	}
	if (rc != 0) {
		mdb_txn_abort(txn);
		return rc;
	}
	return mdb_txn_commit(txn);
}

static int make_lmdb(const struct sv_dataset_spec *spec, const char *path,
    unsigned char *buffer, struct sv_err *err)
{
	MDB_env *env = NULL;
	size_t next = 0;
	int rc = open_env(spec, path, MDB_NOSYNC, &env);

	if (rc != 0)
		return fail(err, "make", rc);
	while (rc == 0 && next < spec->n)
		rc = put_some(env, spec, &next, buffer);
	mdb_env_close(env);
	return rc == 0 ? 0 : fail(err, "write", rc);
}

/*
 * An environment may be open once in a process: the first reader opens it, the
 * last one closes it. Readers come and go on one thread.
 */
struct lmdb_reader {
	MDB_txn *txn;
	MDB_dbi dbi;
};

static int open_lmdb(struct sv_reader *reader, bool direct, struct sv_err *err)
{
	struct sv_dataset *dataset = reader->dataset;
	struct lmdb_reader *mine = calloc(1, sizeof *mine);
	MDB_env *env = dataset->shared;
	int rc = 0;

	(void)direct;
	if (mine == NULL)
		return sv_err_set(err, SV_ERESOURCE, "reader: out of memory");
	reader->state = mine;
	/* As trainers open it: reading ahead is lost on a shuffled order. */
	if (env == NULL)
		rc = open_env(&dataset->spec, dataset->path,
		    MDB_RDONLY | MDB_NORDAHEAD, &env);
	if (rc != 0)
		return fail(err, "open", rc);
	dataset->shared = env;
	dataset->readers++;
	rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &mine->txn);
	if (rc == 0)
		rc = mdb_dbi_open(mine->txn, NULL, 0, &mine->dbi);
	return rc == 0 ? 0 : fail(err, "open", rc);
}

static void close_lmdb(struct sv_reader *reader)
{
	struct sv_dataset *dataset = reader->dataset;
	struct lmdb_reader *mine = reader->state;

	if (mine == NULL)
		return;
	if (mine->txn != NULL)
		mdb_txn_abort(mine->txn);
	free(mine);
	if (dataset->shared == NULL || --dataset->readers > 0)
		return;
	mdb_env_close(dataset->shared);
	dataset->shared = NULL;
}

static int read_lmdb(struct sv_reader *reader, size_t index,
    const unsigned char **data, size_t *bytes, struct sv_err *err)
{
	struct lmdb_reader *mine = reader->state;
	unsigned char number[8];
	MDB_val key = {sizeof number, number}, value;
	int rc;

	key_of(index, number);
	rc = mdb_get(mine->txn, mine->dbi, &key, &value);
	if (rc != 0)
		return fail(err, "read", rc);
	*bytes = value.mv_size < reader->dataset->spec.bytes
		     ? value.mv_size
		     : reader->dataset->spec.bytes;
	memcpy(reader->buffer, value.mv_data, *bytes);
	*data = reader->buffer;
	return 0;
}

static int locate_lmdb(struct sv_dataset *dataset, size_t index, int *fd,
    size_t *from, size_t *bytes, struct sv_err *err)
{
	struct stat info;

	(void)index;
	if (fstat(dataset->fd, &info) != 0)
		return sv_dataset_fail(err, "look at", dataset->path);
	*fd = dataset->fd;
	*from = 0;
	*bytes = (size_t)info.st_size;
	return 0;
}

const struct layout sv_layout_lmdb = {
    .name = "lmdb",
    .make = make_lmdb,
    .inside = "/data.mdb",
    .reader_open = open_lmdb,
    .reader_close = close_lmdb,
    .read = read_lmdb,
    .locate = locate_lmdb,
    .whole = true,
};

#else

int sv_dataset_lmdb_built(struct sv_err *err)
{
	return sv_err_set(err, SV_EUNSUPPORTED,
	    "this build has no LMDB: install liblmdb-dev (Debian), lmdb-devel "
	    "(Fedora) or lmdb (Arch) and build again");
}

const struct layout sv_layout_lmdb = {.name = "lmdb", .inside = ""};

#endif
