#include "base/memory.h"
#include "place/place_engine_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USER_SHARE 0.05   /* of an application's accesses: nodes with less are not its users */
#define PROGRESS_AGED 0.7 /* what the mean of the rounds before weighs in progress */
#define SCATTER_TIMES 2   /* as much as progress scatters: less is no change */

struct deciding {
    struct place_engine *engine;
    const struct place_facts *facts;
    struct place_outcome *outcome;
    double loads[PLACE_ENGINE_NODES]; /* shares of controllers */
};

/* ---- numbers --------------------------------------------------------------------------------- */

double place_chance__next(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return (double)((mixed ^ mixed >> 31) >> 11) / 0x1p53;
}

double place_loads__imbalance(const double *loads, uint32_t nodes)
{
    double sum = 0, squares = 0;
    for (uint32_t node = 0; node < nodes; node++)
        sum += loads[node];
    double mean = sum / nodes;
    for (uint32_t node = 0; node < nodes; node++)
        squares += (loads[node] - mean) * (loads[node] - mean);
    return sum > 0 ? sqrt(squares / nodes) / mean : NAN;
}

static double part(double some, double all)
{
    return all > 0 ? some / all : NAN;
}

/* ---- applications ---------------------------------------------------------------------------- */

struct known_application *place_engine__application(const struct place_engine *self, uint32_t id)
{
    return VEC_FIND(&self->applications, struct known_application, id, id);
}

static struct known_application new_application(uint32_t id)
{
    return (struct known_application){.id = id, .progress = NAN, .scatter = NAN};
}

static int by_id(const void *a, const void *b)
{
    const struct place_application *left = *(const struct place_application *const *)a,
                                   *right = *(const struct place_application *const *)b;
    return ORDER(left->id, right->id);
}

/* Those that the facts name are known from now on, and no others. */
static void follow_applications(struct place_engine *self, const struct place_facts *facts)
{
    struct vec told = VEC_OF(const struct place_application *),
               known = VEC_OF(struct known_application);
    for (size_t i = 0; i < facts->application_count; i++)
        vec__push(&told, &(const struct place_application *){&facts->applications[i]});
    vec__sort(&told, by_id);
    VEC_EACH (at, &told, const struct place_application *) {
        const struct known_application *before = place_engine__application(self, (*at)->id);
        struct known_application now = before ? *before : new_application((*at)->id);
        now.told = *at;
        now.metrics = (struct place_metrics){0};
        memset(now.loads, 0, sizeof now.loads);
        memset(now.users, 0, sizeof now.users);
        now.huge_local = now.huge_samples = 0;
        vec__push(&known, &now);
    }
    vec__free(&told);
    vec__free(&self->applications);
    self->applications = known;
}

/* Of pages, those that one node uses. Of two samples at a page of one of k nodes that all use it
 * alike, both are from one with a chance of 1 / k: pairs = owned + (1 − owned) / k. */
static double owned_part(const struct known_application *application, uint32_t nodes)
{
    double users = 0, all = (double)application->metrics.samples;
    for (uint32_t node = 0; node < nodes; node++)
        users += application->users[node] >= USER_SHARE * all && all > 0;
    double pairs = part(application->pairs.same, application->pairs.all);
    return users > 1 ? fmin(fmax((pairs - 1 / users) / (1 - 1 / users), 0), 1)
                     : (users > 0 ? 1 : NAN);
}

/* So many samples from one node make it as sure as wanted that a page is that node's own: of owned
 * pages all are, of others with a chance of k^(1 − n) (Bayes). */
static double owner_samples(double owned, double users, const struct place_thresholds *thresholds)
{
    double chance = thresholds->owner_chance;
    if (isnan(owned) || owned >= 1 || users < 2)
        return 0;
    double odds = chance / (1 - chance) * (1 - owned) / fmax(owned, 1e-6);
    return 1 + log(fmax(odds, 1)) / log(users);
}

static void measure_application(struct place_engine *self, const struct place_facts *facts,
                                struct known_application *application)
{
    struct place_metrics *metrics = &application->metrics;
    double samples = (double)metrics->samples;
    metrics->local = part(metrics->local, samples);
    metrics->reads = part(metrics->reads, samples);
    metrics->imbalance = place_loads__imbalance(application->loads, self->nodes);
    double owned = owned_part(application, self->nodes);
    application->owner_samples =
        fmax(self->thresholds.page_samples, owner_samples(owned, self->nodes, &self->thresholds)) /
        facts->quality;
}

static void measure_machine(struct deciding *self)
{
    const struct place_engine *engine = self->engine;
    struct place_metrics *all = &self->outcome->metrics;
    double local = 0, reads = 0, sum = 0;
    VEC_EACH (application, &engine->applications, struct known_application) {
        double samples = (double)application->metrics.samples;
        all->samples += application->metrics.samples;
        local += samples > 0 ? application->metrics.local * samples : 0;
        reads += samples > 0 ? application->metrics.reads * samples : 0;
        for (uint32_t node = 0; node < engine->nodes; node++)
            self->loads[node] += application->loads[node];
    }
    if (self->facts->controllers)
        memcpy(self->loads, self->facts->controllers, engine->nodes * sizeof *self->loads);
    all->local = part(local, (double)all->samples);
    all->reads = part(reads, (double)all->samples);
    all->imbalance = place_loads__imbalance(self->loads, engine->nodes);
    for (uint32_t node = 0; node < engine->nodes; node++)
        sum += self->loads[node];
    for (uint32_t node = 0; node < engine->nodes; node++)
        self->loads[node] = sum > 0 ? self->loads[node] / sum : 0;
}

/* ---- what is to be done about an application ------------------------------------------------- */

static bool is_open(const struct place_engine *engine, const struct place_facts *facts)
{
    if (!isnan(facts->maptu))
        return facts->maptu >= engine->thresholds.maptu;
    return !isnan(facts->memory_share) && facts->memory_share >= engine->thresholds.memory_share;
}

/* Whether large pages would better be small ones: twice in a row. */
static void judge_large(const struct place_engine *engine, struct known_application *application)
{
    double small = part(application->small.same, application->small.all);
    double huge = fmax(part(application->huge.same, application->huge.all),
                       part(application->huge_local, application->huge_samples));
    bool would_gain = small - huge >= engine->thresholds.split_gain;
    if (application->huge_samples > 0)
        application->split_rounds = would_gain ? application->split_rounds + 1 : 0;
    application->splits = application->split_rounds >= engine->thresholds.split_rounds;
}

static enum place_verdict verdict_of(const struct deciding *self,
                                     const struct known_application *application)
{
    const struct place_thresholds *thresholds = &self->engine->thresholds;
    const struct place_metrics *metrics = &application->metrics;
    if (!self->outcome->is_open)
        return PLACE_QUIET;
    if (application->told->cpus < thresholds->application_cpus)
        return PLACE_TINY;
    if ((double)metrics->samples < thresholds->application_samples)
        return PLACE_UNKNOWN;
    bool is_local = metrics->local >=
                    (application->migrates ? thresholds->migrate_until : thresholds->migrate_local);
    bool is_balanced = metrics->local >= thresholds->interleave_local ||
                       metrics->imbalance <= thresholds->interleave_imbalance ||
                       self->outcome->metrics.imbalance <= thresholds->interleave_imbalance;
    return is_local && is_balanced ? PLACE_IS_GOOD : PLACE_ACTS;
}

static void find_what_may(const struct deciding *self, struct known_application *application)
{
    const struct place_thresholds *thresholds = &self->engine->thresholds;
    const struct place_metrics *metrics = &application->metrics;
    bool *may = application->finding->may;
    if (application->finding->verdict != PLACE_ACTS) {
        application->migrates &= application->finding->verdict == PLACE_QUIET ||
                                 application->finding->verdict == PLACE_UNKNOWN;
        return;
    }
    application->migrates = metrics->local < (application->migrates ? thresholds->migrate_until
                                                                    : thresholds->migrate_local);
    may[PLACE_MIGRATE] = application->migrates;
    may[PLACE_SPREAD] = metrics->local < thresholds->interleave_local &&
                        metrics->imbalance > thresholds->interleave_imbalance &&
                        self->outcome->metrics.imbalance > thresholds->interleave_imbalance;
    may[PLACE_REPLICATE] = metrics->reads >= thresholds->replicate_reads &&
                           metrics->local < thresholds->migrate_local &&
                           self->facts->memory_used <= thresholds->replicate_used;
    may[PLACE_SPLIT] = true;
    for (unsigned kind = 0; kind < PLACE_DECISIONS; kind++)
        may[kind] &= self->engine->round >= application->banned_until[kind];
}

static void judge_application(const struct deciding *self, struct known_application *application)
{
    measure_application(self->engine, self->facts, application);
    judge_large(self->engine, application);
}

static void add_findings(struct deciding *self)
{
    VEC_EACH (application, &self->engine->applications, struct known_application)
        vec__push(&self->outcome->findings,
                  &(struct place_finding){.application = application->id,
                                          .verdict = verdict_of(self, application),
                                          .metrics = application->metrics,
                                          .owned = owned_part(application, self->engine->nodes)});
    struct place_finding *finding = self->outcome->findings.items;
    VEC_EACH (application, &self->engine->applications, struct known_application) {
        application->finding = finding++;
        find_what_may(self, application);
    }
}

/* ---- decisions ------------------------------------------------------------------------------- */

static uint64_t size_of(const struct tracked_page *page)
{
    return page->flags & PLACE_HUGE ? PLACE_HUGE_PAGES : 1;
}

static bool has_room(const struct deciding *self, const struct tracked_page *page)
{
    double most = self->engine->thresholds.round_pages;
    if (self->facts->pages_most)
        most = fmin(most, (double)*self->facts->pages_most);
    return (double)(self->outcome->pages + size_of(page)) <= most;
}

static void begin_trial(const struct deciding *self, struct known_application *application,
                        enum place_decision_kind kind)
{
    struct place_trial *trial = &application->trial;
    if (!trial->is_open)
        *trial = (struct place_trial){.is_open = true,
                                      .since = self->engine->round,
                                      .before = application->metrics,
                                      .progress = application->progress};
    trial->did[kind] = true;
}

static void decide(struct deciding *self, const struct tracked_page *page,
                   enum place_decision_kind kind, uint16_t to, bool is_advice)
{
    const struct place_decision decision = {.kind = kind,
                                            .is_advice = is_advice,
                                            .is_huge = page->flags & PLACE_HUGE,
                                            .application = page->application,
                                            .page = page->page,
                                            .from = page->node,
                                            .to = to};
    vec__push(&self->outcome->decisions, &decision);
    if (!is_advice && kind != PLACE_BACK && kind != PLACE_COLLAPSE)
        begin_trial(self, place_engine__application(self->engine, page->application), kind);
}

/* A page that moved too often stays where it is. */
static bool may_move(struct deciding *self, const struct tracked_page *page)
{
    bool is_guarded = page->moves >= self->engine->thresholds.bounce_moves;
    self->outcome->guarded += is_guarded ? size_of(page) : 0;
    return !is_guarded && has_room(self, page);
}

static void move(struct deciding *self, struct tracked_page *page, enum place_decision_kind kind,
                 uint16_t to)
{
    decide(self, page, kind, to, false);
    self->outcome->pages += size_of(page);
    page->before = page->node;
    page->node = to;
    page->moved = self->engine->round;
    page->is_moved = true;
    page->moves += page->moves < UINT8_MAX;
}

/* A node by its free share: chances of 1 − load, of all but its own. */
static uint16_t less_loaded(struct deciding *self, uint16_t own)
{
    uint32_t nodes = self->engine->nodes;
    double left = 0;
    for (uint32_t node = 0; node < nodes; node++)
        left += node != own ? 1 - self->loads[node] : 0;
    left *= place_chance__next(&self->engine->chance);
    uint16_t last = own;
    for (uint32_t node = 0; node < nodes; node++) {
        if (node == own)
            continue;
        last = (uint16_t)node;
        left -= 1 - self->loads[node];
        if (left < 0)
            break;
    }
    return last;
}

/* It leaves with a chance of its node's share of all accesses. */
static void spread(struct deciding *self, struct tracked_page *page)
{
    bool leaves = place_chance__next(&self->engine->chance) < self->loads[page->node];
    if (!leaves || !may_move(self, page))
        return;
    uint16_t to = less_loaded(self, page->node);
    if (to != page->node)
        move(self, page, PLACE_SPREAD, to);
}

/* True: it has copies now. */
static bool replicate(struct deciding *self, struct known_application *application,
                      struct tracked_page *page)
{
    bool is_advice = !self->facts->can_replicate;
    if (page->is_advised || ++application->requests < self->engine->thresholds.replicate_requests ||
        !has_room(self, page))
        return false;
    decide(self, page, PLACE_REPLICATE, page->node, is_advice);
    page->is_advised = is_advice;
    page->is_copied = !is_advice;
    self->outcome->pages += is_advice ? 0 : size_of(page);
    return page->is_copied;
}

/* Copies of a page that is written cost more than they bring, and are not made again. */
static void collapse(struct deciding *self, struct tracked_page *page)
{
    if (page->is_copied)
        decide(self, page, PLACE_COLLAPSE, page->node, false);
    page->is_never_copied = true;
    page->is_copied = page->is_advised = false;
}

static void decide_shared(struct deciding *self, struct known_application *application,
                          struct tracked_page *page)
{
    const bool *may = application->finding->may;
    bool is_hot =
        page->total > self->engine->thresholds.hot_page * (double)application->metrics.samples;
    if (page->total < self->engine->thresholds.page_samples / self->facts->quality)
        return;
    if (page->flags & PLACE_HUGE && may[PLACE_SPLIT] && has_room(self, page) &&
        (application->splits || (is_hot && may[PLACE_SPREAD]))) {
        decide(self, page, PLACE_SPLIT, page->node, false);
        page->flags &= (uint8_t)~PLACE_HUGE; /* the next samples tell of its pieces */
        page->total = 0;
        return;
    }
    if (may[PLACE_REPLICATE] && page->writes < 0.05f && !page->is_never_copied &&
        replicate(self, application, page))
        return;
    if (may[PLACE_SPREAD] && !(page->flags & PLACE_SEVERAL))
        spread(self, page);
}

static void decide_page(struct deciding *self, size_t index)
{
    const struct place_engine *engine = self->engine;
    struct tracked_page *page = VEC_AT(&engine->pages, struct tracked_page, index);
    struct known_application *application = place_engine__application(engine, page->application);
    const float *counts = place_engine__counts(engine, index);
    if ((page->is_copied || page->is_advised) && page->was_written)
        collapse(self, page);
    if (application->finding->verdict != PLACE_ACTS || page->flags & PLACE_FIXED || page->is_copied)
        return;
    if (counts[page->owner] < engine->thresholds.owner_share * page->total)
        decide_shared(self, application, page);
    else if (page->owner != page->node && page->total >= application->owner_samples &&
             application->finding->may[PLACE_MIGRATE] && !(page->flags & PLACE_SEVERAL) &&
             may_move(self, page))
        move(self, page, PLACE_MIGRATE, page->owner);
}

struct page_heat {
    float total;
    size_t index;
};

static int by_heat(const void *a, const void *b)
{
    const struct page_heat *left = a, *right = b;
    return ORDER(right->total, left->total) ?: ORDER(left->index, right->index);
}

/* Those with most accesses first: there is room for so many a round. */
static void decide_pages(struct deciding *self)
{
    const struct vec *pages = &self->engine->pages;
    struct vec heat = VEC_OF(struct page_heat);
    for (size_t i = 0; i < pages->count; i++)
        vec__push(&heat, &(struct page_heat){VEC_AT(pages, struct tracked_page, i)->total, i});
    vec__sort(&heat, by_heat);
    VEC_EACH (at, &heat, struct page_heat)
        decide_page(self, at->index);
    vec__free(&heat);
}

/* ---- what it brought ------------------------------------------------------------------------- */

static void follow_progress(struct known_application *application)
{
    double now = application->told->progress;
    if (isnan(now))
        return;
    double away = fabs(now - application->progress);
    bool is_first = isnan(application->progress);
    application->progress =
        is_first ? now : PROGRESS_AGED * application->progress + (1 - PROGRESS_AGED) * now;
    if (!is_first)
        application->scatter = isnan(application->scatter) ? away
                                                           : PROGRESS_AGED * application->scatter +
                                                                 (1 - PROGRESS_AGED) * away;
}

/* 1: the program is faster than before; −1: it is slower; 0: neither, or nothing tells. */
static int progress_change(const struct place_engine *engine,
                           const struct known_application *application)
{
    double before = application->trial.progress, now = application->told->progress;
    if (isnan(before) || isnan(now))
        return 0;
    double least = fmax(engine->thresholds.worse_progress * before,
                        isnan(application->scatter) ? 0 : SCATTER_TIMES * application->scatter);
    return (now - before > least) - (before - now > least);
}

/* By the ratios alone; how far a share of so many samples may be off by chance is not counted. */
static bool are_ratios_worse(const struct place_engine *engine,
                             const struct known_application *application)
{
    const struct place_thresholds *thresholds = &engine->thresholds;
    const struct place_metrics *before = &application->trial.before, *now = &application->metrics;
    double chance =
        2 * sqrt(0.25 / fmax((double)before->samples, 1) + 0.25 / fmax((double)now->samples, 1));
    bool is_local_less = before->local - now->local >= thresholds->worse_local + chance;
    bool is_local_more = now->local - before->local >= thresholds->better_local;
    bool is_balanced_more = before->imbalance - now->imbalance >= thresholds->better_imbalance;
    bool is_balanced_less =
        now->imbalance - before->imbalance >= thresholds->better_imbalance + 2 * chance;
    return (is_local_less && !is_balanced_more) || (is_balanced_less && !is_local_more);
}

static void undo(struct deciding *self, struct known_application *application)
{
    const struct place_trial *trial = &application->trial;
    VEC_EACH (page, &self->engine->pages, struct tracked_page) {
        if (page->application != application->id)
            continue;
        if (page->is_moved && page->moved >= trial->since && page->node != page->before) {
            decide(self, page, PLACE_BACK, page->before, false);
            self->outcome->pages += size_of(page);
            page->node = page->before;
            page->is_moved = false;
        }
        if (page->is_copied && trial->did[PLACE_REPLICATE])
            collapse(self, page);
    }
    for (unsigned kind = 0; kind < PLACE_DECISIONS; kind++)
        if (trial->did[kind])
            application->banned_until[kind] =
                self->engine->round + (uint32_t)fmin(ldexp(self->engine->thresholds.ban_rounds,
                                                           (int)application->bans[kind]++),
                                                     UINT32_MAX / 2);
    application->finding->is_undone = true;
}

static void judge_trial(struct deciding *self, struct known_application *application)
{
    const struct place_engine *engine = self->engine;
    struct place_trial *trial = &application->trial;
    if (!trial->is_open || engine->round - trial->since < engine->thresholds.settle_rounds ||
        (double)application->metrics.samples < engine->thresholds.application_samples)
        return;
    int change = progress_change(engine, application);
    if (change < 0 ||
        (change == 0 && isnan(trial->progress) && are_ratios_worse(engine, application)))
        undo(self, application);
    trial->is_open = false;
}

/* ---- a round --------------------------------------------------------------------------------- */

struct place_engine *place_engine__new(uint32_t nodes, const struct place_thresholds *thresholds,
                                       uint64_t seed)
{
    struct place_engine *self = memory__zeroed(1, sizeof *self);
    *self = (struct place_engine){.nodes = nodes,
                                  .thresholds = *thresholds,
                                  .chance = seed,
                                  .pages = VEC_OF(struct tracked_page),
                                  .counts = VEC_OF(float),
                                  .applications = VEC_OF(struct known_application)};
    return self;
}

void place_engine__free(struct place_engine *self)
{
    if (!self)
        return;
    vec__free(&self->pages);
    vec__free(&self->counts);
    vec__free(&self->applications);
    free(self);
}

size_t place_engine__pages(const struct place_engine *self)
{
    return self->pages.count;
}

static double next_sampling(const struct place_engine *engine, const struct place_outcome *outcome)
{
    size_t acted = 0;
    VEC_EACH (decision, &outcome->decisions, struct place_decision)
        acted += !decision->is_advice;
    return (double)acted < engine->thresholds.few_pages ? 1 / engine->thresholds.sampling_less : 1;
}

struct place_outcome place_engine__step(struct place_engine *self, const struct place_facts *facts)
{
    struct place_outcome outcome = {.findings = VEC_OF(struct place_finding),
                                    .decisions = VEC_OF(struct place_decision)};
    struct deciding deciding = {.engine = self, .facts = facts, .outcome = &outcome};
    self->round++;
    follow_applications(self, facts);
    place_pages__take(self, facts);
    VEC_EACH (application, &self->applications, struct known_application)
        judge_application(&deciding, application);
    measure_machine(&deciding);
    outcome.is_open = is_open(self, facts);
    add_findings(&deciding);
    VEC_EACH (application, &self->applications, struct known_application) {
        judge_trial(&deciding, application);
        follow_progress(application);
        find_what_may(&deciding, application);
    }
    decide_pages(&deciding);
    outcome.sampling = next_sampling(self, &outcome);
    return outcome;
}

void place_outcome__free(struct place_outcome *outcome)
{
    vec__free(&outcome->findings);
    vec__free(&outcome->decisions);
}
