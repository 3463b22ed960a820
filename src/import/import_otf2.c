/* OTF2 archives (Score-P, EZTrace, heurt itself), read by libotf2: the anchor file, or its
 * directory.
 *
 * Regions become calls; those of pthreads that have their object as an attribute (EZTrace) become
 * waits for locks, at barriers, semaphores and conditions, and so do acquisitions and releases
 * that are events of their own. A location is a thread, its group a process. */
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "import/internal.h"

#include <otf2/otf2.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFINITIONS_MAX 10000000u

struct otf2_region {
    OTF2_StringRef name, canonical, file;
    uint32_t line;
    const struct otf2_call *call; /* NULL: a call like others */
};

struct otf2_location {
    OTF2_LocationRef ref;
    OTF2_StringRef name;
    uint32_t group;
    uint32_t thread; /* the import's number */
};

struct otf2_group {
    uint32_t ref;
    OTF2_StringRef name;
};

struct otf2_reading {
    struct import *import;
    OTF2_Reader *reader;
    struct vec strings;   /* char *, by reference; NULL: not told */
    struct vec regions;   /* struct otf2_region, likewise */
    struct vec locations; /* struct otf2_location */
    struct vec groups;    /* struct otf2_group */
    uint64_t ticks_a_second;
    bool is_own;         /* heurt wrote it: what is no wait has an acquisition instead */
    bool has_ended;      /* the thread of the location, */
    int64_t ended_ns;    /* then */
    uint64_t waited_for; /* the lock that the last event of the location was a wait for; 0: none */
    struct otf2_location *location; /* that is read */
    struct vec open;                /* struct otf2_open: calls that are waits, of it */
    struct map kinds;               /* by object: places in */
    struct vec kind_of;             /* uint32_t: HEURT_LOCK_… of its release */
};

/* ---- calls with a meaning -------------------------------------------------------------------- */

enum otf2_effect { OTF2_WAITS, OTF2_POINT_AT_ENTER };

struct otf2_call {
    const char *name;
    enum otf2_effect effect;
    uint32_t id, how;
    uint32_t words;    /* of the enter's payload */
    uint32_t at_once;  /* the event in place of a wait that was none; 0: there is none */
    bool needs_object; /* without it it is a call like others */
};

static const struct otf2_call calls[] = {
    {"pthread_mutex_lock", OTF2_WAITS, HEURT_EVENT_LOCK_WAIT, HEURT_LOCK_MUTEX, 2,
     HEURT_EVENT_LOCK_ACQUIRED, true},
    {"pthread_spin_lock", OTF2_WAITS, HEURT_EVENT_LOCK_WAIT, HEURT_LOCK_SPIN, 2,
     HEURT_EVENT_LOCK_ACQUIRED, true},
    {"pthread_rwlock_rdlock", OTF2_WAITS, HEURT_EVENT_LOCK_WAIT, HEURT_LOCK_READ, 2,
     HEURT_EVENT_LOCK_ACQUIRED, true},
    {"pthread_rwlock_wrlock", OTF2_WAITS, HEURT_EVENT_LOCK_WAIT, HEURT_LOCK_WRITE, 2,
     HEURT_EVENT_LOCK_ACQUIRED, true},
    {"flockfile", OTF2_WAITS, HEURT_EVENT_LOCK_WAIT, HEURT_LOCK_STREAM, 2,
     HEURT_EVENT_LOCK_ACQUIRED, true},
    {"omp critical", OTF2_WAITS, HEURT_EVENT_LOCK_WAIT, HEURT_LOCK_CRITICAL, 2,
     HEURT_EVENT_LOCK_ACQUIRED, true},
    {"omp_set_lock", OTF2_WAITS, HEURT_EVENT_LOCK_WAIT, HEURT_LOCK_OPENMP, 2,
     HEURT_EVENT_LOCK_ACQUIRED, true},
    {"pthread_mutex_unlock", OTF2_POINT_AT_ENTER, HEURT_EVENT_LOCK_RELEASED, HEURT_LOCK_MUTEX, 2, 0,
     true},
    {"pthread_spin_unlock", OTF2_POINT_AT_ENTER, HEURT_EVENT_LOCK_RELEASED, HEURT_LOCK_SPIN, 2, 0,
     true},
    {"pthread_rwlock_unlock", OTF2_POINT_AT_ENTER, HEURT_EVENT_LOCK_RELEASED, HEURT_LOCK_RW_ANY, 2,
     0, true},
    {"pthread_barrier_wait", OTF2_WAITS, HEURT_EVENT_BARRIER_WAIT, 0, 2, 0, true},
    {"sem_wait", OTF2_WAITS, HEURT_EVENT_SEMAPHORE_WAIT, 0, 2, HEURT_EVENT_SEMAPHORE_ACQUIRED,
     true},
    {"sem_post", OTF2_POINT_AT_ENTER, HEURT_EVENT_SEMAPHORE_POSTED, 0, 2, 0, true},
    {"pthread_cond_wait", OTF2_WAITS, HEURT_EVENT_CONDITION_WAIT, 0, 3, 0, true},
    {"pthread_cond_timedwait", OTF2_WAITS, HEURT_EVENT_CONDITION_WAIT, 0, 3, 0, true},
    {"pthread_cond_signal", OTF2_POINT_AT_ENTER, HEURT_EVENT_CONDITION_SIGNALLED, 0, 2, 0, true},
    {"pthread_cond_broadcast", OTF2_POINT_AT_ENTER, HEURT_EVENT_CONDITION_SIGNALLED, 1, 2, 0, true},
    {"pthread_join", OTF2_WAITS, HEURT_EVENT_JOIN, 0, 2, 0, false},
};

static const struct otf2_call *call_named(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

/* A wait that is open, or a call that was told as a point. */
struct otf2_open {
    OTF2_RegionRef region;
    const struct otf2_call *call; /* NULL: a call like others */
    uint64_t payload[3];
    int64_t from_ns;
};

/* ---- definitions ----------------------------------------------------------------------------- */

static const char *string_of(const struct otf2_reading *reading, OTF2_StringRef ref)
{
    return ref < reading->strings.count ? *VEC_AT(&reading->strings, char *, ref) : NULL;
}

static OTF2_CallbackCode take_string(void *user, OTF2_StringRef self, const char *text)
{
    struct otf2_reading *reading = user;
    if (self >= DEFINITIONS_MAX)
        return OTF2_CALLBACK_SUCCESS;
    char **place = VEC_REACH(&reading->strings, char *, self);
    free(*place);
    *place = memory__text(text);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                     OTF2_StringRef canonical, OTF2_StringRef description,
                                     OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                     OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                     uint32_t end)
{
    struct otf2_reading *reading = user;
    (void)description, (void)role, (void)paradigm, (void)flags, (void)end;
    if (self < DEFINITIONS_MAX)
        *VEC_REACH(&reading->regions, struct otf2_region, self) =
            (struct otf2_region){name, canonical, file, begin, NULL};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_group(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef creator)
{
    struct otf2_reading *reading = user;
    (void)type, (void)parent, (void)creator;
    const struct otf2_group group = {self, name};
    vec__push(&reading->groups, &group);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                                       OTF2_LocationType type, uint64_t events,
                                       OTF2_LocationGroupRef group)
{
    struct otf2_reading *reading = user;
    (void)events;
    const struct otf2_location location = {self, name, group, UINT32_MAX};
    if (type == OTF2_LOCATION_TYPE_CPU_THREAD && reading->locations.count < IMPORT_THREADS_MAX)
        vec__push(&reading->locations, &location);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_clock(void *user, uint64_t resolution, uint64_t offset,
                                    uint64_t length, uint64_t realtime)
{
    struct otf2_reading *reading = user;
    (void)offset, (void)length, (void)realtime;
    if (resolution)
        reading->ticks_a_second = resolution;
    return OTF2_CALLBACK_SUCCESS;
}

static void read_definitions(struct otf2_reading *reading)
{
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reading->reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    uint64_t count;
    if (!definitions || !callbacks)
        return;
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, take_string);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, take_region);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, take_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, take_location);
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, take_clock);
    OTF2_Reader_RegisterGlobalDefCallbacks(reading->reader, definitions, callbacks, reading);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    if (OTF2_Reader_ReadAllGlobalDefinitions(reading->reader, definitions, &count) != OTF2_SUCCESS)
        import__pass_over(reading->import, "definitions that are damaged");
}

/* The number in "name (4711)", as heurt writes it, or otherwise. */
static uint32_t number_in(const char *name, uint32_t otherwise)
{
    const char *at = name ? strrchr(name, '(') : NULL;
    unsigned long number = at ? strtoul(at + 1, NULL, 10) : 0;
    return number && number < UINT32_MAX ? (uint32_t)number : otherwise;
}

/* Without that number. free() it. */
static char *name_in(const char *name)
{
    const char *at = strrchr(name, '(');
    size_t length = at && at > name && at[-1] == ' ' ? (size_t)(at - name) - 1 : strlen(name);
    return memory__format("%.*s", (int)length, name);
}

static uint32_t pid_of(struct otf2_reading *reading, uint32_t ref)
{
    VEC_EACH (group, &reading->groups, struct otf2_group) {
        const char *name = string_of(reading, group->name);
        if (group->ref != ref)
            continue;
        uint32_t pid = number_in(name, ref + 1);
        char *path = name_in(name ? name : "");
        import__process(reading->import, pid, 0, path);
        free(path);
        return pid;
    }
    return ref + 1;
}

static void define_threads(struct otf2_reading *reading)
{
    uint32_t place = 0;
    VEC_EACH (location, &reading->locations, struct otf2_location) {
        const char *told = string_of(reading, location->name);
        char *name = name_in(told ? told : "");
        location->thread = import__thread(reading->import, pid_of(reading, location->group),
                                          number_in(told, ++place), name);
        free(name);
    }
    VEC_EACH (region, &reading->regions, struct otf2_region) {
        const char *name = string_of(reading, region->name);
        region->call = name ? call_named(name) : NULL;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static int64_t ns_of(const struct otf2_reading *reading, OTF2_TimeStamp time)
{
    unsigned __int128 ns = (unsigned __int128)time * 1000000000u / reading->ticks_a_second;
    return (int64_t)(ns > INT64_MAX ? INT64_MAX : ns);
}

/* The first attributes that are numbers or names of objects: the object, and a mutex. */
static unsigned objects_of(const OTF2_AttributeList *list, uint64_t objects[2])
{
    unsigned found = 0;
    uint32_t count = list ? OTF2_AttributeList_GetNumberOfElements(list) : 0;
    for (uint32_t i = 0; i < count && found < 2; i++) {
        OTF2_AttributeRef attribute;
        OTF2_Type type;
        OTF2_AttributeValue value;
        if (OTF2_AttributeList_GetAttributeByIndex(list, i, &attribute, &type, &value) ==
                OTF2_SUCCESS &&
            type == OTF2_TYPE_UINT64)
            objects[found++] = value.uint64 & (HEURT_SHARED_OBJECT - 1);
    }
    return found;
}

static const struct otf2_region *region_at(const struct otf2_reading *reading, OTF2_RegionRef ref)
{
    return ref < reading->regions.count ? VEC_AT(&reading->regions, struct otf2_region, ref) : NULL;
}

/* heurt's own archives have the caller as the canonical name. */
static uint64_t site_of(struct otf2_reading *reading, const struct otf2_region *region)
{
    OTF2_StringRef name = reading->is_own ? region->canonical : region->name;
    return import__site(reading->import, reading->location->thread, string_of(reading, name), NULL,
                        string_of(reading, region->file), region->line);
}

static uint32_t function_of(struct otf2_reading *reading, const struct otf2_region *region)
{
    return import__function(reading->import, reading->location->thread,
                            string_of(reading, region->name), NULL,
                            string_of(reading, region->file), region->line);
}

static OTF2_CallbackCode enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                               void *user, OTF2_AttributeList *list, OTF2_RegionRef ref)
{
    struct otf2_reading *reading = user;
    const struct otf2_region *region = region_at(reading, ref);
    uint64_t objects[2] = {0};
    (void)location, (void)position;
    struct otf2_open open = {.region = ref, .from_ns = ns_of(reading, time)};
    if (!region || reading->open.count >= 10000) {
        import__pass_over(reading->import, "calls of regions that are not defined");
        return OTF2_CALLBACK_SUCCESS;
    }
    unsigned found = objects_of(list, objects);
    reading->waited_for = 0;
    if (region->call && (found || !region->call->needs_object)) {
        open.call = region->call;
        open.payload[0] = HEURT_SITE(site_of(reading, region), region->call->how);
        open.payload[1] = objects[0];
        open.payload[2] = objects[1];
    }
    if (!open.call)
        import__enter(reading->import, reading->location->thread, open.from_ns,
                      function_of(reading, region));
    else if (open.call->effect == OTF2_POINT_AT_ENTER)
        import__event(reading->import, reading->location->thread, open.from_ns, open.call->id,
                      open.payload, open.call->words);
    vec__push(&reading->open, &open);
    return OTF2_CALLBACK_SUCCESS;
}

/* No source tells whether a lock had to be waited for: what took no longer than this had not. */
#define AT_ONCE_NS 1000

static void tell_wait(struct otf2_reading *reading, const struct otf2_open *open, int64_t ns)
{
    uint32_t thread = reading->location->thread;
    const struct otf2_call *call = open->call;
    if (call->at_once && !reading->is_own && ns - open->from_ns <= AT_ONCE_NS) {
        import__event(reading->import, thread, ns, call->at_once, open->payload, 2);
        return;
    }
    import__event(reading->import, thread, open->from_ns, call->id, open->payload, call->words);
    import__event(reading->import, thread, ns, call->id | 1, (const uint64_t[]){0}, 1);
    if (call->id == HEURT_EVENT_LOCK_WAIT)
        reading->waited_for = open->payload[1];
}

static OTF2_CallbackCode leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                               void *user, OTF2_AttributeList *list, OTF2_RegionRef ref)
{
    struct otf2_reading *reading = user;
    (void)location, (void)position, (void)list;
    int64_t ns = ns_of(reading, time);
    struct otf2_open *open = reading->open.count
                                 ? VEC_AT(&reading->open, struct otf2_open, reading->open.count - 1)
                                 : NULL;
    if (!open || open->region != ref) {
        import__pass_over(reading->import, "ends of calls that are not the innermost");
        return OTF2_CALLBACK_SUCCESS;
    }
    if (!open->call)
        import__leave_innermost(reading->import, reading->location->thread, ns);
    else if (open->call->effect == OTF2_WAITS)
        tell_wait(reading, open, ns);
    reading->open.count--;
    return import__is_full(reading->import) ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static bool is_waiting_for(const struct otf2_reading *reading, uint64_t object)
{
    const struct otf2_open *open =
        reading->open.count ? VEC_AT(&reading->open, struct otf2_open, reading->open.count - 1)
                            : NULL;
    return open && open->call && open->call->id == HEURT_EVENT_LOCK_WAIT &&
           open->payload[1] == object;
}

/* By what heurt's own archives call a lock: its kind, and behind it its name. */
static uint32_t kind_of_lock(const char *name, bool is_shared)
{
    static const struct {
        const char *begins;
        uint32_t kind;
    } kinds[] = {
        {"rwlock ", HEURT_LOCK_WRITE},
        {"spin lock ", HEURT_LOCK_SPIN},
        {"FILE ", HEURT_LOCK_STREAM},
        {"file lock ", HEURT_LOCK_FILE},
        {"critical section ", HEURT_LOCK_CRITICAL},
        {"ordered section ", HEURT_LOCK_ORDERED},
        {"OpenMP lock ", HEURT_LOCK_OPENMP},
    };
    for (size_t i = 0; name && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(name, kinds[i].begins, strlen(kinds[i].begins)) == 0)
            return kinds[i].kind == HEURT_LOCK_WRITE && is_shared ? HEURT_LOCK_READ : kinds[i].kind;
    return HEURT_LOCK_MUTEX;
}

enum { OWN_NAME = 2, OWN_SHARED = 3 }; /* attributes of heurt's own archives */

/* Told with its acquisition; kept for its release. */
static uint32_t learn_kind(struct otf2_reading *reading, uint64_t object,
                           const OTF2_AttributeList *list)
{
    OTF2_StringRef name;
    uint8_t is_shared = 0;
    if (!reading->is_own || !list ||
        OTF2_AttributeList_GetStringRef(list, OWN_NAME, &name) != OTF2_SUCCESS)
        return HEURT_LOCK_MUTEX;
    OTF2_AttributeList_GetUint8(list, OWN_SHARED, &is_shared);
    uint32_t kind = kind_of_lock(string_of(reading, name), is_shared);
    bool is_rwlock = kind == HEURT_LOCK_READ || kind == HEURT_LOCK_WRITE;
    uint64_t place = map__put(&reading->kinds, &object, sizeof object, reading->kind_of.count);
    *VEC_REACH(&reading->kind_of, uint32_t, place) = is_rwlock ? HEURT_LOCK_RW_ANY : kind;
    return kind;
}

static uint32_t kind_of_release(const struct otf2_reading *reading, uint64_t object)
{
    uint64_t place = map__get(&reading->kinds, &object, sizeof object);
    return place == MAP_ABSENT ? HEURT_LOCK_MUTEX : *VEC_AT(&reading->kind_of, uint32_t, place);
}

/* An acquisition that is an event of its own: of a lock that was free, unless a wait for it ends
 * there. */
static OTF2_CallbackCode acquire(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *user, OTF2_AttributeList *list, OTF2_Paradigm paradigm,
                                 uint32_t lock, uint32_t order)
{
    struct otf2_reading *reading = user;
    uint64_t objects[2] = {lock + 1u};
    OTF2_RegionRef place;
    (void)location, (void)position, (void)paradigm, (void)order;
    objects_of(list, objects);
    uint32_t kind = learn_kind(reading, objects[0], list);
    bool waited = reading->waited_for == objects[0] || is_waiting_for(reading, objects[0]);
    reading->waited_for = 0;
    if (waited)
        return OTF2_CALLBACK_SUCCESS;
    const struct otf2_region *region =
        list && OTF2_AttributeList_GetRegionRef(list, 1, &place) == OTF2_SUCCESS
            ? region_at(reading, place)
            : NULL;
    const uint64_t payload[] = {HEURT_SITE(region ? site_of(reading, region) : 0, kind),
                                objects[0]};
    import__event(reading->import, reading->location->thread, ns_of(reading, time),
                  HEURT_EVENT_LOCK_ACQUIRED, payload, 2);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode release(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *user, OTF2_AttributeList *list, OTF2_Paradigm paradigm,
                                 uint32_t lock, uint32_t order)
{
    struct otf2_reading *reading = user;
    uint64_t objects[2] = {lock + 1u};
    (void)location, (void)position, (void)paradigm, (void)order;
    objects_of(list, objects);
    reading->waited_for = 0;
    import__event(
        reading->import, reading->location->thread, ns_of(reading, time), HEURT_EVENT_LOCK_RELEASED,
        (const uint64_t[]){HEURT_SITE(0, kind_of_release(reading, objects[0])), objects[0]}, 2);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode thread_begins(OTF2_LocationRef location, OTF2_TimeStamp time,
                                       uint64_t position, void *user, OTF2_AttributeList *list,
                                       OTF2_CommRef contingent, uint64_t sequence)
{
    struct otf2_reading *reading = user;
    (void)location, (void)position, (void)list, (void)contingent, (void)sequence;
    import__begin(reading->import, reading->location->thread, ns_of(reading, time));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode thread_ends(OTF2_LocationRef location, OTF2_TimeStamp time,
                                     uint64_t position, void *user, OTF2_AttributeList *list,
                                     OTF2_CommRef contingent, uint64_t sequence)
{
    struct otf2_reading *reading = user;
    (void)location, (void)position, (void)list, (void)contingent, (void)sequence;
    reading->ended_ns = ns_of(reading, time);
    reading->has_ended = true;
    return OTF2_CALLBACK_SUCCESS;
}

static void read_location(struct otf2_reading *reading, struct otf2_location *location)
{
    uint64_t count;
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reading->reader, location->ref);
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    reading->location = location;
    reading->open.count = 0;
    reading->waited_for = 0;
    reading->has_ended = false;
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, leave);
    OTF2_EvtReaderCallbacks_SetThreadBeginCallback(callbacks, thread_begins);
    OTF2_EvtReaderCallbacks_SetThreadEndCallback(callbacks, thread_ends);
    OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(callbacks, acquire);
    OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(callbacks, release);
    if (events && location->thread != UINT32_MAX) {
        OTF2_Reader_RegisterEvtCallbacks(reading->reader, events, callbacks, reading);
        if (OTF2_Reader_ReadAllLocalEvents(reading->reader, events, &count) != OTF2_SUCCESS)
            import__pass_over(reading->import, "events that are damaged");
        OTF2_Reader_CloseEvtReader(reading->reader, events);
        if (reading->has_ended)
            import__end(reading->import, location->thread, reading->ended_ns);
    }
    OTF2_EvtReaderCallbacks_Delete(callbacks);
}

static void read_local_definitions(struct otf2_reading *reading)
{
    uint64_t count;
    if (OTF2_Reader_OpenDefFiles(reading->reader) != OTF2_SUCCESS)
        return;
    VEC_EACH (location, &reading->locations, struct otf2_location) {
        OTF2_DefReader *definitions = OTF2_Reader_GetDefReader(reading->reader, location->ref);
        if (!definitions)
            continue;
        OTF2_Reader_ReadAllLocalDefinitions(reading->reader, definitions, &count);
        OTF2_Reader_CloseDefReader(reading->reader, definitions);
    }
    OTF2_Reader_CloseDefFiles(reading->reader);
}

/* ---- the archive ----------------------------------------------------------------------------- */

/* Its own messages are not for whoever asked heurt. */
static OTF2_ErrorCode say_nothing(void *user, const char *file, uint64_t line, const char *function,
                                  OTF2_ErrorCode code, const char *format, va_list list)
{
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)list;
    return code;
}

/* The anchor file: the source, or the one in it that ends in .otf2; NULL: there is none. */
static char *anchor_of(const struct import_source *source)
{
    size_t length = strlen(source->path);
    char *found = NULL;
    if (!source->is_directory)
        return length > 5 && strcmp(source->path + length - 5, ".otf2") == 0
                   ? memory__text(source->path)
                   : NULL;
    DIR *directory = opendir(source->path);
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".otf2") == 0)
            found = memory__format("%s/%s", source->path, entry->d_name);
    }
    if (directory)
        closedir(directory);
    return found;
}

static bool recognises(const struct import_source *source)
{
    char *anchor = anchor_of(source);
    free(anchor);
    return anchor;
}

static void read_archive(struct otf2_reading *reading)
{
    read_definitions(reading);
    define_threads(reading);
    VEC_EACH (location, &reading->locations, struct otf2_location)
        OTF2_Reader_SelectLocation(reading->reader, location->ref);
    read_local_definitions(reading);
    if (OTF2_Reader_OpenEvtFiles(reading->reader) != OTF2_SUCCESS)
        return;
    VEC_EACH (location, &reading->locations, struct otf2_location)
        read_location(reading, location);
    OTF2_Reader_CloseEvtFiles(reading->reader);
}

static int import_otf2(const struct import_source *source, struct import *import,
                       struct error *error)
{
    char *anchor = anchor_of(source);
    struct otf2_reading reading = {.import = import,
                                   .strings = VEC_OF(char *),
                                   .regions = VEC_OF(struct otf2_region),
                                   .locations = VEC_OF(struct otf2_location),
                                   .groups = VEC_OF(struct otf2_group),
                                   .open = VEC_OF(struct otf2_open),
                                   .kind_of = VEC_OF(uint32_t),
                                   .ticks_a_second = 1000000000};
    OTF2_Error_RegisterCallback(say_nothing, NULL);
    reading.reader = anchor ? OTF2_Reader_Open(anchor) : NULL;
    free(anchor);
    if (!reading.reader)
        return error__set(error, -EINVAL, "%.200s is no OTF2 archive that can be read",
                          source->path);
    OTF2_Reader_SetSerialCollectiveCallbacks(reading.reader);
    char *creator = NULL;
    reading.is_own = OTF2_Reader_GetCreator(reading.reader, &creator) == OTF2_SUCCESS && creator &&
                     strcmp(creator, "heurt") == 0;
    free(creator);
    read_archive(&reading);
    OTF2_Reader_Close(reading.reader);
    texts__free(&reading.strings);
    vec__free(&reading.regions);
    vec__free(&reading.locations);
    vec__free(&reading.groups);
    vec__free(&reading.open);
    vec__free(&reading.kind_of);
    map__free(&reading.kinds);
    return 0;
}

const struct importer importer_otf2 = {"OTF2",
                                       "no off-CPU times; waits shorter than 1 us count as none",
                                       recognises, import_otf2, "libotf2"};
