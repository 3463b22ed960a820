/* text.h: texts that grow, piece by piece; and the last part of a path.
 *
 *     char *list = memory__text("");
 *     list = text__join(list, ", ", "work"); …
 *     list = text__append(list, " and %zu more", more);
 *     free(list);
 *
 * In goes a text on the heap, which is taken over, and what comes behind it; out comes the longer
 * one, to be freed by the caller. Each call copies the whole: this is for lines and lists, not for
 * files. It stands on memory.h; any thread may call it on texts of its own. */
#ifndef HEURT_BASE_TEXT_H
#define HEURT_BASE_TEXT_H

#include "base/vec.h"

/* text (NULL: "") and behind it what the format says. The arguments may not be the text itself. */
char *text__append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* text, between unless text is empty (or NULL), and more. */
char *text__join(char *text, const char *between, const char *more);

/* A vec of char *, which own their texts. */
void texts__free(struct vec *texts);

/* What stands behind the last slash of a path, within it; all of it where nothing does. */
const char *path__name(const char *path);

#endif
