/* How processors are asked to sample accesses: descriptions as their kernels give them, written
 * down here; what their records say: bytes as linux/perf_event.h lays them out; and how the time
 * of the clock's samples is dealt to them. */
#include "format/layout.h"
#include "kernel/memory_events.h"
#include "kernel/sampling.h"
#include "recorder/access_share.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- descriptions ---------------------------------------------------------------------------- */

struct described {
    const char *path, *text;
};

/* ibs_op as Linux 5.10 to 6.12 describe it on Zen 2 and 3, */
static const struct described zen3[] = {
    {"cpu/type", "4\n"},
    {"cpu/format/event", "config:0-7,32-35\n"},
    {"cpu/format/umask", "config:8-15\n"},
    {"cpu/events/cache-misses", "event=0x64,umask=0x09\n"},
    {"ibs_fetch/type", "10\n"},
    {"ibs_fetch/format/rand_en", "config:57\n"},
    {"ibs_op/type", "11\n"},
    {"ibs_op/format/cnt_ctl", "config:19\n"},
    {NULL, NULL},
};

/* and 6.14 on Zen 4, where the kernel leaves out its own. */
static const struct described zen4[] = {
    {"ibs_op/type", "11\n"},
    {"ibs_op/caps/zen4_ibs_extensions", "1\n"},
    {"ibs_op/format/cnt_ctl", "config:19\n"},
    {"ibs_op/format/l3missonly", "config:16\n"},
    {"ibs_op/format/swfilt", "config2:0\n"},
    {NULL, NULL},
};

static const struct described skylake[] = {
    {"cpu/type", "4\n"},
    {"cpu/caps/max_precise", "3\n"},
    {"cpu/caps/pmu_name", "skylake\n"},
    {"cpu/format/event", "config:0-7\n"},
    {"cpu/format/umask", "config:8-15\n"},
    {"cpu/format/ldlat", "config1:0-15\n"},
    {"cpu/format/offcore_rsp", "config1:0-63\n"},
    {"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
    {"cpu/events/mem-stores", "event=0xd0,umask=0x82\n"},
    {NULL, NULL},
};

static const struct described sapphire_rapids[] = {
    {"cpu/type", "4\n"},
    {"cpu/caps/max_precise", "3\n"},
    {"cpu/caps/pmu_name", "sapphire_rapids\n"},
    {"cpu/format/event", "config:0-7\n"},
    {"cpu/format/umask", "config:8-15,40-47\n"},
    {"cpu/format/ldlat", "config1:0-15\n"},
    {"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
    {"cpu/events/mem-loads-aux", "event=0x03,umask=0x82\n"},
    {"cpu/events/mem-stores", "event=0xcd,umask=0x2\n"},
    {NULL, NULL},
};

static const struct described alder_lake[] = {
    {"cpu_core/type", "4\n"},
    {"cpu_core/caps/max_precise", "3\n"},
    {"cpu_core/format/event", "config:0-7\n"},
    {"cpu_core/format/umask", "config:8-15\n"},
    {"cpu_core/format/ldlat", "config1:0-15\n"},
    {"cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
    {"cpu_core/events/mem-loads-aux", "event=0x03,umask=0x82\n"},
    {"cpu_core/events/mem-stores", "event=0xcd,umask=0x2\n"},
    {"cpu_atom/type", "10\n"},
    {"cpu_atom/caps/max_precise", "3\n"},
    {"cpu_atom/format/event", "config:0-7\n"},
    {"cpu_atom/format/umask", "config:8-15\n"},
    {"cpu_atom/format/ldlat", "config1:0-15\n"},
    {"cpu_atom/events/mem-loads", "event=0xd0,umask=0x5,ldlat=3\n"},
    {"cpu_atom/events/mem-stores", "event=0xd0,umask=0x6\n"},
    {NULL, NULL},
};

/* What a virtual machine has. */
static const struct described without[] = {
    {"cpu/type", "4\n"},
    {"cpu/format/event", "config:0-7\n"},
    {"cpu/events/cycles", "event=0x3c\n"},
    {"software/type", "1\n"},
    {NULL, NULL},
};

static const struct described damaged[] = {
    {"ibs_op/type", "eleven\n"},
    {"cpu/type", "4\n"},
    {"cpu/format/event", "config:0-7\n"},
    {"cpu/format/umask", "config:15-8\n"},
    {"cpu/format/ldlat", "config7:0-15\n"},
    {"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
    {"cpu_core/type", "4\n"},
    {"cpu_core/format/event", "config:0-7\n"},
    {"cpu_core/events/mem-loads", "event=0x1cd\n"},
    {"cpu_atom/type", ""},
    {"cpu_atom/events/mem-loads", ",=,\n"},
    {NULL, NULL},
};

static size_t describe(const struct described *files, struct memory_unit *units)
{
    char directory[] = "/tmp/heurt-events-XXXXXX", command[400];
    assert_non_null(mkdtemp(directory));
    for (; files->path; files++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", directory, files->path);
        snprintf(command, sizeof command, "mkdir -p \"$(dirname %s)\"", path);
        assert_int_equal(system(command), 0);
        FILE *out = fopen(path, "we");
        assert_non_null(out);
        fputs(files->text, out);
        fclose(out);
    }
    size_t count = memory_units__describe(directory, 499, units);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    return count;
}

static void check_sampling(const struct memory_event *event)
{
    const struct perf_event_attr *attributes = &event->attributes;
    assert_false(event->leads);
    assert_int_equal(attributes->size, sizeof *attributes);
    assert_true(attributes->freq);
    assert_int_equal(attributes->sample_freq, 499);
    assert_int_equal(attributes->sample_type, MEMORY_SAMPLE_TYPE);
    assert_true(attributes->use_clockid && attributes->sample_id_all);
}

static void amd_samples_operations_by_cycles(void **state)
{
    (void)state;
    struct memory_unit units[MEMORY_UNITS_MOST];
    assert_int_equal(describe(zen3, units), 1);
    assert_string_equal(units[0].name, "AMD IBS");
    assert_int_equal(units[0].count, 1);
    const struct memory_event *event = &units[0].events[0];
    check_sampling(event);
    assert_int_equal(event->attributes.type, 11);
    assert_int_equal(event->attributes.config, 0);
    /* It refuses all of these, where its kernel does not filter behind it. */
    assert_false(event->attributes.exclude_kernel || event->attributes.exclude_hv ||
                 event->attributes.exclude_idle || event->attributes.exclude_user);
    assert_int_equal(event->attributes.precise_ip, 0);
    assert_int_equal(describe(zen4, units), 1);
    assert_int_equal(units[0].events[0].attributes.config2, 1);
    assert_int_equal(units[0].events[0].attributes.config, 0);
    assert_true(units[0].events[0].attributes.exclude_kernel);
}

static void check_loads(const struct memory_event *event, uint32_t type, uint64_t config)
{
    check_sampling(event);
    assert_int_equal(event->attributes.type, type);
    assert_int_equal(event->attributes.config, config);
    assert_int_equal(event->attributes.config1, MEMORY_LATENCY_LEAST);
    assert_int_equal(event->attributes.precise_ip, 2);
    assert_true(event->attributes.exclude_kernel);
}

static void check_stores(const struct memory_event *event, uint32_t type, uint64_t config)
{
    check_sampling(event);
    assert_int_equal(event->attributes.type, type);
    assert_int_equal(event->attributes.config, config);
    assert_int_equal(event->attributes.config1, 0);
    assert_int_equal(event->attributes.precise_ip, 2);
}

static void intel_samples_slow_loads_and_stores(void **state)
{
    (void)state;
    struct memory_unit units[MEMORY_UNITS_MOST];
    assert_int_equal(describe(skylake, units), 1);
    assert_string_equal(units[0].name, "Intel PEBS");
    assert_int_equal(units[0].count, 2);
    check_loads(&units[0].events[0], 4, 0x1cd);
    check_stores(&units[0].events[1], 4, 0x82d0);
}

static void check_led_loads(const struct memory_unit *unit)
{
    assert_int_equal(unit->count, 3);
    const struct memory_event *leader = &unit->events[0];
    assert_true(leader->leads);
    assert_int_equal(leader->attributes.config, 0x8203);
    assert_int_equal(leader->attributes.config1, 0);
    assert_false(leader->attributes.freq);
    assert_int_equal(leader->attributes.sample_freq, 0);
    assert_int_equal(leader->attributes.precise_ip, 0);
    check_loads(&unit->events[1], 4, 0x1cd);
    check_stores(&unit->events[2], 4, 0x2cd);
}

static void some_loads_are_led_by_another_event(void **state)
{
    (void)state;
    struct memory_unit units[MEMORY_UNITS_MOST];
    assert_int_equal(describe(sapphire_rapids, units), 1);
    check_led_loads(&units[0]);
}

static void each_kind_of_core_has_its_events(void **state)
{
    (void)state;
    struct memory_unit units[MEMORY_UNITS_MOST];
    assert_int_equal(describe(alder_lake, units), 2);
    check_led_loads(&units[0]);
    assert_int_equal(units[1].count, 2);
    check_loads(&units[1].events[0], 10, 0x5d0);
    check_stores(&units[1].events[1], 10, 0x6d0);
}

static void what_is_not_there_or_not_understood_is_none(void **state)
{
    (void)state;
    struct memory_unit units[MEMORY_UNITS_MOST];
    assert_int_equal(describe(without, units), 0);
    assert_int_equal(describe(damaged, units), 0);
    assert_int_equal(memory_units__describe("/nowhere/at/all", 499, units), 0);
}

/* ---- records --------------------------------------------------------------------------------- */

/* A sample of the kernel's ABI with MEMORY_SAMPLE_TYPE, field by field in the order of
 * perf_event_open(2). */
struct access_bytes {
    struct perf_event_header header;
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time, address, period;
    uint32_t latency;
    uint16_t instruction_latency, third;
    uint64_t source;
};

static struct access_bytes access_of(uint64_t source, uint32_t latency)
{
    return (struct access_bytes){{PERF_RECORD_SAMPLE,
                                  PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
                                  sizeof(struct access_bytes)},
                                 0x401234,
                                 10,
                                 11,
                                 5000,
                                 0x7f0000001040,
                                 40000,
                                 latency,
                                 77,
                                 99,
                                 source};
}

static struct record decoded(const struct access_bytes *bytes)
{
    struct record record;
    assert_int_equal(record__decode_access(bytes, sizeof *bytes, &record), 0);
    return record;
}

#define LOAD PERF_MEM_S(OP, LOAD)
#define LEVEL(name) PERF_MEM_S(LVL, name)
#define NUMBER(name) PERF_MEM_S(LVLNUM, name)
#define REMOTE PERF_MEM_S(REMOTE, REMOTE)
#define HOPS(name) PERF_MEM_S(HOPS, name)

static void a_load_tells_where_and_how_long(void **state)
{
    (void)state;
    struct access_bytes bytes =
        access_of(LOAD | LEVEL(LOC_RAM) | LEVEL(HIT) | NUMBER(RAM) | PERF_MEM_S(TLB, WK), 310);
    struct record record = decoded(&bytes);
    assert_int_equal(record.kind, RECORD_ACCESS);
    assert_int_equal(record.address, 0x401234);
    assert_int_equal(record.data, 0x7f0000001040);
    assert_int_equal(record.pid, 10);
    assert_int_equal(record.tid, 11);
    assert_int_equal(record.time_ns, 5000);
    assert_int_equal(record.latency, 310);
    assert_int_equal(record.level, HEURT_LEVEL_MEMORY);
    assert_int_equal(record.flags, HEURT_ANSWER_TLB_MISS);
    assert_false(record.writes || record.in_kernel);
    bytes.header.misc = PERF_RECORD_MISC_KERNEL;
    assert_true(decoded(&bytes).in_kernel);
    bytes.source = PERF_MEM_S(OP, STORE) | NUMBER(L1);
    assert_true(decoded(&bytes).writes);
}

static void check_level(uint64_t source, enum heurt_level level)
{
    struct access_bytes bytes = access_of(LOAD | source, 20);
    assert_int_equal(decoded(&bytes).level, level);
}

static void what_answered_is_told_by_old_words_and_new_ones(void **state)
{
    (void)state;
    /* Skylake (pebs_data_source) */
    check_level(LEVEL(L1) | LEVEL(HIT) | NUMBER(L1), HEURT_LEVEL_L1);
    check_level(LEVEL(LFB) | LEVEL(HIT) | NUMBER(LFB), HEURT_LEVEL_BUFFER);
    check_level(LEVEL(L2) | LEVEL(HIT) | NUMBER(L2), HEURT_LEVEL_L2);
    check_level(LEVEL(L3) | LEVEL(HIT) | NUMBER(L3) | PERF_MEM_S(SNOOP, NONE), HEURT_LEVEL_L3);
    check_level(LEVEL(L3) | LEVEL(HIT) | NUMBER(L3) | PERF_MEM_S(SNOOP, HITM), HEURT_LEVEL_CORE);
    check_level(LEVEL(REM_CCE1) | LEVEL(HIT) | NUMBER(L3) | REMOTE | PERF_MEM_S(SNOOP, HITM),
                HEURT_LEVEL_REMOTE_CACHE);
    check_level(LEVEL(LOC_RAM) | LEVEL(HIT), HEURT_LEVEL_MEMORY);
    check_level(LEVEL(REM_RAM1) | LEVEL(HIT) | NUMBER(RAM) | REMOTE, HEURT_LEVEL_REMOTE_MEMORY);
    check_level(LEVEL(IO) | LEVEL(HIT), HEURT_LEVEL_DEVICE);
    check_level(LEVEL(NA) | NUMBER(NA), HEURT_LEVEL_UNKNOWN);
    /* AMD (perf_ibs_get_mem_lvl): by hops where it is known how far, */
    check_level(LEVEL(L3) | LEVEL(REM_CCE1) | LEVEL(HIT) | NUMBER(ANY_CACHE) | REMOTE | HOPS(0),
                HEURT_LEVEL_CORE);
    check_level(LEVEL(REM_CCE2) | LEVEL(HIT) | NUMBER(ANY_CACHE) | REMOTE | HOPS(1),
                HEURT_LEVEL_REMOTE_CACHE);
    check_level(LEVEL(REM_RAM1) | LEVEL(HIT) | HOPS(1), HEURT_LEVEL_REMOTE_MEMORY);
    check_level(NUMBER(RAM) | REMOTE | HOPS(2), HEURT_LEVEL_REMOTE_MEMORY);
    /* and by the old words alone. */
    check_level(LEVEL(REM_RAM2) | LEVEL(HIT), HEURT_LEVEL_REMOTE_MEMORY);
    check_level(NUMBER(CXL), HEURT_LEVEL_MEMORY);
}

static void who_had_written_a_line_is_told(void **state)
{
    (void)state;
    struct access_bytes bytes = access_of(LOAD | LEVEL(L3) | PERF_MEM_S(SNOOP, HITM), 90);
    assert_int_equal(decoded(&bytes).flags, HEURT_ANSWER_MODIFIED);
    bytes.source = LOAD | LEVEL(L3) | PERF_MEM_S(SNOOP, HIT) | PERF_MEM_S(TLB, HIT);
    assert_int_equal(decoded(&bytes).flags, 0);
}

static void what_is_no_access_is_left_out(void **state)
{
    (void)state;
    const uint64_t others[] = {0, PERF_MEM_S(OP, NA), PERF_MEM_S(OP, PFETCH), PERF_MEM_S(OP, EXEC)};
    struct record record;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct access_bytes bytes = access_of(others[i] | LEVEL(LOC_RAM), 300);
        assert_int_equal(decoded(&bytes).kind, RECORD_OTHER);
    }
    struct access_bytes bytes = access_of(LOAD | LEVEL(LOC_RAM), 300);
    bytes.address = 0;
    assert_int_equal(decoded(&bytes).kind, RECORD_OTHER);
    bytes.address = 1;
    for (uint16_t size = sizeof bytes.header; size < sizeof bytes; size++) {
        bytes.header.size = size;
        assert_int_equal(record__decode_access(&bytes, size, &record), -EBADMSG);
    }
    /* Losses and pauses of this ring are not those of the clock's samples. */
    struct {
        struct perf_event_header header;
        uint64_t words[4];
    } lost = {{PERF_RECORD_LOST, 0, sizeof lost}, {1, 500, 0, 1000}};
    assert_int_equal(record__decode_access(&lost, sizeof lost, &record), 0);
    assert_int_equal(record.kind, RECORD_OTHER);
    lost.header.type = PERF_RECORD_THROTTLE;
    assert_int_equal(record__decode_access(&lost, sizeof lost, &record), 0);
    assert_int_equal(record.kind, RECORD_OTHER);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void add_access(struct access_share *share, uint32_t tid, uint64_t data, uint32_t latency)
{
    const struct record record = {
        .kind = RECORD_ACCESS, .tid = tid, .data = data, .latency = latency};
    access_share__add(share, &record);
}

static void time_is_dealt_by_latency_and_none_is_lost(void **state)
{
    (void)state;
    struct access_share *share = access_share__new();
    struct record told[TOLD_MOST];
    assert_int_equal(access_share__deal(share, 1, 1000, told), 0);
    add_access(share, 1, 100, 300);
    add_access(share, 2, 200, 70);
    add_access(share, 1, 101, 100);
    add_access(share, 1, 102, 0);
    assert_int_equal(access_share__deal(share, 1, 1000003, told), 3);
    assert_int_equal(told[0].data, 100);
    assert_int_equal(told[0].weight_ns, 1000003ull * 300 / 405);
    assert_int_equal(told[2].data, 102);
    assert_int_equal(told[0].weight_ns + told[1].weight_ns + told[2].weight_ns, 1000003);
    /* They are gone, the other thread's are there. */
    assert_int_equal(access_share__deal(share, 1, 1000, told), 0);
    assert_int_equal(access_share__deal(share, 2, 1000, told), 1);
    assert_int_equal(told[0].weight_ns, 1000);
    access_share__free(share);
}

static void the_last_accesses_have_the_time(void **state)
{
    (void)state;
    struct access_share *share = access_share__new();
    struct record told[TOLD_MOST];
    for (uint64_t i = 0; i < 3 * TOLD_MOST + 1; i++)
        add_access(share, 1, i, UINT32_MAX);
    assert_int_equal(access_share__deal(share, 1, UINT32_MAX, told), TOLD_MOST);
    uint64_t sum = 0;
    for (size_t i = 0; i < TOLD_MOST; i++) {
        assert_int_equal(told[i].data, 2 * TOLD_MOST + 1 + i);
        sum += told[i].weight_ns;
    }
    assert_int_equal(sum, UINT32_MAX);
    access_share__free(share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amd_samples_operations_by_cycles),
        cmocka_unit_test(intel_samples_slow_loads_and_stores),
        cmocka_unit_test(some_loads_are_led_by_another_event),
        cmocka_unit_test(each_kind_of_core_has_its_events),
        cmocka_unit_test(what_is_not_there_or_not_understood_is_none),
        cmocka_unit_test(a_load_tells_where_and_how_long),
        cmocka_unit_test(what_answered_is_told_by_old_words_and_new_ones),
        cmocka_unit_test(who_had_written_a_line_is_told),
        cmocka_unit_test(what_is_no_access_is_left_out),
        cmocka_unit_test(time_is_dealt_by_latency_and_none_is_lost),
        cmocka_unit_test(the_last_accesses_have_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
