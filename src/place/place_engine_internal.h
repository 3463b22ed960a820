/* place_engine_internal.h: what the engine knows, for its own files:
 *
 *     place_engine.c   a round: what applications are like, what is decided
 *     place_pages.c    what samples tell of pages */
#ifndef HEURT_PLACE_PLACE_ENGINE_INTERNAL_H
#define HEURT_PLACE_PLACE_ENGINE_INTERNAL_H

#include "place/place_engine.h"

/* Of pairs of samples at one page: those from one node. Unbiased also where pages have few. */
struct place_pairs {
    double same, all;
};

/* What was done to an application, until it is judged. */
struct place_trial {
    bool is_open;
    bool did[PLACE_DECISIONS];
    uint32_t since; /* round */
    struct place_metrics before;
    double progress;
};

struct known_application {
    uint32_t id;
    struct place_trial trial;
    uint32_t banned_until[PLACE_DECISIONS], bans[PLACE_DECISIONS]; /* rounds; how often */
    double requests;                                               /* for copies, until now */
    struct place_pairs pairs;       /* of all its pages as they are */
    struct place_pairs huge, small; /* of large pages, and of the small ones that they would be */
    uint32_t split_rounds;          /* in a row, that splitting would bring something */
    double progress, scatter;       /* means over rounds; NaN: not known */
    /* Of this round: */
    const struct place_application *told;
    struct place_metrics metrics;
    double loads[PLACE_ENGINE_NODES], users[PLACE_ENGINE_NODES];
    double huge_local, huge_samples;
    bool splits, migrates; /* has begun to: until enough is local */
    double owner_samples;  /* that tell of a page whose it is */
    struct place_finding *finding;
};

/* A page of 4 KiB, or of 2 MiB. */
struct tracked_page {
    uint32_t application;
    uint32_t moved, steady; /* round of the last move; since when it is this owner's alone */
    uint64_t page;
    float total, writes;          /* samples, aged */
    uint16_t node, before, owner; /* where it is; was before the last move; who uses it most */
    uint16_t last, run;           /* who used it last, with how many samples in a row */
    uint8_t flags, moves;
    bool is_moved : 1, is_copied : 1, is_advised : 1, is_never_copied : 1,
        was_written : 1; /* in this round */
};

struct place_engine {
    uint32_t nodes, round;
    struct place_thresholds thresholds;
    uint64_t chance;
    struct vec pages;        /* struct tracked_page, by application and page */
    struct vec counts;       /* float: for each page, samples by node that they are from, aged */
    struct vec applications; /* struct known_application, by id */
};

struct known_application *place_engine__application(const struct place_engine *self, uint32_t id);
/* Ages what is known, adds the samples of a round to pages and applications, and forgets. */
void place_pages__take(struct place_engine *self, const struct place_facts *facts);
static inline float *place_engine__counts(const struct place_engine *self, size_t page)
{
    return VEC_AT(&self->counts, float, page * self->nodes);
}

#endif
