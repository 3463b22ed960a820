#include "analysis/findings/internal.h"

#include "base/memory.h"

#include <string.h>

#define OFTEN 10      /* waits, at least */
#define ASKS_PART 100 /* of the sleeps of a place: it slept again at once */

static bool is_same(const struct symbol *left, const struct symbol *right)
{
    return left && right && strcmp(left->function, right->function) == 0;
}

/* The same class of the other threads, where some are aside; itself: there is none. */
static const struct profile_class *twin_of(const struct finder *finder,
                                           const struct profile_class *class)
{
    return class->twin_and_1 ? profile_class_at(finder->profile, class->twin_and_1 - 1) : class;
}

/* Of all threads, as what follows. */
static uint64_t count_of(const struct finder *finder, const struct profile_class *class)
{
    const struct profile_class *twin = twin_of(finder, class);
    return class->count + (twin == class ? 0 : twin->count);
}

/* Who ended most of the waits, in the program's code. */
static const struct symbol *ender(const struct finder *finder, const struct profile_class *class)
{
    class = class->blames.count ? class : twin_of(finder, class);
    if (class->blames.count == 0)
        return NULL;
    const struct profile_blame *blame = VEC_AT(&class->blames, struct profile_blame, 0);
    return program_frame__inlined(symbols__get(finder->symbols, blame->process, blame->site));
}

bool class__may_hand_over(const struct finder *finder, const struct profile_class *class)
{
    return class->idle && count_of(finder, class) >= OFTEN &&
           (class->blames.count || twin_of(finder, class)->blames.count) &&
           (class->what.at.kind == CLASS_CONDITION || class->what.at.kind == CLASS_SEMAPHORE);
}

/* Each waits for the other about as often: the two go in lockstep. A pool's workers, and who waits
 * until all is done, do not. */
static bool is_lockstep(const struct finder *finder, const struct profile_class *left,
                        const struct profile_class *right)
{
    uint64_t lefts = count_of(finder, left), rights = count_of(finder, right);
    return lefts < 2 * rights && rights < 2 * lefts;
}

bool classes__end_each_other(const struct finder *finder, const struct profile_class *left,
                             const struct profile_class *right)
{
    return is_same(ender(finder, left), program_frame__of_class(finder->symbols, &right->what)) &&
           is_same(ender(finder, right), program_frame__of_class(finder->symbols, &left->what));
}

static bool answer_each_other(const struct finder *finder, const struct profile_class *left,
                              const struct profile_class *right)
{
    return left->what.at.process == right->what.at.process &&
           left->what.at.kind == right->what.at.kind && is_lockstep(finder, left, right) &&
           class__working_part(finder, left) > 0.5 && class__working_part(finder, right) > 0.5 &&
           classes__end_each_other(finder, left, right);
}

static bool meet_on_thread(const struct profile_class *left, const struct profile_class *right)
{
    VEC_EACH (row, &left->threads, struct profile_thread_row)
        VEC_EACH (other, &right->threads, struct profile_thread_row)
            if (other->thread == row->thread)
                return true;
    return false;
}

/* A thread that is aside has no class of one that is not. */
static bool is_same_thread_in(const struct finder *finder, const struct profile_class *left,
                              const struct profile_class *right)
{
    return meet_on_thread(left, right) || meet_on_thread(twin_of(finder, left), right) ||
           meet_on_thread(left, twin_of(finder, right)) ||
           meet_on_thread(twin_of(finder, left), twin_of(finder, right));
}

/* Whether one thread alone waits there, as often as it was ended by the one that waits at other. */
static bool is_ended_by_thread_of(const struct profile_class *class,
                                  const struct profile_class *other)
{
    if (class->threads.count != 1 || other->threads.count != 1 || class->blames.count == 0)
        return false;
    const struct profile_blame *blame = VEC_AT(&class->blames, struct profile_blame, 0);
    return blame->thread == VEC_AT(&other->threads, struct profile_thread_row, 0)->thread;
}

/* Two threads, of which each waits for the other alone, whatever the functions are called that
 * wake: a library's, whose caller is not known, or two of the program's at each end. How often each
 * waits tells nothing then: who is woken may find nothing yet, and wait again. */
static bool wake_each_other(const struct profile_class *left, const struct profile_class *right)
{
    return is_ended_by_thread_of(left, right) && is_ended_by_thread_of(right, left);
}

/* The two ends of what is made of futexes, as std::counting_semaphore is: other threads wait at
 * each, and those of the other end wake them. */
static bool answer_by_futex(const struct finder *finder, const struct profile_class *left,
                            const struct profile_class *right)
{
    return left->what.at.kind == CLASS_FUTEX && right->what.at.kind == CLASS_FUTEX &&
           count_of(finder, left) >= OFTEN && count_of(finder, right) >= OFTEN &&
           left->what.at.process == right->what.at.process &&
           left->what.object != right->what.object && !is_same_thread_in(finder, left, right) &&
           (classes__end_each_other(finder, left, right) || wake_each_other(left, right));
}

static bool are_ends(const struct finder *finder, const struct profile_class *left,
                     const struct profile_class *right)
{
    return (class__may_hand_over(finder, left) && class__may_hand_over(finder, right) &&
            answer_each_other(finder, left, right)) ||
           answer_by_futex(finder, left, right);
}

/* A place that sometimes sleeps again at once sleeps while it asks for something; where that had
 * come after one sleep, it asked, too. */
static bool is_asked_there(const struct profile_class *sleep, const struct profile_class *asks)
{
    return sleep->what.at.kind == CLASS_SLEEP && asks->what.at.kind == CLASS_YIELD &&
           sleep->what.at.process == asks->what.at.process &&
           sleep->what.at.site == asks->what.at.site && asks->count >= OFTEN &&
           asks->count >= sleep->count / ASKS_PART;
}

/* Where the loop around it does nothing but look it asks each time, also where it never sleeps
 * twice. Who waits for a child's end, or a signal, asks nobody. */
static void find_asked(const struct finder *finder, uint32_t place, uint32_t *partner)
{
    const struct profile *profile = finder->profile;
    const struct profile_class *sleep = profile_class_at(profile, place);
    if (count_of(finder, sleep) >= OFTEN && strstr(sleep->what.at.function, "sleep") &&
        symbols__sleep_asks(finder->symbols, sleep->what.at.process, sleep->what.at.site))
        partner[place] = place;
    for (uint32_t i = 0; i < profile->classes.count; i++)
        if (is_asked_there(profile_class_at(profile, place), profile_class_at(profile, i)))
            partner[partner[place] = i] = place;
}

/* By each its own threads, about as often as by the other. */
static bool are_asked_in_turn(const struct finder *finder, const struct profile_class *left,
                              const struct profile_class *right)
{
    return left->what.at.process == right->what.at.process && is_lockstep(finder, left, right) &&
           !is_same_thread_in(finder, left, right);
}

/* Two places that sleep until the other one has done something keep each other waiting. */
static void join_asked(const struct finder *finder, uint32_t place, uint32_t *partner)
{
    const struct profile *profile = finder->profile;
    for (uint32_t i = 0; i < place && partner[place] == place; i++)
        if (partner[i] == i && are_asked_in_turn(finder, profile_class_at(profile, i),
                                                 profile_class_at(profile, place)))
            partner[partner[place] = i] = place;
}

/* The ends are of all threads. */
static void join_twins(const struct finder *finder, uint32_t *partner)
{
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        uint32_t twin_and_1 = profile_class_at(finder->profile, i)->twin_and_1;
        if (twin_and_1 && partner[i] == NO_GROUP)
            partner[i] = partner[twin_and_1 - 1];
    }
}

uint32_t *handovers__find(const struct finder *finder)
{
    const struct vec *classes = &finder->profile->classes;
    uint32_t *partner = memory__zeroed(classes->count, sizeof *partner);
    memset(partner, 0xff, classes->count * sizeof *partner);
    for (uint32_t i = 0; i < classes->count; i++) {
        if (profile_class_at(finder->profile, i)->what.at.kind == CLASS_SLEEP)
            find_asked(finder, i, partner);
        join_asked(finder, i, partner);
        for (uint32_t k = i + 1; k < classes->count && partner[i] == NO_GROUP; k++)
            if (partner[k] == NO_GROUP && are_ends(finder, profile_class_at(finder->profile, i),
                                                   profile_class_at(finder->profile, k)))
                partner[partner[k] = i] = k;
    }
    join_twins(finder, partner);
    return partner;
}
