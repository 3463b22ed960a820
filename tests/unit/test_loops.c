/* Loops of this very program's functions are found, marked as the recorder marks them, and run:
 * what a function returns must be what it returned before. Built in several forms, see meson.build;
 * the functions are in tests/programs. */
#include "base/memory.h"
#include "patch/code_file.h"
#include "patch/landing.h"
#include "patch/loops.h"
#include "recorder/live_code.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOPS_MAX = 512, CALLS = 10, ROOM = LOOPS_MAX * HEURT_LIVE_LOOP_SLOT_BYTES };

/* loop_asm.S */
void loop_stub(void);
long call_with_frame(long (*function)(long), long n, uint64_t *frame);
extern __thread int32_t loop_counters[LOOPS_MAX];
extern uint32_t loop_hits[LOOPS_MAX];
extern uint64_t loop_frame;
extern int32_t loop_every;

__thread int32_t loop_counters[LOOPS_MAX];
uint32_t loop_hits[LOOPS_MAX];
uint64_t loop_frame;
int32_t loop_every = 1;

static struct code_file *file;
static struct code_map *map;
static uint64_t bias;
static uint8_t *room;
static unsigned numbers; /* loops that are marked */

static int take_bias(struct dl_phdr_info *info, size_t size, void *to)
{
    (void)size;
    *(uint64_t *)to = info->dlpi_addr;
    return 1; /* the first is the program itself */
}

static uint8_t *room_near(uint64_t address)
{
    for (uint64_t distance = 1 << 24; distance < 1u << 30; distance += 1 << 20)
        for (int side = -1; side <= 1; side += 2) {
            void *memory = mmap((void *)((address & ~4095ull) + (uint64_t)side * distance), ROOM,
                                PROT_READ | PROT_WRITE | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (memory != MAP_FAILED)
                return memory;
        }
    return NULL;
}

static int start(void **state)
{
    (void)state;
    struct error error;
    char path[4096] = {0};
    dl_iterate_phdr(take_bias, &bias);
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    assert_int_equal(code_file__open(path, NULL, 0, &file, &error), 0);
    map = code_map__make(file);
    room = room_near((uint64_t)(uintptr_t)loop_stub);
    assert_non_null(room);
    return 0;
}

static int end(void **state)
{
    (void)state;
    code_map__free(map);
    code_file__close(file);
    munmap(room, ROOM);
    return 0;
}

static const struct code_function *function_of(const char *name)
{
    VEC_EACH (function, &file->functions, const struct code_function)
        for (size_t i = 0; i < function->name_count; i++)
            if (strcmp(code_function__name(file, function, i)->text, name) == 0)
                return function;
    fail_msg("no function %s", name);
    return NULL;
}

static void find(const char *name, struct loops *loops)
{
    assert_true(loops__find(loops, file, map, function_of(name), NULL));
}

static const struct loop *loop_at(const struct loops *loops, size_t index)
{
    assert_true(index < loops->items.count);
    return VEC_AT(&loops->items, struct loop, index);
}

/* ---- marking --------------------------------------------------------------------------------- */

static void move_to(struct heurt_plan *plan)
{
    plan->address += bias;
    for (unsigned i = 0; i < plan->fixup_count; i++)
        plan->fixups[i].target += bias;
}

static unsigned mark(const struct loop *loop)
{
    struct heurt_plan plan = loop->plan;
    uint8_t jump[HEURT_PATCH_BYTES];
    uint8_t *slot = room + numbers * HEURT_LIVE_LOOP_SLOT_BYTES;
    uint64_t thread_pointer;
    __asm__("mov %%fs:0, %0" : "=r"(thread_pointer));
    move_to(&plan);
    const struct loop_code code = {
        .plan = &plan,
        .id = 2 * numbers,
        .counter = (int64_t)((uint64_t)&loop_counters[numbers] - thread_pointer),
        .stub = (uint64_t)(uintptr_t)loop_stub,
        .saves_flags = loop->saves_flags,
    };
    assert_true(numbers < LOOPS_MAX);
    size_t at = live_code__write_loop(slot, (uint64_t)(uintptr_t)slot, &code);
    assert_true(at > 0);
    uint8_t *place = (uint8_t *)(uintptr_t)plan.address;
    assert_memory_equal(place, plan.original, plan.moved);
    uint8_t *page = (uint8_t *)((uintptr_t)place & ~(uintptr_t)4095);
    assert_int_equal(mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    assert_true(live_code__jump(jump, plan.address, (uint64_t)(uintptr_t)slot + at));
    memcpy(place, jump, sizeof jump);
    return numbers++;
}

static void unmark(const struct loop *loop)
{
    memcpy((uint8_t *)(uintptr_t)(loop->plan.address + bias), loop->plan.original,
           HEURT_PATCH_BYTES);
}

typedef long looping(long);

static looping *address_of(const char *name)
{
    return (looping *)(uintptr_t)(function_of(name)->start + bias);
}

/* Marks all loops of the function, and compares. Returns how many were marked; hits: of each, over
 * all calls. */
static size_t run(const char *name, int32_t every, uint32_t hits[LOOPS_MAX])
{
    struct loops loops;
    long before[CALLS];
    looping *code = address_of(name);
    unsigned first = numbers;
    size_t marked = 0;
    find(name, &loops);
    for (long n = 0; n < CALLS; n++)
        before[n] = code(n);
    VEC_EACH (loop, &loops.items, const struct loop)
        if (!loop->fault) {
            mark(loop);
            marked++;
        }
    loop_every = every;
    memset(loop_hits, 0, sizeof loop_hits);
    memset(loop_counters, 0, sizeof loop_counters);
    for (long n = 0; n < CALLS; n++)
        if (code(n) != before[n])
            fail_msg("%s(%ld) is %ld after its loops were marked, and was %ld", name, n, code(n),
                     before[n]);
    memcpy(hits, loop_hits + first, marked * sizeof *hits);
    VEC_EACH (loop, &loops.items, const struct loop)
        if (!loop->fault)
            unmark(loop);
    loops__free(&loops);
    return marked;
}

/* ---- what is found --------------------------------------------------------------------------- */

static void a_short_loop_takes_bytes_from_behind_it(void **state)
{
    (void)state;
    struct loops loops;
    uint32_t hits[LOOPS_MAX];
    find("l_short", &loops);
    assert_int_equal(loops.items.count, 1);
    assert_int_equal(loop_at(&loops, 0)->fault, LOOP_MARKED);
    assert_int_equal(loop_at(&loops, 0)->instructions, 2);
    assert_false(loop_at(&loops, 0)->saves_flags);
    loops__free(&loops);
    assert_int_equal(run("l_short", 1, hits), 1);
    assert_int_equal(hits[0], 55); /* 1 + 2 + … + 10 iterations */
}

static void marks_are_so_many_iterations_apart(void **state)
{
    (void)state;
    uint32_t hits[LOOPS_MAX];
    assert_int_equal(run("l_short", 5, hits), 1);
    assert_int_equal(hits[0], 11); /* the first, then every fifth of 55 */
}

static void flags_that_are_read_are_kept(void **state)
{
    (void)state;
    struct loops loops;
    uint32_t hits[LOOPS_MAX];
    find("l_flags", &loops);
    assert_true(loop_at(&loops, 0)->saves_flags);
    loops__free(&loops);
    assert_int_equal(run("l_flags", 1, hits), 1);
    assert_int_equal(hits[0], 55);
    assert_int_equal(run("l_flags", 4, hits), 1);
}

static void the_carry_alone_needs_no_keeping(void **state)
{
    (void)state;
    struct loops loops;
    uint32_t hits[LOOPS_MAX];
    find("l_carry", &loops);
    assert_false(loop_at(&loops, 0)->saves_flags);
    loops__free(&loops);
    assert_int_equal(run("l_carry", 1, hits), 1);
    assert_int_equal(hits[0], 55);
}

static void what_is_below_the_stack_pointer_is_left_alone(void **state)
{
    (void)state;
    uint32_t hits[LOOPS_MAX];
    assert_int_equal(run("l_red_zone", 1, hits), 1);
    assert_int_equal(hits[0], 75);
}

static void an_inner_loop_knows_the_outer_one(void **state)
{
    (void)state;
    struct loops loops;
    uint32_t hits[LOOPS_MAX];
    find("l_nested", &loops);
    assert_int_equal(loops.items.count, 2);
    const struct loop *outer = loop_at(&loops, 0), *inner = loop_at(&loops, 1);
    assert_int_equal(outer->parent, LOOP_NONE);
    assert_int_equal(inner->parent, 0);
    assert_int_equal(inner->depth, 1);
    assert_true(outer->has_inner && !inner->has_inner);
    assert_int_equal(inner->instructions, 4);
    assert_int_equal(outer->instructions, 8);
    assert_int_equal(loops__at(&loops, inner->address), 1);
    assert_int_equal(loops__at(&loops, outer->address), 0);
    assert_int_equal(loops__at(&loops, loops.flow.start), LOOP_NONE);
    loops__free(&loops);
    assert_int_equal(run("l_nested", 1, hits), 2);
    assert_int_equal(hits[0], 65);  /* 2 + 3 + … + 11 */
    assert_int_equal(hits[1], 855); /* 3 (1 + … + m) for each m of these */
}

static void calls_return_into_the_function_itself(void **state)
{
    (void)state;
    struct loops loops;
    uint32_t hits[LOOPS_MAX];
    find("l_calls", &loops);
    assert_true(loop_at(&loops, 0)->has_call);
    loops__free(&loops);
    assert_int_equal(run("l_calls", 1, hits), 1);
    assert_int_equal(hits[0], 55);
}

static void no_place_that_something_jumps_into(void **state)
{
    (void)state;
    static const char *const names[] = {"l_entered", "l_landing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct loops loops;
        find(names[i], &loops);
        assert_int_equal(loops.items.count, 1);
        assert_int_equal(loop_at(&loops, 0)->fault, LOOP_ENTERED);
        loops__free(&loops);
    }
}

static void a_circle_with_two_entries_is_no_loop(void **state)
{
    (void)state;
    struct loops loops;
    find("l_two_heads", &loops);
    assert_int_equal(loops.items.count, 0);
    loops__free(&loops);
}

static void an_entry_keeps_its_bytes(void **state)
{
    (void)state;
    struct loops loops;
    const struct code_function *function = function_of("l_short");
    const struct heurt_plan entry = {.moved = 16}; /* to the middle of the loop */
    assert_true(loops__find(&loops, file, map, function, &entry));
    VEC_EACH (loop, &loops.items, const struct loop)
        if (!loop->fault)
            assert_true(loop->plan.address >= function->start + 16);
    loops__free(&loops);
}

static void the_stub_is_told_where_the_frame_is(void **state)
{
    (void)state;
    static const char *const names[] = {"l_short", "l_flags"}; /* both ways of counting */
    for (size_t i = 0; i < 2; i++) {
        struct loops loops;
        uint64_t frame = 0;
        find(names[i], &loops);
        unsigned number = mark(loop_at(&loops, 0));
        loop_counters[number] = 0;
        call_with_frame(address_of(names[i]), 3, &frame);
        unmark(loop_at(&loops, 0));
        loops__free(&loops);
        assert_int_equal(loop_frame, frame);
    }
}

static void what_compilers_make_of_loops_runs_as_before(void **state)
{
    (void)state;
    static const char *const names[] = {"l_sum",    "l_matrix",    "l_collatz", "l_text",
                                        "l_choice", "l_float",     "l_left",    "l_recursive",
                                        "l_deep",   "l_jumped_out"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t hits[LOOPS_MAX];
        for (int32_t every = 1; every < 4; every += 2) {
            size_t marked = run(names[i], every, hits);
            uint32_t all = 0;
            for (size_t loop = 0; loop < marked; loop++)
                all += hits[loop];
            if (!marked || !all) /* how often: compilers take iterations out of loops */
                fail_msg("%s: %zu loops, %u marks", names[i], marked, all);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_loop_takes_bytes_from_behind_it),
        cmocka_unit_test(marks_are_so_many_iterations_apart),
        cmocka_unit_test(flags_that_are_read_are_kept),
        cmocka_unit_test(the_carry_alone_needs_no_keeping),
        cmocka_unit_test(what_is_below_the_stack_pointer_is_left_alone),
        cmocka_unit_test(an_inner_loop_knows_the_outer_one),
        cmocka_unit_test(calls_return_into_the_function_itself),
        cmocka_unit_test(no_place_that_something_jumps_into),
        cmocka_unit_test(a_circle_with_two_entries_is_no_loop),
        cmocka_unit_test(an_entry_keeps_its_bytes),
        cmocka_unit_test(the_stub_is_told_where_the_frame_is),
        cmocka_unit_test(what_compilers_make_of_loops_runs_as_before),
    };
    return cmocka_run_group_tests(tests, start, end);
}
