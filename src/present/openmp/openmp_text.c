/* Parallel regions of OpenMP, on a screen. */
#include "base/memory.h"
#include "base/text.h"
#include "present/openmp/openmp_names.h"
#include "present/openmp/openmp_screens.h"
#include "present/report/report_parts.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS_MOST 12u
#define SERIAL_MOST 3u
#define PART_LEAST 0.005  /* of the capacity: less is not said */
#define UNEVEN_LEAST 1.15 /* times the others' work */
#define GAIN_LEAST 1.01

/* ---- names ----------------------------------------------------------------------------------- */

char *parallel_region__title(const struct report *report, const struct parallel_region *region)
{
    return openmp_place__text(report, region->process, region->site);
}

bool parallel_region__is(const struct report *report, const struct parallel_region *region,
                         size_t rank, const char *pattern)
{
    char *end;
    unsigned long number = strtoul(pattern, &end, 10);
    if (*pattern && !*end)
        return number == rank;
    char *title = parallel_region__title(report, region);
    char *glob = memory__format("*%s*", pattern);
    bool is_it = fnmatch(glob, title, 0) == 0;
    free(title);
    free(glob);
    return is_it;
}

struct busiest parallel_region__busiest(const struct parallel_region *region)
{
    struct busiest busiest = {0};
    uint64_t most_ns = 0, sum_ns = 0;
    uint32_t number = 0;
    VEC_EACH (member, &region->members, const struct team_member) {
        sum_ns += member->times.work_ns;
        if (member->times.work_ns > most_ns) {
            most_ns = member->times.work_ns;
            busiest.number = number;
        }
        number++;
    }
    double others = number > 1 ? (double)(sum_ns - most_ns) / (number - 1) : 0;
    busiest.times = others > 0 ? (double)most_ns / others : 0;
    return busiest;
}

/* ---- what the run's threads did -------------------------------------------------------------- */

struct lost_part {
    const char *words;
    uint64_t ns;
};

static int by_loss(const void *a, const void *b)
{
    const struct lost_part *left = a, *right = b;
    return ORDER(right->ns, left->ns);
}

/* Those that are worth a word, the largest first: "31 % at barriers, 3 % …". */
static char *parts_text(struct lost_part *parts, size_t count, double capacity)
{
    char share[16], *text = memory__text("");
    qsort(parts, count, sizeof *parts, by_loss);
    for (size_t i = 0; i < count && (double)parts[i].ns >= PART_LEAST * capacity; i++) {
        char *one = memory__format("%s %s", share__format((double)parts[i].ns / capacity, share),
                                   parts[i].words);
        text = text__join(text, ", ", one);
        free(one);
    }
    return text;
}

static char *lost_in_run(const struct efficiency *all)
{
    const struct team_times *times = &all->times;
    struct lost_part parts[] = {
        {"at barriers", times->barrier_ns},
        {"outside of regions, where one thread works", all->serial_lost_ns},
        {"waiting for locks", times->lock_ns},
        {"with no task to run", times->task_ns},
        {"wanting a CPU", times->no_cpu_ns},
        {"in other waits", times->other_ns},
        {"beginning and ending regions", times->fork_ns + times->join_ns},
        {"in smaller teams", all->unused_ns},
        {"being recorded", times->recording_ns},
    };
    return parts_text(parts, sizeof parts / sizeof *parts, (double)all->capacity_ns);
}

char *openmp_use__efficiency(const struct openmp_use *use)
{
    const struct efficiency *all = &use->efficiency;
    char value[16], *lost = lost_in_run(all);
    char *text = memory__format("Parallel efficiency %s: of what %" PRIu32
                                " threads could do in this time, so much was work. %s%s.",
                                share__format(efficiency__value(all), value), all->threads,
                                *lost ? "Lost: " : "Nothing is lost", lost);
    free(lost);
    return text;
}

static void put_efficiency(const struct openmp_report *shown, const struct style *style, FILE *out)
{
    const struct efficiency *all = &shown->use->efficiency;
    char in_regions[16], between[16], balance[16], serial[16], time[16], regions[32];
    uint64_t count = 0;
    VEC_EACH (region, &shown->use->regions, const struct parallel_region)
        count += region->count;
    paragraph__take(style, out, "  ", openmp_use__efficiency(shown->use));
    paragraph__take(
        style, out, "  ",
        memory__format("In POP's words (additive): OpenMP parallel efficiency %s, serial region "
                       "efficiency %s, load balance efficiency %s.",
                       share__format(efficiency__of_regions(all), in_regions),
                       share__format(efficiency__of_serial(all), between),
                       share__format(efficiency__balance(shown->use), balance)));
    paragraph__take(
        style, out, "  ",
        memory__format("Parallel regions were called %s%s; %s of the time (%s) is in none.",
                       count == 1 ? "once" : count__format(count, regions),
                       count == 1 ? "" : " times",
                       share__format((double)all->serial_ns * all->threads /
                                         (double)(all->capacity_ns ? all->capacity_ns : 1),
                                     serial),
                       duration__format(all->serial_ns, time)));
}

static void put_serial(const struct openmp_report *shown, const struct style *style, FILE *out)
{
    const struct efficiency *all = &shown->use->efficiency;
    uint64_t sampled_ns = 0;
    size_t count = shown->use->serial.count < SERIAL_MOST ? shown->use->serial.count : SERIAL_MOST;
    char *text = memory__text("");
    VEC_EACH (part, &shown->use->serial, const struct serial_part)
        sampled_ns += part->ns;
    for (size_t i = 0; i < count; i++) {
        char share[16], unknown[32];
        const struct serial_part *part = VEC_AT(&shown->use->serial, struct serial_part, i);
        struct place place = place__of_site(shown->report, part->process, part->address, unknown);
        char *name = function__short(place.function);
        char *one = memory__format(
            "%s %s", share__format((double)part->ns / (double)sampled_ns, share), name);
        text = text__join(text, ", ", one);
        free(one);
        free(name);
    }
    if (*text && (double)all->serial_lost_ns >= 0.05 * (double)all->capacity_ns)
        paragraph__take(style, out, "  ",
                        memory__format("Between regions ran, by samples: %s.", text));
    free(text);
}

/* ---- regions --------------------------------------------------------------------------------- */

char *parallel_region__uneven_text(const struct parallel_region *region)
{
    struct busiest busiest = parallel_region__busiest(region);
    if (busiest.times < UNEVEN_LEAST)
        return memory__text("");
    return memory__format("thread %" PRIu32 " had %.1f× the work of %s", busiest.number,
                          busiest.times,
                          region->members.count == 2 ? "the other" : "the others on the average");
}

static char *lost_in_region(const struct parallel_region *region)
{
    const struct team_times *times = &region->times;
    struct lost_part parts[] = {
        {"waiting at its end", times->end_ns},
        {"at barriers in it", times->barrier_ns - times->end_ns},
        {"waiting for locks", times->lock_ns},
        {"with no task to run", times->task_ns},
        {"wanting a CPU", times->no_cpu_ns},
        {"in other waits", times->other_ns},
        {"beginning and ending it", times->fork_ns + times->join_ns},
    };
    return parts_text(parts, sizeof parts / sizeof *parts,
                      (double)(region->capacity_ns ? region->capacity_ns : 1));
}

/* Critical sections that nobody waited for; "": they cost little. */
static char *entries_text(const struct parallel_region *region)
{
    char count[32], time[16], share[16];
    uint64_t ns = team_counts__entry_ns(&region->counts);
    double part = region->capacity_ns ? (double)ns / (double)region->capacity_ns : 0;
    if (part < 0.02)
        return memory__text("");
    return memory__format("entering critical sections that were free took %s (%s), %s times",
                          duration__format(ns, time), share__format(part, share),
                          count__format(region->counts.locks - region->counts.locks_waited, count));
}

static char *add_sentence(char *text, char *sentence)
{
    if (*sentence)
        text = text__join(text, "; ", sentence);
    free(sentence);
    return text;
}

static void put_region(const struct openmp_report *shown, const struct parallel_region *region,
                       size_t rank, const struct style *style, struct grid *grid)
{
    const struct efficiency *all = &shown->use->efficiency;
    double gain[2] = {1, parallel_region__gain(shown->use, region)};
    char text[GAIN_BYTES];
    grid__cell(grid, memory__format("%zu", rank), INK_PLAIN);
    grid__take(grid, parallel_region__title(shown->report, region), INK_PLAIN);
    grid__count(grid, region->count);
    grid__duration(grid, region->ns);
    grid__cell(grid, memory__format("%" PRIu32, region->threads), INK_PLAIN);
    grid__duration(grid, parallel_region__lost_ns(region));
    grid__share(grid, (double)parallel_region__lost_ns(region) /
                          (double)(all->capacity_ns ? all->capacity_ns : 1));
    grid__cell(grid,
               memory__text(gain[1] < GAIN_LEAST ? "" : gain__format(gain, style->unicode, text)),
               INK_PLAIN);
    char *lost = lost_in_region(region);
    char *below = *lost ? memory__format("of its threads' time %s", lost) : memory__text("");
    free(lost);
    below = add_sentence(parallel_region__uneven_text(region), below);
    below = add_sentence(below, entries_text(region));
    if (region->is_nested)
        below = add_sentence(below, memory__text("called in another region"));
    grid__below(grid, text__for_screen(below));
    free(below);
}

static void put_regions(const struct openmp_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"", RIGHT},        {"region", LEFT}, {"times", RIGHT}, {"time", RIGHT},
        {"threads", RIGHT}, {"lost", RIGHT},  {"share", RIGHT}, {"gain", RIGHT}};
    struct grid grid = grid__start(columns, 8, 2);
    size_t rank = 0, left = 0;
    char count[32];
    VEC_EACH (region, &shown->use->regions, const struct parallel_region)
        if (++rank <= REGIONS_MOST)
            put_region(shown, region, rank, style, &grid);
        else
            left++;
    grid__end(&grid, style, out);
    if (left)
        paragraph__take(style, out, "  ",
                        memory__format("And %s more: heurt tables openmp_regions.",
                                       count__format(left, count)));
}

/* ---- loops and tasks ------------------------------------------------------------------------- */

static void put_tasks(const struct openmp_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"made at", LEFT}, {"tasks", RIGHT},
                                                 {"each", RIGHT},   {"time", RIGHT},
                                                 {"stolen", RIGHT}, {"too small", RIGHT}};
    char cost[16];
    if (!shown->use->constructs.count)
        return;
    heading__put(style, out, "  Tasks");
    struct grid grid = grid__start(columns, 6, 2);
    VEC_EACH (construct, &shown->use->constructs, const struct task_construct) {
        double count = construct->count ? (double)construct->count : 1;
        grid__take(&grid, openmp_place__text(shown->report, construct->process, construct->site),
                   INK_PLAIN);
        grid__count(&grid, construct->count);
        grid__duration(&grid, construct->count ? construct->ns / construct->count : 0);
        grid__duration(&grid, construct->ns);
        grid__share(&grid, (double)construct->stolen / count);
        grid__share(&grid, (double)construct->small / count);
    }
    grid__end(&grid, style, out);
    paragraph__take(style, out, "  ",
                    memory__format("Making a task takes %s on the average; too small is one of "
                                   "less than ten times that.",
                                   duration__format(shown->use->task_cost_ns, cost)));
}

/* ---- what to try ----------------------------------------------------------------------------- */

#define HINTS_MOST 5u

static void put_hint(const struct openmp_report *shown, const struct openmp_hint *hint,
                     const struct style *style, FILE *out)
{
    double gain[2];
    char text[GAIN_BYTES];
    char *words = openmp_hint__words(shown, hint);
    char *command = openmp_hint__command(shown, hint);
    openmp_hint__gain(hint, gain);
    bool asks = *words && words[strlen(words) - 1] == '?';
    if (hint->gain > 0)
        paragraph__take(style, out, "  To try: ",
                        memory__format("%s%s Gain %s", words, asks ? "" : ".",
                                       gain__format(gain, style->unicode, text)));
    else
        paragraph__take(style, out, "  To try: ", memory__text(words));
    if (command)
        paragraph__take(style, out, "          ", command);
    free(words);
}

/* rank: of the region; 0: of all. */
static void put_hints(const struct openmp_report *shown, size_t rank, const struct style *style,
                      FILE *out)
{
    unsigned left = HINTS_MOST;
    if (shown->use->hints.count)
        fputc('\n', out);
    VEC_EACH (hint, &shown->use->hints, const struct openmp_hint)
        if ((!rank || openmp_hint__rank(shown->use, hint) == rank) && left && left--)
            put_hint(shown, hint, style, out);
}

/* ---- one region ------------------------------------------------------------------------------ */

static void put_members(const struct parallel_region *region, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"thread", RIGHT},   {"times", RIGHT}, {"last", RIGHT},    {"work", RIGHT},
        {"barriers", RIGHT}, {"locks", RIGHT}, {"no task", RIGHT}, {"no CPU", RIGHT},
        {"other", RIGHT},    {"", LEFT}};
    struct grid grid = grid__start(columns, 10, 2);
    uint64_t most_ns = 1;
    uint32_t number = 0;
    VEC_EACH (member, &region->members, const struct team_member)
        most_ns = member->times.work_ns > most_ns ? member->times.work_ns : most_ns;
    VEC_EACH (member, &region->members, const struct team_member) {
        const struct team_times *times = &member->times;
        grid__cell(&grid, memory__format("%" PRIu32, number++), INK_PLAIN);
        grid__count(&grid, member->bodies);
        grid__count(&grid, member->last);
        grid__duration(&grid, times->work_ns);
        grid__duration(&grid, times->barrier_ns);
        grid__duration(&grid, times->lock_ns);
        grid__duration(&grid, times->task_ns);
        grid__duration(&grid, times->no_cpu_ns);
        grid__duration(&grid, times->other_ns);
        grid__cell(&grid, bar__format(style, (double)times->work_ns / (double)most_ns, 12),
                   INK_PLAIN);
    }
    grid__end(&grid, style, out);
}

static void put_loops(const struct openmp_report *shown, const struct parallel_region *region,
                      const struct style *style, FILE *out)
{
    VEC_EACH (loop, &shown->use->loops, const struct shared_loop) {
        char times[32], chunks[32], iterations[32], longest[16], waited[16];
        if (loop->process != region->process || loop->region_site != region->site)
            continue;
        char *title =
            openmp_place__in_region(shown->report, loop->process, loop->site, loop->region_site);
        bool is_sections = loop->schedule == HEURT_SCHEDULE_SECTIONS;
        paragraph__take(
            style, out, "  ",
            memory__format(
                "%s, %s: threads began %s %s times, did %s %s in %s chunks%s%s, and waited for %s "
                "at its end.",
                title, is_sections ? "sections" : "loop", is_sections ? "them" : "it",
                count__format(loop->times, times), count__format(loop->iterations, iterations),
                is_sections ? "sections" : "iterations", count__format(loop->chunks, chunks),
                loop->longest_ns ? ", the longest of " : "",
                loop->longest_ns ? duration__format(loop->longest_ns, longest) : "",
                duration__format(loop->wait_ns, waited)));
        free(title);
    }
}

/* Who came last most often, and what it had done more then. */
static char *last_words(const struct region_barrier *barrier)
{
    const struct barrier_member *last = NULL;
    size_t number = 0;
    for (size_t i = 0; i < barrier->members.count; i++) {
        const struct barrier_member *member = VEC_AT(&barrier->members, struct barrier_member, i);
        if (last && member->last <= last->last)
            continue;
        last = member;
        number = i;
    }
    if (!last || !last->last)
        return memory__text("");
    if (last->last_others_ns * UNEVEN_LEAST > last->last_work_ns)
        return memory__format("thread %zu, %.0f %%", number,
                              100 * (double)last->last / (double)barrier->times);
    return memory__format("thread %zu, %.0f %%: %.1f× the others' work", number,
                          100 * (double)last->last / (double)barrier->times,
                          (double)last->last_work_ns /
                              (double)(last->last_others_ns ? last->last_others_ns : 1));
}

static void put_barriers(const struct openmp_report *shown, const struct parallel_region *region,
                         const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"barrier", LEFT}, {"times", RIGHT}, {"waited", RIGHT}, {"who came last", LEFT}};
    struct grid grid = grid__start(columns, 4, 2);
    VEC_EACH (barrier, &shown->use->barriers, const struct region_barrier) {
        if (barrier->process != region->process || barrier->region_site != region->site)
            continue;
        uint64_t site = barrier->loop_site ? barrier->loop_site : barrier->site;
        char *place = site ? openmp_place__in_region(shown->report, barrier->process, site,
                                                     barrier->region_site)
                           : memory__text("the region");
        grid__take(&grid,
                   barrier->loop_site || !site ? memory__format("end of %s", place)
                                               : memory__text(place),
                   INK_PLAIN);
        grid__count(&grid, barrier->times);
        grid__duration(&grid, barrier->wait_ns);
        grid__cell(&grid, last_words(barrier), INK_PLAIN);
        free(place);
    }
    grid__end(&grid, style, out);
}

static void put_one(const struct openmp_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"", RIGHT},        {"region", LEFT}, {"times", RIGHT}, {"time", RIGHT},
        {"threads", RIGHT}, {"lost", RIGHT},  {"share", RIGHT}, {"gain", RIGHT}};
    const struct parallel_region *region =
        VEC_AT(&shown->use->regions, struct parallel_region, shown->rank - 1);
    struct grid grid = grid__start(columns, 8, 2);
    put_region(shown, region, shown->rank, style, &grid);
    grid__end(&grid, style, out);
    fputc('\n', out);
    put_members(region, style, out);
    fputc('\n', out);
    put_barriers(shown, region, style, out);
    put_loops(shown, region, style, out);
    put_hints(shown, shown->rank, style, out);
}

/* ---- the screen ------------------------------------------------------------------------------ */

/* runtimes: what is said of these. */
static char *none_text(const struct report *report, const char *runtimes)
{
    const char *why = trace__is_aggregated(report->trace) ? ": an aggregated run keeps none"
                      : *runtimes                         ? ""
                                  : ": the program called none, or its runtime is linked into it "
                                    "and has no names";
    return memory__format("No parallel region of OpenMP is in the trace%s.", why);
}

static void put(const struct openmp_report *shown, const struct style *style, FILE *out)
{
    text__head(shown->report, style, out);
    fputc('\n', out);
    char *runtimes = openmp_runtimes__words(shown->report);
    if (!shown->use)
        paragraph__take(style, out, "  ", none_text(shown->report, runtimes));
    if (*runtimes)
        paragraph__put(style, out, INK_PLAIN, "  ", runtimes);
    free(runtimes);
    if (!shown->use)
        return;
    if (shown->rank) {
        put_one(shown, style, out);
        return;
    }
    put_efficiency(shown, style, out);
    put_serial(shown, style, out);
    fputc('\n', out);
    put_regions(shown, style, out);
    put_tasks(shown, style, out);
    put_hints(shown, 0, style, out);
    paragraph__take(style, out, "  More: ", report__hint(shown->report, "openmp", "1"));
}

const struct openmp_presenter openmp_text = {"text", put};
