/*
 * The result model: storage, canonical ids, adding, finding. Knows nothing of
 * files.
 */
#include "result.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

#define ARENA_BLOCK_BYTES 65536

struct sv_arena_block {
	struct sv_arena_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char data[];
};

struct sv_result *sv_result_new(void)
{
	struct sv_result *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->store = calloc(1, sizeof *r->store);
	r->machine = json_object();
	r->device = json_object();
	if (r->store == NULL || r->machine == NULL || r->device == NULL) {
		sv_result_free(r);
		return NULL;
	}
	r->run.complete = true;
	r->run.origin = "measured";
	return r;
}

void sv_result_free(struct sv_result *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->n_measurements; i++)
		json_decref(r->measurements[i].extra);
	for (size_t i = 0; i < r->n_skipped; i++) {
		json_decref(r->skipped[i].params);
		json_decref(r->skipped[i].extra);
	}
	for (size_t i = 0; i < r->n_failures; i++) {
		json_decref(r->failures[i].params);
		json_decref(r->failures[i].extra);
	}
	for (size_t i = 0; i < r->run.n_sources; i++)
		json_decref(r->run.sources[i].extra);
	json_decref(r->machine);
	json_decref(r->device);
	json_decref(r->run.extra);
	json_decref(r->extra);
	free(r->measurements);
	free(r->skipped);
	free(r->failures);
	if (r->store != NULL) {
		while (r->store->blocks != NULL) {
			struct sv_arena_block *next = r->store->blocks->next;

			free(r->store->blocks);
			r->store->blocks = next;
		}
		free(r->store->index);
		free(r->store);
	}
	free(r);
}

void *sv_result_bytes(struct sv_result *r, size_t n)
{
	struct sv_arena_block *block = r->store->blocks;
	size_t unit = alignof(max_align_t);

	if (n > SIZE_MAX / 2)
		return NULL;
	n = (n + unit - 1) / unit * unit;
	if (block == NULL || block->size - block->used < n) {
		size_t size = n > ARENA_BLOCK_BYTES ? n : ARENA_BLOCK_BYTES;

		block = malloc(sizeof *block + size);
		if (block == NULL)
			return NULL;
		block->used = 0;
		block->size = size;
		block->next = r->store->blocks;
		r->store->blocks = block;
	}
	void *place = block->data + block->used;

	block->used += n;
	memset(place, 0, n);
	return place;
}

size_t sv_utf8_length(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = p[0] < 0x80	 ? 1
		   : p[0] < 0xc2 ? 0
		   : p[0] < 0xe0 ? 2
		   : p[0] < 0xf0 ? 3
		   : p[0] < 0xf5 ? 4
				 : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

const char *sv_result_text(struct sv_result *r, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
	const char *from = text;
	size_t room = 1;
	char *copy, *to;

	if (text == NULL)
		return NULL;
	for (size_t i = 0; from[i] != '\0';) {
		size_t n = sv_utf8_length(from + i);

		room += n > 0 ? n : sizeof replacement - 1;
		i += n > 0 ? n : 1;
	}
	copy = to = sv_result_bytes(r, room);
	while (copy != NULL && *from != '\0') {
		size_t n = sv_utf8_length(from);
		bool good = n > 0;

		memcpy(to, good ? from : replacement,
		    good ? n : sizeof replacement - 1);
		to += good ? n : sizeof replacement - 1;
		from += good ? n : 1;
	}
	return copy;
}

static int by_name(const void *left, const void *right)
{
	const struct sv_result_param *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* Append to an id under construction; SIZE_MAX, for too long, stays so. */
static size_t append(char *out, size_t size, size_t used, const char *text)
{
	size_t n = strlen(text);

	if (used >= size || n >= size - used)
		return SIZE_MAX;
	memcpy(out + used, text, n + 1);
	return used + n;
}

static size_t append_param(
    char *out, size_t size, size_t used, const struct sv_result_param *param)
{
	char number[24];

	snprintf(number, sizeof number, "%" PRId64, param->number);
	used = append(out, size, used, param->name);
	used = append(out, size, used, "=");
	return append(
	    out, size, used, param->text != NULL ? param->text : number);
}

/*
 * Whether a part of an id can be told apart from its neighbours. A value may
 * hold `/` and `=`, which end no value; it may be empty.
 */
static bool is_clear(const char *text, bool is_name)
{
	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '?' ||
		    *c == '&' || (is_name && (*c == '/' || *c == '=')))
			return false;
	return !is_name || text[0] != '\0';
}

static int unclear(const char *what, const char *text, struct sv_err *err)
{
	return sv_err_set(err, SV_EINPUT,
	    "%s: expected a text without spaces and the marks of an id, found "
	    "\"%.40s\"",
	    what, text);
}

/* Parameters sorted into `sorted`, each of them fit for an id. */
static int sort_params(struct sv_result_param *sorted,
    const struct sv_result_param *params, size_t n, struct sv_err *err)
{
	if (n > 0)
		memcpy(sorted, params, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_name);
	for (size_t i = 0; i < n; i++) {
		if (!is_clear(sorted[i].name, true))
			return unclear(
			    "name of a parameter", sorted[i].name, err);
		if (sorted[i].text != NULL && !is_clear(sorted[i].text, false))
			return unclear(
			    "value of a parameter", sorted[i].text, err);
		if (i > 0 && strcmp(sorted[i - 1].name, sorted[i].name) == 0)
			return sv_err_set(err, SV_EINPUT,
			    "params: %.80s is there twice", sorted[i].name);
	}
	return 0;
}

int sv_result_id(char *out, size_t size, const char *bench, const char *metric,
    const struct sv_result_param *params, size_t n, struct sv_err *err)
{
	struct sv_result_param sorted[SV_RESULT_MAX_PARAMS];
	size_t used;
	int code;

	if (!is_clear(bench, true))
		return unclear("bench", bench, err);
	if (!is_clear(metric, true))
		return unclear("metric", metric, err);
	if (n > SV_RESULT_MAX_PARAMS)
		return sv_err_set(err, SV_EINPUT,
		    "params: expected at most %d, found %zu",
		    SV_RESULT_MAX_PARAMS, n);
	if ((code = sort_params(sorted, params, n, err)) != 0)
		return code;
	used = append(out, size, 0, bench);
	used = append(out, size, used, "/");
	used = append(out, size, used, metric);
	for (size_t i = 0; i < n; i++) {
		used = append(out, size, used, i == 0 ? "?" : "&");
		used = append_param(out, size, used, &sorted[i]);
	}
	if (used == SIZE_MAX)
		return sv_err_set(err, SV_EINPUT,
		    "id: expected at most %zu characters, found more in "
		    "%.80s/%.80s",
		    size - 1, bench, metric);
	return 0;
}

static size_t hash(const char *text)
{
	/* FNV-1a. */
	uint64_t h = 14695981039346656037u;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	return (size_t)h;
}

/* Where an id is, or would go, in the index. */
static size_t *slot_of(const struct sv_result *r, const char *id)
{
	size_t at = hash(id) % r->store->index_size;

	for (;;) {
		size_t *slot = &r->store->index[at];

		if (*slot == 0 ||
		    strcmp(r->measurements[*slot - 1].id, id) == 0)
			return slot;
		at = (at + 1) % r->store->index_size;
	}
}

/* Keep the index at most half full. */
static bool grow_index(struct sv_result *r)
{
	size_t size = r->store->index_size == 0 ? 64 : 2 * r->store->index_size;
	size_t *old = r->store->index;

	if (r->n_measurements + 1 <= r->store->index_size / 2)
		return true;
	r->store->index = calloc(size, sizeof *r->store->index);
	if (r->store->index == NULL) {
		r->store->index = old;
		return false;
	}
	r->store->index_size = size;
	for (size_t i = 0; i < r->n_measurements; i++)
		*slot_of(r, r->measurements[i].id) = i + 1;
	free(old);
	return true;
}

/* Room for one more element; false when out of memory. */
static bool grow(void **array, size_t n, size_t *room, size_t element)
{
	size_t wanted = *room == 0 ? 16 : 2 * *room;
	void *larger;

	if (n < *room)
		return true;
	larger = realloc(*array, wanted * element);
	if (larger == NULL)
		return false;
	*array = larger;
	*room = wanted;
	return true;
}

static const void *copy_bytes(
    struct sv_result *r, const void *from, size_t n_bytes)
{
	void *copy = sv_result_bytes(r, n_bytes);

	if (copy != NULL && n_bytes > 0)
		memcpy(copy, from, n_bytes);
	return copy;
}

static const struct sv_result_param *copy_params(
    struct sv_result *r, const struct sv_result_param *params, size_t n)
{
	struct sv_result_param *copy =
	    sv_result_bytes(r, (n > 0 ? n : 1) * sizeof *copy);

	for (size_t i = 0; copy != NULL && i < n; i++) {
		copy[i] = params[i];
		copy[i].name = sv_result_text(r, params[i].name);
		copy[i].text = sv_result_text(r, params[i].text);
		if (copy[i].name == NULL ||
		    (params[i].text != NULL && copy[i].text == NULL))
			return NULL;
	}
	if (copy != NULL)
		qsort(copy, n, sizeof *copy, by_name);
	return copy;
}

static const struct sv_series *copy_samples(
    struct sv_result *r, const struct sv_series *samples, size_t n)
{
	struct sv_series *copy =
	    sv_result_bytes(r, (n > 0 ? n : 1) * sizeof *copy);

	for (size_t i = 0; copy != NULL && i < n; i++) {
		copy[i].n = samples[i].n;
		copy[i].values = copy_bytes(r, samples[i].values,
		    samples[i].n * sizeof *samples[i].values);
		if (copy[i].values == NULL)
			return NULL;
	}
	return copy;
}

static const char *const *copy_texts(
    struct sv_result *r, const char *const *texts, size_t n)
{
	const char **copy = sv_result_bytes(r, (n > 0 ? n : 1) * sizeof *copy);

	for (size_t i = 0; copy != NULL && i < n; i++) {
		copy[i] = sv_result_text(r, texts[i]);
		if (copy[i] == NULL)
			return NULL;
	}
	return copy;
}

/* Deep copy of the arrays and text of a measurement; false: no memory. */
static bool copy_measurement(struct sv_result *r,
    const struct sv_measurement *from, struct sv_measurement *to)
{
	*to = *from;
	to->extra = NULL;
	to->bench = sv_result_text(r, from->bench);
	to->metric = sv_result_text(r, from->metric);
	to->unit = sv_result_text(r, from->unit);
	to->params = copy_params(r, from->params, from->n_params);
	to->rounds =
	    copy_bytes(r, from->rounds, from->n_rounds * sizeof *from->rounds);
	to->samples = copy_samples(r, from->samples, from->n_samples);
	to->reference_what = sv_result_text(r, from->reference_what);
	to->flags = copy_texts(r, from->flags, from->n_flags);
	to->check_detail = sv_result_text(r, from->check_detail);
	return to->bench != NULL && to->metric != NULL && to->unit != NULL &&
	       to->params != NULL && to->rounds != NULL &&
	       to->samples != NULL && to->flags != NULL &&
	       (from->reference_what == NULL || to->reference_what != NULL) &&
	       (from->check_detail == NULL || to->check_detail != NULL);
}

int sv_result_add(
    struct sv_result *r, const struct sv_measurement *from, struct sv_err *err)
{
	struct sv_measurement copy;
	char id[SV_RESULT_MAX_ID];
	struct sv_err cause;
	int code = sv_result_id(id, sizeof id, from->bench, from->metric,
	    from->params, from->n_params, err);

	if (code != 0)
		return code;
	if (sv_measurement_check(from, &cause) != 0)
		return sv_err_set(err, SV_EINPUT, "measurement %.200s: %.700s",
		    id, cause.text);
	if (!grow_index(r) ||
	    !grow((void **)&r->measurements, r->n_measurements,
		&r->store->measurements_room, sizeof *r->measurements) ||
	    !copy_measurement(r, from, &copy) ||
	    (copy.id = sv_result_text(r, id)) == NULL)
		return sv_err_set(err, SV_ERESOURCE, "result: out of memory");
	size_t *slot = slot_of(r, id);

	if (*slot != 0)
		return sv_err_set(
		    err, SV_EINPUT, "measurement %.200s: there already", id);
	copy.extra = json_incref(from->extra);
	r->measurements[r->n_measurements++] = copy;
	*slot = r->n_measurements;
	return 0;
}

int sv_result_add_skipped(
    struct sv_result *r, const struct sv_skipped *from, struct sv_err *err)
{
	struct sv_skipped copy = {.bench = sv_result_text(r, from->bench),
	    .reason = sv_result_text(r, from->reason),
	    .code = sv_result_text(r, from->code)};

	if (copy.bench == NULL || copy.reason == NULL || copy.code == NULL ||
	    !grow((void **)&r->skipped, r->n_skipped, &r->store->skipped_room,
		sizeof *r->skipped))
		return sv_err_set(err, SV_ERESOURCE, "result: out of memory");
	copy.params = json_incref(from->params);
	copy.extra = json_incref(from->extra);
	r->skipped[r->n_skipped++] = copy;
	return 0;
}

static bool is_failure_kind(const char *kind)
{
	return kind != NULL &&
	       (strcmp(kind, "signal") == 0 || strcmp(kind, "exit") == 0 ||
		   strcmp(kind, "timeout") == 0);
}

int sv_result_add_failure(
    struct sv_result *r, const struct sv_failure *from, struct sv_err *err)
{
	if (!is_failure_kind(from->kind))
		return sv_err_set(err, SV_EINPUT,
		    "failure: expected signal, exit or timeout, found "
		    "\"%.40s\"",
		    from->kind != NULL ? from->kind : "");
	struct sv_failure copy = {.bench = sv_result_text(r, from->bench),
	    .reason = sv_result_text(r, from->reason),
	    .kind = sv_result_text(r, from->kind),
	    .value = from->value,
	    .log_tail = sv_result_text(
		r, from->log_tail != NULL ? from->log_tail : "")};

	if (copy.bench == NULL || copy.reason == NULL || copy.kind == NULL ||
	    copy.log_tail == NULL ||
	    !grow((void **)&r->failures, r->n_failures,
		&r->store->failures_room, sizeof *r->failures))
		return sv_err_set(err, SV_ERESOURCE, "result: out of memory");
	copy.params = json_incref(from->params);
	copy.extra = json_incref(from->extra);
	r->failures[r->n_failures++] = copy;
	return 0;
}

const struct sv_measurement *sv_result_find(
    const struct sv_result *r, const char *id)
{
	if (r->store->index_size == 0)
		return NULL;
	size_t slot = *slot_of(r, id);

	return slot == 0 ? NULL : &r->measurements[slot - 1];
}

json_t *sv_result_field(json_t *object, const char *path)
{
	char name[64];

	while (json_is_object(object)) {
		size_t length = strcspn(path, ".");

		if (length >= sizeof name)
			return NULL;
		memcpy(name, path, length);
		name[length] = '\0';
		object = json_object_get(object, name);
		if (path[length] == '\0')
			return json_is_null(object) ? NULL : object;
		path += length + 1;
	}
	return NULL;
}
