/* What must hold for any program, tried on random ones. */
#include "analysis/replay/replay.h"
#include "base/memory.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PROGRAMS = 400, THREADS_MOST = 9, WAKE = 7, SLICE = 100, TOKENS = 200 };

/* Programs are composed of blocks in an order in which they can be done one after another, so that
 * no order of the threads is a deadlock: sections (nested ones in the order of the locks), tokens
 * that are awaited after they were posted, barriers for all threads. */
enum block { BLOCK_WORK, BLOCK_DELAY, BLOCK_SECTION, BLOCK_SEMAPHORE, BLOCK_TOKEN, BLOCK_BARRIER };
enum {
    BLOCKS = 6,
    BLOCKS_ALL = (1 << BLOCKS) - 1,
    BLOCKS_ALONE = 1 << BLOCK_WORK | 1 << BLOCK_DELAY
};
enum { MUTEX, READERS, SPIN, SEMAPHORE, BARRIER, OBJECTS };

struct program {
    uint64_t random;
    unsigned blocks; /* a bit a kind that it may have */
    struct replay_object objects[OBJECTS];
    struct replay_model model;
    struct vec rows[THREADS_MOST]; /* struct replay_op */
    uint32_t posted;
};

struct reading {
    struct replay_source source;
    const struct program *program;
    size_t next[THREADS_MOST];
};

static bool next_of_reading(struct replay_source *source, uint32_t thread, struct replay_op *op)
{
    struct reading *reading = (struct reading *)source;
    const struct vec *row = &reading->program->rows[thread];
    if (reading->next[thread] == row->count)
        return false;
    *op = *VEC_AT(row, struct replay_op, reading->next[thread]++);
    return true;
}

static struct replay_result replay(const struct program *program)
{
    struct reading reading = {.source.next = next_of_reading, .program = program};
    struct replay_result result;
    replay__run(&program->model, &reading.source, &result);
    return result;
}

static uint32_t below(struct program *program, uint32_t limit)
{
    program->random = program->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(program->random >> 33) % limit;
}

static void add(struct program *program, uint32_t thread, uint32_t kind, uint32_t object,
                uint64_t ticks)
{
    struct replay_op op = {.ticks = ticks, .object = object, .kind = kind};
    vec__push(&program->rows[thread], &op);
}

static void add_section(struct program *program, uint32_t thread)
{
    uint32_t outer = below(program, SPIN + 1), inner = below(program, SPIN + 1);
    uint32_t how = outer == READERS && below(program, 3) ? REPLAY_SHARE : REPLAY_ACQUIRE;
    add(program, thread, how, outer, below(program, 50));
    if (inner > outer) {
        add(program, thread, REPLAY_ACQUIRE, inner, below(program, 50));
        add(program, thread, REPLAY_RELEASE, inner, below(program, 50));
    }
    add(program, thread, REPLAY_RELEASE, outer, below(program, 200));
}

/* Posted by the thread, awaited by others, some of which will have been earlier. */
static void add_token(struct program *program, uint32_t thread)
{
    if (program->posted == TOKENS)
        return;
    add(program, thread, REPLAY_POST, program->posted, below(program, 100));
    for (uint32_t other = 0; other < program->model.thread_count; other++)
        if (other != thread && below(program, 2))
            add(program, other, REPLAY_AWAIT, program->posted, below(program, 100));
    program->posted++;
}

static void add_block(struct program *program, uint32_t thread)
{
    enum block block = below(program, BLOCKS);
    if (!(program->blocks >> block & 1))
        block = BLOCK_WORK;
    switch (block) {
    case BLOCK_WORK:
        add(program, thread, REPLAY_WORK, 0, below(program, 300));
        break;
    case BLOCK_DELAY:
        add(program, thread, REPLAY_DELAY, 0, below(program, 300));
        break;
    case BLOCK_SECTION:
        add_section(program, thread);
        break;
    case BLOCK_SEMAPHORE:
        add(program, thread, REPLAY_TAKE, SEMAPHORE, below(program, 100));
        add(program, thread, REPLAY_GIVE, SEMAPHORE, below(program, 100));
        break;
    case BLOCK_TOKEN:
        add_token(program, thread);
        break;
    case BLOCK_BARRIER:
        for (uint32_t i = 0; i < program->model.thread_count; i++)
            add(program, i, REPLAY_MEET, BARRIER, below(program, 100));
        break;
    }
}

/* The same one for the same number. */
static struct program *write_program(uint64_t number, unsigned blocks)
{
    struct program *program = memory__zeroed(1, sizeof *program);
    program->random = number * 0x9e3779b97f4a7c15u + 1;
    program->blocks = blocks;
    below(program, 2);
    uint32_t threads = 1 + below(program, THREADS_MOST);
    program->objects[MUTEX] = (struct replay_object){.kind = REPLAY_LOCK, .wake_ticks = WAKE};
    program->objects[READERS] = program->objects[MUTEX];
    program->objects[SPIN] = (struct replay_object){.kind = REPLAY_LOCK, .spins = true};
    program->objects[SEMAPHORE] = (struct replay_object){
        .kind = REPLAY_SEMAPHORE, .initial = 1 + below(program, 2), .wake_ticks = WAKE};
    program->objects[BARRIER] = (struct replay_object){.kind = REPLAY_BARRIER,
                                                       .parties = threads,
                                                       .wake_ticks = WAKE,
                                                       .spins = below(program, 4) == 0};
    program->model = (struct replay_model){.cpus = 1 + below(program, threads + 1),
                                           .slice_ticks = SLICE,
                                           .token_ticks = WAKE,
                                           .thread_count = threads,
                                           .token_count = TOKENS,
                                           .object_count = OBJECTS,
                                           .objects = program->objects};
    for (uint32_t i = 0; i < threads; i++)
        program->rows[i] = VEC_OF(struct replay_op);
    for (uint32_t i = 10 + below(program, 200); i > 0; i--)
        add_block(program, below(program, threads));
    return program;
}

static void free_program(struct program *program)
{
    for (uint32_t i = 0; i < program->model.thread_count; i++)
        vec__free(&program->rows[i]);
    free(program);
}

/* What is known of a program without running it. */
struct bounds {
    uint64_t work, delays, waits; /* Σ; waits: operations that may have to wait or wake */
    uint64_t longest;             /* thread, its work and delays */
};

static struct bounds bounds_of(const struct program *program)
{
    struct bounds bounds = {0};
    for (uint32_t i = 0; i < program->model.thread_count; i++) {
        uint64_t alone = 0;
        VEC_EACH (op, &program->rows[i], struct replay_op) {
            alone += op->ticks;
            if (op->kind == REPLAY_DELAY)
                bounds.delays += op->ticks;
            else
                bounds.work += op->ticks;
            bounds.waits += op->kind != REPLAY_DELAY && op->kind != REPLAY_WORK;
        }
        if (alone > bounds.longest)
            bounds.longest = alone;
    }
    return bounds;
}

static void assert_same(const struct replay_result *a, const struct replay_result *b)
{
    assert_int_equal(a->wall, b->wall);
    assert_int_equal(a->worked, b->worked);
    assert_int_equal(a->runnable, b->runnable);
    assert_int_equal(a->unfinished, b->unfinished);
    assert_memory_equal(a->objects, b->objects, OBJECTS * sizeof *a->objects);
}

static void for_each(unsigned blocks, void (*check)(struct program *program))
{
    for (uint64_t number = 0; number < PROGRAMS; number++) {
        struct program *program = write_program(number, blocks);
        check(program);
        free_program(program);
    }
}

/* ---- what must hold -------------------------------------------------------------------------- */

static void check_time(struct program *program)
{
    struct bounds bounds = bounds_of(program);
    struct replay_result result = replay(program);
    const struct replay_object_result *spin = &result.objects[SPIN];
    uint64_t spun = spin->waited;
    if (program->objects[BARRIER].spins)
        spun += result.objects[BARRIER].waited;
    assert_int_equal(result.unfinished, 0);
    assert_true(result.worked >= bounds.work && result.worked <= bounds.work + spun);
    assert_true(result.wall >= bounds.longest);
    assert_true(result.wall * program->model.cpus >= result.worked);
    /* At any time somebody works, sleeps or is being woken, or all CPUs spin. */
    assert_true(result.wall <= bounds.work + bounds.delays + bounds.waits * WAKE +
                                   (result.worked - bounds.work) / program->model.cpus);
    assert_true(program->model.cpus < program->model.thread_count || result.runnable == 0);
    for (int i = MUTEX; i <= SPIN; i++)
        assert_true(i == READERS || result.objects[i].held <= result.wall);
    replay_result__free(&result);
}

static void time_is_neither_lost_nor_made(void **state)
{
    (void)state;
    for_each(BLOCKS_ALL, check_time);
}

/* Without anything that spins. */
static void check_work(struct program *program)
{
    struct bounds bounds = bounds_of(program);
    program->objects[SPIN].spins = program->objects[BARRIER].spins = false;
    struct replay_result result = replay(program);
    assert_int_equal(result.worked, bounds.work);
    replay_result__free(&result);
}

static void check_switches(struct program *program)
{
    program->model.switch_ticks = 1000003; /* no sum of works */
    program->objects[SPIN].spins = program->objects[BARRIER].spins = false;
    struct replay_result result = replay(program);
    struct bounds bounds = bounds_of(program);
    assert_int_equal(result.unfinished, 0);
    assert_true(result.worked >= bounds.work);
    assert_int_equal((result.worked - bounds.work) % program->model.switch_ticks, 0);
    replay_result__free(&result);
}

static void work_is_conserved(void **state)
{
    (void)state;
    for_each(BLOCKS_ALL, check_work);
    for_each(BLOCKS_ALL, check_switches);
}

/* Every acquisition is counted once, every lock held as long as it is without waits. */
static void check_locks(struct program *program)
{
    uint64_t acquisitions[OBJECTS] = {0};
    for (uint32_t i = 0; i < program->model.thread_count; i++) {
        VEC_EACH (op, &program->rows[i], struct replay_op) {
            bool is_acquisition = op->kind == REPLAY_ACQUIRE || op->kind == REPLAY_SHARE ||
                                  op->kind == REPLAY_TAKE || op->kind == REPLAY_MEET;
            if (is_acquisition) /* else object may be a token */
                acquisitions[op->object]++;
        }
    }
    struct replay_result result = replay(program);
    for (int i = 0; i < OBJECTS; i++) {
        assert_int_equal(result.objects[i].acquisitions, acquisitions[i]);
        assert_true(result.objects[i].contended <= acquisitions[i]);
        assert_true(result.objects[i].contended > 0 || result.objects[i].waited == 0);
    }
    replay_result__free(&result);
}

static void acquisitions_are_counted_once(void **state)
{
    (void)state;
    for_each(BLOCKS_ALL, check_locks);
}

static void check_alone(struct program *program)
{
    program->model.cpus = program->model.thread_count;
    program->model.switch_ticks = 1000;
    struct bounds bounds = bounds_of(program);
    struct replay_result result = replay(program);
    assert_int_equal(result.wall, bounds.longest);
    assert_int_equal(result.worked, bounds.work);
    assert_int_equal(result.runnable, 0);
    replay_result__free(&result);
}

static void threads_that_share_nothing_run_alone(void **state)
{
    (void)state;
    for_each(BLOCKS_ALONE, check_alone);
}

static void check_more_cpus(struct program *program)
{
    uint64_t before = UINT64_MAX;
    for (uint32_t cpus = 1; cpus <= program->model.thread_count + 1; cpus++) {
        program->model.cpus = cpus;
        struct replay_result result = replay(program);
        assert_true(result.wall <= before);
        before = result.wall;
        replay_result__free(&result);
    }
}

static void more_cpus_make_nothing_slower(void **state)
{
    (void)state;
    for_each(1 << BLOCK_WORK, check_more_cpus);
}

static void check_again(struct program *program)
{
    struct replay_result first = replay(program), second = replay(program);
    assert_same(&first, &second);
    replay_result__free(&first);
    replay_result__free(&second);
}

static void the_same_program_comes_to_the_same(void **state)
{
    (void)state;
    for_each(BLOCKS_ALL, check_again);
}

/* ---- several at a time ----------------------------------------------------------------------- */

struct job {
    const struct program *program;
    struct replay_result result;
};

static void *replay_job(void *argument)
{
    struct job *job = argument;
    for (int i = 0; i < 20; i++) {
        replay_result__free(&job->result);
        job->result = replay(job->program);
    }
    return NULL;
}

static void several_replay_the_same_program(void **state)
{
    enum { JOBS = 4 };
    (void)state;
    struct program *program = write_program(3, BLOCKS_ALL);
    struct job jobs[JOBS] = {{0}};
    pthread_t threads[JOBS];
    struct replay_result alone = replay(program);
    for (int i = 0; i < JOBS; i++) {
        jobs[i].program = program;
        assert_int_equal(pthread_create(&threads[i], NULL, replay_job, &jobs[i]), 0);
    }
    for (int i = 0; i < JOBS; i++) {
        pthread_join(threads[i], NULL);
        assert_same(&jobs[i].result, &alone);
        replay_result__free(&jobs[i].result);
    }
    replay_result__free(&alone);
    free_program(program);
}

/* ---- damaged traces -------------------------------------------------------------------------- */

static void damage(struct program *program, struct replay_op *op)
{
    if (below(program, 4) == 0)
        op->kind = below(program, 12);
    if (below(program, 4) == 0)
        op->object = below(program, OBJECTS + 2);
    if (below(program, 50) == 0)
        op->ticks = (uint64_t)below(program, UINT32_MAX) << below(program, 20);
}

/* Operations of any kind on anything, as often as not without their counterpart. */
static void check_garbage(struct program *program)
{
    for (uint32_t i = 0; i < program->model.thread_count; i++) {
        VEC_EACH (op, &program->rows[i], struct replay_op)
            damage(program, op);
    }
    program->model.cpus = below(program, 4);
    program->model.slice_ticks = below(program, 2) ? 0 : (uint64_t)1 << 44;
    program->model.switch_ticks = below(program, 3);
    struct replay_result first = replay(program), second = replay(program);
    assert_true(first.unfinished <= program->model.thread_count);
    assert_same(&first, &second);
    replay_result__free(&first);
    replay_result__free(&second);
}

static void garbage_ends(void **state)
{
    (void)state;
    for_each(BLOCKS_ALL, check_garbage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_neither_lost_nor_made),
        cmocka_unit_test(work_is_conserved),
        cmocka_unit_test(acquisitions_are_counted_once),
        cmocka_unit_test(threads_that_share_nothing_run_alone),
        cmocka_unit_test(more_cpus_make_nothing_slower),
        cmocka_unit_test(the_same_program_comes_to_the_same),
        cmocka_unit_test(several_replay_the_same_program),
        cmocka_unit_test(garbage_ends),
    };
    return cmocka_run_group_tests_name("replay_random", tests, NULL, NULL);
}
