/* export_chrome.c: Chrome's trace events (JSON), for chrome://tracing and whatever else reads them.
 *
 * Readers of this format hold all of it in memory, many times its length: after SPANS_MOST spans
 * no more begin, which is said, and those that are open get their ends. */
#include "base/memory.h"
#include "base/text.h"
#include "present/export/span_exporters.h"
#include "present/screen/fields.h"

#include <inttypes.h>
#include <stdlib.h>

#define SPANS_MOST 1000000u

struct chrome_thread {
    char *ids;        /* "pid":1,"tid":2 */
    uint32_t skipped; /* open spans that are not told of */
};

struct chrome {
    struct chrome_thread *threads;
    uint64_t spans, skipped, flows;
    uint64_t full_ns; /* when SPANS_MOST had begun */
    bool has_event;
};

/* ---- pieces ---------------------------------------------------------------------------------- */

/* In us. */
static void put_time(FILE *out, const char *key, uint64_t ns)
{
    const char digits[] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
                           (char)('0' + ns % 10), 0};
    text__put(out, key);
    text__put_number(out, ns / 1000);
    text__put(out, digits);
}

static void begin_event(struct span_export *export, const char *phase, uint32_t thread, uint64_t ns)
{
    struct chrome *chrome = export->own;
    text__put(export->out, chrome->has_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    text__put(export->out, phase);
    text__put(export->out, "\",");
    text__put(export->out, chrome->threads[thread].ids);
    put_time(export->out, ",\"ts\":", ns);
    chrome->has_event = true;
}

static void put_text(FILE *out, const char *key, const char *text)
{
    text__put(out, key);
    text__put_json(out, text);
}

static void end_event(struct span_export *export)
{
    text__put(export->out, "}");
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void put_place(FILE *out, const struct span_place *place, const char **between)
{
    char *text = place->file && place->line ? memory__format("%s:%u", place->file, place->line)
                                            : memory__text(place->module ? place->module : "");
    text__put(out, *between);
    put_text(out, "\"function\":", place->function);
    put_text(out, ",\"at\":", text);
    *between = ",";
    free(text);
}

static void put_arguments(FILE *out, const struct span_enter *enter)
{
    const char *between = "";
    text__put(out, ",\"args\":{");
    if (enter->label->place)
        put_place(out, enter->label->place, &between);
    if (enter->object) {
        char *text = memory__format("%s %s", enter->object->noun, enter->object->name);
        text__put(out, between);
        put_text(out, "\"object\":", text);
        between = ",";
        free(text);
    }
    for (uint32_t i = 0; i < enter->value_count && enter->label->arguments[i]; i++) {
        text__put(out, between);
        text__put_json(out, enter->label->arguments[i]);
        fprintf(out, ":%" PRId64, (int64_t)enter->values[i]);
        between = ",";
    }
    text__put(out, "}");
}

static void put_begin(struct span_export *export, const char *phase, uint32_t thread,
                      const struct span_enter *enter)
{
    begin_event(export, phase, thread, enter->ns);
    put_text(export->out, ",\"name\":", enter->label->name);
    put_text(export->out, ",\"cat\":", span_label__category(enter->label));
    put_arguments(export->out, enter);
    end_event(export);
}

static void enter(struct span_export *export, uint32_t thread, const struct span_enter *enter)
{
    struct chrome *chrome = export->own;
    if (chrome->spans >= SPANS_MOST) {
        chrome->full_ns = chrome->skipped++ ? chrome->full_ns : enter->ns;
        chrome->threads[thread].skipped++;
        return;
    }
    chrome->spans++;
    put_begin(export, "B", thread, enter);
}

static void point(struct span_export *export, uint32_t thread, const struct span_enter *point)
{
    struct chrome *chrome = export->own;
    if (chrome->spans < SPANS_MOST)
        put_begin(export, "i\",\"s\":\"t", thread, point);
}

static void put_flow(struct span_export *export, const char *phase, uint32_t thread, uint64_t ns)
{
    struct chrome *chrome = export->own;
    begin_event(export, phase, thread, ns);
    text__put(export->out, ",\"name\":\"lets another thread go on\",\"cat\":\"flow\",\"id\":");
    text__put_number(export->out, chrome->flows);
    end_event(export);
}

static void put_cause(struct span_export *export, uint32_t thread, const struct span_leave *leave)
{
    ((struct chrome *)export->own)->flows++;
    put_flow(export, "s", leave->by, leave->by_ns);
    put_flow(export, "f\",\"bp\":\"e", thread,
             leave->ns > leave->from_ns ? leave->ns - 1 : leave->ns);
}

static void leave(struct span_export *export, uint32_t thread, const struct span_leave *leave)
{
    struct chrome *chrome = export->own;
    if (chrome->threads[thread].skipped) {
        chrome->threads[thread].skipped--;
        return;
    }
    if (leave->by != SPAN_BY_NOBODY)
        put_cause(export, thread, leave);
    begin_event(export, "E", thread, leave->ns);
    if (leave->by != SPAN_BY_NOBODY) {
        put_text(export->out, ",\"args\":{\"ended by\":", export->run->threads[leave->by].name);
        if (leave->by_place)
            put_text(export->out, ",\"who was in\":", leave->by_place->function);
        text__put(export->out, "}");
    }
    end_event(export);
}

/* Numbered apart from who lets whom go on. */
static void message(struct span_export *export, const struct span_message *message)
{
    struct chrome *chrome = export->own;
    if (chrome->skipped)
        return;
    begin_event(export, message->is_received ? "f\",\"bp\":\"e" : "s", message->thread,
                message->ns - (message->is_received && message->ns));
    text__put(export->out, ",\"name\":\"message\",\"cat\":\"message\",\"id\":\"m");
    text__put_number(export->out, message->number);
    text__put(export->out, "\",\"args\":{\"bytes\":");
    text__put_number(export->out, message->bytes);
    text__put(export->out, ",\"tag\":");
    text__put_number(export->out, message->tag);
    text__put(export->out, "}");
    end_event(export);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void count(struct span_export *export, uint64_t ns, enum span_counter counter, double value)
{
    struct chrome *chrome = export->own;
    if (chrome->skipped)
        return;
    text__put(export->out, chrome->has_event ? ",\n" : "\n");
    fprintf(export->out, "{\"ph\":\"C\",\"pid\":%u,\"ts\":%.3f,\"name\":",
            export->run->process_count ? export->run->processes[0].pid : 0, (double)ns / 1000);
    text__put_json(export->out, span_counter__name(counter));
    fprintf(export->out, ",\"args\":{\"threads\":%.3f}}", value);
    chrome->has_event = true;
}

static void put_meta(struct span_export *export, const char *ids, const char *what,
                     const char *name)
{
    struct chrome *chrome = export->own;
    text__put(export->out, chrome->has_event ? ",\n{\"ph\":\"M\"," : "\n{\"ph\":\"M\",");
    text__put(export->out, ids);
    put_text(export->out, ",\"name\":", what);
    put_text(export->out, ",\"args\":{\"name\":", name);
    text__put(export->out, "}}");
    chrome->has_event = true;
}

static void begin(struct span_export *export)
{
    const struct span_run *run = export->run;
    struct chrome *chrome = export->own = memory__zeroed(1, sizeof *chrome);
    chrome->threads = memory__zeroed(run->thread_count + 1, sizeof *chrome->threads);
    put_text(export->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"command\":", run->command);
    text__put(export->out, "},\"traceEvents\":[");
    for (uint32_t i = 0; i < run->process_count; i++) {
        char *ids = memory__format("\"pid\":%u", run->processes[i].pid);
        put_meta(export, ids, "process_name", path__name(run->processes[i].path));
        free(ids);
    }
    for (uint32_t i = 0; i < run->thread_count; i++) {
        chrome->threads[i].ids =
            memory__format("\"pid\":%u,\"tid\":%u", run->processes[run->threads[i].process].pid,
                           run->threads[i].tid);
        put_meta(export, chrome->threads[i].ids, "thread_name", run->threads[i].name);
    }
}

static void finish(struct span_export *export)
{
    struct chrome *chrome = export->own;
    text__put(export->out, "]}\n");
    if (chrome->skipped) {
        char *sentence = memory__format(
            "%" PRIu64 " of %" PRIu64
            " spans are left out, all that began after %.6f s: readers of "
            "this format take no more; --perfetto has all, --from and --to choose a time",
            chrome->skipped, chrome->skipped + chrome->spans, (double)chrome->full_ns / 1e9);
        vec__push(export->remarks, &sentence);
    }
    for (uint32_t i = 0; i < export->run->thread_count; i++)
        free(chrome->threads[i].ids);
    free(chrome->threads);
    free(chrome);
}

const struct span_exporter exporter_chrome = {.name = "chrome",
                                              .order = SPANS_IN_TIME,
                                              .begin = begin,
                                              .enter = enter,
                                              .leave = leave,
                                              .point = point,
                                              .message = message,
                                              .count = count,
                                              .finish = finish};
