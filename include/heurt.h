/* heurt.h: marks in your own source, for heurt to measure. Header only; C and C++.
 *
 *     heurt_begin("parse");  …  heurt_end("parse");     a region; may nest, on one thread
 *     HEURT_REGION("parse");                            from here to the end of the block
 *     for (…) { heurt_iteration("solve", 100);  …  }    every 100 turns of a loop are one
 *     heurt_iteration_end("solve");                     occurrence: for the function that is called
 *                                                       once and holds the whole loop
 *
 *     heurt_object(pool, bytes, "pool");                memory has a name from here on (heurt
 * memory)
 *
 * Names and steps are constants; an object's is read once.  A mark costs one load and a branch that
 * is not taken when nothing records; recording costs a time stamp.  Begin and end of a region must
 * be on the same thread. Places that mark the same name are the same region, also in different
 * files.  Defining HEURT_OFF before the header removes all marks.
 */
#ifndef HEURT_H
#define HEURT_H

#include <stdint.h>

#if defined(HEURT_OFF) || !defined(__linux__) || !defined(__x86_64__) || !defined(__GNUC__)

#define heurt_begin(name) ((void)0)
#define heurt_end(name) ((void)0)
#define HEURT_REGION(name) ((void)0)
#define heurt_iteration(name, step) ((void)0)
#define heurt_iteration_end(name) ((void)0)
#define heurt_object(address, bytes, name) ((void)0)

#else

#ifdef __cplusplus
extern "C" {
#endif

/* One place in the source that marks; id is the runtime's. */
struct heurt_marker {
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t step;
    uint32_t id;
    uint32_t reserved;
};

struct heurt_markers {
    void (*begin)(struct heurt_marker *);
    void (*end)(struct heurt_marker *);
    void (*iteration)(struct heurt_marker *);
    void (*iteration_end)(struct heurt_marker *);
    void (*object)(const void *address, unsigned long bytes, const char *name);
};

/* The gate: one in each executable and library; the runtime finds it by the note and opens it. */
__attribute__((weak, used, visibility("hidden"))) struct heurt_markers *heurt_gate_ = 0;

#ifdef __cplusplus
}
#endif

__asm__(".pushsection .note.heurt,\"a\",@note\n"
        "\t.balign 4\n"
        "\t.long 6, 4, 1\n"
        "\t.asciz \"heurt\"\n"
        "\t.balign 4\n"
        "\t.long heurt_gate_ - .\n"
        "\t.popsection\n");

#define HEURT_MARK_(what, text, turns)                                                          \
    do {                                                                                        \
        struct heurt_markers *heurt_open_ = *(struct heurt_markers *volatile *)&heurt_gate_;    \
        if (__builtin_expect(heurt_open_ != 0, 0)) {                                            \
            static struct heurt_marker heurt_marker_ = {text, __FILE__, __LINE__, turns, 0, 0}; \
            heurt_open_->what(&heurt_marker_);                                                  \
        }                                                                                       \
    } while (0)

#define heurt_begin(name) HEURT_MARK_(begin, name, 1)
#define heurt_end(name) HEURT_MARK_(end, name, 1)
#define heurt_iteration(name, step) HEURT_MARK_(iteration, name, step)
#define heurt_iteration_end(name) HEURT_MARK_(iteration_end, name, 1)

/* Until something else is allocated there, or it is named anew. */
#define heurt_object(address, bytes, name)                                                   \
    do {                                                                                     \
        struct heurt_markers *heurt_open_ = *(struct heurt_markers *volatile *)&heurt_gate_; \
        if (__builtin_expect(heurt_open_ != 0, 0))                                           \
            heurt_open_->object(address, bytes, name);                                       \
    } while (0)

/* Ends the region that HEURT_REGION began, when its block is left. */
static inline __attribute__((unused)) void heurt_leave_(struct heurt_marker *const *marker)
{
    struct heurt_markers *open = *(struct heurt_markers *volatile *)&heurt_gate_;
    if (__builtin_expect(open != 0, 0))
        open->end(*marker);
}

#define HEURT_JOIN_(a, b) a##b
#define HEURT_NAME_(a, b) HEURT_JOIN_(a, b)
#define HEURT_REGION(name)                                                                       \
    static struct heurt_marker HEURT_NAME_(heurt_marker_, __LINE__) = {name, __FILE__, __LINE__, \
                                                                       1,    0,        0};       \
    __attribute__((cleanup(heurt_leave_), unused)) struct heurt_marker *const HEURT_NAME_(       \
        heurt_region_, __LINE__) = &HEURT_NAME_(heurt_marker_, __LINE__);                        \
    do {                                                                                         \
        struct heurt_markers *heurt_open_ = *(struct heurt_markers *volatile *)&heurt_gate_;     \
        if (__builtin_expect(heurt_open_ != 0, 0))                                               \
            heurt_open_->begin(HEURT_NAME_(heurt_region_, __LINE__));                            \
    } while (0)

#endif
#endif
