#include "lock_programs.h"

#include "base/memory.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS LOCK_PROGRAM_THREADS
#define LOCKS LOCK_PROGRAM_LOCKS
#define STRIDE 8 /* a thread's ticks are its number modulo this: no two threads share one */
#define NONE (-1)

enum op_kind { WORK, ACQUIRE, RELEASE, CREATE, TELL, JOIN };

struct op {
    enum op_kind kind;
    int what; /* ticks, lock or thread */
};

struct sim_thread {
    struct vec ops; /* struct op */
    size_t place;
    uint64_t tick; /* of its next step */
    bool ready, waits, done;
    int creator, joined_by;
    char *text;
    size_t text_bytes;
    FILE *file; /* writes to text */
};

struct sim_lock {
    int owner;
    struct vec queue; /* int: threads */
};

struct sim {
    uint64_t random;
    bool hands_over; /* a release gives the lock to the first that waits; else it is free */
    int threads, locks;
    struct sim_thread thread[THREADS];
    struct sim_lock lock[LOCKS];
};

static unsigned below(struct sim *sim, unsigned limit)
{
    sim->random ^= sim->random << 13;
    sim->random ^= sim->random >> 7;
    sim->random ^= sim->random << 17;
    return (unsigned)((sim->random >> 20) % limit);
}

/* ---- what the threads are to do -------------------------------------------------------------- */

static void add_op(struct sim *sim, int thread, enum op_kind kind, int what)
{
    struct op op = {kind, what};
    vec__push(&sim->thread[thread].ops, &op);
}

static void add_work(struct sim *sim, int thread)
{
    add_op(sim, thread, WORK, (int)below(sim, below(sim, 4) ? 100 : 1000));
}

/* Locks are nested by number, so that nobody waits for ever. */
static void add_sections(struct sim *sim, int thread)
{
    int held[LOCKS], count = 0;
    for (int lock = (int)below(sim, (unsigned)sim->locks); lock < sim->locks;
         lock += 1 + (int)below(sim, 3)) {
        add_op(sim, thread, ACQUIRE, lock);
        held[count++] = lock;
        add_work(sim, thread);
        if (count && below(sim, 3) == 0) /* not always the last one first */
            add_op(sim, thread, RELEASE, held[--count]);
        if (below(sim, 2))
            break;
    }
    for (int i = 0; i < count; i++) {
        add_op(sim, thread, RELEASE, held[i]);
        if (below(sim, 2))
            add_work(sim, thread);
    }
}

static void add_children(struct sim *sim, int creator, enum op_kind kind)
{
    for (int i = creator + 1; i < sim->threads; i++) {
        if (sim->thread[i].creator != creator || (kind == JOIN && below(sim, 3) == 0))
            continue;
        if (below(sim, 2))
            add_work(sim, creator);
        add_op(sim, creator, kind, i);
    }
}

static void make_program(struct sim *sim)
{
    for (int i = 0; i < sim->threads; i++) {
        struct sim_thread *thread = &sim->thread[i];
        *thread = (struct sim_thread){.ops = VEC_OF(struct op), .joined_by = NONE};
        thread->creator = i ? (int)below(sim, (unsigned)i) : NONE;
        thread->file = open_memstream(&thread->text, &thread->text_bytes);
    }
    for (int i = 0; i < sim->threads; i++) {
        unsigned first = below(sim, 4), second = below(sim, 30);
        for (unsigned n = 0; n < first; n++)
            add_sections(sim, i);
        add_children(sim, i, CREATE);
        for (unsigned n = 0; n < second; n++) {
            add_work(sim, i);
            add_sections(sim, i);
        }
        add_children(sim, i, JOIN);
        add_work(sim, i);
    }
}

/* ---- running them ---------------------------------------------------------------------------- */

/* The thread goes on so many ticks after that one. */
static void go_on_at(struct sim *sim, int index, uint64_t tick, unsigned ticks)
{
    uint64_t at = tick + ticks;
    at += ((uint64_t)index + STRIDE - at % STRIDE) % STRIDE;
    sim->thread[index].tick = at;
    sim->thread[index].ready = true;
}

__attribute__((format(printf, 3, 4))) static void say(struct sim *sim, int index,
                                                      const char *format, ...)
{
    va_list arguments;
    fprintf(sim->thread[index].file, "%" PRIu64 " ", sim->thread[index].tick);
    va_start(arguments, format);
    vfprintf(sim->thread[index].file, format, arguments);
    va_end(arguments);
    fputc('\n', sim->thread[index].file);
}

static void begin(struct sim *sim, int index, uint64_t tick, unsigned ticks)
{
    struct sim_thread *thread = &sim->thread[index];
    go_on_at(sim, index, tick, ticks);
    fprintf(thread->file, "thread %d t%d\n", index, index);
    say(sim, index, "thread_start %#x %#x 0x400000", 0x11 + index,
        thread->creator == NONE ? UINT32_MAX : (unsigned)thread->creator);
}

/* False: it must wait. */
static bool acquire(struct sim *sim, int index, int number)
{
    struct sim_thread *thread = &sim->thread[index];
    struct sim_lock *lock = &sim->lock[number];
    if (lock->owner == NONE || lock->owner == index) {
        lock->owner = index;
        if (thread->waits)
            say(sim, index, "leave lock_wait 0");
        else
            say(sim, index, "lock_acquired 0x%d/0 %#x", index + 1, 0x70 + number);
        thread->waits = false;
        return true;
    }
    if (!thread->waits)
        say(sim, index, "lock_wait 0x%d/0 %#x", index + 1, 0x70 + number);
    thread->waits = true;
    thread->ready = false;
    vec__push(&lock->queue, &index);
    return false;
}

static void release(struct sim *sim, int index, int number)
{
    struct sim_lock *lock = &sim->lock[number];
    say(sim, index, "lock_released 0x%d/0 %#x", index + 1, 0x70 + number);
    lock->owner = NONE;
    if (!lock->queue.count)
        return;
    int first = *VEC_AT(&lock->queue, int, 0);
    for (size_t i = 1; i < lock->queue.count; i++)
        *VEC_AT(&lock->queue, int, i - 1) = *VEC_AT(&lock->queue, int, i);
    lock->queue.count--;
    if (sim->hands_over)
        lock->owner = first;
    go_on_at(sim, first, sim->thread[index].tick, 1 + below(sim, 60));
}

/* The new thread begins after its creator has told so, or before. */
static void create(struct sim *sim, int index, int child)
{
    struct sim_thread *thread = &sim->thread[index];
    if (below(sim, 2)) {
        say(sim, index, "thread_created 0x1 %#x", 0x11 + child);
        begin(sim, child, thread->tick, 1 + below(sim, 300));
        return;
    }
    begin(sim, child, thread->tick, 1);
    VEC_AT(&thread->ops, struct op, thread->place)->kind = TELL;
    thread->place--; /* it tells when it goes on */
    go_on_at(sim, index, thread->tick, 20 + below(sim, 60));
}

static bool join(struct sim *sim, int index, int child)
{
    struct sim_thread *thread = &sim->thread[index];
    if (!thread->waits)
        say(sim, index, "join 0x1 %#x", 0x11 + child);
    thread->waits = true;
    if (!sim->thread[child].done) {
        sim->thread[child].joined_by = index;
        thread->ready = false;
        return false;
    }
    say(sim, index, "leave join 0");
    thread->waits = false;
    return true;
}

static void end(struct sim *sim, int index)
{
    struct sim_thread *thread = &sim->thread[index];
    say(sim, index, "thread_end 0 0");
    thread->done = true;
    thread->ready = false;
    if (thread->joined_by != NONE)
        go_on_at(sim, thread->joined_by, thread->tick, 1 + below(sim, 40));
}

static void step(struct sim *sim, int index)
{
    struct sim_thread *thread = &sim->thread[index];
    if (thread->place == thread->ops.count) {
        end(sim, index);
        return;
    }
    struct op op = *VEC_AT(&thread->ops, struct op, thread->place);
    unsigned ticks = below(sim, 3); /* 0: two things happen at one tick */
    if (op.kind == WORK)
        ticks = (unsigned)op.what;
    else if (op.kind == RELEASE)
        release(sim, index, op.what);
    else if (op.kind == CREATE)
        create(sim, index, op.what);
    else if (op.kind == TELL)
        say(sim, index, "thread_created 0x1 %#x", 0x11 + op.what);
    else if (op.kind == ACQUIRE ? !acquire(sim, index, op.what) : !join(sim, index, op.what))
        return;
    thread->place++;
    go_on_at(sim, index, thread->tick, ticks);
}

/* The ready thread that is the earliest; NONE: all are done. */
static int earliest(const struct sim *sim)
{
    int found = NONE;
    for (int i = 0; i < sim->threads; i++) {
        const struct sim_thread *thread = &sim->thread[i];
        if (thread->ready && (found == NONE || thread->tick < sim->thread[found].tick))
            found = i;
    }
    return found;
}

static char *text_of(struct sim *sim)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *all = open_memstream(&text, &bytes);
    for (int i = 0; i < sim->threads; i++) {
        struct sim_thread *thread = &sim->thread[i];
        fclose(thread->file);
        fputs(thread->text, all);
        free(thread->text);
        vec__free(&thread->ops);
    }
    fclose(all);
    return text;
}

char *lock_program__trace(uint64_t seed)
{
    struct sim sim = {.random = (seed + 1) * 0x9e3779b97f4a7c15ull};
    sim.hands_over = below(&sim, 2);
    sim.threads = 2 + (int)below(&sim, THREADS - 1);
    sim.locks = 1 + (int)below(&sim, LOCKS);
    for (int i = 0; i < sim.locks; i++)
        sim.lock[i] = (struct sim_lock){.owner = NONE, .queue = VEC_OF(int)};
    make_program(&sim);
    begin(&sim, 0, 1000, 0);
    for (int index; (index = earliest(&sim)) != NONE;)
        step(&sim, index);
    for (int i = 0; i < sim.locks; i++)
        vec__free(&sim.lock[i].queue);
    return text_of(&sim);
}
