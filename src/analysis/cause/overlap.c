#include "analysis/cause/overlap.h"

#include "analysis/cause/interval_overlap.h"
#include "analysis/cause/samples.h"
#include "base/map.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IN_STEP 0.75    /* of the time of occurrences: those that begin with another thread's */
#define TOGETHER_PART 6 /* of an occurrence: another one begins within so little of it */
#define CANDIDATES_MAX 64u
#define SIDE_MIN 5u    /* occurrences on either side of the middle share */
#define SPREAD_MIN 0.1 /* between the smallest and the largest share */
#define WITHIN_MIN 0.1 /* of the shares' variance that has to be left within blocks */
#define MARGIN 0.02    /* of r² over the null's, and … */
#define MARGIN_OF_ONE \
    4 /* … this over the number of occurrences, as r² by chance is larger for few */
#define BLOCKS_MIN 3
#define TYPICAL_PART 4 /* of the slope: so much of it what is typical shows */
#define EQUAL 0.95     /* r² of classes that are told apart by nothing but their time */
#define LEAST 0.02     /* quantile of the shares: what all have */

/* What a candidate covers; one is laid out at a time, in the same memory. */
struct layout {
    struct cover all;  /* by all threads */
    struct cover *own; /* by owner: what of it is the owner's */
    double *shares;    /* by sample */
};

struct overlap_candidate {
    struct class_entry *entry;
    size_t seen;               /* how many others before it */
    uint64_t total;            /* ticks on other threads */
    const struct layout *laid; /* valid until another one is laid out */
    unsigned level;            /* of its blocks */
    bool varies;               /* enough for a slope */
    bool possible;
    struct fit fit;
};

static const struct vec *intervals_of(const struct overlap_question *question,
                                      const struct class_timeline *timeline)
{
    return question->preempted ? &timeline->preempted : &timeline->running;
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* Where the last answers were found. */
struct overlap_place {
    size_t all, own;
};

static uint64_t covered_by_others(const struct overlap_candidate *candidate, size_t owner,
                                  uint64_t begin, uint64_t end, struct overlap_place *place)
{
    return cover__between(&candidate->laid->all, begin, end, &place->all) -
           cover__between(&candidate->laid->own[owner], begin, end, &place->own);
}

/* The part of each occurrence's time on a CPU, or of its first at_most ticks there, in which the
 * class was on other threads. Several threads that are there at once count several times, since a
 * cache line that goes round among them takes the longer to come back. */
static void find_shares(const struct samples *asked, const struct overlap_candidate *candidate,
                        uint64_t at_most, double *shares)
{
    const struct sample *items = asked->items.items;
    struct overlap_place place = {0};
    for (size_t i = 0; i < asked->items.count; i++) {
        if (i && items[i].owner != items[i - 1].owner)
            place = (struct overlap_place){0};
        uint64_t length = items[i].length < at_most ? items[i].length : at_most, left = length;
        uint64_t ticks = 0;
        for (size_t piece = 0; piece < items[i].piece_count && left; piece++) {
            struct interval part = sample__piece(asked, &items[i], piece, &left);
            ticks += covered_by_others(candidate, items[i].owner, part.begin, part.end, &place);
        }
        shares[i] = (double)ticks / (double)length;
    }
}

/* How far round the block, 0 … 1. Multiples of the golden ratio lie nowhere close together. Each
 * block has its own place: what comes again and again in the same time would otherwise fit again in
 * all blocks at once. */
static double turn(const struct samples *asked, unsigned shift, uint64_t number, double block_ticks)
{
    double whole, away = 2 * asked->length / block_ticks;
    if (away > 0.25)
        away = 0.25;
    double part = modf(shift * 0.6180339887498949 + (double)number * 0.4142135623730951, &whole);
    return (away + (1 - 2 * away) * part) * block_ticks;
}

/* A block whose time is turned by so many ticks. */
struct turned_block {
    struct interval block;
    uint64_t by;
};

/* Ticks of the part that the class covers in the turned time. */
static uint64_t covered_when_turned(const struct overlap_candidate *candidate,
                                    const struct turned_block *turned, size_t owner,
                                    const struct interval *part, struct overlap_place *place)
{
    uint64_t begin = turned->block.begin, end = turned->block.end;
    uint64_t length = part->end - part->begin;
    length = length < end - begin ? length : end - begin;
    uint64_t start = begin + (part->begin - begin + turned->by) % (end - begin);
    if (start + length <= end)
        return covered_by_others(candidate, owner, start, start + length, place);
    return covered_by_others(candidate, owner, start, end, place) +
           covered_by_others(candidate, owner, begin, begin + (start + length - end), place);
}

/* As find_shares, with the other threads' time turned round in each block. */
static void find_shifted_shares(const struct samples *asked,
                                const struct overlap_candidate *candidate, unsigned shift,
                                uint64_t at_most, double *shares)
{
    const uint64_t *numbers = asked->blocks[candidate->level];
    const struct sample *items = asked->items.items;
    struct turned_block turned = {0};
    struct overlap_place place = {0};
    for (size_t i = 0; i < asked->items.count; i++) {
        bool is_other = i && items[i].owner != items[i - 1].owner;
        if (is_other)
            place = (struct overlap_place){0};
        if (!i || is_other || numbers[i] != numbers[i - 1]) {
            turned.block = sample__block(&items[i], numbers[i], candidate->level);
            turned.by = (uint64_t)turn(asked, shift, numbers[i],
                                       (double)(turned.block.end - turned.block.begin));
        }
        uint64_t length = items[i].length < at_most ? items[i].length : at_most, left = length;
        uint64_t ticks = 0;
        for (size_t piece = 0; piece < items[i].piece_count && left; piece++) {
            struct interval part = sample__piece(asked, &items[i], piece, &left);
            ticks += covered_when_turned(candidate, &turned, items[i].owner, &part, &place);
        }
        shares[i] = (double)ticks / (double)length;
    }
}

/* ---- candidates ------------------------------------------------------------------------------ */

static bool is_elsewhere(const struct samples *asked, const struct class_timeline *timeline)
{
    return asked->owners.count > 1 ||
           VEC_AT(&asked->owners, struct owner, 0)->thread != timeline->thread;
}

static uint64_t length_of(const struct vec *intervals)
{
    uint64_t sum = 0;
    VEC_EACH (interval, intervals, struct interval)
        sum += interval->end - interval->begin;
    return sum;
}

/* What took the most time comes first; of equals, what was seen first. */
static int compare_totals(const void *a, const void *b)
{
    const struct overlap_candidate *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return (x->seen > y->seen) - (x->seen < y->seen);
}

/* struct overlap_candidate, at most CANDIDATES_MAX, not yet covered. */
static struct vec find_candidates(const struct samples *asked)
{
    struct vec candidates = VEC_OF(struct overlap_candidate);
    struct map places = {0};
    VEC_EACH (timeline, &asked->question->all->timelines, struct class_timeline) {
        uint64_t ticks = length_of(intervals_of(asked->question, timeline));
        if (!ticks || !is_elsewhere(asked, timeline))
            continue;
        size_t place =
            (size_t)map__put(&places, &timeline->entry, sizeof timeline->entry, candidates.count);
        if (place == candidates.count) {
            struct overlap_candidate new = {.entry = timeline->entry, .seen = place};
            vec__push(&candidates, &new);
        }
        VEC_AT(&candidates, struct overlap_candidate, place)->total += ticks;
    }
    map__free(&places);
    if (candidates.count)
        qsort(candidates.items, candidates.count, sizeof(struct overlap_candidate), compare_totals);
    if (candidates.count > CANDIDATES_MAX)
        candidates.count = CANDIDATES_MAX;
    return candidates;
}

static void cover(const struct samples *asked, const struct overlap_candidate *candidate,
                  struct layout *layout)
{
    struct vec lines = VEC_OF(const struct vec *);
    for (size_t i = 0; i < asked->owners.count; i++)
        layout->own[i].count = 0;
    VEC_EACH (timeline, &asked->question->all->timelines, struct class_timeline) {
        const struct vec *intervals = intervals_of(asked->question, timeline);
        if (timeline->entry != candidate->entry || !intervals->count)
            continue;
        vec__push(&lines, &intervals);
        for (size_t i = 0; i < asked->owners.count; i++)
            if (VEC_AT(&asked->owners, struct owner, i)->thread == timeline->thread)
                cover__of(&layout->own[i], &intervals, 1);
    }
    cover__of(&layout->all, lines.items, lines.count);
    vec__free(&lines);
}

/* The finest blocks within which shares still vary: what differs only from block to block, say
 * because both threads are in another phase of the program, is no sign of a coincidence. */
static bool choose_level(const struct samples *asked, struct overlap_candidate *candidate)
{
    const double *x = candidate->laid->shares;
    double whole = samples__deviations(asked, x, x, WHOLE_THREADS, NULL).xx;
    for (candidate->level = asked->finest;; candidate->level--) {
        double within = samples__deviations(asked, x, x, candidate->level, NULL).xx;
        if (within >= WITHIN_MIN * whole)
            return true;
        if (!candidate->level)
            return false;
    }
}

static bool is_spread(const struct samples *asked, const double *shares)
{
    const struct sample *items = asked->items.items;
    double least = INFINITY, most = 0;
    size_t above = 0;
    for (size_t i = 0; i < asked->items.count; i++) {
        least = items[i].is_fitted && shares[i] < least ? shares[i] : least;
        most = items[i].is_fitted && shares[i] > most ? shares[i] : most;
    }
    for (size_t i = 0; i < asked->items.count; i++)
        above += items[i].is_fitted && shares[i] > (least + most) / 2;
    return most - least >= SPREAD_MIN && above >= SIDE_MIN && asked->fitted - above >= SIDE_MIN;
}

static struct layout new_layout(const struct samples *asked)
{
    return (struct layout){
        .own = memory__zeroed(asked->owners.count, sizeof(struct cover)),
        .shares = memory__zeroed(asked->items.count, sizeof(double)),
    };
}

static void free_layout(const struct samples *asked, struct layout *layout)
{
    for (size_t i = 0; i < asked->owners.count; i++)
        cover__free(&layout->own[i]);
    free(layout->own);
    cover__free(&layout->all);
    free(layout->shares);
}

static void lay_out(const struct samples *asked, struct overlap_candidate *candidate,
                    struct layout *layout)
{
    cover(asked, candidate, layout);
    candidate->laid = layout;
    find_shares(asked, candidate, UINT64_MAX, layout->shares);
}

/* ---- what is believed ------------------------------------------------------------------------ */

/* Those in which times differ most come first. */
static int compare_blocks(const void *a, const void *b)
{
    const struct sums *x = a, *y = b;
    double left = x->yy / x->weight, right = y->yy / y->weight;
    return (left < right) - (left > right);
}

/* A few coincidences are not enough. Without the blocks in which times differ most, down to half
 * of what shares differ in all, the rest has to show the slope, too: phases of the program that
 * begin in both threads at once do so in few blocks, and in those within a phase nothing follows
 * the other. And shares have to differ in several blocks: (Σ s)² / Σ s² of them, were they equal.
 */
static bool is_everywhere(const struct samples *asked, const struct overlap_candidate *candidate)
{
    unsigned level = candidate->level;
    if (asked->question->all->windows.count < 4 && level < BLOCKS_LEAST)
        level = BLOCKS_LEAST;
    struct vec blocks = VEC_OF(struct sums);
    struct sums all =
        samples__deviations(asked, candidate->laid->shares, asked->lefts.items, level, &blocks);
    struct sums rest = all;
    double squares = 0;
    qsort(blocks.items, blocks.count, sizeof(struct sums), compare_blocks);
    VEC_EACH (block, &blocks, struct sums) {
        squares += block->xx * block->xx;
        if (rest.xx - block->xx < all.xx / 2)
            continue;
        rest.xx -= block->xx;
        rest.xy -= block->xy;
    }
    vec__free(&blocks);
    return all.xx * all.xx >= BLOCKS_MIN * squares && rest.xx > 0 &&
           rest.xy / rest.xx >= candidate->fit.slope / 3;
}

/* Who starts together with the other, and takes longer for a reason of its own, meets what the
 * other does next. What it met in the time that nearly all occurrences last does not depend on how
 * long it went on then. So that has to tell nearly the same slope (the estimate by an instrumental
 * variable). early: room for shares. */
static bool is_met_early(const struct samples *asked, const struct overlap_candidate *candidate,
                         double *early)
{
    find_shares(asked, candidate, asked->reference, early);
    double xy = samples__deviations(asked, early, asked->lefts.items, candidate->level, NULL).xy;
    double xx =
        samples__deviations(asked, early, candidate->laid->shares, candidate->level, NULL).xy;
    return xx > 0 && xy / xx >= candidate->fit.slope / 2;
}

/* And it has to be related to the time more closely than when it is shifted. */
static bool is_met_early_by_chance(const struct samples *asked,
                                   const struct overlap_candidate *candidate, double *early)
{
    find_shares(asked, candidate, asked->reference, early);
    double explained = samples__fit(asked, early, candidate->level).explained;
    for (unsigned shift = 1; shift <= OVERLAP_SHIFTS; shift++) {
        find_shifted_shares(asked, candidate, shift, asked->reference, early);
        struct fit null = samples__fit(asked, early, candidate->level);
        if (null.slope > 0 && null.explained >= explained)
            return true;
    }
    return false;
}

static void fit(const struct samples *asked, struct overlap_candidate *candidate)
{
    candidate->varies = is_spread(asked, candidate->laid->shares) && choose_level(asked, candidate);
    if (candidate->varies)
        candidate->fit = samples__fit(asked, candidate->laid->shares, candidate->level);
}

/* Whether one of the intervals begins within ticks of that time. They are in order. */
static bool begins_near(const struct vec *intervals, uint64_t time, uint64_t ticks)
{
    size_t from = 0, to = intervals->count;
    uint64_t least = time > ticks ? time - ticks : 0;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (VEC_AT(intervals, struct interval, middle)->begin < least)
            from = middle + 1;
        else
            to = middle;
    }
    return from < intervals->count &&
           VEC_AT(intervals, struct interval, from)->begin <= time + ticks;
}

/* The part of the other threads of that class which begin together with it: one of many may do so
 * by chance. */
static double begins_together(const struct samples *asked,
                              const struct overlap_candidate *candidate,
                              const struct sample *sample)
{
    uint32_t thread = VEC_AT(&asked->owners, struct owner, sample->owner)->thread;
    uint64_t ticks = (sample->end - sample->start) / TOGETHER_PART;
    size_t others = 0, together = 0;
    VEC_EACH (timeline, &asked->question->all->timelines, struct class_timeline) {
        const struct vec *intervals = intervals_of(asked->question, timeline);
        if (timeline->entry != candidate->entry || timeline->thread == thread || !intervals->count)
            continue;
        others++;
        together += begins_near(intervals, sample->start, ticks);
    }
    return others ? (double)together / (double)others : 0;
}

/* Threads that do the same at a time, begun together again and again, as in a parallel region: it
 * takes each of them longer when there is more of it, and the longer it is the less does it matter
 * that one begins a little later. So neither is slowed by the other, as far as this can tell. */
static bool is_in_step(const struct samples *asked, const struct overlap_candidate *candidate)
{
    double all = 0, together = 0;
    if (candidate->entry != asked->question->class->entry)
        return false;
    VEC_EACH (sample, &asked->items, struct sample) {
        double ticks = (double)(sample->end - sample->start);
        all += ticks;
        together += ticks * begins_together(asked, candidate, sample);
    }
    return together >= IN_STEP * all;
}

/* What is slowed lasts longer, whichever kind of work it is. Pieces of two sizes, the large ones in
 * the middle of what threads do together, last as long as ever, and are overlapped the more. */
static bool is_typical(const struct samples *asked, const struct overlap_candidate *candidate)
{
    return samples__typical_slope(asked, candidate->laid->shares, candidate->level) >=
           candidate->fit.slope / TYPICAL_PART;
}

static bool is_possible(const struct samples *asked, const struct overlap_candidate *candidate,
                        double *room)
{
    return candidate->varies && candidate->fit.slope > 0 && candidate->fit.explained >= MARGIN &&
           is_everywhere(asked, candidate) &&
           (asked->question->preempted ||
            (!is_in_step(asked, candidate) && is_typical(asked, candidate) &&
             is_met_early(asked, candidate, room)));
}

/* The one that explains most; of several that explain about as much, as nested ones do, the one
 * that took the least time. NULL: none. */
static struct overlap_candidate *choose(const struct vec *candidates)
{
    struct overlap_candidate *best = NULL;
    double most = 0;
    VEC_EACH (candidate, candidates, struct overlap_candidate)
        if (candidate->possible && candidate->fit.explained > most)
            most = candidate->fit.explained;
    /* They are in the order of their time, the largest first. */
    VEC_EACH (candidate, candidates, struct overlap_candidate) {
        if (candidate->possible && candidate->fit.explained >= EQUAL * most)
            best = candidate;
    }
    return best;
}

static double margin(const struct samples *asked)
{
    return MARGIN + MARGIN_OF_ONE / (double)asked->fitted;
}

/* The largest r² by chance. slopes: their sum. */
static double largest_by_chance(const struct samples *asked,
                                const struct overlap_candidate *candidate, double *room,
                                double *slopes)
{
    double largest = 0;
    for (unsigned shift = 1; shift <= OVERLAP_SHIFTS; shift++) {
        find_shifted_shares(asked, candidate, shift, UINT64_MAX, room);
        struct fit null = samples__fit(asked, room, candidate->level);
        if (null.slope > 0 && null.explained > largest)
            largest = null.explained;
        *slopes += null.slope / OVERLAP_SHIFTS;
    }
    return largest;
}

/* Of all that vary. slope: of the best, on average. */
static double null_of(const struct samples *asked, const struct vec *candidates,
                      const struct overlap_candidate *best, struct layout *layout, double *room,
                      double *slope)
{
    double largest = 0;
    *slope = 0;
    VEC_EACH (candidate, candidates, struct overlap_candidate) {
        double slopes = 0, of_one;
        if (!candidate->varies)
            continue;
        lay_out(asked, candidate, layout);
        of_one = largest_by_chance(asked, candidate, room, &slopes);
        largest = of_one > largest ? of_one : largest;
        *slope = candidate == best ? slopes : *slope;
    }
    return largest;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The share that hardly any occurrence is below: it is no part of what goes beyond the fastest. Not
 * the share of the fastest themselves: they may be ones that overlap does not harm. */
static double smallest_share(const struct samples *asked, const double *shares, double *room)
{
    size_t count = asked->items.count;
    memcpy(room, shares, count * sizeof *room);
    quantile__sort(room, count);
    return quantile__of_sorted(room, count, LEAST);
}

static double share_of_excess(const struct samples *asked, const struct overlap_candidate *best,
                              double slope, double *room)
{
    double sum = 0, smallest = smallest_share(asked, best->laid->shares, room);
    for (size_t i = 0; i < asked->items.count; i++)
        sum += VEC_AT(&asked->items, struct sample, i)->weight * (best->laid->shares[i] - smallest);
    double share = asked->excess > 0 ? slope * sum / asked->excess : 0;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static double met_of(const struct samples *asked, const struct overlap_candidate *best)
{
    double all = 0, met = 0;
    for (size_t i = 0; i < asked->items.count; i++) {
        if (*VEC_AT(&asked->lefts, double, i) < asked->slow)
            continue;
        double weight = VEC_AT(&asked->items, struct sample, i)->weight;
        all += weight;
        met += best->laid->shares[i] > 0 ? weight : 0;
    }
    return all > 0 ? met / all : 0;
}

/* An owner's time, and its slow occurrences. */
struct slow {
    uint32_t thread;
    struct interval time;
    struct vec intervals; /* struct interval, by time */
};

static struct slow *slow_of_owners(const struct samples *asked)
{
    const struct overlap_question *question = asked->question;
    struct slow *slows = memory__zeroed(asked->owners.count, sizeof *slows);
    struct slow *slow = NULL;
    size_t owner = 0;
    double from = asked->smallest + asked->slow;
    for (size_t i = 0; i < question->class->occurrences.count; i++) {
        const struct occurrence *occurrence =
            VEC_AT(&question->class->occurrences, struct occurrence, i);
        while (owner < asked->owners.count &&
               VEC_AT(&asked->owners, struct owner, owner)->thread < occurrence->thread)
            owner++;
        if (owner == asked->owners.count || !overlap_question__counts(question, occurrence) ||
            VEC_AT(&asked->owners, struct owner, owner)->thread != occurrence->thread)
            continue;
        struct interval interval = {occurrence->start, occurrence->end};
        if (slow != &slows[owner]) {
            slow = &slows[owner];
            *slow = (struct slow){occurrence->thread, interval, VEC_OF(struct interval)};
        }
        slow->time.end = interval.end;
        if (question->left[i] >= from)
            vec__push(&slow->intervals, &interval);
    }
    return slows;
}

static bool touches(const struct interval *a, const struct interval *b)
{
    return a->begin < b->end && b->begin < a->end;
}

static bool meets_any(const struct vec *intervals, const struct interval *interval)
{
    size_t low = 0, high = intervals->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (VEC_AT(intervals, struct interval, middle)->end <= interval->begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < intervals->count && touches(VEC_AT(intervals, struct interval, low), interval);
}

/* ticks[0]: of the timeline's intervals in the time of owners that are other threads; ticks[1]: of
 * those that meet a slow occurrence. */
static void add_meetings(const struct samples *asked, const struct slow *slows,
                         const struct class_timeline *timeline, uint64_t ticks[2])
{
    VEC_EACH (interval, intervals_of(asked->question, timeline), struct interval) {
        bool in_time = false, meets = false;
        for (size_t i = 0; i < asked->owners.count && !meets; i++) {
            if (slows[i].thread == timeline->thread || !touches(&slows[i].time, interval))
                continue;
            in_time = true;
            meets = meets_any(&slows[i].intervals, interval);
        }
        ticks[0] += in_time ? interval->end - interval->begin : 0;
        ticks[1] += meets ? interval->end - interval->begin : 0;
    }
}

static double meets_of(const struct samples *asked, const struct overlap_candidate *best)
{
    struct slow *slows = slow_of_owners(asked);
    uint64_t ticks[2] = {0};
    VEC_EACH (timeline, &asked->question->all->timelines, struct class_timeline) {
        if (timeline->entry == best->entry)
            add_meetings(asked, slows, timeline, ticks);
    }
    for (size_t i = 0; i < asked->owners.count; i++)
        vec__free(&slows[i].intervals);
    free(slows);
    return ticks[0] ? (double)ticks[1] / (double)ticks[0] : 0;
}

static uint32_t thread_of(const struct samples *asked, const struct overlap_candidate *best)
{
    uint32_t most = UINT32_MAX;
    uint64_t most_ticks = 0;
    VEC_EACH (timeline, &asked->question->all->timelines, struct class_timeline) {
        const struct vec *intervals = intervals_of(asked->question, timeline);
        if (timeline->entry != best->entry || !intervals->count)
            continue;
        struct cover cover = {0};
        cover__of(&cover, &intervals, 1);
        uint64_t ticks = 0;
        size_t near = 0;
        VEC_EACH (sample, &asked->items, struct sample) {
            if (VEC_AT(&asked->owners, struct owner, sample->owner)->thread != timeline->thread)
                ticks += cover__between(&cover, sample->start, sample->end, &near);
        }
        cover__free(&cover);
        if (ticks > most_ticks) {
            most_ticks = ticks;
            most = timeline->thread;
        }
    }
    return most;
}

static void tell(const struct samples *asked, const struct overlap_candidate *best,
                 double null_slope, double *room, struct overlap_answer *answer)
{
    answer->other = best->entry;
    answer->thread = thread_of(asked, best);
    answer->slope = best->fit.slope;
    double slope = best->fit.slope - (null_slope > 0 ? null_slope : 0);
    answer->share = share_of_excess(asked, best, slope, room);
    answer->met = met_of(asked, best);
    answer->meets = meets_of(asked, best);
}

static void judge_best(const struct samples *asked, const struct vec *candidates,
                       struct overlap_candidate *best, struct layout *layout, double *room,
                       struct overlap_answer *answer)
{
    double null_slope;
    answer->explained = best->fit.explained;
    answer->null = null_of(asked, candidates, best, layout, room, &null_slope);
    lay_out(asked, best, layout);
    answer->is_found = answer->explained >= answer->null + margin(asked) &&
                       (asked->question->preempted || !is_met_early_by_chance(asked, best, room));
    tell(asked, best, null_slope, room, answer);
}

static void judge(const struct samples *asked, struct vec *candidates,
                  struct overlap_answer *answer)
{
    double *room = memory__zeroed(asked->items.count, sizeof *room);
    struct layout layout = new_layout(asked);
    VEC_EACH (candidate, candidates, struct overlap_candidate) {
        lay_out(asked, candidate, &layout);
        fit(asked, candidate);
        candidate->possible = is_possible(asked, candidate, room);
        if (candidate->fit.slope > 0 && candidate->fit.explained > answer->explained)
            answer->explained = candidate->fit.explained;
    }
    struct overlap_candidate *best = choose(candidates);
    if (best)
        judge_best(asked, candidates, best, &layout, room, answer);
    free_layout(asked, &layout);
    free(room);
}

void overlap__ask(const struct overlap_question *question, struct overlap_answer *answer)
{
    *answer = (struct overlap_answer){.thread = UINT32_MAX};
    struct samples asked;
    samples__take(&asked, question);
    if (asked.items.count) {
        struct vec candidates = find_candidates(&asked);
        judge(&asked, &candidates, answer);
        vec__free(&candidates);
    }
    samples__free(&asked);
}
