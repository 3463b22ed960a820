/* structure_known.c: threads that run a known nest of loops and functions.
 *
 *     structure_known [--threads N] [--watchers N] [--setup N] [--iterations N] [--turns MIN MAX]
 *                     [--variants] [--hooked] [--marked] [--anomalies N] [--seed N] [--killed]
 *
 * Each of THREADS walkers runs
 *
 *     whole_setup ×SETUP         step_load ×4, step_index
 *     whole_iteration ×ITERATIONS
 *         step_gather
 *         step_sweep ×8          step_row ×4
 *         kind A: step_refine ×MIN … MAX, drawn anew for each iteration
 *         kind B: step_skip      with --variants, by chance; else there is no B
 *         step_norm
 *     step_finish
 *
 * and each of WATCHERS does step_poll ×2, step_note for every iteration.  What is drawn is the same
 * in all threads.  --hooked: the nest also shows through calls that heurt hooks, namely
 * a lock and an unlock in step_row, a write to /dev/null in step_sweep and, between iterations, a
 * barrier of all walkers.  --marked: the iterations are marked, each one, as "walk".  --anomalies:
 * so many occurrences of steps last long, at least TIMES_MIN times as long as the function's
 * median, in threads, functions and iterations drawn by the seed.
 * --killed: the first walker kills the process in step_norm of the last iteration, after it printed
 * what has ended until then.
 *
 * Prints how often each function was called (NAME=calls; of all threads), one line for each thread,
 * each iteration and each anomaly; iterations and occurrences count from 0, occurrences within
 * their thread. */
#include "heurt.h"
#include "known.h"

#include <limits.h>
#include <signal.h>
#include <x86intrin.h>

enum { LOADS = 4, SWEEPS = 8, ROWS = 4, POLLS = 2, THREADS_MAX = 64, ANOMALIES_MAX = 1000 };

/* One of so many occurrences in a thread may be long, or it would not stand out. */
enum { ALIKE_MIN = 8 };

/* Long occurrences are meant to be so many times as long as others; a median that comes out
 * longer than was measured beforehand leaves at least TIMES_MIN. */
enum { TIMES = 60, TIMES_MIN = 20, CALL_TURNS = 200, PROBES = 101, PROBE_TURNS = 1000 };

enum step { LOAD, INDEX, GATHER, ROW, SWEEP, REFINE, SKIP, NORM, FINISH, STEPS };

/* Work as turns of a short loop: what a step does itself, and with the steps that it calls. */
static const struct {
    const char *name;
    int own_turns, turns;
} steps[STEPS] = {
    [LOAD] = {"step_load", 600, 600},
    [INDEX] = {"step_index", 900, 900},
    [GATHER] = {"step_gather", 800, 800},
    [ROW] = {"step_row", 400, 400},
    [SWEEP] = {"step_sweep", 400, 400 + ROWS *(400 + CALL_TURNS)},
    [REFINE] = {"step_refine", 700, 700},
    [SKIP] = {"step_skip", 300, 300},
    [NORM] = {"step_norm", 1000, 1000},
    [FINISH] = {"step_finish", 500, 500},
};

static struct options {
    long threads, watchers, setup, iterations, turns_min, turns_max, anomalies, seed;
    bool variants, hooked, marked, killed;
} options = {
    .threads = 2, .setup = 20, .iterations = 200, .turns_min = 3, .turns_max = 3, .seed = 1};

/* What an iteration does where iterations differ. */
struct kind {
    bool is_b;
    int turns; /* of step_refine */
};

struct anomaly {
    int thread, step;
    long occurrence;  /* of the step, in its thread */
    const char *loop; /* where it was: setup, main or none */
    long iteration;   /* of that loop */
    uint64_t took_ticks;
};

struct walker {
    pthread_t thread;
    int index, tid;
    const char *loop;
    long iteration;
    pthread_mutex_t mutex;
    long calls[STEPS];
    long awaited[STEPS];         /* the next occurrence to last long; -1: none */
    uint64_t *took_ticks[STEPS]; /* by occurrence */
};

struct watcher {
    pthread_t thread;
    int tid;
    long polls, notes;
};

static struct walk {
    struct walker walkers[THREADS_MAX];
    struct watcher watchers[THREADS_MAX];
    struct kind *kinds;  /* by iteration */
    long planned[STEPS]; /* occurrences in each walker */
    struct anomaly *anomalies;
    double turn_ticks;
    pthread_barrier_t barrier;
    int null;
} walk;

void whole_setup(struct walker *walker);
void whole_iteration(struct walker *walker);
void step_load(struct walker *walker);
void step_index(struct walker *walker);
void step_gather(struct walker *walker);
void step_sweep(struct walker *walker);
void step_row(struct walker *walker);
void step_refine(struct walker *walker);
void step_skip(struct walker *walker);
void step_norm(struct walker *walker);
void step_finish(struct walker *walker);
void step_poll(struct watcher *watcher);
void step_note(struct watcher *watcher);
static void print(void);

/* ---- chance ---------------------------------------------------------------------------------- */

static uint64_t random__mixed(uint64_t value) /* splitmix64's last step */
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

/* The number at that place of a stream of its own; below limit. */
static long random__at(uint64_t stream, long place, long limit)
{
    uint64_t value = random__mixed((uint64_t)options.seed * 0x9e3779b97f4a7c15u + stream);
    return (long)(random__mixed(value + (uint64_t)place) % (uint64_t)limit);
}

/* ---- work ------------------------------------------------------------------------------------ */

static inline void work(int turns)
{
    uint64_t value = 1;
    for (int i = 0; i < turns; i++) {
        value = value * 3 + 1;
        __asm__ volatile("" : "+r"(value));
    }
}

static int compare_ticks(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Sorts them. */
static uint64_t median_ticks(uint64_t *ticks, long count)
{
    qsort(ticks, (size_t)count, sizeof *ticks, compare_ticks);
    return ticks[count / 2];
}

static void measure_turns(void)
{
    uint64_t took_ticks[PROBES];
    for (int i = 0; i < PROBES; i++) {
        uint64_t since_ticks = __rdtsc();
        work(PROBE_TURNS);
        took_ticks[i] = __rdtsc() - since_ticks;
    }
    walk.turn_ticks = (double)median_ticks(took_ticks, PROBES) / PROBE_TURNS;
}

/* ---- occurrences of steps -------------------------------------------------------------------- */

/* The anomaly that this occurrence is, or the next one of its step in its thread; or NULL. */
static struct anomaly *anomaly__at_or_after(const struct walker *walker, enum step step,
                                            long occurrence)
{
    struct anomaly *found = NULL;
    for (long i = 0; i < options.anomalies; i++) {
        struct anomaly *anomaly = &walk.anomalies[i];
        if (anomaly->thread == walker->index && anomaly->step == (int)step &&
            anomaly->occurrence >= occurrence &&
            (!found || anomaly->occurrence < found->occurrence))
            found = anomaly;
    }
    return found;
}

static void walker__await(struct walker *walker, enum step step, long occurrence)
{
    struct anomaly *anomaly = anomaly__at_or_after(walker, step, occurrence);
    walker->awaited[step] = anomaly ? anomaly->occurrence : -1;
}

static void last_long(struct walker *walker, enum step step, uint64_t since_ticks)
{
    struct anomaly *anomaly = anomaly__at_or_after(walker, step, walker->calls[step]);
    uint64_t end_ticks =
        since_ticks + (uint64_t)(walk.turn_ticks * (steps[step].turns + CALL_TURNS) * TIMES);
    while (__rdtsc() < end_ticks)
        work(CALL_TURNS);
    anomaly->loop = walker->loop;
    anomaly->iteration = walker->iteration;
    anomaly->took_ticks = __rdtsc() - since_ticks;
    walker__await(walker, step, walker->calls[step] + 1);
}

/* Does the step's own work and ends its occurrence; since_ticks: when that began. */
static inline __attribute__((always_inline)) void walker__do(struct walker *walker, enum step step,
                                                             uint64_t since_ticks)
{
    work(steps[step].own_turns);
    if (walker->calls[step] == walker->awaited[step])
        last_long(walker, step, since_ticks);
    walker->took_ticks[step][walker->calls[step]++] = __rdtsc() - since_ticks;
}

/* ---- the nest -------------------------------------------------------------------------------- */

KNOWN_FUNCTION void step_load(struct walker *walker)
{
    walker__do(walker, LOAD, __rdtsc());
}

KNOWN_FUNCTION void step_index(struct walker *walker)
{
    walker__do(walker, INDEX, __rdtsc());
}

KNOWN_FUNCTION void step_gather(struct walker *walker)
{
    walker__do(walker, GATHER, __rdtsc());
}

KNOWN_FUNCTION void step_row(struct walker *walker)
{
    uint64_t since_ticks = __rdtsc();
    if (options.hooked) {
        pthread_mutex_lock(&walker->mutex);
        pthread_mutex_unlock(&walker->mutex);
    }
    walker__do(walker, ROW, since_ticks);
}

KNOWN_FUNCTION void step_sweep(struct walker *walker)
{
    uint64_t since_ticks = __rdtsc();
    for (int row = 0; row < ROWS; row++)
        step_row(walker);
    if (options.hooked)
        KNOWN_CHECK(write(walk.null, "x", 1) == 1);
    walker__do(walker, SWEEP, since_ticks);
}

KNOWN_FUNCTION void step_refine(struct walker *walker)
{
    walker__do(walker, REFINE, __rdtsc());
}

KNOWN_FUNCTION void step_skip(struct walker *walker)
{
    walker__do(walker, SKIP, __rdtsc());
}

/* By calls that heurt leaves alone: they would be part of the iteration. */
static void end_killed(void)
{
    static char room[1 << 16];
    setvbuf(stdout, room, _IOFBF, sizeof room);
    print();
    fflush_unlocked(stdout);
    syscall(SYS_kill, getpid(), SIGKILL);
}

KNOWN_FUNCTION void step_norm(struct walker *walker)
{
    if (options.killed && walker->index == 0 && walker->iteration == options.iterations - 1)
        end_killed();
    walker__do(walker, NORM, __rdtsc());
}

KNOWN_FUNCTION void step_finish(struct walker *walker)
{
    walker__do(walker, FINISH, __rdtsc());
}

KNOWN_FUNCTION void whole_setup(struct walker *walker)
{
    for (int load = 0; load < LOADS; load++)
        step_load(walker);
    step_index(walker);
}

KNOWN_FUNCTION void whole_iteration(struct walker *walker)
{
    struct kind kind = walk.kinds[walker->iteration];
    step_gather(walker);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        step_sweep(walker);
    for (int turn = 0; turn < kind.turns; turn++)
        step_refine(walker);
    if (kind.is_b)
        step_skip(walker);
    step_norm(walker);
}

KNOWN_FUNCTION void step_poll(struct watcher *watcher)
{
    work(1000);
    watcher->polls++;
}

KNOWN_FUNCTION void step_note(struct watcher *watcher)
{
    work(500);
    watcher->notes++;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *walker__run(void *argument)
{
    struct walker *walker = argument;
    walker->tid = known__tid();
    walker->loop = "setup";
    for (walker->iteration = 0; walker->iteration < options.setup; walker->iteration++)
        whole_setup(walker);
    walker->loop = "main";
    for (walker->iteration = 0; walker->iteration < options.iterations; walker->iteration++) {
        if (options.marked)
            heurt_iteration("walk", 1);
        if (options.hooked)
            pthread_barrier_wait(&walk.barrier);
        whole_iteration(walker);
    }
    if (options.marked)
        heurt_iteration_end("walk");
    walker->loop = "none";
    walker->iteration = 0;
    step_finish(walker);
    return NULL;
}

static void *watcher__run(void *argument)
{
    struct watcher *watcher = argument;
    watcher->tid = known__tid();
    for (long i = 0; i < options.iterations; i++) {
        for (int poll = 0; poll < POLLS; poll++)
            step_poll(watcher);
        step_note(watcher);
    }
    return NULL;
}

static void run(void)
{
    for (int i = 0; i < options.threads; i++)
        KNOWN_CHECK(pthread_create(&walk.walkers[i].thread, NULL, walker__run, &walk.walkers[i]) ==
                    0);
    for (int i = 0; i < options.watchers; i++)
        KNOWN_CHECK(
            pthread_create(&walk.watchers[i].thread, NULL, watcher__run, &walk.watchers[i]) == 0);
    for (int i = 0; i < options.threads; i++)
        pthread_join(walk.walkers[i].thread, NULL);
    for (int i = 0; i < options.watchers; i++)
        pthread_join(walk.watchers[i].thread, NULL);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void plan_iterations(void)
{
    walk.kinds = calloc((size_t)options.iterations + 1, sizeof *walk.kinds);
    for (long i = 0; i < options.iterations; i++) {
        struct kind *kind = &walk.kinds[i];
        kind->is_b = options.variants && random__at(1, i, 2) == 1;
        if (!kind->is_b)
            kind->turns = (int)(options.turns_min +
                                random__at(2, i, options.turns_max - options.turns_min + 1));
        walk.planned[REFINE] += kind->turns;
        walk.planned[SKIP] += kind->is_b;
    }
    walk.planned[LOAD] = LOADS * options.setup;
    walk.planned[INDEX] = options.setup;
    walk.planned[GATHER] = walk.planned[NORM] = options.iterations;
    walk.planned[SWEEP] = SWEEPS * options.iterations;
    walk.planned[ROW] = ROWS * walk.planned[SWEEP];
    walk.planned[FINISH] = 1;
}

/* Whether that occurrence may be long beside the first count anomalies. */
static bool may_be_long(long count, const struct anomaly *drawn)
{
    long others = 0;
    for (long i = 0; i < count; i++) {
        const struct anomaly *other = &walk.anomalies[i];
        bool same = other->thread == drawn->thread && other->step == drawn->step;
        if (same && other->occurrence == drawn->occurrence)
            return false;
        others += same;
    }
    return others < walk.planned[drawn->step] / ALIKE_MIN;
}

/* A step first, then one of its occurrences: rows are many, but no more likely than others. */
static void plan_anomalies(void)
{
    walk.anomalies = calloc((size_t)options.anomalies + 1, sizeof *walk.anomalies);
    long count = 0;
    for (long draw = 0; count < options.anomalies; draw++) {
        KNOWN_CHECK(draw < 1000 * ANOMALIES_MAX); /* there is no room for so many */
        enum step step = (enum step)random__at(3, draw, STEPS);
        if (walk.planned[step] < ALIKE_MIN)
            continue; /* perhaps never called */
        struct anomaly drawn = {.thread = (int)random__at(4, draw, options.threads),
                                .step = (int)step,
                                .occurrence = random__at(5, draw, walk.planned[step])};
        if (may_be_long(count, &drawn))
            walk.anomalies[count++] = drawn;
    }
}

static void plan_walkers(void)
{
    for (int i = 0; i < options.threads; i++) {
        struct walker *walker = &walk.walkers[i];
        walker->index = i;
        pthread_mutex_init(&walker->mutex, NULL);
        for (int step = 0; step < STEPS; step++) {
            walker->took_ticks[step] = calloc((size_t)walk.planned[step] + 1, sizeof(uint64_t));
            walker__await(walker, (enum step)step, 0);
        }
    }
}

/* ---- what was done --------------------------------------------------------------------------- */

static long calls(enum step step)
{
    long calls = 0;
    for (int i = 0; i < options.threads; i++)
        calls += walk.walkers[i].calls[step];
    KNOWN_CHECK(options.killed || calls == options.threads * walk.planned[step]);
    return calls;
}

static void print_calls(void)
{
    for (int step = 0; step < STEPS; step++)
        known__number(steps[step].name, calls((enum step)step));
    known__number("step_poll", options.watchers * options.iterations * POLLS);
    known__number("step_note", options.watchers * options.iterations);
    known__number("whole_setup", calls(INDEX));
    known__number("whole_iteration", calls(NORM));
    known__number("locked", options.hooked ? calls(ROW) : 0);
    known__number("written", options.hooked ? calls(SWEEP) : 0);
    known__number("barrier_waits", options.hooked ? calls(GATHER) : 0);
}

static void print_loops(void)
{
    long kinds_b = walk.planned[SKIP];
    known__number("threads", options.threads);
    known__number("watchers", options.watchers);
    known__number("setup", options.setup);
    known__number("loads", LOADS);
    known__number("iterations", options.iterations);
    known__number("iterations_a", options.iterations - kinds_b);
    known__number("iterations_b", kinds_b);
    known__number("sweeps", SWEEPS);
    known__number("rows", ROWS);
    known__number("turns", walk.planned[REFINE]);
}

static void print_anomalies(void)
{
    for (long i = 0; i < options.anomalies; i++) {
        struct anomaly *anomaly = &walk.anomalies[i];
        struct walker *walker = &walk.walkers[anomaly->thread];
        uint64_t *copy = calloc((size_t)walk.planned[anomaly->step], sizeof *copy);
        memcpy(copy, walker->took_ticks[anomaly->step],
               (size_t)walk.planned[anomaly->step] * sizeof *copy);
        uint64_t median = median_ticks(copy, walk.planned[anomaly->step]);
        free(copy);
        KNOWN_CHECK(anomaly->took_ticks >= TIMES_MIN * median);
        printf("anomaly=%ld thread=%d tid=%d function=%s loop=%s iteration=%ld occurrence=%ld\n", i,
               anomaly->thread, walker->tid, steps[anomaly->step].name, anomaly->loop,
               anomaly->iteration, anomaly->occurrence);
    }
}

static void print(void)
{
    print_calls();
    print_loops();
    for (int i = 0; i < options.threads; i++)
        printf("thread=%d tid=%d role=walker\n", i, walk.walkers[i].tid);
    for (int i = 0; i < options.watchers; i++)
        printf("thread=%ld tid=%d role=watcher\n", options.threads + i, walk.watchers[i].tid);
    for (long i = 0; i < options.iterations; i++)
        printf("iteration=%ld kind=%c turns=%d\n", i, walk.kinds[i].is_b ? 'B' : 'A',
               walk.kinds[i].turns);
    print_anomalies();
}

static int usage(void)
{
    fputs("usage: structure_known [--threads N] [--watchers N] [--setup N] [--iterations N]\n"
          "                       [--turns MIN MAX] [--variants] [--hooked] [--marked]\n"
          "                       [--anomalies N] [--seed N] [--killed]\n",
          stderr);
    return 2;
}

static bool number(const char *text, long low, long high, long *value)
{
    char *end = NULL;
    *value = text ? strtol(text, &end, 10) : 0;
    return text && end != text && *end == '\0' && *value >= low && *value <= high;
}

static bool read_options(char **argv)
{
    const struct {
        const char *name;
        long *value, low, high;
    } numbers[] = {
        {"--threads", &options.threads, 1, THREADS_MAX},
        {"--watchers", &options.watchers, 0, THREADS_MAX},
        {"--setup", &options.setup, 0, INT_MAX},
        {"--iterations", &options.iterations, 0, INT_MAX},
        {"--anomalies", &options.anomalies, 0, ANOMALIES_MAX},
        {"--seed", &options.seed, 0, LONG_MAX},
        {"--turns", &options.turns_min, 0, 1000},
    };
    for (char **word = argv + 1; *word; word++) {
        bool known = true;
        if (strcmp(*word, "--variants") == 0)
            options.variants = true;
        else if (strcmp(*word, "--hooked") == 0)
            options.hooked = true;
        else if (strcmp(*word, "--marked") == 0)
            options.marked = true;
        else if (strcmp(*word, "--killed") == 0)
            options.killed = true;
        else
            known = false;
        for (size_t i = 0; !known && i < sizeof numbers / sizeof *numbers; i++)
            if (strcmp(*word, numbers[i].name) == 0) {
                known = number(*++word, numbers[i].low, numbers[i].high, numbers[i].value);
                if (known && numbers[i].value == &options.turns_min)
                    known = number(*++word, options.turns_min, 1000, &options.turns_max);
                break;
            }
        if (!known)
            return false;
    }
    return !options.killed || options.anomalies == 0; /* some might not be reached */
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!read_options(argv))
        return usage();
    walk.null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pthread_barrier_init(&walk.barrier, NULL, (unsigned)options.threads);
    measure_turns();
    plan_iterations();
    plan_anomalies();
    plan_walkers();
    run();
    print();
    return 0;
}
