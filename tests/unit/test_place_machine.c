/* Machines, as they are described. */
#include "place/place_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int read_of(const char *text, struct place_machine *machine, struct error *error)
{
    char path[] = "/tmp/machine_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int code = place_machine__read(path, machine, error);
    unlink(path);
    return code;
}

static void a_text_describes_a_machine(void **state)
{
    struct place_machine machine;
    struct error error;
    (void)state;
    assert_int_equal(read_of("# two\nnodes 2\n\nlatency 80 130\nlatency 140 85 # far\n"
                             "controller 32\nlink 16\n",
                             &machine, &error),
                     0);
    assert_int_equal(machine.nodes, 2);
    assert_float_equal(machine.latency_ns[1], 130, 0);
    assert_float_equal(machine.latency_ns[2], 140, 0);
    assert_float_equal(machine.controller_ns, 2, 1e-12);
    assert_float_equal(machine.link_ns, 4, 1e-12);
    assert_true(machine.tells_latency && machine.tells_bandwidth);
    assert_int_equal(
        read_of("nodes 2\ndistance 10 21\ndistance 21 10\nlocal 100", &machine, &error), 0);
    assert_float_equal(machine.latency_ns[1], 210, 1e-9);
    assert_false(machine.tells_bandwidth);
    assert_int_equal(read_of("nodes 4\n", &machine, &error), 0);
    assert_float_equal(machine.latency_ns[1], 180, 1e-9);
    assert_false(machine.tells_latency);
}

static void what_describes_none_is_said(void **state)
{
    static const char *const texts[] = {
        "",
        "nodes 0\n",
        "nodes 65\n",
        "nodes 2.5\n",
        "nodes 2\nnodes 2\n",
        "latency 1 2\nnodes 2\n",
        "nodes 2\nlatency 80 130\n",
        "nodes 2\nlatency 80\nlatency 80\n",
        "nodes 1\nlatency 80 90\n",
        "nodes 1\nlatency 80\nlatency 80\n",
        "nodes 1\nlatency 80\ndistance 10\n",
        "nodes 1\nlatency -1\n",
        "nodes 1\nlatency 1e99\n",
        "nodes 1\ncontroller\n",
        "nodes 1\ncontroller 0\n",
        "nodes 1\ncontroller 5x\n",
        "nodes 1\nspeed 5\n",
        "nodes 1\nn 5\n",
        "<topology>",
        "<?xml version=\"1.0\"?>\n<html/>",
    };
    struct place_machine machine;
    (void)state;
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {""};
        int code = read_of(texts[i], &machine, &error);
        if (code >= 0 || !error.text[0])
            print_error("text %zu\n", i);
        assert_true(code < 0);
        assert_true(error.text[0]);
    }
    struct error error = {""};
    assert_true(place_machine__read("/nowhere/machine", &machine, &error) < 0);
    assert_non_null(strstr(error.text, "/nowhere/machine"));
    assert_true(place_machine__read("/", &machine, &error) < 0);
}

static void a_trace_describes_its_machine(void **state)
{
    (void)state;
    struct machine_nodes nodes = machine_nodes__parse("0:0-1;1:2-3", "10 21;21 10");
    struct place_machine machine = place_machine__of(&nodes);
    assert_int_equal(machine.nodes, 2);
    assert_float_equal(machine.latency_ns[0], PLACE_LOCAL_NS, 1e-9);
    assert_float_equal(machine.latency_ns[1], 2.1 * PLACE_LOCAL_NS, 1e-9);
    machine_nodes__free(&nodes);
}

static void hwloc_describes_one(void **state)
{
    static const char xml[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
        "<topology version=\"2.0\">\n"
        "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
        "allowed_cpuset=\"0x3\" nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" "
        "gp_index=\"1\">\n"
        "<object type=\"Package\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
        "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"2\">\n"
        "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
        "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"3\" local_memory=\"1000000\"/>\n"
        "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
        "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"4\"/>\n</object>\n"
        "<object type=\"Package\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" "
        "nodeset=\"0x2\" complete_nodeset=\"0x2\" gp_index=\"5\">\n"
        "<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" "
        "nodeset=\"0x2\" complete_nodeset=\"0x2\" gp_index=\"6\" local_memory=\"1000000\"/>\n"
        "<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" "
        "nodeset=\"0x2\" complete_nodeset=\"0x2\" gp_index=\"7\"/>\n</object>\n</object>\n"
        "<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" name=\"NUMALatency\" "
        "indexing=\"os\">\n<indexes length=\"4\">0 1 </indexes>\n"
        "<u64values length=\"12\">10 32 32 10 </u64values>\n</distances2>\n</topology>\n";
    struct place_machine machine;
    struct error error;
    (void)state;
    assert_int_equal(read_of(xml, &machine, &error), 0);
    assert_int_equal(machine.nodes, 2);
    assert_float_equal(machine.latency_ns[1], 3.2 * PLACE_LOCAL_NS, 1e-9);
    assert_float_equal(machine.latency_ns[3], PLACE_LOCAL_NS, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_describes_a_machine),
        cmocka_unit_test(what_describes_none_is_said),
        cmocka_unit_test(a_trace_describes_its_machine),
        cmocka_unit_test(hwloc_describes_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
