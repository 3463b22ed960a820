/* The same events folded inside the program (src/runtime/aggregate.c, compiled into this test) and
 * by the analyses give the same profile. Each event goes to the runtime's chunk and, as it is, to a
 * trace beside it; so do the pauses that the runtime writes, which are the only times not made up.
 */
#include "analysis/analysis.h"
#include "analysis/ledger/profile.h"
#include "base/memory.h"
#include "format/writer.h"
#include "runtime/aggregate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PLAIN = 1024, PLAIN_COUNT = 8, ONE = 1100, TWO = 1102, REGION = 1104, WIDE = 70000 };

static const struct {
    uint32_t id;
    const char *name, *arguments;
} keyed[] = {{ONE, "one", "a"}, {TWO, "two", "a,b"}, {WIDE, "wide", ""}};

/* ---- what the runtime has elsewhere ---------------------------------------------------------- */

static const struct calibration function_costs = {.bias_ticks = 7, .cost_ticks = 20};
enum { EVENT_TICKS = 3, LEFT_OUT_TICKS = 2, OFF_CPU_TICKS = 11, FAULT_TICKS = 5 };

const struct calibration *patch__costs(uint32_t id)
{
    (void)id;
    return &function_costs;
}

uint32_t arguments__count(uint32_t id)
{
    return id == ONE ? 1 : id == TWO ? 2 : 0;
}

size_t text__length(const char *text)
{
    return strlen(text);
}

void *bytes__copy(void *to, const void *from, size_t count)
{
    return count ? memcpy(to, from, count) : to;
}

void define__thread_name(struct thread *thread)
{
    (void)thread;
}

bool session__has_ended(void)
{
    return false;
}

void kernel__begin(struct thread *thread)
{
    (void)thread;
}

void cpu_timer__begin(struct thread *thread)
{
    (void)thread;
}

void instructions__begin(struct thread *thread)
{
    (void)thread;
}

void kernel__drained(struct thread *thread)
{
    (void)thread;
}

uint64_t kernel__drain(struct thread *thread)
{
    (void)thread;
    return 0;
}

bool budget__is_set(void)
{
    return false;
}

void budget__begin(struct thread *thread, uint64_t cpu_ns)
{
    (void)thread, (void)cpu_ns;
}

void budget__chunk_begins(struct thread *thread)
{
    (void)thread;
}

void budget__chunk_ends(struct thread *thread)
{
    (void)thread;
}

/* ---- two traces ------------------------------------------------------------------------------ */

struct side {
    char directory[64];
    struct trace_writer *writer;
    struct trace *trace;
    struct profile *profile;
};

struct pair {
    struct side folded, kept;
    struct vec rules; /* struct profile_rule */
    uint64_t tick, seed;
    uint64_t pauses;
};

static void begin_side(struct side *side, uint32_t flags, uint64_t limit_units, uint64_t tick)
{
    struct error error = {""};
    strcpy(side->directory, "/tmp/heurt-aggregate-XXXXXX");
    assert_non_null(mkdtemp(side->directory));
    struct heurt_session settings = {.clock = HEURT_CLOCK_MONOTONIC,
                                     .flags = flags,
                                     .limit_units = limit_units,
                                     .start = {tick, tick}};
    if (trace_writer__create(side->directory, &settings, &side->writer, &error) < 0)
        fail_msg("%s", error.text);
}

static void define(struct pair *pair, enum heurt_definition_type type, const void *what,
                   size_t bytes, const char *texts, size_t text_bytes)
{
    char body[512];
    memcpy(body, what, bytes);
    memcpy(body + bytes, texts, text_bytes);
    assert_int_equal(trace_writer__define(pair->folded.writer, 0, type, body, bytes + text_bytes),
                     0);
    assert_int_equal(trace_writer__define(pair->kept.writer, 0, type, body, bytes + text_bytes), 0);
}

static void define_function(struct pair *pair, uint32_t id, enum heurt_function_kind kind,
                            const char *name, const char *arguments)
{
    char texts[64];
    struct heurt_function what = {.id = id, .kind = kind, .address = 0x401000 + id * 16};
    what.argument_count = arguments__count(id);
    if (kind == HEURT_FUNCTION_PATCHED) {
        what.bias_ticks = function_costs.bias_ticks;
        what.cost_ticks = function_costs.cost_ticks;
    }
    int length = snprintf(texts, sizeof texts, "%s%c%c%s", name, 0, 0, arguments);
    define(pair, HEURT_DEFINITION_FUNCTION, &what, sizeof what, texts, (size_t)length + 1);
    if (kind == HEURT_FUNCTION_PATCHED)
        heurt_state.bodies[id / 2] = &heurt_state;
}

static void define_all(struct pair *pair)
{
    struct heurt_process process = {.pid = 100,
                                    .tick = pair->tick,
                                    .parent_process = HEURT_NO_SERIAL,
                                    .event_ticks = EVENT_TICKS,
                                    .off_cpu_ticks = OFF_CPU_TICKS,
                                    .fault_ticks = FAULT_TICKS,
                                    .left_out_ticks = LEFT_OUT_TICKS};
    struct heurt_module module = {
        .tick = pair->tick, .bias = 0x400000, .start = 0x400000, .end = 0x500000};
    define(pair, HEURT_DEFINITION_PROCESS, &process, sizeof process, "/bin/app", 9);
    define(pair, HEURT_DEFINITION_MODULE, &module, sizeof module, "/bin/app", 9);
    for (uint32_t i = 0; i < PLAIN_COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        define_function(pair, PLAIN + 2 * i, HEURT_FUNCTION_PATCHED, name, "");
    }
    for (size_t i = 0; i < sizeof keyed / sizeof keyed[0]; i++)
        define_function(pair, keyed[i].id, HEURT_FUNCTION_PATCHED, keyed[i].name,
                        keyed[i].arguments);
    define_function(pair, REGION, HEURT_FUNCTION_REGION, "region", "");
}

static void begin_pair(struct pair *pair, uint64_t limit_units)
{
    *pair = (struct pair){.seed = 88172645463325252u, .rules = VEC_OF(struct profile_rule)};
    memset(&heurt_state, 0, sizeof heurt_state);
    pair->tick = clock__tick();
    begin_side(&pair->folded, HEURT_SESSION_AGGREGATE, limit_units, pair->tick);
    begin_side(&pair->kept, 0, 1 << 16, pair->tick);
    heurt_state.session = trace_writer__session(pair->folded.writer);
    heurt_state.mapped_units = heurt_state.session->limit_units;
    heurt_state.pid =
        (uint32_t)getpid(); /* else it would be another process: nothing is recorded */
    heurt_state.event_ticks = EVENT_TICKS;
    heurt_state.off_cpu_ticks = OFF_CPU_TICKS;
    heurt_state.fault_ticks = FAULT_TICKS;
    heurt_state.left_out_ticks = LEFT_OUT_TICKS;
    heurt_state.recording = heurt_state.aggregates = true;
    heurt_state.bodies = memory__zeroed(HEURT_FUNCTION_LAST / 2 + 1, sizeof(void *));
    define_all(pair);
}

static void end_side(struct pair *pair, struct side *side)
{
    struct error error = {""};
    struct heurt_clock_pair end = {pair->tick + 1000, pair->tick + 1000};
    if (trace_writer__finish(side->writer, 0, end, &error) < 0 ||
        trace__open(side->directory, &side->trace, &error) < 0)
        fail_msg("%s", error.text);
    side->writer = NULL;
}

static void compute(struct pair *pair, struct side *side)
{
    struct error error;
    profile__free(side->profile);
    assert_int_equal(run__one(side->trace, NULL, &profile_analysis,
                              &(struct profile_options){CLASSES_BY_SITE, &pair->rules, 0.2},
                              (void **)&side->profile, &error),
                     0);
    assert_int_equal(trace__damaged_chunks(side->trace), 0);
}

static void free_side(struct side *side)
{
    char path[128];
    profile__free(side->profile);
    trace__close(side->trace);
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, side->directory);
    unlink(path);
    rmdir(side->directory);
}

static void free_pair(struct pair *pair)
{
    free_side(&pair->folded);
    free_side(&pair->kept);
    free(heurt_state.bodies);
    vec__free(&pair->rules);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void keep(struct pair *pair, uint64_t tick, uint32_t id, const uint64_t *words, size_t count)
{
    assert_int_equal(
        trace_writer__event(pair->kept.writer, 0, heurt_thread.serial, tick, id, words, count), 0);
}

/* What the runtime wrote into a chunk that it has just begun. */
static void keep_first(struct pair *pair, const uint64_t *at)
{
    const uint64_t *data = (const uint64_t *)(heurt_thread.chunk + 1);
    for (size_t words; data < at; data += 1 + words) {
        uint32_t id = event__id(*data);
        words = id == HEURT_EVENT_THREAD_START ? 3 : 1;
        assert_true(id == HEURT_EVENT_THREAD_START || id == HEURT_EVENT_PAUSED);
        pair->pauses += id == HEURT_EVENT_PAUSED;
        assert_true(id != HEURT_EVENT_PAUSED || data[1] > 0);
        keep(pair, event__whole_tick(pair->tick, *data), id, data + 1, words);
    }
}

static uint64_t *claim(struct pair *pair, size_t words)
{
    struct heurt_chunk *chunk = heurt_thread.chunk;
    uint64_t *limit = heurt_thread.limit, *next = heurt_thread.next;
    uint64_t *at = event__claim(&heurt_thread, (unsigned)(1 + words));
    assert_non_null(at);
    if (heurt_thread.chunk != chunk || next + 1 + words > limit)
        keep_first(pair, at);
    return at;
}

static void publish(struct pair *pair, uint64_t *at, uint32_t id, const uint64_t *words,
                    size_t count)
{
    memcpy(at + 1, words, count * sizeof *words);
    event__publish(at, pair->tick, id);
}

static void put_words(struct pair *pair, uint32_t id, const uint64_t *words, size_t count)
{
    uint64_t *at = claim(pair, count);
    publish(pair, at, id, words, count);
    keep(pair, pair->tick, id, words, count);
}
#define PUT(pair, id, ...)                                \
    put_words(pair, id, (uint64_t[]){0, __VA_ARGS__} + 1, \
              sizeof((uint64_t[]){0, __VA_ARGS__}) / sizeof(uint64_t) - 1)

static void begin_thread(void)
{
    memset(&heurt_thread, 0, sizeof heurt_thread);
    heurt_thread.creator = HEURT_NO_SERIAL;
}

static void end_thread(struct pair *pair)
{
    PUT(pair, HEURT_EVENT_THREAD_END, 77, UINT64_MAX);
    heurt_thread.ended = true;
}

/* ---- equal profiles -------------------------------------------------------------------------- */

static const struct profile_class *same_class(const struct profile *profile,
                                              const struct profile_class *wanted)
{
    const struct profile_class *found = NULL;
    VEC_EACH (class, &profile->classes, struct profile_class) {
        bool same = class->what.at.kind == wanted->what.at.kind &&
                    !strcmp(class->what.at.function, wanted->what.at.function) &&
                    class->what.at.site == wanted->what.at.site &&
                    class->what.object == wanted->what.object &&
                    class->what.keys.count == wanted->what.keys.count;
        for (size_t i = 0; same && i < class->what.keys.count; i++)
            same = VEC_AT(&class->what.keys, struct profile_key, i)->value ==
                   VEC_AT(&wanted->what.keys, struct profile_key, i)->value;
        assert_false(same && found);
        found = same ? class : found;
    }
    if (!found)
        fail_msg("no class %s", wanted->what.at.function);
    return found;
}

static void same_rows(const struct profile_class *a, const struct profile_class *b)
{
    assert_int_equal(a->threads.count, b->threads.count);
    for (size_t i = 0; i < a->threads.count; i++) {
        const struct profile_thread_row *x = VEC_AT(&a->threads, struct profile_thread_row, i);
        const struct profile_thread_row *y = VEC_AT(&b->threads, struct profile_thread_row, i);
        assert_int_equal(x->thread, y->thread);
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->sum_ns, y->sum_ns);
        assert_int_equal(x->excess_ns, y->excess_ns);
        assert_true(x->score == y->score);
    }
}

/* Who signals, and so which waits at conditions are for work, is not known of an aggregated run. */
static void same_why(const struct profile_class *class, const struct profile_class *other)
{
    for (unsigned i = 0; i < REASONS; i++)
        if (i != COMPONENT_CONDITION && i != REASON_IDLE)
            assert_int_equal(class->why_ns[i], other->why_ns[i]);
    assert_int_equal(class->why_ns[COMPONENT_CONDITION] + class->why_ns[REASON_IDLE],
                     other->why_ns[COMPONENT_CONDITION] + other->why_ns[REASON_IDLE]);
}

static void same_classes(const struct pair *pair)
{
    const struct profile *folded = pair->folded.profile, *kept = pair->kept.profile;
    assert_int_equal(folded->classes.count, kept->classes.count);
    VEC_EACH (class, &kept->classes, struct profile_class) {
        const struct profile_class *other = same_class(folded, class);
        assert_memory_equal(class->accumulator, other->accumulator, sizeof *class->accumulator);
        assert_memory_equal(class->histogram, other->histogram,
                            HISTOGRAM_BUCKETS * sizeof *class->histogram);
        assert_int_equal(class->contended, other->contended);
        assert_int_equal(class->unfinished, other->unfinished);
        assert_int_equal(class->excess_ns, other->excess_ns);
        assert_true(class->score == other->score && class->score_all == other->score_all);
        same_why(class, other);
        same_rows(class, other);
    }
}

static void same_profiles(struct pair *pair)
{
    compute(pair, &pair->folded);
    compute(pair, &pair->kept);
    const struct profile *folded = pair->folded.profile, *kept = pair->kept.profile;
    same_classes(pair);
    assert_int_equal(folded->events, kept->events);
    assert_int_equal(folded->overhead_ns, kept->overhead_ns);
    assert_int_equal(folded->unmatched, kept->unmatched);
    assert_int_equal(folded->wall_ns, kept->wall_ns);
    assert_int_equal(folded->threads.count, kept->threads.count);
    for (size_t i = 0; i < kept->threads.count; i++) {
        const struct profile_thread *x = VEC_AT(&folded->threads, struct profile_thread, i);
        const struct profile_thread *y = VEC_AT(&kept->threads, struct profile_thread, i);
        assert_int_equal(x->lifetime_ns, y->lifetime_ns);
        assert_int_equal(x->cpu_ns, y->cpu_ns);
        assert_int_equal(x->runnable_ns, y->runnable_ns);
        assert_int_equal(x->events, y->events);
        assert_memory_equal(x->component_ns, y->component_ns, sizeof x->component_ns);
    }
}

static void by_key(struct pair *pair, const char *function, const char *arguments)
{
    struct profile_rule rule = {
        .type = RULE_KEY, .function = (char *)function, .arguments = (char *)arguments};
    vec__push(&pair->rules, &rule);
    same_profiles(pair);
}

static void end_pair(struct pair *pair)
{
    end_side(pair, &pair->folded);
    end_side(pair, &pair->kept);
    same_profiles(pair);
}

/* ---- random threads -------------------------------------------------------------------------- */

static uint64_t random_below(struct pair *pair, uint64_t most)
{
    pair->seed ^= pair->seed << 13;
    pair->seed ^= pair->seed >> 7;
    pair->seed ^= pair->seed << 17;
    return (pair->seed >> 8) % most;
}

/* Durations of all sizes; equal ones are so rare that no two minima are. */
static void pass(struct pair *pair)
{
    pair->tick += 1 + (random_below(pair, 1ull << 28) >> random_below(pair, 16));
}

static void some_wait(struct pair *pair)
{
    uint64_t site = 0x400100 + random_below(pair, 5) * 16,
             lock = 0x7000 + random_below(pair, 4) * 8;
    uint64_t fd = random_below(pair, 3) | (1 + random_below(pair, 3)) << 32;
    switch (random_below(pair, 6)) {
    case 0:
        PUT(pair, HEURT_EVENT_LOCK_ACQUIRED, site, lock);
        return;
    case 1:
        PUT(pair, HEURT_EVENT_LOCK_WAIT, site, lock);
        pass(pair);
        PUT(pair, HEURT_EVENT_LOCK_WAIT | 1, 0);
        return;
    case 2:
        PUT(pair, HEURT_EVENT_CONDITION_WAIT, site, lock, lock + 1);
        pass(pair);
        PUT(pair, HEURT_EVENT_CONDITION_WAIT | 1, 0);
        return;
    case 3:
        PUT(pair, HEURT_EVENT_SLEEP, HEURT_SITE(site, HEURT_SLEEP_USLEEP),
            random_below(pair, 1000));
        pass(pair);
        PUT(pair, HEURT_EVENT_SLEEP | 1);
        return;
    default:
        PUT(pair, HEURT_EVENT_IO, HEURT_SITE(site, HEURT_IO_READ + random_below(pair, 4)), fd,
            random_below(pair, 5000));
        pass(pair);
        PUT(pair, HEURT_EVENT_IO | 1, 10);
        return;
    }
}

/* What the kernel told, read a little later than it happened. */
static void some_records(struct pair *pair)
{
    uint64_t now = pair->tick, off = random_below(pair, 5000), waited = random_below(pair, 6000);
    pair->tick -= random_below(pair, 3000);
    switch (random_below(pair, 12)) {
    case 0:
        PUT(pair, HEURT_EVENT_KERNEL, 1);
        break;
    case 1:
        PUT(pair, HEURT_EVENT_KERNEL_LOST, 3);
        break;
    case 2:
    case 3:
    case 4:
        PUT(pair, HEURT_EVENT_OFF_CPU, HEURT_OFF(off, random_below(pair, 5)),
            HEURT_BACK(random_below(pair, 2) ? waited : HEURT_NOT_KNOWN, 1), 0);
        break;
    case 5:
    case 6:
        PUT(pair, HEURT_EVENT_FAULT, HEURT_OFF(off / 4, random_below(pair, 2)), 0x5000, 0);
        break;
    default:
        break;
    }
    pair->tick = now;
}

static void enter_wide(struct pair *pair)
{
    PUT(pair, HEURT_EVENT_FUNCTION, WIDE);
}

static void some_call(struct pair *pair, unsigned depth);

static void some_body(struct pair *pair, unsigned depth)
{
    for (uint64_t n = random_below(pair, 4); n > 0; n--) {
        pass(pair);
        if (depth < 12 && random_below(pair, 3))
            some_call(pair, depth + 1);
        else
            some_wait(pair);
    }
    pass(pair);
    some_records(pair);
}

/* A call with what may happen to it: it is sampled, has a snapshot of its stack, calls itself, is
 * left by an exception, or never. */
static void some_call(struct pair *pair, unsigned depth)
{
    uint32_t id = PLAIN + 2 * (uint32_t)random_below(pair, PLAIN_COUNT);
    uint64_t how = random_below(pair, 16);
    if (how == 0)
        PUT(pair, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(id, 2 + random_below(pair, 9)));
    if (how == 2)
        PUT(pair, HEURT_EVENT_SAMPLED,
            HEURT_SAMPLED(HEURT_EVENT_LOCK_ACQUIRED, 2 + random_below(pair, 9)));
    if (how == 1)
        PUT(pair, HEURT_EVENT_STACK, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    if (how >= 8) {
        id = how < 11 ? ONE : how < 13 ? TWO : how < 14 ? WIDE : REGION;
        pass(pair);
    }
    if (id == ONE)
        PUT(pair, id, random_below(pair, 3));
    else if (id == TWO)
        PUT(pair, id, random_below(pair, 2), random_below(pair, 2));
    else if (id == WIDE)
        enter_wide(pair);
    else
        PUT(pair, id);
    some_body(pair, depth);
    if (how == 2)
        PUT(pair, HEURT_EVENT_UNWOUND);
    else if (id == WIDE)
        PUT(pair, HEURT_EVENT_FUNCTION | 1, WIDE);
    else if (how != 3)
        PUT(pair, id | 1);
}

static void some_thread(struct pair *pair, unsigned calls)
{
    begin_thread();
    for (unsigned i = 0; i < calls; i++) {
        some_call(pair, 0);
        pass(pair);
        if (random_below(pair, 200) == 0)
            PUT(pair, HEURT_EVENT_LOST, 5);
        if (random_below(pair, 50) == 0)
            PUT(pair, PLAIN | 1);
    }
}

static void both_folds_are_the_same(void **state)
{
    (void)state;
    struct pair pair;
    begin_pair(&pair, 8192);
    for (unsigned thread = 0; thread < 4; thread++) {
        some_thread(&pair, 2000 + 500 * thread);
        /* One that ends, one that gives its chunk back, two that the end of the run finds. */
        if (thread == 0 || thread == 1)
            end_thread(&pair);
        if (thread == 1)
            aggregate__end(&heurt_thread);
    }
    assert_true(pair.pauses > 50);
    end_pair(&pair);
    by_key(&pair, "one", "a");
    by_key(&pair, "two", "a,b");
    free_pair(&pair);
}

static void waits_that_never_end(void **state)
{
    (void)state;
    struct pair pair;
    begin_pair(&pair, 8192);
    some_thread(&pair, 500);
    PUT(&pair, PLAIN);
    pass(&pair);
    PUT(&pair, HEURT_EVENT_LOCK_WAIT, 0x400100, 0x7000);
    begin_thread();
    some_thread(&pair, 10);
    end_thread(&pair);
    end_pair(&pair);
    free_pair(&pair);
}

static void deep_recursion(void **state)
{
    (void)state;
    struct pair pair;
    begin_pair(&pair, 8192);
    begin_thread();
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 10000; i++, pass(&pair))
            PUT(&pair, PLAIN);
        for (unsigned i = 0; i < 10000; i++, pass(&pair))
            PUT(&pair, PLAIN | 1);
    }
    end_thread(&pair);
    end_pair(&pair);
    assert_int_equal(VEC_AT(&pair.folded.profile->classes, struct profile_class, 0)->count, 20000);
    free_pair(&pair);
}

static void calls(struct pair *pair, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        PUT(pair, PLAIN + 2);
        pass(pair);
        PUT(pair, PLAIN + 3);
        pass(pair);
    }
}

static bool warns(const struct profile *profile, const char *text)
{
    VEC_EACH (warning, &profile->warnings, char *)
        if (strstr(*warning, text))
            return true;
    return false;
}

/* Functions that longjmp leaves stay open until what encloses them ends. */
static void spans_that_pile_up(void **state)
{
    (void)state;
    enum { PILED = 300000 };
    struct pair pair;
    begin_pair(&pair, 8192);
    begin_thread();
    for (unsigned i = 0; i < PILED; i++, pass(&pair)) {
        PUT(&pair, PLAIN);
        pass(&pair);
        calls(&pair, 1);
    }
    end_thread(&pair);
    end_side(&pair, &pair.folded);
    end_side(&pair, &pair.kept);
    compute(&pair, &pair.folded);
    compute(&pair, &pair.kept);
    same_classes(&pair);
    assert_true(warns(pair.folded.profile, "taken for unfinished"));
    free_pair(&pair);
}

/* ---- interrupted writers --------------------------------------------------------------------- */

/* A signal handler comes between claiming and writing, and fills more chunks than one or less. */
static void interrupted(struct pair *pair, unsigned before, unsigned handler, bool comes_back)
{
    calls(pair, before);
    uint64_t *at = claim(pair, 0);
    if (comes_back)
        keep(pair, pair->tick, PLAIN, NULL, 0);
    uint64_t tick = pair->tick;
    calls(pair, handler);
    if (comes_back)
        event__publish(at, tick, PLAIN);
    pass(pair);
    if (comes_back)
        PUT(pair, PLAIN | 1);
    calls(pair, 3000);
}

static void interrupted_writers_come_back(void **state)
{
    (void)state;
    for (unsigned before = 900; before < 1020; before += 7) {
        struct pair pair;
        begin_pair(&pair, 8192);
        begin_thread();
        interrupted(&pair, before, 200, true);
        end_thread(&pair);
        end_pair(&pair);
        free_pair(&pair);
    }
}

static void interrupted_writers_never_come_back(void **state)
{
    (void)state;
    for (unsigned before = 900; before < 1020; before += 7) {
        struct pair pair;
        begin_pair(&pair, 8192);
        begin_thread();
        interrupted(&pair, before, 200, false);
        interrupted(&pair, before, 3000, false);
        end_thread(&pair);
        end_pair(&pair);
        free_pair(&pair);
    }
}

/* ---- room ------------------------------------------------------------------------------------ */

static uint64_t counted(const struct profile *profile, enum class_kind kind)
{
    uint64_t count = 0;
    VEC_EACH (class, &profile->classes, struct profile_class)
        count += class->what.at.kind == kind ? class->count : 0;
    return count;
}

static void too_many_classes_become_others(void **state)
{
    (void)state;
    enum { LOCKS = 30000, VALUES = 20000 };
    struct pair pair;
    begin_pair(&pair, 4096);
    begin_thread();
    for (uint64_t i = 0; i < LOCKS; i++, pass(&pair))
        PUT(&pair, HEURT_EVENT_LOCK_ACQUIRED, 0x400100, 0x10000 + i * 64);
    for (uint64_t i = 0; i < VALUES; i++, pass(&pair)) {
        PUT(&pair, ONE, i);
        PUT(&pair, ONE | 1);
    }
    end_thread(&pair);
    end_side(&pair, &pair.folded);
    end_side(&pair, &pair.kept);
    compute(&pair, &pair.folded);
    compute(&pair, &pair.kept);
    const struct profile *folded = pair.folded.profile;
    assert_int_equal(counted(folded, CLASS_LOCK), LOCKS);
    assert_int_equal(counted(folded, CLASS_CALL), VALUES);
    assert_true(warns(folded, "(other lock classes)"));
    assert_true(trace__session(pair.folded.trace)->next_unit < 1024);
    assert_int_equal(trace__events_lost(pair.folded.trace), 0);
    free_pair(&pair);
}

static void ended_threads_share_their_room(void **state)
{
    (void)state;
    enum { THREADS = 3000, CALLS = 40 };
    struct pair pair;
    begin_pair(&pair, 1024);
    uint64_t lived = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        begin_thread();
        calls(&pair, CALLS);
        uint64_t start = event__whole_tick(pair.tick, *(const uint64_t *)(heurt_thread.chunk + 1));
        end_thread(&pair);
        lived += pair.tick - start;
        aggregate__end(&heurt_thread);
        assert_null(heurt_thread.chunk);
    }
    end_side(&pair, &pair.folded);
    end_side(&pair, &pair.kept);
    compute(&pair, &pair.folded);
    compute(&pair, &pair.kept);
    const struct profile *folded = pair.folded.profile, *kept = pair.kept.profile;
    assert_true(folded->threads.count < 256);
    assert_int_equal(counted(folded, CLASS_CALL), THREADS * CALLS);
    assert_int_equal(folded->lifetime_sum_ns, lived);
    assert_int_equal(folded->lifetime_sum_ns, kept->lifetime_sum_ns);
    const struct profile_class *a = VEC_AT(&folded->classes, struct profile_class, 0);
    const struct profile_class *b = VEC_AT(&kept->classes, struct profile_class, 0);
    assert_memory_equal(a->accumulator, b->accumulator, sizeof *a->accumulator);
    assert_true(a->score_all == b->score_all);
    assert_true(warns(folded, "threads that had ended are shown as one"));
    free_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_folds_are_the_same),
        cmocka_unit_test(waits_that_never_end),
        cmocka_unit_test(deep_recursion),
        cmocka_unit_test(spans_that_pile_up),
        cmocka_unit_test(interrupted_writers_come_back),
        cmocka_unit_test(interrupted_writers_never_come_back),
        cmocka_unit_test(too_many_classes_become_others),
        cmocka_unit_test(ended_threads_share_their_room),
    };
    return cmocka_run_group_tests_name("aggregate", tests, NULL, NULL);
}
