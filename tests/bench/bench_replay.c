/* bench-replay: how many operations a second the replay of a program does, by how much its threads
 * get in each other's way, and the memory it takes.
 *
 * The programs are made up while they are replayed: sections of a lock, each followed by work, of
 * random length around a mean.  CPU time, the middle one of the rounds; what making the operations
 * up costs is in it. */
#include "analysis/replay/replay.h"
#include "base/memory.h"
#include "figure.h"
#include "options.h"
#include "statistics.h"

#include <json-c/json.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Ticks are ns. */
enum { WAKE = 5000, SLICE = 3000000, SWITCH = 1500, ROUNDS_MOST = SAMPLES_MOST };

struct load {
    const char *name, *title;
    enum replay_object_kind kind;
    bool one;                /* lock for all; else many a thread */
    uint32_t section, apart; /* mean ticks */
    uint32_t threads_a_cpu;
};

static const struct load loads[] = {
    {"many", "many locks", REPLAY_LOCK, false, 100, 1000, 1},
    {"one", "one lock for all", REPLAY_LOCK, true, 500, 1000, 1},
    {"one-crowded", "one lock for all, two threads a CPU", REPLAY_LOCK, true, 500, 1000, 2},
    {"many-crowded", "many locks, two threads a CPU", REPLAY_LOCK, false, 100, 1000, 2},
    {"barrier", "a barrier for all", REPLAY_BARRIER, true, 0, 1000, 1},
};
enum { LOADS = sizeof loads / sizeof loads[0] };

static const uint32_t thread_counts[] = {2, 4, 16, 100, 1000, 10000};
enum { COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "bench-replay: out of memory (%zu bytes)\n", bytes);
    exit(1);
}

/* ---- programs -------------------------------------------------------------------------------- */

struct made_up {
    struct replay_source source;
    const struct load *load;
    uint32_t locks;
    uint64_t operations; /* of each thread */
    struct made_up_thread {
        uint64_t random, done;
        uint32_t lock;
    } * threads;
    size_t heap_before, heap_at_end; /* bytes */
};

static size_t heap_bytes(void)
{
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

static uint32_t random_below(struct made_up_thread *thread, uint32_t limit)
{
    thread->random = thread->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((thread->random >> 32) * limit >> 32);
}

static bool next_made_up(struct replay_source *source, uint32_t index, struct replay_op *op)
{
    struct made_up *program = (struct made_up *)source;
    struct made_up_thread *thread = &program->threads[index];
    const struct load *load = program->load;
    if (thread->done == program->operations) {
        if (index == 0)
            program->heap_at_end = heap_bytes();
        return false;
    }
    bool begins = load->kind == REPLAY_BARRIER || thread->done++ % 2 == 0;
    uint32_t mean = begins ? load->apart : load->section;
    if (begins && !load->one)
        thread->lock = random_below(thread, program->locks);
    op->ticks = mean / 2 + random_below(thread, mean + 1);
    op->object = thread->lock;
    op->kind = begins ? REPLAY_ACQUIRE : REPLAY_RELEASE;
    if (load->kind == REPLAY_BARRIER) {
        thread->done++;
        op->kind = REPLAY_MEET;
    }
    return true;
}

struct measured {
    double rate;              /* operations a second */
    double waited_share;      /* of the threads' time until the end */
    double bytes_of_a_thread; /* objects included */
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t waited(const struct replay_result *result, uint32_t objects)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < objects; i++)
        sum += result->objects[i].waited;
    return sum;
}

static struct measured measure(const struct load *load, uint32_t threads, uint64_t operations)
{
    uint32_t objects = load->one ? 1 : 16 * threads;
    struct made_up program = {.source.next = next_made_up,
                              .load = load,
                              .locks = objects,
                              .operations = operations / threads / 2 * 2,
                              .threads = memory__zeroed(threads, sizeof *program.threads)};
    struct replay_object *locks = memory__zeroed(objects, sizeof *locks);
    for (uint32_t i = 0; i < objects; i++)
        locks[i] = (struct replay_object){load->kind, .parties = threads, .wake_ticks = WAKE};
    for (uint32_t i = 0; i < threads; i++)
        program.threads[i].random = i * 0x9e3779b97f4a7c15u;
    struct replay_model model = {.cpus = threads / load->threads_a_cpu,
                                 .slice_ticks = SLICE,
                                 .switch_ticks = SWITCH,
                                 .thread_count = threads,
                                 .object_count = objects,
                                 .objects = locks};
    struct replay_result result;
    program.heap_before = heap_bytes();
    double before = cpu_seconds();
    replay__run(&model, &program.source, &result);
    double seconds = cpu_seconds() - before;
    struct measured measured = {
        .rate = (double)(program.operations * threads) / seconds,
        .waited_share = (double)waited(&result, objects) / ((double)result.wall * threads),
        .bytes_of_a_thread = (double)(program.heap_at_end - program.heap_before) / threads,
    };
    replay_result__free(&result);
    free(program.threads);
    free(locks);
    return measured;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static struct measured measure_rounds(const struct load *load, uint32_t threads,
                                      uint64_t operations, size_t rounds)
{
    struct measured measured = {0};
    double rates[ROUNDS_MOST];
    for (size_t i = 0; i < rounds; i++) {
        measured = measure(load, threads, operations);
        rates[i] = measured.rate;
    }
    measured.rate = samples__median(rates, rounds);
    return measured;
}

static void tell(const struct load *load, uint32_t threads, struct measured measured,
                 struct json_object *json)
{
    if (!json) {
        printf("%-40s %7u %12.1f %9.0f %% %12.0f\n", load->title, threads, measured.rate / 1e6,
               measured.waited_share * 100, measured.bytes_of_a_thread);
        fflush(stdout);
        return;
    }
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "load", json_object_new_string(load->name));
    json_object_object_add(row, "threads", json_object_new_int64(threads));
    figure__add(row, "operations_per_second", measured.rate);
    figure__add(row, "waited_share", measured.waited_share);
    figure__add(row, "bytes_per_thread", measured.bytes_of_a_thread);
    json_object_array_add(json, row);
}

int main(int argc, char **argv)
{
    size_t runs = 5, millions = 4;
    bool as_json = false;
    int status = 0;
    const struct bench_option options[] = {
        {.name = "json", .flag = &as_json},
        {.name = "runs", .argument = "N", .number = &runs, .least = 1, .most = ROUNDS_MOST},
        {.name = "operations",
         .argument = "MILLIONS",
         .number = &millions,
         .least = 1,
         .most = 10000},
        {0},
    };
    if (!options__read(argc, argv, options, "", &status))
        return status;
    struct json_object *json = as_json ? json_object_new_array() : NULL;
    if (!json)
        printf("%-40s %7s %12s %11s %12s\n", "", "threads", "million op/s", "waited",
               "bytes/thread");
    for (size_t i = 0; i < LOADS; i++)
        for (size_t k = 0; k < COUNTS; k++)
            tell(&loads[i], thread_counts[k],
                 measure_rounds(&loads[i], thread_counts[k], millions * 1000000, runs), json);
    if (json)
        printf("%s\n", json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY));
    json_object_put(json);
    return 0;
}
