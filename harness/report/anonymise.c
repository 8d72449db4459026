/* Taking identities out of results; see the header. */
#include "anonymise.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WITHHELD "[withheld]"

/* Words shorter than this are too common to be looked for. */
#define LEAST_SECRET 3

#define MAX_PATH 240

/*
 * Fields whose text names a kind of thing and never one machine. What is not
 * here is withheld, so that a field that is new is safe until somebody has
 * looked at it. "*" ends a name that goes on.
 */
static const char *const harmless[] = {
    "machine.cpu.model",
    "machine.cpu.governor",
    "machine.cpu.driver",
    "machine.cpu.idle_driver",
    "machine.cpu.microcode",
    "machine.cpu.energy_preference",
    "machine.cpu.kinds*",
    "machine.cpu.c_states*",
    "machine.memory.thp",
    "machine.memory.thp_defrag",
    "machine.numa*",
    "machine.board.vendor",
    "machine.board.product",
    "machine.board.name",
    "machine.board.bios",
    "machine.board.bios_date",
    "machine.os.kernel",
    "machine.os.distribution",
    "machine.os.iommu",
    "machine.os.iommu_group_type",
    "machine.os.libc",
    "machine.os.cmdline_flags*",
    "machine.os.mitigations*",
    "machine.virtualisation.kind",
    "machine.virtualisation.detail",
    "machine.storage.filesystem",
    "machine.storage.transport",
    "machine.storage.scheduler",
    "machine.environment*",
    "machine.unknown*",
    "device.unknown*",
    "device.backend",
    "device.name",
    "device.pci_address",
    "device.kernels",
    "device.vbios",
    "device.driver.version",
    "device.driver.cuda_version",
    "device.driver.model",
    "device.libraries*",
    "device.throttle*",
    "device.modes.compute_mode",
    "device.pcie.bottleneck",
    "device.pcie.bottleneck_why",
    "device.pcie.trusted_why",
    "device.pcie.driver",
    "device.pcie.aspm",
    "device.pcie.path*",
    "device.pcie.narrowest*",
};

/* Names of fields that are withheld whatever they hold. */
static const char *const telling[] = {"uuid", "serial", "mac_address",
    "hostname", "host_name", "username", "user_name", "asset_tag"};

struct secret {
	char *text;
	bool whole; /* only where it stands as a word of its own */
};

struct secrets {
	struct secret *list;
	size_t n;
	bool failed;
};

static void learn(struct secrets *s, const char *text, bool whole)
{
	struct secret *larger;

	if (text == NULL || strlen(text) < LEAST_SECRET)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->list[i].text, text) == 0)
			return;
	larger = realloc(s->list, (s->n + 1) * sizeof *larger);
	if (larger == NULL) {
		s->failed = true;
		return;
	}
	s->list = larger;
	s->list[s->n] = (struct secret){strdup(text), whole};
	s->failed = s->failed || s->list[s->n].text == NULL;
	s->n++;
}

static void forget(struct secrets *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].text);
	free(s->list);
}

/* Longest first: a path goes before the name of its folder. */
static int by_length(const void *left, const void *right)
{
	const struct secret *a = left, *b = right;
	size_t n = strlen(a->text), m = strlen(b->text);

	return n > m ? -1 : n < m;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of a pattern of x (hex digit) and other characters as they are. */
static size_t match_hex(const char *text, const char *pattern)
{
	size_t n = 0;

	for (; pattern[n] != '\0'; n++)
		if (pattern[n] == 'x' ? !is_hex(text[n])
				      : text[n] != pattern[n])
			return 0;
	return is_letter(text[n]) ? 0 : n;
}

static size_t match_uuid(const char *text)
{
	return match_hex(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
}

static size_t match_mac(const char *text)
{
	size_t n = match_hex(text, "xx:xx:xx:xx:xx:xx");

	return n > 0 ? n : match_hex(text, "xx-xx-xx-xx-xx-xx");
}

/* Four numbers up to 255: an address, or a version that looks like one. */
static size_t match_ipv4(const char *text)
{
	size_t n = 0;

	for (int part = 0; part < 4; part++) {
		int value = 0, digits = 0;

		if (part > 0 && text[n++] != '.')
			return 0;
		while (is_digit(text[n]) && digits++ < 3)
			value = 10 * value + (text[n++] - '0');
		if (digits == 0 || value > 255 || is_digit(text[n]))
			return 0;
	}
	return is_letter(text[n]) || (text[n] == '.' && is_digit(text[n + 1]))
		   ? 0
		   : n;
}

static bool is_path_byte(char c)
{
	return is_letter(c) || (c != '\0' && strchr("._-+@~%#", c) != NULL);
}

/* An absolute path, or one below a home folder. */
static size_t match_path(const char *text)
{
	size_t n = 0;

	if (text[0] == '~') {
		while (is_path_byte(text[n]))
			n++;
	}
	if (text[n] != '/' || !is_path_byte(text[n + 1]))
		return 0;
	while (text[n] == '/' || is_path_byte(text[n]))
		n++;
	return n;
}

static size_t match_mail(const char *text)
{
	size_t n = 0, dot = 0, at;

	while (is_letter(text[n]) ||
	       (text[n] != '\0' && strchr("._+-", text[n]) != NULL))
		n++;
	if (n == 0 || text[n] != '@')
		return 0;
	at = ++n;
	for (; is_letter(text[n]) || text[n] == '-' || text[n] == '.'; n++)
		if (text[n] == '.' && n > at)
			dot = n;
	/* "name@1.2" is a version of something, and no address. */
	return dot > 0 && n > dot + 2 && !is_digit(text[dot + 1]) ? n : 0;
}

/*
 * What stands at a place that begins a word; the word for it, or NULL.
 * addresses: whether four numbers with dots are one, and no version.
 */
static const char *match_identity(const char *text, bool addresses, size_t *n)
{
	static const struct {
		size_t (*match)(const char *);
		const char *word;
	} kinds[] = {{match_uuid, "[uuid]"}, {match_mac, "[mac]"},
	    {match_ipv4, "[address]"}, {match_mail, "[mail]"},
	    {match_path, "[path]"}};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (kinds[i].match == match_ipv4 && !addresses)
			continue;
		*n = kinds[i].match(text);
		if (*n > 0)
			return kinds[i].word;
	}
	return NULL;
}

/* The rest of a link is no path of this machine. */
static size_t match_link(const char *text)
{
	return strncmp(text, "https://", 8) == 0 ||
		       strncmp(text, "http://", 7) == 0
		   ? strcspn(text, " \t\n\"'<>")
		   : 0;
}

char *sv_anonymise_text(const char *text, bool addresses)
{
	char *out = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&out, &size);

	if (to == NULL)
		return NULL;
	for (size_t i = 0; text[i] != '\0';) {
		bool begins = i == 0 || !is_letter(text[i - 1]);
		size_t n = begins ? match_link(text + i) : 0;
		const char *word;

		if (n > 0) {
			fwrite(text + i, 1, n, to);
			i += n;
			continue;
		}
		word = begins ? match_identity(text + i,
				    addresses && (i == 0 || text[i - 1] != '.'),
				    &n)
			      : NULL;
		if (word != NULL) {
			fputs(word, to);
			i += n;
		} else {
			fputc(text[i++], to);
		}
	}
	if (fclose(to) != 0) {
		free(out);
		return NULL;
	}
	return out;
}

/* Text without the secrets; malloc'd, NULL when out of memory. */
static char *without_secrets(
    const struct secrets *s, const char *text, bool words)
{
	char *out = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&out, &size);

	if (to == NULL)
		return NULL;
	for (size_t i = 0; text[i] != '\0';) {
		bool begins = i == 0 || !is_letter(text[i - 1]);
		size_t found = 0;

		for (size_t k = 0; k < s->n && found == 0; k++) {
			size_t n = strlen(s->list[k].text);

			if (strncmp(text + i, s->list[k].text, n) == 0 &&
			    (!s->list[k].whole ||
				(words && begins && !is_letter(text[i + n]))))
				found = n;
		}
		if (found > 0)
			fputs(WITHHELD, to);
		else
			fputc(text[i], to);
		i += found > 0 ? found : 1;
	}
	if (fclose(to) != 0) {
		free(out);
		return NULL;
	}
	return out;
}

static bool is_harmless(const char *path)
{
	for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
		size_t n = strlen(harmless[i]);

		if (harmless[i][n - 1] == '*'
			? strncmp(path, harmless[i], n - 1) == 0
			: strcmp(path, harmless[i]) == 0)
			return true;
	}
	return false;
}

static bool is_telling(const char *key)
{
	for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++)
		if (strstr(key, telling[i]) != NULL)
			return true;
	return false;
}

/* Whether a text is so odd that it can be looked for within others. */
static bool is_odd(const char *text)
{
	return strlen(text) >= 8 && (strchr(text, '/') != NULL ||
					strpbrk(text, "0123456789") != NULL);
}

/* Learn all text of a value that is going to be withheld. */
static void learn_value(struct secrets *s, json_t *value, bool telling_name)
{
	const char *key, *text = json_string_value(value);
	json_t *inner;
	size_t i;

	if (text != NULL && is_odd(text))
		learn(s, text, false);
	else if (text != NULL && telling_name)
		learn(s, text, true);
	json_array_foreach (value, i, inner)
		learn_value(s, inner, telling_name);
	json_object_foreach (value, key, inner)
		learn_value(s, inner, telling_name || is_telling(key));
}

static bool holds_text(json_t *value)
{
	const char *key;
	json_t *inner;
	size_t i;
	bool found = json_is_string(value);

	json_array_foreach (value, i, inner)
		found = found || holds_text(inner);
	json_object_foreach (value, key, inner)
		found = found || holds_text(inner);
	return found;
}

static void note(json_t *unknown, const char *field)
{
	json_array_append_new(unknown,
	    json_pack("{s:s, s:s}", "field", field, "why", "withheld"));
}

/*
 * Withhold fields of an object; unknown gets an entry each. path is that of
 * the object, with "machine." or "device." before it.
 */
static void withhold(
    struct secrets *s, json_t *object, const char *path, json_t *unknown)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe (object, next, key, value) {
		char inner[MAX_PATH];
		int n = snprintf(inner, sizeof inner, "%s.%s", path, key);
		bool too_long = n < 0 || (size_t)n >= sizeof inner;
		const char *field = strchr(inner, '.') + 1;

		if (!too_long && json_is_object(value) && !is_telling(key) &&
		    !is_harmless(inner)) {
			withhold(s, value, inner, unknown);
			continue;
		}
		if (json_is_null(value) ||
		    (!too_long && !is_telling(key) &&
			(is_harmless(inner) || !holds_text(value))))
			continue;
		learn_value(s, value, is_telling(key));
		if (is_telling(key) ||
		    strcmp(inner, "machine.storage.path") == 0) {
			note(unknown, field);
			json_object_set_new(object, key, json_null());
		} else {
			/* A name that nobody knows may be somebody's. */
			note(unknown, "(unlisted)");
			json_object_del(object, key);
		}
	}
}

/* Where a text is: how much of it may be changed. */
enum scope {
	SCOPE_FREE, /* prose */
	SCOPE_FACT, /* of a machine: versions may look like addresses */
	SCOPE_ID,   /* part of an id, or a word of the schema: no word goes */
};

static enum scope scope_of(const char *key, enum scope outer)
{
	static const char *const ids[] = {"schema", "unit", "better", "status",
	    "origin", "started", "finished", "bench", "metric", "id", "params"};

	if (outer == SCOPE_ID)
		return outer;
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
		if (strcmp(key, ids[i]) == 0)
			return SCOPE_ID;
	if (strcmp(key, "environment") == 0)
		return SCOPE_FREE;
	return strcmp(key, "machine") == 0 || strcmp(key, "device") == 0
		   ? SCOPE_FACT
		   : outer;
}

/* The text of a string, clean; malloc'd, NULL when out of memory. */
static char *clean_text(
    const struct secrets *s, const char *text, enum scope scope)
{
	char *first = without_secrets(s, text, scope != SCOPE_ID);
	char *second = first != NULL
			   ? sv_anonymise_text(first, scope == SCOPE_FREE)
			   : NULL;

	free(first);
	return second;
}

/* A new tree in place of value, every text clean; NULL: no memory. */
static json_t *clean(const struct secrets *s, json_t *value, enum scope scope)
{
	json_t *copy = NULL, *inner;
	const char *key;
	size_t i;

	if (json_is_string(value)) {
		char *text = clean_text(s, json_string_value(value), scope);

		copy = text != NULL ? json_string(text) : NULL;
		free(text);
		return copy;
	}
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach (value, i, inner)
			if (json_array_append_new(
				copy, clean(s, inner, scope)) != 0) {
				json_decref(copy);
				return NULL;
			}
		return copy;
	}
	if (!json_is_object(value))
		return json_incref(value);
	copy = json_object();
	json_object_foreach (value, key, inner) {
		char *name = clean_text(s, key, SCOPE_ID);
		int failed = name == NULL ||
			     json_object_set_new(copy, name,
				 clean(s, inner, scope_of(key, scope))) != 0;

		free(name);
		if (failed) {
			json_decref(copy);
			return NULL;
		}
	}
	return copy;
}

/* The list of unknown fields of an object, made where there is none. */
static json_t *unknown_of(json_t *object)
{
	json_t *list = json_object_get(object, "unknown");

	if (json_is_array(list))
		return list;
	json_object_set_new(object, "unknown", json_array());
	return json_object_get(object, "unknown");
}

/* Words of whoever publishes, and the label unless it names the hardware. */
static void learn_words(struct secrets *s, const struct sv_result *r,
    const struct sv_identity *here)
{
	const char *cards[] = {
	    json_string_value(sv_result_field(r->device, "name")),
	    json_string_value(sv_result_field(r->machine, "cpu.model"))};
	bool is_hardware = false;
	char host[256];

	if (here->host != NULL && strcmp(here->host, "localhost") != 0) {
		learn(s, here->host, true);
		/* The name without its domain is a name too. */
		snprintf(host, sizeof host, "%s", here->host);
		host[strcspn(host, ".")] = '\0';
		if (strcmp(host, "localhost") != 0)
			learn(s, host, true);
	}
	if (here->user != NULL && strcmp(here->user, "root") != 0)
		learn(s, here->user, true);
	if (here->home != NULL && strcmp(here->home, "/") != 0)
		learn(s, here->home, false);
	for (size_t i = 0; r->run.label != NULL && i < 2; i++)
		is_hardware =
		    is_hardware || (cards[i] != NULL &&
				       strstr(cards[i], r->run.label) != NULL);
	if (!is_hardware)
		learn(s, r->run.label, true);
}

/* The tree of a clean result; NULL when out of memory. */
static json_t *clean_tree(
    const struct sv_result *r, const struct sv_identity *here)
{
	json_t *shared = sv_result_to_json(r, SV_KEEP_ALL);
	json_t *tree = shared != NULL ? json_deep_copy(shared) : NULL;
	json_t *cleaned = NULL, *name;
	struct secrets s = {.n = 0};

	json_decref(shared);
	if (tree == NULL)
		return NULL;
	withhold(&s, json_object_get(tree, "machine"), "machine",
	    unknown_of(json_object_get(tree, "machine")));
	withhold(&s, json_object_get(tree, "device"), "device",
	    unknown_of(json_object_get(tree, "device")));
	learn_words(&s, r, here);
	if (s.n > 0)
		qsort(s.list, s.n, sizeof *s.list, by_length);
	if (!s.failed)
		cleaned = clean(&s, tree, SCOPE_FREE);
	name = json_object_get(json_object_get(cleaned, "device"), "name");
	if (cleaned != NULL)
		json_object_set_new(json_object_get(cleaned, "run"), "label",
		    name != NULL ? json_incref(name) : json_null());
	json_decref(tree);
	forget(&s);
	return cleaned;
}

int sv_anonymise(const struct sv_result *r, const struct sv_identity *here,
    struct sv_result **out, struct sv_err *err)
{
	json_t *tree = clean_tree(r, here);
	char *text = tree != NULL ? json_dumps(tree, JSON_COMPACT) : NULL;
	int code;

	json_decref(tree);
	if (text == NULL)
		return sv_err_set(
		    err, SV_ERESOURCE, "anonymise: out of memory");
	/* Through the reader: what is published is a file like any other. */
	code = sv_result_parse(
	    text, strlen(text), "the anonymised result", out, err);
	free(text);
	return code;
}
