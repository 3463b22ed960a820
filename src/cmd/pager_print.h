/* pager_print.h: printing something laid out for where stdout leads, through the pager on a
 * terminal.
 *
 * In goes a function that writes, out comes an exit status. It costs a process where a pager is
 * wanted. It stands on command.h for what is known of the terminal. */
#ifndef HEURT_CMD_PAGER_PRINT_H
#define HEURT_CMD_PAGER_PRINT_H

#include "present/present.h"

/* How a screen (of that width; 0: not asked for), or data, is laid out where stdout leads. */
struct style style__of(bool is_screen, uint64_t width);

/* Data: calls put with how text is laid out. A pager that is left early is no failure; a full disk
 * is: returns 0, or EXIT_HEURT after a sentence. */
int show(void (*put)(const void *subject, const struct style *style, FILE *out),
         const void *subject);
/* Likewise, of a screen: as wide as asked for (0: not, screen__columns), and in ASCII where the
 * locale is. */
int show_screen(void (*put)(const void *subject, const struct style *style, FILE *out),
                const void *subject, uint64_t width);
/* Of what may be data: a screen, or as show. */
int show_either(bool is_screen,
                void (*put)(const void *subject, const struct style *style, FILE *out),
                const void *subject, uint64_t width);

#endif
