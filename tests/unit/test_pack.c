/* test_pack.c: a packed trace gives its readers what the one that was recorded gave, whatever is in
 * it; and whatever happens to a packed trace, it gives less, never something else. */
#include "format/pack_parts.h"
#include "walk.h"
#include "writing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static uint64_t random_state;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Of any length in bits. */
static uint64_t random_word(void)
{
    return random_number() >> random_number() % 64;
}

static int start(void **state)
{
    random_state = 0x9e3779b97f4a7c15ull;
    return enter_directory(state);
}

#define PACKING(test) cmocka_unit_test_setup_teardown(test, start, leave_directory)

/* ---- traces ---------------------------------------------------------------------------------- */

static void define_function(struct trace_writer *writer, uint32_t process, uint32_t id,
                            uint32_t arguments)
{
    char body[128] = "";
    struct heurt_function function = {
        .id = id, .kind = HEURT_FUNCTION_PATCHED, .address = 16 * id, .argument_count = arguments};
    memcpy(body, &function, sizeof function);
    snprintf(body + sizeof function, 32, "function_%u", id);
    size_t bytes = sizeof function + strlen(body + sizeof function) + 3;
    assert_int_equal(trace_writer__define(writer, process, HEURT_DEFINITION_FUNCTION, body, bytes),
                     0);
}

enum { PROCESSES = 3, FUNCTIONS = 400, WIDE = 70000 /* the first id that needs more bits */ };

static void define_all(struct trace_writer *writer)
{
    for (uint32_t process = 0; process < PROCESSES; process++) {
        char body[sizeof(struct heurt_process) + 16] = "";
        memcpy(body, &(struct heurt_process){.pid = 100 + process, .parent_process = ~0u},
               sizeof(struct heurt_process));
        assert_int_equal(
            trace_writer__define(writer, process, HEURT_DEFINITION_PROCESS, body, sizeof body), 0);
        for (uint32_t i = 0; i < FUNCTIONS * (process + 1); i++)
            define_function(writer, process, HEURT_EVENT_FUNCTIONS + 2 * i, i % 7);
        for (uint32_t i = 0; i < 70; i++)
            define_function(writer, process, WIDE + 2 * i, i % 7);
    }
    trace_writer__meta(writer, "command", "./app\n-x");
    trace_writer__refuse(writer, 1, "tiny", "/bin/app", "it is too short");
}

static void put_random_event(struct trace_writer *writer, uint32_t thread, uint64_t tick)
{
    uint64_t payload[1100];
    uint32_t kind = random_number() % 64, process = thread % PROCESSES;
    uint32_t function = random_number() % (1 + random_number() % FUNCTIONS);
    size_t words = function % 7;
    uint32_t id = HEURT_EVENT_FUNCTIONS + 2 * function;
    for (size_t i = 0; i < 8; i++)
        payload[i] = random_number() % 4 ? 0x7f0000001000 + random_number() % 8 : random_word();
    if (kind % 4 == 0)
        id = WIDE + 2 * (function % 7);
    if (kind < 20) {
        id |= 1;
        words = 0;
    } else if (kind < 30) {
        id = HEURT_EVENT_LOCK_ACQUIRED + random_number() % 3 * 2;
        words = 2;
    } else if (kind == 30) {
        id = HEURT_EVENT_STACK;
        words = 1 + (payload[0] = random_number() % 1090);
        for (size_t i = 1; i < words; i++)
            payload[i] = random_word();
    } else if (kind == 31) {
        id = HEURT_EVENT_LOST;
        words = 1;
    }
    assert_int_equal(trace_writer__event(writer, process, thread, tick, id, payload, words), 0);
}

/* Of several processes, with threads of very different lengths. */
static void write_random_trace(const char *directory, unsigned threads, size_t events)
{
    struct trace_writer *writer = create(directory);
    define_all(writer);
    for (uint32_t thread = 0; thread < threads; thread++) {
        uint64_t tick = 1000 + random_word() % 1000;
        trace_writer__event(writer, thread % PROCESSES, thread, tick, HEURT_EVENT_THREAD_START,
                            (const uint64_t[]){1, HEURT_NO_SERIAL, 0x401000}, 3);
        for (size_t i = events >> thread; i; i--) {
            tick += random_number() % 16 ? random_number() % 200 : random_word() >> 24;
            put_random_event(writer, thread, tick - random_number() % 2);
        }
    }
    finish(writer);
}

struct seen {
    struct walk walk;
    uint64_t damaged, bytes;
};

static struct seen look(const char *directory)
{
    struct seen seen;
    struct stat status;
    char path[64];
    struct trace *trace = open_trace(directory);
    seen.walk = walk_trace(trace);
    seen.damaged = trace__damaged_chunks(trace);
    trace__close(trace);
    snprintf(path, sizeof path, "%s/events", directory);
    assert_int_equal(stat(path, &status), 0);
    seen.bytes = (uint64_t)status.st_size;
    return seen;
}

static enum pack_outcome pack(const char *directory, unsigned threads)
{
    struct pack_options options = {.threads = threads};
    enum pack_outcome outcome;
    struct error error = {""};
    if (trace__pack(directory, &options, &outcome, &error) < 0)
        fail_msg("%s", error.text);
    return outcome;
}

static void copy(const char *from, const char *to)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s && cp -r %s %s", to, from, to);
    assert_int_equal(system(command), 0);
}

static void assert_same(struct seen raw, struct seen packed)
{
    assert_int_equal(raw.walk.events, packed.walk.events);
    assert_true(raw.walk.sum == packed.walk.sum);
    assert_int_equal(raw.damaged, packed.damaged);
}

static void a_packed_trace_reads_the_same(void **state)
{
    (void)state;
    write_random_trace("t", 12, 100000);
    struct seen raw = look("t");
    assert_in_range(raw.walk.events, 190000, 210000);
    copy("t", "one");
    copy("t", "many");
    assert_int_equal(pack("one", 1), PACK_DONE);
    assert_int_equal(pack("many", 5), PACK_DONE);
    struct seen packed = look("one");
    assert_same(raw, packed);
    assert_true(packed.bytes < raw.bytes);
    assert_int_equal(system("cmp -s one/events many/events"), 0);
    assert_int_equal(pack("one", 1), PACK_DONE); /* again */
    assert_int_equal(system("cmp -s one/events many/events"), 0);
}

static void a_thousand_threads_are_read_in_little_memory(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    for (uint32_t thread = 0; thread < 1000; thread++)
        for (uint64_t i = 0; i < 20; i++)
            put(writer, thread, 1000 + i * 1000 + thread, HEURT_EVENT_LOCK_ACQUIRED, 1, thread);
    finish(writer);
    struct seen raw = look("t");
    assert_int_equal(pack("t", 2), PACK_DONE);
    struct seen packed = look("t");
    assert_same(raw, packed);
    assert_true(packed.bytes * 8 < raw.bytes);
}

/* An event that no block holds, a full trace, an empty one. */
static void special_traces_read_the_same(void **state)
{
    (void)state;
    static uint64_t payload[10001] = {10000};
    struct trace_writer *writer = create("big");
    for (size_t i = 1; i <= 10000; i++)
        payload[i] = random_number();
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(trace_writer__event(writer, 0, 0, 2000 + i, HEURT_EVENT_STACK, payload,
                                             10001 - 4000 * i),
                         0);
    finish(writer);
    writer = create("full");
    for (uint64_t i = 0; i < 2900000; i++) {
        uint64_t words[2] = {i, i};
        trace_writer__event(writer, 0, i % 3 ? 0 : 1, 2000 + i, HEURT_EVENT_LOCK_BUSY, words, 2);
    }
    finish(writer);
    finish(create("empty"));
    static const char *const names[] = {"big", "full", "empty"};
    for (size_t i = 0; i < 3; i++) {
        struct seen raw = look(names[i]);
        enum pack_outcome outcome = pack(names[i], 2);
        assert_true(outcome == PACK_DONE || outcome == PACK_NOT_WORTHWHILE);
        assert_same(raw, look(names[i]));
    }
}

enum { RECORDS = 100000 };

/* Between least and least + range. */
static uint64_t about(uint64_t least, uint64_t range)
{
    return least + random_number() % range;
}

/* At 2.5 GHz: waits of 4 to 30 us for somebody else, 10 us apart, and now and then the CPU is taken
 * away. Half of the CPUs' numbers are those of before. */
static void put_off_cpu(struct trace_writer *writer, uint64_t *tick)
{
    static uint64_t cpu;
    bool preempted = random_number() % 16 == 0;
    uint64_t off = preempted ? about(7500000, 65536) : about(10000, 65536);
    if (random_number() % 2)
        cpu = random_number() % 4;
    uint64_t words[] = {
        HEURT_OFF(off, preempted ? HEURT_OFF_PREEMPTED : HEURT_OFF_BLOCKED),
        HEURT_BACK(preempted ? off : HEURT_NOT_KNOWN, cpu),
        0,
    };
    *tick += off + about(25000, 8192);
    assert_int_equal(trace_writer__event(writer, 0, 0, *tick, HEURT_EVENT_OFF_CPU, words, 3), 0);
}

/* Memory that is touched for the first time, page by page: 0.5 us a fault. */
static void put_fault(struct trace_writer *writer, uint64_t *tick)
{
    static uint64_t address = 0x7f0000000000;
    uint64_t words[] = {HEURT_OFF(about(1200, 256), HEURT_FAULT_MEASURED), address += 4096,
                        0x401234};
    *tick += about(1600, 512);
    assert_int_equal(trace_writer__event(writer, 0, 0, *tick, HEURT_EVENT_FAULT, words, 3), 0);
}

static double packed_bytes_a_record(void (*put_record)(struct trace_writer *, uint64_t *))
{
    struct trace_writer *writer = create("t");
    uint64_t tick = 2000;
    for (size_t i = 0; i < RECORDS; i++)
        put_record(writer, &tick);
    finish(writer);
    struct seen raw = look("t");
    assert_int_equal(pack("t", 1), PACK_DONE);
    struct seen packed = look("t");
    assert_same(raw, packed);
    return (double)packed.bytes / RECORDS;
}

static void records_of_the_kernel_become_small(void **state)
{
    (void)state;
    double off_cpu = packed_bytes_a_record(put_off_cpu), fault = packed_bytes_a_record(put_fault);
    print_message("bytes a record: off the CPU %.2f, page faults %.2f\n", off_cpu, fault);
    assert_true(off_cpu <= 5.5); /* 3.9 of them are chance */
    assert_true(fault <= 3);
}

/* ---- damage ---------------------------------------------------------------------------------- */

struct bytes {
    char *at;
    size_t count;
};

static struct bytes read_events(const char *directory)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "%s/events", directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    struct bytes bytes = {malloc((size_t)status.st_size), (size_t)status.st_size};
    assert_int_equal(fread(bytes.at, 1, bytes.count, file), bytes.count);
    fclose(file);
    return bytes;
}

static void write_events(const char *directory, struct bytes bytes)
{
    char path[64];
    snprintf(path, sizeof path, "%s/events", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.at, 1, bytes.count, file), bytes.count);
    assert_int_equal(fclose(file), 0);
}

/* Changes a few words behind from that hold something, in one of several ways. */
static void corrupt(struct bytes bytes, size_t from)
{
    for (uint64_t n = 1 + random_number() % 4; n; n--) {
        size_t place;
        do
            place = from + random_number() % ((bytes.count - from) / 8) * 8;
        while (!memcmp(bytes.at + place, "\0\0\0\0\0\0\0", 8) && random_number() % 64);
        uint64_t word = random_number();
        if (word % 4 == 0)
            bytes.at[place + word / 4 % 8] ^= (char)(1 << word / 32 % 8);
        else if (word % 4 == 1)
            memcpy(bytes.at + place, &(uint64_t){random_word()}, 8);
        else if (word % 4 == 2)
            memcpy(bytes.at + place + 4 * (word / 4 & 1), &(uint32_t){word / 8 % 70}, 4);
        else
            memset(bytes.at + place + 4 * (word / 4 & 1), 0xff, 4);
    }
}

/* What a reader makes of a damaged trace does not change when it is packed. */
static void whatever_is_damaged_reads_the_same(void **state)
{
    (void)state;
    write_random_trace("t", 5, 200);
    struct bytes whole = read_events("t"), damaged = {malloc(whole.count), whole.count};
    size_t packed = 0, damages = 0;
    for (size_t round = 0; round < 300; round++) {
        memcpy(damaged.at, whole.at, whole.count);
        corrupt(damaged, HEURT_UNIT_BYTES);
        write_events("t", damaged);
        struct seen raw = look("t");
        packed += pack("t", 2) == PACK_DONE;
        damages += raw.damaged > 0;
        assert_same(raw, look("t"));
    }
    assert_in_range(packed, 200, 300);
    assert_in_range(damages, 60, 299);
    free(whole.at);
    free(damaged.at);
}

static struct bytes make_packed(void)
{
    write_random_trace("t", 5, 300);
    assert_int_equal(pack("t", 2), PACK_DONE);
    return read_events("t");
}

/* The walk of such a file, from memory of just its length; false: it is refused. */
static bool look_at(struct bytes bytes, struct seen *seen)
{
    struct trace *trace;
    struct error error = {""};
    char *tight = malloc(bytes.count + 1);
    bool opened =
        trace__open_memory(memcpy(tight, bytes.at, bytes.count), bytes.count, &trace, &error) == 0;
    if (opened) {
        seen->walk = walk_trace(trace);
        seen->damaged = trace__damaged_chunks(trace);
    }
    trace__close(trace);
    free(tight);
    return opened;
}

/* Behind the chunks' headers a change is found, wherever it is: nothing else than what was packed
 * is ever given out. */
static void a_damaged_block_is_not_believed(void **state)
{
    (void)state;
    struct bytes whole = make_packed();
    struct seen before = {.damaged = 1}, after;
    assert_true(look_at(whole, &before));
    assert_int_equal(before.damaged, 0);
    size_t changed = 0;
    for (size_t at = HEURT_PACKED_START_BYTES; at < whole.count;) {
        const struct heurt_chunk *chunk = (const void *)(whole.at + at);
        size_t bytes = chunk->units * HEURT_PACKED_UNIT_BYTES, body = at + sizeof *chunk;
        assert_true(chunk->magic == HEURT_CHUNK_MAGIC && chunk->kind & HEURT_CHUNK_PACKED);
        for (size_t i = 0; i < 60 && bytes > sizeof *chunk; i++) {
            size_t place = body + (i < 32 ? i : random_number() % (bytes - sizeof *chunk));
            char old = whole.at[place];
            whole.at[place] ^= (char)(1 << random_number() % 8);
            assert_true(look_at(whole, &after));
            assert_true(after.damaged > 0 || after.walk.sum == before.walk.sum);
            assert_true(after.walk.events <= before.walk.events);
            changed += after.damaged > 0;
            whole.at[place] = old;
        }
        at += bytes;
    }
    assert_true(changed > 300); /* not padding alone */
    free(whole.at);
}

static void a_packed_trace_cut_anywhere_gives_less(void **state)
{
    (void)state;
    struct bytes whole = make_packed();
    struct seen before, after;
    assert_true(look_at(whole, &before));
    for (size_t cut = 0; cut<whole.count; cut += cut % 64> 2 && cut % 64 < 61 ? 58 : 1) {
        if (!look_at((struct bytes){whole.at, cut}, &after))
            continue;
        assert_true(after.walk.events <= before.walk.events);
        assert_true(after.damaged > 0);
    }
    free(whole.at);
}

static void no_corruption_of_a_packed_trace_is_fatal(void **state)
{
    (void)state;
    struct bytes whole = make_packed(), damaged = {malloc(whole.count), whole.count};
    struct seen seen;
    size_t opens = 0, damages = 0;
    for (size_t round = 0; round < 1000; round++) {
        memcpy(damaged.at, whole.at, whole.count);
        corrupt(damaged, round % 8 ? HEURT_PACKED_START_BYTES : 0);
        seen.damaged = 0;
        opens += look_at(damaged, &seen);
        damages += seen.damaged > 0;
    }
    assert_in_range(opens, 800, 1000);
    assert_in_range(damages, 500, 999);
    free(whole.at);
    free(damaged.at);
}

static void nothing_was_done(const char *directory, struct seen before)
{
    char path[64];
    struct seen after = look(directory);
    assert_same(before, after);
    assert_int_equal(before.bytes, after.bytes);
    snprintf(path, sizeof path, "%s/events.new", directory);
    assert_int_equal(access(path, F_OK), -1);
}

/* ---- while it is recorded -------------------------------------------------------------------- */

enum { ENTER = HEURT_EVENT_FUNCTIONS }; /* which has no arguments */

/* Events of three words, none of which is zero; a chunk of two units has room for two more words.
 */
static void put_locks(struct trace_writer *writer, uint32_t thread, uint64_t tick, size_t count)
{
    const uint64_t payload[] = {0x401000, 0x7f0000001000};
    while (count--)
        assert_int_equal(trace_writer__event(writer, thread % PROCESSES, thread, tick++,
                                             HEURT_EVENT_LOCK_ACQUIRED, payload, 2),
                         0);
}

#define LIMIT_BYTES ((size_t)settings.limit_units * HEURT_UNIT_BYTES)

static char *map_events(void)
{
    int fd = open("t/events", O_RDWR);
    char *bytes = mmap(NULL, LIMIT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(bytes != MAP_FAILED);
    close(fd);
    return bytes;
}

/* Of thread 0, the chunk that has four units. */
static uint64_t *words_of_third_chunk(char *bytes)
{
    for (size_t at = HEURT_UNIT_BYTES; at < LIMIT_BYTES; at += HEURT_UNIT_BYTES) {
        struct heurt_chunk *chunk = (void *)(bytes + at);
        if (chunk->magic == HEURT_CHUNK_MAGIC && chunk->kind == HEURT_CHUNK_EVENTS &&
            chunk->thread == 0 && chunk->sequence == 2)
            return (uint64_t *)(chunk + 1);
    }
    fail();
    return NULL;
}

static uint64_t bytes_ahead(void)
{
    struct stat status;
    return stat("t/events.new", &status) == 0 ? (uint64_t)status.st_size : 0;
}

static enum pack_outcome pack_with(struct pack_ahead *ahead)
{
    struct pack_options options = {.threads = 2, .ahead = ahead};
    enum pack_outcome outcome;
    struct error error = {""};
    if (trace__pack("t", &options, &outcome, &error) < 0)
        fail_msg("%s", error.text);
    pack_ahead__free(ahead);
    assert_int_equal(access("t/events.new", F_OK), -1);
    return outcome;
}

static void what_is_packed_while_it_is_recorded_reads_the_same(void **state)
{
    enum { THREADS = 5, ROUNDS = 4 };
    uint64_t ticks[THREADS] = {0}, before = 0;
    (void)state;
    struct trace_writer *writer = create("t");
    define_all(writer);
    struct pack_ahead *ahead = pack_ahead__new("t");
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint32_t thread = 0; thread < THREADS; thread++)
            for (size_t i = 20000u >> thread; i; i--)
                put_random_event(writer, thread, 1000 + (ticks[thread] += random_number() % 200));
        if (round == ROUNDS - 1)
            continue; /* which is packed at the end */
        assert_int_equal(pack_ahead__look(ahead), 0);
        assert_true(bytes_ahead() > before);
        before = bytes_ahead();
        assert_true(look("t").walk.events > 0); /* readers look at the other file */
    }
    finish(writer);
    struct seen raw = look("t");
    assert_int_equal(pack_with(ahead), PACK_DONE);
    struct seen packed = look("t");
    assert_same(raw, packed);
    assert_true(packed.bytes < raw.bytes && packed.bytes > before);
}

/* A writer that was interrupted by a signal handler may write where others have gone on. */
static void what_is_written_late_is_packed_too(void **state)
{
    enum { LOCKS = 30000, CHUNK_BYTES = 4 * HEURT_UNIT_BYTES, HOLE = 300 };
    (void)state;
    for (unsigned late = 0; late < 3; late++) {
        struct trace_writer *writer = create("t");
        define_all(writer);
        put_locks(writer, 0, 1000, LOCKS);
        struct pack_ahead *ahead = pack_ahead__new("t");
        char *bytes = map_events();
        uint64_t *words = words_of_third_chunk(bytes),
                 *end = words + (CHUNK_BYTES - sizeof(struct heurt_chunk)) / sizeof *words;
        uint64_t kept = words[HOLE];
        if (late == 1)
            words[HOLE] = 0; /* claimed, and not yet written */
        assert_int_equal(pack_ahead__look(ahead), 0);
        assert_true(bytes_ahead() > HEURT_PACKED_START_BYTES);
        words[HOLE] = kept;
        if (late == 2) {
            assert_true(end[-2] != 0 && end[-1] == 0);
            end[-1] = end[-4] >> HEURT_ID_BITS << HEURT_ID_BITS | ENTER;
        }
        munmap(bytes, LIMIT_BYTES);
        finish(writer);
        struct seen raw = look("t");
        assert_int_equal(raw.walk.events, LOCKS + (late == 2));
        assert_int_equal(pack_with(ahead), PACK_DONE);
        assert_same(raw, look("t"));
    }
}

static void what_could_not_be_written_ahead_leaves_no_gap(void **state)
{
    struct rlimit before, limit;
    (void)state;
    struct trace_writer *writer = create("t");
    define_all(writer);
    put_locks(writer, 0, 1000, 30000);
    struct pack_ahead *ahead = pack_ahead__new("t");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = HEURT_PACKED_START_BYTES + 100;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(pack_ahead__look(ahead), -EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    finish(writer);
    struct seen raw = look("t");
    assert_int_equal(pack_with(ahead), PACK_DONE);
    assert_same(raw, look("t"));
}

static void what_was_packed_ahead_goes_with_who_did_it(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    define_all(writer);
    put_locks(writer, 0, 1000, 30000);
    struct pack_ahead *ahead = pack_ahead__new("t");
    assert_int_equal(pack_ahead__look(ahead), 0);
    assert_true(bytes_ahead() > 0);
    struct seen raw = look("t");
    assert_int_equal(pack_with(ahead), PACK_IN_USE);
    nothing_was_done("t", raw);
    finish(writer);
    pack_ahead__free(NULL);
    assert_null(pack_ahead__new("none"));
}

/* ---- when it is not packed ------------------------------------------------------------------- */

static void a_small_trace_stays_as_it_is(void **state)
{
    (void)state;
    write_random_trace("t", 3, 1000);
    struct seen raw = look("t");
    struct pack_options options = {.least_bytes = raw.bytes + 1};
    enum pack_outcome outcome;
    struct error error = {""};
    assert_int_equal(trace__pack("t", &options, &outcome, &error), 0);
    assert_int_equal(outcome, PACK_NOT_WORTHWHILE);
    nothing_was_done("t", raw);
    options.least_bytes--;
    assert_int_equal(trace__pack("t", &options, &outcome, &error), 0);
    assert_int_equal(outcome, PACK_DONE);
}

static void a_trace_in_use_stays_as_it_is(void **state)
{
    (void)state;
    write_random_trace("t", 3, 1000);
    struct seen raw = look("t");
    int reader = open("t/events", O_RDONLY), writer = open("t/events", O_RDWR);
    assert_true(reader >= 0 && writer >= 0);
    void *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer, 0);
    assert_true(mapped != MAP_FAILED);
    close(writer);
    if (pack("t", 1) != PACK_IN_USE)
        skip(); /* a file system without leases */
    nothing_was_done("t", raw);
    munmap(mapped, 4096);
    assert_int_equal(pack("t", 1), PACK_DONE);
    close(reader);
}

static void a_trace_without_its_end_stays_as_it_is(void **state)
{
    (void)state;
    write_random_trace("t", 3, 1000);
    struct bytes bytes = read_events("t");
    ((struct heurt_session *)bytes.at)->flags = 0;
    write_events("t", bytes);
    struct seen raw = look("t");
    assert_int_equal(pack("t", 1), PACK_IN_USE);
    nothing_was_done("t", raw);
    free(bytes.at);
}

static void without_room_it_stays_as_it_is(void **state)
{
    (void)state;
    write_random_trace("t", 3, 100000);
    struct seen raw = look("t");
    struct pack_options options = {.threads = 2};
    enum pack_outcome outcome;
    struct error error = {""};
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int code = trace__pack("t", &options, &outcome, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, -EFBIG);
    assert_non_null(strstr(error.text, "the trace t stays unpacked: "));
    nothing_was_done("t", raw);
}

static void leftovers_are_in_nobodys_way(void **state)
{
    (void)state;
    write_random_trace("t", 3, 1000);
    struct seen raw = look("t");
    assert_int_equal(system("echo half >t/events.new && chmod 0 t/events.new"), 0);
    assert_same(raw, look("t"));
    copy("t", "next");
    assert_int_equal(pack("t", 1), PACK_DONE);
    assert_same(raw, look("t"));
    finish(create("next")); /* moves it away, and removes it the next time */
    finish(create("next"));
    assert_int_equal(system("test \"$(ls next next.old | grep -c new)\" = 0"), 0);
    assert_int_equal(pack("t", 1), PACK_DONE);
    finish(create("t")); /* a packed trace is a trace */
    assert_same(raw, look("t.old"));
}

static void where_there_is_no_trace_nothing_is_packed(void **state)
{
    (void)state;
    struct pack_options options = {.threads = 1};
    enum pack_outcome outcome;
    struct error error = {""};
    assert_int_equal(trace__pack("none", &options, &outcome, &error), -ENOENT);
    assert_int_equal(mkdir("none", 0777), 0);
    assert_int_equal(trace__pack("none", &options, &outcome, &error), -ENOENT);
    assert_int_equal(system("echo hello >none/events"), 0);
    assert_int_equal(trace__pack("none", &options, &outcome, &error), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PACKING(a_packed_trace_reads_the_same),
        PACKING(a_thousand_threads_are_read_in_little_memory),
        PACKING(special_traces_read_the_same),
        PACKING(records_of_the_kernel_become_small),
        PACKING(whatever_is_damaged_reads_the_same),
        PACKING(a_damaged_block_is_not_believed),
        PACKING(a_packed_trace_cut_anywhere_gives_less),
        PACKING(no_corruption_of_a_packed_trace_is_fatal),
        PACKING(what_is_packed_while_it_is_recorded_reads_the_same),
        PACKING(what_is_written_late_is_packed_too),
        PACKING(what_could_not_be_written_ahead_leaves_no_gap),
        PACKING(what_was_packed_ahead_goes_with_who_did_it),
        PACKING(a_small_trace_stays_as_it_is),
        PACKING(a_trace_in_use_stays_as_it_is),
        PACKING(a_trace_without_its_end_stays_as_it_is),
        PACKING(without_room_it_stays_as_it_is),
        PACKING(leftovers_are_in_nobodys_way),
        PACKING(where_there_is_no_trace_nothing_is_packed),
    };
    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
