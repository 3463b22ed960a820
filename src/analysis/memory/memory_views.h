/* memory_views.h: the samples at memory, looked at in other ways than by object: cache lines byte
 * by byte, threads by pages, and accesses in time.
 *
 *     memory_lines     which bytes of a line which threads read and write, and when they are there
 *     memory_pages     how much time which threads spend at which pages
 *     memory_flow      in slices of time: what a thread is at, or who is at an object
 *     memory_callers   in which recorded calls they were
 *     memory_dots      single samples in a grid of offset and time, for pictures
 *
 * In goes what memory_analysis found, out come rows; each costs a pass or two over its samples, and
 * is bounded as it says. memory_callers walks over
 * the events of the threads, too. It stands on memory_use.h and events/span_walk.h. Not
 * thread-safe. */
#ifndef HEURT_ANALYSIS_MEMORY_MEMORY_VIEWS_H
#define HEURT_ANALYSIS_MEMORY_MEMORY_VIEWS_H

#include "analysis/memory/memory_use.h"
#include "format/sampled_lines.h"

#define MEMORY_EVERY UINT32_MAX /* in place of an object or a thread: all of them */
#define MEMORY_SLICES 48u       /* of the time in which there were samples */
#define MEMORY_LINES_MOST 64u   /* those of most time */
#define MEMORY_PAGE_BYTES 4096u
#define MEMORY_LINE_BYTES 64u

/* A time, divided into so many slices of one length. */
struct memory_times {
    uint64_t from_ns, slice_ns; /* since the run's start */
    uint32_t count;
};

/* Which samples: of one object, of one thread, or of all. */
struct memory_choice {
    uint32_t object, thread; /* places in use->objects and trace__threads; or MEMORY_EVERY */
};

static inline bool memory_choice__has(const struct memory_choice *choice,
                                      const struct memory_sample *at)
{
    return (choice->object == MEMORY_EVERY || at->object == choice->object) &&
           (choice->thread == MEMORY_EVERY || at->thread == choice->thread);
}

/* Of a sample that is not before them. */
static inline uint32_t memory_times__slice(const struct memory_times *times, uint64_t since_ns)
{
    uint64_t slice = (since_ns - times->from_ns) / times->slice_ns;
    return slice < times->count ? (uint32_t)slice : times->count - 1;
}

/* ---- cache lines ----------------------------------------------------------------------------- */

/* A thread that was at a line. */
struct line_thread {
    uint32_t thread;
    uint64_t ns;
    uint64_t read_ns[MEMORY_LINE_BYTES], written_ns[MEMORY_LINE_BYTES]; /* by byte */
    uint64_t slice_ns[MEMORY_SLICES];
};

struct memory_line {
    uint32_t object;    /* place in use->objects */
    uint32_t process;   /* index into trace__processes */
    uint64_t address;   /* of its first byte */
    uint64_t ns;        /* of all threads */
    uint64_t allocated; /* where the first object begins that was sampled there; 0: not told */
    uint32_t objects;   /* that were allocated and sampled at it */
    uint64_t met;       /* a bit a byte: one thread writes it and another one uses it */
    bool is_shared;     /* several threads use it and one writes */
    struct vec threads; /* struct line_thread, by ns */
};

struct memory_lines {
    struct vec lines; /* struct memory_line, that of most time first */
    uint64_t all;     /* how many there are, also of those that are left out */
    struct memory_times times;
};

/* Of all objects, only lines that are shared. memory_lines__free it. */
struct memory_lines memory_lines__of(const struct memory_use *use, struct memory_choice choice);
void memory_lines__free(struct memory_lines *lines);
/* Whether the thread reads, or writes, the byte so often that it is there for it. */
bool line_thread__reads(const struct line_thread *thread, size_t byte);
bool line_thread__writes(const struct line_thread *thread, size_t byte);

/* ---- pages ----------------------------------------------------------------------------------- */

struct memory_page {
    uint32_t object, process;
    uint64_t address; /* of its first byte */
    uint32_t thread;
    uint64_t samples, ns, written_ns;
};

/* struct memory_page: a row a page, object and thread, by object, process, address and thread. */
struct vec memory_pages__rows(const struct memory_use *use, struct memory_choice choice);

/* What a thread did in each column of pages. */
struct page_thread {
    uint32_t thread;
    uint64_t ns;
    uint64_t *column_ns;
};

struct memory_pages {
    uint64_t first;       /* address of the first page */
    bool is_whole;        /* columns stand for pages one behind the other; else only for those at
                             which there were samples, in the order of their addresses */
    uint64_t pages;       /* how many the columns stand for */
    uint64_t column_each; /* so many in each */
    uint32_t columns;
    struct vec threads;         /* struct page_thread, by thread */
    uint64_t least_ns, most_ns; /* of the cells that are not empty */
};

/* In columns_most columns at most. memory_pages__free it. */
struct memory_pages memory_pages__of(const struct memory_use *use, struct memory_choice choice,
                                     uint32_t columns_most);
void memory_pages__free(struct memory_pages *pages);

/* Of a cell, from 1 (little) to MEMORY_PAGE_LEVELS: on a log scale up to the fullest, in steps of a
 * factor of two or more; 0: nothing is there. */
#define MEMORY_PAGE_LEVELS 4u
unsigned memory_pages__level(const struct memory_pages *pages, uint64_t ns);
/* What a cell of that level has at most. */
uint64_t memory_pages__level_ns(const struct memory_pages *pages, unsigned level);

/* ---- in time --------------------------------------------------------------------------------- */

/* A thread at an object in a slice of time. */
struct flow_row {
    uint64_t from_ns, to_ns; /* since the run's start */
    uint32_t object, thread;
    uint64_t samples, ns, written_ns;
    uint64_t remote_ns;     /* that another node answered, as the processor tells it */
    uint64_t timed, cycles; /* samples whose latency it tells, and Σ of these */
    uint64_t instruction;   /* one of the function that most of it is in, */
    uint32_t call;          /* and the innermost recorded call that this was in: place in calls */
};

struct memory_flow {
    struct vec rows;  /* struct flow_row, by time, then those of most time first */
    struct vec calls; /* struct memory_call */
};

/* In so many slices at most. memory_flow__free it. */
struct memory_flow memory_flow__of(const struct trace *trace, const struct symbols *symbols,
                                   const struct memory_use *use, struct memory_choice choice,
                                   uint32_t slices);

void memory_flow__free(struct memory_flow *flow);

/* Makes one of slices that follow one another where the same threads are at the same objects, most
 * of it in the same function and the same calls. */
void memory_flow__join(const struct trace *trace, const struct symbols *symbols,
                       struct memory_flow *flow);

#define MEMORY_NO_CALL 0u

/* A function, region or loop in those around it, whatever the number of its calls. */
struct memory_call {
    const struct trace_function *function; /* NULL: of MEMORY_NO_CALL */
    uint32_t around;                       /* place in calls; MEMORY_NO_CALL: it is the outermost */
};

struct memory_callers {
    struct vec calls;  /* struct memory_call; the first is none */
    uint32_t *call_of; /* by place in use->at_memory: the innermost; those that are not chosen:
                          MEMORY_NO_CALL */
};

/* What each chosen sample was in, as far as calls were recorded: of functions of which some calls
 * are drawn, only these; nothing in an aggregated run. Free both. It costs a walk over the events
 * of the threads that have such samples. */
struct memory_callers memory_callers__of(const struct trace *trace, const struct memory_use *use,
                                         struct memory_choice choice);

/* The times in which there were such samples. */
struct memory_times memory_times__of(const struct memory_use *use, struct memory_choice choice,
                                     uint32_t slices);
/* By slice: the time that the chosen samples stand for; times->count of them. free() it. */
uint64_t *memory_strip__of(const struct memory_use *use, struct memory_choice choice,
                           const struct memory_times *times);

/* ---- dots ------------------------------------------------------------------------------------ */

/* Samples that fall into one cell of a grid. */
struct memory_dot {
    uint32_t x, y;   /* in time, in offset */
    uint32_t thread; /* of most of it */
    uint64_t ns, written_ns, most_ns;
};

struct memory_dots {
    struct memory_times times; /* x */
    uint64_t low, high;        /* of y: addresses of the first byte and behind the last */
    bool is_whole;             /* y is their offset; else pages at which there were samples, in the
                                  order of their addresses */
    uint64_t pages;
    uint32_t rows;
    struct vec dots; /* struct memory_dot, by y, then x */
};

struct memory_dots memory_dots__of(const struct memory_use *use, struct memory_choice choice,
                                   uint32_t columns, uint32_t rows);
/* Likewise, but y is the place of the object in use->objects, rows the most of them. */
struct memory_dots memory_dots__by_object(const struct memory_use *use, struct memory_choice choice,
                                          uint32_t columns, uint32_t rows);
void memory_dots__free(struct memory_dots *dots);

#endif
