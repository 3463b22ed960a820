#include "analysis/findings/wall_gains.h"

#include "analysis/replay/predictions.h"
#include "base/memory.h"

#include <stdlib.h>

/* Events that a report replays for its column "wall gain", over all classes: somebody waits for
 * it. 780,000 of them and two findings took 1.2 s of one CPU with all models (AMD EPYC). */
#define REPLAYED_EVENTS_MOST 300000u
#define REPLAYED_EVENTS_LEAST 50000u /* for each of many questions: less would tell little */
#define QUESTIONS_MOST 32u
#define NO_GAIN_BELOW 1.01 /* what is shown as none */

static bool can_gain(const struct profile_class *class)
{
    return !class->what.is_aside && !class->has_many_twins &&
           class->verdict == VERDICT_INTERFERENCE && class->excess_ns && !class->idle &&
           !class->what.ignored;
}

/* A class that loses less than the threshold is replayed when it is asked for. */
static bool is_wanted(const struct profile *profile, const struct profile_class *class,
                      size_t place, size_t only)
{
    return can_gain(class) && (only ? only == place : class->score >= profile->threshold);
}

#define NO_PLACE SIZE_MAX

/* What a question is about: a class or a finding, by its place. */
struct question_subject {
    size_t class, finding;
};

static void ask_about_findings(const struct profile *profile, const struct findings *findings,
                               struct vec *questions, struct vec *asked)
{
    for (size_t i = 0; findings && i < findings->rows.count && questions->count < QUESTIONS_MOST;
         i++) {
        const struct finding *finding = VEC_AT(&findings->rows, struct finding, i);
        if (!finding__can_be_replayed(profile, finding))
            continue;
        const struct question question = question__of_classes(
            profile, finding->is_of_some ? &finding->removed : &finding->classes);
        vec__push(questions, &question);
        vec__push(asked, &(struct question_subject){NO_PLACE, i});
    }
}

/* A gain is one of the run, so that it is what all threads lose there. */
static void remove_twin(const struct profile *profile, const struct profile_class *class,
                        struct question *question)
{
    uint32_t number =
        VEC_AT(&profile->classes, struct profile_class, class->twin_and_1 - 1)->number;
    vec__push(&question->changes, &(struct change){.type = CHANGE_REMOVE, .class = number});
}

static void ask_about_classes(const struct profile *profile, size_t only, struct vec *questions,
                              struct vec *asked)
{
    for (size_t i = 0; i < profile->classes.count && questions->count < QUESTIONS_MOST; i++) {
        const struct profile_class *class = VEC_AT(&profile->classes, struct profile_class, i);
        if (!is_wanted(profile, class, i + 1, only))
            continue;
        struct question question =
            question__of(&(struct change){.type = CHANGE_REMOVE, .class = class->number});
        if (class->twin_and_1)
            remove_twin(profile, class, &question);
        vec__push(questions, &question);
        vec__push(asked, &(struct question_subject){i, NO_PLACE});
    }
}

/* By what threads have to do anyhow the run gains nothing without the waits for a lock, and its
 * replay without those of one class gains much: one of them is wrong. */
static bool is_doubted(const struct profile *profile, const struct finding *finding)
{
    return finding->category == FINDING_LOCK && finding->leader != FINDING_NO_CLASS &&
           finding->wall_gain[1] < NO_GAIN_BELOW &&
           VEC_AT(&profile->classes, struct profile_class, finding->leader)->wall_gain[0] >=
               FINDING_GAIN;
}

/* Nobody is told then that there is nothing to gain: only how much at most. Ranks are as before. */
static void doubt_gains(const struct profile *profile, struct findings *findings)
{
    VEC_EACH (finding, &findings->rows, struct finding)
        if (is_doubted(profile, finding)) {
            finding->wall_gain[0] = 1;
            finding->wall_gain[1] =
                VEC_AT(&profile->classes, struct profile_class, finding->leader)->wall_gain[1];
        }
}

static void keep_gains(struct profile *profile, struct findings *findings, struct vec *questions,
                       const struct vec *asked)
{
    for (size_t i = 0; i < questions->count; i++) {
        struct question *question = VEC_AT(questions, struct question, i);
        const struct question_subject *about = VEC_AT(asked, struct question_subject, i);
        const double *gain = question->prediction.gain;
        if (question->told && about->finding != NO_PLACE)
            finding__set_gain(VEC_AT(&findings->rows, struct finding, about->finding), gain,
                              question->prediction.work_left);
        for (int k = 0; question->told && about->class != NO_PLACE && k < 2; k++)
            VEC_AT(&profile->classes, struct profile_class, about->class)->wall_gain[k] = gain[k];
        question__free(question);
    }
    if (!findings)
        return;
    findings__rank(findings);
    doubt_gains(profile, findings);
}

static void answer_for_report(const struct trace *trace, const struct symbols *symbols,
                              struct profile *profile, struct vec *questions)
{
    struct whatif *whatif;
    struct error error;
    uint64_t most = REPLAYED_EVENTS_MOST / questions->count;
    most = most > REPLAYED_EVENTS_LEAST ? most : REPLAYED_EVENTS_LEAST;
    free(profile->no_gains);
    profile->no_gains = NULL;
    if (whatif__open(trace, symbols, profile, most, &whatif, &error) < 0) {
        profile->no_gains = memory__text(error.text);
        return;
    }
    predictions__make(whatif, questions->items, questions->count);
    profile->replayed_share = whatif__replayed_share(whatif);
    whatif__close(whatif);
}

/* What is not replayed has a bound: no run gains more than all that was lost, one thread after
 * another. */
static void bound_gains(struct profile *profile)
{
    VEC_EACH (class, &profile->classes, struct profile_class) {
        bool is_open = can_gain(class) && !(class->wall_gain[0] > 0);
        uint64_t lost_ns = class->excess_ns;
        if (class->twin_and_1)
            lost_ns +=
                VEC_AT(&profile->classes, struct profile_class, class->twin_and_1 - 1)->excess_ns;
        if (!is_open || lost_ns >= profile->wall_ns)
            continue;
        class->wall_gain[0] = 1;
        class->wall_gain[1] = (double)profile->wall_ns / (double)(profile->wall_ns - lost_ns);
    }
}

void wall_gains__fill(const struct trace *trace, const struct symbols *symbols,
                      struct profile *profile, struct findings *findings, size_t only)
{
    struct vec questions = VEC_OF(struct question), asked = VEC_OF(struct question_subject);
    ask_about_findings(profile, findings, &questions, &asked);
    ask_about_classes(profile, only, &questions, &asked);
    if (questions.count)
        answer_for_report(trace, symbols, profile, &questions);
    keep_gains(profile, findings, &questions, &asked);
    if (only == 0 && !profile->no_gains)
        bound_gains(profile);
    vec__free(&questions);
    vec__free(&asked);
}
