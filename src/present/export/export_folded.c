/* export_folded.c: stacks with their time (span_stacks.h), a line each, as flamegraph.pl and its
 * kin read them:
 *
 *     thread;function;function;call;lock microseconds */
#include "base/sanitize.h"
#include "present/export/span_stacks.h"

#include <stdlib.h>
#include <string.h>

static uint64_t value_of(const struct span_export *export, const struct span_stack *stack)
{
    if (export->of && strcmp(export->of, "wait") == 0)
        return stack->wait_ns;
    if (export->of && strcmp(export->of, "lost") == 0)
        return span_stacks__lost(export->own, stack);
    if (export->of && strcmp(export->of, "all") == 0)
        return stack->work_ns + stack->wait_ns;
    return stack->work_ns;
}

/* What ends a frame, or a line, may not be in it. */
static void clean_text(char **text)
{
    char *clean = text__for_screen(*text);
    for (char *at = clean; *at; at++)
        if (*at == ';')
            *at = ':';
    free(*text);
    *text = clean;
}

static void clean_texts(struct span_stacks *stacks)
{
    for (unsigned i = 0; i < SPAN_FRAMES; i++)
        VEC_EACH (text, &stacks->texts[i], char *)
            if (*text)
                clean_text(text);
}

/* The frames from the thread on. */
static void put_frames(const struct span_stacks *stacks, const struct span_stack *stack, FILE *out)
{
    const struct span_stack *frames[SPAN_STACKS_DEPTH + 2];
    size_t count = 0;
    for (; count < sizeof frames / sizeof frames[0];
         stack = VEC_AT(&stacks->all, struct span_stack, stack->parent)) {
        frames[count++] = stack;
        if (stack->parent == SPAN_STACKS_ROOT)
            break;
    }
    while (count--) {
        fputs(span_stacks__text(stacks, frames[count]), out);
        if (count)
            fputc(';', out);
    }
}

/* Whole us, so that their sum is right: what is less is carried on. */
static void finish(struct span_export *export)
{
    struct span_stacks *stacks = export->own;
    uint64_t carried = 0;
    clean_texts(stacks);
    VEC_EACH (stack, &stacks->all, struct span_stack) {
        uint64_t ns = value_of(export, stack) + carried;
        carried = ns % 1000;
        if (ns < 1000 || ferror(export->out))
            continue;
        put_frames(stacks, stack, export->out);
        fprintf(export->out, " %llu\n", (unsigned long long)(ns / 1000));
    }
    span_stacks__free(export);
}

static const char *const ofs[] = {"work", "wait", "lost", "all", NULL};

const struct span_exporter exporter_folded = {
    .name = "folded", .ofs = ofs, .order = SPANS_IN_TIME, METHODS_OF_STACKS, .finish = finish};
