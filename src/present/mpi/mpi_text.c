/* Ranks of MPI, on a screen. */
#include "analysis/mpi/rank_replay.h"
#include "base/memory.h"
#include "base/ratio.h"
#include "base/text.h"
#include "format/reader.h"
#include "present/mpi/mpi_screens.h"
#include "present/report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MOST 16u
#define PLACES_MOST 12u
#define PAIRS_MOST 8u
#define UNEVEN_LEAST 1.15 /* times the others' work */
#define WAITED_LEAST 0.02 /* of the ranks' life: less is no verdict */

unsigned mpi_wait__named(const char *name)
{
    unsigned found = MPI_WAIT_NONE;
    for (unsigned i = 1; i < MPI_WAITS; i++) {
        if (strcmp(mpi_wait__name(i), name) == 0)
            return i;
        if (!*name || !strstr(mpi_wait__name(i), name))
            continue;
        if (found)
            return MPI_WAIT_NONE;
        found = i;
    }
    return found;
}

/* ---- all ranks ------------------------------------------------------------------------------- */

static struct mpi_rank sum_of(const struct mpi_use *use)
{
    struct mpi_rank sum = {0};
    VEC_EACH (rank, &use->ranks, const struct mpi_rank) {
        sum.life_ns += rank->life_ns;
        sum.mpi_ns += rank->mpi_ns;
        sum.work_ns += rank->work_ns;
        sum.waited_ns += rank->waited_ns;
        sum.delay_ns += rank->delay_ns;
        for (unsigned i = 0; i < MPI_WAITS; i++)
            sum.wait_ns[i] += rank->wait_ns[i];
    }
    return sum;
}

/* What the rank did while others waited for it, and where. free() it. */
static char *did(const struct report *report, const struct mpi_rank *late)
{
    char *doing = mpi_rank__doing(report, late);
    const char *what = "wanting a CPU", *where = "";
    if (late->delay_work_ns >= late->delay_blocked_ns &&
        late->delay_work_ns >= late->delay_no_cpu_ns) {
        what = "at work";
    } else if (late->delay_blocked_ns >= late->delay_no_cpu_ns) {
        what = "blocked or asleep";
        where = doing ? "" : " outside of MPI";
    }
    char *text = memory__format("%s%s%s%s", what, where, doing ? " in " : "", doing ? doing : "");
    free(doing);
    return text;
}

static char *verdict_by_work(const struct report *report, const struct mpi_most *most,
                             const struct mpi_rank *late)
{
    char waited[16], *doing = mpi_rank__doing(report, late);
    bool are_two = report->mpi->ranks.count == 2;
    char *text =
        memory__format("Rank %" PRIu32 " had %.1f times the work of %s%s%s: %s waited %s "
                       "for it.",
                       most->rank, most->times, are_two ? "the other" : "the others",
                       doing ? ", in " : "", doing ? doing : "", are_two ? "that one" : "they",
                       duration__format(late->delay_ns, waited));
    free(doing);
    return text;
}

char *mpi_use__verdict(const struct report *report)
{
    const struct mpi_use *use = report->mpi;
    struct mpi_rank sum = sum_of(use);
    struct mpi_most most = mpi_use__most_work(use);
    const struct mpi_rank *late = mpi_use__latest(use);
    char waited[16];
    if (!late || (double)sum.waited_ns < WAITED_LEAST * (double)sum.life_ns)
        return NULL;
    bool by_work = 2 * late->delay_work_ns >= late->delay_ns;
    if (by_work && most.rank == late->rank && most.times >= UNEVEN_LEAST)
        return verdict_by_work(report, &most, late);
    if (!mpi_use__culprit(use))
        return NULL;
    char *doing = did(report, late);
    char *text = memory__format("Others waited %s for rank %" PRIu32 ", which was %s.",
                                duration__format(late->delay_ns, waited), late->rank, doing);
    free(doing);
    return text;
}

static void put_head(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    const struct mpi_use *use = shown->use;
    struct mpi_rank sum = sum_of(use);
    char in_mpi[16], waited[16], rest[16];
    char *verdict = mpi_use__verdict(shown->report);
    if (verdict)
        paragraph__take(style, out, "  ", verdict);
    paragraph__take(
        style, out, "  ",
        memory__format(
            "%zu rank%s%s: %s of their time in MPI, %s waiting for each other and %s for "
            "the rest of its calls.",
            use->ranks.count, use->ranks.count == 1 ? "" : "s",
            use->ranks.count < use->size ? " (not all of the job)" : "",
            share__format(ratio(sum.mpi_ns, sum.life_ns), in_mpi),
            share__format(ratio(sum.waited_ns, sum.life_ns), waited),
            share__format(ratio(sum.mpi_ns - sum.waited_ns, sum.life_ns), rest)));
    char *kinds = memory__text("");
    for (unsigned i = 1; i < MPI_WAITS; i++) {
        char time[16];
        if (!sum.wait_ns[i])
            continue;
        char *one =
            memory__format("%s %s", mpi_wait__name(i), duration__format(sum.wait_ns[i], time));
        kinds = text__join(kinds, ", ", one);
        free(one);
    }
    if (*kinds)
        paragraph__take(style, out, "  ", memory__format("Waited: %s.", kinds));
    free(kinds);
}

static char *percent(double share, char buffer[16])
{
    return share >= 0 ? share__format(share, buffer) : strcpy(buffer, "?");
}

/* In POP's words. */
void mpi_text__efficiency(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    struct mpi_efficiency of = mpi_report__efficiency(shown);
    const char *times = style->unicode ? "×" : "x";
    char a[16], b[16], c[16], d[16], e[16];
    if (!(of.parallel >= 0))
        return;
    if (of.hybrid >= 0)
        paragraph__take(style, out, "  ",
                        memory__format("Hybrid parallel efficiency %s = MPI's %s %s OpenMP's %s.",
                                       percent(of.hybrid, a), percent(of.parallel, b), times,
                                       percent(of.openmp, c)));
    paragraph__take(
        style, out, "  ",
        memory__format("Parallel efficiency %s = load balance %s %s communication %s (= "
                       "serialisation %s %s transfer %s), from MPI_Init to MPI_Finalize.",
                       percent(of.parallel, a), percent(of.balance, b), times,
                       percent(of.communication, c), percent(of.serialisation, d), times,
                       percent(of.transfer, e)));
}

#define PATH_MOST 3u /* ranks */

/* Which ranks made the run as long as it was. */
static void put_path(const struct mpi_use *use, const struct style *style, FILE *out)
{
    uint64_t all_ns = 0, mpi_ns = 0;
    char share[16], *text = memory__text("");
    if (!use->replay)
        return;
    VEC_EACH (part, rank_replay__path(use->replay), const struct rank_path) {
        all_ns += part->outside_ns + part->mpi_ns;
        mpi_ns += part->mpi_ns;
    }
    unsigned told = 0;
    VEC_EACH (part, rank_replay__path(use->replay), const struct rank_path)
        if (part->outside_ns && told++ < PATH_MOST)
            text = text__append(text, "%s on rank %" PRIu32 ", ",
                                share__format(ratio(part->outside_ns, all_ns), share), part->rank);
    paragraph__take(style, out, "  ",
                    memory__format("Critical path: outside of MPI %s%s%s in its calls.", text,
                                   told > PATH_MOST ? "some on others, " : "",
                                   share__format(ratio(mpi_ns, all_ns), share)));
    free(text);
}

static void put_least(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    char least[16], *what = memory__text("");
    if (shown->least_message_ns)
        what = text__append(what, "for a message below %s",
                            duration__format(shown->least_message_ns, least));
    if (shown->least_collective_ns)
        what = text__append(what, "%sin collective operations below %s", *what ? ", " : "",
                            duration__format(shown->least_collective_ns, least));
    if (*what)
        paragraph__take(style, out, "  ", memory__format("Left out: waits %s.", what));
    free(what);
}

static int by_delay(const void *a, const void *b)
{
    const struct mpi_rank *left = a, *right = b;
    return ORDER(right->delay_ns, left->delay_ns) ?: ORDER(right->waited_ns, left->waited_ns)
               ?: ORDER(left->rank, right->rank);
}

static int by_rank(const void *a, const void *b)
{
    const struct mpi_rank *left = a, *right = b;
    return ORDER(left->rank, right->rank);
}

/* All, or those that were waited for most, by rank. */
static struct vec ranks_shown(const struct mpi_use *use)
{
    struct vec ranks = VEC_OF(struct mpi_rank);
    VEC_EACH (rank, &use->ranks, const struct mpi_rank)
        vec__push(&ranks, rank);
    if (ranks.count > RANKS_MOST) {
        vec__sort(&ranks, by_delay);
        ranks.count = RANKS_MOST;
        vec__sort(&ranks, by_rank);
    }
    return ranks;
}

static void put_ranks(const struct mpi_use *use, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"rank", RIGHT},   {"life", RIGHT},   {"work", RIGHT},
        {"", LEFT},        {"no CPU", RIGHT}, {"blocked", RIGHT},
        {"in MPI", RIGHT}, {"waited", RIGHT}, {"waited for", RIGHT}};
    struct grid grid = grid__start(columns, 9, 2);
    struct vec ranks = ranks_shown(use);
    uint64_t most_ns = 1;
    VEC_EACH (rank, &use->ranks, const struct mpi_rank)
        most_ns = rank->work_ns > most_ns ? rank->work_ns : most_ns;
    VEC_EACH (rank, &ranks, const struct mpi_rank) {
        grid__cell(&grid, memory__format("%" PRIu32, rank->rank), INK_PLAIN);
        grid__duration(&grid, rank->life_ns);
        grid__duration(&grid, rank->work_ns);
        grid__cell(&grid, bar__format(style, ratio(rank->work_ns, most_ns), 10), INK_PLAIN);
        grid__duration(&grid, rank->no_cpu_ns);
        grid__duration(&grid, rank->blocked_ns);
        grid__duration(&grid, rank->mpi_ns);
        grid__duration(&grid, rank->waited_ns);
        grid__duration(&grid, rank->delay_ns);
    }
    grid__end(&grid, style, out);
    if (use->ranks.count > RANKS_MOST)
        paragraph__take(
            style, out, "  ",
            memory__format("And %zu more, which were waited for less: heurt tables mpi_ranks.",
                           use->ranks.count - RANKS_MOST));
    vec__free(&ranks);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* "late sender 1.0 s in 20 calls; mostly ranks 0 and 2 wait for rank 1"; "": nobody was waited for.
 * free() it. */
static char *waits_text(const struct mpi_use *use, const struct mpi_site *site,
                        const struct style *style)
{
    char *text = memory__text("");
    for (unsigned i = 1; i < MPI_WAITS; i++) {
        char time[16], count[32];
        if (!site->wait_ns[i])
            continue;
        char *one = memory__format(
            "%s %s in %s call%s", mpi_wait__name(i), duration__format(site->wait_ns[i], time),
            count__format(site->waits[i], count), site->waits[i] == 1 ? "" : "s");
        text = text__join(text, ", ", one);
        free(one);
    }
    char *who = *text ? mpi_site__who_waits(use, site, style) : NULL;
    if (who)
        text = text__append(text, "; %s%s", site->late_ns < site->waited_ns ? "mostly " : "", who);
    free(who);
    return text;
}

static void put_places(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"call", LEFT},   {"in", LEFT},
                                                 {"ranks", RIGHT}, {"times", RIGHT},
                                                 {"time", RIGHT},  {"waited", RIGHT}};
    struct grid grid = grid__start(columns, 6, 2);
    size_t rows = 0;
    VEC_EACH (site, &shown->use->sites, const struct mpi_site) {
        char unknown[32];
        if (shown->wait && !site->wait_ns[shown->wait])
            continue;
        if (rows++ == PLACES_MOST)
            break;
        struct place place = place__of_site(shown->report, site->process, site->site, unknown);
        grid__cell(&grid, memory__text(message_call__name(site->call)), INK_PLAIN);
        grid__take(&grid, place__text(&place), INK_PLAIN);
        grid__cell(&grid, memory__format("%" PRIu32, site->ranks), INK_PLAIN);
        grid__count(&grid, site->count);
        grid__duration(&grid, site->ns);
        grid__duration(&grid, site->waited_ns);
        char *below = waits_text(shown->use, site, style);
        if (*below)
            grid__below(&grid, text__for_screen(below));
        free(below);
    }
    grid__end(&grid, style, out);
    if (rows > PLACES_MOST)
        paragraph__put(style, out, INK_PLAIN, "  ", "And more: heurt tables mpi_calls.");
}

/* ---- messages -------------------------------------------------------------------------------- */

static int by_wait(const void *a, const void *b)
{
    const struct mpi_pair *left = *(const struct mpi_pair *const *)a;
    const struct mpi_pair *right = *(const struct mpi_pair *const *)b;
    return ORDER(right->late_sender_ns + right->late_receiver_ns,
                 left->late_sender_ns + left->late_receiver_ns)
               ?: ORDER(right->bytes, left->bytes)
               ?: ORDER(left, right);
}

static void put_pairs(const struct mpi_use *use, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"from", RIGHT},        {"to", RIGHT},
                                                 {"messages", RIGHT},    {"bytes", RIGHT},
                                                 {"late sender", RIGHT}, {"late receiver", RIGHT}};
    struct vec order = VEC_OF(const struct mpi_pair *);
    char count[32];
    if (!use->pairs.count)
        return;
    VEC_EACH (pair, &use->pairs, const struct mpi_pair)
        vec__push(&order, &pair);
    vec__sort(&order, by_wait);
    heading__put(style, out, "  Messages");
    struct grid grid = grid__start(columns, 6, 2);
    for (size_t i = 0; i < order.count && i < PAIRS_MOST; i++) {
        const struct mpi_pair *pair = *VEC_AT(&order, const struct mpi_pair *, i);
        grid__cell(&grid, memory__format("%" PRIu32, pair->from), INK_PLAIN);
        grid__cell(&grid, memory__format("%" PRIu32, pair->to), INK_PLAIN);
        grid__count(&grid, pair->messages);
        grid__count(&grid, pair->bytes);
        grid__duration(&grid, pair->late_sender_ns);
        grid__duration(&grid, pair->late_receiver_ns);
    }
    grid__end(&grid, style, out);
    if (order.count > PAIRS_MOST)
        paragraph__take(style, out, "  ",
                        memory__format("And %s more: heurt tables mpi_pairs.",
                                       count__format(order.count - PAIRS_MOST, count)));
    vec__free(&order);
}

/* ---- what is not known ----------------------------------------------------------------------- */

static void put_count(uint64_t count, const char *what, const struct style *style, FILE *out)
{
    char text[32];
    if (count)
        paragraph__take(style, out, "  ",
                        memory__format("%s %s.", count__format(count, text), what));
}

/* In order: of the job those that are not in the trace, or those in it that came to no
 * MPI_Finalize. */
static struct vec ranks_without(const struct mpi_use *use, bool are_missing)
{
    struct vec found = VEC_OF(uint32_t);
    uint32_t next = 0;
    VEC_EACH (rank, &use->ranks, const struct mpi_rank) {
        for (; are_missing && next < rank->rank; next++)
            vec__push(&found, &next);
        next = rank->rank + 1;
        if (!are_missing && !rank->is_finalized)
            vec__push(&found, &rank->rank);
    }
    for (; are_missing && next < use->size; next++)
        vec__push(&found, &next);
    return found;
}

static void put_dead(const struct mpi_use *use, const struct style *style, FILE *out)
{
    for (int are_missing = 0; are_missing < 2; are_missing++) {
        struct vec ranks = ranks_without(use, are_missing);
        char *names = ranks.count ? ranks__text(&ranks, 1, style) : NULL;
        if (names)
            names[0] = 'R';
        if (names && are_missing)
            paragraph__take(style, out, "  ",
                            memory__format("%s of %" PRIu32 " %s not in the trace: what was done "
                                           "there, and who waited for it, is not known.",
                                           names, use->size, ranks.count == 1 ? "is" : "are"));
        else if (names)
            paragraph__take(style, out, "  ",
                            memory__format("%s came to no MPI_Finalize: what was recorded until "
                                           "then is shown.",
                                           names));
        free(names);
        vec__free(&ranks);
    }
}

static void put_hosts(const struct mpi_use *use, const struct style *style, FILE *out)
{
    char error[16], count[32];
    if (use->hosts < 2)
        return;
    char *repaired =
        use->reversed ? memory__format(" %s message%s received before %s sent, and put in order.",
                                       count__format(use->reversed, count),
                                       use->reversed == 1 ? " was" : "s were",
                                       use->reversed == 1 ? "it was" : "they were")
                      : memory__text("");
    paragraph__take(
        style, out, "  ",
        memory__format("%" PRIu32 " hosts: their clocks were compared over MPI, and may "
                       "be %s apart; a shorter wait between hosts is none.%s",
                       use->hosts, duration__format(use->clock_error_ns, error), repaired));
    free(repaired);
    put_count(use->reversed_left, "messages are still received before they were sent", style, out);
    put_count(use->compared_once,
              "ranks' clocks were compared at the start alone: they drift unseen", style, out);
}

static void put_doubts(const struct mpi_use *use, const struct style *style, FILE *out)
{
    put_count(
        use->mismatched,
        "messages are not as long as what was sent: which send is whose is a guess, and so are "
        "waits for them",
        style, out);
    put_count(use->unmatched_sends, "sends have no receive in the trace", style, out);
    put_count(use->unmatched_receives, "receives have no send in the trace", style, out);
    put_count(use->partial_operations,
              "collective operations are not told by all of their ranks, and not looked at", style,
              out);
    put_count(use->neighbours, "operations among neighbours are not looked at further", style, out);
    put_count(use->files, "calls for files (MPI I/O) are not looked at further", style, out);
    if (use->is_ambiguous)
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "Several threads of a rank call MPI: which message is whose is a guess "
                       "where they use one communicator and tag.");
}

static void put(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    text__head(shown->report, style, out);
    fputc('\n', out);
    if (!shown->use) {
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "No rank of MPI is in the trace: the program did not call MPI_Init, heurt "
                       "was built without its MPI or does not know it, or the run was aggregated.");
        return;
    }
    put_least(shown, style, out);
    if (shown->is_one_rank || shown->site || shown->matrix) {
        (shown->is_one_rank ? mpi_text__one_rank
         : shown->site      ? mpi_text__sites
                            : mpi_text__matrix)(shown, style, out);
        return;
    }
    if (!shown->wait) {
        put_head(shown, style, out);
        mpi_text__efficiency(shown, style, out);
        put_path(shown->use, style, out);
        fputc('\n', out);
        put_ranks(shown->use, style, out);
        fputc('\n', out);
    }
    put_places(shown, style, out);
    if (!shown->wait)
        put_pairs(shown->use, style, out);
    put_dead(shown->use, style, out);
    put_hosts(shown->use, style, out);
    put_doubts(shown->use, style, out);
}

const struct mpi_presenter mpi_text = {"text", put};
