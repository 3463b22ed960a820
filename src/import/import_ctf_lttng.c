/* Events of LTTng-UST in CTF: what its libraries tell by themselves when they are preloaded
 * (lttng-ust-cyg-profile(3), liblttng-ust-pthread-wrapper), and where files are mapped
 * (lttng_ust_statedump, lttng_ust_lib).
 *
 * Threads are told by the contexts vpid and vtid. An unlock is told when it is over: where another
 * thread has the mutex before, it was released then. */
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "import/import_addresses.h"
#include "import/import_ctf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What took no longer was no wait: LTTng does not tell whether a mutex was free. */
#define AT_ONCE_NS 1000

enum lttng_kind {
    LTTNG_ENTRY = 1,
    LTTNG_EXIT,
    LTTNG_REQUESTED,
    LTTNG_ACQUIRED,
    LTTNG_TRIED,
    LTTNG_UNLOCKED,
    LTTNG_MAPPED,
    LTTNG_BUILD_ID,
    LTTNG_UNMAPPED,
    LTTNG_PROCESS,
    LTTNG_OF_NO_USE,
};

static const struct {
    const char *name;
    enum lttng_kind kind;
} kinds[] = {
    {"lttng_ust_cyg_profile:func_entry", LTTNG_ENTRY},
    {"lttng_ust_cyg_profile:func_exit", LTTNG_EXIT},
    {"lttng_ust_cyg_profile_fast:func_entry", LTTNG_ENTRY},
    {"lttng_ust_cyg_profile_fast:func_exit", LTTNG_EXIT},
    {"lttng_ust_pthread:pthread_mutex_lock_req", LTTNG_REQUESTED},
    {"lttng_ust_pthread:pthread_mutex_lock_acq", LTTNG_ACQUIRED},
    {"lttng_ust_pthread:pthread_mutex_trylock", LTTNG_TRIED},
    {"lttng_ust_pthread:pthread_mutex_unlock", LTTNG_UNLOCKED},
    {"lttng_ust_statedump:bin_info", LTTNG_MAPPED},
    {"lttng_ust_statedump:build_id", LTTNG_BUILD_ID},
    {"lttng_ust_lib:load", LTTNG_MAPPED},
    {"lttng_ust_lib:build_id", LTTNG_BUILD_ID},
    {"lttng_ust_lib:unload", LTTNG_UNMAPPED},
    {"lttng_ust_statedump:procname", LTTNG_PROCESS},
    {"lttng_ust_statedump:start", LTTNG_OF_NO_USE},
    {"lttng_ust_statedump:end", LTTNG_OF_NO_USE},
    {"lttng_ust_statedump:debug_link", LTTNG_OF_NO_USE},
    {"lttng_ust_lib:debug_link", LTTNG_OF_NO_USE},
};

struct lttng_thread {
    uint32_t pid, tid, thread; /* the import's number */
    int64_t requested_ns;      /* the mutex that it waits for */
    uint64_t requested;        /* 0: none */
    uint64_t site;             /* of its last acquisition */
};

struct lttng_mutex {
    uint32_t holder; /* place in threads + 1; 0: nobody */
    uint32_t depth;  /* so often has it been locked */
};

struct lttng_reading {
    struct import *import;
    struct import_addresses *addresses;
    struct map by_tid;    /* pid, tid -> place in threads */
    struct vec threads;   /* struct lttng_thread */
    struct map by_object; /* pid, mutex -> place in mutexes */
    struct vec mutexes;   /* struct lttng_mutex */
    uint64_t without_thread;
    bool has_mapping; /* whose build id may be told by the next event: */
    struct import_mapping mapping;
    char path[4096];
    uint8_t build_id[HEURT_BUILD_ID_MAX];
};

static void *start(struct import *import)
{
    struct lttng_reading *reading = memory__zeroed(1, sizeof *reading);
    reading->import = import;
    reading->addresses = import_addresses__new(import);
    reading->threads = VEC_OF(struct lttng_thread);
    reading->mutexes = VEC_OF(struct lttng_mutex);
    return reading;
}

static uint32_t kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return 0;
}

/* ---- who and where --------------------------------------------------------------------------- */

/* NULL: it is not told, or there are too many. */
static struct lttng_thread *thread_of(struct lttng_reading *reading, const struct ctf_told *event)
{
    const uint32_t key[] = {(uint32_t)ctf__number(event->context, "vpid"),
                            (uint32_t)ctf__number(event->context, "vtid")};
    if (key[0] == 0 || key[1] == 0) {
        reading->without_thread++;
        return NULL;
    }
    uint64_t place = map__put(&reading->by_tid, key, sizeof key, reading->threads.count);
    if (place == reading->threads.count) {
        const char *name = ctf__text(event->context, "procname");
        import__process(reading->import, key[0], 0, name);
        const struct lttng_thread thread = {
            .pid = key[0],
            .tid = key[1],
            .thread = import__thread(reading->import, key[0], key[1], name)};
        vec__push(&reading->threads, &thread);
    }
    struct lttng_thread *thread = VEC_AT(&reading->threads, struct lttng_thread, place);
    return thread->thread == UINT32_MAX ? NULL : thread;
}

static void map_now(struct lttng_reading *reading)
{
    if (reading->has_mapping)
        import_addresses__map(reading->addresses, &reading->mapping);
    reading->has_mapping = false;
}

static void map_file(struct lttng_reading *reading, const struct ctf_told *event)
{
    const char *path = ctf__text(event->fields, "path");
    uint64_t start_at = ctf__number(event->fields, "baddr");
    uint64_t bytes = ctf__number(event->fields, "memsz");
    map_now(reading);
    if (!path)
        return;
    strncpy(reading->path, path, sizeof reading->path - 1);
    reading->mapping = (struct import_mapping){.pid = (uint32_t)ctf__number(event->context, "vpid"),
                                               .start = start_at,
                                               .end = start_at + bytes,
                                               .path = reading->path};
    reading->has_mapping = true;
}

static void take_build_id(struct lttng_reading *reading, const struct ctf_told *event)
{
    uint64_t bytes[HEURT_BUILD_ID_MAX];
    size_t count = ctf__numbers(event->fields, "build_id", bytes, HEURT_BUILD_ID_MAX);
    if (!reading->has_mapping || ctf__number(event->fields, "baddr") != reading->mapping.start)
        return;
    for (size_t i = 0; i < count; i++)
        reading->build_id[i] = (uint8_t)bytes[i];
    reading->mapping.build_id = reading->build_id;
    reading->mapping.build_id_bytes = count;
}

/* ---- functions ------------------------------------------------------------------------------- */

static uint32_t function_at(struct lttng_reading *reading, const struct lttng_thread *thread,
                            uint64_t address)
{
    uint32_t id =
        import_addresses__function(reading->addresses, thread->thread, thread->pid, address);
    if (id != UINT32_MAX)
        return id;
    char *unnamed = memory__format("[0x%" PRIx64 "]", address);
    id = import__function(reading->import, thread->thread, unnamed, NULL, NULL, 0);
    free(unnamed);
    return id;
}

static void enter(struct lttng_reading *reading, struct lttng_thread *thread,
                  const struct ctf_told *event)
{
    uint32_t id = function_at(reading, thread, ctf__number(event->fields, "addr"));
    import__enter(reading->import, thread->thread, event->ns, id);
}

/* The fast library does not tell which function ends. */
static void leave(struct lttng_reading *reading, struct lttng_thread *thread,
                  const struct ctf_told *event)
{
    if (!ctf__has(event->fields, "addr"))
        import__leave_innermost(reading->import, thread->thread, event->ns);
    else
        import__leave(reading->import, thread->thread, event->ns,
                      function_at(reading, thread, ctf__number(event->fields, "addr")));
}

/* ---- mutexes --------------------------------------------------------------------------------- */

static struct lttng_mutex *mutex_of(struct lttng_reading *reading,
                                    const struct lttng_thread *thread, uint64_t object)
{
    const uint64_t key[] = {thread->pid, object};
    uint64_t place = map__put(&reading->by_object, key, sizeof key, reading->mutexes.count);
    if (place == reading->mutexes.count) {
        vec__push(&reading->mutexes, NULL);
        import_addresses__name_object(reading->addresses, thread->thread, thread->pid, object);
    }
    return VEC_AT(&reading->mutexes, struct lttng_mutex, place);
}

/* Where the context ip is recorded, it is in who called the function of pthreads. */
static uint64_t site_of(struct lttng_reading *reading, const struct lttng_thread *thread,
                        const struct ctf_told *event)
{
    uint64_t address = ctf__number(event->context, "ip");
    uint64_t site =
        address ? import_addresses__site(reading->addresses, thread->thread, thread->pid, address)
                : 0;
    return site ? site : import__innermost_site(reading->import, thread->thread);
}

static void release(struct lttng_reading *reading, const struct lttng_thread *thread, int64_t ns,
                    uint64_t object)
{
    const uint64_t payload[] = {HEURT_SITE(thread->site, HEURT_LOCK_MUTEX), object};
    import__event(reading->import, thread->thread, ns, HEURT_EVENT_LOCK_RELEASED, payload, 2);
}

/* The mutex is this thread's from then on. */
static void take_over(struct lttng_reading *reading, struct lttng_thread *thread, int64_t ns,
                      uint64_t object)
{
    struct lttng_mutex *mutex = mutex_of(reading, thread, object);
    uint32_t self = (uint32_t)(thread - (struct lttng_thread *)reading->threads.items) + 1;
    if (mutex->holder == self) {
        mutex->depth++;
        return;
    }
    if (mutex->holder) {
        struct lttng_thread *before =
            VEC_AT(&reading->threads, struct lttng_thread, mutex->holder - 1);
        release(reading, before, ns, object);
    }
    *mutex = (struct lttng_mutex){.holder = self, .depth = 1};
}

static void acquired(struct lttng_reading *reading, struct lttng_thread *thread,
                     const struct ctf_told *event)
{
    uint64_t object = ctf__number(event->fields, "mutex") & (HEURT_SHARED_OBJECT - 1);
    bool was_asked = thread->requested == object;
    bool waited = was_asked && event->ns - thread->requested_ns > AT_ONCE_NS;
    thread->requested = 0;
    thread->site = site_of(reading, thread, event);
    const uint64_t payload[] = {HEURT_SITE(thread->site, HEURT_LOCK_MUTEX), object};
    if (ctf__number(event->fields, "status") != 0)
        return;
    take_over(reading, thread, event->ns, object);
    if (!waited) {
        import__event(reading->import, thread->thread, event->ns, HEURT_EVENT_LOCK_ACQUIRED,
                      payload, 2);
        return;
    }
    import__event(reading->import, thread->thread, thread->requested_ns, HEURT_EVENT_LOCK_WAIT,
                  payload, 2);
    import__event(reading->import, thread->thread, event->ns, HEURT_EVENT_LOCK_WAIT | 1,
                  (const uint64_t[]){0}, 1);
}

static void tried(struct lttng_reading *reading, struct lttng_thread *thread,
                  const struct ctf_told *event)
{
    uint64_t object = ctf__number(event->fields, "mutex") & (HEURT_SHARED_OBJECT - 1);
    bool has = ctf__number(event->fields, "status") == 0;
    thread->site = site_of(reading, thread, event);
    if (has)
        take_over(reading, thread, event->ns, object);
    const uint64_t payload[] = {
        HEURT_SITE(thread->site, HEURT_LOCK_MUTEX | (has ? HEURT_LOCK_TRIED : 0)), object};
    import__event(reading->import, thread->thread, event->ns,
                  has ? HEURT_EVENT_LOCK_ACQUIRED : HEURT_EVENT_LOCK_BUSY, payload, 2);
}

/* Somebody else may have it by now, and it may have been locked more than once. */
static void unlocked(struct lttng_reading *reading, struct lttng_thread *thread,
                     const struct ctf_told *event)
{
    uint64_t object = ctf__number(event->fields, "mutex") & (HEURT_SHARED_OBJECT - 1);
    struct lttng_mutex *mutex = mutex_of(reading, thread, object);
    uint32_t self = (uint32_t)(thread - (struct lttng_thread *)reading->threads.items) + 1;
    if (ctf__number(event->fields, "status") != 0 || mutex->holder != self || --mutex->depth)
        return;
    mutex->holder = 0;
    release(reading, thread, event->ns, object);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void take_of_thread(struct lttng_reading *reading, enum lttng_kind kind,
                           const struct ctf_told *event)
{
    struct lttng_thread *thread = thread_of(reading, event);
    if (!thread)
        return;
    if (kind == LTTNG_ENTRY)
        enter(reading, thread, event);
    else if (kind == LTTNG_EXIT)
        leave(reading, thread, event);
    else if (kind == LTTNG_REQUESTED) {
        thread->requested = ctf__number(event->fields, "mutex") & (HEURT_SHARED_OBJECT - 1);
        thread->requested_ns = event->ns;
    } else if (kind == LTTNG_ACQUIRED)
        acquired(reading, thread, event);
    else if (kind == LTTNG_TRIED)
        tried(reading, thread, event);
    else
        unlocked(reading, thread, event);
}

static void take(void *self, uint32_t kind, const struct ctf_told *event)
{
    struct lttng_reading *reading = self;
    if (kind != LTTNG_BUILD_ID && kind != LTTNG_OF_NO_USE)
        map_now(reading);
    if (kind < LTTNG_MAPPED)
        take_of_thread(reading, (enum lttng_kind)kind, event);
    else if (kind == LTTNG_MAPPED)
        map_file(reading, event);
    else if (kind == LTTNG_BUILD_ID)
        take_build_id(reading, event);
    else if (kind == LTTNG_UNMAPPED)
        import_addresses__unmap(reading->addresses, (uint32_t)ctf__number(event->context, "vpid"),
                                ctf__number(event->fields, "baddr"));
    else if (kind == LTTNG_PROCESS && ctf__number(event->context, "vpid"))
        import__process(reading->import, (uint32_t)ctf__number(event->context, "vpid"), 0,
                        ctf__text(event->fields, "procname"));
}

static int finish(void *self, struct error *error)
{
    struct lttng_reading *reading = self;
    bool none = reading->without_thread && reading->threads.count == 0;
    import_addresses__free(reading->addresses);
    vec__free(&reading->threads);
    vec__free(&reading->mutexes);
    map__free(&reading->by_tid);
    map__free(&reading->by_object);
    free(reading);
    return none ? error__set(error, -EINVAL,
                             "the trace does not tell which thread did what: record it with "
                             "\"lttng add-context -u -t vpid -t vtid\"")
                : 0;
}

const struct ctf_meaning ctf_lttng = {
    "LTTng-UST in CTF",
    "no off-CPU times, no waits but for mutexes, of which those of 1 us or less count as none",
    start,
    kind_named,
    take,
    finish};
