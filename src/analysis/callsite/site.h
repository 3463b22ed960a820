/* site.h: a site's occurrences by what was inside of them: a class for each callee signature
 * (signature.h).
 *
 * While a thread is folded, each occurrence is counted in the class of its callee signature; what
 * had nothing inside stays with the site's own class, so that functions that call nothing cost
 * nothing. At the thread's end the site's class gets the sums of all, and what was found is joined,
 * in the order of threads, to what was found on those before.
 *
 * In go occurrences with their callee signatures, out come classes and what they are made of.
 * Memory: as many classes as NESTS_OF_SITE for each site that calls anything. It stands on
 * classes.h. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CALLSITE_SITE_H
#define HEURT_ANALYSIS_CALLSITE_SITE_H

#include "analysis/callsite/classes.h"

#define NESTS_OF_SITE 32u /* where there are more, less deep ones; then what comes later is odd */

/* Occurrences of a site that have one callee signature, as a class of its own. */
struct found_signature {
    uint32_t signature;
    struct class_entry *entry; /* of what had nothing inside: without sums, while it is folded */
    struct vec inside;         /* struct callee_item: what was just inside */
};

struct site {
    struct class_entry *entry;
    unsigned depth;          /* to which its callee signatures are cut */
    struct vec found;        /* struct found_signature */
    size_t last;             /* place in found of the one that was asked for last */
    struct class_entry *odd; /* of those that found no room; NULL: there are none */
    /* On one thread: the duration of the fastest occurrence, and the class with its components;
     * NULL: they are in reference. */
    const struct class_entry *fastest;
    uint64_t minimum;
    uint64_t reference[COMPONENTS];
};

/* What was found on one thread. */
struct thread_sites {
    struct callee_signatures *signatures; /* NULL: nothing is looked for */
    struct vec sites;                     /* struct site * */
};

void site__free(struct site *site); /* NULL is allowed */

/* The class in which an occurrence of a function is counted that ends; inside: what was just inside
 * of it, NULL: not told apart. stacked: a call stack was taken of it. */
struct class_entry *sites__class(struct thread_sites *sites, struct class_entry *entry,
                                 uint32_t signature, const struct vec *inside, uint64_t duration,
                                 bool stacked);
/* The class that has its call stack. */
struct class_entry *site__stacked(const struct class_entry *entry, struct class_entry *counted);

/* The sites' classes get the sums of all; what was found is a thing of its own from then on. */
void sites__end_thread(struct thread_sites *sites);
/* Likewise, and nothing is looked for any more. */
void sites__give_up(struct thread_sites *sites);
/* Joins what was found on a thread, and frees it. places: the whole table's by the lane's. */
void class_table__join_sites(struct class_table *table, uint32_t thread, struct thread_sites *sites,
                             const uint32_t *places);
/* All threads are joined: what had nothing inside gets its histogram. */
void site__complete(struct site *site);

void callee_ranges__add(struct vec *inside, const struct vec *added);
/* What was just inside, cut to what callee signatures of that depth have of it. */
struct vec callee_items__cut(struct callee_signatures *signatures, const struct vec *inside,
                             unsigned depth);

#endif
