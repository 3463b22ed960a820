/* replay_program_threads.c: the work of threads that are alike, done by another number of them.
 *
 * Threads are alike when one thread created them with the same start routine. What they do is cut
 * into pieces where they hold no lock; the pieces of each round (from barrier to barrier) are
 * dealt, those of all of them in turns, to whichever thread has least to do until then. Where they
 * wait for each other by other means than locks and barriers, who does what cannot be known. */
#include "analysis/replay/internal.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define PIECES_A_THREAD 64u /* at least so many of a round, where it has so much to do */

/* Operations of a row: first … first + count − 1. */
struct work_piece {
    size_t first, count;
    uint64_t ticks;
};

/* Of one of the threads that are alike, the pieces of a round; next: to be dealt. */
struct peer_round {
    struct vec pieces; /* struct work_piece, in a row of its own */
    struct vec ops;    /* struct row_op */
    size_t next;
};

struct dealing {
    const struct replay_program *program;
    struct vec peers;    /* uint32_t: threads that are alike */
    struct vec *rounds;  /* by peer: struct peer_round */
    struct vec barriers; /* uint32_t: object, of each round but the last */
    uint32_t count;      /* of threads that there will be in their place */
    uint64_t piece_ticks;
};

/* ---- which threads --------------------------------------------------------------------------- */

static bool are_alike(const struct thread_origin *a, const struct thread_origin *b)
{
    return a->is_created && b->is_created && a->process == b->process && a->creator == b->creator &&
           a->routine == b->routine;
}

static uint64_t ticks_of(const struct vec *row)
{
    uint64_t ticks = 0;
    VEC_EACH (op, row, struct row_op)
        ticks += op->work;
    return ticks;
}

/* The group of at least two that has most to do. */
static void find_peers(struct dealing *dealing)
{
    const struct replay_program *program = dealing->program;
    uint64_t most = 0;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < program->thread_count; i++) {
        uint64_t ticks = 0;
        size_t count = 0;
        for (size_t j = 0; j < program->thread_count; j++) {
            if (!are_alike(&program->origins[i], &program->origins[j]))
                continue;
            if (j < i)
                break; /* counted already */
            ticks += ticks_of(&program->rows[j]);
            count++;
        }
        if (count >= 2 && ticks > most) {
            most = ticks;
            best = i;
        }
    }
    for (uint32_t i = 0; best != SIZE_MAX && i < program->thread_count; i++)
        if (are_alike(&program->origins[best], &program->origins[i]))
            vec__push(&dealing->peers, &i);
    dealing->piece_ticks = most / ((uint64_t)dealing->count * PIECES_A_THREAD) + 1;
}

/* ---- what they do, in pieces ----------------------------------------------------------------- */

static struct peer_round *add_round(struct vec *rounds)
{
    struct peer_round *round = vec__push(rounds, NULL);
    round->pieces = VEC_OF(struct work_piece);
    round->ops = VEC_OF(struct row_op);
    vec__push(&round->pieces, NULL);
    return round;
}

static struct peer_round *last_round(struct vec *rounds)
{
    return VEC_AT(rounds, struct peer_round, rounds->count - 1);
}

static void add_op(const struct dealing *dealing, struct peer_round *round, const struct row_op *op,
                   bool may_end)
{
    struct work_piece *piece = VEC_AT(&round->pieces, struct work_piece, round->pieces.count - 1);
    vec__push(&round->ops, op);
    piece->count++;
    piece->ticks += op->work;
    if (!may_end || piece->ticks < dealing->piece_ticks)
        return;
    struct work_piece fresh = {.first = round->ops.count};
    vec__push(&round->pieces, &fresh);
}

/* Long work outside of locks is cut, too. */
static void add_work(const struct dealing *dealing, struct peer_round *round, struct row_op *op)
{
    while (op->work > dealing->piece_ticks) {
        struct row_op part = {
            .work = dealing->piece_ticks, .kind = REPLAY_WORK, .class = ROW_NO_CLASS, .cost = 0};
        op->work -= dealing->piece_ticks;
        add_op(dealing, round, &part, true);
    }
}

static struct row_op only_work(const struct row_op *op)
{
    return (struct row_op){
        .work = op->work, .cost = op->cost, .kind = REPLAY_WORK, .class = ROW_NO_CLASS};
}

/* At a barrier. False: not the one at which the first of them is then. */
static bool end_round(struct dealing *dealing, struct vec *rounds, const struct row_op *op)
{
    struct row_op work = only_work(op);
    uint32_t object = op->object;
    add_op(dealing, last_round(rounds), &work, true);
    if (rounds == dealing->rounds)
        vec__push(&dealing->barriers, &object);
    else if (rounds->count > dealing->barriers.count ||
             *VEC_AT(&dealing->barriers, uint32_t, rounds->count - 1) != object)
        return false;
    add_round(rounds);
    return true;
}

/* How many locks and places of semaphores it has more. */
static int more_held(const struct row_op *op)
{
    switch (op->kind) {
    case REPLAY_ACQUIRE:
    case REPLAY_SHARE:
    case ROW_REACQUIRE:
    case REPLAY_TAKE:
        return 1;
    case REPLAY_RELEASE:
    case REPLAY_GIVE:
        return -1;
    default:
        return 0;
    }
}

static bool is_only_time(const struct row_op *op)
{
    return op->kind == REPLAY_DELAY || op->kind == ROW_STOLEN || op->kind == ROW_LATE ||
           op->kind == ROW_CALL;
}

/* False: it waits for others, or others for it, in a way that no other thread could stand for. */
static bool cut_row(struct dealing *dealing, uint32_t thread, struct vec *rounds)
{
    int64_t held = 0;
    add_round(rounds);
    VEC_EACH (row, &dealing->program->rows[thread], struct row_op) {
        struct row_op op = *row;
        if (op.kind == REPLAY_MEET) {
            if (held || !end_round(dealing, rounds, &op))
                return false;
            continue;
        }
        if (op.kind == REPLAY_AWAIT || op.kind == REPLAY_POST) {
            if (!row_op__is_own_token(dealing->program, thread, &op))
                return false;
            op = only_work(&op);
        }
        if (op.kind == ROW_ENTER || op.kind == ROW_LEAVE) /* it may be dealt to several */
            op = only_work(&op);
        if (!held && !is_only_time(&op))
            add_work(dealing, last_round(rounds), &op);
        held += more_held(&op);
        if (held < 0)
            return false;
        add_op(dealing, last_round(rounds), &op, !held);
    }
    return !held && rounds->count == dealing->barriers.count + 1;
}

/* ---- dealing --------------------------------------------------------------------------------- */

/* The next piece of the peers' in turns; NULL: the round is done. *peer: whose turn it is. */
static struct work_piece *next_piece(struct dealing *dealing, size_t round, size_t *peer,
                                     const struct vec **ops)
{
    for (size_t tried = 0; tried < dealing->peers.count; tried++) {
        struct peer_round *own = VEC_AT(&dealing->rounds[*peer], struct peer_round, round);
        *peer = (*peer + 1) % dealing->peers.count;
        if (own->next == own->pieces.count)
            continue;
        *ops = &own->ops;
        return VEC_AT(&own->pieces, struct work_piece, own->next++);
    }
    return NULL;
}

static void deal_round(struct dealing *dealing, size_t round, struct vec **rows, uint64_t *loads)
{
    const struct vec *ops;
    const struct work_piece *piece;
    size_t peer = 0;
    for (uint32_t i = 0; i < dealing->count; i++)
        loads[i] = 0;
    while ((piece = next_piece(dealing, round, &peer, &ops))) {
        uint32_t least = 0;
        for (uint32_t i = 1; i < dealing->count; i++)
            least = loads[i] < loads[least] ? i : least;
        loads[least] += piece->ticks;
        for (size_t i = 0; i < piece->count; i++)
            vec__push(rows[least], VEC_AT(ops, struct row_op, piece->first + i));
    }
}

static void add_token(struct vec *row, uint32_t kind, uint32_t token)
{
    struct row_op op = {.kind = kind, .object = token, .class = ROW_NO_CLASS};
    vec__push(row, &op);
}

static void deal_all(struct dealing *dealing, struct vec **rows)
{
    uint64_t *loads = memory__zeroed(dealing->count, sizeof *loads);
    for (size_t round = 0; round <= dealing->barriers.count; round++) {
        deal_round(dealing, round, rows, loads);
        for (uint32_t i = 0; round < dealing->barriers.count && i < dealing->count; i++)
            add_token(rows[i], REPLAY_MEET, *VEC_AT(&dealing->barriers, uint32_t, round));
    }
    free(loads);
}

/* ---- the program of the others --------------------------------------------------------------- */

static uint32_t peer_at(const struct dealing *dealing, uint32_t place)
{
    return *VEC_AT(&dealing->peers, uint32_t, place);
}

static uint32_t extra_of(const struct dealing *dealing)
{
    uint32_t peers = (uint32_t)dealing->peers.count;
    return dealing->count > peers ? dealing->count - peers : 0;
}

/* Who joins the last of them joins those that are more. */
static void copy_row(const struct dealing *dealing, const struct vec *row, uint32_t last,
                     struct vec *into)
{
    VEC_EACH (op, row, struct row_op) {
        vec__push(into, op);
        for (uint32_t i = 0;
             op->kind == REPLAY_AWAIT && op->object == last && i < extra_of(dealing); i++)
            add_token(into, REPLAY_AWAIT, dealing->program->model.token_count + i);
    }
}

static struct replay_program *new_program(const struct dealing *dealing)
{
    const struct replay_program *from = dealing->program;
    struct replay_program *made = memory__zeroed(1, sizeof *made);
    *made = *from;
    made->thread_count = from->thread_count + extra_of(dealing);
    made->told_by = NULL; /* whoever takes over their work ends when it is done */
    made->model.thread_count = (uint32_t)made->thread_count;
    made->model.token_count += extra_of(dealing);
    made->rows = memory__zeroed(made->thread_count, sizeof *made->rows);
    made->counts = memory__zeroed(made->thread_count, sizeof *made->counts);
    made->models = VEC_OF(struct replay_object);
    for (size_t i = 0; i < made->thread_count; i++) {
        made->rows[i] = VEC_OF(struct row_op);
        made->counts[i] = i < from->thread_count ? from->counts[i] : true;
    }
    VEC_EACH (model, &from->models, struct replay_object)
        vec__push(&made->models, model);
    made->model.objects = made->models.items;
    return made;
}

/* Barriers at which they all meet; others may meet there, too. */
static void change_parties(const struct dealing *dealing, struct replay_program *made)
{
    uint32_t peers = (uint32_t)dealing->peers.count;
    for (size_t i = 0; i < dealing->barriers.count; i++) {
        uint32_t object = *VEC_AT(&dealing->barriers, uint32_t, i);
        uint32_t parties = VEC_AT(&dealing->program->models, struct replay_object, object)->parties;
        struct replay_object *model = VEC_AT(&made->models, struct replay_object, object);
        model->parties = parties >= peers ? parties - peers + dealing->count : parties;
    }
}

static void fill_program(struct dealing *dealing, struct replay_program *made)
{
    const struct replay_program *from = dealing->program;
    uint32_t threads = (uint32_t)from->thread_count, peers = (uint32_t)dealing->peers.count;
    uint32_t last = peer_at(dealing, peers - 1);
    struct vec **rows = memory__zeroed(dealing->count, sizeof *rows);
    for (uint32_t i = 0, peer = 0; i < threads; i++) {
        if (peer < peers && peer_at(dealing, peer) == i) {
            add_token(&made->rows[i], REPLAY_AWAIT, threads + i);
            if (peer < dealing->count)
                rows[peer] = &made->rows[i];
            peer++;
        } else {
            copy_row(dealing, &from->rows[i], last, &made->rows[i]);
        }
    }
    for (uint32_t i = peers; i < dealing->count; i++) {
        rows[i] = &made->rows[threads + i - peers];
        add_token(rows[i], REPLAY_AWAIT, threads + last);
    }
    deal_all(dealing, rows);
    for (uint32_t i = 0; i < peers; i++)
        add_token(&made->rows[peer_at(dealing, i)], REPLAY_POST, peer_at(dealing, i));
    for (uint32_t i = 0; i < extra_of(dealing); i++)
        add_token(&made->rows[threads + i], REPLAY_POST, from->model.token_count + i);
    change_parties(dealing, made);
    free(rows);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void free_dealing(struct dealing *dealing)
{
    for (size_t i = 0; dealing->rounds && i < dealing->peers.count; i++) {
        VEC_EACH (round, &dealing->rounds[i], struct peer_round) {
            vec__free(&round->pieces);
            vec__free(&round->ops);
        }
        vec__free(&dealing->rounds[i]);
    }
    free(dealing->rounds);
    vec__free(&dealing->peers);
    vec__free(&dealing->barriers);
}

static int cut_all(struct dealing *dealing, struct error *error)
{
    const struct replay_program *program = dealing->program;
    if (!dealing->peers.count)
        return error__set(error, -ENOTSUP,
                          "no two threads of the trace are alike (created by one thread, with the "
                          "same start routine), so their number cannot be changed");
    dealing->rounds = memory__zeroed(dealing->peers.count, sizeof *dealing->rounds);
    for (uint32_t i = 0; i < dealing->peers.count; i++)
        dealing->rounds[i] = VEC_OF(struct peer_round);
    for (uint32_t i = 0; i < dealing->peers.count; i++) {
        uint32_t peer = peer_at(dealing, i);
        if (cut_row(dealing, peer, &dealing->rounds[i]))
            continue;
        const struct trace_thread *thread = trace__thread_at(program->trace, peer);
        return error__set(error, -ENOTSUP,
                          "the number of threads cannot be changed: thread %" PRIu32
                          " and those like it wait for each other in ways other than locks and "
                          "barriers that all of them pass",
                          thread->tid);
    }
    return 0;
}

int program__deal(const struct replay_program *program, uint32_t count,
                  struct replay_program **dealt, struct error *error)
{
    struct dealing dealing = {.program = program,
                              .peers = VEC_OF(uint32_t),
                              .barriers = VEC_OF(uint32_t),
                              .count = count};
    if (count < 1 || count > 4096)
        return error__set(error, -EINVAL, "there can be 1 to 4096 threads, not %" PRIu32, count);
    if (program->op_count > REPLAY_KEPT_OPS / 4)
        return error__set(error, -E2BIG,
                          "the trace has too many operations for another number of threads; "
                          "record a shorter run");
    find_peers(&dealing);
    int result = cut_all(&dealing, error);
    if (result == 0) {
        *dealt = new_program(&dealing);
        fill_program(&dealing, *dealt);
    }
    free_dealing(&dealing);
    return result;
}

void program__free_dealt(struct replay_program *dealt)
{
    if (!dealt)
        return;
    for (size_t i = 0; i < dealt->thread_count; i++)
        vec__free(&dealt->rows[i]);
    vec__free(&dealt->models);
    free(dealt->rows);
    free(dealt->counts);
    free(dealt);
}
