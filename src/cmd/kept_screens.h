/* kept_screens.h: what a report came to, kept in the trace's directory, so that who asks again need
 * not wait for the analysis.
 *
 * In go screens by their names, out come their texts, as long as all is as it was: this heurt, the
 * files of the trace, and the directory's name. Nothing else is believed: a file of somebody else,
 * one that was copied with its trace, or is not whole, counts as none. A directory that cannot be
 * written is no failure. It costs a look at the files. It stands on libc, base/ and present.h. One
 * thread at a time.
 *
 * The file: a line with its format and what it is the screens of; then each screen as a line
 * "BYTES NAME" and its text. */
#ifndef HEURT_CMD_KEPT_SCREENS_H
#define HEURT_CMD_KEPT_SCREENS_H

#include "base/vec.h"
#include "present/present.h"

struct kept_screen {
    char *name, *text;
};

/* struct kept_screen; none where nothing is kept. kept_screens__free it. */
struct vec kept_screens__read(const char *directory);
/* What was asked for; of a screen how it is laid out, too. free() it. */
char *kept_screens__name(const char *what, bool is_screen, const struct style *style);
/* NULL: it is not there. */
const char *kept_screens__find(const struct vec *screens, const char *name);
/* Takes over both; one of that name is replaced. */
void kept_screens__add(struct vec *screens, char *name, char *text);
/* As many of them as have room, the last ones first. */
void kept_screens__write(const char *directory, const struct vec *screens);
void kept_screens__free(struct vec *screens);

#endif
