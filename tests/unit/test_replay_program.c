/* Traces as rows of operations, replayed: unchanged, and with each change, whose effect is computed
 * by hand. Ticks are ns; nothing costs anything, and nobody needs time to wake, where a test does
 * not say otherwise. */
#include "scene.h"

#include "analysis/replay/replay_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define LEFT | 1

enum {
    WAIT = HEURT_EVENT_LOCK_WAIT,
    GOT = HEURT_EVENT_LOCK_ACQUIRED,
    GAVE = HEURT_EVENT_LOCK_RELEASED,
    CONDITION = HEURT_EVENT_CONDITION_WAIT,
    SIGNALLED = HEURT_EVENT_CONDITION_SIGNALLED,
    BARRIER = HEURT_EVENT_BARRIER_WAIT,
    SEMAPHORE = HEURT_EVENT_SEMAPHORE_WAIT,
    TOOK = HEURT_EVENT_SEMAPHORE_ACQUIRED,
    POSTED = HEURT_EVENT_SEMAPHORE_POSTED,
    JOIN = HEURT_EVENT_JOIN,
    OFF = HEURT_EVENT_OFF_CPU,
    IO = HEURT_EVENT_IO,
};

enum { A = 0x9a00, B = 0x9b00, C = 0x9c00, LOCK = 0x7000, OTHER = 0x7100, MEETING = 0x7200 };
enum { WORK = 1024, CALLED = 1026 };

static void start(struct scene *scene, uint32_t thread, uint64_t tick, uint32_t creator)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_START, 0xf000 + thread, creator, 0);
}

static void end(struct scene *scene, uint32_t thread, uint64_t tick)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_END, UINT64_MAX, UINT64_MAX);
}

static void waits(struct scene *scene, uint32_t thread, uint64_t from, uint64_t to, uint64_t site,
                  uint64_t lock)
{
    PUT(scene, thread, from, WAIT, site, lock);
    PUT(scene, thread, to, WAIT LEFT, 0);
}

static void section(struct scene *scene, uint32_t thread, uint64_t from, uint64_t to, uint64_t site,
                    uint64_t lock)
{
    PUT(scene, thread, from, GOT, site, lock);
    PUT(scene, thread, to, GAVE, site, lock);
}

static struct replay_program *program_of(const struct scene *scene)
{
    struct replay_program *program;
    struct error error = {""};
    if (replay_program__make(scene->trace, scene->profile, NULL, &program, &error) < 0)
        fail_msg("%s", error.text);
    return program;
}

static uint64_t replay(const struct replay_program *program, const struct change *changes,
                       size_t count, enum replay_costs costs)
{
    struct replay_model model;
    struct replay_result result;
    struct error error = {""};
    struct replay_source *source =
        replay_program__open(program, changes, count, costs, &model, &error);
    if (!source)
        fail_msg("%s", error.text);
    replay__run(&model, source, &result);
    assert_int_equal(result.unfinished, 0);
    uint64_t wall = result.wall;
    replay_result__free(&result);
    replay_program__close(source);
    return wall;
}

static uint64_t changed(const struct scene *scene, struct change change)
{
    struct replay_program *program = program_of(scene);
    uint64_t wall = replay(program, &change, 1, REPLAY_COSTS_LEFT_OUT);
    replay_program__free(program);
    return wall;
}

static uint64_t unchanged(const struct scene *scene)
{
    struct replay_program *program = program_of(scene);
    uint64_t wall = replay(program, NULL, 0, REPLAY_COSTS_LEFT_OUT);
    replay_program__free(program);
    return wall;
}

static void check_refused(const struct scene *scene, struct change change, const char *part)
{
    struct replay_program *program = program_of(scene);
    struct replay_model model;
    struct error error = {""};
    assert_null(replay_program__open(program, &change, 1, REPLAY_COSTS_LEFT_OUT, &model, &error));
    if (!strstr(error.text, part))
        fail_msg("\"%s\" says nothing of \"%s\"", error.text, part);
    replay_program__free(program);
}

/* ---- locks ----------------------------------------------------------------------------------- */

/*      0   100 150   300   400   500 600
 *   0  |work|======L======|work|
 *   1  |work    |..wait..|==L==|work|
 */
static const struct scene *two_threads(struct scene *scene)
{
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    section(scene, 0, 1100, 1300, A, LOCK);
    end(scene, 0, 1400);
    waits(scene, 1, 1150, 1300, B, LOCK);
    PUT(scene, 1, 1500, GAVE, B, LOCK);
    end(scene, 1, 1600);
    scene__profile(scene);
    return scene;
}

static void unchanged_lock_takes_as_long(void **state)
{
    assert_int_equal(unchanged(two_threads(*state)), 600);
}

static void removed_lock(void **state)
{
    const struct scene *scene = two_threads(*state);
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE_LOCK, .lock = LOCK}),
                     450);
}

static void removed_waits_of_one_place(void **state)
{
    const struct scene *scene = two_threads(*state);
    const struct profile_class *class =
        scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK);
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE, .class = class->number}),
                     450);
}

static void shorter_sections(void **state)
{
    const struct scene *scene = two_threads(*state);
    /* 0: 100 + 100, then 1: 100 + 100 */
    assert_int_equal(
        changed(scene, (struct change){.type = CHANGE_SHRINK, .lock = LOCK, .factor = 0.5}), 400);
    /* nothing is left of them: 1 is there at 150 */
    assert_int_equal(
        changed(scene, (struct change){.type = CHANGE_SHRINK, .lock = LOCK, .factor = 0}), 250);
}

static void lock_split_by_place(void **state)
{
    const struct scene *scene = two_threads(*state);
    struct change change = {.type = CHANGE_SPLIT, .lock = LOCK, .count = 2, .by_site = true};
    assert_int_equal(changed(scene, change), 450);
    change.count = 1;
    assert_int_equal(changed(scene, change), 600);
}

static void lock_that_nobody_took(void **state)
{
    check_refused(two_threads(*state), (struct change){.type = CHANGE_REMOVE_LOCK, .lock = 0x1234},
                  "0x1234");
}

static void number_of_no_class(void **state)
{
    check_refused(two_threads(*state), (struct change){.type = CHANGE_REMOVE, .class = 99}, "99");
}

static void factor_that_makes_no_sense(void **state)
{
    check_refused(two_threads(*state),
                  (struct change){.type = CHANGE_SHRINK, .lock = LOCK, .factor = -1}, "factor");
}

/* Acquisitions turn by turn: of many, both parts get some, and who waits is in the way less often.
 * Two threads do nothing but hold the lock, for 10 ticks a time. */
static void lock_split_by_turns(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 2; thread++) {
        start(scene, thread, 1000, HEURT_NO_SERIAL);
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t tick = 1000 + 20 * i + 10 * thread;
            if (i || thread)
                waits(scene, thread, tick - 10, tick, A, LOCK);
            else
                PUT(scene, thread, tick, GOT, A, LOCK);
            PUT(scene, thread, tick + 10, GAVE, A, LOCK);
        }
        end(scene, thread, 1000 + 200 * 20 - 10 + 10 * thread);
    }
    scene__profile(scene);
    assert_int_equal(unchanged(scene), 4000);
    uint64_t wall = changed(scene, (struct change){.type = CHANGE_SPLIT, .lock = LOCK, .count = 2});
    assert_in_range(wall, 2100, 3500);
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE_LOCK, .lock = LOCK}),
                     2000);
}

static void recursive_lock_is_one(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    PUT(scene, 0, 1100, GOT, A, LOCK);
    section(scene, 0, 1150, 1200, A, LOCK);
    PUT(scene, 0, 1300, GAVE, A, LOCK);
    end(scene, 0, 1300);
    waits(scene, 1, 1150, 1300, B, LOCK);
    PUT(scene, 1, 1400, GAVE, B, LOCK);
    end(scene, 1, 1400);
    scene__profile(scene);
    assert_int_equal(unchanged(scene), 400);
}

static void readers_are_not_in_each_others_way(void **state)
{
    struct scene *scene = *state;
    const uint64_t reader = HEURT_SITE(A, HEURT_LOCK_READ);
    const uint64_t writer = HEURT_SITE(B, HEURT_LOCK_WRITE);
    const uint64_t any = HEURT_SITE(C, HEURT_LOCK_RW_ANY);
    for (uint32_t i = 0; i < 2; i++) {
        start(scene, i, 1000, HEURT_NO_SERIAL);
        PUT(scene, i, 1100, GOT, reader, LOCK);
        PUT(scene, i, 1300 + i * 50, GAVE, any, LOCK);
        end(scene, i, 1350);
    }
    start(scene, 2, 1000, HEURT_NO_SERIAL);
    waits(scene, 2, 1200, 1350, writer, LOCK);
    PUT(scene, 2, 1400, GAVE, any, LOCK);
    end(scene, 2, 1400);
    scene__profile(scene);
    assert_int_equal(unchanged(scene), 400);
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE_LOCK, .lock = LOCK}),
                     350);
}

/* Thread 1 comes while 0 has the lock, sleeps 2 later, and is on a CPU again 27 after the release;
 * what 0 does behind a release that wakes takes 10 longer. 100 times, each 200 long, and 100 times
 * that nobody waits. */
static void what_waking_takes_is_measured(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 2; i++) {
        start(scene, i, 1000, HEURT_NO_SERIAL);
        PUT(scene, i, 1000, HEURT_EVENT_KERNEL, 0);
    }
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t tick = 1000 + 100000 * i;
        section(scene, 0, tick, tick + 10000, A, LOCK);
        section(scene, 0, tick + 10060, tick + 10160, A, LOCK);
        PUT(scene, 0, tick + 10210, GOT, C, OTHER);
        PUT(scene, 0, tick + 99990, GAVE, C, OTHER);
        PUT(scene, 1, tick + 5000, WAIT, B, LOCK);
        PUT(scene, 1, tick + 10027, OFF, HEURT_OFF(5025, HEURT_OFF_BLOCKED), HEURT_BACK(0, 0), 0);
        PUT(scene, 1, tick + 10030, WAIT LEFT, 0);
        PUT(scene, 1, tick + 10040, GAVE, B, LOCK);
    }
    for (uint32_t i = 0; i < 2; i++)
        end(scene, i, 1000 + 100 * 100000);
    scene__profile(scene);
    struct replay_program *program = program_of(scene);
    const struct replay_object *lock = replay_program__model(program)->objects;
    assert_in_range(lock->wake_ticks, 25, 29); /* buckets of the histogram are as wide */
    assert_int_equal(lock->settle_ticks, 700);
    assert_int_equal(lock->release_ticks, 10);
    assert_in_range(replay(program, NULL, 0, REPLAY_COSTS_LEFT_OUT), 9990000, 10010000);
    replay_program__free(program);
}

/* ---- waits that others end ------------------------------------------------------------------- */

/* 0 works for 200 and signals; 1 waits from 100 on, works 100 more. */
static const struct scene *signal_and_wait(struct scene *scene)
{
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    PUT(scene, 1, 1050, GOT, B, LOCK);
    PUT(scene, 1, 1100, CONDITION, B, MEETING, LOCK);
    PUT(scene, 0, 1150, GOT, A, LOCK);
    PUT(scene, 0, 1200, SIGNALLED, A, MEETING);
    PUT(scene, 0, 1250, GAVE, A, LOCK);
    end(scene, 0, 1250);
    PUT(scene, 1, 1250, CONDITION LEFT, 0);
    PUT(scene, 1, 1300, GAVE, B, LOCK);
    end(scene, 1, 1350);
    scene__profile(scene);
    return scene;
}

static void condition_waits_for_its_signal_and_mutex(void **state)
{
    const struct scene *scene = signal_and_wait(*state);
    struct replay_program *program = program_of(scene);
    /* From the signal to the wake-up were 50 ticks, in which the mutex was held. */
    assert_in_range(replay_program__model(program)->token_ticks, 47, 53);
    assert_in_range(replay(program, NULL, 0, REPLAY_COSTS_LEFT_OUT), 347, 353);
    replay_program__free(program);
}

static void removed_wait_for_a_condition(void **state)
{
    const struct scene *scene = signal_and_wait(*state);
    const struct profile_class *class =
        scene__class(scene, CLASS_CONDITION, "pthread_cond_wait", B, MEETING);
    /* 1: 100, then it takes the mutex again, before 0 does: 200 in all. 0: 250. */
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE, .class = class->number}),
                     250);
}

static const struct scene *three_at_a_barrier(struct scene *scene)
{
    for (uint32_t i = 0; i < 3; i++) {
        start(scene, i, 1000, HEURT_NO_SERIAL);
        PUT(scene, i, 1100 + 50 * i, BARRIER, A, MEETING);
        PUT(scene, i, i < 2 ? 1201 : 1200, BARRIER LEFT, i ? 0 : UINT64_MAX);
        end(scene, i, i < 2 ? 1301 : 1300);
    }
    scene__profile(scene);
    return scene;
}

static void barrier_lets_nobody_pass_alone(void **state)
{
    const struct scene *scene = three_at_a_barrier(*state);
    struct replay_program *program = program_of(scene);
    assert_int_equal(replay_program__model(program)->objects[0].parties, 3);
    replay_program__free(program);
    assert_int_equal(unchanged(scene), 301);
}

static void removed_barrier(void **state)
{
    const struct scene *scene = three_at_a_barrier(*state);
    const struct profile_class *class =
        scene__class(scene, CLASS_BARRIER, "pthread_barrier_wait", A, MEETING);
    /* The last one to arrive takes as long as it did. */
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE, .class = class->number}),
                     300);
}

/* The first acquisition needs no post: the semaphore was made with 1. */
static void semaphore_begins_with_what_it_needs(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 2; i++)
        start(scene, i, 1000, HEURT_NO_SERIAL);
    PUT(scene, 0, 1100, TOOK, A, MEETING);
    PUT(scene, 1, 1150, SEMAPHORE, A, MEETING);
    PUT(scene, 0, 1300, POSTED, B, MEETING);
    PUT(scene, 1, 1300, SEMAPHORE LEFT, 0);
    end(scene, 0, 1300);
    PUT(scene, 1, 1400, POSTED, B, MEETING);
    end(scene, 1, 1400);
    scene__profile(scene);
    struct replay_program *program = program_of(scene);
    assert_int_equal(replay_program__model(program)->objects[0].initial, 1);
    replay_program__free(program);
    assert_int_equal(unchanged(scene), 400);
}

/* ---- beginnings and ends --------------------------------------------------------------------- */

/* 0 creates 1 and 2 and joins both; 1, which it joins first, ends later. */
static const struct scene *created_and_joined(struct scene *scene)
{
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    for (uint32_t i = 1; i < 3; i++) {
        PUT(scene, 0, 1000 + 100 * i, HEURT_EVENT_THREAD_CREATED, A, 0xf000 + i, 0);
        start(scene, i, 1000 + 100 * i, 0);
    }
    section(scene, 2, 1250, 1350, C, LOCK);
    end(scene, 2, 1400);
    waits(scene, 1, 1300, 1350, B, LOCK);
    PUT(scene, 1, 1500, GAVE, B, LOCK);
    end(scene, 1, 1500);
    PUT(scene, 0, 1300, JOIN, A, 0xf001);
    PUT(scene, 0, 1500, JOIN LEFT, 0);
    PUT(scene, 0, 1500, JOIN, A, 0xf002);
    PUT(scene, 0, 1500, JOIN LEFT, 0);
    end(scene, 0, 1600);
    scene__profile(scene);
    return scene;
}

/*      0   100       500 520    900 940 1000
 *   0  |work|..wait...|=L|work...|join|
 *   1  |=======L======|work...|=M=====|       until 0 tells it to end
 */
static const struct scene *one_that_is_told(struct scene *scene, uint64_t joined, uint64_t site)
{
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    PUT(scene, 0, 1000, HEURT_EVENT_THREAD_CREATED, A, 0xf001, 0);
    start(scene, 1, 1000, 0);
    section(scene, 1, 1000, 1500, A, LOCK);
    waits(scene, 0, 1100, 1500, B, LOCK);
    PUT(scene, 0, 1520, GAVE, B, LOCK);
    section(scene, 0, 1520, 1530, C, MEETING);
    section(scene, 1, 1800, 1950, site, OTHER);
    end(scene, 1, 1950);
    PUT(scene, 0, joined, JOIN, A, 0xf001);
    PUT(scene, 0, 1950, JOIN LEFT, 0);
    end(scene, 0, 2000);
    scene__profile(scene);
    return scene;
}

static const struct change no_lock = {.type = CHANGE_REMOVE_LOCK, .lock = LOCK};

/* 0 has 450 to do until it joins 1, which ends then whatever it has left, and 50 behind that. */
static void who_is_told_to_end_holds_nothing_up(void **state)
{
    const struct scene *scene = one_that_is_told(*state, 1930, A);
    struct replay_program *program = program_of(scene);
    assert_int_equal(replay_program__told(program), 1);
    replay_program__free(program);
    assert_in_range(unchanged(scene), 980, 1001);
    assert_in_range(changed(scene, no_lock), 580, 601);
}

/* Its end was waited for long: it had that to do. */
static void who_is_waited_for_has_its_own_work(void **state)
{
    const struct scene *scene = one_that_is_told(*state, 1600, A);
    assert_int_equal(changed(scene, no_lock), 1000);
}

/* Both take locks at one place, each its own: they share some work. */
static void who_does_what_others_do_has_its_own_work(void **state)
{
    const struct scene *scene = one_that_is_told(*state, 1930, C);
    assert_int_equal(changed(scene, no_lock), 1000);
}

static void creator_waits_for_its_threads(void **state)
{
    const struct scene *scene = created_and_joined(*state);
    assert_int_equal(unchanged(scene), 600);
    /* 1 ends at 450, 2 as before */
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE_LOCK, .lock = LOCK}),
                     550);
}

/* 1 never ended by itself: it was at work when the program's end came, and has more to do than the
 * program takes with a change. */
static void program_ends_with_its_last_thread_that_ends(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, WORK, 0x401000, "work", "");
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    section(scene, 1, 1100, 401000, B, LOCK);
    PUT(scene, 0, 1000, WORK);
    PUT(scene, 0, 401000, WORK LEFT);
    end(scene, 0, 401000);
    scene__profile(scene);
    assert_int_equal(unchanged(scene), 400000);
    struct change change = {.type = CHANGE_SPEED, .pattern = "wor?", .factor = 4};
    assert_in_range(changed(scene, change), 100000, 100200);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void waiting_for_a_cpu_is_left_out(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    PUT(scene, 0, 1300, OFF, HEURT_OFF(100, HEURT_OFF_PREEMPTED), HEURT_BACK(100, 0), 0);
    /* Told late: it was blocked before the section, and only waited for a CPU at the end of it. */
    section(scene, 0, 1500, 1600, A, LOCK);
    PUT(scene, 0, 1450, OFF, HEURT_OFF(100, HEURT_OFF_BLOCKED), HEURT_BACK(30, 0), 0);
    end(scene, 0, 1700);
    scene__profile(scene);
    assert_int_equal(unchanged(scene), 700 - 100 - 30);
    /* What it waited for, nobody knows: it stays. */
    assert_int_equal(
        changed(scene, (struct change){.type = CHANGE_SHRINK, .lock = LOCK, .factor = 0}),
        700 - 100 - 30 - 100);
}

/* Of two CPUs the program uses one at most while thread 0 is preempted from 1200 to 1300: another
 * program has the other one. From 1500 to 1600 both threads 1 and 2 are on CPUs. */
static void what_other_programs_took_stays(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "2"), 0);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t begin = i < 2 ? 1000 : 1450;
        PUT(scene, i, begin, HEURT_EVENT_THREAD_START, 0xf000 + i, HEURT_NO_SERIAL, 0);
        PUT(scene, i, begin, HEURT_EVENT_KERNEL, 0);
    }
    PUT(scene, 0, 1300, OFF, HEURT_OFF(100, HEURT_OFF_PREEMPTED), HEURT_BACK(100, 0), 0);
    PUT(scene, 0, 1600, OFF, HEURT_OFF(100, HEURT_OFF_PREEMPTED), HEURT_BACK(100, 0), 0);
    end(scene, 0, 1700);
    end(scene, 1, 1600);
    end(scene, 2, 1600);
    scene__profile(scene);
    struct replay_program *program = program_of(scene);
    struct replay_model model;
    struct error error = {""};
    uint64_t delays = 0;
    struct replay_op op;
    struct replay_source *source =
        replay_program__open(program, NULL, 0, REPLAY_COSTS_LEFT_OUT, &model, &error);
    assert_int_equal(model.cpus, 2);
    while (source->next(source, 0, &op))
        delays += op.kind == REPLAY_DELAY ? op.ticks : 0;
    assert_int_equal(delays, 100);
    replay_program__close(source);
    replay_program__free(program);
}

static size_t operations_of_changed(const struct scene *scene, uint32_t thread,
                                    const struct change *change)
{
    struct replay_program *program = program_of(scene);
    struct replay_model model;
    struct error error = {""};
    struct replay_source *source = replay_program__open(program, change, change != NULL,
                                                        REPLAY_COSTS_LEFT_OUT, &model, &error);
    struct replay_op op;
    size_t operations = 0;
    while (operations < 1000000 && source->next(source, thread, &op))
        operations++;
    replay_program__close(source);
    replay_program__free(program);
    return operations;
}

static size_t operations_of(const struct scene *scene, uint32_t thread)
{
    return operations_of_changed(scene, thread, NULL);
}

/* As in a damaged trace. */
static void a_time_that_cannot_be_makes_few_operations(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    end(scene, 0, 1200);
    end(scene, 1, 1200);
    scene__profile(scene);
    VEC_AT(trace__threads(scene->trace), struct trace_thread, 1)->start_tick = 1ull << 62;
    assert_in_range(operations_of(scene, 1), 1, 1000);
}

/* The program's end ends the second thread, which goes on long after its life, in a damaged trace:
 * it is in short pieces, but no more than 4,096 in all its 200 operations. */
static void more_to_do_than_a_life_has_few_pieces(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    for (uint64_t i = 1; i <= 100; i++)
        section(scene, 1, i * 1000000, i * 1000000 + 500000, A, LOCK);
    end(scene, 0, 2000);
    scene__profile(scene);
    VEC_AT(trace__threads(scene->trace), struct trace_thread, 1)->end_tick = 2000;
    assert_in_range(operations_of(scene, 1), 4000, 4096 + 300);
}

/* So is what a change makes a hundred thousand times as long. */
static void what_a_change_makes_long_has_few_pieces(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    for (uint64_t i = 1; i <= 100; i++)
        section(scene, 1, 1000 + i * 1000, 1000 + i * 1000 + 900, A, LOCK);
    end(scene, 0, 200000);
    scene__profile(scene);
    struct change longer = {.type = CHANGE_SHRINK, .lock = LOCK, .factor = 1e5};
    assert_in_range(operations_of_changed(scene, 1, &longer), 4096, 4096 * 14);
}

static void recording_is_left_out(void **state)
{
    struct scene *scene = *state;
    scene__costs(scene, 10, 30);
    scene__function(scene, 0, WORK, 0x401000, "work", "");
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    PUT(scene, 0, 1100, WORK);
    PUT(scene, 0, 1300, HEURT_EVENT_PAUSED, 100);
    PUT(scene, 0, 1400, WORK LEFT);
    end(scene, 0, 1500);
    scene__profile(scene);
    struct replay_program *program = program_of(scene);
    assert_int_equal(replay(program, NULL, 0, REPLAY_COSTS_KEPT), 400);
    assert_int_equal(replay(program, NULL, 0, REPLAY_COSTS_LEFT_OUT), 400 - 30);
    replay_program__free(program);
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Three calls: 100 of work; 100 of work and 200 of waiting for a lock; 300 of work. */
static const struct scene *calls(struct scene *scene)
{
    scene__function(scene, 0, WORK, 0x401000, "work", "");
    scene__function(scene, 0, CALLED, 0x402000, "called", "");
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    PUT(scene, 0, 1000, WORK);
    PUT(scene, 0, 1100, WORK LEFT);
    section(scene, 1, 1100, 1400, B, LOCK);
    end(scene, 1, 1400);
    PUT(scene, 0, 1150, WORK);
    waits(scene, 0, 1200, 1400, A, LOCK);
    PUT(scene, 0, 1450, GAVE, A, LOCK);
    PUT(scene, 0, 1450, WORK LEFT);
    PUT(scene, 0, 1500, WORK);
    PUT(scene, 0, 1600, CALLED);
    PUT(scene, 0, 1700, CALLED LEFT);
    PUT(scene, 0, 1800, WORK LEFT);
    end(scene, 0, 1850);
    scene__profile(scene);
    return scene;
}

static void every_call_as_the_fastest_one(void **state)
{
    const struct scene *scene = calls(*state);
    assert_int_equal(unchanged(scene), 850);
    const struct profile_class *class = scene__class(scene, CLASS_CALL, "work", 0, 0);
    /* three times 100, and 50 behind each; 1 takes 400 */
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE, .class = class->number}),
                     450);
}

static void faster_function(void **state)
{
    const struct scene *scene = calls(*state);
    /* its 100, and the 100 of what it calls, and so on: 500 of work become 250; the wait is 75
     * longer instead, for 1 is no faster */
    assert_int_equal(
        changed(scene, (struct change){.type = CHANGE_SPEED, .pattern = "work", .factor = 2}),
        400 + 25 + 50 + 150 + 50);
    check_refused(scene, (struct change){.type = CHANGE_SPEED, .pattern = "no*", .factor = 2},
                  "no*");
}

static void several_changes_at_once(void **state)
{
    const struct scene *scene = calls(*state);
    struct replay_program *program = program_of(scene);
    const struct change changes[] = {{.type = CHANGE_SPEED, .pattern = "work", .factor = 2},
                                     {.type = CHANGE_REMOVE_LOCK, .lock = LOCK}};
    assert_int_equal(replay(program, changes, 2, REPLAY_COSTS_LEFT_OUT),
                     50 + 50 + 50 + 50 + 150 + 50);
    replay_program__free(program);
}

static void every_read_as_the_fastest_one(void **state)
{
    struct scene *scene = *state;
    const uint64_t read = HEURT_SITE(A, HEURT_IO_READ), file = 3 | 1ull << 32;
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    PUT(scene, 0, 1100, IO, read, file, 512);
    PUT(scene, 0, 1150, IO LEFT, 512); /* from the page cache: on the CPU */
    PUT(scene, 0, 1200, IO, read, file, 512);
    PUT(scene, 0, 1600, OFF, HEURT_OFF(380, HEURT_OFF_BLOCKED), HEURT_BACK(0, 0), 0);
    PUT(scene, 0, 1610, IO LEFT, 512);
    end(scene, 0, 1700);
    scene__profile(scene);
    const struct profile_class *class = scene__class(scene, CLASS_DISK, "read", A, 0);
    assert_int_equal(unchanged(scene), 700);
    assert_int_equal(changed(scene, (struct change){.type = CHANGE_REMOVE, .class = class->number}),
                     700 - 410 + 50);
}

/* ---- another number of threads --------------------------------------------------------------- */

/* 0 creates 1 and 2, which do the same, and joins them. Each works for 1000 and then holds the lock
 * for 100; with barriers, both then meet and work for 500 more. */
static void begin_alike(struct scene *scene, uint32_t thread)
{
    PUT(scene, thread, 1000, HEURT_EVENT_THREAD_START, 0xf000 + thread, 0, 0x401000);
}

static const struct scene *threads_alike(struct scene *scene, bool meet)
{
    uint64_t last = meet ? 2700 : 2200;
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    begin_alike(scene, 1);
    begin_alike(scene, 2);
    section(scene, 1, 2000, 2100, A, LOCK);
    waits(scene, 2, 2000, 2100, B, LOCK);
    PUT(scene, 2, 2200, GAVE, B, LOCK);
    if (meet) {
        PUT(scene, 1, 2100, BARRIER, A, MEETING);
        PUT(scene, 2, 2200, BARRIER, A, MEETING);
        PUT(scene, 2, 2200, BARRIER LEFT, 0);
        PUT(scene, 1, 2201, BARRIER LEFT, 0);
    }
    end(scene, 1, meet ? 2701 : 2100);
    end(scene, 2, last);
    PUT(scene, 0, 1000, JOIN, A, 0xf001);
    PUT(scene, 0, last + 1, JOIN LEFT, 0);
    PUT(scene, 0, last + 1, JOIN, A, 0xf002);
    PUT(scene, 0, last + 1, JOIN LEFT, 0);
    end(scene, 0, last + 1);
    scene__profile(scene);
    return scene;
}

static struct change threads(uint32_t count)
{
    return (struct change){.type = CHANGE_THREADS, .count = count};
}

static void work_is_dealt(void **state)
{
    const struct scene *scene = threads_alike(*state, false);
    assert_int_equal(unchanged(scene), 1200);
    assert_int_equal(changed(scene, threads(1)), 2200);
    /* 2000 of work and twice 100 in the lock, in pieces of about 1/64 of each one's part */
    assert_in_range(changed(scene, threads(2)), 1100, 1220);
    /* the sections come last: two threads have one, and one of them waits for the other */
    assert_in_range(changed(scene, threads(4)), 680, 710);
    struct replay_program *program = program_of(scene);
    struct replay_model model;
    struct error error = {""};
    struct change four = threads(4);
    struct replay_source *source =
        replay_program__open(program, &four, 1, REPLAY_COSTS_LEFT_OUT, &model, &error);
    assert_non_null(source);
    assert_int_equal(model.thread_count, 5);
    replay_program__close(source);
    replay_program__free(program);
}

static void all_threads_meet(void **state)
{
    const struct scene *scene = threads_alike(*state, true);
    assert_in_range(unchanged(scene), 1700, 1702);
    assert_int_equal(changed(scene, threads(1)), 3200);
    assert_in_range(changed(scene, threads(4)), 680 + 250, 710 + 250 + 10);
}

static void threads_that_nobody_is_like(void **state)
{
    const struct scene *scene = two_threads(*state);
    check_refused(scene, threads(4), "alike");
    check_refused(scene, threads(0), "1 to 4096");
}

static void threads_that_signal_each_other(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    begin_alike(scene, 1);
    begin_alike(scene, 2);
    PUT(scene, 1, 1050, GOT, B, LOCK);
    PUT(scene, 1, 1100, CONDITION, B, MEETING, LOCK);
    PUT(scene, 2, 1200, SIGNALLED, A, MEETING);
    PUT(scene, 1, 1250, CONDITION LEFT, 0);
    PUT(scene, 1, 1300, GAVE, B, LOCK);
    for (uint32_t i = 1; i < 3; i++)
        end(scene, i, 1400);
    end(scene, 0, 1400);
    scene__profile(scene);
    check_refused(scene, threads(4), "wait for each other");
}

static void threads_and_functions_together(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, WORK, 0x401000, "work", "");
    PUT(scene, 1, 1000, HEURT_EVENT_THREAD_START, 0xf001, 0, 0x401000);
    PUT(scene, 1, 1000, WORK);
    PUT(scene, 1, 1100, WORK LEFT);
    end(scene, 1, 1100);
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    end(scene, 0, 1100);
    scene__profile(scene);
    struct replay_program *program = program_of(scene);
    const struct change changes[] = {threads(2),
                                     {.type = CHANGE_SPEED, .pattern = "work", .factor = 2}};
    struct replay_model model;
    struct error error = {""};
    assert_null(replay_program__open(program, changes, 2, REPLAY_COSTS_LEFT_OUT, &model, &error));
    assert_non_null(strstr(error.text, "together"));
    replay_program__free(program);
}

/* ---- parallel regions ------------------------------------------------------------------------ */

#define REGION 0x5001
#define BEGIN(thread, tick, what, a, b)                                                            \
    PUT(scene, thread, tick, HEURT_EVENT_OPENMP_BEGIN, HEURT_SITE(REGION, HEURT_OPENMP_##what), a, \
        b)
#define END(thread, tick, what)                                                                  \
    PUT(scene, thread, tick, HEURT_EVENT_OPENMP_END, HEURT_SITE(REGION, HEURT_OPENMP_##what), 0, \
        0, 0)

/*      0    200                  1200 1400
 *   0  |work|=====200=====|.......|work|
 *   1  |....|=======1000==========|....|   nothing but the region
 */
static const struct scene *one_region(struct scene *scene)
{
    start(scene, 0, 1000, HEURT_NO_SERIAL);
    start(scene, 1, 1000, HEURT_NO_SERIAL);
    BEGIN(0, 1200, REGION, 1, 2);
    BEGIN(0, 1200, BODY, 1, 2);
    BEGIN(1, 1200, BODY, 1, (uint64_t)1 << 32 | 2);
    END(0, 1400, BODY);
    END(1, 2200, BODY);
    END(0, 2200, REGION);
    end(scene, 0, 2400);
    end(scene, 1, 2400);
    scene__profile(scene);
    return scene;
}

static void a_region_takes_as_long(void **state)
{
    assert_int_equal(unchanged(one_region(*state)), 1400);
}

static struct change of_region(enum change_type type, double factor, uint32_t count)
{
    static const uint64_t sites[] = {REGION};
    return (struct change){
        .type = type, .factor = factor, .count = count, .sites = sites, .site_count = 1};
}

static void a_balanced_region(void **state)
{
    const struct scene *scene = one_region(*state);
    assert_int_equal(changed(scene, of_region(CHANGE_BALANCE, 1, 0)), 200 + 600 + 200);
    assert_int_equal(changed(scene, of_region(CHANGE_BALANCE, 1.5, 0)), 200 + 900 + 200);
}

static void a_region_of_other_teams(void **state)
{
    const struct scene *scene = one_region(*state);
    assert_int_equal(changed(scene, of_region(CHANGE_TEAM, 0, 1)), 200 + 1200 + 200);
    assert_int_equal(changed(scene, of_region(CHANGE_TEAM, 0, 2)), 1400);
    assert_int_equal(changed(scene, of_region(CHANGE_TEAM, 0, 4)), 200 + 500 + 200);
}

static void a_region_that_is_not_there(void **state)
{
    static const uint64_t elsewhere[] = {0x6001};
    check_refused(one_region(*state),
                  (struct change){.type = CHANGE_BALANCE, .sites = elsewhere, .site_count = 1},
                  "no such parallel region");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene__setup, scene__teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_region_takes_as_long, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(a_balanced_region, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(a_region_of_other_teams, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(a_region_that_is_not_there, scene__setup, scene__teardown),
        TEST(unchanged_lock_takes_as_long),
        TEST(removed_lock),
        TEST(removed_waits_of_one_place),
        TEST(shorter_sections),
        TEST(lock_split_by_place),
        TEST(lock_split_by_turns),
        TEST(lock_that_nobody_took),
        TEST(number_of_no_class),
        TEST(factor_that_makes_no_sense),
        TEST(recursive_lock_is_one),
        TEST(what_waking_takes_is_measured),
        TEST(readers_are_not_in_each_others_way),
        TEST(condition_waits_for_its_signal_and_mutex),
        TEST(removed_wait_for_a_condition),
        TEST(barrier_lets_nobody_pass_alone),
        TEST(removed_barrier),
        TEST(semaphore_begins_with_what_it_needs),
        TEST(who_is_told_to_end_holds_nothing_up),
        TEST(who_is_waited_for_has_its_own_work),
        TEST(who_does_what_others_do_has_its_own_work),
        TEST(creator_waits_for_its_threads),
        TEST(program_ends_with_its_last_thread_that_ends),
        TEST(waiting_for_a_cpu_is_left_out),
        TEST(what_other_programs_took_stays),
        TEST(recording_is_left_out),
        TEST(a_time_that_cannot_be_makes_few_operations),
        TEST(more_to_do_than_a_life_has_few_pieces),
        TEST(what_a_change_makes_long_has_few_pieces),
        TEST(every_call_as_the_fastest_one),
        TEST(faster_function),
        TEST(several_changes_at_once),
        TEST(every_read_as_the_fastest_one),
        TEST(work_is_dealt),
        TEST(all_threads_meet),
        TEST(threads_that_nobody_is_like),
        TEST(threads_that_signal_each_other),
        TEST(threads_and_functions_together),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
