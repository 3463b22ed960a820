/* internal.h: what the files of view/ share. */
#ifndef HEURT_PRESENT_VIEW_INTERNAL_H
#define HEURT_PRESENT_VIEW_INTERNAL_H

#include "present/shared.h"
#include "present/view/view.h"

enum page_kind {
    PAGE_FINDINGS,
    PAGE_FINDING,
    PAGE_STACKS,
    PAGE_OCCURRENCES,
    PAGE_THREADS,
    PAGE_HELP,
    PAGES
};

#define NO_ITEM SIZE_MAX

struct view_line {
    char *text;
    size_t item; /* to which it belongs; NO_ITEM: to none */
};

/* An occurrence of one of the finding's classes. */
struct occurrence_item {
    const struct kept_occurrence *row;
    uint32_t class; /* place in profile->classes */
};

#define FOLDED_THREADS UINT32_MAX

struct view_page {
    enum page_kind kind;
    const struct finding *finding; /* of FINDING, STACKS, OCCURRENCES */
    struct vec lines;              /* struct view_line */
    struct vec items; /* of FINDINGS const struct finding *, of OCCURRENCES struct occurrence_item,
                         of THREADS uint32_t: index into trace__threads, or FOLDED_THREADS */
    size_t selected;  /* item */
    size_t top;       /* the first line that is seen */
    size_t found;     /* line that was searched for; NO_ITEM: none */
    unsigned sort;    /* by which of the page's orders */
    bool is_unfolded; /* THREADS: idle ones stand one by one, too */
    uint64_t from_ns, to_ns; /* THREADS: what is seen of the run */
};

/* What is shown of threads, functions and time. NULL, 0, UINT64_MAX: all. */
struct view_filter {
    char *text; /* as it was typed */
    char *thread, *function;
    uint64_t from_ns, to_ns;
};

enum view_prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER };

struct view {
    struct view_subject subject;
    struct style style;
    unsigned rows;
    struct vec pages; /* struct view_page: the last one is seen */
    struct view_filter filter;
    enum view_prompt prompt;
    char *typed;  /* at the prompt */
    char *search; /* "": nothing yet */
    char *message;
    bool uses_state[THREAD_STATES]; /* some thread was in it for more than an instant */
};

/* Rows between the title and the last two. */
unsigned view__body_rows(const struct view *view);
/* That place in profile->classes. */
const struct profile_class *view__class(const struct view *view, uint32_t place);
/* "workerN"; NULL: it has none. free() it. */
char *view__role_name(const struct view *view, uint32_t thread);
/* "4711 worker3", of an index into trace__threads. free() it. */
char *view__thread_name(const struct view *view, uint32_t thread);

/* ---- view_lines.c: texts as lines ------------------------------------------------------------ */

/* What is written until lines__end becomes lines of that item. */
struct line_writer {
    FILE *out;
    char *text;
    size_t bytes;
};
void lines__begin(struct line_writer *writer);
void lines__end(struct line_writer *writer, struct vec *lines, size_t item);
void lines__free(struct vec *lines);
/* Whether the line's text has that one; without capitals in it, capitals count for nothing. */
bool line__has(const char *text, const char *wanted);
/* So many columns of what foreign text is on a screen: cut, or with blanks behind it. Takes over
 * text; free() it. */
char *text__fit(char *text, unsigned columns, bool unicode);

/* ---- view_filter.c --------------------------------------------------------------------------- */

/* "thread=NAME function=NAME from=TIME to=TIME", each may be missing, becomes the filter. False:
 * the sentence says why, and it is as it was; free() that. */
bool filter__read(struct view_filter *filter, const struct view_subject *subject, const char *text,
                  char **sentence);
bool filter__is_on(const struct view *view);
void filter__free(struct view_filter *filter);
bool filter__has_thread(const struct view *view, uint32_t thread);
bool filter__has_finding(const struct view *view, const struct finding *finding);
bool filter__has_occurrence(const struct view *view, const struct occurrence_item *item);

/* ---- view_pages.c: what stands on pages ------------------------------------------------------ */

/* Makes items and lines of the page anew. */
void page__fill(struct view *view, struct view_page *page);
void page__free(struct view_page *page);
/* In a few words: what the page is, and by what it is sorted. free() it. */
char *page__title(const struct view *view, const struct view_page *page);
unsigned page__orders(const struct view_page *page); /* how many there are */

/* ---- view_threads.c: threads by time --------------------------------------------------------- */

void thread_strips__fill(struct view *view, struct view_page *page);
const char *thread_strips__order(unsigned sort); /* in a few words */
/* False: the key is none of the page's own. */
bool thread_strips__key(struct view *view, struct view_page *page, uint32_t key);
/* So that the occurrence is seen, and its thread selected. */
void thread_strips__show(struct view *view, struct view_page *page,
                         const struct kept_occurrence *row);
/* The lines of the body, from its first row on; writes as many lines as it has rows at most. */
void thread_strips__put(const struct view *view, const struct view_page *page, FILE *out);
/* Rows of the body in which threads stand. */
unsigned thread_strips__rows(const struct view *view);
/* Finds out which states there are. */
void thread_strips__note_states(struct view *view);

#endif
