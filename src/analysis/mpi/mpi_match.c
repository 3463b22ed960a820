/* Messages: which send is which receive's, and who waited for the other. Formulas: docs/mpi.md.
 *
 * Senders tell receivers of their messages, in steps of some receivers at a time; receivers match
 * them with what they awaited, and tell senders where these may have waited. Both sides stand in
 * one order, by peer, communicator, tag, and then by time: so the n-th meets the n-th. */
#include "analysis/mpi/internal.h"

/* From the sender to the receiver. */
struct sent_message {
    uint64_t enter; /* of the call that sends it */
    uint64_t ready; /* of a COMPLETE: the last access was over; else 0 */
    uint32_t to, from, communicator, tag;
    uint32_t post;  /* index of the sender's sends */
    uint32_t bytes; /* the lower half of their number */
};

/* And back: the message was awaited from then on, in that call. */
struct awaited_message {
    uint64_t tick;
    uint32_t to, from, post, call;
};

/* ---- one order for both sides ---------------------------------------------------------------- */

static int by_peer(const void *a, const void *b)
{
    const struct rank_post *left = a, *right = b;
    return ORDER(left->peer, right->peer) ?: ORDER(left->communicator, right->communicator)
               ?: ORDER(left->tag, right->tag) ?: ORDER(left->tick, right->tick)
               ?: ORDER(left->call, right->call) ?: ORDER(left->order, right->order);
}

static int by_receiver(const void *a, const void *b)
{
    const struct sent_message *left = a, *right = b;
    return ORDER(left->to, right->to) ?: ORDER(left->from, right->from)
               ?: ORDER(left->post, right->post);
}

static bool is_received(const struct rank_post *post)
{
    return !post->is_cancelled && post->done != NO_CALL;
}

/* A message before a receive, or the other way round; 0: they are one. */
static int order_of(const struct sent_message *sent, const struct rank_post *receive)
{
    return ORDER(sent->from, receive->peer)
               ?: ORDER(sent->communicator, receive->communicator)
               ?: ORDER(sent->tag, receive->tag);
}

/* ---- one receiver ---------------------------------------------------------------------------- */

/* A message that a rank received. */
struct arrived {
    const struct sent_message *sent;
    const struct rank_post *receive;
    struct rank_call *call;
    bool is_in_wrong_order;
};

static int by_sender_and_time(const void *a, const void *b)
{
    const struct arrived *left = a, *right = b;
    return ORDER(left->sent->from, right->sent->from)
               ?: ORDER(left->call->enter, right->call->enter)
               ?: ORDER(left->sent->post, right->sent->post);
}

/* A late sender is waited for in the wrong order where what is received from it later had been sent
 * before the wait began. */
static void find_wrong_order(struct vec *arrived)
{
    uint64_t earliest = UINT64_MAX, next = UINT64_MAX, received = UINT64_MAX;
    uint32_t from = MPI_NOBODY;
    vec__sort(arrived, by_sender_and_time);
    for (size_t i = arrived->count; i-- > 0;) {
        struct arrived *one = VEC_AT(arrived, struct arrived, i);
        if (one->sent->from != from)
            earliest = next = UINT64_MAX;
        else if (one->call->enter != received) /* behind this one: not in the same call */
            earliest = next;
        from = one->sent->from;
        received = one->call->enter;
        one->is_in_wrong_order = earliest < received;
        next = tick__earlier(next, one->sent->enter);
    }
}

/* MPI cannot tell the length of one that is longer than an int counts. */
static bool has_its_length(const struct arrived *message)
{
    uint32_t sent = message->sent->bytes;
    return message->receive->bytes == sent || sent > INT32_MAX;
}

static void add_to_pair(struct mpi_pair *pair, uint64_t bytes, uint64_t waited)
{
    pair->messages++;
    pair->bytes += bytes;
    pair->least_bytes = tick__earlier(pair->least_bytes, bytes);
    pair->most_bytes = tick__later(pair->most_bytes, bytes);
    pair->late_sender_ns += waited;
}

/* The call ends no sooner than what was sent was. */
static void need_sent(const struct mpi_job *job, const struct rank_record *record,
                      const struct sent_message *sent, uint32_t call, bool is_message,
                      uint64_t bytes)
{
    if (!job->graph)
        return;
    const struct rank_record *sender = mpi_job__rank(job, sent->from);
    const struct rank_post *post = VEC_AT(&sender->sends, struct rank_post, sent->post);
    vec__push(&job->graph->needs, &(struct rank_need){record->rank, call, sent->from, post->call,
                                                      UINT32_MAX, is_message, bytes});
}

/* For who asks for each of them. */
static void keep_message(const struct mpi_job *job, const struct rank_record *record,
                         const struct arrived *message)
{
    const struct sent_message *sent = message->sent;
    if (!job->messages)
        return;
    const struct rank_record *sender = mpi_job__rank(job, sent->from);
    const struct rank_post *post = VEC_AT(&sender->sends, struct rank_post, sent->post);
    if (post->call < sender->main_calls && message->receive->done < record->main_calls)
        vec__push(job->messages, &(struct mpi_message){.sent_tick = post->tick,
                                                       .received_tick = message->call->leave,
                                                       .bytes = message->receive->bytes,
                                                       .from = sender->thread,
                                                       .to = record->thread,
                                                       .tag = sent->tag});
}

/* Late sender: from entering the call that received it until the send was entered, within it. */
static void take_message(struct mpi_job *job, const struct arrived *message)
{
    const struct sent_message *sent = message->sent;
    struct rank_call *call = message->call;
    struct mpi_communicator *in = mpi_job__communicator(job, sent->communicator);
    uint64_t until = tick__earlier(sent->enter, call->leave);
    uint64_t waited = until > call->enter ? until - call->enter : 0;
    add_to_pair(mpi_use__pair(job->use, sent->from, sent->to), message->receive->bytes,
                mpi_job__is_wait(job, false, sent->to, sent->from, waited) ? waited : 0);
    if (in) {
        in->messages++;
        in->bytes += message->receive->bytes;
    }
    rank_call__waits(call, until,
                     message->is_in_wrong_order ? MPI_WAIT_WRONG_ORDER : MPI_WAIT_LATE_SENDER,
                     sent->from);
}

/* ---- signals: leave to access memory, and its end -------------------------------------------- */

/* Which call from MPI_Win_start to MPI_Win_complete waits for leave depends on the MPI: it is the
 * one in which the leave was given. */
static void take_post(const struct rank_record *record, const struct sent_message *sent,
                      const struct rank_post *receive)
{
    struct rank_call *calls = record->calls.items;
    size_t count = receive->done + 1ul - receive->call;
    size_t at = FIRST_WHERE(i, count, calls[receive->call + i].leave > sent->enter);
    struct rank_call *call = at < count ? &calls[receive->call + at] : NULL;
    if (call && rank_record__family(record, call) == HEURT_MESSAGE_ONE_SIDED)
        rank_call__waits(call, sent->enter, MPI_WAIT_LATE_POST, sent->from);
}

/* Until the last access was over it is an early wait, from then on a late complete. */
static void take_complete(struct rank_record *record, const struct sent_message *sent,
                          uint32_t wait)
{
    struct rank_call *call = rank_record__call(record, wait);
    uint64_t until = tick__earlier(sent->enter, call->leave);
    uint64_t ready = tick__earlier(tick__later(sent->ready, call->enter), until);
    if (until <= call->enter)
        return;
    bool is_late = until - ready >= ready - call->enter;
    rank_call__waits(call, until, is_late ? MPI_WAIT_LATE_COMPLETE : MPI_WAIT_EARLY_WAIT,
                     sent->from);
    if (ready > call->enter && ready < until)
        vec__push(&record->splits, &(struct rank_split){ready - call->enter, wait, sent->from});
}

static void take_signal(const struct mpi_job *job, struct rank_record *record,
                        const struct sent_message *sent, const struct rank_post *receive)
{
    need_sent(job, record, sent, receive->done, false, 0);
    if (sent->tag == HEURT_SIGNAL_POST && receive->done >= receive->call)
        take_post(record, sent, receive);
    else if (sent->tag == HEURT_SIGNAL_COMPLETE)
        take_complete(record, sent, receive->done);
}

/* ---- all that one receives ------------------------------------------------------------------- */

static void answer(const struct mpi_job *job, const struct arrived *message, struct vec *answers)
{
    const struct sent_message *sent = message->sent;
    if (message->receive->tick > sent->enter)
        vec__push(&answers[mpi_job__owner(job, sent->from)],
                  &(struct awaited_message){message->receive->tick, sent->to, sent->from,
                                            sent->post, message->receive->call});
}

/* What was sent to one rank, in order; whose record has its receives in the same. Signals, where
 * there is such a list, are apart. */
static void find_arrived(struct rank_record *record, const struct sent_message *sent, size_t count,
                         struct vec *arrived, struct vec *signals)
{
    const struct rank_post *receives = record->receives.items;
    size_t i = 0, j = 0;
    while (i < count && j < record->receives.count) {
        int order = is_received(&receives[j]) ? order_of(&sent[i], &receives[j]) : 1;
        struct vec *found = rank_post__is_signal(&receives[j]) ? signals : arrived;
        if (order == 0 && found)
            vec__push(found, &(struct arrived){&sent[i], &receives[j],
                                               rank_record__call(record, receives[j].done), false});
        i += order <= 0;
        j += order >= 0;
    }
}

static void receive_all(struct mpi_job *job, struct rank_record *record,
                        const struct sent_message *sent, size_t count, struct vec *answers)
{
    struct vec arrived = VEC_OF(struct arrived), signals = VEC_OF(struct arrived);
    find_arrived(record, sent, count, &arrived, &signals);
    VEC_EACH (signal, &signals, const struct arrived)
        take_signal(job, record, signal->sent, signal->receive);
    vec__free(&signals);
    job->use->matched += arrived.count;
    find_wrong_order(&arrived);
    VEC_EACH (message, &arrived, const struct arrived) {
        job->use->mismatched += !has_its_length(message);
        take_message(job, message);
        keep_message(job, record, message);
        need_sent(job, record, message->sent, message->receive->done, true,
                  message->receive->bytes);
        answer(job, message, answers);
    }
    vec__free(&arrived);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool is_message(const struct rank_post *post)
{
    return !post->is_cancelled && !rank_post__is_signal(post);
}

static void prepare(struct mpi_job *job)
{
    VEC_EACH (record, &job->records, struct rank_record) {
        vec__sort(&record->sends, by_peer);
        vec__sort(&record->receives, by_peer);
        VEC_EACH (post, &record->sends, const struct rank_post) {
            job->use->cancelled += post->is_cancelled;
            job->use->unmatched_sends += is_message(post); /* those that are matched go off */
        }
        VEC_EACH (post, &record->receives, const struct rank_post) {
            job->use->cancelled += post->is_cancelled;
            job->use->unmatched_receives += is_message(post) && is_received(post);
        }
    }
}

static uint64_t ready_tick(const struct rank_record *record, const struct rank_post *post)
{
    return post->tag == HEURT_SIGNAL_COMPLETE && post->done != NO_CALL
               ? rank_record__call(record, post->done)->leave
               : 0;
}

static void give_messages(const struct mpi_job *job, const struct rank_record *record,
                          uint32_t first, uint32_t last, struct vec *given)
{
    size_t at = VEC_FIRST(post, &record->sends, struct rank_post, post->peer >= first);
    for (; at < record->sends.count; at++) {
        const struct rank_post *post = VEC_AT(&record->sends, struct rank_post, at);
        if (post->peer > last)
            break;
        uint32_t owner = mpi_job__owner(job, post->peer);
        if (owner != MPI_NOBODY && !post->is_cancelled)
            vec__push(&given[owner],
                      &(struct sent_message){rank_record__call(record, post->call)->enter,
                                             ready_tick(record, post), post->peer, record->rank,
                                             post->communicator, post->tag, (uint32_t)at,
                                             (uint32_t)post->bytes});
    }
}

static void match_given(struct mpi_job *job, struct vec *messages, struct vec *answers)
{
    const struct sent_message *sent = messages->items;
    for (size_t i = 0, end; i < messages->count; i = end) {
        for (end = i + 1; end < messages->count && sent[end].to == sent[i].to;)
            end++;
        struct rank_record *record = mpi_job__rank(job, sent[i].to);
        if (record)
            receive_all(job, record, sent + i, end - i, answers);
    }
}

/* Late receiver: a send that ended only when the receive had been posted waited for that. */
static void take_answers(struct mpi_job *job, const struct vec *answers)
{
    VEC_EACH (one, answers, const struct awaited_message) {
        const struct rank_record *record = mpi_job__rank(job, one->from);
        const struct rank_post *post = VEC_AT(&record->sends, struct rank_post, one->post);
        struct rank_call *blocked =
            post->done == NO_CALL ? NULL : rank_record__call(record, post->done);
        if (!blocked || one->tick <= blocked->enter || one->tick >= blocked->leave)
            continue;
        if (mpi_job__is_wait(job, false, one->from, one->to, one->tick - blocked->enter))
            mpi_use__pair(job->use, one->from, one->to)->late_receiver_ns +=
                one->tick - blocked->enter;
        rank_call__waits(blocked, one->tick, MPI_WAIT_LATE_RECEIVER, one->to);
        if (job->graph)
            vec__push(&job->graph->needs, &(struct rank_need){one->from, post->done, one->to,
                                                              one->call, UINT32_MAX, 0, 0});
    }
}

/* Messages to the ranks from first to last, of all processes. */
static struct vec messages_to(struct mpi_job *job, uint32_t first, uint32_t last)
{
    struct vec *given = mpi_given__of(job, sizeof(struct sent_message));
    struct vec messages = VEC_OF(struct sent_message);
    VEC_EACH (record, &job->records, const struct rank_record)
        give_messages(job, record, first, last, given);
    mpi_job__swap(job, given, &messages);
    mpi_given__free(job, given);
    vec__sort(&messages, by_receiver);
    return messages;
}

static void step(struct mpi_job *job, uint32_t first, uint32_t last)
{
    struct vec messages = messages_to(job, first, last);
    struct vec *answers = mpi_given__of(job, sizeof(struct awaited_message));
    struct vec answered = VEC_OF(struct awaited_message);
    match_given(job, &messages, answers);
    vec__free(&messages);
    mpi_job__swap(job, answers, &answered);
    mpi_given__free(job, answers);
    take_answers(job, &answered);
    vec__free(&answered);
}

/* ---- what was received before it was sent, by clocks of several hosts ------------------------ */

#define REPAIRS_MOST 64u /* rounds: a repair may make another one necessary */

/* One receiver's. Each is received when it is sent, at the earliest. */
static void find_lags(struct rank_record *record, const struct sent_message *sent, size_t count,
                      struct vec *lags)
{
    struct vec arrived = VEC_OF(struct arrived);
    find_arrived(record, sent, count, &arrived, NULL);
    VEC_EACH (one, &arrived, const struct arrived)
        if (one->sent->enter > one->call->leave)
            vec__push(lags, &(struct clock_lag){one->call->leave,
                                                one->sent->enter - one->call->leave, record->rank});
    vec__free(&arrived);
}

static void check_step(struct mpi_job *job, uint32_t first, uint32_t last, struct vec *lags)
{
    struct vec messages = messages_to(job, first, last);
    const struct sent_message *sent = messages.items;
    for (size_t i = 0, end; i < messages.count; i = end) {
        for (end = i + 1; end < messages.count && sent[end].to == sent[i].to;)
            end++;
        struct rank_record *record = mpi_job__rank(job, sent[i].to);
        if (record)
            find_lags(record, sent + i, end - i, lags);
    }
    vec__free(&messages);
}

/* Steps of so many ranks. Of all processes: messages that were received too early. */
static uint64_t check(struct mpi_job *job, size_t a_step, struct vec *lags)
{
    const struct rank_owner *ranks = job->owners.items;
    size_t count = job->owners.count;
    lags->count = 0;
    for (size_t i = 0; i < count; i += a_step)
        check_step(job, ranks[i].rank, ranks[i + a_step < count ? i + a_step - 1 : count - 1].rank,
                   lags);
    return mpi_job__sum(job, lags->count);
}

/* A controlled logical clock, forward (docs/mpi.md). */
static void repair_order(struct mpi_job *job, size_t a_step)
{
    struct vec lags = VEC_OF(struct clock_lag);
    uint64_t found = check(job, a_step, &lags), left = found;
    for (unsigned round = 0; left && round < REPAIRS_MOST; round++) {
        struct clock_lag *all = lags.items;
        for (size_t i = 0, end; i < lags.count; i = end) {
            for (end = i + 1; end < lags.count && all[end].rank == all[i].rank;)
                end++;
            rank_record__repair(mpi_job__rank(job, all[i].rank), all + i, end - i);
        }
        left = check(job, a_step, &lags);
    }
    vec__free(&lags);
    job->use->reversed = found;
    job->use->reversed_left = left;
}

void mpi_job__match(struct mpi_job *job)
{
    const struct rank_owner *ranks = job->owners.items;
    size_t count = job->owners.count;
    prepare(job);
    uint64_t all = mpi_job__sum(job, job->use->unmatched_sends);
    uint64_t steps = all / ((uint64_t)job->exchange->step_items * job->exchange->count) + 1;
    size_t a_step = (count + steps - 1) / steps;
    if (job->hosts.count)
        repair_order(job, a_step);
    for (size_t i = 0; i < count; i += a_step)
        step(job, ranks[i].rank, ranks[i + a_step < count ? i + a_step - 1 : count - 1].rank);
    job->use->unmatched_sends -= job->use->matched; /* of other ranks, maybe: the sum is right */
    job->use->unmatched_receives -= job->use->matched;
    mpi_use__join_pairs(job->use);
}
