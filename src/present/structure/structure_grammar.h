/* structure_grammar.h: the exact grammar of one thread, as text, JSON and CSV. */
#ifndef HEURT_PRESENT_STRUCTURE_STRUCTURE_GRAMMAR_H
#define HEURT_PRESENT_STRUCTURE_STRUCTURE_GRAMMAR_H

#include "analysis/structure/structure.h"
#include "present/present.h"

struct grammar_report {
    const struct report *report; /* its profile may be NULL */
    const struct structure *structure;
    const struct grammar *grammar; /* of the places of structure */
    uint32_t thread;               /* index into trace__threads */
    size_t rules_at_most;          /* on a screen */
};

struct grammar_presenter {
    void (*put)(const struct grammar_report *shown, const struct style *style, FILE *out);
};

extern const struct grammar_presenter grammar_text, grammar_json, grammar_csv;

#endif
