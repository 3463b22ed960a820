/* One rank, or one place, of those that heurt mpi shows. */
#include "base/memory.h"
#include "base/ratio.h"
#include "base/text.h"
#include "format/reader.h"
#include "present/mpi/mpi_screens.h"
#include "present/report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROWS_MOST 16u

/* ---- waits, one a row ------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
    const struct mpi_rank_wait *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->site, right->site)
               ?: ORDER(left->rank, right->rank) ?: ORDER(left->other, right->other);
}

static char *place_of(const struct mpi_report *shown, const struct mpi_site *site)
{
    char unknown[32];
    struct place place = place__of_site(shown->report, site->process, site->site, unknown);
    return place__text(&place);
}

/* rows: struct mpi_rank_wait. */
static void put_waits(const struct mpi_report *shown, const char *heading, struct vec *rows,
                      const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"rank", RIGHT}, {"for rank", RIGHT}, {"wait", LEFT}, {"in", LEFT},
        {"", LEFT},      {"times", RIGHT},    {"time", RIGHT}};
    if (!rows->count)
        return;
    vec__sort(rows, by_time);
    heading__put(style, out, heading);
    struct grid grid = grid__start(columns, 7, 2);
    for (size_t i = 0; i < rows->count && i < ROWS_MOST; i++) {
        const struct mpi_rank_wait *row = VEC_AT(rows, struct mpi_rank_wait, i);
        const struct mpi_site *site = VEC_AT(&shown->use->sites, struct mpi_site, row->site);
        grid__cell(&grid, memory__format("%" PRIu32, row->rank), INK_PLAIN);
        grid__cell(&grid, memory__format("%" PRIu32, row->other), INK_PLAIN);
        grid__cell(&grid, memory__text(mpi_wait__name(row->wait)), INK_PLAIN);
        grid__cell(&grid, memory__text(message_call__name(site->call)), INK_PLAIN);
        grid__take(&grid, place_of(shown, site), INK_PLAIN);
        grid__count(&grid, row->count);
        grid__duration(&grid, row->ns);
    }
    grid__end(&grid, style, out);
    if (rows->count > ROWS_MOST)
        paragraph__take(
            style, out, "  ",
            memory__format("And %zu more: heurt tables mpi_waits.", rows->count - ROWS_MOST));
}

static uint32_t block_of(const struct mpi_use *use, uint32_t rank)
{
    return rank & ~(use->detail_block - 1);
}

static void put_blocks(const struct mpi_use *use, const struct style *style, FILE *out)
{
    if (use->detail_block > 1)
        paragraph__take(style, out, "  ",
                        memory__format("There are very many ranks: here %" PRIu32
                                       " that stand side by side are one, called by the first.",
                                       use->detail_block));
}

/* ---- one rank -------------------------------------------------------------------------------- */

static char *times_of(const struct mpi_rank *rank)
{
    char life[16], work[16], no_cpu[16], blocked[16], mpi[16], waited[16];
    return memory__format(
        "Rank %" PRIu32 " lived %s: %s at work, %s wanting a CPU, %s blocked, %s in MPI, of "
        "which it waited %s for others.",
        rank->rank, duration__format(rank->life_ns, life), duration__format(rank->work_ns, work),
        duration__format(rank->no_cpu_ns, no_cpu), duration__format(rank->blocked_ns, blocked),
        duration__format(rank->mpi_ns, mpi), duration__format(rank->waited_ns, waited));
}

static char *delays_of(const struct mpi_rank *rank)
{
    char all[16], work[16], no_cpu[16], blocked[16];
    if (!rank->delay_ns)
        return memory__text("Nobody waited because of it.");
    return memory__format("Others waited %s because of it, directly or through others: %s while "
                          "it worked, %s while it wanted a CPU, %s while it was blocked.",
                          duration__format(rank->delay_ns, all),
                          duration__format(rank->delay_work_ns, work),
                          duration__format(rank->delay_no_cpu_ns, no_cpu),
                          duration__format(rank->delay_blocked_ns, blocked));
}

/* What the other ranks spent before their calls there, on the average. */
static uint64_t others_before_ns(const struct mpi_use *use, const struct mpi_rank_site *own)
{
    uint64_t sum_ns = 0, count = 0;
    VEC_EACH (row, &use->rank_sites, const struct mpi_rank_site)
        if (row->site == own->site && row->rank != own->rank) {
            sum_ns += row->before_ns;
            count++;
        }
    return count ? sum_ns / count : 0;
}

static void put_calls(const struct mpi_report *shown, uint32_t block, const struct style *style,
                      FILE *out)
{
    static const struct grid_column columns[] = {
        {"call", LEFT},  {"in", LEFT},      {"times", RIGHT},  {"bytes", RIGHT},
        {"time", RIGHT}, {"waited", RIGHT}, {"before", RIGHT}, {"others", RIGHT}};
    struct grid grid = grid__start(columns, 8, 2);
    VEC_EACH (row, &shown->use->rank_sites, const struct mpi_rank_site) {
        const struct mpi_site *site = VEC_AT(&shown->use->sites, struct mpi_site, row->site);
        if (row->rank != block)
            continue;
        grid__cell(&grid, memory__text(message_call__name(site->call)), INK_PLAIN);
        grid__take(&grid, place_of(shown, site), INK_PLAIN);
        grid__count(&grid, row->count);
        grid__count(&grid, row->bytes);
        grid__duration(&grid, row->ns);
        grid__duration(&grid, row->waited_ns);
        grid__duration(&grid, row->before_ns);
        grid__duration(&grid, others_before_ns(shown->use, row));
    }
    grid__end(&grid, style, out);
    paragraph__put(style, out, INK_PLAIN, "  ",
                   "before: outside of MPI since the call before; others: theirs, on the average.");
}

void mpi_text__one_rank(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    const struct mpi_use *use = shown->use;
    const struct mpi_rank *rank = VEC_FIND(&use->ranks, struct mpi_rank, rank, shown->rank);
    uint32_t block = block_of(use, shown->rank);
    struct vec own = VEC_OF(struct mpi_rank_wait), others = VEC_OF(struct mpi_rank_wait);
    VEC_EACH (row, &use->rank_waits, const struct mpi_rank_wait) {
        if (row->rank == block)
            vec__push(&own, row);
        if (row->other == block)
            vec__push(&others, row);
    }
    paragraph__take(style, out, "  ", times_of(rank));
    paragraph__take(style, out, "  ", delays_of(rank));
    put_blocks(use, style, out);
    fputc('\n', out);
    put_calls(shown, block, style, out);
    put_waits(shown, "  It waited", &own, style, out);
    put_waits(shown, "  Waited for it", &others, style, out);
    vec__free(&own);
    vec__free(&others);
}

/* ---- places ---------------------------------------------------------------------------------- */

static int by_waited(const void *a, const void *b)
{
    const struct mpi_rank_site *left = a, *right = b;
    return ORDER(right->waited_ns, left->waited_ns) ?: ORDER(right->ns, left->ns)
               ?: ORDER(left->rank, right->rank);
}

static void put_ranks_at(const struct mpi_use *use, uint32_t site, const struct style *style,
                         FILE *out)
{
    static const struct grid_column columns[] = {
        {"rank", RIGHT},    {"times", RIGHT},  {"bytes", RIGHT}, {"time", RIGHT},
        {"longest", RIGHT}, {"waited", RIGHT}, {"before", RIGHT}};
    struct vec rows = VEC_OF(struct mpi_rank_site);
    VEC_EACH (row, &use->rank_sites, const struct mpi_rank_site)
        if (row->site == site)
            vec__push(&rows, row);
    vec__sort(&rows, by_waited);
    struct grid grid = grid__start(columns, 7, 2);
    for (size_t i = 0; i < rows.count && i < ROWS_MOST; i++) {
        const struct mpi_rank_site *row = VEC_AT(&rows, struct mpi_rank_site, i);
        grid__cell(&grid, memory__format("%" PRIu32, row->rank), INK_PLAIN);
        grid__count(&grid, row->count);
        grid__count(&grid, row->bytes);
        grid__duration(&grid, row->ns);
        grid__duration(&grid, row->most_ns);
        grid__duration(&grid, row->waited_ns);
        grid__duration(&grid, row->before_ns);
    }
    grid__end(&grid, style, out);
    if (rows.count > ROWS_MOST)
        paragraph__take(style, out, "  ",
                        memory__format("And %zu more, which waited less: heurt tables "
                                       "mpi_rank_calls.",
                                       rows.count - ROWS_MOST));
    vec__free(&rows);
}

static void put_site(const struct mpi_report *shown, uint32_t index, const struct style *style,
                     FILE *out)
{
    const struct mpi_use *use = shown->use;
    const struct mpi_site *site = VEC_AT(&use->sites, struct mpi_site, index);
    struct vec waits = VEC_OF(struct mpi_rank_wait);
    char *place = place_of(shown, site), *who = mpi_site__who_waits(use, site, style), waited[16];
    VEC_EACH (row, &use->rank_waits, const struct mpi_rank_wait)
        if (row->site == index)
            vec__push(&waits, row);
    paragraph__take(
        style, out, "  ",
        who ? memory__format("%s in %s: %s%s, %s in all.", message_call__name(site->call), place,
                             site->late_ns < site->waited_ns ? "mostly " : "", who,
                             duration__format(site->waited_ns, waited))
            : memory__format("%s in %s: nobody waits.", message_call__name(site->call), place));
    put_ranks_at(use, index, style, out);
    put_waits(shown, "  Whom they waited for", &waits, style, out);
    vec__free(&waits);
    free(place);
    free(who);
}

void mpi_text__sites(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    uint32_t index = 0, put = 0;
    put_blocks(shown->use, style, out);
    VEC_EACH (site, &shown->use->sites, const struct mpi_site) {
        if (mpi_report__shows(shown, site)) {
            if (put++)
                fputc('\n', out);
            put_site(shown, index, style, out);
        }
        index++;
    }
}
