/* The tables as bytes, of this machine's form: a head, then the rows. */
#include "analysis/analysis.h"
#include "analysis/mpi/mpi.h"
#include "base/memory.h"
#include "format/reader.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "heurt MPI 7\n"

#define TABLES 6u

/* No padding. */
#define ROW(numbers, words) ((numbers) * sizeof(uint32_t) + (words) * sizeof(uint64_t))
_Static_assert(sizeof(struct mpi_rank) == ROW(4, 24 + MPI_WAITS), "");
_Static_assert(sizeof(struct mpi_site) == ROW(4, 7 + 2 * MPI_WAITS), "");
_Static_assert(sizeof(struct mpi_pair) == ROW(2, 8), "");
_Static_assert(sizeof(struct mpi_communicator) == ROW(4, 5), "");
_Static_assert(sizeof(struct mpi_rank_site) == ROW(2, 6), "");
_Static_assert(sizeof(struct mpi_rank_wait) == ROW(4, 2), "");
_Static_assert(sizeof(struct mpi_use) == TABLES * sizeof(struct vec) + ROW(4, 17), "");

/* Whose tables they are, and how many rows. */
struct kept_head {
    char magic[16];
    uint64_t start, end, threads, processes; /* of the trace */
    uint64_t row_bytes;                      /* of all tables, and of struct mpi_use */
    uint64_t counts[TABLES];
    struct mpi_use use; /* its vecs have no items */
};

static struct kept_head head_of(const struct trace *trace)
{
    const struct heurt_session *session = trace__session(trace);
    struct kept_head head;
    memset(&head, 0, sizeof head);
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    head.start = session->start.tick;
    head.end = session->end.tick;
    head.threads = trace__threads(trace)->count;
    head.processes = trace__processes(trace)->count;
    head.row_bytes = sizeof(struct mpi_rank) << 48 | sizeof(struct mpi_site) << 32 |
                     sizeof(struct mpi_pair) << 16 | sizeof(struct mpi_communicator);
    return head;
}

#define TABLES_OF(use)                                                                          \
    {                                                                                           \
        &(use)->ranks, &(use)->sites, &(use)->pairs, &(use)->communicators, &(use)->rank_sites, \
            &(use)->rank_waits                                                                  \
    }

void *mpi_use__bytes(const struct mpi_use *use, const struct trace *trace, size_t *size)
{
    const struct vec *const tables[TABLES] = TABLES_OF(use);
    struct kept_head head = head_of(trace);
    head.use = *use;
    head.use.ranks = head.use.sites = head.use.pairs = head.use.communicators =
        head.use.rank_sites = head.use.rank_waits = (struct vec){0};
    head.use.replay = NULL;
    *size = sizeof head;
    for (unsigned i = 0; i < TABLES; i++) {
        head.counts[i] = tables[i]->count;
        *size += tables[i]->count * tables[i]->item_bytes;
    }
    char *bytes = memory__zeroed(1, *size), *at = bytes + sizeof head;
    memcpy(bytes, &head, sizeof head);
    for (unsigned i = 0; i < TABLES; i++) {
        if (tables[i]->count)
            memcpy(at, tables[i]->items, tables[i]->count * tables[i]->item_bytes);
        at += tables[i]->count * tables[i]->item_bytes;
    }
    return bytes;
}

static bool is_of(const struct kept_head *head, const struct trace *trace)
{
    struct kept_head own = head_of(trace);
    return memcmp(head, &own, offsetof(struct kept_head, counts)) == 0;
}

static struct mpi_use *take_tables(const struct kept_head *head, const char *at, size_t room)
{
    struct mpi_use *use = memory__zeroed(1, sizeof *use);
    *use = head->use;
    use->replay = NULL;
    use->ranks = VEC_OF(struct mpi_rank);
    use->sites = VEC_OF(struct mpi_site);
    use->pairs = VEC_OF(struct mpi_pair);
    use->communicators = VEC_OF(struct mpi_communicator);
    use->rank_sites = VEC_OF(struct mpi_rank_site);
    use->rank_waits = VEC_OF(struct mpi_rank_wait);
    struct vec *const tables[TABLES] = TABLES_OF(use);
    for (unsigned i = 0; i < TABLES; i++) {
        size_t bytes = head->counts[i] * tables[i]->item_bytes;
        if (head->counts[i] > room / tables[i]->item_bytes) {
            mpi_analysis.free(use);
            return NULL;
        }
        if (bytes)
            memcpy(vec__extend(tables[i], head->counts[i]), at, bytes);
        at += bytes;
        room -= bytes;
    }
    return use;
}

/* What others look up by these must be there. */
static bool is_sound(const struct mpi_use *use, const struct trace *trace)
{
    VEC_EACH (rank, &use->ranks, const struct mpi_rank)
        if (rank->thread >= trace__threads(trace)->count)
            return false;
    VEC_EACH (site, &use->sites, const struct mpi_site)
        if (!trace__process_of(trace, site->process))
            return false;
    VEC_EACH (row, &use->rank_sites, const struct mpi_rank_site)
        if (row->site >= use->sites.count)
            return false;
    VEC_EACH (row, &use->rank_waits, const struct mpi_rank_wait)
        if (row->site >= use->sites.count || row->wait >= MPI_WAITS)
            return false;
    return use->ranks.count > 0;
}

struct mpi_use *mpi_use__of_bytes(const void *bytes, size_t size, const struct trace *trace)
{
    struct kept_head head;
    if (size < sizeof head)
        return NULL;
    memcpy(&head, bytes, sizeof head);
    if (!is_of(&head, trace))
        return NULL;
    struct mpi_use *use = take_tables(&head, (const char *)bytes + sizeof head, size - sizeof head);
    if (use && !is_sound(use, trace)) {
        mpi_analysis.free(use);
        use = NULL;
    }
    return use;
}

static struct vec copy_of(const struct vec *vec)
{
    struct vec copy = {.item_bytes = vec->item_bytes};
    if (vec->count)
        memcpy(vec__extend(&copy, vec->count), vec->items, vec->count * vec->item_bytes);
    return copy;
}

struct mpi_use *mpi_use__copy(const struct mpi_use *use)
{
    struct mpi_use *copy = memory__zeroed(1, sizeof *copy);
    *copy = *use;
    copy->replay = NULL;
    copy->ranks = copy_of(&use->ranks);
    copy->sites = copy_of(&use->sites);
    copy->pairs = copy_of(&use->pairs);
    copy->communicators = copy_of(&use->communicators);
    copy->rank_sites = copy_of(&use->rank_sites);
    copy->rank_waits = copy_of(&use->rank_waits);
    return copy;
}
