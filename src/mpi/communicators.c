/* communicators.c: each communicator's number, which all its processes find for themselves: a hash
 * of its members' ranks in MPI_COMM_WORLD, in their order, and of how many communicators of the
 * same members were made before it. Making one is collective over its members, so that all of them
 * count alike. What is made is never unmade: a process that makes and frees many uses its places
 * again. Windows have numbers likewise, for themselves. */
#include "mpi/wrap.h"

#include <sched.h>

#define COMMUNICATORS_MAX 4096u
#define GROUPS_MAX 4096u

static struct communicators {
    uint32_t lock;
    uint32_t count, turn; /* places that were ever used; where to look next */
    const struct communicator *recent[GROUP_KINDS]; /* (atomic) the last that was looked up */
    struct communicator *all;                       /* COMMUNICATORS_MAX */
    struct {
        uint64_t members; /* their hash; 0: free */
        uint32_t made;
    } groups[GROUPS_MAX];
} own;

static void lock(void)
{
    while (__atomic_exchange_n(&own.lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(void)
{
    __atomic_store_n(&own.lock, 0, __ATOMIC_RELEASE);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const int *ranks, uint32_t count, enum group_kind kind)
{
    uint64_t hash = mix(1 + kind, count);
    for (uint32_t i = 0; i < count; i++)
        hash = mix(hash, (uint64_t)(int64_t)ranks[i]);
    return hash;
}

/* How many of the same members there were. */
static uint32_t count_group(uint64_t members)
{
    uint64_t at = members % GROUPS_MAX;
    for (unsigned i = 0; i < GROUPS_MAX; i++, at = (at + 1) % GROUPS_MAX) {
        if (!own.groups[at].members)
            own.groups[at].members = members;
        if (own.groups[at].members == members)
            return own.groups[at].made++;
    }
    return 0;
}

/* Ranks in MPI_COMM_WORLD of a group's members, which is freed; NULL. */
static int *world_ranks(MPI_Group group, uint32_t *count)
{
    MPI_Group world;
    int size = 0, *ranks = NULL;
    if (PMPI_Group_size(group, &size) == MPI_SUCCESS && size > 0 &&
        PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        ranks = pages__get(2 * (size_t)size * sizeof *ranks);
        for (int i = 0; ranks && i < size; i++)
            ranks[size + i] = i;
        if (ranks)
            PMPI_Group_translate_ranks(group, size, ranks + size, world, ranks);
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    *count = ranks ? (uint32_t)size : 0;
    return ranks;
}

static bool group_of(uint64_t key, enum group_kind kind, MPI_Group *group)
{
    if (kind == GROUP_WINDOW)
        return PMPI_Win_get_group(HANDLE_OF(MPI_Win, key), group) == MPI_SUCCESS;
    return PMPI_Comm_group(HANDLE_OF(MPI_Comm, key), group) == MPI_SUCCESS;
}

/* Whether there are processes among them that are not in MPI_COMM_WORLD: spawned, or connected to.
 */
static bool has_foreign(const int *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (world[i] < 0)
            return true;
    return false;
}

/* To how many others a process sends in an operation of its neighbourhood. */
static uint32_t count_neighbours(MPI_Comm handle, int rank)
{
    int how = MPI_UNDEFINED, count = 0, sources, weighted;
    if (PMPI_Topo_test(handle, &how) != MPI_SUCCESS)
        return 0;
    if (how == MPI_CART && PMPI_Cartdim_get(handle, &count) == MPI_SUCCESS)
        count *= 2;
    else if (how == MPI_GRAPH)
        PMPI_Graph_neighbors_count(handle, rank, &count);
    else if (how == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(handle, &sources, &count, &weighted);
    return count > 0 ? (uint32_t)count : 0;
}

/* Of an intercommunicator: those that messages go to. Returns the hash of both groups. */
static uint64_t describe_remote(MPI_Comm handle, struct communicator *made, uint64_t members)
{
    MPI_Group group;
    int is_inter = 0;
    PMPI_Comm_test_inter(handle, &is_inter);
    if (!is_inter || PMPI_Comm_remote_group(handle, &group) != MPI_SUCCESS)
        return members;
    int *remote = world_ranks(group, &made->remote);
    uint64_t others = remote ? hash_of(remote, made->remote, GROUP_COMMUNICATOR) : 0;
    made->is_foreign |= remote && has_foreign(remote, made->remote);
    pages__put(made->world, 2 * made->size * sizeof *made->world);
    made->world = remote;
    return members < others ? mix(members, others) : mix(others, members);
}

static bool describe(uint64_t key, enum group_kind kind, struct communicator *made)
{
    MPI_Group group;
    int rank = 0;
    *made = (struct communicator){.key = key, .kind = kind};
    if (!group_of(key, kind, &group))
        return false;
    PMPI_Group_rank(group, &rank);
    made->rank = (uint32_t)rank;
    made->world = world_ranks(group, &made->size);
    if (!made->world)
        return false;
    uint64_t members = hash_of(made->world, made->size, kind);
    made->is_foreign = has_foreign(made->world, made->size);
    if (kind == GROUP_COMMUNICATOR) {
        made->neighbours = count_neighbours(HANDLE_OF(MPI_Comm, key), rank);
        members = describe_remote(HANDLE_OF(MPI_Comm, key), made, members);
    } else {
        made->own = pages__get(GROUP_OWN_BYTES(made->size));
    }
    if (!made->world || (kind != GROUP_COMMUNICATOR && !made->own))
        return false;
    uint64_t hash = mix(members, count_group(members));
    made->number = (uint32_t)(hash ^ hash >> 32) | 1; /* 0 is none */
    return true;
}

static struct communicator *find(uint64_t key, enum group_kind kind)
{
    uint32_t count = __atomic_load_n(&own.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (own.all[i].is_used && own.all[i].key == key && own.all[i].kind == kind)
            return &own.all[i];
    return NULL;
}

/* One that was not used before; then those that are free, in turn, for a request may still name the
 * communicator that was there last. */
static uint32_t free_place(void)
{
    if (own.count < COMMUNICATORS_MAX)
        return own.count;
    for (uint32_t i = 0; i < COMMUNICATORS_MAX; i++) {
        uint32_t place = own.turn++ % COMMUNICATORS_MAX;
        if (!own.all[place].is_used)
            return place;
    }
    return COMMUNICATORS_MAX;
}

static void free_ranks(const struct communicator *gone)
{
    uint32_t count = gone->remote ? gone->remote : gone->size;
    if (gone->world)
        pages__put(gone->world, 2 * (size_t)count * sizeof *gone->world);
    if (gone->own)
        pages__put(gone->own, GROUP_OWN_BYTES(gone->size));
}

static const struct communicator *make(uint64_t key, enum group_kind kind)
{
    struct communicator made;
    if (!own.all)
        own.all = pages__get(COMMUNICATORS_MAX * sizeof *own.all);
    uint32_t place = own.all ? free_place() : COMMUNICATORS_MAX;
    if (place == COMMUNICATORS_MAX || !describe(key, kind, &made))
        return NULL;
    free_ranks(&own.all[place]);
    own.all[place] = made;
    __atomic_store_n(&own.all[place].is_used, true, __ATOMIC_RELEASE);
    if (place == own.count)
        __atomic_store_n(&own.count, place + 1, __ATOMIC_RELEASE);
    return &own.all[place];
}

const struct communicator *group__of(uint64_t key, enum group_kind kind)
{
    const struct communicator *found = __atomic_load_n(&own.recent[kind], __ATOMIC_ACQUIRE);
    if (likely(found && found->key == key && found->is_used))
        return found;
    found = find(key, kind);
    if (!found) {
        lock();
        found = find(key, kind);
        if (!found)
            found = make(key, kind);
        unlock();
    }
    if (found)
        __atomic_store_n(&own.recent[kind], found, __ATOMIC_RELEASE);
    return found;
}

static void tell(uint64_t tick, const struct communicator *made)
{
    static const uint64_t kinds[GROUP_KINDS] = {0, HEURT_MESSAGE_WINDOW};
    heurt_message_point(
        tick, HEURT_EVENT_MESSAGE_COMMUNICATOR, HEURT_MESSAGE(made->size, made->number),
        HEURT_MESSAGE(made->rank, made->world[0]), made->remote | kinds[made->kind]);
}

void communicator__made(uint64_t tick, MPI_Comm handle)
{
    const struct communicator *made = handle == MPI_COMM_NULL ? NULL : communicator__of(handle);
    if (made && made->is_foreign)
        heurt_message_note("The program has processes of MPI that it spawned, or connected to: "
                           "what ranks and these send each other is not told.");
    else if (made)
        tell(tick, made);
}

void group__told(uint64_t tick, const struct communicator *group)
{
    if (group && !__atomic_exchange_n(&group->own->is_told, true, __ATOMIC_RELAXED))
        tell(tick, group);
}

void group__gone(uint64_t key, enum group_kind kind)
{
    lock();
    struct communicator *found = find(key, kind);
    if (found) /* requests may name it still: what it knows stays */
        __atomic_store_n(&found->is_used, false, __ATOMIC_RELEASE);
    unlock();
}

void communicators__begin(uint64_t tick, int threads)
{
    int rank = 0, size = 0;
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) { /* its rank is one of another MPI_COMM_WORLD */
        heurt_message_note("This process of MPI was spawned: it is no rank of the program's.");
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    heurt_message_point(tick, HEURT_EVENT_MESSAGE_RANK, HEURT_MESSAGE(rank, size),
                        HEURT_MESSAGE(HEURT_MPI_LIBRARY, threads), 0);
    communicator__made(tick, MPI_COMM_WORLD);
}
