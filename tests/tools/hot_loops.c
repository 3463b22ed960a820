/* hot_loops CMD [ARG…]: runs the command and samples it, all of it, then says for each loop in
 * which at least 5 % of its CPU time in files was spent whether it can be marked. For `make
 * bench-loops`.
 *
 *     marked 37.2 % /usr/bin/python3.11 +0x1234
 *     not 5.1 % /usr/lib/libfoo.so +0x42: reason
 *     loops 4 marked 3
 */
#include "base/memory.h"
#include "patch/function_info.h"
#include "patch/loops.h"
#include "recorder/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAST_PERCENT 5.0

static unsigned found, marked;
static uint64_t all_ns;

/* Waits for a byte, then becomes the command. */
static pid_t start(char **command, int *go)
{
    int pipes[2];
    if (pipe(pipes) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        if (read(pipes[0], &byte, 1) == 1)
            execvp(command[0], command);
        _exit(127);
    }
    *go = pipes[1];
    return pid;
}

static void tell(const struct loop *loop, const char *path, uint64_t weight_ns)
{
    double percent = 100.0 * (double)weight_ns / (double)all_ns;
    if (percent < LEAST_PERCENT)
        return;
    found++;
    marked += !loop->fault;
    printf("%s %.1f %% %s +0x%llx%s%s\n", loop->fault ? "not" : "marked", percent, path,
           (unsigned long long)loop->address, loop->fault ? ": " : "",
           loop->fault ? loop_fault__text(loop->fault) : "");
}

static void look_at(struct function_info *info, const struct code_function *code, const char *path,
                    const struct vec *places)
{
    const struct code_file *file = function_info__file(info);
    struct heurt_plan entry = {0};
    struct info_function *function =
        VEC_AT(&info->functions, struct info_function,
               code - (const struct code_function *)file->functions.items);
    bool has_entry = function_info__move(info, function, &entry) == MOVE_DONE;
    if (!info->map)
        info->map = code_map__make(file);
    struct loops loops;
    if (loops__find(&loops, file, info->map, code, has_entry ? &entry : NULL)) {
        uint64_t *weights_ns = memory__zeroed(loops.items.count + 1, sizeof *weights_ns);
        VEC_EACH (place, places, const struct hot_place) {
            if (strcmp(place->path, path) != 0 || place->address < code->start ||
                place->address >= code->end)
                continue;
            uint32_t at = loops__at(&loops, place->address);
            for (; at != LOOP_NONE; at = VEC_AT(&loops.items, struct loop, at)->parent)
                weights_ns[at] += place->weight_ns;
        }
        for (size_t i = 0; i < loops.items.count; i++)
            tell(VEC_AT(&loops.items, struct loop, i), path, weights_ns[i]);
        free(weights_ns);
    }
    loops__free(&loops);
}

static bool is_seen(const struct vec *seen, const void *what)
{
    VEC_EACH (one, seen, const void *)
        if (*one == what)
            return true;
    return false;
}

static void look_at_file(const char *path, const struct vec *places)
{
    struct function_info *info;
    struct error error;
    struct vec seen = VEC_OF(const void *);
    if (function_info__open(path, NULL, 0, NULL, &info, &error) < 0)
        return;
    VEC_EACH (place, places, const struct hot_place) {
        const struct code_function *code =
            strcmp(place->path, path) == 0
                ? code_file__function(function_info__file(info), place->address)
                : NULL;
        const void *key = code;
        if (!code || is_seen(&seen, key))
            continue;
        vec__push(&seen, &key);
        look_at(info, code, path, places);
    }
    vec__free(&seen);
    function_info__close(info);
}

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "hot_loops: no %zu bytes of memory are left\n", bytes);
    exit(1);
}

int main(int argc, char **argv)
{
    struct selection *choice = NULL;
    struct error error;
    int go, status;
    if (argc < 2)
        return 2;
    pid_t pid = start(argv + 1, &go);
    if (selection__open(pid, UINT64_MAX, NULL, &choice, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return 77;
    }
    if (write(go, "", 1) != 1)
        return 1;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        selection__look(choice);
        usleep(5000);
    }
    selection__look(choice);
    struct chosen chosen = selection__make(choice); /* opens the files */
    struct vec places = selection__places(choice), seen = VEC_OF(const void *);
    VEC_EACH (place, &places, const struct hot_place)
        all_ns += place->weight_ns;
    VEC_EACH (place, &places, const struct hot_place) {
        const void *path = place->path;
        if (is_seen(&seen, path))
            continue;
        vec__push(&seen, &path);
        look_at_file(place->path, &places);
    }
    printf("loops %u marked %u\n", found, marked);
    vec__free(&seen);
    vec__free(&places);
    chosen__free(&chosen);
    selection__close(choice);
    return 0;
}
