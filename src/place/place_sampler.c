#include "place/place_sampler.h"

#include "base/map.h"
#include "base/memory.h"
#include "kernel/page_nodes.h"
#include "kernel/process_threads.h"
#include "kernel/thread_samples.h"
#include "place/place_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUALITY_DECODED 0.5  /* samples of time skid, and tell reads more than writes */
#define THREADS_MOST 4096u   /* that are sampled: each takes a descriptor a CPU */
#define ACCESSES_MOST 65536u /* of a round */
#define FLAGGED_MOST 100000u /* pages whose flags are remembered; then all are forgotten */
#define QUERY_PAGES 1024u    /* a call, so that the process waits for none long */
#define HUGE_ROUNDS 4u       /* after so many it is asked again which pages are large */

/* An application that is sampled. */
struct sampled_process {
    uint32_t application;
    pid_t pid;
    struct vec threads; /* uint32_t: that have events, by number */
    struct process_image_map map;
    struct vec huge; /* uint64_t: the large pages among those that were sampled, page / 512 */
    uint32_t huge_round;
    bool is_decided; /* in huge stands what is known; else nothing is */
};

struct place_sampler {
    struct place_sampler_settings settings;
    struct thread_samples *samples;
    struct place_code code;
    struct vec processes; /* struct sampled_process, by application */
    struct vec accesses;  /* struct place_access: of this round */
    struct vec taken;     /* likewise, of the last one */
    struct map flagged;   /* struct flagged_page → flags */
    struct place_sampled sampled;
    uint32_t round;
    bool is_refused; /* move_pages(2) is */
};

struct flagged_page {
    uint64_t page;
    uint64_t application;
};

struct place_sampler *place_sampler__new(const struct place_sampler_settings *settings,
                                         struct error *error)
{
    struct thread_samples *samples = thread_samples__open(settings->hz, error);
    if (!samples)
        return NULL;
    struct place_sampler *self = memory__zeroed(1, sizeof *self);
    self->settings = *settings;
    self->samples = samples;
    self->code = place_code__new();
    self->processes = VEC_OF(struct sampled_process);
    self->accesses = VEC_OF(struct place_access);
    self->taken = VEC_OF(struct place_access);
    return self;
}

static void end_process(struct place_sampler *self, struct sampled_process *process)
{
    VEC_EACH (tid, &process->threads, uint32_t)
        thread_samples__remove(self->samples, (pid_t)*tid);
    vec__free(&process->threads);
    process_image_map__free(&process->map);
    vec__free(&process->huge);
}

void place_sampler__free(struct place_sampler *self)
{
    if (!self)
        return;
    VEC_EACH (process, &self->processes, struct sampled_process)
        end_process(self, process);
    vec__free(&self->processes);
    thread_samples__close(self->samples);
    place_code__free(&self->code);
    map__free(&self->flagged);
    vec__free(&self->accesses);
    vec__free(&self->taken);
    free(self);
}

static struct sampled_process *process_of(const struct place_sampler *self, uint32_t application)
{
    return VEC_FIND(&self->processes, struct sampled_process, application, application);
}

/* ---- whom ------------------------------------------------------------------------------------ */

static bool is_among(const struct vec *numbers, uint32_t number)
{
    size_t at = VEC_FIRST(item, numbers, uint32_t, *item >= number);
    return at < numbers->count && *VEC_AT(numbers, uint32_t, at) == number;
}

void place_sampler__follow(struct place_sampler *self, const struct place_process *of)
{
    struct sampled_process *process = process_of(self, of->id);
    if (!process) { /* ids rise: it stands behind all others */
        const struct sampled_process new = {.application = of->id,
                                            .pid = of->pid,
                                            .threads = VEC_OF(uint32_t),
                                            .map = process_image_map__new(),
                                            .huge = VEC_OF(uint64_t)};
        process = vec__push(&self->processes, &new);
    }
    struct vec now = process__threads(of->pid), kept = VEC_OF(uint32_t);
    VEC_EACH (tid, &process->threads, uint32_t)
        if (!is_among(&now, *tid))
            thread_samples__remove(self->samples, (pid_t)*tid);
    VEC_EACH (tid, &now, uint32_t)
        if (is_among(&process->threads, *tid) ||
            (thread_samples__count(self->samples) < THREADS_MOST &&
             thread_samples__add(self->samples, (pid_t)*tid) == 0))
            vec__push(&kept, tid);
    vec__free(&now);
    vec__free(&process->threads);
    process->threads = kept;
}

void place_sampler__forget(struct place_sampler *self, const struct place_process *of)
{
    struct sampled_process *process = process_of(self, of->id);
    if (!process)
        return;
    end_process(self, process);
    struct sampled_process *end =
        VEC_AT(&self->processes, struct sampled_process, self->processes.count);
    memmove(process, process + 1, (size_t)(end - process - 1) * sizeof *process);
    self->processes.count--;
}

void place_sampler__rate(struct place_sampler *self, unsigned hz)
{
    thread_samples__rate(self->samples, hz);
}

/* ---- samples --------------------------------------------------------------------------------- */

static struct sampled_process *process_of_pid(const struct place_sampler *self, uint32_t pid)
{
    VEC_EACH (process, &self->processes, struct sampled_process)
        if ((uint32_t)process->pid == pid)
            return process;
    return NULL;
}

static bool writes(enum access_kind kind)
{
    return kind != ACCESS_READ && kind != ACCESS_SPIN;
}

/* Whether an instruction may have accessed that: a register that is read later may hold anything.
 */
static const struct mapped_range *range_of(struct sampled_process *process,
                                           const struct record *record, uint64_t address,
                                           enum access_kind kind)
{
    const struct mapped_range *range =
        address >> 47
            ? NULL
            : process_image_map__find(&process->map, process->pid, address, record->time_ns);
    bool may = range && range->readable && !(range->executable && range->inode) &&
               (range->writable || !writes(kind));
    return may ? range : NULL;
}

static void add_access(struct place_sampler *self, struct sampled_process *process,
                       const struct record *record, uint64_t address, enum access_kind kind)
{
    const struct mapped_range *range = range_of(process, record, address, kind);
    uint32_t from = machine_nodes__of_cpu(self->settings.nodes, record->cpu);
    if (!range || from == NO_NODE) {
        self->sampled.without_address++;
        return;
    }
    const struct place_access access = {
        .page = address / HEURT_PAGE_BYTES,
        .application = process->application,
        .from = (uint16_t)from,
        .flags = (uint8_t)((writes(kind) ? PLACE_WRITES : 0) | (range->inode ? PLACE_FILE : 0))};
    if (self->accesses.count < ACCESSES_MOST)
        vec__push(&self->accesses, &access);
}

static void take_sample(struct place_sampler *self, struct sampled_process *process,
                        const struct record *record)
{
    struct access access;
    self->sampled.samples++;
    if (!place_code__find(&self->code, &process->map, record, &access)) {
        self->sampled.without_code++;
        return;
    }
    if (access.kind == ACCESS_NONE)
        return;
    self->sampled.at_memory++;
    if (!thread_samples__accesses_by(self->samples))
        add_access(self, process, record, access.address, access.kind);
}

static void take_access(struct place_sampler *self, struct sampled_process *process,
                        const struct record *record)
{
    bool is_memory = record->level == HEURT_LEVEL_MEMORY ||
                     record->level == HEURT_LEVEL_REMOTE_MEMORY ||
                     record->level == HEURT_LEVEL_UNKNOWN;
    if (is_memory)
        add_access(self, process, record, record->data,
                   record->writes ? ACCESS_WRITE : ACCESS_READ);
}

static void take(const struct record *record, void *context)
{
    struct place_sampler *self = context;
    self->sampled.lost += record->kind == RECORD_LOST ? record->count : 0;
    struct sampled_process *process = process_of_pid(self, record->pid);
    if (!process || record->in_kernel)
        return;
    if (record->kind == RECORD_SAMPLE)
        take_sample(self, process, record);
    else if (record->kind == RECORD_ACCESS)
        take_access(self, process, record);
}

void place_sampler__drain(struct place_sampler *self)
{
    thread_samples__drain(self->samples, take, self);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static int by_page(const void *a, const void *b)
{
    const struct place_access *left = a, *right = b;
    return ORDER(left->application, right->application) ?: ORDER(left->page, right->page);
}

static bool ask_batch(const struct place_sampler *self, pid_t pid, const uint64_t *addresses,
                      size_t count, int16_t *nodes)
{
    void *pages[QUERY_PAGES];
    int status[QUERY_PAGES];
    for (size_t i = 0; i < count; i++) {
        pages[i] = (void *)(uintptr_t)addresses[i];
        status[i] = -ENOENT;
    }
    if (self->settings.calls->move_pages(pid, count, pages, NULL, status, 0) < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        nodes[i] = (int16_t)(status[i] >= 0 ? status[i] : PAGE_NODE_UNKNOWN);
    return true;
}

/* Where move_pages(2) is refused (a container's filter), mappings tell. */
static void ask(struct place_sampler *self, pid_t pid, const uint64_t *addresses, size_t count,
                int16_t *nodes)
{
    char path[40];
    for (size_t done = 0, some; done < count && !self->is_refused; done += some) {
        some = count - done < QUERY_PAGES ? count - done : QUERY_PAGES;
        if (ask_batch(self, pid, addresses + done, some, nodes + done))
            continue;
        self->is_refused = errno == EPERM || errno == ENOSYS;
        for (size_t i = done; i < done + some; i++)
            nodes[i] = PAGE_NODE_UNKNOWN;
    }
    snprintf(path, sizeof path, "/proc/%d/numa_maps", (int)pid);
    if (self->is_refused)
        page_nodes__from_maps(path, addresses, count, nodes);
}

/* Large pages among these; of blocks that are seen for the first time nothing is known until it is
 * asked again. */
static void find_huge(struct place_sampler *self, struct sampled_process *process,
                      const struct vec *addresses)
{
    char path[40];
    bool *are_huge = memory__zeroed(addresses->count + 1, sizeof *are_huge);
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)process->pid);
    page_nodes__find_huge(path, addresses->items, addresses->count, are_huge);
    process->huge.count = 0;
    process->huge_round = self->round;
    process->is_decided = true;
    for (size_t i = 0; i < addresses->count; i++) {
        uint64_t block = *VEC_AT(addresses, uint64_t, i) / HEURT_PAGE_BYTES / PLACE_HUGE_PAGES;
        if (are_huge[i] && (!process->huge.count ||
                            *VEC_AT(&process->huge, uint64_t, process->huge.count - 1) != block))
            vec__push(&process->huge, &block);
    }
    free(are_huge);
}

static bool is_huge(const struct sampled_process *process, uint64_t page)
{
    uint64_t block = page / PLACE_HUGE_PAGES;
    size_t at = VEC_FIRST(item, &process->huge, uint64_t, *item >= block);
    return at < process->huge.count && *VEC_AT(&process->huge, uint64_t, at) == block;
}

static uint8_t flags_of(const struct place_sampler *self, const struct sampled_process *process,
                        uint64_t page)
{
    const struct flagged_page key = {page, process->application};
    uint64_t flags = map__get(&self->flagged, &key, sizeof key);
    return (uint8_t)((flags == MAP_ABSENT ? 0 : flags) | (is_huge(process, page) ? PLACE_HUGE : 0));
}

/* The accesses of one application, by page. */
static void take_group(struct place_sampler *self, const struct place_access *first, size_t count)
{
    struct sampled_process *process = process_of(self, first->application);
    struct vec addresses = VEC_OF(uint64_t);
    if (!process)
        return;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || first[i].page != first[i - 1].page)
            vec__push(&addresses, &(uint64_t){first[i].page * HEURT_PAGE_BYTES});
    int16_t *nodes = memory__zeroed(addresses.count, sizeof *nodes);
    ask(self, process->pid, addresses.items, addresses.count, nodes);
    if (self->settings.has_huge_pages &&
        (!process->is_decided || self->round - process->huge_round >= HUGE_ROUNDS))
        find_huge(self, process, &addresses);
    for (size_t i = 0, at = 0; i < count; i++) {
        at += i > 0 && first[i].page != first[i - 1].page;
        uint32_t to =
            nodes[at] < 0 ? NO_NODE : machine_nodes__index(self->settings.nodes, nodes[at]);
        if (to == NO_NODE) {
            self->sampled.without_node++;
            continue;
        }
        struct place_access *access = vec__push(&self->taken, &first[i]);
        access->to = (uint16_t)to;
        access->flags |= flags_of(self, process, access->page);
    }
    free(nodes);
    vec__free(&addresses);
}

const struct vec *place_sampler__take(struct place_sampler *self, struct place_sampled *sampled)
{
    place_sampler__drain(self);
    self->round++;
    self->taken.count = 0;
    vec__sort(&self->accesses, by_page);
    const struct place_access *all = self->accesses.items;
    for (size_t i = 0, next; i < self->accesses.count; i = next) {
        for (next = i + 1;
             next < self->accesses.count && all[next].application == all[i].application;)
            next++;
        take_group(self, all + i, next - i);
    }
    self->accesses.count = 0;
    *sampled = self->sampled;
    self->sampled = (struct place_sampled){0};
    return &self->taken;
}

/* ---- pages ----------------------------------------------------------------------------------- */

void place_sampler__flag(struct place_sampler *self, uint32_t application, uint64_t page,
                         uint8_t flags)
{
    const struct flagged_page key = {page, application};
    if (self->flagged.count >= FLAGGED_MOST)
        map__free(&self->flagged);
    map__put(&self->flagged, &key, sizeof key, flags);
}

void place_sampler__split(struct place_sampler *self, uint32_t application)
{
    struct sampled_process *process = process_of(self, application);
    if (process)
        process->is_decided = false;
}

char *place_sampler__name(const struct place_sampler *self, uint32_t application, uint64_t page)
{
    const struct sampled_process *process = process_of(self, application);
    const struct mapped_range *range =
        process ? process_map__find(&process->map.ranges, page * HEURT_PAGE_BYTES) : NULL;
    const char *path = range ? process_image_map__path(&process->map, range) : NULL;
    if (!range)
        return memory__text("memory that is gone");
    if (path && strcmp(path, "[heap]") == 0)
        return memory__text("the heap");
    return path && *path ? memory__text(path)
                         : memory__format("anonymous memory at 0x%" PRIx64, range->start);
}

double place_sampler__quality(const struct place_sampler *self)
{
    return thread_samples__accesses_by(self->samples) ? 1 : QUALITY_DECODED;
}

const char *place_sampler__accesses_by(const struct place_sampler *self)
{
    return thread_samples__accesses_by(self->samples);
}

size_t place_sampler__threads(const struct place_sampler *self)
{
    return thread_samples__count(self->samples);
}

bool place_sampler__asks_pages(const struct place_sampler *self)
{
    return !self->is_refused;
}
