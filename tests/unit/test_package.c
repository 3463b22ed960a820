#include "symbol/package.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* What a distribution has installed: lists in a directory of the test's own. */
static void write_list(const char *directory, const char *name, const char *lines)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(lines, out);
    fclose(out);
}

static int make_lists(void **state)
{
    char *directory = strdup("/tmp/heurt-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    *state = directory;
    write_list(directory, "server.list", "/.\n/usr\n/usr/bin\n/usr/bin/server\n");
    write_list(directory, "server.postinst", "/usr/bin/script\n");
    write_list(directory, "tool3.11.list", "/usr/bin/tool3.11");
    write_list(directory, "libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6");
    write_list(directory, "libc6x.list", "/usr/lib/libc.a");
    write_list(directory, "liba1:amd64.list", "/.\n/lib/liba.so.1\n/usr/lib/liba.so.1.2\n");
    return 0;
}

static int remove_lists(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    free(*state);
    return system(command);
}

static void expect(void **state, const char *path, const char *expected)
{
    char *package = package__with_names(*state, path);
    if (expected)
        assert_string_equal(package, expected);
    else
        assert_null(package);
    free(package);
}

static void finds_the_package_of_a_file(void **state)
{
    expect(state, "/usr/bin/server", "server-dbgsym");
    expect(state, "/usr/bin/tool3.11", "tool3.11-dbgsym");
    expect(state, "/usr/lib/liba.so.1.2", "liba1-dbgsym");
    expect(state, "/usr/lib/liba.so.1", "liba1-dbgsym"); /* /lib leads there */
    expect(state, "/lib/liba.so.1.2", "liba1-dbgsym");
    expect(state, "/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg");
    expect(state, "/usr/lib/libc.a", "libc6x-dbgsym");
}

static void knows_none_of_other_files(void **state)
{
    expect(state, "/usr/bin/serve", NULL);
    expect(state, "/usr/bin/script", NULL);
    expect(state, "/opt/usr/bin/server", NULL);
    expect(state, "server", NULL);
    expect(state, "", NULL);
    assert_null(package__with_names("/nowhere", "/usr/bin/server"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_package_of_a_file),
                                       cmocka_unit_test(knows_none_of_other_files)};
    return cmocka_run_group_tests(tests, make_lists, remove_lists);
}
