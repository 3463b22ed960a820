#include "recorder/planner.h"

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/worker.h"
#include "patch/missing.h"
#include "recorder/named_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_BYTES_MAX (16u << 20)
#define REQUEST_SECONDS 1

#define FOR_SYSTEM_CALLS UINT64_MAX /* in place of how many functions are asked for */

#define SAID_AT_MOST 3u /* of what was asked for and is nowhere */

struct unmatched {
    struct refused_function what;
    unsigned times;  /* plans that did not find it */
    unsigned latest; /* number of the last of them: a name may be asked for in two ways */
};

int planner__open(struct planner *planner, const char *directory,
                  const struct plan_request *request, struct error *error)
{
    planner->request = request;
    planner->answers = 0;
    planner->taken = (struct map){0};
    planner->given = VEC_OF(struct given_patch);
    planner->unmatched = VEC_OF(struct unmatched);
    planner->choices = VEC_OF(size_t);
    planner->paths = VEC_OF(char *);
    planner->waiting = VEC_OF(int);
    kept_plans__start(&planner->kept);
    planner->path = memory__format("%s/" HEURT_SOCKET_FILE, directory);
    planner->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int code =
        planner->fd < 0 ? -errno : named_socket__bind(planner->fd, directory, HEURT_SOCKET_FILE);
    if (code == 0 && listen(planner->fd, 128) != 0)
        code = -errno;
    if (code == 0)
        return 0;
    planner__close(planner);
    return error__set(
        error, code,
        "cannot listen for the recorded program's questions (Unix socket %s/" HEURT_SOCKET_FILE
        "): %s",
        directory, strerror(-code));
}

void planner__close(struct planner *planner)
{
    if (planner->fd >= 0)
        close(planner->fd);
    planner->fd = -1;
    VEC_EACH (fd, &planner->waiting, int)
        close(*fd);
    vec__free(&planner->waiting);
    kept_plans__free(&planner->kept);
    if (planner->path)
        unlink(planner->path);
    free(planner->path);
    planner->path = NULL;
}

/* ---- what was asked for and is nowhere ------------------------------------------------------- */

static struct unmatched *unmatched__find(struct planner *planner,
                                         const struct refused_function *what)
{
    VEC_EACH (known, &planner->unmatched, struct unmatched)
        if (strcmp(known->what.function, what->function) == 0 &&
            strcmp(known->what.module, what->module) == 0)
            return known;
    struct unmatched fresh = {
        {memory__text(what->function), memory__text(what->module), memory__text(what->reason)},
        0,
        0};
    return vec__push(&planner->unmatched, &fresh);
}

/* Once for each answer, however often it is told in one. */
static void count_unmatched(struct planner *planner, const struct vec *unmatched)
{
    VEC_EACH (what, unmatched, struct refused_function) {
        struct unmatched *known = unmatched__find(planner, what);
        known->times += known->latest != planner->answers;
        known->latest = planner->answers;
    }
}

static void keep_paths(struct planner *planner, const struct vec *modules)
{
    VEC_EACH (module, modules, const struct trace_module) {
        bool known = false;
        VEC_EACH (path, &planner->paths, char *)
            known |= strcmp(*path, module->path) == 0;
        if (!known)
            vec__push(&planner->paths, &(char *){memory__text(module->path)});
    }
}

/* is_said: among the first, which are looked for in the debug information, too. */
static void refuse_unmatched(const struct planner *planner, const struct refused_function *what,
                             struct trace_writer *writer, bool is_said,
                             void (*say)(const char *format, ...))
{
    char *inlined = is_said && strcmp(what->function, "*") != 0
                        ? missing__explain(what->function, &planner->paths)
                        : NULL;
    const char *reason = inlined ? inlined : what->reason;
    trace_writer__refuse(writer, HEURT_NO_SERIAL, what->function, what->module, reason);
    if (is_said && say)
        say("nothing was instrumented for '%s': %s", *what->module ? what->module : what->function,
            reason);
    free(inlined);
}

void planner__finish(struct planner *planner, struct trace_writer *writer,
                     void (*say)(const char *format, ...))
{
    size_t count = 0;
    VEC_EACH (known, &planner->unmatched, struct unmatched) {
        struct refused_function *what = &known->what;
        if (known->times == planner->answers)
            refuse_unmatched(planner, what, writer, ++count <= SAID_AT_MOST, say);
        free(what->function);
        free(what->module);
        free(what->reason);
    }
    if (count > SAID_AT_MOST && say)
        say("nor for %zu more: heurt report --coverage lists them", count - SAID_AT_MOST);
    VEC_EACH (path, &planner->paths, char *)
        free(*path);
    vec__free(&planner->paths);
    vec__free(&planner->unmatched);
    map__free(&planner->taken);
    vec__free(&planner->choices);
    vec__free(&planner->given);
}

bool planner__takes(struct planner *planner, uint32_t process, const struct trace_module *module,
                    size_t selection)
{
    uint64_t key[] = {process, module->start, module->tick, selection},
             count = planner->taken.count;
    map__put(&planner->taken, key, sizeof key, 1);
    return planner->taken.count > count;
}

/* Without those that are planned for elsewhere; the others get all choices at once. */
static void drop_taken(struct planner *planner, uint32_t process, struct vec *modules)
{
    struct trace_module *items = modules->items;
    size_t kept = 0;
    for (size_t i = 0; i < modules->count; i++) {
        if (!planner__takes(planner, process, &items[i], 0))
            continue;
        for (size_t selection = 1; selection < planner->choices.count; selection++)
            planner__takes(planner, process, &items[i], selection);
        items[kept++] = items[i];
    }
    modules->count = kept;
}

/* ---- one question ---------------------------------------------------------------------------- */

static bool send_all(int fd, const void *bytes, size_t count)
{
    for (size_t sent = 0; sent < count;) {
        ssize_t result = send(fd, (const char *)bytes + sent, count - sent, MSG_NOSIGNAL);
        if (result < 0 && errno == EINTR)
            continue;
        if (result <= 0)
            return false;
        sent += (size_t)result;
    }
    return true;
}

/* ---- who waits --------------------------------------------------------------------------------
 */

enum { SIGN_OF_LIFE_MS = 250 };

/* Those that are connected and wait for their turn, and the one whose it is. */
static void accept_all(struct planner *planner)
{
    for (int fd; (fd = accept4(planner->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        struct timeval patience = {.tv_sec = REQUEST_SECONDS};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        /* What they name is opened, and its code is told, as this user could. Those that gave up
         * being this user go on as they were patched before. */
        if (named_socket__is_own(fd))
            vec__push(&planner->waiting, &fd);
        else
            close(fd);
    }
}

/* While a plan is made, which may take longer than those who wait for one have patience: tells them
 * all that the recorder is at work. */
static void *give_signs(void *argument)
{
    struct planner *planner = argument;
    const struct heurt_plan_answer sign = {.magic = HEURT_PLAN_AT_WORK};
    struct pollfd done = {.fd = planner->done, .events = POLLIN};
    while (poll(&done, 1, SIGN_OF_LIFE_MS) <= 0) {
        accept_all(planner);
        VEC_EACH (fd, &planner->waiting, int)
            (void)!send(*fd, &sign, sizeof sign, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return NULL;
}

static bool signs__begin(struct planner *planner, pthread_t *thread)
{
    planner->done = eventfd(0, EFD_CLOEXEC);
    if (planner->done < 0)
        return false;
    bool begun = worker__start(thread, give_signs, planner) == 0;
    if (!begun)
        close(planner->done);
    return begun;
}

static void signs__end(struct planner *planner, pthread_t thread)
{
    eventfd_write(planner->done, 1);
    pthread_join(thread, NULL);
    close(planner->done);
}

/* ---- the answer -------------------------------------------------------------------------------
 */

/* The request's modules; strings stay in bytes. False when it is not well formed. */
static bool read_modules(const uint8_t *bytes, size_t size, uint32_t count, struct vec *modules)
{
    const size_t fixed = sizeof(struct heurt_definition) + sizeof(struct heurt_module);
    for (size_t at = 0; modules->count < count;) {
        const struct heurt_definition *header = (const void *)(bytes + at);
        if (size - at < fixed || header->bytes <= fixed || header->bytes > size - at ||
            header->bytes % 8 || header->type != HEURT_DEFINITION_MODULE)
            return false;
        const struct heurt_module *module = (const void *)(header + 1);
        const char *path = (const char *)(module + 1);
        if (!memchr(path, 0, header->bytes - fixed) ||
            module->build_id_bytes > sizeof module->build_id)
            return false;
        struct trace_module *one = vec__push(modules, NULL);
        *one = (struct trace_module){
            .tick = module->tick,
            .gone_tick = UINT64_MAX,
            .bias = module->bias,
            .start = module->start,
            .end = module->end,
            .build_id = module->build_id,
            .build_id_bytes = module->build_id_bytes,
            .path = path,
        };
        at += header->bytes;
    }
    return true;
}

static void append(struct vec *bytes, const void *from, size_t count)
{
    memcpy(vec__extend(bytes, count), from, count);
}

static void append_plan(struct vec *bytes, const struct planned_function *function)
{
    struct heurt_plan plan = function->plan;
    size_t name = strlen(function->name) + 1, arguments = strlen(function->argument_names) + 1;
    size_t whole = (sizeof plan + name + arguments + 7) & ~(size_t)7;
    plan.bytes = (uint32_t)whole;
    append(bytes, &plan, sizeof plan);
    append(bytes, function->name, name);
    append(bytes, function->argument_names, arguments);
    append(bytes, "\0\0\0\0\0\0\0", whole - sizeof plan - name - arguments);
}

static bool send_plan(int fd, const struct plan *plan)
{
    struct vec bytes = VEC_OF(char);
    VEC_EACH (function, &plan->functions, struct planned_function)
        append_plan(&bytes, function);
    struct heurt_plan_answer answer = {
        .magic = HEURT_PLAN_MAGIC,
        .function_count = (uint32_t)plan->functions.count,
        .bytes = bytes.count,
    };
    bool sent = send_all(fd, &answer, sizeof answer) && send_all(fd, bytes.items, bytes.count);
    vec__free(&bytes);
    return sent;
}

static void remember(struct planner *planner, uint32_t process, const struct plan *plan)
{
    VEC_EACH (function, &plan->functions, const struct planned_function) {
        struct given_patch *given = vec__push(&planner->given, NULL);
        given->process = process;
        given->address = function->plan.address;
        given->skip = function->plan.skip;
        memcpy(given->original, function->plan.original, sizeof given->original);
    }
}

/* Its modules are planned for again when functions are asked for. */
static void plan_system_calls(struct planner *planner, int fd, const struct vec *modules)
{
    struct plan *plan =
        kept_plans__find(&planner->kept, FOR_SYSTEM_CALLS, modules->items, modules->count);
    if (!plan) {
        plan = plan__system_calls(modules->items, modules->count, planner->request->cache);
        kept_plans__keep(&planner->kept, plan);
    }
    send_plan(fd, plan);
}

/* Those who wait are told meanwhile that it is being made. */
static int make_plan(struct planner *planner, const struct vec *modules, struct plan **plan,
                     struct error *error)
{
    pthread_t signs;
    bool gives_signs = signs__begin(planner, &signs);
    int code = plan__make(planner->request, modules->items, modules->count, plan, error);
    if (gives_signs)
        signs__end(planner, signs);
    if (code == 0)
        kept_plans__keep(&planner->kept, *plan);
    return code;
}

static int plan_functions(struct planner *planner, int fd, uint32_t process, struct vec *modules,
                          struct trace_writer *writer, struct error *error)
{
    if (planner->is_chosen)
        drop_taken(planner, process, modules);
    /* What is asked for grows, where it is chosen. */
    struct plan *plan = kept_plans__find(&planner->kept, planner->request->functions.count,
                                         modules->items, modules->count);
    int code = plan ? 0 : make_plan(planner, modules, &plan, error);
    if (code < 0)
        return code;
    VEC_EACH (refusal, &plan->refusals, struct refused_function)
        trace_writer__refuse(writer, process, refusal->function, refusal->module, refusal->reason);
    planner->answers++;
    if (!planner->is_chosen) {
        count_unmatched(planner, &plan->unmatched);
        keep_paths(planner, modules);
    }
    if (planner->remembers)
        remember(planner, process, plan);
    send_plan(fd, plan);
    return 0;
}

static int plan_for(struct planner *planner, int fd, const struct heurt_plan_request *request,
                    const uint8_t *bytes, struct trace_writer *writer, struct error *error)
{
    struct vec modules = VEC_OF(struct trace_module);
    int code = -EPROTO;
    if (!read_modules(bytes, request->bytes, request->module_count, &modules))
        error__set(error, code, "a recorded process asked for a plan in a form that is not known");
    else if (request->subject == HEURT_PLAN_SYSTEM_CALLS) {
        plan_system_calls(planner, fd, &modules);
        code = 0;
    } else
        code = plan_functions(planner, fd, request->process, &modules, writer, error);
    vec__free(&modules);
    return code;
}

static int answer(struct planner *planner, int fd, struct trace_writer *writer, struct error *error)
{
    struct heurt_plan_request request;
    int code = 0;
    if (!descriptor__read_all(fd, &request, sizeof request) || request.magic != HEURT_PLAN_MAGIC ||
        request.bytes > REQUEST_BYTES_MAX)
        return 0;
    uint8_t *bytes = memory__zeroed(request.bytes + 8, 1);
    if (descriptor__read_all(fd, bytes, request.bytes))
        code = plan_for(planner, fd, &request, bytes, writer, error);
    free(bytes);
    return code;
}

int planner__answer(struct planner *planner, struct trace_writer *writer, struct error *error)
{
    int code = 0;
    accept_all(planner);
    while (code == 0 && planner->waiting.count) {
        int *first = planner->waiting.items, fd = *first;
        code = answer(planner, fd, writer, error);
        first = planner->waiting.items; /* more may wait now */
        memmove(first, first + 1, --planner->waiting.count * sizeof *first);
        close(fd);
    }
    return code;
}
