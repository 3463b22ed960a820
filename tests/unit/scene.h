/* scene.h: small traces for tests of analyses, written in the test and read back. */
#ifndef HEURT_TESTS_SCENE_H
#define HEURT_TESTS_SCENE_H

#include "analysis/ledger/profile.h"
#include "format/writer.h"

#define SCENE_THREADS 256

struct scene {
    char directory[64];
    struct trace_writer *writer;
    struct trace *trace;
    struct symbols *symbols;
    struct vec rules; /* struct profile_rule */
    struct profile *profile;
    struct heurt_clock_pair end;
    uint32_t process_of[SCENE_THREADS]; /* serial, by thread; 0 at first */
    uint32_t bias, cost;
};

/* A trace whose ticks are ns, from 1000 on. With ticks_a_us, ticks of a counter. */
void scene__begin(struct scene *scene);
void scene__begin_counter(struct scene *scene, uint64_t ticks_a_us);

/* For cmocka: a test whose state is a fresh scene. */
int scene__setup(void **state);
int scene__teardown(void **state);

void scene__process(struct scene *scene, uint32_t serial, uint32_t pid, uint32_t parent);
/* As scene__process, of another program than /bin/app. */
void scene__program(struct scene *scene, uint32_t serial, uint32_t pid, uint32_t parent,
                    const char *path);
void scene__module(struct scene *scene, uint32_t process, uint64_t start, uint64_t end,
                   uint8_t build_id, const char *path);
void scene__function(struct scene *scene, uint32_t process, uint32_t id, uint64_t address,
                     const char *name, const char *arguments);
/* Functions that are defined later cost that much to record: ticks. */
void scene__costs(struct scene *scene, uint32_t bias, uint32_t cost);
void scene__marker(struct scene *scene, uint32_t process, uint32_t id,
                   enum heurt_function_kind kind, const char *name, const char *file,
                   uint32_t line);
/* first: a word that is not used, then the payload. */
void scene__put(struct scene *scene, uint32_t thread, uint64_t tick, uint32_t id,
                const uint64_t *first, size_t words);
#define PUT(scene, thread, tick, id, ...)                             \
    scene__put(scene, thread, tick, id, (uint64_t[]){0, __VA_ARGS__}, \
               sizeof((uint64_t[]){0, __VA_ARGS__}) / sizeof(uint64_t))
void scene__start(struct scene *scene, uint32_t thread, uint64_t tick);
void scene__end(struct scene *scene, uint32_t thread, uint64_t tick);

/* One each 10 of that time, of a thread of process 0, at an instruction. */
void scene__samples(struct scene *scene, uint32_t thread, uint64_t instruction, uint64_t from,
                    uint64_t to);
void scene__ignore(struct scene *scene, const char *function);
void scene__key(struct scene *scene, const char *function, const char *arguments);

/* Writes, reads and profiles it, with a threshold of 0.2. Fails the test unless the parts of every
 * class add up. */
const struct profile *scene__profile(struct scene *scene);
void scene__free(struct scene *scene);

/* The one class of that kind and function name (and site or object when not 0); fails the test when
 * there is none or more. */
const struct profile_class *scene__class(const struct scene *scene, enum class_kind kind,
                                         const char *function, uint64_t site, uint64_t object);
size_t scene__classes(const struct scene *scene, enum class_kind kind);

#endif
