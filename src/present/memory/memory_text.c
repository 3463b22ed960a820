/* The memory that threads use, on a screen. */
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "format/sampled_lines.h"
#include "present/memory/answered_words.h"
#include "present/memory/counted_words.h"
#include "present/memory/memory_parts.h"
#include "present/report/report_parts.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MOST 20u  /* on a screen */
#define ACCESSES_MOST 30u /* likewise */
#define SHARE_LEAST 0.005 /* of the time at memory: less is not shown */

/* ---- names ----------------------------------------------------------------------------------- */

const char *memory_kind__name(unsigned kind)
{
    static const char *const names[] = {
        [MEMORY_HEAP] = "heap",   [MEMORY_MAPPED] = "mapping",       [MEMORY_STATIC] = "static",
        [MEMORY_STACK] = "stack", [MEMORY_SHARED] = "shared memory", [MEMORY_OTHER] = "memory",
    };
    return kind < MEMORY_KINDS ? names[kind] : "memory";
}

static struct line_access first_access(const struct memory_object *object)
{
    return object->accesses.count
               ? *VEC_AT(&object->accesses, struct line_access, 0)
               : counted_row__access(VEC_AT(&object->counted.rows, struct counted_row, 0));
}

/* "1,204 objects, the first " in front of what one of them is. */
static char *of_several(const struct memory_object *object, char *one)
{
    char number[32];
    if (object->objects < 2)
        return one;
    char *text =
        memory__format("%s objects such as %s", count__format(object->objects, number), one);
    free(one);
    return text;
}

static char *title_of_stack(const struct report *report, const struct memory_object *object)
{
    struct line_access first = first_access(object);
    if (object->threads.count > 1) {
        char *data = access__data(report, object->process, &object->accesses, &first);
        char *text = memory__format("a line of a stack: %s", data);
        free(data);
        return text;
    }
    char *thread = access_thread__text(report, first.thread);
    char *text = memory__format("stack of %s", thread);
    free(thread);
    return text;
}

/* A variable by its root: its fields are told apart below it. */
static char *title_of_variable(const struct report *report, const struct memory_object *object)
{
    const struct trace_process *process = trace__process_at(report->trace, object->process);
    const struct symbol *variable =
        symbols__variable(report->symbols, process->serial, object->address);
    char *root = memory__format("%.*s", (int)symbol__variable_bytes(object->name), object->name);
    char *source =
        variable
            ? place__source(&(struct place){.file = variable->file, .line = variable->line}, false)
            : memory__text("");
    char *text = memory__format("%s%s%s", root, *source ? ", declared at " : "", source);
    free(root);
    free(source);
    return text;
}

static char *title_without_name(const struct report *report, const struct memory_object *object)
{
    const struct trace_process *process = trace__process_at(report->trace, object->process);
    const struct trace_module *module = process__module_of(process, object->address);
    if (module)
        return memory__format("data of %s", path__name(module->path));
    return object->kind == MEMORY_OTHER ? memory__text("memory whose allocation was not told")
                                        : memory__text(memory_kind__name(object->kind));
}

char *memory_object__title(const struct report *report, const struct memory_object *object)
{
    if (object->name)
        return title_of_variable(report, object);
    if (object->kind == MEMORY_STACK)
        return title_of_stack(report, object);
    struct line_access first = first_access(object);
    char *title = access__object(report, object->process, &object->accesses, &first);
    return title ? of_several(object, title) : title_without_name(report, object);
}

bool memory_object__is(const struct report *report, const struct memory_object *object, size_t rank,
                       const char *pattern)
{
    char *end;
    unsigned long number = strtoul(pattern, &end, 10);
    if (*pattern && !*end)
        return number == rank;
    char *title = memory_object__title(report, object);
    char *glob = memory__format("*%s*", pattern);
    bool is_it = fnmatch(glob, title, 0) == 0;
    free(title);
    free(glob);
    return is_it;
}

/* ---- what was seen --------------------------------------------------------------------------- */

static void put_seen(const struct memory_report *shown, const struct style *style, FILE *out)
{
    const struct memory_use *use = shown->use;
    char samples[32], period[16], at[16], unknown[16], allocations[32];
    double all = use->all_ns ? (double)use->all_ns : 1;
    char *told = use->tells_allocations
                     ? memory__format("%s allocations are told",
                                      count__format(use->allocations, allocations))
                     : memory__text("allocations were not told (heurt record --no-memory)");
    paragraph__take(
        style, out, "  Seen: ",
        memory__format("%s samples of code%s, at most one each %s of a thread's CPU time; in %s of "
                       "them threads were at memory whose address is known, in %s at an address "
                       "that is not; %s.",
                       count__format(use->samples, samples),
                       use->is_timed ? " by timers of its threads" : "",
                       duration__format(use->period_ns, period),
                       share__format((double)use->memory_ns / all, at),
                       share__format((double)use->unknown_ns / all, unknown), told));
    free(told);
    if (!use->told_by)
        return;
    char *answered = answered__text(&use->answered);
    paragraph__take(style, out, "  ",
                    memory__format("Accesses are told by the processor (%s), their time is the "
                                   "CPU clock's. What answered them: %s.",
                                   use->told_by, answered ? answered : "not told"));
    free(answered);
}

static void put_own_allocator(const struct memory_report *shown, const struct style *style,
                              FILE *out)
{
    const struct memory_use *use = shown->use;
    char share[16], count[32];
    if (!use->may_allocate_itself)
        return;
    paragraph__take(
        style, out, "  ",
        memory__format(
            "This program may have an allocator of its own: %s of the time at memory was "
            "in memory that none of the %s calls of malloc, new and mmap gave. "
            "heurt_object() (heurt.h) names what lies there.",
            share__format((double)use->untold_ns / (double)use->memory_ns, share),
            count__format(use->allocations, count)));
}

/* ---- all objects ----------------------------------------------------------------------------- */

char *memory_object__verdict(const struct memory_report *shown, const struct memory_object *object)
{
    char lost[16];
    bool written = false;
    VEC_EACH (thread, &object->threads, struct memory_thread)
        written |= thread->written_ns > 0;
    if (object->lost_ns)
        VEC_EACH (sharing, &shown->use->sharings->rows, const struct sharing)
            if (sharing->process == object->process)
                VEC_EACH (access, &object->accesses, struct line_access)
                    if (access->address == sharing->victim.address)
                        return memory__format("%s, ~%s lost",
                                              sharing->is_spun    ? "spinning"
                                              : sharing->is_false ? "false sharing"
                                                                  : "true sharing",
                                              duration__format(object->lost_ns, lost));
    if (object->threads.count < 2)
        return memory__text("");
    return memory__text(!written            ? "only read"
                        : object->shared_ns ? "lines shared, some written"
                                            : "no line shared");
}

static void put_object(const struct memory_report *shown, const struct memory_object *object,
                       size_t number, struct grid *grid)
{
    uint64_t read_ns = 0, written_ns = 0;
    VEC_EACH (thread, &object->threads, struct memory_thread) {
        read_ns += thread->read_ns;
        written_ns += thread->written_ns;
    }
    double all = shown->use->all_ns ? (double)shown->use->all_ns : 1;
    grid__cell(grid, memory__format("%zu", number), INK_PLAIN);
    grid__duration(grid, object->ns);
    grid__share(grid, (double)object->ns / all);
    grid__share(grid,
                (double)written_ns / (double)(read_ns + written_ns ? read_ns + written_ns : 1));
    grid__count(grid, object->threads.count);
    grid__take(grid, memory__text(memory_kind__name(object->kind)), INK_PLAIN);
    grid__take(grid, memory_object__verdict(shown, object), INK_PLAIN);
    char *title = memory_object__title(shown->report, object);
    grid__below(grid, text__for_screen(title));
    free(title);
    char *answered = answered__text(&object->answered);
    if (answered)
        grid__below(grid, memory__format("Answered by %s.", answered));
    free(answered);
}

static void put_objects(const struct memory_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"", RIGHT},        {"time", RIGHT},  {"share", RIGHT}, {"writing", RIGHT},
        {"threads", RIGHT}, {"memory", LEFT}, {"", LEFT}};
    struct grid grid = grid__start(columns, 7, 2);
    size_t number = 0, left = 0;
    uint64_t left_ns = 0;
    char count[32], time[16];
    VEC_EACH (object, &shown->use->objects, const struct memory_object) {
        bool is_small = (double)object->ns < SHARE_LEAST * (double)shown->use->memory_ns;
        if (!shown->all && (number >= OBJECTS_MOST || is_small)) {
            left++;
            left_ns += object->ns;
            continue;
        }
        put_object(shown, object, ++number, &grid);
    }
    grid__end(&grid, style, out);
    if (left)
        paragraph__take(style, out, "  ",
                        memory__format("And %s more, %s in all: --all shows them.",
                                       count__format(left, count),
                                       duration__format(left_ns, time)));
}

/* ---- one object ------------------------------------------------------------------------------ */

/* "+0x40" of its object's beginning, else the address. */
static char *line_text(const struct line_access *access)
{
    uint64_t line = access->address & ~(uint64_t)(CACHE_LINE_BYTES - 1);
    uint64_t start =
        access->object ? access->object->address & ~(uint64_t)(CACHE_LINE_BYTES - 1) : 0;
    return access->object ? memory__format("line %" PRIu64, (line - start) / CACHE_LINE_BYTES)
                          : memory__format("0x%" PRIx64, line);
}

/* What threads do at one place of their code to the same data: several instructions. */
struct access_row {
    const struct line_access *first;
    uint64_t ns, instructions;
};

static int by_row_time(const void *a, const void *b)
{
    const struct access_row *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->first->address, right->first->address)
               ?: ORDER(left->first->thread, right->first->thread);
}

/* What makes accesses one row: the same data on the same cache line, from the same line of the
 * source by the same thread, in the same way. Without a line each instruction is a place of its
 * own. */
static char *row_key(const struct memory_report *shown, const struct memory_object *object,
                     const struct line_access *access)
{
    char unknown[32];
    uint32_t serial = trace__process_at(shown->report->trace, object->process)->serial;
    struct place place = place__of_site(shown->report, serial, access->instruction, unknown);
    char *data = access__data(shown->report, object->process, &object->accesses, access);
    char *key =
        memory__format("%" PRIx64 " %" PRIu32 " %u %" PRIu32 " %s %" PRIx64 " %s",
                       access->address / CACHE_LINE_BYTES, access->thread, (unsigned)access->access,
                       place.line, place.function, place.line ? 0 : access->instruction, data);
    free(data);
    return key;
}

/* Those of most time first. */
static struct vec access_rows(const struct memory_report *shown, const struct memory_object *object)
{
    struct vec rows = VEC_OF(struct access_row);
    struct map row_of = {0}, known = {0};
    VEC_EACH (access, &object->accesses, const struct line_access) {
        char *key = row_key(shown, object, access);
        uint64_t at = map__put(&row_of, key, strlen(key), rows.count);
        free(key);
        if (at == rows.count)
            vec__push(&rows, &(struct access_row){access, 0, 0});
        struct access_row *row = VEC_AT(&rows, struct access_row, at);
        const uint64_t instruction[] = {at, access->instruction};
        size_t before = known.count;
        map__put(&known, instruction, sizeof instruction, 1);
        row->instructions += known.count > before;
        row->ns += access->sampled_ns;
    }
    map__free(&known);
    map__free(&row_of);
    vec__sort(&rows, by_row_time);
    return rows;
}

static void put_access(const struct memory_report *shown, const struct memory_object *object,
                       const struct access_row *row, struct grid *grid)
{
    static const char *const does[] = {
        [HEURT_ACCESS_NONE] = "",
        [HEURT_ACCESS_READ] = "reads",
        [HEURT_ACCESS_WRITE] = "writes",
        [HEURT_ACCESS_UPDATE] = "updates",
        [HEURT_ACCESS_ATOMIC] = "updates (atomic)",
        [HEURT_ACCESS_SPIN] = "spins",
        [HEURT_ACCESS_TAKE] = "takes",
    };
    char unknown[32];
    const struct line_access *access = row->first;
    uint32_t serial = trace__process_at(shown->report->trace, object->process)->serial;
    struct place place = place__of_site(shown->report, serial, access->instruction, unknown);
    grid__duration(grid, row->ns);
    grid__take(grid, line_text(access), INK_PLAIN);
    grid__cell(grid, memory__format("%" PRIu64, access->address % CACHE_LINE_BYTES), INK_PLAIN);
    grid__take(grid, access_thread__text(shown->report, access->thread), INK_PLAIN);
    grid__take(grid, memory__text(does[access->access <= HEURT_ACCESS_TAKE ? access->access : 0]),
               INK_PLAIN);
    char *data = access__data(shown->report, object->process, &object->accesses, access),
         *where = place__text(&place);
    char several[40] = "";
    if (row->instructions > 1)
        snprintf(several, sizeof several, " (%" PRIu64 " instructions)", row->instructions);
    grid__take(grid, memory__format("%s in %s%s", data, where, several), INK_PLAIN);
    free(data);
    free(where);
}

static void put_accesses(const struct memory_report *shown, const struct memory_object *object,
                         const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"time", RIGHT},  {"line", LEFT}, {"byte", RIGHT},
                                                 {"thread", LEFT}, {"does", LEFT}, {"", LEFT}};
    struct grid grid = grid__start(columns, 6, 2);
    struct vec rows = access_rows(shown, object);
    size_t number = 0, count = rows.count;
    char more[32];
    VEC_EACH (row, &rows, const struct access_row)
        if (shown->all || number < ACCESSES_MOST) {
            put_access(shown, object, row, &grid);
            number++;
        }
    vec__free(&rows);
    grid__end(&grid, style, out);
    if (number < count)
        paragraph__take(
            style, out, "  ",
            memory__format("And %s more: --all shows them.", count__format(count - number, more)));
}

void memory_object__put_head(const struct memory_report *shown, const struct style *style,
                             FILE *out)
{
    const struct memory_object *object =
        VEC_AT(&shown->use->objects, struct memory_object, shown->rank - 1);
    char time[16], share[16];
    char *title = memory_object__title(shown->report, object),
         *verdict = memory_object__verdict(shown, object);
    paragraph__take(
        style, out, "  ",
        memory__format("%s: %s, %s of all time on a CPU%s%s.", title,
                       duration__format(object->ns, time),
                       share__format((double)object->ns / (double)shown->use->all_ns, share),
                       *verdict ? "; " : "", verdict));
    free(title);
    free(verdict);
    char *answered = answered__text(&object->answered);
    if (answered)
        paragraph__take(style, out, "  ", memory__format("Answered by %s.", answered));
    free(answered);
}

static void put_one(const struct memory_report *shown, const struct style *style, FILE *out)
{
    memory_object__put_head(shown, style, out);
    fputc('\n', out);
    put_accesses(shown, VEC_AT(&shown->use->objects, struct memory_object, shown->rank - 1), style,
                 out);
    char *rest = memory__format("%zu --lines", shown->rank);
    paragraph__take(style, out, "  More: ", report__hint(shown->report, "memory", rest));
    free(rest);
}

/* ---- the screen ------------------------------------------------------------------------------ */

static void (*const views[])(const struct memory_report *, const struct style *, FILE *) = {
    [MEMORY_LINES] = memory_lines__put,
    [MEMORY_PAGES] = memory_pages__put,
    [MEMORY_FLOW] = memory_flow__put,
};

static void put(const struct memory_report *shown, const struct style *style, FILE *out)
{
    text__head(shown->report, style, out);
    fputc('\n', out);
    if (shown->oracle) {
        oracle_text__put(shown, style, out);
        return;
    }
    if (shown->use && shown->use->counted.is_told) {
        counted_text__put(shown, style, out);
        return;
    }
    if (!shown->use || !shown->use->samples) {
        char *nothing = report__why_nothing(shown->report);
        paragraph__take(style, out, "  ",
                        nothing ? nothing
                                : memory__text("No samples: which memory threads use was not "
                                               "looked at (heurt record takes samples unless "
                                               "functions are asked for or the kernel refuses "
                                               "them)."));
        return;
    }
    if (shown->view != MEMORY_OBJECTS) {
        views[shown->view](shown, style, out);
        return;
    }
    if (shown->rank) {
        put_one(shown, style, out);
        return;
    }
    put_seen(shown, style, out);
    put_own_allocator(shown, style, out);
    if (!shown->use->objects.count)
        return;
    fputc('\n', out);
    put_objects(shown, style, out);
    char *hint = report__hint(shown->report, "memory", "1");
    paragraph__take(style, out, "  More: ", hint);
}

const struct memory_presenter memory_text = {"text", put};
