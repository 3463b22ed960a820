/* heurt.report/1: the contract is in docs/heurt-report.md. Fields are added, never changed; what no
 * analysis has found out is null. */
#include "present/report/findings_words.h"
#include "present/report/unseen.h"
#include "present/screen/json_members.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#define EVERY_CLASS 0 /* as a rank */

/* ---- a class --------------------------------------------------------------------------------- */

static struct json_object *new_inside(const struct profile_inside *inside)
{
    struct json_object *object = json_object_new_object();
    json__number(object, "level", inside->level);
    json__text(object, "kind", class_kind__name(inside->kind));
    json__text(object, "function", inside->function);
    JSON_NUMBERS(object, {"least", inside->level == 1 ? inside->least : UINT64_MAX},
                 {"most", inside->level == 1 ? inside->most : UINT64_MAX});
    return object;
}

static struct json_object *new_structure(const struct profile_structure *structure)
{
    if (!structure)
        return NULL;
    struct json_object *object = json_object_new_object();
    struct json_object *rows = json_object_new_array();
    char *text = class_structure__text(structure);
    json__number(object, "depth", structure->depth);
    json__text(object, "text", text);
    json__boolean(object, "rest", structure->is_rest);
    VEC_EACH (inside, &structure->inside, struct profile_inside)
        json_object_array_add(rows, new_inside(inside));
    json__add(object, "inside", rows);
    free(text);
    return object;
}

static void add_object_and_keys(struct json_object *object, const struct report *report,
                                const struct profile_class *class)
{
    json__address(object, "object", class->what.has_object ? class->what.object : UINT64_MAX);
    json__text(object, "object_name", class__object_name(report, &class->what));
    struct json_object *keys = json__object(object, "key");
    VEC_EACH (key, &class->what.keys, struct profile_key) {
        char *name = text__utf8(key->name);
        json__add(keys, name, json_object_new_uint64(key->value));
        free(name);
    }
    json__add(object, "structure", new_structure(class->what.structure));
}

static void add_durations(struct json_object *object, const struct profile_class *class)
{
    JSON_NUMBERS(object, {"threads", class->threads.count}, {"count", class->count});
    bool sampled = class->recorded < class->count;
    JSON_NUMBERS(object, {"sampled", sampled ? class->recorded : UINT64_MAX},
                 {"sum_error_ns", sampled ? class->sum_error_ns : UINT64_MAX},
                 {"contended", class->contended}, {"unfinished", class->unfinished},
                 {"min_ns", class->min_ns}, {"p50_ns", class->p50_ns}, {"p99_ns", class->p99_ns},
                 {"max_ns", class->max_ns}, {"sum_ns", class->sum_ns});
}

static void add_loss(struct json_object *object, const struct profile_class *class)
{
    JSON_NUMBERS(object, {"excess_ns", class->excess_ns},
                 {"exclusive_excess_ns", class->exclusive_excess_ns});
    json__share(object, "score", class->score);
    json__share(object, "score_all", class->score_all);
    struct json_object *why = json__object(object, "why_ns");
    for (int c = 0; c < REASONS; c++)
        json__signed(why, reason__key((enum reason)c), class->why_ns[c]);
    json__text(object, "verdict", verdict__name(class->verdict));
    json__text(object, "cause",
               class->cause == REASON_UNEXPLAINED ? NULL : reason__key(class->cause));
    json__add(object, "wall_gain",
              class->wall_gain[0] > 0 ? json__new_gain(class->wall_gain) : NULL);
    json__text(object, "confidence", confidence__name(class->confidence));
    json__boolean(object, "idle", class->idle);
    json__boolean(object, "ignored", class->what.ignored);
}

static void add_holders(struct json_object *object, const struct report *report,
                        const struct profile_class *class)
{
    struct json_object *holders = json__list(object, "holders");
    uint64_t all_ns = class__held_ns(report, class);
    VEC_EACH (holder, &class->blames, struct profile_blame) {
        if (class->what.at.kind != CLASS_LOCK)
            break;
        char unknown[32];
        struct place place = place__of_site(report, holder->process, holder->site, unknown);
        struct json_object *entry = json__entry(holders);
        json__share(entry, "share", all_ns ? (double)holder->wait_ns / (double)all_ns : 0);
        JSON_NUMBERS(entry, {"wait_ns", holder->wait_ns}, {"waits", holder->waits});
        json__place(entry, &place);
    }
}

static void add_blames(struct json_object *object, const struct report *report,
                       const struct profile_class *class)
{
    struct json_object *blames = json__list(object, "blames");
    VEC_EACH (blame, &class->blames, struct profile_blame) {
        char unknown[32];
        struct place place = place__of_site(report, blame->process, blame->site, unknown);
        struct json_object *entry = json__entry(blames);
        json__add(entry, "thread", json__new_tid(report, blame->thread));
        JSON_NUMBERS(entry, {"wait_ns", blame->wait_ns}, {"waits", blame->waits});
        json__add(entry, "doing_ns", json__new_doing(blame->doing_ns));
        json__place(entry, &place);
    }
}

/* The other class of an overlap. */
static struct json_object *new_other(const struct report *report,
                                     const struct profile_evidence *evidence)
{
    size_t rank = report__rank_of(report, evidence->other);
    if (rank == 0)
        return NULL;
    struct json_object *other = json_object_new_object();
    json__number(other, "rank", rank);
    json__text(other, "function",
               VEC_AT(&report->profile->classes, struct profile_class, rank - 1)->what.at.function);
    json__add(other, "tid", json__new_tid(report, evidence->thread));
    return other;
}

static void add_evidence(struct json_object *object, const struct report *report,
                         const struct profile_class *class)
{
    struct json_object *rows = json__list(object, "evidence");
    VEC_EACH (evidence, &class->evidence, struct profile_evidence) {
        bool of_others = evidence->reason == REASON_OVERLAP || evidence->reason == REASON_SPIN;
        struct json_object *entry = json__entry(rows);
        json__text(entry, "reason", reason__key(evidence->reason));
        json__number(entry, "ns", evidence->ns);
        json__text(entry, "confidence", confidence__name(evidence->confidence));
        json__share(entry, "explained", evidence->explained);
        json__share(entry, "null", evidence->null);
        json__share(entry, "slope_ns", of_others ? evidence->slope_ns : NAN);
        json__text(entry, "argument", evidence->argument);
        json__add(entry, "other", of_others ? new_other(report, evidence) : NULL);
    }
}

static void add_doubts(struct json_object *object, const struct profile_class *class)
{
    struct json_object *doubts = json__list(object, "doubts");
    for (unsigned i = 0; i < DOUBTS; i++)
        if (class->doubts & 1u << i)
            json_object_array_add(doubts, json__new_text(doubt__name(i)));
}

static void add_threads_detail(struct json_object *object, const struct report *report,
                               const struct profile_class *class)
{
    const struct vec *threads = trace__threads(report->trace);
    struct json_object *rows = json__list(object, "threads_detail");
    VEC_EACH (row, &class->threads, struct profile_thread_row) {
        struct json_object *entry = json__entry(rows);
        if (row->thread < threads->count) {
            const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, row->thread);
            json__number(entry, "tid", thread->tid);
            json__text(entry, "name", thread->name);
        }
        JSON_NUMBERS(entry, {"count", row->count}, {"sum_ns", row->sum_ns},
                     {"excess_ns", row->excess_ns});
        json__share(entry, "score", row->score);
    }
}

static struct json_object *new_class(const struct report *report, const struct profile_class *class,
                                     size_t rank)
{
    struct json_object *object = json_object_new_object();
    json__number(object, "rank", rank);
    json__text(object, "kind", class_kind__name(class->what.at.kind));
    json__identity(object, report, &class->what);
    add_object_and_keys(object, report, class);
    add_durations(object, class);
    add_loss(object, class);
    add_evidence(object, report, class);
    add_doubts(object, class);
    add_holders(object, report, class);
    add_blames(object, report, class);
    add_threads_detail(object, report, class);
    struct json_object *stacks = json__list(object, "stacks");
    VEC_EACH (stack, &class->what.stacks, struct profile_stack)
        json_object_array_add(stacks, json__new_stack(report, stack));
    return object;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* What the kernel's records tell is null without them; what they would have told apart is "rest".
 * All that is not null adds up to the lifetime. */
static struct json_object *new_components(const uint64_t ns[COMPONENTS], bool has_kernel)
{
    struct json_object *components = json_object_new_object();
    for (int c = 0; c < COMPONENTS; c++) {
        bool of_kernel =
            c == COMPONENT_RUNNING || c == COMPONENT_RUNNABLE || c == COMPONENT_PAGE_FAULT;
        bool known = has_kernel || !of_kernel || (c != COMPONENT_RUNNING && ns[c]);
        json__number(components, component__key((enum component)c), known ? ns[c] : UINT64_MAX);
    }
    json__number(components, "rest", has_kernel ? UINT64_MAX : ns[COMPONENT_RUNNING]);
    return components;
}

static void add_thread_time(struct json_object *root, const struct report *report)
{
    struct json_object *time = json__object(root, "thread_time");
    uint64_t sums[COMPONENTS];
    report__component_ns(report, sums);
    json__number(time, "threads", report->profile->threads.count);
    json__share(time, "work", report__work(report));
    json__number(time, "lifetime_ns", report->profile->lifetime_sum_ns);
    json__add(time, "components_ns", new_components(sums, report__without_kernel(report) == 0));
}

static void add_kernel(struct json_object *root, const struct report *report)
{
    struct json_object *kernel = json__object(root, "kernel");
    char *why = report__why_no_kernel(report);
    json__boolean(kernel, "records", !why && report->profile->threads.count);
    JSON_NUMBERS(kernel, {"threads_without", report__without_kernel(report)},
                 {"lost", report__kernel_lost(report)});
    json__text(kernel, "why", why);
    json__text(kernel, "tracepoints", trace__meta(report->trace, "tracepoints"));
    free(why);
}

static void add_audit(struct json_object *root, const struct report *report)
{
    const struct profile_audit *audit = &report->profile->audit;
    struct json_object *object = json__object(root, "audit");
    json__boolean(object, "holds", report__adds_up(report));
    JSON_NUMBERS(
        object, {"classes", audit->classes}, {"excess_ticks", audit->excess},
        {"wrong_components", audit->wrong_components}, {"wrong_reasons", audit->wrong_reasons},
        {"wrong_threads", audit->wrong_threads}, {"covered_ticks", audit->covered},
        {"exclusive_sum_ticks", audit->own_sum}, {"exclusive_least_ticks", audit->own_least},
        {"exclusive_excess_ticks", audit->own_excess}, {"sampled_classes", audit->sampled_classes});
}

/* What heurt found against what the system counted. */
static void add_checks(struct json_object *root, const struct report *report)
{
    struct json_object *list = json__list(root, "checks");
    for (int i = 0; i < PROFILE_CHECKS; i++) {
        const struct profile_check *check = &report->profile->checks[i];
        struct json_object *entry = json__entry(list);
        json__text(entry, "name", check__name((enum profile_check_name)i));
        json__add(entry, "holds", check->known ? json_object_new_boolean(check->holds) : NULL);
        JSON_NUMBERS(entry, {"ours", check->known ? check->ours : UINT64_MAX},
                     {"counted", check->known ? check->counted : UINT64_MAX});
    }
}

static void add_threads(struct json_object *root, const struct report *report)
{
    const struct vec *threads = trace__threads(report->trace);
    struct json_object *list = json__list(root, "threads");
    VEC_EACH (row, &report->profile->threads, struct profile_thread) {
        if (row->thread >= threads->count)
            continue;
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, row->thread);
        struct json_object *entry = json__entry(list);
        json__number(entry, "tid", thread->tid);
        json__text(entry, "name", thread->name);
        JSON_NUMBERS(entry, {"pid", thread->pid}, {"lifetime_ns", row->lifetime_ns},
                     {"cpu_ns", row->cpu_ns}, {"runnable_ns", row->runnable_ns});
        json__add(entry, "components_ns", new_components(row->component_ns, row->has_kernel));
        JSON_NUMBERS(entry, {"kernel_lost", row->has_kernel ? row->kernel_lost : UINT64_MAX},
                     {"events", row->events});
        json__boolean(entry, "ended", thread->ended);
    }
}

static void add_runtimes(struct json_object *root, const struct report *report)
{
    struct json_object *list = json__list(root, "runtimes");
    const struct runtime_kind *kind = NULL;
    while ((kind = runtime__next(report, kind))) {
        struct json_object *entry = json__entry(list);
        json__text(entry, "name", kind->name);
        json__text(entry, "seen", kind->seen);
        json__text(entry, "unseen", kind->unseen);
    }
}

static void add_coverage(struct json_object *root, const struct report *report)
{
    struct coverage coverage = coverage__collect(report);
    struct json_object *object = json__object(root, "coverage");
    struct json_object *refused = json_object_new_array();
    JSON_NUMBERS(object, {"requested", coverage.instrumented.count + coverage.refused.count},
                 {"instrumented", coverage.instrumented.count}, {"markers", coverage.markers},
                 {"events_lost", trace__events_lost(report->trace)});
    json__text(object, "choice", trace__meta(report->trace, "choice"));
    json__share(object, "unseen", report__unseen(report));
    add_runtimes(object, report);
    VEC_EACH (row, &coverage.refused, struct coverage_row) {
        struct json_object *entry = json__entry(refused);
        json__text(entry, "function", row->function);
        json__text(entry, "module", row->module);
        json__text(entry, "reason", row->reason);
    }
    json__add(object, "refused", refused);
    struct json_object *functions = json__list(object, "functions");
    VEC_EACH (row, &coverage.instrumented, struct coverage_row) {
        struct json_object *entry = json__entry(functions);
        json__text(entry, "function", row->function);
        json__text(entry, "module", row->module);
    }
    coverage__free(&coverage);
}

static void add_run(struct json_object *root, const struct report *report)
{
    const struct profile *profile = report->profile;
    json__text(root, "schema", "heurt.report/1");
    json__command(root, report);
    json__exit(root, report);
    JSON_NUMBERS(root, {"wall_ns", profile->wall_ns}, {"lifetime_ns", profile->lifetime_sum_ns});
    size_t unknown;
    uint64_t cpu_ns = report__cpu_ns(report, &unknown);
    json__number(root, "cpu_ns", unknown ? UINT64_MAX : cpu_ns);
    json__share(root, "threshold", profile->threshold);
    json__share(root, "replayed_share",
                profile->replayed_share > 0 ? profile->replayed_share : NAN);
    json__text(root, "no_gains", profile->no_gains);
    json__number(root, "events", profile->events);
    json__text(root, "classes_by", profile->view == CLASSES_BY_STRUCTURE ? "structure" : "site");
    json__boolean(root, "aggregated", trace__is_aggregated(report->trace));
    json__machine(root, report);
    struct json_object *overhead = json__object(root, "overhead");
    JSON_NUMBERS(overhead, {"events", profile->events},
                 {"estimated_ns", profile->overhead_ns ? profile->overhead_ns : UINT64_MAX});
    add_kernel(root, report);
    add_audit(root, report);
    add_checks(root, report);
    add_coverage(root, report);
    json__warnings(root, report);
    add_thread_time(root, report);
    add_threads(root, report);
}

static void put_document(const struct report *report, size_t only_rank, const struct style *style,
                         FILE *out)
{
    (void)style;
    struct json_object *root = json_object_new_object();
    struct json_object *classes = json_object_new_array();
    size_t rank = 0;
    add_run(root, report);
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        rank++;
        if (only_rank == EVERY_CLASS || only_rank == rank)
            json_object_array_add(classes, new_class(report, class, rank));
    }
    json__add(root, "classes", classes);
    if (report->findings)
        json__add(root, "findings", json__new_findings(report));
    json__put(root, out);
}

static void whole(const struct report *report, const struct style *style, FILE *out)
{
    put_document(report, EVERY_CLASS, style, out);
}

const struct presenter presenter_json = {"json", put_document, whole, whole};
