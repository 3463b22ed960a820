#include "analysis/events/slow_spans.h"

#include "base/memory.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define NO_WISH 0

struct slow_walk {
    const struct trace *trace;
    const struct slow_wishes *asked;
    uint8_t **wish_of;  /* by process and id / 2: index + 1, or NO_WISH */
    struct vec *result; /* struct slow_span */
    struct vec open;    /* struct open_wish: at the end */
};

struct slow_part {
    const struct slow_walk *walk;
    const uint8_t *wish_of;
    uint32_t ids, thread, serial;
    struct vec open;  /* struct open_wish */
    struct vec found; /* struct slow_span */
};

static const struct slow_wish *wish_at(const struct slow_walk *walk, size_t index)
{
    return VEC_AT(walk->asked->wishes, struct slow_wish, index);
}

static uint8_t wish_for_event(const struct slow_walk *walk, uint32_t id)
{
    const char *name = event__name(id);
    for (size_t i = 0; name && event__is_span(id) && i < walk->asked->wishes->count; i++)
        if (!wish_at(walk, i)->is_function && strcmp(wish_at(walk, i)->name, name) == 0)
            return (uint8_t)(i + 1);
    return NO_WISH;
}

static uint8_t wish_for_function(const struct slow_walk *walk, const char *name)
{
    for (size_t i = 0; i < walk->asked->wishes->count; i++)
        if (wish_at(walk, i)->is_function && fnmatch(wish_at(walk, i)->name, name, 0) == 0)
            return (uint8_t)(i + 1);
    return NO_WISH;
}

static uint8_t *wishes_of(const struct slow_walk *walk, const struct trace_process *process)
{
    uint8_t *wishes = memory__zeroed(process->payload_ids / 2 + 1, 1);
    for (uint32_t id = 2; id < HEURT_EVENT_FUNCTIONS && id < process->payload_ids; id += 2)
        wishes[id / 2] = wish_for_event(walk, id);
    VEC_EACH (function, &process->functions, const struct trace_function)
        if (function->id < process->payload_ids)
            wishes[function->id / 2] = wish_for_function(walk, function->name);
    return wishes;
}

static void *start(struct run *run)
{
    const struct vec *processes = trace__processes(run->trace);
    struct slow_walk *walk = memory__zeroed(1, sizeof *walk);
    walk->trace = run->trace;
    walk->asked = run->options;
    walk->open = VEC_OF(struct open_wish);
    walk->result = memory__zeroed(1, sizeof *walk->result);
    *walk->result = VEC_OF(struct slow_span);
    walk->wish_of = memory__zeroed(processes->count, sizeof *walk->wish_of);
    for (size_t i = 0; i < processes->count; i++)
        walk->wish_of[i] = wishes_of(walk, trace__process_at(run->trace, i));
    return walk;
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    struct slow_walk *walk = self;
    uint32_t process = trace__thread_at(walk->trace, thread)->process;
    struct slow_part *part = memory__zeroed(1, sizeof *part);
    (void)lane;
    *part = (struct slow_part){.walk = walk,
                               .wish_of = walk->wish_of[process],
                               .ids = trace__process_at(walk->trace, process)->payload_ids,
                               .thread = thread,
                               .serial = trace__thread_at(walk->trace, thread)->serial,
                               .open = VEC_OF(struct open_wish),
                               .found = VEC_OF(struct slow_span)};
    VEC_EACH (open, walk->asked->open, struct open_wish)
        if (open->thread == part->serial)
            vec__push(&part->open, open);
    return part;
}

/* The innermost open one of that id, and all in it: their leaves were lost. */
static bool close_span(struct slow_part *part, uint32_t id, uint64_t *start_tick)
{
    for (size_t i = part->open.count; i-- > 0;) {
        const struct open_wish *open = VEC_AT(&part->open, struct open_wish, i);
        if (open->id != id)
            continue;
        *start_tick = open->tick;
        part->open.count = i;
        return true;
    }
    return false;
}

static void event(void *context, const struct event *event)
{
    struct slow_part *part = context;
    uint32_t id = event->id & ~1u;
    uint8_t wish = id < part->ids ? part->wish_of[id / 2] : NO_WISH;
    const struct slow_wishes *asked = part->walk->asked;
    if (wish == NO_WISH || event->tick <= asked->after_tick || event->tick > asked->until_tick)
        return;
    struct slow_span span = {.wish = wish - 1u, .end_tick = event->tick, .thread = part->thread};
    if (!(event->id & 1)) {
        vec__push(&part->open, &(struct open_wish){part->serial, id, event->tick});
    } else if (close_span(part, id, &span.start_tick) && event->tick > span.start_tick &&
               trace__ns(part->walk->trace, event->tick - span.start_tick) >
                   wish_at(part->walk, span.wish)->least_ns) {
        vec__push(&part->found, &span);
    }
}

static void join(void *self, uint32_t thread, void *context)
{
    struct slow_walk *walk = self;
    struct slow_part *part = context;
    (void)thread;
    VEC_EACH (span, &part->found, struct slow_span)
        vec__push(walk->result, span);
    VEC_EACH (open, &part->open, struct open_wish)
        vec__push(&walk->open, open);
    vec__free(&part->open);
    vec__free(&part->found);
    free(part);
}

static int by_end(const void *a, const void *b)
{
    const struct slow_span *x = a, *y = b;
    return ORDER(x->end_tick, y->end_tick) ?: ORDER(x->thread, y->thread);
}

static void *finish(void *self)
{
    struct slow_walk *walk = self;
    struct vec *result = walk->result;
    for (size_t i = 0; i < trace__processes(walk->trace)->count; i++)
        free(walk->wish_of[i]);
    free(walk->wish_of);
    vec__free(walk->asked->open);
    *walk->asked->open = walk->open;
    free(walk);
    vec__sort(result, by_end);
    return result;
}

static void free_result(void *result)
{
    vec__free(result);
    free(result);
}

const struct analysis slow_spans_analysis = {
    .name = "slow spans",
    .walk = WALK_THREADS,
    .start = start,
    .thread = thread,
    .event = event,
    .join = join,
    .finish = finish,
    .free = free_result,
};

bool slow_spans__has_event(const char *name)
{
    for (uint32_t id = 2; id < HEURT_EVENT_FUNCTIONS; id += 2)
        if (event__is_span(id) && event__name(id) && strcmp(event__name(id), name) == 0)
            return true;
    return false;
}
