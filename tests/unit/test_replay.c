#include "analysis/replay.h"
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

/* What the play comes to must be this; the play is closed. */
struct outcome {
    uint64_t wall;
    uint64_t waited, held, acquisitions, contended; /* of object 0, if there is one */
    uint64_t runnable;
    uint32_t stuck;
};

static void expect(struct play *play, struct outcome expected)
{
    struct replay_result result = replay(play);
    assert_int_equal(result.wall, expected.wall);
    assert_int_equal(result.runnable, expected.runnable);
    assert_int_equal(result.stuck, expected.stuck);
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
    expect(PLAY(1, "10x 20d 5x 7x"), (struct outcome){.wall = 42});
    expect(PLAY(2, "10x 20d", "100x"), (struct outcome){.wall = 100});
    expect(PLAY(1, ""), (struct outcome){.wall = 0});
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Held from 10 to 110; the other comes at 20, is woken at 110 and runs at 115. */
static void who_comes_later_waits(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "10a0 100r0", "20a0 50r0");
    expect(with_objects(play, &mutex, 1),
           (struct outcome){
               .wall = 165, .waited = 95, .held = 150, .acquisitions = 2, .contended = 1});
}

/* The holder is back at 112, before the woken one tries (115), and leaves at 142. */
static void who_comes_before_the_woken_one_has_it(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "10a0 100r0 2a0 30r0", "20a0 50r0");
    expect(with_objects(play, &mutex, 1),
           (struct outcome){
               .wall = 197, .waited = 127, .held = 180, .acquisitions = 3, .contended = 1});
}

/* Back at 120, it finds that the woken one has it (115 to 165), and has it from 170 to 200. */
static void who_comes_after_the_woken_one_waits(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "10a0 100r0 10a0 30r0", "20a0 50r0");
    expect(with_objects(play, &mutex, 1),
           (struct outcome){
               .wall = 200, .waited = 95 + 50, .held = 180, .acquisitions = 3, .contended = 2});
}

/* Three wait; each release wakes one. */
static void waiters_come_in_turn(void **state)
{
    (void)state;
    struct play *play = PLAY(4, "0a0 100r0", "30a0 10r0", "10a0 10r0", "20a0 10r0");
    expect(
        with_objects(play, &mutex, 1),
        (struct outcome){
            .wall = 145, .waited = 95 + 100 + 105, .held = 130, .acquisitions = 4, .contended = 3});
}

static void a_holder_acquires_again(void **state)
{
    (void)state;
    struct play *play = PLAY(2, "0a0 10a0 10s0 10r0 10r0 10r0", "5a0 10r0");
    expect(
        with_objects(play, &mutex, 1),
        (struct outcome){.wall = 65, .waited = 50, .held = 60, .acquisitions = 2, .contended = 1});
}

static void a_release_by_another_thread_is_none(void **state)
{
    (void)state;
    struct play *play = PLAY(3, "10a0 100r0", "20r0 20r0", "50a0 10r0");
    expect(with_objects(play, &mutex, 1),
           (struct outcome){
               .wall = 125, .waited = 65, .held = 110, .acquisitions = 2, .contended = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_and_delays_take_their_time),
        cmocka_unit_test(who_comes_later_waits),
        cmocka_unit_test(who_comes_before_the_woken_one_has_it),
        cmocka_unit_test(who_comes_after_the_woken_one_waits),
        cmocka_unit_test(waiters_come_in_turn),
        cmocka_unit_test(a_holder_acquires_again),
        cmocka_unit_test(a_release_by_another_thread_is_none),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
