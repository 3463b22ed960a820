#include "kernel/hotspots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct hotspots *hotspots;

static int start(void **state)
{
    (void)state;
    hotspots = hotspots__new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    hotspots__free(hotspots);
    return 0;
}

static void map(uint32_t pid, uint64_t address, uint64_t length, uint64_t offset, const char *path)
{
    struct record record = {.kind = RECORD_MAP,
                            .pid = pid,
                            .tid = pid,
                            .address = address,
                            .length = length,
                            .file_offset = offset,
                            .path = path};
    hotspots__take(&record, hotspots);
}

static void sample(uint32_t pid, uint64_t address)
{
    struct record record = {
        .kind = RECORD_SAMPLE, .pid = pid, .tid = pid, .address = address, .weight_ns = 10};
    hotspots__take(&record, hotspots);
}

static void task(enum record_kind kind, uint32_t pid, uint32_t tid, uint32_t parent)
{
    struct record record = {.kind = kind, .pid = pid, .tid = tid, .parent_pid = parent};
    hotspots__take(&record, hotspots);
}

/* Samples that were taken at this place, 0 when none. */
static uint64_t samples_at(const char *path, uint64_t offset)
{
    VEC_EACH (spot, hotspots__spots(hotspots), const struct hotspot) {
        const struct hotspots_module *module =
            VEC_AT(hotspots__modules(hotspots), struct hotspots_module, spot->module);
        if (strcmp(module->path, path) == 0 && spot->file_offset == offset) {
            assert_int_equal(spot->weight_ns, spot->samples * 10);
            return spot->samples;
        }
    }
    return 0;
}

static void addresses_become_places_in_files(void **state)
{
    (void)state;
    map(1, 0x1000, 0x1000, 0x400, "/bin/a");
    map(1, 0x8000, 0x1000, 0, "/lib/b");
    sample(1, 0x1000);
    sample(1, 0x1fff);
    sample(1, 0x1fff);
    sample(1, 0x8010);
    sample(1, 0x2000); /* one past the end */
    sample(1, 0xfff);
    sample(1, 0x9000);
    assert_int_equal(samples_at("/bin/a", 0x400), 1);
    assert_int_equal(samples_at("/bin/a", 0x13ff), 2);
    assert_int_equal(samples_at("/lib/b", 0x10), 1);
    assert_int_equal(samples_at("[unknown]", 0), 3);
    struct hotspots_totals totals = hotspots__totals(hotspots);
    assert_int_equal(totals.samples, 7);
    assert_int_equal(totals.weight_ns, 70);
}

static void memory_without_a_file_is_one_place(void **state)
{
    (void)state;
    map(1, 0x1000, 0x1000, 0, "//anon");
    map(1, 0x3000, 0x1000, 0, "[heap]");
    map(1, 0x5000, 0x1000, 0, "[vdso]");
    sample(1, 0x1010);
    sample(1, 0x3020);
    sample(1, 0x5030);
    struct record in_kernel = {
        .kind = RECORD_SAMPLE, .in_kernel = true, .pid = 1, .address = 0x1010, .weight_ns = 10};
    hotspots__take(&in_kernel, hotspots);
    assert_int_equal(samples_at("[anonymous memory]", 0), 2);
    assert_int_equal(samples_at("[vdso]", 0), 1);
    assert_int_equal(samples_at("[kernel]", 0), 1);
}

static void a_new_map_replaces_what_it_covers(void **state)
{
    (void)state;
    map(1, 0x1000, 0x9000, 0, "/lib/old");
    map(1, 0x20000, 0x1000, 0, "/lib/old");
    map(1, 0x3000, 0x1000, 0, "/lib/new"); /* inside: cuts the old one in two */
    sample(1, 0x2fff);
    sample(1, 0x3000);
    sample(1, 0x4000);
    assert_int_equal(samples_at("/lib/old", 0x1fff), 1);
    assert_int_equal(samples_at("/lib/new", 0), 1);
    assert_int_equal(samples_at("/lib/old", 0x3000), 1);
    map(1, 0x800, 0x30000, 0x100000, "/lib/newest"); /* over everything */
    sample(1, 0x3000);
    sample(1, 0x20000);
    assert_int_equal(samples_at("/lib/newest", 0x102800), 1);
    assert_int_equal(samples_at("/lib/newest", 0x11f800), 1);
}

static void fork_copies_and_exec_forgets(void **state)
{
    (void)state;
    map(1, 0x1000, 0x1000, 0, "/bin/parent");
    task(RECORD_FORK, 2, 2, 1);
    sample(2, 0x1010);
    assert_int_equal(samples_at("/bin/parent", 0x10), 1);
    task(RECORD_EXEC, 2, 2, 0);
    sample(2, 0x1010);
    assert_int_equal(samples_at("[unknown]", 0), 1);
    map(2, 0x1000, 0x1000, 0, "/bin/child");
    sample(2, 0x1010);
    assert_int_equal(samples_at("/bin/child", 0x10), 1);
    sample(1, 0x1010); /* the parent is not touched */
    assert_int_equal(samples_at("/bin/parent", 0x10), 2);
}

static void maps_live_until_the_last_thread_ends(void **state)
{
    (void)state;
    map(1, 0x1000, 0x1000, 0, "/bin/a");
    task(RECORD_FORK, 1, 5, 1);
    task(RECORD_EXIT, 1, 1, 0); /* the first thread ends before the other */
    sample(1, 0x1000);
    assert_int_equal(samples_at("/bin/a", 0), 1);
    task(RECORD_EXIT, 1, 5, 0);
    sample(1, 0x1000);
    assert_int_equal(samples_at("[unknown]", 0), 1);
}

static void a_pid_that_is_used_again_starts_anew(void **state)
{
    (void)state;
    map(1, 0x1000, 0x1000, 0, "/bin/shell");
    for (int turn = 0; turn < 100; turn++) {
        task(RECORD_FORK, 7, 7, 1);
        task(RECORD_EXEC, 7, 7, 0);
        map(7, 0x5000, 0x1000, 0, "/bin/tool");
        sample(7, 0x5000);
        task(RECORD_EXIT, 7, 7, 0);
    }
    task(RECORD_FORK, 7, 7, 1);
    sample(7, 0x5000);
    assert_int_equal(samples_at("/bin/tool", 0), 100);
    assert_int_equal(samples_at("[unknown]", 0), 1);
}

static void samples_are_forgotten_and_maps_are_not(void **state)
{
    (void)state;
    map(1, 0x1000, 0x1000, 0, "/bin/a");
    sample(1, 0x1010);
    sample(1, 0x1020);
    hotspots__forget(hotspots);
    assert_int_equal(samples_at("/bin/a", 0x10), 0);
    assert_int_equal(hotspots__totals(hotspots).samples, 0);
    sample(1, 0x1020);
    assert_int_equal(samples_at("/bin/a", 0x20), 1);
    assert_int_equal(hotspots__totals(hotspots).samples, 1);
    assert_int_equal(hotspots__totals(hotspots).weight_ns, 10);
}

static void losses_are_counted(void **state)
{
    (void)state;
    struct record lost = {.kind = RECORD_LOST, .count = 5};
    hotspots__take(&lost, hotspots);
    hotspots__take(&lost, hotspots);
    struct record throttled = {.kind = RECORD_THROTTLED};
    hotspots__take(&throttled, hotspots);
    assert_int_equal(hotspots__totals(hotspots).lost, 10);
    assert_int_equal(hotspots__totals(hotspots).throttled, 1);
}

int main(void)
{
#define HOTSPOTS_TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        HOTSPOTS_TEST(addresses_become_places_in_files),
        HOTSPOTS_TEST(memory_without_a_file_is_one_place),
        HOTSPOTS_TEST(a_new_map_replaces_what_it_covers),
        HOTSPOTS_TEST(fork_copies_and_exec_forgets),
        HOTSPOTS_TEST(maps_live_until_the_last_thread_ends),
        HOTSPOTS_TEST(a_pid_that_is_used_again_starts_anew),
        HOTSPOTS_TEST(samples_are_forgotten_and_maps_are_not),
        HOTSPOTS_TEST(losses_are_counted),
    };
    return cmocka_run_group_tests_name("hotspots", tests, NULL, NULL);
}
