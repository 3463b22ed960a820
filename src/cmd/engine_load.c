#include "cmd/engine_load.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/ranks.h"
#include "engine/engine.h"
#include "recorder/install.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define STEP_ITEMS ((size_t)1 << 21)

/* Items of a vec are of one size in all processes. */
static void swap(const struct mpi_exchange *exchange, struct vec *given, struct vec *taken)
{
    const struct heurt_engine *engine = exchange->engine;
    uint32_t count = exchange->count;
    uint64_t *given_bytes = memory__zeroed(2ul * count, sizeof *given_bytes),
             *taken_bytes = given_bytes + count, all = 0;
    const void **from = memory__zeroed(count, sizeof *from);
    void **into = memory__zeroed(count, sizeof *into);
    for (uint32_t i = 0; i < count; i++) {
        given_bytes[i] = given[i].count * given[i].item_bytes;
        from[i] = given[i].items;
    }
    engine->swap_numbers(given_bytes, taken_bytes);
    for (uint32_t i = 0; i < count; i++)
        all += taken_bytes[i];
    char *place = all ? vec__extend(taken, all / taken->item_bytes) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        into[i] = place;
        place += place ? taken_bytes[i] : 0;
    }
    engine->swap_bytes(from, given_bytes, into, taken_bytes);
    for (uint32_t i = 0; i < count; i++)
        given[i].count = 0;
    free(given_bytes);
    free(from);
    free(into);
}

/* The MPI whose launcher started this process; NULL: none did. */
static const char *mpi_of_launcher(void)
{
    if (getenv("OMPI_COMM_WORLD_RANK"))
        return "openmpi";
    return getenv("PMI_RANK") || getenv("PMI_FD") ? "mpich" : NULL;
}

static int load(const char *mpi, struct mpi_exchange *exchange)
{
    char *file = runtime_sibling__find(HEURT_ENGINE_FILES, mpi);
    void *library = file ? dlopen(file, RTLD_NOW | RTLD_GLOBAL) : NULL;
    void *symbol = library ? dlsym(library, HEURT_ENGINE_FUNCTION) : NULL;
    heurt_engine_begin *begin = NULL;
    memcpy(&begin, &symbol, sizeof begin);
    const struct heurt_engine *engine = begin ? begin() : NULL;
    if (!engine)
        say("%s%s.so, by which processes of heurt work together, %s: %.100s; without mpirun, heurt "
            "analyse needs none",
            HEURT_ENGINE_FILES, mpi, library ? "cannot begin" : "is not there",
            library ? "its MPI does not start"
            : file  ? dlerror()
                    : "heurt was built without it");
    free(file);
    if (!engine)
        return EXIT_HEURT;
    *exchange =
        (struct mpi_exchange){engine->self, engine->count, STEP_ITEMS, swap, (void *)engine};
    return 0;
}

int engine__begin(struct mpi_exchange *exchange)
{
    const char *mpi = mpi_of_launcher();
    *exchange = (struct mpi_exchange){.count = 1, .step_items = STEP_ITEMS};
    return mpi ? load(mpi, exchange) : 0;
}

uint64_t engine__most(const struct mpi_exchange *exchange, uint64_t number)
{
    const struct heurt_engine *engine = exchange->engine;
    if (!engine)
        return number;
    uint64_t *given = memory__zeroed(2ul * exchange->count, sizeof *given),
             *taken = given + exchange->count;
    for (uint32_t i = 0; i < exchange->count; i++)
        given[i] = number;
    engine->swap_numbers(given, taken);
    for (uint32_t i = 0; i < exchange->count; i++)
        number = taken[i] > number ? taken[i] : number;
    free(given);
    return number;
}

void engine__end(struct mpi_exchange *exchange)
{
    const struct heurt_engine *engine = exchange->engine;
    if (engine)
        engine->finish();
    exchange->engine = NULL;
}
