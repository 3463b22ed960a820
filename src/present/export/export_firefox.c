/* export_firefox.c: a processed profile of the Firefox Profiler (JSON), for profiler.firefox.com.
 *
 * A sample is a stack, from when on the thread was in it, and as its weight for how long, so that
 * graphs and trees show what was recorded and no estimate of it. Waits are markers besides, with
 * their object, their place and who ended them. Categories are work, wait, and lost: waits for
 * other threads but idle ones.
 *
 * The format has columns, a thread behind the other, and its reader holds all of it in memory:
 * after SPANS_MOST spans nothing more is told, which is said. Memory: what is told. */
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "present/export/firefox_profile.h"
#include "present/export/span_exporters.h"

#include <inttypes.h>
#include <stdlib.h>

#define SPANS_MOST 1000000u

struct firefox_thread {
    struct fox_thread told;
    struct vec open; /* uint32_t: nodes around the innermost one */
    uint32_t node;   /* the innermost one's */
    enum component state;
};

struct firefox {
    struct fox_profile profile;
    struct map nodes;
    struct firefox_thread *threads;
    uint64_t spans, skipped;
    uint64_t full_ns; /* when SPANS_MOST had begun */
};

/* ---- stacks ---------------------------------------------------------------------------------- */

static uint32_t node_of(struct firefox *own, uint32_t parent, uint32_t frame)
{
    const struct fox_node node = {parent, frame};
    uint64_t found = map__put(&own->nodes, &node, sizeof node, own->profile.nodes.count);
    if (found == own->profile.nodes.count)
        vec__push(&own->profile.nodes, &node);
    return (uint32_t)found;
}

static uint32_t frame_of_label(struct firefox *own, const struct span_label *label)
{
    *VEC_REACH(&own->profile.labels, const struct span_label *, label->number) = label;
    return FOX_FRAME(FOX_LABEL, label->number);
}

static bool is_in_wait(const struct firefox *own, const struct firefox_thread *thread)
{
    uint32_t frame = VEC_AT(&own->profile.nodes, struct fox_node, thread->node)->frame;
    if (FOX_FRAME_KIND(frame) != FOX_LABEL)
        return false;
    const struct span_label *label =
        *VEC_AT(&own->profile.labels, const struct span_label *, FOX_FRAME_NUMBER(frame));
    return !class_kind__is_code(label->kind);
}

/* From now on the thread is in what it is in; what took no time is not told. */
static void sample(struct span_export *export, uint32_t index, uint64_t ns)
{
    struct firefox *own = export->own;
    struct firefox_thread *thread = &own->threads[index];
    struct vec *samples = &thread->told.samples;
    bool in_wait = is_in_wait(own, thread), is_off = thread->state != COMPONENT_RUNNING;
    const struct fox_sample now = {
        ns,
        is_off && !in_wait ? node_of(own, thread->node, FOX_FRAME(FOX_STATE, thread->state))
                           : thread->node,
        !(is_off && thread->state != COMPONENT_PAGE_FAULT)};
    struct fox_sample *last =
        samples->count ? VEC_AT(samples, struct fox_sample, samples->count - 1) : NULL;
    if (last && last->ns == ns)
        *last = now;
    else if (!last || last->node != now.node || last->is_on != now.is_on)
        vec__push(samples, &now);
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct firefox_thread *thread_at(struct span_export *export, uint32_t index, uint64_t ns)
{
    struct firefox *own = export->own;
    if (own->spans < SPANS_MOST)
        return &own->threads[index];
    own->full_ns = own->full_ns ? own->full_ns : ns;
    return NULL;
}

static void began(struct span_export *export, uint32_t index, uint64_t ns)
{
    struct firefox_thread *thread = thread_at(export, index, ns);
    if (!thread)
        return;
    thread->told.has_begun = true;
    thread->told.from_ns = ns;
    thread->node = node_of(export->own, FOX_NONE, FOX_FRAME(FOX_THREAD, index));
    thread->state = COMPONENT_RUNNING;
    sample(export, index, ns);
}

static void ended(struct span_export *export, uint32_t index, uint64_t ns)
{
    struct firefox *own = export->own;
    own->threads[index].told.to_ns = ns;
}

static void enter(struct span_export *export, uint32_t index, const struct span_enter *enter)
{
    struct firefox *own = export->own;
    struct firefox_thread *thread = thread_at(export, index, enter->ns);
    if (!thread) {
        own->skipped++;
        return;
    }
    own->spans++;
    vec__push(&thread->open, &thread->node);
    thread->node = node_of(own, thread->node, frame_of_label(own, enter->label));
    sample(export, index, enter->ns);
}

static void mark_wait(struct firefox *own, struct firefox_thread *thread,
                      const struct span_leave *leave)
{
    const struct fox_marker marker = {leave->from_ns, leave->ns,       leave->label,
                                      leave->object,  leave->by_place, leave->by};
    frame_of_label(own, leave->label);
    vec__push(&thread->told.markers, &marker);
}

static void leave(struct span_export *export, uint32_t index, const struct span_leave *leave)
{
    struct firefox *own = export->own;
    struct firefox_thread *thread = thread_at(export, index, leave->ns);
    if (!thread || !thread->open.count)
        return;
    thread->node = *VEC_AT(&thread->open, uint32_t, --thread->open.count);
    if (!class_kind__is_code(leave->label->kind))
        mark_wait(own, thread, leave);
    sample(export, index, leave->ns);
}

static void state(struct span_export *export, uint32_t index, uint64_t ns, enum component state)
{
    struct firefox *own = export->own;
    struct firefox_thread *thread = thread_at(export, index, ns);
    if (!thread || !thread->told.has_begun)
        return;
    own->spans += state != COMPONENT_RUNNING;
    thread->state = state;
    sample(export, index, ns);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void begin(struct span_export *export)
{
    struct firefox *own = export->own = memory__zeroed(1, sizeof *own);
    own->profile = (struct fox_profile){.run = export->run,
                                        .nodes = VEC_OF(struct fox_node),
                                        .labels = VEC_OF(const struct span_label *)};
    own->threads = memory__zeroed(export->run->thread_count + 1, sizeof *own->threads);
    for (uint32_t i = 0; i < export->run->thread_count; i++) {
        own->threads[i].told.samples = VEC_OF(struct fox_sample);
        own->threads[i].told.markers = VEC_OF(struct fox_marker);
        own->threads[i].open = VEC_OF(uint32_t);
    }
}

static void say_what_is_left_out(struct span_export *export)
{
    const struct firefox *own = export->own;
    if (!own->full_ns)
        return;
    char *sentence = memory__format("what came after %.6f s is left out, %" PRIu64
                                    " spans: its reader takes no more; "
                                    "--perfetto has all, --from and --to choose a time",
                                    (double)own->full_ns / 1e9, own->skipped);
    vec__push(export->remarks, &sentence);
}

static void finish(struct span_export *export)
{
    struct firefox *own = export->own;
    fox_profile__begin(&own->profile, export->out);
    for (uint32_t i = 0; i < export->run->thread_count; i++) {
        struct firefox_thread *thread = &own->threads[i];
        if (own->full_ns && thread->told.to_ns > own->full_ns)
            thread->told.to_ns = own->full_ns;
        if (thread->told.has_begun)
            fox_profile__thread(&own->profile, i, &thread->told, export->out);
        vec__free(&thread->told.samples);
        vec__free(&thread->told.markers);
        vec__free(&thread->open);
    }
    fox_profile__end(&own->profile, export->out);
    say_what_is_left_out(export);
    map__free(&own->nodes);
    vec__free(&own->profile.nodes);
    vec__free(&own->profile.labels);
    free(own->threads);
    free(own);
}

const struct span_exporter exporter_firefox = {.name = "firefox",
                                               .order = SPANS_IN_TIME,
                                               .tells_lost = true,
                                               .begin = begin,
                                               .began = began,
                                               .ended = ended,
                                               .enter = enter,
                                               .leave = leave,
                                               .state = state,
                                               .finish = finish};
