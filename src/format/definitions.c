/* definitions.c: the tables that a trace's definitions make. */
#include "base/map.h"
#include "base/memory.h"
#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

/* Copies of inherited tables are bounded: a file made to harm could multiply them. */
#define INHERITED_MAX (1u << 20)

/* Likewise what definitions may be unpacked to, in bytes. */
#define UNPACKED_MOST(trace) ((trace)->size * PACKED_RATIO_MAX)

/* What is left to read of one definition. */
struct definition_body {
    const char *at, *end;
};

struct gone {
    uint32_t process; /* index */
    struct heurt_module_gone what;
};

struct name {
    uint32_t thread;
    const char *text;
};

/* While all definition chunks are read. */
struct reading {
    struct trace *trace;
    const struct heurt_chunk *chunk;
    struct trace_process *process; /* that the chunk is about */
    struct vec gones;              /* struct gone */
    size_t unpacked;               /* words from packed chunks so far */
};

/* ---- pieces of a definition ------------------------------------------------------------------ */

static bool take(struct definition_body *body, void *into, size_t bytes)
{
    if ((size_t)(body->end - body->at) < bytes)
        return false;
    memcpy(into, body->at, bytes);
    body->at += bytes;
    return true;
}

/* A text with its terminator, or NULL. */
static const char *take_text(struct definition_body *body)
{
    const char *text = body->at;
    const char *end = memchr(text, 0, (size_t)(body->end - text));
    if (!end)
        return NULL;
    body->at = end + 1;
    return text;
}

/* A text of at most bytes that may lack its terminator. */
static const char *own_text(struct trace *trace, const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes);
    char *copy = memory__zeroed(length + 1, 1);
    memcpy(copy, text, length);
    vec__push(&trace->owned, &copy);
    return copy;
}

/* A program that was started by another name of its file is called by that name. */
static const char *path_as_started(const struct trace *trace, const char *path)
{
    const char *file = trace__meta(trace, "program_file");
    const char *name = file && strcmp(file, path) == 0 ? trace__meta(trace, "program_name") : NULL;
    return name ? name : path;
}

/* ---- one reader for each type; false: damaged ------------------------------------------------ */

static bool read_meta(struct reading *reading, struct definition_body body)
{
    struct trace_meta meta = {.key = take_text(&body)};
    meta.value = meta.key ? take_text(&body) : NULL;
    if (meta.value)
        vec__push(&reading->trace->metas, &meta);
    return meta.value;
}

static bool read_process(struct reading *reading, struct definition_body body)
{
    struct heurt_process what;
    if (!take(&body, &what, sizeof what))
        return false;
    const char *path = take_text(&body);
    struct trace_process *process = reading->process;
    process->pid = what.pid;
    process->parent_pid = what.parent_pid;
    /* Numbers are given in the order of beginnings; whoever goes from parent to parent comes to an
     * end, in a damaged trace, too. */
    process->parent_serial =
        what.parent_process < process->serial ? what.parent_process : HEURT_NO_SERIAL;
    process->tick = what.tick;
    process->event_ticks = what.event_ticks;
    process->left_out_ticks = what.left_out_ticks;
    process->off_cpu_ticks = what.off_cpu_ticks;
    process->fault_ticks = what.fault_ticks;
    if (path)
        process->path = path_as_started(reading->trace, path);
    return path;
}

static bool read_costs(struct reading *reading, struct definition_body body)
{
    struct heurt_process_costs costs;
    if (!take(&body, &costs, sizeof costs))
        return false;
    reading->process->begin_cost_ns = costs.begin_ns;
    reading->process->thread_cost_ns = costs.thread_ns;
    return true;
}

static bool read_module(struct reading *reading, struct definition_body body)
{
    struct heurt_module what;
    const char *build_id = body.at + offsetof(struct heurt_module, build_id);
    if (!take(&body, &what, sizeof what) || what.build_id_bytes > HEURT_BUILD_ID_MAX)
        return false;
    const char *path = take_text(&body);
    if (!path)
        return false;
    struct trace_module module = {
        .tick = what.tick,
        .gone_tick = UINT64_MAX,
        .bias = what.bias,
        .start = what.start,
        .end = what.end,
        .build_id = (const uint8_t *)build_id,
        .build_id_bytes = what.build_id_bytes,
        .path = path_as_started(reading->trace, path),
        .order = reading->process->modules.count,
    };
    vec__push(&reading->process->modules, &module);
    return true;
}

static bool read_module_gone(struct reading *reading, struct definition_body body)
{
    const struct trace_process *first = reading->trace->processes.items;
    struct gone gone = {.process = (uint32_t)(reading->process - first)};
    if (!take(&body, &gone.what, sizeof gone.what))
        return false;
    vec__push(&reading->gones, &gone);
    return true;
}

static bool read_function(struct reading *reading, struct definition_body body)
{
    struct heurt_function what;
    if (!take(&body, &what, sizeof what))
        return false;
    struct trace_function function = {
        .id = what.id,
        .kind = what.kind,
        .address = what.address,
        .line = what.line,
        .flags = what.flags,
        .argument_count = what.argument_count,
        .bias_ticks = what.bias_ticks,
        .cost_ticks = what.cost_ticks,
        .order = reading->process->functions.count,
    };
    function.name = take_text(&body);
    function.file = function.name ? take_text(&body) : NULL;
    function.argument_names = function.file ? take_text(&body) : NULL;
    if (!function.argument_names || what.id < HEURT_EVENT_FUNCTIONS ||
        what.id > HEURT_FUNCTION_LAST || what.id % 2 || what.argument_count > HEURT_ARGUMENTS_MAX ||
        what.kind < HEURT_FUNCTION_PATCHED || what.kind > HEURT_FUNCTION_LOOP)
        return false;
    vec__push(&reading->process->functions, &function);
    return true;
}

static bool read_refusal(struct reading *reading, struct definition_body body)
{
    struct trace_refusal refusal = {.function = take_text(&body)};
    refusal.module = refusal.function ? take_text(&body) : NULL;
    refusal.reason = refusal.module ? take_text(&body) : NULL;
    if (refusal.reason)
        vec__push(&reading->process->refusals, &refusal);
    return refusal.reason;
}

static bool read_note(struct reading *reading, struct definition_body body)
{
    const char *note = own_text(reading->trace, body.at, (size_t)(body.end - body.at));
    vec__push(&reading->process->notes, &note);
    return true;
}

static bool read_thread_name(struct reading *reading, struct definition_body body)
{
    struct heurt_thread_name what;
    if (!take(&body, &what, sizeof what))
        return false;
    struct trace_thread *thread = trace__thread(reading->trace, what.thread);
    if (thread) /* one without a chunk has no events to name */
        thread->name = own_text(reading->trace, what.name, sizeof what.name);
    return true;
}

static bool read_live(struct reading *reading, struct definition_body body)
{
    struct heurt_live what;
    if (!take(&body, &what, sizeof what))
        return false;
    vec__push(&reading->process->lives, &what);
    return true;
}

static bool read_object(struct reading *reading, struct definition_body body)
{
    struct heurt_object_name what;
    if (!take(&body, &what, sizeof what))
        return false;
    struct trace_object object = {what.tick, what.address, take_text(&body)};
    if (object.name)
        vec__push(&reading->process->objects, &object);
    return object.name;
}

/* Rows of one size: what is left of the body. */
static bool read_rows(struct vec *rows, struct definition_body body)
{
    size_t count = (size_t)(body.end - body.at) / rows->item_bytes;
    if (count)
        memcpy(vec__extend(rows, count), body.at, count * rows->item_bytes);
    return true;
}

static bool read_samples(struct reading *reading, struct definition_body body)
{
    return read_rows(&reading->trace->samples, body);
}

static bool read_placed(struct reading *reading, struct definition_body body)
{
    return read_rows(&reading->trace->placed, body);
}

static bool read_pages(struct reading *reading, struct definition_body body)
{
    return read_rows(&reading->trace->pages, body);
}

static bool read_answers(struct reading *reading, struct definition_body body)
{
    return read_rows(&reading->trace->answers, body);
}

static bool read_shared(struct reading *reading, struct definition_body body)
{
    return read_rows(&reading->trace->shared, body);
}

static bool read_clock(struct reading *reading, struct definition_body body)
{
    struct heurt_host_clock clock;
    if (!take(&body, &clock, sizeof clock))
        return false;
    vec__push(&reading->process->clocks, &clock);
    return true;
}

static bool read_mark(struct reading *reading, struct definition_body body)
{
    struct heurt_mark what;
    if (!take(&body, &what, sizeof what))
        return false;
    struct trace_mark mark = {what.tick, take_text(&body)};
    if (mark.text)
        vec__push(&reading->trace->marks, &mark);
    return mark.text;
}

static bool (*const readers[])(struct reading *, struct definition_body) = {
    [HEURT_DEFINITION_META] = read_meta,
    [HEURT_DEFINITION_PROCESS] = read_process,
    [HEURT_DEFINITION_MODULE] = read_module,
    [HEURT_DEFINITION_MODULE_GONE] = read_module_gone,
    [HEURT_DEFINITION_FUNCTION] = read_function,
    [HEURT_DEFINITION_REFUSAL] = read_refusal,
    [HEURT_DEFINITION_MARK] = read_mark,
    [HEURT_DEFINITION_NOTE] = read_note,
    [HEURT_DEFINITION_THREAD_NAME] = read_thread_name,
    [HEURT_DEFINITION_LIVE] = read_live,
    [HEURT_DEFINITION_OBJECT] = read_object,
    [HEURT_DEFINITION_SAMPLES] = read_samples,
    [HEURT_DEFINITION_COSTS] = read_costs,
    [HEURT_DEFINITION_PLACED] = read_placed,
    [HEURT_DEFINITION_PAGES] = read_pages,
    [HEURT_DEFINITION_ANSWERS] = read_answers,
    [HEURT_DEFINITION_CLOCK] = read_clock,
    [HEURT_DEFINITION_SHARED] = read_shared,
};

/* The words of a packed chunk's blocks, one after the other; a damaged one ends them. The memory is
 * the trace's, and bounded: a file made to harm could ask for very much. */
static struct definition_body unpack(struct reading *reading, const char *at, const char *end)
{
    struct trace *trace = reading->trace;
    struct block_unpacker *unpacker = trace__take_unpacker(trace);
    uint64_t *words = NULL;
    size_t count = 0, most = UNPACKED_MOST(trace) / sizeof *words;
    for (size_t length; (length = block__length(at, (size_t)(end - at))); at += length) {
        const struct heurt_packed_block *block = (const void *)at;
        bool good = length != SIZE_MAX && reading->unpacked + block->words <= most;
        if (good) {
            words = memory__resize(words, count + block->words, sizeof *words);
            good = block_unpacker__unpack(unpacker, block, 0, words + count);
        }
        if (!good) {
            trace__mark_damaged(trace, reading->chunk);
            break;
        }
        count += block->words;
        reading->unpacked += block->words;
    }
    trace__give_unpacker(trace, unpacker);
    if (!words)
        return (struct definition_body){end, end};
    vec__push(&trace->owned, &words);
    return (struct definition_body){(const char *)words, (const char *)(words + count)};
}

static void read_chunk(struct reading *reading)
{
    struct definition_body chunk = {(const char *)(reading->chunk + 1),
                                    trace__chunk_end(reading->trace, reading->chunk)};
    if (trace__is_packed(reading->trace, reading->chunk))
        chunk = unpack(reading, chunk.at, chunk.end);
    struct heurt_definition definition;
    while ((size_t)(chunk.end - chunk.at) >= sizeof definition) {
        memcpy(&definition, chunk.at, sizeof definition);
        if (!definition.bytes)
            return;
        if (definition.bytes % 8 || definition.bytes < sizeof definition ||
            definition.bytes > (size_t)(chunk.end - chunk.at)) {
            trace__mark_damaged(reading->trace, reading->chunk);
            return;
        }
        struct definition_body body = {chunk.at + sizeof definition, chunk.at + definition.bytes};
        chunk.at += definition.bytes;
        /* A type that this version does not know is none of its business. */
        if (definition.type < sizeof readers / sizeof readers[0] && readers[definition.type] &&
            !readers[definition.type](reading, body))
            trace__mark_damaged(reading->trace, reading->chunk);
    }
}

/* ---- tables in order ------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct trace_module *x = a, *y = b;
    return ORDER(x->tick, y->tick) ?: ORDER(x->order, y->order);
}

static int by_id(const void *a, const void *b)
{
    const struct trace_function *x = a, *y = b;
    return ORDER(x->id, y->id) ?: ORDER(x->order, y->order);
}

static int by_sampling_time(const void *a, const void *b)
{
    const struct heurt_sample *x = a, *y = b;
    return ORDER(x->monotonic_ns, y->monotonic_ns);
}

/* Mostly they are in order already. */
static void sort_samples(struct trace *trace)
{
    const struct heurt_sample *samples = trace->samples.items;
    for (size_t i = 1; i < trace->samples.count; i++)
        if (samples[i].monotonic_ns < samples[i - 1].monotonic_ns) {
            qsort(trace->samples.items, trace->samples.count, sizeof *samples, by_sampling_time);
            return;
        }
}

static int by_mark_time(const void *a, const void *b)
{
    const struct trace_mark *x = a, *y = b;
    return ORDER(x->tick, y->tick) ?: ORDER(x->text, y->text);
}

static int by_placing_time(const void *a, const void *b)
{
    const struct heurt_placed *x = a, *y = b;
    return ORDER(x->monotonic_ns, y->monotonic_ns) ?: ORDER(x->tid, y->tid);
}

static int by_answer_time(const void *a, const void *b)
{
    const struct heurt_answer *x = a, *y = b;
    return ORDER(x->monotonic_ns, y->monotonic_ns) ?: ORDER(x->tid, y->tid);
}

static int by_page_time(const void *a, const void *b)
{
    const struct heurt_page *x = a, *y = b;
    return ORDER(x->monotonic_ns, y->monotonic_ns);
}

static int by_process_and_time(const void *a, const void *b)
{
    const struct gone *x = a, *y = b;
    return ORDER(x->process, y->process) ?: ORDER(x->what.tick, y->what.tick);
}

/* Modules and their ends, both by time: the end of a mapping is that of the module that was
 * mapped last at its start. */
static void end_modules(struct trace_process *process, const struct gone *gones, size_t count)
{
    struct map places = {0};            /* start → index into latest */
    struct vec latest = VEC_OF(size_t); /* index of the module */
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        for (; seen < process->modules.count; seen++) {
            struct trace_module *module = VEC_AT(&process->modules, struct trace_module, seen);
            if (module->tick > gones[i].what.tick)
                break;
            size_t place = map__put(&places, &module->start, sizeof module->start, latest.count);
            if (place == latest.count)
                vec__push(&latest, NULL);
            *VEC_AT(&latest, size_t, place) = seen;
        }
        uint64_t place = map__get(&places, &gones[i].what.start, sizeof gones[i].what.start);
        if (place == MAP_ABSENT)
            continue;
        struct trace_module *module =
            VEC_AT(&process->modules, struct trace_module, *VEC_AT(&latest, size_t, place));
        if (module->gone_tick == UINT64_MAX)
            module->gone_tick = gones[i].what.tick;
    }
    map__free(&places);
    vec__free(&latest);
}

static void sort_modules(struct reading *reading)
{
    VEC_EACH (process, &reading->trace->processes, struct trace_process)
        vec__sort(&process->modules, by_time);
    vec__sort(&reading->gones, by_process_and_time);
    for (size_t i = 0, next; i < reading->gones.count; i = next) {
        const struct gone *gones = VEC_AT(&reading->gones, struct gone, i);
        for (next = i + 1; next < reading->gones.count; next++)
            if (gones[next - i].process != gones->process)
                break;
        end_modules(VEC_AT(&reading->trace->processes, struct trace_process, gones->process), gones,
                    next - i);
    }
}

/* Sorts by id; of two with one id the first is kept. */
static void sort_functions(struct vec *functions)
{
    vec__sort(functions, by_id);
    size_t kept = 0;
    VEC_EACH (function, functions, struct trace_function) {
        if (kept && VEC_AT(functions, struct trace_function, kept - 1)->id == function->id)
            continue;
        *VEC_AT(functions, struct trace_function, kept++) = *function;
    }
    functions->count = kept;
}

static void make_payload_table(struct trace *trace, struct trace_process *process)
{
    const struct vec *functions = &process->functions;
    process->payload_words = event_payload_words;
    process->payload_ids = HEURT_EVENT_FUNCTIONS;
    if (!functions->count)
        return;
    process->payload_ids = VEC_AT(functions, struct trace_function, functions->count - 1)->id + 2;
    uint8_t *words = memory__zeroed(process->payload_ids, 1);
    vec__push(&trace->owned, &words);
    memcpy(words, event_payload_words, sizeof event_payload_words);
    VEC_EACH (function, functions, struct trace_function) {
        words[function->id] = (uint8_t)(function->argument_count + 1);
        words[function->id | 1] = 1;
    }
    process->payload_words = words;
}

/* ---- forked images --------------------------------------------------------------------------- */

/* The image that process was forked from: an exec'ed one has the pid of its predecessor. */
static const struct trace_process *forked_from(const struct trace *trace,
                                               const struct trace_process *process)
{
    if (process->parent_serial == HEURT_NO_SERIAL)
        return NULL;
    const struct trace_process *parent = trace__process(trace, process->parent_serial);
    return parent && parent->pid != process->pid ? parent : NULL;
}

/* A forked image starts with what its parent had mapped at that time. */
static void inherit_modules(struct trace_process *process, const struct trace_process *parent)
{
    VEC_EACH (module, &parent->modules, struct trace_module) {
        if (module->tick > process->tick || module->gone_tick <= process->tick)
            continue;
        struct trace_module *copy = vec__push(&process->modules, module);
        copy->gone_tick = UINT64_MAX;
    }
}

/* Both by id; of two with one id the image's own is kept. */
static void inherit_functions(struct trace_process *process, const struct trace_process *parent)
{
    struct vec merged = VEC_OF(struct trace_function);
    size_t i = 0;
    VEC_EACH (theirs, &parent->functions, struct trace_function) {
        const struct trace_function *own = process->functions.items;
        while (i < process->functions.count && own[i].id < theirs->id)
            vec__push(&merged, &own[i++]);
        if (i == process->functions.count || own[i].id != theirs->id)
            vec__push(&merged, theirs);
    }
    for (; i < process->functions.count; i++)
        vec__push(&merged, VEC_AT(&process->functions, struct trace_function, i));
    vec__free(&process->functions);
    process->functions = merged;
}

static void inherit(struct trace *trace, struct trace_process *process, size_t *inherited)
{
    sort_functions(&process->functions);
    const struct trace_process *parent = forked_from(trace, process);
    if (parent && *inherited + parent->functions.count + parent->modules.count > INHERITED_MAX)
        parent = NULL;
    bool has_own = process->functions.count > 0;
    if (parent) {
        *inherited += parent->functions.count + parent->modules.count;
        inherit_functions(process, parent);
        if (!process->modules.count)
            inherit_modules(process, parent);
    }
    if (parent && !has_own) {
        process->payload_words = parent->payload_words;
        process->payload_ids = parent->payload_ids;
        return;
    }
    make_payload_table(trace, process);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Where definitions go that are about no image in particular. */
static struct trace_process *stand_in(struct trace *trace)
{
    if (!trace->processes.count)
        trace__push_process(trace, HEURT_NO_SERIAL);
    return trace->processes.items;
}

void trace__read_definitions(struct trace *trace, const struct vec *chunks)
{
    struct reading reading = {.trace = trace, .gones = VEC_OF(struct gone)};
    VEC_EACH (chunk, chunks, const struct heurt_chunk *) {
        reading.chunk = *chunk;
        reading.process = trace__process(trace, (*chunk)->process);
        if (!reading.process)
            reading.process = stand_in(trace);
        read_chunk(&reading);
    }
    sort_modules(&reading);
    sort_samples(trace);
    vec__sort(&trace->placed, by_placing_time);
    vec__sort(&trace->marks, by_mark_time);
    vec__sort(&trace->answers, by_answer_time);
    vec__sort(&trace->pages, by_page_time);
    size_t inherited = 0;
    VEC_EACH (process, &trace->processes, struct trace_process)
        inherit(trace, process, &inherited);
    vec__free(&reading.gones);
}
