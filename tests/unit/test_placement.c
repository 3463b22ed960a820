/* On which nodes memory is: from samples, pages and page faults that are written here. */
#include "analysis/memory/placement_plan.h"
#include "analysis/memory/remote.h"
#include "format/first_touches.h"
#include "scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull
#define NODES "0:0-1;1:2-3"
#define DISTANCES "10 21;21 10"

enum { PAGE = HEURT_PAGE_BYTES, OBJECT = 0x100000, SITE = 0x5000, PAGES = 40, OF_NODE = 2 };

/* ---- the machine ----------------------------------------------------------------------------- */

static void nodes_and_distances_are_read(void **state)
{
    (void)state;
    struct machine_nodes nodes =
        machine_nodes__parse("0:0-1,4;2:2-3;3:", "10 20 30;20 10 30;30 30 10");
    assert_int_equal(nodes.count, 3);
    assert_int_equal(machine_nodes__of_cpu(&nodes, 4), 0);
    assert_int_equal(machine_nodes__of_cpu(&nodes, 3), 1);
    assert_int_equal(machine_nodes__of_cpu(&nodes, 5), NO_NODE);
    assert_int_equal(machine_nodes__index(&nodes, 2), 1);
    assert_int_equal(machine_nodes__index(&nodes, 1), NO_NODE);
    assert_int_equal(machine_nodes__index(&nodes, HEURT_NODE_UNKNOWN), NO_NODE);
    assert_int_equal(machine_nodes__distance(&nodes, 0, 2), 30);
    assert_int_equal(*VEC_AT(&nodes.cpu_counts, uint32_t, 2), 0);
    machine_nodes__free(&nodes);
}

static void what_makes_no_sense_is_not_known(void **state)
{
    static const char *const texts[] = {"", "0", "x", "0:0-;", "0:0-99999999", "0:1 1:2", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct machine_nodes nodes = machine_nodes__parse(texts[i], DISTANCES);
        assert_int_equal(nodes.count, 0);
        machine_nodes__free(&nodes);
    }
    struct machine_nodes nodes = machine_nodes__parse(NODES, "10 21;21");
    assert_int_equal(nodes.count, 2);
    assert_int_equal(machine_nodes__distance(&nodes, 0, 1), 0);
    machine_nodes__free(&nodes);
}

/* ---- traces ---------------------------------------------------------------------------------- */

static void define(struct scene *scene, enum heurt_definition_type type, const void *row,
                   size_t bytes)
{
    assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL, type, row, bytes), 0);
}

/* A sample of 1 ms. cpu: two a node; node UINT32_MAX: not told. */
static void put_sample(struct scene *scene, uint32_t thread, uint64_t ms, uint64_t address,
                       enum heurt_access access, uint32_t cpu, int node)
{
    uint64_t at = 2000 + ms * MS + thread; /* when what is allocated is there */
    struct heurt_sample sample = {.monotonic_ns = at,
                                  .instruction = 0x9000,
                                  .address = address,
                                  .pid = 100,
                                  .tid = 1000 + thread,
                                  .weight_ns = MS,
                                  .access = (uint8_t)access & 0xf,
                                  .region = HEURT_REGION_HEAP,
                                  .bytes = 8};
    struct heurt_placed placed = {at, 1000 + thread, (uint16_t)cpu, (int16_t)node};
    define(scene, HEURT_DEFINITION_SAMPLES, &sample, sizeof sample);
    define(scene, HEURT_DEFINITION_PLACED, &placed, sizeof placed);
}

static void put_page(struct scene *scene, uint64_t ms, uint64_t page, int node, bool is_huge)
{
    struct heurt_page row = {1000 + ms * MS, OBJECT + page * PAGE, 100, (int16_t)node,
                             is_huge ? HEURT_PAGE_HUGE : 0};
    define(scene, HEURT_DEFINITION_PAGES, &row, sizeof row);
}

struct found {
    struct run run;
    const struct memory_use *use;
    const struct placement *placement;
};

static void allocate(struct scene *scene, uint64_t address, uint64_t bytes)
{
    PUT(scene, 0, 1001, HEURT_EVENT_ALLOCATED, HEURT_SITE(SITE, HEURT_ALLOCATION_MALLOC), address,
        bytes);
}

static void begin(struct scene *scene)
{
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    allocate(scene, OBJECT, PAGES * PAGE);
}

static struct found find(struct scene *scene, const char *nodes)
{
    struct found found = {0};
    struct error error;
    for (uint32_t i = 0; i < 2; i++)
        scene__end(scene, i, 1000 + 1000 * MS);
    scene->end = (struct heurt_clock_pair){2000 + 1000 * MS, 2000 + 1000 * MS};
    trace_writer__meta(scene->writer, NODES_META, nodes);
    trace_writer__meta(scene->writer, DISTANCES_META, DISTANCES);
    trace_writer__meta(scene->writer, BALANCING_META, "1");
    scene__profile(scene);
    found.run = run__of(scene->trace, scene->symbols);
    run__ask(&found.run, &memory_analysis, NULL);
    run__ask(&found.run, &placement_analysis, NULL);
    assert_int_equal(run__analyse(&found.run, &error), 0);
    found.use = run__result(&found.run, &memory_analysis);
    found.placement = run__result(&found.run, &placement_analysis);
    return found;
}

static const struct placement_object *only(const struct found *found)
{
    assert_non_null(found->placement);
    assert_int_equal(found->placement->objects.count, 1);
    return VEC_AT(&found->placement->objects, struct placement_object, 0);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void one_node_has_no_placement(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    put_sample(scene, 0, 1, OBJECT, HEURT_ACCESS_READ, 0, 0);
    struct found found = find(scene, "0:0-3");
    assert_non_null(found.use);
    assert_null(found.placement);
    uint64_t samples;
    assert_float_equal(placement__remote_share(scene->trace, &samples), 0, 1e-9);
    assert_int_equal(samples, 0);
    run__free(&found.run);
}

static void times_are_told_from_node_to_node(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (uint64_t ms = 0; ms < 6; ms++)
        put_sample(scene, 0, ms, OBJECT + ms * PAGE, HEURT_ACCESS_READ, 1, 0);
    for (uint64_t ms = 6; ms < 8; ms++)
        put_sample(scene, 1, ms, OBJECT + ms * PAGE, HEURT_ACCESS_WRITE, OF_NODE, 0);
    put_sample(scene, 1, 8, OBJECT + 8 * PAGE, HEURT_ACCESS_UPDATE, OF_NODE, 1);
    put_sample(scene, 1, 9, OBJECT + 9 * PAGE, HEURT_ACCESS_READ, OF_NODE, HEURT_NODE_UNKNOWN);
    struct found found = find(scene, NODES);
    const struct placement_object *object = only(&found);
    assert_int_equal(placement__ns(found.placement, PLACEMENT_ALL, 0, 0), 6 * MS);
    assert_int_equal(placement__ns(found.placement, object->object, 1, 0), 2 * MS);
    assert_int_equal(placement__ns(found.placement, object->object, 1, 1), MS);
    assert_int_equal(placement__ns(found.placement, object->object, 0, 1), 0);
    assert_int_equal(object->ns, 9 * MS);
    assert_int_equal(object->local_ns, 7 * MS);
    assert_int_equal(object->samples, 9);
    assert_int_equal(object->pages, 9);
    assert_int_equal(found.placement->unknown_ns, MS);
    assert_float_equal(object->read_ratio, 6.0 / 9, 1e-9);
    assert_float_equal(object->imbalance, (8 - 4.5) / 4.5, 1e-9);
    assert_int_equal(object->user_nodes, 2);
    assert_int_equal(object->top_node, 0);
    assert_int_equal(object->top_user, 0);
    assert_int_equal(object->kind, PLACEMENT_UNKNOWN); /* of so few nothing is said */
    assert_string_equal(found.placement->balancing, "1");
    uint64_t samples;
    assert_float_equal(placement__remote_share(scene->trace, &samples), 2.0 / 9, 1e-9);
    assert_int_equal(samples, 9);
    run__free(&found.run);
}

static void put_answer(struct scene *scene, uint32_t thread, uint64_t ms, enum heurt_level level)
{
    struct heurt_answer answer = {2000 + ms * MS + thread, 1000 + thread, 100, (uint8_t)level, 0};
    define(scene, HEURT_DEFINITION_ANSWERS, &answer, sizeof answer);
}

/* The kernel says where pages are; where the processor tells what answered, that counts. */
static void what_answered_is_believed_more_than_where_pages_are(void **state)
{
    struct scene *scene = *state;
    static const struct {
        enum heurt_level level;
        int node;
    } rows[] = {
        {HEURT_LEVEL_MEMORY, 0},
        {HEURT_LEVEL_MEMORY, 1}, /* local, though it moved since */
        {HEURT_LEVEL_REMOTE_MEMORY, 1},
        {HEURT_LEVEL_REMOTE_MEMORY, 1},
        {HEURT_LEVEL_REMOTE_MEMORY, 0}, /* from which node is not known */
        {HEURT_LEVEL_L3, 1},
        {HEURT_LEVEL_REMOTE_CACHE, 1},
    };
    begin(scene);
    for (uint64_t ms = 0; ms < 7; ms++) {
        put_sample(scene, 0, ms, OBJECT + ms * PAGE, HEURT_ACCESS_READ, 0, rows[ms].node);
        put_answer(scene, 0, ms, rows[ms].level);
    }
    put_sample(scene, 0, 7, OBJECT, HEURT_ACCESS_READ, 0, 1); /* the clock's: nothing answered */
    struct found found = find(scene, NODES);
    const struct placement_object *object = only(&found);
    assert_true(found.placement->is_measured);
    assert_int_equal(placement__ns(found.placement, object->object, 0, 0), 2 * MS);
    assert_int_equal(placement__ns(found.placement, object->object, 0, 1), 2 * MS);
    assert_int_equal(found.placement->unknown_ns, MS);
    assert_int_equal(found.placement->cached_ns, 3 * MS);
    uint64_t samples;
    assert_float_equal(placement__remote_share(scene->trace, &samples), 0.5, 1e-9);
    assert_int_equal(samples, 4);
    struct answers remote = answered__remote(&found.use->answered);
    assert_int_equal(remote.ns, 4 * MS);
    assert_int_equal(answered__all(&found.use->answered).samples, 7);
    run__free(&found.run);
}

static void imbalance_is_the_deviation_as_a_part_of_the_mean(void **state)
{
    (void)state;
    assert_float_equal(placement__imbalance((uint64_t[]){300, 100}, 2), 0.5, 1e-9);
    assert_float_equal(placement__imbalance((uint64_t[]){7, 7, 7}, 3), 0, 1e-9);
    assert_float_equal(placement__imbalance((uint64_t[]){4, 0, 0, 0}, 4), sqrt(3), 1e-9);
    assert_float_equal(placement__imbalance((uint64_t[]){0, 0}, 2), 0, 1e-9);
}

/* ---- what remote memory costs ---------------------------------------------------------------- */

/* A sample of 1 ms at which an iteration of its loop took so long. */
static void put_paced(struct scene *scene, uint32_t thread, uint64_t ms, uint64_t instruction,
                      int node, uint32_t iteration_ns)
{
    uint64_t at = 2000 + ms * MS + thread;
    struct heurt_sample sample = {.monotonic_ns = at,
                                  .instruction = instruction,
                                  .address = OBJECT + ms % PAGES * PAGE,
                                  .pid = 100,
                                  .tid = 1000 + thread,
                                  .weight_ns = MS,
                                  .access = HEURT_ACCESS_READ,
                                  .region = HEURT_REGION_HEAP,
                                  .iterations = 1000,
                                  .iterations_ns = 1000 * iteration_ns,
                                  .bytes = 8};
    struct heurt_placed placed = {at, 1000 + thread, 0, (int16_t)node};
    define(scene, HEURT_DEFINITION_SAMPLES, &sample, sizeof sample);
    define(scene, HEURT_DEFINITION_PLACED, &placed, sizeof placed);
}

static struct found find_remotes(struct scene *scene, const struct remotes **remotes)
{
    struct found found = {0};
    struct error error;
    for (uint32_t i = 0; i < 2; i++)
        scene__end(scene, i, 1000 + 1000 * MS);
    scene->end = (struct heurt_clock_pair){2000 + 1000 * MS, 2000 + 1000 * MS};
    trace_writer__meta(scene->writer, NODES_META, NODES);
    trace_writer__meta(scene->writer, DISTANCES_META, DISTANCES);
    scene__profile(scene);
    found.run = run__of(scene->trace, scene->symbols);
    run__ask(&found.run, &remote_analysis, NULL);
    assert_int_equal(run__analyse(&found.run, &error), 0);
    *remotes = run__result(&found.run, &remote_analysis);
    return found;
}

static const struct remote_object *only_remote(const struct remotes *remotes)
{
    assert_non_null(remotes);
    assert_int_equal(remotes->rows.count, 1);
    return VEC_AT(&remotes->rows, struct remote_object, 0);
}

/* An iteration takes 30 ns at the own node's memory and 40 at the other's: a quarter is lost. */
static void remote_memory_costs_what_it_takes_longer_than_local(void **state)
{
    struct scene *scene = *state;
    const struct remotes *remotes;
    begin(scene);
    for (uint32_t ms = 0; ms < 60; ms++)
        put_paced(scene, 0, ms, 0x9000, ms % 3 == 0 ? 0 : 1, (ms % 3 == 0 ? 30 : 40) + ms % 2);
    struct found found = find_remotes(scene, &remotes);
    const struct remote_object *remote = only_remote(remotes);
    assert_false(remote->is_bound);
    assert_int_equal(remote->remote_ns, 40 * MS);
    assert_true(remote->all_lost_ns > 9 * MS && remote->all_lost_ns < 11 * MS);
    assert_int_equal(remote->lost_ns[0], remote->all_lost_ns);
    assert_int_equal(remote->lost_ns[1], 0);
    assert_int_equal(remote->instruction, 0x9000);
    assert_int_equal(remotes->samples.count, 40);
    run__free(&found.run);
}

/* Of times between 30 and 40 ns two more are chance. */
static void what_takes_as_long_as_local_memory_loses_nothing(void **state)
{
    struct scene *scene = *state;
    const struct remotes *remotes;
    begin(scene);
    for (uint32_t ms = 0; ms < 60; ms++)
        put_paced(scene, 0, ms, 0x9000, ms % 3 == 0 ? 0 : 1, 30 + ms * 7 % 11 + (ms % 3 ? 2 : 0));
    struct found found = find_remotes(scene, &remotes);
    assert_non_null(remotes);
    assert_int_equal(remotes->rows.count, 0);
    assert_int_equal(remotes->samples.count, 0);
    run__free(&found.run);
}

/* Of a time at a distance of 21 no more than 1 - 10 / 21 is lost. */
static void what_is_never_local_is_bounded_by_the_distance(void **state)
{
    struct scene *scene = *state;
    const struct remotes *remotes;
    begin(scene);
    for (uint32_t ms = 0; ms < 60; ms++)
        put_paced(scene, 0, ms, ms % 3 == 0 ? 0x9100 : 0x9000, ms % 3 == 0 ? 0 : 1, 30);
    struct found found = find_remotes(scene, &remotes);
    const struct remote_object *remote = only_remote(remotes);
    assert_true(remote->is_bound);
    assert_float_equal((double)remote->all_lost_ns, 40.0 * MS * (1 - 10.0 / 21), 100);
    run__free(&found.run);
}

static void on_one_node_nobody_looks_for_remote_memory(void **state)
{
    struct scene *scene = *state;
    struct error error;
    begin(scene);
    put_sample(scene, 0, 1, OBJECT, HEURT_ACCESS_READ, 0, 0);
    scene__end(scene, 0, 1000 + 1000 * MS);
    scene__end(scene, 1, 1000 + 1000 * MS);
    trace_writer__meta(scene->writer, NODES_META, "0:0-3");
    scene__profile(scene);
    struct run run = run__of(scene->trace, scene->symbols);
    run__ask(&run, &profile_analysis, NULL);
    assert_false(run__is_asked(&run, &remote_analysis));
    assert_false(run__is_asked(&run, &memory_analysis));
    assert_int_equal(run__analyse(&run, &error), 0);
    run__free(&run);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Where a page is, and which thread (on the node of its number) uses it. */
typedef int (*node_of_page)(uint64_t page);

static int on_first(uint64_t page)
{
    return page * 0;
}

static int halves(uint64_t page)
{
    return page >= PAGES / 2;
}

static int other_half(uint64_t page)
{
    return page < PAGES / 2;
}

static int every_other(uint64_t page)
{
    return page % 2;
}

/* Each page three times, by the thread that uses it; by both where shared is set. */
static void use_all(struct scene *scene, node_of_page node, node_of_page user, bool is_shared,
                    enum heurt_access access)
{
    for (uint64_t time = 0; time < 4; time++)
        for (uint64_t page = 0; page < PAGES; page++) {
            uint32_t thread = is_shared ? (uint32_t)time % 2 : (uint32_t)user(page);
            put_sample(scene, thread, time * PAGES + page, OBJECT + page * PAGE, access,
                       thread * OF_NODE, node(page));
        }
}

static void assert_told(struct scene *scene, enum placement_kind kind, enum placement_advice advice)
{
    struct found found = find(scene, NODES);
    const struct placement_object *object = only(&found);
    assert_int_equal(object->kind, kind);
    assert_int_equal(object->advice, advice);
    run__free(&found.run);
}

static void all_on_one_node_is_to_be_touched_by_its_users(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, on_first, halves, false, HEURT_ACCESS_UPDATE);
    assert_told(scene, PLACEMENT_ONE_NODE, ADVICE_PARALLEL_TOUCH);
}

static void what_each_uses_at_home_is_left_alone(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, halves, halves, false, HEURT_ACCESS_UPDATE);
    assert_told(scene, PLACEMENT_LOCAL, ADVICE_NONE);
}

static void interleaved_is_told_from_divided(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, every_other, halves, false, HEURT_ACCESS_UPDATE);
    assert_told(scene, PLACEMENT_SPREAD, ADVICE_PARALLEL_TOUCH);
}

static void divided_the_wrong_way_round_is_told(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, other_half, halves, false, HEURT_ACCESS_UPDATE);
    assert_told(scene, PLACEMENT_APART, ADVICE_PARALLEL_TOUCH);
}

static void what_all_read_is_to_be_replicated(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, on_first, NULL, true, HEURT_ACCESS_READ);
    assert_told(scene, PLACEMENT_ONE_NODE, ADVICE_REPLICATE);
}

static void what_all_write_is_to_be_interleaved(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, on_first, NULL, true, HEURT_ACCESS_UPDATE);
    assert_told(scene, PLACEMENT_ONE_NODE, ADVICE_INTERLEAVE);
}

static void what_all_write_and_is_interleaved_is_left_alone(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, every_other, NULL, true, HEURT_ACCESS_UPDATE);
    assert_told(scene, PLACEMENT_SPREAD, ADVICE_NONE);
}

static void owners_within_huge_pages_are_seen(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, on_first, every_other, false, HEURT_ACCESS_UPDATE);
    put_page(scene, 1, 0, 0, true); /* the others would be in the same huge page */
    assert_told(scene, PLACEMENT_HUGE, ADVICE_SMALL_PAGES);
}

static void what_moves_half_way_is_told_with_the_time(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (uint64_t ms = 0; ms < 100; ms++) {
        put_sample(scene, 1, ms, OBJECT + ms % PAGES * PAGE, HEURT_ACCESS_UPDATE, OF_NODE,
                   ms >= 60);
        if (ms < PAGES)
            put_page(scene, ms, ms, 0, false);
        else if (ms >= 60)
            put_page(scene, ms + 5, ms - 60, 1, false);
    }
    struct found found = find(scene, NODES);
    const struct placement_object *object = only(&found);
    assert_int_equal(object->kind, PLACEMENT_MOVED);
    assert_int_equal(object->advice, ADVICE_LOCAL);
    assert_int_equal(object->moved_pages, PAGES);
    assert_in_range(object->moved_ns, 59 * MS, 60 * MS);
    assert_int_equal(object->before_ns, 60 * MS);
    assert_int_equal(object->before_local_ns, 0);
    assert_int_equal(object->after_ns, 40 * MS);
    assert_int_equal(object->after_local_ns, 40 * MS);
    run__free(&found.run);
}

/* Of two of four samples from each node a third of the pairs is from one: by chance alone a node
 * would have half of them, and of two samples one. */
static void pairs_tell_owners_of_pages_with_few_samples(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, on_first, NULL, true, HEURT_ACCESS_UPDATE);
    struct found found = find(scene, NODES);
    assert_float_equal(only(&found)->owned, 1.0 / 3, 1e-9);
    assert_int_equal(only(&found)->block_pages, 1);
    run__free(&found.run);
}

/* ---- first touch ----------------------------------------------------------------------------- */

static void put_fault(struct scene *scene, uint32_t thread, uint64_t ms, uint64_t page,
                      enum heurt_fault how)
{
    PUT(scene, thread, 1000 + ms * MS, HEURT_EVENT_FAULT, HEURT_OFF(10, how), OBJECT + page * PAGE,
        0);
}

static void page_faults_tell_who_touched_first(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 1);
    PUT(scene, 1, 1000, HEURT_EVENT_KERNEL, 0);
    put_fault(scene, 0, 1, 0, HEURT_FAULT_MEASURED); /* before the object was there */
    PUT(scene, 0, 1000 + 2 * MS, HEURT_EVENT_ALLOCATED, HEURT_SITE(SITE, HEURT_ALLOCATION_MALLOC),
        OBJECT, PAGES * PAGE);
    PUT(scene, 1, 1000 + 3 * MS, HEURT_EVENT_OFF_CPU, HEURT_OFF(5, HEURT_OFF_BLOCKED),
        HEURT_BACK(0, 3), 0);
    put_fault(scene, 1, 4, 0, HEURT_FAULT_MEASURED);
    put_fault(scene, 0, 5, 9, HEURT_FAULT_COUNTED);   /* of a page that nobody knows */
    put_fault(scene, 0, 6, 0, HEURT_FAULT_ESTIMATED); /* with it; not the first of its own page */
    put_sample(scene, 0, 10, OBJECT + 8, HEURT_ACCESS_READ, 0, 1);
    put_sample(scene, 0, 11, OBJECT + 9 * PAGE, HEURT_ACCESS_READ, 0, 1);
    struct found found = find(scene, NODES);
    const struct placement_page *pages = found.placement->pages.items;
    assert_int_equal(found.placement->pages.count, 2);
    assert_true(pages[0].is_touch_seen && pages[1].is_touch_seen);
    assert_int_equal(pages[0].touch_thread, 1);
    assert_int_equal(pages[0].touch_node, 1);
    assert_int_equal(pages[1].touch_thread, 0); /* who has touched pages that are not known */
    assert_int_equal(only(&found)->touch_threads, 2);
    run__free(&found.run);
}

static void who_moved_after_touching_is_to_stay(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    PUT(scene, 1, 1000, HEURT_EVENT_KERNEL, 0);
    for (uint64_t page = 0; page < PAGES; page++)
        put_fault(scene, 1, 1 + page, page, HEURT_FAULT_MEASURED);
    for (uint64_t ms = 100; ms < 180; ms++)
        put_sample(scene, 1, ms, OBJECT + ms % PAGES * PAGE, HEURT_ACCESS_UPDATE, OF_NODE, 0);
    assert_told(scene, PLACEMENT_ONE_NODE, ADVICE_PIN);
}

static void without_faults_the_first_sample_stands_for_the_first_touch(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    put_sample(scene, 1, 1, OBJECT, HEURT_ACCESS_READ, OF_NODE, 1);
    put_sample(scene, 0, 2, OBJECT, HEURT_ACCESS_READ, 0, 1);
    struct found found = find(scene, NODES);
    const struct placement_page *page = found.placement->pages.items;
    assert_false(page->is_touch_seen);
    assert_int_equal(page->touch_thread, 1);
    assert_int_equal(page->touch_node, 1);
    run__free(&found.run);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static struct placement_plan plan_of(const struct found *found)
{
    return placement_plan__make(found->placement, found->use);
}

static void parts_go_to_those_who_use_them(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, other_half, halves, false, HEURT_ACCESS_UPDATE);
    struct found found = find(scene, NODES);
    struct placement_plan plan = plan_of(&found);
    const struct placement_action *action = plan.actions.items;
    assert_int_equal(plan.whole, PLAN_OBJECTS);
    assert_int_equal(plan.actions.count, 1);
    assert_int_equal(action->what, PLACE_PARTS);
    assert_int_equal(action->pages, PAGES);
    assert_int_equal(action->least_bytes, PAGES * PAGE);
    assert_int_equal(action->most_bytes, PAGES * PAGE);
    assert_int_equal(action->parts.count, 2);
    const struct placement_part *parts = action->parts.items;
    assert_int_equal(parts[0].page, 0);
    assert_int_equal(parts[0].node, 0);
    assert_in_range(parts[1].page, PAGES / 2 - 4,
                    PAGES / 2 + 4); /* parts have 8 samples and more */
    assert_int_equal(parts[1].node, 1);
    assert_true(action->local > 0.9);
    placement_plan__free(&plan);
    run__free(&found.run);
}

static void pages_in_turn_are_a_cycle(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, on_first, every_other, false, HEURT_ACCESS_UPDATE);
    put_page(scene, 1, 0, 0, true);
    struct found found = find(scene, NODES);
    struct placement_plan plan = plan_of(&found);
    const struct placement_action *action = plan.actions.items;
    assert_int_equal(plan.actions.count, 1);
    assert_int_equal(action->what, PLACE_CYCLE);
    assert_true(action->no_huge_pages);
    assert_int_equal(action->parts.count, 2);
    assert_int_equal(VEC_AT(&action->parts, struct placement_part, 1)->node, 1);
    assert_float_equal(action->local, 1, 1e-9);
    placement_plan__free(&plan);
    run__free(&found.run);
}

static void objects_of_one_place_are_placed_one_by_one(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (uint64_t object = 1; object < 3; object++)
        allocate(scene, OBJECT + object * PAGES * PAGE, PAGES * PAGE);
    for (uint64_t ms = 0; ms < 3 * PAGES; ms++) {
        uint32_t thread = ms / PAGES != 1;
        put_sample(scene, thread, ms, OBJECT + ms * PAGE, HEURT_ACCESS_UPDATE, thread * OF_NODE, 0);
    }
    struct found found = find(scene, NODES);
    struct placement_plan plan = plan_of(&found);
    const struct placement_action *action = plan.actions.items;
    assert_int_equal(plan.actions.count, 1);
    assert_int_equal(action->what, PLACE_EACH);
    assert_int_equal(action->parts.count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(VEC_AT(&action->parts, struct placement_part, i)->node, i != 1);
    placement_plan__free(&plan);
    run__free(&found.run);
}

static void one_policy_is_enough_where_all_is_interleaved_or_used_from_one_node(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, on_first, NULL, true, HEURT_ACCESS_UPDATE);
    struct found found = find(scene, NODES);
    struct placement_plan plan = plan_of(&found);
    assert_int_equal(plan.whole, PLAN_INTERLEAVE);
    placement_plan__free(&plan);
    run__free(&found.run);
}

static void threads_of_one_node_get_their_memory_there(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (uint64_t ms = 0; ms < 2 * PAGES; ms++)
        put_sample(scene, 1, ms, OBJECT + ms % PAGES * PAGE, HEURT_ACCESS_UPDATE, OF_NODE, 0);
    struct found found = find(scene, NODES);
    struct placement_plan plan = plan_of(&found);
    assert_int_equal(only(&found)->advice, ADVICE_LOCAL);
    assert_int_equal(plan.whole, PLAN_BIND);
    assert_int_equal(plan.node, 1);
    placement_plan__free(&plan);
    run__free(&found.run);
}

static void what_is_local_needs_no_plan(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    use_all(scene, halves, halves, false, HEURT_ACCESS_UPDATE);
    struct found found = find(scene, NODES);
    struct placement_plan plan = plan_of(&found);
    assert_int_equal(plan.whole, PLAN_NOTHING);
    assert_int_equal(plan.actions.count, 0);
    placement_plan__free(&plan);
    run__free(&found.run);
}

#define IN_SCENE(test) cmocka_unit_test_setup_teardown(test, scene__setup, scene__teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_and_distances_are_read),
        cmocka_unit_test(what_makes_no_sense_is_not_known),
        cmocka_unit_test(imbalance_is_the_deviation_as_a_part_of_the_mean),
        IN_SCENE(one_node_has_no_placement),
        IN_SCENE(what_answered_is_believed_more_than_where_pages_are),
        IN_SCENE(remote_memory_costs_what_it_takes_longer_than_local),
        IN_SCENE(what_takes_as_long_as_local_memory_loses_nothing),
        IN_SCENE(what_is_never_local_is_bounded_by_the_distance),
        IN_SCENE(on_one_node_nobody_looks_for_remote_memory),
        IN_SCENE(times_are_told_from_node_to_node),
        IN_SCENE(all_on_one_node_is_to_be_touched_by_its_users),
        IN_SCENE(what_each_uses_at_home_is_left_alone),
        IN_SCENE(interleaved_is_told_from_divided),
        IN_SCENE(divided_the_wrong_way_round_is_told),
        IN_SCENE(what_all_read_is_to_be_replicated),
        IN_SCENE(what_all_write_is_to_be_interleaved),
        IN_SCENE(what_all_write_and_is_interleaved_is_left_alone),
        IN_SCENE(owners_within_huge_pages_are_seen),
        IN_SCENE(what_moves_half_way_is_told_with_the_time),
        IN_SCENE(pairs_tell_owners_of_pages_with_few_samples),
        IN_SCENE(page_faults_tell_who_touched_first),
        IN_SCENE(who_moved_after_touching_is_to_stay),
        IN_SCENE(without_faults_the_first_sample_stands_for_the_first_touch),
        IN_SCENE(parts_go_to_those_who_use_them),
        IN_SCENE(pages_in_turn_are_a_cycle),
        IN_SCENE(objects_of_one_place_are_placed_one_by_one),
        IN_SCENE(one_policy_is_enough_where_all_is_interleaved_or_used_from_one_node),
        IN_SCENE(threads_of_one_node_get_their_memory_there),
        IN_SCENE(what_is_local_needs_no_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
