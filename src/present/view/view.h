/* view.h: a recorded run to be browsed with keys: findings, one of them in depth, its call stacks,
 * its occurrences, and what threads did over time.
 *
 * In go what the analyses found and keys; out come the rows of a screen, as texts. It knows no
 * terminal, and nothing is computed at a key but what is on the screen. Pages lie on one another:
 *
 *     findings ─Enter─► finding ─Enter─► call stacks ─Enter─► occurrences ─Enter─► threads
 *         ◄──────────────────────── q, Backspace ────────────────────────
 *
 * Texts of a row are fit for a screen but for sequences that select colours ("\x1b[1;31m"), and
 * may be wider than it. One thread at a time. */
#ifndef HEURT_PRESENT_VIEW_VIEW_H
#define HEURT_PRESENT_VIEW_VIEW_H

#include "analysis/timeline/thread_times.h"
#include "present/present.h"

/* What is browsed; all of it outlives the view. */
struct view_subject {
    const struct report *report;             /* with findings */
    const struct thread_times *thread_times; /* NULL: the run was aggregated */
    /* "1.2s" to ns (uint64_t); false: it is no time. */
    bool (*read_time)(const char *text, void *ns);
};

/* Keys that are no characters; others are code points, Enter '\n', Escape 27. */
enum view_key {
    VIEW_KEY_UP = 0x110000,
    VIEW_KEY_DOWN,
    VIEW_KEY_LEFT,
    VIEW_KEY_RIGHT,
    VIEW_KEY_PAGE_UP,
    VIEW_KEY_PAGE_DOWN,
    VIEW_KEY_HOME,
    VIEW_KEY_END,
    VIEW_KEY_BACKSPACE,
    VIEW_KEY_F1,
    VIEW_KEY_F10 = VIEW_KEY_F1 + 9,
};

struct view;

/* style: its columns are those of view__resize. view__free it. */
struct view *view__new(const struct view_subject *subject, const struct style *style);
void view__free(struct view *view);
void view__resize(struct view *view, unsigned rows, unsigned columns);
/* False: the user has left. */
bool view__key(struct view *view, uint32_t key);
/* Calls put with each row, from 0. is_marked: it is to stand out. */
void view__draw(const struct view *view,
                void (*put)(void *screen, unsigned row, const char *text, bool is_marked),
                void *screen);

#endif
