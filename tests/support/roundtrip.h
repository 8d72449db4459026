/*
 * The property that every input must have: the reader refuses it in one clear
 * line, or takes it and loses nothing that it says.
 */
#ifndef SV_TEST_ROUNDTRIP_H
#define SV_TEST_ROUNDTRIP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lossless.h"
#include "result.h"

/* The bytes that a result is written as, read again; NULL if that fails. */
static inline struct sv_result *sv_write_and_read(const struct sv_result *r)
{
	struct sv_result *again = NULL;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	struct sv_err err = {0};
	int code = out == NULL ? SV_ERESOURCE
			       : sv_result_print(r, out, SV_KEEP_ALL, &err);

	if (out != NULL)
		fclose(out);
	if (code != 0 || sv_result_parse(text, n, "again", &again, &err) != 0)
		fprintf(stderr, "written, then refused: %s\n", err.text);
	free(text);
	return again;
}

/* Whether the tree of bytes is all in the result, and stays so on a disk. */
static inline bool sv_says_it_all(
    const struct sv_result *r, const char *bytes, size_t n)
{
	json_t *before = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, NULL);
	struct sv_result *again = sv_write_and_read(r);
	json_t *after =
	    again != NULL ? sv_result_to_json(again, SV_KEEP_ALL) : NULL;
	char lost[SV_LOSSLESS_PATH] = "";
	bool good = before != NULL && after != NULL &&
		    sv_lossless(before, after, lost, 0);

	if (!good)
		fprintf(stderr, "lost: %s\n", lost);
	json_decref(before);
	json_decref(after);
	sv_result_free(again);
	return good;
}

/*
 * Whether the property holds; says on stderr why not. *accepted tells how it
 * was met.
 */
static inline bool sv_survives(const char *bytes, size_t n, bool *accepted)
{
	struct sv_result *r = NULL;
	struct sv_err err = {0};
	int code = sv_result_parse(bytes, n, "mutant.json", &r, &err);
	bool good;

	*accepted = code == 0;
	if (code == 0) {
		good = sv_says_it_all(r, bytes, n);
		sv_result_free(r);
		return good;
	}
	good = code == SV_EINPUT && r == NULL &&
	       strncmp(err.text, "mutant.json:", 12) == 0 &&
	       strpbrk(err.text, "\n\r") == NULL;
	if (!good)
		fprintf(stderr, "code %d, \"%s\"\n", code, err.text);
	return good;
}

#endif
