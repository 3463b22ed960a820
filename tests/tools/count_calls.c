/* count_calls DIRECTORY: prints for each function of a trace NAME=entered,left (name without its
 * parameters; all threads and processes), and unwound=how many calls exceptions left. */
#include "base/memory.h"
#include "format/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct count {
    const char *name; /* up to its first parenthesis */
    int length;
    unsigned long entered, left;
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "count_calls: out of memory (%zu bytes)\n", bytes);
    exit(2);
}

static struct count *count_of(struct vec *counts, const char *name)
{
    int length = (int)strcspn(name, "(");
    VEC_EACH (count, counts, struct count)
        if (count->length == length && memcmp(count->name, name, (size_t)length) == 0)
            return count;
    return vec__push(counts, &(struct count){.name = name, .length = length});
}

static void count_thread(const struct trace *trace, const struct trace_thread *thread,
                         struct vec *counts, unsigned long *unwound)
{
    const struct trace_process *process =
        VEC_AT(trace__processes(trace), struct trace_process, thread->process);
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, trace, thread);
    while (trace_cursor__next(&cursor, &event)) {
        *unwound += event.id == HEURT_EVENT_UNWOUND;
        const struct trace_function *function = trace_process__function(process, event.id & ~1u);
        struct count *count = function ? count_of(counts, function->name) : NULL;
        if (count)
            ++*(event.id & 1 ? &count->left : &count->entered);
    }
}

int main(int argc, char **argv)
{
    struct trace *trace;
    struct error error;
    if (argc != 2) {
        fputs("usage: count_calls DIRECTORY\n", stderr);
        return 2;
    }
    if (trace__open(argv[1], &trace, &error) != 0) {
        fprintf(stderr, "count_calls: %s\n", error.text);
        return 1;
    }
    struct vec counts = VEC_OF(struct count);
    unsigned long unwound = 0;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        count_thread(trace, thread, &counts, &unwound);
    VEC_EACH (count, &counts, struct count)
        printf("%.*s=%lu,%lu\n", count->length, count->name, count->entered, count->left);
    printf("unwound=%lu\n", unwound);
    vec__free(&counts);
    trace__close(trace);
    return 0;
}
