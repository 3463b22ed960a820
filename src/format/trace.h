/* trace.h: the inside of an open trace, for the files of this room only.
 *
 * Nothing goes in or out but what reader.h says: this is the state behind it. It stands on
 * block.h. */
#ifndef HEURT_FORMAT_TRACE_H
#define HEURT_FORMAT_TRACE_H

#include "base/vec.h"
#include "format/block.h"
#include "format/reader.h"

/* Chunks with damage, each counted once; cursors of several threads may write to it. */
struct damage {
    uint64_t places;  /* (atomic) */
    uint64_t *chunks; /* (atomic) a bit for each unit that begins a damaged chunk */
};

/* (atomic) What cursors have done with it. */
struct walked {
    uint64_t cursors, chunks; /* that were started */
};

struct trace_meta {
    const char *key, *value;
};

struct trace {
    const char *bytes; /* the claimed part of the file, or what there is of it */
    size_t size;
    size_t mapped_bytes; /* 0: not mapped by us */
    void *copy;          /* of memory that was not aligned, or NULL */
    struct heurt_session session;
    uint64_t file_device, file_inode; /* of the file that it was read from */
    struct vec processes, threads;
    struct vec lives;                    /* struct trace_life */
    struct vec metas;                    /* struct trace_meta */
    struct vec samples;                  /* struct heurt_sample */
    struct vec counted;                  /* const struct heurt_chunk *: COUNTS */
    struct vec placed;                   /* struct heurt_placed */
    struct vec answers;                  /* struct heurt_answer */
    struct vec pages;                    /* struct heurt_page */
    struct vec shared;                   /* struct heurt_shared_range */
    struct vec marks;                    /* struct trace_mark */
    struct vec owned;                    /* void *: freed with the trace */
    const struct trace *whole;           /* that this is a part of, or NULL */
    uint64_t from_tick, behind_tick;     /* of a part: its first tick, and the first one behind it;
                                            else 0 and UINT64_MAX */
    bool has_asides;                     /* threads that are aside */
    uint64_t first_tick;                 /* of all threads' starts */
    uint64_t zero_tick;                  /* that of the whole run: times are since then */
    uint64_t last_tick;                  /* of all threads' ends */
    struct heurt_clock_pair first, last; /* the clocks' rate is measured between these */
    struct damage *damage;
    struct walked *walked;
    struct block_unpacker **unpackers; /* UNPACKERS (atomic): that no thread uses now, or NULL */
};

/* event.c: payload words + 1 of the ids below HEURT_EVENT_FUNCTIONS; 0: not defined. */
#define PAYLOAD_VARIABLE 255
extern const uint8_t event_payload_words[HEURT_EVENT_FUNCTIONS];

/* reader.c: a trace from an open events file; name is for the error. */
int trace__open_file(int fd, const char *name, struct trace **trace, struct error *error);
/* The same without lives and bounds of threads, which take time: for who asks for chunks. */
int trace__open_chunks(int fd, const char *name, struct trace **trace, struct error *error);
/* A process image of which nothing is known yet. */
void trace__push_process(struct trace *trace, uint32_t serial);
/* Of a longer trace only what is looked at stays in memory. */
#define TRACE_KEPT_BYTES ((size_t)128 << 20)
/* Its pages need not stay in memory: they are read again when somebody asks for them. Those of
 * small chunks are given back with what lies beside them, a MiB together. */
void trace__drop_pages(const struct trace *trace, const struct heurt_chunk *chunk);
/* Cursors over its threads that were started until now: by how much a command raises it tells how
 * often the command walks over the trace. Any thread may ask. */
uint64_t trace__cursors_started(const struct trace *trace);
bool trace__is_packed(const struct trace *trace, const struct heurt_chunk *chunk);
size_t trace__unit_bytes(const struct trace *trace);

/* Definitions are packed to no less than this part of their length, so that a reader can bound the
 * memory that it needs for them. */
#define PACKED_RATIO_MAX 32

/* A piece of the file: a chunk, or a row of units where none begins. */
struct trace_place {
    const struct heurt_chunk *chunk; /* NULL: none */
    size_t bytes;                    /* of the chunk, as much as lies in the file; never 0 */
    bool is_damaged;                 /* its header gives it another length */
    bool is_unused;                  /* a claim that did not fit left it behind: nothing is lost */
};

/* The place at offset, which goes to the one behind it. Begin at trace__first_place. */
bool trace__next_place(const struct trace *trace, size_t *offset, struct trace_place *place);
size_t trace__first_place(const struct trace *trace);

/* cursor.c: first and last events of each thread. */
void trace_thread__find_bounds(const struct trace *trace, struct trace_thread *thread);
void trace__mark_damaged(const struct trace *trace, const struct heurt_chunk *chunk);
/* One past the chunk's last byte that lies within the file. */
const char *trace__chunk_end(const struct trace *trace, const struct heurt_chunk *chunk);

/* aggregates.c: the records in one of the thread's AGGREGATES chunks, in their order. */
void trace_thread__read_aggregate(const struct trace *trace, struct trace_thread *thread,
                                  const struct heurt_chunk *chunk);
void trace_thread__free_aggregate(struct trace_thread *thread);

/* Goes to the start of a chunk of the image that the cursor was started for. */
void trace_cursor__go_to(struct trace_cursor *cursor, const struct heurt_chunk *chunk);
/* The next event of that chunk. */
bool trace_cursor__next_in_chunk(struct trace_cursor *cursor, struct event *event);
/* Whether that chunk has ended as it ought to. */
bool trace_cursor__is_at_end(const struct trace_cursor *cursor);
#define UNPACKERS 64 /* that are kept for the threads that walk side by side */
struct block_unpacker *trace__take_unpacker(const struct trace *trace);
void trace__give_unpacker(const struct trace *trace, struct block_unpacker *unpacker);

/* The next event that the thread itself wrote. */
bool trace_cursor__next_recorded(struct trace_cursor *cursor, struct event *event);

/* lives.c: the lives in KERNEL chunks (const struct heurt_chunk *, in the file's order); then, when
 * all threads have their bounds, whose they are: a thread whose end is not known gets it from
 * there, and one that recorded nothing is added. */
void trace__read_lives(struct trace *trace, const struct vec *chunks);
void trace__join_lives(struct trace *trace);

struct life_part {
    const struct heurt_chunk *chunk;
    const struct heurt_run *run; /* in the chunk; NULL: all of the chunk, which is packed */
};

/* kernel_cursor.c: walks the events of a life in the order in which they were written. */
struct life_cursor {
    struct trace_cursor words;
    const struct trace_life *life;
    size_t next_part;
};

void life_cursor__start(struct life_cursor *cursor, const struct trace *trace,
                        const struct trace_life *life);
bool life_cursor__next(struct life_cursor *cursor, struct event *event);
void life_cursor__stop(struct life_cursor *cursor);

/* kernel_cursor.c: leaves of an OFF_CPU or FAULT what lies between start and end, in words; returns
 * the tick at which that begins. */
uint64_t event__cut(struct event *event, uint64_t start, uint64_t end, uint64_t words[CUT_WORDS]);

/* kernel_cursor.c: what the kernel told of a thread that has a life, merged with what it wrote. */
struct kernel_cursor *kernel_cursor__new(const struct trace *trace,
                                         const struct trace_thread *thread);
void kernel_cursor__free(struct kernel_cursor *cursor); /* NULL is allowed */
/* taken: event is the next one that the thread wrote, already. */
bool kernel_cursor__next(struct kernel_cursor *cursor, struct trace_cursor *recorded, bool taken,
                         struct event *event);

/* definitions.c: fills the processes (which are there, by serial), metas and thread names.
 * chunks: const struct heurt_chunk *, in the order in which they were written. */
void trace__read_definitions(struct trace *trace, const struct vec *chunks);
struct trace_process *trace__process(const struct trace *trace, uint32_t serial);
struct trace_thread *trace__thread(const struct trace *trace, uint32_t serial);

#endif
