/* sharing_words.h: cache lines that threads take from each other, as sentences: which object, which
 * fields, who does what to them. Private to what shows reports and memory. */
#ifndef HEURT_PRESENT_MEMORY_SHARING_WORDS_H
#define HEURT_PRESENT_MEMORY_SHARING_WORDS_H

#include "present/shared.h"

/* Each text is to be freed. The data of an access: "sums[1].sx", "queue.head", "bytes 40 to 47 of
 * 144", or "0x55d0a000, heap". process: index into trace__processes. beside: struct line_access,
 * others, of which those of the same object tell more; NULL: none. */
char *access__data(const struct report *report, size_t process, const struct vec *beside,
                   const struct line_access *access);
/* The kind of memory: "variable", "static", "heap", "stack" … */
const char *access__region(const struct report *report, size_t process,
                           const struct line_access *access);
/* The object around it: "2 lreg_args of 56 bytes, made at lreg.c:28"; NULL: nothing is known of it.
 */
char *access__object(const struct report *report, size_t process, const struct vec *beside,
                     const struct line_access *access);
/* What most was sampled at, what another thread does most at, and the object around the former. */
char *sharing__victim(const struct report *report, const struct sharing *sharing);
char *sharing__other(const struct report *report, const struct sharing *sharing);
char *sharing__object(const struct report *report, const struct sharing *sharing);
/* "Thread 1 writes sums[0].sx, .sy; thread 2 …": on the line at which most was sampled. */
char *sharing__sides(const struct report *report, const struct sharing *sharing);
/* "thread 1", as all screens call it: by its place among the threads, from 0. */
char *access_thread__text(const struct report *report, uint32_t thread);
/* "thread 1 writes sums[0].sx, sums[0].sy and reads sums[0].n (sums.c:72)": on one line, of
 * accesses (struct line_access) of a process; NULL: it does nothing there. */
char *line__side(const struct report *report, size_t process, const struct vec *accesses,
                 uint64_t line, uint32_t thread);
/* "alignas(64) on lreg_args (56 → 64 bytes)"; NULL: not known. */
char *sharing__fix(const struct report *report, const struct sharing *sharing);
/* Where the object was allocated: a return address; 0: not seen. */
uint64_t sharing__born_site(const struct sharing *sharing);

#endif
