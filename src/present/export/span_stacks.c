/* span_stacks.c: see span_stacks.h. */
#include "present/export/span_stacks.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- frames ---------------------------------------------------------------------------------- */

/* The text of that number, made of text when there is none yet; takes it over. */
static void keep_text(struct span_stacks *stacks, enum span_frame sort, uint32_t number, char *text)
{
    char **kept = VEC_REACH(&stacks->texts[sort], char *, number);
    *kept = text;
}

static bool has_text(const struct span_stacks *stacks, enum span_frame sort, uint32_t number)
{
    const struct vec *texts = &stacks->texts[sort];
    return number < texts->count && *VEC_AT(texts, char *, number);
}

static uint32_t add_stack(struct span_stacks *stacks, uint32_t parent, uint32_t frame)
{
    struct span_stack stack = {.parent = parent, .frame = frame};
    if (parent != UINT32_MAX)
        stack.depth = VEC_AT(&stacks->all, struct span_stack, parent)->depth + 1;
    vec__push(&stacks->all, &stack);
    return (uint32_t)stacks->all.count - 1;
}

static uint32_t find_child(struct span_stacks *stacks, uint32_t parent, uint32_t frame)
{
    const uint32_t key[2] = {parent, frame};
    uint64_t child = map__get(&stacks->children, key, sizeof key);
    if (child != MAP_ABSENT)
        return (uint32_t)child;
    stacks->is_full = stacks->is_full || stacks->all.count >= SPAN_STACKS_MOST;
    if (stacks->is_full)
        return parent;
    child = add_stack(stacks, parent, frame);
    map__put(&stacks->children, key, sizeof key, child);
    return (uint32_t)child;
}

static uint32_t child_of(struct span_stacks *stacks, uint32_t parent, enum span_frame sort,
                         uint32_t number)
{
    struct span_stack *stack = VEC_AT(&stacks->all, struct span_stack, parent);
    uint32_t frame = number << 2 | sort;
    if (stack->recent && stack->recent_frame == frame)
        return stack->recent;
    if (stack->depth >= SPAN_STACKS_DEPTH)
        return parent;
    uint32_t child = find_child(stacks, parent, frame);
    stack = VEC_AT(&stacks->all, struct span_stack, parent);
    stack->recent_frame = frame;
    stack->recent = child;
    return child;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool is_wait(const struct span_stacks *stacks, uint32_t stack)
{
    const struct span_label *label = VEC_AT(&stacks->all, struct span_stack, stack)->label;
    return label && !class_kind__is_code(label->kind);
}

static uint32_t stack_of_state(struct span_stacks *stacks, uint32_t stack, enum component state)
{
    if (!has_text(stacks, SPAN_FRAME_STATE, state))
        keep_text(stacks, SPAN_FRAME_STATE, state, memory__format("[%s]", span_state__name(state)));
    return child_of(stacks, stack, SPAN_FRAME_STATE, state);
}

/* What passed since the thread was told of last goes to where it is. */
static void add_time(struct span_stacks *stacks, struct stacks_thread *thread, uint64_t ns)
{
    uint64_t passed = ns > thread->since_ns ? ns - thread->since_ns : 0;
    thread->since_ns = ns;
    if (!passed)
        return;
    bool in_wait = is_wait(stacks, thread->stack), is_off = thread->state != COMPONENT_RUNNING;
    uint32_t stack =
        is_off && !in_wait ? stack_of_state(stacks, thread->stack, thread->state) : thread->stack;
    struct span_stack *to = VEC_AT(&stacks->all, struct span_stack, stack);
    *(in_wait || is_off ? &to->wait_ns : &to->work_ns) += passed;
    if (thread->open.count) {
        struct stacks_span *span =
            VEC_AT(&thread->open, struct stacks_span, thread->open.count - 1);
        *(in_wait || is_off ? &span->wait_ns : &span->work_ns) += passed;
    }
}

static struct stacks_thread *thread_at(struct span_export *export, uint32_t thread, uint64_t ns)
{
    struct span_stacks *stacks = export->own;
    struct stacks_thread *found = &stacks->threads[thread];
    add_time(stacks, found, ns);
    return found;
}

/* ---- the methods ----------------------------------------------------------------------------- */

void span_stacks__begin(struct span_export *export)
{
    struct span_stacks *stacks = memory__zeroed(1, sizeof *stacks);
    export->own = stacks;
    stacks->all = VEC_OF(struct span_stack);
    stacks->least = VEC_OF(struct stacks_least);
    for (unsigned i = 0; i < SPAN_FRAMES; i++)
        stacks->texts[i] = VEC_OF(char *);
    stacks->threads = memory__zeroed(export->run->thread_count + 1, sizeof *stacks->threads);
    for (uint32_t i = 0; i < export->run->thread_count; i++)
        stacks->threads[i].open = VEC_OF(struct stacks_span);
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

static uint32_t find_root(struct span_stacks *stacks, const struct span_run *run, uint32_t thread)
{
    char *text = root_of(run, thread);
    uint64_t number = map__put(&stacks->children, text, strlen(text) + 1, stacks->all.count);
    if (number == stacks->all.count) {
        keep_text(stacks, SPAN_FRAME_THREAD, thread, memory__text(text));
        add_stack(stacks, UINT32_MAX, thread << 2 | SPAN_FRAME_THREAD);
    }
    free(text);
    return (uint32_t)number;
}

void span_stacks__began(struct span_export *export, uint32_t index, uint64_t ns)
{
    struct span_stacks *stacks = export->own;
    struct stacks_thread *thread = &stacks->threads[index];
    thread->root = thread->stack = find_root(stacks, export->run, index);
    thread->since_ns = ns;
    thread->state = COMPONENT_RUNNING;
}

void span_stacks__ended(struct span_export *export, uint32_t index, uint64_t ns)
{
    thread_at(export, index, ns);
}

static uint32_t stack_of_object(struct span_stacks *stacks, uint32_t stack,
                                const struct span_object *object)
{
    if (!has_text(stacks, SPAN_FRAME_OBJECT, object->number))
        keep_text(stacks, SPAN_FRAME_OBJECT, object->number,
                  memory__format("%s %s", object->noun, object->name));
    return child_of(stacks, stack, SPAN_FRAME_OBJECT, object->number);
}

void span_stacks__enter(struct span_export *export, uint32_t index, const struct span_enter *enter)
{
    struct span_stacks *stacks = export->own;
    struct stacks_thread *thread = thread_at(export, index, enter->ns);
    const struct span_label *label = enter->label;
    struct stacks_span span = {.before = thread->stack};
    if (!has_text(stacks, SPAN_FRAME_LABEL, label->number))
        keep_text(stacks, SPAN_FRAME_LABEL, label->number, memory__text(label->name));
    thread->stack = child_of(stacks, thread->stack, SPAN_FRAME_LABEL, label->number);
    if (thread->stack != span.before)
        VEC_AT(&stacks->all, struct span_stack, thread->stack)->label = label;
    if (enter->object && thread->stack != span.before) {
        thread->stack = stack_of_object(stacks, thread->stack, enter->object);
        VEC_AT(&stacks->all, struct span_stack, thread->stack)->label = label;
    }
    span.stack = thread->stack;
    vec__push(&thread->open, &span);
}

static void note_least(struct span_stacks *stacks, const struct span_label *label,
                       const struct stacks_span *span)
{
    struct stacks_least *least = VEC_REACH(&stacks->least, struct stacks_least, label->number);
    if (!least->is_known || span->work_ns < least->work_ns)
        least->work_ns = span->work_ns;
    if (!least->is_known || span->wait_ns < least->wait_ns)
        least->wait_ns = span->wait_ns;
    least->is_known = true;
}

void span_stacks__leave(struct span_export *export, uint32_t index, const struct span_leave *leave)
{
    struct span_stacks *stacks = export->own;
    struct stacks_thread *thread = thread_at(export, index, leave->ns);
    const struct stacks_span *span =
        VEC_AT(&thread->open, struct stacks_span, --thread->open.count);
    if (leave->end == SPAN_END_SEEN) {
        note_least(stacks, leave->label, span);
        VEC_AT(&stacks->all, struct span_stack, span->stack)->count++;
    }
    thread->stack = span->before;
}

void span_stacks__state(struct span_export *export, uint32_t index, uint64_t ns,
                        enum component state)
{
    thread_at(export, index, ns)->state = state;
}

/* ---- the end --------------------------------------------------------------------------------- */

uint64_t span_stacks__lost(const struct span_stacks *stacks, const struct span_stack *stack)
{
    const struct span_label *label = stack->label;
    if (!label || label->number >= stacks->least.count)
        return stack->wait_ns;
    const struct stacks_least *least = VEC_AT(&stacks->least, struct stacks_least, label->number);
    uint64_t needed = stack->count * (least->work_ns + least->wait_ns);
    uint64_t all = stack->work_ns + stack->wait_ns;
    if (label->is_idle)
        return 0;
    if (class_kind__waits_for_threads(label->kind))
        return all;
    return stack->count && all > needed ? all - needed : 0;
}

const char *span_stacks__text(const struct span_stacks *stacks, const struct span_stack *stack)
{
    return *VEC_AT(&stacks->texts[stack->frame & 3], char *, stack->frame >> 2);
}

static void say_what_is_missing(const struct span_export *export)
{
    const struct span_stacks *stacks = export->own;
    if (!stacks->is_full)
        return;
    char *sentence = memory__format(
        "there are more than %u different stacks: in others, frames behind these are left out",
        SPAN_STACKS_MOST);
    vec__push(export->remarks, &sentence);
}

void span_stacks__free(struct span_export *export)
{
    struct span_stacks *stacks = export->own;
    say_what_is_missing(export);
    for (uint32_t i = 0; i < export->run->thread_count; i++)
        vec__free(&stacks->threads[i].open);
    for (unsigned i = 0; i < SPAN_FRAMES; i++)
        texts__free(&stacks->texts[i]);
    map__free(&stacks->children);
    vec__free(&stacks->all);
    vec__free(&stacks->least);
    free(stacks->threads);
    free(stacks);
}
