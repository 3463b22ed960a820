/* findings_words.h: findings as sentences. Private to the screens of reports
 * and to the glossary. */
#ifndef HEURT_PRESENT_REPORT_FINDINGS_WORDS_H
#define HEURT_PRESENT_REPORT_FINDINGS_WORDS_H

#include "present/shared.h"

/* Where in the program's code; a class's place where no code of the program is known. False: not
 * known at all. */
bool finding__place(const struct report *report, const struct finding *finding, struct place *place,
                    char unknown[32]);
/* Who blocked or disturbed those who lose. */
struct finding_by {
    uint32_t process; /* serial */
    uint64_t site;
    const char *doing; /* as in the JSON contract */
};
/* False: nobody is known. */
bool finding__by(const struct report *report, const struct finding *finding, struct finding_by *by);
/* Each is to be freed. The object: its name, or its address; NULL: there is none. */
char *finding__object(const struct report *report, const struct finding *finding);
/* What it is: "lock", "memory"; of a finding that has an object. */
const char *finding__object_kind(const struct report *report, const struct finding *finding);
/* Where and what: "lock queue_lock in queue_push queue.c:88". */
char *finding__subject(const struct report *report, const struct finding *finding);
/* What threads do, and in which function, as a sentence. */
char *finding__verdict(const struct report *report, const struct finding *finding);
/* What threads do there, and because of whom, as a sentence. */
char *finding__cause(const struct report *report, const struct finding *finding);
/* Both, with what it costs. */
char *finding__sentence(const struct report *report, const struct finding *finding);
/* What to try, ended by NULL. */
const char *const *finding__tries(const struct finding *finding);
const char *const *finding_category__tries(enum finding_category category);

/* What the report comes to, in a sentence or two. */
void text__verdict(const struct report *report, const struct style *style, FILE *out);
/* Ranked findings, or what was looked at and what was not. */
void text__findings(const struct report *report, const struct style *style, FILE *out);
/* The ranked finding of that place, from 1, and the class in it that lost most. */
void text__one_finding(const struct report *report, size_t rank, const struct style *style,
                       FILE *out);

#endif
