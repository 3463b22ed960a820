/* nearest.h: which of some words somebody meant who mistyped one.
 *
 *     struct nearest nearest = nearest__to("scroe");
 *     nearest__offer(&nearest, "score"); …
 *     nearest.word                                      "score", or NULL: none is near enough
 *
 * Near are words of which at most a third of the letters, and at least one may be, differ: dropped,
 * added, changed, or swapped with their neighbour (the restricted Damerau-Levenshtein distance).
 *
 * In goes what was typed and then each word that would have been right; out comes one of these, or
 * none. A word costs the product of both lengths, unless their difference rules it out. It stands
 * on memory.h; the words stay the caller's. */
#ifndef HEURT_BASE_NEAREST_H
#define HEURT_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *typed;
    const char *word; /* the first of the nearest so far, or NULL */
    size_t distance;  /* its distance; what is not nearer is not taken */
};

struct nearest nearest__to(const char *typed);
void nearest__offer(struct nearest *nearest, const char *word);
/* "; did you mean 'score'?", or "" when nothing is near. Control characters of the word, which may
 * be one that a trace names, are shown as '?'. free() it. */
char *nearest__question(const struct nearest *nearest);

/* How many letters differ. Words longer than 63 bytes are not compared: SIZE_MAX. */
size_t words__distance(const char *left, const char *right);

#endif
