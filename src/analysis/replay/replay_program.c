#include "analysis/replay/replay_program.h"

#include "analysis/analysis.h"
#include "analysis/replay/internal.h"
#include "base/memory.h"

#include <stdlib.h>
#include <unistd.h>

#define SLICE_NS 3000000 /* what Linux gives a thread that others wait for, about */
#define SWITCH_NS 2000

uint64_t program__object(const struct replay_program *program, uint32_t process,
                         enum class_kind kind, uint64_t address)
{
    uint64_t key[3] = {process, kind, address};
    return map__get(&program->places, key, sizeof key);
}

uint64_t program__ticks_of_ns(const struct replay_program *program, uint64_t ns)
{
    const uint64_t many = 1u << 30;
    uint64_t many_ns = trace__ns(program->trace, many);
    return many_ns ? (uint64_t)((double)ns * (double)many / (double)many_ns) : ns;
}

static uint32_t cpus_of(const struct trace *trace)
{
    const char *cpus = trace__meta(trace, "cpus");
    long count = cpus ? strtol(cpus, NULL, 10) : 0;
    return count > 0 && count < 1 << 20 ? (uint32_t)count : UINT32_MAX; /* not known: enough */
}

static void find_classes(struct replay_program *program)
{
    const struct vec *classes = &program->profile->classes;
    program->class_count = 0;
    VEC_EACH (class, classes, struct profile_class)
        if (class->number < ROW_NO_CLASS && class->number >= program->class_count)
            program->class_count = class->number + 1;
    program->classes = memory__zeroed(program->class_count, sizeof *program->classes);
    VEC_EACH (class, classes, struct profile_class)
        if (class->number < program->class_count)
            program->classes[class->number] = class;
}

static void find_ends(struct replay_program *program)
{
    bool any = false;
    for (size_t i = 0; i < program->thread_count; i++) {
        program->counts[i] = trace__thread_at(program->trace, i)->ended;
        any |= program->counts[i];
    }
    for (size_t i = 0; i < program->thread_count && !any; i++)
        program->counts[i] = true;
}

static struct replay_program *new_program(const struct trace *trace, const struct profile *profile)
{
    struct replay_program *program = memory__zeroed(1, sizeof *program);
    size_t threads = trace__threads(trace)->count;
    program->trace = trace;
    program->profile = profile;
    program->thread_count = threads;
    program->rows = memory__zeroed(threads, sizeof *program->rows);
    program->links = memory__zeroed(threads, sizeof *program->links);
    program->counts = memory__zeroed(threads, sizeof *program->counts);
    program->told_by = memory__zeroed(threads, sizeof *program->told_by);
    program->origins = memory__zeroed(threads, sizeof *program->origins);
    program->objects = VEC_OF(struct program_object);
    program->models = VEC_OF(struct replay_object);
    program->stretches = VEC_OF(struct program_stretch);
    program->crossings = VEC_OF(struct program_crossing);
    program->lates = VEC_OF(struct late_place);
    program->model.thread_count = (uint32_t)threads;
    program->model.cpus = cpus_of(trace);
    program->model.slice_ticks = program__ticks_of_ns(program, SLICE_NS);
    program->model.switch_ticks = program__ticks_of_ns(program, SWITCH_NS);
    for (size_t i = 0; i < threads; i++) {
        program->told_by[i] = UINT32_MAX;
        program->rows[i] = VEC_OF(struct row_op);
        program->links[i].posts = VEC_OF(struct thread_link);
        program->links[i].awaits = VEC_OF(struct thread_link);
        program->links[i].wakes = VEC_OF(uint64_t);
        program->links[i].handed = VEC_OF(uint64_t);
    }
    find_classes(program);
    find_ends(program);
    return program;
}

static void free_links(struct replay_program *program)
{
    for (size_t i = 0; i < program->thread_count; i++) {
        vec__free(&program->links[i].posts);
        vec__free(&program->links[i].awaits);
        vec__free(&program->links[i].wakes);
        vec__free(&program->links[i].handed);
    }
}

void replay_program__free(struct replay_program *program)
{
    if (!program)
        return;
    for (size_t i = 0; i < program->thread_count; i++)
        vec__free(&program->rows[i]);
    free_links(program);
    vec__free(&program->objects);
    vec__free(&program->models);
    map__free(&program->places);
    map__free(&program->teams);
    vec__free(&program->stretches);
    vec__free(&program->crossings);
    vec__free(&program->lates);
    free(program->rows);
    free(program->links);
    free(program->counts);
    free(program->origins);
    free(program->told_by);
    free(program->classes);
    free(program);
}

int replay_program__make(const struct trace *trace, const struct profile *profile,
                         const struct drawn_run *drawn, struct replay_program **program,
                         struct error *error)
{
    struct replay_program *made = new_program(drawn ? drawn_run__trace(drawn) : trace, profile);
    made->drawn = drawn;
    struct run run = run__of(made->trace, NULL);
    run__ask(&run, &rows_analysis, made);
    int result = run__analyse(&run, error);
    run__free(&run);
    free_links(made);
    if (result < 0) {
        replay_program__free(made);
        return result;
    }
    program__find_told(made);
    *program = made;
    return 0;
}

const struct replay_model *replay_program__model(const struct replay_program *program)
{
    return &program->model;
}

void replay_program__object(const struct replay_program *program, uint32_t object,
                            struct whatif_object *what)
{
    const struct program_object *row = VEC_AT(&program->objects, struct program_object, object);
    *what =
        (struct whatif_object){.address = row->address, .process = row->process, .kind = row->kind};
}

uint64_t replay_program__ops(const struct replay_program *program)
{
    return program->op_count;
}

bool replay_program__has_regions(const struct replay_program *program)
{
    return program->has_regions;
}
