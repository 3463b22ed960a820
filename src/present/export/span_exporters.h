/* span_exporters.h: what threads did, as spans, for the viewers of others: one exporter a format.
 *
 * An exporter is a table of methods; the options of heurt export name it. One walk feeds it
 * (cmd/span_feed.h). Methods are called in this order, those in parentheses as often as there is
 * anything:
 *
 *     begin   (began | enter | leave | point | mark | state | hold | release | count | ended)…
 * finish
 *
 * All processes and threads, and the clocks, are known in begin. Times are ns since the start of
 * the run and never step back: of all threads (SPANS_BY_TIME), or of each, and one thread's calls
 * come in a row (SPANS_BY_THREAD; then who ended a wait, holds and counters are not told). Enters
 * and leaves are nested on each thread, and each enter has its leave: between began and ended. What
 * a thread was off the CPU for (state) lies within its innermost open span, but by another clock:
 * it may end a microsecond behind it.
 *
 * Labels, places and objects are numbered 0, 1, 2 …, each kind by itself, as they are first met;
 * they live, with their texts, until finish has returned, so that an exporter writes a text once
 * and then its number. Texts are as the trace has them: not fit for a screen, not always UTF-8, of
 * any length.
 *
 * Methods may be NULL. What cannot be written is seen on out by the caller, who stops then; finish
 * is called in any case, and frees what own holds. Memory: of labels and objects, never of events.
 */
#ifndef HEURT_PRESENT_EXPORT_SPAN_EXPORTERS_H
#define HEURT_PRESENT_EXPORT_SPAN_EXPORTERS_H

#include "analysis/callsite/callsite.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct span_process {
    uint32_t serial; /* its number in the trace */
    uint32_t pid, parent_pid;
    uint64_t from_ns;
    const char *path; /* of the executable, or "" */
};

struct span_thread {
    uint32_t serial, tid;
    uint32_t process; /* place in processes */
    const char *name; /* never "": "thread 4711" where it has none */
    uint64_t from_ns, to_ns;
};

/* Where in the program. */
struct span_place {
    uint32_t number;
    const char *function; /* never NULL */
    const char *module;   /* path, or NULL */
    const char *file;     /* or NULL */
    uint32_t line;        /* 0: not known */
    uint64_t address;
};

/* What a span or a point is. */
struct span_label {
    uint32_t number;
    enum class_kind kind;           /* CLASS_KINDS: a point */
    const char *name;               /* of the function or region; "lock wait", "read" */
    const char *detail;             /* "mutex", or "" */
    const struct span_place *place; /* of a function where it begins, of a call its caller */
    const char *const *arguments;   /* names of the recorded ones; NULL-ended */
    uint32_t event, how; /* for who writes the trace's own events (layout.h): its number; what its
                            first word has beside the place. 0: a function or the like */
    bool is_idle; /* waits there are mostly for work to come; known where lost time is told */
};

/* A lock, condition, semaphore, barrier, futex. */
struct span_object {
    uint32_t number;
    const char *noun; /* "mutex" */
    const char *name; /* "queue->head_lock", or what else tells it from others */
    uint64_t address;
};

struct span_enter {
    uint64_t ns;
    const struct span_label *label;
    const struct span_object *object; /* NULL: none */
    uint32_t weight;                  /* calls that it stands for, where not all are recorded */
    const uint64_t *values;           /* of the label's arguments */
    uint32_t value_count;
    const uint64_t *words; /* what the trace's own event has behind its place; times in ns, threads
                              by their places in threads */
    uint32_t word_count;
};

enum span_end {
    SPAN_END_SEEN,
    SPAN_END_NOT_SEEN, /* nobody knows when it ended: at this time at the latest */
    SPAN_END_OF_RUN,   /* the thread was in it when it, or the recording, ended */
};

#define SPAN_BY_NOBODY UINT32_MAX

struct span_leave {
    uint64_t ns;
    uint64_t from_ns;               /* when it was entered, */
    const struct span_label *label; /* with these */
    const struct span_object *object;
    uint32_t weight;
    enum span_end end;
    /* Of a wait: who ended it (place in threads; SPAN_BY_NOBODY: not known, or nobody), when, and
     * where it was then (NULL: not known). */
    uint32_t by;
    uint64_t by_ns;
    const struct span_place *by_place;
    uint64_t result; /* of the call, as the trace has it; else 0 */
    bool has_result;
};

/* A message of MPI leaves a thread, or has come to another one. */
struct span_message {
    uint64_t ns, number; /* from 1: the same of both ends */
    uint32_t thread, other;
    uint64_t bytes;
    uint32_t tag;
    bool is_received; /* else it is sent: told before */
};

/* What runs over time. */
enum span_counter {
    SPAN_CPUS,    /* threads that were on a CPU; without the kernel's records: in no wait */
    SPAN_RUNNING, /* threads that were in no wait and on a CPU */
    SPAN_WANTING, /* threads that wanted a CPU and had none */
    SPAN_COUNTERS
};

/* The run. */
struct span_run {
    const char *command;
    const struct span_process *processes;
    const struct span_thread *threads;
    uint32_t process_count, thread_count;
    const uint32_t *ranks; /* threads of ranks of MPI that may send messages, by rank: places in
                              threads */
    uint32_t rank_count;
    uint64_t from_ns, to_ns;     /* since the start of the run, of what is exported */
    uint64_t start_realtime_ns;  /* since the epoch, at 0; 0: not known */
    uint64_t start_monotonic_ns; /* of CLOCK_MONOTONIC, likewise */
    uint32_t cpus;               /* of the machine; 0: not known */
};

struct span_export {
    const struct span_run *run;
    FILE *out;
    const char *of; /* what is asked for of formats that show one thing; NULL: nothing was said */
    const char *directory; /* of formats that are one: to be written there, in an empty one; out is
                              of no use */
    int failed;            /* an errno: what the exporter writes by itself could not be written */
    void *own;             /* the exporter's */
    /* What the exporter has to say at the end: sentences (char *), freed by the caller. */
    struct vec *remarks;
};

struct span_exporter {
    const char *name; /* of the format */
    enum { SPANS_IN_TIME, SPANS_IN_THREADS } order;
    bool is_binary;         /* not for a terminal */
    bool tells_lost;        /* always; with --of lost any does */
    bool is_directory;      /* it writes a directory by itself */
    const char *const *ofs; /* what --of may say, the first by default; NULL: nothing */
    void (*begin)(struct span_export *export);
    void (*began)(struct span_export *export, uint32_t thread, uint64_t ns);
    void (*ended)(struct span_export *export, uint32_t thread, uint64_t ns);
    void (*enter)(struct span_export *export, uint32_t thread, const struct span_enter *enter);
    void (*leave)(struct span_export *export, uint32_t thread, const struct span_leave *leave);
    void (*point)(struct span_export *export, uint32_t thread, const struct span_enter *point);
    /* What takes and releases locks, and the like: the trace's own events, which hold and release
     * are made of. */
    void (*mark)(struct span_export *export, uint32_t thread, const struct span_enter *mark);
    /* Of SPANS_IN_TIME: within the spans that it is sent and received in. */
    void (*message)(struct span_export *export, const struct span_message *message);
    /* From now on; COMPONENT_RUNNING: it is on a CPU. */
    void (*state)(struct span_export *export, uint32_t thread, uint64_t ns, enum component state);
    /* It has the lock from now on, until release tells so, exclusively: nobody else has it. Shared:
     * somebody has, that was the first one; until release nothing more is told. */
    void (*hold)(struct span_export *export, uint32_t thread, uint64_t ns,
                 const struct span_object *object, const struct span_place *place, bool is_shared);
    void (*release)(struct span_export *export, uint32_t thread, uint64_t ns,
                    const struct span_object *object, uint64_t from_ns);
    /* Its mean in the time that begins there, which is as long as all but the last one. */
    void (*count)(struct span_export *export, uint64_t ns, enum span_counter counter, double value);
    void (*finish)(struct span_export *export);
};

extern const struct span_exporter exporter_folded, exporter_perfetto, exporter_speedscope,
    exporter_chrome, exporter_pprof, exporter_otf2, exporter_paje, exporter_ctf, exporter_firefox;

/* Of a point: its label's kind is CLASS_KINDS. In few words, in the order of enum span_counter. */
const char *span_counter__name(enum span_counter counter);
/* "work", "lock wait", "disk" …: what kind of span that is, for the viewers' colours and filters.
 */
const char *span_label__category(const struct span_label *label);
/* "on a CPU", "wanted a CPU", "page fault", … */
const char *span_state__name(enum component state);

#endif
