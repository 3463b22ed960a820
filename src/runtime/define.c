/* define.c: what a process image says about itself: modules, functions, notes. */
#include "runtime/runtime.h"

size_t text__length(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

void *bytes__copy(void *to, const void *from, size_t count)
{
    void *start = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    return start;
}

static uint8_t *place(struct heurt_chunk *chunk, uint32_t used)
{
    return (uint8_t *)(chunk + 1) + used;
}

static uint32_t capacity(const struct heurt_chunk *chunk)
{
    return (uint32_t)(chunk__units(chunk) * HEURT_UNIT_BYTES - sizeof *chunk);
}

#define DEFINITIONS_UNITS 4u

/* Room for a definition of that size, in a new chunk when need be. Called under the lock. */
static struct heurt_definition *room(uint32_t bytes)
{
    struct heurt_chunk *chunk = heurt_state.definitions;
    if (!chunk || heurt_state.definitions_used + bytes > capacity(chunk)) {
        uint32_t units = (uint32_t)((bytes + sizeof *chunk) / HEURT_UNIT_BYTES + 1);
        units = units < DEFINITIONS_UNITS ? DEFINITIONS_UNITS : units;
        struct heurt_chunk *fresh = chunk__claim(units, HEURT_CHUNK_DEFINITIONS, HEURT_NO_SERIAL,
                                                 heurt_state.definitions_sequence);
        if (!fresh)
            return NULL;
        heurt_state.definitions_sequence++;
        fresh->reserved[0] = chunk__unit(chunk);
        heurt_state.definitions = chunk = fresh;
        heurt_state.definitions_used = 0;
    }
    struct heurt_definition *definition = (void *)place(chunk, heurt_state.definitions_used);
    heurt_state.definitions_used += bytes;
    return definition;
}

static bool define(enum heurt_definition_type type, const struct text_part *parts, unsigned count)
{
    uint32_t bytes = sizeof(struct heurt_definition);
    for (unsigned i = 0; i < count; i++)
        bytes += (uint32_t)parts[i].length;
    bytes = (bytes + 7) & ~7u;
    struct heurt_definition *definition = room(bytes);
    if (!definition)
        return false;
    uint8_t *to = (uint8_t *)(definition + 1);
    for (unsigned i = 0; i < count; to += parts[i++].length)
        bytes__copy(to, parts[i].bytes, parts[i].length);
    definition->type = type;
    __atomic_store_n(&definition->bytes, bytes, __ATOMIC_RELEASE);
    return true;
}

bool define__parts(enum heurt_definition_type type, const struct text_part *parts, unsigned count)
{
    if (thread__in_seccomp(&heurt_thread))
        return false;
    uint64_t mask = signals__block();
    spin__lock(&heurt_state.definitions_lock);
    bool done = define(type, parts, count);
    spin__unlock(&heurt_state.definitions_lock);
    signals__restore(mask);
    return done;
}

void define__note(const char *sentence)
{
    define__parts(HEURT_DEFINITION_NOTE, &(struct text_part){sentence, text__length(sentence) + 1},
                  1);
}

void define__refusal(const char *function, const char *module, const char *reason)
{
    struct text_part parts[] = {
        {function, text__length(function) + 1},
        {module, text__length(module) + 1},
        {reason, text__length(reason) + 1},
    };
    define__parts(HEURT_DEFINITION_REFUSAL, parts, 3);
}

/* Those between LOOPS and LAST are the recorder's to give. */
static uint32_t next_id(void)
{
    uint32_t id = __atomic_load_n(&heurt_state.next_function, __ATOMIC_RELAXED), next;
    do {
        if (id > HEURT_FUNCTION_LAST)
            return 0;
        next = id + 2 == HEURT_EVENT_LOOPS ? HEURT_EVENT_LAST + 2 : id + 2;
    } while (!__atomic_compare_exchange_n(&heurt_state.next_function, &id, next, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return id;
}

uint32_t define__function(struct heurt_function *function, const char *name, const char *file,
                          const char *argument_names)
{
    struct text_part parts[] = {
        {function, sizeof *function},
        {name, text__length(name) + 1},
        {file, text__length(file) + 1},
        {argument_names, text__length(argument_names) + 1},
    };
    function->id = next_id();
    if (!function->id || !define__parts(HEURT_DEFINITION_FUNCTION, parts, 4))
        return 0;
    return function->id;
}

void define__process(uint32_t parent_process)
{
    struct heurt_process process = {
        .pid = heurt_state.pid,
        .parent_pid = (uint32_t)RAW0(getppid),
        .tick = clock__tick(),
        .parent_process = parent_process,
        .event_ticks = (uint16_t)heurt_state.event_ticks,
        .left_out_ticks = (uint16_t)heurt_state.left_out_ticks,
        .off_cpu_ticks = heurt_state.off_cpu_ticks,
        .fault_ticks = heurt_state.fault_ticks,
    };
    char path[4096];
    long length = RAW3(readlink, "/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    struct text_part parts[] = {{&process, sizeof process}, {path, text__length(path) + 1}};
    define__parts(HEURT_DEFINITION_PROCESS, parts, 2);
}

void define__costs(uint64_t begin_ns)
{
    struct heurt_process_costs costs = {begin_ns, heurt_state.session->thread_cost_ns};
    define__parts(HEURT_DEFINITION_COSTS, &(struct text_part){&costs, sizeof costs}, 1);
}

void define__object(const void *address, const char *name)
{
    struct heurt_object_name object = {clock__tick(), (uintptr_t)address};
    struct text_part parts[] = {{&object, sizeof object}, {name, text__length(name) + 1}};
    define__parts(HEURT_DEFINITION_OBJECT, parts, 2);
}

void define__thread_name(struct thread *thread)
{
    struct heurt_thread_name definition = {.thread = thread->serial};
    if (thread__in_seccomp(thread) || RAW2(prctl, 16 /* PR_GET_NAME */, definition.name) != 0)
        return;
    bool same = true;
    for (unsigned i = 0; i < sizeof thread->name; i++) {
        same = same && thread->name[i] == definition.name[i];
        thread->name[i] = definition.name[i];
    }
    if (!same)
        define__parts(HEURT_DEFINITION_THREAD_NAME,
                      &(struct text_part){&definition, sizeof definition}, 1);
}

static void repeat(const struct heurt_chunk *chunk, uint32_t used)
{
    for (uint32_t at = 0; at + sizeof(struct heurt_definition) <= used;) {
        const struct heurt_definition *definition =
            (const void *)((const uint8_t *)(chunk + 1) + at);
        uint32_t bytes = __atomic_load_n(&definition->bytes, __ATOMIC_ACQUIRE);
        if (bytes < sizeof *definition || bytes > used - at)
            break;
        if (definition->type == HEURT_DEFINITION_MODULE ||
            definition->type == HEURT_DEFINITION_MODULE_GONE ||
            definition->type == HEURT_DEFINITION_FUNCTION ||
            definition->type == HEURT_DEFINITION_LIVE)
            define__parts(definition->type,
                          &(struct text_part){definition + 1, bytes - sizeof *definition}, 1);
        at += bytes;
    }
}

void define__inherited(const struct heurt_chunk *last_of_parent, uint64_t chunks, uint32_t used)
{
    /* From the first chunk on: the list leads backwards, so walk it once for each. */
    for (uint64_t back = chunks; back-- > 0;) {
        const struct heurt_chunk *chunk = last_of_parent;
        for (uint64_t i = 0; chunk && i < back; i++)
            chunk = chunk__at(chunk->reserved[0]);
        if (chunk)
            repeat(chunk, back ? capacity(chunk) : used);
    }
}
