/* class_numbers.h: the classes of a trace's events, by their numbers in a profile of it that is
 * there already. For analysis/ only. */
#ifndef HEURT_ANALYSIS_LEDGER_CLASS_NUMBERS_H
#define HEURT_ANALYSIS_LEDGER_CLASS_NUMBERS_H

#include "analysis/events/spans.h"
#include "analysis/ledger/profile.h"

#define CLASS_NOT_NUMBERED 0xffffffu /* numbers fit into 24 bits */

struct class_numbers {
    struct class_table table; /* first. Asked for an event's class, which class_numbers__of knows */
    struct map numbers;       /* what makes a class -> its number in the profile */
    struct vec rules;         /* struct profile_rule */
    struct map sampled;       /* what makes a class -> 1: occurrences of it were left out */
    struct map divided;       /* what makes a site that is divided by structure -> place in sites */
    struct vec sites;         /* struct numbered_site */
    struct vec ends; /* struct numbered_end: of the current thread's occurrences at these */
    size_t next_end;
};

/* Must stay where it is. */
void class_numbers__start(struct class_numbers *numbers, const struct trace *trace,
                          const struct profile *profile);
void class_numbers__free(struct class_numbers *numbers);

/* CLASS_NOT_NUMBERED: of no class of the profile, or of one of many quiet ones that are one there;
 * entry may be NULL. */
uint32_t class_numbers__of(struct class_numbers *numbers, struct class_entry *entry);

/* Of a site that is divided by structure the class is known with the end of an occurrence only:
 * class_numbers__of does not know it. Places get their numbers in the order in which threads are
 * walked over: whoever asks for such classes walks over all of them, in their order. */
bool class_numbers__is_divided(struct class_numbers *numbers, struct class_entry *entry);

/* For who watches threads: makes the watcher one to which class_numbers__of_watched tells the class
 * of the occurrence that it is told of, whatever its site. */
void class_numbers__want_nests(const struct class_numbers *numbers, struct thread_watcher *watcher);
uint32_t class_numbers__of_watched(struct class_numbers *numbers, struct class_entry *entry,
                                   const struct thread_watcher *watcher);

/* For who walks over events: the thread (index into trace__threads) whose occurrences are asked
 * for. Walks over it once more when there are divided sites. */
void class_numbers__begin_thread(struct class_numbers *numbers, uint32_t thread);
/* The class of the thread's occurrence at a divided site that ends at that tick. They are asked for
 * in the order of their ends. */
uint32_t class_numbers__of_end(struct class_numbers *numbers, const struct class_entry *site,
                               uint64_t end);

#endif
