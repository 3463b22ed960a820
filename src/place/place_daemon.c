#include "place/place_daemon.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "kernel/numa_nodes.h"
#include "place/place_sampler.h"
#include "place/place_sensors.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DECISIONS_TOLD 40u     /* rows of the status: the last ones */
#define APPLICATIONS_TOLD 200u /* that have ended are forgotten beyond that */
#define CREDIT_SECONDS 60.0    /* of CPU time that was not used may be saved for as long */
#define LEAST_RATE (1 / 16.0)  /* of the full rate of samples */
#define ACTIVE_SHARE 0.5       /* of the CPU that an application must use: sampled from then on */
#define IDLE_SHARE 0.25        /* and below that no more */

/* What is known of an application over rounds. */
struct watched_application {
    uint32_t id;
    pid_t pid;
    char name[16];
    bool has_ended, is_measured;
    double cpus;
    struct place_finding finding; /* of the last round */
    struct place_metrics first;   /* of the first round with samples enough */
    struct place_metrics last;    /* of the last such round */
    double owned;
    uint64_t moved, back, advised;
    double advised_gain; /* share of accesses that copies would make local, in the best round */
    char *advised_name;  /* what most of those pages are in; NULL: none */
};

/* Decisions of a kind about an application in a round. */
struct told_decision {
    uint32_t round, application;
    enum place_decision_kind kind;
    bool is_advice;
    uint64_t pages, done;
    double local;
};

struct place_budget {
    double credit_ns, rate;   /* CPU time that may be used; part of the full rate of samples */
    uint64_t cpu_ns, wall_ns; /* when it was looked last */
};

struct place_daemon {
    struct place_settings settings;
    struct machine_nodes nodes;
    char *nodes_text, *balancing;
    struct place_processes processes;
    struct place_sampler *sampler;
    struct place_sensors sensors;
    struct place_engine *engine;
    struct place_actuator actuator;
    struct place_budget budget;
    struct place_outcome outcome; /* of the last round */
    struct vec effects;           /* uint8_t: of it */
    struct vec targets;           /* struct place_target, by application */
    struct vec applications;      /* struct watched_application, by id */
    struct vec decisions;         /* struct told_decision */
    struct place_sampled sampled, all;
    struct place_sensed sensed;
    struct place_metrics first, last;
    bool is_measured;
    uint32_t round;
    unsigned hz;
    uint64_t used, moved, back, advised, guarded, began_s, began_ns, began_cpu_ns, looked_ns;
};

/* ---- words ----------------------------------------------------------------------------------- */

const char *place_decision__name(enum place_decision_kind kind)
{
    static const char *const names[PLACE_DECISIONS] = {"migrate",  "spread", "replicate",
                                                       "collapse", "split",  "back"};
    return names[kind];
}

const char *place_verdict__words(enum place_verdict verdict)
{
    static const char *const words[PLACE_VERDICTS] = {
        [PLACE_ACTS] = "memory is far from its users, or unevenly spread",
        [PLACE_QUIET] = "too few accesses to memory on this machine",
        [PLACE_TINY] = "uses next to no CPU",
        [PLACE_UNKNOWN] = "too few samples at memory",
        [PLACE_IS_GOOD] = "memory is where it is used",
    };
    return words[verdict];
}

/* ---- opening --------------------------------------------------------------------------------- */

struct place_settings place_settings__usual(void)
{
    return (struct place_settings){.thresholds = place_thresholds__usual(),
                                   .whom.pids = VEC_OF(pid_t),
                                   .interval_ns = 1000000000u,
                                   .hz = 500,
                                   .cpu_share = 0.02,
                                   .seed = 1,
                                   .root = "",
                                   .calls = &place_calls__kernel};
}

/* A machine that tells of no nodes has one. */
static void read_nodes(struct place_daemon *self, bool *has_huge_pages)
{
    struct numa_nodes nodes;
    numa_nodes__read(self->settings.root, &nodes);
    self->nodes_text = self->settings.nodes ? memory__text(self->settings.nodes)
                       : nodes.nodes        ? memory__text(nodes.nodes)
                                     : memory__format("0:0-%ld", sysconf(_SC_NPROCESSORS_CONF));
    self->nodes = machine_nodes__parse(self->nodes_text, NULL);
    self->balancing = memory__text(nodes.balancing);
    *has_huge_pages = nodes.huge_pages && strcmp(nodes.huge_pages, "never") != 0;
    numa_nodes__free(&nodes);
}

static int open_parts(struct place_daemon *self, struct error *error)
{
    bool has_huge_pages;
    int code = place_processes__open(&self->processes, &self->settings.whom, error);
    if (code < 0)
        return code;
    read_nodes(self, &has_huge_pages);
    if (!self->nodes.count || self->nodes.count > PLACE_ENGINE_NODES)
        return error__set(error, -ENOTSUP, "the nodes of this machine make no sense: '%s'",
                          self->nodes_text);
    const struct place_sampler_settings sampler = {.calls = self->settings.calls,
                                                   .nodes = &self->nodes,
                                                   .hz = self->settings.hz,
                                                   .has_huge_pages = has_huge_pages};
    self->sampler = place_sampler__new(&sampler, error);
    return self->sampler ? 0 : -EACCES;
}

struct place_daemon *place_daemon__new(const struct place_settings *settings, struct error *error)
{
    struct place_daemon *self = memory__zeroed(1, sizeof *self);
    self->settings = *settings;
    self->hz = settings->hz;
    self->effects = VEC_OF(uint8_t);
    self->targets = VEC_OF(struct place_target);
    self->applications = VEC_OF(struct watched_application);
    self->decisions = VEC_OF(struct told_decision);
    self->outcome = (struct place_outcome){.findings = VEC_OF(struct place_finding),
                                           .decisions = VEC_OF(struct place_decision)};
    self->began_s = (uint64_t)time(NULL);
    self->began_ns = self->looked_ns = clock__ns(CLOCK_MONOTONIC);
    self->began_cpu_ns = clock__ns(CLOCK_PROCESS_CPUTIME_ID);
    self->budget =
        (struct place_budget){.credit_ns = settings->cpu_share * CREDIT_SECONDS / 2 * 1e9,
                              .rate = 1,
                              .cpu_ns = self->began_cpu_ns,
                              .wall_ns = self->began_ns};
    if (open_parts(self, error) < 0) {
        place_daemon__free(self);
        return NULL;
    }
    self->sensors = place_sensors__open(settings->root);
    self->engine = place_engine__new(self->nodes.count, &settings->thresholds, settings->seed);
    self->actuator = place_actuator__of(settings->calls, self->nodes.ids.items, self->nodes.count);
    return self;
}

void place_daemon__free(struct place_daemon *self)
{
    if (!self)
        return;
    VEC_EACH (application, &self->applications, struct watched_application)
        free(application->advised_name);
    place_sampler__free(self->sampler);
    place_processes__free(&self->processes);
    place_engine__free(self->engine);
    machine_nodes__free(&self->nodes);
    place_outcome__free(&self->outcome);
    vec__free(&self->effects);
    vec__free(&self->targets);
    vec__free(&self->applications);
    vec__free(&self->decisions);
    free(self->nodes_text);
    free(self->balancing);
    free(self);
}

void place_daemon__drain(struct place_daemon *self)
{
    place_sampler__drain(self->sampler);
}

bool place_daemon__has_any(const struct place_daemon *self)
{
    return self->processes.items.count > 0;
}

/* ---- applications ---------------------------------------------------------------------------- */

static struct watched_application *application_of(const struct place_daemon *self, uint32_t id)
{
    return VEC_FIND(&self->applications, struct watched_application, id, id);
}

const char *place_daemon__name(const struct place_daemon *self, uint32_t application)
{
    const struct watched_application *of = application_of(self, application);
    return of ? of->name : "?";
}

pid_t place_daemon__pid(const struct place_daemon *self, uint32_t application)
{
    const struct watched_application *of = application_of(self, application);
    return of ? of->pid : 0;
}

uint32_t place_daemon__node_id(const struct place_daemon *self, uint16_t index)
{
    return *VEC_AT(&self->nodes.ids, uint32_t, index);
}

static void end_application(const struct place_process *process, void *context)
{
    struct place_daemon *self = context;
    struct watched_application *application = application_of(self, process->id);
    place_sampler__forget(self->sampler, process);
    if (application)
        application->has_ended = true;
}

static void watch(struct place_daemon *self, const struct place_process *process)
{
    struct watched_application *application = application_of(self, process->id);
    if (!application) {
        application = vec__push(&self->applications, NULL); /* ids rise */
        *application = (struct watched_application){
            .id = process->id, .pid = process->pid, .owned = NAN, .finding.verdict = PLACE_TINY};
        application->first = application->last =
            (struct place_metrics){.local = NAN, .imbalance = NAN, .reads = NAN};
    }
    memcpy(application->name, process->name, sizeof application->name);
    application->cpus = process->cpus;
    double enough = self->settings.thresholds.application_cpus;
    if (process->cpus >= ACTIVE_SHARE * enough)
        place_sampler__follow(self->sampler, process);
    else if (process->cpus < IDLE_SHARE * enough)
        place_sampler__forget(self->sampler, process);
}

/* Of those that have ended the oldest about which nothing was done go first, and then any. */
static void forget_ended(struct place_daemon *self)
{
    for (int any = 0; any < 2 && self->applications.count > APPLICATIONS_TOLD; any++) {
        size_t kept = 0, over = self->applications.count - APPLICATIONS_TOLD;
        for (size_t i = 0; i < self->applications.count; i++) {
            struct watched_application *at =
                VEC_AT(&self->applications, struct watched_application, i);
            if (over && at->has_ended && (any || !(at->moved + at->advised))) {
                free(at->advised_name);
                over--;
            } else
                *VEC_AT(&self->applications, struct watched_application, kept++) = *at;
        }
        self->applications.count = kept;
    }
}

/* Threads that are new within this round are found in the next one. */
static void look(struct place_daemon *self)
{
    place_processes__look(&self->processes, end_application, self);
    VEC_EACH (process, &self->processes.items, struct place_process)
        watch(self, process);
    forget_ended(self);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* Pages that may be moved in this round, by what they cost until now. */
static uint64_t spend(struct place_daemon *self)
{
    struct place_budget *budget = &self->budget;
    double most = self->settings.cpu_share * CREDIT_SECONDS * 1e9;
    uint64_t cpu_ns = clock__ns(CLOCK_PROCESS_CPUTIME_ID), wall_ns = clock__ns(CLOCK_MONOTONIC);
    budget->credit_ns += self->settings.cpu_share * (double)(wall_ns - budget->wall_ns) -
                         (double)(cpu_ns - budget->cpu_ns);
    budget->credit_ns = fmin(budget->credit_ns, most);
    budget->cpu_ns = cpu_ns;
    budget->wall_ns = wall_ns;
    if (budget->credit_ns < 0)
        budget->rate = fmax(budget->rate / 2, LEAST_RATE);
    else if (budget->credit_ns > most / 4)
        budget->rate = fmin(budget->rate * 2, 1);
    return (uint64_t)(fmax(budget->credit_ns, 0) / self->actuator.page_ns);
}

/* An application of which too few samples are known is sampled at the full rate. */
static void choose_rate(struct place_daemon *self)
{
    double sampling = self->outcome.sampling;
    VEC_EACH (finding, &self->outcome.findings, struct place_finding)
        if (finding->verdict == PLACE_UNKNOWN)
            sampling = 1;
    double hz = fmax(self->settings.hz * self->budget.rate * sampling, 1);
    self->hz = (unsigned)hz;
    place_sampler__rate(self->sampler, self->hz);
}

/* ---- deciding -------------------------------------------------------------------------------- */

static struct vec facts_of_applications(const struct place_daemon *self)
{
    struct vec applications = VEC_OF(struct place_application);
    VEC_EACH (process, &self->processes.items, struct place_process)
        vec__push(&applications, &(struct place_application){
                                     .id = process->id, .cpus = process->cpus, .progress = NAN});
    return applications;
}

static void decide(struct place_daemon *self, const struct vec *accesses, uint64_t pages_most)
{
    struct vec applications = facts_of_applications(self);
    double samples = (double)self->sampled.samples;
    const struct place_facts facts = {
        .maptu = self->sensed.maptu,
        .memory_share = samples > 0 ? (double)self->sampled.at_memory / samples : NAN,
        .memory_used = isnan(self->sensed.memory_used) ? 1 : self->sensed.memory_used,
        .quality = place_sampler__quality(self->sampler),
        .pages_most = &pages_most,
        .applications = applications.items,
        .application_count = applications.count,
        .accesses = accesses->items,
        .access_count = accesses->count};
    place_outcome__free(&self->outcome);
    self->outcome = place_engine__step(self->engine, &facts);
    self->used += accesses->count;
    vec__free(&applications);
}

static void act(struct place_daemon *self)
{
    self->targets.count = 0;
    VEC_EACH (process, &self->processes.items, struct place_process)
        vec__push(&self->targets, &(struct place_target){.application = process->id,
                                                         .pid = process->pid,
                                                         .pidfd = process->pidfd});
    self->effects.count = 0;
    vec__extend(&self->effects, self->outcome.decisions.count + 1);
    memset(self->effects.items, EFFECT_NONE, self->effects.count);
    if (!self->settings.is_dry)
        place_actuator__do(&self->actuator, &self->outcome, self->targets.items,
                           self->targets.count, self->effects.items);
}

/* ---- what became of it ----------------------------------------------------------------------- */

/* Accesses to the page from other nodes than its own, in this round. They stand by application and
 * page. */
static uint64_t remote_accesses(const struct vec *accesses, const struct place_decision *decision)
{
    uint64_t last = decision->page + (decision->is_huge ? PLACE_HUGE_PAGES : 1), remote = 0;
    size_t at =
        VEC_FIRST(item, accesses, struct place_access,
                  item->application > decision->application ||
                      (item->application == decision->application && item->page >= decision->page));
    for (; at < accesses->count; at++) {
        const struct place_access *access = VEC_AT(accesses, struct place_access, at);
        if (access->application != decision->application || access->page >= last)
            break;
        remote += access->from != access->to;
    }
    return remote;
}

static struct told_decision *told_of(struct place_daemon *self,
                                     const struct place_decision *decision)
{
    VEC_EACH (told, &self->decisions, struct told_decision)
        if (told->round == self->round && told->application == decision->application &&
            told->kind == decision->kind && told->is_advice == decision->is_advice)
            return told;
    if (self->decisions.count >= DECISIONS_TOLD)
        memmove(self->decisions.items, (struct told_decision *)self->decisions.items + 1,
                --self->decisions.count * sizeof(struct told_decision));
    const struct watched_application *application = application_of(self, decision->application);
    return vec__push(&self->decisions,
                     &(struct told_decision){.round = self->round,
                                             .application = decision->application,
                                             .kind = decision->kind,
                                             .is_advice = decision->is_advice,
                                             .local = application ? application->last.local : NAN});
}

static void learn(struct place_daemon *self, const struct place_decision *decision,
                  enum place_effect effect)
{
    if (effect == EFFECT_SEVERAL || effect == EFFECT_BUSY)
        place_sampler__flag(self->sampler, decision->application, decision->page,
                            effect == EFFECT_SEVERAL ? PLACE_SEVERAL : PLACE_FIXED);
    if (decision->kind == PLACE_SPLIT)
        place_sampler__split(self->sampler, decision->application);
}

struct place_told_round {
    uint64_t moved, back;
};

static void take_decision(struct place_daemon *self, const struct vec *accesses,
                          const struct place_decision *decision, enum place_effect effect,
                          struct place_told_round *round)
{
    struct watched_application *application = application_of(self, decision->application);
    struct told_decision *told = told_of(self, decision);
    uint64_t pages = decision->is_huge ? PLACE_HUGE_PAGES : 1;
    bool is_moved = effect == EFFECT_DONE && decision->from != decision->to;
    told->pages += pages;
    told->done += effect == EFFECT_DONE ? pages : 0;
    round->moved += is_moved ? pages : 0;
    round->back += is_moved && decision->kind == PLACE_BACK ? pages : 0;
    learn(self, decision, effect);
    if (!application)
        return;
    application->moved += is_moved ? pages : 0;
    application->back += is_moved && decision->kind == PLACE_BACK ? pages : 0;
    if (!decision->is_advice)
        return;
    application->advised += pages;
    self->advised += pages;
    if (!application->advised_name)
        application->advised_name =
            place_sampler__name(self->sampler, decision->application, decision->page);
    application->advised_gain += (double)remote_accesses(accesses, decision) /
                                 fmax((double)application->finding.metrics.samples, 1);
}

static void take_findings(struct place_daemon *self)
{
    double enough = self->settings.thresholds.application_samples;
    VEC_EACH (finding, &self->outcome.findings, struct place_finding) {
        struct watched_application *application = application_of(self, finding->application);
        if (!application)
            continue;
        application->finding = *finding;
        application->advised_gain = finding->metrics.samples ? 0 : application->advised_gain;
        if ((double)finding->metrics.samples < enough)
            continue;
        application->first = application->is_measured ? application->first : finding->metrics;
        application->is_measured = true;
        application->last = finding->metrics;
        application->owned = finding->owned;
    }
    if ((double)self->outcome.metrics.samples < enough)
        return;
    self->first = self->is_measured ? self->first : self->outcome.metrics;
    self->is_measured = true;
    self->last = self->outcome.metrics;
}

static struct place_told_round take_outcome(struct place_daemon *self, const struct vec *accesses)
{
    struct place_told_round round = {0};
    take_findings(self);
    size_t index = 0;
    VEC_EACH (decision, &self->outcome.decisions, struct place_decision)
        take_decision(self, accesses, decision, *VEC_AT(&self->effects, uint8_t, index++), &round);
    self->moved += round.moved;
    self->back += round.back;
    self->guarded = self->outcome.guarded > self->guarded ? self->outcome.guarded : self->guarded;
    return round;
}

static void add_up(struct place_sampled *all, const struct place_sampled *one)
{
    all->samples += one->samples;
    all->at_memory += one->at_memory;
    all->without_code += one->without_code;
    all->without_address += one->without_address;
    all->without_node += one->without_node;
    all->lost += one->lost;
}

struct place_round place_daemon__round(struct place_daemon *self)
{
    uint64_t now = clock__ns(CLOCK_MONOTONIC);
    self->round++;
    look(self);
    const struct vec *accesses = place_sampler__take(self->sampler, &self->sampled);
    add_up(&self->all, &self->sampled);
    self->sensed = place_sensors__round(&self->sensors, (double)(now - self->looked_ns) / 1e9);
    self->looked_ns = now;
    decide(self, accesses, spend(self));
    act(self);
    struct place_told_round told = take_outcome(self, accesses);
    choose_rate(self);
    return (struct place_round){.number = self->round,
                                .outcome = &self->outcome,
                                .effects = self->effects.items,
                                .moved = told.moved,
                                .back = told.back};
}

/* ---- telling --------------------------------------------------------------------------------- */

static void set_text(char **member, char *text)
{
    free(*member);
    *member = text;
}

static char *whom_text(const struct place_daemon *self)
{
    const struct place_selection *whom = &self->settings.whom;
    char *text = NULL;
    if (whom->of_user)
        return memory__format("processes of user %u", (unsigned)geteuid());
    if (whom->cgroup)
        return memory__format("cgroup %s", whom->cgroup);
    VEC_EACH (pid, &whom->pids, pid_t)
        text = text__append(text, "%s%d", text ? ", " : "process ", (int)*pid);
    return text ? text : memory__text("no process");
}

static char *verdict_text(const struct place_daemon *self)
{
    bool any[PLACE_VERDICTS] = {false};
    VEC_EACH (finding, &self->outcome.findings, struct place_finding)
        any[finding->verdict] = true;
    static const enum place_verdict order[] = {PLACE_ACTS, PLACE_IS_GOOD, PLACE_UNKNOWN,
                                               PLACE_QUIET, PLACE_TINY};
    if (self->nodes.count < 2)
        return memory__text("one node: there is nowhere to move memory to");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (any[order[i]])
            return memory__text(place_verdict__words(order[i]));
    return memory__text("no process is there yet");
}

static uint64_t resident_bytes(void)
{
    unsigned long all, resident = 0;
    FILE *in = fopen("/proc/self/statm", "re");
    if (in && fscanf(in, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (in)
        fclose(in);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void tell_daemon(const struct place_daemon *self, const char *state,
                        struct status_daemon *told)
{
    set_text(&told->state, memory__text(state));
    set_text(&told->whom, whom_text(self));
    set_text(&told->verdict, verdict_text(self));
    told->pid = (uint64_t)getpid();
    told->started_ticks = place_status__own_ticks();
    told->begun_s = self->began_s;
    told->updated_s = (uint64_t)time(NULL);
    told->interval_ns = self->settings.interval_ns;
    told->rounds = self->round;
    told->nodes = self->nodes.count;
    told->processes = self->processes.items.count;
    told->threads = place_sampler__threads(self->sampler);
    told->hz = self->hz;
    told->samples = self->all.samples;
    told->at_memory = self->all.at_memory;
    told->used = self->used;
    told->lost = self->all.lost;
    told->moved = self->moved;
    told->back = self->back;
    told->split = self->actuator.split;
    told->advised = self->advised;
    told->guarded = self->guarded;
    told->several = self->actuator.pages[EFFECT_SEVERAL];
    told->busy = self->actuator.pages[EFFECT_BUSY];
    told->gone = self->actuator.pages[EFFECT_GONE];
    told->full = self->actuator.pages[EFFECT_FULL];
    told->refused = self->actuator.pages[EFFECT_REFUSED] + self->actuator.pages[EFFECT_OTHER];
    told->cpu_ns = clock__ns(CLOCK_PROCESS_CPUTIME_ID) - self->began_cpu_ns;
    told->wall_ns = clock__ns(CLOCK_MONOTONIC) - self->began_ns;
    told->memory_bytes = resident_bytes();
    told->first_local = self->is_measured ? self->first.local : NAN;
    told->local = self->is_measured ? self->last.local : NAN;
    told->first_imbalance = self->is_measured ? self->first.imbalance : NAN;
    told->imbalance = self->is_measured ? self->last.imbalance : NAN;
    told->reads = self->is_measured ? self->last.reads : NAN;
    told->memory_share = self->sampled.samples
                             ? (double)self->sampled.at_memory / (double)self->sampled.samples
                             : NAN;
    told->maptu = self->sensed.maptu;
    told->memory_used = self->sensed.memory_used;
}

static char *advice_text(const struct watched_application *of)
{
    return of->advised_name
               ? memory__format("a copy on each node of what is only read, %s: %" PRIu64
                                " pages; %.0f %% more of its accesses would be local",
                                of->advised_name, of->advised, 100 * fmin(of->advised_gain, 1))
               : memory__text("");
}

static void tell_application(const struct watched_application *of, struct status_application *told)
{
    *told = (struct status_application){
        .name = memory__text(of->name),
        .verdict = memory__text(of->has_ended ? "it has ended"
                                              : place_verdict__words(of->finding.verdict)),
        .advice = advice_text(of),
        .pid = (uint64_t)of->pid,
        .id = of->id,
        .has_ended = of->has_ended,
        .samples = of->has_ended ? 0 : of->finding.metrics.samples,
        .moved = of->moved,
        .back = of->back,
        .advised = of->advised,
        .cpus = of->has_ended ? 0 : of->cpus,
        .first_local = of->first.local,
        .local = of->last.local,
        .first_imbalance = of->first.imbalance,
        .imbalance = of->last.imbalance,
        .reads = of->last.reads,
        .owned = of->owned};
}

static void add_sensor(struct place_status *status, const char *name, const char *tells,
                       double quality, const char *missing)
{
    vec__push(&status->sensors, &(struct status_sensor){.name = memory__text(name),
                                                        .tells = memory__text(tells),
                                                        .missing = memory__text(missing),
                                                        .quality = quality});
}

static void tell_sensors(const struct place_daemon *self, struct place_status *status)
{
    const char *by = place_sampler__accesses_by(self->sampler);
    add_sensor(status, by ? by : "processor's samples", "addresses and nodes of accesses", 1,
               by ? "" : "no such unit, or not for this user");
    add_sensor(status, "decoded samples", "addresses, from registers and code",
               place_sampler__quality(self->sampler), "");
    add_sensor(status, "move_pages", "nodes of pages", 1,
               place_sampler__asks_pages(self->sampler) ? "" : "the kernel refuses it");
    if (!place_sampler__asks_pages(self->sampler))
        add_sensor(status, "numa_maps", "nodes of mappings", 0.5, "");
    for (unsigned i = 0; i < PLACE_SENSORS; i++)
        add_sensor(status, place_sensor_rows[i].name, place_sensor_rows[i].tells,
                   place_sensor_rows[i].quality,
                   self->sensors.states[i].is_open ? "" : place_sensor_rows[i].missing);
}

struct place_status place_daemon__tell(const struct place_daemon *self, const char *state)
{
    struct place_status status = place_status__new();
    tell_daemon(self, state, &status.daemon);
    VEC_EACH (application, &self->applications, const struct watched_application)
        tell_application(application, vec__push(&status.applications, NULL));
    VEC_EACH (told, &self->decisions, const struct told_decision)
        vec__push(&status.decisions,
                  &(struct status_decision){
                      .name = memory__text(place_daemon__name(self, told->application)),
                      .decision = memory__format("%s%s", told->is_advice ? "advise " : "",
                                                 place_decision__name(told->kind)),
                      .round = told->round,
                      .pid = (uint64_t)place_daemon__pid(self, told->application),
                      .pages = told->pages,
                      .done = told->done,
                      .local = told->local});
    tell_sensors(self, &status);
    return status;
}
