/* Messages: which send is which receive's, and who waited for the other. Formulas: docs/mpi.md. */
#include "analysis/mpi/internal.h"

/* A send or a receive, under what they have in common. */
struct match_key {
    uint32_t communicator, from, to, tag;
};

struct match_item {
    struct match_key key;
    uint64_t order; /* among those of its rank */
    const struct rank_post *post;
};

static int by_key(const struct match_key *a, const struct match_key *b)
{
    return ORDER(a->communicator, b->communicator) ?: ORDER(a->from, b->from)
               ?: ORDER(a->to, b->to) ?: ORDER(a->tag, b->tag);
}

static int by_key_and_order(const void *a, const void *b)
{
    const struct match_item *left = a, *right = b;
    return by_key(&left->key, &right->key) ?: ORDER(left->order, right->order);
}

static struct vec items_of(struct mpi_job *job, bool sends)
{
    struct vec items = VEC_OF(struct match_item);
    VEC_EACH (record, &job->records, const struct rank_record) {
        uint64_t order = 0;
        VEC_EACH (post, sends ? &record->sends : &record->receives, const struct rank_post) {
            order++;
            job->use->cancelled += post->is_cancelled;
            if (post->is_cancelled || (!sends && post->done == NO_CALL))
                continue;
            uint32_t from = sends ? record->rank : post->peer,
                     to = sends ? post->peer : record->rank;
            vec__push(&items,
                      &(struct match_item){{post->communicator, from, to, post->tag}, order, post});
        }
    }
    vec__sort(&items, by_key_and_order);
    return items;
}

/* ---- one message ----------------------------------------------------------------------------- */

/* A message with the calls of both sides. */
struct matched {
    struct rank_record *sender, *receiver;
    const struct rank_post *send, *receive;
    struct rank_call *sent, *completed; /* when it was sent; when it was received */
};

static struct mpi_pair *pair_of(struct mpi_use *use, uint32_t from, uint32_t to)
{
    struct mpi_pair *last =
        use->pairs.count ? VEC_AT(&use->pairs, struct mpi_pair, use->pairs.count - 1) : NULL;
    if (last && last->from == from && last->to == to)
        return last;
    VEC_EACH (pair, &use->pairs, struct mpi_pair)
        if (pair->from == from && pair->to == to)
            return pair;
    last = vec__push(&use->pairs, NULL);
    *last = (struct mpi_pair){.from = from, .to = to, .least_bytes = UINT64_MAX};
    return last;
}

static struct mpi_communicator *communicator_of(struct mpi_use *use, uint32_t number)
{
    return VEC_FIND(&use->communicators, struct mpi_communicator, number, number);
}

/* Late sender: from entering the call that received it until the send was entered, within it. */
static uint64_t late_sender(const struct matched *message)
{
    const struct rank_call *call = message->completed;
    uint64_t until = tick__earlier(message->sent->enter, call->leave);
    return until > call->enter ? until - call->enter : 0;
}

/* Late receiver: a send that ended only when the receive had been posted waited for that. */
static uint64_t late_receiver(const struct matched *message, const struct rank_call *blocked)
{
    uint64_t posted = message->receive->tick;
    return posted > blocked->enter && posted < blocked->leave ? posted - blocked->enter : 0;
}

static void take_message(struct mpi_job *job, const struct matched *message)
{
    uint32_t from = message->sender->rank, to = message->receiver->rank;
    struct mpi_pair *pair = pair_of(job->use, from, to);
    struct mpi_communicator *in = communicator_of(job->use, message->send->communicator);
    uint64_t bytes = message->receive->bytes, waited = late_sender(message);
    pair->messages++;
    pair->bytes += bytes;
    pair->least_bytes = tick__earlier(pair->least_bytes, bytes);
    pair->most_bytes = bytes > pair->most_bytes ? bytes : pair->most_bytes;
    if (in) {
        in->messages++;
        in->bytes += bytes;
    }
    pair->late_sender_ns += waited; /* ticks until all are there, as below */
    if (waited)
        rank_call__waits(message->completed, message->completed->enter + waited,
                         MPI_WAIT_LATE_SENDER, from);
    if (message->send->done == NO_CALL)
        return;
    struct rank_call *blocked = rank_record__call(message->sender, message->send->done);
    waited = late_receiver(message, blocked);
    pair->late_receiver_ns += waited;
    if (waited)
        rank_call__waits(blocked, blocked->enter + waited, MPI_WAIT_LATE_RECEIVER, to);
}

/* ---- wrong order ----------------------------------------------------------------------------- */

/* A message that a rank received. */
struct arrived {
    struct rank_call *call;
    uint64_t received, sent; /* when its call was entered, on both sides */
    uint32_t rank, from;
};

static int by_rank_and_time(const void *a, const void *b)
{
    const struct arrived *left = a, *right = b;
    return ORDER(left->rank, right->rank) ?: ORDER(left->from, right->from)
               ?: ORDER(left->received, right->received);
}

/* A late sender is waited for in the wrong order where what is received from it later had been sent
 * before the wait began. */
static void find_wrong_order(struct vec *arrived)
{
    uint64_t earliest = UINT64_MAX, next = UINT64_MAX;
    uint64_t received = UINT64_MAX;
    uint32_t rank = MPI_NOBODY, from = MPI_NOBODY;
    vec__sort(arrived, by_rank_and_time);
    for (size_t i = arrived->count; i-- > 0;) {
        const struct arrived *one = VEC_AT(arrived, struct arrived, i);
        if (one->rank != rank || one->from != from)
            earliest = next = UINT64_MAX;
        else if (one->received != received) /* behind this one: not in the same call */
            earliest = next;
        rank = one->rank;
        from = one->from;
        received = one->received;
        if (one->call->wait == MPI_WAIT_LATE_SENDER && one->call->blocker == one->from &&
            earliest < one->received)
            one->call->wait = MPI_WAIT_WRONG_ORDER;
        next = tick__earlier(next, one->sent);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void take_match(struct mpi_job *job, const struct match_item *send,
                       const struct match_item *receive, struct vec *arrived)
{
    struct matched message = {mpi_job__rank(job, send->key.from), mpi_job__rank(job, send->key.to),
                              send->post, receive->post};
    message.sent = rank_record__call(message.sender, send->post->call);
    message.completed = rank_record__call(message.receiver, receive->post->done);
    job->use->matched++;
    take_message(job, &message);
    vec__push(arrived,
              &(struct arrived){message.completed, message.completed->enter, message.sent->enter,
                                message.receiver->rank, message.sender->rank});
}

static int by_ranks(const void *a, const void *b)
{
    const struct mpi_pair *left = a, *right = b;
    return ORDER(left->from, right->from) ?: ORDER(left->to, right->to);
}

void mpi_job__match(struct mpi_job *job)
{
    struct vec sends = items_of(job, true), receives = items_of(job, false);
    struct vec arrived = VEC_OF(struct arrived);
    size_t i = 0, j = 0;
    while (i < sends.count && j < receives.count) {
        const struct match_item *send = VEC_AT(&sends, struct match_item, i);
        const struct match_item *receive = VEC_AT(&receives, struct match_item, j);
        int order = by_key(&send->key, &receive->key);
        job->use->unmatched_sends += order < 0;
        job->use->unmatched_receives += order > 0;
        if (order == 0)
            take_match(job, send, receive, &arrived);
        i += order <= 0;
        j += order >= 0;
    }
    job->use->unmatched_sends += sends.count - i;
    job->use->unmatched_receives += receives.count - j;
    find_wrong_order(&arrived);
    vec__sort(&job->use->pairs, by_ranks);
    VEC_EACH (pair, &job->use->pairs, struct mpi_pair) {
        pair->late_sender_ns = trace__ns(job->run->trace, pair->late_sender_ns);
        pair->late_receiver_ns = trace__ns(job->run->trace, pair->late_receiver_ns);
    }
    vec__free(&arrived);
    vec__free(&sends);
    vec__free(&receives);
}
