#include "base/memory.h"
#include "symbol/functions.h"

#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct error error;

/* What the tests look for, in this very program. */
__attribute__((noinline)) static int local_function(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

int global_function(int x);
__attribute__((noinline)) int global_function(int x)
{
    __asm__ volatile("" : "+r"(x));
    return local_function(x) + 2;
}
extern __typeof(global_function) ___global_alias __attribute__((alias("global_function")));

static int take_bias(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(uint64_t *)context = info->dlpi_addr;
    return 1; /* the program comes first */
}

static uint64_t file_address(int (*function)(int))
{
    uint64_t bias = 0;
    dl_iterate_phdr(take_bias, &bias);
    return (uint64_t)(uintptr_t)function - bias;
}

static struct module_functions *open_file(const char *path)
{
    struct module_functions *functions;
    assert_int_equal(module_functions__open(path, &functions, &error), 0);
    return functions;
}

static void functions_are_found_from_any_byte(void **state)
{
    (void)state;
    struct module_functions *functions = open_file("/proc/self/exe");
    uint64_t address = file_address(local_function), start = 0;
    assert_string_equal(module_functions__find(functions, address, &start), "local_function");
    assert_true(start == address);
    assert_string_equal(module_functions__find(functions, address + 2, &start), "local_function");
    assert_true(start == address);
    const char *before = module_functions__find(functions, address - 1, &start);
    assert_true(!before || strcmp(before, "local_function") != 0);
    assert_string_equal(module_functions__section(functions, address), ".text");
    assert_true(module_functions__count(functions) > 5);
    module_functions__close(functions);
}

static void the_plainest_of_several_names_is_taken(void **state)
{
    (void)state;
    struct module_functions *functions = open_file("/proc/self/exe");
    uint64_t start;
    assert_string_equal(module_functions__find(functions, file_address(global_function), &start),
                        "global_function");
    module_functions__close(functions);
}

/* Offsets in the file as the kernel reports them, through /proc/self/maps. */
static void offsets_become_addresses(void **state)
{
    (void)state;
    unsigned long long first, last, offset, wanted = (uintptr_t)local_function;
    char line[4096], rights[5];
    uint64_t address = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    struct module_functions *functions = open_file("/proc/self/exe");
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %4s %llx", &first, &last, rights, &offset) == 4 &&
            wanted >= first && wanted < last)
            break;
    fclose(maps);
    assert_true(module_functions__address(functions, wanted - first + offset, &address));
    assert_true(address == file_address(local_function));
    assert_false(module_functions__address(functions, 1ull << 40, &address));
    module_functions__close(functions);
}

/* Without names the unwind table still tells where functions begin. */
static void stripped_files_keep_beginnings(void **state)
{
    (void)state;
    char path[] = "/tmp/heurt-functions-XXXXXX", self[4096];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(bytes > 0);
    self[bytes] = 0;
    char *command = memory__format("strip -o %s '%s'", path, self);
    assert_int_equal(system(command), 0);
    free(command);
    struct module_functions *functions = open_file(path);
    unlink(path);
    uint64_t address = file_address(local_function), start = 0;
    assert_null(module_functions__find(functions, address + 1, &start));
    assert_true(start == address);
    struct module_traits traits = module_functions__traits(functions);
    assert_true(traits.has_unwind_table);
    assert_true(traits.unwound_functions > 5);
    assert_null(module_functions__find(functions, 1ull << 40, &start)); /* nowhere */
    assert_true(start == 1ull << 40);
    module_functions__close(functions);
}

static void what_is_no_module_is_refused(void **state)
{
    (void)state;
    struct module_functions *functions;
    assert_int_equal(module_functions__open("/no/such/file", &functions, &error), -ENOENT);
    assert_null(functions);
    assert_int_equal(module_functions__open("/dev/null", &functions, &error), -EINVAL);
    assert_int_equal(module_functions__open("/etc/passwd", &functions, &error), -ENOEXEC);
    assert_non_null(strstr(error.text, "/etc/passwd"));
}

static void libraries_tell_their_name(void **state)
{
    (void)state;
    struct module_functions *functions = open_file("/lib/x86_64-linux-gnu/libc.so.6");
    uint64_t start;
    assert_string_equal(module_functions__soname(functions), "libc.so.6");
    assert_true(module_functions__traits(functions).is_position_independent);
    assert_null(module_functions__find(functions, 0, &start));
    module_functions__close(functions);
    functions = open_file("/proc/self/exe");
    assert_null(module_functions__soname(functions));
    module_functions__close(functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_from_any_byte),
        cmocka_unit_test(the_plainest_of_several_names_is_taken),
        cmocka_unit_test(offsets_become_addresses),
        cmocka_unit_test(stripped_files_keep_beginnings),
        cmocka_unit_test(what_is_no_module_is_refused),
        cmocka_unit_test(libraries_tell_their_name),
    };
    return ___global_alias(1) == 6 ? cmocka_run_group_tests_name("functions", tests, NULL, NULL)
                                   : 1;
}
