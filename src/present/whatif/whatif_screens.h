/* whatif_screens.h: what changes would gain, as text, JSON and CSV. */
#ifndef HEURT_PRESENT_WHATIF_WHATIF_SCREENS_H
#define HEURT_PRESENT_WHATIF_WHATIF_SCREENS_H

#include "analysis/replay/whatif.h"
#include "present/present.h"

/* One question and its answer. */
struct whatif_answer {
    const char *asked; /* as the command line asks it: "--remove 1 --threads 2" */
    size_t rank;       /* of the class that it removes, from 1; 0: it is not about one class */
    bool has_lock;     /* it is about one lock, and no class */
    uint32_t process;  /* serial, of the lock */
    uint64_t lock;
    uint64_t lost_ns;                    /* of all threads' time by it; UINT64_MAX: not known */
    const struct prediction *prediction; /* NULL: there is none; */
    const char *refusal;                 /* then why */
};

struct whatif_view {
    const struct report *report;      /* for names */
    uint64_t measured_ns;             /* wall time of the run */
    uint64_t replayed_ns;             /* of its replay without a change */
    uint64_t unrecorded_ns;           /* without what recording cost: gains are over it */
    double replayed_share;            /* so much of the run was replayed; 1: all */
    uint32_t told_threads;            /* that end with what tells them to: an assumption */
    const struct whatif_answer *rows; /* in the order in which they are shown */
    size_t count;
    size_t hidden; /* so many more could be asked for */
};

struct whatif_presenter {
    void (*question)(const struct whatif_view *view, const struct style *style, FILE *out);
    void (*table)(const struct whatif_view *view, const struct style *style, FILE *out);
};

/* As heurt whatif --json prints it. json_object_put it. */
struct json_object *whatif_document__new(const struct whatif_view *view);

extern const struct whatif_presenter whatif_text, whatif_json, whatif_csv;

#endif
