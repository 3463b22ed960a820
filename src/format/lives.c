/* lives.c: what the recorder's log of the kernel's records tells of threads: their lives.
 *
 *     KERNEL chunks ──► runs ──► one life a thread ──► the thread that recorded itself under that
 *                                                      tid then, or a thread of its own */
#include "base/map.h"
#include "base/memory.h"
#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

/* ---- from the file --------------------------------------------------------------------------- */

struct life_key {
    uint32_t pid, tid;
    uint64_t start_tick;
};

static void add_part(struct trace *trace, struct map *lives, uint32_t pid, uint32_t tid,
                     const struct heurt_life *life, struct life_part part)
{
    const struct life_key key = {pid, tid, life->start_tick};
    uint64_t index = map__put(lives, &key, sizeof key, trace->lives.count);
    if (index == trace->lives.count)
        *(struct trace_life *)vec__push(&trace->lives, NULL) =
            (struct trace_life){.pid = pid, .tid = tid, .parts = VEC_OF(struct life_part)};
    struct trace_life *into = VEC_AT(&trace->lives, struct trace_life, index);
    into->life = *life;
    into->life.name[sizeof into->life.name - 1] = 0;
    if (into->life.end_tick < into->life.start_tick)
        into->life.end_tick = into->life.start_tick;
    vec__push(&into->parts, &part);
}

static void read_runs(struct trace *trace, struct map *lives, const struct heurt_chunk *chunk)
{
    const char *at = (const char *)(chunk + 1), *end = trace__chunk_end(trace, chunk);
    while ((size_t)(end - at) >= sizeof(struct heurt_run)) {
        const struct heurt_run *run = (const struct heurt_run *)at;
        if (!run->bytes)
            return;
        if (run->bytes % 8 || run->bytes < sizeof *run || run->bytes > (size_t)(end - at)) {
            trace__mark_damaged(trace, chunk);
            return;
        }
        add_part(trace, lives, run->pid, run->tid, &run->life, (struct life_part){chunk, run});
        at += run->bytes;
    }
}

void trace__read_lives(struct trace *trace, const struct vec *chunks)
{
    struct map lives = {0};
    _Static_assert(sizeof(struct heurt_life) <= sizeof((struct heurt_chunk *)0)->reserved,
                   "a packed chunk's header has room for a life");
    VEC_EACH (place, chunks, const struct heurt_chunk *) {
        const struct heurt_chunk *chunk = *place;
        if (trace__is_packed(trace, chunk)) {
            struct heurt_life life;
            memcpy(&life, chunk->reserved, sizeof life);
            add_part(trace, &lives, chunk->pid, chunk->tid, &life, (struct life_part){chunk, NULL});
        } else {
            read_runs(trace, &lives, chunk);
        }
    }
    map__free(&lives);
}

/* ---- whose lives they are -------------------------------------------------------------------- */

/* The clocks of both agree to less than that; nobody gets a tid again so soon. */
#define CLOCKS_DIFFER_NS 1000000u

struct joining {
    struct trace *trace;
    uint64_t slack; /* ticks */
    bool *taken;    /* by life */
    uint32_t next_serial;
};

static int by_task(const void *a, const void *b)
{
    const struct trace_life *x = a, *y = b;
    int order = ORDER(x->pid, y->pid) ?: ORDER(x->tid, y->tid);
    return order ?: ORDER(x->life.start_tick, y->life.start_tick);
}

/* The life of that tid which went on at that tick, or NULL. */
static const struct trace_life *find_life(const struct joining *joining, uint32_t pid, uint32_t tid,
                                          uint64_t tick)
{
    const struct vec *lives = &joining->trace->lives;
    const struct trace_life wanted = {
        .pid = pid, .tid = tid, .life = {.start_tick = tick + joining->slack}};
    size_t low = VEC_FIRST(one, lives, struct trace_life, by_task(one, &wanted) > 0);
    if (low == 0)
        return NULL;
    const struct trace_life *life = VEC_AT(lives, struct trace_life, low - 1);
    bool is_its =
        life->pid == pid && life->tid == tid && life->life.end_tick + joining->slack >= tick;
    return is_its ? life : NULL;
}

/* Whether another program took the image's place, by an exec that nobody recorded. */
static bool was_replaced(const struct joining *joining, const struct trace_life *main_life,
                         uint64_t image_tick)
{
    return main_life && main_life->life.exec_tick > image_tick + joining->slack;
}

/* Whether another program that was recorded took the image's place: a shell's child runs it within
 * less than clocks differ. */
static bool has_successor(const struct joining *joining, const struct trace_process *image,
                          const struct trace_life *life)
{
    VEC_EACH (process, &joining->trace->processes, struct trace_process)
        if (process->pid == image->pid && process->tick > image->tick &&
            process->tick <= life->life.end_tick)
            return true;
    return false;
}

static void join_thread(struct joining *joining, struct trace_thread *thread)
{
    const struct trace_life *life =
        find_life(joining, thread->pid, thread->tid, thread->start_tick);
    if (!life || thread->aggregate)
        return;
    const struct trace_process *process =
        VEC_AT(&joining->trace->processes, struct trace_process, thread->process);
    joining->taken[life - (struct trace_life *)joining->trace->lives.items] = true;
    thread->life = life;
    if (!*thread->name)
        thread->name = life->life.name;
    if (thread->ended && thread->runnable_ns == UINT64_MAX)
        thread->runnable_ns = life->life.runnable_ns;
    if (thread->ended || was_replaced(joining, life, process->tick) ||
        has_successor(joining, process, life))
        return;
    if (thread->end_tick < life->life.end_tick)
        thread->end_tick = life->life.end_tick;
    thread->cpu_ns = life->life.cpu_ns;
    thread->runnable_ns = life->life.runnable_ns;
}

/* The image that a thread belongs to which recorded nothing itself: the last one of its process
 * that began before it did; of a forked process' first thread, the first. */
static const struct trace_process *image_of(const struct joining *joining,
                                            const struct trace_life *life)
{
    const struct trace_process *image = NULL;
    VEC_EACH (process, &joining->trace->processes, struct trace_process) {
        if (process->pid != life->pid || process->tick > life->life.end_tick)
            continue;
        bool began = process->tick <= life->life.start_tick + joining->slack;
        if (!image || (began && process->tick > image->tick))
            image = process;
    }
    return image;
}

static void add_thread(struct joining *joining, const struct trace_life *life)
{
    struct trace *trace = joining->trace;
    const struct trace_process *image = image_of(joining, life);
    if (!image)
        return; /* of a program that was not recorded */
    const struct trace_life *main_life = find_life(joining, life->pid, life->pid, image->tick);
    bool replaced = was_replaced(joining, main_life, image->tick);
    uint64_t end = life->life.end_tick;
    if (replaced && life->life.start_tick >= main_life->life.exec_tick)
        return;
    if (replaced && end > main_life->life.exec_tick)
        end = main_life->life.exec_tick;
    *(struct trace_thread *)vec__push(&trace->threads, NULL) = (struct trace_thread){
        .serial = joining->next_serial++,
        .process = (uint32_t)(image - (const struct trace_process *)trace->processes.items),
        .pid = life->pid,
        .tid = life->tid,
        .name = life->life.name,
        .chunks = VEC_OF(const struct heurt_chunk *),
        .start_tick = life->life.start_tick,
        .end_tick = end,
        .ended = life->life.flags & HEURT_LIFE_ENDED && end == life->life.end_tick,
        .cpu_ns = life->life.cpu_ns,
        .runnable_ns = life->life.runnable_ns,
        .life = life,
    };
}

static int by_start(const void *a, const void *b)
{
    const struct trace_life *x = *(const struct trace_life *const *)a;
    const struct trace_life *y = *(const struct trace_life *const *)b;
    return ORDER(x->life.start_tick, y->life.start_tick) ?: ORDER(x->tid, y->tid);
}

static void add_threads(struct joining *joining)
{
    struct vec others = VEC_OF(const struct trace_life *);
    VEC_EACH (life, &joining->trace->lives, struct trace_life)
        if (!joining->taken[life - (struct trace_life *)joining->trace->lives.items])
            vec__push(&others, &(const struct trace_life *){life});
    vec__sort(&others, by_start);
    VEC_EACH (life, &others, const struct trace_life *)
        add_thread(joining, *life);
    vec__free(&others);
}

void trace__join_lives(struct trace *trace)
{
    struct joining joining = {.trace = trace, .slack = trace__ticks(trace, CLOCKS_DIFFER_NS)};
    if (!trace->lives.count)
        return;
    vec__sort(&trace->lives, by_task);
    joining.taken = memory__zeroed(trace->lives.count, sizeof *joining.taken);
    VEC_EACH (thread, &trace->threads, struct trace_thread) {
        join_thread(&joining, thread);
        joining.next_serial = thread->serial + 1;
    }
    add_threads(&joining);
    free(joining.taken);
}
