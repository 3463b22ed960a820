/* place_thresholds.h: all numbers that decisions about placement hang on, in one table, each with
 * its source. docs/placement-engine.md shows them; each can be set by its name.
 *
 *     [C]  Dashti and others, "Traffic Management", ASPLOS 2013 (Carrefour), and its runtime
 *     [L]  Gaud and others, "Large Pages May Be Harmful on NUMA Systems", USENIX ATC 2014
 *     [H]  heurt's own; the page tells why
 *
 * It stands on base/error.h. Several threads may read at once. */
#ifndef HEURT_PLACE_PLACE_THRESHOLDS_H
#define HEURT_PLACE_PLACE_THRESHOLDS_H

#include "base/error.h"

#include <stddef.h>

/* name, value, least, most, source, meaning. Shares are from 0 to 1. */
#define PLACE_THRESHOLDS(X)                                                                        \
    X(maptu, 50, 0, 1e6, "[C]", "accesses to memory per us from which on anything is done")        \
    X(memory_share, 0.1, 0, 1, "[H]", "CPU time at memory from which on, where no counter tells")  \
    X(application_cpus, 0.1, 0, 1e4, "[C]", "CPUs that an application must use")                   \
    X(application_samples, 20, 1, 1e6, "[H]",                                                      \
      "samples of it in a round, of fewer nothing is said")                                        \
    X(migrate_local, 0.8, 0, 1, "[C]", "local accesses: pages are migrated below that")            \
    X(migrate_until, 0.95, 0, 1, "[H]", "local accesses up to which it goes on once it has begun") \
    X(interleave_local, 1, 0, 1, "[C]", "local accesses: pages are interleaved below that, if")    \
    X(interleave_imbalance, 0.35, 0, 10, "[C]", "controllers' imbalance is above that")            \
    X(replicate_reads, 0.95, 0, 1, "[C]", "reads: pages are replicated from that on, if")          \
    X(replicate_used, 0.25, 0, 1, "[C]", "at most so much of the memory is in use")                \
    X(replicate_requests, 500, 0, 1e9, "[C]", "pages that asked for it before one is")             \
    X(page_samples, 2, 1, 1e6, "[C]", "samples of a page, at the least")                           \
    X(round_pages, 30000, 1, 1e9, "[C]", "pages that are moved in a round, at most")               \
    X(few_pages, 10, 0, 1e9, "[C]", "fewer were acted on: the next round samples less")            \
    X(sampling_less, 4, 1, 1000, "[C]", "by that factor")                                          \
    X(hot_page, 0.06, 0, 1, "[L]", "of an application's accesses: a large page is hot above that") \
    X(split_gain, 0.05, 0, 1, "[L]", "local accesses that splitting would bring, at the least")    \
    X(split_rounds, 2, 1, 1000, "[L]", "rounds in a row that it would, before it is done")         \
    X(better_local, 0.1, 0, 1, "[L]", "local accesses more: what was done is good")                \
    X(better_imbalance, 0.1, 0, 10, "[L]", "imbalance less: likewise")                             \
    X(worse_local, 0.05, 0, 1, "[L]", "local accesses less: what was done is undone")              \
    X(worse_progress, 0.05, 0, 1, "[H]", "the program is slower by that: likewise")                \
    X(settle_rounds, 3, 1, 1000, "[H]", "rounds after which what was done is judged")              \
    X(ban_rounds, 600, 1, 1e9, "[H]", "rounds that it is not repeated in; doubled each time")      \
    X(owner_share, 0.8, 0.5, 1, "[H]", "of a page's accesses: a node owns it from that on")        \
    X(owner_chance, 0.9, 0.5, 1, "[H]", "how sure that must be, by what is known of other pages")  \
    X(history_rounds, 4, 0.1, 1e6, "[H]", "rounds after which a sample counts half")               \
    X(bounce_moves, 2, 1, 1000, "[H]", "moves of a page: it stays after that, until")              \
    X(bounce_rounds, 8, 1, 1e6, "[H]", "it had one owner for so many rounds, and")                 \
    X(bounce_samples, 16, 1, 65535, "[H]", "that owner alone for so many samples in a row")

struct place_thresholds {
#define PLACE_THRESHOLD_MEMBER(name, value, least, most, source, meaning) double name;
    PLACE_THRESHOLDS(PLACE_THRESHOLD_MEMBER)
#undef PLACE_THRESHOLD_MEMBER
};

struct place_threshold {
    const char *name;
    double value, least, most;
    const char *source, *meaning;
    size_t at; /* its offset in struct place_thresholds */
};

/* In the table's order. */
extern const struct place_threshold place_threshold_rows[];
extern const size_t place_threshold_count;

struct place_thresholds place_thresholds__usual(void);
/* text: "name=value". 0, or -EINVAL with a sentence, and nothing is changed. */
int place_thresholds__set(struct place_thresholds *thresholds, const char *text,
                          struct error *error);

#endif
