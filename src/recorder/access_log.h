/* access_log.h: where sampled threads were, and what memory they accessed there, written into the
 * trace while the program runs.
 *
 * In go samples with registers, out come SAMPLES definitions. Where the processor tells of accesses
 * (RECORD_ACCESS), these take the place of what such a sample says of memory (access_share.h), and
 * what answered them is written as ANSWERS. A sample costs a search, a function
 * its decoding when it is met first. It stands on kernel/hotspots.h, patch/access.h and
 * live_patch.h. One thread at a time. */
#ifndef HEURT_RECORDER_ACCESS_LOG_H
#define HEURT_RECORDER_ACCESS_LOG_H

#include "format/writer.h"
#include "kernel/hotspots.h"
#include "recorder/hot_table.h"
#include "recorder/live_patch.h"

struct access_log_settings {
    struct trace_writer *writer;
    const struct live *live; /* who tells where patched code was before; NULL: none is */
};

struct access_log;

/* All are kept, not copied. */
struct access_log *access_log__new(const struct access_log_settings *settings,
                                   const struct hotspots *hotspots, struct hot_files *files);
void access_log__free(struct access_log *log); /* NULL is allowed */

/* A record that hotspots have taken. */
void access_log__take(struct access_log *log, const struct record *record);
/* Writes what was taken since the last call. */
void access_log__flush(struct access_log *log);

#endif
