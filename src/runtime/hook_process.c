/* hook_process.c: new program images go on being recorded.
 *
 * What started the recording was taken out of the program's environment, so that the program sees
 * the one it would have had; each way to a new image puts it back for that image alone.  Between
 * vfork and exec neither the heap nor much of the stack is used (new_image.h). */
#include "runtime/new_image.h"
#include "runtime/readable.h"
#include "runtime/real.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* Not what a filter of system calls holds: it would hold the new image's runtime too; nor where the
 * root is another one, in which the loader would complain that our library is not there. */
static bool is_to_be_recorded(void)
{
    return heurt_state.recording && heurt_state.library[0] && !thread__in_seccomp(&heurt_thread) &&
           !session__has_ended() && RAW2(access, heurt_state.library, 4 /* R_OK */) == 0;
}

/* NULL: an image with that environment is not to be recorded. */
static struct image_room *image__begins(char *const *environment)
{
    return is_to_be_recorded() && texts__are_readable(environment)
               ? image_room__take(environment__slots(environment))
               : NULL;
}

/* Calls real with injected standing for environment plus ours, unless the image gains rights. */
#define WITH_ENVIRONMENT(type, gains_rights, program, environment, real)                         \
    do {                                                                                         \
        struct image_room *room = image__begins(environment);                                    \
        char *const *injected = environment;                                                     \
        if (room && !(gains_rights))                                                             \
            injected = environment__inject(environment, program, room, room->slots, room->text); \
        type result = real;                                                                      \
        if (room)                                                                                \
            image_room__give_back();                                                             \
        return result;                                                                           \
    } while (0)

/* Not in the child of a vfork: its memory, and so its record, is the parent's. */
static void exec__begins(void)
{
    struct thread *thread = hook__thread();
    if (thread && !thread__in_seccomp(thread) && (uint32_t)RAW0(getpid) == heurt_state.pid)
        event__write0(thread, HEURT_EVENT_EXEC);
}

#define GAINS_RIGHTS(path) image__gains_rights(AT_FDCWD, path, 0)

EXPORT int execve(const char *path, char *const *argv, char *const *envp)
{
    exec__begins();
    WITH_ENVIRONMENT(int, GAINS_RIGHTS(path), path, envp, REAL(execve)(path, argv, injected));
}

EXPORT int execv(const char *path, char *const *argv)
{
    exec__begins();
    WITH_ENVIRONMENT(int, GAINS_RIGHTS(path), path, environ, REAL(execve)(path, argv, injected));
}

EXPORT int execvpe(const char *file, char *const *argv, char *const *envp)
{
    exec__begins();
    WITH_ENVIRONMENT(int, image__gains_rights_by_name(file, room), file, envp,
                     REAL(execvpe)(file, argv, injected));
}

EXPORT int execvp(const char *file, char *const *argv)
{
    exec__begins();
    WITH_ENVIRONMENT(int, image__gains_rights_by_name(file, room), file, environ,
                     REAL(execvpe)(file, argv, injected));
}

EXPORT int fexecve(int descriptor, char *const *argv, char *const *envp)
{
    exec__begins();
    WITH_ENVIRONMENT(int, image__gains_rights(descriptor, "", AT_EMPTY_PATH), NULL, envp,
                     REAL(fexecve)(descriptor, argv, injected));
}

EXPORT int execveat(int directory, const char *path, char *const *argv, char *const *envp,
                    int flags)
{
    exec__begins();
    WITH_ENVIRONMENT(int, image__gains_rights(directory, path, flags), path, envp,
                     REAL(execveat)(directory, path, argv, injected, flags));
}

/* The list's first argument is already taken; execl(path, NULL) is not a program's call. */
static size_t count_arguments(va_list arguments)
{
    size_t count = 1;
    while (va_arg(arguments, char *))
        count++;
    return count;
}

/* The variadic family: first is argv[0]; a NULL ends the list, after which execle has envp. */
#define LIST_TO_ARGV(first)                             \
    va_list arguments;                                  \
    va_start(arguments, first);                         \
    size_t argument_count = count_arguments(arguments); \
    va_end(arguments);                                  \
    char *argv[argument_count + 1];                     \
    argv[0] = (char *)first;                            \
    va_start(arguments, first);                         \
    for (size_t i = 1; i < argument_count + 1; i++)     \
    argv[i] = va_arg(arguments, char *)

EXPORT int execl(const char *path, const char *first, ...)
{
    LIST_TO_ARGV(first);
    va_end(arguments);
    return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    LIST_TO_ARGV(first);
    va_end(arguments);
    return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    LIST_TO_ARGV(first);
    char *const *envp = va_arg(arguments, char *const *);
    va_end(arguments);
    return execve(path, argv, envp);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *argv, char *const *envp)
{
    WITH_ENVIRONMENT(int, GAINS_RIGHTS(path), path, envp,
                     REAL(posix_spawn)(pid, path, actions, attributes, argv, injected));
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *argv, char *const *envp)
{
    WITH_ENVIRONMENT(int, image__gains_rights_by_name(file, room), file, envp,
                     REAL(posix_spawnp)(pid, file, actions, attributes, argv, injected));
}

/* system and popen start the shell inside libc with the global environment: it is exchanged for
 * the time of the call.  A copy that another thread may still be reading is never freed: one is
 * kept for the process and filled anew. */
struct lent {
    char **own;
    char **ours;
};

static bool lent__begin(struct lent *lent)
{
    char **slots = heurt_state.lent_slots;
    struct image_room *room = image__begins(environ);
    lent->own = environ;
    if (!room || environment__slots(environ) > LENT_SLOTS) {
        if (room)
            image_room__give_back();
        return false;
    }
    spin__lock(&heurt_state.lent_lock);
    if (environ != slots)
        environment__inject(environ, NULL, room, slots, heurt_state.lent_text);
    spin__unlock(&heurt_state.lent_lock);
    image_room__give_back();
    lent->ours = slots;
    environ = slots;
    return true;
}

static void lent__end(const struct lent *lent)
{
    if (environ == lent->ours && lent->own != lent->ours)
        environ = lent->own;
}

EXPORT int system(const char *command)
{
    struct lent lent;
    if (!lent__begin(&lent))
        return REAL(system)(command);
    int result = REAL(system)(command);
    lent__end(&lent);
    return result;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
    struct lent lent;
    if (!lent__begin(&lent))
        return REAL(popen)(command, mode);
    FILE *result = REAL(popen)(command, mode);
    lent__end(&lent);
    return result;
}

/* ---- limits: the trace's mapping is not the program's ---------------------------------------- */

#define LOCKED_BYTES (64u << 20)

/* struct rlimit64 is struct rlimit here. */
#define SAME_64(name)                                            \
    extern __typeof__(name) limit__64_##name __asm__(#name "64") \
        __attribute__((alias(#name), nothrow, leaf)) EXPORT

static void limit__comes(pid_t pid, int resource, const struct rlimit *limit)
{
    struct rlimit wanted;
    if (resource == RLIMIT_AS && limit && heurt_state.recording &&
        (pid == 0 || (uint32_t)pid == heurt_state.pid) &&
        memory__copy(&wanted, limit, sizeof wanted) && wanted.rlim_cur != RLIM_INFINITY)
        trace__shrink(wanted.rlim_cur / HEURT_SPACE_PART);
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    limit__comes(0, (int)resource, limit);
    return REAL(setrlimit)(resource, limit);
}
SAME_64(setrlimit);

EXPORT int prlimit(pid_t pid, __rlimit_resource_t resource, const struct rlimit *limit,
                   struct rlimit *old)
{
    limit__comes(pid, (int)resource, limit);
    return REAL(prlimit)(pid, resource, limit, old);
}
SAME_64(prlimit);

/* It would make the whole of the sparse file real, in memory. */
EXPORT int mlockall(int flags)
{
    trace__shrink(LOCKED_BYTES);
    return REAL(mlockall)(flags);
}
