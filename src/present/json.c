/* heurt.report/1: the contract is in docs/heurt-report.md. Fields are added, never changed; what no
 * analysis has found out is null. */
#include "base/memory.h"
#include "present/shared.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define EVERY_CLASS 0 /* as a rank */

/* ---- leaves
 * -------------------------------------------------------------------------------------- */

static void add(struct json_object *object, const char *name, struct json_object *value)
{
    json_object_object_add(object, name, value);
}

static void add_number(struct json_object *object, const char *name, uint64_t value)
{
    add(object, name, json_object_new_uint64(value));
}

/* UINT64_MAX means not known. */
static void add_known(struct json_object *object, const char *name, uint64_t value)
{
    add(object, name, value == UINT64_MAX ? NULL : json_object_new_uint64(value));
}

static void add_share(struct json_object *object, const char *name, double value)
{
    char digits[32];
    if (!isfinite(value)) {
        add(object, name, NULL);
        return;
    }
    snprintf(digits, sizeof digits, "%.6f", value);
    add(object, name, json_object_new_double_s(value, digits));
}

static struct json_object *new_text(const char *text)
{
    if (!text)
        return NULL;
    char *clean = text__utf8(text);
    struct json_object *string = json_object_new_string(clean);
    free(clean);
    return string;
}

static void add_text(struct json_object *object, const char *name, const char *text)
{
    add(object, name, new_text(text));
}

static void add_address(struct json_object *object, const char *name, uint64_t address)
{
    char digits[24];
    snprintf(digits, sizeof digits, "0x%" PRIx64, address);
    add_text(object, name, digits);
}

static void add_line(struct json_object *object, uint32_t line)
{
    add(object, "line", line ? json_object_new_int64(line) : NULL);
}

static void add_place(struct json_object *object, const struct place *place)
{
    add_text(object, "function", place->function);
    add_text(object, "module", place->module);
    add_text(object, "file", place->file);
    add_line(object, place->line);
}

/* ---- a class
 * --------------------------------------------------------------------------------------- */

/* A hooked call: the module, file and line of the call. Its caller has them too. */
static void add_identity(struct json_object *object, const struct report *report,
                         const struct profile_class *class)
{
    char unknown[32];
    struct place place = place__of_class(report, class, unknown);
    bool hooked = class__is_hooked(class) && class->site;
    struct place itself = place, caller = hooked ? place : (struct place){0};
    itself.function = class->function;
    add_place(object, &itself);
    struct json_object *call = json_object_new_object();
    add_place(call, &caller);
    add(object, "caller", call);
}

static void add_object_and_keys(struct json_object *object, const struct report *report,
                                const struct profile_class *class)
{
    if (class->has_object)
        add_address(object, "object", class->object);
    else
        add(object, "object", NULL);
    add_text(object, "object_name", class__object_name(report, class));
    struct json_object *keys = json_object_new_object();
    VEC_EACH(key, &class->keys, struct profile_key)
    {
        char *name = text__utf8(key->name);
        add_number(keys, name, key->value);
        free(name);
    }
    add(object, "key", keys);
}

static void add_durations(struct json_object *object, const struct profile_class *class)
{
    add_number(object, "threads", class->threads.count);
    add_number(object, "count", class->count);
    bool sampled = class->recorded < class->count;
    add_known(object, "sampled", sampled ? class->recorded : UINT64_MAX);
    add_known(object, "sum_error_ns", sampled ? class->sum_error_ns : UINT64_MAX);
    add_number(object, "contended", class->contended);
    add_number(object, "unfinished", class->unfinished);
    add_number(object, "min_ns", class->min_ns);
    add_number(object, "p50_ns", class->p50_ns);
    add_number(object, "p99_ns", class->p99_ns);
    add_number(object, "max_ns", class->max_ns);
    add_number(object, "sum_ns", class->sum_ns);
}

static void add_loss(struct json_object *object, const struct profile_class *class)
{
    add_number(object, "excess_ns", class->excess_ns);
    add_number(object, "exclusive_excess_ns", class->exclusive_excess_ns);
    add_share(object, "score", class->score);
    add_share(object, "score_all", class->score_all);
    struct json_object *why = json_object_new_object();
    for (int c = 0; c < REASONS; c++)
        add(why, reason__key((enum reason)c), json_object_new_int64(class->why_ns[c]));
    add(object, "why_ns", why);
    add_text(object, "verdict", verdict__name(class->verdict));
    add_text(object, "cause",
             class->cause == REASON_UNEXPLAINED ? NULL : reason__key(class->cause));
    add(object, "wall_gain", NULL);
    add_text(object, "confidence", confidence__name(class->confidence));
    add(object, "idle", json_object_new_boolean(class->idle));
    add(object, "ignored", json_object_new_boolean(class->ignored));
}

static void add_holders(struct json_object *object, const struct report *report,
                        const struct profile_class *class)
{
    struct json_object *holders = json_object_new_array();
    uint64_t all_ns = class__held_ns(report, class);
    VEC_EACH(holder, &class->blames, struct profile_blame)
    {
        if (class->kind != CLASS_LOCK)
            break;
        char unknown[32];
        struct place place = place__of_site(report, holder->process, holder->site, unknown);
        struct json_object *entry = json_object_new_object();
        add_share(entry, "share", all_ns ? (double)holder->wait_ns / (double)all_ns : 0);
        add_number(entry, "wait_ns", holder->wait_ns);
        add_number(entry, "waits", holder->waits);
        add_place(entry, &place);
        json_object_array_add(holders, entry);
    }
    add(object, "holders", holders);
}

static struct json_object *new_tid(const struct report *report, uint32_t thread)
{
    const struct vec *threads = trace__threads(report->trace);
    return thread < threads->count
               ? json_object_new_int64(VEC_AT(threads, struct trace_thread, thread)->tid)
               : NULL;
}

static void add_blames(struct json_object *object, const struct report *report,
                       const struct profile_class *class)
{
    struct json_object *blames = json_object_new_array();
    VEC_EACH(blame, &class->blames, struct profile_blame)
    {
        char unknown[32];
        struct place place = place__of_site(report, blame->process, blame->site, unknown);
        struct json_object *entry = json_object_new_object(), *doing = json_object_new_object();
        add(entry, "thread", new_tid(report, blame->thread));
        add_number(entry, "wait_ns", blame->wait_ns);
        add_number(entry, "waits", blame->waits);
        for (int c = 0; c < COMPONENTS; c++)
            add_number(doing, component__key((enum component)c), blame->doing_ns[c]);
        add(entry, "doing_ns", doing);
        add_place(entry, &place);
        json_object_array_add(blames, entry);
    }
    add(object, "blames", blames);
}

/* The other class of an overlap. */
static struct json_object *new_other(const struct report *report,
                                     const struct profile_evidence *evidence)
{
    size_t rank = report__rank_of(report, evidence->other);
    if (rank == 0)
        return NULL;
    struct json_object *other = json_object_new_object();
    add_number(other, "rank", rank);
    add_text(other, "function",
             VEC_AT(&report->profile->classes, struct profile_class, rank - 1)->function);
    add(other, "tid", new_tid(report, evidence->thread));
    return other;
}

static void add_evidence(struct json_object *object, const struct report *report,
                         const struct profile_class *class)
{
    struct json_object *rows = json_object_new_array();
    VEC_EACH(evidence, &class->evidence, struct profile_evidence)
    {
        bool of_others = evidence->reason == REASON_OVERLAP || evidence->reason == REASON_SPIN;
        struct json_object *entry = json_object_new_object();
        add_text(entry, "reason", reason__key(evidence->reason));
        add_number(entry, "ns", evidence->ns);
        add_text(entry, "confidence", confidence__name(evidence->confidence));
        add_share(entry, "explained", evidence->explained);
        add_share(entry, "null", evidence->null);
        add_share(entry, "slope_ns", of_others ? evidence->slope_ns : NAN);
        add_text(entry, "argument", evidence->argument);
        add(entry, "other", of_others ? new_other(report, evidence) : NULL);
        json_object_array_add(rows, entry);
    }
    add(object, "evidence", rows);
}

static void add_doubts(struct json_object *object, const struct profile_class *class)
{
    struct json_object *doubts = json_object_new_array();
    for (unsigned i = 0; i < DOUBTS; i++)
        if (class->doubts & 1u << i)
            json_object_array_add(doubts, new_text(doubt__name(i)));
    add(object, "doubts", doubts);
}

static void add_threads_detail(struct json_object *object, const struct report *report,
                               const struct profile_class *class)
{
    const struct vec *threads = trace__threads(report->trace);
    struct json_object *rows = json_object_new_array();
    VEC_EACH(row, &class->threads, struct profile_thread_row)
    {
        struct json_object *entry = json_object_new_object();
        if (row->thread < threads->count) {
            const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, row->thread);
            add_number(entry, "tid", thread->tid);
            add_text(entry, "name", thread->name);
        }
        add_number(entry, "count", row->count);
        add_number(entry, "sum_ns", row->sum_ns);
        add_number(entry, "excess_ns", row->excess_ns);
        add_share(entry, "score", row->score);
        json_object_array_add(rows, entry);
    }
    add(object, "threads_detail", rows);
}

static struct json_object *new_stack(const struct report *report, const struct profile_stack *stack)
{
    struct vec texts, frames = stack__frames(report, stack, &texts);
    struct json_object *object = json_object_new_object();
    struct json_object *list = json_object_new_array();
    VEC_EACH(frame, &frames, struct frame)
    {
        struct json_object *entry = json_object_new_object();
        add_place(entry, &frame->place);
        add(entry, "inlined", json_object_new_boolean(frame->inlined));
        add_address(entry, "address", frame->address);
        json_object_array_add(list, entry);
    }
    add_share(object, "share", stack->share);
    add(object, "frames", list);
    vec__free(&frames);
    texts__free(&texts);
    return object;
}

static struct json_object *new_class(const struct report *report, const struct profile_class *class,
                                     size_t rank)
{
    struct json_object *object = json_object_new_object();
    add_number(object, "rank", rank);
    add_text(object, "kind", class_kind__name(class->kind));
    add_identity(object, report, class);
    add_object_and_keys(object, report, class);
    add_durations(object, class);
    add_loss(object, class);
    add_evidence(object, report, class);
    add_doubts(object, class);
    add_holders(object, report, class);
    add_blames(object, report, class);
    add_threads_detail(object, report, class);
    struct json_object *stacks = json_object_new_array();
    VEC_EACH(stack, &class->stacks, struct profile_stack)
    json_object_array_add(stacks, new_stack(report, stack));
    add(object, "stacks", stacks);
    return object;
}

/* ---- the run
 * ---------------------------------------------------------------------------------------- */

static void add_command(struct json_object *root, const struct report *report)
{
    struct json_object *command = json_object_new_array();
    const char *meta = trace__meta(report->trace, "command");
    char *copy = memory__text(meta ? meta : ""), *rest = *copy ? copy : NULL;
    for (char *argument; (argument = strsep(&rest, "\n"));)
        json_object_array_add(command, new_text(argument));
    add(root, "command", command);
    free(copy);
}

static void add_exit(struct json_object *root, const struct report *report)
{
    const struct heurt_session *session = trace__session(report->trace);
    int status = session->wait_status;
    bool exited = session->finished && WIFEXITED(status);
    bool killed = session->finished && WIFSIGNALED(status);
    add(root, "exit_status",
        exited   ? json_object_new_int(WEXITSTATUS(status))
        : killed ? json_object_new_int(128 + WTERMSIG(status))
                 : NULL);
    add(root, "signal", killed ? json_object_new_int(WTERMSIG(status)) : NULL);
}

static void add_machine(struct json_object *root, const struct report *report)
{
    struct json_object *machine = json_object_new_object();
    add_text(machine, "host", trace__meta(report->trace, "host"));
    add_text(machine, "kernel", trace__meta(report->trace, "kernel"));
    add_text(machine, "processor", trace__meta(report->trace, "processor"));
    const char *cpus = trace__meta(report->trace, "cpus");
    add(machine, "cpus", cpus ? json_object_new_int(atoi(cpus)) : NULL);
    add(root, "machine", machine);
}

/* What the kernel's records tell is null without them; what they would have told apart is "rest".
 * All that is not null adds up to the lifetime. */
static struct json_object *new_components(const uint64_t ns[COMPONENTS], bool has_kernel)
{
    struct json_object *components = json_object_new_object();
    for (int c = 0; c < COMPONENTS; c++) {
        bool of_kernel =
            c == COMPONENT_RUNNING || c == COMPONENT_RUNNABLE || c == COMPONENT_PAGE_FAULT;
        bool known = has_kernel || !of_kernel || (c != COMPONENT_RUNNING && ns[c]);
        add_known(components, component__key((enum component)c), known ? ns[c] : UINT64_MAX);
    }
    add_known(components, "rest", has_kernel ? UINT64_MAX : ns[COMPONENT_RUNNING]);
    return components;
}

static void add_thread_time(struct json_object *root, const struct report *report)
{
    struct json_object *time = json_object_new_object();
    uint64_t sums[COMPONENTS];
    report__component_ns(report, sums);
    add_number(time, "threads", report->profile->threads.count);
    add_share(time, "work", report__work(report));
    add_number(time, "lifetime_ns", report->profile->lifetime_sum_ns);
    add(time, "components_ns", new_components(sums, report__without_kernel(report) == 0));
    add(root, "thread_time", time);
}

static void add_kernel(struct json_object *root, const struct report *report)
{
    struct json_object *kernel = json_object_new_object();
    char *why = report__why_no_kernel(report);
    add(kernel, "records", json_object_new_boolean(!why && report->profile->threads.count));
    add_number(kernel, "threads_without", report__without_kernel(report));
    add_number(kernel, "lost", report__kernel_lost(report));
    add_text(kernel, "why", why);
    add_text(kernel, "tracepoints", trace__meta(report->trace, "tracepoints"));
    add(root, "kernel", kernel);
    free(why);
}

static void add_audit(struct json_object *root, const struct report *report)
{
    const struct profile_audit *audit = &report->profile->audit;
    struct json_object *object = json_object_new_object();
    add(object, "holds", json_object_new_boolean(report__adds_up(report)));
    add_number(object, "classes", audit->classes);
    add_number(object, "excess_ticks", audit->excess);
    add_number(object, "wrong_components", audit->wrong_components);
    add_number(object, "wrong_reasons", audit->wrong_reasons);
    add_number(object, "wrong_threads", audit->wrong_threads);
    add_number(object, "covered_ticks", audit->covered);
    add_number(object, "exclusive_sum_ticks", audit->own_sum);
    add_number(object, "exclusive_least_ticks", audit->own_least);
    add_number(object, "exclusive_excess_ticks", audit->own_excess);
    add_number(object, "sampled_classes", audit->sampled_classes);
    add(root, "audit", object);
}

static void add_threads(struct json_object *root, const struct report *report)
{
    const struct vec *threads = trace__threads(report->trace);
    struct json_object *list = json_object_new_array();
    VEC_EACH(row, &report->profile->threads, struct profile_thread)
    {
        if (row->thread >= threads->count)
            continue;
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, row->thread);
        struct json_object *entry = json_object_new_object();
        add_number(entry, "tid", thread->tid);
        add_text(entry, "name", thread->name);
        add_number(entry, "pid", thread->pid);
        add_number(entry, "lifetime_ns", row->lifetime_ns);
        add_known(entry, "cpu_ns", row->cpu_ns);
        add_known(entry, "runnable_ns", row->runnable_ns);
        add(entry, "components_ns", new_components(row->component_ns, row->has_kernel));
        add_known(entry, "kernel_lost", row->has_kernel ? row->kernel_lost : UINT64_MAX);
        add_number(entry, "events", row->events);
        add(entry, "ended", json_object_new_boolean(thread->ended));
        json_object_array_add(list, entry);
    }
    add(root, "threads", list);
}

static void add_coverage(struct json_object *root, const struct report *report)
{
    struct coverage coverage = coverage__collect(report);
    struct json_object *object = json_object_new_object();
    struct json_object *refused = json_object_new_array();
    add_number(object, "requested", coverage.instrumented.count + coverage.refused.count);
    add_number(object, "instrumented", coverage.instrumented.count);
    add_number(object, "markers", coverage.markers);
    add_number(object, "events_lost", trace__events_lost(report->trace));
    add_text(object, "choice", trace__meta(report->trace, "choice"));
    VEC_EACH(row, &coverage.refused, struct coverage_row)
    {
        struct json_object *entry = json_object_new_object();
        add_text(entry, "function", row->function);
        add_text(entry, "module", row->module);
        add_text(entry, "reason", row->reason);
        json_object_array_add(refused, entry);
    }
    add(object, "refused", refused);
    struct json_object *functions = json_object_new_array();
    VEC_EACH(row, &coverage.instrumented, struct coverage_row)
    {
        struct json_object *entry = json_object_new_object();
        add_text(entry, "function", row->function);
        add_text(entry, "module", row->module);
        json_object_array_add(functions, entry);
    }
    add(object, "functions", functions);
    add(root, "coverage", object);
    coverage__free(&coverage);
}

static void add_warnings(struct json_object *root, const struct report *report)
{
    struct json_object *list = json_object_new_array();
    struct vec warnings = report__warnings(report);
    VEC_EACH(warning, &warnings, char *)
    json_object_array_add(list, new_text(*warning));
    add(root, "warnings", list);
    texts__free(&warnings);
}

static void add_run(struct json_object *root, const struct report *report)
{
    const struct profile *profile = report->profile;
    add_text(root, "schema", "heurt.report/1");
    add_command(root, report);
    add_exit(root, report);
    add_number(root, "wall_ns", profile->wall_ns);
    add_number(root, "lifetime_ns", profile->lifetime_sum_ns);
    size_t unknown;
    uint64_t cpu_ns = report__cpu_ns(report, &unknown);
    add_known(root, "cpu_ns", unknown ? UINT64_MAX : cpu_ns);
    add_share(root, "threshold", profile->threshold);
    add_number(root, "events", profile->events);
    add(root, "aggregated", json_object_new_boolean(trace__is_aggregated(report->trace)));
    add_machine(root, report);
    struct json_object *overhead = json_object_new_object();
    add_number(overhead, "events", profile->events);
    add_known(overhead, "estimated_ns", profile->overhead_ns ? profile->overhead_ns : UINT64_MAX);
    add(root, "overhead", overhead);
    add_kernel(root, report);
    add_audit(root, report);
    add_coverage(root, report);
    add_warnings(root, report);
    add_thread_time(root, report);
    add_threads(root, report);
}

static void put_document(const struct report *report, size_t only_rank, FILE *out)
{
    struct json_object *root = json_object_new_object();
    struct json_object *classes = json_object_new_array();
    size_t rank = 0;
    add_run(root, report);
    VEC_EACH(class, &report->profile->classes, struct profile_class)
    {
        rank++;
        if (only_rank == EVERY_CLASS || only_rank == rank)
            json_object_array_add(classes, new_class(report, class, rank));
    }
    add(root, "classes", classes);
    fputs(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                   JSON_C_TO_STRING_NOSLASHESCAPE),
          out);
    fputc('\n', out);
    json_object_put(root);
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
