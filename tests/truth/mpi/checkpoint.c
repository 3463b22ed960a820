/* checkpoint.c: after each ten steps rank 0 writes what it has gathered, while the others wait for
 * the next step's parameters. TRUTH: rank=first; wait=late broadcast; waits_in=parameters;
 * works_in=save|write|fsync|pwrite
 * --fixed: each rank keeps its own part in a file that nobody waits for. */
#include "ranks.h"

#include <fcntl.h>
#include <unistd.h>

enum { STEPS = 400, DOUBLES = 1 << 15, STEP_US = 1500, WRITES = 12, CHUNK = 1 << 12 };

static double field[DOUBLES];

__attribute__((noinline)) static void parameters(int step)
{
    double dt = 0.1 * step;
    MPI_Bcast(&dt, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    field[step % DOUBLES] += dt;
}

__attribute__((noinline)) static void advance(void)
{
    SPEND(STEP_US);
}

/* A slow disk: each piece is on it before the next one is written. */
__attribute__((noinline)) static void save(int pieces)
{
    char name[64];
    snprintf(name, sizeof name, "/tmp/checkpoint-%d.bin", (int)getpid());
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; file >= 0 && i < pieces; i++) {
        if (pwrite(file, field, CHUNK, i * (off_t)CHUNK) < 0)
            break;
        fsync(file);
        SPEND(1000);
    }
    if (file >= 0)
        close(file);
    unlink(name);
}

int main(int argc, char **argv)
{
    ranks__begin(&argc, &argv);
    int is_fixed = has_option(argc, argv, "--fixed");
    for (int step = 0; step < STEPS; step++) {
        parameters(step);
        advance();
        if (step % 10 == 9 && (is_fixed || rank == 0))
            save(is_fixed ? WRITES / ranks : WRITES);
    }
    ranks__end();
    return 0;
}
