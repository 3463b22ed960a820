/* import_perf_file.h: the records of a perf.data file, in the order of their times.
 *
 * In go the bytes of a file, out come its records, one after the other, with who and when each is
 * of; nothing in the file is believed to be there. Memory: 16 bytes for each record of two rounds
 * of perf, at least 100,000. The kernel's linux/perf_event.h has the layouts. */
#ifndef HEURT_IMPORT_IMPORT_PERF_FILE_H
#define HEURT_IMPORT_IMPORT_PERF_FILE_H

#include "base/map.h"
#include "base/vec.h"
#include "import/import.h"

#include <linux/perf_event.h>

#define PERF_MAGIC "PERFILE2"
#define PERF_BUILD_ID_BYTES 24u /* as files have them: 20, then how many of them count */

/* Bytes that are read one behind the other; what is behind the end is 0. */
struct perf_cursor {
    const uint8_t *at, *end;
    bool broke;
};

void perf_cursor__take(struct perf_cursor *cursor, void *into, size_t bytes);
uint64_t perf_cursor__take64(struct perf_cursor *cursor);
uint32_t perf_cursor__take32(struct perf_cursor *cursor);
/* A text with a 0 in it before the end; "": there is none. */
const char *perf_cursor__text(const struct perf_cursor *cursor);

/* What a record tells of itself. */
struct perf_sample {
    uint64_t ip, ns, nr;
    uint32_t pid, tid, cpu;
    bool has_ns, has_tid;
    const uint8_t *stack; /* of a sample: nr addresses of 8 bytes; NULL: none */
};

struct perf_taker {
    /* A record of the kernel's, in the order of the file. */
    void (*meet)(void *self, const struct perf_event_header *header, struct perf_cursor record);
    /* The same, in the order of times. */
    void (*take)(void *self, const struct perf_event_header *header, struct perf_cursor record,
                 const struct perf_sample *told);
};

struct perf_file {
    struct import *import;
    const struct perf_taker *taker;
    void *self; /* the taker's */
    const uint8_t *bytes;
    uint64_t count;
    struct vec attributes;        /* struct perf_attribute */
    struct map by_id;             /* event's id -> place in attributes */
    struct vec places;            /* struct perf_place */
    uint64_t round_ns, before_ns; /* the latest of the rounds until now, and of those before */
    size_t left;                  /* places that the last flush left */
    uint64_t last_ns;             /* of the record before */
    struct map builds;            /* path -> place in ids */
    struct vec ids;               /* uint8_t[PERF_BUILD_ID_BYTES] */
};

/* Reads all of it: calls of the taker. perf_file__free it. */
void perf_file__read(struct perf_file *file);
void perf_file__free(struct perf_file *file);

/* Whether switches were asked for, of what is read until now. */
bool perf_file__has_switches(const struct perf_file *file);
/* The build id of a file that was mapped; false: it is not told. */
bool perf_file__build_id(const struct perf_file *file, const char *path,
                         uint8_t id[PERF_BUILD_ID_BYTES]);

#endif
