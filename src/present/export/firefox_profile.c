/* firefox_profile.c: see firefox_profile.h. */
#include "present/export/firefox_profile.h"

#include "base/memory.h"
#include "base/text.h"
#include "present/screen/fields.h"

#include <stdlib.h>
#include <string.h>

enum category { CATEGORY_WORK, CATEGORY_WAIT, CATEGORY_LOST };

/* A number in the tables of one thread. */
struct fox_local {
    uint32_t thread; /* that has it, and 1; 0: none */
    uint32_t number;
};

/* What a thread's tables have, by their numbers there. */
struct fox_tables {
    struct vec nodes;  /* uint32_t: nodes of all */
    struct vec frames; /* uint32_t */
};

/* ---- pieces ---------------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *key, const char *text)
{
    text__put(out, key);
    text__put_json(out, text);
}

/* ns as ms. */
static void put_ms(FILE *out, uint64_t ns)
{
    char digits[] = ".000000";
    uint64_t rest = ns % 1000000u;
    for (unsigned i = 6; i > 0; i--, rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    text__put_number(out, ns / 1000000u);
    text__put(out, digits);
}

/* A column of a table: [put(0), put(1) …]. */
struct column_of {
    const struct fox_profile *profile;
    const struct fox_thread *thread;
    const struct fox_tables *tables;
    FILE *out;
};
typedef void put_cell(const struct column_of *column, size_t row);

static void put_column(const struct column_of *column, const char *name, size_t rows, put_cell *put)
{
    text__put(column->out, ",\"");
    text__put(column->out, name);
    text__put(column->out, "\":[");
    for (size_t row = 0; row < rows; row++) {
        if (row)
            text__put(column->out, ",");
        put(column, row);
    }
    text__put(column->out, "]");
}

static void begin_table(FILE *out, const char *name, size_t rows)
{
    text__put(out, ",\n\"");
    text__put(out, name);
    text__put(out, "\":{\"length\":");
    text__put_number(out, rows);
}

static void put_null(const struct column_of *column, size_t row)
{
    (void)row;
    text__put(column->out, "null");
}

static void put_zero(const struct column_of *column, size_t row)
{
    (void)row;
    text__put(column->out, "0");
}

static void put_minus_one(const struct column_of *column, size_t row)
{
    (void)row;
    text__put(column->out, "-1");
}

static void put_false(const struct column_of *column, size_t row)
{
    (void)row;
    text__put(column->out, "false");
}

/* ---- the tables of a thread ------------------------------------------------------------------ */

/* Of labels, of states and of the thread. */
static struct fox_local *place_of(const struct fox_profile *profile, uint32_t frame)
{
    size_t labels = profile->labels.count;
    size_t place = FOX_FRAME_KIND(frame) == FOX_LABEL   ? FOX_FRAME_NUMBER(frame)
                   : FOX_FRAME_KIND(frame) == FOX_STATE ? labels + FOX_FRAME_NUMBER(frame)
                                                        : labels + COMPONENTS;
    return &profile->local_frames[place];
}

static uint32_t number_of_frame(const struct fox_profile *profile, uint32_t frame)
{
    return place_of(profile, frame)->number;
}

static void need_frame(const struct fox_profile *profile, struct fox_tables *tables, uint32_t stamp,
                       uint32_t frame)
{
    struct fox_local *local = place_of(profile, frame);
    if (local->thread == stamp)
        return;
    *local = (struct fox_local){stamp, (uint32_t)tables->frames.count};
    vec__push(&tables->frames, &frame);
}

/* A node's parents come before it. */
static void need_node(struct fox_profile *profile, struct fox_tables *tables, uint32_t stamp,
                      uint32_t node)
{
    struct vec missing = VEC_OF(uint32_t);
    for (; node != FOX_NONE && profile->local_nodes[node].thread != stamp;
         node = VEC_AT(&profile->nodes, struct fox_node, node)->parent)
        vec__push(&missing, &node);
    while (missing.count) {
        uint32_t next = *VEC_AT(&missing, uint32_t, --missing.count);
        profile->local_nodes[next] = (struct fox_local){stamp, (uint32_t)tables->nodes.count};
        vec__push(&tables->nodes, &next);
        need_frame(profile, tables, stamp, VEC_AT(&profile->nodes, struct fox_node, next)->frame);
    }
    vec__free(&missing);
}

static struct fox_tables tables_of(struct fox_profile *profile, uint32_t thread,
                                   const struct fox_thread *told)
{
    struct fox_tables tables = {VEC_OF(uint32_t), VEC_OF(uint32_t)};
    VEC_EACH (sample, &told->samples, struct fox_sample)
        need_node(profile, &tables, thread + 1, sample->node);
    VEC_EACH (marker, &told->markers, struct fox_marker)
        need_frame(profile, &tables, thread + 1, FOX_FRAME(FOX_LABEL, marker->label->number));
    return tables;
}

static const struct fox_node *node_at(const struct column_of *column, size_t row)
{
    return VEC_AT(&column->profile->nodes, struct fox_node,
                  *VEC_AT(&column->tables->nodes, uint32_t, row));
}

static const struct span_label *label_of(const struct fox_profile *profile, uint32_t frame)
{
    return FOX_FRAME_KIND(frame) == FOX_LABEL
               ? *VEC_AT(&profile->labels, const struct span_label *, FOX_FRAME_NUMBER(frame))
               : NULL;
}

static uint32_t frame_at(const struct column_of *column, size_t row)
{
    return *VEC_AT(&column->tables->frames, uint32_t, row);
}

static enum category category_of_label(const struct span_label *label)
{
    if (class_kind__is_code(label->kind))
        return CATEGORY_WORK;
    return class_kind__waits_for_threads(label->kind) && !label->is_idle ? CATEGORY_LOST
                                                                         : CATEGORY_WAIT;
}

static void put_prefix(const struct column_of *column, size_t row)
{
    uint32_t parent = node_at(column, row)->parent;
    if (parent == FOX_NONE)
        text__put(column->out, "null");
    else
        text__put_number(column->out, column->profile->local_nodes[parent].number);
}

static void put_frame(const struct column_of *column, size_t row)
{
    text__put_number(column->out, number_of_frame(column->profile, node_at(column, row)->frame));
}

static void put_frame_category(const struct column_of *column, size_t row)
{
    uint32_t frame = frame_at(column, row);
    const struct span_label *label = label_of(column->profile, frame);
    text__put_number(column->out, label                                ? category_of_label(label)
                                  : FOX_FRAME_KIND(frame) == FOX_STATE ? CATEGORY_WAIT
                                                                       : CATEGORY_WORK);
}

static void put_stack_category(const struct column_of *column, size_t row)
{
    uint32_t frame = number_of_frame(column->profile, node_at(column, row)->frame);
    put_frame_category(column, frame);
}

static void put_row(const struct column_of *column, size_t row)
{
    text__put_number(column->out, row);
}

/* The strings of a frame are its name and its file. */
static void put_name_of_frame(const struct column_of *column, size_t row)
{
    text__put_number(column->out, 2 * row);
}

static const struct span_place *place_of_frame(const struct column_of *column, size_t row)
{
    const struct span_label *label = label_of(column->profile, frame_at(column, row));
    return label && label->place && label->place->file ? label->place : NULL;
}

static void put_file_of_frame(const struct column_of *column, size_t row)
{
    if (place_of_frame(column, row))
        text__put_number(column->out, 2 * row + 1);
    else
        text__put(column->out, "null");
}

static void put_line_of_frame(const struct column_of *column, size_t row)
{
    const struct span_place *place = place_of_frame(column, row);
    if (place && place->line)
        text__put_number(column->out, place->line);
    else
        text__put(column->out, "null");
}

static void put_string(const struct column_of *column, size_t row)
{
    uint32_t frame = frame_at(column, row / 2), number = FOX_FRAME_NUMBER(frame);
    const struct span_label *label = label_of(column->profile, frame);
    const struct span_place *place = place_of_frame(column, row / 2);
    if (row % 2)
        text__put_json(column->out, place ? place->file : "");
    else if (label)
        text__put_json(column->out, label->name);
    else if (FOX_FRAME_KIND(frame) == FOX_STATE)
        text__put_json(column->out, span_state__name((enum component)number));
    else
        text__put_json(column->out, column->profile->run->threads[number].name);
}

static void put_tables(const struct column_of *column)
{
    size_t nodes = column->tables->nodes.count, frames = column->tables->frames.count;
    FILE *out = column->out;
    begin_table(out, "stackTable", nodes);
    put_column(column, "prefix", nodes, put_prefix);
    put_column(column, "frame", nodes, put_frame);
    put_column(column, "category", nodes, put_stack_category);
    put_column(column, "subcategory", nodes, put_zero);
    text__put(out, "}");
    begin_table(out, "frameTable", frames);
    put_column(column, "address", frames, put_minus_one);
    put_column(column, "inlineDepth", frames, put_zero);
    put_column(column, "category", frames, put_frame_category);
    put_column(column, "subcategory", frames, put_zero);
    put_column(column, "func", frames, put_row);
    put_column(column, "nativeSymbol", frames, put_null);
    put_column(column, "innerWindowID", frames, put_null);
    put_column(column, "implementation", frames, put_null);
    put_column(column, "line", frames, put_line_of_frame);
    put_column(column, "column", frames, put_null);
    text__put(out, "}");
    begin_table(out, "funcTable", frames);
    put_column(column, "name", frames, put_name_of_frame);
    put_column(column, "isJS", frames, put_false);
    put_column(column, "relevantForJS", frames, put_false);
    put_column(column, "resource", frames, put_minus_one);
    put_column(column, "fileName", frames, put_file_of_frame);
    put_column(column, "lineNumber", frames, put_line_of_frame);
    put_column(column, "columnNumber", frames, put_null);
    text__put(out, "}");
    put_column(column, "stringArray", 2 * frames, put_string);
    text__put(out, ",\n\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],"
                   "\"type\":[]}");
    text__put(out, ",\n\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],"
                   "\"libIndex\":[],\"name\":[]}");
}

/* ---- samples --------------------------------------------------------------------------------- */

static const struct fox_sample *sample_at(const struct column_of *column, size_t row)
{
    return VEC_AT(&column->thread->samples, struct fox_sample, row);
}

static void put_stack(const struct column_of *column, size_t row)
{
    text__put_number(column->out,
                     column->profile->local_nodes[sample_at(column, row)->node].number);
}

static void put_time(const struct column_of *column, size_t row)
{
    put_ms(column->out, sample_at(column, row)->ns);
}

static uint64_t length_of(const struct column_of *column, size_t row)
{
    uint64_t from = sample_at(column, row)->ns;
    uint64_t to = row + 1 < column->thread->samples.count ? sample_at(column, row + 1)->ns
                                                          : column->thread->to_ns;
    return to > from ? to - from : 0;
}

static void put_weight(const struct column_of *column, size_t row)
{
    put_ms(column->out, length_of(column, row));
}

/* CPU time since the sample before, in ns. */
static void put_cpu(const struct column_of *column, size_t row)
{
    bool was_on = row && sample_at(column, row - 1)->is_on;
    text__put_number(column->out, was_on ? length_of(column, row - 1) : 0);
}

static void put_samples(const struct column_of *column)
{
    size_t rows = column->thread->samples.count;
    begin_table(column->out, "samples", rows);
    put_column(column, "stack", rows, put_stack);
    put_column(column, "time", rows, put_time);
    put_column(column, "weight", rows, put_weight);
    put_column(column, "threadCPUDelta", rows, put_cpu);
    text__put(column->out, ",\"weightType\":\"tracing-ms\"}");
}

/* ---- markers --------------------------------------------------------------------------------- */

static const struct fox_marker *marker_at(const struct column_of *column, size_t row)
{
    return VEC_AT(&column->thread->markers, struct fox_marker, row);
}

static void put_marker_name(const struct column_of *column, size_t row)
{
    uint32_t frame = FOX_FRAME(FOX_LABEL, marker_at(column, row)->label->number);
    put_name_of_frame(column, number_of_frame(column->profile, frame));
}

static void put_marker_begin(const struct column_of *column, size_t row)
{
    put_ms(column->out, marker_at(column, row)->from_ns);
}

static void put_marker_end(const struct column_of *column, size_t row)
{
    put_ms(column->out, marker_at(column, row)->ns);
}

static void put_interval(const struct column_of *column, size_t row)
{
    (void)row;
    text__put(column->out, "1");
}

static void put_marker_category(const struct column_of *column, size_t row)
{
    text__put_number(column->out, category_of_label(marker_at(column, row)->label));
}

static void put_place(FILE *out, const char *key, const struct span_place *place)
{
    if (!place)
        return;
    char *text = place->file && place->line ? memory__format("%s %s:%u", place->function,
                                                             path__name(place->file), place->line)
                                            : memory__text(place->function);
    put_text(out, key, text);
    free(text);
}

static void put_marker_data(const struct column_of *column, size_t row)
{
    const struct fox_marker *marker = marker_at(column, row);
    FILE *out = column->out;
    text__put(out, "{\"type\":\"wait\"");
    if (marker->object) {
        char *text = memory__format("%s %s", marker->object->noun, marker->object->name);
        put_text(out, ",\"object\":", text);
        free(text);
    }
    put_place(out, ",\"place\":", marker->label->place);
    if (marker->by != SPAN_BY_NOBODY) {
        const struct span_thread *by = &column->profile->run->threads[marker->by];
        char *text = memory__format("%s (%u)", by->name, by->tid);
        put_text(out, ",\"by\":", text);
        free(text);
    }
    put_place(out, ",\"byPlace\":", marker->by_place);
    text__put(out, "}");
}

static void put_markers(const struct column_of *column)
{
    size_t rows = column->thread->markers.count;
    begin_table(column->out, "markers", rows);
    put_column(column, "name", rows, put_marker_name);
    put_column(column, "startTime", rows, put_marker_begin);
    put_column(column, "endTime", rows, put_marker_end);
    put_column(column, "phase", rows, put_interval);
    put_column(column, "category", rows, put_marker_category);
    put_column(column, "data", rows, put_marker_data);
    text__put(column->out, "}");
}

/* ---- the file -------------------------------------------------------------------------------- */

static const char *const meta[] = {
    ",\"version\":24,\"preprocessedProfileVersion\":47,\"processType\":0,\"interval\":1",
    ",\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\"usesOnlyOneStackType\":true",
    ",\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true",
    ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}",
    ",\"extensions\":{\"length\":0,\"id\":[],\"name\":[],\"baseURL\":[]}",
    ",\"categories\":[{\"name\":\"work\",\"color\":\"green\",\"subcategories\":[\"Other\"]}",
    ",{\"name\":\"wait\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}",
    ",{\"name\":\"lost\",\"color\":\"red\",\"subcategories\":[\"Other\"]}",
    ",{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}]",
    ",\"markerSchema\":[{\"name\":\"wait\",\"chartLabel\":\"{marker.data.object}\"",
    ",\"tooltipLabel\":\"{marker.name} {marker.data.object}\"",
    ",\"tableLabel\":\"{marker.data.object} {marker.data.place} < {marker.data.by}\"",
    ",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"data\":[",
    "{\"key\":\"object\",\"label\":\"Waits for\",\"format\":\"string\",\"searchable\":true},",
    "{\"key\":\"place\",\"label\":\"In\",\"format\":\"string\",\"searchable\":true},",
    "{\"key\":\"by\",\"label\":\"Ended by\",\"format\":\"string\",\"searchable\":true},",
    "{\"key\":\"byPlace\",\"label\":\"Who was in\",\"format\":\"string\",\"searchable\":true}]}]",
};

/* Arguments stand on a line of their own in the trace. */
static char *command_of(const struct span_run *run)
{
    char *command = memory__text(run->command);
    for (char *at = command; (at = strchr(at, '\n'));)
        *at = ' ';
    return command;
}

void fox_profile__begin(struct fox_profile *profile, FILE *out)
{
    char *command = command_of(profile->run);
    profile->local_nodes = memory__zeroed(profile->nodes.count + 1, sizeof(struct fox_local));
    profile->local_frames =
        memory__zeroed(profile->labels.count + COMPONENTS + 1, sizeof(struct fox_local));
    put_text(out, "{\"meta\":{\"product\":", command);
    text__put(out, ",\"startTime\":");
    put_ms(out, profile->run->start_realtime_ns);
    for (size_t i = 0; i < sizeof meta / sizeof meta[0]; i++)
        text__put(out, meta[i]);
    text__put(out, "},\n\"libs\":[],\"threads\":[");
    free(command);
}

void fox_profile__thread(struct fox_profile *profile, uint32_t thread,
                         const struct fox_thread *told, FILE *out)
{
    const struct span_thread *what = &profile->run->threads[thread];
    const struct span_process *process = &profile->run->processes[what->process];
    struct fox_tables tables = tables_of(profile, thread, told);
    const struct column_of column = {profile, told, &tables, out};
    text__put(out, profile->threads++ ? ",\n{" : "\n{");
    put_text(out, "\"name\":", what->name);
    put_text(out, ",\"processName\":", path__name(process->path));
    text__put(out,
              what->tid == process->pid ? ",\"isMainThread\":true" : ",\"isMainThread\":false");
    fprintf(out, ",\"processType\":\"default\",\"pid\":\"%u\",\"tid\":%u,\"pausedRanges\":[]",
            process->pid, what->tid);
    text__put(out, ",\"processStartupTime\":");
    put_ms(out, process->from_ns);
    text__put(out, ",\"processShutdownTime\":null,\"registerTime\":");
    put_ms(out, told->from_ns);
    text__put(out, ",\"unregisterTime\":");
    put_ms(out, told->to_ns);
    put_samples(&column);
    put_markers(&column);
    put_tables(&column);
    text__put(out, "}");
    vec__free(&tables.nodes);
    vec__free(&tables.frames);
}

void fox_profile__end(struct fox_profile *profile, FILE *out)
{
    text__put(out, "]}\n");
    free(profile->local_nodes);
    free(profile->local_frames);
}
