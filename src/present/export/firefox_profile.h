/* firefox_profile.h: what is told of threads, written as a processed profile of the Firefox
 * Profiler.
 *
 * In go samples, markers, stacks and labels of all threads; out comes JSON: fox_profile__begin, a
 * call of fox_profile__thread for each thread, fox_profile__end. Memory: of one thread's tables.
 * Version 47 of the format, which the profiler upgrades to its own. Private to this room. */
#ifndef HEURT_PRESENT_EXPORT_FIREFOX_PROFILE_H
#define HEURT_PRESENT_EXPORT_FIREFOX_PROFILE_H

#include "base/vec.h"
#include "present/export/span_exporters.h"

#define FOX_NONE UINT32_MAX

enum fox_frame_kind { FOX_LABEL, FOX_STATE, FOX_THREAD };
#define FOX_FRAME(kind, number) ((uint32_t)(number) << 2 | (uint32_t)(kind))
#define FOX_FRAME_KIND(frame) ((enum fox_frame_kind)((frame)&3u))
#define FOX_FRAME_NUMBER(frame) ((frame) >> 2)

/* A stack: a frame below others. */
struct fox_node {
    uint32_t parent; /* FOX_NONE: none */
    uint32_t frame;
};

/* The thread is in that stack from then on until the next one. */
struct fox_sample {
    uint64_t ns;
    uint32_t node;
    bool is_on; /* a CPU */
};

struct fox_marker {
    uint64_t from_ns, ns;
    const struct span_label *label;
    const struct span_object *object;  /* NULL: none */
    const struct span_place *by_place; /* NULL: not known */
    uint32_t by;                       /* SPAN_BY_NOBODY: not known */
};

struct fox_thread {
    struct vec samples; /* struct fox_sample */
    struct vec markers; /* struct fox_marker */
    uint64_t from_ns, to_ns;
    bool has_begun;
};

struct fox_profile {
    const struct span_run *run;
    struct vec nodes;  /* struct fox_node: parents before their children */
    struct vec labels; /* const struct span_label *, by number */
    /* Private: what the thread that is written has of these, by number. */
    struct fox_local *local_nodes, *local_frames;
    uint32_t threads; /* that are written */
};

/* nodes and labels are whole then. */
void fox_profile__begin(struct fox_profile *profile, FILE *out);
void fox_profile__thread(struct fox_profile *profile, uint32_t thread,
                         const struct fox_thread *told, FILE *out);
void fox_profile__end(struct fox_profile *profile, FILE *out);

#endif
