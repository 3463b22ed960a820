/* kept_print.h: a screen or a document that is shown at once where it is kept beside the trace
 * (kept_screens.h), and is kept when it had to be made.
 *
 * In goes what is asked for, as words that stand for all that its text depends on but the trace,
 * its rules and how it is laid out; out comes an exit status. A screen that had to be made is laid
 * out for terminals of usual widths, too, which costs little beside what it is made of. It stands
 * on kept_screens.h and pager_print.h. One thread at a time. */
#ifndef HEURT_CMD_KEPT_PRINT_H
#define HEURT_CMD_KEPT_PRINT_H

#include "format/reader.h"
#include "present/present.h"

struct kept_print {
    const char *directory;
    char *what; /* NULL: it is not kept */
    bool is_screen;
    uint64_t width; /* 0: not given */
};

/* Takes over what; NULL, or of more than one line: it is not kept. kept_print__free it. */
struct kept_print kept_print__of(const char *directory, char *what, bool is_screen, uint64_t width);
/* False: it is not there. True: it was shown; *status is show_either's. */
bool kept_print__show(const struct kept_print *print, int *status);
/* Shows what put writes, as show_either, and keeps it where the recording has ended. */
int kept_print__make(const struct kept_print *print, const struct trace *trace,
                     void (*put)(const void *subject, const struct style *style, FILE *out),
                     const void *subject);
/* NULL: it is not there. free() it. */
char *kept_print__text(const struct kept_print *print);
void kept_print__free(struct kept_print *print);

/* The widths of terminals for which screens are kept. */
#define KEPT_WIDTHS           \
    {                         \
        60, 80, 100, 120, 140 \
    }

#endif
