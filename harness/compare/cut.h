/* Texts of files in sentences: cut to a length, but never inside a character.
 */
#ifndef STAVE_CUT_H
#define STAVE_CUT_H

#include <string.h>

/* Bytes of UTF-8 text that are at most `most` and whole characters: for %.*s.
 */
static inline int sv_cut(const char *text, int most)
{
	size_t n = strnlen(text, (size_t)most);

	/* Bytes that carry a character on, after where it would end. */
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return (int)n;
}

#endif
