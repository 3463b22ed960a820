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
    json__known(object, "least", inside->level == 1 ? inside->least : UINT64_MAX);
    json__known(object, "most", inside->level == 1 ? inside->most : UINT64_MAX);
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
    json__add(object, "rest", json_object_new_boolean(structure->is_rest));
    VEC_EACH (inside, &structure->inside, struct profile_inside)
        json_object_array_add(rows, new_inside(inside));
    json__add(object, "inside", rows);
    free(text);
    return object;
}

static void add_object_and_keys(struct json_object *object, const struct report *report,
                                const struct profile_class *class)
{
    if (class->what.has_object)
        json__address(object, "object", class->what.object);
    else
        json__add(object, "object", NULL);
    json__text(object, "object_name", class__object_name(report, &class->what));
    struct json_object *keys = json_object_new_object();
    VEC_EACH (key, &class->what.keys, struct profile_key) {
        char *name = text__utf8(key->name);
        json__number(keys, name, key->value);
        free(name);
    }
    json__add(object, "key", keys);
    json__add(object, "structure", new_structure(class->what.structure));
}

static void add_durations(struct json_object *object, const struct profile_class *class)
{
    json__number(object, "threads", class->threads.count);
    json__number(object, "count", class->count);
    bool sampled = class->recorded < class->count;
    json__known(object, "sampled", sampled ? class->recorded : UINT64_MAX);
    json__known(object, "sum_error_ns", sampled ? class->sum_error_ns : UINT64_MAX);
    json__number(object, "contended", class->contended);
    json__number(object, "unfinished", class->unfinished);
    json__number(object, "min_ns", class->min_ns);
    json__number(object, "p50_ns", class->p50_ns);
    json__number(object, "p99_ns", class->p99_ns);
    json__number(object, "max_ns", class->max_ns);
    json__number(object, "sum_ns", class->sum_ns);
}

static void add_loss(struct json_object *object, const struct profile_class *class)
{
    json__number(object, "excess_ns", class->excess_ns);
    json__number(object, "exclusive_excess_ns", class->exclusive_excess_ns);
    json__share(object, "score", class->score);
    json__share(object, "score_all", class->score_all);
    struct json_object *why = json_object_new_object();
    for (int c = 0; c < REASONS; c++)
        json__add(why, reason__key((enum reason)c), json_object_new_int64(class->why_ns[c]));
    json__add(object, "why_ns", why);
    json__text(object, "verdict", verdict__name(class->verdict));
    json__text(object, "cause",
               class->cause == REASON_UNEXPLAINED ? NULL : reason__key(class->cause));
    json__add(object, "wall_gain",
              class->wall_gain[0] > 0 ? json__new_gain(class->wall_gain) : NULL);
    json__text(object, "confidence", confidence__name(class->confidence));
    json__add(object, "idle", json_object_new_boolean(class->idle));
    json__add(object, "ignored", json_object_new_boolean(class->what.ignored));
}

static void add_holders(struct json_object *object, const struct report *report,
                        const struct profile_class *class)
{
    struct json_object *holders = json_object_new_array();
    uint64_t all_ns = class__held_ns(report, class);
    VEC_EACH (holder, &class->blames, struct profile_blame) {
        if (class->what.at.kind != CLASS_LOCK)
            break;
        char unknown[32];
        struct place place = place__of_site(report, holder->process, holder->site, unknown);
        struct json_object *entry = json_object_new_object();
        json__share(entry, "share", all_ns ? (double)holder->wait_ns / (double)all_ns : 0);
        json__number(entry, "wait_ns", holder->wait_ns);
        json__number(entry, "waits", holder->waits);
        json__place(entry, &place);
        json_object_array_add(holders, entry);
    }
    json__add(object, "holders", holders);
}

static void add_blames(struct json_object *object, const struct report *report,
                       const struct profile_class *class)
{
    struct json_object *blames = json_object_new_array();
    VEC_EACH (blame, &class->blames, struct profile_blame) {
        char unknown[32];
        struct place place = place__of_site(report, blame->process, blame->site, unknown);
        struct json_object *entry = json_object_new_object();
        json__add(entry, "thread", json__new_tid(report, blame->thread));
        json__number(entry, "wait_ns", blame->wait_ns);
        json__number(entry, "waits", blame->waits);
        json__add(entry, "doing_ns", json__new_doing(blame->doing_ns));
        json__place(entry, &place);
        json_object_array_add(blames, entry);
    }
    json__add(object, "blames", blames);
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
    struct json_object *rows = json_object_new_array();
    VEC_EACH (evidence, &class->evidence, struct profile_evidence) {
        bool of_others = evidence->reason == REASON_OVERLAP || evidence->reason == REASON_SPIN;
        struct json_object *entry = json_object_new_object();
        json__text(entry, "reason", reason__key(evidence->reason));
        json__number(entry, "ns", evidence->ns);
        json__text(entry, "confidence", confidence__name(evidence->confidence));
        json__share(entry, "explained", evidence->explained);
        json__share(entry, "null", evidence->null);
        json__share(entry, "slope_ns", of_others ? evidence->slope_ns : NAN);
        json__text(entry, "argument", evidence->argument);
        json__add(entry, "other", of_others ? new_other(report, evidence) : NULL);
        json_object_array_add(rows, entry);
    }
    json__add(object, "evidence", rows);
}

static void add_doubts(struct json_object *object, const struct profile_class *class)
{
    struct json_object *doubts = json_object_new_array();
    for (unsigned i = 0; i < DOUBTS; i++)
        if (class->doubts & 1u << i)
            json_object_array_add(doubts, json__new_text(doubt__name(i)));
    json__add(object, "doubts", doubts);
}

static void add_threads_detail(struct json_object *object, const struct report *report,
                               const struct profile_class *class)
{
    const struct vec *threads = trace__threads(report->trace);
    struct json_object *rows = json_object_new_array();
    VEC_EACH (row, &class->threads, struct profile_thread_row) {
        struct json_object *entry = json_object_new_object();
        if (row->thread < threads->count) {
            const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, row->thread);
            json__number(entry, "tid", thread->tid);
            json__text(entry, "name", thread->name);
        }
        json__number(entry, "count", row->count);
        json__number(entry, "sum_ns", row->sum_ns);
        json__number(entry, "excess_ns", row->excess_ns);
        json__share(entry, "score", row->score);
        json_object_array_add(rows, entry);
    }
    json__add(object, "threads_detail", rows);
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
    struct json_object *stacks = json_object_new_array();
    VEC_EACH (stack, &class->what.stacks, struct profile_stack)
        json_object_array_add(stacks, json__new_stack(report, stack));
    json__add(object, "stacks", stacks);
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
        json__known(components, component__key((enum component)c), known ? ns[c] : UINT64_MAX);
    }
    json__known(components, "rest", has_kernel ? UINT64_MAX : ns[COMPONENT_RUNNING]);
    return components;
}

static void add_thread_time(struct json_object *root, const struct report *report)
{
    struct json_object *time = json_object_new_object();
    uint64_t sums[COMPONENTS];
    report__component_ns(report, sums);
    json__number(time, "threads", report->profile->threads.count);
    json__share(time, "work", report__work(report));
    json__number(time, "lifetime_ns", report->profile->lifetime_sum_ns);
    json__add(time, "components_ns", new_components(sums, report__without_kernel(report) == 0));
    json__add(root, "thread_time", time);
}

static void add_kernel(struct json_object *root, const struct report *report)
{
    struct json_object *kernel = json_object_new_object();
    char *why = report__why_no_kernel(report);
    json__add(kernel, "records", json_object_new_boolean(!why && report->profile->threads.count));
    json__number(kernel, "threads_without", report__without_kernel(report));
    json__number(kernel, "lost", report__kernel_lost(report));
    json__text(kernel, "why", why);
    json__text(kernel, "tracepoints", trace__meta(report->trace, "tracepoints"));
    json__add(root, "kernel", kernel);
    free(why);
}

static void add_audit(struct json_object *root, const struct report *report)
{
    const struct profile_audit *audit = &report->profile->audit;
    struct json_object *object = json_object_new_object();
    json__add(object, "holds", json_object_new_boolean(report__adds_up(report)));
    json__number(object, "classes", audit->classes);
    json__number(object, "excess_ticks", audit->excess);
    json__number(object, "wrong_components", audit->wrong_components);
    json__number(object, "wrong_reasons", audit->wrong_reasons);
    json__number(object, "wrong_threads", audit->wrong_threads);
    json__number(object, "covered_ticks", audit->covered);
    json__number(object, "exclusive_sum_ticks", audit->own_sum);
    json__number(object, "exclusive_least_ticks", audit->own_least);
    json__number(object, "exclusive_excess_ticks", audit->own_excess);
    json__number(object, "sampled_classes", audit->sampled_classes);
    json__add(root, "audit", object);
}

/* What heurt found against what the system counted. */
static void add_checks(struct json_object *root, const struct report *report)
{
    struct json_object *list = json_object_new_array();
    for (int i = 0; i < PROFILE_CHECKS; i++) {
        const struct profile_check *check = &report->profile->checks[i];
        struct json_object *entry = json_object_new_object();
        json__text(entry, "name", check__name((enum profile_check_name)i));
        json__add(entry, "holds", check->known ? json_object_new_boolean(check->holds) : NULL);
        json__known(entry, "ours", check->known ? check->ours : UINT64_MAX);
        json__known(entry, "counted", check->known ? check->counted : UINT64_MAX);
        json_object_array_add(list, entry);
    }
    json__add(root, "checks", list);
}

static void add_threads(struct json_object *root, const struct report *report)
{
    const struct vec *threads = trace__threads(report->trace);
    struct json_object *list = json_object_new_array();
    VEC_EACH (row, &report->profile->threads, struct profile_thread) {
        if (row->thread >= threads->count)
            continue;
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, row->thread);
        struct json_object *entry = json_object_new_object();
        json__number(entry, "tid", thread->tid);
        json__text(entry, "name", thread->name);
        json__number(entry, "pid", thread->pid);
        json__number(entry, "lifetime_ns", row->lifetime_ns);
        json__known(entry, "cpu_ns", row->cpu_ns);
        json__known(entry, "runnable_ns", row->runnable_ns);
        json__add(entry, "components_ns", new_components(row->component_ns, row->has_kernel));
        json__known(entry, "kernel_lost", row->has_kernel ? row->kernel_lost : UINT64_MAX);
        json__number(entry, "events", row->events);
        json__add(entry, "ended", json_object_new_boolean(thread->ended));
        json_object_array_add(list, entry);
    }
    json__add(root, "threads", list);
}

static void add_runtimes(struct json_object *root, const struct report *report)
{
    struct json_object *list = json_object_new_array();
    const struct runtime_kind *kind = NULL;
    while ((kind = runtime__next(report, kind))) {
        struct json_object *entry = json_object_new_object();
        json__text(entry, "name", kind->name);
        json__text(entry, "seen", kind->seen);
        json__text(entry, "unseen", kind->unseen);
        json_object_array_add(list, entry);
    }
    json__add(root, "runtimes", list);
}

static void add_coverage(struct json_object *root, const struct report *report)
{
    struct coverage coverage = coverage__collect(report);
    struct json_object *object = json_object_new_object();
    struct json_object *refused = json_object_new_array();
    json__number(object, "requested", coverage.instrumented.count + coverage.refused.count);
    json__number(object, "instrumented", coverage.instrumented.count);
    json__number(object, "markers", coverage.markers);
    json__number(object, "events_lost", trace__events_lost(report->trace));
    json__text(object, "choice", trace__meta(report->trace, "choice"));
    json__share(object, "unseen", report__unseen(report));
    add_runtimes(object, report);
    VEC_EACH (row, &coverage.refused, struct coverage_row) {
        struct json_object *entry = json_object_new_object();
        json__text(entry, "function", row->function);
        json__text(entry, "module", row->module);
        json__text(entry, "reason", row->reason);
        json_object_array_add(refused, entry);
    }
    json__add(object, "refused", refused);
    struct json_object *functions = json_object_new_array();
    VEC_EACH (row, &coverage.instrumented, struct coverage_row) {
        struct json_object *entry = json_object_new_object();
        json__text(entry, "function", row->function);
        json__text(entry, "module", row->module);
        json_object_array_add(functions, entry);
    }
    json__add(object, "functions", functions);
    json__add(root, "coverage", object);
    coverage__free(&coverage);
}

static void add_run(struct json_object *root, const struct report *report)
{
    const struct profile *profile = report->profile;
    json__text(root, "schema", "heurt.report/1");
    json__command(root, report);
    json__exit(root, report);
    json__number(root, "wall_ns", profile->wall_ns);
    json__number(root, "lifetime_ns", profile->lifetime_sum_ns);
    size_t unknown;
    uint64_t cpu_ns = report__cpu_ns(report, &unknown);
    json__known(root, "cpu_ns", unknown ? UINT64_MAX : cpu_ns);
    json__share(root, "threshold", profile->threshold);
    json__number(root, "events", profile->events);
    json__text(root, "classes_by", profile->view == CLASSES_BY_STRUCTURE ? "structure" : "site");
    json__add(root, "aggregated", json_object_new_boolean(trace__is_aggregated(report->trace)));
    json__machine(root, report);
    struct json_object *overhead = json_object_new_object();
    json__number(overhead, "events", profile->events);
    json__known(overhead, "estimated_ns", profile->overhead_ns ? profile->overhead_ns : UINT64_MAX);
    json__add(root, "overhead", overhead);
    add_kernel(root, report);
    add_audit(root, report);
    add_checks(root, report);
    add_coverage(root, report);
    json__warnings(root, report);
    add_thread_time(root, report);
    add_threads(root, report);
}

static void put_document(const struct report *report, size_t only_rank, FILE *out)
{
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

static void summary(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    put_document(report, EVERY_CLASS, out);
}

static void one_class(const struct report *report, size_t rank, const struct style *style,
                      FILE *out)
{
    (void)style;
    put_document(report, rank, out);
}

const struct presenter presenter_json = {"json", summary, one_class, summary, summary};
