#include "aggregated.h"

#include "base/memory.h"
#include "fold/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_WORDS (1 + HEURT_STACK_REGISTERS + 1)

struct records {
    struct heurt_thread_record thread;
    struct heurt_class_record wait, work;
    struct heurt_histogram_record histogram;
    struct heurt_spans_record spans;
    struct open_span open[2];
    struct heurt_stack_record stack;
    uint64_t stack_words[STACK_WORDS];
};

static struct heurt_record record(enum heurt_record_type type, size_t bytes)
{
    return (struct heurt_record){(uint32_t)bytes, type};
}

/* Two occurrences of 10 and 20 ticks. */
static struct class_sums two_occurrences(void)
{
    struct class_sums sums = {.accumulator = {.count = 2,
                                              .recorded = 2,
                                              .sum = 30,
                                              .minimum = 10,
                                              .maximum = 20,
                                              .own_sum = 30,
                                              .own_minimum = 10}};
    sums.accumulator.component_sum[COMPONENT_LOCK] = 30;
    sums.accumulator.component_reference[COMPONENT_LOCK] = 10;
    return sums;
}

static void fill(struct records *records, unsigned folded_words)
{
    const struct class_sums sums = two_occurrences();
    const struct fold_state state = {.covered = 30, .events = 6, .depth = 1};
    *records = (struct records){
        .thread = {.record = record(HEURT_RECORD_THREAD, sizeof records->thread),
                   .start_tick = 200,
                   .end_tick = 230,
                   .folded_words = folded_words},
        .wait = {.record = record(HEURT_RECORD_CLASS, sizeof records->wait),
                 .tick = 220,
                 .id = HEURT_EVENT_LOCK_WAIT,
                 .words = 2,
                 .payload = {0x401010, 0x7000}},
        .work = {.record = record(HEURT_RECORD_CLASS, sizeof records->work),
                 .number = 1,
                 .tick = 210,
                 .id = HEURT_EVENT_FUNCTIONS,
                 .words = 2,
                 .payload = {3, 4}},
        .histogram = {.record = record(HEURT_RECORD_HISTOGRAM, sizeof records->histogram),
                      .counts = {[10] = 1, [18] = 1}},
        .spans = {.record =
                      record(HEURT_RECORD_SPANS, sizeof records->spans + sizeof records->open),
                  .capacity = 2},
        .open = {{.start = 210, .number = 1, .id = HEURT_EVENT_FUNCTIONS, .weight = 1}},
        .stack = {.record = record(HEURT_RECORD_STACK,
                                   sizeof records->stack + sizeof records->stack_words),
                  .number = 1,
                  .words = STACK_WORDS,
                  .tick = 209},
        .stack_words = {STACK_WORDS - 1, 0x401000, 0x7ffd0000},
    };
    memcpy(records->thread.state, &state, sizeof state);
    memcpy(records->wait.sums, &sums, sizeof sums);
    memcpy(records->work.sums, &sums, sizeof sums);
}

int aggregated__make(const char *directory, unsigned folded_words)
{
    static union {
        char bytes[HEURT_UNIT_BYTES];
        struct {
            struct heurt_chunk header;
            struct records records;
        } is;
    } chunk;
    struct heurt_session session;
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    FILE *file = fopen(path, "r+");
    free(path);
    if (!file || fread(&session, sizeof session, 1, file) != 1)
        return -EIO;
    chunk.is.header = (struct heurt_chunk){.magic = HEURT_CHUNK_MAGIC,
                                           .kind = HEURT_CHUNK_AGGREGATES,
                                           .units = 1,
                                           .pid = 1000,
                                           .tid = 1000,
                                           .start = session.start};
    fill(&chunk.is.records, folded_words);
    session.flags |= HEURT_SESSION_AGGREGATE;
    long end = (long)(session.next_unit++ * HEURT_UNIT_BYTES);
    bool done = fseek(file, 0, SEEK_SET) == 0 && fwrite(&session, sizeof session, 1, file) == 1 &&
                fseek(file, end, SEEK_SET) == 0 && fwrite(&chunk, sizeof chunk, 1, file) == 1;
    return fclose(file) == 0 && done ? 0 : -EIO;
}
