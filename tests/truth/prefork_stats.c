/* Worker processes keep their statistics side by side in memory that they share, each at an address
 * of its own.
 * TRUTH: false sharing|sharing; place=work|tally
 * Fixed: a cache line for each. */
#define _GNU_SOURCE
#include "truth.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct stats {
    uint64_t lines, words, bytes;
};

static void tally(volatile struct stats *stats, uint64_t line)
{
    stats->lines++;
    for (int part = 0; part < 8; part++) {
        stats->words += line >> part & 7;
        stats->bytes += line >> part & 63;
    }
}

static int work(int board, int worker, size_t apart)
{
    char *gap =
        mmap(NULL, 4096 * (size_t)(1 + 16 * worker), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, board, 0);
    if (gap == MAP_FAILED || at == MAP_FAILED)
        return 1;
    uint64_t line = (uint64_t)worker + 1;
    for (int i = 0; i < 80000000; i++) {
        line = mix(line, 2);
        tally((volatile struct stats *)(at + (size_t)worker * apart), line);
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t apart = is_fixed(argc, argv) ? 128 : sizeof(struct stats);
    int board = memfd_create("board", 0), failed = 0, status;
    if (board < 0 || ftruncate(board, 4096) < 0)
        return 1;
    for (int worker = 0; worker < 2; worker++)
        if (fork() == 0)
            _exit(work(board, worker, apart));
    while (wait(&status) > 0)
        failed |= status;
    return failed ? 1 : 0;
}
