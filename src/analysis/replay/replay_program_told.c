/* replay_program_told.c: threads that run until they are told to end.
 *
 * One that refreshes, polls or spins until a flag is set does less when the others are done sooner.
 * No trace tells of flags.  What it tells: who waited for the thread's end had to wait for no more
 * than a moment, so the thread ended because that one was about to wait; it does what no other
 * thread does, so it has no share of common work; and it neither waits for what others hand it nor
 * hands them anything, so nothing that it does is owed to them. */
#include "analysis/replay/internal.h"
#include "base/memory.h"

#include <stdlib.h>

#define SOON_PART 25 /* of its life */

#define NOBODY UINT32_MAX

void program__was_joined(struct replay_program *program, uint32_t thread, uint32_t by,
                         uint64_t since)
{
    const struct trace_thread *told = trace__thread_at(program->trace, thread);
    uint64_t life = told->end_tick - told->start_tick;
    bool is_soon = told->end_tick > since && told->end_tick - since <= life / SOON_PART;
    program->told_by[thread] = is_soon ? by : NOBODY;
}

/* By class: the number of the place in the code that it is of, whichever object was used there. */
static uint32_t *places_of_classes(const struct replay_program *program)
{
    struct map numbers = {0};
    uint32_t *places = memory__zeroed(program->class_count, sizeof *places);
    for (uint32_t i = 0; i < program->class_count; i++) {
        if (!program->classes[i])
            continue;
        const struct callsite *at = &program->classes[i]->what.at;
        const uint64_t key[4] = {at->process, at->kind, at->site, at->address};
        places[i] = (uint32_t)map__put(&numbers, key, sizeof key, numbers.count);
    }
    map__free(&numbers);
    return places;
}

/* Which thread alone is at a place. */
struct doers {
    uint32_t *places; /* by class */
    uint32_t *alone;  /* by place: a thread and 1; 0: none, NOBODY: several */
};

static const uint32_t *place_of(const struct replay_program *program, const struct doers *doers,
                                const struct row_op *op)
{
    return op->class < program->class_count ? &doers->places[op->class] : NULL;
}

static void find_doers(const struct replay_program *program, struct doers *doers)
{
    doers->places = places_of_classes(program);
    doers->alone = memory__zeroed(program->class_count, sizeof *doers->alone);
    for (uint32_t i = 0; i < program->thread_count; i++) {
        VEC_EACH (op, &program->rows[i], struct row_op) {
            const uint32_t *place = place_of(program, doers, op);
            if (place)
                doers->alone[*place] =
                    doers->alone[*place] && doers->alone[*place] != i + 1 ? NOBODY : i + 1;
        }
    }
}

/* Whether it is at places, at all of them alone, and nothing passes between it and others but locks
 * and its own beginning and end. */
static bool is_apart(const struct replay_program *program, const struct doers *doers,
                     uint32_t thread)
{
    bool any = false;
    VEC_EACH (op, &program->rows[thread], struct row_op) {
        bool is_token = op->kind == REPLAY_POST || op->kind == REPLAY_AWAIT;
        bool hands = op->kind == REPLAY_TAKE || op->kind == REPLAY_GIVE || op->kind == REPLAY_MEET;
        const uint32_t *place = place_of(program, doers, op);
        if (hands || (is_token && !row_op__is_own_token(program, thread, op)) ||
            (place && doers->alone[*place] != thread + 1))
            return false;
        any |= place != NULL;
    }
    return any;
}

uint32_t replay_program__told(const struct replay_program *program)
{
    uint32_t count = 0;
    for (size_t i = 0; i < program->thread_count; i++)
        count += program->told_by[i] != NOBODY;
    return count;
}

void program__find_told(struct replay_program *program)
{
    struct doers doers;
    find_doers(program, &doers);
    for (uint32_t i = 0; i < program->thread_count; i++)
        if (program->told_by[i] != NOBODY && !is_apart(program, &doers, i))
            program->told_by[i] = NOBODY;
    free(doers.places);
    free(doers.alone);
}
