#include "analysis/memory/internal.h"
#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <math.h>
#include <stdlib.h>

#define NEAR_BYTES 512 /* so near to one that shares lines are instructions of the same loop */
#define ALONE_LEAST 5  /* samples while nobody else is at the line: fewer are chance */
#define FASTEST_PART 50
#define ALONE_SLOWER 1.25 /* than the fastest, at most */
#define INNER_TIMES 20    /* as long as its instructions take once: loops inside repeat them */

#define ATOMIC_NS 2 /* of a locked instruction, at least */
/* How many times as long as alone an access takes for each other thread that is at the line at
 * once, at most: a line comes from another core in some 100 ns at most, and an access that waits
 * for it each time takes some 5 ns alone, as a locked one does; plain writes wait in the buffer and
 * pay one transfer for many. That is usual, and not measured on the machine that was recorded. */
#define SLOWER_MOST 20
#define LEAST_PARTS 2         /* no loop gets faster than that by what it does without */
#define CACHE_BYTES (1 << 15) /* of the first cache: what one instruction accesses and is wider */

struct costing {
    const struct trace *trace;
    const struct sharing *sharing;
    const struct sample_index *index;
    uint32_t *group_of; /* by trace__threads: the first thread of its group */
    uint64_t *near_ns;  /* by trace__threads: sampled near to what shares lines */
    struct map lines;   /* that are shared */
    struct map code;    /* around what shares them: address / NEAR_BYTES */
};

/* Iterations of a loop from one sample to the next. */
struct pace {
    double ns; /* of one */
    uint64_t iterations;
};

/* Where in memory an instruction was. */
struct access_width {
    uint64_t least, most, ns;
};

/* Instructions near to those that share lines, of threads that have some of these in common. */
struct surroundings {
    uint32_t group;
    uint64_t least, most;           /* their addresses */
    uint64_t shared, shared_ns;     /* instructions that share lines, what was sampled of that */
    uint64_t ordinary, ordinary_ns; /* those that do not, what was sampled of them */
    uint64_t all_ns, spun_ns;
    uint64_t threads_ns; /* all that was sampled of the threads, wherever they were */
    uint64_t missing_ns; /* sampled at instructions that access more than the first cache holds */
    struct vec widths;   /* struct access_width */
    struct map width_of; /* address of an instruction */
    bool reads, writes;
    unsigned atomic;
    double least_ns;   /* of an iteration of the counted loop that they are in; 0: not known */
    struct vec paces;  /* struct pace */
    struct pace alone; /* of them: while nobody else was at the line; iterations and their ns */
    unsigned alone_count;
    struct map seen; /* of both */
};

static void surround(const struct costing *costing, struct surroundings *around)
{
    VEC_EACH (access, &costing->sharing->accesses, struct line_access) {
        uint64_t at = access->instruction;
        if (costing->group_of[access->thread] != around->group)
            continue;
        around->shared_ns += access->sampled_ns;
        around->least = at < around->least ? at : around->least;
        around->most = at > around->most ? at : around->most;
        around->reads |= access->access != HEURT_ACCESS_WRITE;
        around->writes |=
            access->access != HEURT_ACCESS_READ && access->access != HEURT_ACCESS_SPIN;
        around->spun_ns +=
            access->access == HEURT_ACCESS_SPIN || access->access == HEURT_ACCESS_TAKE
                ? access->sampled_ns
                : 0;
        uint64_t known = around->seen.count;
        if (map__put(&around->seen, &at, sizeof at, known) == known)
            around->atomic += access->access == HEURT_ACCESS_ATOMIC;
    }
    around->shared = around->seen.count;
}

/* Whether a thread is at a shared line, or in the code around what accesses them. */
static bool is_there(const struct costing *costing, const struct heurt_sample *sample)
{
    uint64_t line = sample->address & ~(uint64_t)(CACHE_LINE_BYTES - 1);
    uint64_t block = sample->instruction / NEAR_BYTES;
    return map__get(&costing->code, &block, sizeof block) != MAP_ABSENT ||
           (line && map__get(&costing->lines, &line, sizeof line) != MAP_ABSENT);
}

/* Whether nobody else was there while the thread came from its last sample to this. */
static bool is_alone(const struct costing *costing, size_t i)
{
    const struct vec *samples = trace__samples(costing->trace);
    const struct heurt_sample *sample = VEC_AT(samples, struct heurt_sample, i);
    uint64_t near_ns = (uint64_t)TOGETHER_PERIODS * sample->weight_ns;
    for (int step = -1; step <= 1; step += 2)
        for (size_t k = i + (size_t)step; k < samples->count; k += (size_t)step) {
            const struct heurt_sample *other = VEC_AT(samples, struct heurt_sample, k);
            uint64_t then = other->monotonic_ns, now = sample->monotonic_ns;
            if ((then > now ? then - now : now - then) > near_ns)
                break;
            if (costing->index->thread_of[k] != costing->index->thread_of[i] &&
                is_there(costing, other))
                return false;
        }
    return true;
}

static void add_pace(const struct costing *costing, size_t i, struct surroundings *around)
{
    const struct heurt_sample *sample =
        VEC_AT(trace__samples(costing->trace), struct heurt_sample, i);
    struct pace pace = {(double)sample->iterations_ns / (double)sample->iterations,
                        sample->iterations};
    vec__push(&around->paces, &pace);
    if (!is_alone(costing, i))
        return;
    around->alone.ns += sample->iterations_ns;
    around->alone.iterations += sample->iterations;
    around->alone_count++;
}

static void add_width(const struct heurt_sample *sample, struct surroundings *around)
{
    uint64_t next = around->widths.count;
    uint64_t number = map__put(&around->width_of, &sample->instruction, sizeof(uint64_t), next);
    if (number == next)
        vec__push(&around->widths, &(struct access_width){sample->address, sample->address, 0});
    struct access_width *width = VEC_AT(&around->widths, struct access_width, number);
    width->least = sample->address < width->least ? sample->address : width->least;
    width->most = sample->address > width->most ? sample->address : width->most;
    width->ns += sample->weight_ns;
}

static void add_sample(const struct costing *costing, size_t i, struct surroundings *around)
{
    const struct heurt_sample *sample =
        VEC_AT(trace__samples(costing->trace), struct heurt_sample, i);
    uint64_t at = sample->instruction, known = around->seen.count;
    uint64_t number = map__put(&around->seen, &at, sizeof at, known);
    around->ordinary += number == known;
    around->all_ns += sample->weight_ns;
    costing->near_ns[costing->index->thread_of[i]] += sample->weight_ns;
    around->ordinary_ns += number >= around->shared ? sample->weight_ns : 0;
    if (sample->address && number >= around->shared)
        add_width(sample, around);
    if (sample->loop_least)
        around->least_ns = sample->loop_least / 16.0;
    if (sample->iterations)
        add_pace(costing, i, around);
}

/* ---- how long it would take ------------------------------------------------------------------ */

static int by_ns(const void *a, const void *b)
{
    const struct pace *left = a, *right = b;
    return left->ns < right->ns ? -1 : left->ns > right->ns;
}

static double mean_ns(const struct vec *paces)
{
    double ns = 0, iterations = 0;
    VEC_EACH (pace, paces, struct pace) {
        ns += pace->ns * (double)pace->iterations;
        iterations += (double)pace->iterations;
    }
    return ns / iterations;
}

/* One of the fastest iterations. */
static double fastest_ns(const struct surroundings *around)
{
    qsort(around->paces.items, around->paces.count, sizeof(struct pace), by_ns);
    return VEC_AT(&around->paces, struct pace, around->paces.count / FASTEST_PART)->ns;
}

/* So often nobody else is sampled there by chance, of threads that do the same: samples fall
 * elsewhere, too. */
static double by_chance(const struct surroundings *around)
{
    double elsewhere = 1 - (double)around->all_ns / (double)around->threads_ns;
    return (double)around->paces.count * pow(elsewhere > 0 ? elsewhere : 0, 2 * TOGETHER_PERIODS);
}

/* Iterations were seen while nobody else was at the line, more often than by chance: those are not
 * slower than the fastest. */
static bool was_alone(const struct surroundings *around)
{
    return around->alone_count >= ALONE_LEAST + 2 * by_chance(around) &&
           around->alone.ns / (double)around->alone.iterations <= ALONE_SLOWER * fastest_ns(around);
}

/* An iteration on lines of its own: as its code takes, and as long as it waits for memory that does
 * not fit into the first cache. What else is sampled at other instructions is not counted: the
 * processor goes on with them while it waits for a line, until its buffers are full, and then
 * these, too, seem to take the time. */
static double private_ns(const struct surroundings *around, double iteration_ns)
{
    double missing = (double)around->missing_ns / (double)around->all_ns;
    return fmax(around->least_ns, missing * iteration_ns);
}

/* The same without what shares, where it may be done without: of a few cycles, all but one piece.
 */
static double plain_ns(const struct surroundings *around, double iteration_ns)
{
    double ns = around->least_ns - around->atomic * ATOMIC_NS;
    double missing = (double)around->missing_ns / (double)around->all_ns;
    return fmax(fmax(ns, around->least_ns / LEAST_PARTS), missing * iteration_ns);
}

/* What would be left if instructions that share lines took as long as the others. */
static double sampled_part(const struct surroundings *around)
{
    double ordinary = (double)around->ordinary_ns / (double)around->all_ns;
    double each = around->ordinary ? ordinary / (double)around->ordinary : 0;
    return ordinary + each * (double)around->shared;
}

/* What an iteration takes when nobody else is at the line: at most, and, where it may be done
 * without, at least. */
static void times_without(const struct surroundings *around, double now_ns, bool is_false,
                          double then_ns[2])
{
    bool is_known = was_alone(around), is_counted = around->least_ns > 0;
    double best_ns =
        is_known ? around->alone.ns / (double)around->alone.iterations : fastest_ns(around);
    then_ns[0] = then_ns[1] = best_ns;
    /* Loops inside of it repeat its instructions: how often is not known, only what part is sampled
     * in others. */
    if (!is_counted || best_ns > INNER_TIMES * around->least_ns) {
        if (!is_known)
            then_ns[1] = fmin(best_ns, sampled_part(around) * now_ns);
        return;
    }
    if (!is_known)
        then_ns[0] = then_ns[1] = fmin(best_ns, private_ns(around, now_ns));
    if (!is_false && is_known)
        then_ns[1] =
            fmin(best_ns, fmax(plain_ns(around, now_ns), best_ns - around->atomic * ATOMIC_NS));
    else if (!is_false)
        then_ns[1] = fmin(then_ns[1], plain_ns(around, now_ns));
}

/* The part of a thread's time that a line can cost, whatever samples say: where nothing but the
 * access was sampled, or a register that was taken to count was something else, all seems lost. */
static double most_part(const struct costing *costing)
{
    const char *text = trace__meta(costing->trace, "cpus");
    uint32_t at_once = costing->sharing->threads,
             cpus = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
    if (cpus && cpus < at_once)
        at_once = cpus;
    uint32_t others = at_once > 2 ? at_once - 1 : 1;
    return 1 - 1 / (1 + (double)SLOWER_MOST * others);
}

/* The part of the thread's time there that is lost, at least and at most. */
static void lost_parts(const struct surroundings *around, bool is_false, double parts[2])
{
    parts[0] = parts[1] = 1 - sampled_part(around);
    if (!around->paces.count) {
        /* How often it was done is not known, and in one piece it takes its time anyway. */
        parts[0] = around->atomic && is_false ? 0 : parts[0];
        return;
    }
    double now_ns = mean_ns(&around->paces), then_ns[2];
    times_without(around, now_ns, is_false, then_ns);
    for (int i = 0; i < 2; i++)
        parts[i] = 1 - then_ns[i] / now_ns;
    parts[1] = fmax(parts[0], parts[1]);
}

/* What the threads of a group lose, each by its time near to what is shared. */
static void estimate_group(const struct costing *costing, const struct surroundings *around,
                           struct sharing *sharing)
{
    double parts[2];
    lost_parts(around, sharing->is_false, parts);
    for (int i = 0; i < 2; i++)
        parts[i] = fmin(parts[i], most_part(costing));
    for (int i = 0; i < 2 && sharing->is_spun; i++)
        parts[i] = (double)around->spun_ns / (double)around->all_ns;
    for (uint32_t i = 0; i < trace__threads(costing->trace)->count; i++) {
        if (costing->group_of[i] != around->group)
            continue;
        sharing->lost_ns[i] = (uint64_t)(fmax(parts[0], 0) * (double)costing->near_ns[i]);
        sharing->most_lost_ns[i] = (uint64_t)(fmax(parts[1], 0) * (double)costing->near_ns[i]);
        sharing->all_lost_ns += sharing->lost_ns[i];
    }
}

/* The samples of the group's threads that are near, by time. */
static void add_samples(const struct costing *costing, struct surroundings *around)
{
    size_t threads = trace__threads(costing->trace)->count;
    bool *are_of = memory__zeroed(threads, sizeof *are_of);
    for (size_t i = 0; i < threads; i++) {
        are_of[i] = costing->group_of[i] == around->group;
        around->threads_ns += are_of[i] ? costing->index->ns[i] : 0;
    }
    struct vec numbers = sample_index__at(
        costing->index, around->least > NEAR_BYTES ? around->least - NEAR_BYTES : 0,
        around->most < UINT64_MAX - NEAR_BYTES ? around->most + NEAR_BYTES : UINT64_MAX, are_of);
    VEC_EACH (number, &numbers, uint64_t)
        add_sample(costing, *number, around);
    vec__free(&numbers);
    free(are_of);
}

static void look_around(const struct costing *costing, uint32_t group, struct sharing *sharing)
{
    struct surroundings around = {.group = group,
                                  .least = UINT64_MAX,
                                  .paces = VEC_OF(struct pace),
                                  .widths = VEC_OF(struct access_width)};
    surround(costing, &around);
    if (around.shared_ns)
        add_samples(costing, &around);
    VEC_EACH (width, &around.widths, struct access_width)
        around.missing_ns += width->most - width->least > CACHE_BYTES ? width->ns : 0;
    if (around.shared_ns)
        estimate_group(costing, &around, sharing);
    vec__free(&around.paces);
    map__free(&around.seen);
    vec__free(&around.widths);
    map__free(&around.width_of);
}

/* ---- threads that do the same ---------------------------------------------------------------- */

static void join_groups(uint32_t *group_of, size_t threads, uint32_t a, uint32_t b)
{
    uint32_t from = a > b ? a : b, into = a < b ? a : b;
    for (size_t i = 0; i < threads; i++)
        if (group_of[i] == from)
            group_of[i] = into;
}

/* By thread, its own number where it shares no instruction; free() it. */
static uint32_t *groups_of(const struct sharing *sharing, size_t threads)
{
    uint32_t *group_of = memory__zeroed(threads, sizeof *group_of);
    struct map thread_at = {0};
    for (uint32_t i = 0; i < threads; i++)
        group_of[i] = i;
    VEC_EACH (access, &sharing->accesses, struct line_access) {
        uint64_t first =
            map__put(&thread_at, &access->instruction, sizeof access->instruction, access->thread);
        if (group_of[first] != group_of[access->thread])
            join_groups(group_of, threads, group_of[first], group_of[access->thread]);
    }
    map__free(&thread_at);
    return group_of;
}

void sharing__estimate(struct sharing *sharing, const struct sample_index *index)
{
    size_t threads = trace__threads(index->trace)->count;
    struct costing costing = {.trace = index->trace,
                              .sharing = sharing,
                              .index = index,
                              .group_of = groups_of(sharing, threads),
                              .near_ns = memory__zeroed(threads, sizeof *costing.near_ns)};
    sharing->lost_ns = memory__zeroed(threads, sizeof *sharing->lost_ns);
    sharing->most_lost_ns = memory__zeroed(threads, sizeof *sharing->most_lost_ns);
    VEC_EACH (access, &sharing->accesses, struct line_access) {
        uint64_t line = access->address & ~(uint64_t)(CACHE_LINE_BYTES - 1);
        map__put(&costing.lines, &line, sizeof line, 1);
        for (uint64_t i = 0; i < 3; i++) {
            uint64_t block = access->instruction / NEAR_BYTES + i - 1;
            map__put(&costing.code, &block, sizeof block, 1);
        }
    }
    for (uint32_t i = 0; i < threads; i++)
        if (costing.group_of[i] == i)
            look_around(&costing, i, sharing);
    map__free(&costing.lines);
    map__free(&costing.code);
    free(costing.group_of);
    free(costing.near_ns);
}
