#include "recorder/attach.h"

#include "base/clock.h"
#include "format/attach_layout.h"
#include "kernel/process_threads.h"
#include "kernel/remote_call.h"
#include "recorder/remote_image.h"
#include "recorder/safe_point.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 5000000000ull /* until a thread stands where it may be led elsewhere */
#define CALL_NS 10000000000ull    /* a call may have to wait for locks of others */
#define SWEEP_NS 2000000000ull
#define PAUSE_NS 2000000

static void pause_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* ---- a call in some thread --------------------------------------------------------------------
 */

struct leading {
    pid_t pid;
    const struct remote_image *image;
    const struct remote_call *call;
    uint64_t longest_ns; /* for which a thread stood still */
    bool stopped_one;
};

/* Until all have been let go as they were. */
static void let_go(struct stop *stop)
{
    struct patience patience = patience__of(1000000000);
    stop__end(stop);
    while (!stop__tend(stop) && !patience__is_over(&patience))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    stop__free(stop);
}

static int try_thread(struct leading *leading, pid_t tid, struct error *error)
{
    struct stop *stop = stop__new_of(leading->pid, tid);
    uint64_t since = clock__ns(CLOCK_MONOTONIC);
    int code = stop__begin(stop, error);
    if (code < 0) {
        stop__free(stop);
        return code;
    }
    leading->stopped_one = true;
    struct stopped_thread *thread = stop__threads(stop)->items;
    code = safe_point__is(stop, thread, leading->image)
               ? remote_call__make(stop, thread, leading->call, error)
               : -EAGAIN;
    let_go(stop);
    uint64_t ns = clock__ns(CLOCK_MONOTONIC) - since;
    if (code == 0 && ns > leading->longest_ns)
        leading->longest_ns = ns;
    return code;
}

/* Once through all threads; those that wait first. */
static int try_threads(struct leading *leading, struct error *error)
{
    struct vec threads = process__threads(leading->pid);
    int code = threads.count ? -EAGAIN : -ESRCH;
    for (int busy = 0; busy < 2; busy++)
        VEC_EACH (tid, &threads, const uint32_t) {
            struct thread_told told;
            if ((code != -EAGAIN && code != -ESRCH) ||
                !thread_told__read(leading->pid, *tid, &told) || told.wants_cpu != (busy == 1))
                continue;
            code = try_thread(leading, (pid_t)*tid, error);
        }
    vec__free(&threads);
    return code == -ESRCH && kill(leading->pid, 0) == 0 ? -EAGAIN : code;
}

static int explain_refusal(pid_t pid, int code, struct error *error)
{
    int scope = 0;
    FILE *in = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (in && fscanf(in, "%d", &scope) != 1)
        scope = 0;
    if (in)
        fclose(in);
    if (scope)
        return error__set(error, code,
                          "process %d may not be entered (kernel.yama.ptrace_scope is %d): sudo "
                          "sysctl kernel.yama.ptrace_scope=0 allows it",
                          pid, scope);
    return error__set(error, code,
                      "process %d may not be entered: it is another user's, does not let itself be "
                      "dumped, or ptrace is not allowed here (container: --cap-add SYS_PTRACE)",
                      pid);
}

static int call_somewhere(struct leading *leading, struct error *error)
{
    struct patience patience = patience__of(PATIENCE_NS);
    int code;
    while ((code = try_threads(leading, error)) == -EAGAIN && !patience__is_over(&patience))
        pause_a_little();
    if (code == -EPERM || code == -EACCES)
        return explain_refusal(leading->pid, code, error);
    if (code == -ESRCH)
        return error__set(error, code, "process %d has ended", leading->pid);
    if (code == -EAGAIN && !leading->stopped_one)
        return error__set(
            error, code,
            "process %d does not stop: its threads are in sleeps that nothing ends (a "
            "disk, a network file system)",
            leading->pid);
    if (code == -EAGAIN)
        return error__set(error, code,
                          "no thread of process %d stood where it can be led elsewhere for %d s "
                          "(in the allocator or the loader all the time?): try again",
                          leading->pid, (int)(PATIENCE_NS / 1000000000));
    return code;
}

/* ---- what the library says --------------------------------------------------------------------
 */

static bool read_attachment(pid_t pid, const struct remote_image *image,
                            struct heurt_attachment *attachment)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int memory = image->attachment ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool read = memory >= 0 && pread(memory, attachment, sizeof *attachment,
                                     (off_t)image->attachment) == sizeof *attachment;
    if (memory >= 0)
        close(memory);
    return read;
}

static int call(struct attach *attach, const struct remote_image *image, uint64_t function,
                const char *text, uint64_t second, struct error *error)
{
    const struct remote_call what = {.function = function,
                                     .restorer = image->restorer,
                                     .text = text,
                                     .second = second,
                                     .limit_ns = CALL_NS};
    struct leading leading = {attach->pid, image, &what, 0, false};
    int code = call_somewhere(&leading, error);
    attach->enter_ns =
        leading.longest_ns > attach->enter_ns ? leading.longest_ns : attach->enter_ns;
    return code;
}

/* ---- leaving ----------------------------------------------------------------------------------
 */

static bool is_quiet(const struct stop *stop, const struct remote_image *image)
{
    VEC_EACH (thread, stop__threads(stop), const struct stopped_thread)
        if (safe_point__is_within_library(stop, thread, image))
            return false;
    return true;
}

/* With all threads at rest. 0: done or not, as the library counts it. */
static int sweep_once(struct attach *attach, const struct remote_image *image, struct error *error)
{
    const struct remote_call what = {
        .function = image->sweep, .restorer = image->restorer, .limit_ns = CALL_NS};
    struct stop *stop = stop__new(attach->pid);
    uint64_t since = clock__ns(CLOCK_MONOTONIC);
    int code = stop__begin(stop, error);
    if (code < 0) {
        stop__free(stop);
        return code;
    }
    code = -EAGAIN;
    if (is_quiet(stop, image))
        VEC_EACH (thread, stop__threads(stop), struct stopped_thread)
            if (code == -EAGAIN && thread->tid && !thread->by_job_control &&
                safe_point__has_room(thread, image))
                code = remote_call__make(stop, thread, &what, error);
    let_go(stop);
    attach->leave_ns = clock__ns(CLOCK_MONOTONIC) - since;
    return code;
}

static int sweep(struct attach *attach, const struct remote_image *image, struct error *error)
{
    struct heurt_attachment before = {0}, now;
    struct patience patience = patience__of(SWEEP_NS);
    int code;
    read_attachment(attach->pid, image, &before);
    now = before;
    do {
        code = sweep_once(attach, image, error);
        if (code == 0 && read_attachment(attach->pid, image, &now) && now.sweeps != before.sweeps)
            return 0;
        if (code == -ESRCH)
            return 0;
        pause_a_little();
    } while ((code == 0 || code == -EAGAIN) && !patience__is_over(&patience));
    attach->is_left_behind = true;
    return 0;
}

static int leave(struct attach *attach, const struct remote_image *image, struct error *error)
{
    uint64_t enter_ns = attach->enter_ns;
    int code = call(attach, image, image->release, NULL, 0, error);
    attach->leave_ns = attach->enter_ns;
    attach->enter_ns = enter_ns;
    return code == 0 ? sweep(attach, image, error) : code == -ESRCH ? 0 : code;
}

int attach__leave(struct attach *attach, struct error *error)
{
    struct remote_image image;
    int code = remote_image__read(attach->pid, &image) && image.release
                   ? leave(attach, &image, error)
                   : 0; /* it has ended, or is another program now */
    remote_image__free(&image);
    return code;
}

/* ---- entering ---------------------------------------------------------------------------------
 */

/* What an earlier recorder has left that was killed. */
static int tidy(struct attach *attach, const struct remote_image *image, struct error *error)
{
    struct heurt_attachment attachment;
    if (!read_attachment(attach->pid, image, &attachment) ||
        attachment.version != HEURT_ATTACHMENT_VERSION)
        return error__set(error, -EPROTO,
                          "process %d has a library of another version of heurt in it: attach with "
                          "that one, or start it anew",
                          attach->pid);
    if (attachment.state == HEURT_ATTACHMENT_NONE)
        return 0;
    if (attachment.state != HEURT_ATTACHMENT_RELEASED && attachment.recorder_pid &&
        kill((pid_t)attachment.recorder_pid, 0) == 0)
        return error__set(error, -EBUSY, "process %d is being recorded by heurt, process %u",
                          attach->pid, attachment.recorder_pid);
    int code = leave(attach, image, error);
    if (code == 0 && attach->is_left_behind)
        code = error__set(error, -EAGAIN,
                          "process %d has not come out of an earlier recording yet: try again",
                          attach->pid);
    return code;
}

static int check_image(const struct attach *attach, const struct remote_image *image,
                       struct error *error)
{
    if (image->was_launched)
        return error__set(error, -EBUSY, "process %d was started by heurt: it is recorded already",
                          attach->pid);
    if (!image->has_loader)
        return error__set(error, -ENOEXEC,
                          "process %d is statically linked: there is no loader that could bring "
                          "heurt's library into it",
                          attach->pid);
    if (!image->libc.end || !image->dlopen || !image->restorer)
        return error__set(error, -ENOEXEC,
                          "process %d has a C library that heurt does not know (musl?)",
                          attach->pid);
    return 0;
}

static int enter(struct attach *attach, struct remote_image *image, struct error *error)
{
    struct heurt_attachment attachment = {0};
    int code = 0;
    if (!image->enter) {
        code = call(attach, image, image->dlopen, attach->library, RTLD_NOW, error);
        remote_image__free(image);
        if (code == 0 && (!remote_image__read(attach->pid, image) || !image->enter))
            code =
                error__set(error, -ENOEXEC,
                           "the loader of process %d did not take %.300s: an older C library, or "
                           "no memory",
                           attach->pid, attach->library);
    } else {
        code = tidy(attach, image, error);
    }
    code = code ? code : call(attach, image, image->enter, attach->directory, 0, error);
    if (code)
        return code;
    attach->code_files = image->code_files;
    if (!read_attachment(attach->pid, image, &attachment) ||
        attachment.state != HEURT_ATTACHMENT_RECORDS)
        return error__set(error, -ENOENT,
                          "heurt's library in process %d cannot join the trace %.300s: not there "
                          "for it (a container?), or no memory",
                          attach->pid, attach->directory);
    attach->slots = attachment.slots;
    attach->modules = attachment.modules;
    return 0;
}

#define BEGINNING_NS 1000000000u

/* One that has just been started has not loaded its libraries yet. */
static int read_image(const struct attach *attach, struct remote_image *image, struct error *error)
{
    struct patience patience = patience__of(BEGINNING_NS);
    for (;;) {
        bool read = remote_image__read(attach->pid, image);
        int code =
            read ? check_image(attach, image, error) : explain_refusal(attach->pid, -EPERM, error);
        if (code != -ENOEXEC || patience__is_over(&patience))
            return code;
        remote_image__free(image);
        pause_a_little();
    }
}

int attach__enter(struct attach *attach, struct error *error)
{
    struct remote_image image;
    int code = read_image(attach, &image, error);
    code = code ? code : enter(attach, &image, error);
    remote_image__free(&image);
    return code;
}

void attach__follow(struct attach *attach)
{
    struct remote_image image;
    struct error error;
    if (remote_image__read(attach->pid, &image) && image.look &&
        image.code_files > attach->code_files)
        call(attach, &image, image.look, NULL, 0, &error);
    attach->code_files = image.code_files;
    remote_image__free(&image);
}
