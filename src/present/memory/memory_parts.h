/* memory_parts.h: what the screens of memory share. Private to what shows memory. */
#ifndef HEURT_PRESENT_MEMORY_MEMORY_PARTS_H
#define HEURT_PRESENT_MEMORY_MEMORY_PARTS_H

#include "present/memory/memory_screens.h"
#include "present/memory/sharing_words.h"

/* Each writes its view of what is chosen. */
void memory_lines__put(const struct memory_report *shown, const struct style *style, FILE *out);
void memory_pages__put(const struct memory_report *shown, const struct style *style, FILE *out);
void memory_flow__put(const struct memory_report *shown, const struct style *style, FILE *out);

/* How the calls that a flow's row was in are written. */
struct callers_form {
    const char *between;
    size_t most; /* names; of more the number is told */
    bool is_short;
};
/* "by_rows, work": recorded calls around its function, innermost first, and what its thread started
 * in; "": none is known. free() it. */
char *flow_callers__text(const struct memory_report *shown, const struct memory_flow *flow,
                         const struct flow_row *row, const struct callers_form *form);
/* "false sharing, ~992 ms lost", "lines shared, some written", ""; free() it. */
char *memory_object__verdict(const struct memory_report *shown, const struct memory_object *object);
/* The object, its time and that verdict, as a paragraph. */
void memory_object__put_head(const struct memory_report *shown, const struct style *style,
                             FILE *out);
/* "And 12 more lines: --all shows them."; nothing of 0. */
void memory__put_more(size_t more, const char *what, const struct style *style, FILE *out);

/* What the widest of these threads is called takes so many columns; next gives the index of each,
 * and MEMORY_EVERY at the end. */
unsigned thread_labels__width(const struct report *report, const uint32_t *threads, size_t count);
/* "  thread 1   ", of that width. */
void thread_label__put(const struct report *report, uint32_t thread, unsigned width, FILE *out);

/* One cell each of times->count values, or fewer, as blocks or signs; most: a full one. free(). */
char *memory_strip__format(const struct style *style, const uint64_t *ns, uint32_t count,
                           unsigned cells, uint64_t most);
/* "3.1 ms … 198 ms" below a strip. */
void memory_strip__put_axis(const struct memory_times *times, unsigned indent, unsigned cells,
                            FILE *out);

#endif
