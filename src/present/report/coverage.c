#include "base/map.h"
#include "base/memory.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>

/* Whether this row was not there before: images of one program are asked for the same functions.
 * address: in the module, as functions of one name are several; 0: not known. */
static bool is_new(struct map *seen, const struct coverage_row *row, uint64_t address)
{
    char *key = memory__format("%s%c%s%c%s%c%llx", row->function, 1, row->module, 1,
                               row->reason ? row->reason : "", 1, (unsigned long long)address);
    size_t count = seen->count;
    map__put(seen, key, strlen(key), 1);
    free(key);
    return seen->count > count;
}

static const char *module_of(const struct report *report, const struct trace_process *process,
                             const struct trace_function *function)
{
    const struct trace_module *module = process__module_of(process, function->address);
    if (module)
        return module->path;
    const struct symbol *symbol = symbols__get(report->symbols, process->serial, function->address);
    return symbol && symbol->module ? symbol->module : "";
}

static int compare(const void *left, const void *right)
{
    const struct coverage_row *a = left, *b = right;
    int order = a->reason && b->reason ? strcmp(a->reason, b->reason) : 0;
    order = order ?: strcmp(a->module, b->module);
    return order ?: strcmp(a->function, b->function);
}

static uint64_t address_in_module(const struct trace_process *process,
                                  const struct trace_function *function)
{
    const struct trace_module *module = process__module_of(process, function->address);
    return module ? function->address - module->bias : 0;
}

static void collect_process(const struct report *report, const struct trace_process *process,
                            struct map *seen, struct coverage *coverage)
{
    VEC_EACH (function, &process->functions, struct trace_function) {
        struct coverage_row row = {function->name, module_of(report, process, function), NULL};
        if (!is_new(seen, &row, address_in_module(process, function)))
            continue;
        if (function->kind == HEURT_FUNCTION_PATCHED)
            vec__push(&coverage->instrumented, &row);
        else
            coverage->markers++;
    }
    VEC_EACH (refusal, &process->refusals, struct trace_refusal) {
        struct coverage_row row = {refusal->function, refusal->module, refusal->reason};
        if (is_new(seen, &row, 0))
            vec__push(&coverage->refused, &row);
    }
}

static void drop(struct vec *rows, const struct coverage_row *what)
{
    size_t kept = 0;
    VEC_EACH (row, rows, struct coverage_row)
        if (strcmp(row->function, what->function) != 0 || strcmp(row->module, what->module) != 0)
            *VEC_AT(rows, struct coverage_row, kept++) = *row;
    rows->count = kept;
}

/* A function that was taken out of the running program had been instrumented; it counts as what it
 * became. */
static void drop_left_out(struct coverage *coverage)
{
    VEC_EACH (refused, &coverage->refused, struct coverage_row)
        if (strncmp(refused->reason, HEURT_LEFT_OUT, sizeof HEURT_LEFT_OUT - 1) == 0)
            drop(&coverage->instrumented, refused);
}

static void sort(struct vec *rows)
{
    vec__sort(rows, compare);
}

struct coverage coverage__collect(const struct report *report)
{
    struct coverage coverage = {VEC_OF(struct coverage_row), VEC_OF(struct coverage_row), 0};
    struct map seen = {0};
    VEC_EACH (process, trace__processes(report->trace), struct trace_process)
        collect_process(report, process, &seen, &coverage);
    map__free(&seen);
    drop_left_out(&coverage);
    sort(&coverage.instrumented);
    sort(&coverage.refused);
    return coverage;
}

void coverage__free(struct coverage *coverage)
{
    vec__free(&coverage->instrumented);
    vec__free(&coverage->refused);
}
