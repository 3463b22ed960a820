/* error.h: one clear sentence that travels up to cmd/, which prints it.
 *
 * A function that can fail returns 0 or a negative errno and, where the caller passed one, fills a
 * struct error with a whole sentence: what was expected, what was found, where, what to do.
 *
 * In goes a format, out comes the sentence, cut to the room of the struct; nothing is allocated.
 * It stands on libc alone; any thread may fill an error of its own. */
#ifndef HEURT_BASE_ERROR_H
#define HEURT_BASE_ERROR_H

struct error {
    char text[768];
};

/* Fills error (which may be NULL) and returns code, a negative errno. Long texts are cut. */
int error__set(struct error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
