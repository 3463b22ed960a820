/* reader.h: a trace as its readers see it, packed or not.
 *
 * The events file is mapped read-only and checked as it is walked: whatever a file holds, these
 * functions return an error or less data, never crash, and never read outside of the mapping.
 * (A file that somebody cuts while it is read, or a disk that cannot be read, is the exception; the
 * recorder never cuts what is claimed.)
 * All tables belong to the trace and live until trace__close().  A trace may be read by several
 * threads at once; each needs cursors of its own.
 *
 * In goes a directory, out come tables of processes, threads and definitions, and cursors over
 * events. Opening costs a look at each chunk's header, a cursor one pass over its thread's events.
 * It stands on layout.h, block.h and base/. */
#ifndef HEURT_FORMAT_READER_H
#define HEURT_FORMAT_READER_H

#include "base/error.h"
#include "base/vec.h"
#include "format/event.h"
#include "format/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One mapped object of a process image. */
struct trace_module {
    uint64_t tick, gone_tick; /* 64-bit ticks; gone_tick is UINT64_MAX while loaded */
    uint64_t bias, start, end;
    const uint8_t *build_id;
    size_t build_id_bytes; /* 0: none */
    const char *path;
    size_t order; /* private to the room: in which they were read */
};

/* What an even id ≥ HEURT_EVENT_FUNCTIONS means in a process image. */
struct trace_function {
    uint32_t id;
    enum heurt_function_kind kind;
    uint64_t address;
    const char *name;
    const char *file; /* of a marker, else "" */
    uint32_t line;
    uint32_t flags; /* enum heurt_function_flag */
    uint32_t argument_count;
    uint32_t bias_ticks, cost_ticks; /* struct heurt_function */
    const char *argument_names;      /* joined by ',' */
    size_t order;                    /* private to the room: in which they were read */
};

struct trace_refusal {
    const char *function, *module, *reason;
};

/* One process image: a started, forked or exec'ed program. A forked one inherits the functions of
 * the image it was forked from, and its modules when it defines none itself. What the recorder
 * wrote about no image in particular is with the first one; when there is none, one with serial
 * HEURT_NO_SERIAL stands in for it. */
/* An object that the runtime has named, since then. */
struct trace_object {
    uint64_t tick, address;
    const char *name;
};

struct trace_process {
    uint32_t serial;
    uint32_t pid, parent_pid;
    uint32_t parent_serial; /* or HEURT_NO_SERIAL */
    uint64_t tick;
    /* struct heurt_process */
    uint32_t event_ticks, left_out_ticks, off_cpu_ticks, fault_ticks;
    uint64_t begin_cost_ns, thread_cost_ns; /* struct heurt_process_costs */
    const char *path;     /* of the executable, "" when the definition is missing */
    struct vec modules;   /* struct trace_module, by time */
    struct vec functions; /* struct trace_function, by id */
    struct vec refusals;  /* struct trace_refusal */
    struct vec notes;     /* const char * */
    struct vec lives;     /* struct heurt_live: for the recorder, while the program runs */
    struct vec objects;   /* struct trace_object, in the order in which they were named */
    struct vec clocks;    /* struct heurt_host_clock: of the rank of MPI that it is */
    /* Private to the room: payload words + 1 by id, 0 where no such id is defined. */
    const uint8_t *payload_words;
    uint32_t payload_ids;
};

/* What the events of a thread came to that were folded in an aggregated run: fold/fold.h tells
 * what the words mean. Nothing in it is trusted: numbers of classes may be out of range. */
struct trace_aggregate {
    const struct heurt_thread_record *record;
    struct vec classes;    /* const struct heurt_class_record *, by number */
    struct vec histograms; /* const struct heurt_histogram_record * */
    struct vec stacks;     /* const struct heurt_stack_record *; their words are in the file */
    const uint64_t *spans; /* HEURT_OPEN_SPAN_WORDS each */
    uint64_t span_count;   /* that have room there */
};

/* A call, or function without arguments, before a part, whose call stack is known: symbols.h. */
struct earlier_call {
    uint64_t tick; /* of the stack */
    uint32_t id, words;
    uint64_t payload[3];
};

/* In an aggregated run only those events are left that were not folded yet. A thread that only the
 * kernel told of has no chunks: its start, end, CPU time and name are the kernel's. */
struct trace_thread {
    uint32_t serial;
    uint32_t process; /* index into processes */
    uint32_t pid, tid;
    const char *name;    /* "" when not known */
    struct vec chunks;   /* const struct heurt_chunk *, by sequence */
    uint64_t start_tick; /* of THREAD_START, else of the first chunk */
    uint64_t end_tick;   /* of THREAD_END, else as the kernel told it, else of the last event that
                            can be read */
    bool ended;          /* THREAD_END was seen */
    bool is_aside;       /* trace__put_aside */
    uint64_t start_routine; /* address; 0: a process' first thread, or not known */
    uint64_t cpu_ns;        /* from THREAD_END or the kernel; UINT64_MAX: not known */
    uint64_t runnable_ns;   /* likewise */
    uint64_t events_lost;
    struct trace_aggregate *aggregate; /* NULL: all of its events are there */
    uint64_t merged_threads; /* > 0: it is no thread, but so many short ones that have ended; */
    uint64_t merged_ticks;   /* so long did they live in all */
    /* With HEURT_SESSION_KERNEL_LOG; NULL: the kernel told nothing of it. */
    const struct trace_life *life;
    /* Private to the room, of a part (part.h): before that chunk nothing is in it; what stands in
     * for what came before it, and behind it: words of events. */
    size_t first_chunk;
    struct vec opening, closing; /* uint64_t */
    struct vec stacked;          /* struct earlier_call: of a part, what the thread did before it */
};

/* What the recorder's log of the kernel's records holds of a thread: of it all images, when it has
 * called exec. */
struct trace_life {
    uint32_t pid, tid;
    struct heurt_life life; /* as it was told last */
    struct vec parts;       /* struct life_part: private to the room */
};

struct trace;

/* Opens the trace in directory. The error names the directory and what to do. */
int trace__open(const char *directory, struct trace **trace, struct error *error);

/* The same from memory that the caller keeps until trace__close (for tests and the fuzzer). */
int trace__open_memory(const void *bytes, size_t size, struct trace **trace, struct error *error);
void trace__close(struct trace *trace); /* NULL is allowed */

const struct heurt_session *trace__session(const struct trace *trace);
const struct vec *trace__processes(const struct trace *trace); /* struct trace_process, by serial */
const struct vec *trace__threads(const struct trace *trace);   /* struct trace_thread, by serial */

/* index: in these. */
static inline struct trace_process *trace__process_at(const struct trace *trace, size_t index)
{
    return VEC_AT(trace__processes(trace), struct trace_process, index);
}

static inline struct trace_thread *trace__thread_at(const struct trace *trace, size_t index)
{
    return VEC_AT(trace__threads(trace), struct trace_thread, index);
}

/* The serial of the process of a thread. */
static inline uint32_t trace__serial_of(const struct trace *trace, size_t thread)
{
    return trace__process_at(trace, trace__thread_at(trace, thread)->process)->serial;
}

/* What is told is to be told of the other threads alone, while these are still what waits are
 * blamed on, and what a prediction is made of: by trace__threads. */
void trace__put_aside(struct trace *trace, const bool *aside);
/* Any was. */
bool trace__has_asides(const struct trace *trace);

/* The events are in the file that the recorder made: not in a copy, nor packed. */
bool trace__is_as_recorded(const struct trace *trace);

/* The trace that it is a part of (part.h), which has the figures of all the run; NULL: of none. */
const struct trace *trace__whole(const struct trace *trace);

/* The run kept no events: what they came to is in the threads' aggregates. */
bool trace__is_aggregated(const struct trace *trace);

/* Where threads were when the recorder looked: struct heurt_sample, by time. */
const struct vec *trace__samples(const struct trace *trace);
/* Where that one's thread and its page were; NULL: it is not told. Of machines with several nodes
 * alone, as are pages: struct heurt_page, by time, also of what is beyond a part. */
const struct heurt_placed *trace__placed(const struct trace *trace,
                                         const struct heurt_sample *sample);
const struct vec *trace__pages(const struct trace *trace);
/* What answered that one's access, as the processor told it; NULL: it did not. And whether it told
 * that of any. */
const struct heurt_answer *trace__answer(const struct trace *trace,
                                         const struct heurt_sample *sample);
bool trace__tells_answers(const struct trace *trace);
/* Memory that several processes may have: struct heurt_shared_range, in no order; where two of a
 * process overlap the later one is the later told. */
const struct vec *trace__shared_ranges(const struct trace *trace);

/* The value of the last META definition with that key, or NULL: "command" (arguments joined by \n),
 * "directory", "host", "kernel", "processor", "cpus", "version", "options"; where the program was
 * started by a link "program_file", its executable, and "program_name", the link; "went_on": how
 * many processes of a program in the background were at work when the recording ended. */
const char *trace__meta(const struct trace *trace, const char *key);

/* Sum over threads and the session; damaged chunks are not in it. Of a part that ends where room
 * ran out none were. */
uint64_t trace__events_lost(const struct trace *trace);

/* When room ran out for the first time, in ns since the run's start; what is recorded is whole
 * until then. 0: it did not. */
uint64_t trace__full_ns(const struct trace *trace);

/* Places of the file that could not be understood: claimed chunks without a header and damaged
 * ones. 0 for a whole trace. Damage among events is found by the cursors that come upon it, so ask
 * when the trace has been walked. */
uint64_t trace__damaged_chunks(const struct trace *trace);

/* A span of ticks in ns; a tick as ns since the run's start, which is its first thread's. Exact to
 * the rate measured between the first and the last clock pair in the file. */
uint64_t trace__ns(const struct trace *trace, uint64_t ticks);
/* Of what may be negative. */
static inline int64_t trace__ns_between(const struct trace *trace, int64_t ticks)
{
    return ticks < 0 ? -(int64_t)trace__ns(trace, (uint64_t)-ticks)
                     : (int64_t)trace__ns(trace, (uint64_t)ticks);
}
uint64_t trace__since_start_ns(const struct trace *trace, uint64_t tick);
/* The other way round: the least span, and the first tick, of that many ns; UINT64_MAX: there is
 * none. */
uint64_t trace__ticks(const struct trace *trace, uint64_t ns);
uint64_t trace__tick(const struct trace *trace, uint64_t since_start_ns);

/* What somebody said while it was recorded (heurt ctl mark); the text is one line. */
struct trace_mark {
    uint64_t tick;
    const char *text;
};
/* struct trace_mark, by time. */
const struct vec *trace__marks(const struct trace *trace);

/* ns from the first thread's start to the end of the command; to the last event when the recorder
 * was killed. What came before, the planning of patches above all, is not the program's time. */
uint64_t trace__wall_ns(const struct trace *trace);

/* What these are between, as ns since the run's start. */
void trace__bounds_ns(const struct trace *trace, uint64_t *from_ns, uint64_t *to_ns);

/* The image with that serial, or NULL. */
const struct trace_process *trace__process_of(const struct trace *trace, uint32_t serial);
/* Whether it has changed its user: nothing is recorded of it from then on but what the kernel told.
 */
bool trace_process__left(const struct trace_process *process);

const struct trace_function *trace_process__function(const struct trace_process *process,
                                                     uint32_t id); /* id even; or NULL */
/* The module that was mapped at address at that tick, or NULL. */
const struct trace_module *trace_process__module(const struct trace_process *process,
                                                 uint64_t address, uint64_t tick);

/* Chunks of events that cursors have begun until now, each as often as it was; any thread may ask.
 */
uint64_t trace__chunks_walked(const struct trace *trace);

#define CUT_WORDS 3 /* of an OFF_CPU or FAULT */

/* Walks one thread's events in the order in which they were written. FUNCTION events are given as
 * what they stand for: the function's own id, and its arguments. Ticks may step back a little
 * where a signal handler ran inside the runtime. What the recorder's log tells of the thread comes
 * in between, by time: KERNEL at its start, then each OFF_CPU and FAULT. */
struct trace_cursor {
    const struct trace *trace;
    const struct trace_thread *thread;
    const struct heurt_chunk *chunk; /* that at is in */
    size_t next_chunk;               /* index into the thread's */
    const uint64_t *at, *end;
    const uint64_t *event; /* the first word of the one that was given last */
    uint64_t tick;
    const uint8_t *payload_words; /* of the thread's process image */
    uint32_t payload_ids;
    const char *next_block, *blocks_end; /* in a packed chunk: what is still to be unpacked */
    uint64_t *unpacked;                  /* at most HEURT_PACKED_WORDS_MAX words, or NULL */
    uint32_t unpacked_words;
    uint64_t cut[CUT_WORDS];      /* payload of an event that began before the part */
    bool closes;                  /* the closing of a part has begun */
    struct kernel_cursor *kernel; /* over the thread's life; NULL: it has none, or it has ended */
    uint64_t recorded_until;      /* what the thread wrote before that tick is not to be compared
                                     with what the kernel told; 0: all is */
};

void trace_cursor__start(struct trace_cursor *cursor, const struct trace *trace,
                         const struct trace_thread *thread);
bool trace_cursor__next_any(struct trace_cursor *cursor, struct event *event);
/* The next event with a fixed id: those of functions are passed over. */
bool trace_cursor__next_fixed(struct trace_cursor *cursor, struct event *event);

/* Most events are of functions, without payload: a word that is looked at here. */
static inline bool trace_cursor__next(struct trace_cursor *cursor, struct event *event)
{
    const uint64_t *at = cursor->at;
    if (at < cursor->end) {
        uint32_t id = event__id(*at);
        uint64_t tick = event__whole_tick(cursor->tick, *at);
        if (id >= HEURT_EVENT_FUNCTIONS && id < cursor->payload_ids &&
            cursor->payload_words[id] == 1 && tick < cursor->recorded_until) {
            *event = (struct event){.tick = tick, .id = id, .payload = at + 1};
            cursor->tick = tick;
            cursor->event = at;
            cursor->at = at + 1;
            return true;
        }
    }
    return trace_cursor__next_any(cursor, event);
}

/* The words in which the next events stand, for who takes some of them himself; he puts back what
 * is left. */
static inline struct event_words trace_cursor__words(const struct trace_cursor *cursor)
{
    return (struct event_words){cursor->at,
                                cursor->end,
                                cursor->tick,
                                cursor->recorded_until,
                                cursor->payload_words,
                                cursor->payload_ids};
}

static inline void trace_cursor__pass(struct trace_cursor *cursor, const struct event_words *words)
{
    cursor->at = words->at;
    cursor->tick = words->tick;
}

/* For a cursor that is left before its end (of which next has told); may be called always. */
void trace_cursor__stop(struct trace_cursor *cursor);

/* Walks all threads' events merged by time (a heap of cursors: memory bounded by threads). */
struct trace_merge;
struct trace_merge *trace_merge__start(const struct trace *trace); /* trace_merge__free it */
/* Without what the kernel tells late (event__is_told_late): its clock may be ahead by a
 * microsecond, and what a thread did meanwhile would come behind what others did. */
struct trace_merge *trace_merge__start_of_threads(const struct trace *trace);
/* The next event and the index of its thread in trace__threads. Its payload lives until the next
 * event of the same thread. */
bool trace_merge__next(struct trace_merge *merge, struct event *event, size_t *thread);
void trace_merge__free(struct trace_merge *merge);

/* Payload words of an id (odd for leave), HEURT_WORDS_VARIABLE, or -1 when no such id is defined.
 */
int trace_process__payload_words(const struct trace_process *process, uint32_t id);

/* "lock wait", "disk", …: the name of a fixed id below HEURT_EVENT_FUNCTIONS, or NULL. */
const char *event__name(uint32_t id);
const char *memory_map__name(enum heurt_memory_map call); /* likewise */
const char *message_call__name(uint32_t call);            /* "MPI_Send" */
enum heurt_message_family message_call__family(uint32_t call);
const char *openmp__name(enum heurt_openmp what); /* "parallel region" */
const char *io__name(enum heurt_io call);         /* "read"; "?" when unknown */
const char *sleep__name(enum heurt_sleep call);   /* "nanosleep" */
bool event__is_span(uint32_t id);

#endif
