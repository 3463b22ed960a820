#include "kernel/sampling.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A record being put together; bytes also counts as its size. */
struct draft {
    unsigned char bytes[4096];
    size_t size;
};

static void put(struct draft *draft, const void *bytes, size_t size)
{
    memcpy(draft->bytes + draft->size, bytes, size);
    draft->size += size;
    uint16_t now = (uint16_t)draft->size;
    memcpy(draft->bytes + offsetof(struct perf_event_header, size), &now, sizeof now);
}

static void put_32(struct draft *draft, uint32_t number)
{
    put(draft, &number, sizeof number);
}

static void put_64(struct draft *draft, uint64_t number)
{
    put(draft, &number, sizeof number);
}

static struct draft begin(uint32_t type, uint16_t misc)
{
    struct draft draft = {.size = 0};
    struct perf_event_header header = {.type = type, .misc = misc};
    put(&draft, &header, sizeof header);
    return draft;
}

/* What sample_id_all appends. */
static void put_tail(struct draft *draft, uint32_t pid, uint32_t tid, uint64_t time)
{
    put_32(draft, pid);
    put_32(draft, tid);
    put_64(draft, time);
}

static struct draft sample_record(uint64_t address, uint64_t time)
{
    struct draft draft = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put_64(&draft, address);
    put_32(&draft, 10);
    put_32(&draft, 11);
    put_64(&draft, time);
    put_64(&draft, 1003009);
    return draft;
}

static struct draft map_record(const char *path)
{
    struct draft draft = begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    static const unsigned char inode[24];
    put_32(&draft, 10);
    put_32(&draft, 11);
    put_64(&draft, 0x7f0000001000);
    put_64(&draft, 0x2000);
    put_64(&draft, 0x1000);
    put(&draft, inode, sizeof inode);
    put_32(&draft, 5);
    put_32(&draft, 2);
    char padded[512] = "";
    strcpy(padded, path);
    put(&draft, padded, (strlen(path) + 8) & ~(size_t)7);
    put_tail(&draft, 10, 11, 77);
    return draft;
}

static void samples_are_decoded(void **state)
{
    (void)state;
    struct record record;
    struct draft draft = sample_record(0xabcdef, 42);
    assert_int_equal(record__decode(draft.bytes, draft.size, &record), 0);
    assert_int_equal(record.kind, RECORD_SAMPLE);
    assert_false(record.in_kernel);
    assert_int_equal(record.pid, 10);
    assert_int_equal(record.tid, 11);
    assert_int_equal(record.address, 0xabcdef);
    assert_int_equal(record.time_ns, 42);
    assert_int_equal(record.weight_ns, 1003009);
    uint16_t kernel = PERF_RECORD_MISC_KERNEL;
    memcpy(draft.bytes + offsetof(struct perf_event_header, misc), &kernel, sizeof kernel);
    assert_int_equal(record__decode(draft.bytes, draft.size, &record), 0);
    assert_true(record.in_kernel);
}

static void maps_are_decoded(void **state)
{
    (void)state;
    struct record record;
    struct draft draft = map_record("/usr/lib/libz.so.1");
    assert_int_equal(record__decode(draft.bytes, draft.size, &record), 0);
    assert_int_equal(record.kind, RECORD_MAP);
    assert_int_equal(record.address, 0x7f0000001000);
    assert_int_equal(record.length, 0x2000);
    assert_int_equal(record.file_offset, 0x1000);
    assert_int_equal(record.time_ns, 77);
    assert_string_equal(record.path, "/usr/lib/libz.so.1");
}

static void tasks_are_decoded(void **state)
{
    (void)state;
    struct record record;
    for (int begins = 0; begins < 2; begins++) {
        struct draft draft = begin(begins ? PERF_RECORD_FORK : PERF_RECORD_EXIT, 0);
        put_32(&draft, 20);
        put_32(&draft, 10);
        put_32(&draft, 21);
        put_32(&draft, 11);
        put_64(&draft, 99);
        put_tail(&draft, 10, 11, 98);
        assert_int_equal(record__decode(draft.bytes, draft.size, &record), 0);
        assert_int_equal(record.kind, begins ? RECORD_FORK : RECORD_EXIT);
        assert_int_equal(record.pid, 20);
        assert_int_equal(record.parent_pid, 10);
        assert_int_equal(record.tid, 21);
        assert_int_equal(record.time_ns, 99);
    }
}

static void only_the_name_of_an_exec_counts(void **state)
{
    (void)state;
    struct record record;
    for (int by_exec = 0; by_exec < 2; by_exec++) {
        struct draft draft = begin(PERF_RECORD_COMM, by_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
        put_32(&draft, 10);
        put_32(&draft, 11);
        put_64(&draft, 0x656d616e);
        put_tail(&draft, 10, 11, 5);
        assert_int_equal(record__decode(draft.bytes, draft.size, &record), 0);
        assert_int_equal(record.kind, by_exec ? RECORD_EXEC : RECORD_OTHER);
        assert_int_equal(record.pid, 10);
    }
}

static void losses_are_decoded(void **state)
{
    (void)state;
    struct record record;
    struct draft lost = begin(PERF_RECORD_LOST, 0);
    put_64(&lost, 1234); /* an id */
    put_64(&lost, 17);
    put_tail(&lost, 10, 11, 5);
    assert_int_equal(record__decode(lost.bytes, lost.size, &record), 0);
    assert_int_equal(record.kind, RECORD_LOST);
    assert_int_equal(record.count, 17);
    struct draft samples = begin(PERF_RECORD_LOST_SAMPLES, 0);
    put_64(&samples, 18);
    put_tail(&samples, 10, 11, 5);
    assert_int_equal(record__decode(samples.bytes, samples.size, &record), 0);
    assert_int_equal(record.kind, RECORD_LOST);
    assert_int_equal(record.count, 18);
}

static void unknown_kinds_are_passed_over(void **state)
{
    (void)state;
    struct record record;
    struct draft draft = begin(4711, 0);
    put_tail(&draft, 1, 2, 3);
    assert_int_equal(record__decode(draft.bytes, draft.size, &record), 0);
    assert_int_equal(record.kind, RECORD_OTHER);
}

/* Every prefix of every record, in memory of just that size: the sanitizer watches. */
static void no_prefix_is_read_past_its_end(void **state)
{
    (void)state;
    uint32_t types[] = {PERF_RECORD_SAMPLE,      PERF_RECORD_MMAP2, PERF_RECORD_FORK,
                        PERF_RECORD_EXIT,        PERF_RECORD_COMM,  PERF_RECORD_LOST,
                        PERF_RECORD_LOST_SAMPLES};
    struct draft whole = map_record("/a/path/that/is/long/enough/for/all/of/them");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (size_t size = 0; size <= whole.size - 8; size++) {
            unsigned char *bytes = malloc(size ? size : 1);
            struct perf_event_header header = {.type = types[i], .size = (uint16_t)size};
            struct record record;
            memcpy(bytes, whole.bytes, size);
            memcpy(bytes, &header, size < sizeof header ? size : sizeof header);
            int code = record__decode(bytes, size, &record);
            if (size < sizeof header + 16 || types[i] == PERF_RECORD_MMAP2)
                assert_int_equal(code, -EBADMSG);
            free(bytes);
        }
    }
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    struct record record;
    struct draft draft = sample_record(1, 2);
    assert_int_equal(record__decode(draft.bytes, draft.size - 8, &record), -EBADMSG);
    assert_int_equal(record__decode(draft.bytes, draft.size + 8, &record), -EBADMSG);
    struct draft endless = map_record("/x");
    memset(endless.bytes + sizeof(struct perf_event_header) + 16, 0xff, 8); /* its length */
    assert_int_equal(record__decode(endless.bytes, endless.size, &record), -EBADMSG);
    struct draft unended = map_record("/1234567");
    memset(unended.bytes + unended.size - 16 - 16, 'x', 16); /* where the path lies */
    assert_int_equal(record__decode(unended.bytes, unended.size, &record), -EBADMSG);
}

#define DATA_BYTES 512u

static unsigned char scratch[RECORD_BYTES_MAX];

static void copy_in(unsigned char *data, uint64_t *head, const struct draft *draft)
{
    for (size_t i = 0; i < draft->size; i++)
        data[(*head)++ & (DATA_BYTES - 1)] = draft->bytes[i];
}

/* Samples of 40 bytes in a ring of 512: the beginning, the header and the end come to lie around
 * the end of the ring, in turn. */
static void records_around_the_end_are_joined(void **state)
{
    (void)state;
    unsigned char data[DATA_BYTES];
    for (uint64_t shift = 0; shift < DATA_BYTES; shift += 8) {
        struct ring ring = {data, DATA_BYTES, shift, shift, scratch};
        bool damaged = false;
        for (uint64_t i = 0; i < 12; i++) {
            struct draft draft = sample_record(i, shift);
            copy_in(data, &ring.head, &draft);
        }
        const void *bytes;
        size_t size, count = 0;
        while (ring__next(&ring, &bytes, &size, &damaged)) {
            struct record record;
            assert_int_equal(record__decode(bytes, size, &record), 0);
            assert_int_equal(record.address, count++);
            assert_int_equal(record.time_ns, shift);
        }
        assert_false(damaged);
        assert_int_equal(count, 12);
        assert_true(ring.tail == ring.head);
    }
}

static void damaged_rings_are_given_up(void **state)
{
    (void)state;
    unsigned char data[DATA_BYTES] = {0};
    const void *bytes;
    size_t size;
    struct ring ring = {data, DATA_BYTES, 0, 0, scratch};
    bool damaged = false;
    assert_false(ring__next(&ring, &bytes, &size, &damaged));
    assert_false(damaged); /* empty is not damaged */
    struct {
        uint64_t head;
        uint16_t size;
    } cases[] = {
        {40, 0},              /* a size that leads nowhere */
        {40, 7},              /* shorter than a header */
        {40, 48},             /* longer than what was written */
        {4, 8},               /* not even a header */
        {DATA_BYTES * 2, 40}, /* more than the ring holds */
        {UINT64_MAX - 7, 40}, /* tail beyond head */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, cases[i].size};
        memcpy(data, &header, sizeof header);
        ring = (struct ring){data, DATA_BYTES, 0, cases[i].head, scratch};
        damaged = false;
        assert_false(ring__next(&ring, &bytes, &size, &damaged));
        assert_true(damaged);
        assert_true(ring.tail == ring.head);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_decoded),
        cmocka_unit_test(maps_are_decoded),
        cmocka_unit_test(tasks_are_decoded),
        cmocka_unit_test(only_the_name_of_an_exec_counts),
        cmocka_unit_test(losses_are_decoded),
        cmocka_unit_test(unknown_kinds_are_passed_over),
        cmocka_unit_test(no_prefix_is_read_past_its_end),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(records_around_the_end_are_joined),
        cmocka_unit_test(damaged_rings_are_given_up),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
