/* solver_openmp.c: conjugate gradients on a square grid, with five parallel regions in each
 * iteration, two of them reductions.  Every thread of the team runs
 *
 *     set_up
 *     iteration ×ITERATIONS     multiply, find_overlap, advance, find_norm, turn
 *
 * of which it sees the outlined functions (multiply._omp_fn.0 …) and the first thread the
 * functions themselves, too.
 *
 *     solver_openmp [THREADS [ITERATIONS]]
 *
 * Prints how often each region was entered. */
#include "known.h"

#include <omp.h>

enum { SIDE = 96, POINTS = (SIDE + 2) * (SIDE + 2) };

static struct solver {
    int threads;
    double solution[POINTS], residual[POINTS], direction[POINTS], product[POINTS];
    long set_ups, multiplications, overlaps, advances, norms, turns;
} solver = {.threads = 4};

double set_up(void);
void multiply(void);
double find_overlap(void);
void advance(double step);
double find_norm(void);
void turn(double share);
double iteration(double norm);

static inline int at(int row, int column)
{
    return row * (SIDE + 2) + column;
}

KNOWN_FUNCTION double set_up(void)
{
    double sum = 0;
#pragma omp parallel for num_threads(solver.threads) schedule(static) reduction(+ : sum)
    for (int row = 1; row <= SIDE; row++)
        for (int column = 1; column <= SIDE; column++) {
            double value = (double)((row * 31 + column * 17) % 29) - 14;
            solver.residual[at(row, column)] = solver.direction[at(row, column)] = value;
            sum += value * value;
        }
    solver.set_ups++;
    return sum;
}

KNOWN_FUNCTION void multiply(void)
{
    const double *p = solver.direction;
#pragma omp parallel for num_threads(solver.threads) schedule(static)
    for (int row = 1; row <= SIDE; row++)
        for (int column = 1; column <= SIDE; column++) {
            int i = at(row, column);
            solver.product[i] =
                4 * p[i] - p[i - 1] - p[i + 1] - p[i - (SIDE + 2)] - p[i + (SIDE + 2)];
        }
    solver.multiplications++;
}

KNOWN_FUNCTION double find_overlap(void)
{
    double sum = 0;
#pragma omp parallel for num_threads(solver.threads) schedule(static) reduction(+ : sum)
    for (int row = 1; row <= SIDE; row++)
        for (int i = at(row, 1); i <= at(row, SIDE); i++)
            sum += solver.direction[i] * solver.product[i];
    solver.overlaps++;
    return sum;
}

KNOWN_FUNCTION void advance(double step)
{
#pragma omp parallel for num_threads(solver.threads) schedule(static)
    for (int row = 1; row <= SIDE; row++)
        for (int i = at(row, 1); i <= at(row, SIDE); i++) {
            solver.solution[i] += step * solver.direction[i];
            solver.residual[i] -= step * solver.product[i];
        }
    solver.advances++;
}

KNOWN_FUNCTION double find_norm(void)
{
    double sum = 0;
#pragma omp parallel for num_threads(solver.threads) schedule(static) reduction(+ : sum)
    for (int row = 1; row <= SIDE; row++)
        for (int i = at(row, 1); i <= at(row, SIDE); i++)
            sum += solver.residual[i] * solver.residual[i];
    solver.norms++;
    return sum;
}

KNOWN_FUNCTION void turn(double share)
{
#pragma omp parallel for num_threads(solver.threads) schedule(static)
    for (int row = 1; row <= SIDE; row++)
        for (int i = at(row, 1); i <= at(row, SIDE); i++)
            solver.direction[i] = solver.residual[i] + share * solver.direction[i];
    solver.turns++;
}

KNOWN_FUNCTION double iteration(double norm)
{
    multiply();
    advance(norm / find_overlap());
    double next = find_norm();
    turn(next / norm);
    return next;
}

int main(int argc, char **argv)
{
    solver.threads = argc > 1 ? atoi(argv[1]) : solver.threads;
    long iterations = argc > 2 ? atol(argv[2]) : 50;
    KNOWN_CHECK(solver.threads >= 1 && iterations >= 1);
    double first = set_up(), norm = first;
    for (long i = 0; i < iterations; i++)
        norm = iteration(norm);
    KNOWN_CHECK(norm < first);
    known__number("threads", solver.threads);
    known__number("iterations", iterations);
    known__number("set_up", solver.set_ups);
    known__number("multiply", solver.multiplications);
    known__number("find_overlap", solver.overlaps);
    known__number("advance", solver.advances);
    known__number("find_norm", solver.norms);
    known__number("turn", solver.turns);
    fprintf(stderr, "square of the residual %g, at first %g\n", norm, first);
    return 0;
}
