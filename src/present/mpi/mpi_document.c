/* heurt.mpi/1: the contract is in docs/heurt-mpi.md; and the tables of MPI. */
#include "analysis/openmp/openmp.h"
#include "base/memory.h"
#include "format/reader.h"
#include "present/mpi/mpi_screens.h"
#include "present/shared.h"
#include "present/table/parts.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

/* Of a row's array by enum mpi_wait. */
#define WAIT(row, member, wait, key, help) \
    COLUMN_KEYED(key "_ns", row, member[wait], NULL, "ns", help)
#define WAIT_COLUMNS(row, member)                                                                  \
    WAIT(row, member, MPI_WAIT_LATE_SENDER, "late_sender", "until messages were sent"),            \
        WAIT(row, member, MPI_WAIT_WRONG_ORDER, "wrong_order",                                     \
             "likewise, while an earlier message was there"),                                      \
        WAIT(row, member, MPI_WAIT_LATE_RECEIVER, "late_receiver", "until messages were awaited"), \
        WAIT(row, member, MPI_WAIT_BARRIER, "barrier", "until the last came to a barrier"),        \
        WAIT(row, member, MPI_WAIT_ALL, "all_to_all",                                              \
             "until the last came to an operation that needs all"),                                \
        WAIT(row, member, MPI_WAIT_LATE_BROADCAST, "late_broadcast", "until the root came"),       \
        WAIT(row, member, MPI_WAIT_EARLY_REDUCE, "early_reduce", "of roots, until the last came"), \
        WAIT(row, member, MPI_WAIT_EARLY_SCAN, "early_scan", "until those before it came"),        \
        WAIT(row, member, MPI_WAIT_END, "end", "in MPI_Finalize, until the last came"),            \
        WAIT(row, member, MPI_WAIT_FENCE, "fence", "until the last came to a window's fence"),     \
        WAIT(row, member, MPI_WAIT_LATE_POST, "late_post",                                         \
             "until others gave leave to access their memory"),                                    \
        WAIT(row, member, MPI_WAIT_EARLY_WAIT, "early_wait", "while others accessed its memory"),  \
        WAIT(row, member, MPI_WAIT_LATE_COMPLETE, "late_complete",                                 \
             "until others told that they had accessed it"),                                       \
        WAIT(row, member, MPI_WAIT_LOCK, "lock_competition", "until others unlocked a window")

/* ---- ranks ----------------------------------------------------------------------------------- */

struct mpi_rank_cells {
    struct mpi_rank of;
    uint32_t pid;
    const char *did;
};

#define RANK(member, title, unit, help) \
    COLUMN_KEYED(#member, mpi_rank_cells, of.member, title, unit, help)
static const struct column rank_columns[] = {
    RANK(rank, "rank", "", "in MPI_COMM_WORLD"),
    COLUMN(mpi_rank_cells, pid, NULL, "", "its process"),
    RANK(life_ns, "life", "ns", "of the thread that called MPI_Init"),
    RANK(mpi_ns, "in MPI", "ns", "of that, in calls of MPI"),
    RANK(work_ns, "work", "ns", "outside of MPI, on a CPU"),
    RANK(no_cpu_ns, "no CPU", "ns", "outside of MPI, wanting one"),
    RANK(blocked_ns, "blocked", "ns", "outside of MPI, for something else"),
    RANK(waited_ns, "waited", "ns", "in MPI, for other ranks"),
    WAIT_COLUMNS(mpi_rank_cells, of.wait_ns),
    RANK(delay_ns, "waited for", "ns",
         "others waited while it was outside of MPI: directly, or for one who waited for it"),
    RANK(delay_work_ns, NULL, "ns", "of that, it was at work"),
    RANK(delay_no_cpu_ns, NULL, "ns", "of that, it wanted a CPU"),
    RANK(delay_blocked_ns, NULL, "ns", "of that, it was blocked by something else"),
    COLUMN(mpi_rank_cells, did, NULL, "",
           "outside of MPI, where it was beyond what others were: in that function"),
    RANK(did_ns, NULL, "ns", "so long in that function"),
    RANK(did_others_ns, NULL, "ns", "the others on the average"),
    RANK(calls, "calls", "", "of MPI"),
    RANK(sent, "sent", "", "messages"),
    RANK(sent_bytes, NULL, "", "bytes in them"),
    RANK(received, NULL, "", "messages"),
    RANK(received_bytes, NULL, "", "bytes in them"),
    RANK(collectives, NULL, "", "collective operations"),
    RANK(accesses, NULL, "", "of ranks' memory by windows"),
    RANK(access_bytes, NULL, "", "in them"),
};
static const struct table ranks_table =
    TABLE(mpi_rank_cells, "mpi_ranks", "a row a rank of an MPI program", rank_columns);

/* NULL: it is not known. */
static const char *what_it_did(struct table_rows *rows, const struct report *report,
                               const struct mpi_rank *rank)
{
    char unknown[32];
    if (!rank->did_ns)
        return NULL;
    struct place place = place__of_site(report, rank->process, rank->did_site, unknown);
    return table_rows__keep(rows, place__text(&place));
}

static struct table_rows rank_rows(const struct mpi_report *shown)
{
    struct table_rows rows = table_rows__of(&ranks_table);
    if (shown->use)
        VEC_EACH (rank, &shown->use->ranks, const struct mpi_rank)
            TABLE_ROW(&rows, mpi_rank_cells, .of = *rank,
                      .pid = trace__thread_at(shown->report->trace, rank->thread)->pid,
                      .did = what_it_did(&rows, shown->report, rank));
    return rows;
}

/* ---- places ---------------------------------------------------------------------------------- */

struct mpi_site_cells {
    struct mpi_site of;
    struct place_cells place;
    const char *call, *wait;
};

#define SITE(member, title, unit, help) \
    COLUMN_KEYED(#member, mpi_site_cells, of.member, title, unit, help)
static const struct column site_columns[] = {
    COLUMN(mpi_site_cells, call, "call", "", "function of MPI"),
    FIELD_OBJECT("place", mpi_site_cells, place, site_table),
    FLAT("function", mpi_site_cells, place.function, "in", "", "function that calls it"),
    FLAT("file", mpi_site_cells, place.file, NULL, "", "its source file"),
    FLAT("line", mpi_site_cells, place.line, "line", "", "line in it"),
    SITE(ranks, "ranks", "", "that call it there"),
    SITE(count, "times", "", "all ranks' calls"),
    COLUMN_KEYED("time_ns", mpi_site_cells, of.ns, "time", "ns", "that they took"),
    SITE(waited_ns, "waited", "ns", "of that, for other ranks"),
    COLUMN(mpi_site_cells, wait, "what for", "", "the kind of wait that took most of that"),
    WAIT_COLUMNS(mpi_site_cells, of.wait_ns),
    SITE(most_ns, NULL, "ns", "the longest call"),
    SITE(bytes, NULL, "", "that were given to send, or had room to be received"),
    SITE(late, "for rank", "", "that was waited for most"),
    SITE(late_ns, NULL, "ns", "so long"),
};
static const struct table sites_table = TABLE(
    mpi_site_cells, "mpi_calls", "a row a place that calls MPI, and a function", site_columns);

static unsigned longest_wait(const uint64_t wait_ns[MPI_WAITS])
{
    unsigned most = MPI_WAIT_NONE;
    for (unsigned i = 1; i < MPI_WAITS; i++)
        if (wait_ns[i] && (!most || wait_ns[i] > wait_ns[most]))
            most = i;
    return most;
}

static struct table_rows site_rows(const struct mpi_report *shown)
{
    struct table_rows rows = table_rows__of(&sites_table);
    if (shown->use)
        VEC_EACH (site, &shown->use->sites, const struct mpi_site) {
            unsigned wait = longest_wait(site->wait_ns);
            if ((shown->wait && !site->wait_ns[shown->wait]) || !mpi_report__shows(shown, site))
                continue;
            struct place_cells place =
                place_cells__of_site(&rows, shown->report, site->process, site->site);
            TABLE_ROW(&rows, mpi_site_cells, .of = *site, .place = place,
                      .call = message_call__name(site->call),
                      .wait = wait ? mpi_wait__name(wait) : NULL);
        }
    return rows;
}

/* ---- pairs, communicators -------------------------------------------------------------------- */

static const struct column pair_columns[] = {
    COLUMN(mpi_pair, from, "from", "", "rank"),
    COLUMN(mpi_pair, to, "to", "", "rank"),
    COLUMN(mpi_pair, messages, "messages", "", "from one to the other"),
    COLUMN(mpi_pair, bytes, "bytes", "", "in them"),
    COLUMN(mpi_pair, least_bytes, NULL, "", "of the smallest"),
    COLUMN(mpi_pair, most_bytes, NULL, "", "of the largest"),
    COLUMN(mpi_pair, late_sender_ns, "late sender", "ns",
           "from the receiver's call until the send, message by message"),
    COLUMN(mpi_pair, late_receiver_ns, "late receiver", "ns",
           "from the sender's call until the receive, likewise"),
    COLUMN(mpi_pair, accesses, NULL, "", "by the one, of the other's memory by windows"),
    COLUMN(mpi_pair, access_bytes, NULL, "", "in them"),
};
static const struct table pairs_table = TABLE(
    mpi_pair, "mpi_pairs", "a row a rank that sent messages and one that got them", pair_columns);

static struct table_rows pair_rows(const struct mpi_report *shown)
{
    struct table_rows rows = table_rows__of(&pairs_table);
    if (shown->use)
        VEC_EACH (pair, &shown->use->pairs, const struct mpi_pair)
            vec__push(&rows.rows, pair);
    return rows;
}

struct mpi_communicator_cells {
    struct mpi_communicator of;
    const char *kind;
};

static const struct column communicator_columns[] = {
    COLUMN_KEYED("number", mpi_communicator_cells, of.number, "communicator", "",
                 "its number, the same in all ranks"),
    COLUMN(mpi_communicator_cells, kind, "kind", "",
           "communicator, or window of one-sided communication"),
    COLUMN_KEYED("size", mpi_communicator_cells, of.size, "ranks", "", "in it"),
    COLUMN_KEYED("operations", mpi_communicator_cells, of.operations, "operations", "",
                 "collective ones"),
    COLUMN_KEYED("time_ns", mpi_communicator_cells, of.ns, "time", "ns", "of all ranks in them"),
    COLUMN_KEYED("waited_ns", mpi_communicator_cells, of.waited_ns, "waited", "ns",
                 "of that, for others"),
    COLUMN_KEYED("messages", mpi_communicator_cells, of.messages, "messages", "",
                 "in it; of a window: accesses"),
    COLUMN_KEYED("bytes", mpi_communicator_cells, of.bytes, "bytes", "", "in them"),
};
static const struct table communicators_table =
    TABLE(mpi_communicator_cells, "mpi_communicators", "a row a communicator or window",
          communicator_columns);

static const char *group_name(uint32_t kind)
{
    static const char *const names[] = {
        [MPI_GROUP_COMMUNICATOR] = "communicator", [MPI_GROUP_WINDOW] = "window"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : "?";
}

static struct table_rows communicator_rows(const struct mpi_report *shown)
{
    struct table_rows rows = table_rows__of(&communicators_table);
    if (shown->use)
        VEC_EACH (one, &shown->use->communicators, const struct mpi_communicator)
            TABLE_ROW(&rows, mpi_communicator_cells, .of = *one, .kind = group_name(one->kind));
    return rows;
}

/* ---- ranks at places ------------------------------------------------------------------------- */

struct rank_site_cells {
    struct mpi_rank_site of;
    struct place_cells place;
    const char *call;
};
#define RANK_SITE(member, title, unit, help) \
    COLUMN_KEYED(#member, rank_site_cells, of.member, title, unit, help)
static const struct column rank_site_columns[] = {
    RANK_SITE(rank, "rank", "", "in MPI_COMM_WORLD; of very many, the first of a block"),
    COLUMN(rank_site_cells, call, "call", "", "function of MPI"),
    FIELD_OBJECT("place", rank_site_cells, place, site_table),
    FLAT("function", rank_site_cells, place.function, "in", "", "function that calls it"),
    FLAT("file", rank_site_cells, place.file, NULL, "", "its source file"),
    FLAT("line", rank_site_cells, place.line, "line", "", "line in it"),
    RANK_SITE(count, "times", "", "its calls there"),
    RANK_SITE(bytes, "bytes", "", "that were given to send, or had room to be received"),
    COLUMN_KEYED("time_ns", rank_site_cells, of.ns, "time", "ns", "that they took"),
    RANK_SITE(most_ns, NULL, "ns", "the longest"),
    RANK_SITE(waited_ns, "waited", "ns", "of the time, for other ranks"),
    RANK_SITE(before_ns, "before", "ns", "outside of MPI, since the call before each"),
};
static const struct table rank_sites_table =
    TABLE(rank_site_cells, "mpi_rank_calls", "a row a rank and a place at which it calls MPI",
          rank_site_columns);

static const struct mpi_site *site_at(const struct mpi_report *shown, uint32_t index)
{
    return VEC_AT(&shown->use->sites, struct mpi_site, index);
}

/* Whether a rank that stands for others, too, is the one that is shown alone. */
static bool is_shown(const struct mpi_report *shown, uint32_t rank)
{
    return !shown->is_one_rank || rank == (shown->rank & ~(shown->use->detail_block - 1));
}

static struct table_rows rank_site_rows(const struct mpi_report *shown)
{
    struct table_rows rows = table_rows__of(&rank_sites_table);
    if (shown->use)
        VEC_EACH (row, &shown->use->rank_sites, const struct mpi_rank_site) {
            const struct mpi_site *site = site_at(shown, row->site);
            if (!is_shown(shown, row->rank) || !mpi_report__shows(shown, site))
                continue;
            struct place_cells place =
                place_cells__of_site(&rows, shown->report, site->process, site->site);
            TABLE_ROW(&rows, rank_site_cells, .of = *row, .place = place,
                      .call = message_call__name(site->call));
        }
    return rows;
}

struct rank_wait_cells {
    struct mpi_rank_wait of;
    struct place_cells place;
    const char *call, *wait;
};
static const struct column rank_wait_columns[] = {
    COLUMN_KEYED("rank", rank_wait_cells, of.rank, "rank", "", "that waited"),
    COLUMN_KEYED("for_rank", rank_wait_cells, of.other, "for rank", "", "that was waited for"),
    COLUMN(rank_wait_cells, wait, "wait", "", "its kind"),
    COLUMN(rank_wait_cells, call, "call", "", "function of MPI in which it waited"),
    FIELD_OBJECT("place", rank_wait_cells, place, site_table),
    FLAT("function", rank_wait_cells, place.function, "in", "", "function that calls it"),
    FLAT("file", rank_wait_cells, place.file, NULL, "", "its source file"),
    FLAT("line", rank_wait_cells, place.line, "line", "", "line in it"),
    COLUMN_KEYED("count", rank_wait_cells, of.count, "times", "", "calls"),
    COLUMN_KEYED("wait_ns", rank_wait_cells, of.ns, "waited", "ns", "in them"),
};
static const struct table rank_waits_table =
    TABLE(rank_wait_cells, "mpi_waits",
          "a row a rank that waited, one that it waited for, a place and a kind of wait",
          rank_wait_columns);

static struct table_rows rank_wait_rows(const struct mpi_report *shown)
{
    struct table_rows rows = table_rows__of(&rank_waits_table);
    if (shown->use)
        VEC_EACH (row, &shown->use->rank_waits, const struct mpi_rank_wait) {
            const struct mpi_site *site = site_at(shown, row->site);
            if ((!is_shown(shown, row->rank) && !is_shown(shown, row->other)) ||
                (shown->wait && row->wait != shown->wait) || !mpi_report__shows(shown, site))
                continue;
            struct place_cells place =
                place_cells__of_site(&rows, shown->report, site->process, site->site);
            TABLE_ROW(&rows, rank_wait_cells, .of = *row, .place = place,
                      .call = message_call__name(site->call), .wait = mpi_wait__name(row->wait));
        }
    return rows;
}

/* ---- efficiencies ---------------------------------------------------------------------------- */

#define EFFICIENCY(member, title, unit, help) \
    COLUMN_KEYED(#member, mpi_efficiency, member, title, unit, help)
static const struct column efficiency_columns[] = {
    EFFICIENCY(hybrid, "hybrid", "share", "POP's hybrid parallel efficiency: parallel × openmp"),
    EFFICIENCY(openmp, "OpenMP", "share", "of it, OpenMP's part"),
    EFFICIENCY(parallel, "parallel", "share", "MPI's parallel efficiency: balance × communication"),
    EFFICIENCY(balance, "balance", "share", "load balance"),
    EFFICIENCY(communication, "communication", "share", "serialisation × transfer"),
    EFFICIENCY(serialisation, "serialisation", "share", "what waiting for each other leaves"),
    EFFICIENCY(transfer, "transfer", "share", "what passing messages leaves"),
    EFFICIENCY(elapsed_ns, "elapsed", "ns", "from MPI_Init to MPI_Finalize, of the slowest rank"),
    EFFICIENCY(ranks, "ranks", "", "that are in the trace"),
    EFFICIENCY(threads, "threads", "", "of a rank, in its largest team"),
};
static const struct table efficiency_table =
    TABLE(mpi_efficiency, "mpi_efficiency", "POP's efficiencies of all ranks", efficiency_columns);

static struct table_rows efficiency_rows(const struct mpi_report *shown)
{
    struct table_rows rows = table_rows__of(&efficiency_table);
    if (shown->use)
        *(struct mpi_efficiency *)table_rows__add(&rows) = mpi_report__efficiency(shown);
    return rows;
}

#define SOURCE(of_rows, table_, name)                                       \
    static struct table_rows name##_of(const struct table_subject *subject) \
    {                                                                       \
        return of_rows(subject->mpi);                                       \
    }                                                                       \
    const struct table_source name##_source = {                             \
        .table = &(table_), .of = MADE_OF(&mpi_analysis), .rows = name##_of}
SOURCE(rank_rows, ranks_table, mpi_ranks);
SOURCE(site_rows, sites_table, mpi_calls);
SOURCE(pair_rows, pairs_table, mpi_pairs);
SOURCE(communicator_rows, communicators_table, mpi_communicators);
SOURCE(rank_site_rows, rank_sites_table, mpi_rank_calls);
SOURCE(rank_wait_rows, rank_waits_table, mpi_waits);

static struct table_rows mpi_efficiency_of(const struct table_subject *subject)
{
    return efficiency_rows(subject->mpi);
}
const struct table_source mpi_efficiency_source = {.table = &efficiency_table,
                                                   .of = MADE_OF(&mpi_analysis, &openmp_analysis),
                                                   .rows = mpi_efficiency_of};

/* ---- the document ---------------------------------------------------------------------------- */

struct mpi_document {
    struct run_cells run;
    const struct mpi_report *shown;
    uint64_t size, block, detail_block, matched, mismatched, unmatched_sends, unmatched_receives,
        cancelled, whole_operations, partial_operations, one_sided_calls, file_calls,
        neighbour_operations, hosts, clock_error_ns, compared_once, reversed, reversed_left;
    bool ambiguous;
};

static struct table_rows rank_list(const void *root)
{
    return rank_rows(((const struct mpi_document *)root)->shown);
}

static struct table_rows site_list(const void *root)
{
    return site_rows(((const struct mpi_document *)root)->shown);
}

static struct table_rows pair_list(const void *root)
{
    return pair_rows(((const struct mpi_document *)root)->shown);
}

static struct table_rows communicator_list(const void *root)
{
    return communicator_rows(((const struct mpi_document *)root)->shown);
}

static struct table_rows rank_site_list(const void *root)
{
    return rank_site_rows(((const struct mpi_document *)root)->shown);
}

static struct table_rows rank_wait_list(const void *root)
{
    return rank_wait_rows(((const struct mpi_document *)root)->shown);
}

static struct table_rows efficiency_list(const void *root)
{
    return efficiency_rows(((const struct mpi_document *)root)->shown);
}

static const struct table document_table = OBJECT(
    mpi_document, FIELD_SCHEMA("heurt.mpi/1"), FIELD_COMMAND, FIELDS_OF_EXIT(mpi_document, run),
    FIELD_MACHINE, FIELD("wall_ns", mpi_document, run.wall_ns),
    FIELDS(mpi_document, size, block, matched, mismatched),
    FIELDS(mpi_document, unmatched_sends, unmatched_receives, cancelled, whole_operations,
           partial_operations, one_sided_calls, file_calls, neighbour_operations, ambiguous),
    FIELDS(mpi_document, hosts, clock_error_ns, compared_once, reversed, reversed_left),
    FIELD_LIST("ranks", rank_list), FIELD_LIST("calls", site_list), FIELD_LIST("pairs", pair_list),
    FIELD_LIST("communicators", communicator_list), FIELD_ONE("efficiency", efficiency_list),
    FIELD("detail_block", mpi_document, detail_block), FIELD_LIST("rank_calls", rank_site_list),
    FIELD_LIST("waits", rank_wait_list), FIELD_WARNINGS);

static void put_json(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    struct mpi_document document = {.run = run_cells__of(shown->report), .shown = shown};
    const struct mpi_use *use = shown->use;
    (void)style;
    if (use) {
        document.size = use->size;
        document.block = use->block;
        document.detail_block = use->detail_block;
        document.matched = use->matched;
        document.mismatched = use->mismatched;
        document.unmatched_sends = use->unmatched_sends;
        document.unmatched_receives = use->unmatched_receives;
        document.cancelled = use->cancelled;
        document.whole_operations = use->whole_operations;
        document.partial_operations = use->partial_operations;
        document.one_sided_calls = use->one_sided;
        document.file_calls = use->files;
        document.neighbour_operations = use->neighbours;
        document.hosts = use->hosts;
        document.clock_error_ns = use->clock_error_ns;
        document.compared_once = use->compared_once;
        document.reversed = use->reversed;
        document.reversed_left = use->reversed_left;
        document.ambiguous = use->is_ambiguous;
    }
    document__put(&document_table, &document, out);
}

static void put_csv(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(shown->matrix                       ? pair_rows(shown)
                        : shown->is_one_rank || shown->site ? rank_site_rows(shown)
                                                            : site_rows(shown),
                        out);
}

const struct mpi_presenter mpi_json = {"json", put_json};
const struct mpi_presenter mpi_csv = {"csv", put_csv};
