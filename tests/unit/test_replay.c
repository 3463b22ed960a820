#include "analysis/replay/replay.h"
#include "base/memory.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- programs as text ------------------------------------------------------------------------ */

/* A thread is a row of operations: ticks of work, a letter, and what it is done to:
 * a acquire, s share, r release, t take, g give, m meet, p post, w await, d delay (no object: the
 * ticks are the delay), x nothing but the work. "10a0 100r0 5x" holds lock 0 from 10 to 110. */
enum { MOST_THREADS = 64 };

struct play {
    struct replay_source source;
    struct replay_model model;
    struct vec rows[MOST_THREADS]; /* struct replay_op */
    size_t next[MOST_THREADS];
};

static bool next_of_play(struct replay_source *source, uint32_t thread, struct replay_op *op)
{
    struct play *play = (struct play *)source;
    assert_true(thread < play->model.thread_count);
    if (play->next[thread] == play->rows[thread].count)
        return false;
    *op = *VEC_AT(&play->rows[thread], struct replay_op, play->next[thread]++);
    return true;
}

static void read_row(struct vec *row, const char *text)
{
    static const char letters[] = "xdasrtgmpw"; /* as enum replay_kind */
    *row = VEC_OF(struct replay_op);
    while (*text) {
        char *end;
        struct replay_op op = {.ticks = strtoull(text, &end, 10)};
        assert_true(*end && strchr(letters, *end));
        op.kind = (uint32_t)(strchr(letters, *end) - letters);
        text = end + 1;
        if (*text >= '0' && *text <= '9')
            op.object = (uint32_t)strtoul(text, (char **)&text, 10);
        text += strspn(text, " ");
        vec__push(row, &op);
    }
}

static struct play *play_of(uint32_t cpus, const char *const *threads)
{
    struct play *play = memory__zeroed(1, sizeof *play);
    play->source.next = next_of_play;
    play->model = (struct replay_model){.cpus = cpus, .slice_ticks = 100, .token_count = 64};
    for (; *threads; threads++)
        read_row(&play->rows[play->model.thread_count++], *threads);
    return play;
}

#define PLAY(cpus, ...) play_of(cpus, (const char *const[]){__VA_ARGS__, NULL})

static void close_play(struct play *play)
{
    for (uint32_t i = 0; i < play->model.thread_count; i++)
        vec__free(&play->rows[i]);
    free(play);
}

/* From the beginning, again. */
static struct replay_result replay(struct play *play)
{
    struct replay_result result;
    memset(play->next, 0, sizeof play->next);
    replay__run(&play->model, &play->source, &result);
    return result;
}

static struct play *with_objects(struct play *play, const struct replay_object *objects,
                                 uint32_t count)
{
    play->model.objects = objects;
    play->model.object_count = count;
    return play;
}

static const struct replay_object mutex = {.kind = REPLAY_LOCK, .wake_ticks = 5};
static const struct replay_object spinlock = {.kind = REPLAY_LOCK, .spins = true};
static const struct replay_object semaphores[] = {
    {.kind = REPLAY_SEMAPHORE, .wake_ticks = 5, .initial = 0},
    {.kind = REPLAY_SEMAPHORE, .wake_ticks = 5, .initial = 1},
    {.kind = REPLAY_SEMAPHORE, .spins = true},
};
static const struct replay_object barriers[] = {
    {.kind = REPLAY_BARRIER, .wake_ticks = 5, .parties = 2},
    {.kind = REPLAY_BARRIER, .wake_ticks = 5, .parties = 3},
    {.kind = REPLAY_BARRIER, .spins = true, .parties = 2},
};

/* What the play comes to must be this; the play is closed. */
struct outcome {
    uint64_t wall, worked, runnable;
    uint64_t waited, held, acquisitions, contended; /* of object 0, if there is one */
    uint32_t unfinished;
};

static void expect(struct play *play, struct outcome expected)
{
    struct replay_result result = replay(play);
    assert_int_equal(result.wall, expected.wall);
    assert_int_equal(result.worked, expected.worked);
    assert_int_equal(result.runnable, expected.runnable);
    assert_int_equal(result.unfinished, expected.unfinished);
    if (play->model.object_count) {
        assert_int_equal(result.objects[0].acquisitions, expected.acquisitions);
        assert_int_equal(result.objects[0].contended, expected.contended);
        assert_int_equal(result.objects[0].waited, expected.waited);
        assert_int_equal(result.objects[0].held, expected.held);
    }
    replay_result__free(&result);
    close_play(play);
}

/* ---- alone ----------------------------------------------------------------------------------- */

static void work_and_delays_take_their_time(void **state)
{
    (void)state;
    expect(PLAY(1, "10x 20d 5x 0d 7x"), (struct outcome){.wall = 42, .worked = 22});
    expect(PLAY(2, "10x 20d", "100x"), (struct outcome){.wall = 100, .worked = 110});
    expect(PLAY(1, ""), (struct outcome){.wall = 0});
    expect(play_of(1, (const char *const[]){NULL}), (struct outcome){.wall = 0});
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* The other comes at 95 and is not yet asleep when the lock is released: it has it at once. */
static void who_is_not_yet_asleep_need_not_be_woken(void **state)
{
    (void)state;
    static const struct replay_object settling = {
        .kind = REPLAY_LOCK, .wake_ticks = 5, .settle_ticks = 20, .release_ticks = 7};
    expect(with_objects(PLAY(2, "10a0 100r0", "95a0 50r0"), &settling, 1),
           (struct outcome){.wall = 160,
                            .worked = 255,
                            .waited = 15,
                            .held = 150,
                            .acquisitions = 2,
                            .contended = 1});
}

/* Waking the other one is work behind the release; the other's own release wakes nobody. */
static void waking_takes_time(void **state)
{
    (void)state;
    static const struct replay_object waking = {
        .kind = REPLAY_LOCK, .wake_ticks = 5, .release_ticks = 7};
    expect(with_objects(PLAY(2, "10a0 100r0 60x", "20a0 50r0"), &waking, 1),
           (struct outcome){.wall = 177,
                            .worked = 247,
                            .waited = 95,
                            .held = 150,
                            .acquisitions = 2,
                            .contended = 1});
}

/* The second owner's section, and what is behind it, take longer; taking it again does not. */
static void handing_over_takes_time(void **state)
{
    (void)state;
    static const struct replay_object handed = {
        .kind = REPLAY_LOCK, .wake_ticks = 5, .handed_ticks = 3, .behind_ticks = 4};
    expect(with_objects(PLAY(2, "10a0 100r0", "20a0 50r0 10a0 50r0 10x"), &handed, 1),
           (struct outcome){.wall = 115 + 53 + 14 + 50 + 10,
                            .worked = 110 + 20 + 53 + 14 + 50 + 10,
                            .waited = 95,
                            .held = 203,
                            .acquisitions = 3,
                            .contended = 1});
}

/* Held from 10 to 110; the other comes at 20, is woken at 110 and runs at 115. */
static void who_comes_later_waits(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "10a0 100r0", "20a0 50r0"), &mutex, 1),
           (struct outcome){.wall = 165,
                            .worked = 180,
                            .waited = 95,
                            .held = 150,
                            .acquisitions = 2,
                            .contended = 1});
}

/* The holder is back at 112, before the woken one tries (115), and leaves at 142. */
static void who_comes_before_the_woken_one_has_it(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "10a0 100r0 2a0 30r0", "20a0 50r0"), &mutex, 1),
           (struct outcome){.wall = 197,
                            .worked = 212,
                            .waited = 127,
                            .held = 180,
                            .acquisitions = 3,
                            .contended = 1});
}

/* Back at 120, it finds that the woken one has it (115 to 165), and has it from 170 to 200. */
static void who_comes_after_the_woken_one_waits(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "10a0 100r0 10a0 30r0", "20a0 50r0"), &mutex, 1),
           (struct outcome){.wall = 200,
                            .worked = 220,
                            .waited = 95 + 50,
                            .held = 180,
                            .acquisitions = 3,
                            .contended = 2});
}

/* Three wait; each release wakes one. */
static void waiters_come_in_turn(void **state)
{
    (void)state;
    expect(with_objects(PLAY(4, "0a0 100r0", "30a0 10r0", "10a0 10r0", "20a0 10r0"), &mutex, 1),
           (struct outcome){.wall = 145,
                            .worked = 190,
                            .waited = 95 + 100 + 105,
                            .held = 130,
                            .acquisitions = 4,
                            .contended = 3});
}

/* Two wait, from 10 and from 40 on. Who is quicker at 102 has not waited, and wakes nobody at 103:
 * the one that was woken at 100 is still under way, and the other one would find the lock taken
 * (108), having cost the one that goes on two switches. */
static void who_is_quicker_wakes_nobody_in_vain(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "0a0 100r0 2a0 1r0 200x", "10a0 50r0", "20a0 50r0");
    play->model.switch_ticks = 10;
    expect(with_objects(play, &mutex, 1), (struct outcome){.wall = 303,
                                                           .worked = 303 + 60 + 80,
                                                           .runnable = 10,
                                                           .waited = 95 + 120,
                                                           .held = 201,
                                                           .acquisitions = 4,
                                                           .contended = 2});
}

static void a_holder_acquires_again(void **state)
{
    (void)state;
    expect(
        with_objects(PLAY(2, "0a0 10a0 10s0 10r0 10r0 10r0", "5a0 10r0"), &mutex, 1),
        (struct outcome){
            .wall = 65, .worked = 65, .waited = 50, .held = 60, .acquisitions = 2, .contended = 1});
}

static void a_release_by_another_thread_is_none(void **state)
{
    (void)state;
    expect(with_objects(PLAY(3, "10a0 100r0", "20r0 20r0", "50a0 10r0"), &mutex, 1),
           (struct outcome){.wall = 125,
                            .worked = 210,
                            .waited = 65,
                            .held = 110,
                            .acquisitions = 2,
                            .contended = 1});
}

/* ---- locks with readers ---------------------------------------------------------------------- */

static void readers_share(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "0s0 100r0", "10s0 50r0"), &mutex, 1),
           (struct outcome){.wall = 100, .worked = 160, .held = 150, .acquisitions = 2});
}

/* A reader comes in (20) though a writer waits (10), who is handed the lock at 120. */
static void readers_come_before_writers(void **state)
{
    (void)state;
    expect(with_objects(PLAY(3, "0s0 100r0", "10a0 20r0", "20s0 100r0"), &mutex, 1),
           (struct outcome){.wall = 145,
                            .worked = 250,
                            .waited = 115,
                            .held = 225,
                            .acquisitions = 3,
                            .contended = 1});
}

/* The writer hands it to both readers (100) and comes again (101), behind the other writer, which
 * has it from 155, when the last reader leaves, to 170. */
static void a_writer_hands_it_to_all_readers(void **state)
{
    (void)state;
    struct play *play = PLAY(4, "0a0 100r0 1a0 10r0", "10s0 30r0", "20s0 50r0", "5a0 10r0");
    expect(with_objects(play, &mutex, 1), (struct outcome){.wall = 185,
                                                           .worked = 236,
                                                           .waited = 95 + 85 + 155 + 74,
                                                           .held = 100 + 35 + 55 + 15 + 10,
                                                           .acquisitions = 5,
                                                           .contended = 4});
}

/* The first release ends one of the two times that the thread holds it. */
static void a_reader_holds_it_twice(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "0s0 10s0 10r0 10r0 10r0", "5a0 1r0"), &mutex, 1),
           (struct outcome){.wall = 40,
                            .worked = 46,
                            .waited = 30,
                            .held = 30 + 10 + 6,
                            .acquisitions = 3,
                            .contended = 1});
}

static void a_lost_release_of_a_reader_does_no_harm(void **state)
{
    (void)state;
    expect(with_objects(PLAY(1, "0s0 10a0 20r0"), &mutex, 1),
           (struct outcome){.wall = 30, .worked = 30, .held = 30, .acquisitions = 2});
}

/* ---- semaphores, barriers, tokens ------------------------------------------------------------ */

/* Given at 10, 20 and 30; taken 5 later each. */
static void a_semaphore_is_a_queue(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "10g0 10g0 10g0", "0t0 1t0 1t0 1x"), semaphores, 1),
           (struct outcome){
               .wall = 36, .worked = 33, .waited = 15 + 9 + 9, .acquisitions = 3, .contended = 3});
}

/* Given twice before anybody comes: two are let in. */
static void a_semaphore_counts(void **state)
{
    (void)state;
    expect(with_objects(PLAY(4, "0g0 1g0 100g0", "10t0", "20t0", "30t0"), semaphores, 1),
           (struct outcome){
               .wall = 106, .worked = 161, .waited = 76, .acquisitions = 3, .contended = 1});
}

static void a_semaphore_is_a_mutex(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "10t0 100g0", "20t0 50g0"), &semaphores[1], 1),
           (struct outcome){
               .wall = 165, .worked = 180, .waited = 95, .acquisitions = 2, .contended = 1});
}

static void a_spinning_semaphore_is_handed_on(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "10g0 10g0 10g0", "0t0 1t0 25t0 1x"), &semaphores[2], 1),
           (struct outcome){
               .wall = 46, .worked = 76, .waited = 10 + 9, .acquisitions = 3, .contended = 2});
}

static void the_last_at_a_barrier_goes_on(void **state)
{
    (void)state;
    expect(with_objects(PLAY(3, "10m0 10x", "20m0 10x", "50m0 10x"), &barriers[1], 1),
           (struct outcome){
               .wall = 65, .worked = 110, .waited = 45 + 35, .acquisitions = 3, .contended = 2});
    expect(with_objects(PLAY(2, "10m0 10x", "50m0 10x"), &barriers[2], 1),
           (struct outcome){
               .wall = 60, .worked = 120, .waited = 40, .acquisitions = 2, .contended = 1});
}

/* The second time from 56 to 60, and one is woken again. */
static void a_barrier_serves_again(void **state)
{
    (void)state;
    expect(with_objects(PLAY(2, "10m0 1m0", "50m0 10m0"), barriers, 1),
           (struct outcome){
               .wall = 65, .worked = 71, .waited = 45 + 9, .acquisitions = 4, .contended = 2});
}

/* Begun at 13, at its end at 163; then 3 and 5. */
static void threads_begin_and_are_joined(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "10p0 100w1 5x", "0w0 150p1");
    play->model.token_ticks = 3;
    expect(play, (struct outcome){.wall = 171, .worked = 265});
}

static void a_posted_token_stays(void **state)
{
    (void)state;
    expect(PLAY(3, "10p63", "20w63 5x", "5w63 10x"), (struct outcome){.wall = 25, .worked = 50});
}

/* ---- fewer CPUs than threads ----------------------------------------------------------------- */

/* The new thread is ready at 13, has its first slice from 100 to 200, the rest when the first one
 * waits, from 210 to 260. */
static void slices_of_a_cpu(void **state)
{
    (void)state;
    struct play *play = PLAY(1, "10p0 100w1 5x", "0w0 150p1");
    play->model.token_ticks = 3;
    expect(play, (struct outcome){.wall = 268, .worked = 265, .runnable = 87 + 100 + 10});
}

static void four_threads_share_two_cpus(void **state)
{
    (void)state;
    expect(PLAY(2, "1000x", "1000x", "1000x", "1000x"),
           (struct outcome){.wall = 2000, .worked = 4000, .runnable = 2 * 900 + 2 * 1000});
}

static void three_threads_share_two_cpus(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "1000x", "1000x", "1000x");
    struct replay_result result = replay(play);
    assert_int_equal(result.worked, 3000);
    assert_in_range(result.wall, 1500, 1500 + 100);
    replay_result__free(&result);
    close_play(play);
}

/* 7 at 100, 207 and 314. */
static void a_switch_costs_time(void **state)
{
    (void)state;
    struct play *play = PLAY(1, "200x", "200x");
    play->model.switch_ticks = 7;
    expect(play, (struct outcome){.wall = 421, .worked = 421, .runnable = 100 + 107 + 107});
}

static void where_cpus_suffice_nothing_is_switched(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "1000x 100d 1000x", "1000x 50d 1000x");
    play->model.switch_ticks = 1000;
    expect(play, (struct outcome){.wall = 2100, .worked = 4000});
}

/* Three threads, two CPUs, but never three that want one. */
static void an_idle_cpu_is_taken_at_once(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "1000p0 0w1 100x", "1900x", "0w0 50p1");
    play->model.switch_ticks = 1000;
    play->model.token_ticks = 1;
    expect(play, (struct outcome){.wall = 1900, .worked = 3050});
}

/* Woken at 610 after 500 ticks of sleep, it has its CPU at once. */
static void who_slept_long_displaces(void **state)
{
    (void)state;
    expect(PLAY(1, "1000x", "10x 500d 10x"),
           (struct outcome){.wall = 1020, .worked = 1020, .runnable = 100 + 10 + 10});
}

/* Woken at 220, when it has run 90 and the other 130, it waits for the end of the slice at 290. */
static void who_has_run_as_much_waits_for_its_slice(void **state)
{
    (void)state;
    expect(PLAY(1, "1000x", "90x 30d 10x"),
           (struct outcome){.wall = 1100, .worked = 1100, .runnable = 100 + 90 + 70 + 10});
}

/* On its CPU since 320; at 370 the other one wakes up, which has run 100 less by then. */
static void who_slept_long_displaces_within_a_slice(void **state)
{
    (void)state;
    expect(PLAY(1, "300x 10d 1000x", "10x 260d 10x"),
           (struct outcome){.wall = 1330, .worked = 1320, .runnable = 100 + 10 + 10});
}

/* From 610 on they take turns, beginning with the one that has slept. */
static void sleep_is_no_store_of_cpu_time(void **state)
{
    (void)state;
    expect(
        PLAY(1, "1000x", "10x 500d 300x"),
        (struct outcome){.wall = 1310, .worked = 1310, .runnable = 100 + 100 + 100 + 10 + 3 * 100});
}

/* It begins at 420, and waits for the end of the slice that began at 360. */
static void a_new_thread_has_no_credit(void **state)
{
    (void)state;
    expect(PLAY(1, "350x 10d 60p0 500x", "0w0 10x"),
           (struct outcome){.wall = 930, .worked = 920, .runnable = 40 + 10});
}

/* ---- spinning -------------------------------------------------------------------------------- */

static void who_spins_has_it_at_the_release(void **state)
{
    (void)state;
    expect(with_objects(PLAY(3, "0a0 100r0 10x", "50a0 10r0", "60a0 10r0"), &spinlock, 1),
           (struct outcome){.wall = 120,
                            .worked = 110 + 110 + 120,
                            .waited = 50 + 50,
                            .held = 120,
                            .acquisitions = 3,
                            .contended = 2});
}

/* The holder loses its CPU from 100 to 200, while the other spins from 110 on; at the release (250)
 * that one has no CPU, and gets it at 300. */
static void a_displaced_holder_makes_others_spin(void **state)
{
    (void)state;
    expect(with_objects(PLAY(1, "50a0 100r0 50x", "10a0 20r0"), &spinlock, 1),
           (struct outcome){.wall = 320,
                            .worked = 320,
                            .runnable = 300,
                            .waited = 190,
                            .held = 220,
                            .acquisitions = 2,
                            .contended = 1});
}

/* Spins from 10 to 100; the other comes at 120; the first one is back at 200. */
static void who_spins_at_a_barrier_has_come(void **state)
{
    (void)state;
    expect(with_objects(PLAY(1, "10m0 10x", "20m0 100x"), &barriers[2], 1),
           (struct outcome){.wall = 230,
                            .worked = 230,
                            .runnable = 100 + 100 + 10,
                            .waited = 190,
                            .acquisitions = 2,
                            .contended = 1});
}

/* ---- what never ends ------------------------------------------------------------------------- */

static const struct replay_object two_locks[] = {{.kind = REPLAY_LOCK}, {.kind = REPLAY_LOCK}};

static void a_deadlock_is_counted(void **state)
{
    (void)state;
    expect(with_objects(PLAY(3, "10a0 10a1 10r1 10r0", "10a1 10a0 10r0 10r1", "50x"), two_locks, 2),
           (struct outcome){.wall = 50,
                            .worked = 90,
                            .held = 40,
                            .acquisitions = 1,
                            .contended = 1,
                            .unfinished = 2});
}

/* The first one, which has the lock, awaits what the second does with it, until at 25 nobody can go
 * on; the third waits for what nobody does, until the others are done at 50. */
static void a_token_that_cannot_be_posted_counts_as_posted(void **state)
{
    (void)state;
    expect(
        with_objects(PLAY(3, "10a0 10w5 10r0", "20a0 5p5 5r0", "25w6 10x"), &mutex, 1),
        (struct outcome){
            .wall = 60, .worked = 95, .waited = 20, .held = 35, .acquisitions = 2, .contended = 1});
    expect(PLAY(1, "10w0", "20x"), (struct outcome){.wall = 30, .worked = 30, .runnable = 10});
}

/* One holder is gone, the others spin for ever, by turns. */
static void spinning_for_ever_ends(void **state)
{
    (void)state;
    for (uint32_t cpus = 1; cpus < 5; cpus++) {
        struct play *play = PLAY(cpus, "10a0 5x", "20a0", "30a0", "10a1 5a0");
        struct replay_result result =
            replay(with_objects(play, (struct replay_object[]){spinlock, spinlock}, 2));
        assert_int_equal(result.unfinished, 3);
        assert_int_equal(result.objects[0].acquisitions, 1);
        assert_int_equal(result.objects[0].contended, 3);
        replay_result__free(&result);
        close_play(play);
    }
}

static void what_is_not_there_is_no_operation(void **state)
{
    (void)state;
    const struct replay_object objects[] = {
        mutex, semaphores[0], {.kind = REPLAY_BARRIER, .parties = 0}};
    struct play *play = PLAY(0, "1a9 1s3 1r3 1t9 1g9 1m9 1p64 1w64 1w4294967295",
                             "1t0 1g0 1m0 1a1 1s1 1r1 1m1 1a2 1r2 1t2 1g2 1m2");
    struct replay_op unknown = {.ticks = 1, .kind = 99};
    vec__push(&play->rows[0], &unknown);
    expect(with_objects(play, objects, 3),
           (struct outcome){.wall = 22, .worked = 22, .runnable = 10});
    play = PLAY(1, "1a0 1r0", "1w5");
    play->model.token_count = 0;
    play->model.slice_ticks = 0;
    expect(play, (struct outcome){.wall = 3, .worked = 3, .runnable = 2});
}

/* Time stops at its end. */
static void huge_times_end(void **state)
{
    (void)state;
    static const char huge[] =
        "18446744073709551615x 18446744073709551615x 18446744073709551615d 1a0 9r0 9p1 1x";
    struct play *play =
        with_objects(PLAY(2, huge, huge, huge, "18446744073709551615d 0w1 1x"), &mutex, 1);
    play->model.slice_ticks = UINT64_MAX / 8;
    play->model.switch_ticks = UINT64_MAX / 2;
    struct replay_result result = replay(play);
    assert_int_equal(result.unfinished, 0);
    assert_int_equal(result.wall, UINT64_MAX);
    replay_result__free(&result);
    close_play(play);
}

/* Whoever has its slices counted waits for ever: there are 2^55 of them in all. The shares stay
 * alike. */
static void huge_times_have_few_slices(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "1152921504606846976x", "1152921504606846976x",
                             "1152921504606846976x", "1152921504606846976x 1x");
    struct replay_result result = replay(play);
    assert_int_equal(result.unfinished, 0);
    assert_in_range(result.wall, 1ull << 61, (1ull << 61) + (1ull << 57));
    replay_result__free(&result);
    close_play(play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_and_delays_take_their_time),
        cmocka_unit_test(who_comes_later_waits),
        cmocka_unit_test(who_is_not_yet_asleep_need_not_be_woken),
        cmocka_unit_test(waking_takes_time),
        cmocka_unit_test(handing_over_takes_time),
        cmocka_unit_test(who_comes_before_the_woken_one_has_it),
        cmocka_unit_test(who_comes_after_the_woken_one_waits),
        cmocka_unit_test(waiters_come_in_turn),
        cmocka_unit_test(who_is_quicker_wakes_nobody_in_vain),
        cmocka_unit_test(a_holder_acquires_again),
        cmocka_unit_test(a_release_by_another_thread_is_none),
        cmocka_unit_test(readers_share),
        cmocka_unit_test(readers_come_before_writers),
        cmocka_unit_test(a_writer_hands_it_to_all_readers),
        cmocka_unit_test(a_reader_holds_it_twice),
        cmocka_unit_test(a_lost_release_of_a_reader_does_no_harm),
        cmocka_unit_test(a_semaphore_is_a_queue),
        cmocka_unit_test(a_semaphore_counts),
        cmocka_unit_test(a_semaphore_is_a_mutex),
        cmocka_unit_test(a_spinning_semaphore_is_handed_on),
        cmocka_unit_test(the_last_at_a_barrier_goes_on),
        cmocka_unit_test(a_barrier_serves_again),
        cmocka_unit_test(threads_begin_and_are_joined),
        cmocka_unit_test(a_posted_token_stays),
        cmocka_unit_test(slices_of_a_cpu),
        cmocka_unit_test(four_threads_share_two_cpus),
        cmocka_unit_test(three_threads_share_two_cpus),
        cmocka_unit_test(a_switch_costs_time),
        cmocka_unit_test(where_cpus_suffice_nothing_is_switched),
        cmocka_unit_test(an_idle_cpu_is_taken_at_once),
        cmocka_unit_test(who_slept_long_displaces),
        cmocka_unit_test(who_has_run_as_much_waits_for_its_slice),
        cmocka_unit_test(who_slept_long_displaces_within_a_slice),
        cmocka_unit_test(sleep_is_no_store_of_cpu_time),
        cmocka_unit_test(a_new_thread_has_no_credit),
        cmocka_unit_test(who_spins_has_it_at_the_release),
        cmocka_unit_test(a_displaced_holder_makes_others_spin),
        cmocka_unit_test(who_spins_at_a_barrier_has_come),
        cmocka_unit_test(a_deadlock_is_counted),
        cmocka_unit_test(a_token_that_cannot_be_posted_counts_as_posted),
        cmocka_unit_test(spinning_for_ever_ends),
        cmocka_unit_test(what_is_not_there_is_no_operation),
        cmocka_unit_test(huge_times_end),
        cmocka_unit_test(huge_times_have_few_slices),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
