/* answered_words.h: what answered accesses to memory, in words, and as rows of documents. */
#ifndef HEURT_PRESENT_MEMORY_ANSWERED_WORDS_H
#define HEURT_PRESENT_MEMORY_ANSWERED_WORDS_H

#include "analysis/memory/answered.h"
#include "present/table/parts.h"

/* "another node's memory 62 % (402 cycles), L3 30 % (61 cycles)": of their time. NULL: nothing is
 * told. */
char *answered__text(const struct answered *answered);
const char *level__name(unsigned level);
/* Levels that answered: as rows of JSON documents. */
struct table_rows answered__rows(const struct answered *answered);

#endif
