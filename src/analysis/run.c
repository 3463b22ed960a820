#include "analysis/run.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#define LANES_MOST 64u

/* What all lanes share; mutex: all but what is constant. */
struct crew {
    const struct thread_walk *walk;
    void *self;
    uint32_t threads;
    pthread_mutex_t mutex;
    uint32_t next;   /* thread that nobody has begun */
    uint32_t joined; /* threads */
    bool joins;      /* somebody does */
    void **parts;    /* by thread */
    bool *ended;     /* by thread: its part is there */
};

struct lane {
    struct crew *crew;
    unsigned number;
    pthread_t thread;
};

unsigned run__lanes(uint32_t threads)
{
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    unsigned lanes = cpus < (int)LANES_MOST ? (unsigned)cpus : LANES_MOST;
    lanes = lanes < threads ? lanes : threads;
    return lanes ? lanes : 1;
}

/* Joins what follows those that are joined; one does it for all. With the mutex, which is open
 * while it joins. */
static void join_ended(struct crew *crew)
{
    if (crew->joins)
        return;
    crew->joins = true;
    while (crew->joined < crew->threads && crew->ended[crew->joined]) {
        uint32_t thread = crew->joined;
        void *part = crew->parts[thread];
        pthread_mutex_unlock(&crew->mutex);
        crew->walk->join(crew->self, thread, part);
        pthread_mutex_lock(&crew->mutex);
        crew->joined++;
    }
    crew->joins = false;
}

static void *walk(void *argument)
{
    const struct lane *lane = argument;
    struct crew *crew = lane->crew;
    pthread_mutex_lock(&crew->mutex);
    while (crew->next < crew->threads) {
        uint32_t thread = crew->next++;
        pthread_mutex_unlock(&crew->mutex);
        void *part = crew->walk->thread(crew->self, lane->number, thread);
        pthread_mutex_lock(&crew->mutex);
        crew->parts[thread] = part;
        crew->ended[thread] = true;
        join_ended(crew);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

void run__threads(const struct thread_walk *thread_walk, void *self, uint32_t threads,
                  unsigned lanes)
{
    struct crew crew = {.walk = thread_walk, .self = self, .threads = threads};
    struct lane lane[LANES_MOST];
    unsigned started = 1;
    pthread_mutex_init(&crew.mutex, NULL);
    crew.parts = memory__zeroed(threads, sizeof *crew.parts);
    crew.ended = memory__zeroed(threads, sizeof *crew.ended);
    for (unsigned i = 0; i < LANES_MOST; i++)
        lane[i] = (struct lane){.crew = &crew, .number = i};
    while (started < lanes && started < LANES_MOST &&
           pthread_create(&lane[started].thread, NULL, walk, &lane[started]) == 0)
        started++;
    walk(&lane[0]);
    while (started > 1)
        pthread_join(lane[--started].thread, NULL);
    pthread_mutex_destroy(&crew.mutex);
    free(crew.parts);
    free(crew.ended);
}
