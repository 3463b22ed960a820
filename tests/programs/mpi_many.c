/* mpi_many.c: ranks of MPI that send each other very many messages of lengths that chance has, with
 * wildcards, probes, matched probes, persistent requests and exchanges; prints how many there were.
 * Which message is whose each rank knows beforehand, and checks: "wrong=" counts those that are
 * not.
 *
 * usage: mpi_many [MESSAGES] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { A_ROUND = 50, INTS_MOST = 64, RANKS_MOST = 16, TAGS = 4, KINDS = 7 };

struct message {
    int from, to, tag, ints;
};

struct box {
    int ints[INTS_MOST];
};

static int own_rank, ranks, expected;
static long messages, wrong;
static struct message sent[A_ROUND], all[RANKS_MOST * A_ROUND]; /* all: that come here, by sender */
static struct box out[A_ROUND], in[RANKS_MOST * A_ROUND];
static MPI_Request requests[(RANKS_MOST + 1) * A_ROUND];
static MPI_Status statuses[(RANKS_MOST + 1) * A_ROUND];

static uint32_t chance(uint32_t round, uint32_t from, uint32_t number, uint32_t what)
{
    uint32_t x =
        round * 2654435761u ^ from * 2246822519u ^ number * 3266489917u ^ what * 668265263u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    return x ^ x >> 16;
}

static struct message message_of(int round, int from, int number)
{
    uint32_t r = (uint32_t)round, f = (uint32_t)from, n = (uint32_t)number;
    return (struct message){.from = from,
                            .to = (int)(chance(r, f, n, 1) % (uint32_t)ranks),
                            .tag = (int)(chance(r, f, n, 2) % TAGS),
                            .ints = 2 + (int)(chance(r, f, n, 3) % (INTS_MOST - 1))};
}

static void begin(int round)
{
    expected = 0;
    for (int from = 0; from < ranks; from++)
        for (int i = 0; i < A_ROUND; i++) {
            struct message message = message_of(round, from, i);
            if (from == own_rank)
                sent[i] = message;
            if (message.to == own_rank)
                all[expected++] = message;
        }
    for (int i = 0; i < A_ROUND; i++)
        out[i] = (struct box){{own_rank, i}};
}

static void send_all(MPI_Request *to)
{
    for (int i = 0; i < A_ROUND; i++)
        MPI_Isend(&out[i], sent[i].ints, MPI_INT, sent[i].to, sent[i].tag, MPI_COMM_WORLD, &to[i]);
}

static void check(const struct box *box, const MPI_Status *status, int round)
{
    int ints = 0;
    MPI_Get_count(status, MPI_INT, &ints);
    struct message message = message_of(round, status->MPI_SOURCE, box->ints[1]);
    wrong += box->ints[0] != status->MPI_SOURCE || message.ints != ints ||
             message.tag != status->MPI_TAG || message.to != own_rank;
    messages++;
}

static void check_all(int round)
{
    for (int i = 0; i < expected; i++)
        check(&in[i], &statuses[i], round);
}

static void wildcards(int round)
{
    for (int i = 0; i < expected; i++)
        MPI_Irecv(&in[i], INTS_MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[i]);
    send_all(&requests[expected]);
    MPI_Waitall(expected + A_ROUND, requests, statuses);
    check_all(round);
}

static void from_each(int round)
{
    int indices[(RANKS_MOST + 1) * A_ROUND], done = 0;
    MPI_Status of_done[(RANKS_MOST + 1) * A_ROUND];
    for (int i = 0; i < expected; i++)
        MPI_Irecv(&in[i], INTS_MOST, MPI_INT, all[i].from, all[i].tag, MPI_COMM_WORLD,
                  &requests[i]);
    send_all(&requests[expected]);
    while (MPI_Waitsome(expected + A_ROUND, requests, &done, indices, of_done) == MPI_SUCCESS &&
           done != MPI_UNDEFINED)
        for (int i = 0; i < done; i++)
            statuses[indices[i]] = of_done[i];
    check_all(round);
}

static void probes(int round)
{
    MPI_Status of_sends[A_ROUND];
    send_all(requests);
    for (int i = 0; i < expected; i++) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &statuses[i]);
        MPI_Recv(&in[i], INTS_MOST, MPI_INT, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG,
                 MPI_COMM_WORLD, &statuses[i]);
    }
    check_all(round);
    MPI_Waitall(A_ROUND, requests, of_sends);
}

static void matched_probes(int round)
{
    MPI_Status of_sends[A_ROUND];
    MPI_Message message;
    send_all(requests);
    for (int i = 0; i < expected; i++) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&in[i], INTS_MOST, MPI_INT, &message, &statuses[i]);
    }
    check_all(round);
    MPI_Waitall(A_ROUND, requests, of_sends);
}

static void persistent(int round)
{
    for (int i = 0; i < expected; i++)
        MPI_Recv_init(&in[i], INTS_MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &requests[i]);
    for (int i = 0; i < A_ROUND; i++)
        MPI_Send_init(&out[i], sent[i].ints, MPI_INT, sent[i].to, sent[i].tag, MPI_COMM_WORLD,
                      &requests[expected + i]);
    MPI_Startall(expected + A_ROUND, requests);
    MPI_Waitall(expected + A_ROUND, requests, statuses);
    check_all(round);
    for (int i = 0; i < expected + A_ROUND; i++)
        MPI_Request_free(&requests[i]);
}

/* Those done are asked for one by one, in any order. */
static void any(int round)
{
    for (int i = 0; i < expected; i++)
        MPI_Irecv(&in[i], INTS_MOST, MPI_INT, MPI_ANY_SOURCE, all[i].tag, MPI_COMM_WORLD,
                  &requests[i]);
    send_all(&requests[expected]);
    for (int i = 0, index; i < expected + A_ROUND; i++) {
        MPI_Status status;
        MPI_Waitany(expected + A_ROUND, requests, &index, &status);
        statuses[index] = status;
    }
    check_all(round);
}

/* Around the ring: of messages that nobody else counts. */
static void exchanges(int round)
{
    int to = (own_rank + 1) % ranks, from = (own_rank + ranks - 1) % ranks, ints;
    for (int i = 0; i < A_ROUND; i++) {
        MPI_Status status;
        MPI_Sendrecv(&out[i], message_of(round, own_rank, i).ints, MPI_INT, to, i % TAGS, &in[0],
                     INTS_MOST, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &ints);
        wrong +=
            in[0].ints[0] != from || in[0].ints[1] != i || ints != message_of(round, from, i).ints;
        messages++;
    }
}

int main(int argc, char **argv)
{
    static void (*const kinds[KINDS])(int round) = {
        wildcards, from_each, probes, matched_probes, persistent, any, exchanges,
    };
    long wanted = argc > 1 ? atol(argv[1]) : 700, own[2], sums[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; ranks <= RANKS_MOST && (long)round * A_ROUND * ranks < wanted; round++) {
        begin(round);
        kinds[round % KINDS](round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    own[0] = messages;
    own[1] = wrong;
    MPI_Reduce(own, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (own_rank == 0)
        printf("messages=%ld\nwrong=%ld\n", sums[0], sums[1]);
    MPI_Finalize();
    return 0;
}
