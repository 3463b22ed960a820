#include "analysis/callsite/classes.h"

#include "analysis/callsite/calls.h"
#include "analysis/callsite/rules.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Which class an event had whose words were the same. Most events find theirs here; on a miss the
 * class is looked up by its identity. Direct-mapped. */
struct recent_class {
    struct class_entry *entry;
    uint64_t from, until; /* ticks between which the module of the site is the same one */
    uint64_t words[HEURT_ARGUMENTS_MAX];
    uint32_t process, id;
};

#define RECENT_CLASSES 4096u

/* Everything that makes a class what it is. Compared as bytes: no padding. */
struct identity {
    uint64_t kind, variant;
    uint64_t module, offset; /* of the site or function; a marker: number of its name, line */
    uint64_t
        process_and_1; /* where the object or an address outside of all modules means something */
    uint64_t has_object, object;
    uint64_t key_count;
    uint64_t keys[HEURT_ARGUMENTS_MAX];
};

void class_table__start(struct class_table *table, const struct trace *trace,
                        const struct vec *rules)
{
    *table = (struct class_table){.trace = trace, .rules = rules};
    table->entries = VEC_OF(struct class_entry *);
    table->strings = VEC_OF(char *);
    table->warnings = VEC_OF(char *);
    table->occupied = VEC_OF(struct class_entry *);
    table->recent = memory__zeroed(RECENT_CLASSES, sizeof *table->recent);
    table->process_count = trace__processes(trace)->count;
    table->functions = memory__zeroed(table->process_count, sizeof *table->functions);
}

static void free_texts(struct vec *texts)
{
    VEC_EACH (text, texts, char *)
        free(*text);
    vec__free(texts);
}

void profile_structure__free(struct profile_structure *structure)
{
    if (!structure)
        return;
    vec__free(&structure->inside);
    free(structure);
}

void class_entry__forget_results(struct class_entry *entry)
{
    free(entry->histogram);
    entry->histogram = NULL;
    memset(entry->fold.histogram, 0, sizeof entry->fold.histogram);
    vec__free(&entry->cells);
    vec__free(&entry->stacks);
    vec__free(&entry->blames);
    vec__free(&entry->evidence);
}

void class_entry__free(struct class_entry *entry)
{
    if (!entry)
        return;
    class_entry__forget_results(entry);
    vec__free(&entry->what.keys);
    if (entry->division)
        vec__free(&entry->division->parts);
    free(entry->division);
    profile_structure__free(entry->what.structure);
    free(entry);
}

void class_table__free(struct class_table *table)
{
    VEC_EACH (entry, &table->entries, struct class_entry *)
        class_entry__free(*entry);
    vec__free(&table->entries);
    map__free(&table->by_identity);
    map__free(&table->by_place);
    map__free(&table->modules);
    map__free(&table->names);
    map__free(&table->warned);
    nests__free(table->nests);
    for (size_t i = 0; i < table->process_count; i++) {
        free(table->functions[i].slots);
        free(table->functions[i].classes);
        vec__free(&table->functions[i].used);
    }
    vec__free(&table->occupied);
    free(table->functions);
    free(table->recent);
    free_texts(&table->strings);
    free_texts(&table->warnings);
}

/* ---- identity -------------------------------------------------------------------------------- */

static struct trace_process *process_at(const struct class_table *table, size_t process)
{
    return VEC_AT(trace__processes(table->trace), struct trace_process, process);
}

static uint64_t number_of_module(struct class_table *table, const struct trace_module *module)
{
    const void *key = module->build_id_bytes ? (const void *)module->build_id : module->path;
    size_t bytes = module->build_id_bytes ? module->build_id_bytes : strlen(module->path);
    return map__put(&table->modules, key, bytes, table->modules.count);
}

/* The module at that tick, else (its definition came late) any that ever had the address. */
static const struct trace_module *module_of(const struct trace_process *process, uint64_t address,
                                            uint64_t tick)
{
    const struct trace_module *module = trace_process__module(process, address, tick);
    if (module)
        return module;
    VEC_EACH (candidate, &process->modules, struct trace_module) {
        if (address >= candidate->start && address < candidate->end)
            return candidate;
    }
    return NULL;
}

static const struct trace_module *place_code(struct class_table *table, size_t process,
                                             uint64_t address, uint64_t tick,
                                             struct identity *identity)
{
    const struct trace_module *module = module_of(process_at(table, process), address, tick);
    identity->module = module ? number_of_module(table, module) : UINT64_MAX;
    identity->offset = module ? address - module->bias : address;
    if (!module)
        identity->process_and_1 = process + 1;
    return module;
}

static uint32_t number_of_place(struct class_table *table, const struct identity *identity)
{
    const struct identity place = {.kind = identity->kind,
                                   .variant = identity->variant,
                                   .module = identity->module,
                                   .offset = identity->offset};
    return (uint32_t)map__put(&table->by_place, &place, sizeof place, table->by_place.count);
}

static void make_empty(struct class_entry *entry)
{
    entry->cells = VEC_OF(struct class_cell);
    entry->stacks = VEC_OF(struct class_stack);
    entry->blames = VEC_OF(struct class_blame);
    entry->evidence = VEC_OF(struct class_evidence);
}

/* The class with that identity; what it is is copied from what when it is new. */
static struct class_entry *class_of(struct class_table *table, const struct identity *identity,
                                    const struct class_definition *what,
                                    const struct profile_key *keys, size_t key_count)
{
    uint64_t place =
        map__put(&table->by_identity, identity, sizeof *identity, table->entries.count);
    if (place < table->entries.count)
        return *VEC_AT(&table->entries, struct class_entry *, place);
    struct class_entry *entry = memory__zeroed(1, sizeof *entry);
    entry->place = number_of_place(table, identity);
    entry->what = *what;
    entry->what.keys = VEC_OF(struct profile_key);
    for (size_t i = 0; i < key_count; i++)
        vec__push(&entry->what.keys, &keys[i]);
    entry->what.ignored = rules__ignore(table->rules, what->at.function);
    entry->fold.sums = &entry->sums;
    entry->fold.component = class_kind__component(what->at.kind);
    entry->fold.patched = what->at.kind == CLASS_CALL;
    make_empty(entry);
    vec__push(&table->entries, &entry);
    return entry;
}

/* ---- what was looked up lately --------------------------------------------------------------- */

static struct recent_class *recent_place(const struct class_table *table, size_t process,
                                         uint32_t id, const uint64_t words[HEURT_ARGUMENTS_MAX])
{
    uint64_t hash = process * 0x9e3779b97f4a7c15ull + id;
    for (unsigned i = 0; i < HEURT_ARGUMENTS_MAX; i++)
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
    return &table->recent[hash >> 32 & (RECENT_CLASSES - 1)];
}

static bool recent__is(const struct recent_class *recent, size_t process, uint32_t id,
                       const uint64_t words[HEURT_ARGUMENTS_MAX], uint64_t tick)
{
    return recent->entry && recent->process == process && recent->id == id &&
           tick >= recent->from && tick < recent->until &&
           memcmp(recent->words, words, sizeof recent->words) == 0;
}

static void recent__keep(struct recent_class *recent, size_t process, uint32_t id,
                         const uint64_t words[HEURT_ARGUMENTS_MAX], struct class_entry *entry)
{
    *recent = (struct recent_class){
        .entry = entry, .until = UINT64_MAX, .process = (uint32_t)process, .id = id};
    memcpy(recent->words, words, sizeof recent->words);
}

/* ---- functions and regions ------------------------------------------------------------------- */

static const char *own_text(struct class_table *table, char *text)
{
    vec__push(&table->strings, &text);
    return text;
}

static void warn_not_recorded(struct class_table *table, const struct rule_argument *argument,
                              const struct profile_rule *rule,
                              const struct trace_function *function)
{
    char *request = memory__format("%s=%.*s", rule->function, (int)argument->bytes, argument->text);
    size_t bytes = strlen(request);
    if (map__get(&table->warned, request, bytes) == MAP_ABSENT) {
        map__put(&table->warned, request, bytes, 1);
        char *also = function->argument_count
                         ? memory__format(" (recorded: %s)", function->argument_names)
                         : memory__text("");
        char *sentence = memory__format("the key %s cannot be used: the argument was not recorded "
                                        "for %s%s; record with -A %s",
                                        request, function->name, also, request);
        vec__push(&table->warnings, &sentence);
        free(also);
    }
    free(request);
}

static void add_key(struct class_table *table, struct function_slot *slot, unsigned place)
{
    for (unsigned i = 0; i < slot->key_count; i++) {
        if (slot->keys[i] == place)
            return;
    }
    slot->key_names[slot->key_count] =
        own_text(table, recorded_argument__name(slot->function, place));
    slot->keys[slot->key_count++] = (uint8_t)place;
}

static void apply_key_rule(struct class_table *table, struct function_slot *slot,
                           const struct profile_rule *rule)
{
    const char *list = rule->arguments;
    struct rule_argument argument;
    while (rule_argument__next(&list, &argument)) {
        int place = rule_argument__place(&argument, slot->function);
        if (place >= 0)
            add_key(table, slot, (unsigned)place);
        else
            warn_not_recorded(table, &argument, rule, slot->function);
    }
}

static void apply_rules(struct class_table *table, struct function_slot *slot)
{
    if (!table->rules)
        return;
    VEC_EACH (rule, table->rules, struct profile_rule) {
        if (rule->type == RULE_KEY && rule__matches(rule->function, slot->function->name))
            apply_key_rule(table, slot, rule);
    }
}

static enum class_kind kind_of_function(const struct trace_function *function)
{
    switch (function->kind) {
    case HEURT_FUNCTION_REGION:
        return CLASS_REGION;
    case HEURT_FUNCTION_ITERATION:
        return CLASS_ITERATION;
    case HEURT_FUNCTION_LOOP:
        return CLASS_LOOP;
    default:
        return CLASS_CALL;
    }
}

static void place_marker(struct class_table *table, const struct trace_function *function,
                         struct identity *identity)
{
    char *name = memory__format("%s\n%s", function->name, function->file);
    identity->module = map__put(&table->names, name, strlen(name), table->names.count);
    identity->offset = function->line;
    free(name);
}

static struct class_entry *class_of_function(struct class_table *table, size_t process,
                                             const struct trace_function *function, uint64_t tick,
                                             const struct profile_key *keys, size_t key_count)
{
    struct identity identity = {.kind = kind_of_function(function), .key_count = key_count};
    struct class_definition what = {.at.kind = (enum class_kind)identity.kind,
                                    .at.process = process_at(table, process)->serial,
                                    .at.function = function->name,
                                    .at.address = function->address};
    if (what.at.kind == CLASS_CALL || what.at.kind == CLASS_LOOP)
        place_code(table, process, function->address, tick, &identity);
    else
        place_marker(table, function, &identity);
    if (what.at.kind != CLASS_CALL && (what.at.kind != CLASS_LOOP || *function->file)) {
        what.at.file = function->file;
        what.at.line = function->line;
    }
    for (size_t i = 0; i < key_count; i++)
        identity.keys[i] = keys[i].value;
    struct class_entry *entry = class_of(table, &identity, &what, keys, key_count);
    entry->fold.bias = function->bias_ticks;
    entry->fold.cost = function->cost_ticks;
    return entry;
}

static bool id_is_function(uint32_t id)
{
    return id >= HEURT_EVENT_FUNCTIONS && id <= HEURT_FUNCTION_LAST && id % 2 == 0;
}

struct function_table *class_table__functions(struct class_table *table, size_t process)
{
    struct function_table *functions = &table->functions[process];
    if (functions->filled)
        return functions;
    functions->filled = true;
    const struct vec *defined = &process_at(table, process)->functions;
    VEC_EACH (function, defined, struct trace_function) {
        size_t place = (function->id - HEURT_EVENT_FUNCTIONS) / 2;
        if (id_is_function(function->id) && place >= functions->count)
            functions->count = place + 1;
    }
    functions->slots = memory__zeroed(functions->count, sizeof *functions->slots);
    functions->classes = memory__zeroed(functions->count, sizeof *functions->classes);
    functions->used = VEC_OF(size_t);
    VEC_EACH (function, defined, struct trace_function) {
        if (!id_is_function(function->id))
            continue;
        struct function_slot *slot = &functions->slots[(function->id - HEURT_EVENT_FUNCTIONS) / 2];
        *slot = (struct function_slot){.function = function};
        /* Only as many iterations can be compared. */
        if (function->kind == HEURT_FUNCTION_LOOP && function->argument_count)
            add_key(table, slot, 0);
        apply_rules(table, slot);
    }
    return functions;
}

static struct class_entry *class_of_keys(struct class_table *table, size_t process,
                                         const struct function_slot *slot,
                                         const struct event *event)
{
    uint64_t words[HEURT_ARGUMENTS_MAX] = {0};
    for (unsigned i = 0; i < slot->key_count; i++)
        words[i] = slot->keys[i] < event->words ? event->payload[slot->keys[i]] : 0;
    struct recent_class *recent = recent_place(table, process, event->id, words);
    if (recent__is(recent, process, event->id, words, event->tick))
        return recent->entry;
    struct profile_key keys[HEURT_ARGUMENTS_MAX];
    for (unsigned i = 0; i < slot->key_count; i++)
        keys[i] = (struct profile_key){slot->key_names[i], words[i]};
    struct class_entry *entry =
        class_of_function(table, process, slot->function, event->tick, keys, slot->key_count);
    recent__keep(recent, process, event->id, words, entry);
    return entry;
}

struct class_entry *class_table__function(struct class_table *table, size_t process,
                                          const struct event *event)
{
    const struct function_table *functions = class_table__functions(table, process);
    size_t place = (event->id - HEURT_EVENT_FUNCTIONS) / 2;
    struct function_slot *slot = place < functions->count ? &functions->slots[place] : NULL;
    if (!slot || !slot->function)
        return NULL;
    /* Aggregated runs have classes of functions whose arguments found no room. */
    if (slot->key_count && event->words)
        return class_of_keys(table, process, slot, event);
    if (!slot->entry)
        slot->entry = class_of_function(table, process, slot->function, event->tick, NULL, 0);
    return slot->entry;
}

/* ---- hooked calls ---------------------------------------------------------------------------- */

/* What the runtime does is the recording's, and no class of the program. */
static bool is_of_runtime(const struct trace_module *module)
{
    static const char name[] = "/libheurt.so";
    size_t length = module && module->path ? strlen(module->path) : 0;
    return length >= sizeof name - 1 &&
           strcmp(module->path + length - (sizeof name - 1), name) == 0;
}

/* NULL: no class. */
static struct class_entry *class_of_call(struct class_table *table, size_t process,
                                         const struct event *event, const struct call *call,
                                         const struct trace_module **module)
{
    uint64_t site = HEURT_SITE_ADDRESS(event->payload[0]);
    struct identity identity = {.kind = call->kind,
                                .variant = call->variant,
                                .has_object = call->has_object,
                                .object = call->object,
                                .key_count = call->key_count};
    struct class_definition what = {.at.kind = call->kind,
                                    .at.process = process_at(table, process)->serial,
                                    .at.function = call->function,
                                    .at.site = site,
                                    .has_object = call->has_object,
                                    .object = call->object};
    *module = place_code(table, process, site, event->tick, &identity);
    if (call->kind == CLASS_FAULT && is_of_runtime(*module))
        return NULL;
    if (call->has_object)
        identity.process_and_1 = process + 1;
    for (size_t i = 0; i < call->key_count; i++)
        identity.keys[i] = call->keys[i].value;
    size_t known = table->entries.count;
    struct class_entry *entry = class_of(table, &identity, &what, call->keys, call->key_count);
    if (table->entries.count > known) {
        entry->idle = call->idle;
        entry->by_chance = call->by_chance;
    }
    return entry;
}

struct class_entry *class_table__call(struct class_table *table, size_t process,
                                      const struct event *event)
{
    uint64_t words[HEURT_ARGUMENTS_MAX] = {0};
    uint32_t id = call__class_id(event->id);
    if (!call__key(event, words))
        return NULL;
    struct recent_class *recent = recent_place(table, process, id, words);
    if (recent__is(recent, process, id, words, event->tick))
        return recent->entry;
    struct call call;
    const struct trace_module *module;
    if (!call__describe(event, &call))
        return NULL;
    struct class_entry *entry = class_of_call(table, process, event, &call, &module);
    if (!entry)
        return NULL;
    recent__keep(recent, process, id, words, entry);
    if (module) {
        recent->from = module->tick < event->tick ? module->tick : event->tick;
        recent->until = module->gone_tick > event->tick ? module->gone_tick : event->tick + 1;
    }
    return entry;
}

/* ---- what found no room ---------------------------------------------------------------------- */

struct class_entry *class_table__other(struct class_table *table, size_t process,
                                       enum class_kind kind)
{
    const uint64_t variant = UINT64_MAX; /* of no call */
    if ((unsigned)kind >= CLASS_KINDS)
        return NULL;
    struct identity identity = {.kind = kind, .variant = variant};
    char *name = memory__format("(other %s classes)", class_kind__name(kind));
    if (map__get(&table->by_identity, &identity, sizeof identity) == MAP_ABSENT) {
        struct class_definition what = {.at.kind = kind,
                                        .at.process = process_at(table, process)->serial,
                                        .at.function = own_text(table, memory__text(name))};
        char *sentence = memory__format("the run met more classes than --aggregate has room for: "
                                        "the rest of its %s classes is counted as one, %s",
                                        class_kind__name(kind), name);
        vec__push(&table->warnings, &sentence);
        class_of(table, &identity, &what, NULL, 0);
    }
    free(name);
    return *VEC_AT(&table->entries, struct class_entry *,
                   map__get(&table->by_identity, &identity, sizeof identity));
}

/* ---- threads --------------------------------------------------------------------------------- */

void class_table__begin_thread(struct class_table *table, uint32_t thread)
{
    table->thread = thread;
}

void class_table__occupy(struct class_table *table, struct class_entry *entry)
{
    if (entry->thread_and_1)
        return;
    entry->thread_and_1 = table->thread + 1;
    vec__push(&table->occupied, &entry);
}

void class_entry__end_thread(struct class_entry *entry)
{
    const struct accumulator *part = &entry->sums.accumulator;
    if (part->count) {
        struct class_cell cell = {.thread = entry->thread_and_1 - 1,
                                  .count = part->count,
                                  .nested_count = part->nested_count,
                                  .sum = part->sum,
                                  .nested_sum = part->nested_sum};
        vec__push(&entry->cells, &cell);
    }
    accumulator__merge(&entry->total.accumulator, part);
    entry->total.contended += entry->sums.contended;
    entry->total.unfinished += entry->sums.unfinished;
    entry->sums = (struct class_sums){0};
    entry->thread_and_1 = 0;
}

static void leave_thread(struct class_table *table)
{
    table->occupied.count = 0;
    const struct trace_thread *thread =
        VEC_AT(trace__threads(table->trace), struct trace_thread, table->thread);
    struct function_table *functions = &table->functions[thread->process];
    VEC_EACH (place, &functions->used, size_t)
        functions->classes[*place] = NULL;
    functions->used.count = 0;
}

void class_table__end_thread(struct class_table *table)
{
    VEC_EACH (entry, &table->occupied, struct class_entry *)
        class_entry__end_thread(*entry);
    leave_thread(table);
}

void class_table__forget_thread(struct class_table *table)
{
    VEC_EACH (entry, &table->occupied, struct class_entry *) {
        (*entry)->sums = (struct class_sums){0};
        (*entry)->thread_and_1 = 0;
    }
    leave_thread(table);
}

void class_table__number(struct class_table *table)
{
    uint32_t number = 0;
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        bool is_one = !(*entry)->joint || (*entry)->joint == *entry;
        (*entry)->number = is_one ? number++ : CLASS_NOT_NUMBERED;
    }
}

void class_entry__add_histogram(struct class_entry *entry)
{
    entry->histogram =
        memory__zeroed((size_t)HISTOGRAM_BLOCKS * HISTOGRAM_BLOCK_BUCKETS, sizeof(uint64_t));
    for (size_t i = 0; i < HISTOGRAM_BLOCKS; i++)
        entry->fold.histogram[i] = entry->histogram + i * HISTOGRAM_BLOCK_BUCKETS;
}

/* ---- call stacks ----------------------------------------------------------------------------- */

static struct class_stack *stack_like(struct vec *stacks, const struct class_stack *like)
{
    VEC_EACH (stack, stacks, struct class_stack)
        if (stack->frame_count == like->frame_count &&
            !memcmp(stack->frames, like->frames, like->frame_count * sizeof *like->frames))
            return stack;
    return NULL;
}

static void add_stack(struct vec *stacks, const struct class_stack *added)
{
    struct class_stack *stack = stack_like(stacks, added);
    if (stack)
        stack->snapshots += added->snapshots;
    else
        vec__push(stacks, added);
}

void class_table__add_stack(const struct class_table *table, const struct symbols *symbols,
                            struct class_entry *entry, uint32_t thread, uint64_t tick)
{
    const struct trace_thread *what =
        VEC_AT(trace__threads(table->trace), struct trace_thread, thread);
    struct class_stack stack = {.snapshots = 1,
                                .process = process_at(table, what->process)->serial};
    if (symbols)
        stack.frame_count = symbols__get_stack(symbols, what->serial, tick, &stack.frames);
    if (stack.frame_count)
        add_stack(&entry->stacks, &stack);
}

/* ---- parts of a site ------------------------------------------------------------------------- */

struct class_entry *class_entry__like(const struct class_entry *site)
{
    struct class_entry *entry = memory__zeroed(1, sizeof *entry);
    entry->what = site->what;
    entry->what.keys = VEC_OF(struct profile_key);
    VEC_EACH (key, &site->what.keys, struct profile_key)
        vec__push(&entry->what.keys, key);
    entry->place = site->place;
    entry->is_structural = site->is_structural;
    entry->fold = (struct fold_class){.sums = &entry->sums,
                                      .component = site->fold.component,
                                      .bias = site->fold.bias,
                                      .cost = site->fold.cost,
                                      .patched = site->fold.patched};
    make_empty(entry);
    return entry;
}

void class_entry__mark_threads(const struct class_entry *entry, bool *threads)
{
    VEC_EACH (cell, &entry->cells, struct class_cell)
        threads[cell->thread] = true;
}

static void add_to_cell(struct class_cell *cell, const struct class_cell *added)
{
    cell->count += added->count;
    cell->nested_count += added->nested_count;
    cell->sum += added->sum;
    cell->nested_sum += added->nested_sum;
}

/* Both are in the order of threads, and so is what becomes of them. */
static void merge_cells(struct vec *into, const struct vec *from)
{
    struct vec both = VEC_OF(struct class_cell);
    const struct class_cell *left = into->items, *left_end = left + into->count;
    const struct class_cell *right = from->items, *right_end = right + from->count;
    while (left < left_end || right < right_end) {
        bool is_left = right == right_end || (left < left_end && left->thread <= right->thread);
        struct class_cell *cell = vec__push(&both, is_left ? left++ : right++);
        if (is_left && right < right_end && right->thread == cell->thread)
            add_to_cell(cell, right++);
    }
    vec__free(into);
    *into = both;
}

void class_entry__merge(struct class_entry *into, const struct class_entry *from)
{
    accumulator__merge(&into->sums.accumulator, &from->sums.accumulator);
    accumulator__merge(&into->total.accumulator, &from->total.accumulator);
    merge_cells(&into->cells, &from->cells);
    VEC_EACH (stack, &from->stacks, struct class_stack)
        add_stack(&into->stacks, stack);
    if (!from->histogram)
        return;
    if (!into->histogram)
        class_entry__add_histogram(into);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->histogram[i] += from->histogram[i];
}

void class_entry__forget_stacks(struct class_entry *entry, const struct class_entry *of)
{
    VEC_EACH (other, &of->stacks, struct class_stack) {
        struct class_stack *stack = stack_like(&entry->stacks, other);
        if (stack)
            stack->snapshots -= other->snapshots;
    }
    size_t left = 0;
    VEC_EACH (stack, &entry->stacks, struct class_stack) {
        if (stack->snapshots)
            *VEC_AT(&entry->stacks, struct class_stack, left++) = *stack;
    }
    entry->stacks.count = left;
}

struct class_entry *class_table__part(struct class_table *table, struct class_entry *site,
                                      uint32_t nest)
{
    if (!site->division || nest == NEST_NONE)
        return site;
    uint32_t cut = nests__cut(table->nests, nest, site->division->depth);
    VEC_EACH (part, &site->division->parts, struct class_part)
        if (part->nest == cut)
            return part->entry;
    return site;
}

void class_entry__set_undisturbed(struct class_entry *entry)
{
    struct accumulator *accumulator = &entry->total.accumulator;
    entry->fastest = accumulator->minimum;
    if (class_kind__waits_for_threads(entry->what.at.kind))
        accumulator__compare_with_nothing(accumulator);
}

bool class_entry__is_shown(const struct class_entry *entry)
{
    if (entry->joint && entry->joint != entry)
        return false;
    return !entry->division || entry->total.accumulator.count || entry->total.unfinished;
}

uint32_t class_entry__number(const struct class_entry *entry)
{
    if (!entry || entry->joint || !class_entry__is_shown(entry) ||
        entry->number >= CLASS_NOT_NUMBERED)
        return CLASS_NOT_NUMBERED;
    return entry->number;
}

bool class_table__has_parts(const struct class_table *table)
{
    VEC_EACH (entry, &table->entries, struct class_entry *)
        if ((*entry)->division)
            return true;
    return false;
}
