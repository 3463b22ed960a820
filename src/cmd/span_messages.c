/* span_messages.c: see span_messages.h. */
#include "cmd/span_messages.h"

#include "analysis/analysis.h"
#include "analysis/mpi/mpi.h"

static int by_tick(const void *a, const void *b)
{
    const struct message_end *left = a, *right = b;
    return ORDER(left->tick, right->tick)
               ?: ORDER(left->message.is_received, right->message.is_received)
               ?: ORDER(left->message.number, right->message.number);
}

/* One that is received before it is sent, by clocks of several hosts, is received when it is sent.
 */
static void add(struct vec *ends, uint64_t number, const struct mpi_message *message)
{
    struct span_message of = {.number = number,
                              .thread = message->from,
                              .other = message->to,
                              .bytes = message->bytes,
                              .tag = message->tag};
    uint64_t received = message->received_tick;
    vec__push(ends, &(struct message_end){message->sent_tick, of});
    of.thread = message->to;
    of.other = message->from;
    of.is_received = true;
    received = received > message->sent_tick ? received : message->sent_tick;
    vec__push(ends, &(struct message_end){received, of});
}

static void add_ranks(struct vec *ranks, const struct mpi_use *use, const bool *chosen)
{
    VEC_EACH (rank, &use->ranks, const struct mpi_rank)
        if (!chosen || chosen[rank->thread])
            vec__push(ranks, &rank->thread);
}

void span_messages__find(const struct report *report, const bool *chosen, struct vec *ends,
                         struct vec *ranks)
{
    struct vec messages = VEC_OF(struct mpi_message);
    const struct mpi_options options = {.messages = &messages};
    struct mpi_use *use = NULL;
    struct error error;
    uint64_t number = 0;
    run__one(report->trace, report->symbols, &mpi_analysis, &options, (void **)&use, &error);
    if (use)
        add_ranks(ranks, use, chosen);
    mpi_analysis.free(use);
    VEC_EACH (message, &messages, const struct mpi_message)
        if (!chosen || (chosen[message->from] && chosen[message->to]))
            add(ends, ++number, message);
    vec__free(&messages);
    vec__sort(ends, by_tick);
}
