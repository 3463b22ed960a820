#include "place_patterns.h"

#include <string.h>

#define EACH 5e6    /* accesses of a thread in a step */
#define BUSY_NS 3e8 /* that it computes besides */
#define READS 0.7

enum { TOUCHED_BY_NODE = PATTERN_THREADS / PATTERN_NODES };

const char *pattern__name(enum pattern pattern)
{
    static const char *const names[PATTERNS] = {"private remote",
                                                "shared read-only",
                                                "shared written",
                                                "master-initialised",
                                                "migrating thread",
                                                "ping-pong",
                                                "hot huge page",
                                                "local",
                                                "tiny",
                                                "fork",
                                                "file-mapped",
                                                "mixed"};
    return names[pattern];
}

struct place_machine pattern__machine(void)
{
    static const double hops[PATTERN_NODES][PATTERN_NODES] = {
        {100, 160, 160, 220}, {160, 100, 220, 160}, {160, 220, 100, 160}, {220, 160, 160, 100}};
    struct place_machine machine = {.nodes = PATTERN_NODES,
                                    .controller_ns = 64 / 12.0,
                                    .link_ns = 64 / 6.0,
                                    .tells_latency = true,
                                    .tells_bandwidth = true};
    memcpy(machine.latency_ns, hops, sizeof hops);
    return machine;
}

static uint16_t node_of(uint32_t thread)
{
    return (uint16_t)(thread / TOUCHED_BY_NODE);
}

static void put_pages(struct place_stream *stream, uint32_t count, uint64_t from, uint16_t node,
                      uint8_t flags)
{
    for (uint32_t i = 0; i < count; i++)
        place_stream__page(stream,
                           (struct stream_page){.page = from + i, .node = node, .flags = flags});
}

static void put_threads(struct place_stream *stream, double busy_ns, double idle_ns)
{
    for (uint32_t i = 0; i < PATTERN_THREADS; i++)
        place_stream__thread(stream, (struct stream_thread){node_of(i), busy_ns, idle_ns});
}

/* So many accesses of a thread over a range of pages, in equal parts. */
static void use(struct place_stream *stream, uint32_t thread, uint32_t first, uint32_t pages,
                double accesses, double reads)
{
    for (uint32_t i = 0; i < pages; i++)
        place_stream__access(stream, thread, first + i, accesses * reads / pages,
                             accesses * (1 - reads) / pages);
}

static void repeat(struct place_stream *stream, size_t steps)
{
    for (size_t i = 0; i < steps; i++)
        place_stream__step(stream, 0, 0);
    stream->tells_progress = true;
}

/* Each thread has its part of the pages. */
static void use_parts(struct place_stream *stream, uint32_t first, uint32_t pages, double accesses)
{
    uint32_t part = pages / PATTERN_THREADS;
    for (uint32_t thread = 0; thread < PATTERN_THREADS; thread++)
        use(stream, thread, first + thread * part, part, accesses, READS);
}

static void use_all(struct place_stream *stream, uint32_t first, uint32_t pages, double accesses,
                    double reads)
{
    for (uint32_t thread = 0; thread < PATTERN_THREADS; thread++)
        use(stream, thread, first, pages, accesses, reads);
}

static void put_parts(struct place_stream *stream, uint32_t pages, uint64_t from, uint16_t shift)
{
    for (uint32_t i = 0; i < pages; i++)
        place_stream__page(stream,
                           (struct stream_page){
                               .page = from + i,
                               .node = (uint16_t)((node_of(i / (pages / PATTERN_THREADS)) + shift) %
                                                  PATTERN_NODES)});
}

/* ---- one by one -------------------------------------------------------------------------------
 */

static struct place_stream of_parts(uint16_t shift, bool is_masters)
{
    struct place_stream stream = place_stream__of(PATTERN_THREADS, 1);
    if (is_masters)
        put_pages(&stream, PATTERN_PAGES, 1 << 20, 0, 0);
    else
        put_parts(&stream, PATTERN_PAGES, 1 << 20, shift);
    put_threads(&stream, BUSY_NS, 0);
    use_parts(&stream, 0, PATTERN_PAGES, EACH);
    repeat(&stream, PATTERN_STEPS);
    return stream;
}

static struct place_stream of_shared(double reads, uint8_t flags)
{
    struct place_stream stream = place_stream__of(PATTERN_THREADS, 1);
    put_pages(&stream, PATTERN_PAGES, 1 << 20, 0, flags);
    put_threads(&stream, BUSY_NS, 0);
    use_all(&stream, 0, PATTERN_PAGES, EACH, reads);
    repeat(&stream, PATTERN_STEPS);
    return stream;
}

/* Node 1's threads are on node 3 from the third step on, and node 3's on node 1. */
static struct place_stream of_migrating(void)
{
    struct place_stream stream = of_parts(0, false);
    stream.steps.count = 0;
    for (uint32_t i = 0; i < PATTERN_THREADS; i++) {
        uint16_t node = node_of(i);
        place_stream__thread(&stream,
                             (struct stream_thread){node % 2 ? 4 - node : node, BUSY_NS, 0});
    }
    for (size_t i = 0; i < PATTERN_STEPS; i++)
        place_stream__step(&stream, 0, i < 2 ? 0 : PATTERN_THREADS);
    return stream;
}

/* In turn by the threads of node 1 and node 2; those of node 0 and node 3 have work of their own.
 */
static struct place_stream of_ping_pong(void)
{
    struct place_stream stream = place_stream__of(PATTERN_THREADS, 1);
    put_pages(&stream, PATTERN_PAGES, 1 << 20, 0, 0);
    put_pages(&stream, 64, 1 << 21, 0, 0);
    put_pages(&stream, 64, 1 << 22, 3, 0);
    put_threads(&stream, BUSY_NS, 0);
    for (uint32_t turn = 0; turn < 2; turn++) {
        size_t first = stream.rows.count;
        for (uint32_t i = 0; i < 4; i++) {
            use(&stream, 4 + 4 * turn + i, i * PATTERN_PAGES / 4, PATTERN_PAGES / 4, 2 * EACH,
                READS);
            use(&stream, i, PATTERN_PAGES, 64, 2 * EACH, READS);
            use(&stream, 12 + i, PATTERN_PAGES + 64, 64, 2 * EACH, READS);
        }
        place_stream__step(&stream, first, 0);
    }
    for (size_t i = 2; i < PATTERN_STEPS; i++) {
        struct stream_step step = *VEC_AT(&stream.steps, struct stream_step, i % 2);
        vec__push(&stream.steps, &step);
    }
    stream.tells_progress = true;
    return stream;
}

static struct place_stream of_hot_huge(void)
{
    struct place_stream stream = place_stream__of(PATTERN_THREADS, 1);
    put_pages(&stream, PLACE_HUGE_PAGES, 1 << 20, 0, PLACE_HUGE);
    put_parts(&stream, PATTERN_PAGES, 1 << 21, 0);
    put_threads(&stream, BUSY_NS, 0);
    use_all(&stream, 0, PLACE_HUGE_PAGES, EACH * 0.6, READS);
    use_parts(&stream, PLACE_HUGE_PAGES, PATTERN_PAGES, EACH * 0.4);
    repeat(&stream, PATTERN_STEPS);
    return stream;
}

/* Beside it another one works, so that the machine has accesses enough. */
static struct place_stream of_tiny(void)
{
    struct place_stream stream = place_stream__of(PATTERN_THREADS, 2);
    put_parts(&stream, PATTERN_PAGES, 1 << 20, 0);
    for (uint32_t i = 0; i < 64; i++)
        place_stream__page(
            &stream, (struct stream_page){.page = (1 << 21) + i, .application = 1, .node = 0});
    put_threads(&stream, BUSY_NS, 0);
    *VEC_AT(&stream.placed, struct stream_thread, PATTERN_THREADS - 1) =
        (struct stream_thread){3, 1e7, 7e8};
    *VEC_AT(&stream.of, uint32_t, PATTERN_THREADS - 1) = 1;
    use_parts(&stream, 0, PATTERN_PAGES, EACH);
    stream.rows.count -= PATTERN_PAGES / PATTERN_THREADS;
    use(&stream, PATTERN_THREADS - 1, PATTERN_PAGES, 64, EACH / 50, READS);
    repeat(&stream, PATTERN_STEPS);
    return stream;
}

/* A process a node. Each has pages of its own, which it wrote and which came from the parent's
 * node; what nobody wrote since the fork is one page of all of them. */
static struct place_stream of_fork(void)
{
    struct place_stream stream = place_stream__of(PATTERN_THREADS, PATTERN_NODES);
    uint32_t each = PATTERN_PAGES / PATTERN_NODES;
    for (uint32_t child = 0; child < PATTERN_NODES; child++)
        for (uint32_t i = 0; i < each; i++)
            place_stream__page(&stream,
                               (struct stream_page){.page = (1 << 20) + i,
                                                    .application = child,
                                                    .flags = i < each / 4 ? PLACE_SEVERAL : 0});
    put_threads(&stream, BUSY_NS, 0);
    for (uint32_t thread = 0; thread < PATTERN_THREADS; thread++) {
        uint32_t child = node_of(thread), first = child * each;
        *VEC_AT(&stream.of, uint32_t, thread) = child;
        use(&stream, thread, first, each / 4, EACH * 0.2, 1);
        use(&stream, thread, first + each / 4, 3 * each / 4, EACH * 0.8, READS);
    }
    repeat(&stream, PATTERN_STEPS);
    return stream;
}

/* A quarter of the pages each: PATTERN_MIXED's words. */
static struct place_stream of_mixed(void)
{
    struct place_stream stream = place_stream__of(PATTERN_THREADS, 1);
    put_parts(&stream, PATTERN_PART, 1 << 20, 1);
    put_pages(&stream, PATTERN_PART, 1 << 21, 0, 0);
    put_pages(&stream, PATTERN_PART, 3 << 20, 0, 0);
    put_parts(&stream, PATTERN_PART, 1 << 22, 0);
    put_threads(&stream, BUSY_NS, 0);
    use_parts(&stream, 0, PATTERN_PART, EACH * 0.3);
    use_all(&stream, PATTERN_PART, PATTERN_PART, EACH * 0.3, READS);
    use_all(&stream, 2 * PATTERN_PART, PATTERN_PART, EACH * 0.3, 1);
    use_parts(&stream, 3 * PATTERN_PART, PATTERN_PART, EACH * 0.1);
    repeat(&stream, PATTERN_STEPS);
    return stream;
}

struct place_stream pattern__stream(enum pattern pattern)
{
    switch (pattern) {
    case PATTERN_PRIVATE_REMOTE:
        return of_parts(1, false);
    case PATTERN_SHARED_READ:
        return of_shared(1, 0);
    case PATTERN_SHARED_WRITTEN:
        return of_shared(READS, 0);
    case PATTERN_MASTER:
        return of_parts(0, true);
    case PATTERN_MIGRATING:
        return of_migrating();
    case PATTERN_PING_PONG:
        return of_ping_pong();
    case PATTERN_HOT_HUGE:
        return of_hot_huge();
    case PATTERN_LOCAL:
        return of_parts(0, false);
    case PATTERN_TINY:
        return of_tiny();
    case PATTERN_FORK:
        return of_fork();
    case PATTERN_FILE:
        return of_shared(1, PLACE_FILE | PLACE_SEVERAL);
    default:
        return of_mixed();
    }
}

/* ---- programs of the papers -------------------------------------------------------------------
 */

/* streamcluster of PARSEC: nearly all accesses read a block that one thread made. */
struct place_stream stream__like_streamcluster(void)
{
    struct place_stream stream = place_stream__of(PATTERN_THREADS, 1);
    put_pages(&stream, PATTERN_PAGES, 1 << 20, 0, 0);
    put_parts(&stream, 64, 1 << 21, 0);
    put_threads(&stream, BUSY_NS / 3, 0);
    use_all(&stream, 0, PATTERN_PAGES, 2 * EACH * 0.97, 1);
    use_parts(&stream, PATTERN_PAGES, 64, 2 * EACH * 0.03);
    repeat(&stream, PATTERN_STEPS);
    return stream;
}

/* IS.D of NAS: in each step other pages, which one thread made and each uses a part of. */
struct place_stream stream__like_is(void)
{
    enum { STEPS = 20 };
    struct place_stream stream = place_stream__of(PATTERN_THREADS, 1);
    put_threads(&stream, BUSY_NS, 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        size_t first = stream.rows.count;
        uint32_t pages = (uint32_t)stream.pages.count;
        put_pages(&stream, PATTERN_PAGES, (1ull << 20) + (uint64_t)step * 4096, 0, 0);
        use_parts(&stream, pages, PATTERN_PAGES, EACH);
        place_stream__step(&stream, first, 0);
    }
    stream.tells_progress = true;
    return stream;
}
