/* class_numbers.h: the classes of a trace's events, by their numbers in a profile of it that is
 * there already. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CLASS_NUMBERS_H
#define HEURT_ANALYSIS_CLASS_NUMBERS_H

#include "analysis/classes.h"

#define CLASS_NOT_NUMBERED 0xffffffu /* numbers fit into 24 bits */

struct class_numbers {
    struct class_table table; /* asked for an event's class, which class_numbers__of knows */
    struct map numbers;       /* what makes a class -> its number in the profile */
    struct vec rules;         /* struct profile_rule */
};

/* Must stay where it is. */
void class_numbers__start(struct class_numbers *numbers, const struct trace *trace,
                          const struct profile *profile);
void class_numbers__free(struct class_numbers *numbers);

/* CLASS_NOT_NUMBERED: of no class of the profile, or of one of many quiet ones that are one there;
 * entry may be NULL. */
uint32_t class_numbers__of(struct class_numbers *numbers, struct class_entry *entry);

#endif
