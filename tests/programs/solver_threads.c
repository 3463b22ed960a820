/* solver_threads.c: a multigrid solver of -u'' = f on [0, 1] in which threads share every sweep, as
 * codes with barriers do.  Each thread runs
 *
 *     set_up
 *     cycle ×CYCLES      for each level but the last: smooth ×2, restrict_level
 *                        smooth ×8 on the last
 *                        for each level but the last: prolong_level, smooth ×2
 *                        find_norm
 *
 * smooth does two half-sweeps and awaits all at a barrier after each; restrict_level and
 * prolong_level await all once, find_norm twice and takes a lock.
 *
 *     solver_threads [THREADS [CYCLES]]
 *
 * Prints how often each function was called, of all threads. */
#include "known.h"

#include <math.h>

enum { LEVELS = 12, INTERVALS = 1 << 13, SMOOTHS = 2, SMOOTHS_LAST = 8, THREADS_MAX = 64 };

struct level {
    long intervals; /* points 0 and intervals are the borders, where the solution is 0 */
    double *value, *right;
};

static struct solver {
    long threads, cycles;
    struct level levels[LEVELS];
    pthread_barrier_t barrier;
    pthread_mutex_t mutex;
    double square_sum, first_norm, norm;
} solver = {.threads = 4, .cycles = 20, .mutex = PTHREAD_MUTEX_INITIALIZER};

struct worker {
    pthread_t thread;
    long index;
    long set_ups, smooths, restrictions, prolongations, norms;
};

void set_up(struct worker *worker);
void smooth(struct worker *worker, struct level *level);
void restrict_level(struct worker *worker, const struct level *fine, struct level *coarse);
void prolong_level(struct worker *worker, const struct level *coarse, struct level *fine);
void find_norm(struct worker *worker);
void cycle(struct worker *worker);

/* This worker's part of the points 1 … intervals - 1: from first to before the return value. */
static long part(const struct worker *worker, long intervals, long *first)
{
    long inner = intervals - 1;
    *first = 1 + inner * worker->index / solver.threads;
    return 1 + inner * (worker->index + 1) / solver.threads;
}

static double residual(const struct level *level, long i)
{
    double width = 1.0 / (double)level->intervals;
    return level->right[i] -
           (2 * level->value[i] - level->value[i - 1] - level->value[i + 1]) / (width * width);
}

static void await_all(void)
{
    pthread_barrier_wait(&solver.barrier);
}

KNOWN_FUNCTION void set_up(struct worker *worker)
{
    struct level *level = &solver.levels[0];
    long first, end = part(worker, level->intervals, &first);
    for (long i = first; i < end; i++)
        level->right[i] = (double)(i * 7919 % 1013) / 1013 - 0.5;
    await_all();
    worker->set_ups++;
}

/* Gauss-Seidel: even points, then odd ones. */
KNOWN_FUNCTION void smooth(struct worker *worker, struct level *level)
{
    double width = 1.0 / (double)level->intervals;
    long first, end = part(worker, level->intervals, &first);
    for (long half = 0; half < 2; half++) {
        for (long i = first + ((first ^ half) & 1); i < end; i += 2)
            level->value[i] =
                (level->value[i - 1] + level->value[i + 1] + width * width * level->right[i]) / 2;
        await_all();
    }
    worker->smooths++;
}

KNOWN_FUNCTION void restrict_level(struct worker *worker, const struct level *fine,
                                   struct level *coarse)
{
    long first, end = part(worker, coarse->intervals, &first);
    for (long i = first; i < end; i++) {
        coarse->right[i] =
            (residual(fine, 2 * i - 1) + 2 * residual(fine, 2 * i) + residual(fine, 2 * i + 1)) / 4;
        coarse->value[i] = 0;
    }
    await_all();
    worker->restrictions++;
}

KNOWN_FUNCTION void prolong_level(struct worker *worker, const struct level *coarse,
                                  struct level *fine)
{
    long first, end = part(worker, fine->intervals, &first);
    for (long i = first; i < end; i++)
        fine->value[i] += (coarse->value[i / 2] + coarse->value[(i + 1) / 2]) / 2;
    await_all();
    worker->prolongations++;
}

KNOWN_FUNCTION void find_norm(struct worker *worker)
{
    const struct level *level = &solver.levels[0];
    long first, end = part(worker, level->intervals, &first);
    double sum = 0;
    for (long i = first; i < end; i++)
        sum += residual(level, i) * residual(level, i);
    pthread_mutex_lock(&solver.mutex);
    solver.square_sum += sum;
    pthread_mutex_unlock(&solver.mutex);
    await_all();
    if (worker->index == 0) {
        solver.norm = sqrt(solver.square_sum);
        solver.first_norm = solver.first_norm == 0 ? solver.norm : solver.first_norm;
        solver.square_sum = 0;
    }
    await_all();
    worker->norms++;
}

KNOWN_FUNCTION void cycle(struct worker *worker)
{
    struct level *levels = solver.levels;
    for (int i = 0; i < LEVELS - 1; i++) {
        for (int turn = 0; turn < SMOOTHS; turn++)
            smooth(worker, &levels[i]);
        restrict_level(worker, &levels[i], &levels[i + 1]);
    }
    for (int turn = 0; turn < SMOOTHS_LAST; turn++)
        smooth(worker, &levels[LEVELS - 1]);
    for (int i = LEVELS - 2; i >= 0; i--) {
        prolong_level(worker, &levels[i + 1], &levels[i]);
        for (int turn = 0; turn < SMOOTHS; turn++)
            smooth(worker, &levels[i]);
    }
    find_norm(worker);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    set_up(worker);
    for (long i = 0; i < solver.cycles; i++)
        cycle(worker);
    return NULL;
}

static void make_levels(void)
{
    for (int i = 0; i < LEVELS; i++) {
        struct level *level = &solver.levels[i];
        level->intervals = INTERVALS >> i;
        level->value = calloc((size_t)level->intervals + 1, sizeof *level->value);
        level->right = calloc((size_t)level->intervals + 1, sizeof *level->right);
        KNOWN_CHECK(level->value && level->right);
    }
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    struct worker all = {0};
    solver.threads = argc > 1 ? atol(argv[1]) : solver.threads;
    solver.cycles = argc > 2 ? atol(argv[2]) : solver.cycles;
    KNOWN_CHECK(solver.threads >= 1 && solver.threads <= THREADS_MAX && solver.cycles >= 1);
    make_levels();
    pthread_barrier_init(&solver.barrier, NULL, (unsigned)solver.threads);
    for (long i = 0; i < solver.threads; i++) {
        workers[i].index = i;
        KNOWN_CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (long i = 0; i < solver.threads; i++) {
        pthread_join(workers[i].thread, NULL);
        all.set_ups += workers[i].set_ups;
        all.smooths += workers[i].smooths;
        all.restrictions += workers[i].restrictions;
        all.prolongations += workers[i].prolongations;
        all.norms += workers[i].norms;
    }
    KNOWN_CHECK(solver.cycles < 10 || solver.norm < solver.first_norm / 1000);
    known__number("threads", solver.threads);
    known__number("cycles", solver.cycles);
    known__number("set_up", all.set_ups);
    known__number("cycle", solver.threads * solver.cycles);
    known__number("smooth", all.smooths);
    known__number("restrict_level", all.restrictions);
    known__number("prolong_level", all.prolongations);
    known__number("find_norm", all.norms);
    known__number("barrier_waits", all.set_ups + 2 * all.smooths + all.restrictions +
                                       all.prolongations + 2 * all.norms);
    fprintf(stderr, "norm %g, after the first cycle %g\n", solver.norm, solver.first_norm);
    return 0;
}
