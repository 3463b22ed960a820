#include "report_fixture.h"

#include "analysis/events/quantile.h"
#include "analysis/ledger/verdict.h"
#include "base/memory.h"
#include "format/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000ull
#define MILLISECOND 1000000ull
#define START 1000
#define PROGRAM "/opt/ingest/bin/ingest"
#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define LIBSTDCXX "/lib/x86_64-linux-gnu/libstdc++.so.6"

/* ---- the trace ------------------------------------------------------------------------------- */

static struct trace_writer *start_trace(struct fixture *fixture, const char *name,
                                        uint64_t limit_units, uint32_t flags)
{
    const struct heurt_session settings = {.clock = HEURT_CLOCK_MONOTONIC,
                                           .flags = flags,
                                           .limit_units = limit_units,
                                           .start = {START, START},
                                           .stack_every = 10000};
    struct trace_writer *writer;
    struct error error;
    char template[] = "/tmp/heurt-present-XXXXXX";
    assert_non_null(mkdtemp(template));
    snprintf(fixture->directory, sizeof fixture->directory, "%s/%s", template, name);
    if (trace_writer__create(fixture->directory, &settings, &writer, &error) < 0)
        fail_msg("%s", error.text);
    return writer;
}

static void define(struct trace_writer *writer, enum heurt_definition_type type, const void *head,
                   size_t head_bytes, const char *const *texts, size_t text_count)
{
    char body[1024];
    memcpy(body, head, head_bytes);
    size_t bytes = head_bytes;
    for (size_t i = 0; i < text_count; i++) {
        size_t length = strlen(texts[i]) + 1;
        assert_true(bytes + length <= sizeof body);
        memcpy(body + bytes, texts[i], length);
        bytes += length;
    }
    assert_int_equal(trace_writer__define(writer, 0, type, body, bytes), 0);
}

static void define_process(struct trace_writer *writer, const char *path)
{
    const struct heurt_process process = {
        .pid = 4000, .parent_pid = 3999, .tick = START, .parent_process = HEURT_NO_SERIAL};
    define(writer, HEURT_DEFINITION_PROCESS, &process, sizeof process, &path, 1);
}

static void define_module(struct trace_writer *writer, const char *path, uint64_t start,
                          uint64_t end)
{
    const struct heurt_module module = {.tick = START, .bias = 0, .start = start, .end = end};
    define(writer, HEURT_DEFINITION_MODULE, &module, sizeof module, &path, 1);
}

static void define_function(struct trace_writer *writer, uint32_t id, enum heurt_function_kind kind,
                            uint64_t address, const char *name)
{
    const struct heurt_function function = {.id = id, .kind = kind, .address = address};
    const char *const texts[] = {name, "", ""};
    define(writer, HEURT_DEFINITION_FUNCTION, &function, sizeof function, texts, 3);
}

static void name_thread(struct trace_writer *writer, uint32_t thread, const char *name)
{
    struct heurt_thread_name definition = {.thread = thread};
    snprintf(definition.name, sizeof definition.name, "%s", name);
    define(writer, HEURT_DEFINITION_THREAD_NAME, &definition, sizeof definition, NULL, 0);
}

static void put_thread(struct trace_writer *writer, uint32_t thread, uint64_t lifetime_ns,
                       uint64_t cpu_ns, uint64_t runnable_ns)
{
    const uint64_t begin[] = {1, HEURT_NO_SERIAL, AT_WORKER}, end[] = {cpu_ns, runnable_ns};
    trace_writer__event(writer, 0, thread, START, HEURT_EVENT_THREAD_START, begin, 3);
    trace_writer__event(writer, 0, thread, START + lifetime_ns, HEURT_EVENT_THREAD_END, end, 2);
}

static void open_trace(struct fixture *fixture)
{
    struct trace *trace;
    struct error error;
    struct report *report = &fixture->report;
    if (trace__open(fixture->directory, &trace, &error) < 0)
        fail_msg("%s", error.text);
    report->trace = trace;
    report->symbols = fixture->symbols;
    report->profile = &fixture->profile;
    report->directory = strrchr(fixture->directory, '/') + 1;
    report->trace_bytes = 38200000;
}

static void finish_trace(struct fixture *fixture, struct trace_writer *writer, int wait_status,
                         uint64_t wall_ns)
{
    struct profile_audit *audit = &fixture->profile.audit;
    VEC_EACH (class, &fixture->profile.classes, struct profile_class) {
        verdict__give(class);
        audit->classes++;
        audit->excess += class->excess_ns;
        audit->own_sum += class->accumulator->own_sum;
        audit->own_least += class->count * class->accumulator->own_minimum;
    }
    audit->covered = audit->own_sum;
    audit->own_excess = audit->own_sum - audit->own_least;
    struct error error;
    const struct heurt_clock_pair end = {START + wall_ns, START + wall_ns};
    if (trace_writer__finish(writer, wait_status, end, &error) < 0)
        fail_msg("%s", error.text);
    open_trace(fixture);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void name(struct fixture *fixture, uint64_t address, const char *function,
                 const char *module, const char *file, uint32_t line,
                 const struct symbol *inlined_by)
{
    const struct symbol symbol = {.function = function,
                                  .module = module,
                                  .file = file,
                                  .line = line,
                                  .named = true,
                                  .inlined_by = inlined_by};
    symbols__put(fixture->symbols, 0, address, &symbol);
}

static void name_all(struct fixture *fixture)
{
    const struct symbol push = {.function = "queue_push",
                                .module = PROGRAM,
                                .file = "/src/ingest/queue.c",
                                .line = 88,
                                .named = true};
    const struct symbol worker = {.function = "worker",
                                  .module = PROGRAM,
                                  .file = "/src/ingest/main.c",
                                  .line = 31,
                                  .named = true};
    name(fixture, AT_PUSH, "std::mutex::lock()", PROGRAM, "/usr/include/c++/12/bits/std_mutex.h",
         100, &push);
    name(fixture, AT_WRITE_BATCH, "write_batch", PROGRAM, "/src/ingest/queue.c", 97, NULL);
    name(fixture, AT_STEAL, "steal", PROGRAM, "/src/ingest/queue.c", 140, NULL);
    name(fixture, AT_PARSE, "parse_chunk", PROGRAM, "/src/ingest/parse.c", 210, NULL);
    name(fixture, AT_PARSE_CALLER, "next_chunk", PROGRAM, "/src/ingest/main.c", 27, &worker);
    name(fixture, AT_HIST, "hist_add", PROGRAM, "/src/ingest/hist.c", 21, NULL);
    name(fixture, AT_LOAD, "load_block", PROGRAM, "/src/ingest/load.c", 54, NULL);
    name(fixture, AT_WORKER, "start_thread", LIBC, NULL, 0, NULL);
    name(fixture, AT_LOOP, "event_loop", PROGRAM, "/src/ingest/main.c", 60, NULL);
    const struct symbol lock = {.function = "queue_lock",
                                .module = PROGRAM,
                                .file = "/src/ingest/queue.c",
                                .line = 12,
                                .named = true};
    symbols__put_variable(fixture->symbols, 0, AT_QUEUE_LOCK, &lock);
    name(fixture, AT_CXX_LOCK, "std::condition_variable::wait(std::unique_lock<std::mutex>&)",
         LIBSTDCXX, NULL, 0, NULL);
    name(fixture, AT_CXX_CALLER, "pool::take()", PROGRAM, "/src/ingest/pool.cc", 19, NULL);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void *keep(struct fixture *fixture, const void *bytes, size_t count)
{
    void *copy = memory__zeroed(1, count);
    memcpy(copy, bytes, count);
    vec__push(&fixture->stacks_memory, &copy);
    return copy;
}

static void start_fixture(struct fixture *fixture)
{
    *fixture = (struct fixture){.symbols = symbols__new(), .stacks_memory = VEC_OF(void *)};
    fixture->profile = (struct profile){.classes = VEC_OF(struct profile_class),
                                        .threads = VEC_OF(struct profile_thread),
                                        .warnings = VEC_OF(char *),
                                        .threshold = 0.2};
}

/* Counts count durations spread evenly over a line from min_ns to max_ns. */
static void accumulate(struct fixture *fixture, struct profile_class *class, uint64_t count,
                       uint64_t min_ns, uint64_t max_ns)
{
    class->accumulator = memory__zeroed(1, sizeof *class->accumulator);
    class->histogram = memory__zeroed(HISTOGRAM_BUCKETS, sizeof *class->histogram);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t ns = min_ns + (count > 1 ? (max_ns - min_ns) * i / (count - 1) : 0);
        accumulator__add_whole(class->accumulator, ns, ns, COMPONENT_RUNNING, 1);
        class->histogram[histogram__bucket(ns)]++;
    }
    vec__push(&fixture->stacks_memory, &class->accumulator);
    vec__push(&fixture->stacks_memory, &class->histogram);
}

static struct profile_class *add_class(struct fixture *fixture, enum class_kind kind,
                                       const char *function, uint64_t count, uint64_t min_ns,
                                       uint64_t max_ns)
{
    struct profile_class *class = vec__push(&fixture->profile.classes, NULL);
    class->what.at.kind = kind;
    class->what.at.function = function;
    class->what.keys = VEC_OF(struct profile_key);
    class->threads = VEC_OF(struct profile_thread_row);
    class->blames = VEC_OF(struct profile_blame);
    class->what.stacks = VEC_OF(struct profile_stack);
    class->evidence = VEC_OF(struct profile_evidence);
    class->number = (uint32_t)fixture->profile.classes.count - 1;
    class->cause = REASON_UNEXPLAINED;
    class->verdict = VERDICT_UNCLEAR;
    accumulate(fixture, class, count, min_ns, max_ns);
    class->count = class->recorded = count;
    class->min_ns = min_ns;
    class->p50_ns = quantile__of(class->accumulator, class->histogram, 0.5);
    class->p99_ns = quantile__of(class->accumulator, class->histogram, 0.99);
    class->max_ns = max_ns;
    class->sum_ns = class->accumulator->sum;
    return class;
}

/* Two threads, which lose two thirds and one third. */
static void add_loss(struct fixture *fixture, struct profile_class *class, double score,
                     unsigned component, enum confidence confidence)
{
    class->excess_ns = class->sum_ns - class->count * class->min_ns;
    class->exclusive_excess_ns = class->thread_excess = class->excess_ns;
    class->score = score;
    class->score_all = (double)class->excess_ns / (double)fixture->profile.lifetime_sum_ns;
    class->why_ns[component] = (int64_t) class->excess_ns;
    class->confidence = confidence;
    const uint64_t part[] = {class->excess_ns - class->excess_ns / 3, class->excess_ns / 3};
    for (uint32_t i = 0; i < 2; i++) {
        const struct profile_thread_row row = {.thread = i + 1,
                                               .count = class->count / 2,
                                               .sum_ns = class->sum_ns / 2,
                                               .excess_ns = part[i],
                                               .score = i ? score / 2 : score};
        vec__push(&class->threads, &row);
    }
}

static void add_key(struct profile_class *class, const char *key_name, uint64_t value)
{
    const struct profile_key key = {key_name, value};
    vec__push(&class->what.keys, &key);
}

static void add_holder(struct profile_class *class, uint64_t site, uint64_t wait_ns, uint64_t waits)
{
    const struct profile_blame holder = {.site = site, .wait_ns = wait_ns, .waits = waits};
    vec__push(&class->blames, &holder);
}

static void add_stack(struct fixture *fixture, struct profile_class *class, double share,
                      const uint64_t *frames, size_t count)
{
    const struct profile_stack stack = {.share = share,
                                        .frames = keep(fixture, frames, count * sizeof *frames),
                                        .frame_count = count};
    vec__push(&class->what.stacks, &stack);
}

/* component_ns is filled up with the rest to lifetime_ns. */
static void add_thread(struct fixture *fixture, uint64_t lifetime_ns, uint64_t cpu_ns,
                       uint64_t lock_ns, uint64_t disk_ns, uint64_t other_ns)
{
    struct profile_thread thread = {.thread = (uint32_t)fixture->profile.threads.count,
                                    .lifetime_ns = lifetime_ns,
                                    .cpu_ns = cpu_ns,
                                    .runnable_ns = cpu_ns == UINT64_MAX ? UINT64_MAX : cpu_ns / 5,
                                    .events = 100000};
    thread.component_ns[COMPONENT_LOCK] = lock_ns;
    thread.component_ns[COMPONENT_DISK] = disk_ns;
    thread.component_ns[COMPONENT_OTHER_BLOCKED] = other_ns;
    thread.component_ns[COMPONENT_RUNNING] = lifetime_ns - lock_ns - disk_ns - other_ns;
    vec__push(&fixture->profile.threads, &thread);
    fixture->profile.lifetime_sum_ns += lifetime_ns;
    fixture->profile.seen_ns += thread.component_ns[COMPONENT_RUNNING] / 4 * 3;
}

static void set_run(struct fixture *fixture, uint64_t wall_ns, uint64_t events)
{
    fixture->profile.wall_ns = wall_ns;
    fixture->profile.events = events;
}

/* ---- busy ------------------------------------------------------------------------------------ */

static struct trace_writer *busy_trace(struct fixture *fixture)
{
    struct trace_writer *writer = start_trace(fixture, "heurt.data", 4096, 0);
    trace_writer__meta(writer, "command", "./ingest\n-j3");
    trace_writer__meta(writer, "cpus", "16");
    trace_writer__meta(writer, "host", "builder");
    trace_writer__meta(writer, "kernel", "Linux 6.1.0");
    trace_writer__meta(writer, "processor", "Example CPU 3000");
    define_process(writer, PROGRAM);
    define_module(writer, PROGRAM, 0x400000, 0x500000);
    define_module(writer, LIBC, 0x7f0000000000, 0x7f0000100000);
    define_module(writer, LIBSTDCXX, 0x7f0000100000, 0x7f0000300000);
    define_function(writer, 1024, HEURT_FUNCTION_PATCHED, AT_PARSE, "parse_chunk");
    define_function(writer, 1026, HEURT_FUNCTION_PATCHED, AT_HIST, "hist_add");
    define_function(writer, 1028, HEURT_FUNCTION_REGION, 0x401900, "flush");
    trace_writer__refuse(writer, 0, "tiny_get", PROGRAM, "shorter than the 5 bytes of a jump");
    trace_writer__refuse(writer, 0, "tiny_get", PROGRAM, "shorter than the 5 bytes of a jump");
    trace_writer__refuse(writer, 0, "tiny_set", PROGRAM, "shorter than the 5 bytes of a jump");
    trace_writer__refuse(writer, 0, "jump_table", PROGRAM, "a jump leads into its first 5 bytes");
    static const char *const names[] = {"ingest", "worker-1", "worker-2", "worker-3"};
    for (uint32_t i = 0; i < 4; i++) {
        name_thread(writer, i, names[i]);
        put_thread(writer, i, 12 * SECOND, 4 * SECOND, SECOND);
    }
    return writer;
}

static void busy_lock(struct fixture *fixture)
{
    struct profile_class *lock =
        add_class(fixture, CLASS_LOCK, "pthread_mutex_lock", 2000, 80, 20 * MILLISECOND);
    lock->what.at.site = AT_PUSH;
    lock->what.has_object = true;
    lock->what.object = AT_QUEUE_LOCK;
    lock->contended = 1800;
    add_loss(fixture, lock, 0.42, COMPONENT_LOCK, CONFIDENCE_MEASURED);
    add_holder(lock, AT_WRITE_BATCH, 12 * SECOND, 1200);
    struct profile_blame *holder = VEC_AT(&lock->blames, struct profile_blame, 0);
    holder->doing_ns[COMPONENT_DISK] = 4 * SECOND;
    holder->doing_ns[COMPONENT_RUNNING] = 8 * SECOND;
    add_holder(lock, AT_STEAL, 4 * SECOND, 500);
    add_holder(lock, 0x401fff, SECOND, 100);
    const uint64_t frames[] = {AT_PUSH, AT_PARSE_CALLER, AT_WORKER};
    const uint64_t others[] = {AT_PUSH, 0x402000};
    add_stack(fixture, lock, 0.75, frames, 3);
    add_stack(fixture, lock, 0.25, others, 2);
}

static void busy_calls(struct fixture *fixture)
{
    struct profile_class *parse =
        add_class(fixture, CLASS_CALL, "parse_chunk", 500, 2 * MILLISECOND, 30 * MILLISECOND);
    parse->what.at.address = AT_PARSE;
    add_key(parse, "arg2", 7);
    add_loss(fixture, parse, 0.31, REASON_UNEXPLAINED, CONFIDENCE_MEASURED);
    parse->why_ns[COMPONENT_LOCK] = (int64_t)(5 * SECOND);
    parse->why_ns[COMPONENT_DISK] = -1000;
    parse->why_ns[REASON_UNEXPLAINED] -= (int64_t)(5 * SECOND) - 1000;

    struct profile_class *read =
        add_class(fixture, CLASS_DISK, "pread", 300, 90000, 12 * MILLISECOND);
    read->what.at.site = AT_LOAD;
    add_key(read, "fd", 5);
    add_key(read, "size_class", 9);
    add_loss(fixture, read, 0.08, COMPONENT_DISK, CONFIDENCE_ESTIMATED);
    read->unfinished = 1;

    struct profile_class *wait =
        add_class(fixture, CLASS_CONDITION, "pthread_cond_wait", 120, 50000, 10 * MILLISECOND);
    wait->what.at.site = AT_CXX_LOCK;
    wait->what.has_object = true;
    wait->what.object = 0x7ffc12345678;
    add_loss(fixture, wait, 0.05, COMPONENT_CONDITION, CONFIDENCE_MEASURED);
    const uint64_t frames[] = {AT_CXX_LOCK, AT_CXX_CALLER, AT_WORKER};
    add_stack(fixture, wait, 1, frames, 3);

    struct profile_class *hist = add_class(fixture, CLASS_CALL, "hist_add", 40, 30, 2000000);
    hist->what.at.address = AT_HIST;
    add_loss(fixture, hist, 0.01, REASON_UNEXPLAINED, CONFIDENCE_WEAK);
    struct profile_class *region = add_class(fixture, CLASS_REGION, "flush", 3, 500, 500);
    region->what.at.file = "/src/ingest/main.c";
    region->what.at.line = 77;
    add_loss(fixture, region, 0, REASON_UNEXPLAINED, CONFIDENCE_WEAK);
}

static void busy_unranked(struct fixture *fixture)
{
    static const char *const idle[] = {"epoll_wait", "pthread_join", "nanosleep", "poll", "select"};
    static const enum class_kind kinds[] = {CLASS_POLL, CLASS_JOIN, CLASS_SLEEP, CLASS_POLL,
                                            CLASS_POLL};
    for (uint64_t i = 0; i < 5; i++) {
        struct profile_class *class =
            add_class(fixture, kinds[i], idle[i], 10, MILLISECOND, SECOND >> i);
        class->what.at.site = AT_LOOP;
        add_loss(fixture, class, 0.3, COMPONENT_OTHER_BLOCKED, CONFIDENCE_WEAK);
        class->idle = true;
    }
    struct profile_class *ignored =
        add_class(fixture, CLASS_CALL, "warm_up", 10, MILLISECOND, 300 * MILLISECOND);
    add_loss(fixture, ignored, 0.2, REASON_UNEXPLAINED, CONFIDENCE_WEAK);
    ignored->what.ignored = true;
}

void fixture__busy(struct fixture *fixture)
{
    start_fixture(fixture);
    name_all(fixture);
    struct trace_writer *writer = busy_trace(fixture);
    set_run(fixture, 12 * SECOND + 410 * MILLISECOND, 400000);
    for (int i = 0; i < 4; i++)
        add_thread(fixture, 12 * SECOND, 4 * SECOND, i ? 7 * SECOND : 0, SECOND / 2,
                   i ? 0 : 9 * SECOND);
    busy_lock(fixture);
    busy_calls(fixture);
    busy_unranked(fixture);
    symbols__warn(fixture->symbols, LIBC " has no debug information: its functions are shown "
                                         "without source lines (install libc6-dbg)");
    finish_trace(fixture, writer, 0x0300, fixture->profile.wall_ns);
}

/* ---- ledger ---------------------------------------------------------------------------------- */

static struct trace_writer *ledger_trace(struct fixture *fixture)
{
    struct trace_writer *writer = start_trace(fixture, "heurt.data", 4096, HEURT_SESSION_KERNEL);
    trace_writer__meta(writer, "command", "./ingest\n-j8");
    trace_writer__meta(writer, "cpus", "4");
    define_process(writer, PROGRAM);
    define_module(writer, PROGRAM, 0x400000, 0x500000);
    define_function(writer, 1024, HEURT_FUNCTION_PATCHED, AT_PARSE, "parse_chunk");
    define_function(writer, 1026, HEURT_FUNCTION_PATCHED, AT_HIST, "hist_add");
    for (uint32_t i = 0; i < 8; i++) {
        name_thread(writer, i, "ingest");
        put_thread(writer, i, 12 * SECOND, 5 * SECOND, SECOND);
    }
    return writer;
}

static void ledger_thread(struct fixture *fixture)
{
    add_thread(fixture, 12410 * MILLISECOND, 4960 * MILLISECOND, 5700 * MILLISECOND,
               620 * MILLISECOND, 20 * MILLISECOND);
    struct profile_thread *thread = VEC_AT(&fixture->profile.threads, struct profile_thread,
                                           fixture->profile.threads.count - 1);
    thread->has_kernel = true;
    thread->component_ns[COMPONENT_RUNNABLE] = 990 * MILLISECOND;
    thread->component_ns[COMPONENT_PAGE_FAULT] = 50 * MILLISECOND;
    thread->component_ns[COMPONENT_OVERHEAD] = 40 * MILLISECOND;
    thread->component_ns[COMPONENT_RUNNING] -= 1080 * MILLISECOND;
}

static struct profile_blame *blame(struct profile_class *class, uint64_t site, uint32_t thread,
                                   unsigned share_of_sum, unsigned doing, unsigned percent)
{
    struct profile_blame row = {.site = site,
                                .thread = thread,
                                .wait_ns = class->sum_ns / 100 * share_of_sum,
                                .waits = class->count * share_of_sum / 100};
    row.doing_ns[doing] = row.wait_ns / 100 * percent;
    row.doing_ns[COMPONENT_RUNNING] += row.wait_ns - row.doing_ns[doing];
    return vec__push(&class->blames, &row);
}

/* The evidence's part is taken from what is unexplained. */
static void speak_for(struct profile_class *class, unsigned reason, unsigned percent, double r2,
                      uint32_t other, const char *argument)
{
    const struct profile_evidence evidence = {.reason = (enum reason)reason,
                                              .ns = class->excess_ns / 100 * percent,
                                              .confidence = CONFIDENCE_ESTIMATED,
                                              .explained = r2,
                                              .null = 0.012,
                                              .slope_ns = argument ? 0 : 54000,
                                              .argument = argument,
                                              .other = other,
                                              .thread = 2};
    class->why_ns[reason] += (int64_t)evidence.ns;
    class->why_ns[REASON_UNEXPLAINED] -= (int64_t)evidence.ns;
    class->confidence = CONFIDENCE_ESTIMATED;
    vec__push(&class->evidence, &evidence);
}

static struct profile_class *ledger_call(struct fixture *fixture, const char *function,
                                         uint64_t address, uint64_t max_ns, double score,
                                         unsigned reason)
{
    struct profile_class *class = add_class(fixture, CLASS_CALL, function, 400, 20000, max_ns);
    class->what.at.address = address;
    add_loss(fixture, class, score, reason, CONFIDENCE_MEASURED);
    return class;
}

static void gain(struct profile_class *class, double least, double most)
{
    class->wall_gain[0] = least;
    class->wall_gain[1] = most;
}

static void ledger_waits(struct fixture *fixture)
{
    struct profile_class *lock =
        add_class(fixture, CLASS_LOCK, "pthread_mutex_lock", 2000, 80, 40 * MILLISECOND);
    lock->what.at.site = AT_PUSH;
    lock->what.has_object = true;
    lock->what.object = AT_QUEUE_LOCK;
    lock->contended = 1800;
    add_loss(fixture, lock, 0.42, COMPONENT_LOCK, CONFIDENCE_MEASURED);
    blame(lock, AT_WRITE_BATCH, 3, 97, COMPONENT_RUNNABLE, 80);
    blame(lock, AT_STEAL, UINT32_MAX, 2, COMPONENT_DISK, 40);
    gain(lock, 1.72, 1.94);

    struct profile_class *barrier =
        add_class(fixture, CLASS_BARRIER, "pthread_barrier_wait", 800, 900, 30 * MILLISECOND);
    barrier->what.at.site = AT_LOAD;
    barrier->what.has_object = true;
    barrier->what.object = 0x4a0080;
    add_loss(fixture, barrier, 0.24, COMPONENT_BARRIER, CONFIDENCE_MEASURED);
    blame(barrier, AT_PARSE_CALLER, 2, 61, COMPONENT_RUNNING, 0);
    blame(barrier, AT_PARSE_CALLER, 5, 39, COMPONENT_PAGE_FAULT, 70);
    gain(barrier, 0.997, 1.12);
}

static void ledger_calls(struct fixture *fixture)
{
    struct profile_class *slow =
        ledger_call(fixture, "hist_add", AT_HIST, 40 * MILLISECOND, 0.21, REASON_UNEXPLAINED);
    speak_for(slow, REASON_OVERLAP, 88, 0.88, 6, NULL);
    struct profile_class *crowded =
        ledger_call(fixture, "step", 0x401a00, 12 * MILLISECOND, 0.09, COMPONENT_RUNNABLE);
    gain(crowded, 1, 1.004);
    crowded->why_ns[COMPONENT_OVERHEAD] = 1000;
    crowded->why_ns[COMPONENT_RUNNABLE] -= 1000;
    ledger_call(fixture, "map_file", 0x401b00, 6 * MILLISECOND, 0.05, COMPONENT_PAGE_FAULT);
    struct profile_class *spinning =
        ledger_call(fixture, "spin_until", 0x401c00, 4 * MILLISECOND, 0.03, REASON_UNEXPLAINED);
    speak_for(spinning, REASON_SPIN, 97, 0.93, 3, NULL);
}

static void ledger_apart(struct fixture *fixture)
{
    struct profile_class *unclear =
        ledger_call(fixture, "hist_sum", 0x401d00, 20 * MILLISECOND, 0.22, REASON_UNEXPLAINED);
    speak_for(unclear, REASON_SLOW_MACHINE, 20, 0.31, UINT32_MAX, NULL);
    unclear->why_ns[COMPONENT_LOCK] = (int64_t)(unclear->excess_ns / 100 * 9);
    unclear->why_ns[REASON_UNEXPLAINED] -= unclear->why_ns[COMPONENT_LOCK];
    unclear->doubts = DOUBT_FEW | DOUBT_OUTLIER | DOUBT_HALVES | DOUBT_MODES | DOUBT_UNCLEAN;
    unclear->exclusive_excess_ns /= 2;
    ledger_call(fixture, "rehash", 0x401e00, MILLISECOND, 0.02, REASON_UNEXPLAINED);
    ledger_call(fixture, "tiny", 0x401f00, 21000, 0.0001, REASON_UNEXPLAINED);
    struct profile_class *parse =
        ledger_call(fixture, "parse_chunk", AT_PARSE, 30 * MILLISECOND, 0.31, REASON_UNEXPLAINED);
    speak_for(parse, REASON_WORKLOAD, 93, 0.95, UINT32_MAX, "n");
    struct profile_class *walk =
        ledger_call(fixture, "tree_walk", 0x402100, 5 * MILLISECOND, 0.07, REASON_UNEXPLAINED);
    speak_for(walk, REASON_WORKLOAD, 88, 0.81, UINT32_MAX, "calls inside");
    struct profile_class *idle =
        add_class(fixture, CLASS_POLL, "epoll_wait", 10, MILLISECOND, SECOND);
    idle->what.at.site = AT_LOOP;
    add_loss(fixture, idle, 0.3, COMPONENT_OTHER_BLOCKED, CONFIDENCE_WEAK);
    idle->idle = true;
}

void fixture__ledger(struct fixture *fixture)
{
    start_fixture(fixture);
    name_all(fixture);
    struct trace_writer *writer = ledger_trace(fixture);
    set_run(fixture, 12410 * MILLISECOND, 4000000);
    for (int i = 0; i < 8; i++)
        ledger_thread(fixture);
    VEC_AT(&fixture->profile.threads, struct profile_thread, 3)->kernel_lost = 17;
    fixture->profile.overhead_ns = 2085 * MILLISECOND;
    fixture->profile.replayed_share = 0.042;
    ledger_waits(fixture);
    ledger_calls(fixture);
    ledger_apart(fixture);
    finish_trace(fixture, writer, 0, fixture->profile.wall_ns);
}

/* ---- the others ------------------------------------------------------------------------------ */

void fixture__quiet(struct fixture *fixture)
{
    start_fixture(fixture);
    struct trace_writer *writer = start_trace(fixture, "heurt.data", 4096, 0);
    trace_writer__meta(writer, "command", "./calm");
    trace_writer__meta(writer, "cpus", "1");
    define_process(writer, "/opt/calm");
    put_thread(writer, 0, SECOND, SECOND, 0);
    set_run(fixture, SECOND, 2);
    add_thread(fixture, SECOND, SECOND, 0, 0, 0);
    fixture->profile.threads.count = 1;
    VEC_AT(&fixture->profile.threads, struct profile_thread, 0)->runnable_ns = 0;
    struct profile_class *lock = add_class(fixture, CLASS_LOCK, "pthread_mutex_lock", 200, 40, 40);
    add_loss(fixture, lock, 0, COMPONENT_LOCK, CONFIDENCE_MEASURED);
    lock->threads.count = 0;
    finish_trace(fixture, writer, 0, SECOND);
}

void fixture__empty(struct fixture *fixture)
{
    start_fixture(fixture);
    struct trace_writer *writer = start_trace(fixture, "heurt.data", 4096, 0);
    trace_writer__meta(writer, "command", "./nothing");
    finish_trace(fixture, writer, 9, 0);
}

/* As if the recorder had been killed: finished, end and wait_status were never written. */
static void unfinish(const char *directory)
{
    char path[128];
    struct heurt_session session;
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, directory);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fread(&session, sizeof session, 1, file), 1);
    session.finished = 0;
    session.wait_status = 0;
    rewind(file);
    assert_int_equal(fwrite(&session, sizeof session, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

#define HOSTILE                                                    \
    "\x1b[31mred\x07 \"quo,ted\"\nnext\tline\xff\xc3\x28 \xc2\x9b" \
    "31m \xe2\x80\xae"                                             \
    "flip \xc3\xa9t\xc3\xa9"

void fixture__hostile(struct fixture *fixture)
{
    struct error error;
    start_fixture(fixture);
    struct trace_writer *writer = start_trace(fixture, "a b\n.data", 64, 0);
    trace_writer__meta(writer, "command", "./bad\n" HOSTILE);
    trace_writer__meta(writer, "cpus", "2");
    define_process(writer, "/opt/\x1b[2Jbad");
    define_function(writer, 1024, HEURT_FUNCTION_PATCHED, 0x10, HOSTILE);
    trace_writer__refuse(writer, 0, HOSTILE, "=cmd()", "because\nof \x1b[2J");
    name_thread(writer, 1, "\x1b[8m\xff");
    for (uint32_t i = 0; i < 3; i++)
        put_thread(writer, i, SECOND, UINT64_MAX, UINT64_MAX);
    trace_writer__session(writer)->events_lost = 12345;
    set_run(fixture, SECOND, 6);
    for (int i = 0; i < 3; i++)
        add_thread(fixture, SECOND, i ? UINT64_MAX : SECOND, 0, 0, 0);
    struct profile_class *class = add_class(fixture, CLASS_CALL, HOSTILE, 5, 10, 900 * MILLISECOND);
    class->what.at.address = 0x10;
    add_key(class, "a\"\x1b\xff", UINT64_MAX);
    add_loss(fixture, class, 1, COMPONENT_LOCK, CONFIDENCE_WEAK);
    name(fixture, 0x10, HOSTILE, HOSTILE, "/src/\x1b]0;x\x07,\"f\".c", 4294967295u, NULL);
    const uint64_t frames[] = {0x10, 0xffffffffffffull};
    add_stack(fixture, class, 1, frames, 2);
    symbols__warn(fixture->symbols, "stripped: " HOSTILE);
    finish_trace(fixture, writer, 0, SECOND);
    trace__close((struct trace *)fixture->report.trace);
    unfinish(fixture->directory);
    open_trace(fixture);
    (void)error;
}

void fixture__many(struct fixture *fixture, size_t count, size_t above_threshold)
{
    static const char *const names[] = {"class_a", "class_b", "class_c", "class_d", "class_e"};
    start_fixture(fixture);
    struct trace_writer *writer = start_trace(fixture, "heurt.data", 4096, 0);
    trace_writer__meta(writer, "command", "./many");
    set_run(fixture, SECOND, 100);
    for (int i = 0; i < 3; i++)
        add_thread(fixture, 100 * SECOND, SECOND, 0, 0, 0);
    for (size_t i = 0; i < count; i++) {
        struct profile_class *class =
            add_class(fixture, CLASS_CALL, names[i % 5], 2, 10, SECOND - i * MILLISECOND);
        add_loss(fixture, class, i < above_threshold ? 0.2 : 0.1999, COMPONENT_LOCK,
                 CONFIDENCE_WEAK);
    }
    finish_trace(fixture, writer, 0, SECOND);
}

void fixture__free(struct fixture *fixture)
{
    char command[128];
    trace__close((struct trace *)fixture->report.trace);
    symbols__free(fixture->symbols);
    VEC_EACH (class, &fixture->profile.classes, struct profile_class) {
        vec__free(&class->what.keys);
        vec__free(&class->threads);
        vec__free(&class->blames);
        vec__free(&class->evidence);
        vec__free(&class->what.stacks);
    }
    vec__free(&fixture->profile.classes);
    vec__free(&fixture->profile.threads);
    vec__free(&fixture->profile.warnings);
    VEC_EACH (memory, &fixture->stacks_memory, void *)
        free(*memory);
    vec__free(&fixture->stacks_memory);
    *strrchr(fixture->directory, '/') = 0;
    snprintf(command, sizeof command, "rm -rf '%s'", fixture->directory);
    assert_int_equal(system(command), 0);
}
