#include "symbol/binary.h"

#include "base/memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#define ORDINARY 12345

/* Every test has an empty directory of its own and works in it. */
static int enter_directory(void **state)
{
    char *path = strdup("/tmp/heurt-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    assert_int_equal(chmod(path, 0755), 0);
    *state = path;
    return chdir(path);
}

static int leave_directory(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    assert_int_equal(chdir("/"), 0);
    free(*state);
    return system(command) ? -1 : 0;
}

static void write_file(const char *path, const void *bytes, size_t size, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void copy_file(const char *from, const char *to, mode_t mode)
{
    static char bytes[4 << 20];
    FILE *file = fopen(from, "r");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    write_file(to, bytes, size, mode);
}

static struct binary inspected(const char *name)
{
    struct binary binary;
    struct error error = {""};
    if (binary__inspect(name, &binary, &error) != 0)
        fail_msg("%s", error.text);
    return binary;
}

static void fails(const char *name, int code, const char *words)
{
    struct binary binary;
    struct error error = {""};
    assert_int_equal(binary__inspect(name, &binary, &error), code);
    if (!strstr(error.text, words) || !strstr(error.text, name))
        fail_msg("\"%s\" lacks \"%s\" or the name", error.text, words);
}

static void dynamic_programs_are_recordable(void **state)
{
    (void)state;
    struct error error;
    struct binary binary = inspected("/proc/self/exe");
    assert_true(binary.is_elf && binary.is_64bit_x86 && binary.has_interpreter);
    assert_true(binary.has_symbols && binary.has_debug_info);
    assert_false(binary.is_privileged);
    assert_true(binary__is_recordable(&binary, &error));
    binary__free(&binary);
}

static void static_programs_are_told(void **state)
{
    (void)state;
    struct error error = {""};
    struct binary binary = inspected(PROGRAMS "/symbol_static");
    assert_true(binary.is_elf && binary.is_64bit_x86);
    assert_false(binary.has_interpreter);
    assert_false(binary__is_recordable(&binary, &error));
    assert_non_null(strstr(error.text, "statically linked"));
    binary__free(&binary);
}

static void debug_files_are_found_by_link(void **state)
{
    (void)state;
    struct binary split = inspected(PROGRAMS "/symbol_split.so");
    assert_false(split.has_symbols);
    assert_true(split.has_debug_info);
    binary__free(&split);
    struct binary stripped = inspected(PROGRAMS "/symbol_stripped.so");
    assert_false(stripped.has_symbols);
    assert_false(stripped.has_debug_info);
    binary__free(&stripped);
}

static void path_is_searched_as_execvp_does(void **state)
{
    (void)state;
    char *old = strdup(getenv("PATH"));
    assert_int_equal(mkdir("a", 0755), 0);
    assert_int_equal(mkdir("b", 0755), 0);
    assert_int_equal(mkdir("a/program", 0755), 0);
    write_file("b/program", "#!/bin/sh\n", 10, 0755);
    write_file("a/forbidden", "#!/bin/sh\n", 10, 0644);
    write_file("here", "#!/bin/sh\n", 10, 0755);
    setenv("PATH", "missing:a:b:", 1);
    struct binary binary = inspected("program");
    assert_string_equal(binary.path, "b/program");
    assert_false(binary.is_elf);
    assert_true(binary__is_recordable(&binary, NULL));
    binary__free(&binary);
    binary = inspected("here");
    assert_string_equal(binary.path, "./here");
    binary__free(&binary);
    fails("forbidden", -EACCES, "may not be executed");
    fails("nowhere", -ENOENT, "no such program along PATH");
    setenv("PATH", old, 1);
    free(old);
}

static void what_cannot_run_gets_a_sentence(void **state)
{
    (void)state;
    write_file("empty", "", 0, 0755);
    write_file("plain", "#!/bin/sh\n", 10, 0644);
    write_file("cut", ELFMAG "\2\1\1", 7, 0755);
    assert_int_equal(mkdir("directory", 0755), 0);
    fails("./missing", -ENOENT, "no such file");
    fails("./plain/missing", -ENOENT, "no such file");
    fails("./plain", -EACCES, "may not be executed");
    fails("./directory", -EACCES, "is a directory");
    fails("./empty", -ENOEXEC, "is empty");
    fails("./cut", -ENOEXEC, "damaged");
    fails("", -ENOENT, "empty");
}

static void other_machines_are_told(void **state)
{
    (void)state;
    Elf32_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_386,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header};
    struct error error = {""};
    write_file("old", &header, sizeof header, 0755);
    struct binary binary = inspected("./old");
    assert_true(binary.is_elf);
    assert_false(binary.is_64bit_x86);
    assert_false(binary__is_recordable(&binary, &error));
    assert_non_null(strstr(error.text, "32-bit"));
    binary__free(&binary);
}

/* is_privileged as a user other than root sees it: 0 or 1. */
static int privileged_for_ordinary_user(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        struct binary binary;
        if (setgid(ORDINARY) != 0 || setuid(ORDINARY) != 0 ||
            binary__inspect(path, &binary, NULL) != 0)
            _exit(2);
        _exit(binary.is_privileged);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool privileged_for_root(const char *path)
{
    struct binary binary = inspected(path);
    bool is_privileged = binary.is_privileged;
    binary__free(&binary);
    return is_privileged;
}

static void set_user_and_group_bits_count_for_others_only(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    copy_file(PROGRAMS "/symbol_fixed", "p", 0755);
    assert_false(privileged_for_root("./p"));
    assert_int_equal(privileged_for_ordinary_user("./p"), 0);
    assert_int_equal(chmod("p", 04755), 0);
    assert_false(privileged_for_root("./p"));
    assert_int_equal(privileged_for_ordinary_user("./p"), 1);
    assert_int_equal(chown("p", ORDINARY, ORDINARY), 0);
    assert_int_equal(chmod("p", 04755), 0);
    assert_true(privileged_for_root("./p"));
    assert_int_equal(privileged_for_ordinary_user("./p"), 0);
    assert_int_equal(chmod("p", 02755), 0);
    assert_true(privileged_for_root("./p"));
    assert_int_equal(privileged_for_ordinary_user("./p"), 0);
    assert_int_equal(chmod("p", 02745), 0); /* without group execution: no setgid */
    assert_false(privileged_for_root("./p"));
}

static void file_capabilities_count_for_others_only(void **state)
{
    (void)state;
    copy_file(PROGRAMS "/symbol_fixed", "p", 0755);
    struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2,
                                .data = {{.permitted = 1u << CAP_NET_RAW}}};
    if (geteuid() != 0 || setxattr("p", "security.capability", &data, sizeof data, 0) != 0)
        skip();
    assert_false(privileged_for_root("./p"));
    assert_int_equal(privileged_for_ordinary_user("./p"), 1);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dynamic_programs_are_recordable),
        cmocka_unit_test(static_programs_are_told),
        cmocka_unit_test(debug_files_are_found_by_link),
        IN_DIRECTORY(path_is_searched_as_execvp_does),
        IN_DIRECTORY(what_cannot_run_gets_a_sentence),
        IN_DIRECTORY(other_machines_are_told),
        IN_DIRECTORY(set_user_and_group_bits_count_for_others_only),
        IN_DIRECTORY(file_capabilities_count_for_others_only),
    };
    return cmocka_run_group_tests_name("binary", tests, NULL, NULL);
}
