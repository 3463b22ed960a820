/* markers.c: marks of heurt.h in a program's own source: known regions, nested, on threads, left
 * by break and return; and known iterations.  NAME=occurrences. */
#include "known.h"

#include "heurt.h"

enum { REGIONS = 1000, THREADS = 3, TURNS = 1000, STEP = 50, REST = 7, LOOPS = 4 };

static volatile long sink;

static void work(long turns)
{
    for (long i = 0; i < turns; i++)
        sink = i;
}

static void nested(void)
{
    for (int i = 0; i < REGIONS; i++) {
        heurt_begin("outer");
        work(10);
        heurt_begin("inner");
        work(10);
        heurt_end("inner");
        heurt_begin("inner"); /* a second place, the same region */
        heurt_end("inner");
        heurt_end("outer");
    }
}

/* Left by return in every third call, and by the end of the block. */
static int scoped(int i)
{
    HEURT_REGION("scoped");
    if (i % 3 == 0)
        return 1;
    for (int turn = 0; turn < 4; turn++) {
        HEURT_REGION("scoped in a loop");
        if (turn == 2)
            break;
    }
    return 0;
}

static void iterate(void)
{
    for (int loop = 0; loop < LOOPS; loop++) {
        for (int turn = 0; turn < TURNS; turn++) {
            heurt_iteration("loop", STEP);
            work(5);
        }
        heurt_iteration_end("loop");
        for (int turn = 0; turn < TURNS + REST; turn++) {
            heurt_iteration("loop with a rest", STEP);
            work(5);
        }
        heurt_iteration_end("loop with a rest");
    }
}

static void *on_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < REGIONS; i++) {
        heurt_begin("threaded");
        work(5);
        heurt_end("threaded");
    }
    iterate();
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int left = 0;
    nested();
    for (int i = 0; i < REGIONS; i++)
        left += scoped(i);
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, on_thread, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    iterate();
    known__number("outer", REGIONS);
    known__number("inner", 2 * REGIONS);
    known__number("scoped", REGIONS);
    known__number("scoped in a loop", 3L * (REGIONS - left));
    known__number("threaded", THREADS * REGIONS);
    known__number("loop", (THREADS + 1) * LOOPS * (TURNS / STEP));
    known__number("loop with a rest", (THREADS + 1) * LOOPS * (TURNS / STEP + 1));
    return 0;
}
