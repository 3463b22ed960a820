#include "analysis/memory/internal.h"
#include "analysis/memory/oracle.h"

#include "analysis/memory/births.h"
#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>
#include <string.h>

/* What makes samples those of one object. */
struct object_key {
    uint32_t process, kind;
    uint64_t which; /* a place, the number of a name, or 0 */
};

struct line_key {
    uint64_t process, line;
};

struct counted_key {
    uint64_t object, number; /* of the row; of the allocation */
};

struct access_key {
    uint64_t instruction, address, thread;
};

/* What a thread does at an address by one instruction: in the same object, as long as that lives.
 */
struct known_access {
    const struct allocation *allocation;
    uint64_t until;                     /* a tick: up to it that lies there */
    uint32_t object, access, of_thread; /* places: of the object, and in its vectors */
    uint8_t region;                     /* enum heurt_region: where a sample was told to be */
    bool is_shared;                     /* its line */
};

struct object_access {
    uint64_t object, known; /* numbers */
    uint64_t is_access;     /* 1: no struct counted_key is that long */
};

/* ---- which object ---------------------------------------------------------------------------- */

static uint64_t number_of_name(struct memory_gathering *self, const char *name)
{
    return map__put(&self->names, name, symbol__variable_bytes(name), self->names.count);
}

/* is_of_module: what a file has beyond its own length (.bss) is mapped from none. */
static enum memory_kind kind_of(const struct data_place *place, bool is_of_module)
{
    switch (place->region) {
    case HEURT_REGION_FILE:
        return MEMORY_STATIC;
    case HEURT_REGION_STACK:
        return MEMORY_STACK;
    case HEURT_REGION_SHARED:
        return MEMORY_SHARED;
    default:
        return is_of_module ? MEMORY_STATIC : MEMORY_OTHER;
    }
}

/* What the program has named may lie anywhere. */
static enum memory_kind kind_of_allocation(const struct data_place *place,
                                           const struct allocation *allocation, bool is_of_module)
{
    if (allocation->call == HEURT_ALLOCATION_MMAP)
        return MEMORY_MAPPED;
    return allocation->call == HEURT_ALLOCATION_NAMED ? kind_of(place, is_of_module) : MEMORY_HEAP;
}

static bool is_shared_line(const struct memory_gathering *self, const struct data_place *place)
{
    struct line_key line = {place->process, place->address / CACHE_LINE_BYTES};
    return map__get(&self->lines, &line, sizeof line) != MAP_ABSENT;
}

/* A stack is taken to be the thread's own, where no name says more, but a line that others use,
 * too, is an object by itself. */
static struct object_key key_of(struct memory_gathering *self, const struct data_place *place,
                                const struct allocation *allocation, const char *name)
{
    bool is_of_module = trace_process__module(trace__process_at(self->trace, place->process),
                                              place->address, place->tick) != NULL;
    if (allocation)
        return (struct object_key){
            place->process, kind_of_allocation(place, allocation, is_of_module), allocation->born};
    struct object_key key = {place->process, kind_of(place, is_of_module), 0};
    if (name)
        key.which = number_of_name(self, name) + UINT32_MAX + 1ull;
    else if (key.kind == MEMORY_STACK)
        key.which = is_shared_line(self, place) ? place->address / CACHE_LINE_BYTES : place->thread;
    return key;
}

static struct memory_object *object_of(struct memory_gathering *self, const struct object_key *key,
                                       uint64_t *number)
{
    *number = map__put(&self->object_of_key, key, sizeof *key, self->use->objects.count);
    if (*number < self->use->objects.count)
        return VEC_AT(&self->use->objects, struct memory_object, *number);
    struct memory_object *object = vec__push(&self->use->objects, NULL);
    object->process = key->process;
    object->kind = key->kind;
    object->threads = VEC_OF(struct memory_thread);
    object->accesses = VEC_OF(struct line_access);
    object->counted.rows = VEC_OF(struct counted_row);
    return object;
}

/* ---- what is done there ---------------------------------------------------------------------- */

struct memory_thread *memory_object__thread(struct memory_object *object, uint32_t thread)
{
    VEC_EACH (known, &object->threads, struct memory_thread)
        if (known->thread == thread)
            return known;
    struct memory_thread *found = vec__push(&object->threads, NULL);
    found->thread = thread;
    return found;
}

/* Its place among the object's accesses. known: the number of what the thread does there. */
static uint32_t access_of(struct memory_gathering *self, struct memory_object *object,
                          struct object_access key, uint32_t thread,
                          const struct heurt_sample *sample, const struct allocation *allocation)
{
    uint64_t at = map__put(&self->counted, &key, sizeof key, object->accesses.count);
    if (at == object->accesses.count) {
        struct line_access access = {.thread = thread,
                                     .instruction = sample->instruction,
                                     .address = sample->address,
                                     .bytes = sample->bytes,
                                     .access = sample->access,
                                     .region = sample->region,
                                     .tick = sample__tick(self->trace, sample),
                                     .object = allocation};
        vec__push(&object->accesses, &access);
    }
    return (uint32_t)at;
}

static void count_object(struct memory_gathering *self, struct memory_object *object,
                         uint64_t number, const struct allocation *allocation)
{
    struct counted_key key = {number, allocation->number};
    if (!object->site) {
        object->site = allocation->born;
        object->bytes = allocation->bytes;
        object->born_ns = trace__since_start_ns(self->trace, allocation->tick);
    }
    size_t before = self->counted.count;
    map__put(&self->counted, &key, sizeof key, 0);
    object->objects += self->counted.count > before;
}

struct memory_object *memory_gathering__object_at(struct memory_gathering *self,
                                                  const struct data_place *place,
                                                  const struct symbol *variable, uint64_t *number,
                                                  const struct allocation **allocation)
{
    *allocation = allocations__at(self->use->at, place->process, place->address, place->tick);
    const char *name = variable && !*allocation ? variable->function : NULL;
    struct object_key key = key_of(self, place, *allocation, name);
    struct memory_object *object = object_of(self, &key, number);
    if (name && !object->name)
        object->name = name;
    if (*allocation)
        count_object(self, object, *number, *allocation);
    return object;
}

/* Looks up in which object it is. */
static void find_object(struct memory_gathering *self, uint32_t thread,
                        const struct heurt_sample *sample, uint64_t tick, uint64_t number,
                        struct known_access *known)
{
    struct data_place place = {trace__thread_at(self->trace, thread)->process, thread,
                               sample->region, sample->address, tick};
    uint32_t serial = trace__process_at(self->trace, place.process)->serial;
    uint64_t object_number;
    allocations__at_until(self->use->at, place.process, place.address, tick, &known->until);
    struct memory_object *object = memory_gathering__object_at(
        self, &place, symbols__variable(self->symbols, serial, sample->address), &object_number,
        &known->allocation);
    known->is_shared = is_shared_line(self, &place);
    known->region = sample->region;
    known->object = (uint32_t)object_number;
    known->of_thread = (uint32_t)(memory_object__thread(object, thread) -
                                  (struct memory_thread *)object->threads.items);
    known->access = access_of(self, object, (struct object_access){object_number, number, 1},
                              thread, sample, known->allocation);
}

static void add_sample(struct memory_gathering *self, uint32_t thread,
                       const struct heurt_sample *sample)
{
    const struct access_key key = {sample->instruction, sample->address, thread};
    const uint64_t tick = sample__tick(self->trace, sample), next = self->known.count;
    const uint64_t number = map__put(&self->known_of_key, &key, sizeof key, next);
    if (number == next)
        vec__push(&self->known, NULL);
    struct known_access *known = VEC_AT(&self->known, struct known_access, number);
    if (tick >= known->until || sample->region != known->region)
        find_object(self, thread, sample, tick, number, known);
    struct memory_object *object = VEC_AT(&self->use->objects, struct memory_object, known->object);
    object->samples++;
    object->ns += sample->weight_ns;
    object->shared_ns += known->is_shared ? sample->weight_ns : 0;
    struct memory_thread *of = VEC_AT(&object->threads, struct memory_thread, known->of_thread);
    *(sample__writes(sample) ? &of->written_ns : &of->read_ns) += sample->weight_ns;
    struct line_access *access = VEC_AT(&object->accesses, struct line_access, known->access);
    access->samples++;
    access->sampled_ns += sample->weight_ns;
    const struct memory_sample at = {.since_ns = trace__since_start_ns(self->trace, tick),
                                     .object = known->object,
                                     .thread = thread,
                                     .sample = sample,
                                     .answer = trace__answer(self->trace, sample),
                                     .allocation = known->allocation};
    answered__add(&object->answered, at.answer, sample->weight_ns);
    vec__push(&self->use->at_memory, &at);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Where sharings were looked for before anybody asked for more, those at their lines are known. */
static void find_allocations(struct memory_gathering *self, const struct access_counts *counts)
{
    struct memory_use *use = self->use;
    use->at = use->sharings->allocations;
    if (!use->sharings->knows_all || counts->all.count) {
        struct vec addresses = VEC_OF(uint64_t);
        VEC_EACH (sample, trace__samples(self->trace), const struct heurt_sample)
            if (sample->address)
                vec__push(&addresses, &sample->address);
        VEC_EACH (counted, &counts->all, const struct counted_access) {
            uint64_t address = access_count__address(counted->count);
            vec__push(&addresses, &address);
        }
        use->at = use->own = allocations__find(self->trace, &addresses);
        births__find(use->own, self->trace, self->symbols);
        vec__free(&addresses);
    }
    use->allocations = allocations__count(use->at);
}

static void find_lines(struct memory_gathering *self)
{
    VEC_EACH (line, &self->use->sharings->lines, const struct sampled_line) {
        struct line_key key = {line->process, line->address / CACHE_LINE_BYTES};
        map__put(&self->lines, &key, sizeof key, 1);
    }
}

/* What is read later may be what a later call has in the same place: where nothing lay then, the
 * thread was not. */
static bool is_believed(const struct memory_gathering *self, uint32_t thread,
                        const struct heurt_sample *sample)
{
    if (!sample->is_worked_out || sample->region != HEURT_REGION_HEAP || !self->use->allocations)
        return sample->address != 0;
    return allocations__at(self->use->at, trace__thread_at(self->trace, thread)->process,
                           sample->address, sample__tick(self->trace, sample)) != NULL;
}

static void add_samples(struct memory_gathering *self)
{
    struct memory_use *use = self->use;
    struct sample_threads *threads = sample_threads__new(self->trace);
    VEC_EACH (sample, trace__samples(self->trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(threads, sample);
        if (thread == UINT32_MAX)
            continue;
        use->samples++;
        use->all_ns += sample->weight_ns;
        use->period_ns = sample->weight_ns > use->period_ns ? sample->weight_ns : use->period_ns;
        if (sample->access == HEURT_ACCESS_NONE)
            continue;
        bool is_known = is_believed(self, thread, sample);
        *(is_known ? &use->memory_ns : &use->unknown_ns) += sample->weight_ns;
        if (is_known)
            add_sample(self, thread, sample);
    }
    sample_threads__free(threads);
}

/* As a finding of it tells: between what is lost at least and at most. */
static uint64_t lost_by(const struct trace *trace, const struct sharing *sharing)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < trace__threads(trace)->count; i++)
        ns += sharing->lost_ns[i] + sharing->most_lost_ns[i];
    return ns / 2;
}

static bool holds_victim(const struct memory_object *object, const struct sharing *sharing)
{
    const struct line_access *victim = &sharing->victim;
    VEC_EACH (access, &object->accesses, const struct line_access)
        if (access->address == victim->address && access->instruction == victim->instruction &&
            access->thread == victim->thread)
            return object->process == sharing->process;
    return false;
}

uint32_t memory_use__object_of(const struct memory_use *use, const struct sharing *sharing)
{
    for (uint32_t i = 0; i < use->objects.count; i++)
        if (holds_victim(VEC_AT(&use->objects, struct memory_object, i), sharing))
            return i;
    return UINT32_MAX;
}

/* What sharings lose is told of the object that their first line is in. */
static void add_losses(struct memory_gathering *self)
{
    struct memory_use *use = self->use;
    VEC_EACH (sharing, &use->sharings->rows, const struct sharing) {
        uint32_t place = memory_use__object_of(use, sharing);
        if (place != UINT32_MAX)
            VEC_AT(&use->objects, struct memory_object, place)->lost_ns +=
                lost_by(self->trace, sharing);
    }
}

struct line_access counted_row__access(const struct counted_row *row)
{
    return (struct line_access){.thread = row->thread,
                                .instruction = row->site,
                                .address = row->address,
                                .bytes = (uint32_t)row->bytes,
                                .access = row->access,
                                .tick = row->tick,
                                .object = row->object};
}

static int by_time(const void *a, const void *b)
{
    const struct memory_object *left = a, *right = b;
    if (left->ns != right->ns)
        return left->ns < right->ns ? 1 : -1;
    return ORDER(left->site, right->site);
}

/* Where accesses are counted, they say more than the time of a program that counts. */
static int by_counts(const void *a, const void *b)
{
    const struct memory_object *left = a, *right = b;
    uint64_t by_left = left->counted.reads + left->counted.writes;
    return ORDER(right->counted.reads + right->counted.writes, by_left) ?: by_time(a, b);
}

static int by_sampled(const void *a, const void *b)
{
    const struct line_access *left = a, *right = b;
    if (left->sampled_ns != right->sampled_ns)
        return left->sampled_ns < right->sampled_ns ? 1 : -1;
    return left->address != right->address ? ORDER(left->address, right->address)
                                           : ORDER(left->instruction, right->instruction);
}

static int by_count(const void *a, const void *b)
{
    const struct counted_row *left = a, *right = b;
    return ORDER(right->count, left->count) ?: ORDER(left->site, right->site)
               ?: ORDER(left->thread, right->thread) ?: ORDER(left->address, right->address);
}

static int by_thread(const void *a, const void *b)
{
    const struct memory_thread *left = a, *right = b;
    return ORDER(left->thread, right->thread);
}

static void take_first(struct first_sharing *first, const struct memory_sample *at)
{
    if (!first->before_samples) {
        first->thread = at->thread;
        first->second = UINT32_MAX;
        first->since_ns = at->since_ns;
    } else if (first->second == UINT32_MAX && at->thread != first->thread) {
        first->second = at->thread;
        first->shared_ns = at->since_ns;
    }
    if (first->second != UINT32_MAX)
        return;
    first->before_samples++;
    first->before_ns += at->sample->weight_ns;
}

static int by_when(const void *a, const void *b)
{
    const struct memory_sample *left = a, *right = b;
    return ORDER(left->since_ns, right->since_ns)
               ?: ORDER(left->thread, right->thread)
               ?: ORDER(left->sample, right->sample);
}

/* Mostly they are: samples come by time. */
static bool is_by_when(const struct vec *at_memory)
{
    for (size_t i = 1; i < at_memory->count; i++)
        if (by_when(VEC_AT(at_memory, struct memory_sample, i - 1),
                    VEC_AT(at_memory, struct memory_sample, i)) > 0)
            return false;
    return true;
}

static void sort_objects(struct memory_use *use)
{
    VEC_EACH (object, &use->objects, struct memory_object) {
        qsort(object->accesses.items, object->accesses.count, sizeof(struct line_access),
              by_sampled);
        qsort(object->threads.items, object->threads.count, sizeof(struct memory_thread),
              by_thread);
        vec__sort(&object->counted.rows, by_count);
        object->address = object->accesses.count
                              ? VEC_AT(&object->accesses, struct line_access, 0)->address
                              : VEC_AT(&object->counted.rows, struct counted_row, 0)->address;
    }
    for (uint32_t i = 0; i < use->objects.count; i++)
        VEC_AT(&use->objects, struct memory_object, i)->number = i;
    vec__sort(&use->objects, use->counted.is_told ? by_counts : by_time);
    uint32_t *places = memory__zeroed(use->objects.count + 1, sizeof *places);
    for (uint32_t i = 0; i < use->objects.count; i++)
        places[VEC_AT(&use->objects, struct memory_object, i)->number] = i;
    VEC_EACH (at, &use->at_memory, struct memory_sample)
        at->object = places[at->object];
    if (!is_by_when(&use->at_memory))
        vec__sort(&use->at_memory, by_when);
    VEC_EACH (at, &use->at_memory, const struct memory_sample)
        take_first(&VEC_AT(&use->objects, struct memory_object, at->object)->first, at);
    free(places);
}

#define UNTOLD_LEAST 5u         /* one part in so many of the time at memory */
#define TOLD_OF_A_PROCESS 8192u /* its first allocations, all of them (runtime/objects.c) */

static void look_for_allocator(const struct trace *trace, struct memory_use *use)
{
    VEC_EACH (object, &use->objects, const struct memory_object)
        if (object->kind == MEMORY_OTHER)
            use->untold_ns += object->ns;
    use->may_allocate_itself =
        use->tells_allocations && use->untold_ns &&
        use->untold_ns * UNTOLD_LEAST >= use->memory_ns &&
        use->allocations < TOLD_OF_A_PROCESS * trace__processes(trace)->count;
}

static void *start(struct run *run)
{
    if (!trace__samples(run->trace)->count && !trace__counts_accesses(run->trace))
        return NULL;
    struct access_counts counts = access_counts__of(run->trace);
    struct memory_use *use = memory__zeroed(1, sizeof *use);
    struct memory_gathering self = {.trace = run->trace, .symbols = run->symbols, .use = use};
    self.known = VEC_OF(struct known_access);
    use->objects = VEC_OF(struct memory_object);
    use->at_memory = VEC_OF(struct memory_sample);
    use->tells_allocations = trace__session(run->trace)->flags & HEURT_SESSION_OBJECTS;
    use->is_timed = trace__session(run->trace)->flags & HEURT_SESSION_TIMERS;
    use->told_by = trace__tells_answers(run->trace) ? trace__meta(run->trace, "accesses_by") : NULL;
    use->sharings = run__result(run, &sharings_analysis);
    find_allocations(&self, &counts);
    find_lines(&self);
    add_samples(&self);
    add_losses(&self);
    counted_use__add(&self, &counts);
    access_counts__free(&counts);
    sort_objects(use);
    VEC_EACH (object, &use->objects, const struct memory_object)
        answered__join(&use->answered, &object->answered);
    look_for_allocator(run->trace, use);
    use->oracle = memory_oracle__compare(&(struct oracle_side){use, run->trace, run->symbols},
                                         &(struct oracle_side){use, run->trace, run->symbols});
    map__free(&self.object_of_key);
    map__free(&self.names);
    map__free(&self.lines);
    map__free(&self.counted);
    map__free(&self.known_of_key);
    vec__free(&self.known);
    return use;
}

static void free_use(void *result)
{
    struct memory_use *use = result;
    if (!use)
        return;
    VEC_EACH (object, &use->objects, struct memory_object) {
        vec__free(&object->threads);
        vec__free(&object->accesses);
        vec__free(&object->counted.rows);
    }
    vec__free(&use->objects);
    vec__free(&use->at_memory);
    allocations__free(use->own);
    memory_oracle__free(use->oracle);
    free(use);
}

const struct analysis memory_analysis = {
    .name = "memory",
    .after = (const struct analysis *const[]){&sharings_analysis, NULL},
    .start = start,
    .free = free_use};
