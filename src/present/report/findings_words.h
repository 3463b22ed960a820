/* findings_words.h: findings as sentences. Private to what shows reports. */
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
/* It is a lock that readers share. */
bool finding__is_of_rwlock(const struct report *report, const struct finding *finding);
/* Where and what: "lock queue_lock in queue_push queue.c:88". */
char *finding__subject(const struct report *report, const struct finding *finding);
/* What threads do, and in which function, as a sentence. */
char *finding__verdict(const struct report *report, const struct finding *finding);
/* What threads do there, and because of whom, as a sentence. */
char *finding__cause(const struct report *report, const struct finding *finding);
/* Both, with what it costs. */
char *finding__sentence(const struct report *report, const struct finding *finding);
/* The cause, how often, and what who was waited for did. */
char *finding__in_full(const struct report *report, const struct finding *finding);
/* "1.8–2.1×", "~1.2×", "none", "?" */
char *finding__gain(const struct finding *finding, bool unicode);
/* Of a part: "in queue_push queue.c:88"; "holder: queue_push 64 %", or "". */
char *finding_part__where(const struct report *report, const struct finding *finding,
                          const struct finding_part *part);
char *finding_part__because_of(const struct report *report, const struct finding *finding,
                               const struct finding_part *part);
/* The command by which a replay tells what a change would bring; NULL: it cannot. */
char *finding__checking_command(const struct report *report, const struct finding *finding);
/* "Looked at: …", "Not looked at: …" */
char *report__looked_at(const struct report *report);
char *report__not_looked_at(const struct report *report);
/* What to try first, where the very place is known: in place of the first of what follows. free()
 * it; NULL: it is not. */
char *finding__fix(const struct report *report, const struct finding *finding);
/* The command that tells what that would bring; likewise. */
char *finding__hint_command(const struct report *report, const struct finding *finding);
/* What to try, ended by NULL. Nothing is to be freed. */
const char *const *finding__tries(const struct report *report, const struct finding *finding);
const char *const *finding_category__tries(enum finding_category category);

/* What the report comes to, in a sentence or two. */
void text__verdict(const struct report *report, const struct style *style, FILE *out);
/* Ranked findings, or what was looked at and what was not. */
void text__findings(const struct report *report, const struct style *style, FILE *out);
/* Pieces of it: the titles; a finding's figures, place and cause (rank 0: it has none, and no
 * cause); what stands below all of them. */
void text__findings_titles(const struct style *style, FILE *out);
void text__finding_brief(const struct report *report, const struct finding *finding, size_t rank,
                         const struct style *style, FILE *out);
void text__findings_rest(const struct report *report, const struct style *style, FILE *out);
/* Whether a report has a line for it. */
bool finding__is_shown(const struct finding *finding);
/* The finding of that place, from 1, and the class in it that lost most. */
void text__one_finding(const struct report *report, size_t rank, const struct style *style,
                       FILE *out);

#endif
