/* Classes by structure: what calls other things is another class, and nothing is lost by that. */
#include "scene.h"

#include "analysis/analysis.h"
#include "analysis/compare/difference.h"
#include "analysis/events/spans.h"
#include "analysis/ledger/profile.h"
#include "analysis/replay/whatif.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { F = 1024, G = 1026, H = 1028, I = 1030 };
#define LEFT | 1
enum { CALLS = 150 }; /* of each sort: enough for a minimum */

static uint64_t random_of(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* The profile by site of a trace that was profiled by structure. */
static struct profile *by_site(const struct scene *scene)
{
    struct profile *profile;
    struct error error = {""};
    assert_int_equal(run__one(scene->trace, scene->symbols, &profile_analysis,
                              &(struct profile_options){CLASSES_BY_SITE, &scene->rules, 0.2},
                              (void **)&profile, &error),
                     0);
    return profile;
}

static void define_functions(struct scene *scene)
{
    scene__function(scene, 0, F, 0x401000, "f", "n");
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
    scene__function(scene, 0, I, 0x401300, "i", "");
}

static uint64_t call(struct scene *scene, uint32_t thread, uint32_t function, uint64_t tick,
                     uint64_t ticks)
{
    PUT(scene, thread, tick, function);
    PUT(scene, thread, tick + ticks, function LEFT);
    return tick + ticks;
}

/* The classes of a function, at most so many. */
static size_t classes_of(const struct profile *profile, const char *function,
                         const struct profile_class *found[], size_t most)
{
    size_t count = 0;
    VEC_EACH (class, &profile->classes, struct profile_class) {
        if (strcmp(class->what.at.function, function) != 0)
            continue;
        assert_true(count < most);
        found[count++] = class;
    }
    return count;
}

static const struct profile_class *class_that_calls(const struct profile *profile,
                                                    const char *function, const char *inside)
{
    const struct profile_class *found[16];
    size_t count = classes_of(profile, function, found, 16);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(found[i]->what.structure);
        const struct profile_inside *first = found[i]->what.structure->inside.items;
        if (found[i]->what.structure->inside.count && strcmp(first->function, inside) == 0)
            return found[i];
    }
    fail_msg("no class of %s calls %s first", function, inside);
    return NULL;
}

/* f takes 100 and calls g, or takes 1000 and calls h; one of each kind took longer. */
static uint64_t either_g_or_h(struct scene *scene, uint32_t thread, uint64_t tick)
{
    for (unsigned i = 0; i < CALLS; i++) {
        PUT(scene, thread, tick, F, i);
        call(scene, thread, G, tick + 10, 50);
        tick += 100 + (i % 10 == 3 ? 30 : 0);
        PUT(scene, thread, tick, F LEFT);
        PUT(scene, thread, tick, F, i);
        call(scene, thread, H, tick + 10, 900);
        tick += 1000 + (i % 10 == 3 ? 70 : 0);
        PUT(scene, thread, tick, F LEFT);
    }
    return tick;
}

static void what_calls_others_is_another_class(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__end(scene, 0, either_g_or_h(scene, 0, 1000));
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *found[3];
    assert_int_equal(classes_of(profile, "f", found, 3), 2);
    const struct profile_class *with_g = class_that_calls(profile, "f", "g");
    const struct profile_class *with_h = class_that_calls(profile, "f", "h");
    assert_int_equal(with_g->min_ns, 100);
    assert_int_equal(with_h->min_ns, 1000);
    assert_int_equal(with_g->excess_ns, CALLS / 10 * 30);
    assert_int_equal(with_h->excess_ns, CALLS / 10 * 70);
    assert_int_equal(with_g->count, CALLS);
    struct profile *site = by_site(scene);
    assert_int_equal(classes_of(site, "f", found, 3), 1);
    assert_int_equal(found[0]->count, 2 * CALLS);
    assert_int_equal(found[0]->excess_ns, CALLS * 900 + CALLS / 10 * (30 + 70));
    assert_null(found[0]->what.structure);
    profile__free(site);
}

/* Counts occurrences by the numbers that another walk finds. */
struct counter {
    struct thread_watcher watcher; /* first */
    struct class_table *table;
    uint64_t counts[16];
};

static void count(struct thread_watcher *watcher, struct class_entry *entry,
                  const struct fold_occurrence *occurrence, const uint64_t *arguments,
                  size_t argument_count)
{
    struct counter *counter = (struct counter *)watcher;
    uint32_t number = class_entry__number(watcher__class(watcher, counter->table, entry));
    (void)arguments, (void)argument_count;
    assert_true(number < sizeof counter->counts / sizeof *counter->counts);
    counter->counts[number] += occurrence->weight;
}

static void classes_have_one_number_in_all_walks(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__end(scene, 1, either_g_or_h(scene, 1, 1000));
    scene__end(scene, 0, either_g_or_h(scene, 0, 2000));
    const struct profile *profile = scene__profile(scene);
    struct counter counter = {.watcher = {.occurrence = count, .at_once = true},
                              .table = profile__table(profile)};
    counter.watcher.signatures = class_table__has_parts(counter.table);
    assert_true(counter.watcher.signatures);
    for (unsigned walk = 1; walk <= 2; walk++) {
        for (uint32_t i = 0; i < trace__threads(scene->trace)->count; i++)
            thread__watch(counter.table, i, &counter.watcher);
        VEC_EACH (class, &profile->classes, struct profile_class)
            assert_int_equal(counter.counts[class->number], walk * class->count);
    }
}

static void how_often_makes_no_class(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000;
    define_functions(scene);
    for (unsigned i = 0; i < 2 * CALLS; i++) {
        PUT(scene, 0, tick, F, i);
        for (unsigned turn = 0; turn <= i % 7; turn++) {
            tick = call(scene, 0, G, tick + 10, 50);
            tick = call(scene, 0, H, tick, 20);
        }
        if (i % 2)
            tick = call(scene, 0, I, tick + 10, 500);
        PUT(scene, 0, tick += 10, F LEFT);
    }
    scene__end(scene, 0, tick);
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *found[3];
    assert_int_equal(classes_of(profile, "f", found, 3), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct vec *inside = &found[i]->what.structure->inside;
        const struct profile_inside *rows = inside->items;
        assert_int_equal(found[i]->count, CALLS);
        assert_true(inside->count == 2 || inside->count == 3);
        assert_string_equal(rows[0].function, "g");
        assert_string_equal(rows[1].function, "h");
        assert_int_equal(rows[0].least, 1);
        assert_int_equal(rows[0].most, 7);
        if (inside->count == 3)
            assert_int_equal(rows[2].most, 1);
    }
}

/* ---- what makes no class --------------------------------------------------------------------- */

static size_t count_classes(const struct scene *scene, const char *function)
{
    const struct profile_class *found[16];
    return classes_of(scene->profile, function, found, 16);
}

/* f waits now and then, for a lock, a condition, or because it sleeps. */
static void having_to_wait_makes_no_class(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000;
    define_functions(scene);
    for (unsigned i = 0; i < 4 * CALLS; i++) {
        PUT(scene, 0, tick, F, i);
        if (i % 2)
            PUT(scene, 0, tick += 10, HEURT_EVENT_LOCK_ACQUIRED, 0x9000, 0x7000);
        else {
            PUT(scene, 0, tick += 10, HEURT_EVENT_LOCK_WAIT, 0x9000, 0x7000);
            PUT(scene, 0, tick += 200, HEURT_EVENT_LOCK_WAIT LEFT, 0);
        }
        if (i % 4 < 2) {
            PUT(scene, 0, tick += 10, HEURT_EVENT_CONDITION_WAIT, 0x9100, 0x7100, 0x7000);
            PUT(scene, 0, tick += 300, HEURT_EVENT_CONDITION_WAIT LEFT, 0);
        }
        if (i % 3) {
            PUT(scene, 0, tick += 10, HEURT_EVENT_SLEEP, 0x9200, 1000);
            PUT(scene, 0, tick += 400, HEURT_EVENT_SLEEP LEFT);
        }
        PUT(scene, 0, tick += 10, F LEFT);
    }
    scene__end(scene, 0, tick);
    scene__profile(scene);
    assert_int_equal(count_classes(scene, "f"), 1);
}

/* Whether g was called is known of those that were drawn only. */
static void what_is_sampled_makes_no_class(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000;
    define_functions(scene);
    for (unsigned i = 0; i < 4 * CALLS; i++) {
        PUT(scene, 0, tick, F, i);
        tick = call(scene, 0, H, tick + 10, 20);
        if (i % 4 == 0) {
            PUT(scene, 0, tick, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(G, 4));
            tick = call(scene, 0, G, tick + 10, 500);
        }
        PUT(scene, 0, tick += 10, F LEFT);
    }
    scene__end(scene, 0, tick);
    scene__profile(scene);
    assert_int_equal(count_classes(scene, "f"), 1);
}

static void many_structures_stay_few_classes(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000, seed = 2463534242u;
    define_functions(scene);
    for (unsigned i = 0; i < 10 * CALLS; i++) {
        PUT(scene, 0, tick, F, i);
        for (unsigned calls = 12; calls > 0; calls--)
            tick = call(scene, 0, G + 2 * (random_of(&seed) % 3), tick + 10, 50);
        PUT(scene, 0, tick += 10 + random_of(&seed) % 1000, F LEFT);
    }
    scene__end(scene, 0, tick);
    scene__profile(scene);
    assert_int_equal(count_classes(scene, "f"), 1);
}

/* Of an f whose end was lost, h was called; the next one calls g. */
static void what_was_lost_is_in_no_structure(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000;
    define_functions(scene);
    for (unsigned i = 0; i < 2 * CALLS; i++) {
        if (i % 3 == 0) {
            PUT(scene, 0, tick, F, i);
            tick = call(scene, 0, H, tick + 10, 20);
            PUT(scene, 0, tick += 10, HEURT_EVENT_LOST, 1);
        }
        PUT(scene, 0, tick, F, i);
        tick = call(scene, 0, G, tick + 10, 20 + i % 2);
        PUT(scene, 0, tick += 10 + i, F LEFT);
    }
    scene__end(scene, 0, tick);
    scene__profile(scene);
    assert_int_equal(count_classes(scene, "f"), 1);
}

/* ---- what is counted ------------------------------------------------------------------------- */

/* f takes 100 and is recorded each time with g inside, or takes 1000 with h. */
static void weights_stay_with_their_classes(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000;
    define_functions(scene);
    for (unsigned i = 0; i < 2 * CALLS; i++) {
        PUT(scene, 0, tick, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(F, i % 2 ? 7 : 3));
        PUT(scene, 0, tick, F, i);
        call(scene, 0, i % 2 ? H : G, tick + 10, 50);
        PUT(scene, 0, tick += i % 2 ? 1000 : 100, F LEFT);
    }
    scene__end(scene, 0, tick);
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(count_classes(scene, "f"), 2);
    const struct profile_class *with_g = class_that_calls(profile, "f", "g");
    const struct profile_class *with_h = class_that_calls(profile, "f", "h");
    assert_int_equal(with_g->count, 3 * CALLS);
    assert_int_equal(with_h->count, 7 * CALLS);
    assert_int_equal(with_h->recorded, CALLS);
    assert_int_equal(with_h->sum_ns, 7 * CALLS * 1000);
}

/* f calls g, and itself once more: of both sorts of f only the outer ones lose. */
static void of_calls_in_calls_the_outermost_lose(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000;
    define_functions(scene);
    for (unsigned i = 0; i < CALLS; i++) {
        PUT(scene, 0, tick, F, i);
        PUT(scene, 0, tick + 10, F, i);
        call(scene, 0, G, tick + 20, 50);
        PUT(scene, 0, tick + 100, F LEFT);
        PUT(scene, 0, tick += 200 + (i ? 0 : 50), F LEFT);
    }
    scene__end(scene, 0, tick);
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(count_classes(scene, "f"), 2);
    const struct profile_class *inner = class_that_calls(profile, "f", "g");
    const struct profile_class *outer = class_that_calls(profile, "f", "f");
    assert_int_equal(inner->accumulator->nested_count, CALLS);
    assert_int_equal(inner->excess_ns, 0);
    assert_int_equal(outer->accumulator->nested_count, 0);
    assert_int_equal(outer->min_ns, 200);
    assert_int_equal(outer->excess_ns, 50);
}

/* ---- what is found out about one ------------------------------------------------------------- */

static void evidence_is_of_one_class(void **state)
{
    struct scene *scene = *state;
    uint64_t tick = 1000, seed = 88172645463325252u;
    define_functions(scene);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t n = random_of(&seed) % 50;
        PUT(scene, 0, tick, F, n);
        call(scene, 0, i % 2 ? H : G, tick + 10, 50);
        PUT(scene, 0, tick += 1000 + (i % 2 ? 100 * n : random_of(&seed) % 1500), F LEFT);
    }
    scene__end(scene, 0, tick);
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *with_g = class_that_calls(profile, "f", "g");
    const struct profile_class *with_h = class_that_calls(profile, "f", "h");
    assert_int_equal(with_g->evidence.count, 0);
    assert_int_equal(with_h->evidence.count, 1);
    assert_string_equal(VEC_AT(&with_h->evidence, struct profile_evidence, 0)->argument, "n");
    assert_int_equal(with_h->verdict, VERDICT_WORKLOAD);
}

static uint64_t predicted(struct whatif *whatif, const struct profile_class *class)
{
    const struct change change = {.type = CHANGE_REMOVE, .class = class->number};
    struct prediction prediction;
    struct error error = {""};
    if (whatif__predict(whatif, &change, 1, &prediction, &error) < 0)
        fail_msg("%s", error.text);
    prediction__free(&prediction);
    return prediction.wall_ns;
}

/* One thread: what a class lost is what the run would be shorter without it. */
static void a_prediction_is_of_one_class(void **state)
{
    struct scene *scene = *state;
    struct whatif *whatif;
    struct error error = {""};
    define_functions(scene);
    uint64_t end = either_g_or_h(scene, 0, 1000);
    PUT(scene, 0, end, HEURT_EVENT_THREAD_END, UINT64_MAX, UINT64_MAX);
    scene->end = (struct heurt_clock_pair){end, end};
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *with_g = class_that_calls(profile, "f", "g");
    const struct profile_class *with_h = class_that_calls(profile, "f", "h");
    assert_int_equal(whatif__open(scene->trace, NULL, profile, UINT64_MAX, &whatif, &error), 0);
    assert_int_equal(predicted(whatif, with_g), end - 1000 - with_g->excess_ns);
    assert_int_equal(predicted(whatif, with_h), end - 1000 - with_h->excess_ns);
    whatif__close(whatif);
}

/* Two occurrences of f that both call h are compared, though there are slower and faster ones. */
static void a_difference_is_of_one_class(void **state)
{
    struct scene *scene = *state;
    struct difference *difference;
    const struct difference_selection choice = {.slow = 1, .fast = 1};
    struct error error = {""};
    define_functions(scene);
    scene__end(scene, 0, either_g_or_h(scene, 0, 1000));
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *with_g = class_that_calls(profile, "f", "g");
    assert_int_equal(
        difference__of_class(scene->trace, profile, with_g, &choice, &difference, &error), 0);
    assert_int_equal(difference->count, CALLS);
    assert_int_equal(difference->sides[SIDE_SLOW].duration_ns, 130);
    assert_int_equal(difference->sides[SIDE_FAST].duration_ns, 100);
    difference__free(difference);
}

/* ---- whatever there is ----------------------------------------------------------------------- */

/* Calls of functions in functions, locks and sleep; some of which never end, some of which are
 * sampled. What a function calls is one of three recipes, or in some of 8 cases anything. */
struct nesting {
    struct scene *scene;
    uint64_t *seed;
    uint64_t recipes; /* makes other ones */
    uint32_t thread;
    uint64_t tick;
    unsigned regular; /* of 8 */
};

static void hooked_call(struct nesting *nesting, uint64_t which)
{
    struct scene *scene = nesting->scene;
    uint64_t lock = 0x7000 + random_of(nesting->seed) % 3, length = random_of(nesting->seed) % 50;
    switch (which % 4) {
    case 0:
        PUT(scene, nesting->thread, nesting->tick, HEURT_EVENT_LOCK_ACQUIRED, 0x9000, lock);
        break;
    case 1:
        PUT(scene, nesting->thread, nesting->tick, HEURT_EVENT_LOCK_WAIT, 0x9000, lock);
        PUT(scene, nesting->thread, nesting->tick += length, HEURT_EVENT_LOCK_WAIT LEFT, 0);
        break;
    case 2:
        PUT(scene, nesting->thread, nesting->tick, HEURT_EVENT_SLEEP, 0x9100, 1000);
        PUT(scene, nesting->thread, nesting->tick += length, HEURT_EVENT_SLEEP LEFT);
        break;
    default:
        PUT(scene, nesting->thread, nesting->tick, HEURT_EVENT_IO, HEURT_SITE(0x9200, 1), 5,
            length);
        PUT(scene, nesting->thread, nesting->tick += length, HEURT_EVENT_IO LEFT, length);
    }
}

static void enter(struct nesting *nesting, uint32_t function)
{
    uint64_t *seed = nesting->seed;
    if (function == I && random_of(seed) % 3 == 0)
        PUT(nesting->scene, nesting->thread, nesting->tick, HEURT_EVENT_SAMPLED,
            HEURT_SAMPLED(I, 1 + random_of(seed) % 9));
    if (function == F)
        PUT(nesting->scene, nesting->thread, nesting->tick, F, random_of(seed) % 3);
    else
        PUT(nesting->scene, nesting->thread, nesting->tick, function);
}

static void nested_call(struct nesting *nesting, uint64_t which, unsigned depth)
{
    uint64_t *seed = nesting->seed;
    uint32_t function = F + 2 * (which % 4);
    bool odd = random_of(seed) % 8 >= nesting->regular;
    uint64_t recipe =
        odd ? random_of(seed) | 1
            : (nesting->recipes + function * 3 + random_of(seed) % 3) * 0x9e3779b97f4a7c15ull;
    unsigned calls = (random_of(&recipe) >> 20) % 4;
    enter(nesting, function);
    for (unsigned i = 0; i < calls && depth < 6; i++) {
        uint64_t called = random_of(&recipe) >> 20;
        nesting->tick += random_of(seed) % 20;
        if (called % 3 == 0)
            hooked_call(nesting, called / 3);
        else
            nested_call(nesting, called / 3, depth + 1);
    }
    nesting->tick += random_of(seed) % (odd ? 300 : 30);
    if (random_of(seed) % 500)
        PUT(nesting->scene, nesting->thread, nesting->tick, function LEFT);
    if (random_of(seed) % 4000 == 0)
        PUT(nesting->scene, nesting->thread, nesting->tick, HEURT_EVENT_LOST, 1);
}

static void random_scene(struct scene *scene, uint64_t *seed)
{
    scene__begin_counter(scene, 2995 + random_of(seed) % 100);
    scene__process(scene, 1, 101, 0);
    define_functions(scene);
    scene__function(scene, 1, F, 0x401000, "f", "n");
    scene__function(scene, 1, G, 0x501100, "g", "");
    if (random_of(seed) % 2)
        scene__key(scene, "f", "n");
    unsigned regular = random_of(seed) % 4 ? 8 : random_of(seed) % 9;
    uint64_t recipes = random_of(seed);
    for (uint32_t thread = 0; thread < 3; thread++) {
        struct nesting nesting = {scene,  seed, recipes, thread, 1000 + random_of(seed) % 5000,
                                  regular};
        scene->process_of[thread] = thread == 2 && random_of(seed) % 2;
        for (uint64_t n = random_of(seed) % 600; n > 0; n--)
            nested_call(&nesting, random_of(seed) >> 20, 0);
        scene__end(scene, thread, nesting.tick);
    }
}

/* Of classes of one site, in ticks. */
struct site_sums {
    struct accumulator all;
    uint64_t excess, contended, unfinished, thread_counts, thread_excess, histogram_count;
    size_t classes;
};

static bool is_of_site(const struct profile_class *class, const struct profile_class *other)
{
    if (class->what.at.kind != other->what.at.kind ||
        strcmp(class->what.at.function, other->what.at.function) != 0 ||
        class->what.at.address != other->what.at.address ||
        class->what.at.site != other->what.at.site ||
        class->what.at.process != other->what.at.process ||
        class->what.object != other->what.object ||
        class->what.keys.count != other->what.keys.count)
        return false;
    for (size_t i = 0; i < class->what.keys.count; i++)
        if (VEC_AT(&class->what.keys, struct profile_key, i)->value !=
            VEC_AT(&other->what.keys, struct profile_key, i)->value)
            return false;
    return true;
}

static struct site_sums sums_of(const struct profile *profile, const struct profile_class *site)
{
    struct site_sums sums = {0};
    VEC_EACH (class, &profile->classes, struct profile_class) {
        if (!is_of_site(class, site))
            continue;
        accumulator__merge(&sums.all, class->accumulator);
        sums.excess += accumulator__excess(class->accumulator, class->accumulator->minimum);
        sums.contended += class->contended;
        sums.unfinished += class->unfinished;
        sums.thread_excess += class->thread_excess;
        for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
            sums.histogram_count += class->histogram[i];
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            sums.thread_counts += row->count;
        sums.classes++;
    }
    return sums;
}

/* How many sites are divided. */
static size_t check_views(const struct profile *site_view, const struct profile *profile)
{
    size_t divided = 0, classes = 0;
    VEC_EACH (class, &site_view->classes, struct profile_class) {
        struct site_sums whole = sums_of(site_view, class), parts = sums_of(profile, class);
        assert_int_equal(whole.classes, 1);
        assert_true(parts.classes >= 1 && parts.classes <= 5);
        for (unsigned i = 0; i < COMPONENTS; i++) {
            assert_int_equal(whole.all.component_sum[i], parts.all.component_sum[i]);
            whole.all.component_reference[i] = parts.all.component_reference[i] = 0;
        }
        assert_memory_equal(&whole.all, &parts.all, sizeof whole.all);
        assert_int_equal(whole.contended, parts.contended);
        assert_int_equal(whole.unfinished, parts.unfinished);
        assert_int_equal(whole.thread_counts, parts.thread_counts);
        assert_int_equal(whole.histogram_count, parts.histogram_count);
        assert_int_equal(parts.excess, parts.thread_excess);
        assert_true(parts.excess <= whole.excess);
        if (parts.classes == 1)
            assert_int_equal(parts.excess, whole.excess);
        divided += parts.classes > 1;
        classes += parts.classes;
    }
    assert_int_equal(classes, profile->classes.count);
    assert_int_equal(site_view->audit.own_sum, profile->audit.own_sum);
    assert_int_equal(site_view->audit.covered, profile->audit.covered);
    assert_int_equal(site_view->audit.wrong_components, 0);
    assert_int_equal(site_view->audit.wrong_threads, 0);
    return divided;
}

static void both_views_agree(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    size_t divided = 0;
    for (unsigned round = 0; round < 60; round++) {
        struct scene scene;
        random_scene(&scene, &seed);
        const struct profile *profile = scene__profile(&scene);
        struct profile *site_view = by_site(&scene);
        divided += check_views(site_view, profile);
        profile__free(site_view);
        scene__free(&scene);
    }
    assert_true(divided > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_calls_others_is_another_class, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(how_often_makes_no_class, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(having_to_wait_makes_no_class, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(what_is_sampled_makes_no_class, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(many_structures_stay_few_classes, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(what_was_lost_is_in_no_structure, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(weights_stay_with_their_classes, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(of_calls_in_calls_the_outermost_lose, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(evidence_is_of_one_class, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(classes_have_one_number_in_all_walks, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(a_prediction_is_of_one_class, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(a_difference_is_of_one_class, scene__setup,
                                        scene__teardown),
        cmocka_unit_test(both_views_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
