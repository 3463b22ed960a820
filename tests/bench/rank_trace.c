/* rank_trace DIRECTORY stencil|all|master RANKS EVENTS: a trace of so many ranks of MPI, of about
 * so many events each, in which one rank is late by what is known. Prints what an analysis must
 * find:
 *
 *     late RANK      whom others waited for
 *     waited NS      by all ranks together; 0: not known beforehand
 *     messages N     from rank to rank
 *
 * stencil: a ring; each exchanges messages with both neighbours; one rank works longer than the
 * others. all: an operation of all ranks; one comes later than the others. master: each asks rank 0
 * for work, in turn, and gets it; rank 0 receives from any. */
#include "base/memory.h"
#include "format/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD 77u
#define BEGIN 1000u
#define LATE 50000u /* ns */
#define WORK 100000u
#define TRANSFER 2000u

static struct {
    struct trace_writer *writer;
    uint32_t ranks;
    uint64_t *now; /* by rank */
    uint64_t messages, waited;
} own;

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "rank_trace: out of memory (%zu bytes)\n", bytes);
    exit(1);
}

static void put(uint32_t rank, uint64_t tick, uint32_t id, const uint64_t *payload, size_t words)
{
    if (trace_writer__event(own.writer, rank, rank, tick, id, payload, words) < 0) {
        fprintf(stderr, "rank_trace: the trace is full\n");
        exit(1);
    }
}
#define PUT(rank, tick, id, ...)                         \
    put(rank, tick, id, (const uint64_t[]){__VA_ARGS__}, \
        sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void enter(uint32_t rank, uint32_t call)
{
    PUT(rank, own.now[rank], HEURT_EVENT_MESSAGE_CALL, HEURT_SITE(0x5000 + 16 * call, call), WORLD,
        8);
}

static void leave(uint32_t rank)
{
    PUT(rank, own.now[rank], HEURT_EVENT_MESSAGE_CALL | 1, 0);
}

static void sends(uint32_t rank, uint32_t to, uint32_t request)
{
    enter(rank, request ? HEURT_CALL_ISEND : HEURT_CALL_SEND);
    PUT(rank, own.now[rank], HEURT_EVENT_MESSAGE_SENT, HEURT_MESSAGE(request, WORLD),
        HEURT_MESSAGE(to, 1), 8);
    own.now[rank] += 100;
    leave(rank);
    own.messages++;
}

static void awaits(uint32_t rank, uint32_t from, uint32_t request)
{
    PUT(rank, own.now[rank], HEURT_EVENT_MESSAGE_AWAITED, HEURT_MESSAGE(request, WORLD),
        HEURT_MESSAGE(from, 1), 8);
}

static void is_done(uint32_t rank, uint32_t from, uint32_t request)
{
    PUT(rank, own.now[rank], HEURT_EVENT_MESSAGE_DONE, HEURT_MESSAGE(request, 0),
        HEURT_MESSAGE(from, 1), 8);
}

/* ---- what ranks do --------------------------------------------------------------------------- */

#define STENCIL_EVENTS 18u
static void stencil(uint64_t events)
{
    uint32_t count = own.ranks, late = count / 3, request = 0;
    uint64_t *sent = memory__zeroed(count, sizeof *sent);
    for (uint64_t i = 0; i < events / STENCIL_EVENTS; i++, request += 4) {
        for (uint32_t rank = 0; rank < count; rank++) {
            uint32_t peers[2] = {(rank + count - 1) % count, (rank + 1) % count};
            own.now[rank] += rank == late ? WORK + LATE : WORK;
            for (uint32_t side = 0; side < 2; side++) {
                enter(rank, HEURT_CALL_IRECV);
                awaits(rank, peers[side], request + 1 + side);
                own.now[rank] += 100;
                leave(rank);
            }
            sent[rank] = own.now[rank];
            for (uint32_t side = 0; side < 2; side++)
                sends(rank, peers[side], request + 3 + side);
            enter(rank, HEURT_CALL_WAITALL);
        }
        for (uint32_t rank = 0; rank < count; rank++) {
            uint32_t left = (rank + count - 1) % count, right = (rank + 1) % count;
            uint64_t last = sent[left] > sent[right] ? sent[left] : sent[right];
            own.now[rank] = (last > own.now[rank] ? last : own.now[rank]) + TRANSFER;
            is_done(rank, left, request + 1);
            is_done(rank, right, request + 2);
            is_done(rank, 0, request + 3);
            is_done(rank, 0, request + 4);
            leave(rank);
        }
    }
    printf("late %u\n", late);
    free(sent);
}

#define ALL_EVENTS 3u
static void all(uint64_t events)
{
    uint32_t late = own.ranks / 3;
    for (uint64_t i = 0; i < events / ALL_EVENTS; i++)
        for (uint32_t rank = 0; rank < own.ranks; rank++) {
            uint64_t next = own.now[rank] + WORK + LATE + TRANSFER;
            own.now[rank] += rank == late ? WORK + LATE : WORK;
            own.waited += rank == late ? 0 : LATE;
            enter(rank, HEURT_CALL_ALLTOALL);
            PUT(rank, own.now[rank], HEURT_EVENT_MESSAGE_COLLECTIVE, HEURT_MESSAGE(0, WORLD),
                HEURT_MESSAGE(HEURT_MESSAGE_ANY, HEURT_CALL_ALLTOALL), 8);
            own.now[rank] = next;
            leave(rank);
        }
    printf("late %u\n", late);
}

#define MASTER_EVENTS 7u
static void master(uint64_t events)
{
    uint32_t request = 0;
    for (uint64_t i = 0; i < events / MASTER_EVENTS / 2; i++)
        for (uint32_t rank = 1; rank < own.ranks; rank++) {
            own.now[rank] += WORK;
            uint64_t asked = own.now[rank];
            sends(rank, 0, 0);
            enter(rank, HEURT_CALL_RECV);
            awaits(rank, 0, ++request);
            enter(0, HEURT_CALL_RECV);
            awaits(0, HEURT_MESSAGE_ANY, request);
            own.now[0] = (asked > own.now[0] ? asked : own.now[0]) + TRANSFER;
            is_done(0, rank, request);
            leave(0);
            own.now[0] += WORK / 10;
            sends(0, rank, 0);
            own.now[rank] = (own.now[0] > own.now[rank] ? own.now[0] : own.now[rank]) + TRANSFER;
            is_done(rank, 0, request);
            leave(rank);
        }
    printf("late 0\n");
}

/* ---- the trace ------------------------------------------------------------------------------- */

static void define_process(uint32_t rank)
{
    static const char path[] = "/bin/app";
    struct {
        struct heurt_process what;
        char path[sizeof path];
    } body = {
        .what = {
            .pid = 1000 + rank, .parent_pid = 1, .tick = BEGIN, .parent_process = HEURT_NO_SERIAL}};
    memcpy(body.path, path, sizeof path);
    trace_writer__define(own.writer, rank, HEURT_DEFINITION_PROCESS, &body, sizeof body);
}

static void begin(uint32_t rank)
{
    define_process(rank);
    trace_writer__name_thread(own.writer, rank, 1000 + rank, 1000 + rank);
    own.now[rank] = BEGIN;
    PUT(rank, BEGIN, HEURT_EVENT_THREAD_START, 1, HEURT_NO_SERIAL, 0);
    enter(rank, HEURT_CALL_INIT);
    PUT(rank, BEGIN, HEURT_EVENT_MESSAGE_RANK, HEURT_MESSAGE(rank, own.ranks),
        HEURT_MESSAGE(HEURT_MESSAGE_MPICH, 0));
    PUT(rank, BEGIN, HEURT_EVENT_MESSAGE_COMMUNICATOR, HEURT_MESSAGE(own.ranks, WORLD),
        HEURT_MESSAGE(rank, 0), 0);
    own.now[rank] += 1000;
    leave(rank);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 0; /* nothing is asked for */
    uint64_t events = strtoull(argv[4], NULL, 10), last = 0;
    struct heurt_session settings = {
        .clock = HEURT_CLOCK_MONOTONIC, .limit_units = 1u << 22, .start = {BEGIN, BEGIN}};
    struct error error;
    own.ranks = (uint32_t)strtoul(argv[3], NULL, 10);
    own.now = memory__zeroed(own.ranks, sizeof *own.now);
    if (own.ranks < 2 || trace_writer__create(argv[1], &settings, &own.writer, &error) < 0) {
        fprintf(stderr, "rank_trace: %s\n", own.ranks < 2 ? "two ranks are the least" : error.text);
        return 1;
    }
    for (uint32_t rank = 0; rank < own.ranks; rank++)
        begin(rank);
    strcmp(argv[2], "stencil") == 0 ? stencil(events)
    : strcmp(argv[2], "all") == 0   ? all(events)
                                    : master(events);
    for (uint32_t rank = 0; rank < own.ranks; rank++) {
        PUT(rank, own.now[rank], HEURT_EVENT_THREAD_END, UINT64_MAX, UINT64_MAX);
        last = own.now[rank] > last ? own.now[rank] : last;
    }
    printf("waited %" PRIu64 "\nmessages %" PRIu64 "\n", own.waited, own.messages);
    free(own.now);
    return trace_writer__finish(own.writer, 0, (struct heurt_clock_pair){last, last}, &error) < 0;
}
