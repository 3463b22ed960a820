/* aggregate_layout.h: what AGGREGATES chunks hold; a part of the contract in layout.h. */
#ifndef HEURT_FORMAT_AGGREGATE_LAYOUT_H
#define HEURT_FORMAT_AGGREGATE_LAYOUT_H

#include <stdint.h>

/* In an aggregated run a thread's events are folded into its classes whenever its chunk is full,
 * and the chunk is started again, with the same sequence number. What they come to stands in the
 * thread's AGGREGATES chunks and is changed in place: a row of records, one behind the other in the
 * chunks' order. All of it is so at any moment that a reader may go on with the fold where the
 * program was ended.
 *
 * The words of the fold are structs of src/analysis: fold.h tells what they mean. */
enum heurt_record_type {
    HEURT_RECORD_THREAD = 1,    /* struct heurt_thread_record; the first one of its thread */
    HEURT_RECORD_CLASS = 2,     /* struct heurt_class_record */
    HEURT_RECORD_HISTOGRAM = 3, /* struct heurt_histogram_record */
    HEURT_RECORD_SPANS = 4,     /* struct heurt_spans_record, then spans; the last one is valid */
    HEURT_RECORD_STACK = 5,     /* struct heurt_stack_record, then payload words of a STACK event */
};

/* In front of every record; type is stored last, and 0 is the end. */
struct heurt_record {
    uint32_t bytes; /* with this header, a multiple of 8 */
    uint32_t type;  /* enum heurt_record_type */
};

#define HEURT_FOLD_STATE_WORDS 31 /* struct fold_state */
#define HEURT_CLASS_SUMS_WORDS 36 /* struct class_sums */
#define HEURT_OPEN_SPAN_WORDS 16  /* struct open_span */
#define HEURT_BLOCK_BUCKETS 32    /* HISTOGRAM_BLOCK_BUCKETS */

struct heurt_thread_record {
    struct heurt_record record;
    uint64_t start_tick; /* of THREAD_START */
    uint64_t end_tick;   /* of the last event that is folded */
    uint64_t ended;      /* 1: that was THREAD_END, which told: */
    uint64_t cpu_ns;
    uint64_t runnable_ns;
    uint64_t folded_sequence; /* the chunk up to which events are folded, */
    uint64_t folded_words;    /* and how many of its words behind its header */
    uint64_t merged_threads;  /* > 0: no thread, but so many that have ended; */
    uint64_t merged_ticks;    /* so long did they live in all */
    uint64_t refused;         /* occurrences whose class found no room */
    uint64_t state[HEURT_FOLD_STATE_WORDS];
};

enum heurt_class_flag {
    HEURT_CLASS_INNER = 1u << 0, /* occurrences of the class of that function and these arguments
                                    inside of ones with other arguments */
    HEURT_CLASS_OTHER = 1u << 1, /* of all classes of a kind that found no room; payload: the kind
                                    (enum class_kind in src/fold/kinds.h) */
};

/* A class on the thread, told by the event that it was first seen with. */
struct heurt_class_record {
    struct heurt_record record;
    uint32_t number; /* 0, 1, 2 … in the thread */
    uint32_t flags;  /* enum heurt_class_flag */
    uint64_t tick;
    uint32_t id; /* even */
    uint32_t words;
    uint64_t payload[HEURT_ARGUMENTS_MAX];
    uint64_t sums[HEURT_CLASS_SUMS_WORDS];
};

struct heurt_histogram_record {
    struct heurt_record record;
    uint32_t number; /* of the class */
    uint32_t block;
    uint64_t counts[HEURT_BLOCK_BUCKETS];
};

struct heurt_spans_record {
    struct heurt_record record;
    uint64_t capacity;
};

struct heurt_stack_record {
    struct heurt_record record;
    uint32_t number; /* of the class */
    uint32_t words;
    uint64_t tick;
};

#endif
