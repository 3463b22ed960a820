#include "recorder/live_parts.h"

#include "base/clock.h"
#include "base/memory.h"
#include "format/reader.h"
#include "kernel/process_map.h"
#include "recorder/live_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOOK_EVERY_MS = 250, /* for processes that are new in the trace */
    FIRST_LOOKS = 3,     /* and at once after the start: some may have defined themselves just then
                            and not have seen that there are plans */
    RETRY_LEAST_MS = 4,
    RETRY_MOST_MS = 250,
    ATTEMPTS_MAX = 60,
    STEPS_MAX = 16,
    STACK_BYTES_MAX = 8 << 20, /* of a thread's stack that are searched */
};

struct live_function *live__function(const struct live *live, const struct live_patch *patch)
{
    return VEC_AT(patch->is_loop ? &live->loops : &live->functions, struct live_function,
                  patch->function);
}

static uint64_t entry_of(const struct live_patch *patch)
{
    return patch->plan.address + patch->plan.skip;
}

static bool is_wanted(const struct live *live, const struct live_patch *patch)
{
    return !patch->is_given && !live->all_taken_away && !live__function(live, patch)->left_out;
}

static bool is_due(const struct live *live, const struct live_patch *patch)
{
    return !patch->failed && patch->applied != is_wanted(live, patch);
}

static bool has_due(const struct live *live, const struct live_process *process)
{
    VEC_EACH (patch, &process->patches, const struct live_patch)
        if (is_due(live, patch))
            return true;
    return false;
}

/* ---- what the recorder says about it --------------------------------------------------------- */

void live__refuse(struct live *live, const struct live_process *process, struct live_patch *patch,
                  const char *reason)
{
    trace_writer__refuse(live->writer, process->serial, patch->name, "", reason);
    patch->failed = true;
}

static bool define(struct live *live, const struct live_process *process, struct live_patch *patch,
                   const struct heurt_live *room)
{
    if (patch->is_loop)
        return live__define_loop(live, process, patch, room);
    const struct heurt_plan *plan = &patch->plan;
    size_t name = strlen(patch->name) + 1;
    struct heurt_function function = {
        .id = live__function(live, patch)->id,
        .kind = HEURT_FUNCTION_PATCHED,
        .address = plan->address,
        .flags = plan->ordered ? HEURT_FUNCTION_LOCKED : 0,
        .bias_ticks = room->bias_ticks[plan->mechanism][plan->ordered],
        .cost_ticks = room->cost_ticks[plan->mechanism][plan->ordered],
    };
    char *body = memory__zeroed(sizeof function + name + 2, 1);
    memcpy(body, &function, sizeof function);
    memcpy(body + sizeof function, patch->name, name);
    int code = trace_writer__define(live->writer, process->serial, HEURT_DEFINITION_FUNCTION, body,
                                    sizeof function + name + 2);
    free(body);
    patch->defined = code == 0;
    return patch->defined;
}

/* ---- one stopped process --------------------------------------------------------------------- */

struct live_session {
    struct live *live;
    struct live_process *process;
    struct vec ranges; /* struct mapped_range */
    bool postponed;    /* something has to be tried again */
};

/* Whether it is the image that the trace tells of: it has the trace mapped, and its runtime says
 * this serial. */
static bool is_the_image(const struct live_session *session)
{
    const struct live_process *process = session->process;
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, session->live->directory);
    struct stat status;
    bool maps_trace = false;
    if (stat(path, &status) == 0)
        VEC_EACH (range, &session->ranges, const struct mapped_range)
            maps_trace |= range->is_shared && range->inode == (uint64_t)status.st_ino;
    free(path);
    uint32_t serial = HEURT_NO_SERIAL;
    const struct heurt_live *room = VEC_AT(&process->rooms, struct heurt_live, 0);
    return maps_trace && stop__read(process->stop, room->process, &serial, sizeof serial) &&
           serial == process->serial;
}

/* The code for the patch's slot in a room, and where that is. No bytes: it cannot reach what it
 * refers to. */
static uint64_t write_code(const struct live *live, const struct live_patch *patch,
                           const struct heurt_live *room, struct live_code *code)
{
    const struct heurt_plan *plan = &patch->plan;
    uint32_t id = live__function(live, patch)->id;
    if (!patch->is_loop) {
        uint64_t slot = room->room + (uint64_t)(id - HEURT_EVENT_LIVE) / 2 * HEURT_LIVE_SLOT_BYTES;
        uint64_t stub = room->stubs[plan->mechanism][plan->ordered];
        bool reaches = live_code__write(code->code, slot, id, stub, plan);
        code->bytes = reaches ? HEURT_LIVE_SLOT_BYTES : 0;
        return slot;
    }
    uint64_t slot = room->room + HEURT_LIVE_LOOPS_AT +
                    (uint64_t)(id - HEURT_EVENT_LOOPS) / 2 * HEURT_LIVE_LOOP_SLOT_BYTES;
    const struct loop_code what = {.plan = plan,
                                   .id = id,
                                   .counter = room->loop_counters +
                                              (int64_t)((id - HEURT_EVENT_LOOPS) / 2) * 4,
                                   .stub = room->loop_stub,
                                   .saves_flags = patch->loop.saves_flags};
    code->start = live_code__write_loop(code->code, slot, &what);
    code->bytes = code->start ? HEURT_LIVE_LOOP_SLOT_BYTES : 0;
    return slot;
}

/* The room near the function that its process really has; fills in slot and jump. */
static const struct heurt_live *room_for(const struct live_session *session,
                                         struct live_patch *patch)
{
    VEC_EACH (room, &session->process->rooms, const struct heurt_live) {
        struct live_code code = {0};
        uint64_t slot = write_code(session->live, patch, room, &code);
        const struct mapped_range *range = process_map__find(&session->ranges, slot);
        if (!range || !range->executable || range->writable || range->is_shared || range->inode ||
            !code.bytes || slot + code.bytes > range->end ||
            !live_code__jump(patch->jump, entry_of(patch), slot + code.start))
            continue;
        patch->slot = slot;
        return room;
    }
    return NULL;
}

static bool is_inside(const struct live_patch *patch, uint64_t address)
{
    return address > entry_of(patch) && address < entry_of(patch) + HEURT_PATCH_BYTES;
}

/* The patch that is to be made and into whose first bytes the address points, or NULL. */
static struct live_patch *patch_around(const struct live_session *session, uint64_t address)
{
    VEC_EACH (patch, &session->process->patches, struct live_patch)
        if (!patch->applied && is_inside(patch, address) && is_due(session->live, patch))
            return patch;
    return NULL;
}

/* A word on a stack may be where an interrupted handler will go on. blocked: by patch. */
static void search_stack(const struct live_session *session, uint64_t from, bool *blocked)
{
    const struct mapped_range *range = process_map__find(&session->ranges, from);
    if (!range || !range->readable)
        return;
    uint64_t end = range->end - from > STACK_BYTES_MAX ? from + STACK_BYTES_MAX : range->end;
    uint64_t words[8192];
    for (uint64_t at = from & ~7ull; at < end;) {
        size_t bytes = end - at < sizeof words ? (size_t)(end - at) : sizeof words;
        if (!stop__read(session->process->stop, at, words, bytes))
            return;
        for (size_t i = 0; i < bytes / sizeof *words; i++) {
            struct live_patch *patch = patch_around(session, words[i]);
            if (patch)
                blocked[patch - (struct live_patch *)session->process->patches.items] = true;
        }
        at += bytes;
    }
}

/* No thread may be within bytes that are overwritten, now or when a handler returns. */
static void clear_out(struct live_session *session, bool *blocked)
{
    VEC_EACH (thread, stop__threads(session->process->stop), struct stopped_thread) {
        struct live_patch *patch = NULL;
        for (unsigned i = 0; i < STEPS_MAX; i++) {
            patch = patch_around(session, thread->registers.rip);
            if (!patch || stop__step(session->process->stop, thread) != 0)
                break;
        }
        patch = patch_around(session, thread->registers.rip);
        if (patch)
            blocked[patch - (struct live_patch *)session->process->patches.items] = true;
        search_stack(session, thread->registers.rsp, blocked);
    }
}

/* What the code of a function's stub and a loop's mark look up. */
static bool write_table(struct live_session *session, const struct live_patch *patch,
                        const struct heurt_live *room)
{
    uint32_t id = live__function(session->live, patch)->id;
    uint64_t moved = patch->slot + LIVE_STUB_BYTES;
    if (!patch->is_loop)
        return stop__write(session->process->stop, room->bodies + id / 2 * 8, &moved, sizeof moved);
    uint64_t loop =
        room->loops + (uint64_t)(id - HEURT_EVENT_LOOPS) / 2 * sizeof(struct heurt_loop);
    return stop__write(session->process->stop, loop + offsetof(struct heurt_loop, parent),
                       &patch->loop.parent, sizeof patch->loop.parent);
}

static uint64_t length_of(const struct live_patch *patch)
{
    return patch->plan.moved > HEURT_PATCH_BYTES ? patch->plan.moved : HEURT_PATCH_BYTES;
}

/* What is moved for one patch may not be entered in its middle by the jump of another. */
static bool overlaps_others(const struct live_session *session, const struct live_patch *patch)
{
    VEC_EACH (other, &session->process->patches, const struct live_patch)
        if (other != patch && (other->applied || other->is_given) &&
            entry_of(other) < entry_of(patch) + length_of(patch) &&
            entry_of(patch) < entry_of(other) + length_of(other))
            return true;
    return false;
}

/* Why the bytes that stand there are not to be patched; NULL: they are. */
static const char *objection(struct live_session *session, const struct live_patch *patch,
                             const struct heurt_live *room, const uint8_t *now)
{
    const struct heurt_plan *plan = &patch->plan;
    if (!room)
        return "no free memory within reach of a jump from it";
    if (!(patch->is_loop ? room->loop_stub : room->stubs[plan->mechanism][plan->ordered]))
        return "it cannot be called in the way that it needs";
    if (memcmp(now, plan->original, plan->moved) != 0)
        return "its bytes in memory are not those of its file";
    return overlaps_others(session, patch) ? "another patch is too near" : NULL;
}

static void apply(struct live_session *session, struct live_patch *patch)
{
    struct live *live = session->live;
    struct live_process *process = session->process;
    const struct heurt_plan *plan = &patch->plan;
    const struct heurt_live *room = room_for(session, patch);
    struct live_code code = {0};
    uint8_t now[sizeof plan->original];
    if (!stop__read(process->stop, entry_of(patch), now, plan->moved)) {
        patch->failed = true; /* its module is gone */
        return;
    }
    if (room && memcmp(now, patch->jump, sizeof patch->jump) == 0) {
        patch->applied = true; /* inherited by fork */
        return;
    }
    const char *reason = objection(session, patch, room, now);
    if (reason) {
        live__refuse(live, process, patch, reason);
        return;
    }
    write_code(live, patch, room, &code);
    if (!patch->defined && !define(live, process, patch, room))
        live__refuse(live, process, patch, "the trace is full");
    else if (!stop__write(process->stop, patch->slot, code.code, code.bytes) ||
             !write_table(session, patch, room) ||
             !stop__write(process->stop, entry_of(patch), patch->jump, sizeof patch->jump))
        live__refuse(live, process, patch, "the system does not let its code be changed");
    else
        patch->applied = true;
    patch->applied_ns = clock__ns(CLOCK_MONOTONIC);
}

/* The slot stays: threads may be in it. */
static void take_away(struct live_session *session, struct live_patch *patch)
{
    uint8_t now[HEURT_PATCH_BYTES];
    if (!stop__read(session->process->stop, entry_of(patch), now, sizeof now) || now[0] != 0xe9 ||
        (!patch->is_given && memcmp(now, patch->jump, sizeof now) != 0) ||
        !stop__write(session->process->stop, entry_of(patch), patch->plan.original, sizeof now))
        patch->failed = true;
    else
        patch->applied = false;
}

static void change_stopped(struct live_session *session)
{
    struct vec *patches = &session->process->patches;
    bool *blocked = memory__zeroed(patches->count, sizeof *blocked);
    clear_out(session, blocked);
    for (size_t i = 0; i < patches->count; i++) {
        struct live_patch *patch = VEC_AT(patches, struct live_patch, i);
        if (!is_due(session->live, patch))
            continue;
        if (patch->applied)
            take_away(session, patch);
        else if (blocked[i])
            session->postponed = true;
        else
            apply(session, patch);
    }
    free(blocked);
}

/* A process that was forked from a patched one has its patches, and need not be stopped to see. */
static void find_inherited(struct live *live, struct live_process *process)
{
    struct live_session session = {live, process, VEC_OF(struct mapped_range), false};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process->pid);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    if (memory >= 0 && process_map__read(process->pid, &session.ranges))
        VEC_EACH (patch, &process->patches, struct live_patch) {
            uint8_t now[HEURT_PATCH_BYTES];
            if (!patch->failed && room_for(&session, patch) &&
                pread(memory, now, sizeof now, (off_t)entry_of(patch)) == sizeof now)
                patch->applied = memcmp(now, patch->jump, sizeof now) == 0;
        }
    if (memory >= 0)
        close(memory);
    vec__free(&session.ranges);
}

/* ---- the processes of the session ------------------------------------------------------------ */

static void wait_for_change(struct live_process *process)
{
    process->state = PROCESS_WAITS;
    process->next_ns = 0;
    process->attempts = 0;
}

/* The process' place, new or not. What was found in the trace is written by the program: the memory
 * decides later whether this is still the process. */
static struct live_process *take_process(struct live *live, const struct trace_process *known)
{
    uint64_t next = live->processes.count;
    uint64_t index = map__put(&live->process_of_serial, &known->serial, sizeof known->serial, next);
    if (index < next)
        return VEC_AT(&live->processes, struct live_process, index);
    struct live_process *process = vec__push(&live->processes, NULL);
    *process = (struct live_process){
        .serial = known->serial,
        .pid = (pid_t)known->pid,
        .rooms = VEC_OF(struct heurt_live),
        .patches = VEC_OF(struct live_patch),
    };
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", process->pid);
    struct stat status;
    process->state = stat(path, &status) == 0 ? PROCESS_DONE : PROCESS_GONE;
    return process;
}

/* Asks the process where its rooms are. witness: free it in any case. */
static bool hear(struct live *live, struct live_process *process, struct live_witness *witness)
{
    bool is_heard = live_witness__hear(witness, process->pid, live->planner->library);
    process->rooms.count = 0;
    for (uint64_t i = 0; is_heard && i < witness->offers.count; i++)
        vec__push(&process->rooms, &witness->offers.rooms[i]);
    return is_heard;
}

static void consider(struct live *live, const struct trace_process *known)
{
    if (known->serial == HEURT_NO_SERIAL || !known->pid)
        return;
    struct live_process *process = take_process(live, known);
    size_t choices = live->planner->choices.count;
    if (process->choices == choices || process->state == PROCESS_GONE)
        return;
    struct live_witness witness;
    bool is_heard = hear(live, process, &witness);
    while (is_heard && process->choices < choices)
        live__plan(live, process, known, &witness, process->choices++);
    live_witness__free(&witness);
    if (!is_heard)
        return;
    if (known->parent_serial != HEURT_NO_SERIAL)
        find_inherited(live, process);
    if (has_due(live, process) && process->state != PROCESS_WAITS)
        wait_for_change(process);
}

static void find_processes(struct live *live)
{
    struct trace *trace = NULL;
    struct error error;
    uint32_t seen =
        __atomic_load_n(&trace_writer__session(live->writer)->next_process, __ATOMIC_SEQ_CST);
    if (live->looks >= FIRST_LOOKS && seen == live->processes_seen)
        return;
    live->looks++;
    live->processes_seen = seen;
    live->next_look_ns = clock__ns(CLOCK_MONOTONIC) +
                         (live->looks < FIRST_LOOKS ? RETRY_LEAST_MS : LOOK_EVERY_MS) * 1000000ull;
    if (trace__open(live->directory, &trace, &error) < 0)
        return;
    VEC_EACH (process, trace__processes(trace), const struct trace_process)
        consider(live, process);
    trace__close(trace);
}

/* ---- attempts -------------------------------------------------------------------------------- */

static void remember_trouble(struct live *live, const char *reason)
{
    if (!live->trouble)
        live->trouble = memory__text(reason);
}

static void give_up(struct live *live, struct live_process *process, const char *reason)
{
    VEC_EACH (patch, &process->patches, struct live_patch)
        if (is_due(live, patch))
            live__refuse(live, process, patch, reason);
    process->state = PROCESS_DONE;
}

static void try_again_later(struct live *live, struct live_process *process, const char *reason)
{
    unsigned wait_ms = RETRY_LEAST_MS << (process->attempts < 6 ? process->attempts : 6);
    if (++process->attempts >= ATTEMPTS_MAX)
        give_up(live, process, reason);
    process->next_ns = clock__ns(CLOCK_MONOTONIC) +
                       (wait_ms < RETRY_MOST_MS ? wait_ms : RETRY_MOST_MS) * 1000000ull;
}

static void change_process(struct live *live, struct live_process *process)
{
    struct live_session session = {live, process, VEC_OF(struct mapped_range), false};
    struct error error;
    if (!process->stop)
        process->stop = stop__new(process->pid);
    stop_log__begins(live->stops, (uint32_t)process->pid);
    int code = process->rooms.count ? stop__begin(process->stop, &error) : -ENOMEM;
    process->lingers = true;
    if (code < 0)
        stop_log__ended(live->stops);
    if (code == 0) {
        bool same = process_map__read(process->pid, &session.ranges) && is_the_image(&session);
        if (same)
            change_stopped(&session);
        stop__end(process->stop);
        stop_log__ended(live->stops);
        vec__free(&session.ranges);
        process->state = same ? PROCESS_DONE : PROCESS_GONE;
        if (same && session.postponed) {
            process->state = PROCESS_WAITS;
            try_again_later(live, process, "a thread stays in its first instructions");
        } else {
            process->attempts = 0;
        }
    } else if (code == -ENOMEM) {
        give_up(live, process, "no free memory within reach of a jump from it");
    } else if (code == -EAGAIN) {
        try_again_later(live, process, error.text);
    } else if (code == -ESRCH) {
        process->state = PROCESS_GONE;
    } else {
        remember_trouble(live, error.text);
        give_up(live, process, error.text);
    }
}

static int ms_until(uint64_t then_ns, uint64_t now)
{
    return then_ns <= now ? 0 : (int)((then_ns - now) / 1000000 + 1);
}

/* ---- leaving out ----------------------------------------------------------------------------- */

static void wake(struct live *live)
{
    VEC_EACH (process, &live->processes, struct live_process)
        if (process->state == PROCESS_DONE && has_due(live, process))
            wait_for_change(process);
}

/* functions: of live, or its loops. */
static void leave_out_everywhere(struct live *live, const struct vec *functions, uint32_t index,
                                 const char *reason)
{
    struct live_function *function =
        index < functions->count ? VEC_AT(functions, struct live_function, index) : NULL;
    if (!function || function->left_out)
        return;
    function->left_out = true;
    VEC_EACH (process, &live->processes, struct live_process)
        VEC_EACH (patch, &process->patches, const struct live_patch)
            if (live__function(live, patch) == function && !patch->is_given)
                trace_writer__refuse(live->writer, process->serial, patch->name, "", reason);
}

/* What the image, or the one that it was forked from, was told to patch at that address. */
static const struct given_patch *given_to(const struct live *live, const struct trace *trace,
                                          const struct trace_process *known, uint64_t address)
{
    for (; known; known = trace__process_of(trace, known->parent_serial))
        VEC_EACH (given, &live->planner->given, const struct given_patch)
            if (given->process == known->serial && given->address == address)
                return given;
    return NULL;
}

static void leave_out_given(struct live *live, uint32_t serial, uint32_t id, const char *reason)
{
    struct trace *trace = NULL;
    struct error error;
    if (trace__open(live->directory, &trace, &error) < 0)
        return;
    const struct trace_process *known = trace__process_of(trace, serial);
    const struct trace_function *function = known ? trace_process__function(known, id) : NULL;
    const struct given_patch *given =
        function ? given_to(live, trace, known, function->address) : NULL;
    if (given) {
        struct live_witness witness;
        struct live_process *process = take_process(live, known);
        hear(live, process, &witness);
        live_witness__free(&witness);
        struct live_patch *patch = vec__push(&process->patches, NULL);
        patch->plan.address = given->address;
        patch->plan.skip = given->skip;
        memcpy(patch->plan.original, given->original, sizeof given->original);
        patch->applied = patch->is_given = true;
        patch->name = memory__text(function->name);
        trace_writer__refuse(live->writer, serial, function->name, "", reason);
    }
    trace__close(trace);
}

/* Takes the patch of a function of that process image away: a live one in every process, and for
 * good. Why goes into the trace. */
static void leave_out(struct live *live, uint32_t process, uint32_t id, const char *reason)
{
    uint32_t index = (id - HEURT_EVENT_LIVE) / 2;
    if (HEURT_IS_LOOP(id))
        leave_out_everywhere(live, &live->loops, (id - HEURT_EVENT_LOOPS) / 2, reason);
    else if (id >= HEURT_EVENT_LIVE && id <= HEURT_EVENT_LAST)
        leave_out_everywhere(live, &live->functions, index, reason);
    else
        leave_out_given(live, process, id, reason);
    wake(live);
}

static void leave_out_too_frequent(struct live *live)
{
    struct heurt_session *session = trace_writer__session(live->writer);
    for (unsigned i = 0; i < HEURT_TOO_FREQUENT_SLOTS; i++) {
        uint64_t slot = __atomic_load_n(&session->too_frequent[i], __ATOMIC_RELAXED);
        if (!slot)
            continue;
        const char *why = HEURT_IS_LOOP((uint32_t)slot)
                              ? "its iterations are too short to be counted"
                              : "it is called so often that even what is not recorded of it costs "
                                "more than the budget (--overhead)";
        char *reason = memory__format(
            HEURT_LEFT_OUT "%.1f s: %s",
            (double)(clock__ns(CLOCK_MONOTONIC) - session->start.monotonic_ns) / 1e9, why);
        leave_out(live, (uint32_t)(slot >> 32) - 1, (uint32_t)slot, reason);
        free(reason);
        __atomic_store_n(&session->too_frequent[i], 0, __ATOMIC_RELAXED);
    }
}

int live__look(struct live *live)
{
    int wait_ms = LOOK_EVERY_MS;
    uint64_t now = clock__ns(CLOCK_MONOTONIC);
    leave_out_too_frequent(live);
    if (live->started && now >= live->next_look_ns)
        find_processes(live);
    if (live__follow(live, now))
        wake(live);
    VEC_EACH (process, &live->processes, struct live_process) {
        if (process->lingers)
            process->lingers = !stop__tend(process->stop);
        if (process->state == PROCESS_WAITS && process->next_ns <= now && !process->lingers)
            change_process(live, process);
        int this_ms = process->lingers                  ? 1
                      : process->state == PROCESS_WAITS ? ms_until(process->next_ns, now)
                                                        : LOOK_EVERY_MS;
        wait_ms = this_ms < wait_ms ? this_ms : wait_ms;
    }
    int look_ms = live->started && live->looks < FIRST_LOOKS ? ms_until(live->next_look_ns, now)
                                                             : LOOK_EVERY_MS;
    return look_ms < wait_ms ? look_ms : wait_ms;
}

/* ---- from outside ---------------------------------------------------------------------------- */

struct live *live__new(const char *directory, struct planner *planner, struct trace_writer *writer)
{
    struct live *live = memory__zeroed(1, sizeof *live);
    live->directory = directory;
    live->planner = planner;
    live->writer = writer;
    live->functions = VEC_OF(struct live_function);
    live->loops = VEC_OF(struct live_function);
    live->modules = VEC_OF(struct trace_module *);
    live->places = VEC_OF(struct hot_place);
    live->loop_plans = VEC_OF(struct vec);
    live->processes = VEC_OF(struct live_process);
    live->plans = VEC_OF(struct plan *);
    return live;
}

void live__tell_stops(struct live *live, struct stop_log *stops)
{
    live->stops = stops;
}

void live__free(struct live *live)
{
    if (!live)
        return;
    VEC_EACH (process, &live->processes, struct live_process) {
        VEC_EACH (patch, &process->patches, struct live_patch) {
            free(patch->name);
            free(patch->loop.file);
        }
        vec__free(&process->patches);
        vec__free(&process->rooms);
        stop__free(process->stop);
    }
    vec__free(&live->processes);
    vec__free(&live->functions);
    live__free_loops(live);
    VEC_EACH (plan, &live->plans, struct plan *)
        plan__free(*plan);
    vec__free(&live->plans);
    map__free(&live->plan_of_modules);
    map__free(&live->process_of_serial);
    map__free(&live->function_of_place);
    free(live->trouble);
    free(live);
}

void live__start(struct live *live)
{
    vec__push(&live->planner->choices, &live->planner->request->functions.count);
    live->started = true;
    live->looks = 0;
    live->next_look_ns = 0;
    __atomic_fetch_or(&trace_writer__session(live->writer)->flags, HEURT_SESSION_PLANS,
                      __ATOMIC_SEQ_CST);
}

void live__set_all(struct live *live, bool patched)
{
    live->all_taken_away = !patched;
    wake(live);
}

uint64_t live__original(const struct live *live, uint32_t pid, uint64_t address)
{
    VEC_EACH (process, &live->processes, const struct live_process) {
        if ((uint32_t)process->pid != pid)
            continue;
        VEC_EACH (patch, &process->patches, const struct live_patch) {
            uint64_t before = patch->is_loop ? LIVE_LOOP_MOVED_BYTES : LIVE_STUB_BYTES;
            uint64_t offset = address - patch->slot - before;
            if (patch->slot && offset < patch->plan.code_bytes)
                return entry_of(patch) + live_code__original(&patch->plan, offset);
        }
    }
    return 0;
}

struct live_counts live__count(const struct live *live)
{
    struct live_counts counts = {0};
    bool *seen = memory__zeroed(live->functions.count + 1, sizeof *seen);
    VEC_EACH (process, &live->processes, const struct live_process) {
        bool any = false;
        VEC_EACH (patch, &process->patches, const struct live_patch) {
            any |= patch->applied;
            counts.loops += patch->is_loop && patch->applied;
            counts.waiting += process->state == PROCESS_WAITS && is_due(live, patch);
            if (patch->is_loop)
                continue;
            counts.functions += patch->applied && !seen[patch->function];
            seen[patch->function] |= patch->applied;
        }
        counts.processes += any;
    }
    free(seen);
    return counts;
}

const char *live__trouble(const struct live *live)
{
    return live->trouble;
}
