/* test_format.c: what is written is what is read. */
#include "fixture.h"
#include "walk.h"
#include "writing.h"

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    assert_int_equal(trace_writer__meta(writer, "command", "./app\n-x"), 0);
    assert_int_equal(trace_writer__refuse(writer, 0, "f", "/bin/app", "too short"), 0);
    put(writer, 0, 1500, HEURT_EVENT_THREAD_START, 1, HEURT_NO_SERIAL);
    put(writer, 0, 2000, HEURT_EVENT_LOCK_WAIT, 0x401000, 0x7000);
    put(writer, 0, 3000, HEURT_EVENT_LOCK_WAIT | 1, 0, 0);
    put(writer, 0, 4000, HEURT_EVENT_THREAD_END, 123, 456);
    finish(writer);

    struct trace *trace = open_trace("t");
    const struct heurt_session *session = trace__session(trace);
    assert_int_equal(session->flags & HEURT_SESSION_CLOSED, HEURT_SESSION_CLOSED);
    assert_int_equal(session->wait_status, 0x0300);
    assert_int_equal(session->stack_every, 10000);
    assert_int_equal(session->recorder_pid, getpid());
    assert_string_equal(trace__meta(trace, "command"), "./app\n-x");
    assert_null(trace__meta(trace, "host"));
    assert_int_equal(trace__wall_ns(trace), 7500); /* since the first thread began */
    assert_int_equal(trace__damaged_chunks(trace), 0);
    assert_int_equal(trace__events_lost(trace), 0);
    assert_int_equal(trace__processes(trace)->count, 1);
    const struct trace_process *process = VEC_AT(trace__processes(trace), struct trace_process, 0);
    assert_int_equal(process->refusals.count, 1);
    assert_string_equal(VEC_AT(&process->refusals, struct trace_refusal, 0)->reason, "too short");
    assert_int_equal(trace__threads(trace)->count, 1);
    const struct trace_thread *thread = VEC_AT(trace__threads(trace), struct trace_thread, 0);
    assert_int_equal(thread->start_tick, 1500);
    assert_int_equal(thread->end_tick, 4000);
    assert_true(thread->ended);
    assert_int_equal(thread->cpu_ns, 123);
    assert_int_equal(thread->runnable_ns, 456);

    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, trace, thread);
    assert_true(trace_cursor__next(&cursor, &event));
    assert_true(trace_cursor__next(&cursor, &event));
    assert_int_equal(event.tick, 2000);
    assert_int_equal(event.id, HEURT_EVENT_LOCK_WAIT);
    assert_int_equal(event.words, 2);
    assert_int_equal(event.payload[0], 0x401000);
    assert_int_equal(event.payload[1], 0x7000);
    assert_true(trace_cursor__next(&cursor, &event));
    assert_int_equal(event.id, HEURT_EVENT_LOCK_WAIT | 1);
    assert_true(trace_cursor__next(&cursor, &event));
    assert_false(trace_cursor__next(&cursor, &event));
    assert_false(trace_cursor__next(&cursor, &event));
    trace__close(trace);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void functions_and_regions_have_their_fields(void **state)
{
    (void)state;
    struct trace *trace = fixture__open("function 0 1026 work 0x401000 x,y\n"
                                        "region 0 1024 parse 0x401100 a.c:12\n"
                                        "note 0 the runtime stopped\n"
                                        "refusal 4294967295 nosuch - matches nothing\n"
                                        "thread 0 main\n"
                                        "100 work 3 4\n"
                                        "200 parse\n"
                                        "300 leave parse\n"
                                        "400 leave work\n");
    const struct trace_process *process = VEC_AT(trace__processes(trace), struct trace_process, 0);
    const struct trace_function *work = trace_process__function(process, 1026);
    assert_string_equal(work->name, "work");
    assert_int_equal(work->kind, HEURT_FUNCTION_PATCHED);
    assert_int_equal(work->address, 0x401000);
    assert_int_equal(work->argument_count, 2);
    assert_string_equal(work->argument_names, "x,y");
    const struct trace_function *parse = trace_process__function(process, 1024);
    assert_int_equal(parse->kind, HEURT_FUNCTION_REGION);
    assert_string_equal(parse->file, "a.c");
    assert_int_equal(parse->line, 12);
    assert_null(trace_process__function(process, 1028));
    assert_int_equal(trace_process__payload_words(process, 1026), 2);
    assert_int_equal(trace_process__payload_words(process, 1027), 0);
    assert_int_equal(trace_process__payload_words(process, 1028), -1);
    assert_int_equal(trace_process__payload_words(process, HEURT_EVENT_LOCK_WAIT), 2);
    assert_int_equal(trace_process__payload_words(process, HEURT_EVENT_LOCK_WAIT | 1), 1);
    assert_int_equal(trace_process__payload_words(process, HEURT_EVENT_STACK),
                     HEURT_WORDS_VARIABLE);
    assert_int_equal(trace_process__payload_words(process, HEURT_EVENT_LOCK_BUSY | 1), -1);
    assert_int_equal(trace_process__payload_words(process, 0), -1);
    assert_string_equal(*VEC_AT(&process->notes, const char *, 0), "the runtime stopped");
    assert_string_equal(VEC_AT(&process->refusals, struct trace_refusal, 0)->reason,
                        "matches nothing");
    const struct trace_thread *thread = VEC_AT(trace__threads(trace), struct trace_thread, 0);
    assert_string_equal(thread->name, "main");
    assert_int_equal(walk_trace(trace).events, 4);
    assert_int_equal(trace__damaged_chunks(trace), 0);
    trace__close(trace);
}

static const char *path_at(const struct trace *trace, uint32_t process, uint64_t address,
                           uint64_t tick)
{
    const struct trace_module *module = trace_process__module(
        VEC_AT(trace__processes(trace), struct trace_process, process), address, tick);
    return module ? module->path : "none";
}

static void a_module_is_found_by_address_and_time(void **state)
{
    (void)state;
    struct trace *trace = fixture__open("module 0 300 0x7000 0x8000 two.so\n"
                                        "module 0 100 0x7000 0x9000 one.so\n"
                                        "module 0 100 0x1000 0x2000 app\n"
                                        "gone 0 200 0x7000\n"
                                        "thread 0 main\n"
                                        "100 exec\n");
    assert_string_equal(path_at(trace, 0, 0x7000, 100), "one.so");
    assert_string_equal(path_at(trace, 0, 0x8fff, 199), "one.so");
    assert_string_equal(path_at(trace, 0, 0x7000, 300), "two.so");
    assert_string_equal(path_at(trace, 0, 0x7fff, 1000), "two.so");
    assert_string_equal(path_at(trace, 0, 0x7000, 250), "two.so"); /* while it is being loaded */
    assert_string_equal(path_at(trace, 0, 0x8000, 300), "none");
    assert_string_equal(path_at(trace, 0, 0x1fff, 5000), "app");
    assert_string_equal(path_at(trace, 0, 0x2000, 5000), "none");
    trace__close(trace);
}

static void a_forked_image_inherits_and_an_execed_one_does_not(void **state)
{
    (void)state;
    struct trace *trace = fixture__open("process 0 100 app\n"
                                        "module 0 10 0x1000 0x2000 app\n"
                                        "module 0 90 0x3000 0x4000 late.so\n"
                                        "function 0 1024 work 0x1100 x\n"
                                        "process 1 101 app 0 50\n"
                                        "process 2 100 other 0 60\n"
                                        "process 3 102 app 0 50\n"
                                        "function 3 1024 renamed 0x1200\n"
                                        "function 3 1026 more 0x1300\n"
                                        "thread 0 child 1\n"
                                        "70 work 5\n"
                                        "thread 1 third 3\n"
                                        "70 renamed\n");
    const struct trace_process *all = trace__processes(trace)->items;
    assert_int_equal(trace__processes(trace)->count, 4);
    assert_string_equal(trace_process__function(&all[1], 1024)->name, "work");
    assert_string_equal(path_at(trace, 1, 0x1000, 70), "app");
    assert_string_equal(path_at(trace, 1, 0x3000, 95), "none");
    assert_null(trace_process__function(&all[2], 1024));
    assert_string_equal(path_at(trace, 2, 0x1000, 70), "none");
    assert_string_equal(trace_process__function(&all[3], 1024)->name, "renamed");
    assert_string_equal(trace_process__function(&all[3], 1026)->name, "more");
    assert_int_equal(walk_trace(trace).events, 2);
    assert_int_equal(trace__damaged_chunks(trace), 0);
    trace__close(trace);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void ticks_keep_their_high_bits(void **state)
{
    (void)state;
    const uint64_t ticks[] = {(5ull << 48) - 10,
                              (5ull << 48) - 1,
                              (5ull << 48) + 3,
                              (5ull << 48) - 2, /* a step back over the edge */
                              (5ull << 48) + (1ull << 47) - 3,
                              (6ull << 48) - 5};
    const size_t count = sizeof ticks / sizeof ticks[0];
    struct trace_writer *writer = create("t");
    for (size_t i = 0; i < count; i++)
        put(writer, 0, ticks[i], HEURT_EVENT_LOCK_ACQUIRED, 1, i);
    finish(writer);
    struct trace *trace = open_trace("t");
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, trace, trace__threads(trace)->items);
    for (size_t i = 0; i < count; i++) {
        assert_true(trace_cursor__next(&cursor, &event));
        assert_true(event.tick == ticks[i]);
    }
    trace__close(trace);
}

static void ids_beyond_an_events_bits_are_read_like_others(void **state)
{
    (void)state;
    struct trace *trace = fixture__open("function 0 65534 narrow 0x401000 a\n"
                                        "function 0 65536 wide 0x402000 x,y\n"
                                        "function 0 1048574 last 0x403000\n"
                                        "thread 0 main\n"
                                        "1000 wide 7 8\n"
                                        "1100 last\n"
                                        "1200 narrow 9\n"
                                        "1300 leave narrow\n"
                                        "1400 leave last\n"
                                        "1500 leave wide\n");
    static const struct {
        uint32_t id, words;
        uint64_t first;
    } expected[] = {{65536, 2, 7}, {1048574, 0, 0}, {65534, 1, 9},
                    {65535, 0, 0}, {1048575, 0, 0}, {65537, 0, 0}};
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, trace, VEC_AT(trace__threads(trace), struct trace_thread, 0));
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_true(trace_cursor__next(&cursor, &event));
        assert_int_equal(event.id, expected[i].id);
        assert_int_equal(event.words, expected[i].words);
        if (event.words)
            assert_int_equal(event.payload[0], expected[i].first);
        assert_true(event__is_span(event.id));
    }
    assert_false(trace_cursor__next(&cursor, &event));
    assert_int_equal(trace__damaged_chunks(trace), 0);
    trace__close(trace);
}

static void all_threads_are_merged_by_time(void **state)
{
    (void)state;
    enum { THREADS = 37, EVENTS = 20000 };
    struct trace_writer *writer = create("t");
    uint64_t random = 88172645463325252ull, tick = 1000;
    for (uint64_t i = 0; i < EVENTS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        tick += random % 3; /* many have the same tick */
        put(writer, random / 64 % THREADS, tick, HEURT_EVENT_LOCK_ACQUIRED, tick, i);
    }
    finish(writer);
    struct trace *trace = open_trace("t");
    struct trace_merge *merge = trace_merge__start(trace);
    struct event event;
    size_t thread, last_thread = 0;
    uint64_t count = 0, last_tick = 0, last[THREADS] = {0};
    for (; trace_merge__next(merge, &event, &thread); count++) {
        assert_true(event.tick >= last_tick);
        assert_true(event.tick > last_tick || thread >= last_thread);
        assert_int_equal(event.payload[0], event.tick);
        assert_true(last[thread] == 0 || event.payload[1] > last[thread]);
        last[thread] = event.payload[1];
        last_tick = event.tick;
        last_thread = thread;
    }
    assert_int_equal(count, EVENTS);
    assert_false(trace_merge__next(merge, &event, &thread));
    trace_merge__free(merge);
    trace_merge__free(NULL);
    trace__close(trace);
}

static void a_trace_without_threads_is_read(void **state)
{
    (void)state;
    struct trace *trace = fixture__open("start 100\nmeta command x\nend 300 300 256\n"
                                        "refusal 4294967295 f - matches nothing\n");
    assert_int_equal(walk_trace(trace).events, 0);
    assert_int_equal(trace__wall_ns(trace), 200);
    assert_int_equal(trace__processes(trace)->count, 1); /* stands in for the missing one */
    const struct trace_process *process = trace__processes(trace)->items;
    assert_true(process->serial == HEURT_NO_SERIAL);
    assert_int_equal(process->refusals.count, 1);
    trace__close(trace);
}

static void stacks_have_their_length_in_front(void **state)
{
    (void)state;
    struct trace *trace = fixture__open("thread 0 main\n10 stack 7 8 9\n20 exec\n");
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, trace, trace__threads(trace)->items);
    assert_true(trace_cursor__next(&cursor, &event));
    assert_int_equal(event.words, 4);
    assert_int_equal(event.payload[0], 3);
    assert_int_equal(event.payload[3], 9);
    assert_true(trace_cursor__next(&cursor, &event));
    assert_int_equal(event.id, HEURT_EVENT_EXEC);
    trace__close(trace);
}

enum { TWO_CHUNKS_OF = 300 }; /* events */

/* Gives f the bytes of a trace with one thread of two chunks, the second of 2 units. */
static void with_two_chunks(void (*f)(char *bytes, size_t count))
{
    struct trace_writer *writer = create("t");
    for (uint64_t i = 0; i < TWO_CHUNKS_OF; i++)
        put(writer, 0, 1000 + i, HEURT_EVENT_LOCK_ACQUIRED, 1, i);
    finish(writer);
    static char bytes[16 * HEURT_UNIT_BYTES];
    FILE *file = fopen("t/events", "r");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal(count, 4 * HEURT_UNIT_BYTES);
    f(bytes, count);
}

static struct walk walk_bytes(const char *bytes, size_t count, uint64_t *damaged)
{
    struct trace *trace;
    assert_int_equal(trace__open_memory(bytes, count, &trace, NULL), 0);
    struct walk walk = walk_trace(trace);
    *damaged = trace__damaged_chunks(trace);
    trace__close(trace);
    return walk;
}

static void check_swapped(char *bytes, size_t count)
{
    uint64_t damaged;
    static char swapped[16 * HEURT_UNIT_BYTES];
    struct walk walk = walk_bytes(bytes, count, &damaged);
    assert_int_equal(walk.events, TWO_CHUNKS_OF);
    memcpy(swapped, bytes, HEURT_UNIT_BYTES);
    memcpy(swapped + HEURT_UNIT_BYTES, bytes + 2 * HEURT_UNIT_BYTES, 2 * HEURT_UNIT_BYTES);
    memcpy(swapped + 3 * HEURT_UNIT_BYTES, bytes + HEURT_UNIT_BYTES, HEURT_UNIT_BYTES);
    struct walk other = walk_bytes(swapped, count, &damaged);
    assert_int_equal(damaged, 0);
    assert_true(other.sum == walk.sum);
    memmove(swapped + 1, bytes, count); /* not aligned */
    assert_true(walk_bytes(swapped + 1, count, &damaged).sum == walk.sum);
}

static void chunks_may_be_in_any_order(void **state)
{
    (void)state;
    with_two_chunks(check_swapped);
}

static void check_damages(char *bytes, size_t count)
{
    uint64_t damaged;
    struct heurt_chunk *second = (struct heurt_chunk *)(bytes + 2 * HEURT_UNIT_BYTES);
    const uint64_t first_events = (HEURT_UNIT_BYTES - sizeof *second) / 24;
    second->sequence = 0; /* seen already */
    assert_int_equal(walk_bytes(bytes, count, &damaged).events, first_events);
    assert_int_equal(damaged, 1);
    second->sequence = 1;
    second->process = 7; /* another image's */
    assert_int_equal(walk_bytes(bytes, count, &damaged).events, first_events);
    assert_int_equal(damaged, 1);
    second->process = 0;
    second->magic = 0; /* two units, one place */
    assert_int_equal(walk_bytes(bytes, count, &damaged).events, first_events);
    assert_int_equal(damaged, 1);
    second->magic = HEURT_CHUNK_MAGIC;
    uint64_t *third_event = (uint64_t *)(second + 1) + 6, kept = *third_event;
    *third_event = kept | 0xfff; /* no such id: the rest is damaged */
    assert_int_equal(walk_bytes(bytes, count, &damaged).events, first_events + 2);
    assert_int_equal(damaged, 1);
    *third_event = 0; /* an event that was claimed and never written costs only itself */
    assert_int_equal(walk_bytes(bytes, count, &damaged).events, TWO_CHUNKS_OF - 1);
    assert_int_equal(damaged, 0);
    char *tail = (char *)third_event, *end = (char *)second + second->units * HEURT_UNIT_BYTES;
    static char whole[2 * HEURT_UNIT_BYTES];
    memcpy(whole, tail, (size_t)(end - tail));
    memset(tail, 0, (size_t)(end - tail)); /* a tail that was not written is no damage, either */
    assert_int_equal(walk_bytes(bytes, count, &damaged).events, first_events + 2);
    assert_int_equal(damaged, 0);
    memcpy(tail, whole, (size_t)(end - tail));
    *third_event = (kept & ~0xffffull) | HEURT_EVENT_STACK; /* longer than the chunk */
    third_event[1] = UINT64_MAX;
    assert_int_equal(walk_bytes(bytes, count, &damaged).events, first_events + 2);
    assert_int_equal(damaged, 1);
}

static void damage_is_counted_by_chunk(void **state)
{
    (void)state;
    with_two_chunks(check_damages);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static void ticks_become_ns_at_the_measured_rate(void **state)
{
    (void)state;
    /* 2.5 ticks a ns, from a start that is not zero; numbers of a long run. */
    struct trace *trace = fixture__open("clock tsc\n"
                                        "start 1000000000000 500\n"
                                        "end 251000000000000 100000000000500\n"
                                        "thread 0 main\n"
                                        "1000000000025 exec\n");
    assert_int_equal(trace__ns(trace, 5), 2);
    assert_true(trace__ns(trace, 250000000000000) == 100000000000000);
    assert_true(trace__ns(trace, UINT64_MAX) == 7378697629483820646); /* 2^64 / 2.5 */
    assert_int_equal(trace__since_start_ns(trace, 1000000000025), 0); /* its first thread's start */
    assert_int_equal(trace__since_start_ns(trace, 1000000000050), 10);
    assert_int_equal(trace__since_start_ns(trace, 5), 0);
    assert_true(trace__tick(trace, 10) == 1000000000050);
    for (uint64_t ns = 0; ns < 1u << 20; ns = ns * 3 + 1) { /* the least that is so long */
        assert_true(trace__ns(trace, trace__ticks(trace, ns)) >= ns);
        assert_true(ns == 0 || trace__ns(trace, trace__ticks(trace, ns) - 1) < ns);
    }
    assert_true(trace__ticks(trace, 100000000000000) == 250000000000000);
    assert_true(trace__ticks(trace, UINT64_MAX) == UINT64_MAX);
    assert_true(trace__wall_ns(trace) == 99999999999990);
    trace__close(trace);
}

static void without_an_end_the_last_chunk_tells_the_rate(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    struct heurt_session *session = trace_writer__session(writer);
    put(writer, 0, 5000, HEURT_EVENT_LOCK_ACQUIRED, 1, 2); /* a chunk's pair: 5000, 5000 ns */
    session->clock = HEURT_CLOCK_TSC;
    session->start = (struct heurt_clock_pair){1000, 3000}; /* so 2 ticks a ns */
    struct trace *trace = open_trace("t");
    assert_int_equal(trace__ns(trace, 100), 50);
    trace__close(trace);
    session->start = (struct heurt_clock_pair){6000, 9000}; /* later than all: no rate */
    trace = open_trace("t");
    assert_int_equal(trace__ns(trace, 100), 100);
    trace__close(trace);
    finish(writer);
}

static void events_have_names(void **state)
{
    (void)state;
    assert_string_equal(event__name(HEURT_EVENT_LOCK_WAIT), "lock wait");
    assert_string_equal(event__name(HEURT_EVENT_LOCK_WAIT | 1), "lock wait");
    assert_null(event__name(0));
    assert_null(event__name(HEURT_EVENT_FUNCTIONS));
    for (uint32_t id = 2; id <= HEURT_EVENT_LOST; id += 2)
        assert_non_null(event__name(id));
    assert_true(event__is_span(HEURT_EVENT_IO));
    assert_true(event__is_span(HEURT_EVENT_IO | 1));
    assert_true(event__is_span(HEURT_EVENT_FUNCTIONS));
    assert_false(event__is_span(HEURT_EVENT_LOCK_ACQUIRED));
    assert_false(event__is_span(HEURT_EVENT_STACK));
    assert_string_equal(io__name(HEURT_IO_PREAD), "pread");
    assert_string_equal(io__name(0), "?");
    assert_string_equal(sleep__name(HEURT_SLEEP_YIELD), "sched_yield");
}

static void a_long_definition_gets_a_chunk_that_holds_it(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    char *value = malloc(3000001);
    memset(value, 'v', 3000000);
    value[3000000] = 0;
    assert_int_equal(trace_writer__meta(writer, "command", value), 0);
    assert_int_equal(trace_writer__meta(writer, "host", "after"), 0);
    finish(writer);
    struct trace *trace = open_trace("t");
    assert_string_equal(trace__meta(trace, "command"), value);
    assert_string_equal(trace__meta(trace, "host"), "after");
    assert_int_equal(trace__damaged_chunks(trace), 0);
    trace__close(trace);
    free(value);
}

/* Two images that forked each other, and one that forked itself, are in damaged traces alone. */
static void who_goes_from_parent_to_parent_comes_to_an_end(void **state)
{
    (void)state;
    struct trace *trace = fixture__open("process 0 100 app 1 50\n"
                                        "process 1 101 app 0 60\n"
                                        "process 2 102 app 2 70\n"
                                        "thread 0 first 0\n"
                                        "100 THREAD_END 0 0\n");
    assert_int_equal(trace__process_of(trace, 0)->parent_serial, HEURT_NO_SERIAL);
    assert_int_equal(trace__process_of(trace, 1)->parent_serial, 0);
    assert_int_equal(trace__process_of(trace, 2)->parent_serial, HEURT_NO_SERIAL);
    trace__close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(what_was_written_is_read),
        IN_DIRECTORY(functions_and_regions_have_their_fields),
        IN_DIRECTORY(a_module_is_found_by_address_and_time),
        IN_DIRECTORY(a_forked_image_inherits_and_an_execed_one_does_not),
        IN_DIRECTORY(who_goes_from_parent_to_parent_comes_to_an_end),
        IN_DIRECTORY(ticks_keep_their_high_bits),
        IN_DIRECTORY(ids_beyond_an_events_bits_are_read_like_others),
        IN_DIRECTORY(all_threads_are_merged_by_time),
        IN_DIRECTORY(a_trace_without_threads_is_read),
        IN_DIRECTORY(stacks_have_their_length_in_front),
        IN_DIRECTORY(chunks_may_be_in_any_order),
        IN_DIRECTORY(damage_is_counted_by_chunk),
        IN_DIRECTORY(ticks_become_ns_at_the_measured_rate),
        IN_DIRECTORY(without_an_end_the_last_chunk_tells_the_rate),
        IN_DIRECTORY(events_have_names),
        IN_DIRECTORY(a_long_definition_gets_a_chunk_that_holds_it),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
