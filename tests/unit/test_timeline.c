/* The timeline: no time is lost between its levels, none of them grows without bound, and states,
 * waits and who ended them are those of a trace that is written here. */
#include "scene.h"

#include "analysis/timeline/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define LEFT | 1
#define SITE HEURT_SITE(0x401500, HEURT_LOCK_MUTEX)

/* ---- pieces ---------------------------------------------------------------------------------- */

static void pieces_come_back_from_bytes(void **state)
{
    (void)state;
    const struct timeline_piece pieces[] = {
        {.ns = 5, .state_ns = {[COMPONENT_LOCK] = 5}},
        {.ns = 1ull << 40, .state_ns = {[STATE_IDLE] = 1ull << 40}},
        {.ns = 430,
         .state_ns = {[COMPONENT_LOCK] = 127, [COMPONENT_RUNNING] = 128, [COMPONENT_DISK] = 175}}};
    struct vec bytes = VEC_OF(uint8_t);
    struct timeline_piece piece;
    size_t at = 0;
    for (unsigned i = 0; i < 3; i++)
        timeline_piece__put(&pieces[i], &bytes);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(timeline_piece__next(&bytes, &at, &piece));
        assert_memory_equal(&piece, &pieces[i], sizeof piece);
    }
    assert_false(timeline_piece__next(&bytes, &at, &piece));
    vec__free(&bytes);
}

/* ---- levels ---------------------------------------------------------------------------------- */

static uint64_t seed = 7;

static uint64_t any(uint64_t below)
{
    uint64_t mixed = seed += 0x9e3779b97f4a7c15u; /* splitmix64 (Steele, Lea, Flood) */
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return (mixed ^ mixed >> 31) % below;
}

/* Of one lane and level; returns its pieces. */
static size_t add_up(const struct timeline_lane *lane, unsigned level)
{
    struct timeline_piece piece, sum = {0};
    size_t at = 0, count = 0;
    for (; timeline_piece__next(&lane->levels[level], &at, &piece); count++)
        for (unsigned i = 0; i < TIMELINE_STATES; i++)
            sum.state_ns[i] += piece.state_ns[i];
    for (unsigned i = 0; i < TIMELINE_STATES; i++)
        assert_int_equal(sum.state_ns[i], lane->state_ns[i]);
    return count;
}

static struct timeline *filled(size_t lanes, size_t adds, uint64_t longest_ns, uint64_t wall_ns)
{
    struct timeline *timeline = timeline__new(lanes, wall_ns);
    VEC_EACH (lane, &timeline->lanes, struct timeline_lane)
        for (size_t i = 0; i < adds; i++)
            timeline__add(timeline, lane, 5 * (unsigned)any(6),
                          any(50) ? any(longest_ns) : any(40 * longest_ns));
    timeline__close_lanes(timeline);
    return timeline;
}

static uint64_t life_ns(const struct timeline_lane *lane)
{
    uint64_t ns = 0;
    for (unsigned i = 0; i < TIMELINE_STATES; i++)
        ns += lane->state_ns[i];
    return ns;
}

static void every_level_has_all_of_the_time(void **state)
{
    (void)state;
    struct timeline *timeline = filled(3, 5000, 1000, 6000000);
    unsigned kept = 0;
    for (unsigned level = 0; level < TIMELINE_LEVELS; level++) {
        if (!timeline->is_kept[level])
            continue;
        kept++;
        VEC_EACH (lane, &timeline->lanes, struct timeline_lane) {
            size_t count = add_up(lane, level);
            if (timeline->least_ns[level])
                assert_true(count <= 2 * life_ns(lane) / timeline->least_ns[level] + 2);
        }
    }
    assert_true(timeline->is_kept[0]);
    assert_true(kept >= 4);
    timeline__free(timeline);
}

static void levels_are_bounded(void **state)
{
    (void)state;
    const size_t adds = 300000;
    struct timeline *timeline = filled(2, adds, 1000, adds * 1000);
    size_t bytes = 0;
    assert_false(timeline->is_kept[0]);
    assert_true(timeline->is_kept[TIMELINE_LEVELS - 1]);
    for (unsigned level = 0; level < TIMELINE_LEVELS; level++)
        VEC_EACH (lane, &timeline->lanes, struct timeline_lane) {
            bytes += lane->levels[level].count;
            if (timeline->is_kept[level])
                add_up(lane, level);
        }
    assert_true(bytes > 10000 && bytes < 2 * TIMELINE_BYTES_MOST);
    timeline__free(timeline);
}

/* ---- a trace --------------------------------------------------------------------------------- */

static struct timeline *timeline_of(struct scene *scene)
{
    struct timeline *timeline;
    struct error error = {""};
    assert_int_equal(run__one(scene->trace, scene->symbols, &timeline_analysis, NULL,
                              (void **)&timeline, &error),
                     0);
    assert_non_null(timeline);
    return timeline;
}

/* Thread 1 waits for the lock that thread 0 has, and then sleeps. */
static void a_wait_and_who_ended_it(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, HEURT_EVENT_LOCK_ACQUIRED, SITE, 0x70);
    PUT(scene, 1, 1000, HEURT_EVENT_LOCK_WAIT, SITE, 0x70);
    PUT(scene, 0, 91000, HEURT_EVENT_LOCK_RELEASED, SITE, 0x70);
    PUT(scene, 1, 92000, HEURT_EVENT_LOCK_WAIT LEFT, 0);
    PUT(scene, 1, 93000, HEURT_EVENT_LOCK_RELEASED, SITE, 0x70);
    PUT(scene, 1, 95000, HEURT_EVENT_SLEEP, SITE, 10);
    PUT(scene, 1, 99000, HEURT_EVENT_SLEEP LEFT, 0);
    scene__end(scene, 0, 100000);
    scene__end(scene, 1, 100000);
    scene__profile(scene);
    struct timeline *timeline = timeline_of(scene);
    const struct timeline_lane *lane = VEC_AT(&timeline->lanes, struct timeline_lane, 1);
    assert_int_equal(lane->state_ns[COMPONENT_LOCK], 91000);
    assert_int_equal(life_ns(lane), lane->to_ns - lane->from_ns);
    assert_int_equal(life_ns(lane),
                     VEC_AT(&scene->profile->threads, struct profile_thread, 1)->lifetime_ns);
    assert_int_equal(lane->state_ns[COMPONENT_SLEEP] + lane->state_ns[STATE_IDLE], 4000);
    assert_int_equal(timeline->waits.count, 1);
    assert_int_equal(timeline->all_waits_ns, 91000);
    const struct timeline_wait *wait = VEC_AT(&timeline->waits, struct timeline_wait, 0);
    assert_int_equal(wait->thread, 1);
    assert_int_equal(wait->by, 0);
    assert_int_equal(wait->ns, 91000);
    assert_int_equal(wait->by_ns - wait->from_ns, 90000);
    assert_int_equal(VEC_AT(&timeline->objects, struct sync_object, wait->object)->address, 0x70);
    timeline__free(timeline);
}

/* Of very many waits the longest ones are kept, and all are counted. */
static void the_longest_waits_are_kept(void **state)
{
    struct scene *scene = *state;
    const uint64_t waits = TIMELINE_WAITS_MOST + 500;
    uint64_t tick = 2000, all = 0;
    for (uint64_t i = 0; i < waits; i++) {
        uint64_t ticks = 10 + i;
        PUT(scene, 0, tick, HEURT_EVENT_LOCK_WAIT, SITE, 0x70);
        PUT(scene, 0, tick + ticks, HEURT_EVENT_LOCK_WAIT LEFT, 0);
        PUT(scene, 0, tick + ticks, HEURT_EVENT_LOCK_RELEASED, SITE, 0x70);
        tick += ticks + 5;
        all += ticks;
    }
    scene__end(scene, 0, tick);
    scene__profile(scene);
    struct timeline *timeline = timeline_of(scene);
    assert_int_equal(timeline->all_waits, waits);
    assert_int_equal(timeline->all_waits_ns, all);
    assert_int_equal(timeline->waits.count, TIMELINE_WAITS_MOST);
    VEC_EACH (wait, &timeline->waits, struct timeline_wait)
        assert_true(wait->ns >= 510);
    timeline__free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_back_from_bytes),
        cmocka_unit_test(every_level_has_all_of_the_time),
        cmocka_unit_test(levels_are_bounded),
        cmocka_unit_test_setup_teardown(a_wait_and_who_ended_it, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(the_longest_waits_are_kept, scene__setup, scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
