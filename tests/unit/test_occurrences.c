/* What is kept of single occurrences, and when which class was on a CPU. */
#include "analysis/analysis.h"
#include "analysis/events/occurrences.h"
#include "base/memory.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { F = 1024, G = 1026, H = 1028 };
#define LEFT | 1
#define MUTEX HEURT_SITE(0x9000, HEURT_LOCK_MUTEX)

struct kept {
    struct scene scene;
    struct class_table table;
    struct occurrences occurrences;
};

static int begin(void **state)
{
    static struct kept kept;
    memset(&kept, 0, sizeof kept);
    scene__begin(&kept.scene);
    scene__function(&kept.scene, 0, F, 0x401000, "f", "n,m");
    scene__function(&kept.scene, 0, G, 0x401100, "g", "");
    scene__function(&kept.scene, 0, H, 0x401200, "h", "");
    *state = &kept;
    return 0;
}

static int end(void **state)
{
    struct kept *kept = *state;
    occurrences__free(&kept->occurrences);
    class_table__free(&kept->table);
    scene__free(&kept->scene);
    return 0;
}

static bool any(const struct class_entry *entry)
{
    (void)entry;
    return true;
}

/* ---- two analyses: classes are counted, then all occurrences kept ------------------------------
 */

static struct thread_result results[SCENE_THREADS];

static void *start_counting(struct run *run)
{
    struct class_table *table = memory__zeroed(1, sizeof *table);
    class_table__start(table, run->trace, NULL);
    class_table__add_lanes(table, run->lanes);
    return table;
}

static void *count_thread(void *table, unsigned lane, uint32_t thread)
{
    return thread_fold__start(&((struct class_table *)table)->lanes[lane], NULL, thread, false,
                              &results[thread]);
}

static void join_count(void *table, uint32_t thread, void *part)
{
    thread_fold__join(part, table, thread);
}

static void *end_counting(void *table)
{
    class_table__join_lanes(table);
    return table;
}

static const struct analysis counting = {.name = "counting",
                                         .walk = WALK_THREADS,
                                         .start = start_counting,
                                         .thread = count_thread,
                                         .event = thread_fold__event,
                                         .end = thread_fold__end,
                                         .join = join_count,
                                         .finish = end_counting};

static void *start_keeping(struct run *run)
{
    return occurrences__start(run__result(run, &counting), any);
}

static void *end_keeping(void *plan)
{
    struct occurrences *all = memory__zeroed(1, sizeof *all);
    *all = occurrences__end(plan);
    return all;
}

static const struct analysis keeping = {.name = "keeping",
                                        .after = (const struct analysis *const[]){&counting, NULL},
                                        .walk = WALK_THREADS,
                                        .start = start_keeping,
                                        .thread = occurrences__thread,
                                        .event = occurrences__event,
                                        .end = occurrences__end_thread,
                                        .join = occurrences__join,
                                        .finish = end_keeping};

static void collect(struct kept *kept)
{
    scene__profile(&kept->scene);
    struct run run = run__of(kept->scene.trace, NULL);
    run__ask(&run, &keeping, NULL);
    assert_int_equal(run__analyse(&run, NULL), 0);
    struct class_table *table = run__take(&run, &counting);
    struct occurrences *all = run__take(&run, &keeping);
    kept->table = *table;
    kept->occurrences = *all;
    free(table);
    free(all);
    run__free(&run);
}

static const struct class_occurrences *class_of(const struct kept *kept, const char *function)
{
    VEC_EACH (class, &kept->occurrences.classes, struct class_occurrences) {
        if (!strcmp(class->entry->what.at.function, function))
            return class;
    }
    fail_msg("no class %s", function);
    return NULL;
}

static const struct occurrence *at(const struct kept *kept, const char *function, size_t place)
{
    const struct vec *occurrences = &class_of(kept, function)->occurrences;
    assert_true(place < occurrences->count);
    return VEC_AT(occurrences, struct occurrence, place);
}

static const struct class_timeline *timeline_of(const struct kept *kept, const char *function,
                                                uint32_t thread)
{
    VEC_EACH (timeline, &kept->occurrences.timelines, struct class_timeline) {
        if (!strcmp(timeline->entry->what.at.function, function) && timeline->thread == thread)
            return timeline;
    }
    return NULL;
}

static void check_intervals(const struct vec *intervals, const uint64_t *expected, size_t count)
{
    assert_int_equal(intervals->count, count);
    for (size_t i = 0; i < count; i++) {
        const struct interval *interval = VEC_AT(intervals, struct interval, i);
        assert_int_equal(interval->begin, expected[2 * i]);
        assert_int_equal(interval->end, expected[2 * i + 1]);
    }
}
#define CHECK_INTERVALS(intervals, ...)                         \
    check_intervals(intervals, (const uint64_t[]){__VA_ARGS__}, \
                    sizeof((uint64_t[]){__VA_ARGS__}) / 16)

static void off_cpu(struct scene *scene, uint64_t tick, uint64_t ticks, enum heurt_off how,
                    uint64_t cpu)
{
    PUT(scene, 0, tick, HEURT_EVENT_OFF_CPU, HEURT_OFF(ticks, how),
        HEURT_BACK(HEURT_NOT_KNOWN, cpu), 0);
}

static void occurrences_tell_what_they_were(void **state)
{
    struct kept *kept = *state;
    struct scene *scene = &kept->scene;
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 3);
    PUT(scene, 0, 1010, HEURT_EVENT_INSTRUCTIONS, 5000);
    PUT(scene, 0, 1010, F, 7, 8);
    PUT(scene, 0, 1020, G);
    PUT(scene, 0, 1030, G LEFT);
    PUT(scene, 0, 1040, HEURT_EVENT_INSTRUCTIONS, 5600);
    PUT(scene, 0, 1040, F LEFT);
    PUT(scene, 0, 1100, F, 9, 8);
    PUT(scene, 0, 1110, G);
    PUT(scene, 0, 1120, H);
    off_cpu(scene, 1140, 15, HEURT_OFF_PREEMPTED, 5);
    PUT(scene, 0, 1150, H LEFT);
    PUT(scene, 0, 1155, HEURT_EVENT_LOCK_WAIT, MUTEX, 0x7000);
    PUT(scene, 0, 1160, HEURT_EVENT_LOCK_WAIT LEFT, 0);
    PUT(scene, 0, 1170, G LEFT);
    PUT(scene, 0, 1180, F LEFT);
    collect(kept);
    assert_int_equal(class_of(kept, "f")->occurrences.count, 2);
    const struct occurrence *first = at(kept, "f", 0), *second = at(kept, "f", 1);
    assert_int_equal(first->start, 1010);
    assert_int_equal(first->end, 1040);
    assert_int_equal(first->duration, 30);
    assert_int_equal(first->own, 20);
    assert_int_equal(first->running, 30);
    assert_int_equal(first->instructions, 600);
    assert_int_equal(first->cpu, 3);
    assert_int_equal(first->inside, 1);
    assert_int_equal(first->argument_count, 2);
    const uint64_t *arguments = occurrence__arguments(class_of(kept, "f"), first);
    assert_int_equal(arguments[0], 7);
    assert_int_equal(arguments[1], 8);
    assert_true(first->is_clean && !first->inner);
    assert_int_equal(second->running, 80 - 15 - 5);
    assert_int_equal(second->instructions, 0);
    assert_int_equal(second->cpu, 5);
    assert_int_equal(second->inside, 2); /* the lock is none of them */
    assert_false(second->is_clean);
    assert_true(class_of(kept, "f")->has_locks);
    assert_false(class_of(kept, "h")->has_locks);
}

static void timelines_are_cut_where_the_thread_was_off_the_cpu(void **state)
{
    struct kept *kept = *state;
    struct scene *scene = &kept->scene;
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    PUT(scene, 0, 1000, F, 0, 0);
    off_cpu(scene, 1100, 50, HEURT_OFF_PREEMPTED, 0);
    PUT(scene, 0, 1120, F, 0, 0); /* inside of itself */
    off_cpu(scene, 1150, 20, HEURT_OFF_BLOCKED, 0);
    PUT(scene, 0, 1200, F LEFT);
    PUT(scene, 0, 1300, F LEFT);
    off_cpu(scene, 1340, 20, HEURT_OFF_PREEMPTED, 0); /* in no function */
    PUT(scene, 0, 1400, F, 0, 0);
    off_cpu(scene, 1440, 40, HEURT_OFF_PREEMPTED, 0); /* from its beginning */
    PUT(scene, 0, 1440, G);
    PUT(scene, 0, 1450, G LEFT);
    PUT(scene, 0, 1460, F LEFT);
    collect(kept);
    assert_true(at(kept, "f", 0)->inner);
    assert_int_equal(at(kept, "f", 1)->inside, 1);
    CHECK_INTERVALS(&timeline_of(kept, "f", 0)->running, 1000, 1050, 1100, 1130, 1150, 1300, 1440,
                    1460);
    CHECK_INTERVALS(&timeline_of(kept, "f", 0)->preempted, 1050, 1100, 1400, 1440);
    CHECK_INTERVALS(&timeline_of(kept, "g", 0)->running, 1440, 1450);
    assert_int_equal(timeline_of(kept, "g", 0)->preempted.count, 0);
}

/* Without the kernel's records the hooks tell when a thread waited. */
static void timelines_are_cut_where_it_waited(void **state)
{
    struct kept *kept = *state;
    struct scene *scene = &kept->scene;
    PUT(scene, 0, 1000, F, 0, 0);
    PUT(scene, 0, 1020, HEURT_EVENT_LOCK_WAIT, MUTEX, 0x7000);
    PUT(scene, 0, 1060, HEURT_EVENT_LOCK_WAIT LEFT, 0);
    PUT(scene, 0, 1100, F LEFT);
    collect(kept);
    CHECK_INTERVALS(&timeline_of(kept, "f", 0)->running, 1000, 1020, 1060, 1100);
    assert_int_equal(timeline_of(kept, "f", 0)->preempted.count, 0);
    assert_int_equal(at(kept, "f", 0)->cpu, UINT16_MAX);
    assert_null(timeline_of(kept, "pthread_mutex_lock", 0));
}

static size_t intervals_of(const struct kept *kept)
{
    size_t count = 0;
    VEC_EACH (timeline, &kept->occurrences.timelines, struct class_timeline)
        count += timeline->running.count + timeline->preempted.count;
    return count;
}

static uint32_t window_of(const struct kept *kept, uint64_t tick)
{
    const struct vec *windows = &kept->occurrences.windows;
    for (uint32_t i = 0; i < windows->count; i++) {
        const struct window *window = VEC_AT(windows, struct window, i);
        if (tick >= window->begin && tick < window->end)
            return i;
    }
    return UINT32_MAX;
}

/* Twice as many as there is room for, most of them at once; of what is rare nothing is lost. */
static void what_is_kept_is_bounded(void **state)
{
    struct kept *kept = *state;
    struct scene *scene = &kept->scene;
    const uint64_t calls = 2 * OCCURRENCES_MAX;
    uint64_t tick = 1000, rare = 0;
    for (uint64_t i = 0; i < calls; i++) {
        bool at_once = i < calls * 3 / 4; /* in the first window */
        PUT(scene, i % 2, tick, F, 1, 2);
        PUT(scene, i % 2, tick + 1, F LEFT);
        if (i % 1000 == 0) {
            PUT(scene, 2, tick, G);
            PUT(scene, 2, tick + 5, G LEFT);
            rare++;
        }
        tick += at_once ? 2 : 1000;
    }
    collect(kept);
    const struct vec *frequent = &class_of(kept, "f")->occurrences;
    assert_in_range(frequent->count, OCCURRENCES_MAX / 20, OCCURRENCES_MAX * 5 / 4);
    assert_int_equal(class_of(kept, "g")->occurrences.count, rare);
    assert_true(intervals_of(kept) <= 4 * OCCURRENCES_MAX);
    assert_int_equal(kept->occurrences.windows.count, OCCURRENCE_WINDOWS);
    VEC_EACH (occurrence, frequent, struct occurrence) {
        assert_true(occurrence->window < OCCURRENCE_WINDOWS);
        assert_int_equal(occurrence->window, window_of(kept, occurrence->start));
    }
    VEC_EACH (occurrence, &class_of(kept, "g")->occurrences, struct occurrence)
        assert_int_equal(occurrence->window, window_of(kept, occurrence->start));
    VEC_EACH (interval, &timeline_of(kept, "f", 1)->running, struct interval) {
        uint32_t window = window_of(kept, interval->begin);
        assert_int_equal(window, window_of(kept, interval->end - 1));
        assert_int_not_equal(window, UINT32_MAX);
    }
}

/* Outside of the windows the frequent ones are passed over; what is around them still knows how
 * many they were, however they ended. */
static void what_is_passed_over_is_counted(void **state)
{
    struct kept *kept = *state;
    struct scene *scene = &kept->scene;
    enum { RARE = 1000, EACH = OCCURRENCES_MAX * 3 / 2 / RARE };
    uint64_t tick = 1000;
    for (unsigned i = 0; i < RARE; i++, tick += 10) {
        PUT(scene, 0, tick++, G);
        for (unsigned j = 0; j < EACH; j++, tick += 4) {
            PUT(scene, 0, tick, F, 1, 2);
            if (j % 5 == 0)
                PUT(scene, 0, tick + 1, F, 3, 4); /* it calls itself */
            if (j % 5 == 0)
                PUT(scene, 0, tick + 2, F LEFT);
            if (j % 7 == 0)
                PUT(scene, 0, tick + 3, HEURT_EVENT_UNWOUND);
            else
                PUT(scene, 0, tick + 3, F LEFT);
        }
        PUT(scene, 0, tick++, G LEFT);
    }
    collect(kept);
    const struct class_occurrences *rare = class_of(kept, "g"), *frequent = class_of(kept, "f");
    assert_int_equal(rare->occurrences.count, RARE);
    assert_in_range(frequent->occurrences.count, OCCURRENCES_MAX / 2, OCCURRENCES_MAX * 5 / 4);
    VEC_EACH (occurrence, &rare->occurrences, struct occurrence)
        assert_int_equal(occurrence->inside, EACH + EACH / 5);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(occurrences_tell_what_they_were),
        TEST(timelines_are_cut_where_the_thread_was_off_the_cpu),
        TEST(timelines_are_cut_where_it_waited),
        TEST(what_is_kept_is_bounded),
        TEST(what_is_passed_over_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
