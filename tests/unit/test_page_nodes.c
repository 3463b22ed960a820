/* What the kernel's files say of nodes and pages, and policies that libheurt-place.so reads. */
#include "kernel/numa_nodes.h"
#include "kernel/page_nodes.h"
#include "place/place_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- files of the kernel --------------------------------------------------------------------- */

static int enter_directory(void **state)
{
    char path[] = "/tmp/heurt-nodes-XXXXXX";
    assert_non_null(mkdtemp(path));
    *state = strdup(path);
    return chdir(path);
}

static int leave_directory(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    free(*state);
    return chdir("/") || system(command) ? -1 : 0;
}

static void put(const char *path, const char *text)
{
    char command[256];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s)\"", path);
    assert_int_equal(system(command), 0);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

#define NODE "sys/devices/system/node/node"

static void nodes_are_read_by_their_numbers(void **state)
{
    struct numa_nodes nodes;
    put(NODE "10/cpulist", "\n");
    put(NODE "10/distance", "20 30 10\n");
    put(NODE "0/cpulist", "0-1\n");
    put(NODE "0/distance", "10 20 20\n");
    put(NODE "2/cpulist", "2-3\n");
    put(NODE "2/distance", "20 10 30\n");
    put("sys/devices/system/node/nodes", "");
    put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("proc/sys/kernel/numa_balancing", "1\n");
    put("sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "64\n");
    numa_nodes__read(*state, &nodes);
    assert_string_equal(nodes.nodes, "0:0-1;2:2-3;10:");
    assert_string_equal(nodes.distances, "10 20 20;20 10 30;20 30 10");
    assert_string_equal(nodes.huge_pages, "madvise");
    assert_string_equal(nodes.balancing, "1");
    assert_int_equal(nodes.line_bytes, 64);
    numa_nodes__free(&nodes);
}

static void what_is_not_told_is_not_known(void **state)
{
    struct numa_nodes nodes;
    numa_nodes__read(*state, &nodes);
    assert_null(nodes.nodes);
    assert_null(nodes.distances);
    assert_null(nodes.balancing);
    assert_null(nodes.huge_pages);
    assert_int_equal(nodes.line_bytes, 0);
    numa_nodes__free(&nodes);
    put(NODE "0/cpulist", "0\n"); /* a container may hide the distances */
    numa_nodes__read(*state, &nodes);
    assert_string_equal(nodes.nodes, "0:0");
    assert_null(nodes.distances);
    numa_nodes__free(&nodes);
}

static void mappings_on_one_node_tell_their_pages(void **state)
{
    (void)state;
    const uint64_t pages[] = {0x1000, 0x400000, 0x401000, 0x7f0000001000, 0x7f0000200000};
    int16_t nodes[5];
    put("numa_maps", "00400000 default file=/bin/app mapped=2 N1=2 kernelpagesize_kB=4\n"
                     "7f0000000000 default anon=4 dirty=4 N0=3 N1=1 kernelpagesize_kB=4\n"
                     "7f0000200000 interleave:0-3 anon=1 dirty=1 N3=1 kernelpagesize_kB=4\n");
    assert_true(page_nodes__from_maps("numa_maps", pages, 5, nodes));
    assert_int_equal(nodes[0], PAGE_NODE_UNKNOWN);
    assert_int_equal(nodes[1], 1);
    assert_int_equal(nodes[2], 1);
    assert_int_equal(nodes[3], PAGE_NODE_UNKNOWN);
    assert_int_equal(nodes[4], 3);
    assert_false(page_nodes__from_maps("not_there", pages, 5, nodes));
    assert_int_equal(nodes[1], PAGE_NODE_UNKNOWN);
}

static void mappings_of_huge_pages_are_told(void **state)
{
    (void)state;
    const uint64_t pages[] = {0x400000, 0x600000, 0x7f0000001000};
    bool are_huge[3];
    put("smaps", "00400000-00500000 rw-p 00000000 00:00 0\nRss:   1024 kB\nAnonHugePages: 0 kB\n"
                 "00600000-00a00000 rw-p 00000000 00:00 0\nRss: 4096 kB\nAnonHugePages:  4096 kB\n"
                 "7f0000000000-7f0000800000 rw-p 00000000 00:00 0\nRss: 8192 kB\n"
                 "AnonHugePages: 2048 kB\n");
    assert_true(page_nodes__find_huge("smaps", pages, 3, are_huge));
    assert_false(are_huge[0]);
    assert_true(are_huge[1]);
    assert_false(are_huge[2]); /* a quarter of it */
    put("smaps", "");          /* as of a process that has ended */
    assert_false(page_nodes__find_huge("smaps", pages, 3, are_huge));
    assert_false(page_nodes__find_huge("not_there", pages, 3, are_huge));
}

/* One's own page: of a machine with one node, too. */
static void the_kernel_tells_of_pages_that_are_there(void **state)
{
    (void)state;
    static char here[8192];
    here[4096] = 1;
    uint64_t page = ((uint64_t)here + 4095) & ~4095ull;
    int16_t node = -2;
    if (!page_nodes__ask(getpid(), &page, 1, &node))
        skip();
    assert_true(node >= PAGE_NODE_UNKNOWN);
}

/* ---- policies -------------------------------------------------------------------------------- */

static struct place_policy parse(const char *text)
{
    static char copy[1024];
    snprintf(copy, sizeof copy, "%s", text);
    return place_policy__parse(copy, strlen(copy));
}

static void a_policy_stands_behind_a_script(void **state)
{
    (void)state;
    struct place_policy policy = parse("#!/bin/sh\nexec \"$@\"\n\nheurt-place 1\n# all of it\n"
                                       "site 00ffa1+0x1f20 4096-8192 parts 16 0=1 8=0\n"
                                       "data 0a+0x10 4096 interleave small\n"
                                       "site 0a+0x12 1-2 each 0 1 1 small\n"
                                       "site 0a+0x13 1-2 cycle 3 2\n");
    assert_int_equal(policy.wrong_line, 0);
    assert_int_equal(policy.count, 4);
    const struct place_rule *rule = policy.rules;
    assert_int_equal(rule->kind, RULE_SITE);
    assert_int_equal(rule->build_id_bytes, 3);
    assert_memory_equal(rule->build_id, "\0\xff\xa1", 3);
    assert_int_equal(rule->offset, 0x1f20);
    assert_int_equal(rule->least_bytes, 4096);
    assert_int_equal(rule->most_bytes, 8192);
    assert_int_equal(rule->policy, POLICY_PARTS);
    assert_int_equal(rule->pages, 16);
    assert_int_equal(rule->part_count, 2);
    assert_int_equal(rule->parts[1].page, 8);
    assert_int_equal(rule->parts[0].node, 1);
    assert_false(rule->small);
    assert_int_equal(rule[1].kind, RULE_DATA);
    assert_int_equal(rule[1].policy, POLICY_INTERLEAVE);
    assert_true(rule[1].small);
    assert_int_equal(rule[2].policy, POLICY_EACH);
    assert_int_equal(rule[2].part_count, 3);
    assert_true(rule[2].small);
    assert_int_equal(rule[3].policy, POLICY_CYCLE);
    assert_int_equal(rule[3].parts[0].node, 3);
}

static void what_is_no_policy_is_refused_with_its_line(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "site",
        "sites 0a+0x10 1-2 interleave",
        "site 0a 1-2 interleave",
        "site 0+0x10 1-2 interleave",
        "site 0a+0x 1-2 interleave",
        "site +0x1 1-2 interleave",
        "site 0a+0x10 1 interleave",
        "site 0a+0x10 1-2",
        "site 0a+0x10 1-2 interleave 1",
        "site 0a+0x10 1-2 parts 0 0=1",
        "site 0a+0x10 1-2 parts 16",
        "site 0a+0x10 1-2 parts 16 0=1 0=2",
        "site 0a+0x10 1-2 parts 16 0=99999",
        "site 0a+0x10 1-99999999999999999999999 interleave",
        "site 0a+0x10 1-2 each",
        "site 0a+0x10 1-2 each x",
        "data 0a+0x10 1-2 interleave",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[256];
        snprintf(text, sizeof text, "heurt-place 1\nsite 0a+0x10 1-2 interleave\n%s\n", lines[i]);
        struct place_policy policy = parse(text);
        assert_int_equal(policy.wrong_line, 3);
        assert_int_equal(policy.count, 0);
    }
    assert_true(parse("").wrong_line);
    assert_true(parse("heurt-place 2\n").wrong_line);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(nodes_are_read_by_their_numbers),
        IN_DIRECTORY(what_is_not_told_is_not_known),
        IN_DIRECTORY(mappings_on_one_node_tell_their_pages),
        IN_DIRECTORY(mappings_of_huge_pages_are_told),
        cmocka_unit_test(the_kernel_tells_of_pages_that_are_there),
        cmocka_unit_test(a_policy_stands_behind_a_script),
        cmocka_unit_test(what_is_no_policy_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
