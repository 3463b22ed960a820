/* memory_screens.h: the memory that threads use, by object, as a screen, as one of one object, and
 * as JSON (heurt.memory/1, docs/heurt-memory.md).
 *
 * In goes what the analysis found, out comes text. It stands on analysis/memory/memory_use.h. */
#ifndef HEURT_PRESENT_MEMORY_MEMORY_SCREENS_H
#define HEURT_PRESENT_MEMORY_MEMORY_SCREENS_H

#include "analysis/memory/memory_use.h"
#include "analysis/memory/memory_views.h"
#include "base/table.h"
#include "present/present.h"

/* How it is looked at. */
enum memory_view {
    MEMORY_OBJECTS, /* objects, or one of them access by access */
    MEMORY_LINES,   /* cache lines, byte by byte */
    MEMORY_PAGES,   /* threads by pages */
    MEMORY_FLOW,    /* a thread or an object in time */
};

struct memory_report {
    const struct report *report;
    const struct memory_use *use;       /* NULL: the program was not sampled, and counts nothing */
    const struct memory_oracle *oracle; /* asked for: samples against counts; NULL: not asked for */
    size_t rank;                        /* only that object, from 1; 0: all */
    size_t thread; /* only that one: its place among trace__threads, from 1; 0: all */
    enum memory_view view;
    bool all; /* also what would not fit on a screen */
};

static inline struct memory_choice memory_report__choice(const struct memory_report *shown)
{
    return (struct memory_choice){
        shown->rank ? (uint32_t)(shown->rank - 1) : MEMORY_EVERY,
        shown->thread ? (uint32_t)(shown->thread - 1) : MEMORY_EVERY,
    };
}

const char *memory_kind__name(unsigned kind); /* "heap", as in the JSON contract */
/* What an object is: "2 lreg_args of 56 bytes, made at lreg.c:28". free() it. */
char *memory_object__title(const struct report *report, const struct memory_object *object);
/* Whether a number (from 1), or a glob, means it. */
bool memory_object__is(const struct report *report, const struct memory_object *object, size_t rank,
                       const char *pattern);

struct memory_presenter {
    const char *name;
    void (*put)(const struct memory_report *shown, const struct style *style, FILE *out);
};
extern const struct memory_presenter memory_text, memory_json, memory_csv;

/* Samples against counts: an object a row. */
struct table_rows oracle_rows(const struct memory_oracle *oracle);

struct table_rows memory_rows(const struct memory_report *shown);
/* Of a view that is not MEMORY_OBJECTS; nothing where the program was not sampled. */
struct table_rows memory_view__rows(const struct memory_report *shown, enum memory_view view);

#endif
