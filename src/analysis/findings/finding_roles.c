#include "analysis/findings/internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- what of a thread's waits is idle -------------------------------------------------------- */

static bool is_wait(enum component component)
{
    return component != COMPONENT_RUNNING && component != COMPONENT_RUNNABLE &&
           component != COMPONENT_PAGE_FAULT && component != COMPONENT_OVERHEAD;
}

static uint64_t part_of(uint64_t whole_ns, double part)
{
    return (uint64_t)((double)whole_ns * (part < 1 ? part : 1));
}

/* Moves ns from the component to the idle time, no more than is there. */
static uint64_t move(struct role *life, unsigned component, uint64_t ns)
{
    uint64_t moved_ns = ns__smaller(ns, life->component_ns[component]);
    life->component_ns[component] -= moved_ns;
    life->idle_ns += moved_ns;
    return moved_ns;
}

static void move_idle_class(const struct finder *finder, const struct profile_class *class,
                            struct role *lives)
{
    VEC_EACH (row, &class->threads, struct profile_thread_row) {
        double part = class->sum_ns ? (double)row->sum_ns / (double)class->sum_ns : 0;
        for (unsigned i = 0; i < COMPONENTS; i++) {
            uint64_t sum_ns = trace__ns(finder->trace, class->accumulator->component_sum[i]);
            uint64_t moved_ns = is_wait((enum component)i)
                                    ? move(&lives[row->thread], i, part_of(sum_ns, part))
                                    : 0;
            lives[row->thread].joined_ns += class->what.at.kind == CLASS_JOIN ? moved_ns : 0;
        }
    }
}

/* What a futex, or yields, wait for, as far as that is a component: else OTHER_BLOCKED. */
static enum component component_of(enum finding_category category)
{
    switch (category) {
    case FINDING_LOCK:
    case FINDING_ALLOCATOR:
    case FINDING_STDIO:
        return COMPONENT_LOCK;
    case FINDING_BARRIER:
        return COMPONENT_BARRIER;
    case FINDING_CONDITION:
    case FINDING_LATCH:
    case FINDING_SEMAPHORE:
    case FINDING_TASK:
        return COMPONENT_CONDITION;
    default:
        return COMPONENT_OTHER_BLOCKED;
    }
}

static bool is_told_by_code(const struct profile_class *class)
{
    return class->what.at.kind == CLASS_FUTEX || class->what.at.kind == CLASS_YIELD;
}

/* As in struct findings. */
static enum component waits_as(const struct finder *finder, uint32_t place)
{
    const struct profile_class *class = profile_class_at(finder->profile, place);
    if (class__is_idle(finder, place))
        return COMPONENTS;
    enum finding_category category = class__category(finder, class);
    bool is_made_lock = category == FINDING_LOCK && !class__is_call(class);
    return is_told_by_code(class) || is_made_lock ? component_of(category)
                                                  : class_kind__component(class->what.at.kind);
}

/* The fold does not know what is waited for there: the code around the call tells, also that a
 * condition is part of a lock. */
static void move_known_class(const struct finder *finder, const struct profile_class *class,
                             enum component to, struct role *lives)
{
    enum component from = class_kind__component(class->what.at.kind);
    uint64_t sum_ns = trace__ns(finder->trace, class->accumulator->component_sum[from]);
    bool asks = (class->what.at.kind == CLASS_YIELD && to == COMPONENT_OTHER_BLOCKED) ||
                class->what.at.kind == CLASS_SLEEP; /* the others are idle */
    if (class__is_call(class) || (to == from && !asks))
        return;
    VEC_EACH (row, &class->threads, struct profile_thread_row) {
        double part = class->sum_ns ? (double)row->sum_ns / (double)class->sum_ns : 0;
        struct role *life = &lives[row->thread];
        uint64_t moved_ns = ns__smaller(part_of(sum_ns, part), life->component_ns[from]);
        life->component_ns[from] -= moved_ns;
        *(asks ? &life->asked_ns : &life->component_ns[to]) += moved_ns;
    }
}

/* A thread each, by trace__threads; free() it. */
static struct role *lives_of(const struct finder *finder)
{
    const struct vec *threads = &finder->profile->threads;
    struct role *lives = memory__zeroed(threads->count + 1, sizeof *lives);
    for (size_t i = 0; i < threads->count; i++) {
        const struct profile_thread *thread = VEC_AT(threads, struct profile_thread, i);
        lives[i].lifetime_ns = thread->lifetime_ns;
        memcpy(lives[i].component_ns, thread->component_ns, sizeof lives[i].component_ns);
        move(&lives[i], thread->idle_end, thread->idle_end_ns);
    }
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        enum component as = finder->findings->waits_as[i];
        if (as == COMPONENTS)
            move_idle_class(finder, class, lives);
        else
            move_known_class(finder, class, as, lives);
    }
    return lives;
}

/* ---- who it is ------------------------------------------------------------------------------- */

/* By process: the name of its first thread, which threads that nobody gave a name have, too.
 * free() it. */
static const char **first_names(const struct finder *finder)
{
    const char **names = memory__zeroed(trace__processes(finder->trace)->count + 1, sizeof *names);
    VEC_EACH (thread, trace__threads(finder->trace), struct trace_thread)
        if (thread->tid == thread->pid)
            names[thread->process] = thread->name;
    return names;
}

static const char *own_name(const struct trace_thread *thread, const char *first)
{
    return *thread->name && (!first || strcmp(first, thread->name) != 0) ? thread->name : NULL;
}

static size_t bytes_without_number(const char *name)
{
    size_t bytes = strlen(name);
    while (bytes > 1 && strchr("0123456789", name[bytes - 1]))
        bytes--;
    return bytes;
}

static const struct symbol *start_of(const struct finder *finder, const struct trace_thread *thread,
                                     uint32_t serial)
{
    return thread->start_routine ? symbols__get(finder->symbols, serial, thread->start_routine)
                                 : NULL;
}

/* A lambda, or an object that is called: it has no name of its own. */
static bool is_nameless(const struct symbol *symbol)
{
    static const char call[] = "operator()";
    const char *found = strstr(symbol->function, call);
    return found && (found == symbol->function || found[-1] == ':');
}

/* The outermost code of the program in a frame that has a name: who inlined all the rest. */
static const struct symbol *outermost(const struct symbol *symbol)
{
    const struct symbol *last = NULL;
    for (; (symbol = program_frame__inlined(symbol)); symbol = symbol->inlined_by)
        last = last && is_nameless(symbol) ? last : symbol;
    return last;
}

/* Where the program begins in a stack that the system's own code began: std::thread, say. What a
 * lambda calls has a name, and tells more. */
static const struct symbol *begin_of(const struct finder *finder, const struct profile_stack *stack)
{
    const struct symbol *begin = NULL;
    for (size_t i = stack->frame_count; i-- > 0;) {
        const struct symbol *found =
            outermost(symbols__get(finder->symbols, stack->process, stack->frames[i]));
        if (found && !begin && i + 1 == stack->frame_count)
            return NULL;
        begin = found ?: begin;
        if (begin && !is_nameless(begin))
            return begin;
    }
    return begin;
}

/* Where all stacks of the class begin, but those of main; NULL: not known, or at several places. */
static const struct symbol *begin_of_class(const struct finder *finder,
                                           const struct profile_class *class)
{
    const struct symbol *begin = NULL;
    VEC_EACH (stack, &class->what.stacks, struct profile_stack) {
        const struct symbol *found = begin_of(finder, stack);
        if (found && strcmp(found->function, "main") == 0)
            continue;
        if (!found || (begin && strcmp(begin->function, found->function) != 0))
            return NULL;
        begin = found;
    }
    return begin;
}

/* By thread: where the program begins in what took most of its time. Threads that code of the
 * system starts on behalf of the program are known by that. free() it. */
static const struct symbol **begins_of(const struct finder *finder)
{
    size_t threads = finder->profile->threads.count;
    const struct symbol **begins = memory__zeroed(threads + 1, sizeof *begins);
    uint64_t *longest_ns = memory__zeroed(threads + 1, sizeof *longest_ns);
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        const struct symbol *begin = begin_of_class(finder, class);
        if (!begin)
            continue;
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            if (row->sum_ns > longest_ns[row->thread]) {
                longest_ns[row->thread] = row->sum_ns;
                begins[row->thread] = begin;
            }
    }
    free(longest_ns);
    return begins;
}

static struct role role_of(const struct finder *finder, uint32_t place, const char **names,
                           const struct symbol **begins)
{
    const struct trace_thread *thread = trace__thread_at(finder->trace, place);
    const struct trace_process *process = trace__process_at(finder->trace, thread->process);
    struct role role = {.program = process->path ? process->path : "",
                        .is_main = thread->tid == thread->pid,
                        .had_work = finder->findings->had_work[place],
                        .thread = place};
    role.name = role.is_main ? NULL : own_name(thread, names[thread->process]);
    role.name_bytes = role.name ? bytes_without_number(role.name) : 0;
    const struct symbol *start = start_of(finder, thread, process->serial);
    role.is_of_openmp = !role.is_main && !role.name && start && symbol__is_of_openmp(start);
    if (!role.is_main && !role.name && !role.is_of_openmp)
        role.start = program_frame__inlined(start) ?: (start ? begins[place] : NULL);
    return role;
}

static bool is_same_name(const struct role *a, const struct role *b)
{
    if (!a->name || !b->name)
        return a->name == b->name;
    return a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0;
}

static bool is_same_start(const struct symbol *a, const struct symbol *b)
{
    return a == b || (a && b && strcmp(a->function, b->function) == 0);
}

static bool is_same(const struct role *a, const struct role *b)
{
    return a->is_main == b->is_main && a->is_of_openmp == b->is_of_openmp &&
           a->had_work == b->had_work && is_same_name(a, b) && is_same_start(a->start, b->start) &&
           strcmp(a->program, b->program) == 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static struct role *find_role(struct vec *roles, const struct role *wanted)
{
    VEC_EACH (role, roles, struct role)
        if (is_same(role, wanted))
            return role;
    return vec__push(roles, wanted);
}

static void add(struct role *role, const struct role *life, uint64_t threads)
{
    role->threads += threads;
    role->lifetime_ns += life->lifetime_ns;
    role->idle_ns += life->idle_ns;
    role->joined_ns += life->joined_ns;
    role->asked_ns += life->asked_ns;
    for (int i = 0; i < COMPONENTS; i++)
        role->component_ns[i] += life->component_ns[i];
}

static int by_work(const void *a, const void *b)
{
    const struct role *left = a, *right = b;
    if (left->had_work != right->had_work)
        return left->had_work ? -1 : 1;
    return ORDER(right->lifetime_ns, left->lifetime_ns) ?: ORDER(left->thread, right->thread);
}

/* Until they are sorted, a role is known by its first thread. */
static void place_roles(struct findings *findings, const uint32_t *firsts, size_t threads)
{
    uint32_t *places = memory__zeroed(threads + 1, sizeof *places);
    for (uint32_t i = 0; i < findings->roles.count; i++)
        places[VEC_AT(&findings->roles, struct role, i)->thread] = i;
    for (size_t i = 0; i < threads; i++)
        findings->roles_of[i] = places[firsts[i]];
    free(places);
}

static void find_waits(struct finder *finder)
{
    struct findings *findings = finder->findings;
    size_t classes = finder->profile->classes.count;
    findings->waits_as = memory__zeroed(classes, sizeof *findings->waits_as);
    for (uint32_t i = 0; i < classes; i++)
        findings->waits_as[i] = waits_as(finder, i);
}

void finder__find_roles(struct finder *finder)
{
    struct findings *findings = finder->findings;
    struct vec *roles = &findings->roles;
    find_waits(finder);
    struct role *lives = lives_of(finder);
    const char **names = first_names(finder);
    const struct symbol **begins = begins_of(finder);
    size_t threads = finder->profile->threads.count;
    uint32_t *firsts = findings->roles_of = memory__zeroed(threads + 1, sizeof *firsts);
    *roles = VEC_OF(struct role);
    for (uint32_t i = 0; i < threads; i++) {
        if (trace__thread_at(finder->trace, i)->is_aside)
            continue;
        const struct role wanted = role_of(finder, i, names, begins);
        struct role *role = find_role(roles, &wanted);
        add(role, &lives[i], ns__larger(1, trace__thread_at(finder->trace, i)->merged_threads));
        firsts[i] = role->thread;
    }
    vec__sort(roles, by_work);
    place_roles(findings, firsts, threads);
    free(begins);
    free(names);
    free(lives);
}
