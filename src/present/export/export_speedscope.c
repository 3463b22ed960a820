/* export_speedscope.c: https://www.speedscope.app/file-format-schema.json: an evented profile for
 * each thread, "O" where a frame begins, "C" where it ends.
 *
 * Profiles are written as they come; the frames that their numbers mean stand behind them, where
 * all are known. Times off the CPU outside of known calls are frames of their own. */
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/export/span_exporters.h"
#include "present/screen/fields.h"

#include <stdlib.h>
#include <string.h>

/* NULL label: the time off the CPU in that state. */
struct scope_frame {
    const struct span_label *label;
    const struct span_object *object;
    enum component state;
};

struct scope_thread {
    struct vec open; /* uint32_t: frames */
    bool is_off;     /* the innermost one is a time off the CPU */
};

struct speedscope {
    struct vec frames; /* struct scope_frame */
    struct map numbers;
    struct vec of_labels;       /* uint32_t: frame and 1, of labels without objects */
    struct scope_thread thread; /* that is told of */
    bool has_profile, has_event;
};

/* ---- frames ---------------------------------------------------------------------------------- */

static uint32_t find_frame(struct speedscope *scope, const struct scope_frame *frame)
{
    const uint32_t key[3] = {frame->label ? frame->label->number : UINT32_MAX,
                             frame->object ? frame->object->number : UINT32_MAX,
                             (uint32_t)frame->state};
    uint64_t number = map__put(&scope->numbers, key, sizeof key, scope->frames.count);
    if (number == scope->frames.count)
        vec__push(&scope->frames, frame);
    return (uint32_t)number;
}

static uint32_t frame_of(struct speedscope *scope, const struct span_enter *enter)
{
    const struct scope_frame frame = {enter->label, enter->object, COMPONENT_RUNNING};
    if (enter->object)
        return find_frame(scope, &frame);
    uint32_t *known = VEC_REACH(&scope->of_labels, uint32_t, enter->label->number);
    if (!*known)
        *known = find_frame(scope, &frame) + 1;
    return *known - 1;
}

static char *frame_name(const struct scope_frame *frame)
{
    if (!frame->label)
        return memory__format("[%s]", span_state__name(frame->state));
    if (!frame->object)
        return memory__text(frame->label->name);
    return memory__format("%s (%s %s)", frame->label->name, frame->object->noun,
                          frame->object->name);
}

static void put_frame(const struct scope_frame *frame, FILE *out)
{
    const struct span_place *place = frame->label ? frame->label->place : NULL;
    char *name = frame_name(frame);
    text__put(out, "{\"name\":");
    text__put_json(out, name);
    if (place && place->file) {
        text__put(out, ",\"file\":");
        text__put_json(out, place->file);
    }
    if (place && place->file && place->line) {
        text__put(out, ",\"line\":");
        text__put_number(out, place->line);
    }
    text__put(out, "}");
    free(name);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void put_event(struct span_export *export, const char *type, uint32_t frame, uint64_t ns)
{
    struct speedscope *scope = export->own;
    text__put(export->out, scope->has_event ? ",\n{\"type\":\"" : "\n{\"type\":\"");
    text__put(export->out, type);
    text__put(export->out, "\",\"frame\":");
    text__put_number(export->out, frame);
    text__put(export->out, ",\"at\":");
    text__put_number(export->out, ns);
    text__put(export->out, "}");
    scope->has_event = true;
}

static void open_frame(struct span_export *export, uint32_t frame, uint64_t ns)
{
    struct speedscope *scope = export->own;
    vec__push(&scope->thread.open, &frame);
    put_event(export, "O", frame, ns);
}

static void close_frame(struct span_export *export, uint64_t ns)
{
    struct vec *open = &((struct speedscope *)export->own)->thread.open;
    if (open->count)
        put_event(export, "C", *VEC_AT(open, uint32_t, --open->count), ns);
}

/* A time off the CPU is of no length outside of what it was in. */
static void come_back(struct span_export *export, uint64_t ns)
{
    struct speedscope *scope = export->own;
    if (scope->thread.is_off)
        close_frame(export, ns);
    scope->thread.is_off = false;
}

static void began(struct span_export *export, uint32_t thread, uint64_t ns)
{
    struct speedscope *scope = export->own;
    const struct span_thread *what = &export->run->threads[thread];
    char *name = memory__format("%s (%u)", what->name, what->tid);
    text__put(export->out, scope->has_profile ? ",\n" : "\n");
    text__put(export->out, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":");
    text__put_json(export->out, name);
    text__put(export->out, ",\"startValue\":");
    text__put_number(export->out, ns);
    text__put(export->out, ",\"events\":[");
    scope->has_profile = true;
    scope->has_event = false;
    free(name);
}

static void ended(struct span_export *export, uint32_t thread, uint64_t ns)
{
    (void)thread;
    come_back(export, ns);
    text__put(export->out, "],\"endValue\":");
    text__put_number(export->out, ns);
    text__put(export->out, "}");
}

static void enter(struct span_export *export, uint32_t thread, const struct span_enter *enter)
{
    (void)thread;
    come_back(export, enter->ns);
    open_frame(export, frame_of(export->own, enter), enter->ns);
}

static void leave(struct span_export *export, uint32_t thread, const struct span_leave *leave)
{
    (void)thread;
    come_back(export, leave->ns);
    close_frame(export, leave->ns);
}

static bool is_in_wait(const struct speedscope *scope)
{
    const struct vec *open = &scope->thread.open;
    if (!open->count)
        return false;
    uint32_t frame = *VEC_AT(open, uint32_t, open->count - 1);
    const struct span_label *label = VEC_AT(&scope->frames, struct scope_frame, frame)->label;
    return label && !class_kind__is_code(label->kind);
}

static void state(struct span_export *export, uint32_t thread, uint64_t ns, enum component state)
{
    struct speedscope *scope = export->own;
    (void)thread;
    come_back(export, ns);
    if (state == COMPONENT_RUNNING || is_in_wait(scope))
        return;
    const struct scope_frame frame = {NULL, NULL, state};
    open_frame(export, find_frame(scope, &frame), ns);
    scope->thread.is_off = true;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void begin(struct span_export *export)
{
    struct speedscope *scope = export->own = memory__zeroed(1, sizeof *scope);
    scope->frames = VEC_OF(struct scope_frame);
    scope->of_labels = scope->thread.open = VEC_OF(uint32_t);
    text__put(export->out,
              "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":"
              "\"heurt\",\"name\":");
    text__put_json(export->out, export->run->command);
    text__put(export->out, ",\"activeProfileIndex\":0,\"profiles\":[");
}

static void finish(struct span_export *export)
{
    struct speedscope *scope = export->own;
    text__put(export->out, "],\n\"shared\":{\"frames\":[");
    VEC_EACH (frame, &scope->frames, struct scope_frame) {
        text__put(export->out, frame == scope->frames.items ? "\n" : ",\n");
        put_frame(frame, export->out);
    }
    text__put(export->out, "]}}\n");
    map__free(&scope->numbers);
    vec__free(&scope->frames);
    vec__free(&scope->of_labels);
    vec__free(&scope->thread.open);
    free(scope);
}

const struct span_exporter exporter_speedscope = {.name = "speedscope",
                                                  .order = SPANS_IN_THREADS,
                                                  .begin = begin,
                                                  .began = began,
                                                  .ended = ended,
                                                  .enter = enter,
                                                  .leave = leave,
                                                  .state = state,
                                                  .finish = finish};
