/* span_stacks.h: how long threads were in which stack: what formats of stacks are made of.
 *
 *     thread ─► function ─► function ─► call ─► lock
 *
 * A tree of stacks, in which each moment of a thread is added to the one that it is in then: as
 * work, or as waiting. So all work and all waiting together are what the threads lived. What is
 * below SPAN_STACKS_DEPTH frames counts in the deepest one that is told. The methods of an exporter
 * but finish are here; export->own is the tree. Memory: SPAN_STACKS_MOST stacks. Private to this
 * room. */
#ifndef HEURT_PRESENT_EXPORT_SPAN_STACKS_H
#define HEURT_PRESENT_EXPORT_SPAN_STACKS_H

#include "base/map.h"
#include "base/vec.h"
#include "present/export/span_exporters.h"

#define SPAN_STACKS_DEPTH 500u
#define SPAN_STACKS_MOST 1000000u
#define SPAN_STACKS_ROOT UINT32_MAX

enum span_frame { SPAN_FRAME_THREAD, SPAN_FRAME_LABEL, SPAN_FRAME_OBJECT, SPAN_FRAME_STATE };
#define SPAN_FRAMES 4

struct span_stack {
    uint32_t parent; /* SPAN_STACKS_ROOT: none */
    uint32_t depth;
    uint32_t frame;                /* enum span_frame in the low two bits, a number above */
    uint32_t recent_frame, recent; /* the child that was looked for last; 0: none was */
    uint64_t work_ns, wait_ns;
    uint64_t count;                 /* occurrences that ended there */
    const struct span_label *label; /* whose time it is; NULL: off the CPU in what is around it */
};

/* One open span of a thread. */
struct stacks_span {
    uint32_t stack, before; /* to which its time goes; what was around it */
    uint64_t work_ns, wait_ns;
};

struct stacks_thread {
    struct vec open; /* struct stacks_span */
    uint32_t root, stack;
    uint64_t since_ns;
    enum component state;
};

/* The least that an occurrence took of its own. */
struct stacks_least {
    bool is_known;
    uint64_t work_ns, wait_ns;
};

struct span_stacks {
    struct vec all; /* struct span_stack */
    struct map children;
    struct vec texts[SPAN_FRAMES]; /* char *: of frames, by number; NULL: there is none */
    struct vec least;              /* struct stacks_least, by label */
    struct stacks_thread *threads;
    bool is_full;
};

void span_stacks__begin(struct span_export *export);
void span_stacks__began(struct span_export *export, uint32_t thread, uint64_t ns);
void span_stacks__ended(struct span_export *export, uint32_t thread, uint64_t ns);
void span_stacks__enter(struct span_export *export, uint32_t thread,
                        const struct span_enter *enter);
void span_stacks__leave(struct span_export *export, uint32_t thread,
                        const struct span_leave *leave);
void span_stacks__state(struct span_export *export, uint32_t thread, uint64_t ns,
                        enum component state);
/* Says what is missing, and frees. */
void span_stacks__free(struct span_export *export);

/* Lost of what ended: what all occurrences need is not, and waits for other threads need not be. */
uint64_t span_stacks__lost(const struct span_stacks *stacks, const struct span_stack *stack);
const char *span_stacks__text(const struct span_stacks *stacks, const struct span_stack *stack);

#define METHODS_OF_STACKS                                                                  \
    .begin = span_stacks__begin, .began = span_stacks__began, .ended = span_stacks__ended, \
    .enter = span_stacks__enter, .leave = span_stacks__leave, .state = span_stacks__state

#endif
