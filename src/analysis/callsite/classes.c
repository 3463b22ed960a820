#include "analysis/callsite/classes.h"

#include "analysis/callsite/calls.h"
#include "analysis/callsite/rules.h"
#include "analysis/callsite/site.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Which class an event had whose words were the same. Most events find theirs here; on a miss the
 * class is looked up by its identity. Direct-mapped. */
struct recent_class {
    struct class_entry *entry;
    uint64_t from, until; /* ticks between which the module of the site is the same one */
    uint64_t words[HEURT_ARGUMENTS_MAX];
    uint32_t slot, id;
};

#define RECENT_CLASSES 4096u

/* Everything that makes a class what it is. Compared as bytes: no padding. */
struct class_identity {
    uint64_t kind, variant;
    uint64_t is_aside;
    uint64_t module, offset; /* of the site or function; a marker: number of its name, line */
    uint64_t
        process_and_1; /* where the object or an address outside of all modules means something */
    uint64_t has_object, object;
    uint64_t key_count;
    uint64_t keys[HEURT_ARGUMENTS_MAX];
};

static void start(struct class_table *table, const struct trace *trace, const struct vec *rules,
                  struct class_table *whole)
{
    *table = (struct class_table){.trace = trace, .rules = rules, .whole = whole};
    table->entries = VEC_OF(struct class_entry *);
    table->strings = VEC_OF(char *);
    table->warnings = VEC_OF(char *);
    table->occupied = VEC_OF(struct class_entry *);
    table->recent = memory__zeroed(RECENT_CLASSES, sizeof *table->recent);
    table->process_count = trace__processes(trace)->count;
    table->functions = memory__zeroed(2 * table->process_count, sizeof *table->functions);
}

void class_table__start(struct class_table *table, const struct trace *trace,
                        const struct vec *rules)
{
    start(table, trace, rules, NULL);
}

void class_table__free(struct class_table *table)
{
    class_table__forget_lanes(table);
    VEC_EACH (entry, &table->entries, struct class_entry *)
        class_entry__free(*entry);
    vec__free(&table->entries);
    map__free(&table->by_identity);
    map__free(&table->by_place);
    map__free(&table->modules);
    map__free(&table->names);
    map__free(&table->warned);
    callee_signatures__free(table->signatures);
    for (size_t i = 0; i < 2 * table->process_count; i++) {
        if (!table->whole)
            free(table->functions[i].slots);
        free(table->functions[i].entries);
        free(table->functions[i].classes);
        vec__free(&table->functions[i].used);
    }
    vec__free(&table->occupied);
    free(table->functions);
    free(table->recent);
    texts__free(&table->strings);
    texts__free(&table->warnings);
}

/* ---- identity -------------------------------------------------------------------------------- */

static uint64_t number_of_module(struct class_table *table, const struct trace_module *module)
{
    const void *key = module->build_id_bytes ? (const void *)module->build_id : module->path;
    size_t bytes = module->build_id_bytes ? module->build_id_bytes : strlen(module->path);
    uint64_t known = map__get(&table->modules, key, bytes);
    return known != MAP_ABSENT ? known
                               : map__put(&table->modules, key, bytes, table->modules.count);
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
                                             struct class_identity *identity)
{
    const struct trace_module *module =
        module_of(trace__process_at(table->trace, process), address, tick);
    identity->module =
        module ? number_of_module(table->whole ? table->whole : table, module) : UINT64_MAX;
    identity->offset = module ? address - module->bias : address;
    if (!module)
        identity->process_and_1 = process + 1;
    return module;
}

/* What is called there is the same, whoever calls it. */
static uint32_t number_of_place(struct class_table *table, const struct class_identity *identity)
{
    const struct class_identity place = {.kind = identity->kind,
                                         .variant = identity->variant,
                                         .module = identity->module,
                                         .offset = identity->offset};
    return (uint32_t)map__put(&table->by_place, &place, sizeof place, table->by_place.count);
}

/* What was not recorded each time is part of no callee signature. */
static bool is_structural(const struct class_table *table, const struct class_identity *identity)
{
    const struct class_table *before = table->whole ? table->whole->before : table->before;
    uint64_t place =
        before ? map__get(&before->by_identity, identity, sizeof *identity) : MAP_ABSENT;
    return class_kind__is_structural((enum class_kind)identity->kind) &&
           (place == MAP_ABSENT ||
            !class_entry__is_drawn(*VEC_AT(&before->entries, struct class_entry *, place)));
}

/* A lane's classes find those of the whole when they are joined, and those that it meets afterwards
 * at once. Before, others may change the whole while the lane folds: it is not looked at. */
static void find_whole(const struct class_table *table, struct class_entry *entry,
                       const struct class_identity *identity)
{
    const struct class_table *whole = table->whole;
    if (!whole)
        return;
    entry->whole = NULL;
    entry->identity = memory__zeroed(1, sizeof *identity);
    *entry->identity = *identity;
    uint64_t place =
        table->is_joined ? map__get(&whole->by_identity, identity, sizeof *identity) : MAP_ABSENT;
    if (place != MAP_ABSENT)
        entry->whole = *VEC_AT(&whole->entries, struct class_entry *, place);
}

/* The same class of the other threads, if it is known. */
static void find_twin(const struct class_table *table, struct class_entry *entry,
                      const struct class_identity *identity)
{
    struct class_identity other = *identity;
    other.is_aside = !identity->is_aside;
    uint64_t place = map__get(&table->by_identity, &other, sizeof other);
    if (place == MAP_ABSENT)
        return;
    entry->twin = *VEC_AT(&table->entries, struct class_entry *, place);
    entry->twin->twin = entry;
}

/* The class with that identity; what it is is copied from what when it is new. */
static struct class_entry *class_of(struct class_table *table,
                                    const struct class_identity *identity,
                                    const struct class_definition *what)
{
    uint64_t place =
        map__put(&table->by_identity, identity, sizeof *identity, table->entries.count);
    if (place < table->entries.count)
        return *VEC_AT(&table->entries, struct class_entry *, place);
    struct class_entry *entry = class_entry__new(what);
    entry->what.is_aside = identity->is_aside;
    entry->place = number_of_place(table, identity);
    entry->is_structural = is_structural(table, identity);
    entry->fold.component = class_kind__component(what->at.kind);
    entry->fold.patched = what->at.kind == CLASS_CALL;
    find_whole(table, entry, identity);
    find_twin(table, entry, identity);
    vec__push(&table->entries, &entry);
    return entry;
}

/* ---- what was looked up lately --------------------------------------------------------------- */

/* By image, and for each of them by whether the current thread is aside. */
static size_t slot_of(const struct class_table *table, size_t process)
{
    return table->is_aside ? table->process_count + process : process;
}

static struct recent_class *recent_place(const struct class_table *table, size_t slot, uint32_t id,
                                         const uint64_t words[HEURT_ARGUMENTS_MAX])
{
    uint64_t hash = slot * 0x9e3779b97f4a7c15ull + id;
    for (unsigned i = 0; i < HEURT_ARGUMENTS_MAX; i++)
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
    return &table->recent[hash >> 32 & (RECENT_CLASSES - 1)];
}

static bool recent__is(const struct recent_class *recent, size_t slot, uint32_t id,
                       const uint64_t words[HEURT_ARGUMENTS_MAX], uint64_t tick)
{
    return recent->entry && recent->slot == slot && recent->id == id && tick >= recent->from &&
           tick < recent->until && memcmp(recent->words, words, sizeof recent->words) == 0;
}

static void recent__keep(struct recent_class *recent, size_t slot, uint32_t id,
                         const uint64_t words[HEURT_ARGUMENTS_MAX], struct class_entry *entry)
{
    *recent = (struct recent_class){
        .entry = entry, .until = UINT64_MAX, .slot = (uint32_t)slot, .id = id};
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

static uint64_t number_of_marker(struct class_table *table, const struct trace_function *function)
{
    char *name = memory__format("%s\n%s", function->name, function->file);
    uint64_t number = map__put(&table->names, name, strlen(name), table->names.count);
    free(name);
    return number;
}

/* Valid as long as the keys are. */
static struct vec borrowed(const struct profile_key *keys, size_t count)
{
    return (struct vec){(void *)(uintptr_t)keys, count, count, sizeof *keys};
}

static bool is_of_code(enum class_kind kind)
{
    return kind == CLASS_CALL || kind == CLASS_LOOP;
}

static struct class_entry *class_of_function(struct class_table *table, size_t process,
                                             const struct function_slot *slot, uint64_t tick,
                                             const struct profile_key *keys, size_t key_count)
{
    const struct trace_function *function = slot->function;
    struct class_identity identity = {
        .kind = kind_of_function(function), .is_aside = table->is_aside, .key_count = key_count};
    struct class_definition what = {.at.kind = (enum class_kind)identity.kind,
                                    .at.process = trace__process_at(table->trace, process)->serial,
                                    .at.function = function->name,
                                    .at.address = function->address,
                                    .keys = borrowed(keys, key_count)};
    if (is_of_code(what.at.kind)) {
        place_code(table, process, function->address, tick, &identity);
    } else {
        identity.module = slot->marker;
        identity.offset = function->line;
    }
    if (what.at.kind != CLASS_CALL && (what.at.kind != CLASS_LOOP || *function->file)) {
        what.at.file = function->file;
        what.at.line = function->line;
    }
    for (size_t i = 0; i < key_count; i++)
        identity.keys[i] = keys[i].value;
    return class_of(table, &identity, &what);
}

static bool id_is_function(uint32_t id)
{
    return id >= HEURT_EVENT_FUNCTIONS && id <= HEURT_FUNCTION_LAST && id % 2 == 0;
}

static void fill_slots(struct class_table *table, size_t process, struct function_table *functions)
{
    const struct vec *defined = &trace__process_at(table->trace, process)->functions;
    VEC_EACH (function, defined, struct trace_function) {
        size_t place = (function->id - HEURT_EVENT_FUNCTIONS) / 2;
        if (id_is_function(function->id) && place >= functions->count)
            functions->count = place + 1;
    }
    functions->slots = memory__zeroed(functions->count, sizeof *functions->slots);
    VEC_EACH (function, defined, struct trace_function) {
        if (!id_is_function(function->id))
            continue;
        struct function_slot *slot = &functions->slots[(function->id - HEURT_EVENT_FUNCTIONS) / 2];
        *slot = (struct function_slot){.function = function};
        if (!is_of_code(kind_of_function(function)))
            slot->marker = number_of_marker(table, function);
        /* Only as many iterations can be compared. */
        if (function->kind == HEURT_FUNCTION_LOOP && function->argument_count)
            add_key(table, slot, 0);
        apply_rules(table, slot);
    }
}

struct function_table *class_table__functions(struct class_table *table, size_t process)
{
    size_t slot = slot_of(table, process);
    struct function_table *functions = &table->functions[slot];
    if (functions->filled)
        return functions;
    functions->filled = true;
    if (!table->whole) {
        fill_slots(table, process, functions);
    } else {
        functions->slots = table->whole->functions[slot].slots;
        functions->count = table->whole->functions[slot].count;
    }
    functions->entries = memory__zeroed(functions->count, sizeof *functions->entries);
    functions->classes = memory__zeroed(functions->count, sizeof *functions->classes);
    functions->used = VEC_OF(size_t);
    return functions;
}

static struct class_entry *class_of_keys(struct class_table *table, size_t process,
                                         const struct function_slot *slot,
                                         const struct event *event)
{
    uint64_t words[HEURT_ARGUMENTS_MAX] = {0};
    for (unsigned i = 0; i < slot->key_count; i++)
        words[i] = slot->keys[i] < event->words ? event->payload[slot->keys[i]] : 0;
    struct recent_class *recent = recent_place(table, slot_of(table, process), event->id, words);
    if (recent__is(recent, slot_of(table, process), event->id, words, event->tick))
        return recent->entry;
    struct profile_key keys[HEURT_ARGUMENTS_MAX];
    for (unsigned i = 0; i < slot->key_count; i++)
        keys[i] = (struct profile_key){slot->key_names[i], words[i]};
    struct class_entry *entry =
        class_of_function(table, process, slot, event->tick, keys, slot->key_count);
    recent__keep(recent, slot_of(table, process), event->id, words, entry);
    return entry;
}

struct class_entry *class_table__function(struct class_table *table, size_t process,
                                          const struct event *event)
{
    const struct function_table *functions = class_table__functions(table, process);
    size_t place = (event->id - HEURT_EVENT_FUNCTIONS) / 2;
    const struct function_slot *slot = place < functions->count ? &functions->slots[place] : NULL;
    if (!slot || !slot->function)
        return NULL;
    struct class_entry *entry = functions->entries[place];
    /* Aggregated runs have classes of functions whose arguments found no room. */
    if (slot->key_count && event->words)
        entry = class_of_keys(table, process, slot, event);
    else if (!entry)
        entry = functions->entries[place] =
            class_of_function(table, process, slot, event->tick, NULL, 0);
    /* Of this image: others call the same function at another cost. */
    entry->fold.bias = slot->function->bias_ticks;
    entry->fold.cost = slot->function->cost_ticks;
    return entry;
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
    struct class_identity identity = {.kind = call->kind,
                                      .variant = call->variant,
                                      .is_aside = table->is_aside,
                                      .has_object = call->has_object,
                                      .object = call->object,
                                      .key_count = call->key_count};
    struct class_definition what = {.at.kind = call->kind,
                                    .at.process = trace__process_at(table->trace, process)->serial,
                                    .at.function = call->function,
                                    .at.site = site,
                                    .has_object = call->has_object,
                                    .object = call->object,
                                    .keys = borrowed(call->keys, call->key_count)};
    *module = place_code(table, process, site, event->tick, &identity);
    if (call->kind == CLASS_FAULT && is_of_runtime(*module))
        return NULL;
    if (call->has_object)
        identity.process_and_1 = process + 1;
    for (size_t i = 0; i < call->key_count; i++)
        identity.keys[i] = call->keys[i].value;
    size_t known = table->entries.count;
    struct class_entry *entry = class_of(table, &identity, &what);
    if (table->entries.count > known) {
        entry->idle = call->idle;
        entry->by_chance = call->by_chance;
        entry->is_structural &= !call->by_chance;
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
    struct recent_class *recent = recent_place(table, slot_of(table, process), id, words);
    if (recent__is(recent, slot_of(table, process), id, words, event->tick))
        return recent->entry;
    struct call call;
    const struct trace_module *module;
    if (!call__describe(event, &call))
        return NULL;
    struct class_entry *entry = class_of_call(table, process, event, &call, &module);
    if (!entry)
        return NULL;
    recent__keep(recent, slot_of(table, process), id, words, entry);
    if (module) {
        recent->from = module->tick < event->tick ? module->tick : event->tick;
        recent->until = module->gone_tick > event->tick ? module->gone_tick : event->tick + 1;
    }
    return entry;
}

struct class_entry *class_table__wait(struct class_table *table, size_t process,
                                      enum class_kind kind, uint64_t tick, uint64_t site_word,
                                      uint64_t object)
{
    static const uint32_t ids[CLASS_KINDS] = {
        [CLASS_LOCK] = HEURT_EVENT_LOCK_WAIT,       [CLASS_CONDITION] = HEURT_EVENT_CONDITION_WAIT,
        [CLASS_BARRIER] = HEURT_EVENT_BARRIER_WAIT, [CLASS_SEMAPHORE] = HEURT_EVENT_SEMAPHORE_WAIT,
        [CLASS_FUTEX] = HEURT_EVENT_FUTEX_WAIT,
    };
    const uint64_t payload[] = {site_word, object};
    return class_table__call(table, process, &(struct event){tick, ids[kind], 2, payload});
}

/* ---- what found no room ---------------------------------------------------------------------- */

struct class_entry *class_table__other(struct class_table *table, size_t process,
                                       enum class_kind kind)
{
    const uint64_t variant = UINT64_MAX; /* of no call */
    if ((unsigned)kind >= CLASS_KINDS)
        return NULL;
    struct class_identity identity = {
        .kind = kind, .variant = variant, .is_aside = table->is_aside};
    char *name = memory__format("(other %s classes)", class_kind__name(kind));
    if (map__get(&table->by_identity, &identity, sizeof identity) == MAP_ABSENT) {
        struct class_definition what = {.at.kind = kind,
                                        .at.process =
                                            trace__process_at(table->trace, process)->serial,
                                        .at.function = own_text(table, memory__text(name))};
        char *sentence = memory__format("the run met more classes than --aggregate has room for: "
                                        "the rest of its %s classes is counted as one, %s",
                                        class_kind__name(kind), name);
        vec__push(&table->warnings, &sentence);
        class_of(table, &identity, &what);
    }
    free(name);
    return *VEC_AT(&table->entries, struct class_entry *,
                   map__get(&table->by_identity, &identity, sizeof identity));
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* All that lanes ask the whole for is there before they start. */
static void number_all(struct class_table *table)
{
    VEC_EACH (process, trace__processes(table->trace), struct trace_process)
        VEC_EACH (module, &process->modules, struct trace_module)
            number_of_module(table, module);
    for (uint32_t i = 0; i < trace__threads(table->trace)->count; i++) {
        class_table__begin_thread(table, i);
        class_table__functions(table, trace__thread_at(table->trace, i)->process);
    }
}

void class_table__add_lanes(struct class_table *table, unsigned count)
{
    number_all(table);
    table->lanes = memory__zeroed(count, sizeof *table->lanes);
    table->lane_count = count;
    for (unsigned i = 0; i < count; i++)
        start(&table->lanes[i], table->trace, table->rules, table);
}

/* What one class did on one thread. */
struct class_table_row {
    struct class_entry *entry; /* of the lane */
    struct class_sums sums;
    struct vec stacks; /* struct class_stack */
    bool has_calls;
};

struct vec class_table__take_thread(struct class_table *lane)
{
    struct vec rows = VEC_OF(struct class_table_row);
    VEC_EACH (place, &lane->occupied, struct class_entry *) {
        struct class_entry *entry = *place;
        const struct class_table_row row = {entry, entry->sums, entry->stacks, entry->has_calls};
        vec__push(&rows, &row);
        entry->stacks = VEC_OF(struct class_stack);
    }
    class_table__forget_thread(lane);
    return rows;
}

/* The whole's class of a lane's. */
static struct class_entry *whole_of(struct class_table *table, struct class_entry *entry)
{
    size_t known = table->entries.count;
    if (entry->whole)
        return entry->whole;
    entry->whole = class_of(table, entry->identity, &entry->what);
    if (table->entries.count > known) {
        entry->whole->idle = entry->idle;
        entry->whole->by_chance = entry->by_chance;
        entry->whole->is_structural = entry->is_structural;
    }
    return entry->whole;
}

/* What the lane's places are called in the whole. */
static uint32_t *places_of(const struct vec *rows)
{
    uint32_t count = 0;
    VEC_EACH (row, rows, struct class_table_row)
        count = row->entry->place >= count ? row->entry->place + 1 : count;
    uint32_t *places = memory__zeroed(count, sizeof *places);
    VEC_EACH (row, rows, struct class_table_row)
        places[row->entry->place] = row->entry->whole->place;
    return places;
}

static void join_sites(struct class_table *table, uint32_t thread, const struct vec *rows,
                       struct thread_sites *sites)
{
    uint32_t *places = places_of(rows);
    if (!table->signatures)
        table->signatures = callee_signatures__new();
    class_table__join_sites(table, thread, sites, places);
    free(places);
}

void class_table__join_thread(struct class_table *table, uint32_t thread, struct vec *rows,
                              struct thread_sites *sites)
{
    VEC_EACH (row, rows, struct class_table_row) {
        struct class_entry *entry = whole_of(table, row->entry);
        entry->sums = row->sums;
        entry->thread_and_1 = thread + 1;
        class_entry__end_thread(entry);
        entry->has_calls |= row->has_calls;
        VEC_EACH (stack, &row->stacks, struct class_stack)
            class_stacks__add(&entry->stacks, stack);
        vec__free(&row->stacks);
    }
    if (sites->signatures)
        join_sites(table, thread, rows, sites);
    vec__free(rows);
}

static void take_texts(struct vec *into, struct vec *from)
{
    VEC_EACH (text, from, char *)
        vec__push(into, text);
    from->count = 0;
}

void class_table__join_lanes(struct class_table *table)
{
    for (unsigned i = 0; i < table->lane_count; i++) {
        struct class_table *lane = &table->lanes[i];
        VEC_EACH (entry, &lane->entries, struct class_entry *) {
            if (!(*entry)->whole) /* only asked for: no occurrence is of it */
                continue;
            class_entry__add_counts((*entry)->whole, *entry);
            class_entry__forget_results(*entry);
        }
        take_texts(&table->strings, &lane->strings);
        take_texts(&table->warnings, &lane->warnings);
        lane->is_joined = true;
    }
}

void class_table__share_nests(struct class_table *table)
{
    for (unsigned i = 0; table->signatures && i < table->lane_count; i++) {
        callee_signatures__free(table->lanes[i].signatures);
        table->lanes[i].signatures = callee_signatures__new();
        free(callee_signatures__join(table->lanes[i].signatures, table->signatures, NULL));
    }
}

void class_table__forget_lanes(struct class_table *table)
{
    for (unsigned i = 0; i < table->lane_count; i++)
        class_table__free(&table->lanes[i]);
    free(table->lanes);
    table->lanes = NULL;
    table->lane_count = 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

void class_table__begin_thread(struct class_table *table, uint32_t thread)
{
    table->thread = thread;
    table->is_aside = trace__thread_at(table->trace, thread)->is_aside;
}

void class_table__occupy(struct class_table *table, struct class_entry *entry)
{
    if (entry->thread_and_1)
        return;
    entry->thread_and_1 = table->thread + 1;
    vec__push(&table->occupied, &entry);
}

static void leave_thread(struct class_table *table)
{
    table->occupied.count = 0;
    const struct trace_thread *thread = trace__thread_at(table->trace, table->thread);
    struct function_table *functions = &table->functions[slot_of(table, thread->process)];
    VEC_EACH (place, &functions->used, size_t)
        functions->classes[*place] = NULL;
    functions->used.count = 0;
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

void class_table__add_stack(const struct class_table *table, const struct symbols *symbols,
                            struct class_entry *entry, uint32_t thread, uint64_t tick)
{
    const struct trace_thread *what = trace__thread_at(table->trace, thread);
    struct class_stack stack = {.snapshots = 1,
                                .process = trace__process_at(table->trace, what->process)->serial};
    if (symbols)
        stack.frame_count = symbols__get_stack(symbols, what->serial, tick, &stack.frames);
    if (stack.frame_count)
        class_stacks__add(&entry->stacks, &stack);
}

struct class_entry *class_table__part(struct class_table *table, struct class_entry *site,
                                      uint32_t signature)
{
    if (!site->division || signature == NEST_NONE)
        return site;
    uint32_t cut = callee_signatures__cut(table->signatures, signature, site->division->depth);
    VEC_EACH (part, &site->division->parts, struct class_part)
        if (part->signature == cut)
            return part->entry;
    return site;
}

bool class_table__has_parts(const struct class_table *table)
{
    VEC_EACH (entry, &table->entries, struct class_entry *)
        if ((*entry)->division)
            return true;
    return false;
}
