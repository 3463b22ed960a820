/* counted_words.h: accesses that were counted, as a screen and as rows. Private to what shows
 * memory. */
#ifndef HEURT_PRESENT_MEMORY_COUNTED_WORDS_H
#define HEURT_PRESENT_MEMORY_COUNTED_WORDS_H

#include "present/memory/memory_screens.h"

const char *counted_kind__name(unsigned kind); /* "false sharing", as in the JSON contract */

/* A row an instruction and thread. */
struct table_rows counted_rows(const struct memory_report *shown,
                               const struct memory_object *object, uint64_t rank);

/* Behind the head of the screen: all objects, or the one that is asked for. */
void counted_text__put(const struct memory_report *shown, const struct style *style, FILE *out);

/* Samples against counts. */
void oracle_text__put(const struct memory_report *shown, const struct style *style, FILE *out);

#endif
