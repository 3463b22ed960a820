#include "analysis/findings/internal.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Who meets others at a barrier so often, or waits there for such a part of its life (yields in a
 * row are one wait), takes part in it. */
#define MEETS 3
#define MEETS_PART 2
#define EXCHANGES 10    /* reads of a pipe by a thread, at least */
#define AWAITED_PART 16 /* of a life: others waited for it no longer than that */

uint64_t thread__work_ns(const struct profile_thread *thread)
{
    uint64_t running_ns = thread->component_ns[COMPONENT_RUNNING];
    if (thread->cpu_ns == UINT64_MAX)
        return running_ns;
    return ns__larger(ns__without(thread->cpu_ns, thread->component_ns[COMPONENT_OVERHEAD]),
                      ns__smaller(running_ns, thread->cpu_ns));
}

void finder__count_worker(struct finder *finder, size_t thread)
{
    struct findings *findings = finder->findings;
    if (findings->had_work[thread])
        return;
    findings->had_work[thread] = true;
    findings->working_ns += profile_thread_at(finder, thread)->lifetime_ns;
    findings->working_threads++;
}

/* A process other than the first whose threads never ended by themselves: it was killed, so
 * nobody waited for what it did. Of one that left the recording it is not known. */
static bool was_killed(const struct trace *trace, uint32_t process)
{
    trace = trace__whole(trace) ?: trace;
    if (trace_process__left(trace__process_at(trace, process)))
        return false;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        if (thread->process == process && thread->ended)
            return false;
    return process != trace__thread_at(trace, 0)->process;
}

/* ---- threads that look now and then ---------------------------------------------------------- */

/* What a thread does that only looks whether there is something to do. */
struct habits {
    uint64_t slept_ns;   /* in calls that sleep for a time */
    uint64_t awaited_ns; /* others waited for it, as far as is known */
    bool has_messages;   /* it answers to somebody outside */
};

bool class__sleeps(const struct profile_class *class)
{
    return (class->what.at.kind == CLASS_SLEEP || class->what.at.kind == CLASS_YIELD) &&
           strstr(class->what.at.function, "sleep");
}

static bool has_messages(enum class_kind kind)
{
    return kind == CLASS_POLL || kind == CLASS_NETWORK || kind == CLASS_PIPE ||
           kind == CLASS_MESSAGE || kind == CLASS_MPI;
}

/* A class's waits for others: for whom, where that is known. Joins are not blamed on anybody, and
 * of several threads at one place it is not known which it was: then it may be each of them. */
static void add_awaited(const struct finder *finder, const struct profile_class *class,
                        struct habits *habits)
{
    uint64_t some_ns = class->what.at.kind == CLASS_JOIN ? class->sum_ns : 0;
    VEC_EACH (blame, &class->blames, struct profile_blame)
        if (blame->thread != UINT32_MAX)
            habits[blame->thread].awaited_ns += blame->wait_ns;
        else
            some_ns += blame->wait_ns;
    for (uint32_t i = 0; some_ns && i < finder->profile->threads.count; i++)
        if (trace__serial_of(finder->trace, i) == class->what.at.process)
            habits[i].awaited_ns += some_ns;
}

static struct habits *habits_of(const struct finder *finder)
{
    struct habits *habits = memory__zeroed(finder->profile->threads.count + 1, sizeof *habits);
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        bool is_sleep = class__sleeps(class);
        VEC_EACH (row, &class->threads, struct profile_thread_row) {
            habits[row->thread].slept_ns += is_sleep ? row->sum_ns : 0;
            habits[row->thread].has_messages |= has_messages(class->what.at.kind) && row->sum_ns;
        }
        add_awaited(finder, class, habits);
    }
    return habits;
}

/* The end of the process's last thread. */
static uint64_t end_of_process(const struct finder *finder, uint32_t process)
{
    uint64_t end = 0;
    VEC_EACH (thread, trace__threads(finder->trace), struct trace_thread)
        end = thread->process == process ? ns__larger(end, thread->end_tick) : end;
    return end;
}

/* It sleeps most of the time, does little in between, nobody waits for it, and it is there until
 * the process ends: what it looks for it need not find sooner. */
static bool only_looks(const struct finder *finder, const struct habits *habits, uint32_t thread)
{
    const struct profile_thread *row = profile_thread_at(finder, thread);
    const struct trace_thread *what = trace__thread_at(finder->trace, thread);
    uint64_t life_ns = row->lifetime_ns;
    return what->tid != what->pid && habits->slept_ns >= life_ns / 2 &&
           thread__work_ns(row) < life_ns / LOSES_PART && !habits->has_messages &&
           habits->awaited_ns <= life_ns / AWAITED_PART &&
           finder__is_soon(finder, what->end_tick, end_of_process(finder, what->process));
}

static void leave_out_lookers(struct finder *finder)
{
    struct findings *findings = finder->findings;
    struct habits *habits = habits_of(finder);
    for (uint32_t i = 0; i < finder->profile->threads.count; i++) {
        if (!findings->had_work[i] || !only_looks(finder, &habits[i], i))
            continue;
        findings->had_work[i] = false;
        findings->working_ns -= profile_thread_at(finder, i)->lifetime_ns;
        findings->working_threads--;
    }
    free(habits);
}

/* ---- threads that had work ------------------------------------------------------------------- */

/* A worker waited there, or let others wait. */
static bool is_met_by_worker(const struct finder *finder, const struct profile_class *class)
{
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (finder->findings->had_work[row->thread])
            return true;
    VEC_EACH (blame, &class->blames, struct profile_blame)
        if (blame->thread != UINT32_MAX && finder->findings->had_work[blame->thread])
            return true;
    return false;
}

static bool needs_all(const struct finder *finder, const struct profile_class *class)
{
    enum finding_category category = class__category(finder, class);
    return category == FINDING_BARRIER || category == FINDING_MESSAGE ||
           class__is_once(finder, class);
}

/* A barrier needs all who come to it, and so does a job of MPI: they work, however little of the
 * work is theirs. So do those who wait for what is made once: they came to use it. */
static void count_those_who_meet(struct finder *finder, const struct profile_class *class,
                                 uint64_t often)
{
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (row->count >= often ||
            row->sum_ns >= profile_thread_at(finder, row->thread)->lifetime_ns / MEETS_PART)
            finder__count_worker(finder, row->thread);
}

/* In a part of the run a thread may have had work and do nothing but wait for a lock. */
static bool is_lock_in_part(const struct finder *finder, const struct profile_class *class)
{
    return trace__whole(finder->trace) && class->what.at.kind == CLASS_LOCK;
}

bool thread__hardly_waits(const struct profile_thread *thread)
{
    uint64_t ns = thread->cpu_ns;
    if (ns == UINT64_MAX || thread->runnable_ns == UINT64_MAX)
        return false;
    return ns + thread->runnable_ns >= thread->lifetime_ns / 2;
}

/* Threads that were made for the same. */
struct crew {
    uint64_t work_ns, threads, hardly_wait;
};

static struct crew *crew_of(const struct finder *finder, size_t thread, struct map *places,
                            struct vec *crews)
{
    const struct trace_thread *who = trace__thread_at(finder->trace, thread);
    const uint64_t key[] = {who->process, who->start_routine};
    uint64_t place = map__put(places, key, sizeof key, crews->count);
    return place == crews->count ? vec__push(crews, &(struct crew){0})
                                 : VEC_AT(crews, struct crew, place);
}

static bool may_be_of_crew(const struct finder *finder, size_t thread)
{
    const struct trace_thread *who = trace__thread_at(finder->trace, thread);
    return who->start_routine && !was_killed(finder->trace, who->process);
}

#define CREW_WORKS 0.9 /* of its threads hardly wait */

static bool crew__works(const struct finder *finder, const struct crew *crew)
{
    return crew->work_ns && crew->work_ns >= finder->most_cpu_ns / WORK_PART &&
           (double)crew->hardly_wait >= CREW_WORKS * (double)crew->threads;
}

/* Each of a thousand threads that are made for a task each does little of the work. */
static void count_crews(struct finder *finder)
{
    struct map places = {0};
    struct vec crews = VEC_OF(struct crew);
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        const struct profile_thread *row = profile_thread_at(finder, i);
        if (!may_be_of_crew(finder, i))
            continue;
        struct crew *crew = crew_of(finder, i, &places, &crews);
        crew->work_ns += thread__work_ns(row);
        crew->threads++;
        crew->hardly_wait += thread__hardly_waits(row);
    }
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        if (may_be_of_crew(finder, i) && crew__works(finder, crew_of(finder, i, &places, &crews)))
            finder__count_worker(finder, i);
    vec__free(&crews);
    map__free(&places);
}

/* Those that are to be told of are what is asked for. */
static void count_those_told(struct finder *finder)
{
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        if (trace__has_asides(finder->trace) && !trace__thread_at(finder->trace, i)->is_aside)
            finder__count_worker(finder, i);
}

void finder__find_workers(struct finder *finder)
{
    struct findings *findings = finder->findings;
    const struct vec *threads = &finder->profile->threads;
    findings->had_work = memory__zeroed(threads->count, sizeof *findings->had_work);
    for (uint32_t i = 0; i < threads->count; i++) {
        uint64_t cpu_ns = thread__work_ns(VEC_AT(threads, struct profile_thread, i));
        bool counts = !was_killed(finder->trace, trace__thread_at(finder->trace, i)->process);
        if (counts && cpu_ns > finder->most_cpu_ns)
            finder->most_cpu_ns = cpu_ns;
    }
    for (size_t i = 0; i < threads->count; i++) {
        uint64_t cpu_ns = thread__work_ns(profile_thread_at(finder, i));
        if (cpu_ns && cpu_ns >= finder->most_cpu_ns / WORK_PART &&
            !was_killed(finder->trace, trace__thread_at(finder->trace, i)->process))
            finder__count_worker(finder, i);
    }
    count_crews(finder);
    leave_out_lookers(finder);
    count_those_told(finder);
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        if (needs_all(finder, class) && is_met_by_worker(finder, class))
            count_those_who_meet(finder, class, MEETS);
        else if (is_lock_in_part(finder, class) && is_met_by_worker(finder, class))
            count_those_who_meet(finder, class, UINT64_MAX);
}

/* Who reads a pipe a few times is given a result, as by a child that it waits for: that is no
 * exchange. */
static bool is_result(const struct profile_class *class)
{
    if (class->what.at.kind != CLASS_PIPE)
        return false;
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (row->count >= EXCHANGES)
            return false;
    return true;
}

bool class__is_idle(const struct finder *finder, uint32_t place)
{
    const struct profile_class *class = profile_class_at(finder->profile, place);
    if (is_result(class))
        return true;
    if (program_frame__is_scheduler(finder->symbols, &class->what))
        return true;
    return class->idle && !class__is_call(class) && finder->partner[place] == NO_GROUP &&
           (class->joins || !program_frame__takes_lock(finder->symbols, &class->what));
}

static uint64_t component_ns(const struct finder *finder, const struct profile_class *class,
                             enum component component)
{
    return trace__ns(finder->trace, class->accumulator->component_sum[component]);
}

/* Of what all threads have of a class the row's part. */
static uint64_t part_of_row(const struct profile_class *class, const struct profile_thread_row *row,
                            uint64_t ns)
{
    double part = class->sum_ns ? (double)row->sum_ns / (double)class->sum_ns : 0;
    return (uint64_t)((double)ns * (part < 1 ? part : 1));
}

uint64_t *finder__woken(const struct finder *finder)
{
    uint64_t *ns = memory__zeroed(finder->profile->threads.count + 1, sizeof *ns);
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        if (!class__is_idle(finder, i))
            continue;
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            ns[row->thread] +=
                part_of_row(class, row, component_ns(finder, class, COMPONENT_RUNNABLE));
    }
    return ns;
}

uint64_t *finder__idle(const struct finder *finder)
{
    uint64_t *ns = memory__zeroed(finder->profile->threads.count, sizeof *ns);
    uint64_t *woken_ns = finder__woken(finder);
    for (uint32_t i = 0; i < finder->profile->classes.count; i++)
        if (class__is_idle(finder, i))
            VEC_EACH (row, &profile_class_at(finder->profile, i)->threads,
                      struct profile_thread_row)
                ns[row->thread] += row->sum_ns;
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        ns[i] += profile_thread_at(finder, i)->idle_end_ns - woken_ns[i];
    free(woken_ns);
    return ns;
}

struct finding *finder__add(struct finder *finder, enum finding_category category)
{
    struct finding finding = {.category = category,
                              .leader = FINDING_NO_CLASS,
                              .classes = VEC_OF(uint32_t),
                              .losses = VEC_OF(uint64_t),
                              .beside = VEC_OF(uint32_t),
                              .parts = VEC_OF(struct finding_part),
                              .removed = VEC_OF(uint32_t),
                              .told_part = -1,
                              .thread = UINT32_MAX,
                              .wall_gain = {1, 1}};
    return vec__push(&finder->findings->rows, &finding);
}

/* ---- components that no call tells ----------------------------------------------------------- */

/* Without what it waited for work when the trace ended. */
static uint64_t outside_at_end(const struct profile_thread *thread, enum component component)
{
    return ns__without(thread->component_ns[component],
                       thread->idle_end == component ? thread->idle_end_ns : 0);
}

uint64_t *finder__outside(const struct finder *finder, enum component component, uint64_t *sum)
{
    const struct vec *threads = &finder->profile->threads;
    uint64_t *ns = memory__zeroed(threads->count, sizeof *ns);
    for (size_t i = 0; i < threads->count; i++)
        if (finder->findings->had_work[i])
            ns[i] = outside_at_end(VEC_AT(threads, struct profile_thread, i), component);
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        uint64_t in_class = class__is_call(class) ? 0 : component_ns(finder, class, component);
        VEC_EACH (row, &class->threads, struct profile_thread_row) {
            uint64_t in_row = part_of_row(class, row, in_class);
            ns[row->thread] -= in_row < ns[row->thread] ? in_row : ns[row->thread];
        }
    }
    *sum = 0;
    for (size_t i = 0; i < threads->count; i++)
        *sum += ns[i];
    return ns;
}

static bool is_of_own_code(const struct finder *finder, const struct profile_class *class)
{
    const struct symbol *place = program_frame__of_class(finder->symbols, &class->what);
    return place && !symbol__is_system(place);
}

/* The function in which most of it is, and least else: FINDING_NO_CLASS: none is known. */
static uint32_t function_of(const struct finder *finder, enum component component, uint64_t sum,
                            bool of_program)
{
    const struct vec *classes = &finder->profile->classes;
    uint32_t found = FINDING_NO_CLASS;
    double of_found = 0;
    for (uint32_t i = 0; i < classes->count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        if (!class__is_call(class) || (of_program && !is_of_own_code(finder, class)))
            continue;
        double ns =
            (double)component_ns(finder, class, component) * class__working_part(finder, class);
        if (ns < 0.3 * (double)sum)
            continue;
        double density = class->sum_ns ? ns / (double)class->sum_ns : 0;
        if (density > of_found) {
            of_found = density;
            found = i;
        }
    }
    return found;
}

static bool any_calls(const struct finder *finder)
{
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        if (class__is_call(class) && class->what.at.kind != CLASS_LOOP)
            return true;
    return false;
}

static bool is_of_program(const struct trace_process *process, const struct symbol *symbol)
{
    return !symbol->module || !*process->path || strcmp(symbol->module, process->path) == 0;
}

/* Where no function's calls are known, because it was entered before it was recorded: the first
 * of those that samples chose, main last. One of a library is no place of the program's: where code
 * is interpreted, or made at run time, samples choose what little the runtime itself does. */
static const struct symbol *chosen_function(const struct finder *finder, uint32_t process)
{
    const struct symbol *found = NULL;
    VEC_EACH (image, trace__processes(finder->trace), struct trace_process) {
        if (image->serial != process)
            continue;
        VEC_EACH (function, &image->functions, struct trace_function) {
            const struct symbol *symbol = symbols__get(finder->symbols, process, function->address);
            while (symbol && symbol->inlined_by && strcmp(symbol->function, function->name) != 0)
                symbol = symbol->inlined_by;
            if (symbol && !symbol__is_system(symbol) && is_of_program(image, symbol) &&
                (!found || strcmp(found->function, "main") == 0))
                found = symbol;
        }
    }
    return found;
}

/* The process of the thread that has most of it. */
static uint32_t process_of(const struct finder *finder, const uint64_t *ns)
{
    size_t most = 0;
    for (size_t i = 1; i < finder->profile->threads.count; i++)
        if (ns[i] > ns[most])
            most = i;
    return trace__serial_of(finder->trace, most);
}

/* What the system library waits for in that class. A function of the program may have any name. */
static enum finding_category category_in(const struct finder *finder, uint32_t class)
{
    const struct callsite *at = &profile_class_at(finder->profile, class)->what.at;
    const struct symbol *symbol = symbols__get(finder->symbols, at->process, at->address);
    return symbol && symbol__is_system(symbol) ? system_function__category(at->function)
                                               : FINDING_UNEXPLAINED;
}

static enum finding_category category_of(const struct finder *finder, enum component component,
                                         uint32_t class)
{
    if (component == COMPONENT_RUNNABLE)
        return FINDING_CPU;
    if (component == COMPONENT_PAGE_FAULT)
        return FINDING_PAGE_FAULT;
    return class == FINDING_NO_CLASS ? FINDING_UNEXPLAINED : category_in(finder, class);
}

/* While all CPUs were wanted the recorder had one of them for so long: that is not the program's.
 */
static uint64_t without_recorder(const struct finder *finder, uint64_t *ns, uint64_t sum)
{
    uint64_t rest = ns__without(sum, recorder__cpu_ns(finder->trace));
    for (size_t i = 0; sum && i < finder->profile->threads.count; i++)
        ns[i] = (uint64_t)((double)ns[i] * (double)rest / (double)sum);
    return rest;
}

/* All CPU time of the run over that of threads with work: so much faster these would be had they
 * had all of it. What programs outside of the run took is in neither. */
static double cpu_over_work(const struct finder *finder)
{
    const struct heurt_session *session = trace__session(finder->trace);
    uint64_t all_ns = 0, work_ns = 0, overhead_ns = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        uint64_t cpu_ns = thread__work_ns(profile_thread_at(finder, i));
        all_ns += cpu_ns;
        overhead_ns += profile_thread_at(finder, i)->component_ns[COMPONENT_OVERHEAD];
        work_ns += finder->findings->had_work[i] ? cpu_ns : 0;
    }
    if (session->finished) /* with processes of which no thread was recorded */
        all_ns = ns__larger(all_ns, ns__without(session->cpu_ns, overhead_ns));
    return work_ns ? (double)all_ns / (double)work_ns : 1;
}

#define FREE_CPUS 0.25   /* of finder->used, at most: then some CPU is free all the time */
#define WANDERERS_PART 8 /* of what was wanted: by those who are not on the same CPU always */

/* How many CPUs those stay on who wanted one while others were free: something binds them. ns: by
 * thread. 0: they do not, or all CPUs are busy. */
static unsigned bound_cpus(const struct finder *finder, const uint64_t *ns, uint64_t sum_ns)
{
    size_t threads = finder->profile->threads.count;
    uint64_t wanderers_ns = 0;
    struct vec cpus = VEC_OF(int);
    for (size_t i = 0; i < threads; i++) {
        int cpu = profile_thread_at(finder, i)->cpu;
        wanderers_ns += cpu < 0 ? ns[i] : 0;
        bool is_new = cpu >= 0 && ns[i] > sum_ns / (WANDERERS_PART * threads);
        VEC_EACH (known, &cpus, const int)
            is_new &= *known != cpu;
        if (is_new)
            vec__push(&cpus, &cpu);
    }
    unsigned count = (unsigned)cpus.count;
    vec__free(&cpus);
    return finder->used <= FREE_CPUS && wanderers_ns <= sum_ns / WANDERERS_PART &&
                   count < finder__cpus(finder)
               ? count
               : 0;
}

/* Who has work again, and no CPU. */
static void add_woken(const struct finder *finder, uint64_t *ns, uint64_t *sum)
{
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        uint64_t woken_ns = finder->findings->had_work[i] ? finder->woken_ns[i] : 0;
        ns[i] += woken_ns;
        *sum += woken_ns;
    }
}

/* What a process waited for that has left the recording may be work as well. */
static void pass_over_those_that_left(const struct finder *finder, uint64_t *ns, uint64_t *sum)
{
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        uint32_t process = trace__thread_at(finder->trace, i)->process;
        if (!trace_process__left(trace__process_at(finder->trace, process)))
            continue;
        *sum -= ns[i];
        ns[i] = 0;
    }
}

#define ONE_PART 4 /* of page faults: none of many processes has so much of them */

/* Page faults, ns by thread: whether most are in forked processes, which copy what they write, as
 * does who forked them; and whether they are in many programs, each of which has to get its memory
 * once. */
static void find_whose_faults(const struct finder *finder, const uint64_t *ns,
                              struct finding *finding)
{
    size_t count = trace__processes(finder->trace)->count;
    uint64_t *of_process = memory__zeroed(count, sizeof *of_process);
    uint64_t all_ns = 0, forked_ns = 0, most_ns = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        uint32_t process = trace__thread_at(finder->trace, i)->process;
        bool is_forked =
            trace__process_at(finder->trace, process)->parent_serial != HEURT_NO_SERIAL;
        all_ns += ns[i];
        forked_ns += is_forked ? ns[i] : 0;
        of_process[process] += ns[i];
        most_ns = ns__larger(most_ns, of_process[process]);
    }
    finding->is_of_forked = forked_ns > all_ns / 2;
    finding->is_of_many = !finding->is_of_forked && most_ns < all_ns / ONE_PART;
    free(of_process);
}

static void add_of_component(struct finder *finder, enum component component)
{
    uint64_t sum, *ns = finder__outside(finder, component, &sum);
    if (component == COMPONENT_OTHER_BLOCKED)
        pass_over_those_that_left(finder, ns, &sum);
    if (component == COMPONENT_RUNNABLE)
        add_woken(finder, ns, &sum);
    if (component == COMPONENT_RUNNABLE)
        sum = without_recorder(finder, ns, sum);
    if (sum >= FAULTS_LEAST_NS) {
        uint32_t class = function_of(finder, component, sum, false);
        struct finding *finding = finder__add(finder, category_of(finder, component, class));
        finding->lost_ns = sum;
        finding->leader = class;
        finding->own_gain = cpu_over_work(finder);
        if (finding->category == FINDING_CPU)
            finding->bound_cpus = bound_cpus(finder, ns, sum);
        if (component == COMPONENT_PAGE_FAULT)
            find_whose_faults(finder, ns, finding);
        if (class != FINDING_NO_CLASS) {
            finding->place = program_frame__of_class(
                finder->symbols, &profile_class_at(finder->profile, class)->what);
            vec__push(&finding->classes, &class);
        } else {
            if (!any_calls(finder))
                finding->place = chosen_function(finder, process_of(finder, ns));
            finding->confidence = CONFIDENCE_ESTIMATED;
        }
        finding__set_estimate(finder, finding, ns);
    }
    free(ns);
}

/* Memory is mostly touched first by the system's own code (memset, an allocator), of which nobody
 * tells who called it: the function of the program in which it was, as far as one was recorded. */
void finding__place_faults(const struct finder *finder, struct finding *finding)
{
    if (finding->category != FINDING_PAGE_FAULT ||
        (finding->place && !symbol__is_system(finding->place)))
        return;
    uint32_t class = function_of(finder, COMPONENT_PAGE_FAULT, finding->lost_ns, true);
    if (class != FINDING_NO_CLASS)
        finding->place = program_frame__of_class(finder->symbols,
                                                 &profile_class_at(finder->profile, class)->what);
}

uint32_t thread__longest_class(const struct finder *finder, size_t thread, bool of_calls)
{
    uint32_t found = FINDING_NO_CLASS;
    uint64_t most = 0;
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        uint64_t sum_ns = class__is_call(class) == of_calls ? class__sum_on(class, thread) : 0;
        found = sum_ns > most ? i : found;
        most = ns__larger(most, sum_ns);
    }
    return found;
}

void finder__add_of_threads(struct finder *finder)
{
    if (finder->findings->working_ns == 0)
        return;
    add_of_component(finder, COMPONENT_RUNNABLE);
    add_of_component(finder, COMPONENT_PAGE_FAULT);
    add_of_component(finder, COMPONENT_OTHER_BLOCKED);
}
