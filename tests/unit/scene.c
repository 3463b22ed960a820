#include "scene.h"

#include "analysis/analysis.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void begin(struct scene *scene, const struct heurt_session *settings)
{
    struct error error = {""};
    *scene = (struct scene){.directory = "/tmp/heurt-scene-XXXXXX"};
    assert_non_null(mkdtemp(scene->directory));
    scene->symbols = symbols__new();
    scene->rules = VEC_OF(struct profile_rule);
    if (trace_writer__create(scene->directory, settings, &scene->writer, &error) < 0)
        fail_msg("%s", error.text);
    scene__process(scene, 0, 100, HEURT_NO_SERIAL);
}

void scene__begin(struct scene *scene)
{
    begin(scene, &(struct heurt_session){
                     .clock = HEURT_CLOCK_MONOTONIC, .limit_units = 65536, .start = {1000, 1000}});
    scene->end = (struct heurt_clock_pair){2000, 2000};
}

void scene__begin_counter(struct scene *scene, uint64_t ticks_a_us)
{
    begin(scene, &(struct heurt_session){
                     .clock = HEURT_CLOCK_TSC, .limit_units = 65536, .start = {1000, 5}});
    scene->end = (struct heurt_clock_pair){1000 + 1000000 * ticks_a_us, 5 + 1000000000};
}

static void define(struct scene *scene, uint32_t process, enum heurt_definition_type type,
                   const void *what, size_t bytes, const char *const *texts, size_t count)
{
    char body[1024];
    memcpy(body, what, bytes);
    for (size_t i = 0; i < count; i++) {
        assert_true(bytes + strlen(texts[i]) + 1 < sizeof body);
        strcpy(body + bytes, texts[i]);
        bytes += strlen(texts[i]) + 1;
    }
    assert_int_equal(trace_writer__define(scene->writer, process, type, body, bytes), 0);
}

void scene__process(struct scene *scene, uint32_t serial, uint32_t pid, uint32_t parent)
{
    scene__program(scene, serial, pid, parent, "/bin/app");
}

void scene__program(struct scene *scene, uint32_t serial, uint32_t pid, uint32_t parent,
                    const char *path)
{
    struct heurt_process what = {
        .pid = pid, .parent_pid = 1, .tick = 1000, .parent_process = parent};
    define(scene, serial, HEURT_DEFINITION_PROCESS, &what, sizeof what, &path, 1);
}

void scene__module(struct scene *scene, uint32_t process, uint64_t start, uint64_t end,
                   uint8_t build_id, const char *path)
{
    struct heurt_module what = {.tick = 1000, .bias = start, .start = start, .end = end};
    if (build_id) {
        what.build_id_bytes = 20;
        memset(what.build_id, build_id, 20);
    }
    define(scene, process, HEURT_DEFINITION_MODULE, &what, sizeof what, &path, 1);
}

void scene__costs(struct scene *scene, uint32_t bias, uint32_t cost)
{
    scene->bias = bias;
    scene->cost = cost;
}

void scene__function(struct scene *scene, uint32_t process, uint32_t id, uint64_t address,
                     const char *name, const char *arguments)
{
    struct heurt_function what = {.id = id, .kind = HEURT_FUNCTION_PATCHED, .address = address};
    what.bias_ticks = scene->bias;
    what.cost_ticks = scene->cost;
    what.argument_count = *arguments != 0;
    for (const char *at = arguments; *at; at++)
        what.argument_count += *at == ',';
    const char *texts[] = {name, "", arguments};
    define(scene, process, HEURT_DEFINITION_FUNCTION, &what, sizeof what, texts, 3);
}

void scene__marker(struct scene *scene, uint32_t process, uint32_t id,
                   enum heurt_function_kind kind, const char *name, const char *file, uint32_t line)
{
    struct heurt_function what = {.id = id, .kind = kind, .address = 0x5000 + id, .line = line};
    const char *texts[] = {name, file, ""};
    define(scene, process, HEURT_DEFINITION_FUNCTION, &what, sizeof what, texts, 3);
}

void scene__put(struct scene *scene, uint32_t thread, uint64_t tick, uint32_t id,
                const uint64_t *first, size_t words)
{
    assert_true(thread < SCENE_THREADS);
    assert_int_equal(trace_writer__event(scene->writer, scene->process_of[thread], thread, tick, id,
                                         first + 1, words - 1),
                     0);
}

void scene__start(struct scene *scene, uint32_t thread, uint64_t tick)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_START, 1, HEURT_NO_SERIAL, 0);
}

void scene__end(struct scene *scene, uint32_t thread, uint64_t tick)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_END, UINT64_MAX, UINT64_MAX);
}

void scene__samples(struct scene *scene, uint32_t thread, uint64_t instruction, uint64_t from,
                    uint64_t to)
{
    for (uint64_t at = from; at < to; at += 10) {
        struct heurt_sample sample = {.monotonic_ns = at,
                                      .instruction = instruction,
                                      .pid = 100,
                                      .tid = 1000 + thread,
                                      .weight_ns = 10};
        assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL,
                                              HEURT_DEFINITION_SAMPLES, &sample, sizeof sample),
                         0);
    }
}

void scene__ignore(struct scene *scene, const char *function)
{
    struct profile_rule rule = {.type = RULE_IGNORE, .function = memory__text(function)};
    vec__push(&scene->rules, &rule);
}

void scene__key(struct scene *scene, const char *function, const char *arguments)
{
    struct profile_rule rule = {
        .type = RULE_KEY, .function = memory__text(function), .arguments = memory__text(arguments)};
    vec__push(&scene->rules, &rule);
}

/* To the tick, except that of a sampled function an occurrence stands for others. */
static void check_audit(const struct profile_audit *audit, size_t classes)
{
    assert_int_equal(audit->classes, classes);
    assert_int_equal(audit->wrong_components, 0);
    assert_int_equal(audit->wrong_reasons, 0);
    assert_int_equal(audit->wrong_threads, 0);
    assert_int_equal(audit->own_excess, audit->own_sum - audit->own_least);
    if (!audit->sampled_classes)
        assert_int_equal(audit->own_sum, audit->covered);
}

const struct profile *scene__profile(struct scene *scene)
{
    struct error error = {""};
    if (trace_writer__finish(scene->writer, 0, scene->end, &error) < 0 ||
        trace__open(scene->directory, &scene->trace, &error) < 0)
        fail_msg("%s", error.text);
    scene->writer = NULL;
    assert_int_equal(run__one(scene->trace, scene->symbols, &profile_analysis,
                              &(struct profile_options){CLASSES_BY_STRUCTURE, &scene->rules, 0.2},
                              (void **)&scene->profile, &error),
                     0);
    assert_int_equal(trace__damaged_chunks(scene->trace), 0);
    check_audit(&scene->profile->audit, scene->profile->classes.count);
    return scene->profile;
}

void scene__free(struct scene *scene)
{
    char path[128];
    profile__free(scene->profile);
    symbols__free(scene->symbols);
    trace__close(scene->trace);
    VEC_EACH (rule, &scene->rules, struct profile_rule) {
        free(rule->function);
        free(rule->arguments);
    }
    vec__free(&scene->rules);
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, scene->directory);
    unlink(path);
    rmdir(scene->directory);
}

const struct profile_class *scene__class(const struct scene *scene, enum class_kind kind,
                                         const char *function, uint64_t site, uint64_t object)
{
    const struct profile_class *found = NULL;
    VEC_EACH (class, &scene->profile->classes, struct profile_class) {
        if (class->what.at.kind != kind || strcmp(class->what.at.function, function) != 0 ||
            (site && class->what.at.site != site) || (object && class->what.object != object))
            continue;
        if (found)
            fail_msg("two classes %s", function);
        found = class;
    }
    if (!found)
        fail_msg("no class %s", function);
    return found;
}

size_t scene__classes(const struct scene *scene, enum class_kind kind)
{
    size_t count = 0;
    VEC_EACH (class, &scene->profile->classes, struct profile_class)
        count += class->what.at.kind == kind;
    return count;
}

int scene__setup(void **state)
{
    static struct scene scene;
    scene__begin(&scene);
    *state = &scene;
    return 0;
}

int scene__teardown(void **state)
{
    scene__free(*state);
    return 0;
}
