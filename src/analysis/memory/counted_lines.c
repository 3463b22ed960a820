/* counted_lines.c: which lines threads share, as counted accesses tell it. */
#include "analysis/memory/internal.h"

#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

/* A thread that is at a line more rarely, or writes there more rarely, in parts of all that is done
 * there, is there by the way: who makes an object, or looks at it in the end. */
#define USES_PART 100

/* What a thread does at a line, bit by byte. */
struct line_use {
    uint32_t thread;
    uint64_t reads, writes;
    uint64_t read_bytes, written_bytes;
};

static int by_line(const void *a, const void *b)
{
    const struct counted_at *left = a, *right = b;
    return ORDER(left->process, right->process) ?: ORDER(left->line, right->line)
               ?: ORDER(left->generation, right->generation)
               ?: ORDER(left->thread, right->thread);
}

static bool is_same_line(const struct counted_at *one, const struct counted_at *other)
{
    return one->process == other->process && one->line == other->line &&
           one->generation == other->generation;
}

static uint64_t bytes_of(const struct counted_at *at)
{
    uint64_t from_first = UINT64_MAX << at->first;
    return at->behind < CACHE_LINE_BYTES ? from_first & ~(UINT64_MAX << at->behind) : from_first;
}

/* Rows of one thread stand side by side. */
static struct vec uses_of(const struct counted_at *first, size_t count)
{
    struct vec uses = VEC_OF(struct line_use);
    struct line_use *use = NULL;
    for (const struct counted_at *at = first; at < first + count; at++) {
        if (!use || use->thread != at->thread) {
            use = vec__push(&uses, NULL);
            *use = (struct line_use){.thread = at->thread};
        }
        if (access__reads(at->access)) {
            use->reads += at->count;
            use->read_bytes |= bytes_of(at);
        }
        if (access__writes(at->access)) {
            use->writes += at->count;
            use->written_bytes |= bytes_of(at);
        }
    }
    return uses;
}

/* Leaves those that are there for it. */
static void drop_passers(struct vec *uses)
{
    uint64_t all = 0;
    size_t kept = 0;
    VEC_EACH (use, uses, const struct line_use)
        all += use->reads + use->writes;
    VEC_EACH (use, uses, struct line_use) {
        if ((use->reads + use->writes) * USES_PART < all)
            continue;
        if (use->writes * USES_PART < all)
            use->written_bytes = 0;
        *VEC_AT(uses, struct line_use, kept++) = *use;
    }
    uses->count = kept;
}

static enum counted_kind kind_of(const struct vec *uses)
{
    uint64_t written = 0;
    VEC_EACH (use, uses, const struct line_use)
        written |= use->written_bytes;
    if (uses->count < 2)
        return COUNTED_PRIVATE;
    if (!written)
        return COUNTED_READ_ONLY;
    VEC_EACH (one, uses, const struct line_use)
        VEC_EACH (other, uses, const struct line_use)
            if (one != other && one->written_bytes & (other->written_bytes | other->read_bytes))
                return COUNTED_TRUE_SHARING;
    return COUNTED_FALSE_SHARING;
}

void counted_lines__judge(struct vec *all, struct vec *objects)
{
    vec__sort(all, by_line);
    const struct counted_at *rows = all->items;
    for (size_t first = 0, end; first < all->count; first = end) {
        for (end = first + 1; end < all->count && is_same_line(&rows[first], &rows[end]);)
            end++;
        struct vec uses = uses_of(&rows[first], end - first);
        drop_passers(&uses);
        enum counted_kind kind = kind_of(&uses);
        vec__free(&uses);
        for (size_t i = first; i < end; i++)
            VEC_AT(objects, struct memory_object, rows[i].object)->counted.by_kind[kind] +=
                rows[i].count;
    }
}

enum counted_kind counted_object__kind(const struct counted_object *object)
{
    enum counted_kind most = COUNTED_PRIVATE;
    for (enum counted_kind kind = 0; kind < COUNTED_KINDS; kind++)
        if (object->by_kind[kind] > object->by_kind[most])
            most = kind;
    return most;
}
