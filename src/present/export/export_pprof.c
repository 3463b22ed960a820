/* export_pprof.c: profile.proto of pprof, in gzip: stacks with the work, the waiting and the lost
 * time in them (span_stacks.h), and how often they waited.
 *
 * A location is a frame, and a function, too: there are no addresses, as places are known by
 * themselves. */
#include "base/memory.h"
#include "base/proto.h"
#include "base/text.h"
#include "present/export/span_stacks.h"

#include <stdlib.h>
#include <zlib.h>

enum profile_field {
    PROFILE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_TEXT = 6,
    PROFILE_TIME = 9,
    PROFILE_LENGTH = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT = 14,
};

enum { VALUE_WORK, VALUE_WAITS, VALUE_DELAY, VALUE_LOST, VALUES };

/* What stands for a frame. */
struct pprof_frame {
    uint32_t location; /* 0: it is not written yet */
};

struct pprof {
    struct proto out, message, inner;
    uint32_t locations, texts;
    struct vec frames[SPAN_FRAMES]; /* struct pprof_frame, by number */
    z_stream zip;
    FILE *file;
};

/* ---- gzip ------------------------------------------------------------------------------------ */

static void flush(struct pprof *pprof, int how)
{
    unsigned char bytes[1 << 14];
    pprof->zip.next_in = pprof->out.bytes;
    pprof->zip.avail_in = (unsigned)pprof->out.count;
    do {
        pprof->zip.next_out = bytes;
        pprof->zip.avail_out = sizeof bytes;
        deflate(&pprof->zip, how);
        fwrite(bytes, 1, sizeof bytes - pprof->zip.avail_out, pprof->file);
    } while (!pprof->zip.avail_out);
    proto__clear(&pprof->out);
}

static void put_message(struct pprof *pprof, enum profile_field field)
{
    proto__message(&pprof->out, field, &pprof->message);
    if (pprof->out.count >= 1 << 16)
        flush(pprof, Z_NO_FLUSH);
}

/* ---- texts, frames --------------------------------------------------------------------------- */

/* Its number. */
static uint32_t put_text(struct pprof *pprof, const char *text)
{
    proto__text(&pprof->out, PROFILE_TEXT, text);
    return pprof->texts++;
}

static void put_function(struct pprof *pprof, uint32_t number, const char *name,
                         const struct span_place *place)
{
    uint32_t text = put_text(pprof, name);
    uint32_t file = place && place->file ? put_text(pprof, place->file) : 0;
    proto__clear(&pprof->message);
    proto__number(&pprof->message, 1, number);
    proto__number(&pprof->message, 2, text);
    proto__number(&pprof->message, 3, text);
    if (file)
        proto__number(&pprof->message, 4, file);
    if (file && place->line)
        proto__number(&pprof->message, 5, place->line);
    put_message(pprof, PROFILE_FUNCTION);
}

static void put_location(struct pprof *pprof, uint32_t number, const struct span_place *place)
{
    proto__clear(&pprof->inner);
    proto__number(&pprof->inner, 1, number);
    if (place && place->line)
        proto__number(&pprof->inner, 2, place->line);
    proto__clear(&pprof->message);
    proto__number(&pprof->message, 1, number);
    proto__message(&pprof->message, 4, &pprof->inner);
    put_message(pprof, PROFILE_LOCATION);
}

/* Of a call, the place is its caller's. */
static const struct span_place *place_of(const struct span_stack *stack)
{
    bool is_label = (stack->frame & 3) == SPAN_FRAME_LABEL && stack->label;
    return is_label && class_kind__is_code(stack->label->kind) ? stack->label->place : NULL;
}

static uint32_t location_of(struct pprof *pprof, const struct span_stacks *stacks,
                            const struct span_stack *stack)
{
    struct pprof_frame *frame =
        VEC_REACH(&pprof->frames[stack->frame & 3], struct pprof_frame, stack->frame >> 2);
    if (frame->location)
        return frame->location;
    frame->location = ++pprof->locations;
    put_function(pprof, frame->location, span_stacks__text(stacks, stack), place_of(stack));
    put_location(pprof, frame->location, place_of(stack));
    return frame->location;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The innermost frame first. */
static void put_locations(struct pprof *pprof, const struct span_stacks *stacks,
                          const struct span_stack *stack, struct proto *locations)
{
    proto__clear(locations);
    for (;;) {
        proto__put_varint(locations, location_of(pprof, stacks, stack));
        if (stack->parent == SPAN_STACKS_ROOT)
            return;
        stack = VEC_AT(&stacks->all, struct span_stack, stack->parent);
    }
}

static void put_sample(struct pprof *pprof, const struct span_stacks *stacks,
                       const struct span_stack *stack)
{
    struct proto locations = {0};
    uint64_t lost = span_stacks__lost(stacks, stack);
    if (!stack->work_ns && !stack->wait_ns && !lost)
        return;
    put_locations(pprof, stacks, stack, &locations);
    proto__clear(&pprof->inner);
    proto__put_varint(&pprof->inner, stack->work_ns);
    proto__put_varint(&pprof->inner, stack->wait_ns ? stack->count : 0);
    proto__put_varint(&pprof->inner, stack->wait_ns);
    proto__put_varint(&pprof->inner, lost);
    proto__clear(&pprof->message);
    proto__message(&pprof->message, 1, &locations);
    proto__message(&pprof->message, 2, &pprof->inner);
    put_message(pprof, PROFILE_SAMPLE);
    proto__free(&locations);
}

static void put_types(struct pprof *pprof)
{
    static const char *const names[VALUES] = {[VALUE_WORK] = "work",
                                              [VALUE_WAITS] = "contentions",
                                              [VALUE_DELAY] = "delay",
                                              [VALUE_LOST] = "lost"};
    put_text(pprof, "");
    uint32_t ns = put_text(pprof, "nanoseconds"), count = put_text(pprof, "count"), work = 0;
    for (unsigned i = 0; i < VALUES; i++) {
        uint32_t name = put_text(pprof, names[i]);
        work = i == VALUE_WORK ? name : work;
        proto__clear(&pprof->message);
        proto__number(&pprof->message, 1, name);
        proto__number(&pprof->message, 2, i == VALUE_WAITS ? count : ns);
        put_message(pprof, PROFILE_TYPE);
    }
    proto__number(&pprof->out, PROFILE_DEFAULT, work);
}

static void put_run(struct pprof *pprof, const struct span_run *run)
{
    char *command = memory__text(run->command);
    for (char *at = command; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    proto__number(&pprof->out, PROFILE_COMMENT, put_text(pprof, command));
    free(command);
    proto__number(&pprof->out, PROFILE_LENGTH, run->to_ns - run->from_ns);
    if (run->start_realtime_ns)
        proto__number(&pprof->out, PROFILE_TIME, run->start_realtime_ns + run->from_ns);
}

static void finish(struct span_export *export)
{
    const struct span_stacks *stacks = export->own;
    struct pprof pprof = {.file = export->out};
    for (unsigned i = 0; i < SPAN_FRAMES; i++)
        pprof.frames[i] = VEC_OF(struct pprof_frame);
    if (deflateInit2(&pprof.zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        out_of_memory(1 << 18);
    put_types(&pprof);
    put_run(&pprof, export->run);
    VEC_EACH (stack, &stacks->all, struct span_stack)
        if (!ferror(export->out))
            put_sample(&pprof, stacks, stack);
    flush(&pprof, Z_FINISH);
    deflateEnd(&pprof.zip);
    for (unsigned i = 0; i < SPAN_FRAMES; i++)
        vec__free(&pprof.frames[i]);
    proto__free(&pprof.out);
    proto__free(&pprof.message);
    proto__free(&pprof.inner);
    span_stacks__free(export);
}

const struct span_exporter exporter_pprof = {.name = "pprof",
                                             .order = SPANS_IN_TIME,
                                             .is_binary = true,
                                             .tells_lost = true,
                                             METHODS_OF_STACKS,
                                             .finish = finish};
