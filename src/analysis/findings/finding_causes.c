#include "analysis/findings/internal.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define SMALL_CALLS 10000   /* of a class, at least */
#define SMALL_CALL_NS 4000u /* that one takes in the mean, at most: it does not wait */
#define SMALL_SIZE_CLASS 13 /* the largest: who asks for 16 KiB at a time need not ask for more */
#define OFTEN 200           /* calls: fewer are made to begin with */

const char *finding_category__name(enum finding_category category)
{
    static const char *const names[FINDING_CATEGORIES] = {
        [FINDING_LOCK] = "lock",
        [FINDING_CONDITION] = "condition",
        [FINDING_BARRIER] = "barrier",
        [FINDING_LATCH] = "latch",
        [FINDING_SEMAPHORE] = "semaphore",
        [FINDING_JOIN] = "join",
        [FINDING_SPINNING] = "spinning",
        [FINDING_YIELD] = "yield",
        [FINDING_POLLING] = "polling",
        [FINDING_DISK] = "disk",
        [FINDING_FILE_LOCK] = "file lock",
        [FINDING_STDIO] = "stdio",
        [FINDING_ALLOCATOR] = "allocator",
        [FINDING_NETWORK] = "network",
        [FINDING_PIPE] = "pipe",
        [FINDING_MESSAGE] = "message",
        [FINDING_CPU] = "cpu",
        [FINDING_PAGE_FAULT] = "page fault",
        [FINDING_MEMORY_MAP] = "memory map",
        [FINDING_FALSE_SHARING] = "false sharing",
        [FINDING_TRUE_SHARING] = "true sharing",
        [FINDING_REMOTE_MEMORY] = "remote memory",
        [FINDING_RETRY] = "retry",
        [FINDING_IMBALANCE] = "imbalance",
        [FINDING_CREATION] = "creation",
        [FINDING_TASK] = "task",
        [FINDING_REGION] = "barrier", /* at both ends of the region */
        [FINDING_SIGNAL] = "signal",
        [FINDING_OVERLAP] = "overlap",
        [FINDING_UNEXPLAINED] = "unexplained",
    };
    return names[category];
}

/* ---- how much -------------------------------------------------------------------------------- */

static bool is_of_large_size(const struct profile_class *class)
{
    VEC_EACH (key, &class->what.keys, struct profile_key)
        if (strcmp(key->name, "size_class") == 0 && key->value > SMALL_SIZE_CLASS)
            return true;
    return false;
}

/* Calls that pass little at a time, so many that what they take is the way into the kernel and
 * back: one may do for many. */
bool class__is_small_calls(const struct profile_class *class)
{
    const struct callsite *at = &class->what.at;
    return (at->kind == CLASS_DISK || at->kind == CLASS_PIPE) && class->count >= SMALL_CALLS &&
           class->sum_ns / class->count <= SMALL_CALL_NS && !is_of_large_size(class);
}

/* A sleep is compared with none: what it waits for may be there. So are calls that take memory from
 * the kernel and give it back all the time: it may be kept; and such that wait for the disk to have
 * all, or pass little at a time: one may do for many. */
bool class__may_be_left_out(const struct profile_class *class)
{
    const struct callsite *at = &class->what.at;
    bool is_made_often =
        at->kind == CLASS_MEMORY_MAP || (at->kind == CLASS_DISK && strstr(at->function, "sync"));
    return at->kind == CLASS_SLEEP || (is_made_often && class->count >= OFTEN) ||
           class__is_small_calls(class);
}

uint64_t class__waited_ns(const struct profile_class *class, const struct profile_thread_row *row)
{
    return class__may_be_left_out(class) ? row->sum_ns : row->excess_ns;
}

/* The same of all threads. */
static uint64_t all_waited_ns(const struct profile_class *class)
{
    return class__may_be_left_out(class) ? class->sum_ns : class->excess_ns;
}

double class__working_part(const struct finder *finder, const struct profile_class *class)
{
    uint64_t all = 0, working = 0;
    VEC_EACH (row, &class->threads, struct profile_thread_row) {
        all += class__waited_ns(class, row);
        working += finder->findings->had_work[row->thread] ? class__waited_ns(class, row) : 0;
    }
    return all ? (double)working / (double)all : 0;
}

/* Of a function: what happened while others ran. Its waits are classes of their own. */
static uint64_t overlap_ns(const struct profile_class *class)
{
    int64_t ns = class->why_ns[REASON_OVERLAP] + class->why_ns[REASON_SPIN];
    return ns > 0 ? (uint64_t)ns : 0;
}

/* The kernel tells how long a thread wanted a CPU and had none; what of that is in no component was
 * while others had let it go on, in a wait: as much in each of its waits as they are long. */
static double woken_part(const struct finder *finder, size_t thread)
{
    const struct profile_thread *row = profile_thread_at(finder, thread);
    uint64_t waits_ns = row->component_ns[COMPONENT_OTHER_BLOCKED];
    for (unsigned i = COMPONENT_LOCK; i < COMPONENT_PAGE_FAULT; i++)
        waits_ns += row->component_ns[i];
    if (row->runnable_ns == UINT64_MAX || !waits_ns)
        return 0;
    double part = (double)ns__without(row->runnable_ns, row->component_ns[COMPONENT_RUNNABLE]) /
                  (double)waits_ns;
    return part < 1 ? part : 1;
}

/* Of the waits for a lock: nobody had it. Who was next in line had been woken and had no CPU. Where
 * threads come one after another, whoever is next may not have come yet. */
uint64_t class__unheld_ns(const struct profile *profile, const struct profile_class *class)
{
    uint64_t waits = 0;
    if (strcmp(class->what.at.function, "omp ordered") == 0)
        return 0;
    VEC_EACH (blame, &class->blames, struct profile_blame)
        waits += blame->waits;
    return class->what.at.kind == CLASS_LOCK && 2 * waits >= class->contended
               ? ns__without(class->sum_ns, profile_class__held_ns(profile, class))
               : 0;
}

/* Of a wait: that who waited, or who was waited for, wanted a CPU; these are mostly one time. */
static double wanted_cpu_ns(const struct finder *finder, const struct profile_class *class)
{
    double own = (double)class->why_ns[COMPONENT_RUNNABLE];
    double others = (double)class__unheld_ns(finder->profile, class);
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        own += woken_part(finder, row->thread) * (double)row->excess_ns;
    VEC_EACH (blame, &class->blames, struct profile_blame)
        others += (double)blame->doing_ns[COMPONENT_RUNNABLE];
    return own > others ? own : others;
}

/* Of what was waited, that somebody wanted a CPU, as far as the machine's shortage of CPUs has it.
 */
static double shortage_ns(const struct finder *finder, const struct profile_class *class)
{
    enum class_kind kind = class->what.at.kind;
    bool is_woken = class_kind__waits_for_threads(kind) || kind == CLASS_FAULT;
    double part = is_woken ? finder->shortage * finder->used : finder->shortage;
    if (kind == CLASS_MESSAGE) /* who asks again and again needs no CPU before it has come */
        part = 0;
    return fmin(part * wanted_cpu_ns(finder, class), (double)all_waited_ns(class));
}

static double wait_ns(const struct finder *finder, const struct profile_class *class)
{
    return (double)all_waited_ns(class) - shortage_ns(finder, class);
}

static bool may_lose(const struct finder *finder, uint32_t place)
{
    const struct profile_class *class = profile_class_at(finder->profile, place);
    return !class->what.ignored && (class->excess_ns || class__may_be_left_out(class)) &&
           !class__is_idle(finder, place);
}

uint64_t class__lost_ns(const struct finder *finder, uint32_t place)
{
    const struct profile_class *class = profile_class_at(finder->profile, place);
    if (!may_lose(finder, place))
        return 0;
    double lost = class__is_call(class) ? (double)overlap_ns(class) : wait_ns(finder, class);
    return (uint64_t)(lost * class__working_part(finder, class));
}

/* Adds the machine's part in the waits of a class. */
static void add_shortage(const struct finder *finder, const struct profile_class *class,
                         uint64_t *ns)
{
    uint64_t waited_ns = all_waited_ns(class);
    double part = waited_ns ? shortage_ns(finder, class) / (double)waited_ns : 0;
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (finder->findings->had_work[row->thread])
            ns[row->thread] += (uint64_t)(part * (double)class__waited_ns(class, row));
}

uint64_t *finder__shortage_in_waits(const struct finder *finder)
{
    uint64_t *ns = memory__zeroed(finder->profile->threads.count + 1, sizeof *ns);
    for (uint32_t i = 0; i < finder->profile->classes.count; i++)
        if (may_lose(finder, i) && !class__is_call(profile_class_at(finder->profile, i)))
            add_shortage(finder, profile_class_at(finder->profile, i), ns);
    return ns;
}

/* ---- what it is called ----------------------------------------------------------------------- */

struct word_category {
    const char *word;
    enum finding_category category;
};

static enum finding_category category_of_words(const char *text, const struct word_category *words,
                                               size_t count, enum finding_category otherwise)
{
    for (size_t i = 0; text && i < count; i++)
        if (strstr(text, words[i].word))
            return words[i].category;
    return otherwise;
}

enum finding_category system_function__category(const char *function)
{
    static const struct word_category words[] = {
        {"printf", FINDING_STDIO},        {"flockfile", FINDING_STDIO},
        {"_IO_", FINDING_STDIO},          {"fputs", FINDING_STDIO},
        {"fwrite", FINDING_STDIO},        {"fread", FINDING_STDIO},
        {"fputc", FINDING_STDIO},         {"getc", FINDING_STDIO},
        {"fgets", FINDING_STDIO},         {"fflush", FINDING_STDIO},
        {"getline", FINDING_STDIO},       {"puts", FINDING_STDIO},
        {"malloc", FINDING_ALLOCATOR},    {"calloc", FINDING_ALLOCATOR},
        {"realloc", FINDING_ALLOCATOR},   {"arena", FINDING_ALLOCATOR},
        {"_int_free", FINDING_ALLOCATOR}, {"cfree", FINDING_ALLOCATOR},
        {"free", FINDING_ALLOCATOR},      {"mmap", FINDING_MEMORY_MAP},
        {"munmap", FINDING_MEMORY_MAP},   {"mprotect", FINDING_MEMORY_MAP},
        {"madvise", FINDING_MEMORY_MAP},  {"mremap", FINDING_MEMORY_MAP},
        {"brk", FINDING_MEMORY_MAP},
    };
    return category_of_words(function, words, sizeof words / sizeof *words, FINDING_UNEXPLAINED);
}

/* What a system library waits for on behalf of its caller: its innermost function of which that is
 * known. */
static enum finding_category category_of_callers(const struct symbols *symbols,
                                                 const struct profile_class *class)
{
    const struct vec *stacks = &class->what.stacks;
    const struct profile_stack *stack = stacks->items;
    for (size_t i = 0; stacks->count && i < stack->frame_count; i++) {
        const struct symbol *symbol = symbols__get(symbols, stack->process, stack->frames[i]);
        if (!symbol || program_frame__inlined(symbol))
            break;
        enum finding_category category = system_function__category(symbol->function);
        if (category != FINDING_UNEXPLAINED)
            return category;
    }
    return FINDING_UNEXPLAINED;
}

/* What code that waits is, by the names of the calls that were inlined at the site. */
static enum finding_category category_of_waiter(const struct symbol *symbol,
                                                enum finding_category otherwise)
{
    static const struct word_category words[] = {
        {"GOMP_task", FINDING_TASK},       {"__kmpc_omp_task", FINDING_TASK},
        {"std::latch", FINDING_LATCH},     {"arrive_and_wait", FINDING_BARRIER},
        {"std::barrier", FINDING_BARRIER}, {"barrier", FINDING_BARRIER},
        {"semaphore", FINDING_SEMAPHORE},  {"mutex", FINDING_LOCK},
        {"critical", FINDING_LOCK},        {"lock", FINDING_LOCK},
    };
    enum finding_category category = otherwise;
    for (; symbol && category == otherwise; symbol = symbol->inlined_by)
        category =
            category_of_words(symbol->function, words, sizeof words / sizeof *words, otherwise);
    return category;
}

/* Likewise by the frames around it, up to the program's own code: the library's functions are not
 * inlined everywhere. */
static enum finding_category category_of_frames(const struct symbols *symbols,
                                                const struct profile_class *class,
                                                const struct symbol *site,
                                                enum finding_category otherwise)
{
    const struct vec *stacks = &class->what.stacks;
    const struct profile_stack *stack = stacks->items;
    enum finding_category category = category_of_waiter(site, otherwise);
    for (size_t i = 0; stacks->count && i < stack->frame_count && category == otherwise; i++) {
        const struct symbol *symbol = symbols__get(symbols, stack->process, stack->frames[i]);
        if (!symbol)
            break;
        category = category_of_waiter(symbol, otherwise);
        if (program_frame__inlined(symbol))
            break;
    }
    return category;
}

bool class__is_once(const struct finder *finder, const struct profile_class *class)
{
    const struct symbol *site =
        symbols__get(finder->symbols, class->what.at.process, class->what.at.site);
    return strcmp(class->what.at.function, "pthread_once") == 0 ||
           (site && strncmp(site->function, "__cxa_guard_", 12) == 0);
}

static enum finding_category category_of_futex(const struct finder *finder,
                                               const struct profile_class *class,
                                               const struct symbol *site)
{
    enum finding_category category = category_of_callers(finder->symbols, class);
    bool is_libc = category == FINDING_STDIO || category == FINDING_ALLOCATOR;
    if (class__is_once(finder, class))
        return FINDING_LATCH;
    return is_libc ? category : category_of_frames(finder->symbols, class, site, FINDING_CONDITION);
}

/* The C++ library yields some times before it waits by a futex: that is the same wait. */
static bool is_atomic_wait(const struct symbol *symbol)
{
    for (; symbol && symbol__is_system(symbol); symbol = symbol->inlined_by)
        if (strstr(symbol->function, "__atomic_spin") || strstr(symbol->function, "_do_spin"))
            return true;
    return false;
}

static enum finding_category category_of_yield(const struct profile_class *class,
                                               const struct symbol *symbol)
{
    if (strcmp(class->what.at.function, "sched_yield") != 0)
        return FINDING_POLLING; /* it sleeps in between */
    return is_atomic_wait(symbol) ? category_of_waiter(symbol, FINDING_CONDITION) : FINDING_YIELD;
}

static enum finding_category category_of_lock(const struct profile_class *class)
{
    if (strcmp(class->what.at.function, "flockfile") == 0)
        return FINDING_STDIO;
    return strcmp(class->what.at.function, "file lock") == 0 ? FINDING_FILE_LOCK : FINDING_LOCK;
}

/* A lock of a runtime's or of the program's own making. Whoever waits for one may have a place to
 * park of its own; a semaphore that several wait at is one. */
static bool is_made_lock(const struct finder *finder, const struct profile_class *class)
{
    return !class->joins && (class->what.at.kind != CLASS_SEMAPHORE || class->threads.count == 1) &&
           program_frame__takes_lock(finder->symbols, &class->what);
}

bool class__is_of_regions(const struct profile_class *class)
{
    return class->what.at.kind == CLASS_BARRIER &&
           strcmp(class->what.at.function, CALL_OF_REGIONS) == 0;
}

enum finding_category class__category(const struct finder *finder,
                                      const struct profile_class *class)
{
    static const enum finding_category of_kind[CLASS_KINDS] = {
        [CLASS_CALL] = FINDING_OVERLAP,
        [CLASS_REGION] = FINDING_OVERLAP,
        [CLASS_ITERATION] = FINDING_OVERLAP,
        [CLASS_LOCK] = FINDING_LOCK,
        [CLASS_CONDITION] = FINDING_CONDITION,
        [CLASS_BARRIER] = FINDING_BARRIER,
        [CLASS_SEMAPHORE] = FINDING_SEMAPHORE,
        [CLASS_JOIN] = FINDING_JOIN,
        [CLASS_DISK] = FINDING_DISK,
        [CLASS_NETWORK] = FINDING_NETWORK,
        [CLASS_PIPE] = FINDING_PIPE,
        [CLASS_POLL] = FINDING_POLLING,
        [CLASS_SLEEP] = FINDING_POLLING,
        [CLASS_YIELD] = FINDING_YIELD,
        [CLASS_LOOP] = FINDING_OVERLAP,
        [CLASS_FAULT] = FINDING_PAGE_FAULT,
        [CLASS_MEMORY_MAP] = FINDING_MEMORY_MAP,
        [CLASS_MESSAGE] = FINDING_MESSAGE,
        [CLASS_MPI] = FINDING_MESSAGE,
    };
    if (class->what.at.kind == CLASS_LOCK)
        return category_of_lock(class);
    const struct symbol *site =
        symbols__get(finder->symbols, class->what.at.process, class->what.at.site);
    if (is_made_lock(finder, class))
        return FINDING_LOCK;
    if (class->what.at.kind == CLASS_FUTEX)
        return category_of_futex(finder, class, site);
    if (class__is_of_regions(class))
        return FINDING_REGION;
    if (class->what.at.kind == CLASS_YIELD)
        return category_of_yield(class, site);
    if (class__is_call(class))
        return class->why_ns[REASON_SPIN] > class->why_ns[REASON_OVERLAP] ? FINDING_SPINNING
                                                                          : FINDING_OVERLAP;
    return of_kind[class->what.at.kind];
}
