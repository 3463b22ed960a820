/* test_damage.c: whatever bytes a trace holds, reading it gives an error or less data. */
#include "aggregated.h"
#include "fixture.h"
#include "walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char small_trace[] = "start 100\n"
                                  "meta command ./app\n"
                                  "process 0 100 /bin/app\n"
                                  "module 0 100 0x400000 0x500000 /bin/app\n"
                                  "module 0 150 0x7f0000 0x7f9000 /lib/one.so\n"
                                  "gone 0 190 0x7f0000\n"
                                  "function 0 1024 work 0x401000 x,y\n"
                                  "region 0 1026 parse 0x401100 a.c:12\n"
                                  "refusal 0 tiny /bin/app too short\n"
                                  "note 0 a note\n"
                                  "process 1 101 - 0 250\n"
                                  "thread 0 main\n"
                                  "200 thread_start 1 0xffffffff 0x401000\n"
                                  "210 work 3 4\n"
                                  "220 lock_wait 0x401010 0x7000\n"
                                  "230 leave lock_wait 0\n"
                                  "235 stack 1 2 3 4 5 6 7 8 9\n"
                                  "236 instructions 77\n"
                                  "240 leave work\n"
                                  "241 kernel 3\n"
                                  "250 off_cpu 5/1 0xffffffffffff/3 0\n"
                                  "260 off_cpu 6/0 2/7 1001\n"
                                  "270 kernel_lost 4\n"
                                  "280 fault 7/1 0x7f0000001000\n"
                                  "300 thread_end 90 10\n"
                                  "thread 1 worker 1\n"
                                  "210 parse\n"
                                  "212 io 0x401020/1 5:1 512\n"
                                  "220 leave io 512\n"
                                  "290 leave parse\n";

struct bytes {
    char *at;
    size_t count;
    uint64_t events;
};

#define FOLDED_WORDS 7 /* THREAD_START and the first enter event */

static struct bytes make_trace(bool aggregated)
{
    struct bytes bytes = {.events = aggregated ? 15 : 17};
    struct error error = {""};
    char base[] = "/tmp/heurt-damage-XXXXXX", path[64];
    assert_non_null(mkdtemp(base));
    snprintf(path, sizeof path, "%s/t", base);
    if (fixture__write(path, small_trace, &error) < 0)
        fail_msg("%s", error.text);
    if (aggregated)
        assert_int_equal(aggregated__make(path, FOLDED_WORDS), 0);
    snprintf(path, sizeof path, "%s/t/" HEURT_EVENTS_FILE, base);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bytes.at = malloc(1 << 20);
    bytes.count = fread(bytes.at, 1, 1 << 20, file);
    fclose(file);
    unlink(path);
    snprintf(path, sizeof path, "%s/t", base);
    rmdir(path);
    rmdir(base);
    return bytes;
}

static struct bytes trace_bytes;
static const bool kinds[] = {false, true}; /* aggregated */

static int setup(void **state)
{
    trace_bytes = make_trace(*(const bool *)*state);
    return trace_bytes.count ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(trace_bytes.at);
    return 0;
}

/* Opens a copy that ends where its memory ends, so that a sanitizer sees a step too far. */
static struct walk walk_copy(const char *bytes, size_t count, bool *opened, uint64_t *damaged)
{
    struct walk walk = {0};
    struct trace *trace;
    struct error error = {""};
    char *copy = malloc(count + !count);
    memcpy(copy, bytes, count);
    *opened = trace__open_memory(copy, count, &trace, &error) == 0;
    if (*opened) {
        walk = walk_trace(trace);
        *damaged = trace__damaged_chunks(trace);
    } else {
        assert_true(strlen(error.text) > 20);
        assert_null(trace);
    }
    trace__close(trace);
    free(copy);
    return walk;
}

static void the_whole_trace_is_read(void **state)
{
    (void)state;
    bool opened;
    uint64_t damaged = 77;
    struct walk walk = walk_copy(trace_bytes.at, trace_bytes.count, &opened, &damaged);
    assert_true(opened);
    assert_int_equal(walk.events, trace_bytes.events);
    assert_int_equal(damaged, 0);
}

static void a_trace_cut_anywhere_gives_less(void **state)
{
    (void)state;
    bool opened;
    uint64_t damaged, before = 0;
    for (size_t cut = 0; cut <= trace_bytes.count; cut += 8) {
        struct walk walk = walk_copy(trace_bytes.at, cut, &opened, &damaged);
        assert_int_equal(opened, cut >= sizeof(struct heurt_session));
        /* Without the record of what is folded, all the events of its chunks are there. */
        assert_true(walk.events >= before || before == 17);
        before = walk.events;
        if (opened && cut > HEURT_UNIT_BYTES && cut % HEURT_UNIT_BYTES)
            assert_true(damaged >= 1);
    }
    assert_int_equal(before, trace_bytes.events);
}

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Half of the places are words that hold something. */
static size_t random_place(uint64_t *state)
{
    for (;;) {
        size_t place = random_number(state) % (trace_bytes.count / 8) * 8;
        static const char zeroes[8];
        if (random_number(state) % 64 == 0 || memcmp(trace_bytes.at + place, zeroes, 8) != 0)
            return place;
    }
}

static void corrupt(char *bytes, uint64_t *state)
{
    size_t place = random_place(state);
    uint64_t word = random_number(state), kind = random_number(state) % 5;
    if (kind == 0) /* a byte */
        bytes[place + word % 8] = (char)(word >> 8);
    else if (kind == 1) /* a word */
        memcpy(bytes + place, &word, 8);
    else if (kind == 2) /* a small number in half a word */
        memcpy(bytes + place + 4 * (word & 1), &(uint32_t){(word >> 8) % 70}, 4);
    else if (kind == 3) /* a huge one */
        memset(bytes + place + 4 * (word & 1), 0xff, 4);
    else /* something from elsewhere */
        memcpy(bytes + place, trace_bytes.at + random_place(state), 8);
}

static void no_corruption_is_fatal(void **state)
{
    (void)state;
    uint64_t seed = 0x9e3779b97f4a7c15ull, damaged, opens = 0, damages = 0;
    bool opened;
    char *bytes = malloc(trace_bytes.count);
    for (int round = 0; round < 10000; round++) {
        memcpy(bytes, trace_bytes.at, trace_bytes.count);
        for (uint64_t n = random_number(&seed) % 8 + 1; n; n--)
            corrupt(bytes, &seed);
        walk_copy(bytes, trace_bytes.count, &opened, &damaged);
        opens += opened;
        damages += opened && damaged;
    }
    free(bytes);
    assert_in_range(opens, 1000, 9999); /* else the corruption is not where it matters */
    assert_in_range(damages, 1000, 9999);
}

#define WITH_TRACE(test, kind) \
    cmocka_unit_test_prestate_setup_teardown(test, setup, teardown, (void *)&kinds[kind])

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TRACE(the_whole_trace_is_read, 0),
        WITH_TRACE(the_whole_trace_is_read, 1),
        WITH_TRACE(a_trace_cut_anywhere_gives_less, 0),
        WITH_TRACE(a_trace_cut_anywhere_gives_less, 1),
        WITH_TRACE(no_corruption_is_fatal, 0),
        WITH_TRACE(no_corruption_is_fatal, 1),
    };
    return cmocka_run_group_tests_name("damage", tests, NULL, NULL);
}
