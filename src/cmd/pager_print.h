/* pager_print.h: printing something laid out for where stdout leads, through the pager on a
 * terminal.
 *
 * In goes a function that writes, out comes an exit status. It costs a process where a pager is
 * wanted. It stands on command.h for what is known of the terminal. */
#ifndef HEURT_CMD_PAGER_PRINT_H
#define HEURT_CMD_PAGER_PRINT_H

#include "present/present.h"

/* Calls put with how text is laid out. A pager that is left early is no failure; a full disk is:
 * returns 0, or EXIT_HEURT after a sentence. */
int show(void (*put)(const void *subject, const struct style *style, FILE *out),
         const void *subject);
/* Likewise, so many columns wide (0: no limit). */
int show_at(void (*put)(const void *subject, const struct style *style, FILE *out),
            const void *subject, unsigned columns);

#endif
