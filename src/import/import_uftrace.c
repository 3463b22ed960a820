/* uftrace's data directories (its doc/uftrace-record.md and libmcount): info, task.txt, a file of
 * 16-byte records for each thread, a map for each session, and files of symbols.
 *
 *     record:  time ns (64) | type (2) more (1) magic 5 (3) depth (10) address (48)
 *
 * Records with arguments have them behind them; their lengths stand nowhere near, so the next
 * record is looked for by its magic and its time. */
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "import/internal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UFTRACE_MAGIC "Ftrace!"
#define RECORD_MAGIC 5u
#define GAP_BYTES_MAX 65536u        /* arguments are not longer */
#define AHEAD_NS_MAX 86400000000000 /* nor is a thread silent for longer than a day */
#define SYMBOLS_MAX 10000000u

enum uftrace_type { UFTRACE_ENTRY, UFTRACE_EXIT, UFTRACE_LOST, UFTRACE_EVENT };

struct uftrace_symbol {
    uint64_t address;
    char *name;
};

struct uftrace_module {
    uint64_t start, end;
    char *path;
    struct vec symbols; /* struct uftrace_symbol, by address, from start on */
};

struct uftrace_reading {
    const struct import_source *source;
    struct import *import;
    struct vec modules; /* struct uftrace_module: of all sessions */
    struct map names;   /* address -> function's id, of the thread that is read */
};

static FILE *open_file(const struct uftrace_reading *reading, const char *name, const char *ending)
{
    char *path = memory__format("%s/%s%s", reading->source->path, name, ending);
    FILE *file = fopen(path, "re");
    free(path);
    return file;
}

/* ---- symbols --------------------------------------------------------------------------------- */

static int by_address(const void *left, const void *right)
{
    return ORDER(((const struct uftrace_symbol *)left)->address,
                 ((const struct uftrace_symbol *)right)->address);
}

static void read_symbols(const struct uftrace_reading *reading, struct uftrace_module *module)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = open_file(reading, path__name(module->path), ".sym");
    while (file && getline(&line, &room, file) > 0 && module->symbols.count < SYMBOLS_MAX) {
        uint64_t address;
        char kind;
        int at = 0;
        if (sscanf(line, "%" SCNx64 " %c %n", &address, &kind, &at) < 2 || at == 0 || kind == '?')
            continue;
        line[strcspn(line, "\r\n")] = 0;
        const struct uftrace_symbol symbol = {address, memory__text(line + at)};
        vec__push(&module->symbols, &symbol);
    }
    vec__sort(&module->symbols, by_address);
    free(line);
    if (file)
        fclose(file);
}

/* "560b85cea000-560b85cef000 r-xp 00000000 00:00 0   /path build-id:…" */
static void read_map_line(struct uftrace_reading *reading, const char *line)
{
    struct uftrace_module module = {.symbols = VEC_OF(struct uftrace_symbol)};
    char path[1024];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %1023s", &module.start, &module.end,
               path) != 3 ||
        *path != '/' || reading->modules.count >= 100000)
        return;
    VEC_EACH (other, &reading->modules, struct uftrace_module)
        if (other->start == module.start && strcmp(other->path, path) == 0)
            return;
    module.path = memory__text(path);
    read_symbols(reading, &module);
    vec__push(&reading->modules, &module);
}

static void read_maps(struct uftrace_reading *reading)
{
    char *line = NULL;
    size_t room = 0;
    DIR *directory = opendir(reading->source->path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, "sid-", 4) != 0 || length < 8 ||
            strcmp(entry->d_name + length - 4, ".map") != 0)
            continue;
        FILE *file = open_file(reading, entry->d_name, "");
        while (file && getline(&line, &room, file) > 0)
            read_map_line(reading, line);
        if (file)
            fclose(file);
    }
    if (directory)
        closedir(directory);
    free(line);
}

static const struct uftrace_module *module_at(const struct uftrace_reading *reading,
                                              uint64_t address)
{
    VEC_EACH (module, &reading->modules, struct uftrace_module)
        if (address >= module->start && address < module->end)
            return module;
    return NULL;
}

static uint32_t function_at(struct uftrace_reading *reading, uint32_t thread, uint64_t address)
{
    uint64_t id = map__get(&reading->names, &address, sizeof address);
    if (id != MAP_ABSENT)
        return (uint32_t)id;
    const struct uftrace_module *module = module_at(reading, address);
    uint64_t inside = module ? address - module->start : 0;
    size_t place = module ? VEC_FIRST(symbol, &module->symbols, struct uftrace_symbol,
                                      symbol->address > inside)
                          : 0;
    char *unnamed = memory__format("<%" PRIx64 ">", address);
    id = import__function(reading->import, thread,
                          place ? VEC_AT(&module->symbols, struct uftrace_symbol, place - 1)->name
                                : unnamed,
                          module ? module->path : NULL, NULL, 0);
    free(unnamed);
    map__put(&reading->names, &address, sizeof address, id);
    return (uint32_t)id;
}

/* ---- records --------------------------------------------------------------------------------- */

struct uftrace_record {
    uint64_t ns, rest;
};

static unsigned type_of(const struct uftrace_record *record)
{
    return record->rest & 3;
}

static bool follows(const struct uftrace_record *record, uint64_t before_ns)
{
    return (record->rest >> 3 & 7) == RECORD_MAGIC && record->ns >= before_ns &&
           (before_ns == 0 || record->ns - before_ns < AHEAD_NS_MAX);
}

/* The next record, perhaps behind arguments. */
static bool next_record(FILE *file, uint64_t before_ns, bool had_more,
                        struct uftrace_record *record, bool *gap)
{
    if (fread(record, sizeof *record, 1, file) != 1)
        return false;
    for (unsigned bytes = 0; !follows(record, before_ns); bytes += 8) {
        record->ns = record->rest;
        *gap |= !had_more;
        if (bytes >= GAP_BYTES_MAX || fread(&record->rest, sizeof record->rest, 1, file) != 1)
            return false;
    }
    return true;
}

static void read_records(struct uftrace_reading *reading, FILE *file, uint32_t thread)
{
    struct uftrace_record record;
    uint64_t before_ns = 0;
    bool had_more = false, gap = false;
    while (next_record(file, before_ns, had_more, &record, &gap)) {
        before_ns = record.ns;
        had_more = record.rest >> 2 & 1;
        if (import__is_full(reading->import))
            return;
        if (type_of(&record) == UFTRACE_ENTRY)
            import__enter(reading->import, thread, (int64_t)record.ns,
                          function_at(reading, thread, record.rest >> 16));
        else if (type_of(&record) == UFTRACE_EXIT)
            import__leave(reading->import, thread, (int64_t)record.ns,
                          function_at(reading, thread, record.rest >> 16));
        else if (type_of(&record) == UFTRACE_LOST)
            import__event(reading->import, thread, (int64_t)record.ns, HEURT_EVENT_LOST,
                          (const uint64_t[]){record.rest >> 16}, 1);
        else
            import__pass_over(reading->import, "events other than calls");
    }
    if (gap || !feof(file))
        import__pass_over(reading->import, "damaged records");
}

static void read_thread(struct uftrace_reading *reading, uint32_t pid, uint32_t tid)
{
    char *name = memory__format("%" PRIu32, tid);
    FILE *file = open_file(reading, name, ".dat");
    free(name);
    if (!file)
        return;
    uint32_t thread = import__thread(reading->import, pid, tid, NULL);
    if (thread != UINT32_MAX)
        read_records(reading, file, thread);
    map__free(&reading->names);
    fclose(file);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct uftrace_task {
    uint32_t pid, tid;
};

/* The number behind "key=" in a line; 0: there is none. */
static uint32_t number_in(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : 0;
}

/* SESS: a program began; TASK and FORK: a thread, or process, did. */
static void read_task_line(struct uftrace_reading *reading, const char *line, struct vec *tasks)
{
    struct uftrace_task task = {number_in(line, " pid="), number_in(line, " tid=")};
    if (strncmp(line, "SESS ", 5) == 0) {
        char path[1024] = "";
        const char *at = strstr(line, "exename=\"");
        if (at)
            sscanf(at, "exename=\"%1023[^\"]", path);
        import__process(reading->import, task.pid, 0, path);
        return;
    }
    if (strncmp(line, "FORK ", 5) == 0) {
        import__process(reading->import, task.pid, number_in(line, " ppid="), NULL);
        task.tid = task.pid;
    } else if (strncmp(line, "TASK ", 5) != 0)
        return;
    vec__push(tasks, &task);
}

static int import_uftrace(const struct import_source *source, struct import *import,
                          struct error *error)
{
    struct uftrace_reading reading = {source, import, VEC_OF(struct uftrace_module), {0}};
    struct vec tasks = VEC_OF(struct uftrace_task);
    char *line = NULL;
    size_t room = 0;
    FILE *file = open_file(&reading, "task.txt", "");
    if (!file)
        return error__set(error, -errno, "%.200s/task.txt cannot be read: %s", source->path,
                          strerror(errno));
    while (getline(&line, &room, file) > 0 && tasks.count < IMPORT_THREADS_MAX)
        read_task_line(&reading, line, &tasks);
    fclose(file);
    free(line);
    read_maps(&reading);
    VEC_EACH (task, &tasks, struct uftrace_task)
        read_thread(&reading, task->pid, task->tid);
    VEC_EACH (module, &reading.modules, struct uftrace_module) {
        VEC_EACH (symbol, &module->symbols, struct uftrace_symbol)
            free(symbol->name);
        vec__free(&module->symbols);
        free(module->path);
    }
    vec__free(&reading.modules);
    vec__free(&tasks);
    return 0;
}

static bool recognises(const struct import_source *source)
{
    return import_source__has(source, "task.txt") && import_source__has(source, "info");
}

const struct importer importer_uftrace = {"uftrace", "no off-CPU times, no locks", recognises,
                                          import_uftrace};
