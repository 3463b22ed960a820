/* farm.c: rank 0 hands out jobs, and checks each result before the worker gets its next one.
 * TRUTH: rank=first; wait=late sender; waits_in=serve; works_in=verify
 * --fixed: workers check their results themselves. */
#include "ranks.h"

enum { JOBS = 1000, JOB_US = 700, CHECK_US = 1100, STOP = -1, QUICK_US = 10 };

static int is_fixed;

__attribute__((noinline)) static double solve(int job)
{
    SPEND(JOB_US);
    return job * 0.5;
}

__attribute__((noinline)) static double verify(double result)
{
    SPEND(CHECK_US);
    return result;
}

__attribute__((noinline)) static void hand_out(void)
{
    double sum = 0;
    int next = 0, working = 0, stop = STOP;
    for (int i = 1; i < ranks; i++, working++, next++)
        MPI_Send(&next, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    while (working) {
        double result;
        MPI_Status status;
        MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        sum += is_fixed ? result : verify(result);
        if (next < JOBS) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
            next++;
        } else {
            MPI_Send(&stop, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
            working--;
        }
    }
    printf("%g\n", sum);
}

__attribute__((noinline)) static void serve(void)
{
    for (;;) {
        int job;
        MPI_Recv(&job, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (job == STOP)
            return;
        double result = solve(job);
        if (is_fixed)
            result = verify(result);
        MPI_Send(&result, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    ranks__begin(&argc, &argv);
    is_fixed = has_option(argc, argv, "--fixed");
    if (rank == 0)
        hand_out();
    else
        serve();
    ranks__end();
    return 0;
}
