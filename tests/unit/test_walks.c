/* How often the analyses walk over a trace: what it costs to ask a question of a long one.
 *
 * The trace has two threads, a lock that one of them waits for, and a function whose occurrences
 * are divided by structure and differ on the CPU, so that every walk there is takes place. Who
 * saves a walk lowers its number here; who needs one more has to say so here. */
#include "scene.h"

#include "analysis/analysis.h"
#include "analysis/critical_path/critical.h"
#include "analysis/findings/findings.h"
#include "analysis/iterations/iterations.h"
#include "analysis/ledger/threads.h"
#include "analysis/locks/locks.h"
#include "analysis/replay/whatif.h"
#include "analysis/structure/structure.h"
#include "analysis/timeline/longest.h"
#include "analysis/timeline/wall_ledger.h"
#include "format/trace.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { F = 1024, G = 1026, H = 1028, THREADS = 2, CALLS = 150 };
#define LEFT | 1
#define SITE HEURT_SITE(0x401500, HEURT_LOCK_MUTEX)

static uint64_t call(struct scene *scene, uint32_t thread, uint32_t inside, uint64_t tick,
                     uint64_t ticks)
{
    PUT(scene, thread, tick, F, ticks);
    PUT(scene, thread, tick + 10, inside);
    PUT(scene, thread, tick + 50, inside LEFT);
    PUT(scene, thread, tick + ticks, F LEFT);
    return tick + ticks;
}

static uint64_t calls(struct scene *scene, uint32_t thread, uint64_t tick)
{
    for (unsigned i = 0; i < CALLS; i++) {
        tick = call(scene, thread, G, tick, 100 + (i % 10 == 3 ? 300 : 0));
        tick = call(scene, thread, H, tick, 1000 + (i % 10 == 7 ? 500 : 0));
    }
    return tick;
}

static void fill_calls(struct scene *scene)
{
    scene__function(scene, 0, F, 0x401000, "f", "n");
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
    PUT(scene, 0, 1000, HEURT_EVENT_LOCK_ACQUIRED, SITE, 0x70);
    PUT(scene, 1, 1500, HEURT_EVENT_LOCK_WAIT, SITE, 0x70);
    PUT(scene, 0, 90000, HEURT_EVENT_LOCK_RELEASED, SITE, 0x70);
    PUT(scene, 1, 91000, HEURT_EVENT_LOCK_WAIT LEFT, 0);
    PUT(scene, 1, 92000, HEURT_EVENT_LOCK_RELEASED, SITE, 0x70);
}

static void fill(struct scene *scene)
{
    fill_calls(scene);
    for (uint32_t i = 0; i < THREADS; i++)
        scene__end(scene, i, calls(scene, i, 100000));
    scene__profile(scene);
}

static uint64_t walks_since(const struct scene *scene, uint64_t before)
{
    uint64_t cursors = trace__cursors_started(scene->trace) - before;
    assert_int_equal(cursors % THREADS, 0);
    return cursors / THREADS;
}

static void check_profile(const struct scene *scene, enum class_view view, uint64_t walks,
                          uint64_t walks_of_gain)
{
    struct profile *profile;
    struct whatif *whatif;
    struct error error = {""};
    uint64_t before = trace__cursors_started(scene->trace);
    assert_int_equal(run__one(scene->trace, scene->symbols, &profile_analysis,
                              &(struct profile_options){view, &scene->rules, 0.2},
                              (void **)&profile, &error),
                     0);
    assert_int_equal(walks_since(scene, before), walks);
    before = trace__cursors_started(scene->trace);
    assert_int_equal(
        whatif__open(scene->trace, scene->symbols, profile, UINT64_MAX, &whatif, &error), 0);
    assert_int_equal(walks_since(scene, before), walks_of_gain);
    whatif__close(whatif);
    profile__free(profile);
}

static void walks_of_a_report(void **state)
{
    struct scene *scene = *state;
    fill(scene);
    /* The fold, single occurrences, blame by time; then links by time, times off the CPU, rows. */
    check_profile(scene, CLASSES_BY_SITE, 3, 3);
    /* Likewise: rows find the parts of divided sites themselves. */
    check_profile(scene, CLASSES_BY_STRUCTURE, 3, 3);
}

/* Functions whose occurrences all last as long: no single one is looked at. */
static void walks_without_single_occurrences(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000;
    scene__function(scene, 0, F, 0x401000, "f", "n");
    scene__function(scene, 0, G, 0x401100, "g", "");
    PUT(scene, 0, 1000, HEURT_EVENT_LOCK_ACQUIRED, SITE, 0x70);
    PUT(scene, 1, 1500, HEURT_EVENT_LOCK_WAIT, SITE, 0x70);
    PUT(scene, 0, 90000, HEURT_EVENT_LOCK_RELEASED, SITE, 0x70);
    PUT(scene, 1, 91000, HEURT_EVENT_LOCK_WAIT LEFT, 0);
    for (unsigned i = 0, at = 100000; i < CALLS; i++, at += 100)
        tick = call(scene, 0, G, at, 100);
    for (uint32_t i = 0; i < THREADS; i++)
        scene__end(scene, i, tick);
    scene__profile(scene);
    check_profile(scene, CLASSES_BY_SITE, 2, 3);
    check_profile(scene, CLASSES_BY_STRUCTURE, 2, 3);
}

/* Of which functions not all is recorded has to be known before structure is looked for. */
static void walks_where_occurrences_are_drawn(void **state)
{
    struct scene *scene = *state;
    fill_calls(scene);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint64_t tick = calls(scene, i, 100000);
        PUT(scene, i, tick + 10, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(G, 8));
        PUT(scene, i, tick + 20, G);
        PUT(scene, i, tick + 30, G LEFT);
        scene__end(scene, i, tick + 40);
    }
    scene__profile(scene);
    check_profile(scene, CLASSES_BY_SITE, 3, 3);
    check_profile(scene, CLASSES_BY_STRUCTURE, 4, 3);
}

static void walks_of_locks_and_structure(void **state)
{
    struct scene *scene = *state;
    struct locks_result *locks;
    struct structure *structure;
    struct error error = {""};
    fill(scene);
    uint64_t before = trace__cursors_started(scene->trace);
    assert_int_equal(run__one(scene->trace, NULL, &locks_analysis, &(struct locks_filter){0},
                              (void **)&locks, &error),
                     0);
    assert_int_equal(walks_since(scene, before), 1);
    locks__free(locks);
    before = trace__cursors_started(scene->trace);
    assert_int_equal(
        run__one(scene->trace, NULL, &structure_analysis, NULL, (void **)&structure, &error), 0);
    assert_int_equal(walks_since(scene, before), 1);
    structure__free(structure);
}

/* ---- threads side by side -------------------------------------------------------------------- */

enum { MANY = SCENE_THREADS, LANES = 4, EVENTS = 5 };

/* What a walk has to be like, as the functions of two analyses see it that share it. */
struct seen {
    unsigned begun[MANY], events[MANY], ended[MANY];
    bool busy[LANES]; /* (atomic) */
    uint32_t joined;
    unsigned wrong; /* (atomic) */
};

static void *start_seeing(struct run *run)
{
    (void)run;
    return calloc(1, sizeof(struct seen));
}

static void *see_thread(void *self, unsigned lane, uint32_t thread)
{
    struct seen *seen = self;
    if (lane >= LANES || __atomic_exchange_n(&seen->busy[lane], true, __ATOMIC_ACQ_REL))
        __atomic_fetch_add(&seen->wrong, 1, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&seen->busy[lane], false, __ATOMIC_RELEASE);
    __atomic_fetch_add(&seen->begun[thread], 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < thread % 7; i++)
        sched_yield();
    return &seen->begun[thread];
}

static void see_event(void *part, const struct event *event)
{
    (void)event;
    ((unsigned *)part)[MANY]++; /* of events */
}

static void see_end(void *part)
{
    ((unsigned *)part)[2 * MANY]++; /* of ended */
}

static void see_join(void *self, uint32_t thread, void *part)
{
    struct seen *seen = self;
    if (thread != seen->joined || part != &seen->begun[thread] || seen->ended[thread] != 1)
        __atomic_fetch_add(&seen->wrong, 1, __ATOMIC_RELAXED);
    seen->joined++;
}

#define SEEING                                                                             \
    .walk = WALK_THREADS, .start = start_seeing, .thread = see_thread, .event = see_event, \
    .end = see_end, .join = see_join, .free = free

static const struct analysis first_seeing = {.name = "first", SEEING};
static const struct analysis other_seeing = {.name = "other", SEEING};

static void check_seen(const struct run *run, const struct analysis *analysis)
{
    const struct seen *seen = run__result(run, analysis);
    assert_non_null(seen);
    assert_int_equal(seen->joined, MANY);
    assert_int_equal(seen->wrong, 0);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(seen->begun[i], 1);
        assert_int_equal(seen->ended[i], 1);
        assert_true(seen->events[i] >= EVENTS && seen->events[i] == seen->events[0]);
    }
}

static void threads_are_joined_in_their_order(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, F, 0x401000, "f", "");
    for (uint32_t i = 0; i < MANY; i++)
        for (unsigned k = 0; k < EVENTS; k++)
            PUT(scene, i, 1000 + 10 * k, k % 2 ? F LEFT : F);
    scene__profile(scene);
    struct run run = run__of(scene->trace, NULL);
    uint64_t before = trace__cursors_started(scene->trace);
    run.lanes = LANES;
    run__ask(&run, &first_seeing, NULL);
    run__ask(&run, &other_seeing, NULL);
    assert_int_equal(run__analyse(&run, NULL), 0);
    assert_int_equal(trace__cursors_started(scene->trace) - before, MANY);
    check_seen(&run, &first_seeing);
    check_seen(&run, &other_seeing);
    assert_int_equal(run__analyse(&run, NULL), 0); /* nothing is left to be done */
    assert_int_equal(trace__cursors_started(scene->trace) - before, MANY);
    run__free(&run);
}

/* ---- who stands on whom ---------------------------------------------------------------------- */

static void *refuse(struct run *run)
{
    run->code = error__set(&run->error, -ENOENT, "there is none");
    return NULL;
}

static void *start_itself(struct run *run)
{
    return run;
}

static const struct analysis refusing = {.name = "refusing", .start = refuse};
static const struct analysis standing_on_it = {
    .name = "standing on it",
    .after = (const struct analysis *const[]){&refusing, NULL},
    .start = start_itself};
static const struct analysis standing_apart = {.name = "apart", .start = start_itself};

static void who_stands_on_what_failed_is_not_run(void **state)
{
    struct scene *scene = *state;
    struct error error = {""};
    PUT(scene, 0, 1000, HEURT_EVENT_LOCK_ACQUIRED, SITE, 0x70);
    scene__profile(scene);
    struct run run = run__of(scene->trace, NULL);
    run__ask(&run, &standing_on_it, NULL);
    run__ask(&run, &standing_apart, NULL);
    assert_true(run__is_asked(&run, &refusing));
    assert_int_equal(run__analyse(&run, &error), -ENOENT);
    assert_string_equal(error.text, "there is none");
    assert_null(run__result(&run, &standing_on_it));
    assert_ptr_equal(run__result(&run, &standing_apart), &run);
    run__free(&run);
}

/* One walk serves what threads did and the profile's classes, one by time locks and the path. */
static void analyses_share_their_walks(void **state)
{
    struct scene *scene = *state;
    const struct locks_filter all = {0};
    fill(scene);
    struct run run = run__of(scene->trace, scene->symbols);
    uint64_t before = trace__cursors_started(scene->trace);
    run__ask(&run, &locks_analysis, &all);
    run__ask(&run, &path_analysis, NULL);
    assert_int_equal(run__analyse(&run, NULL), 0);
    assert_int_equal(walks_since(scene, before), 1);
    before = trace__cursors_started(scene->trace);
    run__ask(&run, &profile_analysis, NULL);
    run__ask(&run, &threads_analysis, NULL);
    assert_int_equal(run__analyse(&run, NULL), 0);
    assert_int_equal(walks_since(scene, before), 3);
    before = trace__cursors_started(scene->trace);
    run__ask(&run, &structure_analysis, NULL);
    run__ask(&run, &iterations_analysis, NULL);
    assert_int_equal(run__analyse(&run, NULL), 0);
    assert_true(walks_since(scene, before) <= 2);
    run__free(&run);
}

enum { WORKERS = 9 };

/* Each thread begins with another function, so that the order of classes tells that of threads. */
static void fill_workers(struct scene *scene)
{
    static const char *const names[] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"};
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
    for (uint32_t i = 0; i < WORKERS; i++)
        scene__function(scene, 0, 1100 + 2 * i, 0x402000 + 0x100 * i, names[i], "n");
    for (uint32_t i = 0; i < WORKERS; i++) {
        uint32_t own = 1100 + 2 * i;
        uint64_t tick = 5000;
        PUT(scene, i, 1000, own, 1);
        PUT(scene, i, 2000, own LEFT);
        for (unsigned k = 0; k < CALLS; k++, tick += 3000 + 10 * i) {
            PUT(scene, i, tick, own, k);
            PUT(scene, i, tick + 10, k % 3 ? G : H);
            PUT(scene, i, tick + 20 + (i + k) % 11, (k % 3 ? G : H) LEFT);
            PUT(scene, i, tick + 100 + (k % 9 == i ? 2000 : i), own LEFT);
        }
        scene__end(scene, i, tick);
    }
    scene__profile(scene);
}

static struct profile *profile_of(const struct scene *scene)
{
    struct profile *profile;
    struct error error = {""};
    assert_int_equal(run__one(scene->trace, scene->symbols, &profile_analysis,
                              &(struct profile_options){CLASSES_BY_STRUCTURE, &scene->rules, 0.2},
                              (void **)&profile, &error),
                     0);
    return profile;
}

static struct profile *profile_on_one_cpu(const struct scene *scene)
{
    cpu_set_t all, one;
    int cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(run__of(scene->trace, NULL).lanes, 1);
    struct profile *profile = profile_of(scene);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    return profile;
}

static void one_cpu_and_all_tell_the_same(void **state)
{
    struct scene *scene = *state;
    fill_workers(scene);
    struct profile *one = profile_on_one_cpu(scene), *all = profile_of(scene);
    assert_int_equal(one->classes.count, all->classes.count);
    assert_true(one->classes.count > WORKERS);
    for (size_t i = 0; i < one->classes.count; i++) {
        const struct profile_class *left = VEC_AT(&one->classes, struct profile_class, i);
        const struct profile_class *right = VEC_AT(&all->classes, struct profile_class, i);
        assert_string_equal(left->what.at.function, right->what.at.function);
        assert_int_equal(left->number, right->number);
        assert_int_equal(left->count, right->count);
        assert_int_equal(left->sum_ns, right->sum_ns);
        assert_int_equal(left->p99_ns, right->p99_ns);
        assert_int_equal(left->threads.count, right->threads.count);
        assert_memory_equal(left->why_ns, right->why_ns, sizeof left->why_ns);
    }
    profile__free(one);
    profile__free(all);
}

/* What an analysis sees of the run it is in. */
struct witness {
    const struct run *run;
    double first, last;
    bool stepped_back;
};

static void *begin_witness(struct run *run)
{
    struct witness *witness = (struct witness *)run->options;
    witness->run = run;
    witness->first = witness->last = run__done(run);
    return witness;
}

static void *witness_thread(void *self, unsigned lane, uint32_t thread)
{
    (void)lane, (void)thread;
    return self;
}

static void look(void *part, const struct event *event)
{
    struct witness *witness = part;
    double now = run__done(witness->run);
    (void)event;
    witness->stepped_back |= now < witness->last;
    witness->last = now;
}

static const struct analysis witness_analysis = {
    .name = "witness",
    .after = (const struct analysis *const[]){&profile_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = begin_witness,
    .thread = witness_thread,
    .event = look,
};

static void how_far_a_run_is_goes_from_nothing_to_all(void **state)
{
    struct scene *scene = *state;
    struct witness witness = {0};
    fill(scene);
    struct run run = run__of(scene->trace, scene->symbols);
    run__ask(&run, &witness_analysis, &witness);
    assert_int_equal(run__analyse(&run, NULL), 0);
    assert_true(witness.first > 0.5 && witness.first < 1);
    assert_true(witness.last > witness.first && witness.last <= 1);
    assert_false(witness.stepped_back);
    assert_true(run__done(&run) == 1);
    run__free(&run);
}

/* Who walks, and where. */
static void *begin_here(struct run *run)
{
    return (void *)run->options;
}

static void note_walker(void *part, const struct event *event)
{
    (void)event;
    *(pthread_t *)part = pthread_self();
}

static const struct analysis first_of_two = {
    .name = "first of two",
    .after = (const struct analysis *const[]){&profile_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = begin_here,
    .thread = witness_thread,
    .event = note_walker,
};

static const struct analysis second_of_two = {
    .name = "second of two",
    .after = (const struct analysis *const[]){&findings_analysis, NULL}, /* which stand on it */
    .walk = WALK_IN_ORDER,
    .start = begin_here,
    .thread = witness_thread,
    .event = note_walker,
};

/* The classes of a profile know one thread at a time. */
static void who_folds_into_the_same_classes_walks_after_the_other(void **state)
{
    struct scene *scene = *state;
    pthread_t walkers[2] = {0};
    fill(scene);
    struct run run = run__of(scene->trace, scene->symbols);
    run__ask(&run, &first_of_two, &walkers[0]);
    run__ask(&run, &second_of_two, &walkers[1]);
    run__ask(&run, &wall_ledger_analysis, NULL);
    run__ask(&run, &longest_analysis, NULL);
    assert_int_equal(run__analyse(&run, NULL), 0);
    assert_true(walkers[0] && pthread_equal(walkers[0], walkers[1]));
    assert_non_null(run__result(&run, &wall_ledger_analysis));
    assert_non_null(run__result(&run, &longest_analysis));
    run__free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_are_joined_in_their_order, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(who_stands_on_what_failed_is_not_run, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(analyses_share_their_walks, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(one_cpu_and_all_tell_the_same, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(walks_of_a_report, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(walks_without_single_occurrences, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(walks_where_occurrences_are_drawn, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(walks_of_locks_and_structure, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(how_far_a_run_is_goes_from_nothing_to_all, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(who_folds_into_the_same_classes_walks_after_the_other,
                                        scene__setup, scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
