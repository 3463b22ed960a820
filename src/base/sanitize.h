/* sanitize.h: text that others wrote (names of functions, files, threads, commands), made such that
 * a terminal shows it and does not obey it: control characters (C0, DEL, C1), line separators,
 * marks that change the direction of writing, and bytes that are not UTF-8.
 *
 * In goes a text, out comes a copy to be freed, or the text itself changed. It stands on memory.h;
 * any thread may call it. */
#ifndef HEURT_BASE_SANITIZE_H
#define HEURT_BASE_SANITIZE_H

#include <stdbool.h>
#include <stdio.h>

/* A copy on one line in which such characters are \n, \x1b, \u202e …. NULL gives "". free() it. */
char *text__for_screen(const char *text);
/* A copy that is UTF-8: each foreign byte becomes U+FFFD. NULL gives "". free() it. */
char *text__utf8(const char *text);
/* A copy in ASCII: what bars and lines are made of has a letter, foreign characters are '?'. NULL
 * gives "". free() it. */
char *text__ascii(const char *text);
/* Nothing of that is in it. */
bool text__is_harmless(const char *text);
/* In place, each such character becomes '?', but those of ASCII that are in kept. */
void text__blunt(char *text, const char *kept);
/* JSON, in which such characters stand as \u202e …: another form of the same texts. (Those below a
 * blank the writer of the JSON has escaped.) */
void json__put_harmless(const char *json, FILE *out);

#endif
