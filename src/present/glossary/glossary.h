/* glossary.h: the words of the screens, each explained: what it means, how it is measured, where it
 * stands on a screen, what to try.
 *
 * In goes a word as somebody typed it, out come paragraphs. It stands on the table of its words
 * (glossary_words.c), and on what findings say of their category. Any thread may call it. */
#ifndef HEURT_PRESENT_GLOSSARY_GLOSSARY_H
#define HEURT_PRESENT_GLOSSARY_GLOSSARY_H

#include "present/present.h"

#define GLOSSARY_NO_CATEGORY FINDING_CATEGORIES

struct glossary_word {
    const char *name;               /* as screens write it */
    const char *also;               /* other words for it: "a|b", or NULL */
    enum finding_category category; /* that findings of it have, or GLOSSARY_NO_CATEGORY */
    const char *meaning;            /* sentences; the first one stands in the list */
    const char *measured;           /* from what data */
    const char *doubt;              /* what lowers the confidence, or NULL */
    const char *example;            /* a line of a screen */
    const char *try;                /* NULL: what findings of its category say, or nothing */
};

/* In the order of the list; ended by one without a name. */
extern const struct glossary_word glossary_words[];

/* By its name, one of its other words, or the name of its category; letters may be large. NULL:
 * there is none. */
const struct glossary_word *glossary__find(const char *typed);
/* "; did you mean 'score'?", or "". free() it. */
char *glossary__question(const char *typed);

/* One word, in depth. */
void glossary__put_word(const struct glossary_word *word, const struct style *style, FILE *out);
/* All of them, a line or two each. */
void glossary__put_list(const struct style *style, FILE *out);
/* All of them in depth, as the page docs/words.md. */
void glossary__put_page(FILE *out);

#endif
