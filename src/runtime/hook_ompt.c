/* hook_ompt.c: parallel regions and tasks of LLVM's runtime (libomp), which it tells to a tool:
 * this library, if the program has none of its own.
 *
 * libomp asks each library for ompt_start_tool as it starts. Who comes behind us is asked first,
 * and a tool that the user names (OMP_TOOL_LIBRARIES) is left to be one. What a program of gcc does
 * with libomp is told by the hooks of its calls already (is_told), and not a second time.
 *
 *     parallel_data   the region's number, with SHORT if no wait is told of it; 0: not told
 *     task_data       of an implicit task whose body is open: that number, with MASTER of who
 *                     called the region; of an explicit one: its place and who made it (EXPLICIT)
 *
 * A worker's implicit task ends when the next region begins: its body is over where it comes to the
 * join barrier. That is the implicit barrier which is reached by no call of __kmpc_barrier. When
 * that was over the worker learns from who called the region, but only when it is let go: the end
 * of its wait for the region's end, and that it waited for the next one, are told then.
 *
 *     who calls   body --|~ barrier ~| end              begin |-- body
 *     a worker    body ------|~ bar ~|~ for the next region ~~|-- body
 *                                                             told here */
#include "runtime/openmp_hooks.h"

#include <dlfcn.h>
#include <stdlib.h>

/* As the OpenMP API (5.0) has them. */
union tool_data {
    uint64_t value;
    void *pointer;
};
typedef void (*tool_entry)(void);
typedef tool_entry (*tool_lookup)(const char *name);
struct tool_start {
    int (*initialise)(tool_lookup lookup, int device, union tool_data *data);
    void (*finalise)(union tool_data *data);
    union tool_data data;
};
enum {
    PARALLEL_BEGIN = 3,
    PARALLEL_END,
    TASK_CREATE,
    TASK_SCHEDULE,
    IMPLICIT_TASK,
    SYNC_REGION = 23,
    CANCELLED = 30
};
enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };
enum { TASK_EXPLICIT = 4 };
enum { TASK_COMPLETE = 1, TASK_CANCELLED = 3, TASK_DETACHED = 4 };
enum { CANCEL_PARALLEL = 1, CANCEL_SECTIONS = 2, CANCEL_LOOP = 4, CANCEL_ACTIVATED = 16 };
enum { BARRIER_IMPLICIT = 2, BARRIER_IMPLICIT_PARALLEL = 9 };

struct tool_start *ompt_start_tool(unsigned version, const char *runtime);

#define EXPLICIT (1ull << 63)
#define MASTER (1ull << 62)
#define SHORT (1ull << 61)
#define NUMBER_OF(value) ((value) & (SHORT - 1))
#define MAKER_BITS 15 /* of its serial: one in 32,768 that is another may be taken for the same */
#define MAKER_OF(data) ((data) >> 48 & ((1u << MAKER_BITS) - 1))

static uint64_t *site_of(uint64_t number)
{
    return &heurt_state.openmp.region_sites[number % OPENMP_LIVE_REGIONS];
}

static struct openmp_end *end_of(uint64_t number)
{
    return &heurt_state.openmp.region_ends[number % OPENMP_LIVE_REGIONS];
}

/* ---- regions --------------------------------------------------------------------------------- */

static void parallel_begin(union tool_data *task, const void *frame, union tool_data *parallel,
                           unsigned threads, int flags, const void *site)
{
    struct thread *thread = hook__thread();
    (void)task, (void)frame, (void)flags;
    parallel->value = 0;
    if (!thread || thread->openmp.is_told || !site) /* a team of a league calls none itself */
        return;
    uint64_t number = __atomic_add_fetch(&heurt_state.openmp.region_count, 1, __ATOMIC_RELAXED);
    *site_of(number) = HEURT_SITE(site, 0);
    team__is_called(thread, (uintptr_t)site);
    uint64_t tick =
        openmp__begin(thread, HEURT_SITE(site, 0), HEURT_OPENMP_REGION, number, threads);
    end_of(number)->since = tick;
    openmp__told(thread, tick);
    parallel->value = number | (region__is_short((uintptr_t)site) ? SHORT : 0);
}

static void parallel_end(union tool_data *parallel, union tool_data *task, int flags,
                         const void *site)
{
    struct thread *thread = hook__thread();
    (void)task, (void)flags;
    if (!thread || !parallel->value)
        return;
    openmp__flush(thread);
    bool is_alone = thread->openmp.is_alone;
    uint64_t tick = is_alone ? openmp__tick_told(thread) : clock__tick();
    thread->openmp.is_alone = false;
    openmp__end_at(thread, HEURT_SITE(site, 0), HEURT_OPENMP_REGION, 0, 0, 0, tick);
    region__took((uintptr_t)site, tick - end_of(NUMBER_OF(parallel->value))->since);
}

/* ---- the end of a region --------------------------------------------------------------------- */

/* By who called it. The others may look at any time: its number is there last. */
static void ends(uint64_t number, struct thread *master)
{
    struct openmp_end *end = end_of(number);
    __atomic_store_n(&end->tick, clock__tick(), __ATOMIC_RELAXED);
    __atomic_store_n(&end->master, (uintptr_t)master, __ATOMIC_RELAXED);
    __atomic_store_n(&end->number, number, __ATOMIC_RELEASE);
    master->has_team = true;
}

/* Its body is over, and it waits for those of the others. In a program with tasks it does these
 * meanwhile. */
static void joins(struct thread *thread, uint64_t task)
{
    uint64_t number = NUMBER_OF(task);
    if (!task || task & EXPLICIT || heurt_state.openmp.has_tasks)
        return;
    wait__is_told(thread, true);
    if (task & SHORT)
        return;
    uint64_t site = HEURT_SITE(HEURT_SITE_ADDRESS(*site_of(number)), HEURT_BARRIER_OPENMP_REGION);
    event__end(thread, kernel__look(thread)); /* what is told so far is of its body */
    hook__stack(thread, site, NULL);
    event__write2(thread, HEURT_EVENT_BARRIER_WAIT, site, HEURT_SITE_ADDRESS(site));
    thread->openmp.joined = task;
    thread->openmp.joined_since = clock__tick();
}

uint64_t openmp__end_tick(const struct thread *thread)
{
    uint64_t number = thread->openmp.joined, since = thread->openmp.joined_since;
    const struct openmp_end *end = end_of(number);
    if (number & MASTER || thread->docked)
        return 0;
    uint64_t ended = __atomic_load_n(&end->number, __ATOMIC_ACQUIRE);
    if (ended != number) /* many have ended since, and when this one did nobody knows any more */
        return ended > number ? since : 0;
    uint64_t tick = __atomic_load_n(&end->tick, __ATOMIC_RELAXED);
    return tick > since ? tick : since;
}

void openmp__tell_end(struct thread *thread)
{
    uint64_t number = thread->openmp.joined, tick = openmp__end_tick(thread);
    uint64_t *at = tick ? event__claim(thread, 2) : NULL;
    if (!at)
        return;
    at[1] = 0;
    event__publish(at, tick, HEURT_EVENT_BARRIER_WAIT | 1);
    at = event__claim(thread, 4);
    if (!at)
        return;
    at[1] = HEURT_SITE(HEURT_SITE_ADDRESS(*site_of(number)), HEURT_CONDITION_OPENMP_REGION);
    at[2] = __atomic_load_n(&end_of(number)->master, __ATOMIC_RELAXED);
    at[3] = 0;
    event__publish(at, tick, HEURT_EVENT_CONDITION_WAIT);
    thread->docked = tick;
}

/* The wait that it is in is over: of who called the region that for its end; of another thread that
 * for the next one. */
static void leaves(struct thread *thread)
{
    uint64_t task = thread->openmp.joined, since = thread->openmp.joined_since;
    wait__is_told(thread, thread->openmp.is_meeting && !heurt_state.openmp.has_tasks);
    if (!task)
        return;
    if (task & MASTER)
        ends(NUMBER_OF(task), thread);
    event__end(thread, kernel__look(thread)); /* of both waits */
    openmp__tell_end(thread);
    if (thread->docked)
        wait__end(thread, HEURT_EVENT_CONDITION_WAIT | 1, thread->docked, 0);
    else
        wait__end(thread, HEURT_EVENT_BARRIER_WAIT | 1, since, 0);
    thread->openmp.joined = thread->docked = 0;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void body_begins(struct thread *thread, uint64_t number, uint64_t place)
{
    bool is_alone = place == 1;
    struct openmp_frame *frame = &thread->openmp.frame;
    openmp__flush(thread);
    frame->bodies++;
    frame->wait_ticks = frame->task_ticks = 0;
    frame->loop.site = 0;
    uint64_t tick = is_alone ? openmp__tick_told(thread) : clock__tick();
    openmp__begin_at(thread, *site_of(number), HEURT_OPENMP_BODY, number, place, tick);
}

/* task: of the body; it is over, if it is not already. */
static void body_ends(struct thread *thread, union tool_data *task)
{
    uint64_t number = NUMBER_OF(task->value);
    if (!thread || !task->value || task->value & EXPLICIT)
        return;
    task->value = 0;
    loop__end(thread);
    openmp__flush(thread);
    uint64_t tick = openmp__end(thread, *site_of(number), HEURT_OPENMP_BODY, 0, 0, 0);
    openmp__told(thread, tick);
    thread->openmp.frame.bodies -= thread->openmp.frame.bodies > 0;
}

static void implicit_task(int endpoint, union tool_data *parallel, union tool_data *task,
                          unsigned threads, unsigned number, int flags)
{
    struct thread *thread = hook__thread();
    (void)flags;
    if (thread)
        leaves(thread);
    if (endpoint == SCOPE_END) {
        body_ends(thread, task);
        return;
    }
    task->value = 0;
    if (!thread || !parallel || !parallel->value) /* as that of the program's first thread */
        return;
    task->value = parallel->value | (number == 0 ? MASTER : 0);
    thread->openmp.is_alone = threads == 1;
    body_begins(thread, NUMBER_OF(parallel->value), (uint64_t)number << 32 | threads);
}

static void sync_region(int kind, int endpoint, union tool_data *parallel, union tool_data *task,
                        const void *site)
{
    struct thread *thread = hook__thread();
    (void)parallel, (void)site;
    bool is_implicit = kind == BARRIER_IMPLICIT || kind == BARRIER_IMPLICIT_PARALLEL;
    if (!thread || !task || !is_implicit || thread->openmp.is_meeting)
        return;
    if (endpoint == SCOPE_BEGIN) {
        uint64_t ended = task->value;
        body_ends(thread, task);
        joins(thread, ended);
    } else {
        leaves(thread);
    }
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A hook of the call that makes it knows the place. */
static void task_create(union tool_data *task, const void *frame, union tool_data *made, int flags,
                        int has_dependences, const void *site)
{
    struct thread *thread = hook__thread();
    (void)task, (void)frame, (void)has_dependences;
    made->value = 0;
    if (!thread || thread->openmp.is_told || !(flags & TASK_EXPLICIT))
        return;
    uint64_t place = thread->openmp.making_site ? thread->openmp.making_site : (uintptr_t)site;
    heurt_state.openmp.has_tasks = true;
    made->value = EXPLICIT | (uint64_t)(thread->serial & ((1u << MAKER_BITS) - 1)) << 48 |
                  HEURT_SITE_ADDRESS(place);
}

/* Its ticks without what it waited for; all of them are of who waits, and runs it meanwhile. */
static void task_is_done(struct thread *thread)
{
    struct openmp_frame *frame = &thread->openmp.frame;
    const struct openmp_running *running =
        &thread->countdowns->running[--thread->openmp.running_count];
    uint64_t ticks = clock__tick() - running->since, waited = frame->wait_ticks;
    frame->wait_ticks = running->wait_before;
    frame->task_ticks += ticks;
    openmp__add(thread, SUM_TASK, HEURT_SITE(HEURT_SITE_ADDRESS(running->data), 0),
                ticks > waited ? ticks - waited : 0,
                MAKER_OF(running->data) != (thread->serial & ((1u << MAKER_BITS) - 1)));
}

static const struct openmp_running *running_now(const struct thread *thread)
{
    uint32_t count = thread->openmp.running_count;
    return count ? &thread->countdowns->running[count - 1] : NULL;
}

static void task_begins(struct thread *thread, union tool_data *task)
{
    struct openmp_frame *frame = &thread->openmp.frame;
    leaves(thread); /* what it does now is told */
    if (!thread->countdowns || thread->openmp.running_count == OPENMP_RUNNING_MOST)
        return;
    thread->countdowns->running[thread->openmp.running_count++] =
        (struct openmp_running){.task = task,
                                .data = task->value,
                                .since = clock__tick(),
                                .wait_before = frame->wait_ticks};
    frame->wait_ticks = 0;
}

static void task_schedule(union tool_data *prior, int status, union tool_data *next)
{
    struct thread *thread = hook__thread();
    if (!thread)
        return;
    const struct openmp_running *running = running_now(thread);
    bool is_over = status == TASK_COMPLETE || status == TASK_CANCELLED || status == TASK_DETACHED;
    if (is_over && running && running->task == prior)
        task_is_done(thread);
    running = running_now(thread);
    if (next && next->value & EXPLICIT && !(running && running->task == next))
        task_begins(thread, next);
}

/* By whoever asks for it; others come to know of it. */
static void cancelled(union tool_data *task, int flags, const void *site)
{
    static const uint8_t constructs[] = {/* as libgomp numbers them */
                                         [CANCEL_PARALLEL] = 1,
                                         [CANCEL_SECTIONS] = 4,
                                         [CANCEL_LOOP] = 2};
    unsigned construct = (unsigned)flags & (CANCEL_ACTIVATED - 1);
    struct thread *thread = hook__thread();
    (void)task;
    if (!thread || thread->openmp.is_told || !(flags & CANCEL_ACTIVATED))
        return;
    openmp__end(thread, HEURT_SITE(site, 0), HEURT_OPENMP_CANCEL, 0,
                construct < sizeof constructs ? constructs[construct] : construct, 1);
}

/* ---- the tool -------------------------------------------------------------------------------- */

static int initialise(tool_lookup lookup, int device, union tool_data *data)
{
    static const struct {
        int event;
        tool_entry callback;
    } callbacks[] = {
        {PARALLEL_BEGIN, (tool_entry)parallel_begin}, {PARALLEL_END, (tool_entry)parallel_end},
        {IMPLICIT_TASK, (tool_entry)implicit_task},   {SYNC_REGION, (tool_entry)sync_region},
        {TASK_CREATE, (tool_entry)task_create},       {TASK_SCHEDULE, (tool_entry)task_schedule},
        {CANCELLED, (tool_entry)cancelled},
    };
    int (*set)(int, tool_entry) = (int (*)(int, tool_entry))lookup("ompt_set_callback");
    (void)device, (void)data;
    for (size_t i = 0; set && i < sizeof callbacks / sizeof *callbacks; i++)
        set(callbacks[i].event, callbacks[i].callback);
    return set != NULL;
}

static void finalise(union tool_data *data)
{
    (void)data;
}

EXPORT struct tool_start *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct tool_start tool = {initialise, finalise, {0}};
    const char *named = getenv("OMP_TOOL_LIBRARIES");
    __typeof__(&ompt_start_tool) other =
        (__typeof__(&ompt_start_tool))dlsym(BEHIND_US, "ompt_start_tool");
    struct tool_start *found = other ? other(version, runtime) : NULL;
    dlerror(); /* must not show in the program's */
    if (found || (named && *named) || !heurt_state.recording || heurt_state.aggregates)
        return found;
    return &tool;
}
