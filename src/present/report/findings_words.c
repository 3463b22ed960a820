#include "present/report/findings_words.h"
#include "present/memory/memory_screens.h"
#include "present/place/place_screens.h"

#include "analysis/callsite/program_frame.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/memory/sharing_words.h"
#include "present/mpi/mpi_screens.h"
#include "present/openmp/openmp_screens.h"
#include "present/report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOSTLY_FROM 0.6 /* of the waits: one has most of the blame */

static const struct profile_class *leader_of(const struct report *report,
                                             const struct finding *finding)
{
    return finding->leader == FINDING_NO_CLASS
               ? NULL
               : VEC_AT(&report->profile->classes, struct profile_class, finding->leader);
}

/* Where who is waited for sleeps. */
static const struct profile_class *sleep_of(const struct report *report,
                                            const struct finding *finding)
{
    return VEC_AT(&report->profile->classes, struct profile_class, finding->sleep_and_1 - 1);
}

bool finding__place(const struct report *report, const struct finding *finding, struct place *place,
                    char unknown[32])
{
    const struct profile_class *leader = leader_of(report, finding);
    const struct symbol *symbol = finding->place;
    if (symbol)
        *place = (struct place){symbol->function, symbol->module, symbol->file, symbol->line};
    else if (leader)
        *place = place__of_class(report, &leader->what, unknown);
    return symbol || leader;
}

static uint32_t serial_of(const struct report *report, const struct sharing *sharing)
{
    return trace__process_at(report->trace, sharing->process)->serial;
}

/* Where ranks of MPI wait; NULL: they do not. */
static const struct mpi_site *ranks_at(const struct report *report, const struct finding *finding)
{
    const struct profile_class *leader = leader_of(report, finding);
    return finding->category == FINDING_MESSAGE && leader && !trace__has_asides(report->trace)
               ? mpi_use__site_of(report, &leader->what.at)
               : NULL;
}

/* The rank that is waited for, and what it does more than the others. */
static bool by_rank(const struct report *report, const struct mpi_site *site, struct finding_by *by)
{
    const struct mpi_rank *culprit = mpi_site__culprit(report->mpi, site);
    if (!culprit || !mpi_use__knows_doing(report->mpi, culprit))
        return false;
    bool is_blocked = culprit->delay_blocked_ns > culprit->delay_ns / 2;
    *by = (struct finding_by){
        culprit->process, culprit->did_site,
        component__key(is_blocked ? COMPONENT_OTHER_BLOCKED : COMPONENT_RUNNING)};
    return true;
}

bool finding__by(const struct report *report, const struct finding *finding, struct finding_by *by)
{
    const struct mpi_site *ranks = ranks_at(report, finding);
    if (ranks)
        return by_rank(report, ranks, by);
    if (finding->sharing) {
        const struct sharing *sharing = finding->sharing;
        if (!sharing->by.samples)
            return false;
        bool writes =
            sharing->by.access != HEURT_ACCESS_READ && sharing->by.access != HEURT_ACCESS_SPIN;
        *by = (struct finding_by){serial_of(report, sharing), sharing->by.instruction,
                                  writes ? "writing" : "reading"};
        return true;
    }
    const struct profile_class *leader = leader_of(report, finding);
    bool waits = leader && class__is_hooked(&leader->what);
    if (!waits || !leader->blames.count)
        return false;
    if (finding->sleep_and_1 && finding->category != FINDING_LOCK) {
        const struct callsite *sleep = &sleep_of(report, finding)->what.at;
        *by = (struct finding_by){sleep->process, sleep->site, component__key(COMPONENT_SLEEP)};
        return true;
    }
    const struct profile_blame *blame = VEC_AT(&leader->blames, struct profile_blame, 0);
    const struct symbol *symbol = symbols__get(report->symbols, blame->process, blame->site);
    if (symbol && !program_frame__inlined(symbol))
        return false; /* within a library: whose call that was is not known */
    *by = (struct finding_by){blame->process, blame->site, component__key(blame__doing(blame))};
    return true;
}

/* A descriptor that led to several files, one after the other, has all their names. */
static char *file_text(const char *names)
{
    static const char many[] = "many files", between[] = ", later ";
    const char *second = strstr(names, between);
    if (strstr(names, many))
        return memory__text(many);
    if (!second)
        return memory__text(path__name(names));
    char *first = memory__format("%.*s", (int)(second - names), names);
    second += sizeof between - 1;
    char *text = memory__format("%s%s%s", path__name(first), between,
                                strstr(second, between) ? "others" : path__name(second));
    free(first);
    return text;
}

/* What OpenMP's threads wait at has no name, and what they wait for has one. */
static bool waits_for_regions(const struct report *report, const struct finding *finding)
{
    const struct profile_class *leader = leader_of(report, finding);
    return finding->category == FINDING_CONDITION && leader &&
           strcmp(leader->what.at.function, WAIT_FOR_REGION) == 0;
}

char *finding__object(const struct report *report, const struct finding *finding)
{
    if (finding->sharing)
        return sharing__victim(report, finding->sharing);
    if (finding->remote)
        return memory_object__title(report, finding->remote->object);
    const struct profile_class *leader = leader_of(report, finding);
    const char *name = leader ? class__object_name(report, &leader->what) : NULL;
    if (finding->category == FINDING_DISK && name)
        return file_text(name);
    return finding->has_object && leader && !waits_for_regions(report, finding)
               ? class__object_known_as(report, &leader->what)
               : NULL;
}

const char *finding__object_kind(const struct report *report, const struct finding *finding)
{
    return finding->remote ? memory_kind__name(finding->remote->object->kind)
           : finding->sharing
               ? access__region(report, finding->sharing->process, &finding->sharing->victim)
           : finding->category == FINDING_DISK
               ? "file"
               : class_kind__name(leader_of(report, finding)->what.at.kind);
}

/* The parallel region whose threads wait for one of them; NULL: they do not, or it is not told. */
static const struct parallel_region *region_of(const struct report *report,
                                               const struct finding *finding)
{
    const struct profile_class *leader = leader_of(report, finding);
    if (!report->openmp || !leader || strcmp(leader->what.at.function, END_OF_REGION) != 0)
        return NULL;
    VEC_EACH (region, &report->openmp->regions, const struct parallel_region)
        if (parallel_region__is_at(report, region, leader->what.at.process, leader->what.at.site))
            return region;
    return NULL;
}

/* Of a region whose threads have not all as much to do: "thread 1 had 3.0× the work of the other";
 * else "". free() it. */
static char *uneven_part(const struct report *report, const struct finding *finding)
{
    const struct parallel_region *region = region_of(report, finding);
    return region ? parallel_region__uneven_text(region) : memory__text("");
}

/* What divides that region's work better, or what threads lose for tasks; NULL: nothing is known
 * to. */
static const struct openmp_hint *hint_of(const struct report *report, const struct finding *finding)
{
    const struct parallel_region *region = region_of(report, finding);
    if (finding->category == FINDING_TASK && report->openmp)
        return openmp_use__task_hint(report->openmp);
    if (finding->is_dealing && report->openmp)
        return openmp_use__chunk_hint(report->openmp);
    if (!region)
        return NULL;
    VEC_EACH (hint, &report->openmp->hints, const struct openmp_hint)
        if (hint->process == region->process && hint->region_site == region->site &&
            (hint->kind == HINT_DYNAMIC || hint->kind == HINT_GUIDED || hint->kind == HINT_EVEN))
            return hint;
    return NULL;
}

char *finding__hint_command(const struct report *report, const struct finding *finding)
{
    const struct openmp_hint *hint = hint_of(report, finding);
    const struct openmp_report shown = {.report = report, .use = report->openmp};
    return hint ? openmp_hint__command(&shown, hint) : NULL;
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* What threads do in it: "Threads wait …". */
static const char *const doings[FINDING_CATEGORIES] = {
    [FINDING_LOCK] = "Threads wait for a lock",
    [FINDING_CONDITION] = "Threads wait for each other at a condition",
    [FINDING_BARRIER] = "Threads wait at a barrier for the last one to arrive",
    [FINDING_LATCH] = "Threads wait at a latch for a late one",
    [FINDING_SEMAPHORE] = "Threads wait for a semaphore",
    [FINDING_JOIN] = "A thread waits for another one to end",
    [FINDING_SPINNING] = "Threads spin while another one has what they wait for",
    [FINDING_YIELD] = "Threads yield in a loop until another one is done",
    [FINDING_POLLING] = "Threads ask again and again whether something has come",
    [FINDING_DISK] = "Threads wait for the disk",
    [FINDING_FILE_LOCK] = "Processes wait for a file lock",
    [FINDING_STDIO] = "Threads wait for the lock of a FILE that they share",
    [FINDING_ALLOCATOR] = "Threads wait for the allocator's lock",
    [FINDING_NETWORK] = "Threads wait for an answer over a socket",
    [FINDING_PIPE] = "Threads wait for the other end of a pipe",
    [FINDING_MESSAGE] = "Ranks wait for a message",
    [FINDING_CPU] = "Threads wanted a CPU and had none",
    [FINDING_PAGE_FAULT] = "Threads wait for memory pages",
    [FINDING_MEMORY_MAP] = "Threads wait for the process's memory map",
    [FINDING_FALSE_SHARING] = "Threads write different variables on one cache line",
    [FINDING_TRUE_SHARING] = "Threads write the same variable by turns",
    [FINDING_REMOTE_MEMORY] = "Threads use memory of other NUMA nodes",
    [FINDING_RETRY] = "Threads compute anew when another one was faster (compare-and-swap)",
    [FINDING_IMBALANCE] = "One thread works on while the others are done",
    [FINDING_CREATION] = "Threads are made and ended all the time",
    [FINDING_TASK] = "OpenMP makes and hands out tasks, and threads wait for them",
    [FINDING_REGION] = "Many short parallel regions have to be started and ended",
    [FINDING_SIGNAL] = "A handler of signals interrupts the threads' work",
    [FINDING_OVERLAP] = "Code is slower while another thread runs",
    [FINDING_UNEXPLAINED] = "Threads wait for what is not known",
};

bool finding__is_of_rwlock(const struct report *report, const struct finding *finding)
{
    static const char of_rwlocks[] = "pthread_rwlock_";
    const struct profile_class *leader = leader_of(report, finding);
    return finding->category == FINDING_LOCK && leader && leader->what.at.kind == CLASS_LOCK &&
           strncmp(leader->what.at.function, of_rwlocks, sizeof of_rwlocks - 1) == 0;
}

static bool waits_for_processes(const struct report *report, const struct finding *finding)
{
    const struct callsite *at = &leader_of(report, finding)->what.at;
    return at->kind == CLASS_SLEEP && strcmp(at->function, "waitpid") == 0;
}

/* Whether ranks of MPI wait in a collective operation. */
static bool is_collective(const struct report *report, const struct finding *finding)
{
    static const char *const parts[] = {"Barrier", "Bcast",   "educe", "ather",
                                        "catter",  "lltoall", "Scan",  "scan"};
    const struct profile_class *leader = leader_of(report, finding);
    for (size_t i = 0; leader && i < sizeof parts / sizeof *parts; i++)
        if (finding->category == FINDING_MESSAGE && strstr(leader->what.at.function, parts[i]))
            return true;
    return false;
}

/* Whether what is told as a pipe is a queue of messages. */
static bool is_queue(const struct report *report, const struct finding *finding)
{
    if (finding->category != FINDING_PIPE || finding->leader == FINDING_NO_CLASS)
        return false;
    const char *function = leader_of(report, finding)->what.at.function;
    return strncmp(function, "mq_", 3) == 0 || strncmp(function, "msg", 3) == 0;
}

/* NULL: nothing is told of any. */
static const char *doing_of_tasks(const struct report *report)
{
    const struct openmp_hint *hint = report->openmp ? openmp_use__task_hint(report->openmp) : NULL;
    if (hint && hint->kind == HINT_LARGER_TASKS)
        return "Tasks of OpenMP are small for what making them and waiting for them takes";
    if (hint && hint->kind == HINT_NO_TASKWAIT)
        return "Tasks wait for tasks that they made, and their threads run no others meanwhile";
    if (hint)
        return "Threads have no task to run while others do the last ones that are waited for";
    return report->openmp && report->openmp->constructs.count ? "Threads have no task to run"
                                                              : NULL;
}

static const char *doing_of(const struct report *report, const struct finding *finding)
{
    const char *of_tasks = finding->category == FINDING_TASK ? doing_of_tasks(report) : NULL;
    if (of_tasks)
        return of_tasks;
    if (region_of(report, finding))
        return "Threads wait for the last one at the end of a parallel region";
    if (waits_for_regions(report, finding))
        return "Threads wait for the next parallel region";
    if (is_collective(report, finding))
        return "Ranks wait for others in a collective operation";
    if (finding->is_dealing)
        return "Threads come for so few iterations at a time that they wait for the counter of "
               "these";
    if (finding->is_between)
        return "One thread works alone between parallel regions of OpenMP";
    if (finding->in_vain > 0)
        return "Threads are woken for nothing, and wait again";
    if (finding->is_ordered)
        return "Threads wait for their turn at an ordered section";
    if (finding->is_once)
        return "Threads wait until one has initialized what all need";
    if (finding->is_on_cpu)
        return finding->category == FINDING_DISK
                   ? "Calls that read or write files take time, in the system"
                   : "Calls that send and receive take time, in the system";
    if (finding->join_order == JOIN_IN_ORDER)
        return "Threads are waited for in the order of their start, while others are done";
    if (finding->join_order != JOIN_SERIAL)
        return is_queue(report, finding) ? "Threads wait for a message in a queue"
                                         : doings[finding->category];
    return waits_for_processes(report, finding)
               ? "Processes are started and waited for one after another"
               : "Threads are started and waited for one after another";
}

static char *of_object(const struct report *report, const struct finding *finding)
{
    char *object = finding__object(report, finding), number[32];
    char *text = !object ? memory__text("")
                 : finding->objects > 1
                     ? memory__format(" (%s objects, the first %s)",
                                      count__format(finding->objects, number), object)
                     : memory__format(" (%s)", object);
    free(object);
    return text;
}

/* Who uses the same line, and what of it. */
static char *with_whom(const struct report *report, const struct sharing *sharing,
                       const char *function)
{
    bool reads = sharing->by.access == HEURT_ACCESS_READ || sharing->by.access == HEURT_ACCESS_SPIN;
    char *own = sharing__victim(report, sharing), *other = sharing__other(report, sharing);
    bool is_named =
        symbols__variable(report->symbols, serial_of(report, sharing), sharing->by.address) ||
        sharing->by.object;
    const char *what = strcmp(own, other) != 0 && is_named ? other
                       : sharing->is_false                 ? "other bytes of it"
                                                           : "the same";
    char *text = memory__format(", while %s %s %s", function, reads ? "reads" : "writes", what);
    free(own);
    free(other);
    return text;
}

/* Of what is known of the leader's waits, the part of whom the most is blamed on. */
static double part_of_most(const struct report *report, const struct finding *finding)
{
    uint64_t all_ns = 0, most_ns = 0;
    VEC_EACH (blame, &leader_of(report, finding)->blames, struct profile_blame) {
        all_ns += blame->wait_ns;
        most_ns = blame->wait_ns > most_ns ? blame->wait_ns : most_ns;
    }
    return all_ns ? (double)most_ns / (double)all_ns : 0;
}

/* How it lies, and how far that is known to cost anything. */
static char *how_it_lies(const struct report *report, const struct finding *finding)
{
    char *kind =
        placement__kind_text(report->findings->remotes->placement, finding->remote->placed);
    char *text = memory__format(
        ", %s%s", kind,
        finding->remote->is_bound
            ? "; at most so much is lost, by the distances between nodes, for these instructions "
              "were at no memory of their own nodes"
            : "");
    free(kind);
    return text;
}

/* By the role of that thread, and the file and line where it starts. */
static char *for_stage(const struct report *report, uint32_t thread)
{
    const struct findings *findings = report->findings;
    const struct role *role = VEC_AT(&findings->roles, struct role, findings->roles_of[thread]);
    char *name = role__bare_name(role), *text;
    if (!name)
        text = memory__text(", for a thread that works all the time");
    else if (role->start && role->start->file && !role->is_main)
        text = memory__format(", for the slowest stage: %s %s:%" PRIu32, name,
                              path__name(role->start->file), role->start->line);
    else
        text = memory__format(", for the slowest stage: %s", name);
    free(name);
    return text;
}

/* Of a lock who has it, and where that one sleeps; else who sleeps. */
static char *of_sleepers(const struct report *report, const struct finding *finding,
                         const char *function)
{
    char unknown[32];
    if (finding->category != FINDING_LOCK)
        return memory__format(", because of %s, which sleeps", function);
    struct place place = place__of_class(report, &sleep_of(report, finding)->what, unknown);
    char *sleeps_in = function__short(place.function);
    char *text = memory__format(", mostly because of %s, which sleeps%s%s", function,
                                strcmp(sleeps_in, function) ? " in " : "",
                                strcmp(sleeps_in, function) ? sleeps_in : "");
    free(sleeps_in);
    return text;
}

static char *of_ranks(const struct report *report, const struct mpi_site *site)
{
    char *waits = mpi_site__waits(report, site);
    char *text = waits ? memory__format(": %s", waits) : memory__text("");
    free(waits);
    return text;
}

static char *by_whom(const struct report *report, const struct finding *finding)
{
    struct finding_by by;
    if (finding->remote)
        return how_it_lies(report, finding);
    if (finding->stage_and_1)
        return for_stage(report, finding->stage_and_1 - 1);
    const struct mpi_site *ranks = ranks_at(report, finding);
    if (ranks)
        return of_ranks(report, ranks);
    char unknown[32], *uneven = uneven_part(report, finding);
    if (*uneven) {
        char *text = memory__format(", where %s", uneven);
        free(uneven);
        return text;
    }
    free(uneven);
    if (!finding__by(report, finding, &by))
        return memory__text("");
    struct place place = place__of_site(report, by.process, by.site, unknown);
    char *function = function__short(place.function);
    char *text = finding->sharing       ? with_whom(report, finding->sharing, function)
                 : finding->sleep_and_1 ? of_sleepers(report, finding, function)
                 : part_of_most(report, finding) > MOSTLY_FROM
                     ? memory__format(", mostly because of %s", function)
                     : memory__format(", because of %s and others", function);
    free(function);
    return text;
}

char *finding__sentence(const struct report *report, const struct finding *finding)
{
    char unknown[32], duration[16], share[16];
    struct place place;
    char *object = of_object(report, finding), *by = by_whom(report, finding);
    char *where = finding__place(report, finding, &place, unknown) ? place__text(&place) : NULL;
    char *text = memory__format(
        "%s%s%s%s%s: %s, %s of the time of %s.", doing_of(report, finding), where ? " in " : "",
        where ? where : "", object, by, duration__format(finding->lost_ns, duration),
        share__format(finding->share, share),
        trace__has_asides(report->trace) ? "the chosen threads" : "threads that had work");
    free(object);
    free(by);
    free(where);
    return text;
}

char *finding__cause(const struct report *report, const struct finding *finding)
{
    char *by = by_whom(report, finding);
    char *text = memory__format("%s%s.", doing_of(report, finding), by);
    free(by);
    return text;
}

char *finding__verdict(const struct report *report, const struct finding *finding)
{
    char unknown[32], *function = NULL;
    struct place place;
    bool in_several = finding->objects <= 1 && finding->parts.count > 1;
    if (!in_several && finding__place(report, finding, &place, unknown))
        function = function__short(place.function);
    char *uneven = uneven_part(report, finding);
    char *text =
        *uneven && function
            ? memory__format("The parallel region in %s is not balanced: %s.", function, uneven)
            : memory__format("%s%s%s.", doing_of(report, finding), function ? ", in " : "",
                             function ? function : "");
    free(uneven);
    free(function);
    return text;
}

/* What it is called in the first line. */
static const char *const nouns[FINDING_CATEGORIES] = {
    [FINDING_LOCK] = "lock",
    [FINDING_CONDITION] = "condition",
    [FINDING_BARRIER] = "barrier",
    [FINDING_LATCH] = "latch",
    [FINDING_SEMAPHORE] = "semaphore",
    [FINDING_JOIN] = "the end of a thread",
    [FINDING_SPINNING] = "spinning",
    [FINDING_YIELD] = "yielding in a loop",
    [FINDING_POLLING] = "asking again and again",
    [FINDING_DISK] = "disk",
    [FINDING_FILE_LOCK] = "file lock",
    [FINDING_STDIO] = "lock of a FILE",
    [FINDING_ALLOCATOR] = "the allocator's lock",
    [FINDING_NETWORK] = "network",
    [FINDING_PIPE] = "pipe",
    [FINDING_MESSAGE] = "messages",
    [FINDING_CPU] = "wanted a CPU, had none",
    [FINDING_PAGE_FAULT] = "page faults",
    [FINDING_MEMORY_MAP] = "the memory map",
    [FINDING_FALSE_SHARING] = "false sharing of",
    [FINDING_TRUE_SHARING] = "true sharing of",
    [FINDING_REMOTE_MEMORY] = "remote memory:",
    [FINDING_RETRY] = "computing anew after compare-and-swap",
    [FINDING_IMBALANCE] = "imbalance",
    [FINDING_CREATION] = "making threads",
    [FINDING_TASK] = "tasks",
    [FINDING_REGION] = "starting and ending parallel regions",
    [FINDING_SIGNAL] = "a handler of signals",
    [FINDING_OVERLAP] = "slower while others run",
    [FINDING_UNEXPLAINED] = "waits of unknown cause",
};

/* " in queue_push queue.c:88", " in 3 places". */
static char *in_places(const struct report *report, const struct finding *finding)
{
    char unknown[32], number[32];
    struct place place;
    if (finding->objects <= 1 && finding->parts.count > 1)
        return memory__format(" in %s places", count__format(finding->parts.count, number));
    if (!finding__place(report, finding, &place, unknown))
        return memory__text("");
    char *where = place__text(&place), *text = memory__format(" in %s", where);
    free(where);
    return text;
}

/* "network: sendmsg": which call it is, of one place. free() it. */
static char *noun_of(const struct report *report, const struct finding *finding)
{
    static const char *const orders[] = {
        [JOIN_SERIAL] = "one after another", [JOIN_IN_ORDER] = "joins in order"};
    const char *noun = finding->is_dealing            ? "dealing out iterations"
                       : finding->is_between          ? "serial code"
                       : is_queue(report, finding)  ? "message queue"
                       : region_of(report, finding) ? "end of the parallel region"
                                                  : orders[finding->join_order]
                                                        ?: nouns[finding->category];
    const struct profile_class *leader = leader_of(report, finding);
    bool has_call = finding->category == FINDING_NETWORK || finding->category == FINDING_MESSAGE;
    bool is_call =
        has_call && finding->parts.count <= 1 && leader && class__is_hooked(&leader->what);
    return is_call ? memory__format("%s: %s", noun, leader->what.at.function) : memory__text(noun);
}

char *finding__subject(const struct report *report, const struct finding *finding)
{
    char number[32], *object = finding__object(report, finding);
    char *places = in_places(report, finding), *text;
    char *noun = noun_of(report, finding);
    if (finding->is_gil)
        text = memory__format("Python's GIL%s", places);
    else if (finding->is_ordered)
        text = memory__format("ordered section%s", places);
    else if (waits_for_regions(report, finding))
        text = memory__format("%s%s", leader_of(report, finding)->what.at.function, places);
    else if (finding->objects > 1)
        text =
            memory__format("%s: %s objects, the first %s,%s", noun,
                           count__format(finding->objects, number), object ? object : "?", places);
    else
        text = memory__format("%s%s%s%s", noun, object ? " " : "", object ? object : "", places);
    free(noun);
    free(object);
    free(places);
    return text;
}

/* ---- what to try ----------------------------------------------------------------------------- */

#define TRIES_MOST 4 /* the NULL at the end included */

static const char *const tries[FINDING_CATEGORIES][TRIES_MOST] = {
    [FINDING_LOCK] = {"do less while the lock is held",
                      "divide the lock: one for each part of the data"},
    [FINDING_CONDITION] = {"do less before the others are woken",
                           "more room in a queue, so that its two sides need not go in step",
                           "hand over several items at a time"},
    [FINDING_BARRIER] = {"divide the late thread's work among the others",
                         "deal out smaller pieces of work"},
    [FINDING_LATCH] = {"divide the late thread's work among the others",
                       "let the others begin without it"},
    [FINDING_SEMAPHORE] = {"allow more threads at a time", "do less between wait and post"},
    [FINDING_JOIN] = {"divide the late thread's work among the others"},
    [FINDING_SPINNING] = {"wait with a mutex, a condition variable or a futex",
                          "do less while others wait for the flag"},
    [FINDING_YIELD] = {"wait with a mutex, a condition variable or a futex",
                       "do less while others wait for the flag"},
    [FINDING_POLLING] = {"wait with a condition variable or poll for what is to come"},
    [FINDING_DISK] = {"let another thread do it", "larger pieces, fewer calls",
                      "one sync for many records"},
    [FINDING_FILE_LOCK] = {"hold the lock for less", "lock a part of the file"},
    [FINDING_STDIO] = {"a FILE for each thread", "format into memory and write in one piece"},
    [FINDING_ALLOCATOR] = {"reuse memory in place of freeing it",
                           "an allocator with caches for each thread"},
    [FINDING_NETWORK] = {"let several threads answer",
                         "send several requests before waiting for an answer"},
    [FINDING_PIPE] = {"let several threads answer", "larger pieces, fewer calls"},
    [FINDING_MESSAGE] = {"send earlier, receive later"},
    [FINDING_CPU] = {"measure on a quiet machine", "no more busy threads than CPUs"},
    [FINDING_PAGE_FAULT] = {"keep memory in place of giving it back",
                            "larger pages (madvise with MADV_HUGEPAGE)"},
    [FINDING_MEMORY_MAP] = {"keep mappings in place of giving them back"},
    [FINDING_FALSE_SHARING] = {"put what different threads write on cache lines of its own "
                               "(alignas(64))",
                               "count in local variables, and add up at the end"},
    [FINDING_TRUE_SHARING] = {"a variable for each thread, added up when it is read",
                              "write it less often"},
    [FINDING_REMOTE_MEMORY] = {"let the threads that use it write it first"},
    [FINDING_RETRY] = {"compute before the loop what does not depend on the old value",
                       "a part of the data for each thread"},
    [FINDING_IMBALANCE] = {"divide the last thread's work among the others",
                           "deal out smaller pieces of work"},
    [FINDING_CREATION] = {"keep threads and give them work"},
    [FINDING_TASK] = {"larger tasks: no new ones below a size, or taskloop with a grainsize"},
    [FINDING_REGION] =
        {"fewer and larger regions: one around several loops, the outer loop in place "
         "of the inner one",
         "fewer threads, or one (an if clause), where there is little to do"},
    [FINDING_SIGNAL] = {"only note in the handler what there is to do, and do it elsewhere",
                        "fewer signals"},
    [FINDING_OVERLAP] = {"put what different threads write on different cache lines"},
    [FINDING_UNEXPLAINED] = {"heurt report N tells more of a class"},
};

const char *const *finding_category__tries(enum finding_category category)
{
    return tries[category];
}

/* Who touched it first, and what heurt place advises. */
static char *place_advice(const struct report *report, const struct finding *finding)
{
    const struct place_report shown = {.report = report,
                                       .use = report->findings->remotes->use,
                                       .placement = report->findings->remotes->placement};
    return placement__advice(&shown, finding->remote->placed);
}

/* Between two times that a lock is taken so often, there is less to do than a thread takes to wake
 * another: what is asked for is too small, however short the lock is held. */
#define TAKEN_OFTEN_NS 10000

static uint64_t taken_each_ns(const struct report *report, const struct finding *finding)
{
    uint64_t taken = finding->counts.taken;
    return finding->category == FINDING_LOCK && taken ? report->findings->working_ns / taken
                                                      : UINT64_MAX;
}

static char *lock_advice(uint64_t each_ns)
{
    char each[16];
    duration__format(each_ns, each);
    return memory__format("take it less often, for several items at a time: a thread takes it once "
                          "every %s of its time",
                          each);
}

char *finding__fix(const struct report *report, const struct finding *finding)
{
    uint64_t each_ns = taken_each_ns(report, finding);
    const struct openmp_hint *hint = hint_of(report, finding);
    const struct openmp_report shown = {.report = report, .use = report->openmp};
    if (hint)
        return openmp_hint__words(&shown, hint);
    if (finding->remote)
        return place_advice(report, finding);
    if (each_ns < TAKEN_OFTEN_NS && !finding->is_ordered && !finding->is_gil)
        return lock_advice(each_ns);
    return finding->sharing ? sharing__fix(report, finding->sharing) : NULL;
}

const char *const *finding__tries(const struct report *report, const struct finding *finding)
{
    static const char *const of_orders[][TRIES_MOST] = {
        [JOIN_SERIAL] = {"start several before waiting for the first, as far as they do not need "
                         "each other"},
        [JOIN_IN_ORDER] = {"take results as they are ready, and start the next then",
                           "start more at a time, so that short ones fill the time of long ones"}};
    static const char *const of_gil[TRIES_MOST] = {
        "processes in place of threads", "fewer and larger calls of C code that gives it back"};
    static const char *const of_ordered[TRIES_MOST] = {
        "take work out of the ordered part",
        "collect results in an array, and write them in order after the loop",
        "another chunk in schedule(static, N)"};
    static const char *const of_once[TRIES_MOST] = {
        "initialize it before the threads start, while something else goes on",
        "divide the initialization among the threads that wait for it"};
    static const char *const of_forked[TRIES_MOST] = {
        "fewer processes, each for more of the work: a forked one copies each page that it writes",
        "write less of what the parent had (free it, or collect garbage, before forking)"};
    static const char *const of_region[TRIES_MOST] = {
        "deal out its loop's iterations as threads come for them: schedule(dynamic) or (guided)",
        "divide the work by what it costs, not by the number of iterations"};
    static const char *const of_collective[TRIES_MOST] = {
        "divide the late rank's work among the others",
        "fewer of these operations, or nonblocking ones with work before they are waited for"};
    static const char *const of_dealing[TRIES_MOST] = {
        "schedule(guided), or schedule(static) where iterations cost alike"};
    static const char *const of_between[TRIES_MOST] = {
        "make a parallel region of it, too, as far as its iterations do not need each other",
        "let another thread do it while the regions that do not need it run (tasks, or sections)"};
    static const char *const of_next_region[TRIES_MOST] = {
        "let the other threads work between regions, too", "fewer and larger regions"};
    static const char *const of_stage[TRIES_MOST] = {
        "a second thread for the slowest stage, or less work in it",
        "divide its work: a stage more", "hand over several items at a time"};
    static const char *const of_sleeper[TRIES_MOST] = {
        "wait for none of those that sleep: let them say so before",
        "let them sleep for less, or wait for something that can end it"};
    static const char *const of_sleeping_holder[TRIES_MOST] = {
        "give the lock back before sleeping, or waiting for what takes long",
        "copy what is needed, or a pointer to it, while the lock is held"};
    static const char *const of_readers[TRIES_MOST] = {
        "hold the lock only to copy what is read, or a pointer to it: readers share it already",
        "do less while the lock is held"};
    static const char *const of_pieces[TRIES_MOST] = {
        "send each message in one piece (writev), or set TCP_NODELAY: waits of 40 ms are those for "
        "an acknowledgement that the other side delays"};
    static const char *const of_bound[TRIES_MOST] = {
        "let threads run on all CPUs: pthread_setaffinity_np, OMP_PROC_BIND, taskset or a cpuset "
        "binds them"};
    static const char *const of_idle[TRIES_MOST] = {"more tasks, and the long ones first",
                                                    "fewer of them that depend on others",
                                                    "less work before the first of them is made"};
    if (finding->category == FINDING_TASK && doing_of_tasks(report) && !hint_of(report, finding))
        return of_idle;
    if (finding->bound_cpus)
        return of_bound;
    if (finding->stage_and_1)
        return of_stage;
    if (finding->sleep_and_1 && finding->category == FINDING_LOCK)
        return of_sleeping_holder;
    if (finding->sleep_and_1 && finding->category == FINDING_CONDITION)
        return of_sleeper;
    if (finding__is_of_rwlock(report, finding))
        return of_readers;
    if (region_of(report, finding))
        return of_region;
    if (waits_for_regions(report, finding))
        return of_next_region;
    if (finding->is_dealing)
        return of_dealing;
    if (finding->is_between)
        return of_between;
    if (is_collective(report, finding))
        return of_collective;
    if (finding->is_gil)
        return of_gil;
    if (finding->is_ordered)
        return of_ordered;
    if (finding->is_once)
        return of_once;
    if (finding->is_of_forked)
        return of_forked;
    if (finding->is_of_pieces && !finding->is_served)
        return of_pieces;
    return finding->join_order ? of_orders[finding->join_order]
                               : finding_category__tries(finding->category);
}
