/* openmp_cost.c: what constructs of OpenMP cost, in ns each: the least of several rounds. All but
 * the region of two threads have a team of one, so that neighbours on the machine matter little. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 9, REGIONS = 20000, LOOPS = 2000, MANY = 100000, FIB = 18, TASKS = 8360 };

static volatile double sink[64];

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void regions_of(int threads)
{
    for (long i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(threads)
        sink[omp_get_thread_num() * 8] = (double)i;
    }
}

static void region(void)
{
    regions_of(1);
}

static void region_of_two(void)
{
    regions_of(2);
}

static void static_loop(void)
{
    for (long i = 0; i < LOOPS; i++) {
#pragma omp parallel for schedule(static) num_threads(1)
        for (int j = 0; j < 1000; j++)
            sink[0] += j;
    }
}

static void critical(void)
{
#pragma omp parallel num_threads(1)
    for (long i = 0; i < MANY; i++) {
#pragma omp critical
        sink[0] += (double)i;
    }
}

static void chunk(void)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(1)
    for (long i = 0; i < MANY; i++)
        sink[0] += (double)i;
}

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void task(void)
{
    long sum = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
    sum = fib(FIB);
    sink[0] = (double)sum;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
        double times;
    } cases[] = {{"region", region, REGIONS},
                 {"region_of_two", region_of_two, REGIONS},
                 {"static_loop", static_loop, LOOPS},
                 {"critical", critical, MANY},
                 {"chunk", chunk, MANY},
                 {"task", task, TASKS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double least_ns = 1e18;
        for (int round = 0; round < ROUNDS; round++) {
            double before = thread_ns();
            cases[i].run();
            double ns = (thread_ns() - before) / cases[i].times;
            least_ns = ns < least_ns ? ns : least_ns;
        }
        printf("%s %.1f\n", cases[i].name, least_ns);
    }
    return 0;
}
