/* export_folded.c: stacks with their time, a line each, as flamegraph.pl and its kin read them:
 *
 *     thread;function;function;call;lock microseconds
 *
 * A tree of stacks, in which each moment of a thread is added to the one that it is in then: as
 * work, or as waiting. So all lines of work and of wait together are what the threads lived. What
 * is below DEPTH_MOST frames counts in the deepest one that is told. */
#include "base/map.h"
#include "base/memory.h"
#include "base/sanitize.h"
#include "base/text.h"
#include "present/export/span_exporters.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 500u
#define STACKS_MOST 1000000u

enum frame_sort { FRAME_THREAD, FRAME_LABEL, FRAME_OBJECT, FRAME_STATE };

struct folded_stack {
    uint32_t parent; /* UINT32_MAX: none */
    uint32_t depth;
    uint32_t frame;                /* enum frame_sort in the low two bits, a number above */
    uint32_t recent_frame, recent; /* the child that was looked for last; 0: none was */
    uint64_t work_ns, wait_ns;
    uint64_t count; /* occurrences that ended there */
    const struct span_label *label;
};

/* One open span of a thread. */
struct folded_span {
    uint32_t stack, before; /* to which its time goes; what was around it */
    uint64_t work_ns, wait_ns;
};

struct folded_thread {
    struct vec open; /* struct folded_span */
    uint32_t root, stack;
    uint64_t since_ns;
    enum component state;
};

/* The least that an occurrence took of its own. */
struct folded_least {
    bool is_known;
    uint64_t work_ns, wait_ns;
};

struct folded {
    struct vec stacks; /* struct folded_stack */
    struct map children;
    struct vec texts[FRAME_STATE + 1]; /* char *: of frames, by number */
    struct vec least;                  /* struct folded_least, by label */
    struct folded_thread *threads;
    bool is_full;
};

/* ---- frames ---------------------------------------------------------------------------------- */

/* What ends a frame, or a line, may not be in it. */
static char *frame_text(char *text)
{
    char *clean = text__for_screen(text);
    for (char *at = clean; *at; at++)
        if (*at == ';')
            *at = ':';
    free(text);
    return clean;
}

/* The text of that number, made of text when there is none yet; takes it over. */
static void keep_text(struct folded *folded, enum frame_sort sort, uint32_t number, char *text)
{
    char **kept = VEC_REACH(&folded->texts[sort], char *, number);
    *kept = frame_text(text);
}

static bool has_text(const struct folded *folded, enum frame_sort sort, uint32_t number)
{
    const struct vec *texts = &folded->texts[sort];
    return number < texts->count && *VEC_AT(texts, char *, number);
}

static uint32_t add_stack(struct folded *folded, uint32_t parent, uint32_t frame)
{
    struct folded_stack stack = {.parent = parent, .frame = frame};
    if (parent != UINT32_MAX)
        stack.depth = VEC_AT(&folded->stacks, struct folded_stack, parent)->depth + 1;
    vec__push(&folded->stacks, &stack);
    return (uint32_t)folded->stacks.count - 1;
}

static uint32_t find_child(struct folded *folded, uint32_t parent, uint32_t frame)
{
    const uint32_t key[2] = {parent, frame};
    uint64_t child = map__get(&folded->children, key, sizeof key);
    if (child != MAP_ABSENT)
        return (uint32_t)child;
    folded->is_full = folded->is_full || folded->stacks.count >= STACKS_MOST;
    if (folded->is_full)
        return parent;
    child = add_stack(folded, parent, frame);
    map__put(&folded->children, key, sizeof key, child);
    return (uint32_t)child;
}

static uint32_t child_of(struct folded *folded, uint32_t parent, enum frame_sort sort,
                         uint32_t number)
{
    struct folded_stack *stack = VEC_AT(&folded->stacks, struct folded_stack, parent);
    uint32_t frame = number << 2 | sort;
    if (stack->recent && stack->recent_frame == frame)
        return stack->recent;
    if (stack->depth >= DEPTH_MOST)
        return parent;
    uint32_t child = find_child(folded, parent, frame);
    stack = VEC_AT(&folded->stacks, struct folded_stack, parent);
    stack->recent_frame = frame;
    stack->recent = child;
    return child;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool is_wait(const struct folded *folded, uint32_t stack)
{
    const struct span_label *label = VEC_AT(&folded->stacks, struct folded_stack, stack)->label;
    return label && !class_kind__is_code(label->kind);
}

static uint32_t stack_of_state(struct folded *folded, uint32_t stack, enum component state)
{
    if (!has_text(folded, FRAME_STATE, state))
        keep_text(folded, FRAME_STATE, state, memory__format("[%s]", span_state__name(state)));
    return child_of(folded, stack, FRAME_STATE, state);
}

/* What passed since the thread was told of last goes to where it is. */
static void add_time(struct folded *folded, struct folded_thread *thread, uint64_t ns)
{
    uint64_t passed = ns > thread->since_ns ? ns - thread->since_ns : 0;
    thread->since_ns = ns;
    if (!passed)
        return;
    bool in_wait = is_wait(folded, thread->stack), is_off = thread->state != COMPONENT_RUNNING;
    uint32_t stack =
        is_off && !in_wait ? stack_of_state(folded, thread->stack, thread->state) : thread->stack;
    struct folded_stack *to = VEC_AT(&folded->stacks, struct folded_stack, stack);
    *(in_wait || is_off ? &to->wait_ns : &to->work_ns) += passed;
    if (thread->open.count) {
        struct folded_span *span =
            VEC_AT(&thread->open, struct folded_span, thread->open.count - 1);
        *(in_wait || is_off ? &span->wait_ns : &span->work_ns) += passed;
    }
}

static struct folded_thread *thread_at(struct span_export *export, uint32_t thread, uint64_t ns)
{
    struct folded *folded = export->own;
    struct folded_thread *found = &folded->threads[thread];
    add_time(folded, found, ns);
    return found;
}

/* ---- the methods ----------------------------------------------------------------------------- */

static void begin(struct span_export *export)
{
    struct folded *folded = memory__zeroed(1, sizeof *folded);
    export->own = folded;
    folded->stacks = VEC_OF(struct folded_stack);
    folded->least = VEC_OF(struct folded_least);
    for (unsigned i = 0; i <= FRAME_STATE; i++)
        folded->texts[i] = VEC_OF(char *);
    folded->threads = memory__zeroed(export->run->thread_count + 1, sizeof *folded->threads);
    for (uint32_t i = 0; i < export->run->thread_count; i++)
        folded->threads[i].open = VEC_OF(struct folded_span);
}

/* Threads of one name have one root; where there are several processes, in each. */
static char *root_of(const struct span_run *run, uint32_t thread)
{
    const struct span_process *process = &run->processes[run->threads[thread].process];
    if (run->process_count < 2)
        return memory__text(run->threads[thread].name);
    return memory__format("%s %u %s", path__name(process->path), process->pid,
                          run->threads[thread].name);
}

static uint32_t find_root(struct folded *folded, const struct span_run *run, uint32_t thread)
{
    char *text = root_of(run, thread);
    uint64_t number = map__put(&folded->children, text, strlen(text) + 1, folded->stacks.count);
    if (number == folded->stacks.count) {
        keep_text(folded, FRAME_THREAD, thread, memory__text(text));
        add_stack(folded, UINT32_MAX, thread << 2 | FRAME_THREAD);
    }
    free(text);
    return (uint32_t)number;
}

static void began(struct span_export *export, uint32_t index, uint64_t ns)
{
    struct folded *folded = export->own;
    struct folded_thread *thread = &folded->threads[index];
    thread->root = thread->stack = find_root(folded, export->run, index);
    thread->since_ns = ns;
    thread->state = COMPONENT_RUNNING;
}

static void ended(struct span_export *export, uint32_t index, uint64_t ns)
{
    thread_at(export, index, ns);
}

static uint32_t stack_of_object(struct folded *folded, uint32_t stack,
                                const struct span_object *object)
{
    if (!has_text(folded, FRAME_OBJECT, object->number))
        keep_text(folded, FRAME_OBJECT, object->number,
                  memory__format("%s %s", object->noun, object->name));
    return child_of(folded, stack, FRAME_OBJECT, object->number);
}

static void enter(struct span_export *export, uint32_t index, const struct span_enter *enter)
{
    struct folded *folded = export->own;
    struct folded_thread *thread = thread_at(export, index, enter->ns);
    const struct span_label *label = enter->label;
    struct folded_span span = {.before = thread->stack};
    if (!has_text(folded, FRAME_LABEL, label->number))
        keep_text(folded, FRAME_LABEL, label->number, memory__text(label->name));
    thread->stack = child_of(folded, thread->stack, FRAME_LABEL, label->number);
    if (thread->stack != span.before)
        VEC_AT(&folded->stacks, struct folded_stack, thread->stack)->label = label;
    if (enter->object && thread->stack != span.before) {
        thread->stack = stack_of_object(folded, thread->stack, enter->object);
        VEC_AT(&folded->stacks, struct folded_stack, thread->stack)->label = label;
    }
    span.stack = thread->stack;
    vec__push(&thread->open, &span);
}

static void note_least(struct folded *folded, const struct span_label *label,
                       const struct folded_span *span)
{
    struct folded_least *least = VEC_REACH(&folded->least, struct folded_least, label->number);
    if (!least->is_known || span->work_ns < least->work_ns)
        least->work_ns = span->work_ns;
    if (!least->is_known || span->wait_ns < least->wait_ns)
        least->wait_ns = span->wait_ns;
    least->is_known = true;
}

static void leave(struct span_export *export, uint32_t index, const struct span_leave *leave)
{
    struct folded *folded = export->own;
    struct folded_thread *thread = thread_at(export, index, leave->ns);
    const struct folded_span *span =
        VEC_AT(&thread->open, struct folded_span, --thread->open.count);
    if (leave->end == SPAN_END_SEEN) {
        note_least(folded, leave->label, span);
        VEC_AT(&folded->stacks, struct folded_stack, span->stack)->count++;
    }
    thread->stack = span->before;
}

static void state(struct span_export *export, uint32_t index, uint64_t ns, enum component state)
{
    thread_at(export, index, ns)->state = state;
}

/* ---- the lines ------------------------------------------------------------------------------- */

/* Of occurrences that ended; what all of them need is none. Waits for other threads need not be. */
static uint64_t lost_of(const struct folded *folded, const struct folded_stack *stack)
{
    const struct span_label *label = stack->label;
    if (!label || label->number >= folded->least.count)
        return stack->wait_ns; /* off the CPU in what is around it */
    const struct folded_least *least = VEC_AT(&folded->least, struct folded_least, label->number);
    uint64_t needed = stack->count * (least->work_ns + least->wait_ns);
    uint64_t all = stack->work_ns + stack->wait_ns;
    if (label->is_idle)
        return 0;
    if (class_kind__waits_for_threads(label->kind))
        return all;
    return all > needed ? all - needed : 0;
}

static uint64_t value_of(const struct span_export *export, const struct folded_stack *stack)
{
    if (export->of && strcmp(export->of, "wait") == 0)
        return stack->wait_ns;
    if (export->of && strcmp(export->of, "lost") == 0)
        return lost_of(export->own, stack);
    return stack->work_ns;
}

static const char *text_of(const struct folded *folded, const struct folded_stack *stack)
{
    return *VEC_AT(&folded->texts[stack->frame & 3], char *, stack->frame >> 2);
}

/* The frames from the thread on. */
static void put_frames(const struct folded *folded, const struct folded_stack *stack, FILE *out)
{
    const struct folded_stack *frames[DEPTH_MOST + 1];
    size_t count = 0;
    for (; count <= DEPTH_MOST;
         stack = VEC_AT(&folded->stacks, struct folded_stack, stack->parent)) {
        frames[count++] = stack;
        if (stack->parent == UINT32_MAX)
            break;
    }
    while (count--) {
        fputs(text_of(folded, frames[count]), out);
        if (count)
            fputc(';', out);
    }
}

/* Whole us, so that their sum is right: what is less is carried on. */
static void put_lines(const struct span_export *export)
{
    const struct folded *folded = export->own;
    uint64_t carried = 0;
    VEC_EACH (stack, &folded->stacks, struct folded_stack) {
        uint64_t ns = value_of(export, stack) + carried;
        carried = ns % 1000;
        if (ns < 1000 || ferror(export->out))
            continue;
        put_frames(folded, stack, export->out);
        fprintf(export->out, " %llu\n", (unsigned long long)(ns / 1000));
    }
}

static void say_what_is_missing(const struct span_export *export)
{
    const struct folded *folded = export->own;
    if (!folded->is_full)
        return;
    char *sentence = memory__format(
        "there are more than %u different stacks: in others, frames behind these are left out",
        STACKS_MOST);
    vec__push(export->remarks, &sentence);
}

static void finish(struct span_export *export)
{
    struct folded *folded = export->own;
    put_lines(export);
    say_what_is_missing(export);
    for (uint32_t i = 0; i < export->run->thread_count; i++)
        vec__free(&folded->threads[i].open);
    for (unsigned i = 0; i <= FRAME_STATE; i++)
        texts__free(&folded->texts[i]);
    map__free(&folded->children);
    vec__free(&folded->stacks);
    vec__free(&folded->least);
    free(folded->threads);
    free(folded);
}

static const char *const ofs[] = {"work", "wait", "lost", NULL};

const struct span_exporter exporter_folded = {.name = "folded",
                                              .ofs = ofs,
                                              .order = SPANS_IN_TIME,
                                              .begin = begin,
                                              .began = began,
                                              .ended = ended,
                                              .enter = enter,
                                              .leave = leave,
                                              .state = state,
                                              .finish = finish};
