#include "cmd/check_program.h"

#include "base/memory.h"
#include "base/text.h"
#include "kernel/facilities.h"
#include "symbol/binary.h"
#include "symbol/functions.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_row(struct vec *rows, const char *key, const char *name, const char *buys,
                    enum facility_state state, char *found, const char *enable)
{
    struct facility row = {.key = key,
                           .name = name,
                           .buys = buys,
                           .state = state,
                           .found = found,
                           .enable = memory__text(enable)};
    vec__push(rows, &row);
}

static void judge_recordable(const struct binary *binary, struct vec *rows)
{
    struct error error;
    const char *buys = "the runtime can be loaded into it";
    if (!binary__is_recordable(binary, &error))
        add_row(rows, "recordable", "recordable", buys, FACILITY_NO, memory__text(error.text),
                NULL);
    else if (!binary->is_elf)
        add_row(rows, "recordable", "recordable", buys, FACILITY_PARTLY,
                memory__text("no ELF file, perhaps a script: its interpreter is what is recorded"),
                NULL);
    else
        add_row(rows, "recordable", "recordable", buys, FACILITY_YES,
                memory__text("64-bit ELF, dynamically linked, without privileges"), NULL);
    VEC_AT(rows, struct facility, rows->count - 1)->is_required = true;
}

static void judge_names(const struct binary *binary, const struct module_functions *functions,
                        struct vec *rows)
{
    size_t names = module_functions__count(functions);
    enum facility_state state = binary->has_symbols ? FACILITY_YES
                                : names             ? FACILITY_PARTLY
                                                    : FACILITY_NO;
    add_row(rows, "symbols", "symbols", "functions chosen by name (-f)", state,
            memory__format("%zu functions with a name%s", names,
                           binary->has_symbols ? "" : ", from other tables: it is stripped"),
            state == FACILITY_YES ? NULL : "do not strip it, or install its -dbgsym package");
    add_row(rows, "debug_info", "debug info", "source lines, inlined functions, argument names",
            binary->has_debug_info ? FACILITY_YES : FACILITY_NO,
            memory__text(binary->has_debug_info ? "found" : "none found"),
            binary->has_debug_info ? NULL : "build it with -g, or install its -dbgsym package");
}

static void judge_code(const struct module_functions *functions, struct vec *rows)
{
    struct module_traits traits = module_functions__traits(functions);
    add_row(rows, "unwind", "unwind table", "call stacks",
            traits.has_unwind_table ? FACILITY_YES : FACILITY_NO,
            traits.has_unwind_table ? memory__format("%zu entries", traits.unwound_functions)
                                    : memory__text("none: stacks end here"),
            traits.has_unwind_table ? NULL : "build it with -fasynchronous-unwind-tables");
    add_row(rows, "position", "position", "either can be recorded", FACILITY_YES,
            memory__text(traits.is_position_independent ? "independent (PIE)" : "fixed"), NULL);
    add_row(rows, "endbr64", "endbr64", "either can be recorded", FACILITY_YES,
            memory__text(traits.has_endbr64 ? "functions begin with endbr64, which is kept"
                                            : "not built for indirect branch tracking"),
            NULL);
}

/* What the loader that the program names would load, one path a line; it does not run the program.
 * NULL when it cannot be asked. */
static FILE *ask_loader(const char *path, pid_t *pid)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    char *arguments[] = {"/lib64/ld-linux-x86-64.so.2", "--list", (char *)path, NULL};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int code = posix_spawn(pid, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *answer = code ? NULL : fdopen(ends[0], "r");
    if (!answer)
        close(ends[0]);
    return answer;
}

/* "	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x…)": the path in place, or NULL. */
static char *path_of_line(char *line)
{
    char *path = strstr(line, "=> /");
    if (!path)
        return NULL;
    path += strlen("=> ");
    char *end = strstr(path, " (0x");
    if (end)
        *end = 0;
    return path;
}

struct libraries {
    unsigned count, nameless, without_unwind, missing;
    char *nameless_list; /* their base names */
};

static void look_at_library(const char *path, struct libraries *libraries)
{
    struct module_functions *functions;
    libraries->count++;
    if (module_functions__open(path, &functions, NULL) < 0)
        return;
    if (module_functions__count(functions) == 0) {
        const char *slash = strrchr(path, '/');
        libraries->nameless_list = text__join(libraries->nameless_list, ", ", slash + 1);
        libraries->nameless++;
    }
    libraries->without_unwind += !module_functions__traits(functions).has_unwind_table;
    module_functions__close(functions);
}

static void read_libraries(FILE *answer, struct libraries *libraries)
{
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, answer) >= 0) {
        char *path = path_of_line(line);
        if (path)
            look_at_library(path, libraries);
        else if (strstr(line, "=> not found"))
            libraries->missing++;
    }
    free(line);
}

static void judge_libraries(const char *path, struct vec *rows)
{
    struct libraries libraries = {0};
    pid_t pid;
    FILE *answer = ask_loader(path, &pid);
    if (!answer)
        return;
    read_libraries(answer, &libraries);
    fclose(answer);
    waitpid(pid, NULL, 0);
    enum facility_state state = libraries.missing                               ? FACILITY_NO
                                : libraries.nameless + libraries.without_unwind ? FACILITY_PARTLY
                                                                                : FACILITY_YES;
    char *found = memory__format(
        "%u%s%s%s", libraries.count, libraries.missing ? ", and some that are missing" : "",
        libraries.nameless ? "; no names in " : "", libraries.nameless_list ?: "");
    add_row(rows, "libraries", "libraries", "their functions by name, stacks through them", state,
            found, libraries.nameless ? "install their -dbgsym packages" : NULL);
    free(libraries.nameless_list);
}

int program__judge(const char *name, struct vec *rows, char **path, struct error *error)
{
    struct binary binary;
    int code = binary__inspect(name, &binary, error);
    if (code < 0)
        return code;
    *path = memory__text(binary.path);
    judge_recordable(&binary, rows);
    struct module_functions *functions;
    if (binary.is_elf && module_functions__open(binary.path, &functions, NULL) == 0) {
        judge_names(&binary, functions, rows);
        judge_code(functions, rows);
        module_functions__close(functions);
        if (binary.is_64bit_x86 && binary.has_interpreter)
            judge_libraries(binary.path, rows);
    }
    binary__free(&binary);
    return 0;
}
