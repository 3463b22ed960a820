#include "cmd/waiting.h"

#include "base/memory.h"
#include "cmd/progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define LOOKS_NS 100000000 /* between two looks at how far it is */
#define TOLD_FROM 0.05     /* before so much is done nobody knows how long all of it takes */

struct waiting {
    const char *what;
    const struct run *run;
    struct progress progress;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t over;
    bool is_over; /* mutex */
};

static void put(struct waiting *self)
{
    double seconds = progress__seconds(&self->progress);
    double done = self->run ? run__done(self->run) : 0;
    if (done < TOLD_FROM)
        progress__put(&self->progress, "%s: %.0f s", self->what, seconds);
    else
        progress__put(&self->progress, "%s: %.0f %%, about %.0f s left", self->what, 100 * done,
                      seconds * (1 - done) / done);
}

static void *tell(void *argument)
{
    struct waiting *self = argument;
    pthread_mutex_lock(&self->mutex);
    while (!self->is_over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOKS_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&self->over, &self->mutex, &until);
        if (!self->is_over && progress__is_due(&self->progress))
            put(self);
    }
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

struct waiting *waiting__start(const char *what, const struct run *run)
{
    struct progress progress = progress__start(true);
    if (!progress.wanted)
        return NULL;
    struct waiting *self = memory__zeroed(1, sizeof *self);
    *self = (struct waiting){.what = what, .run = run, .progress = progress};
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->over, NULL);
    if (pthread_create(&self->thread, NULL, tell, self) == 0)
        return self;
    free(self);
    return NULL;
}

void waiting__end(struct waiting *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->mutex);
    self->is_over = true;
    pthread_cond_signal(&self->over);
    pthread_mutex_unlock(&self->mutex);
    pthread_join(self->thread, NULL);
    progress__end(&self->progress);
    pthread_cond_destroy(&self->over);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}
