/* counted_use.c: to which objects the accesses belong that were counted. */
#include "analysis/memory/internal.h"

#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

/* A place in static data that has a name. */
struct known_variable {
    uint32_t process;
    uint64_t address;
    const struct symbol *variable;
};

/* As far as a thread was seen to be on its own stack. */
struct stack_span {
    uint32_t thread, process;
    uint64_t low, high;
};

struct count_gathering {
    struct memory_gathering *all;
    struct vec stacks; /* struct stack_span */
    struct vec named;  /* struct known_variable, by address */
    struct vec at;     /* struct counted_at */
    struct map row_of; /* struct row_key → place in the object's rows */
};

struct row_key {
    uint64_t object, site, thread; /* the site with what is done there */
};

static int by_named_address(const void *a, const void *b)
{
    const struct known_variable *left = a, *right = b;
    return ORDER(left->process, right->process) ?: ORDER(left->address, right->address);
}

static void find_named(struct count_gathering *self, const struct access_counts *counts)
{
    const struct trace *trace = self->all->trace;
    VEC_EACH (counted, &counts->all, const struct counted_access) {
        struct known_variable place = {trace__thread_at(trace, counted->thread)->process,
                                       access_count__address(counted->count), NULL};
        place.variable = symbols__variable(
            self->all->symbols, trace__process_at(trace, place.process)->serial, place.address);
        if (place.variable)
            vec__push(&self->named, &place);
    }
    vec__sort(&self->named, by_named_address);
}

static struct stack_span *span_of(struct count_gathering *self, uint32_t thread, uint64_t address)
{
    VEC_EACH (known, &self->stacks, struct stack_span)
        if (known->thread == thread)
            return known;
    struct stack_span span = {thread, trace__thread_at(self->all->trace, thread)->process, address,
                              address};
    return vec__push(&self->stacks, &span);
}

static void find_stacks(struct count_gathering *self, const struct access_counts *counts)
{
    struct stack_span *span = NULL;
    VEC_EACH (counted, &counts->all, const struct counted_access) {
        uint64_t address = counted->count->address;
        if (counted->count->region != HEURT_REGION_STACK)
            continue;
        if (!span || span->thread != counted->thread)
            span = span_of(self, counted->thread, address);
        span->low = address < span->low ? address : span->low;
        span->high = address > span->high ? address : span->high;
    }
}

/* Who lived then and has its stack there; none: the thread itself. */
static void find_stack_of(const struct count_gathering *self, struct data_place *place)
{
    if (place->region == HEURT_REGION_STACK)
        return;
    VEC_EACH (span, &self->stacks, const struct stack_span) {
        const struct trace_thread *of = trace__thread_at(self->all->trace, span->thread);
        if (span->process == place->process && place->address >= span->low &&
            place->address <= span->high && of->start_tick <= place->tick &&
            place->tick <= of->end_tick) {
            place->region = HEURT_REGION_STACK;
            place->thread = span->thread;
            return;
        }
    }
}

/* What lies between two places of a variable is of it, too: not all places have names. */
static const struct symbol *variable_at(const struct count_gathering *self, uint32_t process,
                                        uint64_t address)
{
    struct known_variable asked = {process, address, NULL};
    size_t low = 0, high = self->named.count;
    const struct known_variable *named = self->named.items;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_named_address(&named[middle], &asked) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == self->named.count || named[low].process != process)
        return NULL;
    if (named[low].address == address)
        return named[low].variable;
    return low && named[low - 1].process == process &&
                   symbol__is_same_variable(named[low - 1].variable, named[low].variable)
               ? named[low].variable
               : NULL;
}

static void add_row(struct count_gathering *self, struct memory_object *object, uint64_t number,
                    const struct counted_access *counted, const struct allocation *allocation)
{
    const struct heurt_access_count *count = counted->count;
    struct row_key key = {number, count->site, counted->thread};
    uint64_t at = map__put(&self->row_of, &key, sizeof key, object->counted.rows.count);
    if (at == object->counted.rows.count)
        vec__push(&object->counted.rows,
                  &(struct counted_row){.thread = counted->thread,
                                        .site = access_count__site(count),
                                        .access = HEURT_COUNT_ACCESS(count->site),
                                        .tick = count->tick});
    struct counted_row *row = VEC_AT(&object->counted.rows, struct counted_row, at);
    row->count += count->count;
    row->places++;
    row->tick = count->tick < row->tick ? count->tick : row->tick;
    if (count->count <= row->most)
        return;
    row->most = count->count;
    row->address = access_count__address(count);
    row->bytes = HEURT_COUNT_WIDTH(count->site) ? HEURT_COUNT_WIDTH(count->site)
                                                : (uint64_t)count->behind - count->first;
    row->object = allocation;
}

/* The line that it begins on. A stack is another one when another thread has it. */
static void add_line(struct count_gathering *self, const struct data_place *place, uint64_t object,
                     const struct counted_access *counted)
{
    const struct heurt_access_count *count = counted->count;
    uint64_t line = count->address / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    uint64_t first = access_count__address(count) - line;
    uint64_t behind = count->address + count->behind - line;
    struct counted_at at = {
        .process = place->process,
        .thread = counted->thread,
        .generation = place->region == HEURT_REGION_STACK ? place->thread : count->generation,
        .first = (uint8_t)first,
        .behind = (uint8_t)(behind < CACHE_LINE_BYTES ? behind : CACHE_LINE_BYTES),
        .access = HEURT_COUNT_ACCESS(count->site),
        .line = line,
        .count = count->count,
        .object = object};
    vec__push(&self->at, &at);
}

static void add_count(struct count_gathering *self, const struct counted_access *counted)
{
    const struct heurt_access_count *count = counted->count;
    struct memory_gathering *all = self->all;
    struct data_place place = {trace__thread_at(all->trace, counted->thread)->process,
                               counted->thread, count->region, access_count__address(count),
                               count->tick};
    find_stack_of(self, &place);
    const struct allocation *allocation;
    uint64_t number;
    struct memory_object *object = memory_gathering__object_at(
        all, &place, variable_at(self, place.process, place.address), &number, &allocation);
    enum heurt_access access = HEURT_COUNT_ACCESS(count->site);
    uint64_t reads = access__reads(access) ? count->count : 0;
    uint64_t written = access__writes(access) ? count->count : 0;
    struct memory_thread *thread = memory_object__thread(object, counted->thread);
    thread->reads += reads;
    thread->writes += written;
    object->counted.reads += reads;
    object->counted.writes += written;
    all->use->counted.reads += reads;
    all->use->counted.writes += written;
    add_row(self, object, number, counted, allocation);
    add_line(self, &place, number, counted);
}

void counted_use__add(struct memory_gathering *all, const struct access_counts *counts)
{
    struct count_gathering self = {.all = all,
                                   .stacks = VEC_OF(struct stack_span),
                                   .named = VEC_OF(struct known_variable),
                                   .at = VEC_OF(struct counted_at)};
    find_named(&self, counts);
    find_stacks(&self, counts);
    VEC_EACH (counted, &counts->all, const struct counted_access)
        add_count(&self, counted);
    counted_lines__judge(&self.at, &all->use->objects);
    all->use->counted.is_told = trace__counts_accesses(all->trace);
    all->use->counted.missed = counts->missed;
    vec__free(&self.stacks);
    vec__free(&self.named);
    vec__free(&self.at);
    map__free(&self.row_of);
}
