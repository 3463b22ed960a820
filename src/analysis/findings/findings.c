#include "analysis/findings/internal.h"

#include "analysis/analysis.h"
#include "analysis/callsite/calls.h"
#include "analysis/openmp/openmp.h"
#include "base/map.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MOST 64 /* findings; what is left over is little */
#define CANDIDATES_MOST 4096
#define BYTES_OF_KEY 512
#define NOTED_MOST 3
#define VERDICT_GAIN 1.05
#define ASSUMED_GAIN 1.2
#define SERVED_GAIN 1.5    /* nobody was late: both could only work at a time, on several answers */
#define SHORT_RUN_GAIN 1.5 /* of page faults: then half of the share is enough */
#define LITTLE_PART 5      /* of the share that is enough by itself: below it nothing is ranked */
#define EFFECT_PART 0.9    /* of what is gained without it: as much comes of another one */
#define POLLING_MOST 20
#define SLOWER_LEAST 2.0 /* times as long, beside others */
#define LEAST_PART 2000  /* of the working time: less is no candidate */

/* ---- candidates ------------------------------------------------------------------------------ */

static uint32_t number_of(struct map *numbers, const char *key)
{
    return (uint32_t)map__put(numbers, key, strlen(key) + 1, numbers->count);
}

/* What a template was made of, and of what type its parameters are, makes no place of its own: its
 * code stands in the source once. */
static void without_arguments(const char *function, char *key, size_t bytes)
{
    bool is_operator = strstr(function, "operator<") || strstr(function, "operator>") ||
                       strstr(function, "operator->");
    const char *opening = is_operator ? "(" : "(<", *closing = is_operator ? ")" : ")>";
    size_t depth = 0, used = 0;
    for (const char *at = function; *at && used + 1 < bytes; at++) {
        depth -= depth && strchr(closing, *at);
        if (!depth)
            key[used++] = *at;
        depth += strchr(opening, *at) != NULL;
    }
    key[used] = 0;
}

static uint32_t place_number(struct map *numbers, const struct candidate *candidate,
                             const struct profile_class *class)
{
    char key[BYTES_OF_KEY], function[BYTES_OF_KEY / 2];
    const struct symbol *place = candidate->place;
    if (place) {
        without_arguments(place->function, function, sizeof function);
        snprintf(key, sizeof key, "%u %s %s", candidate->category, function,
                 place->file ? place->file : "");
    } else
        snprintf(
            key, sizeof key, "%u %u %lx %s", candidate->category, class->what.at.process,
            (unsigned long)(class->what.at.site ? class->what.at.site : class->what.at.address),
            class->what.at.function);
    return number_of(numbers, key);
}

/* Of threads that are aside, and of those that are not, the same; without twins these are larger
 * than any place. */
static uint32_t first_of_pair(const struct profile *profile, uint32_t place, uint32_t partner)
{
    uint32_t left = profile_class_at(profile, place)->twin_and_1 - 1,
             right = profile_class_at(profile, partner)->twin_and_1 - 1;
    uint32_t first = place < partner ? place : partner, twin = left < right ? left : right;
    return twin < first ? twin : first;
}

/* The two ends of a hand-over are one; so is what is taken from the kernel and given back, and what
 * a process takes for its parallel regions. */
static uint32_t object_number(struct map *numbers, const struct finder *finder, uint32_t place)
{
    char key[BYTES_OF_KEY];
    const struct profile_class *class = profile_class_at(finder->profile, place);
    uint32_t partner = finder->partner[place];
    if (partner != NO_GROUP)
        snprintf(key, sizeof key, "pair %u", first_of_pair(finder->profile, place, partner));
    else if (class->what.at.kind == CLASS_FAULT || class->what.at.kind == CLASS_MEMORY_MAP)
        snprintf(key, sizeof key, "memory %u", class->what.at.process);
    else if (class__is_of_regions(class))
        snprintf(key, sizeof key, "regions %u", class->what.at.process);
    else if (class->what.has_object)
        snprintf(key, sizeof key, "object %u %lx", class->what.at.kind,
                 (unsigned long)class->what.object);
    else
        snprintf(key, sizeof key, "alone %u", place);
    return number_of(numbers, key);
}

static int by_lost(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    return ORDER(right->lost_ns, left->lost_ns) ?: ORDER(left->class, right->class);
}

/* What the runtime of OpenMP waits in while there is no task is told by the calls around it. */
static bool is_told_of_tasks(const struct finder *finder, const struct candidate *candidate,
                             const struct profile_class *class)
{
    const struct symbol *site =
        symbols__get(finder->symbols, class->what.at.process, class->what.at.site);
    return finder__knows_tasks(finder) &&
           (candidate->category == FINDING_TASK ||
            (candidate->category == FINDING_BARRIER && site && symbol__is_of_openmp(site)));
}

/* Those of the team wait for the next region while one works: what that does is told. */
static bool is_told_between(const struct finder *finder, const struct candidate *candidate,
                            const struct profile_class *class)
{
    return strcmp(class->what.at.function, WAIT_FOR_REGION) == 0 &&
           finder__between_ns(finder) > candidate->lost_ns / 2;
}

static struct vec candidates_of(struct finder *finder, size_t *numbers_used)
{
    struct vec candidates = VEC_OF(struct candidate);
    struct map numbers = {0};
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        const struct profile_class *class = profile_class_at(finder->profile, i);
        struct candidate candidate = {.class = i, .lost_ns = class__lost_ns(finder, i)};
        if (!candidate.lost_ns || candidate.lost_ns < finder->findings->working_ns / LEAST_PART)
            continue;
        candidate.category = class__category(finder, class);
        if (is_told_of_tasks(finder, &candidate, class) ||
            is_told_between(finder, &candidate, class))
            continue;
        candidate.place = program_frame__of_class(finder->symbols, &class->what);
        candidate.by_place = place_number(&numbers, &candidate, class);
        candidate.by_object = object_number(&numbers, finder, i);
        vec__push(&candidates, &candidate);
    }
    *numbers_used = numbers.count;
    map__free(&numbers);
    vec__sort(&candidates, by_lost);
    if (candidates.count > CANDIDATES_MOST)
        candidates.count = CANDIDATES_MOST;
    return candidates;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The group, place or object, of which most was lost; NO_GROUP: nothing is left. */
static uint32_t largest_group(const struct vec *candidates, uint64_t *sums, size_t numbers)
{
    uint32_t largest = NO_GROUP;
    memset(sums, 0, numbers * sizeof *sums);
    VEC_EACH (candidate, candidates, struct candidate) {
        if (candidate->is_taken)
            continue;
        sums[candidate->by_place] += candidate->lost_ns;
        sums[candidate->by_object] += candidate->lost_ns;
    }
    for (uint32_t i = 0; i < numbers; i++)
        if (sums[i] && (largest == NO_GROUP || sums[i] > sums[largest]))
            largest = i;
    return largest;
}

static bool is_new_object(const struct finder *finder, const struct finding *finding,
                          const struct profile_class *class)
{
    VEC_EACH (place, &finding->classes, uint32_t) {
        const struct profile_class *other = profile_class_at(finder->profile, *place);
        if (other->what.object == class->what.object && other->what.at.kind == class->what.at.kind)
            return false;
    }
    return true;
}

/* Yields that a wait begins with do not tell what is waited for. */
static bool is_led_by_spin(const struct finder *finder, const struct finding *finding)
{
    return finding->category != FINDING_YIELD &&
           profile_class_at(finder->profile, finding->leader)->what.at.kind == CLASS_YIELD;
}

/* What it waits at is its thread's own place to park, not the lock that it waits for. */
static bool waits_at_own_place(const struct candidate *candidate, const struct profile_class *class)
{
    return candidate->category == FINDING_LOCK && class->what.at.kind != CLASS_LOCK &&
           class->threads.count == 1;
}

static void take(struct finder *finder, struct finding *finding, struct candidate *candidate)
{
    const struct profile_class *class = profile_class_at(finder->profile, candidate->class);
    candidate->is_taken = true;
    if (finding->leader == FINDING_NO_CLASS || is_led_by_spin(finder, finding)) {
        finding->leader = candidate->class;
        finding->place = candidate->place;
        finding->confidence = class->confidence;
        finding->has_object = true;
        finding->is_gil = finding->category == FINDING_LOCK &&
                          program_frame__takes_gil(finder->symbols, &class->what);
        finding->is_once = finding->category == FINDING_LATCH && class__is_once(finder, class);
        finding->is_ordered = finding->category == FINDING_LOCK &&
                              strcmp(class->what.at.function, ORDERED_SECTION) == 0;
    }
    bool has_object = class->what.has_object && !waits_at_own_place(candidate, class);
    finding->has_object &= has_object || class->what.at.kind == CLASS_YIELD;
    finding->objects += has_object && is_new_object(finder, finding, class);
    finding->lost_ns += candidate->lost_ns;
    finding->error_ns += class->sum_error_ns;
    vec__push(&finding->classes, &candidate->class);
    vec__push(&finding->losses, &candidate->lost_ns);
}

static enum finding_category category_of_group(const struct vec *candidates, uint32_t group)
{
    VEC_EACH (candidate, candidates, struct candidate)
        if (!candidate->is_taken && (candidate->by_place == group || candidate->by_object == group))
            return candidate->category;
    return FINDING_UNEXPLAINED;
}

/* How many times as long as undisturbed what it is of takes. */
static double slowdown(const struct finder *finder, const struct finding *finding)
{
    uint64_t sum_ns = 0;
    VEC_EACH (class, &finding->classes, uint32_t)
        sum_ns += profile_class_at(finder->profile, *class)->sum_ns;
    uint64_t bare_ns = ns__without(sum_ns, finding->lost_ns);
    return bare_ns ? (double)sum_ns / (double)bare_ns : INFINITY;
}

static void add_groups(struct finder *finder)
{
    size_t numbers;
    struct vec candidates = candidates_of(finder, &numbers);
    uint64_t *sums = memory__zeroed(numbers, sizeof *sums);
    for (unsigned i = 0; i < GROUPS_MOST; i++) {
        uint32_t group = largest_group(&candidates, sums, numbers);
        if (group == NO_GROUP)
            break;
        struct finding *finding = finder__add(finder, category_of_group(&candidates, group));
        VEC_EACH (candidate, &candidates, struct candidate)
            if (!candidate->is_taken &&
                (candidate->by_place == group || candidate->by_object == group))
                take(finder, finding, candidate);
        finding->has_object &= finding->objects > 0;
        if (finding->category == FINDING_OVERLAP)
            finding->slower = slowdown(finder, finding);
        finding__estimate_gain(finder, finding);
    }
    free(sums);
    vec__free(&candidates);
}

/* ---- the order ------------------------------------------------------------------------------- */

static double mean_gain(const struct finding *finding)
{
    return (finding->wall_gain[0] + finding->wall_gain[1]) / 2;
}

/* Whoever has the lock mostly waits for events itself: so some programs let threads wait for work.
 */
static bool is_parked(const struct finding *finding)
{
    const struct finding_counts *counts = &finding->counts;
    return 2 * counts->doing_ns[COMPONENT_OTHER_BLOCKED] >= counts->wait_ns;
}

static bool is_worth_it(const struct findings *findings, const struct finding *finding)
{
    double gain = mean_gain(finding);
    /* What a wait costs beside what the machine lacked: of the time in which threads had a CPU. */
    uint64_t without_ns =
        finding->category == FINDING_CPU ? 0 : findings->runnable_ns + findings->short_ns;
    without_ns = ns__smaller(without_ns + findings->idle_ns, findings->working_ns);
    double of_ns = (double)(findings->working_ns - without_ns);
    bool is_long = (double)finding->lost_ns >= FINDING_SHARE * of_ns &&
                   finding->share >= FINDING_SHARE / LITTLE_PART;
    if (gain < VERDICT_GAIN && finding->share < FINDING_SHARE)
        return false; /* little, and of no use to anybody */
    switch (finding->category) {
    case FINDING_UNEXPLAINED:
        return false;
    case FINDING_LOCK:
        if (is_parked(finding) && gain < FINDING_GAIN)
            return false;
        break;
    case FINDING_PAGE_FAULT:
        return !finding->is_of_many && finding->lost_ns >= FAULTS_LEAST_NS &&
               (is_long || (gain >= SHORT_RUN_GAIN && finding->share >= FINDING_SHARE / 2));
    case FINDING_CPU: /* more threads than CPUs use them as well; what others take is theirs */
        return is_long &&
               (finding->bound_cpus ? gain : fmin(gain, finding->own_gain)) >= ASSUMED_GAIN;
    case FINDING_OVERLAP: /* two CPUs of one core slow each other down by themselves */
        if (finding->slower < SLOWER_LEAST)
            return false;
        break;
    case FINDING_IMBALANCE: /* nobody waits for threads that nobody needs */
        return is_long && gain >= FINDING_GAIN;
    case FINDING_POLLING: /* who looks now and then whether there is work is idle in between; who
                             does hardly anything but sleep sleeps for something else */
        if (finding->is_work || gain < FINDING_GAIN || gain > POLLING_MOST)
            return false;
        break;
    case FINDING_DISK:
        if (finding->is_work)
            return false;
        break;
    case FINDING_NETWORK: /* who sends works, and nobody makes that last longer */
        if (finding->is_work)
            return false;
        /* fall through */
    case FINDING_PIPE: /* answers take what they take, by however many threads */
        if (finding->is_assumed && gain < (finding->is_served ? SERVED_GAIN : ASSUMED_GAIN))
            return false;
        break;
    case FINDING_CONDITION:
    case FINDING_SEMAPHORE: /* stages wait for the slowest one: that is no loss by itself */
        if (finding->is_assumed && gain < FINDING_GAIN)
            return false;
        break;
    default:
        break;
    }
    double least = finding->is_assumed ? ASSUMED_GAIN : FINDING_GAIN;
    return is_long || (gain >= least && finding->share >= FINDING_SHARE / LITTLE_PART);
}

/* A wait for answers that something else makes late: without that as much is gained. */
static bool is_effect(const struct findings *findings, const struct finding *finding)
{
    if (finding->category != FINDING_NETWORK && finding->category != FINDING_PIPE)
        return false;
    VEC_EACH (cause, &findings->rows, struct finding)
        if (cause->is_in_answers && cause->ranked &&
            mean_gain(cause) - 1 >= EFFECT_PART * (mean_gain(finding) - 1))
            return true;
    return false;
}

static int by_rank(const void *a, const void *b)
{
    const struct finding *left = a, *right = b;
    if (left->ranked != right->ranked)
        return left->ranked ? -1 : 1;
    /* What the program does to itself comes before what the machine lacked, and a cause before
     * what comes of it. */
    bool left_cpu = left->category == FINDING_CPU, right_cpu = right->category == FINDING_CPU;
    if (left->ranked && left_cpu != right_cpu)
        return left_cpu ? 1 : -1;
    if (left->ranked && left->is_effect != right->is_effect)
        return left->is_effect ? 1 : -1;
    return ORDER(right->lost_ns, left->lost_ns) ?: ORDER(left->leader, right->leader);
}

static uint64_t wall_without(const struct findings *findings, const struct finding *finding)
{
    double gain = mean_gain(finding);
    return gain > 0 ? (uint64_t)((double)findings->wall_ns / gain) : findings->wall_ns;
}

/* Of those that are not ranked. */
static void note_rest(struct findings *findings)
{
    unsigned noted = 0;
    findings->rest_ns = findings->working_ns / LEAST_PART; /* what is no candidate */
    VEC_EACH (finding, &findings->rows, struct finding) {
        finding->is_noted =
            !finding->ranked && finding->share >= FINDING_NOTED && noted++ < NOTED_MOST;
        if (!finding->ranked && !finding->is_noted)
            findings->rest_ns = ns__larger(findings->rest_ns, finding->lost_ns);
    }
}

const struct finding *findings__verdict(const struct findings *findings)
{
    const struct finding *first = findings->rows.items;
    VEC_EACH (finding, &findings->rows, struct finding)
        if (finding->ranked && finding->wall_gain[1] >= VERDICT_GAIN)
            return finding;
    return findings->rows.count && first->ranked ? first : NULL;
}

/* What threads that have ended could have done is no part of the time that they had. */
static double share_of(const struct findings *findings, const struct finding *finding)
{
    uint64_t all_ns = findings->working_ns;
    all_ns += finding->category == FINDING_IMBALANCE ? finding->lost_ns : 0;
    return all_ns ? (double)finding->lost_ns / (double)all_ns : 0;
}

void findings__rank(struct findings *findings)
{
    VEC_EACH (finding, &findings->rows, struct finding) {
        finding->share = share_of(findings, finding);
        finding->ranked =
            is_worth_it(findings, finding) && finding->error_ns <= finding->lost_ns / 2;
        finding->wall_without_ns = wall_without(findings, finding);
    }
    VEC_EACH (finding, &findings->rows, struct finding)
        finding->is_effect = is_effect(findings, finding);
    vec__sort(&findings->rows, by_rank);
    note_rest(findings);
}

/* ---- the machine ------------------------------------------------------------------------------
 */

#define SHORT_PART 4 /* one in so many ticks without a CPU: waits then tell of the machine */

/* The part of a want of CPUs that programs outside of the run are to blame for: what more threads
 * than CPUs want is the run's own. */
static double foreign_part(const struct finder *finder)
{
    double used = profile__cpus_of_others(finder->profile, finder->trace);
    double wanted =
        fmax(0, (double)finder->findings->working_threads - (double)finder__cpus(finder));
    return used > 0 ? used / (used + wanted) : 0;
}

/* How often threads that had something to do had no CPU, outside of waits: there the wake-up has a
 * part in it that no other load makes. */
static void find_shortage(struct finder *finder)
{
    uint64_t runnable, running;
    free(finder__outside(finder, COMPONENT_RUNNABLE, &runnable));
    free(finder__outside(finder, COMPONENT_RUNNING, &running));
    double all = (double)runnable + (double)running;
    double part = all > 0 ? SHORT_PART * (double)runnable / all : 0;
    finder->shortage = fmax(fmin(part, 1), foreign_part(finder));
    finder->used = profile__use_of_cpus(finder->profile, finder->trace);
    finder->findings->runnable_ns = runnable;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct findings *find(const struct trace *trace, const struct symbols *symbols,
                             const struct profile *profile, const struct sharings *sharings,
                             const struct remotes *remotes, const struct openmp_use *openmp)
{
    struct finder finder = {.trace = trace,
                            .symbols = symbols,
                            .profile = profile,
                            .openmp = openmp,
                            .findings = memory__zeroed(1, sizeof *finder.findings)};
    finder.findings->rows = VEC_OF(struct finding);
    finder__find_workers(&finder);
    uint32_t *partner = handovers__find(&finder);
    stages__find(&finder, partner);
    finder.partner = partner;
    find_shortage(&finder);
    finder.idle_ns = finder__idle(&finder);
    finder.woken_ns = finder__woken(&finder);
    finder.short_ns = finder__shortage_in_waits(&finder);
    for (size_t i = 0; i < profile->threads.count; i++) {
        finder.findings->idle_ns += finder.findings->had_work[i] ? finder.idle_ns[i] : 0;
        finder.findings->runnable_ns += finder.findings->had_work[i] ? finder.woken_ns[i] : 0;
        finder.findings->short_ns += finder.short_ns[i];
    }
    struct own_time *own = waking__own_times(&finder);
    finder.own = own;
    finder.findings->sharings = sharings;
    finder.findings->remotes = remotes;
    add_groups(&finder);
    finder__add_herds(&finder);
    finder__add_creations(&finder);
    finder__add_serials(&finder);
    finder__add_signals(&finder);
    finder__add_spinners(&finder);
    finder__add_retries(&finder);
    finder__add_tasks(&finder);
    finder__add_sharings(&finder);
    finder__add_remotes(&finder);
    finder__add_beside(&finder);
    finder__add_of_threads(&finder);
    finder__add_imbalance(&finder);
    finder__add_between(&finder);
    finder__tell_of_some(&finder);
    VEC_EACH (finding, &finder.findings->rows, struct finding) {
        finding__place_faults(&finder, finding);
        finding__find_parts(&finder, finding);
        finding__find_work(&finder, finding);
    }
    finder__find_roles(&finder);
    finder.findings->wall_ns = profile->wall_ns;
    findings__rank(finder.findings);
    free(finder.idle_ns);
    free(finder.woken_ns);
    free(finder.short_ns);
    free(own);
    free(partner);
    return finder.findings;
}

void findings__free(struct findings *findings)
{
    if (!findings)
        return;
    VEC_EACH (finding, &findings->rows, struct finding)
        finding__free(finding);
    vec__free(&findings->rows);
    vec__free(&findings->roles);
    free(findings->roles_of);
    free(findings->waits_as);
    sharings__free(findings->own_sharings);
    free(findings->had_work);
    free(findings);
}

struct findings *findings__find(const struct trace *trace, const struct symbols *symbols,
                                const struct profile *profile)
{
    struct sharings *sharings = sharings__find(trace, symbols);
    struct findings *findings = find(trace, symbols, profile, sharings, NULL, NULL);
    findings->own_sharings = sharings;
    return findings;
}

static void *start(struct run *run)
{
    return find(run->trace, run->symbols, run__result(run, &profile_analysis),
                run__result(run, &sharings_analysis), run__result(run, &remote_analysis),
                run__result(run, &openmp_analysis));
}

static void free_findings(void *result)
{
    findings__free(result);
}

const struct analysis findings_analysis = {
    .name = "findings",
    .after = (const struct analysis *const[]){&profile_analysis, &sharings_analysis,
                                              &remote_analysis, &openmp_analysis, NULL},
    .start = start,
    .free = free_findings};

/* ---- the replay's gain ----------------------------------------------------------------------- */

bool finding__can_be_replayed(const struct profile *profile, const struct finding *finding)
{
    if (finding->is_of_some)
        return finding->removed.count > 0;
    if (finding->is_assumed || finding->in_vain > 0 || finding->beside_ns ||
        finding->classes.count == 0)
        return false;
    uint32_t process = profile_class_at(profile, finding->leader)->what.at.process;
    /* Of a futex it knows who woke whom; that it is a lock of the C library's it does not. */
    bool is_inner_lock =
        finding->category == FINDING_ALLOCATOR || finding->category == FINDING_STDIO;
    VEC_EACH (class, &finding->classes, uint32_t) {
        enum class_kind kind = profile_class_at(profile, *class)->what.at.kind;
        bool is_known = kind == CLASS_LOCK || kind == CLASS_CONDITION || kind == CLASS_BARRIER ||
                        kind == CLASS_SEMAPHORE || kind == CLASS_FUTEX || kind == CLASS_DISK;
        is_known &= kind != CLASS_FUTEX || !is_inner_lock;
        is_known &= !class__may_be_left_out(profile_class_at(profile, *class));
        if (!is_known || profile_class_at(profile, *class)->what.at.process != process)
            return false;
    }
    return true;
}

void finding__set_gain(struct finding *finding, const double gain[2], double work_left)
{
    double limit = finding->wall_gain[1] / (work_left > 0 ? work_left : 1);
    for (int i = 0; i < 2; i++) {
        double most = gain[i] < limit ? gain[i] : limit;
        finding->wall_gain[i] = most > 1 ? most : 1;
    }
}
