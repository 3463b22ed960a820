/* Screens of placement, and the script of its plan, are compared with files in tests/golden/place.
 */
#include "golden.h"
#include "scene.h"

#include "base/memory.h"
#include "present/place/place_screens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

enum { PAGE = HEURT_PAGE_BYTES, PARTED = 0x100000, SHARED = 0x200000, PAGES = 40, SAMPLES = 160 };
enum { PARTED_SITE = 0x5010, SHARED_SITE = 0x5020, GRID_AT = 0x8000 };

static const struct style to_file = {.columns = 0, .colour = false, .unicode = true};
static const struct style terminal_60 = {.columns = 60, .colour = false, .unicode = false};

static void define(struct scene *scene, enum heurt_definition_type type, const void *row,
                   size_t bytes)
{
    assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL, type, row, bytes), 0);
}

static void put_sample(struct scene *scene, uint32_t thread, uint64_t at_us, uint64_t address,
                       enum heurt_region region, int node)
{
    uint64_t at = 2000 + at_us * 1000 + thread;
    struct heurt_sample sample = {.monotonic_ns = at,
                                  .instruction = 0x5800,
                                  .address = address,
                                  .pid = 100,
                                  .tid = 1000 + thread,
                                  .weight_ns = MS,
                                  .access = HEURT_ACCESS_UPDATE,
                                  .region = (uint8_t)region & 0xf,
                                  .bytes = 8};
    struct heurt_placed placed = {at, 1000 + thread, (uint16_t)thread, (int16_t)node};
    define(scene, HEURT_DEFINITION_SAMPLES, &sample, sizeof sample);
    define(scene, HEURT_DEFINITION_PLACED, &placed, sizeof placed);
}

static void allocate(struct scene *scene, uint64_t site, uint64_t address)
{
    PUT(scene, 0, 1001, HEURT_EVENT_ALLOCATED, HEURT_SITE(site, HEURT_ALLOCATION_MALLOC), address,
        PAGES * PAGE);
}

/* An object whose halves lie the wrong way round, one that both threads write, a variable. */
static void put_memory(struct scene *scene)
{
    allocate(scene, PARTED_SITE, PARTED);
    allocate(scene, SHARED_SITE, SHARED);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        uint64_t page = i % PAGES, half = page >= PAGES / 2;
        put_sample(scene, (uint32_t)half, i * 1000, PARTED + page * PAGE, HEURT_REGION_HEAP, !half);
        put_sample(scene, i / PAGES % 2, i * 1000 + 100, SHARED + page * PAGE, HEURT_REGION_HEAP,
                   0);
        if (i < 40)
            put_sample(scene, 0, i * 1000 + 200, GRID_AT + i % 4 * PAGE, HEURT_REGION_FILE, 1);
    }
}

static void name(struct scene *scene)
{
    const struct symbol made = {.function = "make_grid", .file = "/src/grid.c", .line = 12},
                        shared = {.function = "make_table", .file = "/src/table.c", .line = 7},
                        grid = {.function = "grid", .file = "/src/grid.c", .line = 3};
    symbols__put(scene->symbols, 0, PARTED_SITE, &made);
    symbols__put(scene->symbols, 0, SHARED_SITE, &shared);
    for (uint64_t page = 0; page < 4; page++)
        symbols__put_variable(scene->symbols, 0, GRID_AT + page * PAGE, &grid);
}

static void write_trace(struct scene *scene)
{
    for (uint32_t i = 0; i < 2; i++)
        scene__start(scene, i, 1000);
    scene__module(scene, 0, 0x4000, 0x10000, 7, "/bin/app");
    put_memory(scene);
    for (uint32_t i = 0; i < 2; i++)
        scene__end(scene, i, 1000 + 400 * MS);
    scene->end = (struct heurt_clock_pair){1000 + 400 * MS, 1000 + 400 * MS};
    trace_writer__meta(scene->writer, "command", "app\n--grid\n40");
    trace_writer__meta(scene->writer, "nodes", "0:0;1:1");
    trace_writer__meta(scene->writer, "node_distances", "10 21;21 10");
    trace_writer__meta(scene->writer, "numa_balancing", "1");
    trace_writer__meta(scene->writer, "huge_pages", "always");
    scene__profile(scene);
    name(scene);
}

static char *shown_as(const struct place_presenter *presenter, const struct place_report *shown,
                      const struct style *style)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    presenter->put(shown, style, out);
    fclose(out);
    return text;
}

static void the_screens_are_as_they_were_read(void **state)
{
    struct scene *scene = *state;
    struct error error;
    write_trace(scene);
    struct run run = run__of(scene->trace, scene->symbols);
    run__ask(&run, &memory_analysis, NULL);
    run__ask(&run, &placement_analysis, NULL);
    assert_int_equal(run__analyse(&run, &error), 0);
    struct report report = {.trace = scene->trace,
                            .symbols = scene->symbols,
                            .profile = scene->profile,
                            .directory = "heurt.data"};
    struct place_report shown = {.report = &report,
                                 .use = run__result(&run, &memory_analysis),
                                 .placement = run__result(&run, &placement_analysis),
                                 .library = "/usr/lib/heurt/libheurt-place.so"};
    assert_non_null(shown.placement);
    golden__assert("place/all.txt", shown_as(&place_text, &shown, &to_file));
    golden__assert("place/all_60.txt", shown_as(&place_text, &shown, &terminal_60));
    golden__assert("place/all.json", shown_as(&place_json, &shown, &to_file));
    golden__assert("place/plan.sh", shown_as(&place_script, &shown, &to_file));
    shown.rank = 1;
    golden__assert("place/one.txt", shown_as(&place_text, &shown, &to_file));
    run__free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_screens_are_as_they_were_read, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
